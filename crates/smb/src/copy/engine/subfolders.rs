//! The folders in a folder that is copied. What leads to no end is refused.

use std::sync::Arc;

use locale::{Message, say};

use super::failure_handling::obstructed;
use super::{Engine, Folder};
use crate::copy::entry::{self, Entry, Kind, ObjectId, OfFolder};
use crate::copy::mirror_surplus::Paths;
use crate::copy::name;
use crate::copy::place::{DEPTH_MAX, Links, Place};
use crate::error::Error;
use crate::signal::lock;
use crate::std_or_shuttle::atomic::Ordering;

/// Folders that wait to be looked into, as many as ext3 and many a NAS allow in one folder.
const FOLDERS_WAITING_MAX: usize = 65_536;

impl Engine<'_> {
    /// Copies a folder that may be on another server, at either end.
    pub(super) fn take_followed(
        &self,
        folder: &Arc<Folder>,
        [from, to]: [Place; 2],
        (path, shown): (String, String),
        entry: Entry,
        there: Option<&Entry>,
    ) {
        let source = from.followed(entry);
        let destination = match there {
            None => Ok((to, None)),
            Some(there) => (to.followed(there.clone())).map(|(to, there)| (to, Some(there))),
        };
        match (source, destination) {
            (Ok(_), Ok((to, Some(there)))) if there.kind != Kind::Folder => {
                self.failed(&shown, obstructed(&to));
            }
            (Ok((from, entry)), Ok((to, there))) => {
                self.take_folder(folder, [from, to], path, entry, there);
            }
            (Err(error), _) | (_, Err(error)) => {
                lock(&folder.state).failed = true;
                self.failed(&shown, error);
            }
        }
    }

    /// Copies a folder, unless there would be no end of it.
    pub(super) fn take_folder(
        &self,
        folder: &Arc<Folder>,
        ends: [Place; 2],
        path: String,
        entry: Entry,
        there: Option<Entry>,
    ) {
        let shown = name::printable(&path);
        if let Some(reason) = self.endless(folder, &ends[0], &entry) {
            let object = shown.clone();
            return self.failed(&shown, Error::NotCopied { object, reason });
        }
        if self.folders.waiting() >= FOLDERS_WAITING_MAX {
            let reason = say("error-smb.too-many-wait");
            let object = shown;
            return self.end(Error::NotCopied { object, reason });
        }
        let [from, to] = ends;
        let bytes = from.path_bytes() + to.path_bytes() + path.len();
        let Some(paths) = Paths::hold(bytes, &self.kept.paths) else {
            return self.end(Error::NotCopied {
                object: shown,
                reason: say("error-smb.too-long-paths"),
            });
        };
        folder.pending.fetch_add(1, Ordering::AcqRel);
        let below = Folder {
            depth: folder.depth + 1,
            number: entry.id,
            there: there.map(Box::new),
            given: Some(OfFolder::from(&entry)),
            parent: Some(Arc::clone(folder)),
            paths: Some(paths),
            path,
            ..Folder::top(&from, to, 0, None)
        };
        self.folders.push(Arc::new(below));
    }

    /// Why there would be no end if a folder were looked into.
    fn endless(&self, folder: &Folder, from: &Place, entry: &Entry) -> Option<Message> {
        let mut above = Some(folder);
        while let Some(next) = above {
            let leads_back = if from.is_share() {
                leads_to(from, entry, next)
            } else {
                self.options.links == Links::Follow && from.holds(&next.from)
            };
            if leads_back {
                return Some(say("error-smb.leads-back"));
            }
            above = next.parent.as_deref();
        }
        if self.is_top(from, entry) {
            return Some(say("error-smb.goes-into"));
        }
        (folder.depth >= DEPTH_MAX).then(|| say("error-smb.too-deep"))
    }

    /// Whether a folder of the source is where a source goes.
    fn is_top(&self, place: &Place, entry: &Entry) -> bool {
        let alike = |tops: &[ObjectId]| tops.iter().any(|top| top.file == entry.id);
        // Most are told apart without asking.
        alike(&lock(&self.tops)) && place.id().is_some_and(|id| lock(&self.tops).contains(&id))
    }
}

/// Whether a folder of a share is, by a link of the server's, one that it is in.
fn leads_to(from: &Place, entry: &Entry, above: &Folder) -> bool {
    // Most are told apart without asking.
    entry::is_number(entry.id)
        && entry.id == above.number
        && match (from.id(), above.from.id()) {
            (Some(id), Some(above)) => id == above,
            _ => (above.given.as_ref())
                .is_none_or(|given| given.times.creation == entry.times.creation),
        }
}
