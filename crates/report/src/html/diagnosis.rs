//! Why the share is slow, and what can be done about it.

use analysis::{Diagnosis, Fix, RunAnalysis};
use locale::{said, say, text};
use maud::{Markup, html};

use super::prose;
use crate::shared_wording;

pub(super) fn diagnosis_part(diagnosis: &Diagnosis, analysis: &RunAnalysis) -> Markup {
    html! {
        h3 { (text("heading.why")) }
        @if diagnosis.causes.is_empty() { p { (shared_wording::no_cause(diagnosis)) } }
        @if !diagnosis.causes.is_empty() || !diagnosis.remarks.is_empty() {
            ul {
                @for cause in &diagnosis.causes {
                    li { (prose(&said(&cause.text))) " " span.quiet { "(" (shared_wording::state(cause)) ")" } }
                }
                @for remark in &diagnosis.remarks { li.quiet { (prose(&said(&remark.text))) } }
            }
        }
        @if !diagnosis.fixes.is_empty() {
            h3 { (text("heading.fixes")) }
            ol.fixes { @for fix in &diagnosis.fixes { (fix_part(fix, analysis)) } }
            p.small { (prose(&said(&say("fix-row.tune-explained").with("command", shared_wording::command_line("tune", analysis))))) }
        }
    }
}

fn fix_part(fix: &Fix, analysis: &RunAnalysis) -> Markup {
    let settings = shared_wording::setting_lines(&fix.level);
    html! {
        li {
            div.what { (prose(&said(&fix.text))) }
            div { span.good-word { (shared_wording::prediction(fix)) } span.quiet { " · " (text("fix-row.disturbs")) " " (prose(&said(&fix.disturbs))) } }
            @for command in shared_wording::fix_commands(fix, analysis) { div { code { (command) } } }
            @if let Some(reason) = shared_wording::cannot_be_tried(fix) {
                div { span.doubtful-word { (text("fix-row.cannot-be-tried")) " " } (prose(&reason)) }
            }
            @if !settings.is_empty() {
                div.small.quiet { (text("fix-row.sets")) " " @for (index, line) in settings.iter().enumerate() { @if index > 0 { "; " } (prose(line)) } }
            }
        }
    }
}
