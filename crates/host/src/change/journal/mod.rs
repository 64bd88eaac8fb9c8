//! What has to be put back, whatever happens to us: one file for each change, on the disk before
//! the first command runs.

mod file_format;

use std::env;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use locale::say;
use os::file::{Folder, Readers};
use record::{HostName, KnobId, Target, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::settings_before_and_after::{Entry, HostIdentity, Item};
use crate::Error;

pub(super) use file_format::Hints;
pub(crate) use file_format::{Mark, Opened};
use file_format::{journal_error, of_state};

/// Names the state folder instead of the usual ones.
pub const STATE_VARIABLE: &str = "LINERATE_STATE_DIR";
/// What the state folder is called in that of the system.
const FOLDER_NAME: &str = "linerate";
/// Changes that are over and still kept to look at; the oldest go first.
const CLOSED_MAX: usize = 500;
/// How long the last command of a linerate that was killed may still be at work. It is on its own
/// then, and must not land after what we read and put back.
const ORPHAN_GRACE: Duration = Duration::from_millis(300);
/// How long the lock of a dead linerate may still be held by what it was about to start, and how
/// often that is looked at.
const HEIR_LIMIT: Duration = Duration::from_secs(3);
const HEIR_LOOK: Duration = Duration::from_millis(20);

/// A change that is not taken back, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// Its id, for `linerate undo ID`.
    pub id: String,
    /// Which run made it.
    pub run: String,
    /// Since when.
    #[schemars(with = "String")]
    pub since: jiff::Timestamp,
    /// Whether it is meant to stay. Otherwise its run is still going on, or was cut short.
    pub kept: bool,
    /// Its settings.
    pub settings: Vec<SummarySetting>,
}

/// One setting of a change, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SummarySetting {
    /// The host.
    pub host: HostName,
    /// The part of it.
    pub target: Target,
    /// The knob.
    pub knob: KnobId,
    /// Its value before.
    pub before: Value,
    /// Its value with the change.
    pub after: Value,
}

impl From<Item> for SummarySetting {
    fn from(item: Item) -> Self {
        Self {
            host: item.host,
            target: item.target,
            knob: item.knob,
            before: item.before,
            after: item.after,
        }
    }
}

/// What stands in a journal.
#[derive(Debug, Default)]
pub struct Listing {
    /// The changes that are not taken back, oldest first.
    pub open: Vec<Summary>,
    /// The files that cannot be understood, each with the reason.
    pub damaged: Vec<Error>,
}

/// The folder for the state of this user: of `LINERATE_STATE_DIR`, of root, or of XDG.
///
/// # Errors
/// When nothing says where the user's home is.
pub fn state_folder() -> Result<PathBuf, Error> {
    if let Some(folder) = env::var_os(STATE_VARIABLE).filter(|folder| !folder.is_empty()) {
        return Ok(folder.into());
    }
    let of_root = root_folder().filter(|_| os::is_root());
    of_root.or_else(user_folder).ok_or(Error::NoStateFolder)
}

/// Whether that of root is used where nothing names another one.
#[must_use]
pub fn is_of_root() -> bool {
    os::is_root() && root_folder().is_some()
}

/// All folders where this user may find changes: their own first, then root's.
#[must_use]
pub fn state_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = state_folder().into_iter().collect();
    for folder in [root_folder(), user_folder()].into_iter().flatten() {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

fn root_folder() -> Option<PathBuf> {
    os::state_folder::of_root().map(|folder| folder.join(FOLDER_NAME))
}

fn user_folder() -> Option<PathBuf> {
    os::state_folder::of_user().map(|folder| folder.join(FOLDER_NAME))
}

/// The journal of this machine's changes. While it is open, no other linerate can open it.
#[derive(Clone, Debug)]
pub struct Journal {
    folders: Arc<Folders>,
    /// What the leases of this linerate have in common, and no others.
    owner: Arc<str>,
    /// The lock goes when the last clone goes, or with the process.
    _lock: Arc<Lock>,
}

/// The changes that are not over, and those that are. What is in them tells nothing that other users could
/// not see on the hosts, and they are to see what is changed.
#[derive(Debug)]
struct Folders {
    open: Folder,
    closed: Folder,
}

const READERS: Readers = Readers::All;

/// The locked file. It names its holder; empty, the last holder has left it in peace.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // The name of a holder that is gone only costs the next one a moment.
        self.0.set_len(0).ok();
    }
}

