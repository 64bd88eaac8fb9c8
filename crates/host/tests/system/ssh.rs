//! A real `sshd` in a network namespace of its own, reached with the real `ssh`. Needs root.

use std::fs;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use host::change::{Change, Spot, UndoMode, read_states};
use host::exec::{Command, Destination, Exec, Local, Process, Ssh, SshProblem, run_one};
use host::journal::{Journal, list_open};
use host::knob;
use host::{Error, Host, facts};
use record::{HostName, KnobId, Setting, System, Target, Value};
use tempfile::TempDir;

/// How long something that happens at once may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// The server with its keys; it goes with the guard.
pub(crate) struct Server {
    pub(crate) namespace: String,
    folder: TempDir,
    sshd: Option<Process>,
}

impl Server {
    pub(crate) fn start() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let namespace = format!("linerate-ssh-{}-{number}", std::process::id());
        local(&["ip", "netns", "add", &namespace]);
        let mut server = Self {
            namespace,
            folder: tempfile::tempdir().unwrap(),
            sshd: None,
        };
        server.inside(&["ip", "link", "set", "lo", "up"]);
        let veth = "ip link add a0 type veth peer name b0";
        server.inside(&veth.split(' ').collect::<Vec<_>>());
        for key in ["host", "user"] {
            let path = server.file(key);
            local(&["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", &path]);
        }
        let host_key = fs::read_to_string(server.file("host.pub")).unwrap();
        server.write(
            "known",
            &format!("[127.0.0.1]:2222,[10.9.0.2]:2222 {host_key}"),
        );
        server.write("unknown", "");
        server.write(
            "sshd_config",
            &format!(
                "Port 2222\nListenAddress 0.0.0.0\nHostKey {}\nAuthorizedKeysFile {}\n\
                 StrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\n\
                 PasswordAuthentication no\nKbdInteractiveAuthentication no\n",
                server.file("host"),
                server.file("user.pub")
            ),
        );
        let script = "mount -t tmpfs none /run && mkdir /run/sshd && exec /usr/sbin/sshd -D -e -f \"$1\" 2>&1";
        let config = server.file("sshd_config");
        let argv = [
            "ip",
            "netns",
            "exec",
            &server.namespace,
            "sh",
            "-c",
            script,
            "sh",
            &config,
        ];
        let mut sshd = Local::new().spawn(&Command::new(argv)).unwrap();
        let said = sshd.take_stdout().unwrap();
        let listens = |line: String| line.contains("Server listening");
        assert!(
            said.lines().map_while(Result::ok).any(listens),
            "sshd does not start"
        );
        server.sshd = Some(sshd);
        server
    }

    /// From now on nobody is let in.
    pub(crate) fn stop(&mut self) {
        self.sshd = None;
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    pub(crate) fn inside(&self, argv: &[&str]) -> String {
        local(&[&["ip", "netns", "exec", &self.namespace], argv].concat())
    }

    fn connect_with(&self, port: u16, key: &str, known: &str) -> Result<Ssh, Error> {
        let destination = format!("ssh://root@127.0.0.1:{port}");
        self.connect_from(&self.namespace, &destination, key, known)
    }

    /// Connects from another namespace.
    pub(crate) fn connect_from(
        &self,
        namespace: &str,
        destination: &str,
        key: &str,
        known: &str,
    ) -> Result<Ssh, Error> {
        let config = format!(
            "IdentityFile {}\nIdentitiesOnly yes\nUserKnownHostsFile {}\nGlobalKnownHostsFile none\n",
            self.file(key),
            self.file(known)
        );
        self.write("ssh_config", &config);
        let config = self.file("ssh_config");
        let program = ["ip", "netns", "exec", namespace, "ssh", "-F", &config];
        let destination = Destination::parse(destination).unwrap();
        Ssh::connect_by(destination, program.map(str::to_owned).to_vec())
    }

    fn connect(&self) -> Ssh {
        self.connect_with(2222, "user", "known").unwrap()
    }

    fn host(&self) -> Host {
        let name = HostName::new("ssh://root@127.0.0.1:2222");
        Host::new(name, Arc::new(self.connect())).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.sshd = None;
        drop(Local::new().run(&[Command::new(["ip", "netns", "del", &self.namespace])]));
    }
}

pub(crate) fn local(argv: &[&str]) -> String {
    let output = run_one(&Local::new(), &Command::new(argv.iter().copied())).unwrap();
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn eventually(what: &str, so: impl Fn() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < PATIENCE, "still not so: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn runs(process: &str) -> bool {
    let process = process.trim();
    assert!(process.parse::<u32>().is_ok(), "no process id: {process:?}");
    let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    state
        .rsplit(')')
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.trim().starts_with('Z'))
}

