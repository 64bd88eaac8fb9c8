//! A private Samba server inside one host of a lab.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use host::exec::{Command, Exec, Process};
use locale::{Message, say};

use super::fuse_slow_disk::{Disk, Pace};
use super::namespace_holder::{FOLDER, Node};
use super::samba_paths::{folder, own_folder};
use super::share_user::{Account, USER_ID, WORKGROUP};
use super::{cgroup_limits, samba_domain_controller};
use crate::topology::USER;
use crate::{Error, Medium, Samba, Share, Topology};

/// Where clients find it.
const PORT: u16 = 445;
/// How long it may take until it answers.
const READY_LIMIT: Duration = Duration::from_secs(20);
/// How often we knock.
const KNOCK_INTERVAL: Duration = Duration::from_millis(20);
/// How long one knock may take.
const KNOCK_LIMIT: Duration = Duration::from_millis(500);
/// How much of its log an error shows.
const LOG_TAIL_BYTES: u64 = 1500;
/// What a NIC without a line rate is said to have: more than anything else in a lab.
const SPEED_UNLIMITED: u64 = 100_000_000_000;
/// How long adding a user may take.
const USER_LIMIT: Duration = Duration::from_secs(30);
/// Folders that Samba has settings for; all of them are its own here.
const FOLDERS: [&str; 8] = [
    "private dir",
    "lock directory",
    "state directory",
    "cache directory",
    "pid directory",
    "ncalrpc dir",
    "binddns dir",
    "ntp signd socket directory",
];

/// A server that is up.
pub(crate) struct Server {
    _process: Process,
    disks: Vec<Disk>,
}

impl Server {
    /// From now on its disks are as slow as they are meant to be.
    pub(crate) fn slow_down(&self) {
        self.disks.iter().for_each(Disk::slow_down);
    }
}

/// Starts the server of a topology that has one, and returns when it answers on every address.
pub(crate) fn start(
    lab: &str,
    topology: &Topology,
    nodes: &[Node],
    account: &Account,
) -> Result<Option<Server>, Error> {
    let Some(samba) = &topology.samba else {
        return Ok(None);
    };
    let Some(node) = nodes.iter().find(|node| node.name == samba.host) else {
        return Ok(None);
    };
    let configuration = configuration_path();
    let disks = prepare(lab, samba, node)?;
    node.write(&configuration, 0o644, &configuration_text(topology, samba))?;
    // Samba's own tools, and whoever looks at the host, find it where it usually is.
    let usual = ["ln", "-sfT", &configuration, "/etc/samba/smb.conf"];
    let folder = Command::new(["mkdir", "-p", "/etc/samba"]);
    node.run(
        say("error-lab.show-configuration"),
        &[folder, Command::new(usual)],
    )?;
    let (daemon, ports) = match &samba.domain {
        None => ("smbd", vec![PORT]),
        Some(domain) => {
            samba_domain_controller::provision(topology, domain, node, &configuration)?;
            (
                "samba",
                [&[PORT], samba_domain_controller::PORTS.as_slice()].concat(),
            )
        }
    };
    let users = samba.domain.iter().flat_map(|domain| &domain.users);
    for user in [USER].into_iter().chain(users.map(String::as_str)) {
        let add = Command::new(["smbpasswd", "-c", &configuration, "-a", "-s", user]);
        let add = add.with_stdin(format!("{0}\n{0}\n", account.password));
        node.run(say("error-lab.add-user"), &[add.with_timeout(USER_LIMIT)])?;
    }

    let command = Command::new([daemon, "-F", "--no-process-group", "-s", &configuration]);
    let started = node.namespace.spawn(&command);
    let failed = Error::running(say("error-lab.start-samba"), node.name.as_str());
    let mut server = started.map_err(failed)?;
    let ended = end_of(&mut server);
    for port in ports {
        await_answers(topology, node, port, &ended)?;
    }
    if samba.domain.is_some() {
        samba_domain_controller::await_users(node)?;
    }
    Ok(Some(Server {
        _process: server,
        disks,
    }))
}

fn configuration_path() -> String {
    format!("{}/smb.conf", folder())
}

fn log_path() -> String {
    format!("{}/log", folder())
}

fn share_path(share: &str) -> String {
    format!("{FOLDER}/shares/{share}")
}

/// Makes its folders and puts a file system under each share; gives the disks that we serve.
fn prepare(lab: &str, samba: &Samba, node: &Node) -> Result<Vec<Disk>, Error> {
    let folders = FOLDERS.iter().map(|name| own_folder(name));
    let mut mkdir = vec!["mkdir".to_owned(), "-p".to_owned()];
    mkdir.extend(folders);
    mkdir.extend(samba.shares.iter().map(|share| share_path(&share.name)));
    let action = say("error-lab.make-samba-folders");
    node.run(action.clone(), &[Command::new(mkdir)])?;
    // A domain's users have numbers of their own.
    let mode = if samba.domain.is_some() { 777 } else { 700 };
    let mut disks = Vec::new();
    for share in &samba.shares {
        let size = share.size.get();
        let options =
            format!("size={size},mode={mode},uid={USER_ID},gid={USER_ID},nosuid,nodev,noexec");
        let path = share_path(&share.name);
        match share.medium {
            Medium::Memory => {
                let words = ["mount", "-t", "tmpfs", "-o", &options, "tmpfs", &path];
                node.run(action.clone(), &[Command::new(words)])?;
            }
            Medium::Disk => disks.extend(put_disk(lab, share, node)?),
        }
    }
    Ok(disks)
}

