//! Runs made by hand: one for each thing a reader may meet.

use std::collections::BTreeMap;
use std::net::IpAddr;

use analysis::{
    Alone, ArmSamples, BenchSamples, Cause, Ceiling, ChannelUse, Diagnosis, Effect,
    ExperimentResult, Fix, HostChange, HostEffort, LadderRung, LimitedBy, Multichannel, NoiseFloor,
    RunAnalysis, RungName, SessionKind, TestFigures, Transfer, Trust, Untried,
};
use locale::{Argument, Message, say};
use record::{
    Arm, BitsPerSecond, Bytes, Decision, Demands, Direction, HostFacts, HostName, Identity,
    InterfaceAddress, KnobId, Level, LinkState, Nanoseconds, Nic, Offload, Phase, Plan, Question,
    Recipe, RecipeTest, Route, Rung, Setting, ShareAddress, ShareWorkload, SmbSession, System,
    Target, TcpFacts, TcpWorkload, Timing, Value, Workload,
};
use stats::{Estimate, Unit, Verdict};

pub(crate) const CLIENT: &str = "lab://demo/client";
pub(crate) const SERVER: &str = "lab://demo/server";

/// Every fixture by name.
pub(crate) fn all() -> Vec<(&'static str, RunAnalysis)> {
    vec![
        ("check-healthy", check_healthy()),
        ("check-one-link-of-two", check_one_link_of_two()),
        ("check-share-slow", check_share_slow()),
        ("check-no-server-host", check_no_server_host()),
        ("check-two-channels", check_two_channels()),
        ("check-nothing-measured", check_nothing_measured()),
        ("check-hostile", check_hostile()),
        ("tune-demo", tune_demo()),
        ("tune-keeps-knobs", tune_keeps_knobs()),
        ("tune-alarm", tune_alarm()),
        ("tune-unsteady", tune_unsteady()),
        ("tune-undecided", tune_undecided()),
        ("tune-failed-trials", tune_failed_trials()),
        ("tune-unfinished", tune_unfinished()),
        ("bench-share-and-tcp", bench()),
        ("bench-sweep", sweep()),
    ]
}

pub(crate) fn check_healthy() -> RunAnalysis {
    let mut run = check_one_link_of_two();
    run.diagnosis = Some(Diagnosis {
        headline: "the share gets 98 % of what its network can carry: nothing loses".into(),
        first_loss: None,
        complete: true,
        causes: vec![],
        ruled_out: Vec::new(),
        remarks: Vec::new(),
        notes: Vec::new(),
        small_files: Vec::new(),
        clients: Vec::new(),
        multichannel: Vec::new(),
        transfers: Vec::new(),
        request: None,
        fixes: vec![],
    });
    run
}

/// A session as the lab's Samba agrees to.
fn session(channels: usize) -> SessionKind {
    SessionKind {
        agreed: SmbSession {
            dialect: "3.1.1".into(),
            signing_algorithm: None,
            data_signed: false,
            encryption: None,
            identity: Identity::User,
            read_max: Bytes::new(8 << 20),
            write_max: Bytes::new(8 << 20),
            server_interfaces: vec![],
            rejected_channels: vec![],
            rejected_channel_messages: vec![],
            credits: None,
            credit_waits: None,
        },
        channels,
    }
}

pub(crate) fn check_one_link_of_two() -> RunAnalysis {
    let mut run = empty(Plan::Check { share: share() });
    run.sessions = vec![session(1)];
    run.ladder = vec![
        rung(RungName::Ceiling, Direction::Read, 117.67, None, 1.0),
        rung(
            RungName::Tcp,
            Direction::Read,
            117.6,
            Some([117.5, 117.7]),
            0.9994,
        ),
        rung(
            RungName::Share,
            Direction::Read,
            116.1,
            Some([115.8, 116.3]),
            0.9866,
        ),
        rung(RungName::Ceiling, Direction::Write, 117.67, None, 1.0),
        rung(
            RungName::Tcp,
            Direction::Write,
            117.6,
            Some([117.4, 117.7]),
            0.9994,
        ),
        rung(
            RungName::Share,
            Direction::Write,
            115.2,
            Some([114.1, 115.9]),
            0.979,
        ),
    ];
    run.ceilings = [Direction::Read, Direction::Write]
        .map(|way| (way, ceiling()))
        .to_vec();
    run.diagnosis = Some(Diagnosis {
        headline:
            "the share fills the one 1 Gbit/s link it uses (99 % read, 98 % write); a second \
                   link of the same speed stands idle"
                .into(),
        first_loss: None,
        complete: true,
        causes: vec![
            Cause::seen(
                "one-link-of-two",
                "one of two usable links carries everything: the share is used through one \
                       channel, on `a0`",
                Trust::Measured,
            ),
            Cause::seen(
                "small-frames",
                "frames of MTU 1500 spend 5 % of the line rate on headers",
                Trust::Computed,
            ),
        ],
        ruled_out: Vec::new(),
        remarks: Vec::new(),
        notes: Vec::new(),
        small_files: Vec::new(),
        clients: Vec::new(),
        multichannel: Vec::new(),
        transfers: Vec::new(),
        request: None,
        fixes: vec![
            fix(
                [
                    "channels-2",
                    "use both links by multichannel",
                    "nothing; new sessions only",
                ],
                both_links(),
                ratio(2.0, Some([1.9, 2.0]), 0),
            ),
            fix(
                [
                    "mtu-9000",
                    "MTU 9000 on all four NICs of both links",
                    "both links for about a second; open connections survive",
                ],
                jumbo(),
                ratio(1.052, None, 0),
            ),
            Fix {
                blocked: Some("the server's settings cannot be written from here".into()),
                ..fix(
                    [
                        "smb-aio",
                        "answer small reads at once (`aio read size` 0)",
                        "sessions of other users",
                    ],
                    level("no asynchronous reads", vec![]),
                    ratio(1.01, None, 0),
                )
            },
        ],
    });
    run
}

