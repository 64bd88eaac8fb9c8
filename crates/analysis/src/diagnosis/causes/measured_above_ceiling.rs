//! More was measured than fits through the NICs in use.

use super::{Advice, Evidence, Finding};
use crate::RungName;
use locale::say;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let rung = seen.above_ceiling()?;
    let text = say(match rung.rung {
        RungName::Tcp => "measured-above-ceiling.tcp",
        _ => "measured-above-ceiling",
    })
    .with("direction", rung.direction)
    .rate("rate", rung.rate.as_ref()?.value)
    .rate("ceiling", seen.rate(RungName::Ceiling, rung.direction)?);
    Some(Finding::counted(text, Advice::of("fix.none")))
}
