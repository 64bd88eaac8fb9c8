//! One trial, and the process it runs in.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use record::{FailureKind, KeepInput, TrialInput, TrialLine, TrialResult, Workload};
use zeroize::Zeroizing;

use crate::counters::Spans;
use crate::stop::STOP_LOOK;
use crate::{Error, Stop, folder, job, keep, share, task, tcp};

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
    match &input.workload {
        Workload::Tcp(workload) => tcp::run(workload, stop, emit),
        Workload::Share(workload) => share::run(workload, input.credentials.as_ref(), stop, emit),
        Workload::Folder(workload) => folder::run(workload, stop, emit),
        Workload::Task(workload) => task::run(workload, input.credentials.as_ref(), stop, emit),
        Workload::Job(workload) => job::run(workload, input.credentials.as_ref(), stop, emit),
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

/// What `linerate trial` does: one line of JSON in, JSON Lines out.
///
/// When `stdin` ends before the trial does, whoever asked for it is gone: `orphaned` is called, on
/// another thread, and has to end the process at once.
///
/// # Errors
/// The failure was written to `stdout` already; its kind is the exit code.
pub fn trial_main(
    mut stdin: impl Read + Send + 'static,
    mut stdout: impl Write,
    orphaned: impl FnOnce() + Send + 'static,
) -> Result<(), FailureKind> {
    let over = Arc::new(AtomicBool::new(false));
    let mut write = |line: &TrialLine| {
        // Whoever reads may be gone. Then standard input is closed as well, and that ends us.
        write_line(&mut stdout, line).ok();
    };
    let stop = Stop::new();
    let result = read_input(&mut stdin).and_then(|input| {
        let (over, ask) = (Arc::clone(&over), stop.clone());
        let tidies = input.tidies();
        let watch = move || {
            // Nothing more is due; until it ends, somebody waits for us.
            io::copy(&mut stdin, &mut io::sink()).ok();
            ask.ask();
            let deadline = Instant::now() + TIDY_LIMIT;
            while tidies && Instant::now() < deadline && !over.load(Ordering::Acquire) {
                thread::sleep(STOP_LOOK);
            }
            if !over.load(Ordering::Acquire) {
                orphaned();
            }
        };
        thread::Builder::new()
            .spawn(watch)
            .map_err(|source| Error::System {
                action: "start a thread",
                source,
            })?;
        match input {
            Input::Trial(input) => trial(&input, &stop, &mut write).map(Some),
            Input::Keep(input) => keep::run(&input, &stop, &mut write).map(|()| None),
        }
    });
    // Before the last line: who has read that may close our input.
    over.store(true, Ordering::Release);
    match result {
        Ok(Some(result)) => {
            write(&TrialLine::Result(Box::new(result)));
            Ok(())
        }
        Ok(None) => Ok(()),
        Err(error) => {
            write(&TrialLine::Failure(error.failure()));
            Err(error.kind())
        }
    }
}

fn write_line(stdout: &mut impl Write, line: &TrialLine) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    stdout.write_all(&text)?;
    stdout.flush()
}

/// What is asked of this process.
enum Input {
    Trial(Box<TrialInput>),
    Keep(Box<KeepInput>),
}

impl Input {
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
fn read_input(stdin: &mut impl Read) -> Result<Input, Error> {
    let mut line = Zeroizing::new(vec![0; INPUT_BYTES_MAX]);
    let mut filled = 0;
    while filled < line.len() && !line[..filled].contains(&b'\n') {
        match stdin.read(&mut line[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => {
                return Err(Error::System {
                    action: "read the trial's input",
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

    fn answer(input: &'static [u8]) -> (Result<(), FailureKind>, String) {
        let mut stdout = Vec::new();
        let result = trial_main(input, &mut stdout, || {});
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
            assert_eq!(result, Err(FailureKind::Internal));
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

    #[test]
    fn an_input_that_ends_early_makes_an_orphan() {
        // A server that accepts and never speaks keeps the trial waiting.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let input = format!(
            "{{\"workload\":{{\"engine\":\"tcp\",\"server\":\"127.0.0.1\",\"port\":{port},\
             \"direction\":\"read\",\"streams\":1,\"nic\":null,\"timing\":{{\"warm_up\":0,\
             \"measured\":10000000,\"interval\":10000000}}}},\"credentials\":null}}\n"
        );
        let (lifeline, end) = mpsc::channel();
        let (orphaned, heard) = mpsc::channel();
        thread::spawn(move || {
            let stdin = Lifeline(io::Cursor::new(input.into_bytes()), end);
            trial_main(stdin, io::sink(), move || orphaned.send(()).unwrap())
        });
        let (_control, _) = listener.accept().unwrap();
        assert_eq!(heard.try_recv(), Err(mpsc::TryRecvError::Empty));
        drop(lifeline);
        heard.recv_timeout(Duration::from_secs(5)).unwrap();
    }
}
