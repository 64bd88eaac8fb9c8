//! What stands in a run file: a header and then tagged records.

use locale::{Kept, Language, Message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Arm, Design, Direction, HostFacts, Level, Nanoseconds, PathFacts, Phase, Recipe, ShareAddress,
    TrialRecord,
};

/// The `format` of every run file.
pub const RUN_FORMAT: &str = "linerate-run";
/// The newest version this program writes.
pub const RUN_VERSION: u32 = 1;
/// This program as run files, journals and peers know it: two that agree on it work together. All crates have one version.
pub const PROGRAM: &str = concat!("linerate ", env!("CARGO_PKG_VERSION"));

/// The first line of a run file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Always [`RUN_FORMAT`].
    pub format: String,
    /// Version of the format.
    pub version: u32,
    /// Program and version that wrote it.
    pub program: String,
    /// Seed of everything random in the run.
    pub seed: u64,
    /// What was asked for.
    pub plan: Plan,
    /// The user, as typed before the host of the share: `user` or `DOMAIN;user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The options that said how to log in and what the session must be, as one types them; never a
    /// password, at most the path of a file that has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub login_options: Vec<String>,
    /// The hosts as they were at the start, client first.
    pub facts: Vec<HostFacts>,
    /// Wall clock at the start; every other time counts from here.
    pub started: jiff::Timestamp,
}

/// What a run was asked to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Plan {
    /// `linerate check`.
    Check {
        /// The share.
        share: ShareAddress,
    },
    /// `linerate bench`.
    Bench {
        /// Share or host, as typed without user and password.
        target: String,
        /// What was run there, where it was more than one workload.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recipe: Option<Box<Recipe>>,
    },
    /// `linerate experiment`.
    Experiment {
        /// Share, folder or host, as typed without user and password.
        target: String,
        /// What it is about.
        title: String,
    },
    /// `linerate tune`.
    Tune {
        /// The share.
        share: ShareAddress,
        /// The candidates, in the order in which they are tried.
        candidates: Vec<Level>,
        /// The folder of a mount of the client's, where the share was named by that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    },
}

/// A question that an experiment answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The baseline.
    pub a: Level,
    /// The change.
    pub b: Level,
    /// The responses: rate of the share in each of these directions.
    pub responses: Vec<Direction>,
    /// Half width of practical equivalence as a share of 1: 0.02 is 2 %.
    pub band: f64,
    /// Confidence asked of each interval, 0.95.
    pub confidence: f64,
}

/// What joins the names of levels that hold together.
pub const LEVELS_JOINED: &str = " + ";

impl Question {
    /// The name of what B adds to A: of levels that hold together those that A has not, wherever they
    /// stand; else that of B.
    #[must_use]
    pub fn change(&self) -> String {
        let parts = |level: &Level| -> Vec<String> {
            level.name.split(LEVELS_JOINED).map(str::to_owned).collect()
        };
        let (before, mut added) = (parts(&self.a), parts(&self.b));
        let taken = before.iter().all(|name| {
            let place = added.iter().position(|one| one == name);
            place.map(|place| added.remove(place)).is_some()
        });
        match taken && !added.is_empty() {
            true => added.join(LEVELS_JOINED),
            false => self.b.name.clone(),
        }
    }
}

/// The order of one phase of an experiment, fixed before its first trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Id of the experiment, unique in the run: `mtu-9000`.
    pub experiment: String,
    /// Which part.
    pub phase: Phase,
    /// What is asked.
    pub question: Question,
    /// Arms in order, a row for each block.
    pub blocks: Vec<Vec<Arm>>,
    /// Order of the responses at each of these visits; empty where it was left open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<Vec<Vec<Direction>>>,
    /// Two-sided error of the interval over the blocks of this phase and of the phase `Compare` of the
    /// same experiment, which are judged together; `None` where the phase is judged by its own blocks
    /// at the confidence of its question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint_error: Option<f64>,
}

/// Settings that a search tries in one go, in their order; fixed before the first of these trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Its number in the run, from 0.
    pub round: u32,
    /// What it is for, in a few words.
    pub what: String,
    /// What is tried.
    pub levels: Vec<Level>,
    /// Places of these levels in order, a row for each block.
    pub blocks: Vec<Vec<u32>>,
    /// What is measured of each.
    pub responses: Vec<Direction>,
}

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Proven better, and confirmed: left in place.
    Kept,
    /// Put back.
    Returned,
}

