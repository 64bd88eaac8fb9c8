//! An open file: questions about it, and its bytes in blocks that belong to whoever holds them.

mod handles_per_session;
mod read;
mod server_copy;
mod write;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use smb_proto::FileKey;
use smb_proto::session::{
    Access, Closed, CreateOptions, Created, FileTimes, FsSize, Information, QueryInformation,
    Reply, Request, SetInformation,
};

use crate::blocking_request::{ask, ask_chain, tell};
use crate::error::Error;
use crate::session::Shared;
use crate::tree::{Replace, Tree};

pub(crate) use handles_per_session::least_loaded;
pub use read::{Piece, Pieces};
pub(crate) use server_copy::ChunksCopied;

/// An open file or folder. Dropping it closes it without waiting.
pub struct File {
    tree: Tree,
    path: String,
    key: FileKey,
    created: Created,
    closed: bool,
    /// The same file over other sessions.
    others: Vec<Self>,
}

impl Tree {
    /// Opens or makes a file or folder.
    ///
    /// # Errors
    /// When the server says no: [`Error::NotFound`], [`Error::AccessDenied`] and the like.
    pub fn open(&self, path: &str, options: &CreateOptions) -> Result<File, Error> {
        let request = self.create(path, options.clone());
        match ask(self.shared(), request, path)? {
            Reply::Created(key, created) => {
                let file = File::new(self.clone(), path, key, created);
                self.check(&created).map(|()| file)
            }
            _ => Err(self.shared().odd_answer()),
        }
    }

    /// How much space the share's file system has.
    ///
    /// # Errors
    /// When the server does not say.
    pub fn free_space(&self) -> Result<FsSize, Error> {
        let root = self.open("", &CreateOptions::open(Access::Attributes))?;
        match root.query(QueryInformation::FsSize)? {
            Information::FsSize(size) => Ok(size),
            _ => Err(self.shared().odd_answer()),
        }
    }
}

impl File {
    pub(crate) fn new(tree: Tree, path: &str, key: FileKey, created: Created) -> Self {
        Self {
            tree,
            path: path.to_owned(),
            key,
            created,
            closed: false,
            others: Vec::new(),
        }
    }

    pub(crate) const fn key(&self) -> FileKey {
        self.key
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        self.tree.shared()
    }

    /// Its path in the share, as it was when it was opened.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Size, times and attributes as they were when it was opened.
    #[must_use]
    pub const fn created(&self) -> Created {
        self.created
    }

    /// Its length now.
    ///
    /// # Errors
    /// When the server does not say.
    pub fn size(&self) -> Result<u64, Error> {
        match self.query(QueryInformation::Standard)? {
            Information::Standard { size, .. } => Ok(size),
            _ => Err(self.shared().odd_answer()),
        }
    }

    /// Closes it. Whether its size and the times of its last changes are what they were when it was opened, and it ends
    /// where its server says.
    ///
    /// Looked at by its path, and only when it is closed: as long as a file is open, Samba shows the time
    /// that it had before, unless a client changes it.
    pub(crate) fn close_unchanged(self) -> Result<bool, Error> {
        let (tree, path, created) = (self.tree.clone(), self.path.clone(), self.created);
        let more = self.has_more_than(created.size)?;
        self.close()?;
        if more {
            return Ok(false);
        }
        let mut said = None;
        loop {
            let now = match tree.status(&path) {
                Ok(now) if created.disk_id.is_none_or(|(id, _)| id == now.file_id) => now,
                // It has another name now, or none, and is what it was.
                Ok(_) => return Ok(true),
                Err(error) if error.status().is_some() => return Ok(true),
                Err(error) => return Err(error),
            };
            if (now.size, now.times.write) != (created.size, created.times.write) {
                return Ok(false);
            }
            let change = now.times.change;
            if change == created.times.change || change == 0 || created.times.change == 0 {
                return Ok(true);
            }
            // A server may make that time up each time it is asked.
            if let Some(before) = said.replace(change) {
                return Ok(before != change);
            }
        }
    }

