//! What is said of a mount that costs programs more than what the system's own client can.

use analysis::{Mode, Proof, State, Trust};
use record::{Direction, ProbeKind, Rung, Setting, ShareMount, Stage, Task, Value, Workload};

use crate::injected_faults::{Well, ids};
use crate::mounted_share::{first, line, measured_gain, next_trials, planned, tried, tried_at};
use crate::run_builder;

/// A mount that is well but for its cache, and what two rounds say of programs that read.
fn without_cache(read: [f64; 2]) -> Well {
    let mut well = Well::new();
    let options = "rw,vers=3.1.1,cache=none,uid=1000,rsize=4194304,wsize=4194304";
    well.mounted(options, [116.9, 116.5]);
    used_by_programs(&mut well, [read, [110.0, 110.2]]);
    well
}

/// What two rounds say of programs that read and write.
fn used_by_programs(well: &mut Well, rates: [[f64; 2]; 2]) {
    for (direction, rates) in [Direction::Read, Direction::Write].into_iter().zip(rates) {
        for rung in [Rung::SystemProgram, Rung::SystemCopy] {
            well.records
                .extend(run_builder::rung(rung, direction, &rates));
        }
    }
}

/// The second mounts that the next block tries for programs, each with what it changes, in one direction.
fn tried_for_programs(well: &Well, direction: Direction) -> Vec<(ProbeKind, String)> {
    let trials = next_trials(well, Mode::Normal);
    let count = trials.len();
    let mut second: Vec<_> = trials
        .into_iter()
        .filter_map(|(stage, workload)| {
            let (Workload::Task(work), Stage::Probe { rung, changed, .. }) = (workload, stage)
            else {
                panic!("a trial of programs")
            };
            assert_eq!((rung, work.direction), (Rung::SystemProgram, direction));
            assert!(matches!(work.task, Task::Stream(_)), "{work:?}");
            assert_eq!(work.second_mount.is_some(), changed.is_some());
            Some((changed?, work.second_mount?.options))
        })
        .collect();
    assert_eq!(count, second.len() + 1, "one is the control");
    second.sort();
    second
}

#[test]
fn what_costs_programs_only_is_proven_by_what_they_get() {
    for (options, rates, change, cause, tried) in [
        (
            "rw,sync,vers=3.1.1,rsize=4194304,wsize=4194304",
            [[115.0, 115.1], [60.0, 60.1]],
            (ProbeKind::MountSync, Direction::Write),
            "mount-sync",
            "vers=3.1.1,nosharesock",
        ),
        (
            "rw,vers=3.1.1,rsize=65536,wsize=4194304",
            [[30.0, 30.1], [110.0, 110.2]],
            (ProbeKind::MountRequests, Direction::Read),
            "mount-small-requests",
            "vers=3.1.1,rsize=4194304,nosharesock",
        ),
    ] {
        let well = || {
            let mut well = Well::new();
            well.mounted(options, [116.9, 116.5]);
            used_by_programs(&mut well, rates);
            well
        };
        let (kind, direction) = change;
        let said = well().said(true);
        assert_eq!(first(&said), (cause, State::Suspected));
        assert_eq!(
            (said.first_loss, said.headline.id),
            (None, "headline.suspected")
        );
        assert_eq!(
            tried_for_programs(&well(), direction),
            [(kind, tried.to_owned())]
        );
        let with = |gain| {
            let mut well = well();
            let at = (Rung::SystemProgram, direction);
            tried_at(&mut well, at, kind, 50.0, gain);
            well
        };
        let said = with(1.8).said(true);
        assert_eq!(first(&said), (cause, State::Proven(Proof::Relieved)));
        let gain = measured_gain(&said);
        assert!((1.7..1.9).contains(&gain.value), "{gain:?}");
        // What gains programs nothing is no cause: they do feel it.
        let well = with(1.0);
        let said = well.said(true);
        assert_eq!(
            (ids(&said.causes), ids(&said.ruled_out)),
            (vec![], vec![cause])
        );
        assert!(said.fixes.iter().all(|fix| fix.id != "mount-again"));
        assert_eq!(next_trials(&well, Mode::Normal), []);
    }
}

