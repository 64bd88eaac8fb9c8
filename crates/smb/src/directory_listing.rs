//! The entries of a folder, as they arrive.

use std::collections::VecDeque;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use locale::say;
use smb_proto::FileKey;
use smb_proto::error::FileProblem;
use smb_proto::session::{Access, CreateOptions, DirectoryEntry, Reply, Request};
use smb_proto::trickling_replies::{TooLittle, Trickle};

use crate::blocking_request::{Answer, ask, begin};
use crate::copy::name::{self, Rules};
use crate::error::Error;
use crate::file::File;
use crate::std_or_shuttle::now;
use crate::tree::Tree;

/// Bytes of folder entries that are asked for at once: some two thousand entries, which take a server far longer to gather
/// than a round trip. A copy looks into several folders at once and holds answer and entries of each.
const LISTING_BYTES: u32 = 256 << 10;
/// How often a listing is begun again whose connection is lost.
const CUTS_MAX: u32 = 8;
/// Listings that are under way or wait to be looked at, so that the server never waits for us.
const AHEAD: usize = 2;

/// Most entries of one folder: more than any file system is good with, and few enough that a server
/// that lists without end is found out in minutes.
const ENTRIES_MAX: u64 = 10_000_000;
/// What of a listing is too little for one answer, unless it is the last: servers fill most of the room, if not of
/// ours, then of the 64 KiB that older clients asked for.
const SHORT_BYTES: usize = 8 << 10;
/// Most answers in a row that tell no new entry. Servers give one at most.
const IDLE_ANSWERS_MAX: u32 = 64;

/// The entries of a folder without `.` and `..`, in the server's order as far as one connection
/// gives them. It ends after an error, but for [`Error::Name`]: that is an entry whose name leads
/// elsewhere or nowhere, written out so that it is no path, and the others follow.
///
/// A listing cannot be continued when the answer to one of its questions was lost. Then the folder is
/// listed from its begin again, and as long as it tells the same, all goes on behind what was given.
pub struct Entries {
    tree: Tree,
    path: String,
    cuts: u32,
    /// Names that were given.
    given: Told,
    /// Names that a listing that was begun again has listed so far.
    told: Told,
    folder: Option<File>,
    /// What came together with the open folder.
    begun: VecDeque<smb_proto::error::Result<Reply>>,
    asked: VecDeque<Arc<Answer>>,
    /// The server has no more.
    complete: bool,
    /// The numbers of the folder and of the one above it, as its listing tells them.
    own: Option<u64>,
    above: Option<u64>,
    ready: VecDeque<Result<DirectoryEntry, Error>>,
    bound: Bound,
    trickle: Trickle,
    /// How long we have waited for the server since its last entries.
    waited: Duration,
    /// The path by which Windows reaches the folder, once that was asked for.
    for_windows: Option<Option<String>>,
}

impl Tree {
    /// The entries of a folder without `.` and `..`, in the server's order. The folder is opened
    /// at once; entries are asked for as they are taken, so a large folder takes little memory.
    ///
    /// # Errors
    /// When it cannot be read, or the server gives names that cannot be names.
    pub fn entries(&self, path: &str) -> Result<Entries, Error> {
        Entries::open(self, path)
    }

    /// All entries of a folder; of a large one, [`Self::entries`] takes less memory.
    ///
    /// # Errors
    /// When it cannot be read, or the server gives names that cannot be names.
    pub fn list(&self, path: &str) -> Result<Vec<DirectoryEntry>, Error> {
        self.entries(path)?.collect()
    }
}

impl Entries {
    /// Opens the folder and takes its first entries in one round trip: of most folders, all.
    fn open(tree: &Tree, path: &str) -> Result<Self, Error> {
        let mut entries = Self {
            tree: tree.clone(),
            path: path.to_owned(),
            cuts: 0,
            given: Told::default(),
            told: Told::default(),
            folder: None,
            begun: VecDeque::new(),
            asked: VecDeque::new(),
            complete: false,
            own: None,
            above: None,
            ready: VecDeque::new(),
            bound: Bound::default(),
            trickle: Trickle::of_entries(),
            waited: Duration::ZERO,
            for_windows: None,
        };
        entries.begin()?;
        Ok(entries)
    }

    /// The numbers of the folder itself and of the one that it is in: of what a link leads to, not of
    /// the link. Servers that do not tell give zero. To be asked for when all entries were taken.
    pub(crate) fn numbers(&self) -> Option<(u64, u64)> {
        self.own.zip(self.above)
    }

    /// Whether the server listed no entry, not even the folder itself and the one above it. To be asked when all
    /// entries were taken.
    pub(crate) const fn listed_nothing(&self) -> bool {
        self.told.names == 0 && self.own.is_none() && self.above.is_none()
    }

