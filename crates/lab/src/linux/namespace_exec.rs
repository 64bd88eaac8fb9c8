//! Running commands in the namespaces of a host, and looking into them.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::thread;

use host::exec::{Command, Exec, Local, Output, Process};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::attached_program;
use crate::Ran;

/// Whoever is killed takes what it runs with it. It says so of the thread that starts it.
const DIES_WITH_US: [&str; 4] = ["setpriv", "--pdeathsig", "KILL", "--"];

/// Commands in the namespaces of one lab host or switch.
#[derive(Clone, Debug)]
pub struct Namespace {
    local: Local,
    /// The same without the process namespace, which whoever starts it is in already.
    inside: Local,
    pid: u32,
    number: u64,
    /// Our own grip on the process namespace. A command enters by it, so that it fails when the
    /// host is gone, instead of running in whatever got its process number.
    grip: Arc<File>,
}

impl Namespace {
    /// The namespaces of the process `pid`. What stands before every command there is `prefix`.
    pub(crate) fn of(pid: u32, prefix: &[String]) -> io::Result<Self> {
        Self::gripped(pid, File::open(format!("/proc/{pid}/ns/pid"))?, prefix)
    }

    fn gripped(pid: u32, grip: File, prefix: &[String]) -> io::Result<Self> {
        let number = grip.metadata()?.ino();
        let pid_option = format!("--pid=/proc/{}/fd/{}", process::id(), grip.as_raw_fd());
        let target = pid.to_string();
        let enter = [
            "nsenter", "--target", &target, "--mount", "--uts", "--ipc", "--net",
        ];
        let prefix = prefix.iter().map(String::as_str);
        let begin = prefix.clone().chain(enter);
        let inside = DIES_WITH_US.into_iter().chain(begin.clone()).chain(["--"]);
        Ok(Self {
            inside: Local::with_prefix(inside),
            local: Local::with_prefix(begin.chain([pid_option.as_str(), "--"])),
            pid,
            number,
            grip: Arc::new(grip),
        })
    }

    /// Number of the process that holds the namespaces, as seen from outside.
    #[must_use]
    pub fn holder(&self) -> u32 {
        self.pid
    }

    /// Number of the process namespace, which no other has while this exists.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Where a file of the host is, as seen from outside.
    #[must_use]
    pub fn path(&self, inside: impl AsRef<Path>) -> PathBuf {
        let inside = inside.as_ref();
        let inside = inside.strip_prefix("/").unwrap_or(inside);
        Path::new("/proc")
            .join(self.pid.to_string())
            .join("root")
            .join(inside)
    }

    /// Runs a program there with our own standard input and output, in our folder. What asks us to end is
    /// passed on to it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run_attached(&self, command: &Command) -> Result<Ran, host::Error> {
        let mut moved = command.clone();
        let folder = std::env::current_dir().ok();
        let folder = folder.filter(|folder| self.path(folder).is_dir());
        if let Some(folder) = folder.as_deref().and_then(Path::to_str) {
            // `nsenter` starts in `/`.
            let chdir = [
                "env".to_owned(),
                format!("--chdir={folder}"),
                "--".to_owned(),
            ];
            moved.argv.splice(0..0, chdir);
        }
        attached_program::run(&self.inside, &self.grip, &moved)
    }

    /// Does something in the host's network on a thread of its own, for what is bound to a network
    /// when it is made: sockets.
    pub(crate) fn in_network<T: Send>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        let network = File::open(format!("/proc/{}/ns/net", self.pid))?;
        let moved = move || {
            move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?;
            work()
        };
        let joined = thread::scope(|scope| scope.spawn(moved).join());
        joined.unwrap_or_else(|_| Err(io::Error::other("the thread in the host's network ended")))
    }
}

impl Exec for Namespace {
    fn run(&self, commands: &[Command]) -> Result<Vec<Output>, host::Error> {
        self.local.run(commands)
    }

    fn spawn(&self, command: &Command) -> Result<Process, host::Error> {
        self.local.spawn(command)
    }
}

/// Processes whose process namespace is one of `numbers`.
pub(crate) fn processes_in(numbers: &[u64]) -> io::Result<Vec<u32>> {
    let all = all_processes()?.into_iter();
    Ok(all.filter(|&pid| is_in(pid, numbers)).collect())
}

/// Whether the process namespace of a process is one of `numbers`.
pub(crate) fn is_in(pid: u32, numbers: &[u64]) -> bool {
    let namespace = fs::metadata(format!("/proc/{pid}/ns/pid"));
    namespace.is_ok_and(|namespace| numbers.contains(&namespace.ino()))
}

/// The child of a process that has one.
pub(crate) fn child_of(parent: u32) -> io::Result<u32> {
    let wanted = format!("PPid:\t{parent}");
    let is_child = |pid: &u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status"));
        status.is_ok_and(|status| status.lines().any(|line| line == wanted))
    };
    let child = all_processes()?.into_iter().find(is_child);
    child.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the process has no child"))
}

fn all_processes() -> io::Result<Vec<u32>> {
    let mut processes = Vec::new();
    for entry in fs::read_dir("/proc")? {
        if let Some(pid) = entry?
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        {
            processes.push(pid);
        }
    }
    Ok(processes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel gives the number of a host's first process to somebody else when that is gone.
    #[test]
    fn nothing_runs_in_the_namespaces_of_a_stranger() {
        let holder = ["unshare", "--pid", "--fork", "--kill-child", "cat"];
        let mut holder = Local::new().spawn(&Command::new(holder)).unwrap();
        let mut echo = holder.take_stdout().unwrap();
        let mut lifeline = holder.take_stdin().unwrap();
        lifeline.write_all(b"up?\n").unwrap();
        echo.read_line(&mut String::new()).unwrap();
        let first = child_of(holder.id().unwrap()).unwrap();
        let grip = File::open(format!("/proc/{first}/ns/pid")).unwrap();
        let stranger = Namespace::gripped(process::id(), grip, &[]).unwrap();
        let hello = [Command::new(["echo", "hello"])];
        assert_eq!(stranger.run(&hello).unwrap()[0].stdout, b"hello\n");

        drop(lifeline);
        holder.wait(std::time::Duration::from_secs(5)).unwrap();
        let output = &stranger.run(&hello).unwrap()[0];
        assert_ne!(output.status, 0);
        assert_eq!(output.stdout, b"");
        let attached = stranger.run_attached(&Command::new(["true"]));
        assert!(attached.is_err(), "{attached:?}");
    }
}
