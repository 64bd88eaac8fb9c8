//! More sessions. What a small file costs is mostly the server's work, and over a fast link so is what a
//! large one costs; servers have one processor at a time work on what comes over one session: Samba has
//! a process for each. Many files are shared out among the sessions, a very large one is read over all.
//! It is written over all only where signing or encryption is most of the work: the server's system lets
//! one process at a time write to a file, and the others take processor time by waiting.

use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::{Duration, Instant};

use super::place::Place;
use crate::error::Error;
use crate::session::Session;
use crate::signal::{Signal, Stop};
use crate::std_or_shuttle::atomic::{AtomicBool, Ordering};
use crate::tree::Tree;

/// A login takes a few round trips and the server some milliseconds, in which a fast link carries a
/// tenth of this.
const LARGE_BYTES_MIN: u64 = 128 << 20;
/// How long a server may take to notice that a session is gone, and to close what that had open.
const NOTICE_TIME_MAX: Duration = Duration::from_secs(10);
/// When to ask it again.
const NOTICE_WAIT: Duration = Duration::from_millis(100);

/// The sessions of one copy beside the one that is there. There are none before [`Self::open_once`], and
/// where the server does not want more than one.
pub(super) struct ExtraSessions {
    most: usize,
    begun: AtomicBool,
    sessions: OnceLock<Vec<ExtraSession>>,
    /// One was lost.
    over: AtomicBool,
}

/// One session more for each share.
pub(super) struct ExtraSession(Vec<ExtraShare>);

/// A share over another session.
struct ExtraShare {
    original: Tree,
    tree: Tree,
    /// Ends after the share.
    _session: Session,
}

impl ExtraSessions {
    /// Not more than so many sessions in all.
    pub(super) fn new(sessions: usize) -> Self {
        Self {
            most: sessions.saturating_sub(1),
            begun: AtomicBool::new(false),
            sessions: OnceLock::new(),
            over: AtomicBool::new(false),
        }
    }

    /// Opens them for the shares among these places, the first time that it is called.
    pub(super) fn open_once(&self, places: [&Place; 2]) {
        if self.begun.swap(true, Ordering::Relaxed) {
            return;
        }
        let sessions = (0..self.most).map_while(|_| ExtraSession::open(places));
        // Nobody else gets here.
        let _ = self.sessions.set(sessions.collect());
    }

    /// The session of one of many workers; none: the session that is there anyway.
    pub(super) fn of_worker(&self, worker: usize) -> Option<&ExtraSession> {
        let sessions = self.all();
        sessions.get((worker % (sessions.len() + 1)).checked_sub(1)?)
    }

    /// Those that one file of this size is worth.
    pub(super) fn of_large(&self, bytes: u64, places: [&Place; 2]) -> &[ExtraSession] {
        let [from, to] = places;
        let gains = matches!(from, Place::Share { .. }) || is_written_over_all(to);
        if bytes < LARGE_BYTES_MIN || !gains {
            return &[];
        }
        self.open_once(places);
        self.all()
    }

    fn all(&self) -> &[ExtraSession] {
        match self.sessions.get() {
            Some(sessions) if !self.over.load(Ordering::Relaxed) => sessions,
            _ => &[],
        }
    }

    /// What came of something that was done over one of these; where that is lost, what comes of it over
    /// the first session. None of them is used any more then.
    pub(super) fn or_first<T>(
        &self,
        done: Result<T, Error>,
        stop: &Stop,
        mut over_first: impl FnMut() -> Result<T, Error>,
    ) -> Result<T, Error> {
        if !done.as_ref().is_err_and(is_lost) {
            return done;
        }
        self.over.store(true, Ordering::Relaxed);
        let signal = Arc::<Signal>::default();
        let _registration = stop.register(Waker::from(Arc::clone(&signal)));
        let begun = Instant::now();
        loop {
            match over_first() {
                // It is ourselves whom the server takes for another copy.
                Err(Error::Busy { .. }) if begun.elapsed() < NOTICE_TIME_MAX => {}
                done => return done,
            }
            signal.wait_until(Instant::now() + NOTICE_WAIT);
            if stop.is_stopped() {
                return Err(Error::Stopped);
            }
        }
    }
}

/// Whether a session has ended, so that another one may still be well.
const fn is_lost(error: &Error) -> bool {
    matches!(
        error,
        Error::ConnectionLost { .. }
            | Error::Protocol { .. }
            | Error::Unreachable { .. }
            | Error::LoginRefused { .. }
            | Error::GuestOnly { .. }
            | Error::Credentials { .. }
            | Error::Incompatible { .. }
    )
}

/// Whether a file there is better written over all sessions than over one.
pub(super) fn is_written_over_all(to: &Place) -> bool {
    matches!(to, Place::Share { tree, .. } if tree.is_protected())
}

impl ExtraSession {
    /// None where it cannot be had: the copy does without.
    fn open(places: [&Place; 2]) -> Option<Self> {
        let mut shares: Vec<ExtraShare> = Vec::new();
        for place in places {
            let Place::Share { tree, .. } = place else {
                continue;
            };
            if !shares.iter().any(|share| share.original.is_identical(tree)) {
                let (session, again) = Session::open_parallel(tree).ok()?;
                shares.push(ExtraShare {
                    original: tree.clone(),
                    tree: again,
                    _session: session,
                });
            }
        }
        Some(Self(shares))
    }

    /// The same share over this session.
    pub(super) fn tree(&self, tree: &Tree) -> Tree {
        let again = self.0.iter().find(|it| it.original.is_identical(tree));
        again.map_or_else(|| tree.clone(), |again| tree.over(&again.tree))
    }

    /// The same place over this session.
    pub(super) fn place(&self, place: &Place) -> Place {
        match place {
            Place::Local(_) => place.clone(),
            Place::Share { tree, path } => Place::Share {
                tree: self.tree(tree),
                path: path.clone(),
            },
        }
    }
}
