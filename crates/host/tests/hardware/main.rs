//! The knobs of NICs on real drivers, which a `veth` does not have: Debian's kernel in QEMU with one
//! NIC each of `e1000e`, `vmxnet3` and `virtio_net`, over a real `sshd`.
//!
//! `make test-hardware` runs it. Needs root, and what `scripts/setup hardware` fetches.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::fmt::Write as _;
use std::fs;
use std::io::BufRead;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::change::{Change, Spot, UndoMode, read_states};
use host::exec::{Command, Destination, Exec, Local, Process, Ssh, run_one};
use host::journal::{Journal, list_open};
use host::knob::{self, Allowed, Refusal, State};
use host::{Error, Host};
use locale::Language::English;
use record::{HostName, KnobId, Setting, System, Target, Value};
use tempfile::TempDir;

/// Kernel and drivers, unpacked.
const KERNEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/hardware");
/// Puts a guest's files together.
const FILES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../scripts/qemu-guest-files"
);
/// In the order in which they need each other.
const MODULES: [&str; 10] = [
    "virtio_ring",
    "virtio",
    "virtio_pci_modern_dev",
    "virtio_pci_legacy_dev",
    "virtio_pci",
    "failover",
    "net_failover",
    "virtio_net",
    "e1000e",
    "vmxnet3",
];
const NICS: [&str; 3] = ["e1000e", "vmxnet3", "virtio_net"];
/// What the guest needs of this machine's programs.
const PROGRAMS: [&str; 25] = [
    "cat", "dash", "env", "ethtool", "find", "grep", "head", "id", "insmod", "ip", "mkdir",
    "mount", "mv", "nproc", "readlink", "rm", "rmdir", "setsid", "sleep", "sshd", "sysctl", "tc",
    "tee", "true", "uname",
];
const SSHD_CONFIG: &str = "HostKey /etc/host\nAuthorizedKeysFile /etc/user.pub\nStrictModes no\n\
    UsePAM no\nPermitRootLogin yes\nPidFile none\n";

/// The guest; it goes with the guard.
struct Guest {
    namespace: String,
    folder: TempDir,
    machine: Option<Process>,
}

