//! The real testbed: knobs through the journal of changes, trials as child processes on the client.

use std::time::Instant;

use experiment::{Testbed, TrialLength};
use host::change;
use host::journal::Journal;
use locale::say;
use measure::Stop;
use record::{
    Bytes, CopyProgram, CopyTask, Data, Direction, Failure, FailureKind, HostLoad, Level,
    Nanoseconds, Outcome, Place, SecondMount, Setting, ShareWorkload, Spread, Task, TaskWorkload,
    Timing, TrialResult, Value, Workload,
};

use crate::client_to_share_path::SharePath;
use crate::failure::CommandError;
use crate::fstab_of_mount::FstabLine;
use crate::knob_switching::{HostKnobs, SharedRecorder};
use crate::tune_through_mount;

/// The fields of the workload that an experiment may set.
const CHANNELS: &str = "channels";
/// Bytes of a request.
pub const BLOCK_FIELD: &str = "block";
/// Requests in flight on each channel.
pub const DEPTH_FIELD: &str = "depth";
/// A request of a workload that is about latency.
const SHORT_BLOCK: Bytes = Bytes::new(4096);
/// Bytes of the file that they go through: it is written before each trial, and which memory of the
/// server answers is not what such a workload asks.
const SHORT_REQUESTS_FILE: Bytes = Bytes::new(64 << 10);
/// Each of many small files.
const SMALL_FILE: Bytes = Bytes::new(4096);
/// Small files for each second of a trial that counts: about what a server at the other end of a
/// usual network takes, so that trials last about as long as they should.
const SMALL_FILES_PER_SECOND: f64 = 500.0;
/// Fewer small files are over too soon to say anything, and more say nothing new.
const SMALL_FILES: std::ops::RangeInclusive<u32> = 50..=100_000;
/// Small files in each folder.
const SMALL_FILES_PER_FOLDER: u32 = 100;

/// What is moved in a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Load {
    /// A big file, with many requests under way.
    #[default]
    BigFile,
    /// Short requests that wait for each other.
    ShortRequests,
    /// Many small files that are copied as `linerate copy` does.
    SmallFiles,
    /// A file of so many bytes, as a program reads and writes it through a mount's cache.
    Program(Bytes),
}

/// A path to a share with its settings.
pub struct ShareTestbed<'a> {
    path: &'a SharePath,
    knobs: HostKnobs,
    began: Instant,
    stop: Stop,
    counted: Timing,
    wash_out: Timing,
    level: Level,
    /// Whether what is kept is also set at the next start.
    persist: bool,
    /// The line of `/etc/fstab` that mounts the share then, where that may be kept.
    fstab: Option<FstabLine<'a>>,
    load: Load,
    /// What the server had to do in the last trial.
    loads: Vec<HostLoad>,
}

impl<'a> ShareTestbed<'a> {
    /// A testbed where nothing has been touched yet.
    pub fn new(
        path: &'a SharePath,
        journal: Option<Journal>,
        recorder: SharedRecorder,
        stop: Stop,
        counted: Timing,
    ) -> Self {
        let began = recorder.0.borrow().began();
        let short = Nanoseconds::new(counted.measured.get() / 4);
        Self {
            path,
            knobs: HostKnobs::new(
                path.hosts().into_iter().cloned().collect(),
                journal,
                recorder,
                stop.clone(),
            ),
            began,
            stop,
            counted,
            wash_out: Timing {
                measured: short,
                interval: short,
                ..counted
            },
            level: Level {
                name: "as it is".into(),
                settings: Vec::new(),
            },
            persist: false,
            fstab: None,
            load: Load::default(),
            loads: Vec::new(),
        }
    }

    /// The same with something else than a big file.
    #[must_use]
    pub fn moving(mut self, load: Load) -> Self {
        self.load = load;
        self
    }

    /// The same, where what is kept is also what the hosts set at their next start.
    #[must_use]
    pub fn persistent(mut self, persist: bool) -> Self {
        self.persist = persist;
        self
    }

    /// The same, where better options of a mount that are kept go into this line.
    #[must_use]
    pub fn mounting_at_start(mut self, fstab: Option<FstabLine<'a>>) -> Self {
        self.fstab = fstab;
        self
    }

