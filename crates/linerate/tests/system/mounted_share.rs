//! A share that Linux's own client has mounted, in a kernel of its own.

use assert_cmd::Command;

use serde_json::Value;

use crate::lab_and_program::{self, Lab};

/// What `check` says of the mount with these options.
fn check(lab: &Lab, options: &str, how: &[&str]) -> Value {
    let mut command = in_guest(lab, options);
    command.arg(lab_and_program::path());
    command.args(["check", "/mnt/media", "--json", "--read-only"]);
    command.args(["--repetitions", "4", "--seconds", "0.4"]);
    let output = command.args(how).output().expect("linerate starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.stdout.is_empty(), "{told}");
    lab_and_program::json("check", &output.stdout)
}

/// `linerate lab run` on the client with the share mounted; the command is still to be added.
fn in_guest(lab: &Lab, options: &str) -> Command {
    let mut command = lab.linerate();
    command.args(["lab", "run", "--mount", options, &lab.host("client"), "--"]);
    command
}

/// Bytes a second of a rung that reads.
fn rate(said: &Value, name: &str) -> f64 {
    let ladder = said["ladder"].as_array().expect("a list");
    let mut rungs = ladder.iter();
    let rung = rungs.find(|rung| rung["rung"] == name && rung["direction"] == "read");
    let rung = rung.unwrap_or_else(|| panic!("{said}"));
    rung["rate"]["value"].as_f64().expect("it was measured")
}

#[test]
fn a_mount_is_held_against_our_own_engine() {
    let lab = Lab::up("mount");
    let said = check(&lab, "vers=3.1.1", &[]);
    let mount = &said["look"]["mount"];
    assert_eq!(mount["folder"], "/mnt/media", "{mount}");
    assert_eq!(
        (&mount["channels"], &mount["encrypted"]),
        (&1.into(), &false.into())
    );
    assert_eq!(
        said["diagnosis"]["first_cause"], "mount-one-connection",
        "{said}"
    );
    // A second mount with two connections was twice as fast.
    let cause = &said["diagnosis"]["causes"][0];
    assert_eq!(cause["trust"], "measured", "{cause}");
    let fix = &said["diagnosis"]["fixes"][0];
    assert_eq!(
        (&fix["id"], &fix["trust"]),
        (&"mount-again".into(), &"measured".into())
    );
    let gain = fix["predicted"]["value"].as_f64().expect("it was measured");
    assert!((1.7..2.3).contains(&gain), "{fix}");
    // One connection fills one link, and two fill two.
    let of = |said: &Value| rate(said, "system_client") / rate(said, "channels");
    assert!((0.4..0.6).contains(&of(&said)), "{said}");

    let options = "vers=3.1.1,multichannel,max_channels=2";
    let said = check(&lab, options, &["--quick"]);
    assert_eq!(said["look"]["mount"]["channels"], 2, "{said}");
    assert_ne!(
        said["diagnosis"]["first_cause"], "mount-one-connection",
        "{said}"
    );
    assert!((0.85..1.15).contains(&of(&said)), "{said}");
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
    let told = String::from_utf8_lossy(&failed.stderr);
    assert!(told.contains("vers=9") || told.contains("mount"), "{told}");
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
"$0" check /mnt/media --seconds 5 >/dev/null 2>&1 &
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
        let mut command = in_guest(&lab, "vers=3.1.1");
        command.args(["sh", "-c", INTERRUPTED]);
        command.arg(lab_and_program::path()).arg(server);
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
