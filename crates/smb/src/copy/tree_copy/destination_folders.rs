//! The folders of the destination: what they hold already, and making them.

use super::failure_handling::{too_many, too_many_stay};
use super::{Engine, Folder};
use crate::copy::entry::{self, Entry, Kind};
use crate::copy::folder_name_matching::{Seen, There};
use crate::copy::place::Place;
use crate::copy::{name, share};
use crate::error::Error;
use crate::signal::lock;

impl Engine<'_> {
    /// The names that a folder of a share is to get, where it may be there already: of what else its server lists only
    /// hashes are kept, and those only where something is removed.
    pub(super) fn wanted(&self, folder: &Folder) -> Result<Option<Seen<'_>>, Error> {
        if !folder.to.is_share() || folder.is_in_new_one() {
            return Ok(None);
        }
        let folds = folder.to.folds();
        let mut wanted = Seen::new(folds, &self.kept);
        // What is wrong with an entry is said when it is to be copied.
        for entry in folder.from.list()?.flatten() {
            if wanted.are_too_many() {
                return Err(too_many(&folder.from));
            }
            let name = match real_name(folder, &entry) {
                Ok(name) => name.unwrap_or(entry.name),
                Err(_) => {
                    wanted.keep(&entry.name);
                    continue;
                }
            };
            match self.translated(&folder.to, &folder.from, &name) {
                Ok(name) => {
                    wanted.add(&Seen::key(folds, &name));
                }
                Err(_) => wanted.keep(&name),
            }
        }
        Ok(Some(wanted))
    }

    /// Makes the folder, or finds out what is in it.
    pub(super) fn list_destination(
        &self,
        folder: &Folder,
        wanted: Option<&Seen<'_>>,
    ) -> Result<There, Error> {
        let mut there = There::new(folder.to.is_share(), &self.kept);
        if !folder.is_in_new_one() {
            match folder.to.list() {
                Ok(entries) => {
                    for entry in entries {
                        match entry {
                            Ok(entry) => self.add_there(folder, &mut there, entry, wanted)?,
                            Err(error) => self.pass_over(folder, &mut there, error)?,
                        }
                    }
                    lock(&folder.state).exists = true;
                    self.note_top(folder);
                    self.note_copied_to(folder);
                }
                Err(error) if entry::is_absent(&error) => {}
                Err(error) => return Err(error),
            }
        }
        if !self.options.filter.is_selective() {
            self.ensure(folder)?;
        }
        Ok(there)
    }

    /// Keeps of an entry of the destination what is needed.
    fn add_there(
        &self,
        folder: &Folder,
        there: &mut There,
        entry: Entry,
        wanted: Option<&Seen<'_>>,
    ) -> Result<(), Error> {
        let key = Seen::key(folder.to.folds(), &entry.name);
        let cleans_share = self.options.delete && there.on_share;
        let stays = if wanted.is_none_or(|wanted| wanted.holds(&key)) {
            // Where capitals are told apart, two may have one key.
            there.entries.insert(key, entry)
        } else if cleans_share && self.removes(folder, &entry) {
            if there.surplus.is_too_much() {
                return Err(too_many(&folder.to));
            }
            there.surplus.add(self.kept.hash(&key), &entry);
            None
        } else {
            if cleans_share {
                self.note_protected(&entry);
            }
            Some(entry)
        };
        let stays = stays.filter(|entry| cleans_share && entry.kind == Kind::Folder);
        if let Some(stays) = stays {
            let mut cleaning = lock(&self.cleaning);
            if cleaning.is_too_much() {
                return Err(too_many_stay(&folder.to));
            }
            cleaning.stays(stays.id);
        }
        Ok(())
    }

    /// Goes on without an entry of the destination that cannot be looked at, unless it is more than
    /// that one.
    fn pass_over(&self, folder: &Folder, there: &mut There, error: Error) -> Result<(), Error> {
        match error {
            // It was removed a moment ago.
            error if entry::is_absent(&error) => Ok(()),
            Error::Name { .. } => {
                there.is_whole = false;
                if self.options.delete {
                    self.failed(&folder.path_of(&error), error);
                }
                Ok(())
            }
            error => Err(error),
        }
    }

    /// Makes a folder of the destination with those above it, unless it is there.
    pub(super) fn ensure(&self, folder: &Folder) -> Result<(), Error> {
        let mut state = lock(&folder.state);
        if state.exists {
            return Ok(());
        }
        if let Some(parent) = &folder.parent {
            self.ensure(parent)?;
        }
        if self.options.dry_run {
            state.new = true;
        } else {
            let mode = folder.given.as_ref().and_then(|given| given.mode);
            let mode = mode.filter(|_| folder.from.is_share() || folder.to.is_share());
            let made = folder.to.make_folder(mode)?;
            state.new = made.is_some();
            self.without(&folder.path, made.flatten());
        }
        state.exists = true;
        if state.new {
            lock(&self.summary).folders += 1;
            self.note_top(folder);
            self.note_copied_to(folder);
        }
        Ok(())
    }

    /// Notes where a source goes, so that the walk does not follow the copy into itself. That it
    /// would was refused where it could be seen from the paths; a server's own links hide it, and so does a share of
    /// this machine's folders.
    fn note_top(&self, folder: &Folder) {
        if folder.parent.is_some() {
            return;
        }
        let tops = match folder.from.is_share() {
            false => &self.tops_of_local,
            true if folder.from.is_on_same_server(&folder.to) => &self.tops,
            true => return,
        };
        if let Some(id) = folder.to.id() {
            lock(tops).push(id);
        }
    }
}

/// The name of something in a folder of the source, where a server may show a stand-in for it; none where the server
/// does not say.
pub(super) fn real_name(folder: &Folder, entry: &Entry) -> Result<Option<String>, Error> {
    let shown = &entry.name;
    match &folder.from {
        // One that is POSIX lists true names only.
        Place::Share { tree, path }
            if !tree.is_posix() && name::may_be_stand_in(shown) && entry.kind != Kind::Link =>
        {
            share::true_name(tree, &name::joined(path, shown))
        }
        _ => Ok(Some(shown.clone())),
    }
}
