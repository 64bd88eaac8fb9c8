//! The programs that are compared. Each run is a fresh process in the client's namespaces, is paid
//! for by the kernel's account of that process, and is believed only when the client's NICs and the
//! server's file system saw the same bytes.

use std::env;
use std::path::Path;
use std::thread;
use std::time::Duration;

use host::exec::{Command, Exec, Output, Process, run_one};
use serde::Serialize;
use serde_json::Value;

use crate::Result;
use crate::field::Field;
use crate::transfer::{Done, Order};
use crate::workload::{Direction, Lan, SHARE, Signing, Workload};

/// How long one transfer may take: fifty times what it should on 1 GbE.
const RUN_LIMIT: Duration = Duration::from_secs(120);
/// Runs a command and has bash, which asks the kernel, write seconds of wall clock, user and system
/// as the last line of standard error.
const TIMED: &str = "TIMEFORMAT='cost %R %U %S'; time \"$@\"";
/// What part of its bytes iperf3 may leave in the kernel when it has written all: it counts what the
/// far end has read by then.
const UNREAD_PART_MAX: u64 = 32;
/// Folders of programs that a PATH may lack.
const SYSTEM_FOLDERS: [&str; 4] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/// A program that moves a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Our own.
    Linerate,
    /// Samba's.
    Smbclient,
    /// No files at all: what TCP can do, the ceiling.
    Iperf3,
}

/// All of them.
pub const ENGINES: [Engine; 3] = [Engine::Linerate, Engine::Smbclient, Engine::Iperf3];

/// What one run gave.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cost {
    /// Payload that was moved.
    pub bytes: u64,
    /// How long the transfer took, login and start of the program left out.
    pub seconds: f64,
    /// Time of the client's processes on cores, login and start of the program included.
    pub cpu_seconds: f64,
}

impl Engine {
    /// What the results call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linerate => "linerate",
            Self::Smbclient => "smbclient",
            Self::Iperf3 => "iperf3",
        }
    }

    /// Whether this machine has it.
    pub fn is_installed(self) -> bool {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = env::split_paths(&path).chain(SYSTEM_FOLDERS.map(Into::into));
        self == Self::Linerate || { folders }.any(|folder| folder.join(self.name()).is_file())
    }

    /// What it says its version is.
    pub fn version(self) -> String {
        if self == Self::Linerate {
            return env!("CARGO_PKG_VERSION").to_owned();
        }
        let output = run_one(
            &host::exec::Local::new(),
            &Command::new([self.name(), "--version"]),
        );
        let text = output
            .ok()
            .and_then(|output| output.text())
            .unwrap_or_default();
        text.lines().next().unwrap_or("unknown").to_owned()
    }

    /// Moves the file of a workload once.
    pub fn run(self, workload: &Workload, field: &Field) -> Result<Cost> {
        field.clear(workload)?;
        let before = field.nic_bytes(workload.direction)?;
        let cost = match self {
            Self::Linerate => linerate(workload, field),
            Self::Smbclient => smbclient(workload, field),
            Self::Iperf3 => iperf3(workload, field),
        }?;
        let crossed = field.nic_bytes(workload.direction)?.saturating_sub(before);
        let wanted = match self {
            Self::Iperf3 => workload.bytes - workload.bytes / UNREAD_PART_MAX,
            Self::Linerate | Self::Smbclient => workload.bytes,
        };
        let Cost { bytes, .. } = cost;
        if bytes < wanted || crossed < bytes {
            let asked = workload.bytes;
            return Err(format!("moved {bytes} bytes of {asked}, NICs saw {crossed}").into());
        }
        if self != Self::Iperf3 {
            field.check_arrived(workload)?;
        }
        Ok(cost)
    }
}

fn linerate(workload: &Workload, field: &Field) -> Result<Cost> {
    let order = Order {
        direction: workload.direction,
        server: Lan::server(0),
        channels: workload.links,
        signing: workload.signing,
        remote: Field::remote(workload.direction).to_owned(),
        local: Field::local(workload.direction).to_owned(),
    };
    let program = env::current_exe()?;
    let program = program
        .to_str()
        .ok_or("the name of this program is not UTF-8")?;
    let (output, cpu_seconds) = timed(
        field,
        &[program, "transfer", &serde_json::to_string(&order)?],
    )?;
    let Done { bytes, seconds } = serde_json::from_slice(&output.stdout)?;
    Ok(Cost {
        bytes,
        seconds,
        cpu_seconds,
    })
}

