//! Changes, the journal and undo on model hosts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use host::change::{Change, Report, UndoMode, UndoOutcome, Undone, read_back};
use host::exec::{Command, Local, run_one};
use host::journal::{Journal, list_open};
use host::{Error, Host};
use record::{HostName, KnobId, Setting, Target, Value};
use tempfile::TempDir;

use crate::simulated_linux_host::{Machine, Model};

const TSO: &str = "nic.tso";
const GSO: &str = "nic.gso";
const GRO: &str = "nic.gro";
const MTU: &str = "nic.mtu";
const CONGESTION: &str = "tcp.congestion_control";

fn on(model: &Model, nic: &str, id: &str, value: Value) -> Setting {
    let target = if nic.is_empty() {
        Target::Host
    } else {
        Target::Nic(nic.into())
    };
    Setting::Knob {
        host: model.name.clone(),
        target,
        id: KnobId::new(id),
        value,
    }
}

fn text(word: &str) -> Value {
    Value::Text(word.into())
}

fn journal(folder: &TempDir) -> Journal {
    Journal::open(folder.path(), "test").unwrap()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn undo(folder: &TempDir, mode: UndoMode, models: &[Model]) -> Vec<Undone> {
    let resolve = |name: &HostName| resolve(models, name);
    journal(folder).undo(None, mode, &resolve).unwrap()
}

fn resolve(models: &[Model], name: &HostName) -> Result<Host, Error> {
    let model = models.iter().find(|model| model.name == *name);
    let gone = || Error::HostGone {
        name: name.clone(),
        reason: "the lab is down".into(),
    };
    model.map(Model::host).ok_or_else(gone)
}

fn machines(models: &[Model]) -> Vec<Machine> {
    models.iter().map(Model::now).collect()
}

fn begin(folder: &TempDir, models: &[Model], settings: &[Setting]) -> host::change::OpenChange {
    let hosts: Vec<Host> = models.iter().map(Model::host).collect();
    journal(folder)
        .begin(Change::plan(&hosts, settings, "run-1").unwrap())
        .unwrap()
}

/// What became of each setting, with reasons as texts.
fn outcomes(undone: &[Undone]) -> Vec<(String, UndoOutcome)> {
    let plain = |outcome: &UndoOutcome| match outcome {
        UndoOutcome::Gone { reason } => gone(&crate::english(reason)),
        other => other.clone(),
    };
    let reports = undone.iter().flat_map(|undone| &undone.reports);
    reports
        .map(|report| (report.knob.to_string(), plain(&report.outcome)))
        .collect()
}

fn gone(reason: &str) -> UndoOutcome {
    UndoOutcome::Gone {
        reason: reason.into(),
    }
}

#[test]
fn a_plan_touches_nothing_and_tells_the_very_commands() {
    let model = Model::new("one");
    let before = model.now();
    let settings = [
        on(&model, "a0", MTU, Value::Integer(9000)),
        on(&model, "a1", TSO, Value::Switch(false)),
        Setting::Workload {
            field: "channels".into(),
            value: Value::Integer(2),
        },
        on(&model, "", CONGESTION, text("cubic")),
    ];
    let change = Change::plan(&[model.host()], &settings, "run").unwrap();
    assert_eq!(model.now(), before);
    let dry: Vec<String> = change
        .commands()
        .iter()
        .map(|(_, command)| command.argv.join(" "))
        .collect();
    assert_eq!(
        dry,
        ["ip link set dev a0 mtu 9000", "ethtool -K a1 tso off"]
    );
    assert!(!change.is_empty());
    let folder = folder();
    let mut open = journal(&folder).begin(change).unwrap();
    assert!(model.writes.lock().unwrap().is_empty());
    open.apply().unwrap();
    assert_eq!(*model.writes.lock().unwrap(), dry);
}

#[test]
fn what_is_refused_touches_nothing() {
    let model = Model::new("one");
    let other = Model::new("other");
    let fine = on(&model, "a0", MTU, Value::Integer(9000));
    let cases = [
        (
            on(&model, "a0", MTU, Value::Integer(9001)),
            "cannot set `nic.mtu` of `a0` on `one` to `9001`: it takes 9000 at most, because the driver takes no more",
        ),
        (
            on(&model, "a9", MTU, Value::Integer(9000)),
            "cannot set `nic.mtu` of `a9` on `one` to `9000`: there is no interface `a9`",
        ),
        (
            on(&model, "", MTU, Value::Integer(9000)),
            "cannot set `nic.mtu` on `one` to `9000`: it belongs to an interface, not to the host",
        ),
        (
            on(&model, "a0", "nic.colour", text("red")),
            "there is no knob `nic.colour` for Linux",
        ),
        (
            on(&other, "a0", MTU, Value::Integer(9000)),
            "there is no host `other` here",
        ),
        (fine.clone(), "`nic.mtu` of `a0` is set twice"),
    ];
    for (setting, message) in cases {
        let settings = [
            on(&model, "a1", TSO, Value::Switch(false)),
            fine.clone(),
            setting,
        ];
        let settings = if settings[2] == fine {
            &settings[..]
        } else {
            &[settings[0].clone(), settings[2].clone()][..]
        };
        let error = Change::plan(&[model.host()], settings, "run").unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    assert!(model.writes.lock().unwrap().is_empty());
}

#[test]
fn what_another_driver_may_take_is_no_slip() {
    let model = Model::new("one");
    let is_slip = |setting: Setting| {
        let refused = Change::plan(&[model.host()], &[setting], "run").unwrap_err();
        let Error::Refused { is_mistaken, .. } = refused else {
            panic!("{refused}");
        };
        is_mistaken
    };
    assert!(!is_slip(on(&model, "a0", MTU, Value::Integer(9001))));
    assert!(is_slip(on(&model, "a0", MTU, text("large"))));
    assert!(is_slip(on(&model, "", MTU, Value::Integer(9000))));
}

#[test]
fn a_change_flips_many_times_within_one_entry_and_ends() {
    let (model, folder) = (Model::new("one"), folder());
    let before = model.now();
    let settings = [
        on(&model, "a0", MTU, Value::Integer(9000)),
        on(&model, "a0", TSO, Value::Switch(false)),
    ];
    let mut open = begin(&folder, std::slice::from_ref(&model), &settings);
    for _ in 0..3 {
        open.apply().unwrap();
        assert_eq!(read_back(&[model.host()], &settings).unwrap(), settings);
        let writes = model.writes.lock().unwrap().len();
        open.apply().unwrap();
        assert_eq!(
            model.writes.lock().unwrap().len(),
            writes,
            "what is made is left alone"
        );
        assert_eq!(list_open(folder.path()).unwrap().open.len(), 1);
        open.revert().unwrap();
        assert_eq!(model.now(), before);
    }
    open.apply().unwrap();
    open.close().unwrap();
    assert_eq!(model.now(), before);
    assert!(list_open(folder.path()).unwrap().open.is_empty());
}

#[test]
fn a_change_that_is_dropped_is_taken_back() {
    let (model, folder) = (Model::new("one"), folder());
    let before = model.now();
    let settings = [on(&model, "a0", GSO, Value::Switch(false))];
    let mut open = begin(&folder, std::slice::from_ref(&model), &settings);
    open.apply().unwrap();
    assert_ne!(model.now(), before);
    drop(open);
    assert_eq!(model.now(), before);
    assert!(list_open(folder.path()).unwrap().open.is_empty());
}

#[test]
fn kept_changes_are_listed_and_undone_newest_first() {
    let (model, folder) = (Model::new("one"), folder());
    let before = model.now();
    let models = [model.clone()];
    for mtu in [4000, 9000] {
        let mut open = begin(
            &folder,
            &models,
            &[on(&model, "a0", MTU, Value::Integer(mtu))],
        );
        open.apply().unwrap();
        open.keep().unwrap();
    }
    let listing = list_open(folder.path()).unwrap();
    let [first, second] = listing.open.as_slice() else {
        panic!("{listing:?}")
    };
    assert!(first.kept && second.kept);
    assert_eq!(
        (&first.settings[0].before, &second.settings[0].before),
        (&Value::Integer(1500), &Value::Integer(4000))
    );
    assert_eq!(first.run, "run-1");

    let rehearsed = undo(&folder, UndoMode::DryRun, &models);
    assert!(rehearsed.iter().all(|undone| !undone.closed));
    let UndoOutcome::WouldRestore { commands } = &rehearsed[0].reports[0].outcome else {
        panic!()
    };
    assert_eq!(commands[0].argv.join(" "), "ip link set dev a0 mtu 4000");
    assert_eq!(model.now().nics["a0"].mtu, 9000);

    let undone = undo(&folder, UndoMode::Ours, &models);
    let ids: Vec<&str> = undone.iter().map(|undone| undone.change.as_str()).collect();
    assert_eq!(ids, [second.id.as_str(), first.id.as_str()]);
    assert!(undone.iter().all(|undone| undone.closed));
    let now: Vec<_> = undone
        .iter()
        .map(|undone| undone.reports[0].now.clone().unwrap())
        .collect();
    assert_eq!(now, [Value::Integer(4000), Value::Integer(1500)]);
    assert_eq!(model.now(), before);
    assert!(undo(&folder, UndoMode::Ours, &models).is_empty());
    let error = journal(&folder)
        .undo(Some("77"), UndoMode::Ours, &|_| panic!())
        .unwrap_err();
    assert_eq!(error.to_string(), "there is no open change `77`");
}

/// Hosts and changes of every kind of coupling.
fn plans() -> Vec<(Vec<Model>, Vec<Setting>)> {
    let mut plans = Vec::new();
    for (forgets, follows) in [(false, false), (true, false), (false, true), (true, true)] {
        let model = || {
            let model = Model::new("one");
            model.with(|machine| {
                for nic in machine.nics.values_mut() {
                    nic.forgets = forgets;
                    nic.tso_follows_gso = follows;
                }
            });
            model
        };
        let off = Value::Switch(false);
        let one = model();
        plans.push((vec![one.clone()], vec![on(&one, "a0", GSO, off.clone())]));
        let one = model();
        plans.push((
            vec![one.clone()],
            vec![
                on(&one, "a0", GSO, off.clone()),
                on(&one, "a0", TSO, off.clone()),
            ],
        ));
        let one = model();
        plans.push((
            vec![one.clone()],
            vec![
                on(&one, "a0", TSO, off),
                on(&one, "a0", GRO, Value::Switch(true)),
            ],
        ));
    }
    let (client, server) = (Model::new("client"), Model::new("server"));
    let mut settings = Vec::new();
    for model in [&client, &server] {
        for nic in ["a0", "a1"] {
            settings.push(on(model, nic, MTU, Value::Integer(9000)));
        }
    }
    settings.push(on(&client, "", CONGESTION, text("reno")));
    settings.push(on(
        &client,
        "",
        "tcp.congestion_control.at_start",
        text("reno"),
    ));
    for nic in ["a0", "a1"] {
        settings.push(on(&server, nic, "nic.mtu.at_start", text("9000")));
    }
    server.with(|machine| {
        machine.manager = "manager udev\nlink /usr/lib/systemd/network/99-default.link\n";
    });
    plans.push((vec![client, server], settings));
    let one = Model::new("one");
    let entry = |folder: &str, line: &str| Setting::Knob {
        host: one.name.clone(),
        target: Target::Mount(folder.into()),
        id: KnobId::new("smb.client.fstab_entry"),
        value: text(line),
    };
    let settings = vec![
        entry(
            "/mnt/my nas",
            "//10.0.0.2/data /mnt/my\\040nas cifs credentials=/etc/nas,vers=3.1.1 0 0",
        ),
        entry(
            "/mnt/映画",
            "//10.0.0.2/映画 /mnt/映画 cifs guest,vers=3.1.1 0 0",
        ),
    ];
    plans.push((vec![one], settings));
    plans
}

fn crash_all_after(models: &[Model], commands: usize) {
    // The fuse counts the commands of the first host; the others' go with it in the last plan.
    for model in models {
        model.crash_after(commands);
    }
}

fn mend_all(models: &[Model]) {
    models.iter().for_each(Model::mend);
}

/// House-style rule 8: for every plan and every step, crash, undo, all is as it was. Step 0 is the
/// moment between the journal and the first command.
#[test]
fn after_a_crash_at_any_command_undo_restores_everything() {
    for (models, settings) in plans() {
        let before = machines(&models);
        for commands in 0.. {
            let folder = folder();
            let mut open = begin(&folder, &models, &settings);
            crash_all_after(&models, commands);
            let crashed = open.apply().is_err();
            // The process is gone: nothing of it runs any more, and its lock is free.
            crash_all_after(&models, 0);
            drop(open);
            mend_all(&models);
            let undone = undo(&folder, UndoMode::Ours, &models);
            assert!(undone[0].closed, "after {commands} commands: {undone:#?}");
            assert_eq!(machines(&models), before, "after {commands} commands");
            assert!(list_open(folder.path()).unwrap().open.is_empty());
            if !crashed {
                break;
            }
        }
    }
}

/// The same for a crash in the middle of undo, which is begun again.
#[test]
fn after_a_crash_in_the_middle_of_undo_another_undo_restores_everything() {
    for (models, settings) in plans() {
        let before = machines(&models);
        for commands in 0.. {
            let folder = folder();
            let mut open = begin(&folder, &models, &settings);
            open.apply().unwrap();
            open.keep().unwrap();
            let resolved: BTreeMap<HostName, Host> = models
                .iter()
                .map(|model| (model.name.clone(), model.host()))
                .collect();
            crash_all_after(&models, commands);
            let undone = journal(&folder)
                .undo(None, UndoMode::Ours, &|name| Ok(resolved[name].clone()))
                .unwrap();
            mend_all(&models);
            let done = undone[0].closed;
            if !done {
                let again = undo(&folder, UndoMode::Ours, &models);
                assert!(
                    again[0].closed,
                    "{commands} {settings:#?} {undone:#?} {again:#?}"
                );
            }
            assert_eq!(machines(&models), before, "after {commands} commands");
            if done {
                break;
            }
        }
    }
}

#[test]
fn a_value_that_does_not_take_is_noticed_and_everything_taken_back() {
    let (model, folder) = (Model::new("one"), folder());
    model.with(|machine| machine.sysctl_lies = true);
    let before = model.now();
    let settings = [
        on(&model, "a0", MTU, Value::Integer(9000)),
        on(&model, "", CONGESTION, text("reno")),
    ];
    let mut open = begin(&folder, std::slice::from_ref(&model), &settings);
    let error = open.apply().unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "cannot make change `{}`; everything is as before",
            open.id()
        )
    );
    let Error::Apply { source, .. } = error else {
        panic!()
    };
    assert_eq!(
        source.to_string(),
        "`tcp.congestion_control` on `one` reads `cubic` after it was set to `reno`: \
         sysctl: setting key \"x\": Invalid argument"
    );
    assert_eq!(model.now(), before);
}

