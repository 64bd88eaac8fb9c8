//! Which shares a server has: asked of its server service over a pipe (MS-SRVS 3.1.4.8).

use smb_proto::Error as ProtocolError;
use smb_proto::wire::{Message as _, ShareEnumArguments, ShareEnumResults, ShareRecord};

use crate::error::Error;
use crate::service::{Limits, Service, encoded, refusal};
use crate::session::Session;

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

/// Asks, and gives the shares in the server's order.
pub(crate) fn list(session: &Session, server: &str) -> Result<Vec<ShareEntry>, Error> {
    let limits = Limits {
        what: "the list of shares",
        bytes: LIST_BYTES_MAX,
        until: None,
    };
    let mut service = Service::open(session.tree(IPC_SHARE)?, limits)?;
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
            return Err(refusal("listing the shares", results.status));
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
