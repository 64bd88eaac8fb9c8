//! What can be set on a host, and how. Pure: commands are built and their outputs understood here,
//! [`crate::exec`] runs them.

use std::collections::BTreeMap;

use record::{System, Target, Value};

use crate::exec::{Command, Output, Privilege, STATUS_NO_PROGRAM};
use crate::tool::ethtool::{self, Feature, Role};
use crate::tool::{ip, is_usable_nic_name};

/// Smallest MTU with which IPv6 works (RFC 8200, section 5); below it Linux deletes all addresses
/// and does not bring them back.
const IPV6_MTU_MIN: u32 = 1280;
/// Smallest MTU of IPv4 (RFC 791), for drivers that set no limit.
const IPV4_MTU_MIN: u32 = 68;
/// Longest IP packet, for drivers that set no limit.
const IP_PACKET_BYTES_MAX: u32 = 65_535;
/// Kinds of links that live on another one and can have no larger MTU than it.
const KINDS_ON_A_LINK: [&str; 5] = ["vlan", "macvlan", "macvtap", "ipvlan", "ipvtap"];

/// What a knob belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TargetKind {
    /// The host as a whole.
    Host,
    /// One network interface.
    Nic,
}

/// What setting a knob disturbs; the later, the worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Disturbance {
    /// Nothing: it acts at once.
    Nothing,
    /// Nothing, but only new connections see it.
    NewConnections,
    /// Sessions that are open end.
    Session,
    /// The link may go down for a moment, and every connection over it stalls.
    LinkReset,
}

/// A bound with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The last value that is allowed.
    pub value: i64,
    /// Why, to follow a `because`.
    pub because: String,
}

/// The values a knob takes on a host now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// On and off.
    Switch,
    /// Whole numbers between two limits.
    Range {
        /// The smallest.
        min: Limit,
        /// The largest.
        max: Limit,
    },
    /// One of these words.
    Words(Vec<String>),
    /// What the knob itself has read before.
    AsRead,
}

impl Allowed {
    /// What somebody typed, as a value of this kind. Whether it is allowed is another question.
    #[must_use]
    pub fn value_of(&self, typed: &str) -> Value {
        let word = || Value::Text(typed.to_owned());
        match (self, typed) {
            (Self::Switch, "on" | "yes" | "true" | "1") => Value::Switch(true),
            (Self::Switch, "off" | "no" | "false" | "0") => Value::Switch(false),
            (Self::Range { .. }, typed) => typed.parse().map_or_else(|_| word(), Value::Integer),
            _ => word(),
        }
    }
}

/// How a knob stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Its value.
    pub value: Value,
    /// The values it takes.
    pub allowed: Allowed,
    /// Why it cannot be changed at all, where it cannot.
    pub fixed_because: Option<String>,
    features: Vec<Feature>,
}

/// One command of a plan, with the one that takes it back. The latter names values, not
/// differences, and does no harm when the former never ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Makes the change.
    pub run: Command,
    /// Takes it back.
    pub undo: Command,
    /// What either disturbs.
    pub disturbs: Disturbance,
}

/// Why a knob cannot be read or set as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The reason.
    pub reason: String,
    /// What to do instead, where we know it.
    pub hint: Option<String>,
    /// Whether that is so because the target is not there.
    pub target_is_missing: bool,
}

