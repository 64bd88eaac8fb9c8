//! A whole copy: who walks the folders, who moves the files, and what is done about each.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use super::extra_sessions::ExtraSessions;
use super::held;
use super::part::Finish;
use super::place::{
    self, DEPTH_MAX, Entry, Kind, Links, ObjectId, OfFolder, Place, Removal, Staying,
};
use super::progress::{Event, FAILURES_MAX, Failure, FileProgress, Progress, Summary};
use super::queue::{Folders, Queue};
use super::seen::{Seen, There};
use super::surplus::{Batch, Kept, Paths, Surplus};
use super::transfer::{Transfer, Transferred};
use super::{Existing, Job, Options, Source, link, local, name, share, time};
use crate::error::Error;
use crate::signal::{Stop, lock};
use crate::small::{Attempt, NotKept};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::tree::Replace;

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
/// How often a file is begun again that was interrupted when all connections were lost: with most
/// servers each time, and a large one then goes on where it is on record.
const INTERRUPTIONS_MAX: usize = 10;
/// Folders of a share that stay while something is removed: their numbers take 17 MB.
const STAYING_MAX: usize = 400_000;
/// Folders that wait to be looked into, as many as ext3 and many a NAS allow in one folder.
const FOLDERS_WAITING_MAX: usize = 65_536;
/// How often, and how long each time, a server is waited for that has not let go of an interrupted file.
const LET_GO_WAITS: usize = 10;
const LET_GO_PAUSE: Duration = Duration::from_millis(500);
/// Letters of the path of a failure, of which a thousand are kept.
const FAILURE_LETTERS_MAX: usize = 4096;
/// So many small files that wait are worth one more login.
const WAITING_FOR_SESSIONS: usize = 256;

