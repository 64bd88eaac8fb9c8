//! `linerate profiles`, and profiles on hosts and paths.

use std::collections::BTreeSet;
use std::env;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use analysis::shared_links;
use host::Host;
use host::change::read_states;
use host::exec::{Command, Output};
use host::profile::{
    self, Profile, Proposal, Protections, Role, Rule, RuleValue, Situation, Verdict, When,
};
use locale::{Message, said, say};
use os::file::{Folder, Readers};
use record::sanitized_text::clean;
use record::{BitsPerSecond, HostFacts, HostName, Level, LinkState, Setting, Target, Value};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{ProfileArguments, ProfilesArguments, SetArguments};
use crate::changes::hint;
use crate::client_to_share_path::{self, SharePath};
use crate::failure::{CommandError, Kind};
use crate::stdout_and_stderr;

/// What `profiles --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProfileList<'a> {
    /// This program's, then the user's own.
    profiles: Vec<ListedProfile<'a, usize>>,
}

/// A profile. What `profiles NAME --json` prints has its rules, a list of profiles how many there are.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedProfile<'a, Rules> {
    /// Its name.
    profile: &'a str,
    /// Its file; null where it is one of this program's.
    file: Option<&'a Path>,
    /// What it is for, in a sentence.
    meaning: &'a str,
    /// Its rules, or how many there are.
    rules: Rules,
}

/// What to set one knob to: to a value, or to a least or greatest one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedRule<'a> {
    /// The knob.
    knob: &'a str,
    #[serde(flatten)]
    value: &'a RuleValue,
    /// All that must hold where it is set, each in a few words.
    when: Vec<Message>,
    /// Why it is a good idea.
    why: &'a str,
    /// Where that is known from.
    source: Option<&'a str>,
}

/// What a profile came to on a host.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JudgedProfile {
    /// The profile.
    profile: String,
    /// The host.
    host: HostName,
    /// Each rule at each place that it is about.
    rules: Vec<JudgedRule>,
}

/// What a rule came to at one place.
#[derive(Debug, Serialize, JsonSchema)]
struct JudgedRule {
    /// The part of the host; null where there is none that it could be about.
    target: Option<Target>,
    /// The knob.
    knob: String,
    /// Its value now; null where it could not be read.
    now: Option<Value>,
    /// `change`, `already_so`, `not_meant` for a place like this, or `not_there`.
    verdict: &'static str,
    /// The value that it would be set to; null unless it is a `change`.
    to: Option<Value>,
    /// Why it is `not_meant` or `not_there`.
    because: Option<Message>,
    /// Why the rule is a good idea.
    why: String,
    /// Where that is known from.
    source: Option<String>,
}

/// Runs `profiles`.
pub fn run(arguments: &ProfilesArguments) -> Result<ExitCode, CommandError> {
    let folder = folder();
    let Some(name) = &arguments.name else {
        list(&profile::all(folder.as_deref())?, arguments.json);
        return Ok(ExitCode::SUCCESS);
    };
    // Whoever looks is not asked about protections.
    let profile = profile::find(name, folder.as_deref(), Protections::Meant)?;
    if arguments.json {
        let rules: Vec<ListedRule> = profile.rules.iter().map(ListedRule::of).collect();
        stdout_and_stderr::print_json(&ListedProfile::of(&profile, rules));
        return Ok(ExitCode::SUCCESS);
    }
    stdout_and_stderr::print(&format!(
        "{}: {}\n",
        clean(&profile.name),
        clean(&profile.meaning)
    ));
    for rule in &profile.rules {
        stdout_and_stderr::print(&rule_text(rule));
    }
    Ok(ExitCode::SUCCESS)
}

/// What a rule sets, when and why.
fn rule_text(rule: &Rule) -> String {
    let value: Message = match &rule.value {
        RuleValue::Set(value) => value.as_str().into(),
        RuleValue::AtLeast(value) => say("told-change.at-least").with("value", value),
        RuleValue::AtMost(value) => say("told-change.at-most").with("value", value),
    };
    let conditions = conditions(&rule.when);
    let parts: Vec<String> = std::iter::once(&value)
        .chain(&conditions)
        .map(said)
        .collect();
    let source = rule.source.as_ref();
    let source = source.map_or(String::new(), |source| format!(" ({})", clean(source)));
    format!(
        "{} = {}\n    {}{source}",
        clean(&rule.knob),
        clean(&parts.join(", ")),
        clean(&rule.why)
    )
}

