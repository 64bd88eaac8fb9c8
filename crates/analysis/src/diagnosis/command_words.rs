//! Words of commands and of configuration files.

use std::fmt::Write as _;

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

/// A word of `/etc/fstab`: what would part it stands as three octal digits behind a backslash (fstab(5)).
pub(super) fn of_fstab(word: &str) -> String {
    let mut text = String::new();
    for character in word.chars() {
        match character {
            // Writing to a string cannot fail.
            ' ' | '\t' | '\n' | '\\' | '#' => drop(write!(text, "\\{:03o}", u32::from(character))),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_parts_no_word() {
        assert_eq!(of_fstab("//nas/a b"), "//nas/a\\040b");
        assert_eq!(quoted("//nas/a b"), "'//nas/a b'");
        assert_eq!(quoted("//nas/it's"), r"'//nas/it'\''s'");
    }
}
