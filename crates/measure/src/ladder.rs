//! The ladder of one link: raw TCP, then the share through one channel, each both ways; and further
//! down the disks and small files.

use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use host::exec::Exec;
use record::{
    Bytes, Credentials, Data, Direction, Failure, FailureKind, HostLoad, HostName, Job, JobFile,
    JobWorkload, KeepInput, KeepWorkload, Nanoseconds, Outcome, Place, Rung, SHARE_IN_MEMORY,
    Sample, ServerCache, ShareWorkload, Stage, TcpWorkload, Timing, TrialInput, Workload,
};

use crate::cold::{Warmth, cool};
use crate::{Counters, FarServer, IPERF3_PORT, Kept, Runner, Stop};

/// How often the further rungs are measured.
const MORE_REPETITIONS: u32 = 2;
/// Streams of raw TCP at once: enough for a path that one cannot fill.
const STREAMS: u32 = 4;
/// A small request, for its round trip, and the file that it reads.
const SMALL_BLOCK: Bytes = Bytes::new(4 << 10);
const SMALL_FILE: Bytes = Bytes::new(64 << 10);
/// The file that is read from the disk and copied: what the share moves in this time.
const FILE_SECONDS: f64 = 0.4;
/// The least and the most bytes that it has. Of less, a disk may move most in one burst.
const FILE_BYTES: std::ops::RangeInclusive<u64> = 32 << 20..=256 << 20;
/// Over a slow link it has fewer: what moves in this time, for it has to be written first.
const FILE_SECONDS_MAX: f64 = 3.0;
const FILE_BYTES_SLOW: u64 = 1 << 20;
/// How often it is copied in one trial.
const COPIES: u32 = 3;
/// Small files, and the size of each.
const SMALL_FILES: u32 = 200;
const SMALL_FILE_BYTES: Bytes = Bytes::new(4 << 10);
/// The longest time that work which is done once may take.
const JOB_LIMIT: Nanoseconds = Nanoseconds::new(2_500_000_000);
const DIRECTIONS: [Direction; 2] = [Direction::Read, Direction::Write];

/// What a ladder measures.
#[derive(Clone, Debug)]
pub struct LadderPlan {
    /// Raw TCP, or why it cannot be measured.
    pub tcp: Result<TcpRung, String>,
    /// The share. Its direction and number of channels do not matter: both ways, one channel.
    pub share: ShareWorkload,
    /// Who logs in.
    pub credentials: Option<Credentials>,
    /// How often raw TCP and the share are measured, each way.
    pub repetitions: u32,
    /// Further rungs, which are measured twice at most.
    pub more: Vec<Rung>,
    /// Whether nothing is written to the share but the files that are read again and again.
    pub read_only: bool,
    /// The folder of the client that a file is copied to, where one was asked for.
    pub folder: Option<String>,
    /// When nothing is begun any more but the first trials of raw TCP and of the share.
    pub deadline: Option<Instant>,
}

/// Raw TCP over one link.
#[derive(Clone, Debug)]
pub struct TcpRung {
    /// The server's address on the link.
    pub server: IpAddr,
    /// The client's interface on the link, where the route is not to decide.
    pub nic: Option<String>,
    /// Parallel streams.
    pub streams: u32,
    /// How long.
    pub timing: Timing,
}

