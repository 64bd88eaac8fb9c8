//! Which arms of a design compare what, and what their trials in the same blocks say of it.

use std::collections::{BTreeMap, BTreeSet};

use record::{Design, Response};

use super::rate_and_cost_columns::in_table;
use super::verdicts::Compared;
use super::{DesignPair, Seen, error_of_each, level_name};
use crate::trial_rate_and_cost::CONFIDENCE_DEFAULT;
use stats::PairedRatios;

/// Fewest blocks in which the effect at each combination of the other factors can be told from noise.
const ALIGNED_BLOCKS_MIN: usize = 6;

/// Two arms: the one that is compared with, and the one that is compared.
type Pair = (u32, u32);

/// A level that pairs of arms compare with the first of its factor.
struct Level {
    factor: usize,
    /// From 1.
    level: u32,
    /// Arms that differ in this factor only.
    arms: Vec<Pair>,
}

impl Level {
    /// All of a design; a fraction has none.
    fn all(design: &Design) -> Vec<Self> {
        let mut found = Vec::new();
        for (factor, of) in design.factors.iter().enumerate() {
            for (level, _) in (1..).zip(of.levels.iter().skip(1)) {
                let arms = partners(design, factor, level);
                if !arms.is_empty() {
                    found.push(Self {
                        factor,
                        level,
                        arms,
                    });
                }
            }
        }
        found
    }

    /// The pairs of arms at a level of another factor.
    fn at(&self, design: &Design, other: usize, level: u32) -> Vec<Pair> {
        let is_there = |(_, arm): &&Pair| {
            let arm = design.arms.get(*arm as usize);
            arm.and_then(|arm| arm.get(other)) == Some(&level)
        };
        self.arms.iter().filter(is_there).copied().collect()
    }
}

/// A level of one factor at a level of another, which may do together what neither does alone.
struct Together {
    factors: [usize; 2],
    levels: [u32; 2],
    /// Pairs of the one at this level of the other.
    there: Vec<Pair>,
    /// The same at the first level of the other.
    here: Vec<Pair>,
}

impl Together {
    fn all(design: &Design, levels: &[Level]) -> Vec<Self> {
        let mut found = Vec::new();
        for one in levels {
            for (other, of) in design.factors.iter().enumerate().skip(one.factor + 1) {
                let here = one.at(design, other, 0);
                for (level, _) in (1..).zip(of.levels.iter().skip(1)) {
                    let there = one.at(design, other, level);
                    if !here.is_empty() && !there.is_empty() {
                        found.push(Self {
                            factors: [one.factor, other],
                            levels: [one.level, level],
                            there,
                            here: here.clone(),
                        });
                    }
                }
            }
        }
        found.sort_by_key(|both| both.factors);
        found
    }
}

/// Arms that differ in this factor only: its first level, and this one.
fn partners(design: &Design, factor: usize, level: u32) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (to, arm) in (0..).zip(&design.arms) {
        if Some(to) == design.baseline_replicate || arm.get(factor) != Some(&level) {
            continue;
        }
        let from = (0..).zip(&design.arms).find(|(index, other)| {
            let same = arm.iter().zip(*other).enumerate();
            let mut same = same.map(|(place, (one, two))| match place == factor {
                true => *two == 0,
                false => one == two,
            });
            Some(*index) != design.baseline_replicate && same.all(|same| same)
        });
        pairs.extend(from.map(|(from, _)| (from, to)));
    }
    pairs
}

/// Whether any two arms differ in one factor alone; those of a fraction do not.
pub(super) fn is_in_pairs(design: &Design) -> bool {
    !Level::all(design).is_empty()
}

/// The fewest blocks in which the pairs of a design can be counted to the first step of Holm's correction
/// over all its effects; with fewer, least squares over the rows must decide. `None` where it has no
/// pairs, as a fraction.
#[must_use]
pub fn blocks_counted(design: &Design) -> Option<usize> {
    let levels = Level::all(design);
    let effects = levels.len() + Together::all(design, &levels).len();
    let effects = effects * design.responses.len();
    (effects > 0).then(|| stats::blocks_min(1.0 - error_of_each(effects)))
}

