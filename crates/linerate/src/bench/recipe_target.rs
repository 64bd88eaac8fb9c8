//! Where a recipe runs: a share, a folder, a disk or raw TCP.

use std::time::Duration;

use host::Host;
use locale::say;
use measure::{FarServer, Kept, Runner, Stop};
use record::{
    Credentials, Direction, FolderKind, FolderWorkload, HostLoad, KeepInput, KeepWorkload,
    Nanoseconds, Operations, Outcome, Place, Recipe, RecipeEngine, RecipeTest, ShareWorkload,
    TaskWorkload, TcpWorkload, Timing, TrialInput, Workload,
};

use super::{outcome, tcp_address};
use crate::args::PathArguments;
use crate::client_to_share_path::{self, SharePath, ends, run_served};
use crate::failure::{CommandError, Kind};
use crate::share;

/// Samples of a pass that can tell how it went on.
const SAMPLES: u32 = 10;

/// Where a recipe runs.
pub struct Target {
    /// The client.
    pub client: Host,
    /// The far end, where linerate may run commands there.
    pub server: Option<Host>,
    runner: Runner,
    credentials: Option<Credentials>,
    kind: TargetKind,
    /// As typed, without user and password.
    pub name: String,
}

enum TargetKind {
    Tcp(std::net::IpAddr, u16),
    /// With the most channels.
    Share(Box<SharePath>, u32),
    Folder(String, FolderKind),
}

impl Target {
    /// Finds it, and who logs in.
    pub fn open(
        typed: &str,
        path_arguments: &PathArguments,
        channels: Option<u32>,
        engine: RecipeEngine,
        stop: &Stop,
    ) -> Result<Self, CommandError> {
        let wants_tcp = engine == RecipeEngine::Tcp;
        let tcp = typed.strip_prefix("tcp://");
        if tcp.is_some() != wants_tcp {
            let text = say("error-plan.not-on-target").with("target", typed);
            let hint = say(match wants_tcp {
                true => "hint-plan.target-tcp",
                false => "hint-plan.target-file",
            });
            return Err(CommandError::new(Kind::Usage, text).hint(hint));
        }
        let is_share = ["smb://", "//", "\\\\"]
            .iter()
            .any(|begin| typed.starts_with(begin));
        if channels.is_some() && !is_share {
            let text = say("error-plan.no-channels").with("target", typed);
            let error = CommandError::new(Kind::Usage, text);
            return Err(error.hint(say("hint-plan.streams-or-threads")));
        }
        if is_share {
            let path = SharePath::open(share::parse(typed)?, path_arguments, stop)?;
            return Ok(Self {
                client: path.client.clone(),
                server: path.server.clone(),
                runner: path.runner.clone(),
                credentials: Some(path.credentials.clone()),
                name: path.share.address.to_string(),
                kind: TargetKind::Share(Box::new(path), channels.unwrap_or(1)),
            });
        }
        let (client, server, runner) = ends(path_arguments, stop)?;
        let kind = match tcp {
            Some(host) => {
                let (address, port) = tcp_address(&client, host)?;
                TargetKind::Tcp(address, port)
            }
            None => {
                let (folder, kind) = match typed.strip_prefix("disk:") {
                    Some(folder) => (folder, FolderKind::Disk),
                    None => (typed, FolderKind::Folder),
                };
                let folder = client_to_share_path::folder(folder, &path_arguments.client)?;
                TargetKind::Folder(folder, kind)
            }
        };
        Ok(Self {
            client,
            server,
            runner,
            credentials: None,
            kind,
            name: typed.to_owned(),
        })
    }

    /// The hosts that are known, client first.
    pub fn hosts(&self) -> Vec<&Host> {
        std::iter::once(&self.client).chain(&self.server).collect()
    }

    /// Whatever keeps us from a share is said before anything is changed, after one login: accounts are
    /// locked after some that fail.
    pub fn knock(&self, stop: &Stop) -> Result<(), CommandError> {
        match &self.kind {
            TargetKind::Share(path, _) => path.knock(stop).map(drop),
            TargetKind::Tcp(..) | TargetKind::Folder(..) => Ok(()),
        }
    }

