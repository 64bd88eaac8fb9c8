//! Bad input: one clear error with a hint, a documented exit code, nothing changed.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use predicates::prelude::*;

use crate::lab_and_program::{self, Lab};

/// Standard error has exactly one `error:` and one `hint:`, and says what is expected.
fn one_clear_error(command: &mut assert_cmd::Command, code: i32, says: &str) {
    let output = command.output().expect("linerate starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert_eq!(said.matches("error:").count(), 1, "{said}");
    assert_eq!(said.matches("hint:").count(), 1, "{said}");
    assert!(said.contains(says), "`{says}` is not in: {said}");
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn what_is_no_share_is_a_usage_error() {
    one_clear_error(
        lab_and_program::linerate().args(["check", "nas/media"]),
        64,
        "is not a share",
    );
    one_clear_error(
        lab_and_program::linerate().args(["tune", "smb://nas"]),
        64,
        "names no share",
    );
}

/// Before anybody logs in or is measured; this runs as root.
#[test]
fn a_folder_of_the_client_that_nothing_may_go_to_is_refused_at_once() {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| scratch.path().join(name).display().to_string();
    fs::create_dir(at("real")).expect("our own folder");
    fs::write(at("file"), "").expect("our own folder");
    symlink("real", at("link")).expect("our own folder");
    lchown(at("link"), Some(65_534), None).expect("this is root");
    for (name, code, says) in [
        ("none", 64, "there is no folder"),
        ("file", 64, "there is no folder"),
        ("link", 65, "belongs to the user with the number 65534"),
    ] {
        let into = at(name);
        let mut check = lab_and_program::linerate();
        check.args(["check", "smb://192.0.2.1/media", "--into", &into]);
        one_clear_error(&mut check, code, says);
        let mut bench = lab_and_program::linerate();
        bench.args(["bench", &format!("disk:{into}"), "--preset", "atto"]);
        one_clear_error(&mut bench, code, says);
    }
    let mut elsewhere = lab_and_program::linerate();
    elsewhere.args(["check", "smb://192.0.2.1/media", "--into", "here"]);
    elsewhere.args(["--client", "ssh://192.0.2.1"]);
    one_clear_error(&mut elsewhere, 64, "is not a whole path");
}

#[test]
fn what_is_being_written_is_not_gone_on_with() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.jsonl");
    let mut half = fs::read(lab_and_program::run_fixture()).expect("the fixture");
    half.extend_from_slice(b"{\"kind\":\"tri");
    fs::write(&path, &half).expect("room on the disk");
    let writer = fs::File::open(&path).expect("our own file");
    writer.lock().expect("nobody else has it");
    let mut resume = lab_and_program::linerate();
    resume.args(["experiment", "resume"]).arg(&path);
    one_clear_error(&mut resume, 65, "another linerate is writing the run file");
    assert_eq!(fs::read(&path).expect("our own file"), half);
}

#[test]
fn the_ways_a_server_says_no() {
    let lab = Lab::up("errors");
    let wrong = lab.folder().join("wrong");
    fs::write(&wrong, "username=linerate\npassword=not this one\n").expect("room on the disk");
    fs::set_permissions(&wrong, fs::Permissions::from_mode(0o600)).expect("our own file");
    let before = lab.facts();
    let check = |share: &str| {
        let mut command = lab_and_program::linerate();
        command.args([
            "check",
            share,
            "--client",
            &lab.host("client"),
            "--server",
            &lab.host("server"),
        ]);
        command
    };
    one_clear_error(
        check("smb://10.77.1.2/media")
            .arg("--credentials")
            .arg(&wrong),
        65,
        "does not let `linerate` log in",
    );
    one_clear_error(&mut check("smb://10.77.1.2/nosuch"), 65, "nosuch");
    one_clear_error(
        &mut check("smb://no-such-host.invalid/media"),
        69,
        "no-such-host.invalid",
    );
    one_clear_error(&mut check("smb://10.77.1.2:4455/media"), 69, "4455");
    one_clear_error(
        lab_and_program::linerate().args([
            "check",
            "smb://10.77.1.2/media",
            "--client",
            "lab://nosuch/client",
        ]),
        69,
        "nosuch",
    );
    assert_eq!(lab.facts(), before);
    assert_eq!(lab.files_of_the_share(), "");
}

/// What a peer says to each that connects before it resets the connection.
fn resets_after(said: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    std::thread::spawn(move || {
        for (number, connection) in (0..).zip(listener.incoming()) {
            let mut connection = connection.expect("a client");
            std::thread::sleep(Duration::from_micros(number % 24 * 20));
            // Who is gone already heard nothing.
            connection.write_all(said).ok();
            let at_once = Some(Duration::ZERO);
            rustix::net::sockopt::set_socket_linger(&connection, at_once).expect("our own socket");
        }
    });
    port
}

/// It depends on chance how far we are when the reset comes.
#[test]
fn who_resets_each_connection_is_unreachable_every_time() {
    let port = resets_after(b"");
    let share = format!("smb://ann@127.0.0.1:{port}/media");
    for _ in 0..72 {
        let mut list = lab_and_program::linerate();
        list.env("LINERATE_PASSWORD", "secret").args(["ls", &share]);
        one_clear_error(&mut list, 69, "127.0.0.1");
    }
    for said in [
        &b""[..],
        b"\0\0\0\x64ZZZZZZZZ",
        b"220 mail\r\n",
        b"SSH-1.5-old\r\n",
        b"SSH-2.0-new\r\n\0\0\0\x0cZZZZZZZZZZZZ",
    ] {
        let host = format!("ssh://ann@127.0.0.1:{}", resets_after(said));
        for _ in 0..6 {
            one_clear_error(
                lab_and_program::linerate().args(["inspect", &host]),
                69,
                &host,
            );
        }
    }
}

/// A check of a share of nobody's, whose own programs are looked for in `folder` first.
fn start_check(share: &str, folder: &Path) -> Child {
    start(&["check", share], folder)
}

fn start(arguments: &[&str], folder: &Path) -> Child {
    let others = std::env::var("PATH").expect("a PATH");
    let mut command = Command::new(lab_and_program::path());
    command
        .args(arguments)
        .env("LINERATE_STATE_DIR", folder.join("state"))
        .env("LINERATE_PASSWORD", "secret")
        .env("TMPDIR", folder)
        .env("PATH", format!("{}:{others}", folder.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command.spawn().expect("linerate starts")
}

/// It ends although what it waits for does not, says why, and keeps no file.
/// A terminal that goes, or a shell that ends a job, tells it twice at once.
fn is_interrupted(child: Child, signal: &str, folder: &Path) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args([signal, &id, &id]).status();
    assert!(sent.expect("kill starts").success());
    let output = child.wait_with_output().expect("our own child");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("error: interrupted"), "{said}");
    assert!(!said.contains("left without"), "{said}");
    assert!(!folder.join("state/runs").exists(), "{said}");
}

#[test]
fn a_check_that_is_interrupted_does_not_wait_for_a_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let resolver = folder.path().join("getent");
    let asked = folder.path().join("asked");
    let script = "#!/bin/sh\ncd \"$(dirname \"$0\")\"; echo >asked; while [ -e asked ]; do sleep 0.1; done\n";
    let mut file = fs::File::create(&resolver).expect("room on the disk");
    file.write_all(script.as_bytes()).expect("room on the disk");
    drop(file);
    fs::set_permissions(&resolver, fs::Permissions::from_mode(0o755)).expect("our own file");
    let mut check = start_check("smb://ann@nobody.invalid/media", folder.path());
    while !asked.exists() {
        let ended = check.try_wait().expect("our own child");
        assert_eq!(ended, None, "it asks for the name");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    is_interrupted(check, "-TERM", folder.path());
}

#[test]
fn who_is_interrupted_does_not_wait_for_a_host_that_does_not_answer_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let host = SilentHost::new();
    let check = ["check", "smb://ann@127.0.0.1/media"];
    for arguments in [
        [check[0], check[1], "--client", &host.name].as_slice(),
        &[check[0], check[1], "--server", &host.name],
        &["inspect", &host.name],
        &["set", &host.name, "tcp.sack=on"],
    ] {
        let child = start(arguments, folder.path());
        let connection = host.accept();
        assert_eq!(socket_folders(folder.path()).len(), 1, "{arguments:?}");
        is_interrupted(child, "-INT", folder.path());
        is_over(connection);
        assert_eq!(socket_folders(folder.path()), Vec::<PathBuf>::new());
    }
}

