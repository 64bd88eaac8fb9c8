//! An experiment over several factors: effects and interactions, noise, and the samples behind them.

mod settle;

use std::collections::{BTreeMap, BTreeSet};

use record::{Design, HostLoad, Outcome, Response, Stage, TrialRecord};
use serde::Serialize;

use crate::comparison::{CONFIDENCE_DEFAULT, served_per_byte};
use crate::recipe;
use crate::statistics::{self, PairedRatios};
use crate::table::{self, Better, Request, Table, TableResult, TableWarning};
use crate::{Estimate, Unit, Verdict};

use settle::{Compared, settle};

/// Fewest blocks in which the effect at each combination of the other factors can be told from noise.
const ALIGNED_BLOCKS_MIN: usize = 6;

/// Something that is measured of a trial, as a column of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Rate,
    Cpu,
    ServerCpu,
    Latency,
    Retransmits,
}

impl Quantity {
    /// What a rate costs.
    const COSTS: [Self; 4] = [Self::Cpu, Self::ServerCpu, Self::Latency, Self::Retransmits];

    /// The end of its column's name, which tells its unit.
    const fn suffix(self, rates: Unit) -> &'static str {
        match self {
            Self::Rate => match rates {
                Unit::OperationsPerSecond => "operations_s",
                Unit::FramesPerSecond => "frames_s",
                _ => "mb_s",
            },
            Self::Cpu => "cpu_s_per_gb",
            Self::ServerCpu => "server_cpu_s_per_gb",
            Self::Latency => "latency_p99_ms",
            Self::Retransmits => "retransmits",
        }
    }

    fn of(self, seen: &Seen<'_>) -> Option<f64> {
        let result = seen.result;
        match self {
            Self::Rate => Some(in_table(seen.unit, seen.rate)),
            // Nanoseconds a byte are seconds a gigabyte.
            Self::Cpu if seen.unit == Unit::BytesPerSecond => {
                Some(result.cpu().get() as f64 / result.bytes().get() as f64)
            }
            Self::ServerCpu if seen.unit == Unit::BytesPerSecond => {
                Some(served_per_byte(seen.loads, seen.rate)? * 1e9)
            }
            Self::Cpu | Self::ServerCpu => None,
            Self::Latency => Some(result.latency?.p99.get() as f64 / 1e6),
            Self::Retransmits => {
                let ours: Option<u64> = result.samples.iter().map(|one| one.retransmits).sum();
                let all = ours.into_iter().chain(result.far_retransmits);
                all.reduce(|one, other| one + other)
                    .map(|count| count as f64)
            }
        }
    }
}

/// A rate in the unit of its column.
fn in_table(unit: Unit, rate: f64) -> f64 {
    match unit {
        Unit::BytesPerSecond => rate / 1e6,
        _ => rate,
    }
}

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
    pub failures: Vec<String>,
    /// What a reader must know.
    pub caveats: Vec<String>,
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
                recipe::rate(&trial.workload, result).map(|rate| (result, rate))
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
                unit: recipe::unit(&trial.workload),
            }),
            (_, Outcome::Failed(failure)) => {
                let reason = failure.chain.join(": ");
                failures.push(format!("block {}, {response}: {reason}", block + 1));
            }
            _ => failures.push(format!("block {}, {response}: it did nothing", block + 1)),
        }
    }
    let mut caveats = Vec::new();
    if doubled > 0 {
        caveats.push(format!(
            "trials of visits that were measured already, which do not count: {doubled}"
        ));
    }
    let mut rates = tables(design, &seen, &mut caveats, Quantity::Rate);
    let mut costs = cost_tables(design, &seen);
    let noise = noise(design, &seen, &mut caveats);
    let mut pairs = [pairs(design, &seen), together(design, &seen)].concat();
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
        let text = "the baseline differed from itself, so no difference here can be believed";
        table.warnings.push(TableWarning::new("alarm", text.into()));
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
        let tested = effects.filter(|effect| effect.p.is_some()).count().max(1);
        let confidence = 1.0 - (1.0 - CONFIDENCE_DEFAULT) / tested as f64;
        let pairs = ratios.blocks_to_settle(band, confidence);
        pair.blocks_to_settle = pairs.map(|pairs| pairs.div_ceil(*per_block));
    }
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

