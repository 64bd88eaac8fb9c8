//! Every exit code, provoked of every command that can end with it, against the table of the README.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::lab_and_program::{self, Lab};

/// It takes six blocks at least, and of these one of twenty decides wrongly by what an interval of 95 % is. It ends as
/// `analyze` does with its run file.
const BY_CHANCE: (&str, &str) = ("tune", "undecided");
/// How long something that happens at once may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const SHARE: &str = "smb://10.77.1.2/media";
/// As large as the page of memory that an empty file takes.
const SMALL: &str = "smb://10.77.1.2/small";
const CREDENTIALS: &str = "/run/linerate/credentials";

const TOPOLOGY: &str = r#"
[[host]]
name = "client"
[[host]]
name = "server"
[[link]]
from = { host = "client", nic = "lan1", address = "10.77.1.1/24" }
to = { host = "server", nic = "lan1", address = "10.77.1.2/24" }
rate = "1Gbit"
[samba]
host = "server"
[[samba.share]]
name = "media"
medium = "memory"
size = "256MiB"
[[samba.share]]
name = "small"
medium = "memory"
size = "1MiB"
"#;
const PLAN: &str = r#"
title = "codes"
blocks = 1
noise = false
[workload]
recipe = "recipe.toml"
[[factor]]
name = "depth"
[[factor.level]]
name = "one"
set = ["workload:depth=1"]
[[factor.level]]
name = "eight"
set = ["workload:depth=8"]
"#;
/// In the server's namespaces: once 16 MB of a copy have come, all connections are reset, and so are new ones.
const CUT: &str = r#"
received=/sys/class/net/lan1/statistics/rx_bytes
begin=$(cat $received)
nft add table ip codes
nft add chain ip codes in '{ type filter hook input priority 0; }'
echo ready
until [ $(($(cat $received) - begin)) -gt 16000000 ]; do :; done
exec nft add rule ip codes in tcp dport 445 reject with tcp reset
"#;
const RECIPE: &str = r#"
title = "reading"
file_size = "16 MiB"
seconds = 0.1
[[test]]
name = "read"
block = "1 MiB"
depth = 8
directions = ["read"]
"#;

/// The table of the README: code, name, commands.
fn table() -> Vec<(i32, String, BTreeSet<String>)> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).expect("the README");
    let rows = readme
        .split("<!-- exit codes -->")
        .nth(1)
        .expect("its begin");
    let rows = rows.split("<!-- end of exit codes -->").next();
    let rows = rows.expect("its end").trim().lines().skip(2);
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let code = cells[0].parse().expect("a code");
        let commands = match cells[3] {
            "all" => commands(),
            some => some.split(", ").map(|one| one.replace('`', "")).collect(),
        };
        (code, cells[1].to_owned(), commands)
    })
    .collect()
}

/// All commands, as the help lists them.
fn commands() -> BTreeSet<String> {
    let help = lab_and_program::linerate().arg("--help-all").output();
    let help = String::from_utf8(help.expect("linerate starts").stdout).expect("UTF-8");
    let listed = help
        .split("Commands:\n")
        .nth(1)
        .expect("a list of commands");
    let listed = listed.lines().take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !name.is_empty() && *name != "help");
    names.map(str::to_owned).collect()
}

/// What was provoked.
struct Provoked {
    lab: Lab,
    table: Vec<(i32, String, BTreeSet<String>)>,
    seen: BTreeSet<(String, String)>,
}

impl Provoked {
    fn new() -> Self {
        let lab = Lab::described("codes", TOPOLOGY);
        let file = |name: &str, text: &str| {
            let path = lab.folder().join(name);
            fs::write(&path, text).expect("room on the disk");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("our own file");
        };
        file("plan.toml", PLAN);
        file("recipe.toml", RECIPE);
        file("wrong", "username=linerate\npassword=not this one\n");
        file("broken.toml", "this is nothing\n");
        file("large", &"x".repeat(5_000_000));
        fs::create_dir_all(lab.folder().join("full")).expect("room on the disk");
        Self {
            lab,
            table: table(),
            seen: BTreeSet::new(),
        }
    }