#[test]
fn what_a_driver_makes_of_a_value_is_taken_back() {
    let (model, folder) = (Model::new("one"), folder());
    let before = model.now();
    let settings = [on(&model, "a0", "nic.ring_rx", Value::Integer(100))];
    let mut open = begin(&folder, std::slice::from_ref(&model), &settings);
    let error = open.apply().unwrap_err();
    let Error::Apply {
        source,
        restored: true,
        ..
    } = error
    else {
        panic!("{error:?}")
    };
    assert!(source.to_string().contains("reads `104`"), "{source}");
    assert_eq!(model.now(), before);
}

#[test]
fn a_link_that_was_reset_is_waited_for() {
    let (model, folder) = (Model::new("one"), folder());
    model.with(|machine| machine.nics.get_mut("a0").unwrap().slow_link = 3);
    let before = model.now();
    let settings = [
        on(&model, "a0", MTU, Value::Integer(9000)),
        on(&model, "a0", "nic.flow_control", text("off")),
    ];
    let mut open = begin(&folder, std::slice::from_ref(&model), &settings);
    open.apply().unwrap();
    assert_eq!(model.now().nics["a0"].mtu, 9000);
    open.keep().unwrap();
    let undone = undo(&folder, UndoMode::Ours, std::slice::from_ref(&model));
    assert!(undone[0].closed, "{undone:#?}");
    assert_eq!(model.now(), before);
}

