//! What there is to an adapter: properties of its driver, and of the protocol stack above it.

use locale::{Message, say};
use record::Value;

use super::super::{Allowed, Limit, Refusal, Seen as AnySeen, State, range, words};
use super::driver_property::{
    HEADER_BYTES, NUMBERS, Property, Row, find_row, length_for, longest, numbers, without,
};
use super::{answer, enabled, is_called, known_word, object, objects, said, unreadable};
use crate::exec::shell::powershell_literal;
use crate::exec::{Command, Output};
use crate::tool_output::windows::{self, Object};

/// Smallest MTU of Windows, and the smallest with which IPv6 works.
const IPV4_MTU_MIN: i64 = 576;
const IPV6_MTU_MIN: i64 = 1280;
/// Largest metric of an interface.
const METRIC_MAX: i64 = 9999;
/// What a switch of which only the half for one version of IP is on is called.
const HALVES: [&str; 2] = ["ipv4", "ipv6"];
/// The keyword of the longest frame, and what drivers with another one call it.
const JUMBO: (&[&str], &[&str]) = (
    &["*JumboPacket"],
    &[
        "Jumbo Packet",
        "Jumbo Frame",
        "ジャンボ パケット",
        "ジャンボ フレーム",
    ],
);
/// The same of the number of queues.
const QUEUES: (&[&str], &[&str]) = (
    &["*NumRssQueues"],
    &["Maximum Number of RSS Queues", "RSS キューの最大数"],
);

/// What there is to an adapter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Adapter {
    /// The longest frame of the driver and the longest packet of the protocol stack.
    Mtu,
    /// A property of the driver.
    Property(Property),
    /// A bit of two properties of the driver, for IPv4 and for IPv6.
    Pair {
        keywords: [&'static str; 2],
        bit: i64,
    },
    /// The speed of the link.
    Speed,
    /// Queues that receive, of `Get-NetAdapterRss`.
    Queues,
    /// A switch of `Get-NetAdapterPowerManagement`.
    Power(&'static str),
    /// How eager the system is to use the interface.
    Metric,
    /// Whether the network counts as private.
    Profile,
    /// What the SMB client thinks of the interface.
    SmbRss,
}

/// What was read along the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The property that it is.
    Row(Row),
    /// Whether the bit is set, of those properties of the two that there are.
    Pair([Option<bool>; 2]),
    /// The length in the driver, and the MTUs of IPv4 and IPv6.
    Mtu {
        jumbo: Option<Row>,
        stack: [Option<i64>; 2],
    },
}

/// The objects of a cmdlet that belong to an adapter. A name with letters of a pattern in it is
/// looked for among all.
fn of_nic(cmdlet: &str, key: &str, nic: &str) -> String {
    let is_pattern = nic.contains(['*', '?', '[', ']', '`']);
    let name = if is_pattern || key != "Name" {
        String::new()
    } else {
        format!(" -Name {}", powershell_literal(nic))
    };
    let own = is_called(key, nic);
    format!("{cmdlet}{name} -ErrorAction SilentlyContinue | Where-Object {{ {own} }}")
}

fn adapter_of(nic: &str) -> Command {
    let own = of_nic("Get-NetAdapter", "Name", nic);
    windows::list(&format!(
        "{own} | Select-Object Name, MtuSize, TransmitLinkSpeed"
    ))
}

fn properties_of(nic: &str) -> Command {
    let own = of_nic("Get-NetAdapterAdvancedProperty -AllProperties", "Name", nic);
    windows::list(&format!(
        "{own} | Select-Object DisplayName, RegistryKeyword, RegistryValue, ValidRegistryValues, \
         DefaultRegistryValue, NumericParameterMinValue, NumericParameterMaxValue, \
         NumericParameterStepValue"
    ))
}

fn interfaces_of(nic: &str) -> Command {
    let own = of_nic("Get-NetIPInterface", "InterfaceAlias", nic);
    let select = windows::properties(
        &["NlMtu", "InterfaceMetric"],
        &["AddressFamily", "AutomaticMetric"],
    );
    windows::list(&format!("{own} | Select-Object {select}"))
}

