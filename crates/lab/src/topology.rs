//! What a lab consists of, as a TOML file says it and as it is meant.

mod checked_values;
mod expected_diagnosis;
mod fault;
mod from_toml;
mod samba;
mod samba_parameters;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use locale::{Message, say};
use record::{BitsPerSecond, Bytes, ShareAddress};

use crate::Error;

pub use expected_diagnosis::{Expected, ExpectedState, Lesson};
pub use fault::{Effect, Fault, OffloadName, Traffic, Tunnel};
pub(crate) use from_toml::BRIDGE;

/// Most bytes of a topology file.
pub const FILE_BYTES_MAX: u64 = 256 << 10;
/// Most hosts in a lab. Each is a few processes and one copy of `/etc` in memory.
pub const HOSTS_MAX: usize = 16;
/// Most switches in a lab.
pub const SWITCHES_MAX: usize = 8;
/// Most links in a lab.
pub const LINKS_MAX: usize = 64;
/// Most shares of the Samba server.
pub const SHARES_MAX: usize = 16;
/// Most parameters of the Samba server that a file may set.
pub const PARAMETERS_MAX: usize = 64;
/// Most users of a domain beside the lab's own.
pub const DOMAIN_USERS_MAX: usize = 16;
/// Longest NetBIOS name: of a domain controller, and of the domain, which is its realm's first part.
pub const NETBIOS_NAME_CHARS_MAX: usize = 15;
/// Longest name of a realm.
pub const REALM_CHARS_MAX: usize = 64;
/// Longest name of a lab, host, switch or share: what fits a DNS label and a NetBIOS-free SMB name.
pub const NAME_CHARS_MAX: usize = 32;
/// Longest name of a NIC, which is the kernel's own limit.
pub const NIC_NAME_CHARS_MAX: usize = 15;
/// Smallest and largest MTU. The lower one is what every host of IPv4 takes, and less than IPv6 wants;
/// a bridge and a veth both take the upper one.
pub const MTU_RANGE: std::ops::RangeInclusive<u32> = 576..=65_535;
/// MTU of a link or switch that names none.
pub const MTU_DEFAULT: u32 = 1500;
/// Slowest and fastest line rate. Faster ones are better left out: the machine is the limit then.
pub const RATE_BITS_RANGE: std::ops::RangeInclusive<u64> = 1_000_000..=100_000_000_000;
/// What NICs agree on over copper, in Mbit/s, with the bit of each in the kernel's list of link modes
/// (`ETHTOOL_LINK_MODE_10baseT_Full_BIT` and so on).
pub(crate) const NEGOTIABLE: [(u64, u32); 6] = [
    (10, 1),
    (100, 3),
    (1000, 5),
    (2500, 47),
    (5000, 48),
    (10_000, 12),
];
/// Shortest and longest delay of a link in each direction, in milliseconds.
pub const DELAY_MS_RANGE: std::ops::RangeInclusive<f64> = 0.05..=1000.0;
/// Shortest and longest time that a disk takes to wake up, in seconds.
pub const WAKE_SECONDS_RANGE: std::ops::RangeInclusive<u32> = 1..=60;
/// Least and most processors that a limited host may take, in thousandths.
pub const PROCESSORS_RANGE: std::ops::RangeInclusive<u32> = 100..=64_000;
/// Most faults of a lab.
pub const FAULTS_MAX: usize = 32;
/// Name of the share user of every lab.
pub(crate) const USER: &str = "linerate";
/// Smallest and largest size of a share in memory.
pub const SHARE_BYTES_RANGE: std::ops::RangeInclusive<u64> = (1 << 20)..=(1 << 40);

/// A lab as it is meant: every name resolved, every limit checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    text: String,
    /// Names of the hosts.
    pub hosts: Vec<String>,
    /// The switches.
    pub switches: Vec<Switch>,
    /// The links.
    pub links: Vec<Link>,
    /// The Samba server, where there is one.
    pub samba: Option<Samba>,
    /// Processor time that a host may take, in thousandths of one processor, where that is limited.
    pub processors: BTreeMap<String, u32>,
    /// What is broken once all is up, in order.
    pub faults: Vec<Fault>,
    /// What somebody should find out about it, for those of the library.
    pub lesson: Option<Lesson>,
}

