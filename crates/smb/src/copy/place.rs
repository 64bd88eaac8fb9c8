//! Files and folders of either side.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use smb_proto::session::{DirectoryEntry, FileTimes, Posix};

use super::name::Rules;
use super::reparse::Reparse;
use super::surplus::Batch;
use super::{local, name, share};
use crate::error::Error;
use crate::small::NotKept;
use crate::sync::atomic::AtomicUsize;
use crate::tree::Tree;

/// MS-FSCC 2.6
pub(super) const ATTRIBUTE_READ_ONLY: u32 = 0x1;
pub(super) const ATTRIBUTE_FOLDER: u32 = 0x10;
pub(super) const ATTRIBUTE_ARCHIVE: u32 = 0x20;
const ATTRIBUTE_NORMAL: u32 = 0x80;
pub(super) const ATTRIBUTE_SPARSE: u32 = 0x200;
const ATTRIBUTE_COMPRESSED: u32 = 0x800;
pub(super) const ATTRIBUTE_LINK: u32 = 0x400;
/// Those that are a file's own: read-only, hidden, system, archive. The others say how it is
/// stored.
pub(super) const ATTRIBUTES_KEPT: u32 = 0x1 | 0x2 | 0x4 | 0x20;

/// Whatever its source has, whoever makes the copy of a folder can enter, list and change it: else the next copy could
/// not.
const MODE_OF_FOLDER_MIN: u32 = 0o700;

/// Folders within each other: more are hostile.
pub(super) const DEPTH_MAX: usize = 200;
/// The longest path of what is removed: longer ones are hostile too.
const PATH_BYTES_MAX: usize = 16 << 10;
/// Entries of one folder that is emptied: a server may always show new ones.
const EMPTIED_MAX: usize = 1_000_000;

/// Where a file or folder is.
#[derive(Clone, Debug)]
pub enum Place {
    /// On this machine, by a path without links: see [`Place::local`].
    Local(PathBuf),
    /// On a share.
    Share {
        /// The share.
        tree: Tree,
        /// The path in it; empty for its top.
        path: String,
    },
}

/// What something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A link, on this machine or of the server.
    Link,
    /// A device, a pipe or a socket.
    Other,
    /// A file that is in a cloud: to open it has the server fetch it.
    Cloud,
}

/// A file or folder as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, which on a share comes from the server and may be hostile.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Its length in bytes.
    pub size: u64,
    /// The space it takes, in bytes.
    pub allocation: u64,
    /// Its times, in the server's unit.
    pub times: FileTimes,
    /// Its attributes, as in MS-FSCC 2.6.
    pub attributes: u32,
    /// Its number on its file system, zero where there is none.
    pub id: u64,
    /// Who may read, write and execute it, as in `chmod(2)`; none where nobody tells. Never more than those bits: nothing
    /// from elsewhere runs with its owner's rights.
    pub mode: Option<u32>,
}

/// What a copy of a folder gets from it.
#[derive(Clone, Copy)]
pub(super) struct OfFolder {
    pub(super) times: FileTimes,
    pub(super) attributes: u32,
    pub(super) mode: Option<u32>,
}

impl From<&Entry> for OfFolder {
    fn from(folder: &Entry) -> Self {
        Self {
            times: folder.times,
            attributes: folder.attributes,
            mode: folder.mode,
        }
    }
}

impl Entry {
    /// Whether some of it may be a hole, which takes no space.
    pub(super) const fn may_be_sparse(&self) -> bool {
        let takes_less = self.allocation < self.size;
        self.attributes & ATTRIBUTE_SPARSE != 0
            || (takes_less && self.attributes & ATTRIBUTE_COMPRESSED == 0)
    }

    /// Whether it is more than its listing shows: perhaps a folder of another server.
    pub(super) const fn is_reparse_point(&self) -> bool {
        self.attributes & ATTRIBUTE_LINK != 0
    }

