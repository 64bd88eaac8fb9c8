//! Recipes of `bench`: the figure that the original would print, beside what can be defended.

use analysis::{BenchSamples, CacheMark, RunAnalysis, TestFigures};
use maud::{Markup, html};
use record::{Direction, Figure, Nanoseconds, Plan, Recipe, Workload};
use stats::Unit;

use crate::page::{Ink, Page, bar, finite_max, left, right};
use crate::text::width;
use crate::view::{self, Said, Tone};
use crate::{plot, quantity};

/// Headers of the rows of numbers, the same on a terminal and on a page.
const HEADERS: [&str; 9] = [
    "test",
    "way",
    "figure",
    "median",
    "interval",
    "per second",
    "latency",
    "50 / 99 / 99.9 %",
    "CPU",
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
    let said: Vec<String> = [Direction::Read, Direction::Write]
        .into_iter()
        .filter_map(|way| {
            let (figure, name) = best(way)?;
            let way = view::direction(way);
            Some(format!("{way} {} ({name})", quantity::rate(figure)))
        })
        .collect();
    if said.is_empty() {
        let any = tests(analysis).any(|(_, test)| test.figure.is_some());
        let believed = tests(analysis).all(|(bench, _)| bench.exceeded.is_none());
        return match any {
            true if !believed => {
                let text = format!("{}: nothing that can be believed", recipe.title);
                Said::new(Tone::Bad, text)
            }
            true => Said::new(Tone::Neutral, format!("{}: see each test", recipe.title)),
            false => Said::new(Tone::Doubtful, "nothing was measured"),
        };
    }
    let text = format!("{}: at most {}", recipe.title, said.join(", "));
    Said::new(Tone::Neutral, text)
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
    let count = judged.len();
    let named = |wanted: bool| -> Vec<&str> {
        let chosen = judged.iter().filter(|(plays, _)| *plays == wanted);
        chosen.map(|(_, name)| name.as_str()).collect()
    };
    let (plays, fails) = (named(true), named(false));
    let title = &recipe.title;
    match (plays.len(), count) {
        (_, 0) => None,
        (0, _) => {
            let text = format!("{title}: frames are missed in {}", fails.join(", "));
            Some(Said::new(Tone::Bad, text))
        }
        (some, all) if some == all => {
            let text = format!("{title}: no frame missed in {}", plays.join(", "));
            Some(Said::new(Tone::Good, text))
        }
        _ => {
            let (plays, fails) = (plays.join(", "), fails.join(", "));
            let text = format!("{title}: no frame missed in {plays}; frames are missed in {fails}");
            Some(Said::new(Tone::Doubtful, text))
        }
    }
}

/// What the numbers mean, in sentences.
fn notes(recipe: &Recipe, analysis: &RunAnalysis) -> Vec<String> {
    let mut notes = vec![match recipe.about.as_str() {
        "" => format!("the figure is the {} of the passes", figure(recipe.figure)),
        about => format!("the figure is what {} gives: {about}", recipe.title),
    }];
    let mut marks: Vec<CacheMark> = tests(analysis).filter_map(|(_, test)| test.cache).collect();
    marks.sort_by_key(|mark| *mark as u8);
    marks.dedup();
    if recipe.sweep {
        notes.extend(in_both_units(analysis));
    }
    notes.extend(marks.into_iter().map(|mark| cache(mark).to_owned()));
    if recipe.data == record::Data::Zeros {
        notes.push("the data are zeros: whatever packs them on the way looks faster".to_owned());
    }
    notes
}

const fn figure(figure: Figure) -> &'static str {
    match figure {
        Figure::Best => "best",
        Figure::Mean => "mean",
        Figure::Median => "median",
    }
}

const fn cache(mark: CacheMark) -> &'static str {
    match mark {
        CacheMark::ClientCache => {
            "client cache: the operations went through it, so that these are no figures of a disk or a network"
        }
        CacheMark::Memory => "memory of the client that serves as a disk answered",
        CacheMark::ServerCache => {
            "server cache: its memory has room for the whole test file; disks behind it may be slower"
        }
        CacheMark::ServerCacheOrMedia => {
            "server cache or its disks: which of them answered cannot be seen from here"
        }
        CacheMark::CacheOrMedia => {
            "a cache or the disks: whether direct operations pass the cache of this file system by is not known"
        }
        CacheMark::Media => "media: the client's cache was passed by",
    }
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
        view::direction(bench.workload.direction()).to_owned(),
        test.figure.map_or_else(
            || "not measured".to_owned(),
            |figure| quantity::rate_in(figure, bench.unit),
        ),
        bench
            .median
            .as_ref()
            .map_or_else(unknown, quantity::estimate),
        interval.unwrap_or_else(|| "too few passes".to_owned()),
        test.operations_per_second
            .map_or_else(unknown, |number| format!("{number:.0}")),
        test.figure_latency.map_or_else(unknown, quantity::duration),
        tail.unwrap_or_default(),
        view::processors(bench),
    ]
}

/// What a test came to beside its numbers.
fn said(bench: &BenchSamples, test: &TestFigures) -> Option<String> {
    let exceeded = bench.exceeded.map(|fits| {
        let fits = quantity::rate(fits);
        format!("more than the {fits} that fit through the NICs in use")
    });
    let said: Vec<String> = exceeded.into_iter().chain(of_task(bench, test)).collect();
    (!said.is_empty()).then(|| said.join(" · "))
}

