//! One trial, and the process it runs in.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use locale::say;
use record::{
    Credentials, FailureKind, KeepInput, Place, Sandbox, Secret, TaskWorkload, TrialInput,
    TrialLine, TrialResult, Workload,
};
use smb::Login;
use zeroize::Zeroizing;

use crate::counters::Spans;
use crate::scratch::ScratchFolder;
use crate::stop::STOP_POLL;
use crate::worker::Worker;
use crate::{Error, Stop, folder, job, keep, local_copy_folder, share, task, tcp};

/// How long one whose input has ended may take to remove what it has made.
const TIDY_LIMIT: Duration = Duration::from_secs(3);
/// Longest line that is taken as a trial's input.
const INPUT_BYTES_MAX: usize = 64 << 10;

/// Runs one trial in this process. `emit` gets each sample when it is over.
///
/// # Errors
/// When it could not be measured; [`Error::kind`] tells whose turn it is.
pub fn trial(
    input: &TrialInput,
    stop: &Stop,
    emit: &mut dyn FnMut(&TrialLine),
) -> Result<TrialResult, Error> {
    let near = local_copy_folder::make(&input.workload, stop)?;
    let login = share::login(input.credentials.as_ref());
    run(&input.workload, &login, near.as_ref(), stop, emit)
}

fn run(
    workload: &Workload,
    login: &Login,
    near: Option<&ScratchFolder>,
    stop: &Stop,
    emit: &mut dyn FnMut(&TrialLine),
) -> Result<TrialResult, Error> {
    match workload {
        Workload::Tcp(workload) => tcp::run(workload, stop, emit),
        Workload::Share(workload) => share::run(workload, login, stop, emit),
        Workload::Folder(workload) => folder::run(workload, stop, emit),
        Workload::Task(workload) => task::run(workload, login, near, stop, emit),
        Workload::Job(workload) => job::run(workload, login, near, stop, emit),
    }
}

/// Says whether a trial makes sense, before anything is touched.
///
/// # Errors
/// What its trial would refuse it for: [`Error::Usage`].
pub fn check(workload: &Workload) -> Result<(), Error> {
    match workload {
        Workload::Tcp(workload) => tcp::check(workload)?,
        Workload::Share(workload) => share::policy(workload).map(drop)?,
        Workload::Folder(workload) => folder::check(workload)?,
        Workload::Task(workload) => task::check(workload)?,
        Workload::Job(_) => return Ok(()),
    }
    Spans::new(&workload.timing()).map(drop)
}

/// Why a trial's process ends without a result. It was written to standard output already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// Whose turn it is.
    Kind(FailureKind),
    /// The exit code of the process that worked apart.
    Status(u8),
}

/// What `linerate trial` does: one line of JSON in, JSON Lines out.
///
/// What starts no program is done in a process of its own that has no rights, where `worker` says how to start
/// one: its standard output is this process's.
///
/// When `stdin` ends before the trial does, whoever asked for it is gone: `orphaned` is called, on
/// another thread, and has to end the process at once.
///
/// # Errors
/// The failure was written to `stdout` already.
pub fn trial_main(
    mut stdin: impl Read + Send + 'static,
    mut stdout: impl Write,
    worker: Option<&Worker>,
    orphaned: impl FnOnce() + Send + 'static,
) -> Result<(), Failed> {
    let input = match read_input(&mut stdin) {
        Ok(input) => input,
        Err(error) => return fail(&mut stdout, &error),
    };
    if let Some(worker) = worker.filter(|_| !input.starts_programs()) {
        let ended = worker.run(&input, stdin, orphaned);
        return ended.unwrap_or_else(|error| fail(&mut stdout, &error));
    }
    let login = share::login(input.credentials());
    let watched = Watched::new(&input);
    let watch = watched.clone();
    if let Err(error) = when_ended(stdin, move || watch.abandoned(orphaned)) {
        return fail(&mut stdout, &error);
    }
    let near = match input.near(&watched.stop) {
        Ok(near) => near,
        Err(error) => return fail(&mut stdout, &error),
    };
    let by = Performer {
        login: &login,
        near: near.as_ref(),
        sandbox: None,
    };
    perform(&input, &by, &mut stdout, &watched)
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
        Input::Keep(input) => keep::run(input, by.login, &watched.stop, &mut write).map(|()| None),
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

fn write_line(stdout: &mut impl Write, line: &TrialLine) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    stdout.write_all(&text)?;
    stdout.flush()
}

/// What is asked of this process.
#[derive(Clone)]
pub(crate) enum Input {
    Trial(Box<TrialInput>),
    Keep(Box<KeepInput>),
}

