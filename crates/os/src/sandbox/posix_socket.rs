//! The socket between a process and the one without rights that it has started: standard input of that one.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

/// One end of it.
#[derive(Debug)]
pub struct Socket(UnixStream);

impl Socket {
    /// This process's end, and the other one as standard input of a process that is started.
    ///
    /// # Errors
    /// When the system makes none.
    pub fn pair() -> io::Result<(Self, Stdio)> {
        let (ours, theirs) = UnixStream::pair()?;
        Ok((Self(ours), Stdio::from(OwnedFd::from(theirs))))
    }

    /// The end that this process was started with.
    ///
    /// # Errors
    /// When it is no descriptor that can be had twice.
    pub fn inherited() -> io::Result<Self> {
        let stdin = crate::process::inherited_stdin()?;
        Ok(Self(UnixStream::from(OwnedFd::from(stdin))))
    }

    /// The same end once more.
    ///
    /// # Errors
    /// When this process has too many files open.
    pub fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// Ends the conversation: whoever reads at either end reads its end.
    pub fn hang_up(&self) {
        // It may be over already.
        self.0.shutdown(Shutdown::Both).ok();
    }
}

impl Read for Socket {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.0.read(room)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
