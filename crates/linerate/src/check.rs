//! `linerate check`: measure, change nothing.

use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use analysis::{Budget, CheckBase, Mode, Next, Purpose};
use locale::{said, say, text};
use measure::{Executor, IPERF3_PORT, Setup, Stop};
use record::{
    Bytes, Direction, Event, FailureKind, HostFacts, Job, PathFacts, Plan, Record, Rung,
    ShareWorkload, SocketOptions, TcpWorkload, TrialRecord, TrialResult, Workload,
};

use crate::args::{CheckArguments, Through};
use crate::client_to_share_path::{SharePath, folder, resolve, timing};
use crate::failure::CommandError;
use crate::run_file_recorder::{self, Recorder};
use crate::stdout_and_stderr::Progress;
use crate::{changes, ctrl_c, mounted_share, path_facts};

/// Most trials of one check, whatever would still change what can be said.
const TRIALS_MAX: usize = 1000;
/// Trials that a progress bar shows; the rest depends on what is found.
const TRIALS_SHOWN: u64 = 34;
/// Size of the test file: any server's cache has room for it, and it is soon written.
const FILE_SIZE: Bytes = Bytes::new(32 << 20);
/// What is under way, and the test file, take no longer than this over a slow link, if they can.
const SLOW_SECONDS: f64 = 3.0;
/// The smallest request that becomes of it.
const BLOCK_MIN: u64 = 64 << 10;
/// Most channels that are tried.
const CHANNELS_MAX: usize = 8;
/// Most logins before the first trial: entering the share, knocking and seeing how fast it is.
const LOGINS_BEFORE: u32 = 6;

/// The further rungs that tell of the path alone.
pub const PATH_RUNGS: [Rung; 3] = [Rung::Streams, Rung::RoundTrip, Rung::Channels];
/// All of them: with those of the disks at both ends and of small files.
const RUNGS: [Rung; 6] = [
    Rung::Streams,
    Rung::RoundTrip,
    Rung::Channels,
    Rung::Disk,
    Rung::Copy,
    Rung::SmallFiles,
];

/// Runs `check`.
pub fn run(arguments: &CheckArguments) -> Result<ExitCode, CommandError> {
    // Before anybody is asked for a password: it shows whether a copy can go there only after all else.
    if let Some(into) = &arguments.into {
        folder(into, &arguments.path.client)?;
    }
    let stop = ctrl_c::listen()?;
    let (typed, mounted) = mounted_share::named(&arguments.share, &arguments.path, &stop)?;
    if mounted.is_none() && arguments.through.is_some() {
        mounted_share::may_mount(&arguments.path.client)?;
    }
    changes::tell_leftovers();
    let mut path = SharePath::open(typed, &arguments.path, &stop)?;
    path.take_mount(mounted);
    let file = measure(arguments, &path, &RUNGS, &stop)?;
    let analysis = run_file_recorder::show(&file, &arguments.output)?;
    Ok(run_file_recorder::exit_code(&analysis))
}

/// Looks at the path, measures as long as that changes what can be said, and gives the run file.
pub fn measure(
    arguments: &CheckArguments,
    path: &SharePath,
    rungs: &[Rung],
    stop: &Stop,
) -> Result<PathBuf, CommandError> {
    let begun = Instant::now();
    let timing = timing(arguments.seconds)?;
    let header = Plan::Check {
        share: path.share.address.clone(),
    };
    let seed = run_file_recorder::random_seed()?;
    let mut progress = Progress::new(TRIALS_SHOWN, arguments.output.json);
    progress.stage(&text("stage.path"));
    let (whole_path, asked) = (path.clone(), stop.clone());
    let mut seen = ctrl_c::unless_asked(stop, move || see(&whole_path, &asked))?;
    let mut path = path.clone();
    if let (None, Some(Through::System), false) =
        (&path.mounted, arguments.through, seen.is_dead_end)
    {
        let mounted = mounted_share::mount(&path, seen.address, stop)?;
        seen.looked.mount = Some(mounted.mount.clone());
        path.take_mount(Some(mounted));
    }
    let path = &path;
    // A folder is no place for whoever repeats this elsewhere.
    let user = path.share.user.as_deref();
    let target = record::with_user(&path.share.address.to_string(), user);
    let mut recorder = Recorder::with_facts(
        &arguments.output,
        (&target, &arguments.path.login),
        header,
        seed,
        seen.facts.clone(),
    )?;
    recorder.append_record(&Record::Path(Box::new(seen.looked.clone())))?;
    if seen.is_dead_end {
        // What the look says is the whole answer: whoever sends data there waits for ever.
        return finish(recorder);
    }
    let mut check = Check {
        begun,
        seed,
        mode: mode(arguments),
        base: base(arguments, path, rungs, &seen, timing),
        seen: &seen,
        path,
        stop,
    };
    check.run(&mut recorder, &mut progress)?;
    if stop.is_asked() {
        return Err(ctrl_c::interrupted());
    }
    finish(recorder)
}

