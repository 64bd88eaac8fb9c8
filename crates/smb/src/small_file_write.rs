//! Writing a whole small file.
//!
//! A new one takes one round trip: CREATE, which fails where the name is taken and shares the file
//! with nobody, SET_INFO, WRITE and CLOSE in one frame, which the server does in one go. One that
//! takes the place of another takes two: the other must stay until all of this one is there, and closed: some say only then
//! that their disk is full. A server may write less at once than it is given; the file then gets its name last, too.

use std::sync::Arc;

use smb_proto::FileKey;
use smb_proto::session::{
    Access, Closed, CreateOptions, Disposition, Posix, Reply, Request, SetInformation,
};

use crate::blocking_request::ask_chain;
use crate::closed_part::{ClosedPart, in_place_of, remove_own};
use crate::copy::name::printable;
use crate::error::Error;
use crate::single_path_operations::{
    NotKept, SmallFile, is_loss, not_done, opened, remove, retry_if_lost, writable,
};
use crate::times_kept::{self, Match, Of};
use crate::tree::{Replace, TimesKept, Tree};

/// Rights to write a file and set its times (SYNCHRONIZE, read and write attributes, write data,
/// append).
const WRITE_RIGHTS: u32 = 0x0010_0000 | 0x80 | 0x100 | 0x2 | 0x4;

/// Whether it was tried before, and nobody knows what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    First,
    InDoubt,
}

/// Writes it.
pub(crate) fn write(tree: &Tree, small: &SmallFile, attempt: Attempt) -> Result<NotKept, Error> {
    if small.replace == Replace::Existing {
        return replace(tree, small, Replace::Existing);
    }
    let mut in_doubt = attempt == Attempt::InDoubt;
    retry_if_lost(tree, &small.path, |_| {
        if in_doubt {
            match left_behind(tree, small)? {
                Left::All => {
                    let not_kept = set_late(tree, small)?;
                    let there = tree.status(&small.path)?.posix;
                    return Ok(not_kept.or(tree.keep_mode(&small.path, small.mode, there)?));
                }
                Left::Begin => return replace(tree, small, Replace::Existing),
                Left::NothingOfIt => {}
            }
        }
        in_doubt = true;
        write_new(tree, small)
    })
}

/// Writes one under a name that nothing has.
fn write_new(tree: &Tree, small: &SmallFile) -> Result<NotKept, Error> {
    let (not_kept, posix) = match write_new_with(tree, small, true)? {
        // The file counts, and what the server thinks of its times is only said.
        New::Refused(why) => match write_new_with(tree, small, false)? {
            New::Refused(error) => return Err(error),
            New::Partly => return replace(tree, small, Replace::Never),
            New::Whole { posix, .. } => (Some(why), posix),
        },
        New::Partly => return replace(tree, small, Replace::Never),
        New::Whole {
            as_set: true,
            posix,
        } => (None, posix),
        New::Whole { posix, .. } => (set_late(tree, small)?, posix),
    };
    Ok(not_kept.or(tree.keep_mode(&small.path, small.mode, posix)?))
}

/// What became of a new file.
enum New {
    Whole {
        /// It has its times, as far as that is known.
        as_set: bool,
        /// What the POSIX extensions tell of it.
        posix: Option<Posix>,
    },
    /// The server wrote only some of it at once; it is removed.
    Partly,
    /// The server refused its times or attributes; it is removed.
    Refused(Error),
}

/// The chain that makes a file, writes and closes it, and `sets` its times and attributes.
fn chain_that_writes(
    tree: &Tree,
    small: &SmallFile,
    (path, options): (&str, CreateOptions),
    sets: bool,
) -> Vec<Request> {
    let attributes = options.attributes;
    let mut links = vec![tree.create(path, options)];
    links.extend(content(tree, small, attributes, sets));
    links.push(Request::Close {
        file: FileKey::OF_CHAIN,
    });
    links
}

/// How a chain that writes a file has ended. It is closed.
struct Written {
    /// What the POSIX extensions tell of it.
    posix: Option<Posix>,
    /// The server's number for it; zero: it tells none.
    id: u64,
    /// So many bytes were written.
    stored: usize,
    closed: Closed,
    /// Why its times or attributes were not set.
    not_set: NotKept,
}

