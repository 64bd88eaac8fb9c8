//! A benchmark as people write it down: tests, how often, what counts.

use locale::say;
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{Bytes, Cache, Data, Direction, Mistake, Pattern, Task};

/// Most tests of a recipe, and most passes of a test.
const TESTS_MAX: usize = 200;
const PASSES_MAX: u32 = 1_000;
/// Largest test file, and most operations under way or streams of raw TCP.
const FILE_BYTES_MAX: u64 = 1 << 44;
const UNDER_WAY_MAX: u32 = 512;
const STREAMS_MAX: u32 = 128;

/// What carries the tests out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecipeEngine {
    /// Operations on a test file, or tasks on whole files: of a share, a folder or a disk, whatever the
    /// target is.
    #[default]
    File,
    /// Raw TCP by the iperf3 protocol.
    Tcp,
}

/// The figure that the original prints of its passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// The fastest pass, and the shortest of the passes' mean latencies, each on its own.
    Best,
    /// The mean of the passes.
    Mean,
    /// The median of the passes.
    #[default]
    Median,
}

/// The order of the tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// All tests one way, then all the other way.
    #[default]
    Directions,
    /// Each test both ways before the next one.
    Tests,
}

/// A benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// How its figures are called: `CrystalDiskMark 9`.
    pub title: String,
    /// Where it is like its original and where it is not, in a sentence or two.
    #[serde(default)]
    pub about: String,
    /// What carries it out.
    #[serde(default)]
    pub engine: RecipeEngine,
    /// Size of the test file.
    #[serde(default = "file_size", deserialize_with = "bytes")]
    pub file_size: Bytes,
    /// What stands in it.
    #[serde(default)]
    pub data: Data,
    /// The client's cache.
    #[serde(default)]
    pub cache: Cache,
    /// Each write to the test file is on its disk before it counts as done.
    #[serde(default)]
    pub write_through: bool,
    /// Passes of each test that count.
    #[serde(default = "passes")]
    pub passes: u32,
    /// Passes before them that are thrown away.
    #[serde(default)]
    pub discard: u32,
    /// Seconds of a pass; a task but for playing frames takes as long as it takes.
    #[serde(default = "seconds")]
    pub seconds: f64,
    /// Seconds before them that do not count.
    #[serde(default)]
    pub warm_up_seconds: f64,
    /// Seconds between tests.
    #[serde(default)]
    pub pause_seconds: f64,
    /// What the original prints.
    #[serde(default)]
    pub figure: Figure,
    /// In which order.
    #[serde(default)]
    pub order: Order,
    /// Whether the tests are a sweep over block sizes, to be drawn as one.
    #[serde(default)]
    pub sweep: bool,
    /// The tests.
    #[serde(rename = "test")]
    pub tests: Vec<RecipeTest>,
}

/// A test of a recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeTest {
    /// Its name: `SEQ 1 MiB Q8 T1`.
    pub name: String,
    /// Which ways, in this order.
    #[serde(default = "both")]
    pub directions: Vec<Direction>,
    /// Where the operations go.
    #[serde(default)]
    pub pattern: Pattern,
    /// Bytes of one operation; of no meaning for raw TCP.
    #[serde(default = "block", deserialize_with = "bytes")]
    pub block: Bytes,
    /// Operations under way in each thread.
    #[serde(default = "one")]
    pub depth: u32,
    /// Threads, or streams of raw TCP.
    #[serde(default = "one")]
    pub threads: u32,
    /// Of a hundred operations, so many go the other way.
    #[serde(default, rename = "other_way_percent")]
    pub opposite_percent: u32,
    /// Work on whole files instead of operations on the test file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
}

