//! Experiments over several factors: arms, order, and going on after any interruption.

use std::cell::Cell;
use std::collections::BTreeSet;

use experiment::{
    Combination, DesignEnd, DesignHooks, DesignNews, Error, Sink, Stand, combine, order,
    run_design, visits, whole_plots,
};
use locale::Argument;
use record::{
    Design, Direction, Factor, Failure, FailureKind, HostLoad, HostName, KnobId, Level,
    Nanoseconds, Outcome, Record, Response, Setting, Stage, StopRule, Target, TcpWorkload, Timing,
    TrialRecord, Value, Workload,
};

use crate::simulated_noise::measured;
use crate::simulated_testbed::english;

const TIMING: Timing = Timing {
    warm_up: Nanoseconds::new(0),
    measured: Nanoseconds::new(1_000_000_000),
    interval: Nanoseconds::new(1_000_000_000),
};

fn knob(id: &str, value: i64) -> Setting {
    Setting::Knob {
        host: HostName::new("local"),
        target: Target::Nic("lan1".into()),
        id: KnobId::new(id),
        value: Value::Integer(value),
    }
}

fn factor(name: &str, id: &str, values: &[i64]) -> Factor {
    let level = |value: &i64| Level {
        name: value.to_string(),
        settings: vec![knob(id, *value)],
    };
    Factor {
        name: name.into(),
        levels: values.iter().map(level).collect(),
    }
}

fn design(blocks: usize) -> Design {
    let factors = vec![
        factor("mtu", "nic.mtu", &[1500, 9000]),
        factor("buffer", "tcp.buffer", &[0, 1]),
    ];
    let names: Vec<(&str, usize)> = factors
        .iter()
        .map(|one| (one.name.as_str(), one.levels.len()))
        .collect();
    let found = combine(&names, Combination::Full).unwrap();
    let mut arms = found.arms;
    arms.push(arms[0].clone());
    let response = |name: &str, direction| Response {
        name: name.into(),
        workload: Workload::Tcp(TcpWorkload {
            server: "127.0.0.1".parse().unwrap(),
            port: 1,
            direction,
            streams: 1,
            nic: None,
            timing: TIMING,
            socket: record::SocketOptions::default(),
        }),
    };
    Design {
        name: "design".into(),
        title: "some".into(),
        form: english(&found.form),
        whole_plots: whole_plots(&factors),
        factors,
        aliases: Vec::new(),
        left_out: Vec::new(),
        messages: Vec::new(),
        responses: vec![
            response("read", Direction::Read),
            response("write", Direction::Write),
        ],
        blocks: order(&arms, &[0], blocks, 7),
        baseline_replicate: Some(4),
        arms,
        stop: StopRule {
            budget_seconds: None,
            width: None,
        },
        band: 0.02,
        published: None,
        figures: Vec::new(),
    }
}

/// A machine whose rate depends on its settings and on how many trials of them were run: the same
/// trial gives the same sample, however often the experiment is taken up.
struct Simulated<'a> {
    settings: Vec<Setting>,
    start: Vec<Setting>,
    now: u64,
    /// Trials left before it is as if the process were killed, or something else happens.
    left: &'a Cell<usize>,
    then: FailureKind,
    refuses: bool,
    /// Whether the server refuses the large MTU with the other buffer.
    refuses_both: bool,
    /// Whether the host puts itself back in the middle of each trial.
    restores_itself: bool,
    /// The server worked half of the time of the last trial.
    loads: Vec<HostLoad>,
    /// Whether it cannot be put back in the end.
    is_lost: bool,
    /// How often something was set.
    sets: usize,
}

impl<'a> Simulated<'a> {
    fn new(left: &'a Cell<usize>) -> Self {
        let start = vec![knob("nic.mtu", 1500), knob("tcp.buffer", 0)];
        Self {
            settings: start.clone(),
            start,
            now: 0,
            left,
            then: FailureKind::Interrupted,
            refuses: false,
            refuses_both: false,
            restores_itself: false,
            loads: Vec::new(),
            is_lost: false,
            sets: 0,
        }
    }
}

