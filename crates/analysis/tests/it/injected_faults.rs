//! Each fault is put into a run that is well, with and without the server's facts, and must be the
//! first that is named.

use std::collections::BTreeMap;
use std::time::Duration;

use analysis::{
    Budget, CAUSES, Cause, CauseId, CheckBase, Diagnosis, Layer, Means, Mode, Proof, RunAnalysis,
    State, analyze, next,
};
use record::{
    AddressRoute, BitsPerSecond, Bytes, Direction, EngineClock, FailureKind, HostFacts, HostLoad,
    HostName, KnobId, LinkModes, Medium, MtuProof, Nanoseconds, NeighbourMtu, NicLoad, Offload,
    Outcome, PathFacts, ProbeKind, ProcessorLoad, Record, Route, Rung, SHARE_IN_MEMORY, Sample,
    ServerInterface, Setting, ShareMount, Stage, Target, TcpClock, TcpDetail, TrialRecord, Value,
    Vanished, Workload,
};
use stats::Verdict;

use crate::diagnosis::with_disks;
use crate::run_builder::{
    GIGABIT, failed, failed_rung, flat, host, lab_nic, ladder, real_nic, run, rung, session,
    share_workload,
};

/// A run that is well: one link of 1 Gbit/s between two hosts.
pub(crate) struct Well {
    pub(crate) facts: Vec<HostFacts>,
    pub(crate) path: PathFacts,
    pub(crate) records: Vec<Record>,
}

impl Well {
    pub(crate) fn new() -> Self {
        let near = vec![real_nic("a0", 2, "10.77.1.1")];
        let far = vec![real_nic("b0", 2, "10.77.1.2")];
        let mut well = Self {
            facts: vec![host("client", near), host("server", far)],
            path: PathFacts::default(),
            records: ladder([117.5, 117.4, 116.9, 116.5]),
        };
        well.path.mtus = vec![MtuProof {
            nic: "a0".into(),
            remote: Some("10.77.1.2".parse().unwrap()),
            near_mtu: 1500,
            far_mtu: Some(1500),
            answered: Some(1500),
            round_trip: Some(Nanoseconds::new(200_000)),
            ..MtuProof::default()
        }];
        well.advertise(&[("10.77.1.2", GIGABIT, true)]);
        well
    }

    pub(crate) fn advertise(&mut self, list: &[(&str, u64, bool)]) {
        let entries: Vec<ServerInterface> = list
            .iter()
            .map(|(address, speed, rss)| ServerInterface {
                address: address.parse().unwrap(),
                index: u32::MAX,
                speed: BitsPerSecond::new(*speed),
                rss: *rss,
            })
            .collect();
        self.sessions(move |session| session.server_interfaces.clone_from(&entries));
    }

    /// Other rates of a rung, a trial for each, in place of those that there are.
    pub(crate) fn replace_rates(&mut self, of: Rung, direction: Direction, rates: &[f64]) {
        self.records.retain(|record| {
            let Record::Trial(trial) = record else {
                return true;
            };
            let is_of = matches!(trial.stage, Stage::Ladder { rung, .. } if rung == of);
            !is_of || trial.workload.direction() != direction
        });
        self.records.extend(rung(of, direction, rates));
    }

    pub(crate) fn trials(&mut self, mut change: impl FnMut(&mut TrialRecord)) {
        for record in &mut self.records {
            if let Record::Trial(trial) = record {
                change(trial);
            }
        }
    }

    pub(crate) fn trial_of(&self, wanted: Rung) -> TrialRecord {
        let mut records = self.records.iter();
        let found = records.find_map(|record| match record {
            Record::Trial(trial) => {
                matches!(trial.stage, Stage::Ladder { rung, .. } if rung == wanted)
                    .then(|| trial.as_ref().clone())
            }
            _ => None,
        });
        found.unwrap()
    }

    pub(crate) fn sessions(&mut self, change: impl Fn(&mut record::SmbSession)) {
        self.trials(|trial| {
            if let Outcome::Measured(result) = &mut trial.outcome {
                result.session.as_mut().map(&change);
            }
        });
    }

    /// A second link beside the first.
    pub(crate) fn second_link(&mut self, bits: u64) {
        let mut near = real_nic("a1", 3, "10.77.2.1");
        let mut far = real_nic("b1", 3, "10.77.2.2");
        near.speed = Some(BitsPerSecond::new(bits));
        far.speed = Some(BitsPerSecond::new(bits));
        self.facts[0].nics.push(near);
        self.facts[1].nics.push(far);
        self.advertise(&[("10.77.1.2", GIGABIT, true), ("10.77.2.2", bits, true)]);
    }

    pub(crate) fn speed(&mut self, bits: u64) {
        for host in &mut self.facts {
            host.nics[0].speed = Some(BitsPerSecond::new(bits));
        }
        self.advertise(&[("10.77.1.2", bits, true)]);
    }

    /// What carries the packets of a host's first NIC, which has no line of its own then.
    fn medium(&mut self, host: usize, medium: Medium) {
        let nic = &mut self.facts[host].nics[0];
        (nic.medium, nic.speed) = (Some(medium), None);
    }

    /// What both hosts had to do: `client` and `server` are shares of the time in which they were
    /// stopped by a limit.
    pub(crate) fn loads(&mut self, client: f64, server: f64, busy: f64) {
        let load = |name: &str, throttled: f64| HostLoad {
            host: HostName::new(name),
            duration: Nanoseconds::new(1_000_000_000),
            processors: vec![
                ProcessorLoad {
                    busy,
                    softirq: 0.0,
                    steal: 0.0,
                };
                2
            ],
            resent: Some(0),
            dropped: Some(0),
            pauses: None,
            throttled: Some(Nanoseconds::new((throttled * 1e9) as u64)),
            served: None,
            disk_waited: None,
            nics: Vec::new(),
            megahertz: None,
        };
        self.trials(|trial| trial.loads = vec![load("client", client), load("server", server)]);
    }

    pub(crate) fn retransmits(&mut self, count: u64) {
        self.trials(|trial| {
            if let Outcome::Measured(result) = &mut trial.outcome {
                result.samples[0].retransmits = Some(count);
                result.far_retransmits = result.far_retransmits.map(|_| count);
            }
        });
    }

    /// Several channels at once: what each of the two links carried, in MB/s.
    fn channels(&mut self, rates: [f64; 2]) {
        let mut trial = self.trial_of(Rung::Share);
        trial.stage = Stage::Ladder {
            rung: Rung::Channels,
            repetition: 0,
        };
        if let Workload::Share(share) = &mut trial.workload {
            share.channels = 2;
        }
        if let Outcome::Measured(result) = &mut trial.outcome {
            let mut second = result.connections[0].clone();
            second.local = "10.77.2.1:40001".parse().unwrap();
            second.remote = "10.77.2.2:445".parse().unwrap();
            result.connections.push(second);
            for (connection, rate) in result.connections.iter_mut().zip(rates) {
                // Of the connection's whole life, which is longer than what is measured.
                connection.bytes = Bytes::new((1.5e6 * rate) as u64);
            }
            result.samples[0].bytes = Bytes::new((1e6 * rates.iter().sum::<f64>()) as u64);
        }
        self.records.push(Record::Trial(Box::new(trial)));
    }

    /// The trials of several channels used both links.
    pub(crate) fn over_both_links(&mut self) {
        self.trials(|trial| {
            let is_of = matches!(trial.stage, Stage::Ladder { rung, .. } if rung == Rung::Channels);
            if let (true, Outcome::Measured(result)) = (is_of, &mut trial.outcome) {
                let mut second = result.connections[0].clone();
                second.local = "10.77.2.1:40001".parse().unwrap();
                second.remote = "10.77.2.2:445".parse().unwrap();
                result.connections.push(second);
            }
        });
    }

    /// A mount of the share with one connection and these options, and what it reads and writes in MB/s.
    pub(crate) fn mounted(&mut self, options: &str, rates: [f64; 2]) {
        self.path.mount = Some(ShareMount {
            folder: "/mnt/my media".into(),
            source: "//10.77.1.2/media".into(),
            options: options.into(),
            channels: Some(1),
            ..ShareMount::default()
        });
        for (direction, rate) in [Direction::Read, Direction::Write].into_iter().zip(rates) {
            let rates = [rate, 1.001 * rate, 0.999 * rate, rate];
            self.records
                .extend(rung(Rung::SystemClient, direction, &rates));
        }
    }

    /// Blocks of an intervention on the share that moves so many megabytes a second, each with what it gains.
    pub(crate) fn probes(
        &mut self,
        direction: Direction,
        kind: ProbeKind,
        control: f64,
        gains: &[f64],
    ) {
        self.probes_of(Rung::Share, direction, kind, control, gains);
    }

    /// The same of another rung.
    pub(crate) fn probes_of(
        &mut self,
        rung: Rung,
        direction: Direction,
        kind: ProbeKind,
        control: f64,
        gains: &[f64],
    ) {
        for (block, gain) in (0..).zip(gains) {
            for (position, changed, rate) in [(0, None, control), (1, Some(kind), control * gain)] {
                let mut trial = self.trial_of(rung);
                trial.stage = Stage::Probe {
                    rung,
                    block,
                    position,
                    changed,
                };
                match &mut trial.workload {
                    Workload::Share(share) => share.direction = direction,
                    Workload::Folder(folder) => folder.direction = direction,
                    Workload::Task(task) => task.direction = direction,
                    _ => {}
                }
                if let Outcome::Measured(result) = &mut trial.outcome {
                    result.samples[0].bytes = Bytes::new((1e6 * rate) as u64);
                }
                self.records.push(Record::Trial(Box::new(trial)));
            }
        }
    }

    /// A short path on which nothing came out of order.
    pub(crate) fn in_order(&mut self) {
        self.trials(|trial| {
            if let Outcome::Measured(result) = &mut trial.outcome {
                result.connections[0].tcp = Some(TcpDetail {
                    round_trip_min: Nanoseconds::new(50_000),
                    out_of_order: Some(0),
                    ..TcpDetail::default()
                });
            }
        });
    }

    /// The trials of a direction consist of samples at these parts of their rate.
    pub(crate) fn in_parts(&mut self, direction: Direction, parts: &[f64]) {
        self.trials(|trial| {
            if trial.workload.direction() == direction
                && let Outcome::Measured(result) = &mut trial.outcome
            {
                let whole = result.samples[0].clone();
                let length = whole.duration.get() / parts.len() as u64;
                let bytes = whole.bytes.get() as f64 / parts.len() as f64;
                let samples = (0..).zip(parts).map(|(number, part)| Sample {
                    at: Nanoseconds::new(number * length),
                    duration: Nanoseconds::new(length),
                    bytes: Bytes::new((bytes * part) as u64),
                    ..whole.clone()
                });
                result.samples = samples.collect();
            }
        });
    }

    /// The last trial is this repetition of its rung.
    fn repeated(&mut self, number: u32) {
        if let Some(Record::Trial(trial)) = self.records.last_mut()
            && let Stage::Ladder { repetition, .. } = &mut trial.stage
        {
            *repetition = number;
        }
    }

    /// What TCP did while our end wrote to the share, in milliseconds of each second.
    pub(crate) fn writing_clock(&mut self, busy: u64, receiver_limited: u64) {
        self.trials(|trial| {
            if let Outcome::Measured(result) = &mut trial.outcome {
                result.connections[0].clock = Some(TcpClock {
                    total: Nanoseconds::new(1_000_000_000),
                    busy: Nanoseconds::new(busy * 1_000_000),
                    receiver_limited: Nanoseconds::new(receiver_limited * 1_000_000),
                    segments: 50_000,
                    ..TcpClock::default()
                });
            }
        });
    }

    /// Bytes that others move over the NIC of this host in each trial.
    fn foreign(&mut self, host: usize, bytes: u64) {
        self.loads(0.0, 0.0, 0.3);
        self.trials(|trial| {
            let Outcome::Measured(result) = &mut trial.outcome else {
                return;
            };
            // What is not counted moves as well: a warm-up.
            let ours = result.bytes().get() / 2 * 3;
            result.connections[0].tcp = Some(TcpDetail {
                sent: Some(Bytes::new(ours)),
                received: Some(Bytes::new(ours)),
                ..result.connections[0].tcp.unwrap_or_default()
            });
            let moved = Bytes::new((ours as f64 * 1.06) as u64 + bytes);
            trial.loads[host].nics = vec![NicLoad {
                sent: moved,
                ..received(["a0", "b0"][host], moved.get())
            }];
        });
    }

    /// What two processors of the server do for the network.
    fn softirq(&mut self, first: f64, second: f64) {
        self.loads(0.0, 0.0, 0.3);
        self.facts[1].nics[0].rx_queues = Some(1);
        self.facts[1].nics[0].kind = None;
        self.trials(|trial| {
            for (processor, softirq) in trial.loads[1].processors.iter_mut().zip([first, second]) {
                (processor.softirq, processor.busy) = (softirq, softirq);
            }
        });
    }

    /// The next block of trials of a check with two channels at most and without raw TCP.
    pub(crate) fn next_trials(
        &self,
        mode: Mode,
        mounted: Option<&str>,
        more: Vec<Rung>,
    ) -> Vec<(Stage, Workload)> {
        let trials = self.records.iter().filter_map(|record| match record {
            Record::Trial(trial) => Some(&**trial),
            _ => None,
        });
        let trials: Vec<&TrialRecord> = trials.collect();
        let Workload::Share(share) = share_workload(Direction::Read) else {
            unreachable!("it is one of a share")
        };
        let base = CheckBase {
            tcp: Err("no iperf3".to_owned()),
            share,
            channels: 2,
            read_only: false,
            folder: None,
            mounted: mounted.map(str::to_owned),
            more,
            rounds: Some(4),
            sources: Vec::new(),
        };
        let budget = Budget {
            mode,
            spent: Duration::ZERO,
        };
        let block = next(&self.facts, Some(&self.path), &trials, &base, &budget, 1);
        block.map_or_else(Vec::new, |block| block.trials)
    }

    pub(crate) fn said(&self, with_server: bool) -> Diagnosis {
        self.analyzed(with_server).diagnosis.unwrap()
    }

    pub(crate) fn analyzed(&self, with_server: bool) -> RunAnalysis {
        let mut records = vec![Record::Path(Box::new(self.path.clone()))];
        records.extend(self.records.clone());
        let facts = self.facts[..if with_server { 2 } else { 1 }].to_vec();
        analyze(&run(facts, records))
    }
}

type Inject = fn(&mut Well);

