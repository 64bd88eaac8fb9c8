//! A path that would hold more than a host has room for.

use locale::{Message, say};
use record::{Direction, HostFacts, ProbeKind, Rung, Target, Value};

use super::evidence::Evidence;
use super::finding::{Advice, Decider, Finding, setting};
use super::ladder::DIRECTIONS;
use crate::RungName;
use crate::rung_and_probe_verdict::{Loss, Sequential};

/// A path whose round trip asks for more than small buffers.
const LONG_NANOSECONDS: u64 = 1_000_000;
/// The part of a receive buffer that TCP gives to the window.
const WINDOW_OF_BUFFER: f64 = 0.5;
/// Share of what fits through a window that is moved at least where the window is what limits.
const FILLED: f64 = 0.6;
/// The same at most.
const FILLED_MOST: f64 = 1.2;
/// A window that no system gives as its largest one by itself: what is held so small is a fault, however
/// much of it is filled.
const SMALL_WINDOW_BYTES: f64 = 262_144.0;
/// How much more must be moved in one direction than in the other to have lost less.
const LESS_LOST: f64 = 1.5;
/// The largest window that can be told in 16 bits.
const WINDOW_BYTES_UNSCALED: f64 = 65_535.0;
/// Share of its time in which a writer must have waited for the far end's window to be limited by it.
const WAITED: f64 = 0.45;
/// A receive window that no system keeps to by itself while data comes.
const TINY_WINDOW_BYTES: u64 = 48 << 10;
/// A buffer that is set to less than this bounds a session, however near the server is.
const SET_BYTES_MIN: u64 = 1 << 20;
/// What a second session gains at least where each is held by a buffer of its own.
const GAIN_OF_TWO: f64 = 1.5;
/// What Linux makes of a buffer that is asked for (socket(7)).
const OF_ASKED: f64 = 2.0;
/// The setting of a host without which a window has 16 bits.
const SCALING: &str = "tcp.window_scaling";
/// The one without which a receive buffer keeps the size that it begins with.
const TUNING: &str = "tcp.window_autotuning";
/// What a system gives to a buffer by itself at most, and with it to a path of that length.
const USUAL_BYTES: f64 = 6_291_456.0;
/// How far rates of one share may differ and still be one window for each round trip.
const STEADY: f64 = 1.25;

/// Which of the two buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Buffer {
    Receive,
    Send,
}

impl Buffer {
    const fn knob(self) -> &'static str {
        match self {
            Self::Receive => "tcp.rmem",
            Self::Send => "tcp.wmem",
        }
    }
}

/// A buffer that is too small for its path: in the direction that loses most, or else in the other one, for another
/// reason than what is lost most.
pub(super) fn small(seen: &Evidence, wanted: Buffer) -> Option<Finding> {
    let mut directions: Vec<Direction> = slow_ways(seen).collect();
    directions.sort_by_key(|direction| loses_less(seen, *direction));
    let mut found = directions.into_iter().filter_map(|direction| {
        let (buffer, finding) = small_buffer(seen, direction)?;
        let lost = seen.first_loss().map(|rung| rung.direction);
        let is_other = lost.is_some_and(|lost| lost != direction);
        Some((
            buffer,
            finding.off_path_if(is_other && loses_less(seen, direction)),
        ))
    });
    found
        .find(|(buffer, _)| *buffer == wanted)
        .map(|(_, it)| it)
}

fn small_buffer(seen: &Evidence, direction: Direction) -> Option<(Buffer, Finding)> {
    by_scaling(seen, direction)
        .or_else(|| by_tuning(seen, direction))
        .or_else(|| by_facts(seen, direction))
        .or_else(|| by_socket_options(seen, direction))
        .or_else(|| by_window(seen, direction))
        .or_else(|| by_flight(seen, direction))
}

fn slow_ways(seen: &Evidence) -> impl Iterator<Item = Direction> {
    DIRECTIONS.into_iter().filter(|direction| {
        seen.may_lose_in(RungName::Tcp, *direction) || seen.may_lose_in(RungName::Share, *direction)
    })
}

/// Whether the other direction loses far more.
fn loses_less(seen: &Evidence, direction: Direction) -> bool {
    let mut others = slow_ways(seen).filter(|other| *other != direction);
    others.any(|other| {
        let rates = moved(seen, direction).zip(moved(seen, other));
        rates.is_some_and(|(here, there)| here > there * LESS_LOST)
    })
}

