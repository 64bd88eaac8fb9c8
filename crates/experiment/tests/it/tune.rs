use std::cell::Cell;
use std::io;

use analysis::analyze;
use experiment::{Ended, Error, Sink, TunePlan};
use locale::Language;
use record::{
    Arm, Decision, Direction, Event, FailureKind, Header, Outcome, Phase, Plan, RUN_FORMAT,
    RUN_VERSION, Record, Run, RunWriter, Setting, ShareAddress, TrialRecord,
};
use stats::Verdict;

use crate::simulated_testbed::{
    Call, SimulatedTestbed, Stage, as_predicted, channels, english, failure, jumbo, mtu, plan,
    tune, tune_with,
};

fn trials(records: &[Record]) -> Vec<&TrialRecord> {
    records
        .iter()
        .filter_map(|record| match record {
            Record::Trial(trial) => Some(trial.as_ref()),
            _ => None,
        })
        .collect()
}

/// Experiment and decision of each `Decided` event.
fn decided(records: &[Record]) -> Vec<(&str, Decision)> {
    records
        .iter()
        .filter_map(|record| match record {
            Record::Event {
                event:
                    Event::Decided {
                        experiment,
                        decision,
                        ..
                    },
                ..
            } => Some((experiment.as_str(), *decision)),
            _ => None,
        })
        .collect()
}

fn only_jumbo() -> TunePlan {
    TunePlan::new(vec![jumbo()], 7)
}

fn at_start(testbed: &SimulatedTestbed<'_>) -> bool {
    testbed.settings == testbed.start
}

#[test]
fn what_is_proven_is_kept_and_belongs_to_the_next_baseline() {
    let mut testbed = SimulatedTestbed::new(as_predicted);
    let (records, outcome) = tune(&mut testbed, &plan());
    let outcome = outcome.expect("it runs through");
    assert_eq!(outcome.ended, Ended::Finished);
    assert_eq!(
        decided(&records),
        [("channels-2", Decision::Kept), ("mtu-9000", Decision::Kept)]
    );
    let reason = english(&outcome.decisions[1].reason);
    assert!(reason.starts_with("compare: read 1.0"), "{reason}");
    assert!(reason.contains("; all blocks: read 1.0"), "{reason}");
    assert_eq!(reason.matches(" better").count(), 4, "{reason}");

    let mut kept = mtu(9000);
    kept.push(channels(2));
    assert_eq!(testbed.settings, kept);
    assert_eq!(outcome.left.name, "2 channels + MTU 9000");
    assert_eq!(
        testbed.calls.last(),
        Some(&Call::Keep(outcome.left.clone()))
    );
    assert_eq!(testbed.count(|call| *call == Call::Restore), 0);
    // The second candidate was compared with both channels in either arm.
    let in_jumbo = trials(&records).into_iter().filter(|trial| {
        matches!(&trial.stage, record::Stage::Experiment { experiment, .. } if experiment == "mtu-9000")
    });
    for trial in in_jumbo {
        assert!(trial.settings.contains(&channels(2)));
        assert_eq!(trial.settings.len(), 3);
    }
}

#[test]
fn what_makes_no_difference_is_returned() {
    let mut testbed = SimulatedTestbed::new(|_, _| 1.0);
    testbed.noise = 0.002;
    let (records, outcome) = tune(&mut testbed, &plan());
    let outcome = outcome.expect("it runs through");
    for decided in &outcome.decisions {
        assert_eq!(decided.decision, Decision::Returned);
        let reason = english(&decided.reason);
        assert!(reason.starts_with("it makes no difference that matters: read "));
        assert_eq!(reason.matches(" equivalent").count(), 2, "{reason}");
    }
    assert!(at_start(&testbed));
    assert_eq!(outcome.left, outcome.start);
    assert_eq!(testbed.count(|call| matches!(call, Call::Keep(_))), 0);
    assert_eq!(testbed.count(|call| *call == Call::Restore), 1);
    assert_eq!(decided(&records).len(), 2);
}

