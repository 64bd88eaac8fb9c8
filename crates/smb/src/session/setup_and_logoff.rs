//! How a session begins, with its first channel and the thread that keeps it, and how it ends.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use locale::say;
use os::network::LocalEnd;
use smb_proto::BlockPool;
use smb_proto::session::Request;

use super::policy::{Policy, Server, settings};
use super::{Links, Referred, Route, Session, Shared, system};
use crate::auth::Login;
use crate::blocking_request::ask_briefly;
use crate::error::Error;
use crate::reconnect;
use crate::signal::lock;
use crate::smb1_only_probe;
use crate::std_or_shuttle::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::std_or_shuttle::{Mutex, now, thread};

/// How long a polite end may take before the connections are just closed.
const LOGOFF_TIMEOUT: Duration = Duration::from_secs(2);

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
        policy
            .sockets
            .check()
            .map_err(|source| Error::Sockets { source })?;
        let shared = Shared::new(server, login, policy, pool, links, home)?;
        let session = Self {
            shared: Arc::new(shared),
        };
        session.shared.open(route).map_err(|error| match error {
            Error::ConnectionLost { server: name, .. }
                if session.negotiated().is_none() && smb1_only_probe::is_all_it_speaks(server) =>
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
}

impl Shared {
    /// Of a session that has no channel yet.
    fn new(
        server: &Server,
        login: &Login,
        policy: &Policy,
        pool: BlockPool,
        links: Links,
        home: Option<Weak<Self>>,
    ) -> Result<Self, Error> {
        let known = lock(&links).iter().map(|(session, _)| session + 1).max();
        let protocol = smb_proto::Session::new(settings(server, login, policy)?, pool.clone())
            .map_err(|source| Error::of_connection(source, &server.name))?;
        Ok(Self {
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
        })
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
