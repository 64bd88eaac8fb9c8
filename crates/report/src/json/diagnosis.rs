//! What `check` concludes, for programs.

use analysis::{
    ClientChannels, Multichannel, Proof, RunAnalysis, RungName, SmallFiles, State, Transfer,
};
use locale::Message;
use record::Direction;
use schemars::JsonSchema;
use serde::Serialize;
use stats::Estimate;

use super::message::MessageData;
use crate::shared_wording;

/// What `check` concludes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Diagnosis<'a> {
    /// The answer, which no number below it contradicts.
    pub headline: &'a Message,
    /// Stable id of that sentence.
    pub headline_id: &'static str,
    /// Whether what was measured suffices to say that nothing is lost.
    pub complete: bool,
    /// The first rung that is proven to lose against the one above; null where none is.
    pub first_loss: Option<FirstLoss>,
    /// Id of the first cause that is proven or suspected; null where none is.
    pub first_cause: Option<&'a str>,
    /// What is wrong: what is proven to cost what is lost first, then what is suspected.
    pub causes: Vec<Cause<'a>>,
    /// What was suspected and is shown not to be.
    pub ruled_out: Vec<Cause<'a>>,
    /// What is worth knowing and no fault: a link that is full, a second one that is not used.
    pub remarks: Vec<Cause<'a>>,
    /// The channels that several clients would open here; empty where no session was seen.
    pub clients: &'a [ClientChannels],
    /// What the channels carried where several were measured at once.
    pub multichannel: &'a [Multichannel],
    /// What TCP and the hosts did at each rung.
    pub transfers: &'a [Transfer],
    /// How long one small request of the share takes.
    pub request: Option<&'a Estimate>,
    /// What the rates of disks are the rates of.
    pub notes: &'a [Message],
    /// How long small files take, in each direction that was tried.
    pub small_files: &'a [SmallFiles],
    /// What to try: what is proven to gain most first, then what may.
    pub fixes: Vec<Fix<'a>>,
}

/// A rung in one direction.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FirstLoss {
    /// Which rung.
    pub rung: RungName,
    /// The direction.
    pub direction: Direction,
}

/// Something that costs speed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cause<'a> {
    /// What has the same shape in the analysis.
    #[serde(flatten)]
    pub cause: &'a analysis::Cause,
    /// What is the matter, as data.
    pub message: MessageData<'a>,
    /// What is known of it.
    pub state: CauseState,
    /// By what it is proven; null where it is not.
    pub proof: Option<Proof>,
}

/// What is known of a cause.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CauseState {
    /// Proven.
    Proven,
    /// It may be; one measurement decides.
    Suspected,
    /// Not knowable from here.
    Unknowable,
    /// It is not: what was measured of it says so.
    RuledOut,
}

/// Something to try.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Fix<'a> {
    /// What has the same shape in the analysis.
    #[serde(flatten)]
    pub fix: &'a analysis::Fix,
    /// Commands that prove it, do it or help with it.
    pub commands: Vec<String>,
}

impl<'a> Diagnosis<'a> {
    pub(super) fn new(found: &'a analysis::Diagnosis, analysis: &RunAnalysis) -> Self {
        let causes = |causes: &'a [analysis::Cause]| causes.iter().map(Cause::new).collect();
        let fixes = found.fixes.iter();
        Self {
            headline: &found.headline,
            headline_id: found.headline.id,
            complete: found.complete,
            first_loss: found
                .first_loss
                .map(|(rung, direction)| FirstLoss { rung, direction }),
            first_cause: found.named().map(|cause| cause.id.as_str()),
            causes: causes(&found.causes),
            ruled_out: causes(&found.ruled_out),
            remarks: causes(&found.remarks),
            clients: &found.clients,
            multichannel: &found.multichannel,
            transfers: &found.transfers,
            request: found.request.as_ref(),
            notes: &found.notes,
            small_files: &found.small_files,
            fixes: fixes.map(|fix| Fix::new(fix, analysis)).collect(),
        }
    }
}

impl<'a> Cause<'a> {
    fn new(cause: &'a analysis::Cause) -> Self {
        let (state, proof) = match cause.state {
            State::Proven(proof) => (CauseState::Proven, Some(proof)),
            State::Suspected => (CauseState::Suspected, None),
            State::Unknowable => (CauseState::Unknowable, None),
            State::RuledOut => (CauseState::RuledOut, None),
        };
        Self {
            cause,
            message: MessageData::new(&cause.text),
            state,
            proof,
        }
    }
}

impl<'a> Fix<'a> {
    fn new(fix: &'a analysis::Fix, analysis: &RunAnalysis) -> Self {
        Self {
            fix,
            commands: shared_wording::fix_commands(fix, analysis),
        }
    }
}
