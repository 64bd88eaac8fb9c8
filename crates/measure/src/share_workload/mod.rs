//! A share: one file, read or written again and again with our own client.
//!
//! Each trial has a session of its own and a test file that the server removes when its handle is
//! gone, however that comes about: after `kill -9` of the trial nothing is left on the share. Where its
//! own requests are short, the file is written through another session with long ones.

mod bytes_per_connection;
mod login;
mod session_policy;
mod test_data;
mod test_file;
mod timed_transfer;

use std::time::{Duration, Instant};

use record::{Bytes, Data as Contents, Direction, ShareWorkload, TrialLine, TrialResult};
use smb::{File, Login, OpenOptions, Session, Tree};

use crate::interval_sampling::Spans;
use crate::queue_depth_and_latency::Clock;
use crate::{Error, Stop};
pub(crate) use bytes_per_connection::connections;
pub(crate) use login::Connected;
use login::{add_connections, check_agreed};
pub use login::{agreed, login};
use session_policy::REQUEST_BYTES;
pub use session_policy::demanded;
pub(crate) use session_policy::{policy, unbroken};
pub(crate) use test_data::{POOL_BYTES, TestData, pieces};
use test_file::{
    Opened, as_file_that_is_there, as_test_file, check_free_space, only_reads, remove, test_path,
    writes_through,
};
pub(crate) use test_file::{SPARE_SHARE, check_space, joined, test_name};
use timed_transfer::Test;

/// Requests in flight where a test file is written that is not measured meanwhile.
const PREPARATION_DEPTH: u32 = 8;
/// So many shorter ones are soon over, and need no other session.
const SHORT_REQUESTS_MAX: u64 = 64;
/// How often we look whether an answer has come, at the border of two samples.
const ANSWER_LOOK: Duration = Duration::from_micros(200);

/// Measures a share.
pub(crate) fn run(
    workload: &ShareWorkload,
    login: &Login,
    stop: &Stop,
    emit: &mut dyn FnMut(&TrialLine),
) -> Result<TrialResult, Error> {
    if !is_prepared_apart(workload)? {
        return measure(workload, None, login, stop, emit);
    }
    let contents = contents(workload).unwrap_or_default();
    let mut measured = None;
    let kept = keep(workload, contents, login, stop, &mut |path| {
        measured = Some(measure(workload, Some(path), login, stop, emit));
    });
    match (kept, measured) {
        (kept, Some(measured)) => measured.and_then(|result| kept.map(|()| result)),
        (Err(error), None) if !error.is_of_writing() => Err(error),
        // Who may not write may still read what is there.
        (_, None) => measure(workload, None, login, stop, emit),
    }
}

/// Whether the file takes a session of its own to be written soon: with requests of one sector, each
/// waiting for the one before, it would take minutes.
fn is_prepared_apart(workload: &ShareWorkload) -> Result<bool, Error> {
    let policy = policy(workload)?;
    let operations = workload.operations.as_ref();
    let is_there = operations.is_some_and(|operations| operations.file.is_some());
    let is_written = workload.direction == Direction::Read || operations.is_some();
    let request = u64::from(policy.block_bytes);
    let requests = workload.file_size.get().div_ceil(request.max(1));
    let many = request < REQUEST_BYTES && requests > SHORT_REQUESTS_MAX;
    Ok(is_written && !is_there && (many || writes_through(workload)))
}

/// What a test file holds; none where nobody asks for operations of their own.
fn contents(workload: &ShareWorkload) -> Option<Contents> {
    let operations = workload.operations.as_ref();
    operations.map(|operations| operations.data)
}

/// One trial, with a file that is there already or a new one.
fn measure(
    workload: &ShareWorkload,
    there: Option<String>,
    login: &Login,
    stop: &Stop,
    emit: &mut dyn FnMut(&TrialLine),
) -> Result<TrialResult, Error> {
    let spans = Spans::new(&workload.timing)?;
    let policy = policy(workload)?;
    let data = TestData::new(contents(workload).unwrap_or_default())?;
    let begun = Instant::now();
    let Connected {
        session,
        tree,
        mut rejected,
    } = Connected::connect_from(&workload.share, login, &policy, workload)?;
    check_agreed(&session, &tree, workload)?;
    let more = further_sessions(&tree, workload)?;
    add_connections(&session, workload.connections)?;
    let opened = match there {
        Some(path) => Opened::prepared(&tree, workload, path)?,
        None => Opened::of(&tree, workload, stop)?,
    };
    // Somebody's file may be shorter than one of our own.
    let workload = &ShareWorkload {
        file_size: opened.size,
        ..workload.clone()
    };
    let set_up = begun.elapsed();
    let mut test = Test {
        session: &session,
        files: vec![&opened.file],
        data: &data,
        workload,
        stop,
        clock: Clock::new(),
    };
    let again = fill_new(&test, &opened, &tree)?;
    if let Some(again) = &again {
        test.files = vec![again];
    }
    let of_session =
        |(_, tree): &(Session, Tree)| Opened::of_other_session(tree, &opened.path, workload);
    let others: Vec<Opened> = more.iter().map(of_session).collect::<Result<_, _>>()?;
    test.files.extend(others.iter().map(|opened| &opened.file));
    let transfer = test.transfer(&spans, emit)?;
    let latency = test.clock.latency();
    // The handles go first, and with them the file: a server that cannot remove it shall say so.
    again.map_or(Ok(()), File::close)?;
    for opened in others.into_iter().chain([opened]) {
        opened.end(&session)?;
    }
    let wanted = workload.connections_of_session() * workload.sessions;
    rejected.extend(transfer.losses(wanted));
    let agreed = agreed(&session, &tree, &rejected);
    // What was under way when the counted time ended has come by now.
    let last = session.channels();
    Ok(transfer.into_result(agreed, &last, set_up, latency))
}