/// One table over all responses; each of them has cells in its own rows only.
fn tables(
    design: &Design,
    seen: &[Seen<'_>],
    caveats: &mut Vec<String>,
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
    let rows: Vec<Vec<String>> = seen
        .iter()
        .filter(|one| Some(one.arm) != design.again)
        .map(|one| {
            let levels =
                (0..factors.len()).map(|factor| level_name(design, one.arm, factor).to_owned());
            let plot = design.whole_plots.iter();
            let plot = plot.map(|factor| level_name(design, one.arm, *factor as usize));
            let plot = plot.collect::<Vec<_>>().join(", ");
            let block = [format!("block {}", one.block + 1), plot];
            let cells = design.responses.iter().map(|response| {
                let value = (response.name == one.response)
                    .then(|| quantity.of(one))
                    .flatten();
                value.map_or_else(String::new, |value| value.to_string())
            });
            levels.chain(block).chain(cells).collect()
        })
        .collect();
    let header = factors
        .iter()
        .cloned()
        .chain(["block".to_owned(), "plot".to_owned()])
        .chain(names.iter().cloned());
    let table = match Table::new(header.collect(), rows) {
        Ok(table) => table,
        Err(error) => {
            caveats.push(error.to_string());
            return Vec::new();
        }
    };
    let mut results = Vec::new();
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
    match table::analyze(&table, &request) {
        Ok(found) => results = found,
        Err(error) => caveats.push(format!("the effects cannot be estimated yet: {error}")),
    }
    for result in &mut results {
        // A row is a trial of one response and has no cells of the others; and how many blocks would
        // settle an effect is said of its pairs, where it has any.
        let says_more = quantity == Quantity::Rate && has_no_pairs(design);
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
            let text = format!(
                "{alias}: these interactions cannot be told from each other in this design"
            );
            result.warnings.push(TableWarning {
                row: None,
                kind: "aliased".into(),
                text,
            });
        }
    }
    results
}

/// The name of a response's column.
fn column(response: &Response, quantity: Quantity) -> String {
    let suffix = quantity.suffix(recipe::unit(&response.workload));
    format!("{} {suffix}", response.name)
}

