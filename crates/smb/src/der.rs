//! The few elements of DER (X.690) that tokens of a login are made of.

pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(crate) const ENUMERATED: u8 = 0x0A;
pub(crate) const SEQUENCE: u8 = 0x30;

/// The tag of an explicit `[number]`.
pub(crate) const fn explicit(number: u8) -> u8 {
    0xA0 | number
}

/// Tag and content of the first element, and what comes after it.
pub(crate) fn read(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, first], rest) = bytes.split_first_chunk()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let bytes = usize::from(first & 0x7F);
        // Longer ones are no message of a KDC or server, and none at all is a form that DER forbids.
        let (long, rest) = rest
            .split_at_checked(bytes)
            .filter(|_| (1..=4).contains(&bytes))?;
        let add = |sum: usize, &byte: &u8| sum << 8 | usize::from(byte);
        (long.iter().fold(0, add), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// The content of an element that must have this tag, and what comes after it.
pub(crate) fn read_tagged(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (found, content, rest) = read(bytes)?;
    (found == tag).then_some((content, rest))
}

/// An element of these parts.
pub(crate) fn write(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut element = vec![tag];
    let bytes = length.to_be_bytes();
    let long = &bytes[bytes.iter().take_while(|&&byte| byte == 0).count()..];
    match u8::try_from(length) {
        Ok(short) if short < 0x80 => element.push(short),
        // As many bytes as a number of this machine has, which are eight at most.
        _ => {
            element.push(0x80 | u8::try_from(long.len()).unwrap_or_default());
            element.extend(long);
        }
    }
    parts.iter().for_each(|part| element.extend(*part));
    element
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_read_as_it_was_written_and_no_prefix_of_it_is() {
        for (bytes, length) in [
            (0, &[0][..]),
            (127, &[127]),
            (128, &[0x81, 128]),
            (255, &[0x81, 255]),
            (256, &[0x82, 1, 0]),
            (70_000, &[0x83, 1, 0x11, 0x70]),
        ] {
            let content = vec![7; bytes];
            let element = write(OCTET_STRING, &[&content]);
            assert_eq!(element[1..=length.len()], *length);
            let (found, rest) = read_tagged(OCTET_STRING, &element).expect("whole");
            assert_eq!((found, rest), (&content[..], &[][..]));
            for end in 0..element.len() {
                assert_eq!(read(&element[..end]), None, "{bytes}: {end}");
            }
        }
    }

    #[test]
    fn lengths_that_nothing_has_are_refused() {
        for odd in [
            &[0x30, 0x80][..],
            &[0x30, 0x85, 0, 0, 0, 0, 1, 0],
            &[0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF, 0],
            &[0x30, 0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        ] {
            assert_eq!(read(odd), None, "{odd:x?}");
        }
        assert_eq!(read_tagged(SEQUENCE, &[OCTET_STRING, 0]), None);
    }
}
