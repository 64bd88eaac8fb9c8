//! Work on whole files: what people do with a share all day, and what benchmarks of file servers do.

use locale::{Message, say};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::benchmark_recipe::bytes;
use crate::{Bytes, Data, Direction, Mistake, Nanoseconds, Place, SecondMount, Timing};

/// Most files of a task, and most of what it moves.
const FILES_MAX: u32 = 1_000_000;
const BYTES_MAX: u64 = 1 << 44;
/// Most frames of a second, most frames read ahead, and most streams.
const PER_SECOND_MAX: u32 = 1_000;
const AHEAD_MAX: u32 = 1_000;
const STREAMS_MAX: u32 = 64;

/// Work on whole files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Copies files between the target and the client, as `linerate copy` does.
    Copy(CopyTask),
    /// Makes so many empty files in one folder, one after the other.
    Create(u32),
    /// Opens and closes each of so many files, one after the other.
    Open(u32),
    /// Removes so many files, one after the other.
    Remove(u32),
    /// Takes and gives back so many locks on ranges of one file, one after the other.
    Lock(u32),
    /// Lists a folder.
    List(ListTask),
    /// Makes, or opens, a file of so many bytes, writes or reads it from begin to end, and closes it. In a folder it is done
    /// as most programs do: one MiB after the other, through the client's cache, which has none of it before.
    #[serde(deserialize_with = "bytes")]
    Stream(Bytes),
    /// Plays frames, each a file of its own, in time.
    Play(PlayTask),
}

/// What copies files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CopyProgram {
    /// The engine of `linerate copy`.
    #[default]
    Linerate,
    /// `cp` of coreutils; between two folders only, as those below.
    Cp,
    /// `rsync`, to a target that is empty.
    Rsync,
    /// `rclone`.
    Rclone,
}

impl CopyProgram {
    const fn is_linerate(&self) -> bool {
        matches!(self, Self::Linerate)
    }

    /// What is typed for it; none where it is no program of its own.
    #[must_use]
    pub const fn program(self) -> Option<&'static str> {
        match self {
            Self::Linerate => None,
            Self::Cp => Some("cp"),
            Self::Rsync => Some("rsync"),
            Self::Rclone => Some("rclone"),
        }
    }
}

/// Files that are copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CopyTask {
    /// How many.
    pub files: u32,
    /// Folders that they are spread over; with none of them, one file is copied by itself.
    #[serde(default)]
    pub folders: u32,
    /// Size of each, or of the smallest.
    #[serde(deserialize_with = "bytes")]
    pub size: Bytes,
    /// Size of the largest, where they differ.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "some_bytes"
    )]
    pub size_max: Option<Bytes>,
    /// How they are spread in between.
    #[serde(default, skip_serializing_if = "Spread::is_even")]
    pub spread: Spread,
    /// By what.
    #[serde(default, skip_serializing_if = "CopyProgram::is_linerate")]
    pub by: CopyProgram,
}

/// How sizes are spread between the smallest and the largest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// As many between 1 and 2 MiB as between 2 and 4.
    #[default]
    Even,
    /// Their logarithms are normal: most are near the geometric middle, very small and very large ones
    /// are rare.
    LogNormal,
}

impl Spread {
    const fn is_even(&self) -> bool {
        matches!(self, Self::Even)
    }
}

/// A folder that is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTask {
    /// Empty files in it.
    pub entries: u32,
    /// How often it is listed.
    pub times: u32,
}

/// Frames that are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlayTask {
    /// Size of a frame.
    #[serde(deserialize_with = "bytes")]
    pub frame: Bytes,
    /// Frames due in a second.
    pub per_second: u32,
    /// Different frames; they are played round and round.
    pub frames: u32,
    /// Frames that may be read before they are due.
    pub ahead: u32,
    /// Players at the same time.
    #[serde(default = "one")]
    pub streams: u32,
}

const fn one() -> u32 {
    1
}

fn some_bytes<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Bytes>, D::Error> {
    bytes(deserializer).map(Some)
}

impl CopyTask {
    /// The size of one of the files, always the same for the same number.
    #[must_use]
    pub fn size_of(&self, file: u32) -> Bytes {
        let Some(most) = self.size_max else {
            return self.size;
        };
        let even = |step: f64| (f64::from(file) * step).fract();
        let place = match self.spread {
            // Multiples of the golden ratio fill the range evenly, in whatever order files are taken.
            Spread::Even => even(0.618_033_988_749_895),
            // The mean of several that fill it independently is nearly normal and never leaves it.
            Spread::LogNormal => {
                let steps = [2.0_f64, 3.0, 5.0, 7.0].map(f64::sqrt);
                steps.map(even).iter().sum::<f64>() / 4.0
            }
        };
        let [least, most] = [self.size, most].map(|size| (size.get().max(1) as f64).ln());
        Bytes::new((least + (most - least) * place).exp().round() as u64)
    }

