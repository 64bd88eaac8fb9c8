//! The page of a table that others measured: what was found in words, then the numbers, then what a
//! reader must know.

use fit::table::{TableEffect, TableResult, TableTest, TableWarning};
use locale::{Message, counted, said, say};
use stats::Verdict;

use crate::quantity;
use crate::shared_wording::{self, Tone};
use crate::terminal_layout::{Ink, Page, Style};

/// Warnings of one response that are shown; the JSON has them all.
const WARNINGS_MAX: usize = 20;
/// Digits behind the point; of smaller numbers the power of ten is written.
const DECIMALS_MAX: usize = 9;
/// Probabilities under it say that there is a difference, in tests that are no part of Holm's family.
pub(crate) const SIGNIFICANCE: f64 = 0.05;

/// Ids of the headers of the numbers.
const HEADERS: [&str; 7] = [
    "table-column.changed",
    "table-column.from-to",
    "column.effect",
    "table-column.interval",
    "table-column.ratio",
    "table-column.p",
    "column.verdict",
];

/// The page, one part per response.
#[must_use]
pub fn text(results: &[TableResult], style: Style) -> String {
    let mut pages = String::new();
    for result in results {
        if !pages.is_empty() {
            pages.push('\n');
        }
        let mut page = Page::new(style);
        heading(&mut page, result);
        page.gap();
        for (tone, sentence) in sentences(result) {
            page.paragraph(2, 4, &[(Ink::StrongToned(tone), &sentence)]);
        }
        page.gap();
        pages.push_str(&page.finish());
        pages.push_str(&numbers(result, style));
        let mut page = Page::new(style);
        for test in &result.tests {
            page.paragraph(2, 4, &[(Ink::Plain, &test_words(test))]);
        }
        let rest = result.warnings.iter().filter(|one| !is_of_power(one));
        warnings(&mut page, &rest.collect::<Vec<_>>());
        let rest = page.finish();
        if !rest.is_empty() {
            pages.push('\n');
            pages.push_str(&rest);
        }
    }
    pages
}

fn heading(page: &mut Page, result: &TableResult) {
    let sentence = match result.unit.as_str() {
        "unknown" => say("table-rows.unit-unknown"),
        unit => say("table-rows").with("unit", unit),
    };
    let rest = format!("  {}", said(&sentence.count("rows", result.n)));
    page.row(&[(Ink::Strong, &result.response), (Ink::Plain, &rest)]);
}

/// One sentence per verdict, the ones to act on first.
fn sentences(result: &TableResult) -> Vec<(Tone, String)> {
    let mut sentences = differences(result);
    sentences.extend(without_difference(result));
    sentences.extend(quiet_pairs(result));
    let enough = result
        .warnings
        .iter()
        .filter(|warning| is_of_power(warning));
    sentences.extend(enough.map(|warning| (Tone::Doubtful, said(&warning.text))));
    sentences.extend(without_test(result));
    sentences
}

/// What makes a difference: what is better, what is worse, and what is one of both.
fn differences(result: &TableResult) -> Vec<(Tone, String)> {
    let mut sentences = Vec::new();
    for (wanted, differs) in [
        (Verdict::Better, "table-difference.better"),
        (Verdict::Worse, "table-difference.worse"),
    ] {
        let effects = result.effects.iter();
        let effects = effects.filter(|effect| effect.verdict == wanted);
        let tone = shared_wording::verdict_tone(wanted);
        sentences.extend(effects.map(|effect| (tone, difference(result, effect, differs))));
    }
    let effects = result.effects.iter();
    let shown = effects.filter(|effect| is_of_unknown_direction(effect, result));
    sentences.extend(shown.map(|effect| {
        let sentence = difference(result, effect, "table-difference.unknown");
        (Tone::Doubtful, sentence)
    }));
    sentences
}

/// Whether an effect is shown, and not known for which of its levels it speaks.
fn is_of_unknown_direction(effect: &TableEffect, result: &TableResult) -> bool {
    result.warnings.iter().any(|one| one.kind == "direction")
        && effect.verdict == Verdict::Undecided
        && effect.p_holm.is_some_and(|p| p < SIGNIFICANCE)
}

/// Whether an effect was tested, and no difference is shown.
fn is_quiet(effect: &TableEffect, result: &TableResult) -> bool {
    effect.p.is_some()
        && !matches!(effect.verdict, Verdict::Better | Verdict::Worse)
        && !is_of_unknown_direction(effect, result)
}

