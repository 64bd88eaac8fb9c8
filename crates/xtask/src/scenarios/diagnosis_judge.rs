//! What one check said, and whether it was right.

use clap::ValueEnum;
use lab::{Expected, Lesson, Topology};
use serde_json::{Value, json};

/// What is written where no cause was named.
pub const NOTHING: &str = "none";
/// The state of a cause of a program that gives none.
pub const NAMED: &str = "named";
/// States in which a cause is an answer.
const ANSWERS: [&str; 3] = ["proven", "suspected", NAMED];

/// What is listed behind the causes: what a rung loses, and not why. As the first it is no answer.
const LOSSES: [&str; 2] = ["tcp-slower-than-ceiling", "share-slower-than-tcp"];

/// What is proven where the machine below the lab has its processors taken away.
const STOLEN: &str = "cpu-stolen";
/// The part of a processor's time from which that is so.
const STOLEN_MIN: f64 = 0.05;

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum View {
    BothEnds,
    Client,
}

impl View {
    pub const ALL: [Self; 2] = [Self::BothEnds, Self::Client];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BothEnds => "both-ends",
            Self::Client => "client",
        }
    }

    pub fn expected(self, lesson: &Lesson) -> &Expected {
        match self {
            Self::BothEnds => &lesson.both_ends,
            Self::Client => &lesson.client,
        }
    }
}

/// A cause of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    pub id: String,
    pub state: String,
}

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The right cause came first, as sure as it has to be; or none, where none can be known.
    Right,
    /// The right cause came first, but it is only suspected where it has to be proven.
    Weak,
    /// No cause, though there is one that can be known.
    Silent,
    /// Another cause came first.
    Wrong,
    /// Another cause came first, and is said to be proven.
    WrongProven,
    /// The check ended without an answer.
    Failed,
}

impl Verdict {
    pub const ALL: [Self; 6] = [
        Self::Right,
        Self::Weak,
        Self::Silent,
        Self::Wrong,
        Self::WrongProven,
        Self::Failed,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Weak => "right, not proven",
            Self::Silent => "silent",
            Self::Wrong => "wrong",
            Self::WrongProven => "wrong and proven",
            Self::Failed => "no answer",
        }
    }

    /// Whether the right cause came first.
    pub const fn is_right_first(self) -> bool {
        matches!(self, Self::Right | Self::Weak)
    }
}

/// What one check said.
pub struct Checked {
    pub view: View,
    /// All causes, those that are ruled out or not knowable too; none where there was no answer.
    pub causes: Option<Vec<Cause>>,
    pub headline: Option<String>,
    /// Where all that was measured is.
    pub run_file: Option<String>,
    pub exit: Option<i32>,
    pub seconds: f64,
    /// The part of the time that the hypervisor gave to others, of the processor that lost most: no lab's fault, and
    /// true all the same.
    pub stolen: f64,
}

impl Checked {
    /// The causes in the JSON of a check.
    pub fn causes_in(said: &Value) -> Option<Vec<Cause>> {
        let causes = said["diagnosis"]["causes"].as_array()?;
        let cause = |cause: &Value| {
            let state = cause["state"].as_str().unwrap_or(NAMED);
            let id = cause["id"].as_str()?.to_owned();
            Some(Cause {
                id,
                state: state.to_owned(),
            })
        };
        Some(causes.iter().filter_map(cause).collect())
    }

    /// The first cause that is an answer.
    pub fn first(&self) -> Option<&Cause> {
        let mut causes = self.causes.iter().flatten();
        causes.find(|cause| ANSWERS.contains(&cause.state.as_str()))
    }

    /// What is shown as named.
    pub fn named(&self) -> String {
        match (&self.causes, self.first()) {
            (None, _) => Verdict::Failed.as_str().to_owned(),
            (_, None) => NOTHING.to_owned(),
            (_, Some(first)) if first.state == NAMED => first.id.clone(),
            (_, Some(first)) => format!("{} ({})", first.id, first.state),
        }
    }

    /// Causes that are said to be proven and are not in the lab, first or not.
    pub fn wrong_proven(&self, lesson: &Lesson) -> Vec<&str> {
        let causes = self.causes.iter().flatten();
        let proven = causes.filter(|cause| cause.state == "proven");
        let ids = proven.map(|cause| cause.id.as_str());
        let known = |id: &&str| {
            lesson
                .both_ends
                .causes
                .iter()
                .chain(&lesson.client.causes)
                .chain(&lesson.also)
                .any(|it| it == id)
        };
        let is_true = |id: &str| id == STOLEN && self.stolen > STOLEN_MIN;
        ids.filter(|id| !LOSSES.contains(id) && !known(id) && !is_true(id))
            .collect()
    }

    /// Whether all that this view cannot decide is said to be so.
    fn says_not_knowable(&self, expected: &Expected) -> bool {
        let said = |id: &String| {
            let mut causes = self.causes.iter().flatten();
            causes.any(|cause| cause.id == *id && cause.state == "unknowable")
        };
        !expected.not_knowable.is_empty() && expected.not_knowable.iter().all(said)
    }

    pub fn verdict(&self, lesson: &Lesson) -> Verdict {
        let expected = self.view.expected(lesson);
        if self.causes.is_none() {
            return Verdict::Failed;
        }
        let healthy = lesson.both_ends.causes.is_empty();
        match self.first() {
            None if healthy => Verdict::Right,
            // It cannot be known there, and that is what was said.
            None if self.says_not_knowable(expected) => Verdict::Right,
            None => Verdict::Silent,
            Some(first) if expected.causes.contains(&first.id) => {
                let proof = expected.state.as_str();
                match first.state.as_str() {
                    "suspected" if proof == "proven" => Verdict::Weak,
                    _ => Verdict::Right,
                }
            }
            Some(first) if first.state == "proven" => Verdict::WrongProven,
            Some(_) => Verdict::Wrong,
        }
    }

    pub fn json(&self, lesson: &Lesson) -> Value {
        let causes = self.causes.iter().flatten();
        let causes = causes.map(|cause| json!({ "id": cause.id, "state": cause.state }));
        json!({
            "view": self.view.as_str(),
            "first": self.first().map(|first| json!({ "id": first.id, "state": first.state })),
            "causes": causes.collect::<Vec<_>>(),
            "verdict": self.verdict(lesson).as_str(),
            "wrong_proven": self.wrong_proven(lesson),
            "headline": self.headline,
            "run_file": self.run_file,
            "exit": self.exit,
            "seconds": self.seconds,
            "stolen": self.stolen,
        })
    }
}

/// The share of a lab's server as the client finds it: at the first address of the server.
pub fn share(topology: &Topology) -> String {
    let mut shares = topology.shares().into_iter();
    shares.next().expect("a server with a share").to_string()
}
