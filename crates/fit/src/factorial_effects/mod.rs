//! An experiment over several factors: effects and interactions, noise, and the samples behind them.

mod least_squares_effects;
mod paired_arm_ratios;
mod rate_and_cost_columns;
mod verdicts;

use std::collections::{BTreeMap, BTreeSet};

use locale::{Message, say};
use record::{Design, HostLoad, Outcome, Stage, TrialRecord};
use serde::Serialize;

use stats::{Estimate, PairedRatios, Unit, Verdict};

use crate::table::{TableResult, TableWarning};
use crate::trial_rate_and_cost::{self, CONFIDENCE_DEFAULT, list_failure};

use least_squares_effects::{cost_tables, tables};
pub use paired_arm_ratios::blocks_counted;
use paired_arm_ratios::{Cells, compared, is_in_pairs};
use rate_and_cost_columns::{Quantity, column, in_table};
use verdicts::{Compared, settle};

/// The trials of one arm and response.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DesignSamples {
    /// Which response.
    pub response: String,
    /// The arm.
    pub arm: u32,
    /// Names of its levels, in the order of the factors.
    pub levels: Vec<String>,
    /// Rate of each counted trial in its unit.
    pub rates: Vec<f64>,
    /// What these rates count.
    pub unit: Unit,
    /// The block of each, from 0.
    pub blocks: Vec<u32>,
    /// Their median.
    pub median: Option<Estimate>,
    /// Processor time of our own process per byte, median over the trials; `None` where they move no
    /// bytes.
    pub cpu_per_byte: Option<Estimate>,
    /// Processor time of the file server's processes per byte, likewise; `None` where nobody could look.
    pub server_cpu_per_byte: Option<Estimate>,
}

/// The baseline against itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DesignNoise {
    /// Which response.
    pub response: String,
    /// The baseline once more over the baseline.
    pub ratio: Estimate,
    /// The smallest difference of two arms, as a share of 1, that so many blocks find four times out of
    /// five.
    pub smallest_detectable: Option<f64>,
    /// Whether the baseline differed from itself, judged by how many responses were asked, so that
    /// nothing else of this response can be believed.
    pub alarm: bool,
}

/// A level against the first one of its factor, over all that was paired with it; or, for `a:b`, what
/// a level of one does at a level of the other over what it does at the other's first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DesignPair {
    /// Which response.
    pub response: String,
    /// The factor.
    pub factor: String,
    /// The level.
    pub level: String,
    /// The first level.
    pub baseline: String,
    /// Names of the other factors' levels that both were measured with, empty for all together.
    pub others: String,
    /// How many times the first level (Hodges-Lehmann on the log ratios of blocks).
    pub ratio: Estimate,
    /// That of its effect on the rates, after Holm's correction over all of them; `None` where nobody
    /// tested it: with some levels of the others only, and of levels that only a joint test is about.
    pub verdict: Option<Verdict>,
    /// Blocks that would settle what cannot be told yet.
    pub blocks_to_settle: Option<usize>,
    /// What others published of this level, as they did.
    pub published: Option<String>,
}

/// Everything that can be said of a design.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DesignResult {
    /// What was planned.
    pub design: Design,
    /// Blocks that were completed.
    pub blocks_done: usize,
    /// Effects of the rates, one table for each response.
    pub rates: Vec<TableResult>,
    /// Effects of what they cost.
    pub costs: Vec<TableResult>,
    /// The noise floor.
    pub noise: Vec<DesignNoise>,
    /// Level against level in pairs of the same block.
    pub pairs: Vec<DesignPair>,
    /// The samples by arm.
    pub samples: Vec<DesignSamples>,
    /// Trials that failed, with their reasons.
    pub failures: Vec<Message>,
    /// What a reader must know.
    pub caveats: Vec<Message>,
}

impl DesignResult {
    /// Whether any effect on a rate is shown, or shown not to matter.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        let mut effects = self.rates.iter().flat_map(|table| &table.effects);
        effects.any(|effect| effect.verdict != Verdict::Undecided)
    }
}