impl Refusal {
    fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            hint: None,
            target_is_missing: false,
        }
    }

    fn no_interface(nic: &str) -> Self {
        let target_is_missing = true;
        Self {
            target_is_missing,
            ..Self::new(format!("there is no interface `{nic}`"))
        }
    }

    pub(crate) fn none_such() -> Self {
        Self::new("the host has no such knob there")
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// One entry of the catalogue.
#[derive(Debug)]
pub struct Knob {
    /// Its id: `nic.mtu`.
    pub id: &'static str,
    /// The system it is for.
    pub system: System,
    /// A name of a few words.
    pub title: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// The unit of its value, where it has one.
    pub unit: Option<&'static str>,
    /// Which values there are in general; [`State::allowed`] says which are allowed now.
    pub values: &'static str,
    /// What it belongs to.
    pub on: TargetKind,
    /// What setting it disturbs.
    pub disturbs: Disturbance,
    /// Whose rights setting it needs.
    pub needs: Privilege,
    /// Whether a value that we set is still there after a restart.
    pub survives_reboot: bool,
    /// What it is where nobody set it.
    pub default: &'static str,
    /// What to set it to, in a sentence.
    pub rule_of_thumb: &'static str,
    /// Where that is known from.
    pub source: &'static str,
    /// Only read and put back, never set by people.
    pub only_in_snapshots: bool,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// `ip link set mtu`.
    IpMtu,
    /// One row of `ethtool -k`, by its short name.
    EthtoolFeature {
        short: &'static str,
        row: &'static str,
        requires: &'static [&'static str],
    },
    /// All rows of `ethtool -k` that can be changed.
    EthtoolFeatures,
    /// A word in `/proc/sys`, with the key that lists the choices.
    Sysctl {
        key: &'static str,
        choices: &'static str,
    },
}

/// The catalogue.
pub const KNOBS: &[Knob] = &[
    Knob {
        id: "nic.mtu",
        title: "MTU",
        meaning: "largest IP packet that the interface sends; headers of Ethernet do not count",
        unit: Some("bytes"),
        values: "68 to what the driver takes, often 9000; 1280 at least where IPv6 is in use",
        disturbs: Disturbance::LinkReset,
        default: "1500",
        rule_of_thumb: "9000 when every device of the segment agrees, otherwise 1500",
        source: "94.15 % of the line rate is payload at 1500, 99.00 % at 9000; RFC 8200 section 5 for the minimum",
        ..ip_mtu()
    },
    Knob {
        id: "nic.tso",
        title: "TCP segmentation offload",
        meaning: "the NIC cuts packets of up to 64 KiB into frames, so that the processor need not",
        default: "on",
        rule_of_thumb: "on; off only where the driver corrupts or stalls",
        source: "without it 812 744 frames a second at 10 Gbit/s and MTU 1500 go through the processor",
        ..ethtool_feature(
            "tso",
            "tcp-segmentation-offload",
            &["tx-checksumming", "scatter-gather"],
        )
    },
    Knob {
        id: "nic.gso",
        title: "generic segmentation offload",
        meaning: "packets are cut into frames as late as possible, in software where the NIC cannot",
        default: "on",
        rule_of_thumb: "on",
        source: "kernel documentation, `Documentation/networking/segmentation-offloads.rst`",
        ..ethtool_feature("gso", "generic-segmentation-offload", &["scatter-gather"])
    },
    Knob {
        id: "nic.gro",
        title: "generic receive offload",
        meaning: "received frames of one connection are joined before the protocol stack sees them",
        default: "on, off on a `veth`",
        rule_of_thumb: "on, for hosts and routers alike",
        source: "kernel documentation, `Documentation/networking/segmentation-offloads.rst`",
        ..ethtool_feature("gro", "generic-receive-offload", &[])
    },
    Knob {
        id: "nic.features",
        title: "all offloads",
        meaning: "every offload of the NIC that can be changed, because one can take another with it",
        values: "what was read before",
        default: "the driver's choice",
        rule_of_thumb: "put back as it was",
        source: "`tx off` takes `tso` with it; seen with ethtool 6.1 on Linux 6.18",
        only_in_snapshots: true,
        kind: Kind::EthtoolFeatures,
        ..ethtool_feature("", "", &[])
    },
    Knob {
        id: "tcp.congestion_control",
        title: "congestion control",
        meaning: "how fast a new TCP connection sends, and what it takes for a sign of congestion",
        values: "the modules that are loaded, `net.ipv4.tcp_available_congestion_control`",
        disturbs: Disturbance::NewConnections,
        default: "cubic",
        rule_of_thumb: "cubic on a LAN; dctcp only where every switch marks",
        source: "RFC 9438; RFC 8257 for dctcp",
        ..sysctl(
            "net.ipv4.tcp_congestion_control",
            "net.ipv4.tcp_available_congestion_control",
        )
    },
];

