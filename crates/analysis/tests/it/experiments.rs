use analysis::{RunAnalysis, analyze};
use locale::{Language, Message, say};
use record::{
    Arm, Bytes, Cache, Data, Decision, Design, Direction, Event, HostLoad, HostName, Level,
    Nanoseconds, Operations, Outcome, Pattern, Phase, Plan, Record, Response, Run, ShareWorkload,
    Stage, StopRule, Workload,
};
use stats::{Unit, Verdict};

use crate::run_builder::{
    arm_trial, failed, flat, lab, message_ids, phase_records, result, run, schedule, session,
    share_workload, trial,
};

const BETTER: [f64; 6] = [1.05, 1.06, 1.055, 1.045, 1.05, 1.052];
const SAME: [f64; 6] = [1.001, 0.999, 1.0, 1.002, 0.998, 1.0];

fn event(event: Event) -> Record {
    Record::Event {
        at: Nanoseconds::new(0),
        event,
    }
}

#[test]
fn an_experiment_gives_noise_effects_samples_and_the_decision() {
    let mut records = phase_records("baseline", Phase::SameAgainstSame, &SAME);
    records.extend(phase_records("mtu-9000", Phase::Compare, &BETTER));
    records.extend(phase_records("mtu-9000", Phase::Confirm, &BETTER));
    for decision in [Decision::Kept, Decision::Returned] {
        records.push(event(Event::decided(
            "mtu-9000".into(),
            decision,
            &say("decided.so-already"),
        )));
    }
    records.push(event(Event::note(&"a note".into())));
    records.push(event(Event::Finished));
    let analysis = analyze(&run(lab(), records));
    assert!(analysis.finished && analysis.warnings.is_empty());
    assert_eq!(english(&analysis.notes), ["a note"]);
    assert_eq!(analysis.diagnosis, None);
    let [baseline, jumbo] = &analysis.experiments[..] else {
        unreachable!("there are two experiments");
    };
    assert_eq!(baseline.noise.len(), 1);
    let floor = &baseline.noise[0];
    assert!(!floor.alarm && floor.smallest_detectable.is_some_and(|share| share < 0.01));

    let phases: Vec<Phase> = jumbo.effects.iter().map(|effect| effect.phase).collect();
    assert_eq!(phases, [Phase::Compare, Phase::Confirm]);
    for effect in &jumbo.effects {
        assert_eq!(effect.verdict, Verdict::Better);
        assert_eq!(effect.ratio.n, 6);
        assert_eq!(effect.ratio.confidence, Some(0.968_75));
        // Six blocks: smallest and largest ratio.
        let [low, high] = effect.ratio.interval.expect("an interval");
        assert!((low - 1.045).abs() < 1e-6 && (high - 1.06).abs() < 1e-6);
    }
    assert_eq!(
        jumbo.decision,
        Some((Decision::Returned, say("decided.so-already")))
    );
    let sample = &jumbo.samples[1];
    assert_eq!((sample.arm, sample.phase), (Arm::B, Phase::Compare));
    assert_eq!(sample.blocks, [0, 1, 2, 3, 4, 5]);
    assert_eq!(sample.retransmits, Some(6));
    let cpu = sample.cpu_per_byte.as_ref().expect("it was measured");
    assert!((cpu.value - 0.05 / 105e6).abs() < 1e-11);
}

#[test]
fn what_serving_cost_is_told_for_each_byte_where_somebody_looked() {
    let mut records = phase_records("mtu-9000", Phase::Compare, &SAME);
    for record in &mut records {
        let Record::Trial(trial) = record else {
            continue;
        };
        let busy = match trial.stage {
            Stage::Experiment { arm: Arm::A, .. } => 0.5,
            _ => 0.25,
        };
        // Looked at for half of the time, which was as busy as the rest.
        trial.loads = vec![HostLoad {
            host: HostName::new("server"),
            duration: Nanoseconds::new(500_000_000),
            processors: Vec::new(),
            resent: None,
            dropped: None,
            pauses: None,
            throttled: None,
            served: Some(Nanoseconds::new((busy * 500_000_000.0) as u64)),
            disk_waited: None,
            nics: Vec::new(),
            megahertz: None,
        }];
    }
    let analysis = analyze(&run(lab(), records));
    let cost = |index: usize| {
        let samples = &analysis.experiments[0].samples[index];
        let cost = samples.server_cpu_per_byte.as_ref().expect("it was seen");
        (cost.value * samples.median.value, cost.n, cost.unit)
    };
    for (index, busy) in [(0, 0.5), (1, 0.25)] {
        let (share, n, unit) = cost(index);
        assert!((share - busy).abs() < 0.002, "{share}");
        assert_eq!((n, unit), (6, Unit::SecondsPerByte));
    }
}

