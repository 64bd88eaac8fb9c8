//! The real thing, in network namespaces that each test makes for itself. Needs root.

use std::fs::{self, Permissions};
use std::io::BufRead;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use host::change::{Change, UndoMode, UndoOutcome, read_back};
use host::exec::{Command, Exec, Local, Process, run_one};
use host::journal::{Journal, list_open};
use host::{Error, Host, facts, knob};
use record::{HostName, KnobId, Setting, System, Target, Value};

/// A namespace with a `veth` pair, which goes with the guard.
struct Scratch {
    name: String,
}

impl Scratch {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("linerate-test-{}-{number}", std::process::id());
        run(&Local::new(), &["ip", "netns", "add", &name]);
        let scratch = Self { name };
        let exec = scratch.exec();
        run(
            &exec,
            &[
                "ip", "link", "add", "a0", "type", "veth", "peer", "name", "b0",
            ],
        );
        run(&exec, &["ip", "addr", "add", "10.77.1.1/24", "dev", "a0"]);
        run(
            &exec,
            &["ip", "addr", "add", "fd77::1/64", "dev", "a0", "nodad"],
        );
        run(&exec, &["ip", "link", "set", "a0", "up"]);
        run(&exec, &["ip", "link", "set", "b0", "up"]);
        scratch
    }

    fn exec(&self) -> Local {
        Local::with_prefix(["ip", "netns", "exec", &self.name])
    }

    fn host(&self) -> Host {
        Host::new(HostName::new("scratch"), Arc::new(self.exec())).unwrap()
    }

    /// Everything a change could have moved, as the tools print it.
    fn picture(&self) -> String {
        let exec = self.exec();
        let mut picture = String::new();
        for nic in ["a0", "b0"] {
            picture += &run(&exec, &["ethtool", "-k", nic]);
            picture += &run(&exec, &["ip", "-o", "link", "show", "dev", nic]);
            picture += &run(
                &exec,
                &[
                    "ip", "-o", "-6", "addr", "show", "dev", nic, "scope", "global",
                ],
            );
        }
        picture + &run(&exec, &["sysctl", "net.ipv4.tcp_congestion_control"])
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let gone = Local::new().run(&[Command::new(["ip", "netns", "del", &self.name])]);
        drop(gone);
    }
}