const fn linux(on: TargetKind, kind: Kind) -> Knob {
    Knob {
        id: "",
        system: System::Linux,
        title: "",
        meaning: "",
        unit: None,
        values: "",
        on,
        disturbs: Disturbance::Nothing,
        needs: Privilege::Root,
        survives_reboot: false,
        default: "",
        rule_of_thumb: "",
        source: "",
        only_in_snapshots: false,
        kind,
    }
}

const fn ip_mtu() -> Knob {
    linux(TargetKind::Nic, Kind::IpMtu)
}

const fn ethtool_feature(
    short: &'static str,
    row: &'static str,
    requires: &'static [&'static str],
) -> Knob {
    let knob = linux(
        TargetKind::Nic,
        Kind::EthtoolFeature {
            short,
            row,
            requires,
        },
    );
    Knob {
        values: "on, off",
        ..knob
    }
}

const fn sysctl(key: &'static str, choices: &'static str) -> Knob {
    linux(TargetKind::Host, Kind::Sysctl { key, choices })
}

/// The knob of this id on this system.
#[must_use]
pub fn find(system: System, id: &str) -> Option<&'static Knob> {
    KNOBS
        .iter()
        .find(|knob| knob.system == system && knob.id == id)
}

/// All knobs of one part of a host with this system.
pub fn of_target(system: System, target: &Target) -> impl Iterator<Item = &'static Knob> {
    let on = match target {
        Target::Host => TargetKind::Host,
        Target::Nic(_) => TargetKind::Nic,
    };
    KNOBS
        .iter()
        .filter(move |knob| knob.system == system && knob.on == on)
}

impl Knob {
    /// The commands that read it.
    ///
    /// # Errors
    /// When the target is none for this knob.
    pub fn read(&self, target: &Target) -> Result<Vec<Command>, Refusal> {
        Ok(match (&self.kind, self.nic(target)?) {
            (Kind::IpMtu, _) => vec![Command::new(["ip", "-j", "-d", "addr", "show"])],
            (Kind::EthtoolFeature { .. } | Kind::EthtoolFeatures, nic) => {
                vec![Command::new(["ethtool", "-k", nic])]
            }
            (Kind::Sysctl { key, choices }, _) => {
                vec![
                    Command::new(["sysctl", "-n", key]),
                    Command::new(["sysctl", "-n", choices]),
                ]
            }
        })
    }

    /// Understands the outputs of [`Knob::read`]'s commands.
    ///
    /// # Errors
    /// When the host has no such knob.
    pub fn parse(&self, target: &Target, outputs: &[Output]) -> Result<State, Refusal> {
        let nic = self.nic(target)?;
        let missing = || Refusal::new("the host did not answer");
        let first = outputs.first().ok_or_else(missing)?;
        match &self.kind {
            Kind::IpMtu => parse_mtu(nic, &answer(first, "iproute2")?),
            Kind::EthtoolFeature { row, .. } => parse_feature(row, &answer(first, "ethtool")?),
            Kind::EthtoolFeatures => parse_features(&answer(first, "ethtool")?),
            Kind::Sysctl { .. } => {
                let choices = outputs.get(1).ok_or_else(missing)?;
                parse_sysctl(&answer(first, "procps")?, &answer(choices, "procps")?)
            }
        }
    }

