//! What serving costs the processors of a file server while a trial runs.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use host::exec::{Command, Exec};
use record::{HostLoad, HostName, Nanoseconds, Sample, ShareWorkload};

/// Prints a line for each thread of Samba or of the kernel's own server, after its name the time that it
/// ran in nanoseconds. It takes some milliseconds, for it goes on while somebody measures.
const LOOK: &str = r"exec 2>/dev/null
grep -s '' /dev/null $(grep -ls '^[0-9]* (k\{0,1\}smbd' /proc/[0-9]*/stat | sed 's:stat$:task/*/schedstat:')
true";
/// The last look comes after so many of ten parts of the counted time, so that it ends before that does.
const LAST_TENTHS: u32 = 8;
/// Looks that are nearer to each other, in parts of the counted time, say too little.
const APART_TENTHS: u32 = 3;
/// Fewer samples leave no two moments between which everything is under way.
const SAMPLES_MIN: u64 = 4;

/// Looks at a file server twice while a share's trial counts. It is told of each sample.
#[derive(Debug)]
pub struct Serving<'a> {
    exec: &'a dyn Exec,
    counted: Duration,
    interval: Duration,
    /// The first and the last look; what a server did not tell is none.
    looks: Vec<Option<Spent>>,
}

/// What each thread has run so far.
#[derive(Clone, Debug)]
struct Spent {
    at: Instant,
    threads: BTreeMap<String, u64>,
}

impl<'a> Serving<'a> {
    /// Watches the server behind `exec` during such a trial; none where the trial is too short.
    #[must_use]
    pub fn of(exec: &'a dyn Exec, workload: &ShareWorkload) -> Option<Self> {
        let timing = workload.timing;
        (timing.measured.get() / timing.interval.get().max(1) >= SAMPLES_MIN).then_some(Self {
            exec,
            counted: timing.measured.into(),
            interval: timing.interval.into(),
            looks: Vec::new(),
        })
    }

    /// Looks, if it is time. A server that does not answer costs no trial.
    pub fn saw(&mut self, sample: &Sample) {
        let over = Duration::from(sample.at) + Duration::from(sample.duration);
        let due = match self.looks[..] {
            [] => true,
            [Some(_)] => over >= self.counted * LAST_TENTHS / 10,
            _ => false,
        };
        if due {
            self.looks.push(read(self.exec));
        }
    }

    /// What the server's processes ran from the first look to the last; none where it cannot be known,
    /// because looks took so long that the last one came when the work was over, or at once.
    #[must_use]
    pub fn load(&self, host: &HostName) -> Option<HostLoad> {
        let [Some(first), Some(last)] = &self.looks[..] else {
            return None;
        };
        let between = last.at.saturating_duration_since(first.at);
        let apart = self.counted * APART_TENTHS / 10..=self.counted.saturating_sub(self.interval);
        if !apart.contains(&between) {
            return None;
        }
        Some(HostLoad {
            host: host.clone(),
            duration: between.into(),
            processors: Vec::new(),
            resent: None,
            dropped: None,
            pauses: None,
            throttled: None,
            served: Some(ran(&first.threads, &last.threads)?),
            disk_waited: None,
            nics: Vec::new(),
            megahertz: None,
        })
    }
}

fn read(exec: &dyn Exec) -> Option<Spent> {
    let output = exec.run(&[Command::new(["sh", "-c", LOOK])]).ok()?.pop()?;
    let at = Instant::now();
    let threads = parse(&String::from_utf8_lossy(&output.stdout));
    (!threads.is_empty()).then_some(Spent { at, threads })
}

/// Lines as `/proc/12/task/13/schedstat:123456 789 10`.
pub(crate) fn parse(text: &str) -> BTreeMap<String, u64> {
    let threads = text.lines().filter_map(|line| {
        let (name, times) = line.split_once(':')?;
        let ran = times.split_whitespace().next()?.parse().ok()?;
        Some((name.to_owned(), ran))
    });
    threads.collect()
}

