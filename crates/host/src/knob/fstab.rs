//! The line of `/etc/fstab` that mounts a share at a folder when the system starts.
//!
//! Its value is the whole line, so that undo gives back each byte of it, and sees when somebody else has changed one. Nobody
//! else's line is touched.

use locale::say;
use record::Value;

use super::safe_argument::is_text;
use super::{
    Allowed, Disturbance, Kind, Knob, KnobBackend, Refusal, State, TargetKind, answer, command,
};
use crate::exec::{Command, Output};
use crate::fstab_entry::FstabEntry;

const FILE: &str = "/etc/fstab";
/// Exit status of the look where the file is a link, and where there is none.
const STATUS_LINK: i32 = 3;
const STATUS_NO_FILE: i32 = 4;

/// Argument: the file.
const LOOK: &str = r#"[ ! -L "$1" ] || exit 3
[ -f "$1" ] || exit 4
cat -- "$1"
"#;

/// Arguments: the file, the line that is there, and the one that takes its place; either may be empty for none. A line that
/// is new goes to the end, and without an end of line where the file had none, so that taking it away leaves what was there.
/// The new file takes the old one's place at once, with its owner and rights.
const EDIT: &str = r#"set -eu
umask 077
export LC_ALL=C
file=$1 from=$2 to=$3 found=0 there=0 between= end='
'
newline=$end
[ -f "$file" ] && [ ! -L "$file" ] || { echo "$file is no regular file" >&2; exit 1; }
[ "$(stat -c %h -- "$file")" = 1 ] || { echo "$file has several names" >&2; exit 1; }
exec 9<"${file%/*}/."
if command -v flock >/dev/null && ! flock -w 10 9; then echo "somebody else is changing $file" >&2; exit 1; fi
rm -f -- "${file%/*}"/.linerate-fstab.??????
new=$(mktemp "${file%/*}/.linerate-fstab.XXXXXX")
trap 'rm -f -- "$new"' EXIT
trap 'exit 143' HUP INT TERM
was=$(cksum <"$file")
cp -a -- "$file" "$new"
[ "$(cksum <"$new")" = "$was" ] || { echo "somebody else has changed $file" >&2; exit 1; }
put() { printf '%s%s' "$between" "$1"; between=$newline; }
take() {
    if [ -n "$from" ] && [ "$1" = "$from" ]; then
        found=$((found + 1))
        [ -z "$to" ] || put "$to"
    else
        [ -z "$to" ] || [ "$1" != "$to" ] || there=$((there + 1))
        put "$1"
    fi
}
{
    while IFS= read -r line; do take "$line"; done
    [ -z "$line" ] || { take "$line"; end=; }
    [ -n "$from" ] || put "$to"
    [ -z "$between" ] || printf '%s' "$end"
} <"$file" >"$new"
if [ -n "$to" ] && [ "$there" = 1 ] && [ "$found" = 0 ]; then exit 0; fi
if [ -n "$from" ] && [ -z "$to" ] && [ "$found" = 0 ]; then exit 0; fi
if [ "$there" != 0 ] || { [ -n "$from" ] && [ "$found" != 1 ]; }; then
    echo "somebody else has changed $file" >&2
    exit 1
fi
sync "$new"
if [ -L "$file" ] || [ "$(cksum <"$file")" != "$was" ]; then
    echo "somebody else has changed $file" >&2
    exit 1
fi
mv -f -- "$new" "$file"
"#;

/// The line of one mount.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fstab;

pub(super) const fn fstab() -> Knob {
    Knob {
        values: "a line of `/etc/fstab` for that folder, without a password",
        survives_reboot: true,
        disturbs: Disturbance::NewConnections,
        ..Knob::linux(TargetKind::Mount, Kind::Fstab(Fstab))
    }
}

/// The command as people read it: the lines that go and come.
pub(super) fn shown(argv: &[String]) -> Option<String> {
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    let ["sh", "-c", EDIT, "sh", file, from, to] = words[..] else {
        return None;
    };
    let mut text = format!("change `{file}`:");
    for (sign, line) in [('-', from), ('+', to)] {
        if !line.is_empty() {
            text.push_str(&format!("\n    {sign} {line}"));
        }
    }
    Some(text)
}

