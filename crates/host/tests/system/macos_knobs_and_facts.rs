//! Knobs and facts of a Mac: recorded outputs, and every knob on a Mac that remembers.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use host::change::{Change, UndoMode};
use host::exec::{Command, Local, Output, Replay, run_one};
use host::journal::Journal;
use host::knob::{self, Allowed, KNOBS, Knob, Refusal, State, TargetKind};
use host::{Host, facts, mounts};
use record::{HostName, KnobId, LinkState, Setting, System, Target, Value};

use crate::journals::{restore_from_journal, restore_from_version_1};

fn fixture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/macos")
        .join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn said(stdout: impl Into<Vec<u8>>) -> Output {
    Output {
        status: 0,
        stdout: stdout.into(),
        stderr: Vec::new(),
    }
}

fn failed() -> Output {
    Output {
        status: 1,
        stdout: Vec::new(),
        stderr: b"not found".to_vec(),
    }
}

/// What a Mac remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Machine {
    sysctls: BTreeMap<&'static str, String>,
    mtu: String,
    medium: String,
    options: Vec<String>,
    order: Vec<String>,
    power: String,
    nsmb: Option<String>,
    kept: BTreeMap<String, String>,
}

const SYSCTLS: [(&str, &str); 15] = [
    ("net.inet.tcp.doautorcvbuf", "1"),
    ("net.inet.tcp.doautosndbuf", "1"),
    ("net.inet.tcp.autorcvbufmax", "8388608"),
    ("net.inet.tcp.autosndbufmax", "4194304"),
    ("net.inet.tcp.use_newreno", "0"),
    ("net.inet.tcp.pmtud_blackhole_detection", "1"),
    ("net.inet.tcp.path_mtu_discovery", "1"),
    ("net.inet.tcp.sack", "1"),
    ("net.inet.tcp.delayed_ack", "3"),
    ("net.inet.tcp.tso", "1"),
    ("kern.ipc.maxsockbuf", "8388608"),
    ("kern.ipc.somaxconn", "128"),
    ("net.smb.fs.maxread", "8388608"),
    ("net.smb.fs.maxwrite", "8388608"),
    ("hw.logicalcpu", "8"),
];

#[derive(Clone)]
struct Model(Arc<Mutex<Machine>>);

impl Model {
    fn new() -> Self {
        let order = fixture("networksetup-listnetworkserviceorder.txt");
        let order = order.lines().filter_map(|line| {
            let (number, name) = line.strip_prefix('(')?.split_once(") ")?;
            (!number.starts_with('H')).then(|| name.to_owned())
        });
        Self(Arc::new(Mutex::new(Machine {
            sysctls: SYSCTLS.map(|(key, value)| (key, value.to_owned())).into(),
            mtu: "1500".into(),
            medium: "autoselect".into(),
            options: ["TSO4", "LRO", "TXCSUM", "RXCSUM"]
                .map(str::to_owned)
                .into(),
            order: order.collect(),
            power: "0".into(),
            nsmb: Some("# ours\n[default]\nsoft=yes\n[NAS]\nmc_on=no\n".into()),
            kept: BTreeMap::new(),
        })))
    }

    fn now(&self) -> Machine {
        self.0.lock().unwrap().clone()
    }

    fn host(&self) -> Host {
        let model = self.clone();
        let exec = Replay::model(move |command| {
            let argv: Vec<&str> = command.argv.iter().map(String::as_str).collect();
            Ok(answer(&mut model.0.lock().unwrap(), &argv))
        });
        Host::new(HostName::new("mac"), Arc::new(exec)).unwrap()
    }
}

