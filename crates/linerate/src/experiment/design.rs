//! The design of an experiment: the factors, arms and blocks that a plan means on these hosts.

use experiment::{Arms, Combination, FRACTION_FACTORS_MIN, combine, order, whole_plots};
use locale::{Kept, Language, Message, say};
use record::{
    Design, DesignKind, Direction, Factor, Level, Mistake, PlanFile, PublishedFigure, Recipe,
    RecipeTest, Response, StopRule,
};

use super::factors::{factors, one_after_the_other};
use super::plan_file::{Written, usage};
use super::workload_fields;
use crate::args::ExperimentArguments;
use crate::bench::recipe_target::Target;
use crate::failure::{CommandError, Kind};

/// Blocks of a plan that leaves them open: enough for its effects to be counted, within what is worth
/// the time.
const BLOCKS_USUAL: std::ops::RangeInclusive<usize> = 6..=10;

/// What is measured, with its test and the way it goes.
type Measured<'a> = (Response, (&'a RecipeTest, Direction));

fn responses<'a>(recipe: &'a Recipe, target: &Target) -> Result<Vec<Measured<'a>>, Mistake> {
    let mut responses: Vec<Measured<'a>> = Vec::new();
    for step in recipe.steps() {
        let name = format!("{} {:?}", step.0.name, step.1).to_lowercase();
        if responses.iter().any(|(known, _)| known.name == name) {
            let reason = say("error-plan.same-test").with("name", name);
            return Err(Mistake::at("workload", reason));
        }
        let workload = target.workload(recipe, step, None);
        responses.push((Response { name, workload }, step));
    }
    Ok(responses)
}

/// The whole experiment on this target, and what is left out of it because a host lacks it.
pub fn design(
    plan: &Written,
    arguments: &ExperimentArguments,
    recipe: &Recipe,
    target: &Target,
    seed: u64,
) -> Result<(Design, Vec<Message>), CommandError> {
    let file = &plan.file;
    let wrong = |mistake: Mistake| plan.wrong(&mistake);
    let steps = responses(recipe, target).map_err(wrong)?;
    let figures = figures(file, &steps).map_err(wrong)?;
    let responses: Vec<Response> = steps.into_iter().map(|(response, _)| response).collect();
    let (factors, left_out) = factors(plan, target, &responses)?;
    let found = combined(file.design, &factors, &left_out);
    let found = found.map_err(|error| match file.design {
        DesignKind::Full => plan.at("factor", error),
        _ => plan.at("design", error),
    })?;
    let mut arms = found.arms;
    let baseline_replicate = file
        .noise
        .then(|| u32::try_from(arms.len()).unwrap_or(u32::MAX));
    if file.noise {
        arms.extend(arms.first().cloned());
    }
    let whole_plots = whole_plots(&factors);
    let form = form(found.form, &whole_plots);
    let mut design = Design {
        name: "design".into(),
        title: file.title.clone(),
        form: english(&form),
        factors,
        aliases: found.aliases,
        left_out: left_out.iter().map(english).collect(),
        messages: left_out
            .iter()
            .chain([&form])
            .filter_map(Kept::of_message)
            .collect(),
        responses,
        blocks: Vec::new(),
        arms,
        baseline_replicate,
        whole_plots,
        stop: stop_rule(file),
        band: file.band_percent / 100.0,
        published: file.published.clone(),
        figures,
    };
    check_arms(plan, &design)?;
    let blocks = block_count(arguments.blocks.or(file.blocks), &design);
    design.blocks = order(&design.arms, &design.whole_plots, blocks, seed);
    let fits = design.check();
    fits.map_err(|reason| {
        let reason = say("error-plan.not-analysable").with("reason", reason);
        let place = file.blocks.map_or("factor", |_| "blocks");
        plan.wrong(&Mistake::at(place, reason))
    })?;
    Ok((design, left_out))
}

/// The form of a design whose factors are combined so, with whole plots or without.
fn form(combined: Message, whole_plots: &[u32]) -> Message {
    match whole_plots {
        [] => combined,
        _ => say("design-form.split-plot").with("form", combined),
    }
}

/// A run file is in English.
fn english(message: &Message) -> String {
    Language::English.say(message)
}

/// When an experiment may end before its last block.
fn stop_rule(file: &PlanFile) -> StopRule {
    StopRule {
        budget_seconds: file
            .budget_minutes
            .map(|minutes| (minutes * 60.0).ceil() as u64),
        width: file.width_percent.map(|percent| percent / 100.0),
    }
}

/// The blocks that were asked for, or the usual ones.
fn block_count(asked: Option<u32>, design: &Design) -> usize {
    asked.map_or_else(
        || usual_blocks(design),
        |blocks| usize::try_from(blocks).unwrap_or(usize::MAX),
    )
}

/// Blocks of a plan that leaves them open.
fn usual_blocks(design: &Design) -> usize {
    let counted = fit::blocks_counted(design).unwrap_or(0);
    counted.clamp(*BLOCKS_USUAL.start(), *BLOCKS_USUAL.end())
}

