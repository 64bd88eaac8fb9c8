//! What the arms of a plan do: the workload of each rung, and the interventions in it.

use record::{
    Bytes, Cipher, CopyProgram, CopyTask, Data, Demands, Direction, FileUse, FolderKind,
    FolderWorkload, Job, JobFile, JobWorkload, Nanoseconds, Operations, Place, ProbeKind, Rung,
    ServerCache, ShareWorkload, SigningAlgorithm, SocketOptions, Spread, Task, TaskWorkload,
    TcpWorkload, Timing, Workload,
};

use super::Plan;
use crate::RungName;

/// Streams of raw TCP at once.
const STREAMS: u32 = 4;
/// A small request, for its round trip, and the file that it reads.
const SMALL_BLOCK: Bytes = Bytes::new(4 << 10);
const SMALL_FILE: Bytes = Bytes::new(64 << 10);
/// Small files, their size, and the longest time that work which is done once takes.
const SMALL_FILES: u32 = 200;
const FILE_BYTES: Bytes = Bytes::new(256 << 20);
const JOB_LIMIT: Nanoseconds = Nanoseconds::new(2_500_000_000);
/// Requests of ours that are one operation of the system's own client.
const SYSTEM_BLOCKS: u64 = 4;
/// The least and the most that a program reads or writes, or `cp` copies.
const USE_BYTES_MIN: u64 = 8 << 20;
const USE_BYTES_MAX: u64 = 1 << 30;
/// Our own requests where the share is not slow.
const BLOCK_OF_FAST: u64 = 1 << 20;
/// A segment that is clearly smaller than that of Ethernet.
const SEGMENT_BYTES: u32 = 724;

impl Plan<'_, '_> {
    /// What an arm does; none where there is no such thing here.
    pub(super) fn workload(
        &self,
        rung: Rung,
        changed: Option<ProbeKind>,
        direction: Direction,
    ) -> Option<Workload> {
        match rung {
            Rung::Tcp | Rung::Streams => self.tcp(rung, changed, direction).map(Workload::Tcp),
            Rung::Share | Rung::Channels | Rung::RoundTrip => {
                let mut share = ShareWorkload {
                    direction,
                    channels: 1,
                    ..self.base.share.clone()
                };
                match rung {
                    Rung::Channels => share.channels = self.base.channels,
                    Rung::RoundTrip => {
                        (share.block, share.depth) = (SMALL_BLOCK, 1);
                        share.file_size = SMALL_FILE;
                    }
                    _ => {}
                }
                match changed {
                    None => {}
                    Some(kind) if rung == Rung::Channels && is_of_one_channel(kind) => return None,
                    Some(kind) => self.change(&mut share, kind)?,
                }
                Some(Workload::Share(share))
            }
            Rung::SystemClient => {
                let folder = self.base.mounted.clone()?;
                let mut workload = system_client_workload(&self.base.share, folder, direction);
                if let Some(kind) = changed {
                    workload.second_mount = Some(self.seen.second_mount(kind, rung, direction)?);
                }
                Some(Workload::Folder(workload))
            }
            Rung::SystemProgram | Rung::SystemCopy => {
                let mut workload = self.use_of_system(rung, direction)?;
                if let Some(kind) = changed {
                    workload.second_mount = Some(self.seen.second_mount(kind, rung, direction)?);
                }
                Some(Workload::Task(workload))
            }
            Rung::Disk | Rung::Copy | Rung::SmallFiles => {
                Some(Workload::Job(self.job(rung, direction)))
            }
        }
    }

    fn tcp(
        &self,
        rung: Rung,
        changed: Option<ProbeKind>,
        direction: Direction,
    ) -> Option<TcpWorkload> {
        let mut tcp = match &self.base.tcp {
            Ok(tcp) => TcpWorkload {
                direction,
                ..tcp.clone()
            },
            Err(_) => no_tcp(&self.base.share, direction),
        };
        if rung == Rung::Streams {
            tcp.streams = STREAMS;
        }
        match changed {
            None => {}
            Some(ProbeKind::Streams) => tcp.streams = STREAMS,
            Some(ProbeKind::Segment) => tcp.socket.segment = Some(SEGMENT_BYTES),
            Some(_) => return None,
        }
        Some(tcp)
    }

