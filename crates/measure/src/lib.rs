//! One trial: a workload gives samples and counters; the executor of the trials of a check.
//!
//! A trial runs in a child process on the client host. [`trial()`] is what that child does, [`Runner`]
//! is what starts it, feeds it and ends it. The far end of raw TCP is a real iperf3
//! ([`FarServer`]), the far end of a share is whatever serves it.

mod clock;
mod cold;
mod counters;
mod error;
mod executor;
mod folder;
#[doc(hidden)]
pub mod fuzzing;
mod job;
mod keep;
mod load;
mod local_copy_folder;
mod mtu;
mod operations;
mod recipe;
mod runner;
mod scratch;
mod server;
mod serving;
mod share;
mod socket;
mod stop;
mod task;
mod tcp;
mod trial;
mod worker;

pub use error::{Error, message_of, ticket_hint};
pub use executor::{Executed, Executor, Setup};
pub use folder::fio_command;
pub use load::Counters;
pub use mtu::{MtuTarget, probe_main};
pub use recipe::{PRESETS, Preset, preset, recipe, recipe_named_by_a_file};
pub use runner::{Kept, Runner};
pub use server::{FarServer, IPERF3_PORT};
pub use serving::Serving;
pub use share::{agreed, demanded, login};
pub use stop::Stop;
pub use trial::{Failed, check, trial, trial_main};
pub use worker::Worker;
#[cfg(unix)]
pub use worker::worker_main;

/// What TCP knows, as it is recorded.
fn tcp_detail(tcp: &smb::TcpFacts) -> record::TcpDetail {
    record::TcpDetail {
        segment: tcp.segment,
        round_trip_min: tcp.round_trip_min.into(),
        congestion_window: tcp.congestion_window,
        far_window: tcp.far_window,
        out_of_order: tcp.out_of_order,
        busy: tcp.busy.into(),
        receiver_limited: tcp.receiver_limited.into(),
        sender_limited: tcp.sender_limited.into(),
        sent: tcp.sent.or(tcp.acknowledged).map(record::Bytes::new),
        received: tcp.received.map(record::Bytes::new),
    }
}

/// Random bytes from the system.
fn fill_random(buffer: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(buffer).map_err(|error| Error::System {
        action: locale::say("error-measure.random"),
        source: std::io::Error::other(error.to_string()),
    })
}
