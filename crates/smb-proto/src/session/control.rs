//! From a [`Request`] to a message and from its reply to a [`Reply`].

use std::ops::Range;
use std::sync::Arc;

use super::request::{
    Access, CreateOptions, Created, Disposition, Durable, FsSize, Information, Lease, Listing,
    Posix, QueryInformation, Reply, Request, SetInformation, Share, TreeInformation,
};
use super::restore::Restores;
use super::retry::Tries;
use super::state::{FileRecord, State, TreeId, TreeRecord};
use super::{FileKey, Sink, TreeKey};
use crate::error::{Error, NtStatus, Result};
use crate::plan::ServerInterface;
use crate::wire::{
    self, AllInformation, BasicInformation, Command, CopyChunk, CopyChunks, CopyChunksDone,
    CreateContext, CreateRequest, CreateResponse, DiskId, DispositionInformation, DurableGrant,
    DurableReconnect, DurableRequest, EndOfFileInformation, ExtentsToDuplicate, FileId, FileRange,
    FsAttributeInformation, FsFullSizeInformation, HEADER_LENGTH, Header, InterfaceRecord,
    IoctlRequest, IoctlResponse, LeaseBreakAcknowledgement, LeaseContext, LeaseVersion2, LinkKind,
    LinkTarget, Message, ModeDescriptor, NetworkInterfaces, PosixCreateRequest,
    PosixCreateResponse, PosixInformation, QueryDirectoryRequest, QueryDirectoryResponse,
    QueryInfoRequest, QueryInfoResponse, ReadRequest, ReadResponse, ReferralRequest,
    ReferralResponse, RenameInformation, ResumeKey, SetInfoRequest, StandardInformation,
    TreeConnectRequest, TreeConnectResponse, WriteRequest, WriteResponse, class, context, control,
    utf16,
};

/// Most bytes of one listing; bounds what a reply may make us allocate.
pub(crate) const LISTING_BYTES_MAX: u32 = 1 << 20;
const INTERFACES_BYTES_MAX: u32 = 1 << 16;
const REFERRALS_BYTES_MAX: u32 = 1 << 16;
/// More than the longest path that Unix has.
const LINK_BYTES_MAX: u32 = 1 << 16;
/// Of the 4096 ranges that one credit pays for.
const RANGES_BYTES_MAX: u32 = 1 << 16;

/// A request and who wants to hear of it.
pub(crate) struct Control {
    pub(crate) request: Request,
    pub(crate) sink: Arc<dyn Sink>,
    pub(crate) tries: Tries,
    /// The session itself asks for it, after all channels were lost.
    pub(crate) restores: Option<Restores>,
    /// Of a FLUSH: how many changes of its file were confirmed before it was sent.
    pub(crate) covers: u64,
}

/// A request as a message that lacks only its header.
pub(crate) struct Prepared {
    pub(crate) command: Command,
    pub(crate) tree_id: TreeId,
    pub(crate) body: Vec<u8>,
    /// The larger of what is sent and what may come back; decides the credit charge.
    pub(crate) payload: u32,
}

impl Prepared {
    fn new<'a>(command: Command, tree_id: TreeId, message: &impl Message<'a>) -> Self {
        let mut body = Vec::new();
        message.encode(&mut body);
        Self {
            command,
            tree_id,
            body,
            payload: 0,
        }
    }
}

