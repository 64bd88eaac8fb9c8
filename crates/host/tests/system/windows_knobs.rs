//! Knobs of Windows, on a model and on what real hosts printed.

use std::sync::Arc;

use host::Host;
use host::change::{Change, Typed, UndoMode, understand};
use host::exec::{Output, Replay};
use host::journal::Journal;
use host::knob::{self, Allowed, KNOBS, Knob, Refusal, State, TargetKind};
use record::{HostName, KnobId, LinkState, Setting, System, Target, Value};
use serde_json::json;

use crate::english;
use crate::journals::{restore_from_journal, restore_from_version_1};
use crate::simulated_windows_host::{Model, failed, fixture, listed, said};

const NIC: &str = "イーサネット 5";

fn windows() -> impl Iterator<Item = &'static Knob> {
    KNOBS.iter().filter(|knob| knob.system == System::Windows)
}

fn target(knob: &Knob, nic: &str) -> Target {
    match knob.on {
        TargetKind::Nic => Target::Nic(nic.into()),
        _ => Target::Host,
    }
}

fn find(id: &str) -> &'static Knob {
    knob::find(System::Windows, id).unwrap_or_else(|| panic!("there is no {id}"))
}

fn read(host: &Host, knob: &Knob, nic: &str) -> Result<State, Refusal> {
    let target = target(knob, nic);
    let outputs = host.exec.run(&knob.read(&target)?).unwrap();
    knob.parse(&target, &outputs)
}

/// What a knob is, where its commands print this.
fn parse(id: &str, outputs: &[Output]) -> Result<State, Refusal> {
    let knob = find(id);
    let mut outputs = outputs.to_vec();
    let commands = knob.read(&target(knob, NIC)).unwrap();
    while outputs.len() < commands.len() {
        outputs.push(failed(1, "it failed"));
    }
    knob.parse(&target(knob, NIC), &outputs)
}

fn adapter() -> Output {
    said(json!([{ "Name": NIC, "MtuSize": 1500, "TransmitLinkSpeed": 1_000_000_000 }]).to_string())
}

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

/// Other values than the present one.
fn others(state: &State) -> Vec<Value> {
    let mut all = match &state.allowed {
        Allowed::Switch => vec![Value::Switch(true), Value::Switch(false)],
        Allowed::SwitchOf(parts) => {
            let parts = parts.iter().map(|part| text(part));
            [Value::Switch(true), Value::Switch(false)]
                .into_iter()
                .chain(parts)
                .collect()
        }
        Allowed::Range { min, max } => vec![Value::Integer(min.value), Value::Integer(max.value)],
        Allowed::Numbers(numbers) => numbers.iter().copied().map(Value::Integer).collect(),
        Allowed::Words(words) => words.iter().map(|word| text(word)).collect(),
        other => panic!("{other:?}"),
    };
    all.extend(state.unset.clone());
    all.retain(|value| *value != state.value);
    all
}

fn run(host: &Host, command: &host::exec::Command) {
    let outputs = host.exec.run(std::slice::from_ref(command)).unwrap();
    assert_eq!(outputs[0].status, 0, "{command:?}");
}

#[test]
fn read_set_read_undo_read() {
    for knob in windows() {
        let model = Model::new(NIC);
        let (host, before) = (model.host(), model.now());
        let state = read(&host, knob, NIC).unwrap_or_else(|why| panic!("{}: {why:?}", knob.id));
        let target = target(knob, NIC);
        if let Some(because) = &state.fixed_because {
            let refusal = knob.plan(&target, &state, &Value::Unset).unwrap_err();
            assert_eq!(refusal.reason, *because);
            continue;
        }
        let others = others(&state);
        assert!(!others.is_empty(), "{}", knob.id);
        for to in others {
            let steps = knob.plan(&target, &state, &to).unwrap();
            assert_eq!(steps.len(), 1, "{}", knob.id);
            assert_eq!(steps[0].run.privilege, knob.needs);
            // Undo is harmless when the step never ran.
            run(&host, &steps[0].undo);
            assert!(model.now() == before, "{} {to}", knob.id);
            // Either can be asked for twice, as after a connection that broke.
            run(&host, &steps[0].run);
            run(&host, &steps[0].run);
            let after = read(&host, knob, NIC).unwrap();
            assert_eq!(after.value, to, "{}", knob.id);
            assert_eq!(knob.plan(&target, &after, &to), Ok(Vec::new()));
            run(&host, &steps[0].undo);
            run(&host, &steps[0].undo);
            assert!(model.now() == before, "{} {to}", knob.id);
            assert_eq!(
                read(&host, knob, NIC).unwrap().value,
                state.value,
                "{}",
                knob.id
            );
        }
    }
}

