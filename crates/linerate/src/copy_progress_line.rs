//! How fast a copy is at this moment, as its progress line tells it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use locale::{said, say};
use report::quantity;
use smb::copy::Progress;

/// Rates are those of about so long a time.
const WINDOW: Duration = Duration::from_secs(2);
/// Rates of more channels than this are not listed one by one.
const LISTED_MAX: usize = 4;
/// Slower than this nothing is foretold: a byte per second.
const RATE_MIN: f64 = 1.0;

/// Counters of the last moments.
pub struct Meter {
    samples: VecDeque<(Instant, Vec<u64>, u64)>,
}

impl Meter {
    /// One that knows nothing yet.
    pub const fn new() -> Self {
        Self {
            samples: VecDeque::new(),
        }
    }

    /// Takes what each channel, and the copy as a whole, has moved by now.
    pub fn sample(&mut self, now: Instant, channels: Vec<u64>, moved: u64) {
        self.samples.push_back((now, channels, moved));
        while self.samples.len() > 2
            && self
                .samples
                .get(1)
                .is_some_and(|(at, ..)| now.duration_since(*at) >= WINDOW)
        {
            self.samples.pop_front();
        }
    }

    /// Time left, rate, rates of the channels and files, as far as they are known.
    pub fn line(&self, progress: &Progress) -> String {
        let mut parts = Vec::new();
        if let (Some((from, before, moved_before)), Some((to, after, moved))) =
            (self.samples.front(), self.samples.back())
            && to > from
        {
            let seconds = to.duration_since(*from).as_secs_f64();
            let rate = moved.saturating_sub(*moved_before) as f64 / seconds;
            // A channel that is new has moved nothing before.
            let channels = after.iter().enumerate().map(|(index, after)| {
                let before = before.get(index).copied().unwrap_or(0);
                after.saturating_sub(before) as f64 / seconds
            });
            // What matters most comes first: a narrow terminal cuts off the end.
            parts.extend(time_left(progress, rate));
            parts.push(rates(rate, &channels.collect::<Vec<_>>()));
        }
        if progress.files_total() > 1 {
            let (done, total) = (progress.files_done(), progress.files_total());
            let sentence = say(match progress.is_planned() {
                true => "told-check.files",
                false => "told-check.files-so-far",
            });
            parts.push(said(&sentence.count("done", done).count("total", total)));
        }
        parts.join(", ")
    }
}

fn rates(rate: f64, channels: &[f64]) -> String {
    let all = quantity::rate(rate);
    match channels.len() {
        0 | 1 => all,
        2..=LISTED_MAX => {
            let each: Vec<String> = channels.iter().map(|rate| quantity::rate(*rate)).collect();
            format!("{all} ({})", each.join(" + "))
        }
        count => said(
            &say("told-check.rate-of-channels")
                .with("rate", all)
                .count("count", count),
        ),
    }
}

/// None while nothing moves; at least so long while folders are still being looked into.
fn time_left(progress: &Progress, rate: f64) -> Option<String> {
    if rate < RATE_MIN {
        return None;
    }
    let bytes = progress.total().saturating_sub(progress.moved());
    let seconds = (bytes as f64 / rate).ceil();
    let time = match seconds as u64 {
        seconds @ 0..120 => say("told-check.seconds").count("count", seconds),
        seconds @ 120..7200 => say("told-check.minutes").count("count", seconds.div_ceil(60)),
        seconds => say("told-check.hours").count("count", seconds.div_ceil(3600)),
    };
    let sentence = say(match progress.is_planned() {
        true => "told-check.time-left",
        false => "told-check.time-left-at-least",
    });
    Some(said(&sentence.with("time", time)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_last_moments_and_of_each_channel() {
        let (mut meter, progress, begin) = (Meter::new(), Progress::default(), Instant::now());
        assert_eq!(meter.line(&progress), "");
        for second in 0..10 {
            // The second channel comes later and is half as fast.
            let mut channels = vec![second * 100_000_000];
            channels.extend((second > 5).then(|| (second - 5) * 50_000_000));
            let moved = channels.iter().sum();
            meter.sample(begin + Duration::from_secs(second), channels, moved);
        }
        let line = meter.line(&progress);
        assert_eq!(
            line,
            "at least 0 s left, 150.0 MB/s (100.0 MB/s + 50.0 MB/s)"
        );
        assert!(meter.samples.len() <= 4, "{}", meter.samples.len());
    }

    #[test]
    fn many_channels_are_only_counted() {
        assert_eq!(rates(1e9, &[1e8; 8]), "1000 MB/s over 8 channels");
    }
}
