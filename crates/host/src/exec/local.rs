//! Programs on this machine: each in its own process group, so that ending one ends all it started.

mod attached;

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

pub use attached::{Attached, AttachedGroup};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use super::{Command, Exec, Output, Privilege, STATUS_NO_PROGRAM};
use crate::Error;

/// Most bytes that a command may write to its standard output when we collect it.
pub const OUTPUT_BYTES_MAX: usize = 16 << 20;
/// Bytes of standard error that are kept; more is read and forgotten.
pub const STDERR_BYTES_MAX: usize = 64 << 10;
/// Most bytes that `spawn` writes for a command before it returns: what every pipe takes without a
/// reader.
const SPAWN_STDIN_BYTES_MAX: usize = 4096;
/// How long output may still come once a program and its whole group have ended. Only a process
/// that left the group can hold it open longer.
const DRAIN: Duration = Duration::from_secs(1);
/// May hold the password of a share.
const PASSWORD_VARIABLE: &str = "LINERATE_PASSWORD";
/// How long a program that `sudo` started may take to end when asked politely.
const SUDO_GRACE: Duration = Duration::from_secs(1);
/// Folders of administrators' programs, which a user's PATH often lacks.
const SYSTEM_FOLDERS: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/// This machine.
#[derive(Clone, Debug, Default)]
pub struct Local {
    prefix: Vec<String>,
    always_root: bool,
}

impl Local {
    /// Commands run as they are.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Every command becomes the tail of `prefix`, which needs root: `nsenter`, its options, `--`.
    #[must_use]
    pub fn with_prefix<I, S>(prefix: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        Self {
            prefix: prefix.into_iter().map(Into::into).collect(),
            always_root: true,
        }
    }

    /// Whether a command goes through `sudo`.
    fn elevates(&self, command: &Command) -> bool {
        let wants_root = self.always_root || command.privilege == Privilege::Root;
        wants_root && !os::is_root()
    }

    fn whole_argv(&self, command: &Command) -> Vec<String> {
        let sudo: &[&str] = if self.elevates(command) {
            &["sudo", "-n", "--"]
        } else {
            &[]
        };
        let sudo = sudo.iter().map(|&word| word.to_owned());
        sudo.chain(self.prefix.iter().cloned())
            .chain(command.argv.iter().cloned())
            .collect()
    }

