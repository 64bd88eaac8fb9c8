//! What every form of report says in the same words: sentences and rows made from an analysis, once.

use std::collections::BTreeMap;
use std::net::IpAddr;

use analysis::{
    ArmSamples, BenchSamples, Cause, ChannelUse, Diagnosis, Effect, ExperimentResult, Fix,
    LadderRung, NoiseFloor, Proof, RunAnalysis, RungName, State, Trust, quoted,
};
use record::{
    Arm, Decision, Direction, FolderKind, Identity, Job, Level, Phase, Place, Plan, Setting,
    SmbSession, Task, TaskWorkload, Workload,
};
use stats::{Estimate, Verdict};

use crate::message::english;
use crate::{design, quantity, recipe};

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
    pub(crate) fn new(tone: Tone, text: impl Into<String>) -> Self {
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
        RungName::Streams => "streams",
        RungName::Share => "share",
        RungName::Channels => "channels",
        RungName::Disk => "disk",
        RungName::Copy => "copy",
    }
}

pub(crate) const fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::SameAgainstSame => "A against A",
        Phase::Compare => "compare",
        Phase::Confirm => "confirm",
    }
}

/// The blocks that an effect is judged by.
pub(crate) const fn judged(effect: &Effect) -> &'static str {
    match effect.joint {
        true => "all blocks",
        false => phase(effect.phase),
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

/// What is said where no cause is named.
pub(crate) const fn no_cause(diagnosis: &Diagnosis) -> &'static str {
    match diagnosis.complete {
        true => "no rung loses",
        false => "no cause is known",
    }
}

/// What is known of a cause, in a few words.
pub(crate) fn state(cause: &Cause) -> String {
    let about = match (&cause.decides, &cause.needs) {
        (Some(about), _) | (None, Some(about)) => Some(english(about)),
        (None, None) => None,
    };
    let gain = cause.gain.as_ref().map(quantity::estimate_with_interval);
    match (cause.state, gain, about) {
        (State::Proven(Proof::Relieved), Some(gain), _) => format!("proven: {gain} without it"),
        (State::Proven(Proof::Binding), ..) => "proven: less of it costs as much".into(),
        (State::Proven(_), ..) => trust(cause.trust).into(),
        (State::Suspected, _, Some(decides)) => format!("suspected; to decide: {decides}"),
        (State::Suspected, ..) => trust(cause.trust).into(),
        (State::Unknowable, _, Some(needs)) => format!("not knowable from here: {needs}"),
        (State::Unknowable, ..) => "not knowable from here".into(),
        (State::RuledOut, ..) => "ruled out".into(),
    }
}

pub(crate) const fn command(plan: &Plan) -> &'static str {
    match plan {
        Plan::Check { .. } => "check",
        Plan::Bench { .. } => "bench",
        Plan::Experiment { .. } => "experiment",
        Plan::Tune { .. } => "tune",
    }
}

