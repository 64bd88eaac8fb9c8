//! What `--help` prints: on one screen what most people need of a command; `--help-all` prints every option.

use clap::{Arg, ArgAction, Command, CommandFactory};

use crate::args::Arguments;
use crate::exit_codes;

/// What the screen of a command holds beside what it does and its arguments.
struct Screen {
    /// The words of the command.
    command: &'static str,
    /// Options by their long names.
    options: &'static [&'static str],
    /// Command lines as people type them, without `linerate`.
    examples: &'static [&'static str],
}

/// In the order of the commands.
const SCREENS: &[Screen] = &[
    Screen {
        command: "check",
        options: &["server", "credentials", "thorough", "html", "json"],
        examples: &[
            "check smb://anna@nas/media",
            "check //nas/media --server ssh://root@nas",
            "check //nas/media --thorough --html check.html",
        ],
    },
    Screen {
        command: "bench",
        options: &["preset", "recipe", "direction", "dry-run", "json"],
        examples: &[
            "bench //nas/media --preset cdm9",
            "bench disk:/srv/media --preset cdm9",
            "bench tcp://nas --direction both",
        ],
    },
    Screen {
        command: "tune",
        options: &["server", "goal", "only", "dry-run", "html"],
        examples: &[
            "tune //nas/media --dry-run",
            "tune //nas/media --server ssh://root@nas",
            "tune //nas/media --goal small-files --budget 30m",
        ],
    },
    Screen {
        command: "experiment",
        options: &[],
        examples: &[
            "experiment run plans/mtu.toml --dry-run",
            "experiment resume run.jsonl",
        ],
    },
    Screen {
        command: "experiment run",
        options: &["target", "dry-run", "blocks", "html", "json"],
        examples: &[
            "experiment run plan.toml --dry-run",
            "experiment run plan.toml --target //nas/media",
            "experiment run plan.toml --blocks 12 --html result.html",
        ],
    },
    Screen {
        command: "experiment resume",
        options: &["credentials", "html", "verbose", "json"],
        examples: &[
            "experiment resume run.jsonl",
            "experiment resume run.jsonl --html result.html",
            "experiment resume run.jsonl --json",
        ],
    },
    Screen {
        command: "inspect",
        options: &["explain", "json"],
        examples: &[
            "inspect",
            "inspect local ssh://root@nas",
            "inspect --explain tcp.rmem",
        ],
    },
    Screen {
        command: "set",
        options: &["profile", "persist", "lease", "dry-run", "json"],
        examples: &[
            "set local tcp.congestion_control=cubic --dry-run",
            "set ssh://root@nas nic.mtu@eth0=9000",
            "set local --profile default --persist",
        ],
    },
    Screen {
        command: "profiles",
        options: &["json"],
        examples: &["profiles", "profiles default", "profiles ./mine.toml"],
    },
    Screen {
        command: "undo",
        options: &["dry-run", "force", "json"],
        examples: &["undo --dry-run", "undo", "undo 20261127T193429-1a2b"],
    },
    Screen {
        command: "changes",
        options: &["json"],
        examples: &["changes", "changes --json"],
    },
    Screen {
        command: "analyze",
        options: &["response", "factors", "blocks", "better", "json"],
        examples: &[
            "analyze run.jsonl",
            "analyze table.csv --response MB/s --factors mtu,channels",
            "analyze before=one.json after=two.json",
        ],
    },
    Screen {
        command: "compare",
        options: &["band", "hoped", "json"],
        examples: &[
            "compare before.txt after.txt",
            "compare before.json after.json --band 5",
            "compare before.txt after.txt --hoped 10",
        ],
    },
    Screen {
        command: "report",
        options: &["html", "shareable", "json"],
        examples: &[
            "report run.jsonl",
            "report run.jsonl --html page.html",
            "report run.jsonl --shareable",
        ],
    },
    Screen {
        command: "copy",
        options: &["dry-run", "update", "resume", "verify", "exclude"],
        examples: &[
            "copy film.mov smb://anna@nas/media/",
            "copy photos/ //nas/media/photos --update --exclude '*.tmp'",
            "copy //nas/media/film.mov . --verify",
        ],
    },
    Screen {
        command: "ls",
        options: &["credentials", "guest", "verbose", "json"],
        examples: &[
            "ls smb://anna@nas",
            "ls //nas/media/photos",
            "ls //nas/media --json",
        ],
    },
    Screen {
        command: "lab",
        options: &[],
        examples: &[
            "lab scenarios",
            "lab up --scenario slow-link",
            "lab run client -- linerate check //10.77.1.2/media",
        ],
    },
    Screen {
        command: "lab up",
        options: &["scenario", "name", "dry-run", "json"],
        examples: &[
            "lab up office.toml --dry-run",
            "lab up office.toml",
            "lab up --scenario slow-link --name slow",
        ],
    },
    Screen {
        command: "lab scenarios",
        options: &["json"],
        examples: &["lab scenarios", "lab scenarios --json"],
    },
    Screen {
        command: "lab run",
        options: &[],
        examples: &[
            "lab run client -- ip address",
            "lab run office/server -- iperf3 -s",
            "lab run client -- linerate check //10.77.1.2/media",
        ],
    },
    Screen {
        command: "lab list",
        options: &["json"],
        examples: &["lab list", "lab list --json"],
    },
    Screen {
        command: "lab down",
        options: &["dry-run", "json"],
        examples: &["lab down", "lab down office", "lab down --dry-run"],
    },
    Screen {
        command: "demo",
        options: &["out", "seconds", "json"],
        examples: &["demo", "demo --out /tmp/demo", "demo --seconds 3"],
    },
    Screen {
        command: "doctor",
        options: &["json"],
        examples: &["doctor", "doctor --json"],
    },
    Screen {
        command: "man",
        options: &["list"],
        examples: &["man check | man -l -", "man --list"],
    },
    Screen {
        command: "completions",
        options: &[],
        examples: &[
            "completions bash > /etc/bash_completion.d/linerate",
            "completions fish > ~/.config/fish/completions/linerate.fish",
        ],
    },
];

