//! The client's processor is full, or a limit keeps its processes from running.

use super::{Advice, Evidence, Finding};
use crate::diagnosis::processor_limits::{may_be_filled_by_segments, throttled};
use locale::say;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let limited = seen.network.client.and_then(|host| throttled(seen, host));
    limited.or_else(|| {
        // The counter tells that it is full, and not of what: a slow cipher and segments that no NIC cuts are suspected
        // under their own names.
        let is_other = seen.may_be_filled_by_a_cipher() || may_be_filled_by_segments(seen);
        let busy = seen.busy_channel().filter(|_| !is_other)?;
        let text = say("client-processor").share("busy", busy);
        let advice = Advice::of("fix.client-processor").gains(seen.gain());
        Some(Finding::counted(text, advice))
    })
}
