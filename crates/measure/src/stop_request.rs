//! Ending a run from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use host::exec::{Output, Process};
use locale::say;

use crate::Error;

/// How often somebody who waits for something else looks whether to stop.
pub(crate) const STOP_POLL: Duration = Duration::from_millis(50);

/// A flag that anybody may raise and that everything that lasts looks at. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// A flag that is not raised.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks to stop; for good.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl From<Arc<AtomicBool>> for Stop {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}

/// Does something that a stop from outside ends, and calls `look` about every `each` meanwhile.
pub(crate) fn stoppable<T>(
    stop: &Stop,
    each: Duration,
    mut look: impl FnMut() + Send,
    work: impl FnOnce(&smb::Stop) -> T,
) -> Result<T, Error> {
    let halt = smb::Stop::new();
    let watch = || {
        look();
        if stop.is_asked() {
            halt.stop();
        }
    };
    let done = meanwhile(each, watch, || work(&halt))?;
    match stop.is_asked() {
        true => Err(Error::Stopped),
        false => Ok(done),
    }
}

/// Waits for the end of a process, and ends it when it takes longer than `limit` or a stop is asked for.
pub(crate) fn wait_unless_asked(
    process: Process,
    limit: Duration,
    stop: &Stop,
) -> Result<Output, Error> {
    let ender = process.ender();
    let mut is_ended = false;
    let look = || {
        if stop.is_asked() && !std::mem::replace(&mut is_ended, true) {
            ender.end();
        }
    };
    let output = meanwhile(STOP_POLL, look, || process.wait(limit))??;
    match stop.is_asked() {
        true => Err(Error::Stopped),
        false => Ok(output),
    }
}

/// Does something, and calls `look` about every `each` meanwhile, on another thread.
pub(crate) fn meanwhile<T>(
    each: Duration,
    mut look: impl FnMut() + Send,
    work: impl FnOnce() -> T,
) -> Result<T, Error> {
    let (over, heard) = mpsc::channel::<()>();
    thread::scope(move |scope| {
        spawn(scope, move || {
            while heard.recv_timeout(each) == Err(RecvTimeoutError::Timeout) {
                look();
            }
        })?;
        let done = work();
        // Whoever looks is told at once; a panic tells too.
        drop(over);
        Ok(done)
    })
}

/// Starts a thread that ends before its scope does.
pub(crate) fn spawn<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    work: impl FnOnce() + Send + 'scope,
) -> Result<(), Error> {
    thread::Builder::new()
        .spawn_scoped(scope, work)
        .map(drop)
        .map_err(|source| Error::System {
            action: say("error-measure.start-thread"),
            source,
        })
}
