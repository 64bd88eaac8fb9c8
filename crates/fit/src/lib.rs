//! Effects of several factors: designs of our own, and tables that anybody measured.
//!
//! Both are least squares, and ratios of pairs where there are pairs, over the statistics of `stats`.

pub mod before_after;
mod factorial_effects;
pub mod table;
pub mod text_decoding;
mod trial_rate_and_cost;

pub use factorial_effects::{
    DesignNoise, DesignPair, DesignResult, DesignSamples, blocks_counted, design, is_narrow,
};
pub use trial_rate_and_cost::{
    BAND_DEFAULT, CONFIDENCE_DEFAULT, list_failure, rate, served_per_byte, unit,
};
