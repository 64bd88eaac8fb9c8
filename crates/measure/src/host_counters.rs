//! What a host has to do while something is measured.

use std::time::{Duration, Instant};

use host::exec::{Command, Exec};
use record::{Bytes, HostLoad, HostName, Nanoseconds, NicLoad, ProcessorLoad};

/// Prints the counters of a Linux host, each kind after a line that begins with `@`. What a host does
/// not have is left out. The control groups are our own and those of a file server, of both versions.
const LOOK: &str = r##"exec 2>/dev/null
echo @stat; grep '^cpu[0-9]' /proc/stat
echo @dev; cat /proc/net/dev
echo @crc
for nic in /sys/class/net/*; do
    read -r count <"$nic/statistics/rx_crc_errors" && echo "${nic##*/} $count"
done
echo @mhz; grep '^cpu MHz' /proc/cpuinfo
echo @snmp; grep '^Tcp:' /proc/net/snmp
echo @io; cat /proc/pressure/io
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

/// Longest time that it may take.
const TIME_MAX: Duration = Duration::from_secs(3);

/// The counters of a host at one moment.
#[derive(Clone, Debug)]
pub struct Counters {
    at: Instant,
    /// User, nice, system, idle, waiting, interrupts, soft interrupts, stolen; of each processor.
    processors: Vec<[u64; 8]>,
    resent: Option<u64>,
    nics: Vec<NicCounts>,
    pauses: Option<u64>,
    throttled: Option<u64>,
    /// Microseconds in which some program waited for a disk.
    disk_waited: Option<u64>,
    /// Sum over processors, and how many they are.
    megahertz: (f64, u32),
}

/// What a NIC has counted since it was made; the loopback is none.
#[derive(Clone, Debug, Default)]
struct NicCounts {
    name: String,
    received: u64,
    sent: u64,
    /// All frames that came in vain, and those of them for their form, length or checksum.
    refused: [u64; 2],
    damaged: u64,
    dropped: u64,
}

impl NicCounts {
    /// Some drivers count what comes damaged among all that they refuse, and nowhere else.
    fn damaged(&self) -> u64 {
        let [refused, sorted] = self.refused;
        self.damaged.saturating_add(refused.saturating_sub(sorted))
    }

    fn until(&self, later: &Self) -> NicLoad {
        NicLoad {
            nic: self.name.clone(),
            received: Bytes::new(later.received.saturating_sub(self.received)),
            sent: Bytes::new(later.sent.saturating_sub(self.sent)),
            damaged: later.damaged().saturating_sub(self.damaged()),
            dropped: later.dropped.saturating_sub(self.dropped),
        }
    }
}

impl Counters {
    /// Reads them. None where the host does not answer or is no Linux: a trial is not lost for that.
    #[must_use]
    pub fn read(exec: &dyn Exec) -> Option<Self> {
        let command = Command::new(["sh", "-c", LOOK]).with_timeout(TIME_MAX);
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
        let nics = later.nics.iter().filter_map(|later| {
            let mut nics = self.nics.iter();
            Some(nics.find(|nic| nic.name == later.name)?.until(later))
        });
        let nics: Vec<NicLoad> = nics.collect();
        let (megahertz, counted) = later.megahertz;
        HostLoad {
            host: host.clone(),
            duration: later.at.saturating_duration_since(self.at).into(),
            processors: processors.map(|(one, two)| processor(one, two)).collect(),
            resent: grown(self.resent, later.resent),
            dropped: (!nics.is_empty()).then(|| nics.iter().map(|nic| nic.dropped).sum()),
            pauses: grown(self.pauses, later.pauses),
            throttled: grown(self.throttled, later.throttled).map(Nanoseconds::new),
            served: None,
            disk_waited: grown(self.disk_waited, later.disk_waited)
                .map(|microseconds| Nanoseconds::new(microseconds.saturating_mul(1000))),
            nics,
            megahertz: (counted > 0).then(|| (megahertz / f64::from(counted)).round() as u32),
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
        busy: share(total - spent[3] - spent[4] - spent[7]),
        softirq: share(spent[5] + spent[6]),
        steal: share(spent[7]),
    }
}

pub(crate) fn parse(text: &str, at: Instant) -> Counters {
    let mut section = "";
    let mut reading = Reading {
        counters: Counters {
            at,
            processors: Vec::new(),
            resent: None,
            nics: Vec::new(),
            pauses: None,
            throttled: None,
            disk_waited: None,
            megahertz: (0.0, 0),
        },
        tcp_names: Vec::new(),
        groups: Vec::new(),
        is_new_group: false,
    };
    for line in text.lines() {
        match line.strip_prefix('@') {
            Some(name) => section = name,
            None => reading.take(section, line),
        }
    }
    reading.counters
}

/// Counters while they are read, line by line.
struct Reading<'a> {
    counters: Counters,
    /// What the columns of TCP are called.
    tcp_names: Vec<&'a str>,
    /// The control groups so far: several processes may be in the same.
    groups: Vec<&'a str>,
    /// Whether the last of them was none of those before it.
    is_new_group: bool,
}

