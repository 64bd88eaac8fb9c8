//! Trials between the hosts of a lab: links with a line rate, a real iperf3, a real Samba.

use std::fs;
use std::io::BufRead;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use host::exec::{Command, Exec};
use lab::{Lab, Launcher, Topology};
use measure::{Executor, FarServer, Runner, Setup, Stop};
use record::{
    Bytes, Cache, Cipher, CongestionControl, Credentials, Data, Demands, Direction, Enforced,
    EngineClock, Failure, FailureKind, FileUse, HostLoad, HostName, Identity, Job, JobFile,
    JobWorkload, Operations, Outcome, Pattern, Place, Rung, Sandbox, Secret, ServerCache,
    ShareAddress, ShareWorkload, Signing, SigningAlgorithm, SocketOptions, Stage, Task,
    TaskWorkload, TrialInput, TrialLine, TrialResult, Workload,
};

use crate::{assert_samples, program, tcp_workload, timing};

/// Two hosts, two 1 GbE links back to back, and a share in memory.
const TOPOLOGY: &str = r#"
[[host]]
name = "client"
[[host]]
name = "server"
[[link]]
from = { host = "client", nic = "lan1", address = "10.77.1.1/24" }
to = { host = "server", nic = "lan1", address = "10.77.1.2/24" }
rate = "1Gbit"
mtu = 1500
[[link]]
from = { host = "client", nic = "lan2", address = "10.77.2.1/24" }
to = { host = "server", nic = "lan2", address = "10.77.2.2/24" }
rate = "1Gbit"
mtu = 1500
[samba]
host = "server"
multichannel = true
[[samba.share]]
name = "media"
medium = "memory"
size = "256MiB"
"#;
const SERVER: &str = "10.77.1.2";
/// Payload of TCP through 1 GbE at MTU 1500: 1448 bytes of each 1538 on the wire.
const CEILING_BYTES_PER_SECOND: f64 = 125e6 * 1448.0 / 1538.0;
const MIB: u64 = 1 << 20;

/// A lab that is ended with its test.
struct Far {
    lab: Lab,
}

impl Drop for Far {
    fn drop(&mut self) {
        lab::down(self.lab.name()).ok();
    }
}

impl Far {
    fn new(name: &str) -> Self {
        Self::of(name, TOPOLOGY)
    }

    fn of(name: &str, topology: &str) -> Self {
        let topology = Topology::parse(topology).unwrap();
        let launcher = Launcher::new([program(), "supervise".to_owned()]);
        // What an earlier run of the tests may have left when it was killed.
        lab::down(name).ok();
        Self {
            lab: lab::up(name, &topology, &launcher).unwrap(),
        }
    }

    fn runner(&self) -> Runner {
        Runner::new(
            Arc::new(self.lab.namespace("client").unwrap().clone()),
            program(),
        )
    }

    fn server(&self) -> &dyn Exec {
        self.lab.namespace("server").unwrap()
    }

    fn credentials(&self) -> Credentials {
        let text = fs::read_to_string(self.lab.credentials()).unwrap();
        let value = |key: &str| {
            let mut pairs = text.lines().filter_map(|line| line.split_once('='));
            pairs.find(|(name, _)| *name == key).unwrap().1.to_owned()
        };
        let (user, password) = (value("username"), Secret::new(value("password")));
        Credentials {
            identity: Identity::User,
            user,
            domain: String::new(),
            password,
            mechanism: record::Mechanism::Automatic,
        }
    }

    fn run(&self, workload: ShareWorkload) -> Result<TrialResult, Failure> {
        self.run_as(workload, self.credentials())
    }

    fn run_as(
        &self,
        workload: ShareWorkload,
        credentials: Credentials,
    ) -> Result<TrialResult, Failure> {
        let input = TrialInput {
            workload: Workload::Share(workload),
            credentials: Some(credentials),
        };
        self.runner().run(&input, &Stop::new(), &mut |_| {})
    }

    fn run_job(&self, job: Job, limit: Duration) -> Result<TrialResult, Failure> {
        let input = TrialInput {
            workload: Workload::Job(JobWorkload {
                share: share(Direction::Read, 1).share,
                direction: Direction::Read,
                job,
                demands: Demands::default(),
                limit: limit.into(),
            }),
            credentials: Some(self.credentials()),
        };
        self.runner().run(&input, &Stop::new(), &mut |_| {})
    }

