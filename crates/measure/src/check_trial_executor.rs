//! Runs the trials of a check one by one, with what each needs around it: the iperf3 server at the far end, the
//! file that is read from a disk or copied, the hosts' counters before and after.

use std::thread;
use std::time::{Duration, Instant};

use host::exec::Exec;
use locale::say;
use record::{
    Bytes, Credentials, Data, Failure, FailureKind, HostLoad, HostName, Identity, Job, JobFile,
    JobWorkload, KeepInput, KeepWorkload, Outcome, Place, Rung, Sample, ServerCache, ShareWorkload,
    Stage, TrialInput, Workload,
};

use crate::page_cache_eviction::{Warmth, cool};
use crate::{Counters, FarServer, IPERF3_PORT, Kept, Runner, Stop};

/// The file that is read from the disk and copied: what the share moves in this time.
const FILE_SECONDS: f64 = 0.4;
/// The least and the most bytes that it has. Of less, a disk may move most in one burst.
const FILE_BYTES: std::ops::RangeInclusive<u64> = 32 << 20..=256 << 20;
/// Over a slow link it has fewer: what moves in this time, for it has to be written first.
const FILE_SECONDS_MAX: f64 = 3.0;
const FILE_BYTES_SLOW: u64 = 1 << 20;
/// Logins of a user in one check: each is work for a domain controller, and a line in somebody's log.
const LOGINS_MAX: u32 = 90;

/// Where trials run, and who logs in.
#[derive(Debug)]
pub struct Setup<'a> {
    /// Runs the trials on the client.
    pub runner: &'a Runner,
    /// How to run commands on the server; without it raw TCP needs an iperf3 that runs there.
    pub far: Option<&'a dyn Exec>,
    /// Ends it from outside.
    pub stop: &'a Stop,
    /// Hosts whose counters are read before and after each trial.
    pub watched: Vec<(HostName, &'a dyn Exec)>,
    /// The share, as the trials that are no probes work with it.
    pub share: ShareWorkload,
    /// Who logs in.
    pub credentials: Option<Credentials>,
    /// Whether nothing is written to the share but the files that are read again and again.
    pub read_only: bool,
    /// Logins so far.
    pub logins: u32,
}

/// One trial, measured or not.
#[derive(Clone, Debug)]
pub struct Executed {
    /// Its place.
    pub stage: Stage,
    /// What it did, or should have done.
    pub workload: Workload,
    /// When it began.
    pub started: Instant,
    /// When it was over.
    pub ended: Instant,
    /// What came of it.
    pub outcome: Outcome,
    /// What the hosts had to do meanwhile.
    pub loads: Vec<HostLoad>,
}

/// Whether a trial offers one algorithm only or other options of a mount, which a server may not take.
fn offers_less(workload: &Workload) -> bool {
    let Workload::Share(share) = workload else {
        return workload.second_mount().is_some();
    };
    share.demands.cipher.is_some() || share.demands.signing_algorithm.is_some()
}

/// Runs trials between a client and a server, each in a session of its own, and keeps what they share.
#[derive(Debug)]
pub struct Executor<'a> {
    setup: Setup<'a>,
    /// What the hosts counted when the last trial was over. A host that did not answer is not asked again.
    before: Vec<Option<Counters>>,
    /// Bytes per second of the share, the slower way.
    slowest: Option<f64>,
    /// A file of ours on the share; none inside where it could not be made.
    kept: Option<Option<Kept>>,
    /// Why nothing answers raw TCP: neither in the other direction nor with more streams.
    no_tcp: Option<Failure>,
    /// The server does not let the user in: accounts are locked after some such tries.
    is_refused: bool,
}

impl<'a> Executor<'a> {
    /// Reads the counters for the first time.
    #[must_use]
    pub fn new(setup: Setup<'a>) -> Self {
        let all = vec![true; setup.watched.len()];
        let before = counters(&setup.watched, &all);
        Self {
            setup,
            before,
            slowest: None,
            kept: None,
            no_tcp: None,
            is_refused: false,
        }
    }

    /// Whether a trial may be run: not after a stop, not once the server has refused the login, and not where a
    /// user would log in too often.
    #[must_use]
    pub fn may_run(&self, workload: &Workload) -> bool {
        let logins = self.logins_of(workload);
        !self.setup.stop.is_asked()
            && (logins == 0
                || (!self.is_refused && self.setup.logins.saturating_add(logins) <= LOGINS_MAX))
    }

