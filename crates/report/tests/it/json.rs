use analysis::RunAnalysis;
use record::Arm;
use report::{Style, html, page};
use serde_json::{Value, json as value};
use stats::{Estimate, Unit};

use crate::{handmade_runs, json};

fn demo_summary(check: &RunAnalysis, tune: &RunAnalysis, restored: bool) -> Value {
    serde_json::to_value(report::demo_summary(check, tune, restored)).expect("it is JSON")
}

#[test]
fn json_of_a_check_and_of_a_tune() {
    for (name, run) in [
        ("check", handmade_runs::check_one_link_of_two()),
        ("tune", handmade_runs::tune_undecided()),
    ] {
        let mut json = json(&run);
        json["facts"] = "as in the run file".into();
        let text = serde_json::to_string_pretty(&json).expect("it is JSON");
        insta::assert_snapshot!(format!("json-{name}"), text);
    }
}

#[test]
fn every_estimate_has_its_unit_and_its_interval_beside_it() {
    fn walk(value: &serde_json::Value, seen: &mut usize) {
        match value {
            serde_json::Value::Object(object) => {
                if object.contains_key("interval") {
                    *seen += 1;
                    for key in ["value", "unit", "interval", "confidence", "n", "caveats"] {
                        assert!(object.contains_key(key), "{key} in {object:?}");
                    }
                    let interval = &object["interval"];
                    assert!(
                        interval.is_null()
                            || interval.as_array().is_some_and(|ends| ends.len() == 2)
                    );
                }
                object.values().for_each(|value| walk(value, seen));
            }
            serde_json::Value::Array(list) => list.iter().for_each(|value| walk(value, seen)),
            _ => {}
        }
    }
    for (name, run) in handmade_runs::all() {
        let mut seen = 0;
        walk(&json(&run), &mut seen);
        assert!(
            seen > 0 || name == "check-nothing-measured",
            "{name} has no estimate"
        );
    }
}

#[test]
fn what_the_processors_of_both_ends_pay_is_told_before_and_after() {
    let mut run = handmade_runs::tune_keeps_knobs();
    for samples in run.experiments.iter_mut().flat_map(|one| &mut one.samples) {
        let cost = |of_a: f64, of_b: f64| {
            let value = if samples.arm == Arm::A { of_a } else { of_b };
            Some(Estimate {
                value: value * 1e-9,
                unit: Unit::SecondsPerByte,
                ..samples.median.clone()
            })
        };
        (samples.cpu_per_byte, samples.server_cpu_per_byte) = (cost(0.3, 0.2), cost(0.8, 0.4));
    }
    let paid = "processor of the client 0.30 -> 0.20, of the server 0.80 -> 0.40 s for each GB";
    let said = page(&run, Style::default());
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(said.matches(paid).count(), 4, "{said}");
    let in_html = html(&run).replace("&gt;", ">");
    assert_eq!(in_html.matches(paid).count(), 4);
    assert!(in_html.contains("CPU of the server") && in_html.contains("0.80 CPU s/GB"));
    let json = json(&run);
    let samples = json["experiments"][1]["samples"].as_array();
    let cost = &samples.expect("samples")[0]["server_cpu_per_byte"];
    let value = cost["value"].as_f64().expect("a number");
    assert!((value - 0.8e-9).abs() < 1e-15, "{value}");
    assert_eq!(cost["unit"], "seconds_per_byte");
    // Where nobody could look, nothing is invented.
    let before = handmade_runs::tune_keeps_knobs();
    assert!(!html(&before).contains("CPU of the server"));
    assert!(!page(&before, Style::default()).contains("processor of"));
}

#[test]
fn what_is_no_number_is_null() {
    let json = json(&handmade_runs::check_hostile());
    let tcp = &json["ladder"][1]["rate"];
    assert!(tcp["value"].is_null() && tcp["interval"].is_null(), "{tcp}");
    assert!(json["ladder"][4]["rate"].is_null());
}

#[test]
fn the_summary_of_the_demo() {
    let summary = demo_summary(
        &handmade_runs::check_one_link_of_two(),
        &handmade_runs::tune_demo(),
        true,
    );
    let expected = value!({
        "link": { "ceiling_mbit_s": 941.36, "tcp_mbit_s": 940.8 },
        "one_channel": { "read_mb_s": 117.1, "write_mb_s": 115.3 },
        "two_channels": { "read_mb_s": 232.44, "write_mb_s": 226.22 },
        "ratio": { "read": 1.985, "write": 1.962 },
        "mtu_9000": { "read_ratio": 1.004, "interval": [0.996, 1.012], "verdict": "equivalent" },
        "restored": true,
    });
    assert_eq!(summary, expected);
}

#[test]
fn the_summary_invents_nothing() {
    let nothing = handmade_runs::check_nothing_measured();
    let expected = value!({
        "link": { "ceiling_mbit_s": null, "tcp_mbit_s": null },
        "one_channel": { "read_mb_s": null, "write_mb_s": null },
        "two_channels": { "read_mb_s": null, "write_mb_s": null },
        "ratio": { "read": null, "write": null },
        "mtu_9000": { "read_ratio": null, "interval": null, "verdict": null },
        "restored": false,
    });
    assert_eq!(demo_summary(&nothing, &nothing, false), expected);

    let check = handmade_runs::check_one_link_of_two();
    let only_checked = demo_summary(&check, &nothing, false);
    assert_eq!(
        only_checked["one_channel"],
        value!({ "read_mb_s": 116.1, "write_mb_s": 115.2 })
    );
    assert!(only_checked["two_channels"]["read_mb_s"].is_null());

    let hostile = demo_summary(
        &handmade_runs::check_hostile(),
        &handmade_runs::tune_failed_trials(),
        false,
    );
    assert!(hostile["link"]["tcp_mbit_s"].is_null(), "{hostile}");
    assert!(hostile["mtu_9000"]["verdict"].is_null(), "{hostile}");
}
