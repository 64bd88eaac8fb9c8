//! A NIC whose link goes down for a moment: what it says meanwhile is not what it will be, and what it
//! is told meanwhile is forgotten when its link is up again.

use std::thread;
use std::time::{Duration, Instant};

use record::{System, Target};

use crate::exec::{self, Command, Output};
use crate::knob::{Disturbance, Knob};
use crate::tool_output::ip;
use crate::{Error, Host};

/// Longest time until a link is back: both ends of 10GBASE-T take several seconds to agree.
const LIMIT: Duration = Duration::from_secs(10);
/// Longest time until Windows lets us in again over an adapter that it restarted.
const RESTART_LIMIT: Duration = Duration::from_secs(20);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

impl Knob {
    /// Runs a command that sets it, and waits until the link is back that this may have cost.
    ///
    /// # Errors
    /// When the command cannot be run or fails, or the link stays away.
    pub(crate) fn run(
        &self,
        host: &Host,
        target: &Target,
        command: &Command,
    ) -> Result<Output, Error> {
        match (target, host.system) {
            _ if self.disturbs != Disturbance::LinkReset => {
                exec::run_one(host.exec.as_ref(), command)
            }
            (Target::Nic(nic), System::Linux) => run_and_wait(host, nic, command),
            (_, System::Windows) => run_again(host, command),
            _ => exec::run_one(host.exec.as_ref(), command),
        }
    }
}

fn run_and_wait(host: &Host, nic: &str, command: &Command) -> Result<Output, Error> {
    let look = Command::new(["ip", "-j", "-d", "addr", "show"]);
    let batch = [look.clone(), command.clone(), look.clone()];
    let mut outputs = host.exec.run(&batch)?.into_iter();
    let had_carrier = has_carrier(nic, outputs.next().as_ref());
    let said = outputs.next().ok_or_else(|| Error::Unreadable {
        argv: command.argv.clone(),
    })?;
    let said = said.checked(command)?;
    let mut now = outputs.next();
    let began = Instant::now();
    while had_carrier && !has_carrier(nic, now.as_ref()) {
        if began.elapsed() > LIMIT {
            return Err(Error::LinkStaysDown {
                host: host.name.clone(),
                nic: nic.to_owned(),
                waited: LIMIT,
            });
        }
        thread::sleep(LOOK_AGAIN);
        now = host.exec.run(std::slice::from_ref(&look))?.pop();
    }
    Ok(said)
}

/// Windows ends the connections of an adapter that it restarts, also the one over which it was asked
/// to. What was asked for is absolute, so it can be asked for again over a new connection.
fn run_again(host: &Host, command: &Command) -> Result<Output, Error> {
    let is_lost = |error: &Error| matches!(error, Error::Ssh { .. } | Error::Timeout { .. });
    let began = Instant::now();
    loop {
        match exec::run_one(host.exec.as_ref(), command) {
            Err(error) if is_lost(&error) && began.elapsed() < RESTART_LIMIT => {
                thread::sleep(LOOK_AGAIN);
                host.exec.reconnect();
            }
            done => return done,
        }
    }
}

fn has_carrier(nic: &str, output: Option<&Output>) -> bool {
    let links = output.and_then(|output| ip::links(&output.stdout));
    let mut links = links.unwrap_or_default().into_iter();
    links.any(|link| link.name == nic && link.has_carrier)
}
