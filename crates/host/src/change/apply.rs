//! A change that stands in the journal: made, taken back, kept.

use std::collections::BTreeMap;
use std::time::Duration;

use locale::Message;
use record::{HostName, Setting, Value};

use super::journal::{Journal, Mark, Opened};
use super::lease::{Lease, Undo};
use super::plan::Change;
use super::read_knobs::{find, read_back, read_entries, read_states, refused};
use super::restore_unless_changed::{Foreign, Outcome, Report, Restore};
use super::settings_before_and_after::{Entry, Item};
use crate::exec;
use crate::knob::Refusal;
use crate::{Error, Host};

/// A change that stands in the journal. It can be applied and reverted any number of times. Dropped
/// without [`OpenChange::keep`], it is taken back as far as that is possible.
#[derive(Debug)]
pub struct OpenChange {
    journal: Journal,
    opened: Opened,
    hosts: BTreeMap<HostName, Host>,
    /// The snapshot as it was with the change, once it was applied.
    after: Option<Vec<Entry>>,
    lease_length: Duration,
    /// From the first command to the end of the change.
    leases: Vec<Lease>,
    /// All of it was taken back; what is found now was set by others.
    taken_back: bool,
    settled: bool,
}

impl Journal {
    /// Writes a change down, so that it can be taken back whatever happens. Nothing has been
    /// touched yet when this returns.
    ///
    /// # Errors
    /// When it is not safely on the disk.
    pub fn begin(&self, change: Change) -> Result<OpenChange, Error> {
        let opened =
            self.write_new(change.run, change.identities, change.items, change.snapshot)?;
        Ok(OpenChange {
            journal: self.clone(),
            opened,
            hosts: change.hosts,
            after: None,
            lease_length: change.lease,
            leases: Vec::new(),
            taken_back: false,
            settled: false,
        })
    }
}

