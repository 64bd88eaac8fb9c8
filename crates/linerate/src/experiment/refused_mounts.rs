//! Mounts of a plan's levels that the server does not let in. `mount.cifs` says of that what it says of a wrong password
//! (`EACCES`), and each try may count for the account.

use record::{Failure, FailureKind, Outcome, SecondMount};

/// What came of the mounts of a plan so far.
#[derive(Debug, Default)]
pub(super) struct RefusedMounts {
    /// Whether any mount of this login was let in.
    is_let_in: bool,
    /// Those that were not, each with what was said of it.
    refused: Vec<(SecondMount, Failure)>,
}

impl RefusedMounts {
    /// No mount was tried yet; `is_let_in` where this login has mounted the share before.
    pub(super) fn new(is_let_in: bool) -> Self {
        Self {
            is_let_in,
            refused: Vec::new(),
        }
    }

    /// What came of a mount that no level varies.
    pub(super) fn saw_the_login(&mut self, outcome: &Outcome) {
        self.is_let_in |= matches!(outcome, Outcome::Measured(_));
    }

    /// Why a mount is not tried again.
    pub(super) fn known(&self, mount: &SecondMount) -> Option<Outcome> {
        let mut refused = self.refused.iter();
        let (_, failure) = refused.find(|(known, _)| known == mount)?;
        Some(Outcome::Failed(failure.clone()))
    }

    /// What a trial's outcome says of the plan. A mount that is not let in is a level that the server refuses, where the
    /// login is good: another mount was let in, or this is the first one that was tried. Else the login is not let in.
    pub(super) fn judge(&mut self, mount: &SecondMount, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Failed(failure)
                if failure.kind == FailureKind::LoginRefused
                    && (self.is_let_in || self.refused.is_empty()) =>
            {
                let failure = Failure {
                    kind: FailureKind::Refused,
                    ..failure
                };
                self.refused.push((mount.clone(), failure.clone()));
                Outcome::Failed(failure)
            }
            outcome => {
                self.is_let_in |= matches!(outcome, Outcome::Measured(_));
                outcome
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use record::TrialResult;

    use super::*;

    fn mount(options: &str) -> SecondMount {
        SecondMount {
            source: "//nas/media".into(),
            folder: "/mnt/media".into(),
            options: options.into(),
        }
    }

    fn not_let_in() -> Outcome {
        Outcome::Failed(Failure::new(
            FailureKind::LoginRefused,
            "mount error(13): Permission denied".to_owned(),
        ))
    }

    fn kind(outcome: &Outcome) -> Option<FailureKind> {
        match outcome {
            Outcome::Failed(failure) => Some(failure.kind),
            Outcome::Measured(_) => None,
        }
    }

    #[test]
    fn a_level_that_is_not_let_in_is_refused_and_tried_once() {
        let (good, bad) = (mount("vers=3.1.1"), mount("vers=2.1"));
        let measured = || Outcome::Measured(Box::<TrialResult>::default());
        let mut mounts = RefusedMounts::default();
        // It may be the first one.
        assert_eq!(mounts.known(&bad), None);
        let outcome = mounts.judge(&bad, not_let_in());
        assert_eq!(kind(&outcome), Some(FailureKind::Refused));
        assert_eq!(mounts.known(&bad), Some(outcome));
        assert_eq!(kind(&mounts.judge(&good, measured())), None);
        assert_eq!(mounts.known(&good), None);
        let other = mounts.judge(&mount("vers=2.0"), not_let_in());
        assert_eq!(kind(&other), Some(FailureKind::Refused));
    }

    #[test]
    fn a_login_that_is_not_let_in_at_all_is_not_tried_with_every_level() {
        let mut mounts = RefusedMounts::default();
        mounts.judge(&mount("vers=2.1"), not_let_in());
        let second = mounts.judge(&mount("vers=3.1.1"), not_let_in());
        assert_eq!(kind(&second), Some(FailureKind::LoginRefused));
        // Where it has mounted the share before, each level is its own.
        let mut mounts = RefusedMounts::new(true);
        for options in ["vers=2.0", "vers=2.1"] {
            let outcome = mounts.judge(&mount(options), not_let_in());
            assert_eq!(kind(&outcome), Some(FailureKind::Refused));
        }
    }
}
