//! The names of a folder at the source, and what its counterpart at the destination holds. A server can list without
//! end, so of names only hashes are kept.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::entry::{self, Entry};
use super::mirror_surplus::{Kept, Surplus};
use super::name::Rules;
use super::{Names, name};

use crate::std_or_shuttle::atomic::Ordering;

/// Names of folders that are looked into at once.
const NAMES_MAX: usize = 1_000_000;

/// What is in a folder of the destination.
pub(super) struct There {
    pub(super) on_share: bool,
    /// Of a share only those whose names the source has.
    pub(super) entries: HashMap<String, Entry>,
    /// Of a share the others.
    pub(super) surplus: Surplus,
    /// All is known that tells what of it is to go.
    pub(super) is_whole: bool,
}

impl There {
    pub(super) fn new(on_share: bool, kept: &Kept) -> Self {
        Self {
            on_share,
            entries: HashMap::new(),
            surplus: Surplus::new(Arc::clone(&kept.surplus)),
            is_whole: true,
        }
    }

    /// The key of what was found there under a name that the listing does not have; none if that
    /// cannot be told.
    pub(super) fn known_as(&self, name: &str, found: &Entry) -> Option<String> {
        let is_alike = |other: &str| name::key(other) == name::key(name);
        let may_be = |other: &Entry| {
            let ids = [other.id, found.id];
            let same = if ids.into_iter().all(entry::is_number) {
                other.id == found.id
            } else {
                is_alike(&other.name)
            };
            same && other.kind == found.kind
        };
        let those = || self.entries.iter().filter(|(_, other)| may_be(other));
        let mut first = those();
        match (first.next(), first.next()) {
            (Some((key, _)), None) => Some(key.clone()),
            // One file of several names.
            _ => those()
                .find(|(_, other)| is_alike(&other.name))
                .map(|(key, _)| key.clone()),
        }
    }
}

/// The names that a folder of the destination gets, by hashes that cannot be foreseen.
pub(super) struct Seen<'a> {
    /// Capitals are small letters there.
    folds: bool,
    keys: HashSet<u64>,
    /// Those that what cannot be copied now may have got from an earlier copy.
    kept: HashSet<u64>,
    /// What is kept of all folders.
    all: &'a Kept,
}

impl Drop for Seen<'_> {
    fn drop(&mut self) {
        self.all.names.fetch_sub(self.len(), Ordering::Relaxed);
    }
}

impl<'a> Seen<'a> {
    pub(super) fn new(folds: bool, all: &'a Kept) -> Self {
        Self {
            folds,
            keys: HashSet::new(),
            kept: HashSet::new(),
            all,
        }
    }

    fn len(&self) -> usize {
        self.keys.len() + self.kept.len()
    }

    pub(super) fn are_too_many(&self) -> bool {
        self.all.names.load(Ordering::Relaxed) >= NAMES_MAX
    }

    /// Names with one key are one file there.
    pub(super) fn key(folds: bool, name: &str) -> String {
        if folds {
            name::key(name)
        } else {
            name.to_owned()
        }
    }

    /// Adds a key. Whether it is new.
    pub(super) fn add(&mut self, key: &str) -> bool {
        let is_new = self.keys.insert(self.all.hash(key));
        self.all
            .names
            .fetch_add(usize::from(is_new), Ordering::Relaxed);
        is_new
    }

    /// Notes something whose name is refused: it may be there under that name, or as an earlier copy
    /// mapped it.
    pub(super) fn keep(&mut self, name: &str) {
        let mapped = name::for_share(name, Names::Map, Rules::Windows).ok();
        for name in [Some(name), mapped.as_deref()].into_iter().flatten() {
            let key = Self::key(self.folds, name);
            let is_new = self.kept.insert(self.all.hash(&key));
            self.all
                .names
                .fetch_add(usize::from(is_new), Ordering::Relaxed);
        }
    }

    /// Whether what has this key is, or may be, a copy of something.
    pub(super) fn holds(&self, key: &str) -> bool {
        self.holds_hash(self.all.hash(key))
    }

    pub(super) fn holds_hash(&self, hash: u64) -> bool {
        self.keys.contains(&hash) || self.kept.contains(&hash)
    }
}

#[cfg(test)]
mod tests {
    use smb_proto::session::FileTimes;

    use super::*;
    use crate::copy::entry::Kind;

    #[test]
    fn what_is_there_under_another_spelling_is_told_by_its_number_or_its_name() {
        let named = |name: &str, id| Entry {
            name: name.to_owned(),
            kind: Kind::File,
            size: 0,
            allocation: 0,
            times: FileTimes::default(),
            attributes: 0,
            id,
            mode: None,
        };
        let there_are = |entries: Vec<Entry>| {
            let mut there = There::new(false, &Kept::default());
            let entries = entries.into_iter();
            there.entries = entries.map(|entry| (entry.name.clone(), entry)).collect();
            there
        };
        let known = |there: &There, id| there.known_as("Photo.JPG", &named("Photo.JPG", id));
        let photo = Some("photo.jpg".to_owned());
        let there = there_are(vec![named("photo.jpg", 5), named("other", 6)]);
        assert_eq!(known(&there, 5), photo);
        assert_eq!(known(&there, 6).as_deref(), Some("other"));
        assert_eq!(known(&there, 7), None, "it was made a moment ago");
        // Where there are no numbers.
        assert_eq!(known(&there, 0), photo);
        // One file of two names.
        let there = there_are(vec![named("photo.jpg", 5), named("other", 5)]);
        assert_eq!(known(&there, 5), photo);
        let there = there_are(vec![named("one", 5), named("other", 5)]);
        assert_eq!(known(&there, 5), None);
    }
}