    fn begin(&mut self) -> Result<(), Error> {
        let (tree, path) = (&self.tree, &*self.path);
        let shared = tree.shared();
        let options = CreateOptions {
            folder: Some(true),
            ..CreateOptions::open(Access::Read)
        };
        let create = tree.create(path, options);
        let folder = FileKey::OF_CHAIN;
        let mut chain = vec![create, list(folder, true)];
        if self.ahead() > 1 {
            chain.push(list(folder, false));
        }
        let began = now();
        let replies = loop {
            match ask(shared, Request::Chain(chain.clone()), path) {
                Ok(Reply::Chain(replies)) => break replies,
                Ok(_) => return Err(shared.odd_answer()),
                Err(Error::Interrupted { .. }) if self.cuts < CUTS_MAX => self.cuts += 1,
                Err(error) => return Err(error),
            }
        };
        self.waited += now().saturating_duration_since(began);
        let mut begun = VecDeque::from(replies);
        let folder = match begun.pop_front() {
            Some(Ok(Reply::Created(key, created))) => {
                let folder = File::new(tree.clone(), path, key, created);
                tree.check(&created)?;
                folder
            }
            Some(Err(source)) => return Err(shared.error(source, path)),
            _ => return Err(shared.odd_answer()),
        };
        self.complete = begun
            .iter()
            .any(|reply| matches!(reply, Ok(Reply::Listing(None))));
        self.folder = Some(folder);
        self.begun = begun;
        Ok(())
    }

    /// Begins again, with nothing listed yet. `error`: what has come so far.
    fn begin_again(&mut self, error: Error) -> Result<(), Error> {
        if !matches!(error, Error::Interrupted { .. }) || self.cuts == CUTS_MAX {
            return Err(error);
        }
        self.cuts += 1;
        self.asked.clear();
        self.told = Told::default();
        self.begin()
    }

    /// Whether an entry was not given yet. An error: the folder tells something else by now.
    fn is_new(&mut self, entry: &DirectoryEntry) -> Result<bool, Error> {
        self.told.hear(&entry.name);
        if self.told.names > self.given.names {
            self.given = self.told.clone();
            return Ok(true);
        }
        if self.told.names == self.given.names {
            self.check_given()?;
        }
        Ok(false)
    }

    /// Whether a listing that was begun again told what was given, and not something else.
    fn check_given(&self) -> Result<(), Error> {
        if self.told == self.given {
            return Ok(());
        }
        let path = self.path.clone();
        let problem = FileProblem::ChangedWhileListed;
        let source = smb_proto::Error::FileChanged { path, problem };
        Err(self.tree.shared().error(source, &self.path))
    }

    fn next_reply(&mut self) -> Option<smb_proto::error::Result<Reply>> {
        if let Some(begun) = self.begun.pop_front() {
            return Some(begun);
        }
        let began = now();
        let reply = self.asked.pop_front()?.wait();
        self.waited += now().saturating_duration_since(began);
        Some(reply)
    }

    /// Takes the number of entries of one answer, which is not the last, and what it has of bytes.
    fn check_pace(&mut self, entries: u64, bytes: usize) -> Result<(), smb_proto::Error> {
        let waited = std::mem::take(&mut self.waited);
        if bytes >= SHORT_BYTES {
            self.trickle.was_whole();
            return Ok(());
        }
        self.trickle.was_short(entries, waited).map_err(|little| {
            let TooLittle { amount, answers } = little;
            smb_proto::Error::Trickles(
                say("trickles.listing")
                    .count("amount", amount)
                    .count("answers", answers),
            )
        })
    }

    /// Requests under way at once. Linux's own server, which has no name (2.2.4), mixes up what it is asked about
    /// one folder at once, and in a chain it calls the room of its reply the end of the folder.
    fn ahead(&self) -> usize {
        match self.tree.server_guid() {
            Some(_) => AHEAD,
            None => 1,
        }
    }

    fn ask_ahead(&mut self) {
        let Some(folder) = self.folder.as_ref().filter(|_| !self.complete) else {
            return;
        };
        while self.begun.len() + self.asked.len() < self.ahead() {
            let request = list(folder.key(), false);
            self.asked.push_back(begin(self.tree.shared(), request));
        }
    }

    /// An entry under its own name.
    fn named(&mut self, mut entry: DirectoryEntry) -> Result<DirectoryEntry, Error> {
        if entry.posix.is_none() {
            return checked(entry, Rules::Windows);
        }
        if name::may_be_stand_in(&entry.name) {
            let (tree, path) = (&self.tree, &self.path);
            let ask = || tree.path_for_windows(path);
            let folder = self.for_windows.get_or_insert_with(ask).as_deref();
            let named = folder.and_then(|folder| tree.name_behind(path, folder, &entry));
            entry.name = named.ok_or_else(|| Error::Name {
                name: name::printable(&entry.name),
                reason: say("error-smb.name-stand-in"),
            })?;
        }
        checked(entry, Rules::Posix)
    }

