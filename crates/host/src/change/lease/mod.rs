//! A dead man's switch on a changed host: a script that waits there and takes the change back unless
//! it is told in time that somebody still looks after it, or that the change is to stay.
//!
//! What waits, and where it is written down, is the system's own: a process and a folder on Linux and
//! macOS, a scheduled task and a key of the registry on Windows. On all one thing decides, which either side
//! can take away only once: whoever does has the last word. What others have there tells that somebody
//! else is changing the host.

mod posix;
mod windows;

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use record::{HostName, System};

use crate::error::own_reasons;
use crate::exec::{Command, Output};
use crate::{Error, Host};

/// How long a host waits for a sign of life when nobody says otherwise.
pub const LENGTH_DEFAULT: Duration = Duration::from_secs(60);
/// The shortest and the longest lease.
pub const LENGTH: RangeInclusive<Duration> = Duration::from_secs(2)..=Duration::from_secs(3600);

/// What takes one setting back.
#[derive(Clone, Debug)]
pub(crate) struct Undo {
    /// Prints what there is to see of it, and of nothing else.
    pub(crate) print_value: Option<Command>,
    /// Takes it back.
    pub(crate) restore: Vec<Command>,
}

/// What a system can do.
struct Pace {
    /// The shortest lease: within it there must be time for signs of life.
    shortest: Duration,
    /// How much later than its time a lease may be over: what waits looks once a second and needs
    /// time to take back.
    late: Duration,
    /// Longest time for a sign of life; it is given three times in each lease.
    renewal: Duration,
}

impl Pace {
    const fn of(system: System) -> Self {
        match system {
            // PowerShell alone takes seconds to start, and so does an adapter.
            System::Windows => Self {
                shortest: Duration::from_secs(30),
                late: Duration::from_secs(20),
                renewal: Duration::from_secs(15),
            },
            System::Linux | System::Macos => Self {
                shortest: *LENGTH.start(),
                late: Duration::from_secs(3),
                renewal: Duration::from_secs(5),
            },
        }
    }
}

/// What a host says of a lease.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// It is as we want it.
    Done,
    /// Somebody else is changing the host.
    Held(String),
    /// The lease is over: the host has taken the change back.
    Over,
    /// It cannot be, and why.
    Failed(String),
}

fn answer(system: System, output: &Output) -> Answer {
    match system {
        System::Windows => windows::answer(output),
        System::Linux | System::Macos => posix::answer(output),
    }
}

/// An armed lease. Dropped, it is not renewed any more, and the host takes the change back.
#[derive(Debug)]
pub(crate) struct Lease {
    host: Host,
    /// Its name among all leases of the host.
    id: String,
    length: Duration,
    life: Arc<Life>,
    renewals: Option<(Sender<()>, JoinHandle<()>)>,
}

#[derive(Debug)]
struct Life {
    renewed: Mutex<Instant>,
    over: AtomicBool,
}

impl Life {
    fn last_renewal(&self) -> MutexGuard<'_, Instant> {
        self.renewed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn renewed(&self) -> Instant {
        *self.last_renewal()
    }
}

impl Lease {
    /// Arms a lease on a host, which runs `undo` in this order when it hears nothing for `length`, or
    /// for the shortest time that its system can do. `owner` is the same in all leases of one
    /// linerate, `name` in none of them.
    ///
    /// # Errors
    /// When somebody else is changing the host, or it cannot wait there.
    pub(crate) fn arm(
        host: &Host,
        (owner, name): (&str, &str),
        length: Duration,
        undo: &[Undo],
    ) -> Result<Self, Error> {
        let length = length.max(Pace::of(host.system).shortest);
        let id = format!("{owner}.{name}");
        let command = match host.system {
            System::Linux | System::Macos => {
                posix::arm(host.system, (owner, name), length, &holder(), undo)
            }
            System::Windows => windows::arm(owner, &id, length, &holder(), undo),
        };
        let armed = Instant::now();
        let outputs = host.exec.run(std::slice::from_ref(&command))?;
        let nothing = || Answer::Failed(printable(""));
        let answer = outputs.first().map(|output| answer(host.system, output));
        let name = host.name.clone();
        match answer.unwrap_or_else(nothing) {
            Answer::Done => {}
            Answer::Held(holder) => return Err(Error::HostHeld { name, holder }),
            Answer::Over => return Err(Error::LeaseOver { name }),
            Answer::Failed(reason) => return Err(Error::NoLease { name, reason }),
        }
        let life = Arc::new(Life {
            renewed: Mutex::new(armed),
            over: AtomicBool::new(false),
        });
        let mut lease = Self {
            host: host.clone(),
            id,
            length,
            life,
            renewals: None,
        };
        lease.renewals = Some(lease.renew());
        Ok(lease)
    }

    /// The host on which it is armed.
    pub(crate) fn host(&self) -> &HostName {
        &self.host.name
    }

