//! Confines itself as its arguments say, tries what they say, and prints how that went, for this crate's
//! tests: `confined [--keeps-user | --nobody-later] [--network] [--reads PATH] [--writes PATH] DEED [ARGUMENT]`.

use std::fs::{self, File, Permissions};
use std::io;
use std::net::UdpSocket;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::process::{Command, ExitCode};
use std::thread;

use os::sandbox::{Rules, User, confine, drop_root};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, futimens, utimensat};
use rustix::net::{AddressFamily, Protocol, SocketType, ipproto, netlink, socket};
use rustix::process::{Pid, Resource, Rlimit, prlimit};

/// The time that it is.
const NOW: Timestamps = {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_NOW,
    };
    Timestamps {
        last_access: now,
        last_modification: now,
    }
};

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "that is how a test hears of it"
)]
fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut rules = Rules::default();
    let mut deed = Vec::new();
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--keeps-user" => rules.user = User::Kept,
            "--nobody-later" => rules.user = User::UnprivilegedLater,
            "--network" => rules.network = true,
            "--reads" => rules.reads.extend(arguments.next().map(Into::into)),
            "--writes" => rules.writes.extend(arguments.next().map(Into::into)),
            _ => deed.push(word),
        }
    }
    let confined = match confine(&rules) {
        Ok(confined) => confined,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let deed: Vec<&str> = deed.iter().map(String::as_str).collect();
    match try_out(&deed) {
        Ok(text) => {
            let missing: Vec<&str> = confined.missing().iter().map(|it| it.id).collect();
            println!("{text}; missing: {missing:?}");
        }
        Err(error) => println!("{:?}", error.kind()),
    }
    ExitCode::SUCCESS
}

fn try_out(deed: &[&str]) -> io::Result<String> {
    match deed {
        ["user"] => {
            let status = fs::read_to_string("/proc/self/status")?;
            let lines = status.lines();
            let kept = lines.filter(|line| {
                ["Uid:", "Gid:", "Groups:", "CapEff:"]
                    .iter()
                    .any(|name| line.starts_with(name))
            });
            Ok(kept
                .collect::<Vec<_>>()
                .join(" ")
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "))
        }
        ["drop-root", rest @ ..] => {
            drop_root()?;
            try_out(rest)
        }
        ["read", path] => fs::read(path).map(|_| "read".to_owned()),
        ["list", path] => fs::read_dir(path).map(|_| "listed".to_owned()),
        ["write", path] => fs::write(path, "x").map(|()| "written".to_owned()),
        ["remove", path] => fs::remove_file(path).map(|()| "removed".to_owned()),
        ["run"] => Command::new("/bin/true").status().map(|_| "ran".to_owned()),
        ["socket"] => UdpSocket::bind("127.0.0.1:0").map(|_| "bound".to_owned()),
        ["service", path] => UnixStream::connect(path).map(|_| "connected".to_owned()),
        ["mode", path] => {
            fs::set_permissions(path, Permissions::from_mode(0o666)).map(|()| "mode set".to_owned())
        }
        ["mode-of-open", path, bits] => {
            let bits = u32::from_str_radix(bits, 8).map_err(io::Error::other)?;
            let file = File::open(path)?;
            file.set_permissions(Permissions::from_mode(bits))
                .map(|()| "mode set".to_owned())
        }
        ["times", path] => utimensat(CWD, *path, &NOW, AtFlags::empty())
            .map(|()| "times set".to_owned())
            .map_err(Into::into),
        ["times-of-open", path] => futimens(File::open(path)?, &NOW)
            .map(|()| "times set".to_owned())
            .map_err(Into::into),
        ["abort"] => std::process::abort(),
        ["limit", process] => {
            let process: i32 = process.parse().map_err(io::Error::other)?;
            let limit = Rlimit {
                current: Some(64),
                maximum: Some(64),
            };
            prlimit(Pid::from_raw(process), Resource::Nofile, limit)
                .map(|_| "limited".to_owned())
                .map_err(Into::into)
        }
        ["raw-socket"] => made(AddressFamily::INET, SocketType::RAW, Some(ipproto::ICMP)),
        ["packet-socket"] => made(AddressFamily::PACKET, SocketType::DGRAM, None),
        ["route-socket"] => made(AddressFamily::NETLINK, SocketType::RAW, None),
        ["audit-socket"] => made(
            AddressFamily::NETLINK,
            SocketType::RAW,
            Some(netlink::AUDIT),
        ),
        ["stream-socket"] => made(AddressFamily::INET6, SocketType::STREAM, None),
        ["abstract-service", name] => {
            let address = SocketAddr::from_abstract_name(name)?;
            UnixStream::connect_addr(&address).map(|_| "connected".to_owned())
        }
        ["thread"] => {
            let thread = thread::Builder::new().spawn(|| 7)?;
            let seven = thread
                .join()
                .map_err(|_panic| io::Error::other("it panicked"))?;
            Ok(format!("thread {seven}"))
        }
        ["resolve"] => std::net::ToSocketAddrs::to_socket_addrs("localhost:80")
            .map(|addresses| format!("{} addresses", addresses.count().min(1))),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

fn made(family: AddressFamily, kind: SocketType, protocol: Option<Protocol>) -> io::Result<String> {
    socket(family, kind, protocol)?;
    Ok("made".to_owned())
}