/// The arms of the factors that are left. What a host lacks may leave too few for a fraction; all
/// combinations of them are no more arms than that had.
fn combined(
    design: DesignKind,
    factors: &[Factor],
    left_out: &[Message],
) -> Result<Arms, CommandError> {
    let named: Vec<(&str, usize)> = factors
        .iter()
        .map(|factor| (factor.name.as_str(), factor.levels.len()))
        .collect();
    let too_few = factors.len() < FRACTION_FACTORS_MIN && !left_out.is_empty();
    let combination = match design {
        DesignKind::Fraction if !too_few => Combination::Fraction,
        DesignKind::Full | DesignKind::Fraction => Combination::Full,
        DesignKind::OneAtATime => Combination::OneAtATime,
    };
    let mut found = combine(&named, combination).map_err(|error| {
        let error = usage(error.message());
        match left_out.is_empty() {
            true => error,
            false => {
                let hint = say("hint-plan.what-is-left").with("names", names(factors));
                error.hint(hint.with_known("left_out", one_after_the_other(left_out)))
            }
        }
    })?;
    if design == DesignKind::Fraction && too_few {
        let instead = say("design-form.instead").with("form", found.form);
        found.form = instead.count("factors", FRACTION_FACTORS_MIN);
    }
    Ok(found)
}

fn names(factors: &[Factor]) -> String {
    let names = factors.iter().map(|factor| format!("`{}`", factor.name));
    names.collect::<Vec<_>>().join(", ")
}

