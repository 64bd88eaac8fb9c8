//! Benchmarks that people quote, as recipes in TOML, and recipes of their own.

use locale::{Message, say};
use record::Recipe;
use record::toml_mistake::{line_at, start_of, wrong_with};

use crate::Error;

/// A recipe that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its text, to be read, copied and changed.
    pub toml: &'static str,
}

/// Presets by their names, which are those of their files.
macro_rules! presets {
    ($($name:literal),+) => {
        [$(Preset {
            name: $name,
            toml: include_str!(concat!("../presets/", $name, ".toml")),
        }),+]
    };
}

/// The recipes that come with the program.
pub const PRESETS: &[Preset] = &presets![
    "cdm9",
    "cdm9-nvme",
    "cdm8",
    "atto",
    "iperf",
    "copy",
    "copy-10gb",
    "lantest",
    "frames",
    "frames-fast"
];

/// The preset that has a parameter, the size of its large file.
const LANTEST: &str = "lantest";

/// What HELIOS LanTest does for one class of networks.
struct LantestSize {
    /// As it is typed.
    name: &'static str,
    /// What of the preset's text is its own: title, network, block and size of the large file.
    texts: [&'static str; 4],
}

/// Where nobody names a size, as the preset's text has it.
const LANTEST_DEFAULT: LantestSize = LantestSize {
    name: "300mb",
    texts: ["\"LAN test\"", "on Gigabit Ethernet", "128 KiB", "300 MB"],
};

const LANTEST_SIZES: [LantestSize; 4] = [
    LantestSize {
        name: "3mb",
        texts: ["\"LAN test, 3 MB\"", "on a slow network", "32 KiB", "3 MB"],
    },
    LantestSize {
        name: "30mb",
        texts: [
            "\"LAN test, 30 MB\"",
            "on a slow network",
            "64 KiB",
            "30 MB",
        ],
    },
    LANTEST_DEFAULT,
    LantestSize {
        name: "3000mb",
        texts: [
            "\"LAN test, 3000 MB\"",
            "on 10 Gigabit Ethernet",
            "1024 KiB",
            "3000 MB",
        ],
    },
];

impl Preset {
    /// As it is typed: `lantest[:SIZE]`.
    #[must_use]
    pub fn usage(&self) -> String {
        match self.name {
            LANTEST => format!("{LANTEST}[:SIZE]"),
            name => name.to_owned(),
        }
    }

    /// Its text for a size that is typed behind its name.
    fn of_size(&self, size: &LantestSize) -> String {
        let pairs = LANTEST_DEFAULT.texts.into_iter().zip(size.texts);
        let text = self.toml.to_owned();
        pairs.fold(text, |text, (own, other)| text.replace(own, other))
    }
}

/// Reads a recipe and checks it.
///
/// # Errors
/// [`Error::Recipe`] with what is wrong and where.
pub fn recipe(name: &str, toml: &str) -> Result<Recipe, Error> {
    read(name, toml, |error| wrong_with(toml, error).into())
}

/// The same of a file that another file names: what is wrong is named by its line, and nothing of that line is
/// shown, because who wrote the other file may have named one that holds a secret.
///
/// # Errors
/// As [`recipe`].
pub fn recipe_named_by_a_file(name: &str, toml: &str) -> Result<Recipe, Error> {
    read(name, toml, |error| {
        let line = line_at(toml, start_of(toml, error));
        say("error-measure.recipe-line").count("line", line)
    })
}

fn read(
    name: &str,
    toml: &str,
    told: impl FnOnce(&toml::de::Error) -> Message,
) -> Result<Recipe, Error> {
    let refuse = |reason: Message| Error::Recipe {
        name: name.to_owned(),
        reason,
        hint: say("hint-measure.recipe"),
    };
    let recipe: Recipe = toml::from_str(toml).map_err(|error| refuse(told(&error)))?;
    recipe
        .check()
        .map_err(|mistake| refuse(mistake.in_text(toml)))?;
    Ok(recipe)
}

/// The preset of that name; none where there is no such preset.
///
/// # Errors
/// [`Error::Recipe`] where it is not there in the size that is named; else never, because tests read them all.
pub fn preset(name: &str) -> Option<Result<Recipe, Error>> {
    let of_name = |name: &str| PRESETS.iter().find(|preset| preset.name == name);
    if let Some(found) = of_name(name) {
        return Some(recipe(name, found.toml));
    }
    // `lantest-3mb` was a preset of its own; version 0.2 will not know that name any more.
    let size = name.strip_prefix(LANTEST)?.strip_prefix([':', '-'])?;
    let found = of_name(LANTEST)?;
    let Some(known) = LANTEST_SIZES.iter().find(|known| known.name == size) else {
        let sizes: Vec<String> = LANTEST_SIZES.map(|known| known.name.to_owned()).into();
        let reason = say("error-measure.no-size").with("size", size);
        let mut near = LANTEST_SIZES.iter();
        let near = near.find(|known| known.name.eq_ignore_ascii_case(size));
        let near = near.unwrap_or(&LANTEST_SIZES[1]).name;
        return Some(Err(Error::Recipe {
            name: name.to_owned(),
            reason: reason.with("sizes", sizes),
            hint: say("hint-measure.preset-as").with("example", format!("{LANTEST}:{near}")),
        }));
    };
    Some(recipe(name, &found.of_size(known)))
}

#[cfg(test)]
mod tests {
    use locale::Argument;
    use record::{
        Bytes, Direction, Figure, ListTask, Order, Pattern, RecipeEngine, RecipeTest, Spread, Task,
    };