/// Who holds the lock.
#[derive(Serialize, Deserialize)]
struct Holder {
    process: u32,
    run: String,
    since: jiff::Timestamp,
}

impl Journal {
    /// Opens the journal in a folder, which is made where there is none. `run` says who we are, to
    /// whoever comes second.
    ///
    /// # Errors
    /// When the folder cannot be made or written, another linerate has the journal open, or nothing is changed from such
    /// a machine yet.
    pub fn open(folder: &Path, run: &str) -> Result<Self, Error> {
        // What a folder of Windows must be that holds what an administrator is to put back is not made yet.
        if !os::HAS_POSIX_FILES {
            return Err(Error::NoChangesHere);
        }
        let state = Folder::make(folder, READERS).map_err(of_state)?;
        let [open, closed] = ["open", "closed"].map(|name| state.make_folder(name, READERS));
        let folders = Folders {
            open: open.map_err(of_state)?,
            closed: closed.map_err(of_state)?,
        };
        let path = folder.join("lock");
        let mut lock = state.open_or_create("lock").map_err(of_state)?;
        let patience = Instant::now() + HEIR_LIMIT;
        loop {
            match os::file::try_lock(&lock) {
                Ok(true) => break,
                // A command that it was about to start when it ended or was killed has it for a moment.
                Ok(false) if Instant::now() < patience && holder(&mut lock).is_none_or(is_dead) => {
                    thread::sleep(HEIR_LOOK);
                }
                Ok(false) => return Err(locked(folder, &mut lock)),
                Err(error) => return Err(journal_error("lock", &path, error)),
            }
        }
        let mut lock = Lock(lock);
        if lock.0.metadata().is_ok_and(|metadata| metadata.len() > 0) {
            thread::sleep(ORPHAN_GRACE);
        }
        let holder = Holder {
            process: std::process::id(),
            run: run.into(),
            since: jiff::Timestamp::now(),
        };
        let written = serde_json::to_vec(&holder)
            .map_err(io::Error::from)
            .and_then(|text| {
                lock.0.set_len(0)?;
                lock.0.rewind()?;
                lock.0.write_all(&text)
            });
        // It only tells who it is: a full disk must not be in the way of putting things back.
        written.ok();
        Ok(Self {
            folders: Arc::new(folders),
            owner: format!("{:016x}", random(folder)?).into(),
            _lock: Arc::new(lock),
        })
    }

    /// Writes what is about to be changed.
    pub(super) fn write_new(
        &self,
        run: String,
        identities: Vec<HostIdentity>,
        items: Vec<Item>,
        snapshot: Vec<Entry>,
    ) -> Result<Opened, Error> {
        let opened = Opened::new(self.next_id()?, run, identities, items, snapshot);
        opened.write(&self.folders.open)?;
        Ok(opened)
    }

    /// The changes that are not over, by number and id.
    pub(super) fn open_changes(&self) -> Result<Vec<(u64, String)>, Error> {
        ids(&self.folders.open)
    }

    /// One of them, with what its hints say.
    pub(super) fn read(&self, id: &str) -> Result<(Opened, Hints), Error> {
        file_format::read(&self.folders.open, id)
    }

    /// Numbers go up for ever, so that newest is newest whatever the clock says.
    fn next_id(&self) -> Result<String, Error> {
        let mut last = 0;
        for folder in [&self.folders.open, &self.folders.closed] {
            let numbers = ids(folder)?.into_iter().map(|(number, _)| number);
            last = numbers.max().unwrap_or(0).max(last);
        }
        let random = random(self.folders.open.path())? & 0xffff;
        Ok(format!("{}-{random:04x}", last.saturating_add(1)))
    }

    pub(crate) fn owner(&self) -> &str {
        &self.owner
    }

