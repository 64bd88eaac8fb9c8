//! Knobs that an experiment sets and takes back as its arms want it, through the journal of changes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use experiment::Sink;
use host::change::{self, Change, OpenChange, Report, UndoMode};
use host::exec::Command;
use host::journal::Journal;
use host::{Host, facts};
use locale::{Message, say};
use measure::Stop;
use record::{Event, Failure, HostName, Level, LinkState, Record, Setting, Target, Value};

use crate::failure::{CommandError, Kind};
use crate::run_file_recorder::Recorder;

/// How long links may take to come back after a knob was set; drivers that train anew need seconds.
const SETTLE_LIMIT: Duration = Duration::from_secs(20);
/// How often links are looked at meanwhile.
const SETTLE_POLL: Duration = Duration::from_millis(100);

/// The run file, shared between the experiment and the testbed.
#[derive(Clone, Debug)]
pub struct SharedRecorder(pub Rc<RefCell<Recorder>>);

impl Sink for SharedRecorder {
    fn append(&mut self, record: &Record) -> Result<(), record::Error> {
        self.0.borrow_mut().append_record(record)
    }
}

/// The knobs of some hosts, and what was changed of them.
pub struct HostKnobs {
    /// The hosts.
    pub hosts: Vec<Host>,
    /// None where nothing sets a knob.
    pub journal: Option<Journal>,
    /// The run file.
    pub recorder: SharedRecorder,
    /// Asked while links settle.
    pub stop: Stop,
    changes: Vec<KnobChange>,
    /// The changes that were kept, in their order.
    kept: Vec<String>,
}

/// A change in the journal that is made and taken back as the arms want it.
struct KnobChange {
    change: OpenChange,
    made: bool,
    /// It is about what the hosts set at their next start, and no level names that.
    keeps: bool,
}

impl KnobChange {
    /// Whether it is made, and a level wants it so.
    fn holds_in(&self, level: &Level) -> bool {
        self.made && (self.keeps || self.is_wanted(level))
    }

    fn is_wanted(&self, level: &Level) -> bool {
        let mut items = self.change.items().iter();
        items.all(|item| value_in(level, item) == Some(&item.after))
    }

    /// Whether it changes the place of a setting.
    fn changes(&self, setting: &Setting) -> bool {
        let mut items = self.change.items().iter();
        items.any(|item| {
            matches!(setting, Setting::Knob { host, target, id, .. }
                if *host == item.host && *target == item.target && *id == item.knob)
        })
    }
}

