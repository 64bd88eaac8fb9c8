//! Many trials in a defensible order, and tune.