/// A counted trial.
struct Seen<'a> {
    block: u32,
    /// Place in the block.
    position: u32,
    arm: u32,
    response: &'a str,
    result: &'a record::TrialResult,
    loads: &'a [HostLoad],
    rate: f64,
    /// What the rate counts.
    unit: Unit,
}

/// Says everything that can be said of a design from its trials.
#[must_use]
pub fn design<'t>(
    design: &Design,
    trials: impl IntoIterator<Item = &'t TrialRecord>,
) -> DesignResult {
    let (seen, failures, doubled) = counted(trials);
    let mut caveats = Vec::new();
    if doubled > 0 {
        caveats.push(say("design-caveat.measured-already").count("count", doubled));
    }
    let mut rates = tables(design, &seen, &mut caveats, Quantity::Rate);
    let mut costs = cost_tables(design, &seen);
    let noise = noise(design, &seen, &mut caveats);
    let mut pairs = compared(design, &seen);
    caveats.extend(settle(design, &pairs, &mut rates));
    let alarmed: BTreeSet<&str> = noise
        .iter()
        .filter(|noise| noise.alarm)
        .map(|noise| noise.response.as_str())
        .collect();
    hold_back(design, &alarmed, &mut rates, &mut costs);
    for one in &mut pairs {
        judge(one, design.band, &rates, &alarmed);
    }
    let per_block = design.blocks.first().map_or(0, Vec::len) * design.responses.len();
    let mut of_block: BTreeMap<u32, usize> = BTreeMap::new();
    for one in &seen {
        *of_block.entry(one.block).or_default() += 1;
    }
    DesignResult {
        design: design.clone(),
        blocks_done: of_block
            .values()
            .filter(|&&count| count >= per_block)
            .count(),
        rates,
        costs,
        noise,
        pairs: pairs.into_iter().map(|one| one.pair).collect(),
        samples: samples(design, &seen),
        failures,
        caveats,
    }
}

/// The trials that count and measured something, why the others did not, and how many there are of
/// visits that were measured already.
fn counted<'t>(
    trials: impl IntoIterator<Item = &'t TrialRecord>,
) -> (Vec<Seen<'t>>, Vec<Message>, usize) {
    let mut failures = Vec::new();
    let mut seen = Vec::new();
    let (mut places, mut doubled) = (BTreeSet::new(), 0);
    for trial in trials {
        let Stage::Visit {
            block,
            position,
            arm,
            response,
            discarded: false,
            ..
        } = &trial.stage
        else {
            continue;
        };
        let measured = match &trial.outcome {
            Outcome::Measured(result) => {
                trial_rate_and_cost::rate(&trial.workload, result).map(|rate| (result, rate))
            }
            Outcome::Failed(_) => None,
        };
        // What went on twice with one file has measured visits twice.
        if measured.is_some() && !places.insert((*block, *position, response)) {
            doubled += 1;
            continue;
        }
        match (measured, &trial.outcome) {
            (Some((result, rate)), _) => seen.push(Seen {
                block: *block,
                position: *position,
                arm: *arm,
                response,
                result,
                loads: &trial.loads,
                rate,
                unit: trial_rate_and_cost::unit(&trial.workload),
            }),
            (None, outcome) => list_failure(&mut failures, || {
                let reason = match outcome {
                    Outcome::Failed(failure) => failure.why(),
                    Outcome::Measured(_) => say("error-experiment.did-nothing"),
                };
                say("trial-failure.of-block")
                    .count("block", u64::from(*block) + 1)
                    .with("response", response)
                    .with("reason", reason)
            }),
        }
    }
    (seen, failures, doubled)
}

