//! `linerate inspect`: what is set on one host, or on both ends of a path side by side.

pub mod json;

use std::process::ExitCode;
use std::thread;

use analysis::{Contradiction, SharedLink, contradictions, shared_links};
use host::FstabEntry;
use host::Host;
use host::change::{Spot, read_states};
use host::knob::{self, Allowed, Knob, Refusal, State};
use locale::{Message, said, say, text};
use record::{HostFacts, KnobId, LinkState, Medium, Nic, Setting, Target, Value};
use report::quantity;

use crate::args::InspectArguments;
use crate::changes::{hint, style};
use crate::exit_codes::Exit;
use crate::failure::{CommandError, Kind};
use crate::{hosts, stdout_and_stderr};

/// Most interfaces of a host whose settings are read.
const NICS_MAX: usize = 64;
/// Most shares of a host whose settings are read.
const SHARES_MAX: usize = 16;
/// Most mounts of a host whose settings are read.
const MOUNTS_MAX: usize = 16;
/// Most words of a choice that a table shows.
const WORDS_SHOWN_MAX: usize = 6;

/// A host with all that is set on it.
pub struct Looked {
    pub facts: HostFacts,
    pub found: Vec<Found>,
}

/// A setting and how it stands.
pub type Found = (Spot, Result<State, Refusal>);

