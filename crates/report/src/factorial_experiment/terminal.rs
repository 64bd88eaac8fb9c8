//! The part of a page on a terminal that an experiment over several factors has.

use fit::{DesignResult, DesignSamples};
use locale::{said, say, text};
use stats::Estimate;

use super::{
    ARM_COLUMNS, arm_name, looked, noise_words, pair_words, pairs_of, progress, rate_list,
};
use crate::shared_wording::{self, Tone};
use crate::terminal_layout::{Ink, Page, Style, left, right};
use crate::text_cleaning_and_width::width;
use crate::{quantity, table_analysis};

/// Columns of a number of an arm.
const NUMBER_COLUMNS: usize = 12;
/// Samples of an arm that are listed; the others are in the run file.
const SAMPLES_MAX: usize = 6;
/// Arms that are all listed on a terminal; of more the first one and the fastest.
const ARMS_MAX: usize = 16;
/// Of more, so many.
const FASTEST: usize = 8;

/// The part of the page on a terminal.
pub(crate) fn terminal(page: &mut Page, result: &DesignResult, style: Style) -> String {
    let design = &result.design;
    page.gap();
    page.row(&[
        (Ink::Strong, &design.title),
        (Ink::Faint, "  "),
        (Ink::Faint, &progress(result)),
    ]);
    limits_of_design(page, result);
    for response in &design.responses {
        response_rows(page, result, &response.name);
    }
    failures_and_caveats(page, result);
    if let Some(published) = &design.published {
        page.gap();
        page.paragraph(
            2,
            4,
            &[
                (Ink::Strong, &text("design-row.published")),
                (Ink::Plain, published),
            ],
        );
    }
    if result.rates.is_empty() {
        return String::new();
    }
    format!("\n{}", table_analysis::text(&result.rates, style))
}

/// What the form of the design cannot tell apart, and what differences its noise hides.
fn limits_of_design(page: &mut Page, result: &DesignResult) {
    let design = &result.design;
    for reason in &design.left_out {
        page.paragraph(
            2,
            4,
            &[
                (Ink::Toned(Tone::Doubtful), &text("design-row.left-out")),
                (Ink::Plain, &said(&design.message(reason))),
            ],
        );
    }
    for alias in &design.aliases {
        page.paragraph(
            2,
            4,
            &[
                (Ink::Faint, &text("design-row.aliased")),
                (Ink::Plain, alias),
            ],
        );
    }
    for noise in &result.noise {
        page.paragraph(2, 4, &[(Ink::Faint, &noise_words(noise, design))]);
    }
}

/// A response: its arms, what processors paid for it, and how the arms differ.
fn response_rows(page: &mut Page, result: &DesignResult, response: &str) {
    page.heading(response);
    let (arms, others) = listed(result, response);
    for samples in &arms {
        let name = arm_heading(page, Ink::Plain, &arm_name(samples, &result.design));
        let median = samples
            .median
            .as_ref()
            .map_or_else(|| text("not-measured"), quantity::estimate);
        let rates = rate_list(samples, SAMPLES_MAX);
        page.row(&[
            (Ink::Plain, &format!("  {}", left(&name, ARM_COLUMNS))),
            (Ink::Strong, &right(&median, NUMBER_COLUMNS)),
            (Ink::Faint, &format!("  {rates}")),
        ]);
    }
    processor_rows(page, result, response, &arms);
    let [whole, parts] = pairs_of(result, response);
    // Where not all arms are listed, nor is each with each.
    if others > 0 {
        let hidden = say("design-row.hidden")
            .with("arms", others.to_string())
            .with("comparisons", parts.len().to_string());
        page.paragraph(2, 4, &[(Ink::Faint, &said(&hidden))]);
    }
    let parts = parts.into_iter().filter(|_| others == 0);
    for pair in whole.into_iter().chain(parts) {
        let ink = pair.verdict.map_or(Ink::Plain, |verdict| {
            Ink::Toned(shared_wording::verdict_tone(verdict))
        });
        page.paragraph(2, 6, &[(ink, &pair_words(pair))]);
    }
}

fn failures_and_caveats(page: &mut Page, result: &DesignResult) {
    for failure in &result.failures {
        page.paragraph(
            2,
            4,
            &[
                (Ink::Toned(Tone::Bad), &text("bench.failed")),
                (Ink::Plain, &said(failure)),
            ],
        );
    }
    for caveat in &result.caveats {
        page.paragraph(2, 4, &[(Ink::Toned(Tone::Doubtful), &said(caveat))]);
    }
}

/// The arms of a response that a terminal lists, and how many others there are.
fn listed<'r>(result: &'r DesignResult, response: &str) -> (Vec<&'r DesignSamples>, usize) {
    let of_response = result.samples.iter();
    let of_response = of_response.filter(|one| one.response == response);
    let mut arms: Vec<&DesignSamples> = of_response.collect();
    if arms.len() <= ARMS_MAX {
        return (arms, 0);
    }
    let all = arms.len();
    let rate = |one: &DesignSamples| one.median.as_ref().map_or(0.0, |median| median.value);
    let first = arms.remove(0);
    arms.sort_by(|one, other| rate(other).total_cmp(&rate(one)));
    arms.truncate(FASTEST);
    arms.insert(0, first);
    let others = all - arms.len();
    (arms, others)
}

/// What stands before the numbers of an arm: its name, or nothing below a name that is too long for that.
fn arm_heading(page: &mut Page, ink: Ink, name: &str) -> String {
    if width(name) <= ARM_COLUMNS {
        return name.to_owned();
    }
    page.paragraph(2, 4, &[(ink, name)]);
    String::new()
}

/// What the processors of both ends pay for a response, as far as it is known.
fn processor_rows(page: &mut Page, result: &DesignResult, response: &str, arms: &[&DesignSamples]) {
    let looked = looked(result, response);
    let mut row = |name: &str, [client, server]: [&str; 2]| {
        let server = right(if looked { server } else { "" }, NUMBER_COLUMNS);
        let name = &arm_heading(page, Ink::Faint, name);
        page.row(&[
            (Ink::Faint, &format!("  {}", left(name, ARM_COLUMNS))),
            (Ink::Faint, &right(client, NUMBER_COLUMNS)),
            (Ink::Faint, server.trim_end()),
        ]);
    };
    let samples = arms.iter();
    let mut samples = samples.filter(|one| one.cpu_per_byte.is_some()).peekable();
    if samples.peek().is_some() {
        let [client, server] = ["page.client", "page.server"].map(text);
        row(&text("design-row.processor"), [&client, &server]);
    }
    for one in samples {
        let seconds = |cost: Option<&Estimate>| match cost {
            Some(cost) => format!("{:.2}", cost.value * 1e9),
            None => quantity::UNKNOWN.to_owned(),
        };
        let client = seconds(one.cpu_per_byte.as_ref());
        let server = seconds(one.server_cpu_per_byte.as_ref());
        row(&arm_name(one, &result.design), [&client, &server]);
    }
}
