//! A file that was written under another name and closed, and gets the name that it is for.

use std::thread;
use std::time::Duration;

use smb_proto::NtStatus;
use smb_proto::session::{Access, CreateOptions, Created, Request, SetInformation};

use crate::blocking_request::{ask_chain, tell};
use crate::copy::filetime::is_kept;
use crate::copy::name::printable;
use crate::error::Error;
use crate::file::File;
use crate::single_path_operations::{NotKept, clear, done, is_loss, remove};
use crate::std_or_shuttle::now;
use crate::tree::{Replace, Tree};

/// Rights to rename it (DELETE, SYNCHRONIZE, read attributes), and one to set its attributes, which its owner lacks where its
/// mode is read-only.
const NAME_RIGHTS: u32 = 0x0001_0000 | 0x0010_0000 | 0x80;
const WRITE_ATTRIBUTES: u32 = 0x100;

/// How long is waited for others to let go of it: virus scanners open each file that was closed. Samba may take 70 seconds
/// to refuse it once.
const LET_GO_TIME_MAX: Duration = Duration::from_secs(5);
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
    /// When its data was changed last; none: that is not known.
    pub(crate) written: Option<u64>,
    /// All of it, if it is small.
    pub(crate) content: Option<&'a [u8]>,
}

impl ClosedPart<'_> {
    /// Gives it its name, and then these attributes, if any. Why it does not have those, if so.
    ///
    /// Another program may have begun the same copy since it was closed, and written to it. So it is opened once more
    /// without sharing writes, compared, and renamed through that handle. An error says that it was not renamed.
    pub(crate) fn name(
        self,
        tree: &Tree,
        (to, existing): (&str, Replace),
        attributes: Option<SetInformation>,
    ) -> Result<NotKept, Error> {
        let file = self.open(tree, attributes.is_some())?;
        // Samba that was killed with the file open may give the time of its last change before that.
        if !self.is(&file.created()) && !self.has_content(tree)? {
            return Err(self.written_by_another());
        }
        match name_and_close(tree, file, (to, existing), attributes) {
            // it may have its name all the same
            Err(error) if is_loss(&error) => match tree.status(to) {
                Ok(there) if self.id != 0 && there.file_id == self.id => Ok(None),
                _ => Err(error),
            },
            named => named,
        }
    }

    fn has_content(self, tree: &Tree) -> Result<bool, Error> {
        match self.content {
            Some(content) => Ok(tree.read_small(self.path)?.bytes == content),
            None => Ok(false),
        }
    }

    fn open(self, tree: &Tree, sets: bool) -> Result<File, Error> {
        let rights = NAME_RIGHTS | if sets { WRITE_ATTRIBUTES } else { 0 };
        let options = CreateOptions {
            folder: Some(false),
            reparse_point: true,
            disk_id: true,
            share_write: false,
            ..CreateOptions::open(Access::Mask(rights))
        };
        let begun = now();
        loop {
            match tree.open(self.path, &options) {
                Err(Error::InUse { .. }) if now() - begun < LET_GO_TIME_MAX => {
                    thread::sleep(LET_GO_PAUSE);
                }
                // It has named it.
                Err(Error::NotFound { .. }) => return Err(self.written_by_another()),
                opened => return opened,
            }
        }
    }

    /// Whether what was opened by its path is it, as far as the server tells.
    pub(crate) fn is(self, opened: &Created) -> bool {
        let written = self.written.filter(|written| *written != 0);
        is_file(opened, self.id)
            && opened.size == self.bytes
            && written.is_none_or(|written| is_kept(written, opened.times.write))
    }

    pub(crate) fn written_by_another(self) -> Error {
        Error::Busy {
            object: printable(self.path),
        }
    }
}

fn name_and_close(
    tree: &Tree,
    file: File,
    (to, existing): (&str, Replace),
    attributes: Option<SetInformation>,
) -> Result<NotKept, Error> {
    let sets = attributes.is_some();
    let rename = SetInformation::Rename {
        path: to.to_owned(),
        replace: existing == Replace::Existing,
    };
    let changes = [Some(rename), attributes];
    let file = file.into_key();
    let links = (changes.into_iter().flatten()).map(|what| Request::Set { file, what });
    let links = links.chain([Request::Close { file }]).collect();
    let replies = ask_chain(tree.shared(), links, to).inspect_err(|_| {
        // The session reopens it after a reconnect, and what is open cannot be removed.
        tell(tree.shared(), Request::Close { file });
    });
    let mut replies = replies?.into_iter();
    let Some(renamed) = replies.next() else {
        return Err(tree.shared().odd_answer());
    };
    done(tree, to, renamed)?;
    match replies.next() {
        Some(Err(source)) if sets => match tree.shared().error(source, to) {
            error if error.is_refusal() => Ok(Some(error)),
            error => Err(error),
        },
        // Nothing was written through this handle, so that its end says nothing of the file.
        _ => Ok(None),
    }
}

/// Whether something that was opened is the file of this number, as far as the server numbers its files.
fn is_file(opened: &Created, id: u64) -> bool {
    let there = opened.file_id();
    id == 0 || there == 0 || there == id
}

/// Makes a file of ours in the place of what has its name, which an earlier run left, or somebody put there: a link, which
/// the server would follow.
pub(crate) fn in_place_of<T>(
    tree: &Tree,
    path: &str,
    make: impl Fn() -> Result<T, Error>,
) -> Result<T, Error> {
    match make() {
        Err(Error::AlreadyExists { .. }) => {
            clear(tree, path)?;
            make()
        }
        made => made,
    }
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
