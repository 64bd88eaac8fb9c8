//! Programs that this process starts, each in a group of its own with all that it starts itself, so that ending one ends all
//! of it.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};

#[cfg_attr(unix, path = "posix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

/// This very program, as it is started once more; where the system can tell, whatever became of its file meanwhile.
#[must_use]
pub fn own_program() -> String {
    imp::own_program()
}

/// What this process was given as standard input, to be had as a file.
///
/// # Errors
/// When there is none, or this process has too many files open.
pub fn inherited_stdin() -> io::Result<File> {
    imp::inherited_stdin()
}

/// The programs of a group, of which the first was started here. It must not be waited for by others than [`Self::wait`] as
/// long as this is used, so that its number cannot be that of another process.
#[derive(Debug)]
pub struct ProgramGroup(imp::Group);

impl ProgramGroup {
    /// Starts a program as the first of a group.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(command: &mut Command) -> io::Result<(Child, Self)> {
        let (child, group) = imp::start(command)?;
        Ok((child, Self(group)))
    }

    /// The number of its first program.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Ends at once what of it still runs.
    ///
    /// # Errors
    /// [`io::ErrorKind::PermissionDenied`] when it is another user's. That nothing of it runs any more is none.
    pub fn end(&self) -> io::Result<()> {
        self.0.end()
    }

    /// Returns when its first program has ended, which can then still be waited for.
    pub fn wait(&self) {
        self.0.wait();
    }
}

/// Has a program that is started so lead a group of its own, which is left alone.
pub fn lead_own_group(command: &mut Command) {
    imp::lead_own_group(command);
}

/// An exit status as shells give it: 128 + n when signal n ended the program.
#[must_use]
pub fn exit_status(status: ExitStatus) -> i32 {
    imp::exit_status(status)
}

/// Folders of the system's and of administrators' programs, which a user's PATH often lacks.
#[must_use]
pub fn program_folders() -> Vec<PathBuf> {
    imp::program_folders()
}

/// Whether a process of that number runs, whoever's it is; none where that is not known.
#[must_use]
pub fn is_running(id: u32) -> Option<bool> {
    imp::is_running(id)
}
