//! What a profile would change on a host, and what not and why.

use std::collections::BTreeMap;
use std::time::Duration;

use locale::{Message, say};
use record::{BitsPerSecond, HostFacts, HostName, KnobId, Nic, Setting, Target, Value};
use serde::{Deserialize, Serialize};

use super::{Profile, Rule, RuleValue, When};
use crate::change::Spot;
use crate::knob::{self, Allowed, Knob, Refusal, State, TargetKind};

/// Addresses and type of an Ethernet frame.
const ETHERNET_HEADER_BYTES: u64 = 14;
/// Checksum, preamble and gap.
const AROUND_A_FRAME_BYTES: u64 = 24;

/// What a host is on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It uses the share.
    Client,
    /// It offers the share.
    Server,
}

/// A host, as far as rules ask.
#[derive(Clone, Debug)]
pub struct Situation<'a> {
    /// What was seen on it.
    pub facts: &'a HostFacts,
    /// What it is on the path.
    pub role: Role,
    /// To the other end, where it is known.
    pub round_trip: Option<Duration>,
    /// The interfaces of the path.
    pub nics: Vec<String>,
    /// The shares that are meant.
    pub shares: Vec<String>,
}

/// What a rule comes to at one place.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It would be set.
    Change {
        /// To this.
        to: Value,
    },
    /// It is so.
    AlreadySo,
    /// The rule is not for a place like this.
    NotMeant {
        /// Which of its conditions is not so.
        because: Message,
    },
    /// The host does not have it, or does not let it be changed so.
    NotHere {
        /// Why.
        because: Message,
    },
}

/// A rule at one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The part of the host; `None` where there is none that it could be about.
    pub target: Option<Target>,
    /// The value now, where it could be read.
    pub now: Option<Value>,
    /// What it comes to.
    pub verdict: Verdict,
}

/// What holds for one part of a host.
struct Place {
    speed: Option<BitsPerSecond>,
    mtu: Option<u32>,
    drivers: Vec<String>,
}

impl Situation<'_> {
    fn of_path(&self) -> Vec<&Nic> {
        let nics = self.facts.nics.iter();
        nics.filter(|nic| self.nics.contains(&nic.name)).collect()
    }

    fn targets(&self, knob: &Knob) -> Vec<Target> {
        match knob.on {
            TargetKind::Host => vec![Target::Host],
            TargetKind::Nic => self.nics.iter().cloned().map(Target::Nic).collect(),
            TargetKind::Share => self.shares.iter().cloned().map(Target::Share).collect(),
            TargetKind::Mount => Vec::new(),
        }
    }

    /// For the host as a whole, the best of its interfaces counts.
    fn place(&self, target: &Target) -> Place {
        let mut nics = self.of_path();
        if let Target::Nic(name) = target {
            nics.retain(|nic| nic.name == *name);
        }
        Place {
            speed: nics.iter().filter_map(|nic| line_rate(nic)).max(),
            mtu: nics.iter().map(|nic| nic.mtu).max(),
            drivers: nics.iter().filter_map(|nic| nic.driver.clone()).collect(),
        }
    }

    /// Why a rule is not for this place; `None` where it is.
    fn unmet(&self, when: &When, target: &Target) -> Option<Message> {
        let place = self.place(target);
        let span = |span: Duration| format!("{span:?}");
        let number = |number: u32| number.to_string();
        within(
            "profile-verdict.speed",
            place.speed,
            (when.speed_min, when.speed_below),
            rate_text,
        )
        .or_else(|| {
            let bounds = (when.round_trip_min, when.round_trip_below);
            within("profile-verdict.round-trip", self.round_trip, bounds, span)
        })
        .or_else(|| {
            let (cores, bounds) = (self.facts.cores, (when.cores_min, when.cores_below));
            within("profile-verdict.cores", Some(cores), bounds, number)
        })
        .or_else(|| {
            let bounds = (when.mtu_min, when.mtu_below);
            within("profile-verdict.mtu", place.mtu, bounds, number)
        })
        .or_else(|| unmet_driver(&when.drivers, &place.drivers))
        .or_else(|| {
            let role = when.role.filter(|role| *role != self.role)?;
            Some(say(match role {
                Role::Client => "profile-verdict.for-client",
                Role::Server => "profile-verdict.for-server",
            }))
        })
    }
}