    /// The share's workload with the fields that a level sets.
    fn share_workload(&self, level: &Level, direction: Direction, timing: Timing) -> ShareWorkload {
        let small = |name: &str| field_in(level, name).and_then(|value| u32::try_from(value).ok());
        let channels = small(CHANNELS).unwrap_or(1);
        let mut workload = self.path.workload(direction, channels, timing);
        if self.load == Load::ShortRequests {
            (workload.block, workload.depth) = (SHORT_BLOCK, 1);
            workload.file_size = SHORT_REQUESTS_FILE;
        }
        if let Some(block) = small(BLOCK_FIELD) {
            workload.block = Bytes::new(u64::from(block));
            workload.file_size = workload.file_size.max(workload.block);
        }
        if let Some(depth) = small(DEPTH_FIELD) {
            workload.depth = depth;
        }
        workload
    }
}

/// Many small files of a share, copied.
fn small_files(share: ShareWorkload) -> TaskWorkload {
    let seconds = share.timing.measured.get() as f64 / 1e9;
    let files =
        ((SMALL_FILES_PER_SECOND * seconds) as u32).clamp(*SMALL_FILES.start(), *SMALL_FILES.end());
    TaskWorkload {
        place: Place::Share {
            share: share.share,
            demands: share.demands,
        },
        second_mount: None,
        direction: share.direction,
        channels: share.channels,
        task: Task::Copy(CopyTask {
            files,
            folders: files.div_ceil(SMALL_FILES_PER_FOLDER),
            size: SMALL_FILE,
            size_max: None,
            spread: Spread::Even,
            by: CopyProgram::Linerate,
        }),
        data: Data::default(),
        timing: share.timing,
    }
}

fn field_in(level: &Level, name: &str) -> Option<i64> {
    level.settings.iter().find_map(|setting| match setting {
        Setting::Workload {
            field,
            value: Value::Integer(value),
        } if field == name => Some(*value),
        _ => None,
    })
}

/// An arm whose channels did not come up was not tried, so its rate says nothing about them.
pub fn missing_channels(workload: &Workload, result: &TrialResult) -> Option<Failure> {
    let channels = match workload {
        Workload::Share(share) => share.channels,
        Workload::Task(work) if matches!(work.place, Place::Share { .. }) => work.channels,
        Workload::Task(_) | Workload::Tcp(_) | Workload::Folder(_) | Workload::Job(_) => {
            return None;
        }
    };
    let wanted = usize::try_from(channels).unwrap_or(usize::MAX);
    if result.connections.len() >= wanted {
        return None;
    }
    let sentence = say("error-check.missing-channels")
        .count("count", result.connections.len())
        .count("wanted", wanted);
    let mut failure = Failure::new(FailureKind::Refused, sentence);
    if let Some(session) = &result.session {
        for reason in &session.rejected_channels {
            failure.push(&session.rejection(reason));
        }
    }
    Some(failure)
}

impl Testbed for ShareTestbed<'_> {
    fn read(&mut self, level: &Level) -> Result<Vec<Setting>, Failure> {
        let mut found =
            change::read_back(&self.knobs.hosts, &level.settings).map_err(CommandError::from)?;
        let used = self.share_workload(&self.level, Direction::Read, self.counted);
        for setting in &mut found {
            let Setting::Workload { field, value } = setting else {
                continue;
            };
            *value = match (field.as_str(), &self.path.mounted) {
                (CHANNELS, _) => Value::Integer(i64::from(used.channels)),
                (DEPTH_FIELD, _) => Value::Integer(i64::from(used.depth)),
                (BLOCK_FIELD, _) => {
                    Value::Integer(i64::try_from(used.block.get()).unwrap_or(i64::MAX))
                }
                (SecondMount::FIELD, Some(mounted)) => {
                    Value::Text(tune_through_mount::options_used(mounted, &self.level))
                }
                _ => continue,
            };
        }
        Ok(found)
    }

    fn set(&mut self, level: &Level) -> Result<(), Failure> {
        self.knobs.set(level)?;
        self.level = level.clone();
        Ok(())
    }

    fn workload(&self, level: &Level, direction: Direction, length: TrialLength) -> Workload {
        let timing = match length {
            TrialLength::Counted => self.counted,
            TrialLength::WashOut => self.wash_out,
        };
        let share = self.share_workload(level, direction, timing);
        match (&self.path.mounted, self.load) {
            (None, Load::SmallFiles) => Workload::Task(small_files(share)),
            (None, _) => Workload::Share(share),
            (Some(mounted), Load::SmallFiles) => {
                tune_through_mount::files(mounted, small_files(share), level)
            }
            (Some(mounted), Load::Program(size)) => {
                tune_through_mount::program(mounted, &share, size, level)
            }
            (Some(mounted), Load::BigFile | Load::ShortRequests) => {
                tune_through_mount::workload(mounted, &share, level)
            }
        }
    }

    fn trial(&mut self, workload: &Workload) -> Outcome {
        let (result, load) = self.path.trial_served(workload.clone(), &self.stop);
        self.loads = load.into_iter().collect();
        match result {
            Ok(result) => match missing_channels(workload, &result) {
                None => Outcome::Measured(Box::new(result)),
                Some(failure) => Outcome::Failed(failure),
            },
            Err(failure) => Outcome::Failed(failure),
        }
    }

    fn loads(&mut self) -> Vec<HostLoad> {
        std::mem::take(&mut self.loads)
    }

    fn keep(&mut self, level: &Level) -> Result<(), Failure> {
        let fstab = self.fstab.as_ref();
        let line = fstab.map_or(Ok(None), |line| line.setting_unless_changed(level))?;
        let at_start = self.persist.then(|| line.into_iter().collect());
        self.knobs.keep(level, at_start)
    }

    fn restore(&mut self, level: &Level) -> Result<(), Failure> {
        let done = self.knobs.restore();
        self.level = level.clone();
        done
    }

    fn now(&self) -> Nanoseconds {
        self.began.elapsed().into()
    }
}

