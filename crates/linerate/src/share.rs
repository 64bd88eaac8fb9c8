//! Shares as people type them.

use locale::say;
use record::ShareAddress;

use crate::failure::{CommandError, Kind};

/// A share with the user that was typed before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedShare {
    /// Where.
    pub address: ShareAddress,
    /// `user` or `DOMAIN;user` before the `@`.
    pub user: Option<String>,
}

/// A mount of the share that is measured.
#[derive(Clone, Debug)]
pub struct Mounted {
    /// The folder that is measured: that of the mount, or one below it.
    pub folder: String,
    /// The mount.
    pub mount: record::ShareMount,
}

/// Of SMB over TCP.
pub const PORT_DEFAULT: u16 = 445;

/// What Japanese keyboards and fonts have in the place of the backslash.
const YEN: [char; 2] = ['\u{a5}', '\u{ffe5}'];

/// Whether a word of the command line means a share rather than a file or a host.
pub fn is_share_address(text: &str) -> bool {
    text.starts_with("smb://") || text.starts_with("//") || is_unc(text)
}

/// Whether it begins as `\\host\share` does, also as it looks in Japan.
fn is_unc(text: &str) -> bool {
    let mut letters = text.chars();
    let slash = letters.next();
    slash.is_some_and(|slash| slash == '\\' || YEN.contains(&slash)) && letters.next() == slash
}

/// Whether what was typed ends as the path of a folder.
pub fn ends_as_folder(typed: &str) -> bool {
    let last = typed.chars().next_back();
    match is_share_address(typed) {
        true => typed.ends_with(['/', '\\']) || (typed.starts_with(YEN) && typed.ends_with(YEN)),
        false => last.is_some_and(std::path::is_separator),
    }
}

/// Reads `smb://[user@]host[:port]/share[/path]`, `//host/share`, `\\host\share` and `¥¥host¥share`.
pub fn parse(text: &str) -> Result<TypedShare, CommandError> {
    let place = parse_place(text)?;
    if place.address.share.is_empty() {
        return Err(wrong(text, "error-copy.address-without-share"));
    }
    Ok(place)
}

/// The error of what is no share; `why` is the id of what is wrong with it.
fn wrong(text: &str, why: &'static str) -> CommandError {
    let sentence = say("error-copy.not-a-share")
        .with("text", hide_password(text))
        .with("why", say(why));
    CommandError::new(Kind::Usage, sentence).hint(say("hint-copy.share-as"))
}

/// The same, or a server alone, whose share is empty.
pub fn parse_place(text: &str) -> Result<TypedShare, CommandError> {
    let wrong = |why| wrong(text, why);
    let plain = with_slashes(text);
    let rest = plain
        .strip_prefix("smb://")
        .or_else(|| plain.strip_prefix("//"))
        .ok_or_else(|| wrong("error-copy.address-begin"))?;
    if rest.chars().any(char::is_control) {
        return Err(wrong("error-copy.address-control"));
    }
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    if user.is_some_and(|user| user.contains(':')) {
        return Err(wrong("error-copy.address-password").hint(say("hint-copy.password")));
    }
    let (server, port) = split_port(host).ok_or_else(|| wrong("error-copy.address-port"))?;
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let share = parts.next().unwrap_or_default();
    let parts: Vec<&str> = parts.collect();
    if server.is_empty() || user == Some("") {
        return Err(wrong("error-copy.address-empty"));
    }
    if parts
        .iter()
        .chain([&share])
        .any(|&part| part == "." || part == "..")
    {
        return Err(wrong("error-copy.address-dots"));
    }
    Ok(TypedShare {
        address: ShareAddress {
            server: server.to_owned(),
            port,
            share: share.to_owned(),
            path: parts.join("/"),
        },
        user: user.map(str::to_owned),
    })
}

/// The same with slashes only, but for one: before the `@` of `smb://`, `DOMAIN\user` is how Windows writes
/// `DOMAIN;user`.
fn with_slashes(text: &str) -> String {
    let slashed = |text: &str| text.replace('\\', "/");
    if text.starts_with(YEN) {
        return slashed(&text.replace(YEN, "/"));
    }
    let login = text
        .strip_prefix("smb://")
        .and_then(|rest| rest.split_once('@'))
        .filter(|(user, _)| !user.contains('/'))
        .and_then(|(user, rest)| Some((user.split_once('\\')?, rest)));
    match login {
        Some(((domain, user), rest)) if !user.contains('\\') => {
            format!("smb://{domain};{user}@{}", slashed(rest))
        }
        _ => slashed(text),
    }
}

