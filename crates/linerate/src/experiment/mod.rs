//! `linerate experiment`: a plan in TOML, its schedule, its trials, and what they say.

mod field;
mod plan;

use std::cell::RefCell;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use analysis::RunAnalysis;
use experiment::{DesignEnd, DesignHooks, DesignNews, Stand, Visit, run_design, visits};
use host::Host;
use host::change::{self, Change};
use host::journal::{self, Journal, UndoMode};
use host::knob;
use measure::Stop;
use record::text::clean;
use record::{
    Design, Event, Failure, FailureKind, HostFacts, HostLoad, Level, Nanoseconds, Outcome, Plan,
    RecipeEngine, Record, Response, Setting, TrialRecord, Workload,
};
use serde_json::json;

use crate::args::{
    ExperimentArguments, ExperimentCommand, LoginArguments, OutputArguments, PathArguments,
    ResumeArguments,
};
use crate::bench::recipe::{Target, trial_seconds};
use crate::changes::{self, style, undo_all};
use crate::failure::{CommandError, Kind};
use crate::host_knobs::{HostKnobs, SharedRecorder};
use crate::runs::{self, Recorder};
use crate::testbed::missing_channels;
use crate::{credentials, stop, terminal, tune};

/// Setting an arm and waiting until it has settled.
const SWITCH: Duration = Duration::from_millis(300);

/// Runs `experiment`.
pub fn run(command: &ExperimentCommand) -> Result<ExitCode, CommandError> {
    match command {
        ExperimentCommand::Run(arguments) => begin(arguments),
        ExperimentCommand::Resume(arguments) => resume(arguments),
    }
}

fn begin(arguments: &ExperimentArguments) -> Result<ExitCode, CommandError> {
    let stop = stop::listen()?;
    changes::tell_leftovers();
    let written = plan::read(&arguments.plan)?;
    let file = &written.file;
    let recipe = plan::recipe(&written, arguments.seconds)?;
    let typed = arguments.target.as_ref().or(file.target.as_ref());
    let typed = typed.ok_or_else(|| {
        CommandError::new(
            Kind::Usage,
            "neither the plan nor the command line names a target",
        )
        .hint("add for example `--target smb://HOST/SHARE`")
    })?;
    let channels = file.workload.channels;
    let target = Target::open(typed, &arguments.path, channels, recipe.engine, &stop);
    let target = target.map_err(|error| match (error.kind(), &arguments.target) {
        (Kind::Usage, None) => written.at("target", error),
        _ => error,
    })?;
    let seed = match arguments.seed.or(file.seed) {
        Some(seed) => seed,
        None => tune::random_seed()?,
    };
    let design = plan::design(&written, arguments, &recipe, &target, seed)?;
    for reason in &design.left_out {
        terminal::say(&format!("left out: {}", clean(reason)));
    }
    if !design.left_out.is_empty() {
        terminal::say(&format!("what is left is run as: {}", design.form));
    }
    if arguments.dry_run {
        dry_run(arguments, &design, &target, seed)?;
        return Ok(ExitCode::SUCCESS);
    }
    target.knock(&stop)?;
    let header = Plan::Experiment {
        target: target.name.clone(),
        title: design.title.clone(),
    };
    let mut recorder = Recorder::start(
        &arguments.output,
        (typed, &arguments.path.login),
        header,
        seed,
        &target.hosts(),
    )?;
    recorder.append_record(&Record::Design(Box::new(design.clone())))?;
    carry_out(
        &design,
        target,
        recorder,
        Vec::new(),
        (&arguments.output, &arguments.path.login, &stop),
    )
}