/// Puts one line in the place of another.
fn edit(from: &Value, to: &Value) -> Result<Command, Refusal> {
    let line = |value: &Value| match value {
        Value::Unset => Ok(String::new()),
        Value::Text(line) => Ok(line.clone()),
        _ => Err(Refusal::none_such()),
    };
    let mut edit = command(&["sh", "-c", EDIT, "sh", FILE]);
    edit.argv.extend([line(from)?, line(to)?]);
    Ok(edit)
}

fn refused(id: &'static str) -> Refusal {
    Refusal::new(say(id).with("file", FILE)).hint(say("hint-host.no-persist"))
}

/// The one line of a folder; none where there is no such line.
fn find(said: &[u8], folder: &str) -> Result<Option<String>, Refusal> {
    let lines = said
        .split(|byte| *byte == b'\n')
        .map(String::from_utf8_lossy);
    let is_of_folder = |line: &str| FstabEntry::of(line).is_some_and(|entry| entry.is_at(folder));
    let all: Vec<_> = lines.collect();
    let mut lines = all.iter().filter(|line| is_of_folder(line)).cloned();
    let Some(line) = lines.next() else {
        // Through a link, a folder has other names, and two lines of one mount are none of them.
        let may_be = |line: &str| FstabEntry::of(line).is_some_and(|entry| entry.may_be_at(folder));
        return match all.iter().any(|line| may_be(line)) {
            true => Err(refused("error-linux.fstab-elsewhere")),
            false => Ok(None),
        };
    };
    if lines.next().is_some() {
        return Err(refused("error-linux.fstab-several"));
    }
    match FstabEntry::of(&line) {
        Some(entry) if entry.is_sound() => Ok(Some(line.into_owned())),
        Some(entry) if entry.has_password() => {
            let refusal = refused("error-linux.fstab-password");
            Err(refusal.hint(say("hint-host.credentials-file")))
        }
        Some(entry) if !entry.is_share() => Err(refused("error-linux.fstab-no-share")),
        _ => Err(refused("error-linux.fstab-odd")),
    }
}

impl KnobBackend for Fstab {
    fn read(&self, _: &str) -> Vec<Command> {
        vec![command(&["sh", "-c", LOOK, "sh", FILE])]
    }

    fn parse(&self, name: &str, outputs: &[Output]) -> Result<State, Refusal> {
        let output = outputs.first();
        match output.map(|output| output.status) {
            Some(STATUS_LINK) => return Err(refused("error-linux.fstab-link")),
            Some(STATUS_NO_FILE) => return Err(refused("error-linux.fstab-none")),
            _ => {}
        }
        answer(output, "coreutils")?;
        let said = output.map(|output| output.stdout.as_slice());
        let said = said.unwrap_or_default();
        // No shell reads a line with such a byte as it is.
        if said.contains(&0) {
            return Err(refused("error-linux.fstab-odd"));
        }
        let value = find(said, name)?.map_or(Value::Unset, Value::Text);
        Ok(State::new(value, Allowed::AsRead))
    }

    fn could_be(&self, value: &Value) -> bool {
        let is_sound = |line: &str| FstabEntry::of(line).is_some_and(|entry| entry.is_sound());
        *value == Value::Unset || is_text(value, is_sound)
    }

    /// There was no such knob then.
    fn wrote(&self, _: &str, _: &[&str]) -> bool {
        false
    }

    fn set(&self, name: &str, state: &State, to: &Value) -> Result<Command, Refusal> {
        let is_of_folder = |line: &str| FstabEntry::of(line).is_some_and(|entry| entry.is_at(name));
        if !self.could_be(to) || !(*to == Value::Unset || is_text(to, is_of_folder)) {
            let reason = say("error-linux.fstab-other").with("folder", name);
            return Err(Refusal::mistaken(reason));
        }
        edit(&state.value, to)
    }

    fn plan(&self, name: &str, state: &State, to: &Value) -> Result<(Command, Command), Refusal> {
        Ok((self.set(name, state, to)?, edit(to, &state.value)?))
    }
}
