//! Proof on fresh trials: each candidate of the best setting against that setting without it, and at last
//! all together against the start.

use analysis::{Effect, PhaseResult};
use locale::{Message, say};
use record::{Decision, Direction, Level, Phase, Schedule};
use stats::two_stage_with_futility::Fallback;
use stats::{Verdict, blocks_min};

use super::{PROOF_BLOCKS_MAX, RIVAL_DEVIATIONS, STREAMS, Search, TOGETHER, changed, percent};
use crate::decision_reasons::{clauses, effects, lost};
use crate::error::why;
use crate::gaussian_process::Model;
use crate::phase_execution::{Interruption, PhaseEnd};
use crate::tune::needs_wash_out;
use crate::tune_plan::{Candidate, TunePlan};

/// Blocks of a proof where there is room: with six of them, one in which somebody else disturbs a trial
/// leaves any gain unproven.
const PROOF_BLOCKS: usize = 9;
/// Blocks that find a difference as large as a trial's noise nine times out of ten.
const BLOCKS_FOR_NOISE: f64 = 40.0;
/// Blocks that find such a difference about every other time: what needs more is not tried to be proven.
const BLOCKS_FOR_A_CHANCE: f64 = 12.0;

/// A factor whose choice is proven, and by what.
type Proven = (usize, Vec<Message>);

/// Why a proof is none.
struct Lost {
    reason: Message,
    /// It was shown to make no difference that matters.
    is_alike: bool,
}

impl From<Message> for Lost {
    fn from(reason: Message) -> Self {
        let is_alike = false;
        Self { reason, is_alike }
    }
}

impl Search<'_, '_> {
    /// Leaves out what the trials that are left could hardly prove, the weakest first; the strongest
    /// stays where there is time for it. Gives for each of them what could be proven, as a logarithm, or
    /// that no time was left.
    pub(super) fn leave_hopeless(
        &self,
        model: &Model,
        best: &mut [usize],
    ) -> Vec<(usize, Option<f64>)> {
        let mut hopeless = Vec::new();
        loop {
            let changes = changed(best).count();
            let gains = changed(best).map(|factor| {
                let unsure = model.differences(&[without(best, factor)], best)[0];
                (gain(model, best, factor) + unsure, factor)
            });
            let weakest = gains.min_by(|one, two| one.0.total_cmp(&two.0));
            // Each alone, and all together.
            let trials = 2 * self.plan.tune.responses.len() * (changes + 1);
            let blocks = (self.left() / trials).clamp(self.plan.tune.blocks, PROOF_BLOCKS_MAX);
            let provable = self.usual_noise * (BLOCKS_FOR_A_CHANCE / blocks as f64).sqrt();
            let fits = self.needed(changes) <= self.left();
            match weakest {
                Some((gain, factor)) if !fits || changes > 1 && gain < provable => {
                    best[factor] = 0;
                    hopeless.push((factor, fits.then_some(provable)));
                }
                _ => return hopeless,
            }
        }
    }

    /// Decides what is not in the best setting.
    pub(super) fn return_others(
        &mut self,
        model: &Model,
        best: &[usize],
        hopeless: &[(usize, Option<f64>)],
    ) -> Result<(), Interruption> {
        let with = model.mean(best);
        for factor in 0..self.factors.len() {
            for (choice, index) in (1..).zip(self.factors[factor].clone()) {
                if best[factor] == choice {
                    continue;
                }
                let mut point = best.to_vec();
                point[factor] = choice;
                let gain = model.mean(&point) - with;
                let unsure = 2.0 * model.differences(&[point], best)[0];
                let mut found = vec![on_top(gain, unsure)];
                let hopeless = hopeless.iter().find(|(of, _)| *of == factor);
                found.extend(hopeless.map(|(_, provable)| self.unprovable(*provable)));
                let reason = say("decided.screened-out").with("found", clauses(found));
                let candidate = &self.plan.tune.candidates[index];
                self.tuning.decide(candidate, Decision::Returned, reason)?;
            }
        }
        Ok(())
    }

    fn unprovable(&self, provable: Option<f64>) -> Message {
        match provable {
            Some(provable) => say("decided.too-noisy")
                .with("noise", format!("{:.1}", 100.0 * self.usual_noise))
                .with("least", format!("{:.0}", percent(provable).ceil())),
            None => say("decided.no-time-to-prove"),
        }
    }

