use analysis::rung_and_probe_verdict::Loss;
use analysis::{Diagnosis, Fix, RunAnalysis, RungName, Trust, analyze};
use record::{
    BitsPerSecond, Direction, HostFacts, HostName, Job, KnobId, LinkState, Outcome, Record, Rung,
    Setting, Storage, Target, Value, Workload,
};

use crate::run_builder::{
    failed_rung, flat, host, lab, lab_nic, ladder, ladder_of, message_ids, real_nic, run, rung,
};

fn said(facts: Vec<HostFacts>, records: Vec<Record>) -> (RunAnalysis, Diagnosis) {
    let analysis = analyze(&run(facts, records));
    let diagnosis = analysis.diagnosis.clone().expect("a ladder was run");
    (analysis, diagnosis)
}

fn causes(diagnosis: &Diagnosis) -> Vec<&str> {
    diagnosis
        .causes
        .iter()
        .map(|cause| cause.id.as_str())
        .collect()
}

fn fix<'a>(diagnosis: &'a Diagnosis, id: &str) -> &'a Fix {
    let mut fixes = diagnosis.fixes.iter();
    fixes.find(|fix| fix.id == id).expect("this fix is offered")
}

fn predicted(fix: &Fix) -> &stats::Estimate {
    fix.predicted.as_ref().expect("it is computed")
}

fn remarks(diagnosis: &Diagnosis) -> Vec<&str> {
    let remarks = diagnosis.remarks.iter();
    remarks.map(|remark| remark.id.as_str()).collect()
}

fn mtu_9000(host: &str, nic: &str) -> Setting {
    Setting::Knob {
        host: HostName::new(host),
        target: Target::Nic(nic.into()),
        id: KnobId::new("nic.mtu"),
        value: Value::Integer(9000),
    }
}

/// The session of each trial of the share is changed.
fn with_session(mut records: Vec<Record>, change: impl Fn(&mut record::SmbSession)) -> Vec<Record> {
    for record in &mut records {
        let Record::Trial(trial) = record else {
            continue;
        };
        if let Outcome::Measured(result) = &mut trial.outcome {
            result.session.as_mut().map(&change);
        }
    }
    records
}

/// A ladder of a well link, and below it trials of the disk and of a copy to a folder.
pub(crate) fn with_disks(disk: f64, copy: f64, folder: Option<&str>) -> Vec<Record> {
    let mut records = ladder([117.5, 117.4, 116.9, 116.5]);
    let read = Direction::Read;
    records.extend(rung(Rung::Disk, read, &[disk; 6]));
    records.extend(rung(Rung::Copy, read, &[copy; 6]));
    for record in &mut records {
        let Record::Trial(trial) = record else {
            continue;
        };
        if let (Workload::Job(workload), Outcome::Measured(result)) =
            (&mut trial.workload, &mut trial.outcome)
            && let Job::Copy { folder: asked, .. } = &mut workload.job
        {
            *asked = folder.map(str::to_owned);
            result.storage = Some(Storage {
                file_system: "ext4".into(),
                network: false,
                direct: false,
                folder: folder.is_none().then(|| "/tmp".into()),
            });
        }
    }
    records
}

#[test]
fn slow_disks_of_the_server_and_of_the_client_are_told_apart() {
    let (analysis, well) = said(lab(), with_disks(116.0, 115.0, Some("/data")));
    assert_eq!(causes(&well), Vec::<&str>::new());
    assert_eq!((well.first_loss, well.complete), (None, true));
    assert_eq!(well.notes.len(), 2, "{:?}", well.notes);
    let share_of = |name: RungName| {
        let rung = analysis.ladder.iter().find(|one| one.rung == name);
        rung.and_then(|rung| rung.of_above.as_ref())
            .map(|share| share.value)
    };
    // Both are held against the share, and neither against the other.
    assert!(share_of(RungName::Disk).is_some_and(|share| (share - 116.0 / 116.9).abs() < 1e-9));
    assert!(share_of(RungName::Copy).is_some_and(|share| (share - 115.0 / 116.9).abs() < 1e-9));

    let (_, server) = said(lab(), with_disks(50.0, 115.0, Some("/data")));
    assert_eq!(causes(&server), ["server-disk"]);
    assert_eq!(server.first_loss, Some((RungName::Disk, Direction::Read)));
    assert_eq!(server.headline.id, "headline.loses-proven");
    assert!(flat(&server.headline).contains("server-disk.cold disk=50000000.000 share=0.428"));

    let (_, local) = said(lab(), with_disks(116.0, 50.0, Some("/data")));
    assert_eq!(causes(&local), ["local-disk"]);
    assert!(flat(&local.headline).contains("local-disk place=`/data` (ext4) copy=50000000"));
    // A folder that was only at hand is no fault of the path.
    let (_, at_hand) = said(lab(), with_disks(116.0, 50.0, None));
    assert_eq!(causes(&at_hand), Vec::<&str>::new());
    assert!(remarks(&at_hand).contains(&"local-disk"));
    assert_eq!((at_hand.first_loss, at_hand.complete), (None, true));
}

