//! JSON for programs. Its shape is its own and stays: keys are only ever added.
//!
//! An estimate is `{value, unit, interval: [low, high] or null, confidence, n, caveats}`, in base
//! units. A number that is not known, or not finite, is null and never invented. All text is English.

use analysis::{
    BenchSamples, Cause, Diagnosis, Effect, ExperimentResult, LadderRung, Multichannel, NoiseFloor,
    RunAnalysis, RungName, State, TestFigures,
};
use record::{
    Arm, Decision, Direction, Phase, Place, Setting, SmbSession, Value as Setpoint, Workload,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use stats::{Estimate, Unit};

use crate::quantity::finite_interval;
use crate::view;
use locale::{Argument, Language, Message, said};

/// The `format` of the JSON of a run.
const FORMAT: &str = "linerate-report";
/// Its version.
const VERSION: u32 = 1;

/// Everything that can be said of a run, for programs.
#[must_use]
pub fn json(analysis: &RunAnalysis) -> Value {
    Language::English.within(|| run(analysis))
}

fn run(analysis: &RunAnalysis) -> Value {
    json!({
        "format": FORMAT,
        "version": VERSION,
        "command": view::command(&analysis.plan),
        "target": view::subject(&analysis.plan),
        "program": analysis.program,
        "seed": analysis.seed,
        "started": analysis.started,
        "finished": analysis.finished,
        "headline": view::headline(analysis).text,
        "ceilings": analysis.ceilings.iter().map(|(direction, ceiling)| json!({
            "direction": word(direction),
            "rate": estimate(&ceiling.rate),
            "because": ceiling.because,
        })).collect::<Vec<_>>(),
        "ladder": analysis.ladder.iter().map(rung).collect::<Vec<_>>(),
        "sessions": analysis.sessions.iter().map(|kind| session(&kind.agreed, kind.channels)).collect::<Vec<_>>(),
        "diagnosis": analysis.diagnosis.as_ref().map(|found| diagnosis(found, analysis)),
        "look": analysis.path.as_ref().map(word),
        "experiments": analysis.experiments.iter().map(experiment).collect::<Vec<_>>(),
        "untried": analysis.untried.iter().map(|one| json!({
            "experiment": one.experiment,
            "level": one.level.as_ref().map(word),
            "decision": decided(one.decision),
            "reason": one.reason,
        })).collect::<Vec<_>>(),
        "changes": analysis.changes.iter().map(|change| json!({
            "id": change.id,
            "restored": change.restored,
        })).collect::<Vec<_>>(),
        "design": analysis.design.as_ref().map(word),
        "bench": analysis.bench.iter().map(bench).collect::<Vec<_>>(),
        "facts": word(&analysis.facts),
        "notes": analysis.notes,
        "warnings": analysis.warnings,
    })
}

/// The figures of the demo: one link against two, and what MTU 9000 did on top of what was kept.
///
/// They come from the confirmation where there is one, else from the comparison; one channel's rates
/// come from the check where nothing was compared. What was not measured is null.
#[must_use]
pub fn demo_summary(check: &RunAnalysis, tune: &RunAnalysis, restored: bool) -> Value {
    let channels = tune.experiments.iter().find(|one| sets_two_channels(one));
    let jumbo = tune.experiments.iter().find(|one| sets_mtu_9000(one));
    let rung = |name: RungName, direction: Direction| {
        let rung = check
            .ladder
            .iter()
            .find(|one| one.rung == name && one.direction == direction);
        rung.and_then(|rung| rung.rate.as_ref())
            .map(|rate| rate.value)
    };
    let ceiling = check
        .ceilings
        .iter()
        .find(|(direction, _)| *direction == Direction::Read);
    let ceiling = ceiling.map(|(_, ceiling)| ceiling.rate.value);
    let ceiling = ceiling.or_else(|| rung(RungName::Ceiling, Direction::Read));
    let one_channel = |direction| {
        let compared = channels.and_then(|one| counted_median(one, Arm::A, direction));
        scaled(
            compared.or_else(|| rung(RungName::Share, direction)),
            1e-6,
            2,
        )
    };
    let two_channels = |direction| {
        scaled(
            channels.and_then(|one| counted_median(one, Arm::B, direction)),
            1e-6,
            2,
        )
    };
    let ratio = |direction| {
        let effect = channels.and_then(|one| view::final_effect(one, direction));
        scaled(effect.map(|effect| effect.ratio.value), 1.0, 4)
    };
    let jumbo = jumbo.and_then(|one| view::final_effect(one, Direction::Read));
    let interval = jumbo.and_then(|effect| finite_interval(&effect.ratio));
    json!({
        "link": {
            "ceiling_mbit_s": scaled(ceiling, 8e-6, 2),
            "tcp_mbit_s": scaled(rung(RungName::Tcp, Direction::Read), 8e-6, 2),
        },
        "one_channel": {
            "read_mb_s": one_channel(Direction::Read),
            "write_mb_s": one_channel(Direction::Write),
        },
        "two_channels": {
            "read_mb_s": two_channels(Direction::Read),
            "write_mb_s": two_channels(Direction::Write),
        },
        "ratio": { "read": ratio(Direction::Read), "write": ratio(Direction::Write) },
        "mtu_9000": {
            "read_ratio": scaled(jumbo.map(|effect| effect.ratio.value), 1.0, 4),
            "interval": interval.map(|ends| ends.map(|end| scaled(Some(end), 1.0, 4))),
            "verdict": jumbo.map(|effect| effect.verdict.as_str()),
        },
        "restored": restored,
    })
}

fn sets_two_channels(experiment: &ExperimentResult) -> bool {
    view::changed_settings(experiment).settings.iter().any(|setting| {
        matches!(setting, Setting::Workload { field, value: Setpoint::Integer(2) } if field == "channels")
    })
}

fn sets_mtu_9000(experiment: &ExperimentResult) -> bool {
    view::changed_settings(experiment).settings.iter().any(|setting| {
        matches!(setting, Setting::Knob { id, value: Setpoint::Integer(9000), .. } if id.as_str() == "nic.mtu")
    })
}

/// The median of an arm in the phase whose effect counts.
fn counted_median(experiment: &ExperimentResult, arm: Arm, response: Direction) -> Option<f64> {
    let counted = view::final_effect(experiment, response).map(|effect| effect.phase);
    let phase = counted.unwrap_or(Phase::Compare);
    view::arm_median(experiment, arm, response, phase).map(|median| median.value)
}

/// Scaled and rounded; null where it is not known.
fn scaled(number: Option<f64>, factor: f64, decimals: i32) -> Value {
    let round = 10f64.powi(decimals);
    json!(number.map(|number| (number * factor * round).round() / round))
}

/// What was agreed with a server, and over how many channels it was used.
#[must_use]
pub fn session(agreed: &SmbSession, channels: usize) -> Value {
    json!({
        "dialect": agreed.dialect,
        "identity": word(&agreed.identity),
        "signing_algorithm": agreed.signing_algorithm,
        "data_signed": agreed.data_signed,
        "encryption": agreed.encryption,
        "channels": channels,
    })
}

fn estimate(estimate: &Estimate) -> Value {
    json!({
        "value": estimate.value,
        "unit": word(&estimate.unit),
        "interval": finite_interval(estimate),
        "confidence": estimate.confidence,
        "n": estimate.n,
        "caveats": estimate.caveats,
    })
}

fn rung(rung: &LadderRung) -> Value {
    json!({
        "rung": word(&rung.rung),
        "direction": word(&rung.direction),
        "rate": rung.rate.as_ref().map(estimate),
        "of_above": rung.of_above.as_ref().map(estimate),
        "of_ceiling": rung.of_ceiling.as_ref().map(estimate),
        "loss": rung.loss.map(|loss| word(&loss)),
        "not_measured": rung.not_measured,
    })
}

fn cause(cause: &Cause) -> Value {
    json!({
        "id": cause.id,
        "message": message(&cause.text),
        "text": said(&cause.text),
        "trust": word(&cause.trust),
        "state": match cause.state {
            State::Proven(_) => json!("proven"),
            other => word(&other),
        },
        "proof": match cause.state {
            State::Proven(proof) => word(&proof),
            _ => Value::Null,
        },
        "gain": cause.gain.as_ref().map(estimate),
        "decides": cause.decides.as_ref().map(said),
        "needs": cause.needs.as_ref().map(said),
    })
}

fn diagnosis(diagnosis: &Diagnosis, analysis: &RunAnalysis) -> Value {
    json!({
        "headline": said(&diagnosis.headline),
        "headline_id": diagnosis.headline.id,
        "complete": diagnosis.complete,
        "first_loss": diagnosis.first_loss.map(|(rung, direction)| json!({
            "rung": word(&rung),
            "direction": word(&direction),
        })),
        "first_cause": diagnosis.named().map(|cause| &cause.id),
        "causes": diagnosis.causes.iter().map(cause).collect::<Vec<_>>(),
        "ruled_out": diagnosis.ruled_out.iter().map(cause).collect::<Vec<_>>(),
        "remarks": diagnosis.remarks.iter().map(cause).collect::<Vec<_>>(),
        "clients": word(&diagnosis.clients),
        "multichannel": diagnosis.multichannel.iter().map(multichannel).collect::<Vec<_>>(),
        "transfers": word(&diagnosis.transfers),
        "request": diagnosis.request.as_ref().map(estimate),
        "notes": diagnosis.notes.iter().map(said).collect::<Vec<_>>(),
        "small_files": diagnosis.small_files.iter().map(|files| json!({
            "direction": word(&files.direction),
            "each": estimate(&files.each),
            "requests": files.requests,
        })).collect::<Vec<_>>(),
        "fixes": diagnosis.fixes.iter().map(|fix| json!({
            "id": fix.id,
            "text": said(&fix.text),
            "level": word(&fix.level),
            "predicted": fix.predicted.as_ref().map(estimate),
            "commands": view::fix_commands(fix, analysis),
            "trust": word(&fix.trust),
            "disturbs": said(&fix.disturbs),
            "blocked": fix.blocked.as_ref().map(said),
        })).collect::<Vec<_>>(),
    })
}

fn multichannel(several: &Multichannel) -> Value {
    json!({
        "direction": word(&several.direction),
        "rate": estimate(&several.rate),
        "alone": several.alone.as_ref().map(|alone| json!({
            "nic": alone.nic,
            "address": word(&alone.address),
            "rate": estimate(&alone.rate),
            "gain": estimate(&alone.gain),
            "verdict": alone.verdict.as_str(),
        })),
        "channels": several.channels.iter().map(|channel| json!({
            "nic": channel.nic,
            "address": word(&channel.address),
            "number": channel.number,
            "rate": estimate(&channel.rate),
            "share": estimate(&channel.share),
            "of_line": channel.of_line.as_ref().map(estimate),
        })).collect::<Vec<_>>(),
    })
}

fn experiment(experiment: &ExperimentResult) -> Value {
    let decision = experiment.decision.as_ref();
    json!({
        "experiment": experiment.experiment,
        "question": {
            "a": word(&experiment.question.a),
            "b": word(&experiment.question.b),
            "responses": word(&experiment.question.responses),
            "band_share": experiment.question.band,
            "confidence": experiment.question.confidence,
        },
        "noise": experiment.noise.iter().map(noise).collect::<Vec<_>>(),
        "is_baseline": view::is_baseline(experiment),
        "effects": experiment.effects.iter().map(effect).collect::<Vec<_>>(),
        "samples": experiment.samples.iter().map(|samples| json!({
            "arm": word(&samples.arm),
            "response": word(&samples.response),
            "phase": word(&samples.phase),
            "rates": samples.rates,
            "rates_unit": "bytes_per_second",
            "blocks": samples.blocks,
            "median": estimate(&samples.median),
            "cpu_per_byte": samples.cpu_per_byte.as_ref().map(estimate),
            "server_cpu_per_byte": samples.server_cpu_per_byte.as_ref().map(estimate),
            "retransmits": samples.retransmits,
            "files_per_second": view::files_per_second(samples),
        })).collect::<Vec<_>>(),
        "decision": decision.map(|(decision, _)| decided(*decision)),
        "reason": decision.map(|(_, reason)| reason),
        "failures": experiment.failures,
        "caveats": experiment.caveats,
    })
}

const fn decided(decision: Decision) -> &'static str {
    match decision {
        Decision::Kept => "kept",
        Decision::Returned => "returned",
    }
}

