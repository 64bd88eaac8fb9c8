//! A large file of a share that is copied.

use std::cell::RefCell;
use std::ops::Range;

use smb_proto::session::{Access, CreateOptions};

use super::{changed, entry};
use crate::copy::allocated_ranges::AllocatedRanges;
use crate::copy::entry::{ATTRIBUTE_SPARSE, Entry};
use crate::copy::extra_sessions::ExtraSession;
use crate::error::Error;
use crate::file::File;
use crate::single_path_operations;
use crate::tree::Tree;

/// A file of a share that is copied.
pub(in crate::copy) struct Source {
    file: File,
    path: String,
    pub(in crate::copy) entry: Entry,
    /// The first data stream that is not copied.
    pub(in crate::copy) alternate_stream: Option<String>,
    tree: Tree,
    allocated: RefCell<AllocatedRanges>,
}

impl Source {
    pub(in crate::copy) const fn file(&self) -> &File {
        &self.file
    }

    pub(in crate::copy) fn open(tree: &Tree, path: &str, found: &Entry) -> Result<Self, Error> {
        let file = tree.open(path, &Self::options())?;
        let entry = entry(
            tree,
            path,
            &single_path_operations::status(&file.created()),
            found.id,
        );
        let allocated = if entry.attributes & ATTRIBUTE_SPARSE != 0 {
            AllocatedRanges::default()
        } else {
            AllocatedRanges::none(entry.size)
        };
        Ok(Self {
            alternate_stream: file.alternate_stream()?,
            file,
            path: path.to_owned(),
            entry,
            tree: tree.clone(),
            allocated: RefCell::new(allocated),
        })
    }

    fn options() -> CreateOptions {
        CreateOptions {
            folder: Some(false),
            sequential: true,
            disk_id: true,
            ..CreateOptions::open(Access::Read)
        }
    }

    pub(in crate::copy) fn add_session(&mut self, session: &ExtraSession) {
        // Without it the copy is slower, and no other.
        if let Ok(file) = session.tree(&self.tree).open(&self.path, &Self::options()) {
            self.file.add_handle(file);
        }
    }

    /// Asks the server for what is not known; one that does not tell has no holes.
    pub(in crate::copy) fn query_allocated(&self, from: u64) -> Result<u64, Error> {
        let size = self.entry.size;
        let mut allocated = self.allocated.borrow_mut();
        if from >= allocated.known && from < size {
            *allocated = match self.file.allocated(from..size) {
                Ok((ranges, more)) => AllocatedRanges::of_server(from..size, &ranges, more),
                Err(error) if error.is_missing_fact() => AllocatedRanges::none(size),
                Err(error) => return Err(error),
            };
        }
        Ok(allocated.known)
    }

    pub(in crate::copy) fn next_data(&self, from: u64) -> Option<Range<u64>> {
        self.allocated.borrow().next_data(from)
    }

    pub(in crate::copy) fn check_unchanged(&self) -> Result<(), Error> {
        let (size, times) = self.file.size_and_times()?;
        if size == self.entry.size && times.write == self.entry.times.write {
            Ok(())
        } else {
            Err(changed(&self.path))
        }
    }

    pub(in crate::copy) fn close_unchanged(self) -> Result<(), Error> {
        if self.file.close_unchanged()? {
            Ok(())
        } else {
            Err(changed(&self.path))
        }
    }
}
