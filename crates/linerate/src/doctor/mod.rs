//! `linerate doctor`: what a bug report needs of this machine, and nothing that names it.
//!
//! No name of a host, user, interface, share or folder, and no address: the report is meant to be pasted where all can
//! read it.

mod redaction;
mod report_text;

use std::collections::BTreeMap;
use std::env;
use std::process::ExitCode;
use std::time::Duration;

use host::exec::{Command, Exec, STATUS_NO_PROGRAM};
use host::{Host, journal};
use locale::{Language, said, say, text};
use os::file::{Folder, Readers};
use os::process::own_program;
use os::sandbox::{Confined, Rules};
use record::{Bytes, HostFacts, LinkState, Medium, Nic};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::args::JsonArguments;
use crate::failure::{CommandError, Kind};
use crate::inspect::{self, Looked};
use crate::{stdout_and_stderr, version};

/// What linerate runs on a host, the option by which it says its version, and the id of what it is needed for.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("ip", "-V", "doctor-use.ip"),
    ("tc", "-V", "doctor-use.tc"),
    ("ethtool", "--version", "doctor-use.ethtool"),
    ("sysctl", "--version", "doctor-use.sysctl"),
    ("testparm", "--version", "doctor-use.testparm"),
    ("iperf3", "--version", "doctor-use.iperf3"),
    ("fio", "--version", "doctor-use.fio"),
    ("ssh", "-V", "doctor-use.ssh"),
    ("smbd", "--version", "doctor-use.smbd"),
];
/// The same on Windows. PowerShell's own version would take it seconds.
const PROGRAMS_OF_WINDOWS: &[(&str, &str, &str)] = &[
    ("iperf3", "--version", "doctor-use.iperf3"),
    ("fio", "--version", "doctor-use.fio"),
    ("ssh", "-V", "doctor-use.ssh"),
];
/// Longest time that one may take for that.
const VERSION_TIME_MAX: Duration = Duration::from_secs(3);

/// All of it: what `doctor --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Report {
    build: version::Build,
    system: Part<System>,
    /// Network interfaces.
    interfaces: Part<Vec<Interfaces>>,
    /// Programs that linerate uses.
    programs: Part<Vec<Program>>,
    settings: Part<Settings>,
    sandbox: Part<Sandbox>,
    state: Part<State>,
}

/// A part of it. What fails here is often what the report is about, and is no reason to say nothing of the rest.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum Part<T> {
    Known(T),
    Failed {
        /// The kind of the failure, without its text, which may name this machine.
        #[schemars(with = "String")]
        failure: Kind,
    },
}

/// The machine.
#[derive(Debug, Serialize, JsonSchema)]
struct System {
    /// As the distribution names itself.
    name: Option<String>,
    /// Its release, as `uname -r` prints it.
    kernel: String,
    /// As Rust names it.
    architecture: &'static str,
    /// Processors that run.
    processors: u32,
    /// Memory, in bytes.
    memory_bytes: Option<Bytes>,
    /// Whether all of a check and a change can be done.
    is_root: bool,
    /// Whether the kernel can mount SMB shares; none where it does not say.
    mounts_smb: Option<bool>,
    /// Whether the kernel counts how long programs wait for disks.
    counts_disk_waits: bool,
}

/// Network interfaces that are alike.
#[derive(Debug, Serialize, JsonSchema)]
struct Interfaces {
    /// How many.
    count: usize,
    #[serde(flatten)]
    like: InterfaceKind,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
struct InterfaceKind {
    /// The driver, or the kind of a virtual one.
    driver: Option<String>,
    /// `cable`, `wireless`, `tunnel` or `bridge`; null where it is not known.
    medium: Option<&'static str>,
    /// The rate of the line, in bits a second; null where it is not known.
    bits_per_second: Option<u64>,
    /// The largest packet, in bytes.
    mtu: u32,
    /// `up`, `down` or `unknown`.
    state: &'static str,
}

/// A program that linerate uses.
#[derive(Debug, Serialize, JsonSchema)]
struct Program {
    /// Its name.
    name: &'static str,
    /// What linerate needs it for.
    used_for: String,
    /// Whether it is installed.
    is_there: bool,
    /// What it says of its version.
    version: Option<String>,
}

/// What can be read and set of the catalogue, over all interfaces, shares and mounts.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct Settings {
    /// How many can be read.
    read: usize,
    /// Of those, what nothing but missing rights keeps from being set.
    can_be_set: usize,
    /// Why others cannot be set or read, with the ids.
    refused: BTreeMap<String, Vec<&'static str>>,
}