fn noise(noise: &NoiseFloor) -> Value {
    json!({
        "response": word(&noise.response),
        "ratio": estimate(&noise.ratio),
        "smallest_detectable_share": noise.smallest_detectable,
        "alarm": noise.alarm,
    })
}

fn effect(effect: &Effect) -> Value {
    json!({
        "response": word(&effect.response),
        "phase": word(&effect.phase),
        "ratio": estimate(&effect.ratio),
        "verdict": effect.verdict.as_str(),
        "blocks_to_settle": effect.blocks_to_settle,
    })
}

fn bench(bench: &BenchSamples) -> Value {
    json!({
        "workload": workload(&bench.workload),
        "rates": bench.rates,
        "rates_unit": word(&bench.unit),
        "median": bench.median.as_ref().map(estimate),
        "cpu_per_byte": bench.cpu_per_byte.as_ref().map(estimate),
        "server_cpu_per_byte": bench.server_cpu_per_byte.as_ref().map(estimate),
        "retransmits": bench.retransmits,
        "more_than_fits": bench.exceeded,
        "failures": bench.failures,
        "test": bench.test.as_ref().map(|test| test_figures(test, bench.unit)),
    })
}

fn test_figures(test: &TestFigures, unit: Unit) -> Value {
    json!({
        "name": test.name,
        "tool": test.tool,
        "figure": test.figure,
        "figure_unit": word(&unit),
        "figure_latency_ns": test.figure_latency,
        "operations_per_second": test.operations_per_second,
        "latency_ns": test.latency.map(|latency| json!({
            "mean": latency.mean, "p50": latency.p50, "p95": latency.p95,
            "p99": latency.p99, "p999": latency.p999, "max": latency.max,
        })),
        "cache": test.cache.map(|cache| word(&cache)),
        "first_byte_ns": test.first_byte,
        "playback": test.playback.map(|playback| json!({
            "due": playback.due, "missed": playback.missed, "stall_ns_max": playback.stall_max,
        })),
    })
}

