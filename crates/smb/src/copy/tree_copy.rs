//! A whole copy: who walks the folders, who moves the files, and what is done about each.

mod copy_or_skip;
mod destination_folders;
mod failure_handling;
mod file_copy_with_retry;
mod mirror;
mod sources;
mod subfolders;
mod symbolic_links;
mod walk;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, SystemTime};

use super::bounded_work_queue::{Folders, Queue};
use super::entry::{Entry, Kind, ObjectId, OfFolder};
use super::extra_sessions::ExtraSessions;
use super::mirror_surplus::{Kept, Paths, Surplus};
use super::place::Place;
use super::place::removal::Staying;
use super::progress::{Event, Progress, Summary};
use super::{Existing, Job, Options, filetime, name};
use crate::error::Error;
use crate::signal::{Stop, lock};
use crate::single_path_operations::NotKept;
use crate::std_or_shuttle::Mutex;
use crate::std_or_shuttle::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::tree::Replace;
use failure_handling::{no_file, not_carried, nothing_there};
use mirror::Cleaning;

/// Files up to this are moved whole, by one of many threads.
const SMALL_BYTES_MAX: u64 = 256 << 10;
/// How many small files are under way at once: each waits for the server most of the time.
const SMALL_FILES: usize = 32;
/// How many large files are under way at once: each uses all channels, and the next ones fill the
/// gap while one begins and ends.
const LARGE_FILES: usize = 4;
/// How many folders are looked into at once.
const FOLDERS: usize = 8;
/// Files that wait for a thread.
const WAITING_MAX: usize = 1024;
/// So much earlier than the copy began what it makes may seem to be made: file systems read a coarse clock, or that of
/// another machine.
const CLOCK_SLACK: Duration = Duration::from_secs(10);

/// Copies, and tells what is done as it is done. Errors of single files do not end it.
pub fn run(
    job: &Job,
    progress: &Progress,
    stop: &Stop,
    tell: &(dyn Fn(&Event<'_>) + Sync),
) -> Summary {
    let engine = Engine::new(&job.options, progress, stop, tell);
    let files = engine.begin(job);
    engine.finished(files)
}

/// Copies one file under the very name that is given. A folder is none, at either end.
pub(super) fn run_file(
    from: Place,
    to: Place,
    options: &Options,
    progress: &Progress,
    stop: &Stop,
) -> Summary {
    let engine = Engine::new(options, progress, stop, &|_| ());
    let file = from.stat().and_then(|found| {
        let found = found.ok_or_else(|| nothing_there(&from))?;
        if found.kind == Kind::Folder {
            return Err(no_file(&from));
        }
        Ok(FileJob::alone(from, to, found))
    });
    engine.finished(file.map(|file| vec![file]))
}

/// The earliest time of what a copy makes that begins now.
fn made_since(now: SystemTime) -> u64 {
    let earliest = now.checked_sub(CLOCK_SLACK);
    earliest.map_or(0, os::windows_time::from_system_time)
}

/// What all threads of one copy share.
struct Engine<'a> {
    options: &'a Options,
    progress: &'a Progress,
    stop: &'a Stop,
    tell: &'a (dyn Fn(&Event<'_>) + Sync),
    folders: Folders<Arc<Folder>>,
    kept: Kept,
    small: Queue<FileJob>,
    large: Queue<FileJob>,
    sessions: ExtraSessions,
    summary: Mutex<Summary>,
    /// The folders at the destination that sources on the same server are copied to, as it knows them.
    tops: Mutex<Vec<ObjectId>>,
    /// The same of sources on this machine.
    tops_of_local: Mutex<Vec<ObjectId>>,
    /// Hashes of the paths that files of this copy go to, where those of two sources may be the same.
    taken_names: OnceLock<Mutex<HashSet<u64>>>,
    /// Nothing that this copy makes seems to be made before, in the server's unit.
    made_since: u64,
    cleaning: Mutex<Cleaning>,
    /// What it says of folders that stay, once all are known.
    stay: OnceLock<HashMap<u64, Staying>>,
    /// Something happened after which nothing more can be copied.
    over: AtomicBool,
}

/// A folder that is copied.
struct Folder {
    from: Place,
    to: Place,
    /// Path below the top, with `/`; empty at the top.
    path: String,
    depth: usize,
    /// The number of the source, zero where there is none.
    number: u64,
    /// What is at the destination, as the folder above it shows it.
    there: Option<Box<Entry>>,
    /// Of the source; none where only its content is copied into a folder that has its own times.
    given: Option<OfFolder>,
    parent: Option<Arc<Folder>>,
    /// Of one that a listing has named.
    #[expect(dead_code, reason = "it counts as long as the folder is known")]
    paths: Option<Paths>,
    state: Mutex<FolderState>,
    /// What is still to be done in it: looking into it, its files and folders.
    pending: AtomicUsize,
}

#[derive(Default)]
struct FolderState {
    /// It is at the destination.
    exists: bool,
    /// It was made by this copy.
    new: bool,
    /// Something in it was changed.
    touched: bool,
    /// Something in it could not be copied, perhaps because it is there under another spelling.
    failed: bool,
    /// What is to be removed from the destination at the end.
    surplus: Option<Box<Surplus>>,
}

/// A file that is copied.
struct FileJob {
    from: Place,
    to: Place,
    path: String,
    found: Entry,
    replaces: bool,
    /// What is there may be the begin of it, which a server left that ended while it was written.
    may_be_begun: bool,
    folder: Option<Arc<Folder>>,
}

