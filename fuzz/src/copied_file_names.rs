//! Names of copied files, and what is kept beside a part: whatever a server calls a file, the name that it
//! gets here is one name in one folder; and whatever a file is called here, the server gets a name that
//! every server takes.

use smb::copy::{Names, printable};
use smb::fuzzing;

/// Most bytes of a name here, and most units of UTF-16 of one on a share.
const LENGTH_MAX: usize = 255;

/// Takes one input; panics where what must hold does not.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    referred(data);
    for record in [&*text, &fuzzing::checked_record(&text)] {
        if let Some(again) = fuzzing::record_of_part(record.as_bytes()) {
            let last = fuzzing::record_of_part(again.as_bytes());
            assert_eq!(last.as_ref(), Some(&again), "it means what was read");
        }
    }
    for names in [Names::Refuse, Names::Map] {
        here(&text, names);
        there(&text, names);
    }
    for depth in [0, 1, 3] {
        link(&text, depth);
    }
    let shown = printable(&text);
    assert!(!shown.contains(char::is_control), "{shown:?}");
    for name in fuzzing::names_of_part(&text) {
        assert!(fuzzing::is_of_part(&name), "{name:?}");
    }
}

/// Where a server says that a folder is.
fn referred(answer: &[u8]) {
    for target in fuzzing::referred(answer, r"\nas\share\folder\file") {
        let parts: Vec<&str> = target
            .strip_prefix("smb://")
            .unwrap_or_default()
            .split('/')
            .collect();
        assert!(
            parts.len() >= 2 && parts[0].len() <= LENGTH_MAX,
            "{target:?}"
        );
        assert!(
            parts.iter().all(|part| !["", ".", ".."].contains(part)),
            "{target:?}"
        );
        // A login would be in front of the host; behind it folders have such names, `@Recycle` for one.
        assert!(!parts[0].contains('@'), "{target:?}");
        assert!(!target[6..].contains([':', '\\', '\0']), "{target:?}");
    }
}

/// A name that a server gave.
fn here(text: &str, names: Names) {
    for posix in [false, true] {
        let Ok(name) = fuzzing::name_for_local(text, names, posix) else {
            continue;
        };
        assert!(!name.is_empty() && name.len() <= LENGTH_MAX, "{name:?}");
        assert!(!name.contains(['/', '\0']), "{name:?}");
        assert!(name != "." && name != "..", "{name:?}");
        if names == Names::Refuse {
            assert_eq!(name, text, "nothing is put in the place of a letter");
        }
    }
}

/// A name of this machine, where none is empty.
fn there(text: &str, names: Names) {
    if text.is_empty() {
        return;
    }
    for posix in [false, true] {
        let there = fuzzing::name_for_share(text, names, posix);
        let home = there.and_then(|name| fuzzing::name_for_local(&name, names, posix));
        assert!(
            home.is_err() || home.as_deref() == Ok(text),
            "{text:?} comes home as {home:?}"
        );
    }
    if let Ok(name) = fuzzing::name_for_share(text, names, true) {
        assert_eq!(name, text, "nothing stands in for anything");
        assert!(!name.contains(['/', '\0']) && name != "." && name != "..");
    }
    let Ok(name) = fuzzing::name_for_share(text, names, false) else {
        return;
    };
    assert!(!name.is_empty() && name.encode_utf16().count() <= LENGTH_MAX);
    let forbidden = |letter: char| letter < ' ' || "\"*/:<>?\\|".contains(letter);
    assert!(!name.contains(forbidden), "{name:?}");
    assert!(!name.ends_with(['.', ' ']), "{name:?}");
    for part in fuzzing::names_of_part(&name) {
        assert!(fuzzing::name_for_share(&part, Names::Refuse, false).is_ok());
    }
}

/// A link of a folder so deep in what is copied. Wherever the names on its way lead to that are none, it has not left by
/// then what is copied.
fn link(target: &str, depth: usize) {
    if !fuzzing::link_stays_below(target, depth) {
        return;
    }
    assert!(
        !target.starts_with('/') && !target.contains('\0'),
        "{target:?}"
    );
    let mut left = Some(depth);
    for part in target.split('/') {
        left = match (part, left) {
            ("" | ".", left) => left,
            ("..", Some(left)) => Some(left.checked_sub(1).expect("it leaves the top")),
            ("..", None) => panic!("it leaves what nobody knows: {target:?}"),
            _ => None,
        };
    }
}
