//! What every form of report says in the same words: sentences and rows made from an analysis, once.

mod caveats;
mod decision_reason;
mod experiment;
mod headline;
mod ladder;
mod workload;

use analysis::{
    BenchSamples, Cause, Diagnosis, Effect, Fix, LadderRung, Proof, RunAnalysis, RungName, State,
    Trust, quoted,
};
use locale::{counted, list, said, say, text};
use record::{Direction, Identity, Phase, Plan, SecondMount, Setting, SmbSession};
use stats::{Estimate, Verdict};

use crate::quantity;

pub(crate) use caveats::to_know;
pub(crate) use experiment::{
    arm_median, candidates, changed_settings, decision, effect_words, files_per_second,
    final_effect, final_effects, full_reason, is_baseline, is_unsteady, kept, left_changed,
    medians, noise, noises, not_tried, processor_time, question, screened_out, setting_lines,
};
pub(crate) use headline::{alerts, headline};
pub(crate) use ladder::{
    Ladder, ceilings, channel, ends, files, filled, idle_channels, interval_heading, interval_of,
    ladders, not_measured,
};
pub use workload::task;
pub(crate) use workload::{method, rate_list, workload, workload_short};

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

pub(crate) fn direction(direction: Direction) -> String {
    said(&direction.into())
}

pub(crate) fn direction_explained(direction: Direction) -> String {
    text(match direction {
        Direction::Read => "direction.read-explained",
        Direction::Write => "direction.write-explained",
    })
}

pub(crate) fn rung(rung: RungName) -> String {
    text(match rung {
        RungName::Ceiling => "rung.ceiling",
        RungName::Tcp => "rung.tcp",
        RungName::Streams => "rung.streams",
        RungName::Share => "rung.share",
        RungName::Channels => "rung.channels",
        RungName::SystemClient => "rung.system-client",
        RungName::SystemProgram => "rung.system-program",
        RungName::SystemCopy => "rung.system-copy",
        RungName::Disk => "rung.disk",
        RungName::Copy => "rung.copy",
    })
}

/// A rung and a direction: `share read`.
pub(crate) fn rung_in(name: RungName, way: Direction) -> String {
    said(
        &say("rung.in-direction")
            .with("rung", rung(name))
            .with("direction", way),
    )
}

pub(crate) fn phase(phase: Phase) -> String {
    said(&phase.into())
}

/// `98.7 % of ceiling`.
pub(crate) fn of_ceiling(share: &Estimate) -> String {
    said(&say("of-ceiling.share").with("share", quantity::share(share.value)))
}

/// Why a rung has no interval.
pub(crate) fn no_interval(rung: &LadderRung) -> String {
    text(match rung.rung {
        RungName::Ceiling => "interval.computed",
        _ => "interval.few-trials",
    })
}

/// The blocks that an effect is judged by.
pub(crate) fn judged(effect: &Effect) -> String {
    match effect.joint {
        true => text("phase.all"),
        false => phase(effect.phase),
    }
}

pub(crate) fn verdict(verdict: Verdict) -> String {
    said(&verdict.into())
}

pub(crate) const fn verdict_tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Better => Tone::Good,
        Verdict::Worse => Tone::Bad,
        Verdict::Equivalent => Tone::Neutral,
        Verdict::Undecided => Tone::Doubtful,
    }
}

fn trust(trust: Trust) -> String {
    text(match trust {
        Trust::Computed => "cause-state.computed",
        Trust::Measured => "cause-state.measured",
    })
}

/// What is said where no cause is named.
pub(crate) fn no_cause(diagnosis: &Diagnosis) -> String {
    text(match diagnosis.complete {
        true => "no-cause.complete",
        false => "no-cause",
    })
}