/// Builds the message, whose reply carries at most `payload_max` bytes; fails when the request names
/// something that is not there.
pub(crate) fn prepare(
    state: &State,
    server: &str,
    request: &Request,
    payload_max: u32,
) -> Result<Prepared> {
    Ok(match request {
        Request::TreeConnect { share } => {
            let path = name_bytes(&format!("\\\\{server}\\{share}"))?;
            let message = TreeConnectRequest { path: &path };
            Prepared::new(Command::TREE_CONNECT, TreeId::NONE, &message)
        }
        Request::TreeDisconnect { tree } => {
            let tree_id = state.tree(*tree)?.id;
            let message = wire::TreeDisconnectRequest;
            Prepared::new(Command::TREE_DISCONNECT, tree_id, &message)
        }
        Request::Create {
            tree,
            path,
            options,
        } => create(state.tree(*tree)?, path, options)?,
        Request::Close { file } => {
            let (tree_id, file) = state.file_to_close(*file)?;
            Prepared::new(
                Command::CLOSE,
                tree_id,
                &wire::CloseRequest::giving_attributes(file),
            )
        }
        Request::Flush { file } => {
            let (tree_id, file) = state.sure_file(*file)?;
            Prepared::new(Command::FLUSH, tree_id, &wire::FlushRequest { file })
        }
        Request::Lock {
            file,
            offset,
            bytes,
            unlock,
        } => lock(state.file(*file)?, *offset, *bytes, *unlock),
        Request::List {
            folder,
            pattern,
            restart,
            bytes_max,
        } => {
            let most = payload_max.min(*bytes_max);
            listing(state, *folder, (pattern, *restart), most)?
        }
        Request::Query { file, what } => query(state.file(*file)?, *what),
        Request::Set { file, what } => {
            let paths = Paths::of(state.is_posix(*file));
            set(place_to_set(state, *file, what)?, what, paths)?
        }
        Request::Fetch {
            file,
            offset,
            bytes_max,
        } => fetch(state.file(*file)?, *offset, *bytes_max),
        Request::Store {
            file,
            offset,
            bytes,
        } => store(state.file(*file)?, *offset, bytes)?,
        Request::Chain(_) => return Err(Error::InvalidRequest("a chain in a chain".into())),
        Request::Interfaces { tree } => interface_list(state.tree(*tree)?.id),
        Request::Referrals { tree, path } => referrals(state.tree(*tree)?.id, path)?,
        Request::ResumeKey { .. }
        | Request::CopyChunks { .. }
        | Request::Clone { .. }
        | Request::SetSparse { .. }
        | Request::Allocated { .. }
        | Request::ReadLink { .. }
        | Request::MakeLink { .. }
        | Request::Transceive { .. }
        | Request::ReadPipe { .. } => file_control_of(state, request)?,
        Request::AcknowledgeBreak {
            tree,
            key,
            state: left,
        } => {
            let left = LeaseBreakAcknowledgement {
                key: *key,
                state: *left,
            };
            Prepared::new(Command::OPLOCK_BREAK, state.tree(*tree)?.id, &left)
        }
        Request::Echo => Prepared::new(Command::ECHO, TreeId::NONE, &wire::EchoRequest),
        Request::Logoff => Prepared::new(Command::LOGOFF, TreeId::NONE, &wire::LogoffRequest),
    })
}

/// Asks for the next part of a folder's list: names like this, from the begin or not.
fn listing(
    state: &State,
    folder: FileKey,
    (pattern, restart): (&str, bool),
    bytes_max: u32,
) -> Result<Prepared> {
    let (tree_id, file) = state.file(folder)?;
    let message = QueryDirectoryRequest {
        class: match state.is_posix(folder) {
            true => class::POSIX,
            false => class::ID_FULL_DIRECTORY,
        },
        flags: match restart {
            true => QueryDirectoryRequest::RESTART_SCANS,
            false => 0,
        },
        file,
        pattern: &name_bytes(pattern)?,
        bytes_max: state
            .transact_bytes_max()
            .min(LISTING_BYTES_MAX)
            .min(bytes_max),
    };
    Ok(Prepared {
        payload: message.bytes_max,
        ..Prepared::new(Command::QUERY_DIRECTORY, tree_id, &message)
    })
}

/// Asks which interfaces the server has.
fn interface_list(tree_id: TreeId) -> Prepared {
    let message = IoctlRequest {
        control: control::QUERY_NETWORK_INTERFACE_INFO,
        file: FileId::NONE,
        input: &[],
        output_max: INTERFACES_BYTES_MAX,
    };
    let prepared = Prepared::new(Command::IOCTL, tree_id, &message);
    Prepared {
        payload: INTERFACES_BYTES_MAX,
        ..prepared
    }
}

/// Asks where something is that a share only refers to.
fn referrals(tree_id: TreeId, path: &str) -> Result<Prepared> {
    /// The newest version that there is.
    const VERSION_MAX: u16 = 4;
    // Longer than any path that is sent.
    name_bytes(path)?;
    let input = encoded(&ReferralRequest {
        version_max: VERSION_MAX,
        path: path.to_owned(),
    });
    let code = control::DFS_GET_REFERRALS;
    let about = (tree_id, FileId::NONE);
    Ok(file_control(about, code, &input, REFERRALS_BYTES_MAX))
}

