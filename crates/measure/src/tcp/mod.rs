//! Raw TCP: an iperf3 client.
//!
//! The caller's thread talks over the control connection and cuts the samples; each data stream has
//! a thread; one more waits for what the server says out of turn. All of them end when their
//! sockets are shut down, which happens on every way out.

mod control;
mod stream;

use std::io::{self, Read};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use record::{
    Bytes, ConnectionUse, Direction, Nanoseconds, Sample, TcpWorkload, TrialLine, TrialResult,
};
use smb::TcpFacts;

use crate::counters::{self, Spans};
use crate::stop::STOP_POLL;
use crate::{Error, Stop, clock, fill_random};
pub(crate) use control::FarResults;
use control::{Control, Patience, state};
use stream::{Connector, Stream};

/// Bytes of one read or write, as iperf3 itself does by default.
const BLOCK_BYTES: usize = 128 << 10;
/// Most streams that iperf3 takes.
const STREAMS_MAX: u32 = 128;
/// Bytes of one stream that may be on their way or in a receive buffer when a test ends: a generous
/// receive buffer.
const IN_FLIGHT_BYTES_MAX: u64 = 16 << 20;
/// On a fast path more is on its way than that: this part of what was sent.
const IN_FLIGHT_SHARE: u64 = 20;
/// How long the reason on the control connection may come after a data stream broke.
const REASON_WAIT: Duration = Duration::from_millis(200);

/// Measures raw TCP.
pub(crate) fn run(
    workload: &TcpWorkload,
    stop: &Stop,
    emit: &mut dyn FnMut(&TrialLine),
) -> Result<TrialResult, Error> {
    run_with(Patience::default(), workload, stop, emit)
}

pub(crate) fn check(workload: &TcpWorkload) -> Result<(), Error> {
    if !(1..=STREAMS_MAX).contains(&workload.streams) {
        let reason = format!(
            "{} streams; 1 to {STREAMS_MAX} are possible",
            workload.streams
        );
        return Err(Error::Usage { reason });
    }
    crate::socket::options(&workload.socket).map(drop)
}

fn run_with(
    patience: Patience,
    workload: &TcpWorkload,
    stop: &Stop,
    emit: &mut dyn FnMut(&TrialLine),
) -> Result<TrialResult, Error> {
    let spans = Spans::new(&workload.timing)?;
    check(workload)?;
    let options = crate::socket::options(&workload.socket)?;
    options.check()?;
    let begun = Instant::now();
    let server = SocketAddr::new(workload.server, workload.port);
    let connector = Connector {
        server,
        nic: workload.nic.as_deref(),
        source: workload.socket.source,
        timeout: patience.connect,
    };
    let stream = connector.connect(&smb::SocketOptions::default())?;
    let control = Control {
        stream,
        server,
        patience,
    };
    let open = || connector.connect(&options);
    let streams = negotiate(&control, workload, &spans, &open)?;
    let test = Test {
        control,
        streams: &streams,
        direction: workload.direction,
        stop,
    };
    let transfer = test.transfer(&spans, emit)?;
    // Only for the record: a trial is not lost because the system does not list its interfaces.
    let nics = smb::local_nics().unwrap_or_default();
    let counted: Nanoseconds = transfer.samples.iter().map(|one| one.duration).sum();
    let counted = Duration::from(counted);
    let counts = transfer.bytes.iter().zip(&transfer.clocks);
    let connections = streams.iter().zip(counts).map(|(stream, (&bytes, clock))| {
        let tcp = stream.tcp();
        let [before, after] = clock;
        ConnectionUse {
            local: stream.local,
            remote: server,
            nic: workload
                .nic
                .clone()
                .or_else(|| nic_of(&nics, stream.local.ip())),
            bytes: Bytes::new(bytes),
            round_trip: tcp.map(|tcp| tcp.round_trip.into()),
            retransmits: tcp.map(|tcp| tcp.retransmits),
            tcp: tcp.as_ref().map(crate::tcp_detail),
            congestion_control: stream.congestion_control(),
            clock: before
                .as_ref()
                .zip(after.as_ref())
                .and_then(|(before, after)| clock::tcp(before, after, counted)),
        }
    });
    Ok(TrialResult {
        connections: connections.collect(),
        samples: transfer.samples,
        first_byte: transfer.first.map(|first| (first - begun).into()),
        session: None,
        far_retransmits: transfer.far.retransmits,
        latency: None,
        storage: None,
        playback: None,
        engine: None,
        sandbox: None,
    })
}

