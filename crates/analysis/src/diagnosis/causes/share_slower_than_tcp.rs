//! The share loses against raw TCP, and no cause of that is known.

use super::{Advice, DIRECTIONS, Evidence, Finding};
use crate::RungName;
use locale::say;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let mut directions = DIRECTIONS.into_iter();
    directions.find_map(|direction| {
        let rung = seen.rung(RungName::Share, direction)?;
        let whole = seen.rate(RungName::Tcp, direction)?;
        let share = rung.of_above.as_ref()?.value;
        seen.loses_in(RungName::Share, direction).then(|| {
            let text = say("share-slower-than-tcp")
                .with("direction", direction)
                .share("share", share)
                .rate("rate", rung.rate.as_ref().map_or(0.0, |rate| rate.value))
                .rate("whole", whole);
            Finding::counted(text, Advice::of("fix.none"))
        })
    })
}
