//! Tables of others: published answers, another program's statistics, hostile text.

mod against_statsmodels_and_r;
mod hostile_tables;
mod iperf3_fio_hyperfine;
mod model_estimability;
mod published_studies;
mod tables_of_other_tools;
mod unit_slips_and_outliers;

use fit::table::{Request, Table, TableEffect, TableResult, TableWarning, analyze};
use locale::{Argument, Message};

/// Analyses one response of a table that is in order.
fn one(text: &str, request: &Request) -> TableResult {
    let table = Table::from_csv(text).expect("the table is in order");
    let mut results = analyze(&table, request).expect("the question is in order");
    assert_eq!(results.len(), 1);
    results.remove(0)
}

fn effect<'a>(result: &'a TableResult, factor: &str, level: &str) -> &'a TableEffect {
    let mut found = result
        .effects
        .iter()
        .filter(|effect| effect.factor == factor && effect.level == level);
    found
        .next()
        .unwrap_or_else(|| panic!("no effect of {factor}={level} in {:#?}", result.effects))
}

fn warnings<'a>(result: &'a TableResult, kind: &str) -> Vec<&'a TableWarning> {
    result
        .warnings
        .iter()
        .filter(|warning| warning.kind == kind)
        .collect()
}

/// What the warnings of a kind say, as [`flat`] has it.
fn texts(result: &TableResult, kind: &str) -> Vec<String> {
    let warnings = warnings(result, kind).into_iter();
    warnings.map(|warning| flat(&warning.text)).collect()
}

/// A message as `id name=value name=value`, for what its arguments are.
fn flat(message: &Message) -> String {
    let mut text = message.id.to_owned();
    for (name, argument) in &message.arguments {
        let value = match argument {
            Argument::Text(text) => text.clone(),
            Argument::Names(names) => names.join(","),
            Argument::Message(message) => format!("({})", flat(message)),
            Argument::Count(count) => count.to_string(),
            other => panic!("{name}: {other:?}"),
        };
        text += &format!(" {name}={value}");
    }
    text
}
