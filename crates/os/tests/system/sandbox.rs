//! What a confined process can still do. Needs root and a kernel with landlock and seccomp.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::ExitStatusExt;
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
    // CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, FSETID.
    assert!(kept.contains("CapEff: 000000000000001f;"), "{kept}");
    assert!(
        kept.ends_with("missing: [\"sandbox.keeps-root\"]"),
        "{kept}"
    );
}

#[test]
fn root_opens_what_it_needs_and_becomes_nobody_later() {
    let root = said(&["--nobody-later", "user"]);
    assert!(root.starts_with("Uid: 0 0 0 0 "), "{root}");
    let nobody = said(&["--nobody-later", "drop-root", "user"]);
    let nobody_is = "Uid: 65534 65534 65534 65534 Gid: 65534 65534 65534 65534 Groups: CapEff: \
                     0000000000000000;";
    assert!(nobody.starts_with(nobody_is), "{nobody}");
    let secret = tempfile::NamedTempFile::new().expect("a temporary file");
    let path = text(secret.path());
    let read = &["--nobody-later", "--reads", path];
    let denied = said(&[&read[..], &["drop-root", "read", path]].concat());
    assert_eq!(denied, "PermissionDenied");
    let allowed = said(&[&read[..], &["read", path]].concat());
    assert!(allowed.starts_with("read; "), "{allowed}");
    // Who stays what it is, or is nobody already, needs no call for that.
    assert_eq!(said(&["--keeps-user", "drop-root", "user"]), "Unsupported");
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
    let allowed = |what: &str| format!("{what}; missing: [\"sandbox.keeps-root\"]");
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

#[test]
fn what_root_alone_may_read_is_not_read_by_who_stays_root_either() {
    for path in ["/etc/shadow", "/proc/version", "/proc/1/environ", "/root"] {
        let deed = match path {
            "/root" => "list",
            _ => "read",
        };
        let said = said(&["--keeps-user", "--network", deed, path]);
        assert_eq!(said, "PermissionDenied", "{path}");
    }
    for path in [
        "/etc/hosts",
        "/proc/self/net/snmp",
        "/proc/sys/kernel/ostype",
    ] {
        let said = said(&["--keeps-user", "read", path]);
        assert!(said.starts_with("read; "), "{path}: {said}");
    }
}

#[test]
fn no_service_of_this_machine_is_spoken_to_without_a_network() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _service = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let path = path.to_str().unwrap();
    assert_eq!(said(&["--keeps-user", "service", path]), "Unsupported");
    let said = said(&["--keeps-user", "--network", "service", path]);
    assert!(said.starts_with("connected; "), "{said}");
}

#[test]
fn who_stays_root_sets_modes_and_times_of_open_files_only() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("file");
    fs::write(&inside, "x").unwrap();
    let outside = tempfile::NamedTempFile::new().unwrap();
    let outside = text(outside.path());
    let (here, inside) = (text(folder.path()), text(&inside));
    let keeps = &["--keeps-user", "--network", "--writes", here];
    for (deed, expected) in [
        (&["mode", outside][..], "Unsupported"),
        (&["times", outside], "Unsupported"),
        (&["mode", inside], "Unsupported"),
        (&["mode-of-open", outside, "666"], "PermissionDenied"),
        (&["times-of-open", outside], "PermissionDenied"),
        // A program that runs with root's rights.
        (&["mode-of-open", inside, "4755"], "Unsupported"),
        (&["mode-of-open", inside, "640"], "mode set"),
        (&["times-of-open", inside], "times set"),
    ] {
        let said = said(&[&keeps[..], deed].concat());
        assert_eq!(said.split(';').next(), Some(expected), "{deed:?}");
    }
    let mode = |path: &str| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(outside), mode(inside)), (0o600, 0o640));
}

#[test]
fn who_stays_root_reaches_no_other_process_and_no_socket_that_listens_to_all() {
    let mut other = Command::new("sleep").arg("60").spawn().unwrap();
    let process = other.id().to_string();
    let name = format!("linerate-test-{process}");
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _service = UnixListener::bind_addr(&address).unwrap();
    for (deed, expected) in [
        (&["limit", &*process][..], "Unsupported"),
        (&["raw-socket"], "Unsupported"),
        (&["packet-socket"], "Unsupported"),
        (&["audit-socket"], "Unsupported"),
        (&["route-socket"], "made"),
        (&["stream-socket"], "made"),
        (&["abstract-service", &name], "PermissionDenied"),
        (&["read", "/var/cache/samba"], "PermissionDenied"),
        (&["list", "/run"], "PermissionDenied"),
    ] {
        let said = said(&[&["--keeps-user", "--network"], deed].concat());
        assert_eq!(said.split(';').next(), Some(expected), "{deed:?}");
    }
    other.kill().unwrap();
    other.wait().unwrap();
    // It can end itself all the same.
    let status = Command::new(env!("CARGO_BIN_EXE_confined-under-test"))
        .arg("abort")
        .status();
    assert_eq!(status.unwrap().signal(), Some(libc::SIGABRT));
}
