//! A mount that speaks an older dialect than the server does.

use locale::say;
use record::Rung;

use super::{Evidence, Finding, suspected_of_mount};

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let mount = seen.slow_mount()?;
    let (dialect, newer) = seen.older_dialect(mount)?;
    let text = say("mount-old-dialect")
        .with("mount", mount.name())
        .with("dialect", dialect)
        .with("newer", newer);
    Some(suspected_of_mount(seen, mount, Rung::SystemClient, text))
}
