//! What waits to be sent: small messages in one buffer, WRITEs in their blocks.

use std::any::Any;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use crate::error::Result;
use crate::sealing::Sealer;
use crate::session::Source;
use crate::signing_and_keys::Signer;
use crate::wire::{HEADER_LENGTH, Header, PREFIX_LENGTH, TransformHeader, frame_prefix};

/// How a message is protected on the path.
pub(super) enum Protection<'a> {
    Plain,
    Signed(&'a Signer),
    Sealed(&'a mut Sealer),
}

/// Bytes to be sent that the driver has to find.
#[derive(Debug, Clone, Copy)]
pub struct OriginPart<'a> {
    /// Where they are, as [`Source::origin`] says it.
    pub origin: &'a (dyn Any + Send + Sync),
    /// Where in it.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
}

enum Segment {
    /// The next so many bytes of the small buffer.
    Small(usize),
    /// A WRITE in the block of the request with this MessageId.
    Write {
        message_id: u64,
        range: Range<usize>,
    },
    /// A WRITE, in its block without any prefix, that is encrypted when its turn comes: its block
    /// must stay as it is until the reply, and one buffer then does for all of them.
    ToSeal {
        message_id: u64,
        range: Range<usize>,
    },
    /// The rest of the data of a WRITE whose head came before it.
    Origin {
        message_id: u64,
        offset: u64,
        length: u64,
        source: Arc<dyn Source>,
    },
    /// As much as is missing of a WRITE whose origin ended too early.
    Nothing { message_id: u64, length: u64 },
    /// The rest of an encrypted WRITE, in the buffer for them.
    Sealed {
        message_id: u64,
        range: Range<usize>,
    },
}

/// Sent where an origin has nothing.
const NOTHING: [u8; 4096] = [0; 4096];

