//! `--log FILE` and `LINERATE_LOG`: what a report of a bug needs, one event a line. Only linerate's own events are written:
//! those of libraries that log in could hold what nobody else may know.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Mutex;

use locale::say;
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::failure::{CommandError, Kind};

/// Which events: `LEVEL`, or `CRATE=LEVEL` with commas in between.
const VARIABLE: &str = "LINERATE_LOG";
/// The crates whose events are written.
const CRATES: [&str; 4] = ["host", "linerate", "measure", "smb"];
/// What is written where only a file is named.
const LEVEL: Level = Level::DEBUG;

/// Writes events from now on: into the file, or where only the variable is set, to standard error. Neither: nothing is
/// written, and nothing is spent on it.
pub fn begin(file: Option<&Path>) -> Result<(), CommandError> {
    let wanted = std::env::var(VARIABLE)
        .ok()
        .filter(|wanted| !wanted.is_empty());
    let targets = match (&wanted, file) {
        (Some(wanted), _) => targets(wanted)?,
        (None, Some(_)) => all(LEVEL),
        (None, None) => return Ok(()),
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_timer(Utc)
        .with_ansi(file.is_none() && std::io::stderr().is_terminal());
    let registry = tracing_subscriber::registry().with(targets);
    match file {
        Some(path) => {
            let file = Mutex::new(os::file::create(path)?);
            registry.with(lines.with_writer(file)).init();
        }
        None => registry.with(lines.with_writer(std::io::stderr)).init(),
    }
    Ok(())
}

fn all(level: Level) -> Targets {
    CRATES.iter().fold(Targets::new(), |targets, name| {
        targets.with_target(*name, level)
    })
}

/// Which events of which crates.
fn targets(wanted: &str) -> Result<Targets, CommandError> {
    let mut targets = Targets::new();
    for part in wanted.split(',').map(str::trim) {
        let (names, level) = match part.split_once('=') {
            Some((name, level)) => (CRATES.iter().filter(|it| **it == name).collect(), level),
            None => (CRATES.iter().collect::<Vec<_>>(), part),
        };
        let (false, Ok(level)) = (names.is_empty(), level.parse::<Level>()) else {
            let wrong = say("error-check.log-filter")
                .with("variable", VARIABLE)
                .with("part", part);
            let hint = say("hint-check.log-filter").with("crates", CRATES.join("`, `"));
            return Err(CommandError::new(Kind::Usage, wrong).hint(hint));
        };
        targets = targets.with_targets(names.into_iter().map(|name| (*name, level)));
    }
    Ok(targets)
}

/// The time of an event, as run files have it.
struct Utc;

impl FormatTime for Utc {
    fn format_time(&self, writer: &mut Writer<'_>) -> std::fmt::Result {
        write!(writer, "{}", jiff::Timestamp::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_events_are_written() {
        let of_all = all(Level::TRACE);
        let some = targets("info, smb=trace").expect("a filter");
        for (name, level, in_all, in_some) in [
            ("smb", Level::TRACE, true, true),
            ("smb::session", Level::TRACE, true, true),
            ("host::exec", Level::INFO, true, true),
            ("host::exec", Level::DEBUG, true, false),
            ("sspi", Level::ERROR, false, false),
            ("sspi::kerberos", Level::ERROR, false, false),
        ] {
            assert_eq!(of_all.would_enable(name, &level), in_all, "{name}");
            assert_eq!(some.would_enable(name, &level), in_some, "{name} {level}");
        }
    }

    #[test]
    fn a_filter_that_means_nothing_is_refused() {
        for wrong in ["loud", "sspi=trace", "smb", "smb=", "smb=debug,,", "=debug"] {
            assert!(targets(wrong).is_err(), "{wrong}");
        }
    }
}
