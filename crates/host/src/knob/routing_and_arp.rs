//! Knobs that decide which way packets go: filters and answers of an interface, and the route to its
//! own network.

use std::collections::BTreeMap;

use locale::say;
use record::Value;
use serde::Deserialize;

use super::journal_validation::is_script;
use super::safe_argument::is_count;
use super::{
    Allowed, Disturbance, Kind, Knob, KnobBackend, Refusal, Seen, State, TargetKind, answer,
    command, range,
};
use crate::exec::{Command, Output};

/// The table and the priority of our rules, to which the number of the interface is added.
const TABLE: u32 = 18_000;
/// Numbers of interfaces beyond which a table of ours would not be told from others.
const NIC_NUMBER_MAX: u32 = 9_999;

/// Arguments: network, interface, source, metric of now, metric to be. The new route comes first, and
/// nothing is deleted that is not there: `metric 0` would match any.
const METRIC: &str = r#"set -eu
net=$1 nic=$2 source=$3 from=$4 to=$5
set --
ip -4 route show "$net" dev "$nic" proto kernel scope link | grep -q ' quickack 1' && set -- quickack 1 || :
ip -4 route replace "$net" dev "$nic" proto kernel scope link src "$source" metric "$to" "$@"
[ "$from" != "$to" ] || exit 0
if [ "$from" = 0 ]; then
    ip -4 route show "$net" dev "$nic" proto kernel scope link | grep -qv ' metric ' || exit 0
fi
ip -4 route del "$net" dev "$nic" proto kernel scope link metric "$from" 2>/dev/null || :
"#;
/// Arguments: network, interface, source, 1 to acknowledge at once.
const QUICK: &str = r#"metric=$(ip -4 route show "$1" dev "$2" proto kernel scope link |
    sed -n 's/.* metric \([0-9]*\).*/\1/p')
ip -4 route change "$1" dev "$2" proto kernel scope link src "$3" metric "${metric:-0}" quickack "$4"
"#;
/// Arguments: network, interface, source, table. The route comes before the rule that leads to it.
const RULE_ON: &str = r#"set -eu
ip -4 route replace table "$4" "$1" dev "$2" scope link src "$3"
[ -n "$(ip -4 rule show from "$3" table "$4")" ] || ip -4 rule add from "$3" table "$4" priority "$4"
"#;
const RULE_OFF: &str = r#"ip -4 rule del from "$3" table "$4" priority "$4" 2>/dev/null
ip -4 route flush table "$4" 2>/dev/null
[ -z "$(ip -4 rule show from "$3" table "$4")" ]
"#;

/// What belongs to the ways of an interface.
#[derive(Clone, Copy, Debug)]
pub(super) enum Route {
    /// A number below `net.ipv4.conf` of the interface, with its largest.
    Number(&'static str, i64),
    /// A switch there.
    Switch(&'static str),
    /// Whether what comes from its address goes out of it.
    SourceRule,
    /// How far away its own network counts.
    Metric,
    /// Whether acknowledgements to its own network wait for company.
    DelayedAcknowledgements,
}

pub(super) const fn route(route: Route) -> Knob {
    let (values, disturbs) = match route {
        Route::Switch(_) | Route::SourceRule => ("on, off", Disturbance::Nothing),
        Route::DelayedAcknowledgements => ("on, off", Disturbance::NewConnections),
        // What is on the way may take another one from there on.
        Route::Metric => ("0 to 2147483647, the smallest wins", Disturbance::LinkReset),
        Route::Number(..) => ("", Disturbance::Nothing),
    };
    Knob {
        values,
        disturbs,
        ..Knob::linux(TargetKind::Nic, Kind::Route(route))
    }
}

/// All that is read below `net.ipv4.conf`, by one command for all of these knobs.
const KEYS: [&str; 4] = ["rp_filter", "arp_ignore", "arp_announce", "arp_filter"];
/// The "interface" that counts for all.
const ALL: &str = "all";

fn path(nic: &str, key: &str) -> String {
    format!("/proc/sys/net/ipv4/conf/{nic}/{key}")
}

/// The route to the interface's own network, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Connected {
    network: String,
    source: String,
    metric: u32,
    quick: bool,
}

impl KnobBackend for Route {
    fn read(&self, name: &str) -> Vec<Command> {
        match self {
            Self::Number(..) | Self::Switch(_) => {
                let mut grep = command(&["grep", "-sH", ""]);
                for nic in [name, ALL] {
                    grep.argv.extend(KEYS.map(|key| path(nic, key)));
                }
                vec![grep]
            }
            Self::Metric | Self::DelayedAcknowledgements => vec![show_connected(name)],
            Self::SourceRule => vec![
                show_connected(name),
                command(&["ip", "-j", "-4", "rule", "show"]),
                command(&["cat", &format!("/sys/class/net/{name}/ifindex")]),
            ],
        }
    }

