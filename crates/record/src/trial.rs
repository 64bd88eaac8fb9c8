//! One trial: what it is asked to do, and what it says.

use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

use crate::{
    BitsPerSecond, Bytes, Cipher, Credentials, EngineClock, FileUse, FolderWorkload, HostLoad,
    Identity, JobWorkload, KeepWorkload, Latency, Nanoseconds, Operations, Playback, ProbeKind,
    Setting, SigningAlgorithm, SocketOptions, Storage, TaskWorkload, TcpClock,
};

/// Which way the data goes, seen from the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From server to client.
    Read,
    /// From client to server.
    Write,
}

impl Direction {
    /// Its name, as files and ids have it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl From<Direction> for locale::Message {
    fn from(direction: Direction) -> Self {
        locale::say(match direction {
            Direction::Read => "direction.read",
            Direction::Write => "direction.write",
        })
    }
}

impl From<Direction> for locale::Argument {
    fn from(direction: Direction) -> Self {
        locale::Message::from(direction).into()
    }
}

/// How long a trial lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Time that is run but not counted, so that slow start is over.
    pub warm_up: Nanoseconds,
    /// Time that is counted.
    pub measured: Nanoseconds,
    /// Length of one sample inside it.
    pub interval: Nanoseconds,
}

/// What a trial does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "engine", rename_all = "snake_case")]
pub enum Workload {
    /// Raw TCP to an `iperf3 -s`.
    Tcp(TcpWorkload),
    /// Reading or writing one big file of a share with our own client.
    Share(ShareWorkload),
    /// A test file in a folder, by `fio`.
    Folder(FolderWorkload),
    /// Work on whole files of a share or in a folder, by ourselves.
    Task(TaskWorkload),
    /// Work on a share that is done once, with our own client.
    Job(JobWorkload),
}

impl Workload {
    /// Which way the data goes.
    #[must_use]
    pub const fn direction(&self) -> Direction {
        match self {
            Self::Tcp(tcp) => tcp.direction,
            Self::Share(share) => share.direction,
            Self::Folder(folder) => folder.direction,
            Self::Task(task) => task.direction,
            Self::Job(job) => job.direction,
        }
    }

    /// How long it lasts.
    #[must_use]
    pub const fn timing(&self) -> Timing {
        match self {
            Self::Tcp(tcp) => tcp.timing,
            Self::Share(share) => share.timing,
            Self::Folder(folder) => folder.timing,
            Self::Task(task) => task.timing,
            Self::Job(job) => Timing {
                warm_up: Nanoseconds::new(0),
                measured: job.limit,
                interval: job.limit,
            },
        }
    }
}

/// Raw TCP, by the iperf3 protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpWorkload {
    /// The far end's address.
    pub server: IpAddr,
    /// Its port, usually 5201.
    pub port: u16,
    /// `Read` is iperf3's reverse mode.
    pub direction: Direction,
    /// Parallel streams, 1 to 128.
    pub streams: u32,
    /// The interface to leave by, where the route is not to decide.
    pub nic: Option<String>,
    /// How its sockets are made.
    #[serde(default, skip_serializing_if = "SocketOptions::is_default")]
    pub socket: SocketOptions,
    /// How long.
    pub timing: Timing,
}

/// Where a share is. A password is never part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareAddress {
    /// Host name or address, as typed.
    pub server: String,
    /// TCP port, usually 445.
    pub port: u16,
    /// Name of the share.
    pub share: String,
    /// A folder or file in it with `/` between the parts; empty for the top.
    pub path: String,
}

/// A host as it stands in a URL: addresses of IPv6 in brackets (RFC 3986, 3.2.2).
#[must_use]
pub fn host_in_url(host: &str) -> Cow<'_, str> {
    match host.contains(':') {
        true => Cow::Owned(format!("[{host}]")),
        false => Cow::Borrowed(host),
    }
}

impl fmt::Display for ShareAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "smb://{}", host_in_url(&self.server))?;
        if self.port != 445 {
            write!(formatter, ":{}", self.port)?;
        }
        write!(formatter, "/{}", self.share)?;
        if !self.path.is_empty() {
            write!(formatter, "/{}", self.path)?;
        }
        Ok(())
    }
}

/// A target as one types it: a share with the user before its host, and anything else as it is.
#[must_use]
pub fn with_user(target: &str, user: Option<&str>) -> String {
    match (target.strip_prefix("smb://"), user) {
        (Some(place), Some(user)) => format!("smb://{user}@{place}"),
        _ => target.to_owned(),
    }
}

