//! What other users prepare for root: state folders, journals, names of files to write.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use crate::lab_and_program;

/// The number of a user without rights.
const STRANGER: u32 = 65_534;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A change of version 1 that says it would be taken back by making a file.
fn journal_line(marker: &Path) -> String {
    let undo = format!(r#"["sh","-c","touch {}"]"#, marker.display());
    let set = r#"["sysctl","-w","net.ipv4.tcp_congestion_control=reno"]"#;
    let place = r#""host":"local","target":"host","knob":"tcp.congestion_control""#;
    format!(
        r#"{{"format":"linerate-change","version":1,"id":"1-abcd","run":"tune","opened":"2026-11-24T00:00:00Z","hosts":[{{"name":"local","system":"linux","machine_id":null,"boot_id":null}}],"items":[{{{place},"before":{{"text":"nosuch"}},"after":{{"text":"cubic"}},"steps":[{{"run":{{"argv":{set},"root":true}},"undo":{{"argv":{undo},"root":true}}}}]}}],"snapshot":[{{{place},"value":{{"text":"nosuch"}}}}]}}"#
    ) + "\n"
}

/// A home that another user has prepared, for whoever keeps `XDG_STATE_HOME` when he becomes root.
fn prepared(home: &Path, victim: &Path, marker: &Path) {
    let state = home.join("linerate");
    fs::create_dir_all(state.join("open")).expect("room on the disk");
    fs::write(state.join("open/1-abcd.jsonl"), journal_line(marker)).expect("room on the disk");
    symlink(victim, state.join("lock")).expect("a link");
}

#[test]
fn root_neither_truncates_nor_runs_what_another_user_has_prepared() {
    let scratch = folder();
    let victim = scratch.path().join("victim");
    fs::write(&victim, "precious").expect("room on the disk");
    for owner in [STRANGER, 0] {
        let home = scratch.path().join(format!("home-of-{owner}"));
        let marker = scratch.path().join("marker");
        prepared(&home, &victim, &marker);
        // Either the folder is his, or only what is in it.
        if owner == STRANGER {
            chown(&home, Some(STRANGER), None).expect("we are root");
        }
        for arguments in [
            &["undo", "--dry-run"][..],
            &["undo"],
            &["undo", "--force"],
            &["undo", "1-abcd"],
            &["changes"],
        ] {
            let mut command = lab_and_program::linerate();
            command.env("LINERATE_STATE_DIR", scratch.path().join("own"));
            command.env("XDG_STATE_HOME", &home).args(arguments);
            let output = command.output().expect("linerate starts");
            let said = said(&output);
            let reason = match (owner, arguments) {
                (STRANGER, _) => "belongs to the user with the number 65534",
                (_, ["undo", "1-abcd"]) => "lock` is a symbolic link",
                _ => {
                    "line 1: setting 1, `tcp.congestion_control` on `local`: the knob would not \
                     run `sh -c touch"
                }
            };
            assert!(
                said.contains(reason) && said.contains("hint: "),
                "{arguments:?}: {said}"
            );
            assert!(!output.status.success(), "{arguments:?}: {said}");
            // Such as that nothing is changed.
            assert_eq!(output.stdout, b"", "{arguments:?}: {said}");
            assert_eq!(
                fs::read_to_string(&victim).expect("it is there"),
                "precious"
            );
            assert!(!marker.exists(), "{arguments:?}");
        }
    }
}

/// Who can write to it may have removed what was in it.
#[test]
fn a_state_folder_that_others_can_write_to_is_no_empty_one() {
    let scratch = folder();
    let state = scratch.path().join("state");
    fs::create_dir_all(state.join("open")).expect("room on the disk");
    for (owner, mode) in [(0, 0o777), (STRANGER, 0o755), (0, 0o1777)] {
        fs::set_permissions(&state, Permissions::from_mode(mode)).expect("our own folder");
        chown(&state, Some(owner), None).expect("we are root");
        for (arguments, code) in [
            (&["changes"][..], 1),
            (&["undo"], 65),
            (&["undo", "--dry-run"], 65),
        ] {
            let mut command = lab_and_program::linerate();
            command.env("LINERATE_STATE_DIR", &state).args(arguments);
            let output = command.output().expect("linerate starts");
            let said = said(&output);
            assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
            assert_eq!(output.stdout, b"", "{arguments:?}: {said}");
            assert!(said.contains("state"), "{arguments:?}: {said}");
        }
    }
}

/// That something is not seen does not say that it is not there.
#[test]
fn a_state_folder_that_cannot_be_read_is_no_empty_one() {
    let scratch = folder();
    let kept = scratch.path().join("kept/state");
    fs::create_dir_all(kept.join("open")).expect("room on the disk");
    for path in [scratch.path(), &scratch.path().join("kept")] {
        let mode = if path == scratch.path() { 0o755 } else { 0o700 };
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("our own folder");
    }
    let program = lab_and_program::program_for_everybody();
    for arguments in [&["changes"][..], &["undo"], &["undo", "--dry-run"]] {
        let mut command = assert_cmd::Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(&*program).args(arguments);
        command.env("LINERATE_STATE_DIR", &kept);
        let output = command.output().expect("setpriv starts");
        let said = said(&output);
        assert_eq!(output.status.code(), Some(65), "{arguments:?}: {said}");
        assert!(said.contains("kept"), "{arguments:?}: {said}");
    }
}

/// Nothing was ever changed on a host of such a name.
#[test]
fn a_change_on_a_host_of_no_name_stays_open_and_is_said() {
    let scratch = folder();
    let marker = scratch.path().join("marker");
    for name in [
        "winrm://x",
        "",
        "ssh://-oProxyCommand=touch",
        "lab://a/../b",
    ] {
        let state = scratch.path().join("state");
        let journal = state.join("open/1-abcd.jsonl");
        fs::create_dir_all(state.join("open")).expect("room on the disk");
        // As linerate would have written it, but for the name.
        let undo = format!(r#"["sh","-c","touch {}"]"#, marker.display());
        let line = journal_line(&marker)
            .replace(
                &undo,
                r#"["sysctl","-w","net.ipv4.tcp_congestion_control=nosuch"]"#,
            )
            .replace("control=reno", "control=cubic")
            .replace(r#""local""#, &format!(r#""{name}""#));
        fs::write(&journal, line).expect("room on the disk");
        let mut command = lab_and_program::linerate();
        command.env("LINERATE_STATE_DIR", &state).arg("undo");
        let output = command.output().expect("linerate starts");
        let said = said(&output);
        assert!(!output.status.success(), "`{name}`: {said}");
        assert!(journal.exists() && !marker.exists(), "`{name}`: {said}");
        fs::remove_dir_all(&state).expect("our own folder");
    }
}

#[test]
fn a_report_is_never_written_through_what_stands_in_its_place() {
    let scratch = folder();
    let victim = scratch.path().join("victim");
    fs::write(&victim, "precious").expect("room on the disk");
    let link = scratch.path().join("link.html");
    symlink(&victim, &link).expect("a link");
    let report = |html: &Path| {
        let mut command = lab_and_program::linerate();
        command.arg("report").arg(lab_and_program::run_fixture());
        command.arg("--html").arg(html);
        command.output().expect("linerate starts")
    };
    for (html, reason) in [
        (
            link.as_path(),
            "is a symbolic link, and linerate writes through none",
        ),
        (Path::new("/dev/stdout"), "is a symbolic link"),
        (Path::new("/dev/null"), "is no regular file"),
        (scratch.path(), "is a folder"),
    ] {
        let output = report(html);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(65), "{said}");
        assert!(
            said.contains(reason) && said.contains("hint: name a file"),
            "{said}"
        );
    }
    assert_eq!(
        fs::read_to_string(&victim).expect("it is there"),
        "precious"
    );
    let page = scratch.path().join("new/page.html");
    assert!(report(&page).status.success());
    fs::set_permissions(&page, Permissions::from_mode(0o600)).expect("our own file");
    assert!(report(&page).status.success());
    let mode = fs::metadata(&page)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let left = fs::read_dir(scratch.path().join("new")).expect("it was made");
    assert_eq!(left.count(), 1, "nothing else is left");
}

#[test]
fn runs_are_kept_where_only_their_owner_can_look() {
    let scratch = folder();
    let state = scratch.path().join("state");
    let recipe = scratch.path().join("recipe.toml");
    let text = "title = 'short'\nfile_size = '1 MiB'\nseconds = 0.05\npasses = 1\n\
                [[test]]\nname = 'one'\nblock = '64 KiB'\n";
    fs::write(&recipe, text).expect("room on the disk");
    let bench = || {
        let mut command = lab_and_program::linerate();
        command.env("LINERATE_STATE_DIR", &state);
        command
            .arg("bench")
            .arg(scratch.path())
            .arg("--recipe")
            .arg(&recipe);
        command.output().expect("linerate starts")
    };
    let output = bench();
    assert!(output.status.success(), "{}", said(&output));
    let mode = |path: &Path| {
        fs::metadata(path)
            .expect("it is there")
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!((mode(&state), mode(&state.join("runs"))), (0o755, 0o700));
    fs::remove_dir_all(state.join("runs")).expect("our own folder");
    symlink(scratch.path(), state.join("runs")).expect("a link");
    let output = bench();
    let text = said(&output);
    assert_eq!(output.status.code(), Some(65), "{text}");
    assert!(text.contains("runs` is a symbolic link"), "{text}");
}

/// A profile says what is set, so root takes none from a folder that another user can write.
#[test]
fn root_uses_no_profile_of_another_user() {
    let scratch = folder();
    let profiles = scratch.path().join("linerate/profiles");
    fs::create_dir_all(&profiles).expect("room on the disk");
    let text = "meaning = 'theirs'\n[[rule]]\nknob = 'tcp.sack'\nset = false\nwhy = 'harm'\n";
    fs::write(profiles.join("default.toml"), text).expect("room on the disk");
    let show = || {
        let mut command = lab_and_program::linerate();
        command.env("XDG_CONFIG_HOME", scratch.path());
        command.args(["profiles", "default"]);
        command.output().expect("linerate starts")
    };
    let own = show();
    assert!(String::from_utf8_lossy(&own.stdout).contains("theirs"));
    chown(scratch.path(), Some(STRANGER), None).expect("we are root");
    let output = show();
    assert!(output.status.success());
    assert!(!String::from_utf8_lossy(&output.stdout).contains("theirs"));
    assert!(
        said(&output).contains("warning: no profile of"),
        "{}",
        said(&output)
    );
}

#[test]
fn a_run_file_is_neither_made_nor_extended_through_a_link() {
    let scratch = folder();
    let victim = scratch.path().join("victim.jsonl");
    fs::copy(lab_and_program::run_fixture(), &victim).expect("room on the disk");
    let before = fs::read(&victim).expect("it is there");
    let [link, dangling] = ["link.jsonl", "dangling.jsonl"].map(|name| scratch.path().join(name));
    symlink(&victim, &link).expect("a link");
    symlink(scratch.path().join("nowhere"), &dangling).expect("a link");
    let server = measure::FarServer::start(&host::exec::Local::new()).expect("iperf3");
    let target = format!("tcp://127.0.0.1:{}", server.port());
    let [link, dangling] = [link, dangling].map(|path| path.display().to_string());
    for arguments in [
        &["experiment", "resume", &link][..],
        &["bench", &target, "--seconds", "0.2", "--run", &dangling],
    ] {
        let output = lab_and_program::linerate()
            .args(arguments)
            .output()
            .expect("it starts");
        let text = said(&output);
        assert_eq!(output.status.code(), Some(65), "{arguments:?}: {text}");
    }
    assert_eq!(fs::read(&victim).expect("it is there"), before);
    assert!(!scratch.path().join("nowhere").exists());
}
