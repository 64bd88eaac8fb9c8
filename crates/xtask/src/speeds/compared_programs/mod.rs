//! The programs that are compared. Each run is a fresh process in the client's namespaces, is paid
//! for by the kernel's account of that process, and is believed only when the client's NICs and the
//! server's file system, or our own server, saw the same bytes.

mod cifs;
mod iperf3;
mod linerate;
mod null_server_process;
mod rclone;
mod smbclient;

use std::env;
use std::io::BufRead;
use std::path::Path;
use std::time::Duration;

use host::exec::{Command, Output, Process, run_one};
use null_server_process::NullServer;
use serde::Serialize;

use crate::lab_and_program::{Result, chain};
use crate::speeds::lan_and_files::Field;
use crate::speeds::workload::{FarEnd, Protection, Task, Workload};

/// How long one transfer may take: fifty times what it should on 1 GbE.
const RUN_LIMIT: Duration = Duration::from_secs(120);
/// Runs a command and has bash, which asks the kernel, write seconds of wall clock, user and system
/// as the last line of standard error, and GNU time, which bash cannot, the most memory in use.
const TIMED: &str = "TIMEFORMAT='cost %R %U %S'; time env time --format='memory %M' -- \"$@\"";
/// What is shown of what a program said.
const SAID_CHARACTERS_MAX: usize = 400;
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
    /// The one that people copy to clouds with.
    Rclone,
    /// Linux's own, in a guest kernel.
    Cifs,
    /// No files at all: what TCP can do, the ceiling.
    Iperf3,
}

/// All of them.
pub const ENGINES: [Engine; 5] = [
    Engine::Linerate,
    Engine::Smbclient,
    Engine::Rclone,
    Engine::Cifs,
    Engine::Iperf3,
];

/// The engines that `ENGINES` names, separated by commas; all where it names none.
pub fn chosen(only: &str) -> Result<Vec<Engine>> {
    let names = only.split([',', ' ']).filter(|name| !name.is_empty());
    let find = |name: &str| {
        let known = ENGINES.into_iter().find(|engine| engine.name() == name);
        known.ok_or_else(|| format!("there is no engine `{name}`").into())
    };
    let wanted: Vec<Engine> = names.map(find).collect::<Result<_>>()?;
    Ok(if wanted.is_empty() {
        ENGINES.to_vec()
    } else {
        wanted
    })
}

/// What one run gave.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cost {
    /// Payload that was moved.
    pub bytes: u64,
    /// How long the transfer took.
    pub seconds: f64,
    /// Time of the client's processes on cores, login and start of the program included.
    pub cpu_seconds: f64,
    /// Most memory that one process of the client had in use, in bytes.
    pub memory_bytes: u64,
}

impl Engine {
    /// What the results call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linerate => "linerate",
            Self::Smbclient => "smbclient",
            Self::Rclone => "rclone",
            Self::Cifs => "cifs",
            Self::Iperf3 => "iperf3",
        }
    }

    /// The program that it is.
    const fn program(self) -> &'static str {
        match self {
            Self::Cifs => "linux.uml",
            _ => self.name(),
        }
    }

    /// Why this machine cannot run it, if so.
    pub fn missing(self) -> Option<String> {
        let program = self.program();
        (!self.is_installed()).then(|| format!("`{program}` is not installed"))
    }

    fn is_installed(self) -> bool {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = env::split_paths(&path).chain(SYSTEM_FOLDERS.map(Into::into));
        self == Self::Linerate || { folders }.any(|folder| folder.join(self.program()).is_file())
    }

    /// Whether it can do what a workload is about.
    pub fn takes(self, workload: &Workload) -> bool {
        match self {
            // It knows our own client only.
            Self::Smbclient | Self::Rclone | Self::Cifs if workload.far_end == FarEnd::Null => {
                false
            }
            Self::Linerate | Self::Smbclient | Self::Cifs => true,
            Self::Iperf3 => workload.task == Task::File,
            // It signs with AES-CMAC only.
            Self::Rclone => workload.protection == Protection::Nothing,
        }
    }

    /// What it says its version is.
    pub fn version(self) -> String {
        if self == Self::Linerate {
            return env!("CARGO_PKG_VERSION").to_owned();
        }
        let output = run_one(
            &host::exec::Local::new(),
            &Command::new([self.program(), "--version"]),
        );
        let text = output
            .ok()
            .and_then(|output| output.text())
            .unwrap_or_default();
        text.lines().next().unwrap_or("unknown").to_owned()
    }

    /// Moves the file of a workload once. Also tells how long the server's processes were on cores
    /// meanwhile, in seconds, where they are still there afterwards.
    pub fn run(self, workload: &Workload, field: &Field) -> Result<(Cost, Option<f64>)> {
        field.make_ready(workload)?;
        if self == Self::Iperf3 {
            // Its servers end with it.
            return Ok((self.run_proven(workload, field)?, None));
        }
        let server = match workload.far_end {
            FarEnd::Samba => None,
            FarEnd::Null => Some(NullServer::start(workload, field)?),
        };
        let before = field.server_cpu_seconds()?;
        let cost = self.run_proven(workload, field)?;
        let server_cpu_seconds = field.server_cpu_seconds()? - before;
        match server {
            Some(server) => server.end(workload)?,
            None => field.check_arrived(workload)?,
        }
        Ok((cost, Some(server_cpu_seconds.max(0.0))))
    }

    /// Moves the file over the client's NICs.
    fn run_proven(self, workload: &Workload, field: &Field) -> Result<Cost> {
        let before = field.nic_bytes(workload.direction)?;
        let cost = match self {
            Self::Linerate => linerate::run(workload, field),
            Self::Smbclient => smbclient::run(workload, field),
            Self::Rclone => rclone::run(workload, field),
            Self::Cifs => cifs::run(workload, field),
            Self::Iperf3 => iperf3::run(workload, field),
        }?;
        let crossed = field.nic_bytes(workload.direction)?.saturating_sub(before);
        let wanted = match self {
            Self::Iperf3 => workload.bytes - workload.bytes / UNREAD_PART_MAX,
            _ => workload.bytes,
        };
        let Cost { bytes, .. } = cost;
        if bytes < wanted || crossed < bytes {
            let asked = workload.bytes;
            return Err(format!("moved {bytes} bytes of {asked}, NICs saw {crossed}").into());
        }
        Ok(cost)
    }
}