/// A switch: it forwards what fits its MTU and drops the rest without a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Its name.
    pub name: String,
    /// MTU of the bridge and of each port.
    pub mtu: u32,
}

/// A cable with what is plugged in at both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The two ends.
    pub ends: [End; 2],
    /// Line rate in each direction, or from the first end to the second; none is as fast as the machine can.
    pub rate: Option<BitsPerSecond>,
    /// Line rate from the second end to the first, where it is another one.
    pub rate_back: Option<BitsPerSecond>,
    /// What both ends could have agreed on, where their NICs say what they can and what they agreed on.
    pub could: Option<BitsPerSecond>,
    /// How much longer than on a short cable everything takes, in each direction.
    pub delay: Option<Duration>,
}

/// One end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Name of the host or switch.
    pub node: String,
    /// Name of the interface there.
    pub nic: String,
    /// MTU it starts with.
    pub mtu: u32,
    /// Its address. A port of a switch has none.
    pub address: Option<Address>,
}

/// An address with the length of its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address.
    pub ip: IpAddr,
    /// Bits of the prefix.
    pub prefix: u8,
}

/// The Samba server of a lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samba {
    /// The host it runs on.
    pub host: String,
    /// Whether it offers several connections per session.
    pub multichannel: bool,
    /// What it shares.
    pub shares: Vec<Share>,
    /// The Active Directory domain that it is the controller of, if it is one.
    pub domain: Option<Domain>,
    /// Parameters of `[global]` of a fixed list, written last, so that they win.
    pub global: BTreeMap<String, String>,
}

/// An Active Directory domain. Its controller is KDC and name server of all hosts of the lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// Name of the Kerberos realm, in capitals.
    pub realm: String,
    /// Users beside the lab's own, with the same password.
    pub users: Vec<String>,
}

/// One share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its name.
    pub name: String,
    /// What it lies on.
    pub medium: Medium,
    /// Room on it.
    pub size: Bytes,
    /// What its disk reads and writes at most, in bytes per second.
    pub bytes_per_second: Option<u64>,
    /// What each access to its disk takes, however many are under way.
    pub delay: Option<Duration>,
    /// What the first access to its disk takes, while that spins up.
    pub wakes: Option<Duration>,
    /// Whether what is written reaches the disk later, or before a write ends.
    pub write_back: bool,
}

/// What a share lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Medium {
    /// A file system in memory, which vanishes with the lab.
    Memory,
    /// A file system on a file in memory, behind a disk that may be slow and writes at once.
    Disk,
}

impl Topology {
    /// The domain, with its server.
    pub(crate) fn domain(&self) -> Option<(&Samba, &Domain)> {
        let samba = self.samba.as_ref()?;
        Some((samba, samba.domain.as_ref()?))
    }

    /// Reads a topology file.
    ///
    /// # Errors
    /// When it cannot be read, is not a topology, or names what does not exist.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let read_error = |source| Error::ReadTopology {
            path: path.to_owned(),
            source,
        };
        let text = record::bounded_read::text(path, FILE_BYTES_MAX).map_err(read_error)?;
        from_toml::parse(&text, &path.display().to_string())
    }

    /// Reads the text of a topology.
    ///
    /// # Errors
    /// When it is not a topology, or names what does not exist.
    pub fn parse(text: &str) -> Result<Self, Error> {
        from_toml::parse(text, "topology")
    }

    /// The text it came from.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The ends that are plugged into a host or switch.
    pub fn ends_of<'a>(&'a self, node: &'a str) -> impl Iterator<Item = &'a End> {
        let ends = self.links.iter().flat_map(|link| link.ends.iter());
        ends.filter(move |end| end.node == node)
    }

    /// The shares of the lab's server, at the first address that this has; none without a server.
    #[must_use]
    pub fn shares(&self) -> Vec<ShareAddress> {
        let Some(samba) = &self.samba else {
            return Vec::new();
        };
        let Some(address) = self.ends_of(&samba.host).find_map(|end| end.address) else {
            return Vec::new();
        };
        let shares = samba.shares.iter();
        shares
            .map(|share| ShareAddress {
                server: address.ip.to_string(),
                port: 445,
                share: share.name.clone(),
                path: String::new(),
            })
            .collect()
    }
}

