//! Exit codes: the one table that `--help`, the README and every command go by.

use std::process::ExitCode;

use record::FailureKind;

/// What an exit code says. The first three are verdicts, the others say that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Nothing is wrong.
    Well = 0,
    /// There is something to know.
    Found = 1,
    /// What was measured does not suffice.
    Undecided = 2,
    /// The request is wrong.
    Usage = 64,
    /// A server, the system or a rule said no.
    Refused = 65,
    /// There is no peer, or no longer.
    Unreachable = 69,
    /// The fault is linerate's own, or a peer's.
    Internal = 70,
    /// Stopped by the one who started it.
    Interrupted = 130,
}

/// A row of the table.
struct Row {
    exit: Exit,
    name: &'static str,
    meaning: &'static str,
    /// The commands that can end so; none named where all can.
    commands: &'static [&'static str],
}

/// In the order of their codes.
const TABLE: [Row; 8] = [
    Row {
        exit: Exit::Well,
        name: "well",
        meaning: "done, and nothing is wrong",
        commands: &[],
    },
    Row {
        exit: Exit::Found,
        name: "found",
        meaning: "something was found, is changed, is left to undo, or was not copied while the rest was",
        commands: &[
            "check", "inspect", "undo", "changes", "analyze", "copy", "demo",
        ],
    },
    Row {
        exit: Exit::Undecided,
        name: "undecided",
        meaning: "could not tell from what was measured",
        commands: &["check", "bench", "tune", "experiment", "analyze", "compare"],
    },
    Row {
        exit: Exit::Usage,
        name: "usage",
        meaning: "the request makes no sense, or a file that belongs to it: plan, recipe, profile, table, lab",
        commands: &[],
    },
    Row {
        exit: Exit::Refused,
        name: "refused",
        meaning: "refused: by a server, wrong password included; by a rule; for missing rights, a missing \
                  program, a full disk at either end, or a file that is damaged or cannot be read or written",
        commands: &[],
    },
    Row {
        exit: Exit::Unreachable,
        name: "unreachable",
        meaning: "no answer, or the connection is lost or reset",
        commands: &[
            "check",
            "bench",
            "tune",
            "experiment",
            "inspect",
            "set",
            "copy",
            "ls",
            "lab",
        ],
    },
    Row {
        exit: Exit::Internal,
        name: "internal",
        meaning: "a peer breaks the protocol, or an error of linerate itself",
        commands: &[
            "check",
            "bench",
            "tune",
            "experiment",
            "inspect",
            "set",
            "copy",
            "ls",
        ],
    },
    Row {
        exit: Exit::Interrupted,
        name: "interrupted",
        meaning: "stopped by Ctrl-C, SIGTERM or SIGHUP",
        commands: &[],
    },
];

/// Columns that a line of the help text may fill.
const HELP_COLUMNS: usize = 100;
/// Where meanings begin in the help text.
const HELP_INDENT: usize = 21;

impl Exit {
    /// The number.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        let mut rows = TABLE.iter();
        rows.find(|row| row.exit == self).map_or("", |row| row.name)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl From<FailureKind> for Exit {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Usage => Self::Usage,
            FailureKind::Refused | FailureKind::LoginRefused => Self::Refused,
            FailureKind::Unreachable => Self::Unreachable,
            FailureKind::Internal => Self::Internal,
            FailureKind::Interrupted => Self::Interrupted,
        }
    }
}

/// The table as `--help` has it.
pub fn help() -> String {
    let lines = TABLE.iter().map(|row| {
        let of = match row.commands {
            [] => String::new(),
            commands if row.exit.code() <= Exit::Undecided.code() => {
                format!(" ({})", quoted(commands))
            }
            _ => String::new(),
        };
        let head = format!("  {:<4} {:<13} ", row.exit.code(), row.name);
        wrapped(&head, &format!("{}{of}", row.meaning))
    });
    let lines: String = lines.collect();
    format!("exit codes:\n{lines}`lab run` gives the exit code of its command")
}

fn quoted(commands: &[&str]) -> String {
    let quoted = commands.iter().map(|command| format!("`{command}`"));
    quoted.collect::<Vec<_>>().join(", ")
}

/// Text behind a head, on as many lines as it takes.
fn wrapped(head: &str, text: &str) -> String {
    let lines = report::wrap(text, HELP_COLUMNS - HELP_INDENT);
    let next = format!("\n{:HELP_INDENT$}", "");
    format!("{head:<HELP_INDENT$}{}\n", lines.replace('\n', &next))
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = include_str!("../../../README.md");
    const BEGIN: &str = "<!-- exit codes -->\n";
    const END: &str = "<!-- end of exit codes -->\n";

    /// The table as the README has it.
    fn table() -> String {
        let rows = TABLE.iter().map(|row| {
            let commands = match row.commands {
                [] => "all".to_owned(),
                commands => quoted(commands),
            };
            format!(
                "| {} | {} | {} | {commands} |\n",
                row.exit.code(),
                row.name,
                row.meaning
            )
        });
        let rows: String = rows.collect();
        format!("| code | name | meaning | commands |\n|---|---|---|---|\n{rows}")
    }

    #[test]
    fn the_readme_has_the_table_of_the_code() {
        let (_, rest) = README.split_once(BEGIN).expect("the mark before it");
        let (written, _) = rest.split_once(END).expect("the mark behind it");
        assert_eq!(
            written,
            table(),
            "write this between the marks:\n{}",
            table()
        );
    }

    #[test]
    fn no_code_has_two_meanings() {
        assert!(TABLE.is_sorted_by(|one, other| one.exit.code() < other.exit.code()));
    }

    #[test]
    fn the_help_fits_a_terminal() {
        assert!(help().lines().all(|line| line.len() <= HELP_COLUMNS));
    }
}