fn list(profiles: &[Profile], json: bool) {
    if json {
        let profiles = profiles.iter();
        let profiles = profiles.map(|profile| ListedProfile::of(profile, profile.rules.len()));
        stdout_and_stderr::print_json(&ProfileList {
            profiles: profiles.collect(),
        });
        return;
    }
    for profile in profiles {
        stdout_and_stderr::print(&format!(
            "{}: {}",
            clean(&profile.name),
            clean(&profile.meaning)
        ));
        if let Some(file) = &profile.file {
            let from = say("told-change.from").with("file", file.display().to_string());
            stdout_and_stderr::print(&format!("  {}", said(&from)));
        }
    }
    stdout_and_stderr::print(&format!("\n{}", hint(say("hint-change.rules-of-one"))));
}

/// Where people keep profiles of their own. Root uses none that another user could have put there: a
/// profile says what is set.
fn folder() -> Option<PathBuf> {
    let folder = config_folder()?;
    if !os::is_root() {
        return Some(folder);
    }
    match Folder::open(&folder, Readers::All) {
        Err(error @ os::file::Error::Unsafe { .. }) => {
            let sentence = say("told-change.no-own-profile")
                .with("folder", folder.display().to_string())
                .with("reason", error.message());
            stdout_and_stderr::say(&said(&sentence));
            None
        }
        Ok(_) | Err(_) => Some(folder),
    }
}

fn config_folder() -> Option<PathBuf> {
    let set = |name| {
        env::var_os(name)
            .filter(|folder| !folder.is_empty())
            .map(PathBuf::from)
    };
    let config = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(config.join("linerate/profiles"))
}

impl<'a, Rules> ListedProfile<'a, Rules> {
    fn of(profile: &'a Profile, rules: Rules) -> Self {
        Self {
            profile: &profile.name,
            file: profile.file.as_deref(),
            meaning: &profile.meaning,
            rules,
        }
    }
}

impl<'a> ListedRule<'a> {
    fn of(rule: &'a Rule) -> Self {
        Self {
            knob: &rule.knob,
            value: &rule.value,
            when: conditions(&rule.when),
            why: &rule.why,
            source: rule.source.as_deref(),
        }
    }
}

impl JudgedRule {
    fn of(proposal: &Proposal<'_>) -> Self {
        let (verdict, to, because) = match &proposal.verdict {
            Verdict::Change { to } => ("change", Some(to.clone()), None),
            Verdict::AlreadySo => ("already_so", None, None),
            Verdict::NotMeant { because } => ("not_meant", None, Some(because.clone())),
            Verdict::NotHere { because } => ("not_there", None, Some(because.clone())),
        };
        Self {
            target: proposal.target.clone(),
            knob: proposal.rule.knob.clone(),
            now: proposal.now.clone(),
            verdict,
            to,
            because,
            why: proposal.rule.why.clone(),
            source: proposal.rule.source.clone(),
        }
    }
}

fn conditions(when: &When) -> Vec<Message> {
    let rate = |rate: Option<BitsPerSecond>| rate.map(report::quantity::line_rate);
    let span = |span: Option<Duration>| span.map(|span| format!("{span:?}"));
    let number = |number: Option<u32>| number.map(|number| number.to_string());
    let limits = [
        ("told-change.speed-from", rate(when.speed_min)),
        ("told-change.speed-below", rate(when.speed_below)),
        ("told-change.round-trip-from", span(when.round_trip_min)),
        ("told-change.round-trip-below", span(when.round_trip_below)),
        ("told-change.processors-from", number(when.cores_min)),
        ("told-change.processors-below", number(when.cores_below)),
        ("told-change.mtu-from", number(when.mtu_min)),
        ("told-change.mtu-below", number(when.mtu_below)),
    ];
    let limits = limits.into_iter();
    let limits = limits.filter_map(|(id, limit)| Some(say(id).with("limit", limit?)));
    let drivers = when
        .drivers
        .iter()
        .map(|driver| Message::from(driver.as_str()));
    let drivers = drivers.reduce(|first, next| {
        say("told-change.or")
            .with("first", first)
            .with("next", next)
    });
    let driver = drivers.map(|drivers| say("told-change.driver").with("drivers", drivers));
    let role = when.role.map(|role| {
        say(match role {
            Role::Client => "told-change.at-client",
            Role::Server => "told-change.at-server",
        })
    });
    limits.chain(driver).chain(role).collect()
}

/// The profile that was asked for, if one was.
pub fn asked(arguments: &ProfileArguments) -> Result<Option<Profile>, CommandError> {
    let Some(name) = &arguments.profile else {
        return Ok(None);
    };
    let protections = match arguments.allow_security_settings {
        true => Protections::Meant,
        false => Protections::Refused,
    };
    let mut profile = profile::find(name, folder().as_deref(), protections)?;
    for id in &arguments.without {
        if !profile.rules.iter().any(|rule| rule.knob == *id) {
            let sentence = say("error-change.no-rule")
                .with("profile", &profile.name)
                .with("id", id);
            let next = say("hint-change.its-rules").with("name", name);
            return Err(CommandError::new(Kind::Usage, sentence).hint(next));
        }
    }
    profile
        .rules
        .retain(|rule| !arguments.without.contains(&rule.knob));
    Ok(Some(profile))
}

