//! `ethtool`: its text, which has been the same since version 5.8; its JSON has not.

use std::collections::BTreeMap;

use record::{BitsPerSecond, LinkModes, Offload};

/// The row for TCP segmentation as a whole.
const TSO: &str = "tcp-segmentation-offload";
/// The member of [`TSO`] that decides: other members stay on when TCP segmentation is really off.
const TSO_IPV4: &str = "tx-tcp-segmentation";

/// One row of `ethtool -k`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Feature {
    pub(crate) name: String,
    pub(crate) on: bool,
    /// What was asked for; another feature that is off can keep it from being so.
    pub(crate) requested: bool,
    pub(crate) fixed: bool,
    pub(crate) role: Role,
}

/// Where a row of `ethtool -k` stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// By itself.
    Single,
    /// Above the members it sums up.
    Group,
    /// Below the group of this name.
    Member(String),
}

/// Reads `ethtool -k`.
pub(crate) fn features(stdout: &str) -> Vec<Feature> {
    let mut features: Vec<Feature> = Vec::new();
    let mut above = String::new();
    for line in stdout.lines().skip(1) {
        let Some((on, requested, fixed, name)) = feature_line(line) else {
            continue;
        };
        let role = if line.starts_with('\t') {
            Role::Member(above.clone())
        } else {
            above = name.to_owned();
            Role::Single
        };
        features.push(Feature {
            name: name.to_owned(),
            on,
            requested,
            fixed,
            role,
        });
    }
    sum_up_groups(&mut features);
    features
}

fn feature_line(line: &str) -> Option<(bool, bool, bool, &str)> {
    let (name, rest) = line.trim().split_once(": ")?;
    let (state, remark) = rest.split_once(' ').unwrap_or((rest, ""));
    let on = switch(state)?;
    let well_formed =
        |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    if name.is_empty() || name.starts_with('-') || !name.chars().all(well_formed) {
        return None;
    }
    let requested = match remark.trim() {
        "[requested on]" => true,
        "[requested off]" => false,
        _ => on,
    };
    Some((on, requested, remark.trim() == "[fixed]", name))
}

