//! Files that strangers wrote: each is understood, or refused by its name and line, within 64 MiB of
//! memory. No program is started for them, no other file is touched, and no control character of theirs
//! comes out.

mod file_size_limits;
mod servers;
mod smb_frames;
mod untrue_servers;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::lab_and_program;

/// The most that may be resident at one time.
const MEMORY_KIB_MAX: u64 = 64 << 10;
/// The longest that a file may keep the program busy; it was not built to be fast.
const PATIENCE: Duration = Duration::from_secs(60);
/// Where programs are looked for. The one with `mount` comes last.
const PROGRAMS: [&str; 4] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin"];

/// A file, the exit code of each command that reads it, and what is said.
type Case = (&'static str, i32, &'static str);

const RUNS: [Case; 25] = [
    ("arms-without-number.jsonl", 65, "line 2"),
    ("byte-order-mark.jsonl", 65, "line 1"),
    ("bytes-that-are-nul.jsonl", 65, "line 1"),
    ("empty.jsonl", 65, "it is empty"),
    ("escape-sequences.jsonl", 2, "\u{fffd}[2J"),
    ("header-twice-the-key.jsonl", 65, "line 1"),
    ("key-twice.jsonl", 65, "line 2"),
    ("kind-and-brackets.jsonl", 65, "line 2"),
    ("kind-twice.jsonl", 65, "line 2"),
    ("unknown-kinds.jsonl", 2, "line 2 has the unknown kind"),
    ("last-line-cut.jsonl", 2, "line 4 was cut off"),
    ("line-cut-inside.jsonl", 65, "line 3"),
    ("line-of-brackets.jsonl", 65, "line 2"),
    ("not-utf-8.jsonl", 65, "line 2"),
    ("nul-in-a-line.jsonl", 65, "line 3"),
    ("number-below-zero.jsonl", 65, "line 3"),
    ("number-that-is-none.jsonl", 65, "line 2"),
    ("number-too-large.jsonl", 65, "line 3"),
    ("other-format.jsonl", 65, "line 1"),
    ("seed-too-large.jsonl", 65, "line 1"),
    ("sums-that-overflow.jsonl", 2, ""),
    ("two-records-in-a-line.jsonl", 65, "line 2"),
    ("version-2.jsonl", 65, "line 1"),
    ("version-below-zero.jsonl", 65, "line 1"),
    ("windows-line-ends.jsonl", 2, ""),
];
const TABLES: [Case; 22] = [
    ("brackets.json", 64, "line 1"),
    (
        "columns-of-one-name.csv",
        64,
        "column `a` occurs twice in the header",
    ),
    ("empty.csv", 64, "the table has no header"),
    ("escape-sequences.csv", 0, "\u{fffd}[2Jone"),
    ("escape-sequences.json", 64, "\u{fffd}[2J\u{fffd}31m"),
    ("half-of-utf-16.csv", 65, "line 2"),
    ("header-alone.csv", 64, "the table has no rows of data"),
    ("json-and-no-table.csv", 64, "this is JSON, and no table"),
    ("key-twice.json", 64, "line 2"),
    ("list-without-end.json", 64, "line 3"),
    ("long-cell.csv", 64, "line 3"),
    (
        "no-result.json",
        64,
        "it is no result of iperf3, fio or hyperfine",
    ),
    ("not-utf-8.csv", 65, "line 3"),
    ("not-utf-8.json", 65, "line 2"),
    ("nul-in-a-cell.csv", 64, "row 2, column `y`"),
    ("number-that-is-none.csv", 64, "row 2, column `y`"),
    ("number-too-large.csv", 64, "row 2, column `y`"),
    ("number-too-large.json", 64, "line 2"),
    ("quote-not-closed.csv", 64, "line 3"),
    ("ragged.csv", 64, "line 3"),
    ("wide.csv", 64, "line 1"),
    ("windows.csv", 0, "better"),
];
const PLANS: [Case; 29] = [
    (
        "band-that-is-none.toml",
        64,
        "line 2\n  because: `band_percent` must be",
    ),
    (
        "blocks-without-end.toml",
        64,
        "line 2\n  because: `blocks` must be 1 to 1000",
    ),
    ("brackets.toml", 64, "line 2"),
    (
        "budget-of-nan.toml",
        64,
        "line 2\n  because: `budget_minutes` must be",
    ),
    (
        "channels-of-none.toml",
        64,
        "line 4\n  because: `channels` must be 1 to 32",
    ),
    (
        "dotted-key.toml",
        64,
        "line 2: its keys are nested too deep",
    ),
    ("empty.toml", 64, "line 1"),
    (
        "escape-in-a-name.toml",
        64,
        "line 5\n  because: a factor is called `a\u{fffd}[2J\u{fffd}31m`",
    ),
    (
        "factor-of-a-column.toml",
        64,
        "line 5\n  because: a factor cannot be called `block`",
    ),
    (
        "factors-of-one-place.toml",
        64,
        "line 16\n  because: `a` and `b` both set",
    ),
    (
        "factors-without-end.toml",
        64,
        "line 4\n  because: it has 40 factors",
    ),
    ("key-twice.toml", 64, "line 2"),
    (
        "level-alone.toml",
        64,
        "line 6\n  because: `a` has 1 levels",
    ),
    (
        "level-that-sets-twice.toml",
        64,
        "line 13\n  because: level `y` of `a` sets `workload:channels` twice",
    ),
    (
        "levels-of-one-name.toml",
        64,
        "line 10\n  because: two levels of `a` are called `x`",
    ),
    (
        "levels-that-set-the-same.toml",
        64,
        "line 11\n  because: the levels `x` and `y` of `a` set the same",
    ),
    ("not-utf-8.toml", 65, "line 2"),
    ("number-too-large.toml", 64, "line 2"),
    (
        "preset-and-recipe.toml",
        64,
        "line 2\n  because: a plan's workload has",
    ),
    (
        "preset-that-is-none.toml",
        64,
        "line 3\n  because: there is no preset",
    ),
    (
        "published-without-end.toml",
        64,
        "line 13\n  because: its title and what",
    ),
    (
        "recipe-that-is-a-device.toml",
        65,
        "line 3\n  because: cannot read the recipe `/dev/zero`",
    ),
    (
        "seconds-of-a-year.toml",
        64,
        "line 4\n  because: the plan's workload: its times",
    ),
    (
        "size-that-is-none.toml",
        64,
        "line 4\n  because: `big` is no size",
    ),
    (
        "size-without-room.toml",
        64,
        "line 4\n  because: the plan's workload",
    ),
    (
        "test-that-is-none.toml",
        64,
        "line 6\n  because: CrystalDiskMark 9 has no test `none`",
    ),
    (
        "title-of-two-lines.toml",
        64,
        "line 2\n  because: its title and what",
    ),
    ("unknown-key.toml", 64, "line 2"),
    (
        "width-below-nothing.toml",
        64,
        "line 2\n  because: `width_percent` must be",
    ),
];
const RECIPES: [Case; 29] = [
    (
        "blocks-of-nothing.toml",
        64,
        "line 4: the blocks of `a` do not fit",
    ),
    (
        "blocks-that-do-not-fit.toml",
        64,
        "line 4: the blocks of `a` do not fit",
    ),
    ("brackets.toml", 64, "line 1"),
    (
        "copy-of-all-there-is.toml",
        64,
        "line 7: the task of `a`: it moves more",
    ),
    (
        "copy-of-nothing.toml",
        64,
        "line 6: the task of `a`: files of no bytes",
    ),
    (
        "copy-without-folders.toml",
        64,
        "line 6: the task of `a`: several files need",
    ),
    ("depth-of-nothing.toml", 64, "line 4: `a` has 0 operations"),
    (
        "depth-without-end.toml",
        64,
        "line 5: `a` has 4294967295 operations",
    ),
    ("directions-twice.toml", 64, "line 4: `a` needs `read`"),
    ("discard-without-end.toml", 64, "line 2: `passes` must be"),
    (
        "dotted-key.toml",
        64,
        "line 3: its keys are nested too deep",
    ),
    ("empty.toml", 64, "line 1"),
    (
        "list-never.toml",
        64,
        "line 6: the task of `a`: it must have",
    ),
    ("not-utf-8.toml", 65, "line 3"),
    (
        "other-direction-of-all.toml",
        64,
        "line 4: `other_way_percent` of `a`",
    ),
    (
        "passes-without-end.toml",
        64,
        "line 2: `passes` must be 1 to 1000",
    ),
    ("pause-below-nothing.toml", 64, "line 2: its times must be"),
    ("play-too-many.toml", 64, "line 8: the task of `a`: a frame"),
    (
        "seconds-that-are-none.toml",
        64,
        "line 2: its times must be",
    ),
    ("size-beyond-all.toml", 64, "line 2: its test file has more"),
    ("size-without-end.toml", 64, "line 2"),
    ("task-of-no-files.toml", 64, "line 5: the task of `a`"),
    ("task-of-raw-tcp.toml", 64, "line 5: `a` has a `task`"),
    (
        "task-of-the-other-direction.toml",
        64,
        "line 5: `a` needs `directions",
    ),
    (
        "tests-of-one-name.toml",
        64,
        "line 5: two tests are called `a`",
    ),
    ("tests-without-end.toml", 64, "line 2: it has 300 tests"),
    (
        "threads-without-end.toml",
        64,
        "line 4: `a` has 4294967295 operations",
    ),
    ("unknown-key.toml", 64, "line 4"),
    (
        "write-through-nothing.toml",
        64,
        "line 2: `write_through` needs",
    ),
];
const PROFILES: [Case; 14] = [
    ("brackets.toml", 64, "line 2"),
    (
        "dotted-key.toml",
        64,
        "line 4: its keys are nested too deep",
    ),
    ("empty.toml", 64, "line 1"),
    ("escape-sequences.toml", 0, "\u{fffd}[2Jt\u{fffd}31m"),
    ("not-utf-8.toml", 65, "line 2"),
    (
        "round-trip-of-years.toml",
        64,
        "line 8, for `nic.mtu`: `5 years` is nothing like",
    ),
    ("rule-of-many-values.toml", 64, "line 5, for `nic.mtu`"),
    (
        "rule-that-never-holds.toml",
        64,
        "line 6, for `nic.mtu`: its `when` can never be so",
    ),
    (
        "rule-without-a-reason.toml",
        64,
        "line 5, for `nic.mtu`: it does not say why",
    ),
    (
        "rule-without-a-value.toml",
        64,
        "line 2, for `nic.mtu`: it takes one of",
    ),
    (
        "rules-that-contradict.toml",
        64,
        "line 6, for `nic.mtu`: the rule of line 2 wants something else",
    ),
    (
        "rules-without-end.toml",
        64,
        "line 2002, for `nic.mtu`: there are more than 500 rules",
    ),
    ("speed-without-end.toml", 64, "line 6, for `nic.mtu`"),
    (
        "unknown-knob.toml",
        64,
        "line 3, for `sh -c`: there is no such knob",
    ),
];