/// A file system of its own on a file in memory. Unless it may write later it writes at once, so that
/// whoever writes waits for the disk, as with a small NAS whose memory is full.
fn put_disk(lab: &str, share: &Share, node: &Node) -> Result<Option<Disk>, Error> {
    let action = say("error-lab.make-samba-disk");
    let path = share_path(&share.name);
    let file = format!("{path}.disk");
    let size = share.size.get();
    let truncate = ["truncate", "-s", &size.to_string(), &file];
    node.run(action.clone(), &[Command::new(truncate)])?;
    let disk = match (share.delay, share.wakes) {
        (None, None) => None,
        (delay, wakes) => {
            let pace = Pace {
                delay: delay.unwrap_or_default(),
                wakes: wakes.unwrap_or_default(),
            };
            Some(Disk::serve(&node.namespace, &file, size, pace)?)
        }
    };
    let sync = if share.write_back { "async" } else { "sync" };
    let owner = format!("root_owner={USER_ID}:{USER_ID},lazy_itable_init=1");
    let make = [
        "mkfs.ext4",
        "-q",
        "-F",
        "-m",
        "0",
        "-O",
        "^has_journal",
        "-E",
        &owner,
        &file,
    ];
    // Nothing is left to be written later, or to be read ahead (as Linux does since 5.13): a disk that
    // sleeps would be woken by it.
    let quiet = match share.wakes {
        None => "",
        Some(_) => ",no_prefetch_block_bitmaps",
    };
    let options = format!("loop,{sync},noinit_itable{quiet},nosuid,nodev,noexec");
    let mount = ["mount", "-o", &options, &file, &path];
    let make = Command::new(make).with_timeout(USER_LIMIT);
    let settle = Command::new(["sync", "-f", &path]).with_timeout(USER_LIMIT);
    node.run(action.clone(), &[make, Command::new(mount), settle])?;
    let device = device_of(node, &path)?;
    if let Some(rate) = share.bytes_per_second {
        cgroup_limits::limit_disk(lab, &node.name, &device, rate)?;
    }
    if disk.is_some() {
        // Without it the loop device has one access under way at a time.
        let number = device.rsplit(':').next().unwrap_or_default();
        let device = format!("/dev/loop{number}");
        node.run(
            action,
            &[Command::new(["losetup", "--direct-io=on", &device])],
        )?;
    }
    Ok(disk)
}

/// The device, `major:minor`, of what is mounted at a path of a host.
fn device_of(node: &Node, path: &str) -> Result<String, Error> {
    let file = format!("/proc/{}/mountinfo", node.namespace.holder());
    let read = fs::read_to_string(file).and_then(|text| {
        let mut mounted = text.lines().rev().filter_map(|line| {
            let mut fields = line.split(' ').skip(2);
            let (device, _, at) = (fields.next()?, fields.next()?, fields.next()?);
            (at == path).then(|| device.to_owned())
        });
        mounted.next().ok_or_else(|| io::ErrorKind::NotFound.into())
    });
    read.map_err(|source| Error::System {
        action: say("error-lab.find-device"),
        subject: path.into(),
        source,
    })
}

/// The whole `smb.conf`.
fn configuration_text(topology: &Topology, samba: &Samba) -> String {
    let passdb = format!("tdbsam:{}/passdb.tdb", own_folder("private dir"));
    let multichannel = if samba.multichannel { "yes" } else { "no" };
    let role = match &samba.domain {
        None => vec![
            ("workgroup", WORKGROUP.to_owned()),
            ("server role", "standalone server".to_owned()),
            ("passdb backend", passdb),
        ],
        Some(domain) => samba_domain_controller::settings(samba, domain),
    };
    let mut settings: Vec<(&str, String)> = vec![
        ("server string", "a lab of linerate".to_owned()),
        ("disable netbios", "yes".to_owned()),
        ("smb ports", PORT.to_string()),
        ("log file", log_path()),
        ("max log size", "10000".to_owned()),
        ("log level", "1".to_owned()),
        ("bind interfaces only", "yes".to_owned()),
        ("interfaces", interfaces(topology, &samba.host)),
        ("server multi channel support", multichannel.to_owned()),
        ("load printers", "no".to_owned()),
        ("printcap name", "/dev/null".to_owned()),
        ("disable spoolss", "yes".to_owned()),
        ("usershare max shares", "0".to_owned()),
    ];
    settings.extend(role);
    settings.extend(FOLDERS.iter().map(|&name| (name, own_folder(name))));
    // Samba takes the last of several settings of one parameter.
    let free = samba.global.iter();
    settings.extend(free.map(|(name, value)| (name.as_str(), value.clone())));

    let mut text = "[global]\n".to_owned();
    // Writing to a string cannot fail, here and below.
    for (name, value) in settings {
        writeln!(text, "{name} = {value}").ok();
    }
    for share in &samba.shares {
        let (name, path) = (&share.name, share_path(&share.name));
        writeln!(text, "\n[{name}]\npath = {path}\nread only = no").ok();
        if samba.domain.is_none() {
            writeln!(text, "valid users = {USER}").ok();
        }
    }
    if let Some(domain) = &samba.domain {
        text.push_str(&samba_domain_controller::shares(domain));
    }
    text
}

