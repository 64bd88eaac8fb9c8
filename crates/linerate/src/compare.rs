//! `linerate compare`: results of other programs before and after a change.

use std::path::Path;
use std::process::ExitCode;

use fit::before_after::{Comparison, Question, compare};
use fit::table::{ARM_BYTES_MAX, Arms};
use locale::{Message, said, say};
use stats::Verdict;

use crate::analyze::{Typed, read, wrong};
use crate::args::CompareArguments;
use crate::exit_codes::Exit;
use crate::failure::{CommandError, Kind};
use crate::{command_sandbox, stdout_and_stderr};

/// Runs `compare`.
pub fn run(arguments: &CompareArguments) -> Result<ExitCode, CommandError> {
    let files = [&arguments.before, &arguments.after];
    let paths: Vec<&Path> = files.iter().map(|file| Path::new(file.as_str())).collect();
    let held = command_sandbox::to_files(&paths, arguments.verbose.verbose)?;
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
        let text = say("error-plan.no-figure-in-common")
            .with("before", &arguments.before)
            .with("after", &arguments.after);
        return Err(CommandError::new(Kind::Refused, text).hint(say("hint-plan.same-tests")));
    }
    if arguments.json {
        stdout_and_stderr::print_json(&compared);
    } else {
        stdout_and_stderr::print(&text(&compared, question));
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
        text += &format!("{}\n", said(&figure(one)));
        if let Some(reason) = &one.reason {
            text += &format!("  {}\n", said(reason));
        }
    }
    let open = compared.iter().filter(|one| one.reason.is_some());
    let most = open.max_by_key(|one| one.runs_needed.unwrap_or(usize::MAX));
    if let Some(one) = most {
        text += &format!("\n{}\n", said(&runs_needed(one, question)));
    }
    text
}

/// What is said of one figure.
fn figure(one: &Comparison) -> Message {
    let name = match one.test.is_empty() {
        true => one.response.to_owned(),
        false => format!("{}, {}", one.test, one.response),
    };
    let verdict = say(match one.verdict {
        Verdict::Better => "verdict.better",
        Verdict::Worse => "verdict.worse",
        Verdict::Equivalent => "told-plan.no-difference",
        Verdict::Undecided => "told-plan.cannot-tell",
    });
    let [before, after] = one.medians;
    let [runs_before, runs_after] = one.runs;
    let figure = say("told-plan.compared")
        .with("name", name)
        .with("verdict", verdict)
        .with("ratio", format!("{:.3}", one.ratio.value))
        .with("before", format!("{before:.2}"))
        .with("after", format!("{after:.2}"))
        .count("runs_before", runs_before)
        .count("runs_after", runs_after);
    match one.ratio.interval {
        Some([low, high]) => {
            let confidence = 100.0 * one.ratio.confidence.unwrap_or_default();
            figure
                .with("low", format!("{low:.3}"))
                .with("high", format!("{high:.3}"))
                .with("confidence", format!("{confidence:.1}"))
        }
        None => figure,
    }
}

/// How many runs would find the change hoped for.
fn runs_needed(one: &Comparison, question: Question) -> Message {
    let decimals = usize::from(one.noise_measured);
    let sentence = match (one.runs_needed, one.noise_measured) {
        (Some(runs), true) => say("told-plan.runs-needed").count("runs", runs),
        (Some(runs), false) => say("told-plan.runs-needed-if").count("runs", runs),
        (None, true) => say("told-plan.never-found"),
        (None, false) => say("told-plan.never-found-if"),
    };
    sentence
        .with("hoped", format!("{:.0}", 100.0 * question.hoped))
        .with("noise", format!("{:.decimals$}", 100.0 * one.noise))
}