#[test]
fn small_files_are_held_against_one_small_request() {
    let mut records = with_disks(116.0, 115.0, None);
    let read = Direction::Read;
    // 1 MiB in 0.5 ms, and 4 KiB in 1 ms.
    records.extend(rung(Rung::RoundTrip, read, &[2097.152; 6]));
    records.extend(rung(Rung::SmallFiles, read, &[4.096; 6]));
    let (_, diagnosis) = said(lab(), records);
    let [files] = &diagnosis.small_files[..] else {
        panic!("{:?}", diagnosis.small_files)
    };
    assert_eq!((files.direction, files.each.n), (read, 6));
    assert!((files.each.value - 0.001).abs() < 1e-9, "{files:?}");
    assert!(
        files
            .requests
            .is_some_and(|requests| (requests - 2.0).abs() < 1e-9)
    );
}

#[test]
fn the_demo_has_one_full_link_of_two_and_two_fixes() {
    let (analysis, diagnosis) = said(lab(), ladder([117.5, 117.4, 116.9, 116.5]));
    assert_eq!(
        flat(&diagnosis.headline),
        "headline.full read=116900000.000 write=116500000.000 share=0.990 line=(line-at-mtu rate=1000000000 mtu=1500) \
         unused=(links-unused links=1)"
    );
    assert_eq!((diagnosis.first_loss, diagnosis.complete), (None, true));
    assert_eq!(remarks(&diagnosis), ["link-saturated", "one-link-of-two"]);
    assert_eq!(causes(&diagnosis), Vec::<&str>::new());
    let mut trusts = diagnosis.remarks.iter().map(|remark| remark.trust);
    assert!(trusts.all(|trust| trust == Trust::Measured));

    let (direction, ceiling) = &analysis.ceilings[0];
    assert_eq!(*direction, Direction::Read);
    assert_eq!(
        flat(&ceiling.because),
        "ceiling-because.line pair=(ends nic=a0 address=b0) rate=1000000000 mtu=1500 payload=1448 whole=1538"
    );
    assert!((ceiling.rate.value - 125e6 * 1448.0 / 1538.0).abs() < 1.0);
    assert_eq!(ceiling.rate.caveats, []);

    let share = &analysis.ladder[2];
    assert_eq!(
        (share.rung, share.direction),
        (RungName::Share, Direction::Read)
    );
    let of_tcp = share.of_above.as_ref().expect("TCP was measured");
    assert!((of_tcp.value - 116.9 / 117.5).abs() < 1e-6);
    assert_eq!((of_tcp.n, of_tcp.confidence), (4, Some(0.95)));
    assert_eq!(share.loss, Some(Loss::DoesNotLose));
    let rate = share.rate.as_ref().expect("the share was measured");
    assert_eq!((rate.n, rate.confidence), (4, Some(0.875)));
}

