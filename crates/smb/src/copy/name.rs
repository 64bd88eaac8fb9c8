//! Names: which of them the other side cannot hold, and what is done about those.

use locale::{Message, say};

/// Longest name of a file, in bytes on this machine and in UTF-16 units on a share.
const LENGTH_MAX: usize = 255;
/// Longest name that is taken from a server: four times what file systems have, in their longest letters.
const FROM_SERVER_BYTES_MAX: usize = 4096;
/// Letters that are shown of one that is none.
const SPELLED_MAX: usize = 256;
/// How much of a name is seen in the name of its part.
const PART_LETTERS: usize = 40;
/// No dot: a server hides names that begin with one, and the file would stay hidden.
const PART_BEGIN: char = '~';
const PART_ENDING: &str = ".linerate-part";
const RECORD_ENDING: &str = ".linerate-record";
/// Characters that cannot be in a name on a share, in the order of their stand-ins, which begin at
/// [`STAND_INS`]. Apple's and Linux's clients use the same ones.
const FORBIDDEN: [char; 8] = ['"', '*', ':', '<', '>', '?', '\\', '|'];
/// Stand-in of the control character 0; the others follow, and then those of [`FORBIDDEN`].
const STAND_INS: u32 = 0xF000;
const STAND_IN_FORBIDDEN: u32 = 0xF020;
const STAND_IN_BLANK_AT_END: char = '\u{f028}';
const STAND_IN_DOT_AT_END: char = '\u{f029}';
/// Names of devices, which Windows takes for them with any ending.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
const NUMBERED_DEVICES: [&str; 2] = ["COM", "LPT"];

/// What to do with names that a share cannot hold, as `a:b`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// Report the file as not copied.
    #[default]
    Refuse,
    /// Put a stand-in of Unicode's private area in the place of each letter that cannot be, as
    /// macOS and Linux do, and take it back on the way home.
    Map,
}

/// Whose names a share has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// Those of Windows: without some letters, and with capitals that are small letters too.
    Windows,
    /// Those of Unix, by the POSIX extensions: any but `/`.
    Posix,
}

/// The name that a file of this machine gets on a share, or why it cannot have one: that is what [`for_local`] makes its
/// own name of again.
pub(crate) fn from_here(name: &str, names: Names, rules: Rules) -> Result<String, Message> {
    let stand_in = |letter: &char| unmapped(*letter) != *letter;
    if names == Names::Map
        && let Some(letter) = name.chars().find(stand_in)
    {
        let (here, home) = (shown_letter(letter), shown_letter(unmapped(letter)));
        return Err(say("error-smb.name-comes-home")
            .with("here", here)
            .with("home", home));
    }
    for_share(name, names, rules)
}

/// The name that something gets on a share, or why it cannot have one.
pub(crate) fn for_share(name: &str, names: Names, rules: Rules) -> Result<String, Message> {
    if rules == Rules::Posix {
        // There is nothing that it cannot have, so that nothing stands in.
        return check_from_server(name, rules).map(|()| name.to_owned());
    }
    let name = match names {
        Names::Refuse => name.to_owned(),
        Names::Map => mapped(name),
    };
    check_as_windows(&name, Holder::Share, names)?;
    if name.encode_utf16().count() > LENGTH_MAX {
        return Err(say("error-smb.name-too-long").count("most", LENGTH_MAX));
    }
    Ok(name)
}

/// What a name is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    Share,
    ThisSystem,
}

/// Whether Windows could hold it, which makes ways to elsewhere of some names: `C:x` is in the
/// working folder of a drive, and `a.` is `a`.
fn check_as_windows(name: &str, holder: Holder, names: Names) -> Result<(), Message> {
    let (letter_refused, end_refused) = match holder {
        Holder::Share => (
            "error-smb.name-letter-on-share",
            "error-smb.name-end-on-share",
        ),
        Holder::ThisSystem => ("error-smb.name-letter-here", "error-smb.name-end-here"),
    };
    if let Some(letter) = name.chars().find(|letter| is_forbidden(*letter)) {
        return Err(say(letter_refused).with("letter", shown_letter(letter)));
    }
    if name.ends_with(['.', ' ']) {
        return Err(say(end_refused));
    }
    // There is no stand-in for these; whether it has them, the server knows.
    if is_device(name) && names == Names::Refuse {
        return Err(say("error-smb.name-device"));
    }
    Ok(())
}