/// It measures the transfer as we do, from before it opens the file until it has closed it, to the
/// millisecond.
fn smbclient(workload: &Workload, field: &Field) -> Result<Cost> {
    let service = format!("//{}/{SHARE}", Lan::server(0));
    let (remote, local) = (
        Field::remote(workload.direction),
        Field::local(workload.direction),
    );
    let (task, said) = match workload.direction {
        Direction::Read => (format!("get {remote} {local}"), "getting file"),
        Direction::Write => (format!("put {local} {remote}"), "putting file"),
    };
    // Not the configuration of this machine, whose owner may have made it slow, quiet or signing.
    let mut argv = vec!["smbclient", "--configfile=/dev/null", "--debuglevel=1"];
    argv.extend(["--authentication-file", lab::CREDENTIALS_IN_HOST]);
    if workload.signing == Signing::Gmac {
        argv.push("--client-protection=sign");
    }
    argv.extend([&service, "-c", &task]);
    let (output, cpu_seconds) = timed(field, &argv)?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().find(|line| line.starts_with(said));
    let rate = line.and_then(|line| line.split_once(" (")?.1.split(' ').next());
    let kib_per_second: Option<f64> = rate.and_then(|rate| rate.parse().ok());
    let kib_per_second = kib_per_second.filter(|rate| rate.is_finite() && *rate > 0.0);
    let kib_per_second = kib_per_second.ok_or_else(|| format!("does not say its rate: {text}"))?;
    // It ended well, and that the whole file arrived is checked by whoever called us.
    let bytes = workload.bytes;
    Ok(Cost {
        bytes,
        seconds: bytes as f64 / 1024.0 / kib_per_second,
        cpu_seconds,
    })
}

/// One stream on each link, all at once.
fn iperf3(workload: &Workload, field: &Field) -> Result<Cost> {
    let share = workload.bytes / workload.links as u64;
    let servers: Result<Vec<Process>> = (0..workload.links)
        .map(|link| listen(field, link))
        .collect();
    let servers = servers?;
    let runs: Vec<Result<Cost>> = thread::scope(|scope| {
        let run = |link| scope.spawn(move || stream(workload, field, link, share));
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
    };
    for run in runs {
        let run = run?;
        all.bytes += run.bytes;
        all.seconds = all.seconds.max(run.seconds);
        all.cpu_seconds += run.cpu_seconds;
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
    let mut output = server.take_stdout().ok_or("iperf3 has no output")?;
    let mut line = String::new();
    while !line.contains("listening") {
        line.clear();
        if output.read_line(&mut line)? == 0 {
            return Err(format!("iperf3 does not listen on {address}").into());
        }
    }
    // What it says about its one test fits the pipe, but somebody has to hold the other end.
    thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
    Ok(server)
}

fn stream(workload: &Workload, field: &Field, link: usize, bytes: u64) -> Result<Cost> {
    let (address, bytes_wanted) = (Lan::server(link), bytes.to_string());
    let mut argv = vec![
        "iperf3",
        "--json",
        "--client",
        &address,
        "--bytes",
        &bytes_wanted,
    ];
    if workload.direction == Direction::Read {
        argv.push("--reverse");
    }
    let (output, cpu_seconds) = timed(field, &argv)?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let received = &report["end"]["sum_received"];
    match (received["bytes"].as_u64(), received["seconds"].as_f64()) {
        (Some(bytes), Some(seconds)) if seconds > 0.0 => Ok(Cost {
            bytes,
            seconds,
            cpu_seconds,
        }),
        _ => Err(format!("iperf3 does not say what arrived: {}", report["error"]).into()),
    }
}

/// Runs a command on the client, which must end well, and gives its time on cores.
fn timed(field: &Field, argv: &[&str]) -> Result<(Output, f64)> {
    let wrapper = ["bash", "-c", TIMED, "timed"];
    let command = Command::new(wrapper.iter().chain(argv).copied()).with_timeout(RUN_LIMIT);
    let output = run_one(field.client()?, &command).map_err(|error| {
        let said = crate::chain(&error);
        format!("{} failed: {said}", Path::new(argv[0]).display())
    })?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let cost = stderr
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("cost "));
    let numbers: Vec<f64> = cost
        .unwrap_or_default()
        .split(' ')
        .filter_map(|number| number.parse().ok())
        .collect();
    let [_, user, system] = numbers[..] else {
        return Err(format!("bash does not say what `{}` cost: {stderr}", argv[0]).into());
    };
    Ok((output, user + system))
}
