//! Labs on Linux: namespaces, veth pairs, bridges, `htb` and `smbd`.

mod attached_program;
mod background_load;
mod cgroup_limits;
mod fuse_slow_disk;
mod guest_kernel;
mod krb5_and_resolv_conf;
mod namespace_exec;
mod namespace_holder;
mod samba;
mod samba_domain_controller;
mod samba_paths;
mod share_user;
mod supervisor_event;
mod supervisor_process;
mod supervisor_socket;
mod tap;
mod tap_delay_line;
mod veth_links;

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use host::Host;
use host::exec::{Command, Exec, Local, Process};
use locale::say;
use record::HostName;

pub use guest_kernel::{GuestNics, load_client};
pub use namespace_exec::Namespace;
pub use supervisor_process::supervise;

use crate::topology::name_problem;
use crate::{Error, Gone, Launcher, Ran, Summary, Topology};
use supervisor_process::Report;
use supervisor_socket::{Answer, Description, Question};

/// How long a lab may take to come up. Each of its steps has a limit of its own, so this is never
/// reached unless the machine stands still.
const UP_LIMIT: Duration = Duration::from_secs(360);
/// How long a lab may take to go down.
const DOWN_LIMIT: Duration = Duration::from_secs(15);
/// How often we look whether its processes are gone.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
/// How long a supervisor that did not come up may take to say why.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Programs that a lab runs, with Debian's packages of them.
const PROGRAMS: [(&str, &str); 14] = [
    ("cat", "coreutils"),
    ("cp", "coreutils"),
    ("env", "coreutils"),
    ("mkdir", "coreutils"),
    ("tee", "coreutils"),
    ("mount", "mount"),
    ("ip", "iproute2"),
    ("tc", "iproute2"),
    ("nsenter", "util-linux"),
    ("setpriv", "util-linux"),
    ("setsid", "util-linux"),
    ("unshare", "util-linux"),
    ("iperf3", "iperf3"),
    ("uname", "coreutils"),
];
/// Programs that a lab with a Samba server runs.
const SAMBA_PROGRAMS: [(&str, &str); 2] = [("smbd", "samba"), ("smbpasswd", "samba-common-bin")];
/// Programs that a domain controller runs beside these.
const DOMAIN_PROGRAMS: [(&str, &str); 4] = [
    ("samba", "samba"),
    ("samba-tool", "samba-common-bin"),
    ("winbindd", "winbind"),
    ("wbinfo", "winbind"),
];
/// Folders of administrators' programs, which a PATH often lacks.
const SYSTEM_FOLDERS: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/// A running lab.
pub struct Lab {
    name: String,
    topology: Topology,
    nodes: BTreeMap<String, Namespace>,
}

