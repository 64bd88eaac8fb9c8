//! A mount whose cache is off: each read and write of a program is a request that it waits for, and nothing is read ahead.

use locale::say;

use super::{Evidence, Finding, second_mount};

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let mount = seen.mount().filter(|mount| seen.may_lack_cache(mount))?;
    let text = say("mount-cache-off").with("mount", mount.name());
    let advice = seen.better_mount(mount).gains(seen.program_gain());
    Some(Finding::suspected(text, second_mount(seen, mount), advice))
}