    /// Makes an intervention of a share's workload; none where it would change nothing or is not ours to make.
    fn change(&self, share: &mut ShareWorkload, kind: ProbeKind) -> Option<()> {
        let is_write = share.direction == Direction::Write;
        match kind {
            ProbeKind::Sessions => share.sessions = 2,
            ProbeKind::Connections => share.connections = 2,
            ProbeKind::Depth => share.depth = share.depth.saturating_mul(4).min(64),
            ProbeKind::ShallowDepth => share.depth = halved(share.depth)?,
            ProbeKind::SmallBlock => {
                let session = self.seen.session?;
                let most = match is_write {
                    true => session.write_max.get(),
                    false => session.read_max.get(),
                };
                share.block = Bytes::new(share.block.get().min(most) / 2);
            }
            ProbeKind::Block => share.block = Bytes::new(share.block.get() * 4),
            ProbeKind::OneBlock => {
                is_write.then(|| share.file = FileUse::OneBlock)?;
            }
            ProbeKind::SparseFile => {
                (!is_write).then(|| share.file = FileUse::Sparse)?;
            }
            ProbeKind::Channels => {
                (self.base.channels > 1).then(|| share.channels = self.base.channels)?;
            }
            ProbeKind::ReceiveBuffer | ProbeKind::SendBuffer => {
                share.socket = self.smaller_buffer(kind)?;
            }
            ProbeKind::Path => share.socket.source = Some(*self.base.sources.first()?),
            ProbeKind::SigningAlgorithm | ProbeKind::Cipher | ProbeKind::EncryptionForSigning => {
                share.demands = self.cheaper(share.demands, kind)?;
            }
            ProbeKind::AllReliefs => {
                share.sessions = 2;
                for relief in [ProbeKind::OneBlock, ProbeKind::SparseFile] {
                    let _ = self.change(share, relief);
                }
                for algorithm in [ProbeKind::SigningAlgorithm, ProbeKind::Cipher] {
                    let cheaper = self.cheaper(share.demands, algorithm);
                    share.demands = cheaper.unwrap_or(share.demands);
                }
            }
            ProbeKind::Streams
            | ProbeKind::Segment
            | ProbeKind::Congestion
            | ProbeKind::BothDirections
            | ProbeKind::Dialect
            | ProbeKind::WriteThrough
            | ProbeKind::Discard
            | ProbeKind::AwakeProcessor
            | ProbeKind::MountDialect
            | ProbeKind::MountSync
            | ProbeKind::MountRequests
            | ProbeKind::MountConnections
            | ProbeKind::MountOptions
            | ProbeKind::MountCache => return None,
        }
        Some(())
    }

    /// A buffer of four fifths of what ours has at most.
    fn smaller_buffer(&self, kind: ProbeKind) -> Option<SocketOptions> {
        let tcp = &self.seen.network.client?.tcp;
        let part = |sizes: [u64; 3]| Some(Bytes::new(sizes[2] / 5 * 4));
        Some(match kind {
            ProbeKind::ReceiveBuffer => SocketOptions {
                receive_buffer: part(tcp.receive_buffer?),
                ..SocketOptions::default()
            },
            _ => SocketOptions {
                send_buffer: part(tcp.send_buffer?),
                ..SocketOptions::default()
            },
        })
    }

    /// The cheapest that protects as well; none where that is in use, or protects less.
    fn cheaper(&self, demands: Demands, kind: ProbeKind) -> Option<Demands> {
        let session = self.seen.session?;
        if session.dialect != "3.1.1" {
            return None;
        }
        let signed = session.signing_algorithm.as_deref();
        let signed = signed.filter(|_| session.data_signed && session.encryption.is_none());
        match kind {
            ProbeKind::SigningAlgorithm => signed
                .filter(|algorithm| !algorithm.contains("GMAC"))
                .map(|_| Demands {
                    signing_algorithm: Some(SigningAlgorithm::AesGmac),
                    ..demands
                }),
            ProbeKind::EncryptionForSigning => signed.map(|_| Demands {
                encrypted: true,
                cipher: Some(Cipher::Aes128Gcm),
                ..demands
            }),
            _ => {
                let cipher = session.encryption.as_deref()?;
                let gcm = match cipher.contains("256") {
                    true => Cipher::Aes256Gcm,
                    false => Cipher::Aes128Gcm,
                };
                cipher.contains("CCM").then_some(Demands {
                    cipher: Some(gcm),
                    ..demands
                })
            }
        }
    }

