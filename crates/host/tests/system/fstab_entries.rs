//! The line of `/etc/fstab` of a mount: only it changes, and undo gives back each byte.

use std::fs;
use std::path::Path;

use host::Error;
use host::change::{Change, UndoMode, UndoOutcome};
use host::exec::{Command, Exec, Local, Output};
use host::journal::Journal;
use host::knob::{self, Knob, Refusal, State};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use record::{KnobId, Setting, System, Target, Value};
use tempfile::TempDir;

use crate::english;
use crate::simulated_linux_host::Model;

const ID: &str = "smb.client.fstab_entry";
const FOLDER: &str = "/mnt/映 画";
/// What the folder's line is made to be.
const LINE: &str = "//nas/映画 /mnt/映\\040画 cifs credentials=/etc/nas,vers=3.1.1,multichannel,max_channels=2 0 0";

fn setting(model: &Model) -> Setting {
    Setting::Knob {
        host: model.name.clone(),
        target: Target::Mount(FOLDER.into()),
        id: KnobId::new(ID),
        value: Value::Text(LINE.into()),
    }
}

fn of(fstab: &[u8]) -> Model {
    let model = Model::new("one");
    model.with(|machine| machine.fstab = fstab.to_vec());
    model
}

fn begin(folder: &TempDir, model: &Model) -> Result<host::change::OpenChange, Error> {
    let change = Change::plan(&[model.host()], &[setting(model)], "test")?;
    Journal::open(folder.path(), "test")?.begin(change)
}

/// Makes the line what it is to be, and keeps that.
fn keep(folder: &TempDir, model: &Model) {
    let mut open = begin(folder, model).unwrap();
    open.apply().unwrap();
    open.keep().unwrap();
}

fn undo(folder: &TempDir, model: &Model) -> UndoOutcome {
    let journal = Journal::open(folder.path(), "test").unwrap();
    let undone = journal.undo(None, UndoMode::Ours, &|_| Ok(model.host()));
    undone.unwrap().remove(0).reports.remove(0).outcome
}

/// Lines of others: comments, blanks, entries, and bytes that are no text.
fn line_of_others() -> impl Strategy<Value = Vec<u8>> {
    let bytes = proptest::collection::vec(1..=u8::MAX, 0..30);
    prop_oneof![
        2 => bytes.prop_map(|mut line| { line.retain(|byte| *byte != b'\n'); line }),
        1 => Just(Vec::new()),
        1 => Just(b"# //nas/a /mnt/\xe6\x98\xa0\\040\xe7\x94\xbb cifs password=x".to_vec()),
        1 => Just(b"\\tUUID=1 / ext4 errors=remount-ro 0 1 ".to_vec()),
        1 => Just(b"//nas/b /mnt/b cifs credentials=/etc/b,password=y 0 0".to_vec()),
    ]
}

#[test]
fn undo_gives_back_each_byte_of_any_file() {
    let own = "//nas/映画 \t/mnt/映\\040画/\tcifs credentials=/etc/nas,vers=2.0,sync  0 0  ";
    let lines = proptest::collection::vec(line_of_others(), 0..6);
    let files = (
        lines,
        any::<Option<proptest::sample::Index>>(),
        any::<bool>(),
    );
    let mut runner = TestRunner::deterministic();
    let config = ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = TestRunner::new_with_rng(config, runner.new_rng());
    let held = runner.run(&files, |(mut lines, place, is_ended)| {
        let others = lines.clone();
        if let Some(place) = place {
            lines.insert(place.index(lines.len() + 1), own.into());
        }
        let mut before = lines.join(&b'\n');
        if is_ended && !before.is_empty() {
            before.push(b'\n');
        }
        let (model, folder) = (of(&before), tempfile::tempdir().unwrap());
        keep(&folder, &model);
        let during = model.now().fstab;
        let mut there: Vec<&[u8]> = during.split(|byte| *byte == b'\n').collect();
        let ours = there.iter().position(|line| *line == LINE.as_bytes());
        there.remove(ours.expect("the line is there"));
        // What is left are the lines of others, in their order.
        there.retain(|line| !line.is_empty());
        let wanted = others.iter().filter(|line| !line.is_empty());
        prop_assert!(there.iter().eq(wanted), "{:?}", during);
        prop_assert_eq!(undo(&folder, &model), UndoOutcome::Restored);
        prop_assert_eq!(model.now().fstab, before);
        Ok(())
    });
    held.unwrap();
}

