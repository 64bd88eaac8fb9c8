//! A model of a Windows host: it understands the scripts that linerate writes, and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use host::Host;
use host::exec::{Command, Output, Replay};
use record::HostName;
use serde_json::{Value as Json, json};

/// A recorded output.
pub fn fixture(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A list as `Format-List` prints it, as `ConvertTo-Json` would: units in the names are its own.
pub fn listed(path: &str) -> BTreeMap<String, Json> {
    let rows = fixture(path);
    let rows = rows.lines().filter_map(|line| line.split_once(" :"));
    let rows = rows.map(|(name, value)| {
        let name = name.split('(').next().unwrap_or_default().trim();
        let value = match value.trim() {
            "True" => json!(true),
            "False" => json!(false),
            word => word
                .parse::<i64>()
                .map_or_else(|_| json!(word), |number| json!(number)),
        };
        (name.to_owned(), value)
    });
    rows.collect()
}

/// A driver's property.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    pub name: &'static str,
    pub value: String,
    pub valid: Vec<&'static str>,
    pub limits: Option<[i64; 3]>,
}

/// What the host is.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    pub nic: String,
    pub properties: BTreeMap<&'static str, Property>,
    pub mtu: [i64; 2],
    pub metric: Option<i64>,
    pub queues: i64,
    pub power: BTreeMap<&'static str, bool>,
    pub category: String,
    pub tcp: BTreeMap<String, Json>,
    pub offload: BTreeMap<String, Json>,
    pub client: BTreeMap<String, Json>,
    pub server: BTreeMap<String, Json>,
    pub registry: BTreeMap<(String, String), i64>,
    pub scheme: String,
    /// Whether `Get-NetTCPSetting` and its kin are there.
    pub has_cmdlets: bool,
    /// How often the adapter was restarted.
    pub restarts: usize,
}

fn property(name: &'static str, value: &str, valid: &[&'static str]) -> Property {
    Property {
        name,
        value: value.to_owned(),
        valid: valid.to_vec(),
        limits: None,
    }
}

fn number(name: &'static str, value: &str, limits: [i64; 3]) -> Property {
    Property {
        limits: Some(limits),
        ..property(name, value, &[])
    }
}

const BITS: [&str; 4] = ["0", "1", "2", "3"];
const SWITCH: [&str; 2] = ["0", "1"];

fn properties() -> BTreeMap<&'static str, Property> {
    [
        (
            "*JumboPacket",
            property("Jumbo Packet", "1514", &["1514", "4088", "9014"]),
        ),
        (
            "*LsoV2IPv4",
            property("Large Send Offload V2 (IPv4)", "1", &SWITCH),
        ),
        (
            "*LsoV2IPv6",
            property("Large Send Offload V2 (IPv6)", "0", &SWITCH),
        ),
        (
            "*RscIPv4",
            property("Recv Segment Coalescing (IPv4)", "1", &SWITCH),
        ),
        (
            "*RscIPv6",
            property("Recv Segment Coalescing (IPv6)", "1", &SWITCH),
        ),
        (
            "*TCPChecksumOffloadIPv4",
            property("TCP Checksum Offload (IPv4)", "3", &BITS),
        ),
        (
            "*TCPChecksumOffloadIPv6",
            property("TCP Checksum Offload (IPv6)", "2", &BITS),
        ),
        (
            "*FlowControl",
            property("フロー制御", "3", &["0", "1", "2", "3", "4"]),
        ),
        (
            "*SpeedDuplex",
            property("速度とデュプレックス", "0", &["0", "6", "7"]),
        ),
        ("*RSS", property("Receive Side Scaling", "1", &SWITCH)),
        (
            "*NumRssQueues",
            property("Maximum Number of RSS Queues", "8", &["1", "2", "4", "8"]),
        ),
        (
            "*ReceiveBuffers",
            number("Receive Buffers", "512", [80, 4096, 8]),
        ),
        (
            "*TransmitBuffers",
            number("Transmit Buffers", "512", [80, 4096, 8]),
        ),
        (
            "*InterruptModeration",
            property("Interrupt Moderation", "1", &SWITCH),
        ),
        (
            "ITR",
            property(
                "Interrupt Moderation Rate",
                "65535",
                &["65535", "0", "200", "2000"],
            ),
        ),
        (
            "EnableGreenEthernet",
            property("Green Ethernet", "1", &SWITCH),
        ),
    ]
    .into()
}

