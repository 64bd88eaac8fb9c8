//! What is under way between a Windows host and others: only looked at.

use std::collections::BTreeMap;

use locale::say;
use record::Value;

use super::super::{Refusal, State, complaint, words};
use super::{Object, objects};
use crate::exec::{Command, Output};
use crate::tool_output::windows;

/// Why it cannot be changed.
const BECAUSE: &str = "knob-fixed.status";
/// Most entries that a value names.
const ENTRIES_MAX: usize = 16;

/// What the SMB client of Windows shows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SmbStatus {
    /// What the SMB client agreed on with its servers.
    Sessions,
    /// TCP connections to SMB servers.
    Connections,
    /// What SMB multichannel chose.
    Channels,
}

/// A list of nothing is written as one. Who may not see what is there gets that list too, with a complaint beside it.
fn check_is_list(outputs: &[Output]) -> Result<(), Refusal> {
    match outputs.first() {
        Some(output) if !output.stderr.trim_ascii().is_empty() => Err(complaint(output)),
        Some(output) if !output.stdout.trim_ascii().is_empty() => Ok(()),
        _ => Err(super::unreadable()),
    }
}

impl SmbStatus {
    pub(super) fn read(self) -> Vec<Command> {
        let (cmdlet, names) = match self {
            Self::Sessions => (
                "Get-SmbConnection",
                &["ServerName", "Dialect", "Signed", "Encrypted"][..],
            ),
            Self::Connections => (
                "Get-NetTCPConnection -RemotePort 445 -State Established -ErrorAction SilentlyContinue",
                &["LocalAddress", "RemoteAddress"][..],
            ),
            Self::Channels => (
                "Get-SmbMultichannelConnection",
                &[
                    "ServerName",
                    "ClientIpAddress",
                    "ServerIpAddress",
                    "CurrentChannels",
                    "MaxChannels",
                    "ClientRSSCapable",
                    "ServerRSSCapable",
                    "Failed",
                ][..],
            ),
        };
        let select = windows::properties(names, &[]);
        vec![windows::list(&format!("{cmdlet} | Select-Object {select}"))]
    }

    /// Each entry once, and how often it is there where there is more than one.
    pub(super) fn parse(self, outputs: &[Output]) -> Result<State, Refusal> {
        let objects = objects(outputs, 0)?;
        if objects.is_empty() {
            check_is_list(outputs)?;
        }
        let mut entries: BTreeMap<String, usize> = BTreeMap::new();
        for object in objects {
            let entry = self.entry(&object);
            *entries
                .entry(entry.ok_or_else(super::unreadable)?)
                .or_default() += 1;
        }
        let more = entries.len().saturating_sub(ENTRIES_MAX);
        let shown = entries
            .iter()
            .take(ENTRIES_MAX)
            .map(|(entry, count)| match self {
                Self::Connections => format!("{entry}: {count}"),
                Self::Sessions | Self::Channels => entry.clone(),
            });
        let mut shown: Vec<String> = shown.collect();
        if more > 0 {
            shown.push(format!("and {more} more"));
        }
        let value = match shown.is_empty() {
            true => "none".to_owned(),
            false => shown.join("; "),
        };
        Ok(State::new(Value::Text(value), words(&[])).fixed_if(Some(say(BECAUSE))))
    }

    fn entry(self, object: &Object) -> Option<String> {
        let text = |name: &str| object.text(name);
        let is = |name: &str| object.switch(name) == Some(true);
        Some(match self {
            Self::Sessions => {
                let signed = if is("Signed") { ", signed" } else { "" };
                let encrypted = if is("Encrypted") { ", encrypted" } else { "" };
                format!(
                    "{} {}{signed}{encrypted}",
                    text("ServerName")?,
                    text("Dialect")?
                )
            }
            Self::Connections => {
                format!("{} to {}", text("LocalAddress")?, text("RemoteAddress")?)
            }
            Self::Channels => {
                let ways = format!(
                    "{} to {}",
                    text("ClientIpAddress")?,
                    text("ServerIpAddress")?
                );
                let number = |name: &str| object.number(name);
                let (now, most) = (number("CurrentChannels")?, number("MaxChannels")?);
                let rss = match (is("ClientRSSCapable"), is("ServerRSSCapable")) {
                    (true, true) => "",
                    (false, true) => ", no RSS here",
                    (true, false) => ", no RSS there",
                    (false, false) => ", no RSS at either end",
                };
                let failed = if is("Failed") { ", failed" } else { "" };
                format!(
                    "{}: {ways} {now} of {most}{rss}{failed}",
                    text("ServerName")?
                )
            }
        })
    }
}
