//! Starting a trial as a child process on the client host, and ending it.

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use host::exec::{Command, Exec, Output, Process, STATUS_NO_PROGRAM};
use locale::{Message, say};
use record::{
    Bytes, Failure, FailureKind, KeepInput, MtuProof, Sample, TrialInput, TrialLine, TrialResult,
    Workload,
};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::stop_request::{STOP_POLL, wait_unless_asked};
use crate::trial_process::performer;
use crate::{Error, MtuTarget, Stop};

/// What a trial may take beside its warm-up and counted time: start, login, the exchange at the end.
const OVERHEAD: Duration = Duration::from_secs(60);
/// The same of work that is done once.
const JOB_OVERHEAD: Duration = Duration::from_secs(20);
/// The slowest share that still gets its test file written in time, in bytes per second.
const SLOWEST_SHARE: u64 = 4_000_000;
/// What the slowest share moves while it makes or opens a file.
const STEP_BYTES: u64 = 100_000;
/// How long a trial may take to end once it has given its result.
const END_LIMIT: Duration = Duration::from_secs(10);
/// The same where it has none: it removes what it made, but cannot on a share that no longer answers.
const TIDY_LIMIT: Duration = performer::TIDY_LIMIT.saturating_add(Duration::from_millis(500));
/// How long probing all pairs of NICs may take.
const PROBE_LIMIT: Duration = Duration::from_secs(20);
/// Longest line of a trial's output.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// Most bytes of a trial's output.
const OUTPUT_BYTES_MAX: u64 = 64 << 20;
/// Lines that wait to be looked at.
const LINES_WAITING: usize = 64;
/// Characters of standard error that a failure repeats.
const ERROR_TEXT_CHARS_MAX: usize = 500;

/// Runs trials on a client host, each in a process of its own.
#[derive(Clone, Debug)]
pub struct Runner {
    exec: Arc<dyn Exec>,
    program: String,
}

/// A trial's input, as long as it shall live.
type Stdin = Option<Box<dyn Write + Send>>;
/// A trial that was told what to do.
type Started = (Process, Stdin, Receiver<Heard>);
/// What the thread that reads a trial's output hands on.
pub(crate) type Heard = Result<TrialLine, Message>;

impl Runner {
    /// Trials run through `exec`; `program` is linerate's path there.
    pub fn new(exec: Arc<dyn Exec>, program: impl Into<String>) -> Self {
        Self {
            exec,
            program: program.into(),
        }
    }

    /// Runs one trial to its end; `progress` gets each sample when it is over. The trial is asked to end when it takes
    /// too long and when `stop` asks for it. If it does not, it is killed with its process group, as in all other cases.
    ///
    /// # Errors
    /// When it could not be measured, for whatever reason.
    pub fn run(
        &self,
        input: &TrialInput,
        stop: &Stop,
        progress: &mut dyn FnMut(&Sample),
    ) -> Result<TrialResult, Failure> {
        let limit = limit(&input.workload)?;
        self.run_within(limit, input, stop, progress)
    }

    /// Finds the largest packets that pass between pairs of NICs, all of them at once, from the client
    /// host. Nothing is changed, and nothing that the system believes of the paths is used. The process
    /// is ended when `stop` asks for it.
    ///
    /// # Errors
    /// When no such process can be run there, or it was stopped.
    pub fn prove_mtus(&self, targets: &[MtuTarget], stop: &Stop) -> Result<Vec<MtuProof>, Failure> {
        let input = serde_json::to_string(targets).unwrap_or_default();
        let command = Command::new([self.program.as_str(), "probe"]).with_stdin(input);
        let process = self
            .exec
            .spawn(&command)
            .map_err(|error| of_host(error, &self.program))?;
        let output = wait_unless_asked(process, PROBE_LIMIT, stop);
        let output = output.map_err(|error| error.failure())?;
        let proven = (output.status == 0)
            .then(|| serde_json::from_slice(&output.stdout).ok())
            .flatten();
        proven.ok_or_else(|| {
            let reason = say("error-measure.nonsense-of-probe").with("program", &self.program);
            other_version(reason)
        })
    }