/// Copies, and tells what is done as it is done. Errors of single files do not end it.
pub fn run(
    job: &Job,
    progress: &Progress,
    stop: &Stop,
    tell: &(dyn Fn(&Event<'_>) + Sync),
) -> Summary {
    let engine = Engine {
        options: &job.options,
        progress,
        stop,
        tell,
        folders: Folders::new(),
        kept: Kept::default(),
        small: Queue::new(WAITING_MAX),
        large: Queue::new(WAITING_MAX),
        sessions: ExtraSessions::new(job.options.sessions),
        summary: Mutex::default(),
        tops: Mutex::default(),
        cleaning: Mutex::default(),
        stay: OnceLock::new(),
        over: AtomicBool::new(false),
    };
    match engine.begin(job) {
        Ok(files) => engine.work(files),
        Err(error) => engine.end(error),
    }
    let mut summary = engine.summary.into_inner().unwrap_or_default();
    if stop.is_stopped() {
        summary.ended_by = Some(Error::Stopped);
    }
    summary
}

/// Copies one file under the very name that is given, and gives its length.
pub(super) fn copy_file(
    from: Place,
    to: Place,
    options: &Options,
    progress: &Progress,
    stop: &Stop,
) -> Result<u64, Error> {
    progress.begin();
    let found = from.stat()?;
    let found = found.ok_or_else(|| nothing_there(&from))?;
    progress.found(found.size);
    let replace = if options.existing == Existing::Refuse {
        Replace::Never
    } else {
        Replace::Existing
    };
    if replace == Replace::Never && to.stat()?.is_some() {
        return Err(in_the_way(&to));
    }
    let sessions = ExtraSessions::new(options.sessions);
    let places = [&from, &to];
    let transfer = Transfer {
        from: &from,
        to: &to,
        found: &found,
        sessions: sessions.of_large(found.size, places),
        replace,
        resume: options.resume,
        verify: options.verify,
    };
    let progress = FileProgress::new(progress);
    let mut copied = transfer.run(&progress, stop);
    if !transfer.sessions.is_empty() {
        copied = sessions.or_first(copied, stop, || {
            transfer.over_first(places).run(&progress, stop)
        });
    }
    let copied = copied.map_err(|error| held::with_users(error, places))?;
    Ok(copied.bytes)
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
    /// The folders at the destination that sources are copied to, as their server knows them.
    tops: Mutex<Vec<ObjectId>>,
    cleaning: Mutex<Cleaning>,
    /// What it says of folders that stay, once all are known.
    stay: OnceLock<HashMap<u64, Staying>>,
    /// Something happened after which nothing more can be copied.
    over: AtomicBool,
}

/// What is to be removed, and what must not be. Nothing is removed before all folders have been looked
/// into: a server that follows its links shows one to a folder as that folder, and to empty it would
/// empty what stays.
#[derive(Default)]
struct Cleaning {
    /// Folders with something that the source does not have; each counts as pending in itself.
    folders: Vec<Arc<Folder>>,
    /// By number, folders of a share that stay.
    stay: HashMap<u64, Staying>,
    /// Folders that stay and whose number nobody has told yet.
    unnumbered: Vec<Place>,
}

impl Cleaning {
    /// Notes a folder of a share that stays.
    fn stays(&mut self, number: u64) -> Option<&mut Staying> {
        place::is_number(number).then(|| self.stay.entry(number).or_default())
    }

    fn is_too_much(&self) -> bool {
        self.stay.len().max(self.unnumbered.len()) >= STAYING_MAX
    }

    /// Notes one that something is copied to.
    fn is_copied_to(&mut self, number: u64, creation: u64) {
        if let Some(known) = self.stays(number) {
            // File systems below each other may count alike.
            known.has_two_names |= known.creation == Some(creation);
            known.creation.get_or_insert(creation);
        }
    }
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

/// An entry of a folder that is copied.
struct Item {
    /// Its name at the destination.
    name: String,
    path: String,
    shown: String,
    /// By the filter.
    taken: bool,
    entry: Entry,
}

/// A file that is copied.
struct FileJob {
    from: Place,
    to: Place,
    path: String,
    found: Entry,
    replaces: bool,
    folder: Option<Arc<Folder>>,
}

/// What to do with a file, given what is at the destination.
enum Decision {
    Copy {
        replaces: bool,
    },
    Unchanged,
    Newer,
    Obstructed,
    /// No file, so that none may replace it.
    NoFile,
}

impl Engine<'_> {
    /// Looks at the sources and the destination. Folders are put in their queue, single files are
    /// given back.
    fn begin(&self, job: &Job) -> Result<Vec<FileJob>, Error> {
        let destination = &job.destination;
        let there = destination.stat()?;
        let mut into = job.into || job.sources.len() > 1;
        if let Some(there) = &there {
            into |= there.kind == Kind::Folder;
        }
        let mut files = Vec::new();
        for source in &job.sources {
            let found = source.place.stat()?;
            let found = found.ok_or_else(|| nothing_there(&source.place))?;
            let is_folder = found.kind == Kind::Folder;
            if (into || is_folder)
                && there
                    .as_ref()
                    .is_some_and(|there| there.kind != Kind::Folder)
            {
                return Err(no_folder(destination));
            }
            let to = if (into || is_folder) && !(is_folder && source.content) {
                destination.join(&self.name_at(destination, source, &found)?)
            } else {
                destination.clone()
            };
            if source.place.holds(&to) {
                return Err(Error::Usage {
                    reason: format!("`{}` would be copied into itself", source.place.shown()),
                });
            }
            if self.options.delete && to.holds(&source.place) {
                return Err(Error::Usage {
                    reason: format!("`--delete` would remove `{}` itself", source.place.shown()),
                });
            }
            if is_folder {
                if self.options.delete {
                    let mut cleaning = lock(&self.cleaning);
                    for id in to.ids_above() {
                        cleaning.stays(id.file);
                    }
                }
                let number = found.id;
                let given = (!source.content || there.is_none()).then(|| OfFolder::from(&found));
                self.folders
                    .push(Arc::new(Folder::top(&source.place, to, number, given)));
            } else {
                let files_of = FileJob {
                    from: source.place.clone(),
                    to,
                    path: name::printable(&found.name),
                    found,
                    replaces: false,
                    folder: None,
                };
                files.push(files_of);
            }
        }
        if into && there.is_none() && !files.is_empty() && !self.options.dry_run {
            destination.make_folder(None)?;
        }
        Ok(files)
    }

    fn name_at(&self, to: &Place, source: &Source, found: &Entry) -> Result<String, Error> {
        let from = &source.place;
        let name = match (&source.name, from) {
            (Some(name), _) => name,
            (None, Place::Share { tree, path }) if path.is_empty() => tree.share(),
            (None, _) => &found.name,
        };
        self.translated(to, from, name)
    }

    /// The name that something gets on the other side.
    fn translated(&self, to: &Place, from: &Place, name: &str) -> Result<String, Error> {
        let names = self.options.names;
        let translated = match (from, to) {
            (Place::Local(_), Place::Local(_)) => Ok(name.to_owned()),
            (_, Place::Local(_)) => name::for_local(name, names, from.rules()),
            (Place::Local(_), Place::Share { .. }) => name::from_here(name, names, to.rules()),
            (Place::Share { .. }, Place::Share { .. }) => {
                name::check_from_server(name, from.rules())
                    .and_then(|()| name::for_share(name, names, to.rules()))
            }
        };
        translated.map_err(|reason| Error::Name {
            name: name::printable(name),
            reason,
        })
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
                            self.look_into(&folder);
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

    /// Finishes the folders that something is removed from.
    fn clean(&self) {
        let mut cleaning = lock(&self.cleaning);
        let folders = Mutex::new(std::mem::take(&mut cleaning.folders));
        if lock(&folders).is_empty() || self.is_over() {
            return;
        }
        for place in std::mem::take(&mut cleaning.unnumbered) {
            if let Some(id) = place.id() {
                cleaning.is_copied_to(id.file, id.creation);
            }
        }
        let stay = std::mem::take(&mut cleaning.stay);
        drop(cleaning);
        self.stay.get_or_init(|| stay);
        let next = || lock(&folders).pop();
        thread::scope(|scope| {
            for _ in 0..FOLDERS {
                scope.spawn(|| {
                    while let Some(folder) = next() {
                        self.one_less(&folder);
                    }
                });
            }
        });
    }

    /// Queues a single file, unless what is at its destination speaks against it.
    fn decide_alone(&self, file: FileJob) {
        // What keeps nothing has nothing to lose.
        let there = match file.to.is_nowhere() {
            true => Ok(None),
            false => file.to.stat(),
        };
        match there {
            Ok(there) => self.decided(file, there.as_ref()),
            Err(error) => self.failed(&file.path, error),
        }
    }

    fn decided(&self, mut file: FileJob, there: Option<&Entry>) {
        match decide(&file.found, there, self.options) {
            Decision::Copy { replaces } => {
                file.replaces = replaces;
                self.queue(file);
            }
            Decision::Unchanged => lock(&self.summary).unchanged += 1,
            Decision::Newer => lock(&self.summary).newer += 1,
            Decision::Obstructed => self.failed(&file.path, in_the_way(&file.to)),
            Decision::NoFile => self.failed(&file.path, no_file(&file.to)),
        }
    }

    fn queue(&self, file: FileJob) {
        self.progress.found(file.found.size);
        if let Some(folder) = &file.folder {
            folder.pending.fetch_add(1, Ordering::AcqRel);
        }
        // A copy that is read back goes the way on which that is done.
        if file.found.size <= SMALL_BYTES_MAX && !self.options.verify {
            self.small.push(file);
        } else {
            self.large.push(file);
        }
    }

    /// Looks into a folder and queues what is in it.
    fn look_into(&self, folder: &Arc<Folder>) {
        if self.is_over() {
            return;
        }
        let wanted = match self.wanted(folder) {
            Ok(wanted) => wanted,
            Err(error @ Error::NotCopied { .. }) => return self.end(error),
            // What is there stays, and to know that it has to be seen; why is said below.
            Err(_) if self.options.delete => Some(Seen::new(folder.to.folds(), &self.kept)),
            Err(error) => return self.failed(&folder.path, error),
        };
        let mut there = match self.look_at_destination(folder, wanted.as_ref()) {
            Ok(there) => there,
            Err(error @ Error::NotCopied { .. }) => return self.end(error),
            Err(error) => {
                if let Some(parent) = &folder.parent {
                    lock(&parent.state).failed = true;
                }
                return self.failed(&folder.path, error);
            }
        };
        drop(wanted);
        let mut seen = Seen::new(folder.to.folds(), &self.kept);
        match folder.from.list() {
            Ok(entries) => self.consider_all(folder, entries, &mut there, &mut seen),
            Err(error) => {
                there.is_whole = false;
                self.failed(&folder.path, error);
            }
        }
        if self.options.delete && !self.is_over() {
            self.note_surplus(folder, there, &seen);
        }
    }

    fn consider_all(
        &self,
        folder: &Arc<Folder>,
        entries: impl Iterator<Item = Result<Entry, Error>>,
        there: &mut There,
        seen: &mut Seen<'_>,
    ) {
        let mut aliases = Vec::new();
        for entry in entries {
            if self.is_over() {
                return;
            }
            match entry {
                _ if seen.are_too_many() => {
                    there.is_whole = false;
                    return self.end(too_many(&folder.from));
                }
                Ok(entry) if is_part(&entry) => {
                    self.unfinished(&place::joined(&folder.path, &entry.name));
                }
                Ok(entry) => aliases.extend(self.consider(folder, entry, &there.entries, seen)),
                Err(error) => {
                    there.is_whole = false;
                    self.failed(&folder.path_of(&error), error);
                }
            }
        }
        // By now it is known which of them have a name of their own in the source.
        for (item, found) in aliases {
            match there.known_as(&item.name, &found) {
                Some(key) => {
                    if !seen.add(&key) {
                        self.failed(&item.shown, twin(&item.name));
                        continue;
                    }
                }
                None => there.is_whole = false,
            }
            self.take(folder, item, Some(&found));
        }
    }

    /// Notes what is to go of what is in a folder of the destination, and which folders stay.
    fn note_surplus(&self, folder: &Arc<Folder>, there: There, seen: &Seen<'_>) {
        let There {
            entries,
            mut surplus,
            is_whole,
            ..
        } = there;
        let mut cleaning = lock(&self.cleaning);
        for (key, entry) in entries {
            let stays = !is_whole || seen.holds(&key) || !self.removes(folder, &entry);
            if !stays {
                surplus.add(self.kept.hash(&key), &entry);
            } else if folder.to.is_share() && entry.kind == Kind::Folder {
                cleaning.stays(entry.id);
            }
        }
        for number in surplus.take_out(|key| !is_whole || seen.holds_hash(key)) {
            cleaning.stays(number);
        }
        if surplus.len() > 0 {
            surplus.close();
            folder.pending.fetch_add(1, Ordering::AcqRel);
            cleaning.folders.push(Arc::clone(folder));
            // Whoever makes a folder holds its state when it takes the other lock.
            drop(cleaning);
            lock(&folder.state).surplus = Some(Box::new(surplus));
        }
    }

    /// Whether something that the source does not have is to go. What the filter would not take is
    /// none of this copy's business, and a part may be another copy's.
    fn removes(&self, folder: &Folder, entry: &Entry) -> bool {
        let filter = &self.options.filter;
        let path = place::joined(&folder.path, &entry.name);
        let taken = match entry.kind {
            // What is in it may be of both sorts.
            Kind::Folder => filter.takes_all(),
            _ => filter.takes_file(&path),
        };
        taken && !is_part(entry)
    }

    /// The names that a folder of a share is to get, where it may be there already: of what else its server lists only
    /// hashes are kept, and those only where something is removed.
    fn wanted(&self, folder: &Folder) -> Result<Option<Seen<'_>>, Error> {
        if !folder.to.is_share() || folder.is_in_new_one() {
            return Ok(None);
        }
        let folds = folder.to.folds();
        let mut wanted = Seen::new(folds, &self.kept);
        // What is wrong with an entry is said when it is to be copied.
        for entry in folder.from.list()?.flatten() {
            if wanted.are_too_many() {
                return Err(too_many(&folder.from));
            }
            let name = match real_name(folder, &entry) {
                Ok(name) => name.unwrap_or(entry.name),
                Err(_) => {
                    wanted.keep(&entry.name);
                    continue;
                }
            };
            match self.translated(&folder.to, &folder.from, &name) {
                Ok(name) => {
                    wanted.add(&Seen::key(folds, &name));
                }
                Err(_) => wanted.keep(&name),
            }
        }
        Ok(Some(wanted))
    }

    /// Makes the folder, or finds out what is in it.
    fn look_at_destination(
        &self,
        folder: &Folder,
        wanted: Option<&Seen<'_>>,
    ) -> Result<There, Error> {
        let mut there = There::new(folder.to.is_share(), &self.kept);
        if !folder.is_in_new_one() {
            match folder.to.list() {
                Ok(entries) => {
                    for entry in entries {
                        match entry {
                            Ok(entry) => self.add_there(folder, &mut there, entry, wanted)?,
                            Err(error) => self.pass_over(folder, &mut there, error)?,
                        }
                    }
                    lock(&folder.state).exists = true;
                    self.note_top(folder);
                    self.note_copied_to(folder);
                }
                Err(error) if place::is_absent(&error) => {}
                Err(error) => return Err(error),
            }
        }
        if !self.options.filter.is_selective() {
            self.ensure(folder)?;
        }
        Ok(there)
    }

    /// Keeps of an entry of the destination what is needed.
    fn add_there(
        &self,
        folder: &Folder,
        there: &mut There,
        entry: Entry,
        wanted: Option<&Seen<'_>>,
    ) -> Result<(), Error> {
        let key = Seen::key(folder.to.folds(), &entry.name);
        let cleans_share = self.options.delete && there.on_share;
        let stays = if wanted.is_none_or(|wanted| wanted.holds(&key)) {
            // Where capitals are told apart, two may have one key.
            there.entries.insert(key, entry)
        } else if cleans_share && self.removes(folder, &entry) {
            if there.surplus.is_too_much() {
                return Err(too_many(&folder.to));
            }
            there.surplus.add(self.kept.hash(&key), &entry);
            None
        } else {
            Some(entry)
        };
        let stays = stays.filter(|entry| cleans_share && entry.kind == Kind::Folder);
        if let Some(stays) = stays {
            let mut cleaning = lock(&self.cleaning);
            if cleaning.is_too_much() {
                return Err(too_many_stay(&folder.to));
            }
            cleaning.stays(stays.id);
        }
        Ok(())
    }

    /// Goes on without an entry of the destination that cannot be looked at, unless it is more than
    /// that one.
    fn pass_over(&self, folder: &Folder, there: &mut There, error: Error) -> Result<(), Error> {
        match error {
            // It was removed a moment ago.
            error if place::is_absent(&error) => Ok(()),
            Error::Name { .. } => {
                there.is_whole = false;
                if self.options.delete {
                    self.failed(&folder.path_of(&error), error);
                }
                Ok(())
            }
            error => Err(error),
        }
    }

    fn note_copied_to(&self, folder: &Folder) {
        if self.options.delete && folder.to.is_share() {
            let mut cleaning = lock(&self.cleaning);
            if cleaning.is_too_much() {
                drop(cleaning);
                return self.end(too_many_stay(&folder.to));
            }
            match &folder.there {
                Some(there) => cleaning.is_copied_to(there.id, there.times.creation),
                None => cleaning.unnumbered.push(folder.to.clone()),
            }
        }
    }

    /// Makes a folder of the destination with those above it, unless it is there.
    fn ensure(&self, folder: &Folder) -> Result<(), Error> {
        let mut state = lock(&folder.state);
        if state.exists {
            return Ok(());
        }
        if let Some(parent) = &folder.parent {
            self.ensure(parent)?;
        }
        if self.options.dry_run {
            state.new = true;
        } else {
            let mode = folder.given.as_ref().and_then(|given| given.mode);
            let mode = mode.filter(|_| folder.from.is_share() || folder.to.is_share());
            let made = folder.to.make_folder(mode)?;
            state.new = made.is_some();
            self.without(&folder.path, made.flatten());
        }
        state.exists = true;
        if state.new {
            lock(&self.summary).folders += 1;
            self.note_top(folder);
            self.note_copied_to(folder);
        }
        Ok(())
    }

    /// Notes where a source goes, so that the walk does not follow the copy into itself. That it
    /// would was refused where it could be seen from the paths; a server's own links hide it.
    fn note_top(&self, folder: &Folder) {
        if folder.parent.is_none()
            && folder.from.is_on_same_server(&folder.to)
            && let Some(id) = folder.to.id()
        {
            lock(&self.tops).push(id);
        }
    }

    /// Whether a folder of the source is where a source goes.
    fn is_top(&self, place: &Place, entry: &Entry) -> bool {
        let alike = |tops: &[ObjectId]| tops.iter().any(|top| top.file == entry.id);
        // Most are told apart without asking.
        alike(&lock(&self.tops)) && place.id().is_some_and(|id| lock(&self.tops).contains(&id))
    }

    /// Decides what to do with one entry of a folder. Gives back one that has another name at the
    /// destination, with what is there.
    fn consider(
        &self,
        folder: &Arc<Folder>,
        entry: Entry,
        there: &HashMap<String, Entry>,
        seen: &mut Seen<'_>,
    ) -> Option<(Item, Entry)> {
        let true_name = match self.true_name(folder, &entry) {
            Ok(name) => name,
            Err(error) => {
                seen.keep(&entry.name);
                self.failed(&place::joined(&folder.path, &entry.name), error);
                return None;
            }
        };
        let path = place::joined(&folder.path, &true_name);
        let shown = name::printable(&path);
        let taken = match entry.kind {
            Kind::Folder => self.options.filter.takes_folder(&path),
            _ => self.options.filter.takes_file(&path),
        };
        let name = match self.translated(&folder.to, &folder.from, &true_name) {
            Ok(name) => name,
            Err(error) => {
                seen.keep(&true_name);
                if taken {
                    self.failed(&shown, error);
                }
                return None;
            }
        };
        let key = Seen::key(folder.to.folds(), &name);
        let there = there.get(&key);
        if !seen.add(&key) {
            self.failed(&shown, twin(&name));
            return None;
        }
        let alias = match there {
            None => self.look_for_alias(folder, &name),
            Some(_) => Ok(None),
        };
        let item = Item {
            name,
            path,
            shown,
            taken,
            entry,
        };
        match alias {
            Ok(None) => self.take(folder, item, there),
            Ok(Some(found)) => return Some((item, found)),
            Err(error) => {
                lock(&folder.state).failed = true;
                self.failed(&item.shown, error);
            }
        }
        None
    }

    /// The name of something in a folder of the source, where a server may show a stand-in for it.
    fn true_name(&self, folder: &Folder, entry: &Entry) -> Result<String, Error> {
        let shown = &entry.name;
        if let Some(name) = real_name(folder, entry)? {
            return Ok(name);
        }
        let reason =
            "it may stand for a name that a share cannot have: the server does not say".to_owned();
        let name = name::printable(shown);
        let path = place::joined(&folder.path, shown);
        self.without(&path, Some(Error::Name { name, reason }));
        Ok(shown.clone())
    }

    /// What a folder of this machine has under a name that its listing does not: some file systems do
    /// not tell capitals or ways to write an accent apart. Servers say so when it is to be made.
    fn look_for_alias(&self, folder: &Folder, name: &str) -> Result<Option<Entry>, Error> {
        let state = lock(&folder.state);
        let was_there = state.exists && !state.new;
        drop(state);
        if folder.to.is_share() || !was_there {
            return Ok(None);
        }
        folder.to.join(name).stat()
    }

    /// Copies one entry of a folder, unless something speaks against it.
    fn take(&self, folder: &Arc<Folder>, item: Item, there: Option<&Entry>) {
        let Item {
            name,
            path,
            shown,
            taken,
            entry,
        } = item;
        if !taken {
            lock(&self.summary).filtered += u64::from(entry.kind == Kind::File);
            return;
        }
        let to = folder.to.join(&name);
        let from = folder.from.join(&entry.name);
        self.take_from(folder, [from, to], (path, shown), entry, there);
    }

    /// Copies what is at one place to the other, which are those of an entry of a folder.
    fn take_from(
        &self,
        folder: &Arc<Folder>,
        [from, to]: [Place; 2],
        (path, shown): (String, String),
        entry: Entry,
        there: Option<&Entry>,
    ) {
        match entry.kind {
            Kind::Folder
                if entry.is_reparse_point() || there.is_some_and(Entry::is_reparse_point) =>
            {
                self.take_followed(folder, [from, to], (path, shown), entry, there);
            }
            Kind::Folder if there.is_some_and(|there| there.kind != Kind::Folder) => {
                self.failed(&shown, in_the_way(&to));
            }
            Kind::Folder => self.take_folder(folder, [from, to], path, entry, there.cloned()),
            Kind::File => {
                if let Err(error) = self.ensure(folder) {
                    return self.failed(&shown, error);
                }
                let file = FileJob {
                    from,
                    to,
                    path: shown,
                    found: entry,
                    replaces: false,
                    folder: Some(Arc::clone(folder)),
                };
                self.decided(file, there);
            }
            Kind::Cloud => {
                let reason = "it is in a cloud, and to open it would have the server fetch it";
                let object = shown.clone();
                self.failed(&shown, Error::NotCopied { object, reason });
            }
            Kind::Link => self.take_link(folder, [from, to], (path, shown), entry, there),
            Kind::Other => self.skipped(&shown, Kind::Other),
        }
    }

    /// Notes what is left out.
    fn skipped(&self, path: &str, kind: Kind) {
        lock(&self.summary).skipped += 1;
        (self.tell)(&Event::Skipped { path, kind });
    }

    /// Notes what is called like the part of another copy, or its record, which is not copied; it may be a user's file.
    fn unfinished(&self, path: &str) {
        lock(&self.summary).unfinished += 1;
        let (path, kind) = (&*name::printable(path), Kind::File);
        (self.tell)(&Event::Skipped { path, kind });
    }

    /// Copies a link as what it is or as what it leads to, or leaves it out.
    fn take_link(
        &self,
        folder: &Arc<Folder>,
        [from, to]: [Place; 2],
        (path, shown): (String, String),
        entry: Entry,
        there: Option<&Entry>,
    ) {
        let keeps = from.has_links() && to.has_links() && (from.is_share() || to.is_share());
        let done = match self.options.links {
            Links::Keep if keeps => self.copy_link(folder, [&from, &to], &shown, there),
            Links::Follow if !from.is_share() || from.has_links() => match from.behind_link() {
                Ok(Some((from, found))) if found.kind != Kind::Link => {
                    let entry = Entry {
                        name: entry.name,
                        ..found
                    };
                    return self.take_from(folder, [from, to], (path, shown), entry, there);
                }
                found => found.map(|_| false),
            },
            _ => Ok(false),
        };
        match done {
            Ok(true) => {}
            Ok(false) => self.skipped(&shown, Kind::Link),
            Err(error) => {
                lock(&folder.state).failed = true;
                self.failed(&shown, error);
            }
        }
    }

    /// Copies a link as one. Whether it may be: one that could lead out of what is copied is not.
    fn copy_link(
        &self,
        folder: &Folder,
        [from, to]: [&Place; 2],
        shown: &str,
        there: Option<&Entry>,
    ) -> Result<bool, Error> {
        let target = from.read_link()?;
        let Some(target) = target.filter(|target| link::stays_below(target, folder.depth)) else {
            return Ok(false);
        };
        let replace = match there {
            None => Replace::Never,
            Some(there) if there.kind != Kind::Link => return Err(in_the_way(to)),
            Some(_) => {
                let same = to.read_link()?.as_ref() == Some(&target);
                let stays = match self.options.existing {
                    Existing::Update => same,
                    Existing::Refuse if same && self.options.resume => true,
                    Existing::Refuse => return Err(in_the_way(to)),
                    Existing::Replace => false,
                };
                if stays {
                    lock(&self.summary).unchanged += 1;
                    return Ok(true);
                }
                Replace::Existing
            }
        };
        self.ensure(folder)?;
        if !self.options.dry_run {
            to.make_link(&target, replace)?;
            lock(&folder.state).touched = true;
        }
        lock(&self.summary).links += 1;
        (self.tell)(&Event::Linked { path: shown });
        Ok(true)
    }

    /// Copies a folder that may be on another server, at either end.
    fn take_followed(
        &self,
        folder: &Arc<Folder>,
        [from, to]: [Place; 2],
        (path, shown): (String, String),
        entry: Entry,
        there: Option<&Entry>,
    ) {
        let source = from.followed(entry);
        let destination = match there {
            None => Ok((to, None)),
            Some(there) => (to.followed(there.clone())).map(|(to, there)| (to, Some(there))),
        };
        match (source, destination) {
            (Ok(_), Ok((to, Some(there)))) if there.kind != Kind::Folder => {
                self.failed(&shown, in_the_way(&to));
            }
            (Ok((from, entry)), Ok((to, there))) => {
                self.take_folder(folder, [from, to], path, entry, there);
            }
            (Err(error), _) | (_, Err(error)) => {
                lock(&folder.state).failed = true;
                self.failed(&shown, error);
            }
        }
    }

    /// Copies a folder, unless there would be no end of it.
    fn take_folder(
        &self,
        folder: &Arc<Folder>,
        ends: [Place; 2],
        path: String,
        entry: Entry,
        there: Option<Entry>,
    ) {
        let shown = name::printable(&path);
        if let Some(reason) = self.endless(folder, &ends[0], &entry) {
            let object = shown.clone();
            return self.failed(&shown, Error::NotCopied { object, reason });
        }
        if self.folders.waiting() >= FOLDERS_WAITING_MAX {
            let reason = "65,536 folders wait already; copy parts of it, one after the other";
            let object = shown;
            return self.end(Error::NotCopied { object, reason });
        }
        let [from, to] = ends;
        let bytes = from.path_bytes() + to.path_bytes() + path.len();
        let Some(paths) = Paths::hold(bytes, &self.kept.paths) else {
            return self.end(Error::NotCopied {
                object: shown,
                reason: "the folders that wait already have too long paths; copy parts of it, one \
                         after the other",
            });
        };
        folder.pending.fetch_add(1, Ordering::AcqRel);
        let below = Folder {
            depth: folder.depth + 1,
            number: entry.id,
            there: there.map(Box::new),
            given: Some(OfFolder::from(&entry)),
            parent: Some(Arc::clone(folder)),
            paths: Some(paths),
            path,
            ..Folder::top(&from, to, 0, None)
        };
        self.folders.push(Arc::new(below));
    }

    /// Why there would be no end if a folder were looked into.
    fn endless(&self, folder: &Folder, from: &Place, entry: &Entry) -> Option<&'static str> {
        let mut above = Some(folder);
        while let Some(next) = above {
            let leads_back = if from.is_share() {
                leads_to(from, entry, next)
            } else {
                self.options.links == Links::Follow && from.holds(&next.from)
            };
            if leads_back {
                return Some("it leads back to a folder that it is in");
            }
            above = next.parent.as_deref();
        }
        if self.is_top(from, entry) {
            return Some("the copy goes into it");
        }
        (folder.depth >= DEPTH_MAX).then_some("it is too deep")
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
            Some(given) if (state.new || state.touched) && !self.options.dry_run => {
                folder.to.finish_folder(given)
            }
            _ => Ok(None),
        }
    }

    /// Removes these entries of a folder. Whether something in it was changed.
    fn remove_all(&self, folder: &Folder, mut surplus: Surplus) -> bool {
        let Some(stay) = self.stay.get() else {
            return false;
        };
        let number = folder.there.as_ref().map_or(0, |there| there.id);
        // What one of two sources does not have may be the other's.
        if stay.get(&number).is_some_and(|known| known.has_two_names) {
            self.left(&folder.path);
            return false;
        }
        let above = surplus.has_folders().then(|| folder.to.id()).flatten();
        let folds = folder.to.folds();
        let key = |entry: &Entry| self.kept.hash(&Seen::key(folds, &entry.name));
        while surplus.len() > 0 && !self.is_over() {
            let mut batch = Batch::new(&self.kept.batches);
            let listed = list_surplus(folder, |entry| {
                if !surplus.holds(key(&entry), &entry) {
                    return true;
                }
                if self.options.dry_run {
                    self.remove(folder, &entry, above, stay);
                } else {
                    batch.add(entry);
                }
                !batch.is_full()
            });
            if let Err(error) = listed {
                self.failed(&folder.path, error);
                break;
            }
            if batch.entries().is_empty() {
                break;
            }
            // Not while it is listed: servers may pass over entries then.
            for entry in batch.entries() {
                self.remove(folder, entry, above, stay);
            }
            surplus.forget(batch.entries(), key);
        }
        if !self.options.dry_run {
            // What has its name by now is something else, or its server counts otherwise each time.
            lock(&self.summary).kept += surplus.len() as u64;
        }
        true
    }

    /// Removes an entry of a folder, which has the id `above`.
    fn remove(
        &self,
        folder: &Folder,
        entry: &Entry,
        above: Option<ObjectId>,
        stay: &HashMap<u64, Staying>,
    ) {
        let mut removal = Removal {
            stay,
            dry_run: self.options.dry_run,
            depth: 0,
            path: place::joined(&folder.path, &entry.name),
            left: &|path| self.left(path),
            batches: &self.kept.batches,
        };
        let removed = folder.to.remove_inner(entry, above, &mut removal);
        let shown = name::printable(&removal.path);
        match removed {
            Ok(true) => {
                lock(&self.summary).deleted += 1;
                (self.tell)(&Event::Deleted {
                    path: &shown,
                    kind: entry.kind,
                });
            }
            Ok(false) => {}
            Err(error) => self.failed(&shown, error),
        }
    }

    /// Notes a folder that nothing is removed from, because it may be a link.
    fn left(&self, path: &str) {
        self.skipped(&name::printable(path), Kind::Link);
    }

    /// Copies one file, as one of several workers.
    fn copy(&self, file: &FileJob, worker: usize) {
        if self.is_over() {
            return;
        }
        let progress = FileProgress::new(self.progress);
        let places = [&file.from, &file.to];
        let mut copied = self.copy_once(file, worker, Attempt::First, &progress);
        let (mut interruptions, mut waits) = (0, 0);
        while !self.is_over() {
            match copied {
                Err(Error::Interrupted { .. }) if interruptions < INTERRUPTIONS_MAX => {
                    interruptions += 1;
                }
                Err(ref error) if waits < LET_GO_WAITS && held::may_be_ours(error, places) => {
                    waits += 1;
                    thread::sleep(LET_GO_PAUSE);
                }
                _ => break,
            }
            copied = self.copy_once(file, worker, Attempt::InDoubt, &progress);
        }
        self.progress.file_done();
        match copied {
            Ok(copied) => self.copied(file, copied),
            Err(error) => {
                if let Some(folder) = &file.folder {
                    lock(&folder.state).failed = true;
                }
                self.failed(&file.path, held::with_users(error, places));
            }
        }
    }

    fn copy_once(
        &self,
        file: &FileJob,
        worker: usize,
        attempt: Attempt,
        progress: &FileProgress<'_>,
    ) -> Result<Transferred, Error> {
        if self.options.dry_run {
            progress.advance(file.found.size);
            Ok(Transferred::whole(file.found.size))
        } else if file.found.size <= SMALL_BYTES_MAX && !self.options.verify {
            self.copy_small(file, worker, attempt, progress)
        } else {
            self.copy_large(file, worker, attempt, progress)
        }
    }

    fn copied(&self, file: &FileJob, copied: Transferred) {
        self.without(&file.path, copied.not_kept);
        if let Some(error) = copied.lost {
            let lost = failure(&file.path, error);
            (self.tell)(&Event::Lost(&lost));
            let mut summary = lock(&self.summary);
            summary.lost += 1;
            summary.first_lost.get_or_insert(lost);
        }
        if let Some(folder) = &file.folder {
            lock(&folder.state).touched = true;
        }
        let mut summary = lock(&self.summary);
        summary.files += 1;
        summary.bytes += copied.bytes;
        summary.resumed_bytes += copied.resumed_bytes;
        summary.continued_bytes += copied.continued_bytes;
        summary.on_server_bytes += copied.on_server_bytes;
        if summary.not_on_server.is_none() {
            summary.not_on_server = copied.not_on_server;
        }
        summary.verified += u64::from(copied.hash.is_some());
        // Of more than one file no hash is kept: they could be too many.
        summary.hash = copied.hash.filter(|_| file.folder.is_none());
        drop(summary);
        (self.tell)(&Event::Copied {
            path: &file.path,
            bytes: copied.bytes,
            replaced: file.replaces,
        });
    }

    /// One that is begun again goes on where it was, as far as that is on record.
    fn copy_large(
        &self,
        file: &FileJob,
        worker: usize,
        attempt: Attempt,
        progress: &FileProgress<'_>,
    ) -> Result<Transferred, Error> {
        let places = [&file.from, &file.to];
        let sessions = self.sessions.of_large(file.found.size, places);
        let mut session = None;
        // What the server may copy by itself stays on one session.
        let passes = places.map(|end| matches!(end, Place::Local(_)));
        if sessions.is_empty() && passes.contains(&true) {
            if self.large.waiting() >= LARGE_FILES {
                self.sessions.open_once(places);
            }
            session = self.sessions.of_worker(worker);
        }
        let over_session = places.map(|place| session.map(|session| session.place(place)));
        let [from, to] = [0, 1].map(|end| over_session[end].as_ref().unwrap_or(places[end]));
        let transfer = Transfer {
            from,
            to,
            found: &file.found,
            sessions,
            replace: file.replace(),
            resume: self.options.resume || attempt == Attempt::InDoubt,
            verify: self.options.verify,
        };
        let copied = transfer.run(progress, self.stop);
        if session.is_none() && sessions.is_empty() {
            return copied;
        }
        self.sessions.or_first(copied, self.stop, || {
            transfer.over_first(places).run(progress, self.stop)
        })
    }

    /// One that is held in memory whole, so that it takes few round trips. Where many wait, some go
    /// over a session of their own.
    fn copy_small(
        &self,
        file: &FileJob,
        worker: usize,
        attempt: Attempt,
        progress: &FileProgress<'_>,
    ) -> Result<Transferred, Error> {
        let (from, to) = (&file.from, &file.to);
        if self.small.waiting() >= WAITING_FOR_SESSIONS {
            self.sessions.open_once([from, to]);
        }
        let Some(session) = self.sessions.of_worker(worker) else {
            return self.copy_whole(file, worker, [from, to], attempt, progress);
        };
        let places = [&session.place(from), &session.place(to)];
        let copied = self.copy_whole(file, worker, places, attempt, progress);
        self.sessions.or_first(copied, self.stop, || {
            self.copy_whole(file, worker, [from, to], Attempt::InDoubt, progress)
        })
    }

    fn copy_whole(
        &self,
        file: &FileJob,
        worker: usize,
        [from, to]: [&Place; 2],
        attempt: Attempt,
        progress: &FileProgress<'_>,
    ) -> Result<Transferred, Error> {
        let (found, bytes) = match from {
            Place::Local(path) => {
                let source = local::Source::open(path)?;
                if source.entry.size > SMALL_BYTES_MAX {
                    return self.copy_large(file, worker, attempt, progress);
                }
                let bytes = source.read_whole()?;
                (source.entry, bytes)
            }
            Place::Share { tree, path } => {
                share::read_small(tree, path, &file.found, SMALL_BYTES_MAX)?
            }
        };
        let finish = Finish::of(&found, [from, to], file.replace());
        let not_kept = match to {
            Place::Local(path) => {
                local::write_small(path, &bytes, &finish)?;
                None
            }
            Place::Share { tree, path } => {
                share::write_small(tree, path, &bytes, &finish, attempt)?
            }
        };
        progress.advance(found.size);
        Ok(Transferred {
            not_kept,
            ..Transferred::whole(found.size)
        })
    }

    /// Notes what is there, and is not all that it should be.
    fn without(&self, path: &str, not_kept: NotKept) {
        let Some(error) = not_kept else {
            return;
        };
        let without = failure(path, error);
        (self.tell)(&Event::NotKept(&without));
        let mut summary = lock(&self.summary);
        summary.not_kept += 1;
        if summary.without.len() < FAILURES_MAX {
            summary.without.push(without);
        }
    }

    /// Notes what could not be copied, and ends all where nothing more can be.
    fn failed(&self, path: &str, error: Error) {
        if self.stop.is_stopped() && matches!(error, Error::Stopped) {
            return;
        }
        if ends_all(&error) {
            return self.end(error);
        }
        let failure = failure(path, error);
        (self.tell)(&Event::Failed(&failure));
        let mut summary = lock(&self.summary);
        summary.failed += 1;
        if summary.failures.len() < FAILURES_MAX {
            summary.failures.push(failure);
        }
    }

    fn end(&self, error: Error) {
        // The first reason counts; the others follow from it.
        lock(&self.summary).ended_by.get_or_insert(error);
        self.over.store(true, Ordering::SeqCst);
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst) || self.stop.is_stopped()
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
            Error::Name { name, .. } => place::joined(&self.path, name),
            _ => self.path.clone(),
        }
    }
}

