//! A LAN on one Linux machine: hosts are namespaces, links are pairs of virtual NICs with a rate
//! and an MTU, switches are bridges, and the file server is a real Samba, which may be a domain controller. It hands out ordinary
//! [`host::Host`]s.
//!
//! A lab is a process, its supervisor, which the program starts from its own file. It holds every
//! namespace through a chain of processes that the kernel ends with it, and it has no file outside
//! of them: after `kill -9` of the supervisor nothing of the lab is left.

#![cfg_attr(
    not(target_os = "linux"),
    allow(
        dead_code,
        unused_imports,
        reason = "labs are made of namespaces of Linux"
    )
)]

mod error;
#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
#[cfg_attr(not(target_os = "linux"), path = "not_linux.rs")]
mod imp;
mod scenario_library;
mod topology;

use std::env;
use std::time::Duration;

use locale::say;

pub use error::Error;
#[cfg(target_os = "linux")]
pub use imp::{GuestNics, Namespace, load_client};
pub use imp::{Lab, down, find, list, supervise, up};
pub use scenario_library::{Scenario, scenario, scenarios};
pub use topology::{
    Address, DOMAIN_USERS_MAX, Domain, Effect, End, Expected, ExpectedState, FAULTS_MAX,
    FILE_BYTES_MAX, Fault, HOSTS_MAX, LINKS_MAX, Lesson, Link, MTU_DEFAULT, MTU_RANGE, Medium,
    NAME_CHARS_MAX, NETBIOS_NAME_CHARS_MAX, NIC_NAME_CHARS_MAX, OffloadName, PARAMETERS_MAX,
    PROCESSORS_RANGE, RATE_BITS_RANGE, REALM_CHARS_MAX, SHARE_BYTES_RANGE, SHARES_MAX,
    SWITCHES_MAX, Samba, Share, Switch, Topology, Traffic, Tunnel, WAKE_SECONDS_RANGE,
};

/// Where in each host of a lab the user name and password of its shares are, as `mount.cifs` reads
/// them.
pub const CREDENTIALS_IN_HOST: &str = "/run/linerate/credentials";

/// How to start a supervisor: a program with arguments, to which the lab's name is added, and
/// which then calls [`supervise`].
#[derive(Clone, Debug)]
pub struct Launcher {
    argv: Vec<String>,
}

impl Launcher {
    /// A program with its arguments.
    pub fn new<I, S>(argv: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
        }
    }

    /// The program that is running, with `arguments`.
    ///
    /// # Errors
    /// When the system does not tell its file.
    pub fn current_program(arguments: &[&str]) -> Result<Self, Error> {
        let find_error = |source| Error::System {
            action: say("error-lab.find-file"),
            subject: say("error-lab.this-program"),
            source,
        };
        let file = env::current_exe().map_err(find_error)?;
        let file = file.to_str().map(str::to_owned);
        let not_text = || std::io::Error::other("its name is not UTF-8");
        let file = file.ok_or_else(not_text).map_err(find_error)?;
        let arguments = arguments.iter().map(|&word| word.to_owned());
        Ok(Self::new([file].into_iter().chain(arguments)))
    }
}

/// A lab as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Its name.
    pub name: String,
    /// Whether it is ready.
    pub up: bool,
    /// Its hosts, then its switches.
    pub nodes: Vec<String>,
    /// Number of the supervisor's process.
    pub supervisor: Option<u32>,
    /// What went wrong since it is up.
    pub troubles: Vec<String>,
}

/// How a program that was run on a host ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// By itself, with this exit status; 128 + n when signal n ended it.
    Ended(i32),
    /// After it was told to stop, by a signal that we got and passed on.
    Stopped,
}

/// What is known about a lab that was ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// Its name.
    pub name: String,
    /// Hosts and switches whose namespaces have no process any more.
    pub nodes: usize,
    /// Processes that were in them.
    pub processes: usize,
    /// How long it took.
    pub took: Duration,
}
