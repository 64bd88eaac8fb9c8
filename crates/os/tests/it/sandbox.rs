//! What a confined process can still do. Needs root and a kernel with landlock and seccomp.

use std::fs;
use std::path::Path;
use std::process::Command;

fn said(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_confined-under-test"))
        .args(arguments)
        .output();
    let output = output.expect("it is built with the tests");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout)
        .expect("it is text")
        .trim()
        .to_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("it is text")
}

#[test]
fn root_becomes_nobody_without_a_capability() {
    assert_eq!(
        said(&["user"]),
        "Uid: 65534 65534 65534 65534 Gid: 65534 65534 65534 65534 Groups: CapEff: 0000000000000000; \
         missing: []"
    );
    let kept = said(&["--keeps-user", "user"]);
    assert!(kept.starts_with("Uid: 0 0 0 0 "), "{kept}");
    assert!(
        kept.ends_with("missing: [\"it keeps root's rights\"]"),
        "{kept}"
    );
}

#[test]
fn no_file_opens_but_those_that_were_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [given, other] = ["given", "other"].map(|name| folder.path().join(name));
    for path in [&given, &other] {
        fs::create_dir(path).expect("the folder is ours");
        fs::write(path.join("file"), "x").expect("the folder is ours");
    }
    let [inside, outside, new] = [given.join("file"), other.join("file"), given.join("new")];
    let (given, inside, outside, new) = (text(&given), text(&inside), text(&outside), text(&new));
    let denied = "PermissionDenied";
    // It is still root: only the sandbox keeps it.
    let allowed = |what: &str| format!("{what}; missing: [\"it keeps root's rights\"]");
    let keeps = "--keeps-user";
    for (arguments, expected) in [
        (&[keeps, "read", inside][..], denied.to_owned()),
        (&[keeps, "--reads", given, "read", inside], allowed("read")),
        (
            &[keeps, "--reads", given, "read", outside],
            denied.to_owned(),
        ),
        (&[keeps, "--reads", given, "write", new], denied.to_owned()),
        (
            &[keeps, "--writes", given, "write", new],
            allowed("written"),
        ),
        (
            &[keeps, "--writes", given, "remove", new],
            allowed("removed"),
        ),
        (
            &[keeps, "--writes", given, "remove", outside],
            denied.to_owned(),
        ),
        (
            &[keeps, "write", "/etc/linerate-was-here"],
            denied.to_owned(),
        ),
        (&[keeps, "list", "/root"], denied.to_owned()),
    ] {
        assert_eq!(said(arguments), expected, "{arguments:?}");
    }
    assert!(!Path::new("/etc/linerate-was-here").exists());
    assert!(Path::new(outside).exists());
}

#[test]
fn no_program_runs_and_the_network_is_there_only_where_it_is_wanted() {
    for (arguments, expected) in [
        (&["run"][..], "Unsupported"),
        (&["--keeps-user", "run"], "Unsupported"),
        (&["socket"], "Unsupported"),
        (&["--network", "socket"], "bound; missing: []"),
        (&["--network", "resolve"], "1 addresses; missing: []"),
        (&["thread"], "thread 7; missing: []"),
    ] {
        assert_eq!(said(arguments), expected, "{arguments:?}");
    }
}
