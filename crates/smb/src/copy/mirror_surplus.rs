//! What is to be removed from a folder. A server can list without end, so hashes are kept of it, and names only of
//! a part at a time.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use super::entry::{Entry, Kind};

use crate::std_or_shuttle::atomic::{AtomicUsize, Ordering};

/// Entries that are noted of all folders of a copy: 16 MB.
const NOTED_MAX: usize = 1_000_000;
/// Entries of one folder that are held at a time.
const BATCH_MAX: usize = 1024;
/// Bytes that all batches may take together, but for the few entries with which each goes on.
const BATCHES_BYTES_MAX: usize = 8 << 20;
/// Bytes of the paths of all folders that are known and not copied yet: folders in folders may have long names.
const PATHS_BYTES_MAX: usize = 16 << 20;
/// So many entries of a folder are held at any rate, or nothing would go on.
const BATCH_MIN: usize = 8;

/// An entry, without its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Noted {
    /// Hash of the key of its name.
    key: u64,
    /// Its number on its file system, zero where there is none.
    id: u64,
}

/// Entries of a folder of the destination that its source does not have. Files and folders are told apart, so that
/// none goes for the other that had its name.
#[derive(Debug)]
pub(super) struct Surplus {
    folders: Vec<Noted>,
    others: Vec<Noted>,
    /// How many are noted of all folders.
    all: Arc<AtomicUsize>,
}

impl Drop for Surplus {
    fn drop(&mut self) {
        self.all.fetch_sub(self.len(), Ordering::Relaxed);
    }
}

