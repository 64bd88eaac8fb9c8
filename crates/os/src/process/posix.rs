//! POSIX systems: process groups.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process, waitid,
};

#[derive(Debug)]
pub(super) struct Group {
    leader: Pid,
}

pub(super) fn start(command: &mut Command) -> io::Result<(Child, Group)> {
    lead_own_group(command);
    let child = command.spawn()?;
    let leader = Pid::from_child(&child);
    Ok((child, Group { leader }))
}

pub(super) fn lead_own_group(command: &mut Command) {
    command.process_group(0);
}

impl Group {
    pub(super) fn id(&self) -> u32 {
        self.leader.as_raw_nonzero().get().unsigned_abs()
    }

    pub(super) fn end(&self) -> io::Result<()> {
        match kill_process_group(self.leader, Signal::KILL) {
            Err(Errno::SRCH) => Ok(()),
            ended => Ok(ended?),
        }
    }

    pub(super) fn wait(&self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let wait = || waitid(WaitId::Pid(self.leader), options);
        while wait().is_err_and(|error| error == Errno::INTR) {}
    }
}

pub(super) fn exit_status(status: ExitStatus) -> i32 {
    let by_signal = || status.signal().map(|signal| 128 + signal);
    status.code().or_else(by_signal).unwrap_or(-1)
}

pub(super) fn program_folders() -> Vec<PathBuf> {
    ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
        .map(PathBuf::from)
        .into()
}

pub(super) fn is_running(id: u32) -> Option<bool> {
    let process = Pid::from_raw(i32::try_from(id).ok()?)?;
    Some(test_kill_process(process) != Err(Errno::SRCH))
}

pub(super) fn own_program() -> String {
    if cfg!(target_os = "linux") {
        return "/proc/self/exe".to_owned();
    }
    let found = std::env::current_exe().unwrap_or_default();
    found.display().to_string()
}

pub(super) fn inherited_stdin() -> io::Result<File> {
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}
