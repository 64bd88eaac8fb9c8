//! What a report for strangers leaves out: whatever may name something of this machine.

use host::exec::Output;
use locale::{Argument, Message, said};
use record::Target;

use super::PROGRAMS;

/// What stands for a name.
const STAND_IN: &str = "...";
/// What may be quoted of a reason: programs, packages and files that have these names everywhere.
const KNOWN_WORDS: [&str; 7] = [
    "coreutils",
    "iproute2",
    "ksmbd",
    "procps",
    "samba",
    "smb.conf",
    "sudo",
];

/// The first word with a number, a dot and a number, that is no path and no address: what else stands in such a line,
/// or below it, may be a name.
pub(super) fn version_in(output: &Output) -> Option<String> {
    let all = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    let first = all.iter().find_map(|text| text.lines().next())?;
    let is_version = |word: &&str| {
        let bytes = word.as_bytes();
        let mut threes = bytes.windows(3);
        threes.any(|at| at[1] == b'.' && at[0].is_ascii_digit() && at[2].is_ascii_digit())
    };
    let mut words = first.split([' ', ',', ';', '(', ')']);
    let version = words.find(|word| is_version(word) && !is_name(word))?;
    Some(version.to_owned())
}

/// A reason without names, in the language that is spoken. What it is given is cleared before it is said, because not every
/// language parts words by blanks.
pub(super) fn said_nameless(reason: &Message, target: &Target) -> String {
    nameless(&said(&cleared(reason, target)), target)
}

