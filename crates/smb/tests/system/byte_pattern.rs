//! Bytes that tell where in a file they belong, and which file it was.

/// Fills a part of file `seed` that begins at `offset`.
pub(crate) fn fill(seed: u64, offset: u64, bytes: &mut [u8]) {
    let mut at = offset;
    let mut rest = bytes;
    if at.is_multiple_of(8) {
        // most of it, and tests have much of it
        let mut words = rest.chunks_exact_mut(8);
        for room in &mut words {
            room.copy_from_slice(&word(seed, at / 8).to_le_bytes());
            at += 8;
        }
        rest = words.into_remainder();
    }
    while !rest.is_empty() {
        let word = word(seed, at / 8).to_le_bytes();
        let skip = usize::try_from(at % 8).expect("it is below 8");
        let count = (8 - skip).min(rest.len());
        let (part, behind) = rest.split_at_mut(count);
        part.copy_from_slice(&word[skip..skip + count]);
        rest = behind;
        at += count as u64;
    }
}

/// The first offset at which bytes differ from file `seed`.
pub(crate) fn difference(seed: u64, offset: u64, bytes: &[u8]) -> Option<u64> {
    let mut expected = vec![0; bytes.len()];
    fill(seed, offset, &mut expected);
    if bytes == expected {
        return None;
    }
    let place = bytes
        .iter()
        .zip(&expected)
        .position(|(one, other)| one != other)?;
    Some(offset + place as u64)
}

/// SplitMix64 of a place in a file.
fn word(seed: u64, index: u64) -> u64 {
    let mut word = (seed << 40)
        .wrapping_add(index)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}