#[test]
fn what_wins_one_response_and_costs_the_other_is_returned() {
    let mut testbed = SimulatedTestbed::new(|settings: &[Setting], direction| {
        match (settings.contains(&channels(2)), direction) {
            (true, Direction::Read) => 1.9,
            (true, Direction::Write) => 0.9,
            (false, _) => 1.0,
        }
    });
    let (_, outcome) = tune(&mut testbed, &plan());
    let outcome = outcome.expect("it runs through");
    let reason = english(&outcome.decisions[0].reason);
    assert!(
        reason.starts_with("it costs something: read 1."),
        "{reason}"
    );
    assert!(reason.ends_with(" worse"), "{reason}");
    assert!(at_start(&testbed));
}

#[test]
fn what_was_luck_is_not_confirmed() {
    let stage = Stage::default();
    let mut testbed = SimulatedTestbed::new(|settings: &[Setting], _| {
        let lucky = stage.phase.get() == Some(Phase::Compare) && settings.contains(&channels(2));
        if lucky { 1.1 } else { 1.0 }
    });
    let mut records = Vec::new();
    let outcome = tune_with(&mut testbed, &plan(), &mut records, &|| false, &stage);
    let outcome = outcome.expect("it runs through");
    assert_eq!(outcome.decisions[0].decision, Decision::Returned);
    let reason = english(&outcome.decisions[0].reason);
    assert!(
        reason.starts_with("compare: read 1.") && reason.contains("; not confirmed: not proven"),
        "{reason}"
    );
    drop(records);
    assert!(at_start(&testbed));
}

#[test]
fn when_the_baseline_differs_from_itself_nothing_is_tried() {
    let stage = Stage::default();
    // Something that follows the arm without being set by it.
    let mut testbed = SimulatedTestbed::new(|settings: &[Setting], direction| {
        let bias = if stage.arm.get() == Some(Arm::B) {
            1.1
        } else {
            1.0
        };
        bias * as_predicted(settings, direction)
    });
    let mut records = Vec::new();
    let outcome = tune_with(&mut testbed, &plan(), &mut records, &|| false, &stage);
    let outcome = outcome.expect("it runs through");
    assert_eq!(outcome.ended, Ended::Finished);
    assert_eq!(
        decided(&records),
        [
            ("channels-2", Decision::Returned),
            ("mtu-9000", Decision::Returned)
        ]
    );
    let reason = english(&outcome.decisions[0].reason);
    assert!(reason.starts_with("undecided: the baseline differed from itself (read 1.1"));
    // Only the baseline was ever set.
    assert!(testbed.calls.iter().all(|call| match call {
        Call::Set(level) => level.settings == outcome.start.settings,
        _ => true,
    }));
    assert!(at_start(&testbed));
}

/// A response in which the baseline differs from itself is told, and the other one judged.
#[test]
fn an_alarm_of_one_response_leaves_the_other_to_judge_by() {
    let stage = Stage::default();
    let mut testbed = SimulatedTestbed::new(|settings: &[Setting], direction| {
        let is_off = direction == Direction::Write && stage.arm.get() == Some(Arm::B);
        let bias = if is_off { 1.1 } else { 1.0 };
        bias * as_predicted(settings, direction)
    });
    let mut records = Vec::new();
    let outcome = tune_with(&mut testbed, &plan(), &mut records, &|| false, &stage);
    let outcome = outcome.expect("it runs through");
    assert_eq!(
        decided(&records),
        [("channels-2", Decision::Kept), ("mtu-9000", Decision::Kept)]
    );
    let reason = english(&outcome.decisions[0].reason);
    assert!(
        reason.contains("; what it costs in write is uncertain"),
        "{reason}"
    );
    assert_eq!(reason.matches(" better").count(), 2, "{reason}");
    let warned = records.iter().any(|record| {
        let about = |text: &str| text.starts_with("the baseline differed from itself (write 1.");
        matches!(record, Record::Event { event: Event::Note { text, .. }, .. } if about(text))
    });
    assert!(warned);
    let analysis = analyze(&run_of(records));
    for effect in analysis.experiments.iter().flat_map(|one| &one.effects) {
        let verdict = match effect.response {
            Direction::Read => Verdict::Better,
            Direction::Write => Verdict::Undecided,
        };
        assert_eq!(effect.verdict, verdict, "{effect:?}");
    }
}

