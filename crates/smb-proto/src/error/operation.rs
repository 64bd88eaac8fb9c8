//! What a server was asked for: an operation, and what it was about.

use std::fmt;

use locale::{Language, Message, say};

use crate::wire::Command;

/// What is done by a request, or by several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// Connecting to a share.
    ConnectShare,
    /// The same after all channels were lost.
    ReconnectShare,
    /// Leaving a share.
    DisconnectShare,
    /// Opening a file or folder.
    Open,
    /// The same after all channels were lost.
    Reopen,
    /// Closing it.
    Close,
    /// Writing what the server has of it to its disk.
    Flush,
    /// Locking a part of a file.
    Lock,
    /// Listing a folder.
    List,
    /// Asking for size, times and the like.
    Query,
    /// Setting them, and renaming.
    Change,
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Removing.
    Remove,
    /// Asking for the server's interfaces.
    QueryInterfaces,
    /// Asking on which server something is (DFS).
    Locate,
    /// Asking how to name a file that the server is to copy.
    NameSource,
    /// Having the server copy into a file.
    CopyInto,
    /// Having its file system share blocks with a file.
    CloneInto,
    /// Making a file sparse.
    AllowHoles,
    /// Asking which parts of a file are there.
    QueryHoles,
    /// Asking where a link leads.
    ReadLink,
    /// Making a link of a file.
    MakeLink,
    /// Calling a procedure over a pipe.
    UsePipe,
    /// Giving a lease back.
    ReturnLease,
    /// A sign of life.
    Echo,
    /// Logging off.
    LogOff,
    /// Agreeing on a dialect and algorithms.
    Negotiate,
    /// Logging in.
    LogIn,
    /// Joining a session by a further channel.
    BindChannel,
    /// Asking whether the negotiation was as we saw it.
    CheckNegotiation,
    /// What came after the session had expired.
    AfterExpiry,
    /// Asking the server service.
    QueryServerService,
    /// Asking it for the shares.
    ListShares,
    /// Asking it for the open files.
    ListOpenFiles,
    /// A request of which no more is known than its command.
    Request(Command),
    /// A reply that makes no sense was waited for.
    AwaitReply,
    /// Nothing was asked, and anything would have done.
    Anything,
}

impl Operation {
    /// The id of its sentence, which stays.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::ConnectShare => "operation.connect-share",
            Self::ReconnectShare => "operation.reconnect-share",
            Self::DisconnectShare => "operation.disconnect-share",
            Self::Open => "operation.open",
            Self::Reopen => "operation.reopen",
            Self::Close => "operation.close",
            Self::Flush => "operation.flush",
            Self::Lock => "operation.lock",
            Self::List => "operation.list",
            Self::Query => "operation.query",
            Self::Change => "operation.change",
            Self::Read => "operation.read",
            Self::Write => "operation.write",
            Self::Remove => "operation.remove",
            Self::QueryInterfaces => "operation.query-interfaces",
            Self::Locate => "operation.locate",
            Self::NameSource => "operation.name-source",
            Self::CopyInto => "operation.copy-into",
            Self::CloneInto => "operation.clone-into",
            Self::AllowHoles => "operation.allow-holes",
            Self::QueryHoles => "operation.query-holes",
            Self::ReadLink => "operation.read-link",
            Self::MakeLink => "operation.make-link",
            Self::UsePipe => "operation.use-pipe",
            Self::ReturnLease => "operation.return-lease",
            Self::Echo => "operation.echo",
            Self::LogOff => "operation.log-off",
            Self::Negotiate => "operation.negotiate",
            Self::LogIn => "operation.log-in",
            Self::BindChannel => "operation.bind-channel",
            Self::CheckNegotiation => "operation.check-negotiation",
            Self::AfterExpiry => "operation.after-expiry",
            Self::QueryServerService => "operation.query-server-service",
            Self::ListShares => "operation.list-shares",
            Self::ListOpenFiles => "operation.list-open-files",
            Self::Request(_) => "operation.request",
            Self::AwaitReply => "operation.await-reply",
            Self::Anything => "operation.anything",
        }
    }

    /// The same with the file, folder or share that it is about.
    #[must_use]
    pub fn of(self, object: impl Into<String>) -> Asked {
        Asked {
            object: Some(object.into()),
            ..self.into()
        }
    }

    /// Whether it needs no right but those that the server gave when it opened the file. To change a file is not that:
    /// whether it may have its new name is decided only then.
    #[must_use]
    pub const fn is_of_open_file(self) -> bool {
        matches!(
            self,
            Self::Read | Self::Write | Self::List | Self::Query | Self::Flush | Self::Close
        )
    }

    /// What it is, without what it is about.
    #[must_use]
    pub fn message(self) -> Message {
        let message = say(self.id());
        match self {
            Self::Request(command) => message.with("command", command.name()),
            _ => message,
        }
    }
}

/// What a server was asked for, and of what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// What for.
    pub operation: Operation,
    /// Share, or path in the share, of an operation that is about one.
    pub object: Option<String>,
    /// Where in the file it begins, of READ and WRITE.
    pub offset: Option<u64>,
    /// What a service of Windows answered, of those that ask one.
    pub code: Option<u32>,
}

impl From<Operation> for Asked {
    fn from(operation: Operation) -> Self {
        Self {
            operation,
            object: None,
            offset: None,
            code: None,
        }
    }
}

impl Asked {
    /// The same from this byte of the file on.
    #[must_use]
    pub fn at(self, offset: u64) -> Self {
        Self {
            offset: Some(offset),
            ..self
        }
    }

    /// The same, to which a service of Windows answered this.
    #[must_use]
    pub fn answered(self, code: u32) -> Self {
        Self {
            code: Some(code),
            ..self
        }
    }

    /// What it is, as something that can be said in any language.
    #[must_use]
    pub fn message(&self) -> Message {
        let mut message = self.operation.message();
        message = message.with_known("object", self.object.as_deref());
        if let Some(offset) = self.offset {
            message = message.count("offset", offset);
        }
        message.with_known("code", self.code.map(|code| format!("{code:#x}")))
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.message()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_is_said_with_what_it_was_about() {
        let said = |asked: Asked| asked.to_string();
        assert_eq!(said(Operation::Open.of("a/b")), "opening `a/b`");
        assert_eq!(said(Operation::Read.of("a")), "reading `a`");
        let piece = Operation::Read.of("a").at(4096);
        assert_eq!(said(piece), "reading `a` at byte 4096");
        let refused = Asked::from(Operation::ListShares).answered(5);
        assert_eq!(said(refused), "listing the shares (error 0x5)");
        let request = Operation::Request(Command::CREATE);
        assert_eq!(said(request.into()), "CREATE");
    }
}
