//! How far an experiment is, for people.

use experiment::Progress;
use locale::{said, say, text};
use record::Decision;

use crate::stdout_and_stderr::Progress as ProgressLine;

/// Progress of an experiment, for people.
pub(super) fn tell(progress: &mut ProgressLine, stage: &mut String, event: Progress) {
    match event {
        Progress::PhaseBegins {
            experiment,
            phase,
            trials,
        } => {
            let what = match phase {
                record::Phase::SameAgainstSame => "stage.baseline",
                record::Phase::Compare => "stage.compare",
                record::Phase::Confirm => "stage.confirm",
            };
            let what = say(what).with("experiment", experiment);
            *stage = said(&what.count("trials", trials));
            progress.stage(stage);
        }
        Progress::RoundBegins { what, trials } => {
            *stage = said(
                &say("stage.round")
                    .with("what", what)
                    .count("trials", trials),
            );
            progress.stage(stage);
        }
        Progress::Found { text } => progress.note(&said(&text)),
        Progress::Setting { level } => {
            progress.detail(&said(&say("step.setting").with("level", level)));
        }
        Progress::TrialBegins {
            block,
            arm,
            response,
            discarded,
            ..
        } => {
            let step = say("step.block")
                .count("block", u64::from(block) + 1)
                .with("arm", format!("{arm:?}"))
                .with("direction", response)
                .with_known("discarded", discarded.then_some(""));
            progress.detail(&said(&step));
        }
        Progress::TrialEnds { rate } => {
            progress.advance();
            if let Err(reason) = rate {
                progress.note(&said(&say("trial-failed").with("reason", reason)));
            }
        }
        Progress::Decided {
            experiment,
            decision,
            reason,
        } => {
            progress.note(&decided(&experiment, decision, &said(&reason)));
        }
        Progress::Restoring => progress.detail(&text("step.restoring")),
    }
}

/// What became of a candidate, and why.
fn decided(experiment: &str, decision: Decision, reason: &str) -> String {
    let sentence = say(match decision {
        Decision::Kept => "told-plan.kept",
        Decision::Returned => "told-plan.returned",
    });
    let sentence = sentence.with("experiment", experiment);
    said(&sentence.with("reason", reason))
}
