//! Plans in TOML, and what they mean on these hosts.

use std::path::{Path, PathBuf};

use experiment::{Arms, Combination, FRACTION_FACTORS_MIN, combine, order, whole_plots};
use host::Host;
use host::change::{self, Change};
use host::knob::KNOBS;
use record::mistake::{line_of, wrong_with};
use record::{
    Design, DesignKind, Direction, Factor, KnobId, Level, Mistake, PlanFactor, PlanFile,
    PublishedFigure, Recipe, RecipeTest, Response, Setting, StopRule, Value, Workload, input,
};

use super::field;
use crate::args::ExperimentArguments;
use crate::bench::recipe::Target;
use crate::failure::{CommandError, Kind};
use crate::set;

/// Blocks of a plan that leaves them open: enough for its effects to be counted, within what is worth
/// the time.
const BLOCKS_USUAL: std::ops::RangeInclusive<usize> = 6..=10;

fn usage(text: String) -> CommandError {
    CommandError::new(Kind::Usage, text).hint("the plans in `plans/` are examples")
}

fn no_preset(name: &str) -> CommandError {
    let known: Vec<&str> = measure::PRESETS.iter().map(|preset| preset.name).collect();
    usage(format!("there is no preset `{name}`")).hint(format!("there are: {}", known.join(", ")))
}

/// A plan, and the file that it stands in.
pub struct Written {
    pub file: PlanFile,
    path: PathBuf,
    text: String,
}

impl Written {
    /// An error with the line of this place of the plan, which caused it; one that no plan causes stays without.
    pub fn at(&self, place: &str, error: CommandError) -> CommandError {
        match error.kind() {
            Kind::Usage | Kind::Refused => self.on_line(line_of(&self.text, place), error),
            _ => error,
        }
    }

    fn on_line(&self, line: usize, error: CommandError) -> CommandError {
        let plan = self.path.display();
        error.while_doing(format!("the plan `{plan}`, line {line}"))
    }

    fn wrong(&self, mistake: &Mistake) -> CommandError {
        self.on_line(mistake.line_in(&self.text), usage(mistake.to_string()))
    }
}

/// Reads a plan.
pub fn read(path: &Path) -> Result<Written, CommandError> {
    let name = path.display();
    let text = input::text(path, input::TOML_BYTES_MAX).map_err(|error| {
        CommandError::caused(
            Kind::Refused,
            format!("cannot read the plan `{name}`"),
            &error,
        )
        .hint("check the path and the rights; a plan is a text file of a page or two")
    })?;
    let file: PlanFile = toml::from_str(&text).map_err(|error| {
        let error = wrong_with(&text, &error);
        usage(format!("the plan `{name}` cannot be understood: {error}"))
    })?;
    let path = path.to_owned();
    let plan = Written { file, path, text };
    let checked = plan.file.check();
    checked.map_err(|mistake| plan.wrong(&mistake))?;
    Ok(plan)
}

/// The recipe that a plan names, unchanged.
fn named_recipe(plan: &Written) -> Result<Recipe, CommandError> {
    let wanted = &plan.file.workload;
    let name = match (&wanted.preset, &wanted.recipe) {
        (Some(name), None) => {
            let preset = measure::preset(name);
            let preset = preset.ok_or_else(|| plan.at("workload.preset", no_preset(name)))?;
            return Ok(preset?);
        }
        (None, Some(name)) => name,
        _ => {
            let reason = "a plan's workload has a `preset` or a `recipe`";
            return Err(plan.wrong(&Mistake::at("workload", reason)));
        }
    };
    let folder = plan.path.parent().unwrap_or(Path::new(""));
    let shown = folder.join(name).display().to_string();
    let unread = |error: &(dyn std::error::Error + 'static)| {
        let text = format!("cannot read the recipe `{shown}`");
        let error = CommandError::caused(Kind::Refused, text, error).hint(
            "the recipe of a plan lies in the plan's folder or below it, without `..` and links",
        );
        plan.at("workload.recipe", error)
    };
    // A stranger's plan must not make us read any file there is.
    let opened = os::file::read_below(folder, Path::new(name));
    let opened = opened.map_err(|error| unread(&error))?;
    let text = input::text_of(&opened, input::TOML_BYTES_MAX);
    let text = text.map_err(|error| unread(&error))?;
    measure::recipe_named_by_a_file(&shown, &text).map_err(|error| {
        let more = "`linerate bench TARGET --recipe FILE --dry-run` shows the line";
        CommandError::from(error).hint(more)
    })
}

