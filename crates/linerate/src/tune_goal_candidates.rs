//! What `tune --goal` tries: the check's fixes, what the client may ask for, and what is set otherwise
//! than rules of thumb and the goal's profile say at the ends of the path. Protections and durability are
//! never among it.

use std::collections::BTreeMap;

use analysis::Fix;
use experiment::Candidate;
use host::Host;
use host::change::{Spot, read_states};
use host::knob;
use host::profile::{self, Protections};
use locale::{Message, say};
use record::{KnobId, Level, Setting, Target, TrialResult, Value};

use crate::args::GoalArgument;
use crate::client_to_share_path::SharePath;
use crate::failure::CommandError;
use crate::profiles::{self, Judged};
use crate::share_testbed::{BLOCK_FIELD, DEPTH_FIELD};

/// Something to try, and what keeping it would mean.
pub struct Proposal {
    /// Its id and its settings.
    pub candidate: Candidate,
    /// What has to be known before it stays.
    pub warning: Option<Message>,
}

/// A value of a knob that is worth a try.
struct Rule {
    knob: &'static str,
    to: Value,
    id: &'static str,
    /// The server only; else both ends.
    server_only: bool,
    goals: &'static [GoalArgument],
    /// The rule without which this one has no effect: where that one is not so already, both are one
    /// candidate.
    needs: Option<&'static str>,
    /// The id of what has to be known before it stays.
    warning: Option<&'static str>,
}

const ANY: &[GoalArgument] = &[
    GoalArgument::Read,
    GoalArgument::Write,
    GoalArgument::Copy,
    GoalArgument::SmallFiles,
    GoalArgument::Latency,
];
const READING: &[GoalArgument] = &[
    GoalArgument::Read,
    GoalArgument::Copy,
    GoalArgument::SmallFiles,
    GoalArgument::Latency,
];
const WRITING: &[GoalArgument] = &[
    GoalArgument::Write,
    GoalArgument::Copy,
    GoalArgument::SmallFiles,
];
const IN_TURN: &str = "told-check.one-request-at-a-time";

/// In the order in which they are named.
const RULES: &[Rule] = &[
    Rule {
        knob: "smb.server.aio_read",
        to: Value::Integer(0),
        id: "aio-read-off",
        server_only: true,
        goals: READING,
        needs: None,
        warning: Some(IN_TURN),
    },
    Rule {
        knob: "smb.server.aio_write",
        to: Value::Integer(0),
        id: "aio-write-off",
        server_only: true,
        goals: WRITING,
        needs: None,
        warning: Some(IN_TURN),
    },
    Rule {
        knob: "smb.server.sendfile",
        to: Value::Switch(true),
        id: "sendfile",
        server_only: true,
        goals: READING,
        // What is read asynchronously is never sent so.
        needs: Some("aio-read-off"),
        warning: Some("told-check.sendfile"),
    },
    on("nic.tso", "tso"),
    on("nic.gso", "gso"),
    on("nic.gro", "gro"),
    on("tcp.window_autotuning", "window-autotuning"),
    on("tcp.sack", "sack"),
    Rule {
        knob: "tcp.slow_start_after_idle",
        to: Value::Switch(false),
        id: "no-slow-start-after-idle",
        server_only: false,
        goals: ANY,
        needs: None,
        warning: None,
    },
];

/// What should be on at both ends.
const fn on(knob: &'static str, id: &'static str) -> Rule {
    Rule {
        knob,
        to: Value::Switch(true),
        id,
        server_only: false,
        goals: ANY,
        needs: None,
        warning: None,
    }
}

/// Everything worth a try, what promises most first; `session` is a short look at the share, which
/// tells the NICs in use.
pub fn propose(
    path: &SharePath,
    goal: GoalArgument,
    fixes: Vec<Fix>,
    session: &TrialResult,
) -> Result<Vec<Proposal>, CommandError> {
    let mut proposals = of_check(goal, fixes);
    let rules = of_rules(path, goal, session)?;
    let (of_share, of_hosts): (Vec<_>, Vec<_>) =
        rules.into_iter().partition(|(rule, _)| rule.server_only);
    proposals.extend(of_share.into_iter().map(|(_, proposal)| proposal));
    if moves_big_files(goal) {
        proposals.push(of_client("depth-32", DEPTH_FIELD, 32));
        proposals.push(of_client("block-4mib", BLOCK_FIELD, 4 << 20));
    }
    proposals.extend(of_hosts.into_iter().map(|(_, proposal)| proposal));
    let known: Vec<Setting> = proposals
        .iter()
        .flat_map(|one| one.candidate.level.settings.clone())
        .collect();
    proposals.extend(of_profile(path, goal, &known)?);
    Ok(proposals)
}

/// Whether it is about big files, of which the client may ask for more at once.
const fn moves_big_files(goal: GoalArgument) -> bool {
    match goal {
        GoalArgument::Read | GoalArgument::Write | GoalArgument::Copy => true,
        GoalArgument::SmallFiles | GoalArgument::Latency => false,
    }
}

fn proposal(id: &str, settings: Vec<Setting>, warning: Option<Message>) -> Proposal {
    let level = Level {
        name: id.into(),
        settings,
    };
    Proposal {
        candidate: Candidate {
            id: id.into(),
            level,
        },
        warning,
    }
}

