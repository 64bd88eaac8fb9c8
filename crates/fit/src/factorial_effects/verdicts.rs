//! Verdicts of a design. What is measured in pairs of the same block is judged by the interval of these
//! pairs, which is also what is printed; only what has none is judged by least squares over the rows:
//! fractions, and fewer pairs than any interval can be counted of. Holm's correction runs over both.

use locale::{Argument, Message, say};
use record::Design;

use super::{DesignPair, error_of_each};
use crate::table::{NOT_ADDED, NOT_MULTIPLIED, SIGNIFICANCE, TableEffect, TableResult, corrected};
use crate::trial_rate_and_cost::CONFIDENCE_DEFAULT;
use stats::{PairedRatios, Verdict};

/// Warnings about the least squares behind a verdict.
const OF_LEAST_SQUARES: [&str; 2] = ["robust_errors", "mean_against_median"];

/// A pair with what it is judged by.
#[derive(Clone)]
pub(super) struct Compared {
    pub(super) pair: DesignPair,
    pub(super) ratios: PairedRatios,
    /// How many of these a block has.
    pub(super) per_block: usize,
    /// In the unit of the response's table: what a ratio of 1 would be.
    pub(super) base: Option<f64>,
}

impl Compared {
    /// Whether it is of a whole effect, and not of parts of one.
    const fn is_whole(&self) -> bool {
        self.pair.others.is_empty()
    }

    /// How likely such blocks are where it does nothing; `None` of parts of an effect, and where these
    /// are too few.
    fn p(&self, blocks_min: usize) -> Option<f64> {
        let ratio = &self.pair.ratio;
        let counts = self.is_whole() && ratio.n >= blocks_min;
        counts.then(|| self.ratios.probability(ratio, 1.0, CONFIDENCE_DEFAULT))?
    }

    fn is_of(&self, table: &TableResult, effect: &TableEffect) -> bool {
        [&self.pair.response, &self.pair.factor, &self.pair.level]
            == [&table.response, &effect.factor, &effect.level]
    }
}

/// Judges the effects of the rates that have pairs by these, and all of them by Holm's correction. Says
/// what has too few pairs for that.
pub(super) fn settle(
    design: &Design,
    compared: &[Compared],
    rates: &mut [TableResult],
) -> Option<Message> {
    // Fewer could not be counted to the first step of the correction, whatever they say: least squares
    // are the more powerful there.
    let whole = || compared.iter().filter(|one| one.is_whole());
    let all = whole().count();
    let blocks_min = stats::blocks_min(1.0 - error_of_each(all));
    let few = whole().filter(|one| one.pair.ratio.n < blocks_min).count();
    let blocks = design.blocks.len();
    let caveat = (few > 0 && (2..blocks_min).contains(&blocks)).then(|| {
        say("design-caveat.least-squares")
            .count("blocks", blocks)
            .count("few", few)
            .count("all", all)
            .count("least", blocks_min)
    });
    let known: Vec<(&Compared, f64)> = compared
        .iter()
        .filter_map(|one| Some((one, one.p(blocks_min)?)))
        .collect();
    for (one, p) in &known {
        let mut tables = rates.iter_mut();
        let table = tables.find(|table| table.response == one.pair.response);
        if let Some(table) = table {
            put(table, one, *p);
        }
    }
    correct(design, rates);
    for table in rates {
        let of_pair = |table: &TableResult, effect: &TableEffect| {
            let mut known = known.iter().map(|(one, _)| *one);
            known.find(|one| one.is_of(table, effect))
        };
        let verdicts: Vec<Verdict> = table
            .effects
            .iter()
            .map(|effect| {
                let printed = compared
                    .iter()
                    .find(|one| one.is_whole() && one.is_of(table, effect));
                verdict(effect, of_pair(table, effect), printed, design.band)
            })
            .collect();
        for (effect, verdict) in table.effects.iter_mut().zip(verdicts) {
            effect.verdict = verdict;
        }
        let paired: Vec<TableEffect> = table
            .effects
            .iter()
            .filter(|effect| of_pair(table, effect).is_some())
            .cloned()
            .collect();
        drop_contradicted(table, &paired);
    }
    caveat
}