/// Copies on the server, holes, and pipes.
fn file_control_of(state: &State, request: &Request) -> Result<Prepared> {
    const KEY_BYTES_MAX: u32 = 64;
    const DONE_BYTES_MAX: u32 = 12;
    Ok(match request {
        Request::ResumeKey { file } => {
            let code = control::REQUEST_RESUME_KEY;
            file_control(state.file(*file)?, code, &[], KEY_BYTES_MAX)
        }
        Request::CopyChunks { to, key, chunks } => {
            let input = encoded(&CopyChunks {
                key: *key,
                chunks: chunks.clone(),
            });
            let code = control::COPY_CHUNKS;
            file_control(state.file(*to)?, code, &input, DONE_BYTES_MAX)
        }
        Request::Clone { from, to, range } => {
            let (_, source) = state.file(*from)?;
            let input = encoded(&ExtentsToDuplicate {
                source,
                from: range.start,
                to: range.start,
                length: range.end.saturating_sub(range.start),
            });
            file_control(state.file(*to)?, control::DUPLICATE_EXTENTS, &input, 0)
        }
        Request::SetSparse { file } => {
            file_control(state.file(*file)?, control::SET_SPARSE, &[], 0)
        }
        Request::Allocated { file, range } => {
            let range = range.clone();
            let input = encoded(&FileRange { range });
            let code = control::QUERY_ALLOCATED_RANGES;
            file_control(state.file(*file)?, code, &input, RANGES_BYTES_MAX)
        }
        Request::ReadLink { file } => {
            let code = control::GET_REPARSE_POINT;
            file_control(state.file(*file)?, code, &[], LINK_BYTES_MAX)
        }
        Request::MakeLink { file, target } => {
            let input = encoded(&LinkTarget {
                kind: LinkKind::Relative,
                path: &name_bytes(target)?,
            });
            file_control(state.file(*file)?, control::SET_REPARSE_POINT, &input, 0)
        }
        Request::Transceive {
            pipe,
            input,
            bytes_max,
        } => {
            let code = control::PIPE_TRANSCEIVE;
            file_control(state.file(*pipe)?, code, input, *bytes_max)
        }
        Request::ReadPipe { pipe, bytes_max } => {
            let (tree_id, file) = state.file(*pipe)?;
            let message = ReadRequest {
                length: *bytes_max,
                offset: 0,
                file,
            };
            Prepared {
                payload: *bytes_max,
                ..Prepared::new(Command::READ, tree_id, &message)
            }
        }
        _ => return Err(Error::InvalidRequest("it controls no file".into())),
    })
}

/// An IOCTL on an open file.
fn file_control(
    (tree_id, file): (TreeId, FileId),
    control: u32,
    input: &[u8],
    output_max: u32,
) -> Prepared {
    let message = IoctlRequest {
        control,
        file,
        input,
        output_max,
    };
    Prepared {
        payload: output_max.max(u32::try_from(input.len()).unwrap_or(u32::MAX)),
        ..Prepared::new(Command::IOCTL, tree_id, &message)
    }
}

fn query((tree_id, file): (TreeId, FileId), what: QueryInformation) -> Prepared {
    const BYTES_MAX: u32 = 1024;
    /// What one credit pays for.
    const PATH_BYTES_MAX: u32 = 1 << 16;
    let (kind, class) = match what {
        QueryInformation::Standard => (class::TYPE_FILE, class::FILE_STANDARD),
        QueryInformation::Basic => (class::TYPE_FILE, class::FILE_BASIC),
        QueryInformation::FsSize => (class::TYPE_FILE_SYSTEM, class::FS_FULL_SIZE),
        QueryInformation::FsAttributes => (class::TYPE_FILE_SYSTEM, class::FS_ATTRIBUTE),
        QueryInformation::Path => (class::TYPE_FILE, class::FILE_ALL),
        QueryInformation::Posix => (class::TYPE_FILE, class::POSIX),
    };
    let bytes_max = match what {
        QueryInformation::Path => PATH_BYTES_MAX,
        _ => BYTES_MAX,
    };
    let (additional, input) = (0, &[][..]);
    let message = QueryInfoRequest {
        kind,
        class,
        bytes_max,
        additional,
        file,
        input,
    };
    Prepared::new(Command::QUERY_INFO, tree_id, &message)
}

