//! From a stream of bytes to frames. A READ's reply goes straight into its block.

use std::ops::Range;

use crate::block::{Block, HEAD_ROOM, TAIL_ROOM};
use crate::error::{Error, Malformed, Result};
use crate::wire::{
    HEADER_LENGTH, Header, Message as _, PREFIX_LENGTH, READ_DATA_OFFSET, frame_length,
};

const HEAD: usize = PREFIX_LENGTH + HEADER_LENGTH;
/// No message has a shorter body.
const BODY_MIN: usize = 2;
/// How much later than asked a server may put the data of a READ: its offset is one byte.
const LATER_MAX: usize = u8::MAX as usize - READ_DATA_OFFSET as usize;
const _: () = assert!(LATER_MAX <= TAIL_ROOM && HEAD_ROOM >= READ_DATA_OFFSET as usize);

enum Target {
    Head,
    /// Anything but data, in `control`.
    Control,
    /// The reply to the READ with this MessageId.
    Read {
        message_id: u64,
        block: Block,
        message: Range<usize>,
    },
}

/// A frame that is complete; its header has been decoded.
pub(super) enum Frame {
    Control(Vec<u8>),
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
    /// The header of a frame of this length is there: now [`Receive::direct_to_control`] or
    /// [`Receive::direct_to_block`].
    Head(Header, usize),
    /// A frame is complete.
    Frame(Header, Frame),
}

pub(super) struct Receive {
    head: [u8; HEAD],
    target: Target,
    header: Option<Header>,
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
            header: None,
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
        if header[..4] == [0xFD, b'S', b'M', b'B'] {
            return Err(Error::Misbehaving(
                "it encrypts, which was not agreed".into(),
            ));
        }
        let header = Header::decode(header)?;
        if length < HEADER_LENGTH + BODY_MIN {
            let problem = "it is shorter than any message";
            return Err(Malformed {
                message: "frame",
                problem,
            }
            .into());
        }
        self.header = Some(header);
        Ok(Progress::Head(header, length))
    }

    fn complete(&mut self, frame: impl FnOnce(&mut Self) -> Frame) -> Progress {
        self.have = 0;
        match self.header.take() {
            Some(header) => Progress::Frame(header, frame(self)),
            None => Progress::More,
        }
    }

    /// The rest of the frame goes into a buffer.
    pub(super) fn direct_to_control(&mut self, length: usize) {
        self.control.clear();
        self.control.extend_from_slice(&self.head[PREFIX_LENGTH..]);
        self.control.resize(length, 0);
        self.have = HEADER_LENGTH;
        self.target = Target::Control;
    }

    /// The rest of the frame, the reply to a READ of `asked` bytes, goes into its block. Gives
    /// the block back if the frame is too long for the answer.
    pub(super) fn direct_to_block(
        &mut self,
        message_id: u64,
        mut block: Block,
        asked: usize,
        length: usize,
    ) -> Result<(), Block> {
        if length > usize::from(READ_DATA_OFFSET) + LATER_MAX + asked {
            return Err(block);
        }
        let start = block.payload_start() - usize::from(READ_DATA_OFFSET);
        let head = &self.head[PREFIX_LENGTH..];
        block.raw_mut()[start..start + HEADER_LENGTH].copy_from_slice(head);
        self.have = HEADER_LENGTH;
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
