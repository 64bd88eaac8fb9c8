//! One login to one server, over one or more channels.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use smb_proto::plan::{LocalAddress, LocalNic, Pair, ServerInterface};
use smb_proto::session::{
    Cipher, Dialect, EncryptionPolicy, Identity, Negotiated, Request, SessionSettings,
    SigningAlgorithm, SigningPolicy,
};
use smb_proto::{BlockPool, Channel, ChannelNumber, ChannelSettings};

use crate::auth::{Exchange, Login, NoKerberos, Proof};
use crate::dfs::{self, Referrals, Referred};
use crate::discovery::{self, ChannelsMax};
use crate::driver::{Driver, Link, Readiness, time_since};
use crate::error::Error;
use crate::reconnect::{self, CONNECT_TIMEOUT_MAX};
use crate::request::ask_briefly;
use crate::shares::{self, ShareEntry, ShareKind};
use crate::signal::{Signal, Stop, lock};
use crate::smb1;
use crate::socket::{self, Connection, LocalEnd, SocketOptions, TcpFacts};
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::thread::{self, JoinHandle};
use crate::sync::{Mutex, is_finished, now};
use crate::tree::Tree;

/// How long a polite end may take before the connections are just closed.
const LOGOFF_TIMEOUT: Duration = Duration::from_secs(2);
/// How long each of several addresses is waited for before any is waited for in earnest. Whoever loses one
/// SYN sends another after a second.
const BRIEFLY: Duration = Duration::from_millis(1500);
/// A channel without work for so long shows whether its way still leads to the server.
const IDLE_ECHO_AFTER: Duration = Duration::from_secs(5);
/// So long a server may take to notice that a connection is gone, as far as we wait for that.
const HELD_MAX: Duration = Duration::from_secs(60);
/// Most channels of one session; servers refuse more.
pub const CHANNELS_MAX: usize = 32;

/// A server as the user typed it. Its addresses are looked up here, and each is tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Host name or address.
    pub name: String,
    /// TCP port, usually 445.
    pub port: u16,
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
    /// it](Session::open_parallel) and of those that it was referred to. Fewer than `depth` times the channels
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
    /// Use the POSIX extensions of SMB 3.1.1 where server and share have them: [`Tree::is_posix`].
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

/// One channel at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelStatus {
    /// Its session: 0 the first one, from 1 on those beside it.
    pub session: usize,
    /// Its number; never used twice in its session.
    pub number: ChannelNumber,
    /// Our end.
    pub local: SocketAddr,
    /// The far end.
    pub remote: SocketAddr,
    /// The interface our address belongs to, where known.
    pub nic: Option<String>,
    /// Payload read since the channel began.
    pub bytes_received: u64,
    /// Payload written, and confirmed by the server.
    pub bytes_sent: u64,
    /// What TCP knows, where the system says so.
    pub tcp: Option<TcpFacts>,
    /// The congestion control by which our end sends, where the system says so.
    pub congestion_control: Option<String>,
    /// Credits that are left.
    pub credits: u64,
    /// Requests in flight.
    pub in_flight: u64,
    /// Payload of the READs and WRITEs among them.
    pub bytes_in_flight: u64,
    /// How often work had to wait for credits.
    pub credit_starved: u64,
    /// How long its thread waited while work lacked credits.
    pub credit_wait: Duration,
    /// How long its thread waited while work lacked a block.
    pub block_wait: Duration,
    /// How long processors have worked for its thread, to a millisecond.
    pub processor: Duration,
    /// Whether it takes work.
    pub alive: bool,
    /// Why it does not leave by the interface that was asked for, if so.
    pub not_bound_because: Option<String>,
}

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

/// A way to the server.
#[derive(Clone)]
pub(crate) struct Route {
    local: LocalEnd,
    /// None: whatever the server's name means.
    remote: Option<SocketAddr>,
    /// Its last channel.
    pub(crate) link: Option<Arc<Link>>,
    /// When to try again, and how often that has failed.
    pub(crate) retry: Option<(Instant, u32)>,
}

