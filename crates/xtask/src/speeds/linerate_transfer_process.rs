//! linerate's own engine as a program of its own: one file over as many sessions as a copy takes, in the
//! namespaces of the client, from a share to nowhere or from memory to a share.

use std::fs::{self, File};
use std::io::{self, Write};
use std::iter;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use locale::{Language, Message, say};
use serde::{Deserialize, Serialize};
use smb::{
    Access, Cipher, Disposition, EncryptionPolicy, Login, Mechanism, OpenOptions, Policy, Server,
    Session, SigningAlgorithm, SigningPolicy, Source, Stop, Target, Tree,
};

use crate::lab_and_program::Result;
use crate::speeds::workload::{Direction, FarEnd, Protection, SHARE};

/// What is to be done, as the one argument of the program.
#[derive(Serialize, Deserialize)]
pub struct Order {
    /// Which way.
    pub direction: Direction,
    /// The server's address.
    pub server: String,
    /// Who answers there.
    pub far_end: FarEnd,
    /// Channels that each session must use, no more and no less.
    pub channels: usize,
    /// Sessions.
    pub sessions: usize,
    /// What protects the data.
    pub protection: Protection,
    /// Name of the file on the share.
    pub remote: String,
    /// The file at our end: what is sent, or where what is received goes.
    pub local: String,
}

/// What was done, as the program's output.
#[derive(Serialize, Deserialize)]
pub struct Done {
    /// Payload that was moved.
    pub bytes: u64,
    /// How long it took, from before the file was opened until after it was closed.
    pub seconds: f64,
}

/// Does it.
pub fn run(order: &str) -> Result<Done> {
    let order: Order = serde_json::from_str(order)?;
    let session = connect(&order)?;
    let tree = session.tree(SHARE)?;
    let begin = Instant::now();
    let mut beside = Vec::new();
    for _ in 1..order.sessions {
        beside.push(Session::open_parallel(&tree)?);
    }
    let trees = iter::once(&tree).chain(beside.iter().map(|(_, tree)| tree));
    let bytes = match order.direction {
        Direction::Read => read(trees, &order)?,
        Direction::Write => write(trees, &order)?,
    };
    let seconds = begin.elapsed().as_secs_f64();
    let idle = session
        .channels()
        .iter()
        .any(|it| it.bytes_received + it.bytes_sent == 0);
    if idle || session.channels().len() != order.channels * order.sessions {
        return Err(format!("not all channels were used: {:?}", session.channels()).into());
    }
    Ok(Done { bytes, seconds })
}

fn connect(order: &Order) -> Result<Session> {
    let signing = match order.protection {
        Protection::Nothing => SigningPolicy::IfRequired,
        Protection::Gmac => SigningPolicy::Required,
        Protection::Gcm => SigningPolicy::IfRequired,
    };
    let encryption = match order.protection {
        Protection::Gcm => EncryptionPolicy::Required,
        Protection::Nothing | Protection::Gmac => EncryptionPolicy::IfRequired,
    };
    let policy = Policy {
        signing,
        encryption,
        ..Policy::default()
    };
    let server = Server {
        name: order.server.clone(),
        port: order.far_end.port(),
    };
    let login = match order.far_end {
        FarEnd::Samba => user()?,
        FarEnd::Null => Login::Anonymous,
    };
    let session = Session::connect(&server, None, &login, &policy)?;
    if order.channels > 1 {
        let rejected = session.add_channels(order.channels, &smb::local_nics()?);
        if session.channels().len() != order.channels {
            let reasons = rejected.iter().map(|one| Language::English.say(one));
            let reasons = reasons.collect::<Vec<_>>().join("; ");
            return Err(format!("channels were refused: {reasons}").into());
        }
    }
    let agreed = session.negotiated().ok_or("nothing was negotiated")?;
    let as_asked = match order.protection {
        Protection::Nothing => !agreed.signing && !agreed.encryption,
        Protection::Gmac => agreed.signing && agreed.signing_algorithm == SigningAlgorithm::AesGmac,
        Protection::Gcm => agreed.encryption && agreed.cipher == Some(Cipher::Aes128Gcm),
    };
    if as_asked {
        Ok(session)
    } else {
        Err(format!("protected otherwise: {agreed:?}").into())
    }
}