/// Goes on with what a run file has: the schedule stands in it, and the hosts' names.
fn resume(arguments: &ResumeArguments) -> Result<ExitCode, CommandError> {
    let stop = stop::listen()?;
    let output = OutputArguments {
        json: arguments.json,
        run: Some(arguments.run.clone()),
        html: arguments.html.clone(),
        verbose: arguments.verbose,
    };
    let (mut recorder, run) = Recorder::resume(&arguments.run)?;
    let no_experiment = || {
        let text = format!(
            "`{}` holds no experiment to go on with",
            arguments.run.display()
        );
        CommandError::new(Kind::Usage, text)
    };
    let Plan::Experiment { target, .. } = &run.header.plan else {
        return Err(no_experiment());
    };
    let design = run.records.iter().find_map(|record| match record {
        Record::Design(design) => Some(design.as_ref().clone()),
        _ => None,
    });
    let design = design.ok_or_else(no_experiment)?;
    let finished = run.records.iter().any(|record| {
        matches!(
            record,
            Record::Event {
                event: Event::Finished,
                ..
            }
        )
    });
    if finished {
        terminal::say("the experiment is complete; there is nothing to go on with");
        let analysis = runs::show(&arguments.run, &output)?;
        return Ok(runs::exit_code(&analysis));
    }
    let mut names = run.header.facts.iter().map(|facts| facts.name.to_string());
    let path = PathArguments {
        client: names.next().unwrap_or_else(|| "local".to_owned()),
        server: names.next(),
        login: arguments.login.clone(),
    };
    restore_what_was_left(&mut recorder)?;
    let engine = match design.responses.first().map(|response| &response.workload) {
        Some(Workload::Tcp(_)) => RecipeEngine::Tcp,
        _ => RecipeEngine::File,
    };
    let target = record::with_user(target, run.header.user.as_deref());
    let target = Target::open(&target, &path, None, engine, &stop)?;
    same_machines(&run.header.facts, &runs::facts(&target.hosts())?)?;
    target.knock(&stop)?;
    let before = run.records.into_iter().filter_map(|record| match record {
        Record::Trial(trial) => Some(*trial),
        _ => None,
    });
    let before: Vec<TrialRecord> = before.collect();
    terminal::say(&format!("{} trials are there already", before.len()));
    let how = (&output, &arguments.login, &stop);
    carry_out(&design, target, recorder, before, how)
}

/// What two machines measured must not stand in one table, although both go by the same name.
fn same_machines(then: &[HostFacts], now: &[HostFacts]) -> Result<(), CommandError> {
    for (then, now) in then.iter().zip(now) {
        // An id that could not be read then or now proves nothing.
        if let (Some(was), Some(is)) = (&then.machine, &now.machine)
            && was != is
        {
            let text = format!(
                "`{}` is another machine than the one that the experiment began on, or was installed anew",
                then.name
            );
            return Err(CommandError::new(Kind::Refused, text)
                .hint("begin a new experiment, or go on with this one where it began"));
        }
    }
    Ok(())
}

/// What an experiment that was killed had set goes back first: every arm is set from the start.
fn restore_what_was_left(recorder: &mut Recorder) -> Result<(), CommandError> {
    let state = journal::state_folder()?;
    let listing = journal::list_open(&state)?;
    let open = listing.open.into_iter().rev();
    let ours = open.filter(|summary| summary.run == recorder.id);
    let mut left: Vec<String> = ours.map(|summary| summary.id).collect();
    while !left.is_empty() {
        let mut not_closed = Vec::new();
        let mut found = Vec::new();
        for id in &left {
            let folder = std::slice::from_ref(&state);
            let undone = undo_all(folder, Some(id), UndoMode::Ours)?.undone;
            let restored = undone.iter().all(|change| change.closed);
            recorder.event(Event::ChangeUndone {
                change: id.clone(),
                restored,
            })?;
            if !restored {
                not_closed.push(id.clone());
                found.extend(changes::rows(&undone));
            }
        }
        // Of two changes of one setting the one that was made goes first.
        if not_closed.len() == left.len() {
            let text = format!(
                "what this experiment had set cannot be put back: {}",
                shown(&found)
            );
            return Err(CommandError::new(Kind::Refused, text)
                .hint("`linerate undo` tells more; then take the experiment up again"));
        }
        left = not_closed;
    }
    Ok(())
}

/// Host, setting, value now and outcome of what was not put back.
fn shown(rows: &[Vec<String>]) -> String {
    let rows = rows.iter().map(|row| row.join(", "));
    rows.collect::<Vec<_>>().join("; ")
}

/// The real stand.
struct HostStand<'a> {
    target: Target,
    knobs: HostKnobs,
    began: Instant,
    stop: &'a Stop,
    /// What the server had to do in the last trial.
    loads: Vec<HostLoad>,
}

