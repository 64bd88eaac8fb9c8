//! What people read about knobs, made from the catalogue.

use std::fmt::Write as _;

use locale::{Language, Message, say};
use record::System;

use super::{Disturbance, KNOBS, Knob};
use crate::exec::Privilege;

impl Disturbance {
    /// It in a sentence.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Nothing => "nothing: it acts at once",
            Self::NewConnections => "nothing; only new connections see it",
            Self::Session => "sessions that are open end",
            Self::LinkReset => "the link may go down for a moment",
        }
    }
}

/// Every system with its name.
const SYSTEMS: [(System, &str); 3] = [
    (System::Linux, "Linux"),
    (System::Windows, "Windows"),
    (System::Macos, "macOS"),
];

/// That no knob of a system was ever run on a real one, where that is so.
#[must_use]
pub const fn unproven(system: System) -> Option<Message> {
    match system {
        System::Linux => None,
        System::Windows => Some(say("knob-unproven.windows")),
        System::Macos => Some(say("knob-unproven.macos")),
    }
}

fn needs(knob: &Knob) -> &'static str {
    match (knob.needs, knob.system) {
        (Privilege::User, _) => "nobody's rights in particular",
        (Privilege::Root, System::Windows) => "an administrator",
        (Privilege::Root, _) => "root",
    }
}

/// All there is to know about one knob, in Markdown that can be read as it is.
#[must_use]
pub fn page(knob: &Knob) -> String {
    let mut page = entry(knob);
    if let Some(unproven) = unproven(knob.system) {
        // Writing to a string cannot fail.
        writeln!(page, "- unproven: {}", Language::English.say(&unproven)).ok();
    }
    page
}

fn entry(knob: &Knob) -> String {
    let unit = knob.unit.map_or(String::new(), |unit| format!(" ({unit})"));
    let survives = if knob.survives_reboot {
        "survives a restart"
    } else {
        "is gone after a restart"
    };
    let named = SYSTEMS.iter().find(|(system, _)| *system == knob.system);
    let system = named.map_or("", |(_, name)| name);
    let mut page = format!("### {}: {}, on {system}\n\n", knob.id, knob.title);
    // Writing to a string cannot fail.
    for (name, text) in [
        ("meaning", knob.meaning),
        ("belongs to", &Language::English.say(&knob.on.message())),
        ("values", &format!("{}{unit}", knob.values)),
        ("default", knob.default),
        ("rule of thumb", knob.rule_of_thumb),
        ("disturbs", knob.disturbs.text()),
        ("needs", needs(knob)),
        ("a change", survives),
        ("source", knob.source),
    ] {
        writeln!(page, "- {name}: {text}").ok();
    }
    page
}

/// All knobs that people can set.
#[must_use]
pub fn reference() -> String {
    let mut text =
        "# Knobs\n\nMade from the catalogue, `host::knob::KNOBS`. `linerate inspect` shows \
        them, `linerate set` sets them, `linerate inspect --explain ID` prints these entries.\n"
            .to_owned();
    for (system, name) in SYSTEMS {
        let of_system = |knob: &&Knob| knob.system == system && !knob.only_in_snapshots;
        let mut knobs = KNOBS.iter().filter(of_system).peekable();
        if knobs.peek().is_some() {
            // Writing to a string cannot fail.
            writeln!(text, "\n## {name}").ok();
            if let Some(unproven) = unproven(system) {
                writeln!(text, "\nUnproven: {}.", Language::English.say(&unproven)).ok();
            }
        }
        for knob in knobs {
            text.push('\n');
            text += &entry(knob);
        }
    }
    text
}