#[cfg(test)]
mod tests {
    use record::{ConnectionUse, Demands, ShareAddress};

    use super::*;

    #[test]
    fn channels_that_are_missing_are_missed_in_every_workload_of_a_share() {
        let timing = Timing {
            warm_up: Nanoseconds::new(0),
            measured: Nanoseconds::new(1_000_000_000),
            interval: Nanoseconds::new(1_000_000_000),
        };
        let share = ShareWorkload {
            share: ShareAddress {
                server: "nas".into(),
                port: 445,
                share: "media".into(),
                path: String::new(),
            },
            direction: Direction::Read,
            channels: 2,
            block: Bytes::new(1 << 20),
            depth: 8,
            operations: None,
            file_size: Bytes::new(1 << 26),
            demands: Demands::default(),
            timing,
            sessions: 1,
            connections: 1,
            file: record::FileUse::default(),
            socket: record::SocketOptions::default(),
        };
        let end: std::net::SocketAddr = ([127, 0, 0, 1], 445).into();
        let connection = ConnectionUse {
            local: end,
            remote: end,
            nic: None,
            bytes: Bytes::new(1),
            round_trip: None,
            retransmits: None,
            tcp: None,
            congestion_control: None,
            clock: None,
        };
        let came_up = |count: usize| TrialResult {
            connections: vec![connection.clone(); count],
            ..TrialResult::default()
        };
        let task = small_files(share.clone());
        let in_a_folder = TaskWorkload {
            place: Place::Folder {
                folder: "/mnt".into(),
                kind: record::FolderKind::Folder,
            },
            ..task.clone()
        };
        for workload in [Workload::Share(share), Workload::Task(task)] {
            let failure = missing_channels(&workload, &came_up(1)).expect("one is missing");
            assert_eq!(failure.chain, ["1 of 2 channels came up"]);
            assert_eq!(missing_channels(&workload, &came_up(2)), None);
        }
        let folder = Workload::Task(in_a_folder);
        assert_eq!(missing_channels(&folder, &came_up(0)), None);
    }

    #[test]
    fn small_files_are_copied_in_the_way_and_the_time_that_is_asked_for() {
        let files = |milliseconds: u64| {
            let measured = Nanoseconds::new(milliseconds * 1_000_000);
            let work = small_files(ShareWorkload {
                share: ShareAddress {
                    server: "nas".into(),
                    port: 445,
                    share: "media".into(),
                    path: "films".into(),
                },
                direction: Direction::Write,
                channels: 1,
                block: Bytes::new(1 << 20),
                depth: 8,
                operations: None,
                file_size: Bytes::new(1 << 26),
                demands: Demands::default(),
                timing: Timing {
                    warm_up: Nanoseconds::new(0),
                    measured,
                    interval: measured,
                },
                sessions: 1,
                connections: 1,
                file: record::FileUse::default(),
                socket: record::SocketOptions::default(),
            });
            assert_eq!(work.direction, Direction::Write);
            assert!(
                matches!(&work.place, Place::Share { share, .. } if share.path == "films"),
                "{:?}",
                work.place
            );
            work.task.check().expect("it makes sense");
            match work.task {
                Task::Copy(copy) => (copy.files, copy.folders, copy.size.get()),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(files(1_000), (500, 5, 4096));
        assert_eq!(files(3_600_000), (100_000, 1_000, 4096));
        assert_eq!(files(20), (50, 1, 4096));
    }
}