#[test]
fn every_knob_is_put_back_from_what_the_journal_says_of_it() {
    for knob in windows() {
        let model = Model::new(NIC);
        // The driver takes longer frames than the protocol stack sends.
        model.with(|machine| machine.mtu = [1400, 1500]);
        let (host, before) = (model.host(), model.now());
        let state = read(&host, knob, NIC).unwrap();
        if state.fixed_because.is_some() {
            continue;
        }
        for to in others(&state) {
            let setting = Setting::Knob {
                host: host.name.clone(),
                target: target(knob, NIC),
                id: KnobId::new(knob.id),
                value: to.clone(),
            };
            restore_from_journal(&host, &[setting]);
            assert!(model.now() == before, "{} {to}", knob.id);
        }
    }
    let model = Model::new(NIC);
    let before = model.now();
    restore_from_version_1(&model.host(), "windows");
    assert!(model.now() == before);
}

#[test]
fn what_is_so_already_does_not_restart_the_adapter() {
    let model = Model::new(NIC);
    let (host, knob) = (model.host(), find("nic.flow_control"));
    let target = target(knob, NIC);
    let state = read(&host, knob, NIC).unwrap();
    let steps = knob.plan(&target, &state, &text("off")).unwrap();
    run(&host, &steps[0].run);
    run(&host, &steps[0].run);
    assert_eq!(model.with(|machine| machine.restarts), 1);
}

#[test]
fn the_stack_never_sends_what_the_driver_does_not_take() {
    let model = Model::new(NIC);
    let (host, knob) = (model.host(), find("nic.mtu"));
    let target = target(knob, NIC);
    let state = read(&host, knob, NIC).unwrap();
    let order = |script: &str| {
        let driver = script.find("AdvancedProperty -RegistryValue").unwrap();
        script.find("-NlMtuBytes").unwrap().cmp(&driver)
    };
    let up = knob
        .plan(&target, &state, &Value::Integer(9000))
        .unwrap()
        .remove(0);
    assert_eq!(order(&up.run.argv[4]), std::cmp::Ordering::Greater);
    assert_eq!(order(&up.undo.argv[4]), std::cmp::Ordering::Less);
    // What fits into no length of the driver is refused, what lies between two takes the longer.
    let between = knob
        .plan(&target, &state, &Value::Integer(4080))
        .unwrap()
        .remove(0);
    assert!(
        between.run.argv[4].contains("-RegistryValue '9014'"),
        "{:?}",
        between.run
    );
    for (mtu, reason) in [
        (
            9001,
            "it takes 9000 at most, because the driver takes no more",
        ),
        (1279, "it takes 1280 at least, because IPv6 needs so much"),
    ] {
        let refusal = knob.plan(&target, &state, &Value::Integer(mtu));
        assert_eq!(english(&refusal.unwrap_err().reason), reason);
    }
}

#[test]
fn a_driver_that_takes_less_than_the_stack_sends_is_remarked() {
    let model = Model::new(NIC);
    model.with(|machine| machine.mtu = [9000, 9000]);
    let state = read(&model.host(), find("nic.mtu"), NIC).unwrap();
    assert_eq!(state.value, Value::Integer(1500));
    let remark = "the protocol stack would send 9000 and the driver takes 1500";
    assert_eq!(english(&state.remark.unwrap()), remark);
}

