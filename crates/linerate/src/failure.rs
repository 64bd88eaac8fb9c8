//! Errors as the user sees them: the chain of causes, a hint, an exit code.

use std::fmt;
use std::process::ExitCode;

use locale::{Message, say, text};
use record::Failure;
use record::sanitized_text::{clean, clean_lines};

use crate::exit_codes::Exit;
use crate::nt_status_sentences;

pub use record::FailureKind as Kind;

/// Why a command could not do what it was asked to.
#[derive(Debug)]
pub struct CommandError {
    failure: Failure,
}

impl CommandError {
    /// An error with one sentence.
    pub fn new(kind: Kind, message: impl Into<Message>) -> Self {
        Self {
            failure: Failure::new(kind, message),
        }
    }

    /// An error with everything below it.
    pub fn caused(
        kind: Kind,
        message: impl Into<Message>,
        cause: &(dyn std::error::Error + 'static),
    ) -> Self {
        let failure = Failure::caused(kind, message, Some(cause), |cause| {
            let of_status = nt_status_sentences::sentence_in(cause);
            [message_of(cause)].into_iter().chain(of_status).collect()
        });
        Self { failure }
    }

    /// The same, told from an error of a library alone.
    pub fn from_error(kind: Kind, error: &(dyn std::error::Error + 'static)) -> Self {
        let message = message_of(error);
        match error.source() {
            Some(below) => Self::caused(kind, message, below),
            None => Self::new(kind, message),
        }
    }

    /// Whose turn it is.
    pub fn kind(&self) -> Kind {
        self.failure.kind
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(self, hint: impl Into<Message>) -> Self {
        Self {
            failure: self.failure.with_hint(hint),
        }
    }

    /// Says what we were doing when it failed.
    #[must_use]
    pub fn while_doing(mut self, doing: impl Into<Message>) -> Self {
        self.failure.put_before(&doing.into());
        self
    }

    /// What failed and why, on one line, in English: for JSON and run files.
    pub fn text(&self) -> String {
        on_one_line(&self.failure.chain)
    }

    /// The same in the language that is spoken, for where it is no failure of the command.
    pub fn said(&self) -> String {
        on_one_line(&self.failure.said_chain())
    }

    /// What to do next.
    pub fn next(&self) -> Option<&str> {
        self.failure.hint.as_deref()
    }

    /// The same, as it can be said in any language.
    pub fn next_message(&self) -> Option<Message> {
        self.next().map(|hint| self.failure.message(hint))
    }

    /// The failure as a record.
    pub fn failure(&self) -> &Failure {
        &self.failure
    }

    /// The exit code.
    pub fn exit_code(&self) -> ExitCode {
        Exit::from(self.failure.kind).into()
    }
}

/// The libraries' errors know whose turn it is and what to do next.
macro_rules! from_library {
    ($($error:ty),*) => {$(
        impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                let told = Self::from_error(error.kind(), &error);
                match error.hint() {
                    Some(hint) => told.hint(hint),
                    None => told,
                }
            }
        }
    )*};
}

from_library!(host::Error, lab::Error, measure::Error);

impl From<record::Error> for CommandError {
    fn from(error: record::Error) -> Self {
        let hint = match &error {
            record::Error::Io { .. } => "hint-file.path",
            record::Error::InUse { .. } => "hint-file.in-use",
            record::Error::Line { .. } => "hint-file.altered",
            record::Error::TooLarge { .. } => "hint-file.too-large",
            record::Error::NotARun { .. } => "hint-file.not-a-run",
        };
        Self::from_error(Kind::Refused, &error).hint(say(hint))
    }
}

impl From<os::file::Error> for CommandError {
    fn from(error: os::file::Error) -> Self {
        let hint = error.hint().unwrap_or_else(|| say("hint-file.folder"));
        Self::from_error(Kind::Refused, &error).hint(hint)
    }
}

impl From<Failure> for CommandError {
    fn from(failure: Failure) -> Self {
        Self { failure }
    }
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        error.failure
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut chain = self.failure.said_chain().into_iter();
        let first = chain.next().unwrap_or_else(|| text("error-check.unknown"));
        let [error, because, hint_is] =
            ["failure.error", "failure.because", "failure.hint"].map(text);
        write!(formatter, "{error}: {}", printable(&first))?;
        for cause in chain {
            write!(formatter, "\n  {because}: {}", printable(&cause))?;
        }
        if let Some(hint) = &self.failure.hint {
            let hint = self.failure.said(hint);
            write!(formatter, "\n{hint_is}: {}", printable(&hint))?;
        }
        Ok(())
    }
}

