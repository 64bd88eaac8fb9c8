//! The server of `make bench` that is not the limit gives and takes all bytes of a file.

#[path = "../../examples/speeds/null.rs"]
mod null;

use std::fs::File;
use std::io::Write;
use std::iter;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use null::{Null, Tally};
use smb::{
    Access, Disposition, Error, Login, OpenOptions, Policy, Server, Session, Source, Stop, Target,
};

/// More than one request in each direction, and no whole number of blocks.
const BYTES: u64 = (9 << 20) + 7;

/// Counts what arrives, and up to where.
#[derive(Default)]
struct Counter {
    bytes: AtomicU64,
    end: Mutex<u64>,
}

impl Target for Counter {
    fn put(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let length = bytes.len() as u64;
        self.bytes.fetch_add(length, Ordering::Relaxed);
        let mut end = self.end.lock().unwrap();
        *end = (offset + length).max(*end);
        Ok(())
    }
}

struct Local(File);

impl Source for Local {
    fn fill(&self, offset: u64, room: &mut [u8]) -> Result<(), Error> {
        self.0.read_exact_at(room, offset).unwrap();
        Ok(())
    }

    fn file(&self) -> Option<&File> {
        Some(&self.0)
    }
}

#[test]
fn a_server_that_is_not_the_limit_gives_and_takes_all_of_a_file() {
    let server = Arc::new(Null::new(BYTES).unwrap());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = Server {
        name: Ipv4Addr::LOCALHOST.to_string(),
        port: listener.local_addr().unwrap().port(),
    };
    let serving = Arc::clone(&server);
    thread::spawn(move || serving.serve(&listener));

    let session = Session::connect(&address, None, &Login::Anonymous, &Policy::default()).unwrap();
    let tree = session.tree("media").unwrap();
    let (_beside, again) = Session::open_parallel(&tree).unwrap();
    let options = OpenOptions {
        disk_id: true,
        ..OpenOptions::open(Access::Read)
    };
    let mut file = tree.open("source.bin", &options).unwrap();
    assert_eq!(file.created().size, BYTES);
    assert!(file.add_handle(again.open("source.bin", &options).unwrap()));
    let counter = Arc::new(Counter::default());
    let target = Arc::clone(&counter);
    let beyond_the_end = iter::once(0..BYTES + (1 << 20));
    let moved = file
        .read_to(beyond_the_end, target, &Stop::new(), drop)
        .unwrap();
    file.close().unwrap();
    let arrived = counter.bytes.load(Ordering::Relaxed);
    assert_eq!((moved, arrived), (BYTES, BYTES));
    assert_eq!(*counter.end.lock().unwrap(), BYTES);

    let mut source = tempfile::tempfile().unwrap();
    source.write_all(&vec![1; BYTES as usize]).unwrap();
    let options = OpenOptions {
        disposition: Disposition::Create,
        ..OpenOptions::open(Access::ReadWrite)
    };
    let file = tree.open("target.bin", &options).unwrap();
    let local = Arc::new(Local(source));
    let moved = file
        .write_from(iter::once(0..BYTES), local, &Stop::new(), drop)
        .unwrap();
    file.close().unwrap();
    assert_eq!(moved, BYTES);
    let (given, taken) = (BYTES, BYTES);
    assert_eq!(server.tally(), Tally { given, taken });
}
