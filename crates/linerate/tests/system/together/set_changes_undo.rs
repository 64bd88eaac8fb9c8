//! `set`, `changes` and `undo` on hosts of a lab, also over a real `sshd` in one of them.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use predicates::prelude::*;
use serde_json::Value;

use crate::lab_and_program::{self, Lab};

/// Seconds of the leases.
const LEASE: &str = "8";
/// When a host must have put itself back that hears nothing any more.
const BACK_LIMIT: Duration = Duration::from_secs(8 + 5);
/// How long something that happens at once may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const SERVER: &str = "ssh://root@10.77.1.2:2222";

fn mtu(lab: &Lab) -> String {
    let mtu = lab.run("server", &["cat", "/sys/class/net/lan2/mtu"]);
    mtu.trim().to_owned()
}

fn wait_until(what: &str, limit: Duration, so: impl Fn() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(
            began.elapsed() < limit,
            "still not so after {limit:?}: {what}"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_setting_is_shown_made_listed_and_undone() {
    let lab = Lab::up("set");
    let before = lab.facts();
    let server = lab.host("server");
    let set = |more: &[&str]| {
        let mut command = lab.linerate();
        command.args(["set", &server, "nic.mtu@lan2=9000", "nic.gro@lan2=on"]);
        command.args(more);
        command.assert()
    };
    set(&["--dry-run"]).success().stdout(
        predicate::str::contains("ip link set dev lan2 mtu 9000")
            .and(predicate::str::contains("ethtool -K lan2 gro on"))
            .and(predicate::str::contains("nothing was changed")),
    );
    assert_eq!(lab.facts(), before);
    let made = set(&["--json"]).success();
    let made = lab_and_program::json("set", &made.get_output().stdout);
    let id = made["change"].as_str().expect("an id").to_owned();
    assert_eq!(
        made["settings"][0]["before"],
        serde_json::json!({"integer": 1500})
    );
    assert_eq!(mtu(&lab), "9000");
    set(&[])
        .success()
        .stdout(predicate::str::contains("it is so already"));
    let listed = predicate::str::contains(&id).and(predicate::str::contains("1500 -> 9000"));
    lab.linerate()
        .arg("changes")
        .assert()
        .code(1)
        .stdout(listed);
    lab.linerate().args(["undo", &id]).assert().success();
    assert_eq!(lab.facts(), before);
}

#[test]
fn both_ends_are_shown_and_where_they_contradict_each_other_comes_first() {
    let lab = Lab::up("inspect");
    let (client, server) = (lab.host("client"), lab.host("server"));
    let inspect = |more: &[&str]| {
        let mut command = lab.linerate();
        command
            .args(["inspect", &client, &server])
            .args(more)
            .assert()
    };
    let said = inspect(&["--json"]).success();
    let said = lab_and_program::json("inspect", &said.get_output().stdout);
    assert_eq!(said["contradictions"].as_array().map(Vec::len), Some(0));
    inspect(&[]).success().stdout(
        predicate::str::contains("nic.mtu (bytes)")
            .and(predicate::str::contains("tcp.rmem (bytes)")),
    );
    let set = |id: &str, value: &str| {
        let setting = format!("{id}={value}");
        lab.linerate()
            .args(["set", &server, &setting])
            .assert()
            .success();
    };
    set("nic.mtu@lan2", "9000");
    set("tcp.sack", "off");
    let said = inspect(&["--json"]).code(1);
    let said = lab_and_program::json("inspect", &said.get_output().stdout);
    let found = said["contradictions"].as_array().expect("a list");
    let kinds: Vec<&str> = found
        .iter()
        .filter_map(|one| one["kind"].as_str())
        .collect();
    assert_eq!(kinds, ["mtu", "tcp"]);
    let first = found[0]["text"].as_str().expect("a text");
    let first = predicate::str::starts_with(format!("! {first}\n"));
    let marked = predicate::function(|text: &str| {
        let mut lines = text.lines().map(str::trim_start);
        lines.any(|line| line.starts_with("tcp.sack ") && line.contains(" differs "))
    });
    inspect(&[]).code(1).stdout(first.and(marked));
    let alone = lab.linerate().args(["inspect", &server]).assert().success();
    let said = predicate::str::contains("veth, up, 10.77.2.2/24")
        .and(predicate::str::contains("not there:"));
    alone.stdout(said);
    lab.linerate().arg("undo").assert().success();
    inspect(&[]).success();
}

#[test]
fn the_link_of_a_session_is_not_reset_where_nobody_can_be_asked() {
    let lab = Lab::up("set-session");
    let before = lab.facts();
    let state = format!(
        "LINERATE_STATE_DIR={}",
        lab.folder().join("there").display()
    );
    let session = "SSH_CONNECTION=10.77.1.1 50000 10.77.1.2 22";
    let set = |settings: &[&str]| {
        let mut command = lab.linerate();
        command.args([
            "lab",
            "run",
            &lab.host("server"),
            "--",
            "env",
            &state,
            session,
        ]);
        command
            .arg(lab_and_program::path())
            .args(["set", "local"])
            .args(settings);
        command.assert()
    };
    let carries = predicate::str::contains("`lan1`, which carries the session");
    set(&["nic.gro@lan1=on", "nic.mtu@lan1=9000"])
        .code(65)
        .stderr(carries);
    assert_eq!(lab.facts(), before);
    set(&["nic.gro@lan1=on", "nic.mtu@lan2=9000"]).success();
    assert_eq!(mtu(&lab), "9000");
}

#[test]
fn lines_of_smb_conf_are_added_read_back_and_taken_out_again() {
    let lab = Lab::up("set-samba");
    let server = lab.host("server");
    let file = || lab.run("server", &["cat", "/etc/samba/smb.conf"]);
    let ids = || {
        lab.run(
            "server",
            &["stat", "-L", "-c", "%a %u %g", "/etc/samba/smb.conf"],
        )
    };
    // Whoever wrote it left the last line without its end.
    let by_hand = "printf '# said by hand' >>/etc/samba/smb.conf";
    lab.run("server", &["sh", "-c", by_hand]);
    let (before, ids_before) = (file(), ids());
    let settings = [
        "smb.server.max_read=1048576",
        "smb.server.sendfile@media=on",
        "smb.server.aio_read@media=0",
    ];
    let set = lab
        .linerate()
        .args(["set", &server])
        .args(settings)
        .assert();
    set.success()
        .stdout(predicate::str::contains("smb.server.sendfile media"));
    let after = file();
    assert!(after.starts_with(&before), "{after}");
    assert!(after.contains("[media]\n\tuse sendfile = yes\n"), "{after}");
    assert_eq!(ids(), ids_before);
    let shown = lab.linerate().args(["inspect", &server]).assert().success();
    shown.stdout(predicate::str::contains("share media"));

    // The server has read it without losing anybody.
    let told = "smbclient -A /run/linerate/credentials -d 5 //10.77.1.2/media -c ls 2>&1";
    let told = lab.run("client", &["sh", "-c", told]);
    assert!(told.contains("blocks"), "{told}");

    let weaker = [
        "smb.server.signing_required=disabled",
        "smb.server.strict_sync@media=off",
    ];
    for setting in weaker {
        let set = lab.linerate().args(["set", &server, setting]).assert();
        set.code(65).stderr(predicate::str::contains("cannot set"));
    }
    let missing = lab
        .linerate()
        .args(["set", &server, "smb.server.sendfile@none=on"])
        .assert();
    missing
        .code(65)
        .stderr(predicate::str::contains("no share `none`"));
    lab.linerate().arg("undo").assert().success();
    assert_eq!(file(), before);
    assert_eq!(ids(), ids_before);
    let left = lab.run("server", &["sh", "-c", "ls /run/linerate/samba/smb.conf*"]);
    assert_eq!(left, "/run/linerate/samba/smb.conf\n");
}

#[test]
fn a_setting_is_explained_without_any_host() {
    let explain = |id: &str| {
        lab_and_program::linerate()
            .args(["inspect", "--explain", id])
            .assert()
    };
    explain("nic.mtu")
        .success()
        .stdout(predicate::str::contains("rule of thumb: 9000"));
    explain("nic.none").code(64).stderr(
        predicate::str::contains("there are: nic.")
            .and(predicate::str::contains(" nic.mtu,"))
            .and(predicate::str::contains("tcp.").not()),
    );
}

#[test]
fn what_cannot_be_set_changes_nothing() {
    let lab = Lab::up("set-refused");
    let before = lab.facts();
    let server = lab.host("server");
    for (settings, code, text) in [
        (vec!["nic.mtu@lan2"], 64, "sets nothing"),
        (
            vec!["nic.colour@lan2=red"],
            64,
            "there is no knob `nic.colour`",
        ),
        (vec!["nic.mtu=9000"], 65, "it belongs to an interface"),
        (
            vec!["nic.mtu@none=9000"],
            65,
            "there is no interface `none`",
        ),
        (vec!["nic.mtu@lan2=big"], 65, "it takes a whole number"),
        (vec!["nic.gro@lan2=on", "nic.mtu@lan2=1"], 65, "at least"),
        (vec!["nic.gro@lan2=on", "nic.gro@lan2=off"], 64, "set twice"),
    ] {
        let refused = lab
            .linerate()
            .args(["set", &server])
            .args(&settings)
            .assert();
        refused.code(code).stderr(predicate::str::contains(text));
    }
    assert_eq!(lab.facts(), before);
    lab.linerate().arg("changes").assert().success();
}

/// A lab whose client reaches its server with `ssh`. There `ip` hangs after it has set a MTU of 9000.
fn lab_with_sshd(name: &str) -> Lab {
    let lab = Lab::up(name);
    let key = lab.folder().join("key").display().to_string();
    let setup = format!(
        "umask 077; mkdir -p /run/sshd /run/slow
        ssh-keygen -q -t ed25519 -N '' -f /run/host-key; ssh-keygen -q -t ed25519 -N '' -f {key}
        printf '%s\\n' '#!/bin/sh' '/usr/sbin/ip \"$@\" || exit' \
            'case \"$*\" in *\"mtu 9000\") sleep 1000;; esac' >/run/slow/ip; chmod 755 /run/slow/ip
        printf '%s\\n' 'Port 2222' 'HostKey /run/host-key' 'AuthorizedKeysFile {key}.pub' \
            'StrictModes no' 'UsePAM no' 'PermitRootLogin yes' 'PidFile none' \
            'SetEnv PATH=/run/slow:/usr/sbin:/usr/bin:/sbin:/bin' >/run/sshd_config
        exec /usr/sbin/sshd -f /run/sshd_config"
    );
    lab.run("server", &["sh", "-c", &setup]);
    let host_key = lab.run("server", &["cat", "/run/host-key.pub"]);
    let known = format!(
        "printf '%s' '[10.77.1.2]:2222 {host_key}' >/etc/ssh/ssh_known_hosts
        printf '%s\\n' 'IdentityFile {key}' 'UserKnownHostsFile none' >/etc/ssh/ssh_config"
    );
    lab.run("client", &["sh", "-c", &known]);
    lab
}

/// `linerate` on the lab's client, with a journal of its own.
fn on_client(lab: &Lab, journal: &str, arguments: &[&str]) -> Command {
    let state = format!(
        "LINERATE_STATE_DIR={}",
        lab.folder().join(journal).display()
    );
    let mut command = Command::new(lab_and_program::path());
    command
        .args(["lab", "run", &lab.host("client"), "--", "env", &state])
        .arg(lab_and_program::path())
        .args(arguments)
        .stdin(Stdio::null());
    command
}

/// Begins a change that hangs after its first command.
fn hanging_change(lab: &Lab) -> Child {
    let arguments = ["set", SERVER, "nic.mtu@lan2=9000", "--lease", LEASE];
    let mut command = on_client(lab, "first", &arguments);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let child = child.expect("linerate starts");
    wait_until("the server is changed", PATIENCE, || mtu(lab) == "9000");
    child
}

#[test]
fn a_host_behind_ssh_puts_itself_back_after_a_kill_and_no_second_linerate_comes_between() {
    let lab = lab_with_sshd("set-ssh");
    let before = lab.facts();
    let mut first = hanging_change(&lab);

    let second = on_client(&lab, "second", &["set", SERVER, "nic.gro@lan2=on"]).output();
    let second = second.expect("linerate starts");
    let said = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(65), "{said}");
    assert!(said.contains("another linerate is changing host"), "{said}");

    let lock = std::fs::read(lab.folder().join("first/lock")).expect("the journal is open");
    let holder: Value = serde_json::from_slice(&lock).expect("its holder");
    lab.run("client", &["kill", "-9", &holder["process"].to_string()]);
    wait_until("the server is as before", BACK_LIMIT, || {
        mtu(&lab) == "1500"
    });
    first.wait().expect("our own child");
    wait_until("nothing is left there", PATIENCE, || {
        lab.run("server", &["ls", "/run"])
            .lines()
            .all(|name| name != "linerate.leases")
    });
    assert_eq!(lab.facts(), before);

    // The journal knows nothing of that, and finds nothing to do.
    let changes = on_client(&lab, "first", &["changes"])
        .output()
        .expect("linerate starts");
    assert_eq!(changes.status.code(), Some(1));
    let undone = on_client(&lab, "first", &["undo"])
        .output()
        .expect("linerate starts");
    assert_eq!(undone.status.code(), Some(0), "{undone:?}");
    let set = on_client(&lab, "second", &["set", SERVER, "nic.gro@lan2=on"]).output();
    assert_eq!(set.expect("linerate starts").status.code(), Some(0));
    let undone = on_client(&lab, "second", &["undo"])
        .output()
        .expect("linerate starts");
    assert_eq!(undone.status.code(), Some(0), "{undone:?}");
    assert_eq!(lab.facts(), before);
}