/// A machine whose programs all leave a mark, and a home whose files are known.
struct Site {
    folder: TempDir,
    before: BTreeMap<PathBuf, (u32, i64, Vec<u8>)>,
}

struct Said {
    code: Option<i32>,
    text: String,
    peak_kib: u64,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let site = Self {
            folder,
            before: BTreeMap::new(),
        };
        for name in ["home/.ssh", "home/empty", "given", "programs", "out"] {
            fs::create_dir_all(site.path(name)).expect("room on the disk");
        }
        for (name, text) in [
            ("home/.profile", "umask 027\n"),
            ("home/.ssh/authorized_keys", "ssh-ed25519 AAAA\n"),
        ] {
            fs::write(site.path(name), text).expect("room on the disk");
        }
        let interpreter = site.path("interpreter");
        fs::copy("/bin/sh", &interpreter).expect("a shell");
        fs::copy("/usr/bin/time", site.path("time")).expect("the package `time`");
        let script = format!(
            "#!{}\necho \"$0\" >>'{}'\n",
            interpreter.display(),
            site.path("mark").display()
        );
        fs::write(site.path("program"), script).expect("room on the disk");
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(site.path("program"), executable).expect("our own file");
        let programs = PROGRAMS
            .iter()
            .flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
        let names: BTreeSet<_> = programs.flatten().map(|entry| entry.file_name()).collect();
        for name in names {
            let link = site.path("programs").join(name);
            symlink(site.path("program"), link).expect("room on the disk");
        }
        Self {
            before: site.picture(),
            ..site
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A folder that a benchmark may be about.
    fn target(&self) -> String {
        self.path("home/empty").display().to_string()
    }

    /// A file of ours, or one that is made now, where the program may read it.
    fn give(&self, name: &str, fill: impl FnOnce(&mut File)) -> PathBuf {
        let path = self.path("given").join(name);
        let mut file = File::create(&path).expect("room on the disk");
        fill(&mut file);
        path
    }

    /// All files that are not to be touched.
    fn picture(&self) -> BTreeMap<PathBuf, (u32, i64, Vec<u8>)> {
        let mut picture = BTreeMap::new();
        let mut folders = vec![self.path("home")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("our own folder") {
                let path = entry.expect("an entry").path();
                let about = fs::symlink_metadata(&path).expect("our own file");
                let content = match about.is_dir() {
                    true => Vec::new(),
                    false => fs::read(&path).expect("our own file"),
                };
                picture.insert(path.clone(), (about.mode(), about.mtime_nsec(), content));
                folders.extend(about.is_dir().then_some(path));
            }
        }
        picture
    }

    /// Runs the program where every other one leaves a mark.
    fn run(&self, arguments: &[&str]) -> Said {
        let [stdout, stderr, peak] = ["stdout", "stderr", "peak"].map(|name| self.path(name));
        let create = |path: &Path| File::create(path).expect("room on the disk");
        let cover = "programs=$1 && shift && while [ \"$1\" != -- ]; do mount --bind \"$programs\" \"$1\" || exit 99; shift; done; shift; exec \"$@\"";
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "sh", "-c", cover, "sh"])
            .arg(self.path("programs"))
            .args(PROGRAMS)
            .arg("--")
            .arg(self.path("time"))
            .args(["--quiet", "--format=%M", "--output"])
            .arg(&peak)
            .arg(lab_and_program::path())
            .args(arguments)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", PROGRAMS.join(":"))
            .current_dir(self.path("home"))
            .stdin(Stdio::null())
            .stdout(create(&stdout))
            .stderr(create(&stderr));
        let mut child = command.spawn().expect("unshare starts");
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("our own child") {
                break status;
            }
            if began.elapsed() > PATIENCE {
                child.kill().expect("our own child");
                child.wait().expect("our own child");
                panic!("{arguments:?} takes longer than {PATIENCE:?}");
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let read = |path: &Path| String::from_utf8(fs::read(path).expect("our own file"));
        let text = [stderr, stdout]
            .map(|path| read(&path).expect("UTF-8"))
            .concat();
        let peak = read(&peak).expect("digits");
        Said {
            code: status.code(),
            peak_kib: peak
                .trim()
                .parse()
                .unwrap_or_else(|_| panic!("{peak}: {text}")),
            text,
        }
    }

