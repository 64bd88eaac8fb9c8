//! The client's disk, to which a copy goes.

use locale::say;
use record::Direction;

use super::{Advice, Evidence, Finding};
use crate::RungName;
use crate::diagnosis::copies_and_small_files;
use crate::rung_and_probe_verdict::Loss;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    // A folder that was only at hand was not asked about.
    copies_and_small_files::asked_folder(seen)?;
    let rung = seen.rung(RungName::Copy, Direction::Read)?;
    let copy = rung.rate.as_ref()?.value;
    if rung.loss != Some(Loss::Loses) || copies_and_small_files::is_in_memory(seen) {
        return None;
    }
    let text = say("local-disk")
        .with("place", copies_and_small_files::place(seen)?)
        .rate("copy", copy)
        .share("share", rung.of_above.as_ref()?.value);
    let advice = Advice::of("fix.faster-local-disk").commands(["iostat -x 1".to_owned()]);
    // What is lost before a copy goes anywhere is lost without this disk.
    Some(Finding::counted(text, advice).off_path_if(seen.lost().is_some()))
}
