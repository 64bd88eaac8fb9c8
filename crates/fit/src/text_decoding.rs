//! Bytes of a stranger's file as text: UTF-8, UTF-16 with its mark, or code page 932, which Windows in
//! Japanese writes. What is parsed is parsed after that, so that a byte 0x5C inside a character is no
//! backslash and a byte 0x2C none of its commas.

use encoding_rs::{Encoding, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE};

/// Decodes a file. Without a mark in front it is UTF-8, or else UTF-16 where every second byte of its
/// start is zero, or else code page 932 (`windows-31j`, the `Shift_JIS` of the WHATWG standard).
///
/// # Errors
/// The line, from 1, that is none of these.
pub fn decode(bytes: &[u8]) -> Result<String, usize> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return whole(encoding, &bytes[mark..]);
    }
    if let Some(encoding) = without_mark(bytes) {
        return whole(encoding, bytes);
    }
    let valid = match str::from_utf8(bytes) {
        Ok(text) => return Ok(text.to_owned()),
        Err(error) => error.valid_up_to(),
    };
    // Letters that nobody has given a meaning come of text in another code page.
    let is_private = |letter: char| ('\u{e000}'..='\u{f8ff}').contains(&letter);
    match whole(SHIFT_JIS, bytes) {
        Ok(text) if !text.contains(is_private) => Ok(text),
        _ => Err(line_after(&bytes[..valid])),
    }
}

fn whole(encoding: &'static Encoding, bytes: &[u8]) -> Result<String, usize> {
    match encoding.decode_without_bom_handling_and_without_replacement(bytes) {
        Some(text) => Ok(text.into_owned()),
        None if encoding == UTF_8 => {
            let valid = str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
            Err(line_after(&bytes[..valid]))
        }
        None => {
            // With a letter that stands for each fault the first of them tells the line.
            let (text, _) = encoding.decode_without_bom_handling(bytes);
            let fault = text.find('\u{fffd}').unwrap_or(0);
            Err(line_after(&text.as_bytes()[..fault]))
        }
    }
}

/// UTF-16 of which most letters are those of ASCII.
fn without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    const LOOKED_AT: usize = 64;
    let (pairs, _) = bytes[..bytes.len().min(LOOKED_AT)].as_chunks::<2>();
    let zeros = |place: usize| pairs.iter().filter(|pair| pair[place] == 0).count();
    let enough = pairs.len() / 2 + 1;
    match [zeros(0), zeros(1)] {
        [0, low] if low >= enough => Some(UTF_16LE),
        [high, 0] if high >= enough => Some(UTF_16BE),
        _ => None,
    }
}

fn line_after(text: &[u8]) -> usize {
    1 + text.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_windows_is_read_and_bytes_are_refused() {
        let wide = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(bytes).collect()
        };
        for text in ["a,ü\n", "a,b\n1,2\n", "速度 : 1 バイト/秒\r\n"] {
            let marked = format!("\u{feff}{text}");
            assert_eq!(decode(&wide(&marked, u16::to_le_bytes)).unwrap(), text);
            assert_eq!(decode(&wide(&marked, u16::to_be_bytes)).unwrap(), text);
            assert_eq!(decode(marked.as_bytes()).unwrap(), text);
            assert_eq!(decode(text.as_bytes()).unwrap(), text);
        }
        assert_eq!(
            decode(&wide("a,b\n1,2\n", u16::to_le_bytes)).unwrap(),
            "a,b\n1,2\n"
        );
        assert_eq!(
            decode(&wide("a,b\n1,2\n", u16::to_be_bytes)).unwrap(),
            "a,b\n1,2\n"
        );
        assert_eq!(decode(b"\xff\xfea"), Err(1));
        assert_eq!(decode(b"a\nb\n\xfc"), Err(3));
        assert_eq!(decode(b""), Ok(String::new()));
    }

    /// 表, ソ and 能 have 0x5C as their second byte in code page 932.
    #[test]
    fn a_backslash_byte_inside_a_character_is_none() {
        let bytes = b"\x95\x5c,\x83\x5c\x94\x5c\n1,2\n";
        assert_eq!(decode(bytes).unwrap(), "表,ソ能\n1,2\n");
        let yen = b"C:\\\x95\x5c\\a.txt\n";
        assert_eq!(decode(yen).unwrap(), "C:\\表\\a.txt\n");
        // Half-width katakana, and letters of NEC and IBM.
        assert_eq!(decode(b"\xb1\xb2\x87\x40\xfa\x40").unwrap(), "ｱｲ①ⅰ");
    }

    #[test]
    fn text_of_western_europe_is_refused_rather_than_read_as_japanese() {
        assert_eq!(decode(b"Gr\xf6\xdfe,1\n"), Err(1));
        assert_eq!(decode(b"a\nf\xfcr 1\n"), Err(2));
    }
}