/// One trial of a ladder, measured or not.
#[derive(Clone, Debug)]
pub struct LadderTrial {
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

/// Something to show while a ladder is measured.
#[derive(Debug)]
pub enum LadderNews<'a> {
    /// A trial begins.
    Begins(&'a Stage, &'a Workload),
    /// A sample of it is over.
    Sample(&'a Sample),
}

/// Measures ladders between a client and a server.
#[derive(Debug)]
pub struct Ladder<'a> {
    /// Runs the trials on the client.
    pub runner: &'a Runner,
    /// How to run commands on the server; without it raw TCP needs an iperf3 that runs there.
    pub far: Option<&'a dyn Exec>,
    /// Ends it from outside.
    pub stop: &'a Stop,
    /// Hosts whose counters are read before and after each trial.
    pub watched: Vec<(HostName, &'a dyn Exec)>,
}

impl Ladder<'_> {
    /// Runs all trials of a plan, each in a session of its own. Every other repetition goes through
    /// them backwards, so that a slow drift of anything does not favour one rung. Each trial is
    /// handed to `record` when it is over, whatever came of it; a rung that cannot be measured once
    /// is not tried again. After a stop the trial that was stopped is the last.
    ///
    /// # Errors
    /// Only what `record` gives; a trial that failed is none.
    pub fn run<E>(
        &self,
        plan: &LadderPlan,
        news: &mut dyn FnMut(LadderNews<'_>),
        record: &mut dyn FnMut(LadderTrial) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut hopeless: Vec<(Rung, Direction)> = Vec::new();
        let mut seen = Found::default();
        let mut before = self.counters();
        for (repetition, rung, direction) in order(plan) {
            let late = plan
                .deadline
                .is_some_and(|deadline| Instant::now() > deadline);
            let is_owed = repetition == 0 && matches!(rung, Rung::Tcp | Rung::Share);
            if self.stop.is_asked() || (late && !is_owed) {
                break;
            }
            if hopeless.contains(&(rung, direction)) {
                continue;
            }
            let stage = Stage::Ladder { rung, repetition };
            let workload = workload(plan, rung, direction);
            news(LadderNews::Begins(&stage, &workload));
            let started = Instant::now();
            let mut was_counted = false;
            let mut progress = |sample: &Sample| {
                was_counted = true;
                news(LadderNews::Sample(sample));
            };
            let (workload, outcome) = match (workload, seen.no_tcp.clone()) {
                (workload @ Workload::Tcp(_), Some(why)) => (workload, Outcome::Failed(why)),
                (Workload::Job(job), _) => self.job(plan, job, &mut seen, &mut progress),
                (workload, _) => self.trial(plan, workload, &mut progress),
            };
            seen.learn(rung, &outcome);
            if !was_counted {
                seen.learn_of_silence(&workload, &outcome);
            }
            if is_hopeless(&outcome) {
                hopeless.push((rung, direction));
            }
            let ended = Instant::now();
            let after = self.counters();
            record(LadderTrial {
                stage,
                workload,
                started,
                ended,
                outcome,
                loads: self.loads(&before, &after),
            })?;
            before = after;
        }
        Ok(())
    }

    fn counters(&self) -> Vec<Option<Counters>> {
        let watched = self.watched.iter();
        watched.map(|(_, exec)| Counters::read(*exec)).collect()
    }

    fn loads(&self, before: &[Option<Counters>], after: &[Option<Counters>]) -> Vec<HostLoad> {
        let pairs = before.iter().zip(after).zip(&self.watched);
        let loads = pairs.filter_map(|((before, after), (name, _))| {
            Some(before.as_ref()?.until(after.as_ref()?, name))
        });
        loads.collect()
    }

    /// Runs one trial, and for raw TCP the server it needs.
    fn trial(
        &self,
        plan: &LadderPlan,
        workload: Workload,
        progress: &mut dyn FnMut(&Sample),
    ) -> (Workload, Outcome) {
        let mut input = TrialInput {
            workload,
            credentials: None,
        };
        let result = match &mut input.workload {
            Workload::Share(_) | Workload::Folder(_) | Workload::Task(_) | Workload::Job(_) => {
                input.credentials.clone_from(&plan.credentials);
                self.runner.run(&input, self.stop, progress)
            }
            Workload::Tcp(tcp) => match (&plan.tcp, self.far) {
                (Err(reason), _) => Err(not_measured(reason)),
                (Ok(_), None) => self
                    .runner
                    .run(&input, self.stop, progress)
                    .map_err(nobody_listens),
                (Ok(_), Some(far)) => match FarServer::start(far) {
                    Err(error) => Err(error.failure()),
                    Ok(server) => {
                        tcp.port = server.port();
                        self.runner.run(&input, self.stop, progress)
                    }
                },
            },
        };
        let outcome = match result {
            Ok(result) => Outcome::Measured(Box::new(result)),
            Err(mut failure) => {
                // A rung that we are not let in to is refused like any other.
                if failure.kind == FailureKind::LoginRefused {
                    failure.kind = FailureKind::Refused;
                }
                Outcome::Failed(failure)
            }
        };
        (input.workload, outcome)
    }

    /// Runs work that is done once, and sees to the file that it takes.
    fn job(
        &self,
        plan: &LadderPlan,
        mut workload: JobWorkload,
        seen: &mut Found,
        progress: &mut dyn FnMut(&Sample),
    ) -> (Workload, Outcome) {
        let kept = match workload.job {
            Job::Enter | Job::SmallFiles { .. } => None,
            Job::ReadOnce { .. } | Job::Copy { .. } => self.kept(plan, seen),
        };
        match &mut workload.job {
            Job::ReadOnce { file, cache, .. } => match self.far.zip(kept.as_deref()) {
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
            } => match (kept, seen.slowest) {
                (Some(kept), _) => *file = JobFile::Named(kept),
                (None, Some(rate)) => *bytes_max = Bytes::new(copied_max(rate)),
                (None, None) => {}
            },
            Job::Enter | Job::SmallFiles { .. } => {}
        }
        self.trial(plan, Workload::Job(workload), progress)
    }

    /// The path of a file of ours on the share, which is made when it is first asked for.
    fn kept(&self, plan: &LadderPlan, seen: &mut Found) -> Option<String> {
        if plan.read_only {
            return None;
        }
        let kept = seen.kept.get_or_insert_with(|| {
            let file_size = seen.slowest.map_or(*FILE_BYTES.start(), file_size);
            let keep = KeepWorkload {
                place: Place::Share {
                    share: plan.share.share.clone(),
                    demands: plan.share.demands,
                },
                file_size: Bytes::new(file_size),
                data: Data::Random,
            };
            let input = KeepInput {
                keep,
                credentials: plan.credentials.clone(),
            };
            // Why not is said by the trials that make a file of their own.
            self.runner.keep(&input, self.stop).ok()
        });
        kept.as_ref().map(|kept| kept.file().to_owned())
    }
}

/// What the trials so far have shown, and what is kept between them.
#[derive(Default)]
struct Found {
    /// Bytes per second of the share, the slower way.
    slowest: Option<f64>,
    /// A file of ours on the share; none inside where it could not be made.
    kept: Option<Option<Kept>>,
    /// Why nobody can be reached by raw TCP: neither the other way nor with more streams.
    no_tcp: Option<Failure>,
}

impl Found {
    fn learn(&mut self, rung: Rung, outcome: &Outcome) {
        if let (Rung::Share, Outcome::Measured(result)) = (rung, outcome)
            && let Some(rate) = result.bytes_per_second()
        {
            self.slowest = Some(self.slowest.map_or(rate, |slowest| slowest.min(rate)));
        }
    }

