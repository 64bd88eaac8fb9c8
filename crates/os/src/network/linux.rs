//! Linux.

use std::fs::{self, File};
use std::io;
use std::mem::{MaybeUninit, size_of, size_of_val};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;
use std::time::Duration;

use mio::net::TcpStream;
use rustix::net::SendFlags;
use socket2::{Domain, Protocol, Socket, Type};

use super::{EchoSocket, InterfaceAddress, LocalEnd, SendingTimes, TcpFacts, getifaddrs};

/// As `epoll` documents it for streams.
pub(super) const SHORT_READ_MEANS_EMPTY: bool = true;

pub(super) fn bind_to_nic(socket: &Socket, nic: &str) -> io::Result<()> {
    socket.bind_device(Some(nic.as_bytes()))
}

#[expect(unsafe_code, reason = "no safe crate of ours reads TCP_INFO")]
pub(super) fn tcp_facts(stream: &Socket) -> Option<TcpFacts> {
    let mut info = MaybeUninit::<libc::tcp_info>::zeroed();
    let mut length = libc::socklen_t::try_from(size_of::<libc::tcp_info>()).ok()?;
    // SAFETY: the descriptor is open while `stream` is borrowed, and the kernel writes at most
    // `length` bytes to memory that is that long.
    let status = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if status != 0 {
        return None;
    }
    // SAFETY: the structure holds plain numbers only, for which zeros are values; an older kernel
    // that writes fewer of them leaves the rest zero.
    let info = unsafe { info.assume_init() };
    // What was acknowledged stands just before it.
    let needed = std::mem::offset_of!(libc::tcp_info, tcpi_bytes_received) + size_of::<u64>();
    let needed_for_segments =
        std::mem::offset_of!(libc::tcp_info, tcpi_data_segs_out) + size_of::<u32>();
    let needed_for_sent = std::mem::offset_of!(libc::tcp_info, tcpi_bytes_sent) + size_of::<u64>();
    // The packets out of order stand just before it.
    let needed_for_window = std::mem::offset_of!(libc::tcp_info, tcpi_snd_wnd) + size_of::<u32>();
    // Time stamps are the one option that every segment carries.
    let option_bytes = if info.tcpi_options & 1 == 0 { 0 } else { 12 };
    Some(TcpFacts {
        round_trip: Duration::from_micros(info.tcpi_rtt.into()),
        retransmits: info.tcpi_total_retrans.into(),
        segments: (length as usize >= needed_for_segments)
            .then_some(info.tcpi_data_segs_out.into()),
        acknowledged: (length as usize >= needed).then_some(info.tcpi_bytes_acked),
        sent: (length as usize >= needed_for_sent).then_some(info.tcpi_bytes_sent),
        received: (length as usize >= needed).then_some(info.tcpi_bytes_received),
        quiet: Some(Duration::from_millis(info.tcpi_last_ack_recv.into())),
        segment: info.tcpi_snd_mss,
        option_bytes,
        round_trip_min: Duration::from_micros(info.tcpi_min_rtt.into()),
        congestion_window: u64::from(info.tcpi_snd_cwnd) * u64::from(info.tcpi_snd_mss),
        far_window: (length as usize >= needed_for_window).then_some(info.tcpi_snd_wnd.into()),
        out_of_order: (length as usize >= needed_for_window)
            .then_some(info.tcpi_rcv_ooopack.into()),
        sending: Some(SendingTimes {
            busy: Duration::from_micros(info.tcpi_busy_time),
            receiver_limited: Duration::from_micros(info.tcpi_rwnd_limited),
            sender_limited: Duration::from_micros(info.tcpi_sndbuf_limited),
        }),
    })
}

pub(super) fn congestion_control(stream: &Socket) -> Option<String> {
    let name = stream.tcp_congestion().ok()?;
    let name = name.split(|byte| *byte == 0).next()?;
    let name = String::from_utf8_lossy(name).into_owned();
    Some(name).filter(|name| !name.is_empty())
}

/// Linux doubles what it is asked for, for the sake of its own bookkeeping, and says so.
pub(super) const BUFFER_FACTOR: usize = 2;

pub(super) fn set_segment(socket: &Socket, bytes: u32) -> io::Result<()> {
    socket.set_tcp_mss(bytes)
}

pub(super) fn set_congestion_control(socket: &Socket, name: &str) -> io::Result<()> {
    socket.set_tcp_congestion(name.as_bytes())
}

pub(super) fn whole_segments(remote: SocketAddr) -> io::Result<Socket> {
    use rustix::net::sockopt::{
        Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, set_ip_mtu_discover, set_ipv6_mtu_discover,
    };
    let domain = Domain::for_address(remote);
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    match remote {
        SocketAddr::V4(_) => set_ip_mtu_discover(&socket, Ipv4PathMtuDiscovery::DO)?,
        SocketAddr::V6(_) => set_ipv6_mtu_discover(&socket, Ipv6PathMtuDiscovery::DO)?,
    }
    Ok(socket)
}

