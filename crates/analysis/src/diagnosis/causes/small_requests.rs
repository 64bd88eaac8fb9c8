//! A server that takes small requests only.

use locale::{Message, say};
use record::{Direction, Target, Value};

use super::{Advice, Decider, Evidence, Finding, setting};
use crate::RungName;

/// Requests that are smaller cost more in asking than in bytes.
const REQUEST_BYTES_MIN: u64 = 256 << 10;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let small = small(seen)?;
    // What costs nothing of what was measured is no fault: it is remarked.
    let mut kinds = small.kinds.iter();
    if !kinds.any(|direction| seen.may_lose_in(RungName::Share, *direction)) {
        return None;
    }
    let settings = small.kinds.iter().filter_map(|direction| {
        let id = format!("smb.server.max_{}", direction.as_str());
        setting(
            seen.network.server,
            Target::Host,
            &id,
            Value::Integer(8 << 20),
        )
    });
    let advice = Advice::of("fix.larger-requests")
        .gains(seen.gain())
        .sets(settings);
    let text = small.said_by(say("small-requests"));
    // We cannot ask for more than the server takes; half of it shows what the size costs.
    Some(Finding::suspected(text, Decider::Probe, advice))
}

/// Requests of which the server takes small ones only.
pub(in crate::diagnosis) struct Small {
    pub(in crate::diagnosis) kinds: Vec<Direction>,
    /// Bytes of the largest of them.
    most: u64,
}

impl Small {
    pub(in crate::diagnosis) fn said_by(&self, text: Message) -> Message {
        let kinds = self.kinds.iter().map(|kind| kind.as_str().to_owned());
        let text = text.with("kinds", kinds.collect::<Vec<_>>());
        text.bytes("bytes", self.most)
    }
}

/// Those that are small, where the dialect has larger ones.
pub(in crate::diagnosis) fn small(seen: &Evidence) -> Option<Small> {
    let session = seen.session.filter(|it| !it.dialect.starts_with("2.0"))?;
    let sizes = [
        (Direction::Read, session.read_max.get()),
        (Direction::Write, session.write_max.get()),
    ];
    let small = sizes.iter().filter(|(_, most)| *most < REQUEST_BYTES_MIN);
    Some(Small {
        most: small.clone().map(|(_, most)| *most).max()?,
        kinds: small.map(|(direction, _)| *direction).collect(),
    })
}
