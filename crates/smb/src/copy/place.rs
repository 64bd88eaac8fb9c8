//! Where files and folders are, on either side.

pub(super) mod removal;

use std::path::{Path, PathBuf};

use super::entry::{Entry, ObjectId, OfFolder, is_absent};
use super::name::Rules;
use super::{local_files, name, share};
use crate::error::Error;
use crate::single_path_operations::NotKept;
use crate::tree::Tree;

/// Whatever its source has, whoever makes the copy of a folder can enter, list and change it: else the next copy could
/// not.
const MODE_OF_FOLDER_MIN: u32 = 0o700;

/// Folders within each other: more are hostile.
pub(super) const DEPTH_MAX: usize = 200;

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

impl Place {
    /// What a path of this machine leads to, links followed; root follows links of root only. Of what is there, nothing
    /// else is followed from then on.
    ///
    /// # Errors
    /// When the path leads through another user's link and this is root, or cannot be followed.
    pub fn local(path: &Path) -> Result<Self, Error> {
        local_files::resolve(path).map(Self::Local)
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
                path: name::joined(path, name),
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
            Self::Local(path) => local_files::stat(path),
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
        matches!(self, Self::Local(path) if local_files::is_nowhere(path))
    }

    /// The entries of a folder. One that cannot be looked at is an error in the list.
    pub(super) fn list(&self) -> Result<Box<dyn Iterator<Item = Result<Entry, Error>>>, Error> {
        match self {
            Self::Local(path) => Ok(Box::new(local_files::list(path)?)),
            Self::Share { tree, path } => Ok(Box::new(share::list(tree, path)?)),
        }
    }

    /// The same of a folder that is copied: that its server tells nothing of it is an error at the end of the list.
    pub(super) fn list_source(
        &self,
    ) -> Result<Box<dyn Iterator<Item = Result<Entry, Error>>>, Error> {
        match self {
            Self::Share { tree, path } => Ok(Box::new(share::list_source(tree, path)?)),
            Self::Local(_) => self.list(),
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
            Self::Local(path) => local_files::make_folder(path, mode),
            Self::Share { tree, path } => share::make_folder(tree, path, mode),
        }
    }

    /// Gives a folder the times and attributes of its source.
    pub(super) fn finish_folder(&self, source: &OfFolder) -> Result<NotKept, Error> {
        match self {
            Self::Local(path) => local_files::set_folder_times(path, source.times),
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
            (Self::Local(outer), Self::Local(inner)) => local_files::holds(outer, inner),
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

/// Whether a path is `outer` or leads into it.
fn is_below(path: &str, outer: &str) -> bool {
    outer.is_empty()
        || path
            .strip_prefix(outer)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
