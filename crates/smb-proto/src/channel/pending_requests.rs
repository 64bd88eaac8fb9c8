//! Requests that have no final reply yet.

use std::collections::VecDeque;
use std::ops::Range;

use crate::monotonic_time::Time;
use crate::payload_block_pool::{Payload, Reservation};
use crate::session::{Control, Lost, ReadPiece, Write};
use crate::wire::{Command, HEADER_LENGTH, Header, Message as _, TreeConnectResponse};

/// What a request is for.
pub(super) enum Job {
    Negotiate,
    SessionSetup,
    /// Our own ECHO.
    Echo,
    Control(Control),
    /// One request of the chain whose first one has this MessageId.
    Link {
        chain: u64,
        position: usize,
    },
    /// The check of NEGOTIATE, and the TREE_CONNECT whose success waits for it.
    Validate(Box<Connected>),
    Read {
        piece: ReadPiece,
        /// None once its block is being filled.
        block: Option<Reservation>,
    },
    /// The payload is none when the driver finds the bytes at their origin.
    WriteFrom {
        piece: ReadPiece,
        payload: Option<Payload>,
        length: u32,
    },
    Write {
        write: Write,
        length: u32,
    },
}

impl Job {
    /// The session's work in it, to be done by another request; none of what is the channel's own,
    /// or a chain's.
    pub(super) fn into_work(self) -> Option<Lost> {
        match self {
            Self::Negotiate | Self::SessionSetup | Self::Echo | Self::Link { .. } => None,
            Self::Control(control) => Some(Lost::Control(control)),
            Self::Validate(connected) => Some(Lost::Control(connected.control)),
            Self::Read { piece, .. } | Self::WriteFrom { piece, .. } => Some(Lost::Read(piece)),
            Self::Write { write, .. } => Some(Lost::Write(write)),
        }
    }
}

/// A TREE_CONNECT that succeeded.
pub(super) struct Connected {
    pub(super) control: Control,
    pub(super) header: Header,
    pub(super) message: Vec<u8>,
}

impl Connected {
    /// Whether the share demands encryption.
    pub(super) fn is_encrypted(&self) -> bool {
        let body = self.message.get(HEADER_LENGTH..).unwrap_or(&[]);
        TreeConnectResponse::decode(body)
            .is_ok_and(|reply| reply.flags & TreeConnectResponse::ENCRYPT_DATA != 0)
    }
}

pub(super) struct Pending {
    pub(super) message_id: u64,
    pub(super) command: Command,
    pub(super) sent_at: Time,
    /// What it asked for; zero once answered.
    pub(super) credits_asked: u16,
    pub(super) interim: bool,
    pub(super) signed: bool,
    pub(super) sealed: bool,
    /// READs and WRITEs: how many bytes.
    pub(super) data_bytes: u32,
    pub(super) job: Job,
}

/// Ordered by MessageId, which is the order they were sent in.
#[derive(Default)]
pub(super) struct Outstanding {
    requests: VecDeque<Pending>,
}

impl Outstanding {
    pub(super) fn push(&mut self, pending: Pending) {
        self.requests.push_back(pending);
    }

    fn position(&self, message_id: u64) -> Option<usize> {
        self.requests
            .binary_search_by_key(&message_id, |pending| pending.message_id)
            .ok()
    }

    pub(super) fn get(&self, message_id: u64) -> Option<&Pending> {
        self.requests.get(self.position(message_id)?)
    }

    pub(super) fn get_mut(&mut self, message_id: u64) -> Option<&mut Pending> {
        let position = self.position(message_id)?;
        self.requests.get_mut(position)
    }

    pub(super) fn remove(&mut self, message_id: u64) -> Option<Pending> {
        let position = self.position(message_id)?;
        self.requests.remove(position)
    }

    pub(super) fn take_all(&mut self) -> VecDeque<Pending> {
        std::mem::take(&mut self.requests)
    }

    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    /// The oldest request that the server has not even acknowledged by an interim.
    pub(super) fn oldest_unanswered(&self) -> Option<&Pending> {
        self.requests.iter().find(|pending| !pending.interim)
    }

    /// A READ whose answer must have come into its block, which waits for it, if any does.
    pub(super) fn lender(&mut self) -> Option<(u64, &mut Option<Reservation>)> {
        self.requests
            .iter_mut()
            .find_map(|pending| match &mut pending.job {
                Job::Read { block, .. } if block.is_some() => Some((pending.message_id, block)),
                _ => None,
            })
    }

    /// The block of a READ, or where it was.
    pub(super) fn read_block(&mut self, message_id: u64) -> Option<&mut Option<Reservation>> {
        match &mut self.get_mut(message_id)?.job {
            Job::Read { block, .. } => Some(block),
            _ => None,
        }
    }

    /// The server works on a chain: what it has not come to yet waits as well.
    pub(super) fn chain_put_off(&mut self, first: u64) {
        let begin = self
            .requests
            .partition_point(|pending| pending.message_id < first);
        let links = self.requests.iter_mut().skip(begin);
        links
            .take_while(|pending| matches!(pending.job, Job::Link { chain, .. } if chain == first))
            .for_each(|pending| pending.interim = true);
    }

    pub(super) fn oldest(&self) -> Option<&Pending> {
        self.requests.front()
    }

    /// The part of a WRITE's frame that is still to be sent.
    pub(super) fn write_bytes(&self, message_id: u64, range: Range<usize>) -> Option<&[u8]> {
        match &self.get(message_id)?.job {
            Job::Write { write, .. } => write.payload.raw().get(range),
            Job::WriteFrom { payload, .. } => payload.as_ref()?.raw().get(range),
            _ => None,
        }
    }
}
