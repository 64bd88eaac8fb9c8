//! `linerate copy`: files and trees to, from and between shares, over every channel.

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use record::{Bytes, Credentials, SmbSession};
use report::quantity;
use serde_json::{Value, json};
use smb::copy::{
    Event, Existing, Failure, Filter, Job, Kind as EntryKind, Links, Names, Options, Place,
    Progress, Source, Summary,
};
use smb::{ChannelStatus, ChannelsMax, Policy, Proof, Server, Session, Stop};

use crate::args::{CopyArguments, LinksArgument};
use crate::failure::{CommandError, Kind};
use crate::meter::Meter;
use crate::share::{self, TypedShare};
use crate::{credentials, stop, terminal};

/// How often the progress line is drawn.
const DRAW_EVERY: Duration = Duration::from_millis(100);
/// A copy shorter than this has no rate worth a number.
const RATE_SECONDS_MIN: f64 = 0.01;
/// Columns for the path of what could not be copied; a longer one pushes its reason to the right.
const PATH_COLUMNS: usize = 32;
/// What to do about a copy that ended before its end.
const GOES_ON: &str =
    "nothing that looks complete was left; the same command with `--resume` goes on with the rest";
/// Some file could not be copied.
const EXIT_SOME_FAILED: u8 = 1;

/// What a source or destination is, as typed.
enum End {
    Here(PathBuf),
    Share(TypedShare),
}