impl Surplus {
    pub(super) const fn new(all: Arc<AtomicUsize>) -> Self {
        Self {
            folders: Vec::new(),
            others: Vec::new(),
            all,
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.folders.len() + self.others.len()
    }

    pub(super) const fn has_folders(&self) -> bool {
        !self.folders.is_empty()
    }

    /// Whether so much is noted that no server is believed more.
    pub(super) fn is_too_much(&self) -> bool {
        self.all.load(Ordering::Relaxed) >= NOTED_MAX
    }

    pub(super) fn add(&mut self, key: u64, entry: &Entry) {
        let noted = Noted { key, id: entry.id };
        match entry.kind {
            Kind::Folder => self.folders.push(noted),
            _ => self.others.push(noted),
        }
        self.all.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes out what stays, by the hash of its key; gives the numbers of the folders among it.
    pub(super) fn take_out(&mut self, stays: impl Fn(u64) -> bool) -> Vec<u64> {
        let before = self.len();
        let folders = self.folders.extract_if(.., |noted| stays(noted.key));
        let numbers = folders.map(|noted| noted.id).collect();
        self.others.retain(|noted| !stays(noted.key));
        self.all.fetch_sub(before - self.len(), Ordering::Relaxed);
        numbers
    }

    /// No more is added, and from now on it is asked what is in it.
    pub(super) fn close(&mut self) {
        for noted in [&mut self.folders, &mut self.others] {
            noted.sort_unstable();
            noted.dedup();
        }
    }

    /// Whether an entry is what was noted, and not another one that has its name by now.
    pub(super) fn holds(&self, key: u64, entry: &Entry) -> bool {
        let noted = Noted { key, id: entry.id };
        let noted_as = match entry.kind {
            Kind::Folder => &self.folders,
            _ => &self.others,
        };
        noted_as.binary_search(&noted).is_ok()
    }

    /// Takes out what was tried to be removed.
    pub(super) fn forget(&mut self, batch: &[Entry], key: impl Fn(&Entry) -> u64) {
        let tried = batch.iter().map(|entry| Noted {
            key: key(entry),
            id: entry.id,
        });
        let tried: HashSet<Noted> = tried.collect();
        let before = self.len();
        for noted in [&mut self.folders, &mut self.others] {
            noted.retain(|noted| !tried.contains(noted));
        }
        self.all.fetch_sub(before - self.len(), Ordering::Relaxed);
    }
}

/// What is kept of listings, of all folders of a copy.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Its hashes cannot be foreseen.
    pub hasher: RandomState,
    /// Names of folders that are looked into.
    pub names: AtomicUsize,
    /// Entries that are to be removed.
    pub surplus: Arc<AtomicUsize>,
    /// Bytes of all batches.
    pub batches: AtomicUsize,
    /// Bytes of the paths of folders that are copied.
    pub paths: Arc<AtomicUsize>,
}

/// Bytes of paths that something holds.
#[derive(Debug)]
pub(super) struct Paths {
    bytes: usize,
    all: Arc<AtomicUsize>,
}

impl Paths {
    /// None where all together hold so much that no server is believed more.
    pub(super) fn hold(bytes: usize, all: &Arc<AtomicUsize>) -> Option<Self> {
        let before = all.fetch_add(bytes, Ordering::Relaxed);
        let all = Arc::clone(all);
        let held = Self { bytes, all };
        (before < PATHS_BYTES_MAX).then_some(held)
    }
}

impl Drop for Paths {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Kept {
    pub(super) fn hash(&self, key: &str) -> u64 {
        self.hasher.hash_one(key)
    }
}

/// Some entries of a folder.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    entries: Vec<Entry>,
    bytes: usize,
    /// Bytes of all batches.
    all: &'a AtomicUsize,
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl<'a> Batch<'a> {
    pub(super) const fn new(all: &'a AtomicUsize) -> Self {
        Self {
            entries: Vec::new(),
            bytes: 0,
            all,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        let count = self.entries.len();
        let bytes = self.all.load(Ordering::Relaxed);
        count >= BATCH_MAX || (count >= BATCH_MIN && bytes >= BATCHES_BYTES_MAX)
    }

    pub(super) fn add(&mut self, entry: Entry) {
        let bytes = size_of::<Entry>() + entry.name.len();
        self.bytes += bytes;
        self.all.fetch_add(bytes, Ordering::Relaxed);
        self.entries.push(entry);
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

#[cfg(test)]
mod tests {
    use smb_proto::session::FileTimes;

    use super::*;

    fn entry(name: &str, kind: Kind, id: u64) -> Entry {
        Entry {
            name: name.to_owned(),
            kind,
            size: 0,
            allocation: 0,
            times: FileTimes::default(),
            attributes: 0,
            id,
            mode: None,
        }
    }

    #[test]
    fn only_what_was_noted_is_to_go_and_only_once() {
        let all = Arc::new(AtomicUsize::new(0));
        let mut surplus = Surplus::new(Arc::clone(&all));
        let file = entry("a", Kind::File, 7);
        let folder = entry("b", Kind::Folder, 8);
        let other = entry("c", Kind::Folder, 9);
        for (key, entry) in [(1, &file), (2, &folder), (3, &other)] {
            surplus.add(key, entry);
        }
        assert_eq!(surplus.take_out(|key| key == 3), [9]);
        surplus.close();
        assert!(surplus.holds(1, &file) && surplus.holds(2, &folder));
        assert!(!surplus.holds(3, &other));
        // Another one has its name by now.
        assert!(!surplus.holds(1, &entry("a", Kind::File, 70)));
        assert!(!surplus.holds(1, &entry("a", Kind::Folder, 7)));
        surplus.forget(std::slice::from_ref(&file), |_| 1);
        assert!(!surplus.holds(1, &file) && surplus.holds(2, &folder));
        assert_eq!(all.load(Ordering::Relaxed), 1);
        drop(surplus);
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn batches_are_bounded_together_and_each_goes_on() {
        let all = AtomicUsize::new(0);
        let mut first = Batch::new(&all);
        while !first.is_full() {
            first.add(entry(&"x".repeat(4096), Kind::File, 0));
        }
        assert_eq!(first.entries().len(), BATCH_MAX);
        let mut held = vec![first];
        for _ in 0..100 {
            let mut next = Batch::new(&all);
            while !next.is_full() {
                next.add(entry(&"x".repeat(4096), Kind::File, 0));
            }
            assert!(next.entries().len() >= BATCH_MIN);
            held.push(next);
        }
        let bytes = all.load(Ordering::Relaxed);
        assert!(
            bytes < BATCHES_BYTES_MAX + 101 * BATCH_MIN * 5000,
            "{bytes}"
        );
        drop(held);
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }
}
