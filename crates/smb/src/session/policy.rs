//! The server that a session is with, and what the session must and may be.

use std::time::Duration;

use os::network::SocketOptions;
use smb_proto::multichannel_plan::{LinerateRules, LocalNic};
use smb_proto::session::{
    Cipher, Dialect, EncryptionPolicy, Identity, SessionSettings, SigningAlgorithm, SigningPolicy,
};

use super::random;
use crate::auth::Login;
use crate::error::Error;

/// A server as the user typed it. Its addresses are looked up here, and each is tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Host name or address.
    pub name: String,
    /// TCP port, usually 445.
    pub port: u16,
}

/// Most channels of one session; servers refuse more.
pub const CHANNELS_MAX: usize = 32;

/// Most channels of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelsMax {
    /// So many.
    Count(usize),
    /// One for each NIC of this machine; several where both ends of a pair spread their load over
    /// queues (RSS), as Windows has them.
    Automatic,
}

impl ChannelsMax {
    /// How many that is with these NICs.
    #[must_use]
    pub fn of(self, nics: &[LocalNic]) -> usize {
        let most = match self {
            Self::Count(count) => count,
            Self::Automatic if nics.iter().any(|nic| nic.rss) => {
                nics.len().max(LinerateRules::default().channels_max)
            }
            Self::Automatic => nics.len(),
        };
        most.clamp(1, CHANNELS_MAX)
    }
}

/// What a session must and may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Dialects to offer.
    pub dialects: Vec<Dialect>,
    /// Whether everything is signed, or only what the server insists on.
    pub signing: SigningPolicy,
    /// Signing algorithms to offer, best first.
    pub signing_algorithms: Vec<SigningAlgorithm>,
    /// Whether everything is encrypted, or only what the server insists on.
    pub encryption: EncryptionPolicy,
    /// Ciphers to offer, best first.
    pub ciphers: Vec<Cipher>,
    /// Most bytes of one READ or WRITE; the server and its credits may bound it further.
    pub block_bytes: u32,
    /// READs and WRITEs in flight on one channel.
    pub depth: usize,
    /// Have exactly so many in flight. Otherwise a slow channel has fewer, so that the others need
    /// not wait for it in the end, and one over a long path up to twice as many.
    pub depth_fixed: bool,
    /// Blocks in all: with `block_bytes` the bound of the memory of the session, of those [beside
    /// it](crate::Session::open_parallel) and of those that it was referred to. Fewer than `depth` times the channels
    /// of all make the channels wait.
    pub blocks: usize,
    /// How the sockets of its channels are made.
    pub sockets: SocketOptions,
    /// How long one address may take to answer.
    pub connect_timeout: Duration,
    /// How long negotiation and login may take.
    pub login_timeout: Duration,
    /// Nothing that comes of any request for so long ends a channel, while one waits that the server has not put off.
    pub request_timeout: Duration,
    /// How long to try to get back to the server when all connections are lost; meanwhile
    /// everything waits. None: a lost session is an error at once.
    pub reconnect: Option<Duration>,
    /// Use the POSIX extensions of SMB 3.1.1 where server and share have them:
    /// [`Tree::is_posix`](crate::Tree::is_posix).
    pub posix: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            dialects: Dialect::ALL.to_vec(),
            signing: SigningPolicy::IfRequired,
            signing_algorithms: vec![
                SigningAlgorithm::AesGmac,
                SigningAlgorithm::HmacSha256,
                SigningAlgorithm::AesCmac,
            ],
            encryption: EncryptionPolicy::IfRequired,
            ciphers: Cipher::ALL.to_vec(),
            block_bytes: 1 << 20,
            depth: 8,
            depth_fixed: false,
            blocks: 32,
            sockets: SocketOptions::default(),
            connect_timeout: Duration::from_secs(5),
            login_timeout: Duration::from_secs(20),
            request_timeout: Duration::from_secs(25),
            reconnect: Some(Duration::from_secs(60)),
            posix: false,
        }
    }
}

/// What the protocol has to know of a policy, its server and its login.
pub(super) fn settings(
    server: &Server,
    login: &Login,
    policy: &Policy,
) -> Result<SessionSettings, Error> {
    let depth_bytes_max = u64::from(policy.block_bytes) * policy.depth as u64;
    Ok(SessionSettings {
        identity: match login {
            Login::User { .. } | Login::Ticket { .. } => Identity::User,
            Login::Guest { .. } => Identity::Guest,
            Login::Anonymous => Identity::Anonymous,
            Login::Brokered(broker) => broker.identity(),
        },
        signing: policy.signing,
        dialects: policy.dialects.clone(),
        signing_algorithms: policy.signing_algorithms.clone(),
        encryption: policy.encryption,
        ciphers: policy.ciphers.clone(),
        chunk_bytes_max: policy.block_bytes,
        depth_bytes_max,
        depth_requests_max: policy.depth,
        depth_fixed: policy.depth_fixed,
        reconnect: policy.reconnect.is_some(),
        restore_time_max: policy.reconnect.unwrap_or_default(),
        posix: policy.posix,
        ..SessionSettings::new(server.name.clone(), random()?)
    })
}
