//! `linerate ls`: the shares of a server, or what is in a folder of one.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use locale::{Message, said, say, text};
use record::{Bytes, ShareAddress};
use report::quantity;
use schemars::JsonSchema;
use serde::Serialize;
use smb::copy::{Reparse, printable};
use smb::{DirectoryEntry, Referrals, Session, ShareEntry, ShareKind};

use crate::args::LsArguments;
use crate::copy::{connect, explain};
use crate::credentials::{Client, OfFile};
use crate::failure::CommandError;
use crate::share::{self, TypedShare};
use crate::{changes, command_sandbox, credentials, stdout_and_stderr};

/// A folder of so many entries at most is sorted; of a larger one the entries are printed as they
/// come, so that it takes little memory and the first ones show at once.
const SORTED_MAX: usize = 10_000;
/// The same of so many bytes of names: a server may give long ones.
const SORTED_BYTES_MAX: usize = 4 << 20;
/// How long a lost server is tried: nothing is said meanwhile, and the command is soon typed again.
const RECONNECT_MAX: Duration = Duration::from_secs(10);
/// Text is written in pieces of about this size.
const PIECE_BYTES: usize = 1 << 16;
const ATTRIBUTE_FOLDER: u32 = 0x10;
const ATTRIBUTE_LINK: u32 = 0x400;
/// Letters of attributes as `attrib` on Windows shows them.
const LETTERS: [(u32, char); 4] = [(0x1, 'R'), (0x2, 'H'), (0x4, 'S'), (0x20, 'A')];
/// The bits of a mode, the highest first.
const MODE_LETTERS: &str = "rwxrwxrwx";

/// What `ls --json` prints of a server.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShareList<'a> {
    /// Its shares, by their names.
    shares: Vec<ListedShare<'a>>,
}

/// A share, as the server's list has it.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedShare<'a> {
    /// Its name.
    name: &'a str,
    /// `files`, `printer`, `pipes` or `other`.
    kind: &'static str,
    /// Whether it is there for administrators or for the protocol itself.
    special: bool,
    /// What its owner wrote about it.
    comment: &'a str,
}

/// What is in a folder.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ListedEntry<'a> {
    /// A file, folder or link.
    Entry {
        /// Its name.
        name: &'a str,
        /// `file`, `folder` or `link`.
        kind: &'static str,
        /// Its length, in bytes.
        bytes: u64,
        /// The space that it takes, in bytes.
        allocated_bytes: u64,
        /// Its attributes, as bits of MS-FSCC.
        attributes: u32,
        /// When it was written last; null where the server keeps no such time.
        #[schemars(with = "Option<String>")]
        modified: Option<jiff::Timestamp>,
        /// When it was made; null where the server keeps no such time.
        #[schemars(with = "Option<String>")]
        created: Option<jiff::Timestamp>,
        /// Its number on its file system.
        file_id: u64,
        /// What it is that neither file nor folder says; null where it is no reparse point.
        reparse: Option<String>,
        /// Its mode, in octal; null without the POSIX extensions of SMB.
        mode: Option<String>,
    },
    /// One whose name no path can hold.
    Odd {
        /// Its name, spelled out.
        name: &'a str,
        /// `odd`.
        kind: &'static str,
        /// What is wrong with the name.
        reason: &'a Message,
    },
}

/// Runs `ls`.
pub fn run(arguments: &LsArguments) -> Result<ExitCode, CommandError> {
    let place = share::parse_place(&arguments.place)?;
    let of_file = OfFile::read(&arguments.login, &[&place], Client::Here)?;
    let rules = command_sandbox::for_login_alone(&arguments.login);
    let held = command_sandbox::to(&rules, arguments.verbose.verbose)?;
    let mut policy = measure::demanded(&credentials::demands(&arguments.login)?);
    policy.reconnect = Some(RECONNECT_MAX);
    policy.posix = os::HAS_POSIX_FILES;
    let found = credentials::find(&arguments.login, &place, Client::Here, &of_file)?;
    held.ready()?;
    let session = connect(&place, &found, &policy)?;
    if place.address.share.is_empty() {
        list_shares(&session, arguments)?;
    } else {
        list_folder(&session, &place, arguments)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list_shares(session: &Session, arguments: &LsArguments) -> Result<(), CommandError> {
    let mut shares = session.shares().map_err(explain)?;
    shares.sort_by(|one, other| one.name.cmp(&other.name));
    if arguments.json {
        stdout_and_stderr::print_json(&ShareList {
            shares: shares.iter().map(ListedShare::of).collect(),
        });
        return Ok(());
    }
    let rows: Vec<Vec<String>> = (shares.iter())
        .map(|share| {
            vec![
                printable(&share.name),
                text(kind_words(share.kind)),
                printable(&share.comment),
            ]
        })
        .collect();
    let headers = [
        "told-copy.column-share",
        "told-copy.column-kind",
        "told-copy.column-comment",
    ];
    let headers = headers.map(text);
    let headers = headers.each_ref().map(String::as_str);
    stdout_and_stderr::print_drawn(&report::table(&headers, &rows, changes::style()));
    Ok(())
}

/// The id of what a share holds.
const fn kind_words(kind: ShareKind) -> &'static str {
    match kind {
        ShareKind::Disk => "told-copy.share-of-files",
        ShareKind::Printer => "told-copy.share-of-printer",
        ShareKind::Pipe => "told-copy.share-of-pipes",
        ShareKind::Other => "told-copy.share-of-others",
    }
}

/// The same for programs.
const fn kind_name(kind: ShareKind) -> &'static str {
    match kind {
        ShareKind::Disk => "files",
        ShareKind::Printer => "printer",
        ShareKind::Pipe => "pipes",
        ShareKind::Other => "other",
    }
}