fn ifconfig(machine: &Machine) -> String {
    format!(
        "lo0: flags=8049<UP,LOOPBACK,RUNNING,MULTICAST> mtu 16384\n\tinet 127.0.0.1 netmask 0xff000000\n\
         en0: flags=8863<UP,BROADCAST,SMART,RUNNING,SIMPLEX,MULTICAST> mtu {}\n\
         \toptions=56b<{}>\n\tcapabilities=5b<RXCSUM,TXCSUM,TSO4,TSO6,LRO>\n\
         \tether a0:9a:8e:90:a6:62\n\tinet6 fe80::1c58:446:21af:795e%en0 prefixlen 64 secured scopeid 0x6\n\
         \tinet 192.168.81.2 netmask 0xffffff00 broadcast 192.168.81.255\n\
         \tmedia: autoselect (10GbaseT <full-duplex,flow-control>)\n\tstatus: active\n",
        machine.mtu,
        machine.options.join(",")
    )
}

fn answer(machine: &mut Machine, argv: &[&str]) -> Output {
    match argv {
        ["uname", "-s"] => said("Darwin\n"),
        ["uname", "-r"] => said("24.1.0\n"),
        ["sh", "-c", script] if script.contains("IOPlatformUUID") => said("0F-1E\n"),
        ["sysctl", "-n", "kern.bootsessionuuid"] => said("AB-CD\n"),
        ["sysctl", "-n", "hw.memsize"] => said("17179869184\n"),
        ["sysctl", "-n", key] => match machine.sysctls.get(key) {
            Some(value) => said(format!("{value}\n")),
            None => failed(),
        },
        ["sysctl", "-w", assignment] => {
            let (key, value) = assignment.split_once('=').unwrap();
            value.clone_into(machine.sysctls.get_mut(key).unwrap());
            said(format!("{key}: 1 -> {value}\n"))
        }
        ["sysctl", key] => said(format!("{key}: {}\n", machine.sysctls[key])),
        ["ifconfig", "-a", "-m", "-v"] | ["ifconfig", "-m", "en0"] => said(ifconfig(machine)),
        ["ifconfig", "-m", _] => failed(),
        ["ifconfig", "en0", word] => {
            let option = match word.trim_start_matches('-') {
                "tso" => "TSO4",
                "lro" => "LRO",
                "txcsum" => "TXCSUM",
                _ => "RXCSUM",
            };
            let mut on: Vec<&str> = machine.options.iter().map(String::as_str).collect();
            on.retain(|own| *own != option);
            if !word.starts_with('-') {
                on.push(option);
            }
            // In the order in which the tool prints them.
            let all = ["TSO4", "LRO", "TXCSUM", "RXCSUM"].into_iter();
            machine.options = all
                .filter(|own| on.contains(own))
                .map(str::to_owned)
                .collect();
            said("")
        }
        ["netstat", "-rn"] => said(
            "Routing tables\n\nInternet:\nDestination        Gateway            Flags               Netif Expire\n\
             default            192.168.81.1       UGScg                 en0\n\
             192.168.81         link#6             UCS                   en0      !\n",
        ),
        ["networksetup", rest @ ..] => networksetup(machine, rest),
        ["pmset", "-g", "custom"] => said(format!(
            "Battery Power:\n powermode            1\n sleep                1\nAC Power:\n womp                 1\n powermode            {}\n",
            machine.power
        )),
        ["pmset", "-c", "powermode", mode] => {
            (*mode).clone_into(&mut machine.power);
            said("")
        }
        ["defaults", "read", _] => said("{\n    NetBIOSName = MAC;\n    SigningRequired = 1;\n}\n"),
        ["mount", "-t", "smbfs"] => {
            said("//u@nas/share on /Volumes/share (smbfs, nodev, nosuid, mounted by u)\n")
        }
        ["smbutil", "statshares", ..] => said(fixture("smbutil-statshares.json")),
        ["smbutil", "multichannel", ..] => said(fixture("smbutil-multichannel.json")),
        ["cat", "/etc/nsmb.conf"] => machine.nsmb.clone().map_or_else(failed, said),
        ["sh", "-c", script] if script.contains("Preferences/nsmb.conf") => failed(),
        // The very script, on a file of its own.
        ["sh", "-c", script, "sh", "/etc/nsmb.conf", rest @ ..] => {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("nsmb.conf");
            if let Some(text) = &machine.nsmb {
                fs::write(&file, text).unwrap();
            }
            let edit = ["sh", "-c", script, "sh", file.to_str().unwrap()];
            let edit = Command::new(edit.iter().chain(rest).copied());
            run_one(&Local::new(), &edit).unwrap();
            machine.nsmb = fs::read_to_string(&file).ok();
            said("")
        }
        ["sh", "-c", script, "sh", _] if script.contains("LaunchDaemons") => {
            let mut found = String::new();
            for (path, text) in &machine.kept {
                for line in text
                    .lines()
                    .filter(|line| line.starts_with("# linerate keeps: "))
                {
                    found += &format!("{path}:{line}\n");
                }
            }
            said(found)
        }
        ["sh", "-c", _, "sh", path, _, content] => {
            machine.kept.insert((*path).into(), (*content).into());
            said("")
        }
        ["sh", "-c", script, "sh", path] if script.starts_with("rm -f") => {
            machine.kept.remove(*path);
            said("")
        }
        other => panic!("the model knows no {other:?}"),
    }
}

