//! How work on a mounted share ends: at once, with nothing left, and with a reason where it cannot begin.

use crate::lab_and_program::{self, Lab};
use crate::mounted_share::{check, rate, script_in_guest};

#[test]
fn a_mount_whose_client_caches_no_locks_is_measured_too() {
    let lab = Lab::up("mount-locks");
    // Before 2.1 there are no leases: each lock is one of the server, which keeps other handles out.
    let said = check(&lab, "vers=2.0", &["--quick"]);
    assert!(rate(&said, "system_client") > 0.0, "{said}");
}

#[test]
fn a_mount_that_fails_says_why_and_leaves_the_host_as_it_was() {
    let lab = Lab::up("mount-fails");
    let client = lab.host("client");
    let program = lab_and_program::path().display().to_string();
    let run = |words: &[&str]| {
        let mut command = lab.linerate();
        command.args(["lab", "run"]).args(words);
        command.output().expect("linerate starts")
    };
    let links = || run(&[&client, "--", "ip", "-brief", "link"]).stdout;
    let before = links();
    let failed = run(&["--mount", "vers=9", &client, "--", "true"]);
    assert_eq!(failed.status.code(), Some(65));
    let said = String::from_utf8_lossy(&failed.stderr);
    assert!(said.contains("vers=9") || said.contains("mount"), "{said}");
    assert_eq!(links(), before);
    // The program's own status and output come through.
    let ended = run(&[
        "--mount",
        "",
        &client,
        "--",
        "sh",
        "-c",
        "ls /mnt; echo no >&2; exit 7",
    ]);
    assert_eq!(ended.status.code(), Some(7));
    assert_eq!(
        (ended.stdout.as_slice(), ended.stderr.as_slice()),
        (&b"media\n"[..], &b"no\n"[..])
    );
    assert_eq!(links(), before);
    // Without a mount there is nothing to measure, and who goes up is not followed.
    for folder in ["/srv", "/mnt/../srv"] {
        let folder = run(&[&client, "--", &program, "check", folder]);
        assert_eq!(folder.status.code(), Some(64));
    }
}

/// Interrupts a check while `fio` uses the mount: how it ended, after how many seconds, what files are on the share then,
/// and how often that is mounted.
const INTERRUPTED: &str = r#"
"$0" check /mnt/media --seconds 3 >/dev/null 2>&1 &
check=$!
until grep -qsx fio /proc/[0-9]*/comm; do sleep 0.1; done
sleep 1
[ "$1" = stays ] || for nic in vec0 vec1; do ip link set dev $nic down; done
begin=$(date +%s)
kill -INT $check
wait $check
status=$?
seconds=$(($(date +%s) - begin))
for nic in vec0 vec1; do ip link set dev $nic up; done
echo "$status $seconds $(ls -A /mnt/media | grep -c '^\.linerate-') $(grep -c ' /mnt/media cifs ' /proc/mounts)"
"#;

#[test]
fn what_is_interrupted_leaves_no_file_and_ends_though_the_server_is_gone() {
    let lab = Lab::up("mount-interrupted");
    let interrupted = |server: &str| -> Vec<u64> {
        let mut command = script_in_guest(&lab, "vers=3.1.1", INTERRUPTED);
        command.arg(server);
        let output = command.output().expect("linerate starts");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let words = said.split_whitespace().map(str::parse);
        let words = words.collect::<Result<_, _>>();
        words.unwrap_or_else(|_| panic!("{output:?}"))
    };
    let [status, seconds, files, mounts] = interrupted("stays")[..] else {
        panic!("four numbers")
    };
    assert_eq!((status, files, mounts), (130, 0, 1));
    assert!(seconds <= 5, "{seconds}");
    // A file cannot be removed from a share that does not answer; the next test there removes it.
    let [status, seconds, _, mounts] = interrupted("vanishes")[..] else {
        panic!("four numbers")
    };
    assert_eq!((status, mounts), (130, 1));
    assert!(seconds <= 10, "{seconds}");
    let [_, _, files, _] = interrupted("stays")[..] else {
        panic!("four numbers")
    };
    assert_eq!(files, 0);
}

/// Kills a check that has mounted the share for itself: the sessions of the system's client before and after, and what files
/// are on the share then.
const KILLED: &str = r#"
sessions() { grep -c 'SessionId:' /proc/fs/cifs/DebugData; }
"$0" check //10.77.1.2/media --through system --seconds 3 >/dev/null 2>&1 &
check=$!
until grep -qsx fio /proc/[0-9]*/comm; do sleep 0.1; done
during=$(sessions)
kill -9 $check
for _ in $(seq 100); do [ "$(sessions)" = 1 ] && break; sleep 0.1; done
echo "$during $(sessions) $(ls -A /mnt/media | grep -c '^\.linerate-')"
"#;

#[test]
fn a_check_that_is_killed_leaves_no_mount() {
    let lab = Lab::up("mount-killed");
    let mut command = script_in_guest(&lab, "vers=3.1.1", KILLED);
    let output = command.output().expect("linerate starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.trim(), "2 1 0", "{output:?}");
}