fn refused(kind: FailureKind) -> Failure {
    Failure::new(kind, "no")
}

impl Stand for Simulated<'_> {
    fn read(&mut self, _: &Level) -> Result<Vec<Setting>, Failure> {
        Ok(self.settings.clone())
    }

    fn set(&mut self, level: &Level) -> Result<(), Failure> {
        if self.refuses {
            return Err(refused(FailureKind::Refused));
        }
        self.settings.clone_from(&level.settings);
        self.sets += 1;
        Ok(())
    }

    fn workload(&self, workload: &Workload, _: &Level) -> Result<Workload, Failure> {
        Ok(workload.clone())
    }

    fn trial(&mut self, workload: &Workload) -> Outcome {
        if self.left.get() == 0 {
            return Outcome::Failed(refused(self.then));
        }
        self.left.set(self.left.get() - 1);
        self.now += 1_000_000_000;
        self.loads = vec![HostLoad {
            host: HostName::new("server"),
            duration: TIMING.measured,
            processors: Vec::new(),
            resent: None,
            dropped: None,
            pauses: None,
            throttled: None,
            served: Some(Nanoseconds::new(TIMING.measured.get() / 2)),
            disk_waited: None,
            nics: Vec::new(),
            megahertz: None,
        }];
        let high = |at: usize, value| matches!(&self.settings[at], Setting::Knob { value: Value::Integer(now), .. } if *now == value);
        if self.refuses_both && high(0, 9000) && high(1, 1) {
            return Outcome::Failed(refused(FailureKind::Refused));
        }
        // The large MTU helps with the other buffer only.
        let mut rate = 100_000_000;
        if high(0, 9000) && high(1, 1) {
            rate = 150_000_000;
        }
        if workload.direction() == Direction::Write {
            rate /= 2;
        }
        if self.restores_itself {
            self.settings.clone_from(&self.start);
        }
        measured(TIMING.measured, rate)
    }

    fn loads(&mut self) -> Vec<HostLoad> {
        std::mem::take(&mut self.loads)
    }

    fn restore(&mut self) -> Result<(), Failure> {
        if self.is_lost {
            return Err(refused(FailureKind::Unreachable));
        }
        self.settings.clone_from(&self.start);
        Ok(())
    }

    fn now(&self) -> Nanoseconds {
        Nanoseconds::new(self.now)
    }
}

fn run(
    stand: &mut Simulated<'_>,
    design: &Design,
    before: Vec<TrialRecord>,
    sink: &mut dyn Sink,
) -> DesignEnd {
    let mut hooks = DesignHooks {
        sink,
        stop: &|| false,
        news: &mut |_: DesignNews<'_>| {},
        narrow: &|_| false,
    };
    run_design(stand, design, before, &mut hooks).unwrap()
}

/// The trials of a design that nothing gets in the way of.
fn run_through(design: &Design) -> Vec<TrialRecord> {
    let forever = Cell::new(usize::MAX);
    let mut records = Vec::new();
    run(
        &mut Simulated::new(&forever),
        design,
        Vec::new(),
        &mut records,
    );
    trials(&records)
}

fn trials(records: &[Record]) -> Vec<TrialRecord> {
    let each = records.iter().filter_map(|record| match record {
        Record::Trial(trial) => Some(trial.as_ref().clone()),
        _ => None,
    });
    each.collect()
}

fn places(trials: &[TrialRecord]) -> Vec<(u32, u32, u32, String)> {
    let each = trials.iter().filter_map(|trial| match &trial.stage {
        Stage::Visit {
            block,
            position,
            arm,
            response,
            discarded: false,
        } => Some((*block, *position, *arm, response.clone())),
        _ => None,
    });
    each.collect()
}