fn networksetup(machine: &mut Machine, words: &[&str]) -> Output {
    match words {
        ["-getMTU", "en0"] => said(format!(
            "Active MTU: {} (Current Setting: {})\n",
            machine.mtu, machine.mtu
        )),
        ["-listValidMTURange", "en0"] => said(fixture("networksetup-listValidMTURange-jumbo.txt")),
        ["-setMTU", "en0", mtu] => {
            (*mtu).clone_into(&mut machine.mtu);
            said("")
        }
        ["-getMedia", "en0"] => said(format!(
            "Current: {}\nActive: 10GbaseT <full-duplex>\n",
            machine.medium
        )),
        ["-listValidMedia", "en0"] => {
            said("autoselect\n1000baseT <full-duplex>\n10GbaseT <full-duplex,flow-control>\n")
        }
        ["-setMedia", "en0", medium @ ..] => {
            machine.medium = medium.join(" ");
            said("")
        }
        ["-listnetworkserviceorder"] => {
            let rows = machine.order.iter().zip(1..);
            let rows = rows.map(|(name, at)| {
                format!("({at}) {name}\n(Hardware Port: {name}, Device: en0)\n\n")
            });
            said(rows.collect::<String>())
        }
        ["-ordernetworkservices", names @ ..] => {
            machine.order = names.iter().map(|&name| name.to_owned()).collect();
            said("")
        }
        _ => failed(),
    }
}

fn target(knob: &Knob) -> Target {
    match knob.on {
        TargetKind::Nic => Target::Nic("en0".into()),
        TargetKind::Mount => Target::Mount("/Volumes/share".into()),
        _ => Target::Host,
    }
}

fn read(host: &Host, knob: &Knob) -> Result<State, Refusal> {
    let outputs = host.exec.run(&knob.read(&target(knob))?).unwrap();
    knob.parse(&target(knob), &outputs)
}

