//! What a copy says at its end.

use std::net::SocketAddr;

use locale::{Message, said, say, text};
use report::quantity;
use schemars::JsonSchema;
use serde::Serialize;
use smb::copy::{Failure, Names, Summary};
use smb::{ChannelStatus, Proof, Session};

use super::connections::{Connected, Connections, Protection};
use super::{exists_already, may_leave_a_part};
use crate::args::CopyArguments;
use crate::changes::hint;
use crate::failure::{CommandError, Kind};
use crate::stdout_and_stderr;

/// A copy shorter than this has no rate worth a number.
const RATE_SECONDS_MIN: f64 = 0.01;
/// Columns for the path of what could not be copied; a longer one pushes its reason to the right.
const PATH_COLUMNS: usize = 32;

/// What `copy --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CopyResult<'a> {
    /// Whether nothing was copied, and only said what would be.
    dry_run: bool,
    /// What was copied, as typed.
    sources: &'a [String],
    /// Where to, as typed.
    destination: &'a str,
    /// Files that were copied, or would be.
    files: u64,
    /// Their bytes.
    bytes: u64,
    /// Of these, bytes that an earlier run had copied.
    resumed_bytes: u64,
    /// Bytes that the server copied by itself.
    on_server_bytes: u64,
    /// Why it did not copy more of them; null where the two ends are not on one server.
    not_on_server: Option<&'a Message>,
    /// Files whose copy was read back and has the hash of its source.
    verified: u64,
    /// Whether all sessions were signed or encrypted.
    protected: bool,
    /// Files whose copy was there already, by size and time.
    unchanged: u64,
    /// Files whose copy is newer, and was left.
    newer: u64,
    /// Symbolic links that were copied as links.
    links: u64,
    /// Folders that were made.
    folders: u64,
    /// Files and folders that were removed, each folder with all in it counted once; of one that stays, what was in it.
    deleted: u64,
    /// Files and folders that were not removed, since something in their folder failed or changed, or may be excluded.
    kept: u64,
    /// Links, devices and the like that were left out.
    skipped: u64,
    /// Parts of copies that were not completed, which were left out by their names.
    unfinished: u64,
    /// Files that `--include` and `--exclude` left out.
    filtered: u64,
    /// How many could not be copied or removed.
    failed: u64,
    /// The first of them.
    failures: Vec<FailedPath<'a>>,
    /// How many were copied without their times, mode or attributes, which the server does not take.
    not_kept: u64,
    /// The first of them.
    without: Vec<FailedPath<'a>>,
    /// Files that the server lost some of, and that were written once more.
    lost_and_repeated: u64,
    /// Files that were copied and have alternate data streams, which were not copied.
    with_streams: u64,
    /// BLAKE3 of the file, where it was one and its copy was verified.
    blake3: Option<&'a str>,
    /// How long it took.
    seconds: f64,
    /// Rate of what was moved, in 10^6 bytes a second; null where it was too short for one.
    mb_s: Option<f64>,
    /// The servers.
    servers: Vec<UsedServer<'a>>,
    /// The channels.
    channels: Vec<UsedChannel>,
    /// Why there were not more channels.
    rejected_channels: Vec<Message>,
}

/// A file or folder, and what is wrong with it.
#[derive(Debug, Serialize, JsonSchema)]
struct FailedPath<'a> {
    /// Its path.
    path: &'a str,
    /// What is wrong.
    reason: String,
}

/// A server, and what was agreed with it.
#[derive(Debug, Serialize, JsonSchema)]
struct UsedServer<'a> {
    /// Its name or address.
    server: &'a str,
    /// What the login was proven by: `kerberos`, `ntlm` or `none`.
    login: &'static str,
    /// Whether the POSIX extensions of SMB were used.
    posix: bool,
    /// What was agreed; null before a share was entered.
    session: Option<report::json::Session<'a>>,
}

/// A channel, and what it carried.
#[derive(Debug, Serialize, JsonSchema)]
struct UsedChannel {
    /// This machine's end.
    local: SocketAddr,
    /// The server's end.
    remote: SocketAddr,
    /// Its session, from 1.
    session: usize,
    /// Bytes of files that it moved.
    bytes: u64,
}