#[test]
fn an_experiment_that_ends_after_any_trial_and_goes_on_is_the_same_experiment() {
    let design = design(6);
    let forever = Cell::new(usize::MAX);
    let mut whole = Vec::new();
    let mut stand = Simulated::new(&forever);
    assert_eq!(
        run(&mut stand, &design, Vec::new(), &mut whole),
        DesignEnd::Complete
    );
    assert_eq!(stand.settings, stand.start);
    let wanted = places(&trials(&whole));
    assert_eq!(wanted.len(), 6 * 5 * 2);
    let answer = fit::design(&design, &trials(&whole));
    let mut samples = answer.samples.iter();
    assert!(samples.all(|one| one.server_cpu_per_byte.is_some()));
    for kill in 0..trials(&whole).len() {
        let mut records = Vec::new();
        let left = Cell::new(kill);
        let mut stand = Simulated::new(&left);
        assert_eq!(
            run(&mut stand, &design, Vec::new(), &mut records),
            DesignEnd::Stopped
        );
        assert_eq!(stand.settings, stand.start, "kill after {kill}");
        let before = trials(&records);
        assert_eq!(before.len(), kill);
        let mut stand = Simulated::new(&forever);
        assert_eq!(
            run(&mut stand, &design, before, &mut records),
            DesignEnd::Complete
        );
        let all = trials(&records);
        assert_eq!(places(&all), wanted, "kill after {kill}");
        let ids: BTreeSet<u64> = all.iter().map(|trial| trial.id).collect();
        assert_eq!(ids.len(), all.len(), "kill after {kill}");
        // Analysing is what takes time here, and the places are the same.
        if kill % 20 == 0 {
            assert_eq!(fit::design(&design, &all), answer, "kill after {kill}");
        }
    }
}

#[test]
fn an_interaction_is_found_and_told_from_main_effects() {
    let design = design(6);
    let found = fit::design(&design, &run_through(&design));
    assert_eq!(found.blocks_done, 6);
    let ratio = |others: &str| {
        let mut pairs = found.pairs.iter();
        let pair = pairs
            .find(|pair| pair.response == "read" && pair.factor == "mtu" && pair.others == others);
        pair.unwrap().ratio.value
    };
    assert!((ratio("buffer 0") - 1.0).abs() < 1e-9 && (ratio("buffer 1") - 1.5).abs() < 1e-9);
    let both = found
        .pairs
        .iter()
        .find(|pair| pair.response == "read" && pair.factor == "mtu:buffer");
    assert!((both.unwrap().ratio.value - 1.5).abs() < 1e-9, "{both:?}");
    let table = found
        .rates
        .iter()
        .find(|table| table.response == "read")
        .unwrap();
    let effect = table
        .effects
        .iter()
        .find(|effect| effect.factor == "mtu:buffer")
        .unwrap();
    assert!((effect.estimate.unwrap() - 50.0).abs() < 1e-6, "{effect:?}");
    assert_eq!(table.unit, "MB/s");
    assert!(
        found
            .noise
            .iter()
            .all(|noise| !noise.alarm && noise.ratio.value == 1.0)
    );
}

#[test]
fn links_that_were_reset_are_washed_out_and_plots_stay_together() {
    let design = design(2);
    assert_eq!(design.whole_plots, [0]);
    let mut mtu_before = None;
    for trial in run_through(&design) {
        let Stage::Visit { arm, discarded, .. } = trial.stage else {
            continue;
        };
        let mtu = design.arms[arm as usize][0];
        if mtu_before.replace(mtu) != Some(mtu) {
            assert!(discarded, "the first trial after a reset counts: {trial:?}");
        }
    }
}

#[test]
fn what_was_measured_twice_counts_once() {
    let design = design(3);
    let once = run_through(&design);
    let again = once.iter().cloned().map(|mut trial| {
        trial.outcome = measured(TIMING.measured, 1);
        trial
    });
    let twice: Vec<TrialRecord> = once.iter().cloned().chain(again).collect();
    let mut found = fit::design(&design, &twice);
    let doubled = found.caveats.remove(0);
    assert_eq!(doubled.id, "design-caveat.measured-already");
    assert_eq!(doubled.argument("count"), Some(&Argument::Count(30)));
    assert_eq!(found, fit::design(&design, &once));
}