impl Stand for HostStand<'_> {
    fn read(&mut self, level: &Level) -> Result<Vec<Setting>, Failure> {
        let found = change::read_back(&self.knobs.hosts, &level.settings);
        Ok(found.map_err(CommandError::from)?)
    }

    fn set(&mut self, level: &Level) -> Result<(), Failure> {
        Ok(self.knobs.set(level)?)
    }

    fn workload(&self, workload: &Workload, level: &Level) -> Result<Workload, Failure> {
        plan::workload(workload, level).map_err(|reason| Failure {
            kind: FailureKind::Usage,
            chain: vec![reason],
            hint: None,
        })
    }

    fn trial(&mut self, workload: &Workload) -> Outcome {
        let (outcome, load) = self.target.pass(workload, self.stop);
        self.loads = load.into_iter().collect();
        match outcome {
            Outcome::Measured(result) => match missing_channels(workload, &result) {
                None => Outcome::Measured(result),
                Some(failure) => Outcome::Failed(failure),
            },
            failed @ Outcome::Failed(_) => failed,
        }
    }

    fn loads(&mut self) -> Vec<HostLoad> {
        std::mem::take(&mut self.loads)
    }

    fn restore(&mut self) -> Result<(), Failure> {
        self.knobs.restore()
    }

    fn now(&self) -> Nanoseconds {
        self.began.elapsed().into()
    }
}

fn carry_out(
    design: &Design,
    target: Target,
    recorder: Recorder,
    before: Vec<TrialRecord>,
    (output, login, stop): (&OutputArguments, &LoginArguments, &Stop),
) -> Result<ExitCode, CommandError> {
    let path = recorder.path().to_owned();
    let knobs = design.factors.iter().flat_map(|factor| &factor.levels);
    let any_knob = knobs
        .flat_map(|level| &level.settings)
        .any(|setting| matches!(setting, Setting::Knob { .. }));
    let journal = match any_knob {
        true => Some(Journal::open(&journal::state_folder()?, &recorder.id)?),
        false => None,
    };
    let hosts = target.hosts().into_iter().cloned().collect();
    let began = recorder.began();
    let recorder = SharedRecorder(Rc::new(RefCell::new(recorder)));
    let mut stand = HostStand {
        target,
        knobs: HostKnobs::new(hosts, journal, recorder.clone(), stop.clone()),
        began,
        stop,
        loads: Vec::new(),
    };
    let visits: usize = design.blocks.iter().map(Vec::len).sum();
    let total = visits * design.responses.len();
    let mut progress = terminal::Progress::new(u64::try_from(total).unwrap_or(0), output.json);
    progress.stage(&format!("{} ({total} trials)", design.title));
    for _ in &before {
        progress.advance();
    }
    let mut tell = |news: DesignNews<'_>| tell(&progress, design, &news);
    let mut sink = recorder.clone();
    let mut hooks = DesignHooks {
        sink: &mut sink,
        stop: &|| stop.is_asked(),
        news: &mut tell,
        narrow: &|trials| {
            let width = design.stop.width.unwrap_or(0.0);
            fit::is_narrow(&fit::design(design, trials), width)
        },
    };
    let ended = run_design(&mut stand, design, before, &mut hooks);
    drop(progress);
    let (file, options) = (path.display().to_string(), credentials::options(login));
    let words = ["experiment", "resume", &file].into_iter();
    let words = words.chain(options.iter().map(String::as_str));
    let again = format!("`{}` goes on with it", report::own_command(words));
    let ended = ended.map_err(|error| {
        CommandError::from_error(Kind::Refused, &error).hint("see `linerate changes`")
    })?;
    match ended {
        DesignEnd::Complete => recorder.0.borrow_mut().event(Event::Finished)?,
        DesignEnd::Stopped => {
            return Err(CommandError::new(Kind::Interrupted, "stopped").hint(again));
        }
        DesignEnd::Failed(mut failure) => {
            let hint = failure.hint.take().into_iter().chain([again]);
            failure.hint = Some(hint.collect::<Vec<_>>().join("; then "));
            let error = CommandError::from(failure);
            return Err(error.while_doing("the experiment could not go on"));
        }
    }
    let analysis = runs::show(&path, output)?;
    if let Some(why) = unseen(&analysis, stand.target.server.as_ref()) {
        terminal::say(&why);
    }
    Ok(runs::exit_code(&analysis))
}

