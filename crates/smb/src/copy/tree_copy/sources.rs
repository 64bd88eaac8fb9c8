//! What is to be copied, and under which names it goes to the destination.

use std::sync::Arc;

use locale::say;

use super::failure_handling::{no_folder, nothing_there};
use super::{Engine, FileJob, Folder};
use crate::copy::entry::{Entry, Kind, OfFolder};
use crate::copy::name;
use crate::copy::place::Place;
use crate::copy::{Job, Source};
use crate::error::Error;
use crate::signal::lock;

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
                let files_of = FileJob {
                    from: source.place.clone(),
                    to,
                    path: name::printable(&found.name),
                    found,
                    replaces: false,
                    may_be_begun: false,
                    folder: None,
                };
                files.push(files_of);
            }
        }
        if into && there.is_none() && !files.is_empty() && !self.options.dry_run {
            destination.make_folder(None)?;
        }
        Ok(files)
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
