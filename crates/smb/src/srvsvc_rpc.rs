//! A server's service for questions about itself: procedures called over a pipe (MS-SRVS, MS-RPCE).

use std::ops::Range;
use std::time::Instant;

use locale::say;
use smb_proto::error::{Asked, Operation};
use smb_proto::session::{Access, CreateOptions, Reply, Request};
use smb_proto::trickling_replies::{TooLittle, Trickle};
use smb_proto::wire::{
    FRAGMENT_BYTES_MAX, Message, RpcBind, RpcBindReply, RpcCall, RpcReply, SERVER_SERVICE_PIPE,
};
use smb_proto::{Error as ProtocolError, NtStatus};

use crate::blocking_request::ask;
use crate::error::Error;
use crate::file::File;
use crate::std_or_shuttle::now;
use crate::tree::Tree;

/// `ERROR_ACCESS_DENIED`, and what a fault with the same meaning says.
const ACCESS_DENIED: u32 = 5;
/// Where a packet says how long it is.
const LENGTH_AT: Range<usize> = 8..10;

/// What a server may take of us with its answers.
pub(crate) struct Limits {
    /// Longest answer to one call, over all its fragments.
    pub(crate) bytes: usize,
    /// When it is of no use any more; then the call ends with [`Error::Stopped`].
    pub(crate) until: Option<Instant>,
}

/// The server service at the other end of a pipe.
pub(crate) struct Service {
    tree: Tree,
    pipe: File,
    limits: Limits,
    /// What was read and not yet understood.
    unread: Vec<u8>,
    call: u32,
    /// Of all calls together: there may be as many as the server says that there is more.
    trickle: Trickle,
}

impl Service {
    pub(crate) fn open(tree: Tree, limits: Limits) -> Result<Self, Error> {
        let options = CreateOptions::open(Access::ReadWrite);
        let pipe = tree.open(SERVER_SERVICE_PIPE, &options)?;
        let mut service = Self {
            tree,
            pipe,
            limits,
            unread: Vec::new(),
            call: 1,
            trickle: Trickle::of_bytes(),
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
    pub(crate) fn call(&mut self, operation: u16, arguments: &[u8]) -> Result<Vec<u8>, Error> {
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
                let problem = say("misbehaving.other-call");
                return Err(self.failed(ProtocolError::Misbehaving(problem)));
            }
            match reply.results {
                Ok(part) if results.len() + part.len() <= self.limits.bytes => {
                    results.extend_from_slice(part);
                }
                Ok(_) => {
                    let problem = say("misbehaving.endless-answer");
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
            if self.limits.until.is_some_and(|until| now() > until) {
                return Err(Error::Stopped);
            }
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
        let asked = now();
        let Reply::FromPipe(bytes) = ask(shared, request, self.pipe.path())? else {
            return Err(shared.odd_answer());
        };
        let waited = now().saturating_duration_since(asked);
        let pace = self.trickle.was_short(bytes.len() as u64, waited);
        self.unread.extend(bytes);
        pace.map_err(|little| {
            let TooLittle { amount, answers } = little;
            self.failed(ProtocolError::Trickles(
                say("trickles.about-itself")
                    .count("amount", amount)
                    .count("answers", answers),
            ))
        })
    }

    pub(crate) fn failed(&self, source: ProtocolError) -> Error {
        self.tree.shared().error(source, SERVER_SERVICE_PIPE)
    }

    fn refused(&self, code: u32) -> Error {
        self.failed(refusal(Operation::QueryServerService, code))
    }
}

/// A code of Windows that is no success.
pub(crate) fn refusal(operation: Operation, code: u32) -> ProtocolError {
    let status = match code {
        ACCESS_DENIED => NtStatus::ACCESS_DENIED,
        _ => NtStatus::UNSUCCESSFUL,
    };
    ProtocolError::refused(Asked::from(operation).answered(code), status)
}

pub(crate) fn encoded<'a>(message: &impl Message<'a>) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}
