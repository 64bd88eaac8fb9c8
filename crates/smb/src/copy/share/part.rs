//! A copy on a share that is not complete: the file that it is written to, and the record beside it.

use blake3::Hash;
use smb_proto::NtStatus;
use smb_proto::session::{Access, Closed, CreateOptions, Disposition, FileTimes, SetInformation};

use super::{attributes, check_attributes, hash, split, times_kept};
use crate::closed_part::{ClosedPart, in_place_of, remove_own};
use crate::copy::entry::is_absent;
use crate::copy::extra_sessions::ExtraSession;
use crate::copy::name;
use crate::copy::partial_file_options::{Begin, Finish};
use crate::copy::resume_record::{self, Identity, RESUME_BYTES_MIN, Record};
use crate::error::Error;
use crate::file::File;
use crate::signal::Stop;
use crate::single_path_operations;
use crate::single_path_operations::NotKept;
use crate::std_or_shuttle::atomic::{AtomicBool, AtomicU8, Ordering};
use crate::times_kept::{self, Of};
use crate::tree::Tree;

/// Rights of the handle that writes a copy: data and attributes, those to read it back, and those
/// that renaming and removing need (DELETE, SYNCHRONIZE, read and write data, append, read and
/// write attributes).
const PART_RIGHTS: u32 = 0x0001_0000 | 0x0010_0000 | 0x1 | 0x2 | 0x4 | 0x80 | 0x100;

/// Mode of a new file, less what the server takes from it, where nobody tells that of the source.
const NEW_FILE_MODE: u32 = 0o666;
/// What is not complete yet, its owner can read and write.
const PART_MODE_MIN: u32 = 0o600;

/// Rights to say that it has holes: SYNCHRONIZE, read and write attributes.
const SPARSE_RIGHTS: u32 = 0x0010_0000 | 0x80 | 0x100;

const REMOVE: u8 = 0;
const KEEP: u8 = 1;
const COMPLETED: u8 = 2;

/// A copy on a share that is not complete. It is removed unless it is completed or kept.
pub(in crate::copy) struct Part {
    file: File,
    tree: Tree,
    to: String,
    record: String,
    /// What the records say it is a copy of.
    source: Identity,
    is_sparse: bool,
    /// What is written beyond the end of the file may be lost: one piece goes after the other, holes as zeros.
    in_order: bool,
    fate: AtomicU8,
    /// Whether there is a record.
    recorded: AtomicBool,
    /// The record, held open so that nobody else writes this copy: the part is open for others then.
    guard: Option<File>,
}

impl Part {
    /// Begins a copy, or goes on with one. Gives where to go on.
    pub(in crate::copy) fn begin(
        tree: &Tree,
        to: &str,
        begin: &Begin,
    ) -> Result<(Self, u64), Error> {
        tree.check_new_name(to)?;
        let (folder, name) = split(tree, to);
        let path = name::joined(folder, &name::of_part(name));
        let record = name::joined(folder, &name::of_record(name));
        let guard = match begin.several {
            true => Some(open_guard(tree, &record, &path, begin.resume)?),
            false => None,
        };
        let known = match begin.resume {
            true => earlier_record(tree, &record, guard.as_ref()),
            false => None,
        };
        let (file, start) = match open_part(tree, &path, begin, known) {
            Ok(opened) => opened,
            Err(error) => {
                if let Some(guard) = guard.filter(|guard| guard.created().new) {
                    let _ = guard.set(SetInformation::DeleteOnClose(true));
                }
                return Err(error);
            }
        };
        let mut part = Self {
            file,
            tree: tree.clone(),
            to: to.to_owned(),
            record,
            source: begin.source,
            is_sparse: begin.is_sparse,
            in_order: tree.loses_writes(),
            // What can be gone on with is not lost because this time it cannot.
            fate: AtomicU8::new(if start > 0 { KEEP } else { REMOVE }),
            recorded: AtomicBool::new(start > 0),
            guard,
        };
        if start == 0 {
            part.forget_record()?;
        }
        if begin.is_sparse {
            match part.file.set_sparse() {
                Err(error) if error.status().is_none() => return Err(error),
                // Many file systems need no asking, or have no holes; the bytes are the same.
                _ => {}
            }
            // What is written beyond the end of a file, some servers lose.
            part.in_order |= !has_length(&part.file, begin.source.size)?;
        }
        *part.fate.get_mut() = REMOVE;
        Ok((part, start))
    }

