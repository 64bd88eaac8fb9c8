//! What is wrong with a value in a TOML file, and its line.

use std::fmt;

use locale::{Language, Message, say};
use toml::de::{DeTable, DeValue};

use crate::sanitized_text::{clean, clean_error};

/// What is wrong with a value of a file, and which one it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistake {
    /// Keys, and numbers in lists, from the file inwards: `factor.0.level.1.set`.
    place: String,
    reason: Message,
}

impl Mistake {
    /// The value at this place, of the file or of the table that is looked at, is wrong.
    pub fn at(place: impl Into<String>, reason: impl Into<Message>) -> Self {
        Self {
            place: place.into(),
            reason: reason.into(),
        }
    }

    /// The same, of the table at this place.
    #[must_use]
    pub fn within(mut self, place: &str) -> Self {
        self.place = format!("{place}.{}", self.place);
        self
    }

    /// The same, with another sentence.
    #[must_use]
    pub fn because(self, reason: impl FnOnce(Message) -> Message) -> Self {
        Self {
            place: self.place,
            reason: reason(self.reason),
        }
    }

    /// What is wrong, as something that can be said in any language.
    #[must_use]
    pub fn message(&self) -> Message {
        self.reason.clone()
    }

    /// Its line in this text.
    #[must_use]
    pub fn line_in(&self, text: &str) -> usize {
        line_of(text, &self.place)
    }

    /// What is wrong, behind its line in this text.
    #[must_use]
    pub fn in_text(&self, text: &str) -> Message {
        say("error-mistake.on-line")
            .count("line", self.line_in(text))
            .with("reason", self.message())
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.reason))
    }
}

/// The line of a place in a text, from 1; of what is around it where nothing stands there, because it was left
/// out.
#[must_use]
pub fn line_of(text: &str, place: &str) -> usize {
    let Ok(file) = DeTable::parse(text) else {
        return 1;
    };
    let mut value = &DeValue::Table(file.into_inner());
    let mut byte = 0;
    let mut rest = place;
    loop {
        let found = match value {
            // A key may hold dots: names of tests are keys.
            DeValue::Table(table) => {
                let keys = table.iter().filter_map(|(key, value)| {
                    let after = rest.strip_prefix(key.get_ref().as_ref())?;
                    let is_whole = after.is_empty() || after.starts_with('.');
                    is_whole.then_some((after, key.span(), value))
                });
                keys.min_by_key(|(after, ..)| after.len())
            }
            DeValue::Array(items) => {
                let (step, after) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
                let item = step.parse().ok().and_then(|item: usize| items.get(item));
                item.map(|item| (after, item.span(), item))
            }
            _ => None,
        };
        let Some((after, span, inner)) = found else {
            break;
        };
        (byte, value) = (span.start, inner.get_ref());
        rest = after.trim_start_matches('.');
    }
    line_at(text, byte)
}

/// Where a text is not what it should be.
#[must_use]
pub fn start_of(text: &str, error: &toml::de::Error) -> usize {
    match error.span() {
        Some(span) => span.start,
        None => start_of_depth(text),
    }
}

/// What is wrong with a text, behind its line; of the text itself no more than the words of the error.
#[must_use]
pub fn wrong_with(text: &str, error: &toml::de::Error) -> String {
    match error.span() {
        Some(_) => clean_error(&error.to_string(), error.message()),
        None => {
            let line = line_at(text, start_of(text, error));
            format!("line {line}: {}", reason(error))
        }
    }
}

/// What is wrong, in a sentence.
#[must_use]
pub fn reason(error: &toml::de::Error) -> String {
    match (error.span(), error.message()) {
        (None, DEPTH) => "its keys are nested too deep".into(),
        (_, message) => clean(message.trim_end()),
    }
}

/// What the library says of a key with too many dots. It does not say where.
const DEPTH: &str = "recursion limit";