    /// What a copy of this file is given. It is never nothing, which would leave what the server
    /// gives a new file.
    pub(super) const fn attributes_of_copy(&self) -> u32 {
        match self.attributes & ATTRIBUTES_KEPT {
            0 => ATTRIBUTE_NORMAL,
            kept => kept,
        }
    }
}

impl From<DirectoryEntry> for Entry {
    fn from(found: DirectoryEntry) -> Self {
        let is_folder = found.attributes & ATTRIBUTE_FOLDER != 0;
        let reparse =
            (found.attributes & ATTRIBUTE_LINK != 0).then(|| Reparse::of(found.reparse_tag));
        let kind = match reparse {
            Some(reparse) if reparse.is_link() => Kind::Link,
            Some(Reparse::UnixSpecial) => Kind::Other,
            _ if is_folder => Kind::Folder,
            Some(reparse) if reparse.is_fetched(found.attributes) => Kind::Cloud,
            _ => Kind::File,
        };
        Self {
            name: found.name,
            kind,
            size: found.size,
            allocation: found.allocation,
            times: found.times,
            attributes: found.attributes,
            id: found.file_id,
            mode: found.posix.as_ref().map(Posix::access),
        }
    }
}

impl Place {
    /// What a path of this machine leads to, links followed; root follows links of root only. Of what is there, nothing
    /// else is followed from then on.
    ///
    /// # Errors
    /// When the path leads through another user's link and this is root, or cannot be followed.
    pub fn local(path: &Path) -> Result<Self, Error> {
        local::resolve(path).map(Self::Local)
    }

