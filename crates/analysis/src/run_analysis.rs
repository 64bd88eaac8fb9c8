//! From a run file to everything that can be said of it.

use std::collections::{BTreeMap, BTreeSet};

use locale::{Message, say};
use record::{
    Direction, Event, Outcome, Phase, Plan, Record, Run, Schedule, SmbSession, Stage, TrialRecord,
    TrialResult, Workload,
};

use fit::{BAND_DEFAULT, CONFIDENCE_DEFAULT, DesignResult, list_failure, served_per_byte};
use stats::{PairedRatios, Unit};

use crate::benchmark_figures;
use crate::diagnosis;
use crate::phase_effects::{costs, phase, phase_name};
use crate::{
    BenchSamples, ExperimentResult, HostChange, NoiseFloor, RunAnalysis, SessionKind, Untried,
};

/// Most kinds of sessions and workloads of a bench that are distinguished: twice as many as a recipe has
/// tests. Of more the report would be longer than anybody reads.
const SESSIONS_MAX: usize = 64;
const BENCHES_MAX: usize = 400;

/// Says everything that can be said of a run, finished or not, from its file alone.
#[must_use]
pub fn analyze(run: &Run) -> RunAnalysis {
    let mut warnings = run.warnings.clone();
    let trials: Vec<&TrialRecord> = run
        .records
        .iter()
        .filter_map(|record| match record {
            Record::Trial(trial) => Some(trial.as_ref()),
            Record::Schedule(_)
            | Record::Design(_)
            | Record::Round(_)
            | Record::Path(_)
            | Record::Event { .. } => None,
        })
        .collect();
    let experiments = experiments(run, &trials, &mut warnings);
    let paths = run.records.iter().filter_map(|record| match record {
        Record::Path(path) => Some(path.as_ref()),
        Record::Schedule(_)
        | Record::Design(_)
        | Record::Round(_)
        | Record::Trial(_)
        | Record::Event { .. } => None,
    });
    let path = paths.fold(None, |_, path| Some(path));
    let ladder = diagnosis::ladder(&run.header.facts, path, &trials);
    let bench = bench(run, &trials, &mut warnings);
    let finished = events(run).any(|event| *event == Event::Finished);
    if !finished {
        warnings.push(say("run-warning.unfinished"));
    }
    RunAnalysis {
        plan: run.header.plan.clone(),
        user: run.header.user.clone(),
        login_options: run.header.login_options.clone(),
        program: run.header.program.clone(),
        seed: run.header.seed,
        started: run.header.started.to_string(),
        facts: run.header.facts.clone(),
        ceilings: ladder.ceilings,
        ladder: ladder.rungs,
        bench,
        sessions: sessions(&trials),
        diagnosis: ladder.diagnosis,
        path: path.cloned(),
        is_through_mounts: trials.iter().any(|trial| {
            let is_of_check = matches!(trial.stage, Stage::Ladder { .. } | Stage::Probe { .. });
            !is_of_check && trial.workload.second_mount().is_some()
        }),
        untried: untried(run, &experiments),
        design: design_of(run, &trials),
        experiments,
        changes: changes(run),
        notes: notes(run),
        finished,
        warnings,
    }
}

/// The design of a run; the first one, should there be several.
fn design_of(run: &Run, trials: &[&TrialRecord]) -> Option<DesignResult> {
    let design = run.records.iter().find_map(|record| match record {
        Record::Design(design) => Some(design),
        _ => None,
    })?;
    let mut result = fit::design(design, trials.iter().copied());
    for response in &design.responses {
        let of_response = trials.iter().filter(|trial| {
            matches!(&trial.stage, Stage::Visit { response: of, discarded: false, .. } if *of == response.name)
        });
        let measured = of_response.filter_map(|trial| match &trial.outcome {
            Outcome::Measured(result) => Some(result.as_ref()),
            Outcome::Failed(_) => None,
        });
        let measured: Vec<&TrialResult> = measured.collect();
        if let Some(fits) = exceeded(run, &response.workload, &measured) {
            let caveat = say("design-caveat.above-ceiling").with("response", &response.name);
            result.caveats.push(caveat.rate("ceiling", fits));
        }
    }
    Some(result)
}

