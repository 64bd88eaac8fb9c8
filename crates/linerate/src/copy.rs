//! `linerate copy`: files and trees to, from and between shares, over every channel.

mod connections;
pub mod summary;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use locale::{Message, said, say};
use os::sandbox::Rules;
use smb::Stop;
use smb::copy::{
    Event, Existing, Filter, Job, Kind as EntryKind, Links, Names, Options, Progress, Source,
    Summary,
};

use crate::args::{CopyArguments, LinksArgument};
use crate::copy_progress_line::Meter;
use crate::credentials::{Client, OfFile};
use crate::exit_codes::Exit;
use crate::failure::{CommandError, Kind};
use crate::share::{self, TypedShare};
use crate::{command_sandbox, ctrl_c, stdout_and_stderr};
use connections::Connections;
pub use connections::connect;
use summary::{Ends, as_json, show, show_before_the_end, show_failures, show_without};

/// How often the progress line is drawn.
const DRAW_EVERY: Duration = Duration::from_millis(100);
/// What to do about a copy that ended before its end.
const GOES_ON: Message = say("hint-copy.resume");

/// What a source or destination is, as typed.
enum End {
    /// On this machine: as typed, and without links.
    Here(PathBuf, PathBuf),
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
        let error = CommandError::new(Kind::Usage, say("error-copy.no-share"));
        return Err(error.hint(say("hint-copy.one-end")));
    }
    let shares = sources.iter().chain([&destination]);
    let shares: Vec<&TypedShare> = shares.filter_map(End::share).collect();
    let of_file = OfFile::read(&arguments.login, &shares, Client::Here)?;
    let rules = rules(arguments, &sources, &destination);
    command_sandbox::to(&rules, arguments.verbose)?.ready()?;
    let stop = Stop::new();
    let mut connections = Connections::new(arguments, &stop, &of_file)?;
    let into = ends_as_folder(&arguments.destination, &destination);
    let job = Job {
        destination: connections.place(&destination)?,
        sources: find_sources(&sources, &arguments.sources, &mut connections)?,
        into,
        options,
    };
    // Of a single file, what is wrong with it is wrong with the command.
    let alone = is_one_file(&job)?;
    // Not before: until then there is nothing to be removed, and a server that is silent is not waited for.
    let asked = stop.clone();
    let words = ctrl_c::Words {
        stopping: say("told-copy.stopping"),
        left: say("told-copy.left"),
        hint: say("hint-copy.resume-it"),
    };
    ctrl_c::listen_with(words, move || asked.stop())?;
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
        return Err(explain_failure(failure.error));
    }
    show_failures(&summary, job.options.names);
    show_without(&summary, arguments.verbose);
    let ends = Ends {
        sources: sources.iter().map(End::shown).collect(),
        destination: destination.shown(),
        sent: destination.is_share(),
    };
    let took = (seconds, progress.files_total());
    conclude(arguments, &ends, &connections, summary, took)
}

/// Says what became of a copy, which took so many seconds and found so many files.
fn conclude(
    arguments: &CopyArguments,
    ends: &Ends,
    connections: &Connections<'_>,
    mut summary: Summary,
    (seconds, found): (f64, u64),
) -> Result<ExitCode, CommandError> {
    let ended_by = summary.ended_by.take();
    if arguments.json {
        stdout_and_stderr::print_json(&as_json(ends, connections, &summary, seconds, arguments));
    } else if ended_by.is_some() {
        show_before_the_end(&summary, found, arguments.dry_run);
    } else {
        show(ends, connections, &summary, seconds, arguments);
    }
    if let Some(error) = ended_by {
        let begun = if arguments.dry_run { 0 } else { found };
        return Err(explain_end(error, begun));
    }
    Ok(if summary.failed > 0 || summary.not_kept > 0 {
        Exit::Found.into()
    } else {
        ExitCode::SUCCESS
    })
}

/// The sources where they are, each with the name of its copy.
fn find_sources(
    sources: &[End],
    typed: &[String],
    connections: &mut Connections<'_>,
) -> Result<Vec<Source>, CommandError> {
    (sources.iter().zip(typed))
        .map(|(source, typed)| {
            let content = match source {
                End::Here(path, _) => share::ends_as_folder(typed) || path.file_name().is_none(),
                End::Share(_) => share::ends_as_folder(typed),
            };
            let place = connections.place(source)?;
            let name = source.name();
            Ok(Source {
                place,
                content,
                name,
            })
        })
        .collect()
}

/// Whether there is one source, which is a file.
fn is_one_file(job: &Job) -> Result<bool, CommandError> {
    let [source] = job.sources.as_slice() else {
        return Ok(false);
    };
    let found = source.place.stat().map_err(explain)?;
    Ok(found.is_some_and(|found| found.kind == EntryKind::File))
}

