//! Labs where the system is not Linux: there are none.

use std::path::PathBuf;

use host::Host;

use crate::{Error, Gone, Launcher, Ran, Summary, Topology};

/// A running lab. There is none on this system.
#[derive(Debug)]
pub enum Lab {}

/// Needs Linux.
///
/// # Errors
/// Always.
pub fn up(_name: &str, _topology: &Topology, _launcher: &Launcher) -> Result<Lab, Error> {
    Err(Error::OnlyLinux)
}

/// Needs Linux.
///
/// # Errors
/// Always.
pub fn down(_name: &str) -> Result<Gone, Error> {
    Err(Error::OnlyLinux)
}

/// Needs Linux.
///
/// # Errors
/// Always.
pub fn list() -> Result<Vec<Summary>, Error> {
    Err(Error::OnlyLinux)
}

/// Needs Linux.
///
/// # Errors
/// Always.
pub fn find(_name: &str) -> Result<Lab, Error> {
    Err(Error::OnlyLinux)
}

/// Needs Linux.
///
/// # Errors
/// Always.
pub fn supervise(_name: &str) -> Result<(), Error> {
    Err(Error::OnlyLinux)
}

impl Lab {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match *self {}
    }

    /// What it consists of.
    #[must_use]
    pub fn topology(&self) -> &Topology {
        match *self {}
    }

    /// One of its hosts.
    ///
    /// # Errors
    /// Never: there is no lab to ask.
    pub fn host(&self, _name: &str) -> Result<Host, Error> {
        match *self {}
    }

    /// Runs a program on a host.
    ///
    /// # Errors
    /// Never: there is no lab to ask.
    pub fn run(&self, _node: &str, _argv: &[String]) -> Result<Ran, Error> {
        match *self {}
    }

    /// Runs a program on a host with the lab's share mounted.
    ///
    /// # Errors
    /// Never: there is no lab to ask.
    pub fn run_mounted(&self, _node: &str, _options: &str, _argv: &[String]) -> Result<Ran, Error> {
        match *self {}
    }

    /// The file with user name and password of the shares.
    #[must_use]
    pub fn credentials(&self) -> PathBuf {
        match *self {}
    }
}
