//! What threads share, how they start, and what time it is. All of it is that of `std`; with the feature `model`,
//! which only a test asks for (`model`), a scheduler decides which thread goes on, and time stands still.

#[cfg(all(test, feature = "model"))]
pub(crate) use model::{is_finished, now};
#[cfg(all(test, feature = "model"))]
pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard, atomic};
#[cfg(all(test, feature = "model"))]
pub(crate) use shuttle::thread;
#[cfg(not(all(test, feature = "model")))]
pub(crate) use std::{
    sync::{Condvar, Mutex, MutexGuard, atomic},
    thread,
};

/// Whether a thread has ended.
#[cfg(not(all(test, feature = "model")))]
pub(crate) fn is_finished<T>(thread: &thread::JoinHandle<T>) -> bool {
    thread.is_finished()
}

/// Now.
#[cfg(not(all(test, feature = "model")))]
pub(crate) fn now() -> std::time::Instant {
    std::time::Instant::now()
}

#[cfg(all(test, feature = "model"))]
mod model {
    use std::time::Instant;

    thread_local! {
        static NOW: Instant = Instant::now();
    }

    /// The model's threads are few: none of their handles is forgotten.
    pub(crate) fn is_finished<T>(_: &shuttle::thread::JoinHandle<T>) -> bool {
        false
    }

    /// The same at all times: what is waited for must come without any time-out. All threads of a model run on one
    /// thread of the system.
    pub(crate) fn now() -> Instant {
        NOW.with(Clone::clone)
    }
}
