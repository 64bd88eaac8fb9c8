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

use super::control::{self, Control};
use super::request::{
    Access, CreateOptions, Created, Disposition, Durable, Lease, Reply, Request, SetInformation,
};
use super::retry::{self, Lost, Tries};
use super::state::{Calls, FileRecord, Login, Phase, State, TreeId, TreeRecord};
use super::{ChannelNumber, Dialect, FileKey, Sink, TreeKey};
use crate::error::{Error, NtStatus, Result};
use crate::time::Time;
use crate::wire::{BreakNotice, FileId, Header, LeaseBreakNotice, capability, lease_state};

/// How long a server is asked to keep a handle: more than reconnecting may take.
const DURABLE_MS: u32 = 120_000;
/// Read data, write data, append data.
const DATA_RIGHTS: u32 = 0x7;

/// What a request restores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restores {
    Tree(u32),
    File(u32),
}

/// What is still to be restored.
#[derive(Default)]
pub(crate) struct Restoring {
    /// Last first.
    trees: Vec<u32>,
    files: Vec<u32>,
    /// What the server was not ready for.
    again: Vec<Control>,
    /// So many of that wait for their time.
    put_off: usize,
    /// A share that is not there may come until then.
    shares_until: Option<Time>,
    under_way: Vec<(ChannelNumber, Restores)>,
}

impl Restoring {
    fn is_over(&self) -> bool {
        self.trees.is_empty()
            && self.files.is_empty()
            && self.again.is_empty()
            && self.put_off == 0
            && self.under_way.is_empty()
    }

    /// A channel is gone: what it restored is to be restored by another one.
    pub(crate) fn leave(&mut self, number: ChannelNumber) {
        let (gone, stay) = std::mem::take(&mut self.under_way)
            .into_iter()
            .partition(|(channel, _)| *channel == number);
        self.under_way = stay;
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
        self.under_way
            .retain(|(channel, what)| *channel != number || Some(*what) != control.restores);
        self.again.push(control);
    }

    /// The time has come for something that the server was not ready for.
    pub(crate) fn requeue(&mut self, control: Control) {
        self.put_off = self.put_off.saturating_sub(1);
        self.again.push(control);
    }
}

/// For what the session asks for by itself.
struct Nobody;

impl Sink for Nobody {
    fn done(&self, _: Result<Reply>) {}
}

