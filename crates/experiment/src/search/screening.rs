//! Screening: the noise of a trial, and a fraction of all settings that shows what each candidate does.

use std::collections::BTreeMap;

use analysis::PhaseResult;
use locale::{Argument, Message, say};
use rand::seq::SliceRandom;

use super::{SCREENINGS_MAX, Search, factors, mean, percent};
use crate::gaussian_process::Observation;
use crate::phase_execution::Interruption;
use crate::tune_plan::Candidate;

/// Trials of a screening that have a disturbance in common.
const SCREENING_BLOCK: usize = 8;
/// Noise, as a share of 1, up to which one trial of each setting screens well enough.
const QUIET: f64 = 0.04;
/// The least noise that is believed.
const NOISE_MIN: f64 = 0.002;
/// The share of the trials that are left which a screening takes at most, as one of so many.
const SCREENING_SHARE: usize = 2;
/// A difference between two trials that is so many times as large as usual stands apart.
const APART: f64 = 4.0;

impl Search<'_, '_> {
    /// The noise of a trial, from the start against itself; these trials are seen as well.
    pub(super) fn learn_noise(&mut self, gate: &PhaseResult) {
        let mut by_block: BTreeMap<u32, Vec<(record::Arm, Vec<f64>)>> = BTreeMap::new();
        for samples in &gate.samples {
            for (block, rate) in samples.blocks.iter().zip(&samples.rates) {
                let arms = by_block.entry(*block).or_default();
                match arms.iter_mut().find(|(arm, _)| *arm == samples.arm) {
                    Some((_, logs)) => logs.push(rate.ln()),
                    None => arms.push((samples.arm, vec![rate.ln()])),
                }
            }
        }
        let responses = self.plan.tune.responses.len();
        let mut differences = Vec::new();
        for arms in by_block.into_values() {
            let complete = arms.iter().filter(|(_, logs)| logs.len() == responses);
            let logs: Vec<f64> = complete.map(|(_, logs)| mean(logs)).collect();
            for log in &logs {
                self.seen.push(Observation {
                    point: vec![0; self.factors.len()],
                    block: self.blocks,
                    log: *log,
                });
            }
            self.blocks += 1;
            if let [one, two] = logs[..] {
                differences.push((one - two).abs());
            }
        }
        self.noise = deviation(&differences).max(NOISE_MIN);
        differences.sort_by(f64::total_cmp);
        let middle = differences.get(differences.len() / 2).copied();
        differences.retain(|one| *one <= APART * middle.unwrap_or(0.0));
        self.usual_noise = deviation(&differences).max(NOISE_MIN);
    }

    /// Tries a fraction of all settings.
    pub(super) fn screen(&mut self) -> Result<(), Interruption> {
        let design = design(self.factors.len());
        let mut met = vec![0_usize; self.factors.len()];
        let points: Vec<Vec<usize>> = design
            .into_iter()
            .map(|row| {
                let factors = row.into_iter().zip(&self.factors).zip(&mut met);
                // A factor of several choices takes them in turn.
                let choices = factors.map(|((changed, factor), met)| {
                    *met += usize::from(changed);
                    usize::from(changed) * (1 + *met % factor.len())
                });
                choices.collect()
            })
            .collect();
        let wanted = (self.noise / QUIET).ceil() as usize;
        let room = self.room(1) / SCREENING_SHARE;
        let room = room / (points.len() * self.plan.tune.responses.len());
        let times = wanted.min(SCREENINGS_MAX).min(room).max(1);
        let mut random = self.random();
        let mut blocks = Vec::new();
        for _ in 0..times {
            let mut order: Vec<usize> = (0..points.len()).collect();
            order.shuffle(&mut random);
            blocks.extend(order.chunks(SCREENING_BLOCK).map(<[usize]>::to_vec));
        }
        let what = say("search-round.screening").count("settings", points.len());
        let before = self.seen.len();
        self.measure(what.clone(), &points, &blocks)?;
        let text = self.screened(what, &self.seen[before..]);
        self.tuning.bench.tell(text)
    }

    /// What each candidate seems to do on average, for people.
    fn screened(&self, what: Message, seen: &[Observation]) -> Message {
        let mut effects = Vec::new();
        for (factor, choices) in self.factors.iter().enumerate() {
            let of = |choice: usize| -> Vec<f64> {
                let chosen = seen.iter().filter(|one| one.point[factor] == choice);
                chosen.map(|one| one.log).collect()
            };
            for (choice, index) in (1..).zip(choices) {
                let (with, without) = (of(choice), of(0));
                let candidate = self.plan.tune.candidates.get(*index);
                if let (Some(candidate), false, false) =
                    (candidate, with.is_empty(), without.is_empty())
                {
                    let error = (1.0 / with.len() as f64 + 1.0 / without.len() as f64).sqrt();
                    effects.push((mean(&with) - mean(&without), error, &candidate.id));
                }
            }
        }
        effects.sort_by(|one, two| two.0.total_cmp(&one.0));
        let effects = effects.into_iter().map(|(effect, error, id)| {
            say("run-note.screened")
                .with("id", id)
                .with("effect", format!("{:+.1}", percent(effect)))
                .with("error", format!("{:.1}", 200.0 * self.noise * error))
        });
        say("run-note.screening")
            .with("what", what)
            .with("noise", format!("{:.1}", 100.0 * self.noise))
            .with("effects", Argument::Series(effects.collect()))
    }
}

/// Which factors are changed in each setting of a screening: the fraction of resolution IV whose
/// columns are products of an odd number of basic ones, so that a product of two columns is none of
/// them. It is a full factorial for one and two factors, and the start is part of it.
pub(super) fn design(factors: usize) -> Vec<Vec<bool>> {
    let basic = (1..)
        .find(|basic| 1_usize << (basic - 1) >= factors)
        .unwrap_or(1);
    let columns = (1_usize..1 << basic).filter(|column| column.count_ones() % 2 == 1);
    let columns: Vec<usize> = columns.take(factors).collect();
    (0..1_usize << basic)
        .map(|row| {
            let parity = columns
                .iter()
                .map(|column| (row & column).count_ones() % 2 == 1);
            parity.collect()
        })
        .collect()
}

/// How many settings a screening of these candidates tries.
pub(super) fn settings_screened(candidates: &[Candidate]) -> usize {
    design(factors(candidates).len()).len()
}

/// The standard deviation of a trial, from differences between two.
fn deviation(differences: &[f64]) -> f64 {
    let squares: f64 = differences.iter().map(|one| 0.5 * one.powi(2)).sum();
    (squares / differences.len().max(1) as f64).sqrt()
}