/// What the run was about: the share or the host.
pub(crate) fn subject(plan: &Plan) -> String {
    match plan {
        Plan::Check { share } | Plan::Tune { share, .. } => share.to_string(),
        Plan::Bench { target, .. } | Plan::Experiment { target, .. } => target.clone(),
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
    let subject = subject(&analysis.plan);
    match &analysis.plan {
        Plan::Experiment { .. } => on_target(
            &["experiment", "run", "PLAN", "--target"],
            &subject,
            analysis,
        ),
        plan => on_target(&[command(plan)], &subject, analysis),
    }
}

/// A command on the same share and hosts, in a session of the same kind.
pub(crate) fn command_line(command: &str, analysis: &RunAnalysis) -> String {
    on_target(&[command], &subject(&analysis.plan), analysis)
}

/// A command on this target from the same hosts, with all that says how to log in but a password.
fn on_target(command: &[&str], target: &str, analysis: &RunAnalysis) -> String {
    let target = record::with_user(target, analysis.user.as_deref());
    let hosts = analysis.facts.iter().map(|host| host.name.as_str());
    let hosts = ["--client", "--server"].into_iter().zip(hosts);
    let words = command.iter().copied().chain([target.as_str()]);
    let words = words.chain(hosts.flat_map(|(option, host)| [option, host]));
    own_command(words.chain(analysis.login_options.iter().map(String::as_str)))
}

/// A command of linerate as a POSIX shell takes it.
pub fn own_command<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words = words.into_iter().map(quoted);
    std::iter::once("linerate".to_owned())
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

/// What proves a fix, or helps with it.
pub(crate) fn fix_commands(fix: &Fix, analysis: &RunAnalysis) -> Vec<String> {
    let proves = fix.blocked.is_none().then(|| {
        format!(
            "{} --only {}",
            command_line("tune", analysis),
            quoted(&fix.id)
        )
    });
    let elsewhere = fix.elsewhere.as_ref();
    let shows = elsewhere.map(|share| on_target(&["check"], &share.to_string(), analysis));
    proves
        .into_iter()
        .chain(fix.commands.clone())
        .chain(shows)
        .collect()
}

/// Why nothing can be done about it here, not even by hand.
pub(crate) fn cannot_be_tried(fix: &Fix) -> Option<String> {
    let by_hand = !fix.commands.is_empty() || fix.elsewhere.is_some();
    fix.blocked.as_ref().filter(|_| !by_hand).map(english)
}

/// The one sentence a busy person reads.
pub(crate) fn headline(analysis: &RunAnalysis) -> Said {
    match &analysis.plan {
        Plan::Check { .. } => check_headline(analysis),
        Plan::Tune { .. } => tune_headline(analysis),
        Plan::Bench { .. } => bench_headline(analysis),
        Plan::Experiment { .. } => design::headline(analysis),
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
                _ if diagnosis.named().is_some() => Tone::Bad,
                (Some(_), _) => Tone::Bad,
                (None, true) => Tone::Good,
                (None, false) => Tone::Doubtful,
            };
            Said::new(tone, english(&diagnosis.headline))
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
    let warning = match (is_unsteady_run, kept.len() < planned) {
        (true, true) => {
            "; the machine was too unsteady for fine differences, so what was not kept may still help"
        }
        (true, false) => "; the machine was too unsteady for fine differences",
        (false, _) => "",
    };
    if kept.is_empty() {
        let all_decided = candidates(analysis).all(|one| one.decision.is_some());
        return if all_decided {
            let tone = match is_unsteady_run {
                true => Tone::Doubtful,
                false => Tone::Neutral,
            };
            let what = changes(planned);
            let text = format!("kept nothing of {what}: no change is proven better{warning}");
            Said::new(tone, text)
        } else {
            Said::new(Tone::Doubtful, format!("nothing is decided yet{warning}"))
        };
    }
    if let Some(together) = candidates(analysis).find(|one| is_together(one)) {
        let names: Vec<String> = kept
            .iter()
            .map(|one| format!("`{}`", one.question.change()))
            .collect();
        let text = format!(
            "kept {} of {}, which together give {}: {}{warning}",
            kept.len(),
            changes(planned),
            proven(together).join(", "),
            and(&names)
        );
        return Said::new(Tone::Good, text);
    }
    let each: Vec<String> = kept
        .iter()
        .map(|experiment| {
            format!(
                "`{}` ({})",
                experiment.question.change(),
                proven(experiment).join(", ")
            )
        })
        .collect();
    Said::new(
        Tone::Good,
        format!(
            "kept {} of {}: {}{warning}",
            kept.len(),
            changes(planned),
            each.join("; ")
        ),
    )
}

/// What a kept change is proven to give, and of which response nothing can be said.
fn proven(experiment: &ExperimentResult) -> Vec<String> {
    let words = |effect: &&Effect| {
        let way = direction(effect.response);
        match effect.verdict {
            Verdict::Better | Verdict::Worse => {
                format!("{way} {}", quantity::ratio(effect.ratio.value))
            }
            Verdict::Equivalent => format!("{way} as before"),
            Verdict::Undecided => format!("{way} cannot be told"),
        }
    };
    final_effects(experiment).iter().map(words).collect()
}

fn nothing_tried(analysis: &RunAnalysis) -> Said {
    let screened = screened_out(analysis).len();
    let alarm = noises(analysis).any(|(_, noise)| noise.alarm);
    let mut reasons: Vec<&str> = Vec::new();
    for one in &analysis.untried {
        if !reasons.contains(&one.reason.as_str()) {
            reasons.push(&one.reason);
        }
    }
    match reasons[..] {
        _ if alarm => Said::new(
            Tone::Bad,
            "nothing was tried: the machine is too unsteady, the same came out different from itself",
        ),
        _ if screened > 0 => {
            let what = changes(analysis.untried.len());
            let text = format!("kept nothing of {what}: none promises anything that can be proven");
            Said::new(Tone::Neutral, text)
        }
        [] => Said::new(Tone::Doubtful, "nothing was tried"),
        [reason] => Said::new(Tone::Doubtful, format!("nothing was tried; {reason}")),
        _ => {
            let text = format!("nothing of {} was tried", changes(analysis.untried.len()));
            Said::new(Tone::Doubtful, text)
        }
    }
}

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
        share if share >= 1.0 => format!("a factor of {:.1}", 1.0 + share),
        share => quantity::rough_share(share),
    }
}