impl Route {
    /// One that has not been tried.
    pub(crate) fn between(pair: &Pair, nic: Option<&str>, port: u16) -> Self {
        Self {
            local: LocalEnd {
                address: Some(pair.local),
                nic: nic.map(str::to_owned),
            },
            remote: Some(SocketAddr::new(pair.remote, port)),
            link: None,
            retry: None,
        }
    }

    /// To one address of a server, from wherever.
    pub(crate) fn to(address: SocketAddr) -> Self {
        Self {
            local: LocalEnd::default(),
            remote: Some(address),
            link: None,
            retry: None,
        }
    }

    /// The ends of its last channel.
    pub(crate) fn pair(&self) -> Option<Pair> {
        self.link.as_deref().map(Link::pair)
    }

    /// The same without the channel that it has.
    fn anew(&self) -> Self {
        Self {
            link: None,
            retry: None,
            ..self.clone()
        }
    }

    /// Several channels may have the same ends, but none has the same number as another.
    fn same(&self, other: &Self) -> bool {
        let number = |route: &Self| route.link.as_ref().map(|link| link.number);
        self.link.is_some() && number(self) == number(other)
    }
}

/// Keeping channels.
impl Shared {
    pub(crate) fn routes(&self) -> Vec<Route> {
        lock(&self.routes).clone()
    }

    pub(crate) fn forget(&self, route: &Route) {
        lock(&self.routes).retain(|other| !other.same(route));
    }

    /// Where there are more than so many, forgets those that lead nowhere and are not among these
    /// any more: others took their place. The server's name may always lead there again.
    pub(crate) fn forget_beyond(&self, most: usize, planned: &[Pair]) {
        let mut routes = lock(&self.routes);
        let mut beyond = routes.len().saturating_sub(most);
        routes.retain(|route| {
            let is_planned = route.pair().is_some_and(|pair| planned.contains(&pair));
            let goes = beyond > 0 && !route.is_alive() && !is_planned && route.remote.is_some();
            beyond -= usize::from(goes);
            !goes
        });
    }

    pub(crate) fn retry(&self, route: &Route, next: Option<(Instant, u32)>) {
        let mut routes = lock(&self.routes);
        if let Some(route) = routes.iter_mut().find(|other| other.same(route)) {
            route.retry = next;
        }
    }

    /// Opens a channel this way, and remembers the way.
    pub(crate) fn open(&self, route: &Route) -> Result<Arc<Link>, Error> {
        let _one_after_the_other = lock(&self.opening);
        let server = &self.server;
        let timeout = if route.link.is_some() {
            self.policy.connect_timeout.min(CONNECT_TIMEOUT_MAX)
        } else {
            self.policy.connect_timeout
        };
        let connection = match route.remote {
            Some(remote) => socket::connect(remote, &route.local, &self.policy.sockets, timeout)
                .map_err(|source| of_connect(source, &server.name, remote)),
            None => connect_any(server, &route.local, &self.policy.sockets, timeout),
        }?;
        let link = self.open_channel(connection)?;
        let mut routes = lock(&self.routes);
        let open = Route {
            link: Some(Arc::clone(&link)),
            retry: None,
            ..route.clone()
        };
        match routes.iter_mut().find(|other| other.same(route)) {
            Some(place) => *place = open,
            None => routes.push(open),
        }
        drop(routes);
        lock(&self.links).push((self.number, Arc::clone(&link)));
        Ok(link)
    }

