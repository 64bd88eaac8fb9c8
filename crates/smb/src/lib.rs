//! A multichannel SMB client: sockets, threads and authentication for `smb-proto`.
//!
//! ```no_run
//! # fn main() -> Result<(), smb::Error> {
//! use smb::{Access, Login, Mechanism, OpenOptions, Policy, Server, Session, Stop};
//!
//! let server = Server { name: "nas".to_owned(), port: 445 };
//! let login = Login::User {
//!     user: "me".to_owned(),
//!     domain: String::new(),
//!     password: String::from("secret").into(),
//!     mechanism: Mechanism::Automatic,
//! };
//! let session = Session::connect(&server, None, &login, &Policy::default())?;
//! let rejected = session.add_channels(4, &smb::local_nics()?);
//! let file = session.tree("data")?.open("film.mkv", &OpenOptions::open(Access::Read))?;
//! let size = file.size()?;
//! for piece in file.read_ranges(std::iter::once(0..size), &Stop::new()) {
//!     let piece = piece?; // the bytes, in the block they were received in
//! }
//! # Ok(()) }
//! ```

mod auth;
mod broker;
pub mod copy;
pub mod deadline;
mod der;
mod dfs;
mod direct;
mod discovery;
mod driver;
mod entries;
mod error;
mod file;
#[doc(hidden)]
pub mod fuzzing;
mod holders;
mod kerberos;
#[cfg(all(test, feature = "model"))]
mod model;
mod ntlm;
mod operation;
mod paths;
mod posix;
mod reconnect;
mod request;
mod service;
mod session;
mod shares;
mod signal;
mod small;
mod smb1;
mod socket;
mod spnego;
mod sync;
mod tickets;
mod tree;

pub use auth::{AuthError, Login, Mechanism, NoKerberos, Proof, Refusal};
pub use broker::{Broker, serve as serve_tokens};
pub use dfs::Referrals;
pub use direct::{Source, Target};
pub use entries::Entries;
pub use error::Error;
pub use file::{File, Piece, Pieces};
pub use kerberos::KdcRefusal;
pub use operation::{Content, Operation, Outcome, SMALL_BYTES_MAX, SmallFile, Status};
pub use session::{
    CHANNELS_MAX, ChannelStatus, ChannelsMax, Policy, Server, Session, cipher_name, dialect_name,
    local_nics, signing_algorithm_name,
};
pub use shares::{ShareEntry, ShareKind};
pub use signal::Stop;
pub use smb_proto::plan::{LocalAddress, LocalNic, Pair, ServerInterface};
pub use smb_proto::session::{
    Access, Cipher, CreateOptions as OpenOptions, Created, Dialect, DirectoryEntry, Disposition,
    EncryptionPolicy, FileTimes, FsSize, Identity, Negotiated, Posix, SigningAlgorithm,
    SigningPolicy,
};
pub use smb_proto::{Block, ChannelNumber, Error as ProtocolError, NtStatus, Payload};
pub use socket::{
    EchoSocket, LocalEnd, SocketOptions, TcpFacts, congestion_control, echo_socket, tcp_facts,
    whole_segments,
};
pub use tickets::{TicketCache, TicketError, TicketUse, has_kerberos_library, ticket};
pub use tree::{Replace, Tree};
