//! A server that speaks SMB 2 only.

use super::{Advice, Evidence, Finding};
use locale::say;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let session = seen.session?;
    let is_newest_offered = seen
        .share
        .is_none_or(|share| share.demands.dialect_max >= record::Dialect::Smb300);
    if !is_newest_offered || !session.dialect.starts_with("2.") {
        return None;
    }
    let is_oldest = session.dialect == "2.0.2";
    let text = say(match is_oldest {
        true => "old-dialect.small",
        false => "old-dialect",
    });
    let text = text.with("dialect", &session.dialect);
    let advice = Advice::of("fix.newer-dialect").gains(seen.gain());
    // One channel asks for as much at once by 2.1 as by 3; and requests that fill the line in one direction are not too
    // small for the other.
    let costs = is_oldest && !seen.fills();
    Some(Finding::counted(text, advice).off_path_if(!costs))
}
