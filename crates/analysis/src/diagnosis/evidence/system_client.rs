//! The system's own client: what it loses against our engine, and what of its mount may be why.

use locale::{Message, say};
use record::{
    Bytes, Direction, Level, ProbeKind, Rung, SecondMount, Setting, ShareMount, Value, fstab_word,
};

use super::which_rung_loses::FAR_BELOW;
use super::{DIRECTIONS, Evidence};
use crate::diagnosis::command_words::quoted;
use crate::diagnosis::finding::Advice;
use crate::diagnosis::ladder_and_probe_trials::is_of_system;
use crate::mount_options::{Better, CACHE_OFF, REQUEST_USUAL, options, second_mount};
use crate::rung_and_probe_verdict::{Loss, MATTERS};
use crate::{Fix, RungName, Trust};
use stats::{Estimate, Unit, computed};

/// Requests below this are small.
const REQUEST_SMALL: u64 = 1 << 20;
/// What can be better about a mount, each as the intervention that changes it alone.
const CHANGES: [ProbeKind; 5] = [
    ProbeKind::MountDialect,
    ProbeKind::MountSync,
    ProbeKind::MountRequests,
    ProbeKind::MountConnections,
    ProbeKind::MountCache,
];

impl<'a> Evidence<'a> {
    /// The mount, where the check was asked for one.
    pub(in crate::diagnosis) fn mount(&self) -> Option<&'a ShareMount> {
        self.path?.mount.as_ref()
    }

    /// The same where it may be slower than it has to be.
    pub(in crate::diagnosis) fn slow_mount(&self) -> Option<&'a ShareMount> {
        let mut directions = DIRECTIONS.into_iter();
        let may_lose = directions.any(|direction| self.mount_may_lose_in(direction));
        self.mount().filter(|_| may_lose)
    }

    /// Whether the system's own client may move less than our engine.
    pub(in crate::diagnosis) fn mount_may_lose_in(&self, direction: Direction) -> bool {
        let rung = RungName::SystemClient;
        self.may_lose_in(rung, direction) || self.seems_to_lose_in(rung, direction)
    }

    /// The most that our engine moved, by one channel or several, in bytes per second.
    pub(in crate::diagnosis) fn engine_rate(&self, direction: Direction) -> Option<f64> {
        let rates = [RungName::Share, RungName::Channels]
            .into_iter()
            .filter_map(|rung| self.rate(rung, direction));
        rates.max_by(f64::total_cmp)
    }

    /// The dialect of a mount and that of our own session, where the mount's is one without several channels.
    pub(in crate::diagnosis) fn older_dialect<'m>(
        &self,
        mount: &'m ShareMount,
    ) -> Option<(&'m str, &'a str)> {
        let dialect = mount.dialect()?;
        let newer = self.session?.dialect.as_str();
        let is_old = dialect.starts_with('1') || dialect.starts_with('2');
        (is_old && newer.starts_with('3')).then_some((dialect, newer))
    }

    /// The size of a mount's requests, where it is small and the server takes larger ones.
    pub(in crate::diagnosis) fn small_request(
        &self,
        mount: &ShareMount,
        direction: Direction,
    ) -> Option<Bytes> {
        let size = match direction {
            Direction::Read => mount.read_max()?,
            Direction::Write => mount.write_max()?,
        };
        (size.get() < REQUEST_SMALL.min(self.request_max(direction)?)).then_some(size)
    }

    /// The largest request that the server takes, in bytes.
    fn request_max(&self, direction: Direction) -> Option<u64> {
        let session = self.session?;
        let most = match direction {
            Direction::Read => session.read_max,
            Direction::Write => session.write_max,
        };
        Some(most.get())
    }

    /// How many channels our engine used where it moved more by several, and the mount has one.
    pub(in crate::diagnosis) fn channels_for(&self, mount: &ShareMount) -> Option<u32> {
        let has_several = match mount.channels {
            Some(channels) => channels > 1,
            None => mount.has("multichannel"),
        };
        let gains = |direction| {
            let several = self.rate(RungName::Channels, direction)?;
            let one = self.rate(RungName::Share, direction)?;
            Some(several > one * MATTERS && self.mount_may_lose_in(direction))
        };
        let mut directions = DIRECTIONS.into_iter();
        if has_several || !directions.any(|direction| gains(direction) == Some(true)) {
            return None;
        }
        let trials = self.trials.iter();
        let used = trials.filter(|trial| trial.rung == Rung::Channels);
        let most = used.map(|trial| trial.result.connections.len()).max()?;
        u32::try_from(most).ok().filter(|most| *most > 1)
    }

    /// What a program has of what the system's own client can, in a direction in which that is far less.
    pub(in crate::diagnosis) fn left_of_program(&self, direction: Direction) -> Option<f64> {
        let rung = self.rung(RungName::SystemProgram, direction)?;
        let left = rung.of_above.as_ref()?.value;
        (left < FAR_BELOW).then_some(left)
    }

    /// Where something that is wrong with a mount may cost something: what the system's own client can, or else what
    /// programs get of that; none where it costs nothing that was measured.
    pub(in crate::diagnosis) fn costs_at(
        &self,
        mount: &ShareMount,
        change: ProbeKind,
    ) -> Option<Rung> {
        let (client, program) = (Rung::SystemClient, Rung::SystemProgram);
        let costs = |rung| {
            let mut directions = DIRECTIONS.into_iter();
            directions.any(|direction| self.costs_in(mount, change, rung, direction))
        };
        // What is known to cost that client nothing may cost programs the more.
        let is_left_to_programs = costs(program) && self.is_refuted(change, client);
        if !self.wrong_with(mount).contains(&change) {
            None
        } else if costs(client) && !is_left_to_programs {
            Some(client)
        } else {
            costs(program).then_some(program)
        }
    }

    /// The same at a rung in one direction, for what is wrong.
    pub(in crate::diagnosis) fn costs_in(
        &self,
        mount: &ShareMount,
        change: ProbeKind,
        rung: Rung,
        direction: Direction,
    ) -> bool {
        let may_lose = match (rung, change) {
            // A newer dialect or more connections are worth what that client can by them.
            (Rung::SystemProgram, ProbeKind::MountDialect | ProbeKind::MountConnections) => false,
            (Rung::SystemProgram, _) => self.left_of_program(direction).is_some(),
            // What that client can is measured past its cache.
            (_, ProbeKind::MountCache) => false,
            _ => self.mount_may_lose_in(direction),
        };
        may_lose && self.is_felt(mount, change, direction)
    }

    /// Whether a change of a mount may make a difference in a direction.
    fn is_felt(&self, mount: &ShareMount, change: ProbeKind, direction: Direction) -> bool {
        match change {
            ProbeKind::MountSync => direction == Direction::Write,
            ProbeKind::MountRequests => self.small_request(mount, direction).is_some(),
            _ => true,
        }
    }

    /// Whether an intervention is known to gain nothing at a rung, in each direction in which it may: of what one of them
    /// lacks, the other may have another reason.
    pub(in crate::diagnosis) fn gains_nothing(&self, kind: ProbeKind, rung: Rung) -> bool {
        self.mount().is_some_and(|mount| {
            let mut directions = DIRECTIONS.into_iter();
            directions.all(|direction| {
                let found = self.probed_in(kind, rung, direction);
                !self.costs_in(mount, kind, rung, direction)
                    || found.is_some_and(|found| found.loss == Loss::DoesNotLose)
            })
        })
    }

    /// The same where it does not gain together with others either.
    fn is_refuted(&self, kind: ProbeKind, rung: Rung) -> bool {
        self.gains_nothing(kind, rung) && !self.gains_by_all_options_only(rung)
    }

    /// What a program could gain if it got all that the system's own client can, in the direction that gains more.
    fn program_gain(&self) -> Option<Estimate> {
        let directions = DIRECTIONS.into_iter();
        let left = directions.filter_map(|direction| self.left_of_program(direction));
        at_most(left.map(|left| 1.0 / left))
    }

    /// What a mount could gain if it were as fast as our engine, in the direction that gains more.
    fn mount_gain(&self) -> Option<Estimate> {
        at_most(DIRECTIONS.into_iter().filter_map(|direction| {
            let mounted = self.rate(RungName::SystemClient, direction)?;
            Some(self.engine_rate(direction)? / mounted)
        }))
    }

    /// The lines that mount a share without any option that is known to cost, and what that gains at a rung.
    pub(in crate::diagnosis) fn better_mount(&self, mount: &ShareMount, rung: Rung) -> Advice {
        let mut wrong = self.wrong_with(mount);
        wrong.retain(|change| self.is_worth(mount, *change));
        let here = wrong.iter();
        let here = here.filter(|change| self.tried_at(mount, **change) == rung);
        let is_for_several = here.count() > 1;
        let better = self.better(mount, &wrong);
        let (text, tried, commands) = lines(mount, &better);
        let at_most = match rung {
            Rung::SystemProgram => self.program_gain(),
            _ => self.mount_gain(),
        };
        Advice::new(text)
            .gains(at_most)
            .gained(self.second_mount_gain(ProbeKind::MountOptions, rung))
            .for_several(is_for_several)
            .sets([tried])
            .commands(commands)
    }

    /// What a second mount gained at a rung, as a ratio; none where it was not tried, or is not faster.
    fn second_mount_gain(&self, kind: ProbeKind, rung: Rung) -> Option<Estimate> {
        let found = self.probed(kind, rung)?;
        (found.loss == Loss::Loses).then_some(found.ratio)
    }

    /// Whether a second mount can be made here; none where it was not tried.
    pub(in crate::diagnosis) fn second_mount_works(&self) -> Option<bool> {
        let trials = self.probes.iter();
        let tried = trials.filter(|it| is_of_system(it.rung) && it.changed.is_some());
        tried.map(|trial| trial.rate.is_some()).max()
    }

    /// Whether all better options together gain at a rung where none of them does alone.
    pub(in crate::diagnosis) fn gains_by_all_options_only(&self, rung: Rung) -> bool {
        let gains = |kind| self.second_mount_gain(kind, rung).is_some();
        gains(ProbeKind::MountOptions) && !CHANGES.into_iter().any(gains)
    }

    /// What a trial of a rung mounts that tries these better options, and keeps all others; none where they make no
    /// difference in a direction.
    pub(in crate::diagnosis) fn second_mount(
        &self,
        kind: ProbeKind,
        rung: Rung,
        direction: Direction,
    ) -> Option<SecondMount> {
        let mount = self.mount()?;
        let mut wrong = self.wrong_with(mount);
        wrong.retain(|change| self.tried_at(mount, *change) == rung);
        let is_felt = |change: &ProbeKind| self.is_felt(mount, *change, direction);
        let changes: Vec<ProbeKind> = match kind {
            // With one alone it would be the same trial.
            ProbeKind::MountOptions if wrong.len() > 1 && wrong.iter().any(is_felt) => wrong,
            kind => {
                let is_meant = |change: &ProbeKind| *change == kind && is_felt(change);
                wrong.into_iter().filter(is_meant).collect()
            }
        };
        if changes.is_empty() {
            return None;
        }
        Some(second_mount(mount, &self.better(mount, &changes)))
    }

    /// Where a change of a mount is tried.
    fn tried_at(&self, mount: &ShareMount, change: ProbeKind) -> Rung {
        let costs = self.costs_at(mount, change);
        costs.unwrap_or(match change {
            ProbeKind::MountCache => Rung::SystemProgram,
            _ => Rung::SystemClient,
        })
    }

    /// Whether the line that mounts again makes a change. Who asked for no cache may need what others write at once: it is
    /// left where it costs nothing.
    fn is_worth(&self, mount: &ShareMount, change: ProbeKind) -> bool {
        change != ProbeKind::MountCache
            || self
                .costs_at(mount, change)
                .is_some_and(|rung| !self.is_refuted(change, rung))
    }

    /// What of a mount may be slow.
    fn wrong_with(&self, mount: &ShareMount) -> Vec<ProbeKind> {
        let is_small = |direction| self.small_request(mount, direction).is_some();
        let is_old = self.older_dialect(mount).is_some();
        let changes = CHANGES.into_iter();
        let wrong = changes.filter(|change| match change {
            ProbeKind::MountDialect => is_old,
            ProbeKind::MountSync => mount.has("sync"),
            // An old dialect allows no more, neither of these nor of connections.
            ProbeKind::MountRequests => !is_old && DIRECTIONS.into_iter().any(is_small),
            ProbeKind::MountConnections => !is_old && self.channels_for(mount).is_some(),
            ProbeKind::MountCache => mount.has(CACHE_OFF),
            _ => false,
        });
        wrong.collect()
    }

    /// What these changes make better about a mount.
    fn better(&self, mount: &ShareMount, changes: &[ProbeKind]) -> Better<'a> {
        let changes_it = |change| changes.contains(&change);
        let newer = self.older_dialect(mount).map(|(_, newer)| newer);
        let newer = newer.filter(|_| changes_it(ProbeKind::MountDialect));
        let larger = |direction| {
            self.small_request(mount, direction)
                .filter(|_| changes_it(ProbeKind::MountRequests))?;
            Some(self.request_max(direction)?.min(REQUEST_USUAL))
        };
        // An old dialect allows one only: what a newer one gains is that as well.
        let may_have_more = changes_it(ProbeKind::MountConnections) || newer.is_some();
        Better {
            dialect: newer,
            read_max: larger(Direction::Read),
            write_max: larger(Direction::Write),
            channels: self.channels_for(mount).filter(|_| may_have_more),
            is_asynchronous: changes_it(ProbeKind::MountSync),
            is_cached: changes_it(ProbeKind::MountCache),
        }
    }
}