    /// Runs it on a file of a stranger.
    fn judge(&self, arguments: &[&str], file: &Path, code: i32, says: &str) {
        let said = self.run(arguments);
        let Said { text, peak_kib, .. } = &said;
        let what = format!("{arguments:?}: {text}");
        assert_eq!(said.code, Some(code), "{what}");
        assert!(text.contains(says), "`{says}` is not in {what}");
        if code >= 64 {
            let name = file.file_name().expect("a name").to_string_lossy();
            assert!(text.contains(&*name), "its name is not in {what}");
            for word in ["error:", "hint:"] {
                assert_eq!(text.matches(word).count(), 1, "{what}");
            }
        }
        assert!(!text.contains("panicked"), "{what}");
        is_harmless(text, &what);
        assert!(
            (1..MEMORY_KIB_MAX).contains(peak_kib),
            "{peak_kib} KiB, {what}"
        );
        assert!(
            !self.path("mark").exists(),
            "a program was started by {what}"
        );
        assert_eq!(self.picture(), self.before, "{what}");
    }

    /// All commands that read a run file; the page too holds nothing that acts.
    fn judge_run(&self, file: &Path, code: i32, says: &str) {
        let given = file.to_str().expect("UTF-8");
        let page = self.path("out/page.html");
        let to = page.to_str().expect("UTF-8");
        let page_code = if code >= 64 { code } else { 0 };
        let in_page = if code >= 64 { says } else { "" };
        self.judge(&["analyze", given], file, code, says);
        self.judge(&["analyze", "--json", given], file, code, in_page);
        self.judge(&["report", given, "--html", to], file, page_code, in_page);
        if page_code == 0 {
            let html = fs::read_to_string(&page).expect("the page");
            is_harmless(&html, given);
            for raw in ["<script>alert", "<img src=x"] {
                assert!(!html.contains(raw), "{given}");
            }
            fs::remove_file(&page).expect("our own file");
        }
        assert!(!page.exists(), "{given}");
        if code >= 64 {
            self.judge(&["experiment", "resume", given], file, code, says);
        }
    }
}

