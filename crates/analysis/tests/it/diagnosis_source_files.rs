//! The files of the diagnosis: one for each cause, and no circles among them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use analysis::CAUSES;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/diagnosis")
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).expect("a folder of the crate");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let files = paths.filter(|path| path.extension().is_some_and(|it| it == "rs"));
    files
        .map(|path| {
            let name = path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, fs::read_to_string(&path).expect("UTF-8"))
        })
        .filter(|(name, _)| name != "mod")
        .collect()
}

#[test]
fn every_cause_has_a_file_of_its_name_and_imports_no_other() {
    let files = files(&folder().join("causes"));
    let rows: BTreeSet<String> = CAUSES
        .iter()
        .map(|row| row.id.as_str().replace('-', "_"))
        .collect();
    assert_eq!(files.keys().cloned().collect::<BTreeSet<_>>(), rows);
    for (name, text) in &files {
        for other in files.keys().filter(|other| *other != name) {
            let imports = [format!("causes::{other}"), format!("super::{other}")];
            let is_imported = imports.iter().any(|import| text.contains(import.as_str()));
            assert!(!is_imported, "{name} imports {other}");
        }
    }
}

#[test]
fn no_file_of_the_diagnosis_imports_one_that_imports_it() {
    let mut files = files(&folder());
    let causes = self::files(&folder().join("causes")).into_values();
    files.insert("causes".to_owned(), causes.collect());
    let imports = |text: &str, other: &str| {
        let is_named = |import: &str| text.contains(&format!("{import}{other}::"));
        let in_list = text.split(';').any(|line| {
            let line = line.trim_start();
            let list = line.strip_prefix("use super::{");
            list.is_some_and(|list| {
                let names = list.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
                names.into_iter().any(|name| name == other)
            })
        });
        is_named("super::")
            || is_named("diagnosis::")
            || in_list
            || text.contains(&format!("diagnosis::{other};"))
            || text.contains(&format!("use super::{other};"))
    };
    let mut left: BTreeMap<&str, BTreeSet<&str>> = files
        .iter()
        .map(|(name, text)| {
            let others = files.keys().map(String::as_str);
            let used = others.filter(|other| *other != name && imports(text, other));
            (name.as_str(), used.collect())
        })
        .collect();
    // What imports nothing that is left is taken away until nothing is left.
    loop {
        let done: Vec<&str> = left
            .iter()
            .filter(|(_, used)| used.iter().all(|other| !left.contains_key(other)))
            .map(|(name, _)| *name)
            .collect();
        if done.is_empty() {
            break;
        }
        for name in done {
            left.remove(name);
        }
    }
    assert!(left.is_empty(), "a circle: {left:?}");
}