/// The remedy of a mount whose cache is off, and of which nothing else is known: without that option, which a program has
/// to prove; none where it has a cache.
#[must_use]
pub fn mount_with_cache(mount: &ShareMount) -> Option<Fix> {
    let better = Better {
        is_cached: true,
        ..Better::default()
    };
    mount.has(CACHE_OFF).then(|| {
        let (text, tried, commands) = lines(mount, &better);
        Fix {
            id: "mount-again".into(),
            text,
            level: Level {
                name: "mount-again".into(),
                settings: vec![tried],
            },
            predicted: None,
            disturbs: say("disturbs.nothing"),
            blocked: None,
            commands,
            elsewhere: None,
            trust: Trust::Computed,
        }
    })
}

/// What mounts a share with something better: in a sentence, as a trial tries it, and as a user does.
fn lines(mount: &ShareMount, better: &Better<'_>) -> (Message, Setting, Vec<String>) {
    let tried = Setting::Workload {
        field: SecondMount::FIELD.to_owned(),
        value: Value::Text(second_mount(mount, better).options),
    };
    let mut options = options(mount, better);
    // User and password stay out of the command, and the file says the domain as well; Kerberos and guests need none.
    let security = mount.option("sec").unwrap_or_default();
    let has_password = !security.starts_with("krb5") && security != "none";
    if has_password {
        options.retain(|option| !option.starts_with("domain="));
        options.insert(0, "credentials=FILE".to_owned());
    }
    let options = options.join(",");
    // One of our own is gone when it is read.
    let (text, at) = match mount.own {
        true => (say("fix.mount-so"), "FOLDER"),
        false => (say("fix.mount-again"), mount.folder.as_str()),
    };
    let text = text.with("folder", at).with("options", &options);
    let (source, folder) = (quoted(&mount.source), quoted(at));
    let fstab = [&mount.source, at, &options].map(fstab_word);
    let [source_there, folder_there, options_there] = fstab;
    let unmount = (!mount.own).then(|| format!("sudo umount {folder}"));
    let mount_so = [
        format!(
            "sudo mount -t cifs {source} {folder} -o {}",
            quoted(&options)
        ),
        format!("# /etc/fstab: {source_there} {folder_there} cifs {options_there} 0 0"),
    ];
    let commands = unmount.into_iter().chain(mount_so).collect();
    (text, tried, commands)
}

/// The highest of these ratios as what can be gained at most; none where nothing can be.
fn at_most(ratios: impl Iterator<Item = f64>) -> Option<Estimate> {
    let ratios = ratios.filter(|ratio| ratio.is_finite());
    let most = ratios.max_by(f64::total_cmp)?;
    let caveat = say("gain-caveat.at-most");
    (most > 1.0).then(|| computed(most, Unit::Ratio, vec![caveat]))
}