/// Where to set something of a file, if that makes sense whatever of it may be missing.
fn place_to_set(state: &State, file: FileKey, what: &SetInformation) -> Result<(TreeId, FileId)> {
    match what {
        // who gives a name to what was written takes it for complete
        SetInformation::Rename { .. } => state.sure_file(file),
        SetInformation::DeleteOnClose(_) => state.file_to_remove(file),
        SetInformation::EndOfFile(_) | SetInformation::Basic { .. } | SetInformation::Mode(_) => {
            state.file(file)
        }
    }
}

fn set((tree_id, file): (TreeId, FileId), what: &SetInformation, paths: Paths) -> Result<Prepared> {
    let (class, data) = set_information(what, paths)?;
    let (kind, additional) = match what {
        SetInformation::Mode(_) => (class::TYPE_SECURITY, class::SECURITY_ACCESS),
        _ => (class::TYPE_FILE, 0),
    };
    let message = SetInfoRequest {
        kind,
        class,
        additional,
        file,
        data: &data,
    };
    Ok(Prepared::new(Command::SET_INFO, tree_id, &message))
}

fn fetch((tree_id, file): (TreeId, FileId), offset: u64, bytes_max: u32) -> Prepared {
    let length = bytes_max.min(Request::SMALL_BYTES_MAX);
    let message = ReadRequest {
        length,
        offset,
        file,
    };
    Prepared::new(Command::READ, tree_id, &message)
}

fn store((tree_id, file): (TreeId, FileId), offset: u64, data: &[u8]) -> Result<Prepared> {
    let small = Request::SMALL_BYTES_MAX as usize;
    if data.is_empty() || data.len() > small {
        let problem = format!("{} bytes to be written at once", data.len());
        return Err(Error::InvalidRequest(problem));
    }
    let flags = 0;
    let message = WriteRequest {
        offset,
        file,
        flags,
        data,
    };
    Ok(Prepared::new(Command::WRITE, tree_id, &message))
}

/// A path in the form of the wire.
fn name_bytes(path: &str) -> Result<Vec<u8>> {
    let bytes = utf16::encode(path);
    if u16::try_from(bytes.len()).is_err() {
        return Err(Error::InvalidRequest("the path is too long".into()));
    }
    Ok(bytes)
}

/// What parts the names of a path in a share.
#[derive(Clone, Copy)]
enum Paths {
    /// `\`, and `/` is taken for it.
    Windows,
    /// `/` alone, as the POSIX extensions have it: `\` is a letter like others.
    Unix,
}

impl Paths {
    fn of(posix: bool) -> Self {
        match posix {
            true => Self::Unix,
            false => Self::Windows,
        }
    }

    /// A path in a share in the form of the wire.
    fn bytes(self, path: &str) -> Result<Vec<u8>> {
        match self {
            Self::Windows => name_bytes(path.replace('/', "\\").trim_start_matches('\\')),
            Self::Unix => name_bytes(path.trim_start_matches('/')),
        }
    }
}

const READ_ATTRIBUTES: u32 = 0x80;
const DELETE: u32 = 0x1_0000;
const SYNCHRONIZE: u32 = 0x10_0000;
const GENERIC_READ_OF_FILES: u32 = 0x12_0089;
const GENERIC_WRITE_OF_FILES: u32 = 0x12_0116;

/// One range of a file, taken or given back.
fn lock((tree_id, file): (TreeId, FileId), offset: u64, length: u64, unlock: bool) -> Prepared {
    let message = wire::LockRequest {
        file,
        offset,
        length,
        flags: match unlock {
            true => wire::LOCK_UNLOCK,
            false => wire::LOCK_EXCLUSIVE,
        },
    };
    Prepared::new(Command::LOCK, tree_id, &message)
}

fn create(tree: &TreeRecord, path: &str, options: &CreateOptions) -> Result<Prepared> {
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

fn encoded<'a>(message: &impl Message<'a>) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}

