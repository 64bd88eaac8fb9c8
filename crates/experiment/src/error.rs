//! Why an experiment could not be run or finished.

use std::fmt;

use locale::{Language, Message, say};
use record::Failure;

/// Why an experiment could not be run or finished. Unless it says otherwise, everything is as it was
/// at the start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The plan makes no sense; nothing was touched.
    Plan {
        /// What is wrong with it.
        reason: Message,
    },
    /// The settings could not be read at the start; nothing was touched.
    Start {
        /// Why.
        failure: Failure,
    },
    /// The run file could not be written; everything was put back.
    Record {
        /// Why.
        #[from]
        source: record::Error,
    },
    /// What was changed could not be put back: the one error that needs a hand.
    NotRestored {
        /// Why.
        failure: Box<Failure>,
        /// What ended the experiment before, if it was the run file.
        #[source]
        before: Option<record::Error>,
    },
}

impl Error {
    /// What happened, as something that can be said in any language.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            Self::Plan { reason } => say("error-experiment.plan").with("reason", reason.clone()),
            Self::Start { failure } => say("error-experiment.start").with("reason", why(failure)),
            Self::Record { .. } => say("error-experiment.record"),
            Self::NotRestored { failure, .. } => {
                say("error-experiment.not-restored").with("reason", why(failure))
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.message()))
    }
}

/// A failure's causes in one line, as something that can be said in any language.
pub(crate) fn why(failure: &Failure) -> Message {
    let whole = failure.chain_message();
    whole.unwrap_or_else(|| say("error-experiment.no-reason"))
}
