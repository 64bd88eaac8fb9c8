//! A server that is not the limit: its one file has any length, a READ is answered out of one block of
//! memory, and what is written is thrown away where it arrives. Whoever comes is let in, as nobody in
//! particular, so that nothing is signed or encrypted. Each connection has a thread, which the kernel
//! wakes for a request and not for parts of one.
//!
//! It speaks as much SMB 3.1.1 as linerate's engine needs to move one file, and is of no other use.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use rustix::fs::{MemfdFlags, memfd_create, sendfile};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use serde::{Deserialize, Serialize};
use smb_proto::NtStatus;
use smb_proto::error::Malformed;
use smb_proto::session::FileTimes;
use smb_proto::wire::{
    CloseResponse, Command, CreateContext, CreateRequest, CreateResponse, DiskId, ErrorResponse,
    FileId, FlushResponse, HEADER_LENGTH, Header, Message, NegotiateContext, NegotiateResponse,
    PREFIX_LENGTH, READ_DATA_OFFSET, ReadRequest, ReadResponse, SessionSetupResponse,
    SetInfoResponse, TreeConnectResponse, WRITE_DATA_OFFSET, WriteResponse, capability, context,
    dialect, flags, frame_length, frame_prefix, security_mode, session_flags,
};

/// Most bytes of one READ or WRITE, as with Samba.
const DATA_BYTES_MAX: u32 = 8 << 20;
/// Most bytes of a request without data.
const REQUEST_BYTES_MAX: usize = 1 << 16;
/// The same for every client, so that each finds the server it knows.
const SERVER_GUID: [u8; 16] = *b"answers anything";
const SESSION_ID: u64 = 1;
const TREE_ID: u32 = 1;
const FILE: FileId = FileId {
    persistent: 1,
    volatile: 1,
};
/// Some day in 2020, in 100 ns since 1601.
const MADE_AT: u64 = 132_500_000_000_000_000;
/// Every right to a file.
const ALL_ACCESS: u32 = 0x1F_01FF;

/// The server, for all its connections.
pub struct Null {
    /// Length of its file.
    bytes: u64,
    /// What READs are answered with: a file in memory, because the kernel sends it without copying it.
    block: File,
    given: AtomicU64,
    taken: AtomicU64,
}

/// What has gone over all connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Bytes that were read.
    pub given: u64,
    /// Bytes that were written.
    pub taken: u64,
}

impl Null {
    /// A server whose file has so many bytes.
    pub fn new(bytes: u64) -> io::Result<Self> {
        let mut block = File::from(memfd_create("block", MemfdFlags::CLOEXEC)?);
        block.write_all(&vec![0xA5; DATA_BYTES_MAX as usize])?;
        Ok(Self {
            bytes,
            block,
            given: AtomicU64::new(0),
            taken: AtomicU64::new(0),
        })
    }

    /// What has gone over so far.
    pub fn tally(&self) -> Tally {
        Tally {
            given: self.given.load(Ordering::Relaxed),
            taken: self.taken.load(Ordering::Relaxed),
        }
    }

    /// Serves whoever comes, until nobody can any more.
    pub fn serve(self: &Arc<Self>, listener: &TcpListener) -> io::Result<()> {
        loop {
            let (stream, _) = listener.accept()?;
            stream.set_nodelay(true)?;
            let server = Arc::clone(self);
            // The client is told by the end of its connection that it was not understood.
            thread::spawn(move || Connection::new(&server, stream).run());
        }
    }

    /// The one file, as a CREATE finds it.
    fn opened(&self, request: &CreateRequest<'_>, out: &mut Vec<u8>) {
        let exists = request.disposition == CreateRequest::OPEN;
        let mut disk_id = Vec::new();
        DiskId { file: 1, volume: 1 }.encode(&mut disk_id);
        let mut contexts = Vec::new();
        if request
            .contexts
            .iter()
            .any(|it| it.name == context::DISK_ID)
        {
            contexts.push(CreateContext {
                name: context::DISK_ID,
                data: &disk_id,
            });
        }
        CreateResponse {
            oplock_level: 0,
            action: if exists { 1 } else { 2 },
            times: FileTimes {
                creation: MADE_AT,
                ..FileTimes::default()
            },
            allocation: 0,
            size: if exists { self.bytes } else { 0 },
            attributes: 0x80,
            file: FILE,
            contexts,
        }
        .encode(out);
    }
}

struct Connection<'a> {
    server: &'a Null,
    stream: TcpStream,
    /// Body of the request.
    request: Vec<u8>,
    /// What the kernel takes for room for what is written. It puts nothing there, so that it takes no
    /// memory.
    nowhere: Vec<u8>,
}

impl<'a> Connection<'a> {
    fn new(server: &'a Null, stream: TcpStream) -> Self {
        Self {
            server,
            stream,
            request: Vec::new(),
            nowhere: vec![0; DATA_BYTES_MAX as usize],
        }
    }