fn netsh_interfaces() -> Command {
    Command::new(["netsh", "interface", "ipv4", "show", "interfaces"])
}

impl Adapter {
    /// The adapter itself comes first.
    pub(super) fn read(&self, nic: &str) -> Vec<Command> {
        let more = match self {
            Self::Mtu => vec![interfaces_of(nic), properties_of(nic), netsh_interfaces()],
            Self::Property(_) => vec![properties_of(nic)],
            Self::Pair { .. } => vec![properties_of(nic), resting_of(nic)],
            Self::Speed => Vec::new(),
            Self::Queues => {
                let own = of_nic("Get-NetAdapterRss", "Name", nic);
                let rss = format!("{own} | Select-Object NumberOfReceiveQueues, MaxProcessors");
                vec![windows::list(&rss), properties_of(nic)]
            }
            Self::Power(_) => {
                let own = of_nic("Get-NetAdapterPowerManagement", "Name", nic);
                let names = ["SelectiveSuspend", "DeviceSleepOnDisconnect"];
                let select = windows::properties(&[], &names);
                vec![windows::list(&format!("{own} | Select-Object {select}"))]
            }
            Self::Metric => vec![interfaces_of(nic)],
            Self::Profile => {
                let own = of_nic("Get-NetConnectionProfile", "InterfaceAlias", nic);
                let select = windows::properties(&[], &["NetworkCategory"]);
                vec![windows::list(&format!("{own} | Select-Object {select}"))]
            }
            Self::SmbRss => {
                let own = of_nic("Get-SmbClientNetworkInterface", "FriendlyName", nic);
                vec![windows::list(&format!(
                    "{own} | Select-Object RssCapable, RdmaCapable"
                ))]
            }
        };
        std::iter::once(adapter_of(nic)).chain(more).collect()
    }

    /// Prints its value and nothing else. A driver with a keyword of its own tells nothing here.
    pub(super) fn print_value(&self, nic: &str) -> Option<Command> {
        let each = |cmdlet: &str, key: &str, what: &str| {
            let own = of_nic(cmdlet, key, nic);
            format!("{own} | ForEach-Object {{ {what} }}")
        };
        let properties = |keywords: &[&str], what: &str| {
            let own = of_nic("Get-NetAdapterAdvancedProperty -AllProperties", "Name", nic);
            let names: Vec<String> = keywords
                .iter()
                .map(|name| powershell_literal(name))
                .collect();
            let names = names.join(", ");
            format!(
                "{own} | Where-Object {{ {names} -ccontains $_.RegistryKeyword }} | \
                 ForEach-Object {{ {what} }}"
            )
        };
        let value = "[string]$_.RegistryValue";
        let script = match self {
            Self::Mtu => {
                let stack = each("Get-NetIPInterface", "InterfaceAlias", "$_.NlMtu");
                format!("{}; {stack}", properties(JUMBO.0, value))
            }
            Self::Property(property) => properties(property.keywords, value),
            Self::Pair { keywords, bit } => properties(
                keywords,
                &format!("[int][string]$_.RegistryValue -band {bit}"),
            ),
            Self::Queues => each("Get-NetAdapterRss", "Name", "$_.NumberOfReceiveQueues"),
            Self::Power(property) => {
                let what = format!("[string]$_.{property}");
                each("Get-NetAdapterPowerManagement", "Name", &what)
            }
            Self::Metric => {
                let what = "[string]$_.AutomaticMetric; if ([string]$_.AutomaticMetric -cne \
                            'Enabled') { $_.InterfaceMetric }";
                each("Get-NetIPInterface", "InterfaceAlias", what)
            }
            Self::Profile => {
                let what = "[string]$_.NetworkCategory";
                each("Get-NetConnectionProfile", "InterfaceAlias", what)
            }
            Self::Speed | Self::SmbRss => return None,
        };
        Some(windows::script(script))
    }