/// The file of this program, to start it anew.
fn this_program() -> Result<String> {
    let program = env::current_exe()?;
    let name = program.to_str();
    Ok(name
        .ok_or("the name of this program is not UTF-8")?
        .to_owned())
}

/// What is left to be read of a server's output when it has said that it is listening.
fn listening(server: &mut Process) -> Result<Box<dyn BufRead + Send>> {
    let mut output = server.take_stdout().ok_or("a server has no output")?;
    let mut line = String::new();
    while !line.contains("listening") {
        line.clear();
        if output.read_line(&mut line)? == 0 {
            return Err(format!("it does not listen: {server:?}").into());
        }
    }
    Ok(output)
}

/// Runs a command on the client that does a whole task, and takes all of its time.
fn whole(workload: &Workload, field: &Field, argv: &[&str]) -> Result<Cost> {
    let Timed {
        seconds,
        cpu_seconds,
        memory_bytes,
        ..
    } = timed(field, argv)?;
    Ok(Cost {
        bytes: workload.bytes,
        seconds,
        cpu_seconds,
        memory_bytes,
    })
}

/// A command with its standard output in a file of the client.
fn to_file<'a>(path: &'a str, argv: &[&'a str]) -> Vec<&'a str> {
    let script = "path=$1; shift; exec \"$@\" >\"$path\"";
    [&["bash", "-c", script, "to-file", path], argv].concat()
}

/// A command that ended well, and what it cost.
struct Timed {
    output: Output,
    seconds: f64,
    cpu_seconds: f64,
    memory_bytes: u64,
}

/// Runs a command on the client, which must end well.
fn timed(field: &Field, argv: &[&str]) -> Result<Timed> {
    let wrapper = ["bash", "-c", TIMED, "timed"];
    let command = Command::new(wrapper.iter().chain(argv).copied()).with_timeout(RUN_LIMIT);
    let output = run_one(field.client()?, &command).map_err(|error| {
        let said = chain(&error);
        format!("{} failed: {said}", Path::new(argv[0]).display())
    })?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let numbers = |begin: &str| -> Vec<f64> {
        let line = stderr
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix(begin));
        let words = line.unwrap_or_default().split(' ');
        words.filter_map(|number| number.parse().ok()).collect()
    };
    match (&numbers("cost ")[..], &numbers("memory ")[..]) {
        (&[seconds, user, system], &[kibibytes]) => Ok(Timed {
            seconds,
            cpu_seconds: user + system,
            memory_bytes: kibibytes as u64 * 1024,
            output,
        }),
        _ => {
            let said: String = stderr.chars().take(SAID_CHARACTERS_MAX).collect();
            Err(format!("nobody says what `{}` cost: {said}", argv[0]).into())
        }
    }
}
