//! What can go wrong: what we were doing, to what, and why.

mod message;
mod operation;

use std::sync::Arc;

use locale::Message;

use crate::session::identifiers::ChannelNumber;

pub use operation::{Asked, Operation};

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Bytes of the peer that are not a message: which message, and what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct Malformed {
    /// The message or structure that was being read, as its specification calls it.
    pub message: &'static str,
    /// What is wrong with it.
    pub defect: Defect,
}

/// What is wrong with a message, or with a field of it, which has its name from the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// It ends before it is complete.
    Truncated,
    /// The field has a value that is not allowed there.
    Invalid(&'static str),
    /// The field is an offset or a length that leads out of what it belongs to.
    OutOfBounds(&'static str),
    /// The field counts or measures more than is taken.
    TooLarge(&'static str),
}

/// Why something failed. It is cheap to clone, because a lost channel ends many requests.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The peer sent bytes that are no SMB message.
    Malformed(#[from] Malformed),
    /// The peer is sound, but we and it have nothing in common, or it lacks what policy demands.
    Incompatible(Message),
    /// The peer broke a rule of the protocol.
    Misbehaving(Message),
    /// The server answered a request with an error.
    Refused {
        /// What was asked, and of what.
        asked: Arc<Asked>,
        /// The server's answer.
        status: NtStatus,
    },
    /// The server does not know the user, and would let us in as a guest or as nobody, which was not
    /// asked for.
    GuestOnly,
    /// The authentication mechanism failed.
    Authentication(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// The server said nothing for too long.
    TimedOut {
        /// How long.
        seconds: u64,
        /// The oldest request that waits.
        waiting_for: Operation,
    },
    /// The server's transport takes what is asked, and nothing has come of it for too long.
    Stalled {
        /// How long.
        seconds: u64,
        /// The request that waits.
        waiting_for: Operation,
    },
    /// The server does not give back what it kept open for a lost connection, and keeps it for the new one: this ends,
    /// so that the server forgets it.
    HandleWithheld {
        /// The file.
        path: String,
    },
    /// The server goes on answering, and each time gives or takes next to nothing of what it could.
    Trickles(Message),
    /// The transport broke; reported by the driver.
    Transport(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// A request was under way on a channel that ended.
    ChannelLost {
        /// Which channel.
        channel: ChannelNumber,
        /// What the request was.
        doing: Operation,
        /// Why the channel ended.
        #[source]
        cause: Arc<Error>,
    },
    /// All channels were lost, and who answers by now has another GUID. Some servers take a new one each time they
    /// start, so that this is no fault of theirs; what was open is not there in either case.
    AnotherServer,
    /// There is no channel left, or the session was logged off.
    SessionEnded(#[source] Option<Arc<Error>>),
    /// An open file cannot be taken up again after all channels were lost.
    FileChanged {
        /// Where it is.
        path: String,
        /// What is the matter.
        problem: FileProblem,
    },
    /// The caller asked for something that cannot be.
    InvalidRequest(Message),
    /// The caller's source of bytes failed.
    Source(#[source] Arc<std::io::Error>),
    /// The caller cancelled the transfer.
    Cancelled,
}

/// Why an open file is no longer what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileProblem {
    /// What was not flushed may be lost.
    Unflushed,
    /// What was written last may be lost: the server did not confirm that it closed the file with it.
    EndUnheard,
    /// The server lost what was written.
    WritesLost,
    /// Another file has taken its place.
    Replaced,
    /// Another client has changed it.
    Changed,
    /// A listing cannot be continued.
    ListingCut,
    /// A folder changed while it was listed.
    ChangedWhileListed,
}

impl Error {
    /// What is [`Incompatible`](Self::Incompatible) with a server that takes less at a time than a client needs: the id.
    pub const SMALL_REQUESTS: &str = "incompatible.small-requests";

    /// The server answered a request with an error.
    pub fn refused(asked: impl Into<Asked>, status: NtStatus) -> Self {
        Self::Refused {
            asked: Arc::new(asked.into()),
            status,
        }
    }

    /// Whether the peer is at fault, and would be again.
    pub fn is_fault(&self) -> bool {
        matches!(
            self,
            Self::Malformed(_) | Self::Incompatible(_) | Self::Misbehaving(_) | Self::Trickles(_)
        )
    }

    /// Whether the server refused the user.
    pub fn is_of_login(&self) -> bool {
        matches!(self, Self::Refused { asked, .. } if asked.operation == Operation::LogIn)
    }

    /// Whether the server refused something that needs no right but those that it gave when it opened the file.
    pub fn is_of_open_file(&self) -> bool {
        matches!(self, Self::Refused { asked, .. } if asked.operation.is_of_open_file())
    }

    /// The server's status, when a server's refusal is the reason.
    pub fn status(&self) -> Option<NtStatus> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            Self::ChannelLost { cause, .. } | Self::SessionEnded(Some(cause)) => cause.status(),
            _ => None,
        }
    }
}

/// A status code of the server.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct NtStatus(pub u32);

impl NtStatus {
    /// `STATUS_SUCCESS`.
    pub const SUCCESS: Self = Self(0x0000_0000);
    /// `STATUS_PENDING`.
    pub const PENDING: Self = Self(0x0000_0103);
    /// `STATUS_BUFFER_OVERFLOW`.
    pub const BUFFER_OVERFLOW: Self = Self(0x8000_0005);
    /// `STATUS_NO_MORE_FILES`.
    pub const NO_MORE_FILES: Self = Self(0x8000_0006);
    /// `STATUS_STOPPED_ON_SYMLINK`.
    pub const STOPPED_ON_SYMLINK: Self = Self(0x8000_002D);
    /// `STATUS_UNSUCCESSFUL`.
    pub const UNSUCCESSFUL: Self = Self(0xC000_0001);
    /// `STATUS_INVALID_INFO_CLASS`.
    pub const INVALID_INFO_CLASS: Self = Self(0xC000_0003);
    /// `STATUS_INFO_LENGTH_MISMATCH`.
    pub const INFO_LENGTH_MISMATCH: Self = Self(0xC000_0004);
    /// `STATUS_INVALID_HANDLE`.
    pub const INVALID_HANDLE: Self = Self(0xC000_0008);
    /// `STATUS_INVALID_PARAMETER`.
    pub const INVALID_PARAMETER: Self = Self(0xC000_000D);
    /// `STATUS_NO_SUCH_FILE`.
    pub const NO_SUCH_FILE: Self = Self(0xC000_000F);
    /// `STATUS_INVALID_DEVICE_REQUEST`.
    pub const INVALID_DEVICE_REQUEST: Self = Self(0xC000_0010);
    /// `STATUS_END_OF_FILE`.
    pub const END_OF_FILE: Self = Self(0xC000_0011);
    /// `STATUS_MORE_PROCESSING_REQUIRED`.
    pub const MORE_PROCESSING_REQUIRED: Self = Self(0xC000_0016);
    /// `STATUS_ACCESS_DENIED`.
    pub const ACCESS_DENIED: Self = Self(0xC000_0022);
    /// `STATUS_BUFFER_TOO_SMALL`.
    pub const BUFFER_TOO_SMALL: Self = Self(0xC000_0023);
    /// `STATUS_OBJECT_NAME_INVALID`.
    pub const OBJECT_NAME_INVALID: Self = Self(0xC000_0033);
    /// `STATUS_OBJECT_NAME_NOT_FOUND`.
    pub const OBJECT_NAME_NOT_FOUND: Self = Self(0xC000_0034);
    /// `STATUS_OBJECT_NAME_COLLISION`.
    pub const OBJECT_NAME_COLLISION: Self = Self(0xC000_0035);
    /// `STATUS_OBJECT_PATH_NOT_FOUND`.
    pub const OBJECT_PATH_NOT_FOUND: Self = Self(0xC000_003A);
    /// `STATUS_SHARING_VIOLATION`.
    pub const SHARING_VIOLATION: Self = Self(0xC000_0043);
    /// `STATUS_FILE_LOCK_CONFLICT`.
    pub const FILE_LOCK_CONFLICT: Self = Self(0xC000_0054);
    /// `STATUS_DELETE_PENDING`.
    pub const DELETE_PENDING: Self = Self(0xC000_0056);
    /// `STATUS_PRIVILEGE_NOT_HELD`.
    pub const PRIVILEGE_NOT_HELD: Self = Self(0xC000_0061);
    /// `STATUS_WRONG_PASSWORD`.
    pub const WRONG_PASSWORD: Self = Self(0xC000_006A);
    /// `STATUS_LOGON_FAILURE`.
    pub const LOGON_FAILURE: Self = Self(0xC000_006D);
    /// `STATUS_ACCOUNT_RESTRICTION`.
    pub const ACCOUNT_RESTRICTION: Self = Self(0xC000_006E);
    /// `STATUS_PASSWORD_EXPIRED`.
    pub const PASSWORD_EXPIRED: Self = Self(0xC000_0071);
    /// `STATUS_ACCOUNT_DISABLED`.
    pub const ACCOUNT_DISABLED: Self = Self(0xC000_0072);
    /// `STATUS_DISK_FULL`.
    pub const DISK_FULL: Self = Self(0xC000_007F);
    /// `STATUS_NO_MEMORY`.
    pub const NO_MEMORY: Self = Self(0xC000_0017);
    /// `STATUS_INSUFFICIENT_RESOURCES`.
    pub const INSUFFICIENT_RESOURCES: Self = Self(0xC000_009A);
    /// `STATUS_MEDIA_WRITE_PROTECTED`.
    pub const MEDIA_WRITE_PROTECTED: Self = Self(0xC000_00A2);
    /// `STATUS_IO_TIMEOUT`.
    pub const IO_TIMEOUT: Self = Self(0xC000_00B5);
    /// `STATUS_FILE_IS_A_DIRECTORY`.
    pub const FILE_IS_A_DIRECTORY: Self = Self(0xC000_00BA);
    /// `STATUS_NOT_SUPPORTED`.
    pub const NOT_SUPPORTED: Self = Self(0xC000_00BB);
    /// `STATUS_NETWORK_NAME_DELETED`.
    pub const NETWORK_NAME_DELETED: Self = Self(0xC000_00C9);
    /// `STATUS_BAD_NETWORK_NAME`.
    pub const BAD_NETWORK_NAME: Self = Self(0xC000_00CC);
    /// `STATUS_REQUEST_NOT_ACCEPTED`.
    pub const REQUEST_NOT_ACCEPTED: Self = Self(0xC000_00D0);
    /// `STATUS_INTERNAL_ERROR`.
    pub const INTERNAL_ERROR: Self = Self(0xC000_00E5);
    /// `STATUS_DIRECTORY_NOT_EMPTY`.
    pub const DIRECTORY_NOT_EMPTY: Self = Self(0xC000_0101);
    /// `STATUS_NOT_A_DIRECTORY`.
    pub const NOT_A_DIRECTORY: Self = Self(0xC000_0103);
    /// `STATUS_CANCELLED`.
    pub const CANCELLED: Self = Self(0xC000_0120);
    /// `STATUS_CANNOT_DELETE`.
    pub const CANNOT_DELETE: Self = Self(0xC000_0121);
    /// `STATUS_FILE_CLOSED`.
    pub const FILE_CLOSED: Self = Self(0xC000_0128);
    /// `STATUS_USER_SESSION_DELETED`.
    pub const USER_SESSION_DELETED: Self = Self(0xC000_0203);
    /// `STATUS_ACCOUNT_LOCKED_OUT`.
    pub const ACCOUNT_LOCKED_OUT: Self = Self(0xC000_0234);
    /// `STATUS_PATH_NOT_COVERED`.
    pub const PATH_NOT_COVERED: Self = Self(0xC000_0257);
    /// `STATUS_NETWORK_SESSION_EXPIRED`.
    pub const NETWORK_SESSION_EXPIRED: Self = Self(0xC000_035C);
    /// `STATUS_SERVER_UNAVAILABLE`.
    pub const SERVER_UNAVAILABLE: Self = Self(0xC000_0466);
    /// `STATUS_FILE_NOT_AVAILABLE`.
    pub const FILE_NOT_AVAILABLE: Self = Self(0xC000_0467);
    /// `STATUS_SHARE_UNAVAILABLE`.
    pub const SHARE_UNAVAILABLE: Self = Self(0xC000_0480);
    /// `STATUS_QUOTA_EXCEEDED`.
    pub const QUOTA_EXCEEDED: Self = Self(0xC000_0044);
    /// `STATUS_ALLOTTED_SPACE_EXCEEDED`.
    pub const ALLOTTED_SPACE_EXCEEDED: Self = Self(0xC000_0099);
    /// `STATUS_DISK_QUOTA_EXCEEDED`.
    pub const DISK_QUOTA_EXCEEDED: Self = Self(0xC000_0802);
    /// `STATUS_NO_SUCH_USER`.
    pub const NO_SUCH_USER: Self = Self(0xC000_0064);
    /// `STATUS_NO_LOGON_SERVERS`.
    pub const NO_LOGON_SERVERS: Self = Self(0xC000_005E);
    /// `STATUS_INVALID_LOGON_HOURS`.
    pub const INVALID_LOGON_HOURS: Self = Self(0xC000_006F);
    /// `STATUS_INVALID_WORKSTATION`.
    pub const INVALID_WORKSTATION: Self = Self(0xC000_0070);
    /// `STATUS_LOGON_TYPE_NOT_GRANTED`.
    pub const LOGON_TYPE_NOT_GRANTED: Self = Self(0xC000_015B);
    /// `STATUS_ACCOUNT_EXPIRED`.
    pub const ACCOUNT_EXPIRED: Self = Self(0xC000_0193);
    /// `STATUS_PASSWORD_MUST_CHANGE`.
    pub const PASSWORD_MUST_CHANGE: Self = Self(0xC000_0224);
    /// `STATUS_TRUSTED_RELATIONSHIP_FAILURE`.
    pub const TRUSTED_RELATIONSHIP_FAILURE: Self = Self(0xC000_018D);
    /// `STATUS_NETLOGON_NOT_STARTED`.
    pub const NETLOGON_NOT_STARTED: Self = Self(0xC000_0192);
    /// `STATUS_TIME_DIFFERENCE_AT_DC`.
    pub const TIME_DIFFERENCE_AT_DC: Self = Self(0xC000_0133);
    /// `STATUS_NTLM_BLOCKED`.
    pub const NTLM_BLOCKED: Self = Self(0xC000_0418);
    /// `STATUS_AUTHENTICATION_FIREWALL_FAILED`.
    pub const AUTHENTICATION_FIREWALL_FAILED: Self = Self(0xC000_0413);
    /// `STATUS_DOWNGRADE_DETECTED`.
    pub const DOWNGRADE_DETECTED: Self = Self(0xC000_0388);
    /// `STATUS_BAD_DEVICE_TYPE`.
    pub const BAD_DEVICE_TYPE: Self = Self(0xC000_00CB);
    /// `STATUS_TOO_MANY_OPENED_FILES`.
    pub const TOO_MANY_OPENED_FILES: Self = Self(0xC000_011F);
    /// `STATUS_VOLUME_DISMOUNTED`.
    pub const VOLUME_DISMOUNTED: Self = Self(0xC000_013E);
    /// `STATUS_IO_DEVICE_ERROR`.
    pub const IO_DEVICE_ERROR: Self = Self(0xC000_0185);
    /// `STATUS_DEVICE_DATA_ERROR`.
    pub const DEVICE_DATA_ERROR: Self = Self(0xC000_009C);
    /// `STATUS_DISK_CORRUPT_ERROR`.
    pub const DISK_CORRUPT_ERROR: Self = Self(0xC000_0032);
    /// `STATUS_FILE_CORRUPT_ERROR`.
    pub const FILE_CORRUPT_ERROR: Self = Self(0xC000_0102);
    /// `STATUS_NAME_TOO_LONG`.
    pub const NAME_TOO_LONG: Self = Self(0xC000_0106);
    /// `STATUS_OBJECT_PATH_SYNTAX_BAD`.
    pub const OBJECT_PATH_SYNTAX_BAD: Self = Self(0xC000_003B);
    /// `STATUS_UNEXPECTED_NETWORK_ERROR`.
    pub const UNEXPECTED_NETWORK_ERROR: Self = Self(0xC000_00E9);
    /// `STATUS_NO_MEDIA_IN_DEVICE`.
    pub const NO_MEDIA_IN_DEVICE: Self = Self(0xC000_0013);
    /// `STATUS_DEVICE_NOT_READY`.
    pub const DEVICE_NOT_READY: Self = Self(0xC000_00A3);
    /// `STATUS_FILE_TOO_LARGE`.
    pub const FILE_TOO_LARGE: Self = Self(0xC000_0904);
    /// `STATUS_NOT_A_REPARSE_POINT`.
    pub const NOT_A_REPARSE_POINT: Self = Self(0xC000_0275);
    /// `STATUS_IO_REPARSE_TAG_NOT_HANDLED`.
    pub const IO_REPARSE_TAG_NOT_HANDLED: Self = Self(0xC000_0279);
    /// `STATUS_CLOUD_FILE_PROVIDER_NOT_RUNNING`.
    pub const CLOUD_FILE_PROVIDER_NOT_RUNNING: Self = Self(0xC000_CE02);
    /// `STATUS_CLOUD_FILE_NETWORK_UNAVAILABLE`.
    pub const CLOUD_FILE_NETWORK_UNAVAILABLE: Self = Self(0xC000_CF0A);
    /// `STATUS_VIRUS_INFECTED`.
    pub const VIRUS_INFECTED: Self = Self(0xC000_0906);
    /// `STATUS_FS_DRIVER_REQUIRED`.
    pub const FS_DRIVER_REQUIRED: Self = Self(0xC000_019C);
    /// `STATUS_CONNECTION_DISCONNECTED`.
    pub const CONNECTION_DISCONNECTED: Self = Self(0xC000_020C);
    /// `STATUS_DEVICE_NOT_CONNECTED`.
    pub const DEVICE_NOT_CONNECTED: Self = Self(0xC000_009D);

    /// Whether this is an error (the two severity bits are set); warnings are not.
    pub fn is_error(self) -> bool {
        self.0 >> 30 == 3
    }

    /// The code's name, when it has one here.
    pub fn name(self) -> Option<&'static str> {
        NAMES
            .iter()
            .find(|(status, _)| *status == self)
            .map(|(_, name)| *name)
    }
}

/// The codes this crate knows by name, so that errors can be read.
const NAMES: &[(NtStatus, &str)] = &[
    (NtStatus::SUCCESS, "STATUS_SUCCESS"),
    (NtStatus::PENDING, "STATUS_PENDING"),
    (NtStatus::BUFFER_OVERFLOW, "STATUS_BUFFER_OVERFLOW"),
    (NtStatus::NO_MORE_FILES, "STATUS_NO_MORE_FILES"),
    (NtStatus::STOPPED_ON_SYMLINK, "STATUS_STOPPED_ON_SYMLINK"),
    (NtStatus::UNSUCCESSFUL, "STATUS_UNSUCCESSFUL"),
    (NtStatus::INVALID_INFO_CLASS, "STATUS_INVALID_INFO_CLASS"),
    (
        NtStatus::INFO_LENGTH_MISMATCH,
        "STATUS_INFO_LENGTH_MISMATCH",
    ),
    (NtStatus::INVALID_HANDLE, "STATUS_INVALID_HANDLE"),
    (NtStatus::INVALID_PARAMETER, "STATUS_INVALID_PARAMETER"),
    (NtStatus::NO_SUCH_FILE, "STATUS_NO_SUCH_FILE"),
    (
        NtStatus::INVALID_DEVICE_REQUEST,
        "STATUS_INVALID_DEVICE_REQUEST",
    ),
    (NtStatus::END_OF_FILE, "STATUS_END_OF_FILE"),
    (
        NtStatus::MORE_PROCESSING_REQUIRED,
        "STATUS_MORE_PROCESSING_REQUIRED",
    ),
    (NtStatus::ACCESS_DENIED, "STATUS_ACCESS_DENIED"),
    (NtStatus::BUFFER_TOO_SMALL, "STATUS_BUFFER_TOO_SMALL"),
    (NtStatus::OBJECT_NAME_INVALID, "STATUS_OBJECT_NAME_INVALID"),
    (
        NtStatus::OBJECT_NAME_NOT_FOUND,
        "STATUS_OBJECT_NAME_NOT_FOUND",
    ),
    (
        NtStatus::OBJECT_NAME_COLLISION,
        "STATUS_OBJECT_NAME_COLLISION",
    ),
    (
        NtStatus::OBJECT_PATH_NOT_FOUND,
        "STATUS_OBJECT_PATH_NOT_FOUND",
    ),
    (NtStatus::SHARING_VIOLATION, "STATUS_SHARING_VIOLATION"),
    (NtStatus::FILE_LOCK_CONFLICT, "STATUS_FILE_LOCK_CONFLICT"),
    (NtStatus::DELETE_PENDING, "STATUS_DELETE_PENDING"),
    (NtStatus::PRIVILEGE_NOT_HELD, "STATUS_PRIVILEGE_NOT_HELD"),
    (NtStatus::WRONG_PASSWORD, "STATUS_WRONG_PASSWORD"),
    (NtStatus::LOGON_FAILURE, "STATUS_LOGON_FAILURE"),
    (NtStatus::ACCOUNT_RESTRICTION, "STATUS_ACCOUNT_RESTRICTION"),
    (NtStatus::PASSWORD_EXPIRED, "STATUS_PASSWORD_EXPIRED"),
    (NtStatus::ACCOUNT_DISABLED, "STATUS_ACCOUNT_DISABLED"),
    (NtStatus::DISK_FULL, "STATUS_DISK_FULL"),
    (NtStatus::NO_MEMORY, "STATUS_NO_MEMORY"),
    (
        NtStatus::INSUFFICIENT_RESOURCES,
        "STATUS_INSUFFICIENT_RESOURCES",
    ),
    (
        NtStatus::MEDIA_WRITE_PROTECTED,
        "STATUS_MEDIA_WRITE_PROTECTED",
    ),
    (NtStatus::IO_TIMEOUT, "STATUS_IO_TIMEOUT"),
    (NtStatus::FILE_IS_A_DIRECTORY, "STATUS_FILE_IS_A_DIRECTORY"),
    (NtStatus::NOT_SUPPORTED, "STATUS_NOT_SUPPORTED"),
    (
        NtStatus::NETWORK_NAME_DELETED,
        "STATUS_NETWORK_NAME_DELETED",
    ),
    (NtStatus::BAD_NETWORK_NAME, "STATUS_BAD_NETWORK_NAME"),
    (
        NtStatus::REQUEST_NOT_ACCEPTED,
        "STATUS_REQUEST_NOT_ACCEPTED",
    ),
    (NtStatus::INTERNAL_ERROR, "STATUS_INTERNAL_ERROR"),
    (NtStatus::DIRECTORY_NOT_EMPTY, "STATUS_DIRECTORY_NOT_EMPTY"),
    (NtStatus::NOT_A_DIRECTORY, "STATUS_NOT_A_DIRECTORY"),
    (NtStatus::CANCELLED, "STATUS_CANCELLED"),
    (NtStatus::CANNOT_DELETE, "STATUS_CANNOT_DELETE"),
    (NtStatus::FILE_CLOSED, "STATUS_FILE_CLOSED"),
    (
        NtStatus::USER_SESSION_DELETED,
        "STATUS_USER_SESSION_DELETED",
    ),
    (NtStatus::ACCOUNT_LOCKED_OUT, "STATUS_ACCOUNT_LOCKED_OUT"),
    (NtStatus::PATH_NOT_COVERED, "STATUS_PATH_NOT_COVERED"),
    (
        NtStatus::NETWORK_SESSION_EXPIRED,
        "STATUS_NETWORK_SESSION_EXPIRED",
    ),
    (NtStatus::SERVER_UNAVAILABLE, "STATUS_SERVER_UNAVAILABLE"),
    (NtStatus::FILE_NOT_AVAILABLE, "STATUS_FILE_NOT_AVAILABLE"),
    (NtStatus::SHARE_UNAVAILABLE, "STATUS_SHARE_UNAVAILABLE"),
    (NtStatus::QUOTA_EXCEEDED, "STATUS_QUOTA_EXCEEDED"),
    (
        NtStatus::ALLOTTED_SPACE_EXCEEDED,
        "STATUS_ALLOTTED_SPACE_EXCEEDED",
    ),
    (NtStatus::DISK_QUOTA_EXCEEDED, "STATUS_DISK_QUOTA_EXCEEDED"),
    (NtStatus::NO_SUCH_USER, "STATUS_NO_SUCH_USER"),
    (NtStatus::NO_LOGON_SERVERS, "STATUS_NO_LOGON_SERVERS"),
    (NtStatus::INVALID_LOGON_HOURS, "STATUS_INVALID_LOGON_HOURS"),
    (NtStatus::INVALID_WORKSTATION, "STATUS_INVALID_WORKSTATION"),
    (
        NtStatus::LOGON_TYPE_NOT_GRANTED,
        "STATUS_LOGON_TYPE_NOT_GRANTED",
    ),
    (NtStatus::ACCOUNT_EXPIRED, "STATUS_ACCOUNT_EXPIRED"),
    (
        NtStatus::PASSWORD_MUST_CHANGE,
        "STATUS_PASSWORD_MUST_CHANGE",
    ),
    (
        NtStatus::TRUSTED_RELATIONSHIP_FAILURE,
        "STATUS_TRUSTED_RELATIONSHIP_FAILURE",
    ),
    (
        NtStatus::NETLOGON_NOT_STARTED,
        "STATUS_NETLOGON_NOT_STARTED",
    ),
    (
        NtStatus::TIME_DIFFERENCE_AT_DC,
        "STATUS_TIME_DIFFERENCE_AT_DC",
    ),
    (NtStatus::NTLM_BLOCKED, "STATUS_NTLM_BLOCKED"),
    (
        NtStatus::AUTHENTICATION_FIREWALL_FAILED,
        "STATUS_AUTHENTICATION_FIREWALL_FAILED",
    ),
    (NtStatus::DOWNGRADE_DETECTED, "STATUS_DOWNGRADE_DETECTED"),
    (NtStatus::BAD_DEVICE_TYPE, "STATUS_BAD_DEVICE_TYPE"),
    (
        NtStatus::TOO_MANY_OPENED_FILES,
        "STATUS_TOO_MANY_OPENED_FILES",
    ),
    (NtStatus::VOLUME_DISMOUNTED, "STATUS_VOLUME_DISMOUNTED"),
    (NtStatus::IO_DEVICE_ERROR, "STATUS_IO_DEVICE_ERROR"),
    (NtStatus::DEVICE_DATA_ERROR, "STATUS_DEVICE_DATA_ERROR"),
    (NtStatus::DISK_CORRUPT_ERROR, "STATUS_DISK_CORRUPT_ERROR"),
    (NtStatus::FILE_CORRUPT_ERROR, "STATUS_FILE_CORRUPT_ERROR"),
    (NtStatus::NAME_TOO_LONG, "STATUS_NAME_TOO_LONG"),
    (
        NtStatus::OBJECT_PATH_SYNTAX_BAD,
        "STATUS_OBJECT_PATH_SYNTAX_BAD",
    ),
    (
        NtStatus::UNEXPECTED_NETWORK_ERROR,
        "STATUS_UNEXPECTED_NETWORK_ERROR",
    ),
    (NtStatus::NO_MEDIA_IN_DEVICE, "STATUS_NO_MEDIA_IN_DEVICE"),
    (NtStatus::DEVICE_NOT_READY, "STATUS_DEVICE_NOT_READY"),
    (NtStatus::FILE_TOO_LARGE, "STATUS_FILE_TOO_LARGE"),
    (NtStatus::NOT_A_REPARSE_POINT, "STATUS_NOT_A_REPARSE_POINT"),
    (
        NtStatus::IO_REPARSE_TAG_NOT_HANDLED,
        "STATUS_IO_REPARSE_TAG_NOT_HANDLED",
    ),
    (
        NtStatus::CLOUD_FILE_PROVIDER_NOT_RUNNING,
        "STATUS_CLOUD_FILE_PROVIDER_NOT_RUNNING",
    ),
    (
        NtStatus::CLOUD_FILE_NETWORK_UNAVAILABLE,
        "STATUS_CLOUD_FILE_NETWORK_UNAVAILABLE",
    ),
    (NtStatus::VIRUS_INFECTED, "STATUS_VIRUS_INFECTED"),
    (NtStatus::FS_DRIVER_REQUIRED, "STATUS_FS_DRIVER_REQUIRED"),
    (
        NtStatus::CONNECTION_DISCONNECTED,
        "STATUS_CONNECTION_DISCONNECTED",
    ),
    (
        NtStatus::DEVICE_NOT_CONNECTED,
        "STATUS_DEVICE_NOT_CONNECTED",
    ),
];

impl std::fmt::Display for NtStatus {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name() {
            Some(name) => write!(formatter, "{name}"),
            None => write!(formatter, "status {:#010X}", self.0),
        }
    }
}

impl std::fmt::Debug for NtStatus {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_read_well() {
        assert_eq!(NtStatus::END_OF_FILE.to_string(), "STATUS_END_OF_FILE");
        assert_eq!(NtStatus(0xC0FF_EE00).to_string(), "status 0xC0FFEE00");
        assert!(NtStatus::LOGON_FAILURE.is_error());
        assert!(!NtStatus::NO_MORE_FILES.is_error());
    }

    #[test]
    fn a_status_is_found_through_a_lost_channel() {
        let cause = Error::refused(Operation::LogIn, NtStatus::LOGON_FAILURE);
        let error = Error::SessionEnded(Some(Arc::new(cause)));
        assert_eq!(error.status(), Some(NtStatus::LOGON_FAILURE));
    }
}
