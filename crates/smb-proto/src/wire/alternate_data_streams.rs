//! The data streams of a file (MS-FSCC 2.4.43).

use bytes::BufMut as _;

use super::{Defect, Malformed, Message, Reader, index, length32, utf16};

/// FileStreamInformation: the names of all data streams of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamInformation {
    /// As in `::$DATA`, which is what everybody reads, and `:name:$DATA`.
    pub names: Vec<String>,
}

impl StreamInformation {
    /// What stands before the name: where the next one is, the length of the name, and two sizes.
    const FIXED: usize = 24;
    /// The stream that every file has.
    const MAIN: &'static str = "::$DATA";

    /// The first stream beside the one that every file has.
    pub fn first_alternate(&self) -> Option<&str> {
        let mut names = self.names.iter().map(String::as_str);
        names.find(|name| !name.eq_ignore_ascii_case(Self::MAIN))
    }
}

impl Message<'_> for StreamInformation {
    const NAME: &'static str = "FileStreamInformation";

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        for (place, name) in self.names.iter().enumerate() {
            let name = utf16::encode(name);
            let length = (Self::FIXED + name.len()).next_multiple_of(8);
            let last = place + 1 == self.names.len();
            out.put_u32_le(if last { 0 } else { length32(length) });
            out.put_u32_le(length32(name.len()));
            out.put_u64_le(0);
            out.put_u64_le(0);
            out.put_slice(&name);
            if !last {
                super::pad_to_8(out, start);
            }
        }
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut names = Vec::new();
        let mut rest = bytes;
        loop {
            let mut reader = Reader::new(Self::NAME, rest);
            let next = index(reader.u32()?);
            let length = index(reader.u32()?);
            reader.skip(16)?;
            names.push(utf16::decode(reader.bytes(length)?));
            if next == 0 {
                return Ok(Self { names });
            }
            if next < Self::FIXED {
                return Err(reader.malformed(Defect::OutOfBounds("NextEntryOffset")));
            }
            rest = rest
                .get(next..)
                .ok_or_else(|| reader.malformed(Defect::OutOfBounds("NextEntryOffset")))?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_file_has_is_no_alternate_stream() {
        let of = |names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            StreamInformation { names }
                .first_alternate()
                .map(str::to_owned)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["::$DATA"]), None);
        let marked = of(&["::$Data", ":Zone.Identifier:$DATA", ":b:$DATA"]);
        assert_eq!(marked.as_deref(), Some(":Zone.Identifier:$DATA"));
    }

    #[test]
    fn entries_that_lead_nowhere_are_malformed() {
        let mut good = Vec::new();
        let names = vec!["::$DATA".to_owned(), ":a:$DATA".to_owned()];
        StreamInformation { names }.encode(&mut good);
        assert!(StreamInformation::decode(&good).is_ok());
        for next in [1_u32, 23, 4000] {
            good[..4].copy_from_slice(&next.to_le_bytes());
            assert!(StreamInformation::decode(&good).is_err(), "{next}");
        }
    }
}