/// Decides nothing of the responses in which the baseline differed from itself.
fn hold_back(
    design: &Design,
    alarmed: &BTreeSet<&str>,
    rates: &mut [TableResult],
    costs: &mut [TableResult],
) {
    let of_alarmed = design.responses.iter();
    let of_alarmed = of_alarmed.filter(|response| alarmed.contains(response.name.as_str()));
    let of_alarmed: BTreeSet<String> = of_alarmed
        .flat_map(|response| Quantity::COSTS.map(|cost| column(response, cost)))
        .collect();
    let rates = rates
        .iter_mut()
        .filter(|table| alarmed.contains(table.response.as_str()));
    let costs = costs
        .iter_mut()
        .filter(|table| of_alarmed.contains(&table.response));
    for table in rates.chain(costs) {
        for effect in &mut table.effects {
            effect.verdict = Verdict::Undecided;
        }
        // More of the same would settle nothing.
        table.warnings.retain(|warning| warning.kind != "power");
        let text = say("baseline-differs.alarm");
        table.warnings.push(TableWarning::new("alarm", text));
    }
}

/// Gives a pair the verdict of its effect, and what would settle it by the same correction.
fn judge(one: &mut Compared, band: f64, rates: &[TableResult], alarmed: &BTreeSet<&str>) {
    let Compared {
        pair,
        ratios,
        per_block,
        ..
    } = one;
    if !pair.others.is_empty() {
        return;
    }
    let of_response = rates.iter().find(|table| table.response == pair.response);
    let effect = of_response.and_then(|table| {
        let mut effects = table.effects.iter();
        effects.find(|effect| effect.factor == pair.factor && effect.level == pair.level)
    });
    // Nothing tests it for itself, so no number of blocks would settle it.
    let Some(verdict) = effect.map(|effect| effect.verdict) else {
        return;
    };
    pair.verdict = Some(verdict);
    if verdict == Verdict::Undecided && !alarmed.contains(pair.response.as_str()) {
        let effects = rates.iter().flat_map(|table| &table.effects);
        let tested = effects.filter(|effect| effect.p.is_some()).count();
        let pairs = ratios.blocks_to_settle(band, 1.0 - error_of_each(tested));
        pair.blocks_to_settle = pairs.map(|pairs| pairs.div_ceil(*per_block));
    }
}

/// The error that each of so many tests may have so that all together have the usual one: Bonferroni's,
/// and the first step of Holm's.
fn error_of_each(tests: usize) -> f64 {
    (1.0 - CONFIDENCE_DEFAULT) / tests.max(1) as f64
}

fn level_name(design: &Design, arm: u32, factor: usize) -> &str {
    let place = design
        .arms
        .get(arm as usize)
        .and_then(|arm| arm.get(factor));
    let levels = design.factors.get(factor).map(|factor| &factor.levels);
    place
        .zip(levels)
        .and_then(|(place, levels)| levels.get(*place as usize))
        .map_or("", |level| level.name.as_str())
}

