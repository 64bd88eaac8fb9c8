//! The parameters of Samba that a lab file may set, each with what it takes.
//!
//! Samba runs as root, and many of its parameters name programs, files or modules (`root preexec`,
//! `panic action`, `include`). So only those of this list are taken, and a value is written from what
//! was understood of it, never copied.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use locale::{Message, say};
use toml::Spanned;
use toml::Value;

use super::checked_values::Source;
use crate::Error;
use crate::error::quoted;
use crate::topology::USER;

/// What a parameter takes.
enum Takes {
    /// `true` or `false`.
    Switch,
    /// A number in this range.
    Number(RangeInclusive<i64>),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Some of these words, with blanks between them.
    Words(&'static [&'static str]),
    /// Options of sockets, some of them with a number.
    SocketOptions,
    /// Addresses to serve, each with a speed and capabilities.
    Interfaces,
    /// How much is logged, by class.
    LogLevel,
}

use Takes::{Interfaces, LogLevel, Number, SocketOptions, Switch, Word, Words};

/// Largest byte counts and times that are taken.
const NUMBER_MAX: i64 = 0x7fff_ffff;
const PROTOCOLS: &[&str] = &["NT1", "SMB2_02", "SMB2_10", "SMB3_00", "SMB3_02", "SMB3_11"];
const ENCRYPT: &[&str] = &["default", "desired", "if_required", "off", "required"];
const SIGNING: &[&str] = &["auto", "default", "disabled", "mandatory"];
const SIGNING_ALGORITHMS: &[&str] = &["AES-128-CMAC", "AES-128-GMAC", "HMAC-SHA256"];
const CIPHERS: &[&str] = &["AES-128-CCM", "AES-128-GCM", "AES-256-CCM", "AES-256-GCM"];
/// Modules that neither run programs nor write outside the share.
const MODULES: &[&str] = &[
    "acl_xattr",
    "aio_fork",
    "aio_pthread",
    "btrfs",
    "catia",
    "crossrename",
    "fruit",
    "io_uring",
    "readahead",
    "recycle",
    "streams_xattr",
];
/// Socket options that are on or off.
const SOCKET_SWITCHES: &[&str] = &[
    "IPTOS_LOWDELAY",
    "IPTOS_THROUGHPUT",
    "SO_KEEPALIVE",
    "TCP_NODELAY",
    "TCP_QUICKACK",
];
/// Socket options with a number.
const SOCKET_NUMBERS: &[&str] = &[
    "SO_RCVBUF",
    "SO_SNDBUF",
    "TCP_KEEPCNT",
    "TCP_KEEPIDLE",
    "TCP_KEEPINTVL",
    "TCP_USER_TIMEOUT",
];
/// Classes of what Samba logs.
const LOG_CLASSES: &[&str] = &[
    "all",
    "auth",
    "auth_audit",
    "locking",
    "smb",
    "smb2",
    "smb2_credits",
    "vfs",
];

/// The parameters, as `smb.conf(5)` describes them.
const PARAMETERS: &[(&str, Takes)] = &[
    ("aio read size", Number(0..=NUMBER_MAX)),
    ("aio write size", Number(0..=NUMBER_MAX)),
    ("bind interfaces only", Switch),
    ("case sensitive", Word(&["auto", "no", "yes"])),
    ("deadtime", Number(0..=NUMBER_MAX)),
    ("durable handles", Switch),
    ("ea support", Switch),
    ("follow symlinks", Switch),
    ("getwd cache", Switch),
    ("guest account", Word(&[USER])),
    ("guest ok", Switch),
    ("interfaces", Interfaces),
    ("keepalive", Number(0..=NUMBER_MAX)),
    ("kernel oplocks", Switch),
    ("kernel share modes", Switch),
    ("large readwrite", Switch),
    ("level2 oplocks", Switch),
    ("log level", LogLevel),
    ("map to guest", Word(&["bad password", "bad user", "never"])),
    ("max connections", Number(0..=NUMBER_MAX)),
    ("max open files", Number(16..=1_000_000)),
    ("min receivefile size", Number(0..=NUMBER_MAX)),
    ("oplocks", Switch),
    ("posix locking", Switch),
    ("read list", Word(&[USER])),
    ("read only", Switch),
    ("server max protocol", Word(PROTOCOLS)),
    ("server min protocol", Word(PROTOCOLS)),
    ("server multi channel support", Switch),
    ("server signing", Word(SIGNING)),
    ("server smb encrypt", Word(ENCRYPT)),
    ("server smb3 encryption algorithms", Words(CIPHERS)),
    ("server smb3 signing algorithms", Words(SIGNING_ALGORITHMS)),
    ("smb encrypt", Word(ENCRYPT)),
    ("smb2 leases", Switch),
    ("smb2 max credits", Number(1..=65_535)),
    ("smb2 max read", Number(4096..=8_388_608)),
    ("smb2 max trans", Number(4096..=8_388_608)),
    ("smb2 max write", Number(4096..=8_388_608)),
    ("smbd async dosmode", Switch),
    ("socket options", SocketOptions),
    ("store dos attributes", Switch),
    ("strict allocate", Switch),
    ("strict locking", Word(&["auto", "no", "yes"])),
    ("strict sync", Switch),
    ("sync always", Switch),
    ("use sendfile", Switch),
    ("vfs objects", Words(MODULES)),
    ("write list", Word(&[USER])),
];

