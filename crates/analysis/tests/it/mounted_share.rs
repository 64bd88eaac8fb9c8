//! What is said of a share that the system's own client has mounted.

use analysis::{Diagnosis, Mode, Proof, RungName, State, Trust};
use record::{
    CopyProgram, Direction, Outcome, ProbeKind, Record, Rung, SecondMount, ShareMount, Stage,
    Storage, Task, Workload,
};
use stats::Estimate;

use crate::injected_faults::{Well, ids};
use crate::run_builder::{self, GIGABIT, rung};

const GOOD: &str = "rw,vers=3.1.1,uid=1000,username=ann,rsize=4194304,wsize=4194304";

pub(crate) fn first(said: &Diagnosis) -> (&str, State) {
    let first = said.named().expect("a cause");
    (first.id.as_str(), first.state)
}

/// The line that mounts again.
pub(crate) fn line(said: &Diagnosis) -> &str {
    let fix = said.fixes.first().expect("a remedy");
    assert_eq!(fix.id, "mount-again");
    assert_eq!(fix.commands.len(), 3, "{fix:?}");
    &fix.commands[1]
}

#[test]
fn a_mount_that_is_as_fast_as_our_engine_has_no_cause_and_no_remedy() {
    let mut well = Well::new();
    well.mounted(GOOD, [116.9, 116.5]);
    let said = well.said(true);
    assert_eq!(ids(&said.causes), [""; 0]);
    assert_eq!((said.first_loss, said.complete), (None, true));
    assert_eq!(said.headline.id, "headline.full");
    assert!(said.fixes.iter().all(|fix| fix.id != "mount-again"));
    // With two links that both are used as well.
    let mut well = two_links();
    well.mounted(GOOD, [233.0, 233.0]);
    let said = well.said(true);
    assert_eq!(ids(&said.causes), [""; 0]);
    assert_eq!(said.first_loss, None);
    assert!(said.fixes.iter().all(|fix| !fix.id.starts_with("channels")));
}

fn two_links() -> Well {
    let mut well = Well::new();
    well.second_link(GIGABIT);
    for direction in [Direction::Read, Direction::Write] {
        let rates = [233.0, 233.2, 232.8, 233.0];
        well.records.extend(rung(Rung::Channels, direction, &rates));
    }
    well.over_both_links();
    well
}

#[test]
fn one_connection_over_two_links_is_named_with_its_line() {
    let mut well = two_links();
    well.mounted(GOOD, [116.9, 116.5]);
    let said = well.said(true);
    assert_eq!(first(&said), ("mount-one-connection", State::Suspected));
    let (rung, _) = said.first_loss.expect("a loss");
    assert_eq!(rung, RungName::SystemClient);
    assert_eq!(
        line(&said),
        "sudo mount -t cifs //10.77.1.2/media '/mnt/my media' -o \
         credentials=FILE,uid=1000,vers=3.1.1,multichannel,max_channels=2"
    );
    let fstab = &said.fixes[0].commands[2];
    assert!(
        fstab.contains(" //10.77.1.2/media /mnt/my\\040media cifs "),
        "{fstab}"
    );
    // Where the kernel does not tell, its options do.
    well.path.mount.as_mut().unwrap().channels = None;
    assert_eq!(first(&well.said(true)).0, "mount-one-connection");
    well.path.mount.as_mut().unwrap().options += ",multichannel,max_channels=2";
    assert_eq!(well.said(true).headline.id, "headline.client-itself");
}

#[test]
fn what_is_wrong_in_the_options_is_named_and_mended_in_one_line() {
    for (options, rates, cause, mended) in [
        (
            "rw,vers=2.0,rsize=65536,wsize=65536",
            [60.0, 60.0],
            "mount-old-dialect",
            "credentials=FILE,vers=3.1.1",
        ),
        (
            "rw,vers=3.1.1,rsize=65536,wsize=4194304",
            [60.0, 116.5],
            "mount-small-requests",
            "credentials=FILE,vers=3.1.1,rsize=4194304",
        ),
        (
            "ro,sync,hard,multiuser,vers=3.1.1,rsize=4194304,wsize=65536",
            [116.9, 30.0],
            "mount-sync",
            "credentials=FILE,ro,hard,multiuser,vers=3.1.1,wsize=4194304",
        ),
    ] {
        let mut well = Well::new();
        well.mounted(options, rates);
        let said = well.said(true);
        assert_eq!(first(&said), (cause, State::Suspected), "{options}");
        let line = line(&said);
        assert!(line.ends_with(&format!(" -o {mended}")), "{line}");
        // All of it is one remedy.
        let again = said.fixes.iter().filter(|fix| fix.id == "mount-again");
        assert_eq!(again.count(), 1, "{options}");
    }
}

