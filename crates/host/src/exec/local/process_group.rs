//! Running programs, each with its process group, and what ends them.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use os::process::{ProgramGroup, exit_status};

use super::{OUTPUT_BYTES_MAX, search_path};
use crate::Error;
use crate::exec::Output;

/// How long output may still come once a program and its whole group have ended. Only a process
/// that left the group can hold it open longer.
const DRAIN: Duration = Duration::from_secs(1);
/// How long a program that was killed may take to end: one that `sudo` started is only asked to, and one that waits for
/// a share that no longer answers cannot.
const GONE_LIMIT: Duration = Duration::from_secs(1);

/// A news of a running program.
enum News {
    Exited,
    Stdout(io::Result<Collected>),
    Stderr(Vec<u8>),
}

enum Collected {
    All(Vec<u8>),
    TooLong,
}

/// A running program. Dropping it ends it with its process group.
pub struct Process {
    argv: Vec<String>,
    pub(super) stdin: Option<Box<dyn Write + Send>>,
    stdout: Option<Box<dyn BufRead + Send>>,
    state: State,
}

enum State {
    Running {
        group: Arc<Group>,
        news: Receiver<News>,
        sender: Sender<News>,
    },
    Replayed(Output),
}

impl fmt::Debug for Process {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Process")
            .field("argv", &self.argv)
            .finish_non_exhaustive()
    }
}

impl Process {
    pub(super) fn running(
        argv: Vec<String>,
        (mut child, programs): (Child, ProgramGroup),
        elevated: bool,
        stderr_bytes_max: usize,
    ) -> Self {
        let stdin = child
            .stdin
            .take()
            .map(|pipe| Box::new(pipe) as Box<dyn Write + Send>);
        let stdout = child.stdout.take();
        let stdout = stdout.map(|pipe| Box::new(BufReader::new(pipe)) as Box<dyn BufRead + Send>);
        let (sender, news) = mpsc::channel();
        if let Some(stderr) = child.stderr.take() {
            let sender = sender.clone();
            thread::spawn(move || {
                sender.send(News::Stderr(keep_beginning(stderr, stderr_bytes_max)))
            });
        }
        let group = Arc::new(Group {
            programs,
            elevated,
            child: Mutex::new(Some(child)),
        });
        let (waiting, exited) = (Arc::clone(&group), sender.clone());
        thread::spawn(move || {
            waiting.programs.wait();
            drop(waiting);
            exited.send(News::Exited)
        });
        Self {
            argv,
            stdin,
            stdout,
            state: State::Running {
                group,
                news,
                sender,
            },
        }
    }

    /// A program that has already ended, for recordings.
    pub(in crate::exec) fn replayed(argv: Vec<String>, output: Output) -> Self {
        Self {
            argv,
            stdin: Some(Box::new(io::sink())),
            stdout: Some(Box::new(io::Cursor::new(output.stdout.clone()))),
            state: State::Replayed(output),
        }
    }

    /// Its standard input; dropping it closes it. `None` the second time.
    pub fn take_stdin(&mut self) -> Option<Box<dyn Write + Send>> {
        self.stdin.take()
    }

    /// Its standard output. `None` the second time.
    pub fn take_stdout(&mut self) -> Option<Box<dyn BufRead + Send>> {
        self.stdout.take()
    }

    /// Puts something between the program's output and whoever takes it.
    pub(in crate::exec) fn map_stdout(
        &mut self,
        wrap: impl FnOnce(Box<dyn BufRead + Send>) -> Box<dyn BufRead + Send>,
    ) {
        self.stdout = self.stdout.take().map(wrap);
    }