#[test]
fn what_is_so_already_is_not_tried() {
    let mut testbed = SimulatedTestbed::new(as_predicted);
    testbed.settings = [mtu(9000), vec![channels(1)]].concat();
    testbed.start = testbed.settings.clone();
    let (_, outcome) = tune(&mut testbed, &only_jumbo());
    let outcome = outcome.expect("it runs through");
    assert_eq!(
        english(&outcome.decisions[0].reason),
        "nothing to try: it is so already"
    );
    assert!(at_start(&testbed));
}

#[test]
fn wash_out_follows_each_switch_of_links_and_never_counts() {
    let mut testbed = SimulatedTestbed::new(as_predicted);
    let (records, outcome) = tune(&mut testbed, &plan());
    outcome.expect("it runs through");
    let mut discarded = 0;
    let mut before = None;
    for trial in trials(&records) {
        let record::Stage::Experiment {
            experiment,
            phase,
            arm,
            discarded: washes,
            ..
        } = &trial.stage
        else {
            unreachable!("there are no other trials");
        };
        let here = Some((experiment.clone(), *phase, *arm));
        let switched = before != here;
        before = here;
        assert_eq!(*washes, switched && experiment != "channels-2");
        discarded += usize::from(*washes);
    }
    assert!(discarded > 15, "{discarded}");
    // A tenth of the rate in each wash-out would be seen in the ratios.
    let analysis = analyze(&run_of(records));
    for effect in analysis.experiments.iter().flat_map(|one| &one.effects) {
        let truth = if effect.ratio.value > 1.5 { 2.0 } else { 1.05 };
        assert!((effect.ratio.value / truth - 1.0).abs() < 0.01);
        // Both gains are clear after six blocks, so that three fresh ones are enough.
        let blocks = if effect.joint { 9 } else { 6 };
        assert_eq!((effect.ratio.n, effect.verdict), (blocks, Verdict::Better));
        assert_eq!(effect.joint, effect.phase == Phase::Confirm);
    }
}

#[test]
fn a_setting_that_does_not_read_back_makes_a_failed_trial() {
    let mut testbed = SimulatedTestbed::new(as_predicted);
    testbed.ignores_mtu = true;
    let (records, outcome) = tune(&mut testbed, &only_jumbo());
    let outcome = outcome.expect("it runs through");
    assert_eq!(outcome.ended, Ended::Finished);
    let failed: Vec<&TrialRecord> = trials(&records)
        .into_iter()
        .filter(|trial| matches!(trial.outcome, Outcome::Failed(_)))
        .collect();
    // Three are borne; the wash-out of the visit counts too, and the visit is brought to its end.
    assert!((4..=6).contains(&failed.len()), "{}", failed.len());
    for trial in &failed {
        let Outcome::Failed(failure) = &trial.outcome else {
            unreachable!("they failed");
        };
        assert_eq!(
            failure.chain,
            [
                "`MTU 9000` is not set",
                "`nic.mtu` of `a0` on `client` reads `1500` and should be `9000`"
            ]
        );
        assert_eq!(trial.settings, mtu(1500));
    }
    let reason = english(&outcome.decisions[0].reason);
    assert!(
        reason.contains("trials failed; the last: `MTU 9000` is not set"),
        "{reason}"
    );
    assert!(at_start(&testbed));
}