#[test]
fn a_failed_trial_costs_its_block_and_says_so() {
    let mut records = phase_records("mtu-9000", Phase::Compare, &BETTER);
    // Records: the schedule, then A and B of each block.
    let planned = schedule("mtu-9000", Phase::Compare, 6);
    records[4] = arm_trial(&planned, 1, Arm::B, failed("the server went away"));
    let analysis = analyze(&run(lab(), records));
    let experiment = &analysis.experiments[0];
    let effect = &experiment.effects[0];
    assert_eq!((effect.ratio.n, effect.verdict), (5, Verdict::Undecided));
    assert_eq!(effect.blocks_to_settle, Some(6));
    assert_eq!(
        english(&experiment.failures),
        ["compare, block 2, B, read: the server went away"]
    );
    assert_eq!(
        experiment.caveats.iter().map(flat).collect::<Vec<_>>(),
        ["incomplete-blocks phase=(phase.compare) direction=(direction.read) complete=5 planned=6"]
    );
    assert_eq!(
        english(&analysis.warnings),
        ["the run did not end by itself; what is here is what it had by then"]
    );
}

#[test]
fn when_the_baseline_differs_from_itself_nothing_is_decided() {
    let mut records = phase_records("baseline", Phase::SameAgainstSame, &BETTER);
    records.extend(phase_records("mtu-9000", Phase::Compare, &BETTER));
    let analysis = analyze(&run(lab(), records));
    assert!(analysis.experiments[0].noise[0].alarm);
    let effect = &analysis.experiments[1].effects[0];
    assert_eq!(effect.verdict, Verdict::Undecided);
    assert_eq!(
        message_ids(&effect.ratio.caveats),
        ["baseline-differs.alarm"]
    );
}

#[test]
fn discarded_misplaced_and_stray_trials_do_not_count() {
    let mut records = phase_records("mtu-9000", Phase::Compare, &SAME);
    let planned = schedule("mtu-9000", Phase::Compare, 6);
    let measured = || Outcome::Measured(Box::new(result(900.0)));
    // A wash-out, a second trial at a place that has one, a block that was never scheduled.
    let mut washed = arm_trial(&planned, 0, Arm::B, measured());
    if let Record::Trial(trial) = &mut washed
        && let Stage::Experiment { discarded, .. } = &mut trial.stage
    {
        *discarded = true;
    }
    records.insert(1, washed);
    records.push(arm_trial(&planned, 0, Arm::B, measured()));
    records.push(arm_trial(&planned, 17, Arm::B, measured()));
    let other = schedule("never scheduled", Phase::Compare, 6);
    records.push(arm_trial(&other, 0, Arm::B, measured()));
    records.push(event(Event::Finished));
    let analysis = analyze(&run(lab(), records));
    let experiment = &analysis.experiments[0];
    assert_eq!(experiment.effects[0].verdict, Verdict::Equivalent);
    assert_eq!(
        experiment.caveats.iter().map(flat).collect::<Vec<_>>(),
        ["misplaced-trials phase=(phase.compare) count=2"]
    );
    assert_eq!(
        english(&analysis.warnings),
        ["1 trials belong to no schedule and do not count"]
    );
}

#[test]
fn a_question_that_makes_no_sense_is_answered_with_the_defaults() {
    let mut records = phase_records("mtu-9000", Phase::Compare, &SAME);
    if let Record::Schedule(schedule) = &mut records[0] {
        schedule.question.band = -1.0;
        schedule.question.confidence = 17.0;
    }
    let analysis = analyze(&run(lab(), records));
    let experiment = &analysis.experiments[0];
    assert_eq!(experiment.effects[0].verdict, Verdict::Equivalent);
    assert_eq!(
        experiment.caveats.iter().map(flat).collect::<Vec<_>>(),
        [
            "senseless.band value=-1 default=0.02",
            "senseless.confidence value=17 default=0.95"
        ]
    );
}

/// However early a run was cut, something is said and nothing panics.
#[test]
fn every_prefix_of_a_run_can_be_analysed() {
    let mut records = phase_records("baseline", Phase::SameAgainstSame, &SAME);
    records.extend(phase_records("mtu-9000", Phase::Compare, &BETTER));
    for length in 0..=records.len() {
        let analysis = analyze(&run(lab(), records[..length].to_vec()));
        assert!(!analysis.finished);
        let called = analysis
            .experiments
            .iter()
            .flat_map(|experiment| &experiment.effects)
            .filter(|effect| effect.verdict == Verdict::Better)
            .count();
        assert_eq!(called, usize::from(length == records.len()));
    }
}