    /// Starts the thread of a new connection and waits until its channel takes work.
    fn open_channel(&self, connection: Connection) -> Result<Arc<Link>, Error> {
        let user = self.login.name();
        let server = &self.server.name;
        let refused = |source| Error::of_login(source, server, user);
        let exchange = Exchange::new(&self.login, server)
            .map_err(|source| Error::of_exchange(source, server, user))?;
        let proof = exchange.proof();
        let readiness =
            Readiness::new(connection.stream).map_err(|source| system("watch a socket", source))?;
        let mut settings = ChannelSettings::new(readiness.waker(), Box::new(exchange), random()?);
        settings.request_timeout = self.policy.request_timeout;
        settings.login_timeout = self.policy.login_timeout;
        settings.sends_origins = true;
        settings.idle_echo_after = Some(IDLE_ECHO_AFTER);
        let now = time_since(self.epoch);
        let channel = Channel::new(&self.protocol, settings, now).map_err(refused)?;
        let nic = readiness.local_address().and_then(nic_of);
        let driver = Driver::new(
            channel,
            readiness,
            nic,
            connection.not_bound_because,
            self.epoch,
            Arc::clone(&self.reconnect),
            {
                let (login, server) = (self.login.clone(), server.clone());
                Box::new(move || Exchange::new(&login, &server))
            },
        )
        .map_err(|source| of_new_socket(source, server))?;
        let link = driver.link();
        let thread = thread::Builder::new()
            .name(format!("smb {}", link.number))
            .spawn(move || driver.run())
            .map_err(|source| system("start a thread", source))?;
        let mut threads = lock(&self.threads);
        threads.retain(|thread| !is_finished(thread));
        threads.push(thread);
        drop(threads);
        match link.wait_until_up() {
            Ok(()) => {
                self.proof.get_or_init(|| proof);
                Ok(link)
            }
            Err(cause) => Err(refused(
                cause.unwrap_or(smb_proto::Error::SessionEnded(None)),
            )),
        }
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
        if let Some(limit) = policy.reconnect {
            let shared = Arc::downgrade(&session.shared);
            thread::Builder::new()
                .name("smb reconnect".to_owned())
                .spawn(move || reconnect::run(&shared, limit))
                .map_err(|source| system("start a thread", source))?;
        }
        Ok(session)
    }