fn set_information(what: &SetInformation, paths: Paths) -> Result<(u8, Vec<u8>)> {
    let mut data = Vec::new();
    let class = match what {
        SetInformation::EndOfFile(size) => {
            EndOfFileInformation { size: *size }.encode(&mut data);
            class::FILE_END_OF_FILE
        }
        SetInformation::Basic { times, attributes } => {
            BasicInformation {
                times: *times,
                attributes: *attributes,
            }
            .encode(&mut data);
            class::FILE_BASIC
        }
        SetInformation::Rename { path, replace } => {
            let name = &paths.bytes(path)?;
            RenameInformation {
                replace: *replace,
                name,
            }
            .encode(&mut data);
            class::FILE_RENAME
        }
        SetInformation::DeleteOnClose(delete) => {
            DispositionInformation { delete: *delete }.encode(&mut data);
            class::FILE_DISPOSITION
        }
        SetInformation::Mode(mode) => {
            let mode = mode & Posix::ACCESS;
            ModeDescriptor { mode }.encode(&mut data);
            // security has no classes
            0
        }
    };
    Ok((class, data))
}

/// What a request is about, for people.
pub(super) fn describe(state: &State, request: &Request) -> String {
    match request {
        Request::TreeConnect { share } => format!("connecting to share `{share}`"),
        Request::TreeDisconnect { .. } => "disconnecting from a share".into(),
        Request::Create { path, .. } => format!("opening `{path}`"),
        Request::Close { file } => format!("closing `{}`", state.path(*file)),
        Request::Flush { file } => format!("flushing `{}`", state.path(*file)),
        Request::Lock { file, .. } => format!("locking `{}`", state.path(*file)),
        Request::List { folder, .. } => format!("listing `{}`", state.path(*folder)),
        Request::Query { file, .. } => format!("asking about `{}`", state.path(*file)),
        Request::Set { file, .. } => format!("changing `{}`", state.path(*file)),
        Request::Fetch { file, .. } => format!("reading `{}`", state.path(*file)),
        Request::Store { file, .. } => format!("writing `{}`", state.path(*file)),
        Request::Chain(links) => links
            .first()
            .map_or_else(String::new, |link| describe(state, link)),
        Request::Interfaces { .. } => "asking for its interfaces".into(),
        Request::Referrals { path, .. } => format!("asking where `{path}` is"),
        Request::ResumeKey { file } => format!("naming `{}` to copy it", state.path(*file)),
        Request::CopyChunks { to, .. } => format!("copying into `{}`", state.path(*to)),
        Request::Clone { to, .. } => format!("cloning into `{}`", state.path(*to)),
        Request::SetSparse { file } => format!("allowing holes in `{}`", state.path(*file)),
        Request::Allocated { file, .. } => format!("asking for holes of `{}`", state.path(*file)),
        Request::ReadLink { file } => format!("asking where `{}` leads", state.path(*file)),
        Request::MakeLink { file, .. } => format!("making `{}` a link", state.path(*file)),
        Request::Transceive { pipe, .. } | Request::ReadPipe { pipe, .. } => {
            format!("talking to the pipe `{}`", state.path(*pipe))
        }
        Request::AcknowledgeBreak { .. } => "giving a lease back".into(),
        Request::Echo => "a sign of life".into(),
        Request::Logoff => "logging off".into(),
    }
}

