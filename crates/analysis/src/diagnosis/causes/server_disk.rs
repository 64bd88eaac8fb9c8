//! The server's disk does not keep up.

use locale::say;
use record::{Direction, Job, ProbeKind, Rung, ServerCache, Workload};

use super::{Advice, Decider, Evidence, Finding, asynchronous_io, sync_writes};
use crate::RungName;
use crate::rung_and_probe_verdict::Loss;
use stats::Unit;
use stats::computed;

/// How much slower writes must be than reads to be another matter.
const WRITES_SLOWER: f64 = 1.3;
/// The same where the server is not looked at, and the client has much to do: what writes cost here they may cost there.
const WRITES_SLOWER_UNSEEN: f64 = 1.8;
/// The same where the processors are used by others as well.
const WRITES_SLOWER_IN_A_CROWD: f64 = 4.0;
/// What one block written over and over gains at least where a disk is what it spares.
const ONE_BLOCK_GAINS: f64 = 1.3;
/// The part of the time of writing that TCP waits for the network where it is not what limits.
const NETWORK_IDLE: f64 = 0.5;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    by_one_block(seen)
        .or_else(|| by_writes(seen))
        .or_else(|| by_reads(seen))
}

fn advice(seen: &Evidence) -> Advice {
    Advice::of("fix.faster-disk")
        .gains(seen.gain())
        .commands(["iostat -x 1".to_owned()])
}

/// One block written over and over needs no disk to keep up: what that gains the disk costs. It spares the server new
/// memory as well, which gained 1.23x where its processor was what it lacked: so little proves no disk to who sees one end.
fn by_one_block(seen: &Evidence) -> Option<Finding> {
    let one_block = seen.probed_of_share(ProbeKind::OneBlock)?;
    let gain = one_block.ratio.value;
    if one_block.loss != Loss::Loses || reads_lose_alike(seen) {
        return None;
    }
    let text = say("server-disk.one-block").ratio("gain", gain);
    Some(
        match seen.network.server.is_none() && gain < ONE_BLOCK_GAINS {
            true => Finding::suspected(text, Decider::Server, advice(seen)),
            false => Finding::counted(text, advice(seen)),
        },
    )
}

/// Whether reads from memory, which no disk holds back, lose as well and are not much faster than writes.
fn reads_lose_alike(seen: &Evidence) -> bool {
    let name = seen.share_that_loses().1;
    let rate = |direction| seen.rate(name, direction);
    let both = rate(Direction::Read).zip(rate(Direction::Write));
    let is_alike = both.is_some_and(|(read, write)| read < write * WRITES_SLOWER);
    is_alike && seen.may_lose_in(name, Direction::Read)
}

/// Writes wait while reads from memory do not.
fn by_writes(seen: &Evidence) -> Option<Finding> {
    let name = seen.share_that_loses().1;
    let write_loses = seen.may_lose_in(name, Direction::Write);
    if !write_loses || seen.is_in_memory() || seen.busy_channel().is_some() || is_other(seen) {
        return None;
    }
    let server = seen.network.server;
    let client = seen.network.client.filter(|_| server.is_none());
    let client_works = client.is_some_and(|it| seen.idles_at_writes(&it.name) == Some(false));
    let slower = match (seen.crowded_host(), client_works) {
        (Some(_), _) => WRITES_SLOWER_IN_A_CROWD,
        (None, true) => WRITES_SLOWER_UNSEEN,
        (None, false) => WRITES_SLOWER,
    };
    let read = seen.rate(name, Direction::Read)?;
    let write = seen.rate(name, Direction::Write)?;
    // A network that is itself as slow explains it as well; raw TCP takes one of several links.
    let network = seen.rate(RungName::Tcp, Direction::Write);
    let network = network.filter(|_| name == RungName::Share);
    if network.is_some_and(|network| network < write * WRITES_SLOWER) {
        return None;
    }
    let reads_are_well = !seen.may_lose_in(name, Direction::Read);
    let idles = server.is_some_and(|server| seen.is_idle(&server.name));
    let waits = match reads_are_well {
        true => read > write * slower,
        false => idles,
    };
    let text = say("server-disk.writes")
        .rate("write", write)
        .rate("read", read);
    if !waits {
        return None;
    }
    if is_waited_for(seen) {
        let text = say("server-disk.waits").rate("write", write);
        return Some(Finding::counted(text, advice(seen)));
    }
    let decider = match (seen.storage_is_indifferent(), server) {
        (false, _) => Decider::Probe,
        (true, None) => Decider::Server,
        (true, Some(_)) => Decider::Hand("decide.sync-writes"),
    };
    Some(Finding::suspected(text, decider, advice(seen)))
}

