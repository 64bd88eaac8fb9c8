//! What a session's lock guards. Nothing here waits, and nothing here sees payload.

mod channels;
mod handles;
mod read_write_ranges;
mod reauthentication;
mod resend;
mod response_handling;
mod work_scheduling;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use channels::ChannelRecord;
pub(crate) use channels::Joins;
pub(crate) use handles::{FileRecord, LeaseRecord, TreeId, TreeRecord};
use read_write_ranges::TransferRecord;
pub(crate) use read_write_ranges::{ReadPiece, Waited, Write};
use reauthentication::Renewal;
pub(crate) use resend::Lost;
pub(crate) use work_scheduling::{Appetite, Pull, Work};

use super::pending_restores::Restoring;
use super::request_types::{Reply, Request};
use super::retry_after_loss::Tries;
use super::submitted_request::Control;
use super::{ChannelNumber, Negotiated, SessionSettings, Sink};
use crate::error::{Error, Result};
use crate::monotonic_time::Time;
use crate::sealing::SealingKeys;
use crate::signing_and_keys::Signer;

/// Sinks to call once the lock is free.
pub(crate) type Calls = Vec<(Arc<dyn Sink>, Result<Reply>)>;

/// Calls them.
pub(crate) fn call(calls: Calls) {
    for (sink, outcome) in calls {
        sink.done(outcome);
    }
}

/// What all channels of a logged-in session share.
pub(crate) struct Login {
    pub(crate) session_id: u64,
    pub(crate) negotiated: Negotiated,
    /// As in the server's NEGOTIATE reply, to compare with that of further channels.
    pub(crate) security_mode: u16,
    pub(crate) capabilities: u32,
    /// Session.SigningKey; none for guests.
    pub(crate) signer: Option<Signer>,
    /// The keys to encrypt with, if a cipher was agreed; none for guests.
    pub(crate) sealing: Option<SealingKeys>,
}

pub(crate) enum Phase {
    /// No channel has logged in yet.
    Fresh,
    Up(Arc<Login>),
    /// The last channel was lost; the next one logs in anew.
    Lost(Arc<Login>),
    /// It has, and shares and files are being restored.
    Restoring(Arc<Login>),
    Ended(Option<Arc<Error>>),
}

pub(crate) struct State {
    pub(crate) phase: Phase,
    pub(crate) logged_off: bool,
    /// Counts lost channels; goes into every request of 3.x.
    pub(crate) channel_sequence: u16,
    pub(super) channels: BTreeMap<ChannelNumber, ChannelRecord>,
    next_channel: u16,
    pub(crate) trees: BTreeMap<u32, TreeRecord>,
    pub(crate) files: BTreeMap<u32, FileRecord>,
    next_key: u32,
    pub(crate) control: VecDeque<Control>,
    /// Chains that no server's credits suffice for, or that it cannot sign.
    pub(super) unaffordable: Vec<Control>,
    /// The server signs replies of a chain without their padding: what is chained goes alone.
    pub(super) avoids_chains: bool,
    pub(super) transfers: BTreeMap<u64, TransferRecord>,
    /// Transfers that have ranges to ask for, oldest first.
    reads: VecDeque<u64>,
    next_transfer: u64,
    writes: VecDeque<Write>,
    /// What the server was not ready for, and when to ask again.
    pub(crate) later: Vec<(Time, Lost)>,
    /// When a READ has been under way for so long that another channel asks for it as well.
    pub(super) slow_at: Option<Time>,
    /// Whose turn it is when both READs and WRITEs wait.
    write_next: bool,
    /// Whether there may be channels again when there is none.
    pub(crate) reconnects: bool,
    pub(crate) restore_time_max: Duration,
    client_guid: [u8; 16],
    pub(crate) next_guid: u64,
    /// The channel that logged in, and did not bind.
    login_channel: Option<ChannelNumber>,
    renewal: Option<Renewal>,
    pub(crate) restoring: Restoring,
    pub(crate) leases: BTreeMap<[u8; 16], LeaseRecord>,
}

impl State {
    pub(crate) fn new(settings: &SessionSettings) -> Self {
        Self {
            phase: Phase::Fresh,
            logged_off: false,
            channel_sequence: 0,
            channels: BTreeMap::new(),
            next_channel: 0,
            trees: BTreeMap::new(),
            files: BTreeMap::new(),
            next_key: 1,
            control: VecDeque::new(),
            unaffordable: Vec::new(),
            avoids_chains: false,
            transfers: BTreeMap::new(),
            reads: VecDeque::new(),
            next_transfer: 0,
            writes: VecDeque::new(),
            later: Vec::new(),
            slow_at: None,
            write_next: false,
            reconnects: settings.reconnect,
            restore_time_max: settings.restore_time_max,
            client_guid: settings.client_guid,
            next_guid: 0,
            login_channel: None,
            renewal: None,
            restoring: Restoring::default(),
            leases: BTreeMap::new(),
        }
    }

    pub(crate) fn login(&self) -> Option<&Arc<Login>> {
        match &self.phase {
            Phase::Up(login) | Phase::Lost(login) | Phase::Restoring(login) => Some(login),
            Phase::Fresh | Phase::Ended(_) => None,
        }
    }

    pub(crate) fn transact_bytes_max(&self) -> u32 {
        self.login()
            .map_or(1 << 16, |login| login.negotiated.transact_bytes_max)
    }

    fn check_open(&self) -> Result<()> {
        match &self.phase {
            Phase::Ended(cause) => Err(Error::SessionEnded(cause.clone())),
            Phase::Fresh | Phase::Up(_) | Phase::Lost(_) | Phase::Restoring(_) => Ok(()),
        }
    }

    pub(crate) fn submit(&mut self, request: Request, sink: Arc<dyn Sink>) -> Calls {
        if let Err(error) = self.check_open() {
            return vec![(sink, Err(error))];
        }
        if let Some(reply) = self.close_unheard(&request) {
            return vec![(sink, Ok(reply))];
        }
        self.control.push_back(Control {
            request,
            sink,
            tries: Tries::default(),
            restores: None,
            covers: 0,
        });
        self.wake_idlest();
        Calls::new()
    }

    /// Ends the session; what waits in queues fails. What is under way, channels report.
    pub(crate) fn end(&mut self, cause: Option<Arc<Error>>) -> Calls {
        if let Phase::Ended(_) = self.phase {
            return Calls::new();
        }
        let error = Error::SessionEnded(cause.clone());
        self.phase = Phase::Ended(cause);
        let mut calls = Calls::new();
        calls.extend(
            self.control
                .drain(..)
                .map(|control| (control.sink, Err(error.clone()))),
        );
        calls.extend(
            self.writes
                .drain(..)
                .map(|write| (write.sink, Err(error.clone()))),
        );
        for (_, lost) in std::mem::take(&mut self.later) {
            calls.extend(self.give_up(lost, error.clone()));
        }
        self.reads.clear();
        let keys: Vec<u64> = self.transfers.keys().copied().collect();
        for key in keys {
            calls.extend(self.fail_transfer(key, error.clone()));
        }
        for channel in self.channels.values() {
            channel.waker.wake_by_ref();
        }
        calls
    }
}