    /// The path of a file of this test.
    fn file(&self, name: &str) -> String {
        self.lab.folder().join(name).display().to_string()
    }

    /// linerate with a state folder of this test.
    fn command(&self, words: &[&str]) -> Command {
        self.started_by(&[], words)
    }

    /// The same, on the lab's client.
    fn on_client(&self, words: &[&str]) -> Command {
        self.started_by(&["lab", "run", &self.lab.host("client"), "--"], words)
    }

    /// The same where a folder of this machine has no room at all.
    fn beside_full_disk(&self, on_client: bool, words: &[&str]) -> Command {
        let full = self.file("full");
        let mount = "mount -t tmpfs -o size=4k tmpfs \"$0\" && exec \"$@\"";
        let words = [&["unshare", "--mount", "sh", "-c", mount, &full], words].concat();
        match on_client {
            true => self.on_client(&words),
            false => {
                let program = lab_and_program::path().display().to_string();
                let words = [&words[..6], &[program.as_str()], &words[6..]].concat();
                let mut command = Command::new(words[0]);
                command.args(&words[1..]);
                self.prepared(command)
            }
        }
    }

    fn started_by(&self, before: &[&str], words: &[&str]) -> Command {
        let mut command = Command::new(lab_and_program::path());
        let program = lab_and_program::path().display().to_string();
        command.args(before);
        if !before.is_empty() && words[0] != "unshare" {
            command.arg(program).args(words);
        } else if before.is_empty() {
            command.args(words);
        } else {
            // The six words that make the place in which it runs come first.
            command.args(&words[..6]).arg(program).args(&words[6..]);
        }
        self.prepared(command)
    }

    fn prepared(&self, mut command: Command) -> Command {
        command
            .env("LINERATE_STATE_DIR", self.lab.folder().join("state"))
            .env("LINERATE_PASSWORD", "secret")
            .env("TMPDIR", self.lab.folder())
            .current_dir(self.lab.folder())
            .stdin(Stdio::null());
        command
    }

    /// The command ends as the table says of this name.
    fn ends(&mut self, name: &str, words: &[&str]) {
        let command = self.command(words);
        self.ends_as(name, words, command);
    }

    fn ends_as(&mut self, name: &str, words: &[&str], mut command: Command) {
        let output = command.output().expect("it starts");
        self.ended(name, words, &output);
    }

    fn ended(&mut self, name: &str, words: &[&str], output: &Output) {
        let said = String::from_utf8_lossy(&output.stderr);
        let row = self.table.iter().find(|row| row.1 == name);
        let (code, _, commands) = row.expect("a row of the table");
        assert_eq!(output.status.code(), Some(*code), "{words:?}: {said}");
        assert!(
            commands.contains(words[0]),
            "`{name}` is not said of `{}`",
            words[0]
        );
        assert!(*code < 64 || said.contains("error: "), "{words:?}: {said}");
        assert!(!said.contains("panicked"), "{words:?}: {said}");
        self.seen.insert((words[0].to_owned(), name.to_owned()));
    }

    /// Interrupts a command.
    fn is_interrupted(&mut self, words: &[&str], child: Child) {
        let sent = Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status();
        assert!(sent.expect("kill starts").success());
        let begun = Instant::now();
        let output = child.wait_with_output().expect("our own child");
        assert!(
            begun.elapsed() < PATIENCE,
            "{words:?}: {:?}",
            begun.elapsed()
        );
        self.ended("interrupted", words, &output);
    }
}

/// A server that does not do what it should.
#[derive(Clone, Copy)]
enum Lie {
    Garbage,
    Reset,
    Silence,
}

/// Starts it; tells its port, and of each client that has said something.
fn liar(lie: Lie) -> (u16, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    let (heard, hear) = mpsc::channel();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let heard = heard.clone();
            let connection = connection.expect("a client");
            thread::spawn(move || lie_to(connection, lie, || heard.send(()).unwrap_or_default()));
        }
    });
    (port, hear)
}

