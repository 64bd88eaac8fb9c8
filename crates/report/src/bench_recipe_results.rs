//! Recipes of `bench`: the figure that the original would print, beside what can be defended.

use analysis::{BenchSamples, CacheMark, RunAnalysis, TestFigures};
use locale::{said, say, text};
use maud::{Markup, html};
use record::{Direction, Figure, Nanoseconds, Plan, Recipe, Workload};
use stats::Unit;

use crate::shared_wording::{self, Said, Tone};
use crate::terminal_layout::{Ink, Page, bar, finite_max, left, right};
use crate::text_cleaning_and_width::width;
use crate::{plot, quantity};

/// Ids of the headers of the rows of numbers.
const HEADERS: [&str; 9] = [
    "recipe-column.test",
    "recipe-column.way",
    "recipe-column.figure",
    "column.median",
    "column.interval",
    "recipe-column.per-second",
    "recipe-column.latency",
    "recipe-column.percentiles",
    "column.cpu",
];
/// Columns of a size and of a rate beside the bars of a sweep.
const SIZE_COLUMNS: usize = 9;
const RATE_COLUMNS: usize = 12;
/// Columns of a bar that tells something.
const BAR_COLUMNS: usize = 12;

/// The recipe of a run, if it is one of a recipe.
pub(crate) fn of(analysis: &RunAnalysis) -> Option<&Recipe> {
    match &analysis.plan {
        Plan::Bench { recipe, .. } => recipe.as_deref(),
        Plan::Check { .. } | Plan::Tune { .. } | Plan::Experiment { .. } => None,
    }
}

fn tests(analysis: &RunAnalysis) -> impl Iterator<Item = (&BenchSamples, &TestFigures)> {
    let each = analysis.bench.iter();
    each.filter_map(|bench| Some((bench, bench.test.as_ref()?)))
}

/// The tests of one way that may be quoted: what no link can have carried is no figure of it.
fn believed(
    analysis: &RunAnalysis,
    way: Direction,
) -> impl Iterator<Item = (&BenchSamples, &TestFigures)> {
    tests(analysis)
        .filter(move |(bench, _)| bench.workload.direction() == way && bench.exceeded.is_none())
}

/// The best figure each way.
pub(crate) fn headline(recipe: &Recipe, analysis: &RunAnalysis) -> Said {
    if let Some(played) = played(recipe, analysis) {
        return played;
    }
    // Rates of payload can be held against each other; others say nothing of another test's.
    let best = |way: Direction| {
        let figures = believed(analysis, way);
        let figures = figures.filter(|(bench, _)| bench.unit == Unit::BytesPerSecond);
        let figures = figures.filter_map(|(_, test)| Some((test.figure?, &test.name)));
        figures.max_by(|one, other| one.0.total_cmp(&other.0))
    };
    let best: Vec<String> = [Direction::Read, Direction::Write]
        .into_iter()
        .filter_map(|way| {
            let (figure, name) = best(way)?;
            let sentence = say("recipe-headline.one")
                .with("direction", way)
                .with("rate", quantity::rate(figure))
                .with("test", name);
            Some(said(&sentence))
        })
        .collect();
    if best.is_empty() {
        return without_rates(recipe, analysis);
    }
    let sentence = say("recipe-headline")
        .with("recipe", &recipe.title)
        .with("best", best.join(", "));
    Said::new(Tone::Neutral, said(&sentence))
}

/// What is said where there is no rate of payload that can be believed.
fn without_rates(recipe: &Recipe, analysis: &RunAnalysis) -> Said {
    let any = tests(analysis).any(|(_, test)| test.figure.is_some());
    let believed = tests(analysis).all(|(bench, _)| bench.exceeded.is_none());
    let (tone, sentence) = match any {
        true if !believed => (Tone::Bad, say("recipe-headline.not-believed")),
        true => (Tone::Neutral, say("recipe-headline.each")),
        false => return Said::new(Tone::Doubtful, text("headline-of-run.no-measurement")),
    };
    Said::new(tone, said(&sentence.with("recipe", &recipe.title)))
}

