//! Several requests about one file in one go: compounded related requests (3.2.4.1.4, 3.2.5.1.9).

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use locale::say;

use super::locked_state::{Appetite, Calls, FileRecord, Lost, State};
use super::request_codec::{self, Prepared};
use super::request_types::{Access, CreateOptions, Created, Reply, Request};
use super::submitted_request::{Control, Unheard};
use super::{ChannelNumber, FileKey, Session, Sink, locked_state, retry_after_loss};
use crate::error::{Error, NtStatus, Result};
use crate::monotonic_time::Time;
use crate::std_or_shuttle::Mutex;
use crate::wire::{FileId, Header};

/// What one credit pays for.
const CREDIT_BYTES: u32 = 1 << 16;
/// Most listings in one chain; bounds what a reply may make us allocate.
const LISTS_MAX: u32 = 2;

impl FileKey {
    /// In a chain: the file that its CREATE opens.
    pub const OF_CHAIN: Self = Self(0);
}

/// The data of small files, which no transfer moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Carried {
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
}

impl Carried {
    pub(super) fn add(&mut self, outcome: &Result<Reply>) {
        match outcome {
            Ok(Reply::Bytes(bytes)) => self.read_bytes += bytes.len() as u64,
            Ok(Reply::Stored(count)) => self.written_bytes += u64::from(*count),
            Ok(Reply::Chain(replies)) => replies.iter().for_each(|reply| self.add(reply)),
            _ => {}
        }
    }
}

/// The server's answer to one request of a chain.
pub(crate) struct Answer {
    pub(crate) header: Header,
    pub(crate) message: Vec<u8>,
}

impl Request {
    /// The open file it is about.
    fn file(&self) -> Option<FileKey> {
        match self {
            Self::Close { file }
            | Self::Flush { file }
            | Self::Lock { file, .. }
            | Self::List { folder: file, .. }
            | Self::Query { file, .. }
            | Self::Set { file, .. }
            | Self::Fetch { file, .. }
            | Self::ReadLink { file }
            | Self::MakeLink { file, .. }
            | Self::Store { file, .. } => Some(*file),
            Self::TreeConnect { .. }
            | Self::TreeDisconnect { .. }
            | Self::Create { .. }
            | Self::Chain(_)
            | Self::Interfaces { .. }
            | Self::Referrals { .. }
            | Self::ResumeKey { .. }
            | Self::CopyChunks { .. }
            | Self::Clone { .. }
            | Self::SetSparse { .. }
            | Self::Allocated { .. }
            | Self::Transceive { .. }
            | Self::ReadPipe { .. }
            | Self::AcknowledgeBreak { .. }
            | Self::Echo
            | Self::Logoff => None,
        }
    }

    /// The same about another file.
    fn with_file(mut self, key: FileKey) -> Self {
        match &mut self {
            Self::Close { file }
            | Self::Flush { file }
            | Self::Lock { file, .. }
            | Self::List { folder: file, .. }
            | Self::Query { file, .. }
            | Self::Set { file, .. }
            | Self::Fetch { file, .. }
            | Self::ReadLink { file }
            | Self::MakeLink { file, .. }
            | Self::Store { file, .. } => *file = key,
            _ => {}
        }
        self
    }

    fn is_list(&self) -> bool {
        matches!(self, Self::List { .. })
    }
}

/// Whether the server could know which file each of them is about.
fn check(links: &[Request]) -> Result<()> {
    let file = match links.first() {
        Some(Request::Create { .. }) => Some(FileKey::OF_CHAIN),
        Some(first) => first.file().filter(|file| *file != FileKey::OF_CHAIN),
        None => None,
    };
    let about_it = |link: &Request| link.file() == file;
    let lists = links.iter().filter(|link| link.is_list()).count();
    let fits = links.len() <= Request::LINKS_MAX && lists <= LISTS_MAX as usize;
    if file.is_some() && fits && links[1..].iter().all(about_it) {
        return Ok(());
    }
    Err(Error::InvalidRequest(say("invalid-request.chain")))
}