fn lie_to(mut connection: TcpStream, lie: Lie, heard: impl FnOnce()) {
    // Some connect only to see whether the port is open.
    if !connection.peek(&mut [0; 1]).is_ok_and(|count| count > 0) {
        return;
    }
    heard();
    match lie {
        // A frame of SMB as it seems, without any sense; to iperf3 a state that there is not.
        Lie::Garbage => drop(connection.write_all(&[&[0, 0, 0, 100][..], &[0x5a; 100]].concat())),
        // What was not read when it is closed resets it.
        Lie::Reset => return,
        Lie::Silence => {}
    }
    drop(connection.read_to_end(&mut Vec::new()));
}

#[test]
fn every_command_ends_with_every_code_that_the_table_says_of_it_and_no_other() {
    let mut provoked = Provoked::new();
    with_usage(&mut provoked);
    well(&mut provoked);
    found_and_undecided(&mut provoked);
    refused(&mut provoked);
    full_disks(&mut provoked);
    broken_peers(&mut provoked);
    interrupted(&mut provoked);
    demos(&mut provoked);
    let rows = provoked.table.iter();
    let expected: BTreeSet<(String, String)> = rows
        .flat_map(|(_, name, commands)| {
            commands
                .iter()
                .map(move |command| (command.clone(), name.clone()))
        })
        .filter(|(command, name)| (&**command, &**name) != BY_CHANCE)
        .collect();
    assert_eq!(provoked.seen, expected);
}

fn with_usage(provoked: &mut Provoked) {
    for command in commands() {
        provoked.ends("usage", &[&command, "--no-such-option"]);
    }
    let broken = provoked.file("broken.toml");
    for words in [
        &["check", "nas/media"][..],
        &["tune", "smb://nas"],
        &["bench", SHARE, "--recipe", &broken],
        &["experiment", "run", &broken],
        &["lab", "up", &broken],
        &["set", "local", "--profile", &broken],
        &["set", "local", "no.such=1"],
        &["inspect", "--explain", "no.such"],
        &["undo", "no-such-change"],
        &["copy", "here", "there"],
        &["ls", "here"],
        &["profiles", "no-such"],
    ] {
        provoked.ends("usage", words);
    }
}

fn well(provoked: &mut Provoked) {
    let ends = provoked.lab.ends();
    let [client, server] = ["client", "server"].map(|host| provoked.lab.host(host));
    let ends: Vec<&str> = ends.iter().map(String::as_str).collect();
    let run = recorded("demo-tune");
    let page = provoked.file("page.html");
    let plan = provoked.file("plan.toml");
    for words in [
        &["check", "--help"][..],
        &[
            &["bench", SHARE, "--seconds", "0.1", "--repetitions", "1"],
            &ends[..],
        ]
        .concat(),
        &[
            &["tune", SHARE, "--dry-run", "--profile", "default"],
            &ends[..],
        ]
        .concat(),
        &[
            &["experiment", "run", &plan, "--dry-run", "--target", SHARE],
            &ends[..],
        ]
        .concat(),
        &["inspect", &client, &server],
        &["set", &client, "tcp.sack=off", "--dry-run"],
        &["profiles"],
        &["undo"],
        &["changes"],
        &["analyze", &run],
        &["compare", &case("robocopy-before"), &case("robocopy-after")],
        &["report", &run, "--html", &page, "--shareable"],
        &["lab", "list"],
        &["doctor"],
        &["man", "check"],
        &["completions", "bash"],
    ] {
        provoked.ends("well", words);
    }
    let large = provoked.file("large");
    let to = format!("{SHARE}/large");
    for words in [
        &["copy", &large, &to, "--credentials", CREDENTIALS][..],
        // A bare name is one in this folder.
        &["copy", &to, "home", "--credentials", CREDENTIALS],
        &["ls", SHARE, "--credentials", CREDENTIALS],
    ] {
        let command = provoked.on_client(words);
        provoked.ends_as("well", words, command);
    }
}

/// Results of another program, of the tests of `fit`.
fn case(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fit/tests/cases");
    folder.join(format!("{name}.txt")).display().to_string()
}

