//! What the destination has and the source has not, which is removed in the end (`--delete`).

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;

use super::failure_handling::{ends_all, too_many_stay};
use super::{Engine, FOLDERS, Folder, is_part};
use crate::copy::entry::{self, Entry, Kind, ObjectId};
use crate::copy::folder_name_matching::{Seen, There};
use crate::copy::mirror_surplus::{Batch, Surplus};
use crate::copy::name;
use crate::copy::place::Place;
use crate::copy::place::removal::{Removal, Staying};
use crate::copy::progress::Event;
use crate::error::Error;
use crate::signal::lock;
use crate::std_or_shuttle::Mutex;
use crate::std_or_shuttle::atomic::Ordering;

/// Folders of a share that stay while something is removed: their numbers take 17 MB.
const STAYING_MAX: usize = 400_000;

/// What is to be removed, and what must not be. Nothing is removed before all folders have been looked
/// into: a server that follows its links shows one to a folder as that folder, and to empty it would
/// empty what stays.
#[derive(Default)]
pub(super) struct Cleaning {
    /// Folders with something that the source does not have; each counts as pending in itself.
    folders: Vec<Arc<Folder>>,
    /// By number, folders of a share that stay.
    stay: HashMap<u64, Staying>,
    /// Folders that stay and whose number nobody has told yet.
    unnumbered: Vec<Place>,
}

impl Cleaning {
    /// Notes a folder of a share that stays.
    pub(super) fn stays(&mut self, number: u64) -> Option<&mut Staying> {
        entry::is_number(number).then(|| self.stay.entry(number).or_default())
    }

    pub(super) fn is_too_much(&self) -> bool {
        self.stay.len().max(self.unnumbered.len()) >= STAYING_MAX
    }

    /// Notes one that something is copied to.
    fn is_copied_to(&mut self, number: u64, creation: u64) {
        if let Some(known) = self.stays(number) {
            // File systems below each other may count alike.
            known.has_two_names |= known.creation == Some(creation);
            known.creation.get_or_insert(creation);
        }
    }
}