/// The tests that each visit of an arm makes.
pub fn recipe(plan: &Written, seconds: Option<f64>) -> Result<Recipe, CommandError> {
    let wanted = &plan.file.workload;
    // It made sense before: what does not is what the plan changed last.
    let fits = |recipe: &Recipe, key: &str| {
        recipe.check().map_err(|mistake| {
            let reason = format!("the plan's workload: {mistake}");
            plan.wrong(&Mistake::at(format!("workload.{key}"), reason))
        })
    };
    let mut recipe = named_recipe(plan)?;
    if let Some(names) = &wanted.tests {
        let missing = |name: &String| recipe.tests.iter().all(|test| test.name != *name);
        if let Some(at) = names.iter().position(missing) {
            let known = recipe.tests.iter().map(|test| format!("`{}`", test.name));
            let known: Vec<String> = known.collect();
            let reason = format!("{} has no test `{}`", recipe.title, names[at]);
            let error = plan.wrong(&Mistake::at(format!("workload.tests.{at}"), reason));
            return Err(error.hint(format!("its tests are {}", known.join(", "))));
        }
        recipe.tests.retain(|test| names.contains(&test.name));
        fits(&recipe, "tests")?;
    }
    if let Some(ways) = &wanted.directions {
        for test in &mut recipe.tests {
            test.directions.clone_from(ways);
        }
        fits(&recipe, "directions")?;
    }
    if let Some(size) = &wanted.file_size {
        recipe.file_size = record::parse_bytes(size).ok_or_else(|| {
            let reason = format!("`{size}` is no size such as `64 MiB`");
            plan.wrong(&Mistake::at("workload.file_size", reason))
        })?;
    }
    fits(&recipe, "file_size")?;
    recipe.seconds = wanted.seconds.unwrap_or(recipe.seconds);
    fits(&recipe, "seconds")?;
    recipe.warm_up_seconds = wanted.warm_up_seconds.unwrap_or(recipe.warm_up_seconds);
    fits(&recipe, "warm_up_seconds")?;
    recipe.seconds = seconds.unwrap_or(recipe.seconds);
    recipe
        .check()
        .map_err(|mistake| usage(mistake.to_string()))?;
    Ok(recipe)
}

/// What is measured, with its test and the way it goes.
type Measured<'a> = (Response, (&'a RecipeTest, Direction));

fn responses<'a>(recipe: &'a Recipe, target: &Target) -> Result<Vec<Measured<'a>>, Mistake> {
    let mut responses: Vec<Measured<'a>> = Vec::new();
    for step in recipe.steps() {
        let name = format!("{} {:?}", step.0.name, step.1).to_lowercase();
        if responses.iter().any(|(known, _)| known.name == name) {
            let reason =
                format!("two tests of the recipe are called `{name}` where case does not count");
            return Err(Mistake::at("workload", reason));
        }
        let workload = target.workload(recipe, step, None);
        responses.push((Response { name, workload }, step));
    }
    Ok(responses)
}