/// What fits through the NICs in use, where some trial moved more.
fn exceeded(run: &Run, workload: &Workload, measured: &[&TrialResult]) -> Option<f64> {
    let operations = match workload {
        Workload::Share(share) => share.operations.as_ref(),
        _ => None,
    };
    // A line carries as much again in the other direction.
    if operations.is_some_and(|operations| operations.opposite_percent > 0) {
        return None;
    }
    let facts = &run.header.facts;
    let found = measured
        .iter()
        .filter_map(|result| diagnosis::exceeded(facts, workload.direction(), result));
    found.reduce(f64::max)
}

/// Trials of a run should all have the same kind of session but for its channels; if a server was
/// set up anew meanwhile, all kinds are listed.
fn sessions(trials: &[&TrialRecord]) -> Vec<SessionKind> {
    let terms = |kind: &SessionKind| SessionKind {
        agreed: SmbSession {
            server_interfaces: Vec::new(),
            rejected_channels: Vec::new(),
            rejected_channel_messages: Vec::new(),
            credits: None,
            credit_waits: None,
            ..kind.agreed.clone()
        },
        ..*kind
    };
    let mut kinds: Vec<SessionKind> = Vec::new();
    for trial in trials {
        let Outcome::Measured(result) = &trial.outcome else {
            continue;
        };
        let Some(agreed) = result.session.clone() else {
            continue;
        };
        let channels = result.connections.len();
        let kind = SessionKind { agreed, channels };
        let own = terms(&kind);
        match kinds.iter().position(|known| terms(known) == own) {
            Some(place) => kinds[place] = kind,
            None if kinds.len() < SESSIONS_MAX => kinds.push(kind),
            None => {}
        }
    }
    kinds
}

fn events(run: &Run) -> impl Iterator<Item = &Event> {
    run.records.iter().filter_map(|record| match record {
        Record::Event { event, .. } => Some(event),
        Record::Schedule(_)
        | Record::Design(_)
        | Record::Round(_)
        | Record::Path(_)
        | Record::Trial(_) => None,
    })
}

fn notes(run: &Run) -> Vec<Message> {
    events(run)
        .filter(|event| matches!(event, Event::Note { .. }))
        .filter_map(Event::message)
        .collect()
}

fn changes(run: &Run) -> Vec<HostChange> {
    let mut changes: Vec<HostChange> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for event in events(run) {
        let (id, restored) = match event {
            Event::ChangeOpened { change } => (change, None),
            Event::ChangeUndone { change, restored } => (change, Some(*restored)),
            _ => continue,
        };
        let next = changes.len();
        let place = *places.entry(id).or_insert(next);
        if place == next {
            let (id, restored) = (id.clone(), None);
            changes.push(HostChange { id, restored });
        }
        let known = &mut changes[place];
        known.restored = restored.or(known.restored);
    }
    changes
}

/// Candidates that were decided without an experiment of their own. They have no schedule that says
/// what they are: it is the level of their name, else the first in the plan's order of those that no
/// experiment and no other name claims.
fn untried(run: &Run, experiments: &[ExperimentResult]) -> Vec<Untried> {
    let planned = match &run.header.plan {
        Plan::Tune { candidates, .. } => candidates.as_slice(),
        Plan::Check { .. } | Plan::Bench { .. } | Plan::Experiment { .. } => &[],
    };
    let tried: BTreeSet<String> = experiments
        .iter()
        .map(|one| one.question.change())
        .collect();
    let decided: BTreeSet<&str> = events(run)
        .filter_map(|event| match event {
            Event::Decided { experiment, .. } => Some(experiment.as_str()),
            _ => None,
        })
        .collect();
    let claimed = |name: &str| tried.contains(name) || decided.contains(name);
    let mut levels = planned.iter().filter(|level| !claimed(&level.name));
    let mut found: Vec<Untried> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for event in events(run) {
        let Event::Decided {
            experiment,
            decision,
            ..
        } = event
        else {
            continue;
        };
        if experiments.iter().any(|one| one.experiment == *experiment) {
            continue;
        }
        let Some(reason) = event.message() else {
            continue;
        };
        // The last decision holds.
        if let Some(known) = places
            .get(experiment.as_str())
            .map(|place| &mut found[*place])
        {
            (known.decision, known.reason) = (*decision, reason);
            continue;
        }
        places.insert(experiment, found.len());
        found.push(Untried {
            experiment: experiment.clone(),
            level: match planned.iter().find(|level| level.name == *experiment) {
                Some(level) => Some(level.clone()),
                None => levels.next().cloned(),
            },
            decision: *decision,
            reason,
        });
    }
    found
}