#[test]
fn a_change_is_made_and_undone_through_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let model = Model::new(NIC);
    let (host, before) = (model.host(), model.now());
    let typed = [
        ("nic.mtu", "9000"),
        ("nic.tso", "off"),
        ("smb.large_mtu", "off"),
        ("tcp.mtu_probing", "1"),
        ("power.plan", "high-performance"),
    ];
    let typed = typed.map(|(id, value)| Typed {
        target: target(find(id), NIC),
        knob: KnobId::new(id),
        value: value.into(),
    });
    let settings = understand(&host, &typed).unwrap();
    let change = Change::plan(std::slice::from_ref(&host), &settings, "test").unwrap();
    let journal = Journal::open(folder.path(), "test").unwrap();
    let mut open = journal.begin(change).unwrap();
    open.apply().unwrap();
    open.keep().unwrap();
    assert_ne!(model.now(), before);
    let undone = journal
        .undo(None, UndoMode::Ours, &|_| Ok(model.host()))
        .unwrap();
    assert!(undone[0].closed, "{undone:#?}");
    assert_eq!(model.now(), before);
}

#[test]
fn netsh_speaks_for_cmdlets_that_are_not_there() {
    for (folder, timestamps, autotuning) in [
        ("windows-10", "allowed", "normal"),
        ("windows-server-2019", "disabled", "normal"),
        ("windows-11-ja", "allowed", "normal"),
        ("windows-7-ja", "disabled", "normal"),
    ] {
        let table = said(fixture(&format!("{folder}/netsh-tcp-global.txt")));
        let outputs = [failed(127, "not recognized"), table];
        let value = |id: &str| parse(id, &outputs).unwrap().value;
        assert_eq!(value("tcp.timestamps"), text(timestamps), "{folder}");
        assert_eq!(value("tcp.window_autotuning"), text(autotuning), "{folder}");
        assert_eq!(value("tcp.ecn"), text("disabled"), "{folder}");
        assert_eq!(value("tcp.rss_global"), Value::Switch(true), "{folder}");
        // The labels of neither tell it.
        let why = parse("tcp.delayed_ack", &outputs).unwrap_err().reason;
        assert_eq!(english(&why), "this Windows does not tell it");
    }
    let old = said(fixture("windows-7-ja/netsh-tcp-global.txt"));
    let why = parse("tcp.rsc_global", &[failed(127, "no"), old])
        .unwrap_err()
        .reason;
    assert_eq!(english(&why), "this Windows does not tell it");
    let model = Model::new(NIC);
    model.with(|machine| machine.has_cmdlets = false);
    let state = read(&model.host(), find("nic.mtu"), NIC).unwrap();
    assert_eq!(state.value, Value::Integer(1500));
}