    fn on_the_server(&self, script: &str) -> String {
        let command = Command::new(["sh", "-c", script]);
        let output = self.server().run(&[command]).unwrap().remove(0);
        assert_eq!(output.status, 0, "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Test files that lie on the server, whose shares are all below this folder.
    fn left_on_the_share(&self) -> String {
        self.on_the_server("find /run/linerate -name '.linerate-*'")
    }
}

fn share(direction: Direction, channels: u32) -> ShareWorkload {
    let share = ShareAddress {
        server: SERVER.to_owned(),
        port: 445,
        share: "media".to_owned(),
        path: String::new(),
    };
    ShareWorkload {
        share,
        direction,
        channels,
        block: Bytes::new(MIB),
        depth: 8,
        file_size: Bytes::new(64 * MIB),
        demands: Demands::default(),
        operations: None,
        timing: timing(300, 1000, 250),
        sessions: 1,
        connections: 1,
        file: record::FileUse::default(),
        socket: record::SocketOptions::default(),
    }
}

fn of_ceiling(result: &TrialResult) -> f64 {
    result.bytes_per_second().unwrap() / CEILING_BYTES_PER_SECOND
}

/// The same of the best part of the trial: a machine whose host is busy stands still for the others.
fn of_ceiling_at_best(result: &TrialResult) -> f64 {
    let rates = result.samples.iter().map(|one| {
        let seconds = one.duration.get() as f64 / 1e9;
        one.bytes.get() as f64 / seconds
    });
    rates.fold(0.0, f64::max) / CEILING_BYTES_PER_SECOND
}

#[test]
fn raw_tcp_fills_a_link_to_its_ceiling() {
    let far = Far::new("measure-tcp");
    for direction in [Direction::Read, Direction::Write] {
        let server = FarServer::start(far.server()).unwrap();
        let mut workload = tcp_workload(SERVER.parse().unwrap(), server.port(), direction, 1);
        workload.nic = Some("lan1".to_owned());
        workload.timing = timing(500, 1500, 250);
        let input = TrialInput {
            workload: Workload::Tcp(workload),
            credentials: None,
        };
        let result = far.runner().run(&input, &Stop::new(), &mut |_| {}).unwrap();
        let (ratio, best) = (of_ceiling(&result), of_ceiling_at_best(&result));
        // More than fits through would be a fault of our counting; less may be the fault of a machine
        // that is busy with other tests.
        assert!(
            ratio < 1.005 && best >= 0.9,
            "{direction:?} {ratio} {best} {result:?}"
        );
        assert_eq!(result.connections[0].nic.as_deref(), Some("lan1"));
    }
}

#[test]
fn a_share_is_read_and_written_over_one_channel_and_two() {
    let far = Far::new("measure-share");
    for (direction, channels) in [
        (Direction::Read, 1),
        (Direction::Write, 1),
        (Direction::Read, 2),
        (Direction::Write, 2),
    ] {
        let result = far.run(share(direction, channels)).unwrap();
        let text = format!("{direction:?} {channels}: {result:?}");
        assert_samples(&result, &timing(300, 1000, 250), &text);
        assert_eq!(result.connections.len(), channels as usize, "{text}");
        let links = f64::from(channels);
        let ratio = of_ceiling(&result) / links;
        let best = of_ceiling_at_best(&result) / links;
        // A second begins and ends in the middle of a request, which is counted when it is answered.
        let most = 1.005 + MIB as f64 / CEILING_BYTES_PER_SECOND;
        assert!(ratio < most && best >= 0.85, "{ratio} {best} {text}");
        let by_connection: u64 = result.connections.iter().map(|one| one.bytes.get()).sum();
        assert_eq!(by_connection, result.bytes().get(), "{text}");
        let mut used = result.connections.iter();
        assert!(used.all(|one| one.congestion_control.is_some()), "{text}");
        assert!(
            result.first_byte.unwrap() < Duration::from_secs(5).into(),
            "{text}"
        );
        let mut nics: Vec<_> = result
            .connections
            .iter()
            .map(|one| one.nic.clone())
            .collect();
        nics.sort();
        let wanted = [Some("lan1".to_owned()), Some("lan2".to_owned())];
        assert_eq!(nics, wanted[..channels as usize], "{text}");
        let session = result.session.unwrap();
        assert_eq!(session.dialect, "3.1.1");
        assert_eq!(session.identity, Identity::User);
        assert!(session.encryption.is_none() && session.signing_algorithm.is_none());
        assert!(session.read_max.get() >= MIB && session.write_max.get() >= MIB);
        assert!(session.server_interfaces.len() >= 2, "{session:?}");
        assert_eq!(far.left_on_the_share(), "");
    }
}

#[test]
fn channels_that_cannot_be_had_are_named_and_the_trial_runs() {
    let far = Far::new("measure-fewer");
    let mut workload = share(Direction::Read, 8);
    workload.timing = timing(100, 200, 100);
    let result = far.run(workload).unwrap();
    assert!(result.connections.len() < 8, "{result:?}");
    let rejected = result.session.unwrap().rejected_channels;
    let last = format!(
        "{} of 8 channels that were wanted came up",
        result.connections.len()
    );
    assert_eq!(rejected.last(), Some(&last), "{rejected:?}");
}

/// Written as it is measured, the file would take 16384 round trips of 10 ms: nearly three minutes.
#[test]
fn a_file_for_short_requests_is_soon_written_over_a_long_way() {
    let topology = TOPOLOGY.replace("rate =", "delay_ms = 5.0\nrate =");
    let far = Far::of("measure-short", &topology);
    let through = Operations {
        pattern: Pattern::Random,
        threads: 1,
        opposite_percent: 0,
        data: Data::Random,
        cache: Cache::Direct,
        write_through: true,
        file: None,
    };
    for (direction, operations) in [(Direction::Read, None), (Direction::Write, Some(through))] {
        let workload = ShareWorkload {
            block: Bytes::new(4096),
            depth: 1,
            operations,
            ..share(direction, 1)
        };
        let begun = Instant::now();
        let result = far.run(workload).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(15), "{result:?}");
        let requests = result.bytes().get() / 4096;
        assert!((1..=120).contains(&requests), "{result:?}");
        assert_eq!(far.left_on_the_share(), "");
    }
}

#[test]
fn connections_of_a_session_share_its_addresses_and_its_work() {
    let far = Far::new("measure-several");
    for sessions in [1, 2] {
        let workload = ShareWorkload {
            sessions,
            connections: 2,
            ..share(Direction::Read, 1)
        };
        let result = far.run(workload).unwrap();
        let connections = &result.connections;
        assert_eq!(connections.len(), 2 * sessions as usize, "{result:?}");
        let ends = |of: &record::ConnectionUse| (of.local.ip(), of.remote.ip());
        let first = ends(&connections[0]);
        assert!(connections.iter().all(|it| ends(it) == first), "{result:?}");
        assert!(
            connections.iter().all(|it| it.bytes.get() > 0),
            "{result:?}"
        );
        let session = result.session.expect("it was up");
        assert_eq!(session.rejected_channels, Vec::<String>::new());
    }
}

#[test]
fn nothing_is_left_on_the_share_after_a_trial_was_killed() {
    let far = Far::new("measure-kill");
    let client = far.lab.namespace("client").unwrap();
    let mut workload = share(Direction::Write, 2);
    workload.sessions = 2;
    workload.timing = timing(100, 60_000, 100);
    let input = TrialInput {
        workload: Workload::Share(workload),
        credentials: Some(far.credentials()),
    };
    let mut line = serde_json::to_vec(&input).unwrap();
    line.push(b'\n');
    let command = Command::new([program(), "trial".to_owned()]).with_stdin(line);
    let mut process = client.spawn(&command).unwrap();
    let mut first = String::new();
    process
        .take_stdout()
        .unwrap()
        .read_line(&mut first)
        .unwrap();
    let first: TrialLine = serde_json::from_str(&first).unwrap();
    assert!(matches!(first, TrialLine::Sample(_)), "{first:?}");
    assert_ne!(
        far.left_on_the_share(),
        "",
        "it is there while it is written"
    );
    process.kill();
    drop(process);
    let deadline = Instant::now() + Duration::from_secs(10);
    while !far.left_on_the_share().is_empty() {
        assert!(Instant::now() < deadline, "the server did not remove it");
    }
}

#[test]
fn a_recycle_bin_gets_nothing_of_what_was_written() {
    let topology = format!("{TOPOLOGY}[samba.global]\n\"vfs objects\" = \"recycle\"\n");
    let far = Far::of("measure-recycle", &topology);
    for direction in [Direction::Read, Direction::Write] {
        let short = ShareWorkload {
            timing: timing(100, 200, 100),
            ..share(direction, 1)
        };
        far.run(short).unwrap();
    }
    let files = Job::SmallFiles {
        count: 14,
        size: Bytes::new(64 << 10),
    };
    far.run_job(files, Duration::from_secs(10)).unwrap();
    let sizes =
        far.on_the_server("find /run/linerate/shares/media/.recycle -type f -printf '%s\\n'");
    let sizes: Vec<u64> = sizes.lines().map(|size| size.parse().unwrap()).collect();
    assert!(sizes.len() >= 2 + 14, "the bin is in use: {sizes:?}");
    assert!(sizes.iter().sum::<u64>() < 256 << 10, "{sizes:?}");
}

#[test]
fn what_is_slow_is_measured_by_what_there_was_time_for() {
    let far = Far::new("measure-slow");
    far.on_the_server("head -c 40000000 /dev/zero >/run/linerate/shares/media/film");
    let folder = tempfile::tempdir().unwrap();
    let (file, bytes_max) = (JobFile::Named("film".to_owned()), Bytes::new(32 * MIB));
    let jobs = [
        Job::ReadOnce {
            file: file.clone(),
            bytes_max,
            cache: ServerCache::Unknown,
        },
        Job::Copy {
            file,
            bytes_max,
            folder: Some(folder.path().display().to_string()),
            times: 3,
        },
    ];
    for job in jobs {
        // As soon as something has come there is no time for more.
        let result = far.run_job(job.clone(), Duration::from_nanos(1)).unwrap();
        assert_eq!(result.samples.len(), 1, "{job:?} {result:?}");
        assert!(result.bytes().get() >= MIB, "{job:?} {result:?}");
    }
}

#[test]
fn failures_say_whose_turn_it_is_and_what_to_do() {
    let far = Far::new("measure-errors");
    let workload = || share(Direction::Write, 1);
    let with = |change: &dyn Fn(&mut ShareAddress)| {
        let mut workload = workload();
        change(&mut workload.share);
        far.run(workload).unwrap_err()
    };
    let mut wrong = far.credentials();
    wrong.password = Secret::new("not the password".to_owned());
    let huge = ShareWorkload {
        file_size: Bytes::new(1 << 40),
        ..workload()
    };
    let cases = [
        (
            "does not let",
            FailureKind::LoginRefused,
            far.run_as(workload(), wrong).unwrap_err(),
        ),
        ("no room", FailureKind::Refused, far.run(huge).unwrap_err()),
        (
            "no share `nothing`",
            FailureKind::Refused,
            with(&|at| at.share = "nothing".into()),
        ),
        (
            "does not exist",
            FailureKind::Refused,
            with(&|at| at.path = "no/such/folder".into()),
        ),
        (
            "nothing listens",
            FailureKind::Unreachable,
            with(&|at| at.port = 4450),
        ),
        (
            "no-such-host",
            FailureKind::Unreachable,
            with(&|at| at.server = "no-such-host".into()),
        ),
    ];
    for (words, kind, failure) in cases {
        assert_eq!(failure.kind, kind, "{failure:?}");
        assert!(failure.chain[0].contains(words), "{words}: {failure:?}");
        assert!(failure.hint.is_some(), "{failure:?}");
        assert!(
            !format!("{failure:?}").contains("not the password"),
            "{failure:?}"
        );
    }
    assert_eq!(far.left_on_the_share(), "");
}

#[test]
fn an_executor_sees_to_what_a_trial_needs() {
    let far = Far::new("measure-executor");
    let short = timing(100, 300, 100);
    let share = ShareWorkload {
        timing: short,
        ..share(Direction::Read, 1)
    };
    let mut tcp = tcp_workload(SERVER.parse().unwrap(), 5201, Direction::Write, 1);
    tcp.timing = short;
    let copy = JobWorkload {
        share: share.share.clone(),
        direction: Direction::Read,
        job: Job::Copy {
            file: JobFile::Found,
            bytes_max: Bytes::new(256 * MIB),
            folder: None,
            times: 1,
        },
        demands: Demands::default(),
        limit: Duration::from_secs(3).into(),
    };
    let runner = far.runner();
    let stop = Stop::new();
    let client: &dyn Exec = far.lab.namespace("client").unwrap();
    let setup = |server| Setup {
        runner: &runner,
        far: server,
        stop: &stop,
        watched: vec![
            (HostName::new("client"), client),
            (HostName::new("server"), far.server()),
        ],
        share: share.clone(),
        credentials: Some(far.credentials()),
        read_only: false,
        logins: 0,
    };
    let stage = |rung| Stage::Ladder {
        rung,
        repetition: 0,
    };
    let mut executor = Executor::new(setup(Some(far.server())));
    for (rung, workload) in [
        (Rung::Tcp, Workload::Tcp(tcp.clone())),
        (Rung::Share, Workload::Share(share.clone())),
        (Rung::Copy, Workload::Job(copy)),
    ] {
        assert!(executor.may_run(&workload));
        let mut samples = 0;
        let done = executor.run(stage(rung), workload, &mut |_| samples += 1);
        let Outcome::Measured(result) = &done.outcome else {
            panic!("{done:?}")
        };
        assert_eq!(samples, result.samples.len());
        // What a NIC counts holds all that was ours, over the whole trial.
        let [client, server] = &done.loads[..] else {
            panic!("{done:?}")
        };
        let carried = |load: &HostLoad| {
            let nics = load.nics.iter();
            nics.map(|nic| nic.received.get() + nic.sent.get())
                .sum::<u64>()
        };
        let known = result.connections.iter().filter_map(|one| one.tcp);
        let ours: u64 = known
            .map(|tcp| tcp.sent.unwrap().get() + tcp.received.unwrap().get())
            .sum();
        assert!(ours > 0, "{done:?}");
        // The file that is kept was written by another session.
        let most = if rung == Rung::Copy { 4 } else { 1 };
        for load in [client, server] {
            let carried = carried(load) as f64;
            let part = ours as f64 / carried;
            assert!(
                part < 1.0 && part * f64::from(most) > 0.85,
                "{part} {done:?}"
            );
            assert!(load.nics.iter().all(|nic| nic.damaged == 0), "{load:?}");
        }
    }
    drop(executor);
    assert_eq!(far.left_on_the_share(), "");

    // Without commands on the server there is no iperf3, and that is said once.
    let mut executor = Executor::new(setup(None));
    let done = executor.run(stage(Rung::Tcp), Workload::Tcp(tcp), &mut |_| {});
    let Outcome::Failed(failure) = &done.outcome else {
        panic!("{done:?}")
    };
    assert_eq!(failure.chain[0], "raw TCP was not measured");
}

/// What `ss` says on the server of the connections of its file server, while a trial runs.
fn seen_at_the_server(far: &Far, workload: ShareWorkload) -> (TrialResult, String) {
    let mut said = String::new();
    let input = TrialInput {
        workload: Workload::Share(workload),
        credentials: Some(far.credentials()),
    };
    let result = far.runner().run(&input, &Stop::new(), &mut |_| {
        if said.is_empty() {
            said = far.on_the_server(
                "ss -Htinp state established sport = :445; \
                 find /run/linerate -name '.linerate-*' -printf 'file %s %b\n'",
            );
        }
    });
    (result.unwrap(), said)
}

fn with_socket(workload: ShareWorkload, socket: SocketOptions) -> ShareWorkload {
    ShareWorkload { socket, ..workload }
}

#[test]
fn interventions_reach_the_wire_and_the_server() {
    let far = Far::new("measure-arms");
    let short = |direction| ShareWorkload {
        timing: timing(100, 400, 100),
        ..share(direction, 1)
    };
    let socket = SocketOptions {
        source: Some("10.77.1.1".parse().unwrap()),
        segment: Some(536),
        congestion_control: Some(CongestionControl::Reno),
        ..SocketOptions::default()
    };
    // Both ends send small segments, whoever sends the data.
    let (result, said) =
        seen_at_the_server(&far, with_socket(short(Direction::Read), socket.clone()));
    let used = &result.connections[0];
    assert_eq!(used.local.ip().to_string(), "10.77.1.1");
    assert_eq!(used.congestion_control.as_deref(), Some("reno"));
    let segment = used.tcp.unwrap().segment;
    assert!((500..=536).contains(&segment), "{segment}");
    let sizes = said
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("mss:"));
    let sizes: Vec<u32> = sizes.map(|size| size.parse().unwrap()).collect();
    assert!(
        !sizes.is_empty() && sizes.iter().all(|size| (500..=536).contains(size)),
        "{said}"
    );
    let server = FarServer::start(far.server()).unwrap();
    let mut tcp = tcp_workload(SERVER.parse().unwrap(), server.port(), Direction::Write, 1);
    tcp.socket = socket;
    tcp.timing = timing(100, 400, 100);
    let input = TrialInput {
        workload: Workload::Tcp(tcp),
        credentials: None,
    };
    let result = far.runner().run(&input, &Stop::new(), &mut |_| {}).unwrap();
    let used = &result.connections[0];
    assert!((500..=536).contains(&used.tcp.unwrap().segment), "{used:?}");
    assert_eq!(used.congestion_control.as_deref(), Some("reno"));
    // Only the counted time, in which it sent as fast as it could.
    let clock = used.clock.unwrap();
    assert_eq!(clock.total, result.duration());
    assert!(clock.busy.get() * 10 > clock.total.get() * 8, "{clock:?}");
    let segments = result.bytes().get() / 536;
    assert!(
        (segments / 2..segments * 2).contains(&clock.segments),
        "{clock:?}"
    );