#[test]
fn a_later_setting_that_takes_an_earlier_one_with_it_is_noticed() {
    let (model, folder) = (Model::new("one"), folder());
    model.with(|machine| {
        let nic = machine.nics.get_mut("a0").unwrap();
        nic.tso_follows_gso = true;
        nic.requested.insert("tx-tcp-segmentation", false);
        nic.requested.insert("tx-tcp6-segmentation", false);
    });
    let before = model.now();
    let settings = [
        on(&model, "a0", TSO, Value::Switch(true)),
        on(&model, "a0", GSO, Value::Switch(false)),
    ];
    let mut open = begin(&folder, std::slice::from_ref(&model), &settings);
    let error = open.apply().unwrap_err();
    assert!(
        matches!(error, Error::Apply { restored: true, .. }),
        "{error:?}"
    );
    assert_eq!(model.now(), before);
}

#[test]
fn what_somebody_else_set_is_left_alone_unless_forced() {
    let (model, folder) = (Model::new("one"), folder());
    let models = [model.clone()];
    let settings = [
        on(&model, "a0", MTU, Value::Integer(9000)),
        on(&model, "a1", MTU, Value::Integer(9000)),
    ];
    let mut open = begin(&folder, &models, &settings);
    open.apply().unwrap();
    open.keep().unwrap();
    model.with(|machine| machine.nics.get_mut("a0").unwrap().mtu = 4000);
    let undone = undo(&folder, UndoMode::Ours, &models);
    assert_eq!(
        outcomes(&undone),
        [
            (MTU.into(), UndoOutcome::Restored),
            (MTU.into(), UndoOutcome::Foreign)
        ]
    );
    assert!(!undone[0].closed);
    let report: &Report = &undone[0].reports[1];
    assert_eq!(
        report.to_string(),
        "`nic.mtu` of `a0` on `one`, `1500` before, reads `4000`: changed by somebody else, left alone"
    );
    assert_eq!(
        (model.now().nics["a0"].mtu, model.now().nics["a1"].mtu),
        (4000, 1500)
    );
    let undone = undo(&folder, UndoMode::Force, &models);
    assert!(undone[0].closed);
    assert_eq!(model.now().nics["a0"].mtu, 1500);
}