fn experiments(
    run: &Run,
    trials: &[&TrialRecord],
    warnings: &mut Vec<Message>,
) -> Vec<ExperimentResult> {
    let mut schedules: Vec<&Schedule> = Vec::new();
    for record in &run.records {
        let Record::Schedule(schedule) = record else {
            continue;
        };
        let again = schedules.iter().any(|earlier| {
            earlier.experiment == schedule.experiment && earlier.phase == schedule.phase
        });
        if again {
            let warning = say("run-warning.two-schedules")
                .with("experiment", &schedule.experiment)
                .with("phase", phase_name(schedule.phase));
            warnings.push(warning);
        } else {
            schedules.push(schedule);
        }
    }
    warn_of_strays(&schedules, trials, warnings);
    let mut results: Vec<ExperimentResult> = Vec::new();
    let mut floors: Vec<NoiseFloor> = Vec::new();
    let mut pairs: BTreeMap<&str, Vec<(Direction, PairedRatios)>> = BTreeMap::new();
    for schedule in schedules {
        let of_experiment = pairs.get(schedule.experiment.as_str());
        let earlier = of_experiment.map_or(&[][..], |earlier: &Vec<_>| earlier.as_slice());
        let analysed = phase(schedule, trials.iter().copied(), &floors, earlier);
        if schedule.phase == Phase::Compare {
            pairs.insert(schedule.experiment.as_str(), analysed.pairs.clone());
        }
        if !analysed.noise.is_empty() {
            floors.clone_from(&analysed.noise);
        }
        let known = results
            .iter()
            .position(|result| result.experiment == schedule.experiment);
        let index = known.unwrap_or_else(|| {
            results.push(empty(run, schedule));
            results.len() - 1
        });
        let result = &mut results[index];
        result.noise.extend(analysed.noise);
        result.effects.extend(analysed.effects);
        result.samples.extend(analysed.samples);
        result.failures.extend(analysed.failures);
        result.caveats.extend(analysed.caveats);
    }
    results
}

fn empty(run: &Run, schedule: &Schedule) -> ExperimentResult {
    // The last decision holds: a stop can put back what was kept before it.
    let decision = events(run)
        .filter_map(|event| match event {
            Event::Decided {
                experiment,
                decision,
                ..
            } if *experiment == schedule.experiment => Some((*decision, event.message()?)),
            _ => None,
        })
        .last();
    ExperimentResult {
        experiment: schedule.experiment.clone(),
        question: schedule.question.clone(),
        noise: Vec::new(),
        effects: Vec::new(),
        samples: Vec::new(),
        decision,
        failures: Vec::new(),
        caveats: Vec::new(),
    }
}

fn warn_of_strays(schedules: &[&Schedule], trials: &[&TrialRecord], warnings: &mut Vec<Message>) {
    let strays = trials
        .iter()
        .filter(|trial| match &trial.stage {
            Stage::Experiment {
                experiment, phase, ..
            } => !schedules
                .iter()
                .any(|schedule| schedule.experiment == *experiment && schedule.phase == *phase),
            Stage::Ladder { .. }
            | Stage::Probe { .. }
            | Stage::Bench { .. }
            | Stage::Visit { .. }
            | Stage::Search { .. } => false,
        })
        .count();
    if strays > 0 {
        warnings.push(say("run-warning.strays").count("count", strays));
    }
}