/// Gives an effect the numbers of its pairs. That of two factors with more levels has no effect yet for
/// each, only a joint test.
fn put(table: &mut TableResult, one: &Compared, p: f64) {
    let pair = &one.pair;
    let place = table
        .effects
        .iter()
        .position(|known| one.is_of(table, known));
    let scaled = |ratio: f64| Some(one.base? * (ratio - 1.0));
    let effect = TableEffect {
        factor: pair.factor.clone(),
        level: pair.level.clone(),
        baseline: pair.baseline.clone(),
        estimate: scaled(pair.ratio.value),
        low: pair.ratio.interval.and_then(|[low, _]| scaled(low)),
        high: pair.ratio.interval.and_then(|[_, high]| scaled(high)),
        ratio: Some(pair.ratio.value),
        p: Some(p),
        p_holm: None,
        verdict: Verdict::Undecided,
        by_ratio: true,
    };
    match place {
        Some(place) => table.effects[place] = effect,
        None => table.effects.push(effect),
    }
    table
        .tests
        .retain(|test| test.name != "interaction" || test.over != [pair.factor.as_str()]);
}

/// Holm over everything that was tested of all rates.
fn correct(design: &Design, rates: &mut [TableResult]) {
    let asked = |effect: &TableEffect| design.factors.iter().any(|one| one.name == effect.factor);
    let mut family = Vec::new();
    for table in rates.iter() {
        let effects = table.effects.iter();
        family.extend(effects.filter_map(|effect| Some((effect.p?, !asked(effect)))));
        let tests = table.tests.iter().filter(|test| test.p_holm.is_some());
        family.extend(tests.map(|test| (test.p, true)));
    }
    let mut corrected = corrected(&family).into_iter();
    for table in rates {
        for effect in &mut table.effects {
            effect.p_holm = effect.p.and_then(|_| corrected.next());
        }
        for test in table.tests.iter_mut().filter(|test| test.p_holm.is_some()) {
            test.p_holm = corrected.next();
        }
    }
}

/// What an effect comes to by its pairs, or, where these are too few to be counted, by least squares; but
/// never to what the interval that is printed does not say.
fn verdict(
    effect: &TableEffect,
    pair: Option<&Compared>,
    printed: Option<&Compared>,
    band: f64,
) -> Verdict {
    let of = |one: &Compared| stats::verdict(&one.pair.ratio, band, CONFIDENCE_DEFAULT);
    let alone = match pair {
        Some(one) => of(one),
        None => match (effect.verdict, effect.estimate) {
            (Verdict::Equivalent, _) => Verdict::Equivalent,
            (_, Some(estimate)) if estimate > 0.0 => Verdict::Better,
            (_, Some(_)) => Verdict::Worse,
            (_, None) => Verdict::Undecided,
        },
    };
    let is_shown = effect.p_holm.is_some_and(|p| p < SIGNIFICANCE);
    let printed = printed.filter(|one| one.pair.ratio.defended(CONFIDENCE_DEFAULT).is_some());
    match alone {
        alone if printed.is_some_and(|one| of(one) != alone) => Verdict::Undecided,
        Verdict::Better | Verdict::Worse if !is_shown => Verdict::Undecided,
        alone => alone,
    }
}

/// Takes out what least squares said and the pairs answer otherwise, and words what stays as it is judged.
fn drop_contradicted(table: &mut TableResult, paired: &[TableEffect]) {
    let shown = |effect: &TableEffect| matches!(effect.verdict, Verdict::Better | Verdict::Worse);
    let effects = &table.effects;
    table.warnings.retain_mut(|warning| {
        let is_about = |effect: &&TableEffect| {
            let [factor, level] = [&effect.factor, &effect.level];
            let named = [
                ("effect", format!("{factor}={level}")),
                ("pair", factor.clone()),
            ];
            let mut named = named.into_iter();
            named.any(|(name, text)| warning.text.argument(name) == Some(&Argument::Text(text)))
        };
        let named = effects.iter().find(is_about);
        if warning.kind == "interaction" && named.is_some_and(|effect| !shown(effect)) {
            return false;
        }
        match paired.iter().find(is_about) {
            Some(_) if warning.kind == "interaction" => {
                if warning.text.id == NOT_ADDED {
                    warning.text.id = NOT_MULTIPLIED;
                }
                true
            }
            Some(_) => !OF_LEAST_SQUARES.contains(&warning.kind.as_str()),
            None => true,
        }
    });
    // Each pair of levels was looked at.
    if paired.iter().any(|effect| effect.factor.contains(':')) {
        table
            .warnings
            .retain(|warning| warning.kind != "interactions_skipped");
    }
}
