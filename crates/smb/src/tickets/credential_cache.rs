//! Where the user's tickets are, and whether they are the user's own: in a folder that all may write to, any user can
//! put a file under the default name of another user's cache.

use std::env;
use std::ffi::CString;
use std::fs::File;
use std::path::{Path, PathBuf};

use locale::say;

use super::TicketError;

/// Says which cache is meant, where the default is not.
pub(super) const CACHE_VARIABLE: &str = "KRB5CCNAME";
/// What every file that this process has open is called by, with its number behind it.
const OPEN_FILES: &str = "/proc/self/fd";

/// Whether the user's tickets were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TicketUse {
    /// They are tried before a password is asked for.
    Tried,
    /// They were asked for.
    AskedFor,
}

/// The user's cache of tickets, and what a process has to be let do to read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TicketCache {
    /// Files and folders.
    pub files: Vec<PathBuf>,
    /// It is in a keyring of the kernel.
    pub in_keyring: bool,
    /// There are tickets in it that have not expired.
    pub is_current: bool,
    /// It is one file, and no folder of them.
    is_file: bool,
}

impl TicketCache {
    /// By a name as `KIND:rest` (ccache(5) of MIT Kerberos); without a kind it is a file.
    pub(super) fn named(name: &str) -> Self {
        let file = |path: &str| Self {
            files: vec![PathBuf::from(path)],
            is_file: true,
            ..Self::default()
        };
        let folder = |path: &str| Self {
            is_file: false,
            ..file(path)
        };
        match name.split_once(':') {
            Some(("FILE", path)) => file(path),
            // One cache of the folder is written with two colons and the file, and the folder is read for it.
            Some(("DIR", path)) => match path.strip_prefix(':').map(Path::new) {
                Some(one) => folder(&one.parent().unwrap_or(one).to_string_lossy()),
                None => folder(path),
            },
            Some(("KEYRING", _)) => Self {
                in_keyring: true,
                ..Self::default()
            },
            // Another process keeps it, and is asked over a socket.
            Some((kind, _)) if !kind.contains('/') => Self::default(),
            _ => file(name),
        }
    }

    /// What the library is to read instead of the default cache, where another user could exchange that between our
    /// look at it and its own.
    pub(super) fn open(&self, wanted: TicketUse) -> Result<Option<Opened>, TicketError> {
        if env::var_os(CACHE_VARIABLE).is_some() {
            return Ok(None);
        }
        let Some(file) = self.files.first() else {
            return Ok(None);
        };
        let path = || file.to_owned();
        let owned = Ownership::of(file);
        if owned == Ownership::Another {
            return Err(TicketError::Foreign { file: path() });
        }
        if !self.is_file || !is_in_others_reach(file) {
            return Ok(None);
        }
        if owned == Ownership::Nothing {
            let text = say("error-auth.cache-no-file").with("file", file.display().to_string());
            return Err(TicketError::None { text });
        }
        if wanted == TicketUse::Tried && os::is_root() {
            return Err(TicketError::NotAskedFor { file: path() });
        }
        match Path::new(OPEN_FILES).is_dir() {
            true => Opened::of(file).map(Some),
            // A system that has no names for open files.
            false => Ok(None),
        }
    }
}

/// A cache that was opened and then checked: another user can no longer exchange it.
#[derive(Debug)]
pub(super) struct Opened {
    #[expect(dead_code, reason = "it is held open")]
    file: File,
    path: PathBuf,
    /// A path by which this process reaches it, whatever is done to its own.
    name: String,
}

impl Opened {
    #[cfg(unix)]
    fn of(path: &Path) -> Result<Self, TicketError> {
        use std::os::fd::AsRawFd as _;
        use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
        const FOR_OTHERS_TO_WRITE: u32 = 0o022;
        let doubtful = |reason| TicketError::Doubtful {
            file: path.to_owned(),
            reason,
        };
        let opened = File::options()
            .read(true)
            // Without a wait, and no terminal of ours, should it be a pipe or a terminal.
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(path);
        let file = opened.map_err(|_refused| doubtful(say("error-auth.cache-not-opened")))?;
        let found = file.metadata();
        let found = found.map_err(|_unknown| doubtful(say("error-auth.cache-owner-unknown")))?;
        if found.uid() != rustix::process::geteuid().as_raw() {
            let file = path.to_owned();
            return Err(TicketError::Foreign { file });
        }
        let reason = match &found {
            found if !found.is_file() => say("error-auth.cache-no-regular-file"),
            found if found.nlink() > 1 => say("error-auth.cache-several-names"),
            found if found.mode() & FOR_OTHERS_TO_WRITE != 0 => {
                say("error-auth.cache-others-write")
            }
            _ => {
                return Ok(Self {
                    path: path.to_owned(),
                    name: format!("{OPEN_FILES}/{}", file.as_raw_fd()),
                    file,
                });
            }
        };
        Err(doubtful(reason))
    }

    #[cfg(not(unix))]
    fn of(path: &Path) -> Result<Self, TicketError> {
        let file = path.to_owned();
        let reason = say("error-auth.cache-no-library");
        Err(TicketError::Doubtful { file, reason })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// A path by which this process reaches it, whatever is done to its own.
    pub(super) fn name(&self) -> String {
        self.name.clone()
    }

    /// The same as the library has it.
    pub(super) fn cache_name(&self) -> CString {
        CString::new(format!("FILE:{}", self.name)).expect("a number has no zero byte")
    }
}

/// Whose a file is, or a link in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ownership {
    Ours,
    Another,
    Nothing,
}