#[test]
fn an_open_change_is_not_made_over_somebody_elses() {
    let (model, folder) = (Model::new("one"), folder());
    let settings = [on(&model, "a0", MTU, Value::Integer(9000))];
    let mut open = begin(&folder, std::slice::from_ref(&model), &settings);
    model.with(|machine| machine.nics.get_mut("a0").unwrap().mtu = 4000);
    let Error::Apply {
        source, restored, ..
    } = open.apply().unwrap_err()
    else {
        panic!()
    };
    assert!(matches!(*source, Error::Foreign { .. }) && !restored);
    assert!(matches!(open.revert(), Err(Error::NotRestored { .. })));
    assert!(model.writes.lock().unwrap().is_empty());
}

#[test]
fn siblings_are_put_back_when_we_moved_them_and_only_then() {
    let (model, folder) = (Model::new("one"), folder());
    let models = [model.clone()];
    model.with(|machine| {
        let nic = machine.nics.get_mut("a0").unwrap();
        nic.forgets = true;
        nic.tso_follows_gso = true;
    });
    let before = model.now();
    let mut open = begin(
        &folder,
        &models,
        &[on(&model, "a0", GSO, Value::Switch(false))],
    );
    open.apply().unwrap();
    open.keep().unwrap();
    assert!(!model.now().nics["a0"].is_on("tx-tcp-segmentation"));
    // Somebody else turns on two things that are not ours.
    model.with(|machine| {
        let nic = machine.nics.get_mut("a0").unwrap();
        nic.requested.insert("tx-nocache-copy", true);
        nic.requested.insert("generic-receive-offload", true);
    });
    let undone = undo(&folder, UndoMode::Ours, &models);
    assert!(undone[0].closed);
    assert_eq!(
        outcomes(&undone),
        [
            (GSO.into(), UndoOutcome::Restored),
            (TSO.into(), UndoOutcome::SiblingRestored),
            (GRO.into(), UndoOutcome::SiblingForeign),
            ("nic.features".into(), UndoOutcome::SiblingRestored),
        ]
    );
    let mut expected = before;
    let nic = expected.nics.get_mut("a0").unwrap();
    nic.requested.insert("tx-nocache-copy", true);
    nic.requested.insert("generic-receive-offload", true);
    assert_eq!(model.now(), expected);
}

