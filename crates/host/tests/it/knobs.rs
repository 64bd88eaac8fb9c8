//! The catalogue, and each knob on the model host.

use std::collections::BTreeSet;

use host::Host;
use host::knob::{self, Allowed, Disturbance, KNOBS, Knob, Refusal, State, TargetKind};
use record::{System, Target, Value};

use crate::model::Model;

fn target(knob: &Knob) -> Target {
    match knob.on {
        TargetKind::Host => Target::Host,
        TargetKind::Nic => Target::Nic("a0".into()),
    }
}

fn read(host: &Host, knob: &Knob) -> Result<State, Refusal> {
    let target = target(knob);
    let outputs = host.exec.run(&knob.read(&target)?).unwrap();
    knob.parse(&target, &outputs)
}

fn refusal(model: &Model, id: &str, to: Value) -> String {
    let knob = knob::find(System::Linux, id).unwrap();
    let state = read(&model.host(), knob).unwrap();
    knob.plan(&target(knob), &state, &to).unwrap_err().reason
}

#[test]
fn every_entry_is_unique_and_complete() {
    let ids: BTreeSet<_> = KNOBS
        .iter()
        .map(|knob| (format!("{:?}", knob.system), knob.id))
        .collect();
    assert_eq!(ids.len(), KNOBS.len());
    for knob in KNOBS {
        let texts = [
            knob.id,
            knob.title,
            knob.meaning,
            knob.values,
            knob.default,
            knob.rule_of_thumb,
            knob.source,
        ];
        for text in texts {
            assert!(!text.trim().is_empty(), "{} lacks a text", knob.id);
            assert!(!text.ends_with('.'), "{}: {text}", knob.id);
        }
        let (part, name) = knob.id.split_once('.').unwrap();
        let expected = if knob.on == TargetKind::Nic {
            "nic"
        } else {
            "tcp"
        };
        assert_eq!(part, expected);
        assert!(
            name.chars()
                .all(|character| character.is_ascii_lowercase() || character == '_')
        );
    }
}

