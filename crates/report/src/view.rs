//! What every form of report says in the same words: sentences and rows made from an analysis, once.

use std::collections::BTreeMap;

use analysis::{
    BenchSamples, Effect, Estimate, ExperimentResult, Fix, LadderRung, NoiseFloor, RunAnalysis,
    RungName, Trust, Verdict,
};
use record::{Arm, Decision, Direction, Level, Phase, Plan, Setting, Workload};

use crate::quantity;

/// Directions in the order in which they are shown.
pub(crate) const DIRECTIONS: [Direction; 2] = [Direction::Read, Direction::Write];

/// How a sentence should strike the reader. The words alone must be enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Bad,
    Doubtful,
    Neutral,
}

/// A sentence and how it should strike the reader.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) tone: Tone,
    pub(crate) text: String,
}

impl Said {
    fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self {
            tone,
            text: text.into(),
        }
    }
}

pub(crate) const fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "read",
        Direction::Write => "write",
    }
}

pub(crate) const fn direction_explained(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "read, server to client",
        Direction::Write => "write, client to server",
    }
}

pub(crate) const fn rung(rung: RungName) -> &'static str {
    match rung {
        RungName::Ceiling => "ceiling",
        RungName::Tcp => "raw TCP",
        RungName::Share => "share",
    }
}

pub(crate) const fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::SameAgainstSame => "A against A",
        Phase::Compare => "compare",
        Phase::Confirm => "confirm",
    }
}

pub(crate) const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::Undecided => "undecided",
    }
}

pub(crate) const fn verdict_tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Better => Tone::Good,
        Verdict::Worse => Tone::Bad,
        Verdict::Equivalent => Tone::Neutral,
        Verdict::Undecided => Tone::Doubtful,
    }
}

pub(crate) const fn trust(trust: Trust) -> &'static str {
    match trust {
        Trust::Computed => "computed from facts",
        Trust::Measured => "measured in this run",
    }
}

pub(crate) const fn command(plan: &Plan) -> &'static str {
    match plan {
        Plan::Check { .. } => "check",
        Plan::Bench { .. } => "bench",
        Plan::Tune { .. } => "tune",
    }
}

/// What the run was about: the share or the host.
pub(crate) fn subject(plan: &Plan) -> String {
    match plan {
        Plan::Check { share } | Plan::Tune { share, .. } => share.to_string(),
        Plan::Bench { target } => target.clone(),
    }
}

/// When the run began, to the minute.
pub(crate) fn date(analysis: &RunAnalysis) -> String {
    match analysis.started.get(..16) {
        Some(minute) => format!("{} UTC", minute.replace('T', " ")),
        None => analysis.started.clone(),
    }
}

/// The command that measures the same again.
pub(crate) fn repeat_command(analysis: &RunAnalysis) -> String {
    command_line(command(&analysis.plan), analysis)
}

/// A command on the same share and hosts.
pub(crate) fn command_line(command: &str, analysis: &RunAnalysis) -> String {
    let mut line = format!("linerate {command} {}", quoted(&subject(&analysis.plan)));
    for (option, host) in ["--client", "--server"].iter().zip(&analysis.facts) {
        line.push_str(&format!(" {option} {}", quoted(host.name.as_str())));
    }
    line
}

/// As a POSIX shell takes it.
fn quoted(word: &str) -> String {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || "/:.@_-+=,".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The one sentence a busy person reads.
pub(crate) fn headline(analysis: &RunAnalysis) -> Said {
    match &analysis.plan {
        Plan::Check { .. } => check_headline(analysis),
        Plan::Tune { .. } => tune_headline(analysis),
        Plan::Bench { .. } => bench_headline(analysis),
    }
}

fn check_headline(analysis: &RunAnalysis) -> Said {
    match &analysis.diagnosis {
        None => Said::new(
            Tone::Doubtful,
            "nothing was measured, so nothing can be said",
        ),
        Some(diagnosis) => {
            let tone = match (&diagnosis.first_loss, diagnosis.complete) {
                (Some(_), _) => Tone::Bad,
                (None, true) => Tone::Good,
                (None, false) => Tone::Doubtful,
            };
            Said::new(tone, diagnosis.headline.clone())
        }
    }
}

fn tune_headline(analysis: &RunAnalysis) -> Said {
    let tried = candidates(analysis).count();
    let kept: Vec<_> = kept(analysis).collect();
    if tried == 0 {
        return Said::new(Tone::Doubtful, "nothing was tried");
    }
    if kept.is_empty() {
        let all_decided = candidates(analysis).all(|one| one.decision.is_some());
        return if all_decided {
            Said::new(
                Tone::Neutral,
                format!(
                    "kept nothing of {}: no change is proven better",
                    changes(tried)
                ),
            )
        } else {
            Said::new(Tone::Doubtful, "nothing is decided yet")
        };
    }
    let each: Vec<String> = kept
        .iter()
        .map(|experiment| {
            let effects: Vec<String> = final_effects(experiment)
                .iter()
                .map(|effect| {
                    format!(
                        "{} {}",
                        direction(effect.response),
                        quantity::estimate(&effect.ratio)
                    )
                })
                .collect();
            format!("`{}` ({})", change_name(experiment), effects.join(", "))
        })
        .collect();
    Said::new(
        Tone::Good,
        format!(
            "kept {} of {}: {}",
            kept.len(),
            changes(tried),
            each.join("; ")
        ),
    )
}

fn bench_headline(analysis: &RunAnalysis) -> Said {
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
        Said::new(Tone::Doubtful, "nothing was measured")
    } else {
        Said::new(Tone::Neutral, measured.join(" · "))
    }
}

