//! The binary and the repository as users and newcomers see them.

mod demo;
mod kills;
mod layout;
mod mtu;
mod scenarios;
mod searches;
mod security;
mod structure;
mod support;
/// Nothing is measured here that must be believed, so `make test` runs two of these at a time.
mod together {
    mod benchmark_recipes;
    mod codes;
    mod commands;
    mod confined;
    mod copy;
    mod errors;
    mod experiments;
    mod hostile;
    mod kerberos;
    mod panics;
    mod persist;
    mod plans;
    mod profiles;
    mod schemas;
    mod sessions;
    mod set;
    mod state;
    mod tickets;
    mod windows;
}
