//! What one end can tell of a path where nobody starts iperf3 at the other, and what it cannot.

use analysis::rung_and_probe_verdict::ANALYSIS_BLOCKS;
use analysis::{Cause, Diagnosis, Proof, State};
use record::{
    BitsPerSecond, Bytes, Direction, EngineClock, Nanoseconds, Offload, Outcome, ProbeKind, Record,
    Rung, Stage, TcpClock, TcpDetail,
};

use crate::injected_faults::{Well, ids, without_tcp};
use crate::run_builder::{GIGABIT, lab_nic, ladder, rung};

fn first(said: &Diagnosis) -> (&str, State) {
    let first: &Cause = said.named().expect("a cause");
    (first.id.as_str(), first.state)
}

/// Trials in which one small request follows another: what each sent again, and its shortest round trip.
fn single_requests(well: &mut Well, trials: &[(u64, Nanoseconds)]) {
    for (number, (resent, round_trip)) in (0..).zip(trials) {
        let mut trial = well.trial_of(Rung::Share);
        trial.stage = Stage::Ladder {
            rung: Rung::SmallFiles,
            repetition: number,
        };
        if let Outcome::Measured(result) = &mut trial.outcome {
            let connection = &mut result.connections[0];
            connection.retransmits = Some(*resent);
            connection.tcp = Some(TcpDetail {
                round_trip_min: *round_trip,
                ..TcpDetail::default()
            });
        }
        well.records.push(Record::Trial(Box::new(trial)));
    }
}

#[test]
fn a_loss_that_costs_nothing_is_counted_where_no_queue_is_full() {
    let said = |single: [u64; 4]| {
        let mut well = Well::new();
        // Three segments of a thousand, which a full queue may drop as well.
        well.retransmits(240);
        let trials = single.map(|resent| (resent, Nanoseconds::new(50_000)));
        single_requests(&mut well, &trials);
        well.said(false)
    };
    let lost = said([7, 5, 0, 6]);
    assert_eq!(
        first(&lost),
        ("segments-lost", State::Proven(Proof::Counter))
    );
    assert_eq!(lost.causes[0].text.id, "segments-lost.single");
    assert_eq!(said([0, 0, 1, 0]).causes, []);
    // One trial with a hiccup is no path that loses.
    assert_eq!(said([9, 0, 0, 0]).causes, []);
}

#[test]
fn a_queue_that_is_never_empty_is_other_traffic() {
    let said = |microseconds: [u64; 4], gain: f64| {
        without_tcp([64.5, 64.8], |well| {
            let trials = microseconds.map(|it| (0, Nanoseconds::new(it * 1_000)));
            single_requests(well, &trials);
            well.probes(Direction::Read, ProbeKind::Sessions, 64.5, &[gain; 6]);
        })
    };
    // A queue that the others keep nearly full differs by less than a tenth.
    for waits in [
        [17_000, 19_000, 16_000, 18_000],
        [18_743, 19_817, 19_388, 20_423],
    ] {
        let neighbour = said(waits, 1.25);
        assert_eq!(first(&neighbour), ("other-traffic", State::Suspected));
        assert_eq!(neighbour.causes[0].text.id, "other-traffic.elsewhere");
    }
    // Others that come and go leave it undecided how much two sessions gain.
    let undecided = without_tcp([64.5, 64.8], |well| {
        let waits = [18_743, 19_817, 19_388, 20_423];
        let trials = waits.map(|it| (0, Nanoseconds::new(it * 1_000)));
        single_requests(well, &trials);
        let gains = [1.3, 0.8, 1.35, 1.25, 1.0, 1.3];
        well.probes(Direction::Read, ProbeKind::Sessions, 64.5, &gains);
    });
    assert_eq!(first(&undecided), ("other-traffic", State::Suspected));
    // A far server is as far at each time, and what doubles is a limit of each connection.
    for said in [
        said([17_000, 17_000, 17_000, 17_000], 1.25),
        said([10_110, 10_290, 10_150, 10_200], 1.25),
        said([17_000, 19_000, 16_000, 18_000], 1.8),
    ] {
        assert!(
            said.named().is_none_or(|it| it.id != "other-traffic"),
            "{said:#?}"
        );
    }
}

