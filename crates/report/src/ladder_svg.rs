//! The ladder of a run as one picture, for pages that take no HTML: an SVG file that brings its colours with it.

use analysis::RunAnalysis;
use maud::{Markup, PreEscaped, html};

use crate::column_widths::wrap;
use crate::html::{STYLE, longest_rate};
use crate::plot;
use crate::shared_wording;
use crate::text_cleaning_and_width::clean_lines;

/// Pixels of the picture's width, of its margins, and between the two directions.
const WIDTH: usize = 960;
const MARGIN: usize = 24;
const BETWEEN: usize = 48;
/// Pixels from one line of text to the next.
const LINE: usize = 24;
/// Columns of the sentence above the ladder.
const COLUMNS: usize = 100;

/// What the check of a run concludes, above the bars of its rungs.
#[must_use]
pub fn picture(analysis: &RunAnalysis) -> String {
    let headline = wrap(&shared_wording::headline(analysis).text, COLUMNS);
    let lines: Vec<&str> = headline.lines().collect();
    let ladders = shared_wording::ladders(analysis);
    let longest = longest_rate(&ladders);
    let top = MARGIN + LINE * (lines.len() + 1);
    let rungs = ladders.iter().map(|ladder| ladder.rungs.len()).max();
    let height = top + LINE + plot::ladder_pixels(rungs.unwrap_or(0)) + MARGIN;
    let width = (WIDTH - 2 * MARGIN - BETWEEN) / 2;
    let direction = |index: usize, ladder: &shared_wording::Ladder<'_>| -> Markup {
        let left = MARGIN + index * (width + BETWEEN);
        html! {
            text class="label" x=(left) y=(top) { (shared_wording::direction_explained(ladder.direction)) }
            svg x=(left) y=(top + LINE / 2) width=(width) { (plot::ladder(ladder, longest, None, &format!("ladder-{index}"))) }
        }
    };
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(WIDTH) height=(height) viewBox={ "0 0 " (WIDTH) " " (height) } {
            style { (PreEscaped(style())) }
            rect width="100%" height="100%" fill="var(--paper)" {}
            @for (index, line) in lines.iter().enumerate() {
                text class="label" x=(MARGIN) y=(MARGIN + LINE * index + 8) font-size="16" { (line) }
            }
            @for (index, ladder) in ladders.iter().enumerate() { (direction(index, ladder)) }
        }
    };
    clean_lines(&picture.into_string())
}

/// The colours of a page, and what it says of its plots.
fn style() -> String {
    let colours = STYLE.split("\n* {").next().unwrap_or_default();
    let plots = STYLE.lines().filter(|line| line.starts_with("svg "));
    let lines = colours.lines().chain(plots);
    lines.collect::<Vec<_>>().join("\n") + "\n"
}