/// Something that happened, other than a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A change of hosts was journalled and will be made.
    ChangeOpened {
        /// Its id, for `linerate undo ID`.
        change: String,
    },
    /// A change was undone and read back.
    ChangeUndone {
        /// Its id.
        change: String,
        /// Whether every host reads as before it.
        restored: bool,
    },
    /// A candidate was decided.
    Decided {
        /// The experiment's id.
        experiment: String,
        /// What was done.
        decision: Decision,
        /// Why, in a sentence, in English.
        reason: String,
        /// The same as it can be said in other languages.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Kept>,
    },
    /// Something worth knowing, for people.
    Note {
        /// The text, in English.
        text: String,
        /// The same as it can be said in other languages.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Kept>,
    },
    /// The run ended by itself. A run without it was cut short.
    Finished,
    /// An event of a newer program, which this one does not know.
    #[serde(other)]
    Unknown,
}

impl Event {
    /// A candidate was decided.
    #[must_use]
    pub fn decided(experiment: String, decision: Decision, reason: &Message) -> Self {
        Self::Decided {
            experiment,
            decision,
            reason: Language::English.say(reason),
            message: Kept::of_message(reason),
        }
    }

    /// Something worth knowing.
    #[must_use]
    pub fn note(message: &Message) -> Self {
        Self::Note {
            text: Language::English.say(message),
            message: Kept::of_message(message),
        }
    }

    /// What an event tells people, as it can be said in any language: why a candidate was decided, or a note.
    #[must_use]
    pub fn message(&self) -> Option<Message> {
        match self {
            Self::Decided {
                reason: text,
                message,
                ..
            }
            | Self::Note { text, message } => Some(Kept::of_text(text, message)),
            Self::ChangeOpened { .. }
            | Self::ChangeUndone { .. }
            | Self::Finished
            | Self::Unknown => None,
        }
    }
}

/// A line after the header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// A phase of an experiment begins.
    Schedule(Schedule),
    /// An experiment over several factors begins.
    Design(Box<Design>),
    /// A round of a search begins.
    Round(Round),
    /// A trial is over.
    Trial(Box<TrialRecord>),
    /// What the path looks like; the last one counts.
    #[serde(rename = "look")]
    Path(Box<PathFacts>),
    /// Something else happened.
    Event {
        /// When, since the start of the run.
        at: Nanoseconds,
        /// What.
        #[serde(flatten)]
        event: Event,
    },
}

/// A whole run file.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The header.
    pub header: Header,
    /// The records, in order.
    pub records: Vec<Record>,
    /// What was wrong with the file and could be passed over, for people.
    pub warnings: Vec<Message>,
}

#[cfg(test)]
mod tests {
    use locale::{Language, say};

    use super::{Decision, Event, Level, Question, Record};

    fn change(a: &str, b: &str) -> String {
        let level = |name: &str| Level {
            name: name.into(),
            settings: Vec::new(),
        };
        let question = Question {
            a: level(a),
            b: level(b),
            responses: Vec::new(),
            band: 0.02,
            confidence: 0.95,
        };
        question.change()
    }

    #[test]
    fn a_reason_is_english_in_the_file_and_can_be_said_in_any_language() {
        let reason = say("decided.no-time-to-try").with("seconds", "2.5");
        let event = Event::decided("mtu-9000".into(), Decision::Returned, &reason);
        let at = crate::Nanoseconds::new(7);
        let text = serde_json::to_string(&Record::Event { at, event }).expect("JSON");
        let read: Record = serde_json::from_str(&text).expect("what we wrote");
        let Record::Event { event, .. } = read else {
            unreachable!("it is an event");
        };
        assert_eq!(event.message(), Some(reason.clone()));
        let Event::Decided {
            reason: english, ..
        } = event
        else {
            unreachable!("a candidate was decided");
        };
        assert_eq!(english, Language::English.say(&reason));
        assert!(text.contains(&english), "{text}");
    }

    /// As they were written before, by somebody else, and with another sentence beside the text.
    #[test]
    fn a_text_without_its_message_is_said_as_it_stands() {
        for beside in [
            "",
            r#","message":{"id":"no-such-id"}"#,
            r#","message":{"id":"decided.stopped"}"#,
        ] {
            let text = format!(r#"{{"event":"note","text":"the link was down"{beside}}}"#);
            let event: Event = serde_json::from_str(&text).expect("a note");
            assert_eq!(event.message(), Some("the link was down".into()));
        }
    }

    #[test]
    fn a_change_is_named_without_what_holds_beside_it() {
        assert_eq!(change("as it is", "MTU 9000"), "MTU 9000");
        assert_eq!(change("as it is", "buffer + MTU 9000"), "buffer + MTU 9000");
        assert_eq!(change("buffer", "buffer + MTU 9000"), "MTU 9000");
        assert_eq!(change("MTU 9000", "buffer + MTU 9000"), "buffer");
        let all = "buffer + 2 channels + MTU 9000";
        assert_eq!(change("buffer + MTU 9000", all), "2 channels");
        assert_eq!(change(all, all), all);
        assert_eq!(
            change("MTU 9000 + buffer", "buffer + 2 channels"),
            "buffer + 2 channels"
        );
    }
}