/// Options that have a heading of their own where all are printed. The order is that in which they are defined, so that
/// who logs in comes last.
const HEADINGS: [(&str, &[&str]); 3] = [
    ("Hosts", &["client", "server"]),
    (
        "Login",
        &[
            "credentials",
            "kerberos",
            "kdc",
            "ntlm",
            "guest",
            "anonymous",
        ],
    ),
    (
        "Session",
        &["dialect-min", "dialect-max", "sign", "as", "encrypt"],
    ),
];

/// Where the command line asks for all.
const ALL: &str = "--help-all";

/// How much of the options the help prints.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Screen,
    All,
}

/// The command line with its help, as it is typed here.
pub fn command() -> Command {
    let is_all = std::env::args_os().any(|word| word == ALL);
    with_help(if is_all { Extent::All } else { Extent::Screen })
}

/// The command line with all that is said of it.
pub fn reference() -> Command {
    with_help(Extent::All)
}

fn with_help(extent: Extent) -> Command {
    let mut command = Arguments::command();
    command = match extent {
        Extent::Screen => command
            .help_template("{about}\n{usage-heading} {usage}\n\n{subcommands}{after-help}")
            .after_help(
                "`linerate COMMAND --help` has examples, `linerate --help-all` the exit codes",
            ),
        Extent::All => command.after_help(format!("{}\n\n{FOLDERS}", exit_codes::help())),
    };
    command = command
        .mut_args(|option| match extent {
            Extent::Screen => option.hide_short_help(true),
            Extent::All => in_full(option),
        })
        .disable_help_flag(true)
        .args(help_options());
    for screen in SCREENS {
        let mut words = screen.command.split(' ');
        let first = words.next().unwrap_or_default();
        command = command.mut_subcommand(first, |outer| match words.next() {
            Some(second) => outer.mut_subcommand(second, |inner| dressed(inner, screen, extent)),
            None => dressed(outer, screen, extent),
        });
    }
    command.build();
    without_help(command)
}

/// The list of commands without what only prints the help of another.
fn without_help(command: Command) -> Command {
    command.mut_subcommands(|inner| match inner.get_name() {
        "help" => inner.hide(true),
        _ => without_help(inner),
    })
}

/// Where the program keeps things.
const FOLDERS: &str = "run files and open changes are kept in /var/lib/linerate (root) or $XDG_STATE_HOME/linerate, else\n\
     ~/.local/state/linerate; LINERATE_STATE_DIR names another folder";

/// A command with its examples, and with the options that are printed.
fn dressed(command: Command, screen: &Screen, extent: Extent) -> Command {
    let examples = screen.examples.iter();
    let examples: String = examples
        .map(|example| format!("\n  linerate {example}"))
        .collect();
    command
        .mut_args(|option| match extent {
            _ if option.is_positional() => option,
            Extent::Screen => {
                let is_shown = option
                    .get_long()
                    .is_some_and(|long| screen.options.contains(&long));
                option.hide_short_help(!is_shown)
            }
            Extent::All => in_full(option),
        })
        .disable_help_flag(true)
        .args(help_options())
        .after_help(format!("Examples:{examples}"))
}

