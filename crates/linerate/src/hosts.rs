//! Hosts as people name them, and the hosts themselves.

use host::Host;
use record::HostName;

use crate::failure::{CommandError, Kind};

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
}

/// Reads `local` and `lab://LAB/HOST`.
pub fn parse(text: &str) -> Result<Named, CommandError> {
    if text == "local" {
        return Ok(Named::Local);
    }
    let rest = text
        .strip_prefix("lab://")
        .and_then(|rest| rest.split_once('/'));
    match rest {
        Some((lab, host)) if !lab.is_empty() && !host.is_empty() => Ok(Named::Lab {
            lab: lab.to_owned(),
            host: host.to_owned(),
        }),
        _ => Err(
            CommandError::new(Kind::Usage, format!("`{text}` is not a host"))
                .hint("write `local` or `lab://LAB/HOST`; `linerate lab list` shows the labs"),
        ),
    }
}

/// The host of that name.
pub fn open(named: &Named) -> Result<Host, CommandError> {
    match named {
        Named::Local => Ok(Host::local()?),
        Named::Lab { lab, host } => Ok(lab::find(lab)?.host(host)?),
    }
}

/// Finds the host of a journalled change again. A lab that is down took its hosts with it.
pub fn resolve(name: &HostName) -> Result<Host, host::Error> {
    let gone = |reason: String| host::Error::HostGone {
        name: name.clone(),
        reason,
    };
    match parse(name.as_str()) {
        Ok(Named::Local) => Host::local(),
        Ok(Named::Lab { lab, host }) => match lab::find(&lab).and_then(|lab| lab.host(&host)) {
            Ok(host) => Ok(host),
            Err(lab::Error::NoSuchLab { .. } | lab::Error::NoSuchHost { .. }) => Err(gone(
                format!("the lab `{lab}` is down, and its hosts went with it"),
            )),
            Err(error) => Err(host::Error::Unreachable {
                name: name.clone(),
                source: Box::new(error),
            }),
        },
        Err(error) => Err(gone(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_local_or_of_a_lab() {
        assert_eq!(parse("local").ok(), Some(Named::Local));
        let named = Named::Lab {
            lab: "demo".into(),
            host: "client".into(),
        };
        assert_eq!(parse("lab://demo/client").ok(), Some(named));
        for wrong in [
            "",
            "nas",
            "lab://",
            "lab://demo",
            "lab:///client",
            "ssh://nas",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