/// What is to be sent next.
pub(super) enum Front<'a> {
    Small(&'a [u8]),
    Origin(OriginPart<'a>),
    Write {
        message_id: u64,
        range: Range<usize>,
    },
    /// To be encrypted first, by [`Transmit::seal`].
    ToSeal {
        message_id: u64,
        range: Range<usize>,
    },
}

#[derive(Default)]
pub(super) struct Transmit {
    segments: VecDeque<Segment>,
    small: Vec<u8>,
    small_sent: usize,
    /// The frame of one encrypted WRITE.
    sealed: Vec<u8>,
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
        protection: Protection<'_>,
    ) -> Result<&[u8]> {
        self.push_chain(&[(*header, body)], protection)
    }

    /// Appends a frame of several messages, each of which is signed alone, with the padding
    /// behind it; they are encrypted as a whole (3.1.4.1, 3.1.4.3). The headers tell distances that
    /// fit.
    pub(super) fn push_chain(
        &mut self,
        messages: &[(Header, &[u8])],
        protection: Protection<'_>,
    ) -> Result<&[u8]> {
        let start = self.small.len();
        let transform = match protection {
            Protection::Sealed(_) => TransformHeader::LENGTH,
            Protection::Plain | Protection::Signed(_) => 0,
        };
        let message = start + PREFIX_LENGTH;
        self.small.resize(message + transform, 0);
        for (header, body) in messages {
            let begin = self.small.len();
            self.small.extend_from_slice(&header.to_bytes());
            self.small.extend_from_slice(body);
            if header.next_command > 0 {
                let length = HEADER_LENGTH + body.len();
                self.small.resize(begin + length.next_multiple_of(8), 0);
            }
            if let Protection::Signed(signer) = &protection {
                signer.sign(&mut self.small[begin..])?;
            }
        }
        let length = self.small.len() - message;
        self.small[start..message].copy_from_slice(&frame_prefix(length));
        if let Protection::Sealed(sealer) = protection {
            sealer.seal(&mut self.small[message..])?;
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

    /// Appends a WRITE to be encrypted, whose message is this range of its block.
    pub(super) fn push_to_seal(&mut self, message_id: u64, range: Range<usize>) {
        self.segments
            .push_back(Segment::ToSeal { message_id, range });
    }

    /// Appends the head of a plain WRITE whose data the driver finds.
    pub(super) fn push_head(&mut self, header: &Header, head: &[u8], data: usize) {
        let length = HEADER_LENGTH + head.len();
        self.small.extend_from_slice(&frame_prefix(length + data));
        self.small.extend_from_slice(&header.to_bytes());
        self.small.extend_from_slice(head);
        let frame = PREFIX_LENGTH + length;
        match self.segments.back_mut() {
            Some(Segment::Small(waiting)) => *waiting += frame,
            _ => self.segments.push_back(Segment::Small(frame)),
        }
    }

    /// Appends the data of a WRITE whose head has just been pushed.
    pub(super) fn push_origin(
        &mut self,
        message_id: u64,
        range: Range<u64>,
        source: Arc<dyn Source>,
    ) {
        self.segments.push_back(Segment::Origin {
            message_id,
            offset: range.start,
            length: range.end - range.start,
            source,
        });
    }

    /// The origin at the front has ended: what is missing is sent as zeros. Gives whose data it is.
    pub(super) fn origin_ended(&mut self) -> Option<u64> {
        let front = self.segments.front_mut()?;
        let Segment::Origin {
            message_id, length, ..
        } = front
        else {
            return None;
        };
        let (message_id, length) = (*message_id, *length);
        *front = Segment::Nothing { message_id, length };
        Some(message_id)
    }

    /// Whether the last that was appended is a WRITE in its block.
    pub(super) fn ends_with_block(&self) -> bool {
        matches!(
            self.segments.back(),
            Some(Segment::Write { .. } | Segment::ToSeal { .. })
        )
    }

    /// Whether the bytes at the front are followed by data that the driver finds.
    pub(super) fn origin_follows(&self) -> bool {
        matches!(self.segments.get(1), Some(Segment::Origin { .. }))
    }

    /// Encrypts the message of the WRITE at the front.
    pub(super) fn seal(&mut self, sealer: &mut Sealer, message: &[u8]) -> Result<()> {
        let Some(Segment::ToSeal { message_id, .. }) = self.segments.front() else {
            return Ok(());
        };
        let message_id = *message_id;
        let frame = TransformHeader::LENGTH + message.len();
        let range = 0..PREFIX_LENGTH + frame;
        if self.sealed.len() < range.end {
            self.sealed.resize(range.end, 0);
        }
        self.sealed[..PREFIX_LENGTH].copy_from_slice(&frame_prefix(frame));
        sealer.seal_from(message, &mut self.sealed[PREFIX_LENGTH..range.end])?;
        self.segments[0] = Segment::Sealed { message_id, range };
        Ok(())
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
            Segment::ToSeal { message_id, range } => Front::ToSeal {
                message_id: *message_id,
                range: range.clone(),
            },
            Segment::Sealed { range, .. } => Front::Small(&self.sealed[range.clone()]),
            Segment::Origin {
                offset,
                length,
                source,
                ..
            } => Front::Origin(OriginPart {
                origin: source.origin()?,
                offset: *offset,
                length: *length,
            }),
            Segment::Nothing { length, .. } => {
                let most = usize::try_from(*length).unwrap_or(usize::MAX);
                Front::Small(&NOTHING[..most.min(NOTHING.len())])
            }
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
            Some(Segment::ToSeal { .. }) | None => return,
            Some(Segment::Write { range, .. } | Segment::Sealed { range, .. }) => {
                range.start = (range.start + count).min(range.end);
                range.len()
            }
            Some(Segment::Origin { offset, length, .. }) => {
                *offset += count as u64;
                *length = length.saturating_sub(count as u64);
                usize::from(*length > 0)
            }
            Some(Segment::Nothing { length, .. }) => {
                *length = length.saturating_sub(count as u64);
                usize::from(*length > 0)
            }
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
        self.segments.iter().any(|segment| match segment {
            Segment::Small(_) => false,
            Segment::Write {
                message_id: held, ..
            }
            | Segment::ToSeal {
                message_id: held, ..
            }
            | Segment::Sealed {
                message_id: held, ..
            }
            | Segment::Origin {
                message_id: held, ..
            }
            | Segment::Nothing {
                message_id: held, ..
            } => *held == message_id,
        })
    }
}
