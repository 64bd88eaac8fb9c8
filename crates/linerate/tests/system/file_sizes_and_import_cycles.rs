//! The layout of the sources: files and functions that fit a reader's head, and no files that import each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::architecture_rules::sources;

/// Lines of a file.
const FILE_LINES_MAX: usize = 600;
/// Lines of a function, from its name to its last brace.
const FUNCTION_LINES_MAX: usize = 60;
/// Files that are tables: of knobs, of messages.
const TABLES: [&str; 2] = [
    "host/src/knob/linux_catalogue.rs",
    "host/src/knob/windows/catalogue.rs",
];

/// The sources of the crates without tests and examples, by their path below `crates`.
fn crates() -> BTreeMap<String, String> {
    let sources = sources().into_iter().filter_map(|(path, text)| {
        let path = path.strip_prefix("crates").ok()?.to_str()?.to_owned();
        path.contains("/src/").then_some((path, text))
    });
    let sources: BTreeMap<String, String> = sources.collect();
    assert!(sources.contains_key("linerate/src/main.rs"), "no sources");
    sources
}

#[test]
fn no_file_is_too_long_to_be_read_at_once() {
    let long = crates().into_iter().filter(|(path, text)| {
        text.lines().count() > FILE_LINES_MAX && !TABLES.contains(&path.as_str())
    });
    let long: Vec<String> = long.map(|(path, _)| path).collect();
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn no_function_is_longer_than_a_screen() {
    let mut long = Vec::new();
    for (path, text) in crates() {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let code = line.trim_start();
            let words = ["pub ", "const ", "async ", "unsafe "];
            let mut rest = code
                .split_once(") ")
                .filter(|_| code.starts_with("pub("))
                .map_or(code, |(_, rest)| rest);
            while let Some(next) = words.iter().find_map(|word| rest.strip_prefix(word)) {
                rest = next;
            }
            let Some(name) = rest.strip_prefix("fn ") else {
                continue;
            };
            // What ends before a body begins is a declaration.
            let signature = lines[at..]
                .iter()
                .find(|line| line.ends_with(['{', '}', ';']));
            if signature.is_none_or(|last| !last.ends_with('{')) {
                continue;
            }
            let end = format!("{}}}", &line[..line.len() - code.len()]);
            let mut body = lines[at..].iter();
            let length = body.position(|line| *line == end).map_or(0, |end| end + 1);
            if length > FUNCTION_LINES_MAX {
                let name: String = name.chars().take_while(|letter| *letter != '(').collect();
                long.push(format!("{path}: {name}, {length} lines"));
            }
        }
    }
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn no_files_import_each_other() {
    let mut by_crate: BTreeMap<String, BTreeMap<Vec<String>, String>> = BTreeMap::new();
    for (path, text) in crates() {
        let (name, file) = path.split_once("/src/").expect("a source");
        let modules = by_crate.entry(name.to_owned()).or_default();
        modules.insert(module_of(Path::new(file)), text);
    }
    let circles = by_crate.iter().map(|(name, modules)| {
        let imports: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> = modules
            .iter()
            .map(|(module, text)| (module, imports_of(module, text, modules)))
            .collect();
        let reach = |from: &Vec<String>| {
            let (mut seen, mut left) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(module) = left.pop() {
                for next in imports.get(&module).into_iter().flatten() {
                    if seen.insert(next.clone()) {
                        left.push(next.clone());
                    }
                }
            }
            seen
        };
        let in_circles = modules
            .keys()
            .filter(|module| reach(module).contains(*module));
        (
            name.as_str(),
            in_circles
                .map(|module| module.join("::"))
                .collect::<Vec<_>>(),
        )
    });
    for (name, circle) in circles {
        assert!(circle.is_empty(), "{name}: {circle:#?}");
    }
}

fn module_of(file: &Path) -> Vec<String> {
    let file = file.with_extension("");
    let names = file.iter().map(|name| name.to_string_lossy().into_owned());
    names
        .filter(|name| !["mod", "lib", "main"].contains(&name.as_str()))
        .collect()
}

/// The other files that a file imports; those that it is in, and those in it, belong to it.
fn imports_of(
    module: &[String],
    text: &str,
    modules: &BTreeMap<Vec<String>, String>,
) -> BTreeSet<Vec<String>> {
    let code: String = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default()
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default().trim())
        .collect::<Vec<_>>()
        .join(" ");
    let uses = code
        .split("use ")
        .skip(1)
        .filter_map(|rest| rest.split(';').next());
    let mut paths: Vec<String> = uses.flat_map(|tree| paths_of(tree, "")).collect();
    for start in ["crate::", "super::"] {
        let used = code.split(start).skip(1);
        paths.extend(used.map(|rest| {
            let is_path = |letter: char| letter.is_alphanumeric() || "_:".contains(letter);
            let path: String = rest.chars().take_while(|letter| is_path(*letter)).collect();
            format!("{start}{path}")
        }));
    }
    let imported = paths
        .iter()
        .filter_map(|path| resolve(module, path, modules));
    imported
        .filter(|other| !other.starts_with(module) && !module.starts_with(other))
        .collect()
}

/// The paths of a tree of imports.
fn paths_of(tree: &str, before: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((outer, inner)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        return vec![format!("{before}{path}")];
    };
    let inner = inner.trim_end().strip_suffix('}').unwrap_or(inner);
    let (mut depth, mut part, mut parts) = (0_usize, String::new(), Vec::new());
    for letter in inner.chars() {
        depth = match letter {
            '{' => depth + 1,
            '}' => depth.saturating_sub(1),
            _ => depth,
        };
        if letter == ',' && depth == 0 {
            parts.push(std::mem::take(&mut part));
        } else {
            part.push(letter);
        }
    }
    parts.push(part);
    let before = format!("{before}{outer}");
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| paths_of(part, &before)).collect()
}

/// The file that a path leads to.
fn resolve(
    module: &[String],
    path: &str,
    modules: &BTreeMap<Vec<String>, String>,
) -> Option<Vec<String>> {
    let mut names = path.split("::").peekable();
    let mut place = match names.next()? {
        "crate" => Vec::new(),
        "super" => module.split_last()?.1.to_vec(),
        _ => return None,
    };
    while names.next_if_eq(&"super").is_some() {
        place.pop();
    }
    for name in names {
        place.push(name.to_owned());
        if !modules.contains_key(&place) {
            place.pop();
            break;
        }
    }
    modules.contains_key(&place).then_some(place)
}
