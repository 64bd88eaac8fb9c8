//! Jobs of servers with the POSIX extensions of SMB 3.1.1: what else than bytes a copy keeps there.

use std::fs;

use super::copy_and_ls_jobs::round_trip;
use super::file_trees::{self, Node, named};
use super::job_environment::{Outcome, Said, Stage};

const MIB: usize = 1 << 20;

/// Names go to the server's disk and come back as they are, and nothing stands in for anything.
pub fn names(stage: &Stage<'_>) -> Outcome {
    let names: [&[u8]; 15] = [
        b"Photo.JPG",
        b"photo.jpg",
        b"PHOTO.JPG",
        b"CON",
        b"aux.txt",
        b"a:b",
        b"what?",
        b"<x|\"y\">*",
        b"back\\slash",
        b"dots...",
        b"blank ",
        b" ",
        b"tab\there",
        b"README~1.TXT",
        "\u{f022}".as_bytes(),
    ];
    for folder in ["source", "source/odd: ", "source/odd: /deep?", "source/ODD"] {
        for (number, name) in names.iter().enumerate() {
            // Some in one round trip, some not.
            let bytes = if number % 5 == 0 { MIB } else { 10 } + number;
            let path = stage.here(folder).join(named(name));
            file_trees::write(&path, bytes, folder.len() as u64);
        }
    }
    let source = file_trees::read(&stage.here("source"));
    let back = round_trip(stage, &[]);
    let there = file_trees::read(&stage.there("copy"));
    back.and(|| {
        let lost = source
            .iter()
            .find(|(path, node)| there.get(*path) != Some(node));
        Outcome::of(there == source, || {
            format!("on its disk, {lost:?} is another")
        })
    })
    .and(|| {
        let again = stage.copy(&[
            &stage.at("source/"),
            &stage.url("copy"),
            "--update",
            "--delete",
        ]);
        let (copied, deleted) = (&again.json["files"], &again.json["deleted"]);
        let same = file_trees::read(&stage.there("copy")) == source;
        Outcome::of(
            again.code == Some(0) && *copied == 0 && *deleted == 0 && same,
            || {
                format!(
                    "again: {copied} copied, {deleted} removed: {}",
                    again.reason()
                )
            },
        )
    })
    .and(|| {
        let folder = stage.there("copy/odd: /deep?");
        fs::rename(stage.here("source/odd: /deep?"), stage.here("gone")).expect("our own");
        let again = stage.copy(&[
            &stage.at("source/"),
            &stage.url("copy"),
            "--update",
            "--delete",
        ]);
        Outcome::of(again.json["deleted"] == 1 && !folder.exists(), || {
            format!("not removed: {}", again.reason())
        })
    })
}