impl Recipe {
    /// Says what makes no sense in it, if something does.
    ///
    /// # Errors
    /// What is wrong, in a sentence, and where it stands.
    pub fn check(&self) -> Result<(), Mistake> {
        if self.tests.is_empty() || self.tests.len() > TESTS_MAX {
            let reason = say("error-mistake.tests")
                .count("count", self.tests.len())
                .count("most", TESTS_MAX);
            return Err(Mistake::at("test", reason));
        }
        let passes = !(1..=PASSES_MAX).contains(&self.passes);
        if passes || self.discard > PASSES_MAX {
            let key = if passes { "passes" } else { "discard" };
            let reason = say("error-mistake.passes").count("most", PASSES_MAX);
            return Err(Mistake::at(key, reason));
        }
        let times = [
            ("seconds", self.seconds, 0.05),
            ("warm_up_seconds", self.warm_up_seconds, 0.0),
            ("pause_seconds", self.pause_seconds, 0.0),
        ];
        for (key, time, least) in times {
            if !(least..=3600.0).contains(&time) {
                return Err(Mistake::at(key, say("error-mistake.times")));
            }
        }
        if self.write_through && !self.needs_file() {
            let reason = say("error-mistake.write-through");
            return Err(Mistake::at("write_through", reason));
        }
        if self.file_size.get() > FILE_BYTES_MAX {
            let reason = say("error-mistake.file-size").count("most", FILE_BYTES_MAX);
            return Err(Mistake::at("file_size", reason));
        }
        for (index, test) in self.tests.iter().enumerate() {
            let mut before = self.tests.iter().take(index);
            let checked = match before.any(|other| other.name == test.name) {
                true => {
                    let reason = say("error-mistake.test-again").with("name", &test.name);
                    Err(Mistake::at("name", reason))
                }
                false => self.check_test(test),
            };
            checked.map_err(|mistake| mistake.within(&format!("test.{index}")))?;
        }
        Ok(())
    }

    fn check_test(&self, test: &RecipeTest) -> Result<(), Mistake> {
        let name = &test.name;
        let wrong = |key: &str, id| Err(Mistake::at(key, say(id).with("name", name)));
        let mut directions = test.directions.clone();
        directions.sort_unstable();
        directions.dedup();
        if directions.is_empty() || directions.len() != test.directions.len() {
            return wrong("directions", "error-mistake.directions");
        }
        if test.opposite_percent > 99 {
            return wrong("other_way_percent", "error-mistake.opposite");
        }
        self.check_load(test)?;
        if let Some(task) = &test.task {
            return self.check_task(test, task);
        }
        let fits = (1..=self.file_size.get()).contains(&test.block.get());
        match self.engine == RecipeEngine::File && !fits {
            true => wrong("block", "error-mistake.block"),
            false => Ok(()),
        }
    }

    fn check_load(&self, test: &RecipeTest) -> Result<(), Mistake> {
        let (most, count, id) = match self.engine {
            RecipeEngine::Tcp => (STREAMS_MAX, test.threads, "error-mistake.streams"),
            RecipeEngine::File => {
                let under_way = test.threads.saturating_mul(test.depth);
                (UNDER_WAY_MAX, under_way, "error-mistake.under-way")
            }
        };
        if (1..=most).contains(&count) {
            return Ok(());
        }
        let key = match (1..=most).contains(&test.threads) {
            true => "depth",
            false => "threads",
        };
        let reason = say(id)
            .with("name", &test.name)
            .count("count", count)
            .count("most", most);
        Err(Mistake::at(key, reason))
    }

    fn check_task(&self, test: &RecipeTest, task: &Task) -> Result<(), Mistake> {
        let name = &test.name;
        if self.engine != RecipeEngine::File {
            let reason = say("error-mistake.task-of-tcp").with("name", name);
            return Err(Mistake::at("task", reason));
        }
        task.check().map_err(|mistake| {
            let mistake = mistake.within("task");
            mistake.because(|reason| {
                say("error-mistake.of-task")
                    .with("name", name)
                    .with("reason", reason)
            })
        })?;
        match task.required_direction() {
            Some(way) if test.directions != [way] => {
                let reason = say("error-mistake.task-direction")
                    .with("name", name)
                    .with("direction", way.as_str());
                Err(Mistake::at("directions", reason))
            }
            _ => Ok(()),
        }
    }

    /// Whether any of its tests uses the test file.
    #[must_use]
    pub fn needs_file(&self) -> bool {
        self.engine == RecipeEngine::File && self.tests.iter().any(|test| test.task.is_none())
    }

    /// The tests in their order, each with the way it goes.
    #[must_use]
    pub fn steps(&self) -> Vec<(&RecipeTest, Direction)> {
        let each = self.tests.iter();
        let each = each.flat_map(|test| test.directions.iter().map(move |way| (test, *way)));
        let mut steps: Vec<_> = each.collect();
        if self.order == Order::Directions {
            steps.sort_by_key(|(_, way)| *way);
        }
        steps
    }
}

const fn file_size() -> Bytes {
    Bytes::new(1 << 30)
}

const fn block() -> Bytes {
    Bytes::new(1 << 20)
}

const fn seconds() -> f64 {
    5.0
}

const fn passes() -> u32 {
    5
}

const fn one() -> u32 {
    1
}

