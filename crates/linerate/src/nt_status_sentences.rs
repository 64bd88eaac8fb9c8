//! What a server's refusal means for whoever reads it: MS-ERREF 2.3.1 in sentences.

use locale::{Message, say};
use smb::NtStatus;

/// The id of one sentence for each status that a user can meet; what the error around it says already has none.
const SENTENCES: &[(NtStatus, &str)] = &[
    (NtStatus::DISK_FULL, "status.disk-full"),
    (NtStatus::QUOTA_EXCEEDED, "status.quota-exceeded"),
    (NtStatus::DISK_QUOTA_EXCEEDED, "status.quota-exceeded"),
    (
        NtStatus::ALLOTTED_SPACE_EXCEEDED,
        "status.allotted-space-exceeded",
    ),
    (NtStatus::FILE_TOO_LARGE, "status.file-too-large"),
    (NtStatus::WRONG_PASSWORD, "status.wrong-password"),
    (NtStatus::LOGON_FAILURE, "status.logon-failure"),
    (NtStatus::NO_SUCH_USER, "status.no-such-user"),
    (NtStatus::PASSWORD_EXPIRED, "status.password-expired"),
    (
        NtStatus::PASSWORD_MUST_CHANGE,
        "status.password-must-change",
    ),
    (NtStatus::ACCOUNT_LOCKED_OUT, "status.account-locked-out"),
    (NtStatus::ACCOUNT_DISABLED, "status.account-disabled"),
    (NtStatus::ACCOUNT_EXPIRED, "status.account-expired"),
    (NtStatus::ACCOUNT_RESTRICTION, "status.account-restriction"),
    (NtStatus::INVALID_LOGON_HOURS, "status.invalid-logon-hours"),
    (NtStatus::INVALID_WORKSTATION, "status.invalid-workstation"),
    (
        NtStatus::LOGON_TYPE_NOT_GRANTED,
        "status.logon-type-not-granted",
    ),
    (NtStatus::NO_LOGON_SERVERS, "status.no-logon-servers"),
    (
        NtStatus::TRUSTED_RELATIONSHIP_FAILURE,
        "status.trusted-relationship-failure",
    ),
    (
        NtStatus::NETLOGON_NOT_STARTED,
        "status.netlogon-not-started",
    ),
    (
        NtStatus::TIME_DIFFERENCE_AT_DC,
        "status.time-difference-at-dc",
    ),
    (NtStatus::NTLM_BLOCKED, "status.ntlm-blocked"),
    (
        NtStatus::AUTHENTICATION_FIREWALL_FAILED,
        "status.authentication-firewall-failed",
    ),
    (NtStatus::DOWNGRADE_DETECTED, "status.downgrade-detected"),
    (NtStatus::NO_MEMORY, "status.no-memory"),
    (
        NtStatus::INSUFFICIENT_RESOURCES,
        "status.insufficient-resources",
    ),
    (
        NtStatus::REQUEST_NOT_ACCEPTED,
        "status.request-not-accepted",
    ),
    (
        NtStatus::TOO_MANY_OPENED_FILES,
        "status.too-many-opened-files",
    ),
    (NtStatus::ACCESS_DENIED, "status.access-denied"),
    (NtStatus::PRIVILEGE_NOT_HELD, "status.privilege-not-held"),
    (
        NtStatus::MEDIA_WRITE_PROTECTED,
        "status.media-write-protected",
    ),
    (NtStatus::SHARING_VIOLATION, "status.sharing-violation"),
    (NtStatus::FILE_LOCK_CONFLICT, "status.file-lock-conflict"),
    (NtStatus::DELETE_PENDING, "status.delete-pending"),
    (NtStatus::CANNOT_DELETE, "status.cannot-delete"),
    (NtStatus::DIRECTORY_NOT_EMPTY, "status.directory-not-empty"),
    (NtStatus::FILE_IS_A_DIRECTORY, "status.file-is-a-directory"),
    (NtStatus::NOT_A_DIRECTORY, "status.not-a-directory"),
    (NtStatus::OBJECT_NAME_INVALID, "status.object-name-invalid"),
    (
        NtStatus::OBJECT_PATH_SYNTAX_BAD,
        "status.object-path-syntax-bad",
    ),
    (NtStatus::NAME_TOO_LONG, "status.name-too-long"),
    (
        NtStatus::NETWORK_NAME_DELETED,
        "status.network-name-deleted",
    ),
    (
        NtStatus::USER_SESSION_DELETED,
        "status.user-session-deleted",
    ),
    (
        NtStatus::NETWORK_SESSION_EXPIRED,
        "status.network-session-expired",
    ),
    (NtStatus::BAD_DEVICE_TYPE, "status.bad-device-type"),
    (NtStatus::PATH_NOT_COVERED, "status.path-not-covered"),
    (NtStatus::FS_DRIVER_REQUIRED, "status.fs-driver-required"),
    (NtStatus::STOPPED_ON_SYMLINK, "status.stopped-on-symlink"),
    (
        NtStatus::IO_REPARSE_TAG_NOT_HANDLED,
        "status.io-reparse-tag-not-handled",
    ),
    (
        NtStatus::CLOUD_FILE_PROVIDER_NOT_RUNNING,
        "status.cloud-file-provider-not-running",
    ),
    (
        NtStatus::CLOUD_FILE_NETWORK_UNAVAILABLE,
        "status.cloud-file-network-unavailable",
    ),
    (NtStatus::VIRUS_INFECTED, "status.virus-infected"),
    (NtStatus::IO_DEVICE_ERROR, "status.io-device-error"),
    (NtStatus::DEVICE_DATA_ERROR, "status.device-data-error"),
    (NtStatus::DISK_CORRUPT_ERROR, "status.disk-corrupt-error"),
    (NtStatus::FILE_CORRUPT_ERROR, "status.file-corrupt-error"),
    (NtStatus::NO_MEDIA_IN_DEVICE, "status.no-media-in-device"),
    (NtStatus::DEVICE_NOT_READY, "status.device-not-ready"),
    (
        NtStatus::DEVICE_NOT_CONNECTED,
        "status.device-not-connected",
    ),
    (NtStatus::VOLUME_DISMOUNTED, "status.volume-dismounted"),
    (
        NtStatus::CONNECTION_DISCONNECTED,
        "status.connection-disconnected",
    ),
    (
        NtStatus::UNEXPECTED_NETWORK_ERROR,
        "status.unexpected-network-error",
    ),
    (NtStatus::SERVER_UNAVAILABLE, "status.server-unavailable"),
    (NtStatus::SHARE_UNAVAILABLE, "status.share-unavailable"),
    (NtStatus::FILE_NOT_AVAILABLE, "status.file-not-available"),
    (NtStatus::IO_TIMEOUT, "status.io-timeout"),
    (NtStatus::INTERNAL_ERROR, "status.internal-error"),
    (NtStatus::UNSUCCESSFUL, "status.unsuccessful"),
    (NtStatus::NOT_SUPPORTED, "status.not-supported"),
    (NtStatus::INVALID_DEVICE_REQUEST, "status.not-supported"),
    (NtStatus::INVALID_INFO_CLASS, "status.not-supported"),
    (NtStatus::INVALID_PARAMETER, "status.invalid-parameter"),
];

