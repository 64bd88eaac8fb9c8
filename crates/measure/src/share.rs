//! A share: one file, read or written again and again with our own client.
//!
//! Each trial has a session of its own and a test file that the server removes when its handle is
//! gone, however that comes about: after `kill -9` of the trial nothing is left on the share. Where its
//! own requests are short, the file is written through another session with long ones.

use std::fmt::Display;
use std::iter;
use std::net::IpAddr;
use std::ops::Range;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use record::{
    BitsPerSecond, Bytes, ConnectionUse, Credentials, Data as Contents, Demands, Dialect,
    Direction, FileUse, Identity, Nanoseconds, Sample, ServerInterface, ShareAddress,
    ShareWorkload, Signing, SmbSession, TrialLine, TrialResult,
};
use smb::copy::Place;
use smb::{
    Access, ChannelStatus, Disposition, EncryptionPolicy, File, LocalEnd, Login, Mechanism,
    Negotiated, OpenOptions, Policy, Referrals, Server, Session, SigningPolicy, Tree,
};
use zeroize::Zeroizing;

use crate::counters::{self, Spans};
use crate::operations::{self, Clock, Workers};
use crate::stop::{STOP_POLL, spawn, stoppable};
use crate::{Error, Stop, clock, fill_random, job, socket};

/// Bytes of one request that make sense: a sector, and what servers take at most.
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = 512..=8 << 20;
/// Largest operation of its own; it takes several requests.
const OPERATION_BYTES_MAX: u64 = 64 << 20;
/// Bytes of one request of a larger operation.
const REQUEST_BYTES: u64 = 1 << 20;
/// Requests in flight where a test file is written that is not measured meanwhile.
const PREPARATION_DEPTH: u32 = 8;
/// So many shorter ones are soon over, and need no other session.
const SHORT_REQUESTS_MAX: u64 = 64;
/// Most requests in flight on one channel.
const DEPTH_MAX: u32 = 512;
/// Most sessions of their own.
const SESSIONS_MAX: u32 = 8;
/// Most memory for blocks of all sessions.
const MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Blocks for each request in flight: one on its way, one that waits its turn behind it.
const BLOCKS_PER_REQUEST: u64 = 2;
/// The shortest file of somebody's that is read where none of our own can be made.
const FOUND_BYTES_MIN: u64 = 1 << 20;
/// The share must have room for the test file and this part of it more.
pub(crate) const SPARE_SHARE: u64 = 10;
/// How often we look whether an answer has come, at the border of two samples.
const ANSWER_LOOK: Duration = Duration::from_micros(200);
/// How long a file that is to be emptied waits for its last writes.
const SETTLE_MAX: Duration = Duration::from_secs(2);
/// Payload that one credit is worth.
const CREDIT_BYTES: u64 = 64 << 10;
/// Random bytes from which the test data are cut.
pub(crate) const POOL_BYTES: usize = 4 << 20;
/// Every piece of this length gets its own place in the file written into it, so that no two
/// pieces are the same and no server can store them once.
const STAMP_EVERY: usize = 4096;

/// A session with a share.
pub(crate) struct Connected {
    pub(crate) session: Session,
    pub(crate) tree: Tree,
    /// Why channels that were wanted are not there.
    pub(crate) rejected: Vec<String>,
}

impl Connected {
    /// Logs in, through so many channels where the NICs allow them.
    pub(crate) fn connect(
        share: &ShareAddress,
        login: &Login,
        policy: &Policy,
        channels: u32,
    ) -> Result<Self, Error> {
        Self::leaving(None, share, login, policy, channels)
    }

    /// The same from the address that a workload names, if it names one.
    fn connect_from(
        share: &ShareAddress,
        login: &Login,
        policy: &Policy,
        workload: &ShareWorkload,
    ) -> Result<Self, Error> {
        let source = workload.socket.source;
        Self::leaving(source, share, login, policy, workload.channels)
    }

    fn leaving(
        source: Option<IpAddr>,
        share: &ShareAddress,
        login: &Login,
        policy: &Policy,
        channels: u32,
    ) -> Result<Self, Error> {
        let server = Server {
            name: share.server.clone(),
            port: share.port,
        };
        let mut nics = match (source, channels) {
            (None, ..=1) => Vec::new(),
            _ => smb::local_nics()?,
        };
        if let Some(source) = source {
            for nic in &mut nics {
                nic.addresses.retain(|entry| entry.address == source);
            }
            nics.retain(|nic| !nic.addresses.is_empty());
        }
        // Routes look at the far end's address only, so that the interface has to be named as well.
        let local = source.map(|address| LocalEnd {
            address: Some(address),
            nic: nics.first().map(|nic| nic.name.clone()),
        });
        let session = Session::connect(&server, local, login, policy)?;
        let mut rejected = Vec::new();
        if channels > 1 {
            rejected = session.add_channels(channels as usize, &nics);
        }
        // Another server has another path: to measure it is another command.
        let (tree, _) = session.locate(&share.share, &share.path, Referrals::Name)?;
        Ok(Self {
            session,
            tree,
            rejected,
        })
    }

    /// The folder that is meant in the share.
    pub(crate) fn folder(&self, share: &ShareAddress) -> Place {
        Place::Share {
            tree: self.tree.clone(),
            path: share.path.trim_matches('/').to_owned(),
        }
    }
}

/// Measures a share.
pub(crate) fn run(
    workload: &ShareWorkload,
    login: &Login,
    stop: &Stop,
    emit: &mut dyn FnMut(&TrialLine),
) -> Result<TrialResult, Error> {
    if !is_prepared_apart(workload)? {
        return measure(workload, None, login, stop, emit);
    }
    let contents = contents(workload).unwrap_or_default();
    let mut measured = None;
    let kept = keep(workload, contents, login, stop, &mut |path| {
        measured = Some(measure(workload, Some(path), login, stop, emit));
    });
    match (kept, measured) {
        (kept, Some(measured)) => measured.and_then(|result| kept.map(|()| result)),
        (Err(error), None) if !error.is_of_writing() => Err(error),
        // Who may not write may still read what is there.
        (_, None) => measure(workload, None, login, stop, emit),
    }
}