    /// A file or folder in this folder.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        match self {
            Self::Local(path) => {
                // No longer than it must be: thousands are kept.
                let mut inner = PathBuf::with_capacity(path.as_os_str().len() + 1 + name.len());
                inner.push(path);
                inner.push(name);
                Self::Local(inner)
            }
            Self::Share { tree, path } => Self::Share {
                tree: tree.clone(),
                path: joined(path, name),
            },
        }
    }

    /// The folder it is in and its name there; none for the top.
    #[must_use]
    pub fn parent(&self) -> Option<(Self, String)> {
        match self {
            Self::Local(path) => {
                let name = path.file_name()?.to_str()?.to_owned();
                let parent = path.parent()?;
                let parent = if parent.as_os_str().is_empty() {
                    PathBuf::from(".")
                } else {
                    parent.to_owned()
                };
                Some((Self::Local(parent), name))
            }
            Self::Share { tree, path } => {
                let (parent, name) = share::split(tree, path);
                (!name.is_empty()).then(|| {
                    let path = parent.to_owned();
                    let tree = tree.clone();
                    (Self::Share { tree, path }, name.to_owned())
                })
            }
        }
    }

    /// Its path, without anything that could steer a terminal.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Local(path) => name::printable(&path.to_string_lossy()),
            Self::Share { path, .. } => name::printable(path),
        }
    }

    /// What is there; none if nothing is.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn stat(&self) -> Result<Option<Entry>, Error> {
        let found = match self {
            Self::Local(path) => local::stat(path),
            Self::Share { tree, path } => share::stat(tree, path),
        };
        match found {
            Ok(entry) => Ok(Some(entry)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether everything that is written there vanishes.
    pub(super) fn is_nowhere(&self) -> bool {
        matches!(self, Self::Local(path) if local::is_nowhere(path))
    }

    /// The entries of a folder. One that cannot be looked at is an error in the list.
    pub(super) fn list(&self) -> Result<Box<dyn Iterator<Item = Result<Entry, Error>>>, Error> {
        match self {
            Self::Local(path) => Ok(Box::new(local::list(path)?)),
            Self::Share { tree, path } => Ok(Box::new(share::list(tree, path)?)),
        }
    }

    /// The same folder with what is known of it, on the server where it is, if a listing shows only a link to it. What
    /// else is wrong with it shows when it is looked into.
    pub(super) fn followed(&self, shown: Entry) -> Result<(Self, Entry), Error> {
        let tree_and_path = match self {
            Self::Share { tree, path } if shown.is_reparse_point() => share::followed(tree, path)?,
            _ => None,
        };
        let Some((tree, path)) = tree_and_path else {
            return Ok((self.clone(), shown));
        };
        let there = share::stat(&tree, &path)?;
        let name = shown.name;
        Ok((Self::Share { tree, path }, Entry { name, ..there }))
    }

    /// Makes a folder, with this mode where that is known, and those above it. None: it is there. Else why it does not
    /// have the mode, if so.
    ///
    /// Each folder is made twice at most: a server may say of one that it is there, and that it is not.
    pub(super) fn make_folder(&self, mode: Option<u32>) -> Result<Option<NotKept>, Error> {
        let mode = mode.map(|mode| mode | MODE_OF_FOLDER_MIN);
        let mut absent = match self.make_one_folder(mode) {
            Err(error) if is_absent(&error) => error,
            made => return made,
        };
        let mut missing = Vec::new();
        let mut place = self.clone();
        loop {
            let Some((parent, _)) = place.parent() else {
                return Err(absent);
            };
            match parent.make_one_folder(None) {
                Err(error) if is_absent(&error) => absent = error,
                made => {
                    made?;
                    break;
                }
            }
            missing.push(parent.clone());
            place = parent;
        }
        for folder in missing.iter().rev() {
            folder.make_one_folder(None)?;
        }
        self.make_one_folder(mode)
    }

    fn make_one_folder(&self, mode: Option<u32>) -> Result<Option<NotKept>, Error> {
        match self {
            Self::Local(path) => local::make_folder(path, mode),
            Self::Share { tree, path } => share::make_folder(tree, path, mode),
        }
    }

    /// Removes something in this folder, whose id is `own`: a file or link, or a folder with
    /// everything in it. Whether all of it is gone: what a server's link shows is left.
    pub(super) fn remove_inner(
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
        if entry.kind == Kind::Folder && !self.empty(entry, above, removal)? {
            return Ok(false);
        }
        if removal.dry_run {
            return Ok(true);
        }
        match self {
            Self::Local(path) => local::remove(path, entry.kind),
            Self::Share { tree, path } if entry.kind == Kind::Folder => tree.remove_folder(path),
            Self::Share { tree, path } => tree.remove_file(path),
        }
        .map(|()| true)
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
                    true => "it is too deep",
                    false => "it lists more than a million names",
                };
                return Err(Error::NotCopied { object, reason });
            }
            removal.depth += 1;
            for inner in batch.entries() {
                let length = removal.path.len();
                removal.path = joined(&removal.path, &inner.name);
                let is_gone = self.remove_inner(inner, own, removal)?;
                removal.path.truncate(length);
                all &= is_gone;
                match is_gone && !removal.dry_run {
                    true => removed += 1,
                    false => left += 1,
                }
            }
            removal.depth -= 1;
            if part.is_last {
                return Ok(all);
            }
        }
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
                is_last: fill(&mut local::list(path)?)?,
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

    /// Gives a folder the times and attributes of its source.
    pub(super) fn finish_folder(&self, source: &OfFolder) -> Result<NotKept, Error> {
        match self {
            Self::Local(path) => local::set_folder_times(path, source.times).map(|()| None),
            Self::Share { tree, path } => share::finish_folder(tree, path, source),
        }
    }

    /// Bytes of its path.
    pub(super) fn path_bytes(&self) -> usize {
        match self {
            Self::Local(path) => path.as_os_str().len(),
            Self::Share { path, .. } => path.len(),
        }
    }

    pub(super) const fn is_share(&self) -> bool {
        matches!(self, Self::Share { .. })
    }

    /// Whose names what is here has, as far as a server tells them.
    pub(super) fn rules(&self) -> Rules {
        match self {
            Self::Share { tree, .. } if !tree.is_posix() => Rules::Windows,
            _ => Rules::Posix,
        }
    }

    /// Whether names that differ in case only are one here.
    pub(super) fn folds(&self) -> bool {
        self.rules() == Rules::Windows
    }

    /// Whether what is here is `other` or holds it, so that a copy from here to there would copy
    /// into itself. One server under two names, and one folder of it by two shares, are seen
    /// through where the server numbers its files.
    pub(super) fn holds(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Local(outer), Self::Local(inner)) => local::holds(outer, inner),
            (
                Self::Share { tree, path },
                Self::Share {
                    tree: to,
                    path: inner,
                },
            ) if tree.is_same_server(to) => {
                let same_share = tree.is_same(to);
                let is_below = match self.folds() {
                    true => is_below(&name::key(inner), &name::key(path)),
                    false => is_below(inner, path),
                };
                (same_share && is_below) || self.id().is_some_and(|own| other.has_above(own))
            }
            _ => false,
        }
    }

    /// Whether both are on one server.
    pub(super) fn is_on_same_server(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Share { tree, .. }, Self::Share { tree: to, .. }) => tree.is_same_server(to),
            _ => false,
        }
    }

    /// What its server knows it and all folders above it by, as far as they are there.
    pub(super) fn ids_above(&self) -> Vec<ObjectId> {
        let mut ids = Vec::new();
        let mut next = self.is_share().then(|| self.clone());
        while let Some(place) = next {
            ids.extend(place.id());
            next = place.parent().map(|(parent, _)| parent);
        }
        ids
    }

    /// Whether it, or a folder above it, is this one.
    fn has_above(&self, id: ObjectId) -> bool {
        self.id() == Some(id)
            || self
                .parent()
                .is_some_and(|(parent, _)| parent.has_above(id))
    }

    /// What its server knows it by; none where nothing is there, or it does not tell.
    pub(super) fn id(&self) -> Option<ObjectId> {
        match self {
            Self::Local(_) => None,
            Self::Share { tree, path } => share::id(tree, path),
        }
    }
}

