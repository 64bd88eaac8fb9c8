//! Small things done to one path each, each in one round trip: opening, the thing itself and
//! closing go to the server together. Writing takes a second one, so that nothing has its name
//! before it is known to be whole.

use std::sync::Arc;

use smb_proto::session::{
    Access, CreateOptions, Created, Disposition, FileTimes, Reply, Request, SetInformation,
};
use smb_proto::{Error as ProtocolError, FileKey};

use crate::error::Error;
use crate::request::{ask_protocol, tell};
use crate::tree::{Replace, Tree};

/// Most bytes that [`Operation::Read`] gives and [`Operation::Write`] takes: 64 KiB, what servers
/// take in one message together with opening and closing.
pub const SMALL_BYTES_MAX: usize = Request::SMALL_BYTES_MAX as usize;
/// How often an operation is begun again when the channel was lost that it was under way on.
const ATTEMPTS_MAX: usize = 4;
/// Rights to write a file, set its times, and give it its name (DELETE, SYNCHRONIZE, read and
/// write attributes, write data, append).
const WRITE_RIGHTS: u32 = 0x0001_0000 | 0x0010_0000 | 0x80 | 0x100 | 0x2 | 0x4;
/// Rights to set times and attributes.
const SET_RIGHTS: u32 = 0x0010_0000 | 0x80 | 0x100;

/// Something done to one path of a share.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Operation {
    /// What is known about it: [`Outcome::Status`]. A link is not followed.
    Status {
        /// Where.
        path: String,
    },
    /// The begin of a file, all of it if it has at most [`SMALL_BYTES_MAX`] bytes:
    /// [`Outcome::Content`].
    Read {
        /// Where.
        path: String,
    },
    /// A whole small file: [`Outcome::Done`].
    Write(SmallFile),
    /// Make a folder: [`Outcome::Done`].
    CreateFolder {
        /// Where.
        path: String,
    },
    /// Remove a file, or a link to anything: [`Outcome::Done`].
    RemoveFile {
        /// Where.
        path: String,
    },
    /// Remove an empty folder: [`Outcome::Done`].
    RemoveFolder {
        /// Where.
        path: String,
    },
    /// Give it another path in the share: [`Outcome::Done`].
    Rename {
        /// Where it is.
        from: String,
        /// Where it is to be.
        to: String,
        /// If something is there.
        replace: Replace,
    },
    /// Set times and attributes; zero leaves one as it is: [`Outcome::Done`].
    SetBasic {
        /// Where.
        path: String,
        /// Times.
        times: FileTimes,
        /// Attributes.
        attributes: u32,
    },
}

/// A small file to be written.
///
/// It gets its name when all of it is there and has its times: a file that looks whole is whole.
/// When something fails, the part is removed, as far as the server still listens. When the
/// connection is lost in the middle, a part may stay under its temporary name, and the next attempt
/// uses that name with `.1`, `.2` or `.3` behind it.
#[derive(Clone, Debug)]
pub struct SmallFile {
    /// Where.
    pub path: String,
    /// A path in the same share that nobody else uses; what is there is overwritten.
    pub temporary: String,
    /// If something is at the path.
    pub replace: Replace,
    /// Its content, at most [`SMALL_BYTES_MAX`].
    pub content: Arc<[u8]>,
    /// Its times; zero: as the server likes.
    pub times: FileTimes,
    /// Its attributes; zero: as the server likes.
    pub attributes: u32,
}

/// What came of an [`Operation`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// It is done.
    Done,
    /// What is known about a path.
    Status(Status),
    /// The begin of a file.
    Content(Content),
}

/// What is known about a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Its times.
    pub times: FileTimes,
    /// Its length.
    pub size: u64,
    /// The space it takes.
    pub allocation: u64,
    /// Its attributes, as in MS-FSCC (0x10 folder, 0x400 link).
    pub attributes: u32,
    /// Its number on the server's file system, as in a listing; zero: the server tells none.
    pub file_id: u64,
}

/// The begin of a file.
#[derive(Clone, Debug)]
pub struct Content {
    /// As it was when it was opened. A size that is not that of the bytes says that there are
    /// more, or that the file was changed meanwhile.
    pub status: Status,
    /// All of it, or the first [`SMALL_BYTES_MAX`] bytes.
    pub bytes: Vec<u8>,
}