/// Whether the file takes a session of its own to be written soon: with requests of one sector, each
/// waiting for the one before, it would take minutes.
fn is_prepared_apart(workload: &ShareWorkload) -> Result<bool, Error> {
    let policy = policy(workload)?;
    let operations = workload.operations.as_ref();
    let is_there = operations.is_some_and(|operations| operations.file.is_some());
    let is_written = workload.direction == Direction::Read || operations.is_some();
    let request = u64::from(policy.block_bytes);
    let requests = workload.file_size.get().div_ceil(request.max(1));
    let many = request < REQUEST_BYTES && requests > SHORT_REQUESTS_MAX;
    Ok(is_written && !is_there && (many || writes_through(workload)))
}

/// What a test file holds; none where nobody asks for operations of their own.
fn contents(workload: &ShareWorkload) -> Option<Contents> {
    let operations = workload.operations.as_ref();
    operations.map(|operations| operations.data)
}

/// One trial, with a file that is there already or a new one.
fn measure(
    workload: &ShareWorkload,
    there: Option<String>,
    login: &Login,
    stop: &Stop,
    emit: &mut dyn FnMut(&TrialLine),
) -> Result<TrialResult, Error> {
    let spans = Spans::new(&workload.timing)?;
    let policy = policy(workload)?;
    let contents = contents(workload);
    let data = TestData::new(contents.unwrap_or_default())?;
    let begun = Instant::now();
    let share = &workload.share;
    let Connected {
        session,
        tree,
        mut rejected,
    } = Connected::connect_from(share, login, &policy, workload)?;
    check_agreed(&session, &tree, workload)?;
    let more = (1..workload.sessions).map(|_| Session::open_parallel(&tree));
    let more: Vec<(Session, Tree)> = more.collect::<Result<_, _>>()?;
    let opened = match there {
        Some(path) => Opened::prepared(&tree, workload, path)?,
        None => Opened::of(&tree, workload, stop)?,
    };
    let Opened { file, path, .. } = &opened;
    // Somebody's file may be shorter than one of our own.
    let workload = &ShareWorkload {
        file_size: opened.size,
        ..workload.clone()
    };
    let set_up = begun.elapsed();
    let mut test = Test {
        session: &session,
        files: vec![file],
        data: &data,
        workload,
        stop,
        clock: Clock::new(),
    };
    let reads = workload.direction == Direction::Read;
    let mut again = None;
    // Operations of their own change a file that is there; a stream may write it anew.
    if opened.is_new && (reads || contents.is_some()) {
        test.prepare()?;
        // Who reads a file opens one that is there. Through a handle that found it empty, Samba does not
        // even use sendfile: it believes the size that it saw then.
        if only_reads(workload) {
            test.files = vec![again.insert(tree.open(path, &as_file_that_is_there())?)];
        }
    }
    let of_session = |(_, tree): &(Session, Tree)| match only_reads(workload) {
        true => Opened::there(tree, path, workload.file_size),
        false => Opened::new(tree, workload),
    };
    let others: Vec<Opened> = more.iter().map(of_session).collect::<Result<_, _>>()?;
    test.files.extend(others.iter().map(|opened| &opened.file));
    let transfer = test.transfer(&spans, emit)?;
    let latency = test.clock.latency();
    // The handles go first, and with them the file: a server that cannot remove it shall say so.
    again.map_or(Ok(()), File::close)?;
    for opened in others.into_iter().chain([opened]) {
        opened.end(&session)?;
    }
    rejected.extend(transfer.losses(workload.channels * workload.sessions));
    let credits = transfer.credits();
    let agreed = agreed(&session, &tree, rejected).map(|session| SmbSession {
        credits,
        credit_waits: transfer.after.first().map(|channel| channel.credit_starved),
        ..session
    });
    // What was under way when the counted time ended has come by now.
    let last = session.channels();
    let counted: Nanoseconds = transfer.samples.iter().map(|one| one.duration).sum();
    let counted = Duration::from(counted);
    let engine = clock::engine(&transfer.before, &transfer.after, counted);
    Ok(TrialResult {
        connections: transfer.connections(counted, &last),
        samples: transfer.samples,
        first_byte: transfer.first.map(|first| (set_up + first).into()),
        session: agreed,
        far_retransmits: None,
        latency,
        storage: None,
        playback: None,
        engine: Some(engine),
        sandbox: None,
    })
}

