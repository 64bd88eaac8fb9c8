//! What is to be copied, and under which names it goes to the destination.

use std::hash::BuildHasher;
use std::sync::Arc;

use locale::say;

use super::failure_handling::{no_folder, nothing_there};
use super::{Engine, FileJob, Folder};
use crate::copy::entry::{Entry, Kind, OfFolder};
use crate::copy::folder_name_matching::Seen;
use crate::copy::name;
use crate::copy::place::Place;
use crate::copy::{Job, Source};
use crate::error::Error;
use crate::signal::lock;
use crate::std_or_shuttle::Mutex;

impl Engine<'_> {
    /// Looks at the sources and the destination. Folders are put in their queue, single files are
    /// given back.
    pub(super) fn begin(&self, job: &Job) -> Result<Vec<FileJob>, Error> {
        let destination = &job.destination;
        let there = destination.stat()?;
        let mut into = job.into || job.sources.len() > 1;
        if let Some(there) = &there {
            into |= there.kind == Kind::Folder;
        }
        let mut files = Vec::new();
        let mut goes_to = Vec::new();
        for source in &job.sources {
            let found = source.place.stat()?;
            let found = found.ok_or_else(|| nothing_there(&source.place))?;
            let is_folder = found.kind == Kind::Folder;
            if (into || is_folder)
                && there
                    .as_ref()
                    .is_some_and(|there| there.kind != Kind::Folder)
            {
                return Err(no_folder(destination));
            }
            let to = if (into || is_folder) && !(is_folder && source.content) {
                destination.join(&self.name_at(destination, source, &found)?)
            } else {
                destination.clone()
            };
            self.check_apart(&source.place, &to)?;
            goes_to.push(path_as_folder(&to));
            if is_folder {
                if self.options.delete {
                    let mut cleaning = lock(&self.cleaning);
                    for id in to.ids_above() {
                        cleaning.stays(id.file);
                    }
                }
                let number = found.id;
                let given = (!source.content || there.is_none()).then(|| OfFolder::from(&found));
                self.folders
                    .push(Arc::new(Folder::top(&source.place, to, number, given)));
            } else {
                files.push(FileJob::alone(source.place.clone(), to, found));
            }
        }
        self.note_common_folders(goes_to);
        if into && there.is_none() && !files.is_empty() && !self.options.dry_run {
            destination.make_folder(None)?;
        }
        Ok(files)
    }

    /// Where one source goes to a place in or at that of another one, from now on it is noted where each file goes.
    fn note_common_folders(&self, mut paths: Vec<String>) {
        paths.sort_unstable();
        // What is in a folder stands right behind it.
        if paths.windows(2).any(|two| two[1].starts_with(&two[0])) {
            self.taken_names.get_or_init(Mutex::default);
        }
    }

    /// Whether a file of another source goes there, which is the one to be copied then. Which of two would be left else,
    /// is by chance.
    pub(super) fn is_taken_by_another(&self, to: &Place) -> bool {
        let Some(taken) = self.taken_names.get() else {
            return false;
        };
        // Below a link of DFS another share may have the same path.
        let share = match to {
            Place::Local(_) => None,
            Place::Share { tree, .. } => Some((tree.server_guid(), tree.share())),
        };
        let hash = self.kept.hasher.hash_one((share, path_as_folder(to)));
        !lock(taken).insert(hash)
    }

    /// Refuses a copy into its own source, and one that would remove its source.
    fn check_apart(&self, source: &Place, to: &Place) -> Result<(), Error> {
        if source.holds(to) {
            return Err(Error::Usage {
                reason: say("error-smb.into-itself").with("source", source.shown()),
            });
        }
        if self.options.delete && to.holds(source) {
            return Err(Error::Usage {
                reason: say("error-smb.removes-source").with("source", source.shown()),
            });
        }
        Ok(())
    }

    fn name_at(&self, to: &Place, source: &Source, found: &Entry) -> Result<String, Error> {
        let from = &source.place;
        let name = match (&source.name, from) {
            (Some(name), _) => name,
            (None, Place::Share { tree, path }) if path.is_empty() => tree.share(),
            (None, _) => &found.name,
        };
        self.translated(to, from, name)
    }

    /// The name that something gets on the other side.
    pub(super) fn translated(&self, to: &Place, from: &Place, name: &str) -> Result<String, Error> {
        let names = self.options.names;
        let translated = match (from, to) {
            (Place::Local(_), Place::Local(_)) => Ok(name.to_owned()),
            (_, Place::Local(_)) => name::for_local(name, names, from.rules()),
            (Place::Local(_), Place::Share { .. }) => name::from_here(name, names, to.rules()),
            (Place::Share { .. }, Place::Share { .. }) => {
                name::check_from_server(name, from.rules())
                    .and_then(|()| name::for_share(name, names, to.rules()))
            }
        };
        translated.map_err(|reason| Error::Name {
            name: name::printable(name),
            reason,
        })
    }
}

/// The path of a place, as its share compares them, with a `/` at its end.
fn path_as_folder(place: &Place) -> String {
    let path = match place {
        Place::Local(path) => path.to_string_lossy().into_owned(),
        Place::Share { path, .. } => path.clone(),
    };
    let mut path = Seen::key(place.folds(), &path);
    if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    path
}
