//! A host that remembers what was set: two NICs, with offloads that depend on each other as those of
//! a `veth` do, or worse.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use host::exec::{Command, Exec, Output, Replay};
use host::{Error, Host};
use record::HostName;

/// A row of `ethtool -k` with its short name, group and what must be on for it.
struct Row {
    name: &'static str,
    group: &'static str,
    needs: &'static [&'static str],
}

const fn row(name: &'static str, group: &'static str, needs: &'static [&'static str]) -> Row {
    Row { name, group, needs }
}

/// In the order in which `ethtool` prints them.
const ROWS: [Row; 10] = [
    row("rx-checksumming", "", &[]),
    row("tx-checksum-ip-generic", "tx-checksumming", &[]),
    row("tx-scatter-gather", "scatter-gather", &[]),
    row(
        "tx-tcp-segmentation",
        TSO,
        &["tx-checksum-ip-generic", "tx-scatter-gather"],
    ),
    row(
        "tx-tcp-mangleid-segmentation",
        TSO,
        &["tx-tcp-segmentation"],
    ),
    row(
        "tx-tcp6-segmentation",
        TSO,
        &["tx-checksum-ip-generic", "tx-scatter-gather"],
    ),
    row("generic-segmentation-offload", "", &["tx-scatter-gather"]),
    row("generic-receive-offload", "", &[]),
    row("tx-udp-segmentation", "", &["tx-checksum-ip-generic"]),
    row("tx-nocache-copy", "", &[]),
];
const TSO: &str = "tcp-segmentation-offload";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nic {
    pub(crate) mtu: u32,
    pub(crate) mtu_max: u32,
    pub(crate) ipv6: bool,
    /// Whether a feature that another one took with it comes back with it.
    pub(crate) forgets: bool,
    /// Turning `gso` off takes `tso` with it, as some drivers do.
    pub(crate) tso_follows_gso: bool,
    pub(crate) fixed: Vec<&'static str>,
    pub(crate) requested: BTreeMap<&'static str, bool>,
}

impl Nic {
    fn new() -> Self {
        let off = [
            "tx-tcp-mangleid-segmentation",
            "generic-receive-offload",
            "tx-nocache-copy",
        ];
        let requested = ROWS
            .iter()
            .map(|row| (row.name, !off.contains(&row.name)))
            .collect();
        Self {
            mtu: 1500,
            mtu_max: 9000,
            ipv6: true,
            forgets: false,
            tso_follows_gso: false,
            fixed: Vec::new(),
            requested,
        }
    }

    pub(crate) fn is_on(&self, name: &str) -> bool {
        let Some(row) = ROWS.iter().find(|row| row.name == name) else {
            return false;
        };
        let follows = self.tso_follows_gso && row.group == TSO;
        self.requested[row.name]
            && row.needs.iter().all(|need| self.is_on(need))
            && (!follows || self.is_on("generic-segmentation-offload"))
    }

    fn set(&mut self, pairs: &[(&'static str, bool)]) {
        for &(name, on) in pairs {
            if !self.fixed.contains(&name) {
                self.requested.insert(name, on);
            }
        }
        if self.forgets {
            let off: Vec<_> = ROWS.iter().filter(|row| !self.is_on(row.name)).collect();
            for row in off {
                self.requested.insert(row.name, false);
            }
        }
    }

    fn print(&self, nic: &str) -> String {
        let mut text = format!("Features for {nic}:\n");
        let mut group = "";
        for row in &ROWS {
            let on_or_off = |on| if on { "on" } else { "off" };
            if row.group != group && !row.group.is_empty() {
                let members = ROWS.iter().filter(|other| other.group == row.group);
                let any = members.into_iter().any(|member| self.is_on(member.name));
                writeln!(text, "{}: {}", row.group, on_or_off(any)).unwrap();
            }
            group = row.group;
            let is = self.is_on(row.name);
            let remark = match (self.fixed.contains(&row.name), self.requested[row.name]) {
                (true, _) => " [fixed]".to_owned(),
                (_, requested) if requested != is => {
                    format!(" [requested {}]", on_or_off(requested))
                }
                _ => String::new(),
            };
            let indent = if row.group.is_empty() { "" } else { "\t" };
            writeln!(text, "{indent}{}: {}{remark}", row.name, on_or_off(is)).unwrap();
        }
        text
    }
}

/// Everything that can change on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    pub(crate) machine_id: String,
    pub(crate) boot_id: String,
    pub(crate) nics: BTreeMap<String, Nic>,
    pub(crate) congestion_control: String,
    /// `sysctl -w` says that it did, and did not.
    pub(crate) sysctl_lies: bool,
}

/// The host, with a fuse for crashes.
#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) machine: Arc<Mutex<Machine>>,
    /// Commands until everything fails; then nothing works any more.
    fuse: Arc<Mutex<Option<usize>>>,
    /// What was written, in order.
    pub(crate) writes: Arc<Mutex<Vec<String>>>,
    pub(crate) name: HostName,
}

impl Model {
    pub(crate) fn new(name: &str) -> Self {
        let machine = Machine {
            machine_id: format!("machine-of-{name}"),
            boot_id: "boot-1".into(),
            nics: ["a0", "a1"].map(|nic| (nic.to_owned(), Nic::new())).into(),
            congestion_control: "cubic".into(),
            sysctl_lies: false,
        };
        Self {
            machine: Arc::new(Mutex::new(machine)),
            fuse: Arc::default(),
            writes: Arc::default(),
            name: HostName::new(name),
        }
    }

