//! No answer contradicts the numbers below it, whatever was measured.

use analysis::rung_and_probe_verdict::{Loss, MATTERS};
use analysis::{Diagnosis, LadderRung, Proof, RungName, State, analyze};
use locale::{Argument, Message};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use record::{
    BitsPerSecond, Direction, FailureKind, HostFacts, Nanoseconds, Outcome, ProbeKind, Record,
    Rung, Stage, TcpClock,
};

use crate::run_builder::{self, failed_rung, host, lab_nic, real_nic, run, rung};

const DIRECTIONS: [Direction; 2] = [Direction::Read, Direction::Write];

fn pick<T: Copy>(random: &mut ChaCha8Rng, of: &[T]) -> T {
    of[random.random_range(0..of.len())]
}

/// Facts, some of them missing, some of them wrong.
fn facts(random: &mut ChaCha8Rng) -> Vec<HostFacts> {
    let links = random.random_range(1..3_u32);
    let nic = |random: &mut ChaCha8Rng, name: &str, index: u32, at: &str| {
        let mut nic = pick(random, &[real_nic, lab_nic])(name, index, at);
        let bits = pick(random, &[100, 1000, 2500, 10_000_u64]) * 1_000_000;
        nic.speed = (random.random_range(0..4) > 0).then(|| BitsPerSecond::new(bits));
        nic.mtu = pick(random, &[1500, 1500, 9000]);
        nic
    };
    let hosts = [("client", "a", 1), ("server", "b", 2)].map(|(name, letter, end)| {
        let nics = (1..=links).map(|link| {
            let name = format!("{letter}{}", link - 1);
            nic(random, &name, link + 1, &format!("10.77.{link}.{end}"))
        });
        host(name, nics.collect())
    });
    let known = random.random_range(0..3);
    hosts.into_iter().take(known).collect()
}

/// Rounds of a ladder whose rates are anything, and perhaps probes below it.
fn records(random: &mut ChaCha8Rng) -> Vec<Record> {
    let mut records = Vec::new();
    let rounds = random.random_range(1..10);
    let noise = pick(random, &[0.0, 0.002, 0.02, 0.1]);
    let usual = pick(random, &[11.7, 60.0, 117.0, 290.0, 1170.0]);
    for direction in DIRECTIONS {
        for of in [
            Rung::Tcp,
            Rung::Share,
            Rung::Channels,
            Rung::SystemClient,
            Rung::Disk,
        ] {
            match random.random_range(0..8) {
                0 => records.push(failed_rung(of, direction, "it did not answer")),
                1 if of != Rung::Share => {}
                _ => {
                    let base = usual * pick(random, &[0.3, 0.9, 0.95, 0.99, 1.0, 1.0, 1.02, 2.0]);
                    let rates: Vec<f64> = (0..rounds)
                        .map(|_| base * (1.0 + noise * (random.random::<f64>() - 0.5)))
                        .collect();
                    records.extend(rung(of, direction, &rates));
                }
            }
        }
    }
    let session = random.random_range(0..4);
    let share = random.random::<f64>();
    for record in &mut records {
        let Record::Trial(trial) = record else {
            continue;
        };
        match &mut trial.outcome {
            Outcome::Measured(result) => {
                if let Some(agreed) = &mut result.session {
                    agreed.data_signed = session == 1;
                    agreed.credits = (session == 2).then_some(4);
                    agreed.dialect = ["3.1.1", "2.1", "2.0.2", "3.0.2"][session].into();
                }
                let clock = TcpClock {
                    total: Nanoseconds::new(1_000_000_000),
                    busy: Nanoseconds::new((share * 1e9) as u64),
                    ..TcpClock::default()
                };
                for connection in &mut result.connections {
                    connection.clock = Some(clock);
                }
            }
            Outcome::Failed(failure) => {
                failure.kind = pick(random, &[FailureKind::Refused, FailureKind::Unreachable]);
            }
        }
    }
    let kinds = [ProbeKind::Sessions, ProbeKind::OneBlock, ProbeKind::Streams];
    if random.random_range(0..2) == 1 {
        let kind = pick(random, &kinds);
        let direction = pick(random, &DIRECTIONS);
        let of = if kind == ProbeKind::Streams {
            Rung::Tcp
        } else {
            Rung::Share
        };
        let gain = pick(random, &[0.5, 1.0, 1.04, 1.06, 1.8]);
        for block in 0..random.random_range(1..10) {
            for (position, changed) in [(0, None), (1, Some(kind))] {
                let rate = usual * changed.map_or(1.0, |_| gain);
                let mut probe = rung(
                    of,
                    direction,
                    &[rate * (1.0 + noise * random.random::<f64>())],
                );
                if let Some(Record::Trial(trial)) = probe.first_mut() {
                    trial.stage = Stage::Probe {
                        rung: of,
                        block,
                        position,
                        changed,
                    };
                }
                records.extend(probe);
            }
        }
    }
    records
}

fn of<'a>(message: &'a Message, name: &str) -> Option<&'a Message> {
    match message.argument(name) {
        Some(Argument::Message(message)) => Some(message),
        _ => None,
    }
}

