//! Playing frames: each is a file of its own that must be read before it is due.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use record::{Bytes, Nanoseconds, PlayTask, Playback};

use super::{Done, Reached, Work};
use crate::interval_sampling::Meter;
use crate::queue_depth_and_latency::Histogram;
use crate::{Error, Stop};

/// How often somebody who waits looks.
const LOOK: Duration = Duration::from_millis(1);

/// What players have in common.
struct Players<'a> {
    work: &'a Work<'a>,
    task: &'a PlayTask,
    seconds: Duration,
    /// Players that have read all they may read ahead.
    ready: AtomicU32,
    /// Set once all of them have: the clock begins.
    began: OnceLock<(Instant, Mutex<Option<Meter>>)>,
    /// One of them could not go on.
    over: AtomicBool,
    stop: &'a Stop,
    reading: smb::Stop,
}

/// When one player had each frame, and how long reading it took.
type Played = Vec<(Instant, Duration)>;

impl Work<'_> {
    /// Plays them for the counted time.
    pub(super) fn play(&self, task: &PlayTask, reached: &Reached) -> Result<Done, Error> {
        for frame in 0..task.frames {
            self.write(self.scratch, &name(frame), frame, task.frame.get())?;
        }
        self.scratch.forget()?;
        let before = reached.channels();
        let players = Players {
            work: self,
            task,
            seconds: self.spans.measured,
            ready: AtomicU32::new(0),
            began: OnceLock::new(),
            over: AtomicBool::new(false),
            stop: self.stop,
            reading: smb::Stop::new(),
        };
        let (played, meter) = players.run()?;
        let (began, meter) = meter;
        let result = judge(task, players.seconds, began, &played);
        let mut sample = meter.finish(result.bytes);
        sample.duration = result.counted.into();
        Ok(Done {
            sample,
            latency: result.times.summary(),
            first_byte: None,
            playback: Some(result.playback),
            connections: reached.connections(&before, self.workload.direction),
            session: reached.agreed(),
        })
    }
}

fn name(frame: u32) -> String {
    format!("frame.{frame:06}.dpx")
}

