//! Copies that the server makes itself, when both ends are on it: nothing but the request goes over
//! the network. Where its file system can, both files share their storage (MS-FSCC 2.3.8), and not
//! even the disk moves anything; else it copies chunks (MS-SMB2 2.2.31.1).

use std::cell::Cell;
use std::ops::Range;

use locale::{Message, say};
use smb_proto::FileKey;
use smb_proto::wire::{CopyChunk, CopyChunksDone};

use super::name;
use crate::error::Error;
use crate::file::{ChunksCopied, File};

/// What every server takes; one that takes less says so, and then gets less.
const LIMITS: CopyChunksDone = CopyChunksDone {
    chunks: 16,
    chunk_bytes: 1 << 20,
    total_bytes: 16 << 20,
};
/// Clusters are not larger; what is cloned are whole ones.
const CLUSTER_BYTES_MAX: u64 = 64 << 10;
/// Nor smaller, where they can be shared.
const CLUSTER_BYTES_MIN: u64 = 4 << 10;
/// What is cloned at once: bounds how long the server is busy with it.
const CLONE_BYTES_MAX: u64 = 256 << 20;

/// Who copies less at once, where more is asked for, copies next to nothing: through this machine it ends.
const BYTES_MIN: u64 = 64 << 10;

/// A source that the server copies from.
pub(super) struct OnServer {
    key: [u8; 24],
    limits: Cell<CopyChunksDone>,
    source: FileKey,
    /// As long as the server takes clones.
    clones: Cell<bool>,
}

impl OnServer {
    /// Asks the server to copy from this file later, all of it, to another one.
    pub(super) fn begin(source: &File, to: &File) -> Result<Self, Error> {
        let key = source.resume_key()?;
        // Who cannot say what he can do copies.
        let clones = to.can_share_storage().unwrap_or(false);
        Ok(Self {
            key,
            limits: Cell::new(LIMITS),
            source: source.key(),
            clones: Cell::new(clones),
        })
    }

    /// Copies the begin of a range to the same place of another file. Gives how many bytes, at
    /// least one.
    pub(super) fn copy(&self, to: &File, range: &Range<u64>) -> Result<u64, Error> {
        if let Some(clusters) = clusters(range).filter(|_| self.clones.get()) {
            let Range { start, end } = clusters;
            // There must be something to share with, and no more: the length shows what was lost.
            let cloned = to.set_size(end);
            match cloned.and_then(|()| to.clone_from(self.source, clusters)) {
                Ok(()) => return Ok(end - start),
                // Two volumes of one server, perhaps.
                Err(error) if error.status().is_some() => {
                    self.clones.set(false);
                    to.set_size(start)?;
                }
                Err(error) => return Err(error),
            }
        }
        loop {
            let limits = self.limits.get();
            let chunks = chunks(range, &limits);
            let asked: u64 = chunks.iter().map(|chunk| u64::from(chunk.length)).sum();
            match answered(&limits, asked, to.copy_chunks(&self.key, chunks)?) {
                Answered::Bytes(bytes) => return Ok(bytes),
                Answered::Less(lower) => self.limits.set(lower),
                Answered::Nonsense(reason) => {
                    let object = name::printable(to.path());
                    return Err(Error::NotCopied { object, reason });
                }
            }
        }
    }
}

/// Whether a server does not copy by itself what can still be copied through this machine: it
/// refuses, or what it answers makes no sense.
pub(super) fn is_refusal(error: &Error) -> bool {
    let is_final = matches!(error, Error::DiskFull { .. } | Error::ConnectionLost { .. });
    let refuses = error.status().is_some() || matches!(error, Error::NotCopied { .. });
    refuses && !is_final
}

/// What the answer to chunks means.
#[derive(Debug, PartialEq)]
enum Answered {
    Bytes(u64),
    Less(CopyChunksDone),
    Nonsense(Message),
}

fn answered(limits: &CopyChunksDone, asked: u64, copied: ChunksCopied) -> Answered {
    match copied {
        ChunksCopied::Bytes(bytes) if (1..asked.min(BYTES_MIN)).contains(&bytes) => {
            Answered::Nonsense(say("error-smb.server-copies-little"))
        }
        ChunksCopied::Bytes(bytes) if (1..=asked).contains(&bytes) => Answered::Bytes(bytes),
        ChunksCopied::Bytes(_) => Answered::Nonsense(say("error-smb.server-copies-other")),
        ChunksCopied::TooMuch(most) => match lowered(limits, &most) {
            Some(lower) => Answered::Less(lower),
            None => Answered::Nonsense(say("error-smb.server-copies-nothing")),
        },
    }
}

/// The whole clusters that a range begins with, as far as they can be cloned at once.
fn clusters(range: &Range<u64>) -> Option<Range<u64>> {
    let bytes = range.end.saturating_sub(range.start).min(CLONE_BYTES_MAX);
    let bytes = bytes - bytes % CLUSTER_BYTES_MAX;
    let aligned = range.start.is_multiple_of(CLUSTER_BYTES_MIN);
    (bytes > 0 && aligned).then(|| range.start..range.start + bytes)
}

