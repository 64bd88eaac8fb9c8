//! Profiles: how they are read, and what they would change on the model host.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use host::Error;
use host::change::{Change, read_states};
use host::profile::{
    self, Profile, Proposal, Protections, Role, Situation, Verdict, propose, settings, spots,
};
use locale::Message;
use record::{BitsPerSecond, HostFacts, LinkState, Nic, Setting, System, Target, TcpFacts, Value};

use crate::english;
use crate::simulated_linux_host::Model;

const GIGABIT: u64 = 1_000_000_000;

fn facts(model: &Model, speed: Option<u64>) -> HostFacts {
    let nic = |(index, name): (u32, &str)| Nic {
        name: name.into(),
        index,
        mac: None,
        mtu: 1500,
        mtu_max: None,
        speed: speed.map(BitsPerSecond::new),
        shaped: None,
        state: LinkState::Up,
        driver: Some("igb".into()),
        kind: None,
        medium: None,
        port_of: None,
        modes: None,
        addresses: Vec::new(),
        offloads: BTreeMap::new(),
        rx_queues: None,
        tx_queues: None,
    };
    HostFacts {
        name: model.name.clone(),
        system: System::Linux,
        kernel: "6.1".into(),
        machine: None,
        boot: None,
        cores: 8,
        memory: None,
        nics: [(2, "a0"), (3, "a1")].map(nic).into(),
        routes: Vec::new(),
        tcp: TcpFacts::default(),
    }
}

fn situation(facts: &HostFacts) -> Situation<'_> {
    Situation {
        facts,
        role: Role::Server,
        round_trip: Some(Duration::from_micros(300)),
        nics: vec!["a0".into()],
        shares: vec!["media".into()],
    }
}

fn judge<'a>(model: &Model, profile: &'a Profile, situation: &Situation<'_>) -> Vec<Proposal<'a>> {
    let spots = spots(profile, situation);
    let states = read_states(&model.host(), &spots).unwrap();
    let states: Vec<_> = spots.into_iter().zip(states).collect();
    propose(profile, situation, &states)
}

fn own(text: &str) -> Result<Profile, Error> {
    profile::parse("own", text, Protections::Refused)
}

fn rule(knob: &str, more: &str) -> String {
    format!("meaning = 'm'\n[[rule]]\nknob = '{knob}'\nwhy = 'w'\n{more}\n")
}

/// The verdict on a profile of one rule for `a0`, a NIC of 10 Gbit/s.
fn verdict(knob: &str, more: &str) -> Verdict {
    let model = Model::new("model");
    let facts = facts(&model, Some(10 * GIGABIT));
    let profile = own(&rule(knob, more)).unwrap();
    plain(
        judge(&model, &profile, &situation(&facts))
            .remove(0)
            .verdict,
    )
}

/// A verdict with its reason as a text.
fn plain(verdict: Verdict) -> Verdict {
    let text = |because: Message| english(&because).into();
    match verdict {
        Verdict::NotMeant { because } => Verdict::NotMeant {
            because: text(because),
        },
        Verdict::NotHere { because } => Verdict::NotHere {
            because: text(because),
        },
        other => other,
    }
}

#[test]
fn every_profile_of_ours_is_whole_and_touches_no_protection() {
    let profiles = profile::all(None).unwrap();
    let names: Vec<&str> = profiles
        .iter()
        .map(|profile| profile.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "default",
            "high-throughput",
            "low-latency",
            "low-cpu",
            "media"
        ]
    );
    for profile in &profiles {
        assert!(profile.rules.len() > 5, "{}", profile.name);
        assert!(
            profile.rules.iter().all(|rule| rule.source.is_some()),
            "{}",
            profile.name
        );
    }
}

#[test]
fn each_profile_of_ours_is_made_and_taken_back_on_the_model() {
    for profile in profile::all(None).unwrap() {
        for speed in [Some(GIGABIT), Some(100 * GIGABIT), None] {
            let model = Model::new("model");
            let before = model.now();
            let facts = facts(&model, speed);
            let proposals = judge(&model, &profile, &situation(&facts));
            let wanted = settings(&model.name, &proposals);
            let host = model.host();
            let change = Change::plan(std::slice::from_ref(&host), &wanted, "test").unwrap();
            let folder = tempfile::tempdir().unwrap();
            let journal = host::journal::Journal::open(folder.path(), "test").unwrap();
            let mut open = journal.begin(change).unwrap();
            open.apply()
                .unwrap_or_else(|error| panic!("{} {speed:?}: {error:?}", profile.name));
            // Everything that it asked for is so now.
            let proposals = judge(&model, &profile, &situation(&facts));
            let left = settings(&model.name, &proposals);
            assert_eq!(left, [], "{} {speed:?}", profile.name);
            open.close().unwrap();
            assert_eq!(model.now(), before, "{} {speed:?}", profile.name);
        }
    }
}