impl HostKnobs {
    /// Knobs of which none is changed yet.
    pub fn new(
        hosts: Vec<Host>,
        journal: Option<Journal>,
        recorder: SharedRecorder,
        stop: Stop,
    ) -> Self {
        Self {
            hosts,
            journal,
            recorder,
            stop,
            changes: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Makes the knobs of a level and waits until they have settled.
    pub fn set(&mut self, level: &Level) -> Result<(), CommandError> {
        if self.set_knobs(level)? {
            self.settle(level)?;
        }
        Ok(())
    }

    /// Leaves what a level sets, and puts back everything else. With `at_start` the hosts set at their
    /// next start as well what was changed for it, and that. Whatever fails, [`Self::restore`] undoes all of it.
    pub fn keep(&mut self, level: &Level, at_start: Option<Vec<Setting>>) -> Result<(), Failure> {
        if let Some(more) = at_start {
            // What is refused here is refused before anything stays.
            self.keep_over_restarts(level, more)?;
        }
        let all = std::mem::take(&mut self.changes).into_iter();
        let (stays, goes): (Vec<KnobChange>, Vec<KnobChange>) =
            all.partition(|moved_knob| moved_knob.holds_in(level));
        self.changes = stays;
        self.restore_these(goes)?;
        while !self.changes.is_empty() {
            let kept = self.changes.remove(0).change.keep();
            self.kept.push(kept.map_err(CommandError::from)?);
        }
        Ok(())
    }

    /// Tells the hosts to set at their next start as well what was changed for a level, and more.
    fn keep_over_restarts(
        &mut self,
        level: &Level,
        more: Vec<Setting>,
    ) -> Result<(), CommandError> {
        let changed: Vec<Setting> = level
            .settings
            .iter()
            .filter(|setting| {
                let mut stays = self
                    .changes
                    .iter()
                    .filter(|moved_knob| moved_knob.holds_in(level));
                stays.any(|moved_knob| moved_knob.changes(setting))
            })
            .cloned()
            .collect();
        let mut kept = change::kept(&self.hosts, &changed)?;
        kept.extend(more);
        let planned = Change::plan(&self.hosts, &kept, &self.recorder.0.borrow().id)?;
        let Some(journal) = self.journal.as_ref().filter(|_| !planned.is_empty()) else {
            return Ok(());
        };
        let change = journal.begin(planned)?;
        let id = change.id().to_owned();
        // Another change, which is put back with the others and before them.
        self.changes.push(KnobChange {
            change,
            made: true,
            keeps: true,
        });
        let opened = Event::ChangeOpened { change: id };
        self.recorder.0.borrow_mut().event(opened)?;
        match self.changes.last_mut() {
            Some(moved_knob) => Ok(moved_knob.change.apply()?),
            None => Ok(()),
        }
    }

    /// Puts back everything, also what has been kept.
    pub fn restore(&mut self) -> Result<(), Failure> {
        let open = std::mem::take(&mut self.changes);
        let mut left = self.restore_these(open).err();
        for id in std::mem::take(&mut self.kept).into_iter().rev() {
            let undone = self.undo(&id);
            self.note_undone(id, undone.is_ok());
            left = left.or(undone.err().map(|error| CommandError::from(error).into()));
        }
        left.map_or(Ok(()), Err)
    }

    fn restore_these(&self, knobs: Vec<KnobChange>) -> Result<(), Failure> {
        let mut left = None;
        for KnobChange { change, .. } in knobs.into_iter().rev() {
            let id = change.id().to_owned();
            let closed = change.close();
            self.note_undone(id, closed.is_ok());
            left = left.or(closed.err());
        }
        match left {
            None => Ok(()),
            Some(error) => Err(CommandError::from(error).into()),
        }
    }

    /// Undoes a change that was kept.
    fn undo(&self, id: &str) -> Result<(), host::Error> {
        let Some(journal) = &self.journal else {
            return Ok(());
        };
        let resolve = |name: &HostName| {
            let host = self.hosts.iter().find(|host| host.name == *name);
            host.cloned()
                .ok_or_else(|| host::Error::UnknownHost { name: name.clone() })
        };
        let undone = journal.undo(Some(id), UndoMode::Ours, &resolve)?;
        let reports = undone.iter().flat_map(|change| &change.reports);
        let left: Vec<Message> = reports
            .filter(|report| !report.outcome.is_settled())
            .map(Report::message)
            .collect();
        if undone.iter().all(|change| change.closed) {
            return Ok(());
        }
        Err(host::Error::NotRestored {
            change: id.to_owned(),
            left,
        })
    }

    fn note_undone(&self, change: String, restored: bool) {
        let event = Event::ChangeUndone { change, restored };
        // What is put back counts for more than what is written down about it.
        drop(self.recorder.0.borrow_mut().event(event));
    }

    /// Makes the knobs of a level, by the changes that are open already or by a new one.
    fn set_knobs(&mut self, level: &Level) -> Result<bool, CommandError> {
        let moved = self.move_open(level)?;
        let found = change::read_back(&self.hosts, &level.settings)?;
        let is_knob = |setting: &&Setting| matches!(setting, Setting::Knob { .. });
        let missing: Vec<Setting> = level
            .settings
            .iter()
            .filter(is_knob)
            .filter(|setting| !found.contains(setting))
            .cloned()
            .collect();
        if missing.is_empty() {
            return Ok(moved);
        }
        self.begin_changes(missing)?;
        Ok(true)
    }

    /// Takes back the open changes that a level does not want, and makes those that it wants; whether there were any.
    fn move_open(&mut self, level: &Level) -> Result<bool, CommandError> {
        let mut moved = false;
        // What must go back goes first: two changes may be of the same knob. The last one first, for a
        // driver may give one feature back only with another.
        for moved_knob in self
            .changes
            .iter_mut()
            .rev()
            .filter(|moved_knob| moved_knob.made)
        {
            if !moved_knob.is_wanted(level) {
                moved_knob.change.revert()?;
                moved_knob.made = false;
                moved = true;
            }
        }
        for moved_knob in &mut self.changes {
            // A host that was silent for too long has put itself back.
            let is_to_be_made = !moved_knob.made || moved_knob.change.may_be_lost();
            if is_to_be_made && moved_knob.is_wanted(level) {
                moved_knob.change.apply()?;
                moved_knob.made = true;
                moved = true;
            }
        }
        Ok(moved)
    }

    /// Makes what no open change makes.
    fn begin_changes(&mut self, missing: Vec<Setting>) -> Result<(), CommandError> {
        let Some(journal) = &self.journal else {
            let text = say("error-change.no-journal");
            return Err(CommandError::new(Kind::Internal, text));
        };
        // One change for each knob, so that it can be made and taken back with any of the others.
        let mut by_knob: BTreeMap<String, Vec<Setting>> = BTreeMap::new();
        for setting in missing {
            if let Setting::Knob { id, .. } = &setting {
                let same = by_knob.entry(id.as_str().to_owned()).or_default();
                same.push(setting);
            }
        }
        for settings in by_knob.into_values() {
            let planned = Change::plan(&self.hosts, &settings, &self.recorder.0.borrow().id)?;
            let mut change = journal.begin(planned)?;
            self.recorder.0.borrow_mut().event(Event::ChangeOpened {
                change: change.id().to_owned(),
            })?;
            change.apply()?;
            self.changes.push(KnobChange {
                change,
                made: true,
                keeps: false,
            });
        }
        Ok(())
    }

    /// Waits until the NICs of this level have a carrier again, and forgets what TCP had learnt.
    fn settle(&self, level: &Level) -> Result<(), CommandError> {
        let deadline = Instant::now() + SETTLE_LIMIT;
        for host in &self.hosts {
            let touched = |name: &str| {
                level.settings.iter().any(|setting| {
                    matches!(setting, Setting::Knob { host: on, target: Target::Nic(nic), .. }
                        if *on == host.name && nic == name)
                })
            };
            loop {
                let facts = facts(host)?;
                let down = facts
                    .nics
                    .iter()
                    .find(|nic| touched(&nic.name) && nic.state == LinkState::Down);
                match down {
                    None => break,
                    Some(_) if Instant::now() < deadline && !self.stop.is_asked() => {
                        thread::sleep(SETTLE_POLL)
                    }
                    Some(nic) => {
                        let text = say("error-change.no-carrier")
                            .with("nic", &nic.name)
                            .with("host", host.name.to_string());
                        return Err(CommandError::new(Kind::Unreachable, text)
                            .hint(say("hint-change.no-carrier")));
                    }
                }
            }
            // Best effort: a cached window or path MTU would carry one arm into the other.
            let forget = ["tcp_metrics", "route"].map(|what| match what {
                "route" => Command::new(["ip", "route", "flush", "cache"]).as_root(),
                what => Command::new(["ip", what, "flush", "all"]).as_root(),
            });
            drop(host.exec.run(&forget));
        }
        Ok(())
    }
}

fn value_in<'l>(level: &'l Level, item: &change::Item) -> Option<&'l Value> {
    level.settings.iter().find_map(|setting| match setting {
        Setting::Knob {
            host,
            target,
            id,
            value,
        } if *host == item.host && *target == item.target && *id == item.knob => Some(value),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    use host::exec::{Exec, Output, Process};
    use record::{KnobId, Plan, ShareAddress};

    use super::*;
    use crate::args::{LoginArguments, OutputArguments};

    /// A host with two settings and the folder that it reads at its start.
    #[derive(Debug)]
    struct Scene {
        /// By the keys of `sysctl`.
        values: Mutex<BTreeMap<String, String>>,
        /// What is kept, by the file's path.
        files: Mutex<BTreeMap<String, String>>,
        /// Whether nothing can be written below `/etc`.
        full: bool,
        /// Whether the first setting is switched on only where the second is on, as drivers tie features.
        tied: bool,
    }

    const SACK: &str = "net.ipv4.tcp_sack";
    const IDLE: &str = "net.ipv4.tcp_slow_start_after_idle";

    impl Scene {
        fn new(full: bool) -> Arc<Self> {
            Self::with(full, false)
        }

        fn with(full: bool, tied: bool) -> Arc<Self> {
            let values = [SACK, IDLE].map(|key| (key.to_owned(), "1".to_owned()));
            Arc::new(Self {
                values: Mutex::new(values.into()),
                files: Mutex::default(),
                full,
                tied,
            })
        }

        fn values(&self) -> Vec<String> {
            self.values.lock().unwrap().values().cloned().collect()
        }

        fn files(&self) -> Vec<String> {
            self.files.lock().unwrap().keys().cloned().collect()
        }

        fn answer(&self, argv: &[&str]) -> Result<String, &'static str> {
            let mut files = self.files.lock().unwrap();
            let mut values = self.values.lock().unwrap();
            match argv {
                ["uname", ..] => Ok("Linux\n".into()),
                ["ip", "-j", ..] => Ok("[]".into()),
                ["nproc"] => Ok("2\n".into()),
                ["sysctl", "-e", ..] => {
                    let lines = values.iter();
                    Ok(lines
                        .map(|(key, value)| format!("{key} = {value}\n"))
                        .collect())
                }
                ["sysctl", .., pair] => {
                    let (key, value) = pair.split_once('=').ok_or("no pair")?;
                    if self.tied && (key, value) == (SACK, "1") && values[IDLE] != "1" {
                        return Err("the other one is off");
                    }
                    values.insert(key.into(), value.into());
                    Ok(String::new())
                }
                ["sh", "-c", _, "sh", ""] => {
                    let lines = files
                        .iter()
                        .flat_map(|(path, text)| text.lines().map(move |line| (path, line)));
                    Ok(lines
                        .map(|(path, line)| format!("{path}:{line}\n"))
                        .collect())
                }
                ["sh", "-c", _, "sh", path] => {
                    files.remove(*path);
                    Ok(String::new())
                }
                ["sh", "-c", _, "sh", ..] if self.full => Err("no space left on device"),
                ["sh", "-c", _, "sh", path, _, text] => {
                    files.insert((*path).into(), (*text).into());
                    Ok(String::new())
                }
                _ => Ok(String::new()),
            }
        }
    }

    impl Exec for Scene {
        fn run(&self, commands: &[Command]) -> Result<Vec<Output>, host::Error> {
            let outputs = commands.iter().map(|command| {
                let argv: Vec<&str> = command.argv.iter().map(String::as_str).collect();
                let answer = self.answer(&argv);
                Output {
                    status: i32::from(answer.is_err()),
                    stderr: answer.as_ref().err().copied().unwrap_or_default().into(),
                    stdout: answer.unwrap_or_default().into(),
                }
            });
            Ok(outputs.collect())
        }

        fn spawn(&self, command: &Command) -> Result<Process, host::Error> {
            panic!("nothing is spawned here: {command:?}")
        }
    }

    fn knobs(scene: &Arc<Scene>, folder: &Path) -> HostKnobs {
        let output = OutputArguments {
            json: false,
            run: Some(folder.join("run.jsonl")),
            html: None,
            verbose: false,
        };
        let plan = Plan::Tune {
            share: ShareAddress {
                server: "nas".into(),
                port: 445,
                share: "media".into(),
                path: String::new(),
            },
            candidates: Vec::new(),
            folder: None,
        };
        let login = ("smb://nas/media", &LoginArguments::default());
        let recorder = Recorder::with_facts(&output, login, plan, 1, Vec::new());
        let recorder = SharedRecorder(Rc::new(RefCell::new(recorder.unwrap())));
        let host = Host::new(HostName::new("nas"), Arc::<Scene>::clone(scene)).unwrap();
        let journal = Journal::open(folder, "run").unwrap();
        HostKnobs::new(vec![host], Some(journal), recorder, Stop::default())
    }

    /// Two settings, each on or off.
    fn level(sack: bool, idle: bool) -> Level {
        let knobs = [("tcp.sack", sack), ("tcp.slow_start_after_idle", idle)];
        let settings = knobs.map(|(id, on)| Setting::Knob {
            host: HostName::new("nas"),
            target: Target::Host,
            id: KnobId::new(id),
            value: Value::Switch(on),
        });
        Level {
            name: "some".into(),
            settings: settings.into(),
        }
    }

    #[test]
    fn what_was_made_last_goes_back_first() {
        let (scene, folder) = (Scene::with(false, true), tempfile::tempdir().unwrap());
        let mut knobs = knobs(&scene, folder.path());
        for on in [false, true, false, true] {
            knobs.set(&level(on, on)).unwrap();
            assert_eq!(scene.values(), [if on { "1" } else { "0" }; 2]);
        }
        knobs.restore().unwrap();
    }

    #[test]
    fn only_what_was_changed_is_kept_over_restarts() {
        let (scene, folder) = (Scene::new(false), tempfile::tempdir().unwrap());
        let mut knobs = knobs(&scene, folder.path());
        // Both are tried, and one of them is worth it.
        knobs.set(&level(false, false)).unwrap();
        knobs.set(&level(true, false)).unwrap();
        knobs.keep(&level(true, false), Some(Vec::new())).unwrap();
        drop(knobs);
        assert_eq!(scene.values(), ["1", "0"]);
        let files = scene.files();
        assert!(
            matches!(&files[..], [file] if file.contains("slow_start_after_idle")),
            "{files:?}"
        );
    }

    #[test]
    fn what_cannot_be_kept_over_restarts_is_put_back_as_a_whole() {
        let (scene, folder) = (Scene::new(true), tempfile::tempdir().unwrap());
        let mut knobs = knobs(&scene, folder.path());
        knobs.set(&level(false, false)).unwrap();
        knobs
            .keep(&level(false, false), Some(Vec::new()))
            .unwrap_err();
        knobs.restore().unwrap();
        assert_eq!(scene.values(), ["1", "1"]);
        let open = host::journal::list_open(folder.path()).unwrap().open;
        assert_eq!(open, Vec::new());
    }

    #[test]
    fn what_was_kept_is_put_back_where_more_cannot_be_kept() {
        let (scene, folder) = (Scene::new(false), tempfile::tempdir().unwrap());
        let mut knobs = knobs(&scene, folder.path());
        knobs.set(&level(false, false)).unwrap();
        knobs.keep(&level(false, false), Some(Vec::new())).unwrap();
        assert_eq!(
            (scene.values().concat(), scene.files().len()),
            ("00".into(), 2)
        );
        knobs.restore().unwrap();
        assert_eq!(
            (scene.values().concat(), scene.files().len()),
            ("11".into(), 0)
        );
        let open = host::journal::list_open(folder.path()).unwrap().open;
        assert_eq!(open, Vec::new());
    }
}