/// What could not be copied, with the reason.
pub(super) fn show_failures(summary: &Summary, names: Names) {
    if summary.failures.is_empty() {
        return;
    }
    stdout_and_stderr::say(&text("told-copy.not-copied"));
    summary.failures.iter().for_each(say_reason);
    let listed = summary.failures.len() as u64;
    if summary.failed > listed {
        let more = say("told-copy.more").count("count", summary.failed - listed);
        stdout_and_stderr::say(&format!("  {}", said(&more)));
    }
    for next in hints_of_failures(summary, names) {
        stdout_and_stderr::say(&hint(next));
    }
}

/// What to do about what could not be copied, where something helps.
fn hints_of_failures(summary: &Summary, names: Names) -> Vec<Message> {
    let any = |is: fn(&smb::Error) -> bool| summary.failures.iter().any(|it| is(&it.error));
    let is_name = |error: &smb::Error| matches!(error, smb::Error::Name { .. });
    // What ended the copy says that it can be gone on with, of these files as well.
    let resume = summary.ended_by.is_none() && any(may_leave_a_part);
    let hints = [
        any(exists_already).then(|| say("hint-copy.force-all")),
        (names == Names::Refuse && any(is_name)).then(|| say("hint-copy.map-names")),
        resume.then(|| say("hint-copy.resume-parts")),
    ];
    hints.into_iter().flatten().collect()
}

/// A path and what is wrong with it, a line of a list.
fn say_reason(failure: &Failure) {
    let (path, reason) = (&failure.path, reason(&failure.error).said());
    stdout_and_stderr::say(&format!("  {path:PATH_COLUMNS$}  {reason}"));
}

/// What was copied, and is not all that it should be. Each only where that is asked for: of a server that
/// keeps no times, it is all of them.
pub(super) fn show_without(summary: &Summary, verbose: bool) {
    if let Some(lost) = &summary.first_lost {
        let sentence = say("told-copy.data-lost").with("files", files(summary.lost));
        stdout_and_stderr::say(&said(&with_first(sentence, lost)));
        let again = say("hint-copy.written-again").with("files", files(summary.lost));
        stdout_and_stderr::say(&hint(again));
    }
    if let Some(first) = &summary.first_stream {
        let sentence = say("told-copy.streams").with("files", files(summary.with_streams));
        let sentence = sentence
            .with("path", &first.path)
            .with("stream", &first.name);
        stdout_and_stderr::say(&said(&sentence));
    }
    let Some(first) = summary.without.first() else {
        return;
    };
    let sentence = say("told-copy.without").count("count", summary.not_kept);
    stdout_and_stderr::say(&said(&with_first(sentence, first)));
    if verbose {
        summary.without.iter().for_each(say_reason);
    } else if summary.not_kept > 1 {
        stdout_and_stderr::say(&hint(say("hint-copy.list-all")));
    }
}

/// The sentence with the first of those that it counts.
fn with_first(sentence: Message, first: &Failure) -> Message {
    let reason = reason(&first.error).said();
    sentence.with("path", &first.path).with("reason", reason)
}

/// An error with those below it; what it happened to stands before it.
fn reason(error: &smb::Error) -> CommandError {
    match error {
        smb::Error::Name { reason, .. } | smb::Error::NotCopied { reason, .. } => {
            CommandError::new(Kind::Refused, reason.clone())
        }
        error => CommandError::from_error(Kind::Refused, error),
    }
}

