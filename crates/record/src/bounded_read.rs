//! Files that strangers may have written: opened without waiting for anybody, and read with limits, so
//! that no file takes more memory than its limit allows.

use std::fmt;
use std::fs::{self, File, FileType};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use locale::{Language, Message, say};

/// Most bytes of a plan, a recipe or a profile: the longest of ours has 12 KiB, and parsing TOML takes
/// up to a hundred times its length.
pub const TOML_BYTES_MAX: u64 = 256 << 10;

/// What is wrong with a file that the system would read. It is inside of the [`io::Error`] of whatever reads here.
#[derive(Debug)]
pub struct Unfit(Message);

impl Unfit {
    /// What is wrong, as something that can be said in any language.
    #[must_use]
    pub fn message(&self) -> Message {
        self.0.clone()
    }

    /// An error that says so.
    #[must_use]
    pub fn error(kind: io::ErrorKind, message: Message) -> io::Error {
        io::Error::new(kind, Self(message))
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.0))
    }
}

impl std::error::Error for Unfit {}

/// What an error of whatever reads here says: a message where it is one of ours or a common one of the system, else
/// the text of the system.
#[must_use]
pub fn message_of(error: &io::Error) -> Message {
    let ours = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Unfit>());
    ours.map_or_else(|| of_system(error), Unfit::message)
}

fn of_system(error: &io::Error) -> Message {
    let text = error.to_string();
    let id = match error.kind() {
        // Who made it without a number has said something else with it.
        _ if error.raw_os_error().is_none() => return text.into(),
        io::ErrorKind::NotFound => "system-error.not-found",
        io::ErrorKind::PermissionDenied => "system-error.permission-denied",
        io::ErrorKind::AlreadyExists => "system-error.already-exists",
        io::ErrorKind::NotADirectory => "system-error.not-a-directory",
        io::ErrorKind::IsADirectory => "system-error.is-a-directory",
        io::ErrorKind::StorageFull => "system-error.storage-full",
        io::ErrorKind::ReadOnlyFilesystem => "system-error.read-only",
        io::ErrorKind::ConnectionRefused => "system-error.connection-refused",
        io::ErrorKind::ConnectionReset => "system-error.connection-reset",
        io::ErrorKind::HostUnreachable => "system-error.host-unreachable",
        io::ErrorKind::NetworkUnreachable => "system-error.network-unreachable",
        io::ErrorKind::TimedOut => "system-error.timed-out",
        io::ErrorKind::BrokenPipe => "system-error.broken-pipe",
        _ => return text.into(),
    };
    say(id).with("text", text)
}

/// Opens a regular file to be read. Pipes, devices and folders are refused, and never waited for.
///
/// # Errors
/// When it is none, or cannot be opened.
pub fn open(path: &Path) -> io::Result<File> {
    // Some devices do something when they are opened.
    refuse_others(fs::metadata(path)?.file_type())?;
    // Another file may stand there by now, as a pipe without a writer.
    let file = os::file::open_without_waiting(path)?;
    refuse_others(file.metadata()?.file_type())?;
    Ok(file)
}

fn refuse_others(kind: FileType) -> io::Result<()> {
    let what = match (kind.is_file(), kind.is_dir()) {
        (true, _) => return Ok(()),
        (_, true) => "error-file.folder",
        _ => "error-file.not-regular",
    };
    Err(Unfit::error(io::ErrorKind::InvalidInput, say(what)))
}

/// Reads a whole file of text.
///
/// # Errors
/// When it cannot be read, has more bytes than `bytes_max`, or is not UTF-8: that names the line.
pub fn text(path: &Path, bytes_max: u64) -> io::Result<String> {
    text_of(&open(path)?, bytes_max)
}

/// Reads the whole of a file of text that is open.
///
/// # Errors
/// As [`text`].
pub fn text_of(file: &File, bytes_max: u64) -> io::Result<String> {
    let bytes = bytes_of(file, bytes_max)?;
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let reason = say("error-file.not-utf-8").count("line", line_after(good));
        Unfit::error(io::ErrorKind::InvalidData, reason)
    })
}

/// Reads a whole file.
///
/// # Errors
/// When it cannot be read, or has more bytes than `bytes_max`.
pub fn bytes(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    bytes_of(&open(path)?, bytes_max)
}