/// The folders that are given, and nothing else: what a server says can do no harm elsewhere.
fn rules(arguments: &CopyArguments, sources: &[End], destination: &End) -> Rules {
    let mut rules = command_sandbox::for_login(&arguments.login);
    let here = sources.iter().filter_map(|source| match source {
        End::Here(_, path) => Some(path.clone()),
        End::Share(_) => None,
    });
    rules.reads.extend(here);
    // Links lead anywhere.
    if matches!(arguments.links, LinksArgument::Follow) {
        rules.reads.push(PathBuf::from("/"));
    }
    if let End::Here(_, path) = destination {
        rules.writes.push(written(path));
    }
    rules
}

/// What is written to for a destination: the folder in which its files are made, or a device alone, not all of `/dev`.
fn written(destination: &Path) -> PathBuf {
    let is_whole = destination.file_name().is_none() || destination.is_dir();
    let is_special = destination.exists() && !destination.is_file();
    match destination.parent() {
        _ if is_whole => command_sandbox::existing(destination),
        _ if is_special => destination.to_owned(),
        folder => command_sandbox::existing(folder.unwrap_or(destination)),
    }
}

fn end(typed: &str) -> Result<End, CommandError> {
    if share::is_share_address(typed) {
        share::parse(typed).map(End::Share)
    } else {
        let path = PathBuf::from(typed);
        let whole = os::file::resolve(&path)?;
        Ok(End::Here(path, whole))
    }
}

/// Whether a destination can be a folder only.
fn ends_as_folder(typed: &str, destination: &End) -> bool {
    share::ends_as_folder(typed)
        || matches!(destination, End::Share(share) if share.address.path.is_empty())
}

impl End {
    const fn share(&self) -> Option<&TypedShare> {
        match self {
            Self::Share(share) => Some(share),
            Self::Here(..) => None,
        }
    }

    const fn is_share(&self) -> bool {
        self.share().is_some()
    }

    /// What its copy is called, whatever it is called where it is (DFS, a link).
    fn name(&self) -> Option<String> {
        let share = match self {
            Self::Share(share) => share,
            Self::Here(typed, _) => return Some(typed.file_name()?.to_str()?.to_owned()),
        };
        let name = share.address.path.rsplit('/').find(|part| !part.is_empty());
        Some(name.unwrap_or(&share.address.share).to_owned())
    }

    fn shown(&self) -> String {
        match self {
            Self::Here(path, _) => smb::copy::printable(&path.to_string_lossy()),
            Self::Share(share) => share.address.to_string(),
        }
    }
}

fn options(arguments: &CopyArguments) -> Result<Options, CommandError> {
    if arguments.delete && arguments.sources.len() > 1 {
        let error = CommandError::new(Kind::Usage, say("error-copy.delete-of-several"));
        return Err(error.hint(say("hint-copy.one-by-one")));
    }
    let filter = Filter::new(&arguments.include, &arguments.exclude).map_err(explain)?;
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
            LinksArgument::Keep => Links::Keep,
            LinksArgument::Skip => Links::Skip,
            LinksArgument::Follow => Links::Follow,
        },
        filter,
        sessions: arguments.sessions.into(),
    })
}

/// Says what would be done with one file.
fn tell(event: &Event<'_>) {
    let (sentence, path) = match event {
        Event::Copied { path, bytes, .. } => {
            (say("told-copy.would-copy").bytes("size", *bytes), path)
        }
        Event::Linked { path } => (say("told-copy.would-link"), path),
        Event::Deleted { path, .. } => (say("told-copy.would-remove"), path),
        // They are counted, and listed at the end.
        Event::Skipped { .. } | Event::Failed(_) | Event::NotKept(_) | Event::Lost(_) => return,
    };
    stdout_and_stderr::print(&said(&sentence.with("path", *path)));
}

