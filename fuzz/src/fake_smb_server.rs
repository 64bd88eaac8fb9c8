//! A server that says what it is told to, and the callers of a channel to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;

use smb_proto::error::Result;
use smb_proto::sealing::{Sealer, SealingKeys};
use smb_proto::session::{Access, CreateOptions, QueryInformation};
use smb_proto::wire::{
    self, Command, CreateResponse, FileId, HEADER_LENGTH, Header, Message, PREFIX_LENGTH,
    TransformHeader, TreeConnectResponse, flags, frame_prefix,
};
use smb_proto::{
    Authenticator, BlockPool, Channel, ChannelSettings, FileKey, NtStatus, Reply, Request, Session,
    SessionKey, SessionSettings, Sink, Step, Time, TreeKey,
};

pub const BLOCK: usize = 4096;
pub const SESSION_ID: u64 = 7;
const NOW: Time = Time::from_nanos(0);

struct Talkative {
    exported: Option<Vec<u8>>,
}

impl Authenticator for Talkative {
    fn step(
        &mut self,
        _: &[u8],
    ) -> std::result::Result<Step, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Step {
            token: b"token".to_vec(),
            session_key: self.exported.clone().map(SessionKey::new),
        })
    }
}

/// Counts how often it hears of an end, and remembers what was opened.
#[derive(Default)]
struct Ear {
    done: AtomicUsize,
    tree: std::sync::Mutex<Option<TreeKey>>,
    file: std::sync::Mutex<Option<FileKey>>,
}

impl Sink for Ear {
    fn done(&self, outcome: Result<Reply>) {
        self.done.fetch_add(1, Ordering::Relaxed);
        match outcome {
            Ok(Reply::Tree(tree, _)) => *self.tree.lock().unwrap() = Some(tree),
            Ok(Reply::Created(file, _)) => *self.file.lock().unwrap() = Some(file),
            Ok(Reply::Listing(Some(listing))) => drop(listing.entries().count()),
            _ => {}
        }
    }
}

/// Both ends: a channel, and what the server knows of it.
pub struct Peer {
    session: Session,
    pool: BlockPool,
    channel: Channel,
    ear: Arc<Ear>,
    asked: usize,
    /// The server's, once everything is encrypted.
    pub keys: Option<SealingKeys>,
    pub sealer: Option<Sealer>,
}

impl Peer {
    /// `exported` is the key of a login, if it ends with one.
    pub fn new(settings: SessionSettings, exported: Option<Vec<u8>>) -> Self {
        let pool = BlockPool::new(4, BLOCK);
        let session = Session::new(settings, pool.clone()).unwrap();
        let login = Box::new(Talkative { exported });
        let settings = ChannelSettings::new(Waker::noop().clone(), login, [3; 32]);
        let channel = Channel::new(&session, settings, NOW).unwrap();
        Self {
            session,
            pool,
            channel,
            ear: Arc::default(),
            asked: 0,
            keys: None,
            sealer: None,
        }
    }

    /// What the server says, whatever it is.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let buffer = self.channel.receive_buffer();
            let count = buffer.len().min(bytes.len());
            buffer[..count].copy_from_slice(&bytes[..count]);
            self.channel.received(count, NOW);
            bytes = &bytes[count..];
        }
    }

    /// Sends what there is; gives the messages as they are without encryption.
    pub fn drain(&mut self) -> Vec<Vec<u8>> {
        let mut sent = Vec::new();
        while let Some(bytes) = self.channel.poll_transmit(NOW) {
            let count = bytes.len();
            sent.extend_from_slice(bytes);
            self.channel.transmitted(count, NOW);
        }
        let (mut messages, mut rest) = (Vec::new(), &sent[..]);
        while let Some((prefix, after)) = rest.split_first_chunk::<PREFIX_LENGTH>() {
            let (message, after) = after.split_at(wire::frame_length(*prefix).unwrap());
            messages.push(self.opened(message));
            rest = after;
        }
        messages
    }

    fn opened(&self, message: &[u8]) -> Vec<u8> {
        if !TransformHeader::begins(message) {
            return message.to_vec();
        }
        let header = TransformHeader::decode(message).unwrap();
        let mut message = message[TransformHeader::LENGTH..].to_vec();
        assert!(self.keys.as_ref().unwrap().open(&header, &mut message));
        message
    }

    /// The commands and ids of the requests that are sent now.
    pub fn requests(&mut self) -> Vec<(Command, u64)> {
        let mut requests = Vec::new();
        for message in self.drain() {
            let mut rest = &message[..];
            loop {
                let header = Header::decode(rest).unwrap();
                requests.push((header.command, header.message_id));
                if header.next_command == 0 {
                    break;
                }
                rest = &rest[header.next_command as usize..];
            }
        }
        requests
    }

    /// A frame with a message, encrypted where that is agreed.
    pub fn frame(&mut self, message: &[u8]) -> Vec<u8> {
        let mut sealed = Vec::new();
        if let Some(sealer) = &mut self.sealer {
            sealed = [&[0; TransformHeader::LENGTH][..], message].concat();
            sealer.seal(&mut sealed).unwrap();
        }
        let message = if sealed.is_empty() { message } else { &sealed };
        [&frame_prefix(message.len())[..], message].concat()
    }

    /// Answers all requests that are sent now with the same.
    pub fn answer<'a>(&mut self, message: &impl Message<'a>) {
        let mut body = Vec::new();
        message.encode(&mut body);
        for (command, message_id) in self.requests() {
            let reply = reply_to(command, message_id, NtStatus::SUCCESS, 0, &body);
            let frame = self.frame(&reply);
            self.feed(&frame);
        }
    }

    /// Submits requests of every kind.
    pub fn occupy(&mut self) {
        self.submit(Request::TreeConnect { share: "s".into() });
        self.answer(&TreeConnectResponse {
            share_type: 1,
            flags: 0,
            capabilities: 0,
            access_max: 0,
        });
        let tree = self.ear.tree.lock().unwrap().expect("a share");
        let create = Request::Create {
            tree,
            path: "f".into(),
            options: CreateOptions::open(Access::ReadWrite),
        };
        self.submit(create.clone());
        self.answer(&CreateResponse {
            oplock_level: 0,
            action: 1,
            times: Default::default(),
            allocation: 0,
            size: 0,
            attributes: 0,
            file: FileId {
                persistent: 1,
                volatile: 2,
            },
            contexts: Vec::new(),
        });
        let file = self.ear.file.lock().unwrap().expect("a file");
        for request in [
            Request::List {
                folder: file,
                pattern: "*".into(),
                restart: true,
                bytes_max: 4096,
            },
            Request::Query {
                file,
                what: QueryInformation::Standard,
            },
            Request::Query {
                file,
                what: QueryInformation::FsSize,
            },
            Request::Flush { file },
            Request::TreeConnect { share: "t".into() },
            create.clone(),
            Request::Echo,
            chain(create.clone(), true),
            chain(create, false),
        ] {
            self.submit(request);
        }
        self.session
            .read(file, 0..3 * BLOCK as u64, self.ear.clone());
        let block = self.pool.take(Waker::noop()).expect("a block");
        self.session
            .write(file, 0, block.into_payload(100), self.ear.clone());
        self.asked += 2;
    }

    fn submit(&mut self, request: Request) {
        self.asked += 1;
        self.session.submit(request, self.ear.clone());
    }

    /// Ends it: every caller has heard, and every block is home.
    pub fn end(self) {
        drop(self.channel);
        self.session.end();
        let done = self.ear.done.load(Ordering::Relaxed);
        assert_eq!(done, self.asked, "every caller hears once");
        assert_eq!(self.pool.in_use(), 0, "every block comes home");
    }
}