fn fix([id, text, disturbs]: [&str; 3], level: Level, predicted: Estimate) -> Fix {
    Fix {
        id: id.into(),
        text: text.into(),
        level,
        predicted: Some(predicted),
        commands: Vec::new(),
        elsewhere: None,
        trust: Trust::Computed,
        disturbs: disturbs.into(),
        blocked: None,
    }
}

pub(crate) fn check_share_slow() -> RunAnalysis {
    let mut run = check_one_link_of_two();
    run.sessions[0].agreed.encryption = Some("AES-128-GCM".into());
    run.ladder[2] = rung(
        RungName::Share,
        Direction::Read,
        61.0,
        Some([55.3, 66.9]),
        0.518,
    );
    run.ladder[5] = rung(
        RungName::Share,
        Direction::Write,
        0.42,
        Some([0.1, 0.9]),
        0.0036,
    );
    run.ladder[2].rate.as_mut().expect("just made").caveats =
        vec!["repetition 3 stands apart: 41.2 MB/s".into()];
    run.diagnosis = Some(Diagnosis {
        headline: "the share reads at half of what TCP carries on the same link".into(),
        first_loss: Some((RungName::Share, Direction::Read)),
        complete: true,
        causes: vec![Cause::seen(
            "share-slower-than-tcp",
            "one request at a time: the server grants few credits",
            Trust::Measured,
        )],
        ruled_out: Vec::new(),
        remarks: Vec::new(),
        notes: Vec::new(),
        small_files: Vec::new(),
        clients: Vec::new(),
        multichannel: Vec::new(),
        transfers: Vec::new(),
        request: None,
        fixes: vec![],
    });
    run
}

pub(crate) fn check_no_server_host() -> RunAnalysis {
    let mut run = check_one_link_of_two();
    run.sessions[0].agreed.identity = Identity::Guest;
    run.facts.truncate(1);
    for rung in &mut run.ladder {
        if rung.rung == RungName::Tcp {
            rung.rate = None;
            rung.of_above = None;
            rung.of_ceiling = None;
            rung.not_measured = Some(
                "linerate may not run commands on `10.77.1.2`, so no iperf3 could be started \
                 there. hint: give `--server`"
                    .into(),
            );
        }
    }
    run.diagnosis = Some(Diagnosis {
        headline:
            "the share gets 98 % of the ceiling computed from this side; raw TCP is not known"
                .into(),
        first_loss: None,
        complete: false,
        causes: vec![],
        ruled_out: Vec::new(),
        remarks: Vec::new(),
        notes: Vec::new(),
        small_files: Vec::new(),
        clients: Vec::new(),
        multichannel: Vec::new(),
        transfers: Vec::new(),
        request: None,
        fixes: vec![],
    });
    run
}

