//! Files and rights, against the real system.

mod sandbox;
