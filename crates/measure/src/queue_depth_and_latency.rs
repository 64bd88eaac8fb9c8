//! Operations of their own on a file of a share: so many threads with so many under way in each,
//! every one begun when the one before it has ended, and the time that each of them takes.

use std::iter;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use locale::{Message, say};
use record::{Direction, Latency, Nanoseconds, Operations, Pattern};
use smb::File;

use crate::{Error, fill_random};

/// The most threads.
const THREADS_MAX: u32 = 64;
/// The most operations under way in all threads.
const UNDER_WAY_MAX: u32 = 512;
/// Bits of a latency that are kept: one part of 64.
const PRECISION_BITS: u32 = 6;
/// Latencies of the same leading bits share a bucket.
const BUCKETS: usize = (64 - PRECISION_BITS as usize + 1) << PRECISION_BITS;

/// How many operations are under way at once.
///
/// # Errors
/// [`Error::Usage`] where that makes no sense.
pub(crate) fn in_flight(operations: &Operations, depth: u32) -> Result<u32, Error> {
    let usage = |reason: Message| Err(Error::Usage { reason });
    if !(1..=THREADS_MAX).contains(&operations.threads) {
        return usage(
            say("error-measure.usage-threads")
                .count("threads", operations.threads)
                .count("most", THREADS_MAX),
        );
    }
    let in_flight = operations.threads.saturating_mul(depth);
    if !(1..=UNDER_WAY_MAX).contains(&in_flight) {
        return usage(
            say("error-measure.usage-under-way")
                .count("operations", in_flight)
                .count("most", UNDER_WAY_MAX),
        );
    }
    if operations.opposite_percent > 99 {
        return usage(say("error-measure.usage-opposite"));
    }
    Ok(in_flight)
}

/// Operations on one file, while they run.
pub(crate) struct Workers<'a> {
    pub(crate) file: &'a File,
    pub(crate) operations: &'a Operations,
    pub(crate) direction: Direction,
    pub(crate) block: u64,
    pub(crate) file_size: u64,
    pub(crate) in_flight: u32,
    pub(crate) stop: &'a smb::Stop,
    pub(crate) clock: &'a Clock,
    pub(crate) fill: &'a (dyn Fn(u64, &mut [u8]) + Sync),
}

/// What operations took, while time is counted.
pub(crate) struct Clock {
    counts: AtomicBool,
    times: Mutex<Histogram>,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            counts: AtomicBool::new(false),
            times: Mutex::new(Histogram::new()),
        }
    }

    /// From now on, or until now.
    pub(crate) fn count(&self, counts: bool) {
        self.counts.store(counts, Ordering::Relaxed);
    }

    /// What was counted; none without any operation.
    pub(crate) fn latency(&self) -> Option<Latency> {
        lock(&self.times).summary()
    }
}

fn lock(times: &Mutex<Histogram>) -> std::sync::MutexGuard<'_, Histogram> {
    times
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Workers<'_> {
    /// Runs them until they are stopped or one of them fails.
    pub(crate) fn run(&self, begun: &(dyn Fn() + Sync)) -> Result<(), Error> {
        let next = AtomicU64::new(0);
        let mut seeds = vec![0; 8 * self.in_flight as usize];
        fill_random(&mut seeds)?;
        let mut result = Ok(());
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for seed in seeds.chunks_exact(8) {
                let random = Random(seed.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)));
                let work = || self.work(random, &next, begun);
                match thread::Builder::new().spawn_scoped(scope, work) {
                    Ok(thread) => threads.push(thread),
                    Err(source) => {
                        self.stop.stop();
                        result = Err(Error::System {
                            action: say("error-measure.start-thread"),
                            source,
                        });
                        break;
                    }
                }
            }
            for thread in threads {
                // A panic of a worker is ours as well.
                let ended = thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                if let (Ok(()), Err(error)) = (&result, ended) {
                    result = Err(error.into());
                }
            }
        });
        result
    }

    fn work(
        &self,
        mut random: Random,
        next: &AtomicU64,
        begun: &(dyn Fn() + Sync),
    ) -> Result<(), smb::Error> {
        let mut times = Histogram::new();
        let mut result = Ok(());
        while !self.stop.is_stopped() {
            let range = self.place(&mut random, next);
            let other_way = random.below(100) < u64::from(self.operations.opposite_percent);
            let begin = Instant::now();
            let done = match (self.direction, other_way) {
                (Direction::Read, false) | (Direction::Write, true) => self.read(range),
                (Direction::Write, false) | (Direction::Read, true) => self.write(range),
            };
            if let Err(error) = done {
                // Whoever stopped us knows; anything else ends the others too.
                if !self.stop.is_stopped() {
                    self.stop.stop();
                    result = Err(error);
                }
                break;
            }
            begun();
            if self.clock.counts.load(Ordering::Relaxed) {
                times.add(begin.elapsed());
            }
        }
        lock(&self.clock.times).take(&times);
        result
    }

    fn place(&self, random: &mut Random, next: &AtomicU64) -> Range<u64> {
        let blocks = (self.file_size / self.block).max(1);
        let block = match self.operations.pattern {
            Pattern::Sequential => next.fetch_add(1, Ordering::Relaxed) % blocks,
            Pattern::Random => random.below(blocks),
        };
        block * self.block..(block + 1) * self.block
    }

    fn read(&self, range: Range<u64>) -> Result<(), smb::Error> {
        let mut pieces = self.file.read_ranges(iter::once(range), self.stop);
        pieces.try_for_each(|piece| piece.map(drop))
    }

    fn write(&self, range: Range<u64>) -> Result<(), smb::Error> {
        let fill = |offset, room: &mut [u8]| {
            (self.fill)(offset, room);
            Ok(())
        };
        let written = self.file.write_ranges(iter::once(range), self.stop, fill);
        written.map(drop)
    }
}