/// Reads the whole of a file that [`open`] has opened.
///
/// # Errors
/// When it cannot be read, or has more bytes than `bytes_max`.
pub fn bytes_of(file: &File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > bytes_max {
        true => {
            let reason = say("error-file.long").with("most", size(bytes_max));
            Err(too_large(reason))
        }
        false => Ok(bytes),
    }
}

/// The number of the line, from 1, that comes after some text.
#[must_use]
pub fn line_after(text: &[u8]) -> usize {
    1 + text.iter().filter(|byte| **byte == b'\n').count()
}

/// The lines of a file, one at a time.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    number: usize,
    left: u64,
    line_bytes_max: u64,
    bytes_max: u64,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(file: R, line_bytes_max: u64, bytes_max: u64) -> Self {
        Self {
            reader: BufReader::new(file),
            line: Vec::new(),
            number: 0,
            left: bytes_max,
            line_bytes_max,
            bytes_max,
        }
    }

    /// The number of the next line, from 1, and the line with its end, which the last one may lack.
    pub(crate) fn next(&mut self) -> io::Result<Option<(usize, &[u8])>> {
        self.line.clear();
        let most = self.line_bytes_max + 1;
        let mut one = (&mut self.reader).take(most);
        let read = one.read_until(b'\n', &mut self.line)? as u64;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        let number = self.number;
        if read == most {
            let reason = say("error-file.long-line")
                .count("line", number)
                .with("most", size(self.line_bytes_max));
            return Err(too_large(reason));
        }
        let Some(left) = self.left.checked_sub(read) else {
            let reason = say("error-file.long-to-line")
                .count("line", number)
                .with("most", size(self.bytes_max));
            return Err(too_large(reason));
        };
        self.left = left;
        Ok(Some((number, &self.line)))
    }
}

fn too_large(reason: Message) -> io::Error {
    Unfit::error(io::ErrorKind::FileTooLarge, reason)
}

/// A limit as people write it.
fn size(bytes: u64) -> String {
    match bytes.is_multiple_of(1 << 20) {
        true => format!("{} MiB", bytes >> 20),
        false => format!("{} KiB", bytes >> 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_are_said_with_its_own_text_and_others_by_theirs() {
        let missing = io::Error::from_raw_os_error(2);
        let said = message_of(&missing);
        assert_eq!(said.id, "system-error.not-found");
        assert_eq!(Language::English.say(&said), missing.to_string());
        let in_japanese = Language::Japanese.say(&said);
        assert!(in_japanese.contains(&missing.to_string()) && in_japanese != missing.to_string());
        for other in [
            io::Error::from_raw_os_error(71),
            io::Error::new(io::ErrorKind::NotFound, "no such part"),
        ] {
            assert_eq!(message_of(&other), Message::from(other.to_string()));
        }
    }

    #[test]
    fn lines_end_at_their_limits_and_are_counted() {
        let all = |text: &str, line, whole| {
            let mut lines = Lines::new(text.as_bytes(), line, whole);
            let mut found = Vec::new();
            loop {
                match lines.next() {
                    Ok(Some((number, line))) => found.push((number, line.len())),
                    Ok(None) => return Ok(found),
                    Err(error) => return Err(error.to_string()),
                }
            }
        };
        assert_eq!(all("", 4, 9), Ok(vec![]));
        assert_eq!(all("abc\n\nd", 4, 9), Ok(vec![(1, 4), (2, 1), (3, 1)]));
        let long = "line 2 has more than 1 KiB".to_owned();
        let text = format!("a\n{}", "b".repeat(1025));
        assert_eq!(all(&text, 1 << 10, 1 << 20), Err(long));
        let whole = "up to line 3 it has more than 1 KiB".to_owned();
        let text = format!("{}\n", "b".repeat(500)).repeat(3);
        assert_eq!(all(&text, 1 << 10, 1 << 10), Err(whole));
    }

    #[test]
    fn what_is_no_text_is_named_by_its_line() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("file");
        fs::write(&path, b"a\nb\n\xff").expect("room on the disk");
        let said = |most| text(&path, most).expect_err("no text").to_string();
        assert_eq!(said(1 << 10), "line 3 is not text in UTF-8");
        assert_eq!(said(4), "it has more than 0 KiB");
        let folder = open(folder.path()).expect_err("no file");
        assert_eq!(folder.to_string(), "it is a folder");
    }
}