fn mode(arguments: &CheckArguments) -> Mode {
    match (arguments.quick, arguments.thorough) {
        (true, _) => Mode::Quick,
        (_, true) => Mode::Thorough,
        _ => Mode::Normal,
    }
}

/// How to measure on this path.
fn base(
    arguments: &CheckArguments,
    path: &SharePath,
    rungs: &[Rung],
    seen: &Seen,
    timing: record::Timing,
) -> CheckBase {
    let share = ShareWorkload {
        file_size: FILE_SIZE,
        ..path.workload(Direction::Read, 1, timing)
    };
    CheckBase {
        tcp: Ok(TcpWorkload {
            server: seen.address,
            port: IPERF3_PORT,
            direction: Direction::Read,
            streams: 1,
            nic: None,
            socket: SocketOptions::default(),
            timing,
        }),
        share: match seen.pace {
            Some(pace) => fitting(share, pace),
            None => share,
        },
        channels: channels(seen.looked.mtus.len()),
        sources: sources(seen),
        more: rungs.to_vec(),
        rounds: arguments.repetitions,
        read_only: arguments.read_only || path.is_mounted_read_only(),
        folder: arguments.into.clone(),
        mounted: path.mounted.as_ref().map(|it| it.folder.clone()),
    }
}

/// Other addresses of ours from which something passed to the server; the pair that is used comes first.
fn sources(seen: &Seen) -> Vec<IpAddr> {
    let client = seen.facts.first();
    let proofs = seen
        .looked
        .mtus
        .iter()
        .skip(1)
        .filter(|proof| proof.answered.is_some());
    let sources = proofs.filter_map(|proof| {
        let nic = client?.nic(&proof.nic)?;
        let remote = proof.remote?;
        let ours = nic.addresses.iter().find(|entry| entry.contains(remote))?;
        Some(ours.address)
    });
    sources.collect()
}

/// A check whose path has been looked at.
struct Check<'a> {
    begun: Instant,
    seed: u64,
    mode: Mode,
    base: CheckBase,
    seen: &'a Seen,
    path: &'a SharePath,
    stop: &'a Stop,
}

impl Check<'_> {
    /// Runs block after block, each chosen by what the trials before it have shown.
    fn run(
        &mut self,
        recorder: &mut Recorder,
        progress: &mut Progress,
    ) -> Result<(), CommandError> {
        let hosts = self.path.hosts().into_iter();
        let mut executor = Executor::new(Setup {
            runner: &self.path.runner,
            far: self.path.server.as_ref().map(|it| it.exec.as_ref()),
            stop: self.stop,
            watched: hosts
                .filter(|host| self.seen.facts.iter().any(|facts| facts.name == host.name))
                .map(|host| (host.name.clone(), host.exec.as_ref()))
                .collect(),
            share: self.base.share.clone(),
            credentials: Some(self.path.credentials.clone()),
            read_only: self.base.read_only,
            logins: LOGINS_BEFORE,
        });
        let mut trials: Vec<TrialRecord> = Vec::new();
        while let Some(next) = self.next(&trials) {
            progress.stage(&purpose(&next.why));
            for (stage, workload) in next.trials {
                if trials.len() >= TRIALS_MAX || !executor.may_run(&workload) {
                    return Ok(());
                }
                progress.detail(&detail(&workload));
                progress.advance();
                let done = executor.run(stage, workload, &mut |_| {});
                let since = |instant: Instant| instant.duration_since(recorder.began()).into();
                let record = TrialRecord {
                    id: trials.len() as u64,
                    stage: done.stage,
                    workload: done.workload,
                    settings: Vec::new(),
                    started: since(done.started),
                    ended: since(done.ended),
                    outcome: done.outcome,
                    loads: done.loads,
                };
                recorder.append_record(&Record::Trial(Box::new(record.clone())))?;
                trials.push(record);
            }
        }
        Ok(())
    }

    fn next(&self, trials: &[TrialRecord]) -> Option<Next> {
        let budget = Budget {
            mode: self.mode,
            spent: self.begun.elapsed(),
        };
        let trials: Vec<&TrialRecord> = trials.iter().collect();
        let path = Some(&self.seen.looked);
        analysis::next(
            &self.seen.facts,
            path,
            &trials,
            &self.base,
            &budget,
            self.seed,
        )
    }
}

/// What is known before anything is measured.
struct Seen {
    /// The server's address that raw TCP is measured to.
    address: IpAddr,
    facts: Vec<HostFacts>,
    looked: PathFacts,
    /// About how many bytes a second the share moves, where that is known.
    pace: Option<f64>,
    /// Whether nothing can be measured, because large packets vanish on the path.
    is_dead_end: bool,
}