impl FileJob {
    const fn replace(&self) -> Replace {
        if self.replaces {
            Replace::Existing
        } else {
            Replace::Never
        }
    }
}

impl Transferred {
    fn whole(bytes: u64) -> Self {
        Self {
            bytes,
            ..Self::default()
        }
    }
}

/// Whether it is called as what is kept of a copy that is not complete. No folder is that.
fn is_part(entry: &Entry) -> bool {
    entry.kind != Kind::Folder && name::is_ours(&entry.name)
}

/// More names than are kept in memory of what folders are said to hold.
fn too_many(place: &Place) -> Error {
    Error::NotCopied {
        object: place.shown(),
        reason: "it lists more than a million names; copy parts of it, one after the other",
    }
}

/// More folders than can be told apart from links to them.
fn too_many_stay(place: &Place) -> Error {
    Error::NotCopied {
        object: place.shown(),
        reason: "more than 400,000 folders stay there; make parts of it like their sources, one after the other",
    }
}

fn decide(source: &Entry, there: Option<&Entry>, options: &Options) -> Decision {
    let Some(there) = there else {
        return Decision::Copy { replaces: false };
    };
    if matches!(there.kind, Kind::Folder | Kind::Other) {
        return Decision::NoFile;
    }
    let kept = there.kind == Kind::File && time::is_kept(source.times.write, there.times.write);
    let same = kept && source.size == there.size;
    match options.existing {
        Existing::Update if same => Decision::Unchanged,
        _ if options.resume && same => Decision::Unchanged,
        Existing::Refuse => Decision::Obstructed,
        Existing::Update if !kept && source.times.write < there.times.write => Decision::Newer,
        Existing::Update | Existing::Replace => Decision::Copy { replaces: true },
    }
}

