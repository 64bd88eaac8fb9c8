//! Trials between the hosts of a lab: links with a line rate, a real iperf3, a real Samba.

use std::fs;
use std::io::BufRead;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::exec::{Command, Exec};
use lab::{Lab, Launcher, Topology};
use measure::{FarServer, Ladder, LadderPlan, Runner, Stop, TcpRung};
use record::{
    Bytes, Cache, Credentials, Data, Demands, Direction, Failure, FailureKind, Identity, Job,
    JobFile, JobWorkload, Operations, Outcome, Pattern, Rung, Secret, ServerCache, ShareAddress,
    ShareWorkload, Stage, TrialInput, TrialLine, TrialResult, Workload,
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
        other_way_percent: 0,
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
fn nothing_is_left_on_the_share_after_a_trial_was_killed() {
    let far = Far::new("measure-kill");
    let client = far.lab.namespace("client").unwrap();
    let mut workload = share(Direction::Write, 2);
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
fn a_ladder_measures_each_rung_both_ways() {
    let far = Far::new("measure-ladder");
    let short = timing(100, 300, 100);
    let plan = LadderPlan {
        folder: None,
        tcp: Ok(TcpRung {
            server: SERVER.parse().unwrap(),
            nic: Some("lan1".to_owned()),
            streams: 1,
            timing: short,
        }),
        share: ShareWorkload {
            timing: short,
            ..share(Direction::Read, 2)
        },
        credentials: Some(far.credentials()),
        repetitions: 1,
        more: Vec::new(),
        read_only: false,
        deadline: None,
    };
    let runner = far.runner();
    let stop = Stop::new();
    let (mut trials, mut news) = (Vec::new(), 0);
    let ladder = Ladder {
        runner: &runner,
        far: Some(far.server()),
        stop: &stop,
        watched: Vec::new(),
    };
    let done: Result<(), ()> = ladder.run(&plan, &mut |_| news += 1, &mut |trial| {
        trials.push(trial);
        Ok(())
    });
    done.unwrap();
    let rungs: Vec<_> = trials
        .iter()
        .map(|trial| match trial.stage {
            Stage::Ladder { rung, .. } => (rung, trial.workload.direction()),
            _ => panic!("{trial:?}"),
        })
        .collect();
    let (read, write) = (Direction::Read, Direction::Write);
    let wanted = [
        (Rung::Tcp, read),
        (Rung::Tcp, write),
        (Rung::Share, read),
        (Rung::Share, write),
    ];
    assert_eq!(rungs, wanted);
    for trial in &trials {
        assert!(matches!(trial.outcome, Outcome::Measured(_)), "{trial:?}");
    }
    // Each trial begins once and has three samples.
    assert_eq!(news, 4 * 4);

    // Without commands on the server there is no iperf3, and the ladder says so and goes on.
    let ladder = Ladder {
        runner: &runner,
        far: None,
        stop: &stop,
        watched: Vec::new(),
    };
    let mut outcomes = Vec::new();
    let done: Result<(), ()> = ladder.run(&plan, &mut |_| {}, &mut |trial| {
        outcomes.push(trial.outcome);
        Ok(())
    });
    done.unwrap();
    let Outcome::Failed(failure) = &outcomes[0] else {
        panic!("{outcomes:?}")
    };
    assert_eq!(failure.chain[0], "raw TCP was not measured");
    assert!(matches!(outcomes[3], Outcome::Measured(_)), "{outcomes:?}");
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

#[test]
fn what_a_server_says_is_parsed_without_rights_and_without_a_password() {
    let far = Far::new("measure-worker");
    let mut looked = Vec::new();
    let mut workload = share(Direction::Read, 2);
    workload.timing = timing(100, 600, 100);
    let credentials = far.credentials();
    let password = credentials.password.reveal().to_owned();
    let input = TrialInput {
        workload: Workload::Share(workload),
        credentials: Some(credentials),
    };
    let result = far
        .runner()
        .run(&input, &Stop::new(), &mut |_| {
            for pid in workers(&far) {
                let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
                let status = String::from_utf8(read("status")).unwrap();
                looked.push((status, [read("cmdline"), read("environ")].concat()));
            }
        })
        .unwrap();
    assert!(result.bytes().get() > 0);
    assert!(!looked.is_empty());
    for (status, given) in &looked {
        let value = |name: &str| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .unwrap();
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(value("Uid:"), "65534 65534 65534 65534");
        assert_eq!(value("Gid:"), "65534 65534 65534 65534");
        assert_eq!(
            (value("Groups:"), value("CapEff:")),
            (String::new(), "0".repeat(16))
        );
        assert_eq!(
            (value("NoNewPrivs:"), value("Seccomp:")),
            ("1".to_owned(), "2".to_owned())
        );
        let password = password.as_bytes();
        assert!(!given.windows(password.len()).any(|part| part == password));
    }
    // It ends with the trial.
    assert_eq!(workers(&far), Vec::<u32>::new());
}