/// Runs it. An error says that it does not have all that the server took, and where something was made, it is removed.
/// Where times or attributes are refused, what comes after that in the chain says nothing.
fn run(tree: &Tree, small: &SmallFile, path: &str, links: Vec<Request>) -> Result<Written, Error> {
    let set_at = links
        .iter()
        .position(|link| matches!(link, Request::Set { .. }));
    let mut replies = ask_chain(tree.shared(), links, &small.path)?
        .into_iter()
        .enumerate();
    let (_, created) = match replies.next() {
        Some((_, reply)) => opened(tree, &small.path, reply)?,
        None => return Err(tree.shared().odd_answer()),
    };
    let mut written = Written {
        posix: created.posix,
        id: created.file_id(),
        stored: small.content.len(),
        closed: Closed::default(),
        not_set: None,
    };
    let mut failed = None;
    for (place, reply) in replies {
        match reply {
            Ok(Reply::Stored(count)) => written.stored = count as usize,
            Ok(Reply::Closed(closed)) => written.closed = closed,
            Ok(Reply::Done) => {}
            // The first one says most.
            _ if failed.is_some() || written.not_set.is_some() => {}
            problem => match not_done(tree, &small.path, problem) {
                error if set_at == Some(place) && error.is_refusal() => {
                    written.not_set = Some(error);
                }
                error => failed = Some(error),
            },
        }
    }
    if failed.is_none() && written.not_set.is_some() {
        return Ok(written);
    }
    let stored = written.stored as u64;
    let failed = failed.or_else(|| match written.closed {
        Closed { sure: false, .. } => Some(tree.shared().unheard_end(path)),
        Closed { size, .. } => size
            .filter(|size| *size != stored)
            // What a server loses of one message it loses again.
            .map(|size| lost(tree, small, size)),
    });
    match failed {
        None => Ok(written),
        Some(error) => {
            let _ = remove_own(tree, path, written.id);
            Err(error)
        }
    }
}

fn write_new_with(tree: &Tree, small: &SmallFile, sets: bool) -> Result<New, Error> {
    let keeps = tree.keeps_times();
    let options = CreateOptions {
        disposition: Disposition::Create,
        attributes: small.attributes,
        share_read: false,
        disk_id: true,
        ..options(small, WRITE_RIGHTS)
    };
    let links = chain_that_writes(tree, small, (&small.path, options), sets);
    let written = run(tree, small, &small.path, links)?;
    let known = keeps.is_some();
    if let Some(error) = written.not_set {
        // Perhaps it is not closed yet; the session asks for that again.
        let _ = remove_own(tree, &small.path, written.id);
        return Ok(New::Refused(error));
    }
    if written.stored < small.content.len() {
        remove_own(tree, &small.path, written.id)?;
        return Ok(New::Partly);
    }
    let time = small.times.write;
    // Where nothing but the last word counts, it is in the chain.
    let there = match keeps {
        Some(TimesKept::Never) => Match::None,
        _ => times_kept::has_time(tree, &small.path, time, (&written.closed, known))?,
    };
    let as_set = there.is_kept();
    if sets {
        learn_early(tree, there, time);
    }
    Ok(New::Whole {
        as_set: as_set || !sets,
        posix: written.posix,
    })
}

/// Whether times are set before the file is written. The first files tell whether the server keeps those.
fn sets_early(tree: &Tree) -> bool {
    (tree.keeps_times()).is_none_or(|keeps| keeps == TimesKept::Early)
}

/// A time that was set so, or later where that is known, was kept.
fn learn_early(tree: &Tree, there: Match, time: u64) {
    if tree.keeps_times().is_none() && there.teaches(time) {
        tree.learn_times(TimesKept::Early);
    }
}

fn lost(tree: &Tree, small: &SmallFile, size: u64) -> Error {
    Error::Lost {
        server: tree.shared().server.name.clone(),
        object: printable(&small.path),
        size,
        expected: small.content.len() as u64,
    }
}

/// Sets the times of a file that is closed.
fn set_late(tree: &Tree, small: &SmallFile) -> Result<NotKept, Error> {
    let path = (&*small.path, &*small.path);
    times_kept::set(tree, path, small.times, small.attributes, Of::File)
}

/// What an attempt left of which nobody heard the end.
enum Left {
    All,
    Begin,
    NothingOfIt,
}

fn left_behind(tree: &Tree, small: &SmallFile) -> Result<Left, Error> {
    match tree.read_small(&small.path) {
        Ok(there) if there.bytes.len() as u64 != there.status.size => Ok(Left::NothingOfIt),
        Ok(there) if there.bytes[..] == small.content[..] => Ok(Left::All),
        Ok(there) if small.content.starts_with(&there.bytes) => Ok(Left::Begin),
        Ok(_) | Err(Error::NotFound { .. }) => Ok(Left::NothingOfIt),
        Err(error) => Err(error),
    }
}

fn options(small: &SmallFile, rights: u32) -> CreateOptions {
    /// Mode of a new file, less what the server takes from it.
    const NEW_FILE_MODE: u32 = 0o666;
    CreateOptions {
        folder: Some(false),
        share_write: false,
        posix: Some(small.mode.unwrap_or(NEW_FILE_MODE)),
        ..CreateOptions::open(Access::Mask(rights))
    }
}

/// Its bytes, times and attributes. A time that was set through a handle is not touched by what is
/// written through that handle later (MS-FSA 2.1.5.15.2), and so costs the server least where it keeps it.
fn content(tree: &Tree, small: &SmallFile, attributes: u32, sets: bool) -> Vec<Request> {
    let file = FileKey::OF_CHAIN;
    let set = sets.then(|| Request::Set {
        file,
        what: basic(tree, small, attributes),
    });
    let store = (!small.content.is_empty()).then(|| Request::Store {
        file,
        offset: 0,
        bytes: Arc::clone(&small.content),
    });
    let links = match sets_early(tree) {
        true => [set, store],
        false => [store, set],
    };
    links.into_iter().flatten().collect()
}

