//! Reasons of ours that stand where otherwise a program speaks. An error keeps them as texts.

use locale::{Message, say};

/// A command needs `sudo`.
pub(crate) const NO_SUDO: &str = "there is no `sudo`";
/// A command needs an administrator, and this Windows runs us as none.
pub(crate) const NOT_ELEVATED: &str = "linerate does not run as administrator";
/// A command needs an administrator of Windows.
pub(crate) const NO_ADMINISTRATOR: &str = "the user who logs in is no administrator";
/// Of an `ssh` that says nothing.
pub(crate) const SSH_SILENT: &str = "`ssh` ended without a word";
/// Of an `ssh` that cannot be written to, or not be read from.
pub(crate) const NO_PIPES: &str = "it has no pipes";
/// Of a far end that says nothing.
pub(crate) const NO_ANSWER: &str = "nobody answered in time";
/// Of a far end that says too much.
pub(crate) const ENDLESS: &str = "it talks without end";
/// Of a far end that says something else.
pub(crate) const NO_STATUS: &str = "a command has no exit status";
/// Of a host that cannot wait for us.
pub(crate) const LEASE_SILENT: &str = "it does not say why";

/// What a program said, or we in its place.
pub(super) fn said(text: &str) -> Message {
    match text {
        NO_SUDO => say("error-host.no-sudo"),
        NOT_ELEVATED => say("error-host.not-elevated"),
        NO_ADMINISTRATOR => say("error-host.no-administrator"),
        SSH_SILENT => say("error-host.ssh-silent"),
        NO_PIPES => say("error-host.no-pipes"),
        NO_ANSWER => say("error-host.no-answer"),
        ENDLESS => say("error-host.endless"),
        NO_STATUS => say("error-host.no-status"),
        LEASE_SILENT => say("error-host.lease-silent"),
        text => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use locale::Language;

    use super::*;

    #[test]
    fn reasons_of_ours_are_said_in_each_language() {
        for text in [
            NO_SUDO,
            NO_ADMINISTRATOR,
            SSH_SILENT,
            NO_PIPES,
            NO_ANSWER,
            ENDLESS,
            NO_STATUS,
            LEASE_SILENT,
        ] {
            assert_eq!(Language::English.say(&said(text)), text);
            assert_ne!(Language::Japanese.say(&said(text)), text);
        }
        assert_eq!(Language::Japanese.say(&said("as it is")), "as it is");
    }
}