    /// Changes the machine behind everybody's back.
    pub(crate) fn with(&self, change: impl FnOnce(&mut Machine)) -> &Self {
        change(&mut self.machine.lock().unwrap());
        self
    }

    pub(crate) fn now(&self) -> Machine {
        self.machine.lock().unwrap().clone()
    }

    /// From the command after the next `commands` on, nothing works.
    pub(crate) fn crash_after(&self, commands: usize) {
        *self.fuse.lock().unwrap() = Some(commands);
    }

    /// Everything works again.
    pub(crate) fn mend(&self) {
        *self.fuse.lock().unwrap() = None;
    }

    pub(crate) fn host(&self) -> Host {
        let model = self.clone();
        let exec: Arc<dyn Exec> = Arc::new(Replay::model(move |command| model.answer(command)));
        Host::new(self.name.clone(), exec).unwrap()
    }

    fn answer(&self, command: &Command) -> Result<Output, Error> {
        if let Some(left) = &mut *self.fuse.lock().unwrap() {
            if *left == 0 {
                let limit = command.timeout;
                return Err(Error::Timeout {
                    argv: command.argv.clone(),
                    limit,
                });
            }
            *left -= 1;
        }
        let mut machine = self.machine.lock().unwrap();
        let argv: Vec<&str> = command.argv.iter().map(String::as_str).collect();
        let is_write = matches!(
            argv.as_slice(),
            ["ip", "link", "set", ..] | ["ethtool", "-K", ..] | ["sysctl", "-w", ..]
        );
        if is_write {
            self.writes.lock().unwrap().push(argv.join(" "));
        }
        Ok(answer(&mut machine, &argv))
    }
}

fn said(stdout: impl Into<Vec<u8>>) -> Output {
    Output {
        status: 0,
        stdout: stdout.into(),
        stderr: Vec::new(),
    }
}

fn failed(status: i32, stderr: &str) -> Output {
    Output {
        status,
        stdout: Vec::new(),
        stderr: stderr.as_bytes().to_vec(),
    }
}

fn answer(machine: &mut Machine, argv: &[&str]) -> Output {
    match argv {
        ["uname", "-s"] => said("Linux\n"),
        ["cat", "/etc/machine-id"] => said(machine.machine_id.clone()),
        ["cat", "/proc/sys/kernel/random/boot_id"] => said(machine.boot_id.clone()),
        ["ip", "-j", "-d", "addr", "show"] => said(addresses(machine)),
        ["ip", "link", "set", "dev", nic, "mtu", mtu] => {
            let (Some(nic), Ok(mtu)) = (machine.nics.get_mut(*nic), mtu.parse::<u32>()) else {
                return failed(1, "Cannot find device");
            };
            if mtu > nic.mtu_max {
                return failed(2, "Error: mtu greater than device maximum.");
            }
            nic.mtu = mtu;
            said("")
        }
        ["ethtool", "-k", name] => match machine.nics.get(*name) {
            Some(nic) => said(nic.print(name)),
            None => failed(1, "netlink error: no device matches name (offset 24)"),
        },
        ["ethtool", "-K", nic, pairs @ ..] => match machine.nics.get_mut(*nic) {
            Some(nic) => set_features(nic, pairs),
            None => failed(1, "netlink error: no device matches name (offset 24)"),
        },
        ["sysctl", "-n", "net.ipv4.tcp_congestion_control"] => {
            said(format!("{}\n", machine.congestion_control))
        }
        ["sysctl", "-n", "net.ipv4.tcp_available_congestion_control"] => said("reno cubic bbr\n"),
        ["sysctl", "-w", assignment] => {
            let (_, value) = assignment.split_once('=').unwrap();
            if machine.sysctl_lies {
                let stderr = b"sysctl: setting key \"x\": Invalid argument".to_vec();
                return Output { stderr, ..said("") };
            }
            machine.congestion_control = value.to_owned();
            said("")
        }
        other => panic!("the model knows no {other:?}"),
    }
}

fn set_features(nic: &mut Nic, pairs: &[&str]) -> Output {
    let mut wanted = Vec::new();
    for pair in pairs.chunks(2) {
        let [name, state] = pair else {
            return failed(1, "bad command line argument(s)");
        };
        let group = if *name == "tso" { TSO } else { "" };
        let name = match *name {
            "gso" => "generic-segmentation-offload",
            "gro" => "generic-receive-offload",
            other => other,
        };
        let named = |row: &&Row| row.name == name || (!group.is_empty() && row.group == group);
        let rows: Vec<_> = ROWS.iter().filter(named).map(|row| row.name).collect();
        if rows.is_empty() {
            return failed(92, "netlink error: bit name not found (offset 56)");
        }
        if rows.iter().all(|row| nic.fixed.contains(row)) {
            return failed(1, "Could not change any device features");
        }
        wanted.extend(rows.into_iter().map(|row| (row, *state == "on")));
    }
    nic.set(&wanted);
    said("")
}

fn addresses(machine: &Machine) -> String {
    let links: Vec<String> = machine
        .nics
        .iter()
        .enumerate()
        .map(|(index, (name, nic))| {
            let address = if nic.ipv6 {
                r#"{"local":"fe80::1","prefixlen":64}"#
            } else {
                ""
            };
            format!(
                r#"{{"ifindex":{},"ifname":"{name}","flags":["UP"],"mtu":{},"operstate":"UP",
                "link_type":"ether","address":"02:00:00:00:00:01","min_mtu":68,"max_mtu":{},
                "addr_info":[{address}]}}"#,
                index + 2,
                nic.mtu,
                nic.mtu_max
            )
        })
        .collect();
    format!("[{}]", links.join(","))
}
