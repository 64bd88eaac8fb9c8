//! `set --persist` on a lab host, whose `/etc` is its own, with the tools that read it at a start.

use predicates::prelude::*;

use crate::lab_and_program::Lab;

/// Every file that could be written, with its text.
fn etc(lab: &Lab) -> String {
    let list =
        "cd /etc && find network netplan sysctl.d systemd NetworkManager -type f 2>/dev/null |
        sort | xargs cksum";
    lab.run("server", &["sh", "-c", list])
}

fn sh(lab: &Lab, script: &str) -> String {
    lab.run("server", &["sh", "-c", script])
}

#[test]
fn settings_are_kept_in_the_way_of_who_sets_the_interface_up() {
    let lab = Lab::up("persist");
    let server = lab.host("server");
    let set = |settings: &[&str]| {
        let mut command = lab.linerate();
        command
            .args(["set", &server])
            .args(settings)
            .arg("--persist");
        command
    };
    // Nobody sets up `lan1` at the start.
    let nobody = "nothing that linerate knows sets up the interface";
    set(&["nic.mtu@lan1=9000"])
        .assert()
        .code(65)
        .stderr(predicate::str::contains(nobody));
    set(&["nic.rps@lan1=off"])
        .assert()
        .code(65)
        .stderr(predicate::str::contains(
            "no place where the system would set it",
        ));

    sh(
        &lab,
        "printf 'iface lan1 inet manual\n' >>/etc/network/interfaces
        mkdir -p /etc/netplan && umask 077
        printf 'network: {version: 2, ethernets: {lan2: {mtu: 1500}}}\n' >/etc/netplan/10-lan.yaml",
    );
    let (facts, before) = (lab.facts(), etc(&lab));
    let settings = [
        "nic.mtu@lan1=9000",
        "nic.mtu@lan2=9000",
        "tcp.sack=off",
        "arp.ignore@lan1=1",
    ];
    let shown = set(&settings).arg("--dry-run").assert().success();
    shown.stdout(
        predicate::str::contains("write `/etc/network/if-up.d/linerate-nic-mtu-lan1`:")
            .and(predicate::str::contains("ip link set dev lan1 mtu 9000"))
            .and(predicate::str::contains(
                "write `/etc/netplan/90-linerate-nic.mtu-lan2.yaml`:",
            ))
            .and(predicate::str::contains("net.ipv4.tcp_sack = 0")),
    );
    assert_eq!(etc(&lab), before);
    set(&settings)
        .assert()
        .success()
        .stdout(predicate::str::contains("also after a restart"));
    lab.linerate().arg("changes").assert().code(1).stdout(
        predicate::str::contains("tcp.sack.at_start")
            .and(predicate::str::contains("unset -> 9000")),
    );

    // What a start does, with the tools that do it.
    sh(
        &lab,
        "ip link set lan1 mtu 1500; sysctl -qw net.ipv4.tcp_sack=1 net.ipv4.conf.lan1.arp_ignore=0",
    );
    sh(
        &lab,
        "IFACE=lan1 run-parts --regex '^linerate' /etc/network/if-up.d; sysctl -q --system || true",
    );
    let now = sh(
        &lab,
        "cat /sys/class/net/lan1/mtu; sysctl -n net.ipv4.tcp_sack net.ipv4.conf.lan1.arp_ignore
        netplan get ethernets.lan2.mtu; mkdir -p /tmp/root/etc; cp -a /etc/netplan /tmp/root/etc
        netplan generate --root-dir /tmp/root; grep -rh MTUBytes /tmp/root/run | sort -u; rm -rf /tmp/root",
    );
    assert_eq!(now, "9000\n0\n1\n9000\nMTUBytes=9000\n");
    lab.linerate().arg("undo").assert().success();
    assert_eq!(etc(&lab), before);
    assert_eq!(lab.facts(), facts);
}

#[test]
fn what_cannot_be_kept_is_not_set_either() {
    let lab = Lab::up("unkept");
    let server = lab.host("server");
    let (facts, sack) = (lab.facts(), "sysctl -n net.ipv4.tcp_sack");
    let set = |setting: &str| {
        let mut command = lab.linerate();
        command
            .args(["set", &server, setting, "--persist"])
            .assert()
    };
    sh(
        &lab,
        "mount -t tmpfs -o size=16k none /etc/sysctl.d && dd if=/dev/zero of=/etc/sysctl.d/full bs=4k 2>/dev/null; true",
    );
    set("tcp.sack=off")
        .code(65)
        .stderr(predicate::str::contains("everything is as before"));
    assert_eq!(
        sh(
            &lab,
            &format!("{sack}; ls -A /etc/sysctl.d; umount /etc/sysctl.d")
        ),
        "1\nfull\n"
    );

    let before = etc(&lab);
    sh(&lab, "printf 'net.ipv4.tcp_sack = 1\n' >>/etc/sysctl.conf");
    set("tcp.sack=off")
        .code(65)
        .stderr(predicate::str::contains(
            "`/etc/sysctl.conf` sets it, and has the last word",
        ));
    assert_eq!(sh(&lab, sack), "1\n");
    assert_eq!((etc(&lab), lab.facts()), (before, facts));

    // Nor is a configuration touched that Samba does not understand, and the session's own tools say why.
    let conf = "cat /etc/samba/smb.conf";
    let fine = sh(&lab, conf);
    let good = lab
        .linerate()
        .args(["set", &server, "smb.server.sendfile@media=on", "--dry-run"])
        .assert();
    good.success();
    sh(&lab, "printf '[broken\\n' >>/etc/samba/smb.conf");
    lab.linerate()
        .args(["set", &server, "smb.server.sendfile@media=on"])
        .assert()
        .code(65)
        .stderr(predicate::str::contains("`testparm` refuses `smb.conf`"));
    assert_eq!(sh(&lab, conf), format!("{fine}[broken\n"));
}
