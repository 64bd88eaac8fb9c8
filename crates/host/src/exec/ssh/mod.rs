//! A host that is reached with the system's own `ssh`, so that its keys, agents and `~/.ssh/config`
//! count. One connection is shared by everything that runs there; nothing is left at either end.

mod control_socket_folder;
mod destination;
pub(crate) mod remote_script;

use std::fmt;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use record::{HostName, System};

use super::local::refused_by_sudo;
use super::{
    Command, Exec, Local, OUTPUT_BYTES_MAX, Output, Privilege, Process, STATUS_NO_PROGRAM, log_run,
};
use crate::Error;
use crate::error::own_reasons;
use control_socket_folder::SocketFolder;
pub use control_socket_folder::let_go;
pub use destination::Destination;
use remote_script::{Frames, Heard, Skipping};

/// How long it may take until a connection stands and somebody is logged in.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);
/// How long the far end may take to begin with a batch.
const BEGIN_LIMIT: Duration = Duration::from_secs(10);
/// How much longer than its own time limit each command may take, for the way.
const GRACE: Duration = Duration::from_secs(3);
/// How long `ssh` may take to end when everything is said.
const END_LIMIT: Duration = Duration::from_secs(5);
/// Bytes of standard error that are kept of a whole batch.
const BATCH_STDERR_BYTES_MAX: usize = 1 << 20;
/// Most that an error repeats of what `ssh` said.
const SAID_CHARS_MAX: usize = 500;
/// What every use of `ssh` is told. It must never ask, never forward anything, never run anything
/// but our line, never accept a key that nobody has compared, and notice when nobody answers.
const OPTIONS: [&str; 14] = [
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    "UpdateHostKeys=no",
    "ConnectTimeout=10",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ForwardAgent=no",
    "ForwardX11=no",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
    "RequestTTY=no",
    "ControlPersist=no",
    "LogLevel=ERROR",
];

/// Why `ssh` did not get there, as far as its words tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SshProblem {
    /// Nobody answers, or not in time.
    NoAnswer,
    /// The host's key is unknown, or not the one that is known.
    HostKey,
    /// No key or agent opens the door.
    Denied,
    /// The connection was there and broke.
    Cut,
    /// The far end answered something that is none of ours.
    Garbage,
}

impl SshProblem {
    fn of(said: &str) -> Self {
        let said = said.to_lowercase();
        let any = |words: &[&str]| words.iter().any(|word| said.contains(word));
        if any(&[
            "host key verification failed",
            "host identification has changed",
        ]) {
            Self::HostKey
        } else if any(&["permission denied", "too many authentication failures"]) {
            Self::Denied
        } else {
            Self::NoAnswer
        }
    }
}

/// A host that is reached with `ssh`.
#[derive(Clone)]
pub struct Ssh {
    destination: Destination,
    /// The program, with arguments that come first.
    program: Vec<String>,
    connection: Arc<Mutex<Option<Arc<Connection>>>>,
}

impl fmt::Debug for Ssh {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Ssh({})", self.destination)
    }
}

/// What reads our scripts at the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shell {
    Posix,
    PowerShell,
}

/// A connection that others share. It ends when this is dropped, and also when we die: the session
/// that holds it ends with its input.
struct Connection {
    // In the order in which they must go. Nobody looks at the first two, which cannot be shared.
    _holder: Mutex<(Box<dyn Write + Send>, Process)>,
    socket_folder: SocketFolder,
    shell: Shell,
    is_root: bool,
}

impl Ssh {
    /// Connects, and finds out what is there.
    ///
    /// # Errors
    /// [`Error::Ssh`] when nobody answers, the host's key is not known, or no key opens the door.
    pub fn connect(destination: Destination) -> Result<Self, Error> {
        Self::connect_by(destination, vec!["ssh".to_owned()])
    }

    /// The same with another program than `ssh`, or with arguments that come before all others.
    ///
    /// # Errors
    /// As [`Ssh::connect`].
    pub fn connect_by(destination: Destination, program: Vec<String>) -> Result<Self, Error> {
        let ssh = Self {
            destination,
            program,
            connection: Arc::default(),
        };
        ssh.connection()?;
        Ok(ssh)
    }