/// What the engine shall do, once it is known to make sense.
pub(crate) fn policy(workload: &ShareWorkload) -> Result<Policy, Error> {
    let usage = |reason: String| Err(Error::Usage { reason });
    let (block, depth, channels) = (workload.block.get(), workload.depth, workload.channels);
    let (least, most) = match &workload.operations {
        Some(_) => (*BLOCK_BYTES.start(), OPERATION_BYTES_MAX),
        None => (*BLOCK_BYTES.start(), *BLOCK_BYTES.end()),
    };
    if !(least..=most).contains(&block) {
        return usage(format!(
            "requests of {block} bytes; {least} to {most} are possible"
        ));
    }
    if !(1..=DEPTH_MAX).contains(&depth) {
        return usage(format!(
            "{depth} requests in flight; 1 to {DEPTH_MAX} are possible"
        ));
    }
    if channels == 0 || channels as usize > smb::CHANNELS_MAX {
        return usage(format!(
            "{channels} channels; 1 to {} are possible",
            smb::CHANNELS_MAX
        ));
    }
    if workload.file_size.get() < block {
        let size = workload.file_size.get();
        return usage(format!(
            "a test file of {size} bytes is shorter than one request"
        ));
    }
    let (block, depth) = match &workload.operations {
        Some(operations) => {
            let request = block.min(REQUEST_BYTES);
            let requests =
                u64::from(operations::in_flight(operations, depth)?) * block.div_ceil(request);
            (
                request,
                u32::try_from(requests).unwrap_or(DEPTH_MAX).min(DEPTH_MAX),
            )
        }
        None => (block, depth),
    };
    let sessions = workload.sessions;
    if !(1..=SESSIONS_MAX).contains(&sessions) || sessions > depth {
        return usage(format!(
            "{sessions} sessions with {depth} requests in flight; 1 to {SESSIONS_MAX} are possible, each \
             with one at least"
        ));
    }
    let depth = depth / sessions;
    let blocks = u64::from(channels) * u64::from(depth) * BLOCKS_PER_REQUEST;
    if blocks * block * u64::from(sessions) > MEMORY_BYTES_MAX {
        let memory = blocks * block * u64::from(sessions);
        return usage(format!(
            "its requests in flight would take {memory} bytes of memory"
        ));
    }
    let demands = &workload.demands;
    if demands.dialect_min > demands.dialect_max {
        return usage("its oldest dialect is newer than its newest".to_owned());
    }
    if let Some(reason) = senseless(workload) {
        return usage(reason);
    }
    Ok(Policy {
        sockets: socket::options(&workload.socket)?,
        block_bytes: u32::try_from(block).unwrap_or(u32::MAX),
        depth: depth as usize,
        depth_fixed: true,
        blocks: usize::try_from(blocks).unwrap_or(usize::MAX),
        ..unbroken(demands)
    })
}

/// What a trial's engine shall do: a measurement with a hole in it is none.
pub(crate) fn unbroken(demands: &Demands) -> Policy {
    Policy {
        reconnect: None,
        ..demanded(demands)
    }
}

/// How the SMB client takes demands.
#[must_use]
pub fn demanded(demands: &Demands) -> Policy {
    let dialects = [
        (Dialect::Smb311, smb::Dialect::Smb311),
        (Dialect::Smb302, smb::Dialect::Smb302),
        (Dialect::Smb300, smb::Dialect::Smb300),
        (Dialect::Smb210, smb::Dialect::Smb210),
        (Dialect::Smb202, smb::Dialect::Smb202),
    ];
    let range = demands.dialect_min..=demands.dialect_max;
    let offered = dialects.iter().filter(|(ours, _)| range.contains(ours));
    Policy {
        dialects: offered.map(|(_, dialect)| *dialect).collect(),
        signing: match demands.signing {
            Signing::Required => SigningPolicy::Required,
            Signing::IfRequired => SigningPolicy::IfRequired,
            Signing::DataUnsigned => SigningPolicy::DataUnsigned,
        },
        encryption: match demands.encrypted {
            true => EncryptionPolicy::Required,
            false => EncryptionPolicy::IfRequired,
        },
        ..algorithms(demands)
    }
}

/// The algorithms that are offered: all, or the one that is demanded.
fn algorithms(demands: &Demands) -> Policy {
    let all = Policy::default();
    Policy {
        signing_algorithms: match demands.signing_algorithm {
            None => all.signing_algorithms.clone(),
            Some(one) => vec![match one {
                record::SigningAlgorithm::HmacSha256 => smb::SigningAlgorithm::HmacSha256,
                record::SigningAlgorithm::AesCmac => smb::SigningAlgorithm::AesCmac,
                record::SigningAlgorithm::AesGmac => smb::SigningAlgorithm::AesGmac,
            }],
        },
        ciphers: match demands.cipher {
            None => all.ciphers.clone(),
            Some(one) => vec![match one {
                record::Cipher::Aes128Ccm => smb::Cipher::Aes128Ccm,
                record::Cipher::Aes128Gcm => smb::Cipher::Aes128Gcm,
                record::Cipher::Aes256Ccm => smb::Cipher::Aes256Ccm,
                record::Cipher::Aes256Gcm => smb::Cipher::Aes256Gcm,
            }],
        },
        ..all
    }
}

/// Why a workload whose numbers are possible makes no sense all the same.
fn senseless(workload: &ShareWorkload) -> Option<String> {
    let demands = &workload.demands;
    let newest = demands.dialect_max;
    let algorithm = demands.signing_algorithm.filter(|one| match one {
        record::SigningAlgorithm::AesGmac => newest < Dialect::Smb311,
        record::SigningAlgorithm::AesCmac => newest < Dialect::Smb300,
        record::SigningAlgorithm::HmacSha256 => {
            (Dialect::Smb300..Dialect::Smb311).contains(&newest)
        }
    });
    let cipher = demands.cipher.filter(|one| match one {
        record::Cipher::Aes128Ccm => newest < Dialect::Smb300,
        _ => newest < Dialect::Smb311,
    });
    if algorithm.is_some() || cipher.is_some() {
        return Some("its newest dialect does not have that algorithm".to_owned());
    }
    if workload.operations.is_some()
        && (workload.sessions > 1 || workload.file != FileUse::default())
    {
        return Some("operations of their own take one session and a whole file".to_owned());
    }
    (workload.file == FileUse::Sparse && workload.direction == Direction::Write)
        .then(|| "what is written is not sparse".to_owned())
}

/// Whether the server took the algorithms that were demanded, where it protects at all.
fn check_agreed(session: &Session, tree: &Tree, workload: &ShareWorkload) -> Result<(), Error> {
    let Some(agreed) = agreed(session, tree, Vec::new()) else {
        return Ok(());
    };
    let demands = algorithms(&workload.demands);
    let signing = workload.demands.signing_algorithm;
    let signing = signing.and(demands.signing_algorithms.first());
    let cipher = workload.demands.cipher.and(demands.ciphers.first());
    let pairs = [
        (
            agreed.signing_algorithm,
            signing.map(|one| smb::signing_algorithm_name(*one)),
        ),
        (agreed.encryption, cipher.map(|one| smb::cipher_name(*one))),
    ];
    for pair in pairs {
        if let (Some(agreed), Some(demanded)) = pair
            && agreed != demanded
        {
            return Err(Error::NotAgreed {
                server: workload.share.server.clone(),
                agreed,
                demanded: demanded.to_owned(),
            });
        }
    }
    Ok(())
}

