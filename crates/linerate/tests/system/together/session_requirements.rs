//! What a session must be, and as what somebody is logged in: asked for by options, and told in
//! each result.

use std::fs;

use serde_json::{Value, json};

use crate::lab_and_program::{self, Lab, linerate};

const SHARE: &str = "smb://10.77.1.2/media/";
/// A server that makes guests of strangers, and lets them use the share.
const OPEN_TO_GUESTS: &str = "
[samba.global]
\"map to guest\" = \"bad user\"
\"guest account\" = \"linerate\"
\"guest ok\" = \"yes\"
";

fn open_lab(name: &str) -> Lab {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let topology = folder.path().join("open.toml");
    let text =
        fs::read_to_string(lab_and_program::topology()).expect("the example") + OPEN_TO_GUESTS;
    fs::write(&topology, text).expect("room on the disk");
    Lab::of(name, &topology)
}

/// Runs `linerate` on the client of a lab.
fn on_client(lab: &Lab, words: &str) -> std::process::Output {
    let script = format!(
        "LINERATE_PASSWORD=secret {} {words}",
        lab_and_program::path().display()
    );
    let client = lab.host("client");
    let words = ["lab", "run", &client, "--", "sh", "-c", &script];
    lab.linerate().args(words).output().expect("it starts")
}

#[test]
fn a_session_is_what_was_asked_for_and_says_so() {
    let lab = open_lab("sessions");
    lab.run(
        "client",
        &["sh", "-c", "head -c 3000000 /dev/urandom > /run/file"],
    );
    let session = |identity, dialect, signing: Option<&str>, cipher: Option<&str>, channels| {
        json!({
            "identity": identity, "dialect": dialect, "signing_algorithm": signing,
            "data_signed": signing.is_some(), "encryption": cipher, "channels": channels,
        })
    };
    let mut unsigned_data = session("user", "3.1.1", Some("AES-128-GMAC"), None, 2);
    unsigned_data["data_signed"] = false.into();
    for (words, agreed) in [
        // A user's copy is signed although the server does not ask for it.
        ("", session("user", "3.1.1", Some("AES-128-GMAC"), None, 2)),
        ("--allow-unsigned", session("user", "3.1.1", None, None, 2)),
        (
            "--sign if-required",
            session("user", "3.1.1", None, None, 2),
        ),
        (
            "--sign required --channels 1",
            session("user", "3.1.1", Some("AES-128-GMAC"), None, 1),
        ),
        ("--sign data-unsigned", unsigned_data),
        (
            "--encrypt",
            session("user", "3.1.1", None, Some("AES-128-GCM"), 2),
        ),
        (
            "--encrypt --dialect-min 3.0 --dialect-max 3.0",
            session("user", "3.0", None, Some("AES-128-CCM"), 2),
        ),
        (
            "--sign required --dialect-max 2.1",
            session("user", "2.1", Some("HMAC-SHA256"), None, 1),
        ),
        ("--guest", session("guest", "3.1.1", None, None, 1)),
    ] {
        let words = format!("copy --json --force {words} /run/file {SHARE}");
        let output = on_client(&lab, &words);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words}: {stderr}");
        let said = lab_and_program::json("copy", &output.stdout);
        assert_eq!(said["servers"][0]["session"], agreed, "{words}");
        let protected = agreed["data_signed"] == true || agreed["encryption"] != Value::Null;
        assert_eq!(said["protected"], protected, "{words}");
        // It is said once what it means that nothing is signed, unless that was wanted.
        let warned = !protected && !words.contains("--allow-unsigned");
        assert_eq!(
            stderr.matches("not signed: ").count(),
            usize::from(warned),
            "{words}: {stderr}"
        );
    }
    let check = on_client(
        &lab,
        &format!("check {SHARE} --sign required --seconds 0.2 --repetitions 1 --json"),
    );
    let said = lab_and_program::json("check", &check.stdout);
    // The rungs of one channel, and the one of as many as there are links.
    let agreed = |channels| session("user", "3.1.1", Some("AES-128-GMAC"), None, channels);
    let mut sessions = said["sessions"].as_array().expect("a list").clone();
    // Which of the two ran first is up to chance.
    sessions.sort_by_key(|session| session["channels"].as_u64());
    assert_eq!(sessions, [agreed(1), agreed(2)], "{said}");
}

#[test]
fn what_cannot_be_had_is_refused_and_never_softened() {
    let lab = open_lab("demands");
    for (words, code, says) in [
        // The share of a lab is for its user and for guests, and nobody is neither.
        (
            "check smb://10.77.1.2/media --anonymous",
            65,
            "no permission for `media`",
        ),
        // A stranger is no guest unless he wants to be.
        (
            "check smb://stranger@10.77.1.2/media",
            65,
            "go in with `--guest`",
        ),
        (
            "check smb://10.77.1.2/media --dialect-min 3.0 --dialect-max 2.1",
            64,
            "no dialect",
        ),
        (
            "check smb://10.77.1.2/media --encrypt --dialect-max 2.1",
            64,
            "SMB 3.0",
        ),
        (
            "check smb://10.77.1.2/media --guest --sign required",
            64,
            "no key",
        ),
        ("check smb://ann@10.77.1.2/media --anonymous", 64, "`ann`"),
    ] {
        let output = on_client(&lab, &format!("{words} </dev/null"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{words}: {said}");
        assert!(
            said.contains(says) && said.contains("hint:"),
            "{words}: {said}"
        );
    }
    linerate()
        .args(["check", SHARE, "--guest", "--anonymous"])
        .assert()
        .code(64);
}
