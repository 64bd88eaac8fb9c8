//! The shares of a server: connecting to one, and which there are, asked of its server service over a pipe (MS-SRVS
//! 3.1.4.8).

use locale::say;
use smb_proto::Error as ProtocolError;
use smb_proto::error::Operation;
use smb_proto::wire::{Message as _, ShareEnumArguments, ShareEnumResults, ShareRecord};

use crate::error::Error;
use crate::session::Session;
use crate::srvsvc_rpc::{Limits, Service, encoded, refusal};
use crate::tree::Tree;

/// The share that every server has: of pipes, and for questions that are about no share.
pub(crate) const IPC_SHARE: &str = "IPC$";
/// Longest list that is read, over all its answers and their fragments: more than 100 000 shares.
const LIST_BYTES_MAX: usize = 16 << 20;
/// Most answers that are asked for: each has at least one share.
const ANSWERS_MAX: usize = 1000;

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

impl Session {
    /// The shares of the server, in its order.
    ///
    /// # Errors
    /// When the server does not tell this user.
    pub fn shares(&self) -> Result<Vec<ShareEntry>, Error> {
        let limits = Limits {
            bytes: LIST_BYTES_MAX,
            until: None,
        };
        let mut service = Service::open(self.tree(IPC_SHARE)?, limits)?;
        let mut list = List::default();
        loop {
            let arguments = ShareEnumArguments {
                server: format!("\\\\{}", self.shared().server.name),
                resume: list.resume,
            };
            let answer = service.call(ShareEnumArguments::OPERATION, &encoded(&arguments))?;
            let more = list.add(&answer);
            if !more.map_err(|source| service.failed(source))? {
                return Ok(list.shares);
            }
        }
    }

    /// Connects to a share.
    ///
    /// # Errors
    /// When there is no such share, or the user may not use it.
    pub fn tree(&self, share: &str) -> Result<Tree, Error> {
        Tree::connect(self.shared(), share).map_err(|error| self.with_shares(error))
    }

    /// An error with the shares that there are, where it is that there is no such share.
    pub(crate) fn with_shares(&self, error: Error) -> Error {
        match error {
            Error::NoSuchShare {
                server,
                share,
                source,
                ..
            } if share != IPC_SHARE => {
                let known = self.shares().unwrap_or_default().into_iter();
                let known = known.filter(|it| !it.special && it.kind == ShareKind::Disk);
                Error::NoSuchShare {
                    server,
                    share,
                    there: known.map(|it| it.name).collect(),
                    source,
                }
            }
            error => error,
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
            let problem = say("misbehaving.endless-shares");
            return Err(ProtocolError::Misbehaving(problem));
        }
        let results = ShareEnumResults::decode(answer)?;
        let more = results.status == ShareEnumResults::MORE_DATA && !results.shares.is_empty();
        if results.status != 0 && !more {
            return Err(refusal(Operation::ListShares, results.status));
        }
        self.shares
            .extend(results.shares.into_iter().map(ShareEntry::from));
        self.resume = results.resume;
        Ok(more)
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