/// Understands the reply and enters what it says into the tables. `Err` inside: the request
/// failed. `Err` outside: the channel cannot go on.
pub(crate) fn conclude(
    state: &mut State,
    request: &Request,
    header: &Header,
    message: &mut Vec<u8>,
) -> Result<Result<Reply>> {
    if let Request::Close { file } = request {
        // whatever the server says, the handle is of no use any more
        let doing = describe(state, request);
        state.forget_file(*file);
        return Ok(match header.status {
            NtStatus::SUCCESS => Ok(Reply::Closed {
                size: size_when_closed(message),
            }),
            // It is closed, by whomever. Linux's own server sometimes says so of a file that was open until then.
            NtStatus::FILE_CLOSED => Ok(Reply::Closed { size: None }),
            status => Err(Error::Refused { doing, status }),
        });
    }
    match (header.status, request) {
        (NtStatus::SUCCESS, _) => match success(state, request, header, message) {
            // without what it would have said, a fact is missing, and no more
            Err(error) if is_advisory(request) => Ok(Err(error)),
            done => done,
        },
        // what does not fit is read next
        (
            NtStatus::BUFFER_OVERFLOW,
            Request::Transceive { .. } | Request::ReadPipe { .. } | Request::Allocated { .. },
        ) => success(state, request, header, message),
        (NtStatus::INVALID_PARAMETER, Request::CopyChunks { .. })
            if let Some(limits) = copy_limits(message) =>
        {
            Ok(Ok(Reply::CopyLimits(limits)))
        }
        (NtStatus::END_OF_FILE, Request::Fetch { .. }) => Ok(Ok(Reply::Bytes(Vec::new()))),
        (NtStatus::NO_MORE_FILES | NtStatus::NO_SUCH_FILE, Request::List { .. }) => {
            Ok(Ok(Reply::Listing(None)))
        }
        (
            NtStatus::NOT_SUPPORTED | NtStatus::INVALID_DEVICE_REQUEST,
            Request::Interfaces { .. },
        ) => Ok(Ok(Reply::Interfaces(Vec::new()))),
        (status, _) => Ok(Err(Error::Refused {
            doing: describe(state, request),
            status,
        })),
    }
}

/// The length that a server gives with the reply to a CLOSE. Not all do, and nothing else depends on it.
fn size_when_closed(message: &[u8]) -> Option<u64> {
    let reply = wire::CloseResponse::decode(message.get(HEADER_LENGTH..)?).ok()?;
    (reply.flags & wire::CloseRequest::GIVES_ATTRIBUTES != 0).then_some(reply.size)
}

/// Whether a copy is the same, and only slower or less explained, without the answer. An answer to such a
/// request that makes no sense costs the fact and not the channel: servers are known that put together
/// everything else well.
fn is_advisory(request: &Request) -> bool {
    match request {
        Request::Query { what, .. } => matches!(
            what,
            QueryInformation::FsSize | QueryInformation::FsAttributes | QueryInformation::Path
        ),
        Request::Interfaces { .. }
        | Request::Referrals { .. }
        | Request::ResumeKey { .. }
        | Request::Allocated { .. }
        | Request::ReadLink { .. } => true,
        _ => false,
    }
}

/// A part of a folder's list.
fn listed(
    state: &mut State,
    folder: FileKey,
    bytes_max: u32,
    message: &mut Vec<u8>,
) -> Result<Listing> {
    let posix = state.is_posix(folder);
    if let Some(record) = state.files.get_mut(&folder.0) {
        record.listed = true;
    }
    let body = message.get(HEADER_LENGTH..).unwrap_or(&[]);
    let length = QueryDirectoryResponse::decode(body)?.data.len();
    // a listing of nothing would be asked for again without end
    if length == 0 || length > bytes_max as usize {
        let problem = format!("it lists {length} bytes of {bytes_max}");
        return Err(Error::Misbehaving(problem));
    }
    let message = std::mem::take(message);
    Ok(Listing { message, posix })
}

