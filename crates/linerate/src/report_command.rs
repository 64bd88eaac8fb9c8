//! `linerate report`: a run file as one page. What reads the run file is a process of its own without any rights; the
//! one that the user started opens it, and writes the page.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

use locale::{Language, say};
use os::file::replace;
use os::sandbox::{Rules, User, close_inherited};
use record::{Run, bounded_read};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{PageArguments, ReportArguments};
use crate::exit_codes::Exit;
use crate::failure::{CommandError, Kind};
use crate::trial_command::KEPT_VARIABLES;
use crate::{command_sandbox, stdout_and_stderr};

/// Most bytes of a page that are taken.
const PAGE_BYTES_MAX: u64 = 32 << 20;

/// What `report --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WrittenPage<'a> {
    /// The page.
    html: &'a Path,
}

/// Runs `report`.
pub fn report(arguments: &ReportArguments) -> Result<ExitCode, CommandError> {
    let ending = if arguments.shareable {
        "shareable.html"
    } else {
        "html"
    };
    let html = arguments.html.clone();
    let html: PathBuf = html.unwrap_or_else(|| arguments.run.with_extension(ending));
    let run = match bounded_read::open(&arguments.run) {
        Ok(run) => run,
        // In the words of whatever reads one.
        Err(error) => {
            Run::read_open(Err(error), &arguments.run)?;
            return Ok(Exit::Refused.into());
        }
    };
    let page = match drawn(run, arguments)? {
        Drawn::Page(page) => page,
        // It has said why.
        Drawn::Failed(code) => return Ok(code.into()),
    };
    replace(&html, &page)?;
    if arguments.json {
        stdout_and_stderr::print_json(&WrittenPage { html: &html });
    } else {
        stdout_and_stderr::print(&html.display().to_string());
    }
    Ok(ExitCode::SUCCESS)
}

enum Drawn {
    Page(Vec<u8>),
    Failed(u8),
}

/// Has a process without rights read the run file, and takes the page from it.
fn drawn(run: File, arguments: &ReportArguments) -> Result<Drawn, CommandError> {
    let failed = |error: io::Error| {
        CommandError::caused(Kind::Refused, say("error-check.page-process"), &error)
    };
    let kept = KEPT_VARIABLES.iter();
    let kept = kept.filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut command = Command::new(os::process::own_program());
    command.arg("page").env_clear().envs(kept);
    command.args(["--lang", Language::current().tag()]);
    command.args(arguments.shareable.then_some("--shareable"));
    command.args(arguments.verbose.verbose.then_some("--verbose"));
    command.arg("--").arg(&arguments.run);
    command.stdin(run).stdout(Stdio::piped());
    let mut process = Process(command.spawn().map_err(failed)?);
    // It holds the run file open.
    drop(command);
    let mut page = Vec::new();
    if let Some(stdout) = process.0.stdout.take() {
        let mut bounded = stdout.take(PAGE_BYTES_MAX + 1);
        bounded.read_to_end(&mut page).map_err(failed)?;
    }
    if page.len() as u64 > PAGE_BYTES_MAX {
        let run = arguments.run.display().to_string();
        let sentence = say("error-check.page-too-large").with("run", run);
        return Err(CommandError::new(Kind::Refused, sentence).hint(say("hint-check.shorter-run")));
    }
    let status = process.0.wait().map_err(failed)?;
    match status.code().map(u8::try_from) {
        Some(Ok(0)) => Ok(Drawn::Page(page)),
        Some(Ok(code)) => Ok(Drawn::Failed(code)),
        _ => {
            let sentence = say("error-check.page-ended").with("status", status.to_string());
            Err(CommandError::new(Kind::Internal, sentence))
        }
    }
}

/// A process that does not outlive what it works for.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It has mostly ended.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// What that process does: standard input is the run file, standard output the page.
pub fn draw(arguments: &PageArguments) -> Result<ExitCode, CommandError> {
    let failed = |what: &'static str, error: &io::Error| {
        CommandError::caused(Kind::Refused, say(what), error)
    };
    close_inherited().map_err(|error| failed("error-check.inherited", &error))?;
    let file = os::process::inherited_stdin();
    let file = file.map_err(|error| failed("error-check.run-file-taken", &error))?;
    let rules = Rules {
        user: User::Unprivileged,
        ..Rules::default()
    };
    command_sandbox::for_parent(&rules, arguments.verbose.verbose)?;
    let page = page(file, &arguments.run, arguments.shareable)?;
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(page.as_bytes())
        .and_then(|()| stdout.flush());
    written.map_err(|error| failed("error-check.page-handed", &error))?;
    Ok(ExitCode::SUCCESS)
}

fn page(file: File, path: &Path, shareable: bool) -> Result<String, CommandError> {
    let run = Run::read_open(Ok(file), path)?;
    if !shareable {
        let analysis = analysis::analyze(&run);
        // a page needs none of the thousands of trials that a run may have, and much room itself
        drop(run);
        return Ok(report::html(&analysis));
    }
    let shareable = report::Shareable::of(run).map_err(|error| {
        let sentence = say("error-check.not-shareable").with("run", path.display().to_string());
        CommandError::caused(Kind::Refused, sentence, &error).hint(say("hint-check.not-shareable"))
    })?;
    let page = report::html(&analysis::analyze(shareable.run()));
    Ok(shareable.page(&page))
}
