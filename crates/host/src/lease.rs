//! A dead man's switch on a changed host: a script that waits there and takes the change back unless
//! it is told in time that somebody still looks after it, or that the change is to stay.
//!
//! All of it is one folder below `FOLDER`, which goes when the lease is over. The file `armed` in
//! it decides: whoever renames it has the last word, the waiting script or we. The folders of others
//! tell that somebody else is changing the host.

use std::fmt::Write as _;
use std::fs;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use record::{HostName, System};

use crate::exec::shell::posix_line;
use crate::exec::{self, Command};
use crate::{Error, Host};

/// How long a host waits for a sign of life when nobody says otherwise.
pub const LENGTH_DEFAULT: Duration = Duration::from_secs(60);
/// The shortest and the longest lease.
pub const LENGTH: RangeInclusive<Duration> = Duration::from_secs(2)..=Duration::from_secs(3600);

/// Where leases are on a Linux host; it is empty after a restart, as are the changes.
const FOLDER: &str = "/run/linerate.leases";
/// How much later than its time a lease may be over: the script looks once a second and needs time
/// to take back.
const LATE: Duration = Duration::from_secs(3);
/// Longest time for a sign of life; it is given three times in each lease.
const RENEWAL_LIMIT: Duration = Duration::from_secs(5);
/// Exit status when somebody else is changing the host, as `EX_TEMPFAIL`.
const STATUS_HELD: i32 = 75;
/// Exit status when the lease is over.
const STATUS_OVER: i32 = 76;

/// Waits. Its argument is the lease's folder.
const WAIT: &str = r#"trap '' HUP INT TERM
cd "$1" || exit 1
echo $$ >waiter
while [ -e armed ] && read -r until <until; do
    read -r now rest </proc/uptime
    if [ "${now%%.*}" -ge "$until" ]; then
        mv armed fired 2>/dev/null || exit 0
        sh ./undo </dev/null >said 2>&1
        cd / && rm -rf "$1"
        rmdir "${1%/*}" 2>/dev/null
        exit 0
    fi
    sleep 1
done
"#;

/// Arms a lease. Arguments: the leases' folder, our name, the lease's name, its seconds, who we are,
/// the waiting script. Reads the script that takes back. What another linerate has left behind without
/// anything that waits is removed. `systemd` can only be asked from the namespaces in which it is.
const ARM: &str = r#"umask 077
all=$1 own=$2 name=$2.$3 seconds=$4
mkdir -p "$all/$name" && cd "$all/$name" || exit 1
alive() {
    if [ -s "$1/waiter" ]; then
        read -r waiter <"$1/waiter" && grep -qF "$1" "/proc/$waiter/cmdline" 2>/dev/null
    else
        [ -z "$(find "$1" -maxdepth 0 -mmin +1)" ]
    fi
}
for other in "$all"/*; do
    case ${other##*/} in "$own".*) continue ;; esac
    if alive "$other"; then
        cat "$other/holder" 2>/dev/null
        cd / && rm -rf "$all/$name"
        exit 75
    fi
    rm -rf "$other"
done
cat >undo && printf '%s\n' "$5" >holder && printf '%s' "$6" >wait || exit 1
read -r now rest </proc/uptime
echo $((${now%%.*} + seconds + 1)) >until && : >armed || exit 1
same() { [ "$(readlink "/proc/self/ns/$1")" = "$(readlink "/proc/1/ns/$1")" ]; }
if ! { [ -d /run/systemd/system ] && same net && same mnt && same pid &&
    systemd-run --quiet --collect --unit "linerate-lease-$name" \
        /bin/sh "$PWD/wait" "$PWD" 2>/dev/null; }; then
    setsid sh "$PWD/wait" "$PWD" </dev/null >/dev/null 2>&1 &
fi
tries=0
until [ -s waiter ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 50 ]; then
        echo 'nothing waits there' >&2
        cd / && rm -rf "$all/$name"
        exit 1
    fi
    sleep 0.1
done
"#;

/// A sign of life. Arguments: the lease's folder, its seconds.
const RENEW: &str = r#"cd "$1" 2>/dev/null && [ -e armed ] || exit 76
read -r now rest </proc/uptime
echo $((${now%%.*} + $2 + 1)) >until.new && mv until.new until && [ -e armed ] || exit 76
"#;

/// The change stays, or is back already. Argument: the lease's folder.
const DISARM: &str = r#"cd "$1" 2>/dev/null && mv armed disarmed 2>/dev/null || exit 76
cd / && rm -rf "$1"
rmdir "${1%/*}" 2>/dev/null
exit 0
"#;

