//! What analysis says. No bare number leaves it: every estimate carries n, its interval and caveats.

use std::net::IpAddr;

use locale::Message;
use record::{
    Arm, Bytes, Decision, Direction, HostFacts, Latency, Level, Nanoseconds, PathFacts, Phase,
    Plan, Playback, Question, Rung, ShareAddress, SmbSession, Workload,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{LadderRung, RungName};
use fit::DesignResult;
use stats::{Estimate, Unit, Verdict};

/// A channel that carries less than this share of what fits through its NICs carries far less.
const FAR_BELOW: f64 = 0.5;

/// The effect of B against A on one response.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Effect {
    /// Which rate of the share.
    pub response: Direction,
    /// Which part of the experiment it is from.
    pub phase: Phase,
    /// B over A (Hodges-Lehmann on log differences).
    pub ratio: Estimate,
    /// What that means.
    pub verdict: Verdict,
    /// Blocks that would settle an undecided one, where that can be said.
    pub blocks_to_settle: Option<usize>,
    /// Whether it is over the blocks of the phase before as well.
    #[serde(skip)]
    pub joint: bool,
}

/// The trials of one arm, response and phase.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ArmSamples {
    /// Which arm.
    pub arm: Arm,
    /// Which response.
    pub response: Direction,
    /// Which part.
    pub phase: Phase,
    /// Rate of each counted trial in bytes per second, in the order of its block; in JSON null where it is not finite.
    #[schemars(with = "Vec<Option<f64>>")]
    pub rates: Vec<f64>,
    /// The block of each of these rates, from 0; a block whose trial failed is missing.
    pub blocks: Vec<u32>,
    /// Their median.
    pub median: Estimate,
    /// Processor time of our own process per byte, median over the trials.
    pub cpu_per_byte: Option<Estimate>,
    /// Processor time of the file server's processes per byte, likewise; none where they could not be read.
    pub server_cpu_per_byte: Option<Estimate>,
    /// Segments retransmitted at our end over all these trials, where the system says so.
    pub retransmits: Option<u64>,
    /// Size of each file, where trials copied many files of one size.
    #[serde(skip)]
    pub file_size: Option<Bytes>,
}

/// The repetitions of one workload of `bench`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BenchSamples {
    /// Which test of a recipe it is, and what the original would print of it.
    #[serde(skip)]
    pub test: Option<TestFigures>,
    /// What was run.
    #[serde(skip)]
    pub workload: Workload,
    /// Rate of each repetition in its unit, in order; in JSON null where it is not finite.
    #[schemars(with = "Vec<Option<f64>>")]
    pub rates: Vec<f64>,
    /// What these rates count.
    #[serde(rename = "rates_unit")]
    pub unit: Unit,
    /// Their median; none where every repetition failed.
    pub median: Option<Estimate>,
    /// Processor time of our own process per byte, median over the repetitions.
    pub cpu_per_byte: Option<Estimate>,
    /// Processor time of the file server's processes per byte, likewise; none where they could not be read.
    pub server_cpu_per_byte: Option<Estimate>,
    /// Segments retransmitted at our end over all repetitions, where the system says so.
    pub retransmits: Option<u64>,
    /// Bytes of payload per second that fit through the NICs in use, where more came out: the link is not what its
    /// facts say, or the bytes took another path.
    #[serde(rename = "more_than_fits")]
    pub exceeded: Option<f64>,
    /// Repetitions that failed, with their reasons.
    #[schemars(with = "Vec<String>")]
    pub failures: Vec<Message>,
}

/// What answered the operations of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheMark {
    /// The client's own cache may have.
    ClientCache,
    /// Memory of the client that is used as a disk.
    Memory,
    /// The server's memory: it has room for the whole test file.
    ServerCache,
    /// The server's memory or its disks; linerate cannot look there.
    ServerCacheOrMedia,
    /// A cache or the disks: it is not known whether direct operations pass its cache by there.
    CacheOrMedia,
    /// The disks.
    Media,
}

