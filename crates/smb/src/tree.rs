//! A connected share: how it is seen, and what is known of its server.

use std::fmt;
use std::sync::{Arc, OnceLock};

use locale::say;
use smb_proto::session::{
    Access, CreateOptions, Created, FileTimes, Information, QueryInformation, Reply, Request, Share,
};
use smb_proto::{FileKey, TreeKey};

use crate::blocking_request::{ask_chain, ask_protocol, tell};
use crate::error::Error;
use crate::session::Shared;
use crate::std_or_shuttle::atomic::{AtomicBool, AtomicU32, Ordering};

/// A connected share. Paths are relative to it, with `/` or `\` between the parts; where it [is POSIX](Self::is_posix),
/// with `/` only.
#[derive(Clone)]
pub struct Tree {
    connected: Arc<Connected>,
    /// The POSIX extensions are not used, where it has them.
    as_windows: bool,
}

struct Connected {
    shared: Arc<Shared>,
    share: String,
    key: TreeKey,
    encrypted: bool,
    in_dfs: bool,
    /// It has the POSIX extensions.
    posix: bool,
    /// Which times the server keeps, once that is known.
    keeps_times: OnceLock<TimesKept>,
    /// It keeps those that are set when all is written, and perhaps more.
    keeps_late_times: AtomicBool,
    /// Attributes that were seen to be kept.
    kept_attributes: AtomicU32,
    /// Files have the names of Unix that they are given, once that is known.
    unix_names: OnceLock<bool>,
    /// Files can have more data streams than one, once that is known.
    streams: OnceLock<bool>,
    /// The server lost what it said was written.
    loses_writes: AtomicBool,
}

/// With the time of the last change of data as that of any change.
pub(crate) const fn as_change(times: FileTimes) -> FileTimes {
    FileTimes {
        change: times.write,
        ..times
    }
}

/// Which times of a file a server keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimesKept {
    /// All, also those that were set through a handle before the last WRITE through it.
    Early,
    /// Those that are set when all is written.
    Late,
    /// The same, where the time of the last change of data is given as that of any change too. Some take
    /// the one for the other.
    LateAsChange,
    /// None: it says that it has set them, and has not.
    Never,
}

impl Drop for Connected {
    fn drop(&mut self) {
        tell(&self.shared, Request::TreeDisconnect { tree: self.key });
    }
}

impl Tree {
    pub(crate) fn connect(shared: &Arc<Shared>, share: &str) -> Result<Self, Error> {
        let request = Request::TreeConnect {
            share: share.to_owned(),
        };
        let reply = ask_protocol(shared, request)
            .map_err(|source| Error::of_share(source, &shared.server.name, share))?;
        let Reply::Tree(key, about) = reply else {
            return Err(shared.odd_answer());
        };
        let connected = Connected {
            shared: Arc::clone(shared),
            share: share.to_owned(),
            key,
            encrypted: about.encrypted,
            in_dfs: about.in_dfs,
            posix: false,
            keeps_times: OnceLock::new(),
            keeps_late_times: AtomicBool::new(false),
            kept_attributes: AtomicU32::new(0),
            unix_names: OnceLock::new(),
            streams: OnceLock::new(),
            loses_writes: AtomicBool::new(false),
        };
        // Samba cannot list a folder with links to other servers by the extensions.
        let may_be_posix = about.share == Share::Disk
            && !about.in_dfs
            && shared
                .protocol
                .negotiated()
                .is_some_and(|agreed| agreed.posix);
        let mut tree = Self {
            connected: Arc::new(connected),
            as_windows: false,
        };
        if may_be_posix && tree.has_extensions()? {
            // Nobody else has it yet.
            if let Some(connected) = Arc::get_mut(&mut tree.connected) {
                connected.posix = true;
            }
            // As Unix has it, each WRITE changes the time, and closing does not.
            tree.learn_times(TimesKept::Late);
        }
        Ok(tree)
    }

    /// Whether the share takes what is opened by the extensions as that: they are agreed for the connection, and yet
    /// each share has them or not.
    fn has_extensions(&self) -> Result<bool, Error> {
        let options = CreateOptions {
            posix: Some(0),
            ..CreateOptions::open(Access::Attributes)
        };
        let path = String::new();
        let tree = self.key();
        let links = vec![
            Request::Create {
                tree,
                path,
                options,
            },
            Request::Close {
                file: FileKey::OF_CHAIN,
            },
        ];
        let mut replies = ask_chain(self.shared(), links, "")?.into_iter();
        match replies.next() {
            Some(Ok(Reply::Created(_, created))) => Ok(created.posix.is_some()),
            // Whoever may not even look at its top does without.
            _ => Ok(false),
        }
    }

    /// Whether the POSIX extensions of SMB 3.1.1 are used: names are as Unix has them, files have modes, and links are
    /// links.
    #[must_use]
    pub fn is_posix(&self) -> bool {
        self.connected.posix && !self.as_windows
    }

    /// The same share as Windows sees it.
    pub(crate) fn as_windows(&self) -> Self {
        Self {
            connected: Arc::clone(&self.connected),
            as_windows: true,
        }
    }

    /// The same share over another session, seen as this one.
    pub(crate) fn over(&self, other: &Self) -> Self {
        Self {
            connected: Arc::clone(&other.connected),
            as_windows: self.as_windows,
        }
    }

    /// Whether both have the extensions, or none of them has.
    pub(crate) fn is_as_posix_as(&self, other: &Self) -> bool {
        self.connected.posix == other.connected.posix
    }

