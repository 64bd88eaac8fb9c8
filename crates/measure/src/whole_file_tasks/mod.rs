//! Work on whole files, of a share by our own client or in a folder through the system.
//!
//! Each trial makes what it needs in a folder of its own at the target, and removes that folder
//! whatever comes of it ([`ScratchFolder`]).

mod copying;
mod frame_playback;

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use locale::{Message, say};
use record::{
    Bytes, ConnectionUse, Direction, Latency, Place as Where, Playback, Sample, SmbSession,
    Storage, Task, TaskWorkload, TrialLine, TrialResult,
};
use smb::copy::Place;
use smb::{ChannelStatus, Login};

use crate::interval_sampling::{Meter, Spans};
use crate::queue_depth_and_latency::Histogram;
use crate::scratch_folder::ScratchFolder;
use crate::share_workload::{self, Connected, TestData, unbroken};
use crate::stop_request::{STOP_POLL, stoppable};
use crate::{Error, Stop, test_file_in_folder};

/// Bytes of a range that is locked.
const LOCK_BYTES: u64 = 512;
/// The file that is read or written from begin to end.
const STREAMED: &str = "file.bin";

/// What a task came to.
struct Done {
    sample: Sample,
    latency: Option<Latency>,
    first_byte: Option<Duration>,
    playback: Option<Playback>,
    connections: Vec<ConnectionUse>,
    session: Option<SmbSession>,
}

/// What all tasks need.
struct Work<'a> {
    workload: &'a TaskWorkload,
    login: &'a Login,
    scratch: &'a ScratchFolder,
    /// The folder of this machine that files are copied from or to.
    near: Option<&'a ScratchFolder>,
    data: TestData,
    spans: Spans,
    stop: &'a Stop,
}

/// A session with the share, if the target is one.
struct Reached(Option<Connected>);

impl Reached {
    fn connect(workload: &TaskWorkload, login: &Login) -> Result<Self, Error> {
        let Where::Share { share, demands } = &workload.place else {
            return Ok(Self(None));
        };
        let policy = unbroken(demands);
        let connected = Connected::connect(share, login, &policy, workload.channels)?;
        Ok(Self(Some(connected)))
    }

    /// The folder that was asked for.
    fn place(&self, workload: &TaskWorkload) -> Result<Place, Error> {
        Ok(match (&workload.place, &self.0) {
            (Where::Share { share, .. }, Some(connected)) => connected.folder(share),
            (Where::Share { share, .. }, None) => Place::local(Path::new(&share.path))?,
            (Where::Folder { folder, .. }, _) => Place::local(Path::new(folder))?,
        })
    }

    fn channels(&self) -> Vec<ChannelStatus> {
        let connected = self.0.as_ref();
        connected.map_or_else(Vec::new, |connected| connected.session.channels())
    }

    /// What each connection moved since `before`.
    fn connections(&self, before: &[ChannelStatus], direction: Direction) -> Vec<ConnectionUse> {
        share_workload::connections(before, &self.channels(), direction.into())
    }

    fn agreed(&self) -> Option<SmbSession> {
        let Connected {
            session,
            tree,
            rejected,
        } = self.0.as_ref()?;
        share_workload::agreed(session, tree, rejected)
    }
}

/// Measures a task.
pub(crate) fn run(
    workload: &TaskWorkload,
    login: &Login,
    near: Option<&ScratchFolder>,
    stop: &Stop,
    emit: &mut dyn FnMut(&TrialLine),
) -> Result<TrialResult, Error> {
    let spans = Spans::new(&workload.timing)?;
    let reached = Reached::connect(workload, login)?;
    let (bytes, files) = (workload.task.space_needed().get(), workload.task.files());
    let scratch = ScratchFolder::make(reached.place(workload)?, bytes, files, stop)?;
    let work = Work {
        workload,
        login,
        scratch: &scratch,
        near,
        data: TestData::new(workload.data)?,
        spans,
        stop,
    };
    let done = match &workload.task {
        Task::Copy(task) => work.copy(task),
        Task::Play(task) => work.play(task, &reached),
        Task::Stream(size) => work.stream(*size, &reached),
        task => work.one_by_one(task, &reached),
    }?;
    let storage = work.storage()?;
    scratch.remove()?;
    emit(&TrialLine::Sample(done.sample.clone()));
    Ok(TrialResult {
        samples: vec![done.sample],
        first_byte: done.first_byte.map(Into::into),
        connections: done.connections,
        session: done.session,
        far_retransmits: None,
        latency: done.latency,
        storage,
        playback: done.playback,
        engine: None,
        sandbox: None,
    })
}

