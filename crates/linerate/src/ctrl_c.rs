//! Ctrl-C: the first one stops the run, restores and ends it; the second one leaves at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use locale::{Message, said, say, text};
use measure::Stop;

use crate::exit_codes::Exit;
use crate::failure::{CommandError, Kind};
use crate::stdout_and_stderr;

/// How often whoever waits for work looks whether to stop.
const LOOK: Duration = Duration::from_millis(50);
/// What comes so soon after the first one is the same: a terminal that goes tells it twice, by the system and by its
/// shell, and so does a shell that ends a job.
const ONE: Duration = Duration::from_millis(100);
/// How long work may take to end by itself once somebody wants to leave.
const GRACE: Duration = Duration::from_millis(500);

/// Listens for Ctrl-C, SIGTERM and SIGHUP from now on.
pub fn listen() -> Result<Stop, CommandError> {
    let stop = Stop::new();
    let asked = stop.clone();
    let words = Words {
        stopping: say("told-check.putting-back"),
        left: say("told-check.left-changed"),
        hint: say("hint-check.undo"),
    };
    listen_with(words, move || asked.ask())?;
    Ok(stop)
}

/// What is said to who wants to leave.
pub struct Words {
    /// What happens now.
    pub stopping: Message,
    /// What did not happen, because it was asked for twice.
    pub left: Message,
    /// What to do about that.
    pub hint: Message,
}

/// Who wants to hear of each of them.
type Listener = Box<dyn Fn() + Send>;

static LISTENER: Mutex<Option<Listener>> = Mutex::new(None);

/// Listens, and calls `stop` at each of them.
pub fn listen_with(words: Words, stop: impl Fn() + Send + 'static) -> Result<(), CommandError> {
    let first = OnceLock::new();
    let listener = move || {
        let is_first = first.set(Instant::now()).is_ok();
        if !is_first && first.get().is_some_and(|at| at.elapsed() < ONE) {
            return;
        }
        stop();
        if is_first {
            let stopping = say("told-check.stopping").with("what", words.stopping.clone());
            stdout_and_stderr::say(&said(&stopping));
        } else {
            let (left, hint) = (said(&words.left), said(&words.hint));
            leave(&format!("{left}\n{}: {hint}", text("failure.hint")));
        }
    };
    *locked(&LISTENER) = Some(Box::new(listener));
    hear()
}

/// From now on whoever does not listen ends at once, with the exit code for it and without leaving a
/// connection behind.
pub fn end_cleanly() -> Result<(), CommandError> {
    hear()
}

/// Hears them, and tells the listener that there is then.
fn hear() -> Result<(), CommandError> {
    static HEARS: Mutex<bool> = Mutex::new(false);
    let mut hears = locked(&HEARS);
    if *hears {
        return Ok(());
    }
    let hearing = ctrlc::set_handler(|| match &*locked(&LISTENER) {
        Some(listener) => listener(),
        None => leave(&interrupted().to_string()),
    });
    *hears = hearing.is_ok();
    hearing.map_err(|error| {
        CommandError::caused(Kind::Internal, say("error-check.no-signals"), &error)
    })
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does work that changes nothing, on a thread of its own. Whoever asks to stop is not kept waiting
/// for it: what it has started on a host ends within its own time limit, and a connection that it is
/// making ends with the program.
pub fn unless_asked<T: Send + 'static>(
    stop: &Stop,
    work: impl FnOnce() -> Result<T, CommandError> + Send + 'static,
) -> Result<T, CommandError> {
    let (ended, heard) = mpsc::channel();
    thread::Builder::new()
        .spawn(move || ended.send(work()).ok())
        .map_err(|error| {
            CommandError::caused(Kind::Internal, say("error-check.no-thread"), &error)
        })?;
    while !stop.is_asked() {
        match heard.recv_timeout(LOOK) {
            // What fails because it is stopped says no more than that.
            Ok(_) if stop.is_asked() => {}
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let ended = say("error-check.thread-ended");
                return Err(CommandError::new(Kind::Internal, ended));
            }
        }
    }
    // Mostly it ends at once, and with it all that it has started.
    heard.recv_timeout(GRACE).ok();
    Err(interrupted())
}

/// Before a result is told: where the program is being left, why and with which code is said already, and
/// this never returns. Connections that are ended for it must not be what a command says it failed by.
pub fn park_if_leaving() {
    while IS_LEAVING.load(Ordering::SeqCst) {
        thread::park();
    }
}

/// The error of a run that was stopped.
pub fn interrupted() -> CommandError {
    CommandError::new(Kind::Interrupted, say("error-check.interrupted"))
        .hint(say("hint-check.left-changed"))
}

/// Whether the thread that hears them ends the program now.
static IS_LEAVING: AtomicBool = AtomicBool::new(false);

#[expect(
    clippy::exit,
    reason = "a second Ctrl-C must work whatever the threads are doing"
)]
fn leave(left: &str) {
    IS_LEAVING.store(true, Ordering::SeqCst);
    stdout_and_stderr::say(left);
    host::exec::let_go();
    std::process::exit(i32::from(Exit::Interrupted.code()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_asks_to_stop_is_not_kept_waiting() {
        let stop = Stop::new();
        let asked = stop.clone();
        let (_never, wait) = mpsc::channel::<()>();
        let error = unless_asked(&stop, move || {
            asked.ask();
            wait.recv().ok();
            Ok(())
        });
        assert_eq!(error.unwrap_err().kind(), Kind::Interrupted);
    }

    #[test]
    fn what_fails_after_somebody_asked_to_stop_was_interrupted() {
        let stop = Stop::new();
        let asked = stop.clone();
        let error = unless_asked(&stop, move || {
            asked.ask();
            Err::<(), _>(CommandError::new(Kind::Unreachable, "no payload at all"))
        });
        assert_eq!(error.unwrap_err().kind(), Kind::Interrupted);
    }

    #[test]
    fn nobody_asked_so_what_came_of_it_comes_back() {
        assert_eq!(unless_asked(&Stop::new(), || Ok(7)).unwrap(), 7);
        let refused = || Err::<(), _>(CommandError::new(Kind::Refused, "no"));
        let error = unless_asked(&Stop::new(), refused).unwrap_err();
        assert_eq!(error.kind(), Kind::Refused);
    }
}
