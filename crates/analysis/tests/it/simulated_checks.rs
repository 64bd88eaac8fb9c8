//! Simulated stands: what a trial moves is the least of its resources, with noise. The same loop that a check runs asks
//! for blocks of trials until nothing more would be learned, and its answers are counted.

use std::time::Duration;

use analysis::rung_and_probe_verdict::{Loss, judge};
use analysis::{
    Budget, CheckBase, Diagnosis, LadderRung, Mode, Proof, RungName, State, analyze, next,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use record::{
    Direction, FileUse, Nanoseconds, Outcome, ProbeKind, Record, Rung, SigningAlgorithm, Stage,
    TrialRecord, Workload,
};

use crate::run_builder::{self, host, real_nic, run, session};

/// How trials of one setting differ.
#[derive(Clone, Copy, Debug)]
enum Noise {
    /// Normal, of this relative deviation.
    Normal(f64),
    /// The same, and one trial in twelve loses up to 30 %.
    Hiccups(f64),
    /// The same, with a slow drift of 10 % over the check.
    Drift(f64),
}

const FAMILY: [Noise; 3] = [
    Noise::Normal(0.02),
    Noise::Hiccups(0.01),
    Noise::Drift(0.02),
];

/// A client and a server, by what each part of them can move in MB/s.
#[derive(Clone, Copy)]
struct Stand {
    line: f64,
    /// What one connection of TCP reaches, by loss or window; several reach as many times that.
    connection: f64,
    /// What the path carries in all, be it by a slower hop.
    path: f64,
    /// What one process of the server moves for one session, at the cheapest signature.
    process: f64,
    /// How much more the signature in use costs.
    signature: f64,
    /// What the disk takes of writes.
    disk: f64,
    /// Another link of the same kind.
    second: f64,
    /// What a trial takes with all around it, in seconds.
    trial: f64,
}

const WELL: Stand = Stand {
    line: 117.67,
    connection: 1e4,
    path: 1e4,
    process: 1e4,
    signature: 1.0,
    disk: 1e4,
    second: 0.0,
    trial: 1.1,
};

impl Stand {
    fn rate(&self, workload: &Workload) -> f64 {
        match workload {
            Workload::Tcp(tcp) => {
                let all = self.connection * f64::from(tcp.streams);
                self.line.min(all).min(self.path)
            }
            Workload::Share(share) => {
                let links = match share.channels {
                    0 | 1 => self.line,
                    _ => self.line + self.second,
                };
                let connections = f64::from(share.channels.max(1) * share.sessions);
                let cheap = share.demands.signing_algorithm == Some(SigningAlgorithm::AesGmac);
                let signature = if cheap { 1.0 } else { self.signature };
                let process = self.process / signature * f64::from(share.sessions);
                let writes = share.direction == Direction::Write && share.file == FileUse::Whole;
                let disk = if writes { self.disk } else { 1e4 };
                links
                    .min(self.connection * connections)
                    .min(self.path)
                    .min(process)
                    .min(disk)
            }
            _ => self.line,
        }
    }

    fn is_signed(&self) -> bool {
        self.signature > 1.0
    }
}

fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (one, two): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * two).cos()
}

impl Noise {
    fn of(self, random: &mut ChaCha8Rng, spent: f64) -> f64 {
        let usual = |deviation: f64, random: &mut ChaCha8Rng| 1.0 + deviation * normal(random);
        match self {
            Self::Normal(deviation) => usual(deviation, random),
            Self::Hiccups(deviation) => {
                let lost: f64 = random.random();
                let much: f64 = random.random();
                let hiccup = if lost < 0.08 { 1.0 - 0.3 * much } else { 1.0 };
                usual(deviation, random) * hiccup
            }
            Self::Drift(deviation) => usual(deviation, random) * (1.0 - 0.1 * spent / 120.0),
        }
    }
}

struct Check {
    diagnosis: Diagnosis,
    ladder: Vec<LadderRung>,
    trials: Vec<TrialRecord>,
    seconds: f64,
}

