//! The connections of a session: the system's, or those of the model of threads.

#[cfg_attr(all(test, feature = "model"), path = "in_memory_connection.rs")]
mod connection;

pub(crate) use connection::{Alarm, Connection, Handle, Stream, Watched, connect};
#[cfg(all(test, feature = "model"))]
pub(crate) use connection::{Arrived, FarEnd, answer_by};