/// What is wrong, whether it can be told without the server, and how it gets into a run.
const FAULTS: [(&str, bool, Inject); 62] = [
    ("mount-old-dialect", true, |well| {
        well.mounted("rw,vers=2.0,rsize=65536,wsize=65536", [60.0, 60.0]);
    }),
    ("mount-sync", true, |well| {
        well.mounted(
            "rw,sync,vers=3.1.1,rsize=4194304,wsize=4194304",
            [116.9, 40.0],
        );
    }),
    ("mount-small-requests", true, |well| {
        well.mounted("rw,vers=3.1.1,rsize=65536,wsize=65536", [60.0, 60.0]);
    }),
    ("mount-one-connection", true, |well| {
        well.second_link(GIGABIT);
        for direction in [Direction::Read, Direction::Write] {
            well.records
                .extend(rung(Rung::Channels, direction, &[233.0; 4]));
        }
        well.over_both_links();
        well.mounted("rw,vers=3.1.1,rsize=4194304,wsize=4194304", [116.9, 116.5]);
    }),
    ("mount-cache-off", true, |well| {
        well.mounted(
            "rw,vers=3.1.1,cache=none,rsize=4194304,wsize=4194304",
            [116.9, 116.5],
        );
        well.records
            .extend(rung(Rung::SystemProgram, Direction::Read, &[40.0, 40.2]));
    }),
    ("path-mtu-black-hole", true, |well| {
        let proof = &mut well.path.mtus[0];
        (proof.near_mtu, proof.far_mtu) = (9000, Some(9000));
        proof.unanswered = Some(1501);
        well.records.clear();
        for host in &mut well.facts {
            host.nics[0].mtu = 9000;
        }
    }),
    ("mtu-differs", true, |well| {
        well.facts[0].nics[0].mtu = 9000;
        well.path.mtus[0].near_mtu = 9000;
    }),
    ("slow-link", true, |well| well.second_link(GIGABIT / 10)),
    ("slow-link", true, |well| {
        // A switch between the two whose port came up slow: the ends do not know.
        well.records = ladder([11.76, 11.75, 11.7, 11.71]);
    }),
    ("slow-link", true, |well| {
        well.facts[1].nics[0].speed = Some(BitsPerSecond::new(GIGABIT / 10));
        well.records = ladder([11.76, 11.75, 11.7, 11.71]);
    }),
    ("slow-link", true, |well| {
        // Between the ends of the second link.
        well.second_link(GIGABIT);
        well.channels([117.0, 12.2]);
        let Some(Record::Trial(read)) = well.records.last() else {
            unreachable!("it was pushed")
        };
        let mut write = read.clone();
        if let Workload::Share(share) = &mut write.workload {
            share.direction = Direction::Write;
        }
        well.records.push(Record::Trial(write));
    }),
    ("faster-path-unused", true, |well| {
        well.second_link(10 * GIGABIT)
    }),
    ("faster-path-unused", true, |well| {
        // The server answers by the slower of two links.
        well.second_link(GIGABIT);
        well.speed(10 * GIGABIT);
        well.records = ladder([117.5, 1170.0, 117.4, 1165.0]);
        well.loads(0.0, 0.0, 0.3);
        well.trials(|trial| {
            let Outcome::Measured(result) = &trial.outcome else {
                return;
            };
            trial.loads[0].nics = vec![received("a0", 1000), received("a1", result.bytes().get())];
        });
    }),
    ("two-nics-one-subnet", true, |well| {
        let twin = real_nic("a1", 3, "10.77.1.11");
        well.facts[0].nics.push(twin);
    }),
    ("wifi-used", true, |well| {
        // A docked laptop: Wi-Fi and a cable in one subnet.
        well.medium(0, Medium::Wireless);
        well.facts[0].nics.push(real_nic("a1", 3, "10.77.1.11"));
        well.records = ladder([45.0, 44.0, 44.5, 43.0]);
    }),
    ("wifi-used", true, |well| {
        // No cable, and a server that could send more.
        well.medium(0, Medium::Wireless);
        well.records = ladder([45.0, 44.0, 44.5, 43.0]);
    }),
    ("wifi-used", false, |well| {
        // The name stands for the server's cable, and its routes send by Wi-Fi.
        let mut wifi = real_nic("w0", 9, "10.77.1.12");
        (wifi.medium, wifi.speed) = (Some(Medium::Wireless), None);
        well.facts[1].nics.push(wifi);
        well.facts[1].routes = vec![
            route("10.77.1.0/24", "b0", 600),
            route("10.77.1.0/24", "w0", 100),
        ];
        well.records = ladder([45.0, 44.0, 44.5, 43.0]);
    }),
    ("tunnel-used", true, |well| {
        // The address in the tunnel is used, and there is one in the local network.
        well.second_link(GIGABIT);
        well.medium(0, Medium::Tunnel);
        well.medium(1, Medium::Tunnel);
    }),
    ("tunnel-used", true, |well| {
        well.medium(0, Medium::Tunnel);
        well.records = ladder([45.0, 44.0, 44.5, 43.0]);
    }),
    ("multichannel-off", false, |well| {
        well.second_link(GIGABIT);
        well.advertise(&[]);
    }),
    ("multichannel-off", true, |well| {
        // The server's name stands for both of its addresses.
        well.second_link(GIGABIT);
        well.advertise(&[]);
        well.path.addresses = vec![way("10.77.1.2"), way("10.77.2.2")];
    }),
    ("advertised-wrong", false, |well| {
        well.second_link(GIGABIT);
        well.advertise(&[
            ("10.77.1.2", GIGABIT, true),
            ("10.77.2.2", GIGABIT / 10, true),
        ]);
    }),
    ("advertised-wrong", true, |well| {
        well.second_link(GIGABIT);
        well.advertise(&[("10.77.1.2", GIGABIT, true), ("10.77.2.2", GIGABIT, false)]);
    }),
    ("advertised-wrong", true, |well| {
        well.advertise(&[("10.77.1.2", GIGABIT / 10, true)]);
    }),
    ("old-dialect", true, |well| {
        well.sessions(|session| session.dialect = "2.0.2".into())
    }),
    ("signing", true, |well| {
        well.records = ladder([117.5, 117.4, 61.0, 60.0]);
        well.sessions(|session| {
            session.data_signed = true;
            session.signing_algorithm = Some("AES-128-CMAC".into());
        });
    }),
    ("encryption", true, |well| {
        well.records = ladder([117.5, 117.4, 61.0, 60.0]);
        well.sessions(|session| session.encryption = Some("AES-128-CCM".into()));
    }),
    ("offloads-off", false, |well| {
        well.speed(10 * GIGABIT);
        let off = Offload {
            on: false,
            fixed: false,
        };
        let names = ["tcp-segmentation-offload", "generic-segmentation-offload"];
        well.facts[1].nics[0].offloads = names
            .map(|name| (name.to_owned(), off))
            .into_iter()
            .collect::<BTreeMap<_, _>>();
        well.records = ladder([1170.0, 1170.0, 1150.0, 1150.0]);
    }),
    ("receive-buffer-small", true, |well| {
        well.records = ladder([6.6, 117.0, 6.5, 116.0]);
        well.path.mtus[0].round_trip = Some(Nanoseconds::new(10_000_000));
        well.facts[0].tcp.receive_buffer = Some([4096, 65_536, 131_072]);
    }),
    ("receive-buffer-small", true, |well| {
        well.records = ladder([117.0, 6.6, 116.0, 6.5]);
        well.path.mtus[0].round_trip = Some(Nanoseconds::new(10_000_000));
        well.facts[1].tcp.receive_buffer = Some([4096, 65_536, 131_072]);
        well.trials(|trial| {
            if let Outcome::Measured(result) = &mut trial.outcome {
                result.connections[0].tcp = Some(TcpDetail {
                    round_trip_min: Nanoseconds::new(10_000_000),
                    busy: Nanoseconds::new(1_000_000_000),
                    receiver_limited: Nanoseconds::new(900_000_000),
                    ..TcpDetail::default()
                });
            }
        });
    }),
    ("receive-buffer-small", true, |well| {
        // A short way, which 16 KiB do not fill all the same.
        well.records = ladder([30.0, 117.0, 29.0, 116.0]);
        well.path.mtus[0].round_trip = Some(Nanoseconds::new(600_000));
        well.facts[0].tcp.receive_buffer = Some([4096, 16_384, 32_768]);
    }),
    ("segments-lost", true, |well| well.retransmits(800)),
    ("server-processor", false, |well| {
        well.records = ladder([60.0, 61.0, 40.0, 41.0]);
        well.loads(0.0, 0.6, 0.3);
    }),
    ("client-processor", true, |well| {
        well.records = ladder([60.0, 61.0, 40.0, 41.0]);
        well.loads(0.6, 0.0, 0.3);
    }),
    ("server-disk", true, |well| {
        well.records = ladder([117.5, 117.4, 117.0, 48.0]);
        well.loads(0.0, 0.0, 0.2);
    }),
    ("local-disk", true, |well| {
        well.records = with_disks(116.0, 50.0, Some("/data"));
    }),
    ("few-credits", true, |well| {
        well.sessions(|session| session.credits = Some(4));
    }),
    ("asynchronous-io", false, |well| {
        well.path.settings.push(Setting::Knob {
            host: HostName::new("server"),
            target: Target::Share("media".into()),
            id: KnobId::new("smb.server.aio_read"),
            value: Value::Integer(0),
        });
    }),
    ("send-buffer-small", true, |well| {
        well.records = ladder([6.6, 117.0, 6.5, 116.0]);
        well.path.mtus[0].round_trip = Some(Nanoseconds::new(10_000_000));
        well.facts[1].tcp.send_buffer = Some([4096, 16_384, 65_536]);
        // A small request takes hardly longer than the way there and back.
        let mut request = well.trial_of(Rung::Share);
        request.stage = Stage::Ladder {
            rung: Rung::RoundTrip,
            repetition: 0,
        };
        if let (Outcome::Measured(result), Workload::Share(share)) =
            (&mut request.outcome, &mut request.workload)
        {
            share.block = Bytes::new(4096);
            for sample in &mut result.samples {
                sample.bytes = Bytes::new(4096 * sample.duration.get() / 10_500_000);
            }
        }
        well.records.push(Record::Trial(Box::new(request)));
    }),
    ("send-buffer-small", false, |well| {
        well.records = ladder([117.0, 117.0, 80.0, 116.0]);
        well.path.settings.push(socket_options("SO_SNDBUF=8192"));
    }),
    ("receive-buffer-small", false, |well| {
        well.records = ladder([117.0, 117.0, 116.0, 40.0]);
        well.path
            .settings
            .push(socket_options("SO_KEEPALIVE SO_RCVBUF=8192"));
    }),
    ("receive-buffer-small", false, |well| {
        well.records = ladder([6.6, 6.5, 6.5, 6.4]);
        well.path.mtus[0].round_trip = Some(Nanoseconds::new(10_000_000));
        well.path.settings.push(Setting::Knob {
            host: HostName::new("server"),
            target: Target::Host,
            id: KnobId::new("tcp.window_scaling"),
            value: Value::Switch(false),
        });
    }),
    ("receive-buffer-small", false, |well| {
        well.records = ladder([30.0, 117.0, 29.0, 116.0]);
        well.path.mtus[0].round_trip = Some(Nanoseconds::new(4_000_000));
        well.facts[0].tcp.receive_buffer = Some([4096, 131_072, 6_291_456]);
        well.path.settings.push(Setting::Knob {
            host: HostName::new("client"),
            target: Target::Host,
            id: KnobId::new("tcp.window_autotuning"),
            value: Value::Switch(false),
        });
    }),
    ("path-mtu-black-hole", false, |well| {
        // Nobody could connect, and the facts tell what the far end would send.
        let proof = &mut well.path.mtus[0];
        (proof.near_mtu, proof.far_mtu) = (9000, None);
        (proof.answered, proof.unanswered) = (Some(4000), Some(4001));
        well.records.clear();
        for host in &mut well.facts {
            host.nics[0].mtu = 9000;
        }
    }),
    ("small-requests", true, |well| {
        well.records = ladder([117.5, 117.4, 61.0, 60.0]);
        well.sessions(|session| {
            (session.read_max, session.write_max) = (Bytes::new(65_536), Bytes::new(65_536));
        });
    }),
    ("port-blocked", true, |well| {
        well.second_link(GIGABIT);
        let mut proof = well.path.mtus[0].clone();
        (proof.nic, proof.far_mtu) = ("a1".into(), None);
        proof.remote = Some("10.77.2.2".parse().unwrap());
        well.path.mtus.push(proof);
    }),
    ("advertised-wrong", false, |well| {
        well.second_link(GIGABIT);
        well.advertise(&[("10.77.1.2", GIGABIT, true), ("10.99.2.2", GIGABIT, true)]);
    }),
    ("server-processor", true, |well| {
        well.records = ladder([117.5, 117.4, 61.0, 60.0]);
        well.loads(0.0, 0.6, 0.3);
    }),
    ("link-trained-low", true, |well| {
        // Both ends can 2.5 Gbit/s, and a broken pair of wires leaves 1.
        well.facts[0].nics[0].modes = Some(modes(&[1000, 2500], &[1000, 2500, 10_000]));
    }),
    ("wifi-retries", true, |well| {
        // The cable is unplugged, and what the air carries changes from trial to trial.
        well.records = ladder([45.0, 44.0, 44.5, 43.0]);
        well.medium(0, Medium::Wireless);
        let mut number = 0;
        well.trials(|trial| {
            number += 1;
            if let Outcome::Measured(result) = &mut trial.outcome {
                result.samples[0].bytes = Bytes::new(30_000_000 + 1_000_000 * (number % 3) * 10);
            }
        });
    }),
    ("rate-limited", true, |well| {
        // A hop of 600 Mbit/s, which is no line's rate.
        well.records = ladder([70.5, 70.4, 70.0, 69.8]);
    }),
    ("rate-limited", true, |well| {
        // Nobody runs iperf3 there: the clock of TCP tells who is waited for.
        well.records = ladder([70.5, 70.4, 70.0, 69.8]);
        well.records.drain(..8);
        well.writing_clock(924, 4);
    }),
    ("other-traffic", true, |well| {
        // A backup takes a third of the link.
        well.records = ladder([78.0, 78.0, 77.0, 77.0]);
        well.foreign(0, 40_000_000);
    }),
    ("other-traffic", false, |well| {
        // The server sends to somebody else as well, which the client cannot see.
        well.records = ladder([78.0, 78.0, 77.0, 77.0]);
        well.foreign(1, 40_000_000);
    }),
    ("rss-off", false, |well| {
        well.speed(10 * GIGABIT);
        well.records = ladder([600.0, 590.0, 580.0, 570.0]);
        well.softirq(0.99, 0.05);
    }),
    ("pause-frames", true, |well| {
        well.records = ladder([70.5, 60.4, 60.0, 59.8]);
        well.loads(0.0, 0.0, 0.3);
        well.trials(|trial| trial.loads[0].pauses = Some(5000));
        well.medium(1, Medium::Bridge);
        well.facts[1].nics[0].speed = Some(BitsPerSecond::new(GIGABIT));
    }),
    ("flow-hash", true, |well| {
        bond(well, 0, 2);
        bond(well, 1, 2);
        well.channels([58.0, 59.0]);
        well.loads(0.0, 0.0, 0.3);
        well.trials(|trial| {
            trial.loads[0].nics = vec![received("p0", 118_000_000), received("p1", 1000)];
        });
    }),
    ("cpu-stolen", true, |well| {
        well.records = ladder([117.5, 117.4, 61.0, 60.0]);
        well.loads(0.0, 0.0, 0.3);
        well.trials(|trial| trial.loads[0].processors[0].steal = 0.4);
    }),
    ("power-plan", true, |well| {
        well.records = ladder([117.5, 117.4, 61.0, 60.0]);
        well.loads(0.0, 0.0, 0.3);
        well.trials(|trial| trial.loads[0].megahertz = Some(800));
    }),
    ("antivirus", false, |well| {
        well.facts[1].system = record::System::Windows;
        well.records = ladder([117.5, 117.4, 61.0, 60.0]);
        well.loads(0.0, 0.0, 0.6);
        well.trials(|trial| trial.loads[1].served = Some(Nanoseconds::new(200_000_000)));
    }),
    ("sync-writes", false, |well| {
        well.records = ladder([117.5, 117.4, 117.0, 9.0]);
        well.loads(0.0, 0.0, 0.6);
        well.path.settings.push(sync_always());
    }),
    ("one-link-idle", true, |well| {
        well.second_link(GIGABIT);
        well.path.mtus.push(MtuProof {
            nic: "a1".into(),
            remote: Some("10.77.2.2".parse().unwrap()),
            near_mtu: 1500,
            ..MtuProof::default()
        });
    }),
];

