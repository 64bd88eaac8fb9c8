//! What shares can do that have the POSIX extensions of SMB 3.1.1: modes, links, and names as Unix has them.
//!
//! [`Tree::is_posix`] is where all else asks. A handle that is opened by the extensions sees the share as Unix does: names
//! differ by case, hold any letter but `/`, and a link on the way is refused instead of followed.

use locale::say;
use smb_proto::session::{
    Access, CreateOptions, DirectoryEntry, Disposition, Information, Posix, QueryInformation,
    Reply, Request, SetInformation,
};
use smb_proto::{FileKey, NtStatus};

use crate::copy::name::{self, Names, Rules, joined, printable};
use crate::error::Error;
use crate::single_path_operations::NotKept;
use crate::single_path_operations::{chain, done, not_done, opened, retry_if_lost};
use crate::tree::{Replace, Tree};

/// Rights to say who may do what with a file (SYNCHRONIZE, read attributes, WRITE_DAC).
const MODE_RIGHTS: u32 = 0x0010_0000 | 0x80 | 0x0004_0000;
/// Rights to make a link of a file (SYNCHRONIZE, read and write attributes, write data).
const LINK_RIGHTS: u32 = 0x0010_0000 | 0x80 | 0x100 | 0x2;
/// Rights to make a file that goes when it is closed (SYNCHRONIZE, DELETE, read attributes).
const PASSING_RIGHTS: u32 = 0x0010_0000 | 0x0001_0000 | 0x80;
/// Its name, which Unix takes for one.
const PASSING: &str = r"~linerate\is:here~";
/// Mode of a link, which is nobody's business.
const LINK_MODE: u32 = 0o777;
/// MS-FSCC 2.6
const ATTRIBUTE_LINK: u32 = 0x400;

