//! A host that remembers what was set: two NICs, with offloads that depend on each other as those of
//! a `veth` do, or worse.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::sync::{Arc, Mutex};

use host::exec::{Command, Exec, Local, Output, Replay};
use host::{Error, Host};
use record::HostName;

mod routes_qdiscs_rss;

use routes_qdiscs_rss::PacketPaths;

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
const ROWS: [Row; 11] = [
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
    row("large-receive-offload", "", &["rx-checksumming"]),
    row("tx-udp-segmentation", "", &["tx-checksum-ip-generic"]),
    row("tx-nocache-copy", "", &[]),
];
const TSO: &str = "tcp-segmentation-offload";

fn name_of(option: &'static str, word: &'static str) -> &'static str {
    if word.is_empty() {
        return option;
    }
    Box::leak(format!("{option} {word}").into_boxed_str())
}

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
    /// Looks until the link is back after something that resets it, and how many are left. What it is
    /// told meanwhile is lost.
    pub(crate) slow_link: u32,
    away: u32,
    queue_length: u32,
    /// By the words of `ethtool`.
    words: BTreeMap<&'static str, String>,
}

/// Settings of a NIC that depend on no others, by the words of `ethtool` that set them.
const WORDS: [(&str, &str, &str); 14] = [
    ("-A", "autoneg", "on"),
    ("-A", "rx", "off"),
    ("-A", "tx", "off"),
    ("-L", "combined", "2"),
    ("-G", "rx", "256"),
    ("-G", "tx", "256"),
    ("-C", "adaptive-rx", "on"),
    ("-C", "adaptive-tx", "off"),
    ("-C", "rx-usecs", "3"),
    ("-C", "rx-frames", "8"),
    ("-C", "tx-usecs", "0"),
    ("-C", "tx-frames", "1"),
    ("--set-eee", "eee", "on"),
    ("power", "", "auto"),
];

impl Nic {
    fn new() -> Self {
        let off = [
            "large-receive-offload",
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
            slow_link: 0,
            away: 0,
            queue_length: 1000,
            words: WORDS
                .map(|(option, word, value)| (name_of(option, word), value.to_owned()))
                .into(),
        }
    }

    fn word(&self, name: &str) -> &str {
        &self.words[name]
    }

    /// What `ethtool` shows, in the form of its version 6.1.
    fn show(&self, option: &str) -> String {
        let word = |name| self.word(name);
        match option {
            "-a" => format!(
                "Pause parameters for x:\nAutonegotiate:\t{}\nRX:\t\t{}\nTX:\t\t{}\n\n",
                word("-A autoneg"),
                word("-A rx"),
                word("-A tx")
            ),
            "-l" => {
                let rows = |combined| {
                    format!("RX:\t\tn/a\nTX:\t\tn/a\nOther:\t\t1\nCombined:\t{combined}\n")
                };
                format!(
                    "Channel parameters for x:\nPre-set maximums:\n{}Current hardware settings:\n{}",
                    rows("8"),
                    rows(word("-L combined"))
                )
            }
            "-g" => {
                let rows =
                    |rx, tx| format!("RX:\t\t{rx}\nRX Mini:\tn/a\nRX Jumbo:\tn/a\nTX:\t\t{tx}\n");
                format!(
                    "Ring parameters for x:\nPre-set maximums:\n{}Current hardware settings:\n{}",
                    rows("4096", "4096"),
                    rows(word("-G rx"), word("-G tx"))
                )
            }
            "-c" => {
                let mut text = format!(
                    "Coalesce parameters for x:\nAdaptive RX: {}  TX: {}\n\n",
                    word("-C adaptive-rx"),
                    word("-C adaptive-tx")
                );
                for name in ["rx-usecs", "rx-frames", "tx-usecs", "tx-frames"] {
                    let value = &self.words[format!("-C {name}").as_str()];
                    writeln!(text, "{name}: {value}").unwrap();
                }
                text
            }
            _ => {
                let on = word("--set-eee eee") == "on";
                let status = if on { "enabled - active" } else { "disabled" };
                format!("EEE settings for x:\n\tEEE status: {status}\n\tTx LPI: 17 (us)\n")
            }
        }
    }

