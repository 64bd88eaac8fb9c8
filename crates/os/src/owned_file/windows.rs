//! Windows: who owns a file is asked of the file itself. Who else may write it is not looked at yet, so none is taken.

use std::fs::{File, OpenOptions};
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::Path;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_READ_ATTRIBUTES, READ_CONTROL,
};

use super::{NotOwned, Owner};
use crate::windows::is_owned_by_us;

pub(super) fn owner(path: &Path) -> Option<Owner> {
    path.symlink_metadata().ok()?;
    let mut options = OpenOptions::new();
    options
        .access_mode(FILE_READ_ATTRIBUTES | READ_CONTROL)
        .custom_flags(FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS);
    let is_ours = options.open(path).and_then(|file| is_owned_by_us(&file));
    match is_ours.unwrap_or(false) {
        true => Some(Owner::Us),
        false => Some(Owner::Another),
    }
}

pub(super) fn is_in_reach_of_another(_: &Path) -> bool {
    true
}

pub(super) fn open(_: &Path) -> Result<File, NotOwned> {
    Err(NotOwned::WritableByOthers)
}

pub(super) fn entrance(_: &File) -> Option<String> {
    None
}