/// Modes are the same on the server's disk, but for those that let a program run with others' rights. Here, they
/// are without what the umask keeps from others.
pub fn modes(stage: &Stage<'_>) -> Outcome {
    fs::create_dir(stage.here("made")).expect("our own");
    let umask = 0o777 & !file_trees::mode(&stage.here("made"));
    let files = [
        0o600, 0o640, 0o644, 0o664, 0o666, 0o700, 0o755, 0o775, 0o751, 0o444, 0o400, 0o4755, 0o2755,
    ];
    for mode in files {
        for (size, bytes) in [("small", 10), ("large", MIB)] {
            let path = stage.here(&format!("source/{size}-{mode:o}"));
            file_trees::write(&path, bytes, 1);
            file_trees::set_mode(&path, mode);
        }
    }
    let folders = [0o700, 0o750, 0o755, 0o777, 0o711];
    for mode in folders {
        let path = stage.here(&format!("source/folder-{mode:o}"));
        file_trees::write(&path.join("file"), 5, 2);
        file_trees::set_mode(&path, mode);
    }
    let paths = || {
        let of = |size| files.map(|mode| (format!("{size}-{mode:o}"), mode & 0o777));
        let folders = folders.map(|mode| (format!("folder-{mode:o}"), mode));
        of("small").into_iter().chain(of("large")).chain(folders)
    };
    let wrong = |place: &dyn Fn(&str) -> std::path::PathBuf, umask: u32| {
        let mut wrong = paths().map(|(path, mode)| {
            let (found, wanted) = (file_trees::mode(&place(&path)), mode & !umask);
            (found != wanted).then(|| format!("{path} has {found:o} and not {wanted:o}"))
        });
        let wrong = wrong.find_map(|it| it).unwrap_or_default();
        Outcome::of(wrong.is_empty(), || wrong.clone())
    };
    round_trip(stage, &[])
        .and(|| wrong(&|path| stage.there("copy").join(path), 0))
        .and(|| wrong(&|path| stage.here("back").join(path), umask))
        .and(|| {
            // Another one in the place of what is there, and what the server's disk alone has.
            let (source, there) = (stage.here("again/small-644"), stage.there("copy/small-644"));
            file_trees::write(&source, 11, 3);
            file_trees::set_mode(&source, 0o711);
            let up = stage.copy(&[&stage.at("again/"), &stage.url("copy"), "--force"]);
            let replaced = (up.code, file_trees::mode(&there));
            file_trees::write(&stage.there("own/tool"), 10, 4);
            file_trees::set_mode(&stage.there("own/tool"), 0o7755);
            let down = stage.copy(&[&format!("{}/", stage.url("own")), &stage.at("own")]);
            let own = (down.code, file_trees::mode(&stage.here("own/tool")));
            Outcome::of(
                replaced == (Some(0), 0o711) && own == (Some(0), 0o755 & !umask),
                || format!("replaced {replaced:?}, of its own {own:?}: {}", up.reason()),
            )
        })
        .and(|| {
            let listed = stage.run(&["ls", &stage.url("copy"), "--json"]);
            let entries = listed.json["entries"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let is_shown =
                |it: &serde_json::Value| it["name"] == "large-640" && it["mode"] == "640";
            Outcome::of(entries.iter().any(is_shown), || {
                format!("`ls`: {entries:?}")
            })
        })
}

/// Links that stay below the folder come back as they were; the others are left out and counted.
pub fn links(stage: &Stage<'_>) -> Outcome {
    const KEPT: [(&str, &str); 6] = [
        ("file", "link"),
        ("deep", "to-folder"),
        ("../file", "deep/up"),
        ("../../deep/deeper", "deep/deeper/around"),
        ("nothing/yet", "dangling"),
        ("a:b \\ what?", "Odd: "),
    ];
    const LEFT: [(&str, &str); 4] = [
        ("/etc/hostname", "outside"),
        ("../secret", "above"),
        ("../../secret", "deep/above"),
        ("to-folder/../../secret", "around"),
    ];
    let make = |place: &dyn Fn(&str) -> std::path::PathBuf| {
        file_trees::write(&place("source/file"), 5, 1);
        file_trees::write(&place("source/deep/deeper/file"), 6, 1);
        file_trees::write(&place("secret"), 7, 1);
        for (target, link) in KEPT.iter().chain(&LEFT) {
            file_trees::link(target, &place("source").join(link));
        }
    };
    make(&|path| stage.here(path));
    let expected: file_trees::Tree = (file_trees::read(&stage.here("source")).into_iter())
        .filter(|(path, _)| {
            LEFT.iter()
                .all(|(_, left)| left.as_bytes() != path.as_slice())
        })
        .collect();
    let is_well = |said: &Said, folder: &str| {
        let (linked, left) = (&said.json["links"], &said.json["skipped"]);
        let found = file_trees::read(&stage.here(folder));
        Outcome::of(
            said.code == Some(0)
                && *linked == KEPT.len()
                && *left == LEFT.len()
                && found == expected,
            || {
                format!(
                    "{folder}: {linked} links, {left} left out, {found:?}: {}",
                    said.reason()
                )
            },
        )
    };
    let up = stage.copy(&[&stage.at("source/"), &stage.url("copy")]);
    let sent = (
        up.code,
        up.json["links"].as_u64(),
        up.json["skipped"].as_u64(),
    );
    let wanted = (Some(0), Some(KEPT.len() as u64), Some(LEFT.len() as u64));
    let down =
        |from: &str, to: &str| stage.copy(&[&format!("{}/", stage.url(from)), &stage.at(to)]);
    Outcome::of(sent == wanted, || format!("up: {sent:?}: {}", up.reason()))
        .and(|| {
            // What is left out is not there.
            let said = down("copy", "back");
            let found = file_trees::read(&stage.here("back"));
            Outcome::of(
                said.json["links"] == KEPT.len() && found == expected,
                || format!("back: {found:?}: {}", said.reason()),
            )
        })
        .and(|| {
            // Links that the server's system has made.
            make(&|path| stage.there(&format!("own/{path}")));
            is_well(&down("own/source", "own"), "own")
        })
        .and(|| {
            let again = stage.copy(&[&stage.at("source/"), &stage.url("copy"), "--update"]);
            let links = (again.code, again.json["links"].as_u64());
            Outcome::of(links == (Some(0), Some(0)), || format!("again: {links:?}"))
        })
        .and(|| {
            fs::remove_file(stage.here("source/link")).expect("our own");
            file_trees::link("deep/deeper", &stage.here("source/link"));
            let said = stage.copy(&[&stage.at("source/"), &stage.url("copy"), "--update"]);
            let back = down("copy", "other");
            let link = file_trees::read(&stage.here("other")).remove(&b"link"[..]);
            let wanted = Some(Node::Link("deep/deeper".into()));
            Outcome::of(said.json["links"] == 1 && link == wanted, || {
                format!("changed: {link:?}: {} {}", said.reason(), back.reason())
            })
        })
        .and(|| {
            let said = stage.copy(&[
                &stage.at("source/"),
                &stage.url("without"),
                "--links",
                "skip",
            ]);
            let left = (&said.json["links"], &said.json["skipped"]);
            let none = *left.0 == 0 && *left.1 == KEPT.len() + LEFT.len();
            Outcome::of(none, || format!("`--links skip`: {left:?}"))
        })
}

/// Links on the path that is given, and those that are to be followed.
pub fn followed_links(stage: &Stage<'_>) -> Outcome {
    file_trees::write(&stage.there("v1/file"), 5, 1);
    file_trees::write(&stage.there("v1/a:b"), 6, 1);
    file_trees::set_mode(&stage.there("v1"), 0o777);
    file_trees::link("v1", &stage.there("current"));
    file_trees::link("../v1/file", &stage.there("all/link"));
    file_trees::link("v1/file", &stage.there("one"));
    let v1 = file_trees::read(&stage.there("v1"));
    let down = stage.copy(&[&format!("{}/", stage.url("current")), &stage.at("down")]);
    let one = stage.copy(&[&stage.url("one"), &stage.at("one")]);
    file_trees::write(&stage.here("up/new"), 7, 1);
    let up = stage.copy(&[&stage.at("up/"), &stage.url("current/deep")]);
    let here = |path: &str| file_trees::read(&stage.here(path));
    let file = file_trees::file(&stage.there("v1/file"));
    Outcome::of(here("down") == v1, || format!("down: {}", down.reason()))
        .and(|| stage.judge(&one, &stage.there("v1/file"), &stage.here("one")))
        .and(|| stage.judge(&up, &stage.here("up"), &stage.there("v1/deep")))
        .and(|| {
            let all = format!("{}/", stage.url("all"));
            let said = stage.copy(&[&all, &stage.at("followed"), "--links", "follow"]);
            let link = here("followed").remove(&b"link"[..]);
            Outcome::of(link.as_ref() == Some(&file), || {
                format!("{link:?}: {}", said.reason())
            })
        })
        .and(|| {
            let all = format!("{}/", stage.url("all"));
            let said = stage.copy(&[&all, &stage.at("windows"), "--no-posix"]);
            let link = here("windows").remove(&b"link"[..]);
            Outcome::of(link.as_ref() == Some(&file), || {
                format!("{link:?}: {}", said.reason())
            })
        })
        .and(|| {
            let says = |words: &[&str]| {
                let said = stage.copy(&[&[&*stage.url("one"), &stage.at("again")], words].concat());
                said.stderr.matches("POSIX extensions").count()
            };
            let said = [
                &["-v", "--force"][..],
                &["--force"],
                &["-v", "--force", "--no-posix"],
            ];
            let said = said.map(says);
            Outcome::of(said == [1, 0, 0], || format!("it says so {said:?} times"))
        })
}