fn modes(own: &[u64], partner: &[u64]) -> LinkModes {
    let bits = |modes: &[u64]| {
        modes
            .iter()
            .map(|mode| BitsPerSecond::new(mode * 1_000_000))
            .collect()
    };
    LinkModes {
        own: bits(own),
        partner: bits(partner),
    }
}

fn route(destination: &str, nic: &str, metric: u32) -> Route {
    Route {
        destination: destination.into(),
        gateway: None,
        nic: nic.into(),
        source: None,
        metric: Some(metric),
    }
}

fn way(address: &str) -> AddressRoute {
    AddressRoute {
        address: address.parse().unwrap(),
        nic: None,
        source: None,
        gateway: None,
    }
}

/// What a NIC received in a trial.
pub(crate) fn received(nic: &str, bytes: u64) -> NicLoad {
    NicLoad {
        nic: nic.into(),
        received: Bytes::new(bytes),
        sent: Bytes::new(0),
        damaged: 0,
        dropped: 0,
    }
}

fn socket_options(text: &str) -> Setting {
    Setting::Knob {
        host: HostName::new("server"),
        target: Target::Host,
        id: KnobId::new("smb.server.socket_options"),
        value: Value::Text(text.into()),
    }
}

#[test]
fn what_is_injected_is_named_first() {
    for (cause, without_server, inject) in FAULTS {
        let mut well = Well::new();
        inject(&mut well);
        let seen: &[bool] = if without_server {
            &[true, false]
        } else {
            &[true]
        };
        for with_server in seen {
            let diagnosis = well.said(*with_server);
            let first = diagnosis.causes.first().map(|cause| cause.id.as_str());
            assert_eq!(
                first,
                Some(cause),
                "with the server: {with_server}: {diagnosis:#?}"
            );
            assert!(diagnosis.headline.id.starts_with("headline."));
        }
    }
}

#[test]
fn where_nothing_is_wrong_nothing_is_named() {
    let mut two_links = Well::new();
    two_links.second_link(GIGABIT);
    two_links.loads(0.0, 0.0, 0.9);
    let mut slow_beside = Well::new();
    slow_beside.speed(10 * GIGABIT);
    slow_beside.second_link(GIGABIT);
    slow_beside.records = ladder([1170.0, 1170.0, 1150.0, 1150.0]);
    slow_beside.advertise(&[
        ("10.77.1.2", 10 * GIGABIT, true),
        ("10.77.2.2", GIGABIT, true),
    ]);
    // A slower NIC at one end, which the server tells of.
    let mut mixed = Well::new();
    mixed.facts[0].nics[0].speed = Some(BitsPerSecond::new(5 * GIGABIT / 2));
    for well in [Well::new(), two_links, slow_beside, mixed] {
        for with_server in [true, false] {
            let diagnosis = well.said(with_server);
            assert_eq!(diagnosis.causes, [], "{diagnosis:#?}");
            assert!(diagnosis.complete);
        }
    }
}

/// 40 ms at 1 Gbit/s: the usual send buffer of 4 MiB lets 105 MB/s through. Who reads is held by it, and
/// who writes half of that is not.
#[test]
fn a_buffer_is_blamed_for_what_it_takes_and_not_for_more() {
    let mut well = Well::new();
    well.records = ladder([95.0, 95.0, 88.0, 50.0]);
    well.loads(0.0, 0.0, 0.2);
    well.path.mtus[0].round_trip = Some(Nanoseconds::new(40_000_000));
    for host in &mut well.facts {
        host.tcp.send_buffer = Some([4096, 16_384, 4 << 20]);
        host.tcp.receive_buffer = Some([4096, 131_072, 32 << 20]);
    }
    let said = well.said(true);
    assert!(
        ids(&said.causes).starts_with(&["send-buffer-small", "server-disk"]),
        "{said:#?}"
    );
    // Both ways alike, it is the buffer.
    well.records = ladder([95.0, 95.0, 88.0, 87.0]);
    assert_eq!(well.said(true).causes[0].id, "send-buffer-small");
    // Raw TCP fills the line, whatever is said of its buffers.
    well.records = ladder([117.0, 117.0, 85.0, 84.0]);
    let said = well.said(true);
    assert!(
        !ids(&said.causes).contains(&"send-buffer-small"),
        "{said:#?}"
    );
}

#[test]
fn a_large_window_that_a_slow_server_keeps_full_is_no_small_buffer() {
    let mut well = Well::new();
    well.records = ladder([117.5, 117.4, 117.0, 40.0]);
    let mut window = |bytes: u64| {
        well.trials(|trial| {
            if let Outcome::Measured(result) = &mut trial.outcome {
                result.connections[0].tcp = Some(TcpDetail {
                    round_trip_min: Nanoseconds::new(10_000_000),
                    busy: Nanoseconds::new(1_000_000_000),
                    receiver_limited: Nanoseconds::new(900_000_000),
                    far_window: Some(bytes),
                    ..TcpDetail::default()
                });
            }
        });
        well.path.mtus[0].round_trip = Some(Nanoseconds::new(10_000_000));
        well.said(false).causes[0].id.clone()
    };
    // The path holds 1.2 MB.
    assert_eq!(window(3 << 20), "server-disk");
    assert_eq!(window(400 << 10), "receive-buffer-small");
}

/// A virtual link without a shaper, as fast as its processors, between a client and a share in memory.
fn unlimited() -> Well {
    let mut well = Well::new();
    for host in &mut well.facts {
        let nic = &mut host.nics[0];
        (nic.driver, nic.kind) = (Some("veth".into()), Some("veth".into()));
    }
    well.advertise(&[("10.77.1.2", 100 * GIGABIT, true)]);
    well
}

#[test]
fn what_only_a_server_tells_of_a_line_makes_no_loss() {
    let mut well = unlimited();
    well.records = ladder([2500.0, 2450.0, 2440.0, 2400.0]);
    well.advertise(&[("10.77.1.2", 100 * GIGABIT, true)]);
    for with_server in [true, false] {
        let said = well.said(with_server);
        assert_eq!(said.causes, [], "{said:#?}");
        // Nothing is known to lose, and not what the line could carry.
        assert_eq!((said.first_loss, said.complete), (None, false));
        assert_eq!(said.headline.id, "headline.no-ceiling");
    }
    // Who fills what was told has filled it.
    well.records = ladder([117.5, 117.4, 116.9, 116.5]);
    well.advertise(&[("10.77.1.2", GIGABIT, true)]);
    assert_eq!(well.said(true).headline.id, "headline.no-ceiling");
}

#[test]
fn a_disk_is_slow_only_where_there_is_one_and_its_server_waits_for_it() {
    let named = |busy: f64, change: fn(&mut Well), with_server: bool| {
        let mut well = unlimited();
        well.records = ladder([2500.0, 2450.0, 2375.0, 1348.0]);
        well.loads(0.0, 0.0, busy);
        change(&mut well);
        let said = well.said(with_server);
        ids(&said.causes).contains(&"server-disk")
    };
    assert!(named(0.3, |_| {}, true));
    assert!(named(0.3, |_| {}, false));
    // Writing costs more than reading, and the processors tell that it does.
    assert!(!named(0.8, |_| {}, true));
    assert!(!named(0.8, |_| {}, false));
    let in_memory = |well: &mut Well| {
        let why = format!("{SHARE_IN_MEMORY} (tmpfs), so there is no disk to read from");
        let disk = failed_rung(Rung::Disk, Direction::Read, &why);
        well.records.push(disk);
    };
    assert!(!named(0.3, in_memory, true));
}

/// A disk that leaves two fifths of the speed, on a machine of which others take an eighth: seen on a rented one.
#[test]
fn time_that_a_host_could_not_run_is_blamed_for_no_more_than_it_can_cost() {
    let disk = |shorten: fn(&mut HostLoad)| {
        let mut well = Well::new();
        well.records = ladder([117.5, 117.4, 117.0, 48.0]);
        well.loads(0.0, 0.0, 0.2);
        well.trials(|trial| shorten(&mut trial.loads[0]));
        well
    };
    let stolen: fn(&mut HostLoad) = |load| load.processors[0].steal = 0.125;
    let limited: fn(&mut HostLoad) =
        |load| load.throttled = Some(Nanoseconds::new(load.duration.get() / 8));
    let cases = [
        (stolen, "cpu-stolen", "processor-share"),
        (limited, "client-processor", "processor-limit"),
    ];
    for (shorten, cause, fix) in cases {
        for with_server in [true, false] {
            let mut well = disk(shorten);
            let said = well.said(with_server);
            assert!(
                ids(&said.causes).starts_with(&["server-disk", cause]),
                "{said:#?}"
            );
            let fix = said.fixes.iter().find(|one| one.id == fix);
            let gain = fix.and_then(|fix| fix.predicted.as_ref());
            assert!(gain.is_some_and(|gain| gain.value < 1.15), "{said:#?}");
            // A short check, which proves no loss, only sees one.
            well.records.retain(|record| match record {
                Record::Trial(trial) => {
                    matches!(
                        trial.stage,
                        Stage::Ladder {
                            repetition: 0 | 1,
                            ..
                        }
                    )
                }
                _ => true,
            });
            let said = well.said(with_server);
            assert_eq!(said.first_loss, None);
            assert!(
                ids(&said.causes).starts_with(&["server-disk", cause]),
                "{said:#?}"
            );
            // Where nothing else explains the loss, it is not explained.
            well.records = ladder([117.5, 117.4, 48.0, 48.0]);
            well.loads(0.0, 0.0, 0.2);
            well.trials(|trial| shorten(&mut trial.loads[0]));
            let said = well.said(with_server);
            assert_ne!(said.headline.id, "headline.loses-proven", "{said:#?}");
        }
    }
}

#[test]
fn a_share_that_lets_nobody_in_has_not_lost_by_what_protects_it() {
    let named = |kind: FailureKind| {
        let mut well = Well::new();
        well.path.session = Some(record::SmbSession {
            data_signed: true,
            signing_algorithm: Some("AES-128-CMAC".into()),
            ..session()
        });
        well.trials(|trial| {
            if matches!(trial.workload, Workload::Share(_)) {
                trial.outcome = failed("there is nothing to read");
                if let Outcome::Failed(failure) = &mut trial.outcome {
                    failure.kind = kind;
                }
            }
        });
        well.said(true)
    };
    assert_eq!(named(FailureKind::Unreachable).causes[0].id, "signing");
    let said = named(FailureKind::Refused);
    assert_eq!(said.causes, [], "{said:#?}");
    assert!(flat(&said.headline).contains("there is nothing to read"));
}

/// A virtual machine of the lab whose NICs join nothing, and a receiver that takes a little more than
/// it sends, as real ones do.
#[test]
fn what_looks_like_a_fault_and_is_none() {
    let mut well = Well::new();
    well.path.mtus[0].answered = Some(1504);
    let mut nic = lab_nic("a0", 2, "10.77.1.1");
    nic.shaped = Some(BitsPerSecond::new(9_843_950_000));
    let off = Offload {
        on: false,
        fixed: false,
    };
    nic.offloads.insert("generic-receive-offload".into(), off);
    well.facts[0].nics[0] = nic;
    well.facts[1].nics[0].speed = Some(BitsPerSecond::new(10 * GIGABIT));
    well.records = ladder([1170.0, 1170.0, 1150.0, 1150.0]);
    well.advertise(&[("10.77.1.2", 10 * GIGABIT, true)]);
    let diagnosis = well.said(true);
    assert_eq!(diagnosis.causes, [], "{diagnosis:#?}");
}

pub(crate) fn ids(causes: &[Cause]) -> Vec<&str> {
    causes.iter().map(|cause| cause.id.as_str()).collect()
}

#[test]
fn an_address_that_is_tried_in_vain_is_no_fault_and_is_told() {
    let mut well = Well::new();
    well.path.silent = vec!["10.77.9.9".parse().unwrap()];
    let said = well.said(false);
    assert_eq!(said.causes, [], "{said:#?}");
    assert_eq!(ids(&said.remarks), ["link-saturated", "silent-address"]);
    assert!(flat(&said.remarks[1].text).contains("addresses=`10.77.9.9`"));
}

#[test]
fn wifi_beside_the_cable_that_is_used_is_no_fault_and_is_told() {
    let mut well = Well::new();
    let mut wifi = real_nic("w0", 9, "10.77.1.11");
    (wifi.medium, wifi.speed) = (Some(Medium::Wireless), None);
    well.facts[0].nics.push(wifi);
    for with_server in [true, false] {
        let said = well.said(with_server);
        assert_eq!(said.causes, [], "{said:#?}");
        assert_eq!(ids(&said.remarks), ["link-saturated", "wifi-beside-cable"]);
        assert!(flat(&said.remarks[1].text).contains("nic=a0 wifi=w0"));
    }
}

/// The client's second NIC in another network, with the way out.
fn lead_out(well: &mut Well) {
    well.facts[0].nics[1].addresses[0].address = "192.168.1.7".parse().unwrap();
    well.facts[0].routes = vec![route("default", "a1", 600)];
}

#[test]
fn wifi_is_no_fault_where_no_cable_would_be_faster() {
    let mut well = Well::new();
    well.medium(0, Medium::Wireless);
    let said = well.said(true);
    assert_eq!(said.causes, [], "{said:#?}");
    assert!(ids(&said.remarks).contains(&"over-wifi"), "{said:#?}");
    // A cable that moves no more than Wi-Fi did, one without a carrier, and one on which nobody answers.
    let cable = real_nic("a1", 3, "10.77.1.11");
    well.facts[0].nics.push(cable);
    let said = well.said(true);
    let remark = said.remarks.iter().find(|remark| remark.id == "over-wifi");
    assert!(remark.is_some_and(|it| it.text.id == "over-wifi.cable"));
    let fast = |change: fn(&mut Well)| {
        let mut well = Well::new();
        well.medium(0, Medium::Wireless);
        let mut cable = real_nic("a1", 3, "10.77.1.11");
        cable.speed = Some(BitsPerSecond::new(10 * GIGABIT));
        well.facts[0].nics.push(cable);
        change(&mut well);
        ids(&well.said(true).causes).join(" ")
    };
    assert_eq!(fast(|_| {}), "wifi-used");
    assert_eq!(
        fast(|well| well.facts[0].nics[1].state = record::LinkState::Down),
        ""
    );
    let dead = fast(|well| {
        well.path.mtus.push(MtuProof {
            nic: "a1".into(),
            remote: Some("10.77.1.2".parse().unwrap()),
            near_mtu: 1500,
            ..MtuProof::default()
        });
    });
    assert_eq!(dead, "");
    // A cable with the default route leads to whom Wi-Fi reaches by a router too, and not to whom is in
    // the Wi-Fi's own network, unless somebody answers there.
    assert_eq!(fast(lead_out), "");
    let behind_router = fast(|well| {
        lead_out(well);
        well.facts[0].nics[0].addresses[0].prefix = 32;
    });
    assert_eq!(behind_router, "wifi-used");
    let answered = fast(|well| {
        lead_out(well);
        let mut proof = well.path.mtus[0].clone();
        proof.nic = "a1".into();
        well.path.mtus.push(proof);
    });
    assert_eq!(answered, "wifi-used");
}

