//! What an experiment over several factors found, in one sentence.

use analysis::RunAnalysis;
use fit::table::TableEffect;
use fit::{DesignPair, DesignResult, DesignSamples};
use locale::{list, said, say, text};
use stats::Verdict;

use super::whole;
use crate::shared_wording::{Said, Tone};
use crate::{quantity, table_analysis};

/// Pairs of factors that the headline names; of more it says how many act together.
const TOGETHER_NAMED_MAX: usize = 3;

/// A level of a factor and what it does to a response: what the experiment was asked.
struct Question<'a> {
    response: &'a str,
    factor: &'a str,
    level: &'a str,
    effect: Option<&'a TableEffect>,
    pair: Option<&'a DesignPair>,
    measured: bool,
}

impl Question<'_> {
    fn verdict(&self) -> Verdict {
        self.effect
            .map_or(Verdict::Undecided, |effect| effect.verdict)
    }
}

fn questions(result: &DesignResult) -> Vec<Question<'_>> {
    let design = &result.design;
    let mut questions = Vec::new();
    for response in &design.responses {
        let mut tables = result.rates.iter();
        let table = tables.find(|table| table.response == response.name);
        for (place, factor) in design.factors.iter().enumerate() {
            for (number, level) in (0..).zip(&factor.levels).skip(1) {
                let mut effects = table.iter().flat_map(|table| &table.effects);
                let at = |samples: &DesignSamples| {
                    let arm = design.arms.get(samples.arm as usize);
                    samples.response == response.name
                        && arm.and_then(|arm| arm.get(place)) == Some(&number)
                        && !samples.rates.is_empty()
                };
                questions.push(Question {
                    response: &response.name,
                    factor: &factor.name,
                    level: &level.name,
                    effect: effects
                        .find(|one| one.factor == factor.name && one.level == level.name),
                    pair: whole(result).find(|pair| {
                        [&pair.response, &pair.factor, &pair.level]
                            == [&response.name, &factor.name, &level.name]
                    }),
                    measured: result.samples.iter().any(at),
                });
            }
        }
    }
    questions
}

/// One sentence for the busy: what makes a difference, whether it depends on something else, and what
/// is not known.
pub(crate) fn headline(analysis: &RunAnalysis) -> Said {
    let Some(result) = &analysis.design else {
        return Said::new(Tone::Doubtful, text("headline-of-run.no-measurement"));
    };
    let alarmed = alarmed(result);
    if !alarmed.is_empty() && alarmed.len() == result.noise.len() {
        return Said::new(Tone::Bad, text("design-headline.alarm"));
    }
    if result.samples.iter().all(|one| one.rates.is_empty()) {
        let why = match result.failures.is_empty() {
            true => text("headline-of-run.no-measurement"),
            false => text("design-headline.all-failed"),
        };
        return Said::new(Tone::Doubtful, why);
    }
    let mut questions = questions(result);
    questions.retain(|question| !alarmed.contains(&question.response));
    let mut sentences = shown(&questions);
    sentences.extend(acting_together(result));
    sentences.dedup();
    let found = !sentences.is_empty();
    let unknown = unknown(&questions);
    let tone = match (found, unknown.is_empty()) {
        (true, _) => Tone::Good,
        (false, false) => Tone::Doubtful,
        (false, true) => Tone::Neutral,
    };
    sentences.extend(unknown);
    let tone = if alarmed.is_empty() {
        tone
    } else {
        Tone::Doubtful
    };
    if let Some((first, others)) = alarmed.split_first() {
        let mut sentence = say("design-headline.alarm-in").with("response", *first);
        if !others.is_empty() {
            sentence = sentence.count("others", others.len());
        }
        sentences.push(said(&sentence));
    }
    match sentences.is_empty() {
        true => Said::new(tone, text("design-headline.equal")),
        false => Said::new(tone, sentences.join("; ")),
    }
}

/// Responses in which the baseline differed from itself.
fn alarmed(result: &DesignResult) -> Vec<&str> {
    let alarms = result.noise.iter().filter(|noise| noise.alarm);
    alarms.map(|noise| noise.response.as_str()).collect()
}