/// Reading or writing one file of a share again and again until the time is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareWorkload {
    /// The share and the folder in it that takes the test file.
    pub share: ShareAddress,
    /// Read or write.
    pub direction: Direction,
    /// The most channels to use, 1 to 32; fewer where the NICs allow fewer.
    pub channels: u32,
    /// Bytes of one request.
    pub block: Bytes,
    /// Requests in flight on each channel.
    pub depth: u32,
    /// Size of the test file.
    pub file_size: Bytes,
    /// What the session must be.
    #[serde(default)]
    pub demands: Demands,
    /// Operations of their own; without it one stream of requests, sequential, without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<Operations>,
    /// Sessions of their own that share the channels' work, each with as many channels and its part of the requests
    /// in flight; 1 to 8.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub sessions: u32,
    /// What the test file holds.
    #[serde(default, skip_serializing_if = "FileUse::is_default")]
    pub file: FileUse,
    /// How its sockets are made.
    #[serde(default, skip_serializing_if = "SocketOptions::is_default")]
    pub socket: SocketOptions,
    /// How long.
    pub timing: Timing,
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_one(number: &u32) -> bool {
    *number == 1
}

/// What somebody demands of a session with a share. By default nothing: the newest dialect that both
/// ends know, and signing and encryption where the server insists on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Demands {
    /// The oldest dialect that will do.
    pub dialect_min: Dialect,
    /// The newest dialect that is offered.
    pub dialect_max: Dialect,
    /// What is signed.
    pub signing: Signing,
    /// Nothing is sent or taken but encrypted.
    pub encrypted: bool,
    /// The only signing algorithm that is offered; none for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing_algorithm: Option<SigningAlgorithm>,
    /// The only cipher that is offered; none for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cipher: Option<Cipher>,
}

impl Default for Demands {
    fn default() -> Self {
        Self {
            dialect_min: Dialect::Smb202,
            dialect_max: Dialect::Smb311,
            signing: Signing::IfRequired,
            encrypted: false,
            signing_algorithm: None,
            cipher: None,
        }
    }
}

/// A dialect of SMB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Dialect {
    /// 2.0.2, of 2006.
    #[serde(rename = "2.0.2")]
    Smb202,
    /// 2.1, the first with large requests.
    #[serde(rename = "2.1")]
    Smb210,
    /// 3.0, the first with several channels and encryption.
    #[serde(rename = "3.0")]
    Smb300,
    /// 3.0.2.
    #[serde(rename = "3.0.2")]
    Smb302,
    /// 3.1.1, whose login cannot be talked down unnoticed.
    #[serde(rename = "3.1.1")]
    Smb311,
}

/// What is signed of a session that is not encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signing {
    /// Everything, or the server will not do.
    Required,
    /// Everything where the server insists on it.
    #[default]
    IfRequired,
    /// Everything but the content of files, and that too where the server insists on it.
    DataUnsigned,
}

/// The whole standard input of `linerate trial`: one line of JSON. The trial ends at once when its
/// standard input is closed after it, so that no trial outlives the program that asked for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialInput {
    /// What to do.
    pub workload: Workload,
    /// Who logs in, for shares.
    pub credentials: Option<Credentials>,
}

/// The whole standard input of `linerate trial` where a test file is to be kept for other trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeepInput {
    /// The file.
    pub keep: KeepWorkload,
    /// Who logs in, for shares.
    pub credentials: Option<Credentials>,
}

/// One line of a trial's standard output. Its tag is not `kind`, because a failure has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum TrialLine {
    /// The counted time has begun, or another of its intervals is over: for progress.
    Sample(Sample),
    /// The trial is over, well.
    Result(Box<TrialResult>),
    /// The trial is over, badly.
    Failure(Failure),
    /// The test file is there, under this name, until standard input is closed.
    Kept {
        /// The name, for [`Operations::file`].
        file: String,
        /// What operations past the client's cache must be a multiple of, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        direct: Option<Bytes>,
    },
}

/// One interval of the counted time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Its begin, since the counted time began.
    pub at: Nanoseconds,
    /// Its length.
    pub duration: Nanoseconds,
    /// Payload moved in it over all connections.
    pub bytes: Bytes,
    /// Processor time of our own process in it, user and system.
    pub cpu: Nanoseconds,
    /// Segments this host sent again in it, where the system says so.
    pub retransmits: Option<u64>,
}

/// What one TCP connection did during the counted time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConnectionUse {
    /// Our end.
    pub local: SocketAddr,
    /// The far end.
    pub remote: SocketAddr,
    /// The interface our end's address belongs to.
    pub nic: Option<String>,
    /// Payload moved.
    pub bytes: Bytes,
    /// Smoothed round trip at the end, where the system says so.
    pub round_trip: Option<Nanoseconds>,
    /// Segments sent again over the connection's life, by our end.
    pub retransmits: Option<u64>,
    /// What else TCP knows, where the system says so.
    #[serde(default)]
    pub tcp: Option<TcpDetail>,
    /// The congestion control by which our end sends, where the system says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// What TCP did in the counted time, where the system says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<TcpClock>,
}

