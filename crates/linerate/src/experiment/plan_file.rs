//! Plans in TOML, as they are written, and the recipe of their workload.

use std::path::{Path, PathBuf};

use locale::{Message, say};
use record::toml_mistake::{line_of, wrong_with};
use record::{Mistake, PlanFile, Recipe, bounded_read};

use crate::bench::no_preset;
use crate::failure::{CommandError, Kind};

pub(super) fn usage(text: impl Into<Message>) -> CommandError {
    CommandError::new(Kind::Usage, text).hint(say("hint-plan.examples"))
}

/// A plan, and the file that it stands in.
pub struct Written {
    pub file: PlanFile,
    pub(super) path: PathBuf,
    pub(super) text: String,
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
        let plan = self.path.display().to_string();
        let doing = say("error-plan.plan-line").with("plan", plan);
        error.while_doing(doing.count("line", line))
    }

    pub(super) fn wrong(&self, mistake: &Mistake) -> CommandError {
        self.on_line(mistake.line_in(&self.text), usage(mistake.message()))
    }
}

/// Reads a plan.
pub fn read(path: &Path) -> Result<Written, CommandError> {
    let name = path.display().to_string();
    let text = bounded_read::text(path, bounded_read::TOML_BYTES_MAX).map_err(|error| {
        let text = say("error-plan.plan-unread").with("plan", &name);
        CommandError::caused(Kind::Refused, text, &error).hint(say("hint-plan.plan-file"))
    })?;
    let file: PlanFile = toml::from_str(&text).map_err(|error| {
        let unclear = say("error-plan.plan-unclear").with("plan", &name);
        usage(unclear.with("reason", wrong_with(&text, &error)))
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
            return preset.map_err(|error| plan.at("workload.preset", error.into()));
        }
        (None, Some(name)) => name,
        _ => {
            let reason = say("error-plan.preset-or-recipe");
            return Err(plan.wrong(&Mistake::at("workload", reason)));
        }
    };
    let folder = plan.path.parent().unwrap_or(Path::new(""));
    let shown = folder.join(name).display().to_string();
    let unread = |error: &(dyn std::error::Error + 'static)| {
        let text = say("error-plan.recipe-unread").with("path", &shown);
        let error = CommandError::caused(Kind::Refused, text, error);
        plan.at(
            "workload.recipe",
            error.hint(say("hint-plan.recipe-of-plan")),
        )
    };
    // A stranger's plan must not make us read any file there is.
    let opened = os::file::read_below(folder, Path::new(name));
    let opened = opened.map_err(|error| unread(&error))?;
    let text = bounded_read::text_of(&opened, bounded_read::TOML_BYTES_MAX);
    let text = text.map_err(|error| unread(&error))?;
    measure::recipe_named_by_a_file(&shown, &text)
        .map_err(|error| CommandError::from(error).hint(say("hint-plan.recipe-line")))
}

/// The tests that each visit of an arm makes.
pub fn recipe(plan: &Written, seconds: Option<f64>) -> Result<Recipe, CommandError> {
    let wanted = &plan.file.workload;
    // It made sense before: what does not is what the plan changed last.
    let fits = |recipe: &Recipe, key: &str| {
        recipe.check().map_err(|mistake| {
            let reason = say("error-plan.workload-of-plan").with("mistake", mistake.message());
            plan.wrong(&Mistake::at(format!("workload.{key}"), reason))
        })
    };
    let mut recipe = named_recipe(plan)?;
    if let Some(names) = &wanted.tests {
        let missing = |name: &String| recipe.tests.iter().all(|test| test.name != *name);
        if let Some(at) = names.iter().position(missing) {
            let known = recipe.tests.iter().map(|test| format!("`{}`", test.name));
            let known: Vec<String> = known.collect();
            let reason = say("error-plan.no-test").with("recipe", &recipe.title);
            let reason = reason.with("test", &names[at]);
            let error = plan.wrong(&Mistake::at(format!("workload.tests.{at}"), reason));
            return Err(error.hint(say("hint-plan.its-tests").with("names", known)));
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
            let reason = say("error-plan.no-such-size").with("size", size);
            plan.wrong(&Mistake::at("workload.file_size", reason))
        })?;
    }
    fits(&recipe, "file_size")?;
    recipe.seconds = wanted.seconds.unwrap_or(recipe.seconds);
    fits(&recipe, "seconds")?;
    recipe.warm_up_seconds = wanted.warm_up_seconds.unwrap_or(recipe.warm_up_seconds);
    fits(&recipe, "warm_up_seconds")?;
    recipe.seconds = seconds.unwrap_or(recipe.seconds);
    recipe.check().map_err(|mistake| usage(mistake.message()))?;
    Ok(recipe)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    const ONE: (&str, &str) = ("1", "'workload:depth=1'");
    const EIGHT: (&str, &str) = ("8", "'workload:depth=8'");
    const DEPTH: (&str, &[(&str, &str)]) = ("depth", &[ONE, EIGHT]);

    #[test]
    fn numbers_out_of_bounds_are_refused_before_any_host_is_asked() {
        assert_eq!(said("", &[DEPTH]), "");
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
            assert_eq!(said(head, &[DEPTH]), expected);
        }
        assert_eq!(
            said(&format!("published = '{}'", "x".repeat(501)), &[DEPTH]),
            "its title and what was published are text of one line, 500 characters at most"
        );
    }

    #[test]
    fn levels_that_make_no_sense_are_refused_before_any_host_is_asked() {
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
    }

    #[test]
    fn factors_that_make_no_sense_are_refused_before_any_host_is_asked() {
        assert_eq!(said("", &[DEPTH, DEPTH]), "two factors are called `depth`");
        assert_eq!(
            said("", &[DEPTH, ("other", DEPTH.1)]),
            "`depth` and `other` both set `workload:depth`"
        );
        assert_eq!(
            said("", &[("block", DEPTH.1)]),
            "a factor cannot be called `block`"
        );
        assert_eq!(
            said("", &[("a:b", DEPTH.1)]),
            "a factor is called `a:b`: `a:b` is how two factors act together; take another sign"
        );
        assert_eq!(
            said("factor = []", &[]),
            "it has 0 factors; 1 to 32 are possible"
        );
    }
}