fn switch(word: &str) -> Option<bool> {
    match word {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

/// A group cannot be changed when none of its members can.
fn sum_up_groups(features: &mut [Feature]) {
    let mut groups: BTreeMap<String, bool> = BTreeMap::new();
    for feature in features.iter() {
        if let Role::Member(group) = &feature.role {
            let all_fixed = groups.entry(group.clone()).or_insert(true);
            *all_fixed = *all_fixed && feature.fixed;
        }
    }
    let deciding = features
        .iter()
        .find(|feature| feature.name == TSO_IPV4)
        .cloned();
    for feature in features
        .iter_mut()
        .filter(|feature| feature.role == Role::Single)
    {
        if let Some(&all_fixed) = groups.get(&feature.name) {
            feature.role = Role::Group;
            feature.fixed = all_fixed;
        }
        if let Some(deciding) = deciding.as_ref().filter(|_| feature.name == TSO) {
            feature.on = deciding.on;
            feature.requested = deciding.requested;
            feature.fixed = deciding.fixed;
        }
    }
}

/// The features as they stand in the facts of a host.
pub(crate) fn offloads(features: &[Feature]) -> BTreeMap<String, Offload> {
    let offload = |feature: &Feature| Offload {
        on: feature.on,
        fixed: feature.fixed,
    };
    features
        .iter()
        .map(|feature| (feature.name.clone(), offload(feature)))
        .collect()
}

/// Receive and transmit queues in use, from `ethtool -l`.
pub(crate) fn queues(stdout: &str) -> (Option<u32>, Option<u32>) {
    let current = stdout
        .lines()
        .skip_while(|line| !line.starts_with("Current hardware settings"));
    let rows: BTreeMap<&str, u32> = current
        .filter_map(|line| {
            let (name, count) = line.split_once(':')?;
            Some((name.trim(), count.trim().parse().ok()?))
        })
        .collect();
    let sum = |own: &str| match (rows.get(own), rows.get("Combined")) {
        (None, None) => None,
        (own, combined) => Some(
            own.copied()
                .unwrap_or(0)
                .saturating_add(combined.copied().unwrap_or(0)),
        ),
    };
    (sum("RX"), sum("TX"))
}

/// The driver, from `ethtool -i`.
pub(crate) fn driver(stdout: &str) -> Option<String> {
    let line = stdout
        .lines()
        .find_map(|line| line.strip_prefix("driver:"))?;
    let name = line.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// The line rate, from `ethtool NIC`.
pub(crate) fn speed(stdout: &str) -> Option<BitsPerSecond> {
    let line = stdout
        .lines()
        .find_map(|line| line.trim().strip_prefix("Speed:"))?;
    let megabits: u64 = line.trim().strip_suffix("Mb/s")?.parse().ok()?;
    // Drivers that do not know say 0 or -1 as an unsigned number.
    let known = megabits > 0 && megabits < u64::from(u32::MAX);
    known.then(|| BitsPerSecond::new(megabits.saturating_mul(1_000_000)))
}

/// The rates that both ends of a link offer, from `ethtool NIC`; none where it says nothing of modes.
pub(crate) fn link_modes(stdout: &str) -> Option<LinkModes> {
    const OWN: &str = "Supported link modes";
    let rates = |heading: &str| {
        let mut rates: Vec<BitsPerSecond> = modes_of(stdout, heading)
            .into_iter()
            .filter_map(|mode| mode.split_once("base")?.0.parse::<u64>().ok())
            .map(|megabits| BitsPerSecond::new(megabits.saturating_mul(1_000_000)))
            .collect();
        rates.sort_unstable();
        rates.dedup();
        rates
    };
    stdout.contains(OWN).then(|| LinkModes {
        own: rates(OWN),
        partner: rates("Link partner advertised link modes"),
    })
}

/// The modes of one of the lists of `ethtool NIC`, which goes on in the lines below it.
pub(crate) fn modes_of<'a>(said: &'a str, heading: &str) -> Vec<&'a str> {
    let mut modes = Vec::new();
    let mut inside = false;
    for line in said.lines().map(str::trim) {
        let words = match line.split_once(':') {
            Some((name, words)) => {
                inside = name == heading;
                words
            }
            None => line,
        };
        if inside {
            modes.extend(
                words
                    .split_whitespace()
                    .filter(|word| word.contains("base")),
            );
        }
    }
    modes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segmentation_is_off_when_only_its_newest_member_is_on() {
        let text = "Features for a0:\ntcp-segmentation-offload: on\n\
            \ttx-tcp-segmentation: off [requested on]\n\ttx-tcp-accecn-segmentation: on\n";
        let features = features(text);
        assert!(!features[0].on);
        assert!(features[0].requested);
        assert!(!features[0].fixed);
        assert_eq!(features[0].role, Role::Group);
        assert_eq!(features[1].role, Role::Member(TSO.into()));
    }

    #[test]
    fn a_group_of_fixed_members_is_fixed() {
        let text = "Features for a0:\nscatter-gather: on\n\ttx-scatter-gather: on [fixed]\n\
            \ttx-scatter-gather-fraglist: off [fixed]\nlarge-receive-offload: off [fixed]\n";
        assert!(features(text).iter().all(|feature| feature.fixed));
    }

    #[test]
    fn hostile_rows_are_left_out() {
        let text = "Features for a0:\n-K: on\na b: on\n: on\nx: maybe\n\ty\n\u{1}: off\nok: on\n";
        let names: Vec<_> = features(text)
            .into_iter()
            .map(|feature| feature.name)
            .collect();
        assert_eq!(names, ["ok"]);
    }

    #[test]
    fn rates_that_drivers_invent_for_unknown_are_unknown() {
        assert_eq!(
            speed("\tSpeed: 10000Mb/s\n"),
            Some(BitsPerSecond::new(10_000_000_000))
        );
        for unknown in ["Unknown!", "0Mb/s", "4294967295Mb/s", "-1Mb/s", "Mb/s", ""] {
            assert_eq!(speed(&format!("\tSpeed: {unknown}\n")), None, "{unknown}");
        }
    }

    #[test]
    fn rates_of_both_ends_each_once() {
        let said = "Settings for lan1:\n\tSupported link modes:   10baseT/Half 10baseT/Full\n\
            \t                        1000baseT/Full\n\tSupported pause frame use: No\n\
            \tAdvertised link modes:  10baseT/Full\n\
            \tLink partner advertised link modes:  10baseT/Full\n\
            \t                                     1000baseT/Full 2500baseT/Full\n\
            \tLink partner advertised pause frame use: No\n\tSpeed: 10Mb/s\n";
        let modes = link_modes(said).unwrap();
        let megabits = |rates: &[BitsPerSecond]| -> Vec<u64> {
            rates.iter().map(|rate| rate.get() / 1_000_000).collect()
        };
        assert_eq!(megabits(&modes.own), [10, 1000]);
        assert_eq!(megabits(&modes.partner), [10, 1000, 2500]);
        let none = link_modes("\tSupported link modes:   Not reported\n").unwrap();
        assert_eq!(none, LinkModes::default());
        assert_eq!(link_modes("No data available\n"), None);
    }
}