#[test]
fn a_trial_in_which_the_hosts_put_themselves_back_does_not_count() {
    let mut testbed = SimulatedTestbed::new(as_predicted);
    testbed.restores_itself = true;
    let (records, outcome) = tune(&mut testbed, &only_jumbo());
    let decisions = outcome.expect("it runs through").decisions;
    assert_eq!(decisions[0].decision, Decision::Returned);
    let failed = trials(&records)
        .into_iter()
        .find_map(|trial| match &trial.outcome {
            Outcome::Failed(failure) => Some((&trial.settings, &failure.chain)),
            Outcome::Measured(_) => None,
        });
    let (settings, chain) = failed.expect("a trial with other settings than at the start");
    assert_eq!(*settings, mtu(9000));
    assert_eq!(
        *chain,
        [
            "what was measured did not stay set to the end",
            "`MTU 9000` is not set",
            "`nic.mtu` of `a0` on `client` reads `1500` and should be `9000`"
        ]
    );
}

#[test]
fn a_few_failed_trials_are_borne_and_recorded() {
    let mut testbed = SimulatedTestbed::new(as_predicted);
    let mut left = 2_u32;
    testbed.fault = Box::new(move |call, settings| {
        let hits = matches!(call, Call::Trial(_)) && settings.contains(&mtu(9000)[0]);
        let hiccup = hits && left > 0;
        left -= u32::from(hiccup);
        hiccup.then(|| failure("a hiccup"))
    });
    let spare = TunePlan {
        blocks: 8,
        ..only_jumbo()
    };
    let (records, outcome) = tune(&mut testbed, &spare);
    let outcome = outcome.expect("it runs through");
    assert_eq!(outcome.decisions[0].decision, Decision::Kept);
    let analysis = analyze(&run_of(records));
    let experiment = &analysis.experiments[1];
    assert_eq!(experiment.failures.len(), 2);
    assert!(experiment.effects.iter().any(|effect| effect.ratio.n < 8));
}

/// Everything fails from call k on, for every k: all is put back, and nothing is kept.
#[test]
fn a_rig_that_breaks_at_any_point_is_put_back() {
    let whole = {
        let mut testbed = SimulatedTestbed::new(as_predicted);
        tune(&mut testbed, &plan()).1.expect("it runs through");
        testbed.calls.len()
    };
    assert!(whole > 300, "{whole}");
    for broken_from in 1..whole {
        let mut testbed = SimulatedTestbed::new(as_predicted);
        let mut calls = 0;
        let mut putting_back = false;
        testbed.fault = Box::new(move |call, _| {
            // Only putting back, and reading afterwards, still works.
            putting_back |= *call == Call::Restore;
            calls += 1;
            (calls > broken_from && !putting_back).then(|| failure("the wire is cut"))
        });
        let (records, outcome) = tune(&mut testbed, &plan());
        let outcome = outcome.expect("it is put back");
        assert!(at_start(&testbed), "broken from call {broken_from}");
        assert_eq!(outcome.left, outcome.start);
        match &outcome.ended {
            Ended::Failed(failure) => assert!(failure.chain.concat().contains("cut")),
            // Broken in the last trials of the baseline: nothing was tried after them.
            ended => {
                assert_eq!((ended, outcome.decisions.len()), (&Ended::Finished, 2));
                let mut reasons = outcome.decisions.iter().map(|one| english(&one.reason));
                assert!(reasons.all(|reason| {
                    reason.starts_with("undecided: too few blocks") && reason.contains("is cut")
                }));
            }
        }
        let said = outcome.decisions.iter().map(|decided| decided.decision);
        assert!(said.clone().all(|decision| decision == Decision::Returned));
        // The last word on each candidate in the run file is the same.
        for decided in &outcome.decisions {
            let last = self::decided(&records)
                .into_iter()
                .rfind(|(experiment, _)| *experiment == decided.experiment);
            assert_eq!(
                last,
                Some((decided.experiment.as_str(), Decision::Returned))
            );
        }
    }
}