/// A whole reply.
pub fn reply_to(
    command: Command,
    message_id: u64,
    status: NtStatus,
    bits: u32,
    body: &[u8],
) -> Vec<u8> {
    let mut header = Header::request(command, message_id).with_tree(5);
    header.flags = flags::RESPONSE | bits;
    header.status = status;
    header.credits = 100;
    header.session_id = SESSION_ID;
    let mut reply = Vec::with_capacity(HEADER_LENGTH + body.len());
    reply.extend(header.to_bytes());
    reply.extend_from_slice(body);
    reply
}

/// A reply to one of the requests that are under way, as four bytes choose.
pub fn chosen_reply(choices: [u8; 4], under_way: &[(Command, u64)], body: &[u8]) -> Vec<u8> {
    let [which, status, bits, rest] = choices;
    let chosen = under_way.get(usize::from(which) % under_way.len().max(1));
    let (command, message_id) = chosen.copied().unwrap_or((Command::ECHO, 0));
    let status = [
        NtStatus::SUCCESS,
        NtStatus::SUCCESS,
        NtStatus::PENDING,
        NtStatus::END_OF_FILE,
        NtStatus::NO_MORE_FILES,
        NtStatus::ACCESS_DENIED,
    ][usize::from(status) % 6];
    let bits = [0, 0, flags::ASYNC, flags::SIGNED][usize::from(bits) % 4];
    let message_id = if rest == 255 { u64::MAX } else { message_id };
    let command = if rest == 255 {
        Command::OPLOCK_BREAK
    } else {
        command
    };
    let mut first = reply_to(command, message_id, status, bits, body);
    if rest % 2 == 1 {
        // the next request is answered in the same frame, and where that stands is true or not
        let after = under_way.get(usize::from(which) % under_way.len().max(1) + 1);
        let (command, message_id) = after.copied().unwrap_or((Command::CLOSE, 0));
        first.resize(first.len().next_multiple_of(8), 0);
        let wrong = if rest % 16 == 15 { u32::from(rest) } else { 0 };
        let distance = first.len() as u32 ^ wrong;
        first[20..24].copy_from_slice(&distance.to_le_bytes());
        first.extend(reply_to(command, message_id, status, bits, body));
    }
    first
}

/// Opens a file, does something with it, and closes it.
fn chain(create: Request, read: bool) -> Request {
    let file = FileKey::OF_CHAIN;
    let links = if read {
        let (offset, bytes_max) = (0, 100);
        let fetch = Request::Fetch {
            file,
            offset,
            bytes_max,
        };
        vec![create, fetch, Request::Close { file }]
    } else {
        let (offset, bytes) = (0, [7; 10].into());
        let store = Request::Store {
            file,
            offset,
            bytes,
        };
        vec![create, store]
    };
    Request::Chain(links)
}

/// Cuts data into pieces: choices, and a body as long as the last byte before it says.
pub fn pieces<const CHOICES: usize>(
    mut data: &[u8],
) -> impl Iterator<Item = ([u8; CHOICES], &[u8])> {
    std::iter::from_fn(move || {
        let (choices, after) = data.split_first_chunk::<CHOICES>()?;
        let (length, after) = after.split_first()?;
        let (body, after) = after.split_at(usize::from(*length).min(after.len()));
        data = after;
        Some((*choices, body))
    })
}
