//! Makes and takes back a change for ever, so that tests can kill it in the middle.
//!
//! `change_until_killed NAMESPACE STATE_FOLDER NIC...` writes `ready` once the change is in the journal.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use host::Host;
use host::change::Change;
use host::exec::Local;
use host::journal::Journal;
use record::{HostName, KnobId, Setting, Target, Value};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [namespace, folder, nics @ ..] = arguments.as_slice() else {
        return Err("change_until_killed NAMESPACE STATE_FOLDER NIC...".into());
    };
    let exec = Local::with_prefix(["ip", "netns", "exec", namespace]);
    let host = Host::new(HostName::new("scratch"), Arc::new(exec))?;
    let knob = |target: &Target, id: &str, value: Value| Setting::Knob {
        host: host.name.clone(),
        target: target.clone(),
        id: KnobId::new(id),
        value,
    };
    let mut settings = vec![knob(
        &Target::Host,
        "tcp.congestion_control",
        Value::Text("reno".into()),
    )];
    for nic in nics {
        let nic = Target::Nic(nic.clone());
        settings.push(knob(&nic, "nic.mtu", Value::Integer(9000)));
        settings.push(knob(&nic, "nic.gso", Value::Switch(false)));
        settings.push(knob(&nic, "nic.tso", Value::Switch(false)));
    }
    let journal = Journal::open(Path::new(folder), "flip")?;
    let mut change = journal.begin(Change::plan(
        std::slice::from_ref(&host),
        &settings,
        "flip",
    )?)?;
    std::io::stdout().write_all(b"ready\n")?;
    loop {
        change.apply()?;
        change.revert()?;
    }
}