fn both() -> Vec<Direction> {
    vec![Direction::Read, Direction::Write]
}

/// A number of bytes, or a number with its unit: `512`, `"4 KiB"`, `"256 MB"`.
pub(crate) fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(u64),
        Text(String),
    }
    match Written::deserialize(deserializer)? {
        Written::Number(number) => Ok(Bytes::new(number)),
        Written::Text(text) => parse_bytes(&text).ok_or_else(|| {
            de::Error::custom(format!("`{text}` is no size such as `64 KiB` or `1 GB`"))
        }),
    }
}

/// Reads `64 KiB`, `1GB`, `512 B` or `512`.
#[must_use]
pub fn parse_bytes(text: &str) -> Option<Bytes> {
    let text = text.trim();
    let end = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let number: u64 = text[..end].parse().ok()?;
    let unit: u64 = match text[end..].trim() {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(unit).map(Bytes::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe() -> Recipe {
        let test = |name: &str| RecipeTest {
            name: name.into(),
            directions: vec![Direction::Write, Direction::Read],
            pattern: Pattern::Random,
            block: Bytes::new(4096),
            depth: 1,
            threads: 1,
            opposite_percent: 0,
            task: None,
        };
        Recipe {
            title: "some".into(),
            about: String::new(),
            engine: RecipeEngine::File,
            file_size: file_size(),
            data: Data::Random,
            cache: Cache::Direct,
            write_through: false,
            passes: 1,
            discard: 0,
            seconds: 1.0,
            warm_up_seconds: 0.0,
            pause_seconds: 0.0,
            figure: Figure::Median,
            order: Order::Directions,
            sweep: false,
            tests: vec![test("one"), test("two")],
        }
    }

    #[test]
    fn all_reads_come_before_all_writes_or_each_test_goes_both_ways() {
        let names = |recipe: &Recipe| -> Vec<String> {
            let steps = recipe.steps().into_iter();
            steps
                .map(|(test, way)| format!("{} {way:?}", test.name))
                .collect()
        };
        let mut recipe = recipe();
        assert_eq!(
            names(&recipe),
            ["one Read", "two Read", "one Write", "two Write"]
        );
        recipe.order = Order::Tests;
        assert_eq!(
            names(&recipe),
            ["one Write", "one Read", "two Write", "two Read"]
        );
    }

    #[test]
    fn recipes_that_make_no_sense_are_refused() {
        assert_eq!(recipe().check(), Ok(()));
        let faults: [fn(&mut Recipe); 16] = [
            |recipe| recipe.tests[0].depth = u32::MAX,
            |recipe| {
                recipe.engine = RecipeEngine::Tcp;
                recipe.write_through = true;
            },
            |recipe| recipe.tests[1].threads = 0,
            |recipe| recipe.file_size = Bytes::new(u64::MAX),
            |recipe| {
                recipe.engine = RecipeEngine::Tcp;
                recipe.tests[0].threads = 129;
            },
            |recipe| recipe.tests.clear(),
            |recipe| recipe.passes = 0,
            |recipe| recipe.seconds = f64::NAN,
            |recipe| recipe.pause_seconds = -1.0,
            |recipe| recipe.tests[1].name = "one".into(),
            |recipe| recipe.tests[0].directions.push(Direction::Read),
            |recipe| recipe.tests[0].opposite_percent = 100,
            |recipe| recipe.tests[0].block = Bytes::new(2 << 30),
            |recipe| recipe.tests[0].task = Some(Task::Create(5)),
            |recipe| recipe.tests[0].task = Some(Task::Lock(0)),
            |recipe| {
                recipe.engine = RecipeEngine::Tcp;
                recipe.tests[0].directions = vec![Direction::Write];
                recipe.tests[0].task = Some(Task::Create(5));
            },
        ];
        for (number, fault) in faults.iter().enumerate() {
            let mut recipe = recipe();
            fault(&mut recipe);
            assert!(recipe.check().is_err(), "fault {number}");
        }
    }

    #[test]
    fn sizes_have_units() {
        for (text, size) in [
            ("512", 512),
            ("4 KiB", 4096),
            ("256MB", 256_000_000),
            (" 1 GiB ", 1 << 30),
        ] {
            assert_eq!(parse_bytes(text), Some(Bytes::new(size)), "{text}");
        }
        for text in ["", "KiB", "-1", "1.5 GB", "4 kib", "99999999999 GiB"] {
            assert_eq!(parse_bytes(text), None, "{text}");
        }
    }
}