#[test]
fn a_rule_says_what_it_comes_to_and_why() {
    let change = |to: Value| Verdict::Change { to };
    let not_meant = |because: &str| Verdict::NotMeant {
        because: because.into(),
    };
    let not_here = |because: &str| Verdict::NotHere {
        because: because.into(),
    };
    for (knob, more, expected) in [
        ("nic.tso", "set = true", Verdict::AlreadySo),
        ("nic.gro", "set = true", change(Value::Switch(true))),
        ("nic.ring_rx", "at_least = 128", Verdict::AlreadySo),
        (
            "nic.ring_rx",
            "at_least = 2048",
            change(Value::Integer(2048)),
        ),
        // As far as the hardware goes.
        (
            "nic.ring_rx",
            "at_least = 65536",
            change(Value::Integer(4096)),
        ),
        ("nic.ring_rx", "at_most = 128", change(Value::Integer(128))),
        (
            "tcp.rmem",
            "at_least = '4096,262144,1048576'",
            change(Value::Text("4096 262144 6291456".into())),
        ),
        (
            "tcp.rmem",
            "at_least = '4096,131072,1048576'",
            Verdict::AlreadySo,
        ),
        (
            "nic.tso",
            "set = false\nwhen.speed_min = '25 Gbit/s'",
            not_meant("its speed is 10 Gbit/s, less than 25 Gbit/s"),
        ),
        (
            "nic.tso",
            "set = false\nwhen.speed_below = '10 Gbit/s'",
            not_meant("its speed is 10 Gbit/s, not below 10 Gbit/s"),
        ),
        (
            "nic.tso",
            "set = false\nwhen.speed_min = '10 Gbit/s'",
            change(Value::Switch(false)),
        ),
        (
            "nic.tso",
            "set = false\nwhen.round_trip_min = '5 ms'",
            not_meant("the round trip is 300µs, less than 5ms"),
        ),
        (
            "nic.tso",
            "set = false\nwhen.cores_below = 8",
            not_meant("the number of processors is 8, not below 8"),
        ),
        (
            "nic.tso",
            "set = false\nwhen.driver = ['ice', 'i40e']",
            not_meant("its driver is `igb`, none of `ice`, `i40e`"),
        ),
        (
            "nic.tso",
            "set = false\nwhen.role = 'client'",
            not_meant("it is for a client"),
        ),
        (
            "nic.tso",
            "set = false\nwhen = { role = 'server', driver = ['igb'], cores_min = 8, mtu_below = 1501 }",
            change(Value::Switch(false)),
        ),
        ("nic.tso", "set = 5", not_here("it takes `on` and `off`")),
        (
            "nic.tso",
            "at_least = 5",
            not_here("`on` is neither more nor less than `5`"),
        ),
        (
            "nic.ring_rx",
            "set = 100000",
            not_here("it takes 4096 at most, because the hardware has no more"),
        ),
    ] {
        assert_eq!(verdict(knob, more), expected, "{knob} {more}");
    }
    let model = Model::new("model");
    let text = rule("nic.tso", "set = false\nwhen.speed_min = '1 Gbit/s'");
    let profile = own(&text).unwrap();
    // A shaper of 1 Gbit/s does not count what is around the frames.
    let mut shaped = facts(&model, None);
    shaped.nics[0].shaped = Some(BitsPerSecond::new(984_395_318));
    let found = judge(&model, &profile, &situation(&shaped)).remove(0);
    assert_eq!(found.verdict, change(Value::Switch(false)));
    let facts = facts(&model, None);
    let found = judge(&model, &profile, &situation(&facts)).remove(0);
    assert_eq!(found.target, Some(Target::Nic("a0".into())));
    assert_eq!(plain(found.verdict), not_meant("its speed is not known"));
}

#[test]
fn of_several_wishes_for_one_place_the_furthest_is_made() {
    let model = Model::new("model");
    let facts = facts(&model, Some(10 * GIGABIT));
    let text = "meaning = 'm'\n[[rule]]\nknob = 'nic.ring_rx'\nat_least = 2048\nwhy = 'w'\n\
        [[rule]]\nknob = 'nic.ring_rx'\nat_least = 1024\nwhy = 'w'\n\
        [[rule]]\nknob = 'nic.rx_usecs'\nat_most = 1\nwhy = 'w'\n\
        [[rule]]\nknob = 'nic.rx_usecs'\nat_most = 2\nwhy = 'w'\n";
    let profile = own(text).unwrap();
    let wanted = settings(&model.name, &judge(&model, &profile, &situation(&facts)));
    let values: Vec<&Value> = wanted
        .iter()
        .map(|setting| match setting {
            Setting::Knob { value, .. } | Setting::Workload { value, .. } => value,
        })
        .collect();
    assert_eq!(values, [&Value::Integer(2048), &Value::Integer(1)]);
}

