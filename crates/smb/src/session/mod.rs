//! One login to one server, over one or more channels.

mod channel_status;
mod dialect_and_cipher_names;
mod local_nics;
mod multichannel;
mod open_channel;
mod policy;
mod route;
mod setup_and_logoff;
mod tcp_connect;

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use locale::{Message, say};
use smb_proto::BlockPool;
use smb_proto::error::FileProblem;
use smb_proto::multichannel_plan::Pair;
use smb_proto::session::{Identity, Negotiated};

use crate::auth::{Login, NoKerberos, Proof};
use crate::channel_driver::Link;
use crate::error::Error;
use crate::signal::{Signal, Stop, lock};
use crate::std_or_shuttle::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::std_or_shuttle::thread::JoinHandle;
use crate::std_or_shuttle::{Mutex, now};

pub use channel_status::ChannelStatus;
pub use dialect_and_cipher_names::{cipher_name, dialect_name, signing_algorithm_name};
pub use local_nics::local_nics;
pub use policy::{CHANNELS_MAX, ChannelsMax, Policy, Server};
pub(crate) use route::Route;

/// So long a server may take to notice that a connection is gone, as far as we wait for that.
const HELD_MAX: Duration = Duration::from_secs(60);

/// A login to a server. Dropping it logs off, closes the connections and ends the threads.
pub struct Session {
    shared: Arc<Shared>,
}

pub(crate) type Links = Arc<Mutex<Vec<(usize, Arc<Link>)>>>;

/// What shares and files need of their session.
pub(crate) struct Shared {
    pub(crate) protocol: smb_proto::Session,
    pub(crate) pool: BlockPool,
    pub(crate) server: Server,
    pub(crate) policy: Policy,
    pub(crate) login: Login,
    /// How the first channel's login was proven.
    pub(crate) proof: OnceLock<Proof>,
    epoch: Instant,
    /// Its place among the sessions beside each other.
    pub(crate) number: usize,
    /// The channels of all of these, each with the place of its session.
    pub(crate) links: Links,
    /// One channel is opened after the other: Samba before 4.19 loses replies when two channels
    /// of one client negotiate at the same time (its bug 15346).
    opening: Mutex<()>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// The paths to the server that are to have a channel.
    routes: Mutex<Vec<Route>>,
    /// Wakes the thread that keeps them.
    pub(crate) reconnect: Arc<Signal>,
    /// Wakes the thread that looks for more of them, and how many it looks for, if there is one.
    pub(crate) discovery: Arc<Signal>,
    pub(crate) seeks: OnceLock<ChannelsMax>,
    /// The session is being dropped.
    pub(crate) stopping: AtomicBool,
    /// Reconnecting was given up.
    pub(crate) gave_up: AtomicBool,
    /// Since when there has been no channel.
    pub(crate) lost_since: Mutex<Option<Instant>>,
    /// Ends the wait for another.
    pub(crate) stop: Mutex<Stop>,
    /// How often its server was asked who has a file open.
    pub(crate) asked_for_holders: AtomicUsize,
    /// Sessions with servers that this one referred to.
    pub(crate) referred: Referred,
    /// The session that the user asked for, where a referral led to this one.
    pub(crate) home: Option<Weak<Self>>,
}

/// Sessions with the servers that referrals led to.
#[derive(Default)]
pub(crate) struct Referred {
    /// One is opened after the other.
    pub(crate) opening: Mutex<()>,
    pub(crate) sessions: Mutex<Vec<Session>>,
}

impl Referred {
    /// Does something with each.
    pub(crate) fn each<T>(&self, of: impl FnMut(&Session) -> T) -> Vec<T> {
        lock(&self.sessions).iter().map(of).collect()
    }

    fn take(&self) -> Vec<Session> {
        std::mem::take(&mut *lock(&self.sessions))
    }
}

impl Shared {
    /// Bytes that are worth having in flight over all channels.
    pub(crate) fn bytes_in_flight_max(&self) -> u64 {
        let channels = self.protocol.channels_up().len().max(1) as u64;
        channels * self.policy.depth as u64 * u64::from(self.policy.block_bytes)
    }

    /// The two ends of the first channel that lives.
    pub(crate) fn primary(&self) -> Option<Pair> {
        let links = lock(&self.links);
        let mut own = links.iter().filter(|(it, _)| *it == self.number);
        let (_, link) = own.find(|(_, link)| link.is_alive())?;
        Some(link.pair())
    }