/// Where the line begins that has too many dots: the first one up to which the text has them. What comes before it
/// is sound, because the first error is the one that is told.
fn start_of_depth(text: &str) -> usize {
    let starts = text.match_indices('\n').map(|(at, _)| at + 1);
    let starts: Vec<usize> = std::iter::once(0).chain(starts).collect();
    let is_deep = |end: usize| {
        let upto = text.get(..end).map(DeTable::parse);
        upto.is_some_and(|read| read.is_err_and(|error| error.span().is_none()))
    };
    let sound = starts.partition_point(|&start| !is_deep(start));
    starts.get(sound.saturating_sub(1)).copied().unwrap_or(0)
}

/// The line of a byte of a text, from 1.
#[must_use]
pub fn line_at(text: &str, byte: usize) -> usize {
    let before = text.as_bytes().get(..byte).unwrap_or_default();
    1 + before.iter().filter(|&&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
title = \"t\" # 1
list = [
  'one',
  'two', # 4
]

[workload]
seconds = 1
[[factor]] # 9
name = 'f'
[[factor.level]]
name = '1'
[[factor.level]] # 13
name = '2'
set = [
  'a=1',
  'b=2', # 17
]
[factor.level.published.tests]
'a.b' = { read = 'x' }
[[factor]]
level = [
  { name = '3' },
  { name = '4' }, # 24
]
[factor.more.of] # 26
it = 1
";

    #[test]
    fn every_place_has_its_line_and_what_was_left_out_that_of_what_is_around_it() {
        for (place, line) in [
            ("title", 1),
            ("list", 2),
            ("list.1", 4),
            ("list.7", 2),
            ("workload.seconds", 8),
            ("workload.tests.2", 7),
            ("factor", 9),
            ("factor.0", 9),
            ("factor.0.name", 10),
            ("factor.0.level.0.set", 11),
            ("factor.0.level.1", 13),
            ("factor.0.level.1.set", 15),
            ("factor.0.level.1.set.1", 17),
            ("factor.0.level.1.published.tests.a.b.read", 20),
            ("factor.0.level.1.published.tests.a", 19),
            ("factor.1.name", 21),
            ("factor.1.level.1.name", 24),
            ("factor.1.more.of.it", 27),
            ("factor.1.more.of.", 26),
            ("nothing.of.it", 1),
            ("", 1),
        ] {
            assert_eq!(line_of(TEXT, place), line, "{place}");
        }
        assert_eq!(line_of("title = ", "title"), 1);
        let mistake = Mistake::at("set.1", "it is wrong").within("factor.0.level.1");
        let said = Language::English.say(&mistake.in_text(TEXT));
        assert_eq!(said, "line 17: it is wrong");
    }

    #[test]
    fn a_key_of_too_many_dots_has_its_line_wherever_it_stands() {
        let key = vec!["a"; 2000].join(".");
        for (before, behind, line) in [
            ("", "= 1", 1),
            ("", " = 1\n", 1),
            ("a = 1\n\n", " = 1\nb = 2\n", 3),
            ("a = \"\"\"\nb\n\"\"\"\n[c]\n", " = 1\n[", 5),
            ("a = [\n1,\n", "", 3),
            ("a = 'ü'\r\n[", "]\n", 2),
            ("a = {\nb = 1,\n", " = 1 }\n", 3),
        ] {
            let text = format!("{before}{key}{behind}");
            let error = toml::from_str::<toml::Table>(&text).unwrap_err();
            if error.span().is_none() {
                let said = format!("line {line}: its keys are nested too deep");
                assert_eq!(wrong_with(&text, &error), said, "{before}");
            }
            assert_eq!(line_at(&text, start_of(&text, &error)), line, "{before}");
        }
        let error = toml::from_str::<toml::Table>("a = 1\nb = ]\n").unwrap_err();
        assert_eq!(start_of("a = 1\nb = ]\n", &error), 10);
        assert!(wrong_with("a = 1\nb = ]\n", &error).contains("line 2"));
    }
}
