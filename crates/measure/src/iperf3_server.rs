//! A real iperf3 at the far end, for one test and for as long as we live at most.

use std::fmt;
use std::io::{BufRead, Read, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use host::exec::{Command, Exec, Process, STATUS_NO_PROGRAM};
use locale::{Argument, Message, say};

use crate::Error;

/// The port that iperf3 uses when nobody says otherwise.
pub const IPERF3_PORT: u16 = 5201;
/// Ports that are tried, one after the other, when somebody else has them.
const PORTS_TRIED: u16 = 16;
/// How long a server may take to start, over a slow login too.
const START_LIMIT: Duration = Duration::from_secs(20);
/// How long a server may take to end, and to say why it did.
const END_LIMIT: Duration = Duration::from_secs(5);
/// Longest piece of a line of its output that is looked at.
const LINE_BYTES_MAX: u64 = 4096;

/// Runs the server beside something that waits for the end of standard input and then ends it.
/// Standard input is a pipe, or the channel of a login, that is closed when we die, however we do.
/// Once the server has ended by itself nothing is ended any more: its number may be somebody else's.
const LIFELINE: &str = r#"exec 3<&0
iperf3 --server --one-off --forceflush --port "$1" </dev/null 3<&- &
server=$!
{ while read -r line; do :; done <&3; kill -9 "$server"; } >/dev/null 2>&1 &
lifeline=$!
wait "$server"
status=$?
kill "$lifeline" 2>/dev/null
exit "$status""#;

/// An iperf3 server on another host. It serves one test: between two it closes its port for a
/// moment, which looks like a host without a server, or lets somebody else have the port. Dropping
/// it ends it.
pub struct FarServer {
    port: u16,
    process: Option<Process>,
    lifeline: Option<Box<dyn Write + Send>>,
    /// One word when it listens; closed when it has ended.
    listening: Receiver<()>,
}

impl fmt::Debug for FarServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FarServer")
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

impl FarServer {
    /// Starts one and returns when it listens, on [`IPERF3_PORT`] or the next port that is free.
    ///
    /// # Errors
    /// When the host cannot be reached, has no iperf3, or no port is free.
    pub fn start(exec: &dyn Exec) -> Result<Self, Error> {
        let mut refused = None;
        for port in IPERF3_PORT..IPERF3_PORT + PORTS_TRIED {
            match Self::start_on(exec, port) {
                Err(Error::FarServer { reason }) if is_port_taken(&reason) => {
                    refused = Some(reason);
                }
                other => return other,
            }
        }
        Err(Error::FarServer {
            reason: refused.unwrap_or_else(|| "".into()),
        })
    }

    fn start_on(exec: &dyn Exec, port: u16) -> Result<Self, Error> {
        let argv = ["sh", "-c", LIFELINE, "lifeline", &port.to_string()];
        let mut process = exec.spawn(&Command::new(argv))?;
        let lifeline = process.take_stdin();
        let (sender, listening) = mpsc::channel();
        if let Some(stdout) = process.take_stdout() {
            // It reads to the end, so that the server never waits for room in the pipe.
            let reading = move || listen(stdout, || sender.send(()).is_ok());
            thread::Builder::new()
                .spawn(reading)
                .map_err(|source| Error::System {
                    action: say("error-measure.start-thread"),
                    source,
                })?;
        }
        let mut server = Self {
            port,
            process: Some(process),
            lifeline,
            listening,
        };
        match server.listening.recv_timeout(START_LIMIT) {
            Ok(()) => Ok(server),
            Err(RecvTimeoutError::Disconnected) => Err(server.why_it_ended()),
            Err(RecvTimeoutError::Timeout) => {
                let reason =
                    say("error-measure.server-silent").with("limit", format!("{START_LIMIT:?}"));
                Err(Error::FarServer { reason })
            }
        }
    }

    /// The port on which it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    fn why_it_ended(&mut self) -> Error {
        let Some(process) = self.process.take() else {
            return Error::FarServer {
                reason: say("error-measure.server-gone"),
            };
        };
        match process.wait(END_LIMIT) {
            Ok(output) if output.status == STATUS_NO_PROGRAM => Error::NoIperf,
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stderr);
                let reason = text.trim();
                let reason = match reason {
                    "" => {
                        say("error-measure.server-status").with("status", output.status.to_string())
                    }
                    said => said.into(),
                };
                Error::FarServer { reason }
            }
            Err(error) => error.into(),
        }
    }
}

impl Drop for FarServer {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        if let Some(process) = self.process.take() {
            // The script ends the server and waits for it, so that its port is free now. If it does
            // not, its process group is ended.
            process.wait(END_LIMIT).ok();
        }
    }
}

fn is_port_taken(reason: &Message) -> bool {
    // iperf3 says so in its own words.
    matches!(
        reason.argument("text"),
        Some(Argument::Text(said)) if said.contains("Address already in use")
    )
}

/// Reads a server's output to its end and tells when it listens, until nobody wants to know.
fn listen(mut stdout: Box<dyn BufRead + Send>, mut tell: impl FnMut() -> bool) {
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut stdout)
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut line)
        {
            Ok(0) | Err(_) => return,
            Ok(_) if line.starts_with(b"Server listening on ") && !tell() => return,
            Ok(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn told(text: &[u8]) -> usize {
        let mut told = 0;
        listen(Box::new(Cursor::new(text.to_vec())), || {
            told += 1;
            true
        });
        told
    }

    #[test]
    fn output_of_iperf3_is_understood() {
        let text = b"-----------------------------------------------------------\n\
            Server listening on 5201 (test #1)\n\
            -----------------------------------------------------------\n\
            Accepted connection from 10.77.1.1, port 51532\n";
        assert_eq!(told(text), 1);
        assert_eq!(
            told(b"Server listening on 5201\n"),
            1,
            "as iperf 3.9 says it"
        );
    }

    #[test]
    fn output_without_end_or_sense_is_passed_over() {
        let mut text = vec![0xFF; 100_000];
        text.extend_from_slice(b"\nServer listening on 1\nServer listen");
        assert_eq!(told(&text), 1);
        assert_eq!(told(b""), 0);
    }

    #[test]
    fn the_server_ends_when_whoever_started_it_is_gone() {
        let mut server = FarServer::start(&host::exec::Local::new()).unwrap();
        // What is left of us after `kill -9`: the pipe is closed, and nobody ends a process. Its
        // own output ends when it does.
        drop(server.lifeline.take());
        let ended = server.listening.recv_timeout(Duration::from_secs(5));
        assert_eq!(ended, Err(RecvTimeoutError::Disconnected));
    }
}
