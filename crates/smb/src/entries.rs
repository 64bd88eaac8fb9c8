//! The entries of a folder, as they arrive.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use smb_proto::FileKey;
use smb_proto::session::{Access, CreateOptions, DirectoryEntry, Reply, Request};

use crate::error::Error;
use crate::file::File;
use crate::request::{Answer, ask, begin};
use crate::tree::Tree;

/// Bytes of folder entries that are asked for at once.
const LISTING_BYTES: u32 = 1 << 20;
/// How often a listing is begun again whose connection is lost before anything has come.
const CUTS_MAX: u32 = 8;
/// Listings that are under way or wait to be looked at, so that the server never waits for us.
const AHEAD: usize = 2;

/// The entries of a folder without `.` and `..`, in the server's order as far as one connection
/// gives them. It ends after an error.
pub struct Entries {
    tree: Tree,
    path: String,
    folder: Option<File>,
    /// What came together with the open folder.
    begun: VecDeque<smb_proto::error::Result<Reply>>,
    asked: VecDeque<Arc<Answer>>,
    /// The server has no more.
    complete: bool,
    ready: VecDeque<DirectoryEntry>,
}

impl Entries {
    /// Opens the folder and takes its first entries in one round trip: of most folders, all.
    pub(crate) fn open(tree: &Tree, path: &str) -> Result<Self, Error> {
        let shared = tree.shared();
        let create = Request::Create {
            tree: tree.key(),
            path: path.to_owned(),
            options: CreateOptions {
                folder: Some(true),
                ..CreateOptions::open(Access::Read)
            },
        };
        let folder = FileKey::OF_CHAIN;
        let chain = vec![create, list(folder, true), list(folder, false)];
        let mut cuts = 0;
        let replies = loop {
            match ask(shared, Request::Chain(chain.clone()), path) {
                Ok(Reply::Chain(replies)) => break replies,
                Ok(_) => return Err(shared.odd_answer()),
                Err(Error::Interrupted { .. }) if cuts < CUTS_MAX => cuts += 1,
                Err(error) => return Err(error),
            }
        };
        let mut begun = VecDeque::from(replies);
        let folder = match begun.pop_front() {
            Some(Ok(Reply::Created(key, created))) => File::new(tree.clone(), path, key, created),
            Some(Err(source)) => return Err(shared.error(source, path)),
            _ => return Err(shared.odd_answer()),
        };
        let complete = begun
            .iter()
            .any(|reply| matches!(reply, Ok(Reply::Listing(None))));
        Ok(Self {
            tree: tree.clone(),
            path: path.to_owned(),
            folder: Some(folder),
            begun,
            asked: VecDeque::new(),
            complete,
            ready: VecDeque::new(),
        })
    }

    fn next_reply(&mut self) -> Option<smb_proto::error::Result<Reply>> {
        let begun = self.begun.pop_front();
        begun.or_else(|| self.asked.pop_front().map(|answer| answer.wait()))
    }

    fn ask_ahead(&mut self) {
        let Some(folder) = self.folder.as_ref().filter(|_| !self.complete) else {
            return;
        };
        while self.begun.len() + self.asked.len() < AHEAD {
            let request = list(folder.key(), false);
            self.asked.push_back(begin(self.tree.shared(), request));
        }
    }

    /// Takes the next reply. Whether there may be more.
    fn fill(&mut self) -> Result<bool, Error> {
        self.ask_ahead();
        let shared = Arc::clone(self.tree.shared());
        let Some(reply) = self.next_reply() else {
            self.folder = None;
            return Ok(false);
        };
        let listing = match reply {
            Ok(Reply::Listing(Some(listing))) => listing,
            Ok(Reply::Listing(None)) => {
                self.complete = true;
                return Ok(true);
            }
            Ok(_) => return Err(shared.odd_answer()),
            Err(source) => return Err(shared.error(source, &self.path)),
        };
        self.ask_ahead();
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

fn list(folder: FileKey, restart: bool) -> Request {
    Request::List {
        folder,
        pattern: "*".to_owned(),
        restart,
        bytes_max: LISTING_BYTES,
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
                    self.begun.clear();
                    self.asked.clear();
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
