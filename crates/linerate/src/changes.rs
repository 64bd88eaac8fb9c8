//! `linerate changes` and `linerate undo`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use host::journal::{self, Journal, UndoMode, UndoOutcome, Undone};
use host::knob;
use report::Look;
use serde_json::json;

use crate::args::{JsonArguments, UndoArguments};
use crate::failure::CommandError;
use crate::{hosts, stop, terminal};

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
        damaged.extend(listing.damaged);
    }
    for error in damaged.iter() {
        terminal::say(&format!("warning: {error}"));
    }
    if arguments.json {
        let changes: Vec<_> = open
            .iter()
            .map(|(folder, summary)| json!({ "journal": folder, "change": summary }))
            .collect();
        let damaged: Vec<String> = damaged.iter().map(ToString::to_string).collect();
        terminal::print_json(&json!({ "changes": changes, "damaged": damaged }));
    } else if open.is_empty() {
        terminal::print("nothing is changed");
    } else {
        let mut rows = Vec::new();
        for (_, summary) in &open {
            let state = if summary.kept { "kept" } else { "unfinished" };
            for setting in &summary.settings {
                rows.push(vec![
                    summary.id.clone(),
                    setting.host.to_string(),
                    format!("{} {}", setting.knob, setting.target),
                    format!("{} -> {}", setting.before, setting.after),
                    state.to_owned(),
                    summary.run.clone(),
                    summary.since.strftime("%Y-%m-%d %H:%M").to_string(),
                ]);
            }
        }
        let headers = [
            "change",
            "host",
            "setting",
            "before -> now",
            "state",
            "run",
            "since (UTC)",
        ];
        terminal::print(&report::table(&headers, &rows, look()));
        terminal::print(
            "hint: `linerate undo` puts everything back, `linerate undo CHANGE` one change",
        );
    }
    Ok(if open.is_empty() && damaged.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// How tables look on standard output.
pub fn look() -> Look {
    let colour = if terminal::colour() {
        report::Colour::Ansi
    } else {
        report::Colour::Plain
    };
    Look::new(terminal::columns(), colour)
}

/// Puts back one change, or all open ones. Exit code 1 where something is left.
pub fn undo(arguments: &UndoArguments) -> Result<ExitCode, CommandError> {
    let mode = match (arguments.dry_run, arguments.force) {
        (true, _) => UndoMode::DryRun,
        (false, true) => UndoMode::Force,
        (false, false) => UndoMode::Ours,
    };
    stop::end_cleanly()?;
    let undone = undo_all(&journal::state_folders(), arguments.id.as_deref(), mode)?;
    let complete = undone.iter().all(|change| change.closed) || mode == UndoMode::DryRun;
    if arguments.json {
        let changes: Vec<_> = undone.iter().map(change_json).collect();
        terminal::print_json(
            &json!({ "dry_run": arguments.dry_run, "undone": changes, "complete": complete }),
        );
    } else if undone.is_empty() {
        terminal::print("nothing is changed, so there is nothing to undo");
    } else {
        terminal::print(&text(&undone));
        let reports = undone.iter().flat_map(|change| &change.reports);
        for hint in hints(reports.map(|report| &report.outcome)) {
            terminal::say(hint);
        }
    }
    Ok(if complete {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// What can be done about what is left.
fn hints<'a>(outcomes: impl Iterator<Item = &'a UndoOutcome>) -> BTreeSet<&'static str> {
    let hints = outcomes.filter_map(|outcome| match outcome {
        UndoOutcome::Foreign => {
            Some("hint: what somebody else set is only overwritten with `--force`")
        }
        UndoOutcome::Failed { .. } => {
            Some("hint: what failed stays in the journal; `linerate undo` tries it again")
        }
        _ => None,
    });
    hints.collect()
}

/// Puts back in each of these journals; the named change must be in one of them.
pub fn undo_all(
    folders: &[PathBuf],
    id: Option<&str>,
    mode: UndoMode,
) -> Result<Vec<Undone>, CommandError> {
    let mut undone = Vec::new();
    let mut found = false;
    for folder in folders {
        let listing = journal::list_open(folder)?;
        if listing.open.is_empty() && listing.damaged.is_empty() {
            continue;
        }
        for error in &listing.damaged {
            terminal::say(&format!("warning: {error}"));
        }
        let journal = Journal::open(folder, "undo")?;
        match journal.undo(id, mode, &hosts::resolve) {
            Ok(more) => {
                found = true;
                undone.extend(more);
            }
            Err(host::Error::NoSuchChange { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    match id {
        Some(id) if !found => Err(host::Error::NoSuchChange { id: id.to_owned() }.into()),
        _ => Ok(undone),
    }
}

/// What was put back, with the value read back at the end.
pub fn rows(undone: &[Undone]) -> Vec<Vec<String>> {
    let reports = undone.iter().flat_map(|change| &change.reports);
    reports
        .map(|report| {
            let now = report
                .now
                .as_ref()
                .map_or_else(|| "not known".to_owned(), ToString::to_string);
            vec![
                report.host.to_string(),
                format!("{} {}", report.knob, report.target),
                format!("{} -> {}", report.before, report.after),
                now,
                outcome(&report.outcome),
            ]
        })
        .collect()
}

/// The headings of [`rows`].
pub const HEADINGS: [&str; 5] = [
    "host",
    "setting",
    "before -> changed to",
    "reads now",
    "outcome",
];

/// What was put back, as a table, and the commands of a dry run.
pub fn text(undone: &[Undone]) -> String {
    let mut text = report::table(&HEADINGS, &rows(undone), look());
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
        text += "these commands would run:\n";
        text += &commands;
    }
    text
}

fn outcome(outcome: &UndoOutcome) -> String {
    match outcome {
        UndoOutcome::AlreadyBefore => "as before, nothing to do".into(),
        UndoOutcome::Restored => "put back".into(),
        UndoOutcome::SiblingRestored => "moved with it, put back".into(),
        UndoOutcome::Foreign | UndoOutcome::SiblingForeign => {
            "set by somebody else, left alone".into()
        }
        UndoOutcome::Restarted => "the host has restarted since".into(),
        UndoOutcome::Gone { reason } => reason.clone(),
        UndoOutcome::OtherMachine => "another machine answers now, left alone".into(),
        UndoOutcome::Failed { chain } => format!("failed: {}", chain.join(": ")),
        UndoOutcome::WouldRestore { .. } => "would be put back".into(),
    }
}

fn change_json(undone: &Undone) -> serde_json::Value {
    let settings = undone.reports.iter().map(|report| {
        json!({
            "host": report.host, "target": report.target, "knob": report.knob,
            "before": report.before, "after": report.after,
            "found": report.found, "now": report.now,
            "outcome": outcome(&report.outcome), "settled": report.outcome.is_settled(),
        })
    });
    json!({
        "change": undone.change, "run": undone.run, "closed": undone.closed,
        "settings": settings.collect::<Vec<_>>(),
    })
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
}