impl<'a> ListedShare<'a> {
    fn of(share: &'a ShareEntry) -> Self {
        Self {
            name: &share.name,
            kind: kind_name(share.kind),
            special: share.special,
            comment: &share.comment,
        }
    }
}

fn list_folder(
    session: &Session,
    place: &TypedShare,
    arguments: &LsArguments,
) -> Result<(), CommandError> {
    let ShareAddress { share, path, .. } = &place.address;
    let found = session.locate(share, path, Referrals::Follow);
    let (tree, path) = &found.map_err(explain)?;
    let status = tree.status(path).map_err(explain)?;
    if arguments.verbose.verbose && tree.is_posix() {
        stdout_and_stderr::say(&text("told-copy.posix-share"));
    }
    let mut listing = Listing::new(arguments.json, tree.is_posix());
    if status.attributes & ATTRIBUTE_FOLDER != 0 {
        list_entries(tree.entries(path).map_err(explain)?, &mut listing)?;
    } else {
        let name = path.rsplit('/').next().unwrap_or_default();
        listing.add(&Listed::Entry(DirectoryEntry {
            name: name.to_owned(),
            times: status.times,
            size: status.size,
            allocation: status.allocation,
            attributes: status.attributes,
            reparse_tag: 0,
            file_id: status.file_id,
            ill_formed: None,
            posix: status.posix,
        }));
    }
    if let Some(note) = listing.finish() {
        stdout_and_stderr::say(&note);
    }
    Ok(())
}

fn list_entries(
    mut entries: impl Iterator<Item = Result<DirectoryEntry, smb::Error>>,
    listing: &mut Listing,
) -> Result<(), CommandError> {
    let mut first: Vec<Listed> = Vec::new();
    let mut bytes = 0;
    let mut is_all = true;
    for entry in entries.by_ref() {
        let entry = listed(entry)?;
        bytes += entry.name().len();
        first.push(entry);
        if first.len() > SORTED_MAX || bytes > SORTED_BYTES_MAX {
            is_all = false;
            break;
        }
    }
    if is_all {
        first.sort_by(|one, other| one.name().cmp(other.name()));
    }
    first.drain(..).for_each(|entry| listing.add(&entry));
    for entry in entries {
        listing.add(&listed(entry)?);
    }
    Ok(())
}

/// What a folder holds.
enum Listed {
    Entry(DirectoryEntry),
    /// One whose name no path can hold, spelled out, and what is wrong with it.
    Odd {
        name: String,
        reason: Message,
    },
}

impl Listed {
    fn name(&self) -> &str {
        match self {
            Self::Entry(entry) => &entry.name,
            Self::Odd { name, .. } => name,
        }
    }
}

fn listed(entry: Result<DirectoryEntry, smb::Error>) -> Result<Listed, CommandError> {
    match entry {
        Ok(entry) => Ok(Listed::Entry(entry)),
        Err(smb::Error::Name { name, reason }) => Ok(Listed::Odd { name, reason }),
        Err(error) => Err(explain(error)),
    }
}

/// Entries on their way to standard output. Where it ends early, its JSON does so too, so that
/// nobody takes it for all of the folder.
struct Listing {
    json: bool,
    /// Letters of what something is and who may do what with it.
    kind_columns: usize,
    text: String,
    count: u64,
    /// How many have odd names, and the first of them with what is wrong with it.
    odd: u64,
    first_odd: Option<(String, Message)>,
}

