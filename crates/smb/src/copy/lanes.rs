//! More sessions for small files. What such a file costs is mostly the server's work, and servers
//! have one processor at a time work on what comes over one session: Samba has a process for each.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::place::Place;
use crate::session::Session;
use crate::tree::Tree;

/// Sessions beside the one that is there.
const SESSIONS: usize = 1;

/// The sessions of one copy. There are none before [`Self::open_once`], and where the server does not
/// want more than one.
#[derive(Default)]
pub(super) struct Lanes {
    begun: AtomicBool,
    lanes: OnceLock<Vec<Lane>>,
    /// One was lost.
    over: AtomicBool,
}

/// One session more for each share.
pub(super) struct Lane(Vec<Again>);

/// A share over another session.
struct Again {
    original: Tree,
    tree: Tree,
    /// Ends after the share.
    _session: Session,
}

impl Lanes {
    /// Opens them for the shares among these places, the first time that it is called.
    pub(super) fn open_once(&self, places: [&Place; 2]) {
        if self.begun.swap(true, Ordering::Relaxed) {
            return;
        }
        let lanes = (0..SESSIONS).map_while(|_| Lane::open(places));
        // Nobody else gets here.
        let _ = self.lanes.set(lanes.collect());
    }

    /// The lane of one of many workers; none: the session that is there anyway.
    pub(super) fn of_worker(&self, worker: usize) -> Option<&Lane> {
        let lanes = self.lanes.get()?;
        if self.over.load(Ordering::Relaxed) {
            return None;
        }
        lanes.get((worker % (lanes.len() + 1)).checked_sub(1)?)
    }

    /// Uses none any more.
    pub(super) fn give_up(&self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

impl Lane {
    /// None where it cannot be had: the copy does without.
    fn open(places: [&Place; 2]) -> Option<Self> {
        let mut shares: Vec<Again> = Vec::new();
        for place in places {
            let Place::Share { tree, .. } = place else {
                continue;
            };
            if !shares.iter().any(|share| share.original.is_identical(tree)) {
                let (session, again) = Session::beside(tree).ok()?;
                shares.push(Again {
                    original: tree.clone(),
                    tree: again,
                    _session: session,
                });
            }
        }
        Some(Self(shares))
    }

    /// The same place over this lane.
    pub(super) fn place(&self, place: &Place) -> Place {
        let Place::Share { tree, path } = place else {
            return place.clone();
        };
        let again = self.0.iter().find(|it| it.original.is_identical(tree));
        Place::Share {
            tree: again.map_or(tree, |again| &again.tree).clone(),
            path: path.clone(),
        }
    }
}
