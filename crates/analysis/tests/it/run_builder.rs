//! Builds runs as the demo's lab would write them.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use locale::{Argument, Message};
use record::{
    Arm, BitsPerSecond, Bytes, ConnectionUse, Data, Demands, Direction, Failure, FailureKind,
    FolderKind, FolderWorkload, Header, HostFacts, HostName, Identity, InterfaceAddress, Job,
    JobFile, JobWorkload, Level, LinkState, Medium, Nanoseconds, Nic, Operations, Outcome, Phase,
    Place, Plan, Question, RUN_FORMAT, RUN_VERSION, Record, Run, Rung, Sample, Schedule,
    ServerCache, ServerInterface, ShareAddress, ShareWorkload, SmbSession, Stage, System, Task,
    TaskWorkload, TcpFacts, TcpWorkload, Timing, TrialRecord, TrialResult, Workload,
};

pub(crate) const GIGABIT: u64 = 1_000_000_000;

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn share() -> ShareAddress {
    ShareAddress {
        server: "10.77.1.2".into(),
        port: 445,
        share: "media".into(),
        path: String::new(),
    }
}

/// A NIC of the lab: a veth with a shaper for the frames of 1 GbE at MTU 1500.
pub(crate) fn lab_nic(name: &str, index: u32, at: &str) -> Nic {
    Nic {
        name: name.into(),
        index,
        mac: None,
        mtu: 1500,
        mtu_max: Some(65_535),
        speed: Some(BitsPerSecond::new(10 * GIGABIT)),
        shaped: Some(BitsPerSecond::new(984_395_000)),
        state: LinkState::Up,
        driver: Some("veth".into()),
        kind: Some("veth".into()),
        medium: None,
        port_of: None,
        modes: None,
        addresses: vec![InterfaceAddress {
            address: address(at),
            prefix: 24,
        }],
        offloads: BTreeMap::new(),
        rx_queues: Some(1),
        tx_queues: Some(1),
    }
}

/// A NIC with a real line.
pub(crate) fn real_nic(name: &str, index: u32, at: &str) -> Nic {
    Nic {
        speed: Some(BitsPerSecond::new(GIGABIT)),
        shaped: None,
        driver: Some("igc".into()),
        kind: None,
        medium: Some(Medium::Cable),
        mtu_max: Some(9216),
        ..lab_nic(name, index, at)
    }
}

pub(crate) fn host(name: &str, nics: Vec<Nic>) -> HostFacts {
    HostFacts {
        name: HostName::new(name),
        system: System::Linux,
        kernel: "6.18".into(),
        machine: None,
        boot: None,
        cores: 2,
        memory: None,
        nics,
        routes: Vec::new(),
        tcp: TcpFacts::default(),
    }
}

/// Two hosts, two links back to back.
pub(crate) fn lab() -> Vec<HostFacts> {
    let near = vec![lab_nic("a0", 2, "10.77.1.1"), lab_nic("a1", 3, "10.77.2.1")];
    let far = vec![lab_nic("b0", 2, "10.77.1.2"), lab_nic("b1", 3, "10.77.2.2")];
    vec![
        host("lab://demo/client", near),
        host("lab://demo/server", far),
    ]
}

/// The session with the lab's Samba.
pub(crate) fn session() -> SmbSession {
    let entry = |at: &str| ServerInterface {
        address: address(at),
        index: u32::MAX,
        speed: BitsPerSecond::new(GIGABIT),
        rss: true,
    };
    SmbSession {
        dialect: "3.1.1".into(),
        signing_algorithm: Some("AES-128-GMAC".into()),
        data_signed: false,
        encryption: None,
        identity: Identity::User,
        read_max: Bytes::new(8 << 20),
        write_max: Bytes::new(8 << 20),
        server_interfaces: vec![entry("10.77.2.2"), entry("10.77.1.2")],
        rejected_channels: Vec::new(),
        rejected_channel_messages: Vec::new(),
        credits: None,
        credit_waits: None,
    }
}

fn timing() -> Timing {
    let second = Nanoseconds::new(1_000_000_000);
    Timing {
        warm_up: second,
        measured: second,
        interval: second,
    }
}

pub(crate) fn share_workload(direction: Direction) -> Workload {
    Workload::Share(ShareWorkload {
        share: share(),
        direction,
        channels: 1,
        block: Bytes::new(1 << 20),
        depth: 8,
        file_size: Bytes::new(1 << 30),
        demands: Demands::default(),
        operations: None,
        timing: timing(),
        sessions: 1,
        connections: 1,
        file: record::FileUse::default(),
        socket: record::SocketOptions::default(),
    })
}