    fn start(&self, command: &Command, stderr_bytes_max: usize) -> Result<Process, Error> {
        let argv = self.whole_argv(command);
        let (program, arguments) = split(&argv, command)?;
        let elevated = self.elevates(command);
        let child = std::process::Command::new(program)
            .args(arguments)
            .env("LC_ALL", "C")
            .env("PATH", search_path())
            // No tool needs it, and some of them live long.
            .env_remove(PASSWORD_VARIABLE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn();
        match child {
            Err(source) if elevated && source.kind() == io::ErrorKind::NotFound => {
                Err(Error::NotRoot {
                    argv: command.argv.clone(),
                    reason: "there is no `sudo`".into(),
                })
            }
            Err(source) => Err(start_error(command, source)),
            Ok(child) => {
                let argv = command.argv.clone();
                Ok(Process::running(argv, child, elevated, stderr_bytes_max))
            }
        }
    }

    /// [`Exec::spawn`], keeping so many bytes of standard error.
    pub(super) fn spawn_keeping(
        &self,
        command: &Command,
        stderr_bytes_max: usize,
    ) -> Result<Process, Error> {
        let mut process = self.start(command, stderr_bytes_max)?;
        let pipe_error = |source| Error::Pipe {
            action: "write to",
            argv: command.argv.clone(),
            source,
        };
        if command.stdin.len() > SPAWN_STDIN_BYTES_MAX {
            return Err(pipe_error(io::Error::new(
                io::ErrorKind::InvalidInput,
                "its input is too long to be written at once",
            )));
        }
        match process
            .stdin
            .as_mut()
            .map(|stdin| stdin.write_all(&command.stdin))
        {
            // It ended without reading: its own words and status, which say why, are worth more than "broken pipe".
            Some(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(process),
            Some(Err(error)) => Err(pipe_error(error)),
            Some(Ok(())) | None => Ok(process),
        }
    }

    fn run_one(&self, command: &Command) -> Result<Output, Error> {
        let mut process = match self.start(command, STDERR_BYTES_MAX) {
            Err(Error::Start { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Ok(Output {
                    status: STATUS_NO_PROGRAM,
                    stdout: Vec::new(),
                    stderr: b"no such program".to_vec(),
                });
            }
            started => started?,
        };
        process.feed(command.stdin.clone());
        let output = process.wait(command.timeout)?;
        match refused_by_sudo(&output) {
            Some(reason) if self.elevates(command) && reason.ends_with("command not found") => {
                Ok(Output {
                    status: STATUS_NO_PROGRAM,
                    ..output
                })
            }
            Some(reason) if self.elevates(command) => Err(Error::NotRoot {
                argv: command.argv.clone(),
                reason,
            }),
            _ => Ok(output),
        }
    }
}

impl Exec for Local {
    fn run(&self, commands: &[Command]) -> Result<Vec<Output>, Error> {
        commands
            .iter()
            .map(|command| self.run_one(command))
            .collect()
    }

    fn spawn(&self, command: &Command) -> Result<Process, Error> {
        self.spawn_keeping(command, STDERR_BYTES_MAX)
    }
}

fn start_error(command: &Command, source: io::Error) -> Error {
    Error::Start {
        argv: command.argv.clone(),
        source,
    }
}

fn split<'a>(argv: &'a [String], command: &Command) -> Result<(&'a String, &'a [String]), Error> {
    argv.split_first().ok_or_else(|| {
        let kind = io::ErrorKind::InvalidInput;
        start_error(command, io::Error::new(kind, "the command is empty"))
    })
}

/// An exit status as shells give it: 128 + n when signal n ended the program.
fn exit_status(status: ExitStatus) -> i32 {
    let by_signal = || status.signal().map(|signal| 128 + signal);
    status.code().or_else(by_signal).unwrap_or(-1)
}

/// What `sudo -n` says when it may not run a command; other programs' words stay theirs.
pub(super) fn refused_by_sudo(output: &Output) -> Option<String> {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().next()?;
    (output.status == 1 && line.starts_with("sudo: ")).then(|| line.to_owned())
}

/// The PATH of this process, with the folders of administrators' programs behind it.
fn search_path() -> OsString {
    searched(&env::var_os("PATH").unwrap_or_default())
}

/// What is relative, or empty, would be the folder that one happens to be in: anybody may have put programs there.
fn searched(inherited: &OsStr) -> OsString {
    let folders = env::split_paths(inherited);
    let mut folders: Vec<_> = folders.filter(|folder| folder.is_absolute()).collect();
    for folder in SYSTEM_FOLDERS {
        if !folders.iter().any(|present| present.as_os_str() == folder) {
            folders.push(folder.into());
        }
    }
    // What was split at the separator has none.
    env::join_paths(folders).unwrap_or_default()
}

/// A news of a running program.
enum News {
    Exited,
    Stdout(io::Result<Collected>),
    Stderr(Vec<u8>),
}

enum Collected {
    All(Vec<u8>),
    TooLong,
}

/// A running program. Dropping it ends it with its process group.
pub struct Process {
    argv: Vec<String>,
    stdin: Option<Box<dyn Write + Send>>,
    stdout: Option<Box<dyn BufRead + Send>>,
    state: State,
}

enum State {
    Running {
        group: Arc<Group>,
        news: Receiver<News>,
        sender: Sender<News>,
    },
    Replayed(Output),
}

impl fmt::Debug for Process {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Process")
            .field("argv", &self.argv)
            .finish_non_exhaustive()
    }
}

impl Process {
    fn running(
        argv: Vec<String>,
        mut child: Child,
        elevated: bool,
        stderr_bytes_max: usize,
    ) -> Self {
        let stdin = child
            .stdin
            .take()
            .map(|pipe| Box::new(pipe) as Box<dyn Write + Send>);
        let stdout = child.stdout.take();
        let stdout = stdout.map(|pipe| Box::new(BufReader::new(pipe)) as Box<dyn BufRead + Send>);
        let (sender, news) = mpsc::channel();
        if let Some(stderr) = child.stderr.take() {
            let sender = sender.clone();
            thread::spawn(move || {
                sender.send(News::Stderr(keep_beginning(stderr, stderr_bytes_max)))
            });
        }
        let group = Arc::new(Group::new(child, elevated));
        let (leader, exited) = (group.leader, sender.clone());
        thread::spawn(move || {
            wait_for_end(leader);
            exited.send(News::Exited)
        });
        Self {
            argv,
            stdin,
            stdout,
            state: State::Running {
                group,
                news,
                sender,
            },
        }
    }

