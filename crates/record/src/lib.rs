//! The words that occur in a run file or on a trial's standard input and output.
//!
//! Everything left of the run file touches machines and writes these types; everything right of it
//! is a pure function of them. Fields are only ever added, and every older file still opens.

mod base_units;
mod benchmark_recipe;
pub mod bounded_read;
mod credentials;
mod direction;
mod factorial_design;
mod failure;
mod host_facts;
mod memory_weight;
mod network_path;
mod plan_file;
mod probe_interventions;
mod run_file;
mod run_schema;
pub mod sanitized_text;
mod setting;
mod share_address;
mod share_mount;
mod single_pass_job;
mod smb_session;
mod test_file_operations;
pub mod toml_mistake;
mod trial;
mod trial_purpose;
mod trial_result;
mod trial_timing;
mod whole_file_tasks;
mod workload;

pub use base_units::{BitsPerSecond, Bytes, Nanoseconds};
pub use benchmark_recipe::{Figure, Order, Recipe, RecipeEngine, RecipeTest, parse_bytes};
pub use credentials::{Credentials, Identity, Mechanism, Secret};
pub use direction::Direction;
pub use factorial_design::{Design, Factor, PublishedFigure, Response, StopRule};
pub use failure::{Failure, FailureKind, chain};
pub use host_facts::{
    Fingerprint, HostFacts, InterfaceAddress, LinkModes, LinkState, Medium, Nic, Offload, Route,
    System, TcpFacts,
};
pub use network_path::{
    AddressRoute, HostLoad, MtuProof, NeighbourMtu, PathFacts, ProcessorLoad, Vanished,
};
pub use plan_file::{
    DesignKind, PlanFactor, PlanFile, PlanLevel, PlanWorkload, PublishedLevel, PublishedTest,
};
pub use probe_interventions::{
    Cipher, CongestionControl, EngineClock, FileUse, MissingFact, NicLoad, ProbeKind,
    SigningAlgorithm, SocketOptions, TcpClock,
};
pub use run_file::{Error, RunWriter, TRIALS_MAX};
pub use run_schema::{
    Decision, Event, Header, LEVELS_JOINED, PROGRAM, Plan, Question, RUN_FORMAT, RUN_VERSION,
    Record, Round, Run, Schedule,
};
pub use setting::{HostName, KnobId, Level, Setting, Target, Value};
pub use share_address::{ShareAddress, host_in_url, with_user};
pub use share_mount::{MountInterface, SecondMount, ShareMount, fstab_word};
pub use single_pass_job::{Job, JobFile, JobWorkload, SHARE_IN_MEMORY, ServerCache};
pub use smb_session::{Demands, Dialect, ServerInterface, Signing, SmbSession};
pub use test_file_operations::{
    Cache, Data, FolderKind, FolderWorkload, KeepWorkload, Latency, Operations, Pattern, Place,
    Storage,
};
pub use toml_mistake::Mistake;
pub use trial::{KeepInput, Outcome, TrialInput, TrialLine, TrialRecord};
pub use trial_purpose::{Arm, Phase, Rung, Stage};
pub use trial_result::{ConnectionUse, Enforced, Sample, Sandbox, TcpDetail, TrialResult};
pub use trial_timing::Timing;
pub use whole_file_tasks::{
    CopyProgram, CopyTask, ListTask, PlayTask, Playback, Spread, Task, TaskWorkload,
};
pub use workload::{ShareWorkload, TcpWorkload, Workload};
