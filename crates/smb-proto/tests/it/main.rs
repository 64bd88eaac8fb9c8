//! A client and a toy server under virtual time: delays, reordering, short transfers, and servers
//! that starve, lie, fall silent or talk nonsense.

mod arbitrary_bytes;
mod channel_losses;
mod compound_requests;
mod login;
mod misbehaving_servers;
mod network_simulation;
mod recorded_handshakes;
mod seeded_random;
mod session_restore;
mod toy_server;
mod transfers;
