//! What a host has to do while something is measured.

use std::time::Instant;

use host::exec::{Command, Exec};
use record::{HostLoad, HostName, Nanoseconds, ProcessorLoad};

/// Prints the counters of a Linux host, each kind after a line that begins with `@`. What a host does
/// not have is left out. The control groups are our own and those of a file server, of both versions.
const LOOK: &str = r##"echo @stat; grep '^cpu[0-9]' /proc/stat
echo @dev; cat /proc/net/dev
echo @snmp; grep '^Tcp:' /proc/net/snmp
echo @throttled
pids=self
for status in /proc/[0-9]*/comm; do
    read -r name <"$status" || continue
    case $name in smbd|ksmbd*) pids="$pids $(basename "$(dirname "$status")")";; esac
done
for pid in $pids; do
    while IFS=: read -r _ names path; do
        case $names in
        '') folder=/sys/fs/cgroup$path;;
        cpu|cpu,cpuacct|cpuacct,cpu) folder=/sys/fs/cgroup/$names$path;;
        *) continue;;
        esac
        [ -f "$folder/cpu.stat" ] && echo "$folder" && cat "$folder/cpu.stat"
    done </proc/"$pid"/cgroup
done
echo @pause
for nic in /sys/class/net/*; do
    ethtool -S "${nic##*/}" | grep -i 'pause'
done
true
"##;

/// The counters of a host at one moment.
#[derive(Clone, Debug)]
pub struct Counters {
    at: Instant,
    /// User, nice, system, idle, waiting, interrupts, soft interrupts, stolen; of each processor.
    processors: Vec<[u64; 8]>,
    resent: Option<u64>,
    dropped: Option<u64>,
    pauses: Option<u64>,
    throttled: Option<u64>,
}

impl Counters {
    /// Reads them. None where the host does not answer or is no Linux: a trial is not lost for that.
    #[must_use]
    pub fn read(exec: &dyn Exec) -> Option<Self> {
        let command = Command::new(["sh", "-c", LOOK]);
        let output = exec.run(&[command]).ok()?.pop()?;
        let at = Instant::now();
        Some(parse(&String::from_utf8_lossy(&output.stdout), at))
            .filter(|counters| !counters.processors.is_empty())
    }

    /// What a host did from one moment to a later one.
    #[must_use]
    pub fn until(&self, later: &Self, host: &HostName) -> HostLoad {
        let grown = |one: Option<u64>, two: Option<u64>| Some(two?.saturating_sub(one?));
        let processors = self.processors.iter().zip(&later.processors);
        HostLoad {
            host: host.clone(),
            duration: later.at.saturating_duration_since(self.at).into(),
            processors: processors.map(|(one, two)| processor(one, two)).collect(),
            resent: grown(self.resent, later.resent),
            dropped: grown(self.dropped, later.dropped),
            pauses: grown(self.pauses, later.pauses),
            throttled: grown(self.throttled, later.throttled).map(Nanoseconds::new),
            served: None,
        }
    }
}

fn processor(before: &[u64; 8], after: &[u64; 8]) -> ProcessorLoad {
    let mut spent = [0.0; 8];
    for (spent, (before, after)) in spent.iter_mut().zip(before.iter().zip(after)) {
        *spent = after.saturating_sub(*before) as f64;
    }
    let total: f64 = spent.iter().sum();
    let share = |part: f64| if total > 0.0 { part / total } else { 0.0 };
    ProcessorLoad {
        busy: share(total - spent[3] - spent[4]),
        softirq: share(spent[5] + spent[6]),
    }
}

