//! How threads that call wait, and how they are told to stop.

use std::sync::{Arc, PoisonError};
use std::task::{Wake, Waker};
use std::time::Instant;

use crate::std_or_shuttle::atomic::{AtomicBool, Ordering};
use crate::std_or_shuttle::{Condvar, Mutex, MutexGuard, now};

/// Locks, also after a panic elsewhere: nothing that this crate does under a lock can stop half
/// way and leave a state that makes no sense.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread waits, others tell it that something has changed; a telling is never lost.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    told: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    pub(crate) fn tell(&self) {
        let mut told = lock(&self.told);
        if !*told {
            *told = true;
            drop(told);
            self.changed.notify_all();
        }
    }

    /// Returns once it was told something since the last wait.
    pub(crate) fn wait(&self) {
        let mut told = lock(&self.told);
        while !*told {
            told = self
                .changed
                .wait(told)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *told = false;
    }

    /// The same, or when the time has come.
    pub(crate) fn wait_until(&self, due: Instant) {
        let mut told = lock(&self.told);
        while !*told {
            let left = due.saturating_duration_since(now());
            if left.is_zero() {
                break;
            }
            let waited = self.changed.wait_timeout(told, left);
            told = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *told = false;
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.tell();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.tell();
    }
}

/// Ends a transfer from outside. All clones are the same handle; once stopped it stays so.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<StopState>);

#[derive(Debug, Default)]
struct StopState {
    stopped: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
}

impl Stop {
    /// A handle that has not been used.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends what was started with this handle, and what will be.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::SeqCst);
        lock(&self.0.waiting).drain(..).for_each(Waker::wake);
    }

    /// Whether it was used.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::SeqCst)
    }

    /// Wakes this waker too, until the registration is dropped.
    pub(crate) fn register(&self, waker: Waker) -> Registration<'_> {
        lock(&self.0.waiting).push(waker.clone());
        if self.is_stopped() {
            waker.wake_by_ref();
        }
        Registration { stop: self, waker }
    }
}

pub(crate) struct Registration<'stop> {
    stop: &'stop Stop,
    waker: Waker,
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        let mut waiting = lock(&self.stop.0.waiting);
        if let Some(place) = waiting
            .iter()
            .position(|waker| waker.will_wake(&self.waker))
        {
            waiting.swap_remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_telling_before_the_wait_is_not_lost() {
        let signal = Signal::default();
        signal.tell();
        signal.wait();
    }

    #[test]
    fn a_stop_wakes_who_waits_and_who_comes_later() {
        let stop = Stop::new();
        let signal = Arc::new(Signal::default());
        let registration = stop.register(Waker::from(Arc::clone(&signal)));
        std::thread::scope(|scope| {
            scope.spawn(|| stop.stop());
            signal.wait();
        });
        assert!(stop.is_stopped());
        drop(registration);
        let late = Arc::new(Signal::default());
        let _registration = stop.register(Waker::from(Arc::clone(&late)));
        late.wait();
    }

    #[test]
    fn a_registration_that_was_dropped_leaves_nothing() {
        let stop = Stop::new();
        drop(stop.register(Waker::from(Arc::new(Signal::default()))));
        assert!(lock(&stop.0.waiting).is_empty());
    }
}
