//! Experiments in words: effects, decisions, and what is left changed.

use std::collections::BTreeMap;

use analysis::{ArmSamples, Effect, ExperimentResult, NoiseFloor, RunAnalysis, quoted};
use locale::{Message, counted, list, said, say, text};
use record::{Arm, Decision, Direction, Level, Phase, SecondMount, Setting};
use stats::{Estimate, Verdict};

use super::decision_reason::{first_clause, found_in_screening, without_effects};
use super::{DIRECTIONS, Said, Tone, direction};
use crate::quantity;

/// The baselines against themselves with the band of what they were asked for.
pub(crate) fn noises(analysis: &RunAnalysis) -> impl Iterator<Item = (f64, &NoiseFloor)> {
    analysis.experiments.iter().flat_map(|experiment| {
        let band = experiment.question.band;
        experiment.noise.iter().map(move |noise| (band, noise))
    })
}

/// Whether differences that matter would be missed, most of the time, in noise like this.
pub(crate) fn is_unsteady(noise: &NoiseFloor, band: f64) -> bool {
    noise.smallest_detectable.is_some_and(|share| share > band)
}

/// `12 %`, or what stands for it where percents are no longer understood.
fn as_difference(share: f64) -> String {
    match share {
        share if share >= 1.0 => {
            let factor = format!("{:.1}", 1.0 + share);
            said(&say("difference.factor").with("factor", factor))
        }
        share => quantity::rough_share(share),
    }
}

/// The effects that count: of the confirmation where there is one, else of the comparison.
pub(crate) fn final_effects(experiment: &ExperimentResult) -> Vec<&Effect> {
    DIRECTIONS
        .into_iter()
        .filter_map(|response| final_effect(experiment, response))
        .collect()
}

pub(crate) fn final_effect(experiment: &ExperimentResult, response: Direction) -> Option<&Effect> {
    [Phase::Confirm, Phase::Compare]
        .into_iter()
        .find_map(|phase| {
            experiment
                .effects
                .iter()
                .find(|effect| effect.response == response && effect.phase == phase)
        })
}

/// The trials of an arm in one phase.
fn arm_samples(
    experiment: &ExperimentResult,
    arm: Arm,
    response: Direction,
    phase: Phase,
) -> Option<&ArmSamples> {
    let mut samples = experiment.samples.iter();
    samples.find(|one| one.arm == arm && one.response == response && one.phase == phase)
}

/// Median of an arm in one phase.
pub(crate) fn arm_median(
    experiment: &ExperimentResult,
    arm: Arm,
    response: Direction,
    phase: Phase,
) -> Option<&Estimate> {
    arm_samples(experiment, arm, response, phase).map(|samples| &samples.median)
}

/// A verdict in words: what it is, and how much.
pub(crate) struct EffectWords {
    pub(crate) verdict: String,
    pub(crate) how_much: String,
}

pub(crate) fn effect_words(effect: &Effect, band: f64) -> EffectWords {
    let ratio = &effect.ratio;
    let is_large = ratio.value.is_finite() && !(0.34..=3.0).contains(&ratio.value);
    let by = || match is_large {
        true => say("effect.by-factor").with("ratio", quantity::estimate_with_interval(ratio)),
        false => say("effect.by").with("difference", quantity::difference(ratio)),
    };
    let (verdict, how_much) = match effect.verdict {
        Verdict::Better => ("effect.better", said(&by())),
        Verdict::Worse => ("effect.worse", said(&by())),
        Verdict::Equivalent => ("effect.equivalent", quantity::signed_difference(ratio)),
        Verdict::Undecided => {
            let mut sentence = say("effect.matters-from")
                .with("difference", quantity::signed_difference(ratio))
                .with("band", quantity::round_share(band));
            if let Some(blocks) = blocks_that_tell(effect) {
                sentence = sentence.count("blocks", blocks);
            }
            ("effect.undecided", said(&sentence))
        }
    };
    EffectWords {
        verdict: text(verdict),
        how_much,
    }
}

/// How many more blocks would tell, where that is known.
fn blocks_that_tell(effect: &Effect) -> Option<usize> {
    let more = effect.blocks_to_settle?.checked_sub(effect.ratio.n)?;
    (more > 0).then_some(more)
}

/// Whether it is the baseline against itself, which tries nothing.
pub(crate) fn is_baseline(experiment: &ExperimentResult) -> bool {
    experiment.question.a == experiment.question.b
}

