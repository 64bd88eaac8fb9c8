//! `linerate ls`: the shares of a server, or what is in a folder of one.

use std::fmt::Write as _;
use std::process::ExitCode;

use record::Bytes;
use report::quantity;
use serde_json::{Value, json};
use smb::copy::printable;
use smb::{DirectoryEntry, Session, ShareEntry, ShareKind, Tree};

use crate::args::LsArguments;
use crate::copy::{connect, told};
use crate::failure::CommandError;
use crate::share::{self, TypedShare};
use crate::{changes, credentials, terminal};

/// A folder of so many entries at most is sorted; of a larger one the entries are printed as they
/// come, so that it takes little memory and the first ones show at once.
const SORTED_MAX: usize = 10_000;
/// Text is written in pieces of about this size.
const PIECE_BYTES: usize = 1 << 16;
const ATTRIBUTE_FOLDER: u32 = 0x10;
const ATTRIBUTE_LINK: u32 = 0x400;
/// Letters of attributes as `attrib` on Windows shows them.
const LETTERS: [(u32, char); 4] = [(0x1, 'R'), (0x2, 'H'), (0x4, 'S'), (0x20, 'A')];

/// Runs `ls`.
pub fn run(arguments: &LsArguments) -> Result<ExitCode, CommandError> {
    let place = share::parse_place(&arguments.place)?;
    let policy = measure::demanded(&credentials::demands(&arguments.login)?);
    let credentials = credentials::find(&arguments.login, &place, None)?;
    let session = connect(&place, &credentials, &policy)?;
    if place.address.share.is_empty() {
        list_shares(&session, arguments)?;
    } else {
        list_folder(&session, &place, arguments)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list_shares(session: &Session, arguments: &LsArguments) -> Result<(), CommandError> {
    let mut shares = session.shares().map_err(told)?;
    shares.sort_by(|one, other| one.name.cmp(&other.name));
    if arguments.json {
        let shares: Vec<Value> = shares.iter().map(share_as_json).collect();
        terminal::print_json(&json!({ "shares": shares }));
        return Ok(());
    }
    let rows: Vec<Vec<String>> = (shares.iter())
        .map(|share| {
            vec![
                printable(&share.name),
                kind_name(share.kind).to_owned(),
                printable(&share.comment),
            ]
        })
        .collect();
    let headers = ["share", "kind", "comment"];
    terminal::print(&report::table(&headers, &rows, changes::look()));
    Ok(())
}

const fn kind_name(kind: ShareKind) -> &'static str {
    match kind {
        ShareKind::Disk => "files",
        ShareKind::Printer => "printer",
        ShareKind::Pipe => "pipes",
        ShareKind::Other => "other",
    }
}

fn share_as_json(share: &ShareEntry) -> Value {
    json!({
        "name": share.name, "kind": kind_name(share.kind), "special": share.special,
        "comment": share.comment,
    })
}

fn list_folder(
    session: &Session,
    place: &TypedShare,
    arguments: &LsArguments,
) -> Result<(), CommandError> {
    let tree = session.tree(&place.address.share).map_err(told)?;
    let path = &place.address.path;
    let status = tree.status(path).map_err(told)?;
    let mut listing = Listing::new(arguments.json);
    if status.attributes & ATTRIBUTE_FOLDER != 0 {
        list_entries(&tree, path, &mut listing)?;
    } else {
        let name = path.rsplit('/').next().unwrap_or_default();
        listing.add(&DirectoryEntry {
            name: name.to_owned(),
            times: status.times,
            size: status.size,
            allocation: status.allocation,
            attributes: status.attributes,
            reparse_tag: 0,
            file_id: status.file_id,
        });
    }
    listing.finish();
    Ok(())
}

fn list_entries(tree: &Tree, path: &str, listing: &mut Listing) -> Result<(), CommandError> {
    let mut entries = tree.entries(path).map_err(told)?;
    let first = entries.by_ref().take(SORTED_MAX + 1);
    let mut first: Vec<DirectoryEntry> = first.collect::<Result<_, _>>().map_err(told)?;
    if first.len() <= SORTED_MAX {
        first.sort_by(|one, other| one.name.cmp(&other.name));
    }
    first.iter().for_each(|entry| listing.add(entry));
    for entry in entries {
        listing.add(&entry.map_err(told)?);
    }
    Ok(())
}

/// Entries on their way to standard output. Where it ends early, its JSON does so too, so that
/// nobody takes it for all of the folder.
struct Listing {
    json: bool,
    text: String,
    count: u64,
}

impl Listing {
    fn new(json: bool) -> Self {
        let text = if json { "{\"entries\": [" } else { "" };
        Self {
            json,
            text: text.to_owned(),
            count: 0,
        }
    }

    fn add(&mut self, entry: &DirectoryEntry) {
        if self.json {
            self.text
                .push_str(if self.count == 0 { "\n" } else { ",\n" });
            self.text.push_str(&entry_as_json(entry).to_string());
        } else {
            self.text.push_str(&line(entry));
        }
        self.count += 1;
        if self.text.len() >= PIECE_BYTES {
            terminal::print_piece(&std::mem::take(&mut self.text));
        }
    }

    fn finish(mut self) {
        if self.json {
            self.text.push_str("\n]}\n");
        }
        terminal::print_piece(&self.text);
    }
}

/// Attributes, size, time and name; of a folder with `/` at its end.
fn line(entry: &DirectoryEntry) -> String {
    let folder = entry.attributes & ATTRIBUTE_FOLDER != 0;
    let kind = match entry.attributes {
        attributes if attributes & ATTRIBUTE_LINK != 0 => 'L',
        _ if folder => 'D',
        _ => '-',
    };
    let mut text = String::from(kind);
    for (bit, letter) in LETTERS {
        text.push(if entry.attributes & bit != 0 {
            letter
        } else {
            '-'
        });
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
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "  {size:>10}  {time:19}  {}{end}",
        printable(&entry.name)
    );
    text
}

fn entry_as_json(entry: &DirectoryEntry) -> Value {
    let folder = entry.attributes & ATTRIBUTE_FOLDER != 0;
    let kind = match entry.attributes {
        attributes if attributes & ATTRIBUTE_LINK != 0 => "link",
        _ if folder => "folder",
        _ => "file",
    };
    json!({
        "name": entry.name, "kind": kind, "bytes": entry.size,
        "allocated_bytes": entry.allocation, "attributes": entry.attributes,
        "modified": time(entry.times.write), "created": time(entry.times.creation),
        "file_id": entry.file_id,
    })
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
        }
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
    }
}
