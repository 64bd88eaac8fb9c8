//! Windows, which has no such socket in its standard library: no process is started there to give up rights
//! ([`super::IS_KNOWN`]).

use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::process::Stdio;

/// There is none.
#[derive(Debug)]
pub struct Socket(Infallible);

impl Socket {
    /// # Errors
    /// Always.
    pub fn pair() -> io::Result<(Self, Stdio)> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// # Errors
    /// Always.
    pub fn inherited() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The same end once more.
    ///
    /// # Errors
    /// None: there is no end.
    pub fn try_clone(&self) -> io::Result<Self> {
        match self.0 {}
    }

    /// Ends the conversation.
    pub fn hang_up(&self) {
        match self.0 {}
    }
}

impl Read for Socket {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}

impl Write for Socket {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}
