//! A server that lets anybody in, keeps files in memory, and lies about them in one chosen manner.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use smb_proto::NtStatus;
use smb_proto::session::FileTimes;
use smb_proto::wire::{
    AllInformation, BasicInformation, CloseRequest, CloseResponse, Command, CreateContext,
    CreateRequest, CreateResponse, DirectoryRecord, DirectoryRecords, DiskId,
    DispositionInformation, EndOfFileInformation, FileId, FlushResponse, Header, MaximalAccess,
    Message, QueryDirectoryRequest, QueryDirectoryResponse, QueryInfoRequest, QueryInfoResponse,
    READ_DATA_OFFSET, ReadRequest, ReadResponse, RenameInformation, SetInfoRequest,
    SetInfoResponse, StandardInformation, TreeConnectRequest, TreeConnectResponse, WriteRequest,
    WriteResponse, class, context, utf16,
};

use super::super::smb_frames::{encoded, let_in, negotiated, read_frame, refusal, reply, requests};
use super::files_in_memory::{About, Disk, Done};

/// 1970, in the protocol's unit.
pub(super) const YEAR_1970: u64 = 116_444_736_000_000_000;
const ALL_RIGHTS: u32 = 0x1F_01FF;
const ATTRIBUTE_NORMAL: u32 = 0x80;
const TICKS_PER_SECOND: u64 = 10_000_000;
/// What is beyond is no time.
const END_OF_TIME: u64 = i64::MAX as u64;
const VOLUME: u64 = 7;
const CLUSTER_BYTES: u64 = 4096;

/// What is not true of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Nothing.
    Honest,
    /// It takes all that is written, and has room for half of it, which it says when the file is closed: so do those
    /// that find a place on the disk, or look at a quota, only then.
    FullAtClose,
    /// Once a file that was written is closed, another program cuts it to half.
    AnotherWrites,
    /// It says of each folder that no file in it matches when it is listed, as with a broken index, though each folder
    /// lists itself at least.
    NoSuchFile,
    /// It says that each file is so many bytes shorter than it is, wherever it tells a length.
    SaysShort { hidden_bytes: u64 },
    /// Its files are changed whenever they are read, and the time of their last change of data is set back: only the
    /// time of any change tells.
    ChangesWhenRead,
    /// It makes up the time of any change whenever something is opened.
    MakesUpChange,
    /// It takes times before 1970, says that they are set, and has set 1970.
    TimesChange,
    /// It has whole seconds. A file that was written has the time at which it was closed, and it says then that it has
    /// the one that was set: so does one of Python.
    TimesOfClose,
    /// It takes all attributes and says that they are set: Samba without `store dos attributes`.
    NoAttributes,
    /// It takes it that something called `fixed` is to be removed, and says only when it is closed that it cannot be.
    FixedAtClose,
}

pub(super) struct Server {
    port: u16,
    share: Arc<Mutex<Share>>,
}

/// What all connections see.
struct Share {
    manner: Manner,
    disk: Disk,
    /// Requests to open and to read.
    opens: u64,
    reads: u64,
}

impl Server {
    /// One whose share `media` has an empty folder `all`.
    pub(super) fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it listens").port();
        let mut disk = Disk::new();
        disk.make_folder("all");
        let share = Arc::new(Mutex::new(Share {
            manner,
            disk,
            opens: 0,
            reads: 0,
        }));
        let shared = Arc::clone(&share);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let share = Arc::clone(&shared);
                // Who comes hangs up at some time.
                thread::spawn(move || serve(stream, &share).ok());
            }
        });
        Self { port, share }
    }

    pub(super) fn behave(&self, manner: Manner) {
        lock(&self.share).manner = manner;
    }

    /// A path of the share, as it is typed.
    pub(super) fn address(&self, path: &str) -> String {
        format!("smb://127.0.0.1:{}/media/{path}", self.port)
    }

    /// Does something with what it really has.
    pub(super) fn disk<T>(&self, work: impl FnOnce(&mut Disk) -> T) -> T {
        work(&mut lock(&self.share).disk)
    }
}

fn lock(share: &Mutex<Share>) -> MutexGuard<'_, Share> {
    share.lock().expect("nothing failed while it was held")
}