/// The name that a file of a share gets on this machine. The server is not trusted: nothing comes
/// out that leads out of its folder.
pub(crate) fn for_local(name: &str, names: Names, rules: Rules) -> Result<String, Message> {
    check_from_server(name, rules)?;
    if !os::HAS_POSIX_FILES {
        // It can hold the stand-ins, and not what they stand for.
        check_as_windows(name, Holder::ThisSystem, Names::Refuse)?;
        return Ok(name.to_owned());
    }
    let name = match names {
        Names::Refuse => name.to_owned(),
        Names::Map => name.chars().map(unmapped).collect(),
    };
    // A stand-in that was taken back must not have made `..` or a way of it.
    check_from_server(&name, Rules::Posix)?;
    if name.len() > LENGTH_MAX {
        return Err(say("error-smb.name-bytes-here")
            .count("bytes", name.len())
            .count("most", LENGTH_MAX));
    }
    Ok(name)
}

/// Whether a name as a server gave it is one, and not a way to somewhere else.
pub(crate) fn check_from_server(name: &str, rules: Rules) -> Result<(), Message> {
    match name {
        "" => return Err(say("error-smb.name-empty")),
        "." | ".." => return Err(say("error-smb.name-leads-elsewhere")),
        _ => {}
    }
    if name.len() > FROM_SERVER_BYTES_MAX {
        return Err(say("error-smb.name-bytes-of-server").count("bytes", name.len()));
    }
    let parts_paths = |letter: &char| match letter {
        '/' | '\0' => true,
        '\\' => rules == Rules::Windows,
        _ => false,
    };
    if let Some(letter) = name.chars().find(parts_paths) {
        return Err(say("error-smb.name-letter-of-server").with("letter", shown_letter(letter)));
    }
    Ok(())
}

/// Whether a server may show it in place of a name that it takes for impossible, as `a:b`: short as names
/// of MS-DOS, with a hash behind a tilde. Files may really be called so.
pub(crate) fn may_be_stand_in(name: &str) -> bool {
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    let is_short = |text: &str, most: usize| {
        text.len() <= most
            && (text.bytes()).all(|it| {
                it.is_ascii_uppercase() || it.is_ascii_digit() || b"_-~!#$&@".contains(&it)
            })
    };
    // Six letters and one of a hash, or five and two.
    let hash = stem.get(5..).unwrap_or("");
    is_short(stem, 8) && is_short(ending, 3) && stem.len() == 8 && hash[..2].contains('~')
}

/// Two names with the same key are one file for a share.
pub(super) fn key(name: &str) -> String {
    name.chars().map(capital).collect()
}

/// Servers put one letter in the place of one, so that `ß` never becomes `SS`. Of letters whose
/// capital has several, the small one stands for both.
fn capital(letter: char) -> char {
    let (mut large, mut small) = (letter.to_uppercase(), letter.to_lowercase());
    let capital = match large.len() {
        1 => large.next(),
        _ => small.next(),
    };
    capital.unwrap_or(letter)
}

/// The name under which a file is written until it is complete. It is the same in each run, so that
/// the next one finds it, and nothing is left that nobody finds.
pub(crate) fn of_part(name: &str) -> String {
    beside(name, PART_ENDING)
}

/// The name of the record beside a part.
pub(crate) fn of_record(name: &str) -> String {
    beside(name, RECORD_ENDING)
}

/// Whether it is the name of a part or of a record, which are never copied.
pub(crate) fn is_ours(name: &str) -> bool {
    let stem = [PART_ENDING, RECORD_ENDING]
        .into_iter()
        .find_map(|ending| name.strip_suffix(ending));
    let hash = stem.and_then(|stem| stem.rsplit_once('.')).map(|it| it.1);
    let is_hash = |hash: &str| hash.len() == 8 && hash.bytes().all(|it| it.is_ascii_hexdigit());
    name.starts_with(PART_BEGIN) && hash.is_some_and(is_hash)
}

fn beside(name: &str, ending: &str) -> String {
    // Letters of four bytes are two units; what people see first is the begin of the name.
    let begin: String = name.chars().take(PART_LETTERS).collect();
    let hash = blake3::hash(key(name).as_bytes()).to_hex();
    format!("{PART_BEGIN}{begin}.{}{ending}", &hash[..8])
}