    fn run_within(
        &self,
        limit: Duration,
        input: &TrialInput,
        stop: &Stop,
        progress: &mut dyn FnMut(&Sample),
    ) -> Result<TrialResult, Failure> {
        let begun = Instant::now();
        let (process, stdin, heard) = self.start(input)?;
        let line = wait(&heard, begun + limit, stop, progress);
        let ended = self.end(line, limit, stdin, process);
        let ms = begun.elapsed().as_millis();
        match &ended {
            Ok(_) => tracing::debug!(workload = ?input.workload, ms, "trial ended"),
            Err(failure) => {
                tracing::warn!(workload = ?input.workload, ms, ?failure, "trial failed")
            }
        }
        ended
    }

    /// Starts the program and tells it what to do.
    fn start(&self, input: &impl Serialize) -> Result<Started, Failure> {
        let command = Command::new([self.program.as_str(), "trial"]);
        let mut process = self
            .exec
            .spawn(&command)
            .map_err(|error| of_host(error, &self.program))?;
        let mut stdin = process.take_stdin();
        if let Some(stdin) = &mut stdin {
            // A program that is not there has closed it; its status says so below.
            feed(stdin, input).ok();
        }
        let heard = read_lines(&mut process)?;
        Ok((process, stdin, heard))
    }

    /// Makes a test file on the client, or on a share from there, and keeps it for other trials.
    ///
    /// # Errors
    /// When it cannot be made, for whatever reason.
    pub fn keep(&self, input: &KeepInput, stop: &Stop) -> Result<Kept, Failure> {
        let limit = OVERHEAD + Duration::from_secs(input.keep.file_size.get() / SLOWEST_SHARE);
        let (process, stdin, heard) = self.start(input)?;
        match wait(&heard, Instant::now() + limit, stop, &mut |_| {}) {
            Waited::Line(TrialLine::Kept { file, direct }) => Ok(Kept {
                file,
                direct,
                held: Some((process, stdin)),
            }),
            line => match self.end(line, limit, stdin, process) {
                Err(failure) => Err(failure),
                Ok(_) => Err(other_version(say("error-measure.measured-for-kept"))),
            },
        }
    }

    /// What a trial's last line means, and its end.
    fn end(
        &self,
        line: Waited,
        limit: Duration,
        stdin: Stdin,
        process: Process,
    ) -> Result<TrialResult, Failure> {
        // It ends by itself now, or because its input does, and removes what it made before.
        drop(stdin);
        let end_limit = match line {
            Waited::Line(TrialLine::Result(_)) | Waited::Ended => END_LIMIT,
            _ => TIDY_LIMIT,
        };
        let ended = process.wait(end_limit);
        match line {
            Waited::Line(TrialLine::Result(result)) => {
                ended.map_err(|error| Error::from(error).failure())?;
                Ok(*result)
            }
            Waited::Line(TrialLine::Failure(failure)) => Err(failure),
            Waited::Line(TrialLine::Sample(_) | TrialLine::Kept { .. }) | Waited::Ended => {
                Err(self.why_it_ended(ended))
            }
            Waited::Stopped => Err(Error::Stopped.failure()),
            Waited::Late => {
                let late = say("error-measure.late").with("limit", format!("{limit:?}"));
                let failure = Failure::new(FailureKind::Unreachable, late);
                Err(failure.with_hint(say("hint-measure.late")))
            }
            Waited::Nonsense(reason) => Err(other_version(
                say("error-measure.nonsense-of-trial")
                    .with("program", &self.program)
                    .with("reason", reason),
            )),
        }
    }

    fn why_it_ended(&self, ended: Result<Output, host::Error>) -> Failure {
        let program = &self.program;
        match ended {
            Err(error) => Error::from(error).failure(),
            Ok(output) if output.status == STATUS_NO_PROGRAM => no_program(program),
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stderr);
                let ended = say("error-measure.no-result")
                    .with("program", program)
                    .with("status", output.status.to_string());
                let mut failure = Failure::new(FailureKind::Internal, ended);
                let said: String = text.trim().chars().take(ERROR_TEXT_CHARS_MAX).collect();
                if !said.is_empty() {
                    failure.push(&said.into());
                }
                failure
            }
        }
    }
}

