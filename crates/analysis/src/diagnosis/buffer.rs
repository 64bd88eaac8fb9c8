//! A path that would hold more than a host has room for.

use record::{Direction, HostFacts, Rung, Setting, Target, Value};

use super::fault::{Fault, fault, gain, loses_in};
use super::remedy::{Advice, setting};
use super::{DIRECTIONS, LOSS_LIMIT, Seen};
use crate::comparison::direction_name;
use crate::{RungName, Trust};

/// A path whose round trip asks for more than small buffers.
const LONG_NANOSECONDS: u64 = 1_000_000;
/// The part of a receive buffer that TCP gives to the window.
const WINDOW_OF_BUFFER: f64 = 0.5;
/// Share of what fits through a window that is moved at least where the window is what limits.
const FILLED: f64 = 0.6;
/// A window that no system gives as its largest one by itself: what is held so small is a fault, however
/// much of it is filled.
const SMALL_WINDOW_BYTES: f64 = 262_144.0;
/// How much more must be moved one way than the other to have lost less.
const LESS_LOST: f64 = 1.5;
/// The largest window that can be told in 16 bits.
const WINDOW_BYTES_UNSCALED: f64 = 65_535.0;
/// Share of its time in which a writer must have waited for the far end's window to be limited by it.
const WAITED: f64 = LOSS_LIMIT / 2.0;
/// A receive window that no system keeps to by itself while data comes.
const TINY_WINDOW_BYTES: u64 = 48 << 10;
/// A buffer that is set to less than this bounds a session, however near the server is.
const SET_BYTES_MIN: u64 = 1 << 20;
/// The setting of a host without which a window has 16 bits.
const SCALING: &str = "tcp.window_scaling";
/// The one without which a receive buffer keeps the size that it begins with.
const TUNING: &str = "tcp.window_autotuning";
/// What a system gives to a buffer by itself at most, and with it to a path of that length.
const USUAL_BYTES: f64 = 6_291_456.0;
/// How far rates of one share may differ and still be one window for each round trip.
const STEADY: f64 = 1.25;

/// A buffer at either end that is too small for its path, the way that loses most.
pub(super) fn small_buffers(seen: &Seen) -> Option<Fault> {
    let mut ways = slow_ways(seen).filter(|direction| !loses_less(seen, *direction));
    ways.find_map(|direction| small_buffer(seen, direction))
}

/// The same the way that loses less, and for another reason then.
pub(super) fn small_buffers_beside(seen: &Seen) -> Option<Fault> {
    let mut ways = slow_ways(seen).filter(|direction| loses_less(seen, *direction));
    ways.find_map(|direction| small_buffer(seen, direction))
}

fn small_buffer(seen: &Seen, direction: Direction) -> Option<Fault> {
    by_scaling(seen, direction)
        .or_else(|| by_tuning(seen, direction))
        .or_else(|| by_facts(seen, direction))
        .or_else(|| by_socket_options(seen, direction))
        .or_else(|| by_window(seen, direction))
        .or_else(|| by_flight(seen, direction))
}

fn slow_ways(seen: &Seen) -> impl Iterator<Item = Direction> {
    DIRECTIONS.into_iter().filter(|direction| {
        loses_in(seen, RungName::Tcp, *direction) || loses_in(seen, RungName::Share, *direction)
    })
}

/// Whether the other way loses far more.
fn loses_less(seen: &Seen, direction: Direction) -> bool {
    let mut others = slow_ways(seen).filter(|other| *other != direction);
    others.any(|other| {
        let rates = moved(seen, direction).zip(moved(seen, other));
        rates.is_some_and(|(here, there)| here > there * LESS_LOST)
    })
}

/// The rate that is to be explained: the share's, or else that of raw TCP.
fn moved(seen: &Seen, direction: Direction) -> Option<f64> {
    seen.rate(RungName::Share, direction)
        .or_else(|| seen.rate(RungName::Tcp, direction))
}