#[test]
fn visits_are_told_before_as_they_go_then() {
    let both_reset = {
        let factors = vec![
            factor("mtu", "nic.mtu", &[1500, 9000]),
            factor("buffer", "nic.buffer", &[0, 1]),
        ];
        let one = design(1);
        Design {
            blocks: order(&one.arms, &[], 6, 7),
            whole_plots: whole_plots(&factors),
            factors,
            ..one
        }
    };
    assert!(both_reset.whole_plots.is_empty());
    for design in [design(6), both_reset] {
        let forever = Cell::new(usize::MAX);
        let mut stand = Simulated::new(&forever);
        let mut records = Vec::new();
        run(&mut stand, &design, Vec::new(), &mut records);
        let trials = trials(&records);
        let washed = trials.iter().filter_map(|trial| match trial.stage {
            Stage::Visit {
                arm,
                discarded: true,
                ..
            } => Some((arm, trial.workload.clone())),
            _ => None,
        });
        let visits = visits(&design);
        let told = visits.iter();
        let told = told.filter_map(|visit| Some((visit.arm, visit.wash_out.clone()?)));
        assert_eq!(told.collect::<Vec<_>>(), washed.collect::<Vec<_>>());
        let ways_away = visits.iter().filter(|visit| visit.away.is_some()).count();
        assert!(ways_away > 0, "a plot that begins as the last one ended");
        assert_eq!(stand.sets, visits.len() + ways_away);
    }
}

#[test]
fn an_arm_that_cannot_be_set_is_told_and_ends_it_in_time() {
    let design = design(6);
    let forever = Cell::new(usize::MAX);
    let mut stand = Simulated::new(&forever);
    stand.refuses = true;
    let mut records = Vec::new();
    let end = run(&mut stand, &design, Vec::new(), &mut records);
    assert!(matches!(end, DesignEnd::Failed(_)), "{end:?}");
    assert!(trials(&records).len() < 15);
    let found = fit::design(&design, &trials(&records));
    assert!(
        english(&found.failures[0]).contains("no") && found.rates.is_empty(),
        "{found:?}"
    );
}

#[test]
fn an_arm_that_is_always_refused_is_told_and_leaves_the_others_their_blocks() {
    let design = design(8);
    let forever = Cell::new(usize::MAX);
    let mut stand = Simulated::new(&forever);
    stand.refuses_both = true;
    let mut records = Vec::new();
    let end = run(&mut stand, &design, Vec::new(), &mut records);
    assert_eq!(end, DesignEnd::Complete);
    let trials = trials(&records);
    let failed = trials.iter();
    let failed = failed.filter(|trial| matches!(trial.outcome, Outcome::Failed(_)));
    assert!(failed.count() >= 8 * 2);
    assert_eq!(places(&trials).len(), 8 * 5 * 2);
    let found = fit::design(&design, &trials);
    assert!(english(&found.failures[0]).contains("no"), "{found:?}");
}

#[test]
fn a_trial_in_which_the_host_puts_itself_back_does_not_count() {
    let forever = Cell::new(usize::MAX);
    let mut stand = Simulated::new(&forever);
    stand.restores_itself = true;
    let mut records = Vec::new();
    run(&mut stand, &design(1), Vec::new(), &mut records);
    let trials = trials(&records);
    assert!(!trials.is_empty());
    for trial in trials {
        // At the start there is nothing to put back.
        let measures = matches!(trial.outcome, Outcome::Measured(_));
        let Stage::Visit { arm, .. } = trial.stage else {
            panic!("{trial:?}");
        };
        assert_eq!(measures, [0, 4].contains(&arm), "{trial:?}");
    }
}

