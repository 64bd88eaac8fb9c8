//! Against a real Samba: what is agreed, what is moved, and what goes wrong.

use std::fs;
use std::iter;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use locale::say;
use smb::copy::{self, Existing, Job, Options, Place, Progress, download, upload};
use smb::{
    Access, Dialect, Disposition, EncryptionPolicy, Error, File, FileTimes, Identity, Login,
    Mechanism, OpenOptions, Pair, Policy, Proof, Replace, SMALL_BYTES_MAX, Server, Session,
    SigningPolicy, SmallFile, Source, Stop, Target, Tree,
};

use crate::byte_pattern;
use crate::samba_lan::{Lan, PASSWORD, SHARE, USER};

const MIB: u64 = 1 << 20;
/// Longest time until a broken connection is noticed, where the system says at once that it is.
const SOON: Duration = Duration::from_secs(10);

pub(crate) fn login() -> Login {
    login_with(PASSWORD)
}

pub(crate) fn login_with(password: &str) -> Login {
    Login::User {
        user: USER.to_owned(),
        domain: String::new(),
        password: password.to_owned().into(),
        mechanism: Mechanism::Automatic,
    }
}

pub(crate) fn connect(lan: &Lan, policy: &Policy) -> Session {
    Session::connect(&lan.server(), None, &login(), policy).expect("the server is there")
}

/// A session that ends with its last connection.
fn without_return() -> Policy {
    Policy {
        reconnect: None,
        ..Policy::default()
    }
}

/// A place on a share.
pub(crate) fn on(tree: &Tree, path: &str) -> Place {
    Place::Share {
        tree: tree.clone(),
        path: path.to_owned(),
    }
}

/// A copy of one file, or of what is in one folder.
pub(crate) fn job(from: Place, to: Place, options: Options) -> Job {
    Job {
        sources: vec![copy::Source {
            place: from,
            content: true,
            name: None,
        }],
        destination: to,
        into: false,
        options,
    }
}

pub(crate) fn to_write() -> OpenOptions {
    OpenOptions {
        disposition: Disposition::CreateOrTruncate,
        ..OpenOptions::open(Access::Write)
    }
}

pub(crate) fn write_pattern(
    tree: &Tree,
    path: &str,
    seed: u64,
    ranges: impl Iterator<Item = Range<u64>>,
) -> u64 {
    let file = tree
        .open(path, &to_write())
        .expect("the share can be written");
    let written = file.write_ranges(ranges, &Stop::new(), |offset, room| {
        byte_pattern::fill(seed, offset, room);
        Ok(())
    });
    file.close().expect("it is open");
    written.expect("the share can be written")
}

/// Reads a range and checks every byte and that every byte came once.
pub(crate) fn check_pattern(file: &File, seed: u64, range: Range<u64>) {
    let mut seen = Vec::new();
    for piece in file.read_ranges(iter::once(range.clone()), &Stop::new()) {
        let piece = piece.expect("the file can be read");
        assert_eq!(
            byte_pattern::difference(seed, piece.offset, piece.payload.bytes()),
            None
        );
        seen.push(piece.offset..piece.offset + piece.payload.len() as u64);
    }
    seen.sort_by_key(|piece| piece.start);
    let mut at = range.start;
    for piece in seen {
        assert_eq!(piece.start, at, "no gap and nothing twice");
        at = piece.end;
    }
    assert_eq!(at, range.end);
}

pub(crate) fn round_trip(session: &Session, lan: &Lan, seed: u64, bytes: u64) {
    let tree = session.tree(SHARE).expect("the share is there");
    assert_eq!(
        write_pattern(&tree, "round-trip", seed, iter::once(0..bytes)),
        bytes
    );
    let stored = fs::read(lan.on_server("round-trip")).expect("the share is a folder");
    assert_eq!(stored.len() as u64, bytes);
    assert_eq!(byte_pattern::difference(seed, 0, &stored), None);
    let file = tree
        .open("round-trip", &OpenOptions::open(Access::Read))
        .expect("it was written");
    assert_eq!(file.size().expect("it is open"), bytes);
    check_pattern(&file, seed, 0..bytes);
}

/// Takes what it is given and checks it.
struct Checker {
    seed: u64,
    bytes: AtomicU64,
}

impl Target for Checker {
    fn put(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        assert_eq!(byte_pattern::difference(self.seed, offset, bytes), None);
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}

/// A file of this machine.
struct LocalFile {
    file: fs::File,
    filled: AtomicU64,
}

impl Source for LocalFile {
    fn fill(&self, offset: u64, room: &mut [u8]) -> Result<(), Error> {
        self.filled.fetch_add(room.len() as u64, Ordering::Relaxed);
        let read = self.file.read_exact_at(room, offset);
        read.map_err(|source| Error::LocalFile {
            action: say("error-smb.cannot-read"),
            path: "local".into(),
            source,
        })
    }