    /// A program that has already ended, for recordings.
    pub(super) fn replayed(argv: Vec<String>, output: Output) -> Self {
        Self {
            argv,
            stdin: Some(Box::new(io::sink())),
            stdout: Some(Box::new(io::Cursor::new(output.stdout.clone()))),
            state: State::Replayed(output),
        }
    }

    /// Its standard input; dropping it closes it. `None` the second time.
    pub fn take_stdin(&mut self) -> Option<Box<dyn Write + Send>> {
        self.stdin.take()
    }

    /// Its standard output. `None` the second time.
    pub fn take_stdout(&mut self) -> Option<Box<dyn BufRead + Send>> {
        self.stdout.take()
    }

    /// Puts something between the program's output and whoever takes it.
    pub(super) fn map_stdout(
        &mut self,
        wrap: impl FnOnce(Box<dyn BufRead + Send>) -> Box<dyn BufRead + Send>,
    ) {
        self.stdout = self.stdout.take().map(wrap);
    }

    /// Its process number while it runs, which is also that of its group. With `sudo` it is `sudo`'s.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        match &self.state {
            State::Running { group, .. } => group.leader.as_raw_nonzero().get().try_into().ok(),
            State::Replayed(_) => None,
        }
    }

    /// A handle that ends it from another thread.
    #[must_use]
    pub fn ender(&self) -> Ender {
        match &self.state {
            State::Running { group, .. } => Ender(Some(Arc::clone(group))),
            State::Replayed(_) => Ender(None),
        }
    }

    /// Ends it with its process group, at once.
    pub fn kill(&mut self) {
        self.ender().end();
    }

    /// Closes its input and waits until it has ended by itself; then ends what is left of its
    /// process group. The output holds what nobody took.
    ///
    /// # Errors
    /// When it takes longer than `limit` or writes more than [`OUTPUT_BYTES_MAX`]; then it is ended
    /// with its process group.
    pub fn wait(mut self, limit: Duration) -> Result<Output, Error> {
        drop(self.stdin.take());
        let untaken = self.stdout.take();
        let (group, news) = match &self.state {
            State::Replayed(output) => {
                let stdout = if untaken.is_some() {
                    output.stdout.clone()
                } else {
                    Vec::new()
                };
                return Ok(Output {
                    stdout,
                    ..output.clone()
                });
            }
            State::Running {
                group,
                news,
                sender,
            } => {
                if let Some(stdout) = untaken {
                    let sender = sender.clone();
                    thread::spawn(move || sender.send(News::Stdout(collect(stdout))));
                } else {
                    // Nobody listens only when the process is gone, and then nobody minds.
                    sender
                        .send(News::Stdout(Ok(Collected::All(Vec::new()))))
                        .ok();
                }
                (group, news)
            }
        };
        self.gather(group, news, limit)
    }

    fn gather(
        &self,
        group: &Group,
        news: &Receiver<News>,
        limit: Duration,
    ) -> Result<Output, Error> {
        let mut deadline = Instant::now().checked_add(limit);
        let (mut exited, mut stdout, mut stderr) = (false, None, None);
        while !exited || stdout.is_none() || stderr.is_none() {
            match receive(news, deadline) {
                Some(News::Exited) => {
                    exited = true;
                    group.signal();
                    deadline = Instant::now().checked_add(DRAIN);
                }
                Some(News::Stderr(bytes)) => stderr = Some(bytes),
                Some(News::Stdout(Ok(Collected::All(bytes)))) => stdout = Some(bytes),
                Some(News::Stdout(Ok(Collected::TooLong))) => {
                    let argv = self.argv.clone();
                    return Err(Error::OutputTooLong {
                        argv,
                        limit: OUTPUT_BYTES_MAX,
                    });
                }
                Some(News::Stdout(Err(source))) => return Err(self.pipe_error("read from", source)),
                None => {
                    return Err(Error::Timeout {
                        argv: self.argv.clone(),
                        limit,
                    });
                }
            }
        }
        let status = group
            .reap()
            .map_err(|source| self.pipe_error("wait for", source))?;
        Ok(Output {
            status,
            stdout: stdout.unwrap_or_default(),
            stderr: stderr.unwrap_or_default(),
        })
    }

    fn pipe_error(&self, action: &'static str, source: io::Error) -> Error {
        Error::Pipe {
            action,
            argv: self.argv.clone(),
            source,
        }
    }

    /// Writes its whole input while others read its output.
    fn feed(&mut self, input: Vec<u8>) {
        let Some(mut stdin) = self.stdin.take() else {
            return;
        };
        if !input.is_empty() {
            // A program that does not want all of its input closes the pipe; that is its right.
            thread::spawn(move || stdin.write_all(&input).ok());
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let State::Running { group, news, .. } = &self.state {
            group.end(news);
        }
    }
}

