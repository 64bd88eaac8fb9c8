//! The jobs, each the same on every server.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::{Duration, Instant};

use super::file_trees::{self, Node, named};
use super::job_environment::{Outcome, Stage};
use super::posix_extension_jobs;
use super::servers::Server;
use super::slow_or_cut_proxy::{self, Path};
use super::two_links_against_one;

pub struct Job {
    pub name: &'static str,
    pub says: &'static str,
    /// Part of `make test`.
    pub always: bool,
    /// Only of servers with the POSIX extensions.
    of_posix: bool,
    /// So many links to the server are needed. What measures them has a server that was just started.
    pub links: usize,
    pub run: fn(&Stage<'_>) -> Outcome,
}

impl Job {
    /// Whether it is one for this server.
    pub fn fits(&self, server: &Server) -> bool {
        (server.posix || !self.of_posix) && self.links <= server.links()
    }
}

const fn job(name: &'static str, says: &'static str, run: fn(&Stage<'_>) -> Outcome) -> Job {
    Job {
        name,
        says,
        always: false,
        of_posix: false,
        links: 1,
        run,
    }
}

const fn of_posix(name: &'static str, says: &'static str, run: fn(&Stage<'_>) -> Outcome) -> Job {
    Job {
        of_posix: true,
        ..job(name, says, run)
    }
}

const fn always(name: &'static str, says: &'static str, run: fn(&Stage<'_>) -> Outcome) -> Job {
    Job {
        name,
        says,
        always: true,
        of_posix: false,
        links: 1,
        run,
    }
}

const MIB: usize = 1 << 20;

pub const JOBS: &[Job] = &[
    job("write empty", "a file without bytes", |it| up(it, 0)),
    job("write small", "a file of 5 bytes", |it| up(it, 5)),
    job("write 64 KiB", "the most that goes in one message", |it| {
        up(it, 64 << 10)
    }),
    job("write 64 KiB and 1", "the least that does not", |it| {
        up(it, (64 << 10) + 1)
    }),
    job("write 20 MiB", "a large file, of an odd length", |it| {
        up(it, 20 * MIB + 3)
    }),
    job(
        "write 300 MiB",
        "a very large file, over two sessions",
        |it| up(it, 300 * MIB + 1),
    ),
    job("read empty", "a file without bytes", |it| down(it, 0)),
    job("read small", "a file of 5 bytes", |it| down(it, 5)),
    job("read 64 KiB and 1", "more than goes in one message", |it| {
        down(it, (64 << 10) + 1)
    }),
    job("read 20 MiB", "a large file, of an odd length", |it| {
        down(it, 20 * MIB + 3)
    }),
    job(
        "read 300 MiB",
        "a very large file, over two sessions",
        |it| down(it, 300 * MIB + 1),
    ),
    job("append", "a file that has grown is copied again", append),
    job(
        "replace",
        "`--force` puts another file in its place",
        replace,
    ),
    job("keep", "without it, what is there stays", keep),
    job("update", "the second time, nothing is copied", update),
    job(
        "delete",
        "`--delete` removes what the source does not have",
        delete,
    ),
    job("dry run", "nothing is changed", dry_run),
    job(
        "tree of small files",
        "600 files in 30 folders, there and back",
        small_files,
    ),
    job(
        "deep tree",
        "25 folders in each other, there and back",
        deep,
    ),
    job(
        "random tree",
        "files of random sizes with odd names, there and back",
        random,
    ),
    always(
        "sparse start",
        "50 MiB with 2 MiB of data at 30 MiB",
        |it| sparse(it, 50 << 20, &[(30 << 20, 2 * MIB)]),
    ),
    always(
        "sparse several",
        "data at the begin, in between, and a hole at the end",
        |it| {
            sparse(
                it,
                40 << 20,
                &[(0, 4096), (9 << 20, 70_000), (20 << 20, MIB)],
            )
        },
    ),
    always("sparse hole", "nothing but a hole", |it| {
        sparse(it, 12 << 20, &[])
    }),
    job("sparse read", "holes on the server", sparse_down),
    job(
        "times",
        "the time of the last change, of files and folders",
        times,
    ),
    job(
        "times far away",
        "of the years 1971 and 2105, and a tenth of a microsecond",
        times_far,
    ),
    job(
        "read-only",
        "a file without the right to write it",
        read_only,
    ),
    always(
        "names of Windows",
        "`CON`, `aux.txt`, `a:b`, `what?`, dots and blanks at the end",
        names_windows,
    ),
    job(
        "names mapped",
        "those of Windows, by `--no-posix --map-names`",
        |it| names(it, WINDOWS_NAMES, &["--no-posix", "--map-names"]),
    ),
    always(
        "names by case",
        "names that differ in case only",
        names_case,
    ),
    always(
        "names in Unicode",
        "kanji, both forms of `é`, letters beyond 16 bits",
        names_unicode,
    ),
    always(
        "names that are long",
        "255 letters, 255 bytes, 255 kanji",
        names_long,
    ),
    always(
        "names of the server",
        "what its disk has and a share cannot name",
        names_there,
    ),
    always("verify up", "read back and hashed", |it| verify(it, true)),
    always("verify down", "read back and hashed", |it| {
        verify(it, false)
    }),
    always("resume up", "killed, and gone on with", |it| {
        resume(it, true)
    }),
    always("resume down", "killed, and gone on with", |it| {
        resume(it, false)
    }),
    job(
        "cut up",
        "the connection is cut 3 times while a file is written",
        |it| cut(it, true),
    ),
    job(
        "cut down",
        "the connection is cut 3 times while a file is read",
        |it| cut(it, false),
    ),
    job(
        "listing",
        "a folder of 100 000 files; 10 000 where the server is a guest by software alone",
        listing,
    ),
    job(
        "on the server",
        "from one place of the share to another",
        on_server,
    ),
    job("unsigned", "`--allow-unsigned`", |it| {
        up_with(it, &["--allow-unsigned"])
    }),
    job("encrypted", "`--encrypt`", |it| up_with(it, &["--encrypt"])),
    job(
        "wrong share",
        "one that is not there, and what is",
        wrong_share,
    ),
    job("wrong password", "is said to be refused", wrong_password),
    job(
        "links of the server",
        "symbolic links to a file, to nothing, and out of the share",
        symbolic_links,
    ),
    always(
        "other server",
        "a folder that the second target of a DFS link has",
        referred,
    ),
    of_posix(
        "names of Unix",
        "by case and with what Windows cannot have, as they are on the server's disk",
        posix_extension_jobs::names,
    ),
    of_posix(
        "modes",
        "of files and folders, on the server's disk and back",
        posix_extension_jobs::modes,
    ),
    of_posix(
        "links as links",
        "those that stay below the folder, there and back; none that leads out",
        posix_extension_jobs::links,
    ),
    of_posix(
        "links on the way",
        "a path that is given is followed, `--links follow` follows all, `--no-posix` sees none",
        posix_extension_jobs::followed_links,
    ),
    Job {
        name: "two links",
        says: "carry what two can",
        always: false,
        of_posix: false,
        links: 2,
        run: two_links_against_one::two,
    },
];

fn up(stage: &Stage<'_>, bytes: usize) -> Outcome {
    file_trees::write(&stage.here("写真.bin"), bytes, 7);
    let said = stage.copy(&[&stage.at("写真.bin"), &stage.url("写真.bin")]);
    stage.judge(&said, &stage.here("写真.bin"), &stage.there("写真.bin"))
}

fn up_with(stage: &Stage<'_>, words: &[&str]) -> Outcome {
    file_trees::write(&stage.here("a/写真.bin"), 3 * MIB, 7);
    file_trees::write(&stage.here("a/small"), 100, 8);
    let said = stage.copy(&[&[&*stage.at("a/"), &stage.url("a")], words].concat());
    stage.judge(&said, &stage.here("a"), &stage.there("a"))
}

fn down(stage: &Stage<'_>, bytes: usize) -> Outcome {
    file_trees::write(&stage.there("写真.bin"), bytes, 7);
    let said = stage.copy(&[&stage.url("写真.bin"), &stage.at("写真.bin")]);
    stage.judge(&said, &stage.there("写真.bin"), &stage.here("写真.bin"))
}

/// A folder of this machine to the share, and from there to another one here.
pub fn round_trip(stage: &Stage<'_>, words: &[&str]) -> Outcome {
    let source = stage.here("source");
    let up = stage.copy(&[&[&*stage.at("source/"), &stage.url("copy")], words].concat());
    let (code, failures) = (up.code, up.failures());
    let sent = match code {
        Some(0) => file_trees::read(&source),
        // What was refused does not come back.
        Some(1) => {
            let mut sent = file_trees::read(&source);
            sent.retain(|path, _| {
                let path = smb::copy::printable(&String::from_utf8_lossy(path));
                !failures
                    .iter()
                    .any(|(named, _)| *named == path || path.starts_with(&format!("{named}/")))
            });
            sent
        }
        _ => return up.judge(&file_trees::read(&source), &file_trees::Tree::new()),
    };
    let down = stage.copy(
        &[
            &[&*format!("{}/", stage.url("copy")), &stage.at("back")],
            words,
        ]
        .concat(),
    );
    match down.judge(&sent, &file_trees::read(&stage.here("back"))) {
        Outcome::Ok if code == Some(1) => Outcome::Refused(up.reason()),
        outcome => outcome,
    }
}

fn append(stage: &Stage<'_>) -> Outcome {
    file_trees::write(&stage.here("log"), MIB, 1);
    let first = stage.copy(&[&stage.at("log"), &stage.url("log")]);
    file_trees::write(&stage.here("log"), MIB + 777, 1);
    file_trees::set_seconds(&stage.here("log"), 1_600_000_000);
    let again = stage.copy(&[&stage.at("log"), &stage.url("log"), "--update"]);
    Outcome::of(first.code == Some(0), || first.reason())
        .and(|| stage.judge(&again, &stage.here("log"), &stage.there("log")))
}

fn replace(stage: &Stage<'_>) -> Outcome {
    for (name, bytes) in [("small", 500), ("large", 2 * MIB)] {
        file_trees::write(&stage.here(&format!("a/{name}")), bytes, 1);
        file_trees::write(&stage.there(&format!("a/{name}")), bytes + 99, 2);
    }
    for folder in ["a", "a/small", "a/large"] {
        fs::set_permissions(stage.there(folder), fs::Permissions::from_mode(0o777))
            .expect("our own");
    }
    let said = stage.copy(&[&stage.at("a/"), &stage.url("a"), "--force"]);
    stage.judge(&said, &stage.here("a"), &stage.there("a"))
}

fn keep(stage: &Stage<'_>) -> Outcome {
    file_trees::write(&stage.here("a"), 500, 1);
    file_trees::write(&stage.there("a"), 501, 2);
    let before = file_trees::file(&stage.there("a"));
    let said = stage.copy(&[&stage.at("a"), &stage.url("a")]);
    let kept = file_trees::file(&stage.there("a")) == before;
    Outcome::of(
        kept && said.code == Some(65) && said.reason().contains("exists"),
        || format!("exit code {:?}, kept {kept}: {}", said.code, said.reason()),
    )
}

fn update(stage: &Stage<'_>) -> Outcome {
    for number in 0..20 {
        file_trees::write(
            &stage.here(&format!("a/{number}")),
            100 * number,
            number as u64,
        );
    }
    file_trees::write(&stage.here("a/large"), 2 * MIB, 2);
    let first = stage.copy(&[&stage.at("a/"), &stage.url("a")]);
    let again = stage.copy(&[&stage.at("a/"), &stage.url("a"), "--update"]);
    stage
        .judge(&first, &stage.here("a"), &stage.there("a"))
        .and(|| {
            Outcome::of(
                again.json["files"] == 0 && again.json["unchanged"] == 21,
                || {
                    format!(
                        "{} are copied again: {}",
                        again.json["files"],
                        again.reason()
                    )
                },
            )
        })
}

fn delete(stage: &Stage<'_>) -> Outcome {
    for name in ["a/keep", "a/go", "a/deep/go", "a/deep/keep"] {
        file_trees::write(&stage.here(name), 10, 3);
    }
    let first = stage.copy(&[&stage.at("a/"), &stage.url("a")]);
    fs::remove_file(stage.here("a/go")).expect("our own file");
    fs::remove_file(stage.here("a/deep/go")).expect("our own file");
    let again = stage.copy(&[&stage.at("a/"), &stage.url("a"), "--update", "--delete"]);
    Outcome::of(first.code == Some(0), || first.reason())
        .and(|| stage.judge(&again, &stage.here("a"), &stage.there("a")))
}

fn dry_run(stage: &Stage<'_>) -> Outcome {
    file_trees::write(&stage.here("a/b"), 10, 3);
    let said = stage.copy(&[&stage.at("a"), &stage.url(""), "--dry-run"]);
    let nothing = file_trees::read(&stage.there("")).is_empty();
    Outcome::of(
        said.code == Some(0) && nothing && said.json["files"] == 1,
        || said.reason(),
    )
}

fn small_files(stage: &Stage<'_>) -> Outcome {
    for number in 0..600 {
        let path = format!("source/写真 {}/{number}.jpg", number % 30);
        file_trees::write(&stage.here(&path), number * 37 % 9000, number as u64);
    }
    round_trip(stage, &[])
}

fn deep(stage: &Stage<'_>) -> Outcome {
    let mut path = "source".to_owned();
    for depth in 0..25 {
        path.push_str("/深");
        file_trees::write(
            &stage.here(&format!("{path}/file {depth}")),
            depth * 10,
            depth as u64,
        );
    }
    round_trip(stage, &[])
}

/// Trees whose names are put together of what is odd, always the same ones; with `LINERATE_TREES` so many, all but the
/// first also of what Windows does not take.
fn random(stage: &Stage<'_>) -> Outcome {
    const ODD: [&str; 20] = [
        "a", "B", "é", "e\u{301}", "ü", "写", "真", "😀", " ", ".", "~1", "#", "%41", "&", "'",
        "[x]", "\u{f022}", "-", "$", "\u{3000}",
    ];
    const HOSTILE: [&str; 36] = [
        "a", "B", "é", "e\u{301}", "ü", "写", "ソ", "😀", " ", ".", "~1", "#", "%41", "&", "'",
        "[x]", "\u{f022}", "\u{f03a}", "$", "\u{3000}", ":", "?", "*", "\"", "<", ">", "|", "\\",
        "\u{1}", "\t", "\u{7f}", "CON", "nul.", "::$DATA", "\u{202e}", "\u{feff}",
    ];
    let trees = std::env::var("LINERATE_TREES").ok();
    let trees: u64 = trees.map_or(1, |it| it.parse().expect("a number of trees"));
    let outcome = random_tree(stage, 1, 150, &ODD);
    let mut refusing = 0;
    for seed in 2..=trees {
        match random_tree(&stage.another(&seed.to_string()), seed, 40, &HOSTILE) {
            Outcome::Ok | Outcome::Measured(_) => {}
            // Named, and the rest of the tree came home.
            Outcome::Refused(_) => refusing += 1,
            wrong => return wrong,
        }
    }
    outcome.and(|| match trees {
        0 | 1 => Outcome::Ok,
        _ => Outcome::Measured(format!("{trees} trees, of {refusing} not all names")),
    })
}

fn random_tree(stage: &Stage<'_>, seed: u64, files: u64, parts: &[&str]) -> Outcome {
    let mut state = seed;
    let mut next = |most: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % most
    };
    let is_hostile = seed > 1;
    let name = |next: &mut dyn FnMut(usize) -> usize| -> String {
        (0..=next(6)).map(|_| parts[next(parts.len())]).collect()
    };
    let mut folders: Vec<String> = (0..5).map(|it| format!("source/{it}")).collect();
    if is_hostile {
        folders.extend((0..5).map(|it| format!("source/{it}/{}", name(&mut next))));
    }
    for folder in &folders {
        fs::create_dir_all(stage.here(folder)).expect("space on the disk");
    }
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..files {
        let folder = &folders[next(folders.len())];
        let name = name(&mut next);
        let bytes = if next(10) == 0 {
            next(300_000)
        } else {
            next(3000)
        };
        let is_plain = !name.ends_with([' ', '.']) && !name.starts_with(' ');
        let is_name = is_hostile && ![".", ".."].contains(&&*name) || is_plain && name != ".";
        let path = format!("{folder}/{name}");
        if is_name && seen.insert(path.to_lowercase()) && !stage.here(&path).exists() {
            file_trees::write(&stage.here(&path), bytes, number);
        }
    }
    round_trip(stage, if is_hostile { &["--map-names"] } else { &[] })
}

fn sparse(stage: &Stage<'_>, size: u64, data: &[(u64, usize)]) -> Outcome {
    file_trees::write_sparse(&stage.here("映画"), size, data);
    let said = stage.copy(&[&stage.at("映画"), &stage.url("映画")]);
    stage.judge(&said, &stage.here("映画"), &stage.there("映画"))
}

fn sparse_down(stage: &Stage<'_>) -> Outcome {
    file_trees::write_sparse(
        &stage.there("映画"),
        50 << 20,
        &[(30 << 20, 2 * MIB), (40 << 20, 5)],
    );
    let said = stage.copy(&[&stage.url("映画"), &stage.at("映画")]);
    stage.judge(&said, &stage.there("映画"), &stage.here("映画"))
}

fn seconds_of(stage: &Stage<'_>, times: &[(&str, i64)]) -> Outcome {
    for (path, expected) in times {
        let found = file_trees::seconds(&stage.there(path));
        if found != *expected {
            return Outcome::Lost(format!(
                "the time of `{path}` is {found} and not {expected}"
            ));
        }
    }
    Outcome::Ok
}

fn times(stage: &Stage<'_>) -> Outcome {
    let times = [
        ("a/small", 1_500_000_001),
        ("a/large", 1_500_000_002),
        ("a", 1_400_000_000),
    ];
    file_trees::write(&stage.here("a/small"), 10, 1);
    file_trees::write(&stage.here("a/large"), MIB, 2);
    let touched = std::process::Command::new("touch")
        .args(["-d", "@1400000000"])
        .arg(stage.here("a"))
        .status();
    assert!(touched.is_ok_and(|it| it.success()));
    let said = stage.copy(&[&stage.at("a"), &stage.url("")]);
    stage
        .judge(&said, &stage.here("a"), &stage.there("a"))
        .and(|| seconds_of(stage, &times))
}

fn times_far(stage: &Stage<'_>) -> Outcome {
    let times = [
        ("a/early", 40_000_000),
        ("a/late", 4_270_000_000),
        ("a/large", 41_000_000),
    ];
    for (path, seconds) in times {
        file_trees::write(
            &stage.here(path),
            if path == "a/large" { MIB } else { 10 },
            1,
        );
        file_trees::set_seconds(&stage.here(path), seconds as u64);
    }
    let said = stage.copy(&[&stage.at("a/"), &stage.url("a")]);
    stage
        .judge(&said, &stage.here("a"), &stage.there("a"))
        .and(|| seconds_of(stage, &times))
}

fn read_only(stage: &Stage<'_>) -> Outcome {
    for (name, bytes) in [("source/small", 10), ("source/large", MIB)] {
        file_trees::write(&stage.here(name), bytes, 1);
        fs::set_permissions(stage.here(name), fs::Permissions::from_mode(0o444)).expect("our own");
    }
    round_trip(stage, &[])
}

const WINDOWS_NAMES: &[&[u8]] = &[
    b"CON",
    b"aux.txt",
    b"nul",
    b"COM1.log",
    b"a:b",
    b"what?",
    b"x*y",
    b"q\"q",
    b"<in>",
    b"a|b",
    b"back\\slash",
    b"dots...",
    b"dot.",
    b"blank ",
    b" blank",
    b"tab\there",
    b"plain",
];

fn names(stage: &Stage<'_>, names: &[&[u8]], words: &[&str]) -> Outcome {
    for (number, name) in names.iter().enumerate() {
        let path = stage.here("source").join(named(name));
        file_trees::write(&path, 10 + number, number as u64);
    }
    round_trip(stage, words)
}

fn names_windows(stage: &Stage<'_>) -> Outcome {
    names(stage, WINDOWS_NAMES, &["--map-names"])
}

fn names_case(stage: &Stage<'_>) -> Outcome {
    names(
        stage,
        &[b"Photo.JPG", b"photo.jpg", b"other"],
        &["--map-names"],
    )
}

fn names_unicode(stage: &Stage<'_>) -> Outcome {
    let list: Vec<&[u8]> = [
        "写真.txt",
        "caf\u{e9}",
        "cafe\u{301}",
        "\u{1f600}",
        "\u{20000}",
        "ß",
        "İ",
        "\u{ac00}",
        "\u{1100}\u{1161}",
        "ﬁ",
        "a\u{202e}b",
    ]
    .iter()
    .map(|it| it.as_bytes())
    .collect();
    names(stage, &list, &["--map-names"])
}

fn names_long(stage: &Stage<'_>) -> Outcome {
    let (ascii, wide) = ("x".repeat(255), format!("{}x", "é".repeat(127)));
    let kanji = "写".repeat(85);
    names(
        stage,
        &[
            ascii.as_bytes(),
            wide.as_bytes(),
            kanji.as_bytes(),
            b"short",
        ],
        &["--map-names"],
    )
}

/// Files that were made on the server itself. Each comes home under its own name, or is named.
fn names_there(stage: &Stage<'_>) -> Outcome {
    let names: [&[u8]; 9] = [
        b"CON",
        b"a:b",
        b"what?",
        b"dot.",
        b"blank ",
        b"back\\slash",
        b"lat\xefn",
        "写真".as_bytes(),
        b"plain",
    ];
    for (number, name) in names.iter().enumerate() {
        file_trees::write(
            &stage.there("a").join(named(name)),
            10 + number,
            number as u64,
        );
    }
    let said = stage.copy(&[
        &format!("{}/", stage.url("a")),
        &stage.at("a"),
        "--map-names",
    ]);
    let (there, here) = (
        file_trees::read(&stage.there("a")),
        match stage.here("a").exists() {
            true => file_trees::read(&stage.here("a")),
            false => file_trees::Tree::new(),
        },
    );
    let missing = there
        .iter()
        .filter(|(path, node)| here.get(*path) != Some(node))
        .count();
    let odd: Vec<String> = (here.iter())
        .filter(|(path, node)| there.get(*path) != Some(node))
        .map(|(path, _)| String::from_utf8_lossy(path).into_owned())
        .collect();
    // What a server does not list, no client can miss.
    let listed = stage.run(&["ls", &stage.url("a"), "--json"]);
    let hidden = there.len()
        - listed.json["entries"]
            .as_array()
            .map_or(0, Vec::len)
            .min(there.len());
    let missing = missing.saturating_sub(hidden);
    let reported = said.json["failed"].as_u64().unwrap_or(0) as usize;
    match (said.code, missing, reported) {
        (Some(0), 0, _) => Outcome::Ok,
        _ if !odd.is_empty() => {
            Outcome::Lost(format!("came home as {odd:?}; exit code {:?}", said.code))
        }
        (Some(0), _, _) => Outcome::Lost(format!("{missing} did not come home, exit code 0")),
        (Some(1), _, _) if reported >= missing || reported > 0 => Outcome::Refused(said.reason()),
        _ => Outcome::Failed(format!("exit code {:?}: {}", said.code, said.reason())),
    }
}

fn verify(stage: &Stage<'_>, up: bool) -> Outcome {
    for (name, bytes) in [("small", 70), ("large", 9 * MIB + 1), ("写真", 300_000)] {
        let path = format!("a/{name}");
        file_trees::write(
            &if up {
                stage.here(&path)
            } else {
                stage.there(&path)
            },
            bytes,
            bytes as u64,
        );
    }
    let (here, there) = (stage.at("a/"), format!("{}/", stage.url("a")));
    let said = match up {
        true => stage.copy(&[&here, &there, "--verify"]),
        false => stage.copy(&[&there, &here, "--verify"]),
    };
    let (source, copy) = match up {
        true => (stage.here("a"), stage.there("a")),
        false => (stage.there("a"), stage.here("a")),
    };
    stage.judge(&said, &source, &copy).and(|| {
        Outcome::of(said.json["verified"] == 3, || {
            format!("{} of 3 are verified", said.json["verified"])
        })
    })
}

/// Killed when some of it is on record.
fn resume(stage: &Stage<'_>, up: bool) -> Outcome {
    const BYTES: usize = 72 * MIB;
    let (source, copy) = match up {
        true => (stage.here("film"), stage.there("film")),
        false => (stage.there("film"), stage.here("film")),
    };
    file_trees::write(&source, BYTES, 5);
    let path = Path {
        rate: 12 << 20,
        ..Path::default()
    };
    let slow = slow_or_cut_proxy::open(stage.address(), path);
    let words = |there| {
        let here = stage.at("film");
        if up { [here, there] } else { [there, here] }
    };
    let [from, to] = words(stage.url_by(slow, "film"));
    let mut child = stage
        .command(&["copy", &from, &to])
        .spawn()
        .expect("the program under test");
    let folder = copy.parent().expect("it is in a folder");
    let begun = Instant::now();
    let recorded = || {
        let mut names = fs::read_dir(folder)
            .expect("it is there")
            .filter_map(Result::ok);
        names.any(|it| {
            it.file_name()
                .to_string_lossy()
                .ends_with("linerate-record")
                && it.metadata().is_ok_and(|it| it.len() > 0)
        })
    };
    while !recorded()
        && begun.elapsed() < Duration::from_secs(20)
        && child.try_wait().is_ok_and(|it| it.is_none())
    {
        thread::sleep(Duration::from_millis(10));
    }
    let was_recorded = recorded();
    thread::sleep(Duration::from_millis(100));
    let _ = child.kill();
    let _ = child.wait();
    if !was_recorded {
        return Outcome::Failed("nothing was put on record".to_owned());
    }
    let [from, to] = words(stage.url("film"));
    let said = stage.copy(&[&from, &to, "--resume"]);
    stage.judge(&said, &source, &copy).and(|| {
        let resumed = said.json["resumed_bytes"].as_u64().unwrap_or(0);
        Outcome::of(resumed > 0, || "it began anew".to_owned())
    })
}

fn cut(stage: &Stage<'_>, up: bool) -> Outcome {
    let (source, copy) = match up {
        true => (stage.here("film"), stage.there("film")),
        false => (stage.there("film"), stage.here("film")),
    };
    file_trees::write(&source, 40 * MIB, 5);
    let path = Path {
        cut_after: 11 << 20,
        cuts: 3,
        ..Path::default()
    };
    let port = slow_or_cut_proxy::open(stage.address(), path);
    let (here, there) = (stage.at("film"), stage.url_by(port, "film"));
    let said = match up {
        true => stage.copy(&[&here, &there]),
        false => stage.copy(&[&there, &here]),
    };
    stage.judge(&said, &source, &copy)
}

fn listing(stage: &Stage<'_>) -> Outcome {
    let files = match stage.is_slow() {
        true => 10_000,
        false => 100_000,
    };
    fs::create_dir(stage.there("many")).expect("our own folder");
    for number in 0..files {
        fs::write(stage.there(&format!("many/写真 {number:06}")), b"").expect("space on the disk");
    }
    let said = stage.run(&["ls", &stage.url("many"), "--json"]);
    let entries = said.json["entries"].as_array().map_or(0, Vec::len);
    match said.code {
        Some(0) if entries == files => Outcome::Ok,
        Some(0) => Outcome::Lost(format!("{entries} entries, exit code 0")),
        Some(69) if !said.stderr.is_empty() => Outcome::Refused(said.reason()),
        code => Outcome::Failed(format!("exit code {code:?}: {}", said.reason())),
    }
}

fn on_server(stage: &Stage<'_>) -> Outcome {
    file_trees::write(&stage.there("a/large"), 5 * MIB, 1);
    file_trees::write(&stage.there("a/small"), 50, 2);
    let said = stage.copy(&[&format!("{}/", stage.url("a")), &stage.url("b")]);
    stage.judge(&said, &stage.there("a"), &stage.there("b"))
}

fn wrong_share(stage: &Stage<'_>) -> Outcome {
    file_trees::write(&stage.here("a"), 5, 1);
    let said = stage.copy(&[&stage.at("a"), &stage.url_of("nowhere", "a")]);
    let lists = said.stderr.contains(super::servers::SHARE);
    Outcome::of(said.code == Some(65) && lists, || {
        format!("exit code {:?}: {}", said.code, said.reason())
    })
}

fn wrong_password(stage: &Stage<'_>) -> Outcome {
    file_trees::write(&stage.here("a"), 5, 1);
    let login = format!("username={}\npassword=wrong\n", super::servers::USER);
    fs::write(stage.here("login"), login).expect("our own file");
    let said = stage.copy(&[&stage.at("a"), &stage.url("a")]);
    let says = said.stderr.contains("password") && !said.stderr.contains("0x");
    Outcome::of(said.code == Some(65) && says, || {
        format!("exit code {:?}: {}", said.code, said.reason())
    })
}

fn symbolic_links(stage: &Stage<'_>) -> Outcome {
    file_trees::write(&stage.there("a/file"), 5, 1);
    for (target, link) in [
        ("file", "a/link"),
        ("nowhere", "a/dangling"),
        ("/etc/hostname", "a/outside"),
    ] {
        std::os::unix::fs::symlink(target, stage.there(link)).expect("our own folder");
    }
    let said = stage.copy(&[&format!("{}/", stage.url("a")), &stage.at("a")]);
    let here = match stage.here("a").exists() {
        true => file_trees::read(&stage.here("a")),
        false => file_trees::Tree::new(),
    };
    let file = file_trees::file(&stage.there("a/file"));
    // With the POSIX extensions, a link that stays in the folder is one here.
    let is_link = |node: &Node, target: &str| *node == Node::Link(target.into());
    let is_known = |path: &[u8], node: &Node| match path {
        b"file" => true,
        b"link" => *node == file || is_link(node, "file"),
        b"dangling" => is_link(node, "nowhere"),
        _ => false,
    };
    let only_known = here.iter().all(|(path, node)| is_known(path, node));
    match said.code {
        Some(0 | 1) if here.get(&b"file"[..]) == Some(&file) && only_known => Outcome::Ok,
        Some(1 | 65 | 69) if here.is_empty() => Outcome::Refused(said.reason()),
        _ => Outcome::Failed(format!(
            "{here:?}, exit code {:?}: {}",
            said.code,
            said.reason()
        )),
    }
}

/// A folder of the share that is called a link's, over a link to it, with all else in the folder of the link.
fn referred(stage: &Stage<'_>) -> Outcome {
    file_trees::write(&stage.there("a/film"), MIB, 1);
    file_trees::write(&stage.there("a/deep/small"), 5, 2);
    for folder in ["a", "a/deep"] {
        fs::set_permissions(stage.there(folder), fs::Permissions::from_mode(0o777))
            .expect("our own");
    }
    stage.refer("a", "link");
    let said = stage.copy(&[&stage.linked(""), &stage.at("all")]);
    let first = stage.judge(&said, &stage.there("a"), &stage.here("all/link"));
    if first != Outcome::Ok {
        return first;
    }
    let said = stage.copy(&[&stage.linked("link/deep"), &stage.at("one/")]);
    let listed = stage.run(&["ls", &stage.linked("link"), "--json"]);
    let checked = stage.run(&["check", &stage.linked("link"), "--quick"]);
    file_trees::write(&stage.here("up/new"), 70_000, 3);
    let sent = stage.copy(&[&stage.at("up/"), &stage.linked("link/up")]);
    stage
        .judge(&said, &stage.there("a/deep"), &stage.here("one/deep"))
        .and(|| {
            let entries = listed.json["entries"].as_array().map(Vec::len);
            Outcome::of(entries == Some(2), || listed.reason())
        })
        .and(|| stage.judge(&sent, &stage.here("up"), &stage.there("a/up")))
        .and(|| {
            let said = format!("{:?}: {}", checked.code, checked.stderr);
            let named = format!(", or `{}`", stage.target("a"));
            Outcome::of(checked.code == Some(65) && said.contains(&named), || said)
        })
}
