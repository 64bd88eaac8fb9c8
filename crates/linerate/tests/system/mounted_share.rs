//! A share that Linux's own client has mounted, in a kernel of its own.

use serde_json::Value;

use crate::lab_and_program::{self, Lab};

/// What `check` says of the mount with these options.
fn check(lab: &Lab, options: &str) -> Value {
    let mut command = lab.linerate();
    command.args(["lab", "run", "--mount", options, &lab.host("client"), "--"]);
    command.arg(lab_and_program::path());
    command.args([
        "check",
        "/mnt/media",
        "--json",
        "--quick",
        "--repetitions",
        "4",
    ]);
    command.args(["--seconds", "0.4"]);
    let output = command.output().expect("linerate starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.stdout.is_empty(), "{told}");
    lab_and_program::json("check", &output.stdout)
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
    let said = check(&lab, "vers=3.1.1");
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
    let fix = &said["diagnosis"]["fixes"][0];
    assert_eq!(fix["id"], "mount-again", "{fix}");
    // One connection fills one link, and two fill two.
    let of = |said: &Value| rate(said, "system_client") / rate(said, "channels");
    assert!((0.4..0.6).contains(&of(&said)), "{said}");

    let options = "vers=3.1.1,multichannel,max_channels=2";
    let said = check(&lab, options);
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
