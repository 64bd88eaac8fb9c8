//! One trial: a workload gives samples and counters; the ladder.
//!
//! A trial runs in a child process on the client host. [`trial()`] is what that child does, [`Runner`]
//! is what starts it, feeds it and ends it. The far end of raw TCP is a real iperf3
//! ([`FarServer`]), the far end of a share is whatever serves it.

mod counters;
mod error;
mod folder;
mod keep;
mod ladder;
mod operations;
mod recipe;
mod runner;
mod server;
mod share;
mod stop;
mod tcp;
mod trial;

pub use error::Error;
pub use folder::fio_command;
pub use ladder::{Ladder, LadderNews, LadderPlan, LadderTrial, TcpRung};
pub use recipe::{PRESETS, Preset, preset, recipe};
pub use runner::{Kept, Runner};
pub use server::{FarServer, IPERF3_PORT};
pub use share::{agreed, demanded, login};
pub use stop::Stop;
pub use trial::{trial, trial_main};

/// Random bytes from the system.
fn fill_random(buffer: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(buffer).map_err(|error| Error::System {
        action: "get random bytes",
        source: std::io::Error::other(error.to_string()),
    })
}
