//! The first sentence of a report, and what must be known before anything else is believed.

use analysis::{Effect, ExperimentResult, RunAnalysis};
use locale::{Message, counted, list, said, say, text};
use record::Plan;
use stats::Verdict;

use super::experiment::{
    candidates, final_effects, is_together, is_unsteady, kept, noises, screened_out,
};
use super::{Said, Tone, direction, workload_short};
use crate::{bench_recipe_results, factorial_experiment, quantity};

/// The one sentence a busy person reads.
pub(crate) fn headline(analysis: &RunAnalysis) -> Said {
    match &analysis.plan {
        Plan::Check { .. } => check_headline(analysis),
        Plan::Tune { .. } => tune_headline(analysis),
        Plan::Bench { .. } => bench_headline(analysis),
        Plan::Experiment { .. } => factorial_experiment::headline(analysis),
    }
}

fn check_headline(analysis: &RunAnalysis) -> Said {
    match &analysis.diagnosis {
        None => Said::new(Tone::Doubtful, text("headline-of-run.nothing")),
        Some(diagnosis) => {
            let tone = match (&diagnosis.first_loss, diagnosis.complete) {
                _ if diagnosis.named().is_some() => Tone::Bad,
                (Some(_), _) => Tone::Bad,
                (None, true) => Tone::Good,
                (None, false) => Tone::Doubtful,
            };
            Said::new(tone, said(&diagnosis.headline))
        }
    }
}

fn tune_headline(analysis: &RunAnalysis) -> Said {
    let tried = candidates(analysis).filter(|one| !is_together(one)).count();
    let planned = tried + analysis.untried.len();
    let kept: Vec<_> = kept(analysis).collect();
    if tried == 0 && candidates(analysis).next().is_none() {
        return nothing_tried(analysis);
    }
    let is_unsteady_run = noises(analysis).any(|(band, noise)| is_unsteady(noise, band));
    let warned = |id| match (is_unsteady_run, kept.len() < planned) {
        (true, true) => say(id).with("warning", say("tuned.unsteady-and-not-kept")),
        (true, false) => say(id).with("warning", say("tuned.unsteady")),
        (false, _) => say(id),
    };
    let planned = counted("count.changes", planned);
    if kept.is_empty() {
        let all_decided = candidates(analysis).all(|one| one.decision.is_some());
        if !all_decided {
            return Said::new(Tone::Doubtful, said(&warned("tuned.undecided")));
        }
        let tone = match is_unsteady_run {
            true => Tone::Doubtful,
            false => Tone::Neutral,
        };
        let sentence = warned("tuned.kept-nothing").with("planned", planned);
        return Said::new(tone, said(&sentence));
    }
    let sentence = |id| {
        warned(id)
            .count("kept", kept.len())
            .with("planned", planned)
    };
    let sentence = match candidates(analysis).find(|one| is_together(one)) {
        Some(together) => {
            let names: Vec<String> = kept
                .iter()
                .map(|one| format!("`{}`", one.question.change()))
                .collect();
            sentence("tuned.kept-together")
                .with("proven", proven(together).join(", "))
                .with("names", list(&names))
        }
        None => {
            let each = kept.iter().map(|one| {
                let change = one.question.change();
                said(
                    &say("tuned.one")
                        .with("change", change)
                        .with("proven", proven(one).join(", ")),
                )
            });
            let each: Vec<String> = each.collect();
            sentence("tuned.kept").with("each", each.join("; "))
        }
    };
    Said::new(Tone::Good, said(&sentence))
}

/// What a kept change is proven to give, and of which response nothing can be said.
fn proven(experiment: &ExperimentResult) -> Vec<String> {
    let words = |effect: &&Effect| {
        let response = |id| say(id).with("direction", effect.response);
        said(&match effect.verdict {
            Verdict::Better | Verdict::Worse => {
                response("proven.ratio").with("ratio", quantity::ratio(effect.ratio.value))
            }
            Verdict::Equivalent => response("proven.same"),
            Verdict::Undecided => response("proven.unknown"),
        })
    };
    final_effects(experiment).iter().map(words).collect()
}

