//! What the tools of a Mac print.

use std::collections::BTreeMap;
use std::net::IpAddr;

use record::{
    BitsPerSecond, Bytes, InterfaceAddress, LinkState, Medium, Nic, Offload, Route, TcpFacts,
};

use super::Facts;
use crate::exec::Command;

/// The settings of TCP that are facts.
const TCP_KEY: &str = "net.inet.tcp.use_newreno";

/// One interface of `ifconfig -a -m -v`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interface {
    pub(crate) name: String,
    flags: Vec<String>,
    pub(crate) mtu: u32,
    mac: Option<String>,
    addresses: Vec<InterfaceAddress>,
    /// What is on: `TSO4`, `LRO`.
    pub(crate) options: Vec<String>,
    /// What could be on; empty where the tool does not say.
    pub(crate) capabilities: Vec<String>,
    /// The medium that was chosen, by the ends or by somebody: `10GbaseT`.
    pub(crate) medium: Option<String>,
    /// Its options: `full-duplex`.
    pub(crate) medium_options: Vec<String>,
    status: Option<String>,
    /// `Wi-Fi` or `Ethernet`, which only the long form tells.
    class: Option<String>,
}

pub(crate) fn identity_commands() -> [Command; 2] {
    let script =
        r#"ioreg -rd1 -c IOPlatformExpertDevice | awk -F'"' '/IOPlatformUUID/ { print $4 }'"#;
    [
        Command::new(["sh", "-c", script]),
        Command::new(["sysctl", "-n", "kern.bootsessionuuid"]),
    ]
}

/// In the order in which [`facts`] takes their outputs.
pub(crate) fn facts_commands() -> [Command; 6] {
    [
        Command::new(["uname", "-r"]),
        Command::new(["sysctl", "-n", "hw.logicalcpu"]),
        Command::new(["ifconfig", "-a", "-m", "-v"]),
        Command::new(["sysctl", "-n", "hw.memsize"]),
        Command::new(["netstat", "-rn"]),
        Command::new(["sysctl", TCP_KEY]),
    ]
}

/// Understands the outputs of [`facts_commands`].
pub(crate) fn facts(said: &[Option<String>]) -> Facts {
    let text = |index: usize| said.get(index).and_then(Option::as_deref);
    let number = |index: usize| text(index)?.trim().parse::<u64>().ok();
    let newreno = text(5).and_then(|text| values(text).get(TCP_KEY).cloned());
    let congestion = newreno.map(|value| if value == "1" { "newreno" } else { "cubic" });
    Facts {
        version: text(0).map(|text| text.trim().to_owned()),
        cores: number(1).and_then(|cores| u32::try_from(cores).ok()),
        memory: number(3).map(Bytes::new),
        nics: text(2).map(|text| {
            let all = interfaces(text).into_iter();
            let own = all.filter(|nic| !nic.flags.iter().any(|flag| flag == "LOOPBACK"));
            own.zip(1..)
                .map(|(nic, index)| nic.into_nic(index))
                .collect()
        }),
        routes: text(4).map(routes).unwrap_or_default(),
        tcp: TcpFacts {
            congestion_control: congestion.map(str::to_owned),
            congestion_control_available: ["cubic", "newreno"].map(str::to_owned).into(),
            receive_buffer: None,
            send_buffer: None,
            // Kernels that are released cannot do without.
            window_scaling: Some(true),
            timestamps: Some(true),
        },
    }
}

/// Rows of `name: value`.
pub(crate) fn values(said: &str) -> BTreeMap<&str, String> {
    let rows = said.lines().filter_map(|line| line.split_once(": "));
    rows.map(|(key, value)| (key.trim(), value.trim().to_owned()))
        .collect()
}

/// Reads `ifconfig`.
pub(crate) fn interfaces(said: &str) -> Vec<Interface> {
    let mut all: Vec<Interface> = Vec::new();
    for line in said.lines() {
        match line.strip_prefix(['\t', ' ']) {
            None => all.extend(heading(line)),
            Some(line) => {
                if let Some(own) = all.last_mut() {
                    own.add(line.trim());
                }
            }
        }
    }
    all
}

/// `en0: flags=8863<UP,BROADCAST> mtu 1500 index 11`
fn heading(line: &str) -> Option<Interface> {
    let (name, rest) = line.split_once(": ")?;
    let mut words = rest.split_whitespace().skip_while(|word| *word != "mtu");
    Some(Interface {
        name: name.to_owned(),
        flags: bracketed(rest),
        mtu: words.nth(1)?.parse().ok()?,
        ..Interface::default()
    })
}