    /// Whether one piece is written after the other, and zeros where holes are.
    pub(in crate::copy) const fn is_written_in_order(&self) -> bool {
        self.in_order
    }

    /// Writes some of it, and waits for that.
    pub(in crate::copy) fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        if !self.in_order {
            return self.file.write_at(offset, bytes);
        }
        let most = usize::try_from(self.file.write_bytes_max()).unwrap_or(usize::MAX);
        let mut at = offset;
        for piece in bytes.chunks(most.max(1)) {
            self.file.write_at(at, piece)?;
            at += piece.len() as u64;
        }
        Ok(())
    }

    /// Before any byte is written: what a record of an earlier part says would be believed of this one.
    /// Where the file is too small for a record, one that is there is of another file.
    fn forget_record(&self) -> Result<(), Error> {
        match &self.guard {
            Some(guard) if guard.created().size > 0 => guard.set_size(0),
            None if self.source.size >= RESUME_BYTES_MIN => {
                match self.tree.remove_file(&self.record) {
                    Err(error) if !is_absent(&error) => Err(busy_or(error, self.file.path())),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    pub(in crate::copy) fn add_session(&mut self, session: &ExtraSession) {
        let options = CreateOptions {
            folder: Some(false),
            sequential: true,
            disk_id: true,
            all_or_nothing: true,
            ..CreateOptions::open(Access::ReadWrite)
        };
        // Without it the copy is slower, and no other.
        if self.guard.is_some()
            && let Ok(file) = session.tree(&self.tree).open(self.file.path(), &options)
        {
            self.file.add_handle(file);
        }
    }

    pub(in crate::copy) const fn file(&self) -> &File {
        &self.file
    }

    pub(in crate::copy) const fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(in crate::copy) fn record(&self, complete: u64) -> Result<(), Error> {
        let record = Record {
            source: self.source,
            complete,
        };
        if let Some(guard) = &self.guard {
            self.recorded.store(true, Ordering::Relaxed);
            guard.write_at(0, record.to_text().as_bytes())?;
            return guard.flush();
        }
        let options = CreateOptions {
            disposition: Disposition::OpenOrCreate,
            folder: Some(false),
            share_write: false,
            ..CreateOptions::open(Access::Write)
        };
        let file = self.tree.open(&self.record, &options)?;
        self.recorded.store(true, Ordering::Relaxed);
        file.write_at(0, record.to_text().as_bytes())?;
        file.flush()?;
        file.close()
    }

    /// Leaves the part for a later run, if its record says how far it is.
    pub(in crate::copy) fn keep(&self) {
        let unfinished = self.fate.load(Ordering::Relaxed) == REMOVE;
        if unfinished && self.recorded.load(Ordering::Relaxed) {
            self.fate.store(KEEP, Ordering::Relaxed);
        }
    }

    /// Reads back what was written, over a new open, as any other program would.
    pub(in crate::copy) fn hash(&self, size: u64, stop: &Stop) -> Result<Hash, Error> {
        if self.recorded.load(Ordering::Relaxed) {
            // That takes long, and what is lost meanwhile shall not take all of it along.
            self.or_kept(self.file.flush())?;
        }
        let options = CreateOptions {
            folder: Some(false),
            sequential: true,
            ..CreateOptions::open(Access::Read)
        };
        let read_back = || {
            let file = self.tree.open(self.file.path(), &options)?;
            hash(&file, size, stop)
        };
        match self.or_kept(read_back()) {
            Err(Error::Changed { .. }) => Err(self.lost(self.file.size()?, size)),
            read => read,
        }
    }

    /// The server has less than it said, or more.
    fn lost(&self, size: u64, expected: u64) -> Error {
        self.tree.learn_loses_writes();
        Error::Lost {
            server: self.tree.shared().server.name.clone(),
            object: name::printable(&self.to),
            size,
            expected,
        }
    }

    /// What was interrupted is gone on with, as far as it is on record.
    fn or_kept<T>(&self, done: Result<T, Error>) -> Result<T, Error> {
        if matches!(done, Err(Error::Interrupted { .. })) {
            self.keep();
        }
        done
    }

    pub(in crate::copy) fn complete(mut self, finish: &Finish) -> Result<NotKept, Error> {
        let completed = self.finish(finish);
        match &completed {
            Err(error) if error.is_interruption() => self.keep(),
            // Who has written to it meanwhile needs it.
            Err(Error::Busy { .. }) => self.fate.store(KEEP, Ordering::Relaxed),
            _ => {}
        }
        completed
    }

    /// It gets its name only when it is closed: what a server could not store, some say no sooner.
    fn finish(&mut self, finish: &Finish) -> Result<NotKept, Error> {
        if finish.sync {
            self.file.flush()?;
        }
        // A server sets the time of a file when a handle goes that has written.
        self.file.close_written_handles()?;
        let wanted = attributes(&self.tree, finish.attributes);
        // A part that cannot get its name must not be read-only: nobody could remove it.
        let attributes = single_path_operations::writable(wanted);
        let times = times_kept(finish.times);
        // Before they are set: what is learned meanwhile may be that they have to be set otherwise.
        let known = self.tree.keeps_times().is_some() || self.tree.keeps_late_times();
        let basic = |attributes| SetInformation::Basic {
            times: self.tree.times_as_taken(times),
            attributes,
        };
        let refused = match self.file.set(basic(attributes)) {
            Err(error) if error.is_refusal() => Some(error),
            set => set.map(|()| None)?,
        };
        let closed = self.file.close_written()?;
        if let Some(guard) = &self.guard {
            // Without it, somebody else may have begun to write this.
            let guarded = guard.size();
            guarded.map_err(|error| busy_or(error, self.file.path()))?;
        }
        let path = self.file.path();
        self.check_size(&closed, finish.size)?;
        let mut not_kept = refused;
        if not_kept.is_none() {
            not_kept = self.check_times(times, attributes, (&closed, known))?;
        }
        let created = self.file.created();
        let mode_not_kept = (self.tree).keep_mode(path, finish.mode, created.posix)?;
        not_kept = not_kept.or(mode_not_kept);
        let part = ClosedPart {
            path,
            id: created.file_id(),
            bytes: finish.size,
            written: not_kept.is_none().then_some(times.write),
            content: None,
        };
        let sets = attributes != wanted && not_kept.is_none();
        let to = (&*self.to, finish.replace);
        let named = part.name(&self.tree, to, sets.then(|| basic(wanted)));
        let not_set = named.map_err(|error| match error {
            Error::AlreadyExists { .. } => Error::Obstructed {
                object: name::printable(&self.to),
            },
            error => busy_or(error, path),
        })?;
        self.fate.store(COMPLETED, Ordering::Relaxed);
        self.set_sparse_again();
        let not_kept = not_kept.or(not_set);
        Ok(not_kept.or_else(|| check_attributes(&self.tree, &self.to, finish.attributes)))
    }
}

impl Part {
    /// Some servers say that they have written what they have not.
    fn check_size(&self, closed: &Closed, expected: u64) -> Result<(), Error> {
        match times_kept::size(&self.tree, self.file.path(), closed)? {
            size if size == expected => Ok(()),
            size => Err(self.lost(size, expected)),
        }
    }

    /// Samba forgets it when attributes or names are set; the file is whole all the same.
    fn set_sparse_again(&self) {
        if self.is_sparse {
            let options = CreateOptions::open(Access::Mask(SPARSE_RIGHTS));
            let _ = (self.tree.open(&self.to, &options)).and_then(|file| file.set_sparse());
        }
    }

    /// Whether it has the times that were set when it was written, and sets them once more where not.
    fn check_times(
        &self,
        times: FileTimes,
        attributes: u32,
        closed: (&Closed, bool),
    ) -> Result<NotKept, Error> {
        let (tree, path) = (&self.tree, self.file.path());
        let time = times_kept::has_time(tree, path, times.write, closed)?;
        if time.is_kept() {
            if time.teaches(times.write) {
                tree.learn_late_times();
            }
            return Ok(None);
        }
        times_kept::set(tree, (path, &self.to), times, attributes, Of::File)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let fate = self.fate.load(Ordering::Relaxed);
        // What another session still writes must not meet what the next attempt writes.
        let _ = self.file.close_handles();
        // As far as the server still listens; the error that brought us here says more.
        match (fate, self.file.is_closed()) {
            (REMOVE, true) => {
                let id = self.file.created().file_id();
                let _ = remove_own(&self.tree, self.file.path(), id);
            }
            (REMOVE, false) => {
                let _ = self.file.set(SetInformation::DeleteOnClose(true));
            }
            _ => {}
        }
        // The next attempt opens both, perhaps on a faster channel: it must find them closed.
        if !self.file.is_closed() {
            let _ = self.file.close_now();
        }
        match &mut self.guard {
            Some(guard) => {
                if fate != KEEP {
                    let _ = guard.set(SetInformation::DeleteOnClose(true));
                }
                let _ = guard.close_now();
            }
            None if fate != KEEP && self.recorded.load(Ordering::Relaxed) => {
                let _ = self.tree.remove_file(&self.record);
            }
            None => {}
        }
    }
}

/// Opens the record of a part so that nobody else writes the same copy.
fn open_guard(tree: &Tree, record: &str, path: &str, resume: bool) -> Result<File, Error> {
    let options = CreateOptions {
        disposition: match resume {
            true => Disposition::OpenOrCreate,
            false => Disposition::Create,
        },
        folder: Some(false),
        share_write: false,
        ..CreateOptions::open(Access::Mask(PART_RIGHTS))
    };
    open_or_make(tree, record, &options).map_err(|error| busy_or(error, path))
}

/// Opens a file of ours. Only one that is not gone on with takes the place of what has its name.
fn open_or_make(tree: &Tree, path: &str, options: &CreateOptions) -> Result<File, Error> {
    let open = || tree.open(path, options);
    match options.disposition {
        Disposition::Create => in_place_of(tree, path, open),
        _ => open(),
    }
}

/// How far an earlier run came, if it says so.
fn earlier_record(tree: &Tree, record: &str, guard: Option<&File>) -> Option<Record> {
    match guard {
        Some(guard) => read_record(guard),
        None => {
            let found = tree.open(record, &CreateOptions::open(Access::Read));
            found.ok().and_then(|file| read_record(&file))
        }
    }
}

/// Opens the file of a part, with what an earlier run left in it where that is known. Gives where to go on.
fn open_part(
    tree: &Tree,
    path: &str,
    begin: &Begin,
    known: Option<Record>,
) -> Result<(File, u64), Error> {
    let options = CreateOptions {
        disposition: match known {
            Some(_) => Disposition::OpenOrCreate,
            None => Disposition::Create,
        },
        folder: Some(false),
        sequential: true,
        share_write: begin.several,
        disk_id: true,
        all_or_nothing: true,
        // Its owner can go on with it later.
        posix: Some(begin.mode.unwrap_or(NEW_FILE_MODE) | PART_MODE_MIN),
        // A server that lacks the room can say so before anything is sent.
        allocation_bytes: Some(begin.source.size).filter(|_| !begin.is_sparse),
        ..CreateOptions::open(Access::Mask(PART_RIGHTS))
    };
    let open = |options: &CreateOptions| {
        open_or_make(tree, path, options).map_err(|error| busy_or(error, path))
    };
    if begin.several && known.is_some() {
        // Of a copy whose guard was lost with its session, others may still write. To make one anew looks at that by itself.
        let alone = CreateOptions {
            disposition: Disposition::Open,
            share_write: false,
            allocation_bytes: None,
            ..options.clone()
        };
        match open(&alone) {
            Ok(file) => file.close()?,
            Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let mut file = open(&options)?;
    let length = file.created().size;
    let mut start = known.map_or(0, |known| known.resume_at(&begin.source, length));
    // What follows may be anything, and where nothing is written zeros are expected. All else is
    // written over.
    let is_too_long = length > start && (begin.is_sparse || length > begin.source.size);
    if is_too_long && !has_length(&file, start)? {
        file.close()?;
        file = open(&CreateOptions {
            disposition: Disposition::Create,
            ..options.clone()
        })?;
        start = 0;
    }
    Ok((file, start))
}

/// Gives a file this length. Whether the server has done so: some refuse, and some say that they did and
/// leave it as it was.
fn has_length(file: &File, bytes: u64) -> Result<bool, Error> {
    match file.set_size(bytes) {
        Err(error) if error.is_refusal() => Ok(false),
        set => set.and_then(|()| file.size()).map(|size| size == bytes),
    }
}

fn read_record(file: &File) -> Option<Record> {
    let mut text = vec![0; resume_record::BYTES_MAX];
    let length = file.read_at(0, &mut text).ok()?;
    Record::parse(text.get(..length)?)
}

/// Another program writes the same copy, if that is what the server says.
pub(super) fn busy_or(error: Error, part: &str) -> Error {
    match error.status() {
        Some(NtStatus::SHARING_VIOLATION) => Error::Busy {
            object: name::printable(part),
        },
        _ => error,
    }
}
