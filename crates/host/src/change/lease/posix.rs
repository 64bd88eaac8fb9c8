//! Leases on Linux and macOS.
//!
//! All of one is one folder below [`all`], which goes when the lease is over. The file `armed` in
//! it decides: whoever renames it has the last word, the waiting script or we. The folders of others
//! tell that somebody else is changing the host.

use std::fmt::Write as _;
use std::time::Duration;

use record::System;

use super::{Answer, Undo, printable};
use crate::exec::shell::posix_line;
use crate::exec::{Command, Output};

/// Where leases are; it is empty after a restart, as are the changes.
const fn all(system: System) -> &'static str {
    match system {
        System::Macos => "/var/run/linerate.leases",
        _ => "/run/linerate.leases",
    }
}

/// Exit status when somebody else is changing the host, as `EX_TEMPFAIL`.
const STATUS_HELD: i32 = 75;
/// Exit status when the lease is over.
const STATUS_OVER: i32 = 76;

/// In front of the other scripts: the seconds of a clock that nobody sets, where there is one.
const CLOCK: &str = r"now() {
    if { read -r now rest </proc/uptime; } 2>/dev/null; then now=${now%%.*}; else now=$(date +%s); fi
}
";

/// Waits. Its argument is the lease's folder.
const WAIT: &str = r#"trap '' HUP INT TERM
cd "$1" || exit 1
echo $$ >waiter
while [ -e armed ] && read -r until <until; do
    now
    if [ "$now" -ge "$until" ]; then
        mv armed fired 2>/dev/null || exit 0
        sh ./undo back "$1" </dev/null >said 2>&1
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
        read -r waiter <"$1/waiter" &&
            { cat "/proc/$waiter/cmdline" || ps -o command= -p "$waiter"; } 2>/dev/null | grep -qF "$1"
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
now
echo $((now + seconds + 1)) >until && : >armed || exit 1
same() { [ "$(readlink "/proc/self/ns/$1")" = "$(readlink "/proc/1/ns/$1")" ]; }
if ! { [ -d /run/systemd/system ] && same net && same mnt && same pid &&
    systemd-run --quiet --collect --unit "linerate-lease-$name" \
        /bin/sh "$PWD/wait" "$PWD" 2>/dev/null; }; then
    # A Mac has no `setsid`, but Perl.
    if command -v setsid >/dev/null; then
        setsid sh "$PWD/wait" "$PWD" </dev/null >/dev/null 2>&1 &
    else
        perl -MPOSIX -e 'POSIX::setsid(); exec @ARGV' sh "$PWD/wait" "$PWD" </dev/null >/dev/null 2>&1 &
    fi
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
now
echo $((now + $2 + 1)) >until.new && mv until.new until && [ -e armed ] || exit 76
"#;

/// The change stays, or is back already. Argument: the lease's folder.
const DISARM: &str = r#"cd "$1" 2>/dev/null && mv armed disarmed 2>/dev/null || exit 76
cd / && rm -rf "$1"
rmdir "${1%/*}" 2>/dev/null
exit 0
"#;

/// The change is made: what it made of the host is written down. Argument: the lease's folder.
const NOTE: &str = r#"cd "$1" 2>/dev/null && [ -e armed ] || exit 76
sh ./undo note "$1" </dev/null
"#;

/// Each setting in its turn, whatever became of the one before. With `note` the script writes down how
/// the settings look; with `back` it leaves alone what looks otherwise by then: that is somebody else's.
fn undo_script(undo: &[Undo]) -> String {
    let mut script =
        "PATH=$PATH:/usr/sbin:/sbin:/usr/bin:/bin LC_ALL=C; export PATH LC_ALL\ncd /\n".to_owned();
    for (at, setting) in undo.iter().enumerate() {
        let look = setting.print_value.as_ref();
        let look = look.map_or_else(|| "false".to_owned(), |look| posix_line("env", look));
        let back = setting
            .restore
            .iter()
            .map(|command| posix_line("env", command));
        let back: Vec<String> = back.collect();
        // Writing to a string cannot fail.
        writeln!(
            script,
            "if [ \"$1\" = note ]; then\n\
             look=$({look}) && printf '%s\\n' \"$look\" >\"$2/after.{at}\"\n\
             elif [ ! -e \"$2/after.{at}\" ] || [ \"$({look})\" = \"$(cat \"$2/after.{at}\")\" ]; then\n\
             {}\nfi",
            back.join("\n")
        )
        .ok();
    }
    script
}

/// A script of ours with its arguments.
fn script(text: &str, arguments: &[&str]) -> Command {
    let text = format!("{CLOCK}{text}");
    let argv = ["sh", "-c", &text, "sh"].into_iter();
    Command::new(argv.chain(arguments.iter().copied())).as_root()
}

/// The folder of a lease.
fn folder(system: System, id: &str) -> String {
    format!("{}/{id}", all(system))
}

pub(super) fn arm(
    system: System,
    (owner, name): (&str, &str),
    length: Duration,
    holder: &str,
    undo: &[Undo],
) -> Command {
    let seconds = length.as_secs().to_string();
    let wait = format!("{CLOCK}{WAIT}");
    let arguments = [all(system), owner, name, &seconds, holder, &wait];
    script(ARM, &arguments).with_stdin(undo_script(undo))
}

pub(super) fn note(system: System, id: &str) -> Command {
    script(NOTE, &[&folder(system, id)])
}

pub(super) fn renew(system: System, id: &str, length: Duration) -> Command {
    let seconds = length.as_secs().to_string();
    script(RENEW, &[&folder(system, id), &seconds])
}

pub(super) fn disarm(system: System, id: &str) -> Command {
    script(DISARM, &[&folder(system, id)])
}

pub(super) fn answer(output: &Output) -> Answer {
    match output.status {
        0 => Answer::Done,
        STATUS_HELD => Answer::Held(printable(&String::from_utf8_lossy(&output.stdout))),
        STATUS_OVER => Answer::Over,
        _ => Answer::Failed(printable(&String::from_utf8_lossy(&output.stderr))),
    }
}