/// Whether it is the proof of all that a search keeps, against the start.
pub(super) fn is_together(experiment: &ExperimentResult) -> bool {
    experiment.experiment == "together"
}

/// The experiments that try something, in their order.
pub(crate) fn candidates(analysis: &RunAnalysis) -> impl Iterator<Item = &ExperimentResult> {
    analysis
        .experiments
        .iter()
        .filter(|experiment| !is_baseline(experiment))
}

/// The settings that B has and A has not.
pub(crate) fn changed_settings(experiment: &ExperimentResult) -> Level {
    let question = &experiment.question;
    let settings = question.b.settings.iter();
    Level {
        name: question.change(),
        settings: settings
            .filter(|setting| !question.a.settings.contains(setting))
            .cloned()
            .collect(),
    }
}

/// The question of an experiment in words.
pub(crate) fn question(experiment: &ExperimentResult) -> String {
    let (a, change) = (&experiment.question.a.name, experiment.question.change());
    said(&if is_baseline(experiment) {
        say("question.baseline")
    } else if change == experiment.question.b.name {
        say("question.faster").with("a", a).with("change", change)
    } else {
        say("question.faster-with")
            .with("a", a)
            .with("change", change)
    })
}

/// What was done about a candidate, and why, in one sentence that leaves the numbers to the effects
/// above it.
pub(crate) fn decision(experiment: &ExperimentResult) -> Said {
    let Some((decision, reason)) = &experiment.decision else {
        let won = final_effects(experiment)
            .iter()
            .any(|effect| effect.verdict == Verdict::Better);
        let (tone, id) = match (is_together(experiment), won) {
            (true, true) => (Tone::Good, "decision.together"),
            (true, false) => (Tone::Neutral, "decision.together-not-proven"),
            (false, _) => (Tone::Doubtful, "decision.none"),
        };
        return Said::new(tone, text(id));
    };
    let is_settling_said = final_effects(experiment)
        .into_iter()
        .any(|effect| blocks_that_tell(effect).is_some());
    let short = without_effects(reason, is_settling_said);
    let because = |id, reason: Message| said(&say(id).with("reason", reason));
    match (decision, first_clause(reason).id) {
        (Decision::Kept, "decided.against-rest") => {
            Said::new(Tone::Good, text("decision.kept-in-the-rest"))
        }
        (Decision::Kept, "decided.against-start") => {
            Said::new(Tone::Good, text("decision.kept-alone"))
        }
        (Decision::Kept, _) => {
            let reason = short.unwrap_or_else(|| won(experiment).into());
            Said::new(Tone::Good, because("decision.kept", reason))
        }
        (Decision::Returned, _) => {
            let reason = short.unwrap_or_else(|| reason.clone());
            Said::new(Tone::Neutral, because("decision.returned", reason))
        }
    }
}

/// The whole reason of a decision, where the short one leaves something out.
pub(crate) fn full_reason(experiment: &ExperimentResult) -> Option<String> {
    let (_, reason) = experiment.decision.as_ref()?;
    let reason = said(reason);
    (!decision(experiment).text.ends_with(&reason)).then_some(reason)
}

/// `read and write are better in 6 blocks, and again in 6 fresh ones`.
fn won(experiment: &ExperimentResult) -> String {
    let effects = final_effects(experiment);
    let better: Vec<String> = effects
        .iter()
        .filter(|effect| effect.verdict == Verdict::Better)
        .map(|effect| direction(effect.response))
        .collect();
    let is_joint = experiment.effects.iter().any(|effect| effect.joint);
    let blocks = |phase: Phase| {
        let of_phase = experiment.effects.iter();
        of_phase
            .filter(|effect| effect.phase == phase)
            .map(|effect| effect.ratio.n)
            .min()
    };
    let what = match better.is_empty() {
        true => say("won.proven"),
        false => say("won.better")
            .count("count", better.len())
            .with("directions", list(&better)),
    };
    said(&match (blocks(Phase::Compare), blocks(Phase::Confirm)) {
        (Some(first), Some(all)) if is_joint && all > first => say("won.of-which-fresh")
            .with("what", what)
            .with("blocks", counted("count.blocks", all))
            .count("fresh", all - first),
        (Some(first), Some(again)) => say("won.again")
            .with("what", what)
            .with("blocks", counted("count.blocks", first))
            .count("again", again),
        _ => what,
    })
}

