//! Facts of a host that a check can do without: one that fails or takes too long costs itself, never the run.

use std::sync::Arc;
use std::time::Duration;

use host::Host;
use host::exec::{Command, Exec, Output, Process};
use record::{HostFacts, HostName, MissingFact, Setting};

use crate::failure::CommandError;
use crate::inspect::{self, Part};

/// Longest time that one command of a collector may take.
const COMMAND_TIME_MAX: Duration = Duration::from_secs(5);
/// What `testparm` tells.
const SMB_CONF: &str = "smb.conf";
/// All other settings of a host.
const SETTINGS: &str = "settings";

/// A host whose commands are given up soon.
#[derive(Debug)]
struct Impatient(Arc<dyn Exec>);

impl Exec for Impatient {
    fn run(&self, commands: &[Command]) -> Result<Vec<Output>, host::Error> {
        let commands = commands.iter().map(|command| {
            let limit = command.timeout.min(COMMAND_TIME_MAX);
            command.clone().with_timeout(limit)
        });
        self.0.run(&commands.collect::<Vec<_>>())
    }

    fn spawn(&self, command: &Command) -> Result<Process, host::Error> {
        self.0.spawn(command)
    }

    fn is_this_machine(&self) -> bool {
        self.0.is_this_machine()
    }

    fn can_be_cut(&self) -> bool {
        self.0.can_be_cut()
    }

    fn reconnect(&self) {
        self.0.reconnect();
    }
}

/// The same host, for collectors.
pub fn impatient(host: &Host) -> Host {
    Host {
        exec: Arc::new(Impatient(host.exec.clone())),
        ..host.clone()
    }
}

/// A fact that could not be had.
pub fn missing(host: &HostName, fact: &str, error: &CommandError) -> MissingFact {
    MissingFact {
        host: host.clone(),
        fact: fact.to_owned(),
        reason: error.text(),
    }
}

/// All settings of a host that can be read. Those that `testparm` tells are asked for apart, and last: it hangs on
/// a name service that does not answer, and prints more than some paths let through.
pub fn settings(host: &Host, facts: &HostFacts) -> (Vec<Setting>, Vec<MissingFact>) {
    let host = &impatient(host);
    let mut settings = match inspect::settings_of(host, facts, Part::Rest) {
        Ok(settings) => settings,
        // A host that does not answer to this answers to nothing.
        Err(error) => return (Vec::new(), vec![missing(&host.name, SETTINGS, &error)]),
    };
    match inspect::settings_of(host, facts, Part::Samba) {
        Ok(samba) => settings.extend(samba),
        Err(error) => return (settings, vec![missing(&host.name, SMB_CONF, &error)]),
    }
    (settings, Vec::new())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use host::exec::Local;
    use record::{KnobId, Value};

    use super::*;

    /// A host whose `testparm` is this script, and that says so.
    fn host_with(testparm: &str) -> (Host, tempfile::TempDir) {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("testparm");
        std::fs::write(&program, format!("#!/bin/sh\n{testparm}\n")).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let path = format!("PATH={}:{}", folder.path().display(), env!("PATH"));
        let exec = Local::with_prefix(["env".to_owned(), path]);
        let host = Host::new(HostName::new("nas"), Arc::new(exec)).unwrap();
        (host, folder)
    }

    #[test]
    fn a_program_that_never_ends_costs_what_it_tells() {
        let is_samba = |setting: &Setting| {
            let Setting::Knob { id, .. } = setting else {
                panic!("{setting:?}")
            };
            id.as_str().starts_with("smb.server.")
        };
        let (host, _folder) = host_with("sleep 1000");
        let facts = host::facts(&host).unwrap();
        let begun = Instant::now();
        let (settings, missing) = settings(&host, &facts);
        assert!(begun.elapsed() < 3 * COMMAND_TIME_MAX);
        let [lost] = &missing[..] else {
            panic!("{missing:?}")
        };
        assert_eq!(
            (lost.host.to_string(), lost.fact.as_str()),
            ("nas".to_owned(), SMB_CONF)
        );
        assert!(lost.reason.contains("testparm"), "{lost:?}");
        assert!(
            !settings.is_empty() && !settings.iter().any(is_samba),
            "{settings:?}"
        );
        // One that ends costs nothing.
        let (host, _folder) = host_with("printf '[global]\\n\\tsmb2 max credits = 512\\n'");
        let (settings, missing) = super::settings(&host, &facts);
        assert_eq!(missing, []);
        let credits = settings.iter().find_map(|setting| match setting {
            Setting::Knob { id, value, .. } if *id == KnobId::new("smb.server.credits") => {
                Some(value)
            }
            _ => None,
        });
        assert_eq!(credits, Some(&Value::Integer(512)));
    }
}