fn bench(run: &Run, trials: &[&TrialRecord], warnings: &mut Vec<Message>) -> Vec<BenchSamples> {
    let of_bench: Vec<&TrialRecord> = trials
        .iter()
        .copied()
        .filter(|trial| {
            matches!(
                trial.stage,
                Stage::Bench {
                    discarded: false,
                    ..
                }
            )
        })
        .collect();
    let kinds = kinds_of_bench(&of_bench, warnings);
    kinds
        .into_iter()
        .map(|(name, workload)| {
            let same: Vec<&TrialRecord> = of_bench
                .iter()
                .copied()
                .filter(|trial| trial.workload == *workload && test_of(trial) == name)
                .collect();
            bench_samples(run, name, workload, &same)
        })
        .collect()
}

/// The test of a recipe that a trial belongs to.
fn test_of(trial: &TrialRecord) -> Option<String> {
    match &trial.stage {
        Stage::Bench { test, .. } => test.clone(),
        Stage::Ladder { .. }
        | Stage::Probe { .. }
        | Stage::Visit { .. }
        | Stage::Experiment { .. }
        | Stage::Search { .. } => None,
    }
}

/// The workloads of a bench by their tests, in the order in which each came first.
fn kinds_of_bench<'a>(
    of_bench: &[&'a TrialRecord],
    warnings: &mut Vec<Message>,
) -> Vec<(Option<String>, &'a Workload)> {
    let mut workloads: Vec<(Option<String>, &Workload)> = Vec::new();
    for trial in of_bench {
        let kind = (test_of(trial), &trial.workload);
        if workloads.contains(&kind) {
            continue;
        }
        if workloads.len() == BENCHES_MAX {
            warnings.push(say("run-warning.many-workloads").count("most", BENCHES_MAX));
            break;
        }
        workloads.push(kind);
    }
    workloads
}

/// What the trials of one workload say, as a test of that name where it has one.
fn bench_samples(
    run: &Run,
    name: Option<String>,
    workload: &Workload,
    trials: &[&TrialRecord],
) -> BenchSamples {
    let mut failures = Vec::new();
    let mut measured = Vec::new();
    let mut served = Vec::new();
    for trial in trials {
        match &trial.outcome {
            Outcome::Measured(result) if fit::rate(workload, result).is_some() => {
                measured.push(result.as_ref());
                let rate = result.bytes_per_second();
                served.extend(rate.and_then(|rate| served_per_byte(&trial.loads, rate)));
            }
            Outcome::Measured(_) => {
                list_failure(&mut failures, || say("error-experiment.did-nothing"));
            }
            Outcome::Failed(failure) => list_failure(&mut failures, || failure.why()),
        }
    }
    let passes = measured.iter();
    let rates: Vec<f64> = passes
        .filter_map(|result| fit::rate(workload, result))
        .collect();
    let unit = fit::unit(workload);
    let (cpu_per_byte, retransmits) =
        costs(measured.iter().copied(), (BAND_DEFAULT, CONFIDENCE_DEFAULT));
    let recipe = match &run.header.plan {
        Plan::Bench { recipe, .. } => recipe.as_deref(),
        Plan::Check { .. } | Plan::Tune { .. } | Plan::Experiment { .. } => None,
    };
    let figures = recipe.zip(name).map(|(recipe, name)| {
        benchmark_figures::figures(recipe, name, workload, &measured, &run.header.facts)
    });
    BenchSamples {
        test: figures,
        workload: workload.clone(),
        median: stats::median(&rates, BAND_DEFAULT, CONFIDENCE_DEFAULT, unit),
        rates,
        unit,
        cpu_per_byte,
        server_cpu_per_byte: stats::median(
            &served,
            BAND_DEFAULT,
            CONFIDENCE_DEFAULT,
            Unit::SecondsPerByte,
        ),
        retransmits,
        exceeded: exceeded(run, workload, &measured),
        failures,
    }
}
