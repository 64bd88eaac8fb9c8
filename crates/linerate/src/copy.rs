//! `linerate copy`: one file to or from a share, over every channel.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use record::{Credentials, SmbSession};
use serde_json::json;
use smb::copy::{Progress, download, upload};
use smb::{Policy, Proof, Replace, Server, Session, Stop, Tree};

use crate::args::CopyArguments;
use crate::failure::{CommandError, Kind};
use crate::share::{self, TypedShare};
use crate::{credentials, stop, terminal};

/// How often the progress line is drawn.
const DRAW_EVERY: Duration = Duration::from_millis(100);
/// A copy shorter than this has no rate worth a number.
const RATE_SECONDS_MIN: f64 = 0.01;

/// What is copied, and which way.
enum Way {
    Down { from: TypedShare, to: PathBuf },
    Up { from: PathBuf, to: TypedShare },
}

/// Runs `copy`.
pub fn run(arguments: &CopyArguments) -> Result<ExitCode, CommandError> {
    let way = way(arguments)?;
    let share = match &way {
        Way::Down { from, .. } => from,
        Way::Up { to, .. } => to,
    };
    let credentials = credentials::find(&arguments.login, share, None)?;
    let stop = Stop::new();
    let asked = stop.clone();
    stop::listen_with(move || asked.stop())?;
    let policy = measure::demanded(&credentials::demands(&arguments.login)?);
    let session = connect(share, &credentials, &policy)?;
    let rejected = add_channels(&session, arguments.channels)?;
    let tree = session.tree(&share.address.share).map_err(told)?;
    if arguments.dry_run {
        return dry_run(&way, &session, &tree, arguments);
    }
    let replace = if arguments.force {
        Replace::Existing
    } else {
        Replace::Never
    };
    let progress = Arc::new(Progress::default());
    let began = Instant::now();
    let bytes = with_progress(&progress, arguments.json, || match &way {
        Way::Down { from, to } => {
            download(&tree, &from.address.path, to, replace, &progress, &stop)
        }
        Way::Up { from, to } => upload(from, &tree, &to.address.path, replace, &progress, &stop),
    });
    let bytes = bytes.map_err(told)?;
    let seconds = began.elapsed().as_secs_f64();
    let agreed = measure::agreed(&session, &tree, rejected);
    show(&way, &session, agreed.as_ref(), bytes, seconds, arguments);
    Ok(ExitCode::SUCCESS)
}

fn way(arguments: &CopyArguments) -> Result<Way, CommandError> {
    let (source, destination) = (&arguments.source, &arguments.destination);
    match (
        share::looks_like_share(source),
        share::looks_like_share(destination),
    ) {
        (true, false) => {
            let from = share::parse(source)?;
            let name = last_part(&from.address.path).ok_or_else(|| no_file(source))?;
            let to = Path::new(destination);
            let to = if to.is_dir() {
                to.join(name)
            } else {
                to.to_owned()
            };
            Ok(Way::Down { from, to })
        }
        (false, true) => {
            let from = PathBuf::from(source);
            let mut to = share::parse(destination)?;
            let is_folder = destination.ends_with(['/', '\\']) || to.address.path.is_empty();
            if is_folder {
                let name = from
                    .file_name()
                    .and_then(|name| name.to_str())
                    .ok_or_else(|| no_file(source))?;
                let path = &mut to.address.path;
                *path = if path.is_empty() {
                    name.to_owned()
                } else {
                    format!("{path}/{name}")
                };
            }
            if !from.is_file() {
                return Err(
                    CommandError::new(Kind::Usage, format!("`{source}` is not a file"))
                        .hint("this version copies one file; check the path"),
                );
            }
            Ok(Way::Up { from, to })
        }
        (false, false) => Err(CommandError::new(Kind::Usage, "neither end is a share")
            .hint("write one of them as `smb://user@host/share/file`")),
        (true, true) => Err(CommandError::new(Kind::Usage, "both ends are shares")
            .hint("this version copies between a share and this machine")),
    }
}

fn last_part(path: &str) -> Option<&str> {
    path.rsplit('/').next().filter(|part| !part.is_empty())
}

fn no_file(typed: &str) -> CommandError {
    CommandError::new(Kind::Usage, format!("`{typed}` names no file"))
        .hint("write it as `smb://user@host/share/folder/file`")
}

