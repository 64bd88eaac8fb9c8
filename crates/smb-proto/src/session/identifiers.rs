//! The numbers of what a session has: channels, shares, files and transfers.

/// A channel's number in its session; never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelNumber(pub(crate) u16);

impl std::fmt::Display for ChannelNumber {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "channel {}", self.0)
    }
}

/// A connected share of this session. It stays the same when the session reconnects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TreeKey(pub(crate) u32);

/// An open file or folder of this session. It stays the same when the session reconnects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileKey(pub(crate) u32);

/// A read, or a write from a source, to cancel it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TransferKey(pub(crate) u64);
