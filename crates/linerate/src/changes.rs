//! `linerate changes` and `linerate undo`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use host::change::{Report, UndoMode, UndoOutcome, Undone};
use host::journal::{self, Journal, Listing, Summary};
use host::knob;
use locale::{Message, said, say};
use record::{HostName, KnobId, Target, Value};
use report::Style;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{JsonArguments, UndoArguments};
use crate::exit_codes::Exit;
use crate::failure::{CommandError, Kind};
use crate::{hosts, stdout_and_stderr};

/// What `changes --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangeList<'a> {
    /// The changes that are not taken back, of each journal oldest first.
    changes: Vec<ListedChange<'a>>,
    /// What is wrong with each file of a journal that cannot be understood.
    damaged: Vec<String>,
}

/// A change, and where it stands.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedChange<'a> {
    /// The folder of its journal.
    journal: &'a Path,
    change: &'a Summary,
}

/// What `undo --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UndoResult<'a> {
    /// Whether nothing was put back, and only said what would be.
    dry_run: bool,
    /// The changes that were undone or tried to, newest first.
    undone: Vec<UndoneChange<'a>>,
    /// What is wrong with journals and changes that cannot be read.
    errors: Vec<String>,
    /// Whether nothing is left to put back; of a dry run, whether all could be read.
    complete: bool,
}

/// What became of a change.
#[derive(Debug, Serialize, JsonSchema)]
struct UndoneChange<'a> {
    /// Its id.
    change: &'a str,
    /// The run that made it.
    run: &'a str,
    /// Whether nothing is left to put back, so that it is over.
    closed: bool,
    /// Its settings, newest first, and what else moved.
    settings: Vec<UndoneSetting<'a>>,
}

/// What became of a setting.
#[derive(Debug, Serialize, JsonSchema)]
struct UndoneSetting<'a> {
    /// The host.
    host: &'a HostName,
    /// The part of the host.
    target: &'a Target,
    /// The knob.
    knob: &'a KnobId,
    /// Its value before the change.
    before: &'a Value,
    /// Its value with the change.
    after: &'a Value,
    /// Its value when it was to be put back; null where it could not be read.
    found: Option<&'a Value>,
    /// Its value as read at the end; null where it could not be read.
    now: Option<&'a Value>,
    /// What was done, in a sentence.
    outcome: Message,
    /// Whether nothing is left to do about it.
    settled: bool,
}

/// Lists what is changed now. Exit code 1 where something is.
pub fn list(arguments: &JsonArguments) -> Result<ExitCode, CommandError> {
    let mut open = Vec::new();
    let mut damaged = Vec::new();
    for folder in journal::state_folders() {
        let listing = journal::list_open(&folder)?;
        open.extend(
            listing
                .open
                .into_iter()
                .map(|summary| (folder.clone(), summary)),
        );
        damaged.extend(listing.damaged.into_iter().map(CommandError::from));
    }
    for error in &damaged {
        stdout_and_stderr::say(&said(
            &say("told-change.damaged").with("error", error.said()),
        ));
    }
    let said_next = |error: &CommandError| Some(error.failure().said(error.next()?));
    let hints: BTreeSet<String> = damaged.iter().filter_map(said_next).collect();
    for next in hints {
        stdout_and_stderr::say(&hint(next));
    }
    if arguments.json {
        let changes = open.iter();
        let changes = changes.map(|(journal, change)| ListedChange { journal, change });
        stdout_and_stderr::print_json(&ChangeList {
            changes: changes.collect(),
            damaged: damaged.iter().map(CommandError::text).collect(),
        });
    } else if open.is_empty() {
        // What could not be read may be a change.
        if damaged.is_empty() {
            stdout_and_stderr::print(&locale::text("told-change.nothing-is-changed"));
        }
    } else {
        let summaries = open.iter().map(|(_, summary)| summary);
        stdout_and_stderr::print_drawn(&open_changes(summaries));
        stdout_and_stderr::print(&hint(say("hint-change.undo")));
    }
    Ok(if open.is_empty() && damaged.is_empty() {
        ExitCode::SUCCESS
    } else {
        Exit::Found.into()
    })
}

