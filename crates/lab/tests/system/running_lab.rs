//! What a lab is while it is up.

use std::fs;
use std::io::BufRead;
use std::os::unix::fs::PermissionsExt;

use host::exec::{Command, Exec};
use lab::{Ran, Topology};
use record::BitsPerSecond;

use super::{Up, eventually, have_machine};

/// Two labs, so that nothing of one may clash with the other; and one set of checks for both.
#[test]
fn two_labs_of_one_topology_work_side_by_side() {
    let _machine = have_machine();
    let labs = ["test-side-a", "test-side-b"].map(|name| Up::example(name, "two-links.toml"));
    for up in &labs {
        for link in [1, 2] {
            let server = format!("10.77.{link}.2");
            up.output(
                "client",
                &["ping", "-c1", "-W5", "-I", &format!("lan{link}"), &server],
            );
        }
        up.output("client", &["ping", "-c1", "-W5", "server"]);
        assert_eq!(up.output("server", &["uname", "-n"]), "server\n");
        check_facts(up);
        check_samba(up);
    }
    let id = |up: &Up, host| up.output(host, &["cat", "/etc/machine-id"]);
    let ids = [
        id(&labs[0], "client"),
        id(&labs[0], "server"),
        id(&labs[1], "client"),
        fs::read_to_string("/etc/machine-id").unwrap_or_default(),
    ];
    assert!(ids[0].trim().len() == 32 && ids[0] != ids[1], "{ids:?}");
    assert!(!ids[1..].contains(&ids[0]), "{ids:?}");
    for up in &labs {
        let summary = up.summary();
        assert!(summary.up && summary.troubles.is_empty(), "{summary:?}");
        assert_eq!(summary.nodes, ["client", "server"]);
    }
}

fn check_facts(up: &Up) {
    let host = up.lab.host("server").unwrap();
    assert_eq!(
        host.name.as_str(),
        format!("lab://{}/server", up.lab.name())
    );
    let facts = host::facts(&host).unwrap();
    let control = facts.tcp.congestion_control.as_deref();
    assert!(matches!(control, Some("cubic" | "reno")), "{control:?}");
    let names: Vec<&str> = facts.nics.iter().map(|nic| nic.name.as_str()).collect();
    assert_eq!(names, ["lan1", "lan2"]);
    for nic in &facts.nics {
        assert_eq!(nic.mtu, 1500);
        assert_eq!(nic.kind.as_deref(), Some("veth"));
        // 10^9 x 1514 / 1538, as `tc` rounds it.
        assert_eq!(nic.shaped, Some(BitsPerSecond::new(984_395_000)));
    }
}

fn check_samba(up: &Up) {
    let path = up.lab.credentials();
    let credentials = fs::metadata(&path).unwrap();
    assert_eq!(credentials.permissions().mode() & 0o777, 0o600);
    assert!(!fs::exists(lab::CREDENTIALS_IN_HOST).unwrap());
    for host in ["client", "server"] {
        let inside = up.output(host, &["cat", lab::CREDENTIALS_IN_HOST]);
        assert_eq!(fs::read_to_string(&path).unwrap(), inside);
    }
    let account = ["smbclient", "-A", lab::CREDENTIALS_IN_HOST];
    let listing = up.output(
        "client",
        &[account.as_slice(), &["-L", "//10.77.1.2"]].concat(),
    );
    assert!(listing.contains("media"), "{listing}");
    // Written over one link and read over the other.
    let share = |address, commands| {
        let words = [account.as_slice(), &[address, "-c", commands]].concat();
        up.output("client", &words)
    };
    share("//10.77.1.2/media", "put /etc/hosts seen");
    share("//10.77.2.2/media", "get seen /run/seen");
    assert!(
        up.output("client", &["cat", "/run/seen"])
            .contains("10.77.2.2 server")
    );
    let wrong = ["smbclient", "-U", "linerate%wrong", "-L", "//10.77.1.2"];
    let (status, said) = up.run("client", &wrong);
    assert!(status != 0 && said.contains("LOGON_FAILURE"), "{said}");
}

#[test]
fn the_line_rate_follows_the_mtu_of_both_ends() {
    let _machine = have_machine();
    let up = Up::example("test-rescale", "one-link-10g.toml");
    let rate = |host| up.output(host, &["tc", "class", "show", "dev", "lan1"]);
    // `tc` leaves out the digits behind.
    let has = |text: &str, megabits: u64| text.contains(&format!("rate {megabits}Mbit "));
    assert!(has(&rate("client"), 9_843), "{}", rate("client"));
    let set = |host, mtu| up.output(host, &["ip", "link", "set", "lan1", "mtu", mtu]);
    // What passes is decided by the smaller end, so nothing changes until both have changed.
    set("client", "9000");
    set("server", "9000");
    for host in ["client", "server"] {
        eventually("both ends at MTU 9000", || has(&rate(host), 9_973));
    }
    set("server", "1500");
    for host in ["client", "server"] {
        eventually("one end at MTU 1500", || has(&rate(host), 9_843));
    }
    assert_eq!(up.summary().troubles, [""; 0]);
}

