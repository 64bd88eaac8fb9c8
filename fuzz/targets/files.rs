//! Files that somebody wrote or sent: each is understood or refused, whatever it was meant to be.
#![no_main]

use std::collections::BTreeSet;
use std::fs;

use analysis::table::{Request, Table, analyze};
use host::journal::list_open;
use host::profile::{self, Protections};
use lab::Topology;
use libfuzzer_sys::fuzz_target;
use record::{PlanFile, Recipe};

/// Columns of a table that are analysed: time is short.
const COLUMNS_TRIED: usize = 3;

fuzz_target!(|data: &[u8]| {
    journal(data);
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    for protections in [Protections::Refused, Protections::Meant] {
        drop(profile::parse("fuzzed", text, protections));
    }
    drop(Topology::parse(text));
    if let Ok(recipe) = toml::from_str::<Recipe>(text) {
        // Only what was checked is run.
        if recipe.check().is_ok() {
            assert!(!recipe.steps().is_empty());
        }
    }
    plan(text);
    table(text);
});

/// A plan of an experiment: what was checked can be told apart, and is bounded.
fn plan(text: &str) {
    let Ok(plan) = toml::from_str::<PlanFile>(text) else {
        return;
    };
    if plan.check().is_err() {
        return;
    }
    let budget = plan.budget_minutes.unwrap_or(1.0) * 60.0;
    assert!(budget > 0.0 && budget < 1e6 && plan.blocks != Some(0) && plan.channels() > 0);
    for factor in &plan.factors {
        let names: BTreeSet<&str> = factor.levels.iter().map(|one| one.name.as_str()).collect();
        assert!(names.len() == factor.levels.len() && names.len() > 1);
        assert!(!factor.name.contains(':') && !names.contains("nan"));
    }
}

/// A table, and outputs of benchmarks that make one; every column is once the response.
fn table(text: &str) {
    if let Ok(table) = Table::from_csv(text) {
        let columns: Vec<String> = table.columns().map(str::to_owned).collect();
        for (at, response) in columns.iter().enumerate().take(COLUMNS_TRIED) {
            let mut factors = columns.clone();
            factors.remove(at);
            factors.truncate(COLUMNS_TRIED);
            drop(analyze(&table, &Request::new([response.clone()], factors)));
        }
    }
    let half = text.len() / 2;
    let half = (half..).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    for arms in [[text, text], [&text[..half], &text[half..]]] {
        let arms = ["off", "on"].into_iter().zip(arms);
        let arms: Vec<_> = arms.map(|(arm, text)| (arm.into(), text.into())).collect();
        if let Ok((table, request)) = Table::from_arms(&arms) {
            drop(analyze(&table, &request));
        }
    }
}

/// A change that was left open, as it may stand on the disk after a crash.
fn journal(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let open = folder.path().join("open");
    fs::create_dir(&open).expect("our own folder");
    fs::write(open.join("1-fuzzed.jsonl"), data).expect("room on the disk");
    let listing = list_open(folder.path()).expect("it can be read");
    // Never taken for no change at all.
    assert_eq!(listing.open.len() + listing.damaged.len(), 1);
}