/// The name of something in a folder of the source, where a server may show a stand-in for it; none where the server
/// does not say.
fn real_name(folder: &Folder, entry: &Entry) -> Result<Option<String>, Error> {
    let shown = &entry.name;
    match &folder.from {
        // One that is POSIX lists true names only.
        Place::Share { tree, path }
            if !tree.is_posix() && name::may_be_stand_in(shown) && entry.kind != Kind::Link =>
        {
            share::true_name(tree, &place::joined(path, shown))
        }
        _ => Ok(Some(shown.clone())),
    }
}

/// Lists a folder of the destination again, until that is enough.
fn list_surplus(folder: &Folder, mut goes_on: impl FnMut(Entry) -> bool) -> Result<(), Error> {
    for entry in folder.to.list()? {
        match entry {
            Ok(entry) => {
                if !goes_on(entry) {
                    break;
                }
            }
            // It was removed a moment ago, or was reported when it was looked at first.
            Err(error) if place::is_absent(&error) => {}
            Err(Error::Name { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Whether a folder of a share is, by a link of the server's, one that it is in.
fn leads_to(from: &Place, entry: &Entry, above: &Folder) -> bool {
    // Most are told apart without asking.
    place::is_number(entry.id)
        && entry.id == above.number
        && match (from.id(), above.from.id()) {
            (Some(id), Some(above)) => id == above,
            _ => (above.given.as_ref())
                .is_none_or(|given| given.times.creation == entry.times.creation),
        }
}

/// Whether after this nothing more can be copied.
fn ends_all(error: &Error) -> bool {
    match error {
        Error::ConnectionLost { .. }
        | Error::LoginRefused { .. }
        | Error::GuestOnly { .. }
        | Error::Credentials { .. }
        | Error::Incompatible { .. }
        | Error::DiskFull { .. }
        | Error::Protocol { .. }
        | Error::Unreachable { .. }
        | Error::Stopped => true,
        Error::LocalFile { source, .. } => {
            source.kind() == std::io::ErrorKind::StorageFull
                || source.kind() == std::io::ErrorKind::QuotaExceeded
        }
        _ => false,
    }
}

/// Something that is not as it should be; the top of what is copied is shown as a dot.
fn failure(path: &str, error: Error) -> Failure {
    let path = match path {
        "" => ".".to_owned(),
        path => name::printable(path),
    };
    let path = match path.char_indices().nth(FAILURE_LETTERS_MAX) {
        Some((end, _)) => format!("{}\u{2026}", &path[..end]),
        None => path,
    };
    Failure { path, error }
}

fn nothing_there(place: &Place) -> Error {
    Error::NotCopied {
        object: place.shown(),
        reason: "there is nothing of that name",
    }
}

/// What was found under another name is all the same to the destination.
fn twin(name: &str) -> Error {
    Error::NotCopied {
        object: name::printable(name),
        reason: "for the destination it is the same name as another one in its folder, which differs in capitals or accents only",
    }
}

fn no_file(place: &Place) -> Error {
    Error::NotCopied {
        object: place.shown(),
        reason: "what is there is a folder, a device or a pipe, and no file replaces it",
    }
}

fn no_folder(place: &Place) -> Error {
    Error::NotCopied {
        object: place.shown(),
        reason: "what is there is no folder, so that nothing can go into it",
    }
}

fn in_the_way(place: &Place) -> Error {
    Error::Obstructed {
        object: place.shown(),
    }
}

#[cfg(test)]
mod tests {
    use smb_proto::session::FileTimes;

    use super::*;

    fn file(size: u64, write: u64) -> Entry {
        Entry {
            name: "a".to_owned(),
            kind: Kind::File,
            size,
            allocation: size,
            times: FileTimes {
                write,
                ..FileTimes::default()
            },
            attributes: 0,
            id: 1,
            mode: None,
        }
    }

    fn decision(source: &Entry, there: &Entry, existing: Existing, resume: bool) -> &'static str {
        let options = Options {
            existing,
            resume,
            ..Options::default()
        };
        match decide(source, Some(there), &options) {
            Decision::Copy { replaces: true } => "replace",
            Decision::Copy { replaces: false } => "copy",
            Decision::Unchanged => "unchanged",
            Decision::Newer => "newer",
            Decision::Obstructed => "in the way",
            Decision::NoFile => "no file",
        }
    }

    #[test]
    fn what_is_there_decides() {
        use Existing::{Refuse, Replace, Update};
        let (old, new, other) = (file(5, 100), file(5, 200), file(6, 100));
        for (source, there, existing, resume, expected) in [
            (&old, &old, Refuse, false, "in the way"),
            (&old, &old, Refuse, true, "unchanged"),
            (&old, &new, Refuse, true, "in the way"),
            (&old, &old, Replace, false, "replace"),
            (&old, &old, Replace, true, "unchanged"),
            (&old, &old, Update, false, "unchanged"),
            (&new, &old, Update, false, "replace"),
            (&old, &new, Update, false, "newer"),
            (&old, &other, Update, false, "replace"),
        ] {
            assert_eq!(decision(source, there, existing, resume), expected);
        }
        for kind in [Kind::Folder, Kind::Other] {
            let there = Entry {
                kind,
                ..file(0, 100)
            };
            assert_eq!(decision(&old, &there, Replace, true), "no file");
        }
        let none = decide(&old, None, &Options::default());
        assert!(matches!(none, Decision::Copy { replaces: false }));
    }

    #[test]
    fn what_is_there_under_another_spelling_is_told_by_its_number_or_its_name() {
        let named = |name: &str, id| Entry {
            name: name.to_owned(),
            id,
            ..file(0, 0)
        };
        let there_are = |entries: Vec<Entry>| {
            let mut there = There::new(false, &Kept::default());
            let entries = entries.into_iter();
            there.entries = entries.map(|entry| (entry.name.clone(), entry)).collect();
            there
        };
        let known = |there: &There, id| there.known_as("Photo.JPG", &named("Photo.JPG", id));
        let photo = Some("photo.jpg".to_owned());
        let there = there_are(vec![named("photo.jpg", 5), named("other", 6)]);
        assert_eq!(known(&there, 5), photo);
        assert_eq!(known(&there, 6).as_deref(), Some("other"));
        assert_eq!(known(&there, 7), None, "it was made a moment ago");
        // Where there are no numbers.
        assert_eq!(known(&there, 0), photo);
        // One file of two names.
        let there = there_are(vec![named("photo.jpg", 5), named("other", 5)]);
        assert_eq!(known(&there, 5), photo);
        let there = there_are(vec![named("one", 5), named("other", 5)]);
        assert_eq!(known(&there, 5), None);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_left_out_or_followed_but_never_in_a_circle() {
        use std::fs;
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().expect("a temporary folder");
        let (source, outside) = (folder.path().join("source"), folder.path().join("outside"));
        fs::create_dir_all(source.join("deep")).expect("our own folder");
        fs::create_dir(&outside).expect("our own folder");
        fs::write(outside.join("file"), "there").expect("room on the disk");
        for (target, link) in [
            (outside.join("file"), source.join("to-file")),
            (outside.clone(), source.join("to-folder")),
            (source.clone(), source.join("deep/up")),
            (source.join("deep"), outside.join("back")),
            (folder.path().join("nowhere"), source.join("dangling")),
        ] {
            symlink(target, link).expect("our own folder");
        }
        let copy = |links, to: &str| {
            let job = Job {
                sources: vec![super::super::Source {
                    place: Place::Local(source.clone()),
                    content: true,
                    name: None,
                }],
                destination: Place::Local(folder.path().join(to)),
                into: true,
                options: Options {
                    links,
                    ..Options::default()
                },
            };
            run(&job, &Progress::default(), &Stop::new(), &|_| {})
        };
        let skipped = copy(Links::Skip, "skipped");
        assert_eq!(
            (skipped.files, skipped.skipped, skipped.failed),
            (0, 3 + 1, 0)
        );
        let followed = copy(Links::Follow, "followed");
        // `deep/up` and `to-folder/back/up` lead back; `dangling` leads nowhere.
        let failed: Vec<&str> = (followed.failures.iter())
            .map(|it| it.path.as_str())
            .collect();
        assert_eq!((followed.files, followed.skipped), (2, 1), "{failed:?}");
        assert_eq!(failed.len(), 2, "{failed:?}");
        assert!(failed.iter().all(|path| path.ends_with("up")), "{failed:?}");
        let copied = fs::read(folder.path().join("followed/to-folder/file"));
        assert_eq!(copied.expect("it was copied"), b"there");
    }

    #[test]
    fn what_is_called_as_an_unfinished_copy_is_left_out_and_counted() {
        use std::fs;

        let folder = tempfile::tempdir().expect("a temporary folder");
        let (source, to) = (folder.path().join("source"), folder.path().join("to"));
        let inside = source.join(name::of_part("folder"));
        fs::create_dir_all(&inside).expect("our own folder");
        for file in [
            source.join(name::of_part("film")),
            source.join(name::of_record("film")),
            source.join("~film.linerate-part"),
            inside.join("file"),
        ] {
            fs::write(file, "content").expect("room on the disk");
        }
        let job = Job {
            sources: vec![super::super::Source {
                place: Place::Local(source),
                content: true,
                name: None,
            }],
            destination: Place::Local(to.clone()),
            into: true,
            options: Options::default(),
        };
        let copied = run(&job, &Progress::default(), &Stop::new(), &|_| {});
        assert_eq!((copied.files, copied.unfinished, copied.failed), (2, 2, 0));
        // No folder is a part.
        assert!(to.join(name::of_part("folder")).join("file").is_file());
    }

    #[test]
    fn a_source_that_changes_is_noticed() {
        use std::io::Write as _;

        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "before").expect("room on the disk");
        let changed = |result| matches!(result, Err(Error::Changed { .. }));
        let source = local::Source::open(&path).expect("our own file");
        assert_eq!(source.read_whole().expect("it did not change"), b"before");
        let mut longer = std::fs::File::options()
            .append(true)
            .open(&path)
            .expect("our own");
        longer.write_all(b" and after").expect("room on the disk");
        assert!(changed(source.check_unchanged()));
        assert!(changed(source.read_whole().map(drop)));
        let source = local::Source::open(&path).expect("our own file");
        longer.set_len(3).expect("our own file");
        assert!(changed(source.read_whole().map(drop)), "it became shorter");
        // Of the same length, but written again.
        let source = local::Source::open(&path).expect("our own file");
        longer
            .set_modified(std::time::UNIX_EPOCH)
            .expect("our own file");
        assert!(changed(source.check_unchanged()));
    }
}