/// Numbers that only have to be spread well (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }
}

/// How many operations took how long, to one part of 64.
pub(crate) struct Histogram {
    buckets: Vec<u64>,
    operations: u64,
    sum: u128,
    max: u64,
}

impl Histogram {
    pub(crate) fn new() -> Self {
        Self {
            buckets: vec![0; BUCKETS],
            operations: 0,
            sum: 0,
            max: 0,
        }
    }

    pub(crate) fn add(&mut self, time: Duration) {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.buckets[bucket(time)] += 1;
        self.operations += 1;
        self.sum += u128::from(time);
        self.max = self.max.max(time);
    }

    fn take(&mut self, other: &Self) {
        for (ours, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *ours += theirs;
        }
        self.operations += other.operations;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    pub(crate) fn summary(&self) -> Option<Latency> {
        let mean = self.sum.checked_div(u128::from(self.operations))?;
        let below = |share: f64| {
            let wanted = (self.operations as f64 * share).ceil().max(1.0) as u64;
            let mut seen = 0;
            let found = self.buckets.iter().position(|count| {
                seen += count;
                seen >= wanted
            });
            Nanoseconds::new(found.map_or(self.max, largest_in).min(self.max))
        };
        Some(Latency {
            operations: self.operations,
            mean: Nanoseconds::new(u64::try_from(mean).unwrap_or(u64::MAX)),
            p50: below(0.5),
            p95: below(0.95),
            p99: below(0.99),
            p999: below(0.999),
            max: Nanoseconds::new(self.max),
        })
    }
}

/// Which bucket a time is counted in: its leading bits and how many there are.
fn bucket(time: u64) -> usize {
    let bits = 64 - time.leading_zeros();
    let shift = bits.saturating_sub(PRECISION_BITS + 1);
    ((shift as usize) << PRECISION_BITS) + (time >> shift) as usize
}

/// The longest time in a bucket.
fn largest_in(bucket: usize) -> u64 {
    let shift = (bucket >> PRECISION_BITS).saturating_sub(1);
    let leading = (bucket - (shift << PRECISION_BITS)) as u64;
    ((leading + 1) << shift).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_share_a_bucket_with_times_a_64th_longer_at_most() {
        let mut before = 0;
        for time in (0..200_000)
            .chain((200_000..u64::MAX / 2).step_by(1 << 55))
            .chain([u64::MAX])
        {
            let found = bucket(time);
            assert!(found >= before && found < BUCKETS, "{time}");
            let largest = largest_in(found);
            assert!(
                largest >= time && largest - time <= time / 64,
                "{time}: {largest}"
            );
            assert_eq!(bucket(largest), found, "{time}");
            before = found;
        }
    }

    #[test]
    fn percentiles_are_those_of_the_times() {
        let (mut one, mut other) = (Histogram::new(), Histogram::new());
        assert_eq!(one.summary(), None);
        for micros in 1..=1000 {
            let half = if micros % 2 == 0 {
                &mut one
            } else {
                &mut other
            };
            half.add(Duration::from_micros(micros));
        }
        one.take(&other);
        let found = one.summary().unwrap();
        assert_eq!(
            (found.operations, found.mean.get(), found.max.get()),
            (1000, 500_500, 1_000_000)
        );
        for (found, micros) in [
            (found.p50, 500),
            (found.p95, 950),
            (found.p99, 990),
            (found.p999, 999),
        ] {
            let ratio = found.get() as f64 / (micros * 1000) as f64;
            assert!(
                (1.0..1.0 + 1.0 / 64.0).contains(&ratio),
                "{micros}: {found:?}"
            );
        }
    }

    #[test]
    fn what_is_under_way_is_bounded() {
        let operations = |threads, opposite_percent| Operations {
            pattern: Pattern::Random,
            threads,
            opposite_percent,
            data: record::Data::Random,
            cache: record::Cache::Direct,
            write_through: false,
            file: None,
        };
        assert_eq!(in_flight(&operations(16, 30), 32).ok(), Some(512));
        for (threads, depth, other) in [
            (0, 1, 0),
            (65, 1, 0),
            (1, 0, 0),
            (16, 33, 0),
            (64, u32::MAX, 0),
            (1, 1, 100),
        ] {
            let refused = in_flight(&operations(threads, other), depth);
            assert!(
                matches!(refused, Err(Error::Usage { .. })),
                "{threads} {depth} {other}"
            );
        }
    }

    #[test]
    fn random_numbers_reach_everything_below_their_bound() {
        let mut random = Random(7);
        let mut seen = [0; 10];
        for _ in 0..1000 {
            seen[random.below(10) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
    }
}