/// Candidates that were measured together with others and not found worth a proof, with the numbers.
pub(crate) fn screened_out(analysis: &RunAnalysis) -> Vec<String> {
    let lines = analysis.untried.iter().filter_map(|one| {
        let found = said(found_in_screening(&one.reason)?);
        let level = one.level.as_ref().map(|level| &level.name);
        Some(format!("`{}`: {found}", level.unwrap_or(&one.experiment)))
    });
    lines.collect()
}

/// Candidates that no trial was run of, those with the same reason together.
pub(crate) fn not_tried(analysis: &RunAnalysis) -> Vec<String> {
    let mut reasons: Vec<(&Message, Vec<String>)> = Vec::new();
    let untried = analysis.untried.iter();
    for one in untried.filter(|one| found_in_screening(&one.reason).is_none()) {
        let level = one.level.as_ref().map(|level| &level.name);
        let name = format!("`{}`", level.unwrap_or(&one.experiment));
        match reasons
            .iter_mut()
            .find(|(reason, _)| **reason == one.reason)
        {
            Some((_, names)) => names.push(name),
            None => reasons.push((&one.reason, vec![name])),
        }
    }
    let lines = reasons.into_iter();
    lines
        .map(|(reason, names)| format!("{}: {}", list(&names), said(reason)))
        .collect()
}

pub(crate) fn kept(analysis: &RunAnalysis) -> impl Iterator<Item = &ExperimentResult> {
    candidates(analysis)
        .filter(|experiment| matches!(experiment.decision, Some((Decision::Kept, _))))
}

/// The note that `/etc/fstab` was changed.
const MOUNT_AT_START: &str = "run-note.mount-at-start";

/// Whether a note is a command by which a user has what was kept and is no setting of a host.
pub(super) fn is_by_hand(note: &Message) -> bool {
    matches!(note.id, "run-note.mount-so" | MOUNT_AT_START)
}

/// What the run left changed, and how to put it back.
pub(crate) fn left_changed(analysis: &RunAnalysis) -> Vec<String> {
    let levels: Vec<Level> = kept(analysis).map(changed_settings).collect();
    let knobs: Vec<String> = levels.iter().flat_map(knob_lines).collect();
    let mut lines = Vec::new();
    for level in &levels {
        for setting in &level.settings {
            if let Setting::Workload { field, value } = setting {
                let id = match field.as_str() {
                    SecondMount::FIELD => "left.mount",
                    _ => "left.advice",
                };
                let sentence = say(id)
                    .with("name", &level.name)
                    .with("field", field.to_string())
                    .with("value", value.to_string());
                lines.push(said(&sentence));
            }
        }
    }
    lines.extend(
        analysis
            .notes
            .iter()
            .filter(|note| is_by_hand(note))
            .map(said),
    );
    if !analysis.finished {
        lines.extend(knobs);
        lines.push(text("left.unknown"));
    } else if knobs.is_empty() {
        let mut notes = analysis.notes.iter();
        // That is one, and the note says how it is put back.
        if !notes.any(|note| note.id == MOUNT_AT_START) {
            lines.push(text("left.nothing"));
        }
    } else {
        lines.extend(knobs);
        let open = analysis.changes.iter();
        let open: Vec<_> = open.filter(|change| change.restored.is_none()).collect();
        let open = match open[..] {
            [change] => format!(" {}", quoted(&change.id)),
            _ => String::new(),
        };
        let undo = format!("`linerate undo{open}`");
        lines.push(said(&say(how_long(&levels)).with("undo", undo)));
    }
    lines
}

/// How long what is changed stays.
fn how_long(levels: &[Level]) -> &'static str {
    let of_samba = |setting: &Setting| matches!(setting, Setting::Knob { id, .. } if id.as_str().starts_with("smb."));
    let knobs = levels.iter().flat_map(|level| &level.settings);
    let knobs = knobs.filter(|setting| matches!(setting, Setting::Knob { .. }));
    let (samba, others): (Vec<_>, Vec<_>) = knobs.partition(|setting| of_samba(setting));
    match (samba.is_empty(), others.is_empty()) {
        (false, true) => "left.stays-samba",
        (false, false) => "left.stays-both",
        _ => "left.stays",
    }
}

