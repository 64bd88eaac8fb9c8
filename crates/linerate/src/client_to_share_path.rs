//! The path from one client to one share: both ends, who logs in, and the trials that run on it.

use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use host::Host;
use host::exec::Command;
use locale::{said, say};
use measure::{Runner, Serving, Stop};
use record::{
    Bytes, Credentials, Demands, Direction, HostFacts, HostLoad, Job, JobWorkload, MissingFact,
    Nanoseconds, Operations, Sample, ShareWorkload, Signing, Timing, TrialInput, TrialResult,
    Workload,
};

use crate::args::PathArguments;
use crate::credentials::{Client, OfFile};
use crate::failure::{CommandError, Kind};
use crate::share::{Mounted, TypedShare};
use crate::{credentials, ctrl_c, hosts, optional_host_facts, stdout_and_stderr};

/// Bytes of one request; more gains little, and a lost channel would lose more.
const BLOCK: Bytes = Bytes::new(1 << 20);
/// Requests in flight on each channel: 8 MiB covers 10 GbE with several milliseconds at the server.
const DEPTH: u32 = 8;
/// How long entering a share may take, beside what any work that is done once may.
const ENTER_LIMIT: Duration = Duration::from_secs(40);
/// One request of the trial that is not counted.
const KNOCK_BLOCK: Bytes = Bytes::new(64 << 10);
/// How long the first trial that is not counted waits for its answer.
const KNOCK: Duration = Duration::from_millis(100);
/// Each further one waits so many times longer, for a machine that has much to do needs its time.
const KNOCK_GROWTH: u32 = 5;
/// Silence of this length is believed.
const KNOCK_MAX: Duration = Duration::from_millis(2500);
/// How long it is looked at how fast a share is, roughly: once more, for longer, where it seems to be slow,
/// for it may have stood still for a moment.
const PACES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];
/// Bytes a second of a share that is not slow.
const PACE_ENOUGH: f64 = 4e6;
/// Size of the test file: small enough for the server's cache, so that its disk is not measured.
const FILE_SIZE: Bytes = Bytes::new(64 << 20);
/// Time that is run before time is counted, so that slow start is over; half of what is counted in
/// trials that are too short for it.
const WARM_UP_MAX: Duration = Duration::from_millis(300);
/// Samples of one trial.
const SAMPLES: u32 = 10;
/// The longest and the shortest trial that makes sense.
const SECONDS: std::ops::RangeInclusive<f64> = 0.1..=3600.0;

/// Both ends of a path to a share.
#[derive(Clone, Debug)]
pub struct SharePath {
    /// The client.
    pub client: Host,
    /// The server, where linerate may run commands there.
    pub server: Option<Host>,
    /// The share.
    pub share: TypedShare,
    /// Who logs in.
    pub credentials: Credentials,
    /// What each session must be.
    pub demands: Demands,
    /// What starts trials on the client.
    pub runner: Runner,
    /// How the client's system has the share mounted, where it was named by that.
    pub mounted: Option<Mounted>,
}

/// The two ends, without any share. Whoever asks to stop is not kept waiting for a host that does not
/// answer.
pub fn ends(
    arguments: &PathArguments,
    stop: &Stop,
) -> Result<(Host, Option<Host>, Runner), CommandError> {
    let arguments = arguments.clone();
    ctrl_c::unless_asked(stop, move || reach(&arguments))
}

fn reach(arguments: &PathArguments) -> Result<(Host, Option<Host>, Runner), CommandError> {
    let client = hosts::open(&hosts::parse(&arguments.client)?)?;
    let server = arguments.server.as_deref().map(hosts::parse).transpose()?;
    let server = server.as_ref().map(hosts::open).transpose()?;
    let runner = Runner::new(client.exec.clone(), program(arguments, &client)?);
    Ok((client, server, runner))
}

/// What runs trials on the client. Only a server needs nothing of ours.
fn program(arguments: &PathArguments, client: &Host) -> Result<String, CommandError> {
    const INSTALLED: &str = "linerate";
    if !matches!(hosts::parse(&arguments.client)?, hosts::Named::Ssh(_)) {
        let own = std::env::current_exe().map_err(|error| {
            CommandError::caused(Kind::Internal, say("error-check.own-file"), &error)
        })?;
        return Ok(own.display().to_string());
    }
    let outputs = client.exec.run(&[Command::new([INSTALLED, "-V"])])?;
    let answer = outputs.first().and_then(host::exec::Output::text);
    let ours = record::PROGRAM;
    let sentence = match answer.as_deref().map(str::trim) {
        Some(version) if version == ours => return Ok(INSTALLED.to_owned()),
        Some(version) => say("error-check.other-version")
            .with("host", &client.name)
            .with("version", version)
            .with("ours", ours),
        None => say("error-check.not-installed").with("host", &client.name),
    };
    Err(CommandError::new(Kind::Refused, sentence).hint(say("hint-check.installed")))
}