    /// Answers until the client hangs up, or says what is not understood here.
    fn run(mut self) -> io::Result<()> {
        let mut head = [0; PREFIX_LENGTH + HEADER_LENGTH];
        loop {
            self.stream.read_exact(&mut head)?;
            let [a, b, c, d, ..] = head;
            let length = frame_length([a, b, c, d]).map_err(malformed)?;
            let header = Header::decode(&head[PREFIX_LENGTH..]).map_err(malformed)?;
            if header.next_command != 0 {
                return Err(refused("a compound"));
            }
            if header.command == Command::WRITE {
                self.take(&header, length)?;
                continue;
            }
            let body = length.checked_sub(HEADER_LENGTH);
            let body = body.filter(|bytes| *bytes <= REQUEST_BYTES_MAX);
            self.request
                .resize(body.ok_or_else(|| refused("a frame"))?, 0);
            self.stream.read_exact(&mut self.request)?;
            match header.command {
                Command::READ => self.give(&header)?,
                _ => self.answer(&header)?,
            }
        }
    }

    /// A READ: the head of the reply, and behind it some of the block.
    fn give(&mut self, header: &Header) -> io::Result<()> {
        let request = ReadRequest::decode(&self.request).map_err(malformed)?;
        let most = u64::from(request.length.min(DATA_BYTES_MAX));
        let length = self.server.bytes.saturating_sub(request.offset).min(most);
        if length == 0 {
            return self.reply(header, NtStatus::END_OF_FILE, &error_body());
        }
        let body = ReadResponse::head(READ_DATA_OFFSET, length as u32);
        let head = framed(header, NtStatus::SUCCESS, &body, length as usize);
        if send(&self.stream, &head, SendFlags::MORE | SendFlags::NOSIGNAL)? != head.len() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let mut sent = 0;
        while sent < length {
            let left = (length - sent) as usize;
            if sendfile(&self.stream, &self.server.block, Some(&mut sent), left)? == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
        self.server.given.fetch_add(length, Ordering::Relaxed);
        Ok(())
    }

    /// A WRITE, whose data the kernel drops instead of copying it to us.
    fn take(&mut self, header: &Header, length: usize) -> io::Result<()> {
        let data = length.checked_sub(usize::from(WRITE_DATA_OFFSET));
        let data = data.filter(|bytes| *bytes <= self.nowhere.len());
        let data = data.ok_or_else(|| refused("a WRITE"))?;
        let mut head = [0; WRITE_DATA_OFFSET as usize - HEADER_LENGTH];
        self.stream.read_exact(&mut head)?;
        let mut left = data;
        while left > 0 {
            let room = &mut self.nowhere[..left];
            let (_, count) = recv(&self.stream, room, RecvFlags::TRUNC | RecvFlags::WAITALL)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            left -= count;
        }
        self.server.taken.fetch_add(data as u64, Ordering::Relaxed);
        let mut body = Vec::new();
        WriteResponse { count: data as u32 }.encode(&mut body);
        self.reply(header, NtStatus::SUCCESS, &body)
    }

    /// Anything else.
    fn answer(&mut self, header: &Header) -> io::Result<()> {
        let (mut header, mut body) = (*header, Vec::new());
        match header.command {
            Command::NEGOTIATE => negotiated().encode(&mut body),
            Command::SESSION_SETUP => {
                header.session_id = SESSION_ID;
                SessionSetupResponse {
                    flags: session_flags::NULL,
                    token: &[],
                }
                .encode(&mut body);
            }
            Command::TREE_CONNECT => {
                header = header.with_tree(TREE_ID);
                TreeConnectResponse {
                    share_type: 1,
                    flags: 0,
                    capabilities: 0,
                    access_max: ALL_ACCESS,
                }
                .encode(&mut body);
            }
            Command::CREATE => {
                let request = CreateRequest::decode(&self.request).map_err(malformed)?;
                self.server.opened(&request, &mut body);
            }
            Command::CLOSE => CloseResponse {
                flags: 0,
                times: FileTimes::default(),
                allocation: 0,
                size: 0,
                attributes: 0,
            }
            .encode(&mut body),
            Command::SET_INFO => SetInfoResponse.encode(&mut body),
            // Their replies, with nothing in them, look the same.
            Command::FLUSH | Command::ECHO | Command::TREE_DISCONNECT | Command::LOGOFF => {
                FlushResponse.encode(&mut body);
            }
            _ => return self.reply(&header, NtStatus::NOT_SUPPORTED, &error_body()),
        }
        self.reply(&header, NtStatus::SUCCESS, &body)
    }

    fn reply(&mut self, header: &Header, status: NtStatus, body: &[u8]) -> io::Result<()> {
        self.stream.write_all(&framed(header, status, body, 0))
    }
}

fn negotiated() -> NegotiateResponse<'static> {
    NegotiateResponse {
        security_mode: security_mode::SIGNING_ENABLED,
        dialect: dialect::SMB_3_1_1,
        server_guid: SERVER_GUID,
        capabilities: capability::LARGE_MTU,
        transact_bytes_max: DATA_BYTES_MAX,
        read_bytes_max: DATA_BYTES_MAX,
        write_bytes_max: DATA_BYTES_MAX,
        system_time: MADE_AT,
        token: &[],
        contexts: vec![NegotiateContext::Preauth {
            algorithms: vec![NegotiateContext::SHA_512],
            salt: &[0; 32],
        }],
    }
}

