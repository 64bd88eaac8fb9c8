//! Removing a folder of ours on a share with all that is in it, and those that nobody holds any more.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use smb::copy::Place;
use smb::{Access, Disposition, OpenOptions as HowToOpen, Tree};

use super::in_use_lock::{HOLD, Hold, Parent};
use super::{DEPTH_MAX, FOLDER};
use crate::share_workload::joined;
use crate::{Error, Stop};

/// Files that are removed at once.
const REMOVING: usize = 16;
/// Files of this size are emptied before they are removed; of smaller ones that costs more than it saves.
const EMPTIED_BYTES_MIN: u64 = 64 << 10;
/// Entries of a share's folder that are looked at for what was left there.
const ENTRIES_MAX: usize = 10_000;

/// Removes folders of ours that nobody holds any more.
pub(super) fn remove_leftovers(parent: &Parent<'_>, stop: &Stop) {
    let names: Vec<String> = match parent.place {
        Place::Share { tree, path } => {
            let entries = tree.entries(path).into_iter().flatten().flatten();
            entries.take(ENTRIES_MAX).map(|entry| entry.name).collect()
        }
        Place::Local(path) => {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name().into_string());
            names.filter_map(Result::ok).collect()
        }
    };
    for name in names {
        let Some(ours) = name.strip_suffix(FOLDER).or(name.strip_suffix(HOLD)) else {
            continue;
        };
        let number = ours.strip_prefix(".linerate-").unwrap_or_default();
        let is_number = number.len() == 16 && number.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_number || stop.is_asked() {
            continue;
        }
        if let Ok(Some(_hold)) = Hold::take(parent, ours) {
            let name = format!("{ours}{FOLDER}");
            match &parent.held {
                Some(folder) => folder.remove_folder(&name).ok(),
                None => remove_folder(&parent.place.join(&name), 0).ok(),
            };
        }
    }
}

/// Takes a file's content from it: a server with a recycle bin keeps what is removed. One that cannot be
/// emptied is removed all the same.
fn empty(tree: &Tree, path: &str) {
    let options = HowToOpen {
        disposition: Disposition::Truncate,
        folder: Some(false),
        ..HowToOpen::open(Access::Write)
    };
    tree.open(path, &options).and_then(smb::File::close).ok();
}

/// Removes a folder of a share with all that is in it; one that is not there is removed already.
pub(super) fn remove_folder(place: &Place, depth: usize) -> Result<(), Error> {
    let Place::Share { tree, path } = place else {
        return Ok(());
    };
    let entries = match tree.list(path) {
        Err(smb::Error::NotFound { .. }) => return Ok(()),
        entries => entries?,
    };
    let entries: Vec<smb::copy::Entry> = entries.into_iter().map(Into::into).collect();
    let (folders, files): (Vec<_>, Vec<_>) = entries
        .iter()
        .partition(|entry| entry.kind == smb::copy::Kind::Folder);
    for folder in folders {
        if depth < DEPTH_MAX {
            remove_folder(&place.join(&folder.name), depth + 1)?;
        }
    }
    let next = AtomicUsize::new(0);
    let lost = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..REMOVING.min(files.len()) {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed))
                    && !lost.load(Ordering::Relaxed)
                {
                    let path = joined(path, &file.name);
                    if file.size >= EMPTIED_BYTES_MIN {
                        empty(tree, &path);
                    }
                    if tree.remove_file(&path).is_err() {
                        // The folder will not be empty then, which is what is told.
                        lost.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    Ok(tree.remove_folder(path)?)
}
