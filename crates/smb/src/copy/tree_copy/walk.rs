//! Walking the folders of the sources: what is in each, and what is done with it.

use std::collections::HashMap;
use std::sync::Arc;

use locale::say;

use super::destination_folders::real_name;
use super::failure_handling::{no_folder, too_many, twin};
use super::{Engine, FileJob, Folder, is_part};
use crate::copy::entry::{Entry, Kind};
use crate::copy::folder_name_matching::{Seen, There};
use crate::copy::name;
use crate::copy::place::Place;
use crate::error::Error;
use crate::signal::lock;

/// An entry of a folder that is copied.
struct Item {
    /// Its name at the destination.
    name: String,
    path: String,
    shown: String,
    /// By the filter.
    taken: bool,
    entry: Entry,
}

impl Engine<'_> {
    /// Looks into a folder and queues what is in it.
    pub(super) fn list_folder(&self, folder: &Arc<Folder>) {
        if self.is_over() {
            return;
        }
        let wanted = match self.wanted(folder) {
            Ok(wanted) => wanted,
            Err(error @ Error::NotCopied { .. }) => return self.end(error),
            // What is there stays, and to know that it has to be seen; why is said below.
            Err(_) if self.options.delete => Some(Seen::new(folder.to.folds(), &self.kept)),
            Err(error) => return self.failed(&folder.path, error),
        };
        let mut there = match self.list_destination(folder, wanted.as_ref()) {
            Ok(there) => there,
            Err(error @ Error::NotCopied { .. }) => return self.end(error),
            Err(error) => {
                if let Some(parent) = &folder.parent {
                    lock(&parent.state).failed = true;
                }
                return self.failed(&folder.path, error);
            }
        };
        drop(wanted);
        let mut seen = Seen::new(folder.to.folds(), &self.kept);
        match folder.from.list_source() {
            Ok(entries) => self.consider_all(folder, entries, &mut there, &mut seen),
            Err(error) => {
                there.is_whole = false;
                self.failed(&folder.path, error);
            }
        }
        if self.options.delete && !self.is_over() {
            self.note_surplus(folder, there, &seen);
        }
    }

    fn consider_all(
        &self,
        folder: &Arc<Folder>,
        entries: impl Iterator<Item = Result<Entry, Error>>,
        there: &mut There,
        seen: &mut Seen<'_>,
    ) {
        let mut aliases = Vec::new();
        for entry in entries {
            if self.is_over() {
                return;
            }
            match entry {
                _ if seen.are_too_many() => {
                    there.is_whole = false;
                    return self.end(too_many(&folder.from));
                }
                Ok(entry) if is_part(&entry) => {
                    self.unfinished(&name::joined(&folder.path, &entry.name));
                }
                Ok(entry) => aliases.extend(self.consider(folder, entry, &there.entries, seen)),
                Err(error) => {
                    there.is_whole = false;
                    self.failed(&folder.path_of(&error), error);
                }
            }
        }
        // By now it is known which of them have a name of their own in the source.
        for (item, found) in aliases {
            match there.known_as(&item.name, &found) {
                Some(key) => {
                    if !seen.add(&key) {
                        self.failed(&item.shown, twin(&item.name));
                        continue;
                    }
                }
                None => there.is_whole = false,
            }
            self.take(folder, item, Some(&found));
        }
    }

    /// Decides what to do with one entry of a folder. Gives back one that has another name at the
    /// destination, with what is there.
    fn consider(
        &self,
        folder: &Arc<Folder>,
        entry: Entry,
        there: &HashMap<String, Entry>,
        seen: &mut Seen<'_>,
    ) -> Option<(Item, Entry)> {
        let true_name = match self.true_name(folder, &entry) {
            Ok(name) => name,
            Err(error) => {
                seen.keep(&entry.name);
                self.failed(&name::joined(&folder.path, &entry.name), error);
                return None;
            }
        };
        let path = name::joined(&folder.path, &true_name);
        let shown = name::printable(&path);
        let taken = match entry.kind {
            Kind::Folder => self.options.filter.takes_folder(&path),
            _ => self.options.filter.takes_file(&path),
        };
        let name = match self.translated(&folder.to, &folder.from, &true_name) {
            Ok(name) => name,
            Err(error) => {
                seen.keep(&true_name);
                if taken {
                    self.failed(&shown, error);
                }
                return None;
            }
        };
        let key = Seen::key(folder.to.folds(), &name);
        let there = there.get(&key);
        if !seen.add(&key) {
            self.failed(&shown, twin(&name));
            return None;
        }
        let alias = match there {
            None => self.look_for_alias(folder, &name),
            Some(_) => Ok(None),
        };
        let item = Item {
            name,
            path,
            shown,
            taken,
            entry,
        };
        match alias {
            Ok(None) => self.take(folder, item, there),
            Ok(Some(found)) => return Some((item, found)),
            Err(error) => self.failed_in(folder, &item.shown, error),
        }
        None
    }

    /// The name of something in a folder of the source, where a server may show a stand-in for it.
    fn true_name(&self, folder: &Folder, entry: &Entry) -> Result<String, Error> {
        let shown = &entry.name;
        if let Some(name) = real_name(folder, entry)? {
            return Ok(name);
        }
        let reason = say("error-smb.name-stand-in-on-share");
        let name = name::printable(shown);
        let path = name::joined(&folder.path, shown);
        self.without(&path, Some(Error::Name { name, reason }));
        Ok(shown.clone())
    }

    /// What a folder of this machine has under a name that its listing does not: some file systems do
    /// not tell capitals or ways to write an accent apart. Servers say so when it is to be made.
    fn look_for_alias(&self, folder: &Folder, name: &str) -> Result<Option<Entry>, Error> {
        let state = lock(&folder.state);
        let was_there = state.exists && !state.new;
        drop(state);
        if folder.to.is_share() || !was_there {
            return Ok(None);
        }
        folder.to.join(name).stat()
    }

    /// Copies one entry of a folder, unless something speaks against it.
    fn take(&self, folder: &Arc<Folder>, item: Item, there: Option<&Entry>) {
        let Item {
            name,
            path,
            shown,
            taken,
            entry,
        } = item;
        if !taken {
            lock(&self.summary).filtered += u64::from(entry.kind == Kind::File);
            return;
        }
        let to = folder.to.join(&name);
        let from = folder.from.join(&entry.name);
        self.take_from(folder, [from, to], (path, shown), entry, there);
    }

    /// Copies what is at one place to the other, which are those of an entry of a folder.
    pub(super) fn take_from(
        &self,
        folder: &Arc<Folder>,
        [from, to]: [Place; 2],
        (path, shown): (String, String),
        entry: Entry,
        there: Option<&Entry>,
    ) {
        match entry.kind {
            Kind::Folder
                if entry.is_reparse_point() || there.is_some_and(Entry::is_reparse_point) =>
            {
                self.take_followed(folder, [from, to], (path, shown), entry, there);
            }
            Kind::Folder if there.is_some_and(|there| there.kind != Kind::Folder) => {
                self.failed_in(folder, &shown, no_folder(&to));
            }
            Kind::Folder => self.take_folder(folder, [from, to], path, entry, there.cloned()),
            Kind::File => {
                if let Err(error) = self.ensure(folder) {
                    return self.failed_in(folder, &shown, error);
                }
                let file = FileJob {
                    from,
                    to,
                    path: shown,
                    found: entry,
                    replaces: false,
                    may_be_begun: false,
                    folder: Some(Arc::clone(folder)),
                };
                self.decided(file, there);
            }
            Kind::Cloud => {
                let reason = say("error-smb.in-cloud");
                let object = shown.clone();
                self.failed_in(folder, &shown, Error::NotCopied { object, reason });
            }
            Kind::Link => self.take_link(folder, [from, to], (path, shown), entry, there),
            Kind::Other => self.skipped(&shown, Kind::Other),
        }
    }
}
