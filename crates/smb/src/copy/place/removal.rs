//! Removing what a place holds. Of a share, nothing is removed that a link of its server's may only show there.

use std::collections::HashMap;

use locale::say;

use super::{DEPTH_MAX, Place};
use crate::copy::entry::{Entry, Kind, ObjectId, is_number};
use crate::copy::mirror_surplus::Batch;
use crate::copy::{local_files, name, share};
use crate::error::Error;
use crate::std_or_shuttle::atomic::AtomicUsize;

/// The longest path of what is removed: longer ones are hostile too.
const PATH_BYTES_MAX: usize = 16 << 10;
/// Entries of one folder that is emptied: a server may always show new ones.
const EMPTIED_MAX: usize = 1_000_000;

/// A folder of a share that stays where something is removed.
#[derive(Default)]
pub(in crate::copy) struct Staying {
    /// Of one that something is copied to.
    pub creation: Option<u64>,
    /// It is copied to under two names, so that one of them must be a link.
    pub has_two_names: bool,
}

/// What is known and told where something is removed.
pub(in crate::copy) struct Removal<'a> {
    /// By number, folders that stay.
    pub stay: &'a HashMap<u64, Staying>,
    /// Nothing is removed; what would be left is told all the same.
    pub dry_run: bool,
    /// Folders within each other that are being emptied.
    pub depth: usize,
    /// Below the top, what is removed now; at the end, what was to be removed.
    pub path: String,
    /// Removed from folders that stay, or may, each folder with all in it counted once.
    pub in_staying: u64,
    /// Hears of folders that are left because they may be links.
    pub left: &'a dyn Fn(&str),
    /// Hears of what cannot be removed, of which the rest of its folder is none the worse; gives back what ends it all.
    pub failed: &'a dyn Fn(&str, Error) -> Result<(), Error>,
    /// Bytes that are held of what is to be removed.
    pub batches: &'a AtomicUsize,
}

impl Place {
    /// Removes something in this folder, whose id is `own`: a file or link, or a folder with
    /// everything in it. Whether all of it is gone: what a server's link shows is left.
    pub(in crate::copy) fn remove_inner(
        &self,
        entry: &Entry,
        own: Option<ObjectId>,
        removal: &mut Removal<'_>,
    ) -> Result<bool, Error> {
        name::check_from_server(&entry.name, self.rules()).map_err(|reason| Error::Name {
            name: name::printable(&entry.name),
            reason,
        })?;
        self.join(&entry.name).remove(entry, own, removal)
    }

    /// `above` is the folder that it is in.
    fn remove(
        &self,
        entry: &Entry,
        above: Option<ObjectId>,
        removal: &mut Removal<'_>,
    ) -> Result<bool, Error> {
        if entry.kind == Kind::Folder {
            return self.remove_folder(entry, above, removal);
        }
        if removal.dry_run {
            return Ok(true);
        }
        match self {
            Self::Local(path) => local_files::remove(path, entry.kind),
            Self::Share { tree, path } => tree.remove_file(path),
        }
        .map(|()| true)
    }

    /// Removes a folder with everything in it. Whether all of it is gone.
    fn remove_folder(
        &self,
        entry: &Entry,
        above: Option<ObjectId>,
        removal: &mut Removal<'_>,
    ) -> Result<bool, Error> {
        let before = removal.in_staying;
        let is_gone = self
            .empty(entry, above, removal)
            .and_then(|is_empty| match self {
                _ if !is_empty || removal.dry_run => Ok(is_empty),
                Self::Local(path) => local_files::remove(path, Kind::Folder).map(|()| true),
                Self::Share { tree, path } => tree.remove_folder(path).map(|()| true),
            });
        if matches!(is_gone, Ok(true)) {
            // It counts once, with all that was in it.
            removal.in_staying = before;
        }
        is_gone
    }

    /// Removes what is in a folder. Whether that is all.
    fn empty(
        &self,
        entry: &Entry,
        above: Option<ObjectId>,
        removal: &mut Removal<'_>,
    ) -> Result<bool, Error> {
        if let Self::Share { tree, path } = self
            && entry.is_reparse_point()
            && share::is_elsewhere(tree, path)
        {
            // What is on another server is not removed with what refers to it.
            (removal.left)(&removal.path);
            return Ok(false);
        }
        let own = self.id();
        // Entries that were looked at: those that are still there come first when it is listed again.
        let (mut left, mut removed) = (0, 0);
        let mut all = true;
        loop {
            let mut batch = Batch::new(removal.batches);
            let is_first = left + removed == 0;
            let part = self.list_part(left, is_first, &mut batch)?;
            if is_first && self.stays(entry, above, own, part.numbers, removal) {
                (removal.left)(&removal.path);
                return Ok(false);
            }
            let is_too_deep = removal.depth == DEPTH_MAX || self.path_bytes() > PATH_BYTES_MAX;
            if is_too_deep || left + removed > EMPTIED_MAX {
                let object = self.shown();
                let reason = match is_too_deep {
                    true => say("error-smb.too-deep"),
                    false => say("error-smb.too-many-to-remove"),
                };
                return Err(Error::NotCopied { object, reason });
            }
            for inner in batch.entries() {
                let is_gone = self.remove_below(inner, own, removal)?;
                all &= is_gone;
                removal.in_staying += u64::from(is_gone && !removal.dry_run);
                match is_gone && !removal.dry_run {
                    true => removed += 1,
                    false => left += 1,
                }
            }
            if part.is_last {
                return Ok(all);
            }
        }
    }