fn bench_headline(analysis: &RunAnalysis) -> Said {
    if let Some(recipe) = recipe::of(analysis) {
        return recipe::headline(recipe, analysis);
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

/// Whether a note says what keeping something means, which nobody should have to look for.
fn is_price(note: &str) -> bool {
    note.starts_with('`') && note.contains("` is kept: ")
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
                "the baseline came out different from itself ({} {}): no result of it below \
                 can be believed. hint: run it again when nothing else uses the network",
                direction(noise.response),
                quantity::estimate_with_interval(&noise.ratio)
            ),
        ));
    }
    alerts.extend(more_than_fits(analysis));
    let prices = analysis.notes.iter().filter(|note| is_price(note));
    alerts.extend(prices.map(|note| Said::new(Tone::Doubtful, note.clone())));
    let not_back = analysis.changes.iter();
    for change in not_back.filter(|change| change.restored == Some(false)) {
        let text = format!(
            "change `{}` was undone, but the hosts do not read back as before it. \
             hint: `linerate changes` shows what is still changed",
            change.id
        );
        alerts.push(Said::new(Tone::Bad, text));
    }
    alerts.extend(
        analysis
            .warnings
            .iter()
            .map(|warning| Said::new(Tone::Doubtful, format!("run file: {warning}"))),
    );
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
    let others = match others.len() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let text = format!(
        "{first}{others}: more than the {} that fit through the NICs in use: the link is not what \
         its facts say, or the bytes took another way",
        quantity::rate(fits)
    );
    Some(Said::new(Tone::Bad, text))
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

/// Confidence of an interval below which it is not shown beside a verdict: that of two trials is 50 %.
const SHOWN_CONFIDENCE: f64 = 0.8;

/// The interval of a rate, where it says something.
pub(crate) fn interval_of(rate: &Estimate) -> Option<String> {
    let confidence = rate.confidence.unwrap_or(1.0);
    quantity::interval(rate).filter(|_| confidence >= SHOWN_CONFIDENCE)
}

/// The confidence that every interval of a ladder that is shown reaches: `interval, 95.7 %`.
pub(crate) fn interval_heading(ladder: &Ladder<'_>) -> String {
    let rates = ladder.rungs.iter().filter_map(|rung| rung.rate.as_ref());
    let low = rates
        .filter(|rate| interval_of(rate).is_some())
        .filter_map(|rate| rate.confidence)
        .fold(f64::INFINITY, f64::min);
    if low.is_finite() {
        format!("interval, {}", quantity::share(low))
    } else {
        "interval".into()
    }
}

/// What the rates of disks are the rates of, and what small files take.
pub(crate) fn files(analysis: &RunAnalysis) -> Vec<String> {
    let Some(diagnosis) = &analysis.diagnosis else {
        return Vec::new();
    };
    let ways = diagnosis.small_files.iter().map(|files| {
        let requests = files.requests.map_or_else(String::new, |requests| {
            format!(", as long as {requests:.1} small requests")
        });
        format!(
            "a small file ({}): {}{requests}; {:.0} files/s one after the other",
            direction(files.direction),
            quantity::estimate_with_interval(&files.each),
            1.0 / files.each.value
        )
    });
    diagnosis.notes.iter().map(english).chain(ways).collect()
}

/// A NIC of ours, where it is known, and an address of the server.
pub(crate) fn ends(nic: Option<&str>, address: IpAddr) -> String {
    match nic {
        Some(nic) => format!("`{nic}` to `{address}`"),
        None => format!("the one to `{address}`"),
    }
}

/// Which channel, by its two ends and its number where there are several between these.
pub(crate) fn channel(channel: &ChannelUse) -> String {
    let ends = ends(channel.nic.as_deref(), channel.address);
    match channel.number {
        1 => ends,
        number => format!("{ends} (number {number} there)"),
    }
}

/// How full a channel's NICs are of all that goes over them.
pub(crate) fn filled(channel: &ChannelUse) -> String {
    let full = channel.of_line.as_ref().map(|full| full.value);
    full.map_or_else(String::new, |full| {
        format!("; its NICs are {} full", quantity::share(full))
    })
}