#[test]
fn repetitions_of_bench_are_grouped_by_workload() {
    let mut records = Vec::new();
    for repetition in 0..3 {
        for direction in [Direction::Read, Direction::Write] {
            let outcome = match (repetition, direction) {
                (1, Direction::Write) => failed("the disk is full"),
                _ => Outcome::Measured(Box::new(result(100.0 + f64::from(repetition)))),
            };
            let stage = Stage::Bench {
                repetition,
                test: None,
                discarded: false,
            };
            records.push(trial(stage, share_workload(direction), outcome));
        }
    }
    let analysis = analyze(&run(lab(), records));
    let [read, write] = &analysis.bench[..] else {
        unreachable!("there are two workloads");
    };
    assert_eq!(read.rates, [100e6, 101e6, 102e6]);
    assert_eq!(read.median.as_ref().map(|median| median.value), Some(101e6));
    assert_eq!((write.rates.len(), read.retransmits), (2, Some(3)));
    assert_eq!(english(&write.failures), ["the disk is full"]);
}

/// 104 to 110 MB/s are the ceilings' noise and larger frames; 150 MB/s go through no line of 1 Gbit/s.
#[test]
fn more_than_fits_through_the_nics_is_marked() {
    let stage = |repetition| Stage::Bench {
        repetition,
        test: None,
        discarded: false,
    };
    let bench = |rate: f64, workload: &Workload| {
        let measured = [100.0, rate].map(|rate| Outcome::Measured(Box::new(result(rate))));
        let records = (0..).zip(measured);
        let records = records.map(|(at, outcome)| trial(stage(at), workload.clone(), outcome));
        analyze(&run(lab(), records.collect())).bench[0].exceeded
    };
    let read = share_workload(Direction::Read);
    assert_eq!(bench(110.0, &read), None);
    let fits = bench(150.0, &read).expect("it is more than fits");
    assert!((117e6..125e6).contains(&fits), "{fits}");
    let Workload::Share(share) = read.clone() else {
        unreachable!("it is one of a share");
    };
    let both_ways = Workload::Share(ShareWorkload {
        operations: Some(Operations {
            pattern: Pattern::Random,
            threads: 1,
            opposite_percent: 50,
            data: Data::Random,
            cache: Cache::Direct,
            write_through: false,
            file: None,
        }),
        ..share
    });
    assert_eq!(bench(150.0, &both_ways), None);
    let design = Design {
        name: "design".into(),
        title: "one arm".into(),
        form: "full factorial".into(),
        factors: Vec::new(),
        aliases: Vec::new(),
        left_out: Vec::new(),
        messages: Vec::new(),
        responses: vec![Response {
            name: "some read".into(),
            workload: read.clone(),
        }],
        arms: vec![Vec::new()],
        baseline_replicate: None,
        whole_plots: Vec::new(),
        blocks: vec![vec![0]],
        stop: StopRule {
            budget_seconds: None,
            width: None,
        },
        band: 0.02,
        published: None,
        figures: Vec::new(),
    };
    let caveats = |rate: f64| {
        let stage = Stage::Visit {
            block: 0,
            position: 0,
            arm: 0,
            response: "some read".into(),
            discarded: false,
        };
        let outcome = Outcome::Measured(Box::new(result(rate)));
        let records = vec![
            Record::Design(Box::new(design.clone())),
            trial(stage, read.clone(), outcome),
        ];
        let found = analyze(&run(lab(), records)).design;
        let caveats = found.expect("there is one").caveats;
        let above = caveats.iter().map(flat);
        let above = above.filter(|text| text.starts_with("design-caveat.above-ceiling "));
        above.collect::<Vec<_>>()
    };
    assert_eq!(caveats(110.0), [""; 0]);
    let said = caveats(150.0);
    assert!(
        said[0].contains(" response=some read ceiling=12"),
        "{said:?}"
    );
}

/// A tune of these candidates, each a level of its own.
fn tune_of(names: &[&str], records: Vec<Record>) -> Run {
    let mut run = run(lab(), records);
    let Plan::Check { share } = run.header.plan else {
        unreachable!("that is what is built");
    };
    let level = |name: &&str| Level {
        name: (*name).into(),
        settings: Vec::new(),
    };
    run.header.plan = Plan::Tune {
        share,
        candidates: names.iter().map(level).collect(),
        folder: None,
    };
    run
}

fn decided(experiment: &str, reason: &str) -> Record {
    event(Event::Decided {
        experiment: experiment.into(),
        decision: Decision::Returned,
        reason: reason.into(),
        message: None,
    })
}