    /// Each candidate of the best setting against that setting without it, the weakest first; what is
    /// not better is returned at once. What won before beside that one is measured again, unless that one
    /// was shown to make no difference there, or the search has seen it gain without it too. Gives the
    /// reasons of those that are left.
    pub(super) fn prove(
        &mut self,
        model: &Model,
        best: &mut [usize],
        floors: &[analysis::NoiseFloor],
    ) -> Result<Vec<Proven>, Interruption> {
        // What is kept has won its first proof, so each candidate counts once.
        let mut errors = Fallback::new(1.0 - self.plan.tune.confidence, changed(best).count());
        let mut proven: Vec<Proven> = Vec::new();
        loop {
            let open = unproven(model, best, &proven);
            let Some(&(gain, factor)) = open.first() else {
                return Ok(proven);
            };
            // What is alone is proven against the start, which is the same.
            if changed(best).count() == 1 {
                return Ok(vec![(factor, Vec::new())]);
            }
            let Some(candidate) = self.candidate(factor, best).cloned() else {
                return Ok(proven);
            };
            let levels = [self.level(&without(best, factor)), self.level(best)];
            let judged = (self.confidence(errors.next()), floors);
            let result = self.prove_beside(&candidate.id, levels, (gain, open.len()), judged)?;
            errors.spent(result.is_ok());
            let lost = match result {
                Ok(better) => {
                    let reason = say("decided.against-rest").with("effects", effects(&better));
                    proven.push((factor, vec![reason]));
                    continue;
                }
                Err(lost) => lost,
            };
            let reason = say("decided.against-rest-lost").with("reason", lost.reason);
            self.tuning.decide(&candidate, Decision::Returned, reason)?;
            best[factor] = 0;
            let since = match lost.is_alike {
                true => "decided.rest-alike",
                false => "decided.rest-gains",
            };
            proven.retain(|(of, _)| lost.is_alike || gains_surely(model, best, *of));
            for (_, earlier) in &mut proven {
                earlier.push(say(since).with("id", &candidate.id));
            }
        }
    }

    /// A candidate beside all the rest against the rest without it, where there is time for that and for
    /// the others of the `open` ones, and where it may be proven once more.
    fn prove_beside(
        &mut self,
        id: &str,
        levels: [Level; 2],
        (gain, open): (f64, usize),
        judged: (f64, &[analysis::NoiseFloor]),
    ) -> Result<Result<Vec<Effect>, Lost>, Interruption> {
        let fits = self.proofs_needed(open) <= self.left();
        match self.next_phase(id) {
            Some(phase) if fits => {
                let responses = self.plan.tune.responses.clone();
                // Those that are left, and that of all together.
                let proofs = open + 1;
                self.duel((id, phase), levels, (gain, responses, proofs), judged)
            }
            Some(_) => Ok(Err(self.unprovable(None).into())),
            None => {
                let reason = say("decided.won-with-returned");
                Ok(Err(reason.into()))
            }
        }
    }

    /// What the next proof of a candidate is in the run file; each may be there once.
    fn next_phase(&self, id: &str) -> Option<Phase> {
        let mut phases = [Phase::Compare, Phase::Confirm].into_iter();
        phases.find(|phase| {
            let mut duels = self.duels.iter();
            !duels.any(|(of, used)| of == id && used == phase)
        })
    }

    /// Everything that is left against the start.
    pub(super) fn confirm(
        &mut self,
        model: &Model,
        best: Vec<usize>,
        proven: Vec<Proven>,
        floors: &[analysis::NoiseFloor],
    ) -> Result<Level, Interruption> {
        let level = self.level(&best);
        let levels = [self.tuning.start.clone(), level.clone()];
        let kept: Vec<Candidate> = changed(&best)
            .filter_map(|factor| self.candidate(factor, &best).cloned())
            .collect();
        let id = match &kept[..] {
            [alone] if self.next_phase(&alone.id).is_some() => alone.id.clone(),
            _ => TOGETHER.to_owned(),
        };
        let mut responses = self.plan.tune.responses.clone();
        responses.extend(&self.plan.elsewhere);
        let start = vec![0; self.factors.len()];
        let gain = model.mean(&best) - model.mean(&start);
        let judged = (self.plan.tune.confidence, floors);
        let result = self.duel((&id, Phase::Confirm), levels, (gain, responses, 1), judged)?;
        for (candidate, factor) in kept.iter().zip(changed(&best)) {
            let alone = proven.iter().find(|(of, _)| *of == factor);
            let mut reasons = alone
                .map(|(_, reasons)| reasons.clone())
                .unwrap_or_default();
            match &result {
                Ok(better) => {
                    let joint = say("decided.against-start").with("effects", effects(better));
                    reasons.push(joint);
                    self.tuning
                        .judge(candidate, Decision::Kept, clauses(reasons));
                }
                Err(lost) => {
                    let joint = say("decided.against-start-lost");
                    reasons.push(joint.with("reason", lost.reason.clone()));
                    self.tuning
                        .decide(candidate, Decision::Returned, clauses(reasons))?;
                }
            }
        }
        Ok(if result.is_ok() {
            level
        } else {
            self.tuning.start.clone()
        })
    }