#[test]
fn what_one_leaves_who_is_killed_while_connecting_the_next_one_removes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let host = SilentHost::new();
    let mut killed = start(&["inspect", &host.name], folder.path());
    let connection = host.accept();
    killed.kill().expect("our own child");
    killed.wait().expect("our own child");
    let left = socket_folders(folder.path());
    assert_eq!(left.len(), 1, "{left:?}");
    // Its `ssh` would give up after 10 s.
    drop(connection);
    let next = start(&["inspect", &host.name], folder.path());
    let _connection = host.accept();
    // Another one meanwhile leaves it alone.
    let other = start(&["inspect", &host.name], folder.path());
    let _other = host.accept();
    let there = socket_folders(folder.path());
    assert!(there.len() == 2 && !there.contains(&left[0]), "{there:?}");
    for child in [next, other] {
        is_interrupted(child, "-TERM", folder.path());
    }
    assert_eq!(socket_folders(folder.path()), Vec::<PathBuf>::new());
}

/// A host that takes connections and says nothing.
struct SilentHost {
    listener: TcpListener,
    name: String,
}

impl SilentHost {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let name = format!("ssh://nobody@127.0.0.1:{port}");
        Self { listener, name }
    }

    /// The next `ssh` that connects; it says who it is, and waits for an answer.
    fn accept(&self) -> TcpStream {
        let (mut connection, _) = self.listener.accept().expect("it connects");
        assert_eq!(connection.read(&mut [0; 1]).expect("it talks"), 1);
        connection
    }
}