    /// What most programs do with a mounted share, and what copies do. It is as much as takes about the counted time, by
    /// what that client can; none where that is not known.
    fn use_of_system(&self, rung: Rung, direction: Direction) -> Option<TaskWorkload> {
        let share = &self.base.share;
        let rate = self.seen.rate(RungName::SystemClient, direction)?;
        let size = stream_bytes(rate, share.timing);
        Some(TaskWorkload {
            place: Place::Folder {
                folder: self.base.mounted.clone()?,
                kind: FolderKind::Mount,
            },
            second_mount: None,
            direction,
            channels: 1,
            task: match rung {
                Rung::SystemCopy => Task::Copy(CopyTask {
                    files: 1,
                    folders: 0,
                    size,
                    size_max: None,
                    spread: Spread::default(),
                    by: CopyProgram::Cp,
                }),
                _ => Task::Stream(size),
            },
            data: Data::Random,
            timing: share.timing,
        })
    }

    fn job(&self, rung: Rung, direction: Direction) -> JobWorkload {
        JobWorkload {
            share: self.base.share.share.clone(),
            direction,
            job: match rung {
                Rung::Disk => Job::ReadOnce {
                    file: JobFile::Found,
                    bytes_max: FILE_BYTES,
                    cache: ServerCache::Unknown,
                },
                Rung::Copy => Job::Copy {
                    file: JobFile::Found,
                    bytes_max: FILE_BYTES,
                    folder: self.base.folder.clone(),
                    times: 3,
                },
                _ => Job::SmallFiles {
                    count: SMALL_FILES,
                    size: SMALL_BLOCK,
                },
            },
            demands: self.base.share.demands,
            limit: JOB_LIMIT,
        }
    }
}

/// Whether an intervention says something of one channel only: several have addresses of their own, and a second connection
/// of the first one would leave less under way to the others.
const fn is_of_one_channel(kind: ProbeKind) -> bool {
    matches!(
        kind,
        ProbeKind::Channels | ProbeKind::Path | ProbeKind::Connections
    )
}

/// What the system's own client can: requests that pass its cache, several at once. They are larger than ours, as
/// the kernel parts them into what it sends at once over all its connections.
#[must_use]
pub fn system_client_workload(
    share: &ShareWorkload,
    folder: String,
    direction: Direction,
) -> FolderWorkload {
    // Where the share is slow, what is under way was made less on purpose.
    let several = match share.block.get() < BLOCK_OF_FAST {
        true => 1,
        false => SYSTEM_BLOCKS,
    };
    let block = share.block.get().saturating_mul(several);
    FolderWorkload {
        folder,
        kind: FolderKind::Mount,
        second_mount: None,
        direction,
        block: Bytes::new(block.min(share.file_size.get())),
        depth: share.depth,
        file_size: share.file_size,
        operations: Operations::SEQUENTIAL,
        timing: share.timing,
    }
}

/// Bytes of a file that a program reads or writes through a mount that moves so many bytes a second.
#[must_use]
pub fn stream_bytes(rate: f64, timing: Timing) -> Bytes {
    let seconds = timing.measured.get() as f64 / 1e9;
    let size = (rate * seconds) as u64;
    let size = size.clamp(USE_BYTES_MIN, USE_BYTES_MAX);
    Bytes::new(size.next_multiple_of(1 << 20))
}

fn halved(depth: u32) -> Option<u32> {
    (depth > 1).then_some(depth / 2)
}

/// What raw TCP would have done, for the trial that says why it cannot.
fn no_tcp(share: &ShareWorkload, direction: Direction) -> TcpWorkload {
    TcpWorkload {
        server: std::net::Ipv4Addr::UNSPECIFIED.into(),
        port: 5201,
        direction,
        streams: 1,
        nic: None,
        socket: SocketOptions::default(),
        timing: share.timing,
    }
}