#[test]
fn a_change_that_went_with_a_restart_or_its_host_is_closed() {
    let (model, folder) = (Model::new("one"), folder());
    let models = [model.clone()];
    let keep = || {
        let mut open = begin(
            &folder,
            &models,
            &[on(&model, "a0", MTU, Value::Integer(9000))],
        );
        open.apply().unwrap();
        open.keep().unwrap();
    };
    keep();
    model.with(|machine| {
        machine.boot_id = "boot-2".into();
        machine.nics.get_mut("a0").unwrap().mtu = 9000;
    });
    let writes = model.writes.lock().unwrap().len();
    let undone = undo(&folder, UndoMode::Ours, &models);
    assert_eq!(outcomes(&undone), [(MTU.into(), UndoOutcome::Restarted)]);
    assert!(undone[0].closed);
    assert_eq!(model.writes.lock().unwrap().len(), writes);

    model.with(|machine| machine.nics.get_mut("a0").unwrap().mtu = 1500);
    keep();
    let undone = undo(&folder, UndoMode::Ours, &[]);
    let reason = "host `one` is gone: the lab is down";
    assert_eq!(outcomes(&undone), [(MTU.into(), gone(reason))]);
    assert!(undone[0].closed);

    model.with(|machine| machine.nics.get_mut("a0").unwrap().mtu = 1500);
    keep();
    model.with(|machine| drop(machine.nics.remove("a0")));
    let undone = undo(&folder, UndoMode::Ours, &models);
    let reason = "there is no interface `a0`";
    assert_eq!(outcomes(&undone), [(MTU.into(), gone(reason))]);
    assert!(undone[0].closed);
}