fn cleared(message: &Message, target: &Target) -> Message {
    let each = |(name, of): &(&'static str, Argument)| (*name, cleared_argument(of, target));
    Message {
        id: message.id,
        arguments: message.arguments.iter().map(each).collect(),
    }
}

fn cleared_argument(argument: &Argument, target: &Target) -> Argument {
    match argument {
        Argument::Text(text) => nameless(text, target).into(),
        Argument::Names(names) => {
            let names = names.iter().map(|name| nameless(name, target));
            Argument::Names(names.collect())
        }
        Argument::List(things) => {
            let things = things.iter().map(|thing| cleared_argument(thing, target));
            Argument::List(things.collect())
        }
        Argument::Message(message) => cleared(message, target).into(),
        Argument::Series(parts) => {
            let parts = parts.iter().map(|part| cleared(part, target));
            Argument::Series(parts.collect())
        }
        Argument::Clauses(clauses) => {
            let clauses = clauses.iter().map(|clause| cleared(clause, target));
            Argument::Clauses(clauses.collect())
        }
        Argument::Rate(_)
        | Argument::Bits(_)
        | Argument::Share(_)
        | Argument::Ratio(_)
        | Argument::Seconds(_)
        | Argument::Count(_)
        | Argument::Bytes(_) => argument.clone(),
    }
}

/// A reason of which nothing is left that may name anything of this machine: not what is quoted in it, unless it has that
/// name everywhere, nor what a program said, which stands behind a colon.
fn nameless(reason: &str, target: &Target) -> String {
    let reason = without_names(reason, target);
    let mut cleared = String::new();
    for (at, part) in reason.split('`').enumerate() {
        let is_quoted = at % 2 == 1;
        let is_known = KNOWN_WORDS.contains(&part) || PROGRAMS.iter().any(|it| it.0 == part);
        if is_quoted {
            let word = if is_known { part } else { STAND_IN };
            cleared += &format!("`{word}`");
            continue;
        }
        let end = part.find(": ");
        cleared += end.map_or(part, |end| &part[..end]);
        if end.is_some() {
            break;
        }
    }
    let words = cleared.split(' ');
    let words = words.map(|word| if is_name(word) { STAND_IN } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a word is a path, an address or a user's name at a host.
fn is_name(word: &str) -> bool {
    word.contains(['/', '\\', '@'])
        || word.starts_with(['\'', '"'])
        || word.parse::<std::net::IpAddr>().is_ok()
}

/// A reason that does not say of which interface, share or mount it is one: programs that are quoted in it may name it too.
fn without_names(reason: &str, target: &Target) -> String {
    let name = match target {
        Target::Host => return reason.to_owned(),
        Target::Nic(name) | Target::Share(name) | Target::Mount(name) => name,
    };
    let is_of_name = |letter: char| letter.is_alphanumeric();
    let mut cleared = String::new();
    let mut rest = reason;
    while let Some(at) = rest.find(name.as_str()).filter(|_| !name.is_empty()) {
        let (before, behind) = (&rest[..at], &rest[at + name.len()..]);
        let is_part = before
            .chars()
            .next_back()
            .or(cleared.chars().next_back())
            .is_some_and(is_of_name)
            || behind.chars().next().is_some_and(is_of_name);
        cleared += before;
        cleared += if is_part { name } else { STAND_IN };
        rest = behind;
    }
    cleared + rest
}

#[cfg(test)]
mod tests {
    use locale::{Language, say};

    use super::*;

    #[test]
    fn of_what_a_program_says_only_its_version_is_kept() {
        for (said, version) in [
            (
                "ip utility, iproute2-6.1.0, libbpf 1.1.0\n",
                Some("iproute2-6.1.0"),
            ),
            (
                "iperf 3.12 (cJSON 1.7.15)\nLinux studio-nas 6.1.0\n",
                Some("3.12"),
            ),
            (
                "OpenSSH_9.2p1 Debian-2+deb12u3, OpenSSL 3.0.15\n",
                Some("OpenSSH_9.2p1"),
            ),
            ("Version 4.17.12-Debian\n", Some("4.17.12-Debian")),
            ("studio-nas: no\nversion 1.0\n", None),
            (
                "ERROR: ld.so: object '/home/ann.smith/libhook-1.2.so'\n",
                None,
            ),
            ("listens on 192.0.2.7 as 4.17\n", Some("4.17")),
            ("", None),
        ] {
            let output = Output {
                status: 0,
                stdout: said.into(),
                stderr: Vec::new(),
            };
            assert_eq!(version_in(&output).as_deref(), version, "{said}");
        }
    }

    #[test]
    fn what_a_reason_was_given_is_named_in_no_language() {
        let nic = say("error-change.no-such-nic")
            .with("nic", "lan1")
            .with("host", "ann@studio-nas");
        let reason = say("error-change.one-more")
            .with("first", "192.0.2.7")
            .with("next", nic);
        for language in Language::ALL {
            let text = language.within(|| said_nameless(&reason, &Target::Nic("lan1".into())));
            assert_eq!(text.matches(STAND_IN).count(), 3, "{text}");
            for name in ["192.0.2.7", "lan1", "studio-nas"] {
                assert!(!text.contains(name), "{text}");
            }
        }
    }

    #[test]
    fn a_reason_does_not_name_what_it_is_about() {
        let nic = Target::Nic("lan1".into());
        for (reason, cleared) in [
            (
                "there is no interface `lan1`",
                "there is no interface `...`",
            ),
            (
                "cat: /sys/class/net/lan1/ifindex: no",
                "cat: /sys/class/net/.../ifindex: no",
            ),
            ("lan1", "..."),
            // Other words stay as they are.
            ("lan10 and vlan1", "lan10 and vlan1"),
        ] {
            assert_eq!(without_names(reason, &nic), cleared);
        }
        for (reason, cleared) in [
            (
                "`testparm` refuses `smb.conf`: Unable to copy service - source not found: photos-of-ann",
                "`testparm` refuses `smb.conf`",
            ),
            (
                "Samba's configuration is in `/home/ann.smith/smb.conf`, which others can change",
                "Samba's configuration is in `...`, which others can change",
            ),
            (
                "ERROR: ld.so: object '/home/ann.smith/libhook-1.2.so'",
                "ERROR",
            ),
            (
                "cannot ask ann@studio-nas at 192.0.2.7",
                "cannot ask ... at ...",
            ),
            ("`studio-nas", "`...`"),
            (
                "`procps` is not installed there",
                "`procps` is not installed there",
            ),
        ] {
            assert_eq!(nameless(reason, &Target::Host), cleared);
        }
        assert_eq!(without_names("lan1", &Target::Host), "lan1");
        assert_eq!(without_names("no", &Target::Share(String::new())), "no");
    }
}
