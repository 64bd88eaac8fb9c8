//! TAP devices: how one is made, and what it says of the rates that it and its partner can, as after
//! autonegotiation. It says what it was given (`tun_set_link_ksettings` of the kernel), unlike a veth.

use std::ffi::c_void;
use std::fs::{File, OpenOptions};
use std::io;

use locale::say;
use record::BitsPerSecond;
use rustix::ioctl::{self, IntegerSetter, Opcode, Setter, opcode};
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::namespace_exec::Namespace;
use crate::topology::NEGOTIABLE;
use crate::{End, Error};

/// An Ethernet device, without further headers but the one of virtio, so that segments of 64 KiB
/// pass whole, with check sums that nobody has to calculate.
const TAP: i16 = 0x0002 | 0x1000 | 0x4000;
/// What a reader of such a device takes: packets without a check sum, and those that are to be cut.
const OFFLOADS: usize = 0x01 | 0x02 | 0x04;
const SET_INTERFACE: Opcode = opcode::write::<i32>(b'T', 202);
const SET_OFFLOAD: Opcode = opcode::write::<u32>(b'T', 208);

/// `SIOCETHTOOL`, `ETHTOOL_GLINKSETTINGS` and `ETHTOOL_SLINKSETTINGS` (`linux/sockios.h`,
/// `linux/ethtool.h`).
const ETHTOOL: Opcode = 0x8946;
const GET: u32 = 0x4c;
const SET: u32 = 0x4d;
/// `DUPLEX_FULL`, `PORT_TP` and `AUTONEG_ENABLE`.
const FULL: u8 = 1;
const TWISTED_PAIR: u8 = 0;
const NEGOTIATED: u8 = 1;
/// Bits of the kernel's list of modes that are no rates: autonegotiation and twisted pair.
const OTHER_BITS: [u32; 2] = [6, 7];
/// Most words of a list of modes: the kernel's count of them is a signed byte.
const WORDS_MAX: usize = 127;

/// `struct ifreq` with flags.
#[repr(C)]
struct FlagsRequest {
    name: [u8; 16],
    flags: i16,
    rest: [u8; 22],
}

/// `struct ethtool_link_settings`, with space for its three lists.
#[repr(C)]
struct Settings {
    command: u32,
    megabits: u32,
    duplex: u8,
    port: u8,
    phy: u8,
    autonegotiation: u8,
    others: [u8; 3],
    words: i8,
    rest: [u8; 4],
    reserved: [u32; 7],
    modes: [u32; 3 * WORDS_MAX],
}

/// `struct ifreq` with a pointer.
#[repr(C)]
struct Request {
    name: [u8; 16],
    data: *mut c_void,
    rest: [u8; 16],
}

/// A TAP device with the name of an end, in its host.
pub(super) fn device(end: &End, namespace: &Namespace) -> Result<File, Error> {
    namespace
        .in_network(|| open(&end.nic))
        .map_err(|source| Error::System {
            action: say("error-lab.make-tap"),
            subject: end.nic.as_str().into(),
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
    let longest = name.len() - 1;
    let length = nic.len().min(longest);
    name[..length].copy_from_slice(&nic.as_bytes()[..length]);
    let request = FlagsRequest {
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

/// Lets a TAP device say that both ends can every rate up to `could`, and agreed on `rate`.
pub(crate) fn pretend(
    end: &End,
    namespace: &Namespace,
    rate: BitsPerSecond,
    could: BitsPerSecond,
) -> Result<(), Error> {
    let megabits = u32::try_from(rate.get() / 1_000_000).unwrap_or(u32::MAX);
    namespace
        .in_network(|| set(&end.nic, megabits, could.get() / 1_000_000))
        .map_err(|source| Error::System {
            action: say("error-lab.set-link-modes"),
            subject: end.nic.as_str().into(),
            source,
        })
}

fn set(nic: &str, megabits: u32, could: u64) -> io::Result<()> {
    let mut settings = Settings {
        command: GET,
        megabits,
        duplex: FULL,
        port: TWISTED_PAIR,
        phy: 0,
        autonegotiation: NEGOTIATED,
        others: [0; 3],
        words: 0,
        rest: [0; 4],
        reserved: [0; 7],
        modes: [0; 3 * WORDS_MAX],
    };
    // Asked with lists of no words, the kernel says how many words they have, as a negative number.
    ask(nic, &mut settings)?;
    let words = settings.words.checked_neg().filter(|words| *words > 0);
    let words = words.ok_or(io::ErrorKind::InvalidData)?;
    let rates = NEGOTIABLE.iter().filter(|(megabits, _)| *megabits <= could);
    let bits = rates.map(|(_, bit)| *bit).chain(OTHER_BITS);
    for bit in bits {
        for list in 0..3 {
            let length = usize::from(words.unsigned_abs());
            let word = usize::try_from(bit / 32).unwrap_or(usize::MAX);
            if word < length {
                settings.modes[list * length + word] |= 1 << (bit % 32);
            }
        }
    }
    settings.command = SET;
    settings.words = words;
    (settings.megabits, settings.duplex) = (megabits, FULL);
    (settings.port, settings.autonegotiation) = (TWISTED_PAIR, NEGOTIATED);
    ask(nic, &mut settings)
}

#[expect(unsafe_code, reason = "only ioctl sets what a NIC says of itself")]
fn ask(nic: &str, settings: &mut Settings) -> io::Result<()> {
    let flags = SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None)?;
    let mut name = [0; 16];
    let length = nic.len().min(name.len() - 1);
    name[..length].copy_from_slice(&nic.as_bytes()[..length]);
    let request = Request {
        name,
        data: std::ptr::from_mut(settings).cast(),
        rest: [0; 16],
    };
    // SAFETY: SIOCETHTOOL reads a `struct ifreq`, which `Request` is in size and layout, and reads and
    // writes at its pointer a `struct ethtool_link_settings` with at most three lists of `WORDS_MAX`
    // words, for which `settings` has space and which nothing else uses meanwhile.
    unsafe { ioctl::ioctl(&socket, Setter::<ETHTOOL, _>::new(request)) }?;
    Ok(())
}
