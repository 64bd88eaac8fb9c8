//! Whoever is logged in over `ssh` must not saw off the branch they sit on.

use std::fs;
use std::io::{self, IsTerminal};
use std::net::IpAddr;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use host::Host;
use host::change::Change;
use host::knob::{self, Disturbance};
use locale::{said, say};
use measure::Stop;
use record::Target;

use crate::failure::{CommandError, Kind};
use crate::stdout_and_stderr;

/// Most processes between us and the one that `sshd` started.
const ANCESTORS_MAX: usize = 64;
/// Pause between two looks whether somebody asked us to stop.
const LOOK: Duration = Duration::from_millis(100);

/// The interface that a change resets and that carries the session somebody is logged in with, where
/// linerate runs on the changed host itself.
///
/// # Errors
/// When the host cannot be looked at.
pub fn at_risk(host: &Host, change: &Change) -> Result<Option<String>, CommandError> {
    let Some(address) = address_of_session() else {
        return Ok(None);
    };
    let resets = change.items().iter().filter(|item| {
        let knob = knob::find(host.system, item.knob.as_str());
        let resets = knob.is_some_and(|knob| knob.disturbs == Disturbance::LinkReset);
        resets && item.before != item.after
    });
    let reset: Vec<&str> = resets
        .filter_map(|item| match &item.target {
            Target::Nic(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    if reset.is_empty() {
        return Ok(None);
    }
    let nics = host::facts(host)?.nics.into_iter();
    let carries = nics.filter(|nic| {
        let mut addresses = nic.addresses.iter();
        addresses.any(|entry| entry.address.to_canonical() == address)
    });
    let mut names = carries.map(|nic| nic.name);
    Ok(names.find(|name| reset.contains(&name.as_str())))
}

/// Refuses where nobody could be asked afterwards.
pub fn check_terminal(nic: &str) -> Result<(), CommandError> {
    if io::stdin().is_terminal() {
        return Ok(());
    }
    let sentence = say("error-check.own-session").with("nic", nic);
    Err(CommandError::new(Kind::Refused, sentence).hint(say("hint-check.own-session")))
}

/// Asks whether the session lives. Silence is a no.
pub fn is_alive(limit: Duration, stop: &Stop) -> bool {
    let question = say("told-check.link-reset").count("seconds", limit.as_secs());
    stdout_and_stderr::say(&said(&question));
    let (answer, answered) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line);
        // Nobody listens any more when it comes too late.
        answer.send(read.is_ok_and(|bytes| bytes > 0)).ok();
    });
    let end = Instant::now() + limit;
    while Instant::now() < end && !stop.is_asked() {
        if let Ok(alive) = answered.recv_timeout(LOOK) {
            return alive;
        }
    }
    false
}

/// The address of this machine that `sshd` was reached at. `sudo` hides it, so those who started us
/// are asked as well.
fn address_of_session() -> Option<IpAddr> {
    let mut process = std::process::id();
    for _ in 0..ANCESTORS_MAX {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        if let Some(address) = server_address(&environment) {
            return Some(address);
        }
        let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        process = parent.trim().parse().ok().filter(|&parent| parent > 1)?;
    }
    None
}

/// The third word of `SSH_CONNECTION`.
fn server_address(environment: &[u8]) -> Option<IpAddr> {
    let mut variables = environment.split(|&byte| byte == 0);
    let value = variables.find_map(|variable| variable.strip_prefix(b"SSH_CONNECTION="))?;
    let words = String::from_utf8_lossy(value).into_owned();
    let address: IpAddr = words.split(' ').nth(2)?.split('%').next()?.parse().ok()?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_is_reached_at_the_third_word() {
        let address = |text: &str| server_address(text.as_bytes()).map(|ip| ip.to_string());
        let found = address("A=b\0SSH_CONNECTION=10.0.0.1 50000 10.0.0.2 22\0C=d\0");
        assert_eq!(found.as_deref(), Some("10.0.0.2"));
        let found = address("SSH_CONNECTION=::1 50000 fe80::2%eth0 22");
        assert_eq!(found.as_deref(), Some("fe80::2"));
        for none in [
            "",
            "SSH_CONNECTION=",
            "SSH_CONNECTION=a b c d",
            "XSSH_CONNECTION=1 2 ::1 4",
        ] {
            assert_eq!(address(none), None, "{none}");
        }
    }
}
