//! What a trial does.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::{
    Bytes, Demands, Direction, FileUse, FolderWorkload, JobWorkload, Nanoseconds, Operations,
    SecondMount, ShareAddress, SocketOptions, TaskWorkload, Timing,
};

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

    /// What is mounted for it and for no longer.
    #[must_use]
    pub const fn second_mount(&self) -> Option<&SecondMount> {
        match self {
            Self::Folder(folder) => folder.second_mount.as_ref(),
            Self::Task(task) => task.second_mount.as_ref(),
            Self::Tcp(_) | Self::Share(_) | Self::Job(_) => None,
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
    /// Connections of each session by the same addresses as its first one, each with its part of the requests in
    /// flight; 1 to 8. More than one needs multichannel.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub connections: u32,
    /// What the test file holds.
    #[serde(default, skip_serializing_if = "FileUse::is_default")]
    pub file: FileUse,
    /// How its sockets are made.
    #[serde(default, skip_serializing_if = "SocketOptions::is_default")]
    pub socket: SocketOptions,
    /// How long.
    pub timing: Timing,
}

impl ShareWorkload {
    /// The most connections that one of its sessions has.
    #[must_use]
    pub const fn connections_of_session(&self) -> u32 {
        self.channels
            .saturating_add(self.connections.saturating_sub(1))
    }
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_one(number: &u32) -> bool {
    *number == 1
}
