//! `linerate analyze`: a run file again, or what somebody else measured.

use std::path::Path;
use std::process::ExitCode;

use analysis::Verdict;
use analysis::table::{self, Arms, Better, Request, Table, TableResult};
use record::{Run, input};

use crate::args::{AnalyzeArguments, BetterArgument};
use crate::changes::look;
use crate::exit::Exit;
use crate::failure::{CommandError, Kind};
use crate::{confine, runs, terminal};

/// Runs `analyze`.
pub fn run(arguments: &AnalyzeArguments) -> Result<ExitCode, CommandError> {
    // What is typed is a file, or a name, `=` and a file.
    let files = arguments.files.iter();
    let files: Vec<&Path> = files
        .flat_map(|typed| [Some(typed.as_str()), arm(typed).map(|(_, file)| file)])
        .flatten()
        .map(Path::new)
        .collect();
    confine::to_files(&files, None)?;
    if let [file] = &arguments.files[..]
        && arguments.response.is_empty()
        && arm(file).is_none()
    {
        return run_file(Path::new(file), arguments.json);
    }
    let (results, request) = table_results(arguments)?;
    if arguments.json {
        match &results[..] {
            [only] => terminal::print_json(only),
            several => terminal::print_json(&several),
        }
    } else {
        terminal::print(&report::table::text(&results, look()));
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
    let read = Run::read(path).map_err(|error| match error {
        record::Error::NotARun { .. } => CommandError::from(error).hint(
            "give a file that `check`, `bench`, `tune` or `experiment` wrote; results of iperf3, fio or \
             hyperfine as arms, `NAME=FILE`; a table with `--response COLUMN --factors COLUMN,COLUMN`",
        ),
        _ => CommandError::from(error),
    });
    // The run itself is let go before the report takes its memory.
    let analysis = analysis::analyze(&read?);
    runs::print(&analysis, json);
    Ok(runs::exit_code(&analysis))
}

fn table_results(
    arguments: &AnalyzeArguments,
) -> Result<(Vec<TableResult>, Request), CommandError> {
    let files = arguments.files.join("`, `");
    let arms: Option<Vec<(&str, &str)>> = arguments.files.iter().map(|file| arm(file)).collect();
    let (table, mut request) = match (arms, &arguments.files[..]) {
        (Some(arms), _) => {
            let mut all = Arms::default();
            for (name, file) in arms {
                let text = read(file, table::ARM_BYTES_MAX)?;
                all.add(name, &text).map_err(|error| wrong(error, file))?;
            }
            all.table().map_err(|error| wrong(error, &files))?
        }
        (_, [file]) => {
            let text = read(file, table::TEXT_BYTES_MAX)?;
            let table = Table::from_csv(&text).map_err(|error| wrong(error, file))?;
            (table, Request::new(Vec::<String>::new(), Vec::new()))
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
        request.responses = names(&table, &arguments.response);
    }
    if !arguments.factors.is_empty() {
        request.factors = names(&table, &arguments.factors);
    }
    request.blocks.clone_from(&arguments.blocks);
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

fn wrong(error: table::Error, files: &str) -> CommandError {
    let hint = error.hint();
    let text = format!("cannot use `{files}`");
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

fn read(path: &str, bytes_max: usize) -> Result<String, CommandError> {
    let bytes = input::bytes(Path::new(path), bytes_max as u64).map_err(|error| {
        let hint = match error.kind() {
            std::io::ErrorKind::FileTooLarge => "analyse a part of it",
            _ => "check the path and the rights; it must be a file",
        };
        CommandError::caused(Kind::Refused, format!("cannot read `{path}`"), &error).hint(hint)
    })?;
    decoded(bytes).map_err(|line| {
        CommandError::new(
            Kind::Refused,
            format!("line {line} of `{path}` is no text in UTF-8 or UTF-16"),
        )
        .hint("check that it is the right file; if it is a table, save it as CSV in UTF-8")
    })
}

/// UTF-8, or UTF-16 with its mark in front, which is what Windows writes into a file by itself; else the
/// line that is neither.
fn decoded(bytes: Vec<u8>) -> Result<String, usize> {
    let unit: fn([u8; 2]) -> u16 = match bytes.get(..2) {
        Some([0xff, 0xfe]) => u16::from_le_bytes,
        Some([0xfe, 0xff]) => u16::from_be_bytes,
        _ => {
            return String::from_utf8(bytes).map_err(|error| {
                let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                input::line_after(good)
            });
        }
    };
    let (units, rest) = bytes[2..].as_chunks::<2>();
    let mut text = String::new();
    for letter in char::decode_utf16(units.iter().copied().map(unit)) {
        let Ok(letter) = letter else {
            return Err(input::line_after(text.as_bytes()));
        };
        text.push(letter);
    }
    match rest {
        [] => Ok(text),
        _ => Err(input::line_after(text.as_bytes())),
    }
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

    #[test]
    fn text_of_windows_is_read_and_bytes_are_refused() {
        let wide = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            let units = text.encode_utf16();
            units.flat_map(bytes).collect()
        };
        let text = "\u{feff}a,ü\n";
        assert_eq!(decoded(wide(text, u16::to_le_bytes)).unwrap(), "a,ü\n");
        assert_eq!(decoded(wide(text, u16::to_be_bytes)).unwrap(), "a,ü\n");
        assert_eq!(decoded(text.into()).unwrap(), text);
        assert_eq!(decoded(b"\xff\xfea".to_vec()), Err(1));
        assert_eq!(decoded(b"a\nb\n\xfc".to_vec()), Err(3));
    }
}
