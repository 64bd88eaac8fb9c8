//! Which shares a server has: asked of its server service over a pipe (MS-SRVS 3.1.4.8).

use smb_proto::session::{Access, CreateOptions, Reply, Request};
use smb_proto::wire::{
    FRAGMENT_BYTES_MAX, Message, RpcBind, RpcBindReply, RpcCall, RpcReply, SERVER_SERVICE_PIPE,
    ShareEnumArguments, ShareEnumResults, ShareRecord,
};
use smb_proto::{Error as ProtocolError, NtStatus};

use crate::error::Error;
use crate::file::File;
use crate::request::ask;
use crate::session::Session;
use crate::tree::Tree;

/// The share that every server has: of pipes, and for questions that are about no share.
pub(crate) const IPC_SHARE: &str = "IPC$";
/// Longest list that is read, over all its answers and their fragments: more than 100 000 shares.
const LIST_BYTES_MAX: usize = 16 << 20;
/// Most answers that are asked for: each has at least one share.
const ANSWERS_MAX: usize = 1000;
/// `ERROR_ACCESS_DENIED`, and what a fault with the same meaning says.
const ACCESS_DENIED: u32 = 5;
/// Where a packet says how long it is.
const LENGTH_AT: std::ops::Range<usize> = 8..10;

/// A share, as the server's list has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareEntry {
    /// Its name, which comes from the server and may hold anything.
    pub name: String,
    /// What it is.
    pub kind: ShareKind,
    /// It is there for administrators or for the protocol itself.
    pub special: bool,
    /// What somebody wrote about it; may hold anything.
    pub comment: String,
}

/// What a share is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareKind {
    /// Files.
    Disk,
    /// A printer.
    Printer,
    /// Pipes.
    Pipe,
    /// Something else, as a serial line.
    Other,
}

/// Asks, and gives the shares in the server's order.
pub(crate) fn list(session: &Session, server: &str) -> Result<Vec<ShareEntry>, Error> {
    let mut service = Service::open(session.tree(IPC_SHARE)?)?;
    let mut list = List::default();
    loop {
        let arguments = ShareEnumArguments {
            server: format!("\\\\{server}"),
            resume: list.resume,
        };
        let answer = service.call(ShareEnumArguments::OPERATION, &encoded(&arguments))?;
        let more = list.add(&answer);
        if !more.map_err(|source| service.failed(source))? {
            return Ok(list.shares);
        }
    }
}

/// A list that comes in several answers.
#[derive(Default)]
struct List {
    shares: Vec<ShareEntry>,
    /// What to go on with.
    resume: u32,
    answers: usize,
    bytes: usize,
}

impl List {
    /// Takes an answer; tells whether there is more to ask for.
    fn add(&mut self, answer: &[u8]) -> Result<bool, ProtocolError> {
        self.answers += 1;
        self.bytes += answer.len();
        if self.answers > ANSWERS_MAX || self.bytes > LIST_BYTES_MAX {
            let problem = "its list of shares has no end".to_owned();
            return Err(ProtocolError::Misbehaving(problem));
        }
        let results = ShareEnumResults::decode(answer)?;
        let more = results.status == ShareEnumResults::MORE_DATA && !results.shares.is_empty();
        if results.status != 0 && !more {
            return Err(refusal(results.status));
        }
        self.shares
            .extend(results.shares.into_iter().map(ShareEntry::from));
        self.resume = results.resume;
        Ok(more)
    }
}

/// The server service at the other end of a pipe.
struct Service {
    tree: Tree,
    pipe: File,
    /// What was read and not yet understood.
    unread: Vec<u8>,
    call: u32,
}

impl Service {
    fn open(tree: Tree) -> Result<Self, Error> {
        let options = CreateOptions::open(Access::ReadWrite);
        let pipe = tree.open(SERVER_SERVICE_PIPE, &options)?;
        let mut service = Self {
            tree,
            pipe,
            unread: Vec::new(),
            call: 1,
        };
        let packet = service.transceive(encoded(&RpcBind { call: 1 }))?;
        let reply = RpcBindReply::decode(&packet);
        let reply = reply.map_err(|source| service.failed(source.into()))?;
        if reply.call != service.call || !reply.accepted {
            return Err(service.refused(ACCESS_DENIED));
        }
        Ok(service)
    }