/// What a status means.
pub fn sentence(status: NtStatus) -> Option<Message> {
    let found = SENTENCES.iter().find(|(known, _)| *known == status);
    found.map(|&(_, id)| say(id))
}

/// Of an error below others: what the server's status in it means.
pub fn sentence_in(error: &(dyn std::error::Error + 'static)) -> Option<Message> {
    let error = error.downcast_ref::<smb::ProtocolError>()?;
    let smb::ProtocolError::Refused { status, .. } = error else {
        return None;
    };
    if *status == NtStatus::ACCESS_DENIED && error.is_of_open_file() {
        // The user had the right when the file was opened.
        return Some(say("status.access-denied-later"));
    }
    sentence(*status)
}

#[cfg(test)]
mod tests {
    use locale::Language;
    use smb::ProtocolOperation;

    use super::*;

    #[test]
    fn each_has_a_name_and_stands_once() {
        for (place, (status, id)) in SENTENCES.iter().enumerate() {
            let sentence = sentence(*status).map(|sentence| Language::English.say(&sentence));
            let sentence = sentence.expect(id);
            assert!(status.name().is_some(), "{sentence}");
            let again = SENTENCES[place + 1..]
                .iter()
                .any(|(other, _)| other == status);
            assert!(!again, "{status}");
            assert!(sentence.split(' ').count() <= 25, "{sentence}");
        }
    }

    #[test]
    fn a_user_who_could_open_a_file_is_not_said_to_have_no_right_to_it() {
        let of = |operation: ProtocolOperation| {
            let status = NtStatus::ACCESS_DENIED;
            sentence_in(&smb::ProtocolError::refused(operation.of("a"), status))
        };
        let opening = of(ProtocolOperation::Open);
        assert_eq!(opening, Some(say("status.access-denied")));
        let later = of(ProtocolOperation::Read);
        assert_eq!(later, Some(say("status.access-denied-later")));
    }
}