/// Raw where that is allowed, because only then the answers to others' requests tell us nothing.
pub(super) fn echo_socket(remote: IpAddr, local: &LocalEnd) -> io::Result<EchoSocket> {
    use rustix::net::sockopt::{
        Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, set_ip_mtu_discover, set_ipv6_mtu_discover,
    };
    let (domain, protocol) = match remote {
        IpAddr::V4(_) => (Domain::IPV4, Protocol::ICMPV4),
        IpAddr::V6(_) => (Domain::IPV6, Protocol::ICMPV6),
    };
    let raw = Socket::new(domain, Type::from(libc::SOCK_RAW), Some(protocol));
    let is_raw = raw.is_ok();
    let socket = raw.or_else(|_| Socket::new(domain, Type::DGRAM, Some(protocol)))?;
    match remote {
        IpAddr::V4(_) => set_ip_mtu_discover(&socket, Ipv4PathMtuDiscovery::PROBE)?,
        IpAddr::V6(_) => set_ipv6_mtu_discover(&socket, Ipv6PathMtuDiscovery::PROBE)?,
    }
    if let Some(nic) = &local.nic {
        bind_to_nic(&socket, nic)?;
    }
    if let Some(address) = local.address {
        socket.bind(&SocketAddr::new(address, 0).into())?;
    }
    socket.connect(&SocketAddr::new(remote, 0).into())?;
    Ok(EchoSocket { socket, is_raw })
}

#[expect(unsafe_code, reason = "no safe crate of ours sets SO_RCVLOWAT")]
pub(super) fn wake_at(stream: &TcpStream, bytes: usize) {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    let Ok(length) = libc::socklen_t::try_from(size_of_val(&bytes)) else {
        return;
    };
    // SAFETY: the descriptor is open while `stream` is borrowed, and the kernel reads `length`
    // bytes of a number that is that long. That it may refuse costs speed and nothing else.
    let _ = unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVLOWAT,
            (&raw const bytes).cast(),
            length,
        )
    };
}

pub(super) fn send(stream: &TcpStream, bytes: &[u8], more: bool) -> io::Result<usize> {
    let mut flags = SendFlags::NOSIGNAL;
    flags.set(SendFlags::MORE, more);
    Ok(rustix::net::send(stream, bytes, flags)?)
}

pub(super) fn send_file(
    stream: &TcpStream,
    file: &File,
    mut offset: u64,
    length: u64,
) -> io::Result<usize> {
    let count = usize::try_from(length).unwrap_or(usize::MAX);
    Ok(rustix::fs::sendfile(
        stream,
        file,
        Some(&mut offset),
        count,
    )?)
}

pub(super) fn interface_addresses() -> io::Result<Vec<InterfaceAddress>> {
    let mut found = getifaddrs::all()?;
    for address in &mut found {
        let folder = format!("/sys/class/net/{}", address.nic);
        address.bits_per_second = megabits(&folder).map(|megabits| megabits * 1_000_000);
        address.queues = receive_queues(&folder);
    }
    Ok(found)
}

/// What the driver reports; `None` for the -1 and the 4294967295 of those that do not know.
fn megabits(folder: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("{folder}/speed")).ok()?;
    let speed: i64 = text.trim().parse().ok()?;
    u64::try_from(speed)
        .ok()
        .filter(|speed| *speed > 0 && *speed < u64::from(u32::MAX))
}

fn receive_queues(folder: &str) -> Option<u32> {
    let entries = fs::read_dir(format!("{folder}/queues")).ok()?;
    let queues = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("rx-"))
        .count();
    u32::try_from(queues).ok()
}

/// A file says it.
pub(super) const fn retransmitted_segments() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    /// Our end of a connection over the loopback, and what keeps the far end.
    fn connected() -> (Socket, TcpListener) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let socket =
            Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).expect("a socket");
        bind_to_nic(&socket, "lo").expect("Linux 5.7 lets everybody");
        let remote = listener.local_addr().expect("it is bound");
        socket.connect(&remote.into()).expect("it listens");
        (socket, listener)
    }

    #[test]
    fn tcp_tells_its_round_trip() {
        let (socket, _listener) = connected();
        let facts = tcp_facts(&socket).expect("Linux has it");
        assert!(facts.round_trip > Duration::ZERO && facts.round_trip < Duration::from_secs(1));
        assert_eq!(facts.retransmits, 0);
        assert!(facts.sending.is_some());
    }

    /// Every Linux has Reno, and whoever may choose nothing else may choose it.
    #[test]
    fn the_congestion_control_is_that_of_the_connection() {
        let (socket, _listener) = connected();
        let system = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
        let system = system.expect("Linux has it").trim().to_owned();
        assert_eq!(congestion_control(&socket), Some(system));
        set_congestion_control(&socket, "reno").expect("it is always there");
        assert_eq!(congestion_control(&socket).as_deref(), Some("reno"));
    }
}