    /// Its process number while it runs, which is also that of its group. With `sudo` it is `sudo`'s.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        match &self.state {
            State::Running { group, .. } => Some(group.programs.id()),
            State::Replayed(_) => None,
        }
    }

    /// A handle that ends it from another thread.
    #[must_use]
    pub fn ender(&self) -> Ender {
        match &self.state {
            State::Running { group, .. } => Ender(Some(Arc::clone(group))),
            State::Replayed(_) => Ender(None),
        }
    }

    /// Ends it with its process group, at once.
    pub fn kill(&mut self) {
        self.ender().end();
    }

    /// Closes its input and waits until it has ended by itself; then ends what is left of its
    /// process group. The output holds what nobody took.
    ///
    /// # Errors
    /// When it takes longer than `limit` or writes more than [`OUTPUT_BYTES_MAX`]; then it is ended
    /// with its process group.
    pub fn wait(mut self, limit: Duration) -> Result<Output, Error> {
        drop(self.stdin.take());
        let untaken = self.stdout.take();
        let (group, news) = match &self.state {
            State::Replayed(output) => {
                let stdout = if untaken.is_some() {
                    output.stdout.clone()
                } else {
                    Vec::new()
                };
                return Ok(Output {
                    stdout,
                    ..output.clone()
                });
            }
            State::Running {
                group,
                news,
                sender,
            } => {
                if let Some(stdout) = untaken {
                    let sender = sender.clone();
                    thread::spawn(move || sender.send(News::Stdout(collect(stdout))));
                } else {
                    // Nobody listens only when the process is gone, and then nobody minds.
                    sender
                        .send(News::Stdout(Ok(Collected::All(Vec::new()))))
                        .ok();
                }
                (group, news)
            }
        };
        self.gather(group, news, limit)
    }

    fn gather(
        &self,
        group: &Group,
        news: &Receiver<News>,
        limit: Duration,
    ) -> Result<Output, Error> {
        let mut deadline = Instant::now().checked_add(limit);
        let (mut exited, mut stdout, mut stderr) = (false, None, None);
        while !exited || stdout.is_none() || stderr.is_none() {
            match receive(news, deadline) {
                Some(News::Exited) => {
                    exited = true;
                    group.signal();
                    deadline = Instant::now().checked_add(DRAIN);
                }
                Some(News::Stderr(bytes)) => stderr = Some(bytes),
                Some(News::Stdout(Ok(Collected::All(bytes)))) => stdout = Some(bytes),
                Some(News::Stdout(Ok(Collected::TooLong))) => {
                    let argv = self.argv.clone();
                    return Err(Error::OutputTooLong {
                        argv,
                        limit: OUTPUT_BYTES_MAX,
                    });
                }
                Some(News::Stdout(Err(source))) => return Err(self.pipe_error("read from", source)),
                None => {
                    return Err(Error::Timeout {
                        argv: self.argv.clone(),
                        limit,
                    });
                }
            }
        }
        let status = group
            .reap()
            .map_err(|source| self.pipe_error("wait for", source))?;
        Ok(Output {
            status,
            stdout: stdout.unwrap_or_default(),
            stderr: stderr.unwrap_or_default(),
        })
    }

    fn pipe_error(&self, action: &'static str, source: io::Error) -> Error {
        Error::Pipe {
            action,
            argv: self.argv.clone(),
            source,
        }
    }

    /// Writes its whole input while others read its output.
    pub(super) fn feed(&mut self, input: Vec<u8>) {
        let Some(mut stdin) = self.stdin.take() else {
            return;
        };
        if !input.is_empty() {
            // A program that does not want all of its input closes the pipe; that is its right.
            thread::spawn(move || stdin.write_all(&input).ok());
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let State::Running { group, news, .. } = &self.state {
            group.end(news);
        }
    }
}

/// Ends a running program from another thread; harmless once it has ended.
#[derive(Clone)]
pub struct Ender(Option<Arc<Group>>);

impl fmt::Debug for Ender {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Ender")
    }
}

impl Ender {
    /// Ends the program with its process group, at once.
    pub fn end(&self) {
        if let Some(group) = &self.0 {
            group.signal();
        }
    }
}

/// A process group whose leader we have not reaped yet, so that its number cannot be anybody else's.
struct Group {
    programs: ProgramGroup,
    elevated: bool,
    /// `None` once it is reaped.
    child: Mutex<Option<Child>>,
}

impl Group {
    /// Ends everything in the group that still runs.
    fn signal(&self) {
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if child.is_none() {
            return;
        }
        let ended = self.programs.end();
        let is_root = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
        if self.elevated && ended.is_err_and(is_root) {
            // `sudo` passes TERM on to what it runs; KILL would leave that alive.
            let group = format!("-{}", self.programs.id());
            let asked = std::process::Command::new("sudo")
                .args(["-n", "--", "kill", "-TERM", "--", &group])
                .env("PATH", search_path())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            drop(asked);
        }
    }

    fn reap(&self) -> io::Result<i32> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let status = child.as_mut().map(Child::wait).transpose()?;
        *child = None;
        let status = status.ok_or_else(|| io::Error::other("it was waited for before"))?;
        Ok(exit_status(status))
    }

    /// Ends the group and reaps its leader. One that does not end is left to the system rather than waited for without
    /// end.
    fn end(&self, news: &Receiver<News>) {
        self.signal();
        let deadline = Instant::now().checked_add(GONE_LIMIT);
        while !self.is_reaped() && receive(news, deadline).is_some() {}
    }

    /// Whether its leader is gone; reaps it, but waits for nothing.
    fn is_reaped(&self) -> bool {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        // One that cannot be waited for is gone.
        if child
            .as_mut()
            .is_some_and(|child| !matches!(child.try_wait(), Ok(None)))
        {
            *child = None;
        }
        child.is_none()
    }
}

/// The next news, or none when the time is over.
fn receive(news: &Receiver<News>, deadline: Option<Instant>) -> Option<News> {
    match deadline {
        None => news.recv().ok(),
        Some(deadline) => {
            let left = deadline.saturating_duration_since(Instant::now());
            news.recv_timeout(left).ok()
        }
    }
}

fn collect(stdout: Box<dyn BufRead + Send>) -> io::Result<Collected> {
    let mut bytes = Vec::new();
    stdout
        .take(OUTPUT_BYTES_MAX as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(if bytes.len() > OUTPUT_BYTES_MAX {
        Collected::TooLong
    } else {
        Collected::All(bytes)
    })
}

fn keep_beginning(mut stderr: impl Read, bytes_max: usize) -> Vec<u8> {
    let mut kept = Vec::new();
    // What cannot be read is missing from the text of an error, no more.
    (&mut stderr)
        .take(bytes_max as u64)
        .read_to_end(&mut kept)
        .ok();
    io::copy(&mut stderr, &mut io::sink()).ok();
    kept
}