impl SharePath {
    /// Finds the hosts and who logs in.
    pub fn open(
        share: TypedShare,
        arguments: &PathArguments,
        stop: &Stop,
    ) -> Result<Self, CommandError> {
        let demands = credentials::demands(&arguments.login)?;
        let (client, server, runner) = ends(arguments, stop)?;
        let lab_file = match hosts::parse(&arguments.client)? {
            hosts::Named::Lab { lab, .. } => Some(lab::find(&lab)?.credentials()),
            hosts::Named::Local | hosts::Named::Ssh(_) => None,
        };
        let on = match (&lab_file, hosts::parse(&arguments.client)?) {
            (Some(file), _) => Client::Lab(file),
            (None, hosts::Named::Local) => Client::Here,
            (None, _) => Client::Elsewhere,
        };
        let of_file = OfFile::read(&arguments.login, &[&share], on)?;
        let found = credentials::find(&arguments.login, &share, on, &of_file)?;
        let credentials = found.credentials;
        Ok(Self {
            client,
            server,
            share,
            credentials,
            demands,
            runner,
            mounted: None,
        })
    }

    /// Measures a mount as well: our own engine is protected as that is, since it is held against it.
    pub fn take_mount(&mut self, mounted: Option<Mounted>) {
        let Some(Mounted { mount, .. }) = &mounted else {
            return;
        };
        self.demands.encrypted |= mount.is_encrypted();
        if mount.signed == Some(true) {
            self.demands.signing = Signing::Required;
        }
        self.mounted = mounted;
    }

    /// Whether nothing may be written by the mount that is measured.
    pub fn is_mounted_read_only(&self) -> bool {
        let mounted = self.mounted.as_ref();
        mounted.is_some_and(|it| it.mount.has("ro"))
    }

    /// The folder by which the share was named, where it was: what linerate mounts itself has none that lasts.
    pub fn named_folder(&self) -> Option<&str> {
        let mounted = self.mounted.as_ref().filter(|it| !it.mount.own)?;
        Some(&mounted.folder)
    }

    /// The hosts that are known, client first.
    pub fn hosts(&self) -> Vec<&Host> {
        std::iter::once(&self.client).chain(&self.server).collect()
    }

    /// A workload on the share with linerate's usual request size and depth.
    pub fn workload(&self, direction: Direction, channels: u32, timing: Timing) -> ShareWorkload {
        ShareWorkload {
            share: self.share.address.clone(),
            direction,
            channels,
            block: BLOCK,
            depth: DEPTH,
            file_size: FILE_SIZE,
            demands: self.demands,
            operations: None,
            timing,
            sessions: 1,
            connections: 1,
            file: record::FileUse::default(),
            socket: record::SocketOptions::default(),
        }
    }

    /// Runs one trial on the client.
    pub fn trial(&self, workload: Workload, stop: &Stop) -> Result<TrialResult, record::Failure> {
        self.runner.run(&self.input(workload), stop, &mut |_| {})
    }

    /// Runs one trial on the client, and looks at what serving it costs the server, where linerate may
    /// look there.
    pub fn trial_served(&self, workload: Workload, stop: &Stop) -> Served {
        run_served(
            &self.runner,
            &self.input(workload),
            self.server.as_ref(),
            stop,
        )
    }

    fn input(&self, workload: Workload) -> TrialInput {
        TrialInput {
            workload,
            credentials: Some(self.credentials.clone()),
        }
    }

    /// Enters the share and leaves it: nothing is made there, and nothing moved.
    pub fn enter(&self, stop: &Stop) -> Result<TrialResult, CommandError> {
        let workload = JobWorkload {
            share: self.share.address.clone(),
            direction: Direction::Read,
            job: Job::Enter,
            demands: self.demands,
            limit: ENTER_LIMIT.into(),
        };
        Ok(self.trial(Workload::Job(workload), stop)?)
    }