impl fmt::Debug for Lab {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Lab")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Brings a lab up and returns when it is ready. It stays after this process has ended.
///
/// # Errors
/// When it cannot come up; then nothing of it is left.
pub fn up(name: &str, topology: &Topology, launcher: &Launcher) -> Result<Lab, Error> {
    check_name(name)?;
    require_root()?;
    require_programs(topology)?;
    let run_error = Error::running(say("error-lab.start-supervisor"), name);
    let mut argv = vec!["setsid".to_owned(), "--fork".to_owned()];
    argv.extend(launcher.argv.iter().cloned());
    argv.push(name.to_owned());
    let started = Local::new().spawn(&Command::new(argv));
    let mut supervisor = started.map_err(&run_error)?;
    match converse(&mut supervisor, topology) {
        Ok(Report::Up) => find(name),
        // The one failure that callers tell apart.
        Ok(Report::Failed(failure)) if failure.chain == [taken(name).to_string()] => {
            Err(taken(name))
        }
        Ok(Report::Failed(failure)) => {
            await_free_name(name);
            Err(Error::NotUp {
                name: name.to_owned(),
                failure,
            })
        }
        Err(source) => {
            // It has probably said why.
            let output = supervisor.wait(LAST_WORDS).map_err(&run_error)?;
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            let source = if said.is_empty() {
                source
            } else {
                io::Error::new(source.kind(), said)
            };
            Err(Error::System {
                action: say("error-lab.start-supervisor"),
                subject: name.into(),
                source,
            })
        }
    }
}

fn taken(name: &str) -> Error {
    Error::NameTaken {
        name: name.to_owned(),
    }
}

/// Gives the supervisor its topology and waits for its report.
fn converse(supervisor: &mut Process, topology: &Topology) -> io::Result<Report> {
    let pipes = (supervisor.take_stdin(), supervisor.take_stdout());
    let (Some(mut stdin), Some(stdout)) = pipes else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    stdin.write_all(topology.text().as_bytes())?;
    drop(stdin);
    let (sender, report) = mpsc::channel();
    thread::spawn(move || sender.send(supervisor_socket::read_line(stdout)));
    let timeout = |_| io::Error::from(io::ErrorKind::TimedOut);
    report.recv_timeout(UP_LIMIT).map_err(timeout)?
}

/// Ends a lab and returns when its last process is gone, and so its namespaces, interfaces and
/// files.
///
/// # Errors
/// When there is no such lab, or something of it is still there in the end.
pub fn down(name: &str) -> Result<Gone, Error> {
    check_name(name)?;
    require_root()?;
    let began = Instant::now();
    let numbers: Vec<u64> = match await_description(name)? {
        Some(description) => {
            let nodes = description.nodes.iter();
            nodes.map(|node| node.process_namespace).collect()
        }
        None => Vec::new(),
    };
    let processes = processes_in(name, &numbers)?.len();
    let (_, connection) = supervisor_socket::ask(name, &Question::Stop)?;
    await_end(connection).map_err(|source| Error::Talk {
        name: name.to_owned(),
        source,
    })?;
    loop {
        let left = processes_in(name, &numbers)?;
        if left.is_empty() {
            await_free_name(name);
            return Ok(Gone {
                name: name.to_owned(),
                nodes: numbers.len(),
                processes,
                took: began.elapsed(),
            });
        }
        if began.elapsed() > DOWN_LIMIT {
            return Err(Error::StillThere {
                name: name.to_owned(),
                processes: left,
                waited: began.elapsed(),
            });
        }
        thread::sleep(LOOK_INTERVAL);
    }
}

fn processes_in(name: &str, numbers: &[u64]) -> Result<Vec<u32>, Error> {
    namespace_exec::processes_in(numbers).map_err(|source| Error::System {
        action: say("error-lab.look-for-processes"),
        subject: name.into(),
        source,
    })
}

/// What belongs to a lab. One that is on its way up is waited for, because it would not end before
/// either. Nothing when it does not get there.
fn await_description(name: &str) -> Result<Option<Description>, Error> {
    let began = Instant::now();
    while began.elapsed() < UP_LIMIT {
        match supervisor_socket::ask(name, &Question::Describe)?.0 {
            Answer::Up(description) => return Ok(Some(description)),
            Answer::Stopping => return Ok(None),
            Answer::Starting => thread::sleep(LOOK_INTERVAL),
        }
    }
    Ok(None)
}

/// Waits until the supervisor, which never writes again, closes its connection by ending.
fn await_end(mut connection: UnixStream) -> io::Result<()> {
    connection.set_read_timeout(Some(DOWN_LIMIT))?;
    match connection.read(&mut [0]) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(()),
        Err(error) => Err(error),
    }
}

/// Waits until a supervisor that is about to end has given up its name, so that the next lab can
/// have it.
fn await_free_name(name: &str) {
    let began = Instant::now();
    let answers = || {
        !matches!(
            supervisor_socket::ask(name, &Question::Describe),
            Err(Error::NoSuchLab { .. })
        )
    };
    while answers() && began.elapsed() < DOWN_LIMIT {
        thread::sleep(LOOK_INTERVAL);
    }
}

/// All labs on this machine.
///
/// # Errors
/// When this is not root or the kernel does not tell its sockets.
pub fn list() -> Result<Vec<Summary>, Error> {
    require_root()?;
    let names = supervisor_socket::names().map_err(|source| Error::System {
        action: say("error-lab.list"),
        subject: "/proc/net/unix".into(),
        source,
    })?;
    let mut summaries = Vec::new();
    for name in names {
        // A lab that ends while we ask, or that is not root's, is none.
        if let Ok((answer, _)) = supervisor_socket::ask(&name, &Question::Describe) {
            summaries.push(summary(name, answer));
        }
    }
    Ok(summaries)
}

fn summary(name: String, answer: Answer) -> Summary {
    match answer {
        Answer::Up(description) => Summary {
            name,
            up: true,
            nodes: description
                .nodes
                .into_iter()
                .map(|node| node.name)
                .collect(),
            supervisor: Some(description.supervisor),
            troubles: description.troubles,
        },
        Answer::Starting | Answer::Stopping => Summary {
            name,
            up: false,
            nodes: Vec::new(),
            supervisor: None,
            troubles: Vec::new(),
        },
    }
}

/// A lab that is up.
///
/// # Errors
/// When there is none of this name, or it is not ready.
pub fn find(name: &str) -> Result<Lab, Error> {
    check_name(name)?;
    require_root()?;
    match supervisor_socket::ask(name, &Question::Describe)?.0 {
        Answer::Up(description) => Lab::from_description(name, &description),
        Answer::Starting | Answer::Stopping => Err(Error::Starting {
            name: name.to_owned(),
        }),
    }
}

