//! Why a candidate is kept or put back, as something that can be said in any language.

use analysis::{Effect, NoiseFloor, PhaseResult};
use locale::{Argument, Message, say};
use record::Direction;
use stats::{Estimate, Verdict};

/// Several reasons as one; a single one stays what it is.
pub(crate) fn clauses(mut clauses: Vec<Message>) -> Message {
    match clauses.len() {
        1 => clauses.remove(0),
        _ => say("decided.clauses").with("clauses", Argument::Clauses(clauses)),
    }
}

/// Why a comparison did not win.
pub(crate) fn lost(result: &PhaseResult) -> Message {
    let has = |verdict: Verdict| {
        let mut effects = result.effects.iter();
        effects.any(|effect| effect.verdict == verdict)
    };
    if result.effects.is_empty() {
        return say("decided.nothing-measured").with("reason", last_failure(result));
    }
    let id = match (has(Verdict::Worse), has(Verdict::Undecided)) {
        (true, _) => "decided.costs",
        (false, true) => "decided.not-proven",
        (false, false) => "decided.no-difference",
    };
    let blocks = result.effects.iter();
    let blocks = blocks.filter_map(|effect| effect.blocks_to_settle).max();
    let failed = result.failures.len();
    let reasons = [
        Some(say(id).with("effects", effects(&result.effects))),
        blocks.map(|blocks| say("decided.blocks-needed").count("blocks", blocks)),
        (failed > 0).then(|| say("decided.trials-failed").count("count", failed)),
    ];
    clauses(reasons.into_iter().flatten().collect())
}

/// What the last trial failed of, where one did.
pub(crate) fn last_failure(result: &PhaseResult) -> Message {
    let last = result.failures.last().cloned();
    last.unwrap_or_else(|| say("error-experiment.no-reason"))
}

/// What a candidate does to each response: `read 1.049 [1.045, 1.052] better`.
pub(crate) fn effects(effects: &[Effect]) -> Argument {
    let judged = effects.iter().map(|effect| {
        ratio("decided-effect.judged", effect.response, &effect.ratio)
            .with("verdict", Message::from(effect.verdict))
    });
    Argument::Series(judged.collect())
}

/// How far the baseline differed from itself: `read 1.060 [1.030, 1.090]`.
pub(crate) fn differences(floors: &[&NoiseFloor]) -> Argument {
    let ratios = floors
        .iter()
        .map(|floor| ratio("decided-effect.ratio", floor.response, &floor.ratio));
    Argument::Series(ratios.collect())
}

fn ratio(id: &'static str, response: Direction, ratio: &Estimate) -> Message {
    let interval: Argument = match ratio.interval {
        Some([low, high]) => format!("{low:.3}, {high:.3}").into(),
        None => say("decided-effect.no-interval").into(),
    };
    say(id)
        .with("direction", response)
        .with("ratio", format!("{:.3}", ratio.value))
        .with("interval", interval)
}