    /// Runs one trial. Whatever comes of it is its outcome.
    pub fn run(
        &mut self,
        stage: Stage,
        workload: Workload,
        progress: &mut dyn FnMut(&Sample),
    ) -> Executed {
        self.setup.logins += self.logins_of(&workload);
        let started = Instant::now();
        let mut was_counted = false;
        let mut progress = |sample: &Sample| {
            was_counted = true;
            progress(sample);
        };
        let (workload, outcome) = match (workload, self.no_tcp.clone()) {
            (workload @ Workload::Tcp(_), Some(why)) => (workload, Outcome::Failed(why)),
            (Workload::Job(job), _) => self.job(job, &mut progress),
            (workload, _) => self.trial(workload, &mut progress),
        };
        self.learn(&stage, &workload, &outcome, was_counted);
        let outcome = match outcome {
            // A rung that we are not let in to is refused like any other.
            Outcome::Failed(failure) if failure.kind == FailureKind::LoginRefused => {
                let kind = FailureKind::Refused;
                Outcome::Failed(Failure { kind, ..failure })
            }
            outcome => outcome,
        };
        let ended = Instant::now();
        let answered: Vec<bool> = self.before.iter().map(Option::is_some).collect();
        let after = counters(&self.setup.watched, &answered);
        let pairs = self.before.iter().zip(&after).zip(&self.setup.watched);
        let loads = pairs.filter_map(|((before, after), (name, _))| {
            Some(before.as_ref()?.until(after.as_ref()?, name))
        });
        let loads = loads.collect();
        self.before = after;
        Executed {
            stage,
            workload,
            started,
            ended,
            outcome,
            loads,
        }
    }

    /// How often a user logs in for a trial; a channel is a login as well.
    fn logins_of(&self, workload: &Workload) -> u32 {
        let credentials = self.setup.credentials.as_ref();
        if credentials.is_none_or(|it| it.identity != Identity::User) {
            return 0;
        }
        let own = match workload {
            Workload::Tcp(_) | Workload::Folder(_) => 0,
            Workload::Share(share) => share.channels.saturating_mul(share.sessions),
            Workload::Task(task) => match task.place {
                Place::Share { .. } => task.channels,
                Place::Folder { .. } => 0,
            },
            // With the session that keeps the file.
            Workload::Job(_) => 2,
        };
        own + u32::from(workload.second_mount().is_some())
    }

    fn learn(&mut self, stage: &Stage, workload: &Workload, outcome: &Outcome, was_counted: bool) {
        match outcome {
            Outcome::Measured(result) => {
                if let (Stage::Ladder { rung, .. }, Some(rate)) = (stage, result.bytes_per_second())
                    && *rung == Rung::Share
                {
                    self.slowest = Some(self.slowest.map_or(rate, |slowest| slowest.min(rate)));
                }
            }
            // What came as far as being counted may do better in the other direction; this did not.
            Outcome::Failed(failure) => {
                if let (Workload::Tcp(_), FailureKind::Unreachable, false) =
                    (workload, failure.kind, was_counted)
                {
                    self.no_tcp = Some(failure.clone());
                }
                // Who was let in before, and offers less now, has the right password.
                let offers_less = self.slowest.is_some() && offers_less(workload);
                self.is_refused |= failure.kind == FailureKind::LoginRefused && !offers_less;
            }
        }
    }

    /// Runs one trial, and for raw TCP the server it needs.
    fn trial(
        &mut self,
        workload: Workload,
        progress: &mut dyn FnMut(&Sample),
    ) -> (Workload, Outcome) {
        let Setup {
            runner, far, stop, ..
        } = self.setup;
        let mut input = TrialInput {
            workload,
            credentials: None,
        };
        let result = match &mut input.workload {
            Workload::Share(_) | Workload::Folder(_) | Workload::Task(_) | Workload::Job(_) => {
                input.credentials.clone_from(&self.setup.credentials);
                runner.run(&input, stop, progress)
            }
            Workload::Tcp(tcp) => match far {
                None => runner.run(&input, stop, progress).map_err(nobody_listens),
                Some(far) => match FarServer::start(far) {
                    Err(error) => {
                        // Waiting for it once is long enough.
                        let failure = error.failure();
                        self.no_tcp = Some(failure.clone());
                        Err(failure)
                    }
                    Ok(server) => {
                        tcp.port = server.port();
                        runner.run(&input, stop, progress)
                    }
                },
            },
        };
        let outcome = match result {
            Ok(result) => Outcome::Measured(Box::new(result)),
            Err(failure) => Outcome::Failed(failure),
        };
        (input.workload, outcome)
    }