fn nic_of(nics: &[smb::LocalNic], address: IpAddr) -> Option<String> {
    let has = |nic: &&smb::LocalNic| nic.addresses.iter().any(|found| found.address == address);
    nics.iter().find(has).map(|nic| nic.name.clone())
}

/// From the cookie to the moment at which payload may flow.
fn negotiate(
    control: &Control,
    workload: &TcpWorkload,
    spans: &Spans,
    connect: &dyn Fn() -> Result<TcpStream, Error>,
) -> Result<Vec<Stream>, Error> {
    let cookie = control::cookie()?;
    // A busy server answers and hangs up without reading, so this may fail before we hear why.
    // The answer says more, and when there is none, reading fails as well.
    control.write(&cookie).ok();
    control.expect(state::PARAMETERS)?;
    control.send_json(&control::parameters(workload, spans))?;
    control.expect(state::CREATE_STREAMS)?;
    let open = || {
        Stream::introduce(connect()?, workload.direction, &cookie)
            .map_err(|source| control.broke("open a data stream to", source))
    };
    let streams = (0..workload.streams)
        .map(|_| open())
        .collect::<Result<_, _>>()?;
    control.expect(state::START)?;
    control.expect(state::RUNNING)?;
    Ok(streams)
}

/// What a thread says to the one that counts.
enum News {
    /// The server spoke, or fell silent for good.
    Control(io::Result<i8>),
    /// A data stream ended.
    Stream(io::Error),
}

/// What came of a test.
struct Transfer {
    samples: Vec<Sample>,
    /// Payload of each stream in the counted time.
    bytes: Vec<u64>,
    /// What TCP knew of each stream when that time began and when it ended.
    clocks: Vec<[Option<TcpFacts>; 2]>,
    first: Option<Instant>,
    far: FarResults,
}

/// Payload of a stream in the counted time, and what TCP knew of it at both ends of that time.
type Counted = (u64, [Option<TcpFacts>; 2]);

