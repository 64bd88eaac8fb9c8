//! Delay lines: a link that is long. Not every kernel has `netem`, so two TAP devices take the place
//! of the virtual cable, and what one host gives to its own comes out of the other's a while later.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use locale::say;

use super::namespace_exec::Namespace;
use super::tap::device;
use crate::{End, Error};

/// The longest packet with its Ethernet header and what the kernel says about it.
const PACKET_BYTES_MAX: usize = (64 << 10) + 64;
/// Packets that are on their way in one direction, at most; what comes when the line is so full is
/// lost, as on any line.
const PACKETS_MAX: usize = 4096;
/// Joins two ends by a line on which everything takes `delay` in each direction, on threads that
/// end with the process, and with it the devices.
pub(crate) fn join(ends: [(&End, &Namespace); 2], delay: Duration) -> Result<(), Error> {
    let [(one, here), (other, there)] = ends;
    let [one, other] = [device(one, here)?, device(other, there)?];
    let failed = |source| Error::System {
        action: say("error-lab.start-delay-line"),
        subject: say("error-lab.a-link"),
        source,
    };
    let (back, forth) = (one.try_clone(), other.try_clone());
    carry(one, forth.map_err(failed)?, delay);
    carry(other, back.map_err(failed)?, delay);
    Ok(())
}

/// Carries packets in one direction.
fn carry(from: File, to: File, delay: Duration) {
    let (sender, line) = mpsc::sync_channel(PACKETS_MAX);
    thread::spawn(move || take(from, &sender, delay));
    thread::spawn(move || give(to, &line));
}

type Packet = (Instant, Box<[u8]>);

fn take(mut from: File, line: &SyncSender<Packet>, delay: Duration) {
    let mut room = vec![0; PACKET_BYTES_MAX];
    loop {
        match from.read(&mut room) {
            Ok(length) => {
                // A line that is full loses what comes.
                line.try_send((Instant::now() + delay, room[..length].into()))
                    .ok();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Somebody has removed the device.
            Err(_) => return,
        }
    }
}

fn give(mut to: File, line: &Receiver<Packet>) {
    for (due, packet) in line {
        let early = due.saturating_duration_since(Instant::now());
        if !early.is_zero() {
            thread::sleep(early);
        }
        // A device that is down loses it.
        to.write_all(&packet).ok();
    }
}