    /// One more session of the same user with the server of a share, over the same ways, and that share
    /// over it. Its channels are also among [`Self::channels`] of the first one. It is worth it where
    /// the server has one processor at a time work on what comes over one session, as Samba, which has
    /// a process for each.
    ///
    /// # Errors
    /// When the server does not want it, or another one answers.
    pub fn open_parallel(tree: &Tree) -> Result<(Self, Tree), Error> {
        let first = tree.shared();
        // Without a name of the server, nothing would tell that it is the same one. Linux's own has none; and its
        // end of any session ends the further channels of all others.
        if tree.server_guid().is_none() {
            return Err(first.odd_answer());
        }
        let mut ways = first.routes().into_iter();
        let Some(way) = ways.next() else {
            return Err(first.error(smb_proto::Error::SessionEnded(None), tree.share()));
        };
        let alive = way.link.as_ref().filter(|link| link.is_alive());
        // The server's name may lead to another one by now.
        let there = Route {
            remote: alive.map(|link| link.remote).or(way.remote),
            ..way.anew()
        };
        let links = Arc::clone(&first.links);
        let (login, policy, home) = (&first.login, &first.policy, first.home.clone());
        let (server, pool) = (&first.server, first.pool.clone());
        let session = Self::connect_by(&there, server, login, policy, pool, links, home)?;
        // It may come back elsewhere, as the first one may.
        for route in lock(&session.shared.routes).iter_mut() {
            route.remote = way.remote;
        }
        session.obey(&lock(&first.stop));
        let again = session.tree(tree.share())?;
        if !again.is_same_server(tree) || !again.is_as_posix_as(tree) {
            return Err(first.odd_answer());
        }
        for way in ways {
            // As with the first session, what cannot be had is done without.
            let _ = session.shared.open(&way.anew());
        }
        if let Some(most) = first.seeks.get() {
            session.seek_channels(*most)?;
        }
        Ok((session, again))
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

    /// The server's list of its own interfaces, true or not.
    ///
    /// # Errors
    /// When the server does not give one, as without multichannel.
    pub fn server_interfaces(&self) -> Result<Vec<ServerInterface>, Error> {
        discovery::interfaces(&self.shared)
    }

    /// Opens one more channel between two addresses.
    ///
    /// # Errors
    /// When there is no way between them or the server does not want it. The session goes on with
    /// the channels it has.
    pub fn add_channel(&self, pair: &Pair, nic: Option<&str>) -> Result<ChannelNumber, Error> {
        let port = self.shared.server.port;
        let opened = self.shared.open(&Route::between(pair, nic, port));
        opened
            .map(|link| link.number)
            .map_err(|source| Error::Channel {
                local: pair.local,
                remote: SocketAddr::new(pair.remote, port),
                source: source.into(),
            })
    }

    /// Opens channels over all pairs of interfaces that are worth it, until there are `most` in
    /// all. Says in a sentence each what was not taken or failed; neither is an error.
    pub fn add_channels(&self, most: usize, local: &[LocalNic]) -> Vec<String> {
        let Some(primary) = self.shared.primary() else {
            return vec!["the session has ended".to_owned()];
        };
        let mut rejected = Vec::new();
        let interfaces = self.server_interfaces().unwrap_or_else(|error| {
            rejected.push(format!(
                "no interfaces of the server are known: {}",
                chain(&error)
            ));
            Vec::new()
        });
        let channels_max = most.clamp(1, CHANNELS_MAX);
        let plan = discovery::plan_of(channels_max, local, &interfaces, primary);
        rejected.extend(plan.rejects.iter().map(|reject| {
            let name =
                |address: Option<IpAddr>| address.map_or("any".to_owned(), |it| it.to_string());
            format!(
                "{} to {}: {}",
                name(reject.local),
                name(reject.remote),
                reject.reason
            )
        }));
        // The first pair of a plan is the channel that is there already.
        for pair in plan.pairs.iter().skip(1) {
            if let Err(error) = self.add_channel(pair, discovery::nic_of(pair, local)) {
                rejected.push(chain(&error));
            }
        }
        rejected
    }

    /// From now on, looks for further ways by itself, as long as there are not so many channels: when
    /// this machine's NICs change or a channel is lost, and else less and less often, the server is
    /// asked for its interfaces again. Nothing is looked for where it has no multichannel, and where
    /// a session does not come back when it is lost.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn seek_channels(&self, most: ChannelsMax) -> Result<(), Error> {
        let several = self.negotiated().is_some_and(|it| it.multichannel);
        let comes_back = self.shared.policy.reconnect.is_some();
        if !several || !comes_back || self.shared.seeks.set(most).is_err() {
            return Ok(());
        }
        let shared = Arc::downgrade(&self.shared);
        let signal = Arc::clone(&self.shared.discovery);
        thread::Builder::new()
            .name("smb discovery".to_owned())
            .spawn(move || discovery::run(&shared, &signal, most))
            .map(drop)
            .map_err(|source| system("start a thread", source))
    }