/// Two channels, of which the second carried a tenth of what fits through its NICs.
pub(crate) fn check_two_channels() -> RunAnalysis {
    let mut run = check_one_link_of_two();
    let channel = |at: u8, megabytes: f64| ChannelUse {
        nic: Some(format!("a{}", at - 1)),
        address: IpAddr::from([10, 77, at, 2]),
        number: 1,
        rate: rate(1e6 * megabytes, Some([1e6 * megabytes; 2]), 2),
        share: ratio(megabytes / 128.7, None, 2),
        of_line: Some(ratio(megabytes / 117.67, None, 2)),
    };
    let diagnosis = run.diagnosis.as_mut().expect("it was measured");
    diagnosis.multichannel = vec![Multichannel {
        direction: Direction::Read,
        rate: rate(128.7e6, Some([128.6e6, 128.8e6]), 2),
        alone: Some(Alone {
            nic: Some("a0".into()),
            address: IpAddr::from([10, 77, 1, 2]),
            rate: rate(116.9e6, None, 6),
            gain: Estimate {
                confidence: Some(0.469),
                ..ratio(1.101, Some([1.1, 1.102]), 2)
            },
            verdict: Verdict::Equivalent,
        }),
        channels: vec![channel(1, 117.0), channel(2, 11.7)],
    }];
    diagnosis.transfers = vec![Transfer {
        rung: Rung::SmallFiles,
        direction: Direction::Write,
        congestion_control: vec!["cubic".into()],
        far_congestion_control: Some("bbr".into()),
        round_trip_nanoseconds: None,
        segment_bytes: None,
        window_bytes: None,
        path_bytes: None,
        retransmits: Some(0),
        limited_by: LimitedBy::Unknown,
        hosts: vec![HostEffort {
            host: SERVER.into(),
            fullest_processor: 0.75,
            softirq: 0.25,
            ..HostEffort::default()
        }],
    }];
    run
}

pub(crate) fn check_nothing_measured() -> RunAnalysis {
    let mut run = empty(Plan::Check { share: share() });
    run.facts.clear();
    run.finished = false;
    run.warnings = vec![say("run-warning.cut-line").count("line", 7_u64)];
    run
}

/// Names as an attacker, or an unlucky colleague, would choose them.
pub(crate) fn check_hostile() -> RunAnalysis {
    let mut run = check_one_link_of_two();
    let long = "x".repeat(300);
    run.sessions[0].agreed.dialect = "3\u{1b}[2J\n<b>9</b>".into();
    run.plan = Plan::Check {
        share: ShareAddress {
            server: "<script>alert(1)</script>\u{1b}[2J".into(),
            port: 4450,
            share: format!("da\"ta'{long}"),
            path: "\u{202e}gpj.exe\r\nverdict: all is well".into(),
        },
    };
    run.program = "linerate \u{1b}]0;owned\u{7}".into();
    run.started = "写".repeat(40);
    for host in &mut run.facts {
        host.name = HostName::new(format!("\u{9b}31m<img src=x onerror=alert(1)>{long}"));
        host.kernel = long.clone();
        for nic in &mut host.nics {
            nic.name = format!("\"><svg onload=alert(1)>\u{1b}[31m{long}");
            nic.driver = Some("</table></details><script src=//evil>".into());
        }
    }
    let diagnosis = run.diagnosis.as_mut().expect("has one");
    diagnosis.headline = format!("`{long}` </h1><script>alert(2)</script> \u{1b}[31mred").into();
    diagnosis.causes[0].text = format!("NIC `{long}`\u{1b}[1A is slow & \"idle\"").into();
    diagnosis.fixes[0].text = "写真".repeat(100).into();
    diagnosis.fixes[0].disturbs = long.clone().into();
    diagnosis.fixes[0].level.name = "<b>\u{7}".into();
    run.ladder[1].rate = Some(rate(f64::NAN, Some([f64::NEG_INFINITY, f64::INFINITY]), 5));
    run.ladder[1].of_ceiling = Some(ratio(f64::INFINITY, None, 5));
    run.ladder[4].rate = None;
    let reason = format!("`{long}` said \u{1b}[5mno\n\n# fake heading");
    run.ladder[4].not_measured = Some(reason.into());
    run.notes =
        vec!["javascript:alert(1) http://evil.example/x.png url(http://evil.example)".into()];
    run
}

pub(crate) fn tune_demo() -> RunAnalysis {
    let mut run = tune(vec![both_links(), jumbo()]);
    let channels = experiment("channels-2", &start(), &both_links(), [1.985, 1.962]);
    let mut on_top = experiment(
        "mtu-9000",
        &with(&start(), &both_links()),
        &jumbo(),
        [1.004, 0.998],
    );
    on_top
        .samples
        .retain(|samples| samples.phase == Phase::Compare);
    on_top.effects = vec![
        effect(
            Direction::Read,
            Phase::Compare,
            1.004,
            0.008,
            Verdict::Equivalent,
        ),
        effect(
            Direction::Write,
            Phase::Compare,
            0.998,
            0.009,
            Verdict::Equivalent,
        ),
    ];
    on_top.decision = Some((Decision::Returned, say("decided.no-difference")));
    run.experiments = vec![baseline(), channels, on_top];
    run.sessions = vec![session(1), session(2)];
    run
}

