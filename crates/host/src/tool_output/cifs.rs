//! Mounted shares of Linux's own SMB client, and what it tells of its sessions.
//!
//! The form of `/proc/fs/cifs/DebugData` is that of `fs/smb/client/cifs_debug.c` of the kernel, which differs between
//! versions: what is not understood is not known.

use record::{BitsPerSecond, MountInterface, ShareMount};

/// The kinds of file systems that are SMB shares.
pub(crate) const KINDS: [&str; 2] = ["cifs", "smb3"];
/// Interfaces of a server that are kept; the kernel asks for few.
const INTERFACES_MAX: usize = 64;

/// A line of `/proc/mounts` that is an SMB share.
pub(crate) struct MountRow<'a> {
    pub(crate) source: String,
    pub(crate) folder: String,
    pub(crate) options: &'a str,
}

/// Every SMB share in `/proc/mounts`; what was mounted last, which lies above the others, is last.
pub(crate) fn mounts(said: &str) -> impl Iterator<Item = MountRow<'_>> {
    said.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (source, folder, kind, options) =
            (words.next()?, words.next()?, words.next()?, words.next()?);
        KINDS.contains(&kind).then(|| MountRow {
            source: unescaped(source),
            folder: unescaped(folder),
            options,
        })
    })
}

/// The folder of a line of `/proc/mounts`, whatever is mounted there.
pub(crate) fn folder(line: &str) -> Option<String> {
    line.split(' ').nth(1).map(unescaped)
}

/// The options of a line as they were typed, but for commas within a value, which stay `\054`: they would part it.
pub(crate) fn options(said: &str) -> String {
    let parts = said.split("\\054").map(unescaped);
    parts.collect::<Vec<String>>().join("\\054")
}

/// The kernel writes blanks and backslashes as three octal digits behind a backslash.
pub(crate) fn unescaped(word: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = word.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind.get(..3).filter(|_| first == b'\\');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A session of the client with a server.
#[derive(Clone, Debug, Default, PartialEq)]
struct Session {
    channels: u32,
    signed: bool,
    encrypted: bool,
    interfaces: Vec<MountInterface>,
    /// What was said of an interface whose address has not come yet.
    speed: Option<BitsPerSecond>,
    /// As `\\server\share`, each with whether it is encrypted on its own account.
    shares: Vec<(String, bool)>,
}

/// Adds to a mount what `DebugData` says of its session. Where several sessions have that share and differ, it is not
/// known which is the mount's.
pub(crate) fn add_session(mount: &mut ShareMount, debug_data: &str) {
    let Some((server, share, _)) = mount.place() else {
        return;
    };
    let wanted = format!(r"\\{server}\{share}");
    let is_same = |(name, _): &&(String, bool)| name.eq_ignore_ascii_case(&wanted);
    let mut of_share: Vec<Session> = sessions(debug_data)
        .into_iter()
        .filter_map(|session| {
            let (_, encrypted) = session.shares.iter().find(is_same)?;
            Some(Session {
                encrypted: session.encrypted || *encrypted,
                shares: Vec::new(),
                ..session
            })
        })
        .collect();
    of_share.dedup();
    let [session] = of_share.as_mut_slice() else {
        return;
    };
    mount.channels = Some(session.channels);
    mount.signed = Some(session.signed);
    mount.encrypted = Some(session.encrypted);
    mount.interfaces = std::mem::take(&mut session.interfaces);
}

fn sessions(debug_data: &str) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    // What the connection says that all sessions of a server share.
    let mut is_server_signed = false;
    let mut is_in_session = false;
    for line in debug_data.lines().map(str::trim) {
        let entry = numbered(line).unwrap_or(line);
        if entry.starts_with("ConnectionId: ") {
            (is_server_signed, is_in_session) = (false, false);
            continue;
        }
        if entry.starts_with("Address: ") {
            is_in_session = true;
            sessions.push(Session {
                channels: 1,
                signed: is_server_signed,
                ..Session::default()
            });
            continue;
        }
        if !is_in_session {
            is_server_signed |= line.starts_with("Number of credits:") && has_word(line, "signed");
            continue;
        }
        if let Some(session) = sessions.last_mut() {
            add_line(session, line, entry);
        }
    }
    sessions
}

fn has_word(line: &str, word: &str) -> bool {
    line.split_whitespace().any(|it| it == word)
}

/// Adds a line below a session's first one.
fn add_line(session: &mut Session, line: &str, entry: &str) {
    if line.contains("SessionId: ") {
        session.signed |= has_word(line, "signed");
        // Newer kernels add the cipher: `encrypted(gcm256)`.
        let mut words = line.split_whitespace();
        session.encrypted |= words.any(|it| it == "encrypted" || it.starts_with("encrypted("));
    } else if let Some(count) = line.strip_prefix("Extra Channels: ") {
        let extra = count.trim().parse::<u32>().unwrap_or_default();
        session.channels = extra.saturating_add(1);
    } else if entry.starts_with(r"\\") {
        let name = entry.split(" Mounts: ").next().unwrap_or_default();
        session.shares.push((name.to_owned(), false));
    } else if has_word(line, "Encrypted") {
        // Of the share whose lines these are.
        if let Some((_, encrypted)) = session.shares.last_mut() {
            *encrypted = true;
        }
    } else if let Some(speed) = entry.strip_prefix("Speed: ") {
        session.speed = bits_per_second(speed);
    } else if let Some((kind, address)) = line.split_once(": ")
        && ["IPv4", "IPv6"].contains(&kind)
    {
        let speed = session.speed.take();
        if let Ok(address) = address.trim().parse()
            && session.interfaces.len() < INTERFACES_MAX
        {
            session.interfaces.push(MountInterface {
                address,
                speed,
                channels: None,
            });
        }
    } else if let Some(count) = line.strip_prefix("Allocated channels: ")
        && let Some(last) = session.interfaces.last_mut()
    {
        last.channels = count.trim().parse().ok();
    }
}

