//! What is written for each of those who set interfaces up, in their words.

use record::Value;

use super::{ConfigManager, KEEPS, Keep, NOTE};
use crate::exec::shell::posix_words;
use crate::knob::ethtool::Ethtool;
use crate::knob::ip_link::Link;
use crate::knob::routing_and_arp::Route;
use crate::knob::{Allowed, Kind, KnobBackend, Refusal, State, on_or_off};

impl Keep {
    pub(super) fn mode(&self, manager: &ConfigManager) -> &'static str {
        match manager {
            ConfigManager::Netplan => "600",
            ConfigManager::Ifupdown | ConfigManager::NetworkManager(_) => "755",
            _ => "644",
        }
    }

    pub(super) fn content(
        &self,
        nic: &str,
        manager: &ConfigManager,
        value: &str,
    ) -> Result<String, Refusal> {
        let head = format!("{KEEPS}{} = {value}\n{NOTE}", self.place(nic));
        let lines = |pairs: Vec<(&str, String)>| {
            let lines = pairs.iter().map(|(key, value)| format!("{key}={value}\n"));
            lines.collect::<String>()
        };
        let missing = Refusal::none_such;
        Ok(match manager {
            ConfigManager::Sysctl => {
                format!("{head}{} = {}\n", self.sysctl_key(nic), number(value))
            }
            ConfigManager::Launchd => {
                let argv = self.mac_command(nic, value).ok_or_else(missing)?;
                let words = argv
                    .iter()
                    .map(|word| format!("    <string>{}</string>\n", xml(word)));
                let words: String = words.collect();
                let label = xml(&self.place(nic));
                format!(
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!--\n{head}-->\n<plist version=\"1.0\">\n\
                     <dict>\n  <key>Label</key>\n  <string>linerate.{label}</string>\n\
                     \x20 <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n\
                     \x20 <key>RunAtLoad</key>\n  <true/>\n</dict>\n</plist>\n"
                )
            }
            ConfigManager::Netplan => {
                let keys = self.netplan().ok_or_else(missing)?;
                let rows = keys.iter().map(|key| {
                    let value = value.replace("on", "true").replace("off", "false");
                    format!("      {key}: {value}\n")
                });
                let rows: String = rows.collect();
                let nic = serde_json::to_string(nic).map_err(|_error| missing())?;
                format!("{head}network:\n  version: 2\n  ethernets:\n    {nic}:\n{rows}")
            }
            ConfigManager::Udev { .. } => {
                format!(
                    "{head}[Link]\n{}",
                    lines(self.link(value).ok_or_else(missing)?)
                )
            }
            ConfigManager::Ifupdown | ConfigManager::NetworkManager(_) => {
                let variable = match manager {
                    ConfigManager::Ifupdown => "[ \"$IFACE\" = ",
                    _ => "[ \"$2\" = up ] && [ \"$1\" = ",
                };
                let own = posix_words(&[nic.to_owned()]);
                let commands = self.commands(nic, value)?;
                format!(
                    "#!/bin/sh\n{head}{variable}{own} ] || exit 0\n\
                     PATH=$PATH:/usr/sbin:/sbin\n{commands}\n"
                )
            }
        })
    }

    /// What somebody would type.
    fn commands(&self, nic: &str, value: &str) -> Result<String, Refusal> {
        let words = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            posix_words(&words)
        };
        let typed = match value {
            "on" => Value::Switch(true),
            "off" if !matches!(self.of.kind, Kind::Ethtool(Ethtool::Pause)) => Value::Switch(false),
            value => match value.parse() {
                Ok(number) => Value::Integer(number),
                Err(_) => Value::Text(value.to_owned()),
            },
        };
        let nothing_seen = State::new(Value::Unset, Allowed::AsRead);
        Ok(match &self.of.kind {
            Kind::Ethtool(Ethtool::Feature { short, .. }) => {
                words(&["ethtool", "-K", nic, short, value])
            }
            // Which of the two it takes is the driver's choice.
            Kind::Ethtool(Ethtool::Channels) => {
                let one = words(&["ethtool", "-L", nic, "combined", value]);
                let two = words(&["ethtool", "-L", nic, "rx", value, "tx", value]);
                format!("{one} || {two}")
            }
            Kind::Ethtool(backend) => posix_words(&backend.set(nic, &nothing_seen, &typed)?.argv),
            Kind::Link(backend) => posix_words(&backend.set(nic, &nothing_seen, &typed)?.argv),
            _ => return Err(Refusal::none_such()),
        })
    }

    /// The same on a Mac.
    fn mac_command(&self, nic: &str, value: &str) -> Option<Vec<String>> {
        let Kind::Mac(backend) = &self.of.kind else {
            return None;
        };
        let own = |words: &[&str]| Some(words.iter().map(|&word| word.to_owned()).collect());
        match (backend.assignment(value), backend.capability(value)) {
            (Some(assignment), _) => own(&["/usr/sbin/sysctl", "-w", &assignment]),
            (_, Some(word)) => own(&["/sbin/ifconfig", nic, &word]),
            _ => None,
        }
    }

    pub(super) fn sysctl_key(&self, nic: &str) -> String {
        match &self.of.kind {
            Kind::Sysctl(sysctl) => sysctl.key().to_owned(),
            Kind::Route(Route::Number(key, _) | Route::Switch(key)) => {
                // With slashes, dots in the name of the interface are its own.
                format!("net/ipv4/conf/{nic}/{key}")
            }
            _ => String::new(),
        }
    }

    /// The words of `netplan`.
    pub(super) fn netplan(&self) -> Option<&'static [&'static str]> {
        Some(match &self.of.kind {
            Kind::Link(Link::Mtu) => &["mtu"],
            Kind::Ethtool(Ethtool::Feature { short, .. }) => match *short {
                "tso" => &["tcp-segmentation-offload", "tcp6-segmentation-offload"],
                "gso" => &["generic-segmentation-offload"],
                "gro" => &["generic-receive-offload"],
                "lro" => &["large-receive-offload"],
                "tx" => &["transmit-checksum-offload"],
                "rx" => &["receive-checksum-offload"],
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The options of a `.link` file.
    pub(super) fn link(&self, value: &str) -> Option<Vec<(&'static str, String)>> {
        let one = |key: &'static str| Some(vec![(key, value.to_owned())]);
        match &self.of.kind {
            Kind::Link(Link::Mtu) => one("MTUBytes"),
            Kind::Link(Link::QueueLength) => one("TransmitQueueLength"),
            Kind::Ethtool(backend) => match backend {
                Ethtool::Feature { short, .. } => match *short {
                    "tso" => {
                        let keys = ["TCPSegmentationOffload", "TCP6SegmentationOffload"];
                        Some(keys.map(|key| (key, value.to_owned())).into())
                    }
                    "gso" => one("GenericSegmentationOffload"),
                    "gro" => one("GenericReceiveOffload"),
                    "lro" => one("LargeReceiveOffload"),
                    "tx" => one("TransmitChecksumOffload"),
                    "rx" => one("ReceiveChecksumOffload"),
                    _ => None,
                },
                Ethtool::Channels => one("CombinedChannels"),
                Ethtool::RingRx => one("RxBufferSize"),
                Ethtool::RingTx => one("TxBufferSize"),
                Ethtool::Adaptive("adaptive-rx") => one("UseAdaptiveRxCoalesce"),
                Ethtool::Adaptive(_) => one("UseAdaptiveTxCoalesce"),
                Ethtool::Coalesce("rx-usecs") => {
                    Some(vec![("RxCoalesceSec", format!("{value}us"))])
                }
                Ethtool::Coalesce("tx-usecs") => {
                    Some(vec![("TxCoalesceSec", format!("{value}us"))])
                }
                Ethtool::Coalesce("rx-frames") => one("RxMaxCoalescedFrames"),
                Ethtool::Coalesce(_) => one("TxMaxCoalescedFrames"),
                Ethtool::Pause => {
                    let keys = [
                        "AutoNegotiationFlowControl",
                        "RxFlowControl",
                        "TxFlowControl",
                    ];
                    Some(keys.into_iter().zip(pause(value)).collect())
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The property of a connection of `NetworkManager`, or the first part of its properties' names.
    pub(super) fn property(&self) -> Option<String> {
        Some(match &self.of.kind {
            Kind::Link(Link::Mtu) => "802-3-ethernet.mtu".to_owned(),
            Kind::Ethtool(backend) => match backend {
                Ethtool::Feature { short, .. } => format!("ethtool.feature-{short}"),
                Ethtool::RingRx => "ethtool.ring-rx".to_owned(),
                Ethtool::RingTx => "ethtool.ring-tx".to_owned(),
                Ethtool::Coalesce(word) | Ethtool::Adaptive(word) => {
                    format!("ethtool.coalesce-{word}")
                }
                Ethtool::Pause => PAUSE.to_owned(),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// What the connection says, whoever wrote it there.
    pub(super) fn property_value(&self, said: &str) -> Value {
        let of = |name: &str| {
            said.lines().find_map(|line| {
                let value = line.strip_prefix("property ")?.strip_prefix(name)?;
                let value = value.strip_prefix(':')?;
                let nothing = match name.ends_with(".mtu") {
                    true => ["", "auto", "0"].contains(&value),
                    false => value.is_empty(),
                };
                (!nothing).then_some(value)
            })
        };
        let text = match self.property().as_deref() {
            Some(PAUSE) => {
                let [auto, rx, tx] = PAUSES.map(|part| of(&format!("{PAUSE}{part}")) == Some("on"));
                let ways = [(rx, "rx"), (tx, "tx")].map(|(on, word)| on.then_some(word));
                let ways: Vec<&str> = ways.into_iter().flatten().collect();
                let known = PAUSES
                    .iter()
                    .any(|part| of(&format!("{PAUSE}{part}")).is_some());
                let ways = if ways.is_empty() {
                    "off".to_owned()
                } else {
                    ways.join("+")
                };
                known.then(|| format!("{}{ways}", if auto { "auto " } else { "" }))
            }
            Some(name) => of(name).map(|value| match (&self.of.kind, value) {
                (Kind::Ethtool(Ethtool::Adaptive(_)), "1") => "on".to_owned(),
                (Kind::Ethtool(Ethtool::Adaptive(_)), "0") => "off".to_owned(),
                (_, value) => value.to_owned(),
            }),
            None => None,
        };
        text.map_or(Value::Unset, Value::Text)
    }
}

/// The three properties of flow control.
const PAUSE: &str = "ethtool.pause-";
const PAUSES: [&str; 3] = ["autoneg", "rx", "tx"];

/// Names and values for `nmcli`; an empty value takes a property away.
pub(super) fn properties(property: String, value: Option<&str>) -> Option<Vec<(String, String)>> {
    if property == PAUSE {
        let values = match value {
            Some(value) => pause(value),
            None => Default::default(),
        };
        let names = PAUSES.map(|part| format!("{PAUSE}{part}"));
        return Some(names.into_iter().zip(values).collect());
    }
    let value = match (property.as_str(), value) {
        (name, Some("on")) if name.contains("coalesce-adaptive") => "1",
        (name, Some("off")) if name.contains("coalesce-adaptive") => "0",
        (_, value) => value.unwrap_or_default(),
    };
    let value = value.to_owned();
    Some(vec![(property, value)])
}

/// Agreed on, received, sent, each `on` or `off`.
fn pause(value: &str) -> [String; 3] {
    let (auto, ways) = match value.strip_prefix("auto ") {
        Some(ways) => (true, ways),
        None => (false, value),
    };
    let has = |direction: &str| ways.split('+').any(|part| part == direction);
    [auto, has("rx"), has("tx")].map(|on| on_or_off(on).to_owned())
}

/// Text between tags, also in a comment, where two dashes would end it.
fn xml(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace("--", "-&#45;")
}

fn number(value: &str) -> &str {
    match value {
        "on" => "1",
        "off" => "0",
        other => other,
    }
}