fn changes(count: usize) -> String {
    counted(count, "change", "changes")
}

pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// What must be known before anything else on the page is believed.
pub(crate) fn alerts(analysis: &RunAnalysis) -> Vec<Said> {
    let mut alerts = Vec::new();
    if !analysis.finished {
        alerts.push(Said::new(
            Tone::Doubtful,
            "this run was cut short: it says only what was measured until then. \
             hint: `linerate changes` shows whether something is still changed",
        ));
    }
    let alarms = analysis
        .experiments
        .iter()
        .flat_map(|one| &one.noise)
        .filter(|noise| noise.alarm);
    for noise in alarms {
        alerts.push(Said::new(
            Tone::Bad,
            format!(
                "the baseline came out different from itself ({} {}): no result below can be \
                 believed. hint: run it again when nothing else uses the network",
                direction(noise.response),
                quantity::estimate_with_interval(&noise.ratio)
            ),
        ));
    }
    alerts.extend(
        analysis
            .warnings
            .iter()
            .map(|warning| Said::new(Tone::Doubtful, format!("run file: {warning}"))),
    );
    alerts
}

/// The rungs of one direction.
pub(crate) struct Ladder<'a> {
    pub(crate) direction: Direction,
    pub(crate) rungs: Vec<&'a LadderRung>,
}

pub(crate) fn ladders(analysis: &RunAnalysis) -> Vec<Ladder<'_>> {
    DIRECTIONS
        .into_iter()
        .filter_map(|direction| {
            let rungs: Vec<_> = analysis
                .ladder
                .iter()
                .filter(|rung| rung.direction == direction)
                .collect();
            (!rungs.is_empty()).then_some(Ladder { direction, rungs })
        })
        .collect()
}

/// The confidence that every interval of a ladder reaches: `interval, 95.7 %`.
pub(crate) fn interval_heading(ladder: &Ladder<'_>) -> String {
    let rates = ladder.rungs.iter().filter_map(|rung| rung.rate.as_ref());
    let low = rates
        .filter(|rate| quantity::finite_interval(rate).is_some())
        .filter_map(|rate| rate.confidence)
        .fold(f64::INFINITY, f64::min);
    if low.is_finite() {
        format!("interval, {}", quantity::share(low))
    } else {
        "interval".into()
    }
}

/// What was not measured, and why; the same reason in both directions is said once.
pub(crate) fn not_measured(analysis: &RunAnalysis) -> Vec<String> {
    let mut rungs: Vec<(RungName, &str, Vec<&str>)> = Vec::new();
    for one in &analysis.ladder {
        let Some(reason) = &one.not_measured else {
            continue;
        };
        let same = rungs
            .iter_mut()
            .find(|(name, why, _)| *name == one.rung && why == reason);
        match same {
            Some((_, _, directions)) => directions.push(direction(one.direction)),
            None => rungs.push((one.rung, reason, vec![direction(one.direction)])),
        }
    }
    let mut list: Vec<String> = rungs
        .into_iter()
        .map(|(name, reason, directions)| {
            format!("{} {}: {reason}", rung(name), directions.join(" and "))
        })
        .collect();
    for experiment in &analysis.experiments {
        for failure in &experiment.failures {
            list.push(format!("`{}`: {failure}", change_name(experiment)));
        }
    }
    if let Plan::Tune {
        candidates: planned,
        ..
    } = &analysis.plan
    {
        for level in planned {
            if !candidates(analysis).any(|tried| change_name(tried) == level.name) {
                list.push(format!("`{}`: no trial of it was run", level.name));
            }
        }
    }
    list
}