    /// Takes the next reply. Whether there may be more.
    fn fill(&mut self) -> Result<bool, Error> {
        self.ask_ahead();
        let shared = Arc::clone(self.tree.shared());
        let Some(reply) = self.next_reply() else {
            self.folder = None;
            self.check_given()?;
            return Ok(false);
        };
        let listing = match reply {
            Ok(Reply::Listing(Some(listing))) => listing,
            Ok(Reply::Listing(None)) => {
                self.complete = true;
                return Ok(true);
            }
            Ok(_) => return Err(shared.odd_answer()),
            Err(source) => {
                self.begin_again(shared.error(source, &self.path))?;
                return Ok(true);
            }
        };
        let before = self.told.names;
        self.ask_ahead();
        for entry in listing.entries() {
            let entry = entry.map_err(|source| shared.error(source.into(), &self.path))?;
            match entry.name.as_str() {
                "." => self.own = Some(entry.file_id),
                ".." => self.above = Some(entry.file_id),
                _ if self.is_new(&entry)? => {
                    let named = self.named(entry);
                    self.ready.push_back(named);
                }
                _ => {}
            }
        }
        let heard = self.told.names - before;
        self.bound.hear(heard).map_err(|problem| {
            let source = smb_proto::Error::Misbehaving(say(problem));
            Error::of_connection(source, &shared.server.name)
        })?;
        self.check_pace(heard, listing.bytes())
            .map_err(|source| Error::of_connection(source, &shared.server.name))?;
        Ok(true)
    }
}

/// How much of a listing is taken before it is one without end.
#[derive(Debug, Default)]
struct Bound {
    entries: u64,
    idle: u32,
}

impl Bound {
    /// Takes the number of entries of one answer, also of those that were listed before. An error is the id of what the
    /// server does.
    fn hear(&mut self, entries: u64) -> Result<(), &'static str> {
        self.entries = self.entries.saturating_add(entries);
        self.idle = if entries == 0 { self.idle + 1 } else { 0 };
        if self.entries > ENTRIES_MAX {
            return Err("misbehaving.large-listing");
        }
        if self.idle > IDLE_ANSWERS_MAX {
            return Err("misbehaving.empty-listing");
        }
        Ok(())
    }
}

/// Callers make paths of the names, so one that leads elsewhere must not reach them.
fn checked(entry: DirectoryEntry, rules: Rules) -> Result<DirectoryEntry, Error> {
    let is_name = name::check_from_server(&entry.name, rules);
    let (name, reason) = match (&entry.ill_formed, is_name) {
        (None, Ok(())) => return Ok(entry),
        (None, Err(reason)) => (name::spelled_out(entry.name.encode_utf16()), reason),
        (Some(units), _) => {
            let reason = say("error-smb.name-no-unicode");
            (name::spelled_out(units.iter().copied()), reason)
        }
    };
    Err(Error::Name { name, reason })
}

/// Names in an order, of which only how many and which together is kept.
#[derive(Clone, Debug, Default)]
struct Told {
    names: u64,
    hash: DefaultHasher,
}

impl Told {
    fn hear(&mut self, name: &str) {
        self.names += 1;
        name.hash(&mut self.hash);
    }
}

impl PartialEq for Told {
    fn eq(&self, other: &Self) -> bool {
        (self.names, self.hash.finish()) == (other.names, other.hash.finish())
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
                return Some(entry);
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

#[cfg(test)]
mod tests {
    use smb_proto::session::FileTimes;

    use super::*;

    #[test]
    fn a_name_that_leads_elsewhere_or_nowhere_is_an_error_that_spells_it_out() {
        let checked = |name: &str, ill_formed: Option<Box<[u16]>>| {
            let entry = DirectoryEntry {
                name: name.to_owned(),
                times: FileTimes::default(),
                size: 0,
                allocation: 0,
                attributes: 0,
                reparse_tag: 0,
                file_id: 0,
                ill_formed,
                posix: None,
            };
            checked(entry, Rules::Windows)
        };
        assert!(checked("a", None).is_ok());
        for (name, ill_formed, shown) in [
            ("../a", None, "..\\u{2f}a"),
            ("a\0", None, "a\\u{0}"),
            ("a\u{fffd}", Some([0x61, 0xD800].into()), "a\\u{d800}"),
        ] {
            match checked(name, ill_formed) {
                Err(Error::Name { name, .. }) => assert_eq!(name, shown),
                other => panic!("{name}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_listing_without_end_is_ended() {
        let mut bound = Bound::default();
        assert!((0..1000).all(|_| bound.hear(10_000).is_ok()));
        assert!(bound.hear(1).is_err());

        let mut bound = Bound::default();
        assert!((0..IDLE_ANSWERS_MAX).all(|_| bound.hear(0).is_ok()));
        assert!(bound.hear(0).is_err());

        let mut bound = Bound::default();
        let often = (0..1000).map(|round| u64::from(round % 50 == 0));
        assert!(often.into_iter().all(|entries| bound.hear(entries).is_ok()));
    }
}
