//! Windows hosts that put themselves back, on a model of their registry and task scheduler.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use host::change::{Change, OpenChange, Typed, understand};
use host::exec::{Command, Exec, Output, Process};
use host::journal::{Journal, list_open};
use host::{Error, Host};
use record::{HostName, KnobId, Target};

use crate::simulated_windows_host::{Machine, Model, failed, literals, said};

const NIC: &str = "a'; calc; '\u{2019}";

/// What the host has waiting, and what is to come of the next commands.
#[derive(Debug, Default)]
struct Waiting {
    /// What takes back, while it is armed.
    undo: Option<String>,
    /// The answer to the next attempt to arm.
    answer: Option<Output>,
    /// How often the next commands that set something are cut off after they worked.
    cuts: usize,
    log: Vec<&'static str>,
    /// How the settings looked with the change.
    noted: Vec<String>,
    /// Whether its time is over before the change is noted.
    ends_before_the_note: bool,
}

/// The model behind a connection that can be cut.
#[derive(Clone)]
struct Far {
    model: Model,
    waiting: Arc<Mutex<Waiting>>,
}

impl std::fmt::Debug for Far {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Far")
    }
}

impl Far {
    fn new() -> Self {
        Self {
            model: Model::new(NIC),
            waiting: Arc::default(),
        }
    }

    fn host(&self) -> Host {
        Host::new(HostName::new("ssh://windows"), Arc::new(self.clone())).unwrap()
    }

    fn with<T>(&self, look: impl FnOnce(&mut Waiting) -> T) -> T {
        look(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn log(&self) -> Vec<&'static str> {
        self.with(|waiting| waiting.log.clone())
    }

    /// The settings of the script that takes back: how each looks, and what takes it back.
    fn settings(undo: &str) -> Vec<(String, Vec<String>)> {
        let settings = undo.split("$place = ").skip(1).map(|setting| {
            let look = literals(setting, "$look = { & ([scriptblock]::Create(").remove(0);
            (look, literals(setting, "try { & ([scriptblock]::Create("))
        });
        settings.collect()
    }

    /// What the task does when nobody gives a sign of life.
    fn fire(&self) {
        let undo = self
            .with(|waiting| waiting.undo.take())
            .expect("it is armed");
        let noted = self.with(|waiting| waiting.noted.clone());
        for (at, (look, back)) in Self::settings(&undo).into_iter().enumerate() {
            let now = self.model.with(|machine| machine.print_value(&look));
            if noted.get(at).is_none_or(|noted| *noted == now) {
                for script in back {
                    self.model.with(|machine| machine.set(&script));
                }
            }
        }
    }

    fn answer(&self, command: &Command) -> Result<Output, Error> {
        let script = command.argv.get(4).map_or("", String::as_str);
        let note = |word| self.with(|waiting| waiting.log.push(word));
        if script.starts_with("$name = ") {
            return Ok(self.lease(script));
        }
        if script.is_empty() && command.argv.len() == 5 {
            note("knock");
            return Ok(said(""));
        }
        let output = self.model.answer(command);
        if command.argv[0] == "powershell.exe"
            && !script.starts_with("ConvertTo-Json")
            && !script.starts_with('(')
        {
            note("set");
            if self.with(|waiting| waiting.cuts > 0) {
                self.with(|waiting| waiting.cuts -= 1);
                return Err(Error::Timeout {
                    argv: command.argv.clone(),
                    limit: command.timeout,
                });
            }
        }
        Ok(output)
    }

    fn lease(&self, script: &str) -> Output {
        self.with(|waiting| {
            if script.contains("Register-ScheduledTask") {
                waiting.log.push("arm");
                let undo = literals(script, "$undo = ").remove(0);
                return waiting.answer.take().unwrap_or_else(|| {
                    waiting.undo = Some(undo);
                    said("armed\n")
                });
            }
            let is_armed = waiting.undo.is_some();
            if script.contains("'noted'") {
                waiting.log.push("note");
                if waiting.ends_before_the_note {
                    waiting.undo = None;
                    // What is not there has no values, and only what looks for them finds that out.
                    let looks = script.contains("$null -eq $key.GetValue('armed')");
                    return match looks {
                        true => said("over\r\n"),
                        false => failed(1, "You cannot call a method on a null-valued expression."),
                    };
                }
                let settings = Self::settings(waiting.undo.as_deref().unwrap_or_default());
                let looks = settings
                    .iter()
                    .map(|(look, _)| self.model.with(|machine| machine.print_value(look)));
                waiting.noted = looks.collect();
                return said("noted\r\n");
            }
            if script.contains("'disarmed'") {
                waiting.log.push("disarm");
                waiting.undo = None;
                said(if is_armed { "disarmed\r\n" } else { "over\r\n" })
            } else {
                waiting.log.push("renew");
                said(if is_armed { "renewed\r\n" } else { "over\r\n" })
            }
        })
    }
}

impl Exec for Far {
    fn run(&self, commands: &[Command]) -> Result<Vec<Output>, Error> {
        commands
            .iter()
            .map(|command| self.answer(command))
            .collect()
    }

