//! The structure of the repository, held against what cargo says: crate edges, where `unsafe` and
//! operating systems are allowed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the repository")
}

/// What cargo says of the workspace.
pub fn metadata() -> Metadata {
    MetadataCommand::new()
        .current_dir(root())
        .exec()
        .expect("`cargo metadata`")
}

/// Crates and what they use, from the table of ARCHITECTURE.md.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let words = |cell: &str| -> BTreeSet<String> {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    text.lines()
        // The first table is that of the crates.
        .skip_while(|line| !line.starts_with("| `"))
        .take_while(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
            let name = words(cells[0])
                .into_iter()
                .next()
                .expect("a name in back-ticks");
            (name, words(cells[cells.len() - 1]))
        })
        .collect()
}

#[test]
fn crates_use_what_the_architecture_says_and_nothing_else() {
    let metadata = metadata();
    let packages = metadata.workspace_packages();
    let names: BTreeSet<&str> = packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let edges: BTreeMap<String, BTreeSet<String>> = packages
        .iter()
        .map(|package| {
            let uses = package.dependencies.iter();
            let uses = uses.filter(|dependency| dependency.kind == DependencyKind::Normal);
            let uses = uses.map(|dependency| dependency.name.clone());
            let uses = uses.filter(|name| names.contains(name.as_str()));
            (package.name.to_string(), uses.collect())
        })
        .collect();
    assert_eq!(edges, table());
}

/// All code of the crates, by its path.
pub fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("UTF-8");
                found.push((
                    path.strip_prefix(root())
                        .expect("below the root")
                        .to_owned(),
                    text,
                ));
            }
        }
    }
    found
}

#[test]
fn unsafe_code_and_systems_stay_where_they_belong() {
    // Split, so that this file does not find itself.
    let keyword = concat!("unsafe", " {");
    let conditions = [
        concat!("cf", "g("),
        concat!("cf", "g!("),
        concat!("cfg", "_attr("),
    ];
    let systems = ["unix", "windows", "target_os", "target_family"];
    // What only tests do may be left out of them on other systems.
    let of_tests = concat!("cf", "g(all(test,");
    let is_for_one_system = |line: &&str| {
        conditions.iter().any(|condition| line.contains(condition))
            && systems.iter().any(|system| line.contains(system))
            && !line.contains(of_tests)
    };
    for (path, text) in sources() {
        let in_lab = path.starts_with("crates/lab");
        let in_os = path.starts_with("crates/os/src");
        // Only ioctl makes a TAP device and sets what it says of itself, and no safe interface has it.
        let makes_taps = path == Path::new("crates/lab/src/linux/tap.rs");
        // A C library that is loaded at run time.
        let calls_gss = path == Path::new("crates/smb/src/tickets/gssapi_library.rs");
        assert!(
            in_os || makes_taps || calls_gss || !text.contains(keyword),
            "unsafe code in {}",
            path.display()
        );
        let found = text.lines().find(is_for_one_system);
        assert!(
            in_lab || in_os || found.is_none(),
            "for one system only, in {}: {}",
            path.display(),
            found.unwrap_or_default()
        );
    }
}

#[test]
fn no_test_is_ignored_and_no_lint_is_silenced_without_a_reason() {
    let ignored = concat!("#[", "ignore");
    let allowed = concat!("#[", "allow(");
    for (path, text) in sources() {
        assert!(
            !text.contains(ignored),
            "an ignored test in {}",
            path.display()
        );
        assert!(
            !text.contains(allowed),
            "a bare `allow` in {}",
            path.display()
        );
    }
}

#[test]
fn only_exec_starts_programs() {
    let start = concat!("process::", "Command");
    let imports = concat!("process::", "{");
    // These start this program again, with fewer rights.
    let again = [
        "crates/measure/src/sandboxed_worker.rs",
        "crates/linerate/src/report_command.rs",
    ];
    for (path, text) in sources() {
        let text = text.split("#[cfg(test)]").next().expect("a first part");
        let is_test = path.components().any(|part| part.as_os_str() == "tests");
        // Run by developers, to hold linerate against other programs.
        let is_test = is_test || path.starts_with("crates/xtask");
        let is_exec =
            path.starts_with("crates/host/src/exec") || path.starts_with("crates/host/src/exec.rs");
        // Starts for it what it is given.
        let is_exec = is_exec || path.starts_with("crates/os/src/process");
        // Run by cargo, and no part of the program.
        let is_exec = is_exec || path.ends_with("build.rs");
        let is_exec = is_exec || again.iter().any(|file| path.starts_with(file));
        let mut imported = text.split(imports).skip(1);
        let starts = text.contains(start)
            || imported.any(|rest| {
                let names = rest.split('}').next().unwrap_or_default();
                names.split(',').any(|name| name.trim() == "Command")
            });
        assert!(
            is_test || is_exec || !starts,
            "a program is started in {}",
            path.display()
        );
    }
}