    /// The steps that set it to a value; none where it has that value.
    ///
    /// # Errors
    /// When it cannot or must not be set so.
    pub fn plan(&self, target: &Target, state: &State, to: &Value) -> Result<Vec<Step>, Refusal> {
        let nic = self.nic(target)?;
        if state.value == *to {
            return Ok(Vec::new());
        }
        if let Some(reason) = &state.fixed_because {
            return Err(Refusal::new(reason.clone()));
        }
        check_allowed(&state.allowed, to)?;
        let (run, undo) = match (&self.kind, to) {
            (Kind::IpMtu, _) => {
                let set = |value: &Value| {
                    let value = value.to_string();
                    ["ip", "link", "set", "dev", nic, "mtu", &value]
                        .map(str::to_owned)
                        .to_vec()
                };
                (set(to), set(&state.value))
            }
            (
                Kind::EthtoolFeature {
                    short,
                    row,
                    requires,
                },
                Value::Switch(on),
            ) => {
                if *on {
                    check_required(&state.features, requires)?;
                }
                let run = ["ethtool", "-K", nic, short, on_or_off(*on)]
                    .map(str::to_owned)
                    .to_vec();
                (run, set_features(nic, members(&state.features, row)))
            }
            (Kind::EthtoolFeatures, Value::Text(text)) => plan_features(nic, state, text)?,
            (Kind::Sysctl { key, .. }, _) => {
                let set =
                    |value: &Value| vec!["sysctl".into(), "-w".into(), format!("{key}={value}")];
                (set(to), set(&state.value))
            }
            (Kind::EthtoolFeature { .. } | Kind::EthtoolFeatures, _) => {
                return Err(Refusal::new(format!("it takes {}", self.values)));
            }
        };
        let command = |argv: Vec<String>| Command {
            privilege: self.needs,
            ..Command::new(argv)
        };
        Ok(vec![Step {
            run: command(run),
            undo: command(undo),
            disturbs: self.disturbs,
        }])
    }

    /// The value to put back: ours is what the change moved, and only that. Without the value with
    /// the change, everything that differs is taken for ours.
    pub(crate) fn merge(&self, before: &Value, after: Option<&Value>, found: &Value) -> Value {
        match (&self.kind, before, found) {
            (Kind::EthtoolFeatures, Value::Text(before), Value::Text(found)) => {
                let after = after.and_then(|after| match after {
                    Value::Text(text) => Some(text.as_str()),
                    _ => None,
                });
                Value::Text(merge_features(before, after, found))
            }
            _ if after.is_none_or(|after| after == found) => before.clone(),
            _ => found.clone(),
        }
    }

    /// The target's name, empty for the host, when the target fits.
    fn nic<'a>(&self, target: &'a Target) -> Result<&'a str, Refusal> {
        match (self.on, target) {
            (TargetKind::Host, Target::Host) => Ok(""),
            (TargetKind::Nic, Target::Nic(name)) if is_usable_nic_name(name) => Ok(name),
            (TargetKind::Nic, Target::Nic(_)) => {
                Err(Refusal::new("tools would misread the interface's name")
                    .hint("give it another name with `ip link set dev NAME name NEW`"))
            }
            (TargetKind::Host, Target::Nic(_)) => {
                Err(Refusal::new("it belongs to the host, not to an interface"))
            }
            (TargetKind::Nic, Target::Host) => {
                Err(Refusal::new("it belongs to an interface, not to the host"))
            }
        }
    }
}

/// The standard output of a command that ended well.
fn answer(output: &Output, package: &str) -> Result<String, Refusal> {
    if output.status == STATUS_NO_PROGRAM {
        return Err(Refusal::new(format!("`{package}` is not installed there"))
            .hint(format!("install `{package}` on that host")));
    }
    output.text().ok_or_else(|| {
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("no device matches name") || said.contains("No such device") {
            return Refusal {
                target_is_missing: true,
                ..Refusal::new("there is no such interface")
            };
        }
        Refusal::new(said.trim().chars().take(200).collect::<String>())
    })
}

fn check_allowed(allowed: &Allowed, to: &Value) -> Result<(), Refusal> {
    match (allowed, to) {
        (Allowed::Switch, Value::Switch(_)) | (Allowed::AsRead, Value::Text(_)) => Ok(()),
        (Allowed::Switch, _) => Err(Refusal::new("it takes `on` and `off`")),
        (Allowed::AsRead, _) => Err(Refusal::new("it is only put back")),
        (Allowed::Range { min, max }, Value::Integer(number)) => {
            let broken = [
                (*number < min.value, min, "least"),
                (*number > max.value, max, "most"),
            ];
            match broken.into_iter().find(|(broken, ..)| *broken) {
                None => Ok(()),
                Some((_, limit, which)) => Err(Refusal::new(format!(
                    "it takes {} at {which}, because {}",
                    limit.value, limit.because
                ))),
            }
        }
        (Allowed::Range { .. }, _) => Err(Refusal::new("it takes a whole number")),
        (Allowed::Words(words), Value::Text(word)) if words.contains(word) => Ok(()),
        (Allowed::Words(words), _) => Err(Refusal::new(format!(
            "it takes one of `{}`",
            words.join("`, `")
        ))),
    }
}

