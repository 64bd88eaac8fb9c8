//! Messages in files and between processes: their ids and arguments, so that who reads them is spoken to in a language of
//! their own.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};
use fluent_syntax::parser;
use serde::{Deserialize, Serialize};

use crate::message_rendering::ENGLISH_RESOURCES;
use crate::{Argument, Language, Message, PLAIN};

/// A message as it is kept. It may come from anywhere: [`Kept::message`] takes only what linerate can say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    id: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    arguments: BTreeMap<String, KeptArgument>,
}

/// An argument with its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeptArgument {
    Text(String),
    Rate(f64),
    Bits(u64),
    Share(f64),
    Ratio(f64),
    Seconds(f64),
    Count(u64),
    Bytes(u64),
    Message(Box<Kept>),
    Names(Vec<String>),
    List(Vec<KeptArgument>),
    Series(Vec<Kept>),
    Clauses(Vec<Kept>),
}

/// Sentences within sentences that are kept at most. Each takes up to four levels of JSON, of which `serde_json` reads
/// 128.
const NESTED_MAX: usize = 24;
/// Messages that are looked through for that of a text, at most: a file may bring any number.
const MESSAGES_OF_A_TEXT_MAX: usize = 64;
/// A message that may be longer is not said: some sentences say an argument twice, and what is nested in them would grow
/// without end.
const ENGLISH_BYTES_MAX: usize = 1 << 20;
/// More than any sentence has without its arguments, and more than any number.
const SENTENCE_BYTES: usize = 1_000;
const NUMBER_BYTES: usize = 40;

impl From<&Message> for Kept {
    fn from(message: &Message) -> Self {
        let arguments = message.arguments.iter();
        Self {
            id: message.id.to_owned(),
            arguments: arguments
                .map(|(name, argument)| ((*name).to_owned(), argument.into()))
                .collect(),
        }
    }
}

impl From<&Argument> for KeptArgument {
    fn from(argument: &Argument) -> Self {
        match argument {
            Argument::Text(text) => Self::Text(text.clone()),
            Argument::Rate(rate) => Self::Rate(*rate),
            Argument::Bits(bits) => Self::Bits(*bits),
            Argument::Share(share) => Self::Share(*share),
            Argument::Ratio(ratio) => Self::Ratio(*ratio),
            Argument::Seconds(seconds) => Self::Seconds(*seconds),
            Argument::Count(count) => Self::Count(*count),
            Argument::Bytes(bytes) => Self::Bytes(*bytes),
            Argument::Message(message) => Self::Message(Box::new(message.into())),
            Argument::Names(names) => Self::Names(names.clone()),
            Argument::List(things) => Self::List(things.iter().map(Self::from).collect()),
            Argument::Series(parts) => Self::Series(parts.iter().map(Kept::from).collect()),
            Argument::Clauses(clauses) => Self::Clauses(clauses.iter().map(Kept::from).collect()),
        }
    }
}

impl Kept {
    /// What stands beside the English of a message; none where that says the same in each language.
    #[must_use]
    pub fn of_message(message: &Message) -> Option<Self> {
        let is_kept = message.id != PLAIN && nested(message) <= NESTED_MAX;
        is_kept.then(|| message.into())
    }

    /// The message of an English text, out of those that are kept beside it, else the text alone. It is found by its
    /// English, so that no file can say one thing in one language and another thing in another.
    #[must_use]
    pub fn of_text<'a>(text: &str, kept: impl IntoIterator<Item = &'a Self>) -> Message {
        let mut messages = kept
            .into_iter()
            .take(MESSAGES_OF_A_TEXT_MAX)
            .filter_map(Self::message)
            .filter(|message| english_bytes(message) <= ENGLISH_BYTES_MAX);
        let message = messages.find(|message| Language::English.say(message) == text);
        message.unwrap_or_else(|| text.into())
    }

    /// The message, if there is a sentence with this id that speaks of these arguments.
    #[must_use]
    pub fn message(&self) -> Option<Message> {
        let (id, names) = SENTENCES.get_key_value(self.id.as_str())?;
        let arguments = self.arguments.iter().map(|(name, argument)| {
            let known = names.iter().find(|known| **known == name)?;
            Some((*known, argument.argument()?))
        });
        Some(Message {
            id,
            arguments: arguments.collect::<Option<_>>()?,
        })
    }
}