/// How the SMB client takes credentials; without any nobody in particular logs in.
#[must_use]
pub fn login(credentials: Option<&Credentials>) -> Login {
    let Some(credentials) = credentials else {
        return Login::Anonymous;
    };
    let user = credentials.user.clone();
    match credentials.identity {
        Identity::Anonymous => Login::Anonymous,
        Identity::Guest => Login::Guest { user },
        Identity::User if credentials.mechanism == record::Mechanism::Ticket => {
            Login::Ticket { user }
        }
        Identity::User => Login::User {
            user,
            domain: credentials.domain.clone(),
            password: Zeroizing::new(credentials.password.reveal().to_owned()),
            mechanism: match &credentials.mechanism {
                record::Mechanism::Automatic | record::Mechanism::Ticket => Mechanism::Automatic,
                record::Mechanism::Kerberos { kdc } => Mechanism::Kerberos { kdc: kdc.clone() },
                record::Mechanism::Ntlm => Mechanism::Ntlm,
            },
        },
    }
}

/// The file of a trial, open.
struct Opened {
    file: File,
    path: String,
    /// Whether it is ours and empty.
    is_new: bool,
    /// Bytes of it that are worth going through.
    size: Bytes,
}

impl Opened {
    /// The one that is kept for several trials, or a new one. Who may not write reads what is there,
    /// unless operations of their own are wanted, which take a file of our own.
    fn of(tree: &Tree, workload: &ShareWorkload, stop: &Stop) -> Result<Self, Error> {
        let size = workload.file_size;
        let operations = workload.operations.as_ref();
        if let Some(path) = operations.and_then(|operations| operations.file.clone()) {
            let file = tree.open(&path, &as_kept_file(workload))?;
            return Ok(Self {
                file,
                path,
                is_new: false,
                size,
            });
        }
        let only_streams = workload.direction == Direction::Read && operations.is_none();
        match Self::new(tree, workload) {
            Err(error) if only_streams && error.is_of_writing() => {
                Self::found(tree, workload, error, stop)
            }
            made => made,
        }
    }

    /// The one that another session has written for this trial.
    fn prepared(tree: &Tree, workload: &ShareWorkload, path: String) -> Result<Self, Error> {
        if only_reads(workload) {
            return Self::there(tree, &path, workload.file_size);
        }
        Ok(Self {
            file: tree.open(&path, &as_kept_file(workload))?,
            path,
            is_new: false,
            size: workload.file_size,
        })
    }

    /// One that is there already, to be read.
    fn there(tree: &Tree, path: &str, size: Bytes) -> Result<Self, Error> {
        Ok(Self {
            file: tree.open(path, &as_file_that_is_there())?,
            path: path.to_owned(),
            is_new: false,
            size,
        })
    }

    /// Closes it, and removes it if it is ours.
    fn end(self, session: &Session) -> Result<(), Error> {
        match self.is_new {
            true => {
                settle(session);
                remove(self.file)
            }
            false => Ok(self.file.close()?),
        }
    }

    fn new(tree: &Tree, workload: &ShareWorkload) -> Result<Self, Error> {
        let path = test_path(&workload.share.path)?;
        check_free_space(tree, workload)?;
        let file = tree.open(&path, &as_test_file(workload))?;
        Ok(Self {
            file,
            path,
            is_new: true,
            size: workload.file_size,
        })
    }

    /// Somebody's file: of those that are long enough the shortest, for the longest is read once to tell
    /// of the disk, and otherwise the longest.
    fn found(
        tree: &Tree,
        workload: &ShareWorkload,
        why: Error,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let wanted = workload.file_size.get();
        let in_flight = workload.block.get() * u64::from(workload.depth);
        let least = in_flight.max(FOUND_BYTES_MIN);
        let rank = |size: u64| match size >= wanted {
            true => u64::MAX - (size - wanted),
            false => size,
        };
        let mut goes_on = || match stop.is_asked() {
            true => Err(Error::Stopped),
            false => Ok(true),
        };
        let folder = &workload.share.path;
        let found = job::find(tree, folder, least..=u64::MAX, &rank, &mut goes_on)?;
        let Some((path, size)) = found else {
            return Err(Error::NothingToRead {
                share: workload.share.to_string(),
                least,
                source: Box::new(why),
            });
        };
        Self::there(tree, &path, Bytes::new(size.min(wanted)))
    }
}

fn check_free_space(tree: &Tree, workload: &ShareWorkload) -> Result<(), Error> {
    let available = tree.free_space()?.available_bytes;
    check_space(&workload.share, available, workload.file_size.get())
}

/// Refuses to fill somebody's disk, of which so many bytes are free.
pub(crate) fn check_space(place: &dyn Display, available: u64, size: u64) -> Result<(), Error> {
    let needed = size.saturating_add(size / SPARE_SHARE);
    match available < needed {
        false => Ok(()),
        true => Err(Error::NoSpace {
            share: place.to_string(),
            needed,
            available,
        }),
    }
}

/// A name that nobody else uses, in the folder that was asked for.
pub(crate) fn test_path(folder: &str) -> Result<String, Error> {
    Ok(joined(folder.trim_matches('/'), &test_name()?))
}