/// Nothing can be believed, so nothing was tried.
pub(crate) fn tune_alarm() -> RunAnalysis {
    let mut run = tune(vec![both_links(), jumbo()]);
    let mut noisy = baseline();
    noisy.noise[0].alarm = true;
    noisy.noise[0].ratio = ratio(1.06, Some([1.03, 1.09]), 8);
    run.experiments = vec![noisy];
    run.untried = [("channels-2", both_links()), ("mtu-9000", jumbo())]
        .map(|(experiment, level)| Untried {
            experiment: experiment.into(),
            level: Some(level),
            decision: Decision::Returned,
            reason: say("decided.baseline-differed").with(
                "effects",
                Argument::Series(vec![
                    say("decided-effect.ratio")
                        .with("direction", Direction::Read)
                        .with("ratio", "1.060")
                        .with("interval", "1.030, 1.090"),
                ]),
            ),
        })
        .to_vec();
    run
}

/// As `tune` says it: the effects, and how many blocks would settle it.
fn costs_something() -> Message {
    let effect = |direction: Direction, ratio: &str, interval: &str, verdict| {
        say("decided-effect.judged")
            .with("direction", direction)
            .with("ratio", ratio)
            .with("interval", interval)
            .with("verdict", say(verdict))
    };
    let effects = vec![
        effect(Direction::Read, "0.963", "0.933, 0.993", "verdict.worse"),
        effect(
            Direction::Write,
            "0.716",
            "0.416, 1.016",
            "verdict.undecided",
        ),
    ];
    let costs = say("decided.costs").with("effects", Argument::Series(effects));
    let blocks = say("decided.blocks-needed").count("blocks", 10_u64);
    say("decided.clauses").with("clauses", Argument::Clauses(vec![costs, blocks]))
}

/// A machine on which others work, as it really looks: caveats without end, reasons full of numbers, a
/// change that was kept, one that never came about and one that was so already.
pub(crate) fn tune_unsteady() -> RunAnalysis {
    let mut run = tune(vec![both_links(), jumbo(), level("GRO on", vec![])]);
    let mut noisy = baseline();
    for (noise, [low, high, smallest]) in noisy
        .noise
        .iter_mut()
        .zip([[0.28, 1.0, 1.58], [0.52, 1.3, 0.75]])
    {
        noise.ratio = ratio(0.99, Some([low, high]), 6);
        noise.smallest_detectable = Some(smallest);
        noise.ratio.caveats = vec!["block 6 (-72.0 %) stands apart and is kept".into()];
    }
    let mut channels = experiment("channels-2", &start(), &both_links(), [0.963, 0.716]);
    channels
        .samples
        .retain(|samples| samples.phase == Phase::Compare);
    for samples in &mut channels.samples {
        let share = match samples.response {
            Direction::Read => -34.8,
            Direction::Write => -21.4,
        };
        samples.median.caveats =
            vec![format!("trial 1 ({share} %) stands apart and is kept").into()];
    }
    channels.effects = vec![
        effect(Direction::Read, Phase::Compare, 0.963, 0.03, Verdict::Worse),
        effect(
            Direction::Write,
            Phase::Compare,
            0.716,
            0.3,
            Verdict::Undecided,
        ),
    ];
    channels.effects[1].blocks_to_settle = Some(10);
    channels.caveats = vec![
        "compare: 12 of 12 trials ran with fewer than the 2 channels that were to be tried: 1 of 2 \
         channels that were wanted came up"
            .into(),
    ];
    channels.decision = Some((Decision::Returned, costs_something()));
    let mut frames = experiment("mtu-9000", &start(), &jumbo(), [1.054, 1.049]);
    for samples in &mut frames.samples {
        samples.median.caveats =
            vec!["the values rise from trial to trial, by 4.5 % in all".into()];
    }
    for (effect, share) in frames.effects.iter_mut().zip([158.3, 75.2, 158.3, 75.2]) {
        effect.ratio.caveats =
            vec![format!(
            "it is smaller than what the noise lets so many blocks find reliably ({share} %)"
        )
        .into()];
    }
    frames.decision = Some((
        Decision::Kept,
        "compare: read 1.054 [1.045, 1.073] better, write 1.049 [1.035, 1.063] better; confirm: \
         read 1.054 [1.036, 1.085] better, write 1.049 [1.045, 1.054] better"
            .into(),
    ));
    run.experiments = vec![noisy, channels, frames];
    run.untried = vec![Untried {
        experiment: "gro-on".into(),
        level: Some(level("GRO on", vec![])),
        decision: Decision::Returned,
        reason: say("decided.so-already"),
    }];
    run.changes = vec![
        HostChange {
            id: "1-fbd0".into(),
            restored: Some(true),
        },
        HostChange {
            id: "2-77ab".into(),
            restored: None,
        },
    ];
    run.notes = vec!["the second link was down for 2 s".into()];
    run
}

