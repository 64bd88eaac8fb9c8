//! The words that occur in a run file or on a trial's standard input and output.
//!
//! Everything left of the run file touches machines and writes these types; everything right of it
//! is a pure function of them. Fields are only ever added, and every older file still opens.

mod credentials;
mod design;
mod facts;
mod files;
pub mod input;
mod job;
pub mod mistake;
mod path;
mod plan_file;
mod probe;
mod recipe;
mod run;
mod run_file;
mod setting;
mod task;
pub mod text;
mod trial;
mod unit;
mod weight;

pub use credentials::{Credentials, Identity, Mechanism, Secret};
pub use design::{Design, Factor, PublishedFigure, Response, StopRule};
pub use facts::{
    Fingerprint, HostFacts, InterfaceAddress, LinkModes, LinkState, Medium, Nic, Offload, Route,
    System, TcpFacts,
};
pub use files::{
    Cache, Data, FolderKind, FolderWorkload, KeepWorkload, Latency, Operations, Pattern, Place,
    Storage,
};
pub use job::{Job, JobFile, JobWorkload, SHARE_IN_MEMORY, ServerCache};
pub use mistake::Mistake;
pub use path::{
    AddressRoute, HostLoad, MtuProof, NeighbourMtu, PathFacts, ProcessorLoad, Vanished,
};
pub use plan_file::{
    DesignKind, PlanFactor, PlanFile, PlanLevel, PlanWorkload, PublishedLevel, PublishedTest,
};
pub use probe::{
    Cipher, CongestionControl, EngineClock, FileUse, MissingFact, NicLoad, ProbeKind,
    SigningAlgorithm, SocketOptions, TcpClock,
};
pub use recipe::{Figure, Order, Recipe, RecipeEngine, RecipeTest, parse_bytes};
pub use run::{
    Decision, Event, Header, LEVELS_JOINED, PROGRAM, Plan, Question, RUN_FORMAT, RUN_VERSION,
    Record, Round, Run, Schedule,
};
pub use run_file::{Error, RunWriter, TRIALS_MAX};
pub use setting::{HostName, KnobId, Level, Setting, Target, Value};
pub use task::{CopyTask, ListTask, PlayTask, Playback, Spread, Task, TaskWorkload};
pub use trial::{
    Arm, ConnectionUse, Demands, Dialect, Direction, Enforced, Failure, FailureKind, KeepInput,
    Outcome, Phase, Rung, Sample, Sandbox, ServerInterface, ShareAddress, ShareWorkload, Signing,
    SmbSession, Stage, TcpDetail, TcpWorkload, Timing, TrialInput, TrialLine, TrialRecord,
    TrialResult, Workload, host_in_url, with_user,
};
pub use unit::{BitsPerSecond, Bytes, Nanoseconds};