    /// The change is made: from here on the host takes back only what still looks as now, where that
    /// can be told there. Without this word it takes back everything.
    ///
    /// # Errors
    /// When the host has taken the change back.
    pub(crate) fn note(&self) -> Result<(), Error> {
        let command = match self.host.system {
            System::Windows => windows::note(&self.id),
            system @ (System::Linux | System::Macos) => posix::note(system, &self.id),
        };
        let outputs = self.host.exec.run(&[command]).unwrap_or_default();
        let answer = outputs
            .first()
            .map(|output| answer(self.host.system, output));
        if answer != Some(Answer::Over) {
            return Ok(());
        }
        self.life.over.store(true, Ordering::Relaxed);
        Err(Error::LeaseOver {
            name: self.host.name.clone(),
        })
    }

    /// Whether the host may have taken the change back: it said so, or has heard nothing for so long.
    pub(crate) fn may_be_over(&self) -> bool {
        self.life.over.load(Ordering::Relaxed) || self.life.renewed().elapsed() >= self.length
    }

    /// Ends a lease that may be over. Where it is, the host may still be at work: what is set meanwhile
    /// would be taken back too.
    pub(crate) fn end(mut self) {
        if self.disarm().is_err() {
            self.wait_until_over();
        }
    }

    /// Gives signs of life until the sender is dropped.
    fn renew(&self) -> (Sender<()>, JoinHandle<()>) {
        let (stop, stopped) = mpsc::channel::<()>();
        let system = self.host.system;
        let command = match system {
            System::Windows => windows::renew(&self.id, self.length),
            System::Linux | System::Macos => posix::renew(system, &self.id, self.length),
        };
        let limit = Pace::of(system).renewal.min(self.length / 3);
        let command = command.with_timeout(limit);
        let (exec, life) = (Arc::clone(&self.host.exec), Arc::clone(&self.life));
        let pause = self.length / 3;
        let thread = thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(pause) {
                let began = Instant::now();
                let outputs = exec.run(std::slice::from_ref(&command));
                let heard = outputs.ok().and_then(|outputs| {
                    let output = outputs.first()?;
                    Some(answer(system, output))
                });
                match heard {
                    Some(Answer::Done) => {
                        *life.last_renewal() = began;
                    }
                    Some(Answer::Over) => {
                        life.over.store(true, Ordering::Relaxed);
                        break;
                    }
                    // It may get through the next time.
                    _ => {}
                }
            }
        });
        (stop, thread)
    }

    /// From now on only [`Lease::disarm`] keeps the host from taking the change back.
    pub(crate) fn stop_renewing(&mut self) {
        if let Some((stop, thread)) = self.renewals.take() {
            drop(stop);
            // It only fails if it panicked, and then nothing is renewed either.
            thread.join().ok();
        }
    }

    /// Ends the lease; the change is not taken back by the host any more.
    ///
    /// # Errors
    /// When the host does not answer, or has taken the change back.
    pub(crate) fn disarm(&mut self) -> Result<(), Error> {
        self.stop_renewing();
        let over = || Error::LeaseOver {
            name: self.host.name.clone(),
        };
        if self.life.over.load(Ordering::Relaxed) {
            return Err(over());
        }
        let command = match self.host.system {
            System::Windows => windows::disarm(&self.id),
            System::Linux | System::Macos => posix::disarm(self.host.system, &self.id),
        };
        let outputs = self.host.exec.run(std::slice::from_ref(&command))?;
        let nothing = || Answer::Failed(printable(""));
        let answer = outputs
            .first()
            .map(|output| answer(self.host.system, output));
        match answer.unwrap_or_else(nothing) {
            Answer::Done => Ok(()),
            Answer::Over => Err(over()),
            Answer::Held(reason) | Answer::Failed(reason) => Err(Error::NoLease {
                name: self.host.name.clone(),
                reason,
            }),
        }
    }

    /// Waits until the host must have taken the change back by itself.
    pub(crate) fn wait_until_over(mut self) {
        self.stop_renewing();
        let over = self.life.renewed() + self.length + Pace::of(self.host.system).late;
        thread::sleep(over.saturating_duration_since(Instant::now()));
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.stop_renewing();
    }
}

/// Who we are, to whoever comes second.
fn holder() -> String {
    let machine = os::machine::system_file("/proc/sys/kernel/hostname");
    let machine = machine.as_deref().map_or("another machine", str::trim);
    format!("process {} on `{machine}`", std::process::id())
}

/// Another machine's text, as far as it can be shown.
fn printable(text: &str) -> String {
    let text: String = text
        .trim()
        .chars()
        .filter(|letter| !letter.is_control())
        .take(200)
        .collect();
    if text.is_empty() {
        own_reasons::LEASE_SILENT.into()
    } else {
        text
    }
}