/// A path that would hold more than a window does.
struct Path {
    /// The shortest round trip, in nanoseconds.
    round_trip: u64,
    /// Bytes that would be under way if the link were full.
    needed: f64,
    moved: f64,
}

impl Path {
    fn of(seen: &Seen, direction: Direction) -> Option<Self> {
        let round_trip = seen.round_trip_min()?;
        Some(Self {
            round_trip,
            needed: seen.rate(RungName::Ceiling, direction)? * round_trip as f64 / 1e9,
            moved: moved(seen, direction)?,
        })
    }

    /// Whether a window of so many bytes is too small, and what is moved is about what fits through it:
    /// what is far slower is so for another reason.
    fn is_held_by(&self, window: f64) -> bool {
        let fits = window * 1e9 / self.round_trip as f64;
        window < self.needed && (window < SMALL_WINDOW_BYTES || self.moved > fits * FILLED)
    }
}

/// Whether the trials of a rung spent their time waiting for the far end's window.
pub(super) fn waits_for_receiver(seen: &Seen, rung: Rung) -> bool {
    seen.receiver_limited(Some(rung)) > WAITED
}

/// A window that cannot be told in more than 16 bits (RFC 7323, section 2), because one end does without.
fn by_scaling(seen: &Seen, direction: Direction) -> Option<Fault> {
    let path = Path::of(seen, direction)?;
    if !path.is_held_by(WINDOW_BYTES_UNSCALED) {
        return None;
    }
    let hosts = [seen.network.client, seen.network.server];
    let mut hosts = hosts.into_iter().flatten();
    let host = hosts.find(|host| is_off(seen, host, SCALING))?;
    let text = format!(
        "window scaling is off at {}, so that no more than 64 KiB can be under way, on a path of {:.1} ms",
        host.name,
        path.round_trip as f64 / 1e6
    );
    let advice = Advice::new(format!("turn window scaling on again at {}", host.name))
        .gains(gain(seen))
        .sets(setting(
            Some(host),
            Target::Host,
            SCALING,
            Value::Switch(true),
        ));
    fault("receive-buffer-small", text, Trust::Measured, advice)
}

/// Whether a switch of a host is off.
fn is_off(seen: &Seen, host: &HostFacts, switch: &str) -> bool {
    let mut settings = seen.look.into_iter().flat_map(|look| &look.settings);
    settings.any(|setting| {
        matches!(setting, Setting::Knob { host: of, id, value: Value::Switch(false), .. }
            if *of == host.name && id.as_str() == switch)
    })
}

/// A receive buffer that does not grow, and begins with less than the path holds.
fn by_tuning(seen: &Seen, direction: Direction) -> Option<Fault> {
    let path = Path::of(seen, direction)?;
    let host = match direction {
        Direction::Read => seen.network.client,
        Direction::Write => seen.network.server,
    }?;
    let first = host.tcp.receive_buffer?[1];
    if !path.is_held_by(first as f64 * WINDOW_OF_BUFFER) || !is_off(seen, host, TUNING) {
        return None;
    }
    let text = format!(
        "window auto-tuning is off at {} ({}), so that its receive buffer stays at {first} bytes, and {:.0} would be \
         under way if the link were full",
        host.name,
        direction_name(direction),
        path.needed
    );
    let advice = Advice::new(format!("turn window auto-tuning on again at {}", host.name))
        .gains(gain(seen))
        .sets(setting(
            Some(host),
            Target::Host,
            TUNING,
            Value::Switch(true),
        ));
    fault("receive-buffer-small", text, Trust::Measured, advice)
}