    /// Asks to open or make something, as this share is seen. What is new gets the mode of the options, else one for its
    /// owner alone.
    pub(crate) fn create(&self, path: &str, options: CreateOptions) -> Request {
        const PRIVATE: u32 = 0o600;
        const PRIVATE_FOLDER: u32 = 0o700;
        let private = match options.folder {
            Some(true) => PRIVATE_FOLDER,
            _ => PRIVATE,
        };
        let mode = options.posix.unwrap_or(private);
        Request::Create {
            tree: self.key(),
            path: path.to_owned(),
            options: CreateOptions {
                posix: self.is_posix().then_some(mode),
                ..options
            },
        }
    }

    /// Whether what was opened is what was asked for: a server that forgets the extensions has opened something else,
    /// perhaps.
    pub(crate) fn check(&self, created: &Created) -> Result<(), Error> {
        if self.is_posix() == created.posix.is_some() {
            return Ok(());
        }
        let problem = say("misbehaving.forgets-posix");
        let source = smb_proto::Error::Misbehaving(problem);
        Err(Error::of_connection(source, &self.shared().server.name))
    }

    pub(crate) fn key(&self) -> TreeKey {
        self.connected.key
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.connected.shared
    }

    /// Which times the server keeps, as far as it is known.
    pub(crate) fn keeps_times(&self) -> Option<TimesKept> {
        self.connected.keeps_times.get().copied()
    }

    /// Whether the server was seen to keep times that are set when all is written.
    pub(crate) fn keeps_late_times(&self) -> bool {
        self.connected.keeps_late_times.load(Ordering::Relaxed)
    }

    pub(crate) fn learn_late_times(&self) {
        (self.connected.keeps_late_times).store(true, Ordering::Relaxed);
    }

    /// Attributes that the share was seen to keep.
    pub(crate) fn kept_attributes(&self) -> u32 {
        self.connected.kept_attributes.load(Ordering::Relaxed)
    }

    pub(crate) fn learn_kept_attributes(&self, kept: u32) {
        (self.connected.kept_attributes).fetch_or(kept, Ordering::Relaxed);
    }

    /// Whether files get the names of Unix that they are given; `look` finds out where that is not known yet.
    pub(crate) fn keeps_unix_names(
        &self,
        look: impl FnOnce() -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        match self.connected.unix_names.get() {
            Some(known) => Ok(*known),
            None => look().map(|kept| *self.connected.unix_names.get_or_init(|| kept)),
        }
    }

    /// Whether files can have more data streams than the one that everybody reads. Asked once; a server that does not
    /// answer has none.
    pub(crate) fn has_streams(&self) -> bool {
        if let Some(known) = self.connected.streams.get() {
            return *known;
        }
        let top = self.open("", &CreateOptions::open(Access::Attributes));
        let has = match top.and_then(|top| top.query(QueryInformation::FsAttributes)) {
            Ok(about) => matches!(about, Information::FsAttributes { streams: true, .. }),
            // It did not say; the next one asks.
            Err(error) if error.is_interruption() => return false,
            Err(_) => false,
        };
        *self.connected.streams.get_or_init(|| has)
    }

    /// These times, as this server takes them.
    pub(crate) fn times_as_taken(&self, times: FileTimes) -> FileTimes {
        match self.keeps_times() {
            Some(TimesKept::LateAsChange) => as_change(times),
            _ => times,
        }
    }

    pub(crate) fn learn_times(&self, kept: TimesKept) {
        // All who ask at the same time hear the same.
        let _ = self.connected.keeps_times.set(kept);
    }

    /// Whether the server was caught at losing what it said was written, so that from now on one piece
    /// of a file is written after the other.
    #[must_use]
    pub fn loses_writes(&self) -> bool {
        self.connected.loses_writes.load(Ordering::Relaxed)
    }

    pub(crate) fn learn_loses_writes(&self) {
        self.connected.loses_writes.store(true, Ordering::Relaxed);
    }

    /// Whether the share demands encryption, also where the session as a whole is not encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.connected.encrypted
    }

    /// Whether the share is part of a distributed file system, so that folders of it may be on other servers.
    pub(crate) fn is_in_dfs(&self) -> bool {
        self.connected.in_dfs
    }

    /// Whether what is read and written is signed or encrypted.
    #[must_use]
    pub fn is_protected(&self) -> bool {
        let agreed = self.shared().protocol.negotiated();
        self.is_encrypted() || agreed.is_some_and(|agreed| agreed.data_signing || agreed.encryption)
    }

    /// The share's name.
    #[must_use]
    pub fn share(&self) -> &str {
        &self.connected.share
    }

    /// Whether both are the same share of the same server, as far as its names say.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.is_same_server(other) && self.share().eq_ignore_ascii_case(other.share())
    }

    /// Whether both are on one server, under whatever names and addresses.
    #[must_use]
    pub fn is_same_server(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.shared(), other.shared())
            || (self.server_guid().is_some() && self.server_guid() == other.server_guid())
    }

    /// Whether both are clones of each other.
    pub(crate) fn is_identical(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.connected, &other.connected)
    }

    /// Whether both are shares of one session, so that the server can copy between them.
    pub(crate) fn is_same_session(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.shared(), other.shared())
    }

    /// What the server calls itself; none where it says nothing.
    pub(crate) fn server_guid(&self) -> Option<[u8; 16]> {
        let negotiated = self.shared().protocol.negotiated()?;
        Some(negotiated.server_guid).filter(|guid| *guid != [0; 16])
    }
}

/// What to do about a file that has the name already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// Leave it, and fail.
    Never,
    /// Put the new one in its place.
    Existing,
}

impl fmt::Debug for Tree {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Tree")
            .field("share", &self.connected.share)
            .finish_non_exhaustive()
    }
}