/// A change of hosts is kept.
pub(crate) fn tune_keeps_knobs() -> RunAnalysis {
    let mut run = tune(vec![both_links(), jumbo()]);
    let channels = experiment("channels-2", &start(), &both_links(), [1.985, 1.962]);
    let on_top = experiment(
        "mtu-9000",
        &with(&start(), &both_links()),
        &jumbo(),
        [1.052, 1.049],
    );
    run.experiments = vec![baseline(), channels, on_top];
    run
}

pub(crate) fn tune_undecided() -> RunAnalysis {
    let mut run = tune(vec![jumbo()]);
    let mut one = experiment("mtu-9000", &start(), &jumbo(), [1.03, 0.9]);
    one.effects = vec![
        effect(
            Direction::Read,
            Phase::Compare,
            1.03,
            0.05,
            Verdict::Undecided,
        ),
        effect(Direction::Write, Phase::Compare, 0.9, 0.03, Verdict::Worse),
    ];
    one.samples
        .retain(|samples| samples.phase == Phase::Compare);
    one.effects[0].blocks_to_settle = Some(24);
    one.effects[0].ratio.caveats =
        vec!["drift: the last blocks are 4 % slower than the first".into()];
    one.decision = Some((
        Decision::Returned,
        "read cannot be told and write is worse".into(),
    ));
    run.experiments = vec![baseline(), one];
    run
}

pub(crate) fn tune_failed_trials() -> RunAnalysis {
    let mut run = tune(vec![jumbo()]);
    let mut one = experiment("mtu-9000", &start(), &jumbo(), [1.0, 1.0]);
    one.effects.clear();
    one.samples.truncate(1);
    one.samples[0].rates.truncate(1);
    one.samples[0].blocks.truncate(1);
    one.samples[0].median = rate(117e6, None, 1);
    one.decision = Some((
        Decision::Returned,
        "too many trials failed to compare anything".into(),
    ));
    one.failures = vec![
        "block 2, B: cannot write to `smb://10.77.1.2/data`: connection reset".into(),
        "block 3, B: nobody answers at `10.77.1.2:445`".into(),
    ];
    run.experiments = vec![one];
    run
}

pub(crate) fn tune_unfinished() -> RunAnalysis {
    let mut run = tune_demo();
    run.experiments.truncate(2);
    let one = &mut run.experiments[1];
    one.effects.truncate(1);
    one.samples
        .retain(|samples| samples.phase != Phase::Confirm);
    one.effects[0].phase = Phase::Compare;
    one.decision = None;
    one.caveats = vec!["phase compare was cut short after 5 of 8 blocks".into()];
    run.finished = false;
    run.warnings = vec![say("run-warning.cut-line").count("line", 93_u64)];
    run
}

pub(crate) fn bench() -> RunAnalysis {
    let mut run = empty(Plan::Bench {
        target: "smb://10.77.1.2/data".into(),
        recipe: None,
    });
    let workload = ShareWorkload {
        share: share(),
        direction: Direction::Read,
        channels: 2,
        block: Bytes::new(1 << 20),
        depth: 16,
        file_size: Bytes::new(1 << 30),
        demands: Demands::default(),
        operations: None,
        timing: timing(),
        sessions: 1,
        connections: 1,
        file: record::FileUse::default(),
        socket: record::SocketOptions::default(),
    };
    let mut signed = session(2);
    signed.agreed.signing_algorithm = Some("AES-128-GMAC".into());
    run.sessions = vec![signed];
    run.bench = vec![
        BenchSamples {
            unit: Unit::BytesPerSecond,
            test: None,
            workload: Workload::Share(workload.clone()),
            rates: vec![231.9e6, 232.4e6, 231.2e6, 232.0e6, 232.2e6],
            median: Some(rate(232.0e6, Some([231.2e6, 232.4e6]), 5)),
            cpu_per_byte: Some(Estimate {
                unit: Unit::SecondsPerByte,
                ..rate(0.214e-9, Some([0.2e-9, 0.23e-9]), 5)
            }),
            server_cpu_per_byte: Some(Estimate {
                unit: Unit::SecondsPerByte,
                ..rate(0.371e-9, Some([0.36e-9, 0.38e-9]), 5)
            }),
            retransmits: Some(3),
            exceeded: None,
            failures: vec![],
        },
        BenchSamples {
            unit: Unit::BytesPerSecond,
            test: None,
            workload: Workload::Share(ShareWorkload {
                direction: Direction::Write,
                ..workload
            }),
            rates: vec![],
            median: None,
            cpu_per_byte: None,
            server_cpu_per_byte: None,
            retransmits: None,
            exceeded: None,
            failures: vec!["repetition 0: the share is full".into()],
        },
        BenchSamples {
            unit: Unit::BytesPerSecond,
            test: None,
            workload: Workload::Tcp(TcpWorkload {
                server: "10.77.1.2".parse().expect("an address"),
                port: 5201,
                direction: Direction::Read,
                streams: 1,
                nic: Some("a0".into()),
                timing: timing(),
                socket: record::SocketOptions::default(),
            }),
            rates: vec![117.6e6, 117.5e6, 117.7e6],
            median: Some(rate(117.6e6, None, 3)),
            cpu_per_byte: None,
            server_cpu_per_byte: None,
            retransmits: Some(0),
            exceeded: None,
            failures: vec![],
        },
    ];
    run
}