    use super::*;

    #[test]
    fn every_preset_can_be_read() {
        for entry in PRESETS {
            let read = recipe(entry.name, entry.toml);
            let read = read.unwrap_or_else(|error| panic!("{error}"));
            assert!(
                !read.title.is_empty() && !read.about.is_empty(),
                "{}",
                entry.name
            );
        }
        assert!(preset("cdm10").is_none());
    }

    #[test]
    fn crystal_disk_mark_has_its_rows_its_passes_and_its_figure() {
        for (name, passes) in [("cdm9", 3), ("cdm8", 5)] {
            let cdm = preset(name).unwrap().unwrap();
            assert_eq!(
                (cdm.passes, cdm.discard, cdm.figure),
                (passes, 1, Figure::Best)
            );
            assert_eq!(
                (cdm.seconds, cdm.pause_seconds, cdm.file_size.get()),
                (5.0, 5.0, 1 << 30)
            );
            assert_eq!(cdm.order, Order::Directions);
            let rows: Vec<_> = cdm
                .tests
                .iter()
                .map(|test| (test.pattern, test.block.get(), test.depth, test.threads))
                .collect();
            let (sequential, random) = (Pattern::Sequential, Pattern::Random);
            let (mib, kib) = (1 << 20, 1 << 10);
            assert_eq!(
                rows,
                [
                    (sequential, mib, 8, 1),
                    (sequential, mib, 1, 1),
                    (random, 4 * kib, 32, 1),
                    (random, 4 * kib, 1, 1)
                ]
            );
        }
    }

    #[test]
    fn atto_sweeps_from_512_bytes_to_64_mib_writing_first() {
        let atto = preset("atto").unwrap().unwrap();
        let (first, last) = (&atto.tests[0], &atto.tests[atto.tests.len() - 1]);
        assert_eq!(
            (first.block.get(), last.block.get(), atto.tests.len()),
            (512, 64 << 20, 21)
        );
        assert!(atto.sweep && atto.order == Order::Tests);
        assert!(atto.write_through && atto.about.contains("`write_through`"));
        assert!(!preset("cdm9").unwrap().unwrap().write_through);
        assert!(
            atto.tests
                .iter()
                .all(|test| test.directions == [Direction::Write, Direction::Read])
        );
        assert!(atto.tests.is_sorted_by(|one, next| one.block < next.block));
    }

    #[test]
    fn iperf_is_five_times_ten_seconds() {
        let iperf = preset("iperf").unwrap().unwrap();
        assert_eq!(
            (iperf.engine, iperf.figure),
            (RecipeEngine::Tcp, Figure::Mean)
        );
        assert_eq!(
            (
                iperf.passes,
                iperf.discard,
                iperf.seconds,
                iperf.warm_up_seconds
            ),
            (5, 0, 10.0, 0.0)
        );
    }

    #[test]
    fn files_are_copied_both_ways_one_some_and_many() {
        let copy = preset("copy").unwrap().unwrap();
        let sizes: Vec<(u32, u64)> = copy
            .tests
            .iter()
            .map(|test| match &test.task {
                Some(Task::Copy(task)) => (task.files, task.bytes().get()),
                _ => panic!("{}", test.name),
            })
            .collect();
        assert_eq!(
            [sizes[0], sizes[1], sizes[4]],
            [(1, 128_000_000), (1, 1_000_000_000), (10_000, 10_000 << 12)]
        );
        assert!(sizes[2].0 == 200 && (800_000_000..1_300_000_000).contains(&sizes[2].1));
        assert!(!copy.needs_file() && copy.steps().len() == 10);
        let Some(Task::Copy(mixed)) = &copy.tests[3].task else {
            panic!("{:?}", copy.tests[3]);
        };
        let ends = [mixed.size.get(), mixed.size_max.map_or(0, Bytes::get)];
        assert_eq!(
            (mixed.spread, ends),
            (Spread::LogNormal, [1 << 10, 100 << 20])
        );
        assert!(
            (400_000_000..1_000_000_000).contains(&sizes[3].1),
            "{sizes:?}"
        );
        let large = preset("copy-10gb").unwrap().unwrap();
        let room = large.tests[0].task.as_ref().map(Task::space_needed);
        assert_eq!(room, Some(Bytes::new(10_000_000_000)));
    }

