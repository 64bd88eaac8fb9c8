//! The real rig: knobs through the journal of changes, trials as child processes on the client.

use std::cell::RefCell;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use experiment::{Rig, Sink, TrialLength};
use host::change::{self, Change, OpenChange};
use host::exec::Command;
use host::journal::Journal;
use host::{Host, facts};
use measure::Stop;
use record::{
    Direction, Event, Failure, FailureKind, Level, LinkState, Nanoseconds, Outcome, Record,
    Setting, Target, Timing, TrialResult, Value, Workload,
};

use crate::failure::CommandError;
use crate::path::SharePath;
use crate::runs::Recorder;

/// The field of the workload that an experiment may set.
const CHANNELS: &str = "channels";
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

/// A path to a share with its settings.
pub struct PathRig<'a> {
    path: &'a SharePath,
    hosts: Vec<Host>,
    /// None where no candidate sets a knob.
    journal: Option<Journal>,
    recorder: SharedRecorder,
    began: Instant,
    stop: Stop,
    counted: Timing,
    wash_out: Timing,
    level: Level,
    changes: Vec<Lever>,
}

/// A change in the journal that is made and taken back as the arms want it.
struct Lever {
    change: OpenChange,
    made: bool,
}

impl<'a> PathRig<'a> {
    /// A rig where nothing has been touched yet.
    pub fn new(
        path: &'a SharePath,
        journal: Option<Journal>,
        recorder: SharedRecorder,
        stop: Stop,
        counted: Timing,
    ) -> Self {
        let began = recorder.0.borrow().began();
        let short = Nanoseconds::new(counted.measured.get() / 4);
        Self {
            path,
            hosts: path.hosts().into_iter().cloned().collect(),
            journal,
            recorder,
            began,
            stop,
            counted,
            wash_out: Timing {
                measured: short,
                interval: short,
                ..counted
            },
            level: Level {
                name: "as it is".into(),
                settings: Vec::new(),
            },
            changes: Vec::new(),
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
        let planned = Change::plan(&self.hosts, &missing, &self.recorder.0.borrow().id)?;
        let mut change = journal.begin(planned)?;
        self.recorder.0.borrow_mut().event(Event::ChangeOpened {
            change: change.id().to_owned(),
        })?;
        change.apply()?;
        self.changes.push(Lever { change, made: true });
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

fn channels_in(level: &Level) -> Option<u32> {
    level.settings.iter().find_map(|setting| match setting {
        Setting::Workload {
            field,
            value: Value::Integer(count),
        } if field == CHANNELS => u32::try_from(*count).ok(),
        _ => None,
    })
}

/// An arm whose channels did not come up was not tried, so its rate says nothing about them.
fn missing_channels(workload: &Workload, result: &TrialResult) -> Option<Failure> {
    let Workload::Share(share) = workload else {
        return None;
    };
    let wanted = usize::try_from(share.channels).unwrap_or(usize::MAX);
    if result.connections.len() >= wanted {
        return None;
    }
    let mut chain = vec![format!(
        "{} of {wanted} channels came up",
        result.connections.len()
    )];
    let session = result.session.iter();
    chain.extend(session.flat_map(|session| session.rejected_channels.clone()));
    Some(Failure {
        kind: FailureKind::Refused,
        chain,
        hint: None,
    })
}

impl Rig for PathRig<'_> {
    fn read(&mut self, level: &Level) -> Result<Vec<Setting>, Failure> {
        let mut found =
            change::read_back(&self.hosts, &level.settings).map_err(CommandError::from)?;
        for setting in &mut found {
            if let Setting::Workload { field, value } = setting
                && field == CHANNELS
            {
                *value = Value::Integer(i64::from(channels_in(&self.level).unwrap_or(1)));
            }
        }
        Ok(found)
    }

    fn set(&mut self, level: &Level) -> Result<(), Failure> {
        if self.set_knobs(level)? {
            self.settle(level)?;
        }
        self.level = level.clone();
        Ok(())
    }

    fn workload(&self, level: &Level, direction: Direction, length: TrialLength) -> Workload {
        let timing = match length {
            TrialLength::Counted => self.counted,
            TrialLength::WashOut => self.wash_out,
        };
        Workload::Share(
            self.path
                .workload(direction, channels_in(level).unwrap_or(1), timing),
        )
    }

    fn trial(&mut self, workload: &Workload) -> Outcome {
        match self.path.trial(workload.clone(), &self.stop) {
            Ok(result) => match missing_channels(workload, &result) {
                None => Outcome::Measured(Box::new(result)),
                Some(failure) => Outcome::Failed(failure),
            },
            Err(failure) => Outcome::Failed(failure),
        }
    }

    fn keep(&mut self, level: &Level) -> Result<(), Failure> {
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

    fn put_back(&mut self, level: &Level) -> Result<(), Failure> {
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
        self.level = level.clone();
        match left {
            None => Ok(()),
            Some(error) => Err(CommandError::from(error).into()),
        }
    }

    fn now(&self) -> Nanoseconds {
        self.began.elapsed().into()
    }
}