/// Single factors that make no difference, and those of which these rows cannot tell.
fn without_difference(result: &TableResult) -> Vec<(Tone, String)> {
    let mut sentences = Vec::new();
    let tested = |verdict: Verdict| {
        let effects = result.effects.iter();
        let quiet = effects.filter(|effect| is_quiet(effect, result));
        names(quiet.filter(|effect| effect.verdict == verdict && !is_pair(effect)))
    };
    if let Some(names) = tested(Verdict::Equivalent) {
        let sentence = say("table-effects.equivalent").with("names", names);
        sentences.push((Tone::Neutral, said(&sentence)));
    }
    if let Some(names) = tested(Verdict::Undecided) {
        let sentence = say("table-effects.undecided").with("names", names);
        sentences.push((Tone::Doubtful, said(&sentence)));
    }
    sentences
}

/// How many pairs of factors do nothing more together: the usual case, which need not be read pair by pair.
fn quiet_pairs(result: &TableResult) -> Option<(Tone, String)> {
    let pairs: Vec<&TableEffect> = result.effects.iter().filter(is_pair).collect();
    // With more than two levels a pair of factors has several effects.
    let mut quiet_pairs: Vec<&str> = Vec::new();
    for pair in pairs.iter().filter(|pair| is_quiet(pair, result)) {
        let mut of_pair = pairs.iter().filter(|other| other.factor == pair.factor);
        let all_quiet = of_pair.all(|other| is_quiet(other, result));
        if all_quiet && !quiet_pairs.contains(&pair.factor.as_str()) {
            quiet_pairs.push(&pair.factor);
        }
    }
    (!quiet_pairs.is_empty()).then(|| {
        let sentence = counted("table-effects.quiet-pairs", quiet_pairs.len());
        (Tone::Neutral, sentence)
    })
}

/// What these rows say too little of for a test.
fn without_test(result: &TableResult) -> Vec<(Tone, String)> {
    let mut sentences = Vec::new();
    for (is_estimated, what) in [
        (true, "table-effects.unsure"),
        (false, "table-effects.not-estimated"),
    ] {
        let effects = result
            .effects
            .iter()
            .filter(|effect| effect.p.is_none() && effect.estimate.is_some() == is_estimated);
        let sentence = names(effects).map(|names| said(&say(what).with("names", names)));
        sentences.extend(sentence.map(|sentence| (Tone::Doubtful, sentence)));
    }
    sentences
}

/// How an effect differs from what it is compared with; `differs` is the id of that for two levels.
fn difference(result: &TableResult, effect: &TableEffect, differs: &'static str) -> String {
    let unit = unit(result);
    let change = change(effect).unwrap_or_default();
    if is_pair(&effect) {
        return together(effect, &change, &unit);
    }
    let sentence = say(differs)
        .with("factor", &effect.factor)
        .with("level", &effect.level)
        .with("from", &effect.baseline)
        .with("difference", format!("{change}{unit}"));
    said(&sentence)
}

/// What two do together: what is left when the effects of both are taken out, and no difference of
/// two arms.
fn together(effect: &TableEffect, change: &str, unit: &str) -> String {
    let [factor, level] = [&effect.factor, &effect.level];
    let both = match (halves(factor), halves(level)) {
        (Some([one, other]), Some([here, there])) => say("table-pair.both")
            .with("one", format!("{one}={here}"))
            .with("other", format!("{other}={there}")),
        _ => say("table-pair.the-two").with("pair", format!("{factor}={level}")),
    };
    let sentence = match (change.starts_with('-'), effect.by_ratio) {
        (true, true) => say("table-pair.less-than-product"),
        (true, false) => say("table-pair.less-than-sum"),
        (false, true) => say("table-pair.more-than-product"),
        (false, false) => say("table-pair.more-than-sum"),
    };
    let size = change.trim_start_matches(['-', '+']);
    let sentence = sentence
        .with("both", both)
        .with("size", format!("{size}{unit}"));
    said(&sentence)
}

/// The two of `a:b`; a name may contain a colon itself.
fn halves(text: &str) -> Option<[&str; 2]> {
    let (one, other) = text.split_once(':')?;
    (!other.contains(':')).then_some([one, other])
}

