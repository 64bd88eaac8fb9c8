//! Copying one file, and beginning again where it was interrupted.

use std::thread;
use std::time::Duration;

use super::failure_handling::{failure, not_carried};
use super::{Engine, FileJob, LARGE_FILES, SMALL_BYTES_MAX};
use crate::copy::large_file_transfer::{Transfer, Transferred};
use crate::copy::partial_file_options::Finish;
use crate::copy::place::Place;
use crate::copy::progress::{AlternateStream, Event, FileProgress};
use crate::copy::{Existing, files_in_use, local_files, name, share};
use crate::error::Error;
use crate::signal::lock;
use crate::small_file_write::Attempt;

/// How often a file is begun again that was interrupted when all connections were lost: with most
/// servers each time, and a large one then goes on where it is on record.
const INTERRUPTIONS_MAX: usize = 10;
/// How often, and how long each time, a server is waited for that has not let go of an interrupted file.
const LET_GO_WAITS: usize = 10;
const LET_GO_PAUSE: Duration = Duration::from_millis(500);
/// So many small files that wait are worth one more login.
const WAITING_FOR_SESSIONS: usize = 256;

impl Engine<'_> {
    /// Copies one file, as one of several workers.
    pub(super) fn copy(&self, file: &FileJob, worker: usize) {
        if self.is_over() {
            return;
        }
        let progress = FileProgress::new(self.progress);
        let places = [&file.from, &file.to];
        let first = match file.may_be_begun {
            true => Attempt::InDoubt,
            false => Attempt::First,
        };
        let mut copied = self.copy_once(file, worker, first, &progress);
        let (mut interruptions, mut waits) = (0, 0);
        while !self.is_over() {
            match copied {
                Err(Error::Interrupted { .. }) if interruptions < INTERRUPTIONS_MAX => {
                    interruptions += 1;
                }
                Err(ref error)
                    if waits < LET_GO_WAITS && files_in_use::may_be_ours(error, places) =>
                {
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
            // It is something else.
            Err(Error::Obstructed { .. })
                if file.may_be_begun && self.options.existing == Existing::Update =>
            {
                lock(&self.summary).newer += 1;
            }
            Err(error) => {
                self.failed_file(file, files_in_use::with_users(error, places));
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
        let beyond = not_carried([&file.from, &file.to], file.found.times);
        self.without(&file.path, copied.not_kept.or(beyond));
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
        if let Some(name) = copied.alternate_stream {
            summary.with_streams += 1;
            summary.first_stream.get_or_insert_with(|| AlternateStream {
                path: file.path.clone(),
                name: name::printable(&name),
            });
        }
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
        let (found, bytes, alternate_stream) = match from {
            Place::Local(path) => {
                let source = local_files::Source::open(path)?;
                if source.entry.size > SMALL_BYTES_MAX {
                    return self.copy_large(file, worker, attempt, progress);
                }
                let bytes = source.read_whole()?;
                (source.entry, bytes, None)
            }
            Place::Share { tree, path } => {
                share::small::read_small(tree, path, &file.found, SMALL_BYTES_MAX)?
            }
        };
        let finish = Finish::of(&found, [from, to], file.replace());
        let not_kept = match to {
            Place::Local(path) => local_files::write_small(path, &bytes, &finish)?,
            Place::Share { tree, path } => {
                share::small::write_small(tree, path, &bytes, &finish, attempt)?
            }
        };
        progress.advance(found.size);
        Ok(Transferred {
            not_kept,
            alternate_stream,
            ..Transferred::whole(found.size)
        })
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
