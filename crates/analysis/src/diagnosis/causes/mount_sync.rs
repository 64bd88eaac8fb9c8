//! A mount whose writes wait until the server has written each.

use locale::say;
use record::Direction;

use super::{Decider, Evidence, Finding};

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let mount = seen.slow_mount()?;
    if !mount.has("sync") || !seen.mount_may_lose_in(Direction::Write) {
        return None;
    }
    let text = say("mount-sync").with("folder", &mount.folder);
    let decides = Decider::Hand("decide.mount-again");
    Some(Finding::suspected(text, decides, seen.better_mount(mount)))
}
