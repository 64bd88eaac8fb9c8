//! Knobs that are a line of Samba's `smb.conf`.
//!
//! Nobody's lines are rewritten. Ours go to the end of the file, between two comments, where they win
//! over whatever stands above; taking them back removes just them.

use locale::say;
use record::Value;

use super::journal_validation::is_script;
use super::{
    Allowed, Disturbance, Kind, Knob, KnobBackend, Refusal, Seen, State, TargetKind, answer,
    command, sensible, words,
};
use crate::exec::{Command, Output};

/// The one configuration that is edited.
const SMB_CONF: &str = "/etc/samba/smb.conf";
/// The comment above our lines, followed by what they are.
const BEGIN: &str = "# linerate begins: ";
/// The configuration of the server in the kernel.
const KSMBD_CONF: &str = "/etc/ksmbd/ksmbd.conf";
/// Exit status of `testparm` where it refuses the configuration.
const STATUS_REFUSED: i32 = 1;
/// Where `testparm` says, on its standard error, what it has read.
const LOADED: &str = "Load smb config files from ";
/// Sections that are no shares.
const NO_SHARES: [&str; 4] = ["global", "homes", "printers", "print$"];

/// Arguments: the file, the mark, and, to set, the section and the line. Puts our block at the end of
/// the file in place of one that is there, or takes it out. A block without its end is somebody's
/// accident and is left alone. Where the last line has no end, a comment says so above our blocks, and
/// goes with the last of them. The new file takes the old one's place at once, with its owner and
/// rights, and only when `testparm` takes it. A server that runs reads it again; sessions go on.
const EDIT: &str = r##"set -eu
umask 077
file=$(readlink -f -- "$1")
[ -f "$file" ] || { echo "there is no $1" >&2; exit 1; }
new=$(mktemp "$file.linerate.XXXXXX")
trap 'rm -f -- "$new"' EXIT
cp -a -- "$file" "$new"
open="# linerate: no end of line above"
is_open() { [ -n "$(tail -c 1 -- "$1")" ]; }
if is_open "$file"; then cut=1; else cut=0; fi
awk -v mark="$2" -v open="$open" -v cut="$cut" '
    function put(line) { printf "%s%s", between, line; between = "\n" }
    function take(line) {
        if (held_open && line ~ /^# linerate begins: /) put(open)
        held_open = line == open
        if (!held_open) put(line)
    }
    $0 == "# linerate begins: " mark { held = 1; kept = $0; next }
    held && $0 == "# linerate ends: " mark { held = 0; next }
    held { kept = kept "\n" $0; next }
    { take($0) }
    END {
        if (held) take(kept)
        if (between && !held_open && !cut) printf "\n"
    }' "$file" >"$new"
if [ $# -ge 4 ]; then
    if is_open "$new"; then printf '\n%s\n' "$open"; fi >>"$new"
    printf '%s\n' "# linerate begins: $2" "[$3]" "	$4" "# linerate ends: $2" >>"$new"
fi
if ! cmp -s -- "$file" "$new"; then
    said=$(testparm -s "$new" 2>&1 >/dev/null) || { echo "$said" >&2; exit 1; }
    mv -f -- "$new" "$file"
fi
if smbcontrol smbd ping >/dev/null 2>&1; then smbcontrol smbd reload-config; fi
"##;

/// What the configuration says without the lines between our comments; nothing where there are none.
const SHOW_WITHOUT_OURS: &str = r#"grep -qs '^# linerate begins: ' "$1" || exit 0
awk '/^# linerate begins: / { held = 1 }
    !held { print }
    /^# linerate ends: / { held = 0 }' "$1" | testparm -s -v /dev/stdin
"#;

/// A line of `smb.conf`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Samba {
    key: &'static str,
    form: Form,
    /// Why it is only looked at: the id of a sentence, as for all of these.
    fixed_because: Option<&'static str>,
    on: TargetKind,
}

/// What stands behind the key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// `yes` or `no`.
    Switch,
    /// A whole number between two others.
    Number(i64, i64),
    /// Any text, which is only looked at.
    Text,
}

/// A line of `[global]`.
pub(super) const fn samba(key: &'static str, form: Form) -> Knob {
    of(TargetKind::Host, key, form, None)
}

/// A line of `[global]` that is only looked at.
pub(super) const fn samba_fixed(key: &'static str, form: Form, because: &'static str) -> Knob {
    of(TargetKind::Host, key, form, Some(because))
}

/// A line of a share. What `[global]` says of it counts for shares only where it stands above them.
pub(super) const fn samba_share(key: &'static str, form: Form) -> Knob {
    of(TargetKind::Share, key, form, None)
}

/// A line of a share that is only looked at.
pub(super) const fn samba_share_fixed(
    key: &'static str,
    form: Form,
    because: &'static str,
) -> Knob {
    of(TargetKind::Share, key, form, Some(because))
}