/// No character of it moves a cursor or sets a title.
fn is_harmless(text: &str, what: &str) {
    let harmful =
        |letter: char| record::sanitized_text::is_unsafe(letter) && !matches!(letter, '\n' | '\t');
    let found: Vec<char> = text.chars().filter(|letter| harmful(*letter)).collect();
    assert!(found.is_empty(), "{found:?} in {what}");
}

/// Gives each file of a folder to a command, and each of them has its line in the table.
fn all(folder: &str, cases: &[Case], mut judge: impl FnMut(&Site, &Path, i32, &str)) {
    let site = Site::new();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/hostile")
        .join(folder);
    let files = fs::read_dir(&corpus).expect("the corpus");
    let files = files.map(|entry| entry.expect("an entry").file_name().into_string());
    let files: BTreeSet<String> = files.collect::<Result<_, _>>().expect("UTF-8");
    let listed: BTreeSet<String> = cases.iter().map(|case| case.0.to_owned()).collect();
    assert_eq!(files, listed);
    for (name, code, says) in cases {
        let bytes = fs::read(corpus.join(name)).expect("the corpus");
        let file = site.give(name, |file| {
            file.write_all(&bytes).expect("room on the disk")
        });
        judge(&site, &file, *code, says);
        assert_eq!(fs::read(&file).expect("our own file"), bytes, "{name}");
    }
}