#[test]
fn what_failed_is_run_again_when_the_experiment_is_taken_up() {
    let design = design(3);
    let forever = Cell::new(usize::MAX);
    let mut records = Vec::new();
    let mut stand = Simulated::new(&forever);
    stand.refuses = true;
    let end = run(&mut stand, &design, Vec::new(), &mut records);
    assert!(matches!(end, DesignEnd::Failed(_)), "{end:?}");
    let failed = trials(&records);
    // The host can be had again.
    stand.refuses = false;
    let mut whole = Vec::new();
    let end = run(&mut stand, &design, failed.clone(), &mut whole);
    assert_eq!(end, DesignEnd::Complete);
    assert_eq!(places(&trials(&whole)).len(), 3 * 5 * 2);
    let all = [failed, trials(&whole)].concat();
    assert_eq!(fit::design(&design, &all).blocks_done, 3);
    let ids: BTreeSet<u64> = all.iter().map(|trial| trial.id).collect();
    assert_eq!(ids.len(), all.len());

    // What fails each time does not keep the rest from being reached.
    let mut before = Vec::new();
    stand.refuses = true;
    let ends = (0..3).map(|_| {
        let mut records = Vec::new();
        let end = run(&mut stand, &design, before.clone(), &mut records);
        before.extend(trials(&records));
        end
    });
    let ends: Vec<DesignEnd> = ends.collect();
    let reached = places(&before).into_iter().collect::<BTreeSet<_>>();
    assert_eq!(reached.len(), 3 * 5 * 2, "{ends:?}");
}

#[test]
fn where_nothing_at_all_was_measured_the_end_says_why() {
    // So short that it is over before it is given up.
    let mut design = design(1);
    design.blocks.truncate(1);
    design.responses.truncate(1);
    // The first one may only wash out.
    let (none, two) = (Cell::new(0), Cell::new(2));
    for (left, is_measured) in [(&none, false), (&two, true)] {
        let mut stand = Simulated::new(left);
        stand.then = FailureKind::Refused;
        let mut records = Vec::new();
        let end = run(&mut stand, &design, Vec::new(), &mut records);
        assert_eq!(places(&trials(&records)).len(), 5);
        match is_measured {
            true => assert_eq!(end, DesignEnd::Complete),
            false => assert_eq!(end, DesignEnd::Failed(refused(FailureKind::Refused))),
        }
    }
}

#[test]
fn a_password_that_is_wrong_from_some_trial_on_is_tried_once_and_the_experiment_can_go_on() {
    let design = design(3);
    let forever = Cell::new(usize::MAX);
    for before in [0, 7, 8] {
        let left = Cell::new(before);
        let mut stand = Simulated::new(&left);
        stand.then = FailureKind::LoginRefused;
        let mut records = Vec::new();
        let end = run(&mut stand, &design, Vec::new(), &mut records);
        let DesignEnd::Failed(failure) = end else {
            panic!("{end:?}");
        };
        assert_eq!(failure.kind, FailureKind::LoginRefused);
        assert_eq!(stand.settings, stand.start);
        assert_eq!(trials(&records).len(), before + 1);
        // Once more as well, should it still be wrong.
        let end = run(&mut stand, &design, trials(&records), &mut records);
        assert!(matches!(end, DesignEnd::Failed(_)), "{end:?}");
        assert_eq!(trials(&records).len(), before + 2);
        let mut stand = Simulated::new(&forever);
        let end = run(&mut stand, &design, trials(&records), &mut records);
        assert_eq!(end, DesignEnd::Complete);
        assert_eq!(
            fit::design(&design, &trials(&records)).blocks_done,
            3,
            "after {before}"
        );
    }
}

/// A run file on a full disk.
struct Full;

impl Sink for Full {
    fn append(&mut self, _: &Record) -> Result<(), record::Error> {
        Err(record::Error::Io {
            action: "write",
            path: "run.jsonl".into(),
            source: std::io::Error::other("no space left on device"),
        })
    }
}

#[test]
fn what_could_not_be_put_back_is_said_also_where_the_run_file_is_full() {
    let end = |is_lost: bool| {
        let forever = Cell::new(usize::MAX);
        let mut stand = Simulated::new(&forever);
        stand.is_lost = is_lost;
        let mut hooks = DesignHooks {
            sink: &mut Full,
            stop: &|| false,
            news: &mut |_: DesignNews<'_>| {},
            narrow: &|_| false,
        };
        run_design(&mut stand, &design(2), Vec::new(), &mut hooks).unwrap_err()
    };
    assert!(matches!(end(false), Error::Record { .. }));
    let error = end(true);
    let lost = matches!(
        &error,
        Error::NotRestored {
            before: Some(_),
            ..
        }
    );
    assert!(lost, "{error:?}");
}