fn workload(workload: &Workload) -> Value {
    match workload {
        Workload::Tcp(tcp) => json!({
            "engine": "tcp",
            "direction": word(&tcp.direction),
            "server": word(&tcp.server),
            "port": tcp.port,
            "streams": tcp.streams,
            "nic": tcp.nic,
            "measured_ns": tcp.timing.measured,
        }),
        Workload::Folder(folder) => json!({
            "engine": word(&folder.kind),
            "direction": word(&folder.direction),
            "folder": folder.folder,
            "block_bytes": folder.block,
            "depth": folder.depth,
            "threads": folder.operations.threads,
            "file_size_bytes": folder.file_size,
            "measured_ns": folder.timing.measured,
        }),
        Workload::Task(work) => json!({
            "engine": match &work.place {
                Place::Share { .. } => json!("share"),
                Place::Folder { kind, .. } => word(kind),
            },
            "direction": word(&work.direction),
            "place": match &work.place {
                Place::Share { share, .. } => share.to_string(),
                Place::Folder { folder, .. } => folder.clone(),
            },
            "channels_max": work.channels,
            "task": word(&work.task),
            "measured_ns": work.timing.measured,
        }),
        Workload::Job(job) => json!({
            "engine": "job",
            "direction": word(&job.direction),
            "share": job.share.to_string(),
            "job": word(&job.job),
            "limit_ns": job.limit,
        }),
        Workload::Share(share) => json!({
            "engine": "share",
            "direction": word(&share.direction),
            "share": share.share.to_string(),
            "channels_max": share.channels,
            "block_bytes": share.block,
            "depth": share.depth,
            "file_size_bytes": share.file_size,
            "measured_ns": share.timing.measured,
        }),
    }
}