    for direction in [Direction::Read, Direction::Write] {
        let two = ShareWorkload {
            sessions: 2,
            ..short(direction)
        };
        let (result, said) = seen_at_the_server(&far, two);
        assert_eq!(result.connections.len(), 2, "{result:?}");
        let moved = result.connections.iter().map(|one| one.bytes.get());
        assert!(moved.clone().all(|bytes| bytes > MIB), "{result:?}");
        assert_eq!(moved.sum::<u64>(), result.bytes().get());
        // Samba has a process for each session.
        let words = said.split(|letter: char| !letter.is_alphanumeric() && letter != '=');
        let mut processes: Vec<&str> = words.filter(|word| word.starts_with("pid=")).collect();
        processes.sort_unstable();
        processes.dedup();
        assert_eq!(processes.len(), 2, "{said}");
        assert_eq!(
            result.engine.unwrap().total.get(),
            2 * result.duration().get()
        );
    }

    assert_eq!(far.left_on_the_share(), "");
}

#[test]
fn files_hold_what_was_asked_for() {
    let far = Far::new("measure-files");
    let short = |direction| ShareWorkload {
        timing: timing(100, 400, 100),
        ..share(direction, 1)
    };
    let files = |said: &str| -> Vec<[u64; 2]> {
        let lines = said.lines().filter_map(|line| line.strip_prefix("file "));
        let numbers = lines.map(|line| line.split(' ').map(|word| word.parse().unwrap()));
        numbers
            .map(|mut numbers| [(); 2].map(|()| numbers.next().unwrap()))
            .collect()
    };
    let sparse = ShareWorkload {
        file: FileUse::Sparse,
        ..short(Direction::Read)
    };
    let (result, said) = seen_at_the_server(&far, sparse);
    assert!(result.bytes().get() > MIB, "{result:?}");
    assert_eq!(files(&said), [[64 * MIB, 0]], "{said}");
    let one_block = ShareWorkload {
        file: FileUse::OneBlock,
        ..short(Direction::Write)
    };
    let (result, said) = seen_at_the_server(&far, one_block);
    assert!(result.bytes().get() > 4 * MIB, "{result:?}");
    assert_eq!(files(&said), [[MIB, MIB / 512]], "{said}");
    // As many each way.
    let both = ShareWorkload {
        operations: Some(Operations {
            pattern: Pattern::Sequential,
            threads: 1,
            opposite_percent: 50,
            data: Data::Random,
            cache: Cache::Direct,
            write_through: false,
            file: None,
        }),
        ..short(Direction::Read)
    };
    assert!(far.run(both).unwrap().bytes().get() > 4 * MIB);
    assert_eq!(far.left_on_the_share(), "");
}