/// The path of something in a folder, which is empty for the top.
pub(crate) fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

/// A text that may come from a peer, with everything that could steer a terminal written out.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if record::sanitized_text::is_unsafe(letter) {
            shown.extend(letter.escape_unicode());
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// The same of a name that no path can hold: what parts a path, and what is no Unicode, is written
/// out too.
pub(crate) fn spelled_out(units: impl Iterator<Item = u16>) -> String {
    let mut shown = String::new();
    for (place, unit) in char::decode_utf16(units).enumerate() {
        if place == SPELLED_MAX {
            shown.push('\u{2026}');
            break;
        }
        match unit {
            Ok(letter) if ['/', '\\'].contains(&letter) => shown.extend(letter.escape_unicode()),
            Ok(letter) => shown.push_str(&printable(letter.encode_utf8(&mut [0; 4]))),
            Err(half) => shown.push_str(&format!("\\u{{{:x}}}", half.unpaired_surrogate())),
        }
    }
    shown
}

fn shown_letter(letter: char) -> String {
    if record::sanitized_text::is_unsafe(letter) {
        letter.escape_unicode().to_string()
    } else {
        format!("`{letter}`")
    }
}

fn is_forbidden(letter: char) -> bool {
    letter < ' ' || letter == '/' || FORBIDDEN.contains(&letter)
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    let stem = stem.to_ascii_uppercase();
    DEVICES.contains(&stem.as_str())
        || NUMBERED_DEVICES.iter().any(|device| {
            let number = stem.strip_prefix(device);
            number.is_some_and(|number| {
                matches!(
                    number.as_bytes(),
                    [b'1'..=b'9'] | [0xC2, 0xB9 | 0xB2 | 0xB3]
                )
            })
        })
}

fn mapped(name: &str) -> String {
    let count = name.chars().count();
    let map = |(place, letter): (usize, char)| match letter {
        ' ' if place + 1 == count => STAND_IN_BLANK_AT_END,
        '.' if place + 1 == count => STAND_IN_DOT_AT_END,
        '\x01'..' ' => stand_in(STAND_INS + u32::from(letter)),
        _ => match (0_u32..)
            .zip(FORBIDDEN)
            .find(|(_, forbidden)| *forbidden == letter)
        {
            Some((number, _)) => stand_in(STAND_IN_FORBIDDEN + number),
            None => letter,
        },
    };
    name.chars().enumerate().map(map).collect()
}

