//! When the last channel is lost, everything waits. The next channel logs in anew, and before
//! anything goes on, shares are connected and files are opened again: handles that the server kept
//! (3.2.4.4) are taken up, other files are opened by their path, never made or emptied, and must
//! still be the same. Only then all goes on where it was.
//!
//! A server that kept the handle has lived on, and has all that it confirmed. Of one that did not
//! nobody can tell whether it has: its GUID stays, and the time of its start is zero with most
//! (3.3.3). It may have failed, and keep the length of a file or its last pages without the earlier
//! ones. So only what a FLUSH confirmed before the loss is believed of a file that is opened again;
//! while there is more, nobody hears that it is on storage, nor gives it another name.

use std::sync::Arc;

use super::durable_file_state::{DURABLE_MS, guid};
use super::locked_state::{Calls, Login, Lost, Phase, State, TreeId, TreeRecord};
use super::pending_restores::takes_up;
use super::request_types::{Closed, CreateOptions, Disposition, Durable, Reply, Request};
use super::submitted_request::{Control, Restores};
use super::{ChannelNumber, request_codec, retry_after_loss};
use crate::error::{Error, FileProblem, NtStatus, Operation, Result};
use crate::monotonic_time::Time;
use crate::wire::Header;

/// Whether a session without channels is worth having: the server broke no rule and did not
/// refuse us.
pub(crate) fn is_worth_waiting(cause: Option<&Arc<Error>>) -> bool {
    match cause.map(|cause| &**cause) {
        Some(
            Error::Transport(_)
            | Error::TimedOut { .. }
            | Error::Stalled { .. }
            | Error::HandleWithheld { .. },
        ) => true,
        Some(Error::Refused { status, .. }) => [
            NtStatus::USER_SESSION_DELETED,
            NtStatus::NETWORK_SESSION_EXPIRED,
        ]
        .contains(status),
        _ => false,
    }
}

impl State {
    /// There is no channel left, and there may be one again. What closes something is done: the
    /// server forgets what belonged to a connection.
    pub(crate) fn wait_for_channel(&mut self, login: Arc<Login>) -> Calls {
        self.phase = Phase::Lost(login);
        self.restoring.begin(Vec::new(), Vec::new());
        let mut calls = Calls::new();
        for control in std::mem::take(&mut self.control) {
            match self.close_unheard(&control.request) {
                Some(reply) => calls.push((control.sink, Ok(reply))),
                None => self.control.push_back(control),
            }
        }
        self.later.retain(
            |(_, work)| !matches!(work, Lost::Control(control) if control.restores.is_some()),
        );
        calls
    }

    /// Closes what the server has forgotten anyway; gives the reply, if that is what was asked.
    pub(crate) fn close_unheard(&mut self, request: &Request) -> Option<Reply> {
        if !matches!(self.phase, Phase::Lost(_)) {
            return None;
        }
        match request {
            Request::Close { file } => {
                self.forget_file(*file);
                Some(Reply::Closed(Closed::default()))
            }
            Request::TreeDisconnect { tree } => {
                self.trees.remove(&tree.0);
                Some(Reply::Done)
            }
            Request::AcknowledgeBreak { .. } | Request::Echo => Some(Reply::Done),
            _ => None,
        }
    }

    /// A new channel has logged in.
    pub(crate) fn begin_restoring(&mut self, login: Arc<Login>) {
        for file in self.files.values_mut() {
            file.is_open = false;
            file.at_risk |= file.flushed < file.changes;
        }
        let files = self.files.iter().filter(|(_, file)| file.gone.is_none());
        let files = files.map(|(key, _)| *key).rev().collect();
        let trees = self.trees.keys().rev().copied().collect();
        self.restoring.begin(trees, files);
        self.phase = Phase::Restoring(login);
        self.end_restoring_if_over();
    }

    fn end_restoring_if_over(&mut self) {
        if let Phase::Restoring(login) = &self.phase
            && self.restoring.is_over()
        {
            self.restoring.withheld = false;
            self.phase = Phase::Up(Arc::clone(login));
            self.wake_all();
        }
    }