/// An option with all that is said of it, under its heading.
fn in_full(option: Arg) -> Arg {
    let mut headings = HEADINGS.iter();
    let long = option.get_long().unwrap_or_default();
    let heading = headings.find(|(_, options)| options.contains(&long));
    let option = match heading {
        Some((heading, _)) => option.help_heading(*heading),
        None => option,
    };
    match option.get_long_help().map(ToString::to_string) {
        Some(text) => option.help(text.replace("\n\n", ": ")),
        None => option,
    }
}

fn help_options() -> [Arg; 2] {
    let help = Arg::new("help").short('h').long("help");
    let all = Arg::new("help-all").long("help-all");
    [
        help.action(ArgAction::HelpShort).help("Print this"),
        all.action(ArgAction::HelpShort).help("Print every option"),
    ]
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::*;

    const LINES_MAX: usize = 24;
    const COLUMNS: usize = 80;
    const OPTIONS_MAX: usize = 5;
    const EXAMPLES_MAX: usize = 3;

    fn visible(command: &Command) -> Vec<(String, Command)> {
        let inner = command.get_subcommands().filter(|one| !one.is_hide_set());
        inner
            .flat_map(|one| {
                let name = one.get_name().to_owned();
                let below = visible(one).into_iter();
                let below = below.map(|(words, inner)| (format!("{name} {words}"), inner));
                let mut all: Vec<_> = below.collect();
                all.insert(0, (name.clone(), one.clone()));
                all
            })
            .collect()
    }

    #[test]
    fn the_help_of_every_command_fits_a_screen() {
        let all = with_help(Extent::Screen).term_width(COLUMNS);
        let mut commands = visible(&all);
        let mut known: Vec<&str> = SCREENS.iter().map(|screen| screen.command).collect();
        let mut there: Vec<&str> = commands.iter().map(|(words, _)| words.as_str()).collect();
        known.sort_unstable();
        there.sort_unstable();
        assert_eq!(known, there);
        commands.push(("linerate".to_owned(), all.clone()));
        let mut long = Vec::new();
        for (words, mut command) in commands {
            command = command.term_width(COLUMNS);
            let help = command.render_help().to_string();
            let lines = help.trim_end().lines().count();
            if lines > LINES_MAX {
                long.push(format!("{words}: {lines} lines\n{help}"));
            }
            if help.lines().any(|line| line.chars().count() > COLUMNS) {
                long.push(format!("{words}: too wide\n{help}"));
            }
        }
        assert!(long.is_empty(), "{}", long.join("\n"));
    }

    #[test]
    fn every_screen_names_options_that_there_are_and_examples_that_are_understood() {
        let all = with_help(Extent::Screen);
        for screen in SCREENS {
            assert!(screen.options.len() <= OPTIONS_MAX, "{}", screen.command);
            assert!(screen.examples.len() <= EXAMPLES_MAX, "{}", screen.command);
            let (_, command) = visible(&all)
                .into_iter()
                .find(|(words, _)| words == screen.command)
                .expect("a command");
            for option in screen.options {
                let mut there = command.get_arguments();
                let is_there = there.any(|one| one.get_long() == Some(option));
                assert!(is_there, "{}: --{option}", screen.command);
            }
            for example in screen.examples {
                assert!(example.starts_with(screen.command), "{example}");
                let typed = example.split(['|', '>']).next().expect("a first part");
                let words = typed.split_whitespace();
                let words = words.map(|word| word.trim_matches('\''));
                let words = std::iter::once("linerate").chain(words);
                let parsed = all.clone().try_get_matches_from(words);
                assert!(parsed.is_ok(), "{example}: {:?}", parsed.err());
            }
        }
    }

    #[test]
    fn all_options_are_printed_where_all_are_asked_for() {
        let mut all = with_help(Extent::All);
        let help = all
            .clone()
            .try_get_matches_from(["linerate", "check", ALL])
            .expect_err("help is no command");
        assert_eq!(help.kind(), ErrorKind::DisplayHelp);
        let help = help.to_string();
        let check = all.find_subcommand_mut("check").expect("a command");
        for option in check.get_arguments().filter_map(Arg::get_long) {
            assert!(help.contains(&format!("--{option}")), "{option}");
        }
        let places =
            ["\nOptions:", "\nHosts:", "\nLogin:", "\nSession:"].map(|heading| help.find(heading));
        assert!(places.is_sorted() && places[0].is_some(), "{help}");
    }
}