/// Why something is not within bounds. What it is, is the id of a message.
fn within<T: PartialOrd + Copy>(
    what: &'static str,
    is: Option<T>,
    (min, below): (Option<T>, Option<T>),
    text: impl Fn(T) -> String,
) -> Option<Message> {
    if min.is_none() && below.is_none() {
        return None;
    }
    let Some(is) = is else {
        return Some(say("profile-verdict.not-known").with("what", say(what)));
    };
    let less = min
        .filter(|min| is < *min)
        .map(|min| ("profile-verdict.less", min));
    let more = below
        .filter(|below| is >= *below)
        .map(|below| ("profile-verdict.not-below", below));
    let (broken, limit) = less.or(more)?;
    let broken = say(broken).with("what", say(what)).with("is", text(is));
    Some(broken.with("limit", text(limit)))
}

fn unmet_driver(wanted: &[String], found: &[String]) -> Option<Message> {
    if wanted.is_empty() || found.iter().any(|driver| wanted.contains(driver)) {
        return None;
    }
    Some(match found {
        [] => say("profile-verdict.no-driver"),
        found => say("profile-verdict.other-driver")
            .with("is", found.join("`, `"))
            .with("wanted", wanted.join("`, `")),
    })
}

/// What a virtual link says of its rate is invented, unless something shapes it. A shaper counts
/// frames without what is on the wire around them.
fn line_rate(nic: &Nic) -> Option<BitsPerSecond> {
    let Some(shaped) = nic.shaped else {
        return nic.speed.filter(|_| nic.kind.as_deref() != Some("veth"));
    };
    let frame = u64::from(nic.mtu) + ETHERNET_HEADER_BYTES;
    let bits = u128::from(shaped.get()) * u128::from(frame + AROUND_A_FRAME_BYTES);
    // Rounded, because the kernel rounds as well.
    let megabits = (bits / u128::from(frame) + 500_000) / 1_000_000;
    u64::try_from(megabits * 1_000_000)
        .ok()
        .map(BitsPerSecond::new)
}

fn rate_text(rate: BitsPerSecond) -> String {
    match rate.get() {
        bits if bits % 1_000_000_000 == 0 => format!("{} Gbit/s", bits / 1_000_000_000),
        bits => format!("{} Mbit/s", bits / 1_000_000),
    }
}

/// The places that have to be read to judge a profile there.
#[must_use]
pub fn spots(profile: &Profile, situation: &Situation<'_>) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    for rule in &profile.rules {
        let Some(knob) = knob::find(situation.facts.system, &rule.knob) else {
            continue;
        };
        for target in situation.targets(knob) {
            if !spots
                .iter()
                .any(|(on, known)| *on == target && known.id == knob.id)
            {
                spots.push((target, knob));
            }
        }
    }
    spots
}

/// Judges each rule at each place it could be about; `states` are those of [`spots`].
#[must_use]
pub fn propose<'a>(
    profile: &'a Profile,
    situation: &Situation<'_>,
    states: &[(Spot, Result<State, Refusal>)],
) -> Vec<Proposal<'a>> {
    let mut proposals = Vec::new();
    for rule in &profile.rules {
        let nowhere = |because: &'static str| Proposal {
            rule,
            target: None,
            now: None,
            verdict: Verdict::NotHere {
                because: say(because),
            },
        };
        let Some(knob) = knob::find(situation.facts.system, &rule.knob) else {
            proposals.push(nowhere("profile-verdict.no-knob"));
            continue;
        };
        let targets = situation.targets(knob);
        if targets.is_empty() {
            proposals.push(nowhere(match knob.on {
                // The host itself is always there.
                TargetKind::Host | TargetKind::Nic => "profile-verdict.no-nic",
                TargetKind::Share => "profile-verdict.no-share",
                TargetKind::Mount => "profile-verdict.no-mount",
            }));
        }
        for target in targets {
            let state = states
                .iter()
                .find(|((on, known), _)| *on == target && known.id == knob.id);
            let state = state.map(|(_, state)| state);
            let now = state.and_then(|state| Some(state.as_ref().ok()?.value.clone()));
            let verdict = judge(rule, knob, &target, situation, state);
            let target = Some(target);
            proposals.push(Proposal {
                rule,
                target,
                now,
                verdict,
            });
        }
    }
    proposals
}