fn job_workload(rung: Rung, direction: Direction) -> Workload {
    let bytes_max = Bytes::new(64 << 20);
    let file = JobFile::Named(".linerate-0.tmp".into());
    Workload::Job(JobWorkload {
        share: share(),
        direction,
        job: match rung {
            Rung::Disk => Job::ReadOnce {
                file,
                bytes_max,
                cache: ServerCache::Cold,
            },
            Rung::Copy => Job::Copy {
                file,
                bytes_max,
                folder: None,
                times: 3,
            },
            _ => Job::SmallFiles {
                count: 200,
                size: Bytes::new(4096),
            },
        },
        demands: Demands::default(),
        limit: Nanoseconds::new(1_000_000_000),
    })
}

pub(crate) fn tcp_workload(direction: Direction) -> Workload {
    Workload::Tcp(TcpWorkload {
        server: address("10.77.1.2"),
        port: 5201,
        direction,
        streams: 1,
        nic: None,
        timing: timing(),
        socket: record::SocketOptions::default(),
    })
}

/// One second at a rate in MB/s over the first link.
pub(crate) fn result(megabytes: f64) -> TrialResult {
    let bytes = Bytes::new((megabytes * 1e6) as u64);
    TrialResult {
        samples: vec![Sample {
            at: Nanoseconds::new(0),
            duration: Nanoseconds::new(1_000_000_000),
            bytes,
            cpu: Nanoseconds::new(50_000_000),
            retransmits: Some(1),
        }],
        connections: vec![ConnectionUse {
            local: SocketAddr::new(address("10.77.1.1"), 40_000),
            remote: SocketAddr::new(address("10.77.1.2"), 445),
            nic: Some("a0".into()),
            bytes,
            round_trip: None,
            retransmits: None,
            tcp: None,
            congestion_control: None,
            clock: None,
        }],
        far_retransmits: Some(0),
        ..TrialResult::default()
    }
}

pub(crate) fn failed(why: &str) -> Outcome {
    Outcome::Failed(Failure::new(FailureKind::Unreachable, why))
}

pub(crate) fn trial(stage: Stage, workload: Workload, outcome: Outcome) -> Record {
    Record::Trial(Box::new(TrialRecord {
        id: 0,
        stage,
        workload,
        settings: Vec::new(),
        started: Nanoseconds::new(0),
        ended: Nanoseconds::new(1_000_000_000),
        outcome,
        loads: Vec::new(),
    }))
}

fn folder_workload(direction: Direction) -> Workload {
    Workload::Folder(FolderWorkload {
        folder: "/mnt/media".into(),
        kind: FolderKind::Mount,
        second_mount: None,
        direction,
        block: Bytes::new(4 << 20),
        depth: 8,
        file_size: Bytes::new(32 << 20),
        operations: Operations::SEQUENTIAL,
        timing: timing(),
    })
}

/// One file of a mount, from begin to end.
fn streamed_workload(direction: Direction) -> Workload {
    Workload::Task(TaskWorkload {
        place: Place::Folder {
            folder: "/mnt/my media/films".to_owned(),
            kind: FolderKind::Mount,
        },
        second_mount: None,
        direction,
        channels: 1,
        task: Task::Stream(Bytes::new(117 << 20)),
        data: Data::Random,
        timing: timing(),
    })
}

/// Rates in MB/s of one rung, a trial for each.
pub(crate) fn rung(rung: Rung, direction: Direction, rates: &[f64]) -> Vec<Record> {
    let one = |(repetition, rate): (u32, &f64)| {
        let mut result = result(*rate);
        let workload = match rung {
            Rung::Tcp | Rung::Streams => tcp_workload(direction),
            Rung::Share | Rung::RoundTrip | Rung::Channels => {
                result.session = Some(session());
                share_workload(direction)
            }
            Rung::SystemClient => {
                // Its connections are not ours to see.
                result.connections.clear();
                folder_workload(direction)
            }
            Rung::SystemProgram | Rung::SystemCopy => {
                result.connections.clear();
                streamed_workload(direction)
            }
            Rung::Disk | Rung::Copy | Rung::SmallFiles => job_workload(rung, direction),
        };
        let stage = Stage::Ladder { rung, repetition };
        trial(stage, workload, Outcome::Measured(Box::new(result)))
    };
    (0..).zip(rates).map(one).collect()
}