/// A folder of a share that stays where something is removed.
#[derive(Default)]
pub(super) struct Staying {
    /// Of one that something is copied to.
    pub creation: Option<u64>,
    /// It is copied to under two names, so that one of them must be a link.
    pub has_two_names: bool,
}

/// What is known and told where something is removed.
pub(super) struct Removal<'a> {
    /// By number, folders that stay.
    pub stay: &'a HashMap<u64, Staying>,
    /// Nothing is removed; what would be left is told all the same.
    pub dry_run: bool,
    /// Folders within each other that are being emptied.
    pub depth: usize,
    /// Below the top, what is removed now; at the end, what was to be removed.
    pub path: String,
    /// Hears of folders that are left because they may be links.
    pub left: &'a dyn Fn(&str),
    /// Bytes that are held of what is to be removed.
    pub batches: &'a AtomicUsize,
}

/// What was listed of a folder that is emptied.
struct Part {
    /// There is no more.
    is_last: bool,
    numbers: Option<Numbers>,
}

/// What a folder's listing says is its own number and that of the folder it is in.
pub(super) type Numbers = (u64, u64);

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

/// Whether a server knows a file by this number, and not all that it has no number for.
pub(super) fn is_number(number: u64) -> bool {
    ![0, u64::MAX].contains(&number)
}

/// What a server knows a file or folder by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ObjectId {
    pub volume: u64,
    pub file: u64,
    /// Servers made from one image may count alike and call themselves alike.
    pub creation: u64,
}

/// Whether a path is `outer` or leads into it.
fn is_below(path: &str, outer: &str) -> bool {
    outer.is_empty()
        || path
            .strip_prefix(outer)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What to do with links: those of this machine, and of a share with the POSIX extensions. Other servers show what theirs
/// lead to, or what they cannot follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// Copy those as links that lead to nothing but what is copied, where both ends have links and one is a share; leave
    /// out the others.
    #[default]
    Keep,
    /// Leave them out.
    Skip,
    /// Copy what they lead to.
    Follow,
}

/// Whether an error says that there is nothing.
pub(super) fn is_absent(error: &Error) -> bool {
    match error {
        Error::NotFound { .. } => true,
        Error::LocalFile { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}

pub(crate) fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
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
