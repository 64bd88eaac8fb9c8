//! One TCP connection: framing, message ids, credits, signing; bytes and time in, bytes out.
//!
//! The thread that drives a channel owns it. Dropping a channel gives its work back to the
//! session.

use std::task::Waker;
use std::time::Duration;

use crate::auth::Authenticator;
use crate::error::{Error, Result};
use crate::session::{ChannelNumber, Session};
use crate::time::Time;

/// How a channel is to be.
pub struct ChannelSettings {
    /// Wakes the thread that drives the channel: there is work, or a block came home.
    pub waker: Waker,
    /// A fresh authentication.
    pub authenticator: Box<dyn Authenticator>,
    /// Random bytes for the 3.1.1 handshake.
    pub salt: [u8; 32],
    /// A request without any answer for so long ends the channel.
    pub request_timeout: Duration,
    /// Negotiation and login may take so long in all.
    pub login_timeout: Duration,
    /// Silence with requests under way for so long makes us ask for a sign of life.
    pub echo_after: Duration,
}

impl ChannelSettings {
    /// The usual settings.
    pub fn new(waker: Waker, authenticator: Box<dyn Authenticator>, salt: [u8; 32]) -> Self {
        Self {
            waker,
            authenticator,
            salt,
            request_timeout: Duration::from_secs(60),
            login_timeout: Duration::from_secs(20),
            echo_after: Duration::from_secs(5),
        }
    }
}

impl std::fmt::Debug for ChannelSettings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ChannelSettings")
            .finish_non_exhaustive()
    }
}

/// What a driver should know of its channel.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// Logged in (first channel) or bound (further ones): it takes work from now on.
    Up,
    /// It is over; the driver closes the socket. `None`: as wished, after a log-off or
    /// [`Session::end`].
    Closed(Option<Error>),
}

/// Counters, for an interface to sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChannelStatistics {
    /// Bytes of frames sent.
    pub sent_bytes: u64,
    /// Bytes of frames received.
    pub received_bytes: u64,
    /// Payload of READs that was handed over.
    pub read_bytes: u64,
    /// Payload of WRITEs that was confirmed.
    pub written_bytes: u64,
    /// Frames sent.
    pub sent_frames: u64,
    /// Frames received.
    pub received_frames: u64,
    /// Credits that are left.
    pub credits: u32,
    /// Requests under way.
    pub outstanding: u32,
    /// How often work had to wait for credits.
    pub credit_starved: u64,
    /// How often work had to wait for a block.
    pub block_starved: u64,
    /// Replies that took so long that the server sent an interim one.
    pub interims: u64,
}

/// One TCP connection of a session.
pub struct Channel {
    number: ChannelNumber,
    scratch: Vec<u8>,
    events: Option<Event>,
}

impl Channel {
    /// A channel of `session` over a connection that has just been made. The first channel of a
    /// session logs in, further ones bind to it. Open them one after the other: the next once
    /// this one gave [`Event::Up`].
    pub fn new(session: &Session, settings: ChannelSettings, now: Time) -> Result<Self> {
        let _ = (session, settings, now);
        Ok(Self {
            number: ChannelNumber(0),
            scratch: vec![0; 68],
            events: Some(Event::Closed(Some(Error::SessionEnded(None)))),
        })
    }

    /// This channel's number.
    pub fn number(&self) -> ChannelNumber {
        self.number
    }

    /// The next bytes to send, in one write call if possible; takes work from the session when
    /// there is room for it. Nothing to send: `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<&[u8]> {
        let _ = now;
        None
    }

    /// So many bytes of the last [`Self::poll_transmit`] have been sent.
    pub fn transmitted(&mut self, count: usize, now: Time) {
        let _ = (count, now);
    }

    /// Where the next received bytes go; never empty.
    pub fn receive_buffer(&mut self) -> &mut [u8] {
        &mut self.scratch
    }

    /// So many bytes have been put into [`Self::receive_buffer`]. Sinks are called from here.
    pub fn received(&mut self, count: usize, now: Time) {
        let _ = (count, now);
    }

    /// The transport failed, or the peer closed it. [`Event::Closed`] follows.
    pub fn transport_failed(&mut self, cause: Box<dyn std::error::Error + Send + Sync>) {
        self.events = Some(Event::Closed(Some(Error::Transport(cause.into()))));
    }

    /// What happened. Ask until there is nothing more, whenever something was done.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.take()
    }

    /// When to call [`Self::handle_timeout`], if nothing else happens before.
    pub fn next_timeout(&self) -> Option<Time> {
        None
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Time) {
        let _ = now;
    }

    /// Counters.
    pub fn statistics(&self) -> ChannelStatistics {
        ChannelStatistics::default()
    }
}