/// The path of something in a folder of a share.
pub(crate) fn joined(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// The name of a test file.
pub(crate) fn test_name() -> Result<String, Error> {
    let mut random = [0; 8];
    fill_random(&mut random)?;
    Ok(format!(".linerate-{:016x}.tmp", u64::from_ne_bytes(random)))
}

/// Whether nothing is written while it is measured.
fn only_reads(workload: &ShareWorkload) -> bool {
    let operations = workload.operations.as_ref();
    let mixed = operations.is_some_and(|operations| operations.opposite_percent > 0);
    workload.direction == Direction::Read && !mixed
}

fn as_file_that_is_there() -> OpenOptions {
    OpenOptions {
        folder: Some(false),
        ..OpenOptions::open(Access::Read)
    }
}

/// Makes a test file that others may open, and removes it once `wait`, which gets its name, returns.
/// Only where and how large it is counts of the workload.
pub(crate) fn keep(
    workload: &ShareWorkload,
    contents: Contents,
    login: &Login,
    stop: &Stop,
    wait: &mut dyn FnMut(String),
) -> Result<(), Error> {
    let workload = &of_preparation(workload);
    let policy = policy(workload)?;
    let data = TestData::new(contents)?;
    let share = &workload.share;
    let Connected { session, tree, .. } = Connected::connect(share, login, &policy, 1)?;
    check_free_space(&tree, workload)?;
    let path = test_path(&share.path)?;
    let options = OpenOptions {
        share_write: true,
        ..as_test_file(workload)
    };
    let file = tree.open(&path, &options)?;
    let test = Test {
        session: &session,
        files: vec![&file],
        data: &data,
        workload,
        stop,
        clock: Clock::new(),
    };
    test.prepare()?;
    wait(path);
    remove(file)
}

/// Waits for what is under way, though not for long: a write that ends later makes the file long again.
fn settle(session: &Session) {
    let deadline = Instant::now() + SETTLE_MAX;
    let is_busy = |channel: &ChannelStatus| channel.alive && channel.in_flight > 0;
    while session.channels().iter().any(is_busy) && Instant::now() < deadline {
        thread::sleep(ANSWER_LOOK);
    }
}

/// Closes a test file of ours, with which the server removes it. Its content goes first: a server with a
/// recycle bin would keep it.
fn remove(file: File) -> Result<(), Error> {
    // One that cannot be made shorter is removed all the same.
    file.set_size(0).ok();
    Ok(file.close()?)
}

/// How a test file is written: in long requests, many of them under way.
fn of_preparation(workload: &ShareWorkload) -> ShareWorkload {
    ShareWorkload {
        channels: 1,
        sessions: 1,
        block: Bytes::new(REQUEST_BYTES).min(workload.file_size),
        depth: PREPARATION_DEPTH,
        operations: None,
        ..workload.clone()
    }
}

fn writes_through(workload: &ShareWorkload) -> bool {
    let operations = workload.operations.as_ref();
    operations.is_some_and(|operations| operations.write_through)
}

fn as_kept_file(workload: &ShareWorkload) -> OpenOptions {
    OpenOptions {
        disposition: Disposition::Open,
        write_through: writes_through(workload),
        folder: Some(false),
        share_write: true,
        ..OpenOptions::open(Access::ReadWrite)
    }
}

fn as_test_file(workload: &ShareWorkload) -> OpenOptions {
    OpenOptions {
        disposition: Disposition::Create,
        write_through: writes_through(workload),
        folder: Some(false),
        delete_on_close: true,
        share_write: false,
        ..OpenOptions::open(Access::ReadWrite)
    }
}

/// Test data: zeros, or what cannot be made shorter and of which no two pieces are the same.
pub(crate) struct TestData(Option<Vec<u8>>);

impl TestData {
    pub(crate) fn new(contents: Contents) -> Result<Self, Error> {
        if contents == Contents::Zeros {
            return Ok(Self(None));
        }
        let mut pool = vec![0; POOL_BYTES];
        fill_random(&mut pool)?;
        Ok(Self(Some(pool)))
    }

    /// What stands in the test file at `offset`.
    pub(crate) fn fill(&self, offset: u64, room: &mut [u8]) {
        let Some(pool) = &self.0 else {
            room.fill(0);
            return;
        };
        let mut filled = 0;
        while filled < room.len() {
            let at = offset.wrapping_add(filled as u64);
            let from = usize::try_from(at % POOL_BYTES as u64).unwrap_or(0);
            let count = (room.len() - filled).min(POOL_BYTES - from);
            room[filled..filled + count].copy_from_slice(&pool[from..from + count]);
            filled += count;
        }
        for (piece, place) in room
            .chunks_mut(STAMP_EVERY)
            .zip((offset..).step_by(STAMP_EVERY))
        {
            if let Some(stamp) = piece.first_chunk_mut() {
                *stamp = place.to_le_bytes();
            }
        }
    }
}

/// A range in pieces of that length; the last one may be shorter.
pub(crate) fn pieces(range: Range<u64>, each: u64) -> impl Iterator<Item = Range<u64>> {
    let count = range.end.saturating_sub(range.start).div_ceil(each);
    (0..count).map(move |index| {
        let begin = range.start + index * each;
        begin..range.end.min(begin + each)
    })
}

/// The bytes of a file that are worth going through again and again: no request is shorter than another.
fn whole_blocks(file_size: u64, block: u64) -> u64 {
    (file_size / block).max(1) * block
}

/// When data first moved.
struct First {
    begin: Instant,
    after: OnceLock<Duration>,
}

impl First {
    fn note(&self) {
        self.after.get_or_init(|| self.begin.elapsed());
    }
}

impl smb::Target for First {
    /// Leaves the bytes where they are: their block goes home, and they are counted by now.
    fn put(&self, _: u64, _: &[u8]) -> Result<(), smb::Error> {
        self.note();
        Ok(())
    }
}

/// A trial whose test file is open.
struct Test<'a> {
    session: &'a Session,
    /// One of each session; the first is that of `session`.
    files: Vec<&'a File>,
    data: &'a TestData,
    workload: &'a ShareWorkload,
    stop: &'a Stop,
    /// What operations of their own took.
    clock: Clock,
}