/// A thread that was not there before ran all of its time since; what one that is gone ran in between
/// is not known. None where none of them is the same.
pub(crate) fn ran(
    first: &BTreeMap<String, u64>,
    last: &BTreeMap<String, u64>,
) -> Option<Nanoseconds> {
    last.keys().find(|name| first.contains_key(*name))?;
    let each = last.iter().map(|(name, ran)| {
        let before = first.get(name).copied().unwrap_or(0);
        ran.saturating_sub(before)
    });
    Some(Nanoseconds::new(each.fold(0, u64::saturating_add)))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use host::Error;
    use host::exec::{Output, Process};
    use record::{Bytes, Demands, Direction, ShareAddress, Timing};

    use super::*;

    /// A host that prints one text after the other.
    #[derive(Debug)]
    struct Prints(Mutex<Vec<&'static str>>);

    impl Exec for Prints {
        fn run(&self, _: &[Command]) -> Result<Vec<Output>, Error> {
            let mut texts = self.0.lock().expect("nobody panicked");
            Ok(vec![Output {
                status: 0,
                stdout: texts.remove(0).into(),
                stderr: Vec::new(),
            }])
        }

        fn spawn(&self, _: &Command) -> Result<Process, Error> {
            unreachable!("nothing is started")
        }
    }

    fn workload(tenth: u64) -> ShareWorkload {
        ShareWorkload {
            share: ShareAddress {
                server: "nas".into(),
                port: 445,
                share: "data".into(),
                path: String::new(),
            },
            direction: Direction::Read,
            channels: 1,
            block: Bytes::new(1 << 20),
            depth: 8,
            file_size: Bytes::new(1 << 26),
            demands: Demands::default(),
            operations: None,
            timing: Timing {
                warm_up: Nanoseconds::new(0),
                measured: Nanoseconds::new(1_000_000_000),
                interval: Nanoseconds::new(tenth),
            },
            sessions: 1,
            connections: 1,
            file: record::FileUse::default(),
            socket: record::SocketOptions::default(),
        }
    }

    fn samples() -> impl Iterator<Item = Sample> {
        (0..10).map(|tenth| Sample {
            at: Nanoseconds::new(tenth * 100_000_000),
            duration: Nanoseconds::new(100_000_000),
            bytes: Bytes::new(1),
            cpu: Nanoseconds::new(1),
            retransmits: None,
        })
    }

    /// What two looks say that are so many milliseconds apart.
    fn said(texts: [&'static str; 2], milliseconds: u64) -> Option<HostLoad> {
        let exec = Prints(Mutex::new(texts.to_vec()));
        let mut serving = Serving::of(&exec, &workload(100_000_000)).expect("it is long enough");
        samples().for_each(|sample| serving.saw(&sample));
        if let [Some(first), Some(last)] = &mut serving.looks[..] {
            last.at = first.at + Duration::from_millis(milliseconds);
        }
        serving.load(&HostName::new("server"))
    }

    const BEFORE: &str = "/proc/7/task/7/schedstat:1000 5 1\n/proc/9/task/9/schedstat:50 0 1\n";
    const AFTER: &str = "/proc/7/task/7/schedstat:4000 6 2\n/proc/7/task/8/schedstat:30 0 1\n";

    #[test]
    fn threads_of_the_server_are_added_up_between_two_looks() {
        let load = said([BEFORE, AFTER], 700).expect("both looks say something");
        assert_eq!(load.served, Some(Nanoseconds::new(3030)));
        assert_eq!(load.duration, Nanoseconds::new(700_000_000));
    }

    #[test]
    fn what_cannot_be_known_is_not_told() {
        // The second look came at once, or when nothing was served any more.
        assert_eq!(said([BEFORE, AFTER], 20), None);
        assert_eq!(said([BEFORE, AFTER], 950), None);
        // Another server than before, or none.
        let other = "/proc/8/task/8/schedstat:9000 5 1\n";
        assert_eq!(said([BEFORE, other], 700), None);
        assert_eq!(said(["nonsense", AFTER], 700), None);
        let exec = Prints(Mutex::new(Vec::new()));
        assert!(Serving::of(&exec, &workload(1_000_000_000)).is_none());
    }

    #[test]
    fn this_machine_answers() {
        let exec = host::exec::Local::new();
        let output = exec
            .run(&[Command::new(["sh", "-c", LOOK])])
            .expect("a shell");
        assert_eq!(output[0].status, 0);
        let text = String::from_utf8_lossy(&output[0].stdout).into_owned();
        assert_eq!(parse(&text).len(), text.lines().count(), "{text}");
    }
}
