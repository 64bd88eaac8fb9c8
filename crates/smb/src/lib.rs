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
mod blocking_request;
mod channel_discovery;
mod channel_driver;
mod closed_part;
pub mod copy;
mod der;
mod dfs;
mod directory_listing;
mod error;
mod file;
#[doc(hidden)]
pub mod fuzzing;
mod kdc_client;
mod list_and_connect_shares;
mod ntlm;
mod open_file_holders;
mod posix_extensions;
pub mod read_with_deadline;
mod reconnect;
mod session;
mod signal;
mod single_path_operations;
mod small_file_write;
mod smb1_only_probe;
mod socket;
mod spnego;
mod srvsvc_rpc;
mod std_or_shuttle;
#[cfg(all(test, feature = "model"))]
mod thread_interleaving_model;
mod tickets;
mod times_kept;
mod token_broker;
mod tree;
mod tree_path_methods;
mod zero_copy_transfer;

pub use auth::{AuthError, Login, Mechanism, NoKerberos, Proof, Refusal};
pub use dfs::Referrals;
pub use directory_listing::Entries;
pub use error::{Error, message_of};
pub use file::{File, Piece, Pieces};
pub use kdc_client::KdcRefusal;
pub use list_and_connect_shares::{ShareEntry, ShareKind};
pub use session::{
    CHANNELS_MAX, ChannelStatus, ChannelsMax, Policy, Server, Session, cipher_name, dialect_name,
    local_nics, signing_algorithm_name,
};
pub use signal::Stop;
pub use single_path_operations::{Content, Operation, Outcome, SMALL_BYTES_MAX, SmallFile, Status};
pub use smb_proto::error::{Asked, Malformed, Operation as ProtocolOperation};
pub use smb_proto::multichannel_plan::{LocalAddress, LocalNic, Pair, ServerInterface};
pub use smb_proto::session::{
    Access, Cipher, CreateOptions as OpenOptions, Created, Dialect, DirectoryEntry, Disposition,
    EncryptionPolicy, FileTimes, FsSize, Identity, Negotiated, Posix, SigningAlgorithm,
    SigningPolicy,
};
pub use smb_proto::{Block, ChannelNumber, Error as ProtocolError, NtStatus, Payload};
pub use tickets::{TicketCache, TicketError, TicketUse, has_kerberos_library, ticket};
pub use token_broker::{Broker, serve as serve_tokens};
pub use tree::{Replace, Tree};
pub use zero_copy_transfer::{Source, Target};
