//! How others find a lab and talk with its supervisor: an abstract socket, which is the lab's entry
//! in no file system and vanishes with the supervisor. One question and one answer a connection,
//! each a line of JSON.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Error;

/// What the names of the sockets start with.
const PREFIX: &str = "linerate-lab/";
/// Longest question or answer. A topology is the longest part of it.
const LINE_BYTES_MAX: u64 = 2 << 20;
/// How long a partner may take to write or read its line.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Question {
    Describe,
    Stop,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Starting,
    Up(Description),
    /// It is going down; the connection ends when it is.
    Stopping,
}

/// What a supervisor says about its lab.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Description {
    /// Version of the program that runs it.
    pub(crate) version: String,
    /// Text of the topology.
    pub(crate) topology: String,
    /// Number of the supervisor's process.
    pub(crate) supervisor: u32,
    /// Hosts and switches.
    pub(crate) nodes: Vec<NodeDescription>,
    /// What went wrong since it is up.
    pub(crate) troubles: Vec<String>,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct NodeDescription {
    pub(crate) name: String,
    pub(crate) holder: u32,
    /// Number of its process namespace, to be sure that `holder` is still the one it was.
    pub(crate) process_namespace: u64,
}

fn address(name: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("{PREFIX}{name}"))
}

/// Takes a lab's name, which is free again when the listener is gone.
pub(crate) fn listen(name: &str) -> Result<UnixListener, Error> {
    let bound = address(name).and_then(|address| UnixListener::bind_addr(&address));
    bound.map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => Error::NameTaken {
            name: name.to_owned(),
        },
        _ => talk_error(name, source),
    })
}

/// The next question from somebody who may ask.
pub(crate) fn next_question(listener: &UnixListener) -> io::Result<(Question, UnixStream)> {
    let (stream, _) = listener.accept()?;
    be_patient(&stream)?;
    let question = read_line(&stream)?;
    Ok((question, stream))
}

pub(crate) fn answer(stream: &UnixStream, answer: &Answer) -> io::Result<()> {
    write_line(stream, answer)
}

/// Asks the supervisor of a lab. The connection lasts as long as it does.
pub(crate) fn ask(name: &str, question: &Question) -> Result<(Answer, UnixStream), Error> {
    let stream = address(name).and_then(|address| UnixStream::connect_addr(&address));
    let stream = match stream {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            return Err(Error::NoSuchLab {
                name: name.to_owned(),
                others: names().unwrap_or_default(),
            });
        }
        connected => connected.map_err(|source| talk_error(name, source))?,
    };
    let exchange = || {
        be_patient(&stream)?;
        write_line(&stream, question)?;
        read_line(&stream)
    };
    let answer = exchange().map_err(|source| talk_error(name, source))?;
    Ok((answer, stream))
}

fn talk_error(name: &str, source: io::Error) -> Error {
    Error::Talk {
        name: name.to_owned(),
        source,
    }
}

/// Names of all labs, by the kernel's list of sockets.
pub(crate) fn names() -> io::Result<Vec<String>> {
    let sockets = fs::read_to_string("/proc/net/unix")?;
    Ok(names_in(&sockets))
}

fn names_in(sockets: &str) -> Vec<String> {
    let ours = |line: &str| {
        let (_, name) = line.split_once(&format!(" @{PREFIX}"))?;
        crate::topology::name_problem(name)
            .is_none()
            .then(|| name.to_owned())
    };
    // Each open connection is in the list too.
    let names: BTreeSet<String> = sockets.lines().filter_map(ours).collect();
    names.into_iter().collect()
}

/// Anybody can bind and connect to an abstract socket, so each side makes sure that the other one
/// is root; and nobody waits for ever.
fn be_patient(stream: &UnixStream) -> io::Result<()> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    if !peer.uid.is_root() {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the other side of the socket is not root",
        ));
    }
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))
}

/// Reads a line of JSON of bounded length.
pub(crate) fn read_line<T: DeserializeOwned>(from: impl Read) -> io::Result<T> {
    let mut line = String::new();
    BufReader::new(from.take(LINE_BYTES_MAX)).read_line(&mut line)?;
    if !line.ends_with('\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_str(&line).map_err(io::Error::from)
}

/// Writes a line of JSON.
pub(crate) fn write_line(mut to: impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_kernels_list_of_sockets() {
        let sockets = "\
Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 100 @linerate-lab/demo
0000000000000000: 00000003 00000000 00000000 0001 03 101 @linerate-lab/demo
0000000000000000: 00000002 00000000 00010000 0001 01 102 @linerate-lab/a-2
0000000000000000: 00000002 00000000 00010000 0001 01 103 @linerate-lab/../etc
0000000000000000: 00000002 00000000 00010000 0001 01 104 /run/linerate-lab/no
0000000000000000: 00000002 00000000 00010000 0001 01 105
";
        assert_eq!(names_in(sockets), ["a-2", "demo"]);
    }

    #[test]
    fn a_line_without_its_end_is_not_a_question() {
        assert!(read_line::<Question>(&b"\"stop\"\n"[..]).is_ok());
        assert!(read_line::<Question>(&b"\"stop\""[..]).is_err());
        assert!(read_line::<Question>(&b"\"fly\"\n"[..]).is_err());
    }
}