/// The addresses to serve, with the speed of their links, which a virtual NIC does not tell.
/// By address and not by name: so Samba gives all of them the index 0xFFFFFFFF, as many servers do.
fn interfaces(topology: &Topology, host: &str) -> String {
    let mut entries = Vec::new();
    for link in &topology.links {
        let rate = [link.rate, link.rate_back].into_iter().flatten().max();
        let speed = rate.map_or(SPEED_UNLIMITED, |rate| rate.get());
        let ends = link.ends.iter().filter(|end| end.node == host);
        let addresses = ends.filter_map(|end| end.address);
        entries
            .extend(addresses.map(|address| format!("\"{address};speed={speed},capability=RSS\"")));
    }
    entries.join(" ")
}

/// Tells when the server has ended.
fn end_of(server: &mut Process) -> Receiver<()> {
    let (alive, ended) = mpsc::channel();
    if let Some(mut output) = server.take_stdout() {
        thread::spawn(move || {
            io::copy(&mut output, &mut io::sink()).ok();
            drop(alive);
        });
    }
    ended
}

/// Waits until every address of the server takes connections.
fn await_answers(
    topology: &Topology,
    node: &Node,
    port: u16,
    ended: &Receiver<()>,
) -> Result<(), Error> {
    let ends = topology.ends_of(&node.name);
    let addresses: Vec<SocketAddr> = ends
        .filter_map(|end| end.address)
        .map(|address| SocketAddr::new(address.ip, port))
        .collect();
    let deadline = Instant::now() + READY_LIMIT;
    let samba_error = |problem: Message| Error::Samba {
        host: node.name.clone(),
        problem,
        log: log_tail(node),
    };
    for address in addresses {
        let knock = || TcpStream::connect_timeout(&address, KNOCK_LIMIT).map(drop);
        while let Err(refused) = node.namespace.in_network(knock) {
            if Instant::now() > deadline {
                let problem = say("error-lab.samba-silent")
                    .with("address", address.to_string())
                    .with("refused", refused.to_string());
                return Err(samba_error(problem));
            }
            if ended.recv_timeout(KNOCK_INTERVAL) == Err(RecvTimeoutError::Disconnected) {
                return Err(samba_error(say("error-lab.samba-ended")));
            }
        }
    }
    Ok(())
}

/// The end of its log.
fn log_tail(node: &Node) -> Message {
    let read = || {
        let mut file = fs::File::open(node.namespace.path(log_path()))?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LOG_TAIL_BYTES)))?;
        let mut tail = Vec::new();
        file.take(LOG_TAIL_BYTES).read_to_end(&mut tail)?;
        io::Result::Ok(String::from_utf8_lossy(&tail).trim().to_owned())
    };
    match read() {
        Ok(tail) => tail.into(),
        Err(error) => say("error-lab.log-unreadable").with("problem", error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOPOLOGY: &str = r#"
[[host]]
name = "client"
[[host]]
name = "server"
[[link]]
from = { host = "client", nic = "a", address = "10.77.1.1/24" }
to = { host = "server", nic = "a", address = "10.77.1.2/24" }
rate = "2.5Gbit"
[[link]]
from = { host = "client", nic = "b", address = "fd00::1/64" }
to = { host = "server", nic = "b", address = "fd00::2/64" }
[samba]
host = "server"
multichannel = false
[[samba.share]]
name = "media"
medium = "memory"
size = "1GiB"
[samba.global]
"aio read size" = 0
"log level" = "3"
"use sendfile" = true
"#;

    #[test]
    fn the_server_announces_the_rates_of_its_links() {
        let topology = Topology::parse(TOPOLOGY).unwrap();
        assert_eq!(
            interfaces(&topology, "server"),
            "\"10.77.1.2/24;speed=2500000000,capability=RSS\" \
             \"fd00::2/64;speed=100000000000,capability=RSS\""
        );
    }

    #[test]
    fn free_parameters_come_last_and_every_path_is_inside() {
        let topology = Topology::parse(TOPOLOGY).unwrap();
        let text = configuration_text(&topology, topology.samba.as_ref().unwrap());
        let (before, free) = text.split_once("aio read size = 0\n").unwrap();
        assert!(free.starts_with("log level = 3\nuse sendfile = yes\n"));
        assert!(before.contains("log level = 1\n"));
        assert!(before.contains("server multi channel support = no\n"));
        for line in text.lines().filter(|line| line.contains("= /")) {
            let inside = line.contains("= /run/linerate/") || line.ends_with("= /dev/null");
            assert!(inside, "{line}");
        }
    }
}
