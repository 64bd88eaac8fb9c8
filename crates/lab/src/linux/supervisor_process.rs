//! The supervisor: the process that a lab is. All of a lab ends with it, however it ends.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::net::UnixListener;
use std::process;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use host::exec::Process;
use locale::say;
use record::Failure;
use rustix::fs::Mode;
use serde::{Deserialize, Serialize};

use super::background_load;
use super::cgroup_limits::{self, Limits};
use super::namespace_holder::{self, Node};
use super::samba;
use super::share_user::Account;
use super::supervisor_event::Event;
use super::supervisor_socket::{self, Answer, Description, NodeDescription, Question};
use super::veth_links::{self, Shaper};
use crate::topology::FILE_BYTES_MAX;
use crate::{Error, Topology};

/// Most troubles that are remembered.
const TROUBLES_MAX: usize = 8;

/// The one line that a supervisor writes to its standard output.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    /// The lab is up.
    Up,
    /// It could not come up.
    Failed(Failure),
}

type Shared = Arc<Mutex<Option<Description>>>;

/// Runs a lab until somebody ends it or one of its hosts is lost. This is the whole life of the
/// process that [`up`](crate::up) starts, to be called on its main thread: it reads the topology
/// from standard input, says on standard output how it went, and then keeps neither of them.
///
/// # Errors
/// When the lab cannot come up. It has been said on standard output already.
pub fn supervise(name: &str) -> Result<(), Error> {
    // No lock and no pipe of whoever started it lives as long as the lab.
    os::sandbox::close_inherited().map_err(|source| Error::System {
        action: say("error-lab.close-inherited"),
        subject: name.into(),
        source,
    })?;
    let (sender, events) = mpsc::channel();
    let started = Supervised::start(name, sender);
    let report = match &started {
        Ok(_) => Report::Up,
        Err(error) => Report::Failed(error.to_failure()),
    };
    let reported = supervisor_socket::write_line(io::stdout(), &report);
    let lab = started?;
    // Whoever wanted the lab is gone when nobody reads that.
    let reported = reported.and_then(|()| forget_standard_streams());
    reported.map_err(|source| Error::System {
        action: say("error-lab.report"),
        subject: name.into(),
        source,
    })?;
    lab.watch(&events);
    Ok(())
}

/// A running lab. Fields are dropped in this order: the hosts with all that runs in them, and then
/// the process out here that waits for the server in there. The other way round, the server would
/// become a child of the machine's first process, and its host would wait for that to reap it.
struct Supervised {
    _nodes: Vec<Node>,
    _server: Option<samba::Server>,
    /// Programs that faults keep running.
    _busy: Vec<Process>,
    /// Last: a group goes only when nobody is in it.
    _limits: Limits,
    shaper: Shaper,
    description: Shared,
}

impl Supervised {
    fn start(name: &str, sender: Sender<Event>) -> Result<Self, Error> {
        let topology = read_topology(name)?;
        env::set_current_dir("/").map_err(|source| Error::System {
            action: say("error-lab.leave-folder"),
            subject: name.into(),
            source,
        })?;
        rustix::process::umask(Mode::from_raw_mode(0o022));

        let listener = supervisor_socket::listen(name)?;
        let description = Shared::default();
        let (shared, events) = (Arc::clone(&description), sender.clone());
        thread::spawn(move || serve(&listener, &shared, &events));

        let account = Account::random(&topology)?;
        let limits = Limits::prepare(name, &topology)?;
        let mut nodes = Vec::new();
        let switches = topology.switches.iter().map(|switch| &switch.name);
        for node in topology.hosts.iter().chain(switches) {
            let prefix = cgroup_limits::prefix(name, node, &topology);
            let node = Node::start(node, &prefix, &sender)?;
            node.isolate()?;
            if topology.hosts.contains(&node.name) {
                node.furnish(&topology, &account)?;
                for line in cgroup_limits::show(&node.name, &topology) {
                    node.run(
                        say("error-lab.show-group"),
                        &[namespace_holder::words(&line)],
                    )?;
                }
            }
            nodes.push(node);
        }
        veth_links::connect(&topology, &nodes)?;
        let shaper = Shaper::start(&topology, &nodes, &sender)?;
        let server = samba::start(name, &topology, &nodes, &account)?;
        for (number, fault) in topology.faults.iter().enumerate() {
            let node = nodes.iter().find(|node| node.name == fault.node);
            if let Some(node) = node {
                let commands = fault.effect.commands(number);
                node.run(say("error-lab.inject-fault"), &commands)?;
            }
        }
        Limits::apply(name, &topology)?;
        if let Some(server) = &server {
            server.slow_down();
        }
        let busy = background_load::start(&topology, &nodes)?;
        let up = describe(topology.text().to_owned(), &nodes);
        *description.lock().unwrap_or_else(PoisonError::into_inner) = Some(up);
        Ok(Self {
            _nodes: nodes,
            _server: server,
            _busy: busy,
            _limits: limits,
            shaper,
            description,
        })
    }

    fn watch(mut self, events: &Receiver<Event>) {
        // The channel cannot close: the thread that serves has one end of it.
        for event in events {
            match event {
                Event::Stop | Event::Lost => return,
                Event::LinksMoved => {
                    if let Err(error) = self.shaper.adjust() {
                        self.note(&error);
                    }
                }
            }
        }
    }

    fn note(&self, error: &Error) {
        let mut description = self
            .description
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(description) = description.as_mut() {
            description.troubles.truncate(TROUBLES_MAX - 1);
            let trouble = error.to_failure().chain.join(": ");
            description.troubles.insert(0, trouble);
        }
    }
}

/// What the lab shall be, from standard input.
fn read_topology(name: &str) -> Result<Topology, Error> {
    let mut text = String::new();
    let mut input = io::stdin().lock().take(FILE_BYTES_MAX);
    let read = input.read_to_string(&mut text);
    read.map_err(|source| Error::System {
        action: say("error-lab.read-topology-of"),
        subject: name.into(),
        source,
    })?;
    Topology::parse(&text)
}

fn describe(topology: String, nodes: &[Node]) -> Description {
    let node = |node: &Node| NodeDescription {
        name: node.name.clone(),
        holder: node.namespace.holder(),
        process_namespace: node.namespace.number(),
    };
    Description {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        topology,
        supervisor: process::id(),
        nodes: nodes.iter().map(node).collect(),
        troubles: Vec::new(),
    }
}

/// Answers questions, one at a time, until the process ends.
fn serve(listener: &UnixListener, description: &Shared, events: &Sender<Event>) {
    // Connections of those who wait for the end stay open until the kernel closes them.
    let mut waiting = Vec::new();
    loop {
        // Somebody who may not ask, or asks nonsense, gets no answer.
        let Ok((question, stream)) = supervisor_socket::next_question(listener) else {
            continue;
        };
        let answer = match question {
            Question::Stop => Answer::Stopping,
            Question::Describe => {
                let description = description.lock().unwrap_or_else(PoisonError::into_inner);
                description.clone().map_or(Answer::Starting, Answer::Up)
            }
        };
        let answered = supervisor_socket::answer(&stream, &answer);
        if matches!(question, Question::Stop) && answered.is_ok() {
            waiting.push(stream);
            if events.send(Event::Stop).is_err() {
                return;
            }
        }
    }
}

/// Lets go of what we were started with, so that nobody waits for the end of our output.
fn forget_standard_streams() -> io::Result<()> {
    let null = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}
