//! Values that stand apart: likely slips of unit, and outliers. They are named and kept.

use super::TableWarning;
use super::design::Design;
use super::distribution::t_two_sided;
use super::linear::{Basis, Fit};
use super::names;
use super::read::shown;

/// Rows that are named; beyond them the table has other problems.
const NAMED_MAX: usize = 16;
/// How many times its noise a value must stand apart.
const APART: f64 = 6.0;
/// Chance of naming an outlier in a table without any.
const OUTLIER_PROBABILITY: f64 = 0.05;
/// Room around the factor of a slip, as a share of its logarithm.
const ROOM: f64 = 0.25;
/// Most room, as a logarithm: 1.25 times.
const ROOM_MAX: f64 = 0.223;

/// A slip: how many times, and what was probably mixed up.
const SLIPS: [(f64, &str); 4] = [
    (1000.0, "a prefix too much or too little, as kB for MB"),
    (
        1024.0,
        "a binary prefix too much or too little, as KiB for MiB",
    ),
    (8.0, "bits for bytes"),
    (1.048_576, "MiB for MB"),
];

/// Slips and outliers among the rows.
pub(super) fn rows(design: &Design, basis: &Basis, fit: &Fit) -> Vec<TableWarning> {
    let slips = slips(design, basis);
    let mut warnings: Vec<TableWarning> = slips.iter().map(|slip| slip.warning(design)).collect();
    // With a slip among them all other rows look odd, or none.
    if slips.is_empty() {
        warnings.extend(outliers(design, basis, fit));
    }
    warnings
}

/// A level whose ratio is that of a slip: the whole of it may be in another unit.
pub(super) fn level(factor: &str, level: &str, ratio: Option<f64>) -> Option<TableWarning> {
    const PREFIX: std::ops::RangeInclusive<f64> = 900.0..=1130.0;
    const BITS: std::ops::RangeInclusive<f64> = 7.9..=8.1;
    let ratio = ratio?;
    let times = ratio.max(ratio.recip());
    (PREFIX.contains(&times) || BITS.contains(&times)).then(|| {
        let what = format!("`{}={}`", shown(factor), shown(level));
        let text = format!("all rows of {what} are about {times:.0} times apart: another unit?");
        TableWarning::new("unit_slip", text)
    })
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
        let (side, corrected) = if self.apart > 0.0 {
            ("above", value / self.times)
        } else {
            ("below", value * self.times)
        };
        let unit = match names::unit(&design.response) {
            names::UNKNOWN_UNIT => String::new(),
            unit => format!(" {unit}"),
        };
        let text = format!(
            "row {row}: {value}{unit} is about {} times {side} what rows like it have: \
             likely a slip of unit ({}); {corrected:.6}{unit} would fit",
            self.times, self.mixed_up
        );
        TableWarning::at(row, "unit_slip", text)
    }
}

/// The row that stands out most is looked at, taken out and the next one looked at, so that one slip
/// does not hide another.
fn slips(design: &Design, basis: &Basis) -> Vec<Slip> {
    let mut slips: Vec<Slip> = Vec::new();
    if design.values.iter().any(|value| *value <= 0.0) {
        return slips;
    }
    let mut logarithms: Vec<f64> = design.values.iter().map(|value| value.ln()).collect();
    let leverages = basis.leverages();
    while slips.len() < NAMED_MAX {
        let found = match candidate(&logarithms, basis, &leverages, slips.len()) {
            Found::Slip(slip) => slip,
            Found::Nothing => break,
            Found::CannotTell => match lonely(&logarithms) {
                Some(slip) => slip,
                None => break,
            },
        };
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

fn candidate(logarithms: &[f64], basis: &Basis, leverages: &[f64], corrected: usize) -> Found {
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
        (free > 1e-9).then(|| {
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
    slip(place, apart, 3.0 * noise, degrees).map_or(Found::Nothing, Found::Slip)
}

/// A value apart from all others, which are close together; for tables without repeats.
fn lonely(logarithms: &[f64]) -> Option<Slip> {
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
        .then(|| slip(place, apart, ROOM_MAX, 1))
        .flatten()
}

fn slip(place: usize, apart: f64, room: f64, degrees: usize) -> Option<Slip> {
    /// Rows beyond the parameters that it takes to name a slip of 5 %.
    const DEGREES_FOR_SMALL: usize = 3;
    let near = |times: f64| {
        let logarithm = times.ln();
        let room = room.max(0.002).min(ROOM * logarithm).min(ROOM_MAX);
        let small = times < 2.0 && degrees < DEGREES_FOR_SMALL;
        !small && (apart.abs() - logarithm).abs() <= room
    };
    let distance = |times: f64| (apart.abs() - times.ln()).abs();
    let mut fitting: Vec<(f64, &str)> = SLIPS
        .into_iter()
        .filter(|(times, _)| near(*times))
        .collect();
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
    let mut warnings = Vec::new();
    for (place, residual) in fit.residuals.iter().enumerate() {
        let free = 1.0 - leverages[place];
        let rest = fit.sum_of_squares - residual * residual / free;
        if free < 1e-9 || rest <= 1e-12 * fit.sum_of_squares {
            continue;
        }
        let t = residual / (rest / degrees as f64 * free).sqrt();
        if t_two_sided(t, degrees) * design.len() as f64 > OUTLIER_PROBABILITY {
            continue;
        }
        let (row, value) = (design.rows[place], design.values[place]);
        let expected = value - residual / free;
        let text = format!(
            "row {row}: {value} stands apart, {expected:.6} was to be expected; it is kept"
        );
        warnings.push(TableWarning::at(row, "outlier", text));
        if warnings.len() == NAMED_MAX {
            break;
        }
    }
    warnings
}