#[test]
fn a_long_link_delays_every_packet_and_loses_none() {
    let _machine = have_machine();
    let topology = "[[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\n[[link]]\n\
        from = { host = \"a\", nic = \"x\", address = \"10.0.0.1/24\" }\n\
        to = { host = \"b\", nic = \"y\", address = \"10.0.0.2/24\" }\n\
        mtu = 9000\nrate = \"1Gbit\"\ndelay_ms = 10.0\n";
    let up = Up::new("test-delay", &Topology::parse(topology).unwrap());
    // The first one also waits for an answer to who has the address.
    let ping = ["ping", "-c3", "-i0.1", "-W5", "-M", "do", "-s", "8972", "b"];
    let said = up.output("a", &ping);
    let times = said.lines().filter_map(|line| line.split_once("time="));
    let times: Vec<f64> = times
        .filter_map(|(_, time)| time.split(' ').next()?.parse().ok())
        .collect();
    assert!(
        times.len() == 3 && times.iter().all(|&time| time >= 20.0),
        "{said}"
    );
    // Segments of 64 KiB, whose check sums nobody has calculated.
    let listen = ["iperf3", "--server", "--one-off", "--forceflush"];
    let mut server = up
        .lab
        .namespace("b")
        .unwrap()
        .spawn(&Command::new(listen))
        .unwrap();
    let mut said = server.take_stdout().unwrap();
    let mut line = String::new();
    while !line.contains("listening") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "it does not listen");
    }
    let send = ["iperf3", "--json", "--client", "10.0.0.2", "--bytes", "20M"];
    let report: serde_json::Value = serde_json::from_str(&up.output("a", &send)).unwrap();
    // It counts until the sender is through, when what the link holds is still on its way: 2.5 MB, and
    // what waits before it. Segments with wrong check sums would not arrive at all.
    let received = report["end"]["sum_received"]["bytes"].as_u64();
    assert!(received >= Some(10 << 20), "{received:?}");
    assert_eq!(up.summary().troubles, [""; 0]);
}

#[test]
fn a_switch_swallows_what_is_too_long_for_it() {
    let _machine = have_machine();
    let up = Up::example("test-switch", "switch.toml");
    let ping = |size, wait| {
        up.run(
            "client",
            &["ping", "-c1", wait, "-M", "do", "-s", size, "server"],
        )
    };
    assert_eq!(ping("1472", "-W5").0, 0);
    let (status, said) = ping("1473", "-W1");
    assert!(status == 1 && said.contains("100% packet loss"), "{said}");
    for nic in ["bridge", "port1", "port2"] {
        up.output("switch", &["ip", "link", "set", nic, "mtu", "9000"]);
    }
    assert_eq!(ping("8972", "-W5").0, 0);
}

#[test]
fn a_host_reaps_orphans_and_keeps_its_files_to_itself() {
    let _machine = have_machine();
    let text = "[[host]]\nname = \"alone\"\n";
    let up = Up::new("test-alone", &Topology::parse(text).unwrap());
    // The first child ends at once and leaves its own child to the host.
    let orphan = "pid=$(sh -c 'sleep 0.1 >/dev/null & echo $!'); test -d /proc/$pid && echo alive; \
        for _ in $(seq 200); do test -d /proc/$pid || break; sleep 0.05; done; \
        test -d /proc/$pid || echo reaped";
    assert_eq!(up.output("alone", &["sh", "-c", orphan]), "alive\nreaped\n");
    up.output("alone", &["sh", "-c", "echo here > /etc/linerate-lab-test"]);
    assert!(!fs::exists("/etc/linerate-lab-test").unwrap());
    let passwd = up.output("alone", &["cat", "/etc/passwd"]);
    assert!(passwd.contains("\nlinerate:x:60600:"), "{passwd}");
    let nics = up.output("alone", &["ls", "/sys/class/net"]);
    assert_eq!(nics, "lo\n");
}

#[test]
fn a_program_runs_attached_and_gives_its_status() {
    let _machine = have_machine();
    let text = "[[host]]\nname = \"alone\"\n";
    let up = Up::new("test-attached", &Topology::parse(text).unwrap());
    let run = |script: &str| {
        let words = ["sh", "-c", script].map(str::to_owned);
        up.lab.run("alone", &words).unwrap()
    };
    let folder = std::env::current_dir().unwrap();
    assert_eq!(
        run(&format!("test \"$PWD\" = '{}'", folder.display())),
        Ran::Ended(0)
    );
    assert_eq!(run("test $(uname -n) = alone && exit 7"), Ran::Ended(7));
    let missing = ["no-such-program".to_owned()];
    assert_eq!(up.lab.run("alone", &missing).unwrap(), Ran::Ended(127));
}
