//! A server, or something before it, that ends each connection soon: it is asked again with pauses, and
//! given up where nothing moves.

use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use smb::copy::{Progress, upload};
use smb::{Error, Policy, Replace, Server, Session, Stop};

use crate::byte_pattern;
use crate::samba::login;
use crate::samba_lan::{Lan, SHARE};

const LIMIT: Duration = Duration::from_secs(3);
const SLACK: Duration = Duration::from_secs(5);

/// Passes each connection on until so many bytes went to the server; the last number is for all that
/// follow. Counts them. The server hears of the end so much later than the client.
fn proxy(lan: &Lan, bytes: &'static [usize], unheard: Duration) -> (SocketAddr, Arc<AtomicUsize>) {
    lan.on_client_run(&["ip", "link", "set", "lo", "up"]);
    let server = lan.server_over(0);
    let address: IpAddr = server.name.parse().expect("it is an address");
    let server = SocketAddr::new(address, server.port);
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("the network is ours");
    let here = listener.local_addr().expect("it listens");
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    // It ends with the process, like what it waits for.
    thread::spawn(move || {
        for client in listener.incoming() {
            let number = counted.fetch_add(1, Ordering::SeqCst);
            let most = bytes[number.min(bytes.len() - 1)];
            let client = client.expect("the client comes");
            let far = TcpStream::connect(server).expect("Samba listens");
            let [back, forth] = [(&far, &client), (&client, &far)]
                .map(|(from, to)| [from, to].map(|end| end.try_clone().expect("a descriptor")));
            thread::spawn(move || pass(back, usize::MAX));
            thread::spawn(move || {
                pass(forth, most);
                client.shutdown(Shutdown::Both).ok();
                thread::sleep(unheard);
                far.shutdown(Shutdown::Both).ok();
            });
        }
    });
    (here, connections)
}

fn pass([mut from, mut to]: [TcpStream; 2], most: usize) {
    let mut buffer = [0; 4 << 10];
    let mut left = most;
    while left > 0 {
        let Ok(count @ 1..) = from.read(&mut buffer) else {
            break;
        };
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
        left = left.saturating_sub(count);
    }
}

fn copy(server: SocketAddr, here: &Path, there: &str) -> Result<u64, Error> {
    let policy = Policy {
        block_bytes: 64 << 10,
        depth: 2,
        reconnect: Some(LIMIT),
        ..Policy::default()
    };
    let server = Server {
        name: server.ip().to_string(),
        port: server.port(),
    };
    let session = Session::connect(&server, None, &login(), &policy)?;
    let tree = session.tree(SHARE)?;
    let (progress, stop) = (Progress::default(), Stop::new());
    upload(here, &tree, there, Replace::Never, &progress, &stop)
}

fn file(folder: &Path, bytes: usize) -> Vec<u8> {
    let mut content = vec![0; bytes];
    byte_pattern::fill(3, 0, &mut content);
    fs::write(folder.join("here"), &content).expect("the folder is ours");
    content
}

#[test]
fn a_server_that_lets_nothing_through_is_asked_a_few_times_and_given_up() {
    let lan = Lan::with_links(1, "");
    let folder = tempfile::tempdir().expect("a temporary folder");
    file(folder.path(), 4 << 20);
    // The first one lets some of it through, and the others not even one WRITE.
    let (server, connections) = proxy(&lan, &[1 << 20, 6 << 10], Duration::ZERO);
    let begun = Instant::now();
    let error = copy(server, &folder.path().join("here"), "there").expect_err("it cannot be done");
    let (took, asked) = (begun.elapsed(), connections.load(Ordering::SeqCst));
    assert!(
        matches!(
            error,
            Error::ConnectionLost { .. } | Error::NotReconnected { .. }
        ),
        "{error:?}"
    );
    assert!(took < LIMIT + SLACK, "{took:?}");
    // With waits of 0.1, 0.2, 0.4, 0.8, 1.6 s, each by chance down to the half.
    assert!((3..=14).contains(&asked), "{asked} in {took:?}: {error:?}");
}

#[test]
fn short_connections_that_let_something_through_bring_a_copy_to_its_end() {
    let lan = Lan::with_links(1, "");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let content = file(folder.path(), 1_200_000);
    // The server has the file open for the lost connection when the next one asks for it, or not any more.
    for (name, unheard) in [("there", Duration::ZERO), ("late", Duration::from_secs(2))] {
        let (server, connections) = proxy(&lan, &[400 << 10], unheard);
        let copied = copy(server, &folder.path().join("here"), name);
        assert_eq!(copied.expect("it goes on"), content.len() as u64);
        let there = fs::read(lan.on_server(name)).expect("it was copied");
        assert!(there == content);
        let asked = connections.load(Ordering::SeqCst);
        assert!((4..=8).contains(&asked), "{asked}");
    }
}