pub(crate) fn check(workload: &TaskWorkload) -> Result<(), Error> {
    let usage = |reason: Message| Err(Error::Usage { reason });
    if let Err(mistake) = workload.task.check() {
        return usage(mistake.message());
    }
    if let Some(way) = workload.task.required_direction()
        && way != workload.direction
    {
        return usage(say(match way {
            Direction::Read => "error-measure.usage-reads-only",
            Direction::Write => "error-measure.usage-writes-only",
        }));
    }
    if let Task::Copy(copy) = &workload.task
        && let Some(program) = copy.by.program()
        && matches!(workload.place, Where::Share { .. })
    {
        return usage(say("error-measure.usage-copies-between-folders").with("program", program));
    }
    if workload.channels == 0 || workload.channels as usize > smb::CHANNELS_MAX {
        return usage(
            say("error-measure.usage-channels")
                .count("channels", workload.channels)
                .count("most", smb::CHANNELS_MAX),
        );
    }
    Ok(())
}

impl Work<'_> {
    /// What holds the files of a folder.
    fn storage(&self) -> Result<Option<Storage>, Error> {
        let Some(path) = self.scratch.local() else {
            return Ok(None);
        };
        let held_by = test_file_in_folder::file_system(path)?;
        // What is read was forgotten before, what is written is synced; names are kept as always.
        let direct = matches!(
            self.workload.task,
            Task::Copy(_) | Task::Play(_) | Task::Stream(_)
        );
        Ok(Some(Storage {
            file_system: held_by.name,
            network: held_by.is_network,
            direct,
            folder: None,
        }))
    }

    /// One operation after the other, and how long each takes.
    fn one_by_one(&self, task: &Task, reached: &Reached) -> Result<Done, Error> {
        let scratch = self.scratch;
        let name = |file: u32| format!("file-{file:06}");
        let (count, files_before) = match task {
            Task::Open(files) | Task::Remove(files) => (*files, *files),
            Task::Lock(times) => (*times, 1),
            Task::List(list) => (list.times, list.entries),
            Task::Create(files) => (*files, 0),
            // They have functions of their own.
            Task::Copy(_) | Task::Play(_) | Task::Stream(_) => (0, 0),
        };
        for file in 0..files_before {
            self.go_on()?;
            scratch.create(&name(file))?;
        }
        let locked = match task {
            Task::Lock(_) => Some(scratch.open_to_lock(&name(0))?),
            _ => None,
        };
        let before = reached.channels();
        let mut times = Histogram::new();
        let meter = Meter::start();
        for number in 0..count {
            self.go_on()?;
            let begin = Instant::now();
            match (task, &locked) {
                (Task::Create(_), _) => scratch.create(&name(number))?,
                (Task::Open(_), _) => scratch.open(&name(number))?,
                (Task::Remove(_), _) => scratch.remove_file(&name(number))?,
                (Task::List(list), _) => scratch.list(list.entries)?,
                (_, Some(locked)) => locked.lock(u64::from(number) * LOCK_BYTES, LOCK_BYTES)?,
                (_, None) => {}
            }
            times.add(begin.elapsed());
        }
        let sample = meter.finish(Bytes::new(0));
        Ok(Done {
            sample,
            latency: times.summary(),
            first_byte: None,
            playback: None,
            connections: reached.connections(&before, self.workload.direction),
            session: reached.agreed(),
        })
    }

    /// Reads or writes one file from begin to end, from its opening until it is closed and what was written is at its target.
    fn stream(&self, size: Bytes, reached: &Reached) -> Result<Done, Error> {
        if self.is_read() {
            self.write(self.scratch, STREAMED, 0, size.get())?;
            self.scratch.forget()?;
        }
        let before = reached.channels();
        let meter = Meter::start();
        if self.is_read() {
            stoppable(
                self.stop,
                STOP_POLL,
                || {},
                |halt| self.scratch.read(STREAMED, size.get(), halt),
            )??;
        } else {
            self.write(self.scratch, STREAMED, 0, size.get())?;
            self.scratch.sync(self.scratch.top(), Some(STREAMED))?;
        }
        Ok(Done {
            sample: meter.finish(size),
            latency: None,
            first_byte: None,
            playback: None,
            connections: reached.connections(&before, self.workload.direction),
            session: reached.agreed(),
        })
    }

    fn go_on(&self) -> Result<(), Error> {
        match self.stop.is_asked() {
            true => Err(Error::Stopped),
            false => Ok(()),
        }
    }

    /// Writes a file near or far; no two files have a piece in common.
    fn write(
        &self,
        scratch: &ScratchFolder,
        name: &str,
        number: u32,
        size: u64,
    ) -> Result<(), Error> {
        let begin = u64::from(number) << 40;
        let fill = |offset: u64, room: &mut [u8]| self.data.fill(begin + offset, room);
        scratch.write(name, size, &fill, &|| match self.stop.is_asked() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    }

    const fn is_read(&self) -> bool {
        matches!(self.workload.direction, Direction::Read)
    }
}
