//! Copying files and trees between this machine and shares, and from share to share.
//!
//! Each file is written under another name and gets its own when it is complete, so that nothing
//! that looks complete is ever short. Only a small new one on a share has its own name from the begin:
//! there the server opens it for nobody else before it is written and closed. A tree is walked by several threads at once. Small files are
//! moved by many threads, each of which waits for the server most of the time; large ones are
//! spread over all channels, a few at a time. Many files and very large ones use a second session. What waits between them is bounded, so that memory
//! does not grow with the tree.

mod allocated_ranges;
mod bounded_work_queue;
mod entry;
mod extra_sessions;
mod file_source_and_destination;
mod files_in_use;
pub(crate) mod filetime;
mod filter;
mod folder_name_matching;
mod hash;
mod large_file_transfer;
mod local_files;
mod mirror_surplus;
pub(crate) mod name;
mod partial_file_options;
mod place;
mod progress;
mod reparse_tags;
pub(crate) mod resume_record;
mod server_side_copy;
mod share;
pub(crate) mod symbolic_links;
mod tree_copy;

use std::path::Path;

pub use entry::{Entry, Kind};
pub use filter::Filter;
pub use name::{Names, printable};
pub use os::windows_time::to_system_time as system_time;
pub use place::{Links, Place};
pub use progress::{AlternateStream, Event, FAILURES_MAX, Failure, Progress, Summary};
pub use reparse_tags::Reparse;
pub use tree_copy::run;

use crate::error::Error;
use crate::signal::Stop;
use crate::tree::{Replace, Tree};

/// Sessions with one server where nobody says how many: each costs a login, and the server memory.
pub const SESSIONS: usize = 2;

/// What to do with a file that is at the destination already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Leave it, and report the file as not copied.
    #[default]
    Refuse,
    /// Replace it.
    Replace,
    /// Replace it where the source is newer, or differs in size from a copy of the same time. One
    /// of the same size and time is a copy already; one that is newer stays.
    Update,
}

/// Something to copy.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where it is.
    pub place: Place,
    /// Of a folder, what is in it and not the folder itself.
    pub content: bool,
    /// The name that its copy gets in a folder; none: its own.
    pub name: Option<String>,
}

/// How to copy.
#[derive(Clone, Debug)]
pub struct Options {
    /// What to do with what is there.
    pub existing: Existing,
    /// Go on with what an earlier run left: take files of the same size and time as copied, and
    /// continue parts whose source is the same file, by size, time and number.
    pub resume: bool,
    /// Read back each file before it gets its name, and compare the hashes.
    pub verify: bool,
    /// Change nothing, and tell what would be done.
    pub dry_run: bool,
    /// Remove what the folders of the destination hold and those of the source do not.
    pub delete: bool,
    /// What to do with names that the other side cannot hold.
    pub names: Names,
    /// What to do with links in the folders that are copied.
    pub links: Links,
    /// Which files to take.
    pub filter: Filter,
    /// Most sessions with one server, for very large files and where there are many: with each more, one
    /// more of its processors can work. One that the server does not want is done without.
    pub sessions: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            existing: Existing::default(),
            resume: false,
            verify: false,
            dry_run: false,
            delete: false,
            names: Names::default(),
            links: Links::default(),
            filter: Filter::default(),
            sessions: SESSIONS,
        }
    }
}

/// What to copy, and where to.
#[derive(Clone, Debug)]
pub struct Job {
    /// What.
    pub sources: Vec<Source>,
    /// Where to: into it if it is a folder, if `into` says so or if there is more than one source;
    /// a folder always goes into it. Else it is the name that the copy of a file gets.
    pub destination: Place,
    /// The destination is a folder, which is made if it is not there.
    pub into: bool,
    /// How.
    pub options: Options,
}

/// Copies a file of a share to this machine, to a path without links, and gives its length. The time of its last change
/// is kept.
///
/// # Errors
/// When either end says no, the connection is lost, the file changes meanwhile, or it was stopped.
/// What was at `to` before is still there then.
pub fn download(
    tree: &Tree,
    from: &str,
    to: &Path,
    replace: Replace,
    progress: &Progress,
    stop: &Stop,
) -> Result<u64, Error> {
    let from = Place::Share {
        tree: tree.clone(),
        path: from.to_owned(),
    };
    one(from, Place::Local(to.to_owned()), replace, progress, stop)
}

/// Copies a file of this machine, at a path without links, to a share and gives its length. The time of its last change
/// is kept.
///
/// # Errors
/// When either end says no, the connection is lost, the file changes meanwhile, or it was stopped.
/// What was at `to` before is still there then.
pub fn upload(
    from: &Path,
    tree: &Tree,
    to: &str,
    replace: Replace,
    progress: &Progress,
    stop: &Stop,
) -> Result<u64, Error> {
    let to = Place::Share {
        tree: tree.clone(),
        path: to.to_owned(),
    };
    one(Place::Local(from.to_owned()), to, replace, progress, stop)
}

/// Copies one file as [`run`] copies many, so that one that was interrupted is begun again.
fn one(
    from: Place,
    to: Place,
    replace: Replace,
    progress: &Progress,
    stop: &Stop,
) -> Result<u64, Error> {
    let existing = match replace {
        Replace::Never => Existing::Refuse,
        Replace::Existing => Existing::Replace,
    };
    let options = Options {
        existing,
        ..Options::default()
    };
    let summary = tree_copy::run_file(from, to, &options, progress, stop);
    let failed = summary.failures.into_iter().next();
    match summary.ended_by.or(failed.map(|failure| failure.error)) {
        Some(error) => Err(error),
        None => Ok(summary.bytes),
    }
}