    /// The next request that restores something; files wait for their shares.
    pub(crate) fn next_to_restore(&mut self, number: ChannelNumber) -> Option<Control> {
        let (control, what) = if let Some(control) = self.restoring.retries.pop() {
            let what = control.restores?;
            (control, what)
        } else if let Some(key) = self.restoring.trees.pop() {
            let share = self.trees.get(&key)?.share.to_string();
            let request = Request::TreeConnect { share };
            (
                Control::own(request, Some(Restores::Tree(key))),
                Restores::Tree(key),
            )
        } else if self.trees_are_under_way() {
            return None;
        } else {
            self.next_file()?
        };
        self.restoring.asked.push((number, what));
        Some(control)
    }

    fn trees_are_under_way(&self) -> bool {
        let mut under_way = self.restoring.asked.iter();
        under_way.any(|(_, what)| matches!(what, Restores::Tree(_)))
    }

    fn next_file(&mut self) -> Option<(Control, Restores)> {
        while let Some(key) = self.restoring.files.pop() {
            if let Some(request) = self.request_for_file(key) {
                let what = Restores::File(key);
                return Some((Control::own(request, Some(what)), what));
            }
        }
        self.end_restoring_if_over();
        None
    }

    /// How to open a file again. `None`: it cannot be.
    fn request_for_file(&mut self, key: u32) -> Option<Request> {
        let gone = self
            .files
            .get(&key)
            .and_then(|file| self.trees.get(&file.tree.0)?.gone.clone());
        let file = self.files.get_mut(&key)?;
        if gone.is_some() {
            file.gone = gone;
            return None;
        }
        if file.listed {
            let path = file.path.to_string();
            let problem = FileProblem::ListingCut;
            file.gone = Some(Error::FileChanged { path, problem });
            return None;
        }
        let mut options = CreateOptions {
            disposition: Disposition::Open,
            allocation_bytes: None,
            ..file.options.clone()
        };
        if let (true, Some(Durable::Request { create_guid, .. })) = (file.durable, options.durable)
        {
            let file = file.id;
            options.durable = Some(Durable::Reconnect { create_guid, file });
            options.disk_id = false;
        } else if let Some(Durable::Request { create_guid, .. }) = &mut options.durable {
            self.next_guid += 1;
            *create_guid = guid(create_guid, self.next_guid);
            file.options.durable = options.durable;
        }
        Some(Request::Create {
            tree: file.tree,
            path: file.path.to_string(),
            options,
        })
    }

    /// Something cannot even be asked for.
    pub(crate) fn cannot_restore(
        &mut self,
        number: ChannelNumber,
        control: &Control,
        error: Error,
    ) {
        let Some(what) = control.restores else {
            return;
        };
        self.restoring
            .asked
            .retain(|entry| *entry != (number, what));
        match what {
            Restores::Tree(key) => {
                if let Some(tree) = self.trees.get_mut(&key) {
                    tree.gone = Some(error);
                }
            }
            Restores::File(key) => {
                if let Some(file) = self.files.get_mut(&key) {
                    file.gone = Some(error);
                }
            }
        }
        self.end_restoring_if_over();
    }

    /// Something was restored, or cannot be.
    pub(crate) fn restored(
        &mut self,
        number: ChannelNumber,
        mut control: Control,
        what: Restores,
        (header, message): (&Header, &mut Vec<u8>),
        now: Time,
    ) -> Result<()> {
        let mut under_way = self.restoring.asked.iter();
        if let Some(place) = under_way.position(|entry| *entry == (number, what)) {
            self.restoring.asked.swap_remove(place);
        }
        if self.is_not_yet(what, header.status, now)
            && let Some(wait) = control.tries.refused()
        {
            self.restoring.ask_for_handle(what, &mut control.request);
            self.restoring.put_off += 1;
            self.put_off(now.after(wait), Lost::Control(control));
            return Ok(());
        }
        match what {
            Restores::Tree(key) => self.restored_tree(key, header, message)?,
            Restores::File(key)
                if takes_up(&control.request) && header.status != NtStatus::SUCCESS =>
            {
                self.check_withheld(key)?;
                self.open_by_path(key, control);
            }
            Restores::File(key) => self.restored_file(key, &control.request, header, message)?,
        }
        self.end_restoring_if_over();
        self.wake_all();
        Ok(())
    }