/// What TCP knows about a connection at the end of a trial, over its whole life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TcpDetail {
    /// Payload of our largest segment, in bytes.
    pub segment: u32,
    /// The shortest round trip.
    pub round_trip_min: Nanoseconds,
    /// What we may have under way for the sake of the network, in bytes.
    pub congestion_window: u64,
    /// What the far end has room for, in bytes; none where the kernel does not tell.
    pub far_window: Option<u64>,
    /// Segments that came before one that was sent earlier, because that one was lost or overtaken;
    /// none where the kernel does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_order: Option<u64>,
    /// Time in which we had something to send.
    pub busy: Nanoseconds,
    /// Of that, time in which the far end had no room.
    pub receiver_limited: Nanoseconds,
    /// Of that, time in which our send buffer was too small.
    pub sender_limited: Nanoseconds,
    /// Bytes of ours that were sent or, before Linux 4.19, acknowledged, from before anything was counted until the
    /// trial was over: what a NIC sent beyond that and its headers was of others. None where the kernel does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<Bytes>,
    /// Bytes that came, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received: Option<Bytes>,
}

/// What was really agreed with the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SmbSession {
    /// Dialect, as `3.1.1`.
    pub dialect: String,
    /// Signing algorithm in use, as `AES-128-GMAC`; none where no more than the login is signed.
    pub signing_algorithm: Option<String>,
    /// Whether READ and WRITE were signed too.
    pub data_signed: bool,
    /// Cipher in use, as `AES-128-GCM`; none when plain.
    pub encryption: Option<String>,
    /// What the server took us for.
    #[serde(default)]
    pub identity: Identity,
    /// Largest READ the server takes.
    pub read_max: Bytes,
    /// Largest WRITE the server takes.
    pub write_max: Bytes,
    /// The server's own list of its interfaces, as advertised.
    pub server_interfaces: Vec<ServerInterface>,
    /// Channels that were wanted and not made, each with its reason.
    pub rejected_channels: Vec<String>,
    /// The most credits that the first channel was seen to have; one is worth 64 KiB.
    #[serde(default)]
    pub credits: Option<u64>,
    /// How often work had to wait for credits.
    #[serde(default)]
    pub credit_waits: Option<u64>,
}

/// One entry of the server's list of interfaces (MS-SMB2 2.2.32.5), as advertised, true or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerInterface {
    /// Its address.
    pub address: IpAddr,
    /// Interface index; 0xFFFF_FFFF where Samba does not know it.
    pub index: u32,
    /// Line rate.
    pub speed: BitsPerSecond,
    /// Whether it is said to be capable of RSS.
    pub rss: bool,
}

/// What a trial measured, from the counted time only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialResult {
    /// The samples, in order, without gaps.
    pub samples: Vec<Sample>,
    /// From the start of the session to the first byte of payload.
    pub first_byte: Option<Nanoseconds>,
    /// The connections used.
    pub connections: Vec<ConnectionUse>,
    /// What was agreed with the SMB server.
    pub session: Option<SmbSession>,
    /// Segments the far end sent again, where it says so (iperf3 does, an SMB server does not).
    pub far_retransmits: Option<u64>,
    /// How long operations took, where they were operations of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// What held the test file, for folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// What became of frames that were to be played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub playback: Option<Playback>,
    /// What our engine did meanwhile, for shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineClock>,
    /// How far the process was confined that did it; none where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandbox>,
}

/// How far a process was confined before it read bytes of strangers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Sandbox {
    /// It had none of root's rights.
    pub unprivileged: bool,
    /// How much of the files that it may open the kernel enforced.
    pub files: Enforced,
    /// Its system calls were filtered.
    pub system_calls: bool,
}

/// How much of a rule a kernel enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enforced {
    /// All of it.
    Fully,
    /// As much as it knows.
    Partly,
    /// Nothing.
    No,
}

impl TrialResult {
    /// Payload of all samples.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.samples.iter().map(|sample| sample.bytes).sum()
    }

    /// Length of all samples.
    #[must_use]
    pub fn duration(&self) -> Nanoseconds {
        self.samples.iter().map(|sample| sample.duration).sum()
    }

    /// Processor time of our process over all samples.
    #[must_use]
    pub fn cpu(&self) -> Nanoseconds {
        self.samples.iter().map(|sample| sample.cpu).sum()
    }

    /// Payload per second; `None` where no time was counted.
    #[must_use]
    pub fn bytes_per_second(&self) -> Option<f64> {
        let nanoseconds = self.duration().get();
        (nanoseconds > 0).then(|| self.bytes().get() as f64 * 1e9 / nanoseconds as f64)
    }
}