    fn spawn(&self, command: &Command) -> Result<Process, Error> {
        Err(Error::NotRecorded {
            argv: command.argv.clone(),
        })
    }

    fn can_be_cut(&self) -> bool {
        true
    }

    fn reconnect(&self) {
        self.with(|waiting| waiting.log.push("reconnect"));
    }
}

fn begin(far: &Far, journal: &Journal) -> OpenChange {
    let host = far.host();
    let typed = [("nic.mtu", "9000"), ("nic.rss", "off")].map(|(id, value)| Typed {
        target: Target::Nic(NIC.into()),
        knob: KnobId::new(id),
        value: value.into(),
    });
    let settings = understand(&host, &typed).unwrap();
    let change = Change::plan(std::slice::from_ref(&host), &settings, "test").unwrap();
    journal
        .begin(change.with_lease(Duration::from_secs(60)))
        .unwrap()
}

/// Begins a change and applies it; what became of it, and the machine before.
fn apply(far: &Far) -> (tempfile::TempDir, OpenChange, Result<(), Error>, Machine) {
    let folder = tempfile::tempdir().unwrap();
    let before = far.model.now();
    let journal = Journal::open(folder.path(), "test").unwrap();
    let mut open = begin(far, &journal);
    let applied = open.apply();
    (folder, open, applied, before)
}

#[test]
fn it_is_armed_before_the_first_change_and_ended_over_a_new_connection() {
    let far = Far::new();
    let (folder, open, applied, before) = apply(&far);
    applied.unwrap();
    assert_eq!(far.log(), ["arm", "set", "set", "note"]);
    open.keep().unwrap();
    assert_eq!(far.log()[4..], ["reconnect", "knock", "disarm"]);
    assert!(far.model.now() != before);
    assert!(list_open(folder.path()).unwrap().open[0].kept);
}

#[test]
fn what_it_holds_puts_the_host_back_and_the_change_is_not_kept() {
    let far = Far::new();
    let (folder, open, applied, before) = apply(&far);
    applied.unwrap();
    far.fire();
    assert!(far.model.now() == before, "{:#?}", far.model.now());
    let error = open.keep().unwrap_err();
    let Error::Apply {
        source,
        restored: true,
        ..
    } = &error
    else {
        panic!("{error}")
    };
    assert!(matches!(**source, Error::LeaseOver { .. }), "{source}");
    assert!(list_open(folder.path()).unwrap().open.is_empty());
}

#[test]
fn a_lease_that_is_over_before_the_change_is_noted_is_said_to_be_over() {
    let far = Far::new();
    far.with(|waiting| waiting.ends_before_the_note = true);
    let (_folder, _open, applied, before) = apply(&far);
    let error = applied.unwrap_err();
    let Error::Apply {
        source,
        restored: true,
        ..
    } = &error
    else {
        panic!("{error}")
    };
    assert!(matches!(**source, Error::LeaseOver { .. }), "{source}");
    assert!(far.model.now() == before, "{:#?}", far.model.now());
}

#[test]
fn what_somebody_else_has_set_since_is_left_alone() {
    let far = Far::new();
    let (_folder, _open, applied, before) = apply(&far);
    applied.unwrap();
    far.model.with(|machine| machine.mtu[0] = 4000);
    far.fire();
    let now = far.model.now();
    assert_eq!(
        (now.mtu, &now.properties["*JumboPacket"].value[..]),
        ([4000, 9000], "9014")
    );
    assert_eq!(now.properties["*RSS"], before.properties["*RSS"]);
}

#[test]
fn a_host_that_cannot_wait_or_is_held_by_another_is_not_touched() {
    for (answer, held) in [
        (said("held process 7 on `other`\u{1b}[2J\r\n"), true),
        (failed(1, "Access is denied."), false),
        (said("<html>"), false),
        (said(vec![0xff; 10_000]), false),
        (said(""), false),
    ] {
        let far = Far::new();
        far.with(|waiting| waiting.answer = Some(answer));
        let (_folder, open, applied, before) = apply(&far);
        let error = applied.unwrap_err();
        let Error::Apply {
            source,
            restored: true,
            ..
        } = &error
        else {
            panic!("{error}")
        };
        match &**source {
            Error::HostHeld { holder, .. } => {
                assert!(held && holder == "process 7 on `other`[2J", "{holder}");
            }
            Error::NoLease { reason, .. } => {
                assert!(!held && !reason.contains(char::is_control), "{reason}");
            }
            other => panic!("{other}"),
        }
        assert_eq!(far.log(), ["arm"]);
        assert!(far.model.now() == before);
        drop(open);
    }
}

#[test]
fn a_restart_of_the_adapter_that_cuts_the_connection_is_no_failure() {
    let far = Far::new();
    far.with(|waiting| waiting.cuts = 1);
    let (_folder, open, applied, before) = apply(&far);
    applied.unwrap();
    assert_eq!(far.log(), ["arm", "set", "reconnect", "set", "set", "note"]);
    open.close().unwrap();
    assert!(far.model.now() == before);
}
