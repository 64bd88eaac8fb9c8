//! Statistics of comparisons: numbers in, intervals and verdicts out. Knows nothing of networks.
//!
//! Effects are ratios of two arms that were measured in the same block, on the log scale
//! ([`PairedRatios`]). Every result is an [`Estimate`]: it carries its number of blocks, its interval,
//! the confidence that this really reaches, and what a reader must know.
//!
//! Modules use only those before them: `normal_and_student_t`, `order_statistics`, `signed_rank`, `outlier_and_drift_caveats`,
//! `estimate`, `median`, `hodges_lehmann`, `permutation`, `paired_ratios`, `equivalence`, `sample_size`, `sequential`,
//! `two_stage`, `two_sample`.

mod equivalence;
mod estimate;
mod hodges_lehmann;
mod median;
mod normal_and_student_t;
mod order_statistics;
mod outlier_and_drift_caveats;
mod paired_ratios;
mod permutation;
mod sample_size;
pub mod sequential;
mod signed_rank;
pub mod two_sample;
pub mod two_stage_with_futility;

pub use equivalence::{Verdict, alarm, verdict};
pub use estimate::{Estimate, Unit, computed, quotient};
pub use hodges_lehmann::hodges_lehmann;
pub use median::median;
pub use order_statistics::median_of_sorted;
pub use paired_ratios::PairedRatios;
pub use sample_size::{BLOCKS_TO_SETTLE_MAX, detectable_shift};
pub use signed_rank::blocks_min;
