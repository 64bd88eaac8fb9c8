//! A link that has what it takes and at which nothing answers, so that it lies idle for everybody. (One that only the
//! client's one connection leaves idle is no fault, see `opportunities::idle`.)

use locale::say;
use record::Rung;

use super::{Advice, Evidence, Finding};

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let first = seen.used_proof()?;
    let is_tried = first.answered.is_some() || first.far_mtu.is_some();
    let pair = seen.usable.iter().find(|pair| {
        let is_other = seen
            .used
            .iter()
            .all(|used| used != *pair && used.remote != pair.remote);
        is_other && is_tried && seen.is_dead(pair.near, pair.remote)
    })?;
    // What several channels used is not dead.
    let channels = seen
        .trials
        .iter()
        .filter(|trial| trial.rung == Rung::Channels);
    if channels
        .flat_map(|trial| &trial.pairs)
        .any(|used| used == pair)
    {
        return None;
    }
    let text = say("one-link-idle.dead")
        .with("nic", &pair.near.name)
        .with("remote", pair.remote);
    let advice = Advice::new(say("fix.dead-link").with("nic", &pair.near.name))
        .commands([format!("ethtool {}", pair.near.name)]);
    Some(Finding::counted(text, advice).off_path())
}
