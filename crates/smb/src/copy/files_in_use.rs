//! Files that a server has open for somebody: for a connection of ours that is gone, or for another user.

use super::name;
use super::place::Place;
use super::share::split;
use crate::error::Error;
use crate::open_file_holders;

/// Whether the server may have it open for an earlier connection of this copy, whose end it has not noticed yet.
pub(super) fn may_be_ours(error: &Error, places: [&Place; 2]) -> bool {
    let is_held = matches!(error, Error::Busy { .. } | Error::InUse { .. });
    let lost = |place: &Place| match place {
        Place::Share { tree, .. } => tree.shared().has_lost_lately(),
        Place::Local(_) => false,
    };
    is_held && places.into_iter().any(lost)
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
