//! Plans in TOML, and what they mean on these hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use experiment::{Combination, combine, order, whole_plots};
use host::Host;
use host::change::{self, Change};
use record::{
    Design, Direction, Factor, Level, Recipe, Response, Setting, StopRule, Value, Workload,
};
use serde::Deserialize;

use super::field;
use crate::args::ExperimentArguments;
use crate::bench::recipe::Target;
use crate::failure::{CommandError, Kind};
use crate::set;

/// A plan is a page or two.
const PLAN_BYTES_MAX: u64 = 1 << 20;
const BLOCKS_MAX: u32 = 1000;
/// A week.
const BUDGET_MINUTES_MAX: f64 = 7.0 * 24.0 * 60.0;
const CHANNELS_MAX: u32 = 32;
/// What the table of an experiment calls its own columns.
const RESERVED: [&str; 2] = ["block", "plot"];

/// A plan as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// What it is about.
    pub title: String,
    /// Share, folder or `tcp://ADDRESS`.
    pub target: Option<String>,
    #[serde(default)]
    design: DesignKind,
    #[serde(default = "blocks")]
    blocks: u32,
    /// Of the random order.
    pub seed: Option<u64>,
    budget_minutes: Option<f64>,
    width_percent: Option<f64>,
    #[serde(default = "band")]
    band_percent: f64,
    #[serde(default = "yes")]
    noise: bool,
    published: Option<String>,
    workload: WorkloadFile,
    #[serde(rename = "factor")]
    factors: Vec<FactorFile>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DesignKind {
    #[default]
    Full,
    Fraction,
    OneAtATime,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadFile {
    preset: Option<String>,
    recipe: Option<String>,
    tests: Option<Vec<String>>,
    directions: Option<Vec<Direction>>,
    seconds: Option<f64>,
    warm_up_seconds: Option<f64>,
    file_size: Option<String>,
    channels: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FactorFile {
    name: String,
    #[serde(rename = "level")]
    levels: Vec<LevelFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelFile {
    name: String,
    #[serde(default)]
    set: Vec<String>,
}

const fn blocks() -> u32 {
    6
}

const fn band() -> f64 {
    2.0
}

const fn yes() -> bool {
    true
}

fn usage(text: String) -> CommandError {
    CommandError::new(Kind::Usage, text).hint("the plans in `plans/` are examples")
}

fn no_preset(name: &str) -> CommandError {
    let known: Vec<&str> = measure::PRESETS.iter().map(|preset| preset.name).collect();
    usage(format!("there is no preset `{name}`")).hint(format!("there are: {}", known.join(", ")))
}

/// Reads a plan.
pub fn read(path: &Path) -> Result<PlanFile, CommandError> {
    let name = path.display();
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(PLAN_BYTES_MAX).read_to_string(&mut text))
        .map_err(|error| {
            CommandError::caused(
                Kind::Refused,
                format!("cannot read the plan `{name}`"),
                &error,
            )
            .hint("check the path and the rights; a plan is a text file")
        })?;
    let plan: PlanFile = toml::from_str(&text).map_err(|error| {
        let error = error.to_string();
        usage(format!(
            "the plan `{name}` cannot be understood: {}",
            error.trim_end()
        ))
    })?;
    plan.check()
        .map_err(|reason| usage(format!("the plan `{name}`: {reason}")))?;
    Ok(plan)
}

impl PlanFile {
    /// What is wrong with it on any host, in a sentence.
    fn check(&self) -> Result<(), String> {
        let within = |name: &str, value: Option<f64>, most: f64| match value {
            Some(value) if !(value > 0.0 && value <= most) => Err(format!(
                "`{name}` must be above 0 and at most {most}, not {value}"
            )),
            _ => Ok(()),
        };
        within("budget_minutes", self.budget_minutes, BUDGET_MINUTES_MAX)?;
        within("width_percent", self.width_percent, 100.0)?;
        if !(0.0..100.0).contains(&self.band_percent) {
            let band = self.band_percent;
            return Err(format!(
                "`band_percent` must be 0 or more and below 100, not {band}"
            ));
        }
        let counts = [
            ("blocks", self.blocks, BLOCKS_MAX),
            ("channels", self.channels(), CHANNELS_MAX),
        ];
        for (name, count, most) in counts {
            if !(1..=most).contains(&count) {
                return Err(format!("`{name}` must be 1 to {most}, not {count}"));
            }
        }
        let mut names = BTreeSet::new();
        let mut places: BTreeMap<&str, &str> = BTreeMap::new();
        for factor in &self.factors {
            let name = factor.name.as_str();
            if name.trim().is_empty() || RESERVED.contains(&name) {
                return Err(format!("a factor cannot be called `{name}`"));
            }
            if !names.insert(name) {
                return Err(format!("two factors are called `{name}`"));
            }
            for place in factor.check()? {
                match places.insert(place, name) {
                    Some(other) if other != name => {
                        return Err(format!("`{other}` and `{name}` both set `{place}`"));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The tests that each visit of an arm makes.
    pub fn recipe(&self, path: &Path, seconds: Option<f64>) -> Result<Recipe, CommandError> {
        let wanted = &self.workload;
        let mut recipe = match (&wanted.preset, &wanted.recipe) {
            (Some(name), None) => measure::preset(name).ok_or_else(|| no_preset(name))??,
            (None, Some(file)) => {
                let file = path.parent().unwrap_or(Path::new("")).join(file);
                let text = std::fs::read_to_string(&file).map_err(|error| {
                    let text = format!("cannot read the recipe `{}`", file.display());
                    CommandError::caused(Kind::Refused, text, &error)
                        .hint("the path is taken from the folder of the plan")
                })?;
                measure::recipe(&file.display().to_string(), &text)?
            }
            _ => {
                return Err(usage(
                    "a plan's workload has a `preset` or a `recipe`".into(),
                ));
            }
        };
        if let Some(names) = &wanted.tests {
            if let Some(unknown) = names
                .iter()
                .find(|name| recipe.tests.iter().all(|test| test.name != **name))
            {
                let known = recipe.tests.iter().map(|test| format!("`{}`", test.name));
                let known: Vec<String> = known.collect();
                return Err(usage(format!("{} has no test `{unknown}`", recipe.title))
                    .hint(format!("its tests are {}", known.join(", "))));
            }
            recipe.tests.retain(|test| names.contains(&test.name));
        }
        if let Some(ways) = &wanted.directions {
            for test in &mut recipe.tests {
                test.directions.clone_from(ways);
            }
        }
        if let Some(size) = &wanted.file_size {
            recipe.file_size = record::parse_bytes(size)
                .ok_or_else(|| usage(format!("`{size}` is no size such as `64 MiB`")))?;
        }
        recipe.seconds = seconds.or(wanted.seconds).unwrap_or(recipe.seconds);
        recipe.warm_up_seconds = wanted.warm_up_seconds.unwrap_or(recipe.warm_up_seconds);
        recipe
            .check()
            .map_err(|reason| usage(format!("the plan's workload: {reason}")))?;
        Ok(recipe)
    }

    /// Most channels of a share.
    pub fn channels(&self) -> u32 {
        self.workload.channels.unwrap_or(1)
    }

    /// The whole experiment on this target; what a host lacks is left out and told.
    pub fn design(
        &self,
        arguments: &ExperimentArguments,
        recipe: &Recipe,
        target: &Target,
        seed: u64,
    ) -> Result<Design, CommandError> {
        let responses: Vec<Response> = recipe
            .steps()
            .into_iter()
            .map(|step| Response {
                name: format!("{} {:?}", step.0.name, step.1).to_lowercase(),
                workload: target.workload(recipe, step, None),
            })
            .collect();
        let mut left_out = Vec::new();
        let mut factors = Vec::new();
        for file in &self.factors {
            match factor(file, target, &responses) {
                Ok(factor) => factors.push(factor),
                Err(error) if error.kind() == Kind::Usage => return Err(error),
                Err(error) => {
                    let reason = record::Failure::from(error).chain.join(": ");
                    left_out.push(format!("{}: {reason}", file.name));
                }
            }
        }
        if factors.is_empty() {
            let text = format!(
                "nothing of the plan can be varied here: {}",
                left_out.join("; ")
            );
            return Err(CommandError::new(Kind::Refused, text).hint(
                "name the hosts that may be changed with `--client` and `--server`; `linerate \
                 inspect` shows what they have",
            ));
        }
        let named: Vec<(&str, usize)> = factors
            .iter()
            .map(|factor| (factor.name.as_str(), factor.levels.len()))
            .collect();
        let combination = match self.design {
            DesignKind::Full => Combination::Full,
            DesignKind::Fraction => Combination::Fraction,
            DesignKind::OneAtATime => Combination::OneAtATime,
        };
        let found = combine(&named, combination).map_err(|error| usage(error.to_string()))?;
        let mut arms = found.arms;
        let again = self
            .noise
            .then(|| u32::try_from(arms.len()).unwrap_or(u32::MAX));
        if self.noise {
            arms.extend(arms.first().cloned());
        }
        let whole_plots = whole_plots(&factors);
        let blocks = arguments.blocks.unwrap_or(self.blocks);
        Ok(Design {
            name: "design".into(),
            title: self.title.clone(),
            form: match whole_plots.is_empty() {
                true => found.form,
                false => format!("{}, split plot", found.form),
            },
            factors,
            aliases: found.aliases,
            left_out,
            responses,
            blocks: order(
                &arms,
                &whole_plots,
                usize::try_from(blocks).unwrap_or(usize::MAX),
                seed,
            ),
            arms,
            again,
            whole_plots,
            stop: StopRule {
                budget_seconds: self
                    .budget_minutes
                    .map(|minutes| (minutes * 60.0).ceil() as u64),
                width: self.width_percent.map(|percent| percent / 100.0),
            },
            band: self.band_percent / 100.0,
            published: self.published.clone(),
        })
    }
}

impl FactorFile {
    /// What its levels set, without the values; or what is wrong with them.
    fn check(&self) -> Result<BTreeSet<&str>, String> {
        let factor = &self.name;
        if self.levels.len() < 2 {
            return Err(format!("`{factor}` needs two levels at least"));
        }
        let mut all = BTreeSet::new();
        for (index, level) in self.levels.iter().enumerate() {
            let name = &level.name;
            if name.trim().is_empty() {
                return Err(format!("a level of `{factor}` has no name"));
            }
            for other in &self.levels[..index] {
                if other.name == *name {
                    return Err(format!("two levels of `{factor}` are called `{name}`"));
                }
                if other.set == level.set {
                    return Err(format!(
                        "the levels `{}` and `{name}` of `{factor}` set the same",
                        other.name
                    ));
                }
            }
            let mut own = BTreeSet::new();
            for text in &level.set {
                let place = text
                    .split_once('=')
                    .map_or(text.as_str(), |(place, _)| place);
                if !own.insert(place) {
                    return Err(format!("level `{name}` of `{factor}` sets `{place}` twice"));
                }
            }
            all.extend(own);
        }
        Ok(all)
    }
}

/// A host that does not have something, in the words of the error.
fn lacks(error: host::Error) -> CommandError {
    CommandError::from_error(Kind::Refused, &error)
}

/// A factor on these hosts: every level names the same settings, each with its value.
fn factor(
    file: &FactorFile,
    target: &Target,
    responses: &[Response],
) -> Result<Factor, CommandError> {
    let mut levels = Vec::new();
    for level in &file.levels {
        let settings = level.set.iter().map(|text| settings(text, target));
        let settings: Vec<Setting> = settings.collect::<Result<_, _>>()?;
        levels.push(Level {
            name: level.name.clone(),
            settings,
        });
    }
    let hosts: Vec<Host> = target.hosts().into_iter().cloned().collect();
    let mut all: Vec<Setting> = Vec::new();
    for setting in levels.iter().flat_map(|level| &level.settings) {
        if !all.iter().any(|known| same_place(known, setting)) {
            all.push(setting.clone());
        }
    }
    let start = change::read_back(&hosts, &all).map_err(lacks)?;
    for level in &mut levels {
        for setting in &start {
            if level
                .settings
                .iter()
                .any(|known| same_place(known, setting))
            {
                continue;
            }
            if let Setting::Workload { field, .. } = setting {
                return Err(usage(format!(
                    "each level of `{}` must set `{field}`",
                    file.name
                )));
            }
            level.settings.push(setting.clone());
        }
        for response in responses {
            workload(&response.workload, level).map_err(usage)?;
        }
        // What is refused is known before anything is touched.
        Change::plan(&hosts, &level.settings, "plan").map_err(lacks)?;
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
fn settings(text: &str, target: &Target) -> Result<Setting, CommandError> {
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
            CommandError::new(
                Kind::Refused,
                format!("`{text}` needs a server that may be changed"),
            )
            .hint("name it with `--server HOST`")
        })?,
        "workload" => {
            let (field, value) = rest.split_once('=').ok_or_else(wrong)?;
            return Ok(Setting::Workload {
                field: field.to_owned(),
                value: Value::Text(value.to_owned()),
            });
        }
        _ => return Err(wrong()),
    };
    let understood = change::understand(host, &[set::parse(rest)?]).map_err(lacks)?;
    understood.into_iter().next().ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        plan.check().err().unwrap_or_default()
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
        let levels: [(&[_], &str); 5] = [
            (&[ONE], "`f` needs two levels at least"),
            (
                &[ONE, ("1", "'workload:depth=2'")],
                "two levels of `f` are called `1`",
            ),
            (
                &[ONE, ("2", ONE.1)],
                "the levels `1` and `2` of `f` set the same",
            ),
            (&[ONE, ("", EIGHT.1)], "a level of `f` has no name"),
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
    }
}