/// The most that a host gives to a connection, against what would be under way if the link were full.
fn by_facts(seen: &Seen, direction: Direction) -> Option<Fault> {
    let path = Path::of(seen, direction)?;
    let tcp_is_well = !loses_in(seen, RungName::Tcp, direction);
    if tcp_is_well && seen.rate(RungName::Tcp, direction).is_some() {
        // It has no other buffers than the share.
        return None;
    }
    let (client, server) = (seen.network.client, seen.network.server);
    let (receiver, sender) = match direction {
        Direction::Read => (client, server),
        Direction::Write => (server, client),
    };
    let window = receiver.and_then(|host| Some((host, host.tcp.receive_buffer?)));
    let small = window.filter(|(_, sizes)| path.is_held_by(sizes[2] as f64 * WINDOW_OF_BUFFER));
    if let Some((host, sizes)) = small {
        return too_small("receive", host, sizes, path.needed, direction, seen);
    }
    let buffer = sender.and_then(|host| Some((host, host.tcp.send_buffer?)));
    let (host, sizes) = buffer.filter(|(_, sizes)| path.is_held_by(sizes[2] as f64))?;
    too_small("send", host, sizes, path.needed, direction, seen)
}

fn too_small(
    which: &str,
    host: &HostFacts,
    sizes: [u64; 3],
    needed: f64,
    direction: Direction,
    seen: &Seen,
) -> Option<Fault> {
    let text = format!(
        "the {which} buffer of {} is too small for this path ({}): it has {} bytes at most, and {needed:.0} would \
         be under way if the link were full",
        host.name,
        direction_name(direction),
        sizes[2],
    );
    let large = (needed / WINDOW_OF_BUFFER)
        .clamp(USUAL_BYTES, f64::from(i32::MAX))
        .ceil();
    let knob = if which == "send" {
        "tcp.wmem"
    } else {
        "tcp.rmem"
    };
    let value = Value::Text(format!("{} {} {large:.0}", sizes[0], sizes[1]));
    let advice = Advice::new(format!(
        "let TCP on {} take {large:.0} bytes for its {which} buffer",
        host.name
    ))
    .gains(gain(seen))
    .sets(setting(Some(host), Target::Host, knob, value));
    fault(
        &format!("{which}-buffer-small"),
        text,
        Trust::Computed,
        advice,
    )
}

/// Old advice in a file server's configuration, which keeps its TCP from tuning itself.
fn by_socket_options(seen: &Seen, direction: Direction) -> Option<Fault> {
    let server = seen.network.server?;
    if !loses_in(seen, RungName::Share, direction) {
        return None;
    }
    let options = seen
        .look?
        .settings
        .iter()
        .find_map(|setting| match setting {
            Setting::Knob {
                host,
                id,
                value: Value::Text(text),
                ..
            } if *host == server.name && id.as_str() == "smb.server.socket_options" => Some(text),
            _ => None,
        })?;
    let (which, option) = match direction {
        Direction::Read => ("send", "SO_SNDBUF="),
        Direction::Write => ("receive", "SO_RCVBUF="),
    };
    let mut words = options.split_whitespace();
    let size: u64 = words.find_map(|word| word.strip_prefix(option)?.parse().ok())?;
    if size >= SET_BYTES_MIN {
        return None;
    }
    let text = format!(
        "`socket options` in the server's `smb.conf` holds the {which} buffer at {size} bytes ({}), and TCP does not \
         tune itself where it is told a size",
        direction_name(direction)
    );
    let advice = Advice::new(format!(
        "take `{option}{size}` out of `socket options` in the server's `smb.conf`, and start the server again"
    ))
    .gains(gain(seen));
    fault(
        &format!("{which}-buffer-small"),
        text,
        Trust::Measured,
        advice,
    )
}

