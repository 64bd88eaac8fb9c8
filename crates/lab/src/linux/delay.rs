//! Delay lines: a link that is long. Not every kernel has `netem`, so two TAP devices take the place
//! of the virtual cable, and what one host gives to its own comes out of the other's a while later.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::ioctl::{self, IntegerSetter, Setter, opcode};

use super::namespace::Namespace;
use crate::{End, Error};

/// The longest packet with its Ethernet header and what the kernel says about it.
const PACKET_BYTES_MAX: usize = (64 << 10) + 64;
/// Packets that are on their way in one direction, at most; what comes when the line is so full is
/// lost, as on any line.
const PACKETS_MAX: usize = 4096;
/// An Ethernet device, without further headers but the one of virtio, so that segments of 64 KiB
/// pass whole, with check sums that nobody has to calculate.
const TAP: i16 = 0x0002 | 0x1000 | 0x4000;
/// What a reader of such a device takes: packets without a check sum, and those that are to be cut.
const OFFLOADS: usize = 0x01 | 0x02 | 0x04;
const SET_INTERFACE: ioctl::Opcode = opcode::write::<i32>(b'T', 202);
const SET_OFFLOAD: ioctl::Opcode = opcode::write::<u32>(b'T', 208);

/// As `struct ifreq` has it.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    flags: i16,
    rest: [u8; 22],
}

/// Joins two ends by a line on which everything takes `delay` in each direction, on threads that
/// end with the process, and with it the devices.
pub(crate) fn join(ends: [(&End, &Namespace); 2], delay: Duration) -> Result<(), Error> {
    let [(one, here), (other, there)] = ends;
    let [one, other] = [device(one, here)?, device(other, there)?];
    let failed = |source| Error::System {
        action: "start the delay line of",
        subject: "a link".to_owned(),
        source,
    };
    let (back, forth) = (one.try_clone(), other.try_clone());
    carry(one, forth.map_err(failed)?, delay);
    carry(other, back.map_err(failed)?, delay);
    Ok(())
}

/// A TAP device with the name of an end, in its host.
fn device(end: &End, namespace: &Namespace) -> Result<File, Error> {
    namespace
        .in_network(|| open(&end.nic))
        .map_err(|source| Error::System {
            action: "make the TAP device",
            subject: end.nic.clone(),
            source,
        })
}

#[expect(unsafe_code, reason = "only ioctl makes a TAP device")]
fn open(nic: &str) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/net/tun")?;
    let mut name = [0; 16];
    let room = name.len() - 1;
    let length = nic.len().min(room);
    name[..length].copy_from_slice(&nic.as_bytes()[..length]);
    let request = InterfaceRequest {
        name,
        flags: TAP,
        rest: [0; 22],
    };
    // SAFETY: TUNSETIFF reads a `struct ifreq`, which this is in size and layout, and writes the name
    // into its own copy of it or into this one.
    unsafe { ioctl::ioctl(&file, Setter::<SET_INTERFACE, _>::new(request)) }?;
    // SAFETY: TUNSETOFFLOAD takes flags by value.
    unsafe { ioctl::ioctl(&file, IntegerSetter::<SET_OFFLOAD>::new_usize(OFFLOADS)) }?;
    Ok(file)
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
