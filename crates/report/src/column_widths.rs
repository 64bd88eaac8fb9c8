//! How wide the columns of a table are, and where their texts break.
//!
//! What people read together stays together as long as it can: the widest columns give way first, at
//! spaces; then names break behind their punctuation; then short texts at spaces; and where all of that
//! is too wide, everything breaks anywhere.

use crate::text_cleaning_and_width::{character_width, width};

/// A text of so many columns reads as one: `1500 -> 9000`, `on:on together`.
const TOGETHER: usize = 14;
/// The same, where there is hardly any room.
const TOGETHER_NARROW: usize = 7;
/// Behind these a name breaks best, and behind these it may.
const BEST_JOINTS: [char; 3] = [':', ',', '/'];
const JOINTS: [char; 8] = [':', '.', ',', '/', '_', '-', '@', '='];

/// The width of each column of `rows`, of `room` in all.
pub(crate) fn widths(rows: &[Vec<String>], room: usize) -> Vec<usize> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let longest = |index: usize, of: &dyn Fn(&str) -> usize| {
        let cells = rows.iter().filter_map(|row| row.get(index));
        cells.map(|text| of(text)).max().unwrap_or(0).max(1)
    };
    let of_all = |of: &dyn Fn(&str) -> usize| -> Vec<usize> {
        (0..count).map(|index| longest(index, of)).collect()
    };
    let natural = of_all(&width);
    let words = of_all(&|text| text.split(' ').map(width).max().unwrap_or(0));
    let pieces = of_all(&|text| {
        text.split(' ')
            .flat_map(joints)
            .map(width)
            .max()
            .unwrap_or(0)
    });
    let least = |units: &[usize], together: usize| -> Vec<usize> {
        let columns = natural.iter().zip(units);
        columns
            .map(|(natural, unit)| (*unit).max(together.min(*natural)))
            .collect()
    };
    let stages = [
        least(&words, TOGETHER),
        least(&pieces, TOGETHER),
        least(&pieces, TOGETHER_NARROW),
        vec![1; count],
    ];
    let fits = stages.iter().find_map(|least| share(&natural, least, room));
    fits.unwrap_or_else(|| vec![1; count])
}

/// As much as possible for each column, the same for all that do not get what they want; none where
/// that is less than the least for some.
fn share(natural: &[usize], least: &[usize], room: usize) -> Option<Vec<usize>> {
    let with_cap = |cap: usize| -> Vec<usize> {
        let columns = natural.iter().zip(least);
        columns
            .map(|(natural, least)| (*natural).min(cap.max(*least)))
            .collect()
    };
    let fits = |widths: &[usize]| widths.iter().sum::<usize>() <= room;
    let most = natural.iter().copied().max().unwrap_or(0);
    let mut widths = (0..=most).rev().map(with_cap).find(|widths| fits(widths))?;
    // What is left over is no full column for all.
    for (index, natural) in natural.iter().enumerate() {
        if widths[index] < *natural && widths.iter().sum::<usize>() < room {
            widths[index] += 1;
        }
    }
    Some(widths)
}

/// A word in the pieces that it may be broken into.
fn joints(word: &str) -> impl Iterator<Item = &str> {
    word.split_inclusive(JOINTS)
}

/// A text in lines of at most so many columns.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> String {
    let columns = columns.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let whole = width(word);
        if used > 0 && used + 1 + whole <= columns {
            if let Some(line) = lines.last_mut() {
                line.push(' ');
                line.push_str(word);
            }
            used += 1 + whole;
            continue;
        }
        if used > 0 {
            lines.push(String::new());
            used = 0;
        }
        let best = word.split_inclusive(BEST_JOINTS);
        let pieces: Vec<&str> = match best.clone().all(|piece| width(piece) <= columns) {
            true => best.collect(),
            false => joints(word).collect(),
        };
        for piece in pieces {
            if used > 0 && used + width(piece) > columns {
                lines.push(String::new());
                used = 0;
            }
            for character in piece.chars() {
                let wide = character_width(character);
                if used > 0 && used + wide > columns {
                    lines.push(String::new());
                    used = 0;
                }
                if let Some(line) = lines.last_mut() {
                    line.push(character);
                }
                used += wide;
            }
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        let row = |cells: &&[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        rows.iter().map(row).collect()
    }

    #[test]
    fn long_texts_give_way_before_names_and_before_short_texts() {
        let table = rows(&[
            &[
                "net.ipv4.tcp_congestion_control",
                "1500 -> 9000",
                "it was set by somebody else in the meantime",
            ],
            &["nic.mtu lan2", "cubic -> bbr", "put back"],
        ]);
        assert_eq!(widths(&table, 100), [31, 12, 43]);
        assert_eq!(widths(&table, 70), [31, 12, 27]);
        // No room for the name as a whole.
        assert_eq!(widths(&table, 50), [19, 12, 19]);
        assert_eq!(wrap(&table[0][0], 19), "net.ipv4.tcp_\ncongestion_control");
        assert_eq!(widths(&table, 12).iter().sum::<usize>(), 12);
    }

    #[test]
    fn texts_break_at_spaces_then_behind_joints_then_anywhere() {
        assert_eq!(wrap("before -> now", 20), "before -> now");
        assert_eq!(wrap("before -> now", 9), "before ->\nnow");
        assert_eq!(
            wrap("smb_signing:flow_control", 20),
            "smb_signing:\nflow_control"
        );
        assert_eq!(wrap("abcdefgh", 3), "abc\ndef\ngh");
        assert_eq!(wrap("写真", 3), "写\n真");
        assert_eq!(wrap("", 3), "");
    }

    #[test]
    fn no_line_is_wider_than_its_column() {
        let text = "a.b_c 写真写真/x -> yyyyyyyyyyyyyyy, z";
        for columns in 2..40 {
            for line in wrap(text, columns).lines() {
                assert!(width(line) <= columns, "{columns}: {line}");
            }
        }
    }
}
