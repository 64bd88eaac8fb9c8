//! Chains of requests about one file: how they are sent, and how their answers come together.

use std::collections::BTreeMap;
use std::sync::Arc;

use locale::say;

use super::message_protection::LOST_SESSION;
use super::outgoing_requests::Outgoing;
use super::pending_requests::Job;
use super::{Channel, Event};
use crate::error::{Defect, Error, Malformed, NtStatus, Operation, Result};
use crate::monotonic_time::Time;
use crate::session::{Answer, Carried, Control, Lost, Prepared, Request, TreeId, says_replay};
use crate::wire::{HEADER_LENGTH, Header, Message as _, flags};

/// A chain under way.
struct Chain {
    control: Control,
    /// By position; none: not yet.
    answers: Vec<Option<Answer>>,
}

/// By the MessageId of its first request.
#[derive(Default)]
pub(super) struct Chains(BTreeMap<u64, Chain>);

impl Chains {
    /// Enters an answer; gives the chain when it was the last one.
    fn answered(
        &mut self,
        chain: u64,
        position: usize,
        answer: Answer,
    ) -> Option<(Control, Vec<Answer>)> {
        let under_way = self.0.get_mut(&chain)?;
        *under_way.answers.get_mut(position)? = Some(answer);
        if under_way.answers.iter().any(Option::is_none) {
            return None;
        }
        let Chain { control, answers } = self.0.remove(&chain)?;
        Some((control, answers.into_iter().flatten().collect()))
    }

    /// What is under way when the channel ends.
    pub(super) fn take_lost(&mut self) -> impl Iterator<Item = Lost> + use<> {
        let chains = std::mem::take(&mut self.0).into_values();
        chains.map(|chain| Lost::Control(chain.control))
    }
}

impl Channel {
    /// Queues a chain as one frame.
    pub(super) fn send_chain(
        &mut self,
        control: Control,
        prepared: &[Prepared],
        now: Time,
    ) -> Result<()> {
        let (chain, count) = (self.next_message_id, prepared.len());
        let replay = control.tries.is_replay();
        let replays: Vec<bool> = match &control.request {
            Request::Chain(links) => links
                .iter()
                .zip(prepared)
                .map(|(link, prepared)| replay && says_replay(link, prepared.command))
                .collect(),
            _ => Vec::new(),
        };
        let answers = (0..count).map(|_| None).collect();
        self.chains.0.insert(chain, Chain { control, answers });
        // requests of one chain are about one share
        let tree_id = prepared.first().map_or(TreeId::NONE, |link| link.tree_id);
        let guard = self.keys.guard(tree_id);
        let mut messages = Vec::with_capacity(count);
        for (position, link) in prepared.iter().enumerate() {
            let mut outgoing = Outgoing::new(link.command);
            outgoing.tree_id = link.tree_id;
            outgoing.payload = link.payload;
            outgoing.replay = replays.get(position).copied().unwrap_or_default();
            outgoing.guard = guard.clone();
            let mut header = self.header(&outgoing)?;
            if position > 0 {
                header.flags |= flags::RELATED;
            }
            if position + 1 < count {
                let distance = (HEADER_LENGTH + link.body.len()).next_multiple_of(8);
                header.next_command = u32::try_from(distance).unwrap_or(u32::MAX);
            }
            self.expect(&header, &outgoing, 0, Job::Link { chain, position }, now);
            messages.push((header, &link.body[..]));
        }
        let protection = self.keys.protection(&guard);
        self.transmit.push_chain(&messages, protection).map(drop)
    }

    /// Takes a frame of several replies apart (3.2.5.1.9).
    pub(super) fn chained_frame(
        &mut self,
        mut header: Header,
        message: &mut [u8],
        sealed: bool,
        now: Time,
    ) -> Result<()> {
        let (mut before, mut begin) = (0, 0);
        loop {
            let pending = self.outstanding.get(header.message_id);
            if !pending.is_some_and(|pending| matches!(pending.job, Job::Link { .. })) {
                return Err(Error::Misbehaving(say("misbehaving.chains-single-replies")));
            }
            let (done, part) = message.split_at_mut(begin);
            let length = match header.next_command {
                0 => part.len(),
                distance => match distance_to_next(distance, part.len()) {
                    // Who has lost the session may answer a chain by one reply, with the distance of its request.
                    Err(_) if LOST_SESSION.contains(&header.status) => {
                        self.admit(&header, &done[before..], part, sealed)?;
                        let operation = Operation::Request(header.command);
                        return Err(Error::refused(operation, header.status));
                    }
                    length => length?,
                },
            };
            let part = &mut part[..length];
            if self
                .admit(&header, &done[before..], part, sealed)?
                .is_some()
            {
                let part = part.to_vec();
                self.finish_link(&header, part, now)?;
            }
            (before, begin) = (begin, begin + length);
            if begin == message.len() {
                return Ok(());
            }
            header = Header::decode(&message[begin..])?;
        }
    }

    fn finish_link(&mut self, header: &Header, message: Vec<u8>, now: Time) -> Result<()> {
        match self
            .finish(header.message_id, now)
            .map(|pending| pending.job)
        {
            Some(Job::Link { chain, position }) => {
                self.link_answered(chain, position, header, message, now)
            }
            _ => Ok(()),
        }
    }

    /// One request of a chain was answered for good.
    pub(super) fn link_answered(
        &mut self,
        chain: u64,
        position: usize,
        header: &Header,
        message: Vec<u8>,
        now: Time,
    ) -> Result<()> {
        let header = *header;
        let answer = Answer { header, message };
        let Some((control, answers)) = self.chains.answered(chain, position, answer) else {
            return Ok(());
        };
        let expired = answers
            .first()
            .is_some_and(|answer| answer.header.status == NtStatus::NETWORK_SESSION_EXPIRED);
        if expired {
            if self.session.expired(self.number, Lost::Control(control)) {
                self.events.push_back(Event::Expired);
            }
            return Ok(());
        }
        let put_off = self
            .session
            .put_off_chain(self.number, control, &answers, now);
        let Some(control) = put_off else {
            return Ok(());
        };
        let sink = Arc::clone(&control.sink);
        let done = self.session.chain_done(self.number, &control, answers);
        match &done {
            Ok(carried) => self.count(*carried),
            Err(error) => sink.done(Err(self.senseless(Operation::AwaitReply, error))),
        }
        done.map(drop)
    }

    /// Counts the data of a request that is no transfer.
    pub(super) fn count(&mut self, carried: Carried) {
        self.statistics.read_bytes += carried.read_bytes;
        self.statistics.written_bytes += carried.written_bytes;
    }
}

/// Checks the distance from one reply to the next; `length` is that of what there is of both.
fn distance_to_next(distance: u32, length: usize) -> Result<usize> {
    /// A reply has at least two bytes behind its header.
    const REPLY_MIN: usize = HEADER_LENGTH + 2;
    let malformed = Malformed {
        message: "SMB2 Packet Header",
        defect: Defect::Invalid("NextCommand"),
    };
    usize::try_from(distance)
        .ok()
        .filter(|distance| distance.is_multiple_of(8) && *distance >= REPLY_MIN)
        .filter(|distance| length.saturating_sub(*distance) >= REPLY_MIN)
        .ok_or_else(|| malformed.into())
}