/// Who logs in to the lab's shares.
pub struct Credentials {
    /// The user's name.
    pub user: String,
    /// Its password.
    pub password: String,
}

/// Reads the lab's credentials.
pub fn credentials(path: &Path) -> Result<Credentials> {
    let text = fs::read_to_string(path)?;
    let value = |name: &str| -> Result<String> {
        let lines = text.lines().filter_map(|line| line.split_once('='));
        let mut values = lines
            .filter(|(key, _)| key.trim() == name)
            .map(|(_, value)| value);
        let value = values
            .next()
            .ok_or_else(|| format!("the credentials have no {name}"))?;
        Ok(value.trim().to_owned())
    };
    Ok(Credentials {
        user: value("username")?,
        password: value("password")?,
    })
}

fn user() -> Result<Login> {
    let Credentials { user, password } = credentials(Path::new(lab::CREDENTIALS_IN_HOST))?;
    Ok(Login::User {
        user,
        domain: String::new(),
        password: password.into(),
        mechanism: Mechanism::Ntlm,
    })
}

/// The file at our end.
struct Local(File);

impl Target for Local {
    /// Writes what it reads to a file, as the other programs do, in whatever order it comes: the
    /// file is `/dev/null`.
    fn put(&self, _: u64, bytes: &[u8]) -> std::result::Result<(), smb::Error> {
        (&self.0)
            .write_all(bytes)
            .map_err(|error| failed(say("error-smb.cannot-write"), error))
    }
}

impl Source for Local {
    fn fill(&self, offset: u64, room: &mut [u8]) -> std::result::Result<(), smb::Error> {
        let read = self.0.read_exact_at(room, offset);
        read.map_err(|error| failed(say("error-smb.cannot-read"), error))
    }

    fn file(&self) -> Option<&File> {
        Some(&self.0)
    }
}

fn failed(action: Message, source: io::Error) -> smb::Error {
    smb::Error::LocalFile {
        action,
        path: "the file at our end".into(),
        source,
    }
}

/// The first session makes the file, if it is made, and the others open it.
fn open<'a>(
    mut trees: impl Iterator<Item = &'a Tree>,
    order: &Order,
    options: &OpenOptions,
) -> Result<smb::File> {
    let options = OpenOptions {
        sequential: true,
        disk_id: true,
        ..options.clone()
    };
    let first = trees.next().ok_or("no session")?;
    let mut file = first.open(&order.remote, &options)?;
    let again = OpenOptions {
        disposition: Disposition::Open,
        ..options
    };
    for tree in trees {
        if !file.add_handle(tree.open(&order.remote, &again)?) {
            return Err("another session found another file".into());
        }
    }
    Ok(file)
}

fn read<'a>(trees: impl Iterator<Item = &'a Tree>, order: &Order) -> Result<u64> {
    let nowhere = Local(File::options().write(true).open(&order.local)?);
    let file = open(trees, order, &OpenOptions::open(Access::Read))?;
    let size = file.created().size;
    let moved = file.read_to(iter::once(0..size), Arc::new(nowhere), &Stop::new(), drop)?;
    file.close()?;
    Ok(moved)
}

fn write<'a>(trees: impl Iterator<Item = &'a Tree>, order: &Order) -> Result<u64> {
    let source = File::open(&order.local)?;
    let size = source.metadata()?.len();
    let options = OpenOptions {
        disposition: Disposition::Create,
        ..OpenOptions::open(Access::ReadWrite)
    };
    let file = open(trees, order, &options)?;
    let ranges = iter::once(0..size);
    let moved = file.write_from(ranges, Arc::new(Local(source)), &Stop::new(), drop)?;
    file.close()?;
    Ok(moved)
}