#[test]
fn recorded_hosts_read_as_they_are() {
    let client = listed("windows-11-24h2/smb-client.txt");
    for outputs in [
        said(json!([client]).to_string()),
        // One object alone, as PowerShell 5.1 has it.
        said(json!(client).to_string()),
        said(fixture("windows-11-24h2/smb-client.json")),
    ] {
        let state = |id: &str| parse(id, std::slice::from_ref(&outputs)).unwrap();
        assert_eq!(state("smb.client.max_channels").value, Value::Integer(4));
        assert_eq!(
            state("smb.client.multichannel_threshold").value,
            Value::Integer(8)
        );
        assert_eq!(state("smb.client.dialect_min").value, text("none"));
        let signing = state("smb.client.signing_required");
        assert_eq!(signing.value, Value::Switch(true));
        assert!(english(&signing.fixed_because.unwrap()).contains("protection"));
    }
    let server = said(json!([listed("windows-11-24h2/smb-server.txt")]).to_string());
    let state = parse("smb.server.credits", std::slice::from_ref(&server)).unwrap();
    assert_eq!(state.value, Value::Integer(8192));
    // A build without the property.
    let why = parse("smb.server.dialect_min", &[server])
        .unwrap_err()
        .reason;
    assert_eq!(english(&why), "this Windows has no `Smb2DialectMin`");
    let tcp = said(json!([listed("windows-10/tcp-setting.txt")]).to_string());
    let state = |id: &str| parse(id, std::slice::from_ref(&tcp)).unwrap();
    assert_eq!(state("tcp.congestion_control").value, text("cubic"));
    assert_eq!(state("tcp.delayed_ack_timeout").value, Value::Integer(40));
    assert_eq!(state("tcp.timestamps").value, text("disabled"));
    let properties = said(fixture("windows-10/advanced-properties.json"));
    let state = parse("nic.ring_rx", &[adapter(), properties.clone()]).unwrap();
    assert_eq!(state.value, Value::Integer(512));
    let why = find("nic.ring_rx").plan(&Target::Nic(NIC.into()), &state, &Value::Integer(1001));
    assert_eq!(
        english(&why.unwrap_err().reason),
        "the driver takes 80 and every 8th number above"
    );
    let rss = said(fixture("windows-10/rss.json"));
    let state = parse("nic.channels", &[adapter(), rss, properties]).unwrap();
    assert_eq!(state.value, Value::Integer(8));
    let interface = said(fixture("windows-10/smb-client-interface.json"));
    let state = parse("smb.client.nic_rss", &[adapter(), interface]).unwrap();
    assert_eq!(
        english(&state.remark.unwrap()),
        "it can do RDMA, which goes before RSS"
    );
    let schemes = said(fixture("windows-11-ja/powercfg-list.txt"));
    let state = parse("power.plan", &[schemes]).unwrap();
    assert_eq!(state.value, text("balanced"));
    let modern = said("電源設定の GUID: 381b4222-f694-41f0-9685-ff5bb260df2e  (バランス) *\r\n");
    let because = parse("power.plan", &[modern]).unwrap().fixed_because;
    assert_eq!(
        english(&because.unwrap()),
        "the machine has no other power scheme"
    );
}

#[test]
fn what_is_under_way_is_told() {
    let state = |id: &str, said_: String| parse(id, &[said(said_)]).unwrap();
    let channels = state(
        "check.smb_multichannel",
        fixture("windows-10/smb-multichannel.json"),
    );
    assert_eq!(
        channels.value,
        text("nas: 10.0.0.1 to 10.0.0.2 4 of 4; nas: 10.0.1.1 to 10.0.1.2 4 of 4")
    );
    assert!(channels.fixed_because.is_some());
    assert_eq!(
        state("check.smb_multichannel", "[]".into()).value,
        text("none")
    );
    // That nothing was shown does not say that there is nothing.
    assert!(parse("check.smb_session", &[said("")]).is_err());
    let denied = Output {
        stderr: b"Get-SmbConnection : Access is denied.".to_vec(),
        ..said("[]")
    };
    assert!(parse("check.smb_session", &[denied]).is_err());
    let session = json!({ "ServerName": "nas\u{1b}[2J", "Dialect": "3.00", "Signed": true });
    assert_eq!(
        state("check.smb_session", session.to_string()).value,
        text("nas[2J 3.00, signed")
    );
    let way =
        |from: usize| json!({ "LocalAddress": format!("10.0.0.{from}"), "RemoteAddress": "x" });
    let sockets: Vec<_> = (0..100).map(|at| way(at / 4)).collect();
    let Value::Text(sockets) = state("check.smb_sockets", json!(sockets).to_string()).value else {
        panic!("a text")
    };
    assert!(sockets.starts_with("10.0.0.0 to x: 4; "), "{sockets}");
    assert!(sockets.ends_with("; and 9 more"), "{sockets}");
}

