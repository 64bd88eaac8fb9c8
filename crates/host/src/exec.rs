//! The only place that starts a program.

use std::fmt;
use std::io::{BufRead, Write};
use std::time::Duration;

/// Longest time a command may take when nobody says otherwise.
pub const TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);

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

    /// The same with root's rights.
    #[must_use]
    pub fn as_root(mut self) -> Self {
        self.privilege = Privilege::Root;
        self
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Command").field("argv", &self.argv).finish_non_exhaustive()
    }
}

/// What a command left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Exit status; 128 + n when signal n ended it.
    pub status: i32,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

/// A way to run commands on a host.
pub trait Exec: fmt::Debug + Send + Sync {
    /// Runs commands one after another and gives the output of each, whatever its status. A batch,
    /// because over a network a batch is one round trip.
    ///
    /// # Errors
    /// When a command cannot be started or runs out of time; a status other than 0 is no error.
    fn run(&self, commands: &[Command]) -> Result<Vec<Output>, Error>;

    /// Starts a program and leaves its input and output open. Dropping the process ends it with its
    /// process group.
    ///
    /// # Errors
    /// When it cannot be started.
    fn spawn(&self, command: &Command) -> Result<Process, Error>;
}
