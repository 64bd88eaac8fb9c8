//! What is wrong with a value in a TOML file, and its line.

use std::fmt;

use toml::de::{DeTable, DeValue};

/// What is wrong with a value of a file, and which one it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Keys, and numbers in lists, from the file inwards: `factor.0.level.1.set`.
    place: String,
    reason: String,
}

impl Mistake {
    /// The value at this place, of the file or of the table that is looked at, is wrong.
    pub fn at(place: impl Into<String>, reason: impl Into<String>) -> Self {
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
    pub fn because(mut self, reason: impl FnOnce(&str) -> String) -> Self {
        self.reason = reason(&self.reason);
        self
    }

    /// Its line in this text.
    #[must_use]
    pub fn line_in(&self, text: &str) -> usize {
        line_of(text, &self.place)
    }

    /// What is wrong, behind its line in this text.
    #[must_use]
    pub fn in_text(&self, text: &str) -> String {
        format!("line {}: {self}", self.line_in(text))
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
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
        assert_eq!(mistake.in_text(TEXT), "line 17: it is wrong");
    }
}
