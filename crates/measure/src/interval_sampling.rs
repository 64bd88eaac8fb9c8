//! Cutting the counted time into samples.

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use locale::{Message, say};
use record::{Bytes, Nanoseconds, Sample, Timing, TrialLine};

use crate::Error;

/// Longest warm-up, and longest counted time.
const SPAN_MAX: Duration = Duration::from_secs(3600);
/// Shortest sample: below it the clock and the scheduler are what is measured.
const INTERVAL_MIN: Duration = Duration::from_millis(10);
/// Longest that a border between two samples waits for a moment that suits it: an answer of 1 MiB takes
/// 90 ms at 100 Mbit/s.
const ALIGNMENT_MAX: Duration = Duration::from_millis(300);
/// Most samples of one trial.
const SAMPLES_MAX: u128 = 100_000;

/// How long a trial lasts, once it is known to make sense.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spans {
    pub(crate) warm_up: Duration,
    pub(crate) measured: Duration,
    interval: Duration,
}

impl Spans {
    pub(crate) fn new(timing: &Timing) -> Result<Self, Error> {
        let spans = Self {
            warm_up: timing.warm_up.into(),
            measured: timing.measured.into(),
            interval: timing.interval.into(),
        };
        let usage = |reason: Message| Err(Error::Usage { reason });
        if spans.warm_up > SPAN_MAX || spans.measured > SPAN_MAX {
            return usage(say("error-measure.usage-spans").with("most", format!("{SPAN_MAX:?}")));
        }
        if spans.interval < INTERVAL_MIN || spans.interval > spans.measured {
            return usage(
                say("error-measure.usage-interval")
                    .with("interval", format!("{:?}", spans.interval))
                    .with("least", format!("{INTERVAL_MIN:?}"))
                    .with("measured", format!("{:?}", spans.measured)),
            );
        }
        if spans.measured.as_nanos() / spans.interval.as_nanos() > SAMPLES_MAX {
            return usage(say("error-measure.usage-samples").count("most", SAMPLES_MAX));
        }
        Ok(spans)
    }

    /// How long a border between two samples may wait for a moment that suits it.
    pub(crate) fn alignment(&self) -> Duration {
        ALIGNMENT_MAX.min(self.measured / 2)
    }

    /// When the sample should end that begins at `begun`, where it should have begun at `nominal`; none
    /// when the counted time is over. A machine that stands still lets us come late: borders of which
    /// less than half the sample is left are passed over, since what came in so short a time says
    /// nothing about a rate.
    fn next_border(&self, nominal: Duration, begun: Duration) -> Option<Duration> {
        let mut start = nominal;
        while start < self.measured {
            let end = self.measured.min(start + self.interval);
            if begun + (end - start) / 2 <= end {
                return Some(end);
            }
            start = end;
        }
        None
    }

    /// From the first byte to the end of the counted time.
    pub(crate) fn whole(&self) -> Duration {
        self.warm_up + self.measured
    }
}

/// Everything that is read at the border of two samples.
struct Border {
    at: Instant,
    bytes: u64,
    cpu: Duration,
    retransmits: Option<u64>,
}

impl Border {
    fn now(payload: &mut dyn FnMut() -> u64) -> Self {
        // The payload first, then the clock: both are read within microseconds of each other, once
        // per border, so that what one sample loses the next one gains.
        let bytes = payload();
        let at = Instant::now();
        Self {
            at,
            bytes,
            cpu: cpu(),
            retransmits: segments_sent_again(),
        }
    }
}

/// Work that ends by itself, counted as one sample from its begin to its end.
pub(crate) struct Meter(Border);

impl Meter {
    pub(crate) fn start() -> Self {
        Self(Border::now(&mut || 0))
    }

    pub(crate) fn finish(self, bytes: Bytes) -> Sample {
        let after = Border::now(&mut || bytes.get());
        between(self.0.at, &self.0, &after)
    }
}

/// Runs through warm-up and counted time, which began with the first payload at `begin`, and gives
/// the samples. `payload` is the total so far; `wait` returns when the time has come, or with the
/// error that ended the run.
pub(crate) fn count(
    spans: &Spans,
    begin: Instant,
    payload: &mut dyn FnMut() -> u64,
    wait: &mut dyn FnMut(Instant) -> Result<(), Error>,
    emit: &mut dyn FnMut(&TrialLine),
) -> Result<Vec<Sample>, Error> {
    wait(begin + spans.warm_up)?;
    let first = Border::now(payload);
    let counted_from = first.at;
    let mut before = first;
    let mut samples = Vec::new();
    let mut nominal = Duration::ZERO;
    while let Some(next) = spans.next_border(nominal, before.at - counted_from) {
        nominal = next;
        wait(counted_from + nominal)?;
        let after = Border::now(payload);
        let sample = between(counted_from, &before, &after);
        emit(&TrialLine::Sample(sample.clone()));
        samples.push(sample);
        before = after;
    }
    Ok(samples)
}