/// Two sizes of a sweep, both ways.
pub(crate) fn sweep() -> RunAnalysis {
    let recipe = serde_json::json!({
        "title": "ATTO", "passes": 6, "figure": "best", "sweep": true,
        "test": [{ "name": "4 KiB", "block": 4096 }, { "name": "64 KiB", "block": 65536 }],
    });
    let recipe: Recipe = serde_json::from_value(recipe).expect("a recipe");
    let mut run = bench();
    let one = run.bench.swap_remove(0);
    let each = |(test, way, mbytes): (&RecipeTest, Direction, f64)| BenchSamples {
        test: Some(TestFigures {
            name: test.name.clone(),
            tool: recipe.title.clone(),
            figure: Some(mbytes * 1e6),
            figure_latency: None,
            operations_per_second: None,
            latency: None,
            cache: None,
            first_byte: None,
            playback: None,
        }),
        median: Some(rate(
            mbytes * 0.98e6,
            Some([mbytes * 0.96e6, mbytes * 1e6]),
            6,
        )),
        workload: match &one.workload {
            Workload::Share(share) => Workload::Share(ShareWorkload {
                direction: way,
                block: test.block,
                ..share.clone()
            }),
            other => other.clone(),
        },
        ..one.clone()
    };
    let [small, large] = &recipe.tests[..] else {
        unreachable!("there are two");
    };
    run.bench = [
        (small, Direction::Write, 20.0),
        (small, Direction::Read, 31.0),
        (large, Direction::Write, 104.0),
        (large, Direction::Read, 115.0),
    ]
    .map(each)
    .to_vec();
    run.plan = Plan::Bench {
        target: "smb://10.77.1.2/data".into(),
        recipe: Some(Box::new(recipe)),
    };
    run
}

fn tune(candidates: Vec<Level>) -> RunAnalysis {
    empty(Plan::Tune {
        share: share(),
        candidates,
        folder: None,
    })
}

pub(crate) fn empty(plan: Plan) -> RunAnalysis {
    RunAnalysis {
        plan,
        user: None,
        login_options: Vec::new(),
        program: "linerate 0.1.0".into(),
        seed: 20_261_121,
        started: "2026-11-21T09:00:00Z".into(),
        facts: vec![host(CLIENT, "a", 1), host(SERVER, "b", 2)],
        ceilings: vec![],
        ladder: vec![],
        bench: vec![],
        sessions: vec![],
        is_through_mounts: false,
        path: None,
        diagnosis: None,
        design: None,
        experiments: vec![],
        untried: vec![],
        changes: vec![],
        notes: vec![],
        finished: true,
        warnings: vec![],
    }
}

/// The baseline against itself, an experiment of its own.
fn baseline() -> ExperimentResult {
    let mut one = experiment("baseline", &start(), &start(), [1.0, 1.0]);
    one.noise = [Direction::Read, Direction::Write]
        .map(|response| NoiseFloor {
            response,
            ratio: ratio(1.001, Some([0.994, 1.007]), 8),
            smallest_detectable: Some(0.009),
            alarm: false,
        })
        .to_vec();
    one.effects.clear();
    one.samples
        .retain(|samples| samples.phase == Phase::Compare);
    for samples in &mut one.samples {
        samples.phase = Phase::SameAgainstSame;
    }
    one.decision = None;
    one
}