    fn set_words(&mut self, option: &str, pairs: &[&str]) {
        if option != "-C" {
            if self.away > 0 {
                return;
            }
            self.away = self.slow_link;
        }
        for pair in pairs.chunks(2) {
            let name = format!("{option} {}", pair[0]);
            let known = self.words.get_mut(name.as_str());
            let known = known.unwrap_or_else(|| panic!("no {name}"));
            // As drivers do with what the hardware cannot count.
            *known = match pair[1].parse::<u32>() {
                Ok(number) if option == "-G" => number.next_multiple_of(8).to_string(),
                _ => pair[1].to_owned(),
            };
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

const SYSCTLS: [(&str, &str); 16] = [
    ("net.ipv4.tcp_ecn", "2"),
    ("net.core.somaxconn", "4096"),
    ("net.core.netdev_budget_usecs", "8000"),
    ("net.ipv4.tcp_rmem", "4096\t131072\t6291456"),
    ("net.ipv4.tcp_wmem", "4096\t16384\t4194304"),
    ("net.ipv4.tcp_moderate_rcvbuf", "1"),
    ("net.ipv4.tcp_window_scaling", "1"),
    ("net.ipv4.tcp_timestamps", "1"),
    ("net.ipv4.tcp_sack", "1"),
    ("net.ipv4.tcp_mtu_probing", "0"),
    ("net.ipv4.tcp_slow_start_after_idle", "1"),
    ("net.core.rmem_max", "212992"),
    ("net.core.wmem_max", "212992"),
    ("net.core.netdev_max_backlog", "1000"),
    ("net.core.netdev_budget", "300"),
    ("net.core.default_qdisc", "pfifo_fast"),
];
/// Lines of others, one of them no text, an entry, and no end of the last line.
const FSTAB: &[u8] = b"# \xe6\x98\xa0\xe7\x94\xbb \xff\n\n//10.0.0.2/data /mnt/my\\040nas/ cifs  \
    credentials=/etc/nas,vers=3.0 0 0 \nproc /proc proc defaults 0 0";
const CONGESTION: &str = "net.ipv4.tcp_congestion_control";

/// Everything that can change on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    pub(crate) machine_id: String,
    pub(crate) boot_id: String,
    pub(crate) nics: BTreeMap<String, Nic>,
    pub(crate) congestion_control: String,
    /// Those that no test looks at by name.
    sysctls: BTreeMap<String, String>,
    governors: [String; 2],
    preferences: [String; 2],
    pub(crate) paths: PacketPaths,
    /// Our own lines at the end of `smb.conf`: mark, section and line.
    smb_conf: Vec<[String; 3]>,
    /// Files that say what is set at the start, with their texts.
    pub(crate) kept: BTreeMap<String, String>,
    /// `/etc/fstab`, byte for byte.
    pub(crate) fstab: Vec<u8>,
    /// Properties of the connections of `NetworkManager`.
    pub(crate) properties: BTreeMap<String, String>,
    /// Who sets up the interfaces, as the look tells.
    pub(crate) manager: &'static str,
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
            sysctls: SYSCTLS
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into(),
            governors: ["powersave", "powersave"].map(str::to_owned),
            preferences: ["power", "power"].map(str::to_owned),
            paths: PacketPaths::new(&["a0", "a1"]),
            smb_conf: Vec::new(),
            kept: BTreeMap::new(),
            fstab: FSTAB.to_vec(),
            properties: BTreeMap::new(),
            manager: "manager ifupdown\n",
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
            ["ip", "link", "set", ..]
                | ["tc", "qdisc", "replace", ..]
                | [
                    "ethtool",
                    "-K" | "-A" | "-L" | "-G" | "-C" | "-X" | "-N" | "-s" | "--set-eee",
                    ..
                ]
                | ["sysctl", "-w", ..]
                | ["tee" | "nmcli", ..]
                | ["sh", ..]
        ) && !is_look(&argv);
        if is_write {
            self.writes.lock().unwrap().push(argv.join(" "));
        }
        Ok(answer(&mut machine, &argv, &command.stdin))
    }
}