/// What came of a transfer.
struct Transfer {
    samples: Vec<Sample>,
    /// From its begin to its first byte of payload.
    first: Option<Duration>,
    directions: Directions,
    before: Vec<ChannelStatus>,
    after: Vec<ChannelStatus>,
}

/// Ends a transfer when dropped, so that its thread ends on every way out.
struct Halt(smb::Stop);

impl Drop for Halt {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Test<'_> {
    /// Writes the file that is to be read, or gives it its length only.
    fn prepare(&self) -> Result<(), Error> {
        let size = self.workload.file_size.get();
        let Some(file) = self.files.first() else {
            return Ok(());
        };
        if self.workload.file == FileUse::Sparse {
            return Ok(file.set_size(size)?);
        }
        let block = self.workload.block.get().max(REQUEST_BYTES).min(size);
        let ranges = pieces(0..size, block);
        let written = stoppable(
            self.stop,
            STOP_POLL,
            || {},
            |halt| {
                file.write_ranges(ranges, halt, |offset, room| {
                    self.data.fill(offset, room);
                    Ok(())
                })?;
                // Otherwise the server may be busy writing it to its disk while we read.
                file.flush()
            },
        )?;
        Ok(written?)
    }

    fn transfer(&self, spans: &Spans, emit: &mut dyn FnMut(&TrialLine)) -> Result<Transfer, Error> {
        let stop = smb::Stop::new();
        let begin = Instant::now();
        let first = Arc::new(First {
            begin,
            after: OnceLock::new(),
        });
        thread::scope(|scope| {
            let _halt = Halt(stop.clone());
            let (ended, heard) = mpsc::channel();
            let (stop, first) = (&stop, &first);
            for &file in &self.files {
                let ended = ended.clone();
                let transfer = move || {
                    let moved = self.move_data(file, stop, first);
                    // Nobody hears it once the trial is over.
                    ended.send(moved).ok();
                };
                spawn(scope, transfer)?;
            }
            let mut transfer = self.count(spans, begin, &heard, emit)?;
            transfer.first = first.after.get().copied();
            Ok(transfer)
        })
    }

