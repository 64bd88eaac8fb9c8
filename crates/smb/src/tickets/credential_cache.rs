//! Where the user's tickets are, and whether they are the user's own: in a folder that all may write to, any user can
//! put a file under the default name of another user's cache.

use std::env;
use std::ffi::CString;
use std::path::{Path, PathBuf};

use locale::say;
use os::owned_file::{self, NotOwned, OwnedFile, Owner};

use super::TicketError;

/// Says which cache is meant, where the default is not.
pub(super) const CACHE_VARIABLE: &str = "KRB5CCNAME";

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
        let owner = owned_file::owner(file);
        if owner == Some(Owner::Another) {
            return Err(TicketError::Foreign { file: path() });
        }
        if !self.is_file || !owned_file::is_in_reach_of_another(file) {
            return Ok(None);
        }
        if owner.is_none() {
            let text = say("error-auth.cache-no-file").with("file", file.display().to_string());
            return Err(TicketError::None { text });
        }
        if wanted == TicketUse::Tried && os::is_root() {
            return Err(TicketError::NotAskedFor { file: path() });
        }
        Opened::of(file)
    }
}

/// A cache that was opened and then checked: another user can no longer exchange it.
#[derive(Debug)]
pub(super) struct Opened {
    file: OwnedFile,
    /// A path by which this process reaches it, whatever is done to its own.
    name: String,
}

impl Opened {
    /// None on a system that has no names for open files.
    fn of(path: &Path) -> Result<Option<Self>, TicketError> {
        let file = path.to_owned();
        let reason = match OwnedFile::open(path) {
            Ok(file) => {
                let name = file.entrance();
                return Ok(name.map(|name| Self { file, name }));
            }
            Err(NotOwned::Another) => return Err(TicketError::Foreign { file }),
            Err(NotOwned::Unopened) => say("error-auth.cache-not-opened"),
            Err(NotOwned::OwnerUnknown) => say("error-auth.cache-owner-unknown"),
            Err(NotOwned::NoRegularFile) => say("error-auth.cache-no-regular-file"),
            Err(NotOwned::SeveralNames) => say("error-auth.cache-several-names"),
            Err(NotOwned::WritableByOthers) => say("error-auth.cache-others-write"),
        };
        Err(TicketError::Doubtful { file, reason })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.file.path().to_owned()
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

#[cfg(test)]
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
        assert!(owned_file::is_in_reach_of_another(Path::new(
            "/nowhere/at/all/krb5cc"
        )));
    }
}
