//! Verdicts of the effects of all responses together, by Holm's correction, and what qualifies them.

use locale::{Argument, Message, say};

use super::csv_table::shown;
use super::effect_estimates::{Draft, EffectDraft};
use super::tail_probabilities::{holm, t_quantile_two_sided, t_two_sided};
use super::unit_and_direction::{self, Better};
use super::{SIGNIFICANCE, TableEffect, TableResult, TableWarning};
use stats::Verdict;

/// Standard normal quantile of how often a difference that can be found is: four times out of five.
const POWER_QUANTILE: f64 = 0.841_621_2;
/// Id of what two factors do together, judged by differences.
pub(crate) const NOT_ADDED: &str = "table-interaction.not-added";
/// The same, judged by ratios.
pub(crate) const NOT_MULTIPLIED: &str = "table-interaction.not-multiplied";

/// What all effects are judged by.
struct Rule {
    band: f64,
    /// What the effects and tests of all responses weigh in Holm's correction.
    tested: f64,
}

/// Gives every effect its corrected probability and its verdict.
pub(super) fn judge(drafts: Vec<Draft>, band: f64) -> Vec<TableResult> {
    let family = family(&drafts, |effect| effect.error);
    let screened = family.iter().filter(|(_, screened)| *screened).count();
    let asked = family.len() - screened;
    let rule = Rule {
        band,
        tested: (asked + screened.min(asked)).max(1) as f64,
    };
    let mut classical = adjusted(&drafts, |effect| effect.error).into_iter();
    let mut robust = adjusted(&drafts, |effect| effect.robust_error.or(effect.error)).into_iter();
    let mut results = Vec::new();
    for mut draft in drafts {
        let mut effects = Vec::new();
        for effect in std::mem::take(&mut draft.effects) {
            let p_holm = effect.t().and_then(|_| classical.next());
            let p_holm_robust = effect.t().and_then(|_| robust.next());
            effects.push(judged(effect, &mut draft, &rule, [p_holm, p_holm_robust]));
        }
        for test in draft.tests.iter_mut().filter(|test| test.p_holm.is_some()) {
            test.p_holm = classical.next();
            robust.next();
        }
        results.push(TableResult {
            unit: unit_and_direction::unit(&draft.response).into(),
            response: draft.response,
            n: draft.n,
            effects,
            tests: draft.tests,
            warnings: draft.warnings,
        });
    }
    results
}

/// Holm over effects and interactions of all responses, in the order in which [`judge`] takes them.
fn adjusted(drafts: &[Draft], error: impl Fn(&EffectDraft) -> Option<f64>) -> Vec<f64> {
    corrected(&family(drafts, error))
}

/// Probability of each, and whether nobody asked for it.
fn family(drafts: &[Draft], error: impl Fn(&EffectDraft) -> Option<f64>) -> Vec<(f64, bool)> {
    let mut family = Vec::new();
    for draft in drafts {
        let effects = draft.effects.iter();
        family.extend(effects.filter_map(|one| Some((one.p(error(one))?, one.screened))));
        let tests = draft.tests.iter().filter(|test| test.p_holm.is_some());
        family.extend(tests.map(|test| (test.p, true)));
    }
    family
}

/// Holm over probabilities, each with whether nobody asked for it. Interactions that nobody named weigh
/// no more, all together, than what was asked: many factors have many pairs, and looking at these must
/// not hide what the factors do.
pub(crate) fn corrected(family: &[(f64, bool)]) -> Vec<f64> {
    let screened = family.iter().filter(|(_, screened)| *screened).count();
    let asked = family.len() - screened;
    let weight = match asked {
        0 => 1.0,
        asked => (asked as f64 / screened.max(1) as f64).min(1.0),
    };
    let weighted = family
        .iter()
        .map(|(p, screened)| (*p, if *screened { weight } else { 1.0 }));
    holm(&weighted.collect::<Vec<_>>())
}