/// A parameter and its value as they stand in `smb.conf`.
pub(super) fn parameter(
    source: &Source<'_>,
    name: &Spanned<String>,
    value: &Spanned<Value>,
) -> Result<(String, String), Error> {
    let wanted = name.get_ref();
    let Some((known, takes)) = PARAMETERS.iter().find(|(known, _)| known == wanted) else {
        let problem = say("error-lab.unknown-parameter").with("given", format!("{wanted:?}"));
        return Err(source.refuse(name.span(), problem, hint_for(wanted)));
    };
    match takes.written(value.get_ref()) {
        Some(text) => Ok(((*known).to_owned(), text)),
        None => {
            let problem = say("error-lab.not-of-parameter").with("parameter", *known);
            Err(source.refuse(value.span(), problem, takes.hint()))
        }
    }
}

/// The parameters that have a word in common with what was written, or where the list is.
fn hint_for(wanted: &str) -> Message {
    let words: Vec<&str> = wanted.split(' ').filter(|word| word.len() > 2).collect();
    let alike = |name: &&str| name.split(' ').any(|word| words.contains(&word));
    let names: Vec<&str> = PARAMETERS
        .iter()
        .map(|(name, _)| *name)
        .filter(alike)
        .collect();
    match names.is_empty() {
        true => say("hint-lab.parameters"),
        false => say("hint-lab.parameters-alike").with("names", quoted(&names)),
    }
}

impl Takes {
    /// The value as Samba takes it; none where it is not one of this parameter's.
    fn written(&self, value: &Value) -> Option<String> {
        match (self, value) {
            (Switch, Value::Boolean(on)) => Some(if *on { "yes" } else { "no" }.to_owned()),
            (Switch, Value::String(text)) => one_of(&["no", "yes"], text),
            (Number(range), Value::Integer(number)) => {
                range.contains(number).then(|| number.to_string())
            }
            (Number(range), Value::String(text)) => {
                let number = text.parse().ok().filter(|number| range.contains(number))?;
                Some(number.to_string())
            }
            (Word(words), Value::String(text)) => one_of(words, text),
            (Words(words), Value::String(text)) => {
                each(text, |word| one_of(words, word.trim_end_matches(',')))
            }
            (SocketOptions, Value::String(text)) => each(text, socket_option),
            (Interfaces, Value::String(text)) => each(text, interface),
            (LogLevel, Value::Integer(level)) => log_level(&level.to_string()),
            (LogLevel, Value::String(text)) => each(text, log_level),
            _ => None,
        }
    }

    fn hint(&self) -> Message {
        match self {
            Switch => say("hint-lab.switch"),
            Number(range) => say("hint-lab.number")
                .with("least", range.start().to_string())
                .with("most", range.end().to_string()),
            Word(words) => say("hint-lab.word").with("words", quoted(words)),
            Words(words) => say("hint-lab.words").with("words", quoted(words)),
            SocketOptions => say("hint-lab.socket-options")
                .with("switches", quoted(SOCKET_SWITCHES))
                .with("numbers", quoted(SOCKET_NUMBERS)),
            Interfaces => say("hint-lab.interfaces"),
            LogLevel => say("hint-lab.log-level").with("classes", quoted(LOG_CLASSES)),
        }
    }
}

fn one_of(words: &[&str], text: &str) -> Option<String> {
    let found = words.iter().find(|word| **word == text);
    found.map(|word| (*word).to_owned())
}

/// Each word of a text as it was understood; none where one was not, or there is none.
fn each(text: &str, understood: impl Fn(&str) -> Option<String>) -> Option<String> {
    let words: Vec<String> = text
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(understood)
        .collect::<Option<_>>()?;
    (!words.is_empty()).then(|| words.join(" "))
}