#[test]
fn what_costs_the_client_nothing_is_then_asked_of_programs() {
    let mut well = Well::new();
    well.mounted("rw,vers=3.1.1,rsize=65536,wsize=4194304", [60.0, 116.5]);
    tried(&mut well, ProbeKind::MountRequests, 60.0, 1.0);
    let said = well.said(true);
    assert_eq!(ids(&said.ruled_out), ["mount-small-requests"]);
    used_by_programs(&mut well, [[20.0, 20.1], [110.0, 110.2]]);
    let said = well.said(true);
    assert_eq!(ids(&said.causes), ["mount-small-requests"]);
    // That is no explanation of what the client loses.
    assert_eq!(said.headline.id, "headline.client-itself");
    let kinds = tried_for_programs(&well, Direction::Read);
    let kinds: Vec<_> = kinds.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [ProbeKind::MountRequests]);
}

#[test]
fn of_two_limits_of_programs_that_are_alike_none_is_ruled_out_alone() {
    let mut well = Well::new();
    let options = "rw,sync,cache=none,vers=3.1.1,rsize=4194304,wsize=4194304";
    well.mounted(options, [116.9, 116.5]);
    used_by_programs(&mut well, [[112.0, 112.1], [50.0, 50.1]]);
    // One login shows whether that can be here at all.
    let write = Direction::Write;
    assert_eq!(tried_for_programs(&well, write).len(), 1);
    let at = (Rung::SystemProgram, write);
    tried_at(&mut well, at, ProbeKind::MountSync, 50.0, 1.0);
    assert_eq!(
        tried_for_programs(&well, write),
        [
            (ProbeKind::MountOptions, "vers=3.1.1,nosharesock".to_owned()),
            (
                ProbeKind::MountCache,
                "sync,vers=3.1.1,nosharesock".to_owned()
            ),
        ]
    );
    tried_at(&mut well, at, ProbeKind::MountCache, 50.0, 1.0);
    assert_eq!(
        ids(&well.said(true).ruled_out),
        ["mount-sync", "mount-cache-off"]
    );
    tried_at(&mut well, at, ProbeKind::MountOptions, 50.0, 2.2);
    let said = well.said(true);
    assert_eq!(ids(&said.ruled_out), [""; 0]);
    assert_eq!(first(&said), ("mount-sync", State::Suspected));
    let gain = measured_gain(&said);
    assert!((2.1..2.3).contains(&gain.value), "{gain:?}");
    assert!(line(&said).ends_with(" -o credentials=FILE,vers=3.1.1"));
}

#[test]
fn a_cache_that_is_off_costs_programs_and_a_second_mount_proves_it() {
    let mut well = without_cache([40.0, 40.2]);
    let said = well.said(true);
    assert_eq!(first(&said), ("mount-cache-off", State::Suspected));
    assert_eq!(
        (said.first_loss, said.headline.id),
        (None, "headline.suspected")
    );
    assert_eq!(
        line(&said),
        "sudo mount -t cifs //10.77.1.2/media '/mnt/my media' -o credentials=FILE,uid=1000,vers=3.1.1"
    );
    // What a program gets, with and without it, in the direction that loses.
    assert_eq!(next_trials(&well, Mode::Quick), []);
    let second = "uid=1000,vers=3.1.1,nosharesock".to_owned();
    assert_eq!(
        tried_for_programs(&well, Direction::Read),
        [(ProbeKind::MountCache, second)]
    );
    let at = (Rung::SystemProgram, Direction::Read);
    tried_at(&mut well, at, ProbeKind::MountCache, 40.0, 2.5);
    let said = well.said(true);
    assert_eq!(
        first(&said),
        ("mount-cache-off", State::Proven(Proof::Relieved))
    );
    assert_eq!(
        (said.first_loss, said.headline.id),
        (None, "headline.found")
    );
    let gain = measured_gain(&said);
    assert!((2.4..2.6).contains(&gain.value), "{gain:?}");
    assert_eq!(next_trials(&well, Mode::Normal), []);
    // What gains nothing is no cause.
    let mut well = without_cache([40.0, 40.2]);
    tried_at(&mut well, at, ProbeKind::MountCache, 40.0, 1.0);
    let said = well.said(true);
    assert_eq!(
        (ids(&said.causes), ids(&said.ruled_out)),
        (vec![], vec!["mount-cache-off"])
    );
    assert!(said.fixes.iter().all(|fix| fix.id != "mount-again"));
}

