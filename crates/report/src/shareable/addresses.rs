//! Addresses: where they stand in a text, and which ones of the ranges for documentation take their place.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// RFC 5737's networks for documentation; where they do not suffice, RFC 2544's for benchmarks.
const DOCUMENTATION: [[u8; 3]; 3] = [[192, 0, 2], [198, 51, 100], [203, 0, 113]];
/// A subnet of IPv4 is never split where no interface says how long its prefix is.
const PREFIX_V4: u8 = 24;
/// The same of IPv6.
const PREFIX_V6: u8 = 64;
/// A shorter prefix than this is that of no subnet.
const PREFIX_MIN: u8 = 8;
/// Bytes of a hardware address, and letters of one as text.
const MAC_BYTES: usize = 6;
const MAC_LETTERS: usize = 3 * MAC_BYTES - 1;

/// An address in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Ip(IpAddr),
    /// With what stands between its bytes.
    Mac([u8; MAC_BYTES], char),
}

/// What takes the place of each address. Two of one subnet stay in one, because what is said of a path
/// goes by that.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    /// Subnets of the interfaces.
    subnets: BTreeSet<(IpAddr, u8)>,
    /// Those that have addresses in them, and how many of the same kind came before each.
    used: BTreeMap<(IpAddr, u8), usize>,
    /// How many there are of IPv6 and of IPv4.
    counts: [usize; 2],
    /// How many addresses of IPv6 each has.
    hosts: BTreeMap<(IpAddr, u8), u64>,
    ips: BTreeMap<IpAddr, IpAddr>,
    taken: BTreeSet<IpAddr>,
    macs: BTreeMap<[u8; MAC_BYTES], [u8; MAC_BYTES]>,
}

impl Addresses {
    /// Learns of an interface's subnet; all of them come before the first address.
    pub(super) fn subnet(&mut self, address: IpAddr, prefix: u8) {
        let longest = match address {
            IpAddr::V4(_) => PREFIX_V4,
            IpAddr::V6(_) => PREFIX_V6,
        };
        if (PREFIX_MIN..=longest).contains(&prefix) {
            self.subnets.insert((network(address, prefix), prefix));
        }
    }

    /// Gives an address its stand-in.
    pub(super) fn learn(&mut self, found: Found) {
        match found {
            Found::Mac(bytes, _) => {
                // Broadcast, groups and all zeros belong to no machine.
                if bytes[0] & 1 == 0 && bytes != [0; MAC_BYTES] {
                    let [.., high, low] = (self.macs.len() + 1).to_be_bytes();
                    self.macs.entry(bytes).or_insert([2, 0, 0, 0, high, low]);
                }
            }
            Found::Ip(address) => {
                let address = address.to_canonical();
                if !belongs_to_none(address) && !self.ips.contains_key(&address) {
                    let stand_in = self.stand_in(address);
                    self.ips.insert(address, stand_in);
                    self.taken.insert(stand_in);
                }
            }
        }
    }

    /// The text of the stand-in; none of an address that belongs to no machine.
    pub(super) fn replaced(&self, found: Found) -> Option<String> {
        match found {
            Found::Mac(bytes, between) => {
                let bytes = self.macs.get(&bytes)?.map(|byte| format!("{byte:02x}"));
                Some(bytes.join(&between.to_string()))
            }
            Found::Ip(address) => {
                let stand_in = self.ips.get(&address.to_canonical())?;
                Some(match (address, stand_in) {
                    (IpAddr::V6(_), IpAddr::V4(four)) => four.to_ipv6_mapped().to_string(),
                    _ => stand_in.to_string(),
                })
            }
        }
    }