/// Runs a whole check on a stand; `with_tcp` says whether raw TCP can be measured.
fn check(stand: &Stand, noise: Noise, mode: Mode, with_tcp: bool, seed: u64) -> Check {
    let near = vec![
        real_nic("a0", 2, "10.77.1.1"),
        real_nic("a1", 3, "10.77.2.1"),
    ];
    let far = vec![
        real_nic("b0", 2, "10.77.1.2"),
        real_nic("b1", 3, "10.77.2.2"),
    ];
    let links = if stand.second > 0.0 { 2 } else { 1 };
    let cut = |mut nics: Vec<record::Nic>| {
        nics.truncate(links);
        nics
    };
    let facts = vec![host("client", cut(near)), host("server", cut(far))];
    let Workload::Share(share) = run_builder::share_workload(Direction::Read) else {
        unreachable!("it is one of a share")
    };
    let Workload::Tcp(tcp) = run_builder::tcp_workload(Direction::Read) else {
        unreachable!("it is one of raw TCP")
    };
    let base = CheckBase {
        tcp: Ok(tcp),
        share,
        channels: u32::try_from(links).unwrap(),
        read_only: false,
        folder: None,
        mounted: None,
        more: vec![Rung::Channels],
        rounds: None,
        sources: Vec::new(),
    };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut trials: Vec<TrialRecord> = Vec::new();
    let mut seconds = 3.0;
    loop {
        let all: Vec<&TrialRecord> = trials.iter().collect();
        let budget = Budget {
            mode,
            spent: Duration::from_secs_f64(seconds),
        };
        let Some(block) = next(&facts, None, &all, &base, &budget, seed) else {
            break;
        };
        assert!(
            !block.trials.is_empty() && block.trials.len() <= 8,
            "{block:?}"
        );
        for (stage, workload) in block.trials {
            let started = seconds;
            seconds += stand.trial;
            let outcome = match (&workload, with_tcp) {
                (Workload::Tcp(_), false) => run_builder::failed("no iperf3 server answers"),
                _ => {
                    let rate = stand.rate(&workload) * noise.of(&mut random, seconds);
                    let mut result = run_builder::result(rate);
                    if let Workload::Share(share) = &workload {
                        let mut session = session();
                        session.data_signed = stand.is_signed();
                        session.signing_algorithm = Some("AES-128-CMAC".into());
                        result.session = Some(session);
                        if share.channels > 1 {
                            second_channel(&mut result);
                        }
                    }
                    Outcome::Measured(Box::new(result))
                }
            };
            let Record::Trial(mut trial) = run_builder::trial(stage, workload, outcome) else {
                unreachable!("it is a trial")
            };
            let since = |seconds: f64| Nanoseconds::new((seconds * 1e9) as u64);
            (trial.started, trial.ended) = (since(started), since(seconds));
            trials.push(*trial);
        }
    }
    let records = trials
        .iter()
        .cloned()
        .map(|trial| Record::Trial(Box::new(trial)));
    let analysis = analyze(&run(facts, records.collect()));
    Check {
        diagnosis: analysis.diagnosis.expect("a ladder was run"),
        ladder: analysis.ladder,
        trials,
        seconds,
    }
}

fn second_channel(result: &mut record::TrialResult) {
    let half = record::Bytes::new(result.connections[0].bytes.get() / 2);
    let mut second = result.connections[0].clone();
    second.local = "10.77.2.1:40001".parse().unwrap();
    second.remote = "10.77.2.2:445".parse().unwrap();
    result.connections[0].bytes = half;
    second.bytes = half;
    result.connections.push(second);
}

impl Check {
    fn loses(&self) -> bool {
        self.ladder
            .iter()
            .any(|rung| rung.loss == Some(Loss::Loses))
    }

    fn proven(&self) -> Vec<&str> {
        let causes = self.diagnosis.causes.iter();
        let proven = causes.filter(|cause| matches!(cause.state, State::Proven(_)));
        let ids = proven.map(|cause| cause.id.as_str());
        ids.filter(|id| !id.contains("slower-than")).collect()
    }

    fn probes(&self) -> usize {
        let trials = self.trials.iter();
        trials
            .filter(|trial| {
                matches!(
                    trial.stage,
                    Stage::Probe {
                        changed: Some(_),
                        ..
                    }
                )
            })
            .count()
    }
}

