//! A mount that asks for less at once than the server gives.

use locale::say;

use super::{DIRECTIONS, Evidence, Finding, suspected_of_mount};

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let mount = seen.slow_mount()?;
    // An old dialect allows no more.
    if seen.older_dialect(mount).is_some() {
        return None;
    }
    let small = DIRECTIONS.into_iter().find_map(|direction| {
        let is_lost = seen.mount_may_lose_in(direction);
        seen.small_request(mount, direction).filter(|_| is_lost)
    })?;
    let text = say("mount-small-requests")
        .with("mount", mount.name())
        .count("bytes", small.get());
    Some(suspected_of_mount(seen, mount, text))
}