fn serve(mut stream: TcpStream, share: &Mutex<Share>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    loop {
        let frame = read_frame(&mut stream)?;
        // The handle that requests are about which name none, or why there is none.
        let mut chained = Err(NtStatus::INVALID_PARAMETER);
        for (mut header, body) in requests(&frame)? {
            // It has no reply of its own.
            if header.command == Command::CANCEL {
                continue;
            }
            let answer = lock(share).answer(&mut header, body, &mut chained);
            match answer {
                Ok(body) => reply(&mut stream, &header, NtStatus::SUCCESS, &body)?,
                Err(status) => reply(&mut stream, &header, status, &refusal())?,
            }
        }
    }
}

impl Share {
    /// Does what a request asks for. The header becomes that of the reply.
    fn answer(
        &mut self,
        header: &mut Header,
        body: &[u8],
        chained: &mut Done<u64>,
    ) -> Done<Vec<u8>> {
        match header.command {
            Command::NEGOTIATE => Ok(encoded(&negotiated())),
            Command::SESSION_SETUP => {
                header.session_id = 1;
                Ok(encoded(&let_in()))
            }
            Command::TREE_CONNECT => {
                *header = header.with_tree(1);
                enter(body)
            }
            Command::CREATE => {
                let created = self.create(body);
                *chained = match &created {
                    Ok((handle, _)) => Ok(*handle),
                    Err(status) => Err(*status),
                };
                created.map(|(_, reply)| reply)
            }
            Command::CLOSE => self.close(body, chained),
            Command::READ => self.read(body, chained),
            Command::WRITE => self.write(body, chained),
            Command::QUERY_DIRECTORY => self.list(body, chained),
            Command::QUERY_INFO => self.query(body, chained),
            Command::SET_INFO => self.set(body, chained),
            // All of these are the same four bytes.
            Command::FLUSH
            | Command::LOCK
            | Command::ECHO
            | Command::TREE_DISCONNECT
            | Command::LOGOFF => Ok(encoded(&FlushResponse)),
            Command::IOCTL => Err(NtStatus::INVALID_DEVICE_REQUEST),
            _ => Err(NtStatus::NOT_SUPPORTED),
        }
    }

    /// Gives the handle, and the reply.
    fn create(&mut self, body: &[u8]) -> Done<(u64, Vec<u8>)> {
        let mut asked: CreateRequest<'_> = decoded(body)?;
        if self.manner == Manner::NoAttributes {
            asked.attributes = ATTRIBUTE_NORMAL;
        }
        let (handle, action) = self.disk.open(&path_of(asked.name), &asked)?;
        let about = self.disk.about(handle)?;
        let id = encoded(&DiskId {
            file: about.number,
            volume: VOLUME,
        });
        let rights = encoded(&MaximalAccess {
            status: 0,
            access: ALL_RIGHTS,
        });
        let contexts = asked.contexts.iter().filter_map(|wanted| {
            let data: &[u8] = match wanted.name {
                context::DISK_ID => &id,
                context::MAXIMAL_ACCESS => &rights,
                _ => return None,
            };
            let name = wanted.name;
            Some(CreateContext { name, data })
        });
        let size = self.said_size(&about);
        self.opens += 1;
        let change = match self.manner {
            Manner::ChangesWhenRead => YEAR_1970 + self.reads,
            Manner::MakesUpChange => YEAR_1970 + self.opens,
            _ => about.times.change,
        };
        let created = CreateResponse {
            oplock_level: 0,
            action,
            times: FileTimes {
                change,
                ..about.times
            },
            allocation: allocated(size),
            size,
            attributes: about.attributes,
            file: FileId {
                persistent: handle,
                volatile: handle,
            },
            contexts: contexts.collect(),
        };
        Ok((handle, encoded(&created)))
    }