fn another(state: &State) -> Value {
    match (&state.allowed, &state.value) {
        (Allowed::Switch, Value::Switch(on)) => Value::Switch(!on),
        (Allowed::Switch, _) => Value::Switch(true),
        (Allowed::Range { min, max }, Value::Integer(now)) if *now == max.value => {
            Value::Integer(min.value)
        }
        (Allowed::Range { max, .. }, _) => Value::Integer(max.value),
        (Allowed::Words(words), Value::Text(now)) => {
            Value::Text(words.iter().rfind(|word| *word != now).unwrap().clone())
        }
        (Allowed::AsRead, Value::Text(now)) => {
            let mut names: Vec<&str> = now.split(" > ").collect();
            names.reverse();
            Value::Text(names.join(" > "))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_knob_of_a_mac_is_read_set_read_and_undone_or_has_a_reason() {
    let (mut set, mut kept) = (0, 0);
    for knob in KNOBS.iter().filter(|knob| knob.system == System::Macos) {
        let model = Model::new();
        let (host, before, place) = (model.host(), model.now(), target(knob));
        let state = match read(&host, knob) {
            Ok(state) => state,
            Err(refusal) => {
                assert!(
                    !crate::english(&refusal.reason).is_empty() && !refusal.target_is_missing,
                    "{}",
                    knob.id
                );
                continue;
            }
        };
        if state.fixed_because.is_some() {
            assert!(
                knob.plan(&place, &state, &Value::Text("other".into()))
                    .is_err()
            );
            continue;
        }
        set += 1;
        let to = another(&state);
        let steps = knob.plan(&place, &state, &to).unwrap();
        host.exec.run(&[steps[0].undo.clone()]).unwrap();
        assert_eq!(model.now(), before, "{}", knob.id);
        host.exec.run(&[steps[0].run.clone()]).unwrap();
        assert_eq!(read(&host, knob).unwrap().value, to, "{}", knob.id);
        host.exec
            .run(&[steps[0].undo.clone(), steps[0].undo.clone()])
            .unwrap();
        assert_eq!(model.now(), before, "{}", knob.id);
        if knob.survives_reboot {
            continue;
        }
        let Some(twin) = knob::find(System::Macos, &format!("{}.at_start", knob.id)) else {
            continue;
        };
        kept += 1;
        let state = read(&host, twin).unwrap();
        let value = Value::Text(to.to_string());
        let steps = twin.plan(&place, &state, &value).unwrap();
        host.exec.run(&[steps[0].run.clone()]).unwrap();
        assert_eq!(read(&host, twin).unwrap().value, value, "{}", twin.id);
        host.exec.run(&[steps[0].undo.clone()]).unwrap();
        assert_eq!(model.now(), before, "{}", twin.id);
    }
    assert!(set >= 25 && kept >= 12, "{set} set, {kept} kept");
}

#[test]
fn every_knob_of_a_mac_is_put_back_from_what_the_journal_says_of_it() {
    for knob in KNOBS.iter().filter(|knob| knob.system == System::Macos) {
        let model = Model::new();
        let (host, before) = (model.host(), model.now());
        let Ok(state) = read(&host, knob) else {
            continue;
        };
        if state.fixed_because.is_some() {
            continue;
        }
        let setting = Setting::Knob {
            host: host.name.clone(),
            target: target(knob),
            id: KnobId::new(knob.id),
            value: another(&state),
        };
        let mut settings = vec![setting];
        if let Ok(kept) = host::change::kept(std::slice::from_ref(&host), &settings) {
            settings.extend(kept);
        }
        restore_from_journal(&host, &settings);
        assert_eq!(model.now(), before, "{}", knob.id);
    }
    let model = Model::new();
    let before = model.now();
    restore_from_version_1(&model.host(), "macos");
    assert_eq!(model.now(), before);
}

#[test]
fn a_change_of_a_mac_is_made_kept_and_undone() {
    let (model, folder) = (Model::new(), tempfile::tempdir().unwrap());
    let (host, before) = (model.host(), model.now());
    let on = |target: Target, id: &str, value: Value| Setting::Knob {
        host: HostName::new("mac"),
        target,
        id: KnobId::new(id),
        value,
    };
    let mut settings = vec![
        on(Target::Nic("en0".into()), "nic.mtu", Value::Integer(9000)),
        on(Target::Host, "tcp.delayed_ack", Value::Integer(0)),
        on(
            Target::Host,
            "smb.client.multichannel",
            Value::Switch(false),
        ),
    ];
    let hosts = std::slice::from_ref(&host);
    settings.extend(host::change::kept(hosts, &settings).unwrap());
    // The two others survive a restart anyway.
    assert_eq!(settings.len(), 4);
    let journal = Journal::open(folder.path(), "test").unwrap();
    let mut open = journal
        .begin(Change::plan(hosts, &settings, "run").unwrap())
        .unwrap();
    open.apply().unwrap();
    open.keep().unwrap();
    let now = model.now();
    assert_eq!(
        now.nsmb.as_deref(),
        Some("# ours\n[default]\nsoft=yes\nmc_on=no\n[NAS]\nmc_on=no\n")
    );
    let plist = &now.kept["/Library/LaunchDaemons/linerate.tcp.delayed_ack.plist"];
    assert!(
        plist.contains("<string>net.inet.tcp.delayed_ack=0</string>"),
        "{plist}"
    );
    let undone = journal
        .undo(None, UndoMode::Ours, &|_| Ok(model.host()))
        .unwrap();
    assert!(undone[0].closed, "{undone:#?}");
    assert_eq!(model.now(), before);
}

/// The script runs for real, on files as they could be.
#[test]
fn lines_of_nsmb_conf_come_and_go_and_nobody_elses_move() {
    let channels = knob::find(System::Macos, "smb.client.max_channels").unwrap();
    for text in [
        None,
        Some(""),
        Some("[default]\n"),
        Some("# only a remark"),
        Some("[NAS]\nsoft=yes\n"),
        Some("[default]\n\nsoft = yes\n\n[NAS]\nmc_max_channels=2\n"),
        Some("[NAS]\n[default]\nmc_max_channels = 3 \nsoft=yes\n"),
    ] {
        let model = Model::new();
        model.0.lock().unwrap().nsmb = text.map(str::to_owned);
        let host = model.host();
        let state = read(&host, channels).unwrap();
        let steps = channels
            .plan(&Target::Host, &state, &Value::Integer(16))
            .unwrap();
        host.exec.run(&[steps[0].run.clone()]).unwrap();
        assert_eq!(
            read(&host, channels).unwrap().value,
            Value::Integer(16),
            "{text:?}"
        );
        let back = channels.plan(&Target::Host, &read(&host, channels).unwrap(), &state.value);
        assert_eq!(back.unwrap()[0].run, steps[0].undo);
        host.exec.run(&[steps[0].undo.clone()]).unwrap();
        assert_eq!(
            read(&host, channels).unwrap().value,
            state.value,
            "{text:?}"
        );
        let same = |text: &str| text.trim_end().replace(' ', "");
        let now = model.now().nsmb.unwrap_or_default();
        assert_eq!(same(&now), same(text.unwrap_or_default()), "{text:?}");
    }
}

#[test]
fn facts_of_a_mac_come_in_one_batch() {
    let host = Model::new().host();
    assert_eq!(host.system, System::Macos);
    let facts = facts(&host).unwrap();
    assert_eq!((facts.kernel.as_str(), facts.cores), ("24.1.0", 8));
    assert_eq!(facts.machine, Some(record::Fingerprint::of("0F-1E")));
    assert_eq!(facts.tcp.congestion_control.as_deref(), Some("cubic"));
    let [nic] = facts.nics.as_slice() else {
        panic!("{:?}", facts.nics)
    };
    assert_eq!(
        (nic.name.as_str(), nic.mtu, nic.state),
        ("en0", 1500, LinkState::Up)
    );
    assert_eq!(
        nic.speed.map(record::BitsPerSecond::get),
        Some(10_000_000_000)
    );
    let addresses: Vec<String> = nic
        .addresses
        .iter()
        .map(|entry| format!("{}/{}", entry.address, entry.prefix))
        .collect();
    assert_eq!(
        addresses,
        ["fe80::1c58:446:21af:795e/64", "192.168.81.2/24"]
    );
    assert!(nic.offloads["tcp-segmentation-offload"].on);
    let routes: Vec<&str> = facts
        .routes
        .iter()
        .map(|route| route.destination.as_str())
        .collect();
    assert_eq!(routes, ["default", "192.168.81.0/24"]);
    assert_eq!(mounts(&host).unwrap(), ["/Volumes/share"]);
}

/// What real Macs printed.
#[test]
fn recorded_outputs_are_understood() {
    let state = |id: &str, outputs: &[String]| {
        let knob = knob::find(System::Macos, id).unwrap();
        let outputs: Vec<Output> = outputs.iter().map(|text| said(text.clone())).collect();
        knob.parse(&target(knob), &outputs)
    };
    let mtu = [
        fixture("networksetup-getMTU.txt"),
        fixture("networksetup-listValidMTURange.txt"),
    ];
    let mtu = state("nic.mtu", &mtu).unwrap();
    assert_eq!(mtu.value, Value::Integer(1500));
    let Allowed::Range { min, max } = mtu.allowed else {
        panic!("no range")
    };
    assert_eq!((min.value, max.value), (1280, 1500));
    let medium = [
        fixture("networksetup-getMedia.txt"),
        "autoselect\n".to_owned(),
    ];
    assert_eq!(
        state("nic.speed_duplex", &medium).unwrap().value,
        Value::Text("autoselect".into())
    );
    let wifi = [fixture("ifconfig-v-wifi.txt")];
    let tso = state("nic.tso", &wifi).unwrap();
    assert_eq!(tso.value, Value::Switch(true));
    assert!(tso.fixed_because.is_some());
    assert_eq!(
        crate::english(&state("nic.lro", &wifi).unwrap_err().reason),
        "the driver does not know it"
    );
    assert!(state("nic.link_speed", &wifi).is_err());
    for (line, megabits) in [
        ("1000baseT <full-duplex>", 1000),
        ("10GbaseT <full-duplex,flow-control>", 10_000),
        ("2500Base-T <full-duplex>", 2500),
        ("100baseTX <full-duplex>", 100),
    ] {
        let text = format!("en0: flags=8863<UP> mtu 1500\n\tmedia: autoselect ({line})\n");
        let speed = state("nic.link_speed", std::slice::from_ref(&text)).unwrap();
        assert_eq!(speed.value, Value::Integer(megabits), "{line}");
        let pause = state("nic.flow_control", &[text]).unwrap();
        assert_eq!(pause.value, Value::Switch(line.contains("flow-control")));
    }
    let order = [fixture("networksetup-listnetworkserviceorder.txt")];
    let names = "AX88179A > Thunderbolt Bridge > Wi-Fi > Tailscale";
    assert_eq!(
        state("route.interface_metric", &order).unwrap().value,
        Value::Text(names.into())
    );
    let share = [fixture("smbutil-statshares.json")];
    assert_eq!(
        state("smb.session.dialect", &share).unwrap().value,
        Value::Text("SMB_3.1.1".into())
    );
    assert_eq!(
        state("smb.session.encryption", &share).unwrap().value,
        Value::Text("off".into())
    );
    let channels = [fixture("smbutil-multichannel.json")];
    assert_eq!(
        state("smb.session.channels", &channels).unwrap().value,
        Value::Integer(1)
    );
    let older = "Battery Power:\n lowpowermode         0\nAC Power:\n lowpowermode         1\n";
    assert_eq!(
        state("power.plan", &[older.to_owned()]).unwrap().value,
        Value::Integer(1)
    );
    // Whatever a host says, nothing panics and nothing is made up.
    for garbage in [
        "",
        "\0",
        "[",
        "{}",
        "en0: ",
        "(1) ",
        "Active MTU: x",
        "AC Power:\n powermode x\n",
    ] {
        for knob in KNOBS.iter().filter(|knob| knob.system == System::Macos) {
            let count = knob.read(&target(knob)).unwrap().len();
            let outputs = vec![said(garbage); count];
            if let Ok(state) = knob.parse(&target(knob), &outputs) {
                assert!(
                    state.value == Value::Unset
                        || state.fixed_because.is_some()
                        || garbage == "(1) ",
                    "{} of {garbage:?}: {state:?}",
                    knob.id
                );
            }
        }
    }
}