#[test]
fn the_way_that_the_routes_choose_counts_and_not_the_address() {
    let mut well = Well::new();
    let mut tunnel = real_nic("wg0", 9, "10.8.0.2");
    (tunnel.medium, tunnel.speed) = (Some(Medium::Tunnel), None);
    tunnel.kind = Some("wireguard".into());
    tunnel.mtu = 1420;
    well.facts[0].nics.push(tunnel);
    well.path.addresses = vec![AddressRoute {
        nic: Some("wg0".into()),
        ..way("10.77.1.2")
    }];
    let said = well.said(true);
    assert_eq!(ids(&said.causes), ["tunnel-used"], "{said:#?}");
    let text = flat(&said.causes[0].text);
    assert!(text.contains("tunnel=`wg0` (`wireguard`) nic=a0"), "{text}");
    // Where there is no other way it is no fault.
    well.facts[0].nics[0].addresses[0].address = "192.168.1.7".parse().unwrap();
    well.facts[0].nics[1].addresses[0].address = "10.77.1.1".parse().unwrap();
    let said = well.said(true);
    assert_eq!(said.causes, [], "{said:#?}");
    let remark = said.remarks.iter().find(|it| it.id == "through-tunnel");
    assert!(remark.is_some_and(|it| flat(&it.text).contains("mtu=1420")));
}

#[test]
fn a_bridge_on_the_way_is_told_with_its_ports() {
    let mut well = Well::new();
    well.medium(1, Medium::Bridge);
    let mut port = real_nic("eth7", 7, "10.99.0.1");
    port.addresses.clear();
    port.port_of = Some("b0".into());
    well.facts[1].nics.push(port);
    let said = well.said(true);
    assert_eq!(said.causes, [], "{said:#?}");
    let remark = said.remarks.iter().find(|it| it.id == "through-bridge");
    let text = flat(&remark.expect("it is worth knowing").text);
    assert!(text.contains("host=server nic=b0 ports=`eth7`"), "{text}");
}

#[test]
fn what_a_crowded_machine_loses_is_no_fault_of_the_path() {
    let mut well = Well::new();
    well.records = ladder([80.0, 81.0, 79.0, 78.0]);
    well.loads(0.0, 0.0, 0.5);
    assert_eq!(well.said(true).causes[0].id, "rate-limited");
    well.loads(0.0, 0.0, 0.99);
    let mut writes = Well::new();
    writes.records = ladder([117.5, 117.4, 117.0, 48.0]);
    writes.loads(0.0, 0.0, 0.99);
    for with_server in [true, false] {
        assert_eq!(writes.said(with_server).causes, []);
    }
    let diagnosis = well.said(true);
    assert_eq!(diagnosis.causes, []);
    assert_eq!((diagnosis.first_loss, diagnosis.complete), (None, false));
    assert_eq!(diagnosis.headline.id, "headline.crowded");
}

#[test]
fn every_client_tells_why_a_pair_is_not_used() {
    let mut well = Well::new();
    well.second_link(10 * GIGABIT);
    well.advertise(&[
        ("10.77.1.2", GIGABIT, true),
        ("10.77.2.2", 10 * GIGABIT, true),
        ("fe80::1", GIGABIT, true),
        ("192.168.9.9", GIGABIT, false),
    ]);
    for host in &mut well.facts {
        for nic in &mut host.nics {
            nic.rx_queues = Some(4);
        }
    }
    let diagnosis = well.said(true);
    let client = |name: &str| {
        let mut clients = diagnosis.clients.iter();
        clients.find(|client| client.client == name).unwrap()
    };
    let channels = |name: &str| -> Vec<(String, usize)> {
        let pairs = client(name).pairs.iter();
        pairs
            .map(|pair| (pair.address.to_string(), pair.channels))
            .collect()
    };
    // The fastest pair alone, four times because both ends have queues.
    let fastest = [("10.77.2.2".to_owned(), 4)];
    assert_eq!(channels("Windows"), fastest);
    assert_eq!(channels("macOS"), fastest);
    assert_eq!(channels("linerate").len(), 2);
    assert_eq!(
        channels("Linux").iter().map(|pair| pair.1).sum::<usize>(),
        4
    );
    let reasons = |name: &str| -> Vec<&str> {
        let unused = client(name).unused.iter();
        unused.map(|pair| pair.reason.id).collect()
    };
    assert_eq!(
        reasons("Windows"),
        [
            "unused-pair.slower",
            "unused-pair.link-local",
            "unused-pair.no-subnet"
        ]
    );
    // Windows would rather have queues than speed.
    well.facts[0].nics[1].rx_queues = Some(1);
    let diagnosis = well.said(true);
    let windows = &diagnosis.clients[0];
    assert_eq!(windows.pairs[0].address.to_string(), "10.77.1.2");
    assert_eq!(windows.unused[0].reason.id, "unused-pair.our-rss");

    well.sessions(|session| session.identity = record::Identity::Guest);
    for client in well.said(true).clients {
        assert_eq!(client.pairs.len(), 1);
        assert_eq!(client.unused[0].reason.id, "unused-pair.guest");
    }
}

#[test]
fn every_cause_has_a_remedy_that_is_ready_or_says_why_it_is_not() {
    for row in CAUSES {
        let injections: Vec<_> = FAULTS
            .iter()
            .filter(|(cause, ..)| *cause == row.id.as_str())
            .collect();
        let known = row.layer != Layer::Rest;
        assert_eq!(!injections.is_empty(), known, "{}", row.id);
        assert_eq!(row.fix.is_some(), known, "{}", row.id);
        assert_eq!(row.means != Means::Unknown, known, "{}", row.id);
        let mut proven_by_tune = false;
        for (cause, without_server, inject) in injections {
            for with_server in [true, false] {
                if !with_server && !without_server {
                    continue;
                }
                let mut well = Well::new();
                inject(&mut well);
                let diagnosis = well.said(with_server);
                let mut fixes = diagnosis.fixes.iter();
                let fix = fixes.find(|fix| Some(fix.id.as_str()) == row.fix);
                let fix = fix.unwrap_or_else(|| panic!("{cause}: {diagnosis:#?}"));
                // Either `tune` can try it, or it says why not. Of a mount both are true: others are tried in its place.
                let is_tried = !fix.level.settings.is_empty();
                let is_of_mount = fix.id == "mount-again";
                let is_ready = fix.blocked.is_none();
                assert_eq!(is_ready || is_of_mount, is_tried, "{fix:#?}");
                proven_by_tune |= fix.blocked.is_none();
                for setting in &fix.level.settings {
                    let Setting::Knob {
                        host, id, value, ..
                    } = setting
                    else {
                        continue;
                    };
                    let command = fix
                        .commands
                        .iter()
                        .find(|command| command.starts_with(&format!("linerate set {host} ")));
                    let command = command.unwrap_or_else(|| panic!("{fix:#?}"));
                    assert!(command.contains(id.as_str()) && !value.to_string().is_empty());
                }
            }
        }
        let is_settable = row.means == Means::Settings;
        assert_eq!(proven_by_tune, is_settable, "{}", row.id);
    }
}

#[test]
fn names_of_causes_are_read_as_they_are_written_and_as_they_were() {
    for row in CAUSES {
        assert_eq!(row.id.as_str().parse(), Ok(row.id));
    }
    assert_eq!("faster-way-unused".parse(), Ok(CauseId::FasterPathUnused));
    assert!("no-such-cause".parse::<CauseId>().is_err());
}

#[test]
fn what_protects_is_never_the_first_thing_to_try() {
    let mut well = Well::new();
    well.second_link(GIGABIT);
    well.records = ladder([117.5, 117.4, 61.0, 60.0]);
    well.sessions(|session| {
        session.data_signed = true;
        session.signing_algorithm = Some("AES-128-GMAC".into());
    });
    let diagnosis = well.said(true);
    assert_eq!(diagnosis.causes[0].id, "signing");
    let ids: Vec<&str> = diagnosis.fixes.iter().map(|fix| fix.id.as_str()).collect();
    assert_eq!(ids.last(), Some(&"cheaper-signing"), "{ids:?}");
    assert!(ids.len() > 1 && diagnosis.fixes.last().unwrap().predicted.is_some());
}

fn neighbour(address: &str, tried: u32, answered: Option<u32>) -> NeighbourMtu {
    NeighbourMtu {
        nic: "a0".into(),
        address: address.parse().unwrap(),
        tried,
        answered,
    }
}

#[test]
fn neighbours_that_take_no_large_frames_are_named_with_a_plan_for_a_segment_of_their_own() {
    let mut well = Well::new();
    for host in &mut well.facts {
        host.nics[0].mtu = 9000;
    }
    well.path.mtus[0].near_mtu = 9000;
    (well.path.mtus[0].far_mtu, well.path.mtus[0].answered) = (Some(9000), Some(9000));
    // The first network that the plan would take is in use.
    well.facts[1].nics.push(real_nic("b7", 7, "10.9.0.77"));
    let name = &well.facts[0].nics[0].name;
    let route = |destination: &str, gateway: Option<&str>| record::Route {
        destination: destination.into(),
        gateway: gateway.map(|gateway| gateway.parse().unwrap()),
        nic: name.clone(),
        source: gateway.is_none().then(|| "10.77.1.1".parse().unwrap()),
        metric: gateway.map(|_| 100),
    };
    let routes = vec![
        route("default", Some("10.77.1.254")),
        route("10.77.1.0/24", None),
        route("fe80::/64", None),
    ];
    well.facts[0].routes = routes;
    let all_take_it = [neighbour("10.77.1.3", 9000, Some(9000))];
    well.path.neighbours = all_take_it.to_vec();
    let said = well.said(true);
    assert!(said.fixes.iter().all(|fix| fix.id != "jumbo-segment"));

    well.path.neighbours.extend([
        neighbour("10.77.1.4", 9000, Some(1500)),
        neighbour("10.77.1.5", 9000, None),
        neighbour("fd00::6", 9000, Some(1500)),
    ]);
    let said = well.said(true);
    assert!(said.causes.is_empty(), "{:?}", said.causes);
    let remark = said.remarks.iter().find(|it| it.id == "jumbo-neighbours");
    let text = flat(&remark.expect("it is worth knowing").text);
    assert!(text.contains("neighbours=`10.77.1.4`,`fd00::6`"), "{text}");
    let plan = said.fixes.iter().find(|fix| fix.id == "jumbo-segment");
    let plan = plan.expect("there is a plan");
    assert!(flat(&plan.text).contains("neighbours=`10.77.1.4`,`fd00::6` answered=1500"));
    assert!(plan.blocked.is_some() && plan.level.settings.is_empty());
    assert_eq!(
        plan.commands,
        [
            "ip route change default via 10.77.1.254 dev a0 metric 100 mtu 1500  # at client",
            "ip route change 10.77.1.0/24 dev a0 src 10.77.1.1 mtu 1500  # at client",
            "ip address add 10.9.1.1/24 dev a0  # at client",
            "ip address add 10.9.1.2/24 dev b0  # at server",
        ]
    );
    let elsewhere = plan.elsewhere.as_ref().map(ToString::to_string);
    assert_eq!(elsewhere.as_deref(), Some("smb://10.9.1.2/media"));
    // Nothing is set at a server that nobody can reach.
    let said = well.said(false);
    let plan = said.fixes.iter().find(|fix| fix.id == "jumbo-segment");
    let commands = &plan.expect("there is a plan").commands;
    assert!(commands.iter().all(|line| !line.contains("b0")));
}

#[test]
fn neighbours_at_one_end_of_different_mtus_decide_for_the_smaller_one() {
    let mut well = Well::new();
    well.facts[0].nics[0].mtu = 9000;
    well.path.mtus[0].near_mtu = 9000;
    well.path.neighbours = vec![neighbour("10.77.1.4", 9000, Some(1500))];
    let said = well.said(true);
    assert_eq!(said.causes[0].id, "mtu-differs");
    let ids: Vec<&str> = said.fixes.iter().map(|fix| fix.id.as_str()).collect();
    assert_eq!(ids, ["same-mtu", "jumbo-segment"]);
    assert!(flat(&said.fixes[0].text).contains("least=1500 neighbours=`10.77.1.4`"));
}

#[test]
fn neighbours_that_could_not_be_asked_are_named_and_nothing_is_claimed_of_them() {
    let mut well = Well::new();
    let before = well.said(true);
    well.path.neighbours = vec![neighbour("10.77.1.4", 1500, Some(1500))];
    let said = well.said(true);
    let text = |said: &Diagnosis| {
        let mut fixes = said.fixes.iter();
        flat(&fixes.find(|fix| fix.id == "mtu-9000").unwrap().text)
    };
    assert!(!text(&before).contains("neighbours"));
    assert!(text(&said).contains("names=`10.77.1.4`"));
    assert!(said.remarks.iter().all(|it| it.id != "jumbo-neighbours"));
}

/// Plans where the two have a second link: that one is theirs alone.
#[test]
fn an_idle_link_is_the_segment_for_large_frames() {
    let mut well = Well::new();
    well.second_link(GIGABIT);
    well.facts[0].nics[0].mtu = 9000;
    well.path.mtus[0].near_mtu = 9000;
    well.path.neighbours = vec![neighbour("10.77.1.4", 9000, Some(1500))];
    let said = well.said(true);
    let plan = said.fixes.iter().find(|fix| fix.id == "jumbo-segment");
    let plan = plan.expect("there is a plan");
    assert!(
        flat(&plan.text).contains("segment.idle-link pair=(ends nic=a1 address=b1)"),
        "{:?}",
        plan.text
    );
    assert_eq!(
        plan.commands,
        [
            "ip link set dev a1 mtu 9000  # at client",
            "ip link set dev b1 mtu 9000  # at server",
        ]
    );
    let elsewhere = plan.elsewhere.as_ref().map(ToString::to_string);
    assert_eq!(elsewhere.as_deref(), Some("smb://10.77.2.2/media"));
}

/// What loses, and beside it what costs nothing on the way that was measured.
#[test]
fn what_costs_is_named_before_what_does_not() {
    let slow_disk: Inject = |well| well.records = ladder([117.5, 117.4, 117.0, 20.0]);
    let loss: Inject = |well| {
        well.records = ladder([80.0, 81.0, 79.0, 80.0]);
        well.retransmits(800);
    };
    let cases: [(&str, &str, Inject); 8] = [
        (
            "slow-link",
            "slow-link of a pair that is not used",
            |well| {
                well.second_link(GIGABIT / 10);
            },
        ),
        ("faster-path-unused", "a link that is not filled", |well| {
            well.second_link(10 * GIGABIT);
        }),
        ("two-nics-one-subnet", "a twin at the client", |well| {
            well.facts[0].nics.push(real_nic("a1", 3, "10.77.1.11"));
        }),
        ("mtu-differs", "jumbo frames at one end", |well| {
            well.facts[0].nics[0].mtu = 9000;
            well.path.mtus[0].near_mtu = 9000;
        }),
        ("multichannel-off", "two links and one channel", |well| {
            well.second_link(GIGABIT);
            well.advertise(&[]);
            well.path.addresses = vec![way("10.77.1.2"), way("10.77.2.2")];
        }),
        (
            "advertised-wrong",
            "a wrong speed of the other link",
            |well| {
                well.second_link(GIGABIT);
                let slow = ("10.77.2.2", GIGABIT / 10, true);
                well.advertise(&[("10.77.1.2", GIGABIT, true), slow]);
            },
        ),
        ("port-blocked", "a firewall before the other link", |well| {
            well.second_link(GIGABIT);
            let mut proof = well.path.mtus[0].clone();
            (proof.nic, proof.far_mtu) = ("a1".into(), None);
            proof.remote = Some("10.77.2.2".parse().unwrap());
            well.path.mtus.push(proof);
        }),
        (
            "old-dialect",
            "2.1, which is as fast by one channel",
            |well| {
                well.sessions(|session| session.dialect = "2.1".into());
            },
        ),
    ];
    for (beside, what, inject) in cases {
        let costs: [(&str, &str, Inject); 2] = [
            ("server-disk", "headline.loses-suspected", slow_disk),
            ("segments-lost", "headline.loses-proven", loss),
        ];
        for (cause, effect, cost) in costs {
            for with_server in [true, false] {
                let mut well = Well::new();
                cost(&mut well);
                inject(&mut well);
                let said = well.said(with_server);
                let named = ids(&said.causes);
                assert_eq!(named[..2], [cause, beside], "{what}: {said:#?}");
                assert_eq!(said.headline.id, effect, "{what}: {said:#?}");
                let cause = said.causes[0].text.clone().into();
                assert_eq!(said.headline.argument("cause"), Some(&cause));
            }
        }
    }
}