fn basic(tree: &Tree, small: &SmallFile, attributes: u32) -> SetInformation {
    let times = tree.times_as_taken(small.times);
    SetInformation::Basic { times, attributes }
}

/// Writes one that gets its name when all of it is there, and does so if something has that name.
fn replace(tree: &Tree, small: &SmallFile, existing: Replace) -> Result<NotKept, Error> {
    let mut lost: Vec<String> = Vec::new();
    let written = retry_if_lost(tree, &small.path, |attempt| {
        // The server may still have the one open of which nobody heard the end.
        let path = match attempt {
            0 => small.temporary.clone(),
            attempt => format!("{}.{attempt}", small.temporary),
        };
        lost.push(path.clone());
        let (part, not_kept) = write_part(tree, small, &path)?;
        let sets = writable(small.attributes) != small.attributes;
        let sets = sets.then(|| basic(tree, small, small.attributes));
        match part.name(tree, (&small.path, existing), sets) {
            Ok(not_set) => Ok(not_kept.or(not_set)),
            Err(error) => {
                if !is_loss(&error) && !matches!(error, Error::Busy { .. }) {
                    let _ = remove_own(tree, &path, part.id);
                }
                Err(error)
            }
        }
    });
    lost.pop();
    for path in lost {
        // A part whose answer was lost; perhaps there is none, and perhaps it cannot go yet.
        let _ = remove(tree, &path, false);
    }
    written
}

/// Writes it all under another name, with its times. It is not read-only yet: if it does not get its
/// name, nobody could remove or overwrite it.
fn write_part<'a>(
    tree: &Tree,
    small: &'a SmallFile,
    path: &'a str,
) -> Result<(ClosedPart<'a>, NotKept), Error> {
    let options = CreateOptions {
        attributes: writable(small.attributes),
        disposition: Disposition::Create,
        disk_id: true,
        // another program with the same idea must not write the same
        ..options(small, WRITE_RIGHTS)
    };
    let known = tree.keeps_times().is_some();
    let write = |sets| {
        in_place_of(tree, path, || {
            let links = chain_that_writes(tree, small, (path, options.clone()), sets);
            run(tree, small, path, links)
        })
    };
    let mut written = write(true)?;
    let refused = written.not_set.take();
    if refused.is_some() {
        // The file counts, and what the server thinks of its times is only said.
        written = write(false)?;
    }
    let mut part = ClosedPart {
        path,
        id: written.id,
        bytes: small.content.len() as u64,
        written: None,
        content: Some(&small.content),
    };
    let not_kept = finish_part(tree, small, path, written, (refused, known));
    let not_kept = not_kept.inspect_err(|_| {
        let _ = remove_own(tree, path, part.id);
    })?;
    if not_kept.is_none() {
        part.written = Some(small.times.write);
    }
    Ok((part, not_kept))
}

/// All that it still needs but its name.
fn finish_part(
    tree: &Tree,
    small: &SmallFile,
    path: &str,
    written: Written,
    (refused, known): (NotKept, bool),
) -> Result<NotKept, Error> {
    let attributes = writable(small.attributes);
    let mut closed = written.closed;
    if written.stored < small.content.len() {
        closed = write_rest(tree, small, path, &written)?;
    }
    let expected = small.content.len() as u64;
    let size = times_kept::size(tree, path, &closed)?;
    if size != expected {
        return Err(lost(tree, small, size));
    }
    let time = small.times.write;
    let mode = || tree.keep_mode(path, small.mode, written.posix);
    if let Some(error) = refused {
        return mode().map(|_| Some(error));
    }
    let there = times_kept::has_time(tree, path, time, (&closed, known))?;
    if there.is_kept() {
        learn_early(tree, there, time);
        return mode();
    }
    let paths = (path, &*small.path);
    let set = times_kept::set(tree, paths, small.times, attributes, Of::File)?;
    Ok(set.or(mode()?))
}

/// Goes on where a WRITE ended that wrote only some of it. Where the server lacks the room, it says so
/// to this one.
fn write_rest(
    tree: &Tree,
    small: &SmallFile,
    path: &str,
    written: &Written,
) -> Result<Closed, Error> {
    let options = CreateOptions {
        disposition: Disposition::Open,
        disk_id: true,
        ..options(small, WRITE_RIGHTS)
    };
    let part = ClosedPart {
        path,
        id: written.id,
        bytes: written.stored as u64,
        written: None,
        content: None,
    };
    let mut file = tree.open(path, &options)?;
    if !part.is(&file.created()) {
        return Err(part.written_by_another());
    }
    file.write_at(part.bytes, &small.content[written.stored..])?;
    file.close_written()
}
