//! Files and rights, against the real system. Those that make files of other users need root.

mod file_attacks;
mod sandbox;