    /// Makes the test file that all passes use.
    pub(super) fn keep(&self, recipe: &Recipe, stop: &Stop) -> Result<Option<Kept>, CommandError> {
        let Some(place) = self.place().filter(|_| recipe.needs_file()) else {
            return Ok(None);
        };
        let input = KeepInput {
            keep: KeepWorkload {
                place,
                file_size: recipe.file_size,
                data: recipe.data,
            },
            credentials: self.credentials.clone(),
        };
        Ok(Some(self.runner.keep(&input, stop)?))
    }

    /// Where files are made; none for raw TCP.
    pub(super) fn place(&self) -> Option<Place> {
        match &self.kind {
            TargetKind::Tcp(..) => None,
            TargetKind::Share(path, _) => Some(Place::Share {
                share: path.share.address.clone(),
                demands: path.demands,
            }),
            TargetKind::Folder(folder, kind) => Some(Place::Folder {
                folder: folder.clone(),
                kind: *kind,
            }),
        }
    }

    /// The most channels of a task.
    fn channels(&self) -> u32 {
        match &self.kind {
            TargetKind::Share(_, channels) => *channels,
            TargetKind::Tcp(..) | TargetKind::Folder(..) => 1,
        }
    }

    /// The workload of one pass.
    pub fn workload(
        &self,
        recipe: &Recipe,
        (test, direction): (&RecipeTest, Direction),
        file: Option<String>,
    ) -> Workload {
        let timing = timing(recipe);
        if let (Some(task), Some(place)) = (&test.task, self.place()) {
            return Workload::Task(TaskWorkload {
                place,
                second_mount: None,
                direction,
                channels: self.channels(),
                task: task.clone(),
                data: recipe.data,
                timing,
            });
        }
        let operations = Operations {
            pattern: test.pattern,
            threads: test.threads,
            opposite_percent: test.opposite_percent,
            data: recipe.data,
            cache: recipe.cache,
            write_through: recipe.write_through,
            file,
        };
        match &self.kind {
            TargetKind::Tcp(server, port) => Workload::Tcp(TcpWorkload {
                server: *server,
                port: *port,
                direction,
                streams: test.threads,
                nic: None,
                timing,
                socket: record::SocketOptions::default(),
            }),
            TargetKind::Share(path, channels) => Workload::Share(ShareWorkload {
                block: test.block,
                depth: test.depth,
                file_size: recipe.file_size,
                operations: Some(operations),
                ..path.workload(direction, *channels, timing)
            }),
            TargetKind::Folder(folder, kind) => Workload::Folder(FolderWorkload {
                folder: folder.clone(),
                kind: *kind,
                second_mount: None,
                direction,
                block: test.block,
                depth: test.depth,
                file_size: recipe.file_size,
                operations,
                timing,
            }),
        }
    }

    /// Runs one pass, and looks at what serving it costs the server, where linerate may look there; where
    /// it may start an `iperf3 -s` at the far end, it does.
    pub fn pass(&self, workload: &Workload, stop: &Stop) -> (Outcome, Option<HostLoad>) {
        let mut input = TrialInput {
            workload: workload.clone(),
            credentials: self.credentials.clone(),
        };
        let far = match (&mut input.workload, &self.server) {
            (Workload::Tcp(tcp), Some(server)) => match FarServer::start(server.exec.as_ref()) {
                Ok(far) => {
                    tcp.port = far.port();
                    Some(far)
                }
                Err(error) => return (Outcome::Failed(CommandError::from(error).into()), None),
            },
            _ => None,
        };
        let (result, load) = run_served(&self.runner, &input, self.server.as_ref(), stop);
        drop(far);
        (outcome(result), load)
    }
}

/// How long each pass of a recipe lasts.
fn timing(recipe: &Recipe) -> Timing {
    let measured = Duration::from_secs_f64(recipe.seconds);
    Timing {
        warm_up: Duration::from_secs_f64(recipe.warm_up_seconds).into(),
        measured: measured.into(),
        interval: Nanoseconds::from(measured / SAMPLES).max(Nanoseconds::new(10_000_000)),
    }
}