/// Scripts that only look.
fn is_look(argv: &[&str]) -> bool {
    matches!(argv, ["sh", "-c", script, "sh", ..]
        if ["msi_irqs", "testparm -s -v", "manager netplan", "cat -- \"$1\""].iter().any(|look| script.contains(look)))
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

fn answer(machine: &mut Machine, argv: &[&str], stdin: &[u8]) -> Output {
    if let Some(output) = machine.paths.answer(argv, stdin) {
        return output;
    }
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
            nic.away = nic.slow_link;
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
        ["ip", "link", "set", "dev", nic, "txqueuelen", length] => {
            let nic = machine.nics.get_mut(*nic).unwrap();
            nic.queue_length = length.parse().unwrap();
            said("")
        }
        ["ethtool", option, name] => match machine.nics.get(*name) {
            Some(nic) => said(nic.show(option)),
            None => failed(1, "netlink error: no device matches name (offset 24)"),
        },
        ["ethtool", option, nic, pairs @ ..] => {
            let nic = machine.nics.get_mut(*nic).unwrap();
            nic.set_words(option, pairs);
            said("")
        }
        ["sysctl", "-e", keys @ ..] => {
            let mut text = String::new();
            for key in keys {
                let value = match *key {
                    CONGESTION => machine.congestion_control.as_str(),
                    "net.ipv4.tcp_available_congestion_control" => "reno cubic bbr",
                    "net.ipv4.tcp_allowed_congestion_control" => "reno cubic",
                    key => &machine.sysctls[key],
                };
                writeln!(text, "{key} = {value}").unwrap();
            }
            said(text)
        }
        ["sysctl", "-w", assignment] => {
            let (key, value) = assignment.split_once('=').unwrap();
            if machine.sysctl_lies {
                let stderr = b"sysctl: setting key \"x\": Invalid argument".to_vec();
                return Output { stderr, ..said("") };
            }
            let value = value.replace(' ', "\t");
            match key {
                CONGESTION => machine.congestion_control = value,
                key => *machine.sysctls.get_mut(key).unwrap() = value,
            }
            said("")
        }
        ["cat", path] | ["tee", path] if path.ends_with("/device/power/control") => {
            let name = path.split('/').nth(4).unwrap();
            let Some(nic) = machine.nics.get_mut(name) else {
                return failed(1, "cat: No such file or directory");
            };
            let word = nic.words.get_mut("power").unwrap();
            write_or_read(argv, word, stdin)
        }
        ["cat", path] if path.ends_with("available_governors") => said("performance powersave\n"),
        ["cat", path] if path.ends_with("available_preferences") => said("performance power\n"),
        ["cat", path] if path.ends_with("performance_preference") => {
            said(format!("{}\n", machine.preferences[0]))
        }
        ["cat", "/sys/devices/system/cpu/online"] => said("0-1\n"),
        ["cat", path] if path.ends_with("scaling_governor") => {
            said(format!("{}\n", machine.governors[0]))
        }
        ["tee", first, _] => {
            let words = match first.ends_with("scaling_governor") {
                true => &mut machine.governors,
                false => &mut machine.preferences,
            };
            for word in words {
                write_or_read(argv, word, stdin);
            }
            said("")
        }
        other => answer_samba(machine, other),
    }
}

fn answer_samba(machine: &mut Machine, argv: &[&str]) -> Output {
    match argv {
        ["sh", "-c", script, "sh", nic] if script.contains("manager netplan") => {
            if !nic.is_empty() && !machine.nics.contains_key(*nic) {
                return failed(3, "");
            }
            let mut text = machine.manager.to_owned();
            for (path, kept) in &machine.kept {
                let lines = kept.lines();
                for line in lines.filter(|line| line.starts_with("# linerate keeps: ")) {
                    writeln!(text, "{path}:{line}").unwrap();
                }
            }
            for (name, value) in &machine.properties {
                writeln!(text, "property {name}:{value}").unwrap();
            }
            said(text)
        }
        ["sh", "-c", script, "sh", path, _, content, main @ ..] if script.contains("mktemp -d") => {
            if let [main, text] = main {
                let main = machine.kept.entry((*main).to_owned());
                main.or_insert_with(|| (*text).to_owned());
            }
            machine
                .kept
                .insert((*path).to_owned(), (*content).to_owned());
            said("")
        }
        ["sh", "-c", script, "sh", path, main @ ..] if script.starts_with("rm -f") => {
            machine.kept.remove(*path);
            let folder = format!("{}/", path.rsplit_once('/').unwrap().0);
            if !machine.kept.keys().any(|path| path.starts_with(&folder)) {
                main.iter()
                    .for_each(|main| drop(machine.kept.remove(*main)));
            }
            said("")
        }
        ["nmcli", "connection", "modify", "uuid", "1234", pairs @ ..] => {
            for pair in pairs.chunks(2) {
                machine.properties.remove(pair[0]);
                if !pair[1].is_empty() {
                    machine
                        .properties
                        .insert(pair[0].to_owned(), pair[1].to_owned());
                }
            }
            said("")
        }
        ["sh", "-c", script, "sh", "/etc/fstab", lines @ ..] => {
            run_on_fstab(machine, script, lines)
        }
        ["testparm", "-s", "-v"] => {
            let stderr = b"Load smb config files from /etc/samba/smb.conf\n".to_vec();
            Output {
                stderr,
                ..said(testparm(machine))
            }
        }
        ["sh", "-c", script, "sh", "/etc/samba/smb.conf"] if script.contains("testparm -s -v") => {
            let lines = std::mem::take(&mut machine.smb_conf);
            let output = match lines.is_empty() {
                true => said(""),
                false => said(testparm(machine)),
            };
            machine.smb_conf = lines;
            output
        }
        ["cat", "/proc/mounts"] => said(
            "tmpfs /tmp tmpfs rw 0 0\n//10.0.0.2/data /mnt/my\\040nas cifs rw,relatime,vers=3.1.1,\
             cache=strict,sec=ntlmsspi,rsize=4194304,wsize=1048576,actimeo=1,multichannel,\
             max_channels=4 0 0\n",
        ),
        ["cat", "/etc/ksmbd/ksmbd.conf"] => {
            said("[global]\n\tserver multi channel support = yes\n")
        }
        ["cat", "/etc/samba/smb.conf"] => {
            let mut text = String::from("[media]\n\tpath = /srv\n");
            for [mark, section, line] in &machine.smb_conf {
                writeln!(
                    text,
                    "# linerate begins: {mark}\n[{section}]\n\t{line}\n# linerate ends: {mark}"
                )
                .unwrap();
            }
            said(text)
        }
        ["sh", "-c", _, "sh", "/etc/samba/smb.conf", mark, more @ ..] => {
            machine.smb_conf.retain(|[own, _, _]| own != mark);
            if let [section, line] = more {
                let entry = [*mark, *section, *line].map(str::to_owned);
                machine.smb_conf.push(entry);
            }
            said("")
        }
        other => panic!("the model knows no {other:?}"),
    }
}

