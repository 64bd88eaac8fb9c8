//! What holds several links back together, though one of them alone is filled.

use analysis::rung_and_probe_verdict::Loss;
use analysis::{Diagnosis, Mode, Proof, RungName, State};
use record::{
    BitsPerSecond, Bytes, Direction, NicLoad, Outcome, ProbeKind, Record, Rung, Stage, Workload,
};

use crate::injected_faults::{Well, ids, received};
use crate::run_builder::{GIGABIT, flat, real_nic, rung};

/// What fits through two links of 1 Gbit/s, in MB/s.
const BOTH: f64 = 234.9;

/// Two links, each of which one channel fills, and what two channels get over both.
fn over_two(reads: [f64; 4], writes: [f64; 4]) -> Well {
    let mut well = Well::new();
    well.second_link(GIGABIT);
    for (direction, rates) in [(Direction::Read, reads), (Direction::Write, writes)] {
        well.records.extend(rung(Rung::Channels, direction, &rates));
    }
    well.over_both_links();
    well
}

fn steady(rate: f64) -> [f64; 4] {
    [rate, rate + 0.2, rate - 0.2, rate]
}

/// Its disk takes more than one link carries and less than both.
fn on_a_disk_between() -> Well {
    over_two(steady(233.0), steady(150.0))
}

fn first(said: &Diagnosis) -> Option<(&str, State)> {
    said.named().map(|first| (first.id.as_str(), first.state))
}

#[test]
fn what_two_links_lose_is_a_loss_of_its_own() {
    let said = on_a_disk_between().said(true);
    let lost = Some((RungName::Channels, Direction::Write));
    assert_eq!((said.first_loss, said.complete), (lost, false));
    assert_eq!(first(&said), Some(("server-disk", State::Suspected)));
    let headline = flat(&said.headline);
    assert!(headline.contains("loss.channels"), "{headline}");
    // That the client leaves one of them idle is true all the same.
    assert!(ids(&said.remarks).contains(&"one-link-of-two"), "{said:#?}");
}

#[test]
fn one_block_over_both_links_proves_the_disk_or_leaves_it_suspected() {
    let with = |gain: f64| {
        let mut well = on_a_disk_between();
        let (kind, gains) = (ProbeKind::OneBlock, [gain; 6]);
        well.probes_of(Rung::Channels, Direction::Write, kind, 150.0, &gains);
        // What it does over one link, which it fills, is no answer.
        well.probes_of(Rung::Share, Direction::Write, kind, 117.0, &[1.0; 6]);
        well.said(true)
    };
    let proven = State::Proven(Proof::Counter);
    assert_eq!(first(&with(1.5)), Some(("server-disk", proven)));
    // A block that is to be on the disk each time waits for it as well.
    let indifferent = with(1.0);
    let disk = indifferent.named().expect("a cause");
    assert_eq!(
        (disk.id.as_str(), disk.state),
        ("server-disk", State::Suspected)
    );
    let decides = disk.decides.as_ref().map(|text| text.id);
    assert_eq!(decides, Some("decide.sync-writes"));
}

#[test]
fn a_limit_that_one_link_does_not_feel_is_proven_by_its_counter() {
    for (client, server, cause) in [
        (0.4, 0.0, "client-processor"),
        (0.0, 0.4, "server-processor"),
    ] {
        let mut well = over_two(steady(170.0), steady(160.0));
        well.loads(client, server, 0.2);
        let said = well.said(true);
        let proven = State::Proven(Proof::Counter);
        assert_eq!(first(&said), Some((cause, proven)), "{said:#?}");
        assert_eq!(said.headline.id, "headline.loses-proven");
    }
}

