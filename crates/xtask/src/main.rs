//! The licences of everything that the program is built from, for `scripts/dist`: one line for each package, then the
//! texts that come with them, each once. `cargo run -p xtask -- TARGET`.

#![expect(clippy::print_stdout, reason = "it is what this prints that is wanted")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use cargo_metadata::{CargoOpt, DependencyKind, Metadata, MetadataCommand, Package, PackageId};

/// How the files begin in which packages have the texts of their licences.
const FILES: [&str; 5] = ["license", "licence", "copying", "copyright", "notice"];

fn main() {
    let target = std::env::args()
        .nth(1)
        .expect("the target, as Rust names it");
    let metadata = MetadataCommand::new()
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .features(CargoOpt::AllFeatures)
        .other_options(vec![
            "--locked".to_owned(),
            "--filter-platform".to_owned(),
            target,
        ])
        .exec()
        .expect("cargo knows this package");
    let packages = built(&metadata);
    println!("linerate is built from these packages:\n");
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages {
        let name = format!("{} {}", package.name, package.version);
        let licence = package.license.as_deref();
        println!("{name}: {}", licence.expect("`scripts/deny` asks for one"));
        for text in texts_of(package) {
            texts.entry(text).or_default().insert(name.clone());
        }
    }
    for (text, names) in texts {
        let names: Vec<String> = names.into_iter().collect();
        println!(
            "\n{}\n{}\n\n{}",
            "-".repeat(80),
            names.join(", "),
            text.trim_end()
        );
    }
}

/// The packages of others that are linked into the program, by name.
fn built(metadata: &Metadata) -> Vec<&Package> {
    let nodes = &metadata.resolve.as_ref().expect("dependencies").nodes;
    let own = metadata
        .packages
        .iter()
        .find(|one| one.name.as_str() == "linerate");
    let mut left: Vec<&PackageId> = own.map(|own| &own.id).into_iter().collect();
    let mut seen: BTreeSet<&PackageId> = BTreeSet::new();
    while let Some(id) = left.pop() {
        if !seen.insert(id) {
            continue;
        }
        let node = nodes
            .iter()
            .find(|node| node.id == *id)
            .expect("one for each");
        let linked = node.deps.iter().filter(|one| {
            let mut kinds = one.dep_kinds.iter();
            kinds.any(|kind| kind.kind == DependencyKind::Normal)
        });
        left.extend(linked.map(|one| &one.pkg));
    }
    let others = metadata.packages.iter();
    let others = others.filter(|one| seen.contains(&one.id) && one.source.is_some());
    let mut others: Vec<&Package> = others.collect();
    others.sort_by_key(|one| (one.name.to_string(), one.version.clone()));
    others
}

fn texts_of(package: &Package) -> Vec<String> {
    let folder = package.manifest_path.parent().expect("a folder");
    let entries = fs::read_dir(folder).expect("cargo has unpacked it");
    let files = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let is_text = FILES.iter().any(|begin| name.starts_with(begin));
        (is_text && entry.path().is_file()).then(|| entry.path())
    });
    let mut files: Vec<_> = files.collect();
    files.sort();
    let texts = files
        .iter()
        .map(|file| fs::read(file).expect("cargo has unpacked it"));
    texts
        .map(|text| String::from_utf8_lossy(&text).into_owned())
        .collect()
}