/// What can be played without a miss, where that is what was asked.
fn played(recipe: &Recipe, analysis: &RunAnalysis) -> Option<Said> {
    let mut judged = Vec::new();
    for (bench, test) in tests(analysis) {
        if bench.unit != Unit::FramesPerSecond {
            return None;
        }
        judged.extend(
            test.playback
                .map(|playback| (playback.missed == 0, &test.name)),
        );
    }
    let named = |wanted: bool| -> Vec<&str> {
        let chosen = judged.iter().filter(|(plays, _)| *plays == wanted);
        chosen.map(|(_, name)| name.as_str()).collect()
    };
    let (plays, fails) = (named(true), named(false));
    let (tone, sentence) = match (plays.is_empty(), fails.is_empty()) {
        (true, true) => return None,
        (true, false) => (Tone::Bad, say("recipe-played.none")),
        (false, true) => (Tone::Good, say("recipe-played.all")),
        (false, false) => (Tone::Doubtful, say("recipe-played.some")),
    };
    let sentence = sentence
        .with("recipe", &recipe.title)
        .with("plays", plays.join(", "))
        .with("fails", fails.join(", "));
    Some(Said::new(tone, said(&sentence)))
}

/// What the numbers mean, in sentences.
fn notes(recipe: &Recipe, analysis: &RunAnalysis) -> Vec<String> {
    let mut notes = vec![match recipe.about.as_str() {
        "" => said(&say("recipe-note.figure").with("figure", figure(recipe.figure))),
        about => {
            let sentence = say("recipe-note.original").with("recipe", &recipe.title);
            said(&sentence.with("about", about))
        }
    }];
    let mut marks: Vec<CacheMark> = tests(analysis).filter_map(|(_, test)| test.cache).collect();
    marks.sort_by_key(|mark| *mark as u8);
    marks.dedup();
    if recipe.sweep {
        notes.extend(in_both_units(analysis));
    }
    notes.extend(marks.into_iter().map(cache));
    if recipe.data == record::Data::Zeros {
        notes.push(text("recipe-note.zeros"));
    }
    notes
}

fn figure(figure: Figure) -> String {
    text(match figure {
        Figure::Best => "recipe-figure.best",
        Figure::Mean => "recipe-figure.mean",
        Figure::Median => "recipe-figure.median",
    })
}

fn cache(mark: CacheMark) -> String {
    text(match mark {
        CacheMark::ClientCache => "recipe-cache.client",
        CacheMark::Memory => "recipe-cache.memory",
        CacheMark::ServerCache => "recipe-cache.server",
        CacheMark::ServerCacheOrMedia => "recipe-cache.server-or-media",
        CacheMark::CacheOrMedia => "recipe-cache.any-or-media",
        CacheMark::Media => "recipe-cache.media",
    })
}

fn cells(bench: &BenchSamples, test: &TestFigures) -> Vec<String> {
    let unknown = String::new;
    let tail = test.latency.map(|latency| {
        let [half, most, nearly_all] =
            [latency.p50, latency.p99, latency.p999].map(quantity::duration);
        format!("{half} / {most} / {nearly_all}")
    });
    let interval = bench.median.as_ref().and_then(quantity::interval);
    vec![
        test.name.clone(),
        shared_wording::direction(bench.workload.direction()),
        test.figure.map_or_else(
            || text("not-measured"),
            |figure| quantity::rate_in(figure, bench.unit),
        ),
        bench
            .median
            .as_ref()
            .map_or_else(unknown, quantity::estimate),
        interval.unwrap_or_else(|| text("recipe-test.few-passes")),
        test.operations_per_second
            .map_or_else(unknown, |number| format!("{number:.0}")),
        test.figure_latency.map_or_else(unknown, quantity::duration),
        tail.unwrap_or_default(),
        shared_wording::processors(bench),
    ]
}

/// What a test came to beside its numbers.
fn beside(bench: &BenchSamples, test: &TestFigures) -> Option<String> {
    let exceeded = bench
        .exceeded
        .map(|fits| said(&say("recipe-test.exceeded").with("rate", quantity::rate(fits))));
    let facts: Vec<String> = exceeded.into_iter().chain(of_task(bench, test)).collect();
    (!facts.is_empty()).then(|| facts.join(" · "))
}

/// What a task came to: missed frames, and what a copy needs to begin.
fn of_task(bench: &BenchSamples, test: &TestFigures) -> Option<String> {
    if let Some(playback) = test.playback {
        let frames = say("count.frames").count("count", playback.due);
        let sentence = match playback.missed {
            0 => say("recipe-test.none-missed"),
            missed => say("recipe-test.missed")
                .with("missed", missed.to_string())
                .with("late", quantity::duration(playback.stall_max)),
        };
        return Some(said(&sentence.with("frames", frames)));
    }
    let first = test.first_byte?;
    let time = match &bench.workload {
        Workload::Task(work) => {
            let seconds = work.task.space_needed().get() as f64 / test.figure?;
            Nanoseconds::new((seconds * 1e9) as u64)
        }
        _ => return None,
    };
    let sentence = say("recipe-test.copied")
        .with("time", quantity::duration(time))
        .with("first", quantity::duration(first));
    Some(said(&sentence))
}