impl Lab {
    fn from_description(name: &str, description: &Description) -> Result<Self, Error> {
        let topology = Topology::parse(&description.topology)?;
        let mut nodes = BTreeMap::new();
        for node in &description.nodes {
            let prefix = cgroup_limits::prefix(name, &node.name, &topology);
            let namespace = Namespace::of(node.holder, &prefix);
            let same = namespace
                .as_ref()
                .is_ok_and(|it| it.number() == node.process_namespace);
            let namespace = namespace.ok().filter(|_| same);
            let namespace = namespace.ok_or_else(|| Error::NoSuchLab {
                name: name.to_owned(),
                others: Vec::new(),
            })?;
            nodes.insert(node.name.clone(), namespace);
        }
        Ok(Self {
            name: name.to_owned(),
            topology,
            nodes,
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it consists of, as it was when it came up.
    #[must_use]
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// One of its hosts, named `lab://LAB/HOST`.
    ///
    /// # Errors
    /// When there is none of this name, or it is gone.
    pub fn host(&self, name: &str) -> Result<Host, Error> {
        let namespace = self.namespace(name)?.clone();
        let full_name = HostName::new(format!("lab://{}/{name}", self.name));
        let host = Host::new(full_name, Arc::new(namespace));
        host.map_err(Error::running(say("error-lab.reach"), name))
    }

    /// The namespaces of one of its hosts or switches.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn namespace(&self, name: &str) -> Result<&Namespace, Error> {
        self.nodes.get(name).ok_or_else(|| Error::NoSuchHost {
            lab: self.name.clone(),
            host: name.to_owned(),
            others: self.nodes.keys().cloned().collect(),
        })
    }

    /// Runs a program on a host or switch with our own standard input and output. Whoever asks us to end
    /// (SIGINT, SIGTERM, SIGHUP) asks the program, which we wait for; where we are killed, it is killed.
    ///
    /// # Errors
    /// When there is no such host, or the program cannot be started.
    pub fn run(&self, node: &str, argv: &[String]) -> Result<Ran, Error> {
        let ran = self.namespace(node)?.run_attached(&Command::new(argv));
        ran.map_err(Error::running(say("error-lab.run-program"), node))
    }

    /// The same with the lab's first share mounted at `/mnt/SHARE` by the SMB client of Linux itself, in a kernel that
    /// takes the host's place meanwhile. Beside who logs in, the mount gets these options. What the program prints is
    /// passed on when it has ended.
    ///
    /// # Errors
    /// When there is no such host or no share, a program that this takes is not installed, or the mount fails.
    pub fn run_mounted(&self, node: &str, options: &str, argv: &[String]) -> Result<Ran, Error> {
        let namespace = self.namespace(node)?;
        let shares = self.topology.shares();
        let share = shares.first().ok_or_else(|| Error::NoShare {
            lab: self.name.clone(),
        })?;
        require(guest_kernel::programs())?;
        let guest = guest_kernel::Guest {
            topology: &self.topology,
            node,
            namespace,
            share,
            options,
            argv,
        };
        guest.run()
    }

    /// The file with user name and password of the shares, as seen from outside. Each host has it
    /// as `/run/linerate/credentials`.
    #[must_use]
    pub fn credentials(&self) -> PathBuf {
        let inside = Path::new(namespace_holder::FOLDER).join("credentials");
        let host = self.topology.hosts.first();
        let namespace = host.and_then(|host| self.nodes.get(host));
        namespace.map_or_else(|| inside.clone(), |namespace| namespace.path(&inside))
    }
}

fn check_name(name: &str) -> Result<(), Error> {
    match name_problem(name) {
        None => Ok(()),
        Some(rule) => Err(Error::Name {
            name: name.to_owned(),
            rule,
        }),
    }
}

fn require_root() -> Result<(), Error> {
    if os::is_root() {
        Ok(())
    } else {
        Err(Error::NotRoot)
    }
}

fn require_programs(topology: &Topology) -> Result<(), Error> {
    let samba = topology.samba.iter().flat_map(|_| SAMBA_PROGRAMS);
    let domain = topology.domain().into_iter().flat_map(|_| DOMAIN_PROGRAMS);
    require(PROGRAMS.into_iter().chain(samba).chain(domain))
}

fn require(programs: impl IntoIterator<Item = (&'static str, &'static str)>) -> Result<(), Error> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path)
        .chain(SYSTEM_FOLDERS.map(PathBuf::from))
        .collect();
    for (program, package) in programs {
        if !folders.iter().any(|folder| folder.join(program).is_file()) {
            return Err(Error::NotInstalled { program, package });
        }
    }
    Ok(())
}
