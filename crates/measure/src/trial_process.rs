//! One trial, and the process it runs in.

pub(crate) mod input;
pub(crate) mod performer;

use std::io::{Read, Write};

use record::{TrialInput, TrialLine, TrialResult, Workload};

use input::read_input;
pub use performer::Failed;
use performer::{Performer, Watched, fail, perform, run, when_ended};

use crate::interval_sampling::Spans;
use crate::sandboxed_worker::Worker;
use crate::{
    Error, Stop, fio_folder, iperf3_client, local_copy_folder, share_workload, whole_file_tasks,
};

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
    let login = share_workload::login(input.credentials.as_ref());
    run(&input.workload, &login, near.as_ref(), stop, emit)
}

/// Says whether a trial makes sense, before anything is touched.
///
/// # Errors
/// What its trial would refuse it for: [`Error::Usage`].
pub fn check(workload: &Workload) -> Result<(), Error> {
    match workload {
        Workload::Tcp(workload) => iperf3_client::check(workload)?,
        Workload::Share(workload) => share_workload::policy(workload).map(drop)?,
        Workload::Folder(workload) => fio_folder::check(workload)?,
        Workload::Task(workload) => whole_file_tasks::check(workload)?,
        Workload::Job(_) => return Ok(()),
    }
    Spans::new(&workload.timing()).map(drop)
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
    let login = share_workload::login(input.credentials());
    let watched = Watched::new(&input);
    let watch = watched.clone();
    if let Err(error) = when_ended(stdin, move || watch.abandoned(orphaned)) {
        return fail(&mut stdout, &error);
    }
    let near = match input.near(watched.stop()) {
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

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use record::FailureKind;

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
