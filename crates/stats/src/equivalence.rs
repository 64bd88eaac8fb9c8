//! Verdicts: what an interval says against a band of practical equivalence.

use locale::{Message, say};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Estimate;

/// What an interval says against the band of practical equivalence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better, by more than nothing and not shown to be within the band.
    Better,
    /// Worse.
    Worse,
    /// No difference that matters: the whole interval is inside the band.
    Equivalent,
    /// Cannot tell yet.
    Undecided,
}

impl Verdict {
    /// Its name, as files and JSON have it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Equivalent => "equivalent",
            Self::Undecided => "undecided",
        }
    }
}

impl From<Verdict> for Message {
    fn from(verdict: Verdict) -> Self {
        say(match verdict {
            Verdict::Better => "verdict.better",
            Verdict::Worse => "verdict.worse",
            Verdict::Equivalent => "verdict.equivalent",
            Verdict::Undecided => "verdict.undecided",
        })
    }
}

/// What a ratio means against the band of practical equivalence `[1 / (1 + band), 1 + band]`.
///
/// The rule is fixed: equivalent when the whole interval is inside the band (two one-sided tests,
/// each at half the error that is left); otherwise better when it is entirely above 1, worse when it
/// is entirely below; everything else, and any interval of less than the confidence asked, is
/// undecided.
#[must_use]
pub fn verdict(ratio: &Estimate, band: f64, confidence: f64) -> Verdict {
    let Some([low, high]) = ratio.defended(confidence) else {
        return Verdict::Undecided;
    };
    let top = 1.0 + band.max(0.0);
    if low >= 1.0 / top && high <= top {
        Verdict::Equivalent
    } else if low > 1.0 {
        Verdict::Better
    } else if high < 1.0 {
        Verdict::Worse
    } else {
        Verdict::Undecided
    }
}

/// Whether baseline against baseline is so far off that nothing else here can be believed: its
/// interval excludes 1 and shares nothing with the band, so the false difference is shown to be one
/// that matters.
#[must_use]
pub fn alarm(ratio: &Estimate, band: f64, confidence: f64) -> bool {
    let top = 1.0 + band.max(0.0);
    ratio
        .defended(confidence)
        .is_some_and(|[low, high]| low > top || high < 1.0 / top)
}