/// A reply with its header and prefix, and so many bytes of data to come behind it. All the credits are
/// granted that are asked for.
fn framed(request: &Header, status: NtStatus, body: &[u8], data_bytes: usize) -> Vec<u8> {
    let header = Header {
        status,
        flags: flags::RESPONSE,
        ..*request
    };
    let mut frame = frame_prefix(HEADER_LENGTH + body.len() + data_bytes).to_vec();
    frame.extend_from_slice(&header.to_bytes());
    frame.extend_from_slice(body);
    frame
}

fn error_body() -> Vec<u8> {
    let mut body = Vec::new();
    ErrorResponse {
        contexts: 0,
        data: &[],
    }
    .encode(&mut body);
    body
}

fn malformed(error: Malformed) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

fn refused(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("{what} that is not for us"),
    )
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::iter;
    use std::net::{Ipv4Addr, TcpListener};
    use std::os::unix::fs::FileExt;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};
    use std::thread;

    use smb::{
        Access, Disposition, Error, Login, OpenOptions, Policy, Server, Session, Source, Stop,
        Target,
    };

    use super::{Null, Tally};

    /// More than one request in each direction, and no whole number of blocks.
    const BYTES: u64 = (9 << 20) + 7;

    /// Counts what arrives, and up to where.
    #[derive(Default)]
    struct Counter {
        bytes: AtomicU64,
        end: Mutex<u64>,
    }

    impl Target for Counter {
        fn put(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
            let length = bytes.len() as u64;
            self.bytes.fetch_add(length, Ordering::Relaxed);
            let mut end = self.end.lock().unwrap();
            *end = (offset + length).max(*end);
            Ok(())
        }
    }

    struct Local(File);

    impl Source for Local {
        fn fill(&self, offset: u64, room: &mut [u8]) -> Result<(), Error> {
            self.0.read_exact_at(room, offset).unwrap();
            Ok(())
        }

        fn file(&self) -> Option<&File> {
            Some(&self.0)
        }
    }

    #[test]
    fn a_server_that_is_not_the_limit_gives_and_takes_all_of_a_file() {
        let server = Arc::new(Null::new(BYTES).unwrap());
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = Server {
            name: Ipv4Addr::LOCALHOST.to_string(),
            port: listener.local_addr().unwrap().port(),
        };
        let serving = Arc::clone(&server);
        thread::spawn(move || serving.serve(&listener));

        let session =
            Session::connect(&address, None, &Login::Anonymous, &Policy::default()).unwrap();
        let tree = session.tree("media").unwrap();
        let (_beside, again) = Session::open_parallel(&tree).unwrap();
        let options = OpenOptions {
            disk_id: true,
            ..OpenOptions::open(Access::Read)
        };
        let mut file = tree.open("source.bin", &options).unwrap();
        assert_eq!(file.created().size, BYTES);
        assert!(file.add_handle(again.open("source.bin", &options).unwrap()));
        let counter = Arc::new(Counter::default());
        let target = Arc::clone(&counter);
        let beyond_the_end = iter::once(0..BYTES + (1 << 20));
        let moved = file
            .read_to(beyond_the_end, target, &Stop::new(), drop)
            .unwrap();
        file.close().unwrap();
        let arrived = counter.bytes.load(Ordering::Relaxed);
        assert_eq!((moved, arrived), (BYTES, BYTES));
        assert_eq!(*counter.end.lock().unwrap(), BYTES);

        let mut source = tempfile::tempfile().unwrap();
        source.write_all(&vec![1; BYTES as usize]).unwrap();
        let options = OpenOptions {
            disposition: Disposition::Create,
            ..OpenOptions::open(Access::ReadWrite)
        };
        let file = tree.open("target.bin", &options).unwrap();
        let local = Arc::new(Local(source));
        let moved = file
            .write_from(iter::once(0..BYTES), local, &Stop::new(), drop)
            .unwrap();
        file.close().unwrap();
        assert_eq!(moved, BYTES);
        let (given, taken) = (BYTES, BYTES);
        assert_eq!(server.tally(), Tally { given, taken });
    }
}