    /// Adds a hint to a change. Its loss does no harm.
    pub(crate) fn mark(&self, id: &str, mark: Mark) {
        let appended = file_format::line(&mark).and_then(|line| {
            let file = self.folders.open.append(&file_format::name(id));
            let mut file = file.map_err(io::Error::other)?;
            let length = file.metadata()?.len();
            let written = file.write_all(&line);
            // A part of a line in front of the next one would be damage.
            written.or_else(|error| file.set_len(length).and(Err(error)))?;
            file.sync_data()
        });
        appended.ok();
    }

    /// Ends a change: nothing is left to put back.
    pub(crate) fn close(&self, id: &str) -> Result<(), Error> {
        let Folders { open, closed } = self.folders.as_ref();
        let name = file_format::name(id);
        open.rename(&name, closed, &name)
            .and_then(|()| closed.sync())
            .and_then(|()| open.sync())
            .map_err(of_state)?;
        self.forget_oldest();
        Ok(())
    }

    fn forget_oldest(&self) {
        let Ok(mut closed) = ids(&self.folders.closed) else {
            return;
        };
        closed.sort_unstable();
        let many = closed.len().saturating_sub(CLOSED_MAX);
        for (_, id) in closed.into_iter().take(many) {
            // The next change that ends tries again.
            self.folders.closed.remove(&file_format::name(&id)).ok();
        }
    }
}

/// What stands in the journal of a folder. Takes no lock: it can be looked at while a run goes on.
///
/// # Errors
/// When the folder is there and cannot be read; one of another user that may not be read counts as empty.
pub fn list_open(folder: &Path) -> Result<Listing, Error> {
    let mut listing = Listing::default();
    let is_ours = || state_folder().is_ok_and(|ours| ours == folder);
    let open = Folder::open(folder, READERS).and_then(|state| state.folder("open", READERS));
    let open = match open {
        Ok(open) => open,
        Err(error) if error.is_missing() || error.is_denied() && !is_ours() => return Ok(listing),
        // Nothing of it is believed: from ours, another may have removed what was there. Elsewhere it matters only
        // where there is something.
        Err(error @ os::file::Error::Unsafe { .. }) => {
            if is_ours() || holds_changes(&folder.join("open")) {
                listing.damaged.push(of_state(error));
            }
            return Ok(listing);
        }
        Err(error) => return Err(of_state(error)),
    };
    let mut ids = ids(&open)?;
    ids.sort_unstable();
    for (_, id) in ids {
        match file_format::read(&open, &id) {
            Ok((opened, hints)) => listing.open.push(summary(opened, &hints)),
            // It was closed while we looked.
            Err(Error::Journal { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            Err(error) => listing.damaged.push(error),
        }
    }
    Ok(listing)
}

/// Whether there is anything by the name of a change in a folder that may be anybody's.
fn holds_changes(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.any(|name| file_format::id_of(&name).is_some())
}

fn summary(opened: Opened, hints: &Hints) -> Summary {
    let settings = opened.items.into_iter().map(SummarySetting::from);
    Summary {
        id: opened.id,
        run: opened.run,
        since: opened.opened,
        kept: hints.kept,
        settings: settings.collect(),
    }
}

/// The changes of a folder, by number and id.
fn ids(folder: &Folder) -> Result<Vec<(u64, String)>, Error> {
    let names = folder.names().map_err(of_state)?.into_iter();
    Ok(names.filter_map(|name| file_format::id_of(&name)).collect())
}

/// Who wrote the name into the locked file.
fn holder(lock: &mut File) -> Option<Holder> {
    let mut text = String::new();
    lock.rewind().ok()?;
    lock.take(4096).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn is_dead(holder: Holder) -> bool {
    os::process::is_running(holder.process) == Some(false)
}

fn locked(folder: &Path, lock: &mut File) -> Error {
    let holder = match holder(lock) {
        Some(Holder {
            process,
            run,
            since,
        }) => say("error-host.holder")
            .with("run", run)
            .with("process", process.to_string())
            .with("since", since.to_string()),
        None => say("error-host.another-linerate"),
    };
    Error::Locked {
        folder: folder.into(),
        holder,
    }
}

fn random(folder: &Path) -> Result<u64, Error> {
    getrandom::u64().map_err(|error| {
        let source = io::Error::other(error.to_string());
        journal_error("name a change in", folder, source)
    })
}
