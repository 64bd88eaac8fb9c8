//! A race of the settings that could be best, as the model of all measurements sees them.

use locale::say;
use rand::seq::SliceRandom;

use super::{RACE_MAX, RIVAL_DEVIATIONS, Search, changed};
use crate::gaussian_process::Model;
use crate::phase_execution::Interruption;

/// Settings that race against the best in each block.
const RIVALS: usize = 4;
/// A setting that changes less is taken if it costs less than this share of the band.
const SIMPLER: f64 = 0.5;
/// The most settings that a model is asked about.
const POINTS_MAX: usize = 2_048;

impl Search<'_, '_> {
    /// Races what could be best, until nothing else could be better by what matters.
    pub(super) fn race(&mut self) -> Result<Model, Interruption> {
        let mut model = self.model(None);
        let mut raced = 0;
        loop {
            let (best, rivals) = self.rivals(&model);
            let room = self.room(changed(&best).count());
            let block: Vec<Vec<usize>> = std::iter::once(best).chain(rivals).collect();
            let trials = block.len() * self.plan.tune.responses.len();
            let fits = raced + block.len() <= RACE_MAX && trials <= room;
            if block.len() == 1 || !fits {
                let end = say(match fits {
                    true => "run-note.race-decided",
                    false => "run-note.race-ended",
                });
                self.tuning.bench.tell(end.count("trials", raced))?;
                return Ok(model);
            }
            let mut order: Vec<usize> = (0..block.len()).collect();
            order.shuffle(&mut self.random());
            self.measure(say("search-round.race"), &block, &[order])?;
            raced += block.len();
            model = self.model(Some(&model));
        }
    }

    /// The best setting as it seems, and those that could be better.
    fn rivals(&self, model: &Model) -> (Vec<usize>, Vec<Vec<usize>>) {
        let points = self.points(model);
        let means: Vec<f64> = points.iter().map(|point| model.mean(point)).collect();
        let best = (0..points.len()).max_by(|one, two| means[*one].total_cmp(&means[*two]));
        let best = best.unwrap_or(0);
        let matters = SIMPLER * self.plan.tune.band;
        let unsure = model.differences(&points, &points[best]);
        let mut rivals: Vec<(f64, usize)> = (0..points.len())
            .filter(|place| *place != best)
            .map(|place| {
                let lead = means[place] - means[best];
                (lead + RIVAL_DEVIATIONS * unsure[place], place)
            })
            .filter(|(upper, _)| *upper > matters)
            .collect();
        rivals.sort_by(|one, two| two.0.total_cmp(&one.0));
        let rivals = rivals.into_iter().take(RIVALS);
        let rivals = rivals.map(|(_, place)| points[place].clone()).collect();
        (points[best].clone(), rivals)
    }

    /// The setting that changes least among those that seem as good as the best.
    pub(super) fn simplest(&self, model: &Model) -> Vec<usize> {
        let points = self.points(model);
        let means: Vec<f64> = points.iter().map(|point| model.mean(point)).collect();
        let top = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let enough = top - SIMPLER * self.plan.tune.band;
        let good = points
            .into_iter()
            .zip(means)
            .filter(|(_, mean)| *mean >= enough);
        let simplest = good.min_by(|(one, mean), (two, other)| {
            let changes = changed(one).count().cmp(&changed(two).count());
            changes.then(other.total_cmp(mean))
        });
        simplest.map_or_else(|| vec![0; self.factors.len()], |(point, _)| point)
    }

    /// All settings; where they are too many, those that differ in what seems to do most.
    fn points(&self, model: &Model) -> Vec<Vec<usize>> {
        let mut points = vec![vec![0; self.factors.len()]];
        for factor in model.strongest() {
            let choices = self.factors[factor].len();
            if points.len() * (choices + 1) > POINTS_MAX {
                break;
            }
            for choice in 1..=choices {
                let mut others: Vec<Vec<usize>> = points
                    .iter()
                    .filter(|point| point[factor] == 0)
                    .cloned()
                    .collect();
                others.iter_mut().for_each(|point| point[factor] = choice);
                points.extend(others);
            }
        }
        points
    }

    fn model(&self, earlier: Option<&Model>) -> Model {
        let choices = self.factors.iter().map(|factor| factor.len() + 1);
        Model::fit(self.seen.clone(), choices.collect(), self.noise, earlier)
    }
}
