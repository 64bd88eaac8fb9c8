//! A search for the best of all settings: what is tried, for how long, and for which goal.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use analysis::Fix;
use experiment::{Candidate, SearchPlan, TunePlan};
use host::journal;
use locale::{Message, said, say};
use measure::Stop;
use record::{Direction, Setting};
use schemars::JsonSchema;
use serde::Serialize;

use super::dry_run::{commands, print_commands};
use super::execute::{Job, carry_out, too_short};
use super::{SWITCH, TRIAL_OVERHEAD, can_be_kept, nothing_to_try};
use crate::args::{GoalArgument, TuneArguments};
use crate::client_to_share_path::{SharePath, timing};
use crate::failure::{CommandError, Kind};
use crate::host_command_json::HostCommand;
use crate::share_testbed::Load;
use crate::tune_goal_candidates::{self, Proposal};
use crate::{run_file_recorder, stdout_and_stderr, tune_through_mount};

/// What `tune --goal GOAL --dry-run --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchPreview<'a> {
    /// True.
    dry_run: bool,
    /// The seed of the order.
    seed: u64,
    /// The fewest and the most trials.
    trials: [usize; 2],
    /// What would be tried.
    candidates: Vec<SearchedCandidate<'a>>,
    /// What the time is too short for.
    left_out: Vec<LeftOut<'a>>,
}

/// A change that would be tried.
#[derive(Debug, Serialize, JsonSchema)]
struct SearchedCandidate<'a> {
    /// Its id, for `--only`.
    id: &'a str,
    /// What it sets, as run files keep it.
    settings: &'a [Setting],
    /// What to know before it is kept; null where there is nothing.
    warning: Option<&'a Message>,
    /// The commands that set it; none where it is of the client's own requests.
    commands: Vec<HostCommand<'a>>,
}

/// A change that is not tried.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
struct LeftOut<'a> {
    /// Its id.
    id: &'a str,
    /// Why.
    reason: Message,
}

/// What a search tries: all that is worth it, or what the user names of it.
pub(super) fn proposals(
    arguments: &TuneArguments,
    goal: GoalArgument,
    path: &SharePath,
    fixes: Vec<Fix>,
    stop: &Stop,
) -> Result<Vec<Proposal>, CommandError> {
    let session = path.knock(stop)?;
    let mut proposals = tune_goal_candidates::propose(path, goal, fixes, &session)?;
    if path.mounted.is_some() {
        proposals.retain(|one| tune_through_mount::notices(&one.candidate.level));
    }
    if !arguments.only.is_empty() {
        let known: Vec<String> = proposals
            .iter()
            .map(|one| one.candidate.id.clone())
            .collect();
        if let Some(unknown) = arguments.only.iter().find(|id| !known.contains(id)) {
            let text = say("error-plan.no-candidate").with("id", unknown);
            let error = CommandError::new(Kind::Usage, text);
            return Err(error.hint(say("hint-plan.there-are").with("names", known)));
        }
        proposals.retain(|one| arguments.only.contains(&one.candidate.id));
    }
    if arguments.persist {
        proposals.retain(|one| {
            let refused = can_be_kept(arguments, path, &one.candidate.level).err();
            if let Some(error) = &refused {
                let id = &one.candidate.id;
                let sentence = say("candidate-untried.not-kept").with("id", id);
                stdout_and_stderr::say(&said(&sentence.with("reason", error.said())));
            }
            refused.is_none()
        });
    }
    for one in proposals.iter().skip(experiment::CANDIDATES_MAX) {
        let (id, most) = (&one.candidate.id, experiment::CANDIDATES_MAX);
        let sentence = say("candidate-untried.too-many").with("id", id);
        stdout_and_stderr::say(&said(&sentence.count("most", most)));
    }
    proposals.truncate(experiment::CANDIDATES_MAX);
    Ok(proposals)
}