    /// What is known of the hosts, client first. A server of which nothing can be known is left out, and
    /// that is said: it is there for whoever wants to know more.
    pub fn facts(&self) -> Result<(Vec<HostFacts>, Option<MissingFact>), CommandError> {
        let mut facts = vec![host::facts(&self.client)?];
        let Some(server) = &self.server else {
            return Ok((facts, None));
        };
        match host::facts(&optional_host_facts::impatient(server)) {
            Ok(found) => {
                facts.push(found);
                Ok((facts, None))
            }
            Err(error) => {
                let error = CommandError::from(error);
                let sentence = say("server-untold")
                    .with("server", &server.name)
                    .with("reason", error.said());
                stdout_and_stderr::say(&said(&sentence));
                let missing = optional_host_facts::missing(&server.name, "facts", &error);
                Ok((facts, Some(missing)))
            }
        }
    }

    /// About how many bytes a second the share moves, the slower way, in small requests; none where that
    /// cannot be seen.
    pub fn pace(&self, stop: &Stop) -> Option<f64> {
        let mut fastest = None;
        for measured in PACES {
            let timing = Timing {
                warm_up: (PACES[0] / 2).into(),
                measured: measured.into(),
                interval: measured.into(),
            };
            let workload = ShareWorkload {
                block: KNOCK_BLOCK,
                file_size: Bytes::new(KNOCK_BLOCK.get() * u64::from(DEPTH)),
                // As many each way, so that the slower way slows both.
                operations: Some(Operations {
                    opposite_percent: 50,
                    ..Operations::SEQUENTIAL
                }),
                ..self.workload(Direction::Read, 1, timing)
            };
            let input = self.input(Workload::Share(workload));
            let mut was_counted = false;
            let pace = match self.runner.run(&input, stop, &mut |_| was_counted = true) {
                Ok(result) => result.bytes_per_second().map(|both| both / 2.0),
                Err(_) if was_counted => Some(KNOCK_BLOCK.get() as f64 / measured.as_secs_f64()),
                Err(_) => None,
            };
            // What came to no end in a moment may do so in a longer one: unseen, a slow share would be taken for a fast one.
            let Some(pace) = pace else {
                continue;
            };
            fastest = Some(fastest.map_or(pace, |fastest: f64| fastest.max(pace)));
            if pace >= PACE_ENOUGH {
                break;
            }
        }
        fastest
    }

    /// A short trial that is not counted: whatever keeps us from the share is said before anything
    /// is measured or changed. One that gets no answer is tried again, for longer.
    pub fn knock(&self, stop: &Stop) -> Result<TrialResult, CommandError> {
        let mut measured = KNOCK;
        loop {
            let timing = Timing {
                warm_up: Nanoseconds::new(0),
                measured: measured.into(),
                interval: measured.into(),
            };
            // One small request at a time, so that a slow cipher at either end has answered one by then.
            let workload = ShareWorkload {
                block: KNOCK_BLOCK,
                depth: 1,
                file_size: KNOCK_BLOCK,
                // They take a file of our own, so that whoever may not write is told so now.
                operations: Some(Operations::SEQUENTIAL),
                ..self.workload(Direction::Read, 1, timing)
            };
            let input = self.input(Workload::Share(workload));
            let mut was_counted = false;
            match self.runner.run(&input, stop, &mut |_| was_counted = true) {
                // The server let us in, and the whole time went by.
                Err(failure)
                    if was_counted && failure.kind == Kind::Unreachable && measured < KNOCK_MAX =>
                {
                    measured *= KNOCK_GROWTH;
                }
                ended => return ended.map_err(CommandError::from),
            }
        }
    }
}

/// How a trial ended, and what serving it cost the server, where that is known.
pub type Served = (Result<TrialResult, record::Failure>, Option<HostLoad>);

/// Runs one trial, and looks at what serving it costs this server.
pub fn run_served(
    runner: &Runner,
    input: &TrialInput,
    server: Option<&Host>,
    stop: &Stop,
) -> Served {
    let mut serving = match (&input.workload, server) {
        (Workload::Share(share), Some(server)) => Serving::of(server.exec.as_ref(), share),
        _ => None,
    };
    let mut saw = |sample: &Sample| {
        if let Some(serving) = &mut serving {
            serving.saw(sample);
        }
    };
    let result = runner.run(input, stop, &mut saw);
    let load = serving.zip(server);
    let load = load.and_then(|(serving, server)| serving.load(&server.name));
    (result, load)
}

