//! What can be done to one path of a share: as a method, or as an [`Operation`] that was chosen before.

use smb_proto::session::{Access, Closed, CreateOptions, FileTimes, SetInformation};

use crate::error::Error;
use crate::single_path_operations::{
    self, Content, NotKept, Operation, Outcome, SmallFile, Status, chain, change, opened,
    retry_if_lost,
};
use crate::small_file_write::{self, Attempt};
use crate::tree::{Replace, Tree};

/// Rights to set times and attributes.
const SET_RIGHTS: u32 = 0x0010_0000 | 0x80 | 0x100;

impl Tree {
    /// Size, times, attributes and identity of a file, folder or link; a link is not followed.
    ///
    /// # Errors
    /// When it does not exist or may not be looked at.
    pub fn status(&self, path: &str) -> Result<Status, Error> {
        let options = CreateOptions {
            disk_id: true,
            reparse_point: true,
            ..CreateOptions::open(Access::Attributes)
        };
        let [created, _] = chain(self, path, options, [])?;
        opened(self, path, created).map(|(_, created)| single_path_operations::status(&created))
    }

    /// The content of a small file, or the begin of a larger one.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read_small(&self, path: &str) -> Result<Content, Error> {
        single_path_operations::read(self, path)
    }

    /// Writes a whole small file; see [`SmallFile`].
    ///
    /// # Errors
    /// When it cannot be written, or something is in the way.
    pub fn write_small(&self, file: SmallFile) -> Result<(), Error> {
        match small_file_write::write(self, &file, Attempt::First)? {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Makes a folder.
    ///
    /// # Errors
    /// When it exists already or may not be made.
    pub fn create_folder(&self, path: &str) -> Result<(), Error> {
        single_path_operations::create_folder(self, path, None).map(drop)
    }

    /// The same with a mode, where the share [is POSIX](Self::is_posix). Why it has another one, if so.
    pub(crate) fn create_folder_as(&self, path: &str, mode: Option<u32>) -> Result<NotKept, Error> {
        let made = single_path_operations::create_folder(self, path, mode)?;
        self.keep_mode(path, mode, made.and_then(|made| made.posix))
    }

    /// Removes a file, also a read-only one, or a link to anything.
    ///
    /// # Errors
    /// When it does not exist, is a folder, is in use or may not be removed.
    pub fn remove_file(&self, path: &str) -> Result<(), Error> {
        single_path_operations::remove(self, path, false)
    }

    /// Removes an empty folder, also a read-only one.
    ///
    /// # Errors
    /// When it does not exist, is not empty, is no folder, is in use or may not be removed.
    pub fn remove_folder(&self, path: &str) -> Result<(), Error> {
        single_path_operations::remove(self, path, true)
    }

    /// Gives a file or folder another path in the share. What is there is only replaced when
    /// `replace` says so.
    ///
    /// # Errors
    /// When there is no such file, or something is in the way.
    pub fn rename(&self, from: &str, to: &str, replace: Replace) -> Result<(), Error> {
        // Not in one go: the server keeps count of what is done to an open file, so that this
        // can be said again when its channel is lost.
        let options = CreateOptions {
            reparse_point: true,
            disk_id: true,
            ..CreateOptions::open(Access::Delete)
        };
        let file = self.open(from, &options)?;
        file.rename(to, replace)?;
        file.close()
    }

    /// Sets times and attributes of a file or folder; zero leaves one as it is.
    ///
    /// # Errors
    /// When it does not exist or may not be changed.
    pub fn set_basic(&self, path: &str, times: FileTimes, attributes: u32) -> Result<(), Error> {
        self.change_basic(path, times, attributes).map(drop)
    }

    /// The same, and what the server tells of it when it closes it.
    pub(crate) fn change_basic(
        &self,
        path: &str,
        times: FileTimes,
        attributes: u32,
    ) -> Result<Closed, Error> {
        retry_if_lost(self, path, |_| {
            let options = CreateOptions {
                reparse_point: true,
                ..CreateOptions::open(Access::Mask(SET_RIGHTS))
            };
            let basic = SetInformation::Basic { times, attributes };
            change(self, path, options, basic)
        })
    }

    /// Does one operation and waits.
    ///
    /// # Errors
    /// When the server says no or the connection is lost.
    pub fn run(&self, operation: Operation) -> Result<Outcome, Error> {
        let done = match operation {
            Operation::Status { path } => return self.status(&path).map(Outcome::Status),
            Operation::Read { path } => return self.read_small(&path).map(Outcome::Content),
            Operation::Write(file) => self.write_small(file),
            Operation::CreateFolder { path } => self.create_folder(&path),
            Operation::RemoveFile { path } => self.remove_file(&path),
            Operation::RemoveFolder { path } => self.remove_folder(&path),
            Operation::Rename { from, to, replace } => self.rename(&from, &to, replace),
            Operation::SetBasic {
                path,
                times,
                attributes,
            } => self.set_basic(&path, times, attributes),
        };
        done.map(|()| Outcome::Done)
    }
}
