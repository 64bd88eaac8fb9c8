//! What is kept beside a part, so that a later run may go on with it.

use std::fmt::Write as _;

/// Smaller files are copied anew rather than continued.
pub(super) const RESUME_BYTES_MIN: u64 = 8 << 20;
/// Longest record that is read.
pub(super) const BYTES_MAX: usize = 1024;
const FIRST_LINE: &str = "linerate part 2";

/// Which file a part was copied from. Only a part of exactly this file is ever continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Its length.
    pub size: u64,
    /// When its data was changed last, in the server's unit.
    pub written: u64,
    /// When anything of it was changed last, zero where that is not known: whoever sets the other time back changes this
    /// one.
    pub changed: u64,
    /// Its number on its file system, zero where it has none.
    pub id: u64,
}

/// How far a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub source: Identity,
    /// So many bytes from the begin are on storage. What follows may be anything.
    pub complete: u64,
}

impl Record {
    /// As text with a check sum: a record that was half written counts as none. Its length depends
    /// on the source only, so that the next record of the same part takes its very place.
    pub(crate) fn to_text(self) -> String {
        let Identity {
            size,
            written,
            changed,
            id,
        } = self.source;
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "{FIRST_LINE}\nsize {size}\nwritten {written}\nchanged {changed}\nid {id}\ncomplete {:020}\n",
            self.complete
        );
        let check = blake3::hash(text.as_bytes()).to_hex();
        let _ = writeln!(text, "check {check}");
        text
    }

    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (body, check) = text.split_at_checked(text.find("check ")?)?;
        let expected = blake3::hash(body.as_bytes()).to_hex();
        if check.strip_prefix("check ")?.strip_suffix('\n')? != expected.as_str() {
            return None;
        }
        let mut lines = body.lines();
        if lines.next()? != FIRST_LINE {
            return None;
        }
        let mut number = |name: &str| -> Option<u64> {
            let (found, value) = lines.next()?.split_once(' ')?;
            (found == name).then_some(value)?.parse().ok()
        };
        let (size, written, changed) = (number("size")?, number("written")?, number("changed")?);
        let (id, complete) = (number("id")?, number("complete")?);
        (complete <= size).then_some(Self {
            source: Identity {
                size,
                written,
                changed,
                id,
            },
            complete,
        })
    }

    /// Where to go on with a part of this length: zero unless the source is still the same file.
    pub(super) fn resume_at(&self, source: &Identity, part_bytes: u64) -> u64 {
        if self.source == *source && self.complete <= part_bytes {
            self.complete
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: Record = Record {
        source: Identity {
            size: 1000,
            written: 77,
            changed: 78,
            id: 5,
        },
        complete: 600,
    };

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let text = RECORD.to_text();
        assert!(text.len() < BYTES_MAX);
        assert_eq!(Record::parse(text.as_bytes()), Some(RECORD));
    }

    #[test]
    fn no_prefix_and_no_change_of_a_letter_is_a_record() {
        let text = RECORD.to_text();
        for end in 0..text.len() {
            assert_eq!(Record::parse(&text.as_bytes()[..end]), None, "{end}");
        }
        for place in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[place] ^= 1;
            assert_eq!(Record::parse(&bytes), None, "{place}");
        }
        let mut more = text.into_bytes();
        more.push(b'\n');
        assert_eq!(Record::parse(&more), None);
        let beyond = Record {
            complete: 1001,
            ..RECORD
        };
        assert_eq!(Record::parse(beyond.to_text().as_bytes()), None);
    }

    #[test]
    fn only_the_same_source_is_continued() {
        let source = RECORD.source;
        assert_eq!(RECORD.resume_at(&source, 1000), 600);
        assert_eq!(RECORD.resume_at(&source, 599), 0);
        for other in [
            Identity {
                size: 1001,
                ..source
            },
            Identity {
                written: 78,
                ..source
            },
            Identity {
                changed: 79,
                ..source
            },
            Identity { id: 6, ..source },
        ] {
            assert_eq!(RECORD.resume_at(&other, 1000), 0);
        }
    }
}