#[test]
fn links_that_are_not_filled_to_the_last_twentieth_or_not_known_lose_nothing() {
    let nearly = over_two(steady(BOTH * 0.93), steady(BOTH * 0.93)).said(true);
    assert_eq!((nearly.first_loss, first(&nearly)), (None, None));
    assert_eq!(nearly.headline.id, "headline.one-link-idle");
    assert!(nearly.complete, "nothing is proven to lose");
    // Nobody but the server says how fast the second one is.
    let mut unknown = on_a_disk_between();
    for host in &mut unknown.facts {
        host.nics[1].speed = None;
    }
    assert_eq!(unknown.said(true).first_loss, None);
    // What may be more than nine tenths is measured on, and nothing is said of it before.
    let near = over_two(steady(233.0), [190.0, 216.0, 188.0, 218.0]).analyzed(true);
    let loss = (near.ladder.iter())
        .find(|one| (one.rung, one.direction) == (RungName::Channels, Direction::Write))
        .and_then(|one| one.loss);
    assert!(
        matches!(
            loss,
            Some(Loss::CannotTell {
                more_blocks: Some(1..)
            })
        ),
        "{loss:?}"
    );
    let said = near.diagnosis.expect("it was measured");
    assert_eq!((said.first_loss, said.complete), (None, false));
    // Two addresses of one port, which is known, or may be: no more came than fits through one.
    let at_one_port = |rate: f64| over_two(steady(rate), steady(rate));
    let mut parts = at_one_port(117.0);
    for host in &mut parts.facts {
        for nic in &mut host.nics {
            nic.kind = Some("vlan".to_owned());
        }
    }
    assert_eq!(parts.said(true).first_loss, None);
    assert_eq!(at_one_port(117.0).said(false).first_loss, None);
    let both = Some((RungName::Channels, Direction::Write));
    assert_eq!(on_a_disk_between().said(false).first_loss, both);
    // Two channels over one link.
    let mut one = Well::new();
    one.records
        .extend(rung(Rung::Channels, Direction::Write, &steady(90.0)));
    assert_eq!(one.said(true).first_loss, None);
}

/// What is wrong on the path of one connection costs that nothing here, and what is wrong on a third link is not in use.
#[test]
fn what_is_wrong_elsewhere_is_not_why_two_links_lose() {
    let mut slow_third = on_a_disk_between();
    for (host, at) in slow_third.facts.iter_mut().zip(["10.77.3.1", "10.77.3.2"]) {
        let mut third = real_nic("c2", 5, at);
        third.speed = Some(BitsPerSecond::new(GIGABIT / 10));
        host.nics.push(third);
    }
    let slow = ("10.77.3.2", GIGABIT / 10, true);
    let good = ["10.77.1.2", "10.77.2.2"].map(|at| (at, GIGABIT, true));
    slow_third.advertise(&[good[0], good[1], slow]);
    let said = slow_third.said(true);
    assert!(ids(&said.causes).contains(&"slow-link"), "{said:#?}");
    assert_eq!(first(&said), Some(("server-disk", State::Suspected)));
    // One that is faster than the one in use, and is used by both channels.
    let mut faster = over_two(steady(1280.0), steady(150.0));
    for host in &mut faster.facts {
        host.nics[1].speed = Some(BitsPerSecond::new(10 * GIGABIT));
    }
    let said = faster.said(true);
    assert_eq!(
        said.first_loss.map(|(rung, _)| rung),
        Some(RungName::Channels)
    );
    assert_eq!(said.headline.id, "headline.loses-suspected");
    assert_eq!(first(&said).map(|(id, _)| id), Some("server-disk"));
    // The link in use is full, and the other one is not: no disk does that.
    faster.records.retain(|record| !matches!(record, Record::Trial(trial) if matches!(trial.stage, Stage::Ladder { rung: Rung::Channels, .. })));
    for (direction, rate) in [(Direction::Read, 1280.0), (Direction::Write, 234.0)] {
        faster
            .records
            .extend(rung(Rung::Channels, direction, &steady(rate)));
    }
    faster.over_both_links();
    let uneven = faster.said(true);
    assert_eq!(uneven.headline.id, "headline.loses-unexplained");
}