fn judged(
    effect: EffectDraft,
    draft: &mut Draft,
    rule: &Rule,
    [p_holm, p_holm_robust]: [Option<f64>; 2],
) -> TableEffect {
    let (better, band) = (draft.better, rule.band);
    let half = effect.half_width(effect.error);
    let verdict = effect.verdict(better, band, half, p_holm);
    draft
        .warnings
        .extend(robust_errors(&effect, better, verdict, band, p_holm_robust));
    draft
        .warnings
        .extend(interaction(&effect, better, verdict, band));
    // Another unit would be taken for noise.
    let is_clean = draft.warnings.iter().all(|one| one.kind != "unit_slip");
    if is_clean && verdict == Verdict::Undecided && p_holm.is_some_and(|p| p >= SIGNIFICANCE) {
        let rows = [draft.n, draft.fresh];
        draft.warnings.extend(power(&effect, rows, rule));
    }
    draft
        .warnings
        .extend(mean_against_median(&effect, verdict, band));
    let ratio = match better {
        Some(Better::Lower) => effect.ratio.map(f64::recip),
        Some(Better::Higher) | None => effect.ratio,
    };
    TableEffect {
        low: effect
            .estimate
            .zip(half)
            .map(|(estimate, half)| estimate - half),
        high: effect
            .estimate
            .zip(half)
            .map(|(estimate, half)| estimate + half),
        p: effect.p(effect.error),
        p_holm,
        verdict,
        by_ratio: false,
        ratio: ratio.filter(|ratio| ratio.is_finite()),
        estimate: effect.estimate,
        factor: effect.factor,
        level: effect.level,
        baseline: effect.baseline,
    }
}

/// Another verdict if the rows may differ in noise.
fn robust_errors(
    effect: &EffectDraft,
    better: Option<Better>,
    verdict: Verdict,
    band: f64,
    p: Option<f64>,
) -> Option<TableWarning> {
    let half = effect.half_width(Some(effect.robust_error?));
    let robust = effect.verdict(better, band, half, p);
    if robust == verdict {
        return None;
    }
    let text = say("table-robust-errors")
        .with("effect", name(effect))
        .with("robust", Message::from(robust))
        .with("verdict", Message::from(verdict));
    Some(TableWarning::new("robust_errors", text))
}

/// Where the median says the opposite of the mean, by which the verdict is.
fn mean_against_median(effect: &EffectDraft, verdict: Verdict, band: f64) -> Option<TableWarning> {
    let (ratio, estimate) = (effect.ratio?, effect.estimate?);
    let is_shown = matches!(verdict, Verdict::Better | Verdict::Worse);
    let is_opposite = (ratio > 1.0) != (estimate > 0.0);
    if !(is_shown && is_opposite && (ratio - 1.0).abs() > band) {
        return None;
    }
    let text = say("table-mean-against-median").with("effect", name(effect));
    Some(TableWarning::new("mean_against_median", text))
}

fn name(effect: &EffectDraft) -> String {
    format!("{}={}", shown(&effect.factor), shown(&effect.level))
}

/// How far from 0 an effect must be, in errors of its estimate, to be found four times out of five: the
/// error is only estimated, which matters where few degrees of freedom are left (the normal
/// approximation of the noncentral t: Abramowitz and Stegun, 26.7.10).
fn detectable(chance: f64, degrees: usize) -> f64 {
    let asked = t_quantile_two_sided(chance, degrees);
    let degrees = degrees as f64;
    let spread = (1.0 + asked * asked / (2.0 * degrees)).sqrt();
    asked * (1.0 - 1.0 / (4.0 * degrees)) + POWER_QUANTILE * spread
}

/// How many rows would settle what was asked, if estimate and noise stay as they are, and what these can
/// find at all.
fn power(effect: &EffectDraft, [rows, fresh]: [usize; 2], rule: &Rule) -> Option<TableWarning> {
    /// More is no advice.
    const TABLES_MAX: usize = 100;
    let (estimate, error) = (effect.estimate?, effect.error?);
    if effect.screened {
        return None;
    }
    let chance = SIGNIFICANCE / rule.tested;
    let settles = |tables: &usize| {
        let degrees = effect.degrees + (tables - 1) * fresh;
        let error = error / (*tables as f64).sqrt();
        let exceeds = |distance: f64, chance: f64| {
            distance > 0.0 && t_two_sided(distance / error, degrees) < chance
        };
        let to_end = effect.reference.map(|one| rule.band * one - estimate.abs());
        exceeds(estimate.abs(), chance)
            || to_end.is_some_and(|to_end| exceeds(to_end, SIGNIFICANCE))
    };
    let text = match (2..=TABLES_MAX).find(settles) {
        Some(tables) => say("table-power.about").count("needed", tables * rows),
        None => say("table-power.more-than").count("needed", TABLES_MAX * rows),
    };
    let least = detectable(chance, effect.degrees) * error;
    let reference = effect.reference.filter(|reference| *reference > 0.0);
    let text = text
        .with("effect", name(effect))
        .count("rows", rows)
        .with_known("found", reference.map(|one| percent(least / one)));
    Some(TableWarning::new("power", text))
}