/// What stands behind the number of an entry: `1) `.
fn numbered(line: &str) -> Option<&str> {
    let (number, rest) = line.split_once(')')?;
    number.parse::<u32>().ok()?;
    Some(rest.trim_start())
}

/// `1000000000 bps`, or in newer kernels `1Gbps`.
fn bits_per_second(text: &str) -> Option<BitsPerSecond> {
    let text = text.trim().strip_suffix("bps")?.trim_end();
    let units = [('G', 1_000_000_000), ('M', 1_000_000), ('K', 1000)];
    let unit = units.into_iter().find(|(unit, _)| text.ends_with(*unit));
    let (digits, unit) = match unit {
        Some((letter, unit)) => (text.trim_end_matches(letter), unit),
        None => (text, 1),
    };
    let number = digits.trim().parse::<u64>().ok()?;
    number.checked_mul(unit).map(BitsPerSecond::new)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MOUNTS: &str = include_str!("../../tests/fixtures/cifs-6.1/mounts-multichannel.txt");
    const DEBUG_DATA: &str =
        include_str!("../../tests/fixtures/cifs-6.1/debug-data-multichannel.txt");

    fn mount_of(mounts_said: &str, debug_data: &str) -> ShareMount {
        let row = mounts(mounts_said).last().unwrap();
        let mut mount = ShareMount {
            folder: row.folder,
            source: row.source,
            options: options(row.options),
            ..ShareMount::default()
        };
        add_session(&mut mount, debug_data);
        mount
    }

    #[test]
    fn a_mount_with_four_channels_is_understood() {
        let mount = mount_of(MOUNTS, DEBUG_DATA);
        assert_eq!(mount.folder, "/mnt/m");
        assert_eq!(mount.place(), Some(("10.77.0.2", "ram", "")));
        assert_eq!(mount.dialect(), Some("3.1.1"));
        assert_eq!(mount.channels, Some(4));
        assert_eq!((mount.signed, mount.encrypted), (Some(false), Some(false)));
        let interface = |address: [u8; 4], channels| MountInterface {
            address: address.into(),
            speed: Some(BitsPerSecond::new(1_000_000_000)),
            channels: Some(channels),
        };
        let wanted = [interface([10, 77, 1, 2], 2), interface([10, 77, 0, 2], 1)];
        assert_eq!(mount.interfaces, wanted);
    }

    #[test]
    fn protection_is_told_by_the_session_or_its_connection() {
        let of = |from: &str, to: &str| {
            let mount = mount_of(MOUNTS, &DEBUG_DATA.replacen(from, to, 1));
            (mount.signed.unwrap(), mount.encrypted.unwrap())
        };
        assert_eq!(of("0x1f2128fa", "0x1f2128fa signed"), (true, false));
        assert_eq!(of("0x1f2128fa", "0x1f2128fa encrypted"), (false, true));
        assert_eq!(of("Dialect 0x311", "Dialect 0x311 signed"), (true, false));
        assert_eq!(
            of("0x1f2128fa", "0x1f2128fa encrypted(gcm256)"),
            (false, true)
        );
        // A share that is encrypted alone, and one beside it.
        assert_eq!(
            of("tid: 0x558c5c15", "tid: 0x558c5c15 Encrypted"),
            (false, true)
        );
        assert_eq!(
            of("tid: 0xc4490637", "tid: 0xc4490637 Encrypted"),
            (false, false)
        );
    }

    #[test]
    fn of_two_sessions_that_differ_nobody_knows_which_it_is() {
        let other = DEBUG_DATA.replace("Extra Channels: 3", "Extra Channels: 1");
        for (second, channels) in [(DEBUG_DATA, Some(4)), (other.as_str(), None)] {
            let both = format!("{DEBUG_DATA}\n{second}");
            assert_eq!(mount_of(MOUNTS, &both).channels, channels);
        }
        // Another share of the same server tells nothing of this one.
        let strange = MOUNTS.replace("/ram ", "/rom ");
        assert_eq!(mount_of(&strange, DEBUG_DATA).channels, None);
    }

    #[test]
    fn names_and_speeds_are_read_in_each_form() {
        let said = "//nas/a\\040b /mnt/\\346\\230\\240 smb3 rw 0 0\nproc /proc proc rw 0 0\n";
        let rows: Vec<_> = mounts(said).map(|row| (row.source, row.folder)).collect();
        assert_eq!(rows, [("//nas/a b".to_owned(), "/mnt/映".to_owned())]);
        assert_eq!(
            options("username=ann\\040b,domain=a\\054b"),
            "username=ann b,domain=a\\054b"
        );
        let speed = |text| bits_per_second(text).map(BitsPerSecond::get);
        assert_eq!(speed("1000000000 bps"), Some(1_000_000_000));
        assert_eq!(speed("10Gbps"), Some(10_000_000_000));
        assert_eq!([speed("fast"), speed("99999999999Gbps")], [None, None]);
    }

    proptest! {
        #[test]
        fn cut_and_changed_answers_end(cut in 0_usize..3000, at in 0_usize..3000, byte in any::<u8>()) {
            let mut bytes = DEBUG_DATA.as_bytes().to_vec();
            let length = bytes.len();
            bytes[at % length] = byte;
            bytes.truncate(cut % length);
            let text = String::from_utf8_lossy(&bytes);
            let mount = mount_of(MOUNTS, &text);
            prop_assert!(mount.interfaces.len() <= INTERFACES_MAX);
        }
    }
}