fn connect(
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

/// One channel for each pair of NICs, or as many as the user wants. Those that cannot be had are no
/// error: the copy goes on without them.
fn add_channels(session: &Session, wanted: Option<u32>) -> Result<Vec<String>, CommandError> {
    let nics = smb::local_nics().map_err(told)?;
    let most = wanted.map_or(nics.len().max(1), |count| {
        usize::try_from(count).unwrap_or(usize::MAX)
    });
    Ok(session.add_channels(most, &nics))
}

/// Says what would be copied.
fn dry_run(
    way: &Way,
    session: &Session,
    tree: &Tree,
    arguments: &CopyArguments,
) -> Result<ExitCode, CommandError> {
    let bytes = match way {
        Way::Down { from, .. } => {
            let options = smb::OpenOptions::open(smb::Access::Read);
            tree.open(&from.address.path, &options)
                .and_then(|file| file.size())
                .map_err(told)?
        }
        Way::Up { from, .. } => std::fs::metadata(from)
            .map_err(|error| CommandError::caused(Kind::Usage, "cannot read the source", &error))?
            .len(),
    };
    let (from, to) = ends(way);
    let channels = session.channels().len();
    if arguments.json {
        terminal::print_json(&json!({
            "dry_run": true, "source": from, "destination": to, "bytes": bytes, "channels": channels,
        }));
    } else {
        let size = report::quantity::size(record::Bytes::new(bytes));
        terminal::print(&format!(
            "would copy {from} to {to}: {size} over {channels} channels"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn ends(way: &Way) -> (String, String) {
    match way {
        Way::Down { from, to } => (from.address.to_string(), to.display().to_string()),
        Way::Up { from, to } => (from.display().to_string(), to.address.to_string()),
    }
}

/// Draws how far the copy is while `copy` runs.
fn with_progress<T>(progress: &Arc<Progress>, quiet: bool, copy: impl FnOnce() -> T) -> T {
    let Some(bar) = terminal::byte_bar(quiet) else {
        return copy();
    };
    thread::scope(|scope| {
        let (over, ended) = std::sync::mpsc::channel::<()>();
        let (progress, bar) = (Arc::clone(progress), &bar);
        scope.spawn(move || {
            while ended.recv_timeout(DRAW_EVERY) == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
            {
                bar.set_length(progress.total());
                bar.set_position(progress.moved());
            }
            bar.finish_and_clear();
        });
        let result = copy();
        drop(over);
        result
    })
}

fn show(
    way: &Way,
    session: &Session,
    agreed: Option<&SmbSession>,
    bytes: u64,
    seconds: f64,
    arguments: &CopyArguments,
) {
    let (from, to) = ends(way);
    let down = matches!(way, Way::Down { .. });
    let channels = session.channels();
    let used = channels.len();
    let moved = |status: &smb::ChannelStatus| {
        if down {
            status.bytes_received
        } else {
            status.bytes_sent
        }
    };
    let rejected = agreed.map_or(&[][..], |agreed| &agreed.rejected_channels);
    let rate = (seconds >= RATE_SECONDS_MIN && bytes > 0).then(|| bytes as f64 / seconds);
    if arguments.json {
        let channels = channels.iter().map(|status| {
            json!({ "local": status.local, "remote": status.remote, "bytes": moved(status) })
        });
        terminal::print_json(&json!({
            "source": from, "destination": to, "bytes": bytes, "seconds": seconds,
            "mb_s": rate.map(|rate| rate / 1e6), "login": proof_name(session),
            "session": agreed.map(|agreed| report::session_json(agreed, used)),
            "channels": channels.collect::<Vec<_>>(), "rejected_channels": rejected,
        }));
        return;
    }
    let rate = rate.map_or(String::new(), |rate| {
        format!(" at {}", report::quantity::rate(rate))
    });
    let size = report::quantity::size(record::Bytes::new(bytes));
    terminal::print(&format!("{from} -> {to}: {size} in {seconds:.1} s{rate}"));
    if let Some(agreed) = agreed {
        terminal::print(&format!("  {}", report::session_text(agreed, used)));
    }
    for status in &channels {
        let size = report::quantity::size(record::Bytes::new(moved(status)));
        terminal::print(&format!("  {} -> {}: {size}", status.local, status.remote));
    }
    for reason in rejected {
        terminal::say(&format!("not used: {reason}"));
    }
}

fn proof_name(session: &Session) -> &'static str {
    match session.proof() {
        Proof::Kerberos => "kerberos",
        Proof::Ntlm => "ntlm",
        Proof::Nothing => "none",
    }
}

/// The same hints as for trials, but of a copy.
fn told(error: smb::Error) -> CommandError {
    let hint = match &error {
        smb::Error::AlreadyExists { .. } => Some("`--force` replaces it"),
        smb::Error::NotFound { .. } => Some("check the path; names on a share begin below its top"),
        smb::Error::AccessDenied { .. } => Some("the user needs the right to it on the server"),
        smb::Error::DiskFull { .. } => {
            Some("make room there; nothing that looks complete was left")
        }
        smb::Error::Stopped => Some("nothing that looks complete was left; start it again"),
        _ => None,
    };
    let error = CommandError::from(measure::Error::Share(error));
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
