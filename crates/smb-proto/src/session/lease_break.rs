//! Leases: what the server takes back is given back (3.2.5.19).

use super::locked_state::State;
use super::request_types::Request;
use super::submitted_request::Control;
use crate::wire::{BreakNotice, LeaseBreakNotice, lease_state};

impl State {
    /// The server takes something back, and waits until we agree (3.2.5.19).
    pub(crate) fn broken(&mut self, notice: &BreakNotice) {
        // we hold no oplocks
        let BreakNotice::Lease(notice) = notice else {
            return;
        };
        let Some(lease) = self.leases.get_mut(&notice.key) else {
            return;
        };
        if notice.epoch != 0 && lease.epoch == Some(notice.epoch) {
            return;
        }
        lease.epoch = Some(notice.epoch);
        let tree = lease.tree;
        if notice.new & lease_state::HANDLE == 0 {
            // the server keeps no such handle
            let mut files = self.files.values_mut();
            let holder = files.find(|file| file.lease_key() == Some(notice.key));
            if let Some(file) = holder {
                file.durable = false;
            }
        }
        if notice.flags & LeaseBreakNotice::ACKNOWLEDGE != 0 {
            let mut waiting = self.control.iter_mut();
            let waiting = waiting.find_map(|control| match &mut control.request {
                Request::AcknowledgeBreak { key, state, .. } if *key == notice.key => Some(state),
                _ => None,
            });
            // one that waits says all there is to say, however often the server asks for it
            if let Some(state) = waiting {
                *state = notice.new;
                return;
            }
            let request = Request::AcknowledgeBreak {
                tree,
                key: notice.key,
                state: notice.new,
            };
            self.control.push_front(Control::own(request, None));
            self.wake_idlest();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::locked_state::LeaseRecord;
    use crate::session::{SessionSettings, TreeKey};

    #[test]
    fn a_lease_that_is_asked_for_again_and_again_is_given_back_once() {
        let mut state = State::new(&SessionSettings::new("server", [1; 16]));
        let (key, tree) = ([7; 16], TreeKey(1));
        state.leases.insert(key, LeaseRecord { tree, epoch: None });
        for epoch in 1..=10_000 {
            state.broken(&BreakNotice::Lease(LeaseBreakNotice {
                epoch,
                flags: LeaseBreakNotice::ACKNOWLEDGE,
                key,
                current: 7,
                new: u32::from(epoch % 2),
            }));
        }
        assert_eq!(state.control.len(), 1);
        let request = &state.control[0].request;
        assert!(
            matches!(request, Request::AcknowledgeBreak { state: 0, .. }),
            "{request:?}"
        );
    }
}