/// Stopped at question k, for every k: all is put back, and nothing else is set any more.
#[test]
fn a_stop_at_any_point_puts_everything_back() {
    for stopped_at in 0_usize.. {
        let mut testbed = SimulatedTestbed::new(as_predicted);
        let asked = Cell::new(0);
        let stop = || asked.replace(asked.get() + 1) >= stopped_at;
        let mut records = Vec::new();
        let outcome = tune_with(
            &mut testbed,
            &plan(),
            &mut records,
            &stop,
            &Stage::default(),
        );
        let outcome = outcome.expect("it is put back");
        if asked.get() <= stopped_at {
            assert_eq!(outcome.ended, Ended::Finished);
            assert!(stopped_at > 150, "{stopped_at}");
            return;
        }
        assert_eq!(asked.get(), stopped_at + 1, "nobody asks twice");
        assert_eq!(outcome.ended, Ended::Stopped);
        assert!(at_start(&testbed), "stopped at {stopped_at}");
        assert_eq!(
            testbed.calls[testbed.calls.len() - 2..],
            [Call::Restore, Call::Read]
        );
        let noted = matches!(
            records.last(),
            Some(Record::Event { event: Event::Note { text, .. }, .. }) if text.starts_with("tune was stopped")
        );
        assert!(noted, "stopped at {stopped_at}");
        assert!(
            decided(&records)
                .iter()
                .all(|(_, decision)| *decision == Decision::Returned)
        );
    }
}

#[test]
fn a_trial_that_was_interrupted_stops_everything() {
    let mut testbed = SimulatedTestbed::new(as_predicted);
    let mut count = 0;
    testbed.fault = Box::new(move |call, _| {
        let is_trial = matches!(call, Call::Trial(_));
        count += u32::from(is_trial);
        (count == 30 && is_trial).then(|| record::Failure {
            kind: FailureKind::Interrupted,
            ..failure("stopped by the user")
        })
    });
    let (records, outcome) = tune(&mut testbed, &plan());
    assert_eq!(outcome.expect("it is put back").ended, Ended::Stopped);
    assert_eq!(trials(&records).len(), 30);
    assert!(at_start(&testbed));
}

#[test]
fn a_password_that_is_wrong_from_some_trial_on_is_tried_once() {
    let mut testbed = SimulatedTestbed::new(as_predicted);
    let mut count = 0;
    testbed.fault = Box::new(move |call, _| {
        let is_trial = matches!(call, Call::Trial(_));
        count += u32::from(is_trial);
        (count >= 30 && is_trial).then(|| record::Failure {
            kind: FailureKind::LoginRefused,
            ..failure("`nas` does not let `user` log in")
        })
    });
    let (records, outcome) = tune(&mut testbed, &plan());
    let ended = outcome.expect("it is put back").ended;
    assert!(
        matches!(&ended, Ended::Failed(failure) if failure.kind == FailureKind::LoginRefused),
        "{ended:?}"
    );
    assert_eq!(trials(&records).len(), 30);
    assert!(at_start(&testbed));
}

/// A run file on a disk that is full after some records.
struct FullDisk {
    records: Vec<Record>,
    room: usize,
}

impl Sink for FullDisk {
    fn append(&mut self, record: &Record) -> Result<(), record::Error> {
        if self.records.len() >= self.room {
            return Err(record::Error::Io {
                action: "write",
                path: "run.jsonl".into(),
                source: io::Error::other("no space left on device"),
            });
        }
        self.records.push(record.clone());
        Ok(())
    }
}

#[test]
fn a_run_file_that_cannot_be_written_ends_it_with_everything_put_back() {
    for room in 0.. {
        let mut testbed = SimulatedTestbed::new(as_predicted);
        let mut sink = FullDisk {
            records: Vec::new(),
            room,
        };
        let outcome = tune_with(
            &mut testbed,
            &plan(),
            &mut sink,
            &|| false,
            &Stage::default(),
        );
        if let Ok(outcome) = outcome {
            assert_eq!((outcome.ended, room > 100), (Ended::Finished, true));
            return;
        }
        assert!(matches!(outcome, Err(Error::Record { .. })), "{outcome:?}");
        assert!(at_start(&testbed), "room for {room}");
        assert_eq!(testbed.count(|call| matches!(call, Call::Keep(_))), 0);
    }
}