impl Guest {
    fn start() -> Self {
        let guest = Self {
            namespace: format!("linerate-hardware-{}", std::process::id()),
            folder: tempfile::tempdir().unwrap(),
            machine: None,
        };
        for key in ["host", "user"] {
            let path = guest.file(key);
            local(&["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", &path]);
        }
        guest.pack();
        local(&["ip", "netns", "add", &guest.namespace]);
        for words in [
            "ip link set dev lo up",
            "ip tuntap add t0 mode tap multi_queue vnet_hdr",
            "ip address add 10.9.0.1/24 dev t0",
            "ip link set dev t0 up",
        ] {
            guest.near(&words.split(' ').collect::<Vec<_>>());
        }
        guest.boot()
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Runs a command at our end of the link.
    fn near(&self, argv: &[&str]) -> String {
        local(&[&["ip", "netns", "exec", &self.namespace], argv].concat())
    }

    /// Makes the guest's files.
    fn pack(&self) {
        let root = self.folder.path().join("root");
        for folder in [
            "dev",
            "etc",
            "lib/modules",
            "proc",
            "run",
            "sys",
            "tmp",
            "var/empty",
        ] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let place = root.display().to_string();
        local(&[&[FILES, "programs", &place], &PROGRAMS[..]].concat());
        symlink("usr/bin", root.join("bin")).unwrap();
        symlink("dash", root.join("usr/bin/sh")).unwrap();
        for module in MODULES {
            let name = format!("{module}.ko");
            let from = Path::new(KERNEL).join(&name);
            fs::copy(&from, root.join("lib/modules").join(name))
                .unwrap_or_else(|error| panic!("{}: {error}", from.display()));
        }
        let keys = ["host", "user.pub"].map(|key| fs::read_to_string(self.file(key)).unwrap());
        for (name, text) in [
            ("lib/modules/order", MODULES.join("\n") + "\n"),
            (
                "etc/passwd",
                "root:x:0:0::/:/bin/sh\nsshd:x:1:1::/:/bin/sh\n".into(),
            ),
            (
                "etc/machine-id",
                "0123456789abcdef0123456789abcdef\n".into(),
            ),
            ("etc/sshd_config", SSHD_CONFIG.into()),
            ("etc/host", keys[0].clone()),
            ("etc/user.pub", keys[1].clone()),
            ("init", include_str!("init").into()),
        ] {
            fs::write(root.join(name), text).unwrap();
        }
        local(&["chmod", "600", &root.join("etc/host").display().to_string()]);
        local(&["chmod", "755", &root.join("init").display().to_string()]);
        let script = "\"$1\" pack \"$2\" >\"$2/../initrd\"";
        local(&["sh", "-c", script, "sh", FILES, &place]);
    }

    /// No hardware of this machine helps, so that it is the same everywhere.
    fn boot(mut self) -> Self {
        let kernel = PathBuf::from(KERNEL).join("vmlinuz").display().to_string();
        let initrd = self.file("initrd");
        let words = "-accel tcg -m 512 -smp 2 -display none -serial stdio -monitor none -no-reboot \
            -netdev tap,id=n0,ifname=t0,script=no,downscript=no,queues=2 \
            -device virtio-net-pci,netdev=n0,mq=on,vectors=6,romfile= \
            -netdev hubport,id=n1,hubid=1 -device e1000e,netdev=n1,romfile= \
            -netdev hubport,id=n2,hubid=1 -device vmxnet3,netdev=n2,romfile=";
        let enter = [
            "ip",
            "netns",
            "exec",
            &self.namespace,
            "setpriv",
            "--pdeathsig",
            "KILL",
            "qemu-system-x86_64",
        ];
        let files = ["-kernel", &kernel, "-initrd", &initrd];
        let argv = enter.into_iter().chain(files).chain(words.split(' '));
        let argv = argv.chain(["-append", "console=ttyS0 quiet panic=-1"]);
        let mut machine = Local::new().spawn(&Command::new(argv)).unwrap();
        let mut said = Vec::new();
        for line in machine.take_stdout().unwrap().lines() {
            said.push(line.unwrap());
            if said.last().unwrap().contains("Server listening on 0.0.0.0") {
                self.machine = Some(machine);
                return self;
            }
        }
        panic!("the guest does not start: {said:#?}");
    }

    fn host(&self) -> Host {
        let key = fs::read_to_string(self.file("host.pub")).unwrap();
        fs::write(self.file("known"), format!("10.9.0.2 {key}")).unwrap();
        let config = format!(
            "IdentityFile {}\nIdentitiesOnly yes\nUserKnownHostsFile {}\nGlobalKnownHostsFile none\n",
            self.file("user"),
            self.file("known")
        );
        fs::write(self.file("ssh_config"), config).unwrap();
        let config = self.file("ssh_config");
        let program = ["ip", "netns", "exec", &self.namespace, "ssh", "-F", &config];
        let name = "ssh://root@10.9.0.2";
        let destination = Destination::parse(name).unwrap();
        let ssh = Ssh::connect_by(destination, program.map(str::to_owned).to_vec()).unwrap();
        Host::new(HostName::new(name), Arc::new(ssh)).unwrap()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.machine = None;
        drop(Local::new().run(&[Command::new(["ip", "netns", "del", &self.namespace])]));
    }
}

fn local(argv: &[&str]) -> String {
    let output = run_one(&Local::new(), &Command::new(argv.iter().copied())).unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// All that the tools say of the NICs, whatever we understand of it.
fn picture(host: &Host) -> String {
    let options = ["-a", "-c", "-g", "-k", "-l", "-x", "--show-eee"];
    let of_nic = |nic| options.map(|option| Command::new(["ethtool", option, nic]));
    let mut commands: Vec<Command> = NICS.into_iter().flat_map(of_nic).collect();
    commands.push(Command::new(["ip", "-o", "link"]));
    let mut text = String::new();
    for (command, output) in commands.iter().zip(host.exec.run(&commands).unwrap()) {
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        writeln!(text, "{} {}\n{said}", command.argv.join(" "), output.status).unwrap();
    }
    text
}

fn eventually_as(host: &Host, before: &str) {
    let began = Instant::now();
    loop {
        let now = picture(host);
        if now == before {
            return;
        }
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "{before}\nis now\n{now}"
        );
    }
}

/// A value that it does not have, and a modest one: limits are not the matter here.
fn another(state: &State) -> Value {
    match (&state.allowed, &state.value) {
        (Allowed::Switch, Value::Switch(on)) => Value::Switch(!on),
        (Allowed::Range { min, max }, Value::Integer(now)) => {
            Value::Integer(if now * 2 <= max.value {
                (now * 2).max(1)
            } else {
                (now / 2).max(min.value)
            })
        }
        (Allowed::Words(words), now) => {
            let other = words
                .iter()
                .find(|word| Value::Text((*word).clone()) != *now);
            Value::Text(other.unwrap().clone())
        }
        (Allowed::Processors { possible, .. }, now) => {
            let mut lists = possible
                .iter()
                .map(|number| Value::Text(number.to_string()));
            lists.find(|list| list != now).unwrap()
        }
        other => panic!("{other:?}"),
    }
}

/// What becomes of a knob that is set, read, put back and read.
fn outcome(host: &Host, spot: &Spot, state: Result<State, Refusal>) -> String {
    let (target, knob) = spot;
    let state = match state {
        Ok(state) => state,
        Err(refusal) => return format!("not there: {}", English.say(&refusal.reason)),
    };
    if let Some(because) = state.fixed_because {
        return format!("fixed: {}", English.say(&because));
    }
    let to = another(&state);
    let step = knob.plan(target, &state, &to).unwrap().remove(0);
    let run = |command| host.exec.run(&[command]).unwrap().remove(0);
    let value = || {
        let states = read_states(host, std::slice::from_ref(spot));
        states.unwrap().remove(0).unwrap().value
    };
    let set = run(step.run);
    let found = value();
    run(step.undo);
    assert_eq!(value(), state.value, "{} {target}", knob.id);
    match set.status {
        0 if found == to => "takes".into(),
        0 => format!("reads {found} after {to}"),
        _ => String::from_utf8_lossy(&set.stderr).trim().to_owned(),
    }
}

/// All knobs of the NICs one by one.
fn each_knob(host: &Host) -> BTreeMap<(String, &'static str), String> {
    let knobs = |nic: &str| {
        let target = Target::Nic(nic.into());
        let knobs = knob::of_target(System::Linux, &target).filter(|knob| !knob.only_in_snapshots);
        knobs
            .map(|knob| (target.clone(), knob))
            .collect::<Vec<Spot>>()
    };
    let spots: Vec<Spot> = NICS.into_iter().flat_map(knobs).collect();
    let states = read_states(host, &spots).unwrap();
    let outcomes = spots
        .iter()
        .zip(states)
        .map(|(spot, state)| ((spot.0.to_string(), spot.1.id), outcome(host, spot, state)));
    outcomes.collect()
}

/// What is known of the drivers of Linux 6.1.
const KNOWN: [(&str, &str, &str); 31] = [
    ("e1000e", "nic.mtu", TAKES),
    ("e1000e", "nic.tso", TAKES),
    ("e1000e", "nic.lro", FIXED),
    ("e1000e", "nic.tx_checksum", TAKES),
    ("e1000e", "nic.rx_checksum", TAKES),
    ("e1000e", "nic.flow_control", TAKES),
    ("e1000e", "nic.channels", MISSING),
    ("e1000e", "nic.ring_rx", TAKES),
    ("e1000e", "nic.ring_tx", TAKES),
    ("e1000e", "nic.adaptive_rx", MISSING),
    // It knows no times between 4 and 10 microseconds.
    ("e1000e", "nic.rx_usecs", "netlink error: Invalid argument"),
    ("e1000e", "nic.rx_frames", MISSING),
    ("e1000e", "nic.eee", MISSING),
    ("vmxnet3", "nic.mtu", TAKES),
    ("vmxnet3", "nic.tso", TAKES),
    ("vmxnet3", "nic.lro", TAKES),
    ("vmxnet3", "nic.rx_checksum", TAKES),
    ("vmxnet3", "nic.flow_control", MISSING),
    ("vmxnet3", "nic.channels", UNSUPPORTED),
    ("vmxnet3", "nic.ring_rx", TAKES),
    ("vmxnet3", "nic.ring_tx", TAKES),
    ("vmxnet3", "nic.rx_usecs", MISSING),
    ("virtio_net", "nic.mtu", TAKES),
    ("virtio_net", "nic.gro", TAKES),
    ("virtio_net", "nic.lro", FIXED),
    ("virtio_net", "nic.rx_checksum", FIXED),
    ("virtio_net", "nic.channels", TAKES),
    ("virtio_net", "nic.ring_rx", TAKES),
    ("virtio_net", "nic.rx_usecs", UNSUPPORTED),
    (
        "virtio_net",
        "nic.rx_frames",
        "netlink error: Invalid argument",
    ),
    ("virtio_net", "nic.eee", MISSING),
];
const TAKES: &str = "takes";
const FIXED: &str = "fixed: the driver does not let it be changed";
const MISSING: &str = "not there: the driver does not know it";
const UNSUPPORTED: &str = "netlink error: Operation not supported";

fn setting(host: &Host, nic: &str, id: &str, value: Value) -> Setting {
    Setting::Knob {
        host: host.name.clone(),
        target: Target::Nic(nic.into()),
        id: KnobId::new(id),
        value,
    }
}

/// A change of several knobs of a NIC, made with all that a user gets, and taken back.
fn whole_change(host: &Host, journal: &Journal, nic: &str, settings: &[(&str, Value)]) {
    let settings = settings.iter();
    let settings: Vec<Setting> = settings
        .map(|(id, value)| setting(host, nic, id, value.clone()))
        .collect();
    let hosts = std::slice::from_ref(host);
    let before = picture(host);
    let mut open = journal
        .begin(Change::plan(hosts, &settings, "test").unwrap())
        .unwrap();
    open.apply().unwrap();
    assert_ne!(picture(host), before);
    let id = open.keep().unwrap();
    let again = |_: &HostName| Ok(host.clone());
    let undone = journal.undo(Some(&id), UndoMode::Ours, &again).unwrap();
    assert!(undone[0].closed, "{undone:#?}");
    assert_eq!(picture(host), before, "{nic}");
}

/// A driver that does not do what it is told: its words are in the error, and all is as before.
fn refused_change(host: &Host, journal: &Journal, settings: &[(&str, Value)], words: &str) {
    let settings = settings.iter();
    let settings: Vec<Setting> = settings
        .map(|(id, value)| setting(host, "e1000e", id, value.clone()))
        .collect();
    let hosts = std::slice::from_ref(host);
    let before = picture(host);
    let mut open = journal
        .begin(Change::plan(hosts, &settings, "test").unwrap())
        .unwrap();
    let error = open.apply().unwrap_err();
    assert!(
        matches!(error, Error::Apply { restored: true, .. }),
        "{error}"
    );
    let said = error.source().unwrap().to_string();
    assert!(said.contains(words), "{said}");
    open.close().unwrap();
    assert_eq!(picture(host), before);
}

#[test]
fn knobs_of_real_drivers_are_read_set_and_put_back() {
    let guest = Guest::start();
    let host = guest.host();
    let before = picture(&host);
    let outcomes = each_knob(&host);
    for (nic, id, known) in KNOWN {
        assert_eq!(
            outcomes[&(nic.to_owned(), id)],
            known,
            "{id} of {nic}: {outcomes:#?}"
        );
    }
    // The link of `e1000e` is reset by what it was told last.
    eventually_as(&host, &before);
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path(), "test").unwrap();
    let text = |text: &str| Value::Text(text.into());
    whole_change(
        &host,
        &journal,
        "e1000e",
        &[
            ("nic.mtu", Value::Integer(4000)),
            ("nic.flow_control", text("off")),
            ("nic.ring_rx", Value::Integer(512)),
            ("nic.tx_checksum", Value::Switch(false)),
        ],
    );
    whole_change(
        &host,
        &journal,
        "vmxnet3",
        &[
            ("nic.lro", Value::Switch(false)),
            ("nic.ring_rx", Value::Integer(512)),
            // Takes the former with it.
            ("nic.rx_checksum", Value::Switch(false)),
        ],
    );
    // The session itself runs over this one.
    whole_change(
        &host,
        &journal,
        "virtio_net",
        &[
            ("nic.channels", Value::Integer(1)),
            ("nic.gro", Value::Switch(false)),
        ],
    );
    let half = ("nic.ring_tx", Value::Integer(512));
    refused_change(
        &host,
        &journal,
        &[half.clone(), ("nic.rx_usecs", Value::Integer(6))],
        "Invalid argument",
    );
    refused_change(
        &host,
        &journal,
        &[half, ("nic.ring_rx", Value::Integer(100))],
        "104",
    );
    assert!(list_open(folder.path()).unwrap().open.is_empty());
}