/// A run file of the tests of reports.
fn recorded(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/fixtures");
    folder.join(format!("{name}.jsonl")).display().to_string()
}

fn found_and_undecided(provoked: &mut Provoked) {
    let ends = provoked.lab.ends();
    let [client, server] = ["client", "server"].map(|host| provoked.lab.host(host));
    let ends: Vec<&str> = ends.iter().map(String::as_str).collect();
    let short = ["--seconds", "0.1", "--repetitions", "1"];
    let plan = provoked.file("plan.toml");
    let cut = lab_and_program::run_fixture().display().to_string();
    provoked.ends("undecided", &["analyze", &cut]);
    let once = ["cdm-before-1", "cdm-after-1"].map(case);
    provoked.ends("undecided", &["compare", &once[0], &once[1]]);
    // Nothing is measured: the share has no room, and without the server's end there is no raw TCP, of which a machine
    // whose hypervisor takes its time would lose some.
    let alone = ["--client", &client];
    provoked.ends(
        "undecided",
        &[&["check", SMALL], &short[..], &alone].concat(),
    );
    let experiment = ["experiment", "run", &plan, "--target", SHARE];
    provoked.ends("undecided", &[&experiment[..], &ends].concat());
    // A server for one direction only: what is measured after that is not.
    provoked.lab.run("server", &["iperf3", "-s", "-1", "-D"]);
    let served_once = ["bench", "tcp://10.77.1.2"];
    provoked.ends(
        "undecided",
        &[&served_once[..], &short, &["--client", &client]].concat(),
    );

    provoked
        .lab
        .run("client", &["ip", "link", "set", "lan1", "mtu", "9000"]);
    provoked.ends("found", &["inspect", &client, &server]);
    let run = provoked.file("found.jsonl");
    let recorded = ["check", SHARE, "--run", &run];
    provoked.ends("found", &[&recorded[..], &short, &ends].concat());
    provoked.ends("found", &["analyze", &run]);
    provoked
        .lab
        .run("client", &["ip", "link", "set", "lan1", "mtu", "1500"]);

    provoked.ends("well", &["set", &client, "tcp.rmem=4096 65536 6291456"]);
    provoked.ends("found", &["changes"]);
    let foreign = "net.ipv4.tcp_rmem=4096 65536 7000000";
    provoked.lab.run("client", &["sysctl", "-w", foreign]);
    provoked.ends("found", &["undo"]);
    provoked.ends("well", &["undo", "--force"]);

    // One of two files is there already.
    let tree = provoked.lab.folder().join("tree");
    fs::create_dir_all(&tree).expect("room on the disk");
    fs::write(tree.join("one"), "1").expect("room on the disk");
    let tree = tree.display().to_string();
    let to = format!("{SHARE}/");
    let copy = ["copy", &tree, &to, "--credentials", CREDENTIALS];
    let command = provoked.on_client(&copy);
    provoked.ends_as("well", &copy, command);
    fs::write(Path::new(&tree).join("two"), "2").expect("room on the disk");
    let command = provoked.on_client(&copy);
    provoked.ends_as("found", &copy, command);
}

fn refused(provoked: &mut Provoked) {
    let ends = provoked.lab.ends();
    let ends: Vec<&str> = ends.iter().map(String::as_str).collect();
    let client = provoked.lab.host("client");
    let plan = provoked.file("plan.toml");
    let none = provoked.file("none");
    let wrong = provoked.file("wrong");
    let wrong = ["--credentials", &wrong];
    for share in [SHARE, "smb://10.77.1.2/no-such"] {
        let login = if share == SHARE { &wrong[..] } else { &[] };
        for words in [
            &["check", share][..],
            &["bench", share],
            &["tune", share],
            &["experiment", "run", &plan, "--target", share],
        ] {
            provoked.ends("refused", &[words, &ends, login].concat());
        }
        let login = if share == SHARE {
            &wrong[..]
        } else {
            &["--credentials", CREDENTIALS]
        };
        let file = format!("{share}/large");
        for words in [&["copy", file.as_str(), none.as_str()][..], &["ls", share]] {
            let words = [words, login].concat();
            let command = provoked.on_client(&words);
            provoked.ends_as("refused", &words, command);
        }
    }
    let nowhere = provoked.file("no/such/file");
    let below_file = provoked.file("wrong/out");
    for words in [
        &["set", &client, "tcp.congestion_control=none"][..],
        &["analyze", &nowhere],
        &["compare", &nowhere, &nowhere],
        &["report", &nowhere],
        &["experiment", "resume", &nowhere],
        &["experiment", "run", &nowhere],
        &["bench", SHARE, "--recipe", &nowhere],
        &["check", SHARE, "--credentials", &nowhere],
        &["lab", "up", &nowhere],
        &[
            "lab",
            "up",
            "--scenario",
            "healthy-1g",
            "--name",
            provoked.lab.name().to_owned().as_str(),
        ],
        &["demo", "--out", &below_file],
    ] {
        provoked.ends("refused", words);
    }
}