#[test]
fn numbers_of_enumerations_and_foreign_values_are_not_guessed_at() {
    // PowerShell 5.1 without a cast: 5 is CUBIC, which nobody can know.
    let tcp = said(json!([{ "CongestionProvider": 5, "AutoTuningLevelLocal": 1 }]).to_string());
    assert!(parse("tcp.congestion_control", &[tcp.clone(), failed(1, "no")]).is_err());
    let row = |keyword: &str, name: &str, value: &str, valid: &[&str]| {
        said(
            json!([{ "DisplayName": name, "RegistryKeyword": keyword, "RegistryValue": [value],
            "ValidRegistryValues": valid }])
            .to_string(),
        )
    };
    // A driver with a keyword of its own, found by the name, in either language.
    for name in ["Flow Control", "フロー制御"] {
        let state = parse(
            "nic.flow_control",
            &[adapter(), row("FlowCtl", name, "3", &[])],
        );
        let state = state.unwrap();
        assert_eq!(state.value, text("rx+tx"));
        let steps = find("nic.flow_control")
            .plan(&Target::Nic(NIC.into()), &state, &text("off"))
            .unwrap();
        assert!(steps[0].run.argv[4].contains("$_.RegistryKeyword -ceq 'FlowCtl'"));
    }
    let odd = parse(
        "nic.rss",
        &[adapter(), row("*RSS", "RSS", "1", &["0", "1", "2"])],
    );
    assert_eq!(
        english(&odd.unwrap_err().reason),
        "the driver has values of its own for `*RSS`: `1`"
    );
    let odd = parse(
        "nic.ring_rx",
        &[adapter(), row("*ReceiveBuffers", "x", "many", &[])],
    );
    assert!(odd.is_err());
    let alone = parse(
        "nic.ring_rx",
        &[adapter(), row("*ReceiveBuffers", "x", "512", &[])],
    );
    assert_eq!(
        english(&alone.unwrap().fixed_because.unwrap()),
        "the driver takes nothing else"
    );
}

#[test]
fn an_interface_that_is_not_there_is_missing() {
    for knob in windows().filter(|knob| knob.on == TargetKind::Nic) {
        let why = read(&Model::new("Ethernet").host(), knob, NIC).unwrap_err();
        assert!(why.target_is_missing, "{}: {why:?}", knob.id);
    }
}

/// A script without its literals.
fn skeleton(script: &str) -> String {
    let is_mark = |letter: char| matches!(letter, '\'' | '\u{2018}'..='\u{201b}');
    let (mut skeleton, mut letters) = (String::new(), script.chars().peekable());
    while let Some(letter) = letters.next() {
        if !is_mark(letter) {
            skeleton.push(letter);
            continue;
        }
        loop {
            let inner = letters.next().expect("a literal that ends");
            if is_mark(inner) && letters.next_if(|next| is_mark(*next)).is_none() {
                break;
            }
        }
        skeleton.push('#');
    }
    skeleton
}

/// Names that mean something to some shell, to a pattern, or to a terminal.
const HOSTILE: [&str; 12] = [
    "a'; Remove-Item C:\\ -Recurse; '",
    "a\u{2019}b",
    "$(calc)",
    "`n`r",
    "a\"b",
    "*",
    "vEthernet [1]*",
    "a;b|c&d>e",
    "%PATH%",
    "{0}",
    "' -or $true -or '",
    "--% x",
];

#[test]
fn hostile_names_stay_names() {
    for knob in windows().filter(|knob| knob.on == TargetKind::Nic) {
        let scripts = |nic: &str| -> Vec<String> {
            let model = Model::new(nic);
            let (host, target) = (model.host(), Target::Nic(nic.into()));
            let mut commands = knob.read(&target).unwrap();
            let state = read(&host, knob, nic).unwrap();
            if state.fixed_because.is_none() {
                let to = others(&state).remove(0);
                let step = knob.plan(&target, &state, &to).unwrap().remove(0);
                run(&host, &step.run);
                assert_eq!(read(&host, knob, nic).unwrap().value, to, "{nic}");
                commands.extend([step.run, step.undo]);
            }
            let scripts = commands
                .into_iter()
                .filter_map(|command| command.argv.get(4).cloned());
            scripts.collect()
        };
        let plain: Vec<String> = scripts("a").iter().map(|script| skeleton(script)).collect();
        for nic in HOSTILE {
            let found = scripts(nic);
            for (script, plain) in found.iter().zip(&plain) {
                let skeleton = skeleton(script);
                // Without `-Name`, a pattern is looked for among all.
                assert!(
                    skeleton == *plain || skeleton == plain.replace(" -Name #", ""),
                    "{nic}: {script}"
                );
            }
            assert_eq!(found.len(), plain.len());
        }
    }
    for nic in ["", "a\nb", "a\u{1b}[2J", "\u{fffd}", &"x".repeat(800)] {
        let refusal = find("nic.mtu").read(&Target::Nic(nic.into())).unwrap_err();
        let hint = english(&refusal.hint.unwrap());
        assert!(hint.contains("Rename-NetAdapter"));
    }
}