/// A figure that cannot be believed does not look like one that can.
const fn figure_ink(bench: &BenchSamples) -> Ink {
    match bench.exceeded {
        Some(_) => Ink::StrongToned(Tone::Bad),
        None => Ink::Strong,
    }
}

/// The part of the page on a terminal.
pub(crate) fn terminal(page: &mut Page, recipe: &Recipe, analysis: &RunAnalysis) {
    page.gap();
    if recipe.sweep {
        sweep(page, recipe, analysis);
    } else {
        for (bench, test) in tests(analysis) {
            numbers(page, bench, test);
        }
    }
    for (bench, test) in tests(analysis) {
        let sentence = say("recipe-test.failed")
            .with("test", &test.name)
            .with("direction", bench.workload.direction());
        let what = said(&sentence);
        for failure in &bench.failures {
            page.paragraph(
                2,
                4,
                &[(Ink::Toned(Tone::Bad), &what), (Ink::Plain, &said(failure))],
            );
        }
    }
    page.gap();
    for note in notes(recipe, analysis) {
        page.paragraph(2, 4, &[(Ink::Faint, &note)]);
    }
}

/// The numbers of a test.
fn numbers(page: &mut Page, bench: &BenchSamples, test: &TestFigures) {
    let cells = cells(bench, test);
    let [
        name,
        way,
        figure,
        median,
        interval,
        iops,
        latency,
        tail,
        cpu,
    ] = &cells[..]
    else {
        return;
    };
    page.row(&[
        (Ink::Strong, &left(name, 20)),
        (Ink::Plain, &left(way, direction_columns() + 1)),
        (figure_ink(bench), &right(figure, 12)),
        (Ink::Plain, &format!("  {} ", text("column.median"))),
        (Ink::Plain, median),
        (Ink::Faint, "  "),
        (Ink::Faint, interval),
    ]);
    let mut facts: Vec<String> = beside(bench, test).into_iter().collect();
    if !iops.is_empty() {
        let unit = match &bench.workload {
            Workload::Task(_) => "files/s",
            _ => "IOPS",
        };
        facts.push(format!("{iops} {unit}"));
    }
    if !latency.is_empty() {
        let sentence = say("recipe-test.latency").with("latency", latency);
        facts.push(said(&sentence.with("percentiles", tail)));
    }
    if !cpu.is_empty() {
        facts.push(cpu.clone());
    }
    page.paragraph(4, 4, &[(Ink::Faint, &facts.join(" · "))]);
}

/// Columns of a direction, the longer of both.
fn direction_columns() -> usize {
    let ways = [Direction::Read, Direction::Write].map(shared_wording::direction);
    ways.iter().map(|way| width(way)).max().unwrap_or(0)
}

/// The figures of a sweep, a row for each size.
fn points(analysis: &RunAnalysis) -> Vec<(&str, [Option<f64>; 2])> {
    let mut points: Vec<(&str, [Option<f64>; 2])> = Vec::new();
    for (bench, test) in tests(analysis) {
        let place = points.iter().position(|(name, _)| *name == test.name);
        let place = place.unwrap_or_else(|| {
            points.push((&test.name, [None, None]));
            points.len() - 1
        });
        points[place].1[usize::from(bench.workload.direction() == Direction::Read)] = test.figure;
    }
    points
}

