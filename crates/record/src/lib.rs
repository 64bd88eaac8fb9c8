//! The words that occur in a run file or on a trial's standard input and output.
//!
//! Everything left of the run file touches machines and writes these types; everything right of it
//! is a pure function of them. Fields are only ever added, and every older file still opens.

mod base_units;
mod credentials;
mod design;
mod direction;
mod facts;
mod failure;
mod files;
pub mod input;
mod job;
pub mod mistake;
mod path;
mod plan_file;
mod probe;
mod recipe;
mod result;
mod run_file;
mod run_schema;
mod session;
mod setting;
mod share;
mod stage;
mod task;
pub mod text;
mod timing;
mod trial;
mod weight;
mod workload;

pub use base_units::{BitsPerSecond, Bytes, Nanoseconds};
pub use credentials::{Credentials, Identity, Mechanism, Secret};
pub use design::{Design, Factor, PublishedFigure, Response, StopRule};
pub use direction::Direction;
pub use facts::{
    Fingerprint, HostFacts, InterfaceAddress, LinkModes, LinkState, Medium, Nic, Offload, Route,
    System, TcpFacts,
};
pub use failure::{Failure, FailureKind, chain};
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
pub use result::{ConnectionUse, Enforced, Sample, Sandbox, TcpDetail, TrialResult};
pub use run_file::{Error, RunWriter, TRIALS_MAX};
pub use run_schema::{
    Decision, Event, Header, LEVELS_JOINED, PROGRAM, Plan, Question, RUN_FORMAT, RUN_VERSION,
    Record, Round, Run, Schedule,
};
pub use session::{Demands, Dialect, ServerInterface, Signing, SmbSession};
pub use setting::{HostName, KnobId, Level, Setting, Target, Value};
pub use share::{ShareAddress, host_in_url, with_user};
pub use stage::{Arm, Phase, Rung, Stage};
pub use task::{CopyTask, ListTask, PlayTask, Playback, Spread, Task, TaskWorkload};
pub use timing::Timing;
pub use trial::{KeepInput, Outcome, TrialInput, TrialLine, TrialRecord};
pub use workload::{ShareWorkload, TcpWorkload, Workload};