/// A message as data: what is said, for programs that say it themselves.
fn message(message: &Message) -> Value {
    let arguments = message.arguments.iter();
    let arguments: Vec<Value> = arguments
        .map(|(name, value)| json!([name, argument(value)]))
        .collect();
    json!({ "id": message.id, "arguments": arguments })
}

fn argument(value: &Argument) -> Value {
    match value {
        Argument::Text(text) => json!({ "text": text }),
        Argument::Rate(rate) => json!({ "rate": rate }),
        Argument::Bits(bits) => json!({ "bits": bits }),
        Argument::Share(share) => json!({ "share": share }),
        Argument::Ratio(ratio) => json!({ "ratio": ratio }),
        Argument::Seconds(seconds) => json!({ "seconds": seconds }),
        Argument::Count(count) => json!({ "count": count }),
        Argument::Bytes(bytes) => json!({ "bytes": bytes }),
        Argument::Names(names) => json!({ "names": names }),
        Argument::List(list) => json!({ "list": list.iter().map(argument).collect::<Vec<_>>() }),
        Argument::Message(of) => match of.id.strip_prefix("direction.") {
            Some(direction) => json!({ "direction": direction }),
            None => json!({ "message": message(of) }),
        },
    }
}

/// A type of the run file as the run file spells it.
fn word(value: &impl Serialize) -> Value {
    // These types have string keys and plain numbers only, which is all that can fail here.
    serde_json::to_value(value).unwrap_or(Value::Object(Map::new()))
}