/// What keeps to both limits; none if that is next to nothing, or nothing less than before.
fn lowered(limits: &CopyChunksDone, most: &CopyChunksDone) -> Option<CopyChunksDone> {
    let lower = CopyChunksDone {
        chunks: limits.chunks.min(most.chunks),
        chunk_bytes: limits.chunk_bytes.min(most.chunk_bytes),
        total_bytes: limits.total_bytes.min(most.total_bytes),
    };
    let of_chunks = u64::from(lower.chunks) * u64::from(lower.chunk_bytes);
    let some = of_chunks.min(lower.total_bytes.into()) >= BYTES_MIN;
    (some && lower != *limits).then_some(lower)
}

/// The begin of a range in pieces that the server takes at once.
fn chunks(range: &Range<u64>, limits: &CopyChunksDone) -> Vec<CopyChunk> {
    let mut chunks = Vec::new();
    let mut from = range.start;
    let mut room = limits.total_bytes;
    while from < range.end && room > 0 && (chunks.len() as u64) < u64::from(limits.chunks) {
        let left = u32::try_from(range.end - from).unwrap_or(u32::MAX);
        let length = left.min(limits.chunk_bytes).min(room);
        chunks.push(CopyChunk {
            from,
            to: from,
            length,
        });
        from += u64::from(length);
        room -= length;
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(range: Range<u64>, limits: &CopyChunksDone) -> Vec<u32> {
        let chunks = chunks(&range, limits);
        assert!(chunks.iter().all(|chunk| chunk.from == chunk.to));
        chunks.iter().map(|chunk| chunk.length).collect()
    }

    #[test]
    fn chunks_keep_to_every_limit() {
        let mib = 1 << 20;
        assert_eq!(lengths(5..6, &LIMITS), [1]);
        assert_eq!(lengths(0..u64::MAX, &LIMITS), [mib; 16]);
        let odd = CopyChunksDone {
            chunks: 3,
            chunk_bytes: 10,
            total_bytes: 25,
        };
        assert_eq!(lengths(0..100, &odd), [10, 10, 5]);
        assert_eq!(lengths(0..12, &odd), [10, 2]);
        let few = CopyChunksDone { chunks: 1, ..odd };
        assert_eq!(lengths(0..100, &few), [10]);
        assert!(lengths(7..7, &odd).is_empty());
    }

    #[test]
    fn whole_clusters_are_cloned() {
        const MIB: u64 = 1 << 20;
        assert_eq!(clusters(&(0..MIB)), Some(0..MIB));
        assert_eq!(clusters(&(0..MIB + 65_535)), Some(0..MIB));
        assert_eq!(clusters(&(4096..MIB + 4097)), Some(4096..MIB + 4096));
        assert_eq!(clusters(&(0..u64::MAX)), Some(0..CLONE_BYTES_MAX));
        assert_eq!(clusters(&(0..65_535)), None);
        assert_eq!(clusters(&(1..MIB)), None);
        assert_eq!(clusters(&(MIB..MIB)), None);
    }

    #[test]
    fn limits_only_ever_shrink() {
        let less = CopyChunksDone {
            chunk_bytes: 1 << 16,
            ..LIMITS
        };
        let other = CopyChunksDone {
            chunk_bytes: 1 << 16,
            total_bytes: u32::MAX,
            ..LIMITS
        };
        assert_eq!(lowered(&LIMITS, &other), Some(less));
        assert_eq!(lowered(&less, &LIMITS), None);
        let nothing = CopyChunksDone { chunks: 0, ..less };
        assert_eq!(lowered(&LIMITS, &nothing), None);
        let next_to_nothing = CopyChunksDone {
            chunk_bytes: 1,
            ..LIMITS
        };
        assert_eq!(lowered(&LIMITS, &next_to_nothing), None);
    }

    #[test]
    fn an_odd_answer_is_a_refusal_and_ends_nothing() {
        let of = |copied| answered(&LIMITS, 100, copied);
        assert_eq!(of(ChunksCopied::Bytes(100)), Answered::Bytes(100));
        let much = answered(&LIMITS, 16 << 20, ChunksCopied::Bytes(BYTES_MIN));
        assert_eq!(much, Answered::Bytes(BYTES_MIN));
        let less = CopyChunksDone {
            chunks: 1,
            ..LIMITS
        };
        assert_eq!(of(ChunksCopied::TooMuch(less)), Answered::Less(less));
        for odd in [
            ChunksCopied::Bytes(0),
            ChunksCopied::Bytes(1),
            ChunksCopied::Bytes(101),
            ChunksCopied::TooMuch(LIMITS),
        ] {
            let Answered::Nonsense(reason) = of(odd) else {
                panic!("it makes no sense");
            };
            let object = "file".to_owned();
            assert!(is_refusal(&Error::NotCopied { object, reason }));
        }
        assert!(!is_refusal(&Error::Stopped));
    }
}
