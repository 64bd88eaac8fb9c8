//! The transfer of a test: its streams move payload while the samples are cut, and the two ends compare
//! what they counted.

use std::io::{self, Read};
use std::net::{Shutdown, TcpStream};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use locale::say;
use os::network::TcpFacts;
use record::{Direction, Sample, TrialLine};

use super::BLOCK_BYTES;
use super::control::{self, Control, FarResults, state};
use super::stream::Stream;
use crate::interval_sampling::{self, Spans};
use crate::stop_request::STOP_POLL;
use crate::{Error, Stop, fill_random};

/// Bytes of one stream that may be on their way or in a receive buffer when a test ends: a generous
/// receive buffer.
const IN_FLIGHT_BYTES_MAX: u64 = 16 << 20;
/// On a fast path more is in flight than that: this part of what was sent.
const IN_FLIGHT_SHARE: u64 = 20;
/// How long the reason on the control connection may come after a data stream broke.
const REASON_WAIT: Duration = Duration::from_millis(200);

/// What a thread says to the one that counts.
enum News {
    /// The server spoke, or fell silent for good.
    Control(io::Result<i8>),
    /// A data stream ended.
    Stream(io::Error),
}

/// What came of a test.
pub(super) struct Transfer {
    pub(super) samples: Vec<Sample>,
    /// Payload of each stream in the counted time.
    pub(super) bytes: Vec<u64>,
    /// What TCP knew of each stream when that time began and when it ended.
    pub(super) clocks: Vec<[Option<TcpFacts>; 2]>,
    pub(super) first: Option<Instant>,
    pub(super) far: FarResults,
}

/// Payload of a stream in the counted time, and what TCP knew of it at both ends of that time.
type Counted = (u64, [Option<TcpFacts>; 2]);

/// A test whose streams are open.
pub(super) struct Test<'a> {
    pub(super) control: Control,
    pub(super) streams: &'a [Stream],
    pub(super) direction: Direction,
    pub(super) stop: &'a Stop,
}

/// Shuts all connections of a test down when dropped, so that no thread stays in a system call.
struct HangUp<'a>(&'a TcpStream, &'a [Stream]);

impl Drop for HangUp<'_> {
    fn drop(&mut self) {
        for socket in self.1.iter().map(|stream| &stream.socket).chain([self.0]) {
            // Fails when the far end was faster, which is as good.
            socket.shutdown(Shutdown::Both).ok();
        }
    }
}

