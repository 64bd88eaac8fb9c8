//! Profiles: lists of rules that say what to set on a host about which certain facts hold.
//!
//! A profile is TOML. A rule names a knob, a value and why; its `when` is a conjunction of fixed
//! fields, and there is no language of expressions. Pure but for [`load`].

mod decide;
mod profile_toml;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use record::{BitsPerSecond, bounded_read};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Error;

pub use decide::{Proposal, Role, Situation, Verdict, propose, settings, spots};
pub use profile_toml::{parse, time};

/// The profiles of this program.
const BUILT_IN: [(&str, &str); 5] = [
    ("default", include_str!("../../profiles/default.toml")),
    (
        "high-throughput",
        include_str!("../../profiles/high-throughput.toml"),
    ),
    (
        "low-latency",
        include_str!("../../profiles/low-latency.toml"),
    ),
    ("low-cpu", include_str!("../../profiles/low-cpu.toml")),
    ("media", include_str!("../../profiles/media.toml")),
];

/// A list of rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// How people call it.
    pub name: String,
    /// Its file, where it is none of this program's.
    pub file: Option<PathBuf>,
    /// What it is for, in a sentence.
    pub meaning: String,
    /// In the order of the file.
    pub rules: Vec<Rule>,
}

/// What to set one knob to.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The knob's id.
    pub knob: String,
    /// Its value.
    pub value: RuleValue,
    /// When the rule holds.
    pub when: When,
    /// Why it is a good idea.
    pub why: String,
    /// Where that is known from.
    pub source: Option<String>,
}

/// The value that a rule asks for, as it would be typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleValue {
    /// This one.
    Set(String),
    /// No less; the most there is where that is less.
    AtLeast(String),
    /// No more; the least there is where that is more.
    AtMost(String),
}

/// When a rule holds: where all of it is so. What is not known is not so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct When {
    /// Line rate, from this on.
    pub speed_min: Option<BitsPerSecond>,
    /// Line rate, less than this.
    pub speed_below: Option<BitsPerSecond>,
    /// Round trip to the other end, from this on.
    pub round_trip_min: Option<Duration>,
    /// Round trip to the other end, less than this.
    pub round_trip_below: Option<Duration>,
    /// Processors, from so many on.
    pub cores_min: Option<u32>,
    /// Processors, fewer than this.
    pub cores_below: Option<u32>,
    /// MTU in bytes, from this on.
    pub mtu_min: Option<u32>,
    /// MTU in bytes, less than this.
    pub mtu_below: Option<u32>,
    /// One of these drivers.
    pub drivers: Vec<String>,
    /// What the host is on the path.
    pub role: Option<Role>,
}

/// Whether rules may be about protections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protections {
    /// A profile with such a rule is refused.
    Refused,
    /// Somebody has said that they are meant.
    Meant,
}

/// The profiles that can be had by name: those of this program, and those in `folder`, of which one
/// with the same name goes before.
///
/// # Errors
/// When one in the folder cannot be read or understood.
pub fn all(folder: Option<&Path>) -> Result<Vec<Profile>, Error> {
    let mut profiles = Vec::new();
    for (name, text) in BUILT_IN {
        profiles.push(parse(name, text, Protections::Refused)?);
    }
    for path in files(folder) {
        // Whoever uses it is asked about protections.
        let own = load(&path, Protections::Meant)?;
        profiles.retain(|profile| profile.name != own.name);
        profiles.push(own);
    }
    Ok(profiles)
}

/// The profile of this name, or in the file of this path: what has a `/` in it or ends in `.toml`.
///
/// # Errors
/// When there is none, or it cannot be read or understood.
pub fn find(name: &str, folder: Option<&Path>, protections: Protections) -> Result<Profile, Error> {
    if name.contains('/') || name.ends_with(".toml") {
        return load(Path::new(name), protections);
    }
    let own = files(folder).into_iter();
    if let Some(path) = own
        .into_iter()
        .find(|path| path.file_stem().is_some_and(|stem| stem == name))
    {
        return load(&path, protections);
    }
    let text = BUILT_IN.iter().find(|(known, _)| *known == name);
    let Some((name, text)) = text else {
        let own = files(folder);
        let own = own.iter().filter_map(|path| path.file_stem()?.to_str());
        let known = BUILT_IN.iter().map(|(name, _)| *name).chain(own);
        return Err(Error::NoSuchProfile {
            name: name.to_owned(),
            known: known.map(str::to_owned).collect(),
        });
    };
    parse(name, text, protections)
}

fn files(folder: Option<&Path>) -> Vec<PathBuf> {
    let entries = folder.and_then(|folder| fs::read_dir(folder).ok());
    let entries = entries.into_iter().flatten().flatten();
    let is_profile = |path: &PathBuf| path.extension().is_some_and(|end| end == "toml");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(is_profile)
        .collect();
    files.sort();
    files
}

/// Reads a profile from a file, whose name without `.toml` is its name.
///
/// # Errors
/// When it cannot be read or understood.
pub fn load(path: &Path, protections: Protections) -> Result<Profile, Error> {
    let unreadable = |source| Error::ProfileFile {
        path: path.to_owned(),
        source,
    };
    let text = bounded_read::text(path, bounded_read::TOML_BYTES_MAX).map_err(unreadable)?;
    // What is wrong with it is said of the file, as there may be several of that name.
    let profile = parse(&path.display().to_string(), &text, protections)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok(Profile {
        name: name.into_owned(),
        file: Some(path.to_owned()),
        ..profile
    })
}
