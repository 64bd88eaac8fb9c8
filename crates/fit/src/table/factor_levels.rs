//! Levels of a factor: their order, which of them is the baseline, and what two spellings have in common.

pub(super) const LEVELS_MAX: usize = 64;
/// Levels that are what one starts from, the surest first.
const BASELINES: [&str; 12] = [
    "default", "baseline", "before", "stock", "off", "disabled", "disable", "no", "none", "false",
    "without", "old",
];

/// Numbers by size, other levels by a number in front and then by the alphabet; what one starts from
/// comes first of all.
pub(super) fn sort_levels(levels: &mut [&str]) {
    let number = |level: &str| size(level).unwrap_or(f64::INFINITY);
    levels.sort_by(|one, other| {
        number(one)
            .total_cmp(&number(other))
            .then_with(|| one.cmp(other))
    });
    let start = |name: &&str| {
        levels
            .iter()
            .position(|level| level.eq_ignore_ascii_case(name))
    };
    if let Some(place) = BASELINES.iter().find_map(start) {
        levels[..=place].rotate_right(1);
    }
}

/// The number that a level is, or that it begins with, as `64K` or `2.5 Gbit`.
pub(super) fn size(level: &str) -> Option<f64> {
    if let Some(number) = level.parse().ok().filter(|number: &f64| number.is_finite()) {
        return Some(number);
    }
    let end = level.find(|character: char| !character.is_ascii_digit() && character != '.')?;
    let number: f64 = level[..end].parse().ok()?;
    let unit = level[end..].trim_start().to_ascii_lowercase();
    let prefix = unit.chars().next().and_then(|first| "kmgt".find(first));
    let rest = unit.get(1..).unwrap_or_default();
    let (base, rest) = match rest.strip_prefix('i') {
        Some(rest) => (1024.0_f64, rest),
        None => (1000.0, rest),
    };
    // The `m` of `10ms` is none.
    let prefix = prefix.filter(|_| ["", "b", "be", "bit"].contains(&rest));
    Some(prefix.map_or(number, |place| number * base.powf(place as f64 + 1.0)))
}

/// A level without what does not change its meaning: case, spaces, and how a number is written.
pub(super) fn plain(level: &str) -> String {
    match level.parse::<f64>() {
        Ok(number) if number.is_finite() => number.to_string(),
        _ => {
            let letters = level.chars().filter(|letter| !letter.is_whitespace());
            letters.flat_map(char::to_lowercase).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(levels: &[&'static str]) -> Vec<&'static str> {
        let mut levels = levels.to_vec();
        sort_levels(&mut levels);
        levels
    }

    #[test]
    fn baselines_are_what_one_starts_from() {
        assert_eq!(sorted(&["on", "off"]), ["off", "on"]);
        assert_eq!(sorted(&["9000", "1500", "01"]), ["01", "1500", "9000"]);
        assert_eq!(sorted(&["10g", "1g"]), ["1g", "10g"]);
        assert_eq!(sorted(&["1M", "4K", "64K"]), ["4K", "64K", "1M"]);
        assert_eq!(
            sorted(&["10 Gbit", "1GbE", "100Mbit", "2.5G"]),
            ["100Mbit", "1GbE", "2.5G", "10 Gbit"]
        );
        assert_eq!(
            sorted(&["1GiB", "512B", "1024k"]),
            ["512B", "1024k", "1GiB"]
        );
        assert_eq!(sorted(&["20ms", "3 mixed"]), ["3 mixed", "20ms"]);
        assert_eq!(sorted(&["smb2.0", "smb1"]), ["smb1", "smb2.0"]);
        assert_eq!(sorted(&["a", "off", "Default"]), ["Default", "a", "off"]);
        assert_eq!(
            sorted(&["-1", "0", "1e3", "nan"]),
            ["-1", "0", "1e3", "nan"]
        );
    }
}