/// How the ceilings were computed; the same for both directions is said once.
pub(crate) fn ceiling_reasons(analysis: &RunAnalysis) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (way, ceiling) in &analysis.ceilings {
        match reasons
            .iter_mut()
            .find(|(because, _)| *because == ceiling.because)
        {
            Some((_, ways)) => ways.push(direction(*way)),
            None => reasons.push((&ceiling.because, vec![direction(*way)])),
        }
    }
    let is_same = reasons.len() == 1;
    reasons
        .into_iter()
        .map(|(because, ways)| match is_same {
            true => format!("ceiling: {because}"),
            false => format!("ceiling of {}: {because}", ways.join(" and ")),
        })
        .collect()
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

/// Median of an arm in one phase.
pub(crate) fn arm_median(
    experiment: &ExperimentResult,
    arm: Arm,
    response: Direction,
    phase: Phase,
) -> Option<&Estimate> {
    experiment
        .samples
        .iter()
        .find(|samples| {
            samples.arm == arm && samples.response == response && samples.phase == phase
        })
        .map(|samples| &samples.median)
}

/// A verdict in words: what it is, and how much.
pub(crate) struct EffectWords {
    pub(crate) verdict: &'static str,
    pub(crate) how_much: String,
}

pub(crate) fn effect_words(effect: &Effect, band: f64) -> EffectWords {
    let ratio = &effect.ratio;
    let is_large = ratio.value.is_finite() && !(0.34..=3.0).contains(&ratio.value);
    let by = || match is_large {
        true => format!("by a factor of {}", quantity::estimate_with_interval(ratio)),
        false => format!("by {}", quantity::difference(ratio)),
    };
    let (verdict, how_much) = match effect.verdict {
        Verdict::Better => ("better", by()),
        Verdict::Worse => ("worse", by()),
        Verdict::Equivalent => (
            "no difference that matters:",
            quantity::signed_difference(ratio),
        ),
        Verdict::Undecided => (
            "cannot tell yet:",
            format!(
                "{}, and a difference matters from {}{}",
                quantity::signed_difference(ratio),
                quantity::round_share(band),
                settle(effect)
            ),
        ),
    };
    EffectWords { verdict, how_much }
}

fn settle(effect: &Effect) -> String {
    let more = effect
        .blocks_to_settle
        .and_then(|blocks| blocks.checked_sub(effect.ratio.n));
    match more {
        Some(blocks) if blocks > 0 => {
            format!(
                "; about {} would tell",
                counted(blocks, "more block", "more blocks")
            )
        }
        _ => String::new(),
    }
}

/// Whether it is the baseline against itself, which tries nothing.
pub(crate) fn is_baseline(experiment: &ExperimentResult) -> bool {
    experiment.question.a == experiment.question.b
}

/// The experiments that try something, in their order.
pub(crate) fn candidates(analysis: &RunAnalysis) -> impl Iterator<Item = &ExperimentResult> {
    analysis
        .experiments
        .iter()
        .filter(|experiment| !is_baseline(experiment))
}

/// What B adds to A: a change that comes on top of others bears their names as well.
pub(crate) fn change_name(experiment: &ExperimentResult) -> &str {
    let question = &experiment.question;
    let added = question.b.name.strip_prefix(&question.a.name);
    added
        .and_then(|added| added.strip_prefix(" + "))
        .unwrap_or(&question.b.name)
}

/// The settings that B has and A has not.
pub(crate) fn changed_settings(experiment: &ExperimentResult) -> Level {
    let question = &experiment.question;
    let settings = question.b.settings.iter();
    Level {
        name: change_name(experiment).to_owned(),
        settings: settings
            .filter(|setting| !question.a.settings.contains(setting))
            .cloned()
            .collect(),
    }
}

/// The question of an experiment in words.
pub(crate) fn question(experiment: &ExperimentResult) -> String {
    let (a, change) = (&experiment.question.a.name, change_name(experiment));
    if is_baseline(experiment) {
        "how much does the same differ from itself?".into()
    } else if change == experiment.question.b.name {
        format!("is `{change}` faster than `{a}`?")
    } else {
        format!("is `{a}` faster with `{change}` than without?")
    }
}

/// What was done about a candidate, and why.
pub(crate) fn decision(experiment: &ExperimentResult) -> Said {
    match &experiment.decision {
        Some((Decision::Kept, reason)) => Said::new(Tone::Good, format!("kept: {reason}")),
        Some((Decision::Returned, reason)) => {
            Said::new(Tone::Neutral, format!("put back: {reason}"))
        }
        None => Said::new(Tone::Doubtful, "not decided"),
    }
}

