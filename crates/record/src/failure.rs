//! Why something failed, with its causes and a way out, as run files keep it and processes hand it on.

use std::error::Error;

use locale::{Kept, Language, Message, PLAIN, said, say};
use serde::{Deserialize, Serialize};

/// Causes of a failure that are said one behind the other in any language.
const CHAIN_SAID_MAX: usize = 10;

/// Why something failed, sorted by who has to act; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The request makes no sense: exit code 64.
    Usage,
    /// The machine, the server or a rule of ours said no: exit code 65.
    Refused,
    /// The server does not let the user in, and may count it: accounts are locked after some such
    /// tries. Exit code 65.
    LoginRefused,
    /// Nobody answers: exit code 69.
    Unreachable,
    /// Our own fault, or a peer that breaks the protocol: exit code 70.
    Internal,
    /// Stopped by the user: exit code 130.
    Interrupted,
}

/// A failure with its causes and a way out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Whose turn it is.
    pub kind: FailureKind,
    /// What we were doing and why it failed, outermost first, in English.
    pub chain: Vec<String>,
    /// What to do next, in English.
    pub hint: Option<String>,
    /// Those of these texts that can be said in other languages. They are found by their English, so that no file can
    /// say one thing in one language and another thing in another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Kept>,
}

impl Failure {
    /// A failure without a cause or a hint.
    pub fn new(kind: FailureKind, message: impl Into<Message>) -> Self {
        let mut failure = Self {
            kind,
            chain: Vec::new(),
            hint: None,
            messages: Vec::new(),
        };
        failure.push(&message.into());
        failure
    }

    /// A failure with everything below it, each cause as `says` has it.
    pub fn caused(
        kind: FailureKind,
        message: impl Into<Message>,
        cause: Option<&(dyn Error + 'static)>,
        says: impl Fn(&(dyn Error + 'static)) -> Vec<Message>,
    ) -> Self {
        let mut failure = Self::new(kind, message);
        let mut next = cause;
        while let Some(error) = next {
            says(error).iter().for_each(|cause| failure.push(cause));
            next = error.source();
        }
        failure
    }

    /// Adds what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Message>) -> Self {
        self.hint = Some(self.english(&hint.into()));
        self
    }

    /// Adds a cause; many libraries repeat theirs in their own text: once is enough.
    pub fn push(&mut self, cause: &Message) {
        let text = Language::English.say(cause);
        if self.chain.last().is_none_or(|last| !last.ends_with(&text)) {
            self.english(cause);
            self.chain.push(text);
        }
    }

    /// Says what was done when it failed.
    pub fn put_before(&mut self, doing: &Message) {
        let text = self.english(doing);
        self.chain.insert(0, text);
    }

    /// All of the chain on one line, in English.
    pub fn text(&self) -> String {
        self.chain.join(": ")
    }

    /// One of its texts, as it can be said in any language.
    pub fn message(&self, text: &str) -> Message {
        Kept::of_text(text, &self.messages)
    }

    /// The same of its whole chain.
    pub fn chain_messages(&self) -> impl Iterator<Item = Message> {
        self.chain.iter().map(|text| self.message(text))
    }

    /// Its whole chain as one message; none where it is empty. A file may have a chain of any length: a long one is
    /// said as it is.
    pub fn chain_message(&self) -> Option<Message> {
        match self.chain.len() {
            0..=CHAIN_SAID_MAX => chain(self.chain_messages()),
            _ => Some(self.text().into()),
        }
    }

    /// Why a trial failed, with its causes.
    pub fn why(&self) -> Message {
        let causes = self.chain_message();
        causes.unwrap_or_else(|| say("trial-failure.unexplained"))
    }

    /// One of its texts, in the language that is spoken here.
    pub fn said(&self, text: &str) -> String {
        said(&self.message(text))
    }

    /// The same of its whole chain.
    pub fn said_chain(&self) -> Vec<String> {
        self.chain_messages()
            .map(|message| said(&message))
            .collect()
    }

    /// The English of a message, which is kept to be said in other languages.
    fn english(&mut self, message: &Message) -> String {
        if message.id != PLAIN {
            self.messages.push(message.into());
        }
        Language::English.say(message)
    }
}

/// Several messages in one line, each with its cause behind it.
pub fn chain(messages: impl IntoIterator<Item = Message>) -> Option<Message> {
    messages.into_iter().reduce(|above, below| {
        say("failure.chain")
            .with("above", above)
            .with("below", below)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_said_in_another_language_after_it_was_written() {
        let cause = say("list").with("first", "a").with("last", "b");
        let mut failure = Failure::new(FailureKind::Refused, "as a server said it");
        failure.push(&cause);
        let failure = failure.with_hint(say("stage.path"));
        let text = serde_json::to_string(&failure).expect("JSON");
        let read: Failure = serde_json::from_str(&text).expect("what we wrote");
        assert_eq!(read, failure);
        assert_eq!(read.text(), "as a server said it: a and b");
        let hint = read.hint.as_deref().expect("a hint");
        for language in Language::ALL {
            language.within(|| {
                assert_eq!(read.said(hint), language.say(&say("stage.path")));
                assert_eq!(read.said_chain()[0], "as a server said it");
                assert_eq!(read.said_chain()[1], language.say(&cause));
            });
        }
    }

    #[test]
    fn a_file_says_the_same_in_each_language() {
        let text = r#"{"kind":"refused","chain":["nothing is wrong"],"hint":null,
            "messages":[{"id":"stage.path"},{"id":"no-such-id"}]}"#;
        let failure: Failure = serde_json::from_str(text).expect("a failure");
        Language::Japanese.within(|| assert_eq!(failure.said_chain(), ["nothing is wrong"]));
        let old = r#"{"kind":"refused","chain":["a"],"hint":"b"}"#;
        let failure: Failure = serde_json::from_str(old).expect("what was written before");
        assert_eq!(failure.said("a"), "a");
    }
}
