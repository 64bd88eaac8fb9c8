//! What the tools of a host print. Nothing here runs anything, and nothing here trusts a
//! byte: what cannot be understood is left out.

use record::{Bytes, Nic, Route, TcpFacts};

pub(crate) mod cifs;
pub(crate) mod ethtool;
pub(crate) mod ip;
pub(crate) mod macos;
pub(crate) mod sysctl;
pub(crate) mod tc;
pub(crate) mod windows;

/// What a system told of itself where every command tells of all of it, as far as it could be
/// understood.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Facts {
    pub(crate) version: Option<String>,
    pub(crate) cores: Option<u32>,
    pub(crate) memory: Option<Bytes>,
    pub(crate) nics: Option<Vec<Nic>>,
    pub(crate) routes: Vec<Route>,
    pub(crate) tcp: TcpFacts,
}

/// Longest name of an interface on Linux.
const NIC_NAME_BYTES_MAX: usize = 15;

/// Whether an interface's name can be handed to tools as an argument. The kernel allows names that
/// begin with a dash, which tools would take for an option.
pub(crate) fn is_usable_nic_name(name: &str) -> bool {
    let odd = |character: char| character.is_whitespace() || character.is_control();
    !name.is_empty()
        && name.len() <= NIC_NAME_BYTES_MAX
        && !name.starts_with('-')
        && name != "."
        && name != ".."
        && !name.contains(|character: char| odd(character) || "/\u{fffd}".contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_tools_would_misread_are_not_usable() {
        for name in ["eth0", "enp1s0f0", "br-1a2b3c4d5e6f", "a'b$(c)", "eth0.10"] {
            assert!(is_usable_nic_name(name), "{name}");
        }
        for name in [
            "",
            "-k",
            "--json",
            ".",
            "..",
            "a/b",
            "a b",
            "a\nb",
            "sixteen-bytes-xx",
            "\u{fffd}",
        ] {
            assert!(!is_usable_nic_name(name), "{name}");
        }
    }
}
