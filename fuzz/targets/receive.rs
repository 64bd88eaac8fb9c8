//! The receive path of a channel, from a stranger's first byte to replies to READs and WRITEs.
//!
//! An odd first byte: the rest is what the peer says from the start. An even one: the channel is
//! logged in as a guest, has requests of every kind under way, and the rest becomes replies with
//! plausible headers. Whatever is said, nothing panics, every caller hears exactly once when the
//! channel is gone, and every block comes home.
#![no_main]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;

use libfuzzer_sys::fuzz_target;
use smb_proto::error::Result;
use smb_proto::session::{Access, CreateOptions, Dialect, Identity, QueryInformation};
use smb_proto::wire::{
    self, Command, CreateResponse, FileId, HEADER_LENGTH, Header, Message, NegotiateResponse,
    SessionSetupResponse, TreeConnectResponse, capability, flags, frame_prefix, session_flags,
};
use smb_proto::{
    Authenticator, BlockPool, Channel, ChannelSettings, FileKey, NtStatus, Reply, Request, Session,
    SessionSettings, Sink, Step, Time, TreeKey,
};

const BLOCK: usize = 4096;

struct Talkative;

impl Authenticator for Talkative {
    fn step(
        &mut self,
        _: &[u8],
    ) -> std::result::Result<Step, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Step {
            token: b"token".to_vec(),
            session_key: None,
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

const NOW: Time = Time::from_nanos(0);

fn feed(channel: &mut Channel, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let buffer = channel.receive_buffer();
        let count = buffer.len().min(bytes.len());
        buffer[..count].copy_from_slice(&bytes[..count]);
        channel.received(count, NOW);
        bytes = &bytes[count..];
    }
}

/// Sends what there is; gives the requests' commands and ids.
fn drain(channel: &mut Channel) -> Vec<(Command, u64)> {
    let mut sent = Vec::new();
    while let Some(bytes) = channel.poll_transmit(NOW) {
        let count = bytes.len();
        sent.extend_from_slice(bytes);
        channel.transmitted(count, NOW);
    }
    let (mut requests, mut rest) = (Vec::new(), &sent[..]);
    while let Some((prefix, after)) = rest.split_first_chunk::<4>() {
        let (mut message, after) = after.split_at(wire::frame_length(*prefix).unwrap());
        loop {
            let header = Header::decode(message).unwrap();
            requests.push((header.command, header.message_id));
            if header.next_command == 0 {
                break;
            }
            message = &message[header.next_command as usize..];
        }
        rest = after;
    }
    requests
}

fn frame(command: Command, message_id: u64, status: NtStatus, bits: u32, body: &[u8]) -> Vec<u8> {
    let mut header = Header::request(command, message_id).with_tree(5);
    header.flags = flags::RESPONSE | bits;
    header.status = status;
    header.credits = 100;
    header.session_id = 7;
    let mut frame = frame_prefix(HEADER_LENGTH + body.len()).to_vec();
    frame.extend(header.to_bytes());
    frame.extend_from_slice(body);
    frame
}

fn answer<'a>(channel: &mut Channel, message: &impl Message<'a>) {
    let mut body = Vec::new();
    message.encode(&mut body);
    for (command, message_id) in drain(channel) {
        feed(
            channel,
            &frame(command, message_id, NtStatus::SUCCESS, 0, &body),
        );
    }
}

/// A session without keys, because the server calls us a guest.
fn log_in(channel: &mut Channel) {
    let negotiated = NegotiateResponse {
        security_mode: 1,
        dialect: 0x0302,
        server_guid: [1; 16],
        capabilities: capability::LARGE_MTU,
        transact_bytes_max: 1 << 20,
        read_bytes_max: 1 << 20,
        write_bytes_max: 1 << 20,
        system_time: 0,
        token: &[],
        contexts: Vec::new(),
    };
    answer(channel, &negotiated);
    answer(
        channel,
        &SessionSetupResponse {
            flags: session_flags::GUEST,
            token: &[],
        },
    );
}

/// Submits requests of every kind; gives how many.
fn occupy(session: &Session, pool: &BlockPool, channel: &mut Channel, ear: &Arc<Ear>) -> usize {
    session.submit(Request::TreeConnect { share: "s".into() }, ear.clone());
    answer(
        channel,
        &TreeConnectResponse {
            share_type: 1,
            flags: 0,
            capabilities: 0,
            access_max: 0,
        },
    );
    let tree = ear.tree.lock().unwrap().expect("a share");
    let create = Request::Create {
        tree,
        path: "f".into(),
        options: CreateOptions::open(Access::ReadWrite),
    };
    session.submit(create.clone(), ear.clone());
    let created = CreateResponse {
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
    };
    answer(channel, &created);
    let file = ear.file.lock().unwrap().expect("a file");
    let requests = [
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
    ];
    let count = 2 + requests.len() + 2;
    requests
        .into_iter()
        .for_each(|request| session.submit(request, ear.clone()));
    session.read(file, 0..3 * BLOCK as u64, ear.clone());
    let payload = pool.take(Waker::noop()).expect("a block").into_payload(100);
    session.write(file, 0, payload, ear.clone());
    count
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

fn reply(choices: [u8; 4], under_way: &[(Command, u64)], body: &[u8]) -> Vec<u8> {
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
    let mut first = frame(command, message_id, status, bits, body);
    if rest % 2 == 1 {
        // the next request is answered in the same frame, and where that stands is true or not
        let after = under_way.get(usize::from(which) % under_way.len().max(1) + 1);
        let (command, message_id) = after.copied().unwrap_or((Command::CLOSE, 0));
        let second = frame(command, message_id, status, bits, body);
        let length = first.len() - 4;
        first.resize(4 + length.next_multiple_of(8), 0);
        let wrong = if rest % 16 == 15 { u32::from(rest) } else { 0 };
        let distance = (first.len() - 4) as u32 ^ wrong;
        first[24..28].copy_from_slice(&distance.to_le_bytes());
        first.extend_from_slice(&second[4..]);
        let length = first.len() - 4;
        first[..4].copy_from_slice(&frame_prefix(length));
    }
    first
}

fuzz_target!(|data: &[u8]| {
    let Some((kind, mut data)) = data.split_first() else {
        return;
    };
    let pool = BlockPool::new(4, BLOCK);
    let mut settings = SessionSettings::new("server", [1; 16]);
    settings.identity = Identity::Guest;
    if kind % 2 == 0 {
        settings.dialects = vec![Dialect::Smb302];
    }
    let session = Session::new(settings, pool.clone()).unwrap();
    let channel = ChannelSettings::new(Waker::noop().clone(), Box::new(Talkative), [3; 32]);
    let mut channel = Channel::new(&session, channel, NOW).unwrap();
    let ear = Arc::new(Ear::default());
    let mut asked = 0;
    if kind % 2 == 0 {
        log_in(&mut channel);
        asked = occupy(&session, &pool, &mut channel, &ear);
        let mut under_way = drain(&mut channel);
        while let Some((choices, after)) = data.split_first_chunk::<5>() {
            let length = usize::from(choices[4]).min(after.len());
            let (body, after) = after.split_at(length);
            let choices = [choices[0], choices[1], choices[2], choices[3]];
            feed(&mut channel, &reply(choices, &under_way, body));
            under_way.extend(drain(&mut channel));
            data = after;
        }
    } else {
        feed(&mut channel, data);
        drain(&mut channel);
    }
    drop(channel);
    session.end();
    assert_eq!(
        ear.done.load(Ordering::Relaxed),
        asked,
        "every caller hears once"
    );
    assert_eq!(pool.in_use(), 0, "every block comes home");
});