#[test]
fn hostile_run_files_are_read_or_refused_by_line() {
    all("runs", &RUNS, |site, file, code, says| {
        site.judge_run(file, code, says);
    });
}

#[test]
fn hostile_tables_are_read_or_refused_by_line() {
    all("tables", &TABLES, |site, file, code, says| {
        let given = file.to_str().expect("UTF-8");
        let arms = [format!("a={given}"), format!("b={given}")];
        let arguments = match file.extension().is_some_and(|end| end == "csv") {
            true => vec![
                "analyze",
                given,
                "--response",
                "y",
                "--factors",
                "a",
                "--better",
                "higher",
            ],
            false => vec!["analyze", &arms[0], &arms[1]],
        };
        site.judge(&arguments, file, code, says);
    });
}

#[test]
fn hostile_plans_are_refused_by_line() {
    all("plans", &PLANS, |site, file, code, says| {
        let (given, target) = (file.to_str().expect("UTF-8"), site.target());
        site.judge(
            &["experiment", "run", given, "--dry-run", "--target", &target],
            file,
            code,
            says,
        );
    });
}

/// What a recipe of a plan may be is not up to the plan: it reads nothing but what came with it.
#[test]
fn a_plan_reads_no_file_but_below_its_own_folder() {
    const SECRET: &str = "password = \"SECRET-OF-ROOT\"\n";
    let site = Site::new();
    let outside = site.path("secret");
    fs::write(&outside, SECRET).expect("room on the disk");
    fs::create_dir(site.path("given/below")).expect("room on the disk");
    symlink(&outside, site.path("given/link.toml")).expect("a link");
    symlink("..", site.path("given/up")).expect("a link");
    let recipe = "title = \"t\"\n[[test]]\nname = \"read\"\nblock = \"1 MiB\"\n";
    site.give("below/good.toml", |file| {
        file.write_all(recipe.as_bytes()).expect("room on the disk");
    });
    site.give("below/secret", |file| {
        file.write_all(SECRET.as_bytes()).expect("room on the disk");
    });
    let (target, outside) = (site.target(), outside.display().to_string());
    let out = "leads out of the folder of the file that names it";
    let link = "is a symbolic link or leads through one";
    for (named, code, says) in [
        (outside.as_str(), 65, out),
        ("../secret", 65, out),
        ("below/../../secret", 65, out),
        ("link.toml", 65, link),
        ("up/secret", 65, link),
        ("below/secret", 64, "line 1 is none of a recipe"),
        // The recipe is fine; no program tells what this host is.
        ("below/good.toml", 65, "host `local` runs"),
    ] {
        let plan = format!(
            "title = \"t\"\n[workload]\nrecipe = \"{named}\"\n[[factor]]\nname = \"depth\"\n\
             [[factor.level]]\nname = \"one\"\nset = [\"workload:depth=1\"]\n\
             [[factor.level]]\nname = \"two\"\nset = [\"workload:depth=2\"]\n"
        );
        let plan = site.give("plan.toml", |file| {
            file.write_all(plan.as_bytes()).expect("room on the disk");
        });
        let given = plan.to_str().expect("UTF-8");
        let said = site.run(&["experiment", "run", given, "--dry-run", "--target", &target]);
        let text = &said.text;
        assert_eq!(said.code, Some(code), "{named}: {text}");
        assert!(text.contains(says), "{named}: {text}");
        assert!(!text.contains("SECRET"), "{named}: {text}");
        assert!(!text.contains("password"), "{named}: {text}");
    }
}

