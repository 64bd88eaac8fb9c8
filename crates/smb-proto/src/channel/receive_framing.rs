//! From a stream of bytes to frames. A READ's reply goes straight into its block.

use std::ops::Range;

use crate::error::{Defect, Malformed, Result};
use crate::payload_block_pool::{Block, HEADROOM_BYTES, Reservation, TAILROOM_BYTES};
use crate::wire::{
    HEADER_LENGTH, Header, Message as _, PREFIX_LENGTH, READ_DATA_OFFSET, TransformHeader,
    frame_length,
};

const HEAD: usize = PREFIX_LENGTH + HEADER_LENGTH;
/// No message has a shorter body.
const BODY_MIN: usize = 2;
/// How much later than asked a server may put the data of a READ: its offset is one byte.
const LATER_MAX: usize = u8::MAX as usize - READ_DATA_OFFSET as usize;
const _: () = assert!(LATER_MAX <= TAILROOM_BYTES && HEADROOM_BYTES >= READ_DATA_OFFSET as usize);

/// What stood first in a frame.
#[derive(Clone, Copy)]
pub(super) enum Envelope {
    Plain(Header),
    /// The message behind it is encrypted, and nothing is known of it yet.
    Sealed(TransformHeader),
}

enum Target {
    Head,
    /// Anything but data, in `control`.
    Control,
    /// The reply to the READ with this MessageId, or what is encrypted and may be one.
    Read {
        message_id: u64,
        block: Block,
        message: Range<usize>,
    },
}

/// The message of a frame that is complete.
pub(super) enum Frame {
    Control(Vec<u8>),
    /// In the block of the READ with this MessageId.
    Read {
        message_id: u64,
        block: Block,
        message: Range<usize>,
    },
}

/// What some more bytes led to.
pub(super) enum Progress {
    /// More bytes are needed.
    More,
    /// The head of a frame with a message of this length is there: now
    /// [`Receive::direct_to_control`] or [`Receive::direct_to_block`].
    Head(Envelope, usize),
    /// A frame is complete.
    Frame(Envelope, Frame),
}

pub(super) struct Receive {
    head: [u8; HEAD],
    target: Target,
    envelope: Option<Envelope>,
    /// The part of the head that is the begin of the message.
    begun: Range<usize>,
    /// Filled so far, of the head or of the message.
    have: usize,
    control: Vec<u8>,
}

impl Receive {
    pub(super) fn new() -> Self {
        let (head, target) = ([0; HEAD], Target::Head);
        Self {
            head,
            target,
            envelope: None,
            begun: PREFIX_LENGTH..HEAD,
            have: 0,
            control: Vec::new(),
        }
    }

    pub(super) fn buffer(&mut self) -> &mut [u8] {
        match &mut self.target {
            Target::Head => &mut self.head[self.have..],
            Target::Control => &mut self.control[self.have..],
            Target::Read { block, message, .. } => {
                &mut block.raw_mut()[message.start + self.have..message.end]
            }
        }
    }

    pub(super) fn advance(&mut self, count: usize) -> Result<Progress> {
        let left = self.buffer().len();
        self.have += count.min(left);
        if count < left {
            return Ok(Progress::More);
        }
        match std::mem::replace(&mut self.target, Target::Head) {
            Target::Head => self.read_head(),
            Target::Control => {
                Ok(self.complete(|receive| Frame::Control(std::mem::take(&mut receive.control))))
            }
            Target::Read {
                message_id,
                block,
                message,
            } => Ok(self.complete(|_| Frame::Read {
                message_id,
                block,
                message,
            })),
        }
    }

    fn read_head(&mut self) -> Result<Progress> {
        let (prefix, header) = self.head.split_at(PREFIX_LENGTH);
        let length = frame_length([prefix[0], prefix[1], prefix[2], prefix[3]])?;
        let malformed = |defect| Malformed {
            message: "Direct TCP Packet",
            defect,
        };
        let (envelope, length) = if TransformHeader::begins(header) {
            let transform = TransformHeader::decode(header)?;
            let sealed = length.checked_sub(TransformHeader::LENGTH);
            let stated = usize::try_from(transform.message_length).ok();
            if sealed.is_none() || sealed != stated {
                return Err(malformed(Defect::Invalid("OriginalMessageSize")).into());
            }
            self.begun = PREFIX_LENGTH + TransformHeader::LENGTH..HEAD;
            (Envelope::Sealed(transform), sealed.unwrap_or_default())
        } else {
            self.begun = PREFIX_LENGTH..HEAD;
            (Envelope::Plain(Header::decode(header)?), length)
        };
        if length < HEADER_LENGTH + BODY_MIN {
            return Err(malformed(Defect::Truncated).into());
        }
        self.envelope = Some(envelope);
        Ok(Progress::Head(envelope, length))
    }

    fn complete(&mut self, frame: impl FnOnce(&mut Self) -> Frame) -> Progress {
        self.have = 0;
        match self.envelope.take() {
            Some(envelope) => Progress::Frame(envelope, frame(self)),
            None => Progress::More,
        }
    }

    /// The rest of the message goes into a buffer.
    pub(super) fn direct_to_control(&mut self, length: usize) {
        self.control.clear();
        self.control
            .extend_from_slice(&self.head[self.begun.clone()]);
        self.control.resize(length, 0);
        self.have = self.begun.len();
        self.target = Target::Control;
    }

    /// The rest of the message, the reply to a READ of `asked` bytes, goes into its block. Gives
    /// the right to one back if the message is too long for the answer.
    pub(super) fn direct_to_block(
        &mut self,
        message_id: u64,
        reservation: Reservation,
        asked: usize,
        length: usize,
    ) -> Result<(), Reservation> {
        if length > usize::from(READ_DATA_OFFSET) + LATER_MAX + asked {
            return Err(reservation);
        }
        let mut block = reservation.into_block();
        let start = block.payload_start() - usize::from(READ_DATA_OFFSET);
        let head = &self.head[self.begun.clone()];
        block.raw_mut()[start..start + head.len()].copy_from_slice(head);
        self.have = head.len();
        self.target = Target::Read {
            message_id,
            block,
            message: start..start + length,
        };
        Ok(())
    }

    /// Takes a buffer back that [`Frame::Control`] gave, to be used again.
    pub(super) fn recycle(&mut self, buffer: Vec<u8>) {
        if self.control.capacity() == 0 {
            self.control = buffer;
        }
    }
}