/// A far end that has no room, as the window says that it tells us.
fn by_window(seen: &Seen, direction: Direction) -> Option<Fault> {
    let waited = direction == Direction::Write && waits_for_receiver(seen, Rung::Share);
    if !waited || seen.network.server.is_some() {
        return None;
    }
    let largest = seen.far_window_max();
    let tiny = largest.filter(|window| *window < TINY_WINDOW_BYTES);
    let path = Path::of(seen, direction);
    let is_large = |window: u64| {
        path.as_ref()
            .is_some_and(|path| !path.is_held_by(window as f64))
    };
    // A window that would do and is full all the same: it is the server that does not empty it.
    if tiny.is_none() && largest.is_some_and(is_large) {
        return None;
    }
    let text = match (tiny, long_round_trip(seen)) {
        (Some(window), _) => format!(
            "the server never has room for more than {window} bytes: its receive buffer is held small, by \
             `socket options` of its `smb.conf` or by its `tcp_rmem`"
        ),
        (None, Some(round_trip)) => format!(
            "the server has no room for what is under way: {:.1} MB would fill the path",
            seen.rate(RungName::Ceiling, direction)? * round_trip as f64 / 1e15
        ),
        (None, None) => return None,
    };
    let advice = Advice::new(
        "let TCP on the server tune its receive buffer: look at its `tcp_rmem` and at `socket options` of its `smb.conf`",
    )
    .gains(gain(seen));
    fault("receive-buffer-small", text, Trust::Measured, advice)
}

/// A server that answers at once, sends far less than the path holds, and no more in one round trip than
/// in another: that is a buffer, and no disk.
fn by_flight(seen: &Seen, direction: Direction) -> Option<Fault> {
    let round_trip = long_round_trip(seen)?;
    if direction != Direction::Read || seen.network.server.is_some() {
        return None;
    }
    let answers = super::transfer::request(seen)?.value * 1e9;
    let at_once = answers < round_trip as f64 * 1.5;
    let writes_are_well = !loses_in(seen, RungName::Share, Direction::Write);
    let rates = seen.rates(Rung::Share, direction);
    let (least, most) = rates
        .iter()
        .fold((f64::MAX, 0.0_f64), |(least, most), rate| {
            (least.min(*rate), most.max(*rate))
        });
    let lost = seen.overtaken(Rung::Share).is_some_and(|share| share > 0.0);
    if !(at_once && writes_are_well && !lost && rates.len() > 1 && most < least * STEADY) {
        return None;
    }
    let flight = most * round_trip as f64 / 1e9;
    let text = format!(
        "the server keeps no more than {:.0} KiB under way when it sends, and answers at once: its send buffer is \
         too small for this path",
        flight / 1024.0
    );
    let advice = Advice::new(
        "let TCP on the server tune its send buffer: look at its `tcp_wmem` and at `socket options` of its `smb.conf`",
    )
    .gains(gain(seen));
    fault("send-buffer-small", text, Trust::Computed, advice)
}

fn long_round_trip(seen: &Seen) -> Option<u64> {
    let round_trip = seen.round_trip_min()?;
    (round_trip >= LONG_NANOSECONDS).then_some(round_trip)
}

impl Seen<'_> {
    /// The largest share of its time in which a writing connection waited for the far end's window.
    pub(super) fn receiver_limited(&self, rung: Option<Rung>) -> f64 {
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
    fn far_window_max(&self) -> Option<u64> {
        let shares = self.trials.iter().filter(|trial| trial.rung != Rung::Tcp);
        let connections = shares.flat_map(|trial| &trial.result.connections);
        connections
            .filter_map(|connection| connection.tcp?.far_window)
            .max()
    }

    /// The rates of a rung's trials.
    fn rates(&self, rung: Rung, direction: Direction) -> Vec<f64> {
        let trials = self.trials.iter();
        trials
            .filter(|trial| trial.rung == rung && trial.direction == direction)
            .map(|trial| trial.rate)
            .collect()
    }

    /// Segments that came to us before an earlier one, as a share of all that we read.
    pub(super) fn overtaken(&self, rung: Rung) -> Option<f64> {
        let trials = self.trials.iter();
        let shares = trials
            .filter(|trial| trial.rung == rung && trial.direction == Direction::Read)
            .filter_map(|trial| {
                let connections = trial.result.connections.iter();
                let overtaken: Option<u64> = connections
                    .map(|connection| connection.tcp?.out_of_order)
                    .sum();
                let segments =
                    trial.result.bytes().get() as f64 / super::cause::segment_bytes(trial);
                Some(overtaken? as f64 / segments)
            });
        super::fault::median_of(shares)
    }
}