#[test]
fn the_demos_fixes_are_ready_for_tune_with_computed_predictions() {
    let (_, diagnosis) = said(lab(), ladder([117.5, 117.4, 116.9, 116.5]));
    let ids: Vec<&str> = diagnosis.fixes.iter().map(|fix| fix.id.as_str()).collect();
    assert_eq!(ids, ["channels-2", "mtu-9000"]);
    let [channels, jumbo] = &diagnosis.fixes[..] else {
        unreachable!("there are two");
    };
    assert_eq!((&channels.blocked, &jumbo.blocked), (&None, &None));
    assert_eq!(
        channels.level.settings,
        [Setting::Workload {
            field: "channels".into(),
            value: Value::Integer(2)
        }]
    );
    assert!((predicted(channels).value - 2.0).abs() < 1e-9);
    assert_eq!(
        (predicted(channels).n, predicted(channels).interval),
        (0, None)
    );
    let (client, server) = ("lab://demo/client", "lab://demo/server");
    assert_eq!(
        jumbo.level.settings,
        [
            mtu_9000(client, "a0"),
            mtu_9000(server, "b0"),
            mtu_9000(client, "a1"),
            mtu_9000(server, "b1")
        ]
    );
    assert_eq!(
        flat(&jumbo.text),
        "fix.mtu mtu=9000 nics=`a0`, `a1` (`lab://demo/client`),`b0`, `b1` (`lab://demo/server`)"
    );
    // (8948 / 9038) / (1448 / 1538)
    assert!((predicted(jumbo).value - 1.051_577).abs() < 1e-6);
}

#[test]
fn the_first_rung_that_loses_is_named() {
    let (_, slow_network) = said(lab(), ladder([117.5, 70.0, 117.0, 69.5]));
    assert_eq!(
        slow_network.first_loss,
        Some((RungName::Tcp, Direction::Write))
    );
    assert!(
        flat(&slow_network.headline)
            .contains("loss.tcp direction=(direction.write) rate=70000000.000")
    );
    assert!(causes(&slow_network).contains(&"tcp-slower-than-ceiling"));

    let (_, slow_share) = said(lab(), ladder([117.5, 117.5, 80.0, 60.0]));
    assert_eq!(
        slow_share.first_loss,
        Some((RungName::Share, Direction::Write))
    );
    assert!(
        flat(&slow_share.headline)
            .contains("loss.share direction=(direction.write) rate=60000000.000")
    );
    assert!(causes(&slow_share).contains(&"share-slower-than-tcp"));
    assert_eq!(remarks(&slow_share), ["one-link-of-two"]);
    let caveats = &predicted(fix(&slow_share, "channels-2")).caveats;
    assert_eq!(message_ids(caveats), ["gain-caveat.slow-share"]);
}

#[test]
fn more_than_fits_through_is_a_contradiction_and_not_a_success() {
    let (_, diagnosis) = said(lab(), ladder([117.5, 117.5, 300.0, 117.0]));
    assert_eq!(diagnosis.headline.id, "headline.contradiction");
    assert_eq!(causes(&diagnosis)[0], "measured-above-ceiling");
    assert_eq!((diagnosis.first_loss, diagnosis.complete), (None, false));
}

#[test]
fn a_link_is_full_only_when_nothing_worth_having_is_left() {
    // The ceiling is 117.7 MB/s, and 95 % of it 111.8.
    let (_, full) = said(lab(), ladder([117.5, 117.5, 113.5, 113.5]));
    assert_eq!(full.headline.id, "headline.full");
    assert!(remarks(&full).contains(&"link-saturated"));
    assert_eq!((full.first_loss, full.complete), (None, true));
    // The interval holds a loss that matters and one that does not: at first more rounds may tell, then none would.
    let (_, open) = said(lab(), ladder([117.5, 117.5, 112.0, 112.0]));
    assert_eq!(open.headline.id, "headline.cannot-tell");
    let (_, nearly) = said(lab(), ladder_of(6, [117.5, 117.5, 112.0, 112.0]));
    assert_eq!(nearly.headline.id, "headline.too-near");
    assert_eq!((nearly.first_loss, nearly.complete), (None, false));

    let jumbo = |mut host: HostFacts| {
        for nic in &mut host.nics {
            nic.mtu = 9000;
            nic.shaped = None;
        }
        host
    };
    let one = |name: &str, at: &str| jumbo(host(name, vec![real_nic("eth0", 2, at)]));
    let hosts = vec![one("local", "10.77.1.1"), one("server", "10.77.1.2")];
    let (_, alone) = said(hosts, ladder([123.0, 123.0, 122.0, 122.0]));
    assert_eq!(alone.headline.id, "headline.full");
    assert!(alone.headline.argument("unused").is_none());
}