impl Machine {
    pub fn new(nic: &str) -> Self {
        let offload = [
            "ReceiveSideScaling",
            "ReceiveSegmentCoalescing",
            "TaskOffload",
        ];
        let mut client = listed("windows-11-24h2/smb-client.txt");
        let mut server = listed("windows-11-24h2/smb-server.txt");
        for side in [&mut client, &mut server] {
            for name in ["Smb2DialectMin", "Smb2DialectMax"] {
                side.insert(name.into(), json!("None"));
            }
        }
        Self {
            nic: nic.to_owned(),
            properties: properties(),
            mtu: [1500, 1500],
            metric: None,
            queues: 8,
            power: [
                ("SelectiveSuspend", true),
                ("DeviceSleepOnDisconnect", false),
            ]
            .into(),
            category: "Public".into(),
            tcp: listed("windows-10/tcp-setting.txt"),
            offload: offload
                .map(|name| (name.to_owned(), json!("Enabled")))
                .into(),
            client,
            server,
            registry: BTreeMap::new(),
            scheme: "381b4222-f694-41f0-9685-ff5bb260df2e".into(),
            has_cmdlets: true,
            restarts: 0,
        }
    }

    fn rows(&self, script: &str) -> Vec<Json> {
        let got = between(script, "@(Get-", " ").expect("a script that gets something");
        if let Some(name) = literals(script, "-ceq ").first()
            && *name != self.nic
        {
            return Vec::new();
        }
        let one = |object: Json| vec![object];
        match got {
            "NetAdapter" => one(json!({ "Name": self.nic, "MtuSize": 1500,
                "TransmitLinkSpeed": 10_000_000_000_i64 })),
            "NetAdapterAdvancedProperty" => {
                let rows = self.properties.iter().map(|(keyword, property)| {
                    let limit = |at: usize| property.limits.map(|limits| limits[at].to_string());
                    json!({ "DisplayName": property.name, "RegistryKeyword": keyword,
                        "RegistryValue": [property.value], "ValidRegistryValues": property.valid,
                        "NumericParameterMinValue": limit(0), "NumericParameterMaxValue": limit(1),
                        "NumericParameterStepValue": limit(2) })
                });
                rows.collect()
            }
            "NetIPInterface" => ["IPv4", "IPv6"]
                .into_iter()
                .zip(self.mtu)
                .map(|(family, mtu)| {
                    let automatic = if self.metric.is_none() {
                        "Enabled"
                    } else {
                        "Disabled"
                    };
                    json!({ "NlMtu": mtu, "InterfaceMetric": self.metric.unwrap_or(25),
                        "AddressFamily": family, "AutomaticMetric": automatic })
                })
                .collect(),
            "NetAdapterRss" => one(json!({ "NumberOfReceiveQueues": self.queues })),
            "NetAdapterRsc" => one(json!({ "IPv4OperationalState": "False",
                "IPv4FailureReason": "NDISCompatibility" })),
            "NetAdapterPowerManagement" => {
                let rows = self.power.iter().map(|(name, on)| (*name, enabled(*on)));
                one(json!(rows.collect::<BTreeMap<_, _>>()))
            }
            "NetConnectionProfile" => one(json!({ "NetworkCategory": self.category })),
            "SmbClientNetworkInterface" => one(json!({ "RssCapable": true, "RdmaCapable": false })),
            "SmbConnection" => one(json!({ "ServerName": "nas", "Dialect": "3.1.1",
                "Signed": true, "Encrypted": false })),
            "NetTCPConnection" => one(json!({ "LocalAddress": "10.0.0.1",
                "RemoteAddress": "10.0.0.2" })),
            "SmbMultichannelConnection" => Vec::new(),
            "NetTCPSetting" => one(json!(self.tcp)),
            "NetOffloadGlobalSetting" => one(json!(self.offload)),
            "SmbClientConfiguration" => one(json!(self.client)),
            "SmbServerConfiguration" => one(json!(self.server)),
            "ItemProperty" => {
                let key = literals(script, "-LiteralPath ")[0].clone();
                let own = self.registry.iter().filter(|((of, _), _)| *of == key);
                let own = own.map(|((_, name), value)| (name.as_str(), *value));
                one(json!(own.collect::<BTreeMap<_, _>>()))
            }
            other => panic!("`Get-{other}` is not in the model"),
        }
    }

    /// What a script that looks at one setting prints.
    pub fn print_value(&self, script: &str) -> String {
        let keyword = literals(script, "Where-Object { ").into_iter().next();
        let property = keyword.and_then(|keyword| self.properties.get(keyword.as_str()));
        let mut seen: Vec<String> = property.map(|own| own.value.clone()).into_iter().collect();
        if script.contains("$_.NlMtu") {
            seen.extend(self.mtu.iter().map(ToString::to_string));
        }
        assert!(!seen.is_empty(), "not in the model: {script}");
        seen.join(" ")
    }