/// Timing of a trial of so many counted seconds.
pub fn timing(seconds: f64) -> Result<Timing, CommandError> {
    if !SECONDS.contains(&seconds) {
        let sentence = say("error-check.trial-length").with("seconds", seconds.to_string());
        let hint = say("hint-check.trial-length")
            .with("least", SECONDS.start().to_string())
            .with("most", SECONDS.end().to_string());
        return Err(CommandError::new(Kind::Usage, sentence).hint(hint));
    }
    let measured = Duration::from_secs_f64(seconds);
    Ok(Timing {
        warm_up: WARM_UP_MAX.min(measured / 2).into(),
        measured: measured.into(),
        interval: (measured / SAMPLES).into(),
    })
}

/// The whole path of a folder on the client, which is typed like a host: only root's links lead root there.
///
/// # Errors
/// When there is none, or none is known there.
pub fn folder(typed: &str, client: &str) -> Result<String, CommandError> {
    let path = Path::new(typed);
    if client != "local" {
        if path.is_absolute() {
            return Ok(typed.to_owned());
        }
        let sentence = say("error-check.part-of-path")
            .with("path", typed)
            .with("host", client);
        return Err(CommandError::new(Kind::Usage, sentence).hint(say("hint-check.whole-path")));
    }
    let whole = os::file::resolve(path)?;
    if whole.is_dir() {
        return Ok(whole.display().to_string());
    }
    let sentence = say("error-check.no-folder").with("folder", typed);
    Err(CommandError::new(Kind::Usage, sentence).hint(say("hint-check.folder")))
}

/// The address that the client uses for a server's name: the first that its resolver gives.
pub fn resolve(client: &Host, name: &str) -> Result<IpAddr, CommandError> {
    let all = addresses(client, name)?;
    all.first().copied().ok_or_else(|| unknown(client, name))
}

/// All addresses that a server's name stands for on the client, in the order of its resolver.
pub fn addresses(client: &Host, name: &str) -> Result<Vec<IpAddr>, CommandError> {
    if let Ok(address) = name.parse() {
        return Ok(vec![address]);
    }
    let outputs = client
        .exec
        .run(&[Command::new(["getent", "ahosts", "--", name])])?;
    let text = outputs
        .first()
        .and_then(host::exec::Output::text)
        .ok_or_else(|| unknown(client, name))?;
    usable_addresses(name, &text)
}

/// The addresses that `getent ahosts` lists. Those that mean something on one link only are left out: the
/// zone that belongs to them has no place in what is measured and recorded.
fn usable_addresses(name: &str, listed: &str) -> Result<Vec<IpAddr>, CommandError> {
    let mut addresses: Vec<IpAddr> = Vec::new();
    let mut is_zoned = false;
    let words = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    for word in words {
        is_zoned |= word.contains('%');
        if let Ok(address) = word.parse()
            && !addresses.contains(&address)
        {
            addresses.push(address);
        }
    }
    if addresses.is_empty() && is_zoned {
        let sentence = say("error-check.link-local").with("host", name);
        return Err(CommandError::new(Kind::Refused, sentence).hint(say("hint-check.link-local")));
    }
    Ok(addresses)
}

