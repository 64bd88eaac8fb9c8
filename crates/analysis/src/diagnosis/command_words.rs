//! Words of commands.

/// A word of a command as a POSIX shell takes it.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || "/:.@_-+=,".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_parts_no_word() {
        assert_eq!(quoted("//nas/a b"), "'//nas/a b'");
        assert_eq!(quoted("//nas/it's"), r"'//nas/it'\''s'");
    }
}