    pub(super) fn parse(&self, nic: &str, outputs: &[Output]) -> Result<State, Refusal> {
        let adapter = objects(outputs, 0)?.into_iter().next();
        let adapter = adapter.ok_or_else(|| Refusal::no_interface(nic))?;
        match self {
            Self::Mtu => parse_mtu(nic, &adapter, outputs),
            Self::Property(property) => parse_property(property, outputs),
            Self::Pair { keywords, bit } => parse_pair(keywords, *bit, outputs),
            Self::Speed => {
                let bits = adapter.number("TransmitLinkSpeed").filter(|&bits| bits > 0);
                let missing = || Refusal::new(say("error-windows.no-speed"));
                let megabits = bits.ok_or_else(missing)? / 1_000_000;
                let state = State::new(Value::Integer(megabits), words(&[]));
                Ok(state.fixed_if(Some(say("knob-fixed.link-speed"))))
            }
            Self::Queues => parse_queues(outputs),
            Self::Power(property) => {
                let power = object(outputs, 1, say("error-knob.driver-unaware"))?;
                let on = power.switch(property);
                let on = on.ok_or_else(|| Refusal::new(say("error-knob.driver-unaware")))?;
                Ok(State::new(Value::Switch(on), Allowed::Switch))
            }
            Self::Metric => parse_metric(outputs),
            Self::Profile => {
                let profile = object(outputs, 1, say("error-windows.no-network"))?;
                let category = profile.text("NetworkCategory").ok_or_else(unreadable)?;
                let known = ["public", "private", "domain"];
                let category = match category.as_str() {
                    "DomainAuthenticated" => "domain".to_owned(),
                    other => known_word(&known, other),
                };
                let because = (category == "domain").then_some(say("knob-fixed.domain"));
                let allowed = words(&["public", "private"]);
                Ok(State::new(Value::Text(category), allowed).fixed_if(because))
            }
            Self::SmbRss => {
                let interface = object(outputs, 1, say("error-windows.smb-unused"))?;
                let rss = interface.switch("RssCapable").ok_or_else(unreadable)?;
                let rdma = interface.switch("RdmaCapable") == Some(true);
                let state = State::new(Value::Switch(rss), Allowed::Switch)
                    .fixed_if(Some(say("knob-fixed.follows")));
                let remark = rdma.then_some(say("knob-remark.rdma"));
                Ok(State { remark, ..state })
            }
        }
    }

    pub(super) fn set(&self, nic: &str, state: &State, to: &Value) -> Result<Command, Refusal> {
        let AnySeen::Windows(seen) = &state.seen else {
            return self.set_by_cmdlet(nic, to);
        };
        match (self, seen, to) {
            (Self::Property(property), Seen::Row(row), _) => {
                let value = property.codes.code(row, to)?;
                Ok(windows::script(set_property(nic, &row.keyword, &value)))
            }
            (Self::Pair { keywords, bit }, Seen::Pair(now), _) => {
                let wanted = halves(to).ok_or_else(Refusal::none_such)?;
                let all = keywords.iter().zip(now).zip(wanted);
                let there = all.filter(|((_, now), _)| now.is_some());
                let scripts = there.map(|((keyword, _), on)| set_bit(nic, keyword, *bit, on));
                Ok(windows::script(scripts.collect::<Vec<_>>().join("; ")))
            }
            _ => Err(Refusal::none_such()),
        }
    }

    fn set_by_cmdlet(&self, nic: &str, to: &Value) -> Result<Command, Refusal> {
        let adapter = |noun: &str, what: String| {
            let own = of_nic(&format!("Get-NetAdapter{noun}"), "Name", nic);
            pipe(&own, &format!("Set-NetAdapter{noun} {what}"))
        };
        let script = match (self, to) {
            (Self::Queues, Value::Integer(count)) => adapter(
                "Rss",
                format!("-NumberOfReceiveQueues {count} -Confirm:$false"),
            ),
            (Self::Power(property), Value::Switch(on)) => {
                adapter("PowerManagement", format!("-{property} {}", enabled(*on)))
            }
            (Self::Metric, _) => {
                let what = match to {
                    Value::Integer(metric) => {
                        format!("-AutomaticMetric Disabled -InterfaceMetric {metric}")
                    }
                    _ => "-AutomaticMetric Enabled".to_owned(),
                };
                pipe(
                    &interface_of(nic, "IPv4"),
                    &format!("Set-NetIPInterface {what}"),
                )
            }
            (Self::Profile, Value::Text(category)) => {
                let own = of_nic("Get-NetConnectionProfile", "InterfaceAlias", nic);
                let category = powershell_literal(category);
                pipe(
                    &own,
                    &format!("Set-NetConnectionProfile -NetworkCategory {category}"),
                )
            }
            _ => return Err(Refusal::none_such()),
        };
        Ok(windows::script(script))
    }
}