fn full_disks(provoked: &mut Provoked) {
    let ends = provoked.lab.ends();
    let ends: Vec<&str> = ends.iter().map(String::as_str).collect();
    let plan = provoked.file("plan.toml");
    let run = recorded("demo-check");
    // Standard output.
    for words in [
        &["inspect", "local"][..],
        &["profiles"],
        &["undo"],
        &["changes"],
        &["analyze", &run],
        &["lab", "list"],
        &["doctor"],
        &["man", "check"],
        &["completions", "bash"],
        &["set", "local", "tcp.sack=on", "--dry-run"],
    ] {
        let mut command = provoked.command(words);
        let full = fs::OpenOptions::new().write(true).open("/dev/full");
        command
            .stdout(full.expect("it is always there"))
            .stderr(Stdio::piped());
        let child = command.spawn().expect("linerate starts");
        let output = child.wait_with_output().expect("our own child");
        provoked.ended("refused", words, &output);
    }
    // The share.
    for words in [
        &["bench", SMALL][..],
        &["tune", SMALL],
        &[
            "experiment",
            "run",
            &plan,
            "--blocks",
            "6",
            "--target",
            SMALL,
        ],
        // It is over before it is given up.
        &["experiment", "run", &plan, "--target", SMALL],
    ] {
        provoked.ends("refused", &[words, &ends].concat());
    }
    let large = provoked.file("large");
    let to = format!("{SMALL}/large");
    let copy = ["copy", &large, &to, "--credentials", CREDENTIALS];
    let command = provoked.on_client(&copy);
    provoked.ends_as("refused", &copy, command);
    // This machine.
    let from = format!("{SHARE}/large");
    let full = provoked.file("full/");
    let copy = ["copy", &from, &full, "--credentials", CREDENTIALS];
    let command = provoked.beside_full_disk(true, &copy);
    provoked.ends_as("refused", &copy, command);
    let file = provoked.file("full/run.jsonl");
    let page = provoked.file("full/page.html");
    for words in [
        &[&["check", SHARE, "--run", &file], &ends[..]].concat()[..],
        &[&["bench", SHARE, "--run", &file], &ends[..]].concat(),
        &[
            &[
                "experiment",
                "run",
                &plan,
                "--target",
                SHARE,
                "--run",
                &file,
            ],
            &ends[..],
        ]
        .concat(),
        &["report", &run, "--html", &page],
    ] {
        let command = provoked.beside_full_disk(false, words);
        provoked.ends_as("refused", words, command);
    }
    let client = provoked.lab.host("client");
    let set = ["set", &client, "tcp.sack=off"];
    let mut command = provoked.beside_full_disk(false, &set);
    command.env("LINERATE_STATE_DIR", provoked.file("full/state"));
    provoked.ends_as("refused", &set, command);
    let sack = provoked
        .lab
        .run("client", &["sysctl", "-n", "net.ipv4.tcp_sack"]);
    assert_eq!(sack.trim(), "1", "what cannot be journalled is not set");
}

/// A copy of which 16 MB have come when the server's machine resets its connection, and every new one.
struct CutCopy {
    words: Vec<String>,
    copy: Child,
    cut: Child,
}