    /// Two levels against each other on fresh trials, in as many blocks as the gain that is expected
    /// needs: the effects if B is better in what counts and worse in nothing that does.
    fn duel(
        &mut self,
        (id, phase): (&str, Phase),
        levels: [Level; 2],
        (gain, responses, proofs): (f64, Vec<Direction>, usize),
        (confidence, floors): (f64, &[analysis::NoiseFloor]),
    ) -> Result<Result<Vec<Effect>, Lost>, Interruption> {
        self.tuning.bench.stop_if_asked()?;
        let each = 2 * responses.len();
        let left = self.left();
        if left < each * self.plan.tune.blocks {
            return Ok(Err(self.unprovable(None).into()));
        }
        // All together are measured elsewhere too.
        let elsewhere = match proofs {
            1 => 0,
            _ => 2 * self.plan.tune.blocks * self.plan.elsewhere.len(),
        };
        // What is left is shared with the proofs that are still to come.
        let share = left.saturating_sub(elsewhere) / (each * proofs.max(1));
        let plan = TunePlan {
            blocks: self.blocks_to_prove(gain, share, confidence),
            confidence,
            responses,
            candidates: Vec::new(),
            ..self.plan.tune.clone()
        };
        self.duels.push((id.to_owned(), phase));
        let ordinal = STREAMS + self.duels.len() as u64;
        let schedule: Schedule = plan.schedule(id, phase, [&levels[0], &levels[1]], ordinal);
        let washes_out = needs_wash_out(&levels[0], &levels[1]);
        let result = match self.tuning.bench.phase(&schedule, washes_out, floors, &[]) {
            Ok(PhaseEnd::Complete(result)) => result,
            Ok(PhaseEnd::TooManyFailures { failed, last }) => {
                let reason = say("decided.last-of-failed").count("count", failed);
                return Ok(Err(reason.with("reason", why(&last)).into()));
            }
            Err(Interruption::TimeOver) => return Ok(Err(self.unprovable(None).into())),
            Err(interruption) => return Err(interruption),
        };
        Ok(self.won(result))
    }

    /// The blocks that a gain needs to be proven, out of a share of those that there is time for.
    fn blocks_to_prove(&self, gain: f64, share: usize, confidence: f64) -> usize {
        let noise = self.usual_noise;
        let needed = BLOCKS_FOR_NOISE * (noise / gain.max(noise / 4.0)).powi(2);
        (needed.ceil() as usize)
            .max(PROOF_BLOCKS)
            .min(share.min(PROOF_BLOCKS_MAX))
            .max(self.plan.tune.blocks)
            .max(blocks_min(confidence))
    }

    /// The effects if B is better in what counts and worse in nothing that does.
    fn won(&self, result: PhaseResult) -> Result<Vec<Effect>, Lost> {
        let counts = |effect: &&Effect| self.plan.tune.responses.contains(&effect.response);
        let goal: Vec<&Effect> = result.effects.iter().filter(counts).collect();
        let has = |verdict: Verdict| goal.iter().any(|effect| effect.verdict == verdict);
        let complete = goal.len() == self.plan.tune.responses.len();
        let won = complete && has(Verdict::Better) && !has(Verdict::Worse);
        let is_alike = complete && goal.iter().all(|one| one.verdict == Verdict::Equivalent);
        match won {
            true => Ok(result.effects),
            false => Err(Lost {
                reason: lost(&result),
                is_alike,
            }),
        }
    }

    /// The confidence of each interval of a proof that may win wrongly with this probability: to win it
    /// must be better, which is one side of an interval, in any response.
    fn confidence(&self, error: f64) -> f64 {
        let two_sided = 2.0 * error / self.plan.tune.responses.len().max(1) as f64;
        1.0 - two_sided.min(1.0 - self.plan.tune.confidence)
    }
}

/// A point with one factor as at the start.
fn without(point: &[usize], factor: usize) -> Vec<usize> {
    let mut rest = point.to_vec();
    rest[factor] = 0;
    rest
}

/// The changes of a point that are not proven yet, each with its gain, the weakest first.
fn unproven(model: &Model, point: &[usize], proven: &[Proven]) -> Vec<(f64, usize)> {
    let mut open: Vec<(f64, usize)> = changed(point)
        .filter(|factor| !proven.iter().any(|(of, _)| of == factor))
        .map(|factor| (gain(model, point, factor), factor))
        .collect();
    open.sort_by(|one, two| one.0.total_cmp(&two.0));
    open
}

/// What a factor seems to gain beside all others of a point, as a logarithm.
fn gain(model: &Model, point: &[usize], factor: usize) -> f64 {
    model.mean(point) - model.mean(&without(point, factor))
}

/// Whether it seems to gain there beyond doubt.
fn gains_surely(model: &Model, point: &[usize], factor: usize) -> bool {
    let unsure = model.differences(&[without(point, factor)], point)[0];
    gain(model, point, factor) > RIVAL_DEVIATIONS * unsure
}

/// What a factor seems to gain on top of the best that was found: `at most 1.05 x`, or that it is no better at all.
fn on_top(gain: f64, unsure: f64) -> Message {
    let signed = |log: f64| format!("{:+.1}", percent(log));
    let seems = match (gain + unsure).exp() {
        ratio if ratio > 1.0005 => say("decided.at-most").with("ratio", format!("{ratio:.3}")),
        _ => say("decided.not-better"),
    };
    seems
        .with("gain", signed(gain))
        .with("low", signed(gain - unsure))
        .with("high", signed(gain + unsure))
}