fn share(message: &Message) -> f64 {
    match message.argument("share") {
        Some(Argument::Share(share)) => *share,
        other => panic!("{other:?}"),
    }
}

/// Every verdict is that of its interval.
fn follows(rung: &LadderRung) -> bool {
    let interval = rung.of_above.as_ref().and_then(|share| share.interval);
    match (rung.loss, interval) {
        (Some(Loss::Loses), Some([_, high])) => high < 1.0 / MATTERS,
        (Some(Loss::DoesNotLose), Some([low, _])) => low > 1.0 / MATTERS,
        (Some(Loss::CannotTell { .. }), Some([low, high])) => {
            low <= 1.0 / MATTERS && high >= 1.0 / MATTERS
        }
        (Some(Loss::CannotTell { .. }) | None, None) => true,
        (verdict, interval) => panic!("{verdict:?} of {interval:?}"),
    }
}

fn agrees(diagnosis: &Diagnosis, ladder: &[LadderRung]) {
    let decisive = [RungName::Tcp, RungName::Share, RungName::SystemClient];
    let main = |rung: &&LadderRung| decisive.contains(&rung.rung);
    let losing = |rung: &LadderRung| rung.loss == Some(Loss::Loses);
    let headline = &diagnosis.headline;
    let first = diagnosis.causes.first();
    let lost = diagnosis.first_loss.map(|(name, direction)| {
        let mut rungs = ladder.iter();
        let found = rungs.find(|rung| (rung.rung, rung.direction) == (name, direction));
        found.expect("a rung of the ladder")
    });
    assert!(lost.is_none_or(losing));
    match headline.id {
        "headline.full" | "headline.well" => {
            assert!(diagnosis.complete && diagnosis.causes.is_empty());
            for rung in ladder
                .iter()
                .filter(main)
                .filter(|rung| rung.rate.is_some())
            {
                assert_eq!(rung.loss, Some(Loss::DoesNotLose));
            }
        }
        "headline.no-ceiling" | "headline.incomplete" => {
            assert!(!diagnosis.complete && !ladder.iter().filter(main).any(losing));
        }
        "headline.cannot-tell" | "headline.too-near" | "headline.varies" => {
            assert!(!ladder.iter().filter(main).any(losing) && !diagnosis.complete);
            let open = |rung: &LadderRung| matches!(rung.loss, Some(Loss::CannotTell { .. }));
            assert!(ladder.iter().filter(main).any(open));
        }
        "headline.contradiction" => {
            assert!(!diagnosis.complete);
            let beyond = |rung: &LadderRung| {
                rung.of_ceiling
                    .as_ref()
                    .is_some_and(|share| share.value > MATTERS)
            };
            assert!(ladder.iter().any(beyond));
        }
        "headline.loses-proven" | "headline.loses-suspected" | "headline.loses-unknowable" => {
            let cause = first.expect("a cause");
            assert_eq!(of(headline, "cause"), Some(&cause.text));
            match (headline.id, cause.state) {
                ("headline.loses-proven", State::Proven(proof)) => {
                    assert_eq!(of(headline, "gain").is_some(), proof == Proof::Relieved);
                }
                ("headline.loses-suspected", State::Suspected) => {
                    assert_eq!(of(headline, "decides"), cause.decides.as_ref());
                }
                ("headline.loses-unknowable", State::Unknowable) => {}
                other => panic!("{other:?}"),
            }
        }
        "headline.found" => {
            assert!(matches!(first.expect("a cause").state, State::Proven(_)));
            assert!(lost.is_none());
        }
        _ => {}
    }
    if headline.id.starts_with("headline.loses") || headline.id.starts_with("headline.network") {
        let lost = lost.expect("a rung that loses");
        let said = share(of(headline, "loss").expect("what is lost"));
        let measured = lost.of_above.as_ref().expect("a share");
        assert_eq!(said.to_bits(), measured.value.to_bits());
        assert!(said < 1.0 / MATTERS);
    }
    for cause in &diagnosis.causes {
        assert_ne!(cause.state, State::RuledOut);
        assert_eq!(
            cause.decides.is_some(),
            cause.state == State::Suspected,
            "{cause:?}"
        );
        assert_eq!(cause.needs.is_some(), cause.state == State::Unknowable);
    }
}

#[test]
fn ten_thousand_runs_are_answered_as_their_numbers_say() {
    let mut answers = std::collections::BTreeMap::new();
    for seed in 0..10_000 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let facts = facts(&mut random);
        let analysis = analyze(&run(facts, records(&mut random)));
        let diagnosis = analysis.diagnosis.expect("a ladder was run");
        let is_sound = analysis.ladder.iter().all(follows);
        assert!(is_sound, "seed {seed}");
        agrees(&diagnosis, &analysis.ladder);
        for rung in &analysis.ladder {
            let rate = rung.rate.as_ref().filter(|rate| rate.n == 1);
            assert!(
                rate.is_none_or(|rate| rate.interval.is_none()),
                "seed {seed}"
            );
        }
        *answers.entry(diagnosis.headline.id).or_insert(0) += 1;
    }
    // They are not all of one kind.
    assert!(answers.len() >= 8, "{answers:?}");
    let _ = run_builder::GIGABIT;
}
