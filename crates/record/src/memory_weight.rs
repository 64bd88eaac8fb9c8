//! What a record takes in memory, told from how it is written: so that a file of many small things is
//! bounded like one of few large ones.

use std::io::{self, Write};

use serde::Serialize;

/// What an element of a list takes besides what it is written with: the most that any of ours does, as
/// an empty list in a list.
const ELEMENT_BYTES: usize = 48;

/// What a value takes in memory, at most, in bytes. Each field is written with its name, which makes
/// up for fields that a file may leave out.
pub(crate) fn weight(value: &impl Serialize) -> usize {
    let mut scale = Scale::default();
    // Nothing is written anywhere, and no type of ours refuses to be.
    drop(serde_json::to_writer(&mut scale, value));
    scale.bytes + scale.elements * ELEMENT_BYTES
}

/// How many elements the lists of a line of JSON have, before anything is made of it.
pub(crate) fn elements(line: &[u8]) -> usize {
    let mut scale = Scale::default();
    scale.put(line);
    scale.elements
}

#[derive(Default)]
struct Scale {
    bytes: usize,
    elements: usize,
    /// The lists (1) and objects (0) that are open, the innermost in the last bit. No type of ours is as
    /// deep as this is wide.
    open: u64,
    in_text: bool,
    escaped: bool,
}

impl Scale {
    fn put(&mut self, piece: &[u8]) {
        self.bytes += piece.len();
        for byte in piece {
            if self.in_text {
                self.in_text = *byte != b'"' || self.escaped;
                self.escaped = *byte == b'\\' && !self.escaped;
                continue;
            }
            match byte {
                b'"' => self.in_text = true,
                b'{' => self.open <<= 1,
                b'[' => self.open = self.open << 1 | 1,
                b'}' | b']' => self.open >>= 1,
                b',' => {}
                _ => continue,
            }
            let begins_list = *byte == b'[';
            let goes_on = *byte == b',' && self.open & 1 == 1;
            self.elements += usize::from(begins_list || goes_on);
        }
    }
}

impl Write for Scale {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.put(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_lists_weigh_more_than_they_are_written_with() {
        let of = |text: &str| {
            let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
            weight(&value)
        };
        assert_eq!(of("7"), 1);
        assert_eq!(of(r#"{"a":1,"b":2}"#), 13);
        assert_eq!(of("[1,2,3]"), 7 + 3 * ELEMENT_BYTES);
        assert_eq!(of(r#"["[,,\",,["]"#), 12 + ELEMENT_BYTES);
        assert_eq!(of(r#"{"a":[[],[]],"b":1}"#), 19 + 4 * ELEMENT_BYTES);
        assert_eq!(elements(br#"{"a":[[],[]],"b":[1"#), 5);
    }
}