/// A share in percent with two digits, which is all that is known of it.
fn percent(share: f64) -> Argument {
    let percent = 100.0 * share;
    if percent >= 1000.0 {
        return say("table-power.over-a-thousand").into();
    }
    let decimals = (1.0 - percent.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{percent:.decimals$} %").into()
}

/// What two factors do only together, where it is shown, or where it is large and cannot be tested.
fn interaction(
    effect: &EffectDraft,
    better: Option<Better>,
    verdict: Verdict,
    band: f64,
) -> Option<TableWarning> {
    let [one, other, both] = effect.apart?;
    let large = effect.ratio.is_none_or(|ratio| (ratio - 1.0).abs() > band);
    let shown_to_be = matches!(verdict, Verdict::Better | Verdict::Worse);
    if !(shown_to_be || (effect.degrees == 0 && large)) {
        return None;
    }
    let inside = |ratio: f64| (ratio - 1.0).abs() <= band;
    let pure = inside(one) && inside(other) && !inside(both);
    let id = if pure {
        "table-interaction.only-together"
    } else {
        NOT_ADDED
    };
    // As the ratios of the effects: above 1 is better, also of times.
    let (ratios, better) = match better {
        Some(Better::Lower) => ([one, other, both].map(f64::recip), "lower"),
        Some(Better::Higher) | None => ([one, other, both], "higher"),
    };
    let [one, other, both] = ratios.map(|ratio| format!("{ratio:.2}"));
    let text = say(id)
        .with("pair", shown(&effect.factor))
        .with("one", one)
        .with("other", other)
        .with("both", both)
        .with("better", better)
        .with("tested", if shown_to_be { "yes" } else { "no" });
    Some(TableWarning::new("interaction", text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Request, Table, analyze};

    /// Numbers between 0 and 1, the same in each run.
    struct Random(u64);

    impl Random {
        fn number(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.0;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        }

        /// A normal number, near enough.
        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.number()).sum::<f64>() - 6.0
        }
    }

    const RUNS: usize = 500;
    const NOISE: f64 = 2.0;

    /// The half of all combinations of four factors in so many blocks, each block with a level of its
    /// own; `d` is worth this much.
    fn half(blocks: usize, worth: f64, random: &mut Random) -> TableResult {
        let mut text = "a,b,c,d,block,read_mb_s\n".to_owned();
        for block in 0..blocks {
            let drift = 10.0 * random.number();
            for arm in 0..8_usize {
                let [a, b, c] = [arm & 1, arm >> 1 & 1, arm >> 2];
                let d = a ^ b ^ c;
                let value = 100.0 + drift + worth * d as f64 + NOISE * random.normal();
                text.push_str(&format!("{a},{b},{c},{d},{block},{value}\n"));
            }
        }
        let mut request = Request::new(["read_mb_s"], ["a", "b", "c", "d"]);
        request.blocks = Some("block".into());
        let table = Table::from_csv(&text).expect("a table");
        analyze(&table, &request).expect("an answer").remove(0)
    }

    fn of_d(result: &TableResult) -> &TableEffect {
        let mut effects = result.effects.iter();
        effects.find(|effect| effect.factor == "d").expect("it")
    }

    /// Eight runs a block, of which each effect takes all: its variance is 4/N of a row's, with
    /// N - blocks - 4 degrees of freedom; and what is said to be found four times out of five is.
    #[test]
    fn a_fraction_finds_what_it_says_as_often_as_it_says() {
        let mut random = Random(1);
        for blocks in [1, 3] {
            let rows = 8 * blocks;
            let degrees = rows - blocks - 4;
            let error = NOISE * (4.0 / rows as f64).sqrt();
            let wide = t_quantile_two_sided(SIGNIFICANCE, degrees);
            // Four effects, and the three contrasts that are two interactions each.
            let worth = detectable(SIGNIFICANCE / 7.0, degrees) * error;
            let mut found = 0.0;
            let mut variance = 0.0;
            for _ in 0..RUNS {
                let result = half(blocks, worth, &mut random);
                let effect = of_d(&result);
                found += f64::from(u8::from(effect.p_holm.is_some_and(|p| p < SIGNIFICANCE)));
                let half = (effect.high.expect("an end") - effect.low.expect("an end")) / 2.0;
                variance += (half / wide).powi(2);
            }
            let (found, variance) = (found / RUNS as f64, variance / RUNS as f64);
            assert!(
                (variance / error.powi(2) - 1.0).abs() < 0.12,
                "{blocks}: {variance}"
            );
            assert!((0.75..0.86).contains(&found), "{blocks} blocks: {found}");
        }
    }
}
