//! The part of the model host behind the ways of packets: queues, interrupts, routes, rules, spreading.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use host::exec::Output;

use super::{failed, said};

/// What is set for one NIC.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Paths {
    /// Kind and handle at the root.
    discipline: (String, String),
    metric: u32,
    quick: bool,
    rule: bool,
    /// Queues over which is spread.
    spread: u32,
    key: String,
    fields: String,
    mode: String,
    offered: BTreeMap<String, bool>,
}

/// What can be written into files, and what is set for each NIC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PacketPaths {
    files: BTreeMap<String, String>,
    nics: BTreeMap<String, Paths>,
}

const QUEUES: u32 = 4;

impl PacketPaths {
    pub(super) fn new(nics: &[&str]) -> Self {
        let mut files = BTreeMap::new();
        for nic in nics.iter().chain(&["all"]) {
            for key in ["rp_filter", "arp_ignore", "arp_announce", "arp_filter"] {
                files.insert(format!("/proc/sys/net/ipv4/conf/{nic}/{key}"), "0".into());
            }
        }
        for nic in nics {
            for queue in 0..2 {
                let folder = format!("/sys/class/net/{nic}/queues");
                files.insert(format!("{folder}/rx-{queue}/rps_cpus"), "0".into());
                files.insert(
                    format!("{folder}/tx-{queue}/xps_cpus"),
                    format!("{}", queue + 1),
                );
            }
        }
        for number in [38, 39] {
            files.insert(
                format!("/proc/irq/{number}/smp_affinity_list"),
                "0-1".into(),
            );
        }
        let offered = [("100baseT/Full", true), ("1000baseT/Full", true)];
        let paths = Paths {
            discipline: ("fq_codel".into(), "0:".into()),
            metric: 0,
            quick: false,
            rule: false,
            spread: QUEUES,
            key: "6d:5a:56:da".into(),
            fields: "sd".into(),
            mode: "auto".into(),
            offered: offered.map(|(mode, on)| (mode.to_owned(), on)).into(),
        };
        let nics = nics.iter().map(|&nic| (nic.to_owned(), paths.clone()));
        Self {
            files,
            nics: nics.collect(),
        }
    }