#[test]
fn what_cannot_be_put_back_is_an_error_of_its_own() {
    let mut testbed = SimulatedTestbed::new(|_, _| 1.0);
    testbed.fault =
        Box::new(|call, _| (*call == Call::Restore).then(|| failure("the host is gone")));
    let (records, outcome) = tune(&mut testbed, &only_jumbo());
    let error = outcome.expect_err("it cannot be put back");
    assert!(matches!(error, Error::NotRestored { before: None, .. }));
    assert_eq!(
        error.to_string(),
        "what was changed could not be put back: the host is gone"
    );
    assert!(matches!(
        records.last(),
        Some(Record::Event { event: Event::Note { text, .. }, .. }) if text.starts_with("not everything")
    ));
}

#[test]
fn what_the_rig_refuses_to_keep_is_returned() {
    let mut testbed = SimulatedTestbed::new(as_predicted);
    testbed.fault =
        Box::new(|call, _| matches!(call, Call::Keep(_)).then(|| failure("the lease is lost")));
    let (records, outcome) = tune(&mut testbed, &only_jumbo());
    let outcome = outcome.expect("it is put back");
    assert_eq!(outcome.ended, Ended::Failed(failure("the lease is lost")));
    assert_eq!(
        decided(&records),
        [
            ("mtu-9000", Decision::Kept),
            ("mtu-9000", Decision::Returned)
        ]
    );
    let reason = english(&outcome.decisions[0].reason);
    assert!(
        reason.starts_with(
            "put back because tune could not go on (the lease is lost); before that: compare: "
        ),
        "{reason}"
    );
    assert!(at_start(&testbed));
}

#[test]
fn settings_that_cannot_be_read_at_the_start_end_it_untouched() {
    let mut testbed = SimulatedTestbed::new(as_predicted);
    testbed.fault = Box::new(|_, _| Some(failure("permission denied")));
    let (records, outcome) = tune(&mut testbed, &plan());
    assert!(matches!(outcome, Err(Error::Start { .. })));
    assert_eq!((records.len(), testbed.calls.len()), (0, 1));
}

fn header() -> Header {
    Header {
        format: RUN_FORMAT.into(),
        version: RUN_VERSION,
        program: "linerate 0.1.0".into(),
        seed: 7,
        plan: Plan::Tune {
            share: ShareAddress {
                server: "10.77.1.2".into(),
                port: 445,
                share: "media".into(),
                path: String::new(),
            },
            candidates: plan().candidates.into_iter().map(|one| one.level).collect(),
            folder: None,
        },
        user: None,
        login_options: Vec::new(),
        facts: Vec::new(),
        started: "2026-11-21T09:00:00Z".parse().expect("a timestamp"),
    }
}

fn run_of(records: Vec<Record>) -> Run {
    Run {
        header: header(),
        records,
        warnings: Vec::new(),
    }
}

/// The file alone gives what was decided by, to the last digit.
#[test]
fn the_run_file_gives_what_tune_decided_by() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.jsonl");
    let file = std::fs::File::create_new(&path).expect("a new file");
    let mut writer = RunWriter::create(file, &path, &header()).expect("room on the disk");
    let mut testbed = SimulatedTestbed::new(|settings: &[Setting], _| {
        if settings.contains(&channels(2)) {
            1.95
        } else {
            1.0
        }
    });
    let outcome = tune_with(
        &mut testbed,
        &plan(),
        &mut writer,
        &|| false,
        &Stage::default(),
    );
    let outcome = outcome.expect("it runs through");
    let run = Run::read(&path).expect("a whole file");
    let analysis = analyze(&run);
    assert_eq!(analysis.experiments.len(), 3);
    assert_eq!(analysis.experiments[0].noise.len(), 2);
    for decided in &outcome.decisions {
        let experiment = analysis
            .experiments
            .iter()
            .find(|experiment| experiment.experiment == decided.experiment)
            .expect("each candidate has its experiment");
        let (decision, reason) = experiment.decision.as_ref().expect("it was decided");
        assert_eq!(*decision, decided.decision);
        for language in Language::ALL {
            assert_eq!(language.say(reason), language.say(&decided.reason));
        }
        assert_eq!(reason.id, decided.reason.id);
        for effect in &experiment.effects {
            let [low, high] = effect.ratio.interval.expect("six blocks");
            let numbers = format!("{:.3} [{low:.3}, {high:.3}]", effect.ratio.value);
            assert!(english(reason).contains(&numbers), "{numbers}");
        }
    }
    let kinds: Vec<Decision> = outcome.decisions.iter().map(|one| one.decision).collect();
    assert_eq!(kinds, [Decision::Kept, Decision::Returned]);
    let ids: Vec<u64> = trials(&run.records).iter().map(|trial| trial.id).collect();
    assert_eq!(ids, (0..outcome.next_trial_id).collect::<Vec<u64>>());
}