impl Input {
    pub(crate) fn credentials(&self) -> Option<&Credentials> {
        match self {
            Self::Trial(input) => input.credentials.as_ref(),
            Self::Keep(input) => input.credentials.as_ref(),
        }
    }

    /// The server that it logs in to; none where there is none.
    pub(crate) fn server(&self) -> &str {
        let place = match self {
            Self::Trial(input) => match &input.workload {
                Workload::Share(workload) => return &workload.share.server,
                Workload::Job(workload) => return &workload.share.server,
                Workload::Task(workload) => &workload.place,
                Workload::Tcp(_) | Workload::Folder(_) => return "",
            },
            Self::Keep(input) => &input.keep.place,
        };
        match place {
            Place::Share { share, .. } => &share.server,
            Place::Folder { .. } => "",
        }
    }

    /// The folder that it works in with the rights of this user, as well as in the one that is made for it.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Trial(input) => match &input.workload {
                Workload::Task(TaskWorkload {
                    place: Place::Folder { folder, .. },
                    ..
                }) => Some(Path::new(folder)),
                _ => None,
            },
            Self::Keep(_) => None,
        }
    }

    /// Makes the folder that it copies from or to.
    pub(crate) fn near(&self, stop: &Stop) -> Result<Option<ScratchFolder>, Error> {
        match self {
            Self::Trial(input) => local_copy_folder::make(&input.workload, stop),
            Self::Keep(_) => Ok(None),
        }
    }

    /// The same folder, for the process that was started in it.
    pub(crate) fn given(&self) -> Result<Option<ScratchFolder>, Error> {
        match self {
            Self::Trial(input) => local_copy_folder::is_needed(&input.workload)
                .then(ScratchFolder::given)
                .transpose(),
            Self::Keep(_) => Ok(None),
        }
    }

    /// The same for a process that works elsewhere and knows no password.
    pub(crate) fn for_worker(&self) -> Self {
        let mut input = self.clone();
        if let Self::Trial(trial) = &mut input
            && let Workload::Task(task) = &mut trial.workload
            && let Place::Folder { folder, .. } = &mut task.place
        {
            *folder = folder::whole(Path::new(folder)).display().to_string();
        }
        let credentials = match &mut input {
            Self::Trial(input) => &mut input.credentials,
            Self::Keep(input) => &mut input.credentials,
        };
        if let Some(credentials) = credentials {
            credentials.password = Secret::new(String::new());
        }
        input
    }

    /// One line of JSON, as [`read_input`] takes it.
    pub(crate) fn to_line(&self) -> io::Result<Zeroizing<Vec<u8>>> {
        let text = match self {
            Self::Trial(input) => serde_json::to_vec(input),
            Self::Keep(input) => serde_json::to_vec(input),
        };
        let mut line = Zeroizing::new(text?);
        line.push(b'\n');
        Ok(line)
    }

    /// Whether it starts a program, or has a file that one works with.
    fn starts_programs(&self) -> bool {
        match self {
            Self::Trial(input) => matches!(input.workload, Workload::Folder(_)),
            Self::Keep(input) => matches!(input.keep.place, Place::Folder { .. }),
        }
    }

    /// Whether it leaves something behind when it is ended at once: a file in a folder, a program.
    fn tidies(&self) -> bool {
        match self {
            Self::Trial(input) => {
                matches!(
                    input.workload,
                    Workload::Folder(_) | Workload::Task(_) | Workload::Job(_)
                )
            }
            Self::Keep(_) => true,
        }
    }
}

