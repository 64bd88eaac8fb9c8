//! Hosts as people name them, and the hosts themselves.

use std::sync::Arc;

use host::Host;
use host::exec::{Destination, Ssh};
use host::knob;
use locale::{said, say};
use record::HostName;

use crate::failure::{CommandError, Kind};
use crate::stdout_and_stderr;

/// A host's name, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// This machine.
    Local,
    /// A host of a lab.
    Lab {
        /// The lab.
        lab: String,
        /// The host in it.
        host: String,
    },
    /// A machine that is reached with the system's `ssh`.
    Ssh(Destination),
}

/// Reads `local`, `lab://LAB/HOST` and `ssh://[user@]host[:port]`.
pub fn parse(text: &str) -> Result<Named, CommandError> {
    if text == "local" {
        return Ok(Named::Local);
    }
    if let Some(destination) = Destination::parse(text) {
        return Ok(Named::Ssh(destination));
    }
    let rest = text
        .strip_prefix("lab://")
        .and_then(|rest| rest.split_once('/'));
    // The letters that names in a lab file have.
    let is_letter = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '-');
    let is_name = |name: &str| !name.is_empty() && name.chars().all(is_letter);
    match rest {
        Some((lab, host)) if is_name(lab) && is_name(host) => Ok(Named::Lab {
            lab: lab.to_owned(),
            host: host.to_owned(),
        }),
        _ => {
            let sentence = say("error-check.no-host").with("host", text);
            Err(CommandError::new(Kind::Usage, sentence).hint(say("hint-check.host")))
        }
    }
}

/// The host of that name. Says so where no setting of its system was ever tried on a real one.
pub fn open(named: &Named) -> Result<Host, CommandError> {
    let host = match named {
        Named::Local => Host::local()?,
        Named::Lab { lab, host } => lab::find(lab)?.host(host)?,
        Named::Ssh(destination) => over_ssh(destination)?,
    };
    if let Some(reason) = knob::unproven(host.system) {
        let sentence = say("told-change.unproven").with("host", host.name.to_string());
        stdout_and_stderr::say(&said(&sentence.with("reason", reason)));
    }
    Ok(host)
}

/// The name says how to reach it again, so that `undo` finds it.
fn over_ssh(destination: &Destination) -> Result<Host, host::Error> {
    let name = HostName::new(destination.to_string());
    Host::new(name, Arc::new(Ssh::connect(destination.clone())?))
}

/// Finds the host of a journalled change again. A lab that is down took its hosts with it.
pub fn resolve(name: &HostName) -> Result<Host, host::Error> {
    match parse(name.as_str()) {
        Ok(Named::Local) => Host::local(),
        // Whoever does not answer now may do so tomorrow, so that is no reason to forget a change.
        Ok(Named::Ssh(destination)) => over_ssh(&destination),
        Ok(Named::Lab { lab, host }) => match lab::find(&lab).and_then(|lab| lab.host(&host)) {
            Ok(host) => Ok(host),
            Err(lab::Error::NoSuchLab { .. } | lab::Error::NoSuchHost { .. }) => {
                Err(host::Error::HostGone {
                    name: name.clone(),
                    reason: say("error-host.lab-down").with("lab", lab),
                })
            }
            Err(error) => Err(host::Error::Unreachable {
                name: name.clone(),
                source: Box::new(error),
            }),
        },
        // A host of no such name was never changed: that line is not what linerate wrote.
        Err(error) => Err(host::Error::Unreachable {
            name: name.clone(),
            source: error.text().into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_local_or_of_a_lab_or_behind_ssh() {
        assert_eq!(parse("local").ok(), Some(Named::Local));
        let named = Named::Lab {
            lab: "demo".into(),
            host: "client".into(),
        };
        assert_eq!(parse("lab://demo/client").ok(), Some(named));
        let behind = parse("ssh://admin@nas:2222").ok();
        assert!(matches!(behind, Some(Named::Ssh(_))), "{behind:?}");
        for wrong in [
            "",
            "nas",
            "lab://",
            "lab://demo",
            "lab:///client",
            "ssh://",
            "ssh://-oProxyCommand=id",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
