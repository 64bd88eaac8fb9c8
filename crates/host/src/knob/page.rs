//! What people read about knobs, made from the catalogue.

use std::fmt::Write as _;

use super::{Disturbance, KNOBS, Knob};

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

/// All there is to know about one knob, in Markdown that can be read as it is.
#[must_use]
pub fn page(knob: &Knob) -> String {
    let unit = knob.unit.map_or(String::new(), |unit| format!(" ({unit})"));
    let survives = if knob.survives_reboot {
        "survives a restart"
    } else {
        "is gone after a restart"
    };
    let mut page = format!("## {}: {}\n\n", knob.id, knob.title);
    // Writing to a string cannot fail.
    for (name, text) in [
        ("meaning", knob.meaning),
        ("belongs to", knob.on.text()),
        ("values", &format!("{}{unit}", knob.values)),
        ("default", knob.default),
        ("rule of thumb", knob.rule_of_thumb),
        ("disturbs", knob.disturbs.text()),
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
    let mut text = "# Knobs\n\nMade from the catalogue, `host::knob::KNOBS`, for Linux. \
        `linerate inspect` shows them, `linerate set` sets them, `linerate inspect --explain ID` \
        prints one of these entries.\n"
        .to_owned();
    for knob in KNOBS.iter().filter(|knob| !knob.only_in_snapshots) {
        text.push('\n');
        text += &page(knob);
    }
    text
}