/// What the processors of both ends pay for a response, before and after, as far as it is known:
/// `processor of the client 0.52 -> 0.31, of the server 0.80 -> 0.44 s for each GB`.
pub(crate) fn processor_time(experiment: &ExperimentResult, effect: &Effect) -> Option<String> {
    let of = |arm| arm_samples(experiment, arm, effect.response, effect.phase);
    let (a, b) = (of(Arm::A)?, of(Arm::B)?);
    let paid = |cost: fn(&ArmSamples) -> Option<&Estimate>| {
        let (a, b) = (cost(a)?.value * 1e9, cost(b)?.value * 1e9);
        Some(format!("{a:.2} -> {b:.2}"))
    };
    let client = paid(|samples| samples.cpu_per_byte.as_ref());
    let server = paid(|samples| samples.server_cpu_per_byte.as_ref());
    let sentence = match (client, server) {
        (Some(client), Some(server)) => say("processor-cost")
            .with("client", client)
            .with("server", server),
        (Some(client), None) => say("processor-cost.of-client").with("client", client),
        (None, Some(server)) => say("processor-cost.of-server").with("server", server),
        (None, None) => return None,
    };
    Some(said(&sentence))
}

/// The knobs of a level, a line for each value and host: ``` `nic.mtu` 9000 on `host`: a0, a1 ```.
fn knob_lines(level: &Level) -> Vec<String> {
    let mut targets: BTreeMap<(String, String, String), Vec<String>> = BTreeMap::new();
    for setting in &level.settings {
        if let Setting::Knob {
            host,
            target,
            id,
            value,
        } = setting
        {
            targets
                .entry((host.to_string(), id.to_string(), value.to_string()))
                .or_default()
                .push(target.to_string());
        }
    }
    targets
        .into_iter()
        .map(|((host, id, value), targets)| {
            let sentence = say("knob-line")
                .with("id", id)
                .with("value", value)
                .with("host", host)
                .with("targets", targets.join(", "));
            said(&sentence)
        })
        .collect()
}

/// Everything a level sets, a line for each value and host.
pub(crate) fn setting_lines(level: &Level) -> Vec<String> {
    let workload = level.settings.iter().filter_map(|setting| match setting {
        Setting::Workload { field, value } => {
            let id = match field.as_str() {
                SecondMount::FIELD => "workload-line.mount",
                _ => "workload-line",
            };
            let sentence = say(id)
                .with("field", field.to_string())
                .with("value", value.to_string());
            Some(said(&sentence))
        }
        Setting::Knob { .. } => None,
    });
    workload.chain(knob_lines(level)).collect()
}

/// `117.6 MB/s -> 231.9 MB/s`, where both arms were measured; of many small files, `1240 -> 1870
/// files/s` as well.
pub(crate) fn medians(experiment: &ExperimentResult, effect: &Effect) -> Option<String> {
    let of = |arm| arm_samples(experiment, arm, effect.response, effect.phase);
    let (a, b) = (of(Arm::A)?, of(Arm::B)?);
    let [from, to] = [a, b].map(|samples| quantity::estimate(&samples.median));
    let files = match (files_per_second(a), files_per_second(b)) {
        (Some(a), Some(b)) => format!(", {a:.0} -> {b:.0} files/s"),
        _ => String::new(),
    };
    Some(format!("{from} -> {to}{files}"))
}

/// Files in a second, median of trials that copied many files of one size.
pub(crate) fn files_per_second(samples: &ArmSamples) -> Option<f64> {
    let size = samples.file_size?.get() as f64;
    Some(samples.median.value / size).filter(|files| files.is_finite())
}

/// Of how much of the noise a reader must know.
pub(crate) fn noise(noise: &NoiseFloor, band: f64) -> String {
    let floor = match noise.smallest_detectable {
        _ if noise.alarm => Some(say("noise-floor.alarm")),
        Some(share) if !share.is_finite() => Some(say("noise-floor.finds-nothing")),
        Some(share) if is_unsteady(noise, band) => {
            Some(say("noise-floor.unsteady").with("difference", as_difference(share)))
        }
        Some(share) => Some(say("noise-floor.steady").with("difference", as_difference(share))),
        None => None,
    };
    let sentence = say("noise-floor")
        .with("ratio", quantity::signed_difference(&noise.ratio))
        .with_known("floor", floor);
    said(&sentence)
}
