//! Programs that share our standard input and output, as those that a person runs on a host of a lab.

use std::process::Child;

use os::process::{exit_status, lead_own_group};

use super::{Local, search_path, split, start_error};
use crate::Error;
use crate::exec::Command;

/// Which process group a program belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachedGroup {
    /// Ours, so that a terminal's keys reach it.
    Ours,
    /// One of its own, which it leads.
    Own,
}

/// A running program that has our own standard input and output.
#[derive(Debug)]
pub struct Attached {
    argv: Vec<String>,
    child: Child,
}

impl Attached {
    /// Its process number, which nobody else gets before [`Attached::wait`] has returned.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has ended, and gives its exit status.
    ///
    /// # Errors
    /// When somebody else has waited for it.
    pub fn wait(mut self) -> Result<i32, Error> {
        let ended = self.child.wait();
        ended.map(exit_status).map_err(|source| Error::Pipe {
            action: "wait for",
            argv: self.argv,
            source,
        })
    }
}

impl Local {
    /// Starts a program with our own standard input, output and environment. It has no time limit, and is left
    /// alone when this is dropped.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start_attached(
        &self,
        command: &Command,
        group: AttachedGroup,
    ) -> Result<Attached, Error> {
        let argv = self.whole_argv(command);
        let (program, arguments) = split(&argv, command)?;
        let mut started = std::process::Command::new(program);
        started.args(arguments).env("PATH", search_path());
        if group == AttachedGroup::Own {
            lead_own_group(&mut started);
        }
        let child = started.spawn();
        let child = child.map_err(|source| start_error(command, source))?;
        Ok(Attached {
            argv: command.argv.clone(),
            child,
        })
    }
}