/// A test whose streams are open.
struct Test<'a> {
    control: Control,
    streams: &'a [Stream],
    direction: Direction,
    stop: &'a Stop,
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
    fn transfer(&self, spans: &Spans, emit: &mut dyn FnMut(&TrialLine)) -> Result<Transfer, Error> {
        let (news, heard) = mpsc::channel();
        let block = random_block()?;
        let finished = AtomicBool::new(false);
        let first = OnceLock::new();
        self.control
            .stream
            .set_read_timeout(None)
            .map_err(|source| self.control.broke("listen to", source))?;
        thread::scope(|scope| {
            let _hang_up = HangUp(&self.control.stream, self.streams);
            let spawn_error = |source| Error::System {
                action: "start a thread",
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
        let samples = counters::count(spans, Instant::now(), &mut payload, &mut wait, emit)?;
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
                Ok(()) => self
                    .control
                    .misbehaves("it says twice that the test runs".to_owned()),
                Err(error) => error,
            },
            News::Control(Err(source)) => self.control.broke("hear from", source),
            News::Stream(source) => {
                let deadline = Instant::now() + REASON_WAIT;
                match next_control(heard, deadline) {
                    Some(Ok(found)) => self.broken(News::Control(Ok(found)), heard),
                    _ => self.control.broke("move data between us and", source),
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
        let found = answer.map_err(|source| control.broke("hear the end from", source))?;
        control.accept(found, state::RESULTS)?;
        let passed: Vec<u64> = self.streams.iter().map(Stream::passed).collect();
        control.send_json(&control::our_results(&passed, spans.whole().as_secs_f64()))?;
        let far = control.receive_results()?;
        control.expect(state::DISPLAY)?;
        control.say(state::DONE)?;
        if far.streams != self.streams.len() {
            return Err(control.misbehaves(format!("results of {} streams", far.streams)));
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

/// What is sent: random, so that nothing on the way can make it shorter.
fn random_block() -> Result<Vec<u8>, Error> {
    let mut block = vec![0; BLOCK_BYTES];
    fill_random(&mut block)?;
    Ok(block)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{Ipv4Addr, TcpListener};
    use std::sync::mpsc::RecvTimeoutError;

    use proptest::prelude::*;
    use record::Timing;

    use super::*;

    const HASTE: Patience = Patience {
        connect: Duration::from_secs(2),
        answer: Duration::from_millis(300),
    };

    /// A server's end of a test: the control connection after its cookie, and the streams.
    struct Far {
        listener: TcpListener,
        control: TcpStream,
        streams: Vec<TcpStream>,
    }

    impl Far {
        fn say(&mut self, bytes: &[u8]) {
            // The client may have hung up already, which is its right here.
            self.control.write_all(bytes).ok();
        }

        fn hear(&mut self, length: usize) -> Vec<u8> {
            let mut bytes = vec![0; length];
            self.control.read_exact(&mut bytes).unwrap();
            bytes
        }

        fn hear_json(&mut self) -> serde_json::Value {
            let length = self.hear(4).try_into().map(u32::from_be_bytes).unwrap();
            serde_json::from_slice(&self.hear(length as usize)).unwrap()
        }

        /// Goes through the negotiation to the running test.
        fn begin(&mut self) {
            self.say(&[9]);
            let parameters = self.hear_json();
            self.say(&[10]);
            for _ in 0..parameters["parallel"].as_u64().unwrap() {
                let (mut stream, _) = self.listener.accept().unwrap();
                stream.read_exact(&mut [0; 37]).unwrap();
                self.streams.push(stream);
            }
            self.say(&[1, 2]);
        }

        /// Reads all that the client sends, until it ends the test.
        fn receive_all(&mut self) {
            let mut stream = self.streams[0].try_clone().unwrap();
            let reading = thread::spawn(move || io::copy(&mut stream, &mut io::sink()).ok());
            assert_eq!(self.hear(1), [4]);
            self.streams[0].shutdown(Shutdown::Both).ok();
            reading.join().unwrap();
        }
    }

    fn workload(port: u16, direction: Direction) -> TcpWorkload {
        TcpWorkload {
            server: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port,
            direction,
            streams: 1,
            nic: None,
            timing: Timing {
                warm_up: Duration::from_millis(10).into(),
                measured: Duration::from_millis(40).into(),
                interval: Duration::from_millis(20).into(),
            },
            socket: record::SocketOptions::default(),
        }
    }

    /// Runs the client against a server that does as `script` says.
    fn against(
        direction: Direction,
        script: impl FnOnce(&mut Far) + Send,
    ) -> Result<TrialResult, Error> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::scope(|scope| {
            scope.spawn(move || {
                let (mut control, _) = listener.accept().unwrap();
                control.read_exact(&mut [0; 37]).unwrap();
                script(&mut Far {
                    listener,
                    control,
                    streams: Vec::new(),
                });
            });
            run_with(HASTE, &workload(port, direction), &Stop::new(), &mut |_| {})
        })
    }

    #[test]
    fn a_busy_server_is_told_from_a_broken_one() {
        let error = against(Direction::Read, |far| far.say(&[0xFF])).unwrap_err();
        assert!(matches!(error, Error::Busy { .. }), "{error}");
    }

    #[test]
    fn a_server_error_comes_with_its_two_numbers() {
        let numbers = [0xFE, 0, 0, 0, 105, 0, 0, 0, 98];
        let error = against(Direction::Read, |far| far.say(&numbers)).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Server {
                    code: 105,
                    system: 98,
                    ..
                }
            ),
            "{error}"
        );
        let cut = against(Direction::Read, |far| far.say(&numbers[..5])).unwrap_err();
        assert!(matches!(cut, Error::Connection { .. }), "{cut}");
    }

    #[test]
    fn a_server_error_in_the_middle_is_told_and_not_the_stream_it_broke() {
        let error = against(Direction::Write, |far| {
            far.begin();
            far.streams.clear();
            far.say(&[0xFE, 0, 0, 0, 1, 0, 0, 0, 0]);
            far.hear(1);
        });
        assert!(
            matches!(
                error,
                Err(Error::Server {
                    code: 1,
                    system: 0,
                    ..
                })
            ),
            "{error:?}"
        );
    }

    #[test]
    fn states_that_are_not_due_are_misbehaviour() {
        for state in [0_i8, 2, 13, 16, 99, -3, i8::MIN, i8::MAX] {
            let error = against(Direction::Read, |far| far.say(&state.to_ne_bytes())).unwrap_err();
            assert!(matches!(error, Error::Protocol { .. }), "{state}: {error}");
        }
    }

    #[test]
    fn silence_ends_with_a_time_out() {
        for said in [&[][..], &[9], &[9, 10]] {
            let (done, ended) = mpsc::channel::<()>();
            let begun = Instant::now();
            let error = against(Direction::Read, move |far| {
                far.say(said);
                // Until the client gives up.
                let rest = io::copy(&mut far.control, &mut io::sink());
                drop((rest, done));
            })
            .unwrap_err();
            assert_eq!(
                ended.recv_timeout(Duration::ZERO),
                Err(RecvTimeoutError::Disconnected)
            );
            assert_eq!(error.kind(), record::FailureKind::Unreachable, "{error}");
            assert!(begun.elapsed() < Duration::from_secs(2));
        }
    }

    #[test]
    fn no_payload_is_not_a_rate_of_zero() {
        let error = against(Direction::Read, |far| {
            far.begin();
            far.hear(1);
        })
        .unwrap_err();
        assert!(matches!(error, Error::Silence { .. }), "{error}");
    }

    #[test]
    fn a_server_that_hangs_up_in_the_middle_is_named() {
        let error = against(Direction::Write, Far::begin).unwrap_err();
        assert!(matches!(error, Error::Connection { .. }), "{error}");
        let error = against(Direction::Write, |far| {
            far.begin();
            far.say(&[11]);
            far.hear(1);
        })
        .unwrap_err();
        assert!(matches!(error, Error::Ended { .. }), "{error}");
    }

    /// A test that goes well up to the results, whose frame is then `answer`.
    fn answering(answer: &[u8]) -> Result<TrialResult, Error> {
        against(Direction::Write, |far| {
            far.begin();
            far.receive_all();
            far.say(&[13]);
            let ours = far.hear_json();
            assert_eq!(ours["streams"][0]["id"], 1);
            far.say(answer);
            io::copy(&mut far.control, &mut io::sink()).ok();
        })
    }

    #[test]
    fn results_of_any_length_are_bounded() {
        for length in [u32::MAX, 1 << 31, 300_000] {
            let error = answering(&length.to_be_bytes()).unwrap_err();
            assert!(matches!(error, Error::Protocol { .. }), "{error}");
        }
        // Shorter than it says: the time-out, not a wait without end.
        let error = answering(b"\0\0\0\x09{}").unwrap_err();
        assert!(matches!(error, Error::Connection { .. }), "{error}");
        let error = answering(b"\0\0\0\x02{}").unwrap_err();
        assert!(matches!(error, Error::Protocol { .. }), "{error}");
    }

    #[test]
    fn accounts_that_differ_are_not_believed() {
        let text = br#"{"streams":[{"bytes":9e15}]}"#;
        let mut answer = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
        answer.extend_from_slice(text);
        answer.push(14);
        let error = answering(&answer).unwrap_err();
        assert!(matches!(error, Error::Disagreement { .. }), "{error}");
    }

    #[test]
    fn what_lies_in_buffers_is_no_disagreement() {
        assert!(agree(1000, 900, 900, 1));
        assert!(agree(IN_FLIGHT_BYTES_MAX, 0, 0, 1));
        assert!(!agree(IN_FLIGHT_BYTES_MAX * 2, 0, 0, 1));
        assert!(!agree(1000, 1000, 1000 + 1 + BLOCK_BYTES as u64, 1));
        assert!(!agree(0, u64::MAX, 0, 128));
        assert!(agree(u64::MAX, u64::MAX, u64::MAX, 128));
    }

    #[test]
    fn streams_beyond_what_iperf3_takes_are_refused() {
        for streams in [0, 129] {
            let workload = TcpWorkload {
                streams,
                ..workload(1, Direction::Read)
            };
            let error = run(&workload, &Stop::new(), &mut |_| {}).unwrap_err();
            assert!(matches!(error, Error::Usage { .. }), "{error}");
        }
    }

    #[test]
    fn a_stop_ends_the_test_and_tells_the_server() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let stop = Stop::new();
        let stopping = stop.clone();
        let mut workload = workload(port, Direction::Read);
        workload.timing.measured = Duration::from_secs(60).into();
        let error = thread::scope(|scope| {
            scope.spawn(move || {
                let (control, _) = listener.accept().unwrap();
                let mut far = Far {
                    listener,
                    control,
                    streams: Vec::new(),
                };
                far.hear(37);
                far.begin();
                stopping.ask();
                assert_eq!(far.hear(1), [12]);
            });
            run_with(HASTE, &workload, &stop, &mut |_| {}).unwrap_err()
        });
        assert!(matches!(error, Error::Stopped), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever a server says, and however far it plays along, the client ends with an error.
        #[test]
        fn any_bytes_of_a_server_end_in_an_error(
            begins in any::<bool>(),
            bytes in proptest::collection::vec(
                prop_oneof![any::<u8>(), proptest::sample::select(vec![9, 10, 1, 2, 13, 14, 254])],
                0..64,
            ),
        ) {
            let result = against(Direction::Write, |far| {
                if begins {
                    far.begin();
                }
                far.say(&bytes);
                far.control.shutdown(Shutdown::Write).ok();
                far.streams.clear();
                io::copy(&mut far.control, &mut io::sink()).ok();
            });
            prop_assert!(result.is_err());
        }
    }
}
