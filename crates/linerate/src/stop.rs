//! Ctrl-C: the first one stops the run, restores and ends it; the second one leaves at once.

use std::sync::atomic::{AtomicU32, Ordering};

use measure::Stop;

use crate::failure::{CommandError, Kind, exit_code};
use crate::terminal;

/// Listens for Ctrl-C, SIGTERM and SIGHUP from now on.
pub fn listen() -> Result<Stop, CommandError> {
    let stop = Stop::new();
    let asked = stop.clone();
    let words = Words {
        stopping: "what was changed is put back",
        left: "left without putting anything back\nhint: run `linerate undo`",
    };
    listen_with(words, move || asked.ask())?;
    Ok(stop)
}

/// What is said to who wants to leave.
pub struct Words {
    /// What happens now.
    pub stopping: &'static str,
    /// What did not happen, because it was asked for twice.
    pub left: &'static str,
}

/// Listens, and calls `stop` at each of them.
pub fn listen_with(words: Words, stop: impl Fn() + Send + 'static) -> Result<(), CommandError> {
    let seen = AtomicU32::new(0);
    let listening = ctrlc::set_handler(move || {
        stop();
        if seen.fetch_add(1, Ordering::Relaxed) == 0 {
            let stopping = words.stopping;
            terminal::say(&format!(
                "stopping; {stopping} (once more to leave at once)"
            ));
        } else {
            leave(words.left);
        }
    });
    listening
        .map_err(|error| CommandError::caused(Kind::Internal, "cannot listen for Ctrl-C", &error))
}

/// The error of a run that was stopped.
pub fn interrupted() -> CommandError {
    CommandError::new(Kind::Interrupted, "stopped")
        .hint("`linerate changes` shows whether anything is left changed")
}

#[expect(
    clippy::exit,
    reason = "a second Ctrl-C must work whatever the threads are doing"
)]
fn leave(left: &str) {
    terminal::say(left);
    std::process::exit(i32::from(exit_code(Kind::Interrupted)));
}