/// A cable with two broken pairs: the NIC at its other end comes up at 100 Mbit/s, and the server says so.
#[test]
fn a_server_that_says_it_runs_at_a_tenth_is_believed_where_the_rates_agree() {
    let said = |told: u64, rates: [f64; 2]| {
        without_tcp(rates, |well| {
            well.advertise(&[("10.77.1.2", told, false)]);
        })
    };
    let slow = said(GIGABIT / 10, [11.76, 11.7]);
    assert_eq!(first(&slow), ("slow-link", State::Suspected));
    assert_eq!(slow.causes[0].text.id, "slow-link.end-by-word");
    // More than that is moved, so it is not so.
    assert!(!ids(&said(GIGABIT / 10, [100.0, 100.0]).causes).contains(&"slow-link"));
    assert!(!ids(&said(GIGABIT, [117.6, 117.5]).causes).contains(&"slow-link"));
}

/// Another machine that sends now and then: no cause can be named, and what may be the reason can be listed.
#[test]
fn rates_that_differ_from_trial_to_trial_are_no_loss_of_some_five_per_cent() {
    let said = |low: f64| {
        without_tcp([117.6, 117.6], |well| {
            let rates: Vec<f64> = [117.6, low]
                .into_iter()
                .cycle()
                .take(ANALYSIS_BLOCKS[3])
                .collect();
            well.replace_rates(Rung::Share, Direction::Write, &rates);
        })
    };
    let varies = said(70.0);
    assert_eq!(varies.headline.id, "headline.varies");
    assert_eq!((varies.named(), varies.complete), (None, false));
    let mut causes = varies.causes.iter();
    let open = causes.find(|cause| cause.id == "other-traffic");
    assert_eq!(open.expect("it may be").state, State::Unknowable);
    assert_ne!(said(109.0).headline.id, "headline.varies");
    // Mostly well, and now and then far from it.
    let now_and_then = without_tcp([117.6, 117.6], |well| {
        let rates: Vec<f64> = [117.6, 112.0, 107.0, 60.0]
            .into_iter()
            .cycle()
            .take(ANALYSIS_BLOCKS[3])
            .collect();
        well.replace_rates(Rung::Share, Direction::Write, &rates);
    });
    assert_eq!(now_and_then.headline.id, "headline.varies");
}

/// Over 10 ms one lost segment in ten thousand takes most of the rate, and a receiver sees few of them out of order.
#[test]
fn few_segments_out_of_order_are_a_loss_where_the_path_is_long() {
    let said = |round_trip: u64, overtaken: u64| {
        without_tcp([117.6, 117.6], |well| {
            let rates: Vec<f64> = [117.6, 60.0]
                .into_iter()
                .cycle()
                .take(ANALYSIS_BLOCKS[3])
                .collect();
            well.replace_rates(Rung::Share, Direction::Read, &rates);
            well.path.mtus[0].round_trip = Some(Nanoseconds::new(round_trip));
            well.trials(|trial| {
                if let Outcome::Measured(result) = &mut trial.outcome {
                    result.connections[0].tcp = Some(TcpDetail {
                        round_trip_min: Nanoseconds::new(round_trip),
                        out_of_order: Some(overtaken),
                        ..TcpDetail::default()
                    });
                }
            });
        })
    };
    let lossy = said(10_000_000, 50);
    assert_eq!(first(&lossy), ("segments-lost", State::Suspected));
    assert_eq!(lossy.causes[0].text.id, "segments-lost.overtaken");
    for other in [said(200_000, 50), said(10_000_000, 0)] {
        assert!(!ids(&other.causes).contains(&"segments-lost"), "{other:#?}");
    }
}

#[test]
fn network_or_server_lists_what_only_the_server_would_show() {
    let said = without_tcp([55.0, 59.0], |well| {
        well.probes(Direction::Read, ProbeKind::Sessions, 55.0, &[1.0; 6]);
    });
    assert_eq!(said.headline.id, "headline.network-or-server");
    assert_eq!(said.named(), None);
    let open = said.causes.iter().find(|cause| cause.id == "other-traffic");
    assert_eq!(open.expect("it may be").state, State::Unknowable);
    assert!(said.fixes.iter().all(|fix| fix.id != "other-time"));
}

#[test]
fn two_sessions_that_gain_on_a_short_path_are_one_process_at_the_server() {
    let said = without_tcp([70.0, 117.0], |well| {
        well.in_order();
        well.probes(Direction::Read, ProbeKind::Sessions, 70.0, &[1.6; 6]);
    });
    assert_eq!(first(&said), ("server-processor", State::Suspected));
    assert_eq!(said.causes[0].text.id, "server-processor.connection");
}

