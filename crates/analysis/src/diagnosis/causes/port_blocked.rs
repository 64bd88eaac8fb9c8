//! An address that the server offers for a channel and that answers, but not at the port of the share.

use locale::say;
use record::Rung;

use super::{Advice, Evidence, Finding, remote_name};
use crate::diagnosis::nic_pairs::Pair;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let listed = seen.network.advertised;
    let first = seen.used_proof()?;
    let proof = seen.path?.mtus.iter().find(|proof| {
        let offered = listed
            .iter()
            .any(|entry| Some(entry.address) == proof.remote);
        // The path that is used has shown that the probes can tell.
        offered && first.far_mtu.is_some() && proof.answered.is_some() && proof.far_mtu.is_none()
    })?;
    let used = |pair: &Pair| Some(pair.remote) == proof.remote;
    let channels = seen
        .trials
        .iter()
        .filter(|trial| trial.rung == Rung::Channels);
    if channels.flat_map(|trial| &trial.pairs).any(used) {
        return None;
    }
    let remote = remote_name(proof);
    let text = say("port-blocked")
        .with("remote", &remote)
        .with("nic", &proof.nic);
    let advice = Advice::new(say("fix.open-port").with("remote", remote));
    Some(Finding::counted(text, advice).off_path())
}