#[test]
fn hostile_recipes_are_refused_by_line() {
    all("recipes", &RECIPES, |site, file, code, says| {
        let (given, target) = (file.to_str().expect("UTF-8"), site.target());
        site.judge(
            &["bench", &target, "--recipe", given, "--dry-run"],
            file,
            code,
            says,
        );
    });
}

#[test]
fn hostile_profiles_are_refused_by_line() {
    all("profiles", &PROFILES, |site, file, code, says| {
        let given = file.to_str().expect("UTF-8");
        site.judge(&["profiles", given], file, code, says);
        site.judge(
            &["profiles", "--json", given],
            file,
            code,
            if code >= 64 { says } else { "" },
        );
    });
}

/// What looks like a line of ours is none: each text of theirs stays on the line that shows it.
#[test]
fn no_stranger_writes_a_line_of_the_report() {
    const THEIRS: &str =
        r"a\u202e\u2069\u200b\u001b[31m\nerror: fake\n hint: rm -rf /\nwarning: fake";
    let site = Site::new();
    let fill = |text: String| move |file: &mut File| file.write_all(text.as_bytes()).expect("room");
    let failed = site.give(
        "failed.json",
        fill(format!("{{\"start\":{{}},\"error\":\"{THEIRS}\"}}")),
    );
    let key = site.give(
        "key.toml",
        fill(format!("title = \"t\"\n\"{THEIRS}\" = 1\n")),
    );
    let profile = site.give(
        "profile.toml",
        fill(format!(
            "meaning = \"{THEIRS}\"\n[[rule]]\nknob = \"nic.mtu\"\nset = 9000\nwhy = \"{THEIRS}\"\nsource = \"{THEIRS}\"\n"
        )),
    );
    let broken = site.give("broken.toml", fill(format!("\"{THEIRS}\" = 1\n")));
    let run =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/runs/escape-sequences.jsonl");
    let run = fs::read_to_string(run).expect("the corpus");
    let run = site.give(
        "run.jsonl",
        fill(run.replace(r"\u001b[2J\u001b]0;owned\u0007", THEIRS)),
    );
    let given = [&failed, &key, &profile, &broken, &run].map(|path| path.display().to_string());
    let [failed, key, profile, broken, run] = given.each_ref().map(String::as_str);
    let arm = format!("a={failed}");
    let target = site.target();
    let readers: [&[&str]; 8] = [
        &["compare", failed, failed],
        &["analyze", &arm],
        &["experiment", "run", key, "--dry-run"],
        &["bench", &target, "--recipe", broken, "--dry-run"],
        &["profiles", profile],
        &["profiles", broken],
        &["analyze", run],
        &["lab", "up", broken],
    ];
    for arguments in readers {
        let said = site.run(arguments);
        let what = format!("{arguments:?}: {}", said.text);
        assert!(said.text.contains("error: fake"), "{what}");
        is_harmless(&said.text, &what);
        for line in said.text.lines().map(str::trim) {
            for forged in ["error: fake", "hint: rm", "warning: fake"] {
                assert!(!line.starts_with(forged), "{what}");
            }
        }
    }
}

/// Else none of these tests would mean anything.
#[test]
fn a_program_that_is_started_leaves_its_mark() {
    let site = Site::new();
    site.run(&["inspect", "local"]);
    let mark = fs::read_to_string(site.path("mark")).expect("a program was started");
    assert!(mark.contains("/usr/"), "{mark}");
}

