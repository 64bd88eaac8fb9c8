//! The client against real servers and against impostors.

mod bit_errors;
mod block_cloning_copies;
mod byte_pattern;
mod cable_pulls_and_server_deaths;
mod connection_resets;
mod copy_failures;
mod dfs;
mod dialect_protection_matrix;
mod files_in_use;
mod mirror_copies;
mod not_an_smb_server;
mod parallel_sessions;
mod samba;
mod samba_lan;
mod second_server;
mod short_sessions;
mod small_files_and_operations;
mod sparse_files;
mod windows_build;
mod wine;
mod wireshark_dissection;
