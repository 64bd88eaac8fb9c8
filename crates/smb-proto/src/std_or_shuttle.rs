//! What threads share: locks and counters. They are those of `std`; with the feature `model`, which only the model
//! test of `smb` asks for, a scheduler has them in its hand and decides which thread goes on.

#[cfg(feature = "model")]
pub(crate) use shuttle::sync::{Mutex, MutexGuard, atomic};
#[cfg(not(feature = "model"))]
pub(crate) use std::sync::{Mutex, MutexGuard, atomic};