/// Runs `inspect`. Exit code 1 where the ends contradict each other.
pub fn run(arguments: &InspectArguments) -> Result<ExitCode, CommandError> {
    if let Some(id) = &arguments.explain {
        return explain(id, arguments.json);
    }
    let named: Vec<hosts::Named> = arguments
        .hosts
        .iter()
        .map(|name| hosts::parse(name))
        .collect::<Result<_, _>>()?;
    // Both ends at once: most of the time is spent waiting for them.
    let looked = thread::scope(|scope| {
        let looks: Vec<_> = named
            .iter()
            .map(|named| scope.spawn(|| read_host(&hosts::open(named)?)))
            .collect();
        let ends = looks.into_iter().map(|look| match look.join() {
            Ok(looked) => looked,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ends.collect::<Result<Vec<Looked>, CommandError>>()
    })?;
    let found = match looked.as_slice() {
        [near, far] => contradictions(&near.facts, &far.facts, &settings(&looked)),
        _ => Vec::new(),
    };
    if arguments.json {
        json::print(&looked, &found);
    } else {
        print_text(&looked, &found);
    }
    Ok(match found.is_empty() {
        true => ExitCode::SUCCESS,
        false => Exit::Found.into(),
    })
}

fn explain(id: &str, json: bool) -> Result<ExitCode, CommandError> {
    let own: Vec<&Knob> = knob::KNOBS.iter().filter(|knob| knob.id == id).collect();
    if own.is_empty() {
        let family = |id: &str| id.split_once('.').map(|(family, _)| family.to_owned());
        let all = || knob::KNOBS.iter().map(|knob| knob.id);
        let mut near: Vec<&str> = all().filter(|one| family(one) == family(id)).collect();
        if near.is_empty() {
            near = all().collect();
        }
        near.sort_unstable();
        near.dedup();
        let sentence = say("error-change.no-such-knob").with("id", id);
        let there = say("hint-change.there-are").with("names", near.join(", "));
        return Err(CommandError::new(Kind::Usage, sentence).hint(there));
    }
    if json {
        json::print_knobs(&own);
    } else {
        let pages: Vec<String> = own.iter().map(|knob| knob::page(knob)).collect();
        stdout_and_stderr::print(pages.join("\n").trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

/// Looks at a host and at all of its settings.
pub fn read_host(host: &Host) -> Result<Looked, CommandError> {
    let host = host::prefetch(host)?;
    let facts = host::facts(&host)?;
    let found = states_of(&host, &facts, &[Part::Samba, Part::Rest])?;
    Ok(Looked { facts, found })
}

/// A part of a host's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What `testparm` tells.
    Samba,
    /// All others.
    Rest,
}

/// All settings of a part of a host that can be read.
pub fn settings_of(
    host: &Host,
    facts: &HostFacts,
    part: Part,
) -> Result<Vec<Setting>, CommandError> {
    let mut found = states_of(host, facts, &[part])?;
    // A run file may be mailed to anybody, and where a user's login is kept is nobody's business.
    found.retain(|((_, knob), _)| knob.id != FstabEntry::KNOB);
    let facts = facts.clone();
    Ok(settings(&[Looked { facts, found }]))
}

fn states_of(host: &Host, facts: &HostFacts, parts: &[Part]) -> Result<Vec<Found>, CommandError> {
    let mut targets = vec![Target::Host];
    if parts.contains(&Part::Rest) {
        let nics = facts.nics.iter().take(NICS_MAX);
        targets.extend(nics.map(|nic| Target::Nic(nic.name.clone())));
    }
    if parts.contains(&Part::Samba) {
        let shares = host::shares(host)?.into_iter().take(SHARES_MAX);
        targets.extend(shares.map(Target::Share));
    }
    if parts.contains(&Part::Rest) {
        let mounts = host::mounts(host)?.into_iter().take(MOUNTS_MAX);
        targets.extend(mounts.map(Target::Mount));
    }
    let spots = targets.into_iter().flat_map(|target| {
        let knobs = knob::of_target(host.system, &target).filter(|knob| !knob.only_in_snapshots);
        let knobs = knobs.filter(|knob| parts.contains(&part_of(knob, &target)));
        let knobs: Vec<&'static Knob> = knobs.collect();
        knobs.into_iter().map(move |knob| (target.clone(), knob))
    });
    let spots: Vec<Spot> = spots.collect();
    let states = read_states(host, &spots)?;
    Ok(spots.into_iter().zip(states).collect())
}

fn part_of(knob: &Knob, target: &Target) -> Part {
    let commands = knob.read(target).unwrap_or_default();
    let asks_samba = |command: &host::exec::Command| {
        command
            .argv
            .first()
            .is_some_and(|program| program == "testparm")
    };
    match commands.iter().any(asks_samba) {
        true => Part::Samba,
        false => Part::Rest,
    }
}

impl Looked {
    fn state(&self, target: &Target, knob: &Knob) -> Option<&State> {
        let mut found = self.found.iter();
        let own = found.find(|((on, own), _)| on == target && own.id == knob.id)?;
        own.1.as_ref().ok()
    }
}

fn settings(looked: &[Looked]) -> Vec<Setting> {
    let of_host = |looked: &Looked| {
        let name = looked.facts.name.clone();
        let read = looked.found.iter().filter_map(|((target, knob), state)| {
            Some((target.clone(), knob.id, state.as_ref().ok()?.value.clone()))
        });
        let settings = read.map(|(target, id, value)| Setting::Knob {
            host: name.clone(),
            target,
            id: KnobId::new(id),
            value,
        });
        settings.collect::<Vec<_>>()
    };
    looked.iter().flat_map(of_host).collect()
}

fn print_text(looked: &[Looked], found: &[Contradiction]) {
    for contradiction in found {
        let next = hint(contradiction.hint.clone());
        stdout_and_stderr::print(&format!("! {}\n  {next}", said(&contradiction.text)));
    }
    if let ([_, _], true) = (looked, found.is_empty()) {
        stdout_and_stderr::print(&text("told-change.no-contradiction"));
    }
    match looked {
        [near, far] => {
            for host in [near, far] {
                stdout_and_stderr::print(&format!("\n{}", heading(&host.facts)));
            }
            side_by_side(near, far);
            for host in [near, far] {
                alone_others(host);
            }
        }
        _ => {
            for host in looked {
                stdout_and_stderr::print(&format!("\n{}", heading(&host.facts)));
                alone(host, &Target::Host, "");
                for nic in &host.facts.nics {
                    alone(host, &Target::Nic(nic.name.clone()), &nic_heading(nic));
                }
                alone_others(host);
            }
        }
    }
    stdout_and_stderr::print(&format!("\n{}", hint(say("hint-change.explain"))));
}

fn heading(facts: &HostFacts) -> String {
    let sentence = say("told-change.host")
        .with("host", facts.name.to_string())
        .with("system", format!("{:?}", facts.system))
        .with("kernel", &facts.kernel)
        .count("cores", facts.cores)
        .with_known("memory", facts.memory.map(quantity::size));
    said(&sentence)
}

fn nic_heading(nic: &Nic) -> String {
    let addresses = nic.addresses.iter();
    let addresses = addresses.map(|entry| format!("{}/{}", entry.address, entry.prefix));
    let medium = match nic.medium {
        Some(Medium::Wireless) => Some("Wi-Fi".to_owned()),
        Some(Medium::Tunnel) => Some(text("told-change.a-tunnel")),
        Some(Medium::Cable | Medium::Bridge) | None => None,
    };
    let state = match nic.state {
        LinkState::Up => "told-change.link-up",
        LinkState::Down => "told-change.link-down",
        LinkState::Unknown => "told-change.link-unknown",
    };
    let parts = [
        medium,
        nic.shaped.or(nic.speed).map(quantity::line_rate),
        nic.driver.clone().or_else(|| nic.kind.clone()),
        Some(text(state)),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().chain(addresses).collect();
    format!("{}: {}", nic.name, parts.join(", "))
}

/// The settings of one part of one host.
fn alone(host: &Looked, target: &Target, title: &str) {
    let own = host.found.iter().filter(|((on, _), _)| on == target);
    let mut rows = Vec::new();
    for ((_, knob), state) in own {
        let Ok(state) = state else { continue };
        rows.push(vec![
            setting_name(knob),
            state.value.to_string(),
            said(&could_be(state)),
            knob.rule_of_thumb.to_owned(),
        ]);
    }
    if rows.is_empty() {
        return;
    }
    stdout_and_stderr::print(&format!("\n{title}"));
    let headings = [
        "told-change.column-setting",
        "told-change.column-is",
        "told-change.column-could-be",
        "told-change.column-rule-of-thumb",
    ];
    let headings = headings.map(text);
    let headings = headings.each_ref().map(String::as_str);
    stdout_and_stderr::print_drawn(&report::table(&headings, &rows, style()));
    not_there(host, target);
}

fn alone_others(host: &Looked) {
    let mut shown: Vec<&Target> = Vec::new();
    for ((target, _), _) in &host.found {
        let title = match target {
            Target::Share(name) => say("told-change.share").with("name", name),
            Target::Mount(folder) => say("told-change.mount").with("folder", folder),
            Target::Host | Target::Nic(_) => continue,
        };
        if !shown.contains(&target) {
            alone(host, target, &said(&title));
            shown.push(target);
        }
    }
}

/// What the host does not have, with the reasons.
fn not_there(host: &Looked, target: &Target) {
    let own = host.found.iter().filter(|((on, _), _)| on == target);
    let missing = own.filter_map(|((_, knob), state)| Some((knob.id, state.as_ref().err()?)));
    let mut by_reason: Vec<(&Message, Vec<&str>)> = Vec::new();
    for (id, refusal) in missing {
        match by_reason
            .iter_mut()
            .find(|(reason, _)| **reason == refusal.reason)
        {
            Some((_, ids)) => ids.push(id),
            None => by_reason.push((&refusal.reason, vec![id])),
        }
    }
    for (reason, ids) in by_reason {
        let sentence = say("told-change.not-there").with("names", ids.join(", "));
        stdout_and_stderr::print(&said(&sentence.with("reason", reason.clone())));
    }
}

fn side_by_side(near: &Looked, far: &Looked) {
    compare(near, far, (&Target::Host, &Target::Host), "");
    for SharedLink {
        near: one,
        far: two,
    } in shared_links(&near.facts, &far.facts)
    {
        let targets = [one, two].map(|nic| Target::Nic(nic.name.clone()));
        let title = format!("{}\n{}", nic_heading(one), nic_heading(two));
        compare(near, far, (&targets[0], &targets[1]), &title);
    }
}

/// The knobs of one part of either host; ends with two systems have not all of them in common.
fn of_both(near: &Looked, far: &Looked, targets: (&Target, &Target)) -> Vec<&'static Knob> {
    let mut knobs: Vec<&Knob> = knob::of_target(near.facts.system, targets.0).collect();
    for knob in knob::of_target(far.facts.system, targets.1) {
        if knobs.iter().all(|known| known.id != knob.id) {
            knobs.push(knob);
        }
    }
    knobs
}

fn compare(near: &Looked, far: &Looked, targets: (&Target, &Target), title: &str) {
    let mut rows = Vec::new();
    for knob in of_both(near, far, targets) {
        let states = [near.state(targets.0, knob), far.state(targets.1, knob)];
        if states == [None, None] {
            continue;
        }
        let [one, two] =
            states.map(|state| state.map_or("-".into(), |state| state.value.to_string()));
        // Only where both ends could have it and differ is there something to decide.
        let mut ends = [near, far].into_iter();
        let of_both = ends.all(|end| {
            let own = knob::find(end.facts.system, knob.id);
            own.is_some_and(|own| own.on == knob.on)
        });
        let (mark, rule) = match of_both && one != two {
            true => (text("told-change.differs"), knob.rule_of_thumb),
            false => (String::new(), ""),
        };
        rows.push(vec![setting_name(knob), one, two, mark, rule.to_owned()]);
    }
    if rows.is_empty() {
        return;
    }
    stdout_and_stderr::print(&format!("\n{title}"));
    let names = [&near.facts.name, &far.facts.name].map(ToString::to_string);
    let [setting, rule] = [
        "told-change.column-setting",
        "told-change.column-rule-of-thumb",
    ]
    .map(text);
    let headings = [setting.as_str(), &names[0], &names[1], "", &rule];
    stdout_and_stderr::print_drawn(&report::table(&headings, &rows, style()));
}

fn setting_name(knob: &Knob) -> String {
    match knob.unit {
        Some(unit) => format!("{} ({unit})", knob.id),
        None => knob.id.to_owned(),
    }
}

fn could_be(state: &State) -> Message {
    if let Some(because) = &state.fixed_because {
        return because.clone();
    }
    let values = allowed(&state.allowed);
    let values = match &state.unset {
        Some(Value::Unset) => say("told-change.or-unset").with("values", values),
        Some(value) if *value != state.value => say("told-change.if-unset")
            .with("values", values)
            .with("value", value.to_string()),
        _ => values,
    };
    match &state.remark {
        Some(remark) => say("told-change.with-remark")
            .with("values", values)
            .with("remark", remark.clone()),
        None => values,
    }
}

/// The values that it takes.
fn allowed(allowed: &Allowed) -> Message {
    match allowed {
        Allowed::Switch => "on, off".into(),
        Allowed::SwitchOf(parts) => format!("on, off, {}", parts.join(", ")).into(),
        Allowed::Range { min, max } => say("told-change.range")
            .with("least", min.value.to_string())
            .with("most", max.value.to_string()),
        Allowed::Numbers(numbers) => {
            let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            numbers.join(", ").into()
        }
        Allowed::Words(words) if words.len() > WORDS_SHOWN_MAX => {
            format!("{}, ...", words[..WORDS_SHOWN_MAX].join(", ")).into()
        }
        Allowed::Words(words) => words.join(", ").into(),
        Allowed::Sizes => say("told-change.three-sizes"),
        Allowed::Processors { possible, .. } => match possible.as_slice() {
            [] | [_] => say("told-change.one-processor"),
            [first, .., last] => say("told-change.processors")
                .with("first", first.to_string())
                .with("last", last.to_string()),
        },
        Allowed::Bytes(count) => say("told-change.bytes").count("count", *count),
        Allowed::AsRead => "".into(),
    }
}
