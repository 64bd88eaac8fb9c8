//! The links in the folders that are copied.

use std::sync::Arc;

use super::failure_handling::{obstructed, of_two_sources};
use super::{Engine, Folder};
use crate::copy::entry::{Entry, Kind};
use crate::copy::place::{Links, Place};
use crate::copy::progress::Event;
use crate::copy::{Existing, symbolic_links};
use crate::error::Error;
use crate::signal::lock;
use crate::tree::Replace;

impl Engine<'_> {
    /// Copies a link as what it is or as what it leads to, or leaves it out.
    pub(super) fn take_link(
        &self,
        folder: &Arc<Folder>,
        [from, to]: [Place; 2],
        (path, shown): (String, String),
        entry: Entry,
        there: Option<&Entry>,
    ) {
        let keeps = from.has_links() && to.has_links() && (from.is_share() || to.is_share());
        let done = match self.options.links {
            Links::Keep if keeps => self.copy_link(folder, [&from, &to], &shown, there),
            Links::Follow if !from.is_share() || from.has_links() => match from.behind_link() {
                Ok(Some((from, found))) if found.kind != Kind::Link => {
                    let entry = Entry {
                        name: entry.name,
                        ..found
                    };
                    return self.take_from(folder, [from, to], (path, shown), entry, there);
                }
                found => found.map(|_| false),
            },
            _ => Ok(false),
        };
        match done {
            Ok(true) => {}
            Ok(false) => self.skipped(&shown, Kind::Link),
            Err(error) => self.failed_in(folder, &shown, error),
        }
    }

    /// Copies a link as one. Whether it may be: one that could lead out of what is copied is not.
    fn copy_link(
        &self,
        folder: &Folder,
        [from, to]: [&Place; 2],
        shown: &str,
        there: Option<&Entry>,
    ) -> Result<bool, Error> {
        let target = from.read_link()?;
        let Some(target) =
            target.filter(|target| symbolic_links::stays_below(target, folder.depth))
        else {
            return Ok(false);
        };
        if self.is_taken_by_another(to) {
            return Err(of_two_sources(to));
        }
        let replace = match there {
            None => Replace::Never,
            Some(there) if there.kind != Kind::Link => return Err(obstructed(to)),
            Some(_) => {
                let same = to.read_link()?.as_ref() == Some(&target);
                let stays = match self.options.existing {
                    Existing::Update => same,
                    Existing::Refuse if same && self.options.resume => true,
                    Existing::Refuse => return Err(obstructed(to)),
                    Existing::Replace => false,
                };
                if stays {
                    lock(&self.summary).unchanged += 1;
                    return Ok(true);
                }
                Replace::Existing
            }
        };
        self.ensure(folder)?;
        if !self.options.dry_run {
            to.make_link(&target, replace)?;
            lock(&folder.state).touched = true;
        }
        lock(&self.summary).links += 1;
        (self.tell)(&Event::Linked { path: shown });
        Ok(true)
    }
}
