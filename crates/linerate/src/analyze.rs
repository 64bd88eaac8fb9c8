//! `linerate analyze`: a run file again, or what somebody else measured.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use fit::table::{self, Arms, Better, Request, Table, TableResult};
use fit::text_decoding;
use locale::say;
use record::{Run, bounded_read};
use stats::Verdict;

use crate::args::{AnalyzeArguments, BetterArgument};
use crate::changes::style;
use crate::exit_codes::Exit;
use crate::failure::{CommandError, Kind};
use crate::{command_sandbox, run_file_recorder, stdout_and_stderr};

/// A file as typed, open since this user's rights were there.
pub struct Typed<'a> {
    /// What stands before it: `NAME=FILE`.
    arm: Option<&'a str>,
    path: &'a str,
    file: io::Result<File>,
}

impl<'a> Typed<'a> {
    fn new(typed: &'a str) -> Self {
        let (arm, path) = match arm(typed) {
            Some((name, path)) => (Some(name), path),
            None => (None, typed),
        };
        Self {
            arm,
            ..Self::plain(path)
        }
    }

    /// A file, whatever its name looks like.
    pub fn plain(path: &'a str) -> Self {
        let file = bounded_read::open(Path::new(path));
        Self {
            arm: None,
            path,
            file,
        }
    }
}

/// Runs `analyze`.
pub fn run(arguments: &AnalyzeArguments) -> Result<ExitCode, CommandError> {
    // What is typed is a file, or a name, `=` and a file.
    let files = arguments.files.iter();
    let files: Vec<&Path> = files
        .flat_map(|typed| [Some(typed.as_str()), arm(typed).map(|(_, file)| file)])
        .flatten()
        .map(Path::new)
        .collect();
    let held = command_sandbox::to_files(&files, arguments.verbose.verbose)?;
    let mut typed: Vec<Typed> = arguments.files.iter().map(|it| Typed::new(it)).collect();
    held.ready()?;
    if let ([_], true, None) = (&typed[..], arguments.response.is_empty(), typed[0].arm) {
        return run_file(typed.remove(0), arguments.json);
    }
    let (results, request) = table_results(arguments, typed)?;
    if arguments.json {
        match &results[..] {
            [only] => stdout_and_stderr::print_json(only),
            several => stdout_and_stderr::print_json(&several),
        }
    } else {
        stdout_and_stderr::print_drawn(&report::table_analysis::text(&results, style()));
    }
    let mut effects = results.iter().flat_map(|result| &result.effects);
    let is_open =
        effects.any(|effect| effect.verdict == Verdict::Undecided && request.asks(effect));
    Ok(if is_open {
        Exit::Undecided.into()
    } else {
        ExitCode::SUCCESS
    })
}

fn run_file(typed: Typed, json: bool) -> Result<ExitCode, CommandError> {
    let path = Path::new(typed.path);
    let is_table = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    if is_table {
        let text = say("error-plan.is-a-table").with("path", path.display().to_string());
        return Err(CommandError::new(Kind::Usage, text).hint(say("hint-plan.name-columns")));
    }
    let read = Run::read_open(typed.file, path).map_err(|error| match error {
        record::Error::NotARun { .. } => {
            CommandError::from(error).hint(say("hint-plan.what-is-analysed"))
        }
        _ => CommandError::from(error),
    });
    // The run itself is let go before the report takes its memory.
    let analysis = analysis::analyze(&read?);
    run_file_recorder::print(&analysis, json);
    Ok(run_file_recorder::exit_code(&analysis))
}

fn table_results(
    arguments: &AnalyzeArguments,
    mut typed: Vec<Typed>,
) -> Result<(Vec<TableResult>, Request), CommandError> {
    let files = arguments.files.join("`, `");
    let (table, mut request) = if typed.iter().all(|typed| typed.arm.is_some()) {
        let mut all = Arms::default();
        for typed in typed {
            let (name, path) = (typed.arm.unwrap_or_default(), typed.path);
            let text = read(typed, table::ARM_BYTES_MAX)?;
            all.add(name, &text).map_err(|error| wrong(error, path))?;
        }
        all.table().map_err(|error| wrong(error, &files))?
    } else if typed.len() == 1 {
        let text = read(typed.remove(0), table::TEXT_BYTES_MAX)?;
        let table = Table::from_csv(&text).map_err(|error| wrong(error, &files))?;
        (table, Request::new(Vec::<String>::new(), Vec::new()))
    } else {
        let text = say("error-plan.several-files");
        return Err(CommandError::new(Kind::Usage, text).hint(say("hint-plan.write-arms")));
    };
    if !arguments.response.is_empty() {
        request.responses = names(&table, &arguments.response);
    }
    if !arguments.factors.is_empty() {
        request.factors = names(&table, &arguments.factors);
    }
    request.blocks.clone_from(&arguments.blocks);
    request.runs.clone_from(&arguments.runs);
    request.band = arguments.band / 100.0;
    request.better = arguments.better.map(|better| match better {
        BetterArgument::Higher => Better::Higher,
        BetterArgument::Lower => Better::Lower,
    });
    request.baselines.extend(pairs(&arguments.baseline)?);
    request.only = pairs(&arguments.only)?;
    let results = table::analyze(&table, &request).map_err(|error| wrong(error, &files))?;
    Ok((results, request))
}

