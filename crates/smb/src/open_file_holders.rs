//! Who has a file of a share open. A server tells it to administrators and to nobody else (MS-SRVS 3.1.4.2; Samba
//! does as Windows does), so that a server that does not tell is the usual case and nothing to speak of.

use std::time::Duration;

use smb_proto::error::Operation;
use smb_proto::wire::{
    FileEnumArguments, FileEnumResults, Message as _, ShareInfoArguments, ShareInfoResults,
};

use crate::error::Error;
use crate::list_and_connect_shares::IPC_SHARE;
use crate::srvsvc_rpc::{Limits, Service, encoded};
use crate::std_or_shuttle::atomic::Ordering;
use crate::std_or_shuttle::now;
use crate::tree::Tree;

/// Longest list that is looked at: some 20 000 open files.
const LIST_BYTES_MAX: u32 = 4 << 20;
/// How long a failure may wait for the name of who caused it.
const TIME_MAX: Duration = Duration::from_secs(3);
/// A server that tells is asked so often in one session: after that, a failure of many files says nothing new.
const QUESTIONS_MAX: usize = 20;
/// Most users that are named, and most letters of each.
const USERS_MAX: usize = 3;
const LETTERS_MAX: usize = 64;

/// The users who have one of these files of a share open, as the server calls them; none where it does not tell.
pub(crate) fn of(tree: &Tree, paths: &[&str]) -> Vec<String> {
    let asked = &tree.shared().asked_for_holders;
    if asked.fetch_add(1, Ordering::Relaxed) >= QUESTIONS_MAX {
        return Vec::new();
    }
    ask(tree, paths).unwrap_or_else(|_refused| {
        // It would refuse again.
        asked.store(QUESTIONS_MAX, Ordering::Relaxed);
        Vec::new()
    })
}

fn ask(tree: &Tree, paths: &[&str]) -> Result<Vec<String>, Error> {
    let limits = Limits {
        bytes: LIST_BYTES_MAX as usize,
        until: Some(now() + TIME_MAX),
    };
    let shared = tree.shared();
    let server = format!("\\\\{}", shared.server.name);
    let mut service = Service::open(Tree::connect(shared, IPC_SHARE)?, limits)?;
    let arguments = FileEnumArguments {
        server: server.clone(),
        bytes_max: LIST_BYTES_MAX,
    };
    let answer = service.call(FileEnumArguments::OPERATION, &encoded(&arguments))?;
    let open = FileEnumResults::decode(&answer).map_err(|error| service.failed(error.into()))?;
    if open.status != 0 {
        return Err(service.failed(crate::srvsvc_rpc::refusal(
            Operation::ListOpenFiles,
            open.status,
        )));
    }
    // Its paths are those of its disk, and another share may have a file that is called the same.
    let arguments = ShareInfoArguments {
        server,
        share: tree.share().to_owned(),
    };
    let answer = service.call(ShareInfoArguments::OPERATION, &encoded(&arguments))?;
    let share = ShareInfoResults::decode(&answer).map_err(|error| service.failed(error.into()))?;
    Ok(match share.status {
        0 => users(&open, &share.path, paths),
        _ => Vec::new(),
    })
}

/// Who has one of these files open that lie in this folder of the server's disk.
fn users(open: &FileEnumResults, folder: &str, paths: &[&str]) -> Vec<String> {
    let plain = |path: &str| path.replace('/', "\\").to_lowercase();
    let folder = plain(folder);
    let folder = folder.trim_end_matches('\\');
    let wanted: Vec<String> = paths
        .iter()
        .map(|path| format!("{folder}\\{}", plain(path).trim_matches('\\')))
        .collect();
    let mut users: Vec<String> = Vec::new();
    for file in &open.files {
        let user: String = file.user.chars().take(LETTERS_MAX).collect();
        let is_new = !user.is_empty() && !users.contains(&user);
        if is_new && users.len() < USERS_MAX && wanted.contains(&plain(&file.path)) {
            users.push(user);
        }
    }
    users
}

#[cfg(test)]
mod tests {
    use smb_proto::wire::OpenFileRecord;

    use super::*;

    #[test]
    fn only_who_has_that_file_of_that_share_is_named() {
        let files = [
            ("C:\\Data\\Folder\\A.txt", "ann"),
            ("C:\\data\\folder\\a.txt", "ann"),
            ("C:\\other\\folder\\a.txt", "bob"),
            ("C:\\data\\folder\\a.txt.old", "cid"),
            ("C:\\data\\folder\\a.txt", ""),
            ("C:\\data\\folder\\a.txt", "dan"),
        ];
        let files = files.map(|(path, user)| OpenFileRecord {
            path: path.to_owned(),
            user: user.to_owned(),
        });
        let open = FileEnumResults {
            files: files.into(),
            status: 0,
        };
        let found = users(&open, "C:\\data\\", &["folder/a.txt"]);
        assert_eq!(found, ["ann", "dan"]);
        assert!(users(&open, "C:\\data", &["a.txt"]).is_empty());
    }

    #[test]
    fn a_server_cannot_fill_a_sentence() {
        let file = |number: usize| OpenFileRecord {
            path: "C:\\data\\a".to_owned(),
            user: format!("{number}{}", "x".repeat(10_000)),
        };
        let open = FileEnumResults {
            files: (0..1000).map(file).collect(),
            status: 0,
        };
        let found = users(&open, "C:\\data", &["a"]);
        assert_eq!(found.len(), USERS_MAX);
        assert!(found.iter().all(|user| user.chars().count() == LETTERS_MAX));
    }
}