/// What was published of single levels, for each response that goes the same way.
fn figures(file: &PlanFile, responses: &[Measured<'_>]) -> Result<Vec<PublishedFigure>, Mistake> {
    for (at, factor) in file.factors.iter().enumerate() {
        for (number, level) in factor.levels.iter().enumerate() {
            let unknown =
                |name: &&String| responses.iter().all(|(_, (test, _))| test.name != **name);
            if let Some(name) = level.published.tests.keys().find(unknown) {
                let reason = say("error-plan.published-of-none").with("test", name);
                let place = format!("factor.{at}.level.{number}.published.tests.{name}");
                return Err(Mistake::at(place, reason));
            }
        }
    }
    let mut figures = Vec::new();
    for (response, (test, way)) in responses {
        for factor in &file.factors {
            let texts = factor
                .levels
                .iter()
                .filter_map(|level| Some((level, level.published.of(&test.name, *way)?)));
            figures.extend(texts.map(|(level, text)| PublishedFigure {
                response: response.name.clone(),
                factor: factor.name.clone(),
                level: level.name.clone(),
                text: text.to_owned(),
            }));
        }
    }
    Ok(figures)
}

/// Numbers that no trial takes are said before the first one, whichever factors bring them together.
fn check_arms(plan: &Written, design: &Design) -> Result<(), CommandError> {
    for arm in 0..u32::try_from(design.arms.len()).unwrap_or(u32::MAX) {
        let Some(level) = design.level(arm) else {
            continue;
        };
        for response in &design.responses {
            let whole = workload_fields::workload(&response.workload, &level).map_err(usage)?;
            measure::check(&whole).map_err(|error| {
                let text = say("error-plan.not-measurable")
                    .with("response", &response.name)
                    .with("level", &level.name);
                let error = CommandError::caused(Kind::Usage, text, &error);
                let error = error.hint(say("hint-plan.smaller-numbers"));
                plan.at(&culprit(&plan.file, design, response), error)
            })?;
        }
    }
    Ok(())
}

/// What no trial takes: the plan's workload alone, or a level alone, or else several factors together.
fn culprit(file: &PlanFile, design: &Design, response: &Response) -> String {
    if measure::check(&response.workload).is_err() {
        return "workload".into();
    }
    for factor in &design.factors {
        let fails = |level: &Level| {
            let whole = workload_fields::workload(&response.workload, level);
            whole.is_ok_and(|whole| measure::check(&whole).is_err())
        };
        let written = file.factors.iter().position(|it| it.name == factor.name);
        if let (Some(level), Some(at)) = (factor.levels.iter().position(fails), written) {
            return format!("factor.{at}.level.{level}.set");
        }
    }
    "factor".into()
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use measure::Stop;
    use record::Workload;

    use super::*;
    use crate::args::{Arguments, Command, ExperimentCommand};
    use crate::bench::recipe_target::Wanted;
    use crate::experiment::plan_file::recipe;

    /// What is refused of a plan with these two levels on raw TCP, and what to do.
    fn refusal(levels: [&str; 2]) -> String {
        let [one, two] = levels;
        let levels = [("one", one), ("two", two)];
        let levels =
            levels.map(|(name, set)| format!("[[factor.level]]\nname = '{name}'\n{set}\n"));
        let head = "title = 't'\n[workload]\npreset = 'iperf'\n[[factor]]\nname = 'f'\n";
        let text = head.to_owned() + &levels.concat();
        let plan = Written {
            file: toml::from_str(&text).unwrap(),
            path: "p.toml".into(),
            text,
        };
        let typed = ["linerate", "experiment", "run", "p.toml"];
        let typed = Arguments::try_parse_from(typed).unwrap();
        let Command::Experiment(ExperimentCommand::Run(arguments)) = typed.command else {
            panic!("{typed:?}");
        };
        let recipe = recipe(&plan, None).unwrap();
        let (path, engine) = (&arguments.path, recipe.engine);
        let wanted = Wanted::of("tcp://127.0.0.1", path, engine);
        let target = Target::open(wanted, &Stop::new()).unwrap();
        let refused = design(&plan, &arguments, &recipe, &target, 1);
        refused.unwrap_err().to_string()
    }

    #[test]
    fn what_this_host_or_this_workload_does_not_take_is_refused_by_its_line() {
        for (set, line, says) in [
            (
                "client:nic.mtu@none9=9000",
                13,
                "nothing of the plan can be varied here",
            ),
            (
                "client:nic.mtu@lo=-1",
                13,
                "nothing of the plan can be varied here",
            ),
            (
                "server:tcp.sack=on",
                13,
                "hint: name it with `--server HOST`",
            ),
            ("client:tcp.sackk=on", 13, "`tcp.sackk`"),
            ("junk", 13, "`junk` sets nothing"),
            ("workload:block=1", 8, "each level of `f` must set `block`"),
        ] {
            let said = refusal([
                "set = ['workload:streams=1']",
                &format!("set = [\n'workload:streams=2',\n'{set}',\n]"),
            ]);
            assert!(
                said.contains(&format!("`p.toml`, line {line}\n")),
                "{set}: {said}"
            );
            assert!(said.contains(says), "{set}: {said}");
            assert!(!said.contains("--client"), "{set}: {said}");
        }
        for streams in ["0", "4294967295"] {
            let set = format!("set = ['workload:streams={streams}']");
            let said = refusal(["set = ['workload:streams=1']", &set]);
            assert!(said.contains("`p.toml`, line 11\n"), "{said}");
        }
    }

    fn factors(count: usize) -> Vec<Factor> {
        let level = |name: &str| Level {
            name: name.into(),
            settings: Vec::new(),
        };
        let factor = |number| Factor {
            name: format!("f{number}"),
            levels: vec![level("off"), level("on")],
        };
        (0..count).map(factor).collect()
    }

    #[test]
    fn a_fraction_goes_on_without_what_a_host_lacks() {
        let lacking = [Message::from("lro: not here")];
        let fraction =
            |count, left_out: &[Message]| combined(DesignKind::Fraction, &factors(count), left_out);
        let full = fraction(3, &lacking).unwrap();
        assert_eq!(full.arms.len(), 8);
        assert_eq!(
            english(&full.form),
            "full factorial instead of a fraction, which takes 4 factors"
        );
        let fractional = fraction(4, &lacking).unwrap();
        assert_eq!(fractional.arms.len(), 8);
        assert_eq!(fractional.form.id, "design-form.fraction");
        // What is wrong with the plan itself is wrong on any host.
        let error = fraction(3, &[]).unwrap_err().to_string();
        assert!(error.contains("not for 3"), "{error}");
        let error = fraction(9, &lacking).unwrap_err().to_string();
        assert!(
            error.contains("not for 9") && error.contains("`f8`; left out: lro: not here"),
            "{error}"
        );
    }

    #[test]
    fn what_was_published_of_a_copy_stands_beside_the_copy_only() {
        let plan = include_str!("../../../../plans/channels.toml");
        let mut file: PlanFile = toml::from_str(plan).expect("as it is written");
        assert_eq!(file.check(), Ok(()));
        let text = include_str!("../../../../plans/recipes/channels.toml");
        let recipe = measure::recipe("channels.toml", text).expect("as it is written");
        let span = record::Nanoseconds::new(1);
        let workload = Workload::Tcp(record::TcpWorkload {
            server: std::net::Ipv4Addr::LOCALHOST.into(),
            port: 1,
            direction: Direction::Read,
            streams: 1,
            nic: None,
            timing: record::Timing {
                warm_up: span,
                measured: span,
                interval: span,
            },
            socket: record::SocketOptions::default(),
        });
        let steps = recipe.steps();
        let responses: Vec<Measured<'_>> = steps
            .into_iter()
            .map(|step| {
                let response = Response {
                    name: format!("{} {:?}", step.0.name, step.1),
                    workload: workload.clone(),
                };
                (response, step)
            })
            .collect();
        let found = figures(&file, &responses).expect("all of it is measured");
        let found: Vec<(&str, &str)> = found
            .iter()
            .filter_map(|one| Some((one.response.as_str(), one.text.split(',').next()?)))
            .collect();
        assert_eq!(
            found,
            [
                ("SEQ 1 MiB Q8 T1 Read", "x1.88"),
                ("SEQ 1 MiB Q8 T1 Write", "x1.48"),
                ("one file of 500 MB Write", "x1.46"),
            ]
        );
        let tests = &mut file.factors[0].levels[1].published.tests;
        tests.insert("another".into(), record::PublishedTest::default());
        let error = figures(&file, &responses).unwrap_err();
        assert!(error.to_string().contains("`another`"), "{error}");
        assert_eq!(error.line_in(plan), 26);
    }
}
