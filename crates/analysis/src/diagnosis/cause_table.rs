//! The table of causes: one row each, which names the file that finds it, what proves it and what is done about it.

use std::fmt;
use std::str::FromStr;

use locale::{Message, say};
use record::{ProbeKind, Rung};

use super::causes::{self, Evidence, Finding};
use super::finding::Basis;
use super::ladder_and_probe_trials::is_of_system;
use crate::rung_and_probe_verdict::{Loss, MATTERS, Sequential};
use crate::{Cause, Proof, State, Trust};
use stats::Estimate;

/// Where a cause sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// NICs, cables and everything between them.
    Path,
    /// Processors of the two ends.
    Processor,
    /// The session.
    Smb,
    /// Disks.
    Storage,
    /// What channels there are.
    Channels,
    /// The system's own client, which has the share mounted.
    SystemClient,
    /// That something is lost, and not why.
    Rest,
}

/// How a cause is put right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// By settings that linerate makes and takes back, so that `tune` proves them.
    Settings,
    /// By hand, and why linerate does not try it.
    Hand(&'static str),
    /// By another protection, or by giving it up; why linerate does not try it unasked.
    Protection(&'static str),
    /// Not known: the cause says where something is lost and not why.
    Unknown,
}

/// What an intervention says of a cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prove {
    /// It takes the cause away: a gain proves it, none rules it out.
    Relief,
    /// The same, but where it gains nothing the cause stays suspected: what the system's own client can may not feel it.
    /// What programs get does.
    Gain,
    /// It leaves this part of what the cause leaves: a cost of nearly as much proves it, none rules it out.
    Burden(f64),
    /// The same, but where the system's own limit is lower than what a program may ask for it is a relief.
    Either(f64),
    /// It takes this cause and others away at once. Where it gains, none of them is ruled out by what it gains alone: of
    /// two limits that are alike, taking one away gains nothing.
    Together,
    /// It is one of several signs that the cause's file reads.
    Sign,
}

/// One cause.
pub struct CauseRow {
    /// Its id.
    pub id: CauseId,
    /// Where it sits.
    pub layer: Layer,
    /// Id of the remedy; none where none is known.
    pub fix: Option<&'static str>,
    /// By which means.
    pub means: Means,
    /// What that disturbs: the id of a message.
    pub disturbs: &'static str,
    /// The interventions that prove it.
    pub probes: &'static [(ProbeKind, Prove)],
    find: fn(&Evidence) -> Option<Finding>,
}

const NOTHING: &str = "disturbs.new-connections";
const LINK: &str = "disturbs.link";
const SERVER: &str = "disturbs.new-sessions";
const SESSIONS: &str = "disturbs.all-sessions";
const HANDS: &str = "disturbs.hands";
const HOSTS: &str = "disturbs.shared-host";
const MOUNT: &str = "disturbs.mount";

macro_rules! causes {
    ($($variant:ident $text:literal $file:ident $layer:ident $fix:expr, $means:expr, $disturbs:expr, $probes:expr;)*) => {
        /// A cause by its stable name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum CauseId {
            $(
                #[doc = $text]
                $variant,
            )*
        }

        impl CauseId {
            /// Its name in reports and JSON.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }

        /// Every cause, in the order of the path from the NICs to the disk.
        pub const CAUSES: &[CauseRow] = &[
            $(CauseRow {
                id: CauseId::$variant,
                layer: Layer::$layer,
                fix: $fix,
                means: $means,
                disturbs: $disturbs,
                probes: $probes,
                find: causes::$file::find,
            },)*
        ];
    };
}

use Means::{Hand, Protection, Settings, Unknown};
use ProbeKind as P;
use Prove::{Burden, Either, Gain, Relief, Sign, Together};