#[test]
fn hostile_outputs_are_refused_and_never_executed() {
    let garbage = [
        said(""),
        said("x"),
        said("[{"),
        said("{}"),
        said("[null]"),
        said("[[]]"),
        said("0"),
        said(vec![0xff, 0xfe, 0x00]),
        said("[{\"RegistryKeyword\":{}}]"),
        said("]".repeat(100_000)),
        said("[".repeat(100_000)),
        failed(1, "\u{1b}[2Jno"),
        failed(127, "no such cmdlet"),
        said(
            json!([{ "RegistryKeyword": "*JumboPacket", "RegistryValue": [i64::MIN.to_string()],
            "NumericParameterMinValue": i64::MIN, "NumericParameterMaxValue": i64::MAX,
            "NumericParameterStepValue": 0, "NlMtu": i64::MAX, "AddressFamily": "IPv4" }])
            .to_string(),
        ),
        said(
            json!([{ "RegistryKeyword": "*JumboPacket", "RegistryValue": ["1514"],
            "NumericParameterMinValue": "0", "NumericParameterMaxValue": u32::MAX,
            "NumericParameterStepValue": u32::MAX, "NlMtu": 1500, "AddressFamily": "IPv4",
            "InterfaceMetric": -1, "AutomaticMetric": 7 }])
            .to_string(),
        ),
    ];
    for knob in windows() {
        let target = target(knob, NIC);
        for one in &garbage {
            for first in [adapter(), one.clone()] {
                let count = knob.read(&target).unwrap().len();
                let mut outputs = vec![one.clone(); count];
                if knob.on == TargetKind::Nic {
                    outputs[0] = first;
                }
                match knob.parse(&target, &outputs) {
                    Err(why) => {
                        let reason = english(&why.reason);
                        assert!(!reason.contains(char::is_control), "{}", knob.id);
                    }
                    Ok(state) if state.fixed_because.is_none() => {
                        for to in others(&state) {
                            knob.plan(&target, &state, &to).ok();
                        }
                    }
                    Ok(_) => {}
                }
            }
        }
    }
    // A word that the host tells is put back as a word.
    let evil = "cubic'; Remove-Item C:\\; '";
    let tcp = said(json!([{ "CongestionProvider": evil }]).to_string());
    let state = parse("tcp.congestion_control", &[tcp, failed(1, "no")]).unwrap();
    let step = find("tcp.congestion_control")
        .plan(&Target::Host, &state, &text("cubic"))
        .unwrap()
        .remove(0);
    let (run, undo) = (skeleton(&step.run.argv[4]), skeleton(&step.undo.argv[4]));
    assert_eq!(run, undo);
}