#[test]
fn a_batch_comes_back_as_it_would_from_this_machine() {
    let server = Server::start();
    let odd = "$(id); `id` \" ' \\ \n * \u{1b}[31m é \u{2019} !x ~ #";
    let every_byte: Vec<u8> = (0..=u8::MAX).collect();
    let commands = [
        Command::new(["printf", "%s", odd, "-n"]),
        Command::new(["cat"]).with_stdin(every_byte.clone()),
        Command::new(["sh", "-c", "echo said >&2; exit 3"]),
        Command::new(["no-such-program-of-ours"]),
        Command::new(["true"]).with_stdin(vec![b'x'; 200_000]),
        Command::new(["sh", "-c", "kill -9 $$"]),
        Command::new(["cat"]),
        Command::new(["sh", "-c", "echo \"$LC_ALL\"; id -u"]).as_root(),
        Command::new(["echo", "-e", "a"]),
    ];
    let ssh = server.connect();
    let far = ssh.run(&commands).unwrap();
    let near = Local::new().run(&commands).unwrap();
    for ((command, far), near) in commands.iter().zip(&far).zip(&near) {
        assert_eq!(
            (far.status, &far.stdout),
            (near.status, &near.stdout),
            "{command:?}"
        );
    }
    assert_eq!(far[1].stdout, every_byte);
    assert_eq!(far[2].stderr, b"said\n");
    let many: Vec<Command> = (0..500)
        .map(|number| Command::new(["echo".into(), number.to_string()]))
        .collect();
    let outputs = ssh.run(&many).unwrap();
    assert!(
        outputs
            .iter()
            .enumerate()
            .all(|(number, output)| output.stdout == format!("{number}\n").into_bytes())
    );
    let error = ssh.run(&[Command::new(["echo", "a\0b"])]).unwrap_err();
    assert!(matches!(error, Error::Start { .. }), "{error}");
}

#[test]
fn a_program_talks_both_ways_and_ends_with_its_connection() {
    let server = Server::start();
    let ssh = server.connect();
    let mut process = ssh.spawn(&Command::new(["cat"]).with_stdin("a\n")).unwrap();
    let mut stdin = process.take_stdin().unwrap();
    let mut stdout = process.take_stdout().unwrap();
    stdin.write_all(b"b\n").unwrap();
    stdin.flush().unwrap();
    let mut lines = String::new();
    stdout.read_line(&mut lines).unwrap();
    stdout.read_line(&mut lines).unwrap();
    assert_eq!(lines, "a\nb\n");
    drop(stdin);
    assert_eq!(process.wait(PATIENCE).unwrap().status, 0);
    let status = ssh
        .spawn(&Command::new(["sh", "-c", "exit 7"]))
        .unwrap()
        .wait(PATIENCE);
    assert_eq!(status.unwrap().status, 7);

    // One that does not care about its input is ended all the same.
    let deaf = Command::new(["sh", "-c", "echo $$; exec sleep 1000 </dev/null"]);
    let mut process = ssh.spawn(&deaf).unwrap();
    let mut number = String::new();
    process
        .take_stdout()
        .unwrap()
        .read_line(&mut number)
        .unwrap();
    assert!(runs(&number));
    drop(process);
    eventually("the far program is gone", || !runs(&number));
}

#[test]
fn whoever_hangs_or_talks_without_end_is_ended_at_both_ends() {
    let server = Server::start();
    let ssh = server.connect();
    let file = server.file("number");
    let script = format!("echo $$ >{file}; exec sleep 1000");
    let hangs = Command::new(["sh", "-c", &script]).with_timeout(Duration::from_millis(100));
    let error = ssh.run(&[Command::new(["true"]), hangs]).unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    let number = fs::read_to_string(Path::new(&file)).unwrap();
    eventually("the far program is gone", || !runs(&number));
    let error = ssh.run(&[Command::new(["yes"])]).unwrap_err();
    assert!(matches!(error, Error::OutputTooLong { .. }), "{error}");
    // The next command gets a new connection.
    assert_eq!(
        ssh.run(&[Command::new(["echo", "a"])]).unwrap()[0].stdout,
        b"a\n"
    );
}