/// The whole experiment on this target; what a host lacks is left out and told.
pub fn design(
    plan: &Written,
    arguments: &ExperimentArguments,
    recipe: &Recipe,
    target: &Target,
    seed: u64,
) -> Result<Design, CommandError> {
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
    let mut design = Design {
        name: "design".into(),
        title: file.title.clone(),
        form: match whole_plots.is_empty() {
            true => found.form,
            false => format!("{}, split plot", found.form),
        },
        factors,
        aliases: found.aliases,
        left_out,
        responses,
        blocks: Vec::new(),
        arms,
        baseline_replicate,
        whole_plots,
        stop: StopRule {
            budget_seconds: file
                .budget_minutes
                .map(|minutes| (minutes * 60.0).ceil() as u64),
            width: file.width_percent.map(|percent| percent / 100.0),
        },
        band: file.band_percent / 100.0,
        published: file.published.clone(),
        figures,
    };
    check_arms(plan, &design)?;
    let asked = arguments.blocks.or(file.blocks);
    let blocks = asked.map_or_else(
        || usual_blocks(&design),
        |blocks| usize::try_from(blocks).unwrap_or(usize::MAX),
    );
    design.blocks = order(&design.arms, &design.whole_plots, blocks, seed);
    let fits = design.check();
    fits.map_err(|reason| {
        let reason = format!("what the plan makes cannot be analysed: {reason}");
        let place = file.blocks.map_or("factor", |_| "blocks");
        plan.wrong(&Mistake::at(place, reason))
    })?;
    Ok(design)
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
    left_out: &[String],
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
        let error = usage(error.to_string());
        match left_out.is_empty() {
            true => error,
            false => error.hint(format!(
                "what is left of the plan here is {}; left out: {}",
                names(factors),
                left_out.join("; ")
            )),
        }
    })?;
    if design == DesignKind::Fraction && too_few {
        let instead = format!(" instead of a fraction, which takes {FRACTION_FACTORS_MIN} factors");
        found.form.push_str(&instead);
    }
    Ok(found)
}

fn names(factors: &[Factor]) -> String {
    let names = factors.iter().map(|factor| format!("`{}`", factor.name));
    names.collect::<Vec<_>>().join(", ")
}

/// The factors that these hosts have, and why the others are left out.
fn factors(
    plan: &Written,
    target: &Target,
    responses: &[Response],
) -> Result<(Vec<Factor>, Vec<String>), CommandError> {
    let mut left_out = Vec::new();
    let mut lacking = None;
    let mut factors = Vec::new();
    for (index, file) in plan.file.factors.iter().enumerate() {
        match factor(file, target, responses) {
            Ok(factor) => factors.push(factor),
            Err((place, NoFactor::Wrong(error))) => {
                return Err(plan.at(&format!("factor.{index}.{place}"), error));
            }
            Err((place, NoFactor::Lacking(error))) => {
                let hint = error.next().map(str::to_owned);
                let reason = record::Failure::from(error).chain.join(": ");
                left_out.push(format!("{}: {reason}", file.name));
                lacking.get_or_insert((format!("factor.{index}.{place}"), hint));
            }
        }
    }
    match lacking {
        Some((place, hint)) if factors.is_empty() => {
            let text = format!(
                "nothing of the plan can be varied here: {}",
                left_out.join("; ")
            );
            let inspect = || "`linerate inspect HOST` shows what the hosts have".to_owned();
            let error = CommandError::new(Kind::Refused, text);
            Err(plan.at(&place, error.hint(hint.unwrap_or_else(inspect))))
        }
        _ => Ok((factors, left_out)),
    }
}

