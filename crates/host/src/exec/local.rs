//! Programs on this machine: each in its own process group, so that ending one ends all it started.

mod inherited_stdio;
mod process_group;

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::process::Stdio;
use std::time::Instant;

pub use inherited_stdio::{Attached, AttachedGroup};
use os::process::{ProgramGroup, program_folders};
pub use process_group::{Ender, Process};

use super::{Command, Exec, Output, Privilege, STATUS_NO_PROGRAM, log_run};
use crate::Error;
use crate::error::own_reasons;

/// Most bytes that a command may write to its standard output when we collect it.
pub const OUTPUT_BYTES_MAX: usize = 16 << 20;
/// Bytes of standard error that are kept; more is read and forgotten.
pub const STDERR_BYTES_MAX: usize = 64 << 10;
/// Most bytes that `spawn` writes for a command before it returns: what every pipe takes without a
/// reader.
const SPAWN_STDIN_BYTES_MAX: usize = 4096;
/// May hold the password of a share.
const PASSWORD_VARIABLE: &str = "LINERATE_PASSWORD";

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
        let sudo: &[&str] = if self.elevates(command) && os::HAS_POSIX_FILES {
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
        if elevated && !os::HAS_POSIX_FILES {
            // There is no `sudo` whose output one could read: whoever starts linerate has to be an administrator.
            return Err(Error::NotRoot {
                argv: command.argv.clone(),
                reason: own_reasons::NOT_ELEVATED.into(),
            });
        }
        let mut started = std::process::Command::new(program);
        started
            .args(arguments)
            .env("LC_ALL", "C")
            .env("PATH", search_path())
            // No tool needs it, and some of them live long.
            .env_remove(PASSWORD_VARIABLE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        match ProgramGroup::start(&mut started) {
            Err(source) if elevated && source.kind() == io::ErrorKind::NotFound => {
                Err(Error::NotRoot {
                    argv: command.argv.clone(),
                    reason: own_reasons::NO_SUDO.into(),
                })
            }
            Err(source) => Err(start_error(command, source)),
            Ok(started) => {
                let argv = command.argv.clone();
                Ok(Process::running(argv, started, elevated, stderr_bytes_max))
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
    fn is_this_machine(&self) -> bool {
        self.prefix.is_empty()
    }

    fn run(&self, commands: &[Command]) -> Result<Vec<Output>, Error> {
        commands
            .iter()
            .map(|command| {
                let begun = Instant::now();
                let outcome = self.run_one(command);
                log_run(
                    &"local",
                    || self.whole_argv(command),
                    begun,
                    outcome.as_ref(),
                );
                outcome
            })
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
    for folder in program_folders() {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    // What was split at the separator has none.
    env::join_paths(folders).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::BufRead;
    use std::thread;
    use std::time::{Duration, Instant};

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
    fn what_a_program_says_of_sudo_is_no_refusal_of_ours() {
        for reason in ["sudo: x: command not found", "sudo: a password is required"] {
            let script = format!("echo '{reason}' >&2; exit 1");
            let output = run(&["sh", "-c", &script]).unwrap();
            assert_eq!(
                (output.status, text(&output.stderr).trim_end()),
                (1, reason)
            );
        }
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
            locale::Language::English.say(&error.hint().unwrap()),
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
