//! Opening a channel: a connection, the negotiation and the login on it, and the thread that drives it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use locale::say;
use smb_proto::{Channel, ChannelSettings};

use super::local_nics::nic_of;
use super::tcp_connect::{connect_any, of_connect};
use super::{Route, Shared, random, system};
use crate::auth::Exchange;
use crate::channel_driver::{Driver, Link, Readiness, time_since};
use crate::error::Error;
use crate::signal::lock;
use crate::socket::{self, Connection};
use crate::std_or_shuttle::{is_finished, thread};

/// A channel without work for so long shows whether its way still leads to the server.
const IDLE_ECHO_AFTER: Duration = Duration::from_secs(5);
/// An address that led to the server may take so long to answer: the next one may be the one that does.
const CONNECT_TIMEOUT_MAX: Duration = Duration::from_secs(3);

impl Shared {
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
        let link = self
            .open_channel(connection)
            .inspect_err(|error| tracing::warn!(server = server.name, %error, "no channel"))?;
        let pair = link.pair();
        tracing::debug!(
            server = server.name,
            session = self.number,
            channel = ?link.number,
            local = %pair.local,
            remote = %pair.remote,
            "channel opened"
        );
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
        let readiness = Readiness::new(connection.stream)
            .map_err(|source| system(say("error-smb.cannot-watch-socket"), source))?;
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
            .map_err(|source| system(say("error-smb.cannot-start-thread"), source))?;
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

/// A socket that was connected and has no far end any more was reset in between.
fn of_new_socket(source: io::Error, server: &str) -> Error {
    match source.kind() {
        io::ErrorKind::NotConnected | io::ErrorKind::ConnectionReset => {
            let broken = smb_proto::Error::Transport(Arc::new(source));
            Error::of_connection(broken, server)
        }
        _ => system(say("error-smb.cannot-get-addresses"), source),
    }
}