#[test]
fn what_is_no_profile_is_refused_with_the_reason() {
    let two = |one: &str, other: &str| {
        format!(
            "{}[[rule]]\nknob = 'nic.tso'\nwhy = 'w'\n{other}\n",
            rule("nic.tso", one)
        )
    };
    for (text, words) in [
        (
            "meaning = 'm'\ncolour = 'red'\n".to_owned(),
            "unknown field `colour`",
        ),
        (
            rule("nic.tso", "set = true\nwhen.weather = 'fine'"),
            "unknown field `weather`",
        ),
        (
            rule("nic.tso", "set = true\nwhen.role = 'router'"),
            "unknown variant `router`",
        ),
        (rule("nic.tso", "set = [1]"), "did not match"),
        (
            rule("nic.tos", "set = true"),
            "line 3, for `nic.tos`: there is no such knob",
        ),
        (
            rule("nic.features", "set = 'x'"),
            "line 3, for `nic.features`: there is no such knob",
        ),
        (
            rule("nic.tso", ""),
            "line 2, for `nic.tso`: it takes one of `set`, `at_least` and `at_most`",
        ),
        (
            rule("nic.ring_rx", "at_least = 1\nat_most = 2"),
            "line 6, for `nic.ring_rx`: it takes one of",
        ),
        (
            rule("nic.tso", "set = true\nwhen.speed_min = 'fast'"),
            "line 6, for `nic.tso`: `fast` is nothing like `10 Gbit/s`",
        ),
        (
            rule("nic.tso", "set = true\nwhen.speed_min = '-1 Gbit/s'"),
            "line 6, for `nic.tso`: `-1 Gbit/s` is nothing like",
        ),
        (
            rule("nic.tso", "set = true\nwhen.round_trip_below = '5 years'"),
            "line 6, for `nic.tso`: `5 years` is nothing like `5 ms`",
        ),
        (
            rule(
                "nic.tso",
                "set = true\nwhen = { cores_min = 4, cores_below = 4 }",
            ),
            "line 6, for `nic.tso`: its `when` can never be so",
        ),
        (
            two("set = true", "set = false"),
            "line 6, for `nic.tso`: the rule of line 2 wants something else where both hold",
        ),
        (
            two(
                "set = true\nwhen.role = 'client'",
                "set = false\nwhen.cores_min = 4",
            ),
            "line 7, for `nic.tso`: the rule of line 2 wants",
        ),
        (
            rule("nic.tso", "set = true").replace("'w'", "' '"),
            "line 4, for `nic.tso`: it does not say why",
        ),
        ("[[rule]]".into(), "missing field"),
        ("\u{1b}".into(), "own"),
    ] {
        let error = own(&text).unwrap_err();
        let said = format!(
            "{error}: {}",
            std::error::Error::source(&error)
                .map(ToString::to_string)
                .unwrap_or_default()
        );
        assert!(said.contains(words), "{text}\n{said}");
    }
    // Rules that are never both so do not contradict each other.
    for (one, other) in [
        (
            "set = true\nwhen.role = 'client'",
            "set = false\nwhen.role = 'server'",
        ),
        (
            "set = true\nwhen.speed_below = '10 Gbit/s'",
            "set = false\nwhen.speed_min = '10 Gbit/s'",
        ),
        (
            "set = true\nwhen.driver = ['a']",
            "set = false\nwhen.driver = ['b', 'c']",
        ),
        ("set = true", "set = true"),
    ] {
        own(&two(one, other)).unwrap();
    }
}

#[test]
fn protections_are_refused_unless_they_are_meant() {
    for knob in [
        "smb.server.signing_required",
        "smb.server.encryption",
        "smb.server.dialect_min",
        "smb.server.strict_sync",
        "smb.server.sync_always",
        "smb.client.signing_required",
        "smb.client.encryption",
        "smb.client.cache",
    ] {
        let text = rule(knob, "set = 'off'");
        let error = own(&text).unwrap_err();
        assert!(
            matches!(error, Error::ProfileProtection { line: 3, .. }),
            "{knob}: {error}"
        );
        assert!(crate::hint(&error).contains("--allow-security-settings"));
        profile::parse("own", &text, Protections::Meant).unwrap();
    }
    // Meant or not, there are some that linerate never changes.
    let model = Model::new("model");
    let facts = facts(&model, None);
    let text = rule("smb.server.signing_required", "set = 'disabled'");
    let profile = profile::parse("own", &text, Protections::Meant).unwrap();
    let found = judge(&model, &profile, &situation(&facts)).remove(0);
    assert!(
        matches!(found.verdict, Verdict::NotHere { .. }),
        "{found:?}"
    );
}

#[test]
fn a_file_of_ones_own_goes_before_and_others_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("media.toml");
    fs::write(&path, rule("nic.tso", "set = true")).unwrap();
    fs::write(folder.path().join("notes.txt"), "no profile").unwrap();
    let found = profile::find("media", Some(folder.path()), Protections::Refused).unwrap();
    assert_eq!((found.rules.len(), found.file.as_ref()), (1, Some(&path)));
    let by_path = profile::find(path.to_str().unwrap(), None, Protections::Refused).unwrap();
    assert_eq!(by_path, found);
    assert_eq!(profile::all(Some(folder.path())).unwrap().len(), 5);
    let error = profile::find("fast", Some(folder.path()), Protections::Refused).unwrap_err();
    assert!(crate::hint(&error).contains("high-throughput"), "{error}");
    let missing = folder.path().join("none.toml");
    let error = profile::load(&missing, Protections::Refused).unwrap_err();
    assert!(error.to_string().contains("none.toml"), "{error}");
}