/// The rate that is to be explained: the share's, or else that of raw TCP.
fn moved(seen: &Evidence, direction: Direction) -> Option<f64> {
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
    fn of(seen: &Evidence, direction: Direction) -> Option<Self> {
        let round_trip = seen.round_trip_min()?;
        Some(Self {
            round_trip,
            needed: seen.ceiling(direction)? * round_trip as f64 / 1e9,
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
pub(super) fn waits_for_receiver(seen: &Evidence, rung: Rung) -> bool {
    seen.receiver_limited(Some(rung)) > WAITED
}

/// A window that cannot be told in more than 16 bits (RFC 7323, section 2), because one end does without.
fn by_scaling(seen: &Evidence, direction: Direction) -> Option<(Buffer, Finding)> {
    let path = Path::of(seen, direction)?;
    if !path.is_held_by(WINDOW_BYTES_UNSCALED) {
        return None;
    }
    let hosts = [seen.network.client, seen.network.server];
    let mut hosts = hosts.into_iter().flatten();
    let host = hosts.find(|host| seen.is_off(host, SCALING))?;
    let text = say("receive-buffer-small.scaling")
        .with("host", &host.name)
        .seconds("round_trip", path.round_trip as f64 / 1e9);
    let advice = Advice::new(say("fix.window-scaling").with("host", &host.name))
        .gains(seen.gain())
        .sets(setting(
            Some(host),
            Target::Host,
            SCALING,
            Value::Switch(true),
        ));
    Some((Buffer::Receive, Finding::counted(text, advice)))
}

/// A receive buffer that does not grow, and begins with less than the path holds.
fn by_tuning(seen: &Evidence, direction: Direction) -> Option<(Buffer, Finding)> {
    let path = Path::of(seen, direction)?;
    let host = match direction {
        Direction::Read => seen.network.client,
        Direction::Write => seen.network.server,
    }?;
    let first = host.tcp.receive_buffer?[1];
    if !path.is_held_by(first as f64 * WINDOW_OF_BUFFER) || !seen.is_off(host, TUNING) {
        return None;
    }
    let text = say("receive-buffer-small.tuning")
        .with("host", &host.name)
        .with("direction", direction)
        .bytes("first", first)
        .bytes("needed", path.needed as u64);
    let advice = Advice::new(say("fix.window-autotuning").with("host", &host.name))
        .gains(seen.gain())
        .sets(setting(
            Some(host),
            Target::Host,
            TUNING,
            Value::Switch(true),
        ));
    Some((Buffer::Receive, Finding::counted(text, advice)))
}

/// The most that a host gives to a connection, against what would be under way if the link were full.
fn by_facts(seen: &Evidence, direction: Direction) -> Option<(Buffer, Finding)> {
    let path = Path::of(seen, direction)?;
    let tcp_is_well = !seen.may_lose_in(RungName::Tcp, direction);
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
        return too_small(Buffer::Receive, host, sizes, path.needed, direction, seen);
    }
    let buffer = sender.and_then(|host| Some((host, host.tcp.send_buffer?)));
    let (host, sizes) = buffer.filter(|(_, sizes)| path.is_held_by(sizes[2] as f64))?;
    too_small(Buffer::Send, host, sizes, path.needed, direction, seen)
}

fn too_small(
    which: Buffer,
    host: &HostFacts,
    sizes: [u64; 3],
    needed: f64,
    direction: Direction,
    seen: &Evidence,
) -> Option<(Buffer, Finding)> {
    let (id, fix) = match which {
        Buffer::Receive => ("receive-buffer-small", "fix.receive-buffer"),
        Buffer::Send => ("send-buffer-small", "fix.send-buffer"),
    };
    let text = say(id)
        .with("host", &host.name)
        .with("direction", direction)
        .bytes("most", sizes[2])
        .bytes("needed", needed as u64);
    let large = (needed / WINDOW_OF_BUFFER)
        .clamp(USUAL_BYTES, f64::from(i32::MAX))
        .ceil();
    let value = Value::Text(format!("{} {} {large:.0}", sizes[0], sizes[1]));
    let advice = say(fix)
        .with("host", &host.name)
        .bytes("bytes", large as u64);
    let advice = Advice::new(advice).gains(seen.gain()).sets(setting(
        Some(host),
        Target::Host,
        which.knob(),
        value,
    ));
    // The clock says whether TCP waits for it; the size alone makes it a suspect.
    let finding = match clock_proves(seen, which, direction) {
        true => Finding::counted(text, advice),
        false => Finding::suspected(text, Decider::Tune, advice),
    };
    let server = seen.network.server;
    let is_far = server.is_some_and(|server| server.name == host.name);
    Some((which, finding.far_if(is_far)))
}

/// Whether our end, as a sender, spent its time waiting for that buffer.
fn clock_proves(seen: &Evidence, which: Buffer, direction: Direction) -> bool {
    let Some(clock) = seen
        .writing_clock(Rung::Share)
        .filter(|_| direction == Direction::Write)
    else {
        return false;
    };
    let waited = match which {
        Buffer::Receive => clock.receiver_limited,
        Buffer::Send => clock.sender_limited,
    };
    waited.get() as f64 > WAITED * clock.total.get() as f64
}

/// Old advice in a file server's configuration, which keeps its TCP from tuning itself.
fn by_socket_options(seen: &Evidence, direction: Direction) -> Option<(Buffer, Finding)> {
    let server = seen.network.server?;
    if !seen.may_lose_in(RungName::Share, direction) {
        return None;
    }
    let mut values = seen.settings(&server.name, "smb.server.socket_options");
    let options = values.find_map(|(_, value)| match value {
        Value::Text(text) => Some(text),
        _ => None,
    })?;
    let (which, id, option) = match direction {
        Direction::Read => (Buffer::Send, "send-buffer-small.options", "SO_SNDBUF="),
        Direction::Write => (
            Buffer::Receive,
            "receive-buffer-small.options",
            "SO_RCVBUF=",
        ),
    };
    let mut words = options.split_whitespace();
    let size: u64 = words.find_map(|word| word.strip_prefix(option)?.parse().ok())?;
    if size >= SET_BYTES_MIN {
        return None;
    }
    let text = say(id).with("direction", direction).bytes("size", size);
    let advice = Advice::new(say("fix.socket-options").with("option", format!("{option}{size}")))
        .gains(seen.gain());
    // The size alone makes it a suspect; that our writes wait for it proves it, or that each connection has no more than
    // fits through it, and two have twice that.
    let is_full = match direction {
        Direction::Write => waits_for_receiver(seen, Rung::Share),
        Direction::Read => {
            let two = seen.probed_in(ProbeKind::Sessions, Rung::Share, direction);
            // Where two sessions gain nothing, no limit of one connection is what holds them.
            if two
                .as_ref()
                .is_some_and(|two| two.loss == Loss::DoesNotLose)
            {
                return None;
            }
            let gains = |two: Sequential| two.loss == Loss::Loses && two.ratio.value >= GAIN_OF_TWO;
            two.is_some_and(gains) && is_held_alone(seen, size as f64 * OF_ASKED)
        }
    };
    let found = match is_full && long_round_trip(seen).is_some() {
        true => Finding::counted(text, advice),
        false => Finding::suspected(text, Decider::Hand("decide.socket-options"), advice),
    };
    Some((which, found.far_if(true)))
}

/// Whether one connection reads about what fits through a buffer.
fn is_held_alone(seen: &Evidence, buffer: f64) -> bool {
    Path::of(seen, Direction::Read).is_some_and(|path| {
        let fits = buffer * 1e9 / path.round_trip as f64;
        (FILLED..=FILLED_MOST).contains(&(path.moved / fits))
    })
}

/// A far end that has no room, as the window says that it tells us.
fn by_window(seen: &Evidence, direction: Direction) -> Option<(Buffer, Finding)> {
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
    let text: Message = match (tiny, long_round_trip(seen)) {
        (Some(window), _) => say("receive-buffer-small.tiny").bytes("window", window),
        (None, Some(round_trip)) => {
            let path = seen.ceiling(direction)? * round_trip as f64 / 1e9;
            say("receive-buffer-small.full").bytes("path", path as u64)
        }
        (None, None) => return None,
    };
    let advice = Advice::of("fix.server-receive-buffer").gains(seen.gain());
    Some((Buffer::Receive, Finding::counted(text, advice).far_if(true)))
}

/// A server that answers at once, sends far less than the path holds, and no more in one round trip than
/// in another: that is a buffer, and no disk.
fn by_flight(seen: &Evidence, direction: Direction) -> Option<(Buffer, Finding)> {
    let round_trip = long_round_trip(seen)?;
    if direction != Direction::Read || seen.network.server.is_some() {
        return None;
    }
    let answers = super::tcp_and_host_effort_per_rung::request(seen)?.value * 1e9;
    let at_once = answers < round_trip as f64 * 1.5;
    let writes_are_well = !seen.may_lose_in(RungName::Share, Direction::Write);
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
    let text = say("send-buffer-small.flight").bytes("flight", flight as u64);
    let advice = Advice::of("fix.server-send-buffer").gains(seen.gain());
    let decider = Decider::Hand("decide.ss-at-server");
    let found = Finding::suspected(text, decider, advice);
    Some((Buffer::Send, found.far_if(true)))
}

fn long_round_trip(seen: &Evidence) -> Option<u64> {
    let round_trip = seen.round_trip_min()?;
    (round_trip >= LONG_NANOSECONDS).then_some(round_trip)
}