const fn of(
    on: TargetKind,
    key: &'static str,
    form: Form,
    fixed_because: Option<&'static str>,
) -> Knob {
    let values = match (fixed_because, form) {
        (Some(_), _) => "only looked at",
        (None, Form::Switch) => "on, off",
        _ => "",
    };
    let backend = Samba {
        key,
        form,
        fixed_because,
        on,
    };
    Knob {
        values,
        survives_reboot: true,
        disturbs: Disturbance::NewConnections,
        ..Knob::linux(on, Kind::Samba(backend))
    }
}

/// The command that prints all of the configuration, with what is not set.
fn show() -> Command {
    command(&["testparm", "-s", "-v"])
}

/// The command that tells the shares, for [`shares_in`].
pub(crate) fn show_shares() -> Command {
    command(&["testparm", "-s"])
}

/// The shares that Samba offers; none where there is no Samba.
pub(crate) fn shares_in(output: &Output) -> Vec<String> {
    let said = output.text().unwrap_or_default();
    let names = sections(&said).filter(|name| !NO_SHARES.contains(&name.to_lowercase().as_str()));
    names.map(str::to_owned).collect()
}

impl Samba {
    fn section<'a>(&self, name: &'a str) -> &'a str {
        match self.on {
            TargetKind::Share => name,
            _ => "global",
        }
    }

    fn mark(&self, section: &str) -> String {
        match self.on {
            TargetKind::Share => format!("{} of {section}", self.key),
            _ => self.key.to_owned(),
        }
    }

    fn value(&self, said: &str) -> Result<Value, Refusal> {
        let unreadable = || Refusal::new(say("error-linux.samba-value").with("key", self.key));
        Ok(match self.form {
            Form::Switch => Value::Switch(match said.to_ascii_lowercase().as_str() {
                "yes" | "true" | "1" | "on" => true,
                "no" | "false" | "0" | "off" => false,
                _ => return Err(unreadable()),
            }),
            Form::Number(..) => Value::Integer(said.parse().ok().ok_or_else(unreadable)?),
            Form::Text => Value::Text(said.to_owned()),
        })
    }

    fn allowed(&self) -> Allowed {
        match self.form {
            Form::Switch => Allowed::Switch,
            Form::Number(min, max) => sensible(min, max),
            Form::Text => words(&[]),
        }
    }

    /// Puts our line into the file, or takes it out.
    fn edit(&self, section: &str, to: Option<&Value>) -> Command {
        let mark = self.mark(section);
        let mut edit = command(&["sh", "-c", EDIT, "sh", SMB_CONF, &mark]);
        if let Some(to) = to {
            let word = match to {
                Value::Switch(true) => "yes".to_owned(),
                Value::Switch(false) => "no".to_owned(),
                other => other.to_string(),
            };
            edit.argv.push(section.to_owned());
            edit.argv.push(format!("{} = {word}", self.key));
        }
        edit
    }
}

impl KnobBackend for Samba {
    fn read(&self, _: &str) -> Vec<Command> {
        let without = command(&["sh", "-c", SHOW_WITHOUT_OURS, "sh", SMB_CONF]);
        vec![show(), command(&["cat", SMB_CONF]), without]
    }

    fn parse(&self, name: &str, outputs: &[Output]) -> Result<State, Refusal> {
        let said = shown(outputs.first())?;
        let section = self.section(name);
        if self.on == TargetKind::Share && !sections(&said).any(|known| same(known, section)) {
            return Err(Refusal {
                target_is_missing: true,
                ..Refusal::new(say("error-linux.samba-share").with("share", section))
            });
        }
        let value = |said: &str| {
            // `testparm` prints of a share what differs from `[global]`.
            let value =
                find_key(said, section, self.key).or_else(|| find_key(said, "global", self.key));
            let missing = || Refusal::new(say("error-linux.samba-key").with("key", self.key));
            self.value(value.ok_or_else(missing)?)
        };
        let complaints = outputs.first().map(|output| output.stderr.as_slice());
        let complaints = String::from_utf8_lossy(complaints.unwrap_or_default()).into_owned();
        let file = complaints
            .lines()
            .find_map(|line| line.strip_prefix(LOADED));
        let elsewhere = file
            .filter(|file| *file != SMB_CONF)
            .map(|file| say("knob-fixed.samba-elsewhere").with("file", file));
        let begin = format!("{BEGIN}{}", self.mark(section));
        let content = outputs.get(1).and_then(Output::text).unwrap_or_default();
        let now = value(&said)?;
        let is_ours = content.lines().any(|line| line == begin);
        let unset = match is_ours {
            true => value(&shown(outputs.get(2))?)?,
            false => now.clone(),
        };
        let state = State::new(now, self.allowed())
            .fixed_if(self.fixed_because.map(say).or(elsewhere))
            .unset(unset);
        Ok(match is_ours {
            true => state.seen(Seen::OwnLine),
            false => state,
        })
    }