/// Ends a running program from another thread; harmless once it has ended.
#[derive(Clone)]
pub struct Ender(Option<Arc<Group>>);

impl fmt::Debug for Ender {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Ender")
    }
}

impl Ender {
    /// Ends the program with its process group, at once.
    pub fn end(&self) {
        if let Some(group) = &self.0 {
            group.signal();
        }
    }
}

/// A process group whose leader we have not reaped yet, so that its number cannot be anybody else's.
struct Group {
    leader: Pid,
    elevated: bool,
    /// `None` once it is reaped.
    child: Mutex<Option<Child>>,
}

impl Group {
    fn new(child: Child, elevated: bool) -> Self {
        Self {
            leader: Pid::from_child(&child),
            elevated,
            child: Mutex::new(Some(child)),
        }
    }

    /// Ends everything in the group that still runs.
    fn signal(&self) {
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if child.is_none() {
            return;
        }
        // Fails when all are gone, which is what we want, or when they are root's.
        let killed = rustix::process::kill_process_group(self.leader, Signal::KILL);
        if self.elevated && killed == Err(rustix::io::Errno::PERM) {
            // `sudo` passes TERM on to what it runs; KILL would leave that alive.
            let group = format!("-{}", self.leader.as_raw_nonzero());
            let asked = std::process::Command::new("sudo")
                .args(["-n", "--", "kill", "-TERM", "--", &group])
                .env("PATH", search_path())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            drop(asked);
        }
    }

    fn reap(&self) -> io::Result<i32> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let status = child.as_mut().map(Child::wait).transpose()?;
        *child = None;
        let status = status.ok_or_else(|| io::Error::other("it was waited for before"))?;
        Ok(exit_status(status))
    }

    /// Ends the group and reaps its leader. One that `sudo` started and that does not end is left
    /// to the system rather than waited for without end.
    fn end(&self, news: &Receiver<News>) {
        self.signal();
        if self.elevated {
            let deadline = Instant::now().checked_add(SUDO_GRACE);
            loop {
                match receive(news, deadline) {
                    Some(News::Exited) => break,
                    Some(_) => {}
                    None => return,
                }
            }
        }
        // Already reaped is the usual case here.
        self.reap().ok();
    }
}

