//! What each error says.

use std::fmt;

use locale::{Language, Message, say};

use super::{Defect, Error, FileProblem, Malformed, Operation};

impl Malformed {
    /// What is wrong, as something that can be said in any language. Names of the specification stay as they are.
    #[must_use]
    pub fn message(&self) -> Message {
        let (id, field) = match self.defect {
            Defect::Truncated => ("malformed.truncated", None),
            Defect::Invalid(field) => ("malformed.invalid", Some(field)),
            Defect::OutOfBounds(field) => ("malformed.out-of-bounds", Some(field)),
            Defect::TooLarge(field) => ("malformed.too-large", Some(field)),
        };
        say(id)
            .with("part", self.message)
            .with_known("field", field)
    }
}

impl FileProblem {
    /// What is the matter, as something that can be said in any language.
    #[must_use]
    pub fn message(self) -> Message {
        say(match self {
            Self::Unflushed => "file-problem.unflushed",
            Self::EndUnheard => "file-problem.end-unheard",
            Self::WritesLost => "file-problem.writes-lost",
            Self::Replaced => "file-problem.replaced",
            Self::Changed => "file-problem.changed",
            Self::ListingCut => "file-problem.listing-cut",
            Self::ChangedWhileListed => "file-problem.changed-while-listed",
        })
    }
}

impl Error {
    /// What happened, as something that can be said in any language.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            Self::Malformed(_) => say("error-protocol.malformed"),
            Self::Incompatible(reason) => {
                say("error-protocol.incompatible").with("reason", reason.clone())
            }
            Self::Misbehaving(detail) => {
                say("error-protocol.misbehaving").with("detail", detail.clone())
            }
            Self::Refused { asked, status } => say("error-protocol.refused")
                .with("operation", asked.message())
                .with("status", status.to_string()),
            Self::GuestOnly => say("error-protocol.guest-only"),
            Self::Authentication(_) => say("error-protocol.authentication"),
            Self::TimedOut {
                seconds,
                waiting_for,
            } => waited("error-protocol.timed-out", *seconds, *waiting_for),
            Self::Stalled {
                seconds,
                waiting_for,
            } => waited("error-protocol.stalled", *seconds, *waiting_for),
            Self::HandleWithheld { path } => {
                say("error-protocol.handle-withheld").with("path", path)
            }
            Self::Trickles(detail) => say("error-protocol.trickles").with("detail", detail.clone()),
            Self::Transport(_) => say("error-protocol.transport"),
            Self::ChannelLost { channel, doing, .. } => say("error-protocol.channel-lost")
                .count("channel", channel.0)
                .with("operation", doing.message()),
            Self::AnotherServer => say("error-protocol.another-server"),
            Self::SessionEnded(_) => say("error-protocol.session-ended"),
            Self::FileChanged { path, problem } => say("error-protocol.file-changed")
                .with("path", path)
                .with("problem", problem.message()),
            Self::InvalidRequest(problem) => {
                say("error-protocol.invalid-request").with("problem", problem.clone())
            }
            Self::Source(_) => say("error-protocol.source"),
            Self::Cancelled => say("error-protocol.cancelled"),
        }
    }
}

fn waited(id: &'static str, seconds: u64, waiting_for: Operation) -> Message {
    say(id)
        .count("seconds", seconds)
        .with("operation", waiting_for.message())
}

impl fmt::Display for Malformed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.message()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.message()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_defect_is_said_in_any_language_by_the_names_of_the_specification() {
        let message = "NEGOTIATE Response";
        let fields = [
            (Defect::Truncated, ""),
            (Defect::Invalid("StructureSize"), "StructureSize"),
            (
                Defect::OutOfBounds("SecurityBufferOffset"),
                "SecurityBufferOffset",
            ),
            (
                Defect::TooLarge("NegotiateContextCount"),
                "NegotiateContextCount",
            ),
        ];
        let mut sentences = BTreeSet::new();
        for (defect, field) in fields {
            let said = Malformed { message, defect }.message();
            for language in [Language::English, Language::Japanese] {
                let sentence = language.say(&said);
                assert!(
                    sentence.contains(message) && sentence.contains(field),
                    "{sentence}"
                );
                sentences.insert(sentence);
            }
        }
        assert_eq!(sentences.len(), 8);
    }
}
