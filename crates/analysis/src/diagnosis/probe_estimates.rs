//! Estimates of what interventions on our own connections change: each arm against the control of its block.

use record::{Direction, ProbeKind, Rung};

use super::ladder_and_probe_trials::{ProbeTrial, fair};
use crate::rung_and_probe_verdict::{Sequential, judge};

/// How fast an arm is against its control: above 1 the change helps.
pub(super) fn estimate(
    probes: &[ProbeTrial],
    kind: ProbeKind,
    of: impl Fn(Rung, Direction) -> bool,
) -> Option<Sequential> {
    judge(&blocks(probes, kind, of))
}

/// The rates of control and arm in each block.
pub(super) fn blocks(
    probes: &[ProbeTrial],
    kind: ProbeKind,
    of: impl Fn(Rung, Direction) -> bool,
) -> Vec<(f64, f64)> {
    let arms = probes
        .iter()
        .filter(|trial| trial.changed == Some(kind) && of(trial.rung, trial.direction));
    let blocks: Vec<_> = arms
        .filter_map(|arm| {
            let mut controls = probes.iter();
            let control = controls.find(|trial| {
                trial.changed.is_none()
                    && (trial.rung, trial.direction, trial.block)
                        == (arm.rung, arm.direction, arm.block)
            })?;
            let is_spoiled = control.is_spoiled || arm.is_spoiled;
            Some((is_spoiled, (control.rate?, arm.rate?)))
        })
        .collect();
    fair(&blocks)
}

/// Whether an arm of a rung and a direction failed each time, so that it cannot prove anything there.
pub(super) fn is_impossible(probes: &[ProbeTrial], kind: ProbeKind, of: (Rung, Direction)) -> bool {
    let mut arms = probes
        .iter()
        .filter(|trial| trial.changed == Some(kind) && (trial.rung, trial.direction) == of)
        .peekable();
    arms.peek().is_some() && arms.all(|arm| arm.rate.is_none())
}