/// What the line that mounts again was measured to gain.
pub(crate) fn measured_gain(said: &Diagnosis) -> &Estimate {
    let fix = said.fixes.first().expect("a remedy");
    assert_eq!(
        (fix.id.as_str(), fix.trust),
        ("mount-again", Trust::Measured)
    );
    fix.predicted.as_ref().expect("it was measured")
}

/// What gains, in each of four blocks of a second mount that changes something.
pub(crate) fn tried(well: &mut Well, kind: ProbeKind, control: f64, gain: f64) {
    tried_at(
        well,
        (Rung::SystemClient, Direction::Read),
        kind,
        control,
        gain,
    );
}

/// The same at another rung, or in another direction.
pub(crate) fn tried_at(
    well: &mut Well,
    (rung, direction): (Rung, Direction),
    kind: ProbeKind,
    control: f64,
    gain: f64,
) {
    let gains = [gain, 1.001 * gain, 0.999 * gain, gain];
    well.probes_of(rung, direction, kind, control, &gains);
}

#[test]
fn a_second_mount_proves_what_it_gains() {
    let mut well = two_links();
    well.mounted(GOOD, [116.9, 116.5]);
    tried(&mut well, ProbeKind::MountConnections, 116.9, 1.98);
    let said = well.said(true);
    let proven = State::Proven(Proof::Relieved);
    assert_eq!(first(&said), ("mount-one-connection", proven));
    assert_eq!(said.headline.id, "headline.loses-proven");
    let gain = measured_gain(&said);
    let [low, high] = gain.interval.expect("several blocks");
    assert!(low <= 1.98 && 1.98 <= high, "{gain:?}");
    // What gains nothing is no cause, once both directions that lose were tried.
    let mut well = two_links();
    well.mounted(GOOD, [116.9, 116.5]);
    tried(&mut well, ProbeKind::MountConnections, 116.9, 1.0);
    assert_eq!(ids(&well.said(true).ruled_out), [""; 0]);
    let [(kind, Direction::Write, _)] = &planned(&well)[..] else {
        panic!("one arm that writes")
    };
    assert_eq!(*kind, ProbeKind::MountConnections);
    let at = (Rung::SystemClient, Direction::Write);
    tried_at(&mut well, at, ProbeKind::MountConnections, 116.5, 1.0);
    let said = well.said(true);
    assert_eq!(ids(&said.causes), [""; 0]);
    assert_eq!(ids(&said.ruled_out), ["mount-one-connection"]);
    assert_eq!(said.headline.id, "headline.client-itself");
    assert!(said.fixes.iter().all(|fix| fix.id != "mount-again"));
}

#[test]
fn of_two_limits_that_are_alike_none_is_ruled_out_by_what_it_gains_alone() {
    let both = "rw,vers=3.1.1,rsize=65536,wsize=65536";
    let mut well = two_links();
    well.mounted(both, [60.0, 60.0]);
    for kind in [ProbeKind::MountConnections, ProbeKind::MountRequests] {
        for direction in [Direction::Read, Direction::Write] {
            let at = (Rung::SystemClient, direction);
            tried_at(&mut well, at, kind, 60.0, 1.0);
        }
    }
    let said = well.said(true);
    assert_eq!(
        ids(&said.ruled_out),
        ["mount-small-requests", "mount-one-connection"]
    );
    tried(&mut well, ProbeKind::MountOptions, 60.0, 3.5);
    let said = well.said(true);
    assert_eq!(ids(&said.ruled_out), [""; 0]);
    assert_eq!(first(&said), ("mount-small-requests", State::Suspected));
    // The line has both, and its gain is that of both.
    let gain = measured_gain(&said);
    assert!((3.4..3.6).contains(&gain.value), "{gain:?}");
}

#[test]
fn a_second_mount_that_fails_leaves_it_to_the_user() {
    let decides = |well: &Well| {
        let said = well.said(true);
        assert_eq!(first(&said), ("mount-one-connection", State::Suspected));
        said.causes[0].decides.as_ref().map(|it| it.id)
    };
    let mut well = two_links();
    well.mounted(GOOD, [116.9, 116.5]);
    assert_eq!(decides(&well), Some("decide.probe"));
    tried(&mut well, ProbeKind::MountConnections, 116.9, 1.98);
    well.trials(|trial| {
        if let Stage::Probe {
            changed: Some(_), ..
        } = trial.stage
        {
            trial.outcome = run_builder::failed("only root may mount");
        }
    });
    assert_eq!(decides(&well), Some("decide.mount-again"));
    // Whose mount that is, is root already.
    well.path.mount.as_mut().unwrap().own = true;
    assert_eq!(decides(&well), Some("decide.mount-so"));
}

