//! Values that stand apart: likely slips of unit, and outliers. They are named and kept.

use std::collections::BTreeMap;

use locale::say;

use super::TableWarning;
use super::csv_table::{figure, rounded, shown};
use super::design_matrix::Design;
use super::factor_levels::size;
use super::gram_schmidt_least_squares::{Basis, Fit};
use super::tail_probabilities::{median, t_two_sided};
use super::unit_and_direction;

/// Rows that are named; beyond them the table has other problems.
const NAMED_MAX: usize = 16;
/// How many times its noise a value must stand apart.
const APART: f64 = 6.0;
/// Chance of naming an outlier in a table without any.
const OUTLIER_PROBABILITY: f64 = 0.05;
/// Leverage of a row that the fit passes through whatever its value is.
const LEVERAGE_WHOLE: f64 = 1.0 - 1e-9;
/// Room around the factor of a slip, as a share of its logarithm.
const ROOM: f64 = 0.25;
/// Most room, as a logarithm: 1.25 times.
const ROOM_MAX: f64 = 0.223;

/// A slip: how many times, and the id of what was probably mixed up.
type Mixed = (f64, &'static str);

/// Of bytes, and of what may be bytes.
const OF_BYTES: [Mixed; 4] = [
    (1000.0, "table-mixed-up.prefix"),
    (1024.0, "table-mixed-up.binary-prefix"),
    (8.0, "table-mixed-up.bits"),
    (1.048_576, "table-mixed-up.binary-unit"),
];
/// Bits have no binary prefixes, but who reckons in them may have come from bytes.
const OF_BITS: [Mixed; 3] = [OF_BYTES[0], OF_BYTES[1], OF_BYTES[2]];
const OF_TIMES: [Mixed; 1] = [(1000.0, "table-mixed-up.time")];
const OF_OPERATIONS: [Mixed; 1] = [(1000.0, "table-mixed-up.thousands")];

/// What can be mixed up in a unit: nobody writes milliseconds in bits.
fn mixed_up(unit: &str) -> &'static [Mixed] {
    match unit {
        "%" | "retransmits" => &[],
        "ns" | "us" | "ms" | "s" => &OF_TIMES,
        "IOPS" | "packets/s" | "operations/s" | "frames/s" => &OF_OPERATIONS,
        unit if unit.ends_with("bit/s") => &OF_BITS,
        _ => &OF_BYTES,
    }
}

/// Slips and outliers among the rows.
pub(super) fn rows(design: &Design, basis: &Basis, fit: &Fit) -> Vec<TableWarning> {
    let slips = match design.typed {
        true => slip_warnings(design, basis),
        false => Vec::new(),
    };
    // With a slip among them all other rows look odd, or none.
    if slips.is_empty() {
        outliers(design, basis, fit)
    } else {
        slips
    }
}

/// Slips among the rows that have a logarithm.
fn slip_warnings(design: &Design, basis: &Basis) -> Vec<TableWarning> {
    let positive = |place: &usize| design.values[*place] > 0.0;
    let positive: Vec<usize> = (0..design.len()).filter(positive).collect();
    let warnings = |design: &Design, basis: &Basis| -> Vec<TableWarning> {
        let slips = slips(design, basis).into_iter();
        slips.map(|slip| slip.warning(design)).collect()
    };
    if positive.len() == design.len() {
        return warnings(design, basis);
    }
    let part = design.of_rows(&positive);
    warnings(&part, &part.basis(|_| true))
}

/// A level whose ratio is that of a slip: the whole of it may be in another unit.
pub(super) fn level(
    response: &str,
    factor: &str,
    [baseline, level]: [&str; 2],
    ratio: Option<f64>,
) -> Option<TableWarning> {
    let ratio = ratio?;
    let times = ratio.max(ratio.recip());
    // A link or a block that is ten times as large may well be ten times as fast.
    let is_of_size = size(baseline).zip(size(level)).is_some_and(|(one, other)| {
        let apart = (one / other).max(other / one);
        times.ln() <= apart.ln() + ROOM_MAX
    });
    let known = match mixed_up(unit_and_direction::unit(response)) {
        // Times and operations differ as they like.
        [] | [_] => return None,
        known => known,
    };
    // 5 % more is an effect as good as any other.
    let is_slip = large(known).any(|(slip, _)| (times.ln() - slip.ln()).abs() <= ROOM_MAX);
    (is_slip && !is_of_size).then(|| {
        let text = say("table-slip.level")
            .with("effect", format!("{}={}", shown(factor), shown(level)))
            .with("times", format!("{times:.0}"));
        TableWarning::new("unit_slip", text)
    })
}

