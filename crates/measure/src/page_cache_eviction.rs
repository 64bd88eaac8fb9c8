//! Makes a test file of ours one that its server has to read from its disk.
//!
//! Whoever serves the file holds it open, so that no path of the server has to be known. Nothing of
//! anybody else is touched: the server's kernel is told that this one file is not needed in memory,
//! and asked whether it has any of it left.

use host::exec::{Command, Exec, run_one};

/// File systems that keep what they read where the kernel does not count it.
const OWN_CACHES: [&str; 4] = ["zfs", "fuseblk", "fuse", "bcachefs"];
/// What is no disk at all.
const MEMORY: [&str; 2] = ["tmpfs", "ramfs"];
/// Status of the script when nobody is seen to hold the file.
const STATUS_NOT_SEEN: i32 = 3;
/// `$1` is the file's name.
const SCRIPT: &str = r#"
held=$(find /proc/[0-9]*/fd -lname "*/$1" -print -quit 2>/dev/null)
[ -n "$held" ] || exit 3
stat -L -f -c %T "$held" || exit 3
sync -d "$held" 2>/dev/null
dd if="$held" iflag=nocache count=0 2>/dev/null
fincore -b -n -o RES "$held"
"#;

/// What is known of a file in a server's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Warmth {
    /// It has none of it.
    Cold,
    /// It is in memory and nowhere else, on this file system.
    Memory(String),
    /// Nobody can tell.
    Unknown,
}

/// Has the server forget the content of an open file of ours, by its name alone.
pub(crate) fn cool(server: &dyn Exec, path: &str) -> Warmth {
    let name = path.rsplit('/').next().unwrap_or(path);
    let command = Command::new(["sh", "-c", SCRIPT, "sh", name]);
    match run_one(server, &command) {
        Ok(output) if output.status != STATUS_NOT_SEEN => {
            warmth(&String::from_utf8_lossy(&output.stdout))
        }
        _ => Warmth::Unknown,
    }
}

/// Reads the script's two lines: the file system, and the bytes of the file that are in memory.
pub(crate) fn warmth(said: &str) -> Warmth {
    let mut lines = said.lines().map(str::trim);
    let file_system = lines.next().unwrap_or_default();
    if MEMORY.contains(&file_system) {
        return Warmth::Memory(file_system.to_owned());
    }
    let resident: Option<u64> = lines.next().and_then(|bytes| bytes.parse().ok());
    match resident {
        Some(0) if !OWN_CACHES.contains(&file_system) => Warmth::Cold,
        _ => Warmth::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use host::exec::Local;

    use super::*;

    #[test]
    fn only_what_was_seen_to_be_cold_is_cold() {
        for (said, wanted) in [
            ("ext2/ext3\n0\n", Warmth::Cold),
            ("xfs\n 0\n", Warmth::Cold),
            ("xfs\n4096\n", Warmth::Unknown),
            ("xfs\n", Warmth::Unknown),
            ("xfs\nfincore: not found\n", Warmth::Unknown),
            ("zfs\n0\n", Warmth::Unknown),
            ("tmpfs\n4096\n", Warmth::Memory("tmpfs".to_owned())),
            ("", Warmth::Unknown),
        ] {
            assert_eq!(warmth(said), wanted, "{said:?}");
        }
    }

    #[test]
    fn a_file_that_nobody_holds_is_not_known() {
        let name = "media/.linerate-that-nobody-has.tmp";
        assert_eq!(cool(&Local::new(), name), Warmth::Unknown);
    }
}
