//! The plan of an experiment as people write it down.

use std::collections::{BTreeMap, BTreeSet};

use locale::{Message, say};
use serde::Deserialize;

use crate::{Direction, Mistake};

const BLOCKS_MAX: u32 = 1000;
/// A week.
const BUDGET_MINUTES_MAX: f64 = 7.0 * 24.0 * 60.0;
const CHANNELS_MAX: u32 = 32;
/// More than any design takes.
const FACTORS_MAX: usize = 32;
const LEVELS_MAX: usize = 64;
const SETTINGS_MAX: usize = 256;
const NAME_CHARS_MAX: usize = 60;
/// A line or two.
const TEXT_CHARS_MAX: usize = 500;
/// What the table of an experiment calls its own columns.
const RESERVED: [&str; 2] = ["block", "plot"];
/// What stands for no value in a table, in whatever case.
const MISSING: [&str; 3] = ["na", "n/a", "nan"];

/// A plan as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// What it is about.
    pub title: String,
    /// Share, folder or `tcp://ADDRESS`.
    pub target: Option<String>,
    /// How the levels of its factors are combined.
    #[serde(default)]
    pub design: DesignKind,
    /// Blocks: each holds every arm once. Where it is left open, as many as its effects need.
    pub blocks: Option<u32>,
    /// Of the random order.
    pub seed: Option<u64>,
    /// It ends earlier once it has taken so long.
    pub budget_minutes: Option<f64>,
    /// It ends earlier once every interval of a main effect is narrower than this.
    pub width_percent: Option<f64>,
    /// Half width of practical equivalence.
    #[serde(default = "band")]
    pub band_percent: f64,
    /// Whether the baseline is measured twice in each block.
    #[serde(default = "yes")]
    pub noise: bool,
    /// What others published about the same question.
    pub published: Option<String>,
    /// What is measured.
    pub workload: PlanWorkload,
    /// What is varied.
    #[serde(rename = "factor")]
    pub factors: Vec<PlanFactor>,
}

/// How levels are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DesignKind {
    /// Each with each.
    #[default]
    Full,
    /// So few that main effects are told from interactions of two.
    Fraction,
    /// One factor moves at a time.
    OneAtATime,
}

/// The tests of a recipe that each visit of an arm makes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanWorkload {
    /// A recipe that comes with the program.
    pub preset: Option<String>,
    /// The file of another one, from the folder of the plan.
    pub recipe: Option<String>,
    /// Of its tests, only these.
    pub tests: Option<Vec<String>>,
    /// Which way they go, instead of what the recipe says.
    pub directions: Option<Vec<Direction>>,
    /// Seconds of a trial.
    pub seconds: Option<f64>,
    /// Seconds before them that do not count.
    pub warm_up_seconds: Option<f64>,
    /// Size of the test file, with its unit.
    pub file_size: Option<String>,
    /// Most channels of a share.
    pub channels: Option<u32>,
}

/// Something that is varied.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFactor {
    /// Its name.
    pub name: String,
    /// What it is set to in turn; the first is what the others are compared with.
    #[serde(rename = "level")]
    pub levels: Vec<PlanLevel>,
}

/// A list of settings with a name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanLevel {
    /// Its name.
    pub name: String,
    /// Its settings, as `PLACE:WHAT=VALUE`.
    #[serde(default)]
    pub set: Vec<String>,
    /// What others published of this level against the first one.
    #[serde(default)]
    pub published: PublishedLevel,
}

/// Published figures of a level, as they were published.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedLevel {
    /// Of reading.
    pub read: Option<String>,
    /// Of writing.
    pub write: Option<String>,
    /// Of single tests, for which those above do not stand.
    #[serde(default)]
    pub tests: BTreeMap<String, PublishedTest>,
}

/// Published figures of one test.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedTest {
    /// Of reading.
    pub read: Option<String>,
    /// Of writing.
    pub write: Option<String>,
}