/// Everything that pairs of arms compare: each level against the first of its factor, over all
/// combinations of the others and with each, and then what two factors do only together.
pub(super) fn compared(design: &Design, seen: &[Seen<'_>]) -> Vec<Compared> {
    let levels = Level::all(design);
    let both = Together::all(design, &levels);
    let responses = design.responses.iter();
    let cells: Vec<Cells<'_>> = responses
        .map(|response| Cells::new(seen, response))
        .collect();
    let alone = cells.iter().flat_map(|cells| {
        let levels = levels.iter();
        levels.flat_map(move |level| of_level(design, cells, level))
    });
    let together = cells.iter().flat_map(|cells| {
        let both = both.iter();
        both.filter_map(move |both| of_both(design, cells, both))
    });
    alone.chain(together).collect()
}

/// A level against the first of its factor: over all combinations of the others, and with each.
fn of_level(design: &Design, cells: &Cells<'_>, level: &Level) -> Vec<Compared> {
    let Level {
        factor,
        level: to,
        arms,
    } = level;
    let of = &design.factors[*factor];
    let name = |level: u32| of.levels.get(level as usize).map(|level| &level.name);
    let (Some(first), Some(to)) = (name(0), name(*to)) else {
        return Vec::new();
    };
    let mut plots = design.whole_plots.iter();
    let is_of_plots = plots.any(|plot| *plot as usize == *factor);
    let compare = |group: &[Pair], others: String| {
        let each = match group.len() > 1 && !is_of_plots {
            true => cells.each_between(group),
            false => None,
        };
        let (per_block, ratios) = match each {
            Some(ratios) => (group.len(), ratios),
            None => (1, cells.between(group)),
        };
        let published = match others.is_empty() {
            true => published(design, [cells.response, &of.name, to]),
            false => None,
        };
        let pair = DesignPair {
            response: cells.response.to_owned(),
            factor: of.name.clone(),
            level: to.clone(),
            baseline: first.clone(),
            others,
            ratio: ratios.ratio(design.band, CONFIDENCE_DEFAULT)?,
            verdict: None,
            blocks_to_settle: None,
            published,
        };
        Some(Compared {
            pair,
            ratios,
            per_block,
            base: cells.usual(group.iter().map(|(from, _)| *from)),
        })
    };
    let whole = compare(arms, String::new());
    let each = arms.iter().filter(|_| arms.len() > 1);
    let each = each.filter_map(|pair| compare(&[*pair], other_levels(design, pair.0, *factor)));
    whole.into_iter().chain(each).collect()
}

/// How many times more one factor does at a level of the other than at the other's first.
fn of_both(design: &Design, cells: &Cells<'_>, both: &Together) -> Option<Compared> {
    let [one, other] = both.factors.map(|place| &design.factors[place]);
    let name = |levels: [u32; 2]| {
        let [level, with] = levels.map(|level| level as usize);
        let (level, with) = (one.levels.get(level)?, other.levels.get(with)?);
        Some(format!("{}:{}", level.name, with.name))
    };
    let ratios = cells.over(&both.there, &both.here);
    let pair = DesignPair {
        response: cells.response.to_owned(),
        factor: format!("{}:{}", one.name, other.name),
        level: name(both.levels)?,
        baseline: name([0; 2])?,
        others: String::new(),
        ratio: ratios.ratio(design.band, CONFIDENCE_DEFAULT)?,
        verdict: None,
        blocks_to_settle: None,
        published: None,
    };
    let usual = cells.usual(both.there.iter().map(|(_, to)| *to));
    Some(Compared {
        base: usual.map(|usual| usual / pair.ratio.value),
        pair,
        ratios,
        per_block: 1,
    })
}

/// What others published of a level of a factor, for a response.
fn published(design: &Design, [response, factor, level]: [&str; 3]) -> Option<String> {
    let mut figures = design.figures.iter();
    let found = figures.find(|figure| {
        [&figure.response, &figure.factor, &figure.level] == [response, factor, level]
    })?;
    Some(found.text.clone())
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

/// The trial of an arm in a block.
struct Cell {
    /// Logarithm of its rate.
    log: f64,
    /// Its rate in the unit of the response's table.
    shown: f64,
    /// Place in the block.
    position: u32,
}

/// The trials of a block, by arm.
#[derive(Default)]
struct Block(BTreeMap<u32, Cell>);

impl Block {
    /// The logarithms of both arms of a pair.
    fn logs(&self, (from, to): Pair) -> Option<[f64; 2]> {
        Some([self.0.get(&from)?.log, self.0.get(&to)?.log])
    }

    /// Means of the logarithms of both sides of these pairs, where the block has all of them.
    fn means(&self, arms: &[Pair]) -> Option<[f64; 2]> {
        let mut sums = [0.0; 2];
        for pair in arms {
            for (sum, log) in sums.iter_mut().zip(self.logs(*pair)?) {
                *sum += log;
            }
        }
        (!arms.is_empty()).then(|| sums.map(|sum| sum / arms.len() as f64))
    }

    /// Whether the first of two arms came first; of several pairs there is no such order.
    fn is_first(&self, arms: &[Pair]) -> Option<bool> {
        let [(from, to)] = arms else {
            return None;
        };
        Some(self.0.get(from)?.position < self.0.get(to)?.position)
    }
}

/// The trials of a response, by block and arm.
pub(super) struct Cells<'a> {
    response: &'a str,
    blocks: BTreeMap<u32, Block>,
}

impl<'a> Cells<'a> {
    pub(super) fn new(seen: &[Seen<'_>], response: &'a Response) -> Self {
        let mut blocks: BTreeMap<u32, Block> = BTreeMap::new();
        for one in seen.iter().filter(|one| one.response == response.name) {
            let cell = Cell {
                log: one.rate.ln(),
                shown: in_table(one.unit, one.rate),
                position: one.position,
            };
            blocks.entry(one.block).or_default().0.insert(one.arm, cell);
        }
        Self {
            response: &response.name,
            blocks,
        }
    }

    /// What a trial of these arms usually makes, in the unit of the table.
    fn usual(&self, arms: impl Iterator<Item = u32>) -> Option<f64> {
        let arms: BTreeSet<u32> = arms.collect();
        let of_arms = self.blocks.values().flat_map(|block| &block.0);
        let of_arms = of_arms.filter(|(arm, _)| arms.contains(arm));
        let mut rates: Vec<f64> = of_arms.map(|(_, cell)| cell.shown).collect();
        rates.sort_by(f64::total_cmp);
        stats::median_of_sorted(&rates)
    }

    /// Ratios of these pairs of arms, one for each block: the mean of their logarithms.
    pub(super) fn between(&self, arms: &[Pair]) -> PairedRatios {
        PairedRatios::in_order(self.blocks.iter().filter_map(|(number, block)| {
            let [from, to] = block.means(arms)?.map(f64::exp);
            Some((*number, from, to, block.is_first(arms)))
        }))
    }

    /// Ratios of these pairs of arms, each pair of each block for itself: so more can be counted than
    /// blocks, and a trial that somebody disturbed spoils one pair and not all of its block. What the other
    /// factors make of a pair is taken out (aligned as by Hodges and Lehmann 1962, Annals of Mathematical
    /// Statistics 33:482): the effect at each of their combinations is moved to the mean of all, and the
    /// differences around it are widened by what that took from their scatter.
    ///
    /// It must not be asked of a factor that is switched from plot to plot: pairs between the same two
    /// plots have the noise of these in common. `None` of so few blocks that what is taken out would be
    /// most of what there is.
    fn each_between(&self, arms: &[Pair]) -> Option<PairedRatios> {
        // Whole blocks only, so that each combination counts the same.
        let rows = self.blocks.iter().filter_map(|(number, block)| {
            let row = arms.iter().map(|pair| block.logs(*pair));
            Some((*number, row.collect::<Option<Vec<_>>>()?))
        });
        let rows: Vec<(u32, Vec<[f64; 2]>)> = rows.collect();
        if rows.len() < ALIGNED_BLOCKS_MIN {
            return None;
        }
        // The centre of each combination.
        let centres = |of: fn([f64; 2]) -> f64| -> Vec<f64> {
            let combinations = 0..arms.len();
            let centre = |combination: usize| {
                let values = rows.iter().map(|(_, row)| of(row[combination]));
                stats::hodges_lehmann(&values.collect::<Vec<_>>()).unwrap_or(0.0)
            };
            combinations.map(centre).collect()
        };
        let effects = centres(|[from, to]| to - from);
        let levels = centres(|[from, to]| 0.5 * (from + to));
        let usual = effects.iter().sum::<f64>() / effects.len().max(1) as f64;
        // The scatter around an effect that was estimated from so many is less than that around the true
        // one.
        let count = rows.len() as f64;
        let wider = (count / (count - 1.0)).sqrt();
        let aligned = rows.iter().flat_map(|(number, row)| {
            let row = row.iter().zip(effects.iter().zip(&levels));
            row.map(move |([from, to], (effect, level))| {
                let half = 0.5 * (usual + wider * (to - from - effect));
                let around = 0.5 * (from + to) - level;
                (*number, (around - half).exp(), (around + half).exp())
            })
        });
        Some(PairedRatios::new(aligned))
    }

    /// The same of `there`, over that of `here`. Half of the four cells are on either side, so that where
    /// both ratios are the same nothing but noise tells the sides apart.
    fn over(&self, there: &[Pair], here: &[Pair]) -> PairedRatios {
        PairedRatios::new(self.blocks.iter().filter_map(|(number, block)| {
            let [from_there, to_there] = block.means(there)?;
            let [from_here, to_here] = block.means(here)?;
            let sides = [from_there + to_here, to_there + from_here];
            let [one, other] = sides.map(f64::exp);
            Some((*number, one, other))
        }))
    }
}
