//! What a reparse point is, by its tag (MS-FSCC 2.1.2.1).

/// Attributes of a file whose content is elsewhere, and is fetched by whoever opens or reads it
/// (FILE_ATTRIBUTE_OFFLINE, RECALL_ON_OPEN and RECALL_ON_DATA_ACCESS).
const ATTRIBUTES_ELSEWHERE: u32 = 0x1000 | 0x0004_0000 | 0x0040_0000;
/// It stands for something under another name.
const NAME_SURROGATE: u32 = 0x2000_0000;
/// Cloud providers have sixteen tags that differ here.
const CLOUD_PROVIDER: u32 = 0x0000_F000;

/// What a reparse point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reparse {
    /// A symbolic link.
    SymbolicLink,
    /// A folder that is another folder or disk: a junction.
    Junction,
    /// A symbolic link of Windows' Linux layer or of its NFS server, which has devices as well.
    UnixLink,
    /// A pipe, socket or device of Windows' Linux layer.
    UnixSpecial,
    /// A file, stored once with others that are alike.
    Deduplicated,
    /// A file or folder of a cloud.
    Cloud,
    /// A folder that is on another server (DFS).
    Referral,
    /// A link of another kind.
    OtherLink(u32),
    /// A file or folder that is stored unusually.
    Other(u32),
}

impl Reparse {
    /// What has this tag.
    #[must_use]
    pub const fn of(tag: u32) -> Self {
        match tag {
            0xA000_000C => Self::SymbolicLink,
            0xA000_0003 => Self::Junction,
            0xA000_001D | 0x8000_0014 => Self::UnixLink,
            0x8000_0023..=0x8000_0026 => Self::UnixSpecial,
            0x8000_0013 => Self::Deduplicated,
            0x8000_0021 => Self::Cloud,
            0x8000_000A | 0x8000_0012 => Self::Referral,
            tag if tag & !CLOUD_PROVIDER == 0x9000_001A => Self::Cloud,
            tag if tag & NAME_SURROGATE != 0 => Self::OtherLink(tag),
            tag => Self::Other(tag),
        }
    }

    /// Whether it leads to something that has another name.
    #[must_use]
    pub const fn is_link(self) -> bool {
        matches!(
            self,
            Self::SymbolicLink | Self::Junction | Self::UnixLink | Self::OtherLink(_)
        )
    }

    /// Whether a file with these attributes would be fetched from elsewhere if it were opened.
    pub(super) const fn is_fetched(self, attributes: u32) -> bool {
        matches!(self, Self::Cloud) && attributes & ATTRIBUTES_ELSEWHERE != 0
    }
}

impl std::fmt::Display for Reparse {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = match self {
            Self::SymbolicLink => "symbolic link",
            Self::Junction => "junction",
            Self::UnixLink => "Unix link",
            Self::UnixSpecial => "Unix pipe, socket or device",
            Self::Deduplicated => "deduplicated",
            Self::Cloud => "in a cloud",
            Self::Referral => "on another server, DFS",
            Self::OtherLink(tag) => return write!(formatter, "link of kind {tag:#010x}"),
            Self::Other(tag) => return write!(formatter, "reparse point {tag:#010x}"),
        };
        formatter.write_str(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reparse_points_are_told_apart_by_their_tags() {
        for (tag, kind, is_link) in [
            (0xA000_000C, Reparse::SymbolicLink, true),
            (0xA000_0003, Reparse::Junction, true),
            (0xA000_001D, Reparse::UnixLink, true),
            (0x8000_0024, Reparse::UnixSpecial, false),
            (0x8000_0013, Reparse::Deduplicated, false),
            (0x9000_001A, Reparse::Cloud, false),
            (0x9000_701A, Reparse::Cloud, false),
            (0x8000_000A, Reparse::Referral, false),
            (0xA000_0019, Reparse::OtherLink(0xA000_0019), true),
            (0x8000_0017, Reparse::Other(0x8000_0017), false),
        ] {
            assert_eq!((Reparse::of(tag), kind.is_link()), (kind, is_link));
        }
        assert_eq!(
            Reparse::of(0x8000_0017).to_string(),
            "reparse point 0x80000017"
        );
        assert!(Reparse::Cloud.is_fetched(0x0040_0420));
        assert!(!Reparse::Cloud.is_fetched(0x0420), "it is on the disk");
        assert!(!Reparse::Deduplicated.is_fetched(0x1000));
    }
}