fn run(exec: &Local, argv: &[&str]) -> String {
    let output = run_one(exec, &Command::new(argv.iter().copied()).as_root()).unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn on(target: &Target, id: &str, value: Value) -> Setting {
    let (host, target) = (HostName::new("scratch"), target.clone());
    Setting::Knob {
        host,
        target,
        id: KnobId::new(id),
        value,
    }
}

fn settings(nic: &str) -> Vec<Setting> {
    let nic = Target::Nic(nic.into());
    vec![
        on(&nic, "nic.mtu", Value::Integer(9000)),
        on(&nic, "nic.gro", Value::Switch(true)),
        on(&nic, "nic.tso", Value::Switch(false)),
        on(&nic, "nic.gso", Value::Switch(false)),
        on(
            &Target::Host,
            "tcp.congestion_control",
            Value::Text("reno".into()),
        ),
    ]
}

/// The helper that flips a change until it is killed.
fn flip() -> String {
    let test = std::env::current_exe().unwrap();
    let folder: PathBuf = test
        .parent()
        .and_then(|deps| deps.parent())
        .unwrap()
        .join("examples");
    let path = folder.join("change_until_killed");
    assert!(
        path.exists(),
        "`{}` is missing: `cargo build -p host --examples`",
        path.display()
    );
    path.to_str().unwrap().to_owned()
}

fn start_flip(scratch: &Scratch, folder: &str) -> Process {
    let command = Command::new([&flip(), scratch.name.as_str(), folder, "a0", "b0"]);
    let mut process = Local::new().spawn(&command).unwrap();
    let mut line = String::new();
    process.take_stdout().unwrap().read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    process
}

/// Only the process itself, not its group: the commands it started live on.
fn kill_9(process: Process) {
    let id = process.id().unwrap().to_string();
    run(&Local::new(), &["kill", "-9", &id]);
    let output = process.wait(Duration::from_secs(10)).unwrap();
    assert_eq!(output.status, 137);
}

#[test]
fn every_knob_takes_on_a_real_interface_and_goes_back() {
    let scratch = Scratch::new();
    let folder = tempfile::tempdir().unwrap();
    let (host, before) = (scratch.host(), scratch.picture());
    let settings = settings("a0");
    let change = Change::plan(std::slice::from_ref(&host), &settings, "run").unwrap();
    let journal = Journal::open(folder.path(), "test").unwrap();
    let mut open = journal.begin(change).unwrap();
    for _ in 0..2 {
        open.apply().unwrap();
        assert_eq!(
            read_back(std::slice::from_ref(&host), &settings).unwrap(),
            settings
        );
        assert_ne!(scratch.picture(), before);
        open.revert().unwrap();
        assert_eq!(scratch.picture(), before);
    }
    open.apply().unwrap();
    open.keep().unwrap();
    let undone = journal
        .undo(None, UndoMode::Ours, &|_| Ok(scratch.host()))
        .unwrap();
    assert!(undone[0].closed, "{undone:#?}");
    assert_eq!(scratch.picture(), before);
}

/// Two changes of one setting, of which the first one is made: neither closing them nor undoing both
/// after a crash takes what the first one set for somebody else's.
#[test]
fn two_changes_of_one_setting_do_not_take_each_other_for_strangers() {
    let scratch = Scratch::new();
    let folder = tempfile::tempdir().unwrap();
    let (host, before) = (scratch.host(), scratch.picture());
    let journal = Journal::open(folder.path(), "test").unwrap();
    let begin = |value: i64| {
        let mut settings = settings("a0");
        settings.truncate(1);
        let Setting::Knob { id, value: to, .. } = &mut settings[0] else {
            panic!("a knob")
        };
        *id = KnobId::new("nic.mtu");
        *to = Value::Integer(value);
        let change = Change::plan(std::slice::from_ref(&host), &settings, "run").unwrap();
        journal.begin(change).unwrap()
    };
    for crash in [false, true] {
        let (mut one, mut other) = (begin(1400), begin(1300));
        one.apply().unwrap();
        one.revert().unwrap();
        other.apply().unwrap();
        other.revert().unwrap();
        one.apply().unwrap();
        if crash {
            // What a crash leaves behind: the changes as the journal has them.
            std::mem::forget((one, other));
            let undone = journal.undo(None, UndoMode::Ours, &|_| Ok(scratch.host()));
            let undone = undone.unwrap();
            assert!(
                undone.len() == 2 && undone.iter().all(|one| one.closed),
                "{undone:#?}"
            );
        } else {
            other.close().unwrap();
            one.close().unwrap();
        }
        assert_eq!(scratch.picture(), before);
    }
}

/// As `ip` and `tc` print them, with the files that choose processors.
fn ways(scratch: &Scratch) -> String {
    let exec = scratch.exec();
    let script = "ip -4 route show table all; ip -4 rule show; tc qdisc show; \
        grep -sH '' /sys/class/net/a0/queues/*/?ps_cpus /proc/sys/net/ipv4/conf/a0/*";
    run(&exec, &["sh", "-c", script])
}

#[test]
fn ways_of_packets_take_on_a_real_interface_and_go_back() {
    let scratch = Scratch::new();
    let folder = tempfile::tempdir().unwrap();
    let (host, before) = (scratch.host(), ways(&scratch));
    let nic = Target::Nic("a0".into());
    let settings = [
        on(&nic, "route.rp_filter", Value::Integer(2)),
        on(&nic, "arp.ignore", Value::Integer(1)),
        on(&nic, "arp.announce", Value::Integer(2)),
        on(&nic, "arp.filter", Value::Switch(true)),
        on(&nic, "route.source_rule", Value::Switch(true)),
        on(&nic, "route.interface_metric", Value::Integer(50)),
        on(&nic, "tcp.delayed_ack", Value::Switch(false)),
        on(&nic, "nic.qdisc", Value::Text("pfifo_fast".into())),
        on(&nic, "nic.rps", Value::Text("0-1".into())),
        on(&Target::Host, "tcp.ecn", Value::Integer(1)),
        on(&Target::Host, "net.somaxconn", Value::Integer(1024)),
    ];
    let journal = Journal::open(folder.path(), "test").unwrap();
    for setting in &settings {
        let one = std::slice::from_ref(setting);
        let change = Change::plan(std::slice::from_ref(&host), one, "run").unwrap();
        assert!(!change.is_empty(), "{setting:?}");
        let undo = journal.begin(change).unwrap();
        drop(undo);
        assert_eq!(
            ways(&scratch),
            before,
            "{setting:?} was undone without ever being made"
        );
    }
    let change = Change::plan(std::slice::from_ref(&host), &settings, "run").unwrap();
    let mut open = journal.begin(change).unwrap();
    open.apply().unwrap();
    let now = ways(&scratch);
    for line in [
        "10.77.1.0/24 dev a0 proto kernel scope link src 10.77.1.1 metric 50 quickack 1",
        "from 10.77.1.1 lookup 180",
        "/sys/class/net/a0/queues/rx-0/rps_cpus:3",
        "qdisc pfifo_fast 11a3: dev a0 root",
        "/a0/rp_filter:2",
    ] {
        assert!(now.contains(line), "{line}: {now}");
    }
    open.revert().unwrap();
    assert_eq!(ways(&scratch), before);
    open.apply().unwrap();
    open.close().unwrap();
    assert_eq!(ways(&scratch), before);
}

/// A `veth` says of each what it cannot do, and nothing is made up.
#[test]
fn what_a_real_interface_lacks_has_its_reason() {
    let scratch = Scratch::new();
    let nic = Target::Nic("a0".into());
    for id in [
        "nic.rss",
        "nic.rss_key",
        "nic.rss_fields",
        "nic.speed_duplex",
        "nic.irq_affinity",
    ] {
        let knob = knob::find(System::Linux, id).unwrap();
        let states = host::change::read_states(&scratch.host(), &[(nic.clone(), knob)]).unwrap();
        let refusal = states[0].as_ref().expect_err(id);
        assert!(
            !crate::english(&refusal.reason).is_empty() && !refusal.target_is_missing,
            "{id}: {refusal:?}"
        );
    }
    let absent = Target::Nic("nosuch".into());
    for knob in knob::of_target(System::Linux, &absent) {
        let states = host::change::read_states(&scratch.host(), &[(absent.clone(), knob)]);
        let refusal = states.unwrap().remove(0).expect_err(knob.id);
        assert!(refusal.target_is_missing, "{}: {refusal:?}", knob.id);
    }
}

#[test]
fn what_checksums_take_with_them_comes_back() {
    let scratch = Scratch::new();
    let folder = tempfile::tempdir().unwrap();
    let (host, before) = (scratch.host(), scratch.picture());
    let gso = [on(
        &Target::Nic("a0".into()),
        "nic.gso",
        Value::Switch(false),
    )];
    let journal = Journal::open(folder.path(), "test").unwrap();
    let change = Change::plan(std::slice::from_ref(&host), &gso, "run").unwrap();
    let mut open = journal.begin(change).unwrap();
    open.apply().unwrap();
    // As if our own command had done it: the journal has no word of how it was afterwards.
    run(&scratch.exec(), &["ethtool", "-K", "a0", "tx", "off"]);
    let id = open.keep().unwrap();
    let file = folder.path().join(format!("open/{id}.jsonl"));
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.split_inclusive('\n').next().unwrap()).unwrap();
    let tso = [on(
        &Target::Nic("a0".into()),
        "nic.tso",
        Value::Switch(true),
    )];
    let error = Change::plan(&[host], &tso, "run").unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("it needs `tx-checksumming`, which is off"),
        "{error}"
    );
    let undone = journal
        .undo(None, UndoMode::Ours, &|_| Ok(scratch.host()))
        .unwrap();
    assert!(undone[0].closed, "{undone:#?}");
    assert_eq!(scratch.picture(), before);
}

