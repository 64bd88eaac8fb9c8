//! What a server's refusal means for whoever reads it: MS-ERREF 2.3.1 in sentences.

use smb::NtStatus;

/// One sentence for each status that a user can meet; what the error around it says already has none.
const SENTENCES: &[(NtStatus, &str)] = &[
    (NtStatus::DISK_FULL, "the server's disk is full"),
    (
        NtStatus::QUOTA_EXCEEDED,
        "the user's quota on the server is used up",
    ),
    (
        NtStatus::DISK_QUOTA_EXCEEDED,
        "the user's quota on the server is used up",
    ),
    (
        NtStatus::ALLOTTED_SPACE_EXCEEDED,
        "the space allotted to this share is used up",
    ),
    (
        NtStatus::FILE_TOO_LARGE,
        "the server's file system does not hold files of this size",
    ),
    (NtStatus::WRONG_PASSWORD, "the password is wrong"),
    (NtStatus::LOGON_FAILURE, "user name or password is wrong"),
    (NtStatus::NO_SUCH_USER, "the server does not know this user"),
    (
        NtStatus::PASSWORD_EXPIRED,
        "the password has expired: set a new one, then log in",
    ),
    (
        NtStatus::PASSWORD_MUST_CHANGE,
        "the password must be changed before the first login",
    ),
    (
        NtStatus::ACCOUNT_LOCKED_OUT,
        "the account is locked after too many wrong passwords: wait, or ask who runs the server",
    ),
    (
        NtStatus::ACCOUNT_DISABLED,
        "the account is disabled: ask who runs the server",
    ),
    (
        NtStatus::ACCOUNT_EXPIRED,
        "the account has expired: ask who runs the server",
    ),
    (
        NtStatus::ACCOUNT_RESTRICTION,
        "the account is restricted: Windows refuses empty passwords over the network, for one",
    ),
    (
        NtStatus::INVALID_LOGON_HOURS,
        "the user may not log in at this hour",
    ),
    (
        NtStatus::INVALID_WORKSTATION,
        "the user may not log in from this computer",
    ),
    (
        NtStatus::LOGON_TYPE_NOT_GRANTED,
        "the user may not log in over the network: the server's policy `Access this computer from the network` decides",
    ),
    (
        NtStatus::NO_LOGON_SERVERS,
        "the server reaches no domain controller that could check the password",
    ),
    (
        NtStatus::TRUSTED_RELATIONSHIP_FAILURE,
        "the server's trust with its domain is broken: it must join again",
    ),
    (
        NtStatus::NETLOGON_NOT_STARTED,
        "the server's logon service does not run",
    ),
    (
        NtStatus::TIME_DIFFERENCE_AT_DC,
        "the clocks of server and domain controller differ by too much",
    ),
    (
        NtStatus::NTLM_BLOCKED,
        "the domain does not allow NTLM: log in by Kerberos, with the server's full name",
    ),
    (
        NtStatus::AUTHENTICATION_FIREWALL_FAILED,
        "the user's domain is not allowed to log in to this server",
    ),
    (
        NtStatus::DOWNGRADE_DETECTED,
        "the domain refuses this weaker login",
    ),
    (
        NtStatus::INSUFFICIENT_RESOURCES,
        "the server lacks memory or has too many connections",
    ),
    (
        NtStatus::REQUEST_NOT_ACCEPTED,
        "the server takes no more connections: Windows clients allow 20",
    ),
    (
        NtStatus::TOO_MANY_OPENED_FILES,
        "the server has too many files open",
    ),
    (NtStatus::ACCESS_DENIED, "the user has no right to it"),
    (
        NtStatus::PRIVILEGE_NOT_HELD,
        "the user lacks a privilege for it",
    ),
    (
        NtStatus::MEDIA_WRITE_PROTECTED,
        "the medium is write-protected",
    ),
    (
        NtStatus::SHARING_VIOLATION,
        "another program has the file open and does not share it",
    ),
    (
        NtStatus::FILE_LOCK_CONFLICT,
        "another program has locked this part of the file",
    ),
    (
        NtStatus::DELETE_PENDING,
        "the file is about to be removed, as soon as the last program closes it",
    ),
    (
        NtStatus::CANNOT_DELETE,
        "the file is read-only, or in use as a program",
    ),
    (NtStatus::DIRECTORY_NOT_EMPTY, "the folder is not empty"),
    (NtStatus::FILE_IS_A_DIRECTORY, "it is a folder"),
    (NtStatus::NOT_A_DIRECTORY, "it is no folder"),
    (
        NtStatus::OBJECT_NAME_INVALID,
        "the server cannot have this name",
    ),
    (
        NtStatus::OBJECT_PATH_SYNTAX_BAD,
        "the server cannot have this path",
    ),
    (
        NtStatus::NAME_TOO_LONG,
        "the name or path is too long for the server",
    ),
    (
        NtStatus::NETWORK_NAME_DELETED,
        "the share was removed, or the server closed it",
    ),
    (
        NtStatus::USER_SESSION_DELETED,
        "the server ended the session",
    ),
    (NtStatus::NETWORK_SESSION_EXPIRED, "the login has expired"),
    (NtStatus::BAD_DEVICE_TYPE, "it is no share of files"),
    (
        NtStatus::PATH_NOT_COVERED,
        "the folder is on another server (DFS)",
    ),
    (
        NtStatus::FS_DRIVER_REQUIRED,
        "the server has no distributed file system (DFS)",
    ),
    (
        NtStatus::STOPPED_ON_SYMLINK,
        "it is a symbolic link, which the client would have to follow",
    ),
    (
        NtStatus::IO_REPARSE_TAG_NOT_HANDLED,
        "it is a link of a kind that the server does not follow",
    ),
    (
        NtStatus::CLOUD_FILE_PROVIDER_NOT_RUNNING,
        "the file is in a cloud, and the server's program for it does not run",
    ),
    (
        NtStatus::CLOUD_FILE_NETWORK_UNAVAILABLE,
        "the file is in a cloud that the server does not reach",
    ),
    (
        NtStatus::VIRUS_INFECTED,
        "the server's virus scanner refuses it",
    ),
    (NtStatus::IO_DEVICE_ERROR, "the server's disk has an error"),
    (
        NtStatus::DEVICE_DATA_ERROR,
        "the server's disk cannot read this",
    ),
    (
        NtStatus::DISK_CORRUPT_ERROR,
        "the server's file system is damaged",
    ),
    (
        NtStatus::FILE_CORRUPT_ERROR,
        "the file is damaged on the server's disk",
    ),
    (
        NtStatus::NO_MEDIA_IN_DEVICE,
        "there is no medium in the server's drive",
    ),
    (
        NtStatus::DEVICE_NOT_READY,
        "the server's drive is not ready",
    ),
    (
        NtStatus::DEVICE_NOT_CONNECTED,
        "the server's disk is not connected",
    ),
    (
        NtStatus::VOLUME_DISMOUNTED,
        "the server's disk was taken out of use",
    ),
    (
        NtStatus::CONNECTION_DISCONNECTED,
        "the server lost the disk or server behind the share",
    ),
    (
        NtStatus::UNEXPECTED_NETWORK_ERROR,
        "the server had a network error of its own",
    ),
    (
        NtStatus::SERVER_UNAVAILABLE,
        "the server is not available now",
    ),
    (
        NtStatus::SHARE_UNAVAILABLE,
        "the share is not available now",
    ),
    (
        NtStatus::FILE_NOT_AVAILABLE,
        "the file is not available now",
    ),
    (
        NtStatus::IO_TIMEOUT,
        "the server's disk did not answer in time",
    ),
    (
        NtStatus::INTERNAL_ERROR,
        "the server has an error of its own",
    ),
    (NtStatus::UNSUCCESSFUL, "the server does not say why"),
    (NtStatus::NOT_SUPPORTED, "the server cannot do this"),
    (
        NtStatus::INVALID_DEVICE_REQUEST,
        "the server cannot do this",
    ),
    (NtStatus::INVALID_INFO_CLASS, "the server cannot do this"),
    (
        NtStatus::INVALID_PARAMETER,
        "the server does not take a request that follows the protocol",
    ),
];

/// What a status means.
pub fn sentence(status: NtStatus) -> Option<&'static str> {
    let found = SENTENCES.iter().find(|(known, _)| *known == status);
    found.map(|(_, sentence)| *sentence)
}

/// Of an error below others: what the server's status in it means.
pub fn sentence_in(error: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    let error = error.downcast_ref::<smb::ProtocolError>()?;
    let smb::ProtocolError::Refused { status, .. } = error else {
        return None;
    };
    sentence(*status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name_and_stands_once() {
        for (place, (status, sentence)) in SENTENCES.iter().enumerate() {
            assert!(status.name().is_some(), "{sentence}");
            let again = SENTENCES[place + 1..]
                .iter()
                .any(|(other, _)| other == status);
            assert!(!again, "{status}");
            assert!(sentence.split(' ').count() <= 25, "{sentence}");
        }
    }
}