/// Stable name of the warning that a rate is none.
pub(super) const NO_RATE: &str = "no_rate";

/// Rates that are 0 or less: what a run that failed leaves behind.
pub(super) fn rates(design: &Design) -> Vec<TableWarning> {
    const ONE_BY_ONE_MAX: usize = 4;
    let unit = unit_and_direction::unit(&design.response);
    if !unit.ends_with("/s") && unit != "IOPS" {
        return Vec::new();
    }
    let rows = design.rows.iter().zip(&design.values);
    let rows: Vec<_> = rows.filter(|(_, value)| **value <= 0.0).collect();
    let warning = |(row, value): &(&usize, &f64)| {
        let text = say("table-no-rate")
            .count("row", **row)
            .with("value", format!("{} {unit}", figure(**value)));
        TableWarning::at(**row, NO_RATE, text)
    };
    let mut warnings: Vec<TableWarning> = rows.iter().take(ONE_BY_ONE_MAX).map(warning).collect();
    if let Some(more @ 1..) = rows.len().checked_sub(ONE_BY_ONE_MAX) {
        let text = say("table-no-rate.more").count("more", more);
        warnings.push(TableWarning::new(NO_RATE, text.with("unit", unit)));
    }
    warnings
}

struct Slip {
    place: usize,
    /// Logarithm of the value over what the other rows make of it.
    apart: f64,
    times: f64,
    mixed_up: &'static str,
}

impl Slip {
    fn warning(&self, design: &Design) -> TableWarning {
        let row = design.rows[self.place];
        let value = design.values[self.place];
        let (text, corrected) = if self.apart > 0.0 {
            (say("table-slip.above"), value / self.times)
        } else {
            (say("table-slip.below"), value * self.times)
        };
        let with_unit = |number: String| match unit_and_direction::unit(&design.response) {
            unit_and_direction::UNKNOWN_UNIT => number,
            unit => format!("{number} {unit}"),
        };
        let text = text
            .count("row", row)
            .with("value", with_unit(figure(value)))
            .with("times", self.times.to_string())
            .with("mixed_up", say(self.mixed_up))
            .with("corrected", with_unit(rounded(corrected)));
        TableWarning::at(row, "unit_slip", text)
    }
}

/// The row that stands out most is looked at, taken out and the next one looked at, so that one slip
/// does not hide another.
fn slips(design: &Design, basis: &Basis) -> Vec<Slip> {
    let mut slips: Vec<Slip> = Vec::new();
    let mixed_up = mixed_up(unit_and_direction::unit(&design.response));
    if mixed_up.is_empty() {
        return slips;
    }
    let mut logarithms: Vec<f64> = design.values.iter().map(|value| value.ln()).collect();
    let leverages = basis.leverages();
    while slips.len() < NAMED_MAX {
        let found = match candidate(design, &logarithms, basis, (slips.len(), mixed_up)) {
            Found::Slip(slip) => Some(slip),
            // The fit passes through some rows whatever they are; only the other rows can judge them.
            Found::Nothing => lonely(&logarithms, mixed_up)
                .filter(|slip| is_whole(leverages[slip.place]))
                .or_else(|| among_repeats(design, &logarithms, mixed_up)),
            Found::CannotTell => lonely(&logarithms, mixed_up),
        };
        let Some(found) = found else { break };
        // Put right, it no longer disturbs the others.
        logarithms[found.place] -= found.apart;
        slips.push(found);
    }
    slips
}

enum Found {
    Slip(Slip),
    Nothing,
    /// No degree of freedom is left to tell noise from effects.
    CannotTell,
}

pub(super) fn is_whole(leverage: f64) -> bool {
    leverage > LEVERAGE_WHOLE
}