/// The changes that are open, as a table of their settings.
fn open_changes<'a>(summaries: impl Iterator<Item = &'a Summary>) -> String {
    let mut rows = Vec::new();
    for summary in summaries {
        let state = match summary.kept {
            true => "told-change.kept",
            false => "told-change.unfinished",
        };
        for setting in &summary.settings {
            rows.push(vec![
                summary.id.clone(),
                setting.host.to_string(),
                format!("{} {}", setting.knob, setting.target),
                format!("{} -> {}", setting.before, setting.after),
                locale::text(state),
                summary.run.clone(),
                summary.since.strftime("%Y-%m-%d %H:%M").to_string(),
            ]);
        }
    }
    let headers = [
        "told-change.column-change",
        "told-change.column-host",
        "told-change.column-setting",
        "told-change.column-before-and-now",
        "told-change.column-state",
        "told-change.column-run",
        "told-change.column-since",
    ];
    let headers = headers.map(locale::text);
    report::table(&headers.each_ref().map(String::as_str), &rows, style())
}

/// What to do next, as it is printed beside what a command says.
pub fn hint(next: impl Into<Message>) -> String {
    said(&say("told-change.hint").with("hint", next.into()))
}

/// How tables look on standard output.
pub fn style() -> Style {
    let colour = if stdout_and_stderr::colour() {
        report::Colour::Ansi
    } else {
        report::Colour::Plain
    };
    Style::new(stdout_and_stderr::columns(), colour)
}

/// Puts back one change, or all open ones. Exit code 1 where something is left.
pub fn undo(arguments: &UndoArguments) -> Result<ExitCode, CommandError> {
    let mode = match (arguments.dry_run, arguments.force) {
        (true, _) => UndoMode::DryRun,
        (false, true) => UndoMode::Force,
        (false, false) => UndoMode::Ours,
    };
    let Undoing { undone, errors } =
        undo_all(&journal::state_folders(), arguments.id.as_deref(), mode)?;
    for error in &errors {
        stdout_and_stderr::say(&error.to_string());
    }
    let all_closed = undone.iter().all(|change| change.closed) || mode == UndoMode::DryRun;
    let complete = all_closed && errors.is_empty();
    if arguments.json {
        stdout_and_stderr::print_json(&UndoResult {
            dry_run: arguments.dry_run,
            undone: undone.iter().map(UndoneChange::of).collect(),
            errors: errors.iter().map(CommandError::text).collect(),
            complete,
        });
    } else if undone.is_empty() {
        if errors.is_empty() {
            stdout_and_stderr::print(&locale::text("told-change.nothing-to-undo"));
        }
    } else {
        stdout_and_stderr::print_drawn(&text(&undone));
        let reports = undone.iter().flat_map(|change| &change.reports);
        for next in hints(reports.map(|report| &report.outcome)) {
            stdout_and_stderr::say(&next);
        }
    }
    Ok(if complete {
        ExitCode::SUCCESS
    } else {
        Exit::Found.into()
    })
}

/// What can be done about what is left.
fn hints<'a>(outcomes: impl Iterator<Item = &'a UndoOutcome>) -> BTreeSet<String> {
    let hints = outcomes.filter_map(|outcome| match outcome {
        UndoOutcome::Foreign => Some(say("hint-change.foreign")),
        UndoOutcome::Failed { .. } => Some(say("hint-change.failed")),
        _ => None,
    });
    hints.map(hint).collect()
}

/// What was put back, and what could not even be looked at.
pub struct Undoing {
    /// The changes that were undone, or tried to.
    pub undone: Vec<Undone>,
    /// Journals and changes that cannot be read.
    pub errors: Vec<CommandError>,
}