#[test]
fn what_others_write_meanwhile_stays_and_a_line_that_they_change_is_theirs() {
    let before = b"//nas/a /mnt/\xe6\x98\xa0\\040\xe7\x94\xbb cifs guest 0 0\n";
    let (model, folder) = (of(before), tempfile::tempdir().unwrap());
    // Before it is made.
    let mut open = begin(&folder, &model).unwrap();
    let theirs = String::from_utf8_lossy(before).replace("guest", "guest,ro");
    model.with(|machine| machine.fstab = theirs.clone().into_bytes());
    let Error::Apply { source, .. } = open.apply().unwrap_err() else {
        panic!("it is refused")
    };
    assert!(matches!(*source, Error::Foreign { .. }), "{source}");
    drop(open);
    assert_eq!(model.now().fstab, theirs.as_bytes());
    // And while it is made: another line of the file, then this one.
    let (model, folder) = (of(before), tempfile::tempdir().unwrap());
    keep(&folder, &model);
    model.with(|machine| machine.fstab.splice(0..0, *b"# new\n").for_each(drop));
    assert_eq!(undo(&folder, &model), UndoOutcome::Restored);
    assert_eq!(model.now().fstab, [b"# new\n", &before[..]].concat());
    let (model, folder) = (of(before), tempfile::tempdir().unwrap());
    keep(&folder, &model);
    let theirs = LINE.replace("max_channels=2", "max_channels=4");
    model.with(|machine| machine.fstab = theirs.clone().into_bytes());
    assert_eq!(undo(&folder, &model), UndoOutcome::Foreign);
    assert_eq!(model.now().fstab, theirs.as_bytes());
}

#[test]
fn a_file_that_says_something_else_is_refused_and_no_password_is_repeated() {
    let at = |options: &str| format!("//nas/a /mnt/映\\040画 {options} 0 0\n");
    for (fstab, refused) in [
        (
            at("cifs user=ann,password=secret"),
            "error-linux.fstab-password",
        ),
        (at("nfs defaults"), "error-linux.fstab-no-share"),
        (at("cifs guest\r"), "error-linux.fstab-odd"),
        (at("cifs guest").repeat(2), "error-linux.fstab-several"),
        ("\0".to_owned(), "error-linux.fstab-odd"),
    ] {
        let model = of(fstab.as_bytes());
        let error = begin(&tempfile::tempdir().unwrap(), &model).unwrap_err();
        let Error::Refused { reason, .. } = &error else {
            panic!("{error:?}")
        };
        assert_eq!(reason.id, refused);
        assert!(!format!("{error} {error:?}").contains("secret"));
        assert_eq!(model.now().fstab, fstab.as_bytes());
    }
    // Nor is a line made that has one, is of another folder, or is more than one.
    let model = of(b"");
    for line in [
        "//nas/a /mnt/映\\040画 cifs username=ann,password=secret 0 0",
        "# password=secret",
        "//nas/a /mnt/other cifs guest 0 0",
        "//nas/a /mnt/映\\040画 cifs guest 0 0\n/dev/sda / ext4 suid 0 0",
        "# //nas/a /mnt/映\\040画 cifs guest 0 0",
    ] {
        let mut wanted = setting(&model);
        if let Setting::Knob { value, .. } = &mut wanted {
            *value = Value::Text(line.into());
        }
        let error = Change::plan(&[model.host()], &[wanted], "test").unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{line}");
        assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
    }
}

fn fstab_knob() -> &'static Knob {
    knob::find(System::Linux, ID).unwrap()
}

/// Runs a command for `/etc/fstab` on this file, where `programs` is searched first.
fn run(command: &Command, file: &Path, programs: &Path) -> Output {
    let path = format!("PATH={}:{}", programs.display(), env!("PATH"));
    let words = command.argv.iter().map(|word| match word.as_str() {
        "/etc/fstab" => file.display().to_string(),
        word => word.to_owned(),
    });
    let words = ["env".to_owned(), path].into_iter().chain(words);
    Local::new().run(&[Command::new(words)]).unwrap().remove(0)
}

