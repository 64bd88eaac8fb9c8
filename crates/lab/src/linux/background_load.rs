//! What goes on in a lab all of the time: other traffic, a server that stops and goes on, programs that
//! take processor time. All of it is threads of the supervisor and processes of the lab's hosts, so it
//! ends with them.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use host::exec::{Command, Exec, Process};
use locale::say;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::namespace_exec::{self, Namespace};
use super::namespace_holder::Node;
use crate::{Effect, Error, Topology, Traffic};

/// Bytes that traffic sends at once, so the shortest burst of it.
const BLOCK_BYTES: u32 = 64 << 10;
/// How far behind its rate a sender may make up for, when it could not send for a while.
const BEHIND_MAX: Duration = Duration::from_millis(5);
/// How long a connection of traffic may take, and the pause until the next one.
const CONNECT_LIMIT: Duration = Duration::from_secs(3);
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// How often the processes of a server are looked for.
const SEARCH_INTERVAL: Duration = Duration::from_millis(250);
/// What the processes of Samba are named like.
const SERVER: &str = "smbd";
/// A program that takes all the processor time it gets.
const BUSY: [&str; 4] = ["dd", "if=/dev/zero", "of=/dev/null", "bs=64k"];

/// Starts what the faults of a topology ask for, and gives the processes of it.
pub(crate) fn start(topology: &Topology, nodes: &[Node]) -> Result<Vec<Process>, Error> {
    let mut processes = Vec::new();
    for fault in &topology.faults {
        let Some(node) = nodes.iter().find(|node| node.name == fault.node) else {
            continue;
        };
        match &fault.effect {
            Effect::Traffic(traffic) => send(traffic, topology, node, nodes)?,
            Effect::Stops {
                per_second,
                percent,
            } => {
                let period = Duration::from_secs(1) / *per_second;
                let stopped = period * *percent / 100;
                let number = node.namespace.number();
                thread::spawn(move || stop_and_go(number, stopped, period.saturating_sub(stopped)));
            }
            Effect::Busy { processes: count } => {
                for _ in 0..*count {
                    let started = node.namespace.spawn(&Command::new(BUSY));
                    let failed = Error::running(say("error-lab.keep-busy"), node.name.as_str());
                    processes.push(started.map_err(failed)?);
                }
            }
            _ => {}
        }
    }
    Ok(processes)
}

/// Starts a taker on the host that has the address, and a sender on `from`.
fn send(traffic: &Traffic, topology: &Topology, from: &Node, nodes: &[Node]) -> Result<(), Error> {
    let ends = topology.links.iter().flat_map(|link| &link.ends);
    let mut ends = ends.filter(|end| end.address.is_some_and(|address| address.ip == traffic.to));
    let taker = ends.next().map(|end| &end.node);
    let taker = nodes.iter().find(|node| Some(&node.name) == taker);
    let listening = taker.map_or(Err(io::ErrorKind::NotFound.into()), |taker| {
        let listen = || TcpListener::bind((traffic.to, 0));
        let listener = taker.namespace.in_network(listen)?;
        let address = listener.local_addr()?;
        thread::spawn(move || take_all(&listener));
        Ok(address)
    });
    let address = listening.map_err(|source| Error::System {
        action: say("error-lab.listen-for-traffic"),
        subject: traffic.to.to_string().into(),
        source,
    })?;
    let (namespace, traffic) = (from.namespace.clone(), traffic.clone());
    thread::spawn(move || send_on(&namespace, address, &traffic));
    Ok(())
}

fn take_all(listener: &TcpListener) {
    for connection in listener.incoming().flatten() {
        thread::spawn(move || take(connection));
    }
}

fn take(mut connection: TcpStream) {
    let mut block = vec![0; 4 * BLOCK_BYTES as usize];
    while connection.read(&mut block).is_ok_and(|length| length > 0) {}
}

/// Sends for ever, over a new connection when one breaks.
fn send_on(namespace: &Namespace, to: SocketAddr, traffic: &Traffic) {
    loop {
        let connect = || TcpStream::connect_timeout(&to, CONNECT_LIMIT);
        if let Ok(connection) = namespace.in_network(connect) {
            // It ends when the connection breaks, and only then.
            pour(connection, traffic).ok();
        }
        thread::sleep(RETRY_PAUSE);
    }
}

fn pour(mut connection: TcpStream, traffic: &Traffic) -> io::Result<()> {
    let block = vec![0; BLOCK_BYTES as usize];
    let bits = 8.0 * f64::from(BLOCK_BYTES);
    let apart = traffic.rate.map(|rate| {
        #[expect(clippy::cast_precision_loss, reason = "rates are below 2^52")]
        Duration::from_secs_f64(bits / rate.get() as f64)
    });
    let began = Instant::now();
    let mut due = began;
    loop {
        if let Some(rest) = traffic.turns.and_then(|turns| rest(began.elapsed(), turns)) {
            thread::sleep(rest);
            due = Instant::now();
        }
        connection.write_all(&block)?;
        if let Some(apart) = apart {
            due += apart;
            let now = Instant::now();
            thread::sleep(due.saturating_duration_since(now));
            due = due.max(now.checked_sub(BEHIND_MAX).unwrap_or(now));
        }
    }
}

/// How long a sender rests now, if it does.
fn rest(elapsed: Duration, (on, off): (Duration, Duration)) -> Option<Duration> {
    let turn = on + off;
    let into = elapsed.as_nanos() % turn.as_nanos().max(1);
    let left = turn.as_nanos().saturating_sub(into);
    let left = u64::try_from(left).map_or(off, Duration::from_nanos);
    (into >= on.as_nanos()).then_some(left)
}

/// Stops the server's processes and lets them go on, for ever.
fn stop_and_go(namespace: u64, stopped: Duration, going: Duration) {
    let mut server = Vec::new();
    let mut searched: Option<Instant> = None;
    loop {
        if searched.is_none_or(|at| at.elapsed() > SEARCH_INTERVAL) {
            server = processes_of_server(namespace);
            searched = Some(Instant::now());
        }
        for (signal, pause) in [(Signal::STOP, stopped), (Signal::CONT, going)] {
            for process in &server {
                // One that has ended cannot be stopped.
                pidfd_send_signal(process, signal).ok();
            }
            thread::sleep(pause);
        }
    }
}

/// Grips on the server's processes. What a process is, is looked at once there is a grip on it, so that
/// no other process is ever stopped that got its number.
fn processes_of_server(namespace: u64) -> Vec<OwnedFd> {
    let found = namespace_exec::processes_in(&[namespace]).unwrap_or_default();
    let grip = |number: u32| {
        let pid = i32::try_from(number).ok().and_then(Pid::from_raw)?;
        let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        let name = fs::read_to_string(format!("/proc/{number}/comm")).ok()?;
        let still = namespace_exec::is_in(number, &[namespace]);
        (still && name.starts_with(SERVER)).then_some(process)
    };
    found.into_iter().filter_map(grip).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_rests_in_the_second_part_of_each_turn() {
        let ms = Duration::from_millis;
        let turns = (ms(300), ms(700));
        assert_eq!(rest(ms(0), turns), None);
        assert_eq!(rest(ms(299), turns), None);
        assert_eq!(rest(ms(300), turns), Some(ms(700)));
        assert_eq!(rest(ms(1999), turns), Some(ms(1)));
        assert_eq!(rest(ms(2000), turns), None);
    }
}