/// What is counted or read off, and costs less than was lost: the disk is what holds writes at a tenth.
#[test]
fn what_is_proven_is_blamed_for_no_loss_that_it_cannot_be() {
    let slow_disk = [117.5, 117.4, 117.0, 12.0];
    let cases: [(&str, [f64; 4], Inject); 11] = [
        ("local-disk", slow_disk, |well| {
            well.records
                .extend(rung(Rung::Disk, Direction::Read, &[116.0; 6]));
            let mut copies = with_disks(116.0, 50.0, Some("/data"));
            copies.retain(|record| {
                matches!(record, Record::Trial(trial) if matches!(trial.stage, Stage::Ladder { rung: Rung::Copy, .. }))
            });
            well.records.extend(copies);
        }),
        ("few-credits", slow_disk, |well| {
            well.sessions(|session| session.credits = Some(8));
        }),
        ("segments-lost", slow_disk, |well| {
            well.trials(|trial| {
                let is_tcp = matches!(
                    trial.stage,
                    Stage::Ladder {
                        rung: Rung::Tcp,
                        ..
                    }
                );
                if let (true, Outcome::Measured(result)) = (is_tcp, &mut trial.outcome) {
                    result.samples[0].retransmits = Some(800);
                }
            });
        }),
        ("server-disk", slow_disk, |well| {
            // Its processor is full where its line is.
            well.loads(0.0, 0.0, 0.2);
            well.trials(|trial| {
                let is_write = trial.workload.direction() == Direction::Write;
                let is_share = matches!(
                    trial.stage,
                    Stage::Ladder {
                        rung: Rung::Share,
                        ..
                    }
                );
                if !(is_write && is_share) {
                    trial.loads[1].processors[0].busy = 1.0;
                }
            });
        }),
        ("link-trained-low", slow_disk, |well| {
            well.facts[0].nics[0].modes = Some(modes(&[1000, 2500], &[1000, 2500, 10_000]));
        }),
        ("slow-link", [11.76, 11.75, 11.7, 1.2], |well| {
            well.facts[1].nics[0].speed = Some(BitsPerSecond::new(GIGABIT / 10));
        }),
        ("slow-link", [11.76, 11.75, 11.7, 1.2], |well| {
            well.facts[0].nics[0].speed = Some(BitsPerSecond::new(GIGABIT / 10));
            well.facts[1].nics[0].speed = Some(BitsPerSecond::new(GIGABIT / 10));
            well.second_link(GIGABIT);
        }),
        ("other-traffic", slow_disk, |well| {
            well.foreign(0, 20_000_000)
        }),
        ("other-traffic", slow_disk, |well| {
            well.foreign(1, 20_000_000)
        }),
        ("old-dialect", slow_disk, |well| {
            well.sessions(|session| session.dialect = "2.0.2".into());
        }),
        ("few-credits", slow_disk, |well| {
            well.sessions(|session| session.credits = Some(8));
            well.probes(Direction::Write, ProbeKind::ShallowDepth, 12.0, &[1.0; 6]);
        }),
    ];
    for (other, rates, inject) in cases {
        let mut well = Well::new();
        well.records = ladder(rates);
        well.retransmits(0);
        inject(&mut well);
        let said = well.said(true);
        assert_eq!(said.causes[0].id, "server-disk", "{other}: {said:#?}");
        assert_eq!(said.headline.id, "headline.loses-suspected", "{other}");
        let is_there = |causes: &[Cause]| ids(causes).contains(&other);
        assert!(
            is_there(&said.causes) || is_there(&said.ruled_out),
            "{other}: {said:#?}"
        );
    }
    // What is read from the disk is read by no rung above it.
    let mut well = Well::new();
    well.records = ladder([117.5, 117.4, 60.0, 59.0]);
    let disk = rung(Rung::Disk, Direction::Read, &[20.0; 6]);
    well.records.extend(disk);
    let said = well.said(true);
    assert_eq!(said.headline.id, "headline.loses-unexplained", "{said:#?}");
    assert!(ids(&said.causes).contains(&"server-disk"), "{said:#?}");
}

#[test]
fn a_slow_disk_below_a_share_that_is_well_is_named_before_an_idle_link() {
    for (disk, copy, first) in [(20.0, 115.0, "server-disk"), (116.0, 50.0, "local-disk")] {
        let mut well = Well::new();
        well.records = with_disks(disk, copy, Some("/data"));
        well.second_link(GIGABIT / 10);
        let said = well.said(true);
        assert_eq!(ids(&said.causes), [first, "slow-link"]);
        let fixes: Vec<&str> = said.fixes.iter().map(|fix| fix.id.as_str()).collect();
        assert!(
            fixes[0].starts_with("faster-") && fixes[1] == "cable",
            "{fixes:?}"
        );
        // A link that is full holds back what comes from memory, and everything else on its way.
        let mut well = Well::new();
        well.records = with_disks(disk, copy, Some("/data"));
        well.second_link(10 * GIGABIT);
        assert_eq!(ids(&well.said(true).causes), ["faster-path-unused", first]);
    }
}

#[test]
fn signing_that_costs_is_named_before_a_dialect_that_does_not() {
    let mut well = Well::new();
    well.speed(10 * GIGABIT);
    well.records = ladder([1170.0, 1170.0, 300.0, 290.0]);
    well.speed(10 * GIGABIT);
    well.sessions(|session| {
        session.dialect = "2.1".into();
        session.data_signed = true;
        session.signing_algorithm = Some("HMAC-SHA256".into());
    });
    let said = well.said(true);
    assert_eq!(ids(&said.causes)[..2], ["signing", "old-dialect"]);
    // Requests of 64 KiB cost whether or not they are signed.
    well.sessions(|session| session.dialect = "2.0.2".into());
    let said = well.said(true);
    assert_eq!(ids(&said.causes)[..2], ["old-dialect", "signing"]);
}

#[test]
fn offloads_that_raw_tcp_does_not_miss_are_no_reason_for_a_slow_disk() {
    let off = Offload {
        on: false,
        fixed: false,
    };
    let named = |tcp: f64, busy: f64| {
        let mut well = Well::new();
        well.records = ladder([tcp, tcp, tcp, 200.0]);
        well.loads(0.0, 0.0, busy);
        well.speed(10 * GIGABIT);
        for name in ["tcp-segmentation-offload", "generic-segmentation-offload"] {
            well.facts[0].nics[0].offloads.insert(name.into(), off);
        }
        ids(&well.said(true).causes)[0].to_owned()
    };
    assert_eq!(named(1170.0, 0.2), "server-disk");
    assert_eq!(named(900.0, 0.2), "offloads-off");
    assert_eq!(named(1170.0, 0.98), "offloads-off");
}

#[test]
fn what_costs_nothing_is_not_blamed_for_a_loss_that_nothing_explains() {
    let mut well = Well::new();
    well.facts[0].nics.push(real_nic("a1", 3, "10.77.1.11"));
    well.records = ladder([117.5, 117.4, 61.0, 60.0]);
    let said = well.said(true);
    let first = &said.causes[0];
    assert_eq!(first.id, "two-nics-one-subnet");
    assert_eq!(said.headline.id, "headline.loses-unexplained");
    assert!(ids(&said.causes).contains(&"share-slower-than-tcp"));
}

/// Both ends are set to 9000, and what is larger than 1500 vanishes between them.
fn swallowed() -> Well {
    let mut well = Well::new();
    well.second_link(GIGABIT);
    well.records.clear();
    for host in &mut well.facts {
        host.nics[0].mtu = 9000;
    }
    let proof = &mut well.path.mtus[0];
    (proof.near_mtu, proof.far_mtu) = (9000, Some(9000));
    (proof.answered, proof.unanswered) = (Some(1500), Some(1501));
    well
}

/// What each end counted of five packets each way.
fn counted(well: &mut Well, counts: [u64; 4]) {
    let [there, back, near, far] = counts.map(Some);
    well.path.mtus[0].vanished = Some(Vanished {
        size: 9000,
        sent: 5,
        seen_by_server: there,
        seen_by_client: back,
        near_refused: near,
        far_refused: far,
    });
}

/// A NIC of a host becomes a bridge with a port of this MTU.
fn port_below(well: &mut Well, host: usize, mtu: u32) {
    let bridge = well.facts[host].nics[0].name.clone();
    let mut port = real_nic("eth9", 9, "10.0.9.9");
    (port.mtu, port.port_of) = (mtu, Some(bridge));
    port.addresses.clear();
    well.facts[host].nics.push(port);
}

/// A pair on which the same were tried.
fn other_pair(well: &mut Well, nic: &str, remote: &str, answered: u32) {
    let mut proof = well.path.mtus[0].clone();
    (proof.nic, proof.remote) = (nic.into(), Some(remote.parse().unwrap()));
    (proof.answered, proof.unanswered) = (Some(answered), None);
    well.path.mtus.push(proof);
}

fn neighbour_answers(well: &mut Well, answered: Option<u32>) {
    well.path.neighbours.push(NeighbourMtu {
        nic: "a0".into(),
        address: "10.77.1.3".parse().unwrap(),
        tried: 9000,
        answered,
    });
}

type Told = (Inject, bool, &'static str, &'static str);

/// Who is blamed for a black hole: how it differs, whether the server tells, what is said, what is advised.
const BLAMED: [Told; 15] = [
    (
        |_| {},
        false,
        "who=(hole.between-or-far how=(hole.from-one-end))",
        "what=(fix.switch-or-nic switch=(fix.switch-mtu wanted=9000))",
    ),
    (
        |_| {},
        true,
        "who=(hole.probably-between)",
        "what=(fix.switch-mtu wanted=9000)",
    ),
    (
        |well| counted(well, [0, 0, 0, 0]),
        true,
        "who=(hole.between)",
        "what=(fix.switch-mtu",
    ),
    // What somebody else was asked meanwhile is no proof of either.
    (
        |well| counted(well, [0, 2, 0, 0]),
        true,
        "who=(hole.probably-between)",
        "what=(fix.switch-mtu",
    ),
    // One way passes: what the ends are set to says nothing of that.
    (
        |well| counted(well, [0, 5, 0, 0]),
        true,
        "who=(hole.anywhere how=(hole.not-told-apart) direction=(hole.to-server-only))",
        "what=(fix.switch-or-nic",
    ),
    (
        |well| counted(well, [6, 0, 0, 0]),
        true,
        "how=(hole.not-told-apart) direction=(hole.to-client-only))",
        "what=(fix.switch-or-nic",
    ),
    (
        |well| counted(well, [0, 0, 0, 7]),
        true,
        "who=(hole.far-end why=(hole.refused nic=b0 host=server refused=7 sent=5 size=9000))",
        "what=(fix.look-at-nic nic=b0 host=server)",
    ),
    (
        |well| counted(well, [0, 0, 5, 0]),
        true,
        "who=(hole.this-end why=(hole.refused nic=a0 host=client refused=5",
        "what=(fix.look-at-nic nic=a0 host=client)",
    ),
    (
        |well| port_below(well, 1, 1500),
        true,
        "who=(hole.far-end why=(hole.short-port port=eth9 nic=b0 host=server mtu=1500 own=9000))",
        "what=(fix.port-mtu port=eth9 host=server wanted=9000 nic=b0)",
    ),
    (
        |well| port_below(well, 0, 1500),
        false,
        "who=(hole.this-end why=(hole.short-port port=eth9 nic=a0 host=client mtu=1500",
        "what=(fix.port-mtu port=eth9 host=client wanted=9000",
    ),
    // A port that takes more than what passes explains nothing, and leaves its end in doubt.
    (
        |well| port_below(well, 0, 4000),
        false,
        "who=(hole.anywhere how=(hole.from-one-end))",
        "what=(fix.switch-or-nic",
    ),
    // Another machine behind the same NIC takes large ones: it is not this NIC.
    (
        |well| neighbour_answers(well, Some(9000)),
        false,
        "who=(hole.between-or-far because=(hole.because why=(hole.nic-passes nic=a0 bytes=9000 remote=10.77.1.3))",
        "what=(fix.switch-or-nic",
    ),
    (
        |well| {
            neighbour_answers(well, Some(1500));
            neighbour_answers(well, None);
        },
        false,
        "who=(hole.between-or-far how=(hole.from-one-end))",
        "what=(fix.switch-or-nic",
    ),
    // So does another NIC of ours with the same one of the server.
    (
        |well| {
            counted(well, [0, 5, 0, 0]);
            other_pair(well, "a1", "10.77.1.2", 4000);
        },
        true,
        "who=(hole.near-or-between because=(hole.because why=(hole.far-passes remote=10.77.1.2 bytes=4000 nic=a1)) how=(hole.not-told-apart) direction=(hole.to-server-only))",
        "what=(fix.switch-or-nic",
    ),
    (
        |well| {
            neighbour_answers(well, Some(9000));
            other_pair(well, "a1", "10.77.1.2", 9000);
        },
        true,
        "who=(hole.between because=(hole.because why=(hole.nic-passes nic=a0 bytes=9000 remote=10.77.1.3)) also=(hole.because why=(hole.far-passes remote=10.77.1.2 bytes=9000 nic=a1)))",
        "what=(fix.switch-mtu wanted=9000)",
    ),
];

#[test]
fn who_drops_what_vanishes_is_found_by_elimination() {
    for (differ, with_server, who, advice) in BLAMED {
        let mut well = swallowed();
        differ(&mut well);
        let said = well.said(with_server);
        let first = &said.causes[0];
        assert_eq!(first.id, "path-mtu-black-hole");
        assert!(
            flat(&first.text).contains(who),
            "{who}\n{}",
            flat(&first.text)
        );
        assert!(
            flat(&said.fixes[0].text).contains(advice),
            "{:#?}",
            said.fixes[0]
        );
    }
}

/// What only went there shows nothing of a NIC that is to take what comes back; of two NICs in one subnet
/// either may have answered.
#[test]
fn what_is_no_proof_clears_nobody() {
    let mut well = swallowed();
    other_pair(&mut well, "a0", "10.77.1.9", 9000);
    assert!(flat(&well.said(true).causes[0].text).contains("hole.nic-passes nic=a0 bytes=9000"));
    well.path.mtus[1].forward_only = true;
    assert!(!flat(&well.said(true).causes[0].text).contains("bytes=9000"));
    well.path.mtus[0].forward_only = true;
    assert!(flat(&well.said(true).causes[0].text).contains("hole.nic-passes nic=a0 bytes=9000"));

    let mut well = swallowed();
    other_pair(&mut well, "a1", "10.77.1.2", 9000);
    assert!(flat(&well.said(true).causes[0].text).contains("bytes=9000"));
    well.facts[1].nics.push(real_nic("b2", 8, "10.77.1.12"));
    assert!(!flat(&well.said(true).causes[0].text).contains("bytes=9000"));
}

