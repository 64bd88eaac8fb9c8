//! What is said, as data: an id and arguments. A language is chosen where it is rendered.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::Language;

/// Something to say. In JSON it is its English text.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(with = "String", inline)]
pub struct Message {
    /// Stable id of the sentence.
    pub id: &'static str,
    /// What it speaks of, by name.
    pub arguments: Vec<(&'static str, Argument)>,
}

/// What a sentence speaks of.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A name, or a text of a program or a person.
    Text(String),
    /// Payload in bytes per second.
    Rate(f64),
    /// A line in bits per second.
    Bits(u64),
    /// A part of 1.
    Share(f64),
    /// A ratio; above 1 is faster.
    Ratio(f64),
    /// Seconds.
    Seconds(f64),
    /// A number of things, or of bytes of a packet.
    Count(u64),
    /// Bytes of a buffer or a request.
    Bytes(u64),
    /// Another sentence.
    Message(Message),
    /// Names.
    Names(Vec<String>),
    /// Several things, the last of them behind an "and".
    List(Vec<Argument>),
    /// Parts of a sentence, with commas between them.
    Series(Vec<Message>),
    /// Sentences that belong together, with the mark that ends a clause between them.
    Clauses(Vec<Message>),
}

/// The id of a text that is said as it is.
pub const PLAIN: &str = "plain";

/// The sentence of this id.
#[must_use]
pub const fn say(id: &'static str) -> Message {
    Message {
        id,
        arguments: Vec::new(),
    }
}

impl Message {
    /// The same with one more argument.
    #[must_use]
    pub fn with(mut self, name: &'static str, argument: impl Into<Argument>) -> Self {
        self.arguments.push((name, argument.into()));
        self
    }

    /// The same with one more argument, where it is known: a sentence has a part for that, or leaves it out.
    #[must_use]
    pub fn with_known(self, name: &'static str, argument: Option<impl Into<Argument>>) -> Self {
        match argument {
            Some(argument) => self.with(name, argument),
            None => self,
        }
    }

    /// An argument by its name.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&Argument> {
        let mut arguments = self.arguments.iter();
        arguments.find(|(of, _)| *of == name).map(|(_, it)| it)
    }

    /// A rate of payload, in bytes per second.
    #[must_use]
    pub fn rate(self, name: &'static str, rate: f64) -> Self {
        self.with(name, Argument::Rate(rate))
    }

    /// The rate of a line, in bits per second.
    #[must_use]
    pub fn bits(self, name: &'static str, bits: u64) -> Self {
        self.with(name, Argument::Bits(bits))
    }

    /// A part of 1.
    #[must_use]
    pub fn share(self, name: &'static str, share: f64) -> Self {
        self.with(name, Argument::Share(share))
    }

    /// A ratio; above 1 is faster.
    #[must_use]
    pub fn ratio(self, name: &'static str, ratio: f64) -> Self {
        self.with(name, Argument::Ratio(ratio))
    }

    /// A time, in seconds.
    #[must_use]
    pub fn seconds(self, name: &'static str, seconds: f64) -> Self {
        self.with(name, Argument::Seconds(seconds))
    }

    /// A size, in bytes.
    #[must_use]
    pub fn bytes(self, name: &'static str, bytes: u64) -> Self {
        self.with(name, Argument::Bytes(bytes))
    }

    /// A number of things.
    #[must_use]
    pub fn count(self, name: &'static str, count: impl TryInto<u64>) -> Self {
        let count = count.try_into().unwrap_or(u64::MAX);
        self.with(name, Argument::Count(count))
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Language::English.say(self))
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        say(PLAIN).with("text", text)
    }
}

impl From<&str> for Argument {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Argument {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&String> for Argument {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<IpAddr> for Argument {
    fn from(address: IpAddr) -> Self {
        Self::Text(address.to_string())
    }
}

impl From<Message> for Argument {
    fn from(message: Message) -> Self {
        Self::Message(message)
    }
}

impl From<Vec<String>> for Argument {
    fn from(names: Vec<String>) -> Self {
        Self::Names(names)
    }
}