/// The sessions beside the first, each with its connections. The first must not have its own yet: a parallel
/// session copies the connections of the first one.
fn further_sessions(tree: &Tree, workload: &ShareWorkload) -> Result<Vec<(Session, Tree)>, Error> {
    let open = |_| {
        let opened = Session::open_parallel(tree)?;
        add_connections(&opened.0, workload.connections)?;
        Ok(opened)
    };
    (1..workload.sessions).map(open).collect()
}

/// Fills a new file, where what is in it counts, and opens it once more where it is only read.
fn fill_new(test: &Test<'_>, opened: &Opened, tree: &Tree) -> Result<Option<File>, Error> {
    let workload = test.workload;
    // Operations of their own change a file that is there; a stream may write it anew.
    let counts = workload.direction == Direction::Read || contents(workload).is_some();
    if !(opened.is_new && counts) {
        return Ok(None);
    }
    test.prepare()?;
    // Who reads a file opens one that is there. Through a handle that found it empty, Samba does not
    // even use sendfile: it believes the size that it saw then.
    match only_reads(workload) {
        true => Ok(Some(tree.open(&opened.path, &as_file_that_is_there())?)),
        false => Ok(None),
    }
}

/// Makes a test file that others may open, and removes it once `wait`, which gets its name, returns.
/// Only where and how large it is counts of the workload.
pub(crate) fn keep(
    workload: &ShareWorkload,
    contents: Contents,
    login: &Login,
    stop: &Stop,
    wait: &mut dyn FnMut(String),
) -> Result<(), Error> {
    let workload = &of_preparation(workload);
    let policy = policy(workload)?;
    let data = TestData::new(contents)?;
    let share = &workload.share;
    let Connected { session, tree, .. } = Connected::connect(share, login, &policy, 1)?;
    check_free_space(&tree, workload)?;
    let path = test_path(&share.path)?;
    let options = OpenOptions {
        share_write: true,
        ..as_test_file(workload)
    };
    let file = tree.open(&path, &options)?;
    let test = Test {
        session: &session,
        files: vec![&file],
        data: &data,
        workload,
        stop,
        clock: Clock::new(),
    };
    test.prepare()?;
    wait(path);
    remove(file)
}

/// How a test file is written: in long requests, many of them under way.
fn of_preparation(workload: &ShareWorkload) -> ShareWorkload {
    ShareWorkload {
        channels: 1,
        sessions: 1,
        connections: 1,
        block: Bytes::new(REQUEST_BYTES).min(workload.file_size),
        depth: PREPARATION_DEPTH,
        operations: None,
        ..workload.clone()
    }
}

#[cfg(test)]
mod tests {
    use record::{Demands, ShareAddress, Timing};

    use super::*;

    pub(super) fn workload() -> ShareWorkload {
        let span = Duration::from_millis(100);
        ShareWorkload {
            share: ShareAddress {
                server: "127.0.0.1".to_owned(),
                port: 445,
                share: "data".to_owned(),
                path: String::new(),
            },
            direction: Direction::Read,
            channels: 1,
            block: Bytes::new(1 << 20),
            depth: 8,
            file_size: Bytes::new(10 << 20),
            demands: Demands::default(),
            operations: None,
            timing: Timing {
                warm_up: span.into(),
                measured: span.into(),
                interval: span.into(),
            },
            sessions: 1,
            connections: 1,
            file: record::FileUse::default(),
            socket: record::SocketOptions::default(),
        }
    }

    pub(super) fn operations(write_through: bool) -> record::Operations {
        record::Operations {
            pattern: record::Pattern::Sequential,
            threads: 1,
            opposite_percent: 0,
            data: Contents::Random,
            cache: record::Cache::Direct,
            write_through,
            file: None,
        }
    }

    /// Requests of the kind that is measured would take one round trip each.
    #[test]
    fn a_file_for_short_requests_is_written_in_long_ones() {
        let stream = |direction, block| ShareWorkload {
            direction,
            block: Bytes::new(block),
            depth: 1,
            ..workload()
        };
        let with = |operations, block| ShareWorkload {
            operations: Some(operations),
            ..stream(Direction::Write, block)
        };
        let kept = record::Operations {
            file: Some("kept".to_owned()),
            ..operations(true)
        };
        for (workload, apart) in [
            (stream(Direction::Read, 1 << 20), false),
            (stream(Direction::Read, 4096), true),
            (stream(Direction::Write, 4096), false),
            (with(operations(false), 4 << 20), false),
            (with(operations(false), 512), true),
            (with(operations(true), 4 << 20), true),
            (with(kept, 512), false),
        ] {
            assert_eq!(is_prepared_apart(&workload).unwrap(), apart, "{workload:?}");
            let written = of_preparation(&workload);
            let policy = policy(&written).unwrap();
            let long = (1 << 20, PREPARATION_DEPTH as usize);
            assert_eq!((policy.block_bytes, policy.depth), long);
            assert!(!as_test_file(&written).write_through);
        }
        let small = ShareWorkload {
            file_size: Bytes::new(64 << 10),
            ..stream(Direction::Read, 4096)
        };
        assert!(!is_prepared_apart(&small).unwrap());
        assert_eq!(of_preparation(&small).block, small.file_size);
    }
}