/// A black hole on a link that is not used takes nothing from the one that is.
#[test]
fn a_black_hole_beside_the_way_comes_after_what_costs() {
    let mut well = Well::new();
    well.records = ladder([117.5, 117.4, 117.0, 20.0]);
    well.second_link(GIGABIT);
    for host in &mut well.facts {
        host.nics[1].mtu = 9000;
    }
    let mut proof = well.path.mtus[0].clone();
    (proof.nic, proof.near_mtu, proof.far_mtu) = ("a1".into(), 9000, Some(9000));
    (proof.answered, proof.unanswered) = (Some(1500), Some(1501));
    proof.remote = Some("10.77.2.2".parse().unwrap());
    well.path.mtus.push(proof);
    for with_server in [true, false] {
        let said = well.said(with_server);
        assert_eq!(
            ids(&said.causes)[..2],
            ["server-disk", "path-mtu-black-hole"]
        );
    }
}

#[test]
fn where_the_routes_choose_no_other_address_is_advised() {
    let mut well = Well::new();
    let mut fast = real_nic("a1", 3, "10.77.1.11");
    fast.speed = Some(BitsPerSecond::new(10 * GIGABIT));
    well.facts[0].nics.push(fast);
    well.facts[0].routes = vec![
        route("10.77.1.0/24", "a0", 100),
        route("10.77.1.0/24", "a1", 200),
    ];
    well.facts[1].nics[0].speed = Some(BitsPerSecond::new(10 * GIGABIT));
    well.advertise(&[("10.77.1.2", 10 * GIGABIT, true)]);
    let fix = |well: &Well, with_server: bool| {
        let said = well.said(with_server);
        let mut fixes = said.fixes.into_iter();
        let fix = fixes.find(|fix| fix.id == "faster-path").unwrap();
        (said.causes, fix)
    };
    for with_server in [true, false] {
        let (causes, fix) = fix(&well, with_server);
        assert_eq!(ids(&causes), ["two-nics-one-subnet", "faster-path-unused"]);
        assert!(
            flat(&fix.text) == "fix.lower-metric slow=a0 fast=a1",
            "{fix:#?}"
        );
        assert_eq!(fix.elsewhere, None);
        assert_eq!(
            fix.commands,
            ["linerate set client route.interface_metric@a0=300"]
        );
    }
    // Another address of the server in that subnet is reached by the same NIC of ours.
    let mut other = real_nic("b1", 3, "10.77.1.12");
    other.speed = Some(BitsPerSecond::new(10 * GIGABIT));
    well.facts[1].nics.push(other);
    well.facts[1].nics[0].speed = Some(BitsPerSecond::new(GIGABIT));
    well.advertise(&[
        ("10.77.1.2", GIGABIT, true),
        ("10.77.1.12", 10 * GIGABIT, true),
    ]);
    let (causes, fix_of_both) = fix(&well, true);
    assert_eq!(causes[0].id, "two-nics-one-subnet");
    assert_eq!(fix_of_both.elsewhere, None);
    // Where it is the server's NIC alone that is slow, the address does choose.
    well.facts[0].nics.remove(0);
    well.facts[0].nics[0].addresses[0].address = "10.77.1.1".parse().unwrap();
    let (_, fix_of_address) = fix(&well, true);
    let elsewhere = fix_of_address.elsewhere.map(|share| share.to_string());
    assert_eq!(elsewhere.as_deref(), Some("smb://10.77.1.12/media"));
    assert_eq!(fix_of_address.commands, Vec::<String>::new());
}

#[test]
fn a_prefix_that_nics_share_in_the_other_family_is_none_of_the_way() {
    let share = |well: &mut Well, address: &str, host: usize, nic: usize| {
        well.facts[host].nics[nic]
            .addresses
            .push(record::InterfaceAddress {
                address: address.parse().unwrap(),
                prefix: if address.contains(':') { 64 } else { 24 },
            });
    };
    let mut well = Well::new();
    well.second_link(GIGABIT);
    for (host, tail) in [(0, 1), (1, 2)] {
        share(&mut well, &format!("fd00::1:{tail}"), host, 0);
        share(&mut well, &format!("fd00::2:{tail}"), host, 1);
    }
    let said = well.said(true);
    assert_eq!(said.causes, [], "{said:#?}");
    // The same of IPv4 addresses, which are used: by a second address of one NIC.
    share(&mut well, "10.77.1.11", 0, 1);
    assert_eq!(ids(&well.said(true).causes), ["two-nics-one-subnet"]);
}

#[test]
fn twins_of_the_server_cost_nothing_where_the_clients_one_link_is_full() {
    let named = |share: f64| {
        let mut well = Well::new();
        well.facts[1].nics.push(real_nic("b1", 3, "10.77.1.12"));
        well.advertise(&[("10.77.1.2", GIGABIT, true), ("10.77.1.12", GIGABIT, true)]);
        well.records = ladder([117.5, 117.4, share, share]);
        let causes = well.said(true).causes;
        causes.iter().any(|it| it.id == "two-nics-one-subnet")
    };
    assert!(!named(117.0));
    assert!(named(60.0));
}

#[test]
fn twins_and_different_mtus_are_found_on_links_that_are_not_used() {
    let with = |inject: Inject, with_server: bool| {
        let mut well = Well::new();
        well.second_link(GIGABIT);
        inject(&mut well);
        let said = well.said(with_server);
        let named: Vec<String> = said.causes.iter().map(|it| it.id.clone()).collect();
        (named, said.causes.first().map(|it| flat(&it.text)))
    };
    let (named, text) = with(|well| well.facts[0].nics[1].mtu = 9000, true);
    assert_eq!(named, ["mtu-differs"]);
    assert!(
        text.unwrap()
            .contains("near=a1 near_mtu=9000 far=b1 far_mtu=1500")
    );
    let proven: Inject = |well| {
        well.facts[0].nics[1].mtu = 9000;
        let mut proof = well.path.mtus[0].clone();
        (proof.nic, proof.near_mtu) = ("a1".into(), 9000);
        proof.remote = Some("10.77.2.2".parse().unwrap());
        well.path.mtus.push(proof);
    };
    let (named, text) = with(proven, false);
    assert_eq!(named, ["mtu-differs"]);
    assert!(
        text.unwrap()
            .contains("near=a1 near_mtu=9000 far=10.77.2.2 far_mtu=1500")
    );
    // A twin of the idle NIC.
    let twin: Inject = |well| well.facts[0].nics.push(real_nic("a2", 4, "10.77.2.11"));
    for with_server in [true, false] {
        let (named, text) = with(twin, with_server);
        assert_eq!(named, ["two-nics-one-subnet"]);
        assert!(text.unwrap().contains("one=a1 other=a2 host=client"));
    }
    // Nobody answers at the other end: that is no link.
    let dead: Inject = |well| {
        well.facts[0].nics[1].mtu = 9000;
        well.path.mtus.push(MtuProof {
            nic: "a1".into(),
            remote: Some("10.77.2.2".parse().unwrap()),
            near_mtu: 9000,
            ..MtuProof::default()
        });
    };
    assert_eq!(with(dead, true).0, ["one-link-idle"]);
}

#[test]
fn a_link_that_one_connection_leaves_idle_is_the_headline_and_no_cause() {
    let mut well = Well::new();
    well.second_link(GIGABIT);
    for repetition in 0..4 {
        well.channels([117.0, 117.0]);
        well.repeated(repetition);
    }
    let said = well.said(true);
    assert_eq!(said.headline.id, "headline.one-link-idle");
    assert!(said.complete && said.causes.is_empty(), "{:?}", said.causes);
    let remarks: Vec<&str> = said.remarks.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(remarks, ["link-saturated"]);
    assert_eq!(said.fixes[0].id, "channels-2");
    assert_eq!(said.fixes[0].trust, analysis::Trust::Measured);
}

#[test]
fn a_second_nic_that_leads_who_knows_where_does_not_prove_that_multichannel_is_off() {
    let mut well = Well::new();
    well.second_link(GIGABIT);
    well.advertise(&[]);
    let said = well.said(false);
    let [perhaps] = &said.causes[..] else {
        panic!("{said:#?}")
    };
    assert_eq!((perhaps.state, said.named()), (State::Unknowable, None));
    assert_eq!(flat(&perhaps.text), "multichannel-off.perhaps nic=a1");
    assert_eq!(said.headline.id, "headline.full");
    assert!(!said.fixes.iter().any(|fix| fix.id == "multichannel-on"));
    assert_eq!(ids(&well.said(true).causes), ["multichannel-off"]);
    assert!(well.said(true).named().is_some());
    // A list of which neither fits that NIC may be wrong, or it leads elsewhere.
    let mut foreign = Well::new();
    foreign.second_link(GIGABIT);
    foreign.advertise(&[("10.77.1.2", GIGABIT, true), ("10.99.2.2", GIGABIT, true)]);
    let said = foreign.said(false);
    assert_eq!(ids(&said.causes), ["advertised-wrong"]);
    assert_eq!(said.causes[0].state, State::Unknowable);
    // One that leads to the internet or to others says nothing at all.
    let mut routed = Well::new();
    routed.second_link(GIGABIT);
    routed.advertise(&[]);
    let mut way_out = route("default", "a1", 100);
    way_out.gateway = Some("10.77.2.254".parse().unwrap());
    routed.facts[0].routes = vec![way_out];
    well.path.neighbours = vec![NeighbourMtu {
        nic: "a1".into(),
        ..neighbour("10.77.2.9", 1500, Some(1500))
    }];
    for well in [well, routed] {
        let said = well.said(false);
        assert_eq!(said.causes, []);
    }
}

#[test]
fn a_faster_link_that_the_list_denies_rss_is_named_unless_it_is_right_about_it() {
    let named = |fast: (u64, u32), list: [bool; 2], with_server: bool| {
        let mut well = Well::new();
        well.second_link(fast.0);
        // The client's own NIC is no faster, so that this is no way to be preferred.
        well.facts[0].nics[1].speed = Some(BitsPerSecond::new(GIGABIT));
        well.facts[1].nics[0].rx_queues = Some(4);
        well.facts[1].nics[1].rx_queues = Some(fast.1);
        well.advertise(&[
            ("10.77.1.2", GIGABIT, list[0]),
            ("10.77.2.2", fast.0, list[1]),
        ]);
        ids(&well.said(with_server).causes).join(" ")
    };
    let ten = 10 * GIGABIT;
    // It has queues, and nobody is told.
    assert_eq!(named((ten, 4), [true, false], true), "advertised-wrong");
    assert_eq!(named((ten, 4), [true, false], false), "advertised-wrong");
    assert_eq!(named((ten, 4), [true, true], true), "");
    // It has none, and the list says so.
    assert_eq!(named((ten, 1), [true, false], true), "");
    // A slower one without RSS is none that anybody would take.
    assert_eq!(named((GIGABIT / 2, 4), [true, false], true), "");
}

#[test]
fn a_speed_in_the_list_that_our_own_nics_exceed_proves_nothing() {
    let slow = ("10.77.2.2", GIGABIT / 10, true);
    let list = [("10.77.1.2", GIGABIT, true), slow];
    let mut two_nics = Well::new();
    two_nics.second_link(GIGABIT);
    two_nics.advertise(&list);
    let said = two_nics.said(false);
    let [doubted] = &said.causes[..] else {
        panic!("{said:#?}")
    };
    assert_eq!((doubted.state, said.named()), (State::Unknowable, None));
    assert!(flat(&doubted.text).starts_with("advertised-wrong.doubted address=10.77.2.2"));
    // One NIC of ours that leads to both of the server's, and two that are faster than all of the server's.
    let mut one_nic = Well::new();
    let second = real_nic("a1", 3, "10.77.2.1").addresses;
    one_nic.facts[0].nics[0].addresses.extend(second);
    one_nic.advertise(&list);
    let mut faster = Well::new();
    faster.second_link(10 * GIGABIT);
    faster.facts[0].nics[0].speed = Some(BitsPerSecond::new(10 * GIGABIT));
    faster.advertise(&[("10.77.1.2", GIGABIT, true), ("10.77.2.2", GIGABIT, true)]);
    for well in [one_nic, faster] {
        assert_eq!(ids(&well.said(false).causes), [""; 0]);
    }
    // A third NIC may lead to what the list lacks.
    let mut third = Well::new();
    third.second_link(GIGABIT);
    third.facts[0].nics.push(real_nic("a2", 4, "10.77.3.1"));
    let said = third.said(false);
    assert_eq!(
        (ids(&said.causes), said.named()),
        (vec!["advertised-wrong"], None)
    );
}

/// The server lists the bridge of its containers, where none of our NICs is.
#[test]
fn an_interface_that_nobody_reaches_may_be_without_rss() {
    let mut well = Well::new();
    well.advertise(&[
        ("10.77.1.2", GIGABIT, true),
        ("172.17.0.1", 10 * GIGABIT, false),
        ("172.18.0.1", GIGABIT, false),
    ]);
    for with_server in [true, false] {
        assert_eq!(well.said(with_server).causes, []);
    }
}

#[test]
fn links_that_gain_in_one_direction_are_said_to_lie_idle() {
    let headline = |reads: [f64; 4], writes: [f64; 4]| {
        let mut well = Well::new();
        well.second_link(GIGABIT);
        for (direction, rates) in [(Direction::Read, reads), (Direction::Write, writes)] {
            well.records.extend(rung(Rung::Channels, direction, &rates));
        }
        well.over_both_links();
        // Where more than the server's word is known of how fast the second one is, what both lose is said first.
        for host in &mut well.facts {
            host.nics[1].speed = None;
        }
        let headline = well.said(true).headline;
        assert_eq!(headline.id, "headline.one-link-idle");
        flat(&headline)
    };
    // Something that several links do not overcome holds these writes.
    let said = headline([233.0, 233.2, 232.8, 233.0], [121.0, 180.0, 112.0, 150.0]);
    assert!(said.contains("direction.read"), "{said}");
    // Where the one that gains less is proven to, it speaks for both.
    let said = headline([150.0, 300.0, 118.0, 310.0], [150.0, 150.2, 149.8, 150.0]);
    assert!(!said.contains("direction"), "{said}");
}

#[test]
fn a_buffer_of_the_server_is_not_ruled_out_by_a_smaller_one_of_ours() {
    let first = |two_sessions: Option<f64>| {
        let mut well = Well::new();
        well.records = ladder([117.0, 117.0, 80.0, 116.0]);
        well.path.mtus[0].round_trip = Some(Nanoseconds::new(2_000_000));
        well.path.settings.push(socket_options("SO_SNDBUF=98304"));
        let ours = (ProbeKind::SendBuffer, 1.0);
        let sessions = two_sessions.map(|gain| (ProbeKind::Sessions, gain));
        for (kind, gain) in [ours].into_iter().chain(sessions) {
            let gains = [gain, 1.001 * gain, 0.999 * gain, gain];
            well.probes_of(Rung::Share, Direction::Read, kind, 80.0, &gains);
        }
        let said = well.said(true);
        said.named().map(|first| (first.id.clone(), first.state))
    };
    let small = |state| Some(("send-buffer-small".to_owned(), state));
    assert_eq!(first(None), small(State::Suspected));
    // Two sessions have a buffer each; what loses packets gains by them as well, and not twice as much.
    assert_eq!(first(Some(1.9)), small(State::Proven(Proof::Counter)));
    assert_eq!(first(Some(1.2)), small(State::Suspected));
    assert_ne!(first(Some(1.0)), small(State::Suspected));
}