    /// Runs work that is done once, and sees to the file that it takes.
    fn job(
        &mut self,
        mut workload: JobWorkload,
        progress: &mut dyn FnMut(&Sample),
    ) -> (Workload, Outcome) {
        let kept = match workload.job {
            Job::Enter | Job::SmallFiles { .. } => None,
            Job::ReadOnce { .. } | Job::Copy { .. } => self.kept(),
        };
        match &mut workload.job {
            Job::ReadOnce { file, cache, .. } => match self.setup.far.zip(kept.as_deref()) {
                None => {}
                Some((far, kept)) => match cool(far, kept) {
                    Warmth::Cold => {
                        *file = JobFile::Named(kept.to_owned());
                        *cache = ServerCache::Cold;
                    }
                    // It was just written, so that reading it would tell nothing.
                    Warmth::Unknown => {}
                    Warmth::Memory(file_system) => {
                        let outcome = Outcome::Failed(no_disk(&file_system));
                        return (Workload::Job(workload), outcome);
                    }
                },
            },
            Job::Copy {
                file, bytes_max, ..
            } => match (kept, self.slowest) {
                (Some(kept), _) => *file = JobFile::Named(kept),
                (None, Some(rate)) => {
                    let limit = Duration::from(workload.limit);
                    *bytes_max = Bytes::new(copied_max(rate, limit));
                }
                (None, None) => {}
            },
            Job::Enter | Job::SmallFiles { .. } => {}
        }
        self.trial(Workload::Job(workload), progress)
    }

    /// The path of a file of ours on the share, which is made when it is first asked for.
    fn kept(&mut self) -> Option<String> {
        if self.setup.read_only {
            return None;
        }
        let (slowest, setup) = (self.slowest, &self.setup);
        let kept = self.kept.get_or_insert_with(|| {
            let file_size = slowest.map_or(*FILE_BYTES.start(), file_size);
            let keep = KeepWorkload {
                place: Place::Share {
                    share: setup.share.share.clone(),
                    demands: setup.share.demands,
                },
                file_size: Bytes::new(file_size),
                data: Data::Random,
            };
            let input = KeepInput {
                keep,
                credentials: setup.credentials.clone(),
            };
            // Why not is said by the trials that make a file of their own.
            setup.runner.keep(&input, setup.stop).ok()
        });
        kept.as_ref().map(|kept| kept.file().to_owned())
    }
}

