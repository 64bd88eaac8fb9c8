//! Small things done to one path each, each in one round trip: opening, the thing itself and
//! closing go to the server together.

use std::sync::Arc;

use smb_proto::session::{
    Access, Closed, CreateOptions, Created, Disposition, FileTimes, Information, Posix,
    QueryInformation, Reply, Request, SetInformation,
};
use smb_proto::{Error as ProtocolError, FileKey, NtStatus};

use crate::blocking_request::ask_chain;
use crate::copy::name::printable;
use crate::error::Error;
use crate::tree::{Replace, Tree};

/// Most bytes that [`Operation::Read`] gives and [`Operation::Write`] takes: 64 KiB, what servers
/// take in one message together with opening and closing.
pub const SMALL_BYTES_MAX: usize = Request::SMALL_BYTES_MAX as usize;
/// Why times or attributes of a file that was written are not as they should be; none: they are.
pub(crate) type NotKept = Option<Error>;

/// How often an operation is begun again when the channel was lost that it was under way on.
const ATTEMPTS_MAX: usize = 4;
/// Attributes (MS-FSCC 2.6).
const READ_ONLY: u32 = 0x1;
const FOLDER: u32 = 0x10;
const NORMAL: u32 = 0x80;
/// DELETE, SYNCHRONIZE and the right to write, so that whoever writes to it is in the way.
const CLEAR_RIGHTS: u32 = 0x0001_0000 | 0x0010_0000 | 0x2;

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
    /// Make a folder: [`Outcome::Done`]. Where the channel was lost that it was under way on, a
    /// folder that is there then counts as the one that was to be made.
    CreateFolder {
        /// Where.
        path: String,
    },
    /// Remove a file, also a read-only one, or a link to anything: [`Outcome::Done`].
    RemoveFile {
        /// Where.
        path: String,
    },
    /// Remove an empty folder, also a read-only one: [`Outcome::Done`].
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
/// One that is new is made, written and closed by requests that go to the server together, so that
/// nobody can open it before all of it is there; where the server then says that it could not write
/// all of it, it is removed. One that takes the place of another, or that the server wrote only some of
/// at once, is written under its temporary name first. When the connection is lost in the middle, a part
/// may stay under that name, and the next attempt uses it with `.1`, `.2` or `.3` behind it.
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
    /// Its mode, where the share [is POSIX](Tree::is_posix); none: as the server likes.
    pub mode: Option<u32>,
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
    /// What only the POSIX extensions tell.
    pub posix: Option<Posix>,
}

/// The begin of a file.
#[derive(Clone, Debug)]
pub struct Content {
    /// As it was when it was opened. A size that is not that of the bytes says that there are
    /// more, or that the file was changed meanwhile.
    pub status: Status,
    /// All of it, or the first [`SMALL_BYTES_MAX`] bytes.
    pub bytes: Vec<u8>,
    /// The first data stream that it has beside this one, as in `:name:$DATA`, where the server tells it.
    pub alternate_stream: Option<String>,
}

/// Makes a folder with this mode, and says what the server made, if that was heard.
pub(crate) fn create_folder(
    tree: &Tree,
    path: &str,
    mode: Option<u32>,
) -> Result<Option<Created>, Error> {
    let mut lost = false;
    retry_if_lost(tree, path, |_| {
        let options = CreateOptions {
            folder: Some(true),
            disposition: Disposition::Create,
            posix: mode,
            ..CreateOptions::open(Access::Attributes)
        };
        let made = chain(tree, path, options, [])
            .and_then(|[created, _]| opened(tree, path, created))
            .map(|(_, created)| Some(created));
        match made {
            // the one of which nobody heard has made it
            Err(Error::AlreadyExists { .. }) if lost && is_folder(tree, path) => Ok(None),
            made => {
                lost = true;
                made
            }
        }
    })
}

fn is_folder(tree: &Tree, path: &str) -> bool {
    let status = tree.status(path);
    status.is_ok_and(|status| status.attributes & FOLDER != 0)
}

