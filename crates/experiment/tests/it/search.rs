use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Duration;

use experiment::{
    Candidate, Ended, Error, Hooks, Progress, SearchPlan, Testbed, TrialLength, TuneOutcome,
    TunePlan, search,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use record::{
    Decision, Direction, Event, Failure, FailureKind, Level, Nanoseconds, Outcome, Phase, Record,
    Setting, Stage, TrialRecord, Workload,
};

use crate::simulated_noise::Noise;
use crate::simulated_seven_knobs::{KNOBS, Landscape, Machine, find, knob, plan};
use crate::simulated_testbed::{self, Call, SimulatedTestbed, as_predicted, english, failure, mtu};

/// The long version is `make tuning`.
#[test]
fn the_best_of_128_settings_is_found_with_a_quarter_of_the_trials() {
    let searches = 8;
    let mut well = 0;
    for seed in 0..searches {
        let found = find(seed, false, Noise::Normal, 0.01);
        // All of them in six blocks would be 768.
        assert!(found.trials <= 192, "seed {seed}: {}", found.trials);
        well += u32::from(found.of_best >= 0.98);
    }
    assert!(well >= 7, "{well} of {searches}");
}

#[test]
fn trials_that_somebody_else_disturbs_seldom_hide_the_best() {
    let searches = 8;
    let mut well = 0;
    for seed in 0..searches {
        let found = find(seed, false, Noise::Outliers, 0.01);
        assert!(found.trials <= 192, "seed {seed}: {}", found.trials);
        well += u32::from(found.of_best >= 0.98);
    }
    assert!(well >= 5, "{well} of {searches}");
}

#[test]
fn where_nothing_helps_nothing_is_changed() {
    let changed = (0..12).filter(|seed| find(*seed, true, Noise::Drift, 0.02).kept > 0);
    assert!(changed.count() <= 1);
}

#[test]
fn every_candidate_is_decided_once_and_kept_ones_were_proven() {
    let mut found = (0..8).map(|seed| find(seed, false, Noise::Normal, 0.01));
    let found = found
        .find(|found| found.kept > 1)
        .expect("some machine gains by two knobs");
    let decided: Vec<&str> = found
        .outcome
        .decisions
        .iter()
        .map(|decided| decided.experiment.as_str())
        .collect();
    assert_eq!(decided.len(), KNOBS);
    assert_eq!(decided.iter().collect::<BTreeSet<_>>().len(), KNOBS);
    for decided in &found.outcome.decisions {
        if decided.decision == Decision::Kept {
            let reason = english(&decided.reason);
            assert!(
                reason.contains("all that is kept against the start: read 1."),
                "{reason}"
            );
        }
    }
    let notes = found.records.iter().filter(|record| {
        let about = |text: &str| text.starts_with("screening of 16") || text.starts_with("race of");
        matches!(record, Record::Event { event: Event::Note { text, .. }, .. } if about(text))
    });
    assert_eq!(notes.count(), 2);
}

/// The parts of a search.
const PARTS: [&str; 5] = ["gate", "screening", "race", "each", "together"];

fn part(trial: &TrialRecord) -> &'static str {
    match &trial.stage {
        Stage::Experiment { phase, .. } => match phase {
            Phase::SameAgainstSame => PARTS[0],
            Phase::Compare => PARTS[3],
            Phase::Confirm => PARTS[4],
        },
        Stage::Search { round: 0, .. } => PARTS[1],
        Stage::Search { .. } => PARTS[2],
        other => panic!("no part of a search: {other:?}"),
    }
}

/// The first, the middle and the last trial of each part of a search.
fn moments(seed: u64) -> Vec<usize> {
    let found = find(seed, false, Noise::Normal, 0.01);
    let trials = found.records.iter().filter_map(|record| match record {
        Record::Trial(trial) => Some(part(trial)),
        _ => None,
    });
    let parts: Vec<&str> = trials.collect();
    let moments = PARTS.iter().flat_map(|wanted| {
        let first = parts.iter().position(|part| part == wanted);
        let first = first.unwrap_or_else(|| panic!("seed {seed} has no {wanted}"));
        let last = parts
            .iter()
            .rposition(|part| part == wanted)
            .unwrap_or(first);
        [first, first.midpoint(last), last]
    });
    moments.collect()
}

/// A search that has all parts.
const FULL: u64 = 7;

