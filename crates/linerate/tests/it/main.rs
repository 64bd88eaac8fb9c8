//! The binary and the repository as users and newcomers see them.

mod commands;
mod copy;
mod demo;
mod errors;
mod experiments;
mod kerberos;
mod kills;
mod mtu;
mod persist;
mod plans;
mod profiles;
mod recipes;
mod scenarios;
mod searches;
mod sessions;
mod set;
mod structure;
mod support;
mod windows;