/// Builds the messages; there is a credit for each of them.
pub(super) fn prepare(
    state: &mut State,
    server: &str,
    links: &[Request],
    appetite: Appetite,
) -> Result<Vec<Prepared>> {
    check(links)?;
    for link in links {
        state.note_link(link);
    }
    let lists = links.iter().filter(|link| link.is_list()).count().max(1);
    let spare = (appetite.credits as usize).saturating_sub(links.len()) / lists;
    let spare = u32::try_from(spare).unwrap_or(u32::MAX);
    let payload_max = spare.saturating_add(1).saturating_mul(CREDIT_BYTES);
    let payload_max = payload_max.min(appetite.control_bytes);
    if let Some(Request::Create { tree, options, .. }) = links.first() {
        let options = CreateOptions {
            posix: options.posix,
            ..CreateOptions::open(Access::Attributes)
        };
        let opened = FileRecord::new(*tree, FileId::NONE, "", &options, Created::default());
        state.files.insert(FileKey::OF_CHAIN.0, opened);
    }
    let prepared = links
        .iter()
        .map(|link| request_codec::prepare(state, server, link, payload_max))
        .collect();
    state.files.remove(&FileKey::OF_CHAIN.0);
    prepared
}

/// Understands the answers and enters what they say into the tables.
fn conclude(
    state: &mut State,
    links: &[Request],
    answers: Vec<Answer>,
    replay: bool,
) -> Result<Vec<Result<Reply>>> {
    let mut opened = None;
    let mut replies = Vec::with_capacity(links.len());
    for (link, answer) in links.iter().zip(answers) {
        let Answer {
            mut header,
            mut message,
        } = answer;
        if replay && retry_after_loss::was_done(link, header.status) {
            header.status = NtStatus::SUCCESS;
        }
        let reply = match (link, header.status) {
            (Request::Close { .. }, NtStatus::SUCCESS | NtStatus::FILE_CLOSED) => {
                request_codec::conclude(state, link, &header, &mut message)
            }
            // a failure before it was its failure too, and the file is still open
            (Request::Close { .. }, status) => {
                let asked = request_codec::describe(state, link);
                Ok(Err(Error::refused(asked, status)))
            }
            _ => request_codec::conclude(state, link, &header, &mut message),
        };
        if let Ok(Ok(Reply::Created(key, _))) = &reply
            && let Some(record) = state.files.remove(&key.0)
        {
            opened = Some(*key);
            state.files.insert(FileKey::OF_CHAIN.0, record);
        }
        match reply {
            Ok(reply) => replies.push(reply),
            Err(error) => {
                state.files.remove(&FileKey::OF_CHAIN.0);
                return Err(error);
            }
        }
    }
    // not closed, or not yet
    if let Some(key) = opened
        && let Some(mut record) = state.files.remove(&FileKey::OF_CHAIN.0)
    {
        let changes = |link| {
            matches!(
                link,
                &Request::Set { .. } | &Request::Store { .. } | &Request::MakeLink { .. }
            )
        };
        record.changed = links.iter().any(changes);
        state.files.insert(key.0, record);
    }
    close_what_stayed_open(state, links, opened);
    Ok(replies)
}

/// Asks once more for the CLOSE that the server did not do.
fn close_what_stayed_open(state: &mut State, links: &[Request], opened: Option<FileKey>) {
    for link in links {
        let Request::Close { file } = link else {
            continue;
        };
        let file = match *file {
            FileKey::OF_CHAIN => opened,
            file => Some(file),
        };
        if let Some(file) = file.filter(|file| state.files.contains_key(&file.0)) {
            // nobody has to hear that the session has ended
            drop(state.submit(Request::Close { file }, Arc::new(Unheard)));
        }
    }
}

impl State {
    /// All requests of a chain were answered.
    pub(super) fn chain_done(
        &mut self,
        number: ChannelNumber,
        control: &Control,
        answers: Vec<Answer>,
    ) -> Result<Calls> {
        self.one_less(number);
        let Request::Chain(links) = &control.request else {
            return Ok(Calls::new());
        };
        let replies = conclude(self, links, answers, control.tries.is_replay())?;
        Ok(vec![(Arc::clone(&control.sink), Ok(Reply::Chain(replies)))])
    }
}