/// Does it and waits.
pub(crate) fn run(tree: &Tree, operation: Operation) -> Result<Outcome, Error> {
    match operation {
        Operation::Status { path } => {
            let options = CreateOptions {
                disk_id: true,
                reparse_point: true,
                ..CreateOptions::open(Access::Attributes)
            };
            let [created] = chain(tree, &path, options, [])?;
            opened(tree, &path, created).map(|(_, created)| Outcome::Status(status(&created)))
        }
        Operation::Read { path } => read(tree, &path),
        Operation::Write(small) => write(tree, &small),
        Operation::CreateFolder { path } => {
            let options = CreateOptions {
                folder: Some(true),
                disposition: Disposition::Create,
                ..CreateOptions::open(Access::Attributes)
            };
            let [created] = chain(tree, &path, options, [])?;
            opened(tree, &path, created).map(|_| Outcome::Done)
        }
        Operation::RemoveFile { path } => remove(tree, &path, false),
        Operation::RemoveFolder { path } => remove(tree, &path, true),
        Operation::Rename { from, to, replace } => {
            let options = CreateOptions {
                reparse_point: true,
                ..CreateOptions::open(Access::Delete)
            };
            let [created, renamed] = chain(tree, &from, options, [rename(&to, replace)])?;
            opened(tree, &from, created)?;
            done(tree, &to, renamed)
        }
        Operation::SetBasic {
            path,
            times,
            attributes,
        } => again_if_lost(tree, &path, |_| {
            let options = CreateOptions {
                reparse_point: true,
                ..CreateOptions::open(Access::Mask(SET_RIGHTS))
            };
            let basic = SetInformation::Basic { times, attributes };
            change(tree, &path, options, basic)
        }),
    }
}

fn read(tree: &Tree, path: &str) -> Result<Outcome, Error> {
    let options = CreateOptions {
        disk_id: true,
        folder: Some(false),
        ..CreateOptions::open(Access::Read)
    };
    let fetch = Request::Fetch {
        file: FileKey::OF_CHAIN,
        offset: 0,
        bytes_max: Request::SMALL_BYTES_MAX,
    };
    let [created, fetched] = chain(tree, path, options, [fetch])?;
    let (_, created) = opened(tree, path, created)?;
    match fetched {
        Ok(Reply::Bytes(bytes)) => Ok(Outcome::Content(Content {
            status: status(&created),
            bytes,
        })),
        other => Err(not_done(tree, path, other)),
    }
}

fn remove(tree: &Tree, path: &str, folder: bool) -> Result<Outcome, Error> {
    let mut lost = false;
    again_if_lost(tree, path, |_| {
        let options = CreateOptions {
            folder: Some(folder),
            reparse_point: true,
            ..CreateOptions::open(Access::Delete)
        };
        // The disposition and not the option of the same name: only it says when it cannot be.
        let removed = change(tree, path, options, SetInformation::DeleteOnClose(true));
        match removed {
            Err(Error::NotFound { .. }) if lost => Ok(Outcome::Done),
            removed => {
                lost = true;
                removed
            }
        }
    })
}

fn change(
    tree: &Tree,
    path: &str,
    options: CreateOptions,
    what: SetInformation,
) -> Result<Outcome, Error> {
    let file = FileKey::OF_CHAIN;
    let [created, changed] = chain(tree, path, options, [Request::Set { file, what }])?;
    opened(tree, path, created)?;
    done(tree, path, changed)
}

fn rename(path: &str, replace: Replace) -> Request {
    let what = SetInformation::Rename {
        path: path.to_owned(),
        replace: replace == Replace::Existing,
    };
    let file = FileKey::OF_CHAIN;
    Request::Set { file, what }
}

/// Opens a file, does these things with it, and closes it; gives the answers to all but the last.
fn chain<const MORE: usize, const ALL: usize>(
    tree: &Tree,
    path: &str,
    options: CreateOptions,
    more: [Request; MORE],
) -> Result<[smb_proto::error::Result<Reply>; ALL], Error> {
    let mut links = Vec::with_capacity(MORE + 2);
    links.push(create(tree, path, options));
    links.extend(more);
    links.push(Request::Close {
        file: FileKey::OF_CHAIN,
    });
    let mut replies = ask_chain(tree, path, links)?;
    replies.truncate(ALL);
    let replies = <[_; ALL]>::try_from(replies).ok();
    replies.ok_or_else(|| tree.shared().odd_answer())
}

fn create(tree: &Tree, path: &str, options: CreateOptions) -> Request {
    Request::Create {
        tree: tree.key(),
        path: path.to_owned(),
        options,
    }
}

type Replies = Vec<smb_proto::error::Result<Reply>>;

fn ask_chain(tree: &Tree, path: &str, links: Vec<Request>) -> Result<Replies, Error> {
    let shared = tree.shared();
    match ask_protocol(shared, Request::Chain(links)) {
        Ok(Reply::Chain(replies)) => Ok(replies),
        Ok(_) => Err(shared.odd_answer()),
        Err(source) => Err(shared.error(source, path)),
    }
}

fn opened(
    tree: &Tree,
    path: &str,
    reply: smb_proto::error::Result<Reply>,
) -> Result<(FileKey, Created), Error> {
    match reply {
        Ok(Reply::Created(file, created)) => Ok((file, created)),
        other => Err(not_done(tree, path, other)),
    }
}

fn done(tree: &Tree, path: &str, reply: smb_proto::error::Result<Reply>) -> Result<Outcome, Error> {
    match reply {
        Ok(Reply::Done) => Ok(Outcome::Done),
        other => Err(not_done(tree, path, other)),
    }
}