/// Whether a session without channels is worth having: the server broke no rule and did not
/// refuse us.
pub(crate) fn is_worth_waiting(cause: Option<&Arc<Error>>) -> bool {
    match cause.map(|cause| &**cause) {
        Some(Error::Transport(_) | Error::TimedOut { .. } | Error::Stalled { .. }) => true,
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
        self.restoring = Restoring::default();
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
                Some(Reply::Closed { size: None })
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
        self.restoring = Restoring {
            trees: self.trees.keys().rev().copied().collect(),
            files: files.map(|(key, _)| *key).rev().collect(),
            ..Restoring::default()
        };
        self.phase = Phase::Restoring(login);
        self.end_restoring_if_over();
    }

    fn end_restoring_if_over(&mut self) {
        if let Phase::Restoring(login) = &self.phase
            && self.restoring.is_over()
        {
            self.phase = Phase::Up(Arc::clone(login));
            self.wake_all();
        }
    }

    /// The next request that restores something; files wait for their shares.
    pub(crate) fn next_to_restore(&mut self, number: ChannelNumber) -> Option<Control> {
        let (control, what) = if let Some(control) = self.restoring.again.pop() {
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
        self.restoring.under_way.push((number, what));
        Some(control)
    }

    fn trees_are_under_way(&self) -> bool {
        let mut under_way = self.restoring.under_way.iter();
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
            let problem = "a listing cannot be continued";
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
            .under_way
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
        let mut under_way = self.restoring.under_way.iter();
        if let Some(place) = under_way.position(|entry| *entry == (number, what)) {
            self.restoring.under_way.swap_remove(place);
        }
        if self.is_not_yet(what, header.status, now)
            && let Some(wait) = control.tries.refused()
        {
            self.restoring.put_off += 1;
            self.put_off(now.after(wait), Lost::Control(control));
            return Ok(());
        }
        match what {
            Restores::Tree(key) => self.restored_tree(key, header, message)?,
            Restores::File(key) => self.restored_file(key, &control.request, header, message)?,
        }
        self.end_restoring_if_over();
        self.wake_all();
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
            Restores::File(_) if status == NtStatus::SHARING_VIOLATION => true,
            _ => retry::is_not_ready(status),
        }
    }

    fn restored_tree(&mut self, key: u32, header: &Header, message: &[u8]) -> Result<()> {
        let Some(share) = self.trees.get(&key).map(|tree| tree.share.to_string()) else {
            return Ok(());
        };
        let connected = match header.status {
            NtStatus::SUCCESS => control::tree_connected(self, &share, header, message)?,
            status => Err(Error::Refused {
                doing: format!("connecting to share `{share}` again"),
                status,
            }),
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
        let taken_up = matches!(options.durable, Some(Durable::Reconnect { .. }));
        if header.status == NtStatus::SUCCESS {
            let (id, created) = control::file_created(message)?;
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
        if taken_up {
            // the server has not kept it: by its path
            file.durable = false;
            self.restoring.files.push(key);
        } else if missing.contains(&header.status)
            && let Some(path) = file.path_in_doubt.take()
        {
            file.path = path;
            self.restoring.files.push(key);
        } else {
            file.gone = Some(Error::Refused {
                doing: format!("opening `{}` again", file.path),
                status: header.status,
            });
        }
        Ok(())
    }

    // what is noted while all is well, so that a file can be opened again

    /// Asks for more than the caller did: a handle that outlives its connection where it helps, and
    /// the file's number.
    pub(crate) fn ask_to_keep(&mut self, request: &mut Request, client_guid: [u8; 16]) {
        let (true, Some(login)) = (self.reconnects, self.login()) else {
            return;
        };
        let leases = login.negotiated.dialect >= Dialect::Smb300
            && login.capabilities & capability::LEASING != 0;
        let Request::Create { tree, options, .. } = request else {
            return;
        };
        let again = matches!(options.durable, Some(Durable::Reconnect { .. }));
        options.disk_id |= !again;
        if leases
            && options.lease.is_none()
            && options.durable.is_none()
            && is_worth_keeping(options)
        {
            self.next_guid += 1;
            let key = guid(&client_guid, self.next_guid);
            let state = lease_state::READ | lease_state::HANDLE;
            options.lease = Some(Lease { key, state });
            // such a handle of the POSIX extensions would come back as one of Windows
            options.durable = options.posix.is_none().then_some(Durable::Request {
                create_guid: key,
                timeout_ms: DURABLE_MS,
            });
        }
        if let Some(lease) = options.lease {
            let record = LeaseRecord {
                tree: *tree,
                epoch: None,
            };
            self.leases.entry(lease.key).or_insert(record);
        }
    }

    /// Notes what changes a file, before the server may have done it.
    pub(crate) fn note_change(&mut self, key: FileKey, what: Option<&SetInformation>) {
        if let Some(file) = self.files.get_mut(&key.0) {
            file.changed = true;
            if let Some(SetInformation::Rename { path, .. }) = what {
                file.path_in_doubt = Some(path.as_str().into());
            }
        }
    }

    /// The same for a request of a chain, if it is one that changes a file.
    pub(crate) fn note_link(&mut self, link: &Request) {
        match link {
            Request::Set { file, what } => self.note_change(*file, Some(what)),
            Request::Store { file, .. } | Request::MakeLink { file, .. } => {
                self.note_change(*file, None);
            }
            _ => {}
        }
    }

    /// Whether a file was found under the very name that it is to get.
    pub(crate) fn was_renamed(&self, request: &Request) -> bool {
        let Request::Set {
            file,
            what: SetInformation::Rename { path, .. },
        } = request
        else {
            return false;
        };
        let file = self.files.get(&file.0);
        file.is_some_and(|file| file.gone.is_none() && !file.in_doubt && *file.path == **path)
    }

    /// Notes what was changed, once the server has done it.
    pub(crate) fn note_changed(&mut self, key: FileKey, what: &SetInformation) {
        let Some(file) = self.files.get_mut(&key.0) else {
            return;
        };
        match what {
            SetInformation::EndOfFile(size) => {
                file.confirmed_bytes = *size;
                file.changes += 1;
            }
            SetInformation::Rename { path, .. } => {
                file.path = path.as_str().into();
                file.path_in_doubt = None;
            }
            SetInformation::Basic { .. }
            | SetInformation::DeleteOnClose(_)
            | SetInformation::Mode(_) => {}
        }
    }

    /// Notes that the server has shown that a file has so many bytes.
    pub(crate) fn note_shown(&mut self, key: FileKey, end: u64) {
        if let Some(file) = self.files.get_mut(&key.0) {
            file.confirmed_bytes = file.confirmed_bytes.max(end);
        }
    }

    /// Notes that the server has confirmed something that was written up to here.
    pub(crate) fn note_written(&mut self, key: FileKey, end: u64) {
        self.note_shown(key, end);
        if let Some(file) = self.files.get_mut(&key.0) {
            file.changes += 1;
        }
    }

    /// How many changes of a file's content the server has confirmed.
    pub(crate) fn changes(&self, key: FileKey) -> u64 {
        self.files.get(&key.0).map_or(0, |file| file.changes)
    }

    /// Notes that so many of them are on storage.
    pub(crate) fn note_flushed(&mut self, key: FileKey, changes: u64) {
        if let Some(file) = self.files.get_mut(&key.0) {
            file.flushed = file.flushed.max(changes);
        }
    }

    pub(crate) fn forget_file(&mut self, key: FileKey) {
        let file = self.files.remove(&key.0);
        if let Some(lease) = file.and_then(|file| file.options.lease) {
            self.leases.remove(&lease.key);
        }
    }
}

impl Control {
    /// Something that the session asks for by itself.
    fn own(request: Request, restores: Option<Restores>) -> Self {
        Self {
            request,
            sink: Arc::new(Nobody),
            tries: Tries::default(),
            restores,
            covers: 0,
        }
    }
}

/// A lease that was asked for.
#[derive(Debug)]
pub(crate) struct LeaseRecord {
    /// Where its file is: what gives it back must name the share (3.2.5.19.2).
    tree: TreeKey,
    /// Counts changes; a server may say each of them on several channels.
    epoch: Option<u16>,
}

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

/// Only an open for data is worth a handle that outlives its connection, and only one that is not
/// to end with it.
fn is_worth_keeping(options: &CreateOptions) -> bool {
    let data = match options.access {
        Access::Read | Access::Write | Access::ReadWrite => true,
        Access::Attributes | Access::Delete => false,
        Access::Mask(mask) => mask & DATA_RIGHTS != 0,
    };
    data && options.folder == Some(false) && !options.delete_on_close && !options.reparse_point
}

/// A number of our own, unique among all clients because the base is random.
fn guid(base: &[u8; 16], number: u64) -> [u8; 16] {
    let mut guid = *base;
    for (byte, counted) in guid[8..].iter_mut().zip(number.to_le_bytes()) {
        *byte = counted;
    }
    guid
}

impl FileRecord {
    /// A file that has just been opened.
    pub(crate) fn new(
        tree: TreeKey,
        id: FileId,
        path: &str,
        options: &CreateOptions,
        created: Created,
    ) -> Self {
        let empties = [Disposition::Truncate, Disposition::CreateOrTruncate];
        Self {
            tree,
            id,
            path: path.into(),
            options: options.clone(),
            created,
            durable: created.durable_timeout_ms.is_some(),
            changed: false,
            confirmed_bytes: 0,
            // what was in it may come back
            changes: u64::from(empties.contains(&options.disposition)),
            flushed: 0,
            at_risk: false,
            in_doubt: false,
            listed: false,
            path_in_doubt: None,
            gone: None,
            is_open: true,
        }
    }

    fn lease_key(&self) -> Option<[u8; 16]> {
        self.options.lease.map(|lease| lease.key)
    }

    /// Why a file that was opened again is not the one it was, if so.
    fn difference(&self, now: &Created) -> Option<&'static str> {
        const FOLDER: u32 = 0x10;
        let before = &self.created;
        let number = |created: &Created| created.disk_id.filter(|(file, _)| *file != 0);
        let other = match (number(before), number(now)) {
            // the volume's may be another one when the server has been started anew
            (Some((before, _)), Some((now, _))) => before != now,
            _ => before.times.creation != now.times.creation,
        };
        if other || (before.attributes ^ now.attributes) & FOLDER != 0 {
            return Some("another file has taken its place");
        }
        if self.changed {
            return (now.size < self.confirmed_bytes).then_some("the server lost what was written");
        }
        let same = now.size == before.size && now.times.write == before.times.write;
        (!same).then_some("somebody has changed it")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::SessionSettings;

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