    /// Whether there is a byte at or behind this place. Some servers say that a file is shorter than it is.
    fn has_more_than(&self, bytes: u64) -> Result<bool, Error> {
        let fetch = Request::Fetch {
            file: self.key,
            offset: bytes,
            bytes_max: 1,
        };
        match ask(self.shared(), fetch, &self.path) {
            Ok(Reply::Bytes(more)) => Ok(!more.is_empty()),
            Ok(_) => Err(self.shared().odd_answer()),
            // Somebody may have locked what could come.
            Err(error) if error.status().is_some() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Its length and times now, in one round trip.
    pub(crate) fn size_and_times(&self) -> Result<(u64, FileTimes), Error> {
        let file = self.key;
        let asks = match self.tree.is_posix() {
            true => &[QueryInformation::Posix][..],
            false => &[QueryInformation::Standard, QueryInformation::Basic],
        };
        let links = asks.iter().map(|&what| Request::Query { file, what });
        let mut now = (0, FileTimes::default());
        for reply in ask_chain(self.shared(), links.collect(), &self.path)? {
            match reply {
                Ok(Reply::Information(Information::Posix { size, times, .. })) => {
                    now = (size, times);
                }
                Ok(Reply::Information(Information::Standard { size, .. })) => now.0 = size,
                Ok(Reply::Information(Information::Basic { times, .. })) => now.1 = times,
                Ok(_) => return Err(self.shared().odd_answer()),
                Err(source) => return Err(self.shared().error(source, &self.path)),
            }
        }
        Ok(now)
    }

    /// The first data stream that it has beside the one that is read, as in `:name:$DATA`, where the server tells it.
    pub(crate) fn alternate_stream(&self) -> Result<Option<String>, Error> {
        if !self.tree.has_streams() {
            return Ok(None);
        }
        match self.query(QueryInformation::Streams) {
            Ok(Information::AlternateStream(first)) => Ok(first),
            Ok(_) => Err(self.shared().odd_answer()),
            Err(error) if error.is_missing_fact() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The path that it has on the server, from the top of the share or of the disk, with `\\` before each name. None:
    /// the server does not say.
    pub(crate) fn path_on_server(&self) -> Result<Option<String>, Error> {
        match self.query(QueryInformation::Path) {
            Ok(Information::Path(path)) => Ok(Some(path)),
            Ok(_) => Err(self.shared().odd_answer()),
            Err(error) if error.is_missing_fact() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The name that it has on the server's disk, which is not the one of a listing where the server shows a
    /// stand-in for a name that it takes for impossible. None: the server does not say.
    pub(crate) fn true_name(&self) -> Result<Option<String>, Error> {
        let Some(path) = self.path_on_server()? else {
            return Ok(None);
        };
        let asked = self.path.replace('/', "\\");
        let folder = asked.rfind('\\').map_or("", |end| &asked[..end]);
        let path = path.trim_start_matches('\\');
        // Behind the folder's own path all is the name, whatever is in it.
        let name = match path.strip_prefix(folder) {
            Some(rest) if folder.is_empty() => Some(rest),
            Some(rest) => rest.strip_prefix('\\'),
            None => None,
        };
        let name = name.unwrap_or_else(|| path.rsplit('\\').next().unwrap_or(path));
        Ok(Some(name.to_owned()).filter(|name| !name.is_empty()))
    }

    /// Lets it have holes.
    pub(crate) fn set_sparse(&self) -> Result<(), Error> {
        self.done(Request::SetSparse { file: self.key })
    }

    /// Where it is no hole, as the server says, which may be anything; and whether there is more
    /// to be asked for.
    pub(crate) fn allocated(&self, range: Range<u64>) -> Result<(Vec<Range<u64>>, bool), Error> {
        let file = self.key;
        match ask(
            self.shared(),
            Request::Allocated { file, range },
            &self.path,
        )? {
            Reply::Allocated { ranges, more } => Ok((ranges, more)),
            _ => Err(self.shared().odd_answer()),
        }
    }

    /// Asks the server to put what was written on its storage.
    ///
    /// # Errors
    /// When the server says no, and when all connections were lost since something was written and the
    /// server did not keep the file open: it may have failed, and lost that.
    pub fn flush(&self) -> Result<(), Error> {
        // Each session answers for what was written over it.
        (0..self.handles()).try_for_each(|handle| {
            let handle = self.handle(handle);
            handle.done(Request::Flush { file: handle.key })
        })
    }

    /// Takes a range for this handle alone, which fails at once where another one has it. It is given
    /// back by [`Self::unlock`], and when the file is closed. After a lost connection it is not taken
    /// again.
    ///
    /// # Errors
    /// When the server says no.
    pub fn lock(&self, offset: u64, bytes: u64) -> Result<(), Error> {
        self.done(Request::Lock {
            file: self.key,
            offset,
            bytes,
            unlock: false,
        })
    }

    /// Gives a range back, the very one that was taken.
    ///
    /// # Errors
    /// When the server says no, as where it was not taken.
    pub fn unlock(&self, offset: u64, bytes: u64) -> Result<(), Error> {
        self.done(Request::Lock {
            file: self.key,
            offset,
            bytes,
            unlock: true,
        })
    }

    /// Sets its times; zero leaves one as it is.
    ///
    /// # Errors
    /// When the server says no.
    pub fn set_times(&self, times: FileTimes) -> Result<(), Error> {
        self.set(SetInformation::Basic {
            times,
            attributes: 0,
        })
    }

    /// Sets its length.
    ///
    /// # Errors
    /// When the server says no, as without enough space.
    pub fn set_size(&self, bytes: u64) -> Result<(), Error> {
        self.set(SetInformation::EndOfFile(bytes))
    }

    /// Gives it another path in the share; it must have been opened with the right to delete.
    ///
    /// # Errors
    /// When the server says no, and as [`Self::flush`] where something of it may be lost.
    pub fn rename(&self, path: &str, replace: Replace) -> Result<(), Error> {
        let replace = replace == Replace::Existing;
        let what = SetInformation::Rename {
            path: path.to_owned(),
            replace,
        };
        let request = Request::Set {
            file: self.key,
            what,
        };
        match ask(self.shared(), request, path) {
            Ok(Reply::Done) => Ok(()),
            Ok(_) => Err(self.shared().odd_answer()),
            // It may have been said twice, when a channel was lost.
            Err(Error::AlreadyExists { .. }) if self.is_at(path) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Whether this very file is there, as far as the server tells one from another.
    fn is_at(&self, path: &str) -> bool {
        let number = self.created.file_id();
        number != 0 && (self.tree.status(path)).is_ok_and(|there| there.file_id == number)
    }

    pub(crate) fn set(&self, what: SetInformation) -> Result<(), Error> {
        self.done(Request::Set {
            file: self.key,
            what,
        })
    }

    pub(crate) fn query(&self, what: QueryInformation) -> Result<Information, Error> {
        match ask(
            self.shared(),
            Request::Query {
                file: self.key,
                what,
            },
            &self.path,
        )? {
            Reply::Information(information) => Ok(information),
            _ => Err(self.shared().odd_answer()),
        }
    }

    /// Closes it and hears what the server says to that.
    ///
    /// # Errors
    /// When the server says no; the file is closed then as well.
    pub fn close(mut self) -> Result<(), Error> {
        self.close_handles()?;
        self.close_now().map(drop)
    }

    /// The same of a file that somebody still holds, who does nothing more with it.
    pub(crate) fn close_now(&mut self) -> Result<Closed, Error> {
        self.closed = true;
        match ask(self.shared(), Request::Close { file: self.key }, &self.path)? {
            Reply::Closed(closed) => Ok(closed),
            _ => Err(self.shared().odd_answer()),
        }
    }

    /// Closes what [`Self::add_handle`] took, of a file that was written: as [`Self::close_written`].
    pub(crate) fn close_written_handles(&mut self) -> Result<(), Error> {
        let mut others = std::mem::take(&mut self.others);
        (others.iter_mut()).try_for_each(|other| other.close_written().map(drop))
    }

    /// Closes a file that was written. An error where it was not heard to end with all that was written through
    /// this handle: a server may say only then what it could not store.
    pub(crate) fn close_written(&mut self) -> Result<Closed, Error> {
        let closed = self.close_now()?;
        match closed.sure {
            true => Ok(closed),
            false => Err(self.shared().unheard_end(&self.path)),
        }
    }

    /// The handle, for a chain that closes it.
    pub(crate) fn into_key(mut self) -> FileKey {
        self.closed = true;
        self.key
    }

    pub(crate) const fn is_closed(&self) -> bool {
        self.closed
    }

    fn done(&self, request: Request) -> Result<(), Error> {
        match ask(self.shared(), request, &self.path)? {
            Reply::Done => Ok(()),
            _ => Err(self.shared().odd_answer()),
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        if !self.closed {
            tell(self.shared(), Request::Close { file: self.key });
        }
    }
}

impl fmt::Debug for File {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("File")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
