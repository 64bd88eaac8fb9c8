//! Where a recipe runs: a share, a folder, a disk or raw TCP.

use std::net::IpAddr;
use std::time::Duration;

use analysis::same_mount;
use host::Host;
use locale::{Message, say};
use measure::{FarServer, Kept, Runner, Stop};
use record::{
    Credentials, Direction, FolderKind, FolderWorkload, HostLoad, KeepInput, KeepWorkload,
    Nanoseconds, Operations, Outcome, Place, Recipe, RecipeEngine, RecipeTest, SecondMount,
    ShareWorkload, TaskWorkload, TcpWorkload, Timing, TrialInput, Workload,
};

use super::{outcome, tcp_address};
use crate::args::{PathArguments, Through};
use crate::client_to_share_path::{self, SharePath, ends, run_served};
use crate::failure::{CommandError, Kind};
use crate::mounted_share;
use crate::share::{self, Mounted};

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
    Tcp(IpAddr, u16),
    /// With the most channels.
    Share(Box<SharePath>, u32),
    Folder(String, FolderKind),
    /// A mount of a share, which every trial mounts once more for itself.
    Mount(Box<SharePath>, Mounted),
}

/// What a person says of where a recipe runs.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// A share, a folder, a disk or raw TCP, as typed.
    pub typed: &'a str,
    /// The hosts, and who logs in.
    pub path: &'a PathArguments,
    /// The most channels of a share.
    pub channels: Option<u32>,
    /// What runs it.
    pub engine: RecipeEngine,
    /// Which other client of a share measures.
    pub through: Option<Through>,
    /// The address of the server that a run began with, where it has several.
    pub address: Option<IpAddr>,
}

impl<'a> Wanted<'a> {
    /// A target without channels, measured by linerate's own client.
    pub const fn of(typed: &'a str, path: &'a PathArguments, engine: RecipeEngine) -> Self {
        Self {
            typed,
            path,
            channels: None,
            engine,
            through: None,
            address: None,
        }
    }

    /// Whether it is named as a share, where what is asked for fits together.
    fn check(&self) -> Result<bool, CommandError> {
        let typed = self.typed;
        let wants_tcp = self.engine == RecipeEngine::Tcp;
        let usage = |text| CommandError::new(Kind::Usage, text);
        if typed.starts_with("tcp://") != wants_tcp {
            let error = usage(say("error-plan.not-on-target").with("target", typed));
            return Err(error.hint(say(match wants_tcp {
                true => "hint-plan.target-tcp",
                false => "hint-plan.target-file",
            })));
        }
        let is_share = share::is_share_address(typed);
        match (self.through, self.channels) {
            (Some(_), _) if wants_tcp => Err(usage(say("error-plan.through-tcp"))),
            (Some(_), Some(_)) => {
                let error = usage(say("error-plan.channels-of-mount"));
                Err(error.hint(say("hint-plan.max-channels")))
            }
            (None, Some(_)) if !is_share => {
                let error = usage(say("error-plan.no-channels").with("target", typed));
                Err(error.hint(say("hint-plan.streams-or-threads")))
            }
            _ => Ok(is_share),
        }
    }
}

impl Target {
    /// Finds it, and who logs in.
    pub fn open(wanted: Wanted<'_>, stop: &Stop) -> Result<Self, CommandError> {
        let Wanted {
            typed,
            path: path_arguments,
            channels,
            through,
            ..
        } = wanted;
        let is_share = wanted.check()?;
        if let Some(Through::System) = through {
            return Self::through_system(wanted, stop);
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
        let kind = match typed.strip_prefix("tcp://") {
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
            // Whoever takes it up again may be in another folder.
            name: match &kind {
                TargetKind::Folder(folder, FolderKind::Disk) => format!("disk:{folder}"),
                TargetKind::Folder(folder, _) => folder.clone(),
                _ => typed.to_owned(),
            },
            kind,
        })
    }

