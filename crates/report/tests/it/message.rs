//! Every id that analysis can say has a sentence, and every sentence is said.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use report::message::ids;

/// Every literal of the diagnosis that looks like an id of a message.
fn literals() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../analysis/src/diagnosis");
    let mut found = BTreeSet::new();
    for folder in [folder.clone(), folder.join("causes")] {
        for entry in fs::read_dir(folder).expect("a folder of the repository") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("UTF-8");
                let parts = text.split('"').skip(1).step_by(2);
                found.extend(parts.map(str::to_owned));
            }
        }
    }
    found
}

/// What is handed to `say` itself.
fn said() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../analysis/src/diagnosis");
    let mut found = BTreeSet::new();
    for folder in [folder.clone(), folder.join("causes")] {
        for entry in fs::read_dir(folder).expect("a folder of the repository") {
            let path = entry.expect("an entry").path();
            let text = match path.is_file() {
                // Contradictions of two ends are texts of their own.
                true if !path.ends_with("ends.rs") => fs::read_to_string(&path).expect("UTF-8"),
                _ => continue,
            };
            for call in ["say(\"", "Advice::of(\"", "Hand(\"", "OutOfSight(\""] {
                let calls = text.split(call).skip(1);
                found.extend(calls.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
            }
        }
    }
    found
}

#[test]
fn no_sentence_is_missing_and_none_is_unused() {
    let known: BTreeSet<String> = ids().into_iter().map(str::to_owned).collect();
    assert_eq!(known.len(), ids().len(), "an id has two sentences");
    let missing: Vec<String> = said().difference(&known).cloned().collect();
    assert!(missing.is_empty(), "without a sentence: {missing:?}");
    let unused: Vec<String> = known.difference(&literals()).cloned().collect();
    assert!(unused.is_empty(), "never said: {unused:?}");
}
