//! What others can put in place of a file or a folder of ours, and what becomes of it.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use locale::Language;
use os::file::{Error, Folder, Readers, create, extend, read_below, replace, resolve};
use rustix::fs::{CWD, Mode};
use tempfile::TempDir;

/// What an attacker does to a file or folder.
type Attack<'a> = &'a dyn Fn(&Path);
/// The number of a user without rights.
const STRANGER: u32 = 65_534;

fn scratch() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    let error = result.unwrap_err();
    assert!(matches!(error, Error::Unsafe { .. }), "{error:?}");
    assert!(!Language::English.say(&error.hint().unwrap()).is_empty());
    error.to_string()
}

#[test]
fn what_is_made_is_as_private_as_was_asked() {
    let scratch = scratch();
    let path = scratch.path().join("a/b");
    let folder = Folder::make(&path, Readers::Owner).unwrap();
    folder.create("file").unwrap();
    let readable = folder.make_folder("open", Readers::All).unwrap();
    readable.open_or_create("file").unwrap();
    for (name, expected) in [
        ("a", 0o755),
        ("a/b", 0o700),
        ("a/b/file", 0o600),
        ("a/b/open", 0o755),
        ("a/b/open/file", 0o644),
    ] {
        assert_eq!(mode(&scratch.path().join(name)), expected, "{name}");
    }
    assert!(folder.create("file").is_err(), "it is there already");
    assert!(
        Folder::open(&scratch.path().join("none"), Readers::Owner)
            .unwrap_err()
            .is_missing()
    );
    assert!(folder.read("none").unwrap_err().is_missing());
}

#[test]
fn a_file_that_is_no_file_of_ours_is_refused_and_stays_as_it_is() {
    let scratch = scratch();
    let path = scratch.path().join("state");
    let folder = Folder::make(&path, Readers::Owner).unwrap();
    let victim = scratch.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let lock = path.join("lock");
    let attacks: [(&dyn Fn(), &str); 7] = [
        (&|| symlink(&victim, &lock).unwrap(), "is a symbolic link"),
        (&|| symlink("nowhere", &lock).unwrap(), "is a symbolic link"),
        (
            &|| fs::hard_link(&victim, &lock).unwrap(),
            "has another name as well",
        ),
        (
            &|| rustix::fs::mkfifoat(CWD, &lock, Mode::from_raw_mode(0o600)).unwrap(),
            "is no regular file",
        ),
        (&|| fs::create_dir(&lock).unwrap(), "is a folder"),
        (
            &|| {
                fs::write(&lock, "precious").unwrap();
                chown(&lock, Some(STRANGER), None).unwrap();
            },
            "belongs to the user with the number 65534",
        ),
        (
            &|| {
                fs::write(&lock, "precious").unwrap();
                set_mode(&lock, 0o660);
            },
            "can be written by its group",
        ),
    ];
    for (attack, reason) in attacks {
        attack();
        for refused in [
            refusal(folder.open_or_create("lock")),
            refusal(folder.read("lock")),
            refusal(folder.append("lock")),
        ] {
            assert!(refused.contains(reason), "{refused}: {reason}");
        }
        assert!(folder.create("lock").is_err(), "{reason}");
        if fs::metadata(&lock).is_ok_and(|lock| lock.is_file()) {
            assert_eq!(fs::read_to_string(&lock).unwrap(), "precious", "{reason}");
        }
        assert!(!path.join("nowhere").exists());
        if lock.is_dir() {
            fs::remove_dir(&lock).unwrap();
        } else {
            fs::remove_file(&lock).unwrap();
        }
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{reason}");
    }
}

#[test]
fn no_name_leads_out_of_a_folder() {
    let scratch = scratch();
    let folder = Folder::make(&scratch.path().join("state"), Readers::Owner).unwrap();
    for name in [
        "",
        ".",
        "..",
        "../victim",
        "/etc/passwd",
        "a/b",
        "a/",
        "./a",
    ] {
        for refused in [
            refusal(folder.read(name)),
            refusal(folder.create(name)),
            refusal(folder.make_folder(name, Readers::Owner)),
            refusal(folder.rename("file", &folder, name)),
            refusal(folder.remove(name)),
        ] {
            assert!(refused.contains("has no file of the name"), "{refused}");
        }
    }
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
}