/// A test of a recipe, as its original would tell it.
#[derive(Clone, Debug, PartialEq)]
pub struct TestFigures {
    /// Its name in the recipe.
    pub name: String,
    /// The original.
    pub tool: String,
    /// The figure that it prints, in the unit of the rates; `None` where no pass was measured.
    pub figure: Option<f64>,
    /// The latency that it prints.
    pub figure_latency: Option<Nanoseconds>,
    /// Operations per second at that figure.
    pub operations_per_second: Option<f64>,
    /// How long operations took in the pass that is the median by its mean.
    pub latency: Option<Latency>,
    /// What answered.
    pub cache: Option<CacheMark>,
    /// From the login to the first byte of a copy, in the pass in which that is the median.
    pub first_byte: Option<Nanoseconds>,
    /// What became of frames that were to be played, over all passes.
    pub playback: Option<Playback>,
}

/// What a difference must exceed to be seen here.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NoiseFloor {
    /// Which response.
    pub response: Direction,
    /// Baseline over baseline.
    pub ratio: Estimate,
    /// Smallest difference, as a share of 1, that as many blocks would show.
    #[serde(rename = "smallest_detectable_share")]
    pub smallest_detectable: Option<f64>,
    /// Whether baseline against itself came out different, so that nothing else of this response can be believed.
    pub alarm: bool,
}

/// One experiment.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExperimentResult {
    /// Its id.
    pub experiment: String,
    /// What was asked.
    #[serde(skip)]
    pub question: Question,
    /// The baseline against itself, in the experiment that ran it only.
    pub noise: Vec<NoiseFloor>,
    /// Effects of phases `compare` and `confirm`.
    pub effects: Vec<Effect>,
    /// The trials.
    #[serde(skip)]
    pub samples: Vec<ArmSamples>,
    /// What was done about it, and why.
    #[serde(skip)]
    pub decision: Option<(Decision, Message)>,
    /// Trials that failed, with their reasons.
    #[schemars(with = "Vec<String>")]
    pub failures: Vec<Message>,
    /// What a reader must know: phases that were cut short.
    pub caveats: Vec<Message>,
}

/// A candidate that was decided without a trial.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Untried {
    /// Id of the experiment that it would have been.
    pub experiment: String,
    /// What it would have set, where the plan says so.
    pub level: Option<Level>,
    /// What was done about it.
    pub decision: Decision,
    /// Why.
    pub reason: Message,
}

/// A change of hosts that a run made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HostChange {
    /// Its id, for `linerate undo ID`.
    pub id: String,
    /// Whether every host read as before once it was undone; none where the run did not undo it.
    pub restored: Option<bool>,
}

/// The computed limit of the slowest hop.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// TCP payload per second that fits through it.
    pub rate: Estimate,
    /// Which hop and how it was computed, for people.
    pub because: Message,
}

/// How sure a cause or a fix is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Computed from facts; not measured yet.
    Computed,
    /// Seen in this run.
    Measured,
}

/// By what a cause is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// By a fact or a counter with one meaning.
    Counter,
    /// It was taken away for a while, and how much that gains was measured.
    Relieved,
    /// Less of it costs so much that it limits; what more of it gains is not known.
    Binding,
}

/// What is known of a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Proven.
    Proven(Proof),
    /// It may be; one measurement decides.
    Suspected,
    /// Not knowable from here.
    Unknowable,
    /// It is not: what was measured of it says so.
    RuledOut,
}

/// Something that costs speed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cause {
    /// Stable name of the cause or the remark: `segments-lost`.
    pub id: String,
    /// What is the matter.
    pub text: Message,
    /// How sure: measured where it is proven.
    pub trust: Trust,
    /// What is known of it.
    #[serde(skip)]
    pub state: State,
    /// How much faster it is without it, where an intervention measured that.
    pub gain: Option<Estimate>,
    /// The one measurement that decides, where it is only suspected.
    pub decides: Option<Message>,
    /// What would be needed to know it, where that cannot be had from here.
    pub needs: Option<Message>,
}

impl Cause {
    /// Something that was seen and that nothing has to be decided of.
    #[must_use]
    pub fn seen(id: &str, text: impl Into<Message>, trust: Trust) -> Self {
        Self {
            id: id.to_owned(),
            text: text.into(),
            trust,
            state: match trust {
                Trust::Measured => State::Proven(Proof::Counter),
                Trust::Computed => State::Suspected,
            },
            gain: None,
            decides: None,
            needs: None,
        }
    }
}