impl KeptArgument {
    fn argument(&self) -> Option<Argument> {
        Some(match self {
            Self::Text(text) => Argument::Text(text.clone()),
            Self::Rate(rate) => Argument::Rate(*rate),
            Self::Bits(bits) => Argument::Bits(*bits),
            Self::Share(share) => Argument::Share(*share),
            Self::Ratio(ratio) => Argument::Ratio(*ratio),
            Self::Seconds(seconds) => Argument::Seconds(*seconds),
            Self::Count(count) => Argument::Count(*count),
            Self::Bytes(bytes) => Argument::Bytes(*bytes),
            Self::Message(kept) => Argument::Message(kept.message()?),
            Self::Names(names) => Argument::Names(names.clone()),
            Self::List(things) => {
                Argument::List(things.iter().map(Self::argument).collect::<Option<_>>()?)
            }
            Self::Series(parts) => Argument::Series(messages(parts)?),
            Self::Clauses(clauses) => Argument::Clauses(messages(clauses)?),
        })
    }
}

fn messages(kept: &[Kept]) -> Option<Vec<Message>> {
    kept.iter().map(Kept::message).collect()
}

/// What a message takes at most in English.
fn english_bytes(message: &Message) -> usize {
    let said = SENTENCES.get(message.id).map_or(&[][..], Vec::as_slice);
    let arguments = message.arguments.iter().map(|(name, argument)| {
        let times = said.iter().filter(|one| *one == name).count();
        argument_bytes(argument).saturating_mul(times)
    });
    arguments.fold(SENTENCE_BYTES, usize::saturating_add)
}

fn argument_bytes(argument: &Argument) -> usize {
    match argument {
        Argument::Text(text) => text.len(),
        Argument::Names(names) => sum(names.iter().map(|name| name.len() + NUMBER_BYTES)),
        Argument::Message(message) => english_bytes(message),
        Argument::Series(messages) | Argument::Clauses(messages) => {
            sum(messages.iter().map(english_bytes))
        }
        Argument::List(things) => sum(things.iter().map(argument_bytes)),
        Argument::Rate(_)
        | Argument::Bits(_)
        | Argument::Share(_)
        | Argument::Ratio(_)
        | Argument::Seconds(_)
        | Argument::Count(_)
        | Argument::Bytes(_) => NUMBER_BYTES,
    }
}

fn sum(lengths: impl Iterator<Item = usize>) -> usize {
    lengths.fold(0, usize::saturating_add)
}

/// How many sentences stand within one another.
fn nested(message: &Message) -> usize {
    let arguments = message.arguments.iter();
    1 + arguments.map(|(_, one)| nested_in(one)).max().unwrap_or(0)
}

fn nested_in(argument: &Argument) -> usize {
    match argument {
        Argument::Message(message) => nested(message),
        Argument::Series(messages) | Argument::Clauses(messages) => {
            messages.iter().map(nested).max().unwrap_or(0)
        }
        Argument::List(things) => 1 + things.iter().map(nested_in).max().unwrap_or(0),
        Argument::Text(_)
        | Argument::Rate(_)
        | Argument::Bits(_)
        | Argument::Share(_)
        | Argument::Ratio(_)
        | Argument::Seconds(_)
        | Argument::Count(_)
        | Argument::Bytes(_)
        | Argument::Names(_) => 0,
    }
}

/// The arguments of each sentence, by its id.
static SENTENCES: LazyLock<BTreeMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut sentences = BTreeMap::from([(PLAIN, vec!["text"])]);
    for text in ENGLISH_RESOURCES {
        let resource = match parser::parse(*text) {
            Ok(resource) | Err((resource, _)) => resource,
        };
        for entry in resource.body {
            let Entry::Message(message) = entry else {
                continue;
            };
            let name = message.id.name;
            if let Some(pattern) = &message.value {
                sentences.insert(name, variables(pattern));
            }
            for attribute in &message.attributes {
                // Once for each sentence that there is.
                let id = format!("{name}.{}", attribute.id.name).leak();
                sentences.insert(id, variables(&attribute.value));
            }
        }
    }
    sentences
});