/// What was typed, and in which direction the bytes went.
pub(super) struct Ends {
    pub(super) sources: Vec<String>,
    pub(super) destination: String,
    pub(super) sent: bool,
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

pub(super) fn as_json<'a>(
    ends: &'a Ends,
    connections: &'a Connections<'_>,
    summary: &'a Summary,
    seconds: f64,
    arguments: &CopyArguments,
) -> CopyResult<'a> {
    let channels = connections.channels().into_iter();
    let channels = channels.map(|status| UsedChannel {
        local: status.local,
        remote: status.remote,
        session: status.session + 1,
        bytes: ends.moved(&status),
    });
    let rate = rate(summary, seconds).filter(|_| !arguments.dry_run);
    CopyResult {
        dry_run: arguments.dry_run,
        sources: &ends.sources,
        destination: &ends.destination,
        files: summary.files,
        bytes: summary.bytes,
        resumed_bytes: summary.resumed_bytes,
        on_server_bytes: summary.on_server_bytes,
        not_on_server: summary.not_on_server.as_ref(),
        verified: summary.verified,
        protected: connections.protection() == Protection::Keys,
        unchanged: summary.unchanged,
        newer: summary.newer,
        links: summary.links,
        folders: summary.folders,
        deleted: summary.deleted,
        kept: summary.kept,
        skipped: summary.skipped,
        unfinished: summary.unfinished,
        filtered: summary.filtered,
        failed: summary.failed,
        failures: summary.failures.iter().map(FailedPath::of).collect(),
        not_kept: summary.not_kept,
        without: summary.without.iter().map(FailedPath::of).collect(),
        lost_and_repeated: summary.lost,
        with_streams: summary.with_streams,
        blake3: summary.hash.as_deref(),
        seconds,
        mb_s: rate.map(|rate| rate / 1e6),
        servers: connections.sessions.iter().map(UsedServer::of).collect(),
        channels: channels.collect(),
        rejected_channels: connections.rejected(),
    }
}

impl<'a> FailedPath<'a> {
    fn of(failure: &'a Failure) -> Self {
        Self {
            path: &failure.path,
            reason: reason(&failure.error).text(),
        }
    }
}

impl<'a> UsedServer<'a> {
    fn of(connected: &'a Connected) -> Self {
        let session = &connected.session;
        let agreed = connected.agreed.as_ref();
        Self {
            server: &connected.share.address.server,
            login: proof_name(session),
            posix: connected.posix,
            session: agreed.map(|agreed| report::session_json(agreed, channels_of_first(session))),
        }
    }
}

/// Those that were asked for; sessions beside it have as many each.
fn channels_of_first(session: &Session) -> usize {
    let channels = session.channels();
    channels.iter().filter(|it| it.session == 0).count()
}

pub(super) fn show(
    ends: &Ends,
    connections: &Connections<'_>,
    summary: &Summary,
    seconds: f64,
    arguments: &CopyArguments,
) {
    let channels = connections.channels();
    let sentence = match arguments.dry_run {
        true => say("told-copy.would-copy-all").count("channels", channels.len()),
        false => say("told-copy.copied")
            .with("seconds", format!("{seconds:.1}"))
            .with_known("rate", rate(summary, seconds).map(quantity::rate)),
    };
    let sentence = sentence
        .with("from", ends.sources.join(", "))
        .with("to", &ends.destination)
        .with("files", files(summary.files))
        .bytes("size", summary.bytes);
    stdout_and_stderr::print(&said(&sentence));
    for line in counts(summary, arguments.dry_run) {
        stdout_and_stderr::print(&line);
    }
    if summary.verified > 0 {
        print_detail(&what_was_proven(ends, connections.protection()));
    }
    if summary.on_server_bytes > 0 {
        print_detail(&say("told-copy.by-server").bytes("size", summary.on_server_bytes));
    }
    if let Some(reason) = &summary.not_on_server {
        print_detail(&say("told-copy.through-here").with("reason", reason.clone()));
    }
    if let Some(hash) = &summary.hash {
        stdout_and_stderr::print(&format!("  BLAKE3 {hash}"));
    }
    show_sessions(connections, arguments.verbose);
    if !arguments.dry_run {
        show_channels(ends, &channels);
    }
    for reason in connections.rejected() {
        stdout_and_stderr::say(&said(&say("told-copy.not-used").with("reason", reason)));
    }
}

/// A line below what was copied.
fn print_detail(sentence: &Message) {
    stdout_and_stderr::print(&format!("  {}", said(sentence)));
}

/// What was agreed for each session, and what a server does against the specification.
fn show_sessions(connections: &Connections<'_>, verbose: bool) {
    for connected in &connections.sessions {
        if let Some(agreed) = &connected.agreed {
            let used = channels_of_first(&connected.session);
            stdout_and_stderr::print(&format!("  {}", report::session_text(agreed, used)));
        }
    }
    let odd = connections
        .sessions
        .iter()
        .filter(|it| it.session.avoids_chains());
    for connected in odd.filter(|_| verbose) {
        let server = &connected.share.address.server;
        print_detail(&say("told-copy.no-chains").with("server", server));
    }
}