    /// Moves data without end: until it is stopped, or something breaks.
    fn move_data(&self, file: &File, stop: &smb::Stop, first: &Arc<First>) -> Result<(), Error> {
        if let Some(operations) = &self.workload.operations {
            let workers = Workers {
                file,
                operations,
                direction: self.workload.direction,
                block: self.workload.block.get(),
                file_size: self.workload.file_size.get(),
                in_flight: operations::in_flight(operations, self.workload.depth)?,
                stop,
                clock: &self.clock,
                fill: &|offset, room| self.data.fill(offset, room),
            };
            return workers.run(&|| first.note());
        }
        let end = match self.workload.file {
            FileUse::Whole | FileUse::Sparse => {
                whole_blocks(self.workload.file_size.get(), self.workload.block.get())
            }
            FileUse::OneBlock => self.workload.block.get(),
        };
        let ranges = iter::repeat(0..end);
        match self.workload.direction {
            Direction::Read => {
                let nowhere = Arc::clone(first) as Arc<dyn smb::Target>;
                file.read_to(ranges, nowhere, stop, drop)?;
            }
            Direction::Write => {
                file.write_ranges(ranges, stop, |offset, room| {
                    self.data.fill(offset, room);
                    first.note();
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn count(
        &self,
        spans: &Spans,
        begin: Instant,
        heard: &Receiver<Result<(), Error>>,
        emit: &mut dyn FnMut(&TrialLine),
    ) -> Result<Transfer, Error> {
        let directions = Directions::of(self.workload);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let patience = spans.alignment();
        let mut payload = || {
            after = self.channels_at_an_answer(patience);
            if before.is_empty() {
                before.clone_from(&after);
                self.clock.count(true);
            }
            total(&after, directions)
        };
        let mut wait = |until| self.wait(heard, until);
        let samples = counters::count(spans, begin, &mut payload, &mut wait, emit)?;
        self.clock.count(false);
        if samples.iter().all(|sample| sample.bytes.get() == 0) {
            let server = self.workload.share.server.clone();
            return Err(Error::Silence {
                server,
                counted: spans.measured,
            });
        }
        Ok(Transfer {
            samples,
            first: None,
            directions,
            before,
            after,
        })
    }

    /// The channels just after an answer has come.
    ///
    /// A channel counts a READ when its whole reply has come and is good, and a WRITE when the
    /// server has confirmed it: what was only sent does not count. Counted in whole blocks at any
    /// moment, a second at 1 Gbit/s is wrong by up to one block of 112. From answer to answer it is
    /// not. Where none comes for some time, the moment is as good as any.
    fn channels_at_an_answer(&self, patience: Duration) -> Vec<ChannelStatus> {
        let deadline = Instant::now() + patience;
        let directions = Directions::of(self.workload);
        let before = total(&self.session.channels(), directions);
        loop {
            let channels = self.session.channels();
            let answered = total(&channels, directions) != before;
            if answered || Instant::now() >= deadline {
                return channels;
            }
            thread::sleep(ANSWER_LOOK);
        }
    }

    fn wait(&self, heard: &Receiver<Result<(), Error>>, until: Instant) -> Result<(), Error> {
        loop {
            if self.stop.is_asked() {
                return Err(Error::Stopped);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            match heard.recv_timeout(left.min(STOP_POLL)) {
                Ok(Err(error)) => return Err(error),
                Ok(Ok(())) => {
                    let server = self.workload.share.server.clone();
                    return Err(Error::Silence {
                        server,
                        counted: Duration::ZERO,
                    });
                }
                Err(_) => {}
            }
        }
    }
}

impl Transfer {
    /// What each connection moved in the counted time, and what TCP did in it; by the last look, what it moved in its
    /// whole life.
    fn connections(&self, counted: Duration, last: &[ChannelStatus]) -> Vec<ConnectionUse> {
        let mut used = connections(&self.before, &self.after, self.directions);
        for (used, after) in used.iter_mut().zip(&self.after) {
            let whole = clock::same(last, after).and_then(|last| last.tcp);
            if let (Some(tcp), Some(whole)) = (&mut used.tcp, whole) {
                let whole = crate::tcp_detail(&whole);
                (tcp.sent, tcp.received) = (whole.sent, whole.received);
            }
            let before = clock::same(&self.before, after).and_then(|before| before.tcp);
            used.clock = before
                .zip(after.tcp)
                .and_then(|(before, after)| clock::tcp(&before, &after, counted));
        }
        used
    }

    /// The most credits that the first channel had: those that were left and those in use.
    fn credits(&self) -> Option<u64> {
        let held = |channel: &ChannelStatus| {
            channel.credits + channel.bytes_in_flight.div_ceil(CREDIT_BYTES)
        };
        let firsts = [self.before.first(), self.after.first()];
        firsts.into_iter().flatten().map(held).max()
    }

    /// What people must know about the channels that were wanted.
    fn losses(&self, wanted: u32) -> Vec<String> {
        let mut said = Vec::new();
        for channel in &self.after {
            let way = format!("{} to {}", channel.local.ip(), channel.remote.ip());
            if !channel.alive {
                said.push(format!("{way}: lost during the trial"));
            }
            if let Some(reason) = &channel.not_bound_because {
                said.push(format!("{way}: {reason}"));
            }
        }
        if self.after.len() < wanted as usize {
            said.push(format!(
                "{} of {wanted} channels that were wanted came up",
                self.after.len()
            ));
        }
        said
    }
}

/// What each connection moved between two looks at them.
pub(crate) fn connections(
    before: &[ChannelStatus],
    after: &[ChannelStatus],
    directions: Directions,
) -> Vec<ConnectionUse> {
    let used = |channel: &ChannelStatus| {
        let before = clock::same(before, channel);
        let before = before.map_or(0, |before| payload_of(before, directions));
        let bytes = payload_of(channel, directions).saturating_sub(before);
        ConnectionUse {
            local: channel.local,
            remote: channel.remote,
            nic: channel.nic.clone(),
            bytes: Bytes::new(bytes),
            round_trip: channel.tcp.map(|tcp| tcp.round_trip.into()),
            retransmits: channel.tcp.map(|tcp| tcp.retransmits),
            tcp: channel.tcp.as_ref().map(crate::tcp_detail),
            congestion_control: channel.congestion_control.clone(),
            clock: None,
        }
    };
    after.iter().map(used).collect()
}

/// Which payload counts.
#[derive(Clone, Copy)]
pub(crate) enum Directions {
    One(Direction),
    Both,
}

impl From<Direction> for Directions {
    fn from(direction: Direction) -> Self {
        Self::One(direction)
    }
}

impl Directions {
    fn of(workload: &ShareWorkload) -> Self {
        let mixed = workload
            .operations
            .iter()
            .any(|operations| operations.opposite_percent > 0);
        match mixed {
            true => Self::Both,
            false => Self::One(workload.direction),
        }
    }
}

fn total(channels: &[ChannelStatus], directions: Directions) -> u64 {
    channels
        .iter()
        .map(|channel| payload_of(channel, directions))
        .sum()
}

fn payload_of(channel: &ChannelStatus, directions: Directions) -> u64 {
    match directions {
        Directions::One(Direction::Read) => channel.bytes_received,
        Directions::One(Direction::Write) => channel.bytes_sent,
        Directions::Both => channel.bytes_received.saturating_add(channel.bytes_sent),
    }
}

/// What was agreed with the server of a share; none when the session never came up.
#[must_use]
pub fn agreed(
    session: &Session,
    tree: &Tree,
    rejected_channels: Vec<String>,
) -> Option<SmbSession> {
    let negotiated: Negotiated = session.negotiated()?;
    let encrypted = negotiated.encryption || tree.is_encrypted();
    // Servers without multichannel have none; that is no failure of a trial that is over.
    let interfaces = session.server_interfaces().unwrap_or_default();
    let server_interfaces = interfaces.iter().map(|interface| ServerInterface {
        address: interface.address,
        index: interface.index,
        speed: BitsPerSecond::new(interface.speed_bits_per_second),
        rss: interface.rss,
    });
    let cipher = negotiated.cipher.filter(|_| encrypted);
    let algorithm = smb::signing_algorithm_name(negotiated.signing_algorithm);
    let signed = negotiated.signing && !encrypted;
    Some(SmbSession {
        dialect: smb::dialect_name(negotiated.dialect).to_owned(),
        signing_algorithm: signed.then(|| algorithm.to_owned()),
        data_signed: negotiated.data_signing && !encrypted,
        encryption: cipher.map(|cipher| smb::cipher_name(cipher).to_owned()),
        identity: match negotiated.identity {
            smb::Identity::User => Identity::User,
            smb::Identity::Guest => Identity::Guest,
            smb::Identity::Anonymous => Identity::Anonymous,
        },
        read_max: Bytes::new(negotiated.read_bytes_max.into()),
        write_max: Bytes::new(negotiated.write_bytes_max.into()),
        server_interfaces: server_interfaces.collect(),
        rejected_channels,
        credits: None,
        credit_waits: None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use record::Timing;

    use super::*;

    fn workload() -> ShareWorkload {
        let span = Duration::from_millis(100);
        ShareWorkload {
            share: ShareAddress {
                server: "127.0.0.1".to_owned(),
                port: 445,
                share: "data".to_owned(),
                path: String::new(),
            },
            direction: Direction::Read,
            channels: 1,
            block: Bytes::new(1 << 20),
            depth: 8,
            file_size: Bytes::new(10 << 20),
            demands: Demands::default(),
            operations: None,
            timing: Timing {
                warm_up: span.into(),
                measured: span.into(),
                interval: span.into(),
            },
            sessions: 1,
            file: record::FileUse::default(),
            socket: record::SocketOptions::default(),
        }
    }

    #[test]
    fn workloads_that_make_no_sense_are_refused() {
        let good = workload();
        let policy = policy(&good).unwrap();
        assert_eq!(
            (policy.block_bytes, policy.depth, policy.blocks),
            (1 << 20, 8, 16)
        );
        for bad in [
            ShareWorkload {
                channels: 0,
                ..good.clone()
            },
            ShareWorkload {
                channels: 33,
                ..good.clone()
            },
            ShareWorkload {
                depth: 0,
                ..good.clone()
            },
            ShareWorkload {
                depth: 513,
                ..good.clone()
            },
            ShareWorkload {
                block: Bytes::new(0),
                ..good.clone()
            },
            ShareWorkload {
                block: Bytes::new(u64::MAX),
                ..good.clone()
            },
            ShareWorkload {
                file_size: Bytes::new((1 << 20) - 1),
                ..good.clone()
            },
            ShareWorkload {
                channels: 32,
                depth: 512,
                ..good.clone()
            },
        ] {
            let refused = super::policy(&bad);
            assert!(matches!(refused, Err(Error::Usage { .. })), "{bad:?}");
        }
    }

    fn operations(write_through: bool) -> record::Operations {
        record::Operations {
            pattern: record::Pattern::Sequential,
            threads: 1,
            opposite_percent: 0,
            data: Contents::Random,
            cache: record::Cache::Direct,
            write_through,
            file: None,
        }
    }

    /// Requests of the kind that is measured would take one round trip each.
    #[test]
    fn a_file_for_short_requests_is_written_in_long_ones() {
        let stream = |direction, block| ShareWorkload {
            direction,
            block: Bytes::new(block),
            depth: 1,
            ..workload()
        };
        let with = |operations, block| ShareWorkload {
            operations: Some(operations),
            ..stream(Direction::Write, block)
        };
        let kept = record::Operations {
            file: Some("kept".to_owned()),
            ..operations(true)
        };
        for (workload, apart) in [
            (stream(Direction::Read, 1 << 20), false),
            (stream(Direction::Read, 4096), true),
            (stream(Direction::Write, 4096), false),
            (with(operations(false), 4 << 20), false),
            (with(operations(false), 512), true),
            (with(operations(true), 4 << 20), true),
            (with(kept, 512), false),
        ] {
            assert_eq!(is_prepared_apart(&workload).unwrap(), apart, "{workload:?}");
            let written = of_preparation(&workload);
            let policy = policy(&written).unwrap();
            let long = (1 << 20, PREPARATION_DEPTH as usize);
            assert_eq!((policy.block_bytes, policy.depth), long);
            assert!(!as_test_file(&written).write_through);
        }
        let small = ShareWorkload {
            file_size: Bytes::new(64 << 10),
            ..stream(Direction::Read, 4096)
        };
        assert!(!is_prepared_apart(&small).unwrap());
        assert_eq!(of_preparation(&small).block, small.file_size);
    }

    #[test]
    fn what_must_be_written_through_is_opened_so() {
        for through in [false, true] {
            let workload = ShareWorkload {
                operations: Some(operations(through)),
                ..workload()
            };
            assert_eq!(as_test_file(&workload).write_through, through);
            assert_eq!(as_kept_file(&workload).write_through, through);
        }
        assert!(!as_test_file(&workload()).write_through);
    }

    #[test]
    fn no_request_is_shorter_than_another() {
        assert_eq!(whole_blocks(10, 4), 8);
        assert_eq!(whole_blocks(8, 4), 8);
        assert_eq!(whole_blocks(3, 4), 4, "the server says where it ends");
    }

    #[test]
    fn no_two_pieces_of_the_data_are_the_same() {
        let data = TestData::new(Contents::Random).unwrap();
        let mut seen = HashSet::new();
        // Twice round the pool.
        for offset in (0..2 * POOL_BYTES as u64).step_by(1 << 20) {
            let mut room = vec![0; 1 << 20];
            data.fill(offset, &mut room);
            for piece in room.chunks(STAMP_EVERY) {
                assert!(seen.insert(piece.to_vec()));
            }
        }
        // Where a block begins does not matter, and short ends are filled too.
        let (mut whole, mut half) = (vec![0; 2 << 20], vec![0; (1 << 20) + 5]);
        data.fill(0, &mut whole);
        data.fill(1 << 20, &mut half[..1 << 20]);
        assert!(whole[1 << 20..] == half[..1 << 20]);
        data.fill(POOL_BYTES as u64 - 7, &mut half);
        assert!(half[(1 << 20) - 100..].iter().any(|&byte| byte != 0));
    }

    #[test]
    fn pieces_cover_a_range_once() {
        let mib = 1 << 20;
        let found: Vec<_> = pieces(5..(2 << 20) + 6, mib).collect();
        assert_eq!(
            found,
            [5..5 + mib, 5 + mib..5 + 2 * mib, 5 + 2 * mib..6 + 2 * mib]
        );
        assert_eq!(pieces(7..7, mib).count(), 0);
    }

    #[test]
    fn test_files_have_names_of_their_own() {
        let (first, second) = (test_path("").unwrap(), test_path("/a/b/").unwrap());
        assert!(
            first.starts_with(".linerate-") && first.ends_with(".tmp"),
            "{first}"
        );
        assert!(second.starts_with("a/b/.linerate-"), "{second}");
        assert_ne!(first, test_path("").unwrap());
    }
}