causes! {
    PathMtuBlackHole "path-mtu-black-hole" path_mtu_black_hole Path Some("mtu-of-switch"), Hand("hand.no-share"), LINK, &[];
    LinkTrainedLow "link-trained-low" link_trained_low Path Some("retrain"), Hand("hand.cable"), HANDS, &[];
    WifiRetries "wifi-retries" wifi_retries Path Some("better-air"), Hand("hand.wifi"), "disturbs.wifi", &[];
    WifiUsed "wifi-used" wifi_used Path Some("use-cable"), Hand("hand.wifi"), "disturbs.wifi", &[(P::Path, Relief)];
    TunnelUsed "tunnel-used" tunnel_used Path Some("around-tunnel"), Hand("hand.tunnel"), "disturbs.tunnel", &[(P::Path, Relief)];
    SlowLink "slow-link" slow_link Path Some("cable"), Hand("hand.cable"), HANDS, &[(P::Streams, Sign)];
    TwoNicsOneSubnet "two-nics-one-subnet" two_nics_one_subnet Path Some("own-subnets"), Hand("hand.addresses"), "disturbs.address", &[];
    FasterPathUnused "faster-path-unused" faster_path_unused Path Some("faster-path"), Hand("hand.address"), "disturbs.routes", &[(P::Path, Sign)];
    MtuDiffers "mtu-differs" mtu_differs Path Some("same-mtu"), Settings, LINK, &[];
    OffloadsOff "offloads-off" offloads_off Path Some("offloads-on"), Settings, LINK, &[(P::Segment, Sign)];
    RssOff "rss-off" rss_off Path Some("rss-on"), Hand("hand.rss"), LINK, &[];
    OtherTraffic "other-traffic" other_traffic Path Some("other-time"), Hand("hand.other-traffic"), "disturbs.others", &[];
    SegmentsLost "segments-lost" segments_lost Path Some("lost-packets"), Hand("hand.cable-or-switch"), HANDS, &[];
    PauseFrames "pause-frames" pause_frames Path Some("flow-control"), Hand("hand.flow-control"), LINK, &[];
    FlowHash "flow-hash" flow_hash Path Some("flow-hash"), Hand("hand.flow-hash"), LINK, &[(P::Streams, Sign)];
    ReceiveBufferSmall "receive-buffer-small" receive_buffer_small Path Some("receive-buffer"), Settings, NOTHING, &[(P::ReceiveBuffer, Either(0.8))];
    SendBufferSmall "send-buffer-small" send_buffer_small Path Some("send-buffer"), Settings, NOTHING, &[(P::SendBuffer, Either(0.8))];
    ClientProcessor "client-processor" client_processor Processor Some("processor-limit"), Hand("hand.processor"), HOSTS, &[];
    ServerProcessor "server-processor" server_processor Processor Some("processor-limit"), Hand("hand.processor"), HOSTS, &[(P::Sessions, Sign), (P::Connections, Sign), (P::Streams, Sign)];
    CpuStolen "cpu-stolen" cpu_stolen Processor Some("processor-share"), Hand("hand.hypervisor"), HOSTS, &[];
    PowerPlan "power-plan" power_plan Processor Some("power-plan"), Hand("hand.power-plan"), "disturbs.nothing", &[(P::AwakeProcessor, Relief)];
    Antivirus "antivirus" antivirus Processor Some("scanner-exception"), Protection("hand.protection"), "disturbs.nothing", &[];
    RateLimited "rate-limited" rate_limited Path Some("rate-limit"), Hand("hand.rate-limit"), "disturbs.nothing", &[(P::Streams, Sign)];
    OldDialect "old-dialect" old_dialect Smb Some("newer-dialect"), Protection("hand.dialect"), SERVER, &[];
    FewCredits "few-credits" few_credits Smb Some("more-credits"), Settings, SERVER, &[(P::ShallowDepth, Burden(0.5))];
    SmallRequests "small-requests" small_requests Smb Some("larger-requests"), Settings, SERVER, &[(P::SmallBlock, Burden(0.5))];
    Encryption "encryption" encryption Smb Some("cheaper-cipher"), Protection("hand.protection"), SERVER, &[(P::Cipher, Relief)];
    Signing "signing" signing Smb Some("cheaper-signing"), Protection("hand.protection"), SERVER, &[(P::SigningAlgorithm, Relief), (P::EncryptionForSigning, Sign)];
    AsynchronousIo "asynchronous-io" asynchronous_io Smb Some("asynchronous"), Settings, SERVER, &[(P::Sessions, Sign), (P::Connections, Sign)];
    SyncWrites "sync-writes" sync_writes Storage Some("cached-writes"), Protection("hand.durability"), SERVER, &[(P::WriteThrough, Sign)];
    ServerDisk "server-disk" server_disk Storage Some("faster-disk"), Hand("hand.disk"), "disturbs.disks", &[(P::OneBlock, Sign), (P::SparseFile, Sign)];
    LocalDisk "local-disk" local_disk Storage Some("faster-local-disk"), Hand("hand.local-disk"), "disturbs.disks", &[(P::Discard, Sign)];
    PortBlocked "port-blocked" port_blocked Channels Some("open-port"), Hand("hand.firewall"), "disturbs.lets-through", &[];
    MultichannelOff "multichannel-off" multichannel_off Channels Some("multichannel-on"), Settings, SERVER, &[];
    AdvertisedWrong "advertised-wrong" advertised_wrong Channels Some("true-advertisement"), Hand("hand.interfaces"), SESSIONS, &[];
    OneLinkIdle "one-link-idle" one_link_idle Channels Some("dead-link"), Hand("hand.cable"), HANDS, &[];
    MountOldDialect "mount-old-dialect" mount_old_dialect SystemClient Some("mount-again"), Hand("hand.mount"), MOUNT, &[(P::MountDialect, Relief), (P::MountOptions, Together)];
    MountSync "mount-sync" mount_sync SystemClient Some("mount-again"), Hand("hand.mount"), MOUNT, &[(P::MountSync, Gain), (P::MountOptions, Together)];
    MountSmallRequests "mount-small-requests" mount_small_requests SystemClient Some("mount-again"), Hand("hand.mount"), MOUNT, &[(P::MountRequests, Relief), (P::MountOptions, Together)];
    MountOneConnection "mount-one-connection" mount_one_connection SystemClient Some("mount-again"), Hand("hand.mount"), MOUNT, &[(P::MountConnections, Relief), (P::MountOptions, Together)];
    MountCacheOff "mount-cache-off" mount_cache_off SystemClient Some("mount-again"), Hand("hand.mount"), MOUNT, &[(P::MountCache, Relief), (P::MountOptions, Together)];
    MeasuredAboveCeiling "measured-above-ceiling" measured_above_ceiling Rest None, Unknown, "disturbs.nothing", &[];
    TcpSlowerThanCeiling "tcp-slower-than-ceiling" tcp_slower_than_ceiling Rest None, Unknown, "disturbs.nothing", &[];
    ShareSlowerThanTcp "share-slower-than-tcp" share_slower_than_tcp Rest None, Unknown, "disturbs.nothing", &[];
}

