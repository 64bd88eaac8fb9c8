//! The journal of changes, as it may stand on the disk after a crash or after a stranger: each file is
//! understood or named as damaged, never taken for no change at all.

use std::fs;

use host::journal::list_open;

/// Takes one input; panics where what must hold does not.
pub fn run(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let open = folder.path().join("open");
    fs::create_dir(&open).expect("our own folder");
    fs::write(open.join("7-beef.jsonl"), data).expect("room on the disk");
    let listing = list_open(folder.path()).expect("it can be read");
    assert_eq!(listing.open.len() + listing.damaged.len(), 1);
}