fn success(
    state: &mut State,
    request: &Request,
    header: &Header,
    message: &mut Vec<u8>,
) -> Result<Result<Reply>> {
    let body = message.get(HEADER_LENGTH..).unwrap_or(&[]);
    let reply = match request {
        Request::TreeConnect { share } => {
            let (id, about) = match tree_connected(state, share, header, message)? {
                Ok(connected) => connected,
                Err(error) => return Ok(Err(error)),
            };
            let record = TreeRecord {
                id,
                share: share.as_str().into(),
                gone: None,
            };
            let key = state.next_key();
            state.trees.insert(key, record);
            Reply::Tree(TreeKey(key), about)
        }
        Request::TreeDisconnect { tree } => {
            state.trees.remove(&tree.0);
            Reply::Done
        }
        Request::Create {
            tree,
            path,
            options,
        } => {
            let (id, created) = file_created(message)?;
            let record = FileRecord::new(*tree, id, path, options, created);
            let key = state.next_key();
            state.files.insert(key, record);
            Reply::Created(FileKey(key), created)
        }
        Request::List {
            folder, bytes_max, ..
        } => Reply::Listing(Some(listed(state, *folder, *bytes_max, message)?)),
        Request::Query { what, .. } => {
            Reply::Information(information(*what, QueryInfoResponse::decode(body)?.data)?)
        }
        Request::Fetch { bytes_max, .. } => Reply::Bytes(fetched(body, *bytes_max)?),
        Request::Store {
            file,
            offset,
            bytes,
        } => {
            let count = WriteResponse::decode(body)?.count;
            if count == 0 || count as usize > bytes.len() {
                let problem = format!("it wrote {count} bytes of {}", bytes.len());
                return Err(Error::Misbehaving(problem));
            }
            state.note_written(*file, offset.saturating_add(count.into()));
            Reply::Stored(count)
        }
        Request::Set { file, what } => {
            state.note_changed(*file, what);
            Reply::Done
        }
        Request::Interfaces { .. } => Reply::Interfaces(interfaces(body)?),
        Request::Referrals { .. } => Reply::Referrals(referred(body)?),
        Request::ResumeKey { .. } => {
            Reply::ResumeKey(ResumeKey::decode(IoctlResponse::decode(body)?.output)?.key)
        }
        Request::CopyChunks { to, chunks, .. } => {
            let done = CopyChunksDone::decode(IoctlResponse::decode(body)?.output)?;
            for end in ends_of_copied(chunks, done.total_bytes) {
                state.note_written(*to, end);
            }
            Reply::Copied(done)
        }
        Request::Clone { to, range, .. } => {
            state.note_written(*to, range.end);
            Reply::Done
        }
        Request::Allocated { .. } => Reply::Allocated {
            ranges: ranges(IoctlResponse::decode(body)?.output)?,
            more: header.status == NtStatus::BUFFER_OVERFLOW,
        },
        Request::ReadLink { .. } => Reply::Link(target(IoctlResponse::decode(body)?.output)),
        Request::Transceive { bytes_max, .. } => {
            from_pipe(IoctlResponse::decode(body)?.output, *bytes_max)?
        }
        Request::ReadPipe { bytes_max, .. } => {
            from_pipe(ReadResponse::decode(body)?.data, *bytes_max)?
        }
        Request::Logoff => {
            state.logged_off = true;
            Reply::Done
        }
        _ => Reply::Done,
    };
    Ok(Ok(reply))
}

/// What a server says that refuses to copy so much at once (2.2.32.1); any other refusal says
/// nothing.
fn copy_limits(message: &[u8]) -> Option<CopyChunksDone> {
    let body = message.get(HEADER_LENGTH..)?;
    CopyChunksDone::decode(IoctlResponse::decode(body).ok()?.output).ok()
}

/// Up to where the target has each of the chunks of which the server says that it copied so many bytes,
/// from the first one on.
fn ends_of_copied(chunks: &[CopyChunk], bytes: u32) -> impl Iterator<Item = u64> {
    let mut left = bytes;
    chunks.iter().map_while(move |chunk| {
        let length = chunk.length.min(left);
        left -= length;
        (length > 0).then(|| chunk.to.saturating_add(length.into()))
    })
}

fn ranges(output: &[u8]) -> Result<Vec<Range<u64>>> {
    let elements = output.chunks(FileRange::LENGTH);
    let ranges = elements.map(|element| FileRange::decode(element).map(|element| element.range));
    Ok(ranges.collect::<std::result::Result<_, _>>()?)
}

/// Where a reparse point leads, if it is a symbolic link.
fn target(output: &[u8]) -> Option<String> {
    let path = LinkTarget::decode(output).ok()?.path;
    let target = utf16::decode(path);
    (!utf16::is_replaced(path, &target)).then_some(target)
}

fn from_pipe(bytes: &[u8], bytes_max: u32) -> Result<Reply> {
    // an answer of nothing would be read on without end
    if bytes.is_empty() || bytes.len() > bytes_max as usize {
        let problem = format!("a pipe gives {} bytes of {bytes_max}", bytes.len());
        return Err(Error::Misbehaving(problem));
    }
    Ok(Reply::FromPipe(bytes.to_vec()))
}

