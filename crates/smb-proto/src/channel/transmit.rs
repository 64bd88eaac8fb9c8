//! What waits to be sent: small messages in one buffer, WRITEs in their blocks.

use std::collections::VecDeque;
use std::ops::Range;

use crate::crypto::Signer;
use crate::error::Result;
use crate::wire::{HEADER_LENGTH, Header, PREFIX_LENGTH, frame_prefix};

enum Segment {
    /// The next so many bytes of the small buffer.
    Small(usize),
    /// A WRITE in the block of the request with this MessageId.
    Write {
        message_id: u64,
        range: Range<usize>,
    },
}

/// What is to be sent next.
pub(super) enum Front<'a> {
    Small(&'a [u8]),
    Write {
        message_id: u64,
        range: Range<usize>,
    },
}

#[derive(Default)]
pub(super) struct Transmit {
    segments: VecDeque<Segment>,
    small: Vec<u8>,
    small_sent: usize,
}

impl Transmit {
    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Appends a frame; gives the message as it will be sent.
    pub(super) fn push(
        &mut self,
        header: &Header,
        body: &[u8],
        signer: Option<&Signer>,
    ) -> Result<&[u8]> {
        let start = self.small.len();
        let length = HEADER_LENGTH + body.len();
        self.small.extend_from_slice(&frame_prefix(length));
        self.small.extend_from_slice(&header.to_bytes());
        self.small.extend_from_slice(body);
        let message = start + PREFIX_LENGTH;
        if let Some(signer) = signer {
            signer.sign(&mut self.small[message..])?;
        }
        let frame = PREFIX_LENGTH + length;
        match self.segments.back_mut() {
            Some(Segment::Small(waiting)) => *waiting += frame,
            _ => self.segments.push_back(Segment::Small(frame)),
        }
        Ok(&self.small[message..])
    }

    /// Appends a WRITE whose frame is this range of its block.
    pub(super) fn push_write(&mut self, message_id: u64, range: Range<usize>) {
        self.segments
            .push_back(Segment::Write { message_id, range });
    }

    pub(super) fn front(&self) -> Option<Front<'_>> {
        Some(match self.segments.front()? {
            Segment::Small(length) => {
                Front::Small(&self.small[self.small_sent..self.small_sent + length])
            }
            Segment::Write { message_id, range } => Front::Write {
                message_id: *message_id,
                range: range.clone(),
            },
        })
    }

    /// So many bytes of the front have been sent.
    pub(super) fn sent(&mut self, count: usize) {
        let left = match self.segments.front_mut() {
            Some(Segment::Small(length)) => {
                let count = count.min(*length);
                *length -= count;
                self.small_sent += count;
                *length
            }
            Some(Segment::Write { range, .. }) => {
                range.start = (range.start + count).min(range.end);
                range.len()
            }
            None => return,
        };
        if left == 0 {
            self.segments.pop_front();
        }
        if self.small_sent == self.small.len() {
            self.small.clear();
            self.small_sent = 0;
        }
    }

    /// Whether this WRITE has not left entirely.
    pub(super) fn holds_write(&self, message_id: u64) -> bool {
        let held = |segment: &Segment| matches!(segment, Segment::Write { message_id: held, .. } if *held == message_id);
        self.segments.iter().any(held)
    }
}
