//! Confines itself as its arguments say, tries what they say, and prints how that went, for this crate's
//! tests: `confined [--keeps-user] [--network] [--reads PATH] [--writes PATH] DEED [ARGUMENT]`.

use std::fs;
use std::io;
use std::net::UdpSocket;
use std::process::{Command, ExitCode};
use std::thread;

use os::sandbox::{Rules, confine};

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
            "--keeps-user" => rules.keeps_user = true,
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
        Ok(text) => println!("{text}; missing: {:?}", confined.missing()),
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
        ["read", path] => fs::read(path).map(|_| "read".to_owned()),
        ["list", path] => fs::read_dir(path).map(|_| "listed".to_owned()),
        ["write", path] => fs::write(path, "x").map(|()| "written".to_owned()),
        ["remove", path] => fs::remove_file(path).map(|()| "removed".to_owned()),
        ["run"] => Command::new("/bin/true").status().map(|_| "ran".to_owned()),
        ["socket"] => UdpSocket::bind("127.0.0.1:0").map(|_| "bound".to_owned()),
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
