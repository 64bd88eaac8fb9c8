//! The client against real servers and against impostors.

mod bit_errors;
mod chaos;
mod clone;
mod connection_resets;
mod copy_failures;
mod dfs;
mod dialect_protection_matrix;
mod files_in_use;
mod impostor;
mod lan;
mod mirror;
mod parallel_sessions;
mod pattern;
mod samba;
mod second_server;
mod short_sessions;
mod small;
mod sparse;
mod wireshark_dissection;