impl Test<'_> {
    pub(super) fn transfer(
        &self,
        spans: &Spans,
        emit: &mut dyn FnMut(&TrialLine),
    ) -> Result<Transfer, Error> {
        let (news, heard) = mpsc::channel();
        let block = random_block()?;
        let finished = AtomicBool::new(false);
        let first = OnceLock::new();
        self.control
            .stream
            .set_read_timeout(None)
            .map_err(|source| self.control.broke(say("error-measure.listen-to"), source))?;
        thread::scope(|scope| {
            let _hang_up = HangUp(&self.control.stream, self.streams);
            let spawn_error = |source| Error::System {
                action: say("error-measure.start-thread"),
                source,
            };
            for stream in self.streams {
                let (news, block, finished, first) = (news.clone(), &block, &finished, &first);
                let pump = move || {
                    if let Err(error) = stream.pump(block, finished, first) {
                        // Nobody hears it once the test is over.
                        news.send(News::Stream(error)).ok();
                    }
                };
                thread::Builder::new()
                    .spawn_scoped(scope, pump)
                    .map_err(spawn_error)?;
            }
            let listen = || {
                news.send(News::Control(next_byte(&self.control.stream)))
                    .ok()
            };
            thread::Builder::new()
                .spawn_scoped(scope, listen)
                .map_err(spawn_error)?;
            let (samples, counts) = self.count(spans, &heard, emit).inspect_err(|_| {
                // So that the server is free for the next test at once.
                self.control.say(state::CLIENT_TERMINATES).ok();
            })?;
            finished.store(true, Ordering::Relaxed);
            let far = self.finish(spans, &heard)?;
            let (bytes, clocks) = counts.into_iter().unzip();
            Ok(Transfer {
                samples,
                bytes,
                clocks,
                first: first.get().copied(),
                far,
            })
        })
    }

    fn count(
        &self,
        spans: &Spans,
        heard: &Receiver<News>,
        emit: &mut dyn FnMut(&TrialLine),
    ) -> Result<(Vec<Sample>, Vec<Counted>), Error> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut payload = || {
            after = self
                .streams
                .iter()
                .map(|stream| (stream.arrived(), stream.tcp()))
                .collect();
            if before.is_empty() {
                before.clone_from(&after);
            }
            after.iter().map(|(arrived, _)| arrived).sum()
        };
        let mut wait = |until| self.wait(heard, until);
        let samples =
            interval_sampling::count(spans, Instant::now(), &mut payload, &mut wait, emit)?;
        let counts: Vec<Counted> = before
            .iter()
            .zip(&after)
            .map(|(before, after)| (after.0.saturating_sub(before.0), [before.1, after.1]))
            .collect();
        if counts.iter().all(|(bytes, _)| *bytes == 0) {
            let server = self.control.server.to_string();
            return Err(Error::Silence {
                server,
                counted: spans.measured,
            });
        }
        Ok((samples, counts))
    }

    fn wait(&self, heard: &Receiver<News>, until: Instant) -> Result<(), Error> {
        loop {
            if self.stop.is_asked() {
                return Err(Error::Stopped);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            if let Ok(news) = heard.recv_timeout(left.min(STOP_POLL)) {
                return Err(self.broken(news, heard));
            }
        }
    }

    /// Why a test ended before its time. What the server says about it comes before what a stream
    /// shows of it.
    fn broken(&self, news: News, heard: &Receiver<News>) -> Error {
        match news {
            News::Control(Ok(found)) => match self.control.accept(found, state::RUNNING) {
                Ok(()) => self.control.misbehaves(say("error-measure.protocol-again")),
                Err(error) => error,
            },
            News::Control(Err(source)) => {
                self.control.broke(say("error-measure.hear-from"), source)
            }
            News::Stream(source) => {
                let deadline = Instant::now() + REASON_WAIT;
                match next_control(heard, deadline) {
                    Some(Ok(found)) => self.broken(News::Control(Ok(found)), heard),
                    _ => self.control.broke(say("error-measure.move-data"), source),
                }
            }
        }
    }

    /// Ends the test and compares what the two ends counted.
    fn finish(&self, spans: &Spans, heard: &Receiver<News>) -> Result<FarResults, Error> {
        let control = &self.control;
        let arrived: u64 = self.streams.iter().map(Stream::arrived).sum();
        control.say(state::END)?;
        let answer = next_control(heard, Instant::now() + control.patience.answer)
            .unwrap_or_else(|| Err(io::ErrorKind::TimedOut.into()));
        let found =
            answer.map_err(|source| control.broke(say("error-measure.hear-end"), source))?;
        control.accept(found, state::RESULTS)?;
        let passed: Vec<u64> = self.streams.iter().map(Stream::passed).collect();
        control.send_json(&control::our_results(&passed, spans.whole().as_secs_f64()))?;
        let far = control.receive_results()?;
        control.expect(state::DISPLAY)?;
        control.say(state::DONE)?;
        if far.streams != self.streams.len() {
            let reason = say("error-measure.protocol-streams").count("streams", far.streams);
            return Err(control.misbehaves(reason));
        }
        let passed = self.streams.iter().map(Stream::passed).sum();
        let agree = match self.direction {
            Direction::Read => agree(far.bytes, passed, passed, self.streams.len()),
            Direction::Write => agree(passed, arrived, far.bytes, self.streams.len()),
        };
        let ours = passed;
        agree.then_some(far).ok_or(Error::Disagreement {
            server: control.server,
            far: far.bytes,
            ours,
        })
    }
}

/// Whether the receiver's account fits the sender's: not more than was sent, and not less than what
/// had `arrived` there for certain but for what still lay in buffers.
fn agree(sent: u64, arrived: u64, received: u64, streams: usize) -> bool {
    let streams = streams as u64;
    // A block is counted once it is through; the far end may know of it a moment earlier.
    let early = streams * BLOCK_BYTES as u64;
    let in_flight = streams * IN_FLIGHT_BYTES_MAX + sent / IN_FLIGHT_SHARE;
    received <= sent.saturating_add(early)
        && arrived <= received.saturating_add(in_flight)
        && sent <= received.saturating_add(in_flight)
}

/// The next thing that the server says; streams that end meanwhile are passed over.
fn next_control(heard: &Receiver<News>, deadline: Instant) -> Option<io::Result<i8>> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match heard.recv_timeout(left) {
            Ok(News::Control(found)) => return Some(found),
            Ok(News::Stream(_)) => {}
            Err(_) => return None,
        }
    }
}

fn next_byte(mut stream: &TcpStream) -> io::Result<i8> {
    let mut byte = [0];
    stream.read_exact(&mut byte)?;
    Ok(i8::from_ne_bytes(byte))
}

/// What is sent: random, so that nothing on the path can compress it.
fn random_block() -> Result<Vec<u8>, Error> {
    let mut block = vec![0; BLOCK_BYTES];
    fill_random(&mut block)?;
    Ok(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_buffers_is_no_disagreement() {
        assert!(agree(1000, 900, 900, 1));
        assert!(agree(IN_FLIGHT_BYTES_MAX, 0, 0, 1));
        assert!(!agree(IN_FLIGHT_BYTES_MAX * 2, 0, 0, 1));
        assert!(!agree(1000, 1000, 1000 + 1 + BLOCK_BYTES as u64, 1));
        assert!(!agree(0, u64::MAX, 0, 128));
        assert!(agree(u64::MAX, u64::MAX, u64::MAX, 128));
    }
}
