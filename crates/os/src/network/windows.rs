//! Windows. A connection leaves by the interface that its source address belongs to: nothing is sent from an address by another
//! interface (RFC 1122, section 3.3.4.2, the strong model). Readiness is reported again only after a read has found nothing.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::windows::io::AsRawSocket as _;
use std::ptr;
use std::time::Duration;

use socket2::Socket;
use windows_sys::Win32::Foundation::{ERROR_BUFFER_OVERFLOW, ERROR_NO_DATA, NO_ERROR};
use windows_sys::Win32::NetworkManagement::IpHelper::{
    GAA_FLAG_SKIP_ANYCAST, GAA_FLAG_SKIP_DNS_SERVER, GAA_FLAG_SKIP_MULTICAST, GetAdaptersAddresses,
    GetTcpStatisticsEx, IF_TYPE_SOFTWARE_LOOPBACK, IP_ADAPTER_ADDRESSES_LH,
    IP_ADAPTER_UNICAST_ADDRESS_LH, MIB_TCPSTATS_LH,
};
use windows_sys::Win32::NetworkManagement::Ndis::IfOperStatusUp;
use windows_sys::Win32::Networking::WinSock::{
    AF_INET, AF_INET6, AF_UNSPEC, IpDadStateDeprecated, IpDadStatePreferred, SIO_TCP_INFO,
    SOCKADDR, SOCKADDR_IN, SOCKADDR_IN6, SOCKET, TCP_INFO_v0, WSAIoctl,
};

pub(super) use super::not_linux::*;
use super::{InterfaceAddress, TcpFacts};
use crate::machine::{AddressAndPrefix, Nic};

/// Room for the list of adapters at first, as its documentation advises, and how often it is asked for again when it has
/// grown meanwhile.
const LIST_BYTES: u32 = 15 << 10;
const TRIES: usize = 5;
/// What an adapter without a known speed says.
const NO_SPEED: u64 = u64::MAX;

/// `SIO_TCP_INFO` in its first form (Windows 10 1703). What sending waited for, which the second one has, is left out: the
/// time that it calls limited by the sender holds the time in which there was nothing to send.
#[expect(unsafe_code, reason = "no safe crate of ours asks for SIO_TCP_INFO")]
pub(super) fn tcp_facts(stream: &Socket) -> Option<TcpFacts> {
    let version: u32 = 0;
    let mut info = MaybeUninit::<TCP_INFO_v0>::zeroed();
    let mut filled = 0;
    let socket = SOCKET::try_from(stream.as_raw_socket()).ok()?;
    // SAFETY: the socket is open while `stream` is borrowed; each length is that of what its pointer leads to.
    let status = unsafe {
        WSAIoctl(
            socket,
            SIO_TCP_INFO,
            (&raw const version).cast(),
            u32::try_from(size_of::<u32>()).ok()?,
            info.as_mut_ptr().cast(),
            u32::try_from(size_of::<TCP_INFO_v0>()).ok()?,
            &raw mut filled,
            ptr::null_mut(),
            None,
        )
    };
    if status != 0 || (filled as usize) < size_of::<TCP_INFO_v0>() {
        return None;
    }
    let info = info.as_ptr();
    // SAFETY: all of it was filled; each of these fields is a number, and the flag is read as one.
    let (segment, flag, round_trips, windows, bytes_sent_again, received) = unsafe {
        (
            (&raw const (*info).Mss).read(),
            (&raw const (*info).TimestampsEnabled).cast::<u8>().read(),
            [
                (&raw const (*info).RttUs).read(),
                (&raw const (*info).MinRttUs).read(),
            ],
            [
                (&raw const (*info).Cwnd).read(),
                (&raw const (*info).SndWnd).read(),
            ],
            (&raw const (*info).BytesRetrans).read(),
            (&raw const (*info).BytesIn).read(),
        )
    };
    // Before the first sample the shortest is the longest that can be said.
    let round_trip_min = Some(round_trips[1]).filter(|shortest| *shortest != u32::MAX);
    Some(TcpFacts {
        round_trip: Duration::from_micros(round_trips[0].into()),
        // Windows counts bytes.
        retransmits: u64::from(bytes_sent_again.div_ceil(segment.max(1))),
        received: Some(received),
        segment,
        option_bytes: if flag == 0 { 0 } else { 12 },
        round_trip_min: Duration::from_micros(round_trip_min.unwrap_or(round_trips[0]).into()),
        congestion_window: windows[0].into(),
        far_window: Some(windows[1].into()),
        ..TcpFacts::default()
    })
}