fn experiment(id: &str, a: &Level, change: &Level, ratios: [f64; 2]) -> ExperimentResult {
    let links = if a.name == start().name { 1.0 } else { 1.97 };
    let ways = [
        (Direction::Read, 117.1 * links, ratios[0]),
        (Direction::Write, 115.3 * links, ratios[1]),
    ];
    let mut samples = Vec::new();
    for (response, base, ratio) in ways {
        for phase in [Phase::Compare, Phase::Confirm] {
            for arm in [Arm::A, Arm::B] {
                let factor = if arm == Arm::B { ratio } else { 1.0 };
                samples.push(arm_samples(arm, response, phase, base * factor * 1e6));
            }
        }
    }
    ExperimentResult {
        experiment: id.into(),
        question: Question {
            a: a.clone(),
            b: with(a, change),
            responses: vec![Direction::Read, Direction::Write],
            band: 0.02,
            confidence: 0.95,
        },
        noise: vec![],
        effects: vec![
            effect(
                Direction::Read,
                Phase::Compare,
                ratios[0] * 0.998,
                0.012,
                Verdict::Better,
            ),
            effect(
                Direction::Write,
                Phase::Compare,
                ratios[1] * 1.002,
                0.015,
                Verdict::Better,
            ),
            effect(
                Direction::Read,
                Phase::Confirm,
                ratios[0],
                0.01,
                Verdict::Better,
            ),
            effect(
                Direction::Write,
                Phase::Confirm,
                ratios[1],
                0.014,
                Verdict::Better,
            ),
        ],
        samples,
        decision: Some((
            Decision::Kept,
            "read and write are better, and so again on fresh trials".into(),
        )),
        failures: vec![],
        caveats: vec![],
    }
}

/// Eight trials around a rate, with a scatter that is the same each time.
fn arm_samples(arm: Arm, response: Direction, phase: Phase, centre: f64) -> ArmSamples {
    let turn = usize::from(arm == Arm::B) * 3 + phase as usize * 5 + response as usize;
    let rates: Vec<f64> = (0..8)
        .map(|block| centre * (1.0 + 0.006 * ((block * 7 + turn) as f64 * 2.4).sin()))
        .collect();
    ArmSamples {
        arm,
        response,
        phase,
        rates,
        blocks: (0..8).collect(),
        median: rate(centre, Some([centre * 0.995, centre * 1.005]), 8),
        cpu_per_byte: None,
        server_cpu_per_byte: None,
        retransmits: Some(0),
        file_size: None,
    }
}

fn effect(response: Direction, phase: Phase, value: f64, half: f64, verdict: Verdict) -> Effect {
    Effect {
        response,
        phase,
        ratio: ratio(value, Some([value - half, value + half]), 8),
        verdict,
        blocks_to_settle: None,
        joint: false,
    }
}

fn rung(
    rung: RungName,
    direction: Direction,
    megabytes: f64,
    interval: Option<[f64; 2]>,
    of_ceiling: f64,
) -> LadderRung {
    let n = if rung == RungName::Ceiling { 0 } else { 5 };
    LadderRung {
        rung,
        direction,
        rate: Some(rate(
            megabytes * 1e6,
            interval.map(|ends| ends.map(|end| end * 1e6)),
            n,
        )),
        of_above: Some(ratio(of_ceiling, None, n)),
        ceiling: (rung != RungName::Ceiling).then(|| rate(megabytes * 1e6 / of_ceiling, None, 0)),
        of_ceiling: Some(ratio(of_ceiling, None, n)),
        loss: None,
        not_measured: None,
    }
}

fn rate(value: f64, interval: Option<[f64; 2]>, n: usize) -> Estimate {
    Estimate {
        value,
        interval,
        confidence: interval.map(|_| 0.957),
        n,
        unit: Unit::BytesPerSecond,
        caveats: vec![],
    }
}

fn ratio(value: f64, interval: Option<[f64; 2]>, n: usize) -> Estimate {
    Estimate {
        unit: Unit::Ratio,
        ..rate(value, interval, n)
    }
}

fn ceiling() -> Ceiling {
    Ceiling {
        rate: rate(117.67e6, None, 0),
        because: "`a0` to `b0` at 1 Gbit/s and MTU 1500: 1448 of every 1538 bytes on the wire are payload".into(),
    }
}

fn share() -> ShareAddress {
    ShareAddress {
        server: "10.77.1.2".into(),
        port: 445,
        share: "data".into(),
        path: String::new(),
    }
}

fn timing() -> Timing {
    let second = Nanoseconds::new(1_000_000_000);
    Timing {
        warm_up: second,
        measured: Nanoseconds::new(3_000_000_000),
        interval: second,
    }
}

fn level(name: &str, settings: Vec<Setting>) -> Level {
    Level {
        name: name.into(),
        settings,
    }
}