impl PublishedLevel {
    /// The figure of a test that goes one way.
    #[must_use]
    pub fn of(&self, test: &str, direction: Direction) -> Option<&str> {
        let own = self.tests.get(test).map(|test| (&test.read, &test.write));
        let (read, write) = own.unwrap_or((&self.read, &self.write));
        match direction {
            Direction::Read => read.as_deref(),
            Direction::Write => write.as_deref(),
        }
    }

    fn check(&self) -> Result<(), Mistake> {
        let own = (String::new(), &self.read, &self.write);
        let tests = self.tests.iter();
        let tests = tests.map(|(name, test)| (format!("tests.{name}."), &test.read, &test.write));
        for (place, read, write) in std::iter::once(own).chain(tests) {
            for (key, text) in [("read", read), ("write", write)] {
                check_line(
                    &format!("{place}{key}"),
                    text.as_deref().unwrap_or_default(),
                )?;
            }
        }
        Ok(())
    }
}

const fn band() -> f64 {
    2.0
}

const fn yes() -> bool {
    true
}

impl PlanFile {
    /// Most channels of a share.
    #[must_use]
    pub fn channels(&self) -> u32 {
        self.workload.channels.unwrap_or(1)
    }

    /// Says what is wrong with it on any host, if something is.
    ///
    /// # Errors
    /// What is wrong, in a sentence, and where it stands.
    pub fn check(&self) -> Result<(), Mistake> {
        self.check_numbers()?;
        check_line("title", &self.title)?;
        check_line("published", self.published.as_deref().unwrap_or_default())?;
        if self.factors.is_empty() || self.factors.len() > FACTORS_MAX {
            let reason = say("error-mistake.factors")
                .count("count", self.factors.len())
                .count("most", FACTORS_MAX);
            return Err(Mistake::at("factor", reason));
        }
        let mut names = BTreeSet::new();
        let mut places: BTreeMap<&str, &str> = BTreeMap::new();
        for (index, factor) in self.factors.iter().enumerate() {
            let here = format!("factor.{index}");
            let name = factor.name.as_str();
            let wrong = |reason: Message| {
                let reason = reason.with("name", name);
                Mistake::at("name", reason).within(&here)
            };
            check_name(name)
                .map_err(|reason| wrong(say("error-mistake.factor-name").with("reason", reason)))?;
            if RESERVED.contains(&name) {
                return Err(wrong(say("error-mistake.factor-reserved")));
            }
            if !names.insert(name) {
                return Err(wrong(say("error-mistake.factor-again")));
            }
            let set = factor.check().map_err(|mistake| mistake.within(&here))?;
            for (place, written) in set {
                if let Some(other) = places.insert(place, name) {
                    let reason = say("error-mistake.both-set")
                        .with("other", other)
                        .with("name", name)
                        .with("place", place);
                    return Err(Mistake::at(written, reason).within(&here));
                }
            }
        }
        Ok(())
    }

    fn check_numbers(&self) -> Result<(), Mistake> {
        let within = |name: &str, value: Option<f64>, most: f64| match value {
            Some(value) if !(value > 0.0 && value <= most) => {
                let reason = say("error-mistake.above-zero")
                    .with("name", name)
                    .with("most", most.to_string())
                    .with("value", value.to_string());
                Err(Mistake::at(name, reason))
            }
            _ => Ok(()),
        };
        within("budget_minutes", self.budget_minutes, BUDGET_MINUTES_MAX)?;
        within("width_percent", self.width_percent, 100.0)?;
        if !(0.0..100.0).contains(&self.band_percent) {
            let reason = say("error-mistake.band").with("band", self.band_percent.to_string());
            return Err(Mistake::at("band_percent", reason));
        }
        let channels = ("workload.", "channels", self.channels(), CHANNELS_MAX);
        let blocks = self.blocks.map(|count| ("", "blocks", count, BLOCKS_MAX));
        for (table, name, count, most) in blocks.into_iter().chain([channels]) {
            if !(1..=most).contains(&count) {
                let reason = say("error-mistake.number")
                    .with("name", name)
                    .count("most", most)
                    .count("count", count);
                return Err(Mistake::at(format!("{table}{name}"), reason));
            }
        }
        Ok(())
    }
}