impl Link {
    /// The largest packet that passes in both directions: TCP agrees on it, and so does the frame
    /// overhead that the line rate has to pay for.
    #[must_use]
    pub fn mtu(&self) -> u32 {
        self.ends[0].mtu.min(self.ends[1].mtu)
    }
}

impl Domain {
    /// Its name in DNS.
    #[must_use]
    pub fn dns_name(&self) -> String {
        self.realm.to_ascii_lowercase()
    }

    /// Its name in NetBIOS, as in `DOMAIN\\user`: the first part of the realm.
    #[must_use]
    pub fn netbios_name(&self) -> &str {
        self.realm.split('.').next().unwrap_or_default()
    }
}

impl Address {
    /// Whether two addresses are in the same subnet.
    pub(crate) fn shares_subnet_with(self, other: Self) -> bool {
        let network = |address: Self| match address.ip {
            IpAddr::V4(ip) => (4, u128::from(u32::from(ip)) << 96),
            IpAddr::V6(ip) => (6, u128::from(ip)),
        };
        let ((family, bits), (other_family, other_bits)) = (network(self), network(other));
        let differing = (bits ^ other_bits).leading_zeros();
        family == other_family && self.prefix == other.prefix && differing >= self.prefix.into()
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.ip, self.prefix)
    }
}

/// Why a name of a lab, host, switch or share is not allowed.
pub(crate) fn name_problem(name: &str) -> Option<Message> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > NAME_CHARS_MAX {
        return Some(say("error-lab.name-length").count("most", NAME_CHARS_MAX));
    }
    let well_formed = name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.chars().all(allowed);
    (!well_formed).then(|| say("error-lab.name-characters"))
}

#[cfg(test)]
mod tests {
    use locale::Language;

    use super::*;

    const TWO_HOSTS: &str = r#"[[host]]
name = "a"
[[host]]
name = "b"
"#;

    fn link(from: &str, to: &str, rest: &str) -> String {
        format!("{TWO_HOSTS}[[link]]\nfrom = {{ {from} }}\nto = {{ {to} }}\n{rest}")
    }

    const FROM: &str = r#"host = "a", nic = "x", address = "10.0.0.1/24""#;
    const TO: &str = r#"host = "b", nic = "x", address = "10.0.0.2/24""#;

    /// What is said about a topology: line, problem and hint.
    fn refusal(text: &str) -> String {
        let error = Topology::parse(text).unwrap_err();
        let hint = error.hint().map(|hint| Language::English.say(&hint));
        format!("{error}; hint: {}", hint.unwrap_or_default())
    }

