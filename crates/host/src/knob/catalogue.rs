//! Every knob there is, of all systems.

use super::{Knob, linux_catalogue, macos, windows};

/// The catalogues of the systems.
const PARTS: [&[Knob]; 3] = [linux_catalogue::KNOBS, windows::KNOBS, macos::KNOBS];

const fn count() -> usize {
    let (mut part, mut count) = (0, 0);
    while part < PARTS.len() {
        count += PARTS[part].len();
        part += 1;
    }
    count
}

const fn all() -> [Knob; count()] {
    let mut all = [linux_catalogue::KNOBS[0]; count()];
    let (mut part, mut next) = (0, 0);
    while part < PARTS.len() {
        let mut own = 0;
        while own < PARTS[part].len() {
            all[next] = PARTS[part][own];
            next += 1;
            own += 1;
        }
        part += 1;
    }
    all
}

/// The catalogue.
pub const KNOBS: &[Knob] = &all();