fn stand_in(number: u32) -> char {
    char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn unmapped(letter: char) -> char {
    match letter {
        STAND_IN_BLANK_AT_END => return ' ',
        STAND_IN_DOT_AT_END => return '.',
        _ => {}
    }
    let number = u32::from(letter);
    let forbidden = number.checked_sub(STAND_IN_FORBIDDEN);
    let forbidden = forbidden.and_then(|number| FORBIDDEN.get(usize::try_from(number).ok()?));
    match number.checked_sub(STAND_INS) {
        Some(control @ 1..0x20) => char::from_u32(control).unwrap_or(letter),
        _ => forbidden.copied().unwrap_or(letter),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use locale::Language;
    use smb_proto::error::Operation;
    use smb_proto::{Error as ProtocolError, NtStatus};

    use super::*;
    use crate::error::Error;

    #[test]
    fn stand_ins_of_servers_look_like_names_of_dos() {
        for name in ["A4WTMA~A", "BNDQOI~B.TXT", "ABCDE~XY", "PROGRA~1"] {
            assert!(may_be_stand_in(name), "{name}");
        }
        for name in [
            "a4wtma~a",
            "README.TXT",
            "A~",
            "LONGNAME~1",
            "A~1.JPEG",
            "~A写",
        ] {
            assert!(!may_be_stand_in(name), "{name}");
        }
    }

    #[test]
    fn names_that_a_share_cannot_hold_are_refused_with_the_reason() {
        for (name, says) in [
            ("a:b", "`:`"),
            ("what?", "`?`"),
            ("a\\b", "`\\`"),
            ("tab\there", "\\u{9}"),
            ("ends.", "dot"),
            ("ends ", "blank"),
            ("nul", "device"),
            ("Com7.txt", "device"),
            ("aux.tar.gz", "device"),
        ] {
            let why = for_share(name, Names::Refuse, Rules::Windows).expect_err(name);
            let why = Language::English.say(&why);
            assert!(why.contains(says), "{name}: {why}");
        }
        let long = "ä".repeat(255);
        assert_eq!(
            for_share(&long, Names::Refuse, Rules::Windows).as_ref(),
            Ok(&long)
        );
        assert!(for_share(&"a".repeat(256), Names::Refuse, Rules::Windows).is_err());
        for fine in ["console", "com10", ".hidden", "a b.c", "com0", "𝄞"] {
            assert_eq!(
                for_share(fine, Names::Refuse, Rules::Windows).as_deref(),
                Ok(fine)
            );
        }
    }

    #[test]
    fn mapped_names_come_back_as_they_were() {
        for name in [
            "a:b",
            "\"*:<>?|",
            "ends.",
            "ends ",
            "\u{1b}[31m",
            "back\\slash",
        ] {
            let there = from_here(name, Names::Map, Rules::Windows).expect(name);
            assert!(there.chars().all(|letter| !is_forbidden(letter)), "{there}");
            match for_local(&there, Names::Map, Rules::Windows) {
                Ok(back) => assert_eq!(back, name),
                Err(why) => panic!("{name}: {why:?}"),
            }
        }
        // What stands for another letter already would come home as that one.
        for name in ["a\u{f022}b", "\u{f001}", "ends\u{f029}"] {
            for rules in [Rules::Windows, Rules::Posix] {
                assert!(from_here(name, Names::Map, rules).is_err());
                assert_eq!(from_here(name, Names::Refuse, rules).as_deref(), Ok(name));
            }
            // From another share it is what a copy there has mapped before.
            let there = for_share(name, Names::Map, Rules::Windows);
            assert_eq!(there.as_deref(), Ok(name));
        }
        // No stand-in is taken for the way to another folder.
        assert!(for_local("..", Names::Map, Rules::Windows).is_err());
        assert_eq!(
            for_local("\u{f02f}", Names::Map, Rules::Windows).as_deref(),
            Ok("\u{f02f}")
        );
    }

    #[test]
    fn a_share_of_unix_has_every_name_of_unix_as_it_is() {
        for name in [
            "a:b",
            "what?",
            "CON",
            "ends.",
            "ends ",
            "a\\b",
            "tab\there",
            "\u{f022}",
            "x\\..\\y",
        ] {
            for names in [Names::Refuse, Names::Map] {
                assert_eq!(for_share(name, names, Rules::Posix).as_deref(), Ok(name));
            }
            let back = for_local(name, Names::Refuse, Rules::Posix);
            assert!(
                !os::HAS_POSIX_FILES || back.as_deref() == Ok(name),
                "{back:?}"
            );
        }
        for hostile in ["", ".", "..", "../etc", "a/b", "a\0b"] {
            for names in [Names::Refuse, Names::Map] {
                assert!(for_local(hostile, names, Rules::Posix).is_err());
                assert!(for_share(hostile, names, Rules::Posix).is_err());
            }
        }
        // What was mapped when the share was one of Windows still comes home.
        let home = for_local("a\u{f022}b", Names::Map, Rules::Posix);
        assert!(
            !os::HAS_POSIX_FILES || home.as_deref() == Ok("a:b"),
            "{home:?}"
        );
        for hostile in [".\u{f029}", "\u{f029}\u{f029}"] {
            assert!(for_local(hostile, Names::Map, Rules::Posix).is_err());
        }
    }

    #[test]
    fn what_no_path_can_hold_is_spelled_out() {
        for (name, shown) in [
            ("a/b\\c", "a\\u{2f}b\\u{5c}c"),
            ("\0\u{1b}[31mä𝄞", "\\u{0}\\u{1b}[31mä𝄞"),
        ] {
            assert_eq!(spelled_out(name.encode_utf16()), shown);
        }
        let halves = [0xD800, u16::from(b'a'), 0xDC00];
        assert_eq!(spelled_out(halves.into_iter()), "\\u{d800}a\\u{dc00}");
    }

    #[test]
    fn what_leads_elsewhere_is_no_name() {
        for hostile in ["", ".", "..", "../etc", "a/b", "a\\b", "a\0b"] {
            assert!(
                for_local(hostile, Names::Refuse, Rules::Windows).is_err(),
                "{hostile:?}"
            );
            assert!(
                for_local(hostile, Names::Map, Rules::Windows).is_err(),
                "{hostile:?}"
            );
        }
        // A trailing dot that was mapped becomes one again, and must not make `..`.
        for hostile in [".\u{f029}", "\u{f029}", "\u{f029}\u{f029}"] {
            assert!(
                for_local(hostile, Names::Map, Rules::Windows).is_err(),
                "{hostile:?}"
            );
        }
        assert!(for_local(&"ä".repeat(128), Names::Refuse, Rules::Windows).is_err());
    }

    #[test]
    fn what_leads_elsewhere_on_windows_is_no_name_there() {
        for hostile in [
            "C:x",
            "x:y",
            "a.",
            "..",
            "a ",
            "NUL",
            "aux.txt",
            "conin$",
            "COM\u{b9}.log",
            "a?",
        ] {
            let refused = check_as_windows(hostile, Holder::ThisSystem, Names::Refuse);
            assert!(refused.is_err(), "{hostile:?}");
            assert!(os::HAS_POSIX_FILES || for_local(hostile, Names::Map, Rules::Windows).is_err());
        }
        assert!(check_as_windows("a.b c", Holder::ThisSystem, Names::Refuse).is_ok());
    }

    #[test]
    fn parts_are_found_again_and_fit_every_file_system() {
        let part = of_part(&"ä".repeat(200));
        assert!(part.len() < LENGTH_MAX && part.starts_with("~ää"), "{part}");
        assert!(for_share(&part, Names::Refuse, Rules::Windows).is_ok());
        assert_eq!(part, of_part(&"ä".repeat(200)));
        assert_ne!(part, of_part(&"ä".repeat(201)));
        assert!(is_ours(&part) && is_ours(&of_record("a")));
        for other in [
            "a.linerate-part",
            "~a",
            "~a.linerate-part",
            "~a.12345.linerate-part",
        ] {
            assert!(!is_ours(other), "{other}");
        }
    }

    #[test]
    fn a_name_of_a_server_is_one_line_of_an_error() {
        let name = "a\nb: 3 files\nerror: fake\u{202e}\u{2069}\u{200b}\u{1b}[31m";
        for status in [
            NtStatus::OBJECT_NAME_NOT_FOUND,
            NtStatus::OBJECT_NAME_COLLISION,
            NtStatus::ACCESS_DENIED,
            NtStatus::DISK_FULL,
            NtStatus::SHARING_VIOLATION,
        ] {
            let told = Error::of_request(
                ProtocolError::refused(Operation::Open.of(name), status),
                "server",
                name,
            )
            .to_string();
            assert!(
                !told.contains(record::sanitized_text::is_unsafe),
                "{told:?}"
            );
            assert!(told.contains("a\\u{a}b: 3 files"), "{told}");
        }
        let here = Error::LocalFile {
            action: say("error-smb.cannot-read"),
            path: name.into(),
            source: io::Error::other("a test"),
        };
        assert!(
            !here.to_string().contains(record::sanitized_text::is_unsafe),
            "{here}"
        );
    }

    #[test]
    fn nothing_that_steers_a_terminal_is_shown() {
        assert_eq!(printable("plain ä"), "plain ä");
        assert_eq!(printable("\u{1b}[2J\u{9b}1m"), "\\u{1b}[2J\\u{9b}1m");
        assert_eq!(printable("exe\u{202e}gpj"), "exe\\u{202e}gpj");
        assert_eq!(
            printable("a\nb\u{200b}\u{2069}"),
            "a\\u{a}b\\u{200b}\\u{2069}"
        );
    }

    #[test]
    fn names_that_differ_in_case_only_have_one_key() {
        for (one, other) in [("Straße.TXT", "straße.txt"), ("É", "é"), ("ᾼ", "ᾳ")] {
            assert_eq!(key(one), key(other), "{one}");
        }
        for (one, other) in [("a", "b"), ("straße", "strasse"), ("ﬁn", "fin")] {
            assert_ne!(key(one), key(other), "{one}");
        }
    }
}