fn see(path: &SharePath, stop: &Stop) -> Result<Seen, CommandError> {
    let mut address = resolve(&path.client, &path.share.address.server)?;
    let (facts, missing) = path.facts()?;
    let mut looked = path_facts::gather(path, &facts, None, stop)?;
    let mut is_dead_end = is_black_hole(&looked);
    let mut pace = None;
    if !is_dead_end {
        match knock(path, stop) {
            Ok(answer) => {
                let mut connections = answer.connections.iter();
                if let Some(used) = connections.next().map(|used| used.remote.ip())
                    && used != address
                    && looked.addresses.iter().any(|way| way.address == used)
                {
                    // Nobody answers at the first address, which is where all was looked at.
                    looked = path_facts::gather(path, &facts, Some(used), stop)?;
                    address = used;
                }
                let listed = answer.session.as_ref();
                let listed = listed.map_or(&[][..], |session| &session.server_interfaces);
                path_facts::gather_other_pairs(path, &facts, listed, &mut looked, stop);
                looked.session = answer.session;
                pace = path.pace(stop);
            }
            // Large packets that vanish stop a session just so: what could not be proven before may be now.
            Err(error) if error.kind() == FailureKind::Unreachable => {
                looked = path_facts::gather(path, &facts, None, stop)?;
                is_dead_end = is_black_hole(&looked);
                if !is_dead_end {
                    return Err(error);
                }
            }
            Err(error) => return Err(error),
        }
    }
    looked.missing.extend(missing);
    looked.mount = path.mounted.as_ref().map(|it| it.mount.clone());
    Ok(Seen {
        address,
        facts,
        looked,
        pace,
        is_dead_end,
    })
}

/// Enters the share and sees whether data comes through. One on which we may not write is entered all
/// the same: what that leaves unmeasured, its trials say.
fn knock(path: &SharePath, stop: &Stop) -> Result<TrialResult, CommandError> {
    let entered = path.enter(stop)?;
    match path.knock(stop) {
        Err(error) if error.kind() == FailureKind::Refused => Ok(entered),
        knocked => knocked,
    }
}

/// A share that moves so many bytes a second gets smaller requests and a smaller file where it is slow:
/// the file has to be written, and what is under way has to arrive before anything else does.
fn fitting(share: ShareWorkload, pace: f64) -> ShareWorkload {
    let most = (pace * SLOW_SECONDS) as u64;
    let block = (most / u64::from(share.depth)).max(BLOCK_MIN);
    let block = share.block.get().min(1 << block.ilog2());
    let file_size = share.file_size.get().min(most.max(block) / block * block);
    ShareWorkload {
        block: Bytes::new(block),
        file_size: Bytes::new(file_size),
        ..share
    }
}

fn is_black_hole(looked: &PathFacts) -> bool {
    looked.mtus.iter().any(record::MtuProof::is_black_hole)
}

fn finish(mut recorder: Recorder) -> Result<PathBuf, CommandError> {
    recorder.event(Event::Finished)?;
    Ok(recorder.path().to_owned())
}

/// One channel for each pair of NICs, as far as that is worth trying.
fn channels(pairs: usize) -> u32 {
    u32::try_from(pairs.clamp(1, CHANNELS_MAX)).unwrap_or(1)
}

/// What a block proves.
fn purpose(why: &Purpose) -> String {
    said(&match why {
        Purpose::Ladder => say("stage.ladder"),
        Purpose::Cause(id) => say("stage.cause").with("cause", id.as_str()),
        Purpose::Splitter(_) => say("stage.kind-of-limit"),
        Purpose::Reliefs => say("stage.hidden-limits"),
    })
}

/// What runs at this moment.
fn detail(workload: &Workload) -> String {
    let step = match workload {
        Workload::Tcp(_) => "step.tcp",
        Workload::Share(_) => "step.share",
        Workload::Folder(_) | Workload::Task(_) => "step.folder",
        Workload::Job(job) => match &job.job {
            Job::Enter => "step.login",
            Job::ReadOnce { .. } => "step.server-disk",
            Job::Copy { .. } => "step.copy",
            Job::SmallFiles { .. } => "step.small-files",
        },
    };
    said(&say(step).with("direction", workload.direction()))
}

#[cfg(test)]
mod tests {
    use record::{Demands, ShareAddress};

    use super::*;

    #[test]
    fn a_slow_share_gets_less_to_do_at_once() {
        let said = |pace: f64| {
            let share = ShareWorkload {
                share: ShareAddress {
                    server: "nas".to_owned(),
                    port: 445,
                    share: "media".to_owned(),
                    path: String::new(),
                },
                direction: Direction::Read,
                channels: 1,
                block: Bytes::new(1 << 20),
                depth: 8,
                file_size: FILE_SIZE,
                demands: Demands::default(),
                operations: None,
                timing: timing(1.0).expect("a length that makes sense"),
                sessions: 1,
                connections: 1,
                file: record::FileUse::default(),
                socket: record::SocketOptions::default(),
            };
            let share = fitting(share, pace);
            let [block, file] = [share.block, share.file_size].map(|size| size.get() >> 10);
            measure::check(&Workload::Share(share)).expect("it makes sense");
            (block, file)
        };
        // From 100 Mbit/s on as ever; then 8 and 4 Mbit/s, and next to nothing.
        assert_eq!([120e6, 12e6].map(said), [(1024, 32 << 10); 2]);
        assert_eq!(said(1e6), (256, 2816));
        assert_eq!(said(0.5e6), (128, 1408));
        assert_eq!(said(1.0), (64, 64));
    }
}
