//! Windows: who owns a file is asked of the file itself. Who else may write it is not looked at yet, so none is taken.

use std::fs::File;
use std::path::Path;

use windows_sys::Win32::Storage::FileSystem::{FILE_READ_ATTRIBUTES, READ_CONTROL};

use super::{NotOwned, Owner};
use crate::windows::{is_owned_by_us, open_itself};

pub(super) fn owner(path: &Path) -> Option<Owner> {
    path.symlink_metadata().ok()?;
    let file = open_itself(path, FILE_READ_ATTRIBUTES | READ_CONTROL);
    let is_ours = file.and_then(|file| is_owned_by_us(&file));
    match is_ours.unwrap_or(false) {
        true => Some(Owner::Us),
        false => Some(Owner::Another),
    }
}

pub(super) fn is_in_reach_of_another(_: &Path) -> bool {
    true
}

/// Nothing is decided by it here: there is no user without rights to become.
pub(super) fn is_readable_by_all(_: &Path) -> bool {
    false
}

pub(super) fn is_readable_by_others(file: &File) -> bool {
    crate::windows::is_read_by_others(file).unwrap_or(true)
}

pub(super) fn open(_: &Path) -> Result<File, NotOwned> {
    Err(NotOwned::WritableByOthers)
}

pub(super) fn entrance(_: &File) -> Option<String> {
    None
}
