//! A mount whose writes wait until the server has written each.

use locale::say;
use record::ProbeKind;

use super::{Evidence, Finding, suspected_of_mount};

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let mount = seen.mount()?;
    let rung = seen.costs_at(mount, ProbeKind::MountSync)?;
    let text = say("mount-sync").with("mount", mount.name());
    Some(suspected_of_mount(seen, mount, rung, text))
}
