//! Knobs that an experiment sets and takes back as its arms want it, through the journal of changes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use experiment::Sink;
use host::change::{self, Change, OpenChange};
use host::exec::Command;
use host::journal::Journal;
use host::{Host, facts};
use measure::Stop;
use record::{Event, Failure, Level, LinkState, Record, Setting, Target, Value};

use crate::failure::CommandError;
use crate::runs::Recorder;

/// How long links may take to come back after a knob was set; drivers that train anew need seconds.
const SETTLE_LIMIT: Duration = Duration::from_secs(20);
/// How often links are looked at meanwhile.
const SETTLE_LOOK: Duration = Duration::from_millis(100);

/// The run file, shared between the experiment and the rig.
#[derive(Clone, Debug)]
pub struct SharedRecorder(pub Rc<RefCell<Recorder>>);

impl Sink for SharedRecorder {
    fn append(&mut self, record: &Record) -> Result<(), record::Error> {
        self.0.borrow_mut().append_record(record)
    }
}

/// The knobs of some hosts, and what was changed of them.
pub struct Levers {
    /// The hosts.
    pub hosts: Vec<Host>,
    /// None where nothing sets a knob.
    pub journal: Option<Journal>,
    /// The run file.
    pub recorder: SharedRecorder,
    /// Asked while links settle.
    pub stop: Stop,
    changes: Vec<Lever>,
}

/// A change in the journal that is made and taken back as the arms want it.
struct Lever {
    change: OpenChange,
    made: bool,
}

impl Levers {
    /// Levers that nobody has touched yet.
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
        }
    }

    /// Makes the knobs of a level and waits until they have settled.
    pub fn set(&mut self, level: &Level) -> Result<(), CommandError> {
        if self.set_knobs(level)? {
            self.settle(level)?;
        }
        Ok(())
    }

    /// Leaves what a level sets, and puts back everything else.
    pub fn keep(&mut self, level: &Level) -> Result<(), Failure> {
        for Lever { change, made } in std::mem::take(&mut self.changes) {
            let in_level = change
                .items()
                .iter()
                .all(|item| value_in(level, item) == Some(&item.after));
            if in_level && made {
                change.keep().map_err(CommandError::from)?;
            } else {
                let id = change.id().to_owned();
                change.close().map_err(CommandError::from)?;
                self.recorder.0.borrow_mut().event(Event::ChangeUndone {
                    change: id,
                    restored: true,
                })?;
            }
        }
        Ok(())
    }

    /// Tells the hosts to set at their next start as well what stays.
    pub fn keep_over_restarts(&self, level: &Level) -> Result<(), CommandError> {
        let kept = change::kept(&self.hosts, &level.settings)?;
        let planned = Change::plan(&self.hosts, &kept, &self.recorder.0.borrow().id)?;
        let Some(journal) = self.journal.as_ref().filter(|_| !planned.is_empty()) else {
            return Ok(());
        };
        let mut change = journal.begin(planned)?;
        self.recorder.0.borrow_mut().event(Event::ChangeOpened {
            change: change.id().to_owned(),
        })?;
        change.apply()?;
        change.keep()?;
        Ok(())
    }

    /// Puts back everything.
    pub fn put_back(&mut self) -> Result<(), Failure> {
        let mut left = None;
        for Lever { change, .. } in std::mem::take(&mut self.changes).into_iter().rev() {
            let id = change.id().to_owned();
            let closed = change.close();
            let event = Event::ChangeUndone {
                change: id,
                restored: closed.is_ok(),
            };
            // What is put back counts for more than what is written down about it.
            drop(self.recorder.0.borrow_mut().event(event));
            left = left.or(closed.err());
        }
        match left {
            None => Ok(()),
            Some(error) => Err(CommandError::from(error).into()),
        }
    }

    /// Makes the knobs of a level, by the changes that are open already or by a new one.
    fn set_knobs(&mut self, level: &Level) -> Result<bool, CommandError> {
        let mut moved = false;
        // What must go back goes first: two changes may be of the same knob.
        for lever in self.changes.iter_mut().filter(|lever| lever.made) {
            let items = lever.change.items().iter();
            if !items
                .clone()
                .all(|item| value_in(level, item) == Some(&item.after))
            {
                lever.change.revert()?;
                lever.made = false;
                moved = true;
            }
        }
        for lever in self.changes.iter_mut().filter(|lever| !lever.made) {
            let items = lever.change.items().iter();
            if items
                .clone()
                .all(|item| value_in(level, item) == Some(&item.after))
            {
                lever.change.apply()?;
                lever.made = true;
                moved = true;
            }
        }
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
        let Some(journal) = &self.journal else {
            return Err(CommandError::new(
                crate::failure::Kind::Internal,
                "a knob is to be set without a journal",
            ));
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
            self.changes.push(Lever { change, made: true });
        }
        Ok(true)
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
                        thread::sleep(SETTLE_LOOK)
                    }
                    Some(nic) => {
                        let text = format!("`{}` on {} has no carrier", nic.name, host.name);
                        return Err(CommandError::new(crate::failure::Kind::Unreachable, text)
                            .hint("check the cable and the far end; `linerate undo` puts the settings back"));
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