#[test]
fn what_threads_of_a_session_share_comes_from_where_a_model_can_have_it() {
    // Threads of their own, which share nothing with a session.
    let others = ["token_broker.rs", "kdc_client.rs", "std_or_shuttle.rs"];
    let shared = ["Mutex", "Condvar", "RwLock", "atomic"];
    for (path, text) in sources() {
        let of_session = ["crates/smb/src", "crates/smb-proto/src"]
            .iter()
            .any(|folder| path.starts_with(folder));
        let is_other = path
            .file_name()
            .is_some_and(|name| others.iter().any(|other| name == *other));
        if !of_session || is_other {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().expect("a first part");
        for line in code.lines().filter(|line| line.contains("std::sync")) {
            assert!(
                shared.iter().all(|word| !line.contains(word)),
                "{}: {line}",
                path.display()
            );
        }
    }
}

/// Words of the project stand in one short list, each with the file that says what it is.
#[test]
fn the_glossary_is_short_and_leads_to_files_that_are_there() {
    let text = fs::read_to_string(root().join("docs/glossary.md")).expect("docs/glossary.md");
    let rows = text
        .lines()
        .skip_while(|line| !line.starts_with("|---"))
        .skip(1);
    let rows: Vec<Vec<&str>> = rows
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let terms: Vec<String> = rows.iter().map(|row| row[0].to_lowercase()).collect();
    assert!((40..=80).contains(&terms.len()), "{} terms", terms.len());
    for (row, term) in rows.iter().zip(&terms) {
        let [_, meaning, file] = &row[..] else {
            panic!("{row:?}")
        };
        assert!(meaning.split(' ').count() <= 25, "{term}: {meaning}");
        let path = root().join(file.trim_matches('`'));
        assert!(path.is_file(), "{term}: {file}");
    }
    assert!(
        terms.is_sorted_by(|one, two| one.replace(['(', ')'], "") <= two.replace(['(', ')'], "")),
        "{terms:?}"
    );
}

/// Words that hid what things are, here, when they were names (`docs/glossary.md` has those of the field).
const HIDING: [&str; 24] = [
    "way", "ways", "told", "nobody", "somebody", "wish", "lever", "levers", "middle", "beside",
    "again", "twice", "keeper", "seeker", "lane", "lanes", "rig", "site", "look", "looks", "holes",
    "flips", "back", "room",
];
/// Standard names in which one of them is the field's word.
const OF_THE_FIELD: [&str; 3] = ["read_back", "rate_back", "write_back"];

/// The names that a source gives to what others see: items, and fields.
fn public_names(source: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for line in source.lines().map(str::trim_start) {
        let Some(rest) = line.strip_prefix("pub") else {
            continue;
        };
        let rest = match rest.strip_prefix('(') {
            Some(of) => of.split_once(')').map_or("", |(_, rest)| rest),
            None => rest,
        };
        let kinds = [
            "const", "unsafe", "async", "fn", "struct", "enum", "trait", "type", "static", "mod",
        ];
        let mut words = rest
            .split_whitespace()
            .skip_while(|word| kinds.contains(word));
        let name = words.next().unwrap_or_default();
        let end = name.find(|one: char| !one.is_alphanumeric() && one != '_');
        names.push(&name[..end.unwrap_or(name.len())]);
    }
    names
}

/// `KnobBackend`, `knob_backend` and `KNOB_BACKEND` are of the same words.
fn words_of(name: &str) -> Vec<String> {
    let is_constant = !name.contains(char::is_lowercase);
    let mut spaced = String::new();
    for one in name.chars() {
        if one == '_' || (one.is_uppercase() && !is_constant) {
            spaced.push(' ');
        }
        spaced.extend(one.to_lowercase().filter(|one| *one != '_'));
    }
    spaced.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn no_public_name_and_no_file_hides_what_it_is() {
    assert_eq!(words_of("PutBack"), ["put", "back"]);
    assert_eq!(words_of("look_again"), ["look", "again"]);
    assert_eq!(words_of("HEAD_ROOM"), ["head", "room"]);
    let hides = |name: &str| {
        let words = words_of(name);
        !OF_THE_FIELD.contains(&name) && words.iter().any(|word| HIDING.contains(&word.as_str()))
    };
    let mut found = Vec::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository") {
            let path = entry.expect("an entry").path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                folders.push(path.clone());
            } else if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            } else {
                let source = fs::read_to_string(&path).expect("UTF-8");
                let names = public_names(&source).into_iter().filter(|name| hides(name));
                found.extend(names.map(|name| format!("{}: {name}", path.display())));
            }
            if hides(&name) && !path.is_dir() {
                found.push(path.display().to_string());
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
