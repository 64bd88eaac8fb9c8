//! A trial in a process without rights: it parses what servers say, and has nothing that a server could want.
//!
//! The process that was asked for the trial starts itself again, gives the new one the trial without its
//! password over a socket, makes the tokens of its logins ([`smb::serve_tokens`]), and waits for its end.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::Command;

use locale::say;
use os::sandbox::{Confined, Rules, Socket, User, can_work_here, close_inherited, confine};
use record::{Enforced, Identity, Sandbox};
use smb::{Broker, Login, serve_tokens};

use crate::error::login_hint;
use crate::scratch_folder::ScratchFolder;
use crate::trial_process::input::{Input, read_input};
use crate::trial_process::performer::{Failed, Performer, Watched, fail, perform, when_ended};
use crate::{Error, second_mount, share_workload};

/// How to start the process that works without rights.
#[derive(Clone, Debug)]
pub struct Worker {
    /// The program, which then calls [`worker_main`].
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Names of the variables that it gets of the environment. Others may hold a password.
    pub environment: Vec<String>,
}

fn system(id: &'static str) -> impl Fn(io::Error) -> Error {
    move |source| Error::System {
        action: say(id),
        source,
    }
}

impl Worker {
    pub(crate) fn run(
        &self,
        input: &Input,
        stdin: impl Read + Send + 'static,
        orphaned: impl FnOnce() + Send + 'static,
    ) -> Result<Result<(), Failed>, Error> {
        let (mut ours, theirs) = Socket::pair().map_err(system("error-measure.worker-socket"))?;
        let kept = self.environment.iter();
        let kept = kept.filter_map(|name| Some((name, std::env::var_os(name)?)));
        let watched = Watched::new(input);
        hang_up_at_end(stdin, &ours, watched.clone(), orphaned)?;
        let login = share_workload::login(input.credentials());
        // The process that this thread starts sees it as well.
        if let Some(mount) = input.second_mount() {
            second_mount::mount(mount, &login, watched.stop())?;
        }
        // Gone with this, once the process is.
        let near = input.near(watched.stop())?;
        let mut process = Command::new(&self.program);
        if let Some(entrance) = near
            .as_ref()
            .map(ScratchFolder::give)
            .transpose()?
            .flatten()
        {
            process.current_dir(entrance);
        }
        let mut process = process
            .args(&self.arguments)
            .env_clear()
            .envs(kept)
            .stdin(theirs)
            .spawn()
            .map_err(system("error-measure.start-worker"))?;
        let given = input.for_worker().to_line();
        let given = given.and_then(|line| ours.write_all(&line));
        given.map_err(system("error-measure.instruct-worker"))?;
        let heard = ours
            .try_clone()
            .map_err(system("error-measure.watch-worker"))?;
        serve_tokens(&login, input.server(), heard, &mut ours, &login_hint).ok();
        // A process that asked nonsense gets no answer, and must not wait for one.
        ours.hang_up();
        let status = process
            .wait()
            .map_err(system("error-measure.await-worker"))?;
        drop(near);
        watched.finish();
        match status.code().map(u8::try_from) {
            Some(Ok(0)) => Ok(Ok(())),
            Some(Ok(code)) => Ok(Err(Failed::Status(code))),
            _ => Err(Error::System {
                action: say("error-measure.worker-end"),
                source: io::Error::other(status.to_string()),
            }),
        }
    }
}

/// Ends the conversation with a worker, and what is under way here, when the caller is gone.
fn hang_up_at_end(
    stdin: impl Read + Send + 'static,
    worker: &Socket,
    watched: Watched,
    orphaned: impl FnOnce() + Send + 'static,
) -> Result<(), Error> {
    let worker = worker
        .try_clone()
        .map_err(system("error-measure.watch-worker"))?;
    when_ended(stdin, move || {
        // It sees that, tidies up and ends. Where it does not, we go first.
        worker.hang_up();
        watched.abandoned(orphaned);
    })
}

/// What the process does that [`Worker`] starts: standard input is a socket, standard output has the
/// trial's lines.
///
/// # Errors
/// The failure was written to `stdout` already.
pub fn worker_main(
    mut stdout: impl Write,
    orphaned: impl FnOnce() + Send + 'static,
) -> Result<(), Failed> {
    if let Err(error) = close_inherited() {
        return fail(&mut stdout, &system("error-measure.close-inherited")(error));
    }
    let mut socket = match Socket::inherited() {
        Ok(socket) => socket,
        Err(error) => return fail(&mut stdout, &system("error-measure.take-socket")(error)),
    };
    let begun = begin(&mut socket, &mut stdout, orphaned);
    begun.unwrap_or_else(|error| fail(&mut stdout, &error))
}

fn begin(
    socket: &mut Socket,
    stdout: &mut impl Write,
    orphaned: impl FnOnce() + Send + 'static,
) -> Result<Result<(), Failed>, Error> {
    let input = read_input(socket)?;
    let near = input.given()?;
    let given = near.as_ref().and_then(ScratchFolder::local);
    let folder = input.folder();
    // Where there are no owners, root stays root.
    let is_given =
        given.is_none() || can_work_here().map_err(system("error-measure.look-at-folder"))?;
    let rules = Rules {
        user: match folder.is_none() && is_given {
            true => User::Unprivileged,
            false => User::Kept,
        },
        network: folder.is_none(),
        keyrings: false,
        reads: Vec::new(),
        writes: (given.into_iter().chain(folder))
            .map(Path::to_owned)
            .collect(),
    };
    let confined = confine(&rules).map_err(system("error-measure.give-up-rights"))?;
    let ends = || {
        socket
            .try_clone()
            .map_err(system("error-measure.take-socket"))
    };
    let watched = Watched::new(&input);
    let gone = {
        let watched = watched.clone();
        move || watched.abandoned(orphaned)
    };
    let (identity, user) = match input.credentials() {
        Some(found) => (found.identity, found.user.clone()),
        None => (Identity::Anonymous, String::new()),
    };
    let identity = match identity {
        Identity::User => smb::Identity::User,
        Identity::Guest => smb::Identity::Guest,
        Identity::Anonymous => smb::Identity::Anonymous,
    };
    let broker = Broker::start(identity, user, ends()?, ends()?, gone);
    let login = match (
        identity,
        broker.map_err(system("error-measure.start-thread"))?,
    ) {
        (smb::Identity::Anonymous, _) => Login::Anonymous,
        (_, broker) => Login::Brokered(broker),
    };
    let by = Performer {
        login: &login,
        near: near.as_ref(),
        sandbox: Some(recorded(confined)),
    };
    Ok(perform(&input, &by, stdout, &watched))
}

fn recorded(confined: Confined) -> Sandbox {
    Sandbox {
        unprivileged: confined.unprivileged,
        files: match confined.files {
            os::sandbox::Enforced::Fully => Enforced::Fully,
            os::sandbox::Enforced::Partly => Enforced::Partly,
            os::sandbox::Enforced::No => Enforced::No,
        },
        system_calls: confined.system_calls,
    }
}