/// NICs of virtual machines have no rate, and what went through them is known all the same.
#[test]
fn what_a_link_carried_stands_for_a_rate_that_nobody_tells() {
    let untold = |well: &mut Well, link: usize| {
        for host in &mut well.facts {
            host.nics[link].speed = None;
        }
    };
    // The used one carries more than the other one could.
    let mut slow = Well::new();
    slow.second_link(GIGABIT / 10);
    untold(&mut slow, 0);
    slow.advertise(&[]);
    let said = slow.said(true);
    assert_eq!(said.causes[0].id, "slow-link", "{said:#?}");
    assert!(flat(&said.causes[0].text).contains("good=94"), "{said:#?}");

    // The idle one carried more, when several channels were used at once.
    let mut idle = Well::new();
    idle.second_link(GIGABIT);
    untold(&mut idle, 1);
    idle.channels([117.0, 290.0]);
    let said = idle.said(true);
    assert_eq!(said.causes[0].id, "faster-path-unused", "{said:#?}");
    let text = flat(&said.causes[0].text);
    assert!(
        text.contains("pair=(ends nic=a1 address=b1) rate=23"),
        "{text}"
    );

    // Raw TCP moved what the used one carries, and the other one tells more.
    let mut used = Well::new();
    used.second_link(10 * GIGABIT);
    untold(&mut used, 0);
    used.advertise(&[]);
    let named = |well: &Well| ids(&well.said(true).causes)[0].to_owned();
    assert_eq!(named(&used), "faster-path-unused");
    // A processor that was full may have been what it waited for.
    used.loads(0.0, 0.0, 0.99);
    assert_ne!(named(&used), "faster-path-unused");
}

#[test]
fn one_of_several_channels_proves_a_speed_that_is_told_too_low() {
    let said = |rates: [f64; 2], with_server: bool| {
        let mut well = Well::new();
        well.second_link(GIGABIT);
        for host in &mut well.facts {
            host.nics[1].speed = None;
        }
        let slow = ("10.77.2.2", GIGABIT / 10, true);
        well.advertise(&[("10.77.1.2", GIGABIT, true), slow]);
        well.channels(rates);
        let slow = ("10.77.2.2", GIGABIT / 10, true);
        well.advertise(&[("10.77.1.2", GIGABIT, true), slow]);
        well.said(with_server)
    };
    for with_server in [true, false] {
        let wrong = said([117.0, 60.0], with_server);
        assert_eq!(wrong.causes[0].id, "advertised-wrong", "{wrong:#?}");
        assert!(
            flat(&wrong.causes[0].text)
                .starts_with("advertised-wrong.exceeded address=10.77.2.2 said=100000000")
        );
        // What it carried is what it was said to.
        let right = said([117.0, 11.7], with_server);
        assert_eq!(right.causes, [], "{right:#?}");
    }
}

fn near(found: f64, wanted: f64) {
    assert!((found / wanted - 1.0).abs() < 1e-3, "{found}, not {wanted}");
}

/// One channel alone reads 116.9 MB/s.
#[test]
fn what_each_channel_carried_and_what_all_gain_over_one() {
    let two_links = || {
        let mut well = Well::new();
        well.second_link(GIGABIT);
        well
    };
    assert_eq!(two_links().said(true).multichannel, []);
    let cases = [
        ([117.0, 117.0], Verdict::Better),
        ([117.0, 1.2], Verdict::Equivalent),
        ([60.0, 30.0], Verdict::Worse),
    ];
    for (rates, verdict) in cases {
        for with_server in [true, false] {
            let mut well = two_links();
            well.channels(rates);
            well.channels(rates);
            let diagnosis = well.said(with_server);
            let [several] = &diagnosis.multichannel[..] else {
                panic!("it was only read: {diagnosis:?}")
            };
            let all: f64 = rates.iter().sum();
            near(several.rate.value, 1e6 * all);
            assert_eq!((several.direction, several.rate.n), (Direction::Read, 2));
            let alone = several.alone.as_ref().expect("it was measured");
            assert_eq!(alone.nic.as_deref(), Some("a0"));
            near(alone.gain.value, all / 116.9);
            assert_eq!(alone.verdict, verdict, "{alone:?}");
            for (channel, rate) in several.channels.iter().zip(rates) {
                near(channel.rate.value, 1e6 * rate);
                near(channel.share.value, rate / all);
                // 1 Gbit/s at MTU 1500.
                let full = channel.of_line.as_ref().expect("both NICs are known");
                near(full.value, rate / (125.0 * 1448.0 / 1538.0));
                assert_eq!(channel.is_far_below_its_line(), rate < 58.8);
            }
            assert_eq!(several.channels[1].address.to_string(), "10.77.2.2");
            // What one of them did not carry is no cause by itself.
            assert_eq!(diagnosis.causes, []);
        }
    }
    let mut well = two_links();
    well.channels([117.0, 117.0]);
    well.channels([60.0, 30.0]);
    let unsteady = well.said(true).multichannel;
    let alone = unsteady[0].alone.as_ref().expect("it was measured");
    assert_eq!(alone.verdict, Verdict::Undecided);
}

#[test]
fn a_trial_without_all_channels_and_a_nic_of_two_channels_are_not_held_against_one() {
    let mut well = Well::new();
    well.second_link(GIGABIT);
    well.channels([60.0, 57.0]);
    well.channels([60.0, 57.0]);
    let Some(Record::Trial(trial)) = well.records.last_mut() else {
        panic!("a trial was added")
    };
    if let Outcome::Measured(result) = &mut trial.outcome {
        result.connections.pop();
    }
    let several = well.said(true).multichannel.remove(0);
    assert_eq!(several.rate.n, 1);
    assert!(
        several
            .rate
            .caveats
            .iter()
            .any(|caveat| flat(caveat) == "fewer-channels count=1"),
        "{several:?}"
    );
    // Both end at one NIC of the server, which one of them alone could not fill.
    let mut well = Well::new();
    well.second_link(GIGABIT);
    well.channels([60.0, 57.0]);
    well.trials(|trial| {
        if let Outcome::Measured(result) = &mut trial.outcome {
            for used in &mut result.connections {
                used.remote = "10.77.1.2:445".parse().unwrap();
            }
        }
    });
    let several = well.said(true).multichannel.remove(0);
    assert_eq!(several.channels.len(), 2);
    for channel in &several.channels {
        assert_eq!(channel.of_line, None);
        assert!(!channel.is_far_below_its_line());
    }
    // Over the same two NICs each is told from the other, and both fill one line.
    well.trials(|trial| {
        if let Outcome::Measured(result) = &mut trial.outcome {
            for used in &mut result.connections {
                used.local = "10.77.1.1:40000".parse().unwrap();
            }
        }
    });
    let several = well.said(true).multichannel.remove(0);
    let numbers: Vec<usize> = several.channels.iter().map(|one| one.number).collect();
    assert_eq!(numbers, [1, 2]);
    for channel in &several.channels {
        let full = channel.of_line.as_ref().expect("both NICs are known");
        near(full.value, 117.0 / (125.0 * 1448.0 / 1538.0));
    }
}

#[test]
fn small_requests_and_small_files_show_hosts_and_congestion_control_as_other_rungs() {
    let mut well = Well::new();
    well.records
        .extend(rung(Rung::RoundTrip, Direction::Read, &[10.0; 2]));
    well.records
        .extend(rung(Rung::SmallFiles, Direction::Write, &[4.0; 2]));
    well.loads(0.0, 0.0, 0.75);
    well.facts[1].tcp.congestion_control = Some("bbr".into());
    well.trials(|trial| {
        if let Outcome::Measured(result) = &mut trial.outcome {
            result.connections[0].congestion_control = Some("cubic".into());
        }
    });
    let transfers = |with_server| {
        let transfers = well.said(with_server).transfers.into_iter();
        let small = |of: Rung| matches!(of, Rung::RoundTrip | Rung::SmallFiles);
        transfers
            .filter(move |one| small(one.rung))
            .collect::<Vec<_>>()
    };
    let found = transfers(true);
    let rungs: Vec<(Rung, Direction)> = found.iter().map(|one| (one.rung, one.direction)).collect();
    assert_eq!(
        rungs,
        [
            (Rung::RoundTrip, Direction::Read),
            (Rung::SmallFiles, Direction::Write)
        ]
    );
    for transfer in found {
        let hosts: Vec<_> = transfer
            .hosts
            .iter()
            .map(|host| host.host.as_str())
            .collect();
        assert_eq!(hosts, ["client", "server"]);
        assert!(
            transfer
                .hosts
                .iter()
                .all(|host| host.fullest_processor == 0.75)
        );
        // The trials use one name, which is said once.
        assert_eq!(transfer.congestion_control, ["cubic"]);
        assert_eq!(transfer.far_congestion_control.as_deref(), Some("bbr"));
        assert_eq!(transfer.path_bytes, None);
    }
    // Nobody looked at the other end.
    assert!(
        transfers(false)
            .iter()
            .all(|one| one.far_congestion_control.is_none())
    );
}

/// Where nobody lets linerate in and no `iperf3 -s` runs: shares in MB/s, as one end sees them.
pub(crate) fn without_tcp(shares: [f64; 2], change: impl Fn(&mut Well)) -> Diagnosis {
    let mut well = Well::new();
    let why = "there is no iperf3 server that answers";
    well.records.drain(..8);
    for direction in [Direction::Read, Direction::Write] {
        let of = shares[usize::from(direction == Direction::Write)];
        well.records.push(failed_rung(Rung::Tcp, direction, why));
        well.records
            .push(failed_rung(Rung::Streams, direction, why));
        well.trials(|trial| {
            if let Outcome::Measured(result) = &mut trial.outcome
                && trial.workload.direction() == direction
            {
                result.samples[0].bytes = Bytes::new((1e6 * of) as u64);
                result.connections[0].bytes = result.samples[0].bytes;
            }
        });
    }
    change(&mut well);
    well.said(false)
}

fn signed(well: &mut Well) {
    well.sessions(|session| {
        session.data_signed = true;
        session.signing_algorithm = Some("AES-128-CMAC".into());
    });
}

#[test]
fn what_the_network_may_lose_is_not_the_servers_where_nobody_measured_raw_tcp() {
    let named = |shares: [f64; 2], change: Inject| {
        let said = without_tcp(shares, change);
        (ids(&said.causes).join(" "), flat(&said.headline))
    };
    let wireless: Inject = |well| {
        signed(well);
        well.medium(0, Medium::Wireless);
    };
    assert_eq!(named([45.0, 43.0], wireless).0, "wifi-used");
    let tunnel: Inject = |well| {
        signed(well);
        well.medium(0, Medium::Tunnel);
    };
    assert_eq!(named([45.0, 43.0], tunnel).0, "tunnel-used");
    // A server that may have a slower NIC than we have, and one behind somebody's line.
    let unknown_end: Inject = |well| {
        well.speed(5 * GIGABIT / 2);
        signed(well);
        well.advertise(&[]);
    };
    let routed: Inject = |well| {
        signed(well);
        well.path.addresses = vec![routed_way()];
    };
    for (shares, change) in [([112.0, 110.0], unknown_end), ([5.5, 5.4], routed)] {
        let (causes, headline) = named(shares, change);
        assert_eq!(causes, "other-traffic");
        assert!(headline.contains("decides=(decide.raw-tcp)"), "{headline}");
    }
    // Both ends say their lines, and only a switch is between them: that is no proof against the server.
    let (causes, headline) = named([45.0, 43.0], |_| {});
    assert_eq!(causes, "other-traffic");
    assert!(
        headline.starts_with("headline.network-or-server"),
        "{headline}"
    );
    assert!(named([45.0, 43.0], signed).0.starts_with("signing"));
}

#[test]
fn a_share_that_fills_its_link_needs_no_raw_tcp() {
    let said = without_tcp([116.9, 116.5], |_| {});
    assert_eq!((said.complete, said.first_loss), (true, None));
    assert_eq!(said.causes, [], "{said:#?}");
    // What only the server tells of the line may be invented, and half of it is nothing to go by.
    let said = without_tcp([116.9, 116.5], |well| {
        well.facts[0].nics[0].speed = None;
    });
    assert_eq!((said.complete, said.first_loss), (false, None));
}

fn routed_way() -> AddressRoute {
    AddressRoute {
        nic: Some("a0".into()),
        gateway: Some("10.77.1.254".parse().unwrap()),
        ..way("10.77.1.2")
    }
}

#[test]
fn what_a_router_makes_of_an_mtu_is_no_fault_of_a_link() {
    let mut well = Well::new();
    let proof = &mut well.path.mtus[0];
    (proof.far_mtu, proof.answered) = (Some(1420), Some(1420));
    for with_server in [true, false] {
        assert_eq!(ids(&well.said(with_server).causes), ["mtu-differs"]);
    }
    well.path.addresses = vec![routed_way()];
    for far in [1500, 1420] {
        well.facts[1].nics[0].mtu = far;
        for with_server in [true, false] {
            let said = well.said(with_server);
            assert_eq!(said.causes, [], "{said:#?}");
            assert!(said.fixes.iter().all(|fix| !fix.id.contains("mtu")));
        }
    }
    // What a tunnel leaves to a packet is none either.
    well.path.addresses.clear();
    well.facts[1].nics[0].mtu = 1500;
    well.medium(0, Medium::Tunnel);
    assert!(!ids(&well.said(false).causes).contains(&"mtu-differs"));
}

/// A bond of so many ports at 1 Gbit/s in place of a host's NIC.
fn bond(well: &mut Well, host: usize, ports: u32) {
    let nics = &mut well.facts[host].nics;
    nics[0].kind = Some("bond".into());
    nics[0].speed = Some(BitsPerSecond::new(u64::from(ports) * GIGABIT));
    let name = nics[0].name.clone();
    nics.extend((0..ports).map(|port| port_of(&name, port)));
}

fn port_of(name: &str, port: u32) -> record::Nic {
    record::Nic {
        addresses: Vec::new(),
        port_of: Some(name.into()),
        ..real_nic(&format!("p{port}"), 20 + port, "10.99.0.1")
    }
}

#[test]
fn one_connection_has_one_port_of_a_bond_or_a_bridge() {
    let bonded: Inject = |well| {
        bond(well, 0, 2);
        bond(well, 1, 2);
    };
    // What virtual machines add to a bridge is no line.
    let bridged: Inject = |well| {
        well.facts[0].nics[0].speed = Some(BitsPerSecond::new(5 * GIGABIT / 2));
        well.medium(1, Medium::Bridge);
        let mut guest = lab_nic("vnet0", 30, "10.99.0.2");
        (guest.shaped, guest.port_of) = (None, Some("b0".into()));
        well.facts[1].nics.extend([port_of("b0", 0), guest]);
    };
    for inject in [bonded, bridged] {
        let mut well = Well::new();
        inject(&mut well);
        let said = well.said(true);
        assert_eq!(said.causes, [], "{said:#?}");
        assert!(
            flat(&said.headline).contains("rate=1000000000 "),
            "{said:#?}"
        );
    }
    // A port that came up slow is found behind its bridge.
    let mut well = Well::new();
    bridged(&mut well);
    let port = well.facts[1].nics.iter_mut().find(|nic| nic.name == "p0");
    port.unwrap().speed = Some(BitsPerSecond::new(GIGABIT / 10));
    well.records = ladder([11.76, 11.75, 11.7, 11.71]);
    assert_eq!(ids(&well.said(true).causes)[0], "slow-link");
}

/// A bond that deals out packets, and a virtual machine behind the bridge that does not pass its port.
#[test]
fn more_than_a_port_carries_is_no_contradiction() {
    let dealt: Inject = |well| {
        bond(well, 0, 2);
        bond(well, 1, 2);
    };
    let inside: Inject = |well| {
        well.medium(1, Medium::Bridge);
        well.facts[1].nics.push(port_of("b0", 0));
        well.facts[0].nics[0].speed = Some(BitsPerSecond::new(2 * GIGABIT));
    };
    for inject in [dealt, inside] {
        let mut well = Well::new();
        well.records = ladder([235.0, 234.0, 233.0, 232.0]);
        well.advertise(&[("10.77.1.2", 2 * GIGABIT, true)]);
        inject(&mut well);
        let said = well.said(true);
        assert_eq!(said.causes, [], "{said:#?}");
        assert!(
            flat(&said.headline).contains("rate=2000000000 "),
            "{said:#?}"
        );
    }
}

