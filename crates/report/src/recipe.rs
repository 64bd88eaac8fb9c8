//! Recipes of `bench`: the figure that the original would print, beside what can be defended.

use analysis::{BenchSamples, CacheMark, RunAnalysis, TestFigures, Unit};
use maud::{Markup, html};
use record::{Direction, Figure, Nanoseconds, Plan, Recipe, Workload};

use crate::page::{Ink, Page, bar, left, right};
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

/// The best figure each way.
pub(crate) fn headline(recipe: &Recipe, analysis: &RunAnalysis) -> Said {
    if let Some(played) = played(recipe, analysis) {
        return played;
    }
    // Rates of payload can be held against each other; others say nothing of another test's.
    let best = |way: Direction| {
        let figures = tests(analysis).filter(|(bench, _)| bench.workload.direction() == way);
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
        return match any {
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
        bench
            .cpu_per_byte
            .as_ref()
            .map_or_else(unknown, quantity::estimate),
    ]
}

/// What a task came to beside its numbers: missed frames, and what a copy needs to begin.
fn said(bench: &BenchSamples, test: &TestFigures) -> Option<String> {
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

/// The part of the page on a terminal.
pub(crate) fn terminal(page: &mut Page, recipe: &Recipe, analysis: &RunAnalysis) {
    page.gap();
    if recipe.sweep {
        sweep(page, analysis);
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
                (Ink::Strong, &right(figure, 12)),
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

fn sweep(page: &mut Page, analysis: &RunAnalysis) {
    let points = points(analysis);
    let all = points
        .iter()
        .flat_map(|(_, figures)| figures.iter().flatten());
    let longest = all
        .copied()
        .filter(|rate| rate.is_finite())
        .fold(0.0, f64::max);
    let columns = page
        .columns()
        .saturating_sub(SIZE_COLUMNS + 7 + RATE_COLUMNS + 3)
        .min(50);
    for (name, figures) in &points {
        for (way, figure) in ["write", "read"].into_iter().zip(figures) {
            let Some(figure) = figure else { continue };
            let label = if way == "write" { name } else { "" };
            page.row(&[
                (Ink::Strong, &right(label, SIZE_COLUMNS)),
                (Ink::Faint, &format!("  {}", left(way, 5))),
                (Ink::Plain, &right(&quantity::rate(*figure), RATE_COLUMNS)),
                (Ink::Plain, "  "),
                (Ink::Plain, &bar(figure / longest, columns)),
            ]);
        }
    }
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