/// The next block of trials where the share is mounted.
pub(crate) fn next_trials(well: &Well, mode: Mode) -> Vec<(Stage, Workload)> {
    well.next_trials(mode, Some("/mnt/my media/films"), Vec::new())
}

/// The second mounts of the next block of trials, each with what it changes and in which direction.
pub(crate) fn planned(well: &Well) -> Vec<(ProbeKind, Direction, SecondMount)> {
    let trials = next_trials(well, Mode::Thorough).into_iter();
    let second = trials.filter_map(|(stage, workload)| {
        let Workload::Folder(folder) = workload else {
            return None;
        };
        assert_eq!(folder.folder, "/mnt/my media/films");
        match stage {
            Stage::Probe { changed, .. } => {
                Some((changed?, folder.direction, folder.second_mount?))
            }
            _ => None,
        }
    });
    second.collect()
}

#[test]
fn a_second_mount_changes_one_thing_or_all_and_keeps_the_rest() {
    let options = "rw,vers=3.1.1,uid=1000,addr=10.77.1.2,rsize=65536,wsize=4194304,sync";
    let mut well = two_links();
    well.mounted(options, [60.0, 116.5]);
    // One login shows whether that can be here at all.
    assert_eq!(planned(&well).len(), 1);
    tried(&mut well, ProbeKind::MountDialect, 60.0, 1.0);
    let mut found = planned(&well);
    found.sort_by_key(|(kind, ..)| *kind);
    let found: Vec<_> = found
        .iter()
        .map(|(kind, direction, mount)| (*kind, *direction, mount.options.as_str()))
        .collect();
    // `sync` makes no difference to reads.
    let read = Direction::Read;
    let several = "multichannel,max_channels=2";
    let own = "ip=10.77.1.2,nosharesock";
    assert_eq!(
        found,
        [
            (
                ProbeKind::MountRequests,
                read,
                &*format!("uid=1000,sync,vers=3.1.1,rsize=4194304,{own}")
            ),
            (
                ProbeKind::MountConnections,
                read,
                &*format!("uid=1000,sync,vers=3.1.1,rsize=65536,{several},{own}")
            ),
            (
                ProbeKind::MountOptions,
                read,
                &*format!("uid=1000,vers=3.1.1,rsize=4194304,{several},{own}")
            ),
        ]
    );
    // With one thing that is wrong there is one to try.
    let mut well = two_links();
    well.mounted(GOOD, [116.9, 116.5]);
    let kinds: Vec<_> = planned(&well).into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!(kinds, [ProbeKind::MountConnections]);
}

#[test]
fn a_newer_dialect_is_tried_with_the_connections_that_it_allows() {
    let mut well = two_links();
    well.mounted("rw,vers=2.0,rsize=65536,wsize=65536", [116.9, 116.5]);
    let [(kind, _, mount)] = &planned(&well)[..] else {
        panic!("one arm")
    };
    assert_eq!(*kind, ProbeKind::MountDialect);
    let several = "vers=3.1.1,multichannel,max_channels=2";
    assert_eq!(mount.options, format!("{several},nosharesock"));
    let said = well.said(true);
    assert_eq!(first(&said), ("mount-old-dialect", State::Suspected));
    assert!(line(&said).ends_with(&format!(" -o credentials=FILE,{several}")));
}

#[test]
fn what_the_other_direction_of_a_mount_loses_is_asked_of_next() {
    let mut well = Well::new();
    let options = "rw,sync,vers=3.1.1,rsize=65536,wsize=4194304";
    well.mounted(options, [40.0, 60.0]);
    tried(&mut well, ProbeKind::MountRequests, 40.0, 2.9);
    let proven = State::Proven(Proof::Relieved);
    assert_eq!(first(&well.said(true)), ("mount-small-requests", proven));
    let asked = |well: &Well| {
        let planned = planned(well).into_iter();
        let mut asked: Vec<_> = planned
            .map(|(kind, direction, _)| (kind, direction))
            .collect();
        asked.sort();
        asked
    };
    // All of the line is tried where reads lose, then what writes alone feel.
    let of_all = ProbeKind::MountOptions;
    assert_eq!(asked(&well), [(of_all, Direction::Read)]);
    tried(&mut well, of_all, 40.0, 2.9);
    let write = Direction::Write;
    assert_eq!(
        asked(&well),
        [(ProbeKind::MountSync, write), (of_all, write)]
    );
}

