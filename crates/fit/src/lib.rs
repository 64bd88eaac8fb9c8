//! Effects of several factors: designs of our own, and tables that anybody measured.
//!
//! Both are least squares, and ratios of pairs where there are pairs, over the statistics of `stats`.

pub mod compare;
mod design;
pub mod table;
pub mod text;
mod trial;

pub use design::{
    DesignNoise, DesignPair, DesignResult, DesignSamples, blocks_counted, design, is_narrow,
};
pub use trial::{BAND_DEFAULT, CONFIDENCE_DEFAULT, list_failure, rate, served_per_byte, unit};
