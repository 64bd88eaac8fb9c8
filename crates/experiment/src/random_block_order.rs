//! The order of trials: random, blocked, balanced, and the same for the same seed.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use record::{Arm, Phase, Question, Schedule};

const AB: [Arm; 2] = [Arm::A, Arm::B];
const BA: [Arm; 2] = [Arm::B, Arm::A];

/// Makes the schedule of one phase. `ordinal` is the phase's number in the plan: each phase draws
/// from its own stream of the seed, so its order does not depend on how the phases before it went.
///
/// Half of the blocks are AB and half are BA, in random order: whatever is gained by being first or
/// second cancels between them. They do not come in pairs, ABBA or BAAB, although that would save
/// switches: where each trial resembles the one before, the pairs of a pair resemble each other, and
/// the same would be called different too often.
pub(crate) fn schedule(
    experiment: &str,
    phase: Phase,
    question: Question,
    blocks: usize,
    (seed, ordinal): (u64, u64),
) -> Schedule {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(ordinal);
    let odd = if random.random::<bool>() { AB } else { BA };
    let mut rows: Vec<Vec<Arm>> = (0..blocks)
        .map(
            |block| match (block + 1 == blocks && blocks % 2 == 1, block % 2) {
                (true, _) => odd.to_vec(),
                (false, 0) => AB.to_vec(),
                (false, _) => BA.to_vec(),
            },
        )
        .collect();
    rows.shuffle(&mut random);
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
        joint_error: None,
    }
}

/// Visits that follow a switch: the first one, and each whose arm is not the one before it.
pub(crate) fn switches(schedule: &Schedule) -> usize {
    let arms: Vec<Arm> = schedule.blocks.iter().flatten().copied().collect();
    let changes = arms.windows(2).filter(|pair| pair[0] != pair[1]).count();
    changes + usize::from(!arms.is_empty())
}
