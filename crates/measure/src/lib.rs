//! One trial: a workload gives samples and counters; the executor of the trials of a check.
//!
//! A trial runs in a child process on the client host. [`trial()`] is what that child does, [`Runner`]
//! is what starts it, feeds it and ends it. The far end of raw TCP is a real iperf3
//! ([`FarServer`]), the far end of a share is whatever serves it.

mod benchmark_recipes;
mod check_trial_executor;
mod error;
mod file_server_cpu;
mod fio_folder;
#[doc(hidden)]
pub mod fuzzing;
mod host_counters;
mod interval_sampling;
mod iperf3_client;
mod iperf3_server;
mod kept_test_file;
mod local_copy_folder;
mod page_cache_eviction;
mod path_mtu_probe;
mod queue_depth_and_latency;
mod read_copy_small_files;
mod sandboxed_worker;
mod scratch_folder;
mod second_mount;
mod share_workload;
mod socket_options;
mod stop_request;
mod tcp_and_engine_clock;
mod test_file_in_folder;
mod trial_launcher;
mod trial_process;
mod whole_file_tasks;

pub use benchmark_recipes::{PRESETS, Preset, preset, recipe, recipe_named_by_a_file};
pub use check_trial_executor::{Executed, Executor, Setup};
pub use error::{Error, message_of, ticket_hint};
pub use file_server_cpu::Serving;
pub use fio_folder::fio_command;
pub use host_counters::Counters;
pub use iperf3_server::{FarServer, IPERF3_PORT};
pub use path_mtu_probe::{MtuTarget, probe_main};
pub use sandboxed_worker::{Worker, worker_main};
pub use second_mount::{UNTRUSTED, mount_for_this_thread};
pub use share_workload::{agreed, demanded, login};
pub use stop_request::Stop;
pub use trial_launcher::{Kept, Runner};
pub use trial_process::{Failed, check, trial, trial_main};

/// What TCP knows, as it is recorded; none where the system does not say what sending waited for.
fn tcp_detail(tcp: &os::network::TcpFacts) -> Option<record::TcpDetail> {
    let sending = tcp.sending?;
    Some(record::TcpDetail {
        segment: tcp.segment,
        round_trip_min: tcp.round_trip_min.into(),
        congestion_window: tcp.congestion_window,
        far_window: tcp.far_window,
        out_of_order: tcp.out_of_order,
        busy: sending.busy.into(),
        receiver_limited: sending.receiver_limited.into(),
        sender_limited: sending.sender_limited.into(),
        sent: tcp.sent.or(tcp.acknowledged).map(record::Bytes::new),
        received: tcp.received.map(record::Bytes::new),
    })
}

/// Random bytes from the system.
fn fill_random(buffer: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(buffer).map_err(|error| Error::System {
        action: locale::say("error-measure.random"),
        source: std::io::Error::other(error.to_string()),
    })
}