impl OpenChange {
    /// Its id, for `linerate undo ID`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.opened.id
    }

    /// The settings with their values before and after.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.opened.items
    }

    /// Makes the change, reading back after every write. What is already made is left alone. When
    /// anything fails, all of it is taken back.
    ///
    /// # Errors
    /// When a setting is neither as before nor as after, a command fails, or a value does not take.
    /// [`Error::Apply`] says whether everything is as before.
    pub fn apply(&mut self) -> Result<(), Error> {
        self.taken_back = false;
        match self.try_apply() {
            Ok(()) => Ok(()),
            Err(source) => {
                // What a driver made of it instead is our doing as well.
                if let Error::NotTaken { .. } = source {
                    self.note_after().ok();
                }
                let reports = self.restore();
                Err(self.failed(source, &reports))
            }
        }
    }

    fn failed(&self, source: Error, reports: &[Report]) -> Error {
        Error::Apply {
            change: self.opened.id.clone(),
            source: Box::new(source),
            restored: reports.iter().all(|report| report.outcome.is_settled()),
        }
    }

    fn try_apply(&mut self) -> Result<(), Error> {
        let lost = self.end_lost_leases();
        let found = self.read_items()?;
        let items = self.opened.items.iter().zip(&found);
        if let Some((item, value)) = items
            .clone()
            .find(|(item, value)| **value != item.before && **value != item.after)
        {
            return Err(Error::Foreign {
                place: Box::new(item.place()),
                found: value.clone(),
                before: item.before.clone(),
                after: item.after.clone(),
            });
        }
        let missing: Vec<usize> = (0..found.len())
            .filter(|&at| found[at] != self.opened.items[at].after)
            .collect();
        if lost || !missing.is_empty() {
            self.arm()?;
        }
        for at in missing {
            self.make(&self.opened.items[at])?;
        }
        // A later setting may have taken an earlier one with it.
        for (item, value) in self.opened.items.iter().zip(self.read_items()?) {
            if value != item.after {
                return Err(not_taken(item, value, String::new()));
            }
        }
        self.note_after()
    }

    /// Whether a host may have put itself back, or may be about to.
    #[must_use]
    pub fn may_be_lost(&self) -> bool {
        self.leases.iter().any(Lease::may_be_over)
    }

    /// What a host that was silent for too long has put back is made again with a lease of its own.
    fn end_lost_leases(&mut self) -> bool {
        let leases = std::mem::take(&mut self.leases).into_iter();
        let (lost, kept): (Vec<Lease>, _) = leases.partition(Lease::may_be_over);
        self.leases = kept;
        let any = !lost.is_empty();
        lost.into_iter().for_each(Lease::end);
        any
    }

    /// Every host that we may lose gets a lease, unless it has one.
    fn arm(&mut self) -> Result<(), Error> {
        for host in self.hosts.values().filter(|host| host.exec.can_be_cut()) {
            if self.leases.iter().any(|lease| *lease.host() == host.name) {
                continue;
            }
            let own = self.opened.items.iter().rev();
            let undo = own.filter(|item| item.host == host.name).map(|item| {
                let knob = find(host, &item.knob).ok();
                let steps = item.steps.iter().rev();
                Undo {
                    print_value: knob.and_then(|knob| knob.print_value(&item.target)),
                    restore: steps.map(|step| step.undo.clone()).collect(),
                }
            });
            let undo: Vec<Undo> = undo.collect();
            let name = (self.journal.owner(), self.opened.id.as_str());
            self.leases
                .push(Lease::arm(host, name, self.lease_length, &undo)?);
        }
        Ok(())
    }

    fn make(&self, item: &Item) -> Result<(), Error> {
        let host = self.host(&item.host)?;
        let mut said = String::new();
        let place = (item.target.clone(), find(host, &item.knob)?);
        for step in &item.steps {
            let output = place.1.run(host, &item.target, &step.run)?;
            said.push_str(String::from_utf8_lossy(&output.stderr).trim());
        }
        let state = read_states(host, std::slice::from_ref(&place))?
            .into_iter()
            .next();
        let state = state.unwrap_or_else(|| Err(Refusal::none_such()));
        let state = state.map_err(|refusal| refused(host, &item.target, place.1, None, refusal))?;
        if state.value == item.after {
            tracing::info!(?item.host, ?item.knob, ?item.target, ?item.after, "set");
            Ok(())
        } else {
            Err(not_taken(item, state.value, said))
        }
    }

    fn read_items(&self) -> Result<Vec<Value>, Error> {
        let hosts: Vec<Host> = self.hosts.values().cloned().collect();
        let settings: Vec<Setting> = self.opened.items.iter().map(as_setting).collect();
        let found = read_back(&hosts, &settings)?.into_iter();
        Ok(found
            .map(|setting| match setting {
                Setting::Knob { value, .. } | Setting::Workload { value, .. } => value,
            })
            .collect())
    }

    /// Remembers the snapshot with the change, so that undo can tell our doing from others'.
    fn note_after(&mut self) -> Result<(), Error> {
        let after = read_snapshot(&self.hosts, &self.opened.snapshot)?;
        let noted = self.leases.iter().try_for_each(Lease::note);
        if self.after.as_ref() != Some(&after) {
            self.journal.mark(
                &self.opened.id,
                Mark::Applied {
                    snapshot: after.clone(),
                },
            );
            self.after = Some(after);
        }
        noted
    }

    fn host(&self, name: &HostName) -> Result<&Host, Error> {
        self.hosts
            .get(name)
            .ok_or_else(|| Error::UnknownHost { name: name.clone() })
    }

    /// Puts everything back. A host that cannot be reached any more does it by itself, which is
    /// waited for.
    fn restore(&mut self) -> Vec<Report> {
        let reports = self.try_restore();
        let (lost, other): (Vec<_>, Vec<_>) = std::mem::take(&mut self.leases)
            .into_iter()
            .partition(|lease| {
                let of_it = |report: &&Report| report.host == *lease.host();
                let mut of_it = reports.iter().filter(of_it);
                of_it.any(|report| matches!(report.outcome, Outcome::Failed { .. }))
            });
        self.leases = other;
        if lost.is_empty() {
            return reports;
        }
        for mut lease in lost {
            lease.stop_renewing();
            lease.wait_until_over();
        }
        for host in self.hosts.values() {
            host.exec.reconnect();
        }
        self.try_restore()
    }

    fn try_restore(&self) -> Vec<Report> {
        let restore = Restore {
            opened: &self.opened,
            after: self.after.as_deref(),
            foreign: Foreign::Leave,
            hosts: &self.hosts,
            kept: &[],
            restarted: &[],
        };
        let reports = restore.run();
        for report in &reports {
            tracing::info!(%report, "put back");
        }
        reports
    }

    /// Takes the change back; it can be applied again.
    ///
    /// # Errors
    /// When something is not as before in the end.
    pub fn revert(&mut self) -> Result<(), Error> {
        let reports = self.restore();
        let left: Vec<Message> = reports
            .iter()
            .filter(|report| !report.outcome.is_settled())
            .map(Report::message)
            .collect();
        self.taken_back = left.is_empty();
        if self.taken_back {
            return Ok(());
        }
        Err(Error::NotRestored {
            change: self.opened.id.clone(),
            left,
        })
    }

    /// Leaves the change as it is, when all hosts answer over new connections; it stays open in the
    /// journal until it is undone. Gives its id.
    ///
    /// # Errors
    /// When a host does not answer, or has put itself back meanwhile. Then all of it is taken back;
    /// [`Error::Apply`] says whether everything is as before.
    pub fn keep(mut self) -> Result<String, Error> {
        if let Err(source) = self.end_leases() {
            let reports = self.restore();
            let error = self.failed(source, &reports);
            self.drop_leases();
            // Nothing is left to try, and what cannot be closed stays open for `linerate undo`.
            self.settled = true;
            if matches!(error, Error::Apply { restored: true, .. }) {
                self.journal.close(&self.opened.id).ok();
            }
            return Err(error);
        }
        self.settled = true;
        self.journal.mark(&self.opened.id, Mark::Kept);
        Ok(self.opened.id.clone())
    }

    /// No host puts itself back from here on. All of them must answer before the first is let go.
    fn end_leases(&mut self) -> Result<(), Error> {
        if self.leases.is_empty() {
            return Ok(());
        }
        for lease in &mut self.leases {
            lease.stop_renewing();
        }
        for host in self.hosts.values() {
            host.exec.reconnect();
        }
        for host in self.hosts.values() {
            exec::run_one(host.exec.as_ref(), &host.knock())?;
        }
        while let Some(lease) = self.leases.last_mut() {
            lease.disarm()?;
            self.leases.pop();
        }
        Ok(())
    }

    /// A host that does not hear it finds nothing to do when it puts itself back.
    fn drop_leases(&mut self) {
        for mut lease in std::mem::take(&mut self.leases) {
            lease.disarm().ok();
        }
    }

    /// Takes the change back where it is made, and ends it.
    ///
    /// # Errors
    /// When something is not as before in the end; then it stays open.
    pub fn close(mut self) -> Result<(), Error> {
        // Whatever comes of it, once is enough: what is left is for `linerate undo`.
        self.settled = true;
        self.take_back()
    }

    fn take_back(&mut self) -> Result<(), Error> {
        // Another change of the same setting may be made meanwhile: that one is not to be judged here.
        let reverted = if self.taken_back {
            Ok(())
        } else {
            self.revert()
        };
        self.drop_leases();
        reverted?;
        self.journal.close(&self.opened.id)
    }
}

impl Drop for OpenChange {
    fn drop(&mut self) {
        if !self.settled {
            // What cannot be closed stays open, and undo will find nothing to do.
            self.take_back().ok();
        }
    }
}

fn as_setting(item: &Item) -> Setting {
    Setting::Knob {
        host: item.host.clone(),
        target: item.target.clone(),
        id: item.knob.clone(),
        value: item.after.clone(),
    }
}

fn not_taken(item: &Item, found: Value, said: String) -> Error {
    Error::NotTaken {
        place: Box::new(item.place()),
        wanted: item.after.clone(),
        found,
        said,
    }
}

/// The entries of a snapshot with their values of now; what cannot be read any more is left out.
fn read_snapshot(
    hosts: &BTreeMap<HostName, Host>,
    snapshot: &[Entry],
) -> Result<Vec<Entry>, Error> {
    let mut now = Vec::new();
    for (name, host) in hosts {
        for (entry, state) in read_entries(name, host, snapshot)? {
            if let Ok(state) = state {
                now.push(Entry {
                    value: state.value,
                    ..entry.clone()
                });
            }
        }
    }
    Ok(now)
}