    fn close(&mut self, body: &[u8], chained: &mut Done<u64>) -> Done<Vec<u8>> {
        let asked: CloseRequest = decoded(body)?;
        let handle = handle_of(asked.file, chained)?;
        if self.manner == Manner::FixedAtClose
            && self.disk.path(handle)?.ends_with("fixed")
            && self.disk.is_removed(handle)?
        {
            self.disk.set_removed(handle, false)?;
            self.disk.close(handle)?;
            return Err(NtStatus::ACCESS_DENIED);
        }
        let closed = self.disk.close(handle)?;
        if self.manner == Manner::FullAtClose
            && closed.has_written
            && let Some(about) = &closed.about
        {
            self.disk.cut_to_half(about.number);
            return Err(NtStatus::DISK_FULL);
        }
        if self.manner == Manner::AnotherWrites
            && closed.has_written
            && let Some(about) = &closed.about
        {
            self.disk.cut_to_half(about.number);
        }
        if self.manner == Manner::TimesOfClose
            && closed.has_written
            && let Some(about) = &closed.about
        {
            self.disk.set_write_time(about.number, whole_seconds_now());
        }
        let tells = asked.flags & CloseRequest::GIVES_ATTRIBUTES != 0;
        let Some(about) = closed.about.filter(|_| tells) else {
            return Ok(encoded(&CloseResponse {
                flags: 0,
                times: FileTimes::default(),
                allocation: 0,
                size: 0,
                attributes: 0,
            }));
        };
        let size = self.said_size(&about);
        Ok(encoded(&CloseResponse {
            flags: CloseRequest::GIVES_ATTRIBUTES,
            times: about.times,
            allocation: allocated(size),
            size,
            attributes: about.attributes,
        }))
    }

    fn read(&mut self, body: &[u8], chained: &mut Done<u64>) -> Done<Vec<u8>> {
        let asked: ReadRequest = decoded(body)?;
        self.reads += 1;
        let handle = handle_of(asked.file, chained)?;
        let data = self.disk.read(handle, asked.offset, asked.length)?;
        Ok(encoded(&ReadResponse {
            data_offset: READ_DATA_OFFSET,
            data,
        }))
    }

    fn write(&mut self, body: &[u8], chained: &mut Done<u64>) -> Done<Vec<u8>> {
        let asked: WriteRequest<'_> = decoded(body)?;
        let handle = handle_of(asked.file, chained)?;
        self.disk.write(handle, asked.offset, asked.data)?;
        let count = u32::try_from(asked.data.len()).expect("a frame is shorter");
        Ok(encoded(&WriteResponse { count }))
    }

    fn list(&mut self, body: &[u8], chained: &mut Done<u64>) -> Done<Vec<u8>> {
        let asked: QueryDirectoryRequest<'_> = decoded(body)?;
        if asked.class != class::ID_FULL_DIRECTORY {
            return Err(NtStatus::INVALID_INFO_CLASS);
        }
        let handle = handle_of(asked.file, chained)?;
        let restarts = asked.flags & QueryDirectoryRequest::RESTART_SCANS != 0;
        let entries = self.disk.list(handle, restarts)?;
        if self.manner == Manner::NoSuchFile {
            return Err(NtStatus::NO_SUCH_FILE);
        }
        let names = entries.iter().map(|(name, _)| utf16::encode(name));
        let names: Vec<Vec<u8>> = names.collect();
        let records = entries.iter().zip(&names).map(|((_, about), name)| {
            let size = self.said_size(about);
            DirectoryRecord {
                times: about.times,
                size,
                allocation: allocated(size),
                attributes: about.attributes,
                ea_size_or_reparse_tag: 0,
                file_id: about.number,
                name,
            }
        });
        let data = encoded(&DirectoryRecords {
            records: records.collect(),
        });
        Ok(encoded(&QueryDirectoryResponse { data: &data }))
    }

    fn query(&mut self, body: &[u8], chained: &mut Done<u64>) -> Done<Vec<u8>> {
        let asked: QueryInfoRequest<'_> = decoded(body)?;
        let handle = handle_of(asked.file, chained)?;
        if asked.kind != class::TYPE_FILE {
            return Err(NtStatus::NOT_SUPPORTED);
        }
        let about = self.disk.about(handle)?;
        let size = self.said_size(&about);
        let data = match asked.class {
            class::FILE_STANDARD => encoded(&StandardInformation {
                allocation: allocated(size),
                size,
                links: 1,
                delete_pending: false,
                folder: about.is_folder,
            }),
            class::FILE_BASIC => encoded(&BasicInformation {
                times: about.times,
                attributes: about.attributes,
            }),
            class::FILE_ALL => encoded(&AllInformation {
                path: format!("\\{}", self.disk.path(handle)?.replace('/', "\\")),
            }),
            _ => return Err(NtStatus::NOT_SUPPORTED),
        };
        Ok(encoded(&QueryInfoResponse { data: &data }))
    }

