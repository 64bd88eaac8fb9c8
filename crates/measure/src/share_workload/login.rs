//! A session with a share: logging in, and what was agreed with the server.

use std::net::IpAddr;

use locale::Message;
use os::network::LocalEnd;
use record::{
    BitsPerSecond, Bytes, Credentials, Identity, ServerInterface, ShareAddress, ShareWorkload,
    SmbSession,
};
use smb::copy::Place;
use smb::{Login, Mechanism, Negotiated, Pair, Policy, Referrals, Server, Session, Tree};
use zeroize::Zeroizing;

use super::session_policy::algorithms;
use crate::Error;

/// A session with a share.
pub(crate) struct Connected {
    pub(crate) session: Session,
    pub(crate) tree: Tree,
    /// Why channels that were wanted are not there.
    pub(crate) rejected: Vec<Message>,
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
    pub(super) fn connect_from(
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

/// What was agreed with the server of a share; none when the session never came up.
#[must_use]
pub fn agreed(session: &Session, tree: &Tree, rejected: &[Message]) -> Option<SmbSession> {
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
    let agreed = SmbSession {
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
        rejected_channels: Vec::new(),
        rejected_channel_messages: Vec::new(),
        credits: None,
        credit_waits: None,
    };
    Some(agreed.without_channels(rejected))
}

/// Opens further connections of a session by the addresses of its first one, until there are so many by these.
pub(super) fn add_connections(session: &Session, connections: u32) -> Result<(), Error> {
    for _ in 1..connections {
        let Some(first) = session.channels().into_iter().next() else {
            break;
        };
        let pair = Pair {
            local: first.local.ip(),
            remote: first.remote.ip(),
        };
        session.add_channel(&pair, None)?;
    }
    Ok(())
}

/// Whether the server took the algorithms that were demanded, where it protects at all.
pub(super) fn check_agreed(
    session: &Session,
    tree: &Tree,
    workload: &ShareWorkload,
) -> Result<(), Error> {
    let Some(agreed) = agreed(session, tree, &[]) else {
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
