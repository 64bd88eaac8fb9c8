//! The BLAKE3 hash of a file whose pieces come in any order.

use std::collections::BTreeMap;

use blake3::hazmat::{
    ChainingValue, HasherExt as _, Mode, merge_subtrees_non_root, merge_subtrees_root,
};
use blake3::{Hash, Hasher};

/// The file is hashed in blocks of this size, a power of two, which are merged as BLAKE3 does.
const BLOCK_BYTES: u64 = 1 << 20;

/// A hash under way. Each byte must be added once; the order does not matter.
#[derive(Debug)]
pub(super) struct FileHash {
    size: u64,
    /// Blocks of which a part has come.
    begun: BTreeMap<u64, Begun>,
    /// Blocks that are hashed and wait for one before them.
    waiting: BTreeMap<u64, ChainingValue>,
    /// Blocks that have been merged.
    merged: u64,
    /// Whole trees of blocks, the largest first.
    trees: Vec<ChainingValue>,
    /// The hash of a file of one block.
    single: Option<Hash>,
}

#[derive(Debug)]
struct Begun {
    bytes: Vec<u8>,
    filled: usize,
}

impl FileHash {
    /// Of a file of this size.
    pub(super) fn new(size: u64) -> Self {
        Self {
            size,
            begun: BTreeMap::new(),
            waiting: BTreeMap::new(),
            merged: 0,
            trees: Vec::new(),
            single: (size == 0).then(|| blake3::hash(b"")),
        }
    }

    /// Adds a piece; what is beyond the end is left out.
    pub(super) fn add(&mut self, mut offset: u64, mut bytes: &[u8]) {
        while !bytes.is_empty() && offset < self.size {
            let block = offset / BLOCK_BYTES;
            let start = block * BLOCK_BYTES;
            let length = narrow(BLOCK_BYTES.min(self.size - start));
            let place = narrow(offset - start);
            let (now, later) = bytes.split_at(bytes.len().min(length - place));
            if now.len() == length {
                self.hash(block, now);
            } else {
                self.collect(block, length, place, now);
            }
            offset += now.len() as u64;
            bytes = later;
        }
    }

    /// The hash, if every byte was added.
    pub(super) fn finish(mut self) -> Option<Hash> {
        if self.single.is_some() {
            return self.single;
        }
        if self.merged != self.size.div_ceil(BLOCK_BYTES) {
            return None;
        }
        let mut right = self.trees.pop()?;
        while self.trees.len() > 1 {
            let left = self.trees.pop()?;
            right = merge_subtrees_non_root(&left, &right, Mode::Hash);
        }
        Some(merge_subtrees_root(&self.trees.pop()?, &right, Mode::Hash))
    }

    fn collect(&mut self, block: u64, length: usize, place: usize, bytes: &[u8]) {
        let begun = self.begun.entry(block).or_insert_with(|| Begun {
            bytes: vec![0; length],
            filled: 0,
        });
        begun.bytes[place..place + bytes.len()].copy_from_slice(bytes);
        begun.filled += bytes.len();
        if begun.filled == length
            && let Some(whole) = self.begun.remove(&block)
        {
            self.hash(block, &whole.bytes);
        }
    }

    fn hash(&mut self, block: u64, bytes: &[u8]) {
        if self.size <= BLOCK_BYTES {
            self.single = Some(blake3::hash(bytes));
            return;
        }
        let mut hasher = Hasher::new();
        hasher.set_input_offset(block * BLOCK_BYTES).update(bytes);
        self.waiting.insert(block, hasher.finalize_non_root());
        while let Some(next) = self.waiting.remove(&self.merged) {
            // Trees are merged only when more comes: the last merge makes the root.
            while self.trees.len() > self.merged.count_ones() as usize {
                let (Some(right), Some(left)) = (self.trees.pop(), self.trees.pop()) else {
                    break;
                };
                self.trees
                    .push(merge_subtrees_non_root(&left, &right, Mode::Hash));
            }
            self.trees.push(next);
            self.merged += 1;
        }
    }
}

/// Of numbers that are at most [`BLOCK_BYTES`].
fn narrow(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(size: usize) -> Vec<u8> {
        (0..size).map(|index| ((index * 31) >> 3) as u8).collect()
    }

    /// The pieces in an order that depends on the seed.
    fn hash_in_pieces(content: &[u8], piece: usize, seed: usize) -> Option<Hash> {
        let mut hash = FileHash::new(content.len() as u64);
        let mut pieces: Vec<_> = content.chunks(piece).enumerate().collect();
        pieces.sort_by_key(|(number, _)| (number.wrapping_mul(seed) % 13, *number));
        for (number, bytes) in pieces {
            hash.add((number * piece) as u64, bytes);
        }
        hash.finish()
    }

    #[test]
    fn any_order_gives_the_hash_of_the_whole() {
        let block = narrow(BLOCK_BYTES);
        for size in [
            0,
            1,
            block - 1,
            block,
            block + 1,
            2 * block,
            7 * block + 5,
            8 * block,
        ] {
            let content = content(size);
            let whole = Some(blake3::hash(&content));
            for (piece, seed) in [(block, 1), (block, 5), (block / 2 + 3, 7), (3 * block, 3)] {
                assert_eq!(
                    hash_in_pieces(&content, piece, seed),
                    whole,
                    "{size} {piece}"
                );
            }
        }
    }

    #[test]
    fn what_is_not_whole_has_no_hash() {
        let block = narrow(BLOCK_BYTES);
        let content = content(3 * block);
        let mut hash = FileHash::new(content.len() as u64);
        hash.add(0, &content[..block]);
        hash.add(BLOCK_BYTES + 1, &content[block + 1..]);
        assert_eq!(hash.finish(), None);
    }

    #[test]
    fn what_is_beyond_the_end_does_not_count() {
        let mut hash = FileHash::new(3);
        hash.add(0, b"abcdef");
        assert_eq!(hash.finish(), Some(blake3::hash(b"abc")));
    }
}