impl Tree {
    /// Whether something new may have the last name of a path: what is one name to Unix is a path or a stream to Windows,
    /// and to servers that say that they have names as Unix has them and have not (ksmbd takes `\` for `/`, and none at
    /// the end). Asked of the first such name, by a file that goes when it is closed.
    ///
    /// # Errors
    /// When it may not, or the server does not answer.
    pub(crate) fn check_new_name(&self, path: &str) -> Result<(), Error> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if !self.is_posix() || !name.contains(['\\', ':']) {
            return Ok(());
        }
        if self.keeps_unix_names(|| self.look_at_unix_names(folder))? {
            return Ok(());
        }
        Err(Error::Name {
            name: printable(name),
            reason: say("error-smb.name-no-unix-names"),
        })
    }

    fn look_at_unix_names(&self, folder: &str) -> Result<bool, Error> {
        let options = CreateOptions {
            disposition: Disposition::OpenOrCreate,
            folder: Some(false),
            delete_on_close: true,
            ..CreateOptions::open(Access::Mask(PASSING_RIGHTS))
        };
        match self.open(&joined(folder, PASSING), &options) {
            Ok(file) => Ok((file.path_on_server()?).is_none_or(|path| path.ends_with(PASSING))),
            Err(error) if error.status().is_some() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Where a symbolic link leads, as the server says: perhaps anywhere. None: it is no symbolic link, or what it says
    /// is no Unicode.
    ///
    /// # Errors
    /// When it does not exist or may not be looked at.
    pub fn read_link(&self, path: &str) -> Result<Option<String>, Error> {
        let options = CreateOptions {
            reparse_point: true,
            ..CreateOptions::open(Access::Attributes)
        };
        let file = FileKey::OF_CHAIN;
        let [created, read, _] = chain(self, path, options, [Request::ReadLink { file }])?;
        opened(self, path, created)?;
        match read {
            Ok(Reply::Link(target)) => Ok(target),
            other => match not_done(self, path, other) {
                error if error.is_missing_fact() => Ok(None),
                error => Err(error),
            },
        }
    }

    /// Makes a symbolic link to something by its path from the link's folder on, with `/` between names. It has its name
    /// from the begin, as an empty file that nobody else can open: Samba forgets that something is a link when it gets
    /// another name. So what is to be replaced goes first.
    ///
    /// # Errors
    /// When it may not be made, or something is in the way.
    pub fn make_link(&self, path: &str, target: &str, replace: Replace) -> Result<(), Error> {
        let mut in_doubt = false;
        retry_if_lost(self, path, |_| {
            let made = match self.make_link_once(path, target) {
                Err(Error::AlreadyExists { .. }) if replace == Replace::Existing => {
                    self.remove_file(path)?;
                    self.make_link_once(path, target)
                }
                made => made,
            };
            match made {
                // the one of which nobody heard has made it
                Err(Error::AlreadyExists { .. })
                    if in_doubt && self.read_link(path)?.as_deref() == Some(target) =>
                {
                    Ok(())
                }
                made => {
                    in_doubt = true;
                    made
                }
            }
        })
    }

    fn make_link_once(&self, path: &str, target: &str) -> Result<(), Error> {
        let options = CreateOptions {
            folder: Some(false),
            disposition: Disposition::Create,
            reparse_point: true,
            share_read: false,
            share_write: false,
            posix: Some(LINK_MODE),
            ..CreateOptions::open(Access::Mask(LINK_RIGHTS))
        };
        let make = Request::MakeLink {
            file: FileKey::OF_CHAIN,
            target: target.to_owned(),
        };
        let [created, made, _] = chain(self, path, options, [make])?;
        opened(self, path, created)?;
        done(self, path, made).inspect_err(|_| {
            // It is an empty file.
            let _ = self.remove_file(path);
        })
    }

    /// Gives what was just made the mode that it is to have, where the server took something from it. Only the bits of
    /// access are set, whatever the mode says.
    pub(crate) fn keep_mode(
        &self,
        path: &str,
        mode: Option<u32>,
        made: Option<Posix>,
    ) -> Result<NotKept, Error> {
        let (Some(mode), Some(there)) = (mode, made) else {
            return Ok(None);
        };
        let mode = mode & Posix::ACCESS;
        if there.access() == mode {
            return Ok(None);
        }
        match self.set_mode(path, mode) {
            Err(error) if error.is_refusal() => Ok(Some(error)),
            Ok(there) if there != mode => Ok(Some(Error::ModeNotKept {
                object: printable(path),
                mode,
                there,
            })),
            set => set.map(|_| None),
        }
    }

    /// Sets a mode, and says which one the server has then.
    fn set_mode(&self, path: &str, mode: u32) -> Result<u32, Error> {
        retry_if_lost(self, path, |_| {
            let options = CreateOptions {
                reparse_point: true,
                ..CreateOptions::open(Access::Mask(MODE_RIGHTS))
            };
            let file = FileKey::OF_CHAIN;
            let (set, ask) = (SetInformation::Mode(mode), QueryInformation::Posix);
            let links = [
                Request::Set { file, what: set },
                Request::Query { file, what: ask },
            ];
            let [created, set, asked, _] = chain(self, path, options, links)?;
            opened(self, path, created)?;
            done(self, path, set)?;
            match asked {
                Ok(Reply::Information(Information::Posix { posix, .. })) => Ok(posix.access()),
                other => Err(not_done(self, path, other)),
            }
        })
    }

    /// The name on the server's disk of something that the listing of a folder shows under a stand-in: Samba before 4.23
    /// does so here too, and opens stand-ins only for Windows, which reaches the folder by the path `for_windows`. None:
    /// the server does not say, or means another file.
    pub(crate) fn name_behind(
        &self,
        folder: &str,
        for_windows: &str,
        shown: &DirectoryEntry,
    ) -> Option<String> {
        let options = CreateOptions {
            disk_id: true,
            reparse_point: true,
            ..CreateOptions::open(Access::Attributes)
        };
        let path = joined(for_windows, &shown.name);
        let file = self.as_windows().open(&path, &options).ok()?;
        let (number, _) = file.created().disk_id?;
        let there = file.path_on_server().ok().flatten()?;
        // Behind the folder's own path all is the name, whatever is in it.
        let folder = joined(folder, "").replace('/', "\\");
        let name = there.trim_start_matches('\\').strip_prefix(&folder)?;
        (number == shown.file_id).then(|| name.to_owned())
    }

    /// The path by which Windows reaches a folder, with stand-ins for the names that it cannot have; none where the
    /// server does not show them.
    pub(crate) fn path_for_windows(&self, path: &str) -> Option<String> {
        let (mut real, mut shown) = (String::new(), String::new());
        for part in path.split('/').filter(|part| !part.is_empty()) {
            real = joined(&real, part);
            let is_windows = name::for_share(part, Names::Refuse, Rules::Windows).is_ok();
            let name = if is_windows {
                part.to_owned()
            } else {
                let number = self.status(&real).ok()?.file_id;
                let mut beside = self.as_windows().entries(&shown).ok()?.flatten();
                beside.find(|it| it.file_id == number && number != 0)?.name
            };
            shown = joined(&shown, &name);
        }
        Some(shown)
    }

    /// The same path without the links on it, as the server follows them for Windows. A path that the user gave is
    /// followed so, once; nothing else is.
    pub(crate) fn without_links(&self, path: String) -> Result<String, Error> {
        if !self.is_posix() || path.is_empty() {
            return Ok(path);
        }
        let is_link = match self.status(&path) {
            Ok(status) => status.attributes & ATTRIBUTE_LINK != 0,
            Err(error) => error.status() == Some(NtStatus::STOPPED_ON_SYMLINK),
        };
        if !is_link {
            return Ok(path);
        }
        let options = CreateOptions::open(Access::Attributes);
        let there = self.as_windows().open(&path, &options);
        if let Some(there) = there
            .ok()
            .and_then(|file| file.path_on_server().ok().flatten())
        {
            let there = there.trim_start_matches('\\').replace('\\', "/");
            let is_path = |part: &str| name::check_from_server(part, Rules::Windows).is_ok();
            if there.split('/').all(is_path) {
                return Ok(there);
            }
        }
        // There is nothing, perhaps yet.
        Ok(match path.rsplit_once('/') {
            Some((folder, name)) => joined(&self.without_links(folder.to_owned())?, name),
            None => path,
        })
    }
}