#[test]
fn a_budget_ends_it_after_a_whole_block() {
    let mut design = design(6);
    design.stop.budget_seconds = Some(11);
    let forever = Cell::new(usize::MAX);
    let mut records = Vec::new();
    let end = run(
        &mut Simulated::new(&forever),
        &design,
        Vec::new(),
        &mut records,
    );
    assert_eq!(end, DesignEnd::Complete);
    let all = places(&trials(&records));
    let last = all.last().unwrap().0;
    assert!(last < 5 && all.len() == (last as usize + 1) * 10, "{all:?}");
}

#[test]
fn every_block_has_every_arm_once_in_an_order_of_its_own() {
    let arms: Vec<Vec<u32>> = (0..8)
        .map(|arm| vec![arm / 4, arm / 2 % 2, arm % 2])
        .collect();
    let rows = order(&arms, &[0], 7, 3);
    assert_eq!(rows.len(), 7);
    for row in &rows {
        let mut sorted = row.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..8).collect::<Vec<u32>>());
        // Four of one whole plot, then four of the other.
        let changes = row
            .windows(2)
            .filter(|pair| arms[pair[0] as usize][0] != arms[pair[1] as usize][0]);
        assert_eq!(changes.count(), 1, "{row:?}");
    }
    let unique: BTreeSet<&Vec<u32>> = rows.iter().collect();
    assert!(unique.len() > 5, "{rows:?}");
    assert_eq!(rows, order(&arms, &[0], 7, 3));
    assert_ne!(rows, order(&arms, &[0], 7, 4));
}

#[test]
fn fractions_tell_main_effects_from_all_interactions_of_two() {
    for (count, runs) in [(4, 8), (5, 16), (6, 16), (7, 16), (8, 16)] {
        let names: Vec<String> = (0..count).map(|index| format!("f{index}")).collect();
        let factors: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 2)).collect();
        let found = combine(&factors, Combination::Fraction).unwrap();
        assert_eq!(found.arms.len(), runs);
        assert_eq!(found.arms[0], vec![0; count]);
        let sign = |arm: &Vec<u32>, factor: usize| i64::from(arm[factor]) * 2 - 1;
        let sum = |column: &dyn Fn(&Vec<u32>) -> i64| found.arms.iter().map(column).sum::<i64>();
        for main in 0..count {
            assert_eq!(
                sum(&|arm| sign(arm, main)),
                0,
                "{count}: f{main} is not balanced"
            );
            for one in 0..count {
                for other in one + 1..count {
                    let crossed = sum(&|arm| sign(arm, main) * sign(arm, one) * sign(arm, other));
                    if main != one && main != other {
                        assert_eq!(crossed, 0, "{count}: f{main} is f{one}:f{other}");
                    }
                }
            }
        }
        // Whatever is not named can be told apart.
        let named = |pair: &str| {
            found
                .aliases
                .iter()
                .any(|alias| alias.split(" = ").any(|name| name == pair))
        };
        assert_eq!(named("f0:f1"), count != 5, "{:?}", found.aliases);
    }
}

#[test]
fn combinations_that_make_no_sense_are_refused() {
    let refused = |factors: &[(&str, usize)], combination| combine(factors, combination).is_err();
    assert!(refused(&[], Combination::Full));
    assert!(refused(&[("a", 1)], Combination::Full));
    assert!(refused(&[("a", 20), ("b", 20)], Combination::Full));
    assert!(refused(
        &[("a", 2), ("b", 2), ("c", 2)],
        Combination::Fraction
    ));
    assert!(refused(
        &[("a", 2), ("b", 3), ("c", 2), ("d", 2)],
        Combination::Fraction
    ));
    let one = combine(&[("a", 3), ("b", 2)], Combination::OneAtATime).unwrap();
    assert_eq!(one.arms, [[0, 0], [1, 0], [2, 0], [0, 1]]);
}