/// Many tunings: what does nothing is hardly ever kept, what does something nearly always.
#[test]
fn over_many_tunings_the_right_things_are_kept() {
    let (mut kept_nothing, mut kept_gain) = (0, 0);
    let tunings = 200;
    for seed in 0..tunings {
        let mut testbed = SimulatedTestbed::new(|settings: &[Setting], _| {
            if settings.contains(&mtu(9000)[0]) {
                1.05
            } else {
                1.0
            }
        });
        // The noise, too, must differ from tuning to tuning.
        for _ in 0..seed {
            experiment::Testbed::trial(&mut testbed, &warm_up());
        }
        testbed.noise = 0.01;
        let plan = TunePlan { seed, ..plan() };
        let (_, outcome) = tune(&mut testbed, &plan);
        let outcome = outcome.expect("it runs through");
        let is_kept = |index: usize| outcome.decisions[index].decision == Decision::Kept;
        kept_nothing += u32::from(is_kept(0));
        kept_gain += u32::from(is_kept(1));
    }
    assert!(kept_nothing <= 2, "{kept_nothing} of {tunings}");
    assert!(kept_gain >= 180, "{kept_gain} of {tunings}");
}

/// One candidate under 2 % of noise, through all of `tune`: how often it is kept, and how many trials that
/// takes of those that both phases of twice six blocks would.
fn tunings(gain: f64, count: u64) -> (f64, f64) {
    let (mut kept, mut trials_run) = (0.0, 0.0);
    for seed in 0..count {
        let mut testbed = SimulatedTestbed::new(|settings: &[Setting], _| {
            if settings.contains(&mtu(9000)[0]) {
                1.0 + gain
            } else {
                1.0
            }
        });
        for _ in 0..seed {
            experiment::Testbed::trial(&mut testbed, &warm_up());
        }
        testbed.noise = 0.02;
        let plan = TunePlan {
            seed,
            responses: vec![Direction::Read],
            ..only_jumbo()
        };
        let (records, outcome) = tune(&mut testbed, &plan);
        let outcome = outcome.expect("it runs through");
        let share = 1.0 / count as f64;
        kept += share * f64::from(u8::from(outcome.decisions[0].decision == Decision::Kept));
        let of_candidate = trials(&records).into_iter().filter(|trial| {
            matches!(
                &trial.stage,
                record::Stage::Experiment { experiment, discarded: false, .. } if experiment == "mtu-9000"
            )
        });
        trials_run += share * of_candidate.count() as f64 / 24.0;
    }
    (kept, trials_run)
}

#[test]
fn tune_finds_small_gains_and_keeps_nothing_that_gains_nothing() {
    for (gain, least, most) in [(0.03, 0.80, 1.0), (0.05, 0.95, 1.0), (0.0, 0.0, 0.05)] {
        let (kept, time) = tunings(gain, 300);
        assert!((least..=most).contains(&kept), "{gain}: {kept}");
        assert!(time <= 1.0, "{gain}: {time}");
    }
}

fn warm_up() -> record::Workload {
    let testbed = SimulatedTestbed::new(as_predicted);
    let level = jumbo().level;
    let length = experiment::TrialLength::Counted;
    experiment::Testbed::workload(&testbed, &level, Direction::Read, length)
}