    pub fn set(&mut self, script: &str) {
        for part in script
            .split("for ($try")
            .filter(|part| part.contains("Set-") || !part.is_empty())
        {
            self.set_one(part);
        }
    }

    fn set_one(&mut self, part: &str) {
        if let Some(name) = literals(part, "-ceq ").first()
            && *name != self.nic
        {
            return;
        }
        let word = |option: &str| between(&format!("{part} "), option, " ").map(str::to_owned);
        if part.contains("Set-NetAdapterAdvancedProperty") {
            self.set_property(part);
        } else if part.contains("Set-NetIPInterface -NlMtuBytes") {
            let mtu = word("-NlMtuBytes ").unwrap().parse().unwrap();
            self.mtu[usize::from(part.contains("-ceq 'IPv6'"))] = mtu;
        } else if part.contains("Set-NetIPInterface") {
            let metric = word("-InterfaceMetric ").map(|metric| metric.parse().unwrap());
            assert_eq!(metric.is_none(), part.contains("-AutomaticMetric Enabled"));
            self.metric = metric;
        } else if part.contains("Set-NetAdapterRss") {
            self.queues = word("-NumberOfReceiveQueues ").unwrap().parse().unwrap();
            self.restarts += 1;
        } else if part.contains("Set-NetAdapterPowerManagement") {
            for (name, on) in &mut self.power {
                if let Some(word) = between(&format!("{part} "), &format!("-{name} "), " ") {
                    *on = word == "Enabled";
                }
            }
        } else if part.contains("Set-NetConnectionProfile") {
            self.category = literals(part, "-NetworkCategory ")[0].clone();
        } else if part.contains("Set-NetTCPSetting") {
            let (name, value) = argument(part, "-SettingName Internet -");
            assert!(self.tcp.insert(name, value).is_some(), "{part}");
        } else if part.contains("Set-NetOffloadGlobalSetting") {
            let (name, value) = argument(part, "Set-NetOffloadGlobalSetting -");
            assert!(self.offload.insert(name, value).is_some(), "{part}");
        } else if part.contains("Set-SmbClientConfiguration") {
            let (name, value) = argument(part, "Set-SmbClientConfiguration -");
            assert!(self.client.insert(name, value).is_some(), "{part}");
        } else if part.contains("Set-SmbServerConfiguration") {
            let (name, value) = argument(part, "Set-SmbServerConfiguration -");
            assert!(self.server.insert(name, value).is_some(), "{part}");
        } else if part.contains("-ItemProperty") || part.contains("New-ItemProperty") {
            let place = (
                literals(part, "-LiteralPath ")[0].clone(),
                literals(part, "-Name ")[0].clone(),
            );
            match word("-Value ") {
                Some(value) => drop(self.registry.insert(place, value.parse().unwrap())),
                None => drop(self.registry.remove(&place)),
            }
        } else if part.contains("powercfg") {
            self.scheme = literals(part, "/setactive ")[0].clone();
        } else {
            panic!("not in the model: {part}");
        }
    }

    /// As a driver does it: what it does not take is an error of the cmdlet.
    fn set_property(&mut self, part: &str) {
        let keyword = literals(part, "RegistryKeyword -ceq ")[0].clone();
        let property = self.properties.iter_mut().find(|(own, _)| **own == keyword);
        let (_, property) = property.expect("a property that is there");
        let before = property.value.clone();
        property.value = match literals(part, "-RegistryValue ").first() {
            Some(value) => value.clone(),
            None => {
                let now: i64 = property.value.parse().unwrap();
                let bit: i64 = between(part, "(-bnot ", ")").unwrap().parse().unwrap();
                let bits: i64 = between(part, "-bor ", ";").unwrap().parse().unwrap();
                (now & !bit | bits).to_string()
            }
        };
        if let Some([min, max, step]) = property.limits {
            let value: i64 = property.value.parse().unwrap();
            assert!(
                (min..=max).contains(&value) && (value - min) % step == 0,
                "{value}"
            );
        } else {
            let mut valid = property.valid.iter();
            assert!(valid.any(|valid| *valid == property.value), "{property:?}");
        }
        self.restarts += usize::from(property.value != before);
    }
}

fn enabled(on: bool) -> &'static str {
    if on { "Enabled" } else { "Disabled" }
}

/// What stands between two texts.
pub fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, behind) = text.split_once(from)?;
    Some(behind.split_once(to)?.0)
}