/// What a process of linerate that reads bytes of strangers lacks here for a complete sandbox.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Sandbox {
    /// Each in a few words.
    missing: Vec<String>,
}

/// What linerate keeps on this machine.
#[derive(Debug, Serialize, JsonSchema)]
struct State {
    /// Which folder: root's, the user's, or that of the variable.
    folder: String,
    /// Run files; null where their folder is not there yet, or may not be read.
    runs: Option<usize>,
    /// Changes that are not taken back.
    open_changes: usize,
    /// Changes that cannot be read.
    damaged_changes: usize,
}

/// Runs `doctor`.
pub fn run(arguments: &JsonArguments) -> Result<ExitCode, CommandError> {
    let host = Host::local()?;
    match arguments.json {
        true => Language::English.within(|| stdout_and_stderr::print_json(&Report::of(&host))),
        false => stdout_and_stderr::print(&Report::of(&host).text()),
    }
    Ok(ExitCode::SUCCESS)
}

/// Gives up all rights and says what the system lacks for that. Only `doctor` starts it, in a process of its own.
pub fn confine() -> Result<ExitCode, CommandError> {
    let confined = os::sandbox::confine(&Rules::default()).map_err(|error| {
        CommandError::caused(Kind::Refused, say("error-change.rights-kept"), &error)
    })?;
    stdout_and_stderr::print_json(&Sandbox::of(&confined));
    Ok(ExitCode::SUCCESS)
}

impl Report {
    /// What there is to say of this machine, in the language that is spoken.
    fn of(host: &Host) -> Self {
        let looked = Part::from(inspect::read_host(host));
        Self {
            build: version::OWN,
            system: looked.and(|looked| system(&looked.facts)),
            interfaces: looked.and(|looked| interfaces(&looked.facts.nics)),
            programs: programs(&*host.exec).into(),
            settings: looked.and(settings),
            sandbox: sandbox(&*host.exec).into(),
            state: state().into(),
        }
    }
}

impl<T> From<Result<T, CommandError>> for Part<T> {
    fn from(part: Result<T, CommandError>) -> Self {
        match part {
            Ok(part) => Self::Known(part),
            Err(error) => Self::Failed {
                failure: error.kind(),
            },
        }
    }
}

impl<T> Part<T> {
    /// What follows from it.
    fn and<U>(&self, follow: impl FnOnce(&T) -> U) -> Part<U> {
        match *self {
            Self::Known(ref part) => Part::Known(follow(part)),
            Self::Failed { failure } => Part::Failed { failure },
        }
    }
}

impl Sandbox {
    fn of(confined: &Confined) -> Self {
        Self {
            missing: confined.missing().iter().map(said).collect(),
        }
    }
}

fn system(facts: &HostFacts) -> System {
    let read = os::machine::system_file;
    let named = read("/etc/os-release").and_then(|text| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("PRETTY_NAME="));
        line.map(|name| name.trim_matches('"').to_owned())
    });
    let mounts = read("/proc/filesystems").map(|text| {
        let mut names = text
            .lines()
            .filter_map(|line| line.split_whitespace().last());
        names.any(|name| name == "cifs") || has_module(&facts.kernel, "cifs")
    });
    System {
        name: named,
        kernel: facts.kernel.clone(),
        architecture: env::consts::ARCH,
        processors: facts.cores,
        memory_bytes: facts.memory,
        is_root: os::is_root(),
        mounts_smb: mounts,
        counts_disk_waits: read("/proc/pressure/io").is_some(),
    }
}

/// Whether a module of the kernel is installed.
fn has_module(kernel: &str, name: &str) -> bool {
    let list = os::machine::system_file(&format!("/lib/modules/{kernel}/modules.dep"));
    let file = format!("/{name}.ko");
    list.is_some_and(|list| {
        let mut modules = list.lines().filter_map(|line| line.split(':').next());
        modules.any(|module| module.contains(&file))
    })
}

