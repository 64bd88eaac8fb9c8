//! Undoing changes that stand in the journal, newest first.

use std::collections::BTreeMap;

use record::HostName;

use super::journal::{Hints, Journal, Opened};
use super::restore_unless_changed::{Foreign, Keep, Outcome, Report, Restore, untouched};
use super::settings_before_and_after::HostIdentity;
use crate::{Error, Host, knob};

/// What became of one change when it was undone.
#[derive(Debug)]
pub struct Undone {
    /// Its id.
    pub change: String,
    /// Which run made it.
    pub run: String,
    /// Its settings, newest first, and what else moved.
    pub reports: Vec<Report>,
    /// Whether nothing is left to put back, so that the change is over.
    pub closed: bool,
}

/// How to undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoMode {
    /// Look only, and say what would run.
    DryRun,
    /// Put back what is ours.
    Ours,
    /// Put back all, and forget what is on hosts that are other machines now.
    Force,
}

/// Finds a host by its name; [`Error::HostGone`] where there is none any more.
pub type Resolve<'a> = dyn Fn(&HostName) -> Result<Host, Error> + 'a;

impl Journal {
    /// Undoes the open change `id`, or all of them, newest first. A file that cannot be understood
    /// stops only its own change.
    ///
    /// # Errors
    /// When there is no such change, or the journal cannot be read. What became of each setting is
    /// in the result.
    pub fn undo(
        &self,
        id: Option<&str>,
        mode: UndoMode,
        resolve: &Resolve<'_>,
    ) -> Result<Vec<Undone>, Error> {
        let mut open = self.open_changes()?;
        open.sort_unstable();
        if let Some(wanted) = id {
            open.retain(|(number, id)| id == wanted || number.to_string() == wanted);
            if open.is_empty() {
                return Err(Error::NoSuchChange {
                    id: wanted.to_owned(),
                });
            }
        }
        // A setting and what keeps it over a restart may be two changes, and the latter goes first.
        let all = self.open_changes()?.into_iter();
        let all = all.filter_map(|(_, id)| self.read(&id).ok());
        let kept = all
            .flat_map(|(opened, _)| opened.items)
            .map(|item| (item.host, item.target, item.knob))
            .filter(|(_, _, knob)| knob::keeps(knob.as_str()));
        let kept: Vec<Keep> = kept.collect();
        let mut undone: Vec<Undone> = Vec::new();
        let mut damaged = None;
        let mut left: Vec<String> = open.into_iter().rev().map(|(_, id)| id).collect();
        loop {
            let mut not_closed = Vec::new();
            let tried = left.len();
            for id in left {
                let (opened, hints) = match self.read(&id) {
                    Ok(read) => read,
                    Err(error) => {
                        damaged = Some(error);
                        continue;
                    }
                };
                let one = self.undo_one(&opened, &hints, &kept, mode, resolve)?;
                if !one.closed {
                    not_closed.push(id);
                }
                undone.retain(|known| known.change != one.change);
                undone.push(one);
            }
            // Of two changes of one setting only one was made when it ended. What that one has set is
            // nobody else's, and once it is put back the other one finds it as before.
            if not_closed.is_empty() || not_closed.len() == tried {
                break;
            }
            left = not_closed;
        }
        match damaged {
            Some(error) if undone.is_empty() => Err(error),
            _ => Ok(undone),
        }
    }

    fn undo_one(
        &self,
        opened: &Opened,
        hints: &Hints,
        kept: &[Keep],
        mode: UndoMode,
        resolve: &Resolve<'_>,
    ) -> Result<Undone, Error> {
        let foreign = if mode == UndoMode::Force {
            Foreign::Overwrite
        } else {
            Foreign::Leave
        };
        let mut hosts = BTreeMap::new();
        let mut restarted = Vec::new();
        let mut reports = Vec::new();
        let mut abandoned = false;
        for identity in &opened.hosts {
            match look_up(identity, resolve) {
                Found::Same(host) => drop(hosts.insert(identity.name.clone(), host)),
                Found::Restarted(host) => {
                    restarted.push(identity.name.clone());
                    hosts.insert(identity.name.clone(), host);
                }
                Found::Not(outcome) => {
                    abandoned |= outcome == Outcome::OtherMachine && mode == UndoMode::Force;
                    reports.extend(untouched(opened, &identity.name, &outcome));
                }
            }
        }
        let restore = Restore {
            opened,
            after: hints.after.as_deref(),
            foreign,
            hosts: &hosts,
            kept,
            restarted: &restarted,
        };
        reports.extend(match mode {
            UndoMode::DryRun => restore.rehearse(),
            UndoMode::Ours | UndoMode::Force => restore.run(),
        });
        let is_over = |outcome: &Outcome| {
            outcome.is_settled() || (abandoned && *outcome == Outcome::OtherMachine)
        };
        let closed =
            mode != UndoMode::DryRun && reports.iter().all(|report| is_over(&report.outcome));
        if closed {
            self.close(&opened.id)?;
        }
        Ok(Undone {
            change: opened.id.clone(),
            run: opened.run.clone(),
            reports,
            closed,
        })
    }
}

enum Found {
    Same(Host),
    Restarted(Host),
    Not(Outcome),
}

fn look_up(identity: &HostIdentity, resolve: &Resolve<'_>) -> Found {
    let host = match resolve(&identity.name) {
        Ok(host) => host,
        Err(error @ Error::HostGone { .. }) => {
            return Found::Not(Outcome::Gone {
                reason: error.message(),
            });
        }
        Err(error) => {
            return Found::Not(Outcome::Failed {
                chain: error.chain(),
            });
        }
    };
    let now = match host.identity() {
        Ok(now) => now,
        Err(error) => {
            return Found::Not(Outcome::Failed {
                chain: error.chain(),
            });
        }
    };
    // An id that could not be read then or now proves nothing.
    let differ = |then: &Option<String>, now: &Option<String>| matches!((then, now), (Some(then), Some(now)) if then != now);
    if differ(&identity.machine_id, &now.machine_id) || host.system != identity.system {
        return Found::Not(Outcome::OtherMachine);
    }
    if differ(&identity.boot_id, &now.boot_id) {
        Found::Restarted(host)
    } else {
        Found::Same(host)
    }
}
