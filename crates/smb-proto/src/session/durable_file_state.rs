//! What is noted of a file while all is well, so that it can be opened again once all channels were lost.

use super::locked_state::{FileRecord, LeaseRecord, State};
use super::request_types::{
    Access, CreateOptions, Created, Disposition, Durable, Lease, Request, SetInformation,
};
use super::{Dialect, FileKey, TreeKey};
use crate::error::FileProblem;
use crate::wire::{FileId, capability, lease_state};

/// How long a server is asked to keep a handle: more than reconnecting may take.
pub(crate) const DURABLE_MS: u32 = 120_000;
/// Read data, write data, append data.
const DATA_RIGHTS: u32 = 0x7;

impl State {
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
        self.restoring.forget(key.0);
        let file = self.files.remove(&key.0);
        if let Some(lease) = file.and_then(|file| file.options.lease) {
            self.leases.remove(&lease.key);
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
pub(crate) fn guid(base: &[u8; 16], number: u64) -> [u8; 16] {
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

    pub(crate) fn lease_key(&self) -> Option<[u8; 16]> {
        self.options.lease.map(|lease| lease.key)
    }

    /// Why a file that was opened again is not the one it was, if so.
    pub(crate) fn difference(&self, now: &Created) -> Option<FileProblem> {
        const FOLDER: u32 = 0x10;
        let before = &self.created;
        let number = |created: &Created| created.disk_id.filter(|(file, _)| *file != 0);
        let other = match (number(before), number(now)) {
            // the volume's may be another one when the server has been started anew
            (Some((before, _)), Some((now, _))) => before != now,
            _ => before.times.creation != now.times.creation,
        };
        if other || (before.attributes ^ now.attributes) & FOLDER != 0 {
            return Some(FileProblem::Replaced);
        }
        if self.changed {
            return (now.size < self.confirmed_bytes).then_some(FileProblem::WritesLost);
        }
        let same = now.size == before.size && now.times.write == before.times.write;
        (!same).then_some(FileProblem::Changed)
    }
}