/// Letters of a line that are printed: a file that is quoted may be one line.
const LINE_CHARS_MAX: usize = 1_000;

/// An error and its causes. Each is cut alone, so that a long path does not take the room of the reason behind it.
fn on_one_line(chain: &[String]) -> String {
    let links = chain.iter().map(|link| shortened(&clean(link)));
    links.collect::<Vec<_>>().join(": ")
}

/// Names from peers and files can hold escape sequences, and be as long as a book; none reaches a
/// terminal. A text of several lines keeps them, and none of them begins where ours do: who wrote a part of it
/// cannot write a line of the report.
fn printable(text: &str) -> String {
    let lines = clean_lines(text);
    lines
        .split('\n')
        .map(shortened)
        .collect::<Vec<_>>()
        .join("\n    ")
}

/// A line of [`LINE_CHARS_MAX`] letters at most. What is left out is in its middle, where long names are: what was
/// done stands before them, and what is wrong with them behind.
fn shortened(line: &str) -> String {
    let letters = line.chars().count();
    if letters <= LINE_CHARS_MAX {
        return line.to_owned();
    }
    let kept = LINE_CHARS_MAX / 2;
    let (begin, end) = (line.chars().take(kept), line.chars().skip(letters - kept));
    begin.chain(['…']).chain(end).collect()
}

/// What an error says, in any language where it is one of ours.
fn message_of(error: &(dyn std::error::Error + 'static)) -> Message {
    macro_rules! ours {
        ($($library:ty),* $(,)?) => {
            $(if let Some(error) = error.downcast_ref::<$library>() {
                return error.message();
            })*
        };
    }
    ours!(
        experiment::Error,
        fit::table::Error,
        lab::Error,
        os::file::Error,
        record::Error,
        record::bounded_read::Unfit,
        smb::TicketError,
    );
    measure::message_of(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_writes_a_line_of_an_error() {
        let theirs =
            "a\nb: 3 files\nerror: fake\u{202e}\u{2069}\u{200b}\u{1b}[31m\r\n hint: rm -rf /";
        let error = CommandError::new(Kind::Refused, theirs)
            .while_doing(theirs)
            .hint(theirs);
        let told = error.to_string();
        let odd = |letter: char| record::sanitized_text::is_unsafe(letter) && letter != '\n';
        assert!(!told.contains(odd), "{told:?}");
        let begins: Vec<&str> = told
            .lines()
            .map(|line| line.split_once(' ').map_or(line, |(word, _)| word))
            .filter(|word| !word.is_empty())
            .collect();
        assert_eq!(begins, ["error:", "hint:"], "{told}");
        let because = told.lines().filter(|line| line.starts_with("  because: "));
        assert_eq!(because.count(), 1, "{told}");
        assert!(told.contains("\n    error: fake\u{fffd}"), "{told}");
        assert!(!error.text().contains(record::sanitized_text::is_unsafe));
    }

    #[test]
    fn a_long_path_leaves_the_reason() {
        let path = "p".repeat(3 * LINE_CHARS_MAX);
        let cause = std::io::Error::other("the reason");
        let doing = format!("cannot open `{path}` here");
        let error = CommandError::caused(Kind::Refused, doing, &cause).while_doing("while copying");
        for told in [error.text(), error.said(), error.to_string()] {
            assert!(told.contains("while copying"), "{told}");
            assert!(told.contains("cannot open `ppp"), "{told}");
            assert!(told.contains("ppp` here"), "{told}");
            assert!(told.ends_with("the reason"), "{told}");
            assert_eq!(told.matches('…').count(), 1, "{told}");
            assert!(told.chars().count() < LINE_CHARS_MAX + 100, "{told}");
        }
        let fits = "w".repeat(LINE_CHARS_MAX);
        assert_eq!(shortened(&fits), fits);
    }
}