/// Puts back in each of these journals; the named change must be in one of them, and in one only. What
/// is wrong with one journal does not keep the others from being put back, nor from being reported.
pub fn undo_all(
    folders: &[PathBuf],
    id: Option<&str>,
    mode: UndoMode,
) -> Result<Undoing, CommandError> {
    let mut errors = Vec::new();
    let mut named = Vec::new();
    for folder in folders {
        match journal::list_open(folder) {
            Ok(listing) => named.extend(changes_named(folder, listing, id, &mut errors)),
            Err(error) => errors.push(error.into()),
        }
    }
    if let (Some(id), true) = (id, named.len() > 1) {
        let changes = named.iter().map(|(folder, own)| {
            say("error-change.change-in-journal")
                .with("change", own)
                .with("folder", folder.display().to_string())
        });
        let changes = changes.reduce(|first, next| {
            say("error-change.one-more")
                .with("first", first)
                .with("next", next)
        });
        let text = say("error-change.ambiguous").with("id", id);
        let text = text.with_known("changes", changes);
        return Err(CommandError::new(Kind::Usage, text).hint(say("hint-change.in-full")));
    }
    named.dedup_by(|one, other| one.0 == other.0);
    let mut undone = Vec::new();
    for (folder, _) in &named {
        let of_folder = Journal::open(folder, "undo")
            .and_then(|journal| journal.undo(id, mode, &hosts::resolve));
        match of_folder {
            Ok(more) => undone.extend(more),
            // Ended meanwhile, or reported already.
            Err(host::Error::NoSuchChange { .. }) => {}
            Err(host::Error::JournalDamaged { .. }) if id.is_none() => {}
            Err(error) => errors.push(error.into()),
        }
    }
    match (undone.is_empty(), id) {
        (true, _) if !errors.is_empty() => Err(errors.remove(0)),
        (true, Some(id)) => Err(host::Error::NoSuchChange { id: id.to_owned() }.into()),
        _ => Ok(Undoing { undone, errors }),
    }
}

/// The changes of a journal that are asked for, by name or all of them; those that are damaged are
/// errors where all are to be undone.
fn changes_named<'f>(
    folder: &'f Path,
    listing: Listing,
    wanted: Option<&str>,
    errors: &mut Vec<CommandError>,
) -> Vec<(&'f Path, String)> {
    let mut ids: Vec<String> = listing.open.into_iter().map(|open| open.id).collect();
    for error in listing.damaged {
        if let host::Error::JournalDamaged { path, .. } = &error {
            let stem = path.file_stem().unwrap_or_default();
            ids.push(stem.to_string_lossy().into_owned());
        }
        // Whether it has the wanted one cannot be known where the whole folder is not believed.
        if wanted.is_none() || matches!(error, host::Error::State { .. }) {
            errors.push(error.into());
        }
    }
    let number = |id: &str| id.split_once('-').map(|(number, _)| number.to_owned());
    ids.retain(|id| {
        wanted.is_none_or(|wanted| id == wanted || number(id).as_deref() == Some(wanted))
    });
    ids.into_iter().map(|id| (folder, id)).collect()
}

/// Says so where a run has left its changes behind: what is measured now is measured with them.
pub fn tell_leftovers() {
    let folders = journal::state_folders().into_iter();
    let open = folders
        .filter_map(|folder| journal::list_open(&folder).ok())
        .flat_map(|listing| listing.open);
    let runs: BTreeSet<String> = open
        .filter(|change| !change.kept)
        .map(|change| format!("`{}`", change.run))
        .collect();
    if runs.is_empty() {
        return;
    }
    let runs: Vec<String> = runs.into_iter().collect();
    stdout_and_stderr::say(&said(&say("told-change.leftovers").with("runs", runs)));
    stdout_and_stderr::say(&hint(say("hint-change.leftovers")));
}

/// What was put back, with the value read back at the end, in the language that is spoken.
pub fn rows(undone: &[Undone]) -> Vec<Vec<String>> {
    let reports = undone.iter().flat_map(|change| &change.reports);
    reports
        .map(|report| {
            let now = report.now.as_ref().map_or_else(
                || locale::text("told-change.not-known"),
                ToString::to_string,
            );
            vec![
                report.host.to_string(),
                format!("{} {}", report.knob, report.target),
                format!("{} -> {}", report.before, report.after),
                now,
                said(&outcome(&report.outcome)),
            ]
        })
        .collect()
}

/// The headings of [`rows`], likewise.
pub fn headings() -> [String; 5] {
    let headings = [
        "told-change.column-host",
        "told-change.column-setting",
        "told-change.column-before-and-changed",
        "told-change.column-reads-now",
        "told-change.column-outcome",
    ];
    headings.map(locale::text)
}

/// What was put back, as a table, and the commands of a dry run.
pub fn text(undone: &[Undone]) -> String {
    let headings = headings();
    let headings = headings.each_ref().map(String::as_str);
    let mut table = report::table(&headings, &rows(undone), style());
    let commands = undone
        .iter()
        .flat_map(|change| &change.reports)
        .filter_map(|report| {
            let UndoOutcome::WouldRestore { commands } = &report.outcome else {
                return None;
            };
            let lines = commands
                .iter()
                .map(|command| format!("{}: {}\n", report.host, knob::shown(command)));
            Some(lines.collect::<String>())
        });
    let commands: String = commands.collect();
    if !commands.is_empty() {
        table += &locale::text("told-change.would-run");
        table += "\n";
        table += &commands;
    }
    table
}

