//! What a reader must know of the numbers, nearest first, each thing once.

use analysis::{ExperimentResult, RunAnalysis};
use locale::{Message, list, said, say, text};
use record::{Arm, Direction, Phase};
use stats::Verdict;

use super::experiment::{final_effect, is_baseline, is_by_hand, is_unsteady};
use super::headline::is_price;
use super::{direction, judged, phase, rung_in, workload_short};

/// How near a caveat is to what the reader came for. Only the last kind is left to the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    /// A note of the run, or a caveat of a verdict that is open.
    Verdict,
    /// A caveat of a number on the page.
    Number,
    /// Of one arm of a comparison whose verdict is open.
    OpenArm,
    /// Everything else that would otherwise hide the others.
    Detail,
}

/// What several caveats belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Group {
    /// Rungs of the ladder.
    Ladder,
    /// Remedies.
    Fixes,
    /// Something with a name: a change, the noise, a workload.
    Named(String),
}

/// A caveat and everything that it is about: the group and what of it.
struct Caveat {
    nearness: Nearness,
    about: Vec<(Group, Vec<String>)>,
    text: String,
}

impl Caveat {
    /// With what it is about, where `rungs` of the ladder were measured.
    fn line(&self, rungs: usize) -> String {
        let about: Vec<String> = self
            .about
            .iter()
            .map(|(group, of)| match (group, of.len()) {
                (Group::Ladder, count) if count > 1 && count == rungs => text("caveat.every-rung"),
                (Group::Ladder, _) => list(of),
                (Group::Fixes, count) => said(
                    &say("caveat.fixes")
                        .count("count", count)
                        .with("names", list(of)),
                ),
                (Group::Named(name), 0) => name.clone(),
                (Group::Named(name), _) => format!("{name} {}", list(of)),
            })
            .collect();
        match about.is_empty() {
            true => self.text.clone(),
            false => format!("{}: {}", about.join(", "), self.text),
        }
    }
}

#[derive(Default)]
struct Caveats(Vec<Caveat>);

impl Caveats {
    /// The same words about something else become one caveat about both.
    fn add(&mut self, nearness: Nearness, group: &Group, of: &str, texts: &[Message]) {
        for text in texts.iter().map(said) {
            let known = self.0.iter().position(|caveat| caveat.text == text);
            let index = known.unwrap_or_else(|| {
                self.0.push(Caveat {
                    nearness,
                    about: Vec::new(),
                    text: text.clone(),
                });
                self.0.len() - 1
            });
            let caveat = &mut self.0[index];
            caveat.nearness = caveat.nearness.min(nearness);
            let known = caveat.about.iter().position(|(known, _)| known == group);
            let index = known.unwrap_or_else(|| {
                caveat.about.push((group.clone(), Vec::new()));
                caveat.about.len() - 1
            });
            let names = &mut caveat.about[index].1;
            if !of.is_empty() && !names.iter().any(|name| name == of) {
                names.push(of.to_owned());
            }
        }
    }
}

/// What a reader must know, nearest first, each thing once: everything, and how many of its lines are
/// near enough for a terminal.
pub(crate) struct ToKnow {
    pub(crate) lines: Vec<String>,
    pub(crate) near: usize,
}

pub(crate) fn to_know(analysis: &RunAnalysis) -> ToKnow {
    let mut caveats = Caveats::default();
    let is_said_elsewhere = |note: &Message| is_price(note) || is_by_hand(note);
    for note in analysis
        .notes
        .iter()
        .filter(|note| !is_said_elsewhere(note))
    {
        caveats.0.push(Caveat {
            nearness: Nearness::Verdict,
            about: Vec::new(),
            text: said(note),
        });
    }
    for one in &analysis.ladder {
        if let Some(rate) = &one.rate {
            let name = rung_in(one.rung, one.direction);
            caveats.add(Nearness::Number, &Group::Ladder, &name, &rate.caveats);
        }
    }
    for experiment in &analysis.experiments {
        experiment_caveats(experiment, &mut caveats);
    }
    for bench in &analysis.bench {
        let name = workload_short(&bench.workload);
        if let Some(median) = &bench.median {
            let group = Group::Named(name.clone());
            caveats.add(Nearness::Number, &group, "", &median.caveats);
        }
        if let Some(cpu) = &bench.cpu_per_byte {
            let name = said(&say("caveat.processor-time").with("name", &name));
            let own = cpu.caveats.iter().filter(|caveat| {
                let median = bench.median.as_ref();
                median.is_none_or(|median| !median.caveats.contains(caveat))
            });
            let own: Vec<Message> = own.cloned().collect();
            caveats.add(Nearness::Detail, &Group::Named(name), "", &own);
        }
    }
    fix_caveats(analysis, &mut caveats);
    let mut caveats = caveats.0;
    caveats.sort_by_key(|caveat| caveat.nearness);
    let near = caveats
        .iter()
        .filter(|caveat| caveat.nearness < Nearness::Detail)
        .count();
    let rates = analysis.ladder.iter().filter_map(|one| one.rate.as_ref());
    let rungs = rates.filter(|rate| rate.n > 0).count();
    let mut lines: Vec<String> = caveats.iter().map(|caveat| caveat.line(rungs)).collect();
    lines.extend(analysis.changes.iter().filter_map(|change| {
        let about = |id| said(&say(id).with("id", change.id.to_string()));
        match change.restored {
            None => Some(about("change.opened")),
            Some(true) => Some(about("change.restored")),
            // That is an alert.
            Some(false) => None,
        }
    }));
    ToKnow { lines, near }
}

