//! A share, its folders, and what can be done to a file without opening it for data.

use std::fmt;
use std::sync::Arc;

use smb_proto::TreeKey;
use smb_proto::session::{
    Access, CreateOptions, Created, DirectoryEntry, Disposition, FsSize, Information,
    QueryInformation, Reply, Request, SetInformation,
};

use crate::error::Error;
use crate::file::File;
use crate::request::{ask, ask_protocol, tell};
use crate::session::Shared;

/// Bytes of folder entries that are asked for at once.
const LISTING_BYTES: u32 = 1 << 20;

/// A connected share. Paths are relative to it, with `/` or `\` between the parts.
#[derive(Clone)]
pub struct Tree {
    connected: Arc<Connected>,
}

struct Connected {
    shared: Arc<Shared>,
    share: String,
    key: TreeKey,
}

impl Drop for Connected {
    fn drop(&mut self) {
        tell(&self.shared, Request::TreeDisconnect { tree: self.key });
    }
}

impl Tree {
    pub(crate) fn connect(shared: &Arc<Shared>, share: &str) -> Result<Self, Error> {
        let request = Request::TreeConnect {
            share: share.to_owned(),
        };
        let reply = ask_protocol(shared, request)
            .map_err(|source| Error::of_share(source, &shared.server.name, share))?;
        let Reply::Tree(key, _) = reply else {
            return Err(shared.odd_answer());
        };
        let connected = Connected {
            shared: Arc::clone(shared),
            share: share.to_owned(),
            key,
        };
        Ok(Self {
            connected: Arc::new(connected),
        })
    }

    pub(crate) fn key(&self) -> TreeKey {
        self.connected.key
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.connected.shared
    }

    /// The share's name.
    #[must_use]
    pub fn share(&self) -> &str {
        &self.connected.share
    }

    /// Opens or makes a file or folder.
    ///
    /// # Errors
    /// When the server says no: [`Error::NotFound`], [`Error::AccessDenied`] and the like.
    pub fn open(&self, path: &str, options: &CreateOptions) -> Result<File, Error> {
        let request = Request::Create {
            tree: self.key(),
            path: path.to_owned(),
            options: options.clone(),
        };
        match ask(self.shared(), request, path)? {
            Reply::Created(key, created) => Ok(File::new(self.clone(), path, key, created)),
            _ => Err(self.shared().odd_answer()),
        }
    }

    /// Size, times and attributes of a file or folder.
    ///
    /// # Errors
    /// When it does not exist or may not be looked at.
    pub fn metadata(&self, path: &str) -> Result<Created, Error> {
        let file = self.open(path, &CreateOptions::open(Access::Attributes))?;
        let created = file.created();
        file.close()?;
        Ok(created)
    }

    /// The entries of a folder without `.` and `..`, in the server's order.
    ///
    /// # Errors
    /// When it cannot be read, or the server gives names that cannot be names.
    pub fn list(&self, path: &str) -> Result<Vec<DirectoryEntry>, Error> {
        let options = CreateOptions {
            folder: Some(true),
            ..CreateOptions::open(Access::Read)
        };
        let folder = self.open(path, &options)?;
        let mut found = Vec::new();
        let mut restart = true;
        loop {
            let request = Request::List {
                folder: folder.key(),
                pattern: "*".to_owned(),
                restart,
                bytes_max: LISTING_BYTES,
            };
            let Reply::Listing(listing) = ask(self.shared(), request, path)? else {
                return Err(self.shared().odd_answer());
            };
            let Some(listing) = listing else { break };
            for entry in listing.entries() {
                let entry = entry.map_err(|source| self.shared().error(source.into(), path))?;
                if entry.name != "." && entry.name != ".." {
                    self.check_name(&entry)?;
                    found.push(entry);
                }
            }
            restart = false;
        }
        folder.close()?;
        Ok(found)
    }

    /// Callers make paths of the names, so one that leads elsewhere must not reach them.
    fn check_name(&self, entry: &DirectoryEntry) -> Result<(), Error> {
        if !entry.name.is_empty() && !entry.name.contains(['/', '\\', '\0']) {
            return Ok(());
        }
        let problem = format!("`{}` as the name of a file", entry.name.escape_debug());
        let source = smb_proto::Error::Misbehaving(problem);
        Err(self.shared().error(source, &entry.name))
    }

    /// Makes a folder.
    ///
    /// # Errors
    /// When it exists already or may not be made.
    pub fn create_folder(&self, path: &str) -> Result<(), Error> {
        let options = CreateOptions {
            folder: Some(true),
            disposition: Disposition::Create,
            ..CreateOptions::open(Access::Attributes)
        };
        self.open(path, &options)?.close()
    }

    /// Removes a file or an empty folder.
    ///
    /// # Errors
    /// When it does not exist, is not empty, is in use or may not be removed.
    pub fn remove(&self, path: &str) -> Result<(), Error> {
        let file = self.open(path, &CreateOptions::open(Access::Delete))?;
        // The disposition and not the option of the same name: only it says when it cannot be.
        file.set(SetInformation::DeleteOnClose(true))?;
        file.close()
    }

    /// Gives a file or folder another path in the share. What is there is only replaced when
    /// `replace` says so.
    ///
    /// # Errors
    /// When there is no such file, or something is in the way.
    pub fn rename(&self, from: &str, to: &str, replace: Replace) -> Result<(), Error> {
        let file = self.open(from, &CreateOptions::open(Access::Delete))?;
        file.rename(to, replace)?;
        file.close()
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

/// What to do about a file that has the name already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// Leave it, and fail.
    Never,
    /// Put the new one in its place.
    Existing,
}

impl fmt::Debug for Tree {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Tree")
            .field("share", &self.connected.share)
            .finish_non_exhaustive()
    }
}