    /// Samba 4.17 refuses a handle whose last WRITE was done after its connection was lost, and has made it one of the
    /// new connection by then. For as long as that lives it is in the way of whoever opens the file without sharing it,
    /// which may be long after this; nobody answers for its lease, so that each such open takes the server 70 seconds to
    /// refuse. So that connection is ended, once for a loss. It has to be the only one: a process of Samba
    /// serves all of a client.
    fn check_withheld(&mut self, key: u32) -> Result<()> {
        if let Some(file) = self.files.get(&key)
            && file.changed
            && self.channels_up().len() == 1
            && !std::mem::replace(&mut self.restoring.withheld, true)
        {
            let path = file.path.to_string();
            return Err(Error::HandleWithheld { path });
        }
        Ok(())
    }

    /// Whether the server may think otherwise of it in a while.
    fn is_not_yet(&mut self, what: Restores, status: NtStatus, now: Time) -> bool {
        match what {
            // a server that has just been started may not have all of its disks yet
            Restores::Tree(_) if status == NtStatus::BAD_NETWORK_NAME => {
                let limit = now.after(self.restore_time_max);
                now < *self.restoring.shares_until.get_or_insert(limit)
            }
            // it may not have noticed yet that the old handle is gone
            Restores::File(_) if retry_after_loss::is_held(status) => true,
            _ => retry_after_loss::is_not_ready(status),
        }
    }

    fn restored_tree(&mut self, key: u32, header: &Header, message: &[u8]) -> Result<()> {
        let Some(share) = self.trees.get(&key).map(|tree| tree.share.to_string()) else {
            return Ok(());
        };
        let connected = match header.status {
            NtStatus::SUCCESS => request_codec::tree_connected(self, &share, header, message)?,
            status => Err(Error::refused(
                Operation::ReconnectShare.of(share.as_str()),
                status,
            )),
        };
        let record = match connected {
            Ok((id, _)) => TreeRecord {
                id,
                share: share.into(),
                gone: None,
            },
            Err(error) => TreeRecord {
                id: TreeId::NONE,
                share: share.into(),
                gone: Some(error),
            },
        };
        self.trees.insert(key, record);
        Ok(())
    }

    fn restored_file(
        &mut self,
        key: u32,
        request: &Request,
        header: &Header,
        message: &[u8],
    ) -> Result<()> {
        let Some(file) = self.files.get_mut(&key) else {
            return Ok(());
        };
        let Request::Create { options, .. } = request else {
            return Ok(());
        };
        if header.status == NtStatus::SUCCESS {
            let (id, created) = request_codec::file_created(message)?;
            self.restoring.handles.remove(&key);
            let taken_up = takes_up(request);
            if let Some(Durable::Reconnect { create_guid, .. }) = options.durable {
                // an open by path between had one of its own
                file.options.durable = Some(Durable::Request {
                    create_guid,
                    timeout_ms: DURABLE_MS,
                });
            }
            let problem = if taken_up {
                None
            } else {
                file.difference(&created)
            };
            file.id = id;
            file.is_open = true;
            file.durable = taken_up || created.durable_timeout_ms.is_some();
            file.in_doubt |= file.at_risk && !taken_up;
            file.at_risk = false;
            if let Some(problem) = problem {
                let path = file.path.to_string();
                file.gone = Some(Error::FileChanged { path, problem });
            }
            return Ok(());
        }
        let missing = [
            NtStatus::OBJECT_NAME_NOT_FOUND,
            NtStatus::OBJECT_PATH_NOT_FOUND,
        ];
        if missing.contains(&header.status)
            && let Some(path) = file.path_in_doubt.take()
        {
            file.path = path;
            self.restoring.files.push(key);
        } else {
            let asked = Operation::Reopen.of(file.path.to_string());
            file.gone = Some(Error::refused(asked, header.status));
        }
        Ok(())
    }

    /// The server has not kept the handle of a file, or does not know yet that it has.
    fn open_by_path(&mut self, key: u32, mut refused: Control) {
        let Some(file) = self.files.get_mut(&key) else {
            return;
        };
        file.durable = false;
        if let Some(request) = self.request_for_file(key) {
            let handle = std::mem::replace(&mut refused.request, request);
            self.restoring.handles.insert(key, handle);
            self.restoring.retries.push(refused);
        }
    }
}
