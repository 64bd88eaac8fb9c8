//! CREATE with its contexts, and CLOSE: handles of files and folders.

use super::path_encoding::Paths;
use super::{Prepared, encoded};
use crate::error::Result;
use crate::session::locked_state::{FileRecord, State, TreeId, TreeRecord};
use crate::session::request_types::{
    Access, Closed, CreateOptions, Created, Disposition, Durable, Lease, Reply,
};
use crate::session::{FileKey, TreeKey};
use crate::wire::{
    CloseRequest, CloseResponse, Command, CreateContext, CreateRequest, CreateResponse, DiskId,
    DurableGrant, DurableReconnect, DurableRequest, FileId, HEADER_LENGTH, LeaseContext,
    LeaseVersion2, Message as _, PosixCreateRequest, PosixCreateResponse, context,
};

const READ_ATTRIBUTES: u32 = 0x80;
const DELETE: u32 = 0x1_0000;
const SYNCHRONIZE: u32 = 0x10_0000;
const GENERIC_READ_OF_FILES: u32 = 0x12_0089;
const GENERIC_WRITE_OF_FILES: u32 = 0x12_0116;

pub(super) fn create(tree: &TreeRecord, path: &str, options: &CreateOptions) -> Result<Prepared> {
    let mut access = match options.access {
        Access::Read => GENERIC_READ_OF_FILES,
        Access::Write => GENERIC_WRITE_OF_FILES | READ_ATTRIBUTES,
        Access::ReadWrite => GENERIC_READ_OF_FILES | GENERIC_WRITE_OF_FILES,
        Access::Attributes => READ_ATTRIBUTES | SYNCHRONIZE,
        Access::Delete => DELETE | READ_ATTRIBUTES | SYNCHRONIZE,
        Access::Mask(mask) => mask,
    };
    let mut bits = match options.folder {
        Some(true) => CreateRequest::DIRECTORY_FILE,
        Some(false) => CreateRequest::NON_DIRECTORY_FILE,
        None => 0,
    };
    if options.delete_on_close {
        bits |= CreateRequest::DELETE_ON_CLOSE;
        access |= DELETE;
    }
    for (wanted, bit) in [
        (options.write_through, CreateRequest::WRITE_THROUGH),
        (options.sequential, CreateRequest::SEQUENTIAL_ONLY),
        (options.reparse_point, CreateRequest::OPEN_REPARSE_POINT),
    ] {
        bits |= if wanted { bit } else { 0 };
    }
    let contexts = create_contexts(options);
    let contexts = contexts
        .iter()
        .map(|(name, data)| CreateContext { name, data })
        .collect();
    let message = CreateRequest {
        oplock_level: match options.lease {
            Some(_) => CreateRequest::OPLOCK_LEASE,
            None => 0,
        },
        access,
        attributes: options.attributes,
        share_access: u32::from(options.share_read) | if options.share_write { 6 } else { 0 },
        disposition: match options.disposition {
            Disposition::Open => CreateRequest::OPEN,
            Disposition::Create => CreateRequest::CREATE,
            Disposition::OpenOrCreate => CreateRequest::OPEN_IF,
            Disposition::Truncate => CreateRequest::OVERWRITE,
            Disposition::CreateOrTruncate => CreateRequest::OVERWRITE_IF,
        },
        options: bits,
        name: &Paths::of(options.posix.is_some()).bytes(path)?,
        contexts,
    };
    Ok(Prepared::new(Command::CREATE, tree.id, &message))
}

