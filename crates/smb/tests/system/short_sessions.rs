//! Many short sessions, several at a time, where threads wait long for a processor: whatever
//! goes wrong between the threads of a session goes wrong at its begin and at its end.

use std::process::{Child, Command};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use os::network::SocketOptions;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use smb::{Access, OpenOptions, Pair, Policy, Stop};

use crate::byte_pattern;
use crate::samba::{connect, write_pattern};
use crate::samba_lan::{Lan, SHARE};

/// Sessions at a time: more threads than any processor runs.
const AT_ONCE: usize = 4;
/// Several blocks, the last one short.
const BYTES: u64 = 3 * (64 << 10) + 777;
const SMALL: u64 = 1_000;

/// A process that runs when no other wants to.
struct Neighbour(Child);

impl Neighbour {
    fn start() -> Self {
        let mut busy = Command::new("chrt");
        busy.args(["--idle", "0", "sh", "-c", "while :; do :; done"]);
        Self(busy.spawn().expect("util-linux is installed"))
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Keeps this thread, and those that it starts, on one processor.
fn pin() {
    let allowed = sched_getaffinity(None).expect("the system says");
    let first = (0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu));
    let mut one = CpuSet::new();
    one.set(first.expect("there is one"));
    sched_setaffinity(None, &one).expect("it is ours");
}

/// Small blocks, so that they go from hand to hand often, and in every other session with very small buffers of sockets.
fn policy(session: usize) -> Policy {
    let tiny = (!session.is_multiple_of(2)).then_some(4096);
    Policy {
        block_bytes: 64 << 10,
        blocks: 4,
        depth: 4,
        sockets: SocketOptions {
            receive_buffer: tiny,
            send_buffer: tiny,
            ..SocketOptions::default()
        },
        ..Policy::default()
    }
}

fn run(lan: &Lan, number: usize) {
    let session = connect(lan, &policy(number));
    if number.is_multiple_of(3) {
        let pair = Pair {
            local: "10.94.1.1".parse().expect("an address"),
            remote: "10.94.1.2".parse().expect("an address"),
        };
        session
            .add_channel(&pair, None)
            .expect("the second link is there");
    }
    let tree = session.tree(SHARE).expect("the share is there");
    let small = tree.read_small("small").expect("it is there").bytes;
    assert_eq!(
        byte_pattern::difference(1, 0, &small),
        None,
        "session {number}"
    );
    let file = tree
        .open("large", &OpenOptions::open(Access::Read))
        .expect("it is there");
    let mut read = 0;
    for piece in file.read_ranges(std::iter::once(0..BYTES), &Stop::new()) {
        let piece = piece.unwrap_or_else(|error| panic!("session {number}: {error:?}"));
        let difference = byte_pattern::difference(2, piece.offset, piece.payload.bytes());
        assert_eq!(difference, None, "session {number}");
        read += piece.payload.len() as u64;
    }
    assert_eq!(read, BYTES, "session {number}");
    // Some end while a file is open and more was asked for.
    if number.is_multiple_of(5) {
        let stop = Stop::new();
        let mut more = file.read_ranges(std::iter::once(0..BYTES), &stop);
        drop(more.next());
    }
}

#[test]
fn no_short_session_stops() {
    let count = std::env::var("LINERATE_SESSIONS").map_or(100, |count| {
        count.parse().expect("LINERATE_SESSIONS is a number")
    });
    let lan = Lan::new("");
    {
        let session = connect(&lan, &Policy::default());
        let tree = session.tree(SHARE).expect("the share is there");
        write_pattern(&tree, "small", 1, std::iter::once(0..SMALL));
        write_pattern(&tree, "large", 2, std::iter::once(0..BYTES));
    }
    pin();
    let _neighbours = [Neighbour::start(), Neighbour::start()];
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    match next.fetch_add(1, Ordering::Relaxed) {
                        number if number < count => run(&lan, number),
                        _ => return,
                    }
                }
            });
        }
    });
}

/// All that was asked for may have arrived when a read is stopped, and who reads has not had it.
#[test]
fn a_stop_is_no_end_of_a_file() {
    let lan = Lan::new("");
    let session = connect(&lan, &policy(0));
    let tree = session.tree(SHARE).expect("the share is there");
    write_pattern(&tree, "large", 2, std::iter::once(0..BYTES));
    let file = tree
        .open("large", &OpenOptions::open(Access::Read))
        .expect("it is there");
    let arrived_before = session.channels()[0].bytes_received;
    let stop = Stop::new();
    let mut pieces = file.read_ranges(std::iter::once(0..BYTES), &stop);
    let first = pieces.next().expect("it is not empty");
    let first = first.expect("it can be read").payload.len() as u64;
    assert!(first < BYTES, "more is to come");
    while session.channels()[0].bytes_received < arrived_before + BYTES {
        thread::yield_now();
    }
    // That it is over is heard after its last piece.
    file.size().expect("the channel is alive");
    stop.stop();
    let rest: Vec<_> = pieces.collect();
    assert!(matches!(rest[..], [Err(smb::Error::Stopped)]), "{rest:?}");
}