/// What each channel moved.
fn show_channels(ends: &Ends, channels: &[ChannelStatus]) {
    for status in channels {
        let beside = (status.session > 0).then(|| (status.session + 1).to_string());
        let sentence = say("told-copy.channel")
            .with("local", status.local.to_string())
            .with("remote", status.remote.to_string())
            .bytes("size", ends.moved(status));
        print_detail(&sentence.with_known("session", beside));
    }
}

/// What had been done when an error ended the copy.
pub(super) fn show_before_the_end(summary: &Summary, found: u64, dry_run: bool) {
    if found == 0 {
        return;
    }
    let sentence = say("told-copy.before-the-end")
        .with("copied", files(summary.files))
        .bytes("size", summary.bytes)
        .with("found", files(found));
    stdout_and_stderr::say(&said(&sentence));
    for line in counts(summary, dry_run) {
        stdout_and_stderr::say(&line);
    }
}

fn files(count: u64) -> Message {
    say("count.files").count("count", count)
}

/// What became of the files that were not just copied, a line each.
fn counts(summary: &Summary, dry_run: bool) -> Vec<String> {
    let deleted = match dry_run {
        true => "told-copy.count-would-delete",
        false => "told-copy.count-deleted",
    };
    let counts = [
        (summary.verified, "told-copy.count-verified"),
        (summary.links, "told-copy.count-links"),
        (summary.unchanged, "told-copy.count-unchanged"),
        (summary.newer, "told-copy.count-newer"),
        (summary.deleted, deleted),
        (summary.kept, "told-copy.count-kept"),
        (summary.skipped, "told-copy.count-skipped"),
        (summary.unfinished, "told-copy.count-unfinished"),
        (summary.filtered, "told-copy.count-filtered"),
        (summary.failed, "told-copy.count-failed"),
    ];
    counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("  {}", said(&say(what).count("count", count))))
        .collect()
}

/// What reading back proves, and against whom.
fn what_was_proven(ends: &Ends, protection: Protection) -> Message {
    say(match (ends.sent, protection) {
        (true, Protection::Keys) => "told-copy.proven-sent",
        (true, Protection::Nothing) => "told-copy.proven-sent-unsigned",
        (false, Protection::Keys) => "told-copy.proven-received",
        (false, Protection::Nothing) => "told-copy.proven-received-unsigned",
    })
}

fn proof_name(session: &Session) -> &'static str {
    match session.proof() {
        Proof::Kerberos => "kerberos",
        Proof::Ntlm => "ntlm",
        Proof::Nothing => "none",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_about_the_end_that_was_read_back() {
        let ends = |sent| Ends {
            sources: Vec::new(),
            destination: String::new(),
            sent,
        };
        for (sent, protection, id) in [
            (true, Protection::Keys, "told-copy.proven-sent"),
            (true, Protection::Nothing, "told-copy.proven-sent-unsigned"),
            (false, Protection::Keys, "told-copy.proven-received"),
            (
                false,
                Protection::Nothing,
                "told-copy.proven-received-unsigned",
            ),
        ] {
            assert_eq!(what_was_proven(&ends(sent), protection), say(id));
        }
    }

    #[test]
    fn files_that_were_interrupted_can_be_gone_on_with() {
        let object = || "film".to_owned();
        let source = || smb::ProtocolError::SessionEnded(None);
        let (interrupted, changed) = (
            smb::Error::Interrupted {
                object: object(),
                source: source(),
            },
            smb::Error::Changed { object: object() },
        );
        let failed = |error| Failure {
            path: object(),
            error,
        };
        let mut summary = Summary {
            failures: vec![failed(changed)],
            ..Summary::default()
        };
        assert!(hints_of_failures(&summary, Names::Refuse).is_empty());
        summary.failures.push(failed(interrupted));
        let hints = hints_of_failures(&summary, Names::Refuse);
        assert_eq!(hints, [say("hint-copy.resume-parts")]);
        // Then that is said of the whole copy.
        summary.ended_by = Some(smb::Error::Stopped);
        assert!(hints_of_failures(&summary, Names::Refuse).is_empty());
    }
}
