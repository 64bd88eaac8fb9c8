//! What a tool may be handed on its command line, whatever stands in a file or was typed.

use record::Value;

/// Longest word that a tool is handed.
const WORD_BYTES_MAX: usize = 200;

/// Whether it is a word that no tool could take for an option, a path or more than one word.
pub(super) fn is_word(text: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "._+:-".contains(letter);
    text.len() <= WORD_BYTES_MAX
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.chars().all(fits)
}

/// Whether it is a number of things that there can be.
pub(super) fn is_count(value: &Value) -> bool {
    matches!(value, Value::Integer(0..=0xffff_ffff))
}

/// Whether it is a text of which `fits` is so.
pub(super) fn is_text(value: &Value, fits: impl FnOnce(&str) -> bool) -> bool {
    matches!(value, Value::Text(text) if fits(text))
}