fn parse_mtu(nic: &str, text: &str) -> Result<State, Refusal> {
    let links = ip::links(text.as_bytes());
    let links = links.ok_or_else(|| Refusal::new("cannot understand what `ip` printed"))?;
    let link = links.iter().find(|link| link.name == nic);
    let link = link.ok_or_else(|| Refusal::no_interface(nic))?;
    Ok(State {
        value: Value::Integer(link.mtu.into()),
        allowed: Allowed::Range {
            min: mtu_min(link, &links),
            max: mtu_max(link, &links),
        },
        fixed_because: None,
        features: Vec::new(),
    })
}

fn mtu_min(link: &ip::Link, links: &[ip::Link]) -> Limit {
    let driver = link.mtu_min.unwrap_or(0).max(IPV4_MTU_MIN);
    let mut min = Limit {
        value: driver.into(),
        because: "the driver takes no less".into(),
    };
    if link.addresses.iter().any(|entry| entry.address.is_ipv6()) && driver < IPV6_MTU_MIN {
        let because = "Linux deletes the interface's IPv6 addresses below that".into();
        min = Limit {
            value: IPV6_MTU_MIN.into(),
            because,
        };
    }
    let above = links.iter().filter(|other| lies_on(other, &link.name));
    if let Some(largest) = above.max_by_key(|other| other.mtu)
        && i64::from(largest.mtu) > min.value
    {
        let because = format!(
            "`{}` lies on it and would be cut to it for good",
            largest.name
        );
        min = Limit {
            value: largest.mtu.into(),
            because,
        };
    }
    min
}

fn mtu_max(link: &ip::Link, links: &[ip::Link]) -> Limit {
    let max = match link.mtu_max {
        Some(mtu) => Limit {
            value: mtu.into(),
            because: "the driver takes no more".into(),
        },
        None => {
            let because = "no IP packet is longer".into();
            Limit {
                value: IP_PACKET_BYTES_MAX.into(),
                because,
            }
        }
    };
    let below = links.iter().find(|other| lies_on(link, &other.name));
    match below {
        Some(below) if i64::from(below.mtu) < max.value => {
            let because = format!("that is the MTU of `{}`, on which it lies", below.name);
            Limit {
                value: below.mtu.into(),
                because,
            }
        }
        _ => max,
    }
}

fn lies_on(link: &ip::Link, lower: &str) -> bool {
    let on_a_link = link
        .kind
        .as_deref()
        .is_some_and(|kind| KINDS_ON_A_LINK.contains(&kind));
    on_a_link && link.lower.as_deref() == Some(lower)
}

fn parse_feature(row: &str, text: &str) -> Result<State, Refusal> {
    let features = ethtool::features(text);
    let feature = features.iter().find(|feature| feature.name == row);
    let feature = feature.ok_or_else(|| Refusal::new(format!("the driver has no `{row}`")))?;
    let fixed = feature
        .fixed
        .then(|| "the driver does not let it be changed".to_owned());
    Ok(State {
        value: Value::Switch(feature.on),
        allowed: Allowed::Switch,
        fixed_because: fixed,
        features,
    })
}

fn on_or_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn check_required(features: &[Feature], requires: &[&str]) -> Result<(), Refusal> {
    let off = |name: &&&str| {
        features
            .iter()
            .any(|feature| feature.name == **name && !feature.on)
    };
    match requires.iter().find(off) {
        None => Ok(()),
        Some(name) => Err(Refusal::new(format!("it needs `{name}`, which is off"))
            .hint(format!("turn `{name}` on first"))),
    }
}

