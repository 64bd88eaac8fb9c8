//! A path to the server that can be slow, and that can be cut.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::servers::PORT;

/// Bytes that go on at once.
const BLOCK: usize = 64 << 10;

/// How a path treats what passes.
#[derive(Clone, Copy, Default)]
pub struct Path {
    /// Most bytes in a second and direction; zero: as many as there are.
    pub rate: u64,
    /// After so many bytes of either direction the connection is cut, so often.
    pub cut_after: u64,
    pub cuts: u64,
}

/// Passes connections on to this server until the process ends; gives its port.
pub fn open(server: Ipv4Addr, path: Path) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let cuts_left = Arc::new(AtomicU64::new(path.cuts));
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = TcpStream::connect((server, PORT)) else {
                continue;
            };
            let passed = Arc::new(AtomicU64::new(0));
            for (from, to) in [(&client, &server), (&server, &client)] {
                let (from, to) = (from.try_clone(), to.try_clone());
                let (Ok(from), Ok(to)) = (from, to) else {
                    continue;
                };
                let (passed, cuts_left) = (Arc::clone(&passed), Arc::clone(&cuts_left));
                thread::spawn(move || pass(from, to, path, &passed, &cuts_left));
            }
        }
    });
    port
}

fn pass(mut from: TcpStream, mut to: TcpStream, path: Path, passed: &AtomicU64, cuts: &AtomicU64) {
    let mut block = vec![0; BLOCK];
    let (begun, mut own) = (Instant::now(), 0);
    while let Ok(count) = from.read(&mut block) {
        if count == 0 || to.write_all(&block[..count]).is_err() {
            break;
        }
        own += count as u64;
        let all = passed.fetch_add(count as u64, Ordering::SeqCst) + count as u64;
        if path.cut_after > 0 && all > path.cut_after {
            let one_less = |left: u64| left.checked_sub(1);
            if cuts
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
                .is_ok()
            {
                break;
            }
        }
        if path.rate > 0 {
            let due = Duration::from_secs_f64(own as f64 / path.rate as f64);
            thread::sleep(due.saturating_sub(begun.elapsed()));
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
