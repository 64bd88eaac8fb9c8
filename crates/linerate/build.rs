//! What `--version` and `doctor` say of how this program was built.

use std::env;
use std::path::Path;
use std::process::Command;

/// Names the commit where there is no repository: a tree that was unpacked from an archive.
const COMMIT: &str = "LINERATE_COMMIT";
/// What stands for a commit or target that is not known.
const UNKNOWN: &str = "unknown";

fn main() {
    println!("cargo:rerun-if-env-changed={COMMIT}");
    let commit = env::var(COMMIT).ok().or_else(of_repository);
    // Cargo names each feature of this package so.
    let features = env::vars().filter_map(|(name, _)| {
        let feature = name.strip_prefix("CARGO_FEATURE_")?;
        Some(feature.to_lowercase().replace('_', "-"))
    });
    let mut features: Vec<String> = features.filter(|feature| feature != "default").collect();
    features.sort();
    let features = match features.is_empty() {
        true => "none".to_owned(),
        false => features.join(" "),
    };
    println!("cargo:rustc-env=LINERATE_BUILT_WITH={features}");
    let target = env::var("TARGET").unwrap_or_else(|_| UNKNOWN.to_owned());
    println!(
        "cargo:rustc-env=LINERATE_BUILT_OF={}",
        commit.as_deref().unwrap_or(UNKNOWN)
    );
    println!("cargo:rustc-env=LINERATE_BUILT_FOR={target}");
}

/// The commit that is checked out, and `-changed` behind it where the tree was other than that at the last look.
fn of_repository() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // A repository that this tree only lies in, as a package in a registry's folder, says nothing of it.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        if Path::new(&path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    git(&[
        "describe",
        "--always",
        "--exclude=*",
        "--abbrev=12",
        "--dirty=-changed",
    ])
}
