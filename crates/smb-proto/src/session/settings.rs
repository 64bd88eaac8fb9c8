//! How a session is to be, and what was agreed with the server: dialect, signing and encryption.

use std::time::Duration;

/// Whether to sign, beyond what the protocol always signs. What is encrypted is never signed too:
/// encryption proves as much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SigningPolicy {
    /// Sign everything if the server requires it.
    #[default]
    IfRequired,
    /// Sign everything; refuse a server that cannot.
    Required,
    /// Sign everything but READs and WRITEs, whose content could then be changed on the path;
    /// sign those too where the server requires it.
    DataUnsigned,
}

/// Who logs in, as far as the protocol must know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Identity {
    /// A user. A server that makes a guest or nobody of it is refused.
    #[default]
    User,
    /// A user, or what the server makes of it: a guest's session can neither sign nor encrypt.
    Guest,
    /// Nobody. There is no secret to make keys of, whatever the server says about the session.
    Anonymous,
}

/// A dialect of SMB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// 2.0.2
    Smb202,
    /// 2.1
    Smb210,
    /// 3.0
    Smb300,
    /// 3.0.2
    Smb302,
    /// 3.1.1
    Smb311,
}

impl Dialect {
    /// All of them, newest first.
    pub const ALL: [Self; 5] = [
        Self::Smb311,
        Self::Smb302,
        Self::Smb300,
        Self::Smb210,
        Self::Smb202,
    ];
}

/// A signing algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SigningAlgorithm {
    /// HMAC-SHA256, cut to 16 bytes.
    HmacSha256,
    /// AES-128-CMAC.
    AesCmac,
    /// AES-128-GMAC.
    AesGmac,
}

/// How messages are encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cipher {
    /// AES-128-GCM, in 3.1.1.
    Aes128Gcm,
    /// AES-256-GCM, in 3.1.1.
    Aes256Gcm,
    /// AES-128-CCM, the only one of 3.0 and 3.0.2. Several times slower than GCM.
    Aes128Ccm,
    /// AES-256-CCM, in 3.1.1. Several times slower than GCM.
    Aes256Ccm,
}

impl Cipher {
    /// All of them, best first.
    pub const ALL: [Self; 4] = [
        Self::Aes128Gcm,
        Self::Aes256Gcm,
        Self::Aes128Ccm,
        Self::Aes256Ccm,
    ];

    /// Bytes of its key.
    pub(crate) fn key_length(self) -> usize {
        match self {
            Self::Aes128Gcm | Self::Aes128Ccm => 16,
            Self::Aes256Gcm | Self::Aes256Ccm => 32,
        }
    }
}

/// What to encrypt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EncryptionPolicy {
    /// What the server demands: everything, the shares it says so of, or nothing.
    #[default]
    IfRequired,
    /// Everything; refuse a server that cannot.
    Required,
}

/// How a session is to be.
#[derive(Debug, Clone)]
pub struct SessionSettings {
    /// The server's name as the user typed it: goes into share paths and NEGOTIATE.
    pub server_name: String,
    /// Random; the same on all channels of this session and of no other.
    pub client_guid: [u8; 16],
    /// Who logs in.
    pub identity: Identity,
    /// Signing.
    pub signing: SigningPolicy,
    /// Dialects to offer, any order; not empty.
    pub dialects: Vec<Dialect>,
    /// Signing algorithms to offer for 3.1.1, best first; not empty.
    pub signing_algorithms: Vec<SigningAlgorithm>,
    /// What to encrypt.
    pub encryption: EncryptionPolicy,
    /// Ciphers to offer, best first; none: encryption is not offered.
    pub ciphers: Vec<Cipher>,
    /// Most bytes of one READ or WRITE; also bounded by server, credits and block.
    pub chunk_bytes_max: u32,
    /// Most bytes under way on one channel.
    pub depth_bytes_max: u64,
    /// Most READs and WRITEs under way on one channel.
    pub depth_requests_max: usize,
    /// Have exactly as much under way as there is work for. Otherwise a slow channel takes less, so
    /// that the others need not wait for it in the end, and one over a long path up to twice as
    /// much.
    pub depth_fixed: bool,
    /// The id of a session that was lost, so that the server frees what it held.
    pub previous_session_id: u64,
    /// When the last channel breaks or falls silent, all waits for another one, which logs in anew
    /// ([`Session::is_lost`](super::Session::is_lost), [`Session::give_up`](super::Session::give_up)).
    /// Files are opened so that they can be taken up again.
    pub reconnect: bool,
    /// How long after that, once it is logged in, a share that is not there is waited for.
    pub restore_time_max: Duration,
    /// Offer the POSIX extensions with 3.1.1: [`Negotiated::posix`].
    pub posix: bool,
}

impl SessionSettings {
    /// The usual settings.
    pub fn new(server_name: impl Into<String>, client_guid: [u8; 16]) -> Self {
        Self {
            server_name: server_name.into(),
            client_guid,
            identity: Identity::default(),
            signing: SigningPolicy::default(),
            dialects: Dialect::ALL.to_vec(),
            signing_algorithms: vec![
                SigningAlgorithm::AesGmac,
                SigningAlgorithm::HmacSha256,
                SigningAlgorithm::AesCmac,
            ],
            encryption: EncryptionPolicy::default(),
            ciphers: Cipher::ALL.to_vec(),
            chunk_bytes_max: 1 << 20,
            depth_bytes_max: 8 << 20,
            depth_requests_max: 64,
            depth_fixed: false,
            previous_session_id: 0,
            reconnect: false,
            restore_time_max: Duration::from_secs(60),
            posix: false,
        }
    }
}

/// What was agreed with the server; the same on every channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Negotiated {
    /// The dialect.
    pub dialect: Dialect,
    /// The signing algorithm.
    pub signing_algorithm: SigningAlgorithm,
    /// Whether everything is signed that is not encrypted; READs and WRITEs may be exempt.
    pub signing: bool,
    /// Whether READs and WRITEs are signed where they are not encrypted.
    pub data_signing: bool,
    /// The cipher, if both sides can encrypt.
    pub cipher: Option<Cipher>,
    /// Whether everything is encrypted. If not, single shares may be.
    pub encryption: bool,
    /// The server's identity.
    pub server_guid: [u8; 16],
    /// Whether both sides do multichannel.
    pub multichannel: bool,
    /// Most bytes of a READ.
    pub read_bytes_max: u32,
    /// Most bytes of a WRITE.
    pub write_bytes_max: u32,
    /// Most bytes of other payloads.
    pub transact_bytes_max: u32,
    /// What the server took us for. A guest's session and nobody's can neither sign nor encrypt.
    pub identity: Identity,
    /// Whether files can be opened by the POSIX extensions, on shares that have them:
    /// [`CreateOptions::posix`](super::CreateOptions::posix).
    pub posix: bool,
}
