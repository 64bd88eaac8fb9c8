//! Every id that can be said has a sentence in each language, every sentence is said, and both speak of the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fluent_syntax::ast::{
    Entry, Expression, InlineExpression, Pattern, PatternElement, VariantKey,
};
use locale::{Language, say};

/// What hands an id to be said.
const CALLS: [&str; 7] = [
    "say(\"",
    "text(\"",
    "counted(\"",
    "because(\"",
    "Advice::of(\"",
    "Hand(\"",
    "OutOfSight(\"",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The sources that have something said, but for their tests.
fn sources() -> Vec<String> {
    let mut sources = Vec::new();
    let crates = [
        "os",
        "stats",
        "record",
        "fit",
        "analysis",
        "host",
        "smb-proto",
        "smb",
        "measure",
        "lab",
        "experiment",
        "report",
        "linerate",
    ];
    let folder = |name| root().join("crates").join(name).join("src");
    let mut folders: Vec<PathBuf> = crates.into_iter().map(folder).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of the repository") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("UTF-8");
                let code = text
                    .split("#[cfg(test)]\nmod tests")
                    .next()
                    .unwrap_or_default();
                if code.contains("locale::") {
                    sources.push(code.to_owned());
                }
            }
        }
    }
    sources
}

/// What is handed over to be said.
fn said(sources: &[String]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for call in CALLS {
        let calls = sources.iter().flat_map(|text| text.split(call).skip(1));
        let named = calls.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()));
        // `text` is also how a property of Windows is read, and those begin with a capital.
        found.extend(named.filter(|name| !name.starts_with(|first: char| first.is_uppercase())));
    }
    found
}

/// Every literal, some of which are ids.
fn literals(sources: &[String]) -> BTreeSet<String> {
    let parts = sources.iter().flat_map(|text| text.split('"').skip(1));
    parts.map(str::to_owned).collect()
}

/// What a sentence speaks of: its arguments, and those of them that may be missing.
#[derive(Debug, Default, PartialEq)]
struct Uses {
    arguments: BTreeSet<String>,
    optional: BTreeSet<String>,
}

impl Uses {
    fn add(&mut self, pattern: &Pattern<String>, given: &BTreeSet<String>) {
        for element in &pattern.elements {
            let PatternElement::Placeable { expression } = element else {
                continue;
            };
            match expression {
                Expression::Inline(of) => self.of(of, given),
                Expression::Select { selector, variants } => {
                    let is_optional = variants.iter().any(|variant| {
                        matches!(&variant.key, VariantKey::Identifier { name } if name == "absent")
                    });
                    let mut given = given.clone();
                    if let (InlineExpression::VariableReference { id }, true) =
                        (selector, is_optional)
                    {
                        self.optional.insert(id.name.clone());
                        given.insert(id.name.clone());
                    }
                    self.of(selector, &given);
                    for variant in variants {
                        self.add(&variant.value, &given);
                    }
                }
            }
        }
    }

    fn of(&mut self, expression: &InlineExpression<String>, given: &BTreeSet<String>) {
        if let InlineExpression::VariableReference { id } = expression {
            self.arguments.insert(id.name.clone());
            let is_optional = self.optional.contains(&id.name);
            assert!(
                !is_optional || given.contains(&id.name),
                "`{}` may be missing where it is used",
                id.name
            );
        }
    }
}

/// The sentences of a language, and what they speak of.
fn sentences(language: Language) -> BTreeMap<String, Uses> {
    let folder = root().join("locale").join(language.tag());
    let mut sentences = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("UTF-8");
        let resource = fluent_syntax::parser::parse(text)
            .unwrap_or_else(|(_, errors)| panic!("{}: {errors:?}", path.display()));
        let mut insert = |id: String, pattern: &Pattern<String>| {
            let mut uses = Uses::default();
            uses.add(pattern, &BTreeSet::new());
            let before = sentences.insert(id.clone(), uses);
            assert!(before.is_none(), "{id} has two sentences");
        };
        for entry in &resource.body {
            match entry {
                Entry::Message(message) => {
                    let id = &message.id.name;
                    if let Some(value) = &message.value {
                        insert(id.clone(), value);
                    }
                    for attribute in &message.attributes {
                        insert(format!("{id}.{}", attribute.id.name), &attribute.value);
                    }
                }
                Entry::Comment(_) | Entry::GroupComment(_) | Entry::ResourceComment(_) => {}
                other => panic!("{}: {other:?}", path.display()),
            }
        }
    }
    sentences
}

#[test]
fn no_sentence_is_missing_and_none_is_unused() {
    let known: BTreeSet<String> = sentences(Language::English).into_keys().collect();
    // Ids that are chosen before they are said look like others of the same message.
    let names: BTreeSet<&str> = known
        .iter()
        .filter_map(|id| Some(id.split_once('.')?.0))
        .collect();
    let sources = sources();
    let literals = literals(&sources);
    let chosen = literals.iter().filter(|literal| {
        let of_message = literal
            .split_once('.')
            .filter(|(name, _)| names.contains(name));
        of_message.is_some_and(|(_, rest)| {
            !rest.is_empty()
                && rest
                    .chars()
                    .all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-')
        })
    });
    let said: BTreeSet<String> = said(&sources).into_iter().chain(chosen.cloned()).collect();
    let missing: Vec<String> = said.difference(&known).cloned().collect();
    assert!(missing.is_empty(), "without a sentence: {missing:?}");
    let unused: Vec<String> = known.difference(&literals).cloned().collect();
    assert!(unused.is_empty(), "never said: {unused:?}");
}

#[test]
fn every_language_speaks_of_the_same() {
    let english = sentences(Language::English);
    for language in Language::ALL {
        let spoken = sentences(language);
        for (id, uses) in &english {
            assert_eq!(spoken.get(id), Some(uses), "{id} in {}", language.tag());
        }
        assert_eq!(spoken.len(), english.len(), "{}", language.tag());
    }
}

/// What has no Japanese of its own would be said in English in the midst of it.
#[test]
fn every_language_has_a_text_of_its_own_for_each_sentence() {
    for id in sentences(Language::English).into_keys() {
        let id: &'static str = id.leak();
        let [english, other] = Language::ALL.map(|language| language.say(&say(id)));
        let parts = english
            .split(['{', '`'])
            .map(|part| part.rsplit('}').next());
        let words: String = parts.map(Option::unwrap_or_default).collect();
        let has_words = words.chars().filter(char::is_ascii_lowercase).count() > 3;
        assert!(english != other || !has_words, "{id}: {english}");
    }
}
