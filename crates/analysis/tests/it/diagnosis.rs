use analysis::{Diagnosis, Fix, RunAnalysis, RungName, Trust, analyze};
use record::{
    BitsPerSecond, Direction, HostFacts, HostName, Job, KnobId, LinkState, Outcome, Record, Rung,
    Setting, Storage, Target, Value, Workload,
};

use crate::build::{failed_rung, host, lab, lab_nic, ladder, real_nic, run, rung};

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

fn predicted(fix: &Fix) -> &analysis::Estimate {
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
    assert!(
        server
            .headline
            .starts_with("the server gives a file that is not in its memory at 50.0 MB/s, 43 %"),
        "{}",
        server.headline
    );

    let (_, local) = said(lab(), with_disks(116.0, 50.0, Some("/data")));
    assert_eq!(causes(&local), ["local-disk"]);
    assert!(
        local
            .headline
            .starts_with("a copy to `/data` (ext4) runs at 50.0 MB/s")
    );
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
        diagnosis.headline,
        "the link is full: the share reads 116.9 MB/s and writes 116.5 MB/s, 99.0 % of what 1 Gbit/s at MTU 1500 carries; only more or faster links or larger frames would help; one more link is not used"
    );
    assert_eq!((diagnosis.first_loss, diagnosis.complete), (None, true));
    assert_eq!(remarks(&diagnosis), ["link-saturated", "one-link-of-two"]);
    assert_eq!(causes(&diagnosis), Vec::<&str>::new());
    let mut trusts = diagnosis.remarks.iter().map(|remark| remark.trust);
    assert!(trusts.all(|trust| trust == Trust::Measured));

    let (direction, ceiling) = &analysis.ceilings[0];
    assert_eq!(*direction, Direction::Read);
    assert_eq!(
        ceiling.because,
        "`a0` to `b0`: a line of 1 Gbit/s at MTU 1500 carries 1448 bytes of payload in 1538"
    );
    assert!((ceiling.rate.value - 125e6 * 1448.0 / 1538.0).abs() < 1.0);
    assert_eq!(ceiling.rate.caveats, Vec::<String>::new());

    let share = &analysis.ladder[2];
    assert_eq!(
        (share.rung, share.direction),
        (RungName::Share, Direction::Read)
    );
    let of_tcp = share.of_above.as_ref().expect("TCP was measured");
    assert!((of_tcp.value - 116.9 / 117.5).abs() < 1e-6);
    // Three trials each: their medians' intervals have 75 %, both together at least 50 %.
    assert_eq!(of_tcp.confidence, Some(0.5));
    let rate = share.rate.as_ref().expect("the share was measured");
    assert_eq!((rate.n, rate.confidence), (3, Some(0.75)));
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
        jumbo.text,
        "set MTU 9000 on `a0`, `a1` on `lab://demo/client` and `b0`, `b1` on `lab://demo/server`"
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
    assert_eq!(
        slow_network.headline,
        "the network is slower than its NICs: raw TCP writes 70.0 MB/s, 59 % of the 117.7 MB/s that fit through; look at the path before the share"
    );
    assert!(causes(&slow_network).contains(&"tcp-slower-than-ceiling"));

    let (_, slow_share) = said(lab(), ladder([117.5, 117.5, 80.0, 60.0]));
    assert_eq!(
        slow_share.first_loss,
        Some((RungName::Share, Direction::Write))
    );
    assert_eq!(
        slow_share.headline,
        "the share is slower than its network: it writes 60.0 MB/s, 51 % of the 117.5 MB/s that raw TCP moves over the same path"
    );
    assert_eq!(
        causes(&slow_share),
        ["share-slower-than-tcp", "share-slower-than-tcp"]
    );
    assert_eq!(remarks(&slow_share), ["one-link-of-two"]);
    let caveats = &predicted(fix(&slow_share, "channels-2")).caveats;
    assert_eq!(
        *caveats,
        ["the share does not fill the link today, so it may gain less"]
    );
}

#[test]
fn more_than_fits_through_is_a_contradiction_and_not_a_success() {
    let (_, diagnosis) = said(lab(), ladder([117.5, 117.5, 300.0, 117.0]));
    assert!(
        diagnosis
            .headline
            .starts_with("the share reads 300.0 MB/s, more than the 117.7 MB/s that fit"),
        "{}",
        diagnosis.headline
    );
    assert_eq!(causes(&diagnosis)[0], "measured-above-ceiling");
    assert_eq!((diagnosis.first_loss, diagnosis.complete), (None, false));
}