/// A backup takes a part of the second link, all the time, and a NIC of the client or of the server counts it.
#[test]
fn what_others_move_on_the_second_link_is_named() {
    let with_others = |end: usize, of_others: u64, rate: f64| {
        let mut well = over_two(steady(rate), steady(rate));
        well.loads(0.0, 0.0, 0.2);
        well.trials(|trial| {
            if !matches!(trial.stage, Stage::Ladder { rung, .. } if rung == Rung::Channels) {
                return;
            }
            let Outcome::Measured(result) = &mut trial.outcome else {
                return;
            };
            for (at, one) in result.connections.iter_mut().enumerate() {
                let moved = Bytes::new(100_000_000);
                one.bytes = moved;
                let tcp = one.tcp.get_or_insert_default();
                (tcp.received, tcp.sent) = (Some(moved), Some(moved));
                let others = if at == 1 { of_others } else { 0 };
                let all = 106_000_000 + others;
                let names = [["a0", "a1"], ["b0", "b1"]];
                trial.loads[end].nics.push(NicLoad {
                    sent: Bytes::new(all),
                    ..received(names[end][at], all)
                });
            }
        });
        well.said(true)
    };
    for (end, nic) in [(0, "a1"), (1, "b1")] {
        let said = with_others(end, 60_000_000, 170.0);
        let proven = State::Proven(Proof::Counter);
        assert_eq!(first(&said), Some(("other-traffic", proven)), "{said:#?}");
        let named = flat(&said.named().expect("a cause").text);
        assert!(named.contains(nic), "{named}");
        // Nothing of others, and so little that most of the links would be idle.
        for said in [
            with_others(end, 0, 170.0),
            with_others(end, 60_000_000, 120.0),
        ] {
            assert_eq!(
                said.first_loss.map(|(rung, _)| rung),
                Some(RungName::Channels)
            );
            assert_ne!(first(&said), Some(("other-traffic", proven)), "{said:#?}");
        }
    }
}

/// Two cables into two switches, between which there is one.
#[test]
fn links_that_meet_in_one_line_move_what_that_carries() {
    let at = |rate: f64| over_two(steady(rate), steady(rate));
    let said = at(117.6).said(true);
    assert_eq!(
        first(&said),
        Some(("slow-link", State::Suspected)),
        "{said:#?}"
    );
    let named = said.named().map(|cause| cause.text.id);
    assert_eq!(named, Some("slow-link.shared-hop"));
    // It may be the server's only NIC, which is out of sight: that is no answer.
    let alone = at(117.6).said(false);
    assert_eq!((first(&alone), alone.first_loss), (None, None));
    assert_eq!(alone.headline.id, "headline.full");
    let hop = alone
        .causes
        .iter()
        .find(|one| one.id.as_str() == "slow-link");
    assert_eq!(
        hop.map(|one| one.state),
        Some(State::Unknowable),
        "{alone:#?}"
    );
    for other in [over_two(steady(117.6), steady(170.0)), at(150.0), at(233.0)] {
        let causes = other.said(true).causes;
        assert!(!ids(&causes).contains(&"slow-link"), "{causes:#?}");
    }
}

/// A mount has connections of its own, and its rung tells of them.
#[test]
fn beside_a_mount_two_links_lose_nothing_of_their_own() {
    let mut well = on_a_disk_between();
    for direction in [Direction::Read, Direction::Write] {
        let rates = steady(if direction == Direction::Read {
            233.0
        } else {
            150.0
        });
        well.records
            .extend(rung(Rung::SystemClient, direction, &rates));
    }
    assert_eq!(well.said(true).first_loss, None);
}

#[test]
fn interventions_are_made_over_the_links_that_lose() {
    let well = on_a_disk_between();
    let trials = well.next_trials(Mode::Normal, None, vec![Rung::Channels]);
    let mut kinds = Vec::new();
    for (stage, workload) in &trials {
        let (Stage::Probe { rung, changed, .. }, Workload::Share(share)) = (stage, workload) else {
            panic!("{stage:?}")
        };
        let of = (*rung, share.channels, share.direction);
        assert_eq!(of, (Rung::Channels, 2, Direction::Write));
        kinds.extend(*changed);
    }
    assert!(kinds.contains(&ProbeKind::OneBlock), "{kinds:?}");
}