/// Whether something was measured by which it is no disk that writes wait for.
fn is_other(seen: &Evidence) -> bool {
    let (rung, name) = seen.share_that_loses();
    // One connection may write slowly for many a reason that has nothing to do with where its bytes land. Several links that
    // are filled while reading, and are left equally idle while writing, wait for the server's storage.
    let (idle, is_refuted) = match name {
        RungName::Channels => {
            // TCP is busy as long as it takes to move what is moved.
            let part = seen.part_of_links(Direction::Write).unwrap_or(1.0);
            let is_uneven = seen.fills_a_link(Direction::Write);
            (f64::midpoint(1.0, part), is_uneven)
        }
        _ => (NETWORK_IDLE, seen.storage_is_indifferent()),
    };
    // TCP that is busy all the time waits for the network and for no disk.
    let is_network = seen.network_share(rung).is_some_and(|share| share > idle);
    // Waiting for a disk leaves time.
    let server = seen.network.server;
    let works = server.is_some_and(|it| seen.idles_at_writes(&it.name) == Some(false));
    is_refuted || is_network || (works && seen.crowded_host().is_none())
}

/// Whether programs of the server wait for its disk as long as the share is written to, and no longer than around the
/// trial while it is read from memory: otherwise they may be others. Synchronous writes wait for another reason.
fn is_waited_for(seen: &Evidence) -> bool {
    let Some(server) = seen.network.server else {
        return false;
    };
    let writing = seen.waits_for_disk(&server.name, Direction::Write);
    let reading = seen.waits_for_disk(&server.name, Direction::Read);
    writing.is_some_and(|wait| wait.of_moving >= 1.0)
        && reading.is_some_and(|wait| wait.of_around <= 1.0)
        && sync_writes::find(seen).is_none()
        && asynchronous_io::find(seen).is_none()
}

/// A file that is read from the disk comes slower than one in memory.
fn by_reads(seen: &Evidence) -> Option<Finding> {
    let rung = seen.rung(RungName::Disk, Direction::Read)?;
    if rung.loss != Some(Loss::Loses) {
        return None;
    }
    let share = rung.of_above.as_ref()?.value;
    let disk = seen.rate(RungName::Disk, Direction::Read)?;
    let memory = seen.rate(RungName::Share, Direction::Read)?;
    let is_cold = seen.of_rung(Rung::Disk).all(|(trial, _)| {
        matches!(&trial.workload, Workload::Job(workload) if matches!(
            workload.job,
            Job::ReadOnce { cache: ServerCache::Cold, .. }
        ))
    });
    let text = say(match is_cold {
        true => "server-disk.cold",
        false => "server-disk.reads",
    })
    .rate("disk", disk)
    .share("share", share)
    .rate("memory", memory);
    let gain = computed(
        memory / disk,
        Unit::Ratio,
        vec!["at most, and for reading what is not in the server's memory".into()],
    );
    let advice = Advice::of("fix.faster-disk-for-reads")
        .gains(Some(gain))
        .commands(["iostat -x 1".to_owned()]);
    let found = match is_cold {
        true => Finding::counted(text, advice),
        false => Finding::suspected(text, Decider::Server, advice),
    };
    // What the share loses above it, it loses from memory.
    let lost = seen.lost();
    Some(found.off_path_if(lost.is_some_and(|lost| lost.rung != RungName::Disk)))
}