pub fn wrong(error: table::Error, files: &str) -> CommandError {
    let hint = error.hint();
    let text = say("error-plan.unusable-files").with("files", files);
    CommandError::caused(Kind::Usage, text, &error).hint(hint)
}

/// Columns as typed: each the whole of an argument, or several with commas in between. A name that has
/// a comma itself stands in quotes then.
fn names(table: &Table, typed: &[String]) -> Vec<String> {
    let names = typed.iter().flat_map(|typed| {
        if table.columns().any(|column| column == typed) {
            vec![typed.clone()]
        } else {
            listed(typed)
        }
    });
    names.collect()
}

/// The parts of a list with commas. A quote in front of a part keeps it together up to the next one, and
/// two of them in it are one.
fn listed(typed: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut quoted = false;
    let mut letters = typed.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.next_if_eq(&'"').is_some() => part.push('"'),
            '"' if quoted || part.trim().is_empty() => quoted = !quoted,
            ',' if !quoted => parts.push(std::mem::take(&mut part)),
            letter => part.push(letter),
        }
    }
    parts.push(part);
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

/// `NAME=FILE`, where there is no file of that whole name.
fn arm(typed: &str) -> Option<(&str, &str)> {
    let arm = typed
        .split_once('=')
        .filter(|(name, file)| !name.is_empty() && !file.is_empty());
    arm.filter(|_| !Path::new(typed).exists())
}

fn pairs(typed: &[String]) -> Result<Vec<(String, String)>, CommandError> {
    let pairs = typed.iter().flat_map(|typed| listed(typed)).map(|pair| {
        let (name, value) = pair.split_once('=').ok_or_else(|| {
            let text = say("error-plan.no-pair").with("text", &pair);
            CommandError::new(Kind::Usage, text).hint(say("hint-plan.write-pair"))
        })?;
        Ok((name.to_owned(), value.to_owned()))
    });
    pairs.collect()
}

pub fn read(typed: Typed, bytes_max: usize) -> Result<String, CommandError> {
    let path = typed.path;
    let bytes = typed.file;
    let bytes = bytes.and_then(|file| bounded_read::bytes_of(&file, bytes_max as u64));
    let bytes = bytes.map_err(|error| {
        let hint = say(match error.kind() {
            std::io::ErrorKind::FileTooLarge => "hint-plan.part-of-it",
            _ => "hint-plan.must-be-file",
        });
        let text = say("error-plan.file-unread").with("path", path);
        CommandError::caused(Kind::Refused, text, &error).hint(hint)
    })?;
    text_decoding::decode(&bytes).map_err(|line| {
        let text = say("error-plan.no-known-text").count("line", line);
        let error = CommandError::new(Kind::Refused, text.with("path", path));
        error.hint(say("hint-plan.right-file"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_commas_are_typed_whole_or_in_quotes() {
        let table = Table::from_csv("\"a, b\",c,\"d \"\"e\"\"\"\n1,2,3\n").unwrap();
        let typed = |text: &str| names(&table, &[text.to_owned()]);
        assert_eq!(typed("a, b"), ["a, b"]);
        assert_eq!(typed("\"a, b\",c"), ["a, b", "c"]);
        assert_eq!(typed("d \"e\""), ["d \"e\""]);
        assert_eq!(typed("\"d \"\"e\"\"\", c"), ["d \"e\"", "c"]);
        assert_eq!(typed("x,y:z"), ["x", "y:z"]);
        assert_eq!(listed("\"a, b\"=c,d \"e\"=1"), ["a, b=c", "d \"e\"=1"]);
    }
}