/// Names and contents.
fn create_contexts(options: &CreateOptions) -> Vec<(&'static [u8], Vec<u8>)> {
    let mut contexts = Vec::new();
    if let Some(bytes) = options.allocation_bytes {
        contexts.push((context::ALLOCATION_SIZE, bytes.to_le_bytes().to_vec()));
    }
    if options.disk_id {
        contexts.push((context::DISK_ID, Vec::new()));
    }
    if let Some(lease) = &options.lease {
        let version_2 = LeaseVersion2 {
            parent_key: [0; 16],
            epoch: 0,
        };
        let lease = LeaseContext {
            key: lease.key,
            state: lease.state,
            flags: 0,
            version_2: Some(version_2),
        };
        contexts.push((context::LEASE, encoded(&lease)));
    }
    match options.durable {
        Some(Durable::Request {
            create_guid,
            timeout_ms,
        }) => {
            let request = DurableRequest {
                timeout_ms,
                flags: 0,
                create_guid,
            };
            contexts.push((context::DURABLE_REQUEST, encoded(&request)));
        }
        Some(Durable::Reconnect { create_guid, file }) => {
            let reconnect = DurableReconnect {
                file,
                create_guid,
                flags: 0,
            };
            contexts.push((context::DURABLE_RECONNECT, encoded(&reconnect)));
        }
        None => {}
    }
    // a handle that is taken up again is what it was
    let takes_up = matches!(options.durable, Some(Durable::Reconnect { .. }));
    if let Some(mode) = options.posix.filter(|_| !takes_up) {
        contexts.push((context::POSIX, encoded(&PosixCreateRequest { mode })));
    }
    contexts
}

/// What a CREATE's reply says, with its contexts.
fn created(response: &CreateResponse<'_>) -> Result<Created> {
    let find = |name: &[u8]| {
        let mut contexts = response.contexts.iter();
        let found = contexts.find(|context| context.name == name);
        found.map(|context| context.data)
    };
    let disk_id = find(context::DISK_ID).map(DiskId::decode).transpose()?;
    let lease = find(context::LEASE).map(LeaseContext::decode).transpose()?;
    let durable = find(context::DURABLE_REQUEST)
        .map(DurableGrant::decode)
        .transpose()?;
    let posix = find(context::POSIX)
        .map(PosixCreateResponse::decode)
        .transpose()?;
    Ok(Created {
        new: response.action == 2,
        times: response.times,
        size: response.size,
        allocation: response.allocation,
        attributes: response.attributes,
        disk_id: disk_id.map(|id| (id.file, id.volume)),
        lease: lease.map(|lease| Lease {
            key: lease.key,
            state: lease.state,
        }),
        durable_timeout_ms: durable.map(|grant| grant.timeout_ms),
        posix: posix.map(|posix| posix.file),
    })
}

/// The reply to a CREATE: the handle, and about the file.
pub(crate) fn file_created(message: &[u8]) -> Result<(FileId, Created)> {
    let body = message.get(HEADER_LENGTH..).unwrap_or(&[]);
    let response = CreateResponse::decode(body)?;
    Ok((response.file, created(&response)?))
}

/// Enters a file that was opened.
pub(super) fn enter(
    state: &mut State,
    tree: TreeKey,
    path: &str,
    options: &CreateOptions,
    message: &[u8],
) -> Result<Reply> {
    let (id, created) = file_created(message)?;
    let record = FileRecord::new(tree, id, path, options, created);
    let key = state.next_key();
    state.files.insert(key, record);
    Ok(Reply::Created(FileKey(key), created))
}

pub(super) fn close((tree_id, file): (TreeId, FileId)) -> Prepared {
    Prepared::new(
        Command::CLOSE,
        tree_id,
        &CloseRequest::giving_attributes(file),
    )
}

/// What a server says of a file with the reply to a CLOSE. Not all say something, and nothing else depends on it.
pub(super) fn closed(message: &[u8], sure: bool) -> Closed {
    let body = message.get(HEADER_LENGTH..).unwrap_or(&[]);
    let reply = CloseResponse::decode(body).ok();
    let reply = reply.filter(|reply| reply.flags & CloseRequest::GIVES_ATTRIBUTES != 0);
    Closed {
        sure,
        size: reply.as_ref().map(|reply| reply.size),
        times: reply
            .map(|reply| reply.times)
            .filter(|times| times.write != 0),
    }
}
