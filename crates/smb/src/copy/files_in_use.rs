//! Files that a server has open for somebody: for a connection of ours that is gone, or for another user.

use smb_proto::NtStatus;

use super::name;
use super::place::Place;
use super::share::split;
use crate::error::Error;
use crate::open_file_holders;

/// Whether the server may have it open for an earlier connection of this copy, whose end it has not noticed yet.
pub(super) fn may_be_ours(error: &Error, places: [&Place; 2]) -> bool {
    let lost = |place: &Place| match place {
        Place::Share { tree, .. } => tree.shared().has_lost_lately(),
        Place::Local(_) => false,
    };
    is_held(error) && places.into_iter().any(lost)
}

/// Whether an open file is in the way: one that is not shared, or one that was removed and goes when it is closed.
fn is_held(error: &Error) -> bool {
    matches!(error, Error::Busy { .. } | Error::InUse { .. })
        || error.status() == Some(NtStatus::DELETE_PENDING)
}

/// The same error, with who has the file open, where its server tells this user.
pub(super) fn with_users(error: Error, places: [&Place; 2]) -> Error {
    let Error::InUse { object, source, .. } = error else {
        return error;
    };
    let users = places.into_iter().find_map(|place| {
        let Place::Share { tree, path } = place else {
            return None;
        };
        let (folder, file) = split(tree, path);
        let part = name::joined(folder, &name::of_part(file));
        let users = open_file_holders::of(tree, &[path, &part]);
        (!users.is_empty()).then_some(users)
    });
    Error::InUse {
        object,
        users: users.unwrap_or_default(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use smb_proto::Error as ProtocolError;
    use smb_proto::error::Operation;

    use super::*;

    #[test]
    fn what_is_removed_and_still_open_is_held_like_what_is_not_shared() {
        let held = |status| {
            let refused = ProtocolError::refused(Operation::Open.of("a/b"), status);
            is_held(&Error::of_request(refused, "server", "a/b"))
        };
        assert!(held(NtStatus::DELETE_PENDING));
        assert!(held(NtStatus::SHARING_VIOLATION));
        for status in [
            NtStatus::ACCESS_DENIED,
            NtStatus::OBJECT_NAME_NOT_FOUND,
            NtStatus::FILE_LOCK_CONFLICT,
        ] {
            assert!(!held(status), "{status}");
        }
        let object = "a/b".to_owned();
        assert!(is_held(&Error::Busy { object }));
    }
}
