//! The binary and the repository as users and newcomers see them.

mod errors;
mod structure;
mod support;