pub(crate) fn parse(text: &str, at: Instant) -> Counters {
    let mut section = "";
    let mut counters = Counters {
        at,
        processors: Vec::new(),
        resent: None,
        dropped: None,
        pauses: None,
        throttled: None,
    };
    let mut tcp_names: Vec<&str> = Vec::new();
    let mut groups: Vec<&str> = Vec::new();
    let mut counts = false;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('@') {
            section = name;
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match (section, words.as_slice()) {
            ("stat", [_, times @ ..]) => {
                let mut row = [0; 8];
                for (place, time) in row.iter_mut().zip(times) {
                    *place = time.parse().unwrap_or(0);
                }
                counters.processors.push(row);
            }
            ("dev", _) => {
                if let Some(drops) = drops(line) {
                    add(&mut counters.dropped, drops);
                }
            }
            ("snmp", [_, values @ ..]) if tcp_names.is_empty() => tcp_names = values.to_vec(),
            ("snmp", [_, values @ ..]) => {
                let at = tcp_names.iter().position(|name| *name == "RetransSegs");
                counters.resent = at.and_then(|at| values.get(at)?.parse().ok());
            }
            ("throttled", [folder]) if folder.starts_with('/') => {
                counts = !groups.contains(folder);
                groups.push(folder);
            }
            ("throttled", [name, value]) if counts => {
                let value: u64 = value.parse().unwrap_or(0);
                match *name {
                    "throttled_usec" => add(&mut counters.throttled, value.saturating_mul(1000)),
                    "throttled_time" => add(&mut counters.throttled, value),
                    _ => {}
                }
            }
            ("pause", [.., value]) => {
                if let Ok(value) = value.parse() {
                    add(&mut counters.pauses, value);
                }
            }
            _ => {}
        }
    }
    counters
}

fn add(sum: &mut Option<u64>, more: u64) {
    *sum = Some(sum.unwrap_or(0).saturating_add(more));
}

/// Packets that a NIC of `/proc/net/dev` dropped, both ways; the loopback's do not count.
fn drops(line: &str) -> Option<u64> {
    let (name, values) = line.split_once(':')?;
    let mut values = values.split_whitespace();
    let received: u64 = values.nth(3)?.parse().ok()?;
    let sent: u64 = values.nth(7)?.parse().ok()?;
    (name.trim() != "lo").then(|| received.saturating_add(sent))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "@stat\n\
        cpu0 100 0 50 800 10 0 40 0 0 0\n\
        cpu1 0 0 0 1000 0 0 0 0 0 0\n\
        @dev\n\
        Inter-|   Receive                                                |  Transmit\n \
        face |bytes    packets errs drop fifo frame compressed multicast|bytes packets errs drop\n\
            lo: 5 5 0 9 0 0 0 0 5 5 0 9 0 0 0 0\n\
          eth0: 5 5 0 1 0 0 0 0 5 5 0 2 0 0 0 0\n\
        @snmp\n\
        Tcp: RtoAlgorithm RetransSegs InErrs\n\
        Tcp: 1 7 0\n\
        @throttled\n\
        /sys/fs/cgroup/cpu/a\n\
        nr_periods 3\n\
        throttled_time 1000\n\
        /sys/fs/cgroup/cpu/a\n\
        throttled_time 1000\n\
        /sys/fs/cgroup/b\n\
        throttled_usec 2\n\
        @pause\n     \
        rx_pause: 4\n";

    #[test]
    fn counters_are_read_and_subtracted() {
        let begin = Instant::now();
        let before = parse(BEFORE, begin);
        assert_eq!((before.resent, before.dropped), (Some(7), Some(3)));
        assert_eq!((before.throttled, before.pauses), (Some(3000), Some(4)));
        let text = BEFORE
            .replace("cpu0 100 0 50 800 10 0 40", "cpu0 150 0 50 820 10 0 70")
            .replace("Tcp: 1 7 0", "Tcp: 1 9 0");
        let load = before.until(
            &parse(&text, begin + std::time::Duration::from_secs(1)),
            &HostName::new("x"),
        );
        assert_eq!(load.resent, Some(2));
        assert_eq!(load.dropped, Some(0));
        assert!((load.processors[0].busy - 0.8).abs() < 1e-9);
        assert!((load.processors[0].softirq - 0.3).abs() < 1e-9);
        // A processor of which nothing was heard did nothing.
        assert!(load.processors[1].busy.abs() < 1e-9);
    }

    #[test]
    fn this_machine_tells() {
        let counters = Counters::read(&host::exec::Local::new()).unwrap();
        assert!(counters.dropped.is_some() && counters.resent.is_some());
    }

    #[test]
    fn nonsense_is_no_counter() {
        for text in [
            "",
            "@stat",
            "@dev\nx:",
            "@snmp\nTcp:\nTcp:",
            "@throttled\nx y z",
        ] {
            let counters = parse(text, Instant::now());
            assert!(
                counters.processors.is_empty() && counters.dropped.is_none(),
                "{text}"
            );
        }
    }
}