impl fmt::Display for CauseId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A name that no cause has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no cause `{0}`")]
pub struct UnknownCause(String);

impl FromStr for CauseId {
    type Err = UnknownCause;

    /// Names of older versions are understood.
    fn from_str(text: &str) -> Result<Self, UnknownCause> {
        let text = match text {
            "faster-way-unused" => "faster-path-unused",
            other => other,
        };
        let mut rows = CAUSES.iter();
        let row = rows.find(|row| row.id.as_str() == text);
        row.map(|row| row.id)
            .ok_or_else(|| UnknownCause(text.to_owned()))
    }
}

/// Where an intervention is measured; one on a mount there where what it takes away may cost something, and one on our own
/// session there where that loses.
pub(super) fn rung_of(kind: ProbeKind, is_of_programs: bool, evidence: &Evidence) -> Rung {
    match kind {
        P::Streams | P::Segment | P::Congestion => Rung::Tcp,
        P::Discard => Rung::Copy,
        P::MountDialect
        | P::MountSync
        | P::MountRequests
        | P::MountConnections
        | P::MountOptions
        | P::MountCache => match is_of_programs {
            true => Rung::SystemProgram,
            false => Rung::SystemClient,
        },
        _ => evidence.share_that_loses().0,
    }
}

/// A cause that was thought of, with what is known of it.
pub(super) struct Judged {
    pub(super) row: &'static CauseRow,
    pub(super) finding: Finding,
    pub(super) state: State,
    pub(super) gain: Option<Estimate>,
}

/// Every cause that anything speaks for, in the order of the table.
pub(super) fn judge(evidence: &Evidence) -> Vec<Judged> {
    let found = CAUSES.iter().filter_map(|row| {
        let finding = (row.find)(evidence)?;
        let (state, gain) = state(row, &finding, evidence);
        Some(Judged {
            row,
            finding,
            state,
            gain,
        })
    });
    let mut found: Vec<Judged> = found.collect();
    // A guess by elimination is none where something that was seen may explain the same.
    let is_seen = |one: &Judged| {
        one.row.layer < Layer::SystemClient
            && one.finding.reach.is_on_path()
            && one.state != State::RuledOut
            && !one.finding.is_by_elimination
    };
    let is_explained = found.iter().any(is_seen);
    found.retain(|one| !(is_explained && one.finding.is_by_elimination));
    found
}