/// The words between the first `<` and the `>` behind it.
fn bracketed(text: &str) -> Vec<String> {
    let inner = text
        .split_once('<')
        .and_then(|(_, rest)| rest.split_once('>'));
    let words = inner.map_or("", |(inner, _)| inner).split(',');
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

impl Interface {
    fn add(&mut self, line: &str) {
        let (key, rest) = line.split_once([' ', '=']).unwrap_or((line, ""));
        match key {
            "options" => self.options = bracketed(rest),
            "capabilities" => self.capabilities = bracketed(rest),
            "ether" => self.mac = Some(rest.trim().to_owned()),
            "type:" => self.class = Some(rest.to_owned()),
            "status:" => self.status = Some(rest.to_owned()),
            "media:" => {
                // What is in brackets was agreed on; without them it is what was asked for.
                let active = rest.split_once('(').map_or(rest, |(_, active)| active);
                let medium = active.split([' ', ')', '<']).next().unwrap_or_default();
                let odd = ["", "none", "autoselect"].contains(&medium);
                self.medium = (!odd).then(|| medium.to_owned());
                self.medium_options = bracketed(active);
            }
            "inet" | "inet6" => self.addresses.extend(address(rest)),
            _ => {}
        }
    }

    fn medium(&self) -> Option<Medium> {
        match self.class.as_deref() {
            Some("Wi-Fi") => return Some(Medium::Wireless),
            Some("Ethernet") if !self.name.starts_with("bridge") => return Some(Medium::Cable),
            _ => {}
        }
        let leads_to_one = self.flags.iter().any(|flag| flag == "POINTOPOINT");
        match self.name.starts_with("bridge") {
            true => Some(Medium::Bridge),
            false => (leads_to_one && self.mac.is_none()).then_some(Medium::Tunnel),
        }
    }

    fn into_nic(self, index: u32) -> Nic {
        let has = |word: &str| self.options.iter().any(|option| option == word);
        let could = |word: &str| self.capabilities.iter().any(|option| option == word);
        let offload = |words: &[&str]| Offload {
            on: words.iter().any(|word| has(word)),
            fixed: !words.iter().any(|word| could(word)),
        };
        let offloads = [
            ("tcp-segmentation-offload", offload(&["TSO4", "TSO6"])),
            ("large-receive-offload", offload(&["LRO"])),
            ("tx-checksumming", offload(&["TXCSUM", "PARTIAL_CSUM"])),
            ("rx-checksumming", offload(&["RXCSUM"])),
        ];
        let state = match self.status.as_deref() {
            Some("active") => LinkState::Up,
            Some("inactive") => LinkState::Down,
            _ => LinkState::Unknown,
        };
        Nic {
            index,
            mtu_max: None,
            speed: self.medium.as_deref().and_then(speed),
            shaped: None,
            state,
            driver: None,
            kind: None,
            medium: self.medium(),
            port_of: None,
            modes: None,
            offloads: offloads
                .map(|(name, offload)| (name.to_owned(), offload))
                .into(),
            rx_queues: None,
            tx_queues: None,
            name: self.name,
            mac: self.mac,
            mtu: self.mtu,
            addresses: self.addresses,
        }
    }
}

/// `192.168.0.106 netmask 0xffffff00 ...` or `fe80::1%en0 prefixlen 64 ...`
fn address(text: &str) -> Option<InterfaceAddress> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let address: IpAddr = words.first()?.split('%').next()?.parse().ok()?;
    let after = |key: &str| {
        words
            .get(words.iter().position(|word| *word == key)? + 1)
            .copied()
    };
    let prefix = match address {
        IpAddr::V4(_) => {
            let mask = after("netmask")?.strip_prefix("0x")?;
            u32::from_str_radix(mask, 16).ok()?.leading_ones()
        }
        IpAddr::V6(_) => after("prefixlen")?.parse().ok()?,
    };
    let prefix = u8::try_from(prefix).ok().filter(|&bits| bits <= 128)?;
    Some(InterfaceAddress { address, prefix })
}

