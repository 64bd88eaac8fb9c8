//! The only place that starts a program.

mod local;
mod output_cache;
mod replay;
pub mod shell;
pub(crate) mod ssh;

use std::fmt;
use std::time::{Duration, Instant};

pub use local::{
    Attached, AttachedGroup, Ender, Local, OUTPUT_BYTES_MAX, Process, STDERR_BYTES_MAX,
};
pub(crate) use output_cache::Once;
pub use replay::{Exchange, Recorder, Replay, Transcript};
pub use ssh::{Destination, Ssh, SshProblem, let_go};

use crate::Error;

/// Longest time a command may take when nobody says otherwise.
pub const TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);

/// How a PowerShell script is started; the script is the next argument.
pub const POWERSHELL: [&str; 4] = [
    "powershell.exe",
    "-NoProfile",
    "-NonInteractive",
    "-Command",
];

/// Whose rights a command needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Privilege {
    /// Anybody's.
    #[default]
    User,
    /// The superuser's.
    Root,
}

/// A program with its arguments; never shell text.
#[derive(Clone, PartialEq, Eq)]
pub struct Command {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// What it reads. Never shown: it may hold a password.
    pub stdin: Vec<u8>,
    /// Longest time it may take; then it is ended with its process group.
    pub timeout: Duration,
    /// Whose rights it needs.
    pub privilege: Privilege,
}

impl Command {
    /// A command that reads nothing, may take [`TIMEOUT_DEFAULT`] and needs no rights.
    pub fn new<I, S>(argv: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            stdin: Vec::new(),
            timeout: TIMEOUT_DEFAULT,
            privilege: Privilege::User,
        }
    }

    /// A PowerShell script for a Windows host. Within a batch it costs no process of its own.
    #[must_use]
    pub fn powershell(script: impl Into<String>) -> Self {
        let argv = POWERSHELL.map(str::to_owned).into_iter();
        Self::new(argv.chain([script.into()]))
    }

    /// The same, reading `stdin`.
    #[must_use]
    pub fn with_stdin(mut self, stdin: impl Into<Vec<u8>>) -> Self {
        self.stdin = stdin.into();
        self
    }

    /// The same with another time limit.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The same with root's rights.
    #[must_use]
    pub fn as_root(mut self) -> Self {
        self.privilege = Privilege::Root;
        self
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Command")
            .field("argv", &self.argv)
            .finish_non_exhaustive()
    }
}

/// Exit status of a command whose program does not exist, as shells, `nsenter` and `ssh` give it.
pub const STATUS_NO_PROGRAM: i32 = 127;

/// What a command left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Exit status; 128 + n when signal n ended it; [`STATUS_NO_PROGRAM`] when there is no such
    /// program.
    pub status: i32,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error, at most its first [`STDERR_BYTES_MAX`] bytes.
    pub stderr: Vec<u8>,
}

impl Output {
    /// Standard output as text, when the command ended well.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        (self.status == 0).then(|| String::from_utf8_lossy(&self.stdout).into_owned())
    }

    /// Turns a status other than 0 into an error that names the command.
    ///
    /// # Errors
    /// When the status is not 0.
    pub fn checked(self, command: &Command) -> Result<Self, Error> {
        if self.status == 0 {
            return Ok(self);
        }
        let stderr = String::from_utf8_lossy(&self.stderr);
        Err(Error::Status {
            argv: command.argv.clone(),
            status: self.status,
            stderr: stderr.chars().take(ERROR_TEXT_CHARS_MAX).collect(),
        })
    }
}

/// Most of a command's standard error that an error message repeats.
const ERROR_TEXT_CHARS_MAX: usize = 500;

/// A way to run commands on a host.
pub trait Exec: fmt::Debug + Send + Sync {
    /// Runs commands one after another and gives the output of each, whatever its status. A batch,
    /// because over a network a batch is one round trip.
    ///
    /// # Errors
    /// When a command cannot be started or runs out of time; a status other than 0 is no error, and
    /// neither is a program that does not exist ([`STATUS_NO_PROGRAM`]).
    fn run(&self, commands: &[Command]) -> Result<Vec<Output>, Error>;

    /// Starts a program and leaves its input and output open: `stdin` of the command is written
    /// first, its time limit does not count. Dropping the process ends it with its process group.
    ///
    /// # Errors
    /// When it cannot be started.
    fn spawn(&self, command: &Command) -> Result<Process, Error>;

    /// Whether commands come over a connection that a change on the host could cut.
    fn can_be_cut(&self) -> bool {
        false
    }

    /// Whether they run on the machine that this process runs on, and see the same of it.
    fn is_this_machine(&self) -> bool {
        false
    }

    /// Lets go of a connection that stands, so that the next command proves that a new one does.
    fn reconnect(&self) {}
}

/// Writes into the log what was run and how it ended. What it read stays out: there may be a password.
pub(crate) fn log_run(
    host: &dyn fmt::Display,
    argv: impl Fn() -> Vec<String>,
    begun: Instant,
    outcome: Result<&Output, &Error>,
) {
    let ms = begun.elapsed().as_millis();
    match outcome {
        Ok(Output { status, .. }) => {
            tracing::debug!(%host, argv = ?argv(), status, ms, "command ended");
        }
        Err(error) => tracing::debug!(%host, argv = ?argv(), %error, ms, "command failed"),
    }
}

/// Runs one command and wants it to end well.
///
/// # Errors
/// When it cannot be run, or its status is not 0.
pub fn run_one(exec: &dyn Exec, command: &Command) -> Result<Output, Error> {
    let outputs = exec.run(std::slice::from_ref(command))?;
    let output = outputs.into_iter().next().unwrap_or_else(|| Output {
        status: STATUS_NO_PROGRAM,
        stdout: Vec::new(),
        stderr: b"no output came back".to_vec(),
    });
    output.checked(command)
}
