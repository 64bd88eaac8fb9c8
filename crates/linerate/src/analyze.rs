//! `linerate analyze`: a run file again, or what somebody else measured.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use analysis::Verdict;
use analysis::table::{self, Request, Table, TableResult};

use crate::args::AnalyzeArguments;
use crate::changes::look;
use crate::failure::{CommandError, Kind};
use crate::{runs, terminal};

/// Largest file of somebody else's that is read.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Runs `analyze`.
pub fn run(arguments: &AnalyzeArguments) -> Result<ExitCode, CommandError> {
    if let [file] = &arguments.files[..]
        && arguments.response.is_empty()
        && arm(file).is_none()
    {
        return run_file(Path::new(file), arguments.json);
    }
    let results = table_results(arguments)?;
    if arguments.json {
        match &results[..] {
            [only] => terminal::print_json(only),
            several => terminal::print_json(&several),
        }
    } else {
        terminal::print(&report::table::text(&results, look()));
    }
    let undecided = results.iter().flat_map(|result| &result.effects);
    let undecided = undecided
        .into_iter()
        .any(|effect| effect.verdict == Verdict::Undecided);
    Ok(if undecided {
        ExitCode::from(2)
    } else {
        ExitCode::SUCCESS
    })
}

fn run_file(path: &Path, json: bool) -> Result<ExitCode, CommandError> {
    let is_table = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    if is_table {
        let text = format!(
            "`{}` is a table, and it is not said what was measured",
            path.display()
        );
        return Err(CommandError::new(Kind::Usage, text)
            .hint("name its columns with `--response COLUMN --factors COLUMN,COLUMN`"));
    }
    let analysis = runs::read(path)?;
    runs::print(&analysis, json);
    Ok(runs::exit_code(&analysis))
}

fn table_results(arguments: &AnalyzeArguments) -> Result<Vec<TableResult>, CommandError> {
    let wrong = |error: table::Error| {
        CommandError::from_error(Kind::Usage, &error)
            .hint("`linerate analyze --help` tells how to name columns, levels and rows")
    };
    let arms: Option<Vec<(&str, &str)>> = arguments.files.iter().map(|file| arm(file)).collect();
    let (table, mut request) = match (arms, &arguments.files[..]) {
        (Some(arms), _) if arguments.factors.is_empty() => {
            let arms = arms
                .into_iter()
                .map(|(name, file)| Ok((name.to_owned(), read(file)?)));
            let arms = arms.collect::<Result<Vec<_>, CommandError>>()?;
            Table::from_arms(&arms).map_err(wrong)?
        }
        (_, [file]) => {
            let table = Table::from_csv(&read(file)?).map_err(wrong)?;
            (
                table,
                Request::new(arguments.response.clone(), arguments.factors.clone()),
            )
        }
        _ => {
            return Err(CommandError::new(
                Kind::Usage,
                "several files are analysed only as arms of one comparison",
            )
            .hint("write each as `NAME=FILE`; the first one is the baseline"));
        }
    };
    if !arguments.response.is_empty() {
        request.responses.clone_from(&arguments.response);
    }
    request.blocks.clone_from(&arguments.blocks);
    request.band = arguments.band / 100.0;
    request.baselines.extend(pairs(&arguments.baseline)?);
    request.only = pairs(&arguments.only)?;
    table::analyze(&table, &request).map_err(wrong)
}

/// `NAME=FILE`, where there is no file of that whole name.
fn arm(typed: &str) -> Option<(&str, &str)> {
    let arm = typed
        .split_once('=')
        .filter(|(name, file)| !name.is_empty() && !file.is_empty());
    arm.filter(|_| !Path::new(typed).exists())
}

fn pairs(typed: &[String]) -> Result<Vec<(String, String)>, CommandError> {
    let pairs = typed.iter().map(|pair| {
        let (name, value) = pair.split_once('=').ok_or_else(|| {
            CommandError::new(
                Kind::Usage,
                format!("`{pair}` is not of the form NAME=VALUE"),
            )
            .hint("write for example `--only profile=default`")
        })?;
        Ok((name.to_owned(), value.to_owned()))
    });
    pairs.collect()
}

fn read(path: &str) -> Result<String, CommandError> {
    let failed = |error: &std::io::Error| {
        CommandError::caused(Kind::Refused, format!("cannot read `{path}`"), error)
            .hint("check the path; the file must be text, and at most 64 MiB of it")
    };
    let file = File::open(path).map_err(|error| failed(&error))?;
    let mut text = String::new();
    file.take(FILE_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|error| failed(&error))?;
    Ok(text)
}