/// A test file that is there until this is dropped.
pub struct Kept {
    file: String,
    direct: Option<Bytes>,
    held: Option<(Process, Stdin)>,
}

impl Kept {
    /// Its name, for trials that use it.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// What operations past the client's cache must be a multiple of, where that is known.
    #[must_use]
    pub const fn direct(&self) -> Option<Bytes> {
        self.direct
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some((process, stdin)) = self.held.take() {
            drop(stdin);
            // It removes the file because its input has ended; if it cannot, nobody else can.
            process.wait(TIDY_LIMIT).ok();
        }
    }
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Kept")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

/// The longest time a trial may take.
fn limit(workload: &Workload) -> Result<Duration, Failure> {
    let (timing, moved) = match workload {
        Workload::Tcp(tcp) => (&tcp.timing, 0),
        Workload::Share(share) => (&share.timing, share.file_size.get()),
        Workload::Folder(folder) => (&folder.timing, folder.file_size.get()),
        Workload::Task(task) => (&task.timing, moved(&task.task)),
        Workload::Job(job) => return Ok(JOB_OVERHEAD + Duration::from(job.limit)),
    };
    let spans = crate::interval_sampling::Spans::new(timing).map_err(|error| error.failure())?;
    let preparation = Duration::from_secs(moved / SLOWEST_SHARE);
    Ok(spans.whole() + OVERHEAD + preparation)
}

/// What a task moves at most, each of its files and steps taken for as much as a slow share moves in
/// the time that it may take: it is made, worked with and removed.
fn moved(task: &record::Task) -> u64 {
    let steps = match task {
        record::Task::Lock(times) => u64::from(*times),
        record::Task::List(list) => u64::from(list.times) * u64::from(list.entries),
        task => u64::from(task.files()),
    };
    let steps = steps.saturating_mul(3 * STEP_BYTES);
    task.space_needed()
        .get()
        .saturating_mul(3)
        .saturating_add(steps)
}

fn feed(stdin: &mut dyn Write, input: &impl Serialize) -> io::Result<()> {
    let mut line = Zeroizing::new(serde_json::to_vec(input)?);
    line.push(b'\n');
    stdin.write_all(&line)?;
    stdin.flush()
}

enum Waited {
    Line(TrialLine),
    Ended,
    Stopped,
    Late,
    Nonsense(Message),
}

/// Hands samples on until there is something else.
fn wait(
    heard: &Receiver<Heard>,
    deadline: Instant,
    stop: &Stop,
    progress: &mut dyn FnMut(&Sample),
) -> Waited {
    loop {
        if stop.is_asked() {
            return Waited::Stopped;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Waited::Late;
        }
        match heard.recv_timeout(left.min(STOP_POLL)) {
            Ok(Ok(TrialLine::Sample(sample))) => progress(&sample),
            Ok(Ok(line)) => return Waited::Line(line),
            Ok(Err(reason)) => return Waited::Nonsense(reason),
            Err(RecvTimeoutError::Disconnected) => return Waited::Ended,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Reads a trial's output on a thread of its own, which ends with the process or with the receiver.
fn read_lines(process: &mut Process) -> Result<Receiver<Heard>, Failure> {
    let (sender, heard) = mpsc::sync_channel(LINES_WAITING);
    if let Some(stdout) = process.take_stdout() {
        let reading = move || {
            let mut stdout = stdout.take(OUTPUT_BYTES_MAX);
            while let Some(line) = next_line(&mut stdout) {
                let ends = line.is_err();
                if sender.send(line).is_err() || ends {
                    return;
                }
            }
        };
        thread::Builder::new().spawn(reading).map_err(|source| {
            Error::System {
                action: say("error-measure.start-thread"),
                source,
            }
            .failure()
        })?;
    }
    Ok(heard)
}

pub(crate) fn next_line(stdout: &mut impl BufRead) -> Option<Heard> {
    let mut line = Vec::new();
    match stdout.take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) if !line.ends_with(b"\n") => Some(Err(
            say("error-measure.endless-line").count("bytes", line.len())
        )),
        Ok(_) => Some(serde_json::from_slice(&line).map_err(|error| error.to_string().into())),
    }
}

fn of_host(error: host::Error, program: &str) -> Failure {
    match &error {
        host::Error::Start { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            no_program(program)
        }
        _ => Error::from(error).failure(),
    }
}

fn no_program(program: &str) -> Failure {
    let missing = say("error-measure.no-program").with("program", program);
    Failure::new(FailureKind::Refused, missing).with_hint(say("hint-measure.no-program"))
}

/// The program at the other end does not do what this one expects of it.
fn other_version(what: Message) -> Failure {
    Failure::new(FailureKind::Internal, what).with_hint(say("hint-measure.same-version"))
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use host::exec::Local;
    use record::{Direction, TcpWorkload, Timing};

    use super::*;

    fn input() -> TrialInput {
        let workload = TcpWorkload {
            server: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 1,
            direction: Direction::Read,
            streams: 1,
            nic: None,
            timing: Timing {
                warm_up: Duration::ZERO.into(),
                measured: Duration::from_millis(10).into(),
                interval: Duration::from_millis(10).into(),
            },
            socket: record::SocketOptions::default(),
        };
        TrialInput {
            workload: Workload::Tcp(workload),
            credentials: None,
        }
    }

    /// Runs a shell script in place of linerate.
    fn run(script: &str, limit: Duration, stop: &Stop) -> Result<TrialResult, Failure> {
        // Its one argument, `trial`, is the script's name for itself.
        let exec = Local::with_prefix(["sh", "-c", script]);
        let runner = Runner::new(Arc::new(exec), "program");
        runner.run_within(limit, &input(), stop, &mut |_| {})
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_trial_that_hangs_is_ended_in_time() {
        let begun = Instant::now();
        let failure = run("sleep 1000", Duration::from_millis(100), &Stop::new()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unreachable, "{failure:?}");
        assert!(begun.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_stop_ends_a_trial() {
        let stop = Stop::new();
        stop.ask();
        let begun = Instant::now();
        let failure = run("sleep 1000", LONG, &stop).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Interrupted);
        assert!(begun.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_trial_that_ends_without_a_result_is_told_with_its_last_words() {
        let failure = run("echo out of memory >&2; exit 3", LONG, &Stop::new()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Internal);
        assert_eq!(
            failure.chain[0],
            "`program trial` ended without a result, status 3"
        );
        assert_eq!(failure.chain[1], "out of memory");
    }

    #[test]
    fn output_is_bounded_and_must_make_sense() {
        for script in [
            "echo hello",
            "tr '\\0' x </dev/zero",
            "echo '{\"line\":\"sample\"}'",
        ] {
            let failure = run(script, LONG, &Stop::new()).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Internal, "{failure:?}");
            assert!(
                failure.chain[0].contains("does not talk as it should"),
                "{failure:?}"
            );
        }
    }

    #[test]
    fn a_failure_comes_through_as_it_was_written() {
        let mut wanted = Failure::new(FailureKind::Refused, "a");
        wanted.push(&say("error-measure.no-iperf"));
        let wanted = wanted.with_hint(say("hint-measure.no-iperf"));
        let line = serde_json::to_string(&TrialLine::Failure(wanted.clone())).unwrap();
        let script = format!("read line; echo '{line}'");
        assert_eq!(run(&script, LONG, &Stop::new()), Err(wanted));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let runner = Runner::new(Arc::new(Local::new()), "/no/such/linerate");
        let failure = runner.run(&input(), &Stop::new(), &mut |_| {}).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Refused);
        assert!(
            failure.chain[0].contains("/no/such/linerate"),
            "{failure:?}"
        );
    }

    #[test]
    fn the_trial_gets_its_input_and_keeps_it_open() {
        // `timeout` says 124 when `cat` did not see the end of its input in that time.
        let line = r#"{"line":"failure","kind":"refused","chain":["read"],"hint":null}"#;
        let script = format!(
            "read input; case $input in *'\"engine\":\"tcp\"'*) \
             timeout --foreground 0.2 cat; test $? = 124 && echo '{line}';; esac"
        );
        let failure = run(&script, LONG, &Stop::new()).unwrap_err();
        assert_eq!(failure.chain, ["read"]);
    }
}
