//! Puts on record how far a transfer is, on a thread beside it.

use std::sync::PoisonError;

use crate::copy::file_source_and_destination::Part;
use crate::error::Error;
use crate::signal::lock;
use crate::std_or_shuttle::{Condvar, Mutex};

/// Puts on record what is complete, beside the transfer: storage may be slow.
#[derive(Default)]
pub(super) struct Checkpoint {
    state: Mutex<CheckpointState>,
    changed: Condvar,
}

#[derive(Default)]
struct CheckpointState {
    complete: Option<u64>,
    ended: bool,
    /// Why what was written is not on storage.
    failure: Option<Error>,
}

impl Checkpoint {
    pub(super) fn note(&self, complete: u64) {
        lock(&self.state).complete = Some(complete);
        self.changed.notify_one();
    }

    pub(super) fn end(&self) {
        lock(&self.state).ended = true;
        self.changed.notify_one();
    }

    pub(super) fn has_failed(&self) -> bool {
        lock(&self.state).failure.is_some()
    }

    pub(super) fn into_outcome(self) -> Result<(), Error> {
        let state = self.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        state.failure.map_or(Ok(()), Err)
    }

    pub(super) fn run(&self, part: &Part) {
        let mut state = lock(&self.state);
        loop {
            if let Some(complete) = state.complete.take() {
                drop(state);
                let synced = part.sync();
                if synced.is_ok() {
                    // Without a record the copy goes on all the same; only a later run has to begin anew.
                    let _ = part.record(complete);
                }
                state = lock(&self.state);
                if let Err(failure) = synced {
                    // A system says once what it has lost: after this, it would say that all is well.
                    state.failure = Some(failure);
                    return;
                }
                continue;
            }
            if state.ended {
                return;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}