/// What each command of the facts prints on a Windows host with two adapters.
fn facts_say(script: &str) -> String {
    let table = [
        ("MachineGuid", "6f8b5a4e-0c1d-4e2f-9a3b-1c2d3e4f5a6b\r\n".to_owned()),
        ("LastBootUpTime", "2026-11-21T08:00Z\r\n".to_owned()),
        ("Win32_OperatingSystem", json!([{ "Version": "10.0.26100",
            "Caption": "Microsoft Windows 11 Pro", "TotalVisibleMemorySize": 16_384_256 }]).to_string()),
        ("Win32_ComputerSystem", json!({ "NumberOfLogicalProcessors": 8 }).to_string()),
        ("Get-NetAdapterRss", json!([{ "Name": NIC, "Enabled": true, "NumberOfReceiveQueues": 8 },
            { "Name": "Wi-Fi", "Enabled": false, "NumberOfReceiveQueues": 4 }]).to_string()),
        ("Get-NetAdapterAdvancedProperty", json!([
            { "Name": NIC, "RegistryKeyword": "*LsoV2IPv4", "RegistryValue": ["1"] },
            { "Name": NIC, "RegistryKeyword": "*TCPChecksumOffloadIPv4", "RegistryValue": ["2"] }]).to_string()),
        ("Get-NetAdapter ", json!([
            { "Name": "Wi-Fi", "InterfaceDescription": "Intel(R) Wi-Fi", "ifIndex": 19,
                "MacAddress": "", "MtuSize": 1500, "TransmitLinkSpeed": 18_446_744_073_709_551_615_u64,
                "DriverFileName": "", "Virtual": false, "InterfaceType": 71, "Status": "Disconnected" },
            { "Name": NIC, "InterfaceDescription": "Intel(R) Ethernet Controller X550", "ifIndex": 12,
                "MacAddress": "00-15-5D-01-02-0A", "MtuSize": 9000, "TransmitLinkSpeed": 10_000_000_000_u64,
                "DriverFileName": "ixs68.sys", "Virtual": false, "InterfaceType": 6, "Status": "Up" },
            { "ifIndex": 13 }]).to_string()),
        ("Get-NetIPInterface", json!([{ "InterfaceAlias": NIC, "NlMtu": 1500, "AddressFamily": "IPv4" },
            { "InterfaceAlias": NIC, "NlMtu": 1280, "AddressFamily": "IPv6" }]).to_string()),
        ("Get-NetIPAddress", json!([
            { "InterfaceIndex": 12, "IPAddress": "10.0.0.1", "PrefixLength": 24 },
            { "InterfaceIndex": 12, "IPAddress": "fe80::1c2f:1%12", "PrefixLength": 64 },
            { "InterfaceIndex": 12, "IPAddress": "10.0.0.9", "PrefixLength": 99 },
            { "InterfaceIndex": 1, "IPAddress": "127.0.0.1", "PrefixLength": 8 }]).to_string()),
        ("Get-NetRoute", json!([
            { "DestinationPrefix": "0.0.0.0/0", "NextHop": "10.0.0.254", "InterfaceAlias": NIC,
                "InterfaceIndex": 12, "RouteMetric": 0, "InterfaceMetric": 15 },
            { "DestinationPrefix": "10.0.0.0/24", "NextHop": "0.0.0.0", "InterfaceAlias": NIC,
                "InterfaceIndex": 12, "RouteMetric": 256, "InterfaceMetric": 15 },
            { "DestinationPrefix": "10.0.0.1/32", "NextHop": "0.0.0.0", "InterfaceAlias": NIC,
                "InterfaceIndex": 12, "RouteMetric": 256, "InterfaceMetric": 15 },
            { "DestinationPrefix": "224.0.0.0/4", "NextHop": "0.0.0.0", "InterfaceAlias": NIC,
                "InterfaceIndex": 12, "RouteMetric": 256, "InterfaceMetric": 15 }]).to_string()),
        ("Get-NetTCPSetting", json!([listed("windows-10/tcp-setting.txt")]).to_string()),
    ];
    let found = table.into_iter().find(|(word, _)| script.contains(word));
    found.unwrap_or_else(|| panic!("not expected: {script}")).1
}

fn replayed(answer: impl Fn(&str) -> Output + Send + 'static) -> Host {
    let exec = Replay::model(move |command| {
        Ok(match command.argv.as_slice() {
            [program, _] if program == "uname" => said("MINGW64_NT-10.0-26100\n"),
            [.., script] => answer(script),
            [] => failed(127, "nothing"),
        })
    });
    Host::new(HostName::new("ssh://windows"), Arc::new(exec)).unwrap()
}