/// A search that nobody stops or watches.
fn searched(machine: &mut Machine, plan: &SearchPlan) -> Result<TuneOutcome, Error> {
    let mut hooks = Hooks {
        sink: &mut Vec::<Record>::new(),
        stop: &|| false,
        progress: &mut |_| {},
    };
    search(machine, plan, &mut hooks)
}

fn kept(outcome: &TuneOutcome) -> Vec<&str> {
    let kept = outcome.decisions.iter();
    let kept = kept.filter(|one| one.decision == Decision::Kept);
    kept.map(|one| one.experiment.as_str()).collect()
}

fn machine() -> Machine {
    let mut random = ChaCha8Rng::seed_from_u64(FULL);
    let landscape = Landscape::random(&mut random);
    Machine::new(landscape, Noise::Normal, 0.01, &mut random)
}

#[test]
fn a_stop_in_any_part_leaves_the_start() {
    for after in moments(FULL) {
        let mut machine = machine();
        let ended = Cell::new(0);
        let mut records: Vec<Record> = Vec::new();
        let mut progress = |event: Progress| {
            if matches!(event, Progress::TrialEnds { .. }) {
                ended.set(ended.get() + 1);
            }
        };
        let mut hooks = Hooks {
            sink: &mut records,
            stop: &|| ended.get() >= after,
            progress: &mut progress,
        };
        let outcome = search(&mut machine, &plan(FULL), &mut hooks).expect("it can be put back");
        assert_eq!(outcome.ended, Ended::Stopped);
        assert_eq!(machine.trials, after);
        assert_is_as_at_the_start(&mut machine, &outcome);
    }
}

#[test]
fn a_connection_that_is_lost_in_any_part_leaves_the_start_or_says_that_it_could_not() {
    for after in moments(FULL) {
        for comes_back in [true, false] {
            let mut line = Line {
                machine: machine(),
                // Where not even the start can be read, there is nothing to put back.
                works_for: after.max(1),
                comes_back,
            };
            let mut records: Vec<Record> = Vec::new();
            let mut hooks = Hooks {
                sink: &mut records,
                stop: &|| false,
                progress: &mut |_| {},
            };
            let ended = search(&mut line, &plan(FULL), &mut hooks);
            match (comes_back, ended) {
                (true, Ok(outcome)) => {
                    assert_ne!(outcome.ended, Ended::Stopped, "nobody asked for it");
                    assert_is_as_at_the_start(&mut line.machine, &outcome);
                }
                (false, Err(Error::NotRestored { .. })) => {}
                (_, ended) => panic!("after {after} trials: {ended:?}"),
            }
        }
    }
}

fn assert_is_as_at_the_start(machine: &mut Machine, outcome: &TuneOutcome) {
    assert_eq!(outcome.left, outcome.start);
    let read = machine.read(&outcome.start).expect("it can be read");
    assert_eq!(read, outcome.start.settings);
    let mut decisions = outcome.decisions.iter();
    assert!(decisions.all(|one| one.decision == Decision::Returned));
}

/// A machine behind a line that works for so many trials.
struct Line {
    machine: Machine,
    works_for: usize,
    /// Whether it is there again when everything is put back.
    comes_back: bool,
}

impl Line {
    fn works(&self) -> Result<(), Failure> {
        if self.machine.trials < self.works_for {
            return Ok(());
        }
        Err(Failure::new(
            FailureKind::Unreachable,
            "the connection to `server` was lost",
        ))
    }
}

impl Testbed for Line {
    fn read(&mut self, level: &Level) -> Result<Vec<Setting>, Failure> {
        self.works()?;
        self.machine.read(level)
    }

    fn set(&mut self, level: &Level) -> Result<(), Failure> {
        self.works()?;
        self.machine.set(level)
    }

    fn workload(&self, level: &Level, direction: Direction, length: TrialLength) -> Workload {
        self.machine.workload(level, direction, length)
    }

    fn trial(&mut self, workload: &Workload) -> Outcome {
        match self.works() {
            Ok(()) => self.machine.trial(workload),
            Err(failure) => Outcome::Failed(failure),
        }
    }

    fn keep(&mut self, level: &Level) -> Result<(), Failure> {
        self.works()?;
        self.machine.keep(level)
    }

    fn restore(&mut self, level: &Level) -> Result<(), Failure> {
        if self.comes_back {
            self.works_for = usize::MAX;
        }
        self.works()?;
        self.machine.restore(level)
    }