#[test]
fn algorithms_are_those_that_were_demanded() {
    let far = Far::new("measure-algorithms");
    let of = |demands| {
        let workload = ShareWorkload {
            demands,
            // A slow cipher answers small requests soon, and writes a small file.
            file_size: Bytes::new(4 * MIB),
            block: Bytes::new(64 << 10),
            timing: timing(100, 400, 100),
            ..share(Direction::Read, 1)
        };
        far.run(workload).unwrap().session.unwrap()
    };
    for (algorithm, name) in [
        (SigningAlgorithm::HmacSha256, "HMAC-SHA256"),
        (SigningAlgorithm::AesCmac, "AES-128-CMAC"),
        (SigningAlgorithm::AesGmac, "AES-128-GMAC"),
    ] {
        let session = of(Demands {
            signing: Signing::Required,
            signing_algorithm: Some(algorithm),
            ..Demands::default()
        });
        assert_eq!(session.signing_algorithm.as_deref(), Some(name));
        assert!(session.data_signed);
    }
    for (cipher, name) in [
        (Cipher::Aes128Ccm, "AES-128-CCM"),
        (Cipher::Aes128Gcm, "AES-128-GCM"),
        (Cipher::Aes256Ccm, "AES-256-CCM"),
        (Cipher::Aes256Gcm, "AES-256-GCM"),
    ] {
        let session = of(Demands {
            encrypted: true,
            cipher: Some(cipher),
            ..Demands::default()
        });
        assert_eq!(session.encryption.as_deref(), Some(name));
    }
}