/// The next news, or none when the time is over.
fn receive(news: &Receiver<News>, deadline: Option<Instant>) -> Option<News> {
    match deadline {
        None => news.recv().ok(),
        Some(deadline) => {
            let left = deadline.saturating_duration_since(Instant::now());
            news.recv_timeout(left).ok()
        }
    }
}

/// Returns when the process has ended, and leaves it to be reaped.
fn wait_for_end(process: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let wait = || rustix::process::waitid(WaitId::Pid(process), options);
    while wait().is_err_and(|error| error == rustix::io::Errno::INTR) {}
}

fn collect(stdout: Box<dyn BufRead + Send>) -> io::Result<Collected> {
    let mut bytes = Vec::new();
    stdout
        .take(OUTPUT_BYTES_MAX as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(if bytes.len() > OUTPUT_BYTES_MAX {
        Collected::TooLong
    } else {
        Collected::All(bytes)
    })
}

fn keep_beginning(mut stderr: impl Read, bytes_max: usize) -> Vec<u8> {
    let mut kept = Vec::new();
    // What cannot be read is missing from the text of an error, no more.
    (&mut stderr)
        .take(bytes_max as u64)
        .read_to_end(&mut kept)
        .ok();
    io::copy(&mut stderr, &mut io::sink()).ok();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_program_is_taken_from_the_folder_that_one_is_in() {
        let only = |path: &str| searched(OsStr::new(path)).into_string().unwrap();
        let system = only("");
        assert!(system.split(':').all(|folder| folder.starts_with('/')));
        for path in [".", ":", "bin::./x", "../bin:"] {
            assert_eq!(only(path), system, "{path}");
        }
        assert!(only("/opt/bin:.:/opt/two").starts_with("/opt/bin:/opt/two:/"));
    }

    fn run(argv: &[&str]) -> Result<Output, Error> {
        Local::new().run_one(&Command::new(argv.iter().copied()))
    }

    fn text(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).unwrap()
    }

    #[test]
    fn arguments_are_never_shell_text() {
        let output = run(&["printf", "%s", "$(id); `id` \" ' \n *"]).unwrap();
        assert_eq!(text(&output.stdout), "$(id); `id` \" ' \n *");
    }

    #[test]
    fn environment_is_that_of_an_administrator_in_the_c_locale() {
        let output = run(&["sh", "-c", "printf '%s %s' \"$LC_ALL\" \"$PATH\""]).unwrap();
        let words = text(&output.stdout);
        assert!(words.starts_with("C "), "{words}");
        assert!(
            words.contains("/usr/sbin") && words.contains("/sbin"),
            "{words}"
        );
    }

    #[test]
    fn status_of_program_and_of_signal_and_of_no_program() {
        assert_eq!(run(&["sh", "-c", "echo no >&2; exit 3"]).unwrap().status, 3);
        assert_eq!(run(&["sh", "-c", "kill -9 $$"]).unwrap().status, 137);
        let absent = run(&["no-such-program-of-ours"]).unwrap();
        assert_eq!(absent.status, STATUS_NO_PROGRAM);
        let error = absent.checked(&Command::new(["ethtool"])).unwrap_err();
        assert_eq!(
            error.hint().unwrap(),
            "install `ethtool` on that host, or check its PATH"
        );
    }

    #[test]
    fn input_is_written_while_output_is_read() {
        let input = vec![b'x'; 4 << 20];
        let command = Command::new(["cat"]).with_stdin(input.clone());
        let output = Local::new().run_one(&command).unwrap();
        assert!(output.stdout == input);
    }

    #[test]
    fn input_that_nobody_reads_is_no_error() {
        let command = Command::new(["true"]).with_stdin(vec![0; 4 << 20]);
        assert_eq!(Local::new().run_one(&command).unwrap().status, 0);
    }

    #[test]
    fn a_program_that_ends_before_it_reads_is_heard_out() {
        let command = Command::new(["sh", "-c", "exec <&-; echo gone >&2; exit 7"]);
        let command = command.with_stdin(vec![b'x'; SPAWN_STDIN_BYTES_MAX]);
        for _ in 0..50 {
            let process = Local::new().spawn(&command).unwrap();
            let output = process.wait(Duration::from_secs(60)).unwrap();
            assert_eq!((output.status, text(&output.stderr)), (7, "gone\n"));
        }
    }

    #[test]
    fn output_without_end_is_cut_off() {
        let error = run(&["yes"]).unwrap_err();
        assert!(matches!(error, Error::OutputTooLong { .. }), "{error}");
    }

    #[test]
    fn a_time_out_ends_grandchildren_too() {
        let script = "sleep 1000 & echo $!; wait";
        let mut process = Local::new()
            .spawn(&Command::new(["sh", "-c", script]))
            .unwrap();
        let mut line = String::new();
        process.take_stdout().unwrap().read_line(&mut line).unwrap();
        let error = process.wait(Duration::from_millis(50)).unwrap_err();
        assert!(matches!(error, Error::Timeout { .. }), "{error}");
        assert!(is_gone(line.trim()), "the grandchild {line} still runs");
    }

    #[test]
    fn dropping_a_process_ends_its_group() {
        let script = "sleep 1000 & echo $!; wait";
        let mut process = Local::new()
            .spawn(&Command::new(["sh", "-c", script]))
            .unwrap();
        let mut line = String::new();
        process.take_stdout().unwrap().read_line(&mut line).unwrap();
        drop(process);
        assert!(is_gone(line.trim()), "the grandchild {line} still runs");
    }

    #[test]
    fn what_a_program_left_behind_in_its_group_ends_with_it() {
        let output = run(&["sh", "-c", "sleep 1000 & echo $!"]).unwrap();
        assert!(is_gone(text(&output.stdout).trim()));
    }

    #[test]
    fn a_process_talks_both_ways_and_can_be_ended_from_outside() {
        let mut process = Local::new()
            .spawn(&Command::new(["cat"]).with_stdin("a\n"))
            .unwrap();
        let mut stdin = process.take_stdin().unwrap();
        let mut stdout = process.take_stdout().unwrap();
        stdin.write_all(b"b\n").unwrap();
        let mut lines = String::new();
        stdout.read_line(&mut lines).unwrap();
        stdout.read_line(&mut lines).unwrap();
        assert_eq!(lines, "a\nb\n");
        let ender = process.ender();
        let ending = thread::spawn(move || ender.end());
        let output = process.wait(Duration::from_secs(10)).unwrap();
        ending.join().unwrap();
        assert!(output.status == 137 || output.status == 0, "{output:?}");
    }

    #[test]
    fn a_prefix_comes_before_every_command() {
        let local = Local::with_prefix(["env", "WORD=value"]);
        let output = local.run_one(&Command::new(["printenv", "WORD"])).unwrap();
        assert_eq!(text(&output.stdout), "value\n");
    }

    /// Killed and no more than a zombie, or not there at all.
    fn is_gone(process: &str) -> bool {
        assert!(process.parse::<u32>().is_ok(), "no process id: {process:?}");
        let deadline = Instant::now() + Duration::from_secs(5);
        loop {
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
            let Ok(stat) = stat else { return true };
            if stat
                .rsplit(')')
                .next()
                .is_some_and(|rest| rest.trim_start().starts_with('Z'))
            {
                return true;
            }
            if Instant::now() > deadline {
                return false;
            }
            thread::yield_now();
        }
    }
}
