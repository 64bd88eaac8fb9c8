//! Why an experiment could not be run or finished.

use record::Failure;

/// Why an experiment could not be run or finished. Unless it says otherwise, everything is as it was
/// at the start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The plan makes no sense; nothing was touched.
    #[error("this plan cannot be run: {reason}")]
    Plan {
        /// What is wrong with it.
        reason: String,
    },
    /// The settings could not be read at the start; nothing was touched.
    #[error("cannot read the settings at the start: {}", text(failure))]
    Start {
        /// Why.
        failure: Failure,
    },
    /// The run file could not be written; everything was put back.
    #[error("cannot go on without the run file; everything was put back")]
    Record {
        /// Why.
        #[from]
        source: record::Error,
    },
    /// What was changed could not be put back: the one error that needs a hand.
    #[error("what was changed could not be put back: {}", text(failure))]
    NotRestored {
        /// Why.
        failure: Failure,
        /// What ended the experiment before, if it was the run file.
        #[source]
        before: Option<record::Error>,
    },
}

/// A failure's causes in one line.
pub(crate) fn text(failure: &Failure) -> String {
    if failure.chain.is_empty() {
        "no reason was given".into()
    } else {
        failure.chain.join(": ")
    }
}