/// Draws how far the copy is while `copy` runs, and says when a connection is lost and when it is back.
fn with_progress<T>(
    progress: &Progress,
    connections: &Connections<'_>,
    quiet: bool,
    copy: impl FnOnce() -> T,
) -> T {
    let bar = stdout_and_stderr::byte_bar(quiet);
    thread::scope(|scope| {
        let (over, ended) = mpsc::channel::<()>();
        let bar = bar.as_ref();
        scope.spawn(move || {
            let mut meter = Meter::new();
            let mut lost: Option<(String, Instant)> = None;
            while ended.recv_timeout(DRAW_EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
                let reconnecting = connections.reconnecting();
                if let Some(news) = news_of_connection(&mut lost, reconnecting) {
                    match bar {
                        Some(bar) => bar.suspend(|| stdout_and_stderr::say(&news)),
                        None => stdout_and_stderr::say(&news),
                    }
                }
                let Some(bar) = bar else { continue };
                bar.set_length(progress.total());
                bar.set_position(progress.moved());
                let channels = connections.channels();
                let channels = channels.iter().map(|it| it.bytes_received + it.bytes_sent);
                meter.sample(Instant::now(), channels.collect(), progress.moved());
                bar.set_message(match reconnecting {
                    Some(server) => said(&say("told-copy.reconnecting").with("server", server)),
                    None => meter.line(progress),
                });
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        let result = copy();
        drop(over);
        result
    })
}

/// What there is to say when connections are lost or back; `lost` keeps which one and since when.
fn news_of_connection(
    lost: &mut Option<(String, Instant)>,
    reconnecting: Option<&str>,
) -> Option<String> {
    match (&*lost, reconnecting) {
        (None, Some(server)) => {
            *lost = Some((server.to_owned(), Instant::now()));
            Some(said(&say("told-copy.lost").with("server", server)))
        }
        (Some((server, since)), None) => {
            let seconds = format!("{:.1}", since.elapsed().as_secs_f64());
            let news = say("told-copy.connected-again").with("server", server);
            *lost = None;
            Some(said(&news.with("seconds", seconds)))
        }
        _ => None,
    }
}

/// The same hints as for trials, but of a copy.
pub fn explain(error: smb::Error) -> CommandError {
    let hint = match &error {
        error if exists_already(error) => Some(say("hint-copy.force")),
        smb::Error::NotFound { .. } => Some(say("hint-copy.path")),
        smb::Error::AccessDenied { .. } => Some(say("hint-copy.right")),
        error if is_full(error) => Some(say("hint-copy.disk-full")),
        smb::Error::Stopped => Some(GOES_ON),
        _ => None,
    };
    let error = CommandError::from(measure::Error::Share(error));
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// The same of what ended a copy, of which so many files may have been begun.
fn explain_end(error: smb::Error, begun: u64) -> CommandError {
    let is_before_any_file = matches!(
        error,
        smb::Error::Usage { .. }
            | smb::Error::Pattern { .. }
            | smb::Error::Credentials { .. }
            | smb::Error::GuestOnly { .. }
            | smb::Error::NotCopied { .. }
    );
    if begun == 0 || is_before_any_file {
        return explain(error);
    }
    explain_with_resume(error)
}

/// The same of what is wrong with the only file.
fn explain_failure(error: smb::Error) -> CommandError {
    match may_leave_a_part(&error) {
        true => explain_with_resume(error),
        false => explain(error),
    }
}

/// The same where `--resume` goes on with what was begun. What has to be done before stands before it.
fn explain_with_resume(error: smb::Error) -> CommandError {
    let says_it = is_full(&error) || matches!(error, smb::Error::Stopped);
    let is_cut = matches!(
        error,
        smb::Error::ConnectionLost { .. } | smb::Error::Interrupted { .. }
    );
    let error = explain(error);
    if says_it {
        return error;
    }
    let hint = match error.next_message() {
        Some(first) if !is_cut => say("hint-copy.then-resume").with("first", first),
        _ => GOES_ON,
    };
    error.hint(hint)
}

/// Whether a file that failed by this may have left a part that `--resume` goes on with.
fn may_leave_a_part(error: &smb::Error) -> bool {
    let is_given_up = matches!(error, smb::Error::NotReconnected { .. });
    error.is_interruption() || is_given_up || is_full(error)
}

/// Whether something has the name that the copy is to get.
const fn exists_already(error: &smb::Error) -> bool {
    matches!(
        error,
        smb::Error::AlreadyExists { .. } | smb::Error::Obstructed { .. }
    )
}

/// Whether the disk that is written to is full, on the server or here.
fn is_full(error: &smb::Error) -> bool {
    match error {
        smb::Error::DiskFull { .. } => true,
        smb::Error::LocalFile { source, .. } => matches!(
            source.kind(),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Arguments, Command};

    /// What the sandbox is told of a command as it is typed.
    fn rules_of(typed: &[&str]) -> Rules {
        let words = ["linerate", "copy"].iter().chain(typed);
        let parsed = Arguments::try_parse_from(words).expect("as one types it");
        let Command::Copy(arguments) = parsed.command else {
            panic!("it is a copy");
        };
        let [source, destination] = typed else {
            panic!("two words");
        };
        let [source, destination] = [source, destination].map(|it| end(it).expect("a place"));
        rules(&arguments, &[source], &destination)
    }

    #[test]
    fn a_copy_writes_to_the_folder_of_its_destination_or_to_a_device_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), "x").expect("there is room");
        std::fs::create_dir(path("inner")).expect("there is room");
        for (name, writes) in [
            ("file", ""),
            ("new", ""),
            ("new/deep/file", ""),
            ("inner", "inner"),
            ("inner/new", "inner"),
        ] {
            let destination = path(name).display().to_string();
            let found = rules_of(&["smb://nas/media/film", &destination]).writes;
            assert!(found.contains(&path(writes)), "{name}: {found:?}");
        }
        let found = rules_of(&["smb://nas/media/film", "/dev/null"]).writes;
        assert!(found.contains(&PathBuf::from("/dev/null")), "{found:?}");
        assert!(!found.contains(&PathBuf::from("/dev")), "{found:?}");
        let found = rules_of(&["smb://nas/media/film", "/dev/zero"]).writes;
        assert!(!found.contains(&PathBuf::from("/dev")), "{found:?}");
    }

    fn refused(status: smb::NtStatus) -> smb::ProtocolError {
        smb::ProtocolError::refused(smb::ProtocolOperation::Write.of("film"), status)
    }

    /// What ends a copy, with the hint where files were begun and where none was.
    fn ends() -> Vec<(smb::Error, Option<&'static str>, Option<&'static str>)> {
        let name = || "nas".to_owned();
        let full = refused(smb::NtStatus::DISK_FULL);
        let local = smb::Error::LocalFile {
            action: say("error-smb.cannot-write"),
            path: PathBuf::from("film"),
            source: ErrorKind::StorageFull.into(),
        };
        let lost = smb::Error::ConnectionLost {
            server: name(),
            source: smb::ProtocolError::SessionEnded(None),
        };
        let protocol = smb::Error::Protocol {
            server: name(),
            source: smb::ProtocolError::Misbehaving("it answers twice".into()),
        };
        let login = smb::Error::LoginRefused {
            server: name(),
            user: name(),
            source: refused(smb::NtStatus::LOGON_FAILURE),
        };
        let guest = smb::Error::GuestOnly {
            server: name(),
            user: name(),
        };
        let usage = smb::Error::Usage {
            reason: say("error-copy.no-share"),
        };
        let disk = smb::Error::DiskFull {
            object: name(),
            source: full,
        };
        let [resume, room] = ["hint-copy.resume", "hint-copy.disk-full"].map(Some);
        let then = Some("hint-copy.then-resume");
        vec![
            (disk, room, room),
            (local, room, room),
            (smb::Error::Stopped, resume, resume),
            (lost, resume, Some("hint-measure.connection-lost")),
            (protocol, resume, None),
            (login, then, Some("hint-measure.login-refused")),
            (
                guest,
                Some("hint-measure.guest-only"),
                Some("hint-measure.guest-only"),
            ),
            (usage, None, None),
        ]
    }

    fn next_id(error: &CommandError) -> Option<&'static str> {
        error.next_message().map(|hint| hint.id)
    }

    #[test]
    fn what_a_copy_had_begun_can_be_gone_on_with_whatever_ended_it() {
        let found = ends().into_iter().map(|(end, ..)| explain_end(end, 3));
        let expected = ends().into_iter().map(|(_, begun, _)| begun);
        for (found, expected) in found.zip(expected) {
            assert_eq!(next_id(&found), expected, "{found}");
        }
        for (end, _, expected) in ends() {
            let found = explain_end(end, 0);
            assert_eq!(next_id(&found), expected, "{found}");
        }
    }

    #[test]
    fn an_only_file_that_was_interrupted_can_be_gone_on_with() {
        let object = || "film".to_owned();
        let interrupted = smb::Error::Interrupted {
            object: object(),
            source: smb::ProtocolError::SessionEnded(None),
        };
        assert_eq!(
            next_id(&explain_failure(interrupted)),
            Some("hint-copy.resume")
        );
        let changed = smb::Error::Changed { object: object() };
        assert_eq!(next_id(&explain_failure(changed)), None);
    }

    #[test]
    fn a_lost_connection_is_said_once_and_so_is_its_return() {
        let mut lost = None;
        assert_eq!(news_of_connection(&mut lost, None), None);
        let news = news_of_connection(&mut lost, Some("nas"));
        assert!(news.is_some_and(|news| news.starts_with("the connection to `nas` is lost")));
        assert_eq!(news_of_connection(&mut lost, Some("nas")), None);
        let news = news_of_connection(&mut lost, None);
        assert!(news.is_some_and(|news| news.starts_with("connected to `nas` again after ")));
        assert_eq!(news_of_connection(&mut lost, None), None);
    }
}
