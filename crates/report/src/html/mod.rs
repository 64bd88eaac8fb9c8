//! One HTML file: no script, no request to any network, readable on a phone, in the dark and on paper.

mod bench;
mod diagnosis;
mod experiment;
mod hosts;
mod key_figures;
mod ladder;

use analysis::RunAnalysis;
use locale::{Language, said, say, text};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::shared_wording::{self, Tone};
use crate::text_cleaning_and_width::{clean, clean_lines, shorten};
use crate::{factorial_experiment, quantity};
use bench::bench_part;
use diagnosis::diagnosis_part;
use experiment::{baseline_part, experiment_part};
use hosts::hosts;
use key_figures::tiles;
use ladder::ladder_part;

pub(crate) use ladder::longest_rate;

pub(crate) const STYLE: &str = include_str!("../style.css");
/// Even if a name found a way into the markup, nothing could be loaded or run.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
/// A longer title, made of somebody's name, would push everything else off the screen.
const TITLE_COLUMNS_MAX: usize = 90;

/// A part of a page that tells a story of several runs.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// Its heading.
    pub heading: String,
    /// Paragraphs at its begin; `` `literals` `` are set as such.
    pub text: Vec<String>,
    /// What it shows.
    pub content: Content<'a>,
}

/// What a section shows.
#[derive(Clone, Debug)]
pub enum Content<'a> {
    /// Its paragraphs only.
    Text,
    /// A whole run.
    Run(&'a RunAnalysis),
    /// A table, such as what an undo read back.
    Table {
        /// Heads of the columns.
        headers: Vec<String>,
        /// The rows.
        rows: Vec<Vec<String>>,
    },
}

/// The page of one run.
#[must_use]
pub fn html(analysis: &RunAnalysis) -> String {
    let title = said(
        &say("page.title")
            .with("command", shared_wording::command(&analysis.plan))
            .with("subject", shared_wording::subject(&analysis.plan)),
    );
    let body = html! {
        main { section { (run(analysis, "run")) } }
    };
    document(
        &title,
        Some(&shared_wording::date(analysis)),
        &html! {},
        &body,
    )
}

/// One page of several runs and what belongs to them, in the order of the story.
#[must_use]
pub fn html_story(title: &str, sections: &[Section<'_>]) -> String {
    let first = sections.iter().find_map(|section| match section.content {
        Content::Run(analysis) => Some(shared_wording::date(analysis)),
        Content::Text | Content::Table { .. } => None,
    });
    let glance = html! {
        ol.glance {
            @for (index, section) in sections.iter().enumerate() {
                li {
                    a href={ "#part-" (index + 1) } { (section.heading) }
                    (glance(section))
                }
            }
        }
    };
    let body = html! {
        main {
            @for (index, section) in sections.iter().enumerate() {
                @let id = format!("part-{}", index + 1);
                section id=(id) {
                    h2 { (index + 1) ". " (section.heading) }
                    @for text in &section.text { p { (prose(text)) } }
                    @match &section.content {
                        Content::Text => {}
                        Content::Run(analysis) => (run(analysis, &id)),
                        Content::Table { headers, rows } => (plain_table(headers, rows)),
                    }
                }
            }
        }
    };
    document(title, first.as_deref(), &glance, &body)
}

fn glance(section: &Section<'_>) -> Markup {
    let said = match section.content {
        Content::Run(analysis) => shared_wording::headline(analysis).text,
        Content::Text | Content::Table { .. } => section.text.first().cloned().unwrap_or_default(),
    };
    html! { @if !said.is_empty() { br; (prose(&said)) } }
}

fn document(title: &str, date: Option<&str>, lead: &Markup, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang=(Language::current().tag()) {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "linerate: " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    p.brand { "linerate" @if let Some(date) = date { " · " (date) } }
                    h1 { (shorten(&clean(title), TITLE_COLUMNS_MAX)) }
                    (lead)
                }
                (body)
                footer { (text("page.footer")) }
            }
        }
    };
    clean_lines(&page.into_string())
}

