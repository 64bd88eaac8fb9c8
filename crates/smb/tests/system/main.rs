//! The client against real servers and against impostors.

mod bit_errors;
mod capture;
mod chaos;
mod clone;
mod copies;
mod dfs;
mod held;
mod impostor;
mod lan;
mod matrix;
mod mirror;
mod parallel_sessions;
mod pattern;
mod resets;
mod samba;
mod second;
mod short_sessions;
mod small;
mod sparse;