#[test]
fn what_programs_and_copies_get_is_measured_last_and_judges_nothing() {
    let mut well = two_links();
    well.mounted(GOOD, [233.0, 233.0]);
    let uses = [Rung::SystemProgram, Rung::SystemCopy];
    let directions = [Direction::Read, Direction::Write];
    for _ in 0..2 {
        assert_eq!(next_trials(&well, Mode::Quick), []);
        let mut found: Vec<_> = (next_trials(&well, Mode::Normal).into_iter())
            .map(|(stage, workload)| {
                let Workload::Task(work) = workload else {
                    panic!("{workload:?}")
                };
                let Stage::Ladder { rung, .. } = stage else {
                    panic!("{stage:?}")
                };
                // What the mount moves in the counted time, in whole MiB.
                let seconds = work.timing.measured.get() as f64 / 1e9;
                let size = work.task.space_needed().get();
                assert_eq!(size % (1 << 20), 0);
                assert!(
                    (size as f64 / (233e6 * seconds) - 1.0).abs() < 0.01,
                    "{size}"
                );
                let is_copy = match &work.task {
                    Task::Copy(copy) => copy.by == CopyProgram::Cp && copy.files == 1,
                    task => !matches!(task, Task::Stream(_)),
                };
                assert_eq!(is_copy, rung == Rung::SystemCopy);
                (rung, work.direction)
            })
            .collect();
        found.sort_unstable();
        assert_eq!(
            found,
            uses.map(|rung| directions.map(|direction| (rung, direction)))
                .concat()
        );
        let round = well.records.iter().filter_map(|record| match record {
            Record::Trial(trial) => match trial.stage {
                Stage::Ladder { repetition, .. } => Some(repetition + 1),
                _ => None,
            },
            _ => None,
        });
        let round = round.max().unwrap_or(0) as usize;
        for (rung, direction) in found {
            let rates = vec![70.0; round + 1];
            let record = run_builder::rung(rung, direction, &rates).pop();
            well.records.extend(record);
        }
    }
    assert_eq!(next_trials(&well, Mode::Normal), []);
    let run = well.analyzed(true);
    for rung in [RungName::SystemProgram, RungName::SystemCopy] {
        let mut of_it = run.ladder.iter().filter(|it| it.rung == rung);
        let both = [of_it.next(), of_it.next()].map(|it| it.expect("both directions"));
        for it in both {
            let share = it.of_above.as_ref().expect("both were measured").value;
            assert!((share - 70.0 / 233.0).abs() < 0.01, "{share}");
            assert_eq!(it.loss, None);
        }
    }
    assert_eq!(well.said(true).first_loss, None);
    assert_eq!(well.said(true).headline.id, "headline.full");
}

#[test]
fn what_loses_above_the_mount_is_not_put_down_to_it() {
    let mut well = Well::new();
    well.mounted("rw,vers=2.0,rsize=65536,wsize=65536", [60.0, 60.0]);
    for direction in [Direction::Read, Direction::Write] {
        well.replace_rates(Rung::Share, direction, &[60.0, 60.1, 59.9, 60.0]);
    }
    let said = well.said(true);
    let (rung, _) = said.first_loss.expect("a loss");
    assert_eq!(rung, RungName::Share);
    assert!(
        said.named()
            .is_none_or(|cause| !cause.id.starts_with("mount"))
    );
    // Options that cost nothing that was measured are no cause.
    let mut well = Well::new();
    well.mounted(
        "rw,sync,vers=3.1.1,rsize=4194304,wsize=4194304",
        [60.0, 116.5],
    );
    assert_eq!(ids(&well.said(true).causes), [""; 0]);
    assert_eq!(well.said(true).headline.id, "headline.client-itself");
}

#[test]
fn a_mount_that_was_not_measured_is_no_rung() {
    let mut well = Well::new();
    well.path.mount = Some(ShareMount {
        options: "vers=2.0,sync".into(),
        ..ShareMount::default()
    });
    let said = well.said(true);
    assert_eq!(ids(&said.causes), [""; 0]);
    assert_eq!(said.headline.id, "headline.full");
}

#[test]
fn what_came_from_the_cache_of_this_machine_is_no_measurement() {
    let mut well = Well::new();
    well.mounted(GOOD, [2000.0, 2000.0]);
    well.trials(|trial| {
        if let (Workload::Folder(_), Outcome::Measured(result)) =
            (&trial.workload, &mut trial.outcome)
        {
            result.storage = Some(Storage {
                file_system: "cifs".into(),
                network: true,
                direct: false,
                folder: None,
            });
        }
    });
    let run = well.analyzed(true);
    let rungs = run.ladder.iter();
    let rungs: Vec<_> = rungs
        .filter(|rung| rung.rung == RungName::SystemClient)
        .collect();
    assert_eq!(rungs.len(), 2);
    for rung in rungs {
        assert_eq!((&rung.rate, rung.loss), (&None, None));
        let why = rung.not_measured.as_ref().expect("a reason");
        assert_eq!(why.id, "unmeasured.cached");
    }
}