#[test]
fn what_other_programs_send_again_is_no_loss_of_the_path() {
    let named = |of_connection: Option<u64>| {
        let mut well = Well::new();
        well.trials(|trial| {
            if let Outcome::Measured(result) = &mut trial.outcome {
                result.samples[0].retransmits = Some(800);
                result.connections[0].retransmits = of_connection;
            }
        });
        ids(&well.said(true).causes).join(" ")
    };
    assert_eq!(named(Some(0)), "");
    assert_eq!(named(Some(900)), "segments-lost");
    // A system that tells nothing of a connection.
    assert_eq!(named(None), "segments-lost");
}

#[test]
fn a_second_link_that_loses_packets_is_named_and_not_praised() {
    let mut well = Well::new();
    well.second_link(GIGABIT);
    for repetition in 0..4 {
        well.channels([114.0, 5.0]);
        well.repeated(repetition);
        if let Some(Record::Trial(trial)) = well.records.last_mut()
            && let Outcome::Measured(result) = &mut trial.outcome
        {
            result.connections[1].tcp = Some(TcpDetail {
                out_of_order: Some(300),
                ..TcpDetail::default()
            });
        }
    }
    for with_server in [true, false] {
        let said = well.said(with_server);
        assert_eq!(ids(&said.causes), ["segments-lost"], "{said:#?}");
        assert_eq!(said.causes[0].text.id, "segments-lost.channel");
        // What was measured of several channels is not predicted by a formula.
        assert!(said.fixes.iter().all(|fix| fix.id != "channels-2"));
    }
}

#[test]
fn a_ceiling_is_what_a_nic_negotiated_and_no_invention() {
    let mut well = Well::new();
    for host in &mut well.facts {
        host.nics[0].modes = Some(LinkModes::default());
    }
    well.advertise(&[]);
    let said = well.said(true);
    assert_eq!(said.headline.id, "headline.no-ceiling");
    assert_eq!((said.causes.as_slice(), said.complete), (&[][..], false));
    for host in &mut well.facts {
        host.nics[0].modes = Some(modes(&[1000], &[]));
    }
    assert_eq!(well.said(true).headline.id, "headline.full");
}

#[test]
fn larger_frames_are_offered_where_the_line_is_full_and_not_for_faults() {
    let offered = |rates: [f64; 4], inject: Inject| {
        let mut well = Well::new();
        well.records = ladder(rates);
        inject(&mut well);
        let fixes = well.said(true).fixes;
        fixes.iter().any(|fix| fix.id == "mtu-9000")
    };
    assert!(offered([117.5, 117.4, 116.9, 116.5], |_| {}));
    let faults: [([f64; 4], Inject); 3] = [
        ([80.0, 81.0, 79.0, 78.0], |well| well.retransmits(800)),
        ([117.5, 117.4, 117.0, 48.0], |_| {}),
        ([117.5, 117.4, 60.0, 61.0], |well| well.loads(0.0, 0.6, 0.3)),
    ];
    for (rates, inject) in faults {
        assert!(!offered(rates, inject));
    }
}

#[test]
fn what_our_own_connections_move_before_anything_is_counted_is_no_other_traffic() {
    let mut well = Well::new();
    well.records = ladder([78.0, 78.0, 77.0, 77.0]);
    well.foreign(0, 0);
    assert!(!ids(&well.said(true).causes).contains(&"other-traffic"));
}

#[test]
fn other_traffic_is_no_loss_of_packets() {
    let mut well = Well::new();
    well.records = ladder([78.0, 78.0, 77.0, 77.0]);
    well.retransmits(800);
    well.foreign(0, 40_000_000);
    let named = well.said(true).causes;
    assert_eq!(named[0].id, "other-traffic");
    assert!(!ids(&named).contains(&"segments-lost"), "{named:#?}");
}

#[test]
fn connections_that_take_links_by_chance_are_no_slow_server() {
    let chance = [1.0, 2.0, 1.0, 2.0, 1.02, 2.0, 2.0, 0.97];
    let said = without_tcp([58.8, 58.9], |well| {
        well.probes(Direction::Read, ProbeKind::Sessions, 58.8, &chance);
    });
    let first = said.named().expect("a cause");
    assert_eq!(
        (first.id.as_str(), first.state),
        ("flow-hash", State::Suspected)
    );
    // What always gains is a limit of one connection, wherever that is.
    let said = without_tcp([58.8, 58.9], |well| {
        well.probes(Direction::Read, ProbeKind::Sessions, 58.8, &[2.0; 6]);
    });
    assert!(!ids(&said.causes).contains(&"flow-hash"));
    assert_eq!(said.headline.id, "headline.one-connection");
}

/// Who has to cut each segment is busy with it all the time, as behind a slow hop.
#[test]
fn offloads_that_are_off_are_suspected_before_a_hop_that_nobody_saw() {
    let named = |is_on: bool| {
        let said = without_tcp([600.0, 570.0], |well| {
            well.speed(10 * GIGABIT);
            well.writing_clock(900, 4);
            for name in ["tcp-segmentation-offload", "generic-segmentation-offload"] {
                let offload = Offload {
                    on: is_on,
                    fixed: false,
                };
                well.facts[0].nics[0].offloads.insert(name.into(), offload);
            }
        });
        said.named().expect("a cause").id.clone()
    };
    assert_eq!(named(false), "offloads-off");
    assert_eq!(named(true), "rate-limited");
}

/// A host that has no time for what came to its NIC loses it there, and not on the path.
#[test]
fn what_a_host_drops_is_not_lost_on_the_path() {
    let named = |dropped: u64| {
        let mut well = Well::new();
        well.records = ladder([80.0, 81.0, 79.0, 80.0]);
        well.retransmits(800);
        well.loads(0.0, 0.0, 0.9);
        well.trials(|trial| {
            for load in &mut trial.loads {
                load.resent = Some(800);
            }
            trial.loads[1].dropped = Some(dropped);
        });
        let causes = well.said(true).causes;
        causes.iter().any(|it| it.id == "segments-lost")
    };
    assert!(named(0));
    assert!(named(100));
    assert!(!named(790));
}

/// Frames that a NIC drops now and then, of a protocol that nobody speaks, say nothing of segments whose sender is out of
/// sight.
#[test]
fn a_few_dropped_frames_do_not_acquit_a_path_whose_sender_nobody_looked_at() {
    let mut well = Well::new();
    well.records = ladder([80.0, 117.5, 79.0, 117.0]);
    well.trials(|trial| {
        if let (Direction::Read, Outcome::Measured(result)) =
            (trial.workload.direction(), &mut trial.outcome)
        {
            result.far_retransmits = result.far_retransmits.map(|_| 800);
        }
    });
    well.loads(0.0, 0.0, 0.2);
    well.trials(|trial| {
        trial.loads.truncate(1);
        trial.loads[0].dropped = Some(5);
    });
    let causes = well.said(false).causes;
    assert!(ids(&causes).contains(&"segments-lost"), "{causes:#?}");
}

/// One burst that is lost costs one trial half of its rate, and another one nothing: no loss is proven by four.
#[test]
fn segments_that_are_lost_where_rates_differ_are_suspected() {
    let named = |rates: [f64; 4]| {
        let mut well = Well::new();
        well.replace_rates(Rung::Tcp, Direction::Write, &rates);
        // Three segments of a thousand, which a full queue may drop as well.
        well.retransmits(240);
        let said = well.said(true);
        let mut causes = said.causes.iter();
        causes
            .find(|it| it.id == "segments-lost")
            .map(|it| it.state)
    };
    assert_eq!(named([117.4, 45.0, 117.4, 60.0]), Some(State::Suspected));
    assert_eq!(named([117.4, 117.4, 117.4, 117.4]), None);
}

/// What the kernel counts of waiting for disks proves it, where it is not there all the time and nobody asked for it.
#[test]
fn a_disk_that_is_waited_for_while_it_is_written_to_is_proven() {
    let named = |writing: f64, reading: f64, is_sync: bool| {
        let mut well = Well::new();
        well.records = ladder([117.5, 117.4, 117.0, 48.0]);
        well.loads(0.0, 0.0, 0.2);
        well.trials(|trial| {
            let Workload::Share(workload) = &trial.workload else {
                return;
            };
            // As long before and after the trial as in it.
            let moving = workload.timing.warm_up.get() + workload.timing.measured.get();
            let share = match workload.direction {
                Direction::Write => writing,
                Direction::Read => reading,
            };
            let load = &mut trial.loads[1];
            load.duration = Nanoseconds::new(2 * moving);
            load.disk_waited = Some(Nanoseconds::new((share * moving as f64) as u64));
        });
        well.path.settings.extend(is_sync.then(sync_always));
        let said = well.said(true);
        let disk = said.causes.iter().find(|it| it.id == "server-disk");
        disk.expect("a suspect at least").state
    };
    assert!(matches!(named(1.2, 0.6, false), State::Proven(_)));
    assert_eq!(named(0.8, 0.6, false), State::Suspected);
    assert_eq!(named(1.2, 1.2, false), State::Suspected);
    assert_eq!(named(1.2, 0.6, true), State::Suspected);
}

fn sync_always() -> Setting {
    Setting::Knob {
        host: HostName::new("server"),
        id: KnobId::new("smb.server.sync_always"),
        target: Target::Share("media".into()),
        value: Value::Switch(true),
    }
}

/// The server's programs wait for a disk in such a part of the trials that write and read.
fn waits_for_disk(well: &mut Well, writing: f64, reading: f64) {
    well.loads(0.0, 0.0, 0.2);
    well.trials(|trial| {
        let part = match trial.workload.direction() {
            Direction::Write => writing,
            Direction::Read => reading,
        };
        let load = &mut trial.loads[1];
        let part = part * load.duration.get() as f64;
        load.disk_waited = Some(Nanoseconds::new(part as u64));
    });
}

fn sync_writes_of(well: &Well) -> State {
    let said = well.said(true);
    let named = said.causes.iter().find(|it| it.id == "sync-writes");
    named.expect("a suspect at least").state
}

/// Requests side by side hide the wait of large files; small ones, one after the other, show it.
#[test]
fn a_setting_that_small_files_are_seen_to_wait_for_is_proven() {
    let named = |waited: f64, is_sync: bool| {
        let mut well = Well::new();
        for (kind, direction, rate) in [
            (Rung::RoundTrip, Direction::Read, 10_485.76),
            (Rung::SmallFiles, Direction::Read, 16.0),
            // 28 ms each.
            (Rung::SmallFiles, Direction::Write, 0.146),
        ] {
            well.records.extend(rung(kind, direction, &[rate; 4]));
        }
        waits_for_disk(&mut well, waited, waited);
        well.path.settings.extend(is_sync.then(sync_always));
        sync_writes_of(&well)
    };
    assert_eq!(named(0.4, true), State::Proven(Proof::Counter));
    assert_eq!(named(0.1, true), State::Suspected);
    assert_eq!(named(0.4, false), State::Suspected);
}

#[test]
fn a_setting_that_writes_are_seen_to_wait_for_and_reads_not_is_proven() {
    let named = |writing: f64, reading: f64| {
        let mut well = Well::new();
        well.records = ladder([117.5, 117.4, 117.0, 76.0]);
        waits_for_disk(&mut well, writing, reading);
        well.path.settings.push(sync_always());
        sync_writes_of(&well)
    };
    assert_eq!(named(0.8, 0.1), State::Proven(Proof::Counter));
    // Another program waits for it all the time.
    assert_eq!(named(0.8, 0.8), State::Suspected);
    assert_eq!(named(0.1, 0.0), State::Suspected);
}

#[test]
fn one_block_that_is_slower_than_a_file_does_not_acquit_the_disk() {
    let said = |gain: f64| {
        without_tcp([117.6, 35.0], move |well| {
            well.writing_clock(150, 0);
            well.probes(Direction::Write, ProbeKind::OneBlock, 35.0, &[gain; 6]);
        })
    };
    let slower = said(0.6);
    let first = slower.named().expect("a cause");
    assert_eq!(
        (first.id.as_str(), first.state),
        ("server-disk", State::Suspected)
    );
    assert!(!ids(&said(1.0).causes).contains(&"server-disk"));
}

#[test]
fn a_cheaper_cipher_that_gains_comes_before_the_processor_that_it_fills() {
    let said = |gains: &[f64]| {
        without_tcp([30.0, 30.0], |well| {
            well.sessions(|session| session.encryption = Some("AES-128-CCM".into()));
            well.trials(|trial| {
                if let Outcome::Measured(result) = &mut trial.outcome {
                    result.engine = Some(EngineClock {
                        total: Nanoseconds::new(1_000_000_000),
                        processor: Nanoseconds::new(990_000_000),
                        ..EngineClock::default()
                    });
                }
            });
            well.probes(Direction::Read, ProbeKind::Cipher, 30.0, gains);
        })
    };
    let relieved = said(&[3.0, 3.02, 2.98, 3.01]);
    assert_eq!(relieved.causes[0].id, "encryption");
    assert!(matches!(relieved.causes[0].state, State::Proven(_)));
    let refuted = said(&[1.0, 1.01, 0.99, 1.0]);
    assert_eq!(refuted.causes[0].id, "client-processor");
    assert!(matches!(refuted.causes[0].state, State::Proven(_)));
    // A server that offers no other: what fills the processor is not known.
    let refused = said(&[]);
    assert_eq!(refused.causes[0].id, "encryption");
    assert_eq!(refused.causes[0].state, State::Suspected);
    assert!(!ids(&refused.causes).contains(&"client-processor"));
}

/// Both are so: a machine of which others take three tenths, and a server that grants four credits. Seen on a rented one.
#[test]
fn of_two_counters_the_one_that_took_more_of_the_time_comes_first() {
    let first = |waited: u64| {
        let said = without_tcp([92.0, 90.0], |well| {
            well.sessions(|session| session.credits = Some(4));
            well.loads(0.0, 0.0, 0.2);
            well.trials(|trial| {
                trial.loads[0].processors[0].steal = 0.3;
                if let Outcome::Measured(result) = &mut trial.outcome {
                    result.engine = Some(EngineClock {
                        total: Nanoseconds::new(1_000_000_000),
                        credits: Nanoseconds::new(waited),
                        ..EngineClock::default()
                    });
                }
            });
        });
        assert!(
            matches!(said.causes[1].state, State::Proven(_)),
            "{said:#?}"
        );
        said.causes[0].id.clone()
    };
    assert_eq!(first(850_000_000), "few-credits");
    assert_eq!(first(60_000_000), "cpu-stolen");
}

/// A port that a neighbour shares, on a machine of which others take a quarter: that quarter is not the half that is lost.
#[test]
fn a_quarter_of_the_time_is_not_half_of_the_speed() {
    let headline = |stolen: f64, share: f64| {
        let mut well = Well::new();
        well.records = ladder([117.5, 117.4, share, share]);
        well.loads(0.0, 0.0, 0.2);
        well.trials(|trial| trial.loads[0].processors[0].steal = stolen);
        well.said(true).headline.id
    };
    assert_ne!(headline(0.25, 62.0), "headline.loses-proven");
    assert_eq!(headline(0.25, 85.0), "headline.loses-proven");
}
