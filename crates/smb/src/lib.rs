//! A multichannel SMB client: sockets, threads and authentication for smb-proto.

mod auth;
mod socket;

pub use auth::{AuthError, Login};
pub use socket::{InterfaceAddress, LocalEnd, TcpFacts, interface_addresses};
