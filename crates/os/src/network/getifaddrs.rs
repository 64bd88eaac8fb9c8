//! The addresses of all interfaces, as POSIX systems list them.

use std::ffi::CStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;

use super::InterfaceAddress;

/// The list of `getifaddrs`, given back when dropped.
struct List(*mut libc::ifaddrs);

impl Drop for List {
    #[expect(unsafe_code, reason = "the list belongs to the C library")]
    fn drop(&mut self) {
        // SAFETY: the pointer came from `getifaddrs` and is given back once.
        unsafe { libc::freeifaddrs(self.0) }
    }
}

/// Every IPv4 and IPv6 address of an interface that is up and not the loopback.
#[expect(
    unsafe_code,
    reason = "the C library gives the list as linked raw pointers"
)]
pub(super) fn all() -> io::Result<Vec<InterfaceAddress>> {
    let mut first = ptr::null_mut();
    // SAFETY: `first` is a valid place for the pointer that is written.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let list = List(first);
    let mut found = Vec::new();
    // SAFETY: each pointer is null or points to an entry of the list, which lives until `list` is
    // dropped at the end of this function.
    let mut next = unsafe { list.0.as_ref() };
    while let Some(entry) = next {
        // SAFETY: as above.
        next = unsafe { entry.ifa_next.as_ref() };
        let wanted = libc::IFF_UP as libc::c_uint;
        let unwanted = libc::IFF_LOOPBACK as libc::c_uint;
        if entry.ifa_flags & wanted == 0 || entry.ifa_flags & unwanted != 0 {
            continue;
        }
        // SAFETY: the C library puts a socket address of its family or null into these fields.
        let (address, mask) =
            unsafe { (ip_address(entry.ifa_addr), ip_address(entry.ifa_netmask)) };
        let Some(address) = address else { continue };
        // SAFETY: the name is a string of the C library that lives as long as the list; the index
        // call only reads it.
        let (name, index) = unsafe {
            (
                CStr::from_ptr(entry.ifa_name),
                libc::if_nametoindex(entry.ifa_name),
            )
        };
        found.push(InterfaceAddress {
            nic: name.to_string_lossy().into_owned(),
            index,
            address,
            prefix: mask.map_or(0, prefix),
            bits_per_second: None,
            queues: None,
        });
    }
    Ok(found)
}

/// # Safety
/// The pointer must be null or point to a whole socket address of the family it names.
#[expect(unsafe_code, reason = "a socket address is a C union in disguise")]
unsafe fn ip_address(address: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: by this function's contract.
    let family = unsafe { address.as_ref()? }.sa_family;
    match libc::c_int::from(family) {
        libc::AF_INET => {
            // SAFETY: the family says what it is; the copy may be unaligned.
            let address = unsafe { ptr::read_unaligned(address.cast::<libc::sockaddr_in>()) };
            Some(IpAddr::V4(Ipv4Addr::from(
                address.sin_addr.s_addr.to_ne_bytes(),
            )))
        }
        libc::AF_INET6 => {
            // SAFETY: the family says what it is; the copy may be unaligned.
            let address = unsafe { ptr::read_unaligned(address.cast::<libc::sockaddr_in6>()) };
            Some(IpAddr::V6(Ipv6Addr::from(address.sin6_addr.s6_addr)))
        }
        _ => None,
    }
}

fn prefix(mask: IpAddr) -> u8 {
    let bits = match mask {
        IpAddr::V4(mask) => mask.to_bits().leading_ones(),
        IpAddr::V6(mask) => mask.to_bits().leading_ones(),
    };
    u8::try_from(bits).unwrap_or(u8::MAX)
}