    /// All channels there ever were, also those of sessions [parallel](Self::open_parallel) to this one and with servers that
    /// it [referred](Self::locate) to, at this moment. Cheap enough to be asked every few milliseconds.
    #[must_use]
    pub fn channels(&self) -> Vec<ChannelStatus> {
        let mut channels: Vec<ChannelStatus> = lock(&self.shared.links)
            .iter()
            .map(|(session, link)| status(*session, link))
            .collect();
        for referred in self.shared.referred.each(Self::channels) {
            let sessions = channels.iter().map(|channel| channel.session + 1).max();
            let numbered = referred.into_iter().map(|channel| ChannelStatus {
                session: channel.session + sessions.unwrap_or_default(),
                ..channel
            });
            channels.extend(numbered);
        }
        channels
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

/// A dialect as people write it: `3.1.1`.
#[must_use]
pub fn dialect_name(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Smb202 => "2.0.2",
        Dialect::Smb210 => "2.1",
        Dialect::Smb300 => "3.0",
        Dialect::Smb302 => "3.0.2",
        Dialect::Smb311 => "3.1.1",
        _ => "unknown",
    }
}

/// A cipher as people write it: `AES-128-GCM`.
#[must_use]
pub fn cipher_name(cipher: Cipher) -> &'static str {
    match cipher {
        Cipher::Aes128Gcm => "AES-128-GCM",
        Cipher::Aes256Gcm => "AES-256-GCM",
        Cipher::Aes128Ccm => "AES-128-CCM",
        Cipher::Aes256Ccm => "AES-256-CCM",
        _ => "unknown",
    }
}

/// A signing algorithm as people write it: `AES-128-GMAC`.
#[must_use]
pub fn signing_algorithm_name(algorithm: SigningAlgorithm) -> &'static str {
    match algorithm {
        SigningAlgorithm::HmacSha256 => "HMAC-SHA256",
        SigningAlgorithm::AesCmac => "AES-128-CMAC",
        SigningAlgorithm::AesGmac => "AES-128-GMAC",
        _ => "unknown",
    }
}

/// This machine's interfaces that are up, without the loopback, as [`Session::add_channels`]
/// takes them.
///
/// # Errors
/// When the system does not tell.
pub fn local_nics() -> Result<Vec<LocalNic>, Error> {
    let addresses = socket::interface_addresses()
        .map_err(|source| system("list the network interfaces", source))?;
    let mut nics: Vec<LocalNic> = Vec::new();
    for found in addresses {
        let address = LocalAddress {
            address: found.address,
            prefix_length: found.prefix,
        };
        match nics.iter_mut().find(|nic| nic.name == found.nic) {
            Some(nic) => nic.addresses.push(address),
            None => nics.push(LocalNic {
                name: found.nic,
                addresses: vec![address],
                speed_bits_per_second: found.bits_per_second,
                rss: found.queues.is_some_and(|queues| queues > 1),
            }),
        }
    }
    Ok(nics)
}

/// The interface an address belongs to, where the system tells.
fn nic_of(address: IpAddr) -> Option<String> {
    let addresses = socket::interface_addresses().ok()?;
    addresses
        .into_iter()
        .find(|found| found.address == address)
        .map(|found| found.nic)
}

