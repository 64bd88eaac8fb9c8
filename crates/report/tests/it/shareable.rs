//! What strangers may read: no name and no address of the run's machines, and the same numbers.

use std::collections::BTreeSet;
use std::path::Path;

use analysis::{RunAnalysis, analyze};
use record::{Header, HostName, Record, Run};
use report::{Shareable, Style, details, html, page};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::json;

const RUNS: [&str; 4] = ["demo-check", "demo-tune", "busy-check", "busy-tune"];
/// What stands at the end of every text of a run in which all tell who they are.
const TELLING: &str = " (Ingeborg.K on Kestrel-Workstation, 10.99.3.7 and [fd42:dead:beef::77]:445, \
    de:ad:be:ef:00:16 and DE-AD-BE-EF-00-18: \\\\ZEPHYR-nas7\\Quokka & Söhne's, \
    smb://Ingeborg.K@zephyr-NAS7.wolkenheim.example:445/Quokka, `xavierle` in /home/Ottokar/.nas; \
    `ssh://Roswitha@Far-Away` does not let `Waldtraut` log in)";
const NAMES: [&str; 13] = [
    "ingeborg",
    "kestrel",
    "zephyr",
    "wolkenheim",
    "quokka",
    "söhne",
    "xavierle",
    "ottokar",
    "roswitha",
    "far-away",
    "waldtraut",
    "fd42:dead",
    "10.99.3.7",
];

fn real(name: &str) -> Run {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    Run::read(&folder.join(format!("{name}.jsonl"))).expect("a run file")
}

/// Every text that may be another one, with something that tells at its end.
fn poisoned<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let mut telling = serde_json::to_value(value).expect("a record");
    let mut pointers = Vec::new();
    texts(&telling, "", &mut pointers);
    for pointer in pointers {
        let mut other = telling.clone();
        let text = other.pointer_mut(&pointer).expect("it is there");
        let marked = format!("{}{TELLING}", text.as_str().expect("a text"));
        *text = Value::from(marked.clone());
        let read = serde_json::from_value::<T>(other).and_then(serde_json::to_value);
        // Of words that stand for a kind there are only so many.
        if let Ok(read) = read
            && read.pointer(&pointer).and_then(Value::as_str) == Some(&marked)
        {
            telling = read;
        }
    }
    serde_json::from_value(telling).expect("it was read before")
}

