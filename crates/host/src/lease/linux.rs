//! Leases on Linux.
//!
//! All of one is one folder below `FOLDER`, which goes when the lease is over. The file `armed` in
//! it decides: whoever renames it has the last word, the waiting script or we. The folders of others
//! tell that somebody else is changing the host.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Answer, printable};
use crate::exec::shell::posix_line;
use crate::exec::{Command, Output};

/// Where leases are on a Linux host; it is empty after a restart, as are the changes.
const FOLDER: &str = "/run/linerate.leases";
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

/// The folder of a lease.
fn folder(id: &str) -> String {
    format!("{FOLDER}/{id}")
}

pub(super) fn arm(
    (owner, name): (&str, &str),
    length: Duration,
    holder: &str,
    undo: &[Command],
) -> Command {
    let seconds = length.as_secs().to_string();
    let argv = [
        "sh", "-c", ARM, "sh", FOLDER, owner, name, &seconds, holder, WAIT,
    ];
    Command::new(argv).with_stdin(undo_script(undo)).as_root()
}

pub(super) fn renew(id: &str, length: Duration) -> Command {
    let seconds = length.as_secs().to_string();
    Command::new(["sh", "-c", RENEW, "sh", &folder(id), &seconds]).as_root()
}

pub(super) fn disarm(id: &str) -> Command {
    Command::new(["sh", "-c", DISARM, "sh", &folder(id)]).as_root()
}

pub(super) fn answer(output: &Output) -> Answer {
    match output.status {
        0 => Answer::Done,
        STATUS_HELD => Answer::Held(printable(&String::from_utf8_lossy(&output.stdout))),
        STATUS_OVER => Answer::Over,
        _ => Answer::Failed(printable(&String::from_utf8_lossy(&output.stderr))),
    }
}