impl Listing {
    fn new(json: bool, posix: bool) -> Self {
        const OF_WINDOWS: usize = 1 + LETTERS.len();
        const OF_UNIX: usize = 1 + MODE_LETTERS.len();
        let text = if json { "{\"entries\": [" } else { "" };
        Self {
            json,
            kind_columns: if posix { OF_UNIX } else { OF_WINDOWS },
            text: text.to_owned(),
            count: 0,
            odd: 0,
            first_odd: None,
        }
    }

    fn add(&mut self, listed: &Listed) {
        if self.json {
            self.text
                .push_str(if self.count == 0 { "\n" } else { ",\n" });
            // Strings and numbers, of which all have a form in JSON.
            let entry = serde_json::to_string(&ListedEntry::of(listed));
            self.text.push_str(&entry.unwrap_or_default());
        } else {
            self.text.push_str(&match listed {
                Listed::Entry(entry) => line(entry),
                Listed::Odd { name, .. } => {
                    let columns = self.kind_columns;
                    format!("{:columns$}  {:>10}  {:19}  {name}\n", "?", "?", "?")
                }
            });
        }
        self.count += 1;
        if let Listed::Odd { name, reason } = listed {
            self.odd += 1;
            self.first_odd
                .get_or_insert_with(|| (name.clone(), reason.clone()));
        }
        if self.text.len() >= PIECE_BYTES {
            stdout_and_stderr::print_piece(&std::mem::take(&mut self.text));
        }
    }

    /// Gives what is to be said about odd names.
    fn finish(mut self) -> Option<String> {
        if self.json {
            self.text.push_str("\n]}\n");
        }
        stdout_and_stderr::print_piece(&self.text);
        let (name, reason) = self.first_odd?;
        let sentence = match self.odd {
            1 => say("told-copy.odd-name"),
            count => say("told-copy.odd-names").count("count", count),
        };
        Some(said(&sentence.with("name", name).with("reason", reason)))
    }
}

/// Who may read, write and execute it, as `ls` on Unix shows it.
fn mode(mode: u32) -> String {
    let letters = MODE_LETTERS.chars().rev().enumerate();
    let shown = letters.map(|(bit, letter)| match mode >> bit & 1 {
        0 => '-',
        _ => letter,
    });
    shown.collect::<Vec<_>>().into_iter().rev().collect()
}

/// Attributes or mode, size, time and name; of a folder with `/` at its end.
fn line(entry: &DirectoryEntry) -> String {
    let folder = entry.attributes & ATTRIBUTE_FOLDER != 0;
    let is_link = match reparse(entry) {
        Some(reparse) => reparse.is_link(),
        None => entry.attributes & ATTRIBUTE_LINK != 0,
    };
    let kind = match entry.attributes {
        _ if is_link => 'L',
        _ if folder => 'D',
        _ => '-',
    };
    let mut text = String::from(kind);
    match entry.posix {
        Some(posix) => text.push_str(&mode(posix.mode)),
        None => {
            let letters = LETTERS.map(|(bit, letter)| match entry.attributes & bit {
                0 => '-',
                _ => letter,
            });
            text.extend(letters);
        }
    }
    let size = if folder {
        String::from("-")
    } else {
        quantity::size(Bytes::new(entry.size))
    };
    let time = time(entry.times.write).map_or(String::new(), |time| {
        time.strftime("%Y-%m-%d %H:%M:%S").to_string()
    });
    let end = if folder { "/" } else { "" };
    let reparse = reparse(entry).map_or(String::new(), |it| format!(" ({})", said(&words(it))));
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "  {size:>10}  {time:19}  {}{end}{reparse}",
        printable(&entry.name)
    );
    text
}

/// What it is that neither file nor folder says.
fn reparse(entry: &DirectoryEntry) -> Option<Reparse> {
    let is_one = entry.attributes & ATTRIBUTE_LINK != 0 && entry.reparse_tag != 0;
    is_one.then(|| Reparse::of(entry.reparse_tag))
}

/// The same for people.
fn words(reparse: Reparse) -> Message {
    let tagged = |id, tag: u32| say(id).with("tag", format!("{tag:#010x}"));
    match reparse {
        Reparse::SymbolicLink => say("told-copy.symbolic-link"),
        Reparse::Junction => say("told-copy.junction"),
        Reparse::UnixLink => say("told-copy.unix-link"),
        Reparse::UnixSpecial => say("told-copy.unix-special"),
        Reparse::Deduplicated => say("told-copy.deduplicated"),
        Reparse::Cloud => say("told-copy.in-a-cloud"),
        Reparse::Referral => say("told-copy.on-another-server"),
        Reparse::OtherLink(tag) => tagged("told-copy.other-link", tag),
        Reparse::Other(tag) => tagged("told-copy.reparse-point", tag),
    }
}

