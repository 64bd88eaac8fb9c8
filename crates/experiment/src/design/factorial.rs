//! How the levels of several factors are combined to arms: full and fractional factorials, and one factor
//! at a time.

use locale::{Message, say};

use crate::error::Error;

/// The most arms of a design.
pub const ARMS_MAX: usize = 256;

/// How the levels of several factors are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combination {
    /// Each with each.
    Full,
    /// Of factors with two levels each, so few that main effects are told from all interactions of
    /// two (resolution IV or better).
    Fraction,
    /// One factor moves at a time, the others stay at their first level.
    OneAtATime,
}

/// Arms, and what cannot be told apart with them.
#[derive(Clone, Debug, PartialEq)]
pub struct Arms {
    /// For each arm and factor the place of its level; the first arm is the baseline.
    pub arms: Vec<Vec<u32>>,
    /// Interactions that cannot be told from each other, as `a:b = c:d`.
    pub aliases: Vec<String>,
    /// The form of the design.
    pub form: Message,
}

/// The fewest factors that a fraction is known for; fewer have as few arms in a full factorial.
pub const FRACTION_FACTORS_MIN: usize = GENERATORS[0].0;

/// Which factors the further columns of a fraction are the product of, by how many factors there are.
const GENERATORS: [(usize, &[&[usize]]); 5] = [
    (4, &[&[0, 1, 2]]),
    (5, &[&[0, 1, 2, 3]]),
    (6, &[&[0, 1, 2], &[1, 2, 3]]),
    (7, &[&[0, 1, 2], &[1, 2, 3], &[0, 2, 3]]),
    (8, &[&[1, 2, 3], &[0, 2, 3], &[0, 1, 2], &[0, 1, 3]]),
];

/// Combines the levels of factors with these names and so many levels.
///
/// # Errors
/// [`Error::Plan`] where that cannot be done.
pub fn combine(factors: &[(&str, usize)], combination: Combination) -> Result<Arms, Error> {
    let refuse = |reason: Message| Err(Error::Plan { reason });
    if factors.is_empty() {
        return refuse(say("error-experiment.nothing-varied"));
    }
    if let Some((name, _)) = factors.iter().find(|(_, levels)| *levels < 2) {
        return refuse(say("error-experiment.one-level").with("factor", *name));
    }
    let (arms, form) = match combination {
        Combination::Full => (product(factors)?, full_name(factors)),
        Combination::OneAtATime => {
            let baseline = vec![0; factors.len()];
            let mut arms = vec![baseline.clone()];
            for (place, (_, levels)) in factors.iter().enumerate() {
                for level in 1..*levels {
                    let mut arm = baseline.clone();
                    arm[place] = u32::try_from(level).unwrap_or(u32::MAX);
                    arms.push(arm);
                }
            }
            (arms, say("design-form.one-at-a-time"))
        }
        Combination::Fraction => fraction(factors)?,
    };
    if arms.len() > ARMS_MAX {
        let reason = say("error-experiment.arms").count("count", arms.len());
        return refuse(reason.count("most", ARMS_MAX));
    }
    let aliases = match combination {
        Combination::Fraction => aliases(factors, &arms),
        Combination::Full | Combination::OneAtATime => Vec::new(),
    };
    Ok(Arms {
        arms,
        aliases,
        form,
    })
}

fn full_name(factors: &[(&str, usize)]) -> Message {
    match factors {
        [(_, 2)] => say("design-form.a-b"),
        [(_, levels)] => say("design-form.one-factor").count("levels", *levels),
        _ => say("design-form.full"),
    }
}

fn product(factors: &[(&str, usize)]) -> Result<Vec<Vec<u32>>, Error> {
    let mut arms = vec![Vec::new()];
    for (_, levels) in factors {
        if arms.len().saturating_mul(*levels) > ARMS_MAX {
            let reason = say("error-experiment.full-factorial").count("most", ARMS_MAX);
            return Err(Error::Plan { reason });
        }
        arms = arms
            .iter()
            .flat_map(|arm| {
                (0..*levels).map(move |level| {
                    let level = u32::try_from(level).unwrap_or(u32::MAX);
                    arm.iter().copied().chain([level]).collect()
                })
            })
            .collect();
    }
    Ok(arms)
}

fn fraction(factors: &[(&str, usize)]) -> Result<(Vec<Vec<u32>>, Message), Error> {
    let refuse = |reason: Message| Err(Error::Plan { reason });
    if let Some((name, levels)) = factors.iter().find(|(_, levels)| *levels != 2) {
        let reason = say("error-experiment.fraction-levels").with("factor", *name);
        return refuse(reason.count("levels", *levels));
    }
    let found = GENERATORS.iter().find(|(count, _)| *count == factors.len());
    let Some((_, generators)) = found else {
        let reason = say("error-experiment.fraction-factors")
            .count("least", FRACTION_FACTORS_MIN)
            .count("factors", factors.len());
        return refuse(reason);
    };
    let basic = factors.len() - generators.len();
    let mut arms = product(&factors[..basic])?;
    for arm in &mut arms {
        for generator in *generators {
            // The product of signs: with the baseline as -1, three of them give -1 again, four +1.
            let ups: u32 = generator.iter().map(|place| arm[*place]).sum();
            let downs = u32::try_from(generator.len()).unwrap_or(0) - ups;
            arm.push(1 - downs % 2);
        }
    }
    // Turned round where needed, so that the baseline of all factors is an arm.
    if let Some(shift) = arms.first().cloned() {
        for arm in &mut arms {
            for (level, first) in arm.iter_mut().zip(&shift) {
                *level ^= first;
            }
        }
    }
    let resolution = if factors.len() == 5 { "V" } else { "IV" };
    let form = say("design-form.fraction")
        .count("factors", factors.len())
        .count("generators", generators.len());
    Ok((arms, form.with("resolution", resolution)))
}

/// Groups of interactions of two that have the same column.
fn aliases(factors: &[(&str, usize)], arms: &[Vec<u32>]) -> Vec<String> {
    let mut groups: Vec<(Vec<bool>, Vec<String>)> = Vec::new();
    for one in 0..factors.len() {
        for other in one + 1..factors.len() {
            let column: Vec<bool> = arms.iter().map(|arm| arm[one] == arm[other]).collect();
            let turned: Vec<bool> = column.iter().map(|equal| !equal).collect();
            let name = format!("{}:{}", factors[one].0, factors[other].0);
            match groups
                .iter_mut()
                .find(|(known, _)| *known == column || *known == turned)
            {
                Some((_, names)) => names.push(name),
                None => groups.push((column, vec![name])),
            }
        }
    }
    let several = groups.into_iter().filter(|(_, names)| names.len() > 1);
    several.map(|(_, names)| names.join(" = ")).collect()
}