fn english(messages: &[Message]) -> Vec<String> {
    let texts = messages
        .iter()
        .map(|message| Language::English.say(message));
    texts.collect()
}

fn untried(analysis: &RunAnalysis) -> Vec<(&str, Option<&str>, String)> {
    let list = analysis.untried.iter();
    list.map(|one| {
        let name = one.level.as_ref().map(|level| level.name.as_str());
        (
            one.experiment.as_str(),
            name,
            Language::English.say(&one.reason),
        )
    })
    .collect()
}

#[test]
fn candidates_that_were_decided_without_trials_keep_their_reason() {
    // The schedules made here call their B `changed`; on top of others it bears their names first.
    let mut on_top = phase_records("three", Phase::Compare, &SAME);
    if let Some(Record::Schedule(schedule)) = on_top.first_mut() {
        schedule.question.a.name = "one".into();
        schedule.question.b.name = "one + three".into();
    }
    let records = [
        phase_records("one", Phase::Compare, &BETTER),
        vec![decided("two", "it is so already")],
        on_top,
        vec![
            decided("three", "no difference"),
            decided("four", "first"),
            decided("four", "and later"),
            decided("five", "the plan ends before it"),
        ],
    ]
    .concat();
    let analysis = analyze(&tune_of(&["changed", "two", "three", "four"], records));
    assert_eq!(
        untried(&analysis),
        [
            ("two", Some("two"), "it is so already".to_owned()),
            ("four", Some("four"), "and later".to_owned()),
            ("five", None, "the plan ends before it".to_owned()),
        ]
    );
    assert_eq!(
        analysis.experiments[1].decision,
        Some((Decision::Returned, "no difference".into()))
    );
}

#[test]
fn after_an_alarm_every_candidate_has_its_reason() {
    let mut records = phase_records("baseline", Phase::SameAgainstSame, &BETTER);
    records.push(decided("channels-2", "undecided: it differed from itself"));
    records.push(decided("mtu-9000", "undecided: it differed from itself"));
    let analysis = analyze(&tune_of(&["2 channels", "MTU 9000"], records));
    assert!(analysis.experiments[0].noise[0].alarm);
    let reason = "undecided: it differed from itself".to_owned();
    assert_eq!(
        untried(&analysis),
        [
            ("channels-2", Some("2 channels"), reason.clone()),
            ("mtu-9000", Some("MTU 9000"), reason),
        ]
    );
}

#[test]
fn changes_are_opened_and_undone() {
    let opened = |id: &str| event(Event::ChangeOpened { change: id.into() });
    let undone = |id: &str, restored| {
        let change = id.into();
        event(Event::ChangeUndone { change, restored })
    };
    let records = vec![
        opened("1-a"),
        opened("2-b"),
        undone("1-a", false),
        undone("3-c", true),
    ];
    let analysis = analyze(&run(lab(), records));
    let found: Vec<(&str, Option<bool>)> = analysis
        .changes
        .iter()
        .map(|change| (change.id.as_str(), change.restored))
        .collect();
    assert_eq!(
        found,
        [("1-a", Some(false)), ("2-b", None), ("3-c", Some(true))]
    );
    assert!(analysis.notes.is_empty());
}

/// B asks for two channels; in two of six blocks it has one, and the rates alone would not tell.
#[test]
fn channels_that_were_to_be_tried_and_did_not_come_up_are_named() {
    let mut records = phase_records("channels-2", Phase::Compare, &SAME);
    for record in &mut records {
        let Record::Trial(trial) = record else {
            continue;
        };
        let Stage::Experiment { block, arm, .. } = trial.stage else {
            continue;
        };
        let (Workload::Share(share), Outcome::Measured(result)) =
            (&mut trial.workload, &mut trial.outcome)
        else {
            continue;
        };
        if arm == Arm::B {
            share.channels = 2;
            let mut second = result.connections[0].clone();
            if block == 1 || block == 4 {
                second.bytes = Bytes::new(0);
                let mut session = session();
                session.rejected_channels = vec![
                    "fe80::1 to 10.77.1.2: it is link-local".into(),
                    "10.77.2.1 to 10.77.2.2: lost during the trial".into(),
                ];
                result.session = Some(session);
            }
            result.connections.push(second);
        }
    }
    let analysis = analyze(&run(lab(), records));
    assert_eq!(
        analysis.experiments[0]
            .caveats
            .iter()
            .map(flat)
            .collect::<Vec<_>>(),
        [
            "missing-channels phase=(phase.compare) short=2 all=6 channels=2 \
             why=(plain text=10.77.2.1 to 10.77.2.2: lost during the trial)"
        ]
    );
}