#[test]
fn a_folder_that_others_can_exchange_is_refused_before_anything_is_made() {
    let attacks: [(Attack<'_>, &str); 8] = [
        (
            &|home| set_mode(&home.join("state"), 0o770),
            "can be written by its group",
        ),
        (
            &|home| set_mode(&home.join("state"), 0o1777),
            "can be written by everybody",
        ),
        (&|home| set_mode(home, 0o757), "can be written by everybody"),
        (
            &|home| chown(home.join("state"), Some(STRANGER), None).unwrap(),
            "belongs to the user with the number 65534",
        ),
        (
            &|home| chown(home, Some(STRANGER), None).unwrap(),
            "belongs to the user with the number 65534",
        ),
        (
            &|home| {
                fs::rename(home.join("state"), home.join("elsewhere")).unwrap();
                symlink("elsewhere", home.join("state")).unwrap();
            },
            "is a symbolic link",
        ),
        (
            &|home| {
                fs::remove_dir(home.join("state")).unwrap();
                fs::write(home.join("state"), "").unwrap();
            },
            "is no folder",
        ),
        (
            &|home| {
                fs::remove_dir(home.join("state")).unwrap();
                rustix::fs::mkfifoat(CWD, home.join("state"), Mode::from_raw_mode(0o600)).unwrap();
            },
            "is no folder",
        ),
    ];
    for (attack, reason) in attacks {
        let scratch = scratch();
        let home = scratch.path().join("home");
        fs::create_dir_all(home.join("state")).unwrap();
        attack(&home);
        let path = home.join("state");
        for refused in [
            refusal(Folder::make(&path, Readers::Owner)),
            refusal(Folder::open(&path, Readers::Owner)),
        ] {
            assert!(refused.contains(reason), "{refused}: {reason}");
        }
        if path.is_dir() {
            assert_eq!(fs::read_dir(&path).unwrap().count(), 0, "{reason}");
        }
    }
}

/// `/var` is a link on a Mac, and `/home` on other systems.
#[test]
fn links_of_root_on_the_path_are_followed_and_those_of_others_are_not() {
    let scratch = scratch();
    fs::create_dir_all(scratch.path().join("private/var")).unwrap();
    symlink("private/../private/var", scratch.path().join("var")).unwrap();
    let path = scratch.path().join("var/state");
    Folder::make(&path, Readers::Owner)
        .unwrap()
        .create("file")
        .unwrap();
    assert!(scratch.path().join("private/var/state/file").exists());
    let link = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    let stranger = Some(rustix::fs::Uid::from_raw(STRANGER));
    rustix::fs::chownat(CWD, scratch.path().join("var"), stranger, None, link).unwrap();
    assert!(refusal(Folder::open(&path, Readers::Owner)).contains("belongs to"));
    // As root, not even for what a person names.
    assert!(
        refusal(replace(&scratch.path().join("var/page.html"), b"page")).contains("belongs to")
    );
    symlink("loop", scratch.path().join("loop")).unwrap();
    assert!(Folder::make(&scratch.path().join("loop/state"), Readers::Owner).is_err());
}

#[test]
fn an_open_folder_is_not_exchanged_for_another_one() {
    let scratch = scratch();
    let path = scratch.path().join("state");
    let folder = Folder::make(&path, Readers::Owner).unwrap();
    fs::rename(&path, scratch.path().join("old")).unwrap();
    fs::create_dir(scratch.path().join("trap")).unwrap();
    symlink("trap", &path).unwrap();
    folder.create("file").unwrap();
    assert!(scratch.path().join("old/file").exists());
    assert_eq!(
        fs::read_dir(scratch.path().join("trap")).unwrap().count(),
        0
    );
    folder.rename("file", &folder, "other").unwrap();
    assert_eq!(folder.names().unwrap(), ["other"]);
    folder.remove("other").unwrap();
    assert!(folder.names().unwrap().is_empty());
}

fn content(path: &Path) -> String {
    let mut text = String::new();
    let mut file = fs::File::open(path).unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn what_a_person_names_is_replaced_at_once_and_keeps_its_rights() {
    let scratch = scratch();
    let path = scratch.path().join("new/page.html");
    replace(&path, b"one").unwrap();
    assert_eq!(content(&path), "one");
    set_mode(&path, 0o600);
    let reader = fs::File::open(&path).unwrap();
    replace(&path, b"two").unwrap();
    assert_eq!((content(&path), mode(&path)), ("two".to_owned(), 0o600));
    let mut old = String::new();
    { reader }.read_to_string(&mut old).unwrap();
    assert_eq!(old, "one", "whoever reads sees one or the other");
    // Another name of the same file keeps what it has.
    let other = scratch.path().join("other.html");
    fs::hard_link(&path, &other).unwrap();
    replace(&path, b"three").unwrap();
    assert_eq!(
        (content(&path), content(&other)),
        ("three".into(), "two".into())
    );
    assert_eq!(fs::read_dir(scratch.path().join("new")).unwrap().count(), 1);
}

#[test]
fn what_another_user_had_is_not_for_others_to_write() {
    let scratch = scratch();
    set_mode(scratch.path(), 0o1777);
    let path = scratch.path().join("page.html");
    for (owner, before, expected) in [
        (STRANGER, 0o666, 0o644),
        (STRANGER, 0o777, 0o644),
        (STRANGER, 0o600, 0o600),
        (STRANGER, 0o000, 0o600),
        (0, 0o666, 0o666),
        (0, 0o640, 0o640),
    ] {
        fs::write(&path, "old").unwrap();
        set_mode(&path, before);
        chown(&path, Some(owner), None).unwrap();
        replace(&path, b"page").unwrap();
        let now = fs::symlink_metadata(&path).unwrap();
        assert_eq!((now.uid(), content(&path).as_str()), (0, "page"));
        assert_eq!(mode(&path), expected, "{owner} {before:o}");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn what_a_person_names_is_never_written_through() {
    let scratch = scratch();
    let victim = scratch.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let names: [(&str, Attack<'_>); 5] = [
        ("link", &|path| symlink("victim", path).unwrap()),
        ("dangling", &|path| symlink("nowhere", path).unwrap()),
        ("pipe", &|path| {
            rustix::fs::mkfifoat(CWD, path, Mode::from_raw_mode(0o666)).unwrap();
        }),
        ("folder", &|path| fs::create_dir(path).unwrap()),
        ("output", &|path| symlink("/dev/stdout", path).unwrap()),
    ];
    for (name, make) in names {
        let path = scratch.path().join(name);
        make(&path);
        let before = fs::symlink_metadata(&path).unwrap();
        refusal(replace(&path, b"page"));
        refusal(extend(&path));
        assert!(create(&path).unwrap_err().exists(), "{name}");
        let after = fs::symlink_metadata(&path).unwrap();
        assert_eq!(before.file_type(), after.file_type(), "{name}");
    }
    for path in ["/dev/stdout", "/dev/null", "/dev/fd/1", "/"] {
        refusal(replace(&PathBuf::from(path), b"page"));
    }
    assert!(create(&victim).unwrap_err().exists());
    assert_eq!(content(&victim), "precious");
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 6);
    fs::hard_link(&victim, scratch.path().join("again")).unwrap();
    refusal(extend(&victim));
    let new = scratch.path().join("new");
    create(&new).unwrap().write_all(b"one").unwrap();
    extend(&new).unwrap().write_all(b", two").unwrap();
    assert_eq!(content(&new), "one, two");
}

#[test]
fn what_a_file_names_lies_below_it() {
    let scratch = scratch();
    let secret = scratch.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    let folder = scratch.path().join("given");
    fs::create_dir_all(folder.join("below")).unwrap();
    for name in ["one", "below/two"] {
        fs::write(folder.join(name), name).unwrap();
    }
    symlink("one", folder.join("link")).unwrap();
    symlink("../secret", folder.join("out")).unwrap();
    symlink("..", folder.join("up")).unwrap();
    symlink("below", folder.join("aside")).unwrap();
    rustix::fs::mkfifoat(CWD, folder.join("pipe"), Mode::from_raw_mode(0o666)).unwrap();
    let read = |name: &str| read_below(&folder, Path::new(name));
    for (name, expected) in [("one", "one"), ("./one", "one"), ("below/two", "below/two")] {
        let mut text = String::new();
        read(name).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, expected);
    }
    let (out, link) = ("leads out of the folder", "is a symbolic link");
    for (name, reason) in [
        (secret.to_str().unwrap(), out),
        ("../secret", out),
        ("below/../one", out),
        ("../given/one", out),
        ("/dev/zero", out),
        ("link", link),
        ("out", link),
        ("up/secret", link),
        ("aside/two", link),
        ("pipe", "is no regular file"),
        ("below", "is no regular file"),
        ("", "is no name"),
        (".", "is no name"),
    ] {
        let said = refusal(read(name));
        assert!(said.contains(reason), "{name}: {said}");
    }
    assert!(read("none").unwrap_err().is_missing());
    assert!(read("none/two").unwrap_err().is_missing());
    // The folder itself is a person's choice.
    let by_link = scratch.path().join("by-link");
    symlink("given", &by_link).unwrap();
    assert!(read_below(&by_link, Path::new("one")).is_ok());
}

/// As of a container: its `/` has our path, and is another.
#[test]
fn a_link_into_the_files_of_another_system_is_no_path() {
    let script = "mount -t tmpfs none /mnt && touch /mnt/file && echo && read wait";
    let mut other = Command::new("unshare");
    other.args(["--mount", "sh", "-c", script]);
    let mut other = other
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = [0];
    other
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut ready)
        .unwrap();
    let root = PathBuf::from(format!("/proc/{}/root", other.id()));
    assert!(root.join("mnt/file").exists());
    for name in ["", "mnt", "mnt/file", "mnt/none"] {
        let said = refusal(resolve(&root.join(name)));
        assert!(said.contains("without a path here"), "{name}: {said}");
    }
    // Ours is.
    assert_eq!(
        resolve(Path::new("/proc/self/root/etc")).unwrap(),
        Path::new("/etc")
    );
    drop(other.stdin.take());
    other.wait().unwrap();
}

#[test]
fn what_a_person_means_is_found_and_root_goes_through_no_link_of_another_user() {
    let scratch = scratch();
    let top = fs::canonicalize(scratch.path()).unwrap();
    let at = |name: &str| top.join(name);
    fs::create_dir_all(at("real/deep")).unwrap();
    fs::write(at("real/file"), "").unwrap();
    for (link, target) in [
        ("folder", "real"),
        ("again", "folder/deep"),
        ("film", "real/file"),
        ("dangling", "real/none"),
        ("up", "real/deep/../file"),
        ("round", "round"),
    ] {
        symlink(target, at(link)).unwrap();
    }
    for (meant, found) in [
        ("real/file", "real/file"),
        ("folder/file", "real/file"),
        ("again", "real/deep"),
        ("again/../file", "real/file"),
        ("film", "real/file"),
        ("up", "real/file"),
        // What is not there is where it would be made.
        ("dangling", "real/none"),
        ("folder/none/deeper", "real/none/deeper"),
        ("real/file/none", "real/file/none"),
    ] {
        assert_eq!(resolve(&at(meant)).unwrap(), at(found), "{meant}");
    }
    assert_eq!(resolve(Path::new("/")).unwrap(), Path::new("/"));
    assert!(resolve(&at("round")).is_err());
    // A descriptor is no name, whoever opened it.
    let open = fs::File::open(at("real/file")).unwrap();
    let (reader, _writer) = std::io::pipe().unwrap();
    for folder in ["/proc/self/fd", "/proc/thread-self/fd", "/dev/fd"] {
        for number in [open.as_raw_fd(), reader.as_raw_fd(), 900] {
            let said = refusal(resolve(&Path::new(folder).join(number.to_string())));
            assert!(said.contains("descriptor"), "{folder}: {said}");
        }
    }
    // This runs as root.
    for link in ["folder", "film", "dangling"] {
        lchown(at(link), Some(STRANGER), None).unwrap();
    }
    for meant in ["folder", "folder/file", "again", "film", "dangling"] {
        let said = refusal(resolve(&at(meant)));
        assert!(said.contains("belongs to the user"), "{meant}: {said}");
    }
    assert_eq!(resolve(&at("real/file")).unwrap(), at("real/file"));
}
