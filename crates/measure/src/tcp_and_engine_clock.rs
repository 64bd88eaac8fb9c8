//! What TCP and our engine did in the counted time: differences of what they count over their whole life.

use std::time::Duration;

use os::network::{SendingTimes, TcpFacts};
use record::{EngineClock, TcpClock};
use smb::ChannelStatus;

/// What TCP did from one moment to another, so far apart; none where the system does not say.
pub(crate) fn tcp(before: &TcpFacts, after: &TcpFacts, total: Duration) -> Option<TcpClock> {
    let (sending_before, sending_after) = (before.sending?, after.sending?);
    let time = |of: fn(&SendingTimes) -> Duration| {
        let grown = of(&sending_after).saturating_sub(of(&sending_before));
        // The kernel counts in ticks, so that one may be too many.
        grown.min(total).into()
    };
    Some(TcpClock {
        total: total.into(),
        busy: time(|times| times.busy),
        receiver_limited: time(|times| times.receiver_limited),
        sender_limited: time(|times| times.sender_limited),
        segments: after.segments?.saturating_sub(before.segments?),
        retransmits: after.retransmits.saturating_sub(before.retransmits),
    })
}

/// What the threads of our engine did from one moment to another, so far apart. A channel that was not there
/// before began at nothing.
pub(crate) fn engine(
    before: &[ChannelStatus],
    after: &[ChannelStatus],
    counted: Duration,
) -> EngineClock {
    let channels = u32::try_from(after.len()).unwrap_or(u32::MAX);
    let total = counted.saturating_mul(channels);
    let grown = |of: fn(&ChannelStatus) -> Duration| -> Duration {
        let each = after.iter().map(|channel| {
            let begun = same(before, channel).map_or(Duration::ZERO, of);
            of(channel).saturating_sub(begun).min(counted)
        });
        each.sum()
    };
    let processor = grown(|channel| channel.processor);
    // A wait counts when it is over, so that one over a border may stick out by some milliseconds.
    let credits = grown(|channel| channel.credit_wait).min(total.saturating_sub(processor));
    let blocks = grown(|channel| channel.block_wait);
    EngineClock {
        total: total.into(),
        processor: processor.into(),
        credits: credits.into(),
        blocks: blocks.min(total.saturating_sub(processor + credits)).into(),
    }
}

/// The same channel of the same session at another moment.
pub(crate) fn same<'a>(
    others: &'a [ChannelStatus],
    channel: &ChannelStatus,
) -> Option<&'a ChannelStatus> {
    others
        .iter()
        .find(|other| (other.session, other.number) == (channel.session, channel.number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_counted_is_in_tcps_clock() {
        let second = Duration::from_secs(1);
        let facts = |factor: u32| TcpFacts {
            retransmits: 2 * u64::from(factor),
            segments: Some(100 * u64::from(factor)),
            sending: Some(SendingTimes {
                busy: Duration::from_millis(900) * factor,
                receiver_limited: Duration::from_millis(300) * factor,
                sender_limited: Duration::from_millis(100) * factor,
            }),
            ..TcpFacts::default()
        };
        let clock = tcp(&facts(1), &facts(2), second).unwrap();
        let millis = |time: record::Nanoseconds| time.get() / 1_000_000;
        let times = [
            clock.total,
            clock.busy,
            clock.receiver_limited,
            clock.sender_limited,
        ];
        assert_eq!(times.map(millis), [1000, 900, 300, 100]);
        assert_eq!((clock.segments, clock.retransmits), (100, 2));
        // A tick too many is no time.
        let clock = tcp(&facts(1), &facts(3), second).unwrap();
        assert_eq!(millis(clock.busy), 1000);
        let silent = TcpFacts::default();
        assert_eq!(tcp(&silent, &silent, second), None);
    }
}