    /// The connection that stands, or a new one.
    fn connection(&self) -> Result<Arc<Connection>, Error> {
        let mut current = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = &*current {
            return Ok(Arc::clone(connection));
        }
        let connection = Arc::new(self.open()?);
        *current = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// Lets go of a connection that is no good any more; the next command gets a new one.
    fn forget(&self, broken: &Arc<Connection>) {
        let mut current = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if current
            .as_ref()
            .is_some_and(|current| Arc::ptr_eq(current, broken))
        {
            *current = None;
        }
    }

    fn open(&self) -> Result<Connection, Error> {
        let posix = self.try_open(Shell::Posix)?;
        match posix {
            Ok(connection) => Ok(connection),
            Err(said) => match self.try_open(Shell::PowerShell)? {
                Ok(connection) => Ok(connection),
                Err(_) => Err(self.problem(SshProblem::Garbage, &said)),
            },
        }
    }

    /// A connection where this shell answers; else what was said instead.
    fn try_open(&self, shell: Shell) -> Result<Result<Connection, String>, Error> {
        let token = token()?;
        let (line, input) = match shell {
            Shell::Posix => {
                let greeting = remote_script::posix_greeting(&token);
                (
                    remote_script::POSIX_BOOTSTRAP.to_owned(),
                    remote_script::posix_input(&token, &greeting),
                )
            }
            Shell::PowerShell => {
                let greeting = remote_script::powershell_greeting(&token);
                (
                    remote_script::powershell_bootstrap(),
                    remote_script::powershell_input(&greeting),
                )
            }
        };
        let (socket_folder, mut holder) = control_socket_folder::start(|socket| {
            let control = control_path(socket);
            Command::new(self.argv(&["ControlMaster=yes", &control], line)).with_stdin(input)
        })?;
        let (Some(lifeline), Some(stdout)) = (holder.take_stdin(), holder.take_stdout()) else {
            return Err(self.problem(SshProblem::Garbage, own_reasons::NO_PIPES));
        };
        let mut frames = Frames::new(stdout, &token, OUTPUT_BYTES_MAX);
        match frames.next(CONNECT_LIMIT) {
            Heard::Frame(_, user) => Ok(Ok(Connection {
                _holder: Mutex::new((lifeline, holder)),
                socket_folder,
                shell,
                is_root: user == "0",
            })),
            Heard::Late => Err(self.problem(SshProblem::NoAnswer, own_reasons::NO_ANSWER)),
            Heard::TooLong => Err(self.problem(SshProblem::Garbage, own_reasons::ENDLESS)),
            Heard::Ended => {
                drop(lifeline);
                let output = holder.wait(END_LIMIT)?;
                let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                match output.status {
                    STATUS_SSH => Err(self.problem(SshProblem::of(&said), &said)),
                    _ => Ok(Err(said)),
                }
            }
        }
    }

    fn argv(&self, options: &[&str], line: String) -> Vec<String> {
        let mut argv = self.program.clone();
        argv.push("-T".to_owned());
        for option in OPTIONS.iter().chain(options) {
            argv.extend(["-o".to_owned(), (*option).to_owned()]);
        }
        argv.extend(self.destination.arguments());
        argv.push(line);
        argv
    }

    /// The `ssh` for one more session of the shared connection.
    fn session(&self, connection: &Connection) -> Command {
        let control = control_path(&connection.socket_folder.socket());
        let line = match connection.shell {
            Shell::Posix => remote_script::POSIX_BOOTSTRAP.to_owned(),
            Shell::PowerShell => remote_script::powershell_bootstrap(),
        };
        Command::new(self.argv(&["ControlMaster=no", &control], line))
    }

    fn problem(&self, problem: SshProblem, said: &str) -> Error {
        let said = said.trim();
        let said = if said.is_empty() {
            own_reasons::SSH_SILENT
        } else {
            said
        };
        Error::Ssh {
            destination: self.destination.to_string(),
            problem,
            said: said.chars().take(SAID_CHARS_MAX).collect(),
        }
    }

    fn run_over(
        &self,
        connection: &Connection,
        commands: &[Command],
    ) -> Result<Vec<Output>, Error> {
        for command in commands {
            self.check(connection, command)?;
        }
        let token = token()?;
        let input = match connection.shell {
            Shell::Posix => {
                let batch = remote_script::posix_batch(commands, &token, connection.is_root);
                remote_script::posix_input(&token, &batch)
            }
            Shell::PowerShell => {
                remote_script::powershell_input(&remote_script::powershell_batch(commands, &token))
            }
        };
        let session = self.session(connection);
        let mut process = Local::new().spawn_keeping(&session, BATCH_STDERR_BYTES_MAX)?;
        let (Some(stdin), Some(stdout)) = (process.take_stdin(), process.take_stdout()) else {
            return Err(self.problem(SshProblem::Garbage, own_reasons::NO_PIPES));
        };
        let lifeline = feed(stdin, input);
        let mut frames = Frames::new(stdout, &token, OUTPUT_BYTES_MAX);
        let heard = self.hear(&mut frames, commands);
        drop(lifeline);
        let mut outputs = match heard {
            Ok(outputs) => outputs,
            // Whoever hangs is ended, here at once and there with the end of its input.
            Err(Stopped::Told(error)) => return Err(error),
            Err(Stopped::Ended) => {
                let said = process.wait(END_LIMIT)?.stderr;
                return Err(self.problem(SshProblem::Cut, &String::from_utf8_lossy(&said)));
            }
        };
        let stderr = process.wait(END_LIMIT)?.stderr;
        let errors = remote_script::cut_errors(&stderr, &token, commands.len());
        for ((output, stderr), command) in outputs.iter_mut().zip(errors).zip(commands) {
            output.stderr = stderr;
            check_sudo(connection, command, output)?;
        }
        Ok(outputs)
    }

    /// Takes the frames of a batch as they come; each command has its own time.
    fn hear(&self, frames: &mut Frames, commands: &[Command]) -> Result<Vec<Output>, Stopped> {
        let mut outputs = Vec::with_capacity(commands.len());
        let nothing = Command::new(["true"]).with_timeout(BEGIN_LIMIT);
        next_frame(frames, commands.first().unwrap_or(&nothing), BEGIN_LIMIT)?;
        for command in commands {
            let (stdout, note) = next_frame(frames, command, command.timeout)?;
            let garbage = || self.problem(SshProblem::Garbage, own_reasons::NO_STATUS);
            let status = note.parse().ok().ok_or_else(|| Stopped::Told(garbage()))?;
            outputs.push(Output {
                status,
                stdout,
                stderr: Vec::new(),
            });
        }
        next_frame(frames, commands.last().unwrap_or(&nothing), BEGIN_LIMIT)?;
        Ok(outputs)
    }

    /// What no script could say is refused before anything runs.
    fn check(&self, connection: &Connection, command: &Command) -> Result<(), Error> {
        let program = command.argv.first().map_or("", String::as_str);
        let unusable = program.is_empty() || program.starts_with('-') || program.contains('=');
        if unusable || command.argv.iter().any(|word| word.contains('\0')) {
            let reason = "no shell can be told to run that";
            return Err(Error::Start {
                argv: command.argv.clone(),
                source: std::io::Error::new(std::io::ErrorKind::InvalidInput, reason),
            });
        }
        let needs_administrator = command.privilege == Privilege::Root && !connection.is_root;
        if connection.shell == Shell::PowerShell && needs_administrator {
            return Err(Error::NotRoot {
                argv: command.argv.clone(),
                reason: own_reasons::NO_ADMINISTRATOR.into(),
            });
        }
        Ok(())
    }
}

/// Why a batch was not heard to its end.
enum Stopped {
    Told(Error),
    /// The connection went away.
    Ended,
}

fn next_frame(
    frames: &mut Frames,
    command: &Command,
    limit: Duration,
) -> Result<(Vec<u8>, String), Stopped> {
    let argv = command.argv.clone();
    match frames.next(limit.saturating_add(GRACE)) {
        Heard::Frame(stdout, note) => Ok((stdout, note)),
        Heard::Ended => Err(Stopped::Ended),
        Heard::Late => Err(Stopped::Told(Error::Timeout { argv, limit })),
        Heard::TooLong => {
            let limit = OUTPUT_BYTES_MAX;
            Err(Stopped::Told(Error::OutputTooLong { argv, limit }))
        }
    }
}

/// Writes all of the input, and leaves it open until the lifeline is dropped.
fn feed(stdin: Box<dyn Write + Send>, input: Vec<u8>) -> Sender<()> {
    let (lifeline, life) = mpsc::channel::<()>();
    thread::spawn(move || {
        let mut stdin = stdin;
        // Whoever does not read is found out by what it does not answer.
        stdin.write_all(&input).and_then(|()| stdin.flush()).ok();
        life.recv().ok();
    });
    lifeline
}

/// Exit status of `ssh` when it is the one that failed.
const STATUS_SSH: i32 = 255;

/// `sudo` speaks for itself where it stands in front of a command.
fn check_sudo(
    connection: &Connection,
    command: &Command,
    output: &mut Output,
) -> Result<(), Error> {
    let elevated = connection.shell == Shell::Posix
        && command.privilege == Privilege::Root
        && !connection.is_root;
    if !elevated {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status == STATUS_NO_PROGRAM {
        return Err(Error::NotRoot {
            argv: command.argv.clone(),
            reason: own_reasons::NO_SUDO.into(),
        });
    }
    match refused_by_sudo(output) {
        Some(reason) if reason.ends_with("command not found") => {
            output.status = STATUS_NO_PROGRAM;
            Ok(())
        }
        Some(_) => Err(Error::NotRoot {
            argv: command.argv.clone(),
            reason: said.trim().chars().take(SAID_CHARS_MAX).collect(),
        }),
        None => Ok(()),
    }
}

/// Where an `ssh` is told to make, or to find, the socket of a shared connection.
fn control_path(socket: &Path) -> String {
    format!("ControlPath={}", socket.display())
}

/// A word that nobody can guess.
fn token() -> Result<String, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::NoRandomness {
        reason: error.to_string(),
    })?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

impl Exec for Ssh {
    fn run(&self, commands: &[Command]) -> Result<Vec<Output>, Error> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let connection = self.connection()?;
        let begun = Instant::now();
        let outputs = self.run_over(&connection, commands);
        let host = &self.destination;
        match &outputs {
            Ok(outputs) => {
                for (command, output) in commands.iter().zip(outputs) {
                    log_run(host, || command.argv.clone(), begun, Ok(output));
                }
            }
            Err(error) => tracing::debug!(%host, %error, "commands failed"),
        }
        if matches!(
            outputs,
            Err(Error::Ssh { .. } | Error::Timeout { .. } | Error::OutputTooLong { .. })
        ) {
            self.forget(&connection);
        }
        outputs
    }

    fn spawn(&self, command: &Command) -> Result<Process, Error> {
        let connection = self.connection()?;
        self.check(&connection, command)?;
        if connection.shell == Shell::PowerShell {
            return Err(Error::UnsupportedSystem {
                name: HostName::new(self.destination.to_string()),
                system: System::Windows,
            });
        }
        let token = token()?;
        let script = remote_script::posix_spawn(command, &token, connection.is_root);
        let mut input = remote_script::posix_input(&token, &script);
        input.extend_from_slice(&command.stdin);
        let mut process = Local::new().spawn(&self.session(&connection).with_stdin(input))?;
        process.map_stdout(|stdout| Box::new(Skipping::new(stdout, &token)));
        Ok(process)
    }

    fn can_be_cut(&self) -> bool {
        true
    }

    fn reconnect(&self) {
        let mut current = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *current = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ssh_says_tells_the_problem() {
        let of = SshProblem::of;
        assert_eq!(of("Host key verification failed."), SshProblem::HostKey);
        assert_eq!(
            of("admin@nas: Permission denied (publickey)."),
            SshProblem::Denied
        );
        assert_eq!(
            of("ssh: connect to host nas port 22: Connection refused"),
            SshProblem::NoAnswer
        );
    }
}