fn judge(
    rule: &Rule,
    knob: &Knob,
    target: &Target,
    situation: &Situation<'_>,
    state: Option<&Result<State, Refusal>>,
) -> Verdict {
    if let Some(because) = situation.unmet(&rule.when, target) {
        return Verdict::NotMeant { because };
    }
    let not_here = |because: Message| Verdict::NotHere { because };
    let state = match state {
        Some(Ok(state)) => state,
        Some(Err(refusal)) => return not_here(refusal.reason.clone()),
        None => return not_here(say("profile-verdict.not-read")),
    };
    let to = match wanted(&rule.value, state) {
        Ok(to) => to,
        Err(because) => return not_here(because),
    };
    match knob.plan(target, state, &to) {
        Ok(steps) if steps.is_empty() => Verdict::AlreadySo,
        Ok(_) => Verdict::Change { to },
        Err(refusal) => not_here(refusal.reason),
    }
}

/// The value that the rule asks for, once it is computed.
fn wanted(bound: &RuleValue, state: &State) -> Result<Value, Message> {
    let (text, is_least) = match bound {
        RuleValue::Set(text) => return Ok(state.allowed.value_of(text)),
        RuleValue::AtLeast(text) => (text, true),
        RuleValue::AtMost(text) => (text, false),
    };
    let better = |now: i64, wished: i64| {
        if is_least {
            now.max(wished)
        } else {
            now.min(wished)
        }
    };
    let wished = state.allowed.value_of(text);
    match (&state.value, &wished, &state.allowed) {
        (Value::Integer(now), Value::Integer(wished), Allowed::Range { min, max }) => {
            // As far as the hardware goes, but never away from what is there.
            let possible = (*wished).min(max.value).max(min.value);
            Ok(Value::Integer(better(*now, possible)))
        }
        (Value::Text(now), Value::Text(wished), Allowed::Sizes) => {
            let numbers = |text: &str| {
                text.split(' ')
                    .map(|word| word.parse().ok())
                    .collect::<Option<Vec<i64>>>()
            };
            let both = numbers(now).zip(numbers(wished));
            let unlike = || {
                let because = say("profile-verdict.unlike").with("wished", wished);
                because.with("now", now)
            };
            let (now, wished) = both
                .filter(|(now, wished)| now.len() == wished.len())
                .ok_or_else(unlike)?;
            let sizes = now
                .iter()
                .zip(wished)
                .map(|(now, wished)| better(*now, wished).to_string());
            Ok(Value::Text(sizes.collect::<Vec<_>>().join(" ")))
        }
        (now, ..) => {
            let because = say("profile-verdict.no-order").with("now", now.to_string());
            Err(because.with("wished", text))
        }
    }
}

/// The settings of everything that would be changed; of several for one place the last, which goes
/// furthest: all others of it are met by it.
#[must_use]
pub fn settings(host: &HostName, proposals: &[Proposal<'_>]) -> Vec<Setting> {
    let mut found: BTreeMap<(&Target, &str), (usize, &Value)> = BTreeMap::new();
    for (at, proposal) in proposals.iter().enumerate() {
        let (Some(target), Verdict::Change { to }) = (&proposal.target, &proposal.verdict) else {
            continue;
        };
        let is_most = matches!(proposal.rule.value, RuleValue::AtMost(_));
        let known = found
            .entry((target, &proposal.rule.knob))
            .or_insert((at, to));
        if goes_further(to, known.1) != is_most {
            known.1 = to;
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, (at, _))| *at);
    let settings = found
        .into_iter()
        .map(|((target, knob), (_, value))| Setting::Knob {
            host: host.clone(),
            target: target.clone(),
            id: KnobId::new(knob),
            value: value.clone(),
        });
    settings.collect()
}

fn goes_further(one: &Value, other: &Value) -> bool {
    let numbers = |value: &Value| match value {
        Value::Integer(number) => vec![*number],
        Value::Text(text) => text
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect(),
        Value::Unset | Value::Switch(_) => Vec::new(),
    };
    numbers(one).last() > numbers(other).last()
}
