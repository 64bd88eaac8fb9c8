//! The routes to the server that a session is to have a channel over: a local end and a remote address each.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use os::network::LocalEnd;
use smb_proto::multichannel_plan::Pair;

use super::Shared;
use crate::channel_driver::Link;
use crate::signal::lock;

/// A path to the server.
#[derive(Clone)]
pub(crate) struct Route {
    pub(super) local: LocalEnd,
    /// None: whatever the server's name means.
    pub(super) remote: Option<SocketAddr>,
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

    pub(crate) fn is_alive(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.is_alive())
    }

    /// The same without the channel that it has.
    pub(super) fn anew(&self) -> Self {
        Self {
            link: None,
            retry: None,
            ..self.clone()
        }
    }

    /// Several channels may have the same ends, but none has the same number as another.
    pub(super) fn same(&self, other: &Self) -> bool {
        let number = |route: &Self| route.link.as_ref().map(|link| link.number);
        self.link.is_some() && number(self) == number(other)
    }
}

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
}