/// Why what is asked of a driver is not at work.
fn resting_of(nic: &str) -> Command {
    let own = of_nic("Get-NetAdapterRsc", "Name", nic);
    let names = ["IPv4OperationalState", "IPv4FailureReason"];
    let select = windows::properties(&[], &names);
    windows::list(&format!("{own} | Select-Object {select}"))
}

fn interface_of(nic: &str, family: &str) -> String {
    let own = of_nic("Get-NetIPInterface", "InterfaceAlias", nic);
    format!("{own} | Where-Object {{ [string]$_.AddressFamily -ceq '{family}' }}")
}

/// Hands the objects of `from` to another cmdlet. An adapter that was just restarted is not there for
/// a moment.
fn pipe(from: &str, to: &str) -> String {
    format!("{}; $found | {to}", find(from))
}

fn find(from: &str) -> String {
    format!(
        "for ($try = 0; $try -lt 40; $try++) {{ $found = @({from}); if ($found) {{ break }}; \
         Start-Sleep -Milliseconds 250 }}; if (-not $found) {{ throw 'there is no such interface' }}"
    )
}

fn find_property(nic: &str, keyword: &str) -> String {
    let own = of_nic("Get-NetAdapterAdvancedProperty -AllProperties", "Name", nic);
    let keyword = is_called("RegistryKeyword", keyword);
    find(&format!("{own} | Where-Object {{ {keyword} }}"))
}

/// What is as it is to be is left alone, because setting it again would restart the adapter again.
fn set_property(nic: &str, keyword: &str, value: &str) -> String {
    let value = powershell_literal(value);
    format!(
        "{}; if ([string]$found[0].RegistryValue -cne {value}) {{ \
         $found[0] | Set-NetAdapterAdvancedProperty -RegistryValue {value} }}",
        find_property(nic, keyword)
    )
}

/// Sets one bit and leaves the others as they are then.
fn set_bit(nic: &str, keyword: &str, bit: i64, on: bool) -> String {
    let bits = if on { bit } else { 0 };
    format!(
        "{}; $now = [int][string]$found[0].RegistryValue; \
         $then = ($now -band (-bnot {bit})) -bor {bits}; if ($now -ne $then) {{ \
         $found[0] | Set-NetAdapterAdvancedProperty -RegistryValue ([string]$then) }}",
        find_property(nic, keyword)
    )
}

fn parse_property(property: &Property, outputs: &[Output]) -> Result<State, Refusal> {
    let row = find_row(property.keywords, property.names, &objects(outputs, 1)?)?;
    let value = property.codes.value(&row)?;
    let allowed = property.codes.allowed(&row, &value);
    let one = matches!(&allowed, Allowed::Range { min, max } if min.value == max.value);
    let because = one.then_some(say("knob-fixed.only-value"));
    let state = State::new(value, allowed).fixed_if(because);
    Ok(state.seen(AnySeen::Windows(Seen::Row(row))))
}

