//! A mount with one connection where several are faster.

use locale::say;
use record::Rung;

use super::{Evidence, Finding, suspected_of_mount};

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let mount = seen.slow_mount()?;
    if seen.older_dialect(mount).is_some() {
        return None;
    }
    let channels = seen.channels_for(mount)?;
    let text = say("mount-one-connection")
        .with("mount", mount.name())
        .count("channels", channels);
    Some(suspected_of_mount(seen, mount, Rung::SystemClient, text))
}