#[test]
fn small_buffers_bind_over_a_long_path_and_few_credits_are_waited_for() {
    let topology = TOPOLOGY.replace("rate =", "delay_ms = 5.0\nrate =");
    let far = Far::of("measure-buffers", &topology);
    let small = Some(Bytes::new(64 << 10));
    // A window of 64 KiB, and as much again of bookkeeping that the kernel may lend it, every 10 ms.
    let most = 20e6;
    let receive = SocketOptions {
        receive_buffer: small,
        ..SocketOptions::default()
    };
    let read = far
        .run(with_socket(share(Direction::Read, 1), receive))
        .unwrap();
    assert!(read.bytes_per_second().unwrap() < most, "{read:?}");
    let send = SocketOptions {
        send_buffer: small,
        ..SocketOptions::default()
    };
    let write = far
        .run(with_socket(share(Direction::Write, 1), send))
        .unwrap();
    assert!(write.bytes_per_second().unwrap() < most, "{write:?}");
    let clock = write.connections[0].clock.unwrap();
    assert!(clock.busy <= clock.total, "{clock:?}");
    for direction in [Direction::Read, Direction::Write] {
        let free = far.run(share(direction, 1)).unwrap();
        assert!(free.bytes_per_second().unwrap() > 2.0 * most, "{free:?}");
    }
    drop(far);

    let few = format!("{TOPOLOGY}[samba.global]\n\"smb2 max credits\" = 8\n");
    let far = Far::of("measure-credits", &few);
    let share_of = |part: record::Nanoseconds, clock: EngineClock| {
        part.get() as f64 / clock.total.get() as f64
    };
    let starved = far.run(share(Direction::Read, 1)).unwrap().engine.unwrap();
    assert!(share_of(starved.credits, starved) > 0.2, "{starved:?}");
    let sum = starved.processor.get() + starved.credits.get() + starved.blocks.get();
    assert!(
        starved.processor.get() > 0 && sum <= starved.total.get(),
        "{starved:?}"
    );
    drop(far);
    let far = Far::new("measure-enough");
    let fed = far.run(share(Direction::Read, 1)).unwrap().engine.unwrap();
    assert!(share_of(fed.credits, fed) < 0.02, "{fed:?}");
}