fn texts(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(pointer.to_owned()),
        Value::Array(values) => {
            for (place, value) in values.iter().enumerate() {
                texts(value, &format!("{pointer}/{place}"), found);
            }
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                texts(value, &format!("{pointer}/{key}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A run in which every text holds names and addresses. What names a host, a share or a user does so alone.
fn telling(name: &str) -> Run {
    let run = real(name);
    let mut header: Header = poisoned(&run.header);
    for (facts, real) in header.facts.iter_mut().zip(&run.header.facts) {
        facts.name = HostName::new("ssh://Ingeborg.K@Kestrel-Workstation:2222");
        facts.kernel.clone_from(&real.kernel);
    }
    header.user = Some("WOLKENHEIM;xavierle".to_owned());
    header.login_options = [
        "--credentials",
        "/home/Ottokar/.nas",
        "--kdc",
        "dc.wolkenheim.example",
    ]
    .map(str::to_owned)
    .to_vec();
    let mut plan = serde_json::to_value(&header.plan).expect("a plan");
    plan["share"]["server"] = "zephyr-nas7.wolkenheim.example".into();
    plan["share"]["share"] = "Quokka & Söhne's".into();
    header.plan = serde_json::from_value(plan).expect("the same plan");
    Run {
        header,
        records: run.records.iter().map(poisoned::<Record>).collect(),
        warnings: vec![format!("the last line{TELLING}").into()],
    }
}

/// Addresses of hosts and of their interfaces.
fn addresses(run: &Run) -> BTreeSet<String> {
    let nics = run.header.facts.iter().flat_map(|facts| &facts.nics);
    let both = nics.flat_map(|nic| {
        let own = nic.addresses.iter().map(|own| own.address.to_string());
        let mac = nic.mac.as_ref().map(|mac| mac[..17].to_owned());
        own.chain(mac)
    });
    both.collect()
}

/// All that is made of a run for people and programs, without the marks of its form.
fn said(analysis: &RunAnalysis, page: &str) -> String {
    let plain = page
        .replace("&amp;", "&")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'");
    let style = Style::default();
    let lines = report::page(analysis, style) + &details(analysis, style);
    let one_line = lines.split_whitespace().collect::<Vec<_>>().join(" ");
    let all = [page, &plain, &lines, &one_line, &json(analysis).to_string()].join("\n");
    all.to_lowercase()
}

fn numbers(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Number(number) => found.push(number.to_string()),
        Value::Array(values) => values.iter().for_each(|value| numbers(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| numbers(value, found)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn all_numbers(analysis: &RunAnalysis) -> Vec<String> {
    let mut found = Vec::new();
    numbers(&json(analysis), &mut found);
    found
}

#[test]
fn a_shareable_page_holds_no_name_and_no_address_and_the_same_numbers() {
    for name in RUNS {
        let run = telling(name);
        let shown = analyze(&run);
        let secret = said(&shown, &html(&shown));
        let all = NAMES.iter().all(|one| secret.contains(one));
        assert!(all && secret.contains("10.77.1."), "{name}");
        let shareable = Shareable::of(run.clone()).expect("a run");
        let cleared = analyze(shareable.run());
        let page = shareable.page(&html(&cleared));
        let said = said(&cleared, &page);
        let real = addresses(&run);
        assert!(real.len() > 6, "{real:?}");
        for one in NAMES.iter().copied().chain(real.iter().map(String::as_str)) {
            let at = said.find(one);
            let about = at.map(|at| {
                said[..at + one.len()]
                    .chars()
                    .rev()
                    .take(200)
                    .collect::<String>()
            });
            let about = about.map(|about| about.chars().rev().collect::<String>());
            assert_eq!(about, None, "{name}: `{one}`");
        }
        assert!(
            !said.contains("de:ad:be:ef") && !said.contains("de-ad-be-ef"),
            "{name}"
        );
        assert_eq!(all_numbers(&cleared), all_numbers(&shown), "{name}");
        assert!(said.contains("host-") && said.contains("share-1") && said.contains("192.0.2."));
    }
}

#[test]
fn what_is_shared_is_said_as_before_but_for_the_names() {
    for name in RUNS {
        let run = real(name);
        let shareable = Shareable::of(run.clone()).expect("a run");
        let [before, after] = [&run, shareable.run()].map(analyze);
        assert_eq!(all_numbers(&after), all_numbers(&before), "{name}");
        let style = Style::default();
        let expected = page(&before, style)
            .replace("10.77.1.", "192.0.2.")
            .replace("10.77.2.", "198.51.100.");
        let words = |text: &str| -> Vec<String> {
            let words = text.split_whitespace().filter(|word| !word.contains("://"));
            words.map(str::to_owned).collect()
        };
        assert_eq!(words(&page(&after, style)), words(&expected), "{name}");
        assert_eq!(shareable.page(&html(&after)), html(&after), "{name}");
    }
}

#[test]
fn a_run_with_names_without_end_is_refused() {
    let mut run = real("demo-check");
    run.warnings = (0..2000)
        .map(|number| format!("at smb://host{number}x/").into())
        .collect();
    let error = Shareable::of(run).expect_err("too many");
    assert!(
        error.to_string().contains("more than 1000 names"),
        "{error}"
    );
}

#[test]
fn a_page_is_gone_through_once_more_outside_of_its_marks() {
    let shareable = Shareable::of(telling("demo-check")).expect("a run");
    let page = "<style>.zephyr-nas7 {}</style><p class=\"xavierle\">Zephyr-NAS7 and xavierle's</p>";
    let cleared = shareable.page(page);
    assert!(
        cleared.starts_with("<style>.zephyr-nas7 {}</style><p class=\"xavierle\">host-"),
        "{cleared}"
    );
    assert!(
        cleared.ends_with("'s</p>") && cleared.contains(" and user-"),
        "{cleared}"
    );
}
