//! A program on a host that has our own standard input and output. What asks us to end is passed on to it: it
//! would not hear of it otherwise, and go on.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use host::exec::{Attached, AttachedGroup, Command, Local};
use nix::sys::signal::{SigSet, SigmaskHow, Signal as NixSignal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::Ran;

/// What asks a program to end.
const ENDING: [(NixSignal, Signal); 3] = [
    (NixSignal::SIGHUP, Signal::HUP),
    (NixSignal::SIGINT, Signal::INT),
    (NixSignal::SIGTERM, Signal::TERM),
];
/// How the kernel marks a signal of its own, as of a terminal's keys: it goes to all of a terminal's foreground.
const OF_THE_KERNEL: i32 = 0x80;

/// Runs a program in the process namespace of `grip`.
pub(super) fn run(local: &Local, grip: &File, command: &Command) -> Result<Ran, host::Error> {
    let failed = |source| host::Error::Pipe {
        action: "listen for signals to",
        argv: command.argv.clone(),
        source,
    };
    let group = match File::open("/dev/tty") {
        Ok(_) => AttachedGroup::Ours,
        Err(_) => AttachedGroup::Own,
    };
    let heard = Heard::from_now_on().map_err(failed)?;
    let (started, program) = mpsc::channel();
    let (over, until) = mpsc::channel();
    thread::scope(|scope| {
        let unblocked = heard.signals;
        scope.spawn(move || {
            let entered = start(local, grip, command, group, &unblocked);
            hold(entered, &started, &until);
        });
        let program = program
            .recv()
            .unwrap_or_else(|_| Err(failed(io::Error::other("the thread that starts it ended"))))?;
        let passed = pass_on(&heard, &program, group).map_err(failed);
        let status = program.wait();
        drop(over);
        Ok(match (status?, passed?) {
            (_, true) => Ran::Stopped,
            (status, false) => Ran::Ended(status),
        })
    })
}

/// The program dies with the thread that started it, so that waits until it is over.
fn hold(
    entered: Result<Attached, host::Error>,
    started: &Sender<Result<Attached, host::Error>>,
    until: &Receiver<()>,
) {
    if started.send(entered).is_ok() {
        until.recv().ok();
    }
}

/// Starts the program on a thread whose children are in the host's process namespace. They take over which signals
/// the thread does not hear, so it hears all of them meanwhile.
fn start(
    local: &Local,
    grip: &File,
    command: &Command,
    group: AttachedGroup,
    signals: &SigSet,
) -> Result<Attached, host::Error> {
    let failed = |source| host::Error::Start {
        argv: command.argv.clone(),
        source,
    };
    move_into_link_name_space(grip.as_fd(), Some(LinkNameSpaceType::ProcessID))
        .map_err(|source| failed(source.into()))?;
    signals
        .thread_unblock()
        .map_err(|source| failed(source.into()))?;
    let program = local.start_attached(command, group);
    signals
        .thread_block()
        .map_err(|source| failed(source.into()))?;
    program
}

/// Signals that are read instead of ending this process, on this thread and those that it starts.
struct Heard {
    signals: SigSet,
    before: SigSet,
    queue: SignalFd,
}

impl Drop for Heard {
    fn drop(&mut self) {
        // It was taken from the system.
        self.before.thread_set_mask().ok();
    }
}

impl Heard {
    fn from_now_on() -> io::Result<Self> {
        let ignored = ignored()?;
        let asked = ENDING.iter().map(|(signal, _)| *signal);
        let signals: SigSet = asked.filter(|signal| !is_in(ignored, *signal)).collect();
        let queue = SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        let before = signals.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        Ok(Self {
            signals,
            before,
            queue,
        })
    }
}

/// What whoever started us wants unheard, as `nohup` does; a signal that is blocked would be heard.
fn ignored() -> io::Result<u64> {
    let status = fs::read_to_string("/proc/thread-self/status")?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.ok_or_else(|| io::Error::other("the kernel does not say which signals are ignored"))
}

fn is_in(mask: u64, signal: NixSignal) -> bool {
    mask & (1 << (signal as i32 - 1)) != 0
}

/// Passes on what asks us to end until the program has ended, and tells whether there was anything.
fn pass_on(heard: &Heard, program: &Attached, group: AttachedGroup) -> io::Result<bool> {
    let leader = i32::try_from(program.id()).ok().and_then(Pid::from_raw);
    let leader = leader.ok_or(io::ErrorKind::NotFound)?;
    let running: OwnedFd = pidfd_open(leader, PidfdFlags::empty())?;
    let mut passed = false;
    loop {
        let mut ready = [
            PollFd::new(&running, PollFlags::IN),
            PollFd::new(&heard.queue, PollFlags::IN),
        ];
        match poll(&mut ready, None) {
            Err(rustix::io::Errno::INTR) => continue,
            polled => polled?,
        };
        let has_ended = !ready[0].revents().is_empty();
        while let Some(about) = heard.queue.read_signal()? {
            let known = ENDING
                .iter()
                .find(|(signal, _)| *signal as u32 == about.ssi_signo);
            let Some((_, signal)) = known else {
                continue;
            };
            if group == AttachedGroup::Ours && about.ssi_code == OF_THE_KERNEL {
                continue;
            }
            passed = true;
            // One that has ended meanwhile needs none.
            match group {
                AttachedGroup::Own => kill_process_group(leader, *signal).ok(),
                AttachedGroup::Ours => pidfd_send_signal(&running, *signal).ok(),
            };
        }
        if has_ended {
            return Ok(passed);
        }
    }
}
