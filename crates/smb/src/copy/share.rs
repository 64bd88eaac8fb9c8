//! Files and folders of a share.

pub(super) mod part;
pub(super) mod small;
pub(super) mod source;

use std::iter;

use blake3::Hash;
use locale::say;
use smb_proto::session::{Access, CreateOptions, FileTimes, Posix};

use super::entry::{
    ATTRIBUTE_ARCHIVE, ATTRIBUTE_FOLDER, ATTRIBUTE_LINK, ATTRIBUTE_READ_ONLY, ATTRIBUTES_KEPT,
    Entry, Kind, ObjectId, OfFolder,
};
use super::hash::FileHash;
use super::name;
use crate::dfs;
use crate::error::Error;
use crate::file::File;
use crate::signal::Stop;
use crate::single_path_operations::NotKept;
use crate::single_path_operations::{self, Status};
use crate::times_kept::Of;
use crate::tree::Tree;

/// Mode of a new folder, less what the server takes from it, where nobody tells that of the source.
const NEW_FOLDER_MODE: Option<u32> = Some(0o777);

/// Folder and name of a path; the name is empty at the top.
pub(super) fn split<'a>(tree: &Tree, path: &'a str) -> (&'a str, &'a str) {
    let end = match tree.is_posix() {
        true => path.rfind('/'),
        false => path.rfind(['/', '\\']),
    };
    match end {
        Some(end) => (&path[..end], &path[end + 1..]),
        None => ("", path),
    }
}

pub(super) fn stat(tree: &Tree, path: &str) -> Result<Entry, Error> {
    let status = tree.status(path)?;
    Ok(entry(tree, path, &status, status.file_id))
}

/// The same of what a link leads to, where its server follows it.
pub(super) fn stat_target(tree: &Tree, path: &str) -> Result<Entry, Error> {
    let options = CreateOptions {
        disk_id: true,
        ..CreateOptions::open(Access::Attributes)
    };
    let status = single_path_operations::status(&tree.open(path, &options)?.created());
    Ok(entry(tree, path, &status, status.file_id))
}

/// Where a folder is that its server says is on another one; none where it says nothing of the kind.
pub(super) fn followed(tree: &Tree, path: &str) -> Result<Option<(Tree, String)>, Error> {
    match dfs::probe(tree, path) {
        Ok(()) => Ok(None),
        Err(refusal) => dfs::follow(tree, path, refusal).map(Some),
    }
}

/// Whether a server says that a folder is on another one.
pub(super) fn is_elsewhere(tree: &Tree, path: &str) -> bool {
    dfs::probe(tree, path).is_err()
}

pub(super) fn id(tree: &Tree, path: &str) -> Option<ObjectId> {
    let options = CreateOptions {
        disk_id: true,
        ..CreateOptions::open(Access::Attributes)
    };
    let file = tree.open(path, &options).ok()?;
    let created = file.created();
    let (number, volume) = created.disk_id.filter(|(number, _)| *number != 0)?;
    Some(ObjectId {
        volume,
        file: number,
        creation: created.times.creation,
    })
}

/// The name of a file or folder on the server's disk, where the server says it.
pub(super) fn true_name(tree: &Tree, path: &str) -> Result<Option<String>, Error> {
    let file = tree.open(path, &CreateOptions::open(Access::Attributes))?;
    file.true_name()
}

pub(super) fn list(
    tree: &Tree,
    path: &str,
) -> Result<impl Iterator<Item = Result<Entry, Error>> + use<>, Error> {
    let entries = tree.entries(path)?;
    Ok(entries.map(|entry| entry.map(Entry::from)))
}

/// The same of a folder that is copied. A server with a fault says of a full folder that nothing is in it; nobody shall
/// take that for an empty one. The list of an empty one holds at least itself.
pub(super) fn list_source(
    tree: &Tree,
    path: &str,
) -> Result<impl Iterator<Item = Result<Entry, Error>> + use<>, Error> {
    let (tree, path) = (tree.clone(), path.to_owned());
    let mut entries = tree.entries(&path)?;
    let (mut again, mut over) = (false, false);
    Ok(iter::from_fn(move || {
        loop {
            match entries.next() {
                Some(entry) => return Some(entry.map(Entry::from)),
                None if over || !entries.listed_nothing() => return None,
                None if again => {
                    over = true;
                    return Some(Err(Error::NotCopied {
                        object: name::printable(if path.is_empty() { "/" } else { &path }),
                        reason: say("error-smb.lists-nothing"),
                    }));
                }
                None => {
                    again = true;
                    match tree.entries(&path) {
                        Ok(listed) => entries = listed,
                        Err(error) => {
                            over = true;
                            return Some(Err(error));
                        }
                    }
                }
            }
        }
    }))
}