pub(crate) fn kept(analysis: &RunAnalysis) -> impl Iterator<Item = &ExperimentResult> {
    candidates(analysis)
        .filter(|experiment| matches!(experiment.decision, Some((Decision::Kept, _))))
}

/// What the run left changed, and how to put it back.
pub(crate) fn left_changed(analysis: &RunAnalysis) -> Vec<String> {
    let levels: Vec<Level> = kept(analysis).map(changed_settings).collect();
    let knobs: Vec<String> = levels.iter().flat_map(knob_lines).collect();
    let mut lines = Vec::new();
    for level in &levels {
        for setting in &level.settings {
            if let Setting::Workload { field, value } = setting {
                lines.push(format!(
                    "`{}` is how a client should use the share (`{field}` {value}); no host was changed for it",
                    level.name
                ));
            }
        }
    }
    if !analysis.finished {
        lines.extend(knobs);
        lines.push(
            "not known: the run was cut short. `linerate changes` shows what is still changed, \
             `linerate undo` puts it back"
                .into(),
        );
    } else if knobs.is_empty() {
        lines.push("no setting of a host is changed by this run".into());
    } else {
        lines.extend(knobs);
        lines.push("these stay until a reboot; `linerate undo` puts them back".into());
    }
    lines
}

/// The knobs of a level, a line for each value and host: ``` `nic.mtu` 9000 on `host`: a0, a1 ```.
pub(crate) fn knob_lines(level: &Level) -> Vec<String> {
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
            format!("`{id}` {value} on `{host}`: {}", targets.join(", "))
        })
        .collect()
}

/// Everything a level sets, a line for each value and host.
pub(crate) fn setting_lines(level: &Level) -> Vec<String> {
    let workload = level.settings.iter().filter_map(|setting| match setting {
        Setting::Workload { field, value } => {
            Some(format!("`{field}` {value} in linerate's own transfers"))
        }
        Setting::Knob { .. } => None,
    });
    workload.chain(knob_lines(level)).collect()
}

/// `117.6 MB/s -> 231.9 MB/s`, where both arms were measured.
pub(crate) fn medians(experiment: &ExperimentResult, effect: &Effect) -> Option<String> {
    let median = |arm| arm_median(experiment, arm, effect.response, effect.phase);
    let (a, b) = (median(Arm::A)?, median(Arm::B)?);
    Some(format!(
        "{} -> {}",
        quantity::estimate(a),
        quantity::estimate(b)
    ))
}

