//! Connected shares, open files and leases: how the server knows them, and what is known about them.

use locale::say;

use super::State;
use crate::error::{Error, FileProblem, Result};
use crate::session::request_types::{CreateOptions, Created};
use crate::session::{FileKey, TreeKey};
use crate::wire::FileId;

/// How the server knows a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TreeId {
    pub(crate) number: u32,
    /// Its requests must be encrypted.
    pub(crate) encrypted: bool,
}

impl TreeId {
    /// For requests that are about no share.
    pub(crate) const NONE: Self = Self {
        number: 0,
        encrypted: false,
    };
}

pub(crate) struct TreeRecord {
    pub(crate) id: TreeId,
    pub(crate) share: Box<str>,
    /// Why it could not be restored.
    pub(crate) gone: Option<Error>,
}

pub(crate) struct FileRecord {
    pub(crate) tree: TreeKey,
    pub(crate) id: FileId,
    pub(crate) path: Box<str>,
    /// As it was opened.
    pub(crate) options: CreateOptions,
    /// As it was when it was opened.
    pub(crate) created: Created,
    /// The server keeps the handle when the connection is lost.
    pub(crate) durable: bool,
    /// We may have changed it.
    pub(crate) changed: bool,
    /// The server has confirmed that it has so many bytes.
    pub(crate) confirmed_bytes: u64,
    /// So many changes of its content were confirmed.
    pub(crate) changes: u64,
    /// So many of them a FLUSH has put on storage.
    pub(crate) flushed: u64,
    /// All channels were lost before the rest was, and nobody knows yet whether the server kept the
    /// handle.
    pub(crate) at_risk: bool,
    /// It did not: some of that may be missing.
    pub(crate) in_doubt: bool,
    /// Some of its entries were listed.
    pub(crate) listed: bool,
    /// Where it may be by now.
    pub(crate) path_in_doubt: Option<Box<str>>,
    /// Why it could not be restored.
    pub(crate) gone: Option<Error>,
    /// The server knows its handle.
    pub(crate) is_open: bool,
}

/// A lease that was asked for.
#[derive(Debug)]
pub(crate) struct LeaseRecord {
    /// Where its file is: what gives it back must name the share (3.2.5.19.2).
    pub(crate) tree: TreeKey,
    /// Counts changes; a server may say each of them on several channels.
    pub(crate) epoch: Option<u16>,
}

/// Where the server finds a file.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) tree_id: TreeId,
    pub(crate) file: FileId,
}

impl State {
    pub(crate) fn next_key(&mut self) -> u32 {
        loop {
            let key = self.next_key;
            self.next_key = self.next_key.wrapping_add(1);
            if key != 0 && !self.trees.contains_key(&key) && !self.files.contains_key(&key) {
                return key;
            }
        }
    }

    pub(crate) fn tree(&self, key: TreeKey) -> Result<&TreeRecord> {
        let record = self.trees.get(&key.0);
        let record = record.ok_or_else(|| Error::InvalidRequest(say("invalid-request.handle")))?;
        record.gone.clone().map_or(Ok(record), Err)
    }

    pub(crate) fn file(&self, key: FileKey) -> Result<(TreeId, FileId)> {
        let all_or_nothing = self.file_record(key)?.options.all_or_nothing;
        match all_or_nothing {
            true => self.sure_file(key),
            false => self.file_to_remove(key),
        }
    }

    /// The same, if nothing that was written can be missing.
    pub(crate) fn sure_file(&self, key: FileKey) -> Result<(TreeId, FileId)> {
        let record = self.file_record(key)?;
        if record.gone.is_none() && record.in_doubt {
            let path = record.path.to_string();
            let problem = FileProblem::Unflushed;
            return Err(Error::FileChanged { path, problem });
        }
        self.file_to_remove(key)
    }

    /// The same, whatever may be missing.
    pub(crate) fn file_to_remove(&self, key: FileKey) -> Result<(TreeId, FileId)> {
        let record = self.file_record(key)?;
        match &record.gone {
            Some(error) => Err(error.clone()),
            None => Ok((self.tree(record.tree)?.id, record.id)),
        }
    }

    /// Where a file is to be closed: also one that turned out to be another.
    pub(crate) fn file_to_close(&self, key: FileKey) -> Result<(TreeId, FileId)> {
        let record = self.file_record(key)?;
        match &record.gone {
            Some(error) if !record.is_open => Err(error.clone()),
            _ => Ok((self.tree(record.tree)?.id, record.id)),
        }
    }

    fn file_record(&self, key: FileKey) -> Result<&FileRecord> {
        self.files
            .get(&key.0)
            .ok_or_else(|| Error::InvalidRequest(say("invalid-request.handle")))
    }

    pub(crate) fn place(&self, key: FileKey) -> Result<Place> {
        self.file(key)
            .map(|(tree_id, file)| Place { tree_id, file })
    }

    /// Whether a file was opened by the POSIX extensions.
    pub(crate) fn is_posix(&self, key: FileKey) -> bool {
        let record = self.files.get(&key.0);
        record.is_some_and(|record| record.options.posix.is_some())
    }

    pub(crate) fn path(&self, key: FileKey) -> &str {
        self.files
            .get(&key.0)
            .map_or("a closed file", |record| &record.path)
    }
}