pub(crate) fn failed_rung(rung: Rung, direction: Direction, why: &str) -> Record {
    let workload = match rung {
        Rung::Tcp | Rung::Streams => tcp_workload(direction),
        Rung::Share | Rung::RoundTrip | Rung::Channels => share_workload(direction),
        Rung::SystemClient => folder_workload(direction),
        Rung::SystemProgram | Rung::SystemCopy => streamed_workload(direction),
        Rung::Disk | Rung::Copy | Rung::SmallFiles => job_workload(rung, direction),
    };
    let stage = Stage::Ladder {
        rung,
        repetition: 0,
    };
    trial(stage, workload, failed(why))
}

/// As many trials of each rung as the first verdict takes: TCP and share, read and write, in MB/s.
pub(crate) fn ladder(rates: [f64; 4]) -> Vec<Record> {
    ladder_of(4, rates)
}

/// The same in so many rounds.
pub(crate) fn ladder_of(rounds: usize, rates: [f64; 4]) -> Vec<Record> {
    let [tcp_read, tcp_write, share_read, share_write] = rates.map(|rate| {
        // A tenth of a percent up and down.
        let rates = [rate, 1.001 * rate, 0.999 * rate, rate].into_iter();
        rates.cycle().take(rounds).collect::<Vec<f64>>()
    });
    [
        rung(Rung::Tcp, Direction::Read, &tcp_read),
        rung(Rung::Tcp, Direction::Write, &tcp_write),
        rung(Rung::Share, Direction::Read, &share_read),
        rung(Rung::Share, Direction::Write, &share_write),
    ]
    .concat()
}

pub(crate) fn run(facts: Vec<HostFacts>, records: Vec<Record>) -> Run {
    Run {
        header: Header {
            format: RUN_FORMAT.into(),
            version: RUN_VERSION,
            program: "linerate 0.1.0".into(),
            seed: 7,
            plan: Plan::Check { share: share() },
            user: None,
            login_options: Vec::new(),
            facts,
            started: "2026-11-21T09:00:00Z".parse().expect("a timestamp"),
        },
        records,
        warnings: Vec::new(),
    }
}

pub(crate) fn schedule(experiment: &str, phase: Phase, blocks: usize) -> Schedule {
    let level = |name: &str| Level {
        name: name.into(),
        settings: Vec::new(),
    };
    Schedule {
        experiment: experiment.into(),
        phase,
        question: Question {
            a: level("as it is"),
            b: level("changed"),
            responses: vec![Direction::Read],
            band: 0.02,
            confidence: 0.95,
        },
        blocks: vec![vec![Arm::A, Arm::B]; blocks],
        orders: Vec::new(),
        joint_error: None,
    }
}

/// The counted trial of an arm in a block of such a schedule.
pub(crate) fn arm_trial(schedule: &Schedule, block: u32, arm: Arm, outcome: Outcome) -> Record {
    let stage = Stage::Experiment {
        experiment: schedule.experiment.clone(),
        phase: schedule.phase,
        block,
        position: u32::from(arm == Arm::B),
        arm,
        discarded: false,
    };
    trial(stage, share_workload(Direction::Read), outcome)
}

/// A schedule and all its trials: A at 100 MB/s, B at 100 MB/s times each ratio.
pub(crate) fn phase_records(experiment: &str, phase: Phase, ratios: &[f64]) -> Vec<Record> {
    let schedule = schedule(experiment, phase, ratios.len());
    let mut records = vec![Record::Schedule(schedule.clone())];
    for (block, ratio) in (0..).zip(ratios) {
        for (arm, rate) in [(Arm::A, 100.0), (Arm::B, 100.0 * ratio)] {
            let outcome = Outcome::Measured(Box::new(result(rate)));
            records.push(arm_trial(&schedule, block, arm, outcome));
        }
    }
    records
}

/// Which messages these are.
pub(crate) fn message_ids(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.id).collect()
}

/// A message as `id name=value name=value`, for what its arguments are.
pub(crate) fn flat(message: &Message) -> String {
    let mut text = message.id.to_owned();
    for (name, argument) in &message.arguments {
        let value = match argument {
            Argument::Text(text) => text.clone(),
            Argument::Names(names) => names.join(","),
            Argument::List(things) => format!("{things:?}"),
            Argument::Message(message) => format!("({})", flat(message)),
            Argument::Series(messages) | Argument::Clauses(messages) => {
                let messages: Vec<String> = messages.iter().map(flat).collect();
                format!("({})", messages.join(","))
            }
            Argument::Bits(count) | Argument::Bytes(count) | Argument::Count(count) => {
                count.to_string()
            }
            Argument::Rate(number)
            | Argument::Share(number)
            | Argument::Ratio(number)
            | Argument::Seconds(number) => format!("{number:.3}"),
        };
        text += &format!(" {name}={value}");
    }
    text
}
