//! A page of terminal text. Whatever is put on it is cleaned and kept within the width, by
//! construction.

use crate::quantity::UNIT_NAMES;
use crate::shared_wording::Tone;
use crate::text_cleaning_and_width::{character_width, clean, shorten, width};

/// Whether the terminal takes colour; the binary finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// No escape sequence at all.
    Plain,
    /// The sixteen colours every terminal has.
    Ansi,
}

/// How wide and how coloured terminal text is.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    columns: usize,
    colour: Colour,
}

impl Style {
    /// The widest page: longer lines are harder to read.
    pub const COLUMNS_MAX: usize = 100;
    /// The narrowest page that is still a page.
    pub const COLUMNS_MIN: usize = 40;

    /// Takes the terminal's width and keeps it between 40 and 100 columns.
    #[must_use]
    pub fn new(columns: usize, colour: Colour) -> Self {
        Self {
            columns: columns.clamp(Self::COLUMNS_MIN, Self::COLUMNS_MAX),
            colour,
        }
    }

    /// Columns of every line at most.
    #[must_use]
    pub const fn columns(self) -> usize {
        self.columns
    }
}

impl Default for Style {
    fn default() -> Self {
        Self::new(Self::COLUMNS_MAX, Colour::Plain)
    }
}

/// How a piece of text is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Plain,
    Strong,
    Faint,
    Toned(Tone),
    StrongToned(Tone),
}

impl Ink {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain | Self::Toned(Tone::Neutral) => "",
            Self::Strong | Self::StrongToned(Tone::Neutral) => "1",
            Self::Faint => "2",
            Self::Toned(Tone::Good) => "32",
            Self::Toned(Tone::Bad) => "31",
            Self::Toned(Tone::Doubtful) => "33",
            Self::StrongToned(Tone::Good) => "1;32",
            Self::StrongToned(Tone::Bad) => "1;31",
            Self::StrongToned(Tone::Doubtful) => "1;33",
        }
    }
}

pub(crate) struct Page {
    style: Style,
    text: String,
}

impl Page {
    pub(crate) const fn new(style: Style) -> Self {
        Self {
            style,
            text: String::new(),
        }
    }

    pub(crate) const fn columns(&self) -> usize {
        self.style.columns
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// An empty line, but never two of them and none at the top.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    pub(crate) fn heading(&mut self, text: &str) {
        self.gap();
        self.row(&[(Ink::Strong, text)]);
    }

    /// One line; what does not fit ends in an ellipsis.
    pub(crate) fn row(&mut self, pieces: &[(Ink, &str)]) {
        let mut left = self.style.columns;
        let mut line = Vec::new();
        for (ink, text) in pieces {
            let text = shorten(&clean(text), left);
            left -= width(&text).min(left);
            line.push((*ink, text));
            if left == 0 {
                break;
            }
        }
        self.emit(&line);
    }

    /// As many lines as needed. The first begins after `indent` columns, the others after `hang`.
    pub(crate) fn paragraph(&mut self, indent: usize, hang: usize, pieces: &[(Ink, &str)]) {
        self.flow((Ink::Plain, &" ".repeat(indent)), hang, pieces);
    }

    /// A paragraph beside a label of so many columns, indented by two.
    pub(crate) fn labelled(&mut self, label: &str, columns: usize, pieces: &[(Ink, &str)]) {
        let label = format!("  {}", left(label, columns));
        self.flow((Ink::Plain, &label), 2 + columns, pieces);
    }

    fn flow(&mut self, start: (Ink, &str), hang: usize, pieces: &[(Ink, &str)]) {
        let indent = width(start.1);
        let mut line: Vec<(Ink, String)> = vec![(start.0, start.1.to_owned())];
        let mut used = indent;
        let mut is_empty = true;
        for Word { ink, text, joined } in pieces.iter().flat_map(|(ink, text)| words(*ink, text)) {
            let room = self.style.columns.saturating_sub(hang.max(indent)).max(8);
            let word = shorten(&text, room);
            let space = usize::from(!is_empty && !joined);
            if !is_empty && used + space + width(&word) > self.style.columns {
                self.emit(&line);
                line = vec![(Ink::Plain, " ".repeat(hang))];
                used = hang;
                is_empty = true;
            }
            if !is_empty && !joined {
                line.push((ink, " ".into()));
                used += 1;
            }
            used += width(&word);
            line.push((ink, word));
            is_empty = false;
        }
        self.emit(&line);
    }

    fn emit(&mut self, pieces: &[(Ink, String)]) {
        let mut line = String::new();
        let mut current = Ink::Plain;
        for (ink, text) in pieces {
            let ink = if text.trim().is_empty() {
                current
            } else {
                *ink
            };
            if self.style.colour == Colour::Ansi && ink != current {
                if !current.code().is_empty() {
                    line.push_str("\u{1b}[0m");
                }
                if !ink.code().is_empty() {
                    line.push_str(&format!("\u{1b}[{}m", ink.code()));
                }
            }
            current = ink;
            line.push_str(text);
        }
        let line = line.trim_end_matches(' ');
        self.text.push_str(line);
        if self.style.colour == Colour::Ansi && !current.code().is_empty() {
            self.text.push_str("\u{1b}[0m");
        }
        self.text.push('\n');
    }
}

/// What stays on one line.
struct Word {
    ink: Ink,
    text: String,
    /// Whether it follows the word before without a space, where both are on one line.
    joined: bool,
}