impl PlanFactor {
    /// What its levels set, without the values, and where it stands; or what is wrong with them.
    fn check(&self) -> Result<BTreeMap<&str, String>, Mistake> {
        let factor = &self.name;
        if !(2..=LEVELS_MAX).contains(&self.levels.len()) {
            let reason = say("error-mistake.levels")
                .with("factor", factor)
                .count("count", self.levels.len())
                .count("most", LEVELS_MAX);
            return Err(Mistake::at("level", reason));
        }
        let mut all = BTreeMap::new();
        for (index, level) in self.levels.iter().enumerate() {
            let here = format!("level.{index}");
            let name = &level.name;
            let wrong = |key: &str, reason: Message| {
                let reason = reason.with("factor", factor).with("name", name);
                Mistake::at(key, reason).within(&here)
            };
            check_name(name).map_err(|reason| {
                let reason = say("error-mistake.level-name").with("reason", reason);
                wrong("name", reason)
            })?;
            let published = level.published.check();
            published.map_err(|mistake| mistake.within("published").within(&here))?;
            for other in self.levels.iter().take(index) {
                if other.name == *name {
                    return Err(wrong("name", say("error-mistake.level-again")));
                }
                if other.set == level.set {
                    let reason = say("error-mistake.levels-alike").with("other", &other.name);
                    return Err(wrong("set", reason));
                }
            }
            let set = level
                .check(factor)
                .map_err(|mistake| mistake.within(&here))?;
            for (place, written) in set {
                all.entry(place).or_insert(format!("{here}.{written}"));
            }
        }
        Ok(all)
    }
}

impl PlanLevel {
    fn check(&self, factor: &str) -> Result<BTreeMap<&str, String>, Mistake> {
        let name = &self.name;
        if self.set.len() > SETTINGS_MAX {
            let reason = say("error-mistake.settings")
                .with("name", name)
                .with("factor", factor)
                .count("most", SETTINGS_MAX);
            return Err(Mistake::at("set", reason));
        }
        let mut own = BTreeMap::new();
        for (index, text) in self.set.iter().enumerate() {
            let written = format!("set.{index}");
            let place = text.split_once('=');
            let place = place.map_or(text.as_str(), |(place, _)| place);
            if own.insert(place, written.clone()).is_some() {
                let reason = say("error-mistake.set-again")
                    .with("name", name)
                    .with("factor", factor)
                    .with("place", place);
                return Err(Mistake::at(written, reason));
            }
        }
        Ok(own)
    }
}

/// What cannot be a column or a cell of the experiment's table: it would be read as something else.
fn check_name(name: &str) -> Result<(), Message> {
    if name.trim().is_empty() {
        return Err(say("error-mistake.no-name"));
    }
    if MISSING.iter().any(|word| name.eq_ignore_ascii_case(word)) {
        return Err(say("error-mistake.name-of-nothing"));
    }
    if name.trim() != name || name.contains(char::is_control) {
        return Err(say("error-mistake.name-unprintable"));
    }
    if name.contains(':') {
        return Err(say("error-mistake.name-of-pair"));
    }
    if name.chars().count() > NAME_CHARS_MAX {
        return Err(say("error-mistake.name-long").count("most", NAME_CHARS_MAX));
    }
    Ok(())
}

fn check_line(place: &str, text: &str) -> Result<(), Mistake> {
    match text.chars().count() > TEXT_CHARS_MAX || text.contains(char::is_control) {
        true => {
            let reason = say("error-mistake.one-line").count("most", TEXT_CHARS_MAX);
            Err(Mistake::at(place, reason))
        }
        false => Ok(()),
    }
}