/// The begin of a file, as [`Operation::Read`] gives it.
pub(crate) fn read(tree: &Tree, path: &str) -> Result<Content, Error> {
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
    let (created, fetched, streams, closed) = if tree.has_streams() {
        let (file, what) = (FileKey::OF_CHAIN, QueryInformation::Streams);
        let query = Request::Query { file, what };
        let [created, fetched, streams, closed] = chain(tree, path, options, [fetch, query])?;
        (created, fetched, Some(streams), closed)
    } else {
        let [created, fetched, closed] = chain(tree, path, options, [fetch])?;
        (created, fetched, None, closed)
    };
    let (_, created) = opened(tree, path, created)?;
    let there = created.size.min(SMALL_BYTES_MAX as u64);
    match fetched {
        Ok(Reply::Bytes(_)) if differs_when_closed(&created, &closed) => {
            read_in_steps(tree, path, SMALL_BYTES_MAX as u64)
        }
        // A server may give less at once than it is asked for.
        Ok(Reply::Bytes(bytes)) if (bytes.len() as u64) < there => {
            read_in_steps(tree, path, SMALL_BYTES_MAX as u64)
        }
        Ok(Reply::Bytes(bytes)) => Ok(Content {
            status: status(&created),
            bytes,
            alternate_stream: match streams {
                Some(Ok(Reply::Information(Information::AlternateStream(first)))) => first,
                _ => None,
            },
        }),
        other => Err(not_done(tree, path, other)),
    }
}

/// Whether a server told of a file that was only read something else when it closed it: perhaps somebody has written to
/// it meanwhile.
fn differs_when_closed(created: &Created, closed: &smb_proto::error::Result<Reply>) -> bool {
    let Ok(Reply::Closed(closed)) = closed else {
        return false;
    };
    let size = closed.size.is_some_and(|size| size != created.size);
    let times = closed.times;
    size || times.is_some_and(|times| times.write != created.times.write)
}

/// All of a file, or the first bytes of a longer one, in as many requests as it takes. One that is
/// changed between them is an error.
pub(crate) fn read_in_steps(tree: &Tree, path: &str, bytes_max: u64) -> Result<Content, Error> {
    let options = CreateOptions {
        disk_id: true,
        folder: Some(false),
        sequential: true,
        ..CreateOptions::open(Access::Read)
    };
    let file = tree.open(path, &options)?;
    let created = file.created();
    let bytes_max = usize::try_from(created.size.min(bytes_max)).unwrap_or(usize::MAX);
    let mut bytes = vec![0; bytes_max];
    let count = file.read_at(0, &mut bytes)?;
    bytes.truncate(count);
    let alternate_stream = file.alternate_stream()?;
    if !file.close_unchanged()? {
        return Err(Error::Changed {
            object: printable(path),
        });
    }
    let status = status(&created);
    Ok(Content {
        status,
        bytes,
        alternate_stream,
    })
}

/// These attributes without that of being read-only, and never none where they are some: those that a
/// file has stay then.
pub(crate) const fn writable(attributes: u32) -> u32 {
    match attributes & !READ_ONLY {
        0 if attributes != 0 => NORMAL,
        left => left,
    }
}

/// Removes it, also where it is read-only.
pub(crate) fn remove(tree: &Tree, path: &str, folder: bool) -> Result<(), Error> {
    let removed = remove_writable(tree, path, folder);
    let refused = |error: &Error| error.status() == Some(NtStatus::CANNOT_DELETE);
    if !removed.as_ref().is_err_and(refused) {
        return removed;
    }
    let attributes = tree.status(path)?.attributes;
    if attributes & READ_ONLY == 0 {
        return removed;
    }
    tree.set_basic(path, FileTimes::default(), writable(attributes))?;
    let removed = remove_writable(tree, path, folder);
    if removed.is_err() {
        // It stays as it was; why it does says more than that this failed as well.
        let _ = tree.set_basic(path, FileTimes::default(), attributes);
    }
    removed
}

fn remove_writable(tree: &Tree, path: &str, folder: bool) -> Result<(), Error> {
    let mut lost = false;
    retry_if_lost(tree, path, |_| {
        let options = CreateOptions {
            folder: Some(folder),
            reparse_point: true,
            ..CreateOptions::open(Access::Delete)
        };
        match remove_once(tree, path, options) {
            Err(Error::NotFound { .. }) if lost => Ok(()),
            removed => {
                lost = true;
                removed
            }
        }
    })
}