/// What the system was told to set at its start is as set after it; the rest went with the restart.
#[test]
fn what_was_kept_over_a_restart_is_taken_back_after_it() {
    // In one change, and in one of its own as `tune` makes it.
    for together in [true, false] {
        keep_and_restart(together);
    }
}

fn keep_and_restart(together: bool) {
    let (folder, model) = (folder(), Model::new("one"));
    let before = model.now();
    let mtu = on(&model, "a0", MTU, Value::Integer(9000));
    let gro = on(&model, "a0", GRO, Value::Switch(true));
    let mut settings = vec![vec![mtu.clone(), gro]];
    let kept = host::change::kept(&[model.host()], &[mtu]).unwrap();
    match together {
        true => settings[0].extend(kept),
        false => settings.push(kept),
    }
    for settings in settings {
        let mut open = begin(&folder, std::slice::from_ref(&model), &settings);
        open.apply().unwrap();
        open.keep().unwrap();
    }
    // The restart brings back all but what is kept.
    let kept = model.now().kept;
    assert_eq!(kept.len(), 1);
    model.with(|machine| {
        *machine = before.clone();
        machine.boot_id = "boot-2".into();
        machine.kept = kept;
        machine.nics.get_mut("a0").unwrap().mtu = 9000;
    });
    let undone = undo(&folder, UndoMode::Ours, std::slice::from_ref(&model));
    assert!(undone.iter().all(|undone| undone.closed), "{undone:#?}");
    let found = model.now();
    assert_eq!((found.kept, found.nics), (before.kept, before.nics));
}