/// Splits `host`, `host:port`, `[v6]`, `[v6]:port`.
pub fn split_port(host: &str) -> Option<(&str, u16)> {
    if let Some(rest) = host.strip_prefix('[') {
        let (address, rest) = rest.split_once(']')?;
        let port = rest.strip_prefix(':');
        return match (rest, port) {
            ("", _) => Some((address, PORT_DEFAULT)),
            (_, Some(port)) => Some((address, parse_port(port)?)),
            _ => None,
        };
    }
    match host.split_once(':') {
        // More than one colon and no brackets: a bare IPv6 address.
        Some((_, rest)) if rest.contains(':') => Some((host, PORT_DEFAULT)),
        Some((name, port)) => Some((name, parse_port(port)?)),
        None => Some((host, PORT_DEFAULT)),
    }
}

fn parse_port(text: &str) -> Option<u16> {
    text.parse().ok().filter(|&port| port != 0)
}

/// A password typed into a share is not repeated in an error.
fn hide_password(text: &str) -> String {
    let Some(end) = text.rfind('@') else {
        return text.to_owned();
    };
    let begin = text.find("//").map_or(0, |at| at + 2);
    match text.get(begin..end).and_then(|user| user.split_once(':')) {
        Some((user, _)) => format!("{}{user}:***{}", &text[..begin], &text[end..]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> (String, u16, String, String, Option<String>) {
        let TypedShare { address, user } = parse(text).unwrap_or_else(|error| panic!("{error:?}"));
        (
            address.server,
            address.port,
            address.share,
            address.path,
            user,
        )
    }

    #[test]
    fn the_sign_of_the_yen_is_a_backslash_where_an_address_begins_with_it() {
        for typed in [r"\\nas\media\a b", "¥¥nas¥media¥a b", "￥￥nas￥media￥a b"] {
            let plain = |text: &str| text.to_owned();
            let found = address(typed);
            assert_eq!(
                (found.0, found.2, found.3),
                (plain("nas"), plain("media"), plain("a b"))
            );
        }
        // Elsewhere it is part of a name.
        assert_eq!(address(r"\\nas\media\￥100").3, "￥100");
        assert_eq!(address("smb://nas/media/¥100").3, "¥100");
        for (typed, is_folder) in [
            ("¥¥nas¥media¥new¥", true),
            (r"\\nas\media\new\", true),
            (r"\\nas\media\￥", false),
            ("folder/", true),
            ("¥", false),
        ] {
            assert_eq!(ends_as_folder(typed), is_folder, "{typed}");
        }
    }

    #[test]
    fn every_way_to_write_a_share_is_read() {
        let plain = (
            "nas".to_owned(),
            445,
            "media".to_owned(),
            String::new(),
            None,
        );
        assert_eq!(address("smb://nas/media"), plain);
        assert_eq!(address("//nas/media/"), plain);
        assert_eq!(address(r"\\nas\media"), plain);
        assert_eq!(
            address("smb://WORK;ann@[fe80::1]:4450/media//a/b"),
            (
                "fe80::1".into(),
                4450,
                "media".into(),
                "a/b".into(),
                Some("WORK;ann".into())
            )
        );
        assert_eq!(address("//2001:db8::2/s").0, "2001:db8::2");
        let of_domain = address("smb://WORK;ann@nas/media");
        assert_eq!(of_domain.4.as_deref(), Some("WORK;ann"));
        assert_eq!(address(r"smb://WORK\ann@nas/media"), of_domain);
        let odd = address(r"\\nas\media\ann@home");
        assert_eq!((odd.0.as_str(), odd.3.as_str()), ("nas", "ann@home"));
    }

    #[test]
    fn a_share_is_written_as_it_is_read() {
        for text in [
            "smb://nas/media",
            "smb://WORK;ann@[fe80::1]:4450/media/a/b",
            "smb://ann@[2001:db8::2]/s",
        ] {
            let TypedShare { address, user } =
                parse(text).unwrap_or_else(|error| panic!("{error:?}"));
            assert_eq!(
                record::with_user(&address.to_string(), user.as_deref()),
                text
            );
        }
        assert_eq!(record::with_user("tcp://nas", Some("ann")), "tcp://nas");
    }

    #[test]
    fn what_is_no_share_is_refused_and_a_password_is_not_repeated() {
        for text in [
            "nas/media",
            "smb://nas",
            "smb:///x",
            "smb://nas:0/x",
            "smb://nas:99999/x",
            "smb://@nas/x",
            "smb://nas/",
            "smb://nas/x/../y",
            "smb://na\x1bs/x",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        let error = parse("smb://ann:secret@nas/media").expect_err("a password in a share");
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    }
}
