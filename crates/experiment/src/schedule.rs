//! The order of trials: random, blocked, balanced, and the same for the same seed.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use record::{Arm, Phase, Question, Schedule};

/// Makes the schedule of one phase. `ordinal` is the phase's number in the plan: each phase draws
/// from its own stream of the seed, so its order does not depend on how the phases before it went.
///
/// Blocks come in twos, one of them AB and the other BA, in random order: whatever is gained by being
/// first or second cancels between them.
pub(crate) fn schedule(
    experiment: &str,
    phase: Phase,
    question: Question,
    blocks: usize,
    (seed, ordinal): (u64, u64),
) -> Schedule {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(ordinal);
    let mut rows = Vec::with_capacity(blocks + 1);
    while rows.len() < blocks {
        let (first, second) = if random.random::<bool>() {
            (Arm::A, Arm::B)
        } else {
            (Arm::B, Arm::A)
        };
        rows.push(vec![first, second]);
        rows.push(vec![second, first]);
    }
    rows.truncate(blocks);
    let orders = rows
        .iter()
        .map(|row| {
            row.iter()
                .map(|_| {
                    let mut order = question.responses.clone();
                    order.shuffle(&mut random);
                    order
                })
                .collect()
        })
        .collect();
    Schedule {
        experiment: experiment.into(),
        phase,
        question,
        blocks: rows,
        orders,
    }
}

/// Visits that follow a switch: the first one, and each whose arm is not the one before it.
pub(crate) fn switches(schedule: &Schedule) -> usize {
    let arms: Vec<Arm> = schedule.blocks.iter().flatten().copied().collect();
    let changes = arms.windows(2).filter(|pair| pair[0] != pair[1]).count();
    changes + usize::from(!arms.is_empty())
}
