//! Recorded truth.
