//! A file that was written under another name and closed, and gets the name that it is for.

use std::thread;
use std::time::Duration;

use smb_proto::session::{Access, CreateOptions, Created, Request, SetInformation};
use smb_proto::{FileKey, NtStatus};

use crate::blocking_request::ask_chain;
use crate::copy::name::printable;
use crate::error::Error;
use crate::single_path_operations::{done, is_loss, opened, remove, rename};
use crate::small_file_write::NotKept;
use crate::tree::{Replace, Tree};

/// Rights to give it its name (DELETE, SYNCHRONIZE, read attributes), and one to set its attributes, which its owner has not
/// where its mode is that of a file that nobody writes.
const NAME_RIGHTS: u32 = 0x0001_0000 | 0x0010_0000 | 0x80;
const WRITE_ATTRIBUTES: u32 = 0x100;

/// How often, and how long each time, is waited for others to let go of it: virus scanners open each file that was closed.
const LET_GO_WAITS: usize = 50;
const LET_GO_PAUSE: Duration = Duration::from_millis(100);

/// A file that is complete but for its name.
#[derive(Clone, Copy)]
pub(crate) struct ClosedPart<'a> {
    /// Where it is.
    pub(crate) path: &'a str,
    /// The server's number for it; zero: it tells none.
    pub(crate) id: u64,
    /// Its length.
    pub(crate) bytes: u64,
}

impl ClosedPart<'_> {
    /// Gives it its name, and then these attributes, if any. Why it does not have those, if so.
    ///
    /// An error says that nothing has changed, but for [`Error::Busy`] where another program has written to it since it
    /// was closed: then that was named.
    pub(crate) fn name(
        self,
        tree: &Tree,
        (to, existing): (&str, Replace),
        attributes: Option<SetInformation>,
    ) -> Result<NotKept, Error> {
        let mut waits = LET_GO_WAITS;
        loop {
            match self.name_once(tree, (to, existing), attributes.clone()) {
                Err(Error::InUse { object, .. }) if waits > 0 && object == self.path => {
                    waits -= 1;
                    thread::sleep(LET_GO_PAUSE);
                }
                // it may have its name all the same
                Err(error) if is_loss(&error) => {
                    return match tree.status(to) {
                        Ok(there) if self.id != 0 && there.file_id == self.id => Ok(None),
                        _ => Err(error),
                    };
                }
                named => return named,
            }
        }
    }

    fn name_once(
        self,
        tree: &Tree,
        (to, existing): (&str, Replace),
        attributes: Option<SetInformation>,
    ) -> Result<NotKept, Error> {
        let file = FileKey::OF_CHAIN;
        let sets = attributes.is_some();
        let rights = NAME_RIGHTS | if sets { WRITE_ATTRIBUTES } else { 0 };
        let options = CreateOptions {
            folder: Some(false),
            reparse_point: true,
            disk_id: true,
            ..CreateOptions::open(Access::Mask(rights))
        };
        let mut links = vec![tree.create(self.path, options), rename(to, existing)];
        links.extend(attributes.map(|what| Request::Set { file, what }));
        links.push(Request::Close { file });
        let mut replies = ask_chain(tree.shared(), links, to)?.into_iter();
        let [Some(created), Some(renamed)] = [replies.next(), replies.next()] else {
            return Err(tree.shared().odd_answer());
        };
        let (_, there) = opened(tree, self.path, created)?;
        done(tree, to, renamed)?;
        if !self.is(&there) {
            return Err(self.written_by_another());
        }
        match replies.next() {
            Some(Err(source)) if sets => match tree.shared().error(source, to) {
                error if error.is_refusal() => Ok(Some(error)),
                error => Err(error),
            },
            // Nothing was written through this handle, so that its end says nothing of the file.
            _ => Ok(None),
        }
    }

    /// Whether what was opened by its path is it, as far as the server tells.
    pub(crate) fn is(self, opened: &Created) -> bool {
        is_file(opened, self.id) && opened.size == self.bytes
    }

    pub(crate) fn written_by_another(self) -> Error {
        Error::Busy {
            object: printable(self.path),
        }
    }
}

/// Whether something that was opened is the file of this number, as far as the server numbers its files.
fn is_file(opened: &Created, id: u64) -> bool {
    let there = opened.disk_id.map_or(0, |(file, _)| file);
    id == 0 || there == 0 || there == id
}

/// Removes a file that was written, unless another one has its name by now.
pub(crate) fn remove_own(tree: &Tree, path: &str, id: u64) -> Result<(), Error> {
    if id == 0 {
        return remove(tree, path, false);
    }
    let options = CreateOptions {
        folder: Some(false),
        reparse_point: true,
        disk_id: true,
        ..CreateOptions::open(Access::Delete)
    };
    let file = tree.open(path, &options)?;
    if !is_file(&file.created(), id) {
        return Ok(());
    }
    match file.set(SetInformation::DeleteOnClose(true)) {
        Err(error) if error.status() == Some(NtStatus::CANNOT_DELETE) => {
            // It is read-only, and ours.
            file.close()?;
            remove(tree, path, false)
        }
        set => set.and_then(|()| file.close()),
    }
}