/// Makes room for a file: removes what has its name, where nobody writes to it; of a link, the link itself.
pub(crate) fn clear(tree: &Tree, path: &str) -> Result<(), Error> {
    let options = CreateOptions {
        folder: Some(false),
        reparse_point: true,
        share_write: false,
        ..CreateOptions::open(Access::Mask(CLEAR_RIGHTS))
    };
    match remove_once(tree, path, options) {
        Err(Error::NotFound { .. }) => Ok(()),
        cleared => cleared,
    }
}

fn remove_once(tree: &Tree, path: &str, options: CreateOptions) -> Result<(), Error> {
    let file = FileKey::OF_CHAIN;
    // The disposition and not the option of the same name: only it says when it cannot be.
    let what = SetInformation::DeleteOnClose(true);
    let [created, marked, closed] = chain(tree, path, options, [Request::Set { file, what }])?;
    opened(tree, path, created)?;
    done(tree, path, marked)?;
    match closed {
        Ok(Reply::Closed(_)) => Ok(()),
        // It is removed only now, and Samba says only now that it cannot be.
        Err(ProtocolError::Refused { status, .. }) => {
            let asked = smb_proto::error::Operation::Remove.of(path);
            let refused = ProtocolError::refused(asked, status);
            Err(tree.shared().error(refused, path))
        }
        lost => Err(not_done(tree, path, lost)),
    }
}

/// Opens something, changes this about it, and closes it. Gives what the server tells of it then.
pub(crate) fn change(
    tree: &Tree,
    path: &str,
    options: CreateOptions,
    what: SetInformation,
) -> Result<Closed, Error> {
    let file = FileKey::OF_CHAIN;
    let [created, changed, closed] = chain(tree, path, options, [Request::Set { file, what }])?;
    opened(tree, path, created)?;
    done(tree, path, changed)?;
    Ok(match closed {
        Ok(Reply::Closed(closed)) => closed,
        // What was done is done.
        _ => Closed::default(),
    })
}

/// Opens a file, does these things with it, and closes it; gives the answers to all.
pub(crate) fn chain<const MORE: usize, const ALL: usize>(
    tree: &Tree,
    path: &str,
    options: CreateOptions,
    more: [Request; MORE],
) -> Result<[smb_proto::error::Result<Reply>; ALL], Error> {
    let mut links = Vec::with_capacity(MORE + 2);
    links.push(tree.create(path, options));
    links.extend(more);
    links.push(Request::Close {
        file: FileKey::OF_CHAIN,
    });
    let replies = ask_chain(tree.shared(), links, path)?;
    let replies = <[_; ALL]>::try_from(replies).ok();
    replies.ok_or_else(|| tree.shared().odd_answer())
}

pub(crate) fn opened(
    tree: &Tree,
    path: &str,
    reply: smb_proto::error::Result<Reply>,
) -> Result<(FileKey, Created), Error> {
    match reply {
        Ok(Reply::Created(file, created)) => tree.check(&created).map(|()| (file, created)),
        other => Err(not_done(tree, path, other)),
    }
}

pub(crate) fn done(
    tree: &Tree,
    path: &str,
    reply: smb_proto::error::Result<Reply>,
) -> Result<(), Error> {
    match reply {
        Ok(Reply::Done) => Ok(()),
        other => Err(not_done(tree, path, other)),
    }
}

pub(crate) fn not_done(tree: &Tree, path: &str, reply: smb_proto::error::Result<Reply>) -> Error {
    match reply {
        Ok(_) => tree.shared().odd_answer(),
        Err(source) => tree.shared().error(source, path),
    }
}

/// Begins anew when the channel was lost on which it was under way: nobody knows what of it was
/// done, so it must be something that may be done twice.
pub(crate) fn retry_if_lost<T>(
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

/// Whether it was under way on a channel that is no more, or what it is about was lost with all channels.
pub(crate) fn is_loss(error: &Error) -> bool {
    matches!(
        error.protocol(),
        Some(ProtocolError::ChannelLost { .. } | ProtocolError::FileChanged { .. })
    )
}

pub(crate) fn status(created: &Created) -> Status {
    Status {
        times: created.times,
        size: created.size,
        allocation: created.allocation,
        attributes: created.attributes,
        file_id: created.file_id(),
        posix: created.posix,
    }
}