fn of_check(goal: GoalArgument, fixes: Vec<Fix>) -> Vec<Proposal> {
    let fixes = fixes
        .into_iter()
        .filter(|fix| fix.blocked.is_none() && !fix.level.settings.is_empty())
        // A request that waits for its answer has no use for a second channel, and small files are
        // moved as the engine of `linerate copy` asks for them.
        .filter(|fix| moves_big_files(goal) || !fix.id.starts_with("channels-"));
    let proposals = fixes.map(|fix| Proposal {
        candidate: Candidate {
            id: fix.id,
            level: fix.level,
        },
        warning: None,
    });
    proposals.collect()
}

fn of_client(id: &str, field: &str, value: i64) -> Proposal {
    let setting = Setting::Workload {
        field: field.into(),
        value: Value::Integer(value),
    };
    proposal(id, vec![setting], None)
}

/// What the rules would change, in their order.
fn of_rules(
    path: &SharePath,
    goal: GoalArgument,
    session: &TrialResult,
) -> Result<Vec<(&'static Rule, Proposal)>, CommandError> {
    let near = targets(&path.client, session, true)?;
    let far = match &path.server {
        Some(server) => targets(server, session, false)?,
        None => Vec::new(),
    };
    let share = Target::Share(path.share.address.share.clone());
    let far: Vec<Target> = far.into_iter().chain([share]).collect();
    let mut found: Vec<(&'static Rule, Vec<Setting>)> = Vec::new();
    for rule in RULES.iter().filter(|rule| rule.goals.contains(&goal)) {
        let mut settings = Vec::new();
        if !rule.server_only {
            settings.extend(not_so(&path.client, &near, rule)?);
        }
        if let Some(server) = &path.server {
            settings.extend(not_so(server, &far, rule)?);
        }
        if !settings.is_empty() {
            found.push((rule, settings));
        }
    }
    let proposals = found.iter().map(|(rule, settings)| {
        let first = found.iter().find(|(first, _)| rule.needs == Some(first.id));
        let one = match first {
            None => proposal(rule.id, settings.clone(), rule.warning.map(say)),
            Some((first, before)) => {
                let settings = before.iter().chain(settings).cloned().collect();
                let warning = match (first.warning.map(say), rule.warning.map(say)) {
                    (Some(first), Some(second)) => Some(
                        say("told-check.both-warnings")
                            .with("first", first)
                            .with("second", second),
                    ),
                    (first, second) => first.or(second),
                };
                let id = format!("{}-with-{}", rule.id, first.id);
                proposal(&id, settings, warning)
            }
        };
        (*rule, one)
    });
    Ok(proposals.collect())
}

/// What the profile of the goal would change, a candidate for each knob; not what is proposed already.
fn of_profile(
    path: &SharePath,
    goal: GoalArgument,
    known: &[Setting],
) -> Result<Vec<Proposal>, CommandError> {
    let name = match goal {
        GoalArgument::Read | GoalArgument::Write | GoalArgument::Copy => "high-throughput",
        GoalArgument::SmallFiles | GoalArgument::Latency => "low-latency",
    };
    let profile = profile::find(name, None, Protections::Refused)?;
    let judged = profiles::on_path(&profile, path)?;
    let mut knobs: BTreeMap<String, Vec<Setting>> = BTreeMap::new();
    for setting in judged.iter().flat_map(Judged::settings) {
        if let Setting::Knob { id, .. } = &setting
            && !known.contains(&setting)
        {
            let of_knob = knobs.entry(id.as_str().to_owned()).or_default();
            of_knob.push(setting);
        }
    }
    let proposals = knobs.into_iter();
    let proposals = proposals.map(|(id, settings)| proposal(&id, settings, None));
    Ok(proposals.collect())
}

/// The host itself and its NICs that the session went over.
fn targets(host: &Host, session: &TrialResult, near: bool) -> Result<Vec<Target>, CommandError> {
    let facts = host::facts(host)?;
    let used = |nic: &&record::Nic| {
        session.connections.iter().any(|connection| {
            let end = if near {
                connection.local
            } else {
                connection.remote
            };
            let mut addresses = nic.addresses.iter();
            addresses.any(|address| address.address == end.ip())
        })
    };
    let nics = facts.nics.iter().filter(used);
    let nics = nics.map(|nic| Target::Nic(nic.name.clone()));
    Ok(std::iter::once(Target::Host).chain(nics).collect())
}

/// The settings that would make it so where it is not; what a host does not have or cannot change is
/// left out.
fn not_so(host: &Host, targets: &[Target], rule: &Rule) -> Result<Vec<Setting>, CommandError> {
    let spots: Vec<Spot> = targets
        .iter()
        .flat_map(|target| {
            let knobs = knob::of_target(host.system, target).filter(|knob| knob.id == rule.knob);
            knobs.map(|knob| (target.clone(), knob))
        })
        .collect();
    let states = read_states(host, &spots)?;
    let settings = spots.into_iter().zip(states).filter_map(|(spot, state)| {
        let state = state.ok()?;
        let open = state.fixed_because.is_none() && state.value != rule.to;
        open.then(|| Setting::Knob {
            host: host.name.clone(),
            target: spot.0,
            id: KnobId::new(rule.knob),
            value: rule.to.clone(),
        })
    });
    Ok(settings.collect())
}