impl Players<'_> {
    /// Runs them all, and gives what they had and the moment at which the clock began.
    fn run(&self) -> Result<(Vec<Played>, (Instant, Meter)), Error> {
        let played = thread::scope(|scope| {
            let play = |stream| scope.spawn(move || self.stream(stream));
            let players: Vec<_> = (0..self.task.streams).map(play).collect();
            while !players.iter().all(thread::ScopedJoinHandle::is_finished) {
                if self.stop.is_asked() {
                    self.reading.stop();
                }
                thread::sleep(LOOK);
            }
            let ended = players.into_iter().map(|player| {
                // A panic of a player is ours as well.
                player
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            ended.collect::<Result<Vec<Played>, Error>>()
        })?;
        let meter = self.began.get().and_then(|(began, meter)| {
            let meter = meter.lock().unwrap_or_else(PoisonError::into_inner).take();
            Some((*began, meter?))
        });
        Ok((played, meter.ok_or(Error::Stopped)?))
    }

    fn stream(&self, stream: u32) -> Result<Played, Error> {
        let played = self.read_in_time(stream);
        if played.is_err() {
            self.over.store(true, Ordering::Relaxed);
            self.reading.stop();
        }
        played
    }

    /// Reads one frame after the other, none earlier than may be.
    fn read_in_time(&self, stream: u32) -> Result<Played, Error> {
        let task = self.task;
        let mut played = Played::new();
        // Each player begins at another frame, so that they do not read for each other.
        let first = u64::from(stream) * u64::from(task.frames) / u64::from(task.streams);
        loop {
            let number = played.len() as u64;
            if number == u64::from(task.ahead) {
                self.wait_for_all()?;
            }
            if let Some((began, _)) = self.began.get() {
                let early = number.saturating_sub(task.ahead.into());
                let may = *began + due(task, early);
                let end = *began + self.seconds;
                self.wait_until(may.min(end))?;
                if Instant::now() >= end {
                    return Ok(played);
                }
            }
            let frame = u32::try_from((first + number) % u64::from(task.frames)).unwrap_or(0);
            let begin = Instant::now();
            let scratch = self.work.scratch;
            scratch.read(&name(frame), task.frame.get(), &self.reading)?;
            self.work.go_on()?;
            played.push((Instant::now(), begin.elapsed()));
        }
    }

    fn wait_for_all(&self) -> Result<(), Error> {
        if self.ready.fetch_add(1, Ordering::AcqRel) + 1 == self.task.streams {
            let meter = Mutex::new(Some(Meter::start()));
            self.began.get_or_init(|| (Instant::now(), meter));
        }
        while self.began.get().is_none() {
            self.pause()?;
        }
        Ok(())
    }

    fn wait_until(&self, moment: Instant) -> Result<(), Error> {
        while Instant::now() < moment {
            self.pause()?;
        }
        Ok(())
    }

    fn pause(&self) -> Result<(), Error> {
        if self.over.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        self.work.go_on()?;
        thread::sleep(LOOK);
        Ok(())
    }
}

/// When a frame is due, after the clock began.
fn due(task: &PlayTask, frame: u64) -> Duration {
    Duration::from_secs_f64(frame as f64 / f64::from(task.per_second))
}

/// What became of all frames.
struct Judged {
    playback: Playback,
    /// Frames that came while the clock ran.
    times: Histogram,
    bytes: Bytes,
    /// The time they came in.
    counted: Duration,
}

fn judge(task: &PlayTask, seconds: Duration, began: Instant, players: &[Played]) -> Judged {
    let end = began + seconds;
    let wanted = (seconds.as_secs_f64() * f64::from(task.per_second)) as u64;
    let (mut missed, mut stall_max) = (0, Duration::ZERO);
    let (mut times, mut frames, mut last) = (Histogram::new(), 0, began);
    for played in players {
        for frame in 0..wanted {
            let arrived = played.get(frame as usize).map_or(end, |(at, _)| *at);
            let late = arrived
                .min(end)
                .saturating_duration_since(began + due(task, frame));
            if arrived >= end || !late.is_zero() {
                missed += 1;
                stall_max = stall_max.max(late);
            }
        }
        for (at, time) in played.iter().filter(|(at, _)| (began..=end).contains(at)) {
            frames += 1;
            times.add(*time);
            last = last.max(*at);
        }
    }
    // The clock says when a player in time ends; one that is late ends with its last frame.
    let counted = if missed == 0 { seconds } else { last - began };
    Judged {
        playback: Playback {
            due: wanted * players.len() as u64,
            missed,
            stall_max: Nanoseconds::from(stall_max),
        },
        times,
        bytes: Bytes::new(frames * task.frame.get()),
        counted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: PlayTask = PlayTask {
        frame: Bytes::new(1000),
        per_second: 10,
        frames: 5,
        ahead: 2,
        streams: 1,
    };

    /// Frames that come at these milliseconds after the clock began.
    fn played(began: Instant, at: &[u64]) -> Played {
        let time = Duration::from_millis(7);
        at.iter()
            .map(|at| (began + Duration::from_millis(*at), time))
            .collect()
    }

    #[test]
    fn a_player_in_time_misses_nothing() {
        let began = Instant::now() + Duration::from_secs(1);
        let before = [(began - Duration::from_millis(50), Duration::from_millis(7)); 2];
        let after: Vec<u64> = (0..10).map(|frame| frame * 100 + 7).collect();
        let all = [before.to_vec(), played(began, &after)].concat();
        let judged = judge(&TASK, Duration::from_secs(1), began, &[all]);
        assert_eq!((judged.playback.due, judged.playback.missed), (10, 0));
        assert_eq!(judged.bytes.get(), 10_000);
        assert_eq!(judged.counted, Duration::from_secs(1));
        assert_eq!(judged.times.summary().unwrap().operations, 10);
    }

    #[test]
    fn frames_that_come_late_or_never_are_missed() {
        let began = Instant::now() + Duration::from_secs(1);
        // The first two were there; each of the others takes 250 ms, and four come at all.
        let all = played(began, &[0, 0, 250, 500, 750, 1000]);
        let judged = judge(&TASK, Duration::from_secs(1), began, &[all]);
        assert_eq!((judged.playback.due, judged.playback.missed), (10, 8));
        // The one that came at the very end was due in the middle.
        assert_eq!(judged.playback.stall_max.get(), 500_000_000);
        assert_eq!(judged.counted, Duration::from_secs(1));
        assert_eq!(judged.times.summary().unwrap().operations, 6);
    }
}
