//! A mount whose cache is off: each read and write of a program is a request that it waits for, and nothing is read ahead.

use locale::say;
use record::ProbeKind;

use super::{Evidence, Finding, suspected_of_mount};

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let mount = seen.mount()?;
    let rung = seen.costs_at(mount, ProbeKind::MountCache)?;
    let text = say("mount-cache-off").with("mount", mount.name());
    Some(suspected_of_mount(seen, mount, rung, text))
}