    fn now(&self) -> Nanoseconds {
        self.machine.now()
    }
}

/// As with `sendfile`, which does nothing while reads are asynchronous; and reads that are not are slower
/// without it.
#[test]
fn what_helps_only_together_is_found_as_one_of_two_choices() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let landscape = Landscape::of([(0b1, -0.1), (0b11, 0.55), (0b100, 0.004)]);
    let mut machine = Machine::new(landscape, Noise::Normal, 0.04, &mut random);
    let mut plan = plan(1);
    let level = |places: &[usize]| Level {
        name: format!("{places:?}"),
        settings: places.iter().map(|place| knob(*place, true)).collect(),
    };
    for (index, places) in [&[0][..], &[0, 1], &[2], &[3], &[4]].iter().enumerate() {
        plan.tune.candidates[index].level = level(places);
    }
    plan.tune.candidates.truncate(5);
    plan.trials_max = 80;
    let outcome = searched(&mut machine, &plan).expect("it can be put back");
    assert_eq!(kept(&outcome), ["knob-1"], "{:#?}", outcome.decisions);
    let other = outcome
        .decisions
        .iter()
        .find(|one| one.experiment == "knob-0");
    let reason = other.map(|one| one.reason.id);
    assert_eq!(reason, Some("decided.screened-out"));
    assert!(machine.trials <= 80, "{}", machine.trials);
}

/// Trials of the machine take a second each.
#[test]
fn a_budget_of_time_is_kept() {
    for seconds in [60, 120] {
        let mut machine = machine();
        let mut plan = plan(FULL);
        plan.budget = Some(Duration::from_secs(seconds));
        let outcome = searched(&mut machine, &plan).expect("it can be put back");
        assert_eq!(outcome.ended, Ended::Finished);
        let limit = usize::try_from(seconds).expect("a small number");
        assert!(machine.trials <= limit, "{} in {seconds} s", machine.trials);
        assert_eq!(outcome.decisions.len(), KNOBS);
    }
}

/// As many as a quiet link does in a second take ten.
#[test]
fn slow_trials_end_in_time_and_nothing_is_kept_unproven() {
    for (seconds, enough) in [
        (60, false),
        (120, false),
        (250, false),
        (400, true),
        (600, true),
        (900, true),
        (1_920, true),
    ] {
        let mut machine = machine();
        machine.seconds = 10;
        let mut plan = plan(FULL);
        plan.budget = Some(Duration::from_secs(seconds));
        let outcome = searched(&mut machine, &plan).expect("it can be put back");
        assert_eq!(outcome.ended, Ended::Finished);
        let took = machine.now().get() / 1_000_000_000;
        assert!(took <= seconds + machine.seconds, "{took} s of {seconds}");
        let decided: BTreeSet<&str> = outcome
            .decisions
            .iter()
            .map(|decided| decided.experiment.as_str())
            .collect();
        assert_eq!((decided.len(), outcome.decisions.len()), (KNOBS, KNOBS));
        for decided in &outcome.decisions {
            let reason = english(&decided.reason);
            let said = match decided.decision {
                Decision::Kept => "all that is kept against the start: read ",
                Decision::Returned if !enough => "no time was left",
                Decision::Returned => "",
            };
            assert!(reason.contains(said), "{seconds}: {reason}");
        }
        if seconds == 1_920 {
            assert_ne!(outcome.left, outcome.start, "{:#?}", outcome.decisions);
        }
        if !enough {
            assert_is_as_at_the_start(&mut machine, &outcome);
        }
    }
}