    /// How many channels have ended.
    pub(crate) fn channels_ended(&self) -> usize {
        let links = lock(&self.links);
        let own = links.iter().filter(|(it, _)| *it == self.number);
        own.filter(|(_, link)| !link.is_alive()).count()
    }

    /// Whether a channel of it, or of those beside it, was lost a short while ago: the server may still hold what
    /// was open over it.
    pub(crate) fn has_lost_lately(&self) -> bool {
        let lately = |at: Instant| now() - at < HELD_MAX;
        let links = lock(&self.links);
        links
            .iter()
            .any(|(_, link)| link.ended_at().is_some_and(lately))
    }

    /// What cannot be unless the protocol crate is wrong.
    pub(crate) fn odd_answer(&self) -> Error {
        let odd = smb_proto::Error::Misbehaving(say("misbehaving.other-question"));
        Error::of_connection(odd, &self.server.name)
    }

    /// A file was closed, and nobody heard from the server that it has all that was written.
    pub(crate) fn unheard_end(&self, path: &str) -> Error {
        let source = smb_proto::Error::FileChanged {
            path: path.to_owned(),
            problem: FileProblem::EndUnheard,
        };
        self.error(source, path)
    }

    /// Sorts the failure of a request about `object`. Where the session has ended, why the first
    /// channel ended says more than that there is none left.
    pub(crate) fn error(&self, source: smb_proto::Error, object: &str) -> Error {
        let source = match source {
            smb_proto::Error::ChannelLost { .. } if self.protocol.is_over() => {
                return Error::of_connection(source, &self.server.name);
            }
            smb_proto::Error::SessionEnded(Some(cause))
                if self.gave_up.load(Ordering::SeqCst) || cause.is_of_login() =>
            {
                return Error::of_return(&cause, &self.server.name, self.login.name());
            }
            smb_proto::Error::SessionEnded(None) => {
                let links = lock(&self.links);
                let mut own = links.iter().filter(|(session, _)| *session == self.number);
                let cause = own.find_map(|(_, link)| link.failure());
                drop(links);
                smb_proto::Error::SessionEnded(cause.map(Arc::new))
            }
            source => source,
        };
        Error::of_request(source, &self.server.name, object)
    }
}

impl Session {
    /// Whoever uses this handle also ends the wait for a way back to the server: requests that wait
    /// for it fail then.
    pub fn obey(&self, stop: &Stop) {
        *lock(&self.shared.stop) = stop.clone();
        self.shared.referred.each(|session| session.obey(stop));
    }

    pub(crate) const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// For how long all connections have been lost, while it is tried to get back to the server.
    #[must_use]
    pub fn reconnecting(&self) -> Option<Duration> {
        let own = lock(&self.shared.lost_since).map(|since| now() - since);
        let referred = || self.shared.referred.each(Self::reconnecting);
        own.or_else(|| referred().into_iter().flatten().max())
    }

    /// What was agreed with the server.
    #[must_use]
    pub fn negotiated(&self) -> Option<Negotiated> {
        self.shared.protocol.negotiated()
    }

    /// Whether the server signs the replies of a chain without their padding, against MS-SMB2 3.1.4.1, so that
    /// small files take single requests.
    #[must_use]
    pub fn avoids_chains(&self) -> bool {
        self.shared.protocol.avoids_chains()
    }

    /// How the user was proven to the server.
    #[must_use]
    pub fn proof(&self) -> Proof {
        let negotiated = self.negotiated();
        if negotiated.is_some_and(|negotiated| negotiated.identity != Identity::User) {
            return Proof::Nothing;
        }
        self.shared.proof.get().copied().unwrap_or(Proof::Nothing)
    }

    /// Why a user of a domain was proven by NTLM, where a ticket could have been expected.
    #[must_use]
    pub fn no_kerberos(&self) -> Option<NoKerberos> {
        match self.proof() {
            Proof::Ntlm => NoKerberos::here(&self.shared.login, &self.shared.server.name),
            _ => None,
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Session")
            .field("server", &self.shared.server)
            .field("login", &self.shared.login)
            .field("channels", &lock(&self.shared.links).len())
            .finish()
    }
}

pub(crate) fn random<const BYTES: usize>() -> Result<[u8; BYTES], Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|source| system(say("error-smb.cannot-get-random"), io::Error::other(source)))?;
    Ok(bytes)
}

fn system(action: Message, source: io::Error) -> Error {
    Error::System { action, source }
}
