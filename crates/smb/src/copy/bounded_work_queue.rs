//! Work that waits for a thread, so much of it and no more.

use std::collections::VecDeque;
use std::sync::PoisonError;

use crate::signal::lock;
use crate::std_or_shuttle::{Condvar, Mutex};

/// A queue between threads. Whoever puts something in waits while it is full.
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    room: Condvar,
    limit: usize,
}

struct State<T> {
    items: VecDeque<T>,
    closed: bool,
}

impl<T> Queue<T> {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            state: Mutex::new(State {
                items: VecDeque::new(),
                closed: false,
            }),
            changed: Condvar::new(),
            room: Condvar::new(),
            limit,
        }
    }

    /// Puts something in. Somebody must still take things out.
    pub(super) fn push(&self, item: T) {
        let mut state = lock(&self.state);
        while state.items.len() >= self.limit {
            state = self
                .room
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.items.push_back(item);
        drop(state);
        self.changed.notify_one();
    }

    /// Takes something out; none once it is closed and empty.
    pub(super) fn pop(&self) -> Option<T> {
        let mut state = lock(&self.state);
        loop {
            if let Some(item) = state.items.pop_front() {
                drop(state);
                self.room.notify_one();
                return Some(item);
            }
            if state.closed {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// How many wait.
    pub(super) fn waiting(&self) -> usize {
        lock(&self.state).items.len()
    }

    /// Nothing more comes.
    pub(super) fn close(&self) {
        lock(&self.state).closed = true;
        self.changed.notify_all();
    }
}

/// Folders that are still to be looked into. Looking into one brings more, so the end comes when
/// none is left and nobody looks into one.
pub(super) struct Folders<T> {
    state: Mutex<FoldersState<T>>,
    changed: Condvar,
}

struct FoldersState<T> {
    waiting: Vec<T>,
    looked_into: usize,
}

impl<T> Folders<T> {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(FoldersState {
                waiting: Vec::new(),
                looked_into: 0,
            }),
            changed: Condvar::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        lock(&self.state).waiting.is_empty()
    }

    /// How many wait.
    pub(super) fn waiting(&self) -> usize {
        lock(&self.state).waiting.len()
    }

    pub(super) fn push(&self, folder: T) {
        lock(&self.state).waiting.push(folder);
        self.changed.notify_one();
    }

    /// The newest one, so that few wait: a tree is deeper than a thread's own way through it only
    /// by what each of its folders holds. None when all have been looked into.
    pub(super) fn take(&self) -> Option<T> {
        let mut state = lock(&self.state);
        loop {
            if let Some(folder) = state.waiting.pop() {
                state.looked_into += 1;
                return Some(folder);
            }
            if state.looked_into == 0 {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// One that was taken has been looked into.
    pub(super) fn done(&self) {
        let mut state = lock(&self.state);
        state.looked_into -= 1;
        let over = state.looked_into == 0 && state.waiting.is_empty();
        drop(state);
        if over {
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn a_full_queue_waits_and_a_closed_one_is_emptied() {
        let queue = Queue::new(3);
        let sum = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while let Some(number) = queue.pop() {
                        assert!(lock(&queue.state).items.len() <= 3);
                        sum.fetch_add(number, Ordering::Relaxed);
                    }
                });
            }
            (1..=1000).for_each(|number| queue.push(number));
            queue.close();
        });
        assert_eq!(sum.into_inner(), 500_500);
    }

    #[test]
    fn all_folders_are_looked_into_and_then_it_is_over() {
        // A tree of three levels with ten folders in each.
        let folders = Folders::new();
        folders.push(0);
        let seen = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while let Some(level) = folders.take() {
                        seen.fetch_add(1, Ordering::Relaxed);
                        if level < 3 {
                            (0..10).for_each(|_| folders.push(level + 1));
                        }
                        folders.done();
                    }
                });
            }
        });
        assert_eq!(seen.into_inner(), 1111);
    }
}