#[test]
fn ipv6_survives_because_a_small_mtu_is_refused() {
    let scratch = Scratch::new();
    let before = scratch.picture();
    let small = [on(
        &Target::Nic("a0".into()),
        "nic.mtu",
        Value::Integer(1200),
    )];
    let error = Change::plan(&[scratch.host()], &small, "run").unwrap_err();
    assert!(error.to_string().contains("IPv6"), "{error}");
    let large = [on(
        &Target::Nic("a0".into()),
        "nic.mtu",
        Value::Integer(70_000),
    )];
    assert!(Change::plan(&[scratch.host()], &large, "run").is_err());
    assert_eq!(scratch.picture(), before);
}

#[test]
fn a_shaped_link_says_its_rate() {
    let scratch = Scratch::new();
    let exec = scratch.exec();
    let htb = [
        "tc", "qdisc", "add", "dev", "a0", "root", "handle", "1:", "htb", "default", "10",
    ];
    run(&exec, &htb);
    let class = "tc class add dev a0 parent 1: classid 1:10 htb rate 984395318bit";
    run(&exec, &class.split(' ').collect::<Vec<_>>());
    let tbf = "tc qdisc add dev b0 root tbf rate 100mbit burst 32k latency 10ms";
    run(&exec, &tbf.split(' ').collect::<Vec<_>>());
    let facts = facts(&scratch.host()).unwrap();
    let shaped: Vec<_> = facts
        .nics
        .iter()
        .map(|nic| {
            (
                nic.name.as_str(),
                nic.shaped.map(record::BitsPerSecond::get),
            )
        })
        .collect();
    // `tc` prints whole kilobits.
    assert_eq!(
        shaped,
        [("b0", Some(100_000_000)), ("a0", Some(984_395_000))]
    );
    assert!(
        facts
            .nics
            .iter()
            .all(|nic| nic.kind.as_deref() == Some("veth"))
    );
    assert_eq!(facts.nics[1].addresses.len(), 3);
}