    /// The answer to a command that is about ways, if it is.
    pub(super) fn answer(&mut self, argv: &[&str], stdin: &[u8]) -> Option<Output> {
        Some(match argv {
            ["grep", "-rsH", "", folder] => self.print(|path| path.starts_with(folder)),
            ["grep", "-sH", "", paths @ ..] => self.print(|path| paths.contains(&path)),
            ["tee", path] if self.files.contains_key(*path) => {
                let text = String::from_utf8(stdin.to_vec()).unwrap();
                self.files
                    .insert((*path).to_owned(), text.trim().to_owned());
                said(text)
            }
            ["cat", "/sys/devices/system/cpu/possible"] => said("0-3\n"),
            ["cat", path] if path.ends_with("/ifindex") => said("4\n"),
            ["tc", "-j", "qdisc", "show"] => said(self.disciplines()),
            [
                "tc",
                "qdisc",
                "replace",
                "dev",
                nic,
                "root",
                "handle",
                handle,
                kind,
            ] => {
                let nic = self.nics.get_mut(*nic)?;
                nic.discipline = ((*kind).to_owned(), (*handle).to_owned());
                said("")
            }
            ["ip", "-4", "route", rest @ ..] => self.route(rest)?,
            ["ip", "-j", "-4", "rule", "show"] => {
                let ours = self.nics.values().filter(|nic| nic.rule);
                let rows = ours.map(|_| r#"{"priority":1,"src":"10.0.0.1","table":"18004"}"#);
                let rows: Vec<&str> = rows.collect();
                said(format!("[{}]", rows.join(",")))
            }
            ["ethtool", "-x", nic] => said(self.nics.get(*nic)?.show_spread()),
            ["ethtool", "-n", nic, ..] => said(self.nics.get(*nic)?.show_fields()),
            ["ethtool", "-X" | "-N" | "-s", nic, words @ ..] => {
                self.nics.get_mut(*nic)?.set(words);
                said("")
            }
            ["ethtool", nic] => said(self.nics.get(*nic)?.show()),
            ["sh", "-c", script, "sh", arguments @ ..] => self.script(script, arguments)?,
            _ => return None,
        })
    }

    fn print(&self, wanted: impl Fn(&str) -> bool) -> Output {
        let mut text = String::new();
        for (path, content) in self.files.iter().filter(|(path, _)| wanted(path)) {
            writeln!(text, "{path}:{content}").unwrap();
        }
        said(text)
    }

    fn disciplines(&self) -> String {
        let rows = self.nics.iter().map(|(nic, paths)| {
            let (kind, handle) = &paths.discipline;
            format!(r#"{{"kind":"{kind}","handle":"{handle}","dev":"{nic}","root":true}}"#)
        });
        format!("[{}]", rows.collect::<Vec<_>>().join(","))
    }

    fn route(&self, words: &[&str]) -> Option<Output> {
        match words {
            ["show", "dev", nic, ..] => {
                let Some(nic) = self.nics.get(*nic) else {
                    return Some(failed(1, "Cannot find device \"x\""));
                };
                let mut line = "10.0.0.0/24 src 10.0.0.1".to_owned();
                if nic.metric > 0 {
                    write!(line, " metric {}", nic.metric).unwrap();
                }
                if nic.quick {
                    line += " quickack 1";
                }
                Some(said(line + " \n"))
            }
            _ => None,
        }
    }

    fn script(&mut self, script: &str, arguments: &[&str]) -> Option<Output> {
        match arguments {
            [nic] if script.contains("msi_irqs") => {
                if !self.nics.contains_key(*nic) {
                    return Some(failed(3, ""));
                }
                let lists = [38, 39].map(|number| {
                    let list = &self.files[&format!("/proc/irq/{number}/smp_affinity_list")];
                    format!("{number} {list}\n")
                });
                Some(said(lists.concat()))
            }
            [nic] if script.contains("qdisc del") => {
                self.nics.get_mut(*nic)?.discipline = ("fq_codel".into(), "0:".into());
                Some(said(""))
            }
            [_, nic, _, from, to] => {
                let nic = self.nics.get_mut(*nic)?;
                assert!([*from, *to].contains(&nic.metric.to_string().as_str()));
                nic.metric = to.parse().unwrap();
                Some(said(""))
            }
            [_, nic, _, quick] if script.contains("quickack") => {
                self.nics.get_mut(*nic)?.quick = *quick == "1";
                Some(said(""))
            }
            [_, nic, _, "18004"] => {
                self.nics.get_mut(*nic)?.rule = script.contains("rule add");
                Some(said(""))
            }
            pairs if script.contains("shift 2") => {
                for pair in pairs.chunks(2) {
                    let file = self.files.get_mut(pair[0]).unwrap();
                    pair[1].clone_into(file);
                }
                Some(said(""))
            }
            _ => None,
        }
    }
}

impl Paths {
    fn show_spread(&self) -> String {
        let row: String = (0..8).map(|at| format!("{:6}", at % self.spread)).collect();
        format!(
            "RX flow hash indirection table for x with {QUEUES} RX ring(s):\n    0:{row}\n    8:{row}\n\
             RSS hash key:\n{}\nRSS hash function:\n    toeplitz: on\n    xor: off\n",
            self.key
        )
    }

    fn show_fields(&self) -> String {
        let names = [
            ('s', "IP SA"),
            ('d', "IP DA"),
            ('f', "L4 bytes 0 & 1 [TCP/UDP src port]"),
            ('n', "L4 bytes 2 & 3 [TCP/UDP dst port]"),
        ];
        let own = names
            .iter()
            .filter(|(letter, _)| self.fields.contains(*letter));
        let own: String = own.map(|(_, name)| format!("{name}\n")).collect();
        format!("TCP over IPV4 flows use these fields for computing Hash flow key:\n{own}\n")
    }

    fn show(&self) -> String {
        let offered = self.offered.iter().filter(|(_, on)| **on);
        let offered: Vec<&str> = offered.map(|(mode, _)| mode.as_str()).collect();
        let (speed, duplex) = self.mode.split_once(' ').unwrap_or(("1000", "full"));
        format!(
            "Settings for x:\n\tSupported ports: [ TP ]\n\tSupported link modes:   100baseT/Full\n\
             \t                        1000baseT/Full\n\tSupported pause frame use: No\n\
             \tSupports auto-negotiation: Yes\n\tAdvertised link modes:  {}\n\tSpeed: {speed}Mb/s\n\
             \tDuplex: {}\n\tAuto-negotiation: {}\n\tLink detected: yes\n",
            offered.join("\n\t                        "),
            if duplex == "full" { "Full" } else { "Half" },
            if self.mode == "auto" { "on" } else { "off" },
        )
    }

    fn set(&mut self, words: &[&str]) {
        match words {
            ["default"] => self.spread = QUEUES,
            ["equal", count] => self.spread = count.parse().unwrap(),
            ["hkey", key] => (*key).clone_into(&mut self.key),
            ["rx-flow-hash", "tcp4", fields] => (*fields).clone_into(&mut self.fields),
            ["speed", speed, "duplex", duplex, "autoneg", "off"] => {
                self.mode = format!("{speed} {duplex}");
            }
            ["autoneg", "on", "advertise", modes @ ..] => {
                self.mode = "auto".into();
                for pair in modes.chunks(2) {
                    *self.offered.get_mut(pair[0]).unwrap() = pair[1] == "on";
                }
            }
            other => panic!("the model knows no {other:?}"),
        }
    }
}