#[test]
fn another_machine_under_the_same_name_is_never_touched() {
    let (model, folder) = (Model::new("one"), folder());
    let models = [model.clone()];
    let mut open = begin(
        &folder,
        &models,
        &[on(&model, "a0", MTU, Value::Integer(9000))],
    );
    open.apply().unwrap();
    open.keep().unwrap();
    model.with(|machine| machine.machine_id = "another".into());
    let writes = model.writes.lock().unwrap().len();
    let undone = undo(&folder, UndoMode::Ours, &models);
    assert_eq!(outcomes(&undone), [(MTU.into(), UndoOutcome::OtherMachine)]);
    assert!(!undone[0].closed);
    let undone = undo(&folder, UndoMode::Force, &models);
    assert!(undone[0].closed);
    assert_eq!(model.writes.lock().unwrap().len(), writes);
}

#[test]
fn an_unreachable_host_keeps_its_change_open() {
    let (model, folder) = (Model::new("one"), folder());
    let models = [model.clone()];
    let mut open = begin(
        &folder,
        &models,
        &[on(&model, "a0", MTU, Value::Integer(9000))],
    );
    open.apply().unwrap();
    open.keep().unwrap();
    let unreachable = |name: &HostName| {
        Err(Error::Unreachable {
            name: name.clone(),
            source: "no route to it".into(),
        })
    };
    let undone = journal(&folder)
        .undo(None, UndoMode::Force, &unreachable)
        .unwrap();
    assert!(!undone[0].closed);
    let UndoOutcome::Failed { chain } = &undone[0].reports[0].outcome else {
        panic!("{undone:#?}")
    };
    let chain: Vec<String> = chain.iter().map(crate::english).collect();
    assert_eq!(chain, ["cannot reach host `one`", "no route to it"]);
    assert!(undo(&folder, UndoMode::Ours, &models)[0].closed);
}

fn open_file(folder: &Path) -> PathBuf {
    let mut files = fs::read_dir(folder.join("open")).unwrap();
    files.next().unwrap().unwrap().path()
}

#[test]
fn torn_and_unknown_later_lines_do_no_harm() {
    let (model, folder) = (Model::new("one"), folder());
    let models = [model.clone()];
    let before = model.now();
    let mut open = begin(
        &folder,
        &models,
        &[on(&model, "a0", MTU, Value::Integer(9000))],
    );
    open.apply().unwrap();
    open.keep().unwrap();
    let path = open_file(folder.path());
    let text = fs::read_to_string(&path).unwrap();
    let first = text.lines().next().unwrap().len() + 1;
    // Every length from the whole first line on is good enough, also with a later line right behind it.
    for length in first..text.len() {
        for later in ["", "{\"mark\":\"of a later program\"}\n{\"ma", "\u{0}\u{0}"] {
            fs::write(&path, format!("{}{later}", &text[..length])).unwrap();
            let listing = list_open(folder.path()).unwrap();
            assert_eq!(listing.open.len(), 1, "{length} {:?}", listing.damaged);
        }
    }
    assert!(undo(&folder, UndoMode::Ours, &models)[0].closed);
    assert_eq!(model.now(), before);
}

