//! One trial: a workload gives samples and counters; the ladder.