impl<'a> Reading<'a> {
    /// Takes a line of a section.
    fn take(&mut self, section: &str, line: &'a str) {
        let counters = &mut self.counters;
        let words: Vec<&str> = line.split_whitespace().collect();
        match (section, words.as_slice()) {
            ("stat", [_, times @ ..]) => {
                let mut row = [0; 8];
                for (place, time) in row.iter_mut().zip(times) {
                    *place = time.parse().unwrap_or(0);
                }
                counters.processors.push(row);
            }
            ("dev", _) => counters.nics.extend(nic(line)),
            ("crc", [name, count]) => {
                let mut nics = counters.nics.iter_mut();
                if let Some(nic) = nics.find(|nic| nic.name == *name) {
                    nic.damaged = count.parse().unwrap_or(0);
                }
            }
            ("mhz", [.., value]) => {
                if let Ok(value) = value.parse::<f64>() {
                    counters.megahertz.0 += value;
                    counters.megahertz.1 += 1;
                }
            }
            ("snmp", [_, values @ ..]) => self.take_tcp(values),
            ("io", ["some", .., total]) => {
                let total = total.strip_prefix("total=");
                counters.disk_waited = total.and_then(|total| total.parse().ok());
            }
            ("throttled", words) => self.take_throttled(words),
            ("pause", [.., value]) => {
                if let Ok(value) = value.parse() {
                    add(&mut counters.pauses, value);
                }
            }
            _ => {}
        }
    }

    /// The names of TCP's counters come first, and then their values.
    fn take_tcp(&mut self, words: &[&'a str]) {
        if self.tcp_names.is_empty() {
            self.tcp_names = words.to_vec();
            return;
        }
        let mut names = self.tcp_names.iter();
        let at = names.position(|name| *name == "RetransSegs");
        self.counters.resent = at.and_then(|at| words.get(at)?.parse().ok());
    }

    /// A control group, or one of its counters.
    fn take_throttled(&mut self, words: &[&'a str]) {
        match *words {
            [folder] if folder.starts_with('/') => {
                self.is_new_group = !self.groups.contains(&folder);
                self.groups.push(folder);
            }
            [name, value] if self.is_new_group => {
                let value: u64 = value.parse().unwrap_or(0);
                let throttled = &mut self.counters.throttled;
                match name {
                    "throttled_usec" => add(throttled, value.saturating_mul(1000)),
                    "throttled_time" => add(throttled, value),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

fn add(sum: &mut Option<u64>, more: u64) {
    *sum = Some(sum.unwrap_or(0).saturating_add(more));
}

/// A NIC of `/proc/net/dev`, in whose column `frame` are also those of a wrong checksum.
fn nic(line: &str) -> Option<NicCounts> {
    let (name, values) = line.split_once(':')?;
    let values: Vec<u64> = values
        .split_whitespace()
        .map_while(|value| value.parse().ok())
        .collect();
    let &[
        received,
        _,
        refused,
        drops,
        _,
        frame,
        _,
        _,
        sent,
        _,
        _,
        drops_sent,
        ..,
    ] = values.as_slice()
    else {
        return None;
    };
    (name.trim() != "lo").then(|| NicCounts {
        name: name.trim().to_owned(),
        received,
        sent,
        refused: [refused, frame],
        damaged: 0,
        dropped: drops.saturating_add(drops_sent),
    })
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
          eth0: 5 5 4 1 0 3 0 0 5 5 0 2 0 0 0 0\n\
        @crc\n\
        eth0 2\n\
        lo 0\n\
        @mhz\n\
        cpu MHz\t\t: 2400.500\n\
        cpu MHz\t\t: 2600.100\n\
        @snmp\n\
        Tcp: RtoAlgorithm RetransSegs InErrs\n\
        Tcp: 1 7 0\n\
        @io\n\
        some avg10=0.00 avg60=0.00 avg300=0.00 total=500\n\
        full avg10=0.00 avg60=0.00 avg300=0.00 total=300\n\
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
        assert_eq!((before.resent, before.nics.len()), (Some(7), 1));
        assert_eq!((before.throttled, before.pauses), (Some(3000), Some(4)));
        let text = BEFORE
            .replace(
                "cpu0 100 0 50 800 10 0 40 0",
                "cpu0 150 0 50 820 10 0 70 100",
            )
            .replace(
                "eth0: 5 5 4 1 0 3 0 0 5 5 0 2",
                "eth0: 905 9 10 2 0 7 0 0 45 9 0 4",
            )
            .replace("eth0 2", "eth0 5")
            .replace("Tcp: 1 7 0", "Tcp: 1 9 0")
            .replace("total=500", "total=800");
        let load = before.until(
            &parse(&text, begin + std::time::Duration::from_secs(1)),
            &HostName::new("x"),
        );
        assert_eq!(load.resent, Some(2));
        assert_eq!(load.disk_waited, Some(Nanoseconds::new(300_000)));
        assert_eq!((load.dropped, load.megahertz), (Some(3), Some(2500)));
        // What a hypervisor gave to others is no work of ours.
        let near = |share: f64, wanted: f64| assert!((share - wanted).abs() < 1e-9, "{share}");
        near(load.processors[0].busy, 0.4);
        near(load.processors[0].softirq, 0.15);
        near(load.processors[0].steal, 0.5);
        let nic = NicLoad {
            nic: "eth0".to_owned(),
            received: Bytes::new(900),
            sent: Bytes::new(40),
            // Three of a wrong checksum, and two that were only counted as refused.
            damaged: 5,
            dropped: 3,
        };
        assert_eq!(load.nics, [nic]);
        // A processor of which nothing was heard did nothing.
        assert!(load.processors[1].busy.abs() < 1e-9);
    }

    #[test]
    fn this_machine_tells() {
        let counters = Counters::read(&host::exec::Local::new()).unwrap();
        assert!(!counters.nics.is_empty() && counters.resent.is_some());
    }

    #[test]
    fn nonsense_is_no_counter() {
        for text in [
            "",
            "@stat",
            "@dev\nx:",
            "@snmp\nTcp:\nTcp:",
            "@throttled\nx y z",
            "@io\nsome total=-1",
        ] {
            let counters = parse(text, Instant::now());
            assert!(
                counters.processors.is_empty() && counters.nics.is_empty(),
                "{text}"
            );
        }
    }
}