    /// All of them.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        (0..self.files).map(|file| self.size_of(file)).sum()
    }
}

impl Task {
    /// What it moves or has to be there before, at most: the room that it needs.
    #[must_use]
    pub fn space_needed(&self) -> Bytes {
        match self {
            Self::Copy(copy) => copy.bytes(),
            Self::Play(play) => Bytes::new(play.frame.get().saturating_mul(play.frames.into())),
            Self::Stream(size) => *size,
            Self::Create(_) | Self::Open(_) | Self::Remove(_) | Self::Lock(_) | Self::List(_) => {
                Bytes::new(0)
            }
        }
    }

    /// Files that it makes at the target.
    #[must_use]
    pub const fn files(&self) -> u32 {
        match self {
            Self::Copy(copy) => copy.files,
            Self::Create(files) | Self::Open(files) | Self::Remove(files) => *files,
            Self::Lock(_) | Self::Stream(_) => 1,
            Self::List(list) => list.entries,
            Self::Play(play) => play.frames,
        }
    }

    /// The way it goes; none where it can go either way.
    #[must_use]
    pub const fn required_direction(&self) -> Option<Direction> {
        match self {
            Self::Copy(_) | Self::Stream(_) => None,
            Self::Create(_) | Self::Remove(_) | Self::Lock(_) => Some(Direction::Write),
            Self::Open(_) | Self::List(_) | Self::Play(_) => Some(Direction::Read),
        }
    }

    /// Whether it lasts as long as it is told, and not until its work is done.
    #[must_use]
    pub const fn is_timed(&self) -> bool {
        matches!(self, Self::Play(_))
    }

    /// Its key in a recipe.
    const fn key(&self) -> &'static str {
        match self {
            Self::Copy(_) => "copy",
            Self::Create(_) => "create",
            Self::Open(_) => "open",
            Self::Remove(_) => "remove",
            Self::Lock(_) => "lock",
            Self::List(_) => "list",
            Self::Stream(_) => "stream",
            Self::Play(_) => "play",
        }
    }

    /// Says what makes no sense in it, if something does.
    ///
    /// # Errors
    /// What is wrong, in a sentence.
    pub fn check(&self) -> Result<(), Mistake> {
        self.check_inside()
            .map_err(|mistake| mistake.within(self.key()))
    }

    fn check_inside(&self) -> Result<(), Mistake> {
        let counts: Vec<(&str, u32)> = match self {
            Self::Copy(copy) => vec![("files", copy.files)],
            Self::Create(files) | Self::Open(files) | Self::Remove(files) | Self::Lock(files) => {
                vec![("", *files)]
            }
            Self::List(list) => vec![("entries", list.entries), ("times", list.times)],
            Self::Play(play) => vec![("frames", play.frames)],
            Self::Stream(_) => Vec::new(),
        };
        let odd = |(_, count): &&(&str, u32)| !(1..=FILES_MAX).contains(count);
        if let Some((key, _)) = counts.iter().find(odd) {
            let reason = say("error-mistake.task-files").count("most", FILES_MAX);
            return Err(Mistake::at(*key, reason));
        }
        match self {
            Self::Copy(copy) => copy.check()?,
            Self::Play(play) => play.check()?,
            Self::Stream(size) if size.get() == 0 => {
                return Err(Mistake::at("", say("error-mistake.empty-files")));
            }
            _ => {}
        }
        match self.space_needed().get() > BYTES_MAX {
            true => Err(Mistake::at("", too_much())),
            false => Ok(()),
        }
    }
}

impl CopyTask {
    fn check(&self) -> Result<(), Mistake> {
        let wrong = |key: &str, id| Err(Mistake::at(key, say(id)));
        if !self.spread.is_even() && self.size_max.is_none() {
            return wrong("spread", "error-mistake.spread");
        }
        if self.folders == 0 && self.files > 1 {
            return wrong("files", "error-mistake.no-folders");
        }
        if self.folders > self.files {
            return wrong("folders", "error-mistake.many-folders");
        }
        if self.size.get() == 0 {
            return wrong("size", "error-mistake.empty-files");
        }
        // Each file is bounded before they are added up.
        let most = self.size_max.unwrap_or(self.size);
        if most < self.size {
            return wrong("size_max", "error-mistake.size-max");
        }
        if most.get() > BYTES_MAX {
            let key = self.size_max.map_or("size", |_| "size_max");
            return Err(Mistake::at(key, too_much()));
        }
        Ok(())
    }
}

impl PlayTask {
    fn check(&self) -> Result<(), Mistake> {
        let within = |count, most| (1..=most).contains(&count);
        let parts = [
            ("frame", self.frame.get() > 0),
            ("per_second", within(self.per_second, PER_SECOND_MAX)),
            ("ahead", within(self.ahead, AHEAD_MAX)),
            ("streams", within(self.streams, STREAMS_MAX)),
        ];
        match parts.iter().find(|(_, is_fine)| !is_fine) {
            None => Ok(()),
            Some((key, _)) => {
                let reason = say("error-mistake.play")
                    .count("frames", PER_SECOND_MAX)
                    .count("ahead", AHEAD_MAX)
                    .count("streams", STREAMS_MAX);
                Err(Mistake::at(*key, reason))
            }
        }
    }
}

