//! Where text goes: data to standard output, talk to standard error, colour only on a terminal.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::OnceLock;
use std::time::Duration;

use console::Term;
use indicatif::{ProgressBar, ProgressStyle};
use record::sanitized_text::{clean, clean_lines, is_unsafe};
use serde::Serialize;

/// Widest line that is printed.
const COLUMNS_MAX: usize = 100;
/// Narrowest terminal that reports are fitted to.
const COLUMNS_MIN: usize = 60;

/// Why some data did not get out, the first time.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Writes data. What keeps it from getting out is said at the end, see [`lost`].
pub fn print(text: &str) {
    let ended = if text.ends_with('\n') { "" } else { "\n" };
    print_piece(&format!("{}{ended}", clean_lines(text)));
}

/// The same of what `report` has drawn, which has cleaned each text and given colours to some.
pub fn print_drawn(text: &str) {
    let ended = if text.ends_with('\n') { "" } else { "\n" };
    print_piece(&format!("{}{ended}", harmless(text)));
}

/// Writes a piece of data that ends where it ends.
pub fn print_piece(text: &str) {
    let mut stdout = anstream::stdout().lock();
    keep_loss(write!(stdout, "{text}").and_then(|()| stdout.flush()));
}

/// Why standard output does not hold all that was written to it: its disk may be full.
pub fn lost() -> Option<&'static io::Error> {
    LOST.get()
}

/// Remembers that data was lost. A reader that went away wants no more of it, and misses nothing.
pub fn keep_loss(written: io::Result<()>) {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            LOST.get_or_init(|| error);
        }
        _ => {}
    }
}

/// Writes a value as JSON.
pub fn print_json(value: &impl Serialize) {
    let mut stdout = Escaping(BufWriter::new(anstream::stdout().lock()));
    let written = serde_json::to_writer_pretty(&mut stdout, value);
    let written = written.map_err(io::Error::from);
    keep_loss(written.and_then(|()| stdout.write_all(b"\n").and_then(|()| stdout.flush())));
}

/// Writes talk.
pub fn say(text: &str) {
    let mut stderr = anstream::stderr().lock();
    drop(writeln!(stderr, "{}", clean_lines(text)));
}

/// Whatever a file or a server calls itself, it moves no cursor and sets no title: of unsafe characters
/// only line ends and tabs reach the terminal, and of sequences only colours.
fn harmless(text: &str) -> Cow<'_, str> {
    let is_harmful = |letter: char| is_unsafe(letter) && !matches!(letter, '\n' | '\t');
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for (place, letter) in text.char_indices() {
        let is_colour = || {
            let sequence = text[place..].strip_prefix("\u{1b}[");
            let rest = sequence.map(|rest| {
                rest.trim_start_matches(|one: char| one.is_ascii_digit() || one == ';')
            });
            rest.is_some_and(|rest| rest.starts_with('m'))
        };
        match is_harmful(letter) && !is_colour() {
            true => safe.push('\u{fffd}'),
            false => safe.push(letter),
        }
    }
    Cow::Owned(safe)
}

/// JSON for a terminal: unsafe characters that need no escape in it get one.
struct Escaping<W>(W);

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let is_raw = |letter: char| is_unsafe(letter) && letter != '\n';
        match str::from_utf8(piece) {
            Ok(text) if text.contains(is_raw) => {
                for letter in text.chars() {
                    match is_raw(letter) {
                        true => {
                            for unit in letter.encode_utf16(&mut [0; 2]) {
                                write!(self.0, "\\u{unit:04x}")?;
                            }
                        }
                        false => write!(self.0, "{letter}")?,
                    }
                }
            }
            _ => self.0.write_all(piece)?,
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Columns of the terminal, at most 100; 100 where there is none.
pub fn columns() -> usize {
    let size = Term::stdout().size_checked();
    size.map_or(COLUMNS_MAX, |(_, columns)| usize::from(columns))
        .clamp(COLUMNS_MIN, COLUMNS_MAX)
}

/// Whether standard output takes colour.
pub fn colour() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// Progress on standard error: a bar on a terminal, a line for each stage elsewhere.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    stage: String,
}

impl Progress {
    /// Progress over so many steps; without any output where `quiet`.
    pub fn new(steps: u64, quiet: bool) -> Self {
        let bar = (io::stderr().is_terminal() && !quiet).then(|| {
            let bar = ProgressBar::new(steps);
            let style =
                ProgressStyle::with_template("{elapsed:>4} {bar:24} {pos}/{len} {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self {
            bar,
            quiet,
            stage: String::new(),
        }
    }

    /// What begins now and lasts for a while.
    pub fn stage(&mut self, stage: &str) {
        if self.stage == stage {
            return;
        }
        stage.clone_into(&mut self.stage);
        match &self.bar {
            Some(bar) => bar.set_message(clean(&self.stage)),
            None if !self.quiet => say(&format!("  ... {stage}")),
            None => {}
        }
    }

    /// What is done at this moment.
    pub fn detail(&self, detail: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(clean(&format!("{}: {detail}", self.stage)));
        }
    }

    /// One step is over.
    pub fn advance(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// A sentence that stays.
    pub fn note(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(clean_lines(text)),
            None if !self.quiet => say(text),
            None => {}
        }
    }
}

/// A bar that counts bytes; none where there is no terminal, or `quiet`.
pub fn byte_bar(quiet: bool) -> Option<ProgressBar> {
    (io::stderr().is_terminal() && !quiet).then(|| {
        let bar = ProgressBar::new(0);
        let template = "{elapsed:>4} {bar:20} {bytes}/{total_bytes}, {wide_msg}";
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar
    })
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_line_ends_and_tabs_reach_a_terminal() {
        let cases = [
            ("plain\n\tü", "plain\n\tü"),
            ("\u{1b}[1;31mred\u{1b}[0m", "\u{1b}[1;31mred\u{1b}[0m"),
            ("a\u{1b}[2Jb", "a\u{fffd}[2Jb"),
            ("\u{1b}]0;title\u{7}", "\u{fffd}]0;title\u{fffd}"),
            ("\u{9b}31m\r\u{8}", "\u{fffd}31m\u{fffd}\u{fffd}"),
            ("\u{1b}[1", "\u{fffd}[1"),
            (
                "exe\u{202e}gpj\u{2069}\u{200b}",
                "exe\u{fffd}gpj\u{fffd}\u{fffd}",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(harmless(text), expected);
        }
        let mut json = Escaping(Vec::new());
        let written = serde_json::to_writer(&mut json, "ü\u{9b}\u{7f}\u{1b}\u{202e}\u{e0001}");
        written.expect("room in memory");
        assert_eq!(
            json.0,
            "\"ü\\u009b\\u007f\\u001b\\u202e\\udb40\\udc01\"".as_bytes()
        );
    }
}