    /// Calls a procedure, and gives its results from all their fragments.
    fn call(&mut self, operation: u16, arguments: &[u8]) -> Result<Vec<u8>, Error> {
        self.call += 1;
        let call = RpcCall {
            call: self.call,
            operation,
            arguments,
        };
        let mut packet = self.transceive(encoded(&call))?;
        let mut results = Vec::new();
        loop {
            let reply = RpcReply::decode(&packet).map_err(|source| self.failed(source.into()))?;
            if reply.call != self.call {
                let problem = "it answers another call".to_owned();
                return Err(self.failed(ProtocolError::Misbehaving(problem)));
            }
            match reply.results {
                Ok(part) if results.len() + part.len() <= LIST_BYTES_MAX => {
                    results.extend_from_slice(part);
                }
                Ok(_) => {
                    let problem = "its answer has no end".to_owned();
                    return Err(self.failed(ProtocolError::Misbehaving(problem)));
                }
                Err(fault) => return Err(self.refused(fault)),
            }
            if reply.last {
                return Ok(results);
            }
            packet = self.packet()?;
        }
    }

    /// Writes a packet and reads one.
    fn transceive(&mut self, input: Vec<u8>) -> Result<Vec<u8>, Error> {
        let pipe = self.pipe.key();
        let bytes_max = u32::from(FRAGMENT_BYTES_MAX);
        self.read(Request::Transceive {
            pipe,
            input,
            bytes_max,
        })?;
        self.packet()
    }

    /// The next packet, whichever way the server cuts what it sends.
    fn packet(&mut self) -> Result<Vec<u8>, Error> {
        loop {
            if let Some(&[low, high]) = self.unread.get(LENGTH_AT) {
                let length = usize::from(u16::from_le_bytes([low, high])).max(LENGTH_AT.end);
                if self.unread.len() >= length {
                    let rest = self.unread.split_off(length);
                    return Ok(std::mem::replace(&mut self.unread, rest));
                }
            }
            self.read(Request::ReadPipe {
                pipe: self.pipe.key(),
                bytes_max: u32::from(FRAGMENT_BYTES_MAX),
            })?;
        }
    }

    fn read(&mut self, request: Request) -> Result<(), Error> {
        let shared = self.tree.shared();
        match ask(shared, request, self.pipe.path())? {
            Reply::FromPipe(bytes) => {
                self.unread.extend(bytes);
                Ok(())
            }
            _ => Err(shared.odd_answer()),
        }
    }

    fn failed(&self, source: ProtocolError) -> Error {
        self.tree.shared().error(source, "the list of shares")
    }

    fn refused(&self, code: u32) -> Error {
        self.failed(refusal(code))
    }
}

fn refusal(code: u32) -> ProtocolError {
    ProtocolError::Refused {
        doing: format!("listing the shares (error {code:#x})"),
        status: match code {
            ACCESS_DENIED => NtStatus::ACCESS_DENIED,
            _ => NtStatus::UNSUCCESSFUL,
        },
    }
}

impl From<ShareRecord> for ShareEntry {
    fn from(record: ShareRecord) -> Self {
        Self {
            name: record.name,
            kind: match record.kind & ShareRecord::KIND {
                0 => ShareKind::Disk,
                1 => ShareKind::Printer,
                3 => ShareKind::Pipe,
                _ => ShareKind::Other,
            },
            special: record.kind & ShareRecord::SPECIAL != 0,
            comment: record.comment,
        }
    }
}

fn encoded<'a>(message: &impl Message<'a>) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer of so many shares, with so many letters about each, that is not the last one.
    fn answer(shares: usize, letters: usize) -> Vec<u8> {
        let share = ShareRecord {
            name: "share".to_owned(),
            kind: 0,
            comment: "x".repeat(letters),
        };
        encoded(&ShareEnumResults {
            shares: vec![share; shares],
            resume: 1,
            status: ShareEnumResults::MORE_DATA,
        })
    }

    #[test]
    fn a_list_without_end_is_not_read() {
        for (answer, answers_max) in [(answer(1, 0), ANSWERS_MAX), (answer(1000, 1000), 8)] {
            let mut list = List::default();
            let mut answers = 0;
            let error = loop {
                match list.add(&answer) {
                    Ok(true) if answers < answers_max => answers += 1,
                    Err(error) => break error,
                    taken => panic!("{taken:?} after {answers} answers"),
                }
            };
            assert!(matches!(error, ProtocolError::Misbehaving(_)), "{error}");
        }
    }
}