/// Searches for the best of all settings.
pub(super) fn search(
    (arguments, began): (&TuneArguments, Instant),
    goal: GoalArgument,
    path: &SharePath,
    (proposals, by_hand, load): (Vec<Proposal>, &[(String, Message)], Load),
    stop: &Stop,
) -> Result<ExitCode, CommandError> {
    let warnings: Vec<(String, Message)> = proposals
        .iter()
        .filter_map(|one| Some((one.candidate.id.clone(), one.warning.clone()?)))
        .collect();
    let candidates: Vec<Candidate> = proposals.into_iter().map(|one| one.candidate).collect();
    if candidates.is_empty() {
        let reason = say("told-plan.as-rules-say");
        return Ok(nothing_to_try(arguments, reason));
    }
    // The check took its part already.
    let budget = arguments.budget.saturating_sub(began.elapsed());
    let (plan, left_out) = search_plan(arguments, goal, candidates, budget)?;
    if !left_out.is_empty() && !arguments.output.json {
        let names: Vec<String> = left_out.iter().map(|one| format!("`{}`", one.id)).collect();
        let budget = arguments.budget.as_secs();
        let sentence = say("candidate-untried.budget").count("seconds", budget);
        stdout_and_stderr::say(&said(&sentence.with("names", names.join(", "))));
    }
    if arguments.dry_run {
        return dry_search(arguments, path, &plan, &warnings, &left_out);
    }
    let job = Job {
        plan: &plan.tune,
        trials: plan.trials_max,
        load: match goal {
            GoalArgument::Latency => Load::ShortRequests,
            GoalArgument::SmallFiles => Load::SmallFiles,
            GoalArgument::Read | GoalArgument::Write | GoalArgument::Copy => load,
        },
        warnings: &warnings,
        by_hand,
        left_out: &left_out,
    };
    let state = journal::state_folder()?;
    let file = carry_out(
        (arguments, &state),
        path,
        &job,
        stop,
        &mut |testbed, hooks| experiment::search(testbed, &plan, hooks),
    )?;
    let analysis = run_file_recorder::show(&file, &arguments.output)?;
    Ok(run_file_recorder::exit_code(&analysis))
}

/// The plan of what takes so long at most, and the candidates for which that is too short.
fn search_plan(
    arguments: &TuneArguments,
    goal: GoalArgument,
    candidates: Vec<Candidate>,
    budget: Duration,
) -> Result<(SearchPlan, Vec<Candidate>), CommandError> {
    let (responses, elsewhere) = match goal {
        GoalArgument::Read => (vec![Direction::Read], vec![Direction::Write]),
        GoalArgument::Write => (vec![Direction::Write], vec![Direction::Read]),
        GoalArgument::Copy | GoalArgument::SmallFiles => {
            (vec![Direction::Read, Direction::Write], Vec::new())
        }
        GoalArgument::Latency => (vec![Direction::Read], Vec::new()),
    };
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => run_file_recorder::random_seed()?,
    };
    let counted = Duration::from(timing(arguments.seconds)?.measured);
    let trial = counted + TRIAL_OVERHEAD + SWITCH;
    let fitting = (budget.as_secs_f64() / trial.as_secs_f64()) as usize;
    let mut plan = SearchPlan {
        tune: TunePlan {
            responses,
            blocks: usize::try_from(arguments.blocks).unwrap_or(usize::MAX),
            band: arguments.band / 100.0,
            ..TunePlan::new(candidates, seed)
        },
        elsewhere,
        trials_max: fitting,
        budget: Some(budget),
    };
    let left_out = plan.fit();
    plan.check().map_err(|error| {
        CommandError::from_error(Kind::Usage, &error).hint(say("hint-plan.more-time"))
    })?;
    // The estimate is a careful one; how long trials take is learnt on the way.
    plan.trials_max = (2 * fitting).min(plan.trials_worth());
    Ok((plan, left_out))
}