/// The differences that are shown, each change once with all that it does.
fn shown(questions: &[Question<'_>]) -> Vec<String> {
    let mut changes: Vec<(String, Vec<String>)> = Vec::new();
    for question in questions {
        let Some(effect) = question.effect else {
            continue;
        };
        if !matches!(effect.verdict, Verdict::Better | Verdict::Worse) {
            continue;
        }
        let difference = match question.pair {
            Some(pair) => quantity::signed_difference(&pair.ratio),
            // In a fraction no two arms differ in one factor alone.
            None => effect.ratio.map_or_else(String::new, |ratio| {
                format!("{:+.1} %", 100.0 * (ratio - 1.0))
            }),
        };
        let change = say("design-change")
            .with("factor", question.factor)
            .with("level", question.level)
            .with("from", &effect.baseline);
        let change = said(&change);
        let does = format!("{} {difference}", question.response);
        match changes.iter_mut().find(|(known, _)| *known == change) {
            Some((_, all)) => all.push(does),
            None => changes.push((change, vec![does])),
        }
    }
    let changes = changes.iter();
    changes
        .map(|(change, does)| format!("{change}: {}", does.join(", ")))
        .collect()
}

fn acting_together(result: &DesignResult) -> Vec<String> {
    let alone = |name: &str| result.design.factors.iter().any(|one| one.name == name);
    let tables = result.rates.iter();
    let effects = tables.flat_map(|table| table.effects.iter().map(move |effect| (table, effect)));
    let shown = effects.filter(|(_, effect)| {
        !alone(&effect.factor) && matches!(effect.verdict, Verdict::Better | Verdict::Worse)
    });
    let alarmed = alarmed(result);
    // Those of more than two levels may have a joint test only.
    let tests = result.rates.iter();
    let tests = tests.flat_map(|table| table.tests.iter().map(move |test| (table, test)));
    let jointly = tests.filter(|(table, test)| {
        test.over.len() == 1
            && test
                .p_holm
                .is_some_and(|p| p < table_analysis::SIGNIFICANCE)
            && !alarmed.contains(&table.response.as_str())
    });
    let shown = shown.map(|(table, effect)| (table, effect.factor.as_str()));
    let jointly = jointly.map(|(table, test)| (table, test.over[0].as_str()));
    let mut found: Vec<(&str, Vec<String>)> = Vec::new();
    for (table, pair) in shown.chain(jointly) {
        let both = both(pair);
        match found.iter_mut().find(|(on, _)| *on == table.response) {
            Some((_, known)) if known.contains(&both) => {}
            Some((_, known)) => known.push(both),
            None => found.push((&table.response, vec![both])),
        }
    }
    let sentences = found.into_iter().flat_map(|(on, pairs)| {
        if pairs.len() > TOGETHER_NAMED_MAX {
            // Each has its own sentence and its own row further down.
            let sentence = say("design-together.many").with("pairs", pairs.len().to_string());
            return vec![said(&sentence.with("response", on))];
        }
        let each = pairs.into_iter();
        each.map(|both| {
            let sentence = say("design-together.one").with("factors", both);
            said(&sentence.with("response", on))
        })
        .collect()
    });
    sentences.collect()
}

/// The factors of `a:b`, as one says them.
fn both(pair: &str) -> String {
    let names: Vec<String> = pair.split(':').map(str::to_owned).collect();
    list(&names)
}

/// What cannot be told yet, and what was never measured.
fn unknown(questions: &[Question<'_>]) -> Vec<String> {
    let mut sentences = Vec::new();
    let open = |question: &&Question<'_>| question.verdict() == Verdict::Undecided;
    // Of which responses, where it is not all of them.
    let names = |some: &[&Question<'_>]| {
        let name = |one: &Question<'_>| format!("{} {}", one.factor, one.level);
        let mut names: Vec<String> = Vec::new();
        for one in some {
            let name = name(one);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let with_responses = names.into_iter().map(|change| {
            let of_it = some.iter().filter(|one| name(one) == change);
            let responses: Vec<&str> = of_it.map(|one| one.response).collect();
            let asked = questions.iter().filter(|one| name(one) == change).count();
            match responses.len() == asked {
                true => change,
                false => format!("{change} ({})", responses.join(", ")),
            }
        });
        with_responses.collect::<Vec<_>>().join(", ")
    };
    let (open, missing): (Vec<&Question<'_>>, Vec<&Question<'_>>) =
        questions.iter().filter(open).partition(|one| one.measured);
    if !open.is_empty() {
        let blocks: Option<Vec<usize>> = open
            .iter()
            .map(|one| one.pair.and_then(|pair| pair.blocks_to_settle))
            .collect();
        let mut sentence = say("design-unknown.open").with("names", names(&open));
        if let Some(blocks) = blocks.and_then(|blocks| blocks.into_iter().max()) {
            sentence = sentence.with("blocks", blocks.to_string());
        }
        sentences.push(said(&sentence));
    }
    if !missing.is_empty() {
        sentences.push(said(
            &say("design-unknown.missing").with("names", names(&missing)),
        ));
    }
    sentences
}
