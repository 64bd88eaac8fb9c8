//! Small files of a share, which are read and written whole.

use super::part::{Part, busy_or};
use super::{attributes, changed, check_attributes, entry, split, times_kept};
use crate::copy::entry::Entry;
use crate::copy::name;
use crate::copy::partial_file_options::{Begin, Finish};
use crate::error::Error;
use crate::single_path_operations::NotKept;
use crate::single_path_operations::{self, Content, SMALL_BYTES_MAX, SmallFile};
use crate::small_file_write::{self, Attempt};
use crate::tree::Tree;

/// All of a small file, what the server said of it when it was opened, and the first data stream that is not read.
pub(in crate::copy) fn read_small(
    tree: &Tree,
    path: &str,
    found: &Entry,
    bytes_max: u64,
) -> Result<(Entry, Vec<u8>, Option<String>), Error> {
    let Content {
        status,
        bytes,
        alternate_stream,
    } = if found.size <= SMALL_BYTES_MAX as u64 {
        tree.read_small(path)?
    } else {
        single_path_operations::read_in_steps(tree, path, bytes_max)?
    };
    if bytes.len() as u64 != status.size {
        return Err(changed(path));
    }
    let entry = entry(tree, path, &status, found.id);
    Ok((entry, bytes, alternate_stream))
}

/// A small file, which gets its name when it is complete.
pub(in crate::copy) fn write_small(
    tree: &Tree,
    path: &str,
    bytes: &[u8],
    finish: &Finish,
    attempt: Attempt,
) -> Result<NotKept, Error> {
    if bytes.len() <= SMALL_BYTES_MAX && !finish.sync {
        let not_kept = write_in_one_go(tree, path, bytes, finish, attempt)?;
        return Ok(not_kept.or_else(|| check_attributes(tree, path, finish.attributes)));
    }
    let write = || {
        let (part, _) = Part::begin(tree, path, &Begin::small(finish))?;
        part.write(0, bytes)?;
        part.complete(finish)
    };
    match write() {
        // From now on each piece waits for the one before.
        Err(Error::Lost { .. }) => write(),
        written => written,
    }
}

fn write_in_one_go(
    tree: &Tree,
    path: &str,
    bytes: &[u8],
    finish: &Finish,
    attempt: Attempt,
) -> Result<NotKept, Error> {
    tree.check_new_name(path)?;
    let (folder, name) = split(tree, path);
    let temporary = name::joined(folder, &name::of_part(name));
    let small = SmallFile {
        path: path.to_owned(),
        temporary: temporary.clone(),
        replace: finish.replace,
        content: bytes.into(),
        times: times_kept(finish.times),
        attributes: attributes(tree, finish.attributes),
        mode: finish.mode,
    };
    small_file_write::write(tree, &small, attempt).map_err(|error| match error {
        Error::AlreadyExists { .. } => Error::Obstructed {
            object: name::printable(path),
        },
        error => busy_or(error, &temporary),
    })
}