    #[test]
    fn lantest_works_with_names_locks_a_listing_and_one_large_file() {
        let lantest = preset("lantest").unwrap().unwrap();
        let tasks: Vec<Task> = (lantest.tests.iter())
            .filter_map(|test| test.task.clone())
            .collect();
        let list = ListTask {
            entries: 320,
            times: 10,
        };
        assert_eq!(
            tasks,
            [
                Task::Create(300),
                Task::Open(300),
                Task::Remove(300),
                Task::Lock(4000),
                Task::List(list)
            ]
        );
        assert!(lantest.needs_file());
        let (mb, kib) = (1_000_000, 1 << 10);
        for (class, size, block) in [
            ("lantest:3mb", 3 * mb, 32 * kib),
            ("lantest:30mb", 30 * mb, 64 * kib),
            ("lantest", 300 * mb, 128 * kib),
            ("lantest:300mb", 300 * mb, 128 * kib),
            ("lantest:3000mb", 3000 * mb, 1024 * kib),
            // As they were called before.
            ("lantest-3mb", 3 * mb, 32 * kib),
            ("lantest-30mb", 30 * mb, 64 * kib),
            ("lantest-3000mb", 3000 * mb, 1024 * kib),
        ] {
            let other = preset(class).unwrap().unwrap();
            let of_file: Vec<&RecipeTest> = (other.tests.iter())
                .filter(|test| test.task.is_none())
                .collect();
            assert_eq!((of_file.len(), other.tests.len()), (1, lantest.tests.len()));
            assert_eq!(
                (other.file_size.get(), of_file[0].block.get()),
                (size, block),
                "{class}"
            );
        }
    }

    #[test]
    fn a_size_is_in_all_texts_of_a_preset_and_another_one_is_refused_with_those_that_there_are() {
        let large = preset("lantest:3000mb").unwrap().unwrap();
        assert_eq!(large.title, "LAN test, 3000 MB");
        assert!(large.about.contains("on 10 Gigabit Ethernet"));
        assert!(large.about.contains("in blocks of 1024 KiB"));
        assert_eq!(large.tests[3].name, "file of 3000 MB");
        let own = preset("lantest:300mb").unwrap().unwrap();
        assert_eq!(own.title, preset("lantest").unwrap().unwrap().title);
        let usage: Vec<String> = PRESETS.iter().map(Preset::usage).collect();
        assert!(usage.contains(&"lantest[:SIZE]".to_owned()), "{usage:?}");
        for (wrong, right) in [
            ("lantest:5mb", "lantest:30mb"),
            ("lantest:", "lantest:30mb"),
            ("lantest-3MB", "lantest:3mb"),
        ] {
            let error = preset(wrong).unwrap().unwrap_err();
            let said = error.to_string();
            assert!(said.contains("3mb, 30mb, 300mb, 3000mb"), "{said}");
            let (hint, right) = (error.hint().unwrap(), Argument::from(right));
            assert_eq!(hint.argument("example"), Some(&right), "{wrong}");
        }
        assert!(preset("cdm9:3mb").is_none() && preset("lantest3mb").is_none());
    }

    #[test]
    fn frames_have_the_sizes_of_their_formats() {
        let frames = preset("frames").unwrap().unwrap();
        let pixels = |test: &RecipeTest| match &test.task {
            Some(Task::Play(task)) => task.frame.get() / 4,
            _ => panic!("{}", test.name),
        };
        let fast = preset("frames-fast").unwrap().unwrap();
        let rates: Vec<u64> = (fast.tests.iter())
            .map(|test| match &test.task {
                Some(Task::Play(task)) => {
                    let each = task.frame.get() * u64::from(task.per_second);
                    each * u64::from(task.streams) / 1_000_000
                }
                _ => panic!("{}", test.name),
            })
            .collect();
        assert_eq!(rates, [1223, 1592, 1990, 3185]);
        assert_eq!(pixels(&fast.tests[3]), 7680 * 4320);
        let found: Vec<u64> = frames.tests.iter().map(pixels).collect();
        // Behind a header of 2048 bytes where the format has one.
        assert_eq!(found[0], 2048 * 1556 + 512);
        assert_eq!(found[1], 3840 * 2160);
        assert_eq!(found[2], 4096 * 3112 + 512);
    }

    #[test]
    fn what_is_wrong_with_a_recipe_is_said() {
        let error = recipe("mine", "title = 'x'\nseconds = 1\nblocks = 3\n").unwrap_err();
        assert!(error.to_string().contains("blocks"), "{error}");
        let error = recipe(
            "mine",
            "title = 'x'\nseconds = 1\n[[test]]\nname = 'a'\nblock = '5 kib'\n",
        )
        .unwrap_err();
        assert!(error.to_string().contains("5 kib"), "{error}");
    }
}
