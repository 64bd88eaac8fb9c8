//! What a copy says at its end.

use record::Bytes;
use record::text::clean;
use report::quantity;
use serde_json::{Value, json};
use smb::copy::{Failure, Names, Summary};
use smb::{ChannelStatus, Proof, Session};

use super::connections::{Connections, Protection};
use crate::args::CopyArguments;
use crate::failure::{CommandError, Kind};
use crate::terminal;

/// A copy shorter than this has no rate worth a number.
const RATE_SECONDS_MIN: f64 = 0.01;
/// Columns for the path of what could not be copied; a longer one pushes its reason to the right.
const PATH_COLUMNS: usize = 32;
/// What could not be copied, with the reason.
pub(super) fn show_failures(summary: &Summary, names: Names) {
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

/// What was copied, and is not all that it should be. Each only where that is asked for: of a server that
/// keeps no times, it is all of them.
pub(super) fn show_without(summary: &Summary, verbose: bool) {
    if let Some(lost) = &summary.first_lost {
        let count = files(summary.lost);
        terminal::say(&format!(
            "the server lost data of {count}, the first is `{}`: {}\nhint: {count} written again, piece by \
             piece; `--verify` proves all that is copied to this server",
            lost.path,
            reason(&lost.error),
        ));
    }
    let Some(first) = summary.without.first() else {
        return;
    };
    let count = summary.not_kept;
    terminal::say(&format!(
        "copied, but without times, mode or attributes: {count}, the first is `{}`: {}",
        first.path,
        reason(&first.error)
    ));
    if verbose {
        for without in &summary.without {
            let path = &without.path;
            terminal::say(&format!(
                "  {path:PATH_COLUMNS$}  {}",
                reason(&without.error)
            ));
        }
    } else if count > 1 {
        terminal::say("hint: `-v` lists them all");
    }
}

/// An error with those below it, in one line; what it happened to stands before it.
fn reason(error: &smb::Error) -> String {
    match error {
        smb::Error::Name { reason, .. } => clean(reason),
        smb::Error::NotCopied { reason, .. } => (*reason).to_owned(),
        error => CommandError::from_error(Kind::Refused, error).text(),
    }
}

/// What was typed, and which way the bytes went.
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

pub(super) fn as_json(
    ends: &Ends,
    connections: &Connections<'_>,
    summary: &Summary,
    seconds: f64,
    arguments: &CopyArguments,
) -> Value {
    let failures = (summary.failures.iter())
        .map(|failure| json!({ "path": failure.path, "reason": reason(&failure.error) }));
    let without =
        (summary.without.iter()).map(|it| json!({ "path": it.path, "reason": reason(&it.error) }));
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
            "server": share.address.server, "login": proof_name(session), "posix": connected.posix,
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
        "protected": connections.protection() == Protection::Keys,
        "unchanged": summary.unchanged,
        "newer": summary.newer,
        "links": summary.links,
        "folders": summary.folders,
        "deleted": summary.deleted,
        "kept": summary.kept,
        "skipped": summary.skipped,
        "unfinished": summary.unfinished,
        "filtered": summary.filtered,
        "failed": summary.failed,
        "failures": failures.collect::<Vec<_>>(),
        "not_kept": summary.not_kept,
        "without": without.collect::<Vec<_>>(),
        "lost_and_repeated": summary.lost,
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

pub(super) fn show(
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
    if summary.verified > 0 {
        terminal::print(&format!(
            "  {}",
            what_was_proven(ends, connections.protection())
        ));
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
    let odd = connections
        .sessions
        .iter()
        .filter(|it| it.session.avoids_chains());
    for connected in odd.filter(|_| arguments.verbose) {
        let server = &connected.share.address.server;
        terminal::print(&format!(
            "  `{server}` signs chained replies without their padding, against MS-SMB2 3.1.4.1: requests go alone"
        ));
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
pub(super) fn show_before_the_end(summary: &Summary, found: u64) {
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
        (summary.links, "symbolic links"),
        (summary.unchanged, "there already"),
        (summary.newer, "newer at the destination, left"),
        (summary.deleted, "removed from the destination"),
        (
            summary.kept,
            "not removed, as something in their folder was not copied, or they were exchanged since",
        ),
        (summary.skipped, "left out: links, devices and the like"),
        (
            summary.unfinished,
            "left out: parts of copies that were not completed, by their names (`~….linerate-part`, `-record`)",
        ),
        (summary.filtered, "left out by `--include` and `--exclude`"),
        (summary.failed, "not copied"),
    ];
    counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("  {count} {what}"))
        .collect()
}

/// What reading back proves, and against whom.
fn what_was_proven(ends: &Ends, protection: Protection) -> String {
    let (same, disk) = match ends.sent {
        true => ("the server gives back what was read here", "the server's"),
        false => (
            "what is here is what came from the server",
            "this machine's",
        ),
    };
    match protection {
        Protection::Keys => format!(
            "proven: {same}, and no one on the path has changed it; not proven: that it is on {disk} disk already"
        ),
        Protection::Nothing => format!(
            "proven: {same}; not proven: that no one on the path has changed it, as nothing is signed, or that \
             it is on {disk} disk already"
        ),
    }
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
        for (sent, protection, end, claims) in [
            (true, Protection::Keys, "the server's disk", true),
            (true, Protection::Nothing, "the server's disk", false),
            (false, Protection::Keys, "this machine's disk", true),
            (false, Protection::Nothing, "this machine's disk", false),
        ] {
            let said = what_was_proven(&ends(sent), protection);
            let (proven, open) = said.split_once("; not proven: ").unwrap();
            assert!(open.contains(end), "{said}");
            assert_eq!(
                proven.contains("no one on the path has changed it"),
                claims,
                "{said}"
            );
            assert_eq!(
                open.contains("no one on the path has changed it"),
                !claims,
                "{said}"
            );
        }
    }
}