    /// Removes something in a folder that is emptied. Whether all of it is gone.
    fn remove_below(
        &self,
        inner: &Entry,
        own: Option<ObjectId>,
        removal: &mut Removal<'_>,
    ) -> Result<bool, Error> {
        let length = removal.path.len();
        removal.path = name::joined(&removal.path, &inner.name);
        removal.depth += 1;
        let is_gone = match self.remove_inner(inner, own, removal) {
            Err(error) => (removal.failed)(&removal.path, error).map(|()| false),
            is_gone => is_gone,
        };
        removal.depth -= 1;
        removal.path.truncate(length);
        is_gone
    }

    /// Whether what is shown as a folder may be one that stays, by a link of the server's.
    fn stays(
        &self,
        entry: &Entry,
        above: Option<ObjectId>,
        own: Option<ObjectId>,
        numbers: Option<Numbers>,
        removal: &Removal<'_>,
    ) -> bool {
        let is_known = |number| removal.stay.contains_key(&number);
        self.is_share()
            && (is_known(entry.id)
                || own.is_some_and(|own| is_known(own.file))
                || leads_elsewhere(above, own, numbers))
    }

    /// Lists as many entries as may be held, from the one with this number on. Of the first part all that the
    /// folder lists is looked at: only then a server has told its numbers, or what is wrong with it.
    fn list_part(&self, from: usize, is_first: bool, batch: &mut Batch<'_>) -> Result<Part, Error> {
        let mut is_last = true;
        let mut fill = |entries: &mut dyn Iterator<Item = Result<Entry, Error>>| {
            for entry in entries.skip(from) {
                let entry = entry?;
                match (batch.is_full(), is_first) {
                    (false, _) => batch.add(entry),
                    (true, true) => is_last = false,
                    (true, false) => return Ok(false),
                }
            }
            Ok(is_last)
        };
        match self {
            Self::Local(path) => Ok(Part {
                is_last: fill(&mut local_files::list(path)?)?,
                numbers: None,
            }),
            Self::Share { tree, path } => {
                let mut entries = tree.entries(path)?;
                let is_last = fill(&mut entries.by_ref().map(|entry| entry.map(Entry::from)))?;
                let numbers = entries.numbers();
                Ok(Part { is_last, numbers })
            }
        }
    }
}

/// What was listed of a folder that is emptied.
struct Part {
    /// There is no more.
    is_last: bool,
    numbers: Option<Numbers>,
}

/// What a folder's listing says is its own number and that of the folder it is in.
type Numbers = (u64, u64);

/// Whether what a server shows as a folder in the folder `above` is in truth in another one: `numbers`
/// are what its own listing tells of itself and of where it is. Only where all of it fits together is
/// it believed.
fn leads_elsewhere(
    above: Option<ObjectId>,
    own: Option<ObjectId>,
    numbers: Option<Numbers>,
) -> bool {
    let (Some(above), Some(own), Some((dot, dots))) = (above, own, numbers) else {
        return false;
    };
    // One that is its own parent is a top, or shown as one.
    let tells = dot == own.file && is_number(dots) && dots != dot;
    own.volume != above.volume || (tells && dots != above.file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(volume: u64, file: u64) -> Option<ObjectId> {
        Some(ObjectId {
            volume,
            file,
            creation: 0,
        })
    }

    #[test]
    fn a_folder_is_where_its_own_listing_says() {
        let above = id(1, 10);
        assert!(!leads_elsewhere(above, id(1, 11), Some((11, 10))));
        assert!(leads_elsewhere(above, id(1, 11), Some((11, 12))));
        assert!(leads_elsewhere(above, id(2, 11), Some((11, 10))));
        // Servers that do not tell, or number their listings otherwise.
        for unknown in [
            None,
            Some((11, 0)),
            Some((11, u64::MAX)),
            Some((11, 11)),
            Some((7, 8)),
        ] {
            assert!(!leads_elsewhere(above, id(1, 11), unknown), "{unknown:?}");
        }
        assert!(!leads_elsewhere(None, id(1, 11), Some((11, 12))));
        assert!(!leads_elsewhere(above, None, Some((11, 12))));
    }
}