fn state(row: &CauseRow, finding: &Finding, evidence: &Evidence) -> (State, Option<Estimate>) {
    let (mut ruled_out, mut is_refuted, mut gains_together) = (None, false, false);
    let probes = row.probes.iter().filter(|_| !finding.is_far);
    for (kind, prove) in probes {
        let rung = rung_of(*kind, finding.is_of_programs, evidence);
        let Some(found) = evidence.probed(*kind, rung) else {
            continue;
        };
        gains_together |=
            matches!(prove, Prove::Together) && evidence.gains_by_all_options_only(rung);
        let prove = match (prove, rung) {
            (Prove::Gain, Rung::SystemProgram) => &Prove::Relief,
            _ => prove,
        };
        match says(*prove, &found) {
            Some(true) => {
                let proof = match prove {
                    Prove::Burden(_) => Proof::Binding,
                    Prove::Either(_) if found.loss != Loss::Loses => Proof::Binding,
                    Prove::Relief
                    | Prove::Gain
                    | Prove::Either(_)
                    | Prove::Together
                    | Prove::Sign => Proof::Relieved,
                };
                let gain = (proof == Proof::Relieved).then_some(found.ratio);
                return (State::Proven(proof), gain);
            }
            Some(false) if !is_of_system(rung) || evidence.gains_nothing(*kind, rung) => {
                is_refuted |= matches!(prove, Prove::Burden(_));
                ruled_out = Some(found.ratio);
            }
            Some(false) | None => {}
        }
    }
    match (&finding.basis, ruled_out.filter(|_| !gains_together)) {
        // A limit that may be halved and costs nothing does not bind, however small a counter says that it is.
        (Basis::Counter, Some(ratio)) if is_refuted => (State::RuledOut, Some(ratio)),
        (Basis::Counter, _) => (State::Proven(Proof::Counter), None),
        (_, Some(ratio)) => (State::RuledOut, Some(ratio)),
        (Basis::Suspicion(_), None) => (State::Suspected, None),
        (Basis::OutOfSight(_), None) => (State::Unknowable, None),
    }
}

/// Whether an intervention proves a cause or rules it out; nothing where it does neither.
pub(super) fn says(prove: Prove, found: &Sequential) -> Option<bool> {
    match prove {
        Prove::Relief => match found.loss {
            Loss::Loses => Some(true),
            Loss::DoesNotLose => Some(false),
            Loss::CannotTell { .. } => None,
        },
        Prove::Gain => (found.loss == Loss::Loses).then_some(true),
        Prove::Either(_) if found.loss == Loss::Loses => Some(true),
        Prove::Burden(left) | Prove::Either(left) => {
            let [low, high] = found.ratio.interval?;
            // What is left of the rate, so that the cost is its inverse.
            if 1.0 / high > 1.0 / (MATTERS * left) {
                Some(true)
            } else if 1.0 / low < MATTERS {
                Some(false)
            } else {
                None
            }
        }
        Prove::Together | Prove::Sign => None,
    }
}

impl Judged {
    /// What is concluded of it.
    pub(super) fn cause(&self) -> Cause {
        let decides: Option<Message> = match &self.finding.basis {
            Basis::Suspicion(decider) => Some(decider.message()),
            Basis::Counter | Basis::OutOfSight(_) => None,
        };
        let needs = match &self.finding.basis {
            Basis::OutOfSight(needs) => Some(say(needs)),
            Basis::Counter | Basis::Suspicion(_) => None,
        };
        Cause {
            id: self.row.id.as_str().to_owned(),
            text: self.finding.text.clone(),
            trust: match self.state {
                State::Proven(_) => Trust::Measured,
                State::Suspected | State::Unknowable | State::RuledOut => Trust::Computed,
            },
            state: self.state,
            gain: self.gain.clone(),
            decides: decides.filter(|_| self.state == State::Suspected),
            needs: needs.filter(|_| self.state == State::Unknowable),
        }
    }
}