    fn file(&self) -> Option<&fs::File> {
        Some(&self.file)
    }
}

#[test]
fn a_local_file_goes_there_without_a_copy_unless_it_is_protected() {
    let lan = Lan::new("");
    let bytes = 21 * MIB + 77;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut content = vec![0; usize::try_from(bytes).expect("it is short")];
    byte_pattern::fill(9, 0, &mut content);
    let path = folder.path().join("local");
    fs::write(&path, &content).expect("the folder is ours");
    let signed = Policy {
        signing: SigningPolicy::Required,
        ..Policy::default()
    };
    let encrypted = Policy {
        encryption: EncryptionPolicy::Required,
        ..Policy::default()
    };
    for (policy, direct) in [
        (Policy::default(), true),
        (signed, false),
        (encrypted, false),
    ] {
        let session = connect(&lan, &policy);
        let tree = session.tree(SHARE).expect("the share is there");
        let local = || {
            Arc::new(LocalFile {
                file: fs::File::open(&path).expect("it was written"),
                filled: AtomicU64::new(0),
            })
        };
        let (source, stop) = (local(), Stop::new());
        let file = tree.open("direct", &to_write()).expect("it can be made");
        // a range after the other, with some of them at the same time
        let ranges = (0..bytes).step_by(5 << 20);
        let ranges = ranges.map(|start| start..bytes.min(start + (5 << 20)));
        let mut confirmed = 0;
        let count = |more: u64| confirmed += more;
        let written = file.write_from(ranges, source.clone(), &stop, count);
        assert_eq!(written.expect("the share can be written"), bytes);
        assert_eq!(confirmed, bytes);
        assert_eq!(source.filled.load(Ordering::Relaxed) == 0, direct);
        let short = file.write_from(iter::once(0..bytes + 1), local(), &stop, drop);
        assert!(short.is_err(), "the file is shorter than that: {short:?}");
        file.close().expect("it is open");

        let file = tree.open("direct", &OpenOptions::open(Access::Read));
        let file = file.expect("it was written");
        let target = Arc::new(Checker {
            seed: 9,
            bytes: AtomicU64::new(0),
        });
        let read = file.read_to(iter::once(0..bytes), target.clone(), &stop, drop);
        assert_eq!(read.expect("it can be read"), bytes);
        assert_eq!(target.bytes.load(Ordering::Relaxed), bytes);
        stop.stop();
        let stopped = file.read_to(iter::once(0..bytes), target, &stop, drop);
        assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    }
}

#[test]
fn a_share_that_insists_on_encryption_gets_it() {
    // The lines of `[global]` end where those of a share begin.
    let lan = Lan::new("[sealed]\npath = /tmp\nserver smb encrypt = required");
    for dialect in [Dialect::Smb311, Dialect::Smb302] {
        let policy = Policy {
            dialects: vec![dialect],
            ..Policy::default()
        };
        let session = connect(&lan, &policy);
        let negotiated = session.negotiated().expect("it is connected");
        assert!(!negotiated.encryption, "only that share");
        let tree = session.tree("sealed").expect("the share is there");
        assert!(tree.is_encrypted());
        tree.list("").expect("an encrypted request is answered");
        let open = session.tree(SHARE).expect("the share is there");
        assert!(!open.is_encrypted());
        round_trip(&session, &lan, 1, MIB);
    }
    let policy = Policy {
        dialects: vec![Dialect::Smb210],
        ..Policy::default()
    };
    let refused = connect(&lan, &policy).tree("sealed").err();
    assert!(
        matches!(
            refused,
            Some(Error::AccessDenied { .. } | Error::Incompatible { .. })
        ),
        "{refused:?}"
    );
}

#[test]
fn a_lease_is_given_back_where_everything_is_encrypted() {
    let lan = Lan::new("server smb encrypt = required");
    let (session, other) = (
        connect(&lan, &Policy::default()),
        connect(&lan, &Policy::default()),
    );
    let tree = session.tree(SHARE).expect("the share is there");
    write_pattern(&tree, "leased", 5, iter::once(0..MIB));
    let to_read = OpenOptions {
        folder: Some(false),
        ..OpenOptions::open(Access::Read)
    };
    let file = tree.open("leased", &to_read).expect("it was written");
    let others = other.tree(SHARE).expect("the share is there");
    // Samba asks whether the file is only kept open before it refuses this, for half a minute.
    let alone = OpenOptions {
        share_read: false,
        ..to_read
    };
    let begun = Instant::now();
    let refused = others.open("leased", &alone).err();
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    let status = refused.as_ref().and_then(Error::status);
    assert_eq!(
        status,
        Some(smb::NtStatus::SHARING_VIOLATION),
        "{refused:?}"
    );
    check_pattern(&file, 5, 0..MIB);
    let channels = session.channels();
    assert!(
        matches!(&channels[..], [only] if only.alive && only.number.to_string() == "channel 0"),
        "{channels:?}"
    );
}

/// Waits until the counters of all channels have caught up with what was moved each way: a driver
/// hands a piece over first and counts it then.
fn wait_for_bytes(session: &Session, bytes: u64) {
    let begun = Instant::now();
    loop {
        let status = session.channels();
        let sum = |of: fn(&smb::ChannelStatus) -> u64| status.iter().map(of).sum::<u64>();
        let moved = [
            sum(|channel| channel.bytes_sent),
            sum(|channel| channel.bytes_received),
        ];
        if moved == [bytes; 2] {
            return;
        }
        assert!(moved.iter().all(|moved| *moved <= bytes), "{moved:?}");
        assert!(begun.elapsed() < SOON, "{moved:?}");
        thread::yield_now();
    }
}

/// Reads until each channel has brought something: work goes to whoever is free, and on a busy
/// machine one thread may sleep through a whole file.
pub(crate) fn read_until_all_took_part(session: &Session, seed: u64, bytes: u64) {
    let tree = session.tree(SHARE).expect("the share is there");
    let file = tree
        .open("round-trip", &OpenOptions::open(Access::Read))
        .expect("it was written");
    let begun = Instant::now();
    while session
        .channels()
        .iter()
        .any(|channel| channel.bytes_received == 0)
    {
        assert!(begun.elapsed() < SOON, "{:?}", session.channels());
        check_pattern(&file, seed, 0..bytes);
    }
}

#[test]
fn every_number_of_channels_moves_every_byte() {
    let lan = Lan::new("");
    for (seed, channels) in [(1, 1), (2, 2), (3, 8)] {
        let session = connect(
            &lan,
            &Policy {
                depth: 4,
                ..Policy::default()
            },
        );
        let rejected = session.add_channels(channels, &lan.nics());
        let status = session.channels();
        assert_eq!(status.len(), channels, "{rejected:?}");
        round_trip(&session, &lan, seed, 48 * MIB + 7);
        wait_for_bytes(&session, 48 * MIB + 7);
        read_until_all_took_part(&session, seed, 48 * MIB + 7);
        let status = session.channels();
        for channel in &status {
            assert!(channel.alive, "{channel:?}");
            assert!(channel.credits > 0, "{channel:?}");
            let link = channel.nic.as_deref().and_then(|nic| nic.strip_prefix('c'));
            assert!(
                link.is_some_and(|link| channel.local.to_string().contains(&format!(".{link}.1:")))
            );
            assert_eq!(channel.not_bound_because, None);
            assert!(
                channel
                    .tcp
                    .is_some_and(|tcp| tcp.round_trip < Duration::from_secs(1))
            );
        }
        let links = status.iter().map(|channel| channel.local.ip());
        let distinct = links.collect::<std::collections::BTreeSet<_>>().len();
        assert_eq!(distinct, channels.min(2), "both links are used");
    }
}

#[test]
fn the_interfaces_of_both_ends_are_listed() {
    let lan = Lan::new("");
    let ours = smb::local_nics().expect("the system tells");
    let names: Vec<_> = ours.iter().map(|nic| nic.name.as_str()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    for (nic, expected) in ours.iter().zip(lan.nics()) {
        assert_eq!(nic.name, expected.name);
        assert_eq!(nic.addresses[0], expected.addresses[0]);
    }
    let session = connect(&lan, &Policy::default());
    let theirs = session.server_interfaces().expect("the server tells");
    let mut addresses: Vec<_> = theirs.iter().map(|nic| nic.address.to_string()).collect();
    addresses.sort();
    assert_eq!(addresses, ["10.94.0.2", "10.94.1.2"]);
    assert!(
        theirs
            .iter()
            .all(|nic| nic.rss && nic.speed_bits_per_second == 1_000_000_000)
    );
}

#[test]
fn a_channel_to_nowhere_leaves_the_session_alone() {
    let lan = Lan::new("");
    let policy = Policy {
        connect_timeout: Duration::from_millis(300),
        ..Policy::default()
    };
    let session = connect(&lan, &policy);
    let local = lan.nics()[1].addresses[0].address;
    let nowhere = Pair {
        local,
        remote: "10.94.1.77".parse().expect("an address"),
    };
    let failed = session.add_channel(&nowhere, Some("c1")).err();
    let Some(Error::Channel { source, .. }) = failed else {
        panic!("{failed:?}")
    };
    assert!(matches!(*source, Error::Unreachable { .. }), "{source:?}");
    let foreign = Pair {
        local: "10.94.9.9".parse().expect("an address"),
        ..nowhere
    };
    assert!(matches!(
        session.add_channel(&foreign, None),
        Err(Error::Channel { .. })
    ));
    round_trip(&session, &lan, 1, MIB);
    assert_eq!(session.channels().len(), 1);
}

#[test]
fn what_can_be_done_to_files() {
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    do_everything_to_files(&session.tree(SHARE).expect("the share is there"));
}

pub(crate) fn do_everything_to_files(tree: &Tree) {
    tree.create_folder("folder").expect("it is new");
    let again = tree.create_folder("folder").err();
    assert!(
        matches!(again, Some(Error::AlreadyExists { .. })),
        "{again:?}"
    );
    for number in 0..300 {
        tree.open(&format!("folder/file {number:03} ä"), &to_write())
            .and_then(File::close)
            .expect("it is new");
    }
    let mut names: Vec<_> = tree
        .list("folder")
        .expect("it exists")
        .into_iter()
        .map(|entry| entry.name)
        .collect();
    names.sort();
    let expected: Vec<_> = (0..300)
        .map(|number| format!("file {number:03} ä"))
        .collect();
    assert_eq!(names, expected);

    let file = tree.open(
        "folder/small",
        &OpenOptions {
            access: Access::ReadWrite,
            ..to_write()
        },
    );
    let file = file.expect("it is new");
    file.write_at(3, b"defghi").expect("it is open");
    file.write_at(0, b"abc").expect("it is open");
    let mut buffer = [0; 16];
    assert_eq!(file.read_at(2, &mut buffer).expect("it is open"), 7);
    assert_eq!(&buffer[..7], b"cdefghi");
    assert_eq!(
        file.read_at(100, &mut buffer)
            .expect("beyond the end is no error"),
        0
    );
    file.flush().expect("it is open");
    file.close().expect("it is open");

    tree.rename("folder/small", "other", Replace::Never)
        .expect("it exists");
    assert_eq!(tree.status("other").expect("it was renamed").size, 9);
    let taken = tree
        .rename("other", "folder/file 001 ä", Replace::Never)
        .err();
    assert!(
        matches!(taken, Some(Error::AlreadyExists { .. })),
        "{taken:?}"
    );
    tree.rename("other", "folder/file 001 ä", Replace::Existing)
        .expect("it may be replaced");
    tree.remove_file("folder/file 001 ä").expect("it exists");
    let gone = tree.remove_file("folder/file 001 ä").err();
    assert!(matches!(gone, Some(Error::NotFound { .. })), "{gone:?}");
    let full = tree.remove_folder("folder").err();
    assert!(matches!(full, Some(Error::Refused { .. })), "{full:?}");

    let options = OpenOptions {
        delete_on_close: true,
        ..to_write()
    };
    tree.open("fleeting", &options)
        .and_then(File::close)
        .expect("it is new");
    let gone = tree.status("fleeting").err();
    assert!(matches!(gone, Some(Error::NotFound { .. })), "{gone:?}");

    let space = tree.free_space().expect("the server knows");
    assert!(0 < space.available_bytes && space.available_bytes <= space.total_bytes);
}

#[test]
fn what_goes_wrong_is_told_apart() {
    let lan = Lan::new("");
    let server = lan.server();
    let policy = Policy::default();
    let wrong = Session::connect(&server, None, &login_with("wrong"), &policy).err();
    let Some(wrong @ Error::LoginRefused { .. }) = wrong else {
        panic!("{wrong:?}")
    };
    assert_eq!(wrong.status(), Some(smb::NtStatus::LOGON_FAILURE));
    assert!(
        !format!("{wrong:?} {wrong}").contains("wrong\""),
        "no password in an error"
    );

    let nowhere = Server {
        port: 446,
        ..server.clone()
    };
    let closed = Session::connect(&nowhere, None, &login(), &policy).err();
    assert!(
        matches!(closed, Some(Error::PortClosed { .. })),
        "{closed:?}"
    );

    let session = connect(&lan, &policy);
    let unknown = session.tree("nothing").err();
    assert!(
        matches!(unknown, Some(Error::NoSuchShare { .. })),
        "{unknown:?}"
    );
    let tree = session.tree(SHARE).expect("the share is there");
    let missing = tree.open("missing", &OpenOptions::open(Access::Read)).err();
    assert!(
        matches!(missing, Some(Error::NotFound { .. })),
        "{missing:?}"
    );
    let missing = tree.open("no/such/folder", &to_write()).err();
    assert!(
        matches!(missing, Some(Error::NotFound { .. })),
        "{missing:?}"
    );

    fs::write(lan.on_server("forbidden"), b"secret").expect("the share is a folder");
    let nobody = std::os::unix::fs::PermissionsExt::from_mode(0o0);
    fs::set_permissions(lan.on_server("forbidden"), nobody).expect("this runs as root");
    let denied = tree
        .open("forbidden", &OpenOptions::open(Access::Read))
        .err();
    assert!(
        matches!(denied, Some(Error::AccessDenied { .. })),
        "{denied:?}"
    );

    let file = tree
        .open("too-big", &to_write())
        .expect("the share can be written");
    let full = file
        .write_ranges(iter::once(0..4 << 30), &Stop::new(), |_, _| Ok(()))
        .err();
    assert!(matches!(full, Some(Error::DiskFull { .. })), "{full:?}");
    let small = SmallFile {
        path: "small".to_owned(),
        temporary: "small.part".to_owned(),
        replace: Replace::Never,
        content: vec![1; SMALL_BYTES_MAX].into(),
        times: FileTimes::default(),
        attributes: 0,
        mode: None,
    };
    let full = tree.write_small(small).err();
    assert!(matches!(full, Some(Error::DiskFull { .. })), "{full:?}");
    for name in ["small", "small.part"] {
        let status = tree.status(name);
        assert!(matches!(status, Err(Error::NotFound { .. })), "{status:?}");
    }
    drop(file);
    tree.remove_file("too-big").expect("the session goes on");
}

#[test]
fn nobody_becomes_a_guest_without_asking() {
    let lan =
        Lan::new("map to guest = bad user\n[public]\npath = /tmp\nguest ok = yes\nread only = yes");
    let stranger = Login::User {
        user: "stranger".to_owned(),
        domain: String::new(),
        password: PASSWORD.to_owned().into(),
        mechanism: Mechanism::Automatic,
    };
    let guest = Session::connect(&lan.server(), None, &stranger, &Policy::default()).err();
    assert!(matches!(guest, Some(Error::GuestOnly { .. })), "{guest:?}");
    let user = "stranger".to_owned();
    for (login, identity) in [
        (Login::Guest { user }, Identity::Guest),
        (Login::Anonymous, Identity::Anonymous),
    ] {
        let policy = Policy {
            // What cannot be had without a key is not asked for.
            signing: SigningPolicy::DataUnsigned,
            ..Policy::default()
        };
        let session = Session::connect(&lan.server(), None, &login, &policy).expect("it may");
        let negotiated = session.negotiated().expect("it is connected");
        assert_eq!((negotiated.identity, negotiated.signing), (identity, false));
        assert_eq!(session.proof(), Proof::Nothing);
        let public = session.tree("public").expect("the share is there");
        public.list("").expect("guests may look");
        let policy = Policy {
            signing: SigningPolicy::Required,
            ..Policy::default()
        };
        let unsigned = Session::connect(&lan.server(), None, &login, &policy).err();
        assert!(
            matches!(unsigned, Some(Error::Incompatible { .. })),
            "{unsigned:?}"
        );
    }
}

/// Reads a file for ever, until something ends it, while `act` does so.
fn read_while(file: &File, bytes: u64, act: impl FnOnce() + Send) -> (u64, Error) {
    let stop = Stop::new();
    let mut pieces = file.read_ranges(iter::repeat_with(|| 0..bytes), &stop);
    let mut moved = pieces
        .next()
        .expect("it is endless")
        .expect("it can be read")
        .payload
        .len();
    thread::scope(|scope| {
        scope.spawn(act);
        for piece in pieces {
            match piece {
                Ok(piece) => moved += piece.payload.len(),
                Err(error) => return (moved as u64, error),
            }
        }
        panic!("it is endless")
    })
}

#[test]
fn a_server_that_is_killed_is_an_error_at_once() {
    let lan = Lan::new("");
    let session = connect(&lan, &without_return());
    session.add_channels(4, &lan.nics());
    let tree = session.tree(SHARE).expect("the share is there");
    write_pattern(&tree, "big", 1, iter::once(0..32 * MIB));
    let file = tree
        .open("big", &OpenOptions::open(Access::Read))
        .expect("it was written");
    let begun = Instant::now();
    let (moved, error) = read_while(&file, 32 * MIB, || lan.kill_samba());
    assert!(moved > 0);
    assert!(matches!(error, Error::ConnectionLost { .. }), "{error:?}");
    assert!(begun.elapsed() < SOON, "it took {:?}", begun.elapsed());
    let after = file.size().err();
    assert!(
        matches!(after, Some(Error::ConnectionLost { .. })),
        "{after:?}"
    );
    drop((file, tree, session));
    assert!(begun.elapsed() < SOON, "it took {:?}", begun.elapsed());
}

/// A channel over the second network.
pub(crate) fn add_second_channel(lan: &Lan, session: &Session) {
    let second = Pair {
        local: lan.nics()[1].addresses[0].address,
        remote: "10.94.1.2".parse().expect("an address"),
    };
    session
        .add_channel(&second, Some("c1"))
        .expect("both networks work");
}

#[test]
fn a_channel_that_is_killed_leaves_the_others() {
    let lan = Lan::new("");
    let session = connect(&lan, &without_return());
    add_second_channel(&lan, &session);
    let tree = session.tree(SHARE).expect("the share is there");
    write_pattern(&tree, "big", 1, iter::once(0..32 * MIB));
    let file = tree
        .open("big", &OpenOptions::open(Access::Read))
        .expect("it was written");
    let stop = Stop::new();
    let killed = AtomicBool::new(false);
    let until_killed = || iter::repeat(0..32 * MIB).take_while(|_| !killed.load(Ordering::SeqCst));
    let kill = |channel: usize| {
        let victim = session.channels()[channel].local.port().to_string();
        lan.on_client_run(&["ss", "-K", "sport", "=", &victim]);
        killed.store(true, Ordering::SeqCst);
    };
    let mut moved = 0;
    thread::scope(|scope| {
        let mut pieces = file.read_ranges(until_killed(), &stop);
        let first = pieces.next().expect("it goes on until the kill");
        scope.spawn(|| kill(1));
        for piece in iter::once(first).chain(pieces) {
            let piece = piece.expect("the other channel goes on");
            let bytes = piece.payload.bytes();
            assert_eq!(byte_pattern::difference(1, piece.offset, bytes), None);
            moved += bytes.len() as u64;
        }
    });
    assert!(moved > 0 && moved.is_multiple_of(32 * MIB), "{moved} bytes");
    check_pattern(&file, 1, 0..32 * MIB);
    let status = session.channels();
    assert!(status[0].alive && !status[1].alive, "{status:?}");

    add_second_channel(&lan, &session);
    round_trip(&session, &lan, 2, 8 * MIB);
    killed.store(false, Ordering::SeqCst);
    let before = session.channels()[2].bytes_sent;
    thread::scope(|scope| {
        scope.spawn(|| {
            while session.channels()[2].bytes_sent == before {
                thread::yield_now();
            }
            kill(2);
        });
        let written = write_pattern(&tree, "big", 5, until_killed());
        assert!(
            written > 0 && written.is_multiple_of(32 * MIB),
            "{written} bytes"
        );
    });
    let stored = fs::read(lan.on_server("big")).expect("the share is a folder");
    assert_eq!(stored.len() as u64, 32 * MIB);
    assert_eq!(byte_pattern::difference(5, 0, &stored), None);
    assert!(!session.channels()[2].alive);
}

#[test]
fn a_stop_ends_reads_and_writes() {
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    write_pattern(&tree, "big", 1, iter::once(0..8 * MIB));
    let file = tree
        .open("big", &OpenOptions::open(Access::ReadWrite))
        .expect("it was written");
    for _ in 0..3 {
        let stop = Stop::new();
        let mut pieces = file.read_ranges(iter::repeat_with(|| 0..8 * MIB), &stop);
        assert!(pieces.next().is_some_and(|piece| piece.is_ok()));
        stop.stop();
        assert!(matches!(pieces.next(), Some(Err(Error::Stopped))));
        assert!(pieces.next().is_none());
    }
    let stop = Stop::new();
    let mut blocks = 0;
    let ended = file.write_ranges(iter::repeat_with(|| 0..8 * MIB), &stop, |offset, room| {
        byte_pattern::fill(1, offset, room);
        blocks += 1;
        if blocks == 20 {
            stop.stop();
        }
        Ok(())
    });
    assert!(matches!(ended, Err(Error::Stopped)), "{ended:?}");
    check_pattern(&file, 1, 0..8 * MIB);
}

#[test]
fn the_end_of_a_session_ends_its_threads() {
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    session.add_channels(3, &lan.nics());
    let tree = session.tree(SHARE).expect("the share is there");
    let ports: Vec<_> = session
        .channels()
        .iter()
        .map(|channel| channel.local.port())
        .collect();
    let begun = Instant::now();
    drop(session);
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "it took {:?}",
        begun.elapsed()
    );
    let established = lan.on_client_run(&["ss", "-tnH", "state", "established"]);
    for port in ports {
        assert!(!established.contains(&format!(":{port} ")), "{established}");
    }
    let after = tree.status("").err();
    assert!(
        matches!(after, Some(Error::ConnectionLost { .. })),
        "{after:?}"
    );
}

#[test]
fn a_copy_keeps_bytes_and_time() {
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    session.add_channels(2, &lan.nics());
    let tree = session.tree(SHARE).expect("the share is there");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (here, back) = (folder.path().join("here"), folder.path().join("back"));
    for bytes in [0, 1, MIB - 1, 20 * MIB + 17] {
        let mut content = vec![0; usize::try_from(bytes).expect("it is small")];
        byte_pattern::fill(bytes, 0, &mut content);
        fs::write(&here, &content).expect("the folder is ours");
        let modified = std::time::UNIX_EPOCH + Duration::from_millis(1_234_567_890_500);
        let times = fs::FileTimes::new().set_modified(modified);
        let local = fs::File::options()
            .write(true)
            .open(&here)
            .expect("it was written");
        local.set_times(times).expect("the file is ours");

        let progress = Progress::default();
        let copied = upload(
            &here,
            &tree,
            "there",
            Replace::Existing,
            &progress,
            &Stop::new(),
        );
        assert_eq!(copied.expect("there is room"), bytes);
        assert_eq!((progress.moved(), progress.total()), (bytes, bytes));
        assert_eq!(
            fs::read(lan.on_server("there")).expect("it was copied"),
            content
        );
        let stored = fs::metadata(lan.on_server("there")).and_then(|stored| stored.modified());
        assert_eq!(stored.expect("it was copied"), modified);

        let copied = download(
            &tree,
            "there",
            &back,
            Replace::Existing,
            &progress,
            &Stop::new(),
        );
        assert_eq!(copied.expect("it was copied"), bytes);
        assert_eq!(fs::read(&back).expect("it was copied"), content);
        let stored = fs::metadata(&back).and_then(|stored| stored.modified());
        assert_eq!(stored.expect("it was copied"), modified);
    }
    let taken = upload(
        &here,
        &tree,
        "there",
        Replace::Never,
        &Progress::default(),
        &Stop::new(),
    );
    assert!(matches!(taken, Err(Error::Obstructed { .. })), "{taken:?}");
    let names = |entries: Vec<smb::DirectoryEntry>| -> Vec<String> {
        entries.into_iter().map(|entry| entry.name).collect()
    };
    assert_eq!(
        names(tree.list("").expect("the top")),
        ["there"],
        "no part is left"
    );
}

#[test]
fn read_only_files_are_replaced_and_removed_and_their_parts_too() {
    // One for each way in which a file gets its name.
    const FILES: [(&str, usize); 2] = [("small", 1000), ("large", MIB as usize)];
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    let here = tempfile::tempdir().expect("a temporary folder");
    for (name, bytes) in FILES {
        let path = here.path().join(name);
        fs::write(&path, vec![7; bytes]).expect("there is room");
        let mut permissions = fs::metadata(&path).expect("it is there").permissions();
        permissions.set_readonly(true);
        fs::set_permissions(path, permissions).expect("it is ours");
    }
    let from = Place::Local(here.path().to_owned());
    let mut job = job(from, on(&tree, "all"), Options::default());
    let run = |job: &Job| copy::run(job, &Progress::default(), &Stop::new(), &|_| {});
    let is_read_only = |name: &str| {
        let status = tree.status(&format!("all/{name}"));
        status.expect("it was copied").attributes & 1 != 0
    };
    let names = || -> Vec<_> {
        let entries = fs::read_dir(lan.on_server("all")).expect("it was copied");
        let entries = entries.map(|entry| entry.expect("it can be read").file_name());
        entries.collect()
    };
    let summary = run(&job);
    assert_eq!((summary.files, summary.failed), (2, 0), "{summary:?}");
    assert!(FILES.iter().all(|(name, _)| is_read_only(name)));

    // What is open cannot be replaced.
    job.options.existing = Existing::Replace;
    let open = FILES.map(|(name, _)| {
        let file = tree.open(&format!("all/{name}"), &OpenOptions::open(Access::Read));
        file.expect("it was copied")
    });
    let refused = run(&job);
    assert_eq!((refused.files, refused.failed), (0, 2), "{refused:?}");
    assert_eq!(names().len(), 2, "no part is left: {:?}", names());
    for file in open {
        file.close().expect("it is open");
    }
    let replaced = run(&job);
    assert_eq!((replaced.files, replaced.failed), (2, 0), "{replaced:?}");
    assert!(FILES.iter().all(|(name, _)| is_read_only(name)));

    fs::remove_dir_all(here.path()).expect("it is ours");
    fs::create_dir(here.path()).expect("it is ours");
    job.options.delete = true;
    let emptied = run(&job);
    assert_eq!((emptied.deleted, emptied.failed), (2, 0), "{emptied:?}");
    assert!(names().is_empty());
}

#[test]
fn a_copy_that_ends_early_leaves_nothing() {
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path().join("here");
    // More than the share has room for.
    fs::write(&here, vec![1; 300 << 20]).expect("room on the disk");

    let too_big = upload(
        &here,
        &tree,
        "there",
        Replace::Never,
        &Progress::default(),
        &Stop::new(),
    );
    assert!(
        matches!(too_big, Err(Error::DiskFull { .. })),
        "{too_big:?}"
    );
    let stop = Stop::new();
    stop.stop();
    let stopped = upload(
        &here,
        &tree,
        "there",
        Replace::Never,
        &Progress::default(),
        &stop,
    );
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    drop(tree);
    drop(session);

    // A fresh session, for which the server has seen every close of the one before.
    let session = connect(&lan, &without_return());
    let tree = session.tree(SHARE).expect("the share is there");
    assert!(tree.list("").expect("the top").is_empty());

    write_pattern(&tree, "big", 1, iter::once(0..32 * MIB));
    let there = folder.path().join("there");
    fs::write(&there, b"before").expect("the folder is ours");
    let progress = Progress::default();
    let ended = thread::scope(|scope| {
        scope.spawn(|| {
            while progress.moved() == 0 {
                thread::yield_now();
            }
            lan.kill_samba();
        });
        loop {
            let copied = download(
                &tree,
                "big",
                &there,
                Replace::Existing,
                &progress,
                &Stop::new(),
            );
            if let Err(error) = copied {
                return error;
            }
            fs::write(&there, b"before").expect("the folder is ours");
        }
    });
    assert!(matches!(ended, Error::ConnectionLost { .. }), "{ended:?}");
    assert_eq!(fs::read(&there).expect("it is still there"), b"before");
    // A part that a later run can go on with may stay, under a name of its own.
    let left = fs::read_dir(folder.path()).expect("the folder is ours");
    let names = left.map(|entry| entry.expect("the folder is ours").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.into_string().expect("plain names"))
        .filter(|name| !name.contains(".linerate-"))
        .collect();
    names.sort();
    assert_eq!(names, ["here", "there"]);
}

/// Mode and content of a file.
fn mode_and_content(path: &std::path::Path) -> (u32, Vec<u8>) {
    use std::os::unix::fs::PermissionsExt as _;

    let mode = fs::metadata(path)
        .expect("it is there")
        .permissions()
        .mode();
    (mode & 0o7777, fs::read(path).expect("it is there"))
}

fn set_mode(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;

    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the file is ours");
}

#[test]
fn a_file_that_comes_home_has_its_old_mode_and_is_for_nobody_else_before() {
    let lan = Lan::new("");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = connect(&lan, &without_return());
    let tree = session.tree(SHARE).expect("the share is there");
    write_pattern(&tree, "big", 1, iter::once(0..64 * MIB));
    let fetch = |to: &std::path::Path, replace| {
        let (progress, stop) = (Progress::default(), Stop::new());
        download(&tree, "big", to, replace, &progress, &stop).expect("there is room")
    };

    // One that replaces another has the mode of that, but for what lets it run as its owner.
    let home = folder.path().join("home");
    for (mode, expected) in [(0o600, 0o600), (0o640, 0o640), (0o4755, 0o755)] {
        fs::write(&home, b"before").expect("the folder is ours");
        set_mode(&home, mode);
        let widest = AtomicU64::new(0);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                use std::os::unix::fs::PermissionsExt as _;
                while !over.load(Ordering::SeqCst) {
                    for entry in fs::read_dir(folder.path()).expect("the folder is ours") {
                        // Parts come and go.
                        let Ok(metadata) = entry.and_then(|entry| entry.metadata()) else {
                            continue;
                        };
                        let bits = metadata.permissions().mode() & 0o777;
                        widest.fetch_or(bits.into(), Ordering::SeqCst);
                    }
                }
            });
            fetch(&home, Replace::Existing);
            over.store(true, Ordering::SeqCst);
        });
        assert_eq!(mode_and_content(&home).0, expected);
        let widest = widest.load(Ordering::SeqCst);
        assert_eq!(widest & !u64::from(expected), 0, "{widest:o} for {mode:o}");
    }
    // A new one is as wide as the umask lets it be.
    let fresh = folder.path().join("fresh");
    fetch(&fresh, Replace::Never);
    fs::write(folder.path().join("usual"), b"").expect("the folder is ours");
    let usual = mode_and_content(&folder.path().join("usual")).0;
    assert_eq!(mode_and_content(&fresh).0, usual);
}
