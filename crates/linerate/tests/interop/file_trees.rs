//! Trees of files: making them, and what is in them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    Folder,
    File {
        size: u64,
        hash: u64,
    },
    /// A symbolic link, with where it leads.
    Link(PathBuf),
}

/// Everything in a folder, by its path below it.
pub type Tree = BTreeMap<Vec<u8>, Node>;

/// What is in a folder.
pub fn read(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    add(folder, b"", &mut tree);
    tree
}

fn add(folder: &Path, above: &[u8], tree: &mut Tree) {
    for entry in fs::read_dir(folder).expect("it is a folder") {
        let entry = entry.expect("a folder on our own disk");
        let mut path = above.to_vec();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend(entry.file_name().as_bytes());
        let kind = entry.file_type().expect("it is there");
        if kind.is_dir() {
            add(&entry.path(), &path, tree);
            tree.insert(path, Node::Folder);
        } else if kind.is_symlink() {
            let target = fs::read_link(entry.path()).expect("a link on our own disk");
            tree.insert(path, Node::Link(target));
        } else {
            tree.insert(path, file(&entry.path()));
        }
    }
}

/// One file.
pub fn file(path: &Path) -> Node {
    let bytes = fs::read(path).expect("a file on our own disk");
    let mut hash = DefaultHasher::new();
    bytes.hash(&mut hash);
    Node::File {
        size: bytes.len() as u64,
        hash: hash.finish(),
    }
}

/// Bytes of which no two stretches are alike, and none is zero.
pub fn bytes(count: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::with_capacity(count + 8);
    while bytes.len() < count {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend((state | 0x0101_0101_0101_0101).to_le_bytes());
    }
    bytes.truncate(count);
    bytes
}

/// Writes a file of so many bytes, with the folders that it is in and a time of its own.
pub fn write(path: &Path, count: usize, seed: u64) {
    write_bytes(path, &bytes(count, seed));
    set_seconds(path, 1_500_000_000 + seed);
}

pub fn write_bytes(path: &Path, bytes: &[u8]) {
    let folder = path.parent().expect("it is in a folder");
    fs::create_dir_all(folder).expect("space on the disk");
    fs::write(path, bytes).expect("space on the disk");
}

/// Writes a file with holes: its size, and where data are.
pub fn write_sparse(path: &Path, size: u64, data: &[(u64, usize)]) {
    fs::create_dir_all(path.parent().expect("it is in a folder")).expect("space on the disk");
    let file = fs::File::create(path).expect("space on the disk");
    file.set_len(size).expect("our own file");
    for (offset, count) in data {
        let bytes = bytes(*count, *offset);
        file.write_all_at(&bytes, *offset)
            .expect("space on the disk");
    }
}

/// The name with these bytes.
pub fn named(name: &[u8]) -> &OsStr {
    OsStr::from_bytes(name)
}

/// Who may do what with it, and more bits.
pub fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).map_or(0, |it| it.mode() & 0o7777)
}

pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("our own");
}

pub fn link(target: &str, path: &Path) {
    let folder = path.parent().expect("it is in a folder");
    fs::create_dir_all(folder).expect("space on the disk");
    std::os::unix::fs::symlink(target, path).expect("our own folder");
}

pub fn set_seconds(path: &Path, seconds: u64) {
    let modified = UNIX_EPOCH + Duration::from_secs(seconds);
    let file = fs::File::options().write(true).open(path);
    file.and_then(|file| file.set_modified(modified))
        .expect("our own file");
}

/// Seconds since 1970 of the last change.
pub fn seconds(path: &Path) -> i64 {
    fs::symlink_metadata(path).map_or(-1, |it| it.mtime())
}