    fn stand_in(&mut self, address: IpAddr) -> IpAddr {
        let (own, prefix) = self.subnet_of(address);
        let place = self.place_of((own, prefix));
        match address {
            IpAddr::V4(address) => {
                let base = match address.is_link_local() {
                    true => [169, 254, 0],
                    false => base_v4(place),
                };
                let [.., last] = address.octets();
                let with = |last: u8| IpAddr::from([base[0], base[1], base[2], last]);
                // Of a long prefix every part stays where it is; of a short one what is free will do.
                let exact = prefix == PREFIX_V4 && !address.is_link_local();
                let free = (0..=u8::MAX).map(|more| with(last.wrapping_add(more)));
                free.into_iter()
                    .find(|one| exact || !self.taken.contains(one))
                    .unwrap_or_else(|| with(last))
            }
            IpAddr::V6(address) => {
                let subnet = u16::try_from(place + 1).unwrap_or(u16::MAX);
                let base = match address.is_unicast_link_local() {
                    true => Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0),
                    false => Ipv6Addr::new(0x2001, 0xdb8, 0, subnet, 0, 0, 0, 0),
                };
                let with = |host: u128| IpAddr::from(Ipv6Addr::from(u128::from(base) | host));
                // What is all of a subnet stays so.
                if IpAddr::V6(address) == own {
                    return with(0);
                }
                let hosts = self.hosts.entry((own, prefix)).or_default();
                *hosts += 1;
                with(u128::from(*hosts))
            }
        }
    }

    /// How many subnets of the same kind came before this one.
    fn place_of(&mut self, subnet: (IpAddr, u8)) -> usize {
        if is_link_local(subnet.0) {
            return 0;
        }
        let count = &mut self.counts[usize::from(subnet.0.is_ipv4())];
        *self.used.entry(subnet).or_insert_with(|| {
            *count += 1;
            *count - 1
        })
    }

    /// The subnet that an address is in: the largest that an interface has, or of the usual size.
    fn subnet_of(&self, address: IpAddr) -> (IpAddr, u8) {
        let usual = match address {
            IpAddr::V4(_) => PREFIX_V4,
            IpAddr::V6(_) => PREFIX_V6,
        };
        let sizes = PREFIX_MIN..=usual;
        let mut own = sizes.map(|prefix| (network(address, prefix), prefix));
        own.find(|own| self.subnets.contains(own))
            .unwrap_or_else(|| (network(address, usual), usual))
    }
}

/// The address at or behind `at`'s place in a text, if it begins there, and where it ends.
pub(super) fn found_at(text: &str, at: usize) -> Option<(usize, Found)> {
    let bytes = text.as_bytes();
    let first = *bytes.get(at)?;
    let before = at.checked_sub(1).map(|place| bytes[place]);
    let begins = first.is_ascii_hexdigit() || first == b':';
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if !begins || before.is_some_and(is_word) {
        return None;
    }
    // A part of a longer number, as of a version.
    if before == Some(b'.') && at > 1 && bytes[at - 2].is_ascii_digit() {
        return None;
    }
    if before != Some(b':')
        && let Some(found) = mac_at(text, at)
    {
        return Some((at + MAC_LETTERS, found));
    }
    let letters = |is: fn(u8) -> bool| {
        let end = bytes[at..].iter().position(|&byte| !is(byte));
        &text[at..end.map_or(text.len(), |end| at + end)]
    };
    let six = letters(|byte| byte.is_ascii_hexdigit() || byte == b':' || byte == b'.');
    let four = letters(|byte| byte.is_ascii_digit() || byte == b'.');
    // A sentence may end behind it.
    let tries = [
        six,
        six.trim_end_matches('.'),
        six.trim_end_matches(['.', ':']),
    ];
    let six = tries.into_iter().filter(|_| before != Some(b':'));
    let six = six.filter(|typed| typed.bytes().filter(|&byte| byte == b':').count() > 1);
    let six = six.filter_map(|typed| Some((typed, IpAddr::V6(typed.parse().ok()?))));
    let four = [four, four.trim_end_matches('.')].into_iter();
    let four = four.filter_map(|typed| Some((typed, IpAddr::V4(typed.parse().ok()?))));
    let found = six.chain(four).find(|(typed, _)| {
        let next = bytes.get(at + typed.len());
        !next.is_some_and(|&byte| is_word(byte))
    });
    found.map(|(typed, address)| (at + typed.len(), Found::Ip(address)))
}

fn mac_at(text: &str, at: usize) -> Option<Found> {
    let typed = text.get(at..at + MAC_LETTERS)?;
    let between = char::from(typed.as_bytes()[2]);
    let next = text.as_bytes().get(at + MAC_LETTERS);
    let goes_on =
        next.is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == typed.as_bytes()[2]);
    if !matches!(between, ':' | '-') || goes_on {
        return None;
    }
    let mut bytes = [0; MAC_BYTES];
    let mut parts = typed.split(between);
    for byte in &mut bytes {
        let part = parts.next().filter(|part| part.len() == 2)?;
        *byte = u8::from_str_radix(part, 16).ok()?;
    }
    Some(Found::Mac(bytes, between))
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