/// Pipes without a writer, devices without end and folders, where a file is expected.
#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    let site = Site::new();
    let pipe = site.path("given/pipe");
    let made = Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .expect("mkfifo starts");
    assert!(made.success());
    let zeros = PathBuf::from("/dev/zero");
    let target = site.target();
    let no_files = [
        (&pipe, "no regular file"),
        (&zeros, "no regular file"),
        (&site.path("given"), "is a folder"),
    ];
    for (file, says) in no_files {
        let given = file.to_str().expect("UTF-8");
        let arm = format!("a={given}");
        let share = "smb://127.0.0.1:9/share/";
        let readers: [(&[&str], i32); 10] = [
            (&["ls", share, "--credentials", given], 65),
            (&["copy", share, "/nowhere", "--credentials", given], 65),
            (&["analyze", given], 65),
            (&["report", given], 65),
            (&["experiment", "resume", given], 65),
            (&["analyze", given, "--response", "y", "--factors", "a"], 65),
            (&["analyze", &arm], 65),
            (&["experiment", "run", given, "--dry-run"], 65),
            (&["bench", &target, "--recipe", given, "--dry-run"], 65),
            (&["profiles", given], 65),
        ];
        for (arguments, code) in readers {
            site.judge(arguments, file, code, says);
        }
    }
}

/// Ten gigabytes that take no room, as everything.
#[test]
fn files_of_ten_gigabytes_are_refused() {
    let site = Site::new();
    let long = |file: &mut File| file.set_len(10 << 30).expect("a sparse file");
    let run = site.give("sparse.jsonl", long);
    site.judge_run(&run, 65, "line 1 has more than 512 KiB");
    let table = site.give("sparse.csv", long);
    let plan = site.give("sparse.toml", long);
    let [csv, toml] = [&table, &plan].map(|path| path.to_str().expect("UTF-8"));
    let target = site.target();
    let arm = format!("a={csv}");
    site.judge(
        &["analyze", csv, "--response", "y", "--factors", "a"],
        &table,
        65,
        "more than 8 MiB",
    );
    site.judge(&["analyze", &arm], &table, 65, "more than 16 MiB");
    for arguments in [
        ["experiment", "run", toml, "--dry-run"].as_slice(),
        &["bench", &target, "--recipe", toml, "--dry-run"],
    ] {
        site.judge(arguments, &plan, 65, "more than 256 KiB");
    }
    site.judge(&["profiles", toml], &plan, 65, "more than 256 KiB");
}

/// A folder of another user's, whose link leads to one of root's: neither end of a copy goes through it.
#[test]
fn a_link_of_another_user_is_no_place_for_a_copy_of_root() {
    let folder = TempDir::new().expect("a folder");
    let dear = folder.path().join("dear");
    fs::create_dir(&dear).expect("the folder is ours");
    fs::write(dear.join("keep"), b"dear").expect("the folder is ours");
    let link = folder.path().join("link");
    symlink(&dear, &link).expect("the folder is ours");
    std::os::unix::fs::lchown(&link, Some(65_534), None).expect("this runs as root");
    // Nobody listens there: what is refused is refused before.
    let share = "smb://127.0.0.1:9/share/";
    let at = |path: PathBuf| path.to_str().expect("plain names").to_owned();
    for (from, to) in [
        (share.to_owned(), at(link.clone())),
        (share.to_owned(), at(link.join("new/deep"))),
        (share.to_owned(), at(link.join("keep"))),
        (at(link.join("keep")), share.to_owned()),
        (at(link.clone()), share.to_owned()),
    ] {
        let (code, said) = copied(&[&from, &to, "--guest", "--delete"]);
        assert_eq!(code, Some(65), "{from} {to}: {said}");
        assert!(said.contains("65534"), "{from} {to}: {said}");
    }
    assert_eq!(fs::read(dear.join("keep")).expect("it is there"), b"dear");
    assert_eq!(fs::read_dir(&dear).expect("it is there").count(), 1);
    // A link of its own leads where it says.
    std::os::unix::fs::lchown(&link, Some(0), None).expect("this runs as root");
    let (code, said) = copied(&[share, &at(link), "--guest"]);
    assert_eq!(code, Some(69), "{said}");
}

fn copied(arguments: &[&str]) -> (Option<i32>, String) {
    let output = lab_and_program::linerate()
        .arg("copy")
        .args(arguments)
        .output();
    let output = output.expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}