fn sweep(page: &mut Page, recipe: &Recipe, analysis: &RunAnalysis) {
    let rows = by_size(analysis);
    let longest = finite_max(rows.iter().filter_map(|(_, test)| test.figure));
    let known: Vec<[String; 2]> = rows
        .iter()
        .map(|(bench, _)| {
            let median = bench.median.as_ref();
            let cpu = bench.cpu_per_byte.as_ref();
            [
                median.map_or_else(String::new, quantity::estimate_with_interval),
                cpu.map_or_else(String::new, quantity::estimate),
            ]
        })
        .collect();
    let widest = |column: usize| known.iter().map(|texts| width(&texts[column]) + 2).max();
    let widths = [0, 1].map(|column| widest(column).unwrap_or(0));
    let ways = direction_columns();
    // What is known of each figure, as far as a bar is left that tells sizes apart.
    let room = page
        .columns()
        .saturating_sub(SIZE_COLUMNS + 2 + ways + RATE_COLUMNS + 2);
    let used = |count: usize| widths[..count].iter().sum::<usize>();
    let fits = |count: &usize| room >= used(*count) + BAR_COLUMNS;
    let fit = (0..=widths.len()).rev().find(fits).unwrap_or(0);
    let columns = (room - used(fit)).min(50);
    let mut before = "";
    for ((bench, test), texts) in rows.iter().zip(&known) {
        let Some(figure) = test.figure else { continue };
        let label = if before == test.name { "" } else { &test.name };
        before = &test.name;
        let way = shared_wording::direction(bench.workload.direction());
        let beside = texts.iter().zip(widths).take(fit);
        let beside: String = beside.map(|(text, width)| left(text, width)).collect();
        page.row(&[
            (Ink::Strong, &right(label, SIZE_COLUMNS)),
            (Ink::Faint, &format!("  {}", left(&way, ways))),
            (
                figure_ink(bench),
                &right(&quantity::rate(figure), RATE_COLUMNS),
            ),
            (Ink::Plain, "  "),
            (Ink::Faint, &beside),
            (Ink::Plain, &bar(figure / longest, columns)),
        ]);
    }
    page.paragraph(2, 4, &[(Ink::Faint, &sweep_words(recipe, &rows, fit))]);
}

/// What stands in a row of a sweep: the figure, and so many columns beside it.
fn sweep_words(recipe: &Recipe, rows: &[(&BenchSamples, &TestFigures)], beside: usize) -> String {
    let mut medians = rows.iter().filter_map(|(bench, _)| bench.median.as_ref());
    let median = match medians.any(|median| quantity::interval(median).is_some()) {
        true => text("recipe-sweep.with-interval"),
        false => text("recipe-sweep.few-passes"),
    };
    let known = [median, text("recipe-sweep.cost")];
    let figure = say("recipe-sweep.figure").with("figure", figure(recipe.figure));
    let columns = std::iter::once(said(&figure)).chain(known.into_iter().take(beside));
    columns.collect::<Vec<_>>().join(", ")
}

/// The tests of a sweep: each size with its ways together, writing first.
fn by_size(analysis: &RunAnalysis) -> Vec<(&BenchSamples, &TestFigures)> {
    let mut sizes: Vec<&str> = Vec::new();
    for (_, test) in tests(analysis) {
        if !sizes.contains(&test.name.as_str()) {
            sizes.push(&test.name);
        }
    }
    let mut all: Vec<_> = tests(analysis).collect();
    all.sort_by_key(|(bench, test)| {
        let size = sizes.iter().position(|name| *name == test.name);
        (size, bench.workload.direction() == Direction::Read)
    });
    all
}

/// The best of a sweep each way in both units that people call MB.
fn in_both_units(analysis: &RunAnalysis) -> Option<String> {
    let best = |way: Direction| {
        let figures = believed(analysis, way);
        let best = finite_max(figures.filter_map(|(_, test)| test.figure));
        (best > 0.0).then(|| {
            let sentence = say("recipe-units.one")
                .with("direction", way)
                .with("decimal", format!("{:.1} MB/s", best / 1e6))
                .with("binary", format!("{:.1} MiB/s", best / 1_048_576.0));
            said(&sentence)
        })
    };
    let best: Vec<String> = [Direction::Write, Direction::Read]
        .into_iter()
        .filter_map(best)
        .collect();
    (!best.is_empty()).then(|| said(&say("recipe-units").with("best", best.join(", "))))
}

/// The part of the page in a browser.
pub(crate) fn html(recipe: &Recipe, analysis: &RunAnalysis, id: &str) -> Markup {
    html! {
        h3 { (recipe.title) }
        @if recipe.sweep {
            figure {
                figcaption { b { (text("recipe-sweep.title")) } ", MB/s" }
                (plot::sweep(&points(analysis), &format!("{id}-sweep")))
            }
        }
        div.scroll tabindex="0" {
            table {
                thead { tr { @for (column, header) in HEADERS.into_iter().enumerate() { th.n[column > 1] { (text(header)) } } } }
                tbody {
                    @for (bench, test) in tests(analysis) {
                        tr { @for (column, cell) in cells(bench, test).iter().enumerate() { td.n[column > 1] .w[column == 0] { (cell) } } }
                        @if let Some(facts) = beside(bench, test) { tr { td {} td {} td.small colspan="7" { (facts) } } }
                        @for failure in &bench.failures { tr { td colspan="9" { (text("bench.failed")) " " (said(failure)) } } }
                    }
                }
            }
        }
        @for note in notes(recipe, analysis) { p.quiet.small { (note) } }
    }
}