/// A profile, judged on one host.
pub struct Judged<'a> {
    profile: &'a Profile,
    host: &'a Host,
    proposals: Vec<Proposal<'a>>,
}

impl<'a> Judged<'a> {
    fn new(
        profile: &'a Profile,
        host: &'a Host,
        situation: &Situation<'_>,
    ) -> Result<Self, CommandError> {
        let spots = profile::spots(profile, situation);
        let states = read_states(host, &spots)?;
        let states: Vec<_> = spots.into_iter().zip(states).collect();
        Ok(Self {
            profile,
            host,
            proposals: profile::propose(profile, situation, &states),
        })
    }

    /// On one host, whose part on the path is given or guessed.
    pub fn on_host(
        profile: &'a Profile,
        host: &'a Host,
        arguments: &SetArguments,
    ) -> Result<Self, CommandError> {
        let facts = host::facts(host)?;
        let shares = host::shares(host)?;
        let round_trip = arguments
            .round_trip
            .as_deref()
            .map(round_trip)
            .transpose()?;
        let guess = if shares.is_empty() {
            Role::Client
        } else {
            Role::Server
        };
        let situation = Situation {
            facts: &facts,
            role: arguments.role.map_or(guess, Role::from),
            round_trip,
            nics: usable_nics(&facts, &arguments.nic)?,
            shares,
        };
        Self::new(profile, host, &situation)
    }

    /// What would be set.
    pub fn settings(&self) -> Vec<Setting> {
        profile::settings(&self.host.name, &self.proposals)
    }

    /// Says what the profile would change here, and what not and why.
    pub fn show(&self) {
        let (name, host) = (&self.profile.name, &self.host.name);
        let is_change =
            |proposal: &&Proposal<'_>| matches!(proposal.verdict, Verdict::Change { .. });
        let changes: Vec<&Proposal<'_>> = self.proposals.iter().filter(is_change).collect();
        let sentence = say(match changes.is_empty() {
            true => "told-change.profile-changes-nothing",
            false => "told-change.profile-changes",
        });
        let sentence = sentence
            .with("profile", name)
            .with("host", host.to_string());
        stdout_and_stderr::print(&said(&sentence));
        for proposal in changes {
            if let (Verdict::Change { to }, Some(now)) = (&proposal.verdict, &proposal.now) {
                let line = format!("{}: {now} -> {to}: {}", place(proposal), proposal.rule.why);
                stdout_and_stderr::print(&format!("  {}", clean(&line)));
            }
        }
        let mut so = BTreeSet::new();
        for proposal in &self.proposals {
            let (id, because) = match &proposal.verdict {
                Verdict::AlreadySo => {
                    so.insert(place(proposal));
                    continue;
                }
                Verdict::NotMeant { because } => ("told-change.not-for-here", because),
                Verdict::NotHere { because } => ("told-change.not-there", because),
                Verdict::Change { .. } => continue,
            };
            let sentence = say(id).with("names", place(proposal));
            let sentence = sentence.with("reason", because.clone());
            stdout_and_stderr::print(&format!("  {}", said(&sentence)));
        }
        if !so.is_empty() {
            let so: Vec<String> = so.into_iter().collect();
            let sentence = say("told-change.already-so").with("names", so);
            stdout_and_stderr::print(&format!("  {}", said(&sentence)));
        }
        stdout_and_stderr::print("");
    }

    /// The same for programs.
    pub fn json(&self) -> JudgedProfile {
        JudgedProfile {
            profile: self.profile.name.clone(),
            host: self.host.name.clone(),
            rules: self.proposals.iter().map(JudgedRule::of).collect(),
        }
    }
}

fn place(proposal: &Proposal<'_>) -> String {
    match &proposal.target {
        None | Some(Target::Host) => proposal.rule.knob.clone(),
        Some(target) => format!("{} {target}", proposal.rule.knob),
    }
}

fn round_trip(text: &str) -> Result<Duration, CommandError> {
    profile::time(text).ok_or_else(|| {
        let sentence = say("error-change.no-time").with("text", text);
        CommandError::new(Kind::Usage, sentence).hint(say("hint-change.time-as"))
    })
}