/// The speed in the name of a medium: `1000baseT`, `2500Base-T`, `10GbaseT`.
pub(crate) fn speed(medium: &str) -> Option<BitsPerSecond> {
    let (number, _) = medium
        .to_ascii_lowercase()
        .split_once("base")
        .map(|(number, rest)| (number.to_owned(), rest.to_owned()))?;
    let (number, unit) = match number.strip_suffix('g') {
        Some(number) => (number.to_owned(), 1_000_000_000),
        None => (number, 1_000_000),
    };
    let number: u64 = number.parse().ok()?;
    number.checked_mul(unit).map(BitsPerSecond::new)
}

/// Reads `netstat -rn`: routes that lead to an interface.
fn routes(said: &str) -> Vec<Route> {
    let rows = said.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [destination, gateway, flags, nic, ..] = words.as_slice() else {
            return None;
        };
        if !flags.starts_with('U') {
            return None;
        }
        Some(Route {
            destination: network(destination)?,
            gateway: gateway.split('%').next()?.parse().ok(),
            nic: (*nic).to_owned(),
            source: None,
            metric: None,
        })
    });
    rows.collect()
}

/// `10.0.0/24`, `127` and `fe80::%en0/64` as other systems write them.
fn network(text: &str) -> Option<String> {
    if text == "default" {
        return Some(text.to_owned());
    }
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix.parse::<u8>().ok()?)),
        None => (text, None),
    };
    let address = address.split('%').next()?;
    if address.contains(':') {
        let address: std::net::Ipv6Addr = address.parse().ok()?;
        return Some(format!("{address}/{}", prefix.unwrap_or(128)));
    }
    let mut parts: Vec<u8> = Vec::new();
    for part in address.split('.') {
        parts.push(part.parse().ok()?);
    }
    let named = u8::try_from(parts.len()).ok().filter(|&named| named <= 4)?;
    parts.resize(4, 0);
    let parts: Vec<String> = parts.iter().map(u8::to_string).collect();
    Some(format!(
        "{}/{}",
        parts.join("."),
        prefix.unwrap_or(named * 8)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_written_as_elsewhere() {
        for (said, meant) in [
            ("default", "default"),
            ("10.0.0/24", "10.0.0.0/24"),
            ("127", "127.0.0.0/8"),
            ("192.168.1.7", "192.168.1.7/32"),
            ("fe80::%en0/64", "fe80::/64"),
        ] {
            assert_eq!(network(said).as_deref(), Some(meant));
        }
        for odd in ["", "a", "1.2.3.4.5", "10/x", "Internet:", "300"] {
            assert_eq!(network(odd), None, "{odd}");
        }
    }

    #[test]
    fn what_carries_the_packets_is_told_by_the_long_form() {
        let text = concat!(
            "en0: flags=8863<UP,BROADCAST> mtu 1500\n\tether a0:9a:8e:90:a6:62\n\ttype: Wi-Fi\n",
            "en5: flags=8863<UP,BROADCAST> mtu 1500\n\tether a0:9a:8e:90:a6:63\n\ttype: Ethernet\n",
            "en6: flags=8863<UP,BROADCAST> mtu 1500\n\tether a0:9a:8e:90:a6:64\n",
            "bridge0: flags=8863<UP,BROADCAST> mtu 1500\n\tether a0:9a:8e:90:a6:65\n",
            "utun3: flags=8051<UP,POINTOPOINT,RUNNING,MULTICAST> mtu 1380\n\tinet 10.8.0.2 --> 10.8.0.1\n",
        );
        let found: Vec<Option<Medium>> = interfaces(text).iter().map(Interface::medium).collect();
        let known = [Medium::Wireless, Medium::Cable].map(Some);
        let others = [None, Some(Medium::Bridge), Some(Medium::Tunnel)];
        assert_eq!(found, [&known[..], &others[..]].concat());
    }

    #[test]
    fn hostile_output_gives_nothing_and_no_panic() {
        for text in [
            "",
            "en0",
            "en0: ",
            "en0: mtu",
            "\tinet 1.2.3.4",
            "en0: mtu 9x",
            "<>: <",
        ] {
            assert!(interfaces(text).is_empty(), "{text:?}");
        }
        for medium in ["", "base", "Gbase", "99999999999999999999base", "-1baseT"] {
            assert_eq!(speed(medium), None, "{medium}");
        }
        let text =
            "en0: flags=<UP mtu 1500\n\tinet 1.2.3.4 netmask 0xzz\n\tmedia: (\n\toptions=3<\n";
        assert_eq!(interfaces(text).len(), 1);
    }
}
