//! Multichannel: further channels of a session, and sessions parallel to it.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use locale::{Message, say};
use smb_proto::ChannelNumber;
use smb_proto::multichannel_plan::{LocalNic, Pair, ServerInterface};

use super::{CHANNELS_MAX, ChannelsMax, Route, Session, system};
use crate::channel_discovery;
use crate::error::{Error, chain};
use crate::signal::lock;
use crate::std_or_shuttle::thread;
use crate::tree::Tree;

impl Session {
    /// The server's list of its own interfaces, true or not.
    ///
    /// # Errors
    /// When the server does not give one, as without multichannel.
    pub fn server_interfaces(&self) -> Result<Vec<ServerInterface>, Error> {
        channel_discovery::interfaces(&self.shared)
    }

    /// Opens one more channel between two addresses.
    ///
    /// # Errors
    /// When there is no path between them or the server does not want it. The session goes on with
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
    pub fn add_channels(&self, most: usize, local: &[LocalNic]) -> Vec<Message> {
        let Some(primary) = self.shared.primary() else {
            return vec![say("rejected-channel.session-ended")];
        };
        let mut rejected = Vec::new();
        let interfaces = self.server_interfaces().unwrap_or_else(|error| {
            rejected.push(say("rejected-channel.no-interfaces").with("reason", chain(&error)));
            Vec::new()
        });
        let channels_max = most.clamp(1, CHANNELS_MAX);
        let plan = channel_discovery::plan_of(channels_max, local, &interfaces, primary);
        rejected.extend(plan.rejects.iter().map(|reject| {
            let name = |address: Option<IpAddr>| {
                let known = address.map(|it| Message::from(it.to_string()));
                known.unwrap_or_else(|| say("rejected-channel.any"))
            };
            say("rejected-channel.pair")
                .with("local", name(reject.local))
                .with("remote", name(reject.remote))
                .with("reason", reject.reason.message())
        }));
        // The first pair of a plan is the channel that is there already.
        for pair in plan.pairs.iter().skip(1) {
            if let Err(error) = self.add_channel(pair, channel_discovery::nic_of(pair, local)) {
                rejected.push(chain(&error));
            }
        }
        rejected
    }

    /// From now on, looks for further paths, as long as there are not so many channels: when
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
            .spawn(move || channel_discovery::run(&shared, &signal, most))
            .map(drop)
            .map_err(|source| system(say("error-smb.cannot-start-thread"), source))
    }

    /// One more session of the same user with the server of a share, over the same paths, and that share
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
}
