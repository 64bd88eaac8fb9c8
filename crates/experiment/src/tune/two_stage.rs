//! One candidate against the best so far, in two stages: what could still be shown to be better is
//! measured again on fresh trials.

use analysis::{NoiseFloor, PhaseResult};
use locale::{Argument, Message, say};
use record::{Direction, Level, Phase, Schedule};
use stats::two_stage_with_futility::{Interim, TwoStage};
use stats::{PairedRatios, Verdict};

use super::{Tuning, needs_wash_out};
use crate::decision_reasons::{clauses, effects, lost};
use crate::error::why;
use crate::phase_execution::{Interruption, PhaseEnd};
use crate::tune_plan::{Candidate, TunePlan, ordinal};

/// What one comparison came to.
enum Judgement {
    Complete(PhaseResult),
    Lost(Message),
}

impl Tuning<'_, '_> {
    /// The two stages of a candidate that may be kept wrongly with this probability. To be kept it must
    /// be better, which is one side of an interval, in any of the responses.
    pub(super) fn stages(&self, error: f64) -> TwoStage {
        let two_sided = 2.0 * error / self.plan.responses.len().max(1) as f64;
        TwoStage {
            blocks: self.plan.blocks,
            error: two_sided.min(1.0 - self.plan.confidence),
        }
    }

    /// Compare, and confirm: the reason to keep it, or to return it.
    pub(super) fn candidate(
        &mut self,
        of: (usize, &Candidate),
        stages: TwoStage,
        levels: [&Level; 2],
        floors: &[NoiseFloor],
    ) -> Result<Result<Message, Message>, Interruption> {
        let compared = match self.compare(of, levels, floors)? {
            Judgement::Complete(compared) => compared,
            Judgement::Lost(reason) => return Ok(Err(reason)),
        };
        let interim = interim(stages, &compared, floors);
        if interim == Interim::Hopeless || has(&compared, Verdict::Worse) {
            return Ok(Err(lost(&compared)));
        }
        let first = say("decided.compared").with("effects", effects(&compared.effects));
        let not_confirmed = |reason: Message| {
            let reason = say("decided.not-confirmed").with("reason", reason);
            clauses(vec![first.clone(), reason])
        };
        self.bench.stop_if_asked()?;
        let earlier = &compared.pairs;
        let confirmed = match self.confirm(of, stages, interim, (levels, floors, earlier))? {
            Judgement::Complete(confirmed) => confirmed,
            Judgement::Lost(reason) => return Ok(Err(not_confirmed(reason))),
        };
        if !has(&confirmed, Verdict::Better) || has(&confirmed, Verdict::Worse) {
            return Ok(Err(not_confirmed(lost(&confirmed))));
        }
        let second = say("decided.all-blocks").with("effects", effects(&confirmed.effects));
        let pairs = |result: &'_ PhaseResult, response: Direction| -> Option<PairedRatios> {
            let mut pairs = result.pairs.iter();
            pairs
                .find(|(of, _)| *of == response)
                .map(|(_, pairs)| pairs.clone())
        };
        let is_borne_out = confirmed.effects.iter().any(|effect| {
            let both = pairs(&compared, effect.response).zip(pairs(&confirmed, effect.response));
            effect.verdict == Verdict::Better
                && both.is_some_and(|(first, fresh)| stages.is_confirmed(&first, &fresh))
        });
        let mut reasons = vec![first, second];
        if !is_borne_out {
            let reasons = Argument::Clauses(reasons);
            return Ok(Err(say("decided.not-borne-out").with("reason", reasons)));
        }
        let unsure = floors.iter().filter(|floor| floor.alarm);
        reasons
            .extend(unsure.map(|floor| say("decided.uncertain").with("direction", floor.response)));
        Ok(Ok(clauses(reasons)))
    }

    fn compare(
        &mut self,
        (index, candidate): (usize, &Candidate),
        levels: [&Level; 2],
        floors: &[NoiseFloor],
    ) -> Result<Judgement, Interruption> {
        let ordinal = ordinal(index, Phase::Compare);
        let schedule = self
            .plan
            .schedule(&candidate.id, Phase::Compare, levels, ordinal);
        self.comparison(&schedule, levels, floors, &[])
    }

    /// The fresh blocks, judged together with the earlier ones.
    fn confirm(
        &mut self,
        (index, candidate): (usize, &Candidate),
        stages: TwoStage,
        interim: Interim,
        (levels, floors, earlier): ([&Level; 2], &[NoiseFloor], &[(Direction, PairedRatios)]),
    ) -> Result<Judgement, Interruption> {
        let fresh = TunePlan {
            blocks: stages.fresh_blocks(interim),
            ..self.plan.clone()
        };
        let ordinal = ordinal(index, Phase::Confirm);
        let mut schedule = fresh.schedule(&candidate.id, Phase::Confirm, levels, ordinal);
        schedule.joint_error = Some(stages.last_error());
        self.comparison(&schedule, levels, floors, earlier)
    }

    fn comparison(
        &mut self,
        schedule: &Schedule,
        levels: [&Level; 2],
        floors: &[NoiseFloor],
        earlier: &[(Direction, PairedRatios)],
    ) -> Result<Judgement, Interruption> {
        let washes_out = needs_wash_out(levels[0], levels[1]);
        let result = match self.bench.phase(schedule, washes_out, floors, earlier)? {
            PhaseEnd::Complete(result) => result,
            PhaseEnd::TooManyFailures { failed, last } => {
                let reason = say("decided.last-of-failed").count("count", failed);
                return Ok(Judgement::Lost(reason.with("reason", why(&last))));
            }
        };
        let complete = result.effects.len() == self.plan.responses.len();
        Ok(match complete {
            true => Judgement::Complete(result),
            false => Judgement::Lost(lost(&result)),
        })
    }
}

/// The best of what the first stage leads to in each response that can be believed and is not shown to
/// be the same already.
fn interim(stages: TwoStage, compared: &PhaseResult, floors: &[NoiseFloor]) -> Interim {
    let alarmed = |response: Direction| {
        let mut floors = floors.iter();
        floors.any(|floor| floor.response == response && floor.alarm)
    };
    let is_open = |response: Direction| {
        let mut effects = compared.effects.iter();
        let effect = effects.find(|effect| effect.response == response);
        effect.is_some_and(|effect| effect.verdict != Verdict::Equivalent)
    };
    let open = compared.pairs.iter();
    let open = open.filter(|(response, _)| !alarmed(*response) && is_open(*response));
    let stages = open.map(|(_, pairs)| stages.interim(pairs));
    stages.max().unwrap_or(Interim::Hopeless)
}

fn has(result: &PhaseResult, verdict: Verdict) -> bool {
    let mut effects = result.effects.iter();
    effects.any(|effect| effect.verdict == verdict)
}