fn parse_pair(
    keywords: &[&'static str; 2],
    bit: i64,
    outputs: &[Output],
) -> Result<State, Refusal> {
    let all = objects(outputs, 1)?;
    let mut now = [None; 2];
    for (now, keyword) in now.iter_mut().zip(keywords) {
        if let Ok(row) = find_row(&[keyword], &[], &all) {
            let number: i64 = row.value.parse().ok().ok_or_else(unreadable)?;
            *now = Some(number & bit != 0);
        }
    }
    let value = match now {
        [None, None] => return Err(without(keywords[0])),
        [Some(true), Some(false)] => Value::Text(HALVES[0].into()),
        [Some(false), Some(true)] => Value::Text(HALVES[1].into()),
        [one, other] => Value::Switch(one.or(other) == Some(true)),
    };
    let allowed = match now {
        [Some(_), Some(_)] => Allowed::SwitchOf(HALVES.map(str::to_owned).into()),
        _ => Allowed::Switch,
    };
    let state = State::new(value, allowed).seen(AnySeen::Windows(Seen::Pair(now)));
    let is_rsc = keywords[0].starts_with("*Rsc");
    let remark = resting(outputs).filter(|_| is_rsc && now.contains(&Some(true)));
    Ok(State { remark, ..state })
}

/// Receive segment coalescing that is on and does nothing: with a driver that captures, for example.
fn resting(outputs: &[Output]) -> Option<Message> {
    let rsc = objects(outputs, 2).ok()?.into_iter().next()?;
    let reason = rsc.text("IPv4FailureReason").unwrap_or_default();
    let rests = rsc.switch("IPv4OperationalState") == Some(false) && reason != "NoFailure";
    rests.then(|| say("knob-remark.resting").with("reason", reason))
}

/// Which halves of a switch are on.
pub(super) fn halves(value: &Value) -> Option<[bool; 2]> {
    match value {
        Value::Switch(on) => Some([*on; 2]),
        Value::Text(half) => {
            let own = HALVES.map(|name| name == half);
            own.contains(&true).then_some(own)
        }
        _ => None,
    }
}

fn parse_queues(outputs: &[Output]) -> Result<State, Refusal> {
    let rss = object(outputs, 1, say("error-windows.no-rss"))?;
    let count = rss
        .number("NumberOfReceiveQueues")
        .filter(|&count| count > 0);
    let count = count.ok_or_else(|| Refusal::new(say("error-windows.queue-count")))?;
    let row = find_row(QUEUES.0, QUEUES.1, &objects(outputs, 2)?).ok();
    let listed = row.as_ref().map(numbers).unwrap_or_default();
    let most = row.and_then(|row| Some(row.limits?[1]));
    let allowed = match (listed.is_empty(), most) {
        (false, _) => Allowed::Numbers(listed),
        (true, most) => range(
            (1, "knob-limit.no-queue"),
            (most.unwrap_or(count), "knob-limit.driver-most"),
        ),
    };
    Ok(State::new(Value::Integer(count), allowed))
}

fn is_of(object: &Object, family: &str) -> bool {
    object.text("AddressFamily").as_deref() == Some(family)
}

fn parse_metric(outputs: &[Output]) -> Result<State, Refusal> {
    let all = objects(outputs, 1)?;
    let own = all.iter().find(|interface| is_of(interface, "IPv4"));
    let own = own.ok_or_else(|| Refusal::new(say("error-windows.no-ipv4")))?;
    let metric = own.number("InterfaceMetric").ok_or_else(unreadable)?;
    let is_automatic = own.switch("AutomaticMetric").ok_or_else(unreadable)?;
    let value = if is_automatic {
        Value::Unset
    } else {
        Value::Integer(metric)
    };
    let allowed = range(
        (1, "knob-limit.metric-zero"),
        (METRIC_MAX, "knob-limit.windows-most"),
    );
    let remark = is_automatic.then(|| say("knob-remark.metric").with("metric", metric.to_string()));
    let state = State::new(value, allowed).unset(Value::Unset);
    Ok(State { remark, ..state })
}

fn parse_mtu(nic: &str, adapter: &Object, outputs: &[Output]) -> Result<State, Refusal> {
    let interfaces = objects(outputs, 1).unwrap_or_default();
    let of_family = |family: &str| {
        let mut own = interfaces
            .iter()
            .filter(|interface| is_of(interface, family));
        own.find_map(|interface| interface.number("NlMtu"))
    };
    let mut stack = ["IPv4", "IPv6"].map(of_family);
    if stack == [None, None] {
        let table = answer(outputs.get(3), "netsh")?;
        stack[0] = windows::netsh_mtu(&table, nic);
    }
    let now = stack.iter().flatten().min().copied();
    let now = now.ok_or_else(|| Refusal::new(say("error-windows.no-ip")))?;
    let properties = said(outputs, 2)
        .ok()
        .and_then(|said| windows::objects(&said));
    let jumbo = find_row(JUMBO.0, JUMBO.1, &properties.unwrap_or_default()).ok();
    // Some drivers list lengths, and some have numbers of their own for them.
    let length = |row: &Row| {
        row.value
            .parse()
            .ok()
            .filter(|length| NUMBERS.contains(length) && *length > IPV4_MTU_MIN)
    };
    let jumbo = jumbo.filter(|row| length(row).is_some());
    let driver = jumbo
        .as_ref()
        .and_then(length)
        .map(|length| length - HEADER_BYTES);
    let longest = jumbo.as_ref().and_then(longest);
    let max = match longest {
        Some(longest) => Limit::new(longest - HEADER_BYTES, say("knob-limit.driver-most")),
        None => {
            let most = adapter.number("MtuSize").unwrap_or(now).max(now);
            Limit::new(most, say("knob-limit.unknown-more"))
        }
    };
    let min = match stack[1] {
        Some(_) => Limit::new(IPV6_MTU_MIN, say("knob-limit.ipv6")),
        None => Limit::new(IPV4_MTU_MIN, say("knob-limit.windows-least")),
    };
    let remark = driver.filter(|&driver| driver < now).map(|driver| {
        let remark = say("knob-remark.mtu").with("now", now.to_string());
        remark.with("driver", driver.to_string())
    });
    let value = Value::Integer(driver.map_or(now, |driver| driver.min(now)));
    let state = State::new(value, Allowed::Range { min, max });
    let state = state.seen(AnySeen::Windows(Seen::Mtu { jumbo, stack }));
    Ok(State { remark, ..state })
}

/// Sets the driver's length and the protocol stack's MTUs, the driver first where it is to take more:
/// at no time may the stack send what the driver does not take.
pub(super) fn set_mtu(
    nic: &str,
    length: Option<(&Row, String)>,
    stack: [Option<i64>; 2],
    up: bool,
) -> Command {
    let driver = length.map(|(jumbo, length)| set_property(nic, &jumbo.keyword, &length));
    let mut scripts: Vec<String> = driver.into_iter().collect();
    for (family, mtu) in ["IPv4", "IPv6"].into_iter().zip(stack) {
        let Some(mtu) = mtu else { continue };
        let found = find(&interface_of(nic, family));
        scripts.push(format!(
            "{found}; if ($found[0].NlMtu -ne {mtu}) {{ \
             $found[0] | Set-NetIPInterface -NlMtuBytes {mtu} }}"
        ));
    }
    if !up {
        scripts.reverse();
    }
    windows::script(scripts.join("; "))
}

impl Adapter {
    /// The command that sets it, and the one that takes that back.
    pub(super) fn plan(
        &self,
        nic: &str,
        state: &State,
        to: &Value,
    ) -> Result<(Command, Command), Refusal> {
        match (self, &state.seen, &state.value, to) {
            (
                Self::Mtu,
                AnySeen::Windows(Seen::Mtu { jumbo, stack }),
                Value::Integer(now),
                Value::Integer(to),
            ) => {
                let length = jumbo.as_ref().map(|jumbo| length_for(jumbo, *to));
                let length = length.transpose()?.map(|length| length.to_string());
                let all = stack.map(|mtu| mtu.map(|_| *to));
                let (jumbo, up) = (jumbo.as_ref(), to > now);
                let run = set_mtu(nic, jumbo.zip(length), all, up);
                // Each gets its own value back, because they may have differed.
                let before = jumbo.map(|jumbo| (jumbo, jumbo.value.clone()));
                Ok((run, set_mtu(nic, before, *stack, !up)))
            }
            _ => Ok((
                self.set(nic, state, to)?,
                self.set(nic, state, &state.value)?,
            )),
        }
    }
}