    fn set(&mut self, body: &[u8], chained: &mut Done<u64>) -> Done<Vec<u8>> {
        let asked: SetInfoRequest<'_> = decoded(body)?;
        let handle = handle_of(asked.file, chained)?;
        if asked.kind != class::TYPE_FILE {
            return Err(NtStatus::NOT_SUPPORTED);
        }
        match asked.class {
            class::FILE_BASIC => {
                let wanted: BasicInformation = decoded(asked.data)?;
                let times = self.taken_times(wanted.times);
                let attributes = match self.manner {
                    Manner::NoAttributes => ATTRIBUTE_NORMAL,
                    _ => wanted.attributes,
                };
                self.disk.set_basic(handle, times, attributes)?;
            }
            class::FILE_END_OF_FILE => {
                let wanted: EndOfFileInformation = decoded(asked.data)?;
                self.disk.resize(handle, wanted.size)?;
            }
            class::FILE_DISPOSITION => {
                let wanted: DispositionInformation = decoded(asked.data)?;
                self.disk.set_removed(handle, wanted.delete)?;
            }
            class::FILE_RENAME => {
                let wanted: RenameInformation<'_> = decoded(asked.data)?;
                let to = path_of(wanted.name);
                self.disk.rename(handle, &to, wanted.replace)?;
            }
            _ => return Err(NtStatus::NOT_SUPPORTED),
        }
        Ok(encoded(&SetInfoResponse))
    }

    fn said_size(&self, about: &About) -> u64 {
        match self.manner {
            Manner::SaysShort { hidden_bytes } => about.size.saturating_sub(hidden_bytes),
            _ => about.size,
        }
    }

    fn taken_times(&self, wanted: FileTimes) -> FileTimes {
        let changes = self.manner == Manner::TimesChange;
        let cuts = self.manner == Manner::TimesOfClose;
        // Zero leaves a time as it is.
        let taken = |time: u64| match time {
            1..=END_OF_TIME if cuts => time / TICKS_PER_SECOND * TICKS_PER_SECOND,
            1..YEAR_1970 if changes => YEAR_1970,
            time => time,
        };
        FileTimes {
            creation: taken(wanted.creation),
            access: taken(wanted.access),
            write: taken(wanted.write),
            change: taken(wanted.change),
        }
    }
}

fn enter(body: &[u8]) -> Done<Vec<u8>> {
    let asked: TreeConnectRequest<'_> = decoded(body)?;
    if !utf16::decode(asked.path).ends_with("\\media") {
        return Err(NtStatus::BAD_NETWORK_NAME);
    }
    Ok(encoded(&TreeConnectResponse {
        share_type: 1,
        flags: 0,
        capabilities: 0,
        access_max: ALL_RIGHTS,
    }))
}

fn decoded<'a, M: Message<'a>>(bytes: &'a [u8]) -> Done<M> {
    M::decode(bytes).map_err(|_malformed| NtStatus::INVALID_PARAMETER)
}

/// The handle that a request is about: the one that it names, or else that of the request before it (MS-SMB2
/// 3.3.5.2.7.2).
fn handle_of(file: FileId, chained: &mut Done<u64>) -> Done<u64> {
    if file != FileId::NONE {
        *chained = Ok(file.volatile);
    }
    *chained
}

/// A path as the disk has it.
fn path_of(name: &[u8]) -> String {
    utf16::decode(name).replace('\\', "/")
}

/// The space that a file of this length takes.
fn allocated(size: u64) -> u64 {
    size.next_multiple_of(CLUSTER_BYTES)
}

/// Now, as far as whole seconds go.
fn whole_seconds_now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    YEAR_1970 + now.expect("it is later").as_secs() * TICKS_PER_SECOND
}
