//! Encryption by a cipher that costs more than another one that protects as well.

use locale::say;
use record::ProbeKind;

use super::{Advice, Basis, Decider, Evidence, Finding};

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let cipher = seen.session?.encryption.as_deref()?;
    let is_asked = seen.is_encryption_asked_for();
    let is_slow = seen.is_cipher_slow();
    let is_worth_it = match is_slow {
        false => seen.network_is_known(),
        true => seen.may_be_algorithm(ProbeKind::Cipher),
    };
    if !seen.share_may_lose() || !is_worth_it || is_asked {
        return None;
    }
    let text = say("encryption").with("cipher", cipher);
    let advice = Advice::of(match is_slow {
        true => "fix.cheaper-cipher",
        false => "fix.no-cheaper-cipher",
    });
    let basis = match is_slow {
        true => Basis::Suspicion(Decider::Hand("decide.cheaper-cipher")),
        false => Basis::OutOfSight("needs.served"),
    };
    Some(Finding::new(text, basis, advice.gains(seen.gain())))
}