/// The channels that carried far less than their NICs could.
pub(crate) fn idle_channels(analysis: &RunAnalysis) -> Vec<String> {
    let ways = analysis.diagnosis.iter();
    ways.flat_map(|found| &found.multichannel)
        .filter_map(|several| {
            let idle = several.channels.iter();
            let idle: Vec<String> = idle
                .filter(|one| one.is_far_below_its_line())
                .map(|one| {
                    let rate = quantity::estimate(&one.rate);
                    format!("{} carried {rate}{}", channel(one), filled(one))
                })
                .collect();
            let (way, count) = (direction(several.direction), several.channels.len());
            (!idle.is_empty())
                .then(|| format!("of {count} channels at once ({way}): {}", idle.join(", ")))
        })
        .collect()
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
            list.push(format!("`{}`: {failure}", experiment.question.change()));
        }
    }
    if let Plan::Tune {
        candidates: planned,
        ..
    } = &analysis.plan
    {
        for level in planned {
            let is_tried = candidates(analysis).any(|tried| tried.question.change() == level.name);
            let mut untried = analysis.untried.iter();
            let is_said = untried.any(|one| one.level.as_ref() == Some(level));
            if !is_tried && !is_said {
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

/// What was agreed with the server, a sentence for each kind of session.
pub(crate) fn sessions(analysis: &RunAnalysis) -> Vec<String> {
    let kinds = analysis.sessions.iter();
    let mut said: Vec<String> = Vec::new();
    for kind in kinds {
        let sentence = format!("share: {}", session(&kind.agreed, kind.channels));
        // They may differ in limits, which others tell.
        if !said.contains(&sentence) {
            said.push(sentence);
        }
    }
    said
}

/// A session in one line: `SMB 3.1.1 as a user, signed with AES-128-GMAC, 2 channels`.
#[must_use]
pub fn session(agreed: &SmbSession, channels: usize) -> String {
    let identity = match agreed.identity {
        Identity::User => "a user",
        Identity::Guest => "a guest",
        Identity::Anonymous => "nobody",
    };
    let protection = match (&agreed.encryption, &agreed.signing_algorithm) {
        (Some(cipher), _) => format!("encrypted with {cipher}"),
        (None, Some(algorithm)) if agreed.data_signed => format!("signed with {algorithm}"),
        (None, Some(algorithm)) => format!("signed with {algorithm} but for the data"),
        (None, None) => "neither signed nor encrypted".to_owned(),
    };
    let channels = counted(channels, "channel", "channels");
    format!(
        "SMB {} as {identity}, {protection}, {channels}",
        agreed.dialect
    )
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

/// Whether it is the proof of all that a search keeps, against the start.
fn is_together(experiment: &ExperimentResult) -> bool {
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
    if is_baseline(experiment) {
        "how much does the same differ from itself?".into()
    } else if change == experiment.question.b.name {
        format!("is `{change}` faster than `{a}`?")
    } else {
        format!("is `{a}` faster with `{change}` than without?")
    }
}

/// What the reason of a candidate begins with that a search has kept beside others.
const WITHOUT_IT: &str = "against all the rest without it: ";
/// And of one that is kept alone.
const ALL_KEPT: &str = "all that is kept against the start: ";

/// What was done about a candidate, and why, in one sentence that leaves the numbers to the effects
/// above it.
pub(crate) fn decision(experiment: &ExperimentResult) -> Said {
    let Some((decision, reason)) = &experiment.decision else {
        let won = final_effects(experiment)
            .iter()
            .any(|effect| effect.verdict == Verdict::Better);
        return match (is_together(experiment), won) {
            (true, true) => Said::new(
                Tone::Good,
                "this is all that is kept, against the start on fresh trials",
            ),
            (true, false) => Said::new(Tone::Neutral, "put back: not proven against the start"),
            (false, _) => Said::new(Tone::Doubtful, "not decided"),
        };
    };
    let is_said = final_effects(experiment)
        .into_iter()
        .any(|effect| !settle(effect).is_empty());
    let short = without_numbers(reason, is_said);
    match decision {
        Decision::Kept if reason.starts_with(WITHOUT_IT) => {
            Said::new(Tone::Good, "kept: all the rest is slower without it")
        }
        Decision::Kept if reason.starts_with(ALL_KEPT) => {
            Said::new(Tone::Good, "kept: better than the start, on fresh trials")
        }
        Decision::Kept if short.is_empty() => {
            Said::new(Tone::Good, format!("kept: {}", won(experiment)))
        }
        Decision::Kept => Said::new(Tone::Good, format!("kept: {short}")),
        Decision::Returned if short.is_empty() => {
            Said::new(Tone::Neutral, format!("put back: {reason}"))
        }
        Decision::Returned => Said::new(Tone::Neutral, format!("put back: {short}")),
    }
}

/// The whole reason of a decision, where the short one leaves something out.
pub(crate) fn full_reason(experiment: &ExperimentResult) -> Option<&str> {
    let (_, reason) = experiment.decision.as_ref()?;
    (!decision(experiment).text.ends_with(reason.as_str())).then_some(reason)
}

/// `read and write are better, and again in 6 fresh blocks`.
fn won(experiment: &ExperimentResult) -> String {
    let effects = final_effects(experiment);
    let better: Vec<&str> = effects
        .iter()
        .filter(|effect| effect.verdict == Verdict::Better)
        .map(|effect| direction(effect.response))
        .collect();
    let are = if better.len() == 1 { "is" } else { "are" };
    let what = match better.is_empty() {
        true => "proven better".to_owned(),
        false => format!("{} {are} better", better.join(" and ")),
    };
    let is_joint = experiment.effects.iter().any(|effect| effect.joint);
    let blocks = |phase: Phase| {
        let of_phase = experiment.effects.iter();
        of_phase
            .filter(|effect| effect.phase == phase)
            .map(|effect| effect.ratio.n)
            .min()
    };
    match (blocks(Phase::Compare), blocks(Phase::Confirm)) {
        (Some(first), Some(all)) if is_joint && all > first => format!(
            "{what} in {}, of which {} were fresh",
            counted(all, "block", "blocks"),
            all - first
        ),
        (Some(first), Some(again)) => format!(
            "{what} in {}, and again in {again} fresh ones",
            counted(first, "block", "blocks")
        ),
        _ => what,
    }
}

/// A reason without the effects that it repeats as numbers, `read 1.054 [1.045, 1.073] better`, and
/// without how many blocks would settle it where that is said already.
fn without_numbers(reason: &str, is_settling_said: bool) -> String {
    let is_effect = |text: &str| {
        let number = text
            .strip_prefix("read ")
            .or_else(|| text.strip_prefix("write "));
        number.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    let mut clauses: Vec<&str> = Vec::new();
    for clause in reason.split("; ") {
        // The parts before the first effect: `not confirmed: it costs something`.
        let mut end = 0;
        let mut has_effect = false;
        for part in clause.split_inclusive(": ") {
            if is_effect(part) {
                has_effect = true;
                break;
            }
            end += part.len();
        }
        let kept = if has_effect {
            clause[..end].trim_end_matches(": ")
        } else {
            clause
        };
        let phases = ["compare", "confirm", "all blocks", "before that: compare"];
        let is_phase = has_effect && phases.contains(&kept);
        let settles = is_settling_said && kept.ends_with(" blocks would settle it");
        if kept.is_empty() || is_phase || settles {
            continue;
        }
        // `not better in the same response twice: compare`
        clauses.push(match has_effect {
            true => kept.trim_end_matches(": compare"),
            false => kept,
        });
    }
    clauses.join("; ")
}

/// What the reason of a candidate begins with that a search has not found worth a proof.
const SCREENED_OUT: &str = "screened out: ";

/// Candidates that were measured together with others and not found worth a proof, with the numbers.
pub(crate) fn screened_out(analysis: &RunAnalysis) -> Vec<String> {
    let lines = analysis.untried.iter().filter_map(|one| {
        let why = one.reason.strip_prefix(SCREENED_OUT)?;
        let level = one.level.as_ref().map(|level| &level.name);
        Some(format!("`{}`: {why}", level.unwrap_or(&one.experiment)))
    });
    lines.collect()
}

/// Candidates that no trial was run of, those with the same reason together.
pub(crate) fn not_tried(analysis: &RunAnalysis) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    let tried = |reason: &str| reason.starts_with(SCREENED_OUT);
    for one in analysis.untried.iter().filter(|one| !tried(&one.reason)) {
        let level = one.level.as_ref().map(|level| &level.name);
        let name = format!("`{}`", level.unwrap_or(&one.experiment));
        match reasons.iter_mut().find(|(reason, _)| *reason == one.reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((&one.reason, vec![name])),
        }
    }
    let line = |(reason, names): (&str, Vec<String>)| format!("{}: {reason}", and(&names));
    reasons.into_iter().map(line).collect()
}

/// `a`, `a and b`, `a, b and c`.
fn and(names: &[String]) -> String {
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

/// What a byte costs the processors of the client, and of the server where somebody looked there.
pub(crate) fn processors(bench: &BenchSamples) -> String {
    let server = bench.server_cpu_per_byte.as_ref();
    let server = server.map(|cpu| format!("the server {}", quantity::estimate(cpu)));
    let client = bench.cpu_per_byte.as_ref().map(quantity::estimate);
    client
        .into_iter()
        .chain(server)
        .collect::<Vec<_>>()
        .join(", ")
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
        let open = analysis.changes.iter();
        let open: Vec<_> = open.filter(|change| change.restored.is_none()).collect();
        let open = match open[..] {
            [change] => format!(" {}", quoted(&change.id)),
            _ => String::new(),
        };
        lines.push(stays(&levels, &open));
    }
    lines
}

/// How long what is changed stays, and how to end that.
fn stays(levels: &[Level], open: &str) -> String {
    let of_samba = |setting: &Setting| matches!(setting, Setting::Knob { id, .. } if id.as_str().starts_with("smb."));
    let knobs = levels.iter().flat_map(|level| &level.settings);
    let knobs = knobs.filter(|setting| matches!(setting, Setting::Knob { .. }));
    let (samba, others): (Vec<_>, Vec<_>) = knobs.partition(|setting| of_samba(setting));
    let how_long = match (samba.is_empty(), others.is_empty()) {
        (false, true) => "these are lines of Samba's configuration and outlast a restart",
        (false, false) => {
            "what is Samba's outlasts a restart, and the rest stays until then; with `--persist`, or by \
             `linerate set --persist`, that outlasts it too"
        }
        _ => {
            "these stay until a reboot; with `--persist`, or by `linerate set --persist`, they outlast it"
        }
    };
    format!("{how_long}. `linerate undo{open}` puts all of it back")
}

/// What the processors of both ends pay for a response, before and after, as far as it is known:
/// `processor of the client 0.52 -> 0.31, of the server 0.80 -> 0.44 s for each GB`.
pub(crate) fn processor_time(experiment: &ExperimentResult, effect: &Effect) -> Option<String> {
    let of = |arm| arm_samples(experiment, arm, effect.response, effect.phase);
    let (a, b) = (of(Arm::A)?, of(Arm::B)?);
    let paid = |whose: &str, cost: fn(&ArmSamples) -> Option<&Estimate>| {
        let (a, b) = (cost(a)?.value * 1e9, cost(b)?.value * 1e9);
        Some(format!("of the {whose} {a:.2} -> {b:.2}"))
    };
    let client = paid("client", |samples| samples.cpu_per_byte.as_ref());
    let server = paid("server", |samples| samples.server_cpu_per_byte.as_ref());
    let paid: Vec<String> = client.into_iter().chain(server).collect();
    (!paid.is_empty()).then(|| format!("processor {} s for each GB", paid.join(", ")))
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
    fix.predicted.as_ref().map_or_else(
        || "its gain cannot be predicted".to_owned(),
        |ratio| format!("{} predicted", quantity::estimate_with_interval(ratio)),
    )
}

/// Of how much of the noise a reader must know.
pub(crate) fn noise(noise: &NoiseFloor, band: f64) -> String {
    let floor = match noise.smallest_detectable {
        _ if noise.alarm => "; that is no noise, and no difference in it can be believed".into(),
        Some(share) if !share.is_finite() => "; unsteady: finds no difference at all".into(),
        Some(share) if is_unsteady(noise, band) => {
            format!(
                "; unsteady: finds differences only from {} on",
                as_difference(share)
            )
        }
        Some(share) => format!(
            "; steady: finds differences from {} on",
            as_difference(share)
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
        Workload::Folder(folder) => format!(
            "{} {} {}, {} under way in {} of {} each, file of {}",
            folder_name(folder.kind),
            folder.folder,
            direction(folder.direction),
            folder.depth,
            counted(folder.operations.threads as usize, "thread", "threads"),
            quantity::size(folder.block),
            quantity::size(folder.file_size)
        ),
        Workload::Task(work) => format!(
            "{} {}: {}",
            task_layer(work),
            direction(work.direction),
            task(&work.task)
        ),
        Workload::Job(job) => match &job.job {
            Job::Enter => "the share, entered and left".to_owned(),
            Job::ReadOnce { .. } => "a file of the share, read once".to_owned(),
            Job::Copy { times, .. } => {
                format!("a file of the share, copied {times} times to the client")
            }
            Job::SmallFiles { count, size } => format!(
                "{count} files of {}, {}",
                quantity::size(*size),
                direction(job.direction)
            ),
        },
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

const fn task_layer(work: &TaskWorkload) -> &'static str {
    match &work.place {
        Place::Share { .. } => "share",
        Place::Folder { kind, .. } => folder_name(*kind),
    }
}

/// What a task does: `copies 200 files in 4 folders, 1 MiB to 16 MiB each, 1.2 GiB`.
#[must_use]
pub fn task(task: &Task) -> String {
    let files = |count: &u32| counted(*count as usize, "file", "files");
    match task {
        Task::Copy(copy) => {
            let each = match copy.size_max {
                Some(most) => format!("{} to {}", quantity::size(copy.size), quantity::size(most)),
                None => quantity::size(copy.size),
            };
            match copy.folders {
                0 => format!("copies one file of {each}"),
                folders => format!(
                    "copies {} of {each} in {}, {} in all",
                    files(&copy.files),
                    counted(folders as usize, "folder", "folders"),
                    quantity::size(copy.bytes())
                ),
            }
        }
        Task::Create(count) => format!("makes {} without content", files(count)),
        Task::Open(count) => format!("opens and closes {}", files(count)),
        Task::Remove(count) => format!("removes {}", files(count)),
        Task::Lock(times) => format!("takes and gives back {times} locks"),
        Task::List(list) => {
            let times = counted(list.times as usize, "time", "times");
            format!("lists {} {times}", files(&list.entries))
        }
        Task::Play(play) => format!(
            "plays {} of {} a second to {}, {} ahead, from {} in all",
            counted(play.per_second as usize, "frame", "frames"),
            quantity::size(play.frame),
            counted(play.streams as usize, "player", "players"),
            play.ahead,
            quantity::size(task.room())
        ),
    }
}

const fn folder_name(kind: FolderKind) -> &'static str {
    match kind {
        FolderKind::Folder => "folder",
        FolderKind::Disk => "disk",
    }
}

pub(crate) fn workload_short(workload: &Workload) -> String {
    let layer = match workload {
        Workload::Tcp(_) => "raw TCP",
        Workload::Share(_) => "share",
        Workload::Folder(folder) => folder_name(folder.kind),
        Workload::Task(work) => task_layer(work),
        Workload::Job(_) => "once",
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
    format!("`{}`: {parts}{reached}", experiment.question.change())
}

/// How near a caveat is to what the reader came for. Only the last kind is left to the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    /// A note of the run, or a caveat of a verdict that is open.
    Verdict,
    /// A caveat of a number on the page.
    Number,
    /// Of one arm of a comparison whose verdict is open.
    OpenArm,
    /// Everything else that would otherwise hide the others.
    Detail,
}

/// A caveat and everything that it is about: the group (a change, the fixes) and what of it.
struct Caveat {
    nearness: Nearness,
    about: Vec<(String, Vec<String>)>,
    text: String,
}

impl Caveat {
    fn line(&self) -> String {
        let about: Vec<String> = self
            .about
            .iter()
            .map(|(group, of)| match (group.as_str(), of.len()) {
                (LADDER, MEASURED_RUNGS) => "every rung".into(),
                (LADDER, _) => and(of),
                (FIX, 2..) => format!("fixes {}", and(of)),
                (_, 0) => group.clone(),
                _ => format!("{group} {}", and(of)),
            })
            .collect();
        match about.is_empty() {
            true => self.text.clone(),
            false => format!("{}: {}", about.join(", "), self.text),
        }
    }
}

/// The rungs with trials: raw TCP and share, read and write.
const MEASURED_RUNGS: usize = 4;
const LADDER: &str = "rung";
const FIX: &str = "fix";

#[derive(Default)]
struct Caveats(Vec<Caveat>);

impl Caveats {
    /// The same words about something else become one caveat about both.
    fn add(&mut self, nearness: Nearness, group: &str, of: &str, texts: &[String]) {
        for text in texts {
            let known = self.0.iter().position(|caveat| caveat.text == *text);
            let index = known.unwrap_or_else(|| {
                self.0.push(Caveat {
                    nearness,
                    about: Vec::new(),
                    text: text.clone(),
                });
                self.0.len() - 1
            });
            let caveat = &mut self.0[index];
            caveat.nearness = caveat.nearness.min(nearness);
            let known = caveat.about.iter().position(|(name, _)| name == group);
            let index = known.unwrap_or_else(|| {
                caveat.about.push((group.to_owned(), Vec::new()));
                caveat.about.len() - 1
            });
            let names = &mut caveat.about[index].1;
            if !of.is_empty() && !names.iter().any(|name| name == of) {
                names.push(of.to_owned());
            }
        }
    }
}

/// What a reader must know, nearest first, each thing once: everything, and how many of its lines are
/// near enough for a terminal.
pub(crate) struct ToKnow {
    pub(crate) lines: Vec<String>,
    pub(crate) near: usize,
}

pub(crate) fn to_know(analysis: &RunAnalysis) -> ToKnow {
    let mut caveats = Caveats::default();
    for note in analysis.notes.iter().filter(|note| !is_price(note)) {
        caveats.0.push(Caveat {
            nearness: Nearness::Verdict,
            about: Vec::new(),
            text: note.clone(),
        });
    }
    for one in &analysis.ladder {
        if let Some(rate) = &one.rate {
            let name = format!("{} {}", rung(one.rung), direction(one.direction));
            caveats.add(Nearness::Number, LADDER, &name, &rate.caveats);
        }
    }
    for experiment in &analysis.experiments {
        experiment_caveats(experiment, &mut caveats);
    }
    for bench in &analysis.bench {
        let name = workload_short(&bench.workload);
        if let Some(median) = &bench.median {
            caveats.add(Nearness::Number, &name, "", &median.caveats);
        }
        if let Some(cpu) = &bench.cpu_per_byte {
            let name = format!("processor time of {name}");
            let own = cpu.caveats.iter().filter(|caveat| {
                let median = bench.median.as_ref();
                median.is_none_or(|median| !median.caveats.contains(caveat))
            });
            let own: Vec<String> = own.cloned().collect();
            caveats.add(Nearness::Detail, &name, "", &own);
        }
    }
    for fix in analysis.diagnosis.iter().flat_map(|found| &found.fixes) {
        let name = format!("`{}`", fix.id);
        let caveats_of = fix.predicted.iter().flat_map(|ratio| ratio.caveats.clone());
        caveats.add(
            Nearness::Number,
            FIX,
            &name,
            &caveats_of.collect::<Vec<_>>(),
        );
    }
    let mut caveats = caveats.0;
    caveats.sort_by_key(|caveat| caveat.nearness);
    let near = caveats
        .iter()
        .filter(|caveat| caveat.nearness < Nearness::Detail)
        .count();
    let mut lines: Vec<String> = caveats.iter().map(Caveat::line).collect();
    lines.extend(analysis.changes.iter().filter_map(|change| {
        let id = &change.id;
        match change.restored {
            None => Some(format!("change `{id}` was opened")),
            Some(true) => Some(format!(
                "change `{id}` was opened, undone, and reads back as before it"
            )),
            // That is an alert.
            Some(false) => None,
        }
    }));
    ToKnow { lines, near }
}

fn experiment_caveats(experiment: &ExperimentResult, caveats: &mut Caveats) {
    let name = match is_baseline(experiment) {
        true => "noise".to_owned(),
        false => format!("`{}`", experiment.question.change()),
    };
    let band = experiment.question.band;
    let alarm = experiment.noise.iter().any(|noise| noise.alarm);
    let is_open = |response: Direction, of: Phase| {
        let last = final_effect(experiment, response);
        let open = last.is_some_and(|last| last.phase == of && last.verdict == Verdict::Undecided);
        open || (alarm && of == Phase::SameAgainstSame)
    };
    for effect in &experiment.effects {
        let counts = final_effect(experiment, effect.response) == Some(effect);
        let nearness = match effect.verdict {
            Verdict::Undecided if counts => Nearness::Verdict,
            _ if counts => Nearness::Number,
            _ => Nearness::Detail,
        };
        let of = format!("{} ({})", direction(effect.response), judged(effect));
        caveats.add(nearness, &name, &of, &effect.ratio.caveats);
    }
    for noise in &experiment.noise {
        let nearness = match noise {
            noise if noise.alarm => Nearness::Verdict,
            noise if is_unsteady(noise, band) => Nearness::Number,
            _ => Nearness::Detail,
        };
        let of = direction(noise.response);
        caveats.add(nearness, &name, of, &noise.ratio.caveats);
    }
    for samples in &experiment.samples {
        let arm = match samples.arm {
            Arm::A => "A",
            Arm::B => "B",
        };
        let nearness = match is_open(samples.response, samples.phase) {
            true => Nearness::OpenArm,
            false => Nearness::Detail,
        };
        let of = format!(
            "arm {arm} {} ({})",
            direction(samples.response),
            phase(samples.phase)
        );
        caveats.add(nearness, &name, &of, &samples.median.caveats);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reasons as `tune` writes them.
    #[test]
    fn reasons_without_the_numbers_that_stand_above_them() {
        let effects = "read 0.963 [0.767, 1.000] worse, write 0.716 [0.473, 1.000] undecided";
        let cases = [
            (
                format!("it costs something: {effects}; about 8 blocks would settle it"),
                "it costs something; about 8 blocks would settle it",
            ),
            (
                format!("it makes no difference that matters: {effects}; 2 trials failed"),
                "it makes no difference that matters; 2 trials failed",
            ),
            (format!("compare: {effects}; confirm: {effects}"), ""),
            (format!("compare: {effects}; all blocks: {effects}"), ""),
            (
                format!("compare: {effects}; not confirmed: not proven: {effects}"),
                "not confirmed: not proven",
            ),
            (
                format!(
                    "not better in the same response twice: compare: {effects}; confirm: {effects}"
                ),
                "not better in the same response twice",
            ),
            (
                format!("put back because tune was stopped; before that: compare: {effects}"),
                "put back because tune was stopped",
            ),
            (
                "3 trials failed; the last: cannot read: it timed out".into(),
                "3 trials failed; the last: cannot read: it timed out",
            ),
            (
                "undecided: the baseline differed from itself (read 1.06 [1.03, 1.09]), so nothing"
                    .into(),
                "undecided: the baseline differed from itself (read 1.06 [1.03, 1.09]), so nothing",
            ),
            (String::new(), ""),
        ];
        for (reason, short) in cases {
            assert_eq!(without_numbers(&reason, false), short);
        }
        let settled = format!("not proven: {effects}; about 8 blocks would settle it");
        assert_eq!(without_numbers(&settled, true), "not proven");
    }

    #[test]
    fn one_caveat_about_many_things_is_said_once() {
        let few = ["3 trials are few".to_owned()];
        let mut caveats = Caveats::default();
        for name in ["raw TCP read", "share read", "raw TCP write"] {
            caveats.add(Nearness::Number, LADDER, name, &few);
        }
        assert_eq!(
            caveats.0[0].line(),
            "raw TCP read, share read and raw TCP write: 3 trials are few"
        );
        caveats.add(Nearness::Number, LADDER, "share write", &few);
        caveats.add(Nearness::Number, LADDER, "share write", &few);
        assert_eq!(caveats.0.len(), 1);
        assert_eq!(caveats.0[0].line(), "every rung: 3 trials are few");
        let less = ["it may gain less".to_owned()];
        caveats.add(Nearness::Detail, FIX, "`a`", &less);
        assert_eq!(caveats.0[1].line(), "fix `a`: it may gain less");
        caveats.add(Nearness::Verdict, FIX, "`b`", &less);
        caveats.add(Nearness::Detail, "share read", "", &less);
        assert_eq!(
            caveats.0[1].line(),
            "fixes `a` and `b`, share read: it may gain less"
        );
        assert_eq!(caveats.0[1].nearness, Nearness::Verdict);
    }
}
