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
        if self.is_top(from, entry) || self.is_made_by_copy(folder, from, entry) {
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

    /// Whether a folder of this machine is one that this copy has made on a share, whose folder is in what is copied: a
    /// share of this machine, or one that is mounted here. Whatever was there before is copied.
    fn is_made_by_copy(&self, folder: &Folder, place: &Place, entry: &Entry) -> bool {
        if place.is_share() || entry.times.creation < self.made_since {
            return false;
        }
        let tops = lock(&self.tops_of_local);
        let is_top = tops.iter().any(|top| is_one(entry, *top));
        drop(tops);
        is_top || is_made_for_one_above(entry, folder, Place::id)
    }
}

/// Whether a folder of this machine is where one above it goes.
fn is_made_for_one_above(
    entry: &Entry,
    folder: &Folder,
    id: impl Fn(&Place) -> Option<ObjectId>,
) -> bool {
    let mut above = Some(folder);
    while let Some(next) = above {
        let is_new = lock(&next.state).new;
        if is_new && id(&next.to).is_some_and(|made| is_one(entry, made)) {
            return true;
        }
        above = next.parent.as_deref();
    }
    false
}

/// Whether a folder of this machine is one of a server, which takes number and time from the same file system. Two file
/// systems may number alike, but each makes a folder of that number at another moment.
fn is_one(here: &Entry, there: ObjectId) -> bool {
    entry::is_number(here.id)
        && here.times.creation != 0
        && (here.id, here.times.creation) == (there.file, there.creation)
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

#[cfg(test)]
mod tests {
    use smb_proto::session::FileTimes;

    use super::*;

    const MADE: ObjectId = ObjectId {
        volume: 1,
        file: 42,
        creation: 1000,
    };

    fn found(id: u64, creation: u64) -> Entry {
        Entry {
            name: "copy".to_owned(),
            kind: Kind::Folder,
            size: 0,
            allocation: 0,
            times: FileTimes {
                creation,
                ..FileTimes::default()
            },
            attributes: 0,
            id,
            mode: None,
        }
    }

    /// The folder `/home/ann/inner`, whose top goes to the folder `copy` of a share.
    fn inner(top_is_new: bool) -> Folder {
        let place = |path: &str| Place::Local(path.into());
        let top = Folder::top(&place("/home/ann"), place("copy"), 7, None);
        lock(&top.state).new = top_is_new;
        Folder {
            depth: 1,
            parent: Some(Arc::new(top)),
            ..Folder::top(&place("/home/ann/inner"), place("copy/inner"), 8, None)
        }
    }

    #[test]
    fn a_share_in_what_is_copied_shows_by_the_folder_that_is_made_there() {
        // The server knows the folder that was made for the top.
        let id = |place: &Place| (place.shown() == "copy").then_some(MADE);
        let is_made = |entry: &Entry, above: &Folder| is_made_for_one_above(entry, above, id);
        let made = found(MADE.file, MADE.creation);
        assert!(is_made(&made, &inner(true)));
        // Another folder of that number, on another file system.
        assert!(!is_made(&found(MADE.file, 999), &inner(true)));
        assert!(!is_made(&found(43, MADE.creation), &inner(true)));
        // One that was there before the copy is copied, whatever the server says.
        assert!(!is_made(&made, &inner(false)));
    }

    #[test]
    fn what_has_no_number_or_no_time_is_nothing_of_a_server() {
        for (file, creation) in [(0, 1000), (u64::MAX, 1000), (42, 0)] {
            let there = ObjectId {
                file,
                creation,
                ..MADE
            };
            assert!(!is_one(&found(file, creation), there), "{file} {creation}");
        }
        assert!(is_one(&found(MADE.file, MADE.creation), MADE));
    }
}