#[test]
fn a_cache_that_is_off_is_ruled_out_by_all_directions_that_lose() {
    let mut well = without_cache([60.0, 60.2]);
    // What is written is waited for, with a cache too.
    let rung = Rung::SystemProgram;
    well.replace_rates(rung, Direction::Write, &[50.0, 50.2]);
    let mut tried = |direction, gain: f64| {
        tried_at(
            &mut well,
            (rung, direction),
            ProbeKind::MountCache,
            50.0,
            gain,
        );
        (well.said(true), next_trials(&well, Mode::Normal))
    };
    let (said, next) = tried(Direction::Write, 1.0);
    assert_eq!(first(&said), ("mount-cache-off", State::Suspected));
    let directions: Vec<_> = next.iter().map(|(_, it)| it.direction()).collect();
    assert_eq!(directions, [Direction::Read; 2]);
    let (said, next) = tried(Direction::Read, 1.0);
    assert_eq!(ids(&said.ruled_out), ["mount-cache-off"]);
    assert_eq!(next, []);
}

#[test]
fn a_cache_that_is_off_is_no_cause_of_what_programs_or_the_mount_do_not_lose() {
    // Programs get what the mount can.
    let well = without_cache([112.0, 112.2]);
    assert_eq!(ids(&well.said(true).causes), [""; 0]);
    assert_eq!(next_trials(&well, Mode::Normal), []);
    // What the mount can is measured past its cache.
    let mut well = without_cache([40.0, 40.2]);
    well.path.mount.as_mut().unwrap().options += ",sync";
    well.replace_rates(
        Rung::SystemClient,
        Direction::Write,
        &[60.0, 60.1, 59.9, 60.0],
    );
    let said = well.said(true);
    assert_eq!(first(&said), ("mount-sync", State::Suspected));
    assert_eq!(ids(&said.causes), ["mount-sync", "mount-cache-off"]);
    let planned: Vec<_> = planned(&well).into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!(planned, [ProbeKind::MountSync]);
    assert!(
        line(&said).ends_with(" -o credentials=FILE,uid=1000,vers=3.1.1"),
        "{}",
        line(&said)
    );
}

/// What a short check does not know of it, `tune` tries.
#[test]
fn a_cache_that_is_off_has_a_remedy_that_is_still_to_be_proven() {
    let mount = |options: &str| ShareMount {
        folder: "/mnt/media".into(),
        source: "//nas/media".into(),
        options: options.into(),
        ..ShareMount::default()
    };
    let shown = "rw,vers=3.1.1,sec=ntlmssp,uid=1000,rsize=4194304,wsize=4194304";
    assert_eq!(analysis::mount_with_cache(&mount(shown)), None);
    let fix = analysis::mount_with_cache(&mount(&format!("{shown},cache=none")));
    let fix = fix.expect("a remedy");
    assert_eq!(
        (fix.id.as_str(), fix.trust),
        ("mount-again", Trust::Computed)
    );
    assert_eq!((&fix.predicted, &fix.blocked), (&None, &None));
    let [
        Setting::Workload {
            value: Value::Text(options),
            ..
        },
    ] = &fix.level.settings[..]
    else {
        panic!("{fix:?}")
    };
    assert_eq!(options, "sec=ntlmssp,uid=1000,vers=3.1.1,nosharesock");
    assert!(fix.commands[1].ends_with(" -o credentials=FILE,sec=ntlmssp,uid=1000,vers=3.1.1"));
}
