//! The file beside a folder of ours, which whoever uses the folder holds.

use std::fs::File;

use os::folder_in_world_writable::Shared;
use smb::copy::Place;
use smb::{Access, Disposition, OpenOptions as HowToOpen};

use super::failed;
use crate::Error;

/// How its name ends.
pub(super) const HOLD: &str = ".hold";

/// The file beside a folder, in our hands. Dropping it lets go of it.
pub(super) enum Hold {
    /// The server removes it when it is closed.
    Share(#[expect(dead_code, reason = "it is held by being there")] smb::File),
    /// Locked, and to be removed by its name.
    Local(
        #[expect(dead_code, reason = "its lock goes with it")] File,
        Shared,
        String,
    ),
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Self::Local(_, folder, name) = self {
            folder.remove_file(name).ok();
        }
    }
}

/// Where the folder is made.
pub(super) struct Parent<'a> {
    pub(super) place: &'a Place,
    /// The same, where it is no share's. Its path is not looked up again.
    pub(super) held: Option<Shared>,
}

impl<'a> Parent<'a> {
    pub(super) fn of(place: &'a Place) -> Result<Self, Error> {
        let held = match place {
            Place::Share { .. } => None,
            Place::Local(path) => {
                let held = Shared::open(path).map_err(|source| failed(place, source))?;
                Some(held)
            }
        };
        Ok(Self { place, held })
    }
}

impl Hold {
    /// Takes the file beside a folder; none while somebody else has it.
    pub(super) fn take(parent: &Parent<'_>, name: &str) -> Result<Option<Self>, Error> {
        let name = format!("{name}{HOLD}");
        let Some(folder) = &parent.held else {
            return Self::take_on_share(&parent.place.join(&name));
        };
        let failed = |source| failed(parent.place, source);
        // Another user may have put a link or a pipe there.
        let file = folder.open_file(&name).map_err(failed)?;
        if !is_ours(&file) {
            return Ok(None);
        }
        // Where there are no locks nobody can know, and nobody takes what another one has made.
        if file.try_lock().is_err() {
            return Ok(None);
        }
        // Made only if it is ours: what is dropped removes the file.
        let folder = folder.try_clone().map_err(failed)?;
        Ok(Some(Self::Local(file, folder, name)))
    }

    fn take_on_share(place: &Place) -> Result<Option<Self>, Error> {
        let Place::Share { tree, path } = place else {
            return Ok(None);
        };
        let options = HowToOpen {
            disposition: Disposition::Create,
            folder: Some(false),
            delete_on_close: true,
            share_write: false,
            ..HowToOpen::open(Access::ReadWrite)
        };
        match tree.open(path, &options) {
            Ok(file) => Ok(Some(Self::Share(file))),
            Err(smb::Error::AlreadyExists { .. } | smb::Error::Busy { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether it is a regular file that this user has made.
fn is_ours(file: &File) -> bool {
    file.metadata().is_ok_and(|now| now.is_file()) && os::local_file::is_ours(file)
}