fn candidate(
    design: &Design,
    logarithms: &[f64],
    basis: &Basis,
    (corrected, mixed_up): (usize, &[Mixed]),
) -> Found {
    let leverages = basis.leverages();
    let fit = basis.fit(logarithms);
    let Some(degrees) = fit
        .degrees
        .checked_sub(1 + corrected)
        .filter(|degrees| *degrees > 0)
    else {
        return Found::CannotTell;
    };
    // Each row against the fit without it; the one that explains most of the rest goes first.
    let without = |place: usize| {
        let free = 1.0 - leverages[place];
        (!is_whole(leverages[place])).then(|| {
            (
                fit.residuals[place] / free,
                fit.residuals[place].powi(2) / free,
            )
        })
    };
    let worst = (0..logarithms.len())
        .filter_map(|place| without(place).map(|(apart, explained)| (place, apart, explained)))
        .max_by(|one, other| one.2.total_cmp(&other.2));
    let Some((place, apart, explained)) = worst else {
        return Found::CannotTell;
    };
    let noise = ((fit.sum_of_squares - explained).max(0.0) / degrees as f64).sqrt();
    if apart.abs() < APART * noise {
        return Found::Nothing;
    }
    let small = is_small_slip(design, logarithms, place);
    let known = mixed_up.iter().filter(|(times, _)| *times > 2.0 || small);
    slip(place, apart, 3.0 * noise, known).map_or(Found::Nothing, Found::Slip)
}

/// A row apart from the median of its repeats, so that two slips in one arm, which both the fit and the
/// noise follow, do not hide each other. Where it is half against half, the other arms decide.
fn among_repeats(design: &Design, logarithms: &[f64], mixed_up: &[Mixed]) -> Option<Slip> {
    const OTHERS_MIN: usize = 3;
    /// What the median of distances is to the deviation of normal noise.
    const OF_NORMAL: f64 = 1.4826;
    let mut arms: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for (row, arm) in design.arms().into_iter().enumerate() {
        arms.entry(arm).or_default().push(row);
    }
    let mut apart = Vec::new();
    let mut distances = Vec::new();
    for mut rows in arms.into_values().filter(|rows| rows.len() > OTHERS_MIN) {
        rows.sort_by(|one, other| logarithms[*one].total_cmp(&logarithms[*other]));
        let sorted: Vec<f64> = rows.iter().map(|row| logarithms[*row]).collect();
        let middle = median(&mut sorted.clone())?;
        distances.extend(sorted.iter().map(|value| (value - middle).abs()));
        // Of the others, which are sorted once for all of them.
        let others = |own: usize, place: usize| sorted[place + usize::from(place >= own)];
        let [low, high] = [(rows.len() - 2) / 2, (rows.len() - 1) / 2];
        apart.extend(rows.iter().enumerate().map(|(own, row)| {
            let middle = f64::midpoint(others(own, low), others(own, high));
            (*row, logarithms[*row] - middle)
        }));
    }
    let noise = OF_NORMAL * median(&mut distances)?;
    let middle = median(&mut logarithms.to_vec())?;
    let from_all = |slip: &Slip| (logarithms[slip.place] - middle).abs();
    apart
        .into_iter()
        .filter(|(_, apart)| apart.abs() >= APART * noise)
        .filter_map(|(row, apart)| slip(row, apart, 3.0 * noise, large(mixed_up)))
        .max_by(|one, other| from_all(one).total_cmp(&from_all(other)))
}

/// Without those of a few percent.
fn large(mixed_up: &[Mixed]) -> impl Iterator<Item = &Mixed> {
    mixed_up.iter().filter(|(times, _)| *times > 2.0)
}

/// Whether other rows of the same arm and block lie close together, and this one a slip of 5 % from them:
/// otherwise it may as well be noise, or what two factors do together.
fn is_small_slip(design: &Design, logarithms: &[f64], place: usize) -> bool {
    const NEIGHBOURS_MIN: usize = 2;
    /// As a share of the slip.
    const SPREAD: f64 = 0.25;
    let arms = design.arms();
    let same_block = |row: usize| {
        let mut block = design.block.iter().map(|block| &block.of_row);
        block.all(|of_row| of_row[row] == of_row[place])
    };
    let others = (0..arms.len()).filter(|row| *row != place && arms[*row] == arms[place]);
    let others: Vec<f64> = others
        .filter(|row| same_block(*row))
        .map(|row| logarithms[row])
        .collect();
    let low = others.iter().copied().fold(f64::INFINITY, f64::min);
    let high = others.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let slip = 1.048_576_f64.ln();
    let apart = (logarithms[place] - f64::midpoint(low, high)).abs();
    // Figures that are alike because they were rounded say nothing of their noise.
    let rounding = last_digit(&design.values) / design.values[place];
    others.len() >= NEIGHBOURS_MIN
        && low < high
        && (high - low).max(rounding) <= SPREAD * slip
        && (apart - slip).abs() <= SPREAD * slip
}