    fn through_system(wanted: Wanted<'_>, stop: &Stop) -> Result<Self, CommandError> {
        let Wanted { typed, path, .. } = wanted;
        let through = (wanted.through, wanted.address);
        let mut path = mounted_share::open(typed, path, through, stop)?;
        let mounted = path
            .mounted
            .take()
            .ok_or_else(|| CommandError::new(Kind::Internal, say("error-check.not-mounted")))?;
        let is_folder = !share::is_share_address(typed);
        Ok(Self {
            client: path.client.clone(),
            server: path.server.clone(),
            runner: path.runner.clone(),
            credentials: Some(path.credentials.clone()),
            name: match is_folder {
                true => mounted.folder.clone(),
                false => path.share.address.to_string(),
            },
            kind: TargetKind::Mount(Box::new(path), mounted),
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
            TargetKind::Share(path, _) | TargetKind::Mount(path, _) => path.knock(stop).map(drop),
            TargetKind::Tcp(..) | TargetKind::Folder(..) => Ok(()),
        }
    }

    /// Makes the test file that all passes use. Trials that mount for themselves make one each: whoever keeps it would
    /// hold it open on another mount.
    pub(super) fn keep(&self, recipe: &Recipe, stop: &Stop) -> Result<Option<Kept>, CommandError> {
        let is_kept = recipe.needs_file() && self.second_mount().is_none();
        let Some(place) = self.place().filter(|_| is_kept) else {
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
            TargetKind::Mount(_, mounted) => Some(Place::Folder {
                folder: mounted.folder.clone(),
                kind: FolderKind::Mount,
            }),
        }
    }

    /// The most channels of a task.
    fn channels(&self) -> u32 {
        match &self.kind {
            TargetKind::Share(_, channels) => *channels,
            TargetKind::Tcp(..) | TargetKind::Folder(..) | TargetKind::Mount(..) => 1,
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
                second_mount: self.second_mount(),
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
            TargetKind::Folder(folder, kind) => {
                self.in_folder((folder, *kind), recipe, (test, direction), operations)
            }
            TargetKind::Mount(_, mounted) => {
                let place = (mounted.folder.as_str(), FolderKind::Mount);
                self.in_folder(place, recipe, (test, direction), operations)
            }
        }
    }

    fn in_folder(
        &self,
        (folder, kind): (&str, FolderKind),
        recipe: &Recipe,
        (test, direction): (&RecipeTest, Direction),
        operations: Operations,
    ) -> Workload {
        Workload::Folder(FolderWorkload {
            folder: folder.to_owned(),
            kind,
            second_mount: self.second_mount(),
            direction,
            block: test.block,
            depth: test.depth,
            file_size: recipe.file_size,
            operations,
            timing: timing(recipe),
        })
    }

    /// Whether a workload goes where this target is, and makes its own files: a run file that is taken up again may
    /// be a stranger's.
    pub fn is_of(&self, workload: &Workload) -> bool {
        let own = self.second_mount();
        match (&self.kind, workload) {
            (TargetKind::Tcp(..), Workload::Tcp(_)) => true,
            (TargetKind::Share(path, _), Workload::Share(work)) => {
                work.share == path.share.address
                    && work.operations.as_ref().is_none_or(|it| it.file.is_none())
            }
            (_, Workload::Folder(work)) => {
                let place = Place::Folder {
                    folder: work.folder.clone(),
                    kind: work.kind,
                };
                self.place() == Some(place)
                    && work.second_mount == own
                    && work.operations.file.is_none()
            }
            (TargetKind::Share(path, _), Workload::Task(work)) => {
                matches!(&work.place, Place::Share { share, .. } if *share == path.share.address)
                    && work.second_mount.is_none()
            }
            (_, Workload::Task(work)) => {
                self.place().as_ref() == Some(&work.place) && work.second_mount == own
            }
            _ => false,
        }
    }

    /// Whether the login of the trials has mounted the share already.
    pub fn has_mounted(&self) -> bool {
        matches!(&self.kind, TargetKind::Mount(_, mounted) if mounted.mount.own)
    }

    /// Whether a trial of this workload is as the session is asked to be: a mount that a plan varies as well.
    ///
    /// # Errors
    /// In a sentence, which option asks for something else.
    pub fn takes(&self, workload: &Workload) -> Result<(), Message> {
        let TargetKind::Mount(path, _) = &self.kind else {
            return Ok(());
        };
        let mount = workload.second_mount();
        match mount.and_then(|mount| mount.dialect_beyond(&path.demands)) {
            Some(option) => Err(say("error-plan.mount-dialect").with("option", option)),
            None => Ok(()),
        }
    }

    /// What each trial mounts for itself: the mount that is measured, as it is.
    pub fn second_mount(&self) -> Option<SecondMount> {
        match &self.kind {
            TargetKind::Mount(_, mounted) => Some(same_mount(&mounted.mount)),
            TargetKind::Tcp(..) | TargetKind::Share(..) | TargetKind::Folder(..) => None,
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
