//! What is wrong with a command line, in the language that is spoken: what clap found, and sentences of ours.

use std::fmt;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use locale::{Language, Message, say};

use crate::failure::{CommandError, Kind};

/// How the value of an option is written.
#[derive(Debug)]
pub struct BadValue(pub Message);

impl fmt::Display for BadValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.0))
    }
}

impl std::error::Error for BadValue {}

/// `None` where clap has more to say than what is wrong, as its help.
pub fn of(error: &clap::Error) -> Option<CommandError> {
    let named = |kind| named(error, kind);
    let argument = named(ContextKind::InvalidArg);
    let (id, value) = match error.kind() {
        ErrorKind::UnknownArgument => ("error-usage.unknown-argument", None),
        ErrorKind::MissingRequiredArgument => ("error-usage.missing", None),
        ErrorKind::ArgumentConflict => {
            let other = named(ContextKind::PriorArg);
            ("error-usage.conflict", Some(other.unwrap_or_default()))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            match named(ContextKind::InvalidValue).filter(|value| !value.is_empty()) {
                Some(value) => ("error-usage.value", Some(value)),
                None => ("error-usage.no-value", None),
            }
        }
        ErrorKind::InvalidSubcommand => {
            let command = named(ContextKind::InvalidSubcommand).unwrap_or_default();
            let sentence = say("error-check.no-command").with("command", command);
            return Some(with_hint(error, sentence));
        }
        _ => return None,
    };
    let sentence = say(id).with("argument", argument?);
    Some(with_hint(error, sentence.with_known("value", value)))
}

/// What would be right, where clap knows that, or else how the command is written.
fn with_hint(error: &clap::Error, sentence: Message) -> CommandError {
    let source = std::error::Error::source(error);
    let of_ours = source.and_then(|source| source.downcast_ref::<BadValue>());
    let range = source.map(ToString::to_string);
    let range = range
        .as_deref()
        .and_then(|text| text.split_once(" is not in "));
    let named = |kinds: &[ContextKind]| kinds.iter().find_map(|kind| named(error, *kind));
    let likely = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand];
    let hint = if let Some(BadValue(hint)) = of_ours {
        hint.clone()
    } else if let Some((_, range)) = range {
        say("hint-usage.range").with("range", range)
    } else if let Some(one) = named(&likely) {
        say("hint-usage.similar").with("name", one)
    } else if let Some(values) = named(&[ContextKind::ValidValue]) {
        say("hint-usage.values").with("values", values)
    } else if let Some(usage) = named(&[ContextKind::Usage]) {
        let usage = usage.trim_start_matches("Usage:").trim().to_owned();
        say("hint-usage.usage").with("usage", usage)
    } else {
        say("hint-usage.help")
    };
    CommandError::new(Kind::Usage, sentence).hint(hint)
}

fn named(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(one) => Some(one.clone()),
        ContextValue::Strings(several) if !several.is_empty() => Some(several.join(", ")),
        ContextValue::StyledStr(text) => Some(text.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command line, the ids of what is said of it and of the hint, and what both name.
    const WRONG: [(&str, &str, &str, [&str; 2]); 10] = [
        (
            "chekc x",
            "error-check.no-command",
            "hint-usage.similar",
            ["chekc", "check"],
        ),
        (
            "check //a/b --bogus",
            "error-usage.unknown-argument",
            "hint-usage.usage",
            ["--bogus", "linerate check"],
        ),
        (
            "ls //a/b --guets",
            "error-usage.unknown-argument",
            "hint-usage.similar",
            ["--guets", "--guest"],
        ),
        (
            "set local",
            "error-usage.missing",
            "hint-usage.usage",
            ["<ID[@NAME]=VALUE>...", "linerate set"],
        ),
        (
            "ls //a/b --guest --anonymous",
            "error-usage.conflict",
            "hint-usage.usage",
            ["--guest", "--anonymous"],
        ),
        (
            "completions nope",
            "error-usage.value",
            "hint-usage.values",
            ["nope", "powershell"],
        ),
        (
            "copy a b --sessions 99",
            "error-usage.value",
            "hint-usage.range",
            ["99", "1..=8"],
        ),
        (
            "tune //a/b --budget 3q --goal read",
            "error-usage.value",
            "hint-usage.duration",
            ["3q", "90s"],
        ),
        (
            "compare a b --band 200",
            "error-usage.value",
            "hint-usage.percent",
            ["200", "100"],
        ),
        (
            "ls //a/b --credentials",
            "error-usage.no-value",
            "hint-usage.help",
            ["--credentials", "--help"],
        ),
    ];

    /// The ids of what is said of a command line, and the names in it.
    fn said_of(words: &str) -> (&'static str, &'static str, String) {
        let typed = crate::help::command().try_get_matches_from(words.split(' '));
        let error = of(&typed.expect_err("it is wrong")).expect("it is said by us");
        let failure = error.failure();
        let (first, hint) = (
            failure.chain[0].clone(),
            failure.hint.clone().unwrap_or_default(),
        );
        let (said, hint_said) = (failure.message(&first), failure.message(&hint));
        (said.id, hint_said.id, format!("{first} / {hint}"))
    }

    #[test]
    fn a_wrong_command_line_is_said_by_what_is_wrong_and_what_would_be_right() {
        for (words, error, hint, names) in WRONG {
            let words = format!("linerate {words}");
            let (said, hinted, text) = said_of(&words);
            assert_eq!((said, hinted), (error, hint), "{words}: {text}");
            assert!(
                names.iter().all(|name| text.contains(name)),
                "{words}: {text}"
            );
        }
    }

    #[test]
    fn help_is_left_to_clap() {
        let typed = crate::help::command().try_get_matches_from(["linerate", "lab"]);
        assert!(of(&typed.expect_err("there is no command")).is_none());
    }
}