/// Why nobody knows what serving cost the server's processors, where a share was measured.
fn unseen(analysis: &RunAnalysis, server: Option<&Host>) -> Option<String> {
    let result = analysis.design.as_ref()?;
    let is_of_a_share = |response: &Response| matches!(response.workload, Workload::Share(_));
    let mut seen = result.samples.iter();
    if !result.design.responses.iter().any(is_of_a_share)
        || seen.any(|samples| samples.server_cpu_per_byte.is_some())
    {
        return None;
    }
    let text = "what serving costs the server's processors is not known";
    Some(match server {
        Some(server) => format!("{text}: {} does not tell", server.name),
        None => format!("{text}; `--server HOST` says where to look"),
    })
}

fn tell(progress: &terminal::Progress, design: &Design, news: &DesignNews<'_>) {
    match news {
        DesignNews::Setting { block, level } => {
            progress.detail(&format!(
                "block {} of {}: {level}",
                block + 1,
                design.blocks.len()
            ));
        }
        DesignNews::Trial { response } => progress.detail(response),
        DesignNews::Ended(rate) => {
            progress.advance();
            if let Err(reason) = rate {
                progress.note(&format!("a trial failed: {reason}"));
            }
        }
        DesignNews::Block(trials) => {
            let known = fit::design(design, *trials);
            let lines = report::design::so_far(&known);
            progress.note(&format!("after {} blocks: {lines}", known.blocks_done));
        }
    }
}

fn dry_run(
    arguments: &ExperimentArguments,
    design: &Design,
    target: &Target,
    seed: u64,
) -> Result<(), CommandError> {
    let hosts: Vec<_> = target.hosts().into_iter().cloned().collect();
    let mut commands = Vec::new();
    for factor in &design.factors {
        for level in &factor.levels {
            let change = Change::plan(&hosts, &level.settings, "dry-run")?;
            commands.push((factor.name.as_str(), level.name.as_str(), change.commands()));
        }
    }
    let seconds = seconds(design).ceil() as u64;
    let names: Vec<String> = (0..design.arms.len())
        .map(|arm| {
            let level = u32::try_from(arm).ok().and_then(|arm| design.level(arm));
            level.map(|level| level.name).unwrap_or_default()
        })
        .collect();
    if arguments.output.json {
        let commands = commands.iter().map(|(factor, level, commands)| {
            let commands = commands
                .iter()
                .map(|(host, command)| json!({"host": host, "argv": command.argv}));
            json!({ "factor": factor, "level": level, "commands": commands.collect::<Vec<_>>() })
        });
        terminal::print_json(
            &json!({ "dry_run": true, "seed": seed, "design": design, "arms": names,
            "commands": commands.collect::<Vec<_>>(), "seconds": seconds }),
        );
        return Ok(());
    }
    terminal::print(&format!(
        "{}: {}, {} arms",
        clean(&design.title),
        design.form,
        design.arms.len()
    ));
    for alias in &design.aliases {
        terminal::print(&format!(
            "  cannot be told from each other: {}",
            clean(alias)
        ));
    }
    let rows: Vec<Vec<String>> = (1..)
        .zip(&design.blocks)
        .flat_map(|(block, row)| {
            let names = &names;
            (1..).zip(row).map(move |(place, arm): (usize, &u32)| {
                let again = if Some(*arm) == design.baseline_replicate {
                    " (baseline once more)"
                } else {
                    ""
                };
                let name = names.get(*arm as usize).cloned().unwrap_or_default();
                vec![
                    format!("{block}"),
                    format!("{place}"),
                    format!("{name}{again}"),
                ]
            })
        })
        .collect();
    terminal::print_drawn(&report::table(&["block", "place", "arm"], &rows, style()));
    let responses: Vec<&str> = design
        .responses
        .iter()
        .map(|response| response.name.as_str())
        .collect();
    terminal::print(&format!(
        "each visit measures: {}",
        clean(&responses.join(", "))
    ));
    for (factor, level, commands) in &commands {
        terminal::print(&clean(&format!("{factor} {level} would run:")));
        for (host, command) in commands {
            terminal::print(&format!("  {host}: {}", knob::shown(command)));
        }
        if commands.is_empty() {
            terminal::print("  nothing: it is so now, or a setting of the session only");
        }
    }
    let mut responses = design.responses.iter();
    let beside = match responses.all(|one| matches!(one.workload, Workload::Tcp(_))) {
        true => "",
        false => " where the target moves 100 MB/s",
    };
    terminal::print(&format!(
        "seed {seed}; about {seconds} s{beside}; nothing was changed"
    ));
    Ok(())
}