    fn parse(&self, name: &str, outputs: &[Output]) -> Result<State, Refusal> {
        match self {
            Self::Number(key, _) | Self::Switch(key) => self.parse_word(name, key, outputs),
            Self::SourceRule => parse_rule(outputs),
            Self::Metric => {
                let route = connected(&answer(outputs.first(), "iproute2")?)?;
                let allowed = range(
                    (0, "knob-limit.nothing-nearer"),
                    (i64::from(i32::MAX), "knob-limit.no-farther"),
                );
                let value = Value::Integer(route.metric.into());
                Ok(State::new(value, allowed).seen(Seen::Connected(route)))
            }
            Self::DelayedAcknowledgements => {
                let route = connected(&answer(outputs.first(), "iproute2")?)?;
                let state = State::new(Value::Switch(!route.quick), Allowed::Switch);
                let state = state.unset(Value::Switch(true));
                Ok(state.seen(Seen::Connected(route)))
            }
        }
    }

    fn print_value(&self, name: &str) -> Option<Command> {
        match self {
            Self::Number(key, _) | Self::Switch(key) => Some(command(&["cat", &path(name, key)])),
            _ => None,
        }
    }

    fn could_be(&self, value: &Value) -> bool {
        match self {
            Self::Number(..) | Self::Metric => is_count(value),
            Self::Switch(_) | Self::SourceRule | Self::DelayedAcknowledgements => {
                matches!(value, Value::Switch(_))
            }
        }
    }

    fn wrote(&self, name: &str, argv: &[&str]) -> bool {
        let scripts: &[&str] = match self {
            Self::Number(key, _) | Self::Switch(key) => {
                return matches!(argv, ["tee", own] if *own == path(name, key));
            }
            Self::SourceRule => &[RULE_ON, RULE_OFF],
            Self::Metric => &[METRIC],
            Self::DelayedAcknowledgements => &[QUICK],
        };
        matches!(argv, ["sh", "-c", script, "sh", _, nic, ..]
            if is_script(script, scripts) && *nic == name)
    }

    fn set(&self, name: &str, state: &State, to: &Value) -> Result<Command, Refusal> {
        match (self, to, &state.seen) {
            (Self::Number(key, _), Value::Integer(to), _) => Ok(write(name, key, *to)),
            (Self::Switch(key), Value::Switch(to), _) => Ok(write(name, key, i64::from(*to))),
            (Self::DelayedAcknowledgements, Value::Switch(delayed), Seen::Connected(route)) => {
                Ok(route.with_quick(name, !*delayed))
            }
            (Self::SourceRule, Value::Switch(on), Seen::Rule { route, table }) => {
                let script = if *on { RULE_ON } else { RULE_OFF };
                let table = table.to_string();
                let (network, source) = (&route.network, &route.source);
                Ok(command(&[
                    "sh", "-c", script, "sh", network, name, source, &table,
                ]))
            }
            (Self::Metric, Value::Integer(to), Seen::Connected(route)) => {
                Ok(route.with_metric(name, &route.metric.to_string(), &to.to_string()))
            }
            _ => Err(Refusal::none_such()),
        }
    }

    fn plan(&self, name: &str, state: &State, to: &Value) -> Result<(Command, Command), Refusal> {
        let run = self.set(name, state, to)?;
        let undo = match (self, &state.seen) {
            (Self::Metric, Seen::Connected(route)) => {
                route.with_metric(name, &to.to_string(), &route.metric.to_string())
            }
            _ => self.set(name, state, &state.value)?,
        };
        Ok((run, undo))
    }
}

impl Route {
    fn parse_word(self, nic: &str, key: &str, outputs: &[Output]) -> Result<State, Refusal> {
        let said = outputs.first().map(|output| output.stdout.as_slice());
        let said = String::from_utf8_lossy(said.unwrap_or_default()).into_owned();
        let words: BTreeMap<&str, i64> = said
            .lines()
            .filter_map(|line| line.split_once(':'))
            .filter_map(|(path, word)| Some((path, word.trim().parse().ok()?)))
            .collect();
        let own = words.get(path(nic, key).as_str());
        let own = *own.ok_or_else(|| Refusal::no_interface(nic))?;
        let all = words.get(path(ALL, key).as_str()).copied().unwrap_or(0);
        let state = match self {
            Self::Number(_, most) => {
                let allowed = range(
                    (0, "knob-limit.none-at-all"),
                    (most, "knob-limit.kernel-most"),
                );
                State::new(Value::Integer(own), allowed)
            }
            _ => State::new(Value::Switch(own != 0), Allowed::Switch),
        };
        let remark = say("knob-remark.larger-one").with("all", all.to_string());
        let remark = (all > own).then_some(remark);
        Ok(State { remark, ..state })
    }
}

fn write(nic: &str, key: &str, to: i64) -> Command {
    command(&["tee", &path(nic, key)]).with_stdin(format!("{to}\n"))
}

fn show_connected(nic: &str) -> Command {
    let words = "-4 route show dev NIC proto kernel scope link".split(' ');
    let words = words.map(|word| if word == "NIC" { nic } else { word });
    Command::new(std::iter::once("ip").chain(words))
}

impl Connected {
    fn with_quick(&self, nic: &str, quick: bool) -> Command {
        let (network, source) = (&self.network, &self.source);
        let quick = if quick { "1" } else { "0" };
        command(&["sh", "-c", QUICK, "sh", network, nic, source, quick])
    }