#[test]
fn killed_at_any_moment_undo_restores_everything() {
    let scratch = Scratch::new();
    let folder = tempfile::tempdir().unwrap();
    let before = scratch.picture();
    let mut caught = 0;
    for moment in 0..20 {
        let process = start_flip(&scratch, folder.path().to_str().unwrap());
        // About a hundred commands a second run in it, so these are twenty different places.
        thread::sleep(Duration::from_micros(moment * 13_700));
        kill_9(process);
        let listing = list_open(folder.path()).unwrap();
        assert_eq!(listing.open.len(), 1);
        let journal = Journal::open(folder.path(), "undo").unwrap();
        let undone = journal
            .undo(None, UndoMode::Ours, &|_| Ok(scratch.host()))
            .unwrap();
        assert!(undone[0].closed, "{undone:#?}");
        let mut outcomes = undone[0].reports.iter().map(|report| &report.outcome);
        caught += u32::from(outcomes.any(|outcome| *outcome == UndoOutcome::Restored));
        assert_eq!(scratch.picture(), before, "moment {moment}");
        assert!(list_open(folder.path()).unwrap().open.is_empty());
    }
    assert!(
        caught >= 5,
        "only {caught} of 20 kills came in the middle of a change"
    );
}

#[test]
fn of_two_linerates_the_second_is_refused() {
    let scratch = Scratch::new();
    let folder = tempfile::tempdir().unwrap();
    let process = start_flip(&scratch, folder.path().to_str().unwrap());
    let error = Journal::open(folder.path(), "undo").unwrap_err();
    assert!(matches!(error, Error::Locked { .. }));
    let holder = format!("held by `flip`, process {}", process.id().unwrap());
    assert!(error.to_string().contains(&holder), "{error}");
    kill_9(process);
    let journal = Journal::open(folder.path(), "undo").unwrap();
    let undone = journal
        .undo(None, UndoMode::Ours, &|_| Ok(scratch.host()))
        .unwrap();
    assert!(undone[0].closed);
}

#[test]
fn on_a_full_disk_nothing_is_changed() {
    let scratch = Scratch::new();
    let folder = tempfile::tempdir().unwrap();
    let before = scratch.picture();
    let path = folder.path().to_str().unwrap();
    // The mount goes with the last process of its namespace.
    let script = "set -e; mount -t tmpfs -o size=64k,mode=755 none \"$1\"; mkdir \"$1/open\" \"$1/closed\"
        : >\"$1/lock\"; set +e; dd if=/dev/zero of=\"$1/fill\" bs=4k 2>/dev/null; exec \"$2\" \"$3\" \"$1\" a0 b0";
    let argv = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        script,
        "sh",
        path,
        &flip(),
        &scratch.name,
    ];
    let output = Local::new().run(&[Command::new(argv)]).unwrap().remove(0);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status, 1, "{stderr}");
    assert!(stderr.contains("StorageFull"), "{stderr}");
    assert!(output.stdout.is_empty());
    assert_eq!(scratch.picture(), before);
}

/// Runs the helper as nobody, with `sudo` saying what `script` says.
fn flip_as_nobody(scratch: &Scratch, script: Option<&str>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let readable = |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("flip");
    fs::copy(flip(), &program).unwrap();
    if let Some(script) = script {
        fs::write(folder.path().join("sudo"), script).unwrap();
        readable(&folder.path().join("sudo"));
    }
    readable(folder.path());
    let path = format!("PATH={}:/usr/bin:/bin", folder.path().display());
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let mut argv = vec!["env", &path, "setpriv"];
    argv.extend(nobody);
    argv.extend([
        program.to_str().unwrap(),
        &scratch.name,
        "/nonexistent",
        "a0",
    ]);
    let output = Local::new().run(&[Command::new(argv)]).unwrap().remove(0);
    assert_eq!(output.status, 1);
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn without_roots_rights_the_refusal_says_so() {
    let scratch = Scratch::new();
    let said = flip_as_nobody(&scratch, None);
    assert!(
        said.contains("NotRoot") && said.contains("there is no `sudo`"),
        "{said}"
    );
    let script = "#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n";
    let said = flip_as_nobody(&scratch, Some(script));
    assert!(
        said.contains("NotRoot") && said.contains("a password is required"),
        "{said}"
    );
    // A `sudo` that works is asked without a prompt, and gets the arguments as they are.
    let script =
        "#!/bin/sh\n[ \"$1 $2\" = '-n --' ] || exit 9\nshift 2\necho \"ran $*\" >&2\nexit 3\n";
    let said = flip_as_nobody(&scratch, Some(script));
    let ran = format!("ran ip netns exec {} uname -s", scratch.name);
    assert!(said.contains("status: 3") && said.contains(&ran), "{said}");
}
