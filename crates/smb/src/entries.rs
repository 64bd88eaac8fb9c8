//! The entries of a folder, as they arrive.

use std::collections::VecDeque;
use std::fmt;

use smb_proto::session::{Access, CreateOptions, DirectoryEntry, Reply, Request};

use crate::error::Error;
use crate::file::File;
use crate::request::ask;
use crate::tree::Tree;

/// Bytes of folder entries that are asked for at once.
const LISTING_BYTES: u32 = 1 << 20;

/// The entries of a folder without `.` and `..`, in the server's order. It ends after an error.
pub struct Entries {
    tree: Tree,
    path: String,
    folder: Option<File>,
    restart: bool,
    ready: VecDeque<DirectoryEntry>,
}

impl Entries {
    pub(crate) fn open(tree: &Tree, path: &str) -> Result<Self, Error> {
        let options = CreateOptions {
            folder: Some(true),
            ..CreateOptions::open(Access::Read)
        };
        Ok(Self {
            tree: tree.clone(),
            path: path.to_owned(),
            folder: Some(tree.open(path, &options)?),
            restart: true,
            ready: VecDeque::new(),
        })
    }

    /// Takes the next reply. Whether there may be more.
    fn fill(&mut self) -> Result<bool, Error> {
        let Some(folder) = &self.folder else {
            return Ok(false);
        };
        let shared = self.tree.shared();
        let request = Request::List {
            folder: folder.key(),
            pattern: "*".to_owned(),
            restart: std::mem::take(&mut self.restart),
            bytes_max: LISTING_BYTES,
        };
        let Reply::Listing(listing) = ask(shared, request, &self.path)? else {
            return Err(shared.odd_answer());
        };
        let Some(listing) = listing else {
            self.folder.take().map_or(Ok(()), File::close)?;
            return Ok(false);
        };
        for entry in listing.entries() {
            let entry = entry.map_err(|source| shared.error(source.into(), &self.path))?;
            if entry.name != "." && entry.name != ".." {
                self.check_name(&entry)?;
                self.ready.push_back(entry);
            }
        }
        Ok(true)
    }

    /// Callers make paths of the names, so one that leads elsewhere must not reach them.
    fn check_name(&self, entry: &DirectoryEntry) -> Result<(), Error> {
        if !entry.name.is_empty() && !entry.name.contains(['/', '\\', '\0']) {
            return Ok(());
        }
        let problem = format!("`{}` as the name of a file", entry.name.escape_debug());
        let source = smb_proto::Error::Misbehaving(problem);
        Err(self.tree.shared().error(source, &entry.name))
    }
}

impl Iterator for Entries {
    type Item = Result<DirectoryEntry, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                return Some(Ok(entry));
            }
            match self.fill() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.folder = None;
                    self.ready.clear();
                    return Some(Err(error));
                }
            }
        }
    }
}

impl fmt::Debug for Entries {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Entries")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