/// Whether it is what two factors do together.
fn is_pair(effect: &&TableEffect) -> bool {
    let all = [&effect.factor, &effect.baseline, &effect.level];
    all.iter().all(|text| text.contains(':'))
}

/// What stands beside the verdict and not among the warnings.
fn is_of_power(warning: &TableWarning) -> bool {
    warning.kind == "power"
}

fn names<'e>(effects: impl Iterator<Item = &'e TableEffect>) -> Option<String> {
    let names: Vec<String> = effects
        .map(|effect| format!("`{}={}`", effect.factor, effect.level))
        .collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// What was compared: two levels, or two of different factors together with each alone.
pub(crate) fn compared(effect: &TableEffect) -> String {
    if is_pair(&effect) {
        said(&say("table-pair.levels").with("levels", &effect.level))
    } else {
        format!("{}, {}", effect.baseline, effect.level)
    }
}

fn numbers(result: &TableResult, style: Style) -> String {
    let rows: Vec<Vec<String>> = result
        .effects
        .iter()
        .map(|effect| {
            let ratio = effect.ratio.map_or_else(dash, quantity::ratio);
            vec![
                effect.factor.clone(),
                compared(effect),
                change(effect).map_or_else(dash, |change| format!("{change}{}", unit(result))),
                interval(effect).unwrap_or_else(dash),
                ratio,
                effect.p_holm.map_or_else(dash, probability),
                shared_wording::verdict(effect.verdict),
            ]
        })
        .collect();
    let headers = HEADERS.map(locale::text);
    crate::terminal_report::table(&headers.each_ref().map(String::as_str), &rows, style)
}

fn test_words(test: &TableTest) -> String {
    let degrees: Vec<String> = test
        .degrees_of_freedom
        .iter()
        .map(usize::to_string)
        .collect();
    let p = match probability(test.p) {
        p if p.starts_with('<') => p.replace('<', "< "),
        p => format!("= {p}"),
    };
    let statistic = match test.statistic {
        statistic if statistic >= 1e6 => locale::text("table-test.over-a-million"),
        statistic => format!("{statistic:.3}"),
    };
    let verdict = match test.p_holm.unwrap_or(test.p) < SIGNIFICANCE {
        true => say("table-test.shown"),
        false => say("table-test.not-shown"),
    };
    let letter = match test.name.as_str() {
        "one_way_anova" | "interaction" | "factor" => "F".to_owned(),
        "kruskal_wallis" => "H".to_owned(),
        _ => locale::text("table-test.statistic"),
    };
    let sentence = say("table-test")
        .with("what", what_is_tested(test))
        .with("letter", letter)
        .with("degrees", degrees.join(", "))
        .with("statistic", statistic)
        .with("p", p)
        .with("verdict", verdict)
        .with_known("holm", test.p_holm.map(probability));
    said(&sentence)
}

fn what_is_tested(test: &TableTest) -> Message {
    let over = test.over.join(", ");
    match test.name.as_str() {
        "one_way_anova" => say("table-test.anova").with("over", over),
        "kruskal_wallis" => say("table-test.kruskal-wallis").with("over", over),
        "interaction" => say("table-test.interaction").with("pairs", either(&test.over)),
        "factor" => say("table-test.factor").with("over", over),
        other => say("table-test.other")
            .with("name", other)
            .with("over", over),
    }
}

/// Pairs of factors of which nobody knows which one it is.
fn either(pairs: &[String]) -> String {
    let pairs = pairs.iter().map(|pair| format!("`{pair}`"));
    let either = pairs.reduce(|one, other| {
        let sentence = say("table-test.or").with("one", one);
        said(&sentence.with("other", other))
    });
    either.unwrap_or_default()
}

fn warnings(page: &mut Page, warnings: &[&TableWarning]) {
    if warnings.is_empty() {
        return;
    }
    page.heading(&locale::text("heading.to-know"));
    // Slips of unit make everything else wrong, so they come first.
    let slips = |warning: &&TableWarning| warning.kind == "unit_slip";
    let others = warnings.iter().copied().filter(|warning| !slips(warning));
    for warning in warnings
        .iter()
        .copied()
        .filter(slips)
        .chain(others)
        .take(WARNINGS_MAX)
    {
        let tone = if slips(&warning) {
            Tone::Bad
        } else {
            Tone::Doubtful
        };
        page.paragraph(
            2,
            4,
            &[
                (Ink::StrongToned(tone), "!"),
                (Ink::Plain, &said(&warning.text)),
            ],
        );
    }
    if let Some(more @ 1..) = warnings.len().checked_sub(WARNINGS_MAX) {
        page.paragraph(2, 4, &[(Ink::Faint, &counted("table-warnings.more", more))]);
    }
}

pub(crate) fn unit(result: &TableResult) -> String {
    match result.unit.as_str() {
        "unknown" => String::new(),
        unit => format!(" {unit}"),
    }
}

/// The estimate with its sign.
pub(crate) fn change(effect: &TableEffect) -> Option<String> {
    let estimate = effect.estimate.filter(|estimate| estimate.is_finite())?;
    Some(signed(estimate, decimals(effect)))
}

pub(crate) fn interval(effect: &TableEffect) -> Option<String> {
    let [low, high] = [effect.low?, effect.high?];
    let decimals = decimals(effect);
    (low.is_finite() && high.is_finite())
        .then(|| format!("[{}, {}]", signed(low, decimals), signed(high, decimals)))
}

/// Digits behind the point: two or three that mean something against the interval, or against the
/// estimate where there is none.
fn decimals(effect: &TableEffect) -> usize {
    let width = effect
        .low
        .zip(effect.high)
        .map(|(low, high)| high - low)
        .filter(|width| *width > 0.0);
    let size = width
        .or(effect.estimate.map(|estimate| estimate.abs() / 10.0))
        .unwrap_or(1.0);
    if size > 0.0 && size.is_finite() {
        let decimals = (2.0 - size.log10().ceil()).max(0.0) as usize;
        decimals.min(DECIMALS_MAX)
    } else {
        0
    }
}

fn signed(number: f64, decimals: usize) -> String {
    // Numbers this long are no figures of a share; digits for them would only fill the page.
    let is_small = decimals == DECIMALS_MAX && number != 0.0 && number.abs() < 1e-6;
    if number.abs() >= 1e15 || is_small {
        return format!("{number:+.2e}");
    }
    let text = format!("{number:+.decimals$}");
    let is_zero = text
        .bytes()
        .all(|byte| matches!(byte, b'0' | b'.' | b'+' | b'-'));
    if is_zero { text[1..].to_owned() } else { text }
}

pub(crate) fn probability(p: f64) -> String {
    if p < 0.001 {
        "<0.001".into()
    } else {
        format!("{p:.3}")
    }
}

fn dash() -> String {
    "-".into()
}

#[cfg(test)]
mod tests {
    use fit::table::{Request, Table, analyze};
    use locale::Language;

    use super::*;
    use crate::terminal_layout::Colour;
    use crate::text_cleaning_and_width::width;

    const NIC: &str = include_str!("../../fit/tests/published/atto360-nic-parameters.csv");
    const OFFLOAD: &str = include_str!("../../fit/tests/published/mtu-and-task-offload-iperf.csv");
    const JUMBO: &str = include_str!("../../fit/tests/published/jumbo-frames-10gbe.csv");

    fn page(text: &str, request: &Request, columns: usize) -> String {
        let results = analyze(&Table::from_csv(text).unwrap(), request).unwrap();
        super::text(&results, Style::new(columns, Colour::Plain))
    }

    fn nic() -> Request {
        let factors = ["smb_signing", "lro", "tso", "flow_control"];
        let mut request = Request::new(["read_mb_s", "write_mb_s"], factors);
        request.only = vec![("profile".into(), "default".into())];
        request
    }

    #[test]
    fn parameters_of_a_nic_read_as_sentences() {
        insta::assert_snapshot!(page(NIC, &nic(), 100));
    }

    #[test]
    fn no_difference_and_a_pure_interaction_read_as_sentences() {
        let offload = Request::new(["throughput_mbit_s"], ["mtu", "task_offload"]);
        let jumbo = Request::new(["seq_read_mb_s"], ["pc_mtu", "nas_mtu"]);
        let both = format!(
            "{}\n{}",
            page(OFFLOAD, &offload, 100),
            page(JUMBO, &jumbo, 100)
        );
        insta::assert_snapshot!(both);
    }

    #[test]
    fn a_difference_of_unknown_direction_is_told_as_one() {
        let text = "a,y\n0,10\n1,20\n0,11\n1,21\n0,10.5\n1,20.5\n";
        let page = page(text, &Request::new(["y"], ["a"]), 100);
        assert!(page.contains("`a=1` differs from `0`: +10.0"), "{page}");
        assert!(page.contains("--better higher"), "{page}");
        assert!(!page.contains("cannot tell"), "{page}");
    }

    /// 1500 and off 400, 9000 alone 900, on alone 1100, both 1120: more than either, and less than 1600.
    #[test]
    fn what_two_do_together_is_no_comparison_of_arms() {
        let rows = ["1500,off,40", "9000,off,90", "1500,on,110", "9000,on,112"];
        let rows = rows.map(|row| format!("{row}0\n{row}4\n{row}6\n"));
        let text = format!("mtu,offload,mb_s\n{}", rows.concat());
        let factors = ["mtu", "offload"];
        let said = page(&text, &Request::new(["mb_s"], factors), 100);
        let sentence =
            "`mtu=9000` and `offload=on` together give 480 MB/s less than their effects added up";
        assert!(said.contains(sentence), "{said}");
        assert!(said.contains("9000:on together"), "{said}");
        assert!(!said.contains("1500:off"), "{said}");
        // Where nothing says what is better, it is still no comparison.
        let said = page(
            &text.replace("mb_s", "y"),
            &Request::new(["y"], factors),
            100,
        );
        assert!(said.contains("together give 480 less than"), "{said}");
    }

    #[test]
    fn what_is_not_told_apart_is_not_called_unsure() {
        let text = "a,b,mb_s\n0,0,5\n0,0,6\n1,1,9\n1,1,9.5\n";
        let page = page(text, &Request::new(["mb_s"], ["a", "b"]), 100);
        assert!(page.contains("cannot be estimated: `a=1`, `b=1`"), "{page}");
        assert!(!page.contains("how sure these are"), "{page}");
    }

    #[test]
    fn how_many_rows_would_tell_is_said_once() {
        let text = "a,mb_s\n0,100\n0,108\n0,96\n1,106\n1,112\n1,103\n";
        let page = page(text, &Request::new(["mb_s"], ["a"]), 200);
        assert!(
            page.contains("cannot tell from these rows: `a=1`"),
            "{page}"
        );
        assert_eq!(
            page.matches("rows like these 6 would settle it").count(),
            1,
            "{page}"
        );
    }

    #[test]
    fn warnings_are_said_in_the_language_that_is_spoken() {
        let text = "a,b,mb_s\n0,x,100\n0,x,108\n0,x,96\n1,x,106\n1,x,112\n1,x,103\n";
        let request = Request::new(["mb_s"], ["a", "b"]);
        let results = analyze(&Table::from_csv(text).unwrap(), &request).unwrap();
        let warnings = &results[0].warnings;
        for id in ["table-left-out", "table-power.about"] {
            assert!(warnings.iter().any(|one| one.text.id == id), "{warnings:?}");
        }
        // The lines are wrapped.
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        for language in Language::ALL {
            let page = language.within(|| super::text(&results, Style::default()));
            for warning in warnings {
                let said = language.say(&warning.text);
                assert!(bare(&page).contains(&bare(&said)), "{said}\n{page}");
            }
        }
    }

    #[test]
    fn no_line_is_wider_than_asked_and_no_name_steers_the_terminal() {
        let hostile = NIC
            .replace("lro", &"\u{1b}[2Jlro".repeat(20))
            .replace(",on", ",o\u{202e}n");
        let mut request = nic();
        request.factors[1] = "\u{1b}[2Jlro".repeat(20);
        for columns in [40, 72, 100] {
            let text = page(&hostile, &request, columns);
            assert!(!text.contains(['\u{1b}', '\u{202e}']));
            for line in text.lines() {
                assert!(width(line) <= columns, "{columns}: {line}");
            }
        }
    }

    #[test]
    fn digits_follow_the_interval() {
        assert_eq!(signed(-0.001, 2), "0.00");
        assert_eq!(signed(682.74, 0), "+683");
        assert_eq!(probability(0.0004), "<0.001");
        assert_eq!(signed(1e300, 0), "+1.00e300");
        assert_eq!(signed(1e-12, DECIMALS_MAX), "+1.00e-12");
        assert_eq!(signed(-1e-12, 3), "0.000");
    }
}