#[test]
fn a_full_buffer_on_a_short_path_is_a_queue_of_the_network() {
    let said = |round_trip: u64| {
        without_tcp([70.6, 70.6], |well| {
            well.path.mtus[0].round_trip = Some(Nanoseconds::new(round_trip));
            well.trials(|trial| {
                if let Outcome::Measured(result) = &mut trial.outcome {
                    result.connections[0].clock = Some(TcpClock {
                        total: Nanoseconds::new(1_000_000_000),
                        busy: Nanoseconds::new(1_000_000_000),
                        sender_limited: Nanoseconds::new(1_000_000_000),
                        segments: 50_000,
                        ..TcpClock::default()
                    });
                }
            });
            well.probes(Direction::Read, ProbeKind::Sessions, 70.6, &[1.0; 6]);
        })
    };
    assert_eq!(first(&said(50_000)), ("rate-limited", State::Suspected));
    // A longer path than a small buffer fills: it may be the buffer.
    assert!(!ids(&said(2_000_000).causes).contains(&"rate-limited"));
}

/// An old switch between the ends, and a disk that takes half of that.
#[test]
fn what_is_read_at_a_lines_rate_from_a_queue_is_a_hop_though_writing_is_slower() {
    let said = |read: f64, write: f64| {
        without_tcp([read, write], |well| {
            well.speed(10 * GIGABIT);
            well.advertise(&[("10.77.1.2", 10 * GIGABIT, false)]);
            well.trials(|trial| {
                if let Outcome::Measured(result) = &mut trial.outcome {
                    let connection = &mut result.connections[0];
                    connection.round_trip = Some(Nanoseconds::new(40_000_000));
                    connection.tcp = Some(TcpDetail {
                        round_trip_min: Nanoseconds::new(100_000),
                        ..TcpDetail::default()
                    });
                }
            });
        })
    };
    let named = |said: &Diagnosis| said.named().map(|first| first.text.id);
    assert_eq!(named(&said(117.6, 58.0)), Some("slow-link.hop-of-queue"));
    assert_eq!(named(&said(70.0, 58.0)), Some("rate-limited.queue"));
}

#[test]
fn a_shaper_of_no_lines_rate_is_a_limit_and_one_of_a_lines_rate_is_the_line() {
    let said = |bits: u64| {
        let mut well = Well::new();
        for host in &mut well.facts {
            let at = host.nics[0].addresses[0].address.to_string();
            let mut nic = lab_nic(&host.nics[0].name, 2, &at);
            nic.shaped = Some(BitsPerSecond::new(bits));
            host.nics[0] = nic;
        }
        let carried = 0.956 * bits as f64 / 8e6;
        well.records = ladder([carried; 4]);
        well.advertise(&[]);
        well.said(false)
    };
    let limited = said(590_600_000);
    assert_eq!(
        first(&limited),
        ("rate-limited", State::Proven(Proof::Counter))
    );
    assert_eq!(limited.causes[0].text.id, "rate-limited.shaper-alone");
    for line in [984_395_000, 2_500_000_000, GIGABIT] {
        assert!(!ids(&said(line).causes).contains(&"rate-limited"), "{line}");
    }
}

#[test]
fn what_an_encrypted_session_gains_signatures_cost() {
    let said = |gain: f64| {
        without_tcp([60.0, 61.0], |well| {
            well.sessions(|session| {
                session.data_signed = true;
                session.signing_algorithm = Some("AES-128-CMAC".into());
            });
            let kind = ProbeKind::EncryptionForSigning;
            well.probes(Direction::Read, kind, 60.0, &[gain; 6]);
        })
    };
    assert_eq!(
        first(&said(1.9)),
        ("signing", State::Proven(Proof::Counter))
    );
    assert_eq!(first(&said(1.0)), ("signing", State::Suspected));
}

#[test]
fn a_processor_full_of_segments_is_suspected_under_their_name() {
    let said = |on: bool| {
        let mut well = Well::new();
        for host in &mut well.facts {
            host.nics[0].speed = Some(BitsPerSecond::new(10 * GIGABIT));
        }
        let names = ["tcp-segmentation-offload", "generic-segmentation-offload"];
        let offload = Offload { on, fixed: false };
        let offloads = names.map(|name| (name.to_owned(), offload));
        well.facts[0].nics[0].offloads = offloads.into_iter().collect();
        well.advertise(&[("10.77.1.2", 10 * GIGABIT, true)]);
        well.records = ladder([1170.0, 1170.0, 1170.0, 950.0]);
        well.trials(|trial| {
            if let Outcome::Measured(result) = &mut trial.outcome {
                result.engine = Some(EngineClock {
                    total: Nanoseconds::new(1_000_000_000),
                    processor: Nanoseconds::new(950_000_000),
                    ..EngineClock::default()
                });
            }
        });
        well.said(false)
    };
    assert_eq!(first(&said(false)), ("offloads-off", State::Suspected));
    let full = said(true);
    assert_eq!(
        first(&full),
        ("client-processor", State::Proven(Proof::Counter))
    );
}

