//! Estimates: a number with all that is needed to defend it.

use locale::Message;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// The unit of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Payload bytes per second.
    BytesPerSecond,
    /// A ratio; above 1 is better.
    Ratio,
    /// Processor seconds per byte.
    SecondsPerByte,
    /// Seconds.
    Seconds,
    /// Operations per second.
    OperationsPerSecond,
    /// Frames per second of one player.
    FramesPerSecond,
}

/// An estimate with all that is needed to defend it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// The estimate; in JSON null where it is not finite.
    #[schemars(with = "Option<f64>")]
    pub value: f64,
    /// `[low, high]`; none where too few trials were run for any interval.
    #[serde(serialize_with = "finite")]
    pub interval: Option<[f64; 2]>,
    /// Confidence the interval really reaches, 0 to 1.
    pub confidence: Option<f64>,
    /// Independent trials, or blocks, behind it; 0 where it was computed from facts.
    pub n: usize,
    /// Unit of the numbers.
    pub unit: Unit,
    /// What a reader must know: outliers, drift, too few trials.
    pub caveats: Vec<Message>,
}

/// In JSON an interval has two numbers, or it is null.
fn finite<S: Serializer>(interval: &Option<[f64; 2]>, serializer: S) -> Result<S::Ok, S::Error> {
    let interval = interval.filter(|ends| ends.iter().all(|end| end.is_finite()));
    interval.serialize(serializer)
}

/// A number that was computed from facts, not measured.
#[must_use]
pub fn computed(value: f64, unit: Unit, caveats: Vec<Message>) -> Estimate {
    Estimate {
        value,
        interval: None,
        confidence: None,
        n: 0,
        unit,
        caveats,
    }
}

/// One estimate as a share of another of an independent sample. Both intervals hold together at
/// least as often as neither is missed (Bonferroni), so the confidence is lower than theirs.
#[must_use]
pub fn quotient(part: &Estimate, whole: &Estimate) -> Option<Estimate> {
    let value = part.value / whole.value;
    if !value.is_finite() || whole.value <= 0.0 {
        return None;
    }
    // A computed number has no interval and no error of its own.
    let computed = whole.n == 0;
    let bounds = if computed {
        Some([whole.value; 2])
    } else {
        whole.interval
    };
    let missed = |estimate: &Estimate| estimate.confidence.map(|confidence| 1.0 - confidence);
    let missed_whole = if computed { Some(0.0) } else { missed(whole) };
    let confidence = missed(part)
        .zip(missed_whole)
        .map(|(part, whole)| 1.0 - part - whole)
        .filter(|&confidence| confidence > 0.0);
    let interval = part
        .interval
        .zip(bounds)
        .filter(|_| confidence.is_some())
        .map(|(part, whole)| [part[0] / whole[1], part[1] / whole[0]])
        .filter(|ends| ends.iter().all(|end| end.is_finite()));
    Some(Estimate {
        value,
        interval,
        confidence: interval.and(confidence),
        n: if computed {
            part.n
        } else {
            part.n.min(whole.n)
        },
        unit: Unit::Ratio,
        caveats: Vec::new(),
    })
}

impl Estimate {
    /// The interval, if it reaches the confidence asked.
    #[must_use]
    pub fn defended(&self, confidence: f64) -> Option<[f64; 2]> {
        let reached = self.confidence?;
        // Sums of binary fractions are exact here; the slack is for callers' own arithmetic.
        (reached + 1e-12 >= confidence)
            .then_some(self.interval)
            .flatten()
    }
}