/// What a task came to: missed frames, and what a copy needs to begin.
fn of_task(bench: &BenchSamples, test: &TestFigures) -> Option<String> {
    if let Some(playback) = test.playback {
        let due = view::counted(
            usize::try_from(playback.due).unwrap_or(usize::MAX),
            "frame",
            "frames",
        );
        return Some(match playback.missed {
            0 => format!("none of {due} missed"),
            missed => format!(
                "{missed} of {due} missed, at most {} late",
                quantity::duration(playback.stall_max)
            ),
        });
    }
    let first = test.first_byte?;
    let time = match &bench.workload {
        Workload::Task(work) => {
            let seconds = work.task.room().get() as f64 / test.figure?;
            Nanoseconds::new((seconds * 1e9) as u64)
        }
        _ => return None,
    };
    let (time, first) = (quantity::duration(time), quantity::duration(first));
    Some(format!("in {time}, first byte after {first}"))
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
                continue;
            };
            page.row(&[
                (Ink::Strong, &left(name, 20)),
                (Ink::Plain, &left(way, 6)),
                (figure_ink(bench), &right(figure, 12)),
                (Ink::Plain, "  median "),
                (Ink::Plain, median),
                (Ink::Faint, "  "),
                (Ink::Faint, interval),
            ]);
            let mut facts = Vec::new();
            facts.extend(said(bench, test));
            if !iops.is_empty() {
                let what = match &bench.workload {
                    Workload::Task(_) => "files/s",
                    _ => "IOPS",
                };
                facts.push(format!("{iops} {what}"));
            }
            if !latency.is_empty() {
                facts.push(format!("latency {latency}, 50 / 99 / 99.9 % {tail}"));
            }
            if !cpu.is_empty() {
                facts.push(cpu.clone());
            }
            page.paragraph(4, 4, &[(Ink::Faint, &facts.join(" · "))]);
        }
    }
    for (bench, test) in tests(analysis) {
        for failure in &bench.failures {
            let way = view::direction(bench.workload.direction());
            let what = format!("{} {way} failed:", test.name);
            page.paragraph(
                2,
                4,
                &[(Ink::Toned(Tone::Bad), &what), (Ink::Plain, failure)],
            );
        }
    }
    page.gap();
    for note in notes(recipe, analysis) {
        page.paragraph(2, 4, &[(Ink::Faint, &note)]);
    }
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
    // What is known of each figure, as far as a bar is left that tells sizes apart.
    let room = page
        .columns()
        .saturating_sub(SIZE_COLUMNS + 7 + RATE_COLUMNS + 2);
    let used = |count: usize| widths[..count].iter().sum::<usize>();
    let fits = |count: &usize| room >= used(*count) + BAR_COLUMNS;
    let fit = (0..=widths.len()).rev().find(fits).unwrap_or(0);
    let columns = (room - used(fit)).min(50);
    let mut before = "";
    for ((bench, test), texts) in rows.iter().zip(&known) {
        let Some(figure) = test.figure else { continue };
        let label = if before == test.name { "" } else { &test.name };
        before = &test.name;
        let way = view::direction(bench.workload.direction());
        let beside = texts.iter().zip(widths).take(fit);
        let beside: String = beside.map(|(text, width)| left(text, width)).collect();
        page.row(&[
            (Ink::Strong, &right(label, SIZE_COLUMNS)),
            (Ink::Faint, &format!("  {}", left(way, 5))),
            (
                figure_ink(bench),
                &right(&quantity::rate(figure), RATE_COLUMNS),
            ),
            (Ink::Plain, "  "),
            (Ink::Faint, &beside),
            (Ink::Plain, &bar(figure / longest, columns)),
        ]);
    }
    let medians = rows.iter().filter_map(|(bench, _)| bench.median.as_ref());
    let with_interval = medians.filter_map(quantity::interval).next().is_some();
    let median = match with_interval {
        true => ", their median and its interval",
        false => ", their median (too few for an interval)",
    };
    let beside = [median, ", what a byte costs our processors"][..fit].concat();
    let text = format!(
        "of each size: the {} of the passes{beside}",
        figure(recipe.figure)
    );
    page.paragraph(2, 4, &[(Ink::Faint, &text)]);
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
            let way = view::direction(way);
            format!(
                "{way} {:.1} MB/s or {:.1} MiB/s",
                best / 1e6,
                best / 1_048_576.0
            )
        })
    };
    let best: Vec<String> = [Direction::Write, Direction::Read]
        .into_iter()
        .filter_map(best)
        .collect();
    (!best.is_empty()).then(|| {
        format!(
            "MB are 10^6 bytes here and MiB 2^20; which of them the original counts in is not known: at most {}",
            best.join(", ")
        )
    })
}

/// The part of the page in a browser.
pub(crate) fn html(recipe: &Recipe, analysis: &RunAnalysis, id: &str) -> Markup {
    html! {
        h3 { (recipe.title) }
        @if recipe.sweep {
            figure {
                figcaption { b { "write and read by size" } ", MB/s" }
                (plot::sweep(&points(analysis), &format!("{id}-sweep")))
            }
        }
        div.scroll tabindex="0" {
            table {
                thead { tr { @for (column, header) in HEADERS.iter().enumerate() { th.n[column > 1] { (header) } } } }
                tbody {
                    @for (bench, test) in tests(analysis) {
                        tr { @for (column, cell) in cells(bench, test).iter().enumerate() { td.n[column > 1] .w[column == 0] { (cell) } } }
                        @if let Some(said) = said(bench, test) { tr { td {} td {} td.small colspan="7" { (said) } } }
                        @for failure in &bench.failures { tr { td colspan="9" { "failed: " (failure) } } }
                    }
                }
            }
        }
        @for note in notes(recipe, analysis) { p.quiet.small { (note) } }
    }
}
