//! Files that somebody wrote or sent: each is understood or refused, whatever it was meant to be.

use std::collections::BTreeSet;

use host::profile::{self, Protections};
use lab::Topology;
use record::{Credentials, PlanFile, Recipe};

/// Takes one input; panics where what must hold does not.
pub fn run(data: &[u8]) {
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
    credentials(text);
}

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

/// Who logs in.
fn credentials(text: &str) {
    if let Some(found) = Credentials::parse(text) {
        assert!(!found.user.is_empty() && text.contains(found.password.reveal()));
    }
}
