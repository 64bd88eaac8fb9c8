//! What `inspect` prints for programs.

use analysis::Contradiction;
use host::knob::Knob;
use locale::Message;
use record::{HostFacts, System, Target, Value};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Found, Looked, could_be};
use crate::stdout_and_stderr;

/// What `inspect --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Inspection<'a> {
    /// Where the two ends contradict each other.
    contradictions: Vec<ListedContradiction<'a>>,
    /// The hosts, in the order in which they were named.
    hosts: Vec<InspectedHost<'a>>,
}

/// Something that the two ends do not agree about, or that one end has and does not use.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedContradiction<'a> {
    /// A word for it: `mtu`, `speed`, `queues`.
    kind: &'a str,
    /// What is so, in a sentence.
    text: &'a Message,
    /// What to do.
    hint: &'a Message,
}

/// A host.
#[derive(Debug, Serialize, JsonSchema)]
struct InspectedHost<'a> {
    /// What it is and has, as run files keep it.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    facts: &'a HostFacts,
    /// Its settings.
    settings: Vec<InspectedSetting<'a>>,
}

/// A setting of a host.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum InspectedSetting<'a> {
    /// It can be read.
    Read {
        /// The part of the host.
        target: &'a Target,
        /// The knob.
        knob: &'static str,
        /// Its value.
        value: &'a Value,
        /// The values that it takes, in words.
        could_be: Message,
        /// Why it cannot be changed at all; null where it can.
        fixed_because: Option<&'a Message>,
        /// What else there is to know about the value.
        remark: Option<&'a Message>,
    },
    /// It cannot be read.
    NotThere {
        /// The part of the host.
        target: &'a Target,
        /// The knob.
        knob: &'static str,
        /// Why the host does not have it.
        not_there: &'a Message,
    },
}

/// What `inspect --explain ID --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explanation {
    /// The knobs of that id, one for each system that has it.
    knobs: Vec<ExplainedKnob>,
}

/// All about a knob.
#[derive(Debug, Serialize, JsonSchema)]
struct ExplainedKnob {
    /// Its id.
    id: &'static str,
    /// The system that it is for: `linux`, `windows` or `macos`.
    #[schemars(with = "String")]
    system: System,
    /// A name of a few words.
    title: &'static str,
    /// What it does.
    meaning: &'static str,
    /// The unit of its value; null where it has none.
    unit: Option<&'static str>,
    /// Which values there are in general.
    values: &'static str,
    /// What setting it disturbs.
    disturbs: &'static str,
    /// What it is where it was never set.
    default: &'static str,
    /// Whether a value that is set is still there after a restart.
    survives_reboot: bool,
    /// What to set it to, in a sentence.
    rule_of_thumb: &'static str,
    /// Where that is known from.
    source: &'static str,
}

impl ExplainedKnob {
    fn of(knob: &Knob) -> Self {
        Self {
            id: knob.id,
            system: knob.system,
            title: knob.title,
            meaning: knob.meaning,
            unit: knob.unit,
            values: knob.values,
            disturbs: knob.disturbs.text(),
            default: knob.default,
            survives_reboot: knob.survives_reboot,
            rule_of_thumb: knob.rule_of_thumb,
            source: knob.source,
        }
    }
}

impl<'a> InspectedSetting<'a> {
    fn of(found: &'a Found) -> Self {
        let ((target, knob), state) = found;
        match state {
            Ok(state) => Self::Read {
                target,
                knob: knob.id,
                value: &state.value,
                could_be: could_be(state),
                fixed_because: state.fixed_because.as_ref(),
                remark: state.remark.as_ref(),
            },
            Err(refusal) => Self::NotThere {
                target,
                knob: knob.id,
                not_there: &refusal.reason,
            },
        }
    }
}

/// Prints all about the knobs of an id.
pub(super) fn print_knobs(own: &[&Knob]) {
    stdout_and_stderr::print_json(&Explanation {
        knobs: own.iter().map(|knob| ExplainedKnob::of(knob)).collect(),
    });
}

/// Prints what was found on hosts.
pub(super) fn print(looked: &[Looked], found: &[Contradiction]) {
    let contradictions = found.iter().map(|one| ListedContradiction {
        kind: one.kind,
        text: &one.text,
        hint: &one.hint,
    });
    let hosts = looked.iter().map(|looked| InspectedHost {
        facts: &looked.facts,
        settings: looked.found.iter().map(InspectedSetting::of).collect(),
    });
    stdout_and_stderr::print_json(&Inspection {
        contradictions: contradictions.collect(),
        hosts: hosts.collect(),
    });
}