impl Engine<'_> {
    pub(super) fn note_copied_to(&self, folder: &Folder) {
        if self.options.delete && folder.to.is_share() {
            let mut cleaning = lock(&self.cleaning);
            if cleaning.is_too_much() {
                drop(cleaning);
                return self.end(too_many_stay(&folder.to));
            }
            match &folder.there {
                Some(there) => cleaning.is_copied_to(there.id, there.times.creation),
                None => cleaning.unnumbered.push(folder.to.clone()),
            }
        }
    }

    /// Notes what is to go of what is in a folder of the destination, and which folders stay.
    pub(super) fn note_surplus(&self, folder: &Arc<Folder>, there: There, seen: &Seen<'_>) {
        let There {
            entries,
            mut surplus,
            is_whole,
            ..
        } = there;
        let mut cleaning = lock(&self.cleaning);
        for (key, entry) in entries {
            let is_known = !is_whole || seen.holds(&key);
            let stays = is_known || !self.removes(folder, &entry);
            if !is_known {
                self.note_protected(&entry);
            }
            if !stays {
                surplus.add(self.kept.hash(&key), &entry);
            } else if folder.to.is_share() && entry.kind == Kind::Folder {
                cleaning.stays(entry.id);
            }
        }
        for number in surplus.take_out(|key| !is_whole || seen.holds_hash(key)) {
            cleaning.stays(number);
        }
        if surplus.len() > 0 {
            surplus.close();
            folder.pending.fetch_add(1, Ordering::AcqRel);
            cleaning.folders.push(Arc::clone(folder));
            // Whoever makes a folder holds its state when it takes the other lock.
            drop(cleaning);
            lock(&folder.state).surplus = Some(Box::new(surplus));
        }
    }

    /// Whether something that the source does not have is to go. What the filter would not take is
    /// none of this copy's business, and a part may be another copy's.
    pub(super) fn removes(&self, folder: &Folder, entry: &Entry) -> bool {
        let filter = &self.options.filter;
        let path = name::joined(&folder.path, &entry.name);
        let taken = match entry.kind {
            // What is in it may be of both sorts.
            Kind::Folder => filter.takes_all(),
            _ => filter.takes_file(&path),
        };
        taken && !is_part(entry)
    }

    /// Notes a folder that the source does not have and that stays, as it may hold what the filter leaves out.
    pub(super) fn note_protected(&self, entry: &Entry) {
        if entry.kind == Kind::Folder && !self.options.filter.takes_all() {
            lock(&self.summary).kept += 1;
        }
    }

    /// Finishes the folders that something is removed from.
    pub(super) fn clean(&self) {
        let mut cleaning = lock(&self.cleaning);
        let folders = Mutex::new(std::mem::take(&mut cleaning.folders));
        if lock(&folders).is_empty() || self.is_over() {
            return;
        }
        for place in std::mem::take(&mut cleaning.unnumbered) {
            if let Some(id) = place.id() {
                cleaning.is_copied_to(id.file, id.creation);
            }
        }
        let stay = std::mem::take(&mut cleaning.stay);
        drop(cleaning);
        self.stay.get_or_init(|| stay);
        let next = || lock(&folders).pop();
        thread::scope(|scope| {
            for _ in 0..FOLDERS {
                scope.spawn(|| {
                    while let Some(folder) = next() {
                        self.one_less(&folder);
                    }
                });
            }
        });
    }

    /// Removes these entries of a folder. Whether something in it was changed.
    pub(super) fn remove_all(&self, folder: &Folder, mut surplus: Surplus) -> bool {
        let Some(stay) = self.stay.get() else {
            return false;
        };
        let number = folder.there.as_ref().map_or(0, |there| there.id);
        // What one of two sources does not have may be the other's.
        if stay.get(&number).is_some_and(|known| known.has_two_names) {
            self.left(&folder.path);
            return false;
        }
        let above = surplus.has_folders().then(|| folder.to.id()).flatten();
        let folds = folder.to.folds();
        let key = |entry: &Entry| self.kept.hash(&Seen::key(folds, &entry.name));
        while surplus.len() > 0 && !self.is_over() {
            let mut batch = Batch::new(&self.kept.batches);
            let listed = list_surplus(folder, |entry| {
                if !surplus.holds(key(&entry), &entry) {
                    return true;
                }
                if self.options.dry_run {
                    self.remove(folder, &entry, above, stay);
                } else {
                    batch.add(entry);
                }
                !batch.is_full()
            });
            if let Err(error) = listed {
                self.failed(&folder.path, error);
                break;
            }
            if batch.entries().is_empty() {
                break;
            }
            // Not while it is listed: servers may pass over entries then.
            for entry in batch.entries() {
                self.remove(folder, entry, above, stay);
            }
            surplus.forget(batch.entries(), key);
        }
        if !self.options.dry_run {
            // What has its name by now is something else, or its server counts otherwise each time.
            lock(&self.summary).kept += surplus.len() as u64;
        }
        true
    }

    /// Removes an entry of a folder, which has the id `above`.
    fn remove(
        &self,
        folder: &Folder,
        entry: &Entry,
        above: Option<ObjectId>,
        stay: &HashMap<u64, Staying>,
    ) {
        let mut removal = Removal {
            stay,
            dry_run: self.options.dry_run,
            depth: 0,
            path: name::joined(&folder.path, &entry.name),
            in_staying: 0,
            left: &|path| self.left(path),
            failed: &|path, error| self.not_removed(path, error),
            batches: &self.kept.batches,
        };
        let removed = folder.to.remove_inner(entry, above, &mut removal);
        let shown = name::printable(&removal.path);
        lock(&self.summary).deleted += removal.in_staying;
        match removed {
            Ok(true) => {
                lock(&self.summary).deleted += 1;
                (self.tell)(&Event::Deleted {
                    path: &shown,
                    kind: entry.kind,
                });
            }
            Ok(false) => {}
            Err(error) => self.failed(&shown, error),
        }
    }

    /// Notes what could not be removed, or gives back why nothing more can be.
    fn not_removed(&self, path: &str, error: Error) -> Result<(), Error> {
        if self.is_over() || ends_all(&error) {
            return Err(error);
        }
        self.failed(path, error);
        Ok(())
    }

    /// Notes a folder that nothing is removed from, because it may be a link.
    fn left(&self, path: &str) {
        self.skipped(&name::printable(path), Kind::Link);
    }
}

/// Lists a folder of the destination again, until that is enough.
fn list_surplus(folder: &Folder, mut goes_on: impl FnMut(Entry) -> bool) -> Result<(), Error> {
    for entry in folder.to.list()? {
        match entry {
            Ok(entry) => {
                if !goes_on(entry) {
                    break;
                }
            }
            // It was removed a moment ago, or was reported when it was looked at first.
            Err(error) if entry::is_absent(&error) => {}
            Err(Error::Name { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