/// Every NIC has a link-local address, so that nobody is reached from there is no reason.
#[test]
fn channels_that_were_asked_for_in_vain_say_why_without_noise() {
    let mut records = ladder([117.5, 117.5, 117.0, 117.0]);
    for record in &mut records {
        let Record::Trial(trial) = record else {
            continue;
        };
        if let record::Workload::Share(share) = &mut trial.workload {
            share.channels = 2;
        }
    }
    let records = with_session(records, |session| {
        session.rejected_channels = vec![
            "fe80::5054:ff:fe12:1 to 10.77.1.2: it is link-local".into(),
            "169.254.7.7 to 10.77.1.2: it is link-local".into(),
            "10.77.2.1 to 10.77.2.2: connection refused".into(),
        ];
    });
    let (_, diagnosis) = said(lab(), records);
    let blocked = fix(&diagnosis, "channels-2").blocked.as_ref();
    assert_eq!(
        flat(blocked.expect("it is in vain")),
        "blocked.asked-already asked=2 used=1 why=(plain text=10.77.2.1 to 10.77.2.2: connection refused)"
    );
}

#[test]
fn a_server_that_nobody_can_set_gets_advice_instead() {
    let client = host("local", vec![real_nic("eth0", 2, "10.77.1.1")]);
    let (analysis, diagnosis) = said(vec![client], ladder([117.5, 117.4, 116.9, 116.5]));
    let ids: Vec<&str> = diagnosis.fixes.iter().map(|fix| fix.id.as_str()).collect();
    assert_eq!(ids, ["mtu-9000"]);
    let jumbo = &diagnosis.fixes[0];
    assert!(jumbo.level.settings.is_empty());
    let blocked = jumbo.blocked.as_ref().expect("it is blocked");
    assert_eq!(blocked.id, "blocked.both-ends");
    assert_eq!(
        message_ids(&analysis.ceilings[0].1.rate.caveats),
        ["ceiling-caveat.far-mtu"]
    );
}

#[test]
fn pairs_are_found_by_the_servers_own_list() {
    let client = host(
        "local",
        vec![
            real_nic("eth0", 2, "10.77.1.1"),
            real_nic("eth1", 3, "10.77.2.1"),
        ],
    );
    let records = ladder([117.5, 117.4, 116.9, 116.5]);
    let (_, diagnosis) = said(vec![client.clone()], records.clone());
    assert_eq!(fix(&diagnosis, "channels-2").blocked, None);

    let silent = with_session(records.clone(), |session| session.server_interfaces.clear());
    let (_, diagnosis) = said(vec![client.clone()], silent.clone());
    assert!(diagnosis.fixes.iter().all(|fix| fix.id != "channels-2"));
    // With the server's facts the links are known, but multichannel is off there.
    let (_, diagnosis) = said(lab(), silent);
    let blocked = fix(&diagnosis, "channels-2").blocked.clone();
    assert!(blocked.is_some_and(|why| why.id == "blocked.no-interfaces"));
    // MTU 9000 is then for the link in use only.
    assert_eq!(fix(&diagnosis, "mtu-9000").level.settings.len(), 2);

    let old = with_session(records, |session| session.dialect = "2.1".into());
    let (_, diagnosis) = said(vec![client], old);
    let blocked = fix(&diagnosis, "channels-2").blocked.clone();
    assert!(blocked.is_some_and(|why| flat(&why) == "blocked.dialect dialect=2.1"));
}

#[test]
fn a_link_that_is_down_is_not_offered() {
    let mut facts = lab();
    facts[1].nics[1].state = LinkState::Down;
    let (_, diagnosis) = said(facts, ladder([117.5, 117.4, 116.9, 116.5]));
    assert_eq!(remarks(&diagnosis), ["link-saturated"]);
    assert!(diagnosis.fixes.iter().all(|fix| fix.id != "channels-2"));
}

