use std::cell::Cell;
use std::collections::BTreeSet;

use experiment::{Ended, Error, Hooks, Progress, Rig, SearchPlan, search};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use record::{Decision, Event, Record};

use crate::landscape::{KNOBS, Landscape, Machine, find, plan};
use crate::noise::Noise;

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
            let reason = &decided.reason;
            assert!(
                reason.contains("all that is kept against the start: read 1."),
                "{reason}"
            );
        }
    }
    let notes = found.records.iter().filter(|record| {
        let about = |text: &str| text.starts_with("screening of 16") || text.starts_with("race of");
        matches!(record, Record::Event { event: Event::Note { text }, .. } if about(text))
    });
    assert_eq!(notes.count(), 2);
}

#[test]
fn a_stop_at_any_moment_leaves_the_start() {
    for after in [0, 5, 12, 20, 33, 60] {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let landscape = Landscape::random(&mut random);
        let mut machine = Machine::new(landscape, Noise::Normal, 0.01, &mut random);
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
        let outcome = search(&mut machine, &plan(3), &mut hooks).expect("it can be put back");
        assert_eq!(outcome.ended, Ended::Stopped);
        assert_eq!(machine.trials, after);
        assert_eq!(outcome.left, outcome.start);
        let read = machine.read(&outcome.start).expect("it can be read");
        assert_eq!(read, outcome.start.settings);
        let kept = outcome.decisions.iter();
        assert!(
            kept.into_iter()
                .all(|one| one.decision == Decision::Returned)
        );
    }
}

#[test]
fn too_few_trials_are_refused_before_anything_is_touched() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut machine = Machine::new(Landscape::default(), Noise::Normal, 0.01, &mut random);
    let plan = SearchPlan {
        trials_max: 30,
        ..plan(3)
    };
    let mut hooks = Hooks {
        sink: &mut Vec::<Record>::new(),
        stop: &|| false,
        progress: &mut |_| {},
    };
    let refused = search(&mut machine, &plan, &mut hooks);
    assert!(matches!(refused, Err(Error::Plan { reason }) if reason.contains("40 are needed")));
    assert_eq!(machine.trials, 0);
}
