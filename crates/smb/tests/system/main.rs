//! The client against real servers and against impostors.

mod beside;
mod capture;
mod chaos;
mod clone;
mod copies;
mod dfs;
mod flips;
mod held;
mod holes;
mod impostor;
mod lan;
mod matrix;
mod mirror;
mod pattern;
mod resets;
mod samba;
mod second;
mod short;
mod small;
