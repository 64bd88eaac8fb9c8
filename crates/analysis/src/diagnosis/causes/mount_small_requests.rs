//! A mount that asks for less at once than the server gives.

use locale::say;
use record::ProbeKind;

use super::{DIRECTIONS, Evidence, Finding, suspected_of_mount};

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let mount = seen.mount()?;
    let change = ProbeKind::MountRequests;
    let rung = seen.costs_at(mount, change)?;
    let mut directions = DIRECTIONS.into_iter();
    let direction = directions.find(|direction| seen.costs_in(mount, change, rung, *direction))?;
    let small = seen.small_request(mount, direction)?;
    let text = say("mount-small-requests")
        .with("mount", mount.name())
        .count("bytes", small.get());
    Some(suspected_of_mount(seen, mount, rung, text))
}