/// How many of so many checks fulfil something.
fn count(runs: u64, stand: &Stand, noise: Noise, is_so: impl Fn(&Check) -> bool) -> u64 {
    let seeds = 0..runs;
    let checks = seeds.map(|seed| check(stand, noise, Mode::Normal, true, seed));
    u64::try_from(checks.filter(|check| is_so(check)).count()).unwrap()
}

/// Of the sequential rule alone, as it is applied to each rung: false alarms, power and coverage.
fn characteristics(runs: u64, noise: Noise, ratio: f64) -> (f64, f64) {
    let (mut loses, mut covered) = (0.0, 0.0);
    for seed in 0..runs {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut blocks: Vec<(f64, f64)> = Vec::new();
        let judged = loop {
            let spent = 5.0 * blocks.len() as f64;
            let whole = noise.of(&mut random, spent);
            blocks.push((noise.of(&mut random, spent) / ratio, whole));
            let judged = judge(&blocks).expect("blocks");
            let is_decided = matches!(judged.loss, Loss::Loses | Loss::DoesNotLose);
            if is_decided || blocks.len() == 14 {
                break judged;
            }
        };
        let [low, high] = judged.ratio.interval.expect("there were looks");
        loses += f64::from(u8::from(judged.loss == Loss::Loses));
        covered += f64::from(u8::from((low..=high).contains(&ratio)));
    }
    (loses / runs as f64, covered / runs as f64)
}

#[test]
fn a_loss_is_not_made_up_is_not_missed_and_its_interval_holds() {
    for noise in FAMILY {
        let (alarms, covered) = characteristics(2000, noise, 1.0);
        assert!(alarms <= 0.01, "{noise:?}: {alarms} false alarms");
        assert!(covered >= 0.93, "{noise:?}: {covered} at no loss");
        let (_, covered) = characteristics(2000, noise, 1.0 / 0.9);
        assert!(covered >= 0.93, "{noise:?}: {covered} at a loss of 10 %");
    }
    let (power, _) = characteristics(2000, Noise::Normal(0.02), 1.0 / 0.9);
    assert!(power >= 0.95, "{power}");
}

#[test]
fn checks_of_stands_that_are_well_find_nothing() {
    for noise in FAMILY {
        let loses = count(60, &WELL, noise, |check| {
            check.loses() || !check.diagnosis.causes.is_empty()
        });
        assert!(loses <= 1, "{noise:?}: {loses} of 60");
    }
    let quick = check(&WELL, Noise::Normal(0.01), Mode::Quick, true, 1);
    assert!(
        quick.seconds <= 45.0 && quick.probes() == 0,
        "{}",
        quick.seconds
    );
    assert!(quick.diagnosis.complete, "{:?}", quick.diagnosis.headline);
}

#[test]
fn trials_that_take_longer_than_they_measure_do_not_make_a_check_late() {
    for trial in [2.0, 3.0, 4.5] {
        let path = Stand {
            path: 70.0,
            trial,
            ..WELL
        };
        for seed in 0..20 {
            let check = check(&path, Noise::Normal(0.05), Mode::Normal, true, seed);
            assert!(
                check.seconds <= 120.0,
                "{trial} s each: {} s",
                check.seconds
            );
            assert!(check.seconds > 60.0, "{} s", check.seconds);
        }
    }
}

#[test]
fn what_limits_a_stand_is_proven_by_what_takes_it_away() {
    let of = |stand: Stand| {
        move |wanted: &'static str, least: u64| {
            let right = count(20, &stand, Noise::Normal(0.02), |check| {
                assert!(check.seconds <= 121.0, "{}", check.seconds);
                check
                    .diagnosis
                    .causes
                    .first()
                    .is_some_and(|it| it.id == wanted)
            });
            assert!(right >= least, "{wanted}: {right} of 20");
        }
    };
    let slow_process = Stand {
        process: 60.0,
        ..WELL
    };
    of(slow_process)("server-processor", 18);
    of(Stand { disk: 50.0, ..WELL })("server-disk", 18);
    of(Stand {
        process: 100.0,
        signature: 2.0,
        ..WELL
    })("signing", 18);
    of(Stand { path: 70.0, ..WELL })("rate-limited", 18);
    let idle = Stand {
        second: 117.67,
        ..WELL
    };
    let right = count(20, &idle, Noise::Normal(0.02), |check| {
        let said = &check.diagnosis;
        said.headline.id == "headline.one-link-idle" && said.causes.is_empty()
    });
    assert!(right >= 18, "{right} of 20");
}