impl<'a> ListedEntry<'a> {
    fn of(listed: &'a Listed) -> Self {
        match listed {
            Listed::Entry(entry) => Self::entry(entry),
            Listed::Odd { name, reason } => Self::Odd {
                name,
                kind: "odd",
                reason,
            },
        }
    }

    fn entry(entry: &'a DirectoryEntry) -> Self {
        let folder = entry.attributes & ATTRIBUTE_FOLDER != 0;
        let reparse = reparse(entry);
        let kind = match reparse {
            Some(reparse) if reparse.is_link() => "link",
            None if entry.attributes & ATTRIBUTE_LINK != 0 => "link",
            _ if folder => "folder",
            _ => "file",
        };
        let mode = entry.posix.map(|posix| format!("{:03o}", posix.access()));
        Self::Entry {
            name: &entry.name,
            kind,
            bytes: entry.size,
            allocated_bytes: entry.allocation,
            attributes: entry.attributes,
            modified: time(entry.times.write),
            created: time(entry.times.creation),
            file_id: entry.file_id,
            reparse: reparse.map(|it| it.to_string()),
            mode,
        }
    }
}

/// A time of the server; none where it keeps none.
fn time(ticks: u64) -> Option<jiff::Timestamp> {
    smb::copy::system_time(ticks).and_then(|time| jiff::Timestamp::try_from(time).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, attributes: u32) -> DirectoryEntry {
        DirectoryEntry {
            name: name.to_owned(),
            times: smb::FileTimes {
                write: 133_000_000_000_000_000,
                ..smb::FileTimes::default()
            },
            size: 1536,
            allocation: 4096,
            attributes,
            reparse_tag: 0,
            file_id: 7,
            ill_formed: None,
            posix: None,
        }
    }

    fn odd(name: &str) -> smb::Error {
        smb::Error::Name {
            name: name.to_owned(),
            reason: "the server gave a name with `/` in it".into(),
        }
    }

    #[test]
    fn an_odd_name_is_listed_with_the_others_and_told_at_the_end() {
        let folder = || [Ok(entry("z", 0)), Err(odd("b\\u{2f}c")), Ok(entry("a", 0))];
        let mut text = Listing::new(false, false);
        list_entries(folder().into_iter(), &mut text).expect("it goes on");
        let names: Vec<_> = (text.text.lines())
            .filter_map(|line| line.split_whitespace().last())
            .collect();
        assert_eq!(names, ["a", "b\\u{2f}c", "z"]);
        let columns = |line: &str| line.rfind("  ");
        let mut lines = text.text.lines();
        let (plain, marked) = (lines.next(), lines.next());
        assert!(
            marked.is_some_and(|line| line.starts_with("? ")),
            "{marked:?}"
        );
        assert_eq!(plain.map(columns), marked.map(columns));
        let note = text.finish().expect("there is something to say");
        let says = "cannot reach what has it: `b\\u{2f}c`: the server gave a name with `/` in it";
        assert!(note.ends_with(says), "{note}");

        let mut json = Listing::new(true, false);
        list_entries(folder().into_iter(), &mut json).expect("it goes on");
        let said: serde_json::Value =
            serde_json::from_str(&format!("{}]}}", json.text)).expect("it is JSON");
        assert_eq!(said["entries"][1]["name"], "b\\u{2f}c");
        assert_eq!(said["entries"][1]["kind"], "odd");

        let lost = smb::Error::Stopped;
        let ended = list_entries([Ok(entry("a", 0)), Err(lost)].into_iter(), &mut json);
        assert!(ended.is_err(), "any other error ends it");
    }

    #[test]
    fn a_line_shows_attributes_size_time_and_nothing_that_steers_a_terminal() {
        let file = line(&entry("a\u{1b}[31m", 0x23));
        assert_eq!(
            file,
            "-RH-A     1.5 KiB  2022-06-18 04:26:40  a\\u{1b}[31m\n"
        );
        let folder = line(&entry("deep", 0x10));
        assert_eq!(folder, "D----           -  2022-06-18 04:26:40  deep/\n");
        assert!(line(&entry("old", 0x400)).starts_with('L'));
        let posix = smb::Posix {
            mode: 0o104_751,
            links: 1,
            reparse_tag: 0,
        };
        let file = DirectoryEntry {
            posix: Some(posix),
            ..entry("a:b", 0x20)
        };
        assert!(line(&file).starts_with("-rwxr-x--x  "), "{}", line(&file));
        assert_eq!(serde_json::json!(ListedEntry::entry(&file))["mode"], "751");
    }
}
