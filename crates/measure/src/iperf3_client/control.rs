//! The control connection of the iperf3 protocol: states as single signed bytes, JSON behind a
//! length, and a deadline on every read.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use locale::{Message, say};
use record::{Direction, TcpWorkload};
use serde::Deserialize;
use serde_json::{Value, json};

use super::BLOCK_BYTES;
use crate::interval_sampling::Spans;
use crate::{Error, fill_random};

/// What the server wants, or the client says, next.
pub(super) mod state {
    pub(crate) const START: i8 = 1;
    pub(crate) const RUNNING: i8 = 2;
    pub(crate) const END: i8 = 4;
    pub(crate) const PARAMETERS: i8 = 9;
    pub(crate) const CREATE_STREAMS: i8 = 10;
    pub(crate) const SERVER_TERMINATES: i8 = 11;
    pub(crate) const CLIENT_TERMINATES: i8 = 12;
    pub(crate) const RESULTS: i8 = 13;
    pub(crate) const DISPLAY: i8 = 14;
    pub(crate) const DONE: i8 = 16;
    pub(crate) const DENIED: i8 = -1;
    pub(crate) const SERVER_ERROR: i8 = -2;
}

/// Longest results that are read: 128 streams need less than a tenth of it.
const RESULTS_BYTES_MAX: u32 = 256 << 10;
/// Length of a cookie with its NUL.
pub(super) const COOKIE_BYTES: usize = 37;
const COOKIE_LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// How long we wait for the far end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) connect: Duration,
    /// For a whole answer, however many pieces it comes in.
    pub(super) answer: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            // Two SYNs may be lost by then: the third leaves after three seconds.
            connect: Duration::from_millis(3500),
            answer: Duration::from_secs(10),
        }
    }
}

/// 36 random letters and a NUL: what ties the streams of a test to its control connection.
pub(super) fn cookie() -> Result<[u8; COOKIE_BYTES], Error> {
    let mut cookie = [0; COOKIE_BYTES];
    fill_random(&mut cookie)?;
    for byte in &mut cookie[..COOKIE_BYTES - 1] {
        *byte = COOKIE_LETTERS[usize::from(*byte) % COOKIE_LETTERS.len()];
    }
    cookie[COOKIE_BYTES - 1] = 0;
    Ok(cookie)
}

/// The control connection.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) stream: TcpStream,
    pub(super) server: SocketAddr,
    pub(super) patience: Patience,
}

impl Control {
    /// Waits for the server's next state and wants it to be this one.
    pub(super) fn expect(&self, wanted: i8) -> Result<(), Error> {
        let mut byte = [0];
        self.read(&mut byte, self.deadline())?;
        self.accept(i8::from_ne_bytes(byte), wanted)
    }

    /// Wants a state that was read to be this one; otherwise says why the server refused.
    pub(super) fn accept(&self, found: i8, wanted: i8) -> Result<(), Error> {
        let server = self.server;
        match found {
            _ if found == wanted => Ok(()),
            state::DENIED => Err(Error::Busy { server }),
            state::SERVER_TERMINATES => Err(Error::Ended { server }),
            state::SERVER_ERROR => {
                let mut numbers = [[0; 4]; 2];
                self.read(numbers.as_flattened_mut(), self.deadline())?;
                let [code, system] = numbers.map(i32::from_be_bytes);
                Err(Error::Server {
                    server,
                    code,
                    system,
                })
            }
            other => Err(self.misbehaves(
                say("error-measure.protocol-state")
                    .with("found", other.to_string())
                    .with("wanted", wanted.to_string()),
            )),
        }
    }

    pub(super) fn say(&self, state: i8) -> Result<(), Error> {
        self.write(&state.to_ne_bytes())
    }

    pub(super) fn send_json(&self, value: &Value) -> Result<(), Error> {
        let text = value.to_string();
        // Both are ours and short: a list of 128 streams at most.
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let mut frame = length.to_be_bytes().to_vec();
        frame.extend_from_slice(text.as_bytes());
        self.write(&frame)
    }

    pub(super) fn receive_results(&self) -> Result<FarResults, Error> {
        let deadline = self.deadline();
        let mut length = [0; 4];
        self.read(&mut length, deadline)?;
        let length = u32::from_be_bytes(length);
        if length > RESULTS_BYTES_MAX {
            let reason = say("error-measure.protocol-results").count("bytes", length);
            return Err(self.misbehaves(reason));
        }
        let mut text = vec![0; length as usize];
        self.read(&mut text, deadline)?;
        FarResults::parse(&text).map_err(|reason| self.misbehaves(reason))
    }

    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        let written = self
            .stream
            .set_write_timeout(Some(self.patience.answer))
            .and_then(|()| (&self.stream).write_all(bytes));
        written.map_err(|source| self.broke(say("error-measure.talk-to"), source))
    }

    pub(super) fn misbehaves(&self, reason: Message) -> Error {
        Error::Protocol {
            server: self.server,
            reason,
        }
    }

    pub(super) fn broke(&self, action: Message, source: io::Error) -> Error {
        let source = match source.kind() {
            io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
            io::ErrorKind::UnexpectedEof => {
                io::Error::new(io::ErrorKind::UnexpectedEof, "it closed the connection")
            }
            _ => source,
        };
        Error::Connection {
            action,
            server: self.server,
            source,
        }
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.patience.answer
    }

    /// Fills `buffer` by the deadline. A server that sends a byte now and then cannot stretch it.
    fn read(&self, buffer: &mut [u8], deadline: Instant) -> Result<(), Error> {
        smb::read_with_deadline::read(&self.stream, buffer, deadline)
            .map_err(|source| self.broke(say("error-measure.hear-from"), source))
    }
}

