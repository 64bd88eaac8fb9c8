//! Errors as the user sees them: the chain of causes, a hint, an exit code.

use std::fmt;
use std::process::ExitCode;

use record::Failure;
use record::text::{clean, clean_lines};

use crate::exit::Exit;
use crate::status;

pub use record::FailureKind as Kind;

/// Why a command could not do what it was asked to.
#[derive(Debug)]
pub struct CommandError {
    failure: Failure,
}

impl CommandError {
    /// An error with one sentence.
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self {
            failure: Failure {
                kind,
                chain: vec![text.into()],
                hint: None,
            },
        }
    }

    /// An error with everything below it.
    pub fn caused(
        kind: Kind,
        text: impl Into<String>,
        cause: &(dyn std::error::Error + 'static),
    ) -> Self {
        let mut chain = vec![text.into()];
        let mut next = Some(cause);
        while let Some(error) = next {
            push_new(&mut chain, error.to_string());
            if let Some(sentence) = status::sentence_in(error) {
                push_new(&mut chain, sentence.to_owned());
            }
            next = error.source();
        }
        Self {
            failure: Failure {
                kind,
                chain,
                hint: None,
            },
        }
    }

    /// The same, told from an error of a library alone.
    pub fn from_error(kind: Kind, error: &dyn std::error::Error) -> Self {
        let below = error.source();
        match below {
            Some(below) => Self::caused(kind, error.to_string(), below),
            None => Self::new(kind, error.to_string()),
        }
    }

    /// Whose turn it is.
    pub fn kind(&self) -> Kind {
        self.failure.kind
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.failure.hint = Some(hint.into());
        self
    }

    /// Says what we were doing when it failed.
    #[must_use]
    pub fn while_doing(mut self, text: impl Into<String>) -> Self {
        self.failure.chain.insert(0, text.into());
        self
    }

    /// What failed and why, on one line, for where it is no failure of the command.
    pub fn text(&self) -> String {
        printable(&clean(&self.failure.chain.join(": ")))
    }

    /// What to do next.
    pub fn next(&self) -> Option<&str> {
        self.failure.hint.as_deref()
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
            record::Error::Io { .. } => "check the path, the rights and the room on the disk",
            record::Error::InUse { .. } => {
                "let it end there, or stop it there with Ctrl-C and type this again"
            }
            record::Error::Line { .. } => "the file was altered; use an undamaged copy of it",
            record::Error::TooLarge { .. } => {
                "give a file that linerate wrote itself; a longer experiment is made of several runs"
            }
            record::Error::NotARun { .. } => {
                "give a file that `check`, `bench`, `tune` or `experiment` wrote"
            }
        };
        Self::from_error(Kind::Refused, &error).hint(hint)
    }
}

impl From<os::file::Error> for CommandError {
    fn from(error: os::file::Error) -> Self {
        let hint = error
            .hint()
            .unwrap_or("check the folder, the rights and the room on the disk");
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
        let mut chain = self.failure.chain.iter();
        let first = chain.next().map_or("unknown failure", String::as_str);
        write!(formatter, "error: {}", printable(first))?;
        for cause in chain {
            write!(formatter, "\n  because: {}", printable(cause))?;
        }
        if let Some(hint) = &self.failure.hint {
            write!(formatter, "\nhint: {}", printable(hint))?;
        }
        Ok(())
    }
}

/// Letters of a line that are printed: a file that is quoted may be one line.
const LINE_CHARS_MAX: usize = 1_000;

/// Names from peers and files can hold escape sequences, and be as long as a book; none reaches a
/// terminal. A text of several lines keeps them, and none of them begins where ours do: who wrote a part of it
/// cannot write a line of the report.
fn printable(text: &str) -> String {
    let lines = clean_lines(text);
    let lines = lines.split('\n').map(|line| {
        let mut letters = line.chars();
        let mut short: String = letters.by_ref().take(LINE_CHARS_MAX).collect();
        short.extend(letters.next().map(|_| '…'));
        short
    });
    lines.collect::<Vec<_>>().join("\n    ")
}

/// Many libraries repeat their cause in their own text; once is enough.
fn push_new(chain: &mut Vec<String>, text: String) {
    if chain.last().is_none_or(|last| !last.ends_with(&text)) {
        chain.push(text);
    }
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
        let odd = |letter: char| record::text::is_unsafe(letter) && letter != '\n';
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
        assert!(!error.text().contains(record::text::is_unsafe));
    }
}