/// How long all of it takes, about, and at most what the budget allows; a width that is reached may end
/// it earlier.
fn seconds(design: &Design) -> f64 {
    let of_visit = |visit: Visit| {
        let level = design.level(visit.arm);
        let of_trial = |workload: &Workload| {
            let whole = level.as_ref().map(|level| plan::workload(workload, level));
            trial_seconds(whole.and_then(Result::ok).as_ref().unwrap_or(workload))
        };
        let counted = design.responses.iter().map(|response| &response.workload);
        let trials: f64 = counted.chain(&visit.wash_out).map(of_trial).sum();
        let switches = 1 + u32::from(visit.away.is_some());
        trials + (SWITCH * switches).as_secs_f64()
    };
    let whole: f64 = visits(design).into_iter().map(of_visit).sum();
    let budget = design.stop.budget_seconds;
    budget.map_or(whole, |budget| whole.min(budget as f64))
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use experiment::{Combination, combine, order};
    use record::{
        Bytes, CopyTask, Data, Demands, Direction, Factor, Fingerprint, HostName, KnobId,
        Operations, Place, Sample, ShareAddress, ShareWorkload, Stage, StopRule, Task,
        TaskWorkload, TcpWorkload, Timing, TrialResult, Value,
    };

    use super::*;

    const SECOND: Nanoseconds = Nanoseconds::new(1_000_000_000);
    const TIMING: Timing = Timing {
        warm_up: SECOND,
        measured: Nanoseconds::new(4 * SECOND.get()),
        interval: SECOND,
    };

    fn address() -> ShareAddress {
        ShareAddress {
            server: "nas".into(),
            port: 445,
            share: "media".into(),
            path: String::new(),
        }
    }

    /// A trial with a test file of a gigabyte.
    fn big_file() -> Workload {
        Workload::Share(ShareWorkload {
            share: address(),
            direction: Direction::Read,
            channels: 1,
            block: Bytes::new(1 << 20),
            depth: 8,
            file_size: Bytes::new(1_000_000_000),
            demands: Demands::default(),
            operations: Some(Operations {
                pattern: record::Pattern::Sequential,
                threads: 1,
                opposite_percent: 0,
                data: Data::default(),
                cache: record::Cache::Direct,
                write_through: false,
                file: None,
            }),
            timing: TIMING,
            sessions: 1,
            file: record::FileUse::default(),
            socket: record::SocketOptions::default(),
        })
    }

    /// A trial that copies as much.
    fn copy() -> Workload {
        Workload::Task(TaskWorkload {
            place: Place::Share {
                share: address(),
                demands: Demands::default(),
            },
            direction: Direction::Read,
            channels: 1,
            task: Task::Copy(CopyTask {
                files: 1000,
                folders: 10,
                size: Bytes::new(1_000_000),
                size_max: None,
                spread: record::Spread::default(),
            }),
            data: Data::default(),
            timing: TIMING,
        })
    }

    fn tcp() -> Workload {
        Workload::Tcp(TcpWorkload {
            server: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 1,
            direction: Direction::Read,
            streams: 1,
            nic: None,
            timing: TIMING,
            socket: record::SocketOptions::default(),
        })
    }

    fn design(kind: Combination, names: &[&str], workload: Workload, blocks: usize) -> Design {
        let level = |name: &str, value: i64| Level {
            name: value.to_string(),
            settings: vec![Setting::Knob {
                host: HostName::new("local"),
                target: record::Target::Nic("lan1".into()),
                id: KnobId::new(format!("nic.{name}")),
                value: Value::Integer(value),
            }],
        };
        let factor = |name: &&str| Factor {
            name: (*name).into(),
            levels: vec![level(name, 0), level(name, 1)],
        };
        let named: Vec<(&str, usize)> = names.iter().map(|name| (*name, 2)).collect();
        let found = combine(&named, kind).unwrap();
        Design {
            name: "design".into(),
            title: "some".into(),
            form: found.form,
            factors: names.iter().map(factor).collect(),
            aliases: found.aliases,
            left_out: Vec::new(),
            responses: vec![Response {
                name: "rate".into(),
                workload,
            }],
            blocks: order(&found.arms, &[], blocks, 7),
            arms: found.arms,
            baseline_replicate: None,
            whole_plots: Vec::new(),
            stop: StopRule {
                budget_seconds: None,
                width: None,
            },
            band: 0.02,
            published: None,
            figures: Vec::new(),
        }
    }

    #[test]
    fn a_dry_run_counts_the_files_that_are_made_and_what_washes_out() {
        let takes = |workload: Workload| {
            let design = design(Combination::Full, &["mtu"], workload, 1);
            seconds(&design).round() as u64
        };
        // Two visits, each of a link that was reset: one trial washes out, a quarter as long where it
        // is timed, and one counts. Process, session and switch are about 1.4 s.
        assert_eq!(takes(tcp()), 2 * (1 + 1 + 1 + 4) + 1);
        assert_eq!(takes(big_file()), 2 * (10 + 1 + 1 + 10 + 1 + 4) + 1);
        // 10 s until the files are there, 10 s for their copy, 1 s for their names.
        assert_eq!(takes(copy()), 2 * 2 * (1 + 10 + 10 + 1) + 1);
        let mut short = design(Combination::Full, &["mtu"], tcp(), 9);
        short.stop.budget_seconds = Some(20);
        assert_eq!(seconds(&short).round() as u64, 20, "the budget ends it");
    }

    #[test]
    fn what_is_known_of_a_fraction_is_told_while_it_runs() {
        let design = design(Combination::Fraction, &["a", "b", "c", "d"], tcp(), 3);
        // `b` is worth 20 MB/s, the others nothing; single trials differ a little.
        let trial = |block: u32, (position, arm): (u32, &u32)| {
            let high = design.arms[*arm as usize][1];
            let noise = (block * 7 + position * 3) % 5;
            let result = TrialResult {
                samples: vec![Sample {
                    at: Nanoseconds::new(0),
                    duration: SECOND,
                    bytes: Bytes::new(100_000_000 + u64::from(high * 20_000_000 + noise * 10_000)),
                    cpu: Nanoseconds::new(1),
                    retransmits: None,
                }],
                ..TrialResult::default()
            };
            TrialRecord {
                id: 0,
                stage: Stage::Visit {
                    block,
                    position,
                    arm: *arm,
                    response: "rate".into(),
                    discarded: false,
                },
                workload: tcp(),
                settings: Vec::new(),
                started: SECOND,
                ended: SECOND,
                outcome: Outcome::Measured(Box::new(result)),
                loads: Vec::new(),
            }
        };
        let rows = (0..).zip(&design.blocks);
        let trials = rows.flat_map(|(block, row)| (0..).zip(row).map(move |one| trial(block, one)));
        let known = fit::design(&design, &trials.collect::<Vec<_>>());
        let said = report::design::so_far(&known);
        assert!(said.contains("rate b 1: +20.0 %, +20.0 MB/s [+"), "{said}");
        assert_eq!(said.split("; ").count(), 4, "{said}");
        let nothing = report::design::so_far(&fit::design(&design, &[]));
        assert_eq!(nothing, "nothing is known yet");
    }

    #[test]
    fn an_experiment_goes_on_only_on_the_machines_it_began_on() {
        let host = host::Host::local().unwrap();
        let mut now = runs::facts(&[&host]).unwrap();
        now[0].machine = Some(Fingerprint::of("one"));
        let mut then = now.clone();
        same_machines(&then, &now).unwrap();
        then[0].machine = None;
        same_machines(&then, &now).unwrap();
        then[0].machine = Some(Fingerprint::of("another"));
        let error = same_machines(&then, &now).unwrap_err();
        assert!(
            error.text().contains("`local` is another machine"),
            "{error}"
        );
    }
}
