//! What a command gives up before it reads bytes of strangers, and what `-v` says of that.

use std::path::{Path, PathBuf};

use locale::{Message, said, say};
use os::sandbox::{Confined, Enforced, Rules, User};
use record::{Outcome, Record, Run};
use smb::TicketCache;

use crate::args::LoginArguments;
use crate::failure::{CommandError, Kind};
use crate::{credentials, ctrl_c, stdout_and_stderr};

/// Where a password is typed.
const TERMINAL: &str = "/dev/tty";
/// Names other files with the configuration of Kerberos, with `:` between them.
const KERBEROS_VARIABLE: &str = "KRB5_CONFIG";
/// The one that is there where that names none.
const KERBEROS_FILE: &str = "/etc/krb5.conf";

/// Where SSSD says which KDC it has found, and adds to that configuration: for every user to read.
const KERBEROS_OF_SSSD: &str = "/var/lib/sss/pubconf";

/// What a command that speaks to a server as this user needs beside its own files. A file with a password is none of
/// them: it is read before.
pub fn for_login(login: &LoginArguments) -> Rules {
    with_tickets(credentials::tickets(login).as_ref())
}

/// The same for one that needs none of the user's files once it knows who logs in: it gives up root's rights then,
/// unless that would hide from it which KDC this machine means, or the tickets with which every channel logs in.
pub fn for_login_alone(login: &LoginArguments) -> Rules {
    let kerberos = kerberos_files();
    let mut files = kerberos.iter().filter(|file| file.exists());
    let tickets = credentials::tickets(login);
    let has_tickets = tickets.as_ref().is_some_and(|cache| cache.is_current);
    Rules {
        user: match files.all(|file| is_for_all(file)) && !has_tickets {
            true => User::UnprivilegedLater,
            false => User::Kept,
        },
        ..with_tickets(tickets.as_ref())
    }
}

fn with_tickets(tickets: Option<&TicketCache>) -> Rules {
    let of_tickets = tickets.map_or(Vec::new(), |cache| {
        let files = cache.files.iter().cloned();
        files.chain([PathBuf::from(KERBEROS_OF_SSSD)]).collect()
    });
    Rules {
        user: User::Kept,
        network: true,
        keyrings: tickets.is_some_and(|cache| cache.in_keyring),
        reads: kerberos_files().into_iter().chain(of_tickets).collect(),
        writes: vec![PathBuf::from(TERMINAL)],
    }
}

fn kerberos_files() -> Vec<PathBuf> {
    let named = std::env::var_os(KERBEROS_VARIABLE);
    let named = named.unwrap_or_else(|| KERBEROS_FILE.into());
    let files = std::env::split_paths(&named).filter(|path| !path.as_os_str().is_empty());
    files.collect()
}

/// Whether every user of the machine may read a file.
fn is_for_all(file: &Path) -> bool {
    os::owned_file::is_readable_by_all(file)
}

/// A command that is confined, before it reads a byte of a stranger.
#[must_use]
pub struct Held {
    confined: Confined,
    later: bool,
    verbose: bool,
}

/// Gives up all but that, for good. To be called before any thread is started; the one that hears of Ctrl-C
/// is started here.
pub fn to(rules: &Rules, verbose: bool) -> Result<Held, CommandError> {
    let confined = os::sandbox::confine(rules).map_err(failed)?;
    ctrl_c::end_cleanly()?;
    Ok(Held {
        confined,
        later: rules.user == User::UnprivilegedLater,
        verbose,
    })
}

fn failed(error: std::io::Error) -> CommandError {
    CommandError::caused(Kind::Refused, say("error-check.rights"), &error)
}

impl Held {
    /// All is open that this user alone may open: from now on bytes of strangers are read.
    pub fn ready(mut self) -> Result<(), CommandError> {
        if self.later {
            self.confined.unprivileged = os::sandbox::drop_root().map_err(failed)?;
        }
        if self.verbose {
            let ids = ["told-check.sandbox", "told-check.sandbox-incomplete"];
            stdout_and_stderr::say(&said(&completeness(ids, &self.confined)));
        }
        Ok(())
    }
}

/// Gives up all but reading these files, for good.
pub fn to_files(reads: &[&Path], verbose: bool) -> Result<Held, CommandError> {
    let rules = Rules {
        user: User::UnprivilegedLater,
        network: false,
        keyrings: false,
        reads: reads.iter().map(|path| (*path).to_owned()).collect(),
        writes: Vec::new(),
    };
    to(&rules, verbose)
}

/// The same for a process that another one of ours has started, which hears of Ctrl-C for both.
pub fn for_parent(rules: &Rules, verbose: bool) -> Result<(), CommandError> {
    let confined = os::sandbox::confine(rules).map_err(failed)?;
    let held = Held {
        confined,
        later: false,
        verbose,
    };
    held.ready()
}

/// The first of these sentences where the system lacks nothing for a sandbox, else the second.
fn completeness([complete, incomplete]: [&'static str; 2], confined: &Confined) -> Message {
    let missing: Vec<String> = confined.missing().iter().map(said).collect();
    match missing.is_empty() {
        true => say(complete),
        false => say(incomplete).with("missing", missing.join("; ")),
    }
}

/// What the client lacked for the sandboxes of a run's trials, each answer once.
pub fn of_trials(run: &Run) -> Vec<String> {
    let trials = run.records.iter().filter_map(|record| match record {
        Record::Trial(trial) => Some(&trial.outcome),
        _ => None,
    });
    let mut found: Vec<_> = trials
        .filter_map(|outcome| match outcome {
            Outcome::Measured(result) => result.sandbox,
            Outcome::Failed(_) => None,
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    let lines = found.into_iter().map(|sandbox| {
        let confined = Confined {
            unprivileged: sandbox.unprivileged,
            files: match sandbox.files {
                record::Enforced::Fully => Enforced::Fully,
                record::Enforced::Partly => Enforced::Partly,
                record::Enforced::No => Enforced::No,
            },
            system_calls: sandbox.system_calls,
        };
        let ids = ["told-check.trials", "told-check.trials-incomplete"];
        said(&completeness(ids, &confined))
    });
    lines.collect()
}

/// The folder that is there already in which something is to be made: the path itself, or what is above it.
pub fn existing(path: &Path) -> PathBuf {
    // The parent of a bare name is an empty path, which is no folder to the system.
    let path = match path.as_os_str().is_empty() {
        true => Path::new("."),
        false => path,
    };
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there = full.ancestors().find(|folder| folder.is_dir());
    there.map_or(full.clone(), Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_with_a_password_is_left_to_who_speaks_to_a_server() {
        let typed = PathBuf::from("/root/.nas");
        let login = LoginArguments {
            credentials: Some(typed.clone()),
            ..LoginArguments::default()
        };
        for rules in [for_login(&login), for_login_alone(&login)] {
            let all: Vec<PathBuf> = rules.reads.into_iter().chain(rules.writes).collect();
            for file in [&typed, Path::new(lab::CREDENTIALS_IN_HOST)] {
                let holds = |granted: &&PathBuf| file.starts_with(granted);
                assert_eq!(all.iter().find(holds), None, "{}", file.display());
            }
        }
    }
}