#[test]
fn small_requests_that_cost_nothing_here_are_no_cause() {
    let mut well = Well::new();
    well.sessions(|session| session.read_max = Bytes::new(65_536));
    let said = well.said(false);
    assert_eq!((ids(&said.causes), said.first_loss), (vec![], None));
    assert!(ids(&said.remarks).contains(&"small-requests"));
}

#[test]
fn small_files_that_wait_for_a_disk_are_told_from_those_that_do_not() {
    // In megabytes a second: requests of 1 MiB, each in 100 us, and files of 4 KiB.
    let said = |write: f64| {
        let mut well = Well::new();
        well.advertise(&[]);
        let (read_way, write_way) = (Direction::Read, Direction::Write);
        well.records
            .extend(rung(Rung::RoundTrip, read_way, &[10_485.76; 4]));
        well.records
            .extend(rung(Rung::SmallFiles, read_way, &[16.0; 4]));
        well.records
            .extend(rung(Rung::SmallFiles, write_way, &[write; 4]));
        well.said(false)
    };
    // 28 ms each.
    assert_eq!(first(&said(0.146)), ("sync-writes", State::Suspected));
    assert!(!ids(&said(10.0).causes).contains(&"sync-writes"));
}

#[test]
fn a_buffer_that_a_program_may_ask_for_and_the_system_does_not_give_is_proven_by_its_gain() {
    let said = |gain: f64| {
        without_tcp([7.1, 117.5], |well| {
            well.path.mtus[0].round_trip = Some(Nanoseconds::new(10_000_000));
            well.facts[0].tcp.receive_buffer = Some([4096, 65_536, 131_072]);
            well.probes(Direction::Read, ProbeKind::ReceiveBuffer, 7.1, &[gain; 6]);
        })
    };
    for (gain, proof) in [(1.8, Proof::Relieved), (0.6, Proof::Binding)] {
        let said = said(gain);
        assert_eq!(first(&said), ("receive-buffer-small", State::Proven(proof)));
    }
    let said = said(1.0);
    assert!(
        said.named()
            .is_none_or(|it| it.id != "receive-buffer-small")
    );
}

#[test]
fn a_server_that_stops_and_goes_on_is_told_from_a_hop() {
    let said = |swing: f64| {
        without_tcp([25.0, 30.0], |well| {
            well.in_order();
            let parts = [1.0 - swing, 1.0 + swing].repeat(4);
            for direction in [Direction::Read, Direction::Write] {
                well.in_parts(direction, &parts);
            }
        })
    };
    let stops = said(0.2);
    assert_eq!(first(&stops), ("server-processor", State::Suspected));
    assert_eq!(stops.causes[0].text.id, "server-processor.bursts");
    assert_eq!(said(0.02).named(), None);
}

#[test]
fn buffers_that_the_file_server_sets_are_no_full_process() {
    let said = |round_trip: u64| {
        let mut well = Well::new();
        well.path.mtus[0].round_trip = Some(Nanoseconds::new(round_trip));
        well.records = ladder([117.5, 117.5, 117.0, 70.0]);
        well.probes(Direction::Write, ProbeKind::Sessions, 70.0, &[1.6; 6]);
        let said = well.said(true);
        let mut causes = said.causes.into_iter();
        causes.any(|cause| cause.text.id == "server-processor.process")
    };
    assert!(said(50_000));
    assert!(!said(10_000_000), "each connection may have a small buffer");
}

#[test]
fn a_shaper_for_what_is_sent_is_no_line_where_more_arrives() {
    let said = |read: f64| {
        let mut well = Well::new();
        let mut nic = lab_nic("a0", 2, "10.77.1.1");
        nic.shaped = Some(BitsPerSecond::new(98_439_500));
        well.facts[0].nics[0] = nic;
        well.records = ladder([read, 11.75, read, 11.75]);
        well.advertise(&[]);
        well.said(false)
    };
    let one_way = said(117.5);
    assert_eq!(
        first(&one_way),
        ("rate-limited", State::Proven(Proof::Counter))
    );
    assert_eq!(one_way.causes[0].text.id, "rate-limited.shaper-one-way");
    assert_eq!(said(11.75).named(), None);
}