impl Session {
    /// Puts off a chain that the server is not ready for, so that nothing of it was done: its CREATE
    /// failed. Gives it back where it is not so, or was put off too often.
    pub(crate) fn put_off_chain(
        &self,
        number: ChannelNumber,
        mut control: Control,
        answers: &[Answer],
        now: Time,
    ) -> Option<Control> {
        let status = answers.first().map(|answer| answer.header.status);
        let opens = matches!(
            &control.request,
            Request::Chain(links) if matches!(links.first(), Some(Request::Create { .. }))
        );
        if !opens || self.ended().is_some() {
            return Some(control);
        }
        let wait = status.and_then(|status| control.tries.refused_for_now(status));
        let Some(wait) = wait else {
            return Some(control);
        };
        self.with_calls(|state| {
            state.one_less(number);
            state.put_off(now.after(wait), Lost::Control(control));
            Calls::new()
        });
        None
    }

    /// All requests of a chain were answered. `Err`: an answer makes no sense; then the sink has not
    /// heard yet, and the channel must end.
    pub(crate) fn chain_done(
        &self,
        number: ChannelNumber,
        control: &Control,
        answers: Vec<Answer>,
    ) -> Result<Carried> {
        let calls = self.shared.lock().chain_done(number, control, answers)?;
        let mut carried = Carried::default();
        for (_, outcome) in &calls {
            carried.add(outcome);
        }
        locked_state::call(calls);
        Ok(carried)
    }
}

/// Sends the requests of a chain one after the other, as if the server did so.
pub(super) fn one_by_one(session: &Session, control: Control) {
    let Control { request, sink, .. } = control;
    let Request::Chain(links) = request else {
        return;
    };
    if let Err(error) = check(&links) {
        return sink.done(Err(error));
    }
    let walk = Walk {
        opens: matches!(links.first(), Some(Request::Create { .. })),
        links: links.into(),
        replies: Vec::new(),
        file: None,
        failure: None,
    };
    let steps = Steps {
        session: session.clone(),
        sink,
        walk: Mutex::new(walk),
    };
    Arc::new(steps).go_on();
}

struct Steps {
    session: Session,
    sink: Arc<dyn Sink>,
    walk: Mutex<Walk>,
}

struct Walk {
    /// Without the first request there is no file for the others.
    opens: bool,
    links: VecDeque<Request>,
    replies: Vec<Result<Reply>>,
    /// What the chain has opened.
    file: Option<FileKey>,
    /// Why the file could not be opened.
    failure: Option<Error>,
}

impl Walk {
    /// The next request that can be sent.
    fn next(&mut self) -> Option<Request> {
        while let Some(link) = self.links.pop_front() {
            match (&self.failure, self.file, link.file()) {
                (Some(failure), ..) => self.replies.push(Err(failure.clone())),
                (None, Some(file), Some(FileKey::OF_CHAIN)) => return Some(link.with_file(file)),
                _ => return Some(link),
            }
        }
        None
    }

    fn heard(&mut self, outcome: Result<Reply>) {
        match &outcome {
            Ok(Reply::Created(file, _)) => self.file = Some(*file),
            Err(failure) if self.opens && self.replies.is_empty() => {
                self.failure = Some(failure.clone())
            }
            _ => {}
        }
        self.replies.push(outcome);
    }
}

impl Steps {
    fn go_on(self: Arc<Self>) {
        let mut walk = self.walk.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(link) = walk.next() {
            drop(walk);
            let session = self.session.clone();
            return session.submit(link, Arc::new(Step(self)));
        }
        let replies = std::mem::take(&mut walk.replies);
        drop(walk);
        self.sink.done(Ok(Reply::Chain(replies)));
    }
}

struct Step(Arc<Steps>);

impl Sink for Step {
    fn done(&self, outcome: Result<Reply>) {
        let mut walk = self.0.walk.lock().unwrap_or_else(PoisonError::into_inner);
        walk.heard(outcome);
        drop(walk);
        Arc::clone(&self.0).go_on();
    }
}