#[test]
fn facts_of_a_host() {
    let facts = host::facts(&replayed(|script| said(facts_say(script)))).unwrap();
    assert_eq!(facts.system, System::Windows);
    assert_eq!(facts.kernel, "10.0.26100 (Microsoft Windows 11 Pro)");
    assert_eq!(
        facts.machine,
        Some(record::Fingerprint::of(
            "6f8b5a4e-0c1d-4e2f-9a3b-1c2d3e4f5a6b"
        ))
    );
    assert_eq!(
        (facts.cores, facts.memory.unwrap().get()),
        (8, 16_384_256 * 1024)
    );
    let [ethernet, wifi] = facts.nics.as_slice() else {
        panic!("{:#?}", facts.nics)
    };
    assert_eq!((ethernet.name.as_str(), ethernet.index), (NIC, 12));
    // What the stack sends counts, where the driver takes more.
    assert_eq!((ethernet.mtu, ethernet.state), (1500, LinkState::Up));
    assert_eq!(ethernet.mac.as_deref(), Some("00:15:5d:01:02:0a"));
    assert_eq!(ethernet.speed.unwrap().get(), 10_000_000_000);
    assert_eq!(ethernet.driver.as_deref(), Some("ixs68.sys"));
    assert_eq!(ethernet.addresses.len(), 2);
    assert_eq!(ethernet.rx_queues, Some(8));
    assert!(ethernet.offloads["tcp-segmentation-offload"].on);
    assert!(!ethernet.offloads["tx-checksumming"].on);
    assert_eq!((wifi.speed, wifi.state), (None, LinkState::Down));
    assert_eq!((wifi.mac.clone(), wifi.rx_queues), (None, Some(1)));
    assert_eq!(wifi.driver.as_deref(), Some("Intel(R) Wi-Fi"));
    assert_eq!(ethernet.medium, Some(record::Medium::Cable));
    assert_eq!(wifi.medium, Some(record::Medium::Wireless));
    let routes: Vec<_> = facts
        .routes
        .iter()
        .map(|route| route.destination.as_str())
        .collect();
    assert_eq!(routes, ["default", "10.0.0.0/24"]);
    assert_eq!(facts.routes[1].metric, Some(271));
    assert_eq!(facts.tcp.congestion_control.as_deref(), Some("cubic"));
}

#[test]
fn facts_are_whole_or_an_error_whatever_the_host_answers() {
    let words = [
        "MachineGuid",
        "Win32_OperatingSystem",
        "Win32_ComputerSystem",
        "Get-NetAdapter ",
        "Get-NetIPInterface",
        "Get-NetRoute",
        "Get-NetTCPSetting",
    ];
    for word in words {
        for output in [
            said(""),
            said("\u{1b}]0;x\u{7}"),
            said("[{}]"),
            said("{\"value\":1}"),
            said("[".repeat(200_000)),
            failed(1, "no"),
            failed(127, "no such cmdlet"),
        ] {
            let spoiled = replayed(move |script| match script.contains(word) {
                true => output.clone(),
                false => said(facts_say(script)),
            });
            if let Ok(facts) = host::facts(&spoiled) {
                assert!(facts.nics.len() <= 2 && facts.cores == 8, "{word}");
            }
        }
    }
    // Ten thousand adapters take no longer than their text does.
    let many = replayed(|script| {
        let rows = |row: fn(i64) -> serde_json::Value| {
            said(json!((0..10_000).map(row).collect::<Vec<_>>()).to_string())
        };
        if script.contains("Get-NetAdapter ") {
            rows(|at| json!({ "Name": format!("Ethernet {at}"), "ifIndex": at, "MtuSize": 1500 }))
        } else if script.contains("Get-NetIPAddress") {
            rows(|at| json!({ "InterfaceIndex": at, "IPAddress": "10.0.0.1", "PrefixLength": 8 }))
        } else {
            said(facts_say(script))
        }
    });
    let facts = host::facts(&many).unwrap();
    assert_eq!(facts.nics.len(), 10_000);
    assert!(facts.nics.iter().all(|nic| nic.addresses.len() == 1));
}
