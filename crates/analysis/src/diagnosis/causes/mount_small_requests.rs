//! A mount that asks for less at once than the server gives.

use locale::say;

use super::{DIRECTIONS, Decider, Evidence, Finding};

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let mount = seen.slow_mount()?;
    // An old dialect allows no more.
    if seen.older_dialect(mount).is_some() {
        return None;
    }
    let mut ways = DIRECTIONS.into_iter();
    let small = ways.find_map(|direction| {
        let is_lost = seen.mount_may_lose_in(direction);
        seen.small_request(mount, direction).filter(|_| is_lost)
    })?;
    let text = say("mount-small-requests")
        .with("folder", &mount.folder)
        .count("bytes", small.get());
    let decides = Decider::Hand("decide.mount-again");
    Some(Finding::suspected(text, decides, seen.better_mount(mount)))
}