impl<'a> Engine<'a> {
    fn new(
        options: &'a Options,
        progress: &'a Progress,
        stop: &'a Stop,
        tell: &'a (dyn Fn(&Event<'_>) + Sync),
    ) -> Self {
        Self {
            options,
            progress,
            stop,
            tell,
            folders: Folders::new(),
            kept: Kept::default(),
            small: Queue::new(WAITING_MAX),
            large: Queue::new(WAITING_MAX),
            sessions: ExtraSessions::new(options.sessions),
            summary: Mutex::default(),
            tops: Mutex::default(),
            tops_of_local: Mutex::default(),
            taken_names: OnceLock::new(),
            made_since: made_since(SystemTime::now()),
            cleaning: Mutex::default(),
            stay: OnceLock::new(),
            over: AtomicBool::new(false),
        }
    }

    /// Does what was begun, and gives what became of it.
    fn finished(self, begun: Result<Vec<FileJob>, Error>) -> Summary {
        match begun {
            Ok(files) => self.work(files),
            Err(error) => self.end(error),
        }
        let mut summary = self.summary.into_inner().unwrap_or_default();
        if self.stop.is_stopped() {
            summary.ended_by = Some(Error::Stopped);
        }
        summary
    }

    /// Copies these files and everything in the folders of the queue.
    fn work(&self, files: Vec<FileJob>) {
        let trees = !self.folders.is_empty();
        let alone = files.len();
        let threads = |most: usize| if trees { most } else { most.min(alone) };
        let walkers = if trees { FOLDERS } else { 1 };
        thread::scope(|scope| {
            let (small, large) = (threads(SMALL_FILES), threads(LARGE_FILES));
            for (queue, count) in [(&self.small, small), (&self.large, large)] {
                for worker in 0..count {
                    scope.spawn(move || {
                        while let Some(file) = queue.pop() {
                            self.copy(&file, worker);
                            if let Some(folder) = &file.folder {
                                self.one_less(folder);
                            }
                        }
                    });
                }
            }
            for file in files {
                self.decide_alone(file);
            }
            thread::scope(|scope| {
                for _ in 0..walkers {
                    scope.spawn(|| {
                        while let Some(folder) = self.folders.take() {
                            self.list_folder(&folder);
                            self.folders.done();
                            self.one_less(&folder);
                        }
                    });
                }
            });
            self.progress.all_found();
            self.small.close();
            self.large.close();
        });
        self.clean();
    }

    /// Something in a folder is done. The last one finishes it, and the one above.
    fn one_less(&self, folder: &Arc<Folder>) {
        let mut folder = Arc::clone(folder);
        while folder.pending.fetch_sub(1, Ordering::AcqRel) == 1 {
            if !self.is_over() {
                match self.finish(&folder) {
                    Ok(not_kept) => self.without(&folder.path, not_kept),
                    Err(error) => self.failed(&folder.path, error),
                }
            }
            match &folder.parent {
                Some(parent) => folder = Arc::clone(parent),
                None => return,
            }
        }
    }

    /// Removes what does not belong into a folder, and gives it its times.
    fn finish(&self, folder: &Folder) -> Result<NotKept, Error> {
        let mut state = std::mem::take(&mut *lock(&folder.state));
        match state.surplus.take() {
            // What could not be copied may be what would be removed, under another spelling.
            Some(surplus) if state.failed => lock(&self.summary).kept += surplus.len() as u64,
            Some(surplus) => state.touched |= self.remove_all(folder, *surplus),
            None => {}
        }
        match &folder.given {
            Some(given) if !self.options.dry_run => {
                let differs = state.new || state.touched || self.is_left_unfinished(folder, given);
                match differs {
                    true => {
                        let beyond = not_carried([&folder.from, &folder.to], given.times);
                        Ok(folder.to.finish_folder(given)?.or(beyond))
                    }
                    false => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    /// Whether an earlier run copied all that is in a folder and was ended before the folder got its time.
    fn is_left_unfinished(&self, folder: &Folder, given: &OfFolder) -> bool {
        if self.options.existing != Existing::Update && !self.options.resume {
            return false;
        }
        let differs = |there: &Entry| !filetime::is_kept(given.times.write, there.times.write);
        match &folder.there {
            Some(there) => differs(there),
            None => matches!(folder.to.stat(), Ok(Some(there)) if differs(&there)),
        }
    }
}

impl Folder {
    /// Whether it cannot be there yet.
    fn is_in_new_one(&self) -> bool {
        self.parent.as_ref().is_some_and(|parent| {
            let state = lock(&parent.state);
            state.new || !state.exists
        })
    }

    fn top(from: &Place, to: Place, number: u64, given: Option<OfFolder>) -> Self {
        Self {
            from: from.clone(),
            to,
            path: String::new(),
            depth: 0,
            number,
            there: None,
            given,
            parent: None,
            paths: None,
            state: Mutex::default(),
            pending: AtomicUsize::new(1),
        }
    }

    /// What an error in the list of its entries is about: one with an odd name, or all of it.
    fn path_of(&self, error: &Error) -> String {
        match error {
            Error::Name { name, .. } => name::joined(&self.path, name),
            _ => self.path.clone(),
        }
    }
}

impl FileJob {
    /// One that was named, and is in no folder that is copied.
    fn alone(from: Place, to: Place, found: Entry) -> Self {
        Self {
            from,
            to,
            path: name::printable(&found.name),
            found,
            replaces: false,
            may_be_begun: false,
            folder: None,
        }
    }

    const fn replace(&self) -> Replace {
        if self.replaces {
            Replace::Existing
        } else {
            Replace::Never
        }
    }
}

/// Whether it is called as what is kept of a copy that is not complete. No folder is that.
fn is_part(entry: &Entry) -> bool {
    entry.kind != Kind::Folder && name::is_ours(&entry.name)
}

#[cfg(test)]
mod local_copy_tests;