/// What was published of single levels, for each response that goes the same way.
fn figures(file: &PlanFile, responses: &[Measured<'_>]) -> Result<Vec<PublishedFigure>, Mistake> {
    for (at, factor) in file.factors.iter().enumerate() {
        for (number, level) in factor.levels.iter().enumerate() {
            let unknown =
                |name: &&String| responses.iter().all(|(_, (test, _))| test.name != **name);
            if let Some(name) = level.published.tests.keys().find(unknown) {
                let reason =
                    format!("something is published of `{name}`, and the plan has no such test");
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
            let whole = workload(&response.workload, &level).map_err(usage)?;
            measure::check(&whole).map_err(|error| {
                let text = format!("`{}` cannot be measured with {}", response.name, level.name);
                let error = CommandError::caused(Kind::Usage, text, &error)
                    .hint("take smaller numbers in the plan, or in its recipe");
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
            let whole = workload(&response.workload, level);
            whole.is_ok_and(|whole| measure::check(&whole).is_err())
        };
        let written = file.factors.iter().position(|it| it.name == factor.name);
        if let (Some(level), Some(at)) = (factor.levels.iter().position(fails), written) {
            return format!("factor.{at}.level.{level}.set");
        }
    }
    "factor".into()
}

/// Why there is no factor.
#[derive(Debug)]
enum NoFactor {
    /// These hosts do not have it: the rest is run without it.
    Lacking(CommandError),
    /// The plan makes no sense, or nobody knows what a host has.
    Wrong(CommandError),
}

impl From<CommandError> for NoFactor {
    fn from(error: CommandError) -> Self {
        Self::Wrong(error)
    }
}

impl From<host::Error> for NoFactor {
    fn from(error: host::Error) -> Self {
        use host::Error::{Refused, UnknownKnob};
        let of_another_system = |id: &KnobId| KNOBS.iter().any(|knob| knob.id == id.as_str());
        match &error {
            Refused {
                is_mistaken: true,
                hint,
                ..
            } => {
                let inspect = || "`linerate inspect HOST` shows what can be set there".to_owned();
                let wrong = CommandError::from_error(Kind::Usage, &error);
                Self::Wrong(wrong.hint(hint.clone().unwrap_or_else(inspect)))
            }
            Refused { .. } => Self::Lacking(error.into()),
            UnknownKnob { id, .. } if of_another_system(id) => Self::Lacking(error.into()),
            _ => Self::Wrong(error.into()),
        }
    }
}

/// A factor on these hosts: every level names the same settings, each with its value. Or why there is none,
/// and for what of the factor.
fn factor(
    file: &PlanFactor,
    target: &Target,
    responses: &[Response],
) -> Result<Factor, (String, NoFactor)> {
    let mut levels = Vec::new();
    for (number, level) in file.levels.iter().enumerate() {
        let place = |at| format!("level.{number}.set.{at}");
        let set = level.set.iter().enumerate();
        let set = set.map(|(at, text)| settings(text, target).map_err(|error| (place(at), error)));
        levels.push(Level {
            name: level.name.clone(),
            settings: set.collect::<Result<_, _>>()?,
        });
    }
    let hosts: Vec<Host> = target.hosts().into_iter().cloned().collect();
    let mut all: Vec<Setting> = Vec::new();
    for setting in levels.iter().flat_map(|level| &level.settings) {
        if !all.iter().any(|known| same_place(known, setting)) {
            all.push(setting.clone());
        }
    }
    let start = change::read_back(&hosts, &all);
    let start = start.map_err(|error| ("level".to_owned(), error.into()))?;
    for (number, level) in levels.iter_mut().enumerate() {
        let written = level.settings.len();
        let wrong = |reason| (format!("level.{number}.set"), usage(reason).into());
        for setting in &start {
            if level
                .settings
                .iter()
                .any(|known| same_place(known, setting))
            {
                continue;
            }
            if let Setting::Workload { field, .. } = setting {
                let name = &file.name;
                return Err(wrong(format!("each level of `{name}` must set `{field}`")));
            }
            level.settings.push(setting.clone());
        }
        for response in responses {
            workload(&response.workload, level).map_err(wrong)?;
        }
        // What is refused is known before anything is touched.
        Change::plan(&hosts, &level.settings, "plan").map_err(|error| {
            let refused = |setting| Change::plan(&hosts, std::slice::from_ref(setting), "plan");
            let mut own = level.settings.iter().take(written);
            let at = own.position(|setting| refused(setting).is_err());
            let at = at.map_or_else(String::new, |at| at.to_string());
            (format!("level.{number}.set.{at}"), error.into())
        })?;
    }
    Ok(Factor {
        name: file.name.clone(),
        levels,
    })
}

/// A workload with the fields that a level names.
pub fn workload(workload: &Workload, level: &Level) -> Result<Workload, String> {
    let mut workload = workload.clone();
    for setting in &level.settings {
        if let Setting::Workload { field, value } = setting {
            field::apply(&mut workload, field, value)?;
        }
    }
    Ok(workload)
}

fn same_place(one: &Setting, other: &Setting) -> bool {
    let place = |setting: &Setting| match setting {
        Setting::Knob {
            host, target, id, ..
        } => (Some((host.clone(), target.clone(), id.clone())), None),
        Setting::Workload { field, .. } => (None, Some(field.clone())),
    };
    place(one) == place(other)
}

/// Reads `client:ID@NAME=VALUE`, `server:ID=VALUE` or `workload:FIELD=VALUE`.
fn settings(text: &str, target: &Target) -> Result<Setting, NoFactor> {
    let wrong = || {
        usage(format!("`{text}` sets nothing")).hint(
            "write `client:nic.mtu@eth0=9000`, `server:smb.server.sendfile@media=on` or \
             `workload:channels=2`",
        )
    };
    let (place, rest) = text.split_once(':').ok_or_else(wrong)?;
    let host = match place {
        "client" => &target.client,
        "server" => target.server.as_ref().ok_or_else(|| {
            let text = format!("`{text}` needs a server that may be changed");
            let error = CommandError::new(Kind::Refused, text);
            NoFactor::Lacking(error.hint("name it with `--server HOST`"))
        })?,
        "workload" => {
            let (field, value) = rest.split_once('=').ok_or_else(wrong)?;
            return Ok(Setting::Workload {
                field: field.to_owned(),
                value: Value::Text(value.to_owned()),
            });
        }
        _ => return Err(wrong().into()),
    };
    let understood = change::understand(host, &[set::parse(rest)?])?;
    Ok(understood.into_iter().next().ok_or_else(wrong)?)
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use measure::Stop;
    use record::RecipeEngine;

    use super::*;
    use crate::args::{Arguments, Command, ExperimentCommand, LoginArguments, PathArguments};

    #[test]
    fn what_a_host_lacks_is_left_out_and_what_nobody_can_mean_is_not() {
        let here = PathArguments {
            client: "local".into(),
            server: None,
            login: LoginArguments::default(),
        };
        let engine = RecipeEngine::Tcp;
        let target = Target::open("tcp://127.0.0.1", &here, None, engine, &Stop::new()).unwrap();
        let found = |set: &str| {
            let text = format!("name = 'f'\n[[level]]\nname = '1'\nset = ['{set}']");
            match factor(&toml::from_str(&text).unwrap(), &target, &[]) {
                Ok(_) => "there",
                Err((_, NoFactor::Lacking(_))) => "left out",
                Err((_, NoFactor::Wrong(error))) => {
                    assert_eq!(error.kind(), Kind::Usage, "{error}");
                    "wrong"
                }
            }
        };
        for (set, wanted) in [
            ("client:tcp.sack=on", "there"),
            ("server:tcp.sack=on", "left out"),
            ("client:power.plan=balanced", "left out"),
            ("client:nic.mtu@none9=9000", "left out"),
            ("client:nic.mtu@lo=90000", "wrong"),
            ("client:tcp.congestion_control=none9", "left out"),
            ("client:tcp.sackk=on", "wrong"),
            ("client:tcp.sack=perhaps", "wrong"),
            ("client:tcp.timestamps=3", "wrong"),
            ("client:nic.mtu=9000", "wrong"),
        ] {
            assert_eq!(found(set), wanted, "{set}");
        }
        // A host that is lost may have all of it.
        let lost = host::Error::Timeout {
            argv: Vec::new(),
            limit: std::time::Duration::ZERO,
        };
        let NoFactor::Wrong(error) = lost.into() else {
            panic!("it is not known to lack anything");
        };
        assert_eq!(error.kind(), Kind::Unreachable);
    }

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
        let target = Target::open("tcp://127.0.0.1", path, None, engine, &Stop::new()).unwrap();
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

    #[test]
    fn the_examples_of_the_documentation_are_understood() {
        let page = include_str!("../../../../docs/files.md");
        let blocks = page.split("```toml\n").skip(1);
        let blocks: Vec<&str> = blocks.filter_map(|rest| rest.split("```").next()).collect();
        let [plan, recipe] = blocks.as_slice() else {
            panic!("{blocks:?}");
        };
        let plan: PlanFile = toml::from_str(plan).expect("as it is written");
        assert_eq!(plan.check(), Ok(()));
        let recipe = measure::recipe("files.md", recipe).expect("as it is written");
        assert_eq!(recipe.check(), Ok(()));
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
        let lacking = ["lro: not here".to_owned()];
        let fraction =
            |count, left_out: &[String]| combined(DesignKind::Fraction, &factors(count), left_out);
        let full = fraction(3, &lacking).unwrap();
        assert_eq!(full.arms.len(), 8);
        assert_eq!(
            full.form,
            "full factorial instead of a fraction, which takes 4 factors"
        );
        let fractional = fraction(4, &lacking).unwrap();
        assert_eq!(fractional.arms.len(), 8);
        assert!(fractional.form.starts_with("fractional"), "{fractional:?}");
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

    fn said(head: &str, factors: &[(&str, &[(&str, &str)])]) -> String {
        let mut text = format!("title = \"t\"\n{head}\n[workload]\npreset = \"cdm8\"\n");
        for (name, levels) in factors {
            text.push_str(&format!("[[factor]]\nname = \"{name}\"\n"));
            for (level, set) in *levels {
                text.push_str(&format!(
                    "[[factor.level]]\nname = \"{level}\"\nset = [{set}]\n"
                ));
            }
        }
        let plan: PlanFile = toml::from_str(&text).unwrap();
        let mistake = plan.check().err();
        mistake.map_or_else(String::new, |mistake| mistake.to_string())
    }

    #[test]
    fn nonsense_is_refused_before_any_host_is_asked() {
        const ONE: (&str, &str) = ("1", "'workload:depth=1'");
        const EIGHT: (&str, &str) = ("8", "'workload:depth=8'");
        let depth: (&str, &[_]) = ("depth", &[ONE, EIGHT]);
        assert_eq!(said("", &[depth]), "");
        let heads = [
            ("blocks = 0", "`blocks` must be 1 to 1000, not 0"),
            (
                "blocks = 4000000000",
                "`blocks` must be 1 to 1000, not 4000000000",
            ),
            (
                "budget_minutes = 0",
                "`budget_minutes` must be above 0 and at most 10080, not 0",
            ),
            (
                "budget_minutes = nan",
                "`budget_minutes` must be above 0 and at most 10080, not NaN",
            ),
            (
                "width_percent = -1",
                "`width_percent` must be above 0 and at most 100, not -1",
            ),
            (
                "band_percent = 100",
                "`band_percent` must be 0 or more and below 100, not 100",
            ),
        ];
        for (head, expected) in heads {
            assert_eq!(said(head, &[depth]), expected);
        }
        let levels: [(&[_], &str); 7] = [
            (&[ONE], "`f` has 1 levels; 2 to 64 are possible"),
            (
                &[ONE, ("1", "'workload:depth=2'")],
                "two levels of `f` are called `1`",
            ),
            (
                &[ONE, ("2", ONE.1)],
                "the levels `1` and `2` of `f` set the same",
            ),
            (
                &[ONE, ("", EIGHT.1)],
                "a level of `f` is called ``: it needs a name",
            ),
            (
                &[ONE, ("N/A", EIGHT.1)],
                "a level of `f` is called `N/A`: that means `not measured` in a table; take another word",
            ),
            (
                &[ONE, ("8 ", EIGHT.1)],
                "a level of `f` is called `8 `: it has spaces at an end, or something that cannot be printed",
            ),
            (
                &[ONE, ("2", "'workload:depth=2', 'workload:depth=3'")],
                "level `2` of `f` sets `workload:depth` twice",
            ),
        ];
        for (levels, expected) in levels {
            assert_eq!(said("", &[("f", levels)]), expected);
        }
        assert_eq!(said("", &[depth, depth]), "two factors are called `depth`");
        assert_eq!(
            said("", &[depth, ("other", depth.1)]),
            "`depth` and `other` both set `workload:depth`"
        );
        assert_eq!(
            said("", &[("block", depth.1)]),
            "a factor cannot be called `block`"
        );
        assert_eq!(
            said("", &[("a:b", depth.1)]),
            "a factor is called `a:b`: `a:b` is how two factors act together; take another sign"
        );
        assert_eq!(
            said("factor = []", &[]),
            "it has 0 factors; 1 to 32 are possible"
        );
        assert_eq!(
            said(&format!("published = '{}'", "x".repeat(501)), &[depth]),
            "its title and what was published are text of one line, 500 characters at most"
        );
    }
}