fn socket_option(word: &str) -> Option<String> {
    match word.split_once('=') {
        None => one_of(SOCKET_SWITCHES, word),
        Some((name, number)) => {
            let name = one_of(SOCKET_NUMBERS, name)?;
            let number: u32 = number.parse().ok()?;
            Some(format!("{name}={number}"))
        }
    }
}

/// `"ADDRESS/PREFIX;speed=BITS,capability=RSS"`, in quotes, as `smb.conf(5)` has it.
fn interface(word: &str) -> Option<String> {
    let inside = word.strip_prefix('"')?.strip_suffix('"')?;
    let (address, facts) = inside.split_once(';').unwrap_or((inside, ""));
    let (ip, prefix) = address.split_once('/')?;
    let (ip, prefix): (IpAddr, u8) = (ip.parse().ok()?, prefix.parse().ok()?);
    let mut written = format!("\"{ip}/{prefix}");
    let mut separator = ';';
    for fact in facts.split(',').filter(|fact| !fact.is_empty()) {
        let (name, value) = match fact.split_once('=')? {
            ("speed", bits) => ("speed", bits.parse::<u64>().ok()?.to_string()),
            ("if_index", index) => ("if_index", index.parse::<u32>().ok()?.to_string()),
            ("capability", value) => ("capability", one_of(&["RDMA", "RSS"], value)?),
            _ => return None,
        };
        written.push(separator);
        written.push_str(&format!("{name}={value}"));
        separator = ',';
    }
    written.push('"');
    Some(written)
}

fn log_level(word: &str) -> Option<String> {
    let (class, level) = match word.split_once(':') {
        None => (None, word),
        Some((class, level)) => (Some(one_of(LOG_CLASSES, class)?), level),
    };
    let level: u8 = level.parse().ok().filter(|level| *level <= 10)?;
    Some(match class {
        None => level.to_string(),
        Some(class) => format!("{class}:{level}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, value: &str) -> Option<String> {
        let value: toml::Table = toml::from_str(&format!("value = {value}")).unwrap();
        let (_, takes) = PARAMETERS.iter().find(|(known, _)| *known == name).unwrap();
        takes.written(&value["value"])
    }

    #[test]
    fn a_value_is_written_from_what_was_understood_of_it() {
        for (name, value, expected) in [
            ("use sendfile", "true", "yes"),
            ("aio read size", "\"16384\"", "16384"),
            ("server signing", "\"mandatory\"", "mandatory"),
            (
                "server smb3 signing algorithms",
                "\"AES-128-GMAC, AES-128-CMAC\"",
                "AES-128-GMAC AES-128-CMAC",
            ),
            ("log level", "3", "3"),
            ("log level", "\"1 auth_audit:5\"", "1 auth_audit:5"),
            (
                "socket options",
                "\"TCP_NODELAY  SO_RCVBUF=65536\"",
                "TCP_NODELAY SO_RCVBUF=65536",
            ),
            (
                "interfaces",
                "'\"10.77.1.2/24;speed=1000000000,capability=RSS\" \"fd00::2/64\"'",
                "\"10.77.1.2/24;speed=1000000000,capability=RSS\" \"fd00::2/64\"",
            ),
        ] {
            assert_eq!(written(name, value).as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn what_is_not_understood_is_not_written() {
        for (name, value) in [
            ("use sendfile", "\"yes\\npanic action = /bin/sh\""),
            ("aio read size", "-1"),
            ("aio read size", "\"1 \""),
            ("aio read size", "1.5"),
            ("server signing", "\"Mandatory\""),
            ("vfs objects", "\"recycle /tmp/evil.so\""),
            ("vfs objects", "\"shell_snap\""),
            ("vfs objects", "\"\""),
            ("log level", "\"11\""),
            ("log level", "\"3@/etc/passwd\""),
            ("socket options", "\"SO_RCVBUF=-1\""),
            ("interfaces", "\"10.77.1.2/24\""),
            ("interfaces", "'\"%i/24\"'"),
            ("interfaces", "'\"10.77.1.2/24;speed=1,options=x\"'"),
            ("guest account", "\"root\""),
            ("read list", "\"@wheel\""),
        ] {
            assert_eq!(written(name, value), None, "{name} = {value}");
        }
    }

    #[test]
    fn the_page_of_lab_files_names_each_parameter_and_module() {
        let page = include_str!("../../../../docs/files.md");
        let names = PARAMETERS.iter().map(|(name, _)| name);
        for name in names.chain(MODULES) {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn the_list_is_sorted_and_names_each_parameter_once() {
        let names: Vec<&str> = PARAMETERS.iter().map(|(name, _)| *name).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(names, sorted);
    }
}