/// Processes that work without rights on the client of a lab.
fn workers(far: &Far) -> Vec<u32> {
    let network = |pid: u32| fs::read_link(format!("/proc/{pid}/ns/net")).ok();
    let client = network(far.lab.namespace("client").unwrap().holder());
    let entries = fs::read_dir("/proc").unwrap();
    let numbers = entries.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let is_worker = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.ends_with(b"\0worker\0") && network(*pid) == client
    };
    numbers.filter(is_worker).collect()
}

/// Runs a trial, and looks at the process that does it as long as that lasts.
fn watched(far: &Far, input: &TrialInput) -> (TrialResult, Vec<(String, Vec<u8>)>) {
    thread::scope(|scope| {
        let runner = far.runner();
        let trial = scope.spawn(move || runner.run(input, &Stop::new(), &mut |_| {}));
        let mut looked = Vec::new();
        while !trial.is_finished() {
            for pid in workers(far) {
                let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
                let status = String::from_utf8(read("status")).unwrap();
                looked.push((status, [read("cmdline"), read("environ")].concat()));
            }
        }
        (trial.join().unwrap().unwrap(), looked)
    })
}

/// Work of each kind with the share of a lab, the file `film` on it and a folder of the client.
fn all_workloads(folder: &str) -> Vec<Workload> {
    let mut long = share(Direction::Read, 2);
    long.timing = timing(100, 600, 100);
    let film = JobFile::Named("film".to_owned());
    let jobs = [
        Job::Enter,
        Job::ReadOnce {
            file: film.clone(),
            bytes_max: Bytes::new(32 * MIB),
            cache: ServerCache::Unknown,
        },
        Job::Copy {
            file: film,
            bytes_max: Bytes::new(64 * MIB),
            folder: Some(folder.to_owned()),
            times: 2,
        },
        Job::SmallFiles {
            count: 20,
            size: Bytes::new(4096),
        },
    ];
    let copy = Task::Copy(record::CopyTask {
        files: 4,
        folders: 2,
        size: Bytes::new(MIB),
        size_max: None,
        spread: record::Spread::Even,
        by: record::CopyProgram::default(),
    });
    let list = record::ListTask {
        entries: 20,
        times: 3,
    };
    let play = record::PlayTask {
        frame: Bytes::new(MIB),
        per_second: 10,
        frames: 5,
        ahead: 2,
        streams: 1,
    };
    let tasks = [
        (copy.clone(), Direction::Read),
        (copy, Direction::Write),
        (Task::Create(20), Direction::Write),
        (Task::Open(20), Direction::Read),
        (Task::Remove(20), Direction::Write),
        (Task::Lock(20), Direction::Write),
        (Task::List(list), Direction::Read),
        (Task::Play(play), Direction::Read),
    ];
    let at = share(Direction::Read, 1).share;
    let jobs = jobs.map(|job| {
        Workload::Job(JobWorkload {
            share: at.clone(),
            direction: Direction::Read,
            job,
            demands: Demands::default(),
            limit: Duration::from_secs(10).into(),
        })
    });
    let tasks = tasks.map(|(task, direction)| {
        Workload::Task(TaskWorkload {
            place: Place::Share {
                share: at.clone(),
                demands: Demands::default(),
            },
            second_mount: None,
            direction,
            channels: 1,
            task,
            data: Data::Random,
            timing: timing(0, 500, 100),
        })
    });
    let all = [Workload::Share(long)].into_iter().chain(jobs);
    all.chain(tasks).collect()
}