/// What one more in the last digit written is, by the value with most of them.
fn last_digit(values: &[f64]) -> f64 {
    let decimals = |value: &f64| {
        let text = value.to_string();
        text.split_once('.').map_or(0, |(_, digits)| digits.len())
    };
    let decimals = values.iter().map(decimals).max().unwrap_or_default();
    10_f64.powi(-i32::try_from(decimals).unwrap_or(i32::MAX))
}

/// A value apart from all others, which are close together; for tables without repeats.
fn lonely(logarithms: &[f64], mixed_up: &[Mixed]) -> Option<Slip> {
    const ROWS_MIN: usize = 4;
    let mut order: Vec<usize> = (0..logarithms.len()).collect();
    order.sort_by(|one, other| logarithms[*one].total_cmp(&logarithms[*other]));
    if order.len() < ROWS_MIN {
        return None;
    }
    let at = |place: usize| logarithms[order[place]];
    let last = order.len() - 1;
    let (place, low, high) = if at(1) - at(0) > at(last) - at(last - 1) {
        (order[0], 1, last)
    } else {
        (order[last], 0, last - 1)
    };
    let close = at(high) - at(low) < 1.0;
    let apart = logarithms[place] - f64::midpoint(at(low), at(high));
    (close && apart.abs() > 1.0)
        .then(|| slip(place, apart, ROOM_MAX, large(mixed_up)))
        .flatten()
}

fn slip<'m>(
    place: usize,
    apart: f64,
    room: f64,
    mixed_up: impl Iterator<Item = &'m Mixed>,
) -> Option<Slip> {
    let near = |times: f64| {
        let logarithm = times.ln();
        let room = room.max(0.002).min(ROOM * logarithm).min(ROOM_MAX);
        (apart.abs() - logarithm).abs() <= room
    };
    let distance = |times: f64| (apart.abs() - times.ln()).abs();
    let mixed_up = mixed_up.copied();
    let mut fitting: Vec<Mixed> = mixed_up.filter(|(times, _)| near(*times)).collect();
    // Where noise hides the difference of 1000 and 1024, the more usual one is said.
    if fitting.len() > 1 && room > (1024.0_f64 / 1000.0).ln() {
        fitting.truncate(1);
    }
    let (times, mixed_up) = fitting
        .into_iter()
        .min_by(|one, other| distance(one.0).total_cmp(&distance(other.0)))?;
    Some(Slip {
        place,
        apart,
        times,
        mixed_up,
    })
}

/// Rows whose distance from the fit without them is too much for chance, however many rows there are.
fn outliers(design: &Design, basis: &Basis, fit: &Fit) -> Vec<TableWarning> {
    let Some(degrees) = fit.degrees.checked_sub(1).filter(|degrees| *degrees > 0) else {
        return Vec::new();
    };
    let leverages = basis.leverages();
    let explained = |place: usize| fit.residuals[place].powi(2) / (1.0 - leverages[place]);
    // Of two rows that only the other one checks, nobody can say which stands apart.
    let has_twin = |place: usize| {
        let mut others = (0..leverages.len()).filter(|other| *other != place);
        others.any(|other| {
            leverages[place] + leverages[other] >= LEVERAGE_WHOLE
                && !is_whole(leverages[other])
                && (explained(place) - explained(other)).abs() <= 1e-9 * explained(place)
        })
    };
    // Nobody knows the noise of rounded figures better than to their last digit.
    let rounding = last_digit(&design.values).powi(2) / 12.0;
    let mut warnings = Vec::new();
    for (place, residual) in fit.residuals.iter().enumerate() {
        if is_whole(leverages[place]) || fit.sum_of_squares == 0.0 {
            continue;
        }
        let free = 1.0 - leverages[place];
        let noise = (fit.sum_of_squares - explained(place)) / degrees as f64;
        let t = residual / (noise.max(rounding) * free).sqrt();
        if t_two_sided(t, degrees) * design.len() as f64 > OUTLIER_PROBABILITY || has_twin(place) {
            continue;
        }
        let row = design.rows[place];
        let value = design.values[place];
        let text = say("table-outlier")
            .count("row", row)
            .with("value", figure(value))
            .with("expected", rounded(value - residual / free));
        warnings.push(TableWarning::at(row, "outlier", text));
        if warnings.len() == NAMED_MAX {
            break;
        }
    }
    warnings
}