    /// What came as far as being counted may do better the other way; this did not.
    fn learn_of_silence(&mut self, workload: &Workload, outcome: &Outcome) {
        if let (Workload::Tcp(_), Outcome::Failed(failure)) = (workload, outcome)
            && failure.kind == FailureKind::Unreachable
        {
            self.no_tcp = Some(failure.clone());
        }
    }
}

/// Bytes of the file that is read from the disk and copied, where a share moves so many a second.
fn file_size(rate: f64) -> u64 {
    let most = (rate * FILE_SECONDS_MAX) as u64;
    ((rate * FILE_SECONDS) as u64)
        .clamp(*FILE_BYTES.start(), *FILE_BYTES.end())
        .min(most.max(FILE_BYTES_SLOW))
}

/// The most bytes of somebody's file that is copied there.
fn copied_max(rate: f64) -> u64 {
    let bytes = rate * Duration::from(JOB_LIMIT).as_secs_f64();
    (bytes as u64).clamp(*FILE_BYTES.start(), *FILE_BYTES.end())
}

fn no_disk(file_system: &str) -> Failure {
    Failure {
        kind: FailureKind::Refused,
        chain: vec![format!(
            "{SHARE_IN_MEMORY} ({file_system}), so there is no disk to read from"
        )],
        hint: None,
    }
}

/// Repetitions, rungs and directions in the order in which they are measured.
fn order(plan: &LadderPlan) -> Vec<(u32, Rung, Direction)> {
    let mut order = Vec::new();
    for repetition in 0..plan.repetitions {
        let more = plan.more.iter().filter(|_| repetition < MORE_REPETITIONS);
        let mut round: Vec<_> = [Rung::Tcp, Rung::Share]
            .iter()
            .chain(more)
            .flat_map(|&rung| DIRECTIONS.map(|direction| (repetition, rung, direction)))
            .filter(|(_, rung, direction)| match (rung, direction) {
                // They are made before they are read.
                (Rung::SmallFiles, Direction::Read) => !plan.read_only,
                (_, Direction::Read) | (Rung::Tcp | Rung::Streams, _) => true,
                (Rung::RoundTrip | Rung::Disk | Rung::Copy, Direction::Write) => false,
                (Rung::Share | Rung::Channels | Rung::SmallFiles, Direction::Write) => {
                    !plan.read_only
                }
            })
            .collect();
        if repetition % 2 == 1 {
            round.reverse();
        }
        order.extend(round);
    }
    order
}

fn workload(plan: &LadderPlan, rung: Rung, direction: Direction) -> Workload {
    let share = || ShareWorkload {
        direction,
        channels: 1,
        ..plan.share.clone()
    };
    match (rung, &plan.tcp) {
        (Rung::Share, _) => Workload::Share(share()),
        (Rung::Disk | Rung::Copy | Rung::SmallFiles, _) => {
            Workload::Job(job(plan, rung, direction))
        }
        (Rung::Channels, _) => Workload::Share(ShareWorkload {
            channels: plan.share.channels,
            ..share()
        }),
        (Rung::RoundTrip, _) => Workload::Share(ShareWorkload {
            block: SMALL_BLOCK,
            depth: 1,
            file_size: SMALL_FILE,
            ..share()
        }),
        (Rung::Tcp | Rung::Streams, Ok(tcp)) => Workload::Tcp(TcpWorkload {
            server: tcp.server,
            port: IPERF3_PORT,
            direction,
            streams: match rung {
                Rung::Streams => STREAMS,
                _ => tcp.streams,
            },
            nic: tcp.nic.clone(),
            timing: tcp.timing,
        }),
        (Rung::Tcp | Rung::Streams, Err(_)) => Workload::Tcp(TcpWorkload {
            server: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            port: IPERF3_PORT,
            direction,
            streams: 1,
            nic: None,
            timing: plan.share.timing,
        }),
    }
}

fn job(plan: &LadderPlan, rung: Rung, direction: Direction) -> JobWorkload {
    let bytes_max = Bytes::new(*FILE_BYTES.end());
    JobWorkload {
        share: plan.share.share.clone(),
        direction,
        job: match rung {
            Rung::Disk => Job::ReadOnce {
                file: JobFile::Found,
                bytes_max,
                cache: ServerCache::Unknown,
            },
            Rung::Copy => Job::Copy {
                file: JobFile::Found,
                bytes_max,
                folder: plan.folder.clone(),
                times: COPIES,
            },
            _ => Job::SmallFiles {
                count: SMALL_FILES,
                size: SMALL_FILE_BYTES,
            },
        },
        demands: plan.share.demands,
        limit: JOB_LIMIT,
    }
}

/// Whether trying again would be a waste of everybody's time. A server that broke off or was busy
/// may have time later.
fn is_hopeless(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Measured(_) => false,
        Outcome::Failed(failure) => {
            matches!(
                failure.kind,
                FailureKind::Usage | FailureKind::Refused | FailureKind::Unreachable
            )
        }
    }
}