/// Another value than the present one, for each kind of values.
fn another(state: &State) -> Value {
    match (&state.allowed, &state.value) {
        (Allowed::Switch, Value::Switch(on)) => Value::Switch(!on),
        (Allowed::Range { max, .. }, _) => Value::Integer(max.value),
        (Allowed::Words(words), Value::Text(now)) => {
            Value::Text(words.iter().find(|word| *word != now).unwrap().clone())
        }
        (Allowed::AsRead, Value::Text(now)) => {
            Value::Text(now.replace("nocache-copy:off", "nocache-copy:on"))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn read_set_read_undo_read() {
    for knob in KNOBS {
        let model = Model::new("model");
        let (host, before) = (model.host(), model.now());
        let state = read(&host, knob).unwrap();
        let to = another(&state);
        let steps = knob.plan(&target(knob), &state, &to).unwrap();
        assert!(!steps.is_empty(), "{}", knob.id);
        for step in &steps {
            assert_eq!(step.disturbs, knob.disturbs);
            assert_eq!(step.run.privilege, knob.needs);
        }
        // Undo is harmless when the step never ran.
        for step in steps.iter().rev() {
            assert_eq!(
                host.exec.run(std::slice::from_ref(&step.undo)).unwrap()[0].status,
                0
            );
        }
        assert_eq!(model.now(), before, "{}", knob.id);
        for step in &steps {
            assert_eq!(
                host.exec.run(std::slice::from_ref(&step.run)).unwrap()[0].status,
                0
            );
        }
        let after = read(&host, knob).unwrap();
        assert_eq!(after.value, to, "{}", knob.id);
        assert_eq!(knob.plan(&target(knob), &after, &to), Ok(Vec::new()));
        // And harmless when it runs twice.
        for step in steps.iter().rev().chain(steps.iter().rev()) {
            assert_eq!(
                host.exec.run(std::slice::from_ref(&step.undo)).unwrap()[0].status,
                0
            );
        }
        assert_eq!(model.now(), before, "{}", knob.id);
    }
}

#[test]
fn an_mtu_that_would_cost_ipv6_is_refused() {
    let model = Model::new("model");
    assert_eq!(
        refusal(&model, "nic.mtu", Value::Integer(1279)),
        "it takes 1280 at least, because Linux deletes the interface's IPv6 addresses below that"
    );
    model.with(|machine| machine.nics.get_mut("a0").unwrap().ipv6 = false);
    let mtu = knob::find(System::Linux, "nic.mtu").unwrap();
    let state = read(&model.host(), mtu).unwrap();
    assert!(
        mtu.plan(&target(mtu), &state, &Value::Integer(1279))
            .is_ok()
    );
    assert_eq!(
        refusal(&model, "nic.mtu", Value::Integer(67)),
        "it takes 68 at least, because the driver takes no less"
    );
}

#[test]
fn what_cannot_be_set_is_refused_with_the_reason() {
    let model = Model::new("model");
    let cases = [
        (
            "nic.mtu",
            Value::Integer(9001),
            "it takes 9000 at most, because the driver takes no more",
        ),
        (
            "nic.mtu",
            Value::Text("9000".into()),
            "it takes a whole number",
        ),
        ("nic.tso", Value::Integer(1), "it takes `on` and `off`"),
        ("nic.features", Value::Switch(true), "it is only put back"),
        (
            "nic.features",
            Value::Text("x:on".into()),
            "the driver's offloads are not those it had",
        ),
        (
            "tcp.congestion_control",
            Value::Text("-w net.ipv4.ip_forward=1".into()),
            "it takes one of `reno`, `cubic`, `bbr`",
        ),
        (
            "tcp.congestion_control",
            Value::Unset,
            "it takes one of `reno`, `cubic`, `bbr`",
        ),
    ];
    for (id, to, reason) in cases {
        assert_eq!(refusal(&model, id, to), reason, "{id}");
    }
    model.with(|machine| {
        let nic = machine.nics.get_mut("a0").unwrap();
        nic.requested.insert("tx-checksum-ip-generic", false);
        nic.fixed.push("generic-receive-offload");
    });
    assert_eq!(
        refusal(&model, "nic.tso", Value::Switch(true)),
        "it needs `tx-checksumming`, which is off"
    );
    assert_eq!(
        refusal(&model, "nic.gro", Value::Switch(true)),
        "the driver does not let it be changed"
    );
}

#[test]
fn targets_that_are_none_are_refused() {
    let host = Model::new("model").host();
    let mtu = knob::find(System::Linux, "nic.mtu").unwrap();
    for name in ["-j", "", "a b", "x/y", "../../etc"] {
        assert!(mtu.read(&Target::Nic(name.into())).is_err(), "{name:?}");
    }
    assert!(mtu.read(&Target::Host).is_err());
    let absent = Target::Nic("nosuch".into());
    for id in ["nic.mtu", "nic.tso", "nic.features"] {
        let knob = knob::find(System::Linux, id).unwrap();
        let outputs = host.exec.run(&knob.read(&absent).unwrap()).unwrap();
        assert!(knob.parse(&absent, &outputs).is_err(), "{id}");
        assert!(knob.parse(&absent, &[]).is_err(), "{id}");
    }
}

#[test]
fn segmentation_comes_back_without_the_members_that_were_off() {
    let model = Model::new("model");
    let tso = knob::find(System::Linux, "nic.tso").unwrap();
    let state = read(&model.host(), tso).unwrap();
    let steps = tso
        .plan(&target(tso), &state, &Value::Switch(false))
        .unwrap();
    assert_eq!(steps[0].run.argv.join(" "), "ethtool -K a0 tso off");
    assert_eq!(
        steps[0].undo.argv.join(" "),
        "ethtool -K a0 tx-tcp-segmentation on tx-tcp-mangleid-segmentation off tx-tcp6-segmentation on"
    );
}

#[test]
fn disturbances_are_ordered_by_what_they_cost() {
    let disturbs = |id| knob::find(System::Linux, id).unwrap().disturbs;
    assert!(disturbs("nic.tso") < disturbs("tcp.congestion_control"));
    assert!(disturbs("tcp.congestion_control") < Disturbance::Session);
    assert_eq!(disturbs("nic.mtu"), Disturbance::LinkReset);
}

/// Links on links, as `ip` prints them.
#[test]
fn an_mtu_minds_the_links_above_and_below() {
    let text = r#"[
        {"ifindex":2,"ifname":"a0","mtu":9000,"min_mtu":68,"max_mtu":9216,"operstate":"UP"},
        {"ifindex":3,"ifname":"a0.10","link":"a0","mtu":9000,"min_mtu":0,"max_mtu":65535,
         "linkinfo":{"info_kind":"vlan"}},
        {"ifindex":4,"ifname":"v0","link":"a0","mtu":9000,"linkinfo":{"info_kind":"veth"}}]"#;
    let output = host::exec::Output {
        status: 0,
        stdout: text.as_bytes().to_vec(),
        stderr: Vec::new(),
    };
    let mtu = knob::find(System::Linux, "nic.mtu").unwrap();
    let limits = |nic: &str| {
        let state = mtu
            .parse(&Target::Nic(nic.into()), std::slice::from_ref(&output))
            .unwrap();
        let Allowed::Range { min, max } = state.allowed else {
            panic!("no range")
        };
        (min.value, min.because, max.value, max.because)
    };
    let (min, because, max, _) = limits("a0");
    assert_eq!((min, max), (9000, 9216));
    assert_eq!(
        because,
        "`a0.10` lies on it and would be cut to it for good"
    );
    let (min, _, max, because) = limits("a0.10");
    assert_eq!((min, max), (68, 9000));
    assert_eq!(because, "that is the MTU of `a0`, on which it lies");
    assert_eq!(limits("v0").2, 65_535);
}