/// Runs `copy`.
pub fn run(arguments: &CopyArguments) -> Result<ExitCode, CommandError> {
    let destination = end(&arguments.destination)?;
    let sources: Vec<End> = (arguments.sources.iter())
        .map(|typed| end(typed))
        .collect::<Result<_, _>>()?;
    let options = options(arguments)?;
    if !sources.iter().chain([&destination]).any(End::is_share) {
        return Err(CommandError::new(Kind::Usage, "neither end is a share")
            .hint("write one of them as `smb://user@host/share/file`"));
    }
    let stop = Stop::new();
    let asked = stop.clone();
    let words = stop::Words {
        stopping: "what is not complete is removed, or kept for `--resume`",
        left: "left at once\nhint: the same command with `--resume` goes on with it",
    };
    stop::listen_with(words, move || asked.stop())?;
    let mut connections = Connections::new(arguments, &stop)?;
    let into = ends_as_folder(&arguments.destination, &destination);
    let job = Job {
        destination: connections.place(&destination)?,
        sources: (sources.iter().zip(&arguments.sources))
            .map(|(source, typed)| {
                let content = match source {
                    End::Here(path) => typed.ends_with('/') || path.file_name().is_none(),
                    End::Share(_) => typed.ends_with(['/', '\\']),
                };
                let place = connections.place(source)?;
                Ok(Source { place, content })
            })
            .collect::<Result<_, CommandError>>()?,
        into,
        options,
    };
    // Of a single file, what is wrong with it is wrong with the command.
    let alone = match job.sources.as_slice() {
        [source] => {
            let found = source.place.look(Links::Follow).map_err(told)?;
            found.is_some_and(|found| found.kind == EntryKind::File)
        }
        _ => false,
    };
    let progress = Progress::default();
    let began = Instant::now();
    let list = arguments.dry_run && !arguments.json;
    let quiet = arguments.json || list;
    let mut summary = with_progress(&progress, &connections, quiet, || {
        smb::copy::run(&job, &progress, &stop, &|event| {
            if list {
                tell(event);
            }
        })
    });
    let seconds = began.elapsed().as_secs_f64();
    if alone && let Some(failure) = summary.failures.pop() {
        return Err(told(failure.error));
    }
    show_failures(&summary, job.options.names);
    let ends = Ends {
        sources: sources.iter().map(End::shown).collect(),
        destination: destination.shown(),
        sent: destination.is_share(),
    };
    if let Some(error) = summary.ended_by.take() {
        if arguments.json {
            terminal::print_json(&as_json(&ends, &connections, &summary, seconds, arguments));
        } else {
            show_before_the_end(&summary, progress.files_total());
        }
        let lost = matches!(error, smb::Error::ConnectionLost { .. });
        let error = told(error);
        return Err(if lost { error.hint(GOES_ON) } else { error });
    }
    if arguments.json {
        terminal::print_json(&as_json(&ends, &connections, &summary, seconds, arguments));
    } else {
        show(&ends, &connections, &summary, seconds, arguments);
    }
    Ok(if summary.failed > 0 {
        ExitCode::from(EXIT_SOME_FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

fn end(typed: &str) -> Result<End, CommandError> {
    if share::looks_like_share(typed) {
        share::parse(typed).map(End::Share)
    } else {
        Ok(End::Here(PathBuf::from(typed)))
    }
}

/// Whether a destination can be a folder only.
fn ends_as_folder(typed: &str, destination: &End) -> bool {
    match destination {
        End::Here(_) => typed.ends_with('/'),
        End::Share(share) => typed.ends_with(['/', '\\']) || share.address.path.is_empty(),
    }
}

impl End {
    const fn is_share(&self) -> bool {
        matches!(self, Self::Share(_))
    }

    fn shown(&self) -> String {
        match self {
            Self::Here(path) => smb::copy::printable(&path.to_string_lossy()),
            Self::Share(share) => share.address.to_string(),
        }
    }
}

fn options(arguments: &CopyArguments) -> Result<Options, CommandError> {
    if arguments.delete && arguments.sources.len() > 1 {
        return Err(
            CommandError::new(Kind::Usage, "`--delete` goes with one source only")
                .hint("what one source does not have, another one may; copy them one by one"),
        );
    }
    let filter = Filter::new(&arguments.include, &arguments.exclude).map_err(told)?;
    Ok(Options {
        existing: if arguments.update {
            Existing::Update
        } else if arguments.force {
            Existing::Replace
        } else {
            Existing::Refuse
        },
        resume: arguments.resume,
        verify: arguments.verify,
        dry_run: arguments.dry_run,
        delete: arguments.delete,
        names: if arguments.map_names {
            Names::Map
        } else {
            Names::Refuse
        },
        links: match arguments.links {
            LinksArgument::Skip => Links::Skip,
            LinksArgument::Follow => Links::Follow,
        },
        filter,
        sessions: arguments.sessions.into(),
    })
}

/// One session for each server and user.
struct Connections<'a> {
    arguments: &'a CopyArguments,
    stop: &'a Stop,
    policy: Policy,
    sessions: Vec<Connected>,
}

struct Connected {
    share: TypedShare,
    session: Session,
    /// What was agreed, once a share of it is connected.
    agreed: Option<SmbSession>,
    /// Why there are not more channels, until it stands in `agreed`.
    rejected: Option<Vec<String>>,
    /// With so many channels nobody asks why there are not more.
    enough: usize,
}

impl Connected {
    fn has_enough(&self) -> bool {
        let channels = self.session.channels();
        let own = channels.iter().filter(|it| it.session == 0 && it.alive);
        own.count() >= self.enough
    }
}

impl<'a> Connections<'a> {
    fn new(arguments: &'a CopyArguments, stop: &'a Stop) -> Result<Self, CommandError> {
        Ok(Self {
            arguments,
            stop,
            policy: measure::demanded(&credentials::demands(&arguments.login)?),
            sessions: Vec::new(),
        })
    }

    fn place(&mut self, end: &End) -> Result<Place, CommandError> {
        match end {
            End::Here(path) => Ok(Place::Local(path.clone())),
            End::Share(share) => {
                let connected = self.connected(share)?;
                let tree = connected.session.tree(&share.address.share);
                let tree = tree.map_err(told)?;
                if let Some(rejected) = connected.rejected.take() {
                    connected.agreed = measure::agreed(&connected.session, &tree, rejected);
                }
                let path = share.address.path.clone();
                Ok(Place::Share { tree, path })
            }
        }
    }

    fn connected(&mut self, share: &TypedShare) -> Result<&mut Connected, CommandError> {
        let known = self.sessions.iter().position(|connected| {
            let known = &connected.share;
            known.user == share.user
                && known.address.server == share.address.server
                && known.address.port == share.address.port
        });
        let index = if let Some(index) = known {
            index
        } else {
            let credentials = credentials::find(&self.arguments.login, share, None)?;
            let session = connect(share, &credentials, &self.policy)?;
            session.obey(self.stop);
            let (enough, rejected) = add_channels(&session, self.arguments.channels)?;
            self.sessions.push(Connected {
                share: share.clone(),
                session,
                agreed: None,
                rejected: Some(rejected),
                enough,
            });
            self.sessions.len() - 1
        };
        Ok(&mut self.sessions[index])
    }

    /// Why there are not more channels. What was found while the copy ran counts.
    fn rejected(&self) -> Vec<&String> {
        let short = self.sessions.iter().filter(|it| !it.has_enough());
        let agreed = short.filter_map(|it| it.agreed.as_ref());
        agreed
            .flat_map(|agreed| &agreed.rejected_channels)
            .collect()
    }

    /// The server that it is tried to get back to, if there is one.
    fn reconnecting(&self) -> Option<&str> {
        let mut sessions = self.sessions.iter();
        let lost = sessions.find(|connected| connected.session.reconnecting().is_some());
        lost.map(|connected| connected.share.address.server.as_str())
    }

    fn channels(&self) -> Vec<ChannelStatus> {
        let sessions = self.sessions.iter();
        sessions
            .flat_map(|connected| connected.session.channels())
            .collect()
    }
}

/// Logs in at the server of a share.
pub fn connect(
    share: &TypedShare,
    credentials: &Credentials,
    policy: &Policy,
) -> Result<Session, CommandError> {
    let server = Server {
        name: share.address.server.clone(),
        port: share.address.port,
    };
    let login = measure::login(Some(credentials));
    Session::connect(&server, None, &login, policy).map_err(told)
}

/// One channel for each pair of NICs, several where both have several queues, or as many as the user
/// wants; further ones when there are ways for them. Those that cannot be had are no error: the copy
/// goes on without them. Gives how many are enough, and why there are less than there could be.
fn add_channels(
    session: &Session,
    wanted: Option<u32>,
) -> Result<(usize, Vec<String>), CommandError> {
    let nics = smb::local_nics().map_err(told)?;
    let (most, enough) = match wanted.map(usize::try_from) {
        Some(count) => {
            let count = count.unwrap_or(usize::MAX);
            (ChannelsMax::Count(count), count)
        }
        // Where every NIC has its channel, addresses that have none are what anybody expects.
        None => (ChannelsMax::Automatic, nics.len().max(1)),
    };
    let rejected = session.add_channels(most.of(&nics), &nics);
    session.seek_channels(most).map_err(told)?;
    Ok((enough, rejected))
}

/// Says what would be done with one file.
fn tell(event: &Event<'_>) {
    match event {
        Event::Copied { path, bytes, .. } => {
            let size = quantity::size(Bytes::new(*bytes));
            terminal::print(&format!("would copy {path}: {size}"));
        }
        Event::Deleted { path, .. } => terminal::print(&format!("would remove {path}")),
        // They are counted, and listed at the end.
        Event::Skipped { .. } | Event::Failed(_) => {}
    }
}

/// Draws how far the copy is while `copy` runs.
fn with_progress<T>(
    progress: &Progress,
    connections: &Connections<'_>,
    quiet: bool,
    copy: impl FnOnce() -> T,
) -> T {
    let Some(bar) = terminal::byte_bar(quiet) else {
        return copy();
    };
    thread::scope(|scope| {
        let (over, ended) = std::sync::mpsc::channel::<()>();
        let bar = &bar;
        scope.spawn(move || {
            let mut meter = Meter::new();
            while ended.recv_timeout(DRAW_EVERY) == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
            {
                bar.set_length(progress.total());
                bar.set_position(progress.moved());
                let channels = connections.channels();
                let channels = channels.iter().map(|it| it.bytes_received + it.bytes_sent);
                meter.sample(Instant::now(), channels.collect(), progress.moved());
                bar.set_message(match connections.reconnecting() {
                    Some(server) => format!("reconnecting to `{server}`"),
                    None => meter.line(progress),
                });
            }
            bar.finish_and_clear();
        });
        let result = copy();
        drop(over);
        result
    })
}

/// What could not be copied, with the reason.
fn show_failures(summary: &Summary, names: Names) {
    if summary.failures.is_empty() {
        return;
    }
    terminal::say("not copied:");
    for failure in &summary.failures {
        let path = &failure.path;
        terminal::say(&format!(
            "  {path:PATH_COLUMNS$}  {}",
            reason(&failure.error)
        ));
    }
    let listed = summary.failures.len() as u64;
    if summary.failed > listed {
        terminal::say(&format!("  and {} more", summary.failed - listed));
    }
    let is_name = |failure: &Failure| matches!(failure.error, smb::Error::Name { .. });
    if names == Names::Refuse && summary.failures.iter().any(is_name) {
        terminal::say("hint: `--map-names` copies most names that a share cannot have");
    }
}

/// An error with those below it, in one line; what it happened to stands before it.
fn reason(error: &smb::Error) -> String {
    if let smb::Error::Name { reason, .. } = error {
        return reason.clone();
    }
    let failure = CommandError::from_error(Kind::Refused, error);
    failure.failure().chain.join(": ")
}

/// What was typed, and which way the bytes went.
struct Ends {
    sources: Vec<String>,
    destination: String,
    sent: bool,
}

impl Ends {
    const fn moved(&self, status: &ChannelStatus) -> u64 {
        if self.sent {
            status.bytes_sent
        } else {
            status.bytes_received
        }
    }
}

fn rate(summary: &Summary, seconds: f64) -> Option<f64> {
    let moved = summary.bytes.saturating_sub(summary.resumed_bytes);
    (seconds >= RATE_SECONDS_MIN && moved > 0).then(|| moved as f64 / seconds)
}

fn as_json(
    ends: &Ends,
    connections: &Connections<'_>,
    summary: &Summary,
    seconds: f64,
    arguments: &CopyArguments,
) -> Value {
    let failures = (summary.failures.iter())
        .map(|failure| json!({ "path": failure.path, "reason": reason(&failure.error) }));
    let channels = connections.channels().into_iter().map(|status| {
        json!({
            "local": status.local, "remote": status.remote,
            "session": status.session + 1, "bytes": ends.moved(&status),
        })
    });
    let servers = connections.sessions.iter().map(|connected| {
        let (share, session) = (&connected.share, &connected.session);
        let agreed = connected.agreed.as_ref();
        let used = channels_of_first(session);
        json!({
            "server": share.address.server, "login": proof_name(session),
            "session": agreed.map(|agreed| report::session_json(agreed, used)),
        })
    });
    let rate = rate(summary, seconds).filter(|_| !arguments.dry_run);
    json!({
        "dry_run": arguments.dry_run,
        "sources": ends.sources,
        "destination": ends.destination,
        "files": summary.files,
        "bytes": summary.bytes,
        "resumed_bytes": summary.resumed_bytes,
        "on_server_bytes": summary.on_server_bytes,
        "not_on_server": summary.not_on_server,
        "verified": summary.verified,
        "unchanged": summary.unchanged,
        "newer": summary.newer,
        "folders": summary.folders,
        "deleted": summary.deleted,
        "kept": summary.kept,
        "skipped": summary.skipped,
        "filtered": summary.filtered,
        "failed": summary.failed,
        "failures": failures.collect::<Vec<_>>(),
        "blake3": summary.hash,
        "seconds": seconds,
        "mb_s": rate.map(|rate| rate / 1e6),
        "servers": servers.collect::<Vec<_>>(),
        "channels": channels.collect::<Vec<_>>(),
        "rejected_channels": connections.rejected(),
    })
}

/// Those that were asked for; sessions beside it have as many each.
fn channels_of_first(session: &Session) -> usize {
    let channels = session.channels();
    channels.iter().filter(|it| it.session == 0).count()
}

fn show(
    ends: &Ends,
    connections: &Connections<'_>,
    summary: &Summary,
    seconds: f64,
    arguments: &CopyArguments,
) {
    let from = ends.sources.join(", ");
    let to = &ends.destination;
    let size = quantity::size(Bytes::new(summary.bytes));
    let files = files(summary.files);
    let channels = connections.channels();
    if arguments.dry_run {
        let count = channels.len();
        terminal::print(&format!(
            "would copy {from} to {to}: {files}, {size} over {count} channels"
        ));
    } else {
        let rate = rate(summary, seconds).map_or(String::new(), |rate| {
            format!(" at {}", quantity::rate(rate))
        });
        terminal::print(&format!(
            "{from} -> {to}: {files}, {size} in {seconds:.1} s{rate}"
        ));
    }
    for line in counts(summary) {
        terminal::print(&line);
    }
    if summary.on_server_bytes > 0 {
        let size = quantity::size(Bytes::new(summary.on_server_bytes));
        terminal::print(&format!("  {size} copied by the server itself"));
    }
    if let Some(reason) = &summary.not_on_server {
        terminal::print(&format!("  sent through this machine: {reason}"));
    }
    if let Some(hash) = &summary.hash {
        terminal::print(&format!("  BLAKE3 {hash}"));
    }
    for connected in &connections.sessions {
        if let Some(agreed) = &connected.agreed {
            let used = channels_of_first(&connected.session);
            terminal::print(&format!("  {}", report::session_text(agreed, used)));
        }
    }
    if !arguments.dry_run {
        for status in &channels {
            let size = quantity::size(Bytes::new(ends.moved(status)));
            let session = match status.session {
                0 => String::new(),
                beside => format!(" (session {})", beside + 1),
            };
            terminal::print(&format!(
                "  {} -> {}: {size}{session}",
                status.local, status.remote
            ));
        }
    }
    for reason in connections.rejected() {
        terminal::say(&format!("not used: {reason}"));
    }
}

/// What had been done when an error ended the copy.
fn show_before_the_end(summary: &Summary, found: u64) {
    if found == 0 {
        return;
    }
    let size = quantity::size(Bytes::new(summary.bytes));
    let (copied, found) = (files(summary.files), files(found));
    terminal::say(&format!(
        "copied before it ended: {copied}, {size}, of {found} found"
    ));
    for line in counts(summary) {
        terminal::say(&line);
    }
}

fn files(count: u64) -> String {
    match count {
        1 => String::from("1 file"),
        count => format!("{count} files"),
    }
}

/// What became of the files that were not just copied, a line each.
fn counts(summary: &Summary) -> Vec<String> {
    let counts = [
        (summary.verified, "read back and found the same"),
        (summary.unchanged, "there already"),
        (summary.newer, "newer at the destination, left"),
        (summary.deleted, "removed from the destination"),
        (
            summary.kept,
            "not removed, as something in their folder was not copied",
        ),
        (summary.skipped, "left out: links, devices and the like"),
        (summary.filtered, "left out by `--include` and `--exclude`"),
        (summary.failed, "not copied"),
    ];
    counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("  {count} {what}"))
        .collect()
}

fn proof_name(session: &Session) -> &'static str {
    match session.proof() {
        Proof::Kerberos => "kerberos",
        Proof::Ntlm => "ntlm",
        Proof::Nothing => "none",
    }
}

/// The same hints as for trials, but of a copy.
pub fn told(error: smb::Error) -> CommandError {
    let hint = match &error {
        smb::Error::AlreadyExists { .. } | smb::Error::InTheWay { .. } => {
            Some("`--force` replaces it, `--update` does where the source is newer")
        }
        smb::Error::NotFound { .. } => Some("check the path; names on a share begin below its top"),
        smb::Error::AccessDenied { .. } => Some("the user needs the right to it on the server"),
        smb::Error::DiskFull { .. } => {
            Some("make room there; nothing that looks complete was left")
        }
        smb::Error::Stopped => Some(GOES_ON),
        _ => None,
    };
    let error = CommandError::from(measure::Error::Share(error));
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