/// Reads up to the first line break. There may be a password in it, so that nothing of it is left
/// behind in memory.
pub(crate) fn read_input(stdin: &mut impl Read) -> Result<Input, Error> {
    let mut line = Zeroizing::new(vec![0; INPUT_BYTES_MAX]);
    let mut filled = 0;
    while filled < line.len() && !line[..filled].contains(&b'\n') {
        match stdin.read(&mut line[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => {
                return Err(Error::System {
                    action: say("error-measure.read-input"),
                    source,
                });
            }
        }
    }
    let end = line[..filled]
        .iter()
        .position(|&byte| byte == b'\n')
        .unwrap_or(filled);
    let line = &line[..end];
    let trial = serde_json::from_slice(line).map(|input| Input::Trial(Box::new(input)));
    trial.or_else(|error| {
        let keep = serde_json::from_slice(line).map(|input| Input::Keep(Box::new(input)));
        // Which of the two it was meant to be is not known; a trial it is far more often.
        keep.or(Err(Error::Input {
            column: error.column(),
        }))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    fn answer(input: &'static [u8]) -> (Result<(), Failed>, String) {
        let mut stdout = Vec::new();
        let result = trial_main(input, &mut stdout, None, || {});
        (result, String::from_utf8(stdout).unwrap())
    }

    #[test]
    fn input_that_is_no_trial_is_one_failure_line() {
        for input in [
            &b""[..],
            b"\n",
            b"{}\n",
            b"{\"workload\":{}}",
            &[b'x'; 200_000],
        ] {
            let (result, text) = answer(input);
            assert_eq!(result, Err(Failed::Kind(FailureKind::Internal)));
            assert!(text.starts_with("{\"line\":\"failure\""), "{text}");
            assert_eq!(text.lines().count(), 1, "{text}");
        }
    }

    #[test]
    fn numbers_that_no_trial_takes_are_refused_before_it() {
        let said = |old: &str, new: &str| {
            let text = r#"{"engine":"share","share":{"server":"nas","port":445,"share":"data",
                "path":""},"direction":"read","channels":1,"block":1048576,"depth":8,
                "file_size":67108864,"operations":{"threads":1},"timing":{"warm_up":0,
                "measured":1000000000,"interval":100000000}}"#;
            assert!(text.contains(old), "{old}");
            let workload = serde_json::from_str(&text.replace(old, new)).unwrap();
            check(&workload).err().map(|error| error.to_string())
        };
        assert_eq!(said("\"depth\":8", "\"depth\":8"), None);
        for (old, new) in [
            ("\"channels\":1", "\"channels\":4000000000"),
            ("\"depth\":8", "\"depth\":513"),
            ("\"threads\":1", "\"threads\":65"),
            ("\"block\":1048576", "\"block\":1099511627776"),
            ("\"file_size\":67108864", "\"file_size\":4096"),
            (
                "\"measured\":1000000000",
                "\"measured\":1000000000000000000",
            ),
        ] {
            assert!(said(old, new).is_some(), "{new}");
        }
    }

    #[test]
    fn a_password_does_not_come_back() {
        for input in [
            &b"{\"credentials\":\"hunter2\"}\n"[..],
            b"{\"credentials\":{\"user\":\"u\",\"hunter2\":\"hunter2\"},\"workload\":\"hunter2\"}\n",
        ] {
            let (result, text) = answer(input);
            assert!(result.is_err());
            assert!(!text.contains("hunter2"), "{text}");
        }
    }

    /// Gives a line and then blocks until its sender is dropped.
    struct Lifeline(io::Cursor<Vec<u8>>, mpsc::Receiver<()>);

    impl Read for Lifeline {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.read(buffer)?;
            if count == 0 {
                self.1.recv().ok();
            }
            Ok(count)
        }
    }

    /// A trial of raw TCP, as a line of input.
    fn tcp_line(port: u16) -> String {
        format!(
            "{{\"workload\":{{\"engine\":\"tcp\",\"server\":\"127.0.0.1\",\"port\":{port},\
             \"direction\":\"read\",\"streams\":1,\"nic\":null,\"timing\":{{\"warm_up\":0,\
             \"measured\":10000000,\"interval\":10000000}}}},\"credentials\":null}}\n"
        )
    }

    #[cfg(unix)]
    #[test]
    fn a_process_that_asks_nonsense_is_not_left_waiting() {
        // Its standard input is the socket: it asks by a message that is none, and waits for an answer.
        let script = "printf '\\001\\000\\000\\000x' >&0; cat >/dev/null; exit 7";
        let worker = Worker {
            program: "/bin/sh".to_owned(),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            environment: vec!["PATH".to_owned()],
        };
        let (_lifeline, end) = mpsc::channel();
        let stdin = Lifeline(io::Cursor::new(tcp_line(1).into_bytes()), end);
        let (sender, ended) = mpsc::channel();
        thread::spawn(move || sender.send(trial_main(stdin, io::sink(), Some(&worker), || {})));
        let ended = ended.recv_timeout(Duration::from_secs(10)).unwrap();
        assert_eq!(ended, Err(Failed::Status(7)));
    }

    #[test]
    fn an_input_that_ends_early_makes_an_orphan() {
        // A server that accepts and never speaks keeps the trial waiting.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let input = tcp_line(port);
        let (lifeline, end) = mpsc::channel();
        let (orphaned, heard) = mpsc::channel();
        thread::spawn(move || {
            let stdin = Lifeline(io::Cursor::new(input.into_bytes()), end);
            trial_main(stdin, io::sink(), None, move || orphaned.send(()).unwrap())
        });
        let (_control, _) = listener.accept().unwrap();
        assert_eq!(heard.try_recv(), Err(mpsc::TryRecvError::Empty));
        drop(lifeline);
        heard.recv_timeout(Duration::from_secs(5)).unwrap();
    }
}