/// How it was before anything was tried.
fn start() -> Level {
    level("as it is", [vec![channels(1)], mtu(1500)].concat())
}

/// A level with a change on top, as `tune` names and merges them.
fn with(base: &Level, change: &Level) -> Level {
    if change.name == base.name {
        return base.clone();
    }
    let name = match base.name.as_str() {
        "as it is" => change.name.clone(),
        name => format!("{name} + {}", change.name),
    };
    let settings = base.settings.iter().map(|setting| {
        let same = change.settings.iter().find(|new| match (setting, new) {
            (Setting::Workload { .. }, Setting::Workload { .. }) => true,
            (Setting::Knob { target: a, .. }, Setting::Knob { target: b, .. }) => a == b,
            _ => false,
        });
        same.unwrap_or(setting).clone()
    });
    level(&name, settings.collect())
}

fn both_links() -> Level {
    level("both links by multichannel", vec![channels(2)])
}

fn channels(count: i64) -> Setting {
    Setting::Workload {
        field: "channels".into(),
        value: Value::Integer(count),
    }
}

fn jumbo() -> Level {
    level("MTU 9000", mtu(9000))
}

fn mtu(bytes: i64) -> Vec<Setting> {
    let nics = [
        (CLIENT, "a0"),
        (CLIENT, "a1"),
        (SERVER, "b0"),
        (SERVER, "b1"),
    ];
    let settings = nics.map(|(host, nic)| Setting::Knob {
        host: HostName::new(host),
        target: Target::Nic(nic.into()),
        id: KnobId::new("nic.mtu"),
        value: Value::Integer(bytes),
    });
    settings.to_vec()
}

fn host(name: &str, prefix: &str, last: u8) -> HostFacts {
    HostFacts {
        name: HostName::new(name),
        system: System::Linux,
        kernel: "6.18.0-lab".into(),
        machine: None,
        boot: None,
        cores: 2,
        memory: Some(Bytes::new(8 << 30)),
        nics: (0..2).map(|index| nic(prefix, index, last)).collect(),
        routes: vec![Route {
            destination: "10.77.1.0/24".into(),
            gateway: None,
            nic: format!("{prefix}0"),
            source: None,
            metric: None,
        }],
        tcp: TcpFacts {
            congestion_control: Some("cubic".into()),
            receive_buffer: Some([4096, 131_072, 6_291_456]),
            ..TcpFacts::default()
        },
    }
}

fn nic(prefix: &str, index: u32, last: u8) -> Nic {
    let offload = |name: &str, on| (name.to_owned(), Offload { on, fixed: false });
    Nic {
        name: format!("{prefix}{index}"),
        index: index + 2,
        mac: Some(format!("02:00:00:00:0{last}:0{index}")),
        mtu: 1500,
        mtu_max: Some(65_535),
        speed: Some(BitsPerSecond::new(10_000_000_000)),
        shaped: Some(BitsPerSecond::new(984_395_318)),
        state: LinkState::Up,
        driver: Some("veth".into()),
        kind: Some("veth".into()),
        medium: None,
        port_of: None,
        modes: None,
        addresses: vec![InterfaceAddress {
            address: format!("10.77.{}.{last}", index + 1)
                .parse()
                .expect("an address"),
            prefix: 24,
        }],
        offloads: BTreeMap::from([
            offload("tcp-segmentation-offload", true),
            offload("generic-segmentation-offload", true),
            offload("generic-receive-offload", false),
            offload("large-receive-offload", false),
            offload("rx-checksumming", true),
        ]),
        rx_queues: Some(1),
        tx_queues: Some(1),
    }
}

/// The story of the demo.
pub(crate) fn story<'a>(check: &'a RunAnalysis, tune: &'a RunAnalysis) -> Vec<report::Section<'a>> {
    let section = |heading: &str, text: &str, content| report::Section {
        heading: heading.into(),
        text: vec![text.into()],
        content,
    };
    let row = |nic: &str| {
        let cells = [nic, "`nic.mtu`", "1500", "1500", "as before"];
        cells.map(str::to_owned).to_vec()
    };
    let table = report::Content::Table {
        headers: ["target", "setting", "before", "after undo", ""]
            .map(str::to_owned)
            .to_vec(),
        rows: ["client a0", "client a1", "server b0", "server b1"]
            .map(row)
            .to_vec(),
    };
    vec![
        section(
            "check",
            "what limits the share as it is",
            report::Content::Run(check),
        ),
        section(
            "tune",
            "each change against the one before it, in a fair order",
            report::Content::Run(tune),
        ),
        section("undo", "everything reads as before the first change", table),
    ]
}
