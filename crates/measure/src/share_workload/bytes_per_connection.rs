//! The payload that each connection of a session moved.

use record::{Bytes, ConnectionUse, Direction, ShareWorkload};
use smb::ChannelStatus;

use crate::tcp_and_engine_clock;

/// What each connection moved between two looks at them.
pub(crate) fn connections(
    before: &[ChannelStatus],
    after: &[ChannelStatus],
    directions: Directions,
) -> Vec<ConnectionUse> {
    let used = |channel: &ChannelStatus| {
        let before = tcp_and_engine_clock::same(before, channel);
        let before = before.map_or(0, |before| payload_of(before, directions));
        let bytes = payload_of(channel, directions).saturating_sub(before);
        ConnectionUse {
            local: channel.local,
            remote: channel.remote,
            nic: channel.nic.clone(),
            bytes: Bytes::new(bytes),
            round_trip: channel.tcp.map(|tcp| tcp.round_trip.into()),
            retransmits: channel.tcp.map(|tcp| tcp.retransmits),
            tcp: channel.tcp.as_ref().and_then(crate::tcp_detail),
            congestion_control: channel.congestion_control.clone(),
            clock: None,
        }
    };
    after.iter().map(used).collect()
}

/// Which payload counts.
#[derive(Clone, Copy)]
pub(crate) enum Directions {
    One(Direction),
    Both,
}

impl From<Direction> for Directions {
    fn from(direction: Direction) -> Self {
        Self::One(direction)
    }
}

impl Directions {
    pub(super) fn of(workload: &ShareWorkload) -> Self {
        let mixed = workload
            .operations
            .iter()
            .any(|operations| operations.opposite_percent > 0);
        match mixed {
            true => Self::Both,
            false => Self::One(workload.direction),
        }
    }
}

pub(super) fn total(channels: &[ChannelStatus], directions: Directions) -> u64 {
    channels
        .iter()
        .map(|channel| payload_of(channel, directions))
        .sum()
}

fn payload_of(channel: &ChannelStatus, directions: Directions) -> u64 {
    match directions {
        Directions::One(Direction::Read) => channel.bytes_received,
        Directions::One(Direction::Write) => channel.bytes_sent,
        Directions::Both => channel.bytes_received.saturating_add(channel.bytes_sent),
    }
}
