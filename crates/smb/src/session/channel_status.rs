//! What a session tells of its channels at one moment.

use std::net::SocketAddr;
use std::time::Duration;

use os::network::TcpFacts;
use smb_proto::ChannelNumber;

use super::Session;
use crate::channel_driver::Link;
use crate::signal::lock;

/// One channel at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelStatus {
    /// Its session: 0 the first one, from 1 on those beside it.
    pub session: usize,
    /// Its number; never used twice in its session.
    pub number: ChannelNumber,
    /// Our end.
    pub local: SocketAddr,
    /// The far end.
    pub remote: SocketAddr,
    /// The interface our address belongs to, where known.
    pub nic: Option<String>,
    /// Payload read since the channel began.
    pub bytes_received: u64,
    /// Payload written, and confirmed by the server.
    pub bytes_sent: u64,
    /// What TCP knows, where the system says so.
    pub tcp: Option<TcpFacts>,
    /// The congestion control by which our end sends, where the system says so.
    pub congestion_control: Option<String>,
    /// Credits that are left.
    pub credits: u64,
    /// Requests in flight.
    pub in_flight: u64,
    /// Payload of the READs and WRITEs among them.
    pub bytes_in_flight: u64,
    /// How often work had to wait for credits.
    pub credit_starved: u64,
    /// How long its thread waited while work lacked credits.
    pub credit_wait: Duration,
    /// How long its thread waited while work lacked a block.
    pub block_wait: Duration,
    /// How long processors have worked for its thread, to a millisecond.
    pub processor: Duration,
    /// Whether it takes work.
    pub alive: bool,
    /// Why it does not leave by the interface that was asked for, if so.
    pub not_bound_because: Option<String>,
}

impl Session {
    /// All channels there ever were, also those of sessions [parallel](Self::open_parallel) to this one and with servers that
    /// it [referred](Self::locate) to, at this moment. Cheap enough to be asked every few milliseconds.
    #[must_use]
    pub fn channels(&self) -> Vec<ChannelStatus> {
        let mut channels: Vec<ChannelStatus> = lock(&self.shared.links)
            .iter()
            .map(|(session, link)| status(*session, link))
            .collect();
        for referred in self.shared.referred.each(Self::channels) {
            let sessions = channels.iter().map(|channel| channel.session + 1).max();
            let numbered = referred.into_iter().map(|channel| ChannelStatus {
                session: channel.session + sessions.unwrap_or_default(),
                ..channel
            });
            channels.extend(numbered);
        }
        channels
    }
}

fn status(session: usize, link: &Link) -> ChannelStatus {
    let counted = link.counted();
    ChannelStatus {
        session,
        number: link.number,
        local: link.local,
        remote: link.remote,
        nic: link.nic.clone(),
        bytes_received: counted.read_bytes,
        bytes_sent: counted.written_bytes,
        tcp: link.tcp_facts(),
        congestion_control: link.congestion_control.clone(),
        credits: counted.credits,
        in_flight: counted.outstanding,
        bytes_in_flight: counted.outstanding_bytes,
        credit_starved: counted.credit_starved,
        credit_wait: counted.credit_wait,
        block_wait: counted.block_wait,
        processor: counted.processor,
        alive: link.is_alive(),
        not_bound_because: link.not_bound_because.clone(),
    }
}