/// Costs are families of their own, so that they take no power from the rates; a cost that is the
/// same in every trial has no effects.
fn cost_tables(design: &Design, seen: &[Seen<'_>]) -> Vec<TableResult> {
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

/// The gate: of many responses one is wrong by chance, so that each is judged by a share of the error.
fn noise(design: &Design, seen: &[Seen<'_>], caveats: &mut Vec<String>) -> Vec<DesignNoise> {
    let Some(again) = design.again else {
        return Vec::new();
    };
    let responses = design.responses.iter();
    let measured: Vec<(&str, PairedRatios, Estimate)> = responses
        .filter_map(|response| {
            let ratios = between(seen, &response.name, &[(0, again)]);
            let ratio = ratios.ratio(design.band, CONFIDENCE_DEFAULT)?;
            Some((response.name.as_str(), ratios, ratio))
        })
        .collect();
    let asked = measured.len();
    let error = (1.0 - CONFIDENCE_DEFAULT) / asked.max(1) as f64;
    let least = statistics::blocks_min(1.0 - error);
    let fewest = measured.iter().map(|(_, ratios, _)| ratios.len()).min();
    if let Some(fewest) = fewest.filter(|fewest| *fewest < least) {
        let many = match asked {
            1 => String::new(),
            _ => format!(" in {asked} responses at once"),
        };
        let tell = match fewest < statistics::blocks_min(CONFIDENCE_DEFAULT) {
            true => "cannot tell whether the baseline differed from itself",
            false => "tell only where the baseline differed from itself a lot",
        };
        caveats.push(format!("{fewest} blocks {tell}{many}; {least} are needed"));
    }
    let noise = measured.into_iter().map(|(response, ratios, ratio)| {
        let is_off = statistics::alarm(&ratio, design.band, CONFIDENCE_DEFAULT);
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

/// The trials of a response, by block and arm.
struct Cells(BTreeMap<(u32, u32), (f64, u32)>);

impl Cells {
    fn new(seen: &[Seen<'_>], response: &str) -> Self {
        let of_response = seen.iter().filter(|one| one.response == response);
        let cells = of_response.map(|one| ((one.block, one.arm), (one.rate.ln(), one.position)));
        Self(cells.collect())
    }

    fn blocks(&self) -> Vec<u32> {
        let mut blocks: Vec<u32> = self.0.keys().map(|(block, _)| *block).collect();
        blocks.dedup();
        blocks
    }

    /// Means of the logarithms of both sides of these pairs, where a block has all of them.
    fn means(&self, block: u32, arms: &[(u32, u32)]) -> Option<[f64; 2]> {
        let mut sums = [0.0; 2];
        for (from, to) in arms {
            for (sum, arm) in sums.iter_mut().zip([from, to]) {
                *sum += self.0.get(&(block, *arm))?.0;
            }
        }
        (!arms.is_empty()).then(|| sums.map(|sum| sum / arms.len() as f64))
    }

    /// Whether the first of two arms came first; of several pairs there is no such order.
    fn is_first(&self, block: u32, arms: &[(u32, u32)]) -> Option<bool> {
        let [(from, to)] = arms else {
            return None;
        };
        let position = |arm: &u32| self.0.get(&(block, *arm)).map(|(_, position)| *position);
        Some(position(from)? < position(to)?)
    }
}

/// Ratios of these pairs of arms, one for each block: the mean of their logarithms.
fn between(seen: &[Seen<'_>], response: &str, arms: &[(u32, u32)]) -> PairedRatios {
    let cells = Cells::new(seen, response);
    let blocks = cells.blocks().into_iter();
    PairedRatios::in_order(blocks.filter_map(|block| {
        let [from, to] = cells.means(block, arms)?.map(f64::exp);
        Some((block, from, to, cells.is_first(block, arms)))
    }))
}

/// Ratios of these pairs of arms, each pair of each block for itself: so more can be counted than blocks,
/// and a trial that somebody disturbed spoils one pair and not all of its block. What the other factors
/// make of a pair is taken out (aligned as by Hodges and Lehmann 1962, Annals of Mathematical Statistics
/// 33:482): the effect at each of their combinations is moved to the mean of all, and the differences
/// around it are widened by what that took from their scatter.
///
/// It must not be asked of a factor that is switched from plot to plot: pairs between the same two plots
/// have the noise of these in common. `None` of so few blocks that what is taken out would be most of what
/// there is.
fn each_between(seen: &[Seen<'_>], response: &str, arms: &[(u32, u32)]) -> Option<PairedRatios> {
    let cells = Cells::new(seen, response);
    let blocks = cells.blocks().into_iter();
    // Whole blocks only, so that each combination counts the same.
    let blocks: Vec<u32> = blocks
        .filter(|block| cells.means(*block, arms).is_some())
        .collect();
    if blocks.len() < ALIGNED_BLOCKS_MIN {
        return None;
    }
    let columns: Vec<Vec<[f64; 2]>> = arms
        .iter()
        .map(|pair| {
            let ends = blocks.iter().map(|block| cells.means(*block, &[*pair]));
            ends.flatten().collect()
        })
        .collect();
    let effect = |column: &Vec<[f64; 2]>| -> f64 {
        let differences: Vec<f64> = column.iter().map(|[from, to]| to - from).collect();
        statistics::centre(&differences).unwrap_or(0.0)
    };
    let level = |column: &Vec<[f64; 2]>| -> f64 {
        let levels: Vec<f64> = column.iter().map(|[from, to]| 0.5 * (from + to)).collect();
        statistics::centre(&levels).unwrap_or(0.0)
    };
    let effects: Vec<f64> = columns.iter().map(effect).collect();
    let levels: Vec<f64> = columns.iter().map(level).collect();
    let usual = effects.iter().sum::<f64>() / effects.len().max(1) as f64;
    // The scatter around an effect that was estimated from so many is less than that around the true one.
    let count = blocks.len() as f64;
    let wider = (count / (count - 1.0)).sqrt();
    let rows = blocks.iter().enumerate();
    let aligned = rows.flat_map(|(row, block)| {
        let columns = columns.iter().zip(effects.iter().zip(&levels));
        columns.map(move |(column, (effect, level))| {
            let [from, to] = column[row];
            let half = 0.5 * (usual + wider * (to - from - effect));
            let around = 0.5 * (from + to) - level;
            (*block, (around - half).exp(), (around + half).exp())
        })
    });
    Some(PairedRatios::new(aligned.collect::<Vec<_>>()))
}

/// The same of `there`, over that of `here`. Half of the four cells are on either side, so that where
/// both ratios are the same nothing but noise tells the sides apart.
fn over(
    seen: &[Seen<'_>],
    response: &str,
    there: &[(u32, u32)],
    here: &[(u32, u32)],
) -> PairedRatios {
    let cells = Cells::new(seen, response);
    let blocks = cells.blocks().into_iter();
    PairedRatios::new(blocks.filter_map(|block| {
        let [from_there, to_there] = cells.means(block, there)?;
        let [from_here, to_here] = cells.means(block, here)?;
        let sides = [from_there + to_here, to_there + from_here];
        let [one, other] = sides.map(f64::exp);
        Some((block, one, other))
    }))
}

/// What a trial of these arms usually makes, in the unit of the table.
fn usual(seen: &[Seen<'_>], response: &str, arms: impl Iterator<Item = u32>) -> Option<f64> {
    let arms: BTreeSet<u32> = arms.collect();
    let of_arms = seen.iter();
    let of_arms = of_arms.filter(|one| one.response == response && arms.contains(&one.arm));
    let mut values: Vec<f64> = of_arms.filter_map(|one| Quantity::Rate.of(one)).collect();
    values.sort_by(f64::total_cmp);
    statistics::middle(&values)
}

/// What two factors do only together: how many times more one does at a level of the other than at
/// the other's first.
fn together(design: &Design, seen: &[Seen<'_>]) -> Vec<Compared> {
    let mut found = Vec::new();
    for response in &design.responses {
        for one in 0..design.factors.len() {
            for other in one + 1..design.factors.len() {
                found.extend(acting(design, seen, &response.name, [one, other]));
            }
        }
    }
    found
}

fn acting(
    design: &Design,
    seen: &[Seen<'_>],
    response: &str,
    [one, other]: [usize; 2],
) -> Vec<Compared> {
    let name = |place: usize, level: u32| {
        let level = design.factors[place].levels.get(level as usize);
        level.map_or("", |level| level.name.as_str())
    };
    let count = |place: usize| u32::try_from(design.factors[place].levels.len()).unwrap_or(0);
    let levels = (1..count(one)).flat_map(|level| (1..count(other)).map(move |with| (level, with)));
    let pairs = levels.filter_map(|(level, with)| {
        let [there, here] = beside(design, (one, level), other, [with, 0]);
        if here.is_empty() {
            return None;
        }
        let ratios = over(seen, response, &there, &here);
        let pair = DesignPair {
            response: response.to_owned(),
            factor: format!(
                "{}:{}",
                design.factors[one].name, design.factors[other].name
            ),
            level: format!("{}:{}", name(one, level), name(other, with)),
            baseline: format!("{}:{}", name(one, 0), name(other, 0)),
            others: String::new(),
            verdict: None,
            blocks_to_settle: None,
            ratio: ratios.ratio(design.band, CONFIDENCE_DEFAULT)?,
            published: None,
        };
        let both = usual(seen, response, there.iter().map(|(_, to)| *to));
        let base = both.map(|both| both / pair.ratio.value);
        Some(Compared {
            pair,
            ratios,
            per_block: 1,
            base,
        })
    });
    pairs.collect()
}

/// The pairs of arms of a factor's level, at each of two levels of another factor.
fn beside(
    design: &Design,
    (factor, level): (usize, u32),
    other: usize,
    levels: [u32; 2],
) -> [Vec<(u32, u32)>; 2] {
    levels.map(|wanted| {
        let pairs = partners(design, factor, level).into_iter();
        let of = |arm: u32| design.arms.get(arm as usize).and_then(|arm| arm.get(other));
        pairs.filter(|(_, to)| of(*to) == Some(&wanted)).collect()
    })
}

/// How many effects are judged by the pairs of this design: of each level, and of each two together.
fn effects_in_pairs(design: &Design) -> usize {
    let levels = |place: usize| {
        let count = design.factors[place].levels.len();
        1..u32::try_from(count).unwrap_or(0).max(1)
    };
    let factors = 0..design.factors.len();
    let each = factors.map(|one| {
        let with = |level: &u32| {
            let others = one + 1..design.factors.len();
            let found = others.map(|other| {
                let at =
                    |with: &u32| !beside(design, (one, *level), other, [*with, 0])[1].is_empty();
                levels(other).filter(at).count()
            });
            found.sum::<usize>()
        };
        let known = levels(one).filter(|level| !partners(design, one, *level).is_empty());
        known.map(|level| 1 + with(&level)).sum::<usize>()
    });
    each.sum::<usize>() * design.responses.len()
}

/// The fewest blocks in which the pairs of a design can be counted to the first step of Holm's correction
/// over all its effects; with fewer, least squares over the rows must decide. `None` where it has no
/// pairs, as a fraction.
#[must_use]
pub fn blocks_counted(design: &Design) -> Option<usize> {
    let effects = effects_in_pairs(design);
    let step = (1.0 - CONFIDENCE_DEFAULT) / effects.max(1) as f64;
    (effects > 0).then(|| statistics::blocks_min(1.0 - step))
}

/// Each level against the first of its factor: over all combinations of the others, and with each.
fn pairs(design: &Design, seen: &[Seen<'_>]) -> Vec<Compared> {
    let mut found = Vec::new();
    for response in &design.responses {
        for (place, factor) in design.factors.iter().enumerate() {
            let Some(first) = factor.levels.first() else {
                continue;
            };
            for (level, to) in (1..).zip(factor.levels.iter().skip(1)) {
                let arms = partners(design, place, level);
                let each = arms.iter().map(|pair| vec![*pair]);
                let whole = std::iter::once(arms.clone());
                for group in whole.chain(each.filter(|_| arms.len() > 1)) {
                    let is_of_plots = design
                        .whole_plots
                        .iter()
                        .any(|plot| *plot as usize == place);
                    let each = match group.len() > 1 && !is_of_plots {
                        true => each_between(seen, &response.name, &group),
                        false => None,
                    };
                    let (per_block, ratios) = match each {
                        Some(ratios) => (group.len(), ratios),
                        None => (1, between(seen, &response.name, &group)),
                    };
                    let Some(ratio) = ratios.ratio(design.band, CONFIDENCE_DEFAULT) else {
                        continue;
                    };
                    let others = match &group[..] {
                        [(arm, _)] if arms.len() > 1 => other_levels(design, *arm, place),
                        _ => String::new(),
                    };
                    let pair = DesignPair {
                        response: response.name.clone(),
                        factor: factor.name.clone(),
                        level: to.name.clone(),
                        baseline: first.name.clone(),
                        published: match others.is_empty() {
                            true => published(design, [&response.name, &factor.name, &to.name]),
                            false => None,
                        },
                        others,
                        verdict: None,
                        blocks_to_settle: None,
                        ratio,
                    };
                    let base = usual(seen, &response.name, group.iter().map(|(from, _)| *from));
                    found.push(Compared {
                        pair,
                        ratios,
                        per_block,
                        base,
                    });
                }
            }
        }
    }
    found
}

/// What others published of a level of a factor, for a response.
fn published(design: &Design, [response, factor, level]: [&str; 3]) -> Option<String> {
    let mut figures = design.figures.iter();
    let found = figures.find(|figure| {
        [&figure.response, &figure.factor, &figure.level] == [response, factor, level]
    })?;
    Some(found.text.clone())
}

/// Arms that differ in this factor only: its first level, and this one.
fn partners(design: &Design, factor: usize, level: u32) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for (to, arm) in (0..).zip(&design.arms) {
        if Some(to) == design.again || arm.get(factor) != Some(&level) {
            continue;
        }
        let from = (0..).zip(&design.arms).find(|(index, other)| {
            let same = arm.iter().zip(*other).enumerate();
            let mut same = same.map(|(place, (one, two))| match place == factor {
                true => *two == 0,
                false => one == two,
            });
            Some(*index) != design.again && same.all(|same| same)
        });
        pairs.extend(from.map(|(from, _)| (from, to)));
    }
    pairs
}

/// Whether no two arms differ in one factor alone, as in a fraction.
fn has_no_pairs(design: &Design) -> bool {
    let mut levels = (0..).zip(&design.factors).flat_map(|(place, factor)| {
        (1..)
            .zip(factor.levels.iter().skip(1))
            .map(move |(level, _)| (place, level))
    });
    levels.all(|(place, level)| partners(design, place, level).is_empty())
}

fn other_levels(design: &Design, arm: u32, factor: usize) -> String {
    let others = (0..design.factors.len()).filter(|place| *place != factor);
    let names = others.map(|place| {
        format!(
            "{} {}",
            design.factors[place].name,
            level_name(design, arm, place)
        )
    });
    names.collect::<Vec<_>>().join(", ")
}

fn samples(design: &Design, seen: &[Seen<'_>]) -> Vec<DesignSamples> {
    let mut found = Vec::new();
    for response in &design.responses {
        let unit = recipe::unit(&response.workload);
        for arm in (0..).zip(&design.arms).map(|(arm, _)| arm) {
            let of_arm = || {
                seen.iter()
                    .filter(|one| one.arm == arm && one.response == response.name)
            };
            let rates: Vec<f64> = of_arm().map(|one| one.rate).collect();
            let middle = |values: &[f64], unit| {
                statistics::median(values, design.band, CONFIDENCE_DEFAULT, unit)
            };
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
    if has_no_pairs(&result.design) {
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
        let usual = statistics::middle(&rates);
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
