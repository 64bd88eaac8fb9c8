//! Where text goes: data to standard output, talk to standard error, colour only on a terminal.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// Widest line that is printed.
const COLUMNS_MAX: usize = 100;
/// Narrowest terminal that reports are fitted to.
const COLUMNS_MIN: usize = 60;

/// Writes data. A reader that went away is not told: the program ends as it would have.
pub fn print(text: &str) {
    let mut stdout = anstream::stdout().lock();
    let ended = if text.ends_with('\n') { "" } else { "\n" };
    // Nothing is left to be told to a reader that has closed the pipe.
    drop(write!(stdout, "{text}{ended}").and_then(|()| stdout.flush()));
}

/// Writes a piece of data that ends where it ends.
pub fn print_piece(text: &str) {
    let mut stdout = anstream::stdout().lock();
    // As above.
    drop(write!(stdout, "{text}").and_then(|()| stdout.flush()));
}

/// Writes a value as JSON.
pub fn print_json(value: &impl Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => print(&text),
        Err(error) => say(&format!("error: cannot write JSON: {error}")),
    }
}

/// Writes talk.
pub fn say(text: &str) {
    let mut stderr = anstream::stderr().lock();
    drop(writeln!(stderr, "{text}"));
}

/// Columns of the terminal, at most 100; 100 where there is none.
pub fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stdout());
    size.map_or(COLUMNS_MAX, |size| usize::from(size.ws_col))
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
            Some(bar) => bar.set_message(self.stage.clone()),
            None if !self.quiet => say(&format!("  ... {stage}")),
            None => {}
        }
    }

    /// What is done at this moment.
    pub fn detail(&self, detail: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{}: {detail}", self.stage));
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
            Some(bar) => bar.println(text),
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
