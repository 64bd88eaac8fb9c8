//! The rungs of the ladder, as they are said: what was measured of each, and what it had of the one above.

use locale::Message;
use record::Direction;
use schemars::JsonSchema;
use serde::Serialize;

use stats::Estimate;
use stats::sequential::Loss;

/// Which rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RungName {
    /// The computed ceiling.
    Ceiling,
    /// Raw TCP.
    Tcp,
    /// Raw TCP over several streams.
    Streams,
    /// The share through one channel.
    Share,
    /// The share through several channels.
    Channels,
    /// The share through the system's own client.
    SystemClient,
    /// What a program gets that asks that client for one MiB after the other.
    SystemProgram,
    /// What `cp` gets of that client.
    SystemCopy,
    /// A file that the server reads from its disk.
    Disk,
    /// A file that is copied to a disk of the client.
    Copy,
}

/// One rung of the ladder in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LadderRung {
    /// Which rung.
    pub rung: RungName,
    /// The direction.
    pub direction: Direction,
    /// Payload in bytes per second; none where it was not measured.
    pub rate: Option<Estimate>,
    /// As a share of the rung above: 1 is all of it. Of several channels: of what all links carry that they use, where that is
    /// known and more than one of them carries.
    pub of_above: Option<Estimate>,
    /// Payload in bytes per second that all links carry together that its trials used, by computation; of a mount those of
    /// our own several channels. None of the ceiling itself, and where it is not known.
    pub ceiling: Option<Estimate>,
    /// As a share of that ceiling.
    pub of_ceiling: Option<Estimate>,
    /// Whether it loses against the one above; none where the two were not measured. Several channels lose where they get
    /// less than nine tenths.
    pub loss: Option<Loss>,
    /// Why it was not measured.
    pub not_measured: Option<Message>,
}