#[test]
fn a_connection_that_breaks_is_said_and_the_next_command_gets_a_new_one() {
    let server = Server::start();
    let ssh = server.connect();
    // The parent of the script's shell is the session's `sshd`.
    let cut = "kill -9 $(ps -o ppid= -p $PPID); sleep 1000";
    let error = ssh.run(&[Command::new(["sh", "-c", cut])]).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Ssh {
                problem: SshProblem::Cut,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(
        ssh.run(&[Command::new(["echo", "a"])]).unwrap()[0].stdout,
        b"a\n"
    );
}

#[test]
fn who_is_not_let_in_is_told_why_and_what_to_do() {
    let server = Server::start();
    local(&[
        "ssh-keygen",
        "-q",
        "-t",
        "ed25519",
        "-N",
        "",
        "-f",
        &server.file("stranger"),
    ]);
    for (port, key, known, expected, hint) in [
        (
            2222,
            "user",
            "unknown",
            SshProblem::HostKey,
            "compare the fingerprint",
        ),
        (
            2222,
            "stranger",
            "known",
            SshProblem::Denied,
            "BatchMode=yes",
        ),
        (
            2223,
            "user",
            "known",
            SshProblem::NoAnswer,
            "what is in the way",
        ),
    ] {
        let error = server.connect_with(port, key, known).unwrap_err();
        let Error::Ssh { problem, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(*problem, expected, "{error}");
        assert!(crate::hint(&error).contains(hint), "{error}");
    }
}

/// Whether a lease is armed there.
pub(crate) fn leases(host: &Host) -> bool {
    let look = Command::new(["test", "-e", "/run/linerate.leases"]);
    host.exec.run(&[look]).unwrap()[0].status == 0
}

#[test]
fn a_change_over_ssh_is_made_and_taken_back_and_nothing_is_left_there() {
    let server = Server::start();
    let host = server.host();
    assert_eq!(host.system, System::Linux);
    let names: Vec<String> = facts(&host)
        .unwrap()
        .nics
        .into_iter()
        .map(|nic| nic.name)
        .collect();
    assert_eq!(names, ["b0", "a0"]);
    let picture = || server.inside(&["ethtool", "-k", "a0"]);
    let before = picture();
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path(), "test").unwrap();
    let plan = |id: &str, value: Value| {
        let setting = Setting::Knob {
            host: host.name.clone(),
            target: Target::Nic("a0".into()),
            id: KnobId::new(id),
            value,
        };
        Change::plan(std::slice::from_ref(&host), &[setting], "test")
    };
    let mut open = journal
        .begin(plan("nic.gro", Value::Switch(true)).unwrap())
        .unwrap();
    open.apply().unwrap();
    assert!(picture().contains("generic-receive-offload: on"));
    open.keep().unwrap();
    assert!(!leases(&host), "the lease is over");
    let resolve = |_: &HostName| Ok(server.host());
    let undone = journal.undo(None, UndoMode::Ours, &resolve).unwrap();
    assert!(undone[0].closed, "{undone:#?}");
    assert_eq!(picture(), before);
    assert!(list_open(folder.path()).unwrap().open.is_empty());
    drop(host);
    eventually("only the server itself runs there", || {
        local(&["ip", "netns", "pids", &server.namespace])
            .lines()
            .count()
            == 1
    });
}

/// Counts the batches that a host is asked.
#[derive(Debug)]
struct Counting {
    host: Arc<dyn Exec>,
    batches: AtomicU32,
}

impl Exec for Counting {
    fn run(&self, commands: &[Command]) -> Result<Vec<host::exec::Output>, Error> {
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.host.run(commands)
    }

    fn spawn(&self, command: &Command) -> Result<Process, Error> {
        self.host.spawn(command)
    }
}

#[test]
fn one_look_is_two_batches_and_finds_the_same() {
    let server = Server::start();
    let host = server.host();
    let counting = Arc::new(Counting {
        host: host.exec.clone(),
        batches: AtomicU32::new(0),
    });
    let counted = Host {
        exec: counting.clone(),
        ..host.clone()
    };
    let look = |host: &Host| {
        let facts = facts(host).unwrap();
        let nics = facts.nics.iter().map(|nic| Target::Nic(nic.name.clone()));
        let targets = std::iter::once(Target::Host).chain(nics);
        let spots: Vec<Spot> = targets
            .flat_map(|target| {
                let knobs = knob::of_target(System::Linux, &target);
                let knobs = knobs.filter(|knob| !knob.only_in_snapshots);
                knobs.map(|knob| (target.clone(), knob)).collect::<Vec<_>>()
            })
            .collect();
        let states = read_states(host, &spots).unwrap();
        (
            facts,
            states,
            host::shares(host).unwrap(),
            host::mounts(host).unwrap(),
        )
    };
    let found = look(&host::prefetch(&counted).unwrap());
    assert_eq!(counting.batches.load(Ordering::Relaxed), 2);
    let (facts, states, shares, mounts) = look(&host);
    assert_eq!((found.1, found.2, found.3), (states, shares, mounts));
    assert_eq!((found.0.nics, found.0.routes), (facts.nics, facts.routes));
}