/// The `ssh` at the other end is gone, and has not waited until it gives up after 10 s.
fn is_over(mut connection: TcpStream) {
    let patience = Duration::from_secs(5);
    connection
        .set_read_timeout(Some(patience))
        .expect("it takes that");
    let ended = connection.read_to_end(&mut Vec::new());
    let waits = |error: &std::io::Error| error.kind() != std::io::ErrorKind::ConnectionReset;
    assert!(!ended.as_ref().is_err_and(waits), "{ended:?}");
}

/// Folders for sockets of `ssh` in the folder of temporary files.
fn socket_folders(temporary: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(temporary).expect("our own folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let named = |path: &PathBuf| path.display().to_string().contains("linerate-ssh-");
    paths.filter(named).collect()
}

#[test]
fn a_check_that_is_interrupted_does_not_wait_for_a_server_that_is_silent() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = server.local_addr().expect("its address").port();
    let check = start_check(&format!("smb://ann@127.0.0.1:{port}/media"), folder.path());
    // The look at the path connects as well, and says nothing.
    let connection = server.incoming().find_map(|connection| {
        let mut connection = connection.expect("a connection");
        let heard = connection.read(&mut [0; 1]).unwrap_or(0);
        (heard > 0).then_some(connection)
    });
    is_interrupted(check, "-INT", folder.path());
    drop(connection);
}

#[test]
fn an_unknown_field_of_a_topology_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = format!("typo-{}", std::process::id());
    let file = folder.path().join(format!("{name}.toml"));
    fs::write(&file, "[[host]]\nname = \"a\"\ncolour = \"red\"\n").expect("room on the disk");
    one_clear_error(
        lab_and_program::linerate().args(["lab", "up"]).arg(&file),
        64,
        "colour",
    );
    is_not_up(&name);
}

fn is_not_up(lab: &str) {
    let list = lab_and_program::linerate().args(["lab", "list"]).assert();
    list.success()
        .stdout(predicate::str::contains(lab.to_owned()).not());
}

#[test]
fn a_lab_without_root_says_so_and_builds_nothing() {
    let program = lab_and_program::program_for_everybody();
    let mut command = assert_cmd::Command::new("setpriv");
    command.args([
        "--reuid",
        "65534",
        "--regid",
        "65534",
        "--clear-groups",
        "--",
    ]);
    command
        .arg(&*program)
        .args(["lab", "up"])
        .arg(lab_and_program::topology());
    one_clear_error(&mut command, 65, "root");
}

#[test]
fn samba_that_is_not_installed_is_named_with_its_package() {
    // The same machine without smbd: an empty folder over the one that holds it.
    let mut command = assert_cmd::Command::new("unshare");
    command.args(["--mount", "sh", "-c"]);
    command.arg("mount --bind /dev/null /usr/sbin/smbd && exec \"$0\" lab up --name \"$1\" \"$2\"");
    // A name that nobody else on this machine gives a lab.
    let name = format!("no-samba-{}", std::process::id());
    command.arg(lab_and_program::path()).arg(&name);
    command.arg(lab_and_program::topology());
    one_clear_error(&mut command, 65, "samba");
    is_not_up(&name);
}

#[test]
fn a_run_file_cut_in_the_middle_is_read_or_refused_but_never_believed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fixture = fs::read(lab_and_program::run_fixture()).expect("the fixture");
    let cut = folder.path().join("cut.jsonl");
    fs::write(&cut, &fixture[..fixture.len() - 10]).expect("room on the disk");
    let output = lab_and_program::linerate()
        .arg("analyze")
        .arg(&cut)
        .output()
        .expect("linerate starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("cut off"), "{said}");
    fs::write(&cut, &fixture[..40]).expect("room on the disk");
    one_clear_error(
        lab_and_program::linerate().arg("analyze").arg(&cut),
        65,
        "header",
    );
    one_clear_error(
        lab_and_program::linerate()
            .arg("report")
            .arg(folder.path().join("none.jsonl")),
        65,
        "none.jsonl",
    );
}

#[test]
fn a_damaged_journal_is_never_taken_for_an_empty_one() {
    let state = tempfile::tempdir().expect("a temporary folder");
    let open = state.path().join("open");
    fs::create_dir_all(&open).expect("room on the disk");
    fs::write(open.join("1-abcd.jsonl"), "{\"format\":\"linerate-ch").expect("room on the disk");
    let mut undo = lab_and_program::linerate();
    undo.env("LINERATE_STATE_DIR", state.path()).arg("undo");
    let output = undo.output().expect("linerate starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_ne!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("1-abcd"), "{said}");
}