    #[test]
    fn the_examples_are_topologies() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let read = |name: &str| Topology::read(&folder.join(name)).unwrap();
        let two_links = read("two-links.toml");
        assert_eq!(two_links.hosts, ["client", "server"]);
        assert_eq!(two_links.links.len(), 2);
        assert!(two_links.samba.unwrap().multichannel);
        let domain = read("domain.toml").samba.unwrap().domain.unwrap();
        assert_eq!(domain.dns_name(), "lab.example");
        let fast = read("one-link-10g.toml");
        assert_eq!(fast.links[0].rate, Some(BitsPerSecond::new(10_000_000_000)));
        let switched = read("switch.toml");
        assert_eq!(switched.switches[0].mtu, 1500);
        let ends: Vec<_> = switched.ends_of("switch").collect();
        assert_eq!(
            (ends[0].nic.as_str(), ends[1].nic.as_str()),
            ("port1", "port2")
        );
        assert_eq!((ends[0].mtu, switched.links[0].mtu()), (1500, 1500));
        assert_eq!(switched.links[0].ends[0].mtu, 9000);
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let topology = Topology::parse(&link(FROM, TO, "")).unwrap();
        assert_eq!(topology.links[0].rate, None);
        assert_eq!(topology.links[0].delay, None);
        assert_eq!(topology.links[0].mtu(), 1500);
        assert!(topology.samba.is_none());
    }

    #[test]
    fn a_delay_is_in_milliseconds() {
        let delay = |text: &str| Topology::parse(&link(FROM, TO, text)).unwrap().links[0].delay;
        assert_eq!(delay("delay_ms = 0.5"), Some(Duration::from_micros(500)));
        assert_eq!(delay("delay_ms = 20.0"), Some(Duration::from_millis(20)));
    }

    #[test]
    fn rates_and_sizes_have_units() {
        let rate = |text: &str| {
            let rate = format!("rate = {text:?}\n");
            let topology = Topology::parse(&link(FROM, TO, &rate)).ok()?;
            topology.links[0].rate.map(BitsPerSecond::get)
        };
        assert_eq!(rate("100Mbit"), Some(100_000_000));
        assert_eq!(rate("2.5 Gbit"), Some(2_500_000_000));
        assert_eq!(rate("100Gbit"), Some(100_000_000_000));
        let wrong = [
            "",
            "1",
            "Gbit",
            "0Gbit",
            "-1Gbit",
            "1e9Gbit",
            ".5Gbit",
            "1.Gbit",
            "1.2345Gbit",
            "101Gbit",
            "99999999999999999999Gbit",
            "18446744073709551615Gbit",
            "1gbit",
            "+1Gbit",
        ];
        for wrong in wrong {
            assert_eq!(rate(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_unknown_field_is_refused_with_its_line() {
        let text = TWO_HOSTS.replace("name = \"b\"", "name = \"b\"\ncolour = \"red\"");
        assert_eq!(
            refusal(&text),
            "topology, line 5: unknown field `colour`, expected `name` or `processors`; \
             hint: see `examples/two-links.toml` for the fields there are"
        );
        assert!(refusal("[hosts]\n").starts_with("topology, line 1: unknown field `hosts`"));
        assert!(refusal("[[host]\n").starts_with("topology, line 1: "));
    }

    #[test]
    fn every_wrong_link_is_refused_with_its_line_and_reason() {
        let unknown = TO.replace("\"b\"", "\"c\"");
        let cases = [
            (
                link(FROM, &unknown, ""),
                "line 7: `link.to.host = \"c\"` does not exist",
            ),
            (
                link(FROM, FROM, ""),
                "line 7: host `a` has two NICs named `x`",
            ),
            (link(FROM, "", ""), "line 7: `link.to` is not complete"),
            (
                link(FROM, "switch = \"s\"", ""),
                "line 7: `link.to.switch = \"s\"` does not exist",
            ),
            (
                link(FROM, TO, "mtu = 9\n"),
                "line 8: `link.mtu = 9` is out of range",
            ),
            (
                link(FROM, TO, "mtu = -1\n"),
                "line 8: `link.mtu = -1` is out of range; hint: use 576 to 65535",
            ),
            (
                link(FROM, TO, "delay_ms = 1000.1\n"),
                "line 8: `link.delay_ms = 1000.1` is out of range",
            ),
            (
                link(FROM, TO, "delay_ms = nan\n"),
                "line 8: `link.delay_ms = NaN` is out of range",
            ),
            (
                link(FROM, TO, "rate = \"fast\"\n"),
                "line 8: `rate = \"fast\"` is not a line rate",
            ),
        ];
        for (text, expected) in cases {
            let said = refusal(&text);
            assert!(said.starts_with(&format!("topology, {expected}")), "{said}");
            assert!(!said.ends_with("hint: "), "{said}");
        }
    }

    #[test]
    fn every_wrong_address_and_nic_of_a_link_is_refused_with_its_reason() {
        let other_addresses = [
            ("10.0.1.2/24", "not in the same subnet"),
            ("10.0.0.2/25", "not in the same subnet"),
            ("fd00::2/64", "not in the same subnet"),
            ("10.0.0.1/24", "is used by `x` of `a` already"),
            ("10.0.0.2", "is not an address of a host"),
            ("10.0.0.2/33", "hint: use a prefix of 1 to 30 bits"),
            ("0.0.0.0/24", "hint: no single host has this address"),
            (
                "127.0.0.2/8",
                "hint: no other host reaches a loopback address",
            ),
        ];
        for (address, expected) in other_addresses {
            let said = refusal(&link(FROM, &TO.replace("10.0.0.2/24", address), ""));
            assert!(said.contains(expected), "{address}: {said}");
        }
        for nic in ["", "lo", "sixteen-letters-", "1x", "a b", "a/b", "all", "ä"] {
            let said = refusal(&link(FROM, &TO.replace("\"x\"", &format!("{nic:?}")), ""));
            assert!(
                said.contains("cannot be the name of a NIC"),
                "{nic}: {said}"
            );
        }
    }

    #[test]
    fn names_and_counts_have_limits() {
        assert!(refusal("").contains("there is no host"));
        assert!(refusal(&TWO_HOSTS.replace('b', "a")).contains("is there twice"));
        for name in ["A", "a_b", "a.b", "-a", "a-", "9", &"x".repeat(33)] {
            let said = refusal(&format!("[[host]]\nname = {name:?}\n"));
            assert!(said.contains("is not a name"), "{said}");
        }
        let hosts: String = (0..=HOSTS_MAX)
            .map(|number| format!("[[host]]\nname = \"h{number}\"\n"))
            .collect();
        assert!(refusal(&hosts).contains("17 hosts are more than the 16"));
    }

    #[test]
    fn a_domain_has_a_realm_and_users_that_can_be() {
        let domain = |host: &str, rest: &str| {
            let hosts = link(FROM, TO, "").replace("\"b\"", &format!("{host:?}"));
            format!("{hosts}[samba]\nhost = {host:?}\n[samba.domain]\n{rest}\n")
        };
        let text = domain(
            "b",
            "realm = \"LAB.A-1.EXAMPLE\"\nusers = [\"ann\", \"bob\"]",
        );
        let samba = Topology::parse(&text).unwrap().samba.unwrap();
        let meant = samba.domain.unwrap();
        assert_eq!(meant.netbios_name(), "LAB");
        assert_eq!(meant.dns_name(), "lab.a-1.example");
        assert_eq!(meant.users, ["ann", "bob"]);
        for realm in [
            "",
            "LAB",
            "lab.example",
            "LAB.",
            ".LAB",
            "L B.X",
            "1A.B",
            "SIXTEEN-LETTERS-.X",
        ] {
            let said = refusal(&domain("b", &format!("realm = {realm:?}")));
            assert!(said.contains("is not a realm"), "{realm}: {said}");
        }
        let lab = "realm = \"LAB.EXAMPLE\"\n";
        for host in ["lab", "sixteen-letters-a"] {
            let said = refusal(&domain(host, lab));
            assert!(said.contains("cannot be a domain controller"), "{said}");
        }
        for users in ["[\"guest\"]", "[\"linerate\"]", "[\"ann\", \"ann\"]"] {
            let said = refusal(&domain("b", &format!("{lab}users = {users}")));
            assert!(said.contains("is taken"), "{users}: {said}");
        }
        let said = refusal(&domain("b", &format!("{lab}colour = 1")));
        assert!(said.contains("unknown field `colour`"), "{said}");
        let share = "[[samba.share]]\nname = \"sysvol\"\nmedium = \"memory\"\nsize = \"1GiB\"";
        let said = refusal(&domain("b", &format!("{lab}{share}")));
        assert!(
            said.contains("`share.name = \"sysvol\"` is taken"),
            "{said}"
        );
    }

    #[test]
    fn a_parameter_of_samba_is_one_of_a_list() {
        let samba = |rest: &str| link(FROM, TO, &format!("[samba]\nhost = \"b\"\n{rest}"));
        let global = |line: &str| samba(&format!("[samba.global]\n{line}\n"));
        let topology = Topology::parse(&global("\"aio read size\" = 1\n\"use sendfile\" = true"));
        let parameters = topology.unwrap().samba.unwrap().global;
        assert_eq!(parameters["aio read size"], "1");
        assert_eq!(parameters["use sendfile"], "yes");
        let wrong = [
            r#""log level" = "1\n[evil]""#,
            r#""log level" = "1 \\""#,
            r#""[evil]" = 1"#,
            r#""a = b" = 1"#,
            r#""log level" = [1]"#,
            r#""root preexec" = "touch /pwned""#,
            r#""include" = "/etc/shadow""#,
            r#""vfs objects" = "/tmp/evil.so""#,
        ];
        for wrong in wrong {
            let said = refusal(&global(wrong));
            assert!(said.contains("line 11: "), "{wrong}: {said}");
        }
        let share = "[[samba.share]]\nname = \"m\"\nmedium = \"memory\"\nsize = \"1GiB\"\n";
        assert!(Topology::parse(&samba(share)).is_ok());
        assert!(refusal(&samba(&share.repeat(2))).contains("`share.name = \"m\"` is taken"));
        assert!(refusal(&samba(&share.replace("1GiB", "1"))).contains("is not a size"));
        assert!(refusal(&samba(&share.replace("memory", "tape"))).contains("tape"));
    }
}