/// Something to try.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Fix {
    /// Stable name, and id of the experiment that proves it: `channels-2`, `mtu-9000`.
    pub id: String,
    /// What to do.
    pub text: Message,
    /// What it sets, ready for `tune`.
    pub level: Level,
    /// Predicted rate over today's rate, where it can be computed or was measured.
    pub predicted: Option<Estimate>,
    /// What it disturbs while it is made.
    pub disturbs: Message,
    /// Why it cannot be tried by linerate here, if so.
    pub blocked: Option<Message>,
    /// The very commands that do it or help with it, where there are any.
    #[serde(skip)]
    pub commands: Vec<String>,
    /// The share by another address of its server, where a check of that one shows whether it helps.
    #[serde(skip)]
    pub elsewhere: Option<ShareAddress>,
    /// How sure it is.
    pub trust: Trust,
}

/// What TCP and the hosts did while one rung was measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Transfer {
    /// Which rung.
    pub rung: Rung,
    /// The direction.
    pub direction: Direction,
    /// How our end sent, each congestion control once; none where the system does not say.
    pub congestion_control: Vec<String>,
    /// What the server's host is set to for new connections, where somebody looked.
    pub far_congestion_control: Option<String>,
    /// The shortest round trip.
    pub round_trip_nanoseconds: Option<u64>,
    /// Payload of our largest segment.
    pub segment_bytes: Option<u32>,
    /// What we might have under way, when we sent.
    pub window_bytes: Option<u64>,
    /// What was under way at that rate and round trip.
    pub path_bytes: Option<u64>,
    /// Segments that our end retransmitted, over all trials.
    pub retransmits: Option<u64>,
    /// What held the sender back.
    pub limited_by: LimitedBy,
    /// What the hosts had to do.
    pub hosts: Vec<HostEffort>,
}

/// What holds a sender back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitedBy {
    /// Its own send buffer.
    Sender,
    /// The room at the receiver.
    Receiver,
    /// The network, or that there is nothing to send.
    Network,
    /// The system does not say, or the far end sends.
    Unknown,
}

/// What a host had to do at a rung.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct HostEffort {
    /// The host.
    pub host: String,
    /// Its fullest processor, as a share of 1, in the worst trial.
    pub fullest_processor: f64,
    /// Work for the network outside any process, likewise.
    pub softirq: f64,
    /// Segments retransmitted, over all trials.
    pub resent: Option<u64>,
    /// Packets dropped, over all trials.
    pub dropped: Option<u64>,
    /// Pause frames, over all trials.
    pub pauses: Option<u64>,
    /// Share of the time in which a limit stopped it, in the worst trial.
    pub throttled: Option<f64>,
}

/// The channels that a client would open here.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClientChannels {
    /// `Windows`, `Linux`, `macOS` or `linerate`, each as it comes.
    pub client: String,
    /// Over which pairs.
    pub pairs: Vec<ChannelPair>,
    /// The pairs that it would leave alone.
    pub unused: Vec<UnusedPair>,
    /// What somebody must do for it.
    pub remark: Option<Message>,
}

/// A pair of NICs with channels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChannelPair {
    /// The client's interface.
    pub nic: String,
    /// The server's address.
    pub address: IpAddr,
    /// Channels over it.
    pub channels: usize,
}

/// A pair of NICs, or an address, without a channel.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct UnusedPair {
    /// Which.
    pub pair: Message,
    /// Why.
    pub reason: Message,
}

/// What several channels carried at once, in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Multichannel {
    /// The direction.
    pub direction: Direction,
    /// All of them together.
    pub rate: Estimate,
    /// What one carries alone, where that was measured.
    pub alone: Option<Alone>,
    /// Each of them.
    pub channels: Vec<ChannelUse>,
}

/// One channel alone, against several.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Alone {
    /// The client's interface, where it is known.
    pub nic: Option<String>,
    /// The server's address.
    pub address: IpAddr,
    /// What it carried.
    pub rate: Estimate,
    /// The rate of all over this one.
    pub gain: Estimate,
    /// Whether several are better, where more than a tenth counts as on the ladder.
    pub verdict: Verdict,
}

/// What one of several channels carried while all of them were in use.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChannelUse {
    /// The client's interface, where it is known.
    pub nic: Option<String>,
    /// The server's address.
    pub address: IpAddr,
    /// Which of the channels between these two, from 1.
    pub number: usize,
    /// What it carried.
    pub rate: Estimate,
    /// Its share of the whole.
    pub share: Estimate,
    /// What all channels over its two NICs carried, of what fits; none where unknown, or others use one of the two.
    pub of_line: Option<Estimate>,
}