/// `GetTcpStatisticsEx`, of both versions of IP. Each counts in 32 bits.
#[expect(unsafe_code, reason = "no safe crate of ours asks for it")]
pub(super) fn retransmitted_segments() -> Option<u64> {
    let of = |family: u16| {
        let mut found = MIB_TCPSTATS_LH::default();
        // SAFETY: one such structure is written, which holds plain numbers only.
        let status = unsafe { GetTcpStatisticsEx(&raw mut found, family.into()) };
        (status == NO_ERROR).then_some(u64::from(found.dwRetransSegs))
    };
    Some(of(AF_INET)? + of(AF_INET6).unwrap_or(0))
}

pub(super) fn set_segment(_: &Socket, _: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn interface_addresses() -> io::Result<Vec<InterfaceAddress>> {
    let mut found = Vec::new();
    for nic in nics()?.into_iter().filter(|nic| nic.is_up) {
        found.extend(nic.addresses.iter().map(|address| InterfaceAddress {
            nic: nic.name.clone(),
            index: match address.address {
                IpAddr::V4(_) => nic.index,
                IpAddr::V6(_) => nic.index_ipv6,
            },
            address: address.address,
            prefix: address.prefix,
            bits_per_second: nic.bits_per_second,
            // Only PowerShell knows them.
            queues: None,
        }));
    }
    Ok(found)
}

/// The interfaces of this machine without the loopback, up or not.
pub(crate) fn nics() -> io::Result<Vec<Nic>> {
    let list = adapters()?;
    let mut found = Vec::new();
    let mut next = list.as_ptr().cast::<IP_ADAPTER_ADDRESSES_LH>();
    if list.is_empty() {
        next = ptr::null();
    }
    while let Some(adapter) = entry(next) {
        next = adapter.Next;
        if adapter.IfType == IF_TYPE_SOFTWARE_LOOPBACK {
            continue;
        }
        let speed = adapter.ReceiveLinkSpeed;
        found.push(Nic {
            name: text(adapter.FriendlyName),
            description: text(adapter.Description),
            index: index_of(adapter),
            index_ipv6: adapter.Ipv6IfIndex,
            hardware_address: hardware_address(adapter),
            mtu: adapter.Mtu,
            is_up: adapter.OperStatus == IfOperStatusUp,
            bits_per_second: Some(speed).filter(|speed| ![0, NO_SPEED].contains(speed)),
            interface_type: adapter.IfType,
            addresses: addresses(adapter),
        });
    }
    Ok(found)
}

/// The addresses of an adapter that are its own.
fn addresses(adapter: &IP_ADAPTER_ADDRESSES_LH) -> Vec<AddressAndPrefix> {
    let mut found = Vec::new();
    let mut next = adapter.FirstUnicastAddress.cast_const();
    while let Some(unicast) = entry::<IP_ADAPTER_UNICAST_ADDRESS_LH>(next) {
        next = unicast.Next;
        // One that another machine has, or may have, is none of ours.
        if ![IpDadStatePreferred, IpDadStateDeprecated].contains(&unicast.DadState) {
            continue;
        }
        found.extend(
            ip_address(unicast.Address.lpSockaddr).map(|address| AddressAndPrefix {
                address,
                prefix: unicast.OnLinkPrefixLength,
            }),
        );
    }
    found
}

fn hardware_address(adapter: &IP_ADAPTER_ADDRESSES_LH) -> Option<[u8; 6]> {
    let length = adapter.PhysicalAddressLength as usize;
    adapter.PhysicalAddress.get(..length)?.try_into().ok()
}

/// The list of adapters with their addresses, in words so that it is aligned; empty where there are none.
#[expect(unsafe_code, reason = "the list is written to memory of ours")]
fn adapters() -> io::Result<Vec<u64>> {
    let mut bytes = LIST_BYTES;
    for _ in 0..TRIES {
        let mut list = vec![0_u64; (bytes as usize).div_ceil(size_of::<u64>())];
        // SAFETY: at most `bytes` bytes are written to memory that is that long; else it says how many it needs.
        let status = unsafe {
            GetAdaptersAddresses(
                AF_UNSPEC.into(),
                GAA_FLAG_SKIP_ANYCAST | GAA_FLAG_SKIP_MULTICAST | GAA_FLAG_SKIP_DNS_SERVER,
                ptr::null(),
                list.as_mut_ptr().cast(),
                &raw mut bytes,
            )
        };
        match status {
            NO_ERROR => return Ok(list),
            ERROR_NO_DATA => return Ok(Vec::new()),
            ERROR_BUFFER_OVERFLOW => {}
            error => return Err(io::Error::from_raw_os_error(error.cast_signed())),
        }
    }
    Err(io::Error::other("the list of interfaces grows and grows"))
}

/// An entry of the list that [`adapters`] gave.
#[expect(unsafe_code, reason = "the system links the list by raw pointers")]
fn entry<'a, T>(place: *const T) -> Option<&'a T> {
    // SAFETY: each pointer of the list is null or leads to a whole entry in the same memory, which `nics`
    // keeps until it has read it.
    unsafe { place.as_ref() }
}

#[expect(unsafe_code, reason = "two numbers in the place of one")]
fn index_of(adapter: &IP_ADAPTER_ADDRESSES_LH) -> u32 {
    // SAFETY: both forms of it are plain numbers.
    let both = unsafe { adapter.Anonymous1.Anonymous };
    both.IfIndex
}

/// A name of the list.
#[expect(unsafe_code, reason = "it ends where a zero is")]
fn text(name: *const u16) -> String {
    if name.is_null() {
        return String::new();
    }
    let mut units = Vec::new();
    let mut place = name;
    loop {
        // SAFETY: the system ends each name of its list by a zero, and the list is kept meanwhile.
        let unit = unsafe { place.read() };
        if unit == 0 {
            return String::from_utf16_lossy(&units);
        }
        units.push(unit);
        // SAFETY: the zero is not reached yet, so there is another one.
        place = unsafe { place.add(1) };
    }
}

/// An address of the list.
#[expect(unsafe_code, reason = "a socket address is a C union in disguise")]
fn ip_address(address: *const SOCKADDR) -> Option<IpAddr> {
    let family = entry(address)?.sa_family;
    match family {
        AF_INET => {
            // SAFETY: the family says what it is; the copy may be unaligned.
            let address = unsafe { ptr::read_unaligned(address.cast::<SOCKADDR_IN>()) };
            // SAFETY: all forms of it are plain numbers.
            let bytes = unsafe { address.sin_addr.S_un.S_addr };
            Some(IpAddr::V4(Ipv4Addr::from(bytes.to_ne_bytes())))
        }
        AF_INET6 => {
            // SAFETY: the family says what it is; the copy may be unaligned.
            let address = unsafe { ptr::read_unaligned(address.cast::<SOCKADDR_IN6>()) };
            // SAFETY: all forms of it are plain bytes.
            let bytes = unsafe { address.sin6_addr.u.Byte };
            Some(IpAddr::V6(Ipv6Addr::from(bytes)))
        }
        _ => None,
    }
}