fn outcome(outcome: &UndoOutcome) -> Message {
    match outcome {
        UndoOutcome::AlreadyBefore => say("told-change.as-before"),
        UndoOutcome::Restored => say("told-change.put-back"),
        UndoOutcome::SiblingRestored => say("told-change.sibling-put-back"),
        UndoOutcome::Foreign | UndoOutcome::SiblingForeign => say("told-change.set-by-others"),
        UndoOutcome::Restarted => say("told-change.restarted"),
        UndoOutcome::Gone { reason } => reason.clone(),
        UndoOutcome::OtherMachine => say("told-change.other-machine"),
        UndoOutcome::Failed { chain } => {
            let reason = record::chain(chain.iter().cloned());
            say("told-change.failed").with_known("reason", reason)
        }
        UndoOutcome::WouldRestore { .. } => say("told-change.would-put-back"),
    }
}

impl<'a> UndoneChange<'a> {
    fn of(undone: &'a Undone) -> Self {
        Self {
            change: &undone.change,
            run: &undone.run,
            closed: undone.closed,
            settings: undone.reports.iter().map(UndoneSetting::of).collect(),
        }
    }
}

impl<'a> UndoneSetting<'a> {
    fn of(report: &'a Report) -> Self {
        Self {
            host: &report.host,
            target: &report.target,
            knob: &report.knob,
            before: &report.before,
            after: &report.after,
            found: report.found.as_ref(),
            now: report.now.as_ref(),
            outcome: outcome(&report.outcome),
            settled: report.outcome.is_settled(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_and_what_somebody_else_set_have_hints_of_their_own() {
        let failed = UndoOutcome::Failed {
            chain: vec!["it took too long".into()],
        };
        let said = |outcomes: &[UndoOutcome]| hints(outcomes.iter());
        assert!(said(&[UndoOutcome::Restored, UndoOutcome::Restarted]).is_empty());
        let again = said(&[failed.clone(), failed.clone(), UndoOutcome::Restored]);
        assert!(again.len() == 1 && again.iter().all(|hint| hint.contains("tries it again")));
        assert_eq!(said(&[failed, UndoOutcome::Foreign]).len(), 2);
    }

    /// A change of nothing in a journal, which stays until it is undone.
    fn change(folder: &Path) -> String {
        let journal = Journal::open(folder, "tune").unwrap();
        let planned = host::change::Change::plan(&[], &[], "tune").unwrap();
        journal.begin(planned).unwrap().keep().unwrap()
    }

    #[test]
    fn what_cannot_be_undone_is_told_beside_what_was() {
        let [own, other] = [(), ()].map(|()| tempfile::tempdir().unwrap());
        change(own.path());
        std::fs::write(own.path().join("open/7-beef.jsonl"), "").unwrap();
        // Its lock cannot be had.
        change(other.path());
        std::fs::remove_file(other.path().join("lock")).unwrap();
        std::fs::create_dir(other.path().join("lock")).unwrap();
        let folders = [&own, &other].map(|folder| folder.path().to_owned());
        let done = undo_all(&folders, None, UndoMode::Ours).unwrap();
        assert!(matches!(&done.undone[..], [change] if change.closed));
        let errors: Vec<String> = done.errors.iter().map(CommandError::text).collect();
        assert!(
            errors.len() == 2 && errors[0].contains("7-beef") && errors[1].contains("lock"),
            "{errors:?}"
        );
    }

    #[test]
    fn a_number_that_two_journals_have_names_neither() {
        let folders = [(), ()].map(|()| tempfile::tempdir().unwrap());
        let ids = folders.each_ref().map(|folder| change(folder.path()));
        let paths = folders.each_ref().map(|folder| folder.path().to_owned());
        let error = undo_all(&paths, Some("1"), UndoMode::Ours).err().unwrap();
        assert!(ids.iter().all(|id| error.text().contains(id)), "{error}");
        let done = undo_all(&paths, Some(&ids[1]), UndoMode::Ours).unwrap();
        assert_eq!(
            (done.undone[0].change.clone(), done.undone.len()),
            (ids[1].clone(), 1)
        );
    }
}