impl CutCopy {
    fn start(provoked: &Provoked) -> Self {
        let huge = provoked.file("huge");
        fs::write(&huge, vec![0x5a; 200_000_000]).expect("room on the disk");
        let server = provoked.lab.host("server");
        let mut cut = provoked.command(&["lab", "run", &server, "--", "sh", "-ec", CUT]);
        let mut cut = cut.stdout(Stdio::piped()).spawn().expect("linerate starts");
        let mut said = BufReader::new(cut.stdout.take().expect("a pipe")).lines();
        let ready = said.next().and_then(Result::ok);
        assert_eq!(ready.as_deref(), Some("ready"));
        let to = format!("{SHARE}/huge");
        let words = ["copy", &huge, &to, "--credentials", CREDENTIALS];
        let mut copy = provoked.on_client(&words);
        copy.stdout(Stdio::null()).stderr(Stdio::piped());
        Self {
            words: words.map(str::to_owned).into(),
            copy: copy.spawn().expect("linerate starts"),
            cut,
        }
    }

    fn end_unreachable(mut self, provoked: &mut Provoked) {
        let output = self.copy.wait_with_output().expect("our own child");
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        provoked.ended("unreachable", &words, &output);
        let said = String::from_utf8_lossy(&output.stderr);
        for part in ["is lost: trying again", "`--resume` goes on with the rest"] {
            assert!(said.contains(part), "{said}");
        }
        assert!(self.cut.wait().expect("our own child").success());
        let table = ["nft", "delete", "table", "ip", "codes"];
        provoked.lab.run("server", &table);
        assert!(!provoked.lab.files_of_the_share().contains(" huge "));
    }
}

fn broken_peers(provoked: &mut Provoked) {
    // It tries to come back for a minute.
    let copy = CutCopy::start(provoked);
    let plan = provoked.file("plan.toml");
    let none = provoked.file("none");
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("its address").port()
    };
    let lies = [
        ("internal", liar(Lie::Garbage).0),
        ("unreachable", liar(Lie::Reset).0),
        ("unreachable", closed),
    ];
    for (name, port) in lies {
        let share = format!("smb://ann@127.0.0.1:{port}/media");
        let file = format!("{share}/file");
        let tcp = format!("tcp://127.0.0.1:{port}");
        let host = format!("ssh://ann@127.0.0.1:{port}");
        for words in [
            &["check", share.as_str()][..],
            &["bench", &share],
            &["bench", &tcp],
            &["tune", &share],
            &["experiment", "run", &plan, "--target", &share],
            &["copy", &file, &none],
            &["ls", &share],
        ] {
            provoked.ends(name, words);
        }
        // What does not even begin as `ssh` does is no host of that kind.
        for words in [
            &["inspect", host.as_str()][..],
            &["set", &host, "tcp.sack=on"],
        ] {
            provoked.ends("unreachable", words);
        }
    }
    provoked.ends("unreachable", &["lab", "run", "no-such/host", "--", "true"]);
    let folder = a_shell_without_sense(provoked.lab.folder());
    for words in [
        &["inspect", "ssh://nas"][..],
        &["set", "ssh://nas", "tcp.sack=on"],
    ] {
        let mut command = provoked.command(words);
        let others = std::env::var("PATH").expect("a PATH");
        command.env("PATH", format!("{}:{others}", folder.display()));
        provoked.ends_as("internal", words, command);
    }
    copy.end_unreachable(provoked);
}

/// A folder with an `ssh` that talks nonsense, as of a host whose shell does.
fn a_shell_without_sense(folder: &Path) -> PathBuf {
    let folder = folder.join("programs");
    fs::create_dir_all(&folder).expect("room on the disk");
    let script = folder.join("ssh");
    fs::write(&script, "#!/bin/sh\nexec yes nonsense\n").expect("room on the disk");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("our own file");
    folder
}

