//! The ladder in words: rungs, ceilings, channels, and what was not measured.

use std::net::IpAddr;

use analysis::{ChannelUse, LadderRung, RunAnalysis, RungName};
use locale::{Message, list, said, say, text};
use record::{Direction, Plan};
use stats::Estimate;

use super::experiment::candidates;
use super::{DIRECTIONS, direction, rung};
use crate::quantity;

/// The rungs of one direction.
pub(crate) struct Ladder<'a> {
    pub(crate) direction: Direction,
    pub(crate) rungs: Vec<&'a LadderRung>,
}

pub(crate) fn ladders(analysis: &RunAnalysis) -> Vec<Ladder<'_>> {
    DIRECTIONS
        .into_iter()
        .filter_map(|direction| {
            let rungs: Vec<_> = analysis
                .ladder
                .iter()
                .filter(|rung| rung.direction == direction)
                .collect();
            (!rungs.is_empty()).then_some(Ladder { direction, rungs })
        })
        .collect()
}

/// How much more than the ceiling of the ladder one of several links is.
const SAME_CEILING: f64 = 1.01;

/// Confidence of an interval below which it is not shown beside a verdict: that of two trials is 50 %.
const SHOWN_CONFIDENCE: f64 = 0.8;

/// The interval of a rate, where it says something.
pub(crate) fn interval_of(rate: &Estimate) -> Option<String> {
    let confidence = rate.confidence.unwrap_or(1.0);
    quantity::interval(rate).filter(|_| confidence >= SHOWN_CONFIDENCE)
}

/// The confidence that every interval of a ladder that is shown reaches: `interval, 95.7 %`.
pub(crate) fn interval_heading(ladder: &Ladder<'_>) -> String {
    let rates = ladder.rungs.iter().filter_map(|rung| rung.rate.as_ref());
    let low = rates
        .filter(|rate| interval_of(rate).is_some())
        .filter_map(|rate| rate.confidence)
        .fold(f64::INFINITY, f64::min);
    match low.is_finite() {
        true => said(&say("interval.at").with("confidence", quantity::share(low))),
        false => text("interval"),
    }
}

/// What the rates of disks are the rates of, and what small files take.
pub(crate) fn files(analysis: &RunAnalysis) -> Vec<String> {
    let Some(diagnosis) = &analysis.diagnosis else {
        return Vec::new();
    };
    let ways = diagnosis.small_files.iter().map(|files| {
        let requests = files.requests.map(|requests| format!("{requests:.1}"));
        let sentence = say("small-files")
            .with("direction", files.direction)
            .with("each", quantity::estimate_with_interval(&files.each))
            .with("files", format!("{:.0}", 1.0 / files.each.value))
            .with_known("requests", requests);
        said(&sentence)
    });
    diagnosis.notes.iter().map(said).chain(ways).collect()
}

/// A NIC of ours, where it is known, and an address of the server.
pub(crate) fn ends(nic: Option<&str>, address: IpAddr) -> String {
    said(&match nic {
        Some(nic) => say("ends").with("nic", nic).with("address", address),
        None => say("ends.address").with("address", address),
    })
}

/// Which channel, by its two ends and its number where there are several between these.
pub(crate) fn channel(channel: &ChannelUse) -> String {
    let ends = ends(channel.nic.as_deref(), channel.address);
    match channel.number {
        1 => ends,
        number => said(
            &say("ends.numbered")
                .with("ends", ends)
                .count("number", number),
        ),
    }
}

/// How full a channel's NICs are of all that goes over them.
pub(crate) fn filled(channel: &ChannelUse) -> Option<String> {
    let full = channel.of_line.as_ref()?;
    Some(quantity::share(full.value))
}