#[test]
fn a_damaged_file_stops_only_its_own_change() {
    let (model, folder) = (Model::new("one"), folder());
    let models = [model.clone()];
    let before = model.now();
    let mut open = begin(
        &folder,
        &models,
        &[on(&model, "a0", MTU, Value::Integer(9000))],
    );
    open.apply().unwrap();
    open.keep().unwrap();
    let text = fs::read_to_string(open_file(folder.path())).unwrap();
    let damaged = folder.path().join("open/99-beef.jsonl");
    let written = concat!("linerate ", env!("CARGO_PKG_VERSION"));
    let text = text.replacen(written, "linerate 0.1.0", 1);
    for (content, reason) in [
        (
            text[..text.find('\n').unwrap()].to_owned(),
            "line 1 is not whole",
        ),
        ("{}\n".to_owned(), "line 1: it is no change of linerate"),
        (
            text.replacen("\"version\":2", "\"version\":3", 1),
            "line 1: `linerate 0.1.0`, which is newer, wrote it",
        ),
        (
            text.replacen(
                "\"version\":2,\"program\":\"linerate 0.1.0\"",
                "\"version\":3",
                1,
            ),
            "line 1: a newer linerate wrote it",
        ),
        (String::new(), "line 1 is not whole"),
    ] {
        fs::write(&damaged, content).unwrap();
        let listing = list_open(folder.path()).unwrap();
        assert_eq!(listing.open.len(), 1);
        assert!(
            listing.damaged[0].to_string().ends_with(reason),
            "{}",
            listing.damaged[0]
        );
    }
    let undone = undo(&folder, UndoMode::Ours, &models);
    assert!(undone.len() == 1 && undone[0].closed);
    assert_eq!(model.now(), before);
    let error = journal(&folder)
        .undo(None, UndoMode::Ours, &|_| panic!())
        .unwrap_err();
    assert!(matches!(error, Error::JournalDamaged { .. }), "{error}");
}

#[test]
fn the_second_of_two_is_refused_and_told_who_is_first() {
    let folder = folder();
    let first = Journal::open(folder.path(), "tune //server/share").unwrap();
    let error = Journal::open(folder.path(), "undo").unwrap_err();
    let expected = format!(
        "held by `tune //server/share`, process {}",
        std::process::id()
    );
    assert!(error.to_string().contains(&expected), "{error}");
    assert_eq!(
        crate::hint(&error),
        "wait until that run is over, or stop it"
    );
    assert!(list_open(folder.path()).unwrap().open.is_empty());
    drop(first);
    Journal::open(folder.path(), "undo").unwrap();
}

#[expect(
    deprecated,
    reason = "only with open files it does harm, and those stay shared"
)]
fn unshare_mounts() {
    rustix::thread::unshare(rustix::thread::UnshareFlags::NEWNS).unwrap();
}

#[test]
fn a_full_disk_is_not_in_the_way_of_undo() {
    let (model, folder) = (Model::new("one"), folder());
    let (before, path) = (model.now(), folder.path().to_str().unwrap());
    // In a thread with mounts that no other one sees: the disk goes with it.
    let full = || {
        unshare_mounts();
        let run = |argv: &[&str]| run_one(&Local::new(), &Command::new(argv.to_vec())).unwrap();
        run(&["mount", "--make-rprivate", "/"]);
        run(&[
            "mount",
            "-t",
            "tmpfs",
            "-o",
            "size=64k,mode=755",
            "none",
            path,
        ]);
        let models = std::slice::from_ref(&model);
        let mut open = begin(
            &folder,
            models,
            &[on(&model, "a0", MTU, Value::Integer(9000))],
        );
        open.apply().unwrap();
        open.keep().unwrap();
        let filled = fs::write(folder.path().join("fill"), [0; 1 << 17]).unwrap_err();
        assert_eq!(filled.kind(), std::io::ErrorKind::StorageFull);
        assert_eq!(fs::metadata(folder.path().join("lock")).unwrap().len(), 0);
        assert!(undo(&folder, UndoMode::Ours, models)[0].closed);
        assert_eq!(model.now(), before);
    };
    std::thread::scope(|scope| scope.spawn(full).join().unwrap());
}

#[test]
fn without_a_journal_nothing_is_changed() {
    let (model, folder) = (Model::new("one"), folder());
    let in_the_way = folder.path().join("file");
    fs::write(&in_the_way, "").unwrap();
    let error = Journal::open(&in_the_way, "tune").unwrap_err();
    assert!(matches!(error, Error::State { .. }), "{error}");
    assert!(crate::hint(&error).contains("remove it"));
    // The folder vanishes while the journal is open.
    let journal = journal(&folder);
    fs::remove_dir_all(folder.path().join("open")).unwrap();
    let settings = [on(&model, "a0", MTU, Value::Integer(9000))];
    let change = Change::plan(&[model.host()], &settings, "run").unwrap();
    assert!(matches!(journal.begin(change), Err(Error::Journal { .. })));
    assert!(model.writes.lock().unwrap().is_empty());
}