#[test]
fn what_a_server_says_is_parsed_without_rights_and_without_a_password() {
    let far = Far::new("measure-worker");
    far.on_the_server("head -c 40000000 /dev/urandom >/run/linerate/shares/media/film");
    // A folder that only root may look into.
    let folder = tempfile::tempdir().unwrap();
    let credentials = far.credentials();
    let password = credentials.password.reveal().as_bytes().to_owned();
    for workload in all_workloads(&folder.path().display().to_string()) {
        let input = TrialInput {
            workload,
            credentials: Some(credentials.clone()),
        };
        let (result, looked) = watched(&far, &input);
        let whole = Sandbox {
            unprivileged: true,
            files: Enforced::Fully,
            system_calls: true,
        };
        assert_eq!(result.sandbox, Some(whole), "{:?}", input.workload);
        let value = |status: &str, name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let words = line.unwrap_or_default().split_whitespace();
            words.collect::<Vec<_>>().join(" ")
        };
        let confined = |status: &&(String, Vec<u8>)| value(&status.0, "Seccomp:") == "2";
        let status = &looked.iter().find(confined).expect("it is seen").0;
        let facts = ["Uid:", "Gid:", "Groups:", "CapEff:", "NoNewPrivs:"];
        let nobody = "65534 65534 65534 65534";
        assert_eq!(
            facts.map(|name| value(status, name)),
            [nobody, nobody, "", "0000000000000000", "1"],
            "{:?}",
            input.workload
        );
        for (_, given) in &looked {
            assert!(!given.windows(password.len()).any(|part| part == password));
        }
        // It ends with the trial.
        assert_eq!(workers(&far), Vec::<u32>::new());
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(far.left_on_the_share(), "");
}