fn not_measured(reason: &str) -> Failure {
    Failure {
        kind: FailureKind::Refused,
        chain: vec!["raw TCP was not measured".to_owned(), reason.to_owned()],
        hint: None,
    }
}

/// Nobody started a server for us, so nobody has to be there.
fn nobody_listens(failure: Failure) -> Failure {
    if failure.kind != FailureKind::Unreachable {
        return failure;
    }
    let reason = "there is no iperf3 server that answers, and linerate may not run commands there";
    let mut chain = vec!["raw TCP was not measured".to_owned(), reason.to_owned()];
    chain.extend(failure.chain);
    let hint = format!("run `iperf3 -s -p {IPERF3_PORT}` on the server, or name it by `--server`");
    Failure {
        kind: failure.kind,
        chain,
        hint: Some(hint),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use host::exec::Local;
    use record::{Demands, ShareAddress};

    use super::*;

    fn plan(tcp: Result<TcpRung, String>) -> LadderPlan {
        let span = Duration::from_millis(50);
        let timing = Timing {
            warm_up: span.into(),
            measured: span.into(),
            interval: span.into(),
        };
        let share = ShareWorkload {
            share: ShareAddress {
                server: "127.0.0.1".to_owned(),
                port: 1,
                share: "data".to_owned(),
                path: String::new(),
            },
            direction: Direction::Read,
            channels: 4,
            block: Bytes::new(1 << 20),
            depth: 8,
            file_size: Bytes::new(1 << 20),
            demands: Demands::default(),
            operations: None,
            timing,
        };
        LadderPlan {
            tcp,
            share,
            credentials: None,
            repetitions: 3,
            more: Vec::new(),
            read_only: false,
            folder: None,
            deadline: None,
        }
    }

    fn run(plan: &LadderPlan, script: &str, stop: &Stop) -> Vec<(u32, Rung, Direction, Outcome)> {
        let exec = Local::with_prefix(["sh", "-c", script]);
        let runner = Runner::new(Arc::new(exec), "program");
        let ladder = Ladder {
            runner: &runner,
            far: None,
            stop,
            watched: Vec::new(),
        };
        let mut trials = Vec::new();
        let done: Result<(), ()> = ladder.run(plan, &mut |_| {}, &mut |trial| {
            let Stage::Ladder { rung, repetition } = trial.stage else {
                panic!("{trial:?}")
            };
            assert!(trial.started <= trial.ended);
            if let Workload::Share(share) = &trial.workload {
                assert_eq!(share.channels, 1);
            }
            trials.push((repetition, rung, trial.workload.direction(), trial.outcome));
            Ok(())
        });
        assert_eq!(done, Ok(()));
        trials
    }

    #[test]
    fn work_that_is_done_once_reads_only_and_small_files_are_not_made_where_nothing_is_written() {
        let more = vec![Rung::Disk, Rung::Copy, Rung::SmallFiles];
        let order = |read_only| {
            let plan = LadderPlan {
                repetitions: 1,
                read_only,
                more: more.clone(),
                ..plan(Err(String::new()))
            };
            let order = order(&plan).into_iter();
            let jobs = order.filter(|(_, rung, _)| more.contains(rung));
            jobs.map(|(_, rung, direction)| (rung, direction))
                .collect::<Vec<_>>()
        };
        let (read, write) = (Direction::Read, Direction::Write);
        let once = [(Rung::Disk, read), (Rung::Copy, read)];
        assert_eq!(order(true), once);
        let small = [(Rung::SmallFiles, read), (Rung::SmallFiles, write)];
        assert_eq!(order(false), [once, small].concat());
    }

    /// A trial that fails and might do better the next time.
    const FAILS: &str = "read input; echo \
        '{\"line\":\"failure\",\"kind\":\"internal\",\"chain\":[\"x\"],\"hint\":null}'";

    #[test]
    fn rungs_are_interleaved_and_every_other_round_goes_backwards() {
        let (tcp, share) = (Rung::Tcp, Rung::Share);
        let (read, write) = (Direction::Read, Direction::Write);
        let plan = |repetitions, read_only, more: &[Rung]| LadderPlan {
            repetitions,
            read_only,
            more: more.to_vec(),
            ..plan(Err(String::new()))
        };
        assert_eq!(
            order(&plan(2, false, &[])),
            [
                (0, tcp, read),
                (0, tcp, write),
                (0, share, read),
                (0, share, write),
                (1, share, write),
                (1, share, read),
                (1, tcp, write),
                (1, tcp, read),
            ]
        );
        assert_eq!(order(&plan(0, false, &[])), []);
        // Nothing is written, one direction of a round trip is enough, and twice is often enough.
        let more = order(&plan(3, true, &[Rung::RoundTrip, Rung::Channels]));
        let count = |rung| more.iter().filter(|one| one.1 == rung).count();
        assert_eq!([Rung::RoundTrip, Rung::Channels].map(count), [2, 2]);
        assert_eq!([tcp, share].map(count), [6, 3]);
    }

    #[test]
    fn a_rung_that_cannot_be_measured_says_why_once_each_way() {
        let trials = run(
            &plan(Err("no iperf3 there".to_owned())),
            FAILS,
            &Stop::new(),
        );
        let tcp: Vec<_> = trials.iter().filter(|trial| trial.1 == Rung::Tcp).collect();
        assert_eq!(tcp.len(), 2);
        for (repetition, _, _, outcome) in tcp {
            assert_eq!(*repetition, 0);
            let Outcome::Failed(failure) = outcome else {
                panic!("{outcome:?}")
            };
            assert_eq!(
                failure.chain,
                ["raw TCP was not measured", "no iperf3 there"]
            );
        }
        // The share fails in another way, and is tried each time.
        assert_eq!(trials.len(), 2 + 2 * 3);
    }

    #[test]
    fn nobody_is_called_twice_by_raw_tcp_who_does_not_answer() {
        let calls = tempfile::NamedTempFile::new().unwrap();
        let script = format!(
            "read -r input; case $input in *'\"engine\":\"tcp\"'*) echo call >>{};; esac; echo \
             '{{\"line\":\"failure\",\"kind\":\"unreachable\",\"chain\":[\"x\"],\"hint\":null}}'",
            calls.path().display()
        );
        let plan = plan(Err(String::new()));
        let plan = LadderPlan {
            tcp: Ok(TcpRung {
                server: IpAddr::V4(Ipv4Addr::LOCALHOST),
                nic: None,
                streams: 1,
                timing: plan.share.timing,
            }),
            more: vec![Rung::Streams],
            ..plan
        };
        let trials = run(&plan, &script, &Stop::new());
        // Each of them says why, once each way, as if it had been tried.
        let raw = trials.iter().filter(|trial| trial.1 != Rung::Share);
        assert_eq!(raw.count(), 4, "{trials:?}");
        let calls = std::fs::read_to_string(calls.path()).unwrap();
        assert_eq!(calls.lines().count(), 1, "{calls}");
    }

    #[test]
    fn who_is_late_measures_raw_tcp_and_the_share_once_and_nothing_else() {
        let plan = LadderPlan {
            deadline: Some(Instant::now()),
            more: vec![Rung::RoundTrip, Rung::Disk],
            ..plan(Err(String::new()))
        };
        let trials = run(&plan, FAILS, &Stop::new());
        let rungs: Vec<_> = trials.iter().map(|trial| (trial.0, trial.1)).collect();
        let (tcp, share) = ((0, Rung::Tcp), (0, Rung::Share));
        assert_eq!(rungs, [tcp, tcp, share, share]);
    }

    #[test]
    fn a_file_takes_no_longer_than_a_slow_link_can_write_it_soon() {
        let mib = |rate: f64| file_size(rate) >> 20;
        assert_eq!([1e10, 250e6, 80e6, 12e6].map(mib), [256, 95, 32, 32]);
        assert_eq!([1e6, 1e3].map(mib), [2, 1]);
        assert_eq!([1e10, 1e6].map(copied_max), [256 << 20, 32 << 20]);
    }

    #[test]
    fn nothing_begins_after_a_stop() {
        let stop = Stop::new();
        stop.ask();
        assert_eq!(run(&plan(Err(String::new())), FAILS, &stop), []);
    }

    #[test]
    fn a_record_that_cannot_be_written_ends_the_ladder() {
        let runner = Runner::new(Arc::new(Local::new()), "/no/such/program");
        let ladder = Ladder {
            runner: &runner,
            far: None,
            stop: &Stop::new(),
            watched: Vec::new(),
        };
        let mut asked = 0;
        let done = ladder.run(&plan(Err(String::new())), &mut |_| {}, &mut |_| {
            asked += 1;
            Err("disk full")
        });
        assert_eq!((done, asked), (Err("disk full"), 1));
    }

    #[test]
    fn without_commands_on_the_server_the_hint_says_what_to_do() {
        let failure = nobody_listens(Failure {
            kind: FailureKind::Unreachable,
            chain: vec!["cannot connect".to_owned()],
            hint: Some("another".to_owned()),
        });
        assert_eq!(failure.chain.last().unwrap(), "cannot connect");
        assert!(failure.hint.unwrap().contains("iperf3 -s -p 5201"));
        let busy = Failure {
            kind: FailureKind::Refused,
            chain: Vec::new(),
            hint: None,
        };
        assert_eq!(nobody_listens(busy.clone()), busy);
    }
}