/// Runs a script for `/etc/fstab` on a file of the test.
fn run_on_fstab(machine: &mut Machine, script: &str, lines: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fstab");
    fs::write(&file, &machine.fstab).unwrap();
    let words = ["sh", "-c", script, "sh", file.to_str().unwrap()];
    let command = Command::new(words.iter().chain(lines).copied());
    let output = Local::new().run(&[command]).unwrap().remove(0);
    machine.fstab = fs::read(&file).unwrap();
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 1, "the script leaves a file");
    output
}

/// What Samba 4.17 prints of a configuration, with our lines in it.
fn testparm(machine: &Machine) -> String {
    const GLOBAL: [(&str, &str); 18] = [
        ("client signing", "default"),
        ("client smb encrypt", "default"),
        ("interfaces", ""),
        ("aio read size", "1"),
        ("aio write size", "1"),
        ("server max protocol", "SMB3"),
        ("server min protocol", "SMB2_02"),
        ("server multi channel support", "Yes"),
        ("server signing", "default"),
        ("server smb encrypt", "default"),
        ("smb2 leases", "Yes"),
        ("smb2 max credits", "8192"),
        ("smb2 max read", "8388608"),
        ("smb2 max trans", "8388608"),
        ("smb2 max write", "8388608"),
        ("socket options", "TCP_NODELAY"),
        ("strict sync", "Yes"),
        ("sync always", "No"),
    ];
    let mut text = String::new();
    for section in ["global", "media"] {
        let mut lines: BTreeMap<&str, &str> = match section {
            "global" => GLOBAL.into_iter().chain([("use sendfile", "No")]).collect(),
            _ => [("path", "/srv")].into(),
        };
        for [_, own, line] in &machine.smb_conf {
            if own == section {
                let (key, value) = line.split_once(" = ").unwrap();
                lines.insert(key, value);
            }
        }
        writeln!(text, "[{section}]").unwrap();
        for (key, value) in lines {
            writeln!(text, "\t{key} = {value}").unwrap();
        }
        text.push('\n');
    }
    text
}

fn write_or_read(argv: &[&str], word: &mut String, stdin: &[u8]) -> Output {
    if argv[0] == "tee" {
        *word = String::from_utf8(stdin.to_vec()).unwrap().trim().to_owned();
    }
    said(format!("{word}\n"))
}

fn set_features(nic: &mut Nic, pairs: &[&str]) -> Output {
    let mut wanted = Vec::new();
    for pair in pairs.chunks(2) {
        let [name, state] = pair else {
            return failed(1, "bad command line argument(s)");
        };
        let group = if *name == "tso" { TSO } else { "" };
        let name = match *name {
            "rx" => "rx-checksumming",
            "tx" => "tx-checksum-ip-generic",
            "lro" => "large-receive-offload",
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

fn addresses(machine: &mut Machine) -> String {
    let links: Vec<String> = machine
        .nics
        .iter_mut()
        .enumerate()
        .map(|(index, (name, nic))| {
            let flags = if nic.away == 0 {
                r#""UP","LOWER_UP""#
            } else {
                r#""UP""#
            };
            nic.away = nic.away.saturating_sub(1);
            let address = if nic.ipv6 {
                r#"{"local":"fe80::1","prefixlen":64}"#
            } else {
                ""
            };
            format!(
                r#"{{"ifindex":{},"ifname":"{name}","flags":[{flags}],"mtu":{},"operstate":"UP",
                "link_type":"ether","address":"02:00:00:00:00:01","min_mtu":68,"max_mtu":{},
                "txqlen":{},"addr_info":[{address}]}}"#,
                index + 2,
                nic.mtu,
                nic.mtu_max,
                nic.queue_length
            )
        })
        .collect();
    format!("[{}]", links.join(","))
}