/// Rates of many trials in MB/s, without repeating the unit.
pub(crate) fn rate_list(rates: &[f64]) -> String {
    let one = |rate: &f64| match rate.is_finite() {
        true if rate.abs() < 1e7 => format!("{:.3}", rate / 1e6),
        true => format!("{:.1}", rate / 1e6),
        false => quantity::UNKNOWN.to_owned(),
    };
    rates.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A prediction as people weigh it: `1.97x predicted`.
pub(crate) fn prediction(fix: &Fix) -> String {
    format!(
        "{} predicted",
        quantity::estimate_with_interval(&fix.predicted)
    )
}

/// Of how much of the noise a reader must know.
pub(crate) fn noise(noise: &NoiseFloor) -> String {
    let floor = match noise.smallest_detectable.filter(|share| share.is_finite()) {
        Some(share) => format!(
            "; differences under {} cannot be seen here",
            quantity::share(share)
        ),
        None => String::new(),
    };
    format!(
        "baseline against itself {}{floor}",
        quantity::signed_difference(&noise.ratio)
    )
}

pub(crate) fn workload(workload: &Workload) -> String {
    match workload {
        Workload::Tcp(tcp) => format!(
            "raw TCP {}, {}, to {} port {}{}",
            direction(tcp.direction),
            counted(tcp.streams as usize, "stream", "streams"),
            tcp.server,
            tcp.port,
            tcp.nic
                .as_ref()
                .map(|nic| format!(" by {nic}"))
                .unwrap_or_default()
        ),
        Workload::Share(share) => format!(
            "share {}, at most {}, {} in flight of {} each, file of {}",
            direction(share.direction),
            counted(share.channels as usize, "channel", "channels"),
            share.depth,
            quantity::size(share.block),
            quantity::size(share.file_size)
        ),
    }
}

pub(crate) fn workload_short(workload: &Workload) -> String {
    let layer = match workload {
        Workload::Tcp(_) => "raw TCP",
        Workload::Share(_) => "share",
    };
    format!("{layer} {}", direction(workload.direction()))
}

/// How it was measured, so that somebody else can judge and repeat it.
pub(crate) fn method(analysis: &RunAnalysis) -> Vec<String> {
    let mut lines = Vec::new();
    if !analysis.ladder.is_empty() {
        let repetitions = analysis
            .ladder
            .iter()
            .filter(|one| one.rung != RungName::Ceiling);
        if let Some(most) = repetitions
            .filter_map(|one| one.rate.as_ref())
            .map(|rate| rate.n)
            .max()
        {
            lines.push(format!(
                "ladder: each rung is the median of up to {}, each with a fresh connection; the ceiling is computed from the facts of the hosts",
                counted(most, "trial", "trials")
            ));
        }
    }
    if let Some(question) = candidates(analysis).next().map(|one| &one.question) {
        lines.push(format!(
            "experiments: blocks of one trial per arm in random order, compared pair by pair; an \
             effect is a ratio (Hodges-Lehmann on log differences); a difference matters from {}; \
             confidence asked {}",
            quantity::round_share(question.band),
            quantity::round_share(question.confidence)
        ));
    }
    lines.extend(analysis.experiments.iter().map(blocks_run));
    for bench in &analysis.bench {
        lines.push(format!(
            "{}: {}",
            workload_short(&bench.workload),
            workload(&bench.workload)
        ));
    }
    lines.push(format!(
        "the order of everything random comes from seed {}, which is in the run file",
        analysis.seed
    ));
    lines
}

fn blocks_run(experiment: &ExperimentResult) -> String {
    let noise = experiment.noise.iter().map(|noise| &noise.ratio);
    let effects = experiment
        .effects
        .iter()
        .map(|effect| (effect.phase, &effect.ratio));
    let ratios: Vec<(Phase, &Estimate)> = noise
        .map(|ratio| (Phase::SameAgainstSame, ratio))
        .chain(effects)
        .collect();
    let parts: Vec<String> = [Phase::SameAgainstSame, Phase::Compare, Phase::Confirm]
        .into_iter()
        .filter_map(|part| {
            let of_part = ratios.iter().filter(|(phase, _)| *phase == part);
            let most = of_part.map(|(_, ratio)| ratio.n).max()?;
            Some(format!(
                "{} {}",
                phase(part),
                counted(most, "block", "blocks")
            ))
        })
        .collect();
    let confidences = ratios.iter().filter_map(|(_, ratio)| ratio.confidence);
    let low = confidences
        .filter(|one| one.is_finite())
        .fold(f64::INFINITY, f64::min);
    let reached = match low.is_finite() {
        true => format!(
            "; confidence really reached {} or more",
            quantity::share(low)
        ),
        false => String::new(),
    };
    let parts = if parts.is_empty() {
        "no whole block".to_owned()
    } else {
        parts.join(", ")
    };
    format!("`{}`: {parts}{reached}", change_name(experiment))
}

/// Everything that limits a number on the page, each once, with what it is about.
pub(crate) fn caveats(analysis: &RunAnalysis) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    let mut add = |about: String, caveats: &[String]| {
        for caveat in caveats {
            let line = format!("{about}: {caveat}");
            if !list.contains(&line) {
                list.push(line);
            }
        }
    };
    for one in &analysis.ladder {
        let about = || format!("{} {}", rung(one.rung), direction(one.direction));
        if let Some(rate) = &one.rate {
            add(about(), &rate.caveats);
        }
    }
    for experiment in &analysis.experiments {
        let name = format!("`{}`", change_name(experiment));
        add(name.clone(), &experiment.caveats);
        for effect in &experiment.effects {
            let about = format!(
                "{name} {} ({})",
                direction(effect.response),
                phase(effect.phase)
            );
            add(about, &effect.ratio.caveats);
        }
        for noise in &experiment.noise {
            add(
                format!("noise {}", direction(noise.response)),
                &noise.ratio.caveats,
            );
        }
        for samples in &experiment.samples {
            let arm = match samples.arm {
                Arm::A => "A",
                Arm::B => "B",
            };
            let about = format!(
                "{name} arm {arm} {} ({})",
                direction(samples.response),
                phase(samples.phase)
            );
            add(about, &samples.median.caveats);
        }
    }
    for bench in &analysis.bench {
        bench_caveats(bench, &mut add);
    }
    if let Some(diagnosis) = &analysis.diagnosis {
        for fix in &diagnosis.fixes {
            add(format!("fix `{}`", fix.id), &fix.predicted.caveats);
        }
    }
    list
}

fn bench_caveats(bench: &BenchSamples, add: &mut impl FnMut(String, &[String])) {
    let estimates = [&bench.median, &bench.cpu_per_byte];
    for estimate in estimates.into_iter().flatten() {
        add(workload_short(&bench.workload), &estimate.caveats);
    }
}