/// The literals that stand behind a text.
pub fn literals(script: &str, behind: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in script.match_indices(behind) {
        let rest = &script[at + behind.len()..];
        let Some(rest) = rest.strip_prefix('\'') else {
            continue;
        };
        let (mut literal, mut letters) = (String::new(), rest.chars().peekable());
        while let Some(letter) = letters.next() {
            if matches!(letter, '\'' | '\u{2018}'..='\u{201b}') {
                match letters.peek() {
                    Some('\'' | '\u{2018}'..='\u{201b}') => drop(letters.next()),
                    _ => break,
                }
            }
            literal.push(letter);
        }
        found.push(literal);
    }
    found
}

/// `Name value` behind a text, as it reads back.
fn argument(part: &str, behind: &str) -> (String, Json) {
    let (_, rest) = part.split_once(behind).unwrap();
    let mut words = rest.split([' ', ';']);
    let (name, value) = (words.next().unwrap(), words.next().unwrap());
    let value = match value {
        "$true" => json!(true),
        "$false" => json!(false),
        word => match word.parse::<i64>() {
            Ok(number) => json!(number),
            Err(_) => json!(word.trim_matches('\'')),
        },
    };
    (name.to_owned(), value)
}

pub fn said(text: impl Into<Vec<u8>>) -> Output {
    Output {
        status: 0,
        stdout: text.into(),
        stderr: Vec::new(),
    }
}

pub fn failed(status: i32, text: &str) -> Output {
    Output {
        status,
        stdout: Vec::new(),
        stderr: text.as_bytes().to_vec(),
    }
}

/// The model, and every command that ran on it.
#[derive(Clone)]
pub struct Model {
    machine: Arc<Mutex<Machine>>,
}

impl Model {
    pub fn new(nic: &str) -> Self {
        Self {
            machine: Arc::new(Mutex::new(Machine::new(nic))),
        }
    }

    pub fn with<T>(&self, change: impl FnOnce(&mut Machine) -> T) -> T {
        change(&mut self.machine.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The machine; capitals do not count in its words, and restarts are no state.
    pub fn now(&self) -> Machine {
        let mut now = self.with(|machine| machine.clone());
        now.restarts = 0;
        now.category = now.category.to_lowercase();
        for values in [
            &mut now.tcp,
            &mut now.offload,
            &mut now.client,
            &mut now.server,
        ] {
            for value in values.values_mut() {
                if let Some(word) = value.as_str() {
                    *value = json!(word.to_lowercase());
                }
            }
        }
        now
    }

    pub fn host(&self) -> Host {
        let model = self.clone();
        let exec = Replay::model(move |command| Ok(model.answer(command)));
        Host::new(HostName::new("ssh://windows"), Arc::new(exec)).unwrap()
    }

    pub fn answer(&self, command: &Command) -> Output {
        let argv: Vec<&str> = command.argv.iter().map(String::as_str).collect();
        match argv.as_slice() {
            ["uname", "-s"] => failed(127, "there is no such program"),
            ["cmd.exe", "/c", "ver"] => said("\r\nMicrosoft Windows [Version 10.0.26100.2314]\r\n"),
            ["powercfg", "/list"] => {
                let scheme = self.with(|machine| machine.scheme.clone());
                let list = fixture("windows-11-ja/powercfg-list.txt").replace(" *", "");
                let lines = list.lines().map(|line| match line.contains(&scheme) {
                    true => format!("{line} *\r\n"),
                    false => format!("{line}\r\n"),
                });
                said(lines.collect::<String>())
            }
            ["netsh", "interface", "tcp", ..] => {
                said(fixture("windows-11-ja/netsh-tcp-global.txt"))
            }
            ["netsh", "interface", "ipv4", ..] => {
                said(fixture("windows-11-ja/netsh-ipv4-interfaces.txt"))
            }
            [
                "powershell.exe",
                "-NoProfile",
                "-NonInteractive",
                "-Command",
                script,
            ] => self.with(|machine| script_says(machine, script)),
            other => panic!("not in the model: {other:?}"),
        }
    }
}

fn script_says(machine: &mut Machine, script: &str) -> Output {
    if script.contains("MachineGuid") {
        return said("6f8b5a4e-0c1d-4e2f-9a3b-1c2d3e4f5a6b\r\n");
    }
    if script.contains("LastBootUpTime") {
        return said("2026-11-21T08:00Z\r\n");
    }
    if script.starts_with("ConvertTo-Json") {
        let gone = ["NetTCPSetting", "NetOffloadGlobalSetting", "NetIPInterface"];
        if !machine.has_cmdlets && gone.iter().any(|noun| script.contains(noun)) {
            return failed(127, "The term is not recognized");
        }
        return said(format!("{}\r\n", json!(machine.rows(script))));
    }
    machine.set(script);
    said("")
}
