//! Text from anywhere made safe to show: names come from servers, hosts and files, and none of
//! them may move a cursor, change a colour or turn the reading direction.

pub(crate) use record::sanitized_text::clean;
use record::sanitized_text::{REPLACEMENT, is_unsafe};

/// A whole document cleaned of the same characters; its own line breaks stay.
pub(crate) fn clean_lines(document: &str) -> String {
    document
        .chars()
        .map(|character| match character {
            '\n' => '\n',
            character if is_unsafe(character) => REPLACEMENT,
            character => character,
        })
        .collect()
}

/// At most so many columns of it, with an ellipsis where something is left out.
pub(crate) fn shorten(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character_width(character);
        if used > columns {
            break;
        }
        short.push(character);
    }
    short.push('…');
    short
}

/// Columns the text takes on a terminal, never fewer than it really takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.chars().map(character_width).sum()
}

/// One column for alphabets and the signs this crate draws with, two for everything that may be
/// wide. Too much is harmless here and too little is not, so combining marks count as well.
pub(crate) const fn character_width(character: char) -> usize {
    match character {
        '\0'..='\u{10ff}' | '\u{2000}'..='\u{22ff}' | '\u{2500}'..='\u{25ff}' | REPLACEMENT => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_survives() {
        let hostile = "a\u{1b}[31mred\u{7}\u{9b}2J\r\n\u{202e}txt\u{200b}\u{7f}";
        let cleaned = clean(hostile);
        assert_eq!(
            cleaned,
            "a\u{fffd}[31mred\u{fffd}\u{fffd}2J\u{fffd} \u{fffd}txt\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn ordinary_names_stay_as_they_are() {
        for name in ["data", "Müller's Fotos", "写真", "a<b>&\"c\"", "ελληνικά"] {
            assert_eq!(clean(name), name);
        }
    }

    #[test]
    fn shortening_keeps_to_its_columns() {
        assert_eq!(shorten("abcdef", 6), "abcdef");
        assert_eq!(shorten("abcdef", 5), "abcd…");
        for columns in 1..20 {
            assert!(width(&shorten("写真写真写真写真写真", columns)) <= columns);
        }
    }
}
