//! Plain TCP: one stream on each link, all at once.

use std::thread;

use host::exec::{Command, Exec, Process};
use serde_json::Value;

use super::{Cost, Timed, listening, timed};
use crate::lab_and_program::Result;
use crate::speeds::lan_and_files::Field;
use crate::speeds::workload::{Direction, Lan, Workload};

pub(super) fn run(workload: &Workload, field: &Field) -> Result<Cost> {
    let servers: Result<Vec<Process>> = (0..workload.links)
        .map(|link| listen(field, link))
        .collect();
    let servers = servers?;
    let runs: Vec<Result<Cost>> = thread::scope(|scope| {
        let run = |link| scope.spawn(move || stream(workload, field, link));
        let threads: Vec<_> = (0..workload.links).map(run).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, Result<Cost>>| {
            thread
                .join()
                .unwrap_or_else(|_| Err("a thread of ours ended".into()))
        };
        threads.into_iter().map(join).collect()
    });
    drop(servers);
    let mut all = Cost {
        bytes: 0,
        seconds: 0.0,
        cpu_seconds: 0.0,
        memory_bytes: 0,
    };
    for run in runs {
        let run = run?;
        all.bytes += run.bytes;
        all.seconds = all.seconds.max(run.seconds);
        all.cpu_seconds += run.cpu_seconds;
        all.memory_bytes = all.memory_bytes.max(run.memory_bytes);
    }
    Ok(all)
}

/// A server for one test, once it listens.
fn listen(field: &Field, link: usize) -> Result<Process> {
    let address = Lan::server(link);
    let argv = [
        "iperf3",
        "--server",
        "--one-off",
        "--forceflush",
        "--bind",
        &address,
    ];
    let mut server = field.server()?.spawn(&Command::new(argv))?;
    let mut output = listening(&mut server)?;
    // What it says about its one test fits the pipe, but somebody has to hold the other end.
    thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
    Ok(server)
}

fn stream(workload: &Workload, field: &Field, link: usize) -> Result<Cost> {
    let (address, bytes) = (Lan::server(link), workload.bytes_of_link(link).to_string());
    let mut argv = vec!["iperf3", "--json", "--client", &address, "--bytes", &bytes];
    if workload.direction == Direction::Read {
        argv.push("--reverse");
    }
    let Timed {
        output,
        cpu_seconds,
        memory_bytes,
        ..
    } = timed(field, &argv)?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let received = &report["end"]["sum_received"];
    match (received["bytes"].as_u64(), received["seconds"].as_f64()) {
        (Some(bytes), Some(seconds)) if seconds > 0.0 => Ok(Cost {
            bytes,
            seconds,
            cpu_seconds,
            memory_bytes,
        }),
        _ => Err(format!("iperf3 does not say what arrived: {}", report["error"]).into()),
    }
}
