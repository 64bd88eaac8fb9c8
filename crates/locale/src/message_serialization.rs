//! Messages in files and between processes: their ids and arguments, so that who reads them is spoken to in a language of
//! their own.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};
use fluent_syntax::parser;
use serde::{Deserialize, Serialize};

use crate::message_rendering::ENGLISH_RESOURCES;
use crate::{Argument, Message, PLAIN};

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
}

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
        }
    }
}

impl Kept {
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
        })
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
    use crate::{Language, say};

    #[test]
    fn what_is_kept_is_said_in_any_language_later() {
        let inner = say("headline.found").with("cause", "the cable");
        let things = vec![Argument::Bits(1_000_000_000), Argument::Share(0.5)];
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