/// What these hosts have counted, all asked at once; those that are not to be asked say nothing.
fn counters(watched: &[(HostName, &dyn Exec)], asked: &[bool]) -> Vec<Option<Counters>> {
    thread::scope(|scope| {
        let reads: Vec<_> = watched
            .iter()
            .zip(asked)
            .map(|((_, exec), asked)| asked.then(|| scope.spawn(|| Counters::read(*exec))))
            .collect();
        let read = |read: Option<thread::ScopedJoinHandle<'_, Option<Counters>>>| match read?.join()
        {
            Ok(counters) => counters,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        reads.into_iter().map(read).collect()
    })
}

/// Bytes of the file that is read from the disk and copied, where a share moves so many a second.
fn file_size(rate: f64) -> u64 {
    let most = (rate * FILE_SECONDS_MAX) as u64;
    ((rate * FILE_SECONDS) as u64)
        .clamp(*FILE_BYTES.start(), *FILE_BYTES.end())
        .min(most.max(FILE_BYTES_SLOW))
}

/// The most bytes of somebody's file that is copied in that time.
fn copied_max(rate: f64, limit: Duration) -> u64 {
    let bytes = rate * limit.as_secs_f64();
    (bytes as u64).clamp(*FILE_BYTES.start(), *FILE_BYTES.end())
}

/// In English it begins with [`record::SHARE_IN_MEMORY`], by which others know it.
fn no_disk(file_system: &str) -> Failure {
    let no_disk = say("error-measure.no-disk").with("file-system", file_system);
    Failure::new(FailureKind::Refused, no_disk)
}

/// Nobody started a server for us, so nobody has to be there.
fn nobody_listens(mut failure: Failure) -> Failure {
    if failure.kind != FailureKind::Unreachable {
        return failure;
    }
    failure.put_before(&say("error-measure.no-iperf-server"));
    failure.put_before(&say("error-measure.no-tcp"));
    failure.with_hint(say("hint-measure.run-iperf").count("port", IPERF3_PORT))
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::Arc;

    use host::exec::Local;
    use record::{Demands, Direction, FileUse, Mechanism, Secret, ShareAddress, SocketOptions};
    use record::{TcpWorkload, Timing};

    use super::*;

    fn timing() -> Timing {
        let span = Duration::from_millis(50);
        Timing {
            warm_up: span.into(),
            measured: span.into(),
            interval: span.into(),
        }
    }

    fn share() -> ShareWorkload {
        ShareWorkload {
            share: ShareAddress {
                server: "127.0.0.1".to_owned(),
                port: 1,
                share: "data".to_owned(),
                path: String::new(),
            },
            direction: Direction::Read,
            channels: 1,
            block: Bytes::new(1 << 20),
            depth: 8,
            file_size: Bytes::new(1 << 20),
            demands: Demands::default(),
            operations: None,
            timing: timing(),
            sessions: 1,
            connections: 1,
            file: FileUse::default(),
            socket: SocketOptions::default(),
        }
    }

    fn tcp(streams: u32) -> Workload {
        Workload::Tcp(TcpWorkload {
            server: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: IPERF3_PORT,
            direction: Direction::Read,
            streams,
            nic: None,
            socket: SocketOptions::default(),
            timing: timing(),
        })
    }

    fn runner(script: &str) -> Runner {
        let exec = Local::with_prefix(["sh", "-c", script]);
        Runner::new(Arc::new(exec), "program")
    }

    fn setup<'a>(runner: &'a Runner, stop: &'a Stop) -> Setup<'a> {
        Setup {
            runner,
            far: None,
            stop,
            watched: Vec::new(),
            share: share(),
            credentials: Some(Credentials {
                identity: Identity::User,
                user: "ann".to_owned(),
                domain: String::new(),
                password: Secret::new("secret".to_owned()),
                mechanism: Mechanism::Automatic,
            }),
            read_only: false,
            logins: 0,
        }
    }

    const STAGE: Stage = Stage::Ladder {
        rung: Rung::Tcp,
        repetition: 0,
    };

    #[test]
    fn raw_tcp_that_does_not_answer_is_not_tried_again() {
        let calls = tempfile::NamedTempFile::new().unwrap();
        let script = format!(
            "read -r input; echo call >>{}; echo \
             '{{\"line\":\"failure\",\"kind\":\"unreachable\",\"chain\":[\"x\"],\"hint\":null}}'",
            calls.path().display()
        );
        let (runner, stop) = (runner(&script), Stop::new());
        let mut executor = Executor::new(setup(&runner, &stop));
        for streams in [1, 4, 1] {
            let done = executor.run(STAGE, tcp(streams), &mut |_| {});
            let Outcome::Failed(failure) = done.outcome else {
                panic!("{done:?}")
            };
            assert_eq!(failure.chain[0], "raw TCP was not measured");
            assert!(done.started <= done.ended);
        }
        let calls = std::fs::read_to_string(calls.path()).unwrap();
        assert_eq!(calls.lines().count(), 1, "{calls}");
    }

    #[test]
    fn a_login_that_is_refused_is_the_last() {
        let script = "read -r input; echo \
            '{\"line\":\"failure\",\"kind\":\"login_refused\",\"chain\":[\"x\"],\"hint\":null}'";
        let (runner, stop) = (runner(script), Stop::new());
        let mut executor = Executor::new(setup(&runner, &stop));
        let workload = Workload::Share(share());
        assert!(executor.may_run(&workload));
        executor.run(STAGE, workload.clone(), &mut |_| {});
        assert!(!executor.may_run(&workload));
        // For raw TCP nobody logs in.
        assert!(executor.may_run(&tcp(1)));
        // A server that lets us in may not take the one cipher that is offered.
        let mut demanding = share();
        demanding.demands.cipher = Some(record::Cipher::Aes128Gcm);
        let demanding = Workload::Share(demanding);
        for (was_let_in, may_run) in [(false, false), (true, true)] {
            let mut executor = Executor::new(setup(&runner, &stop));
            executor.slowest = was_let_in.then_some(1e6);
            executor.run(STAGE, demanding.clone(), &mut |_| {});
            assert_eq!(executor.may_run(&workload), may_run);
        }
    }

    #[test]
    fn a_user_logs_in_ninety_times_at_most() {
        let script = "read -r input; echo \
            '{\"line\":\"failure\",\"kind\":\"internal\",\"chain\":[\"x\"],\"hint\":null}'";
        let (runner, stop) = (runner(script), Stop::new());
        let mut executor = Executor::new(Setup {
            logins: 80,
            ..setup(&runner, &stop)
        });
        let several = Workload::Share(ShareWorkload {
            channels: 2,
            sessions: 4,
            ..share()
        });
        assert!(executor.may_run(&several));
        executor.run(STAGE, several.clone(), &mut |_| {});
        assert!(!executor.may_run(&several));
        assert!(executor.may_run(&Workload::Share(share())));
        // Guests have no account that could be locked.
        let mut setup = setup(&runner, &stop);
        setup.logins = LOGINS_MAX;
        setup.credentials = None;
        assert!(Executor::new(setup).may_run(&several));
    }

    #[test]
    fn a_host_that_does_not_answer_is_asked_once() {
        let script = "read -r input; echo \
            '{\"line\":\"failure\",\"kind\":\"internal\",\"chain\":[\"x\"],\"hint\":null}'";
        let (runner, stop) = (runner(script), Stop::new());
        let calls = tempfile::NamedTempFile::new().unwrap();
        let count = format!("echo call >>{}", calls.path().display());
        let silent = Local::with_prefix(["sh", "-c", &count]);
        let near = Local::new();
        let mut executor = Executor::new(Setup {
            watched: vec![
                (HostName::new("near"), &near),
                (HostName::new("silent"), &silent),
            ],
            ..setup(&runner, &stop)
        });
        let done = executor.run(STAGE, tcp(1), &mut |_| {});
        let loads: Vec<_> = done
            .loads
            .iter()
            .map(|load| load.host.to_string())
            .collect();
        assert_eq!(loads, ["near"]);
        let calls = std::fs::read_to_string(calls.path()).unwrap();
        assert_eq!(calls.lines().count(), 1, "{calls}");
    }

    #[test]
    fn a_file_takes_no_longer_than_a_slow_link_can_write_it_soon() {
        let mib = |rate: f64| file_size(rate) >> 20;
        assert_eq!([1e10, 250e6, 80e6, 12e6].map(mib), [256, 95, 32, 32]);
        assert_eq!([1e6, 1e3].map(mib), [2, 1]);
        let copied = |rate| copied_max(rate, Duration::from_millis(2500));
        assert_eq!([1e10, 1e6].map(copied), [256 << 20, 32 << 20]);
    }

    #[test]
    fn nothing_begins_after_a_stop() {
        let (runner, stop) = (runner("exit 1"), Stop::new());
        let executor = Executor::new(setup(&runner, &stop));
        assert!(executor.may_run(&tcp(1)));
        stop.ask();
        assert!(!executor.may_run(&tcp(1)));
    }

    #[test]
    fn without_commands_on_the_server_the_hint_says_what_to_do() {
        let failure = Failure::new(FailureKind::Unreachable, "cannot connect");
        let failure = nobody_listens(failure.with_hint("another"));
        assert_eq!(failure.chain.last().unwrap(), "cannot connect");
        assert!(failure.hint.unwrap().contains("iperf3 -s -p 5201"));
        let busy = Failure::new(FailureKind::Refused, "busy");
        assert_eq!(nobody_listens(busy.clone()), busy);
    }

    #[test]
    fn a_share_in_memory_is_known_by_what_is_said_of_it() {
        let said = no_disk("tmpfs").text();
        assert!(said.starts_with(record::SHARE_IN_MEMORY), "{said}");
    }
}