/// The gate: of many responses one is wrong by chance, so that each is judged by a share of the error.
fn noise(design: &Design, seen: &[Seen<'_>], caveats: &mut Vec<Message>) -> Vec<DesignNoise> {
    let Some(again) = design.baseline_replicate else {
        return Vec::new();
    };
    let responses = design.responses.iter();
    let measured: Vec<(&str, PairedRatios, Estimate)> = responses
        .filter_map(|response| {
            let ratios = Cells::new(seen, response).between(&[(0, again)]);
            let ratio = ratios.ratio(design.band, CONFIDENCE_DEFAULT)?;
            Some((response.name.as_str(), ratios, ratio))
        })
        .collect();
    let asked = measured.len();
    let error = error_of_each(asked);
    let least = stats::blocks_min(1.0 - error);
    let fewest = measured.iter().map(|(_, ratios, _)| ratios.len()).min();
    if let Some(fewest) = fewest.filter(|fewest| *fewest < least) {
        let caveat = match fewest < stats::blocks_min(CONFIDENCE_DEFAULT) {
            true => say("design-caveat.baseline-unchecked"),
            false => say("design-caveat.baseline-checked-roughly"),
        };
        let caveat = caveat
            .count("blocks", fewest)
            .with_known("responses", (asked > 1).then(|| asked.to_string()))
            .count("least", least);
        caveats.push(caveat);
    }
    let noise = measured.into_iter().map(|(response, ratios, ratio)| {
        let is_off = stats::alarm(&ratio, design.band, CONFIDENCE_DEFAULT);
        let edge = (1.0 + design.band).powf(ratio.value.ln().signum());
        let p = ratios.probability(&ratio, edge, CONFIDENCE_DEFAULT);
        DesignNoise {
            response: response.to_owned(),
            smallest_detectable: ratios.smallest_detectable(CONFIDENCE_DEFAULT),
            alarm: is_off && p.is_some_and(|p| p <= error),
            ratio,
        }
    });
    noise.collect()
}

fn samples(design: &Design, seen: &[Seen<'_>]) -> Vec<DesignSamples> {
    let mut found = Vec::new();
    for response in &design.responses {
        let unit = trial_rate_and_cost::unit(&response.workload);
        for arm in (0..).zip(&design.arms).map(|(arm, _)| arm) {
            let of_arm = || {
                seen.iter()
                    .filter(|one| one.arm == arm && one.response == response.name)
            };
            let rates: Vec<f64> = of_arm().map(|one| one.rate).collect();
            let middle =
                |values: &[f64], unit| stats::median(values, design.band, CONFIDENCE_DEFAULT, unit);
            let per_byte = |cost: Quantity| {
                let seconds = of_arm().filter_map(|one| Some(cost.of(one)? / 1e9));
                middle(&seconds.collect::<Vec<_>>(), Unit::SecondsPerByte)
            };
            found.push(DesignSamples {
                response: response.name.clone(),
                arm,
                levels: (0..design.factors.len())
                    .map(|factor| level_name(design, arm, factor).to_owned())
                    .collect(),
                blocks: of_arm().map(|one| one.block).collect(),
                median: middle(&rates, unit),
                cpu_per_byte: per_byte(Quantity::Cpu),
                server_cpu_per_byte: per_byte(Quantity::ServerCpu),
                rates,
                unit,
            });
        }
    }
    found
}

/// Whether every interval of a main effect of a rate is narrower than this share of 1.
#[must_use]
pub fn is_narrow(result: &DesignResult, width: f64) -> bool {
    if !is_in_pairs(&result.design) {
        return is_fitted_narrowly(result, width);
    }
    let main = |pair: &&DesignPair| pair.others.is_empty() && !pair.factor.contains(':');
    let whole = || result.pairs.iter().filter(main);
    whole().next().is_some()
        && whole().all(|pair| {
            let sure = pair
                .ratio
                .confidence
                .is_some_and(|reached| reached >= CONFIDENCE_DEFAULT);
            sure && pair
                .ratio
                .interval
                .is_some_and(|[low, high]| (high / low).ln() < width.ln_1p())
        })
}

/// The same of a fraction: its intervals are of what is fitted to all rows, as a share of what these
/// usually are.
fn is_fitted_narrowly(result: &DesignResult, width: f64) -> bool {
    let factors = &result.design.factors;
    let is_narrow = |table: &TableResult| {
        let samples = result.samples.iter();
        let samples = samples.filter(|one| one.response == table.response);
        let mut rates: Vec<f64> = samples
            .flat_map(|one| one.rates.iter().map(|rate| in_table(one.unit, *rate)))
            .collect();
        rates.sort_by(f64::total_cmp);
        let usual = stats::median_of_sorted(&rates);
        let mut main = table
            .effects
            .iter()
            .filter(|effect| factors.iter().any(|one| one.name == effect.factor));
        main.all(|effect| match (effect.low, effect.high, usual) {
            (Some(low), Some(high), Some(usual)) => (high - low) / usual < width,
            _ => false,
        })
    };
    result.rates.len() == result.design.responses.len() && result.rates.iter().all(is_narrow)
}