impl ChannelUse {
    /// Whether its NICs could carry far more.
    #[must_use]
    pub fn is_far_below_its_line(&self) -> bool {
        let most = |share: &Estimate| share.interval.map_or(share.value, |[_, high]| high);
        let share = self.of_line.as_ref();
        share.is_some_and(|share| most(share) < FAR_BELOW)
    }
}

/// What small files take, one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SmallFiles {
    /// The direction.
    pub direction: Direction,
    /// Seconds for each.
    pub each: Estimate,
    /// The same in small requests; none where the time of one is not known.
    pub requests: Option<f64>,
}

/// What `check` concludes.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// The answer, which no number below it contradicts.
    pub headline: Message,
    /// The first rung that is proven to lose against the one above, if one is.
    pub first_loss: Option<(RungName, Direction)>,
    /// Whether what was measured suffices to say that nothing is lost: every rung is proven not to lose, and none
    /// contradicts the facts.
    pub complete: bool,
    /// What is wrong: what is proven to cost what is lost first, then what is suspected; none where all is well.
    pub causes: Vec<Cause>,
    /// What was suspected and is shown not to be.
    pub ruled_out: Vec<Cause>,
    /// What is worth knowing and no fault: a link that is full, a second one that is not used.
    pub remarks: Vec<Cause>,
    /// What the rates of disks are the rates of.
    pub notes: Vec<Message>,
    /// How long small files take, each way that was tried.
    pub small_files: Vec<SmallFiles>,
    /// How many channels several clients would open from here; none where no session was seen.
    pub clients: Vec<ClientChannels>,
    /// What the channels carried where several were measured at once.
    pub multichannel: Vec<Multichannel>,
    /// What TCP and the hosts did at each rung.
    pub transfers: Vec<Transfer>,
    /// How long one small request of the share takes.
    pub request: Option<Estimate>,
    /// What to try: what is proven to gain most first, then what may.
    pub fixes: Vec<Fix>,
}

impl Diagnosis {
    /// The first cause that is proven or suspected: what is not knowable is no answer.
    #[must_use]
    pub fn named(&self) -> Option<&Cause> {
        let mut causes = self.causes.iter();
        causes.find(|cause| matches!(cause.state, State::Proven(_) | State::Suspected))
    }
}

/// A kind of session that trials of a run had.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionKind {
    /// What was agreed, by the last of these trials.
    pub agreed: SmbSession,
    /// Its channels.
    pub channels: usize,
}

/// Everything that can be said of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunAnalysis {
    /// What was asked for.
    pub plan: Plan,
    /// The user, as typed before the host of the share.
    pub user: Option<String>,
    /// The options that said how to log in and what the session must be.
    pub login_options: Vec<String>,
    /// Program and version that wrote the run.
    pub program: String,
    /// Seed of the run.
    pub seed: u64,
    /// Wall clock at its start.
    pub started: String,
    /// The hosts at its start.
    pub facts: Vec<HostFacts>,
    /// The computed ceiling of each direction.
    pub ceilings: Vec<(Direction, Ceiling)>,
    /// The ladder.
    pub ladder: Vec<LadderRung>,
    /// Rates of `bench` repetitions.
    pub bench: Vec<BenchSamples>,
    /// What was agreed with the server, each kind once: what a share's rate is the rate of.
    pub sessions: Vec<SessionKind>,
    /// What the path looked like.
    pub path: Option<PathFacts>,
    /// Whether its trials mounted the share for themselves.
    pub is_through_mounts: bool,
    /// Causes and fixes.
    pub diagnosis: Option<Diagnosis>,
    /// The experiment over several factors.
    pub design: Option<DesignResult>,
    /// The experiments, in order.
    pub experiments: Vec<ExperimentResult>,
    /// Candidates that were decided without a trial, in order.
    pub untried: Vec<Untried>,
    /// Changes of hosts that the run made.
    pub changes: Vec<HostChange>,
    /// Notes of the run, for people.
    pub notes: Vec<Message>,
    /// Whether the run ended because its work was done.
    pub finished: bool,
    /// What was wrong with the file.
    pub warnings: Vec<Message>,
}
