//! How long a design takes, and what is known of it while it runs.

use std::net::{IpAddr, Ipv4Addr};

use experiment::{Combination, combine, order};
use locale::Language;
use record::{
    Bytes, CopyTask, Data, Demands, Design, Direction, Factor, HostName, KnobId, Level,
    Nanoseconds, Operations, Outcome, Place, Response, Sample, Setting, ShareAddress,
    ShareWorkload, Stage, StopRule, Task, TaskWorkload, TcpWorkload, Timing, TrialRecord,
    TrialResult, Value, Workload,
};

use super::dry_run::seconds;

const SECOND: Nanoseconds = Nanoseconds::new(1_000_000_000);
const TIMING: Timing = Timing {
    warm_up: SECOND,
    measured: Nanoseconds::new(4 * SECOND.get()),
    interval: SECOND,
};

fn address() -> ShareAddress {
    ShareAddress {
        server: "nas".into(),
        port: 445,
        share: "media".into(),
        path: String::new(),
    }
}

/// A trial with a test file of a gigabyte.
fn big_file() -> Workload {
    Workload::Share(ShareWorkload {
        share: address(),
        direction: Direction::Read,
        channels: 1,
        block: Bytes::new(1 << 20),
        depth: 8,
        file_size: Bytes::new(1_000_000_000),
        demands: Demands::default(),
        operations: Some(Operations {
            pattern: record::Pattern::Sequential,
            threads: 1,
            opposite_percent: 0,
            data: Data::default(),
            cache: record::Cache::Direct,
            write_through: false,
            file: None,
        }),
        timing: TIMING,
        sessions: 1,
        connections: 1,
        file: record::FileUse::default(),
        socket: record::SocketOptions::default(),
    })
}

/// A trial that copies as much.
fn copy() -> Workload {
    Workload::Task(TaskWorkload {
        place: Place::Share {
            share: address(),
            demands: Demands::default(),
        },
        second_mount: None,
        direction: Direction::Read,
        channels: 1,
        task: Task::Copy(CopyTask {
            files: 1000,
            folders: 10,
            size: Bytes::new(1_000_000),
            size_max: None,
            spread: record::Spread::default(),
            by: record::CopyProgram::default(),
        }),
        data: Data::default(),
        timing: TIMING,
    })
}

fn tcp() -> Workload {
    Workload::Tcp(TcpWorkload {
        server: IpAddr::V4(Ipv4Addr::LOCALHOST),
        port: 1,
        direction: Direction::Read,
        streams: 1,
        nic: None,
        timing: TIMING,
        socket: record::SocketOptions::default(),
    })
}

fn design(kind: Combination, names: &[&str], workload: Workload, blocks: usize) -> Design {
    let level = |name: &str, value: i64| Level {
        name: value.to_string(),
        settings: vec![Setting::Knob {
            host: HostName::new("local"),
            target: record::Target::Nic("lan1".into()),
            id: KnobId::new(format!("nic.{name}")),
            value: Value::Integer(value),
        }],
    };
    let factor = |name: &&str| Factor {
        name: (*name).into(),
        levels: vec![level(name, 0), level(name, 1)],
    };
    let named: Vec<(&str, usize)> = names.iter().map(|name| (*name, 2)).collect();
    let found = combine(&named, kind).unwrap();
    Design {
        name: "design".into(),
        title: "some".into(),
        form: Language::English.say(&found.form),
        factors: names.iter().map(factor).collect(),
        aliases: found.aliases,
        left_out: Vec::new(),
        messages: Vec::new(),
        responses: vec![Response {
            name: "rate".into(),
            workload,
        }],
        blocks: order(&found.arms, &[], blocks, 7),
        arms: found.arms,
        baseline_replicate: None,
        whole_plots: Vec::new(),
        stop: StopRule {
            budget_seconds: None,
            width: None,
        },
        band: 0.02,
        published: None,
        figures: Vec::new(),
    }
}

#[test]
fn a_dry_run_counts_the_files_that_are_made_and_what_washes_out() {
    let takes = |workload: Workload| {
        let design = design(Combination::Full, &["mtu"], workload, 1);
        seconds(&design).round() as u64
    };
    // Two visits, each of a link that was reset: one trial washes out, a quarter as long where it
    // is timed, and one counts. Process, session and switch are about 1.4 s.
    assert_eq!(takes(tcp()), 2 * (1 + 1 + 1 + 4) + 1);
    assert_eq!(takes(big_file()), 2 * (10 + 1 + 1 + 10 + 1 + 4) + 1);
    // 10 s until the files are there, 10 s for their copy, 1 s for their names.
    assert_eq!(takes(copy()), 2 * 2 * (1 + 10 + 10 + 1) + 1);
    let mut short = design(Combination::Full, &["mtu"], tcp(), 9);
    short.stop.budget_seconds = Some(20);
    assert_eq!(seconds(&short).round() as u64, 20, "the budget ends it");
}

#[test]
fn what_is_known_of_a_fraction_is_told_while_it_runs() {
    let design = design(Combination::Fraction, &["a", "b", "c", "d"], tcp(), 3);
    // `b` is worth 20 MB/s, the others nothing; single trials differ a little.
    let trial = |block: u32, (position, arm): (u32, &u32)| {
        let high = design.arms[*arm as usize][1];
        let noise = (block * 7 + position * 3) % 5;
        let result = TrialResult {
            samples: vec![Sample {
                at: Nanoseconds::new(0),
                duration: SECOND,
                bytes: Bytes::new(100_000_000 + u64::from(high * 20_000_000 + noise * 10_000)),
                cpu: Nanoseconds::new(1),
                retransmits: None,
            }],
            ..TrialResult::default()
        };
        TrialRecord {
            id: 0,
            stage: Stage::Visit {
                block,
                position,
                arm: *arm,
                response: "rate".into(),
                discarded: false,
            },
            workload: tcp(),
            settings: Vec::new(),
            started: SECOND,
            ended: SECOND,
            outcome: Outcome::Measured(Box::new(result)),
            loads: Vec::new(),
        }
    };
    let rows = (0..).zip(&design.blocks);
    let trials = rows.flat_map(|(block, row)| (0..).zip(row).map(move |one| trial(block, one)));
    let known = fit::design(&design, &trials.collect::<Vec<_>>());
    let said = report::factorial_experiment::so_far(&known);
    assert!(said.contains("rate b 1: +20.0 %, +20.0 MB/s [+"), "{said}");
    assert_eq!(said.split("; ").count(), 4, "{said}");
    let nothing = report::factorial_experiment::so_far(&fit::design(&design, &[]));
    assert_eq!(nothing, "nothing is known yet");
}