/// Why something failed, sorted by who has to act; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The request makes no sense: exit code 64.
    Usage,
    /// The machine, the server or a rule of ours said no: exit code 65.
    Refused,
    /// The server does not let the user in, and may count it: accounts are locked after some such
    /// tries. Exit code 65.
    LoginRefused,
    /// Nobody answers: exit code 69.
    Unreachable,
    /// Our own fault, or a peer that breaks the protocol: exit code 70.
    Internal,
    /// Stopped by the user: exit code 130.
    Interrupted,
}

/// A failure with its causes and a way out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Whose turn it is.
    pub kind: FailureKind,
    /// What we were doing and why it failed, outermost first.
    pub chain: Vec<String>,
    /// What to do next.
    pub hint: Option<String>,
}

/// A rung of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// Raw TCP.
    Tcp,
    /// The share, through one channel.
    Share,
    /// Raw TCP over several streams at once.
    Streams,
    /// One small request of the share after the other: its round trip.
    RoundTrip,
    /// The share through as many channels as there is a use for.
    Channels,
    /// A file of the share that the server has to read from its disk.
    Disk,
    /// A file of the share, copied to a disk of the client.
    Copy,
    /// Small files, one after the other.
    SmallFiles,
}

/// One of the two arms that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Arm {
    /// The baseline.
    A,
    /// With the change.
    B,
}

/// The part of an experiment a trial belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The baseline against itself: the noise floor.
    SameAgainstSame,
    /// Baseline against change.
    Compare,
    /// The same again on fresh trials, once the change has won.
    Confirm,
}

impl From<Phase> for locale::Message {
    fn from(phase: Phase) -> Self {
        locale::say(match phase {
            Phase::SameAgainstSame => "phase.same",
            Phase::Compare => "phase.compare",
            Phase::Confirm => "phase.confirm",
        })
    }
}

impl From<Phase> for locale::Argument {
    fn from(phase: Phase) -> Self {
        locale::Message::from(phase).into()
    }
}

/// Why a trial was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum Stage {
    /// A rung of the ladder.
    Ladder {
        /// Which.
        rung: Rung,
        /// Repetition, from 0.
        repetition: u32,
    },
    /// An arm of a probe: the same measurement with one thing changed of our own connections.
    Probe {
        /// What is measured: raw TCP, the share, its disk or a copy.
        rung: Rung,
        /// Block, from 0 over the whole run: arms are compared within one block only.
        block: u32,
        /// Place within the block, from 0.
        position: u32,
        /// What is changed; none for the control.
        changed: Option<ProbeKind>,
    },
    /// A repetition of one workload by `bench`.
    Bench {
        /// Repetition, from 0.
        repetition: u32,
        /// Name of the test in its recipe.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        test: Option<String>,
        /// Thrown away, as the recipe says.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        discarded: bool,
    },
    /// A visit of an arm of a design.
    Visit {
        /// Block, from 0.
        block: u32,
        /// Place within the block, from 0.
        position: u32,
        /// Which arm of the design.
        arm: u32,
        /// What is measured, by its name in the design.
        response: String,
        /// Run after a switch only to wash it out: not counted.
        discarded: bool,
    },
    /// An arm of an experiment.
    Experiment {
        /// The experiment's id, as in its schedule.
        experiment: String,
        /// Its part.
        phase: Phase,
        /// Block, from 0.
        block: u32,
        /// Place within the block, from 0.
        position: u32,
        /// Which arm.
        arm: Arm,
        /// Run after a switch only to wash it out: not counted.
        discarded: bool,
    },
    /// A setting of a search.
    Search {
        /// The round, as in its record.
        round: u32,
        /// Block, from 0.
        block: u32,
        /// Place within the block, from 0.
        position: u32,
        /// Which of the round's levels, from 0.
        level: u32,
        /// Run after a switch only to wash it out: not counted.
        discarded: bool,
    },
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Measured.
    Measured(Box<TrialResult>),
    /// Not measured, and why.
    Failed(Failure),
}

/// One trial as it stands in a run file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Number of the trial in its run, from 0.
    pub id: u64,
    /// Why it was run.
    pub stage: Stage,
    /// What it did.
    pub workload: Workload,
    /// The settings under test, as read back before it began.
    pub settings: Vec<Setting>,
    /// When it began, since the start of the run.
    pub started: Nanoseconds,
    /// When it ended, since the start of the run.
    pub ended: Nanoseconds,
    /// What came of it.
    pub outcome: Outcome,
    /// What the hosts had to do meanwhile, where somebody looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<HostLoad>,
}