fn fetched(body: &[u8], bytes_max: u32) -> Result<Vec<u8>> {
    let data = ReadResponse::decode(body)?.data;
    if data.is_empty() || data.len() > bytes_max as usize {
        let problem = format!("it reads {} bytes of {bytes_max}", data.len());
        return Err(Error::Misbehaving(problem));
    }
    Ok(data.to_vec())
}

/// The reply to a CREATE: the handle, and about the file.
pub(crate) fn file_created(message: &[u8]) -> Result<(FileId, Created)> {
    let body = message.get(HEADER_LENGTH..).unwrap_or(&[]);
    let response = CreateResponse::decode(body)?;
    Ok((response.file, created(&response)?))
}

/// The reply to a TREE_CONNECT.
pub(crate) fn tree_connected(
    state: &State,
    share: &str,
    header: &Header,
    message: &[u8],
) -> Result<Result<(TreeId, TreeInformation)>> {
    let body = message.get(HEADER_LENGTH..).unwrap_or(&[]);
    let response = TreeConnectResponse::decode(body)?;
    let encrypted = response.flags & TreeConnectResponse::ENCRYPT_DATA != 0;
    let kind = match response.share_type {
        1 => Share::Disk,
        2 => Share::Pipe,
        3 => Share::Print,
        _ => return Err(Error::Misbehaving("a share is of an unknown type".into())),
    };
    let can_encrypt = state.login().is_some_and(|login| login.sealing.is_some());
    if encrypted && !can_encrypt {
        let problem = format!("share `{share}` demands encryption, and none was agreed");
        return Ok(Err(Error::Incompatible(problem)));
    }
    let id = TreeId {
        number: header.tree_id(),
        encrypted,
    };
    let about = TreeInformation {
        share: kind,
        encrypted,
        in_dfs: response.capabilities & TreeConnectResponse::IN_DFS != 0,
        access_max: response.access_max,
    };
    Ok(Ok((id, about)))
}

fn information(what: QueryInformation, data: &[u8]) -> Result<Information> {
    Ok(match what {
        QueryInformation::Standard => {
            let got = StandardInformation::decode(data)?;
            Information::Standard {
                size: got.size,
                allocation: got.allocation,
                folder: got.folder,
                delete_pending: got.delete_pending,
            }
        }
        QueryInformation::Basic => {
            let got = BasicInformation::decode(data)?;
            Information::Basic {
                times: got.times,
                attributes: got.attributes,
            }
        }
        QueryInformation::Path => Information::Path(AllInformation::decode(data)?.path),
        QueryInformation::Posix => {
            let got = PosixInformation::decode(data)?;
            Information::Posix {
                size: got.size,
                times: got.times,
                posix: got.posix.file,
            }
        }
        QueryInformation::FsAttributes => {
            let clones = FsAttributeInformation::BLOCK_REFERENCE_COUNTING;
            let attributes = FsAttributeInformation::decode(data)?.attributes;
            Information::FsAttributes {
                clones: attributes & clones != 0,
            }
        }
        QueryInformation::FsSize => {
            let got = FsFullSizeInformation::decode(data)?;
            let unit = u64::from(got.sectors_per_unit) * u64::from(got.bytes_per_sector);
            Information::FsSize(FsSize {
                total_bytes: got.total_units.saturating_mul(unit),
                available_bytes: got.caller_available_units.saturating_mul(unit),
                free_bytes: got.available_units.saturating_mul(unit),
            })
        }
    })
}

fn referred(body: &[u8]) -> Result<ReferralResponse> {
    let output = IoctlResponse::decode(body)?.output;
    Ok(ReferralResponse::decode(output)?)
}

fn interfaces(body: &[u8]) -> Result<Vec<ServerInterface>> {
    let output = IoctlResponse::decode(body)?.output;
    let list = NetworkInterfaces::decode(output)?.interfaces;
    let known = list.into_iter().filter_map(|record| {
        Some(ServerInterface {
            index: record.index,
            rss: record.capability & InterfaceRecord::RSS != 0,
            rdma: record.capability & InterfaceRecord::RDMA != 0,
            speed_bits_per_second: record.link_speed,
            address: record.address?,
        })
    });
    Ok(known.collect())
}
