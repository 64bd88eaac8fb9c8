//! `linerate compare`: results of other programs before and after a change.

use std::path::Path;
use std::process::ExitCode;

use fit::compare::{Comparison, Question, compare};
use fit::table::{ARM_BYTES_MAX, Arms};
use stats::Verdict;

use crate::analyze::{Typed, read, wrong};
use crate::args::CompareArguments;
use crate::exit::Exit;
use crate::failure::{CommandError, Kind};
use crate::{confine, terminal};

/// Runs `compare`.
pub fn run(arguments: &CompareArguments) -> Result<ExitCode, CommandError> {
    let files = [&arguments.before, &arguments.after];
    let paths: Vec<&Path> = files.iter().map(|file| Path::new(file.as_str())).collect();
    let held = confine::to_files(&paths, arguments.verbose.verbose)?;
    let opened = files.map(|file| Typed::plain(file));
    held.ready()?;
    let mut arms = Arms::default();
    for ((name, file), typed) in ["before", "after"].into_iter().zip(files).zip(opened) {
        let text = read(typed, ARM_BYTES_MAX)?;
        arms.add(name, &text).map_err(|error| wrong(error, file))?;
    }
    let question = Question {
        band: arguments.band / 100.0,
        hoped: arguments.hoped / 100.0,
    };
    let compared = compare(&arms, question);
    if compared.is_empty() {
        let text = format!(
            "`{}` and `{}` have no figure in common",
            arguments.before, arguments.after
        );
        return Err(CommandError::new(Kind::Refused, text)
            .hint("compare the same tests of the same program"));
    }
    if arguments.json {
        terminal::print_json(&compared);
    } else {
        terminal::print(&text(&compared, question));
    }
    let is_open = |one: &Comparison| one.verdict == Verdict::Undecided;
    Ok(match compared.iter().any(is_open) {
        true => Exit::Undecided.into(),
        false => ExitCode::SUCCESS,
    })
}

/// For people: each figure in a line, then what would settle the open ones.
fn text(compared: &[Comparison], question: Question) -> String {
    let mut text = String::new();
    for one in compared {
        let name = match one.test.is_empty() {
            true => one.response.to_owned(),
            false => format!("{}, {}", one.test, one.response),
        };
        let verdict = match one.verdict {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Equivalent => "no difference that matters",
            Verdict::Undecided => "cannot tell",
        };
        let interval = one.ratio.interval.map_or_else(String::new, |[low, high]| {
            let confidence = 100.0 * one.ratio.confidence.unwrap_or_default();
            format!(" [{low:.3}, {high:.3}] at {confidence:.1} %")
        });
        let [before, after] = one.medians;
        let [runs_before, runs_after] = one.runs;
        text += &format!(
            "{name}: {verdict}: {:.3} x{interval}, {before:.2} -> {after:.2} ({runs_before} and {runs_after} runs)\n",
            one.ratio.value
        );
        if let Some(reason) = &one.reason {
            text += &format!("  {reason}\n");
        }
    }
    let open = compared.iter().filter(|one| one.reason.is_some());
    let most = open.max_by_key(|one| one.runs_needed.unwrap_or(usize::MAX));
    if let Some(one) = most {
        let noise = match one.noise_measured {
            true => format!(
                "as these differ by {:.1} % from run to run",
                100.0 * one.noise
            ),
            false => format!("if runs differ by {:.0} %", 100.0 * one.noise),
        };
        let hoped = 100.0 * question.hoped;
        text += &match one.runs_needed {
            Some(runs) => format!(
                "\nTo find a change of {hoped:.0} %: {runs} runs before and {runs} after, {noise}. \
                 Take them in turn: one before, one after, and so on.\n"
            ),
            None => format!(
                "\nA change of {hoped:.0} % cannot be found here by a thousand runs, {noise}.\n"
            ),
        };
    }
    text
}
