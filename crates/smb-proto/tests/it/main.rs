//! A client and a toy server under virtual time: delays, reordering, short transfers, and servers
//! that starve, lie, fall silent or talk nonsense.

mod chains;
mod decoding;
mod faults;
mod login;
mod losses;
mod random;
mod returns;
mod server;
mod transfers;
mod vectors;
mod world;