#[test]
fn a_link_is_full_only_when_nothing_worth_having_is_left() {
    // The ceiling is 117.7 MB/s, and 95 % of it 111.8.
    let (_, full) = said(lab(), ladder([117.5, 117.5, 112.0, 112.0]));
    assert!(full.headline.starts_with("the link is full"), "{full:?}");
    assert!(remarks(&full).contains(&"link-saturated"));
    assert_eq!((full.first_loss, full.complete), (None, true));

    let (_, all) = said(lab(), ladder([117.6, 117.6, 117.66, 117.66]));
    assert!(
        all.headline
            .contains("117.7 MB/s, all of what 1 Gbit/s at MTU 1500 carries;"),
        "{all:?}"
    );

    let (_, nearly) = said(lab(), ladder([117.5, 117.5, 111.5, 111.5]));
    assert_eq!(
        nearly.headline,
        "nothing loses more than a tenth, but a little is lost on the way: the share reads 111.5 MB/s and writes 111.5 MB/s, 94.7 % of what 1 Gbit/s at MTU 1500 carries; one more link is not used"
    );
    assert!(!remarks(&nearly).contains(&"link-saturated"));

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
    assert_eq!(
        alone.headline,
        "the link is full: the share reads 122.0 MB/s and writes 122.0 MB/s, 98.6 % of what 1 Gbit/s at MTU 9000 carries; only more or faster links would help"
    );
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
    assert_eq!(
        fix(&diagnosis, "channels-2").blocked.as_deref(),
        Some(
            "2 channels were asked for already, and 1 made use of: 10.77.2.1 to 10.77.2.2: connection refused"
        )
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
    let blocked = jumbo.blocked.as_deref().expect("it is blocked");
    assert!(blocked.contains("`--server HOST`"), "{blocked}");
    assert_eq!(
        analysis.ceilings[0].1.rate.caveats,
        ["the far end's NIC is not known; its MTU is taken to be ours"]
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
    assert!(blocked.is_some_and(|why| why.contains("multichannel is off")));
    // MTU 9000 is then for the link in use only.
    assert_eq!(fix(&diagnosis, "mtu-9000").level.settings.len(), 2);

    let old = with_session(records, |session| session.dialect = "2.1".into());
    let (_, diagnosis) = said(vec![client], old);
    let blocked = fix(&diagnosis, "channels-2").blocked.clone();
    assert!(blocked.is_some_and(|why| why.contains("SMB 2.1")));
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
    assert_eq!(
        jumbo.blocked.as_deref(),
        Some("`b0` takes an MTU of 1500 at most")
    );
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
        (tcp.rung, tcp.rate.is_none(), tcp.not_measured.as_deref()),
        (RungName::Tcp, true, Some("no iperf3 answers on port 5201"))
    );
    let share = &analysis.ladder[2];
    assert_eq!(share.of_above, share.of_ceiling);
    let write = &analysis.ladder[5];
    assert_eq!(
        write.not_measured.as_deref(),
        Some("no write trial was run")
    );
    assert_eq!(
        diagnosis.headline,
        "the share reads 80.0 MB/s, 68 % of the 117.7 MB/s that fits through the link; whether it or its network \
         loses the rest, raw TCP would tell: let `iperf3 -s` run on the server"
    );
    let one = share.rate.as_ref().expect("one trial");
    assert_eq!((one.n, one.interval), (1, None));
    assert_eq!(
        one.caveats,
        ["1 of trials: too few for any interval; 6 are needed"]
    );
}

#[test]
fn without_facts_the_rates_still_stand() {
    let (analysis, diagnosis) = said(Vec::new(), ladder([117.5, 117.4, 116.9, 116.5]));
    assert!(analysis.ceilings.is_empty() && diagnosis.fixes.is_empty());
    assert_eq!(
        analysis.ladder[0].not_measured.as_deref(),
        Some("our end `10.77.1.1` is on no NIC that is known")
    );
    assert_eq!(
        diagnosis.headline,
        "the share reads 116.9 MB/s and writes 116.5 MB/s; what the link could carry is not known"
    );
    assert_eq!(causes(&diagnosis), Vec::<&str>::new());
}

#[test]
fn a_share_that_never_answered_is_the_headline() {
    let record = failed_rung(Rung::Share, Direction::Read, "the password is wrong");
    let (_, diagnosis) = said(lab(), vec![record]);
    assert_eq!(
        diagnosis.headline,
        "the share could not be measured: the password is wrong"
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