/// This host, all hosts, groups of hosts, and masks.
fn belongs_to_none(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [first, ..] = address.octets();
            first == 0 || first >= 224 || address.is_loopback()
        }
        IpAddr::V6(address) => {
            address.is_unspecified() || address.is_loopback() || address.is_multicast()
        }
    }
}

fn base_v4(place: usize) -> [u8; 3] {
    match DOCUMENTATION.get(place) {
        Some(base) => *base,
        None => {
            let [.., high, low] = (place - DOCUMENTATION.len()).to_be_bytes();
            [198, 18 + (high & 1), low]
        }
    }
}

/// The first address of its subnet.
fn network(address: IpAddr, prefix: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix.min(32)));
            Ipv4Addr::from(u32::from(address) & mask.unwrap_or(0)).into()
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(prefix.min(128)));
            Ipv6Addr::from(u128::from(address) & mask.unwrap_or(0)).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < text.len() {
            match found_at(text, at).filter(|_| text.is_char_boundary(at)) {
                Some((end, _)) => {
                    found.push(&text[at..end]);
                    at = end;
                }
                None => at += 1,
            }
        }
        found
    }

    #[test]
    fn addresses_are_found_and_nothing_else() {
        for (text, expected) in [
            (
                "from 10.0.0.1:445 to [fe80::2%eth0]:445.",
                &["10.0.0.1", "fe80::2"][..],
            ),
            ("at 10.0.0.1. Then fd00::1.", &["10.0.0.1", "fd00::1"]),
            (
                "10.77.1.0/24 via ::ffff:10.0.0.9",
                &["10.77.1.0", "::ffff:10.0.0.9"],
            ),
            (
                "52:54:00:ab:cd:EF, 52-54-00-ab-cd-ef",
                &["52:54:00:ab:cd:EF", "52-54-00-ab-cd-ef"],
            ),
            (
                "http://[2001:db8::1]/ ü10.0.0.1",
                &["2001:db8::1", "10.0.0.1"],
            ),
            (
                "3.1.1, 12:30:45, std::io, 1.2.3.4.5, 10.0.19045.1, dead:beef, v1.2.3.4",
                &[],
            ),
        ] {
            assert_eq!(all(text), expected, "{text}");
        }
    }

    #[test]
    fn what_was_in_one_subnet_still_is_and_no_two_become_one() {
        let mut addresses = Addresses::default();
        let ip = |text: &str| text.parse::<IpAddr>().expect("an address");
        addresses.subnet(ip("172.16.5.9"), 16);
        addresses.subnet(ip("fd12::1"), 64);
        let real = [
            "10.77.1.1",
            "10.77.1.2",
            "10.77.2.1",
            "172.16.5.9",
            "172.16.6.9",
            "192.168.1.1",
            "192.168.2.1",
            "169.254.7.8",
            "169.254.7.9",
            "fd12::1",
            "fd12::a:b",
            "fd13::1",
            "fe80::5054:ff:fe12:3456",
        ];
        real.iter()
            .for_each(|one| addresses.learn(Found::Ip(ip(one))));
        let shown = |one: &str| addresses.replaced(Found::Ip(ip(one))).expect("known");
        let stand_ins: Vec<String> = real.iter().map(|one| shown(one)).collect();
        assert_eq!(
            stand_ins,
            [
                "192.0.2.1",
                "192.0.2.2",
                "198.51.100.1",
                "203.0.113.9",
                "203.0.113.10",
                "198.18.0.1",
                "198.18.1.1",
                "169.254.0.8",
                "169.254.0.9",
                "2001:db8:0:1::1",
                "2001:db8:0:1::2",
                "2001:db8:0:2::1",
                "fe80::1",
            ]
        );
        assert_eq!(shown("::ffff:10.77.1.1"), "::ffff:192.0.2.1");
        for kept in [
            "127.0.0.1",
            "0.0.0.0",
            "255.255.255.0",
            "::1",
            "::",
            "ff02::1",
        ] {
            assert_eq!(addresses.replaced(Found::Ip(ip(kept))), None, "{kept}");
        }
    }
}
