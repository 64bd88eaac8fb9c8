//! Writing a whole small file.
//!
//! A new one takes one round trip: CREATE, which fails where the name is taken and shares the file
//! with nobody, SET_INFO, WRITE and CLOSE in one frame, which the server does in one go. One that
//! takes the place of another takes two: the other must stay until all of this one is there. A server may
//! write less at once than it is given; the file then gets its name last, too.

use std::sync::Arc;

use smb_proto::FileKey;
use smb_proto::session::{
    Access, CreateOptions, Disposition, Information, QueryInformation, Reply, Request,
    SetInformation,
};

use crate::error::Error;
use crate::operation::{
    SmallFile, again_if_lost, ask_chain, create, done, is_loss, not_done, opened, remove, rename,
    writable,
};
use crate::request::{ask, tell};
use crate::tree::{Replace, Tree};

/// Rights to write a file and set its times (SYNCHRONIZE, read and write attributes, write data,
/// append).
const WRITE_RIGHTS: u32 = 0x0010_0000 | 0x80 | 0x100 | 0x2 | 0x4;
/// The same, and to give it its name (DELETE).
const PART_RIGHTS: u32 = 0x0001_0000 | WRITE_RIGHTS;

/// Whether it was tried before, and nobody knows what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    First,
    InDoubt,
}

/// Writes it.
pub(crate) fn write(tree: &Tree, small: &SmallFile, attempt: Attempt) -> Result<(), Error> {
    if small.replace == Replace::Existing {
        return replace(tree, small, Replace::Existing);
    }
    let mut in_doubt = attempt == Attempt::InDoubt;
    again_if_lost(tree, &small.path, |_| {
        if in_doubt {
            match left_behind(tree, small)? {
                Left::All => return set_basic(tree, small),
                Left::Begin => return replace(tree, small, Replace::Existing),
                Left::NothingOfIt => {}
            }
        }
        in_doubt = true;
        write_new(tree, small)
    })
}