/// What is to be known of what fixes promise.
fn fix_caveats(analysis: &RunAnalysis, caveats: &mut Caveats) {
    for fix in analysis.diagnosis.iter().flat_map(|found| &found.fixes) {
        let name = format!("`{}`", fix.id);
        let caveats_of = fix.predicted.iter().flat_map(|ratio| ratio.caveats.clone());
        caveats.add(
            Nearness::Number,
            &Group::Fixes,
            &name,
            &caveats_of.collect::<Vec<_>>(),
        );
    }
}

fn experiment_caveats(experiment: &ExperimentResult, caveats: &mut Caveats) {
    let name = match is_baseline(experiment) {
        true => text("caveat.noise"),
        false => format!("`{}`", experiment.question.change()),
    };
    let group = Group::Named(name);
    let band = experiment.question.band;
    let alarm = experiment.noise.iter().any(|noise| noise.alarm);
    let is_open = |response: Direction, of: Phase| {
        let last = final_effect(experiment, response);
        let open = last.is_some_and(|last| last.phase == of && last.verdict == Verdict::Undecided);
        open || (alarm && of == Phase::SameAgainstSame)
    };
    for effect in &experiment.effects {
        let counts = final_effect(experiment, effect.response) == Some(effect);
        let nearness = match effect.verdict {
            Verdict::Undecided if counts => Nearness::Verdict,
            _ if counts => Nearness::Number,
            _ => Nearness::Detail,
        };
        let of = format!("{} ({})", direction(effect.response), judged(effect));
        caveats.add(nearness, &group, &of, &effect.ratio.caveats);
    }
    for noise in &experiment.noise {
        let nearness = match noise {
            noise if noise.alarm => Nearness::Verdict,
            noise if is_unsteady(noise, band) => Nearness::Number,
            _ => Nearness::Detail,
        };
        let of = direction(noise.response);
        caveats.add(nearness, &group, &of, &noise.ratio.caveats);
    }
    for samples in &experiment.samples {
        let arm = match samples.arm {
            Arm::A => "A",
            Arm::B => "B",
        };
        let nearness = match is_open(samples.response, samples.phase) {
            true => Nearness::OpenArm,
            false => Nearness::Detail,
        };
        let of = say("caveat.arm")
            .with("arm", arm)
            .with("direction", samples.response)
            .with("phase", phase(samples.phase));
        let of = said(&of);
        caveats.add(nearness, &group, &of, &samples.median.caveats);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_caveat_about_many_things_is_said_once() {
        let few = [Message::from("3 trials are few")];
        let mut caveats = Caveats::default();
        for name in ["raw TCP read", "share read", "raw TCP write"] {
            caveats.add(Nearness::Number, &Group::Ladder, name, &few);
        }
        assert_eq!(
            caveats.0[0].line(4),
            "raw TCP read, share read and raw TCP write: 3 trials are few"
        );
        caveats.add(Nearness::Number, &Group::Ladder, "share write", &few);
        caveats.add(Nearness::Number, &Group::Ladder, "share write", &few);
        assert_eq!(caveats.0.len(), 1);
        assert_eq!(caveats.0[0].line(4), "every rung: 3 trials are few");
        let less = [Message::from("it may gain less")];
        caveats.add(Nearness::Detail, &Group::Fixes, "`a`", &less);
        assert_eq!(caveats.0[1].line(4), "fix `a`: it may gain less");
        caveats.add(Nearness::Verdict, &Group::Fixes, "`b`", &less);
        let share = Group::Named("share read".into());
        caveats.add(Nearness::Detail, &share, "", &less);
        assert_eq!(
            caveats.0[1].line(4),
            "fixes `a` and `b`, share read: it may gain less"
        );
        assert_eq!(caveats.0[1].nearness, Nearness::Verdict);
    }
}
