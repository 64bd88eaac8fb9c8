//! What others say of a measurement: an iperf3 server its results, the process of a trial its lines,
//! `fio` its JSON, a host its counters. Each is understood or refused, and what is understood can be added
//! up and drawn.

use measure::fuzzing;
use record::{
    Bytes, Cache, Data, Direction, FolderKind, FolderWorkload, HostName, Nanoseconds, Operations,
    Pattern, Timing,
};

/// Takes one input; panics where what must hold does not.
pub fn run(data: &[u8]) {
    let results = fuzzing::iperf3_results(data);
    if let Ok((streams, bytes, _)) = results {
        assert!(streams > 0 || bytes == 0, "bytes of no stream");
    }
    let lines = data.split(|byte| *byte == b'\n').count();
    assert!(fuzzing::trial_lines(data) <= lines);
    for opposite_percent in [0, 30] {
        drop(fuzzing::fio(data, &workload(opposite_percent)));
    }
    let text = String::from_utf8_lossy(data);
    let half = text.len() / 2;
    let half = (half..).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let host = HostName::new("fuzzed");
    for [before, after] in [[&text[..], &text], [&text[..half], &text[half..]]] {
        let (load, _) = fuzzing::load_between(before, after, &host);
        for processor in load.processors {
            assert!((0.0..=1.0).contains(&processor.busy));
            assert!((0.0..=1.0).contains(&processor.softirq));
        }
    }
}

fn workload(opposite_percent: u32) -> FolderWorkload {
    let second = Nanoseconds::new(1_000_000_000);
    FolderWorkload {
        folder: "/mnt/media".to_owned(),
        kind: FolderKind::Folder,
        direction: Direction::Read,
        block: Bytes::new(1 << 20),
        depth: 1,
        file_size: Bytes::new(1 << 30),
        operations: Operations {
            pattern: Pattern::default(),
            threads: 1,
            opposite_percent,
            data: Data::default(),
            cache: Cache::default(),
            write_through: false,
            file: None,
        },
        second_mount: None,
        timing: Timing {
            warm_up: second,
            measured: second,
            interval: second,
        },
    }
}