/// Writes one under a name that nothing has.
fn write_new(tree: &Tree, small: &SmallFile) -> Result<(), Error> {
    let file = FileKey::OF_CHAIN;
    let options = CreateOptions {
        disposition: Disposition::Create,
        attributes: small.attributes,
        share_read: false,
        ..options(WRITE_RIGHTS)
    };
    let mut links = vec![create(tree, &small.path, options)];
    // The first files tell whether the server keeps what was set before the WRITE.
    let keeps = tree.keeps_times_set_early();
    links.extend(content(small, small.attributes, keeps.unwrap_or(true)));
    let asks = small.times.write != 0 && keeps.is_none();
    if asks {
        let what = QueryInformation::Basic;
        links.push(Request::Query { file, what });
    }
    links.push(Request::Close { file });
    let mut replies = ask_chain(tree, &small.path, links)?.into_iter();
    match replies.next() {
        Some(reply) => opened(tree, &small.path, reply)?,
        None => return Err(tree.shared().odd_answer()),
    };
    let mut as_set = true;
    let mut stored = small.content.len();
    for reply in replies {
        match reply {
            Ok(Reply::Stored(count)) => stored = count as usize,
            Ok(Reply::Done | Reply::Closed) => {}
            Ok(Reply::Information(Information::Basic { times, .. })) => {
                as_set = times.write == small.times.write;
            }
            problem => {
                // It is closed, and nobody else can have made it.
                let _ = remove(tree, &small.path, false);
                return Err(not_done(tree, &small.path, problem));
            }
        }
    }
    if stored < small.content.len() {
        remove(tree, &small.path, false)?;
        return replace(tree, small, Replace::Never);
    }
    if asks {
        tree.learn_times_set_early(as_set);
    }
    if as_set {
        Ok(())
    } else {
        set_basic(tree, small)
    }
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

fn set_basic(tree: &Tree, small: &SmallFile) -> Result<(), Error> {
    tree.set_basic(&small.path, small.times, small.attributes)
}

fn options(rights: u32) -> CreateOptions {
    CreateOptions {
        folder: Some(false),
        share_write: false,
        ..CreateOptions::open(Access::Mask(rights))
    }
}

/// Its bytes, times and attributes. A time that was set through a handle is not touched by what is
/// written through that handle later (MS-FSA 2.1.5.15.2), and so costs the server least: `early`
/// where it does so.
fn content(small: &SmallFile, attributes: u32, early: bool) -> Vec<Request> {
    let file = FileKey::OF_CHAIN;
    let mut links = vec![set(small, attributes, file)];
    if !small.content.is_empty() {
        let place = if early { links.len() } else { 0 };
        let store = Request::Store {
            file,
            offset: 0,
            bytes: Arc::clone(&small.content),
        };
        links.insert(place, store);
    }
    links
}

fn set(small: &SmallFile, attributes: u32, file: FileKey) -> Request {
    let times = small.times;
    let what = SetInformation::Basic { times, attributes };
    Request::Set { file, what }
}

/// A file that was written and does not have its name yet.
struct Part {
    file: FileKey,
    path: String,
    /// The server's number for it; zero: it tells none.
    id: u64,
}

/// Writes one that gets its name when all of it is there, and does so if something has that name.
fn replace(tree: &Tree, small: &SmallFile, existing: Replace) -> Result<(), Error> {
    let mut lost: Vec<String> = Vec::new();
    let written = again_if_lost(tree, &small.path, |attempt| {
        let path = match attempt {
            0 => small.temporary.clone(),
            attempt => format!("{}.{attempt}", small.temporary),
        };
        lost.push(path.clone());
        let part = write_part(tree, small, path)?;
        let (file, id) = (part.file, part.id);
        let named = name_part(tree, small, part, existing);
        let Err(error) = named else { return named };
        if !is_loss(&error) {
            return Err(error);
        }
        // The session opens it again when it comes back, and what is open cannot be removed.
        tell(tree.shared(), Request::Close { file });
        // it may have its name all the same
        match tree.status(&small.path) {
            Ok(there) if id != 0 && there.file_id == id => Ok(()),
            _ => Err(error),
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
fn write_part(tree: &Tree, small: &SmallFile, path: String) -> Result<Part, Error> {
    let attributes = writable(small.attributes);
    let options = CreateOptions {
        attributes,
        disposition: Disposition::CreateOrTruncate,
        disk_id: true,
        // another program with the same idea must not give its name to what this one writes
        ..options(PART_RIGHTS)
    };
    let mut links = vec![create(tree, &path, options)];
    // Nobody asks here whether the server keeps what was set before the WRITE.
    let early = tree.keeps_times_set_early().unwrap_or(false);
    links.extend(content(small, attributes, early));
    let mut replies = ask_chain(tree, &small.path, links)?.into_iter();
    let (file, created) = match replies.next() {
        Some(reply) => opened(tree, &small.path, reply)?,
        None => return Err(tree.shared().odd_answer()),
    };
    let id = created.disk_id.map_or(0, |(file, _)| file);
    let part = Part { file, path, id };
    let mut stored = small.content.len();
    let mut written = Ok(());
    for reply in replies {
        match reply {
            Ok(Reply::Stored(count)) => stored = count as usize,
            Ok(Reply::Done) => {}
            // The first one says most.
            _ if written.is_err() => {}
            problem => written = Err(not_done(tree, &small.path, problem)),
        }
    }
    if written.is_ok() && stored < small.content.len() {
        written = write_rest(tree, small, file, stored, attributes);
    }
    if let Err(error) = written {
        discard(tree, &part);
        return Err(error);
    }
    Ok(part)
}

/// Goes on where a WRITE ended that wrote only some of it. Where the server lacks the room, it says so
/// to this one.
fn write_rest(
    tree: &Tree,
    small: &SmallFile,
    file: FileKey,
    stored: usize,
    attributes: u32,
) -> Result<(), Error> {
    let mut offset = stored;
    while let Some(rest @ [_, ..]) = small.content.get(offset..) {
        let store = Request::Store {
            file,
            offset: offset as u64,
            bytes: rest.into(),
        };
        match ask(tree.shared(), store, &small.path)? {
            Reply::Stored(count) => offset += count as usize,
            _ => return Err(tree.shared().odd_answer()),
        }
    }
    // They may have been set before this was written.
    match ask(tree.shared(), set(small, attributes, file), &small.path)? {
        Reply::Done => Ok(()),
        _ => Err(tree.shared().odd_answer()),
    }
}

/// Gives it its name and closes it.
fn name_part(tree: &Tree, small: &SmallFile, part: Part, existing: Replace) -> Result<(), Error> {
    let file = part.file;
    let mut rename = rename(&small.path, existing);
    if let Request::Set { file: about, .. } = &mut rename {
        *about = file;
    }
    let mut links = vec![rename];
    if writable(small.attributes) != small.attributes {
        links.push(set(small, small.attributes, file));
    }
    links.push(Request::Close { file });
    let mut replies = ask_chain(tree, &small.path, links)?.into_iter();
    let Some(renamed) = replies.next() else {
        return Err(tree.shared().odd_answer());
    };
    if let Err(error) = done(tree, &small.path, renamed) {
        // It is closed, under the name that it has.
        let _ = remove(tree, &part.path, false);
        return Err(error);
    }
    for reply in replies {
        match reply {
            Ok(Reply::Done | Reply::Closed) => {}
            other => return Err(not_done(tree, &small.path, other)),
        }
    }
    Ok(())
}

/// Removes what was written, as far as the server still listens; the first error says more.
fn discard(tree: &Tree, part: &Part) {
    let file = part.file;
    let what = SetInformation::DeleteOnClose(true);
    let links = vec![Request::Set { file, what }, Request::Close { file }];
    tell(tree.shared(), Request::Chain(links));
}
