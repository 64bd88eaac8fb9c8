//! Lines of `/etc/nsmb.conf`, the configuration of macOS's SMB client.

use locale::say;
use record::Value;

use super::Form;
use crate::exec::{Command, Output};
use crate::knob::journal_validation::is_script;
use crate::knob::{Refusal, State, command};

/// The file that has the last word; neither it nor the user's is there on a fresh system.
const FILE: &str = "/etc/nsmb.conf";
const OF_THE_USER: &str = r#"cat "$HOME/Library/Preferences/nsmb.conf""#;
/// The only section that is edited.
const SECTION: &str = "default";

/// Arguments: the file, the key, and, to set, the value. Every other line stays as it is; a section that
/// we had to begin goes with our last line in it, and the file with its last line.
const EDIT: &str = r##"set -eu
umask 022
file=$1
new=$(mktemp "$file.linerate.XXXXXX")
trap 'rm -f -- "$new"' EXIT
if [ -e "$file" ]; then cp -p -- "$file" "$new"; else chmod 644 "$new"; fi
{ cat -- "$file" 2>/dev/null || :; } | awk -v key="$2" -v value="${3-}" '
    function ours() { if (value != "" && !done) { print key "=" value; done = 1 } }
    /^[ \t]*\[/ { if (inside) ours(); inside = ($0 ~ /^[ \t]*\[default\]/) }
    inside {
        split($0, parts, "=")
        name = parts[1]
        gsub(/[ \t]/, "", name)
        if (name == key) { ours(); next }
    }
    { print }
    END {
        if (value != "" && !done) {
            if (!inside) print "# added by linerate\n[default]"
            ours()
        }
    }' | awk '
    { lines[NR] = $0 }
    END {
        count = NR
        if (count > 1 && lines[count] == "[default]" && lines[count - 1] == "# added by linerate")
            count -= 2
        for (line = 1; line <= count; line++) print lines[line]
    }' >"$new"
if [ -s "$new" ]; then mv -f -- "$new" "$file"; else rm -f -- "$file"; fi
"##;

pub(super) fn read() -> Vec<Command> {
    vec![command(&["cat", FILE]), command(&["sh", "-c", OF_THE_USER])]
}

pub(super) fn parse(
    key: &str,
    form: Form,
    fixed: Option<&'static str>,
    outputs: &[Output],
) -> Result<State, Refusal> {
    let said = |index: usize| {
        outputs
            .get(index)
            .and_then(Output::text)
            .unwrap_or_default()
    };
    let value = match find(&said(0), key) {
        None => Value::Unset,
        Some(word) => {
            let odd = || Refusal::new(say("error-macos.nsmb").with("key", key));
            form.value(&word).ok_or_else(odd)?
        }
    };
    let remark = find(&said(1), key)
        .filter(|_| value == Value::Unset)
        .map(|word| say("knob-remark.own-file").with("word", word));
    let state = State::new(value, form.allowed()).unset(Value::Unset);
    Ok(State { remark, ..state }.fixed_if(fixed.map(say)))
}

pub(super) fn edit(key: &str, to: &Value) -> Command {
    let mut edit = command(&["sh", "-c", EDIT, "sh", FILE, key]);
    match to {
        Value::Unset => {}
        Value::Switch(on) => edit.argv.push(if *on { "yes" } else { "no" }.to_owned()),
        other => edit.argv.push(other.to_string()),
    }
    edit
}

/// Whether version 1 of the journal could hold these arguments.
pub(super) fn wrote(key: &str, argv: &[&str]) -> bool {
    matches!(argv, ["sh", "-c", script, "sh", FILE, own, ..]
        if is_script(script, &[EDIT]) && *own == key)
}

/// The last value of a key in the section for all servers.
fn find(said: &str, key: &str) -> Option<String> {
    let mut inside = false;
    let mut found = None;
    for line in said.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            inside = name.strip_suffix(']') == Some(SECTION);
        } else if let (true, Some((name, value))) = (inside, line.split_once('='))
            && name.trim() == key
        {
            found = Some(value.trim().to_owned());
        }
    }
    found
}
