//! A second server, which has no line of code in common with Samba: the crate `smb-server`. It has
//! one channel and one signing algorithm for each dialect.

use std::fs;
use std::io::{BufRead, BufReader};
use std::iter;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use smb::copy::{self, Job, Options, Place, Progress, Summary};
use smb::{
    Access, Cipher, Dialect, EncryptionPolicy, Error, Identity, Login, NtStatus, OpenOptions,
    Policy, Replace, SMALL_BYTES_MAX, Server, Session, SigningAlgorithm, SigningPolicy, SmallFile,
    Stop,
};
use tempfile::TempDir;

use crate::byte_pattern;
use crate::samba::{
    check_pattern, do_everything_to_files, job, login, login_with, on, write_pattern,
};
use crate::samba_lan::{PASSWORD, SHARE, USER};
use crate::small_files_and_operations::{check, small};

const PUBLIC: &str = "public";
/// Reads and writes a little at a time.
const LITTLE: &str = "little";
const BYTES: u64 = 3_000_001;

/// Builds the server, which is a package of its own, so that its dependencies are not ours.
fn build() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/second-server");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("second-server");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--target-dir"])
        .arg(&target)
        .current_dir(&package)
        .status();
    assert!(built.expect("cargo starts").success(), "{package:?}");
    target.join("debug/second-server")
}

/// It ends with its standard input, and so with this process.
struct Second {
    server: Server,
    folder: TempDir,
    process: Child,
}

impl Second {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut process = Command::new(build())
            .arg(folder.path())
            .args([USER, PASSWORD])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it was built");
        let mut said = String::new();
        let output = process.stdout.take().expect("it was asked for");
        BufReader::new(output)
            .read_line(&mut said)
            .expect("it says where it is");
        let address: SocketAddr = said.trim().parse().expect("it says where it is");
        let server = Server {
            name: address.ip().to_string(),
            port: address.port(),
        };
        Self {
            server,
            folder,
            process,
        }
    }

    fn connect(&self, login: &Login, policy: &Policy) -> Result<Session, Error> {
        Session::connect(&self.server, None, login, policy)
    }
}

impl Drop for Second {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().ok();
    }
}

/// Writes, reads and lists, and looks at what the server has stored.
fn round_trip(second: &Second, session: &Session, seed: u64) {
    let tree = session.tree(SHARE).expect("the share is there");
    let name = format!("round-trip {seed}");
    let written = write_pattern(&tree, &name, seed, iter::once(0..BYTES));
    assert_eq!(written, BYTES);
    let stored = fs::read(second.folder.path().join(&name)).expect("it was written");
    assert_eq!(stored.len() as u64, BYTES);
    assert_eq!(byte_pattern::difference(seed, 0, &stored), None);
    let file = tree.open(&name, &OpenOptions::open(Access::Read));
    check_pattern(&file.expect("it was written"), seed, 0..BYTES);
    let names = tree.list("").expect("it is a folder");
    assert!(names.iter().any(|entry| entry.name == name), "{names:?}");
}

#[test]
fn a_second_server_moves_every_byte_in_every_dialect_plain_signed_and_encrypted() {
    let second = Second::new();
    let mut seed = 0;
    for dialect in Dialect::ALL {
        let algorithm = match dialect {
            Dialect::Smb202 | Dialect::Smb210 => SigningAlgorithm::HmacSha256,
            _ => SigningAlgorithm::AesCmac,
        };
        for signing in [SigningPolicy::IfRequired, SigningPolicy::Required] {
            let policy = Policy {
                dialects: vec![dialect],
                signing,
                ..Policy::default()
            };
            let session = second.connect(&login(), &policy).expect("it is there");
            let negotiated = session.negotiated().expect("it is connected");
            let required = signing == SigningPolicy::Required;
            assert_eq!(
                (negotiated.dialect, negotiated.signing),
                (dialect, required)
            );
            assert_eq!(negotiated.signing_algorithm, algorithm);
            seed += 1;
            round_trip(&second, &session, seed);
        }
        let ciphers = match dialect {
            Dialect::Smb202 | Dialect::Smb210 => &[][..],
            Dialect::Smb311 => &Cipher::ALL[..],
            _ => &[Cipher::Aes128Ccm][..],
        };
        for cipher in ciphers {
            let policy = Policy {
                dialects: vec![dialect],
                encryption: EncryptionPolicy::Required,
                ciphers: vec![*cipher],
                ..Policy::default()
            };
            let session = second.connect(&login(), &policy).expect("it is there");
            let negotiated = session.negotiated().expect("it is connected");
            assert_eq!(
                (negotiated.dialect, negotiated.cipher),
                (dialect, Some(*cipher))
            );
            seed += 1;
            round_trip(&second, &session, seed);
        }
    }
    assert_eq!(seed, 16, "none was left out");
}

#[test]
fn a_second_server_does_what_can_be_done_to_files() {
    let second = Second::new();
    let session = second.connect(&login(), &Policy::default());
    let session = session.expect("it is there");
    do_everything_to_files(&session.tree(SHARE).expect("the share is there"));
    let unknown = session.tree("nothing").err();
    assert!(
        matches!(unknown, Some(Error::NoSuchShare { .. })),
        "{unknown:?}"
    );
}

