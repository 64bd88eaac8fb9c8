//! What test files hold, and the ranges in which they are gone through.

use std::ops::Range;

use record::Data as Contents;

use crate::{Error, fill_random};

/// Random bytes from which the test data are cut.
pub(crate) const POOL_BYTES: usize = 4 << 20;
/// Every piece of this length gets its own place in the file written into it, so that no two
/// pieces are the same and no server can store them once.
const STAMP_EVERY: usize = 4096;

/// Test data: zeros, or what cannot be made shorter and of which no two pieces are the same.
pub(crate) struct TestData(Option<Vec<u8>>);

impl TestData {
    pub(crate) fn new(contents: Contents) -> Result<Self, Error> {
        if contents == Contents::Zeros {
            return Ok(Self(None));
        }
        let mut pool = vec![0; POOL_BYTES];
        fill_random(&mut pool)?;
        Ok(Self(Some(pool)))
    }

    /// What stands in the test file at `offset`.
    pub(crate) fn fill(&self, offset: u64, room: &mut [u8]) {
        let Some(pool) = &self.0 else {
            room.fill(0);
            return;
        };
        let mut filled = 0;
        while filled < room.len() {
            let at = offset.wrapping_add(filled as u64);
            let from = usize::try_from(at % POOL_BYTES as u64).unwrap_or(0);
            let count = (room.len() - filled).min(POOL_BYTES - from);
            room[filled..filled + count].copy_from_slice(&pool[from..from + count]);
            filled += count;
        }
        for (piece, place) in room
            .chunks_mut(STAMP_EVERY)
            .zip((offset..).step_by(STAMP_EVERY))
        {
            if let Some(stamp) = piece.first_chunk_mut() {
                *stamp = place.to_le_bytes();
            }
        }
    }
}

/// A range in pieces of that length; the last one may be shorter.
pub(crate) fn pieces(range: Range<u64>, each: u64) -> impl Iterator<Item = Range<u64>> {
    let count = range.end.saturating_sub(range.start).div_ceil(each);
    (0..count).map(move |index| {
        let begin = range.start + index * each;
        begin..range.end.min(begin + each)
    })
}

/// The bytes of a file that are worth going through again and again: no request is shorter than another.
pub(super) fn whole_blocks(file_size: u64, block: u64) -> u64 {
    (file_size / block).max(1) * block
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_request_is_shorter_than_another() {
        assert_eq!(whole_blocks(10, 4), 8);
        assert_eq!(whole_blocks(8, 4), 8);
        assert_eq!(whole_blocks(3, 4), 4, "the server says where it ends");
    }

    #[test]
    fn no_two_pieces_of_the_data_are_the_same() {
        let data = TestData::new(Contents::Random).unwrap();
        let mut seen = HashSet::new();
        // Twice round the pool.
        for offset in (0..2 * POOL_BYTES as u64).step_by(1 << 20) {
            let mut room = vec![0; 1 << 20];
            data.fill(offset, &mut room);
            for piece in room.chunks(STAMP_EVERY) {
                assert!(seen.insert(piece.to_vec()));
            }
        }
        // Where a block begins does not matter, and short ends are filled too.
        let (mut whole, mut half) = (vec![0; 2 << 20], vec![0; (1 << 20) + 5]);
        data.fill(0, &mut whole);
        data.fill(1 << 20, &mut half[..1 << 20]);
        assert!(whole[1 << 20..] == half[..1 << 20]);
        data.fill(POOL_BYTES as u64 - 7, &mut half);
        assert!(half[(1 << 20) - 100..].iter().any(|&byte| byte != 0));
    }

    #[test]
    fn pieces_cover_a_range_once() {
        let mib = 1 << 20;
        let found: Vec<_> = pieces(5..(2 << 20) + 6, mib).collect();
        assert_eq!(
            found,
            [5..5 + mib, 5 + mib..5 + 2 * mib, 5 + 2 * mib..6 + 2 * mib]
        );
        assert_eq!(pieces(7..7, mib).count(), 0);
    }
}