fn interrupted(provoked: &mut Provoked) {
    let plan = provoked.file("plan.toml");
    let none = provoked.file("none");
    let (port, heard) = liar(Lie::Silence);
    let share = format!("smb://ann@127.0.0.1:{port}/media");
    let file = format!("{share}/file");
    let host = format!("ssh://ann@127.0.0.1:{port}");
    for words in [
        &["check", share.as_str()][..],
        &["bench", &share],
        &["tune", &share],
        &["experiment", "run", &plan, "--target", &share],
        &["copy", &file, &none],
        &["ls", &share],
        &["inspect", &host],
        &["set", &host, "tcp.sack=on"],
    ] {
        let mut command = provoked.command(words);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let child = child.expect("linerate starts");
        heard.recv_timeout(PATIENCE).expect("it says something");
        provoked.is_interrupted(words, child);
        heard.try_iter().for_each(drop);
    }
    // Those that wait for no peer wait for the reader of their output.
    let run = recorded("demo-check");
    let page = provoked.file("page.html");
    for words in [
        &["profiles"][..],
        &["undo"],
        &["changes"],
        &["analyze", &run],
        &["compare", &case("robocopy-before"), &case("robocopy-after")],
        &["report", &run, "--html", &page],
        &["lab", "list"],
        &["doctor"],
        &["man", "check"],
        &["completions", "bash"],
    ] {
        let (stdout, _reader) = full_pipe();
        let mut command = provoked.command(words);
        let child = command.stdout(stdout).stderr(Stdio::piped()).spawn();
        let child = child.expect("linerate starts");
        await_handler(child.id());
        provoked.is_interrupted(words, child);
    }
    let out = provoked.file("demo");
    let demo = ["demo", "--out", &out];
    let mut command = provoked.command(&demo);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.expect("linerate starts");
    let mut said = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(said.any(|line| line.is_ok_and(|line| line.contains("lab up"))));
    thread::spawn(move || said.for_each(drop));
    provoked.is_interrupted(&demo, child);
}

/// The whole job, as short as it can be: left alone, and where another program changes what linerate does not know of.
fn demos(provoked: &mut Provoked) {
    for (name, disturbs) in [("well", false), ("found", true)] {
        let out = provoked.file("demo");
        let demo = ["demo", "--out", &out, "--seconds", "0.2"];
        let mut command = provoked.command(&demo);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("linerate starts");
        let said = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut lab = None;
        let mut all = String::new();
        for line in said.map_while(Result::ok) {
            let up = line.strip_prefix("$ linerate lab up ");
            let up = up.and_then(|line| Some(line.split_once("--name ")?.1.to_owned()));
            lab = lab.or(up);
            if disturbs && line.starts_with("$ linerate tune ") {
                let host = format!("lab://{}/client", lab.as_deref().expect("it was named"));
                let address = ["ip", "address", "add", "10.99.0.1/32", "dev", "lan1"];
                let mut add =
                    provoked.command(&[&["lab", "run", &host, "--"], &address[..]].concat());
                assert!(add.status().expect("linerate starts").success());
            }
            all += &line;
            all.push('\n');
        }
        let output = child.wait_with_output().expect("our own child");
        let whole = match disturbs {
            true => "NOT everything reads as before",
            false => "both hosts read exactly as before the first command",
        };
        assert!(
            all.contains(whole),
            "{all}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        provoked.ended(name, &demo, &output);
    }
}

/// Where nothing more can be written to, until the other end is read.
fn full_pipe() -> (Stdio, UnixStream) {
    let (mut writer, reader) = UnixStream::pair().expect("a pair of sockets");
    writer.set_nonblocking(true).expect("our own socket");
    while writer.write(&[b' '; 4096]).is_ok() {}
    writer.set_nonblocking(false).expect("our own socket");
    (Stdio::from(OwnedFd::from(writer)), reader)
}

/// Waits until a process handles SIGINT by itself.
fn await_handler(process: u32) {
    const INTERRUPT: u64 = 1 << 1;
    let begun = Instant::now();
    loop {
        let status = fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = u64::from_str_radix(caught.expect("a mask").trim(), 16).expect("a mask");
        if caught & INTERRUPT != 0 {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "it does not listen");
        thread::sleep(Duration::from_millis(5));
    }
}