/// Text whose units stay on the line of their numbers.
fn glued(text: &str) -> String {
    [" %", " MB/s", " Mbit/s", " Gbit/s"]
        .iter()
        .fold(text.to_owned(), |text, unit| {
            text.replace(unit, &unit.replace(' ', "\u{a0}"))
        })
}

/// Text with its `` `literals` `` set as such.
fn prose(text: &str) -> Markup {
    let text = glued(text);
    let parts: Vec<&str> = text.split('`').collect();
    let pairs = parts.len() / 2;
    html! {
        @for (index, part) in parts.iter().enumerate() {
            @if index % 2 == 1 && index / 2 < pairs && index + 1 < parts.len() { code { (part) } }
            @else if index % 2 == 1 { "`" (part) }
            @else { (part) }
        }
    }
}

const fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Doubtful => "doubtful",
        Tone::Neutral => "neutral",
    }
}

fn run(analysis: &RunAnalysis, id: &str) -> Markup {
    let said = shared_wording::headline(analysis);
    html! {
        p class={ "verdict " (tone(said.tone)) } { (prose(&said.text)) }
        @for alert in shared_wording::alerts(analysis) {
            p class={ "alert " (tone(alert.tone)) } role="note" { (prose(&alert.text)) }
        }
        (tiles(analysis))
        (ladder_part(analysis, id))
        @if let Some(diagnosis) = &analysis.diagnosis { (diagnosis_part(diagnosis, analysis)) }
        @for part in crate::check_details::all(analysis) { (titled_list(&part.title, &part.lines)) }
        @for (index, experiment) in shared_wording::candidates(analysis).enumerate() {
            (experiment_part(experiment, index + 1, id))
        }
        @for (index, experiment) in analysis.experiments.iter().filter(|one| shared_wording::is_baseline(one)).enumerate() {
            (baseline_part(experiment, &format!("{id}-baseline-{}", index + 1)))
        }
        (titled_list(&text("heading.screened-out"), &shared_wording::screened_out(analysis)))
        (titled_list(&text("heading.not-tried"), &shared_wording::not_tried(analysis)))
        @if let Some(result) = &analysis.design { (factorial_experiment::html(result, id)) }
        (bench_part(analysis, id))
        @if !analysis.experiments.is_empty() {
            h3 { (text("heading.left-changed")) }
            (list(&shared_wording::left_changed(analysis)))
        }
        (titled_list(&text("heading.not-measured"), &shared_wording::not_measured(analysis)))
        (titled_list(&text("heading.to-know"), &shared_wording::to_know(analysis).lines))
        div.group {
            (hosts(&analysis.facts))
            (method(analysis))
        }
    }
}

fn confidence(estimate: &stats::Estimate) -> String {
    match estimate
        .confidence
        .filter(|_| quantity::finite_interval(estimate).is_some())
    {
        Some(confidence) => quantity::share(confidence),
        None => String::new(),
    }
}

fn method(analysis: &RunAnalysis) -> Markup {
    html! {
        details {
            summary { (text("method.title")) }
            (list(&shared_wording::method(analysis)))
            p { (prose(&said(&say("method.written-by").with("program", format!("`{}`", analysis.program)).with("started", &analysis.started)))) }
            p { (prose(&said(&say("method.repeat").with("command", format!("`{}`", shared_wording::repeat_command(analysis)))))) }
        }
    }
}

fn titled_list(title: &str, lines: &[String]) -> Markup {
    html! { @if !lines.is_empty() { h3 { (title) } (list(lines)) } }
}

fn list(lines: &[String]) -> Markup {
    html! { ul { @for line in lines { li { (prose(line)) } } } }
}

fn plain_table(headers: &[String], rows: &[Vec<String>]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr { @for header in headers { th { (header) } } } }
                tbody { @for row in rows { tr { @for cell in row { td { (prose(cell)) } } } } }
            }
        }
    }
}