/// The rows that a short name stands for and that can be changed.
fn members<'a>(features: &'a [Feature], row: &'a str) -> impl Iterator<Item = &'a Feature> {
    features.iter().filter(move |feature| {
        let own = match &feature.role {
            Role::Single => feature.name == row,
            Role::Member(group) => group == row,
            Role::Group => false,
        };
        own && !feature.fixed
    })
}

/// One command for all, because the driver then sees them together, whatever depends on what.
fn set_features<'a>(nic: &str, features: impl Iterator<Item = &'a Feature>) -> Vec<String> {
    let mut argv = ["ethtool", "-K", nic].map(str::to_owned).to_vec();
    for feature in features {
        argv.push(feature.name.clone());
        argv.push(on_or_off(feature.requested).to_owned());
    }
    argv
}

fn parse_features(text: &str) -> Result<State, Refusal> {
    let features = ethtool::features(text);
    if features.is_empty() {
        return Err(Refusal::new("the driver has no offloads"));
    }
    let changeable = features.iter().filter(|feature| is_changeable(feature));
    let words: Vec<String> = changeable.map(feature_word).collect();
    Ok(State {
        value: Value::Text(words.join(" ")),
        allowed: Allowed::AsRead,
        fixed_because: None,
        features,
    })
}

fn is_changeable(feature: &Feature) -> bool {
    !feature.fixed && feature.role != Role::Group
}

/// `tx-udp-segmentation:off/on` is off although it was asked to be on.
fn feature_word(feature: &Feature) -> String {
    let is = on_or_off(feature.on);
    let requested = on_or_off(feature.requested);
    let name = &feature.name;
    if is == requested {
        format!("{name}:{is}")
    } else {
        format!("{name}:{is}/{requested}")
    }
}

/// Sets what differs from `to` and can still be changed.
fn plan_features(
    nic: &str,
    state: &State,
    to: &str,
) -> Result<(Vec<String>, Vec<String>), Refusal> {
    let wanted: BTreeMap<&str, &str> = to
        .split_whitespace()
        .filter_map(|word| word.split_once(':'))
        .collect();
    let mut before = Vec::new();
    let mut after = Vec::new();
    for feature in state
        .features
        .iter()
        .filter(|feature| is_changeable(feature))
    {
        let Some(word) = wanted.get(feature.name.as_str()) else {
            continue;
        };
        if feature_word(feature) == format!("{}:{word}", feature.name) {
            continue;
        }
        let requested = word.rsplit('/').next() == Some("on");
        before.push(feature.clone());
        after.push(Feature {
            requested,
            ..feature.clone()
        });
    }
    if after.is_empty() {
        return Err(Refusal::new("the driver's offloads are not those it had"));
    }
    Ok((
        set_features(nic, after.iter()),
        set_features(nic, before.iter()),
    ))
}

/// What is really on or off decides whose doing it is: what was asked for changes on the way back.
fn merge_features(before: &str, after: Option<&str>, found: &str) -> String {
    let words = |text| -> BTreeMap<&str, &str> {
        str::split_whitespace(text)
            .filter_map(|word| word.split_once(':'))
            .collect()
    };
    let really = |state: &str| state.starts_with("on");
    let (before, after) = (words(before), after.map(words));
    let merged = found.split_whitespace().map(|word| {
        let Some((name, state)) = word.split_once(':') else {
            return word.to_owned();
        };
        let ours = after.as_ref().is_none_or(|after| {
            after
                .get(name)
                .is_some_and(|after| really(after) == really(state))
        });
        let back = before.get(name).filter(|_| ours).unwrap_or(&state);
        format!("{name}:{back}")
    });
    merged.collect::<Vec<_>>().join(" ")
}

fn parse_sysctl(value: &str, choices: &str) -> Result<State, Refusal> {
    let value = value.trim();
    if value.is_empty() {
        return Err(Refusal::new("the kernel gives no value"));
    }
    let choices = choices
        .split_whitespace()
        .filter(|word| !word.starts_with('-'));
    Ok(State {
        value: Value::Text(value.to_owned()),
        allowed: Allowed::Words(choices.map(str::to_owned).collect()),
        fixed_because: None,
        features: Vec::new(),
    })
}