/// An armed lease. Dropped, it is not renewed any more, and the host takes the change back.
#[derive(Debug)]
pub(crate) struct Lease {
    host: Host,
    folder: String,
    length: Duration,
    life: Arc<Life>,
    renewals: Option<(Sender<()>, JoinHandle<()>)>,
}

#[derive(Debug)]
struct Life {
    renewed: Mutex<Instant>,
    over: AtomicBool,
}

impl Lease {
    /// Arms a lease on a host, which runs `undo` in this order when it hears nothing for `length`.
    /// `owner` is the same in all leases of one linerate, `name` in none of them.
    ///
    /// # Errors
    /// When somebody else is changing the host, or it cannot wait there.
    pub(crate) fn arm(
        host: &Host,
        (owner, name): (&str, &str),
        length: Duration,
        undo: &[Command],
    ) -> Result<Self, Error> {
        if host.system != System::Linux {
            return Err(Error::UnsupportedSystem {
                name: host.name.clone(),
                system: host.system,
            });
        }
        let seconds = length.as_secs().to_string();
        let argv = [
            "sh",
            "-c",
            ARM,
            "sh",
            FOLDER,
            owner,
            name,
            &seconds,
            &holder(),
            WAIT,
        ];
        let command = Command::new(argv).with_stdin(undo_script(undo)).as_root();
        let armed = Instant::now();
        let outputs = host.exec.run(std::slice::from_ref(&command))?;
        let output = outputs.into_iter().next();
        match output {
            Some(output) if output.status == 0 => {}
            Some(output) if output.status == STATUS_HELD => {
                let holder = String::from_utf8_lossy(&output.stdout);
                return Err(Error::HostHeld {
                    name: host.name.clone(),
                    holder: printable(&holder),
                });
            }
            other => {
                let said = other.map_or_else(Vec::new, |output| output.stderr);
                return Err(Error::NoLease {
                    name: host.name.clone(),
                    reason: printable(&String::from_utf8_lossy(&said)),
                });
            }
        }
        let life = Arc::new(Life {
            renewed: Mutex::new(armed),
            over: AtomicBool::new(false),
        });
        let mut lease = Self {
            host: host.clone(),
            folder: format!("{FOLDER}/{owner}.{name}"),
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

    /// Gives signs of life until the sender is dropped.
    fn renew(&self) -> (Sender<()>, JoinHandle<()>) {
        let (stop, stopped) = mpsc::channel::<()>();
        let seconds = self.length.as_secs().to_string();
        let command = Command::new(["sh", "-c", RENEW, "sh", &self.folder, &seconds])
            .with_timeout(RENEWAL_LIMIT.min(self.length / 3))
            .as_root();
        let (exec, life) = (Arc::clone(&self.host.exec), Arc::clone(&self.life));
        let pause = self.length / 3;
        let thread = thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(pause) {
                let began = Instant::now();
                let outputs = exec.run(std::slice::from_ref(&command));
                match outputs
                    .ok()
                    .and_then(|outputs| Some(outputs.first()?.status))
                {
                    Some(0) => *life.renewed.lock().unwrap_or_else(PoisonError::into_inner) = began,
                    Some(STATUS_OVER) => {
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
        let command = Command::new(["sh", "-c", DISARM, "sh", &self.folder]).as_root();
        match exec::run_one(self.host.exec.as_ref(), &command) {
            Ok(_) => Ok(()),
            Err(Error::Status {
                status: STATUS_OVER,
                ..
            }) => Err(over()),
            Err(error) => Err(error),
        }
    }

    /// Waits until the host must have taken the change back by itself.
    pub(crate) fn wait_until_over(mut self) {
        self.stop_renewing();
        let renewed = *self
            .life
            .renewed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let over = renewed + self.length + LATE;
        thread::sleep(over.saturating_duration_since(Instant::now()));
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.stop_renewing();
    }
}

/// Each command in its turn, whatever became of the one before.
fn undo_script(undo: &[Command]) -> String {
    let mut script =
        "PATH=$PATH:/usr/sbin:/sbin:/usr/bin:/bin LC_ALL=C; export PATH LC_ALL\ncd /\n".to_owned();
    for command in undo {
        // Writing to a string cannot fail.
        writeln!(script, "{}", posix_line("env", command)).ok();
    }
    script
}

/// Who we are, to whoever comes second.
fn holder() -> String {
    let machine = fs::read_to_string("/proc/sys/kernel/hostname");
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
        "it does not say why".into()
    } else {
        text
    }
}
