//! One login to one server, over one or more channels.

mod channel;
mod channel_status;
mod connect;
mod local_nics;
mod multichannel;
mod names;
mod policy;
mod route;

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use locale::{Message, say};
use smb_proto::BlockPool;
use smb_proto::plan::Pair;
use smb_proto::session::{Identity, Negotiated, Request};

use crate::auth::{Login, NoKerberos, Proof};
use crate::dfs::{self, Referrals, Referred};
use crate::discovery::ChannelsMax;
use crate::driver::Link;
use crate::error::Error;
use crate::reconnect;
use crate::request::ask_briefly;
use crate::shares::{self, ShareEntry, ShareKind};
use crate::signal::{Signal, Stop, lock};
use crate::smb1;
use crate::socket::LocalEnd;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::thread::{self, JoinHandle};
use crate::sync::{Mutex, now};
use crate::tree::Tree;
use policy::settings;

pub use channel_status::ChannelStatus;
pub use local_nics::local_nics;
pub use multichannel::CHANNELS_MAX;
pub use names::{cipher_name, dialect_name, signing_algorithm_name};
pub use policy::{Policy, Server};
pub(crate) use route::Route;

/// How long a polite end may take before the connections are just closed.
const LOGOFF_TIMEOUT: Duration = Duration::from_secs(2);
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
    /// The ways to the server that are to have a channel.
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
        let odd = smb_proto::Error::Misbehaving("an answer to another question".to_owned());
        Error::of_connection(odd, &self.server.name)
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
    /// Connects to a server and logs in. Every address of its name is tried.
    ///
    /// # Errors
    /// When the server is unknown or unreachable, refuses the login or only offers a guest's, or
    /// is not what the policy asks for.
    pub fn connect(
        server: &Server,
        local: Option<LocalEnd>,
        login: &Login,
        policy: &Policy,
    ) -> Result<Self, Error> {
        let route = Route {
            local: local.unwrap_or_default(),
            remote: None,
            link: None,
            retry: None,
        };
        let block_bytes = usize::try_from(policy.block_bytes).unwrap_or(usize::MAX);
        let pool = BlockPool::new(policy.blocks, block_bytes);
        Self::connect_by(&route, server, login, policy, pool, Arc::default(), None)
    }

    pub(crate) fn connect_by(
        route: &Route,
        server: &Server,
        login: &Login,
        policy: &Policy,
        pool: BlockPool,
        links: Links,
        home: Option<Weak<Shared>>,
    ) -> Result<Self, Error> {
        policy.sockets.check()?;
        let known = lock(&links).iter().map(|(session, _)| session + 1).max();
        let protocol = smb_proto::Session::new(settings(server, login, policy)?, pool.clone())
            .map_err(|source| Error::of_connection(source, &server.name))?;
        let shared = Shared {
            protocol,
            pool,
            server: server.clone(),
            policy: policy.clone(),
            login: login.clone(),
            proof: OnceLock::new(),
            epoch: now(),
            number: known.unwrap_or(0),
            links,
            opening: Mutex::default(),
            threads: Mutex::default(),
            routes: Mutex::default(),
            reconnect: Arc::default(),
            discovery: Arc::default(),
            seeks: OnceLock::new(),
            stopping: AtomicBool::new(false),
            gave_up: AtomicBool::new(false),
            lost_since: Mutex::default(),
            stop: Mutex::default(),
            asked_for_holders: AtomicUsize::new(0),
            referred: Referred::default(),
            home,
        };
        let session = Self {
            shared: Arc::new(shared),
        };
        session.shared.open(route).map_err(|error| match error {
            Error::ConnectionLost { server: name, .. }
                if session.negotiated().is_none() && smb1::is_all_it_speaks(server) =>
            {
                Error::OnlySmb1 { server: name }
            }
            error => error,
        })?;
        tracing::info!(
            server = server.name,
            negotiated = ?session.negotiated(),
            proof = ?session.shared.proof.get(),
            "session set up"
        );
        if let Some(limit) = policy.reconnect {
            let shared = Arc::downgrade(&session.shared);
            thread::Builder::new()
                .name("smb reconnect".to_owned())
                .spawn(move || reconnect::run(&shared, limit))
                .map_err(|source| system(say("error-smb.cannot-start-thread"), source))?;
        }
        Ok(session)
    }

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

    /// The shares of the server, in its order.
    ///
    /// # Errors
    /// When the server does not tell this user.
    pub fn shares(&self) -> Result<Vec<ShareEntry>, Error> {
        shares::list(self, &self.shared.server.name)
    }

    /// Connects to a share.
    ///
    /// # Errors
    /// When there is no such share, or the user may not use it.
    pub fn tree(&self, share: &str) -> Result<Tree, Error> {
        Tree::connect(&self.shared, share).map_err(|error| self.with_shares(error))
    }

    /// Connects to a share and finds a path of it, which need not be there. Where the server says that the share or a
    /// folder on the path is on another server (DFS), the user is logged in there as well, with the same demands, and
    /// the share and the path are those of that server. The session with it ends with this one.
    ///
    /// # Errors
    /// When there is no such share, the user may not use it, or no server that is referred to can be used.
    pub fn locate(
        &self,
        share: &str,
        path: &str,
        referrals: Referrals,
    ) -> Result<(Tree, String), Error> {
        dfs::locate(self, share, path, referrals)
    }

    /// An error with the shares that there are, where it is that there is no such share.
    pub(crate) fn with_shares(&self, error: Error) -> Error {
        match error {
            Error::NoSuchShare {
                server,
                share,
                source,
                ..
            } if share != shares::IPC_SHARE => {
                let known = self.shares().unwrap_or_default().into_iter();
                let known = known.filter(|it| !it.special && it.kind == ShareKind::Disk);
                Error::NoSuchShare {
                    server,
                    share,
                    there: known.map(|it| it.name).collect(),
                    source,
                }
            }
            error => error,
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.shared.referred.take());
        self.shared.stopping.store(true, Ordering::SeqCst);
        if !self.shared.protocol.channels_up().is_empty() {
            // The server frees everything at once when we say so; when it does not answer, it
            // will find out.
            ask_briefly(&self.shared, Request::Logoff, LOGOFF_TIMEOUT);
        }
        self.shared.protocol.end();
        self.shared.reconnect.tell();
        self.shared.discovery.tell();
        let threads = std::mem::take(&mut *lock(&self.shared.threads));
        for thread in threads {
            // A driver that panicked has closed its link; there is nothing more to do about it.
            let _ = thread.join();
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