fn unknown(client: &Host, name: &str) -> CommandError {
    let sentence = say("error-check.unknown-host").with("host", name);
    let hint = say("hint-check.unknown-host").with("client", &client.name);
    CommandError::new(Kind::Unreachable, sentence).hint(hint)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use host::exec::Local;
    use record::{Failure, HostName, Identity, Mechanism, Secret, TrialLine};

    use super::*;

    /// A path whose trials are run by a script; it finds its input in `$input`.
    fn path(script: &str) -> SharePath {
        let script = format!("read -r input; {script}");
        let client = Host::new(HostName::new("local"), Arc::new(Local::new())).unwrap();
        SharePath {
            client,
            server: None,
            share: crate::share::parse("smb://nas/media").unwrap(),
            credentials: Credentials {
                identity: Identity::User,
                user: "ann".to_owned(),
                domain: String::new(),
                password: Secret::new("secret".to_owned()),
                mechanism: Mechanism::Automatic,
            },
            demands: Demands::default(),
            runner: Runner::new(
                Arc::new(Local::with_prefix(["sh", "-c", &script])),
                "program",
            ),
            mounted: None,
        }
    }

    fn line(line: &TrialLine) -> String {
        serde_json::to_string(line).unwrap()
    }

    fn silence() -> String {
        let failure = Failure::new(Kind::Unreachable, "no payload at all");
        line(&TrialLine::Failure(failure))
    }

    fn moved(bytes: u64, nanoseconds: u64) -> Sample {
        Sample {
            at: Nanoseconds::new(0),
            duration: Nanoseconds::new(nanoseconds),
            bytes: Bytes::new(bytes),
            cpu: Nanoseconds::new(0),
            retransmits: None,
        }
    }

    /// What a trial says that counts to its end.
    fn sample() -> String {
        line(&TrialLine::Sample(moved(0, 1)))
    }

    fn answer() -> String {
        line(&TrialLine::Result(Box::default()))
    }

    #[test]
    fn a_server_with_link_local_addresses_only_is_told_from_an_unknown_one() {
        let zoned = "fe80::1%1       STREAM nas\nfe80::1%1       DGRAM  \n";
        let error = usable_addresses("nas", zoned).unwrap_err();
        assert_eq!(error.kind(), Kind::Refused);
        assert!(error.text().contains("link-local"), "{error}");
        let both = format!("{zoned}10.0.0.2   STREAM\n10.0.0.2   DGRAM\n");
        let found = usable_addresses("nas", &both).unwrap();
        assert_eq!(found, [IpAddr::from([10, 0, 0, 2])]);
        assert_eq!(usable_addresses("nas", "").unwrap(), [] as [IpAddr; 0]);
    }

    #[test]
    fn a_server_that_tells_nothing_of_itself_is_left_out() {
        let answer = |command: &Command| {
            let (status, stdout) = match command.argv[0].as_str() {
                "uname" => (0, "Linux\n"),
                // As BusyBox says it does not know `-j`.
                "ip" => (255, ""),
                _ => (0, "1\n"),
            };
            Ok(host::exec::Output {
                status,
                stdout: stdout.into(),
                stderr: Vec::new(),
            })
        };
        let exec = Arc::new(host::exec::Replay::model(answer));
        let server = Host::new(HostName::new("ssh://nas"), exec).unwrap();
        let path = SharePath {
            server: Some(server),
            ..path("true")
        };
        let (facts, missing) = path.facts().unwrap();
        let missing = missing.unwrap();
        assert_eq!(
            (missing.host.as_str(), missing.fact.as_str()),
            ("ssh://nas", "facts")
        );
        let names: Vec<_> = facts.iter().map(|host| host.name.as_str()).collect();
        assert_eq!(names, ["local"]);
    }

    #[test]
    fn silence_is_believed_the_third_time_only() {
        let (sample, silence, answer) = (sample(), silence(), answer());
        let until = |measured: &str| {
            path(&format!(
                "echo '{sample}'; case $input in *'\"measured\":{measured}'*) echo '{answer}';; \
                 *) echo '{silence}';; esac"
            ))
        };
        for answered in ["100000000,", "500000000,", "2500000000,"] {
            until(answered).knock(&Stop::new()).unwrap();
        }
        let error = until("never").knock(&Stop::new()).unwrap_err();
        assert_eq!(error.kind(), Kind::Unreachable);
    }

    #[test]
    fn a_share_whose_first_look_came_to_no_end_is_looked_at_for_longer() {
        let slow = line(&TrialLine::Result(Box::new(TrialResult {
            samples: vec![moved(1_000_000, 1_000_000_000)],
            ..TrialResult::default()
        })));
        let silence = silence();
        let path = path(&format!(
            "case $input in *'\"measured\":1000000000,'*) echo '{slow}';; *) echo '{silence}';; esac"
        ));
        // As much each way.
        assert_eq!(path.pace(&Stop::new()), Some(500_000.0));
    }

    #[test]
    fn what_is_no_silence_is_said_at_once() {
        let (silence, answer) = (silence(), answer());
        // Nothing was counted: nobody answered at the address, and that took long enough.
        let path = path(&format!(
            "case $input in *'\"measured\":100000000,'*) echo '{silence}';; *) echo '{answer}';; esac"
        ));
        let error = path.knock(&Stop::new()).unwrap_err();
        assert_eq!(error.kind(), Kind::Unreachable);
    }

    #[test]
    fn whoever_wants_to_leave_is_not_told_of_silence() {
        let stop = Stop::new();
        let path = path(&format!("echo '{}'; echo '{}'", sample(), silence()));
        stop.ask();
        let error = path.knock(&stop).unwrap_err();
        assert_eq!(error.kind(), Kind::Interrupted);
    }
}
