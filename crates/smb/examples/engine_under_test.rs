//! The engine as a program, so that its build for another system can be tried: it does one job on a share and says in a line
//! of JSON what came of it. The password is in the variable `LINERATE_PASSWORD`.

use std::env;
use std::error::Error;
use std::io::{self, Write as _};
use std::iter;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use smb::copy::{self, Existing, Job, Options, Place, Progress};
use smb::{
    Access, Disposition, Login, Mechanism, OpenOptions, Policy, Server, Session, Stop, Tree,
    local_nics,
};

#[path = "../tests/system/byte_pattern.rs"]
mod byte_pattern;

/// Which file the bytes are of.
const SEED: u64 = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let said = match arguments[..] {
        ["nics"] => nics()?,
        [server, share, user, channels, "write", name, bytes] => {
            let session = connect(server, user, channels.parse()?)?;
            transfer(&session, &session.tree(share)?, name, bytes.parse()?, true)?
        }
        [server, share, user, channels, "read", name, bytes] => {
            let session = connect(server, user, channels.parse()?)?;
            transfer(&session, &session.tree(share)?, name, bytes.parse()?, false)?
        }
        [server, share, user, channels, "upload", folder, path] => {
            let session = connect(server, user, channels.parse()?)?;
            let tree = session.tree(share)?;
            let path = path.to_owned();
            copied(
                Place::local(Path::new(folder))?,
                Place::Share { tree, path },
            )
        }
        [server, share, user, channels, "download", path, folder] => {
            let session = connect(server, user, channels.parse()?)?;
            let tree = session.tree(share)?;
            let path = path.to_owned();
            copied(
                Place::Share { tree, path },
                Place::local(Path::new(folder))?,
            )
        }
        _ => return Err("SERVER SHARE USER CHANNELS JOB FROM TO, or nics".into()),
    };
    Ok(writeln!(io::stdout(), "{said}")?)
}

fn nics() -> Result<Value, smb::Error> {
    let nics = local_nics()?.into_iter().map(|nic| {
        let addresses = nic.addresses.iter();
        let addresses: Vec<String> = addresses
            .map(|found| format!("{}/{}", found.address, found.prefix_length))
            .collect();
        json!({ "name": nic.name, "addresses": addresses, "speed": nic.speed_bits_per_second })
    });
    Ok(nics.collect())
}

fn connect(server: &str, user: &str, channels: usize) -> Result<Session, Box<dyn Error>> {
    let server = Server {
        name: server.to_owned(),
        port: 445,
    };
    let login = Login::User {
        user: user.to_owned(),
        domain: String::new(),
        password: env::var("LINERATE_PASSWORD")?.into(),
        mechanism: Mechanism::Automatic,
    };
    let session = Session::connect(&server, None, &login, &Policy::default())?;
    session.add_channels(channels, &local_nics()?);
    Ok(session)
}

/// Writes a file, or reads it and looks at each byte.
fn transfer(
    session: &Session,
    tree: &Tree,
    name: &str,
    bytes: u64,
    writes: bool,
) -> Result<Value, Box<dyn Error>> {
    let stop = Stop::new();
    let begun = Instant::now();
    if writes {
        let options = OpenOptions {
            disposition: Disposition::CreateOrTruncate,
            ..OpenOptions::open(Access::Write)
        };
        let file = tree.open(name, &options)?;
        file.write_ranges(iter::once(0..bytes), &stop, |offset, room| {
            byte_pattern::fill(SEED, offset, room);
            Ok(())
        })?;
        file.close()?;
    } else {
        let file = tree.open(name, &OpenOptions::open(Access::Read))?;
        let mut seen = 0;
        for piece in file.read_ranges(iter::once(0..bytes), &stop) {
            let piece = piece?;
            if let Some(at) = byte_pattern::difference(SEED, piece.offset, piece.payload.bytes()) {
                return Err(format!("byte {at} is another one").into());
            }
            seen += piece.payload.len() as u64;
        }
        if seen != bytes {
            return Err(format!("{seen} bytes of {bytes}").into());
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let channels = session.channels().into_iter().map(|channel| {
        json!({
            "local": channel.local.ip(),
            "nic": channel.nic,
            "sent": channel.bytes_sent,
            "received": channel.bytes_received,
            "knows_tcp": channel.tcp.is_some(),
        })
    });
    let channels: Vec<Value> = channels.collect();
    Ok(json!({ "bytes": bytes, "seconds": seconds, "channels": channels }))
}

/// Copies what is in a folder, and goes on with what an earlier run has left.
fn copied(from: Place, to: Place) -> Value {
    let job = Job {
        sources: vec![copy::Source {
            place: from,
            content: true,
            name: None,
        }],
        destination: to,
        into: true,
        options: Options {
            existing: Existing::Update,
            resume: true,
            ..Options::default()
        },
    };
    let begun = Instant::now();
    let summary = copy::run(&job, &Progress::default(), &Stop::new(), &|_| {});
    let failures = summary.failures.iter();
    let failures: Vec<String> = failures
        .map(|failure| format!("{}: {}", failure.path, failure.error))
        .collect();
    json!({
        "seconds": begun.elapsed().as_secs_f64(),
        "files": summary.files,
        "bytes": summary.bytes,
        "folders": summary.folders,
        "unchanged": summary.unchanged,
        "resumed_bytes": summary.resumed_bytes,
        "failed": summary.failed,
        "failures": failures,
    })
}