/// What a sentence speaks of.
fn variables(pattern: &Pattern<&'static str>) -> Vec<&'static str> {
    let mut names = Vec::new();
    for element in &pattern.elements {
        let PatternElement::Placeable { expression } = element else {
            continue;
        };
        let (inline, variants) = match expression {
            Expression::Inline(inline) => (inline, [].as_slice()),
            Expression::Select { selector, variants } => (selector, variants.as_slice()),
        };
        if let InlineExpression::VariableReference { id } = inline {
            names.push(id.name);
        }
        names.extend(
            variants
                .iter()
                .flat_map(|variant| variables(&variant.value)),
        );
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::say;

    #[test]
    fn what_is_kept_is_said_in_any_language_later() {
        let inner = say("headline.found").with("cause", "the cable");
        let parts = vec![inner.clone(), say("verdict.better")];
        let things = vec![
            Argument::Bits(1_000_000_000),
            Argument::Share(0.5),
            Argument::Series(parts.clone()),
            Argument::Clauses(parts),
        ];
        let message = say("list")
            .with("first", inner)
            .with("last", Argument::List(things));
        let text = serde_json::to_string(&Kept::from(&message)).expect("JSON");
        let kept: Kept = serde_json::from_str(&text).expect("what we wrote");
        assert_eq!(kept.message(), Some(message.clone()));
        for language in Language::ALL {
            let said = language.say(&kept.message().expect("a message"));
            assert_eq!(said, language.say(&message));
        }
        let plain = Message::from("a text of a server");
        assert_eq!(Kept::from(&plain).message(), Some(plain));
    }

    #[test]
    fn a_message_beside_a_text_says_that_text_or_nothing() {
        let message = say("headline.found").with("cause", "the cable");
        let kept = Kept::of_message(&message);
        assert_eq!(Kept::of_text("the cable", &kept), message);
        assert_eq!(Kept::of_text("all is well", &kept), "all is well".into());
        assert_eq!(
            Kept::of_text("the cable", &None::<Kept>),
            "the cable".into()
        );
        assert_eq!(Kept::of_message(&"a text".into()), None);
    }

    #[test]
    fn a_sentence_that_grows_without_end_is_not_said() {
        let again = r#"{"id":"told-plan.runs-needed","arguments":{"runs":{"message":X}}}"#;
        let mut text = r#"{"id":"plain","arguments":{"text":{"text":"x"}}}"#.to_owned();
        for _ in 0..30 {
            text = again.replace('X', &text);
        }
        let kept: Kept = serde_json::from_str(&text).expect("JSON");
        assert!(kept.message().is_some());
        assert_eq!(Kept::of_text("x", [&kept]), "x".into());
    }

    /// What is nested deeper is written as its text alone, as no reader would take it.
    #[test]
    fn all_that_is_kept_can_be_read() {
        let mut message = say("headline.found").with("cause", "the cable");
        let mut deepest = 0;
        while let Some(kept) = Kept::of_message(&message) {
            let text = serde_json::to_string(&kept).expect("JSON");
            let read: Kept = serde_json::from_str(&text).expect("it is shallow enough");
            assert_eq!(read.message(), Some(message.clone()));
            deepest += 1;
            let clauses = Argument::Clauses(vec![message]);
            message = say("headline.found").with("cause", clauses);
        }
        assert_eq!(deepest, NESTED_MAX);
    }

    #[test]
    fn what_nobody_here_wrote_is_no_message() {
        for text in [
            r#"{"id":"no-such-sentence"}"#,
            r#"{"id":"list","arguments":{"unknown":{"text":"x"}}}"#,
            r#"{"id":"list","arguments":{"first":{"message":{"id":"no-such"}}}}"#,
        ] {
            let kept: Kept = serde_json::from_str(text).expect("JSON");
            assert_eq!(kept.message(), None, "{text}");
        }
    }
}
