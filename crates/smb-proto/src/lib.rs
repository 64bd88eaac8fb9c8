//! SMB 2 and 3 as a state machine on bytes: no socket, file, clock or random source.
//!
//! * [`Channel`] is one TCP connection. The thread that drives it owns it whole and asks it only
//!   four things: which bytes to send, where received bytes go, what happened, when to come back.
//! * [`Session`] is one login over many channels. It is shared by all threads behind one short
//!   lock: callers put requests and transfers in, channels pull them out by demand.
//! * [`Block`] and [`Payload`] are pooled buffers; payload lands in one and is handed over in it.
//! * [`plan()`] chooses which pairs of addresses to connect.
//!
//! Results go to a [`Sink`], which a channel calls from its own thread with no lock held.
//!
//! The loop of a driver, complete:
//!
//! ```text
//! let mut channel = Channel::new(&session, settings, now)?;
//! loop {
//!     while let Some(bytes) = channel.poll_transmit(now) { n = write(bytes); channel.transmitted(n, now) }
//!     while readable { n = read(channel.receive_buffer()); channel.received(n, now) }
//!     while let Some(event) = channel.next_event() { ... Event::Closed: leave }
//!     poll(until channel.next_timeout(), or the waker); channel.handle_timeout(now);
//! }
//! ```

pub mod authenticator;
pub mod channel;
pub mod error;
pub mod monotonic_time;
pub mod multichannel_plan;
pub mod payload_block_pool;
pub mod sealing;
pub mod session;
pub mod signing_and_keys;
mod std_or_shuttle;
pub mod trickling_replies;
pub mod wire;

pub use authenticator::{Authenticator, SessionKey, Step};
pub use channel::{Channel, ChannelSettings, ChannelStatistics, Event, OriginPart, Transmission};
pub use error::{Error, NtStatus};
pub use monotonic_time::Time;
pub use multichannel_plan::plan;
pub use payload_block_pool::{Block, BlockPool, Payload};
pub use session::{
    ChannelNumber, FileKey, Reply, Request, Session, SessionSettings, Sink, Source, TransferKey,
    TreeKey,
};