impl Ownership {
    #[cfg(unix)]
    fn of(file: &Path) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let own = rustix::process::geteuid().as_raw();
        match file.symlink_metadata() {
            Ok(found) if found.uid() == own => Self::Ours,
            Ok(_) => Self::Another,
            Err(_) => Self::Nothing,
        }
    }

    #[cfg(not(unix))]
    fn of(file: &Path) -> Self {
        match file.exists() {
            true => Self::Ours,
            false => Self::Nothing,
        }
    }
}

/// Whether anybody but this user and root can put something into a folder on the way to a file.
#[cfg(unix)]
fn is_in_others_reach(file: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    const FOR_OTHERS_TO_WRITE: u32 = 0o022;
    let own = rustix::process::geteuid().as_raw();
    let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
    let is_ours = |folder: &Path| {
        let found = folder.metadata();
        found.is_ok_and(|found| {
            [0, own].contains(&found.uid()) && found.mode() & FOR_OTHERS_TO_WRITE == 0
        })
    };
    !folder.is_some_and(|folder| folder.ancestors().all(is_ours))
}

#[cfg(not(unix))]
fn is_in_others_reach(_file: &Path) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_cache_is_read_where_its_name_says() {
        let of = |name: &str| {
            let cache = TicketCache::named(name);
            let files = cache.files.iter();
            let files: Vec<String> = files.map(|file| file.display().to_string()).collect();
            (files.join(" "), cache.in_keyring)
        };
        let file = |file: &str| (file.to_owned(), false);
        assert_eq!(of("FILE:/tmp/krb5cc_0"), file("/tmp/krb5cc_0"));
        assert_eq!(of("/tmp/krb5cc_0"), file("/tmp/krb5cc_0"));
        assert_eq!(of("/tmp/with:colon"), file("/tmp/with:colon"));
        assert_eq!(of("DIR:/run/user/0/krb5cc"), file("/run/user/0/krb5cc"));
        assert_eq!(
            of("DIR::/run/user/0/krb5cc/tkt"),
            file("/run/user/0/krb5cc")
        );
        assert_eq!(of("KEYRING:persistent:0"), (String::new(), true));
        assert_eq!(of("KCM:"), file(""));
    }

    /// A folder that everybody can write to, as `/tmp` is, and a cache in it.
    fn shared() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let open = Permissions::from_mode(0o1777);
        fs::set_permissions(folder.path(), open).expect("our own folder");
        let cache = folder.path().join("krb5cc_0");
        fs::write(&cache, "tickets").expect("there is room");
        fs::set_permissions(&cache, Permissions::from_mode(0o600)).expect("our own file");
        (folder, cache)
    }

    fn opened(cache: &Path, wanted: TicketUse) -> Result<Option<Opened>, TicketError> {
        TicketCache::named(&format!("FILE:{}", cache.display())).open(wanted)
    }

    #[test]
    fn a_cache_of_root_where_all_can_put_files_counts_where_it_is_asked_for() {
        let (_folder, cache) = shared();
        let asked = opened(&cache, TicketUse::AskedFor).expect("it is ours");
        assert!(asked.is_some(), "it is read as it was opened");
        let tried = opened(&cache, TicketUse::Tried);
        match os::is_root() {
            true => assert_eq!(
                tried.expect_err("nobody asked for it"),
                TicketError::NotAskedFor { file: cache }
            ),
            false => assert!(tried.expect("it is ours").is_some()),
        }
    }

    #[test]
    fn a_cache_that_is_exchanged_is_read_as_it_was_looked_at() {
        let (folder, cache) = shared();
        let held = opened(&cache, TicketUse::AskedFor).expect("it is ours");
        let held = held.expect("others could exchange it");
        let theirs = folder.path().join("theirs");
        fs::write(&theirs, "tickets of another").expect("there is room");
        fs::rename(theirs, &cache).expect("our own folder");
        assert_eq!(fs::read(held.name()).expect("it is open"), b"tickets");
        let name = held.cache_name().into_string().expect("plain letters");
        assert_eq!(name, format!("FILE:{}", held.name()));
    }

    #[test]
    fn what_another_user_may_have_laid_out_is_no_cache() {
        let refused = |cache: &Path| {
            let opened = opened(cache, TicketUse::AskedFor);
            opened.expect_err("it may be another's").to_string()
        };
        let (folder, cache) = shared();
        let link = folder.path().join("link");
        symlink(&cache, &link).expect("our own folder");
        assert!(refused(&link).contains("symbolic link"));
        let other = folder.path().join("other");
        fs::hard_link(&cache, &other).expect("our own folder");
        assert!(refused(&cache).contains("several names"));
        fs::remove_file(&other).expect("our own folder");
        fs::set_permissions(&cache, Permissions::from_mode(0o622)).expect("our own file");
        assert!(refused(&cache).contains("others can write"));
        fs::remove_file(&cache).expect("our own folder");
        assert!(refused(&cache).contains("there is no file"));
    }

    #[test]
    fn a_cache_in_a_folder_of_ours_is_left_to_the_library() {
        // What is above it in `/tmp` is for all, and below `/proc` nothing is.
        let cache = Path::new("/proc/self/krb5cc");
        assert!(
            opened(cache, TicketUse::Tried)
                .expect("it may be")
                .is_none()
        );
        assert!(is_in_others_reach(Path::new("/nowhere/at/all/krb5cc")));
    }
}
