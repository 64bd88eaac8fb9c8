//! Signatures by an algorithm that costs more than another one that protects as well.

use locale::say;
use record::ProbeKind;

use super::{Advice, Basis, Decider, Evidence, Finding};
use crate::rung_and_probe_verdict::Loss;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let session = seen.session?;
    let algorithm = session.signing_algorithm.as_deref()?;
    if !session.data_signed || session.encryption.is_some() {
        return None;
    }
    let is_cheap = algorithm.contains("GMAC");
    let is_worth_it = match is_cheap {
        true => seen.network_is_known(),
        false => seen.may_be_algorithm(ProbeKind::SigningAlgorithm),
    };
    if !seen.share_may_lose() || !is_worth_it {
        return None;
    }
    let text = say("signing").with("algorithm", algorithm);
    let advice = Advice::of(match is_cheap {
        true => "fix.no-cheaper-signing",
        false => "fix.cheaper-signing",
    });
    // A session that is encrypted has all the rest of the work and more, but no signatures: what it gains they cost.
    let encrypted = seen.probed_of_share(ProbeKind::EncryptionForSigning);
    let basis = match encrypted.is_some_and(|it| it.loss == Loss::Loses) {
        true => Basis::Counter,
        false if is_cheap => Basis::OutOfSight("needs.served"),
        false => Basis::Suspicion(Decider::Probe),
    };
    Some(Finding::new(text, basis, advice.gains(seen.gain())))
}
