//! What is still to be restored once a channel has logged in anew.

use std::collections::BTreeMap;

use super::ChannelNumber;
use super::request_types::{CreateOptions, Durable, Request};
use super::submitted_request::{Control, Restores};
use crate::monotonic_time::Time;

/// What is still to be restored.
#[derive(Default)]
pub(crate) struct Restoring {
    /// Last first.
    pub(super) trees: Vec<u32>,
    pub(super) files: Vec<u32>,
    /// What the server was not ready for.
    pub(super) retries: Vec<Control>,
    /// So many of that wait for their time.
    pub(super) put_off: usize,
    /// A share that is not there may come until then.
    pub(super) shares_until: Option<Time>,
    pub(super) asked: Vec<(ChannelNumber, Restores)>,
    /// Requests for handles that the server refused to give back, by file.
    pub(super) handles: BTreeMap<u32, Request>,
    /// Whether the server refused a handle and keeps it, so that one login more was in order.
    pub(super) withheld: bool,
}

impl Restoring {
    /// Begins anew. Handles that were refused once may be had by now.
    pub(super) fn begin(&mut self, trees: Vec<u32>, files: Vec<u32>) {
        *self = Self {
            trees,
            files,
            handles: std::mem::take(&mut self.handles),
            withheld: self.withheld,
            ..Self::default()
        };
    }

    /// Asks for the handle again where the open by path was refused: a server that had not noticed yet that the
    /// connection was lost did not give the handle back, and keeps it since, so that it is in the way itself.
    pub(super) fn ask_for_handle(&self, what: Restores, request: &mut Request) {
        if let Restores::File(key) = what
            && !takes_up(request)
            && let Some(handle) = self.handles.get(&key)
        {
            *request = handle.clone();
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.trees.is_empty()
            && self.files.is_empty()
            && self.retries.is_empty()
            && self.put_off == 0
            && self.asked.is_empty()
    }

    /// A channel is gone: what it restored is to be restored by another one.
    pub(crate) fn leave(&mut self, number: ChannelNumber) {
        let (gone, stay) = std::mem::take(&mut self.asked)
            .into_iter()
            .partition(|(channel, _)| *channel == number);
        self.asked = stay;
        let gone: Vec<(ChannelNumber, Restores)> = gone;
        for (_, what) in gone {
            match what {
                Restores::Tree(key) => self.trees.push(key),
                Restores::File(key) => self.files.push(key),
            }
        }
    }

    /// It was not done, and is to be asked for again.
    pub(crate) fn expired(&mut self, number: ChannelNumber, control: Control) {
        self.asked
            .retain(|(channel, what)| *channel != number || Some(*what) != control.restores);
        self.retries.push(control);
    }

    /// A file is closed.
    pub(crate) fn forget(&mut self, file: u32) {
        self.handles.remove(&file);
    }

    /// The time has come for something that the server was not ready for.
    pub(crate) fn requeue(&mut self, control: Control) {
        self.put_off = self.put_off.saturating_sub(1);
        self.retries.push(control);
    }
}

/// Whether a request asks for a handle that the server has kept (3.2.4.4).
pub(super) fn takes_up(request: &Request) -> bool {
    matches!(
        request,
        Request::Create {
            options: CreateOptions {
                durable: Some(Durable::Reconnect { .. }),
                ..
            },
            ..
        }
    )
}