/// Those that are alike together, so that no name is needed.
fn interfaces(nics: &[Nic]) -> Vec<Interfaces> {
    let mut counted: BTreeMap<InterfaceKind, usize> = BTreeMap::new();
    for nic in nics {
        let like = InterfaceKind {
            driver: nic.driver.clone().or_else(|| nic.kind.clone()),
            medium: nic.medium.map(|medium| match medium {
                Medium::Cable => "cable",
                Medium::Wireless => "wireless",
                Medium::Tunnel => "tunnel",
                Medium::Bridge => "bridge",
            }),
            bits_per_second: nic.shaped.or(nic.speed).map(record::BitsPerSecond::get),
            mtu: nic.mtu,
            state: match nic.state {
                LinkState::Up => "up",
                LinkState::Down => "down",
                LinkState::Unknown => "unknown",
            },
        };
        *counted.entry(like).or_default() += 1;
    }
    let counted = counted.into_iter();
    counted
        .map(|(like, count)| Interfaces { count, like })
        .collect()
}

fn programs(exec: &dyn Exec) -> Result<Vec<Program>, CommandError> {
    let known = match os::HAS_POSIX_FILES {
        true => PROGRAMS,
        false => PROGRAMS_OF_WINDOWS,
    };
    let commands: Vec<Command> = known
        .iter()
        .map(|(name, option, _)| Command::new([*name, *option]).with_timeout(VERSION_TIME_MAX))
        .collect();
    let outputs = exec.run(&commands)?;
    let programs = known.iter().zip(outputs);
    let programs = programs.map(|(&(name, _, used_for), output)| Program {
        name,
        used_for: text(used_for),
        is_there: output.status != STATUS_NO_PROGRAM,
        version: redaction::version_in(&output),
    });
    // No program, and as much the system's as they are.
    let library = Program {
        name: "libgssapi_krb5",
        used_for: text(match cfg!(target_env = "musl") {
            true => "doctor-use.kerberos-static",
            false => "doctor-use.kerberos",
        }),
        is_there: smb::has_kerberos_library(),
        version: None,
    };
    Ok(programs.chain([library]).collect())
}

fn settings(looked: &Looked) -> Settings {
    let mut all = Settings::default();
    for ((target, knob), state) in &looked.found {
        let reason = match state {
            Ok(state) => {
                all.read += 1;
                state.fixed_because.as_ref()
            }
            Err(refusal) => Some(&refusal.reason),
        };
        match reason {
            None => all.can_be_set += 1,
            Some(reason) => {
                let reason = redaction::said_nameless(reason, target);
                let ids = all.refused.entry(reason).or_default();
                if !ids.contains(&knob.id) {
                    ids.push(knob.id);
                }
            }
        }
    }
    all
}

fn sandbox(exec: &dyn Exec) -> Result<Sandbox, CommandError> {
    let language = Language::current().tag();
    let own = Command::new([&*own_program(), "--lang", language, "confined"]);
    let output = host::exec::run_one(exec, &own)?.checked(&own)?;
    serde_json::from_slice(&output.stdout).map_err(|error| {
        CommandError::caused(Kind::Internal, say("error-change.sandbox-unknown"), &error)
    })
}

fn state() -> Result<State, CommandError> {
    let own = journal::state_folder();
    let listing = match &own {
        Ok(folder) => journal::list_open(folder)?,
        Err(_) => journal::Listing::default(),
    };
    let runs = own.ok().and_then(|folder| {
        let runs = Folder::open(&folder, Readers::All).ok()?;
        let names = runs.folder("runs", Readers::All).ok()?.names().ok()?;
        Some(names.len())
    });
    // As `state_folder` takes it: an empty one names none.
    let named = env::var_os("LINERATE_STATE_DIR").filter(|folder| !folder.is_empty());
    Ok(State {
        folder: text(match (named, journal::is_of_root()) {
            (Some(_), _) => "doctor.folder-named",
            (None, true) => "doctor.folder-of-root",
            (None, false) => "doctor.folder-of-user",
        }),
        runs,
        open_changes: listing.open.len(),
        damaged_changes: listing.damaged.len(),
    })
}
