//! Small things done to one path each.

use smb_proto::session::{Access, CreateOptions, Created, Disposition, FileTimes, SetInformation};

use crate::error::Error;
use crate::tree::{Replace, Tree};

/// Most bytes that [`Operation::Read`] gives and [`Operation::Write`] takes: 64 KiB, what servers
/// take in one message together with opening and closing.
pub const SMALL_BYTES_MAX: usize = 1 << 16;
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
/// When something fails, the part is removed, as far as the server still listens; when the
/// connection is lost in the middle, a part may stay under its temporary name.
#[derive(Clone, Debug)]
pub struct SmallFile {
    /// Where.
    pub path: String,
    /// A path in the same share that nobody else uses; what is there is overwritten.
    pub temporary: String,
    /// If something is at the path.
    pub replace: Replace,
    /// Its content, at most [`SMALL_BYTES_MAX`].
    pub content: Vec<u8>,
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
            let file = tree.open(&path, &options)?;
            let status = status(&file.created());
            file.close()?;
            Ok(Outcome::Status(status))
        }
        Operation::Read { path } => {
            let options = CreateOptions {
                disk_id: true,
                folder: Some(false),
                ..CreateOptions::open(Access::Read)
            };
            let file = tree.open(&path, &options)?;
            let mut bytes = vec![0; SMALL_BYTES_MAX];
            let count = file.read_at(0, &mut bytes)?;
            bytes.truncate(count);
            let status = status(&file.created());
            file.close()?;
            Ok(Outcome::Content(Content { status, bytes }))
        }
        Operation::Write(small) => write(tree, &small),
        Operation::CreateFolder { path } => {
            let options = CreateOptions {
                folder: Some(true),
                disposition: Disposition::Create,
                ..CreateOptions::open(Access::Attributes)
            };
            tree.open(&path, &options)?.close()?;
            Ok(Outcome::Done)
        }
        Operation::RemoveFile { path } => remove(tree, &path, false),
        Operation::RemoveFolder { path } => remove(tree, &path, true),
        Operation::Rename { from, to, replace } => {
            let options = CreateOptions {
                reparse_point: true,
                ..CreateOptions::open(Access::Delete)
            };
            let file = tree.open(&from, &options)?;
            file.rename(&to, replace)?;
            file.close()?;
            Ok(Outcome::Done)
        }
        Operation::SetBasic {
            path,
            times,
            attributes,
        } => {
            let options = CreateOptions {
                reparse_point: true,
                ..CreateOptions::open(Access::Mask(SET_RIGHTS))
            };
            let file = tree.open(&path, &options)?;
            file.set(SetInformation::Basic { times, attributes })?;
            file.close()?;
            Ok(Outcome::Done)
        }
    }
}

fn write(tree: &Tree, small: &SmallFile) -> Result<Outcome, Error> {
    let options = CreateOptions {
        disposition: Disposition::CreateOrTruncate,
        folder: Some(false),
        share_write: false,
        ..CreateOptions::open(Access::Mask(WRITE_RIGHTS))
    };
    let file = tree.open(&small.temporary, &options)?;
    let written = (|| {
        file.write_at(0, &small.content)?;
        file.set(SetInformation::Basic {
            times: small.times,
            attributes: small.attributes,
        })?;
        file.rename(&small.path, small.replace)
    })();
    if written.is_err() {
        // As far as the server still listens; the first error says more than this one.
        let _ = file.set(SetInformation::DeleteOnClose(true));
    }
    let closed = file.close();
    written.and(closed).map(|()| Outcome::Done)
}

fn remove(tree: &Tree, path: &str, folder: bool) -> Result<Outcome, Error> {
    let options = CreateOptions {
        folder: Some(folder),
        reparse_point: true,
        ..CreateOptions::open(Access::Delete)
    };
    let file = tree.open(path, &options)?;
    // The disposition and not the option of the same name: only it says when it cannot be.
    file.set(SetInformation::DeleteOnClose(true))?;
    file.close()?;
    Ok(Outcome::Done)
}

fn status(created: &Created) -> Status {
    Status {
        times: created.times,
        size: created.size,
        allocation: created.allocation,
        attributes: created.attributes,
        file_id: created.disk_id.map_or(0, |(file, _)| file),
    }
}