#[test]
fn nothing_is_proven_that_is_not_so() {
    // What each stand may be proven to have.
    let stands: [(Stand, &[&str]); 6] = [
        (WELL, &[]),
        (
            Stand {
                process: 60.0,
                ..WELL
            },
            &["server-processor"],
        ),
        (Stand { disk: 50.0, ..WELL }, &["server-disk"]),
        (Stand { path: 70.0, ..WELL }, &["rate-limited", "slow-link"]),
        (
            Stand {
                connection: 60.0,
                ..WELL
            },
            &[],
        ),
        // Two that hide each other: a slow process and a slow disk.
        (
            Stand {
                process: 60.0,
                disk: 61.0,
                ..WELL
            },
            &["server-processor", "server-disk"],
        ),
    ];
    for (index, (stand, allowed)) in stands.iter().enumerate() {
        for noise in FAMILY {
            for with_tcp in [true, false] {
                for seed in 0..6 {
                    let found = check(stand, noise, Mode::Normal, with_tcp, seed);
                    for cause in found.proven() {
                        assert!(allowed.contains(&cause), "{index} {noise:?}: {cause}");
                    }
                }
            }
        }
    }
}

/// What more streams do not overcome is a limit, and only its rate tells whether it is a line: one cause, not two.
#[test]
fn a_limit_at_the_rate_of_a_line_is_that_line_and_nothing_else() {
    for (path, wanted) in [(11.76, "slow-link"), (70.0, "rate-limited")] {
        let stand = Stand { path, ..WELL };
        let proven = count(20, &stand, Noise::Normal(0.01), |check| {
            check.proven() == [wanted]
        });
        assert!(proven >= 18, "{wanted}: {proven} of 20");
    }
}

#[test]
fn two_limits_that_hide_each_other_are_told_apart_by_all_reliefs() {
    let masked = Stand {
        process: 60.0,
        disk: 60.5,
        ..WELL
    };
    let found = check(&masked, Noise::Normal(0.01), Mode::Thorough, true, 3);
    let probed = |kind: ProbeKind| {
        found.trials.iter().any(
            |trial| matches!(trial.stage, Stage::Probe { changed: Some(of), .. } if of == kind),
        )
    };
    assert!(probed(ProbeKind::OneBlock) && probed(ProbeKind::Sessions));
    assert_eq!(
        found.diagnosis.first_loss.map(|it| it.0),
        Some(RungName::Share)
    );
}

#[test]
fn a_remedy_that_was_measured_comes_first_with_its_interval() {
    let signed = Stand {
        process: 100.0,
        signature: 2.0,
        ..WELL
    };
    let found = check(&signed, Noise::Normal(0.01), Mode::Normal, true, 5);
    let first = &found.diagnosis.causes[0];
    assert_eq!(
        (first.id.as_str(), first.state),
        ("signing", State::Proven(Proof::Relieved))
    );
    let gain = first
        .gain
        .as_ref()
        .and_then(|gain| gain.interval)
        .expect("it was measured");
    assert!(
        gain[0] <= 2.0 && gain[1] >= 2.0 && gain[0] > 1.8,
        "{gain:?}"
    );
    assert_eq!(found.diagnosis.fixes[0].id, "cheaper-signing");
    assert_eq!(found.diagnosis.fixes[0].predicted, first.gain);
}

#[test]
fn the_same_run_asks_for_the_same_block() {
    let first = check(
        &Stand { disk: 50.0, ..WELL },
        Noise::Normal(0.02),
        Mode::Normal,
        true,
        9,
    );
    let again = check(
        &Stand { disk: 50.0, ..WELL },
        Noise::Normal(0.02),
        Mode::Normal,
        true,
        9,
    );
    assert_eq!(first.trials, again.trials);
    // No probe touches a host: it has no settings, and differs from its control by its workload alone.
    assert!(first.trials.iter().all(|trial| trial.settings.is_empty()));
    assert!(first.probes() > 0);
}
