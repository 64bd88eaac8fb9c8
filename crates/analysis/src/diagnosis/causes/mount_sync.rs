//! A mount whose writes wait until the server has written each.

use locale::say;
use record::Direction;

use super::{Evidence, Finding, suspected_of_mount};

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let mount = seen.slow_mount()?;
    if !mount.has("sync") || !seen.mount_may_lose_in(Direction::Write) {
        return None;
    }
    let text = say("mount-sync").with("mount", mount.name());
    Some(suspected_of_mount(seen, mount, text))
}