/// The channels that carried far less than their NICs could.
pub(crate) fn idle_channels(analysis: &RunAnalysis) -> Vec<String> {
    let ways = analysis.diagnosis.iter();
    ways.flat_map(|found| &found.multichannel)
        .filter_map(|several| {
            let idle = several.channels.iter();
            let idle = idle.filter(|one| one.is_far_below_its_line()).map(|one| {
                let sentence = say("idle-channels.one")
                    .with("channel", channel(one))
                    .with("rate", quantity::estimate(&one.rate))
                    .with_known("full", filled(one));
                said(&sentence)
            });
            let idle: Vec<String> = idle.collect();
            let sentence = say("idle-channels")
                .count("count", several.channels.len())
                .with("direction", several.direction)
                .with("idle", idle.join(", "));
            (!idle.is_empty()).then(|| said(&sentence))
        })
        .collect()
}

/// What was not measured, and why; the same reason in both directions is said once.
pub(crate) fn not_measured(analysis: &RunAnalysis) -> Vec<String> {
    let mut rungs: Vec<(RungName, &Message, Vec<String>)> = Vec::new();
    for one in &analysis.ladder {
        let Some(reason) = &one.not_measured else {
            continue;
        };
        let same = rungs
            .iter_mut()
            .find(|(name, why, _)| *name == one.rung && *why == reason);
        match same {
            Some((_, _, directions)) => directions.push(direction(one.direction)),
            None => rungs.push((one.rung, reason, vec![direction(one.direction)])),
        }
    }
    let mut lines: Vec<String> = rungs
        .into_iter()
        .map(|(name, reason, directions)| {
            let sentence = say("not-measured.rung")
                .with("rung", rung(name))
                .with("directions", list(&directions))
                .with("reason", reason.clone());
            said(&sentence)
        })
        .collect();
    for experiment in &analysis.experiments {
        for failure in &experiment.failures {
            let change = experiment.question.change();
            lines.push(format!("`{change}`: {}", said(failure)));
        }
    }
    if let Plan::Tune {
        candidates: planned,
        ..
    } = &analysis.plan
    {
        for level in planned {
            let is_tried = candidates(analysis).any(|tried| tried.question.change() == level.name);
            let mut untried = analysis.untried.iter();
            let is_said = untried.any(|one| one.level.as_ref() == Some(level));
            if !is_tried && !is_said {
                lines.push(said(
                    &say("not-measured.candidate").with("name", &level.name),
                ));
            }
        }
    }
    lines
}

/// How the ceilings were computed, and what those rungs are held against that use more links than these; the same for both
/// directions is said once.
pub(crate) fn ceilings(analysis: &RunAnalysis) -> Vec<String> {
    let computed = analysis.ceilings.iter();
    let computed = computed
        .map(|(of, ceiling)| (*of, say("ceiling").with("because", ceiling.because.clone())));
    let of_links = DIRECTIONS.into_iter().filter_map(|of| {
        let rungs = analysis
            .ladder
            .iter()
            .filter(move |one| one.direction == of);
        let above = rungs.clone().find(|one| one.rung == RungName::Ceiling)?;
        let least = above.rate.as_ref()?.value * SAME_CEILING;
        // Of the connections of a mount the engine knows nothing.
        let own = rungs.filter(|one| matches!(one.rung, RungName::Streams | RungName::Channels));
        let several = own.filter_map(move |one| {
            let links = one.ceiling.as_ref().filter(|links| links.value > least)?;
            let sentence = say("ceiling.of-links").with("rung", rung(one.rung));
            Some((of, sentence.with("rate", quantity::estimate(links))))
        });
        Some(several)
    });
    let mut sentences: Vec<(Message, Vec<String>)> = Vec::new();
    for (of, sentence) in computed.chain(of_links.flatten()) {
        match sentences.iter_mut().find(|(said, _)| *said == sentence) {
            Some((_, directions)) => directions.push(direction(of)),
            None => sentences.push((sentence, vec![direction(of)])),
        }
    }
    let is_of_all = |directions: &[String]| directions.len() == analysis.ceilings.len();
    let sentences = sentences.into_iter().map(|(sentence, directions)| {
        said(&match is_of_all(&directions) {
            true => sentence,
            false => sentence.with("directions", list(&directions)),
        })
    });
    sentences.collect()
}
