//! An attacker on the path changes one bit of what passes: a signed session notices each, whatever it is in.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use smb::copy::{Progress, download, upload};
use smb::{Error, Policy, Replace, Server, Session, SigningPolicy, Stop};

use crate::byte_pattern;
use crate::samba::login;
use crate::samba_lan::{Lan, SHARE};

/// Large enough for several READs and WRITEs, small enough that many copies take no time.
const BYTES: usize = 20_000;
const SEED: u64 = 7;
/// Bits that are changed, unless `LINERATE_FLIPS` says otherwise.
const FLIPS: u64 = 200;
/// Copies that show that the bits are changed indeed: without signatures nothing notices most of them.
const UNSIGNED_FLIPS: u64 = 40;
/// Of a frame whose length was changed the rest never comes. No copy may wait longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Which of two streams a bit is changed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    ToServer,
    ToClient,
}

/// A bit of one connection.
#[derive(Clone, Copy, Debug)]
struct Bit {
    direction: Direction,
    byte: u64,
    bit: u8,
}

/// Passes one connection on, and counts what went in each direction.
struct Proxy {
    /// Of one copy: where an answer makes no sense, the client asks over a second connection whether the server speaks
    /// SMB 1, and the next copy must not get that one.
    listener: TcpListener,
    server: SocketAddr,
}

impl Proxy {
    fn new(lan: &Lan) -> Self {
        let server = lan.server_over(0);
        let address: IpAddr = server.name.parse().expect("it is an address");
        Self {
            listener: TcpListener::bind(("127.0.0.1", 0)).expect("the network is ours"),
            server: SocketAddr::new(address, server.port),
        }
    }

    /// Takes the next connection, changes that bit of it, and gives the bytes of both directions.
    fn serve(&self, change: Option<Bit>) -> [u64; 2] {
        let (client, _) = self.listener.accept().expect("the client comes");
        let server = TcpStream::connect(self.server).expect("Samba listens");
        for stream in [&client, &server] {
            stream.set_nodelay(true).expect("it is TCP");
        }
        let counts = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        thread::scope(|scope| {
            let of = |direction| change.filter(|change| change.direction == direction);
            let (there, back) = (of(Direction::ToServer), of(Direction::ToClient));
            let (client, server, counts) = (&client, &server, &counts);
            scope.spawn(move || pass(client, server, there, &counts[0]));
            pass(server, client, back, &counts[1]);
        });
        counts.each_ref().map(|count| count.load(Ordering::Relaxed))
    }
}

/// Passes on what comes until either end is done with it, and then closes both.
fn pass(from: &TcpStream, to: &TcpStream, change: Option<Bit>, passed: &AtomicU64) {
    let (mut reader, mut writer) = (from, to);
    let mut buffer = [0; 16 << 10];
    loop {
        let count = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let begin = passed.fetch_add(count as u64, Ordering::Relaxed);
        if let Some(Bit { byte, bit, .. }) = change
            && (begin..begin + count as u64).contains(&byte)
        {
            let index = usize::try_from(byte - begin).expect("it is in the buffer");
            buffer[index] ^= 1 << bit;
        }
        if writer.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    // Whoever is gone already needs no good-bye.
    for stream in [from, to] {
        stream.shutdown(Shutdown::Both).ok();
    }
}

/// What became of a copy there and back.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Same,
    Noticed,
    Unnoticed,
}

struct Bench<'a> {
    lan: &'a Lan,
    folder: &'a Path,
    content: Vec<u8>,
}

impl<'a> Bench<'a> {
    fn new(lan: &'a Lan, folder: &'a Path) -> Self {
        let mut content = vec![0; BYTES];
        byte_pattern::fill(SEED, 0, &mut content);
        fs::write(folder.join("here"), &content).expect("the folder is ours");
        lan.on_client_run(&["ip", "link", "set", "lo", "up"]);
        Self {
            lan,
            folder,
            content,
        }
    }

