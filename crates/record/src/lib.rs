//! The words that occur in a run file or on a trial's standard input and output.
//!
//! Everything left of the run file touches machines and writes these types; everything right of it
//! is a pure function of them. Fields are only ever added, and every older file still opens.

mod facts;
mod run;
mod setting;
mod trial;
mod unit;

pub use facts::{HostFacts, InterfaceAddress, LinkState, Nic, Offload, Route, System, TcpFacts};
pub use run::{
    Decision, Error, Event, Header, Plan, Question, RUN_FORMAT, RUN_VERSION, Record, Run,
    RunWriter, Schedule,
};
pub use setting::{HostName, KnobId, Level, Setting, Target, Value};
pub use trial::{
    Arm, ConnectionUse, Credentials, Demands, Dialect, Direction, Failure, FailureKind, Identity,
    Mechanism, Outcome, Phase, Rung, Sample, Secret, ServerInterface, ShareAddress, ShareWorkload,
    Signing, SmbSession, Stage, TcpWorkload, Timing, TrialInput, TrialLine, TrialRecord,
    TrialResult, Workload,
};
pub use unit::{BitsPerSecond, Bytes, Nanoseconds};