/// What the test shall be. `reverse` counts by being there, whatever its value.
pub(super) fn parameters(workload: &TcpWorkload, spans: &Spans) -> Value {
    // The client ends the test. The server's own limit is this time and some grace, for clients
    // that died: one second more, because it counts in whole ones.
    let seconds = spans.whole().as_secs() + 1;
    let mut parameters = json!({
        "tcp": true,
        "omit": 0,
        "time": seconds,
        "parallel": workload.streams,
        "len": BLOCK_BYTES,
        "client_version": record::PROGRAM,
    });
    if workload.direction == Direction::Read {
        parameters["reverse"] = Value::Bool(true);
    }
    parameters
}

/// Our side of the exchange of results; `bytes` are those of each stream in order.
pub(super) fn our_results(bytes: &[u64], seconds: f64) -> Value {
    let streams: Vec<Value> = bytes
        .iter()
        .enumerate()
        .map(|(index, bytes)| {
            json!({
                "id": stream_id(index),
                "bytes": bytes,
                "retransmits": -1,
                "jitter": 0,
                "errors": 0,
                "packets": 0,
                "start_time": 0,
                "end_time": seconds,
            })
        })
        .collect();
    json!({
        "cpu_util_total": 0,
        "cpu_util_user": 0,
        "cpu_util_system": 0,
        "sender_has_retransmits": -1,
        "streams": streams,
    })
}

/// iperf3 numbers its streams 1, 3, 4, 5 and so on, and refuses results under other numbers.
const fn stream_id(index: usize) -> usize {
    if index == 0 { 1 } else { index + 2 }
}

/// What the server counted, over the whole test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FarResults {
    pub(crate) streams: usize,
    pub(crate) bytes: u64,
    /// Segments it sent again, when it was the sender and its system says so.
    pub(crate) retransmits: Option<u64>,
}

/// As it stands on the wire. Numbers are `f64` because the server prints big ones as such.
#[derive(Deserialize)]
struct ResultsOnTheWire {
    sender_has_retransmits: Option<f64>,
    streams: Vec<StreamOnTheWire>,
}

#[derive(Deserialize)]
struct StreamOnTheWire {
    bytes: f64,
    retransmits: Option<f64>,
}

impl FarResults {
    pub(crate) fn parse(text: &[u8]) -> Result<Self, Message> {
        let results: ResultsOnTheWire = serde_json::from_slice(text).map_err(|error| {
            say("error-measure.protocol-unclear").with("problem", error.to_string())
        })?;
        let mut far = Self {
            streams: results.streams.len(),
            bytes: 0,
            retransmits: Some(0),
        };
        for stream in &results.streams {
            let bytes = count(stream.bytes).ok_or_else(|| {
                say("error-measure.protocol-stream").with("bytes", stream.bytes.to_string())
            })?;
            far.bytes = far.bytes.saturating_add(bytes);
            let again = stream.retransmits.and_then(count);
            far.retransmits = far
                .retransmits
                .zip(again)
                .map(|(sum, next)| sum.saturating_add(next));
        }
        if results.sender_has_retransmits != Some(1.0) {
            far.retransmits = None;
        }
        Ok(far)
    }
}

/// A whole number that a double holds exactly; -1 is iperf3's "not known".
fn count(number: f64) -> Option<u64> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    (0.0..=EXACT_MAX).contains(&number).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cookies_are_36_letters_and_a_nul() {
        let cookie = cookie().unwrap();
        assert!(
            cookie[..36]
                .iter()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7'))
        );
        assert_eq!(cookie[36], 0);
        assert_ne!(cookie, super::cookie().unwrap());
    }

    #[test]
    fn stream_ids_skip_two() {
        assert_eq!([0, 1, 2, 127].map(stream_id), [1, 3, 4, 129]);
    }

    #[test]
    fn results_of_a_sender_hold_its_retransmits() {
        // As iperf 3.12 wrote it, shortened.
        let text = br#"{"cpu_util_total":3.2,"sender_has_retransmits":1,"congestion_used":"cubic",
            "streams":[{"id":1,"bytes":1000,"retransmits":2,"jitter":0,"errors":0,"packets":0},
                       {"id":3,"bytes":1.5e3,"retransmits":3,"jitter":0,"errors":0,"packets":0}]}"#;
        let far = FarResults::parse(text).unwrap();
        assert_eq!(
            far,
            FarResults {
                streams: 2,
                bytes: 2500,
                retransmits: Some(5)
            }
        );
    }

    #[test]
    fn results_of_a_receiver_hold_none() {
        let text = br#"{"sender_has_retransmits":-1,"streams":[{"bytes":5,"retransmits":-1}]}"#;
        let far = FarResults::parse(text).unwrap();
        assert_eq!(
            far,
            FarResults {
                streams: 1,
                bytes: 5,
                retransmits: None
            }
        );
    }

    #[test]
    fn results_that_cannot_be_are_refused() {
        for text in [
            "",
            "{}",
            "[]",
            r#"{"streams":[{"bytes":-1}]}"#,
            r#"{"streams":[{"bytes":1e300}]}"#,
            r#"{"streams":[{"bytes":"5"}]}"#,
            r#"{"streams":[{}]}"#,
            r#"{"streams":5}"#,
        ] {
            assert!(FarResults::parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_results_or_an_error(text in any::<Vec<u8>>()) {
            let _ = FarResults::parse(&text);
        }

        #[test]
        fn any_numbers_are_results_or_an_error(
            bytes in any::<f64>(),
            retransmits in any::<f64>(),
            sender in any::<f64>(),
        ) {
            let text = json!({
                "sender_has_retransmits": sender,
                "streams": [{"bytes": bytes, "retransmits": retransmits}],
            });
            let _ = FarResults::parse(text.to_string().as_bytes());
        }
    }
}