pub(super) fn make_folder(
    tree: &Tree,
    path: &str,
    mode: Option<u32>,
) -> Result<Option<NotKept>, Error> {
    tree.check_new_name(path)?;
    match tree.create_folder_as(path, mode.or(NEW_FOLDER_MODE)) {
        Ok(not_kept) => Ok(Some(not_kept.filter(|_| mode.is_some()))),
        Err(Error::AlreadyExists { object, .. }) => match stat(tree, path)?.kind {
            Kind::Folder => Ok(None),
            _ => Err(Error::Obstructed {
                object: name::printable(&object),
            }),
        },
        Err(error) => Err(error),
    }
}

pub(super) fn finish_folder(tree: &Tree, path: &str, source: &OfFolder) -> Result<NotKept, Error> {
    let attributes = attributes(tree, source.attributes & ATTRIBUTES_KEPT);
    let times = times_kept(source.times);
    let not_kept = crate::times_kept::set(tree, (path, path), times, attributes, Of::Folder)?;
    Ok(not_kept.or_else(|| check_attributes(tree, path, source.attributes)))
}

/// Why something that has its name does not have these attributes, if so. What a share has kept once is not asked for
/// again: servers keep them all or, set up so, none.
fn check_attributes(tree: &Tree, path: &str, wanted: u32) -> NotKept {
    let wanted = attributes(tree, wanted) & ATTRIBUTES_CHECKED & !tree.kept_attributes();
    if wanted == 0 {
        return None;
    }
    let there = match tree.status(path) {
        Ok(status) => status.attributes,
        Err(error) => return Some(error),
    };
    tree.learn_kept_attributes(there & wanted);
    let object = name::printable(path);
    (there & wanted != wanted).then_some(Error::AttributesNotKept { object })
}

/// Reads a file and hashes it.
pub(super) fn hash(file: &File, size: u64, stop: &Stop) -> Result<Hash, Error> {
    let mut hash = FileHash::new(size);
    for piece in file.read_ranges(iter::once(0..size), stop) {
        let piece = piece?;
        hash.add(piece.offset, piece.payload.bytes());
    }
    hash.finish().ok_or_else(|| Error::Changed {
        object: name::printable(file.path()),
    })
}

/// Read-only, hidden and system. Archive is what a server makes of it.
const ATTRIBUTES_CHECKED: u32 = ATTRIBUTES_KEPT & !ATTRIBUTE_ARCHIVE;

/// Attributes of a copy. Where files have modes, those say who may write it, and nobody asks what was backed up; what
/// is left may be nothing, which leaves what there is.
fn attributes(tree: &Tree, wanted: u32) -> u32 {
    match tree.is_posix() {
        true => wanted & ATTRIBUTES_KEPT & !(ATTRIBUTE_READ_ONLY | ATTRIBUTE_ARCHIVE),
        false => wanted,
    }
}

fn entry(tree: &Tree, path: &str, status: &Status, id: u64) -> Entry {
    let kind = match status.attributes {
        attributes if attributes & ATTRIBUTE_LINK != 0 => Kind::Link,
        attributes if attributes & ATTRIBUTE_FOLDER != 0 => Kind::Folder,
        _ => Kind::File,
    };
    Entry {
        name: split(tree, path).1.to_owned(),
        kind,
        size: status.size,
        allocation: status.allocation,
        times: status.times,
        attributes: status.attributes,
        id,
        mode: status.posix.as_ref().map(Posix::access),
    }
}

fn times_kept(times: FileTimes) -> FileTimes {
    FileTimes {
        // The server's own business.
        change: 0,
        ..times
    }
}

fn changed(path: &str) -> Error {
    Error::Changed {
        object: name::printable(path),
    }
}
