//! The process that does what is asked: what it writes, and how it ends when the caller is gone.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use locale::say;
use record::{FailureKind, Sandbox, TrialLine, TrialResult, Workload};
use smb::Login;

use super::input::Input;
use crate::scratch_folder::ScratchFolder;
use crate::stop_request::STOP_POLL;
use crate::{
    Error, Stop, fio_folder, iperf3_client, kept_test_file, read_copy_small_files, second_mount,
    share_workload, whole_file_tasks,
};

/// How long one whose input has ended may take to remove what it has made.
pub(crate) const TIDY_LIMIT: Duration = Duration::from_secs(3);

/// Why a trial's process ends without a result. It was written to standard output already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// Whose turn it is.
    Kind(FailureKind),
    /// The exit code of the process that worked apart.
    Status(u8),
}

/// Writes a failure as the only line.
pub(crate) fn fail(stdout: &mut impl Write, error: &Error) -> Result<(), Failed> {
    // Whoever reads may be gone.
    write_line(stdout, &TrialLine::Failure(error.failure())).ok();
    Err(Failed::Kind(error.kind()))
}

/// Ends what is under way when the caller is gone: gently where it leaves something behind.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    stop: Stop,
    over: Arc<AtomicBool>,
    tidies: bool,
}

impl Watched {
    pub(crate) fn new(input: &Input) -> Self {
        Self {
            stop: Stop::new(),
            over: Arc::default(),
            tidies: input.tidies(),
        }
    }

    pub(crate) const fn stop(&self) -> &Stop {
        &self.stop
    }

    /// What was asked for is done.
    pub(crate) fn finish(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// To be called, on a thread of its own, when the caller is gone.
    pub(crate) fn abandoned(&self, orphaned: impl FnOnce()) {
        self.stop.ask();
        let deadline = Instant::now() + TIDY_LIMIT;
        while self.tidies && Instant::now() < deadline && !self.over.load(Ordering::Acquire) {
            thread::sleep(STOP_POLL);
        }
        if !self.over.load(Ordering::Acquire) {
            orphaned();
        }
    }
}

/// Reads what is left of an input, on a thread of its own, and calls `gone` at its end: until then the caller
/// waits for us.
pub(crate) fn when_ended(
    mut input: impl Read + Send + 'static,
    gone: impl FnOnce() + Send + 'static,
) -> Result<(), Error> {
    let watch = move || {
        io::copy(&mut input, &mut io::sink()).ok();
        gone();
    };
    let started = thread::Builder::new().spawn(watch);
    started.map(drop).map_err(|source| Error::System {
        action: say("error-measure.start-thread"),
        source,
    })
}

/// What the process has that does what is asked.
pub(crate) struct Performer<'a> {
    pub(crate) login: &'a Login,
    /// The folder of this machine that it copies from or to.
    pub(crate) near: Option<&'a ScratchFolder>,
    /// How far it is confined.
    pub(crate) sandbox: Option<Sandbox>,
}

/// Does what is asked, until it is stopped because the caller is gone.
pub(crate) fn perform(
    input: &Input,
    by: &Performer<'_>,
    stdout: &mut impl Write,
    watched: &Watched,
) -> Result<(), Failed> {
    let mut write = |line: &TrialLine| {
        // Whoever reads may be gone. Then standard input is closed as well, and that ends us.
        write_line(&mut *stdout, line).ok();
    };
    let result = match input {
        Input::Trial(input) => run(
            &input.workload,
            by.login,
            by.near,
            &watched.stop,
            &mut write,
        )
        .map(Some),
        Input::Keep(input) => {
            kept_test_file::run(input, by.login, &watched.stop, &mut write).map(|()| None)
        }
    };
    // Before the last line: who has read that may close our input.
    watched.finish();
    match result {
        Ok(Some(mut result)) => {
            result.sandbox = by.sandbox;
            write(&TrialLine::Result(Box::new(result)));
            Ok(())
        }
        Ok(None) => Ok(()),
        Err(error) => fail(stdout, &error),
    }
}

/// Does the work of one trial. Where something is mounted for it, this thread sees it until it ends, and so does what it
/// starts.
pub(super) fn run(
    workload: &Workload,
    login: &Login,
    near: Option<&ScratchFolder>,
    stop: &Stop,
    emit: &mut dyn FnMut(&TrialLine),
) -> Result<TrialResult, Error> {
    super::check(workload)?;
    if let Some(mount) = workload.second_mount() {
        second_mount::mount(mount, login, stop)?;
    }
    match workload {
        Workload::Tcp(workload) => iperf3_client::run(workload, stop, emit),
        Workload::Share(workload) => share_workload::run(workload, login, stop, emit),
        Workload::Folder(workload) => fio_folder::run(workload, stop, emit),
        Workload::Task(workload) => whole_file_tasks::run(workload, login, near, stop, emit),
        Workload::Job(workload) => read_copy_small_files::run(workload, login, near, stop, emit),
    }
}

fn write_line(stdout: &mut impl Write, line: &TrialLine) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    stdout.write_all(&text)?;
    stdout.flush()
}