    fn with_metric(&self, nic: &str, from: &str, to: &str) -> Command {
        let (network, source) = (&self.network, &self.source);
        command(&["sh", "-c", METRIC, "sh", network, nic, source, from, to])
    }
}

/// `10.0.0.0/24 src 10.0.0.1 metric 100 quickack 1 linkdown`, and nothing that would be lost.
fn connected(said: &str) -> Result<Connected, Refusal> {
    let mut lines = said.lines().filter(|line| !line.trim().is_empty());
    let none = || Refusal::new(say("error-linux.no-network"));
    let line = lines.next().ok_or_else(none)?;
    if lines.next().is_some() {
        return Err(Refusal::new(say("error-linux.networks")));
    }
    let odd = || Refusal::new(say("error-linux.route-options"));
    let mut words = line.split_whitespace();
    let network = words.next().ok_or_else(none)?.to_owned();
    let mut route = Connected {
        network,
        source: String::new(),
        metric: 0,
        quick: false,
    };
    while let Some(word) = words.next() {
        match word {
            "src" => route.source = words.next().ok_or_else(odd)?.to_owned(),
            "metric" => {
                route.metric = words
                    .next()
                    .and_then(|word| word.parse().ok())
                    .ok_or_else(odd)?;
            }
            "quickack" => route.quick = words.next().ok_or_else(odd)? == "1",
            "linkdown" => {}
            _ => return Err(odd()),
        }
    }
    let plain = |word: &str| {
        let known = |letter: char| letter.is_ascii_digit() || "./".contains(letter);
        !word.is_empty() && word.chars().all(known)
    };
    if !plain(&route.source) || !plain(&route.network) {
        return Err(odd());
    }
    Ok(route)
}

#[derive(Deserialize)]
struct RawRule {
    src: String,
    #[serde(default)]
    table: String,
}

fn parse_rule(outputs: &[Output]) -> Result<State, Refusal> {
    let route = connected(&answer(outputs.first(), "iproute2")?)?;
    let rules: Vec<serde_json::Value> = serde_json::from_str(&answer(outputs.get(1), "iproute2")?)
        .map_err(|_error| Refusal::unreadable("ip rule"))?;
    let number = answer(outputs.get(2), "coreutils")?.trim().parse().ok();
    let number: u32 = number.ok_or_else(|| Refusal::unreadable("cat"))?;
    if number > NIC_NUMBER_MAX {
        return Err(Refusal::new(say("error-linux.nic-number")));
    }
    let table = TABLE + number;
    let rules = rules.into_iter();
    let rules = rules.filter_map(|rule| serde_json::from_value::<RawRule>(rule).ok());
    let own = rules.filter(|rule| rule.src == route.source);
    let tables: Vec<String> = own.map(|rule| rule.table).collect();
    let ours = table.to_string();
    let because = tables
        .iter()
        .any(|table| *table != ours)
        .then_some(say("knob-fixed.rule"));
    let state = State::new(Value::Switch(!tables.is_empty()), Allowed::Switch).fixed_if(because);
    Ok(state
        .unset(Value::Switch(false))
        .seen(Seen::Rule { route, table }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_with_what_would_be_lost_is_refused() {
        let route = connected("10.78.1.0/24 src 10.78.1.1 metric 100 quickack 1 linkdown \n");
        let route = route.unwrap();
        assert_eq!((route.metric, route.quick), (100, true));
        assert_eq!(
            connected("10.78.1.0/24 src 10.78.1.1 \n").unwrap().metric,
            0
        );
        for odd in [
            "",
            "\n",
            "10.78.1.0/24",
            "10.78.1.0/24 src $(id)",
            "10.78.1.0/24 src 10.78.1.1 mtu 1400",
            "10.78.1.0/24 src",
            "10.78.1.0/24 src 10.78.1.1 metric x",
            "10.78.1.0/24 src 10.78.1.1\n10.78.2.0/24 src 10.78.2.1",
        ] {
            assert!(connected(odd).is_err(), "{odd:?}");
        }
    }
}