    fn could_be(&self, value: &Value) -> bool {
        self.fixed_because.is_none()
            && match self.form {
                Form::Switch => matches!(value, Value::Switch(_)),
                Form::Number(..) => matches!(value, Value::Integer(_)),
                Form::Text => false,
            }
    }

    fn wrote(&self, name: &str, argv: &[&str]) -> bool {
        let own = self.mark(self.section(name));
        matches!(argv, ["sh", "-c", script, "sh", SMB_CONF, mark, ..]
            if is_script(script, &[EDIT]) && *mark == own)
    }

    fn set(&self, name: &str, _: &State, to: &Value) -> Result<Command, Refusal> {
        Ok(self.edit(self.section(name), Some(to)))
    }

    fn leave(&self, name: &str, _: &State) -> Result<Command, Refusal> {
        Ok(self.edit(self.section(name), None))
    }

    /// Taking back removes our line; where an earlier change of ours stands, it gets its value again.
    fn plan(&self, name: &str, state: &State, to: &Value) -> Result<(Command, Command), Refusal> {
        let section = self.section(name);
        let before = (state.seen == Seen::OwnLine).then_some(&state.value);
        Ok((self.edit(section, Some(to)), self.edit(section, before)))
    }
}

/// A switch in the configuration of the kernel's own server, which is looked at only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ksmbd {
    key: &'static str,
    fixed_because: &'static str,
}

/// A line of `[global]` there; it is off where it is not set.
pub(super) const fn ksmbd(key: &'static str, fixed_because: &'static str) -> Knob {
    let backend = Ksmbd { key, fixed_because };
    Knob {
        values: "only looked at",
        survives_reboot: true,
        disturbs: Disturbance::NewConnections,
        ..Knob::linux(TargetKind::Host, Kind::Ksmbd(backend))
    }
}

impl KnobBackend for Ksmbd {
    fn read(&self, _: &str) -> Vec<Command> {
        vec![command(&["cat", KSMBD_CONF])]
    }

    fn parse(&self, _: &str, outputs: &[Output]) -> Result<State, Refusal> {
        let said = outputs.first().and_then(Output::text);
        let said = said.ok_or_else(|| Refusal::new(say("error-linux.no-ksmbd")))?;
        let value = find_key(&said, "global", self.key).unwrap_or("no");
        let on = ["yes", "true", "1", "on"].contains(&value.to_ascii_lowercase().as_str());
        let state = State::new(Value::Switch(on), Allowed::Switch);
        Ok(state.fixed_if(Some(say(self.fixed_because))))
    }

    /// It is only looked at.
    fn could_be(&self, _: &Value) -> bool {
        false
    }

    fn wrote(&self, _: &str, _: &[&str]) -> bool {
        false
    }

    fn set(&self, _: &str, _: &State, _: &Value) -> Result<Command, Refusal> {
        Err(Refusal::new(say(self.fixed_because)))
    }
}

/// What `testparm` printed of a configuration that it takes.
fn shown(output: Option<&Output>) -> Result<String, Refusal> {
    let refused = output.filter(|output| output.status == STATUS_REFUSED);
    let Some(output) = refused else {
        return answer(output, "samba");
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let complaints = said.lines().filter(|line| !line.starts_with(LOADED));
    let complaints: Vec<&str> = complaints.map(str::trim).collect();
    let complaints = complaints.join(" ");
    let printable = complaints.chars().filter(|letter| !letter.is_control());
    let complaints: String = printable.take(super::COMPLAINT_CHARS_MAX).collect();
    let reason = say("error-linux.testparm").with("complaints", complaints);
    Err(Refusal::new(reason).hint(say("hint-host.testparm")))
}

/// The names of sections.
fn sections(said: &str) -> impl Iterator<Item = &str> {
    said.lines()
        .filter_map(|line| line.trim().strip_prefix('[')?.strip_suffix(']'))
}

/// Blanks and capitals do not count in Samba's names.
fn same(one: &str, other: &str) -> bool {
    let plain = |word: &str| {
        let kept = word.chars().filter(|letter| !letter.is_whitespace());
        kept.flat_map(char::to_lowercase).collect::<String>()
    };
    plain(one) == plain(other)
}

/// The last value of a key in a section.
fn find_key<'a>(said: &'a str, section: &str, key: &str) -> Option<&'a str> {
    let mut inside = false;
    let mut found = None;
    for line in said.lines().map(str::trim) {
        if line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'))
        {
            inside = same(name, section);
        } else if let (true, Some((name, value))) = (inside, line.split_once('='))
            && same(name, key)
        {
            found = Some(value.trim());
        }
    }
    found
}
