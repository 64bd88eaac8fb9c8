//! Raw TCP: an iperf3 client.
//!
//! The caller's thread talks over the control connection and cuts the samples; each data stream has
//! a thread; one more waits for what the server says out of turn. All of them end when their
//! sockets are shut down, which happens on every way out.

mod control;
mod stream;
mod transfer;

use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use locale::say;
use record::{Bytes, ConnectionUse, Nanoseconds, TcpWorkload, TrialLine, TrialResult};

use crate::interval_sampling::Spans;
use crate::{Error, Stop, tcp_and_engine_clock};
pub(crate) use control::FarResults;
use control::{Control, Patience, state};
use stream::{Connector, Stream};
use transfer::{Test, Transfer};

/// Bytes of one read or write, as iperf3 itself does by default.
const BLOCK_BYTES: usize = 128 << 10;
/// Most streams that iperf3 takes.
const STREAMS_MAX: u32 = 128;

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
        let reason = say("error-measure.usage-streams")
            .count("streams", workload.streams)
            .count("most", STREAMS_MAX);
        return Err(Error::Usage { reason });
    }
    crate::socket_options::options(&workload.socket).map(drop)
}

fn run_with(
    patience: Patience,
    workload: &TcpWorkload,
    stop: &Stop,
    emit: &mut dyn FnMut(&TrialLine),
) -> Result<TrialResult, Error> {
    let spans = Spans::new(&workload.timing)?;
    check(workload)?;
    let options = crate::socket_options::options(&workload.socket)?;
    options
        .check()
        .map_err(|source| smb::Error::Sockets { source })?;
    let begun = Instant::now();
    let server = SocketAddr::new(workload.server, workload.port);
    let connector = Connector {
        server,
        nic: workload.nic.as_deref(),
        source: workload.socket.source,
        timeout: patience.connect,
    };
    let stream = connector.connect(&os::network::SocketOptions::default())?;
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
    Ok(TrialResult {
        connections: connections(&streams, &transfer, workload),
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

/// What each stream moved in the counted time, and what TCP did in it.
fn connections(
    streams: &[Stream],
    transfer: &Transfer,
    workload: &TcpWorkload,
) -> Vec<ConnectionUse> {
    let server = SocketAddr::new(workload.server, workload.port);
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
            tcp: tcp.as_ref().and_then(crate::tcp_detail),
            congestion_control: stream.congestion_control(),
            clock: before
                .as_ref()
                .zip(after.as_ref())
                .and_then(|(before, after)| tcp_and_engine_clock::tcp(before, after, counted)),
        }
    });
    connections.collect()
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
            .map_err(|source| control.broke(say("error-measure.open-stream"), source))
    };
    let streams = (0..workload.streams)
        .map(|_| open())
        .collect::<Result<_, _>>()?;
    control.expect(state::START)?;
    control.expect(state::RUNNING)?;
    Ok(streams)
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read, Write};
    use std::net::{Ipv4Addr, Shutdown, TcpListener};
    use std::sync::mpsc::{self, RecvTimeoutError};
    use std::thread;

    use proptest::prelude::*;
    use record::{Direction, Timing};

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