fn not_done(tree: &Tree, path: &str, reply: smb_proto::error::Result<Reply>) -> Error {
    match reply {
        Ok(_) => tree.shared().odd_answer(),
        Err(source) => tree.shared().error(source, path),
    }
}

/// Begins anew when the channel was lost on which it was under way: nobody knows what of it was
/// done, so it must be something that may be done twice.
fn again_if_lost<T>(
    tree: &Tree,
    path: &str,
    mut attempt: impl FnMut(usize) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut number = 0;
    loop {
        let result = attempt(number);
        number += 1;
        match result {
            Err(error) if number < ATTEMPTS_MAX && is_loss(&error) => {}
            result => return result,
        }
        if tree.shared().protocol.is_over() {
            let ended = ProtocolError::SessionEnded(None);
            return Err(tree.shared().error(ended, path));
        }
    }
}

/// Whether it was under way on a channel that is no more.
fn is_loss(error: &Error) -> bool {
    matches!(error.protocol(), Some(ProtocolError::ChannelLost { .. }))
}

/// A file that was written and does not have its name yet.
struct Part {
    file: FileKey,
    path: String,
    /// The server's number for it; zero: it tells none.
    id: u64,
}

fn write(tree: &Tree, small: &SmallFile) -> Result<Outcome, Error> {
    let mut lost: Vec<String> = Vec::new();
    let written = again_if_lost(tree, &small.path, |attempt| {
        let path = match attempt {
            0 => small.temporary.clone(),
            attempt => format!("{}.{attempt}", small.temporary),
        };
        lost.push(path.clone());
        let part = write_part(tree, small, path)?;
        let (file, id) = (part.file, part.id);
        let named = name_part(tree, small, part);
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
    written.map(|()| Outcome::Done)
}

/// Writes it all under another name, with its times.
fn write_part(tree: &Tree, small: &SmallFile, path: String) -> Result<Part, Error> {
    let options = CreateOptions {
        disposition: Disposition::CreateOrTruncate,
        folder: Some(false),
        disk_id: true,
        // another program with the same idea must not give its name to what this one writes
        share_write: false,
        ..CreateOptions::open(Access::Mask(WRITE_RIGHTS))
    };
    let file = FileKey::OF_CHAIN;
    let mut links = vec![create(tree, &path, options)];
    if !small.content.is_empty() {
        links.push(store(file, 0, &small.content));
    }
    let what = SetInformation::Basic {
        times: small.times,
        attributes: small.attributes,
    };
    links.push(Request::Set { file, what });
    let mut replies = ask_chain(tree, &small.path, links)?.into_iter();
    let (file, created) = match replies.next() {
        Some(reply) => opened(tree, &small.path, reply)?,
        None => return Err(tree.shared().odd_answer()),
    };
    let id = created.disk_id.map_or(0, |(file, _)| file);
    let part = Part { file, path, id };
    for reply in replies {
        let problem = match reply {
            Ok(Reply::Stored(count)) if count as usize == small.content.len() => continue,
            Ok(Reply::Done) => continue,
            Ok(Reply::Stored(count)) => {
                let problem = format!("it wrote {count} bytes of {}", small.content.len());
                Err(ProtocolError::Misbehaving(problem))
            }
            other => other,
        };
        discard(tree, &part);
        return Err(not_done(tree, &small.path, problem));
    }
    Ok(part)
}

fn store(file: FileKey, offset: u64, bytes: &Arc<[u8]>) -> Request {
    Request::Store {
        file,
        offset,
        bytes: Arc::clone(bytes),
    }
}

/// Gives it its name and closes it.
fn name_part(tree: &Tree, small: &SmallFile, part: Part) -> Result<(), Error> {
    let file = part.file;
    let mut rename = rename(&small.path, small.replace);
    if let Request::Set { file: about, .. } = &mut rename {
        *about = file;
    }
    let links = vec![rename, Request::Close { file }];
    let mut replies = ask_chain(tree, &small.path, links)?.into_iter();
    let (Some(renamed), Some(closed)) = (replies.next(), replies.next()) else {
        return Err(tree.shared().odd_answer());
    };
    if let Err(error) = done(tree, &small.path, renamed) {
        // It is closed, under the name that it has.
        let _ = remove(tree, &part.path, false);
        return Err(error);
    }
    match closed {
        Ok(Reply::Closed) => Ok(()),
        other => Err(not_done(tree, &small.path, other)),
    }
}

/// Removes what was written, as far as the server still listens; the first error says more.
fn discard(tree: &Tree, part: &Part) {
    let file = part.file;
    let what = SetInformation::DeleteOnClose(true);
    let links = vec![Request::Set { file, what }, Request::Close { file }];
    tell(tree.shared(), Request::Chain(links));
}

pub(crate) fn status(created: &Created) -> Status {
    Status {
        times: created.times,
        size: created.size,
        allocation: created.allocation,
        attributes: created.attributes,
        file_id: created.disk_id.map_or(0, |(file, _)| file),
    }
}