#[test]
fn a_second_server_lets_in_whom_it_knows_and_guests_who_say_so() {
    let second = Second::new();
    let policy = Policy::default();
    let wrong = second.connect(&login_with("wrong"), &policy).err();
    let Some(wrong @ Error::LoginRefused { .. }) = wrong else {
        panic!("{wrong:?}")
    };
    assert_eq!(wrong.status(), Some(NtStatus::LOGON_FAILURE));
    let user = "guest".to_owned();
    for (login, identity) in [
        (Login::Guest { user }, Identity::Guest),
        (Login::Anonymous, Identity::Anonymous),
    ] {
        let session = second.connect(&login, &policy).expect("it may");
        let negotiated = session.negotiated().expect("it is connected");
        assert_eq!(negotiated.identity, identity);
        let public = session.tree(PUBLIC).expect("it is for everybody");
        public.list("").expect("guests may look");
        let closed = session.tree(SHARE).err();
        assert!(
            matches!(closed, Some(Error::AccessDenied { .. })),
            "{closed:?}"
        );
    }
}

#[test]
fn a_server_may_read_and_write_less_at_once_than_it_is_asked_to() {
    let second = Second::new();
    let session = second.connect(&login(), &Policy::default());
    let session = session.expect("it is there");
    let tree = session.tree(LITTLE).expect("the share is there");
    tree.write_small(small("small", 1, SMALL_BYTES_MAX))
        .expect("it is written by and by");
    check(&tree, "small", 1, SMALL_BYTES_MAX);
    match tree.write_small(small("small", 2, SMALL_BYTES_MAX)) {
        Err(Error::AlreadyExists { object, .. }) => assert_eq!(object, "small"),
        other => panic!("{other:?}"),
    }
    let instead = SmallFile {
        replace: Replace::Existing,
        ..small("small", 3, SMALL_BYTES_MAX)
    };
    tree.write_small(instead).expect("it may be replaced");
    check(&tree, "small", 3, SMALL_BYTES_MAX);
    let names = tree.list("").expect("it is a folder");
    assert_eq!(names.len(), 1, "no part is left: {names:?}");

    let here = tempfile::tempdir().expect("a temporary folder");
    let (from, back) = (here.path().join("from"), here.path().join("back"));
    fs::create_dir(&from).expect("our own folder");
    const FILES: [usize; 5] = [0, 9_000, 30_000, 200_000, 300_000];
    for bytes in FILES {
        let mut content = vec![0; bytes];
        byte_pattern::fill(bytes as u64, 0, &mut content);
        fs::write(from.join(bytes.to_string()), content).expect("there is room");
    }
    for (from, to) in [
        (Place::Local(from), on(&tree, "to")),
        (on(&tree, "to"), Place::Local(back.clone())),
    ] {
        let summary = copied_in_time(&job(from, to, Options::default()));
        assert_eq!((summary.files, summary.failed), (5, 0), "{summary:?}");
    }
    for bytes in FILES {
        let stored = fs::read(back.join(bytes.to_string())).expect("it was copied");
        assert_eq!(stored.len(), bytes);
        assert_eq!(byte_pattern::difference(bytes as u64, 0, &stored), None);
    }
}

/// A copy that is stopped, and so fails, once it takes longer than any machine needs.
fn copied_in_time(job: &Job) -> Summary {
    const TIME_MAX: Duration = Duration::from_secs(60);
    let stop = Stop::new();
    let too_late = stop.clone();
    let (ended, end) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if end.recv_timeout(TIME_MAX) == Err(RecvTimeoutError::Timeout) {
                too_late.stop();
            }
        });
        let summary = copy::run(job, &Progress::default(), &stop, &|_| {});
        drop(ended);
        summary
    })
}

/// It does not copy by itself: what comes from it goes back over the same session.
#[test]
fn a_copy_through_one_session_never_waits_for_a_block_that_it_holds_itself() {
    const FILES: u64 = 4;
    let second = Second::new();
    // No more of them than one channel asks for at once.
    let policy = Policy {
        blocks: 8,
        ..Policy::default()
    };
    let session = second.connect(&login(), &policy).expect("it is there");
    let tree = session.tree(SHARE).expect("the share is there");
    tree.create_folder("from").expect("it can be made");
    let bytes = 4 * BYTES;
    for file in 0..FILES {
        write_pattern(&tree, &format!("from/{file}"), file, iter::once(0..bytes));
    }
    let verified = Options {
        verify: true,
        ..Options::default()
    };
    let summary = copied_in_time(&job(on(&tree, "from"), on(&tree, "to"), verified));
    assert_eq!(
        (summary.files, summary.verified),
        (FILES, FILES),
        "{summary:?}"
    );
    assert_eq!(summary.on_server_bytes, 0);
    assert!(summary.not_on_server.is_some(), "{summary:?}");
    for file in 0..FILES {
        let stored = fs::read(second.folder.path().join(format!("to/{file}")));
        let stored = stored.expect("it was copied");
        assert_eq!(stored.len() as u64, bytes);
        assert_eq!(byte_pattern::difference(file, 0, &stored), None);
    }
}
