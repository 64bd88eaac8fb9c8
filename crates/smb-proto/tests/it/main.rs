//! A client and a toy server under virtual time: delays, reordering, short transfers, and servers
//! that starve, lie, fall silent or talk nonsense.

mod arbitrary_bytes;
mod chains;
mod channel_losses;
mod login;
mod misbehaving_servers;
mod network_simulation;
mod seeded_random;
mod session_restore;
mod toy_server;
mod transfers;
mod vectors;