/// The interfaces that were named, or else those that are up and have an address of their own.
fn usable_nics(facts: &HostFacts, named: &[String]) -> Result<Vec<String>, CommandError> {
    let known = |name: &&String| facts.nics.iter().any(|nic| nic.name == **name);
    if let Some(unknown) = named.iter().find(|name| !known(name)) {
        let names: Vec<&str> = facts.nics.iter().map(|nic| nic.name.as_str()).collect();
        let sentence = say("error-change.no-such-nic")
            .with("nic", unknown)
            .with("host", facts.name.to_string());
        let there = say("hint-change.there-are").with("names", names.join(", "));
        return Err(CommandError::new(Kind::Usage, sentence).hint(there));
    }
    if !named.is_empty() {
        return Ok(named.to_vec());
    }
    let is_usable = |nic: &&record::Nic| {
        let own = |address: IpAddr| match address {
            IpAddr::V4(address) => !address.is_link_local(),
            IpAddr::V6(address) => !address.is_unicast_link_local(),
        };
        nic.state != LinkState::Down && nic.addresses.iter().any(|entry| own(entry.address))
    };
    let usable = facts.nics.iter().filter(is_usable);
    Ok(usable.map(|nic| nic.name.clone()).collect())
}

/// A profile on both ends of a path, as far as they are known, client first.
pub fn on_path<'a>(
    profile: &'a Profile,
    path: &'a SharePath,
) -> Result<Vec<Judged<'a>>, CommandError> {
    let client = host::facts(&path.client)?;
    let server = path.server.as_ref().map(host::facts).transpose()?;
    let address = client_to_share_path::resolve(&path.client, &path.share.address.server)?;
    let round_trip = ping(&path.client, address)?;
    let situation = |facts, role, nics: Vec<String>, shares| Situation {
        facts,
        role,
        round_trip,
        nics,
        shares,
    };
    let links = server.as_ref().map(|server| shared_links(&client, server));
    let names = |nics: Vec<&record::Nic>| {
        let names: BTreeSet<String> = nics.into_iter().map(|nic| nic.name.clone()).collect();
        names.into_iter().collect::<Vec<String>>()
    };
    let near = match &links {
        Some(links) if !links.is_empty() => names(links.iter().map(|link| link.near).collect()),
        _ => way_to(&path.client, address)?,
    };
    let near = situation(&client, Role::Client, near, Vec::new());
    let mut judged = vec![Judged::new(profile, &path.client, &near)?];
    if let (Some(host), Some(facts)) = (&path.server, &server) {
        let far = names(links.iter().flatten().map(|link| link.far).collect());
        let shares = vec![path.share.address.share.clone()];
        let far = situation(facts, Role::Server, far, shares);
        judged.push(Judged::new(profile, host, &far)?);
    }
    Ok(judged)
}

/// All of it as the one level of an experiment.
pub fn level(profile: &Profile, judged: &[Judged<'_>]) -> Level {
    Level {
        name: format!("profile {}", profile.name),
        settings: judged.iter().flat_map(Judged::settings).collect(),
    }
}

/// The shortest of three round trips, where the other end answers.
fn ping(client: &Host, address: IpAddr) -> Result<Option<Duration>, CommandError> {
    let address = address.to_string();
    let command = Command::new([
        "ping", "-n", "-q", "-c", "3", "-i", "0.2", "-W", "1", &address,
    ]);
    let outputs = client.exec.run(&[command])?;
    Ok(outputs
        .first()
        .and_then(Output::text)
        .and_then(|text| shortest_round_trip(&text)))
}

/// From `rtt min/avg/max/mdev = 0.030/0.037/0.046/0.005 ms`, of `ping` of Linux or macOS.
fn shortest_round_trip(said: &str) -> Option<Duration> {
    let (_, times) = said.rsplit_once("min/avg/max/")?.1.split_once('=')?;
    let least = times.trim().split('/').next()?;
    profile::time(&format!("{least} ms"))
}

/// The interface by which the client reaches an address.
fn way_to(client: &Host, address: IpAddr) -> Result<Vec<String>, CommandError> {
    let command = Command::new(["ip", "-o", "route", "get", &address.to_string()]);
    let outputs = client.exec.run(&[command])?;
    let said = outputs.first().and_then(Output::text).unwrap_or_default();
    let mut words = said.split_whitespace();
    let found = words.find(|word| *word == "dev").and_then(|_| words.next());
    Ok(found
        .filter(|nic| *nic != "lo")
        .map(str::to_owned)
        .into_iter()
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_round_trip_is_taken_from_what_ping_says() {
        for (said, micros) in [
            (
                "3 packets transmitted\nrtt min/avg/max/mdev = 0.030/0.037/0.046/0.005 ms\n",
                Some(30),
            ),
            (
                "round-trip min/avg/max/stddev = 12.5/13.0/14.0/0.1 ms\n",
                Some(12_500),
            ),
            (
                "3 packets transmitted, 0 received, 100% packet loss\n",
                None,
            ),
            ("min/avg/max/ = x", None),
            ("", None),
        ] {
            assert_eq!(
                shortest_round_trip(said),
                micros.map(Duration::from_micros),
                "{said}"
            );
        }
    }
}
