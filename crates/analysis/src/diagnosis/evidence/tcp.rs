//! What TCP counted: round trips, windows, waiting, and segments that were lost or overtaken.

use record::{Direction, Rung, TcpClock};

use super::{Evidence, median_of};

/// A round trip so short that no buffer of usual size holds a connection back.
const SHORT_NANOSECONDS: u64 = 300_000;
/// Segments sent again, as a share of all, that are a reason of their own.
const RESENT: f64 = 0.001;
/// Segments out of order, as a share of all, that a loss leaves behind it: each of those that follow in the window.
/// Processors of ours that handle packets side by side leave fewer.
const OVERTAKEN: f64 = 0.01;
/// What a buffer of TCP holds at least where nobody made it small.
const SMALLEST_BUFFER_BYTES: f64 = 65_536.0;

impl Evidence<'_> {
    /// What TCP did while our end wrote to the share, over all connections of a rung's trials.
    pub(in crate::diagnosis) fn writing_clock(&self, rung: Rung) -> Option<TcpClock> {
        let trials = self.trials.iter();
        let clocks = trials
            .filter(|trial| trial.rung == rung && trial.direction == Direction::Write)
            .flat_map(|trial| &trial.result.connections)
            .filter_map(|one| one.clock);
        let sum = clocks.reduce(|one, two| TcpClock {
            total: one.total + two.total,
            busy: one.busy + two.busy,
            receiver_limited: one.receiver_limited + two.receiver_limited,
            sender_limited: one.sender_limited + two.sender_limited,
            segments: one.segments.saturating_add(two.segments),
            retransmits: one.retransmits.saturating_add(two.retransmits),
        })?;
        (sum.total.get() > 0).then_some(sum)
    }

    /// The part of the time of writing at a rung in which TCP waited for the network alone: neither for data, nor for the far
    /// end's window, nor for our own buffer. On a path so short that every buffer would fill it, a buffer is full
    /// because what is in it waits in a queue of the network.
    pub(in crate::diagnosis) fn network_share(&self, rung: Rung) -> Option<f64> {
        let clock = self.writing_clock(rung)?;
        let whole = self.ceiling(Direction::Write).zip(self.round_trip_min());
        let is_short =
            whole.is_some_and(|(rate, time)| rate * time as f64 / 1e9 < SMALLEST_BUFFER_BYTES);
        let own = clock.sender_limited.get();
        let waited = clock.receiver_limited.get() + if is_short { 0 } else { own };
        let network = clock.busy.get().saturating_sub(waited);
        Some(network as f64 / clock.total.get() as f64)
    }

    /// What a rung's trials of one direction had to send again, as a share of all segments.
    pub(in crate::diagnosis) fn resent(&self, rung: Rung, direction: Direction) -> Option<f64> {
        let shares = self
            .trials
            .iter()
            .filter(|trial| trial.rung == rung && trial.direction == direction)
            .filter_map(|trial| {
                let ours = trial
                    .result
                    .samples
                    .iter()
                    .filter_map(|sample| sample.retransmits);
                let resent = match (direction, rung) {
                    (Direction::Write, _) => {
                        let counted = ours.fold(0, u64::saturating_add);
                        // The samples count those of all programs of the host.
                        counted.min(trial.resent().unwrap_or(u64::MAX))
                    }
                    (Direction::Read, Rung::Tcp) => trial.result.far_retransmits?,
                    (Direction::Read, _) => return None,
                };
                let segments = trial.result.bytes().get() as f64 / trial.segment_bytes();
                Some(resent as f64 / segments)
            });
        let shares: Vec<f64> = shares.collect();
        // The median, so that one trial with a hiccup is no fault of the path.
        let mut sorted = shares;
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }

    /// Whether so many segments had to be sent again that it is a reason of its own.
    pub(in crate::diagnosis) fn is_resent(&self, rung: Rung, direction: Direction) -> bool {
        let resent = self.resent(rung, direction);
        resent.is_some_and(|share| share > RESENT)
    }

    /// The shortest round trip that was seen, in nanoseconds.
    pub(in crate::diagnosis) fn round_trip_min(&self) -> Option<u64> {
        let by_tcp = self
            .trials
            .iter()
            .flat_map(|trial| &trial.result.connections)
            .filter_map(|connection| Some(connection.tcp?.round_trip_min.get()));
        let by_probe = self.path.into_iter().flat_map(|path| &path.mtus);
        let by_probe = by_probe.filter_map(|proof| Some(proof.round_trip?.get()));
        by_tcp.filter(|time| *time > 0).chain(by_probe).min()
    }

    /// The largest share of its time in which a writing connection waited for the far end's window.
    pub(in crate::diagnosis) fn receiver_limited(&self, rung: Option<Rung>) -> f64 {
        let shares = self
            .trials
            .iter()
            .filter(|trial| trial.direction == Direction::Write)
            .filter(|trial| rung.is_none_or(|rung| trial.rung == rung))
            .flat_map(|trial| &trial.result.connections)
            .filter_map(|connection| {
                let tcp = connection.tcp?;
                let busy = tcp.busy.get();
                (busy > 0).then(|| tcp.receiver_limited.get() as f64 / busy as f64)
            });
        shares.fold(0.0, f64::max)
    }

    /// The most that the file server's TCP ever had room for.
    pub(in crate::diagnosis) fn far_window_max(&self) -> Option<u64> {
        let shares = self.trials.iter().filter(|trial| trial.rung != Rung::Tcp);
        let connections = shares.flat_map(|trial| &trial.result.connections);
        connections
            .filter_map(|connection| connection.tcp?.far_window)
            .max()
    }

    /// Whether the path is so short that no buffer of usual size holds a connection back, as far as is known.
    pub(in crate::diagnosis) fn is_short_path(&self) -> bool {
        let round_trip = self.round_trip_min();
        round_trip.is_none_or(|round_trip| round_trip < SHORT_NANOSECONDS)
    }

    /// Whether so many segments came to us before an earlier one that some are lost.
    pub(in crate::diagnosis) fn is_overtaken(&self, rung: Rung) -> bool {
        self.overtaken(rung).is_some_and(|share| share > OVERTAKEN)
    }

    /// Segments that came to us before an earlier one, as a share of all that we read.
    pub(in crate::diagnosis) fn overtaken(&self, rung: Rung) -> Option<f64> {
        let trials = self.trials.iter();
        let shares = trials
            .filter(|trial| trial.rung == rung && trial.direction == Direction::Read)
            .filter_map(|trial| {
                let connections = trial.result.connections.iter();
                let overtaken: Option<u64> = connections
                    .map(|connection| connection.tcp?.out_of_order)
                    .sum();
                let segments = trial.result.bytes().get() as f64 / trial.segment_bytes();
                Some(overtaken? as f64 / segments)
            });
        median_of(shares)
    }
}