/// What a search would try, and the very commands; nothing is touched.
fn dry_search(
    arguments: &TuneArguments,
    path: &SharePath,
    plan: &SearchPlan,
    warnings: &[(String, Message)],
    left_out: &[Candidate],
) -> Result<ExitCode, CommandError> {
    let commands = commands(path, &plan.tune, arguments)?;
    let [fewest, most] = plan.trials();
    let warning = |id: &str| {
        let mut warnings = warnings.iter();
        warnings.find(|(of, _)| of == id).map(|(_, words)| words)
    };
    if arguments.output.json {
        let candidates = commands.iter();
        let candidates = candidates.map(|(candidate, commands)| SearchedCandidate {
            id: &candidate.id,
            settings: &candidate.level.settings,
            warning: warning(&candidate.id),
            commands: HostCommand::all(commands),
        });
        stdout_and_stderr::print_json(&SearchPreview {
            dry_run: true,
            seed: plan.tune.seed,
            trials: [fewest, most],
            candidates: candidates.collect(),
            left_out: told_left_out(left_out, arguments.budget),
        });
        return Ok(ExitCode::SUCCESS);
    }
    for (candidate, commands) in &commands {
        print_commands(candidate, commands);
        if let Some(words) = warning(&candidate.id) {
            let words = said(&say("told-plan.if-kept").with("warning", words.clone()));
            stdout_and_stderr::print(&format!("  {words}"));
        }
    }
    let takes = say("told-plan.search-takes")
        .with("seed", plan.tune.seed.to_string())
        .count("fewest", fewest)
        .count("most", most);
    stdout_and_stderr::print(&said(&takes));
    Ok(ExitCode::SUCCESS)
}

/// What is not tried for want of time, for programs.
fn told_left_out(left_out: &[Candidate], budget: Duration) -> Vec<LeftOut<'_>> {
    let left_out = left_out.iter().map(|one| LeftOut {
        id: &one.id,
        reason: too_short(budget),
    });
    left_out.collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use record::Level;

    use super::*;
    use crate::args::{self, Arguments};

    fn typed(goal: &str) -> TuneArguments {
        let words = ["linerate", "tune", "smb://nas/media", "--goal", goal];
        match Arguments::try_parse_from(words)
            .expect("as one types it")
            .command
        {
            args::Command::Tune(arguments) => arguments,
            other => panic!("{other:?}"),
        }
    }

    fn candidate(id: &str) -> Candidate {
        Candidate {
            id: id.into(),
            level: Level {
                name: id.into(),
                settings: vec![Setting::Workload {
                    field: id.into(),
                    value: record::Value::Integer(32),
                }],
            },
        }
    }

    /// What counts and what is only looked at, as the goal has it.
    #[test]
    fn small_files_count_both_ways() {
        let responses = |name: &str| {
            let arguments = typed(name);
            let goal = arguments.goal.expect("it was given");
            let candidates = vec![candidate("depth")];
            let (plan, left_out) =
                search_plan(&arguments, goal, candidates, arguments.budget).expect("it fits");
            assert_eq!(left_out, Vec::new());
            (plan.tune.responses, plan.elsewhere)
        };
        let both = vec![Direction::Read, Direction::Write];
        assert_eq!(responses("small-files"), (both.clone(), Vec::new()));
        assert_eq!(responses("copy"), (both, Vec::new()));
        let [read, write] = [Direction::Read, Direction::Write].map(|way| vec![way]);
        assert_eq!(responses("read"), (read, write));
    }

    /// The check before it has taken of the same time.
    #[test]
    fn a_search_is_planned_for_the_time_that_is_left_and_tells_what_that_leaves_out() {
        let arguments = typed("latency");
        let goal = arguments.goal.expect("it was given");
        let candidates: Vec<Candidate> = ["a", "b", "c", "d", "e"].map(candidate).into();
        let planned = |budget| search_plan(&arguments, goal, candidates.clone(), budget);
        let (whole, left_out) = planned(arguments.budget).expect("it fits");
        assert_eq!(left_out, Vec::new());
        let left = Duration::from_secs(80);
        let (short, left_out) = planned(left).expect("some fit");
        assert_eq!(short.budget, Some(left));
        assert!(short.trials_max < whole.trials_max);
        let told = told_left_out(&left_out, arguments.budget);
        let reason = too_short(arguments.budget);
        assert_eq!(told, [LeftOut { id: "e", reason }]);
        planned(Duration::ZERO).expect_err("nothing fits");
    }
}