/// The first gains 5 % beside the second and nothing without, which costs 8 % once it comes to proofs.
#[test]
fn what_won_beside_something_that_was_put_back_is_measured_again() {
    let proving = Cell::new(false);
    let candidate = |id: &str, setting: Setting| Candidate {
        id: id.into(),
        level: Level {
            name: id.into(),
            settings: vec![setting],
        },
    };
    let [first, second]: [Setting; 2] = mtu(9000).try_into().expect("two hosts");
    let third = simulated_testbed::channels(2);
    let mut testbed = SimulatedTestbed::new(|settings, _| {
        let is = |setting: &Setting| settings.contains(setting);
        let factors = [
            (is(&first) && is(&second), 1.05),
            (is(&second), if proving.get() { 0.92 } else { 1.03 }),
            (is(&third), 1.1),
        ];
        let factors = factors.into_iter().filter(|(holds, _)| *holds);
        factors.map(|(_, factor)| factor).product()
    });
    let candidates = vec![
        candidate("first", first.clone()),
        candidate("second", second.clone()),
        candidate("third", third.clone()),
    ];
    let plan = SearchPlan {
        tune: TunePlan {
            responses: vec![Direction::Read],
            ..TunePlan::new(candidates, 7)
        },
        elsewhere: Vec::new(),
        trials_max: 400,
        budget: None,
    };
    let mut compared = Vec::new();
    let mut progress = |event: Progress| {
        if let Progress::PhaseBegins {
            experiment, phase, ..
        } = event
        {
            proving.set(phase != Phase::SameAgainstSame);
            compared.push(experiment);
        }
    };
    let mut hooks = Hooks {
        sink: &mut Vec::<Record>::new(),
        stop: &|| false,
        progress: &mut progress,
    };
    let outcome = search(&mut testbed, &plan, &mut hooks).expect("it can be put back");
    assert_eq!(kept(&outcome), ["third"], "{:#?}", outcome.decisions);
    let phases = ["baseline", "first", "second", "first", "third"];
    assert_eq!(compared, phases, "{:#?}", outcome.decisions);
    assert_eq!(outcome.decisions.len(), 3);
}

#[test]
fn what_cannot_be_fitted_in_is_left_out_from_the_end() {
    let mut plan = plan(FULL);
    plan.trials_max = 33;
    let left_out = plan.fit();
    let names: Vec<&str> = left_out.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(names, ["knob-4", "knob-5", "knob-6"]);
    plan.check().expect("the others fit");
}

#[test]
fn too_few_trials_are_refused_before_anything_is_touched() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut machine = Machine::new(Landscape::default(), Noise::Normal, 0.01, &mut random);
    let plan = SearchPlan {
        trials_max: 30,
        ..plan(3)
    };
    let refused = searched(&mut machine, &plan).expect_err("too few trials");
    assert!(matches!(refused, Error::Plan { .. }));
    assert!(refused.to_string().contains("40 are needed"), "{refused}");
    assert_eq!(machine.trials, 0);
}

#[test]
fn a_candidate_that_cannot_be_set_is_returned_and_the_others_are_tried() {
    let mut testbed = SimulatedTestbed::new(as_predicted);
    testbed.fault = Box::new(|call, _| match call {
        Call::Set(level) if level.settings.iter().any(|one| mtu(9000).contains(one)) => {
            Some(failure("the driver makes 9014 of it"))
        }
        _ => None,
    });
    let plan = SearchPlan {
        tune: simulated_testbed::plan(),
        elsewhere: Vec::new(),
        trials_max: 400,
        budget: None,
    };
    let mut records: Vec<Record> = Vec::new();
    let mut hooks = Hooks {
        sink: &mut records,
        stop: &|| false,
        progress: &mut |_| {},
    };
    let outcome = search(&mut testbed, &plan, &mut hooks).unwrap();
    assert_eq!(outcome.ended, Ended::Finished);
    let decision = |id: &str| {
        let mut decisions = outcome.decisions.iter();
        let decided = decisions.find(|decided| decided.experiment == id).unwrap();
        (decided.decision, english(&decided.reason))
    };
    assert_eq!(decision("channels-2").0, Decision::Kept);
    let (jumbo, reason) = decision("mtu-9000");
    assert_eq!(jumbo, Decision::Returned);
    assert_eq!(reason, "it cannot be set: the driver makes 9014 of it");
}

/// In this run a candidate that does nothing is put back when four others were proven beside it: these
/// are believed, and not measured again.
#[test]
fn a_proof_beside_what_makes_no_difference_is_believed() {
    let found = find(80, false, Noise::Everything, 0.02);
    let decisions = found.outcome.decisions.iter();
    let believed: Vec<&str> = decisions
        .filter(|decided| decided.decision == Decision::Kept)
        .filter(|decided| english(&decided.reason).contains("as it makes no difference there"))
        .map(|decided| decided.experiment.as_str())
        .collect();
    assert_eq!(believed.len(), 4, "{believed:?}");
    for id in believed {
        let schedules = found.records.iter().filter(
            |record| matches!(record, Record::Schedule(schedule) if schedule.experiment == id),
        );
        assert_eq!(schedules.count(), 1, "{id}");
    }
    assert!(found.of_best > 0.99, "{}", found.of_best);
}
