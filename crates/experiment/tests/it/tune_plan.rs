use std::time::Duration;

use experiment::{Durations, Error, TunePlan};
use record::{Arm, Direction, Phase, Record, Schedule};

use crate::simulated_testbed::{SimulatedTestbed, as_predicted, jumbo, plan, tune, two_channels};

const DURATIONS: Durations = Durations {
    trial: Duration::from_secs(2),
    wash_out: Duration::from_secs(1),
    switch: Duration::from_secs(1),
};

fn schedules(records: &[Record]) -> Vec<&Schedule> {
    records
        .iter()
        .filter_map(|record| match record {
            Record::Schedule(schedule) => Some(schedule),
            _ => None,
        })
        .collect()
}

/// What a schedule fixes, without the levels; of a phase of fresh blocks only what does not depend on
/// the blocks before it.
fn order(schedule: &Schedule) -> Schedule {
    let mut order = schedule.clone();
    if order.phase == record::Phase::Confirm {
        assert!(order.blocks.len() <= 6 && order.blocks.len() >= 3);
        order.joint_error = None;
        order.blocks.clear();
        order.orders.clear();
    }
    order.question.a.settings.clear();
    order.question.b.settings.clear();
    order.question.a.name.clear();
    order.question.b.name.clear();
    order
}

#[test]
fn the_same_seed_gives_the_same_schedule_and_the_forecast_shows_it() {
    let forecast = plan().preview(&DURATIONS).expect("a plan");
    let (records, outcome) = tune(&mut SimulatedTestbed::new(as_predicted), &plan());
    outcome.expect("it runs through");
    let run = schedules(&records);
    let seen = forecast.phases.iter().map(|phase| order(&phase.schedule));
    assert_eq!(
        run.iter()
            .map(|schedule| order(schedule))
            .collect::<Vec<_>>(),
        seen.collect::<Vec<_>>()
    );
    let other = TunePlan { seed: 8, ..plan() };
    let other = other.preview(&DURATIONS).expect("a plan");
    assert!(
        forecast
            .phases
            .iter()
            .zip(&other.phases)
            .any(|(one, two)| order(&one.schedule) != order(&two.schedule))
    );
}

/// The order of a phase does not depend on what became of the phases before it.
#[test]
fn a_phase_has_its_order_whatever_went_before() {
    let (all, _) = tune(&mut SimulatedTestbed::new(as_predicted), &plan());
    let (few, _) = tune(&mut SimulatedTestbed::new(|_, _| 1.0), &plan());
    let (all, few) = (schedules(&all), schedules(&few));
    assert_eq!((all.len(), few.len()), (5, 3));
    assert_eq!(order(few[2]), order(all[3]));
}

#[test]
fn blocks_are_complete_and_their_orders_balanced() {
    let mut first = [0_usize; 2];
    let mut reads_first = 0;
    for seed in 0..200 {
        let plan = TunePlan {
            seed,
            blocks: 7,
            ..plan()
        };
        let preview = plan.preview(&DURATIONS).expect("a plan");
        for phase in &preview.phases {
            let blocks = &phase.schedule.blocks;
            assert_eq!(blocks.len(), 7);
            for block in blocks {
                let mut arms = block.clone();
                arms.sort_unstable();
                assert_eq!(arms, [Arm::A, Arm::B]);
            }
            let with_b_first = blocks.iter().filter(|block| block[0] == Arm::B).count();
            assert!((3..=4).contains(&with_b_first), "half of them, of seven");
            first[usize::from(blocks[0][0] == Arm::B)] += 1;
            for order in phase.schedule.orders.iter().flatten() {
                assert_eq!(order.len(), 2);
                reads_first += usize::from(order[0] == Direction::Read);
            }
        }
    }
    // 1000 fair coins and 14 000 of them: five standard deviations.
    assert!((420..=580).contains(&first[0]), "{first:?}");
    assert!((6_704..=7_296).contains(&reads_first), "{reads_first}");
}

/// Six blocks: 12 visits, 24 trials of 2 s. Each block switches once, each border of two blocks
/// sometimes; channels need no wash-out.
#[test]
fn the_forecast_by_hand() {
    let preview = plan().preview(&DURATIONS).expect("a plan");
    let mut at_least = Duration::ZERO;
    let mut at_most = Duration::ZERO;
    for phase in &preview.phases {
        let arms: Vec<Arm> = phase.schedule.blocks.concat();
        let switches = 1 + arms.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let washes = phase.schedule.experiment != "channels-2";
        assert_eq!(phase.trials, 24);
        assert_eq!(phase.wash_outs, if washes { switches } else { 0 });
        let seconds = 2 * 24 + switches + phase.wash_outs;
        let duration = Duration::from_secs(seconds as u64);
        assert_eq!(phase.duration, duration);
        at_most += duration;
        if phase.schedule.phase != Phase::Confirm {
            at_least += duration;
        }
    }
    assert_eq!((preview.at_least, preview.at_most), (at_least, at_most));
    assert_eq!(preview.phases.len(), 5);
    assert!((7..=12).contains(&preview.phases[0].wash_outs));
}

type Change = fn(&mut TunePlan);

#[test]
fn plans_that_make_no_sense_are_refused_before_anything_is_touched() {
    let changes: [(Change, &str); 9] = [
        (|plan| plan.blocks = 5, "0.95 confidence needs 6"),
        (|plan| plan.blocks = 1_000_000, "1000 is the limit"),
        (|plan| plan.confidence = 1.0, "a confidence of 1"),
        (|plan| plan.band = f64::NAN, "a band of NaN"),
        (|plan| plan.responses.clear(), "one at least"),
        (|plan| plan.responses.push(Direction::Read), "named once"),
        (|plan| plan.candidates.clear(), "nothing to try"),
        (
            |plan| plan.candidates.push(jumbo()),
            "the name `mtu-9000` is taken",
        ),
        (
            |plan| {
                let mut twice = two_channels();
                twice.id = "twice".into();
                twice.level.settings.push(twice.level.settings[0].clone());
                plan.candidates.push(twice);
            },
            "`twice` sets something twice",
        ),
    ];
    for (change, says) in changes {
        let mut wrong = plan();
        change(&mut wrong);
        let mut testbed = SimulatedTestbed::new(as_predicted);
        let (records, outcome) = tune(&mut testbed, &wrong);
        let error = outcome.expect_err("a plan that makes no sense");
        assert!(matches!(error, Error::Plan { .. }));
        assert!(error.to_string().contains(says), "{error}");
        assert!(records.is_empty() && testbed.calls.is_empty());
    }
}