fn too_much() -> Message {
    say("error-mistake.task-bytes").count("most", BYTES_MAX)
}

/// A task at a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskWorkload {
    /// Where.
    pub place: Place,
    /// What is mounted for it and for no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_mount: Option<SecondMount>,
    /// Read is from the place to the client.
    pub direction: Direction,
    /// The most channels to use, 1 to 32; of no meaning in a folder.
    pub channels: u32,
    /// What to do.
    pub task: Task,
    /// What stands in the files.
    #[serde(default)]
    pub data: Data,
    /// How long, where it is [timed](Task::is_timed).
    pub timing: Timing,
}

/// What became of frames that were to be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Playback {
    /// Frames that were due.
    pub due: u64,
    /// Of these, frames that were not there in time.
    pub missed: u64,
    /// The longest that a frame was late.
    pub stall_max: Nanoseconds,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(files: u32, folders: u32, size: u64, size_max: Option<u64>) -> CopyTask {
        CopyTask {
            files,
            folders,
            size: Bytes::new(size),
            size_max: size_max.map(Bytes::new),
            spread: Spread::Even,
            by: CopyProgram::default(),
        }
    }

    #[test]
    fn sizes_that_are_log_normal_are_mostly_in_the_middle() {
        let task = CopyTask {
            spread: Spread::LogNormal,
            ..copy(1000, 1, 1 << 10, Some(100 << 20))
        };
        let mut logarithms = Vec::new();
        for file in 0..1000 {
            let size = task.size_of(file).get();
            assert!((1 << 10..=100 << 20).contains(&size), "{size}");
            logarithms.push((size as f64).ln());
        }
        let (least, most) = (1024_f64.ln(), f64::from(100 << 20).ln());
        let mean = logarithms.iter().sum::<f64>() / 1000.0;
        assert!((mean - f64::midpoint(least, most)).abs() < 0.1, "{mean}");
        // The deviation of the mean of four even ones; of a normal one 68 % are nearer, and 95 % nearer
        // than twice that.
        let deviation = (most - least) / 48_f64.sqrt();
        for (times, expected) in [(1.0, 683.0), (2.0, 954.0)] {
            let near = |one: &&f64| (**one - mean).abs() < times * deviation;
            let found = logarithms.iter().filter(near).count() as f64;
            assert!((found - expected).abs() < 30.0, "{found} within {times}");
        }
    }

    #[test]
    fn sizes_that_differ_are_spread_evenly_over_their_doublings() {
        let task = copy(1000, 1, 1 << 10, Some(1 << 20));
        let mut doublings = [0; 10];
        for file in 0..1000 {
            let size = task.size_of(file).get();
            assert!((1 << 10..=1 << 20).contains(&size), "{size}");
            doublings[(size.ilog2() as usize - 10).min(9)] += 1;
        }
        assert!(
            doublings.iter().all(|count| (95..=105).contains(count)),
            "{doublings:?}"
        );
        assert_eq!(copy(3, 1, 7, None).bytes().get(), 21);
    }

    #[test]
    fn tasks_that_make_no_sense_are_refused() {
        let play = |frame, per_second, frames, ahead, streams| {
            Task::Play(PlayTask {
                frame: Bytes::new(frame),
                per_second,
                frames,
                ahead,
                streams,
            })
        };
        assert_eq!(Task::Copy(copy(1, 0, 1, None)).check(), Ok(()));
        assert_eq!(play(1, 24, 1, 1, 1).check(), Ok(()));
        for task in [
            Task::Copy(copy(2, 0, 1, None)),
            Task::Copy(copy(2, 3, 1, None)),
            Task::Copy(copy(2, 1, 0, None)),
            Task::Copy(copy(2, 1, 5, Some(4))),
            Task::Copy(copy(1, 0, u64::MAX, None)),
            Task::Copy(copy(1_000_000, 1, 1 << 40, None)),
            Task::Copy(copy(2, 1, 1, Some(u64::MAX))),
            Task::Copy(CopyTask {
                spread: Spread::LogNormal,
                ..copy(2, 1, 1, None)
            }),
            Task::Create(0),
            Task::Lock(1_000_001),
            Task::List(ListTask {
                entries: 1,
                times: 0,
            }),
            play(0, 24, 1, 1, 1),
            play(1, 0, 1, 1, 1),
            play(1, 24, 0, 1, 1),
            play(1, 24, 1, 0, 1),
            play(1, 24, 1, 1, 65),
            play(u64::MAX, 24, 2, 1, 1),
        ] {
            assert!(task.check().is_err(), "{task:?}");
        }
    }
}
