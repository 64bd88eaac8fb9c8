//! Messages as data, for programs that say them themselves.

use locale::{Argument, Message};
use schemars::JsonSchema;
use serde::Serialize;

/// What is said, as data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessageData<'a> {
    /// Stable id of the sentence, as in `locale/en`.
    pub id: &'static str,
    /// What it speaks of: the name of each argument, and the argument.
    pub arguments: Vec<(&'static str, ArgumentData<'a>)>,
}

/// What a sentence speaks of.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentData<'a> {
    /// A name, or a text of a program or a person.
    Text(&'a str),
    /// Payload in bytes per second; null where it is not finite.
    Rate(#[schemars(with = "Option<f64>")] f64),
    /// A line in bits per second.
    Bits(u64),
    /// A part of 1; null where it is not finite.
    Share(#[schemars(with = "Option<f64>")] f64),
    /// A ratio, above 1 is faster; null where it is not finite.
    Ratio(#[schemars(with = "Option<f64>")] f64),
    /// Seconds; null where they are not finite.
    Seconds(#[schemars(with = "Option<f64>")] f64),
    /// A number of things, or of bytes of a packet.
    Count(u64),
    /// Bytes of a buffer or a request.
    Bytes(u64),
    /// Names.
    Names(&'a [String]),
    /// Several things.
    List(Vec<ArgumentData<'a>>),
    /// Direction of the data: `read` or `write`.
    Direction(&'static str),
    /// Another sentence.
    Message(MessageData<'a>),
}

impl<'a> MessageData<'a> {
    pub(super) fn new(message: &'a Message) -> Self {
        let arguments = message.arguments.iter();
        Self {
            id: message.id,
            arguments: arguments
                .map(|(name, value)| (*name, ArgumentData::new(value)))
                .collect(),
        }
    }
}

impl<'a> ArgumentData<'a> {
    fn new(value: &'a Argument) -> Self {
        match value {
            Argument::Text(text) => Self::Text(text),
            Argument::Rate(rate) => Self::Rate(*rate),
            Argument::Bits(bits) => Self::Bits(*bits),
            Argument::Share(share) => Self::Share(*share),
            Argument::Ratio(ratio) => Self::Ratio(*ratio),
            Argument::Seconds(seconds) => Self::Seconds(*seconds),
            Argument::Count(count) => Self::Count(*count),
            Argument::Bytes(bytes) => Self::Bytes(*bytes),
            Argument::Names(names) => Self::Names(names),
            Argument::List(list) => Self::List(list.iter().map(Self::new).collect()),
            Argument::Series(messages) | Argument::Clauses(messages) => {
                let messages = messages.iter().map(MessageData::new);
                Self::List(messages.map(Self::Message).collect())
            }
            Argument::Message(of) => match of.id.strip_prefix("direction.") {
                Some(direction) => Self::Direction(direction),
                None => Self::Message(MessageData::new(of)),
            },
        }
    }
}