#[test]
fn a_nic_that_cannot_take_jumbo_frames_blocks_them() {
    let mut facts = lab();
    facts[1].nics[0].mtu_max = Some(1500);
    let (_, diagnosis) = said(facts, ladder([117.5, 117.4, 116.9, 116.5]));
    let jumbo = fix(&diagnosis, "mtu-9000");
    let blocked = jumbo.blocked.as_ref().map(flat);
    assert_eq!(blocked.as_deref(), Some("blocked.mtu-max nic=b0 most=1500"));
    assert!(jumbo.level.settings.is_empty());
}

#[test]
fn what_was_not_measured_says_why_and_nothing_is_made_up() {
    let mut records = vec![
        failed_rung(Rung::Tcp, Direction::Read, "no iperf3 answers on port 5201"),
        failed_rung(
            Rung::Tcp,
            Direction::Write,
            "no iperf3 answers on port 5201",
        ),
    ];
    records.extend(rung(Rung::Share, Direction::Read, &[80.0]));
    let (analysis, diagnosis) = said(lab(), records);
    assert!(!diagnosis.complete);
    let tcp = &analysis.ladder[1];
    assert_eq!(
        (tcp.rung, tcp.rate.is_none(), tcp.not_measured.clone()),
        (
            RungName::Tcp,
            true,
            Some("no iperf3 answers on port 5201".into())
        )
    );
    let share = &analysis.ladder[2];
    // Both are the same but for rounding, as one is a mean of logarithms.
    let [above, ceiling] = [&share.of_above, &share.of_ceiling].map(|of| of.as_ref().unwrap());
    assert!((above.value - ceiling.value).abs() < 1e-12);
    assert_eq!((above.interval, ceiling.interval), (None, None));
    let write = &analysis.ladder[5];
    assert_eq!(
        write.not_measured.as_ref().map(flat).as_deref(),
        Some("unmeasured.no-trial direction=(direction.write)")
    );
    // One trial has no verdict.
    assert_eq!(diagnosis.headline.id, "headline.cannot-tell");
    assert_eq!(
        share.loss,
        Some(Loss::CannotTell {
            more_blocks: Some(3)
        })
    );
    let one = share.rate.as_ref().expect("one trial");
    assert_eq!((one.n, one.interval), (1, None));
    assert_eq!(
        one.caveats.iter().map(flat).collect::<Vec<_>>(),
        ["few-trials.for-any n=1 least=6"]
    );
}

#[test]
fn without_facts_the_rates_still_stand() {
    let (analysis, diagnosis) = said(Vec::new(), ladder([117.5, 117.4, 116.9, 116.5]));
    assert!(analysis.ceilings.is_empty() && diagnosis.fixes.is_empty());
    assert_eq!(
        analysis.ladder[0]
            .not_measured
            .as_ref()
            .map(flat)
            .as_deref(),
        Some("unmeasured.our-end address=10.77.1.1")
    );
    assert_eq!(
        flat(&diagnosis.headline),
        "headline.no-ceiling read=116900000.000 write=116500000.000"
    );
    assert_eq!(causes(&diagnosis), Vec::<&str>::new());
}

#[test]
fn a_share_that_never_answered_is_the_headline() {
    let record = failed_rung(Rung::Share, Direction::Read, "the password is wrong");
    let (_, diagnosis) = said(lab(), vec![record]);
    assert_eq!(
        flat(&diagnosis.headline),
        "headline.unmeasured reason=(plain text=the password is wrong)"
    );
    assert!(diagnosis.fixes.is_empty());
}

#[test]
fn hostile_facts_do_no_harm() {
    let mut facts = lab();
    for nic in facts.iter_mut().flat_map(|host| &mut host.nics) {
        nic.mtu = u32::MAX;
        nic.shaped = Some(BitsPerSecond::new(0));
        nic.speed = Some(BitsPerSecond::new(u64::MAX));
        for entry in &mut nic.addresses {
            entry.prefix = 255;
        }
    }
    let (_, diagnosis) = said(facts, ladder([117.5, 117.4, 116.9, 116.5]));
    assert!(diagnosis.fixes.is_empty(), "{diagnosis:#?}");
    let many = (0..2_000)
        .map(|index| lab_nic("n", index, "10.77.1.1"))
        .collect();
    let (_, diagnosis) = said(
        vec![host("client", many)],
        ladder([117.5, 117.4, 116.9, 116.5]),
    );
    assert!(diagnosis.complete);
}
