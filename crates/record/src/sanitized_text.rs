//! Text of strangers made safe to show: names and reasons come from servers, hosts and files, and none of them may
//! move a cursor, change a colour, turn the reading direction, or look like a line of ours.

/// What stands in place of a character that must not be shown.
pub const REPLACEMENT: char = '\u{fffd}';
/// Longest word of a file that is quoted.
pub(crate) const EXCERPT_CHARS_MAX: usize = 40;

/// Whether a character steers a terminal, is invisible, ends a line or changes the direction of what follows.
#[must_use]
pub fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{e0000}'..)
}

/// The text on one line, without what [`is_unsafe`]. Line ends and tabs become spaces.
#[must_use]
pub fn clean(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\n' | '\t' => ' ',
            character if is_unsafe(character) => REPLACEMENT,
            character => character,
        })
        .collect()
}

/// A whole text cleaned of the same characters; its own line ends and tabs stay.
#[must_use]
pub fn clean_lines(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\n' | '\t' => character,
            character if is_unsafe(character) => REPLACEMENT,
            character => character,
        })
        .collect()
}

/// An error as its library shows it, with lines of its own in front of a message that may hold a stranger's
/// words: those stay on the last line.
#[must_use]
pub fn clean_error(shown: &str, message: &str) -> String {
    match shown.trim_end().strip_suffix(message.trim_end()) {
        Some(lines) => clean_lines(lines) + &clean(message.trim_end()),
        None => clean_lines(shown.trim_end()),
    }
}

/// A word of a file as it is quoted: clean, and no longer than a word of ours.
#[must_use]
pub fn excerpt(text: &str) -> String {
    clean(text).chars().take(EXCERPT_CHARS_MAX).collect()
}

/// What is wrong with one line of a JSON Lines file. Only the column of the parser's position means something: it counts
/// lines within this one.
#[must_use]
pub fn of_a_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(what) => format!("{what} (column {})", error.column()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_stranger_wrote_is_one_line_of_letters() {
        let hostile = "a\u{1b}[31mred\u{7}\u{9b}2J\r\n\u{202e}txt\u{200b}\u{7f}\u{2069}\u{feff}\t.";
        assert_eq!(
            clean(hostile),
            "a\u{fffd}[31mred\u{fffd}\u{fffd}2J\u{fffd} \u{fffd}txt\u{fffd}\u{fffd}\u{fffd}\u{fffd} ."
        );
        assert_eq!(clean_lines("a\n\tb\u{2028}\r"), "a\n\tb\u{fffd}\u{fffd}");
        let shown = "at line 1\n  |\n1 | \"a\\nb\" = 1\nunknown key `a\nb`\n";
        assert_eq!(
            clean_error(shown, "unknown key `a\nb`"),
            "at line 1\n  |\n1 | \"a\\nb\" = 1\nunknown key `a b`"
        );
        assert_eq!(clean_error("a\u{7}\n", "other"), "a\u{fffd}");
        for name in ["data", "Müller's Fotos", "写真", "a<b>&\"c\"…", "ελληνικά"] {
            assert_eq!(clean(name), name);
        }
    }
}