fn read(file: &Path) -> Result<State, Refusal> {
    let target = Target::Mount(FOLDER.into());
    let commands = fstab_knob().read(&target)?;
    let said = commands
        .iter()
        .map(|command| run(command, file, Path::new("/bin")));
    fstab_knob().parse(&target, &said.collect::<Vec<_>>())
}

/// The command that makes the line, planned for this file.
fn edit(file: &Path) -> Command {
    let target = Target::Mount(FOLDER.into());
    let to = Value::Text(LINE.into());
    let steps = fstab_knob()
        .plan(&target, &read(file).unwrap(), &to)
        .unwrap();
    steps[0].run.clone()
}

#[test]
fn no_link_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let [file, victim] = ["fstab", "victim"].map(|name| folder.path().join(name));
    let refused = || read(&file).map(drop).unwrap_err().reason;
    assert_eq!(refused().id, "error-linux.fstab-none");
    fs::write(&file, "# empty\n").unwrap();
    let planned = edit(&file);
    fs::rename(&file, &victim).unwrap();
    std::os::unix::fs::symlink(&victim, &file).unwrap();
    assert_eq!(refused().id, "error-linux.fstab-link");
    assert!(english(&refused()).contains("/etc/fstab"));
    assert_ne!(run(&planned, &file, Path::new("/bin")).status, 0);
    assert_eq!(fs::read(&victim).unwrap(), b"# empty\n");
    assert!(file.is_symlink());
}

/// Another editor writes while the new file is put on the disk, and a backup has a name as ours might have.
#[test]
fn what_another_editor_writes_at_the_last_moment_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let programs = tempfile::tempdir().unwrap();
    let [file, backup] = ["fstab", "fstab.linerate.backup"].map(|name| folder.path().join(name));
    fs::write(&backup, "dear").unwrap();
    fs::write(&file, "# all\n").unwrap();
    let planned = edit(&file);
    let late = programs.path().join("sync");
    let script = format!("#!/bin/sh\necho '# late' >>'{}'\n", file.display());
    fs::write(&late, script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&late, executable).unwrap();
    assert_eq!(run(&planned, &file, programs.path()).status, 1);
    assert_eq!(fs::read_to_string(&file).unwrap(), "# all\n# late\n");
    assert_eq!(run(&planned, &file, Path::new("/bin")).status, 0);
    let after = format!("# all\n# late\n{LINE}\n");
    assert_eq!(fs::read_to_string(&file).unwrap(), after);
    assert_eq!(fs::read(&backup).unwrap(), b"dear");
    // By a second name, only one of them would change.
    fs::hard_link(&file, folder.path().join("other")).unwrap();
    fs::write(&file, "# all\n").unwrap();
    assert_eq!(run(&planned, &file, Path::new("/bin")).status, 1);
    assert_eq!(fs::read_to_string(&file).unwrap(), "# all\n");
}

/// The shell dies at each program that it starts: the file is the old one or the new one, whole, and what is left beside it
/// goes with the next change.
#[test]
fn who_is_killed_on_the_way_leaves_the_old_file_or_the_new_one() {
    for program in ["mktemp", "cp", "sync", "mv", "rm"] {
        let folder = tempfile::tempdir().unwrap();
        let programs = tempfile::tempdir().unwrap();
        let killer = programs.path().join(program);
        // Those before it have done their work, and so has `mv`.
        let script = match program {
            "mv" => "#!/bin/sh\n/bin/mv \"$@\"\nkill -9 $PPID\n",
            _ => "#!/bin/sh\nkill -9 $PPID\n",
        };
        fs::write(&killer, script).unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&killer, executable).unwrap();
        let file = folder.path().join("fstab");
        let before = "# all\nproc /proc proc defaults 0 0";
        fs::write(&file, before).unwrap();
        let planned = edit(&file);
        assert_eq!(
            run(&planned, &file, programs.path()).status,
            128 + 9,
            "{program}"
        );
        let after = format!("{before}\n{LINE}");
        let now = fs::read_to_string(&file).unwrap();
        let wanted = if program == "mv" { &after } else { before };
        assert_eq!(now, wanted, "{program}");
        assert_eq!(run(&planned, &file, Path::new("/bin")).status, 0);
        assert_eq!(fs::read_to_string(&file).unwrap(), after, "{program}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{program}");
    }
}