fn settings(server: &Server, login: &Login, policy: &Policy) -> Result<SessionSettings, Error> {
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

/// Tries each address of a name, in the order of the resolver.
fn connect_any(
    server: &Server,
    local: &LocalEnd,
    options: &SocketOptions,
    timeout: Duration,
) -> Result<Connection, Error> {
    let unknown = |source| Error::UnknownHost {
        name: server.name.clone(),
        source,
    };
    let name = server.name.trim_start_matches('[').trim_end_matches(']');
    let addresses = (name, server.port).to_socket_addrs().map_err(unknown)?;
    let same_family = |remote: &SocketAddr| {
        local
            .address
            .is_none_or(|local| local.is_ipv4() == remote.is_ipv4())
    };
    let addresses = addresses.filter(same_family).collect();
    let nothing = || io::Error::new(io::ErrorKind::NotFound, "no address of a usable family");
    connect_first(addresses, local, options, timeout).map_err(|failure| match failure {
        Some((remote, source)) => of_connect(source, &server.name, remote),
        None => unknown(nothing()),
    })
}

/// The first that answers: each is asked briefly, so that nobody waits for one that is dead, and those
/// that were silent once more. Otherwise what the last one said.
fn connect_first(
    mut addresses: Vec<SocketAddr>,
    local: &LocalEnd,
    options: &SocketOptions,
    timeout: Duration,
) -> Result<Connection, Option<(SocketAddr, io::Error)>> {
    let mut failure = None;
    let briefly = (addresses.len() > 1).then_some(BRIEFLY.min(timeout));
    for timeout in briefly.into_iter().chain([timeout]) {
        let mut silent = Vec::new();
        for remote in addresses {
            match socket::connect(remote, local, options, timeout) {
                Ok(connection) => return Ok(connection),
                Err(source) => {
                    if source.kind() == io::ErrorKind::TimedOut {
                        silent.push(remote);
                    }
                    failure = Some((remote, source));
                }
            }
        }
        addresses = silent;
    }
    Err(failure)
}

fn of_connect(source: io::Error, server: &str, address: SocketAddr) -> Error {
    let server = server.to_owned();
    match source.kind() {
        io::ErrorKind::ConnectionRefused => Error::PortClosed {
            server,
            address,
            source,
        },
        _ => Error::Unreachable {
            server,
            address,
            source,
        },
    }
}

/// A socket that was connected and has no far end any more was reset in between.
fn of_new_socket(source: io::Error, server: &str) -> Error {
    match source.kind() {
        io::ErrorKind::NotConnected | io::ErrorKind::ConnectionReset => {
            let broken = smb_proto::Error::Transport(Arc::new(source));
            Error::of_connection(broken, server)
        }
        _ => system("ask a socket for its addresses", source),
    }
}

fn status(session: usize, link: &Link) -> ChannelStatus {
    let counted = link.counted();
    ChannelStatus {
        session,
        number: link.number,
        local: link.local,
        remote: link.remote,
        nic: link.nic.clone(),
        bytes_received: counted.read_bytes,
        bytes_sent: counted.written_bytes,
        tcp: link.tcp_facts(),
        congestion_control: link.congestion_control.clone(),
        credits: counted.credits,
        in_flight: counted.outstanding,
        bytes_in_flight: counted.outstanding_bytes,
        credit_starved: counted.credit_starved,
        credit_wait: counted.credit_wait,
        block_wait: counted.block_wait,
        processor: counted.processor,
        alive: link.is_alive(),
        not_bound_because: link.not_bound_because.clone(),
    }
}

/// An error with its causes in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

pub(crate) fn random<const BYTES: usize>() -> Result<[u8; BYTES], Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|source| system("get random bytes", io::Error::other(source)))?;
    Ok(bytes)
}

fn system(action: &'static str, source: io::Error) -> Error {
    Error::System { action, source }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use socket2::{Domain, Socket, Type};

    use super::*;

    #[test]
    fn a_dead_first_address_is_not_waited_for_in_earnest() {
        // Somebody whose queue is full answers no SYN.
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let dead = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        dead.bind(&any.into()).unwrap();
        dead.listen(0).unwrap();
        let dead_address = dead.local_addr().unwrap().as_socket().unwrap();
        let waiting = TcpStream::connect(dead_address).unwrap();
        let alive = TcpListener::bind(any).unwrap();
        let address = alive.local_addr().unwrap();

        let begun = Instant::now();
        let (local, patience) = (LocalEnd::default(), Duration::from_secs(60));
        let first = |addresses, patience| {
            connect_first(addresses, &local, &SocketOptions::default(), patience)
        };
        let connection = first(vec![dead_address, address], patience).unwrap();
        assert_eq!(connection.stream.peer_addr().unwrap(), address);
        assert!(begun.elapsed() < patience / 2, "{:?}", begun.elapsed());
        drop((waiting, connection));

        // Who is alone is waited for as long as was said.
        let short = Duration::from_millis(50);
        let alone = first(vec![address], short);
        assert!(alone.is_ok());
        let Err(Some((remote, _))) = first(vec![dead_address], short) else {
            panic!("it answered");
        };
        assert_eq!(remote, dead_address);
        assert!(matches!(first(Vec::new(), short), Err(None)));
    }
}
