//! What is refused, and how it is said.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lab::{Error, Topology};
use locale::Language;
use record::{Failure, FailureKind};

use super::{Up, example, have_machine, program};

/// Runs `up` in a process of its own behind `prefix`, and gives what it failed with.
fn failure_behind(prefix: &[&str], name: &str) -> Failure {
    let (first, others) = prefix.split_first().unwrap();
    let output = Command::new(first)
        .args(others)
        .args([program(), "up", name])
        .arg(example("two-links.toml"))
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_name_belongs_to_one_lab() {
    let _machine = have_machine();
    let topology = Topology::parse("[[host]]\nname = \"alone\"\n").unwrap();
    let up = Up::new("test-taken", &topology);
    let error = Up::try_new("test-taken", &topology).err().unwrap();
    assert!(matches!(error, Error::NameTaken { .. }), "{error:?}");
    assert_eq!(error.kind(), FailureKind::Refused);
    // The first one does not mind.
    assert_eq!(up.output("alone", &["uname", "-n"]), "alone\n");
    let error = lab::find("test-other").unwrap_err();
    let hint = Language::English.say(&error.hint().unwrap());
    assert!(hint.contains("`test-taken`"), "{error:?}");
    let error = up.lab.host("bob").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the lab `test-taken` has no host named `bob`"
    );
    for wrong in ["", "Upper", "../x", "a b", &"x".repeat(33)] {
        assert!(
            matches!(lab::find(wrong), Err(Error::Name { .. })),
            "{wrong}"
        );
    }
}

#[test]
fn who_is_not_root_is_told_so() {
    let _machine = have_machine();
    let nobody = [
        "setpriv",
        "--reuid",
        "65534",
        "--regid",
        "65534",
        "--clear-groups",
    ];
    let failure = failure_behind(&nobody, "test-nobody");
    assert_eq!(failure.kind, FailureKind::Refused);
    assert_eq!(failure.chain, ["a lab needs root's rights"]);
    assert_eq!(
        failure.hint.as_deref(),
        Some("run it as root, such as with `sudo`")
    );
}

#[test]
fn a_missing_program_is_named_with_its_package() {
    let _machine = have_machine();
    for (program, package) in [("smbd", "samba"), ("tc", "iproute2"), ("iperf3", "iperf3")] {
        // Covers the program in a mount namespace that only this one process has.
        let cover = "for d in /usr/sbin /sbin /usr/bin /bin; do \
                     [ ! -e $d/$0 ] || mount --bind /dev/null $d/$0; done; exec \"$@\"";
        let prefix = ["unshare", "--mount", "sh", "-c", cover, program];
        let failure = failure_behind(&prefix, "test-missing");
        assert_eq!(failure.kind, FailureKind::Refused);
        let problem = format!("a lab needs the program `{program}`, which is not installed");
        assert_eq!(failure.chain, [problem]);
        assert_eq!(failure.hint, Some(format!("`apt install {package}`")));
    }
}

/// Files that strangers might send. Each says in its first lines what it tries, and where and how it is
/// refused; refused means that there is no topology, so that nothing can be made of it.
#[test]
fn hostile_lab_files_are_refused_with_line_reason_and_hint() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let expected = text.lines().nth(1).unwrap();
        let expected = expected.strip_prefix("# refused: ").unwrap();
        let (line, reason) = expected.split_once(": ").unwrap();
        let error = Topology::read(file).expect_err(&file.display().to_string());
        let said = error.to_string();
        let place = format!("{}, {line}: ", file.display());
        assert!(
            said.starts_with(&place) && said.contains(reason),
            "{expected}\n{said}"
        );
        let hint = Language::English.say(&error.hint().unwrap());
        assert!(!hint.is_empty(), "{said}");
        // A range is named, and no key that is refused.
        let is_range = said.ends_with("is out of range");
        assert!(!is_range || hint.contains(" to "), "{said}: {hint}");
        assert!(!said.ends_with("`run`"), "{said}");
        assert!(!said.contains(['\u{1b}', '\u{7}']), "{said}");
        assert_eq!(error.kind(), FailureKind::Usage, "{said}");
    }
    assert!(files.len() >= 50, "{} files", files.len());
}