/// Words that may be put on different lines: a unit stays with its number, an interval in one piece.
fn words(ink: Ink, text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut is_open = false;
    for word in clean(text).split(' ').filter(|word| !word.is_empty()) {
        let bare = word.trim_end_matches([',', ';', '.', ':', ')', '。', '、']);
        let is_unit = UNIT_NAMES.contains(&bare)
            && words
                .last()
                .is_some_and(|last| last.text.ends_with(|end: char| end.is_ascii_digit()));
        let mut parts = parts(word).into_iter();
        if let (Some(last), true) = (words.last_mut(), is_open || is_unit) {
            last.text.push(' ');
            last.text.push_str(parts.next().unwrap_or_default());
        } else {
            words.extend(parts.next().map(|text| Word {
                ink,
                text: text.to_owned(),
                joined: false,
            }));
        }
        words.extend(parts.map(|text| Word {
            ink,
            text: text.to_owned(),
            joined: true,
        }));
        // only short things that look like our own intervals are held together
        let starts = word
            .strip_prefix('[')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c)));
        is_open = starts && word.ends_with(',');
    }
    words
}

/// A text without spaces in the parts between which a line may break: beside a wide character, where the rules of
/// Unicode (UAX #14) let it, so that no line begins with a full stop.
fn parts(word: &str) -> Vec<&str> {
    let is_wide = |character: Option<char>| character.is_some_and(|it| character_width(it) > 1);
    let mut parts = Vec::new();
    let mut start = 0;
    for (end, _) in unicode_linebreak::linebreaks(word) {
        let (before, after) = word.split_at(end);
        let is_beside_wide = is_wide(before.chars().next_back()) || is_wide(after.chars().next());
        if is_beside_wide && start < end {
            parts.push(&word[start..end]);
            start = end;
        }
    }
    if start < word.len() {
        parts.push(&word[start..]);
    }
    parts
}

/// Text in a column of its own: cut or filled to exactly `columns`.
pub(crate) fn left(text: &str, columns: usize) -> String {
    let text = shorten(&clean(text), columns);
    let fill = columns - width(&text).min(columns);
    format!("{text}{}", " ".repeat(fill))
}

/// The same with the text at the right.
pub(crate) fn right(text: &str, columns: usize) -> String {
    let text = shorten(&clean(text), columns);
    let fill = columns - width(&text).min(columns);
    format!("{}{text}", " ".repeat(fill))
}

/// The largest of the numbers that are numbers; 0 where there is none.
pub(crate) fn finite_max(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers
        .filter(|number| number.is_finite())
        .fold(0.0, f64::max)
}

/// A bar from zero, in eighths of a column.
pub(crate) fn bar(share: f64, columns: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if !share.is_finite() {
        return " ".repeat(columns);
    }
    let eighths = (share.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    left(
        &format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8]),
        columns,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(columns: usize, text: &str) -> Vec<String> {
        let mut page = Page::new(Style::new(columns, Colour::Plain));
        page.paragraph(2, 4, &[(Ink::Plain, text)]);
        page.finish().lines().map(str::to_owned).collect()
    }

    #[test]
    fn no_line_is_longer_than_the_page() {
        let long = "x".repeat(300);
        for columns in [40, 61, 100] {
            for text in [
                "a short one",
                &long,
                &format!("{long} and {long}"),
                &"写真 ".repeat(90),
            ] {
                for line in lines(columns, text) {
                    assert!(width(&line) <= columns, "{line}");
                }
            }
        }
    }

    #[test]
    fn numbers_keep_their_units_and_intervals() {
        for fill in 20..40 {
            let text = format!("{} 117.6 MB/s [117.5, 117.7]", "x".repeat(fill));
            let wrapped = lines(40, &text);
            assert!(
                wrapped.iter().any(|line| line.contains("117.6 MB/s")),
                "{wrapped:?}"
            );
            assert!(
                wrapped.iter().any(|line| line.contains("[117.5, 117.7]")),
                "{wrapped:?}"
            );
        }
    }

    #[test]
    fn text_without_spaces_breaks_between_its_characters_and_never_before_a_full_stop() {
        let text = "共有の速度は 117.6 MB/s で、リンクの上限に達しています。失われている速度はありません。".repeat(4);
        let wrapped = lines(40, &text);
        assert!(wrapped.len() > 6, "{wrapped:?}");
        for line in &wrapped {
            assert!(width(line) <= 40, "{line}");
            assert!(!line.trim_start().starts_with(['。', '、', 'ー']), "{line}");
        }
        for line in &wrapped[..wrapped.len() - 1] {
            assert!(width(line) >= 30, "{line}");
        }
        let joined: String = wrapped.iter().map(|line| line.trim()).collect();
        assert_eq!(joined.replace(' ', ""), text.replace(' ', ""));
    }

    #[test]
    fn bars_begin_at_zero_and_end_at_the_width() {
        assert_eq!(bar(0.0, 4), "    ");
        assert_eq!(bar(0.5, 4), "██  ");
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(7.0, 4), "████");
        assert_eq!(bar(1.0 / 32.0, 4), "▏   ");
        assert_eq!(bar(f64::NAN, 4), "    ");
    }

    #[test]
    fn without_colour_there_is_no_escape_sequence() {
        let mut plain = Page::new(Style::new(80, Colour::Plain));
        plain.row(&[(Ink::Strong, "a\u{1b}[2J")]);
        assert!(!plain.finish().contains('\u{1b}'));
        let mut coloured = Page::new(Style::new(80, Colour::Ansi));
        coloured.row(&[(Ink::Strong, "a\u{1b}[2J")]);
        assert_eq!(coloured.finish(), "\u{1b}[1ma\u{fffd}[2J\u{1b}[0m\n");
    }
}
