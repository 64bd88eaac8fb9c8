//! What a trial measured: its samples, its connections, and how far its process was confined.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::{Bytes, EngineClock, Latency, Nanoseconds, Playback, SmbSession, Storage, TcpClock};

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

impl Sample {
    /// Payload a second; not finite where it has no length.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        self.bytes.get() as f64 * 1e9 / self.duration.get() as f64
    }
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
