//! What `deny.toml`, `SECURITY.md` and the fuzz targets say, held against the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use cargo_metadata::{Metadata, PackageId};
use toml::{Table, Value};

use crate::architecture_rules::{metadata, root, sources};

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn toml(path: &str) -> Table {
    read(path)
        .parse()
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn texts(value: &Value) -> Vec<&str> {
    let texts = value.as_array().expect("a list").iter();
    texts
        .map(|text| text.as_str().expect("a list of texts"))
        .collect()
}

/// An expression is fine when some choice of its `OR`s is; `AND` binds tighter.
fn licence_is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let plain = expression.replace(['(', ')'], "").replace('/', " OR ");
    plain.split(" OR ").any(|choice| {
        choice
            .split(" AND ")
            .all(|licence| allowed.contains(&licence.trim()))
    })
}

#[test]
fn every_dependency_is_from_the_registry_and_has_a_licence_of_the_list() {
    let metadata = metadata();
    let deny = toml("deny.toml");
    let allowed = texts(&deny["licenses"]["allow"]);
    let registry = ["https://github.com/rust-lang/crates.io-index"];
    assert_eq!(texts(&deny["sources"]["allow-registry"]), registry);
    assert!(texts(&deny["sources"]["allow-git"]).is_empty());
    let mut wrong = Vec::new();
    for package in &metadata.packages {
        if metadata.workspace_members.contains(&package.id) {
            assert_eq!(
                package.license.as_deref(),
                Some("MIT OR Apache-2.0"),
                "{}",
                package.name
            );
            continue;
        }
        let from_registry = package
            .source
            .as_ref()
            .is_some_and(cargo_metadata::Source::is_crates_io);
        let licence = package.license.as_deref().unwrap_or("none");
        if !from_registry || !licence_is_allowed(licence, &allowed) {
            wrong.push(format!("{} {}: {licence}", package.name, package.version));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Each crate with the crates that use it.
fn users(metadata: &Metadata) -> Vec<(&str, &str)> {
    let names: BTreeMap<&PackageId, &str> = metadata
        .packages
        .iter()
        .map(|package| (&package.id, package.name.as_str()))
        .collect();
    let nodes = &metadata.resolve.as_ref().expect("a graph").nodes;
    nodes
        .iter()
        .flat_map(|node| node.dependencies.iter().map(|used| (used, &node.id)))
        .map(|(used, user)| (names[used], names[user]))
        .collect()
}

#[test]
fn banned_crates_are_used_by_none_but_their_wrappers() {
    let metadata = metadata();
    let deny = toml("deny.toml");
    let users = users(&metadata);
    let banned = deny["bans"]["deny"].as_array().expect("a list");
    assert!(!banned.is_empty() && !users.is_empty());
    for ban in banned {
        let name = ban["crate"].as_str().expect("a name");
        let wrappers = ban.get("wrappers").map_or(Vec::new(), texts);
        let found: BTreeSet<&str> = users
            .iter()
            .filter(|(used, _)| *used == name)
            .map(|(_, user)| *user)
            .collect();
        let wanted: BTreeSet<&str> = wrappers.into_iter().collect();
        assert_eq!(found, wanted, "users of {name}");
    }
}

#[test]
fn every_fuzz_target_is_run_documented_and_replayed() {
    let manifest = toml("fuzz/Cargo.toml");
    let targets = manifest["bin"].as_array().expect("a list");
    let targets: BTreeSet<&str> = targets
        .iter()
        .map(|target| target["name"].as_str().expect("a name"))
        .collect();
    let list = read("fuzz/targets.txt");
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    let run: BTreeSet<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(run, targets);
    let readme = read("fuzz/README.md");
    let mut bytes = 0;
    for target in targets {
        assert!(readme.contains(&format!("| `{target}` |")), "{target}");
        let folder = root().join("fuzz/corpus").join(target);
        let kept = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{target}: {error}"));
        for input in kept {
            let input = input.expect("an entry").metadata().expect("a file");
            bytes += input.len();
        }
    }
    assert!(bytes < 300_000, "the corpus has {bytes} bytes");
}

/// What stands in back-ticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn security_names_tests_and_files_that_are_there() {
    let text = read("SECURITY.md");
    let sources = sources();
    let is_test = |name: &str| {
        let function = format!("fn {name}(");
        sources.iter().any(|(_, source)| {
            source.match_indices(&function).any(|(at, _)| {
                // The attribute, maybe others, and the indent.
                source[..at]
                    .rsplit("\n\n")
                    .next()
                    .is_some_and(|before| before.contains("#[test]"))
            })
        })
    };
    let rows = text
        .lines()
        .filter(|line| line.starts_with('|') && line.ends_with('|'))
        .skip(2);
    let mut named = 0;
    for row in rows {
        let proof = row.trim_matches('|').rsplit('|').next().expect("a cell");
        let tests: Vec<&str> = quoted(proof).filter(|name| !name.contains('/')).collect();
        for test in &tests {
            assert!(is_test(test), "no test is called `{test}`");
        }
        named += tests.len();
        let is_proven = quoted(proof).next().is_some();
        assert!(
            is_proven || proof.contains("not proven yet"),
            "no test, and not said so: {row}"
        );
    }
    assert!(named > 0, "a table with tests");
    for path in quoted(&text).filter(|name| name.contains('/') && !name.contains([' ', ':'])) {
        let is_ours = ["crates/", "fuzz/", "scripts/", "docs/"]
            .iter()
            .any(|folder| path.starts_with(folder));
        assert!(
            !is_ours || root().join(path).exists(),
            "there is no `{path}`"
        );
    }
}