fn between(counted_from: Instant, before: &Border, after: &Border) -> Sample {
    Sample {
        at: Nanoseconds::from(before.at - counted_from),
        duration: Nanoseconds::from(after.at - before.at),
        bytes: Bytes::new(after.bytes.saturating_sub(before.bytes)),
        cpu: Nanoseconds::from(after.cpu.saturating_sub(before.cpu)),
        retransmits: before
            .retransmits
            .zip(after.retransmits)
            // A counter that begins anew says nothing.
            .and_then(|(a, b)| b.checked_sub(a)),
    }
}

/// Processor time of this process so far, user and system.
pub(crate) fn cpu() -> Duration {
    // The clock of one's own process exists on every system that this is built for.
    ProcessTime::try_now().map_or(Duration::ZERO, |now| now.as_duration())
}

/// Segments that this host has sent again since it booted. It counts for the whole network
/// namespace: other programs' connections are in it. `None` where the system does not say.
fn segments_sent_again() -> Option<u64> {
    match os::network::retransmitted_segments() {
        None => retransmits_in(&os::machine::system_file("/proc/self/net/snmp")?),
        reported => reported,
    }
}

/// `RetransSegs` of the two lines that begin with `Tcp:`, names above numbers.
pub(crate) fn retransmits_in(snmp: &str) -> Option<u64> {
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let index = names
        .split_whitespace()
        .position(|name| name == "RetransSegs")?;
    numbers.split_whitespace().nth(index)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(warm_up: u64, measured: u64, interval: u64) -> Timing {
        Timing {
            warm_up: Duration::from_millis(warm_up).into(),
            measured: Duration::from_millis(measured).into(),
            interval: Duration::from_millis(interval).into(),
        }
    }

    #[test]
    fn samples_have_no_gaps_and_add_up() {
        let spans = Spans::new(&timing(50, 250, 100)).unwrap();
        let mut total = 1000;
        let mut payload = || {
            total += 7;
            total
        };
        let mut emitted = 0;
        let begin = Instant::now();
        // The clock itself is the only thing waited for.
        let mut wait = |until: Instant| {
            while Instant::now() < until {
                std::hint::spin_loop();
            }
            Ok(())
        };
        let samples = count(&spans, begin, &mut payload, &mut wait, &mut |_| {
            emitted += 1
        })
        .unwrap();
        assert_eq!((samples.len(), emitted), (3, 3));
        assert_eq!(samples[0].at, Nanoseconds::new(0));
        for pair in samples.windows(2) {
            assert_eq!(pair[0].at + pair[0].duration, pair[1].at);
        }
        assert!(samples.iter().all(|sample| sample.bytes == Bytes::new(7)));
        let whole: Nanoseconds = samples.iter().map(|sample| sample.duration).sum();
        assert!(whole.get() >= 250_000_000);
        assert!(begin.elapsed() >= Duration::from_millis(300));
    }

    #[test]
    fn a_border_that_is_nearly_over_is_passed_over() {
        let spans = Spans::new(&timing(0, 250, 100)).unwrap();
        for (nominal, begun, expected) in [
            (0, 0, Some(100)),
            (100, 101, Some(200)),
            (100, 150, Some(200)),
            (100, 151, Some(250)),
            (100, 225, Some(250)),
            (100, 226, None),
            (200, 207, Some(250)),
            (250, 250, None),
            (250, 400, None),
        ] {
            let [nominal, begun] = [nominal, begun].map(Duration::from_millis);
            let found = spans.next_border(nominal, begun);
            let expected = expected.map(Duration::from_millis);
            assert_eq!(found, expected, "{nominal:?} {begun:?}");
        }
    }

    #[test]
    fn a_run_that_breaks_gives_its_error() {
        let spans = Spans::new(&timing(0, 20, 10)).unwrap();
        let mut wait = |_| Err(Error::Stopped);
        let broken = count(&spans, Instant::now(), &mut || 0, &mut wait, &mut |_| {});
        assert!(matches!(broken, Err(Error::Stopped)));
    }

    #[test]
    fn timings_that_make_no_sense_are_refused() {
        for (warm_up, measured, interval) in [
            (0, 0, 0),
            (0, 100, 0),
            (0, 100, 200),
            (3_700_000, 100, 100),
            (0, 3_600_001, 100),
        ] {
            let refused = Spans::new(&timing(warm_up, measured, interval));
            assert!(
                matches!(refused, Err(Error::Usage { .. })),
                "{warm_up} {measured} {interval}"
            );
        }
    }

    #[test]
    fn retransmits_are_found_by_name() {
        let text = "Ip: A B\nIp: 1 2\nTcp: RtoMin OutSegs RetransSegs InErrs\nTcp: 200 90 17 3\n";
        assert_eq!(retransmits_in(text), Some(17));
        assert_eq!(retransmits_in("Tcp: RtoMin\nTcp: 200\n"), None);
        assert_eq!(retransmits_in("Tcp: RetransSegs\n"), None);
        assert_eq!(retransmits_in("Tcp: RetransSegs\nTcp: -1\n"), None);
        assert_eq!(retransmits_in(""), None);
        assert!(segments_sent_again().is_some(), "Linux says so");
    }
}