    /// Copies a file there and back while a bit is changed.
    fn copy(&self, signing: SigningPolicy, change: Option<Bit>) -> (Found, [u64; 2]) {
        for old in [self.folder.join("back"), self.lan.on_server("there")] {
            if let Err(error) = fs::remove_file(&old) {
                assert_eq!(error.kind(), io::ErrorKind::NotFound, "{}", old.display());
            }
        }
        let proxy = Proxy::new(self.lan);
        let at = proxy.listener.local_addr().expect("it listens");
        thread::scope(|scope| {
            let served = scope.spawn(|| proxy.serve(change));
            let copied = self.there_and_back(at, signing);
            let counts = served.join().expect("it does not panic");
            let same = || {
                let there = fs::read(self.lan.on_server("there")).expect("it was copied");
                let back = fs::read(self.folder.join("back")).expect("it was copied");
                there == self.content && back == self.content
            };
            let found = match copied {
                Err(_) => Found::Noticed,
                Ok(()) if same() => Found::Same,
                Ok(()) => Found::Unnoticed,
            };
            (found, counts)
        })
    }

    fn there_and_back(&self, at: SocketAddr, signing: SigningPolicy) -> Result<(), Error> {
        let policy = Policy {
            signing,
            block_bytes: 8 << 10,
            login_timeout: PATIENCE,
            request_timeout: PATIENCE,
            reconnect: None,
            ..Policy::default()
        };
        let server = Server {
            name: at.ip().to_string(),
            port: at.port(),
        };
        let (progress, stop) = (Progress::default(), Stop::new());
        let session = Session::connect(&server, None, &login(), &policy)?;
        let tree = session.tree(SHARE)?;
        let (here, back) = (self.folder.join("here"), self.folder.join("back"));
        upload(&here, &tree, "there", Replace::Never, &progress, &stop)?;
        download(&tree, "there", &back, Replace::Never, &progress, &stop)?;
        Ok(())
    }
}

/// Bits of both directions, spread over all that passes; the same ones each time.
fn bits(count: u64, lengths: [u64; 2]) -> impl Iterator<Item = Bit> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..count).map(move |number| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let (direction, length) = match number % 2 {
            0 => (Direction::ToServer, lengths[0]),
            _ => (Direction::ToClient, lengths[1]),
        };
        Bit {
            direction,
            byte: (state >> 16) % length,
            bit: (state >> 8 & 7) as u8,
        }
    })
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "`make test-flips` shows what it counted"
)]
fn no_bit_of_a_signed_copy_is_changed_unnoticed() {
    let lan = Lan::with_links(1, "");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bench = Bench::new(&lan, folder.path());
    let count = std::env::var("LINERATE_FLIPS").map_or(FLIPS, |count| {
        count.parse().expect("`LINERATE_FLIPS` is a number")
    });

    let (found, lengths) = bench.copy(SigningPolicy::Required, None);
    assert_eq!(found, Found::Same);
    let (mut noticed, mut same) = (0, 0);
    for bit in bits(count, lengths) {
        match bench.copy(SigningPolicy::Required, Some(bit)).0 {
            Found::Noticed => noticed += 1,
            Found::Same => same += 1,
            Found::Unnoticed => panic!("{bit:?} was not noticed"),
        }
    }
    println!("signed: {noticed} noticed, {same} without effect, 0 unnoticed, of {count}");
    // The last messages, which close the connection, are the ones that nothing waits for.
    assert!(noticed * 10 >= count * 9, "{noticed} of {count}");

    let (found, lengths) = bench.copy(SigningPolicy::IfRequired, None);
    assert_eq!(found, Found::Same);
    let unnoticed = bits(UNSIGNED_FLIPS, lengths)
        .filter(|bit| bench.copy(SigningPolicy::IfRequired, Some(*bit)).0 == Found::Unnoticed)
        .count() as u64;
    println!("unsigned: {unnoticed} unnoticed of {UNSIGNED_FLIPS}");
    assert!(
        unnoticed * 4 >= UNSIGNED_FLIPS,
        "{unnoticed} of {UNSIGNED_FLIPS}"
    );
}