/// What is known of a cause, in a few words.
pub(crate) fn state(cause: &Cause) -> String {
    let about = cause.decides.as_ref().or(cause.needs.as_ref()).cloned();
    let gain = cause.gain.as_ref().map(quantity::estimate_with_interval);
    match (cause.state, gain, about) {
        (State::Proven(Proof::Relieved), Some(gain), _) => {
            said(&say("cause-state.relieved").with("gain", gain))
        }
        (State::Proven(Proof::Binding), ..) => text("cause-state.binding"),
        (State::Proven(_), ..) => trust(cause.trust),
        (State::Suspected, _, Some(decides)) => {
            said(&say("cause-state.suspected").with("decides", decides))
        }
        (State::Suspected, ..) => trust(cause.trust),
        (State::Unknowable, _, Some(needs)) => {
            said(&say("cause-state.unknowable").with("needs", needs))
        }
        (State::Unknowable, ..) => text("cause-state.unknowable-so-far"),
        (State::RuledOut, ..) => text("cause-state.ruled-out"),
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
    match &analysis.plan {
        Plan::Experiment { .. } => of_same(&["experiment", "run", "PLAN", "--target"], analysis),
        plan => of_same(&[command(plan)], analysis),
    }
}

/// A command on the same share and hosts, in a session of the same kind.
pub(crate) fn command_line(command: &str, analysis: &RunAnalysis) -> String {
    of_same(&[command], analysis)
}

/// A command on what was measured, by the same client of the share.
fn of_same(command: &[&str], analysis: &RunAnalysis) -> String {
    let subject = subject(&analysis.plan);
    if let Plan::Tune {
        folder: Some(folder),
        ..
    } = &analysis.plan
    {
        return on_target(command, folder, analysis);
    }
    let mount = analysis.path.as_ref().and_then(|path| path.mount.as_ref());
    match mount {
        Some(mount) if !mount.own => on_target(command, &mount.folder, analysis),
        None if !analysis.is_through_mounts => on_target(command, &subject, analysis),
        _ => {
            let command = on_target(command, &subject, analysis);
            format!("{command} --through system")
        }
    }
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
    // Better options of a mount are tried on mounts of our own, and are worth that once they are proven.
    let mounts = |setting: &Setting| matches!(setting, Setting::Workload { field, .. } if field == SecondMount::FIELD);
    let is_proven_mount = fix.trust == Trust::Measured && fix.level.settings.iter().any(mounts);
    let proves = (fix.blocked.is_none() || is_proven_mount).then(|| {
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
    fix.blocked.as_ref().filter(|_| !by_hand).map(said)
}

/// A prediction as people weigh it: `1.97x predicted`.
pub(crate) fn prediction(fix: &Fix) -> String {
    match &fix.predicted {
        Some(ratio) => {
            let ratio = quantity::estimate_with_interval(ratio);
            said(&say("prediction").with("ratio", ratio))
        }
        None => text("prediction.none"),
    }
}

/// What was agreed with the server: a sentence for each kind of session, whatever its channels.
pub(crate) fn sessions(analysis: &RunAnalysis) -> Vec<String> {
    let mut kinds: Vec<(&SmbSession, Vec<usize>)> = Vec::new();
    for kind in &analysis.sessions {
        // They may differ in limits as well, which others tell.
        let is_alike = |agreed: &SmbSession| session(agreed, 1) == session(&kind.agreed, 1);
        match kinds.iter_mut().find(|(agreed, _)| is_alike(agreed)) {
            Some((_, of_kind)) => of_kind.push(kind.channels),
            None => kinds.push((&kind.agreed, vec![kind.channels])),
        }
    }
    let sentences = kinds.into_iter().map(|(agreed, mut channels)| {
        channels.sort_unstable();
        channels.dedup();
        let channels = channels.into_iter();
        let channels = channels.map(|count| counted("count.channels", count));
        let agreed = session_with(agreed, &list(&channels.collect::<Vec<_>>()));
        said(&say("session.of-share").with("session", agreed))
    });
    sentences.collect()
}

/// A session in one line: `SMB 3.1.1 as a user, signed with AES-128-GMAC, 2 channels`.
#[must_use]
pub fn session(agreed: &SmbSession, channels: usize) -> String {
    session_with(agreed, &counted("count.channels", channels))
}

fn session_with(agreed: &SmbSession, channels: &str) -> String {
    let identity = text(match agreed.identity {
        Identity::User => "identity.user",
        Identity::Guest => "identity.guest",
        Identity::Anonymous => "identity.anonymous",
    });
    let protection = match (&agreed.encryption, &agreed.signing_algorithm) {
        (Some(cipher), _) => say("protection.encrypted").with("algorithm", cipher.to_string()),
        (None, Some(algorithm)) if agreed.data_signed => {
            say("protection.signed").with("algorithm", algorithm.to_string())
        }
        (None, Some(algorithm)) => {
            say("protection.signed-but-data").with("algorithm", algorithm.to_string())
        }
        (None, None) => say("protection.none"),
    };
    let sentence = say("session")
        .with("dialect", agreed.dialect.to_string())
        .with("identity", identity)
        .with("protection", protection)
        .with("channels", channels);
    said(&sentence)
}

/// What a byte costs the processors of the client, and of the server where somebody looked there.
pub(crate) fn processors(bench: &BenchSamples) -> String {
    let server = bench.server_cpu_per_byte.as_ref();
    let server =
        server.map(|cpu| said(&say("processor-cost.server").with("cost", quantity::estimate(cpu))));
    let client = bench.cpu_per_byte.as_ref().map(quantity::estimate);
    client
        .into_iter()
        .chain(server)
        .collect::<Vec<_>>()
        .join(", ")
}