fn nothing_tried(analysis: &RunAnalysis) -> Said {
    let screened = screened_out(analysis).len();
    let alarm = noises(analysis).any(|(_, noise)| noise.alarm);
    let mut reasons: Vec<&Message> = Vec::new();
    for one in &analysis.untried {
        if !reasons.contains(&&one.reason) {
            reasons.push(&one.reason);
        }
    }
    let untried = counted("count.changes", analysis.untried.len());
    let (tone, sentence) = match reasons[..] {
        _ if alarm => (Tone::Bad, say("untried.alarm")),
        _ if screened > 0 => (
            Tone::Neutral,
            say("untried.nothing-promises").with("planned", untried),
        ),
        [] => (Tone::Doubtful, say("untried")),
        [reason] => {
            let sentence = say("untried.reason").with("reason", reason.clone());
            (Tone::Doubtful, sentence)
        }
        _ => (Tone::Doubtful, say("untried.all").with("planned", untried)),
    };
    Said::new(tone, said(&sentence))
}

fn bench_headline(analysis: &RunAnalysis) -> Said {
    if let Some(recipe) = bench_recipe_results::of(analysis) {
        return bench_recipe_results::headline(recipe, analysis);
    }
    let measured: Vec<String> = analysis
        .bench
        .iter()
        .filter_map(|bench| {
            let median = bench.median.as_ref()?;
            Some(format!(
                "{} {}",
                workload_short(&bench.workload),
                quantity::estimate(median)
            ))
        })
        .collect();
    if measured.is_empty() {
        Said::new(Tone::Doubtful, text("headline-of-run.no-measurement"))
    } else {
        Said::new(Tone::Neutral, measured.join(" · "))
    }
}

/// Whether a note says what keeping something means, which nobody should have to look for.
pub(super) fn is_price(note: &Message) -> bool {
    note.id == "run-note.kept"
}

/// What must be known before anything else on the page is believed.
pub(crate) fn alerts(analysis: &RunAnalysis) -> Vec<Said> {
    let mut alerts = Vec::new();
    if !analysis.finished {
        alerts.push(Said::new(Tone::Doubtful, text("alert.cut-short")));
    }
    let alarms = analysis
        .experiments
        .iter()
        .flat_map(|one| &one.noise)
        .filter(|noise| noise.alarm);
    for noise in alarms {
        let sentence = say("alert.noise")
            .with("direction", noise.response)
            .with("ratio", quantity::estimate_with_interval(&noise.ratio));
        alerts.push(Said::new(Tone::Bad, said(&sentence)));
    }
    alerts.extend(more_than_fits(analysis));
    let prices = analysis.notes.iter().filter(|note| is_price(note));
    alerts.extend(prices.map(|note| Said::new(Tone::Doubtful, said(note))));
    let not_back = analysis.changes.iter();
    for change in not_back.filter(|change| change.restored == Some(false)) {
        let sentence = say("alert.not-restored").with("change", change.id.to_string());
        alerts.push(Said::new(Tone::Bad, said(&sentence)));
    }
    alerts.extend(analysis.warnings.iter().map(|warning| {
        let sentence = say("alert.run-file").with("warning", warning.clone());
        Said::new(Tone::Doubtful, said(&sentence))
    }));
    alerts
}

/// Rates of `bench` that no link can have carried.
fn more_than_fits(analysis: &RunAnalysis) -> Option<Said> {
    let above = analysis
        .bench
        .iter()
        .filter(|bench| bench.exceeded.is_some());
    let names: Vec<String> = above
        .clone()
        .map(|bench| match &bench.test {
            Some(test) => {
                let way = direction(bench.workload.direction());
                format!("`{}` {way}", test.name)
            }
            None => workload_short(&bench.workload),
        })
        .collect();
    let fits = above.filter_map(|bench| bench.exceeded).fold(0.0, f64::max);
    let (first, others) = names.split_first()?;
    let mut sentence = say("alert.more-than-fits")
        .with("first", first)
        .with("rate", quantity::rate(fits));
    if !others.is_empty() {
        sentence = sentence.count("others", others.len());
    }
    Some(Said::new(Tone::Bad, said(&sentence)))
}
