//! The effects of a design's factors on its rates and costs, by least squares over a table of its trials.

use locale::{Message, say};
use record::{Design, Response};

use super::paired_arm_ratios::is_in_pairs;
use super::rate_and_cost_columns::{Quantity, column};
use super::{Seen, level_name};
use crate::table::{self, Better, Request, Table, TableResult, TableWarning};

/// One table over all responses; each of them has cells in its own rows only.
pub(super) fn tables(
    design: &Design,
    seen: &[Seen<'_>],
    caveats: &mut Vec<Message>,
    quantity: Quantity,
) -> Vec<TableResult> {
    let factors: Vec<String> = design
        .factors
        .iter()
        .map(|factor| factor.name.clone())
        .collect();
    let names: Vec<String> = design
        .responses
        .iter()
        .map(|response| column(response, quantity))
        .collect();
    let counted = seen.iter();
    let counted = counted.filter(|one| Some(one.arm) != design.baseline_replicate);
    let rows = counted.map(|one| row(design, one, quantity));
    let header = factors.iter().cloned();
    let header = header.chain(["block".to_owned(), "plot".to_owned()]);
    let header = header.chain(names.iter().cloned());
    let table = match Table::new(header.collect(), rows) {
        Ok(table) => table,
        Err(error) => {
            caveats.push(error.message());
            return Vec::new();
        }
    };
    let mut results = Vec::new();
    match table::analyze(&table, &request(design, quantity, names, factors)) {
        Ok(found) => results = found,
        Err(error) => {
            caveats.push(say("design-caveat.not-estimated").with("reason", error.message()));
        }
    }
    for result in &mut results {
        // A row is a trial of one response and has no cells of the others; and how many blocks would
        // settle an effect is said of its pairs, where it has any.
        let says_more = quantity == Quantity::Rate && !is_in_pairs(design);
        result.warnings.retain(|warning| match &warning.kind[..] {
            "missing" => false,
            "power" => says_more,
            _ => true,
        });
        let of = |response: &&Response| column(response, Quantity::Rate) == result.response;
        if let Some(response) = design.responses.iter().find(of) {
            result.response.clone_from(&response.name);
        }
        for alias in &design.aliases {
            let text = say("table-alias.of-design").with("alias", alias);
            result.warnings.push(TableWarning::new("aliased", text));
        }
    }
    results
}

/// The row of a trial: its levels, its block and plot, and a cell for each response.
fn row(design: &Design, one: &Seen<'_>, quantity: Quantity) -> Vec<String> {
    let factors = 0..design.factors.len();
    let levels = factors.map(|factor| level_name(design, one.arm, factor).to_owned());
    let plot = design.whole_plots.iter();
    let plot = plot.map(|factor| level_name(design, one.arm, *factor as usize));
    let plot = plot.collect::<Vec<_>>().join(", ");
    let block = [format!("block {}", u64::from(one.block) + 1), plot];
    let cells = design.responses.iter().map(|response| {
        let value = (response.name == one.response)
            .then(|| quantity.of(one))
            .flatten();
        value.map_or_else(String::new, |value| value.to_string())
    });
    levels.chain(block).chain(cells).collect()
}

/// What is asked of the table of a quantity.
fn request(
    design: &Design,
    quantity: Quantity,
    names: Vec<String>,
    factors: Vec<String>,
) -> Request {
    let mut request = Request::new(names, factors);
    request.band = design.band;
    // Its name is anybody's, and may have a word like `latency` in it.
    request.better = Some(match quantity {
        Quantity::Rate => Better::Higher,
        _ => Better::Lower,
    });
    request.blocks = Some("block".into());
    request.plots = (!design.whole_plots.is_empty()).then(|| "plot".into());
    request.baselines = design
        .factors
        .iter()
        .filter_map(|factor| Some((factor.name.clone(), factor.levels.first()?.name.clone())))
        .collect();
    request
}

/// Costs are families of their own, so that they take no power from the rates; a cost that is the
/// same in every trial has no effects.
pub(super) fn cost_tables(design: &Design, seen: &[Seen<'_>]) -> Vec<TableResult> {
    let mut results = Vec::new();
    for cost in Quantity::COSTS {
        let mut one = design.clone();
        one.responses.retain(|response| {
            let of_response = seen.iter().filter(|one| one.response == response.name);
            // Not every look at a server tells something.
            let mut values = of_response.filter_map(|one| cost.of(one));
            let first = values.next();
            values.any(|value| Some(value) != first)
        });
        if !one.responses.is_empty() {
            // What keeps the effects from being estimated was said of the rates already.
            results.extend(tables(&one, seen, &mut Vec::new(), cost));
        }
    }
    results
}
