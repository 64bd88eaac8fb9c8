//! Jumbo frames at one end only.

use std::net::IpAddr;

use locale::say;
use record::{MtuProof, Nic};

use super::{Advice, Evidence, Finding, nic_mtu, remote_name};
use crate::diagnosis::jumbo_frames_and_other_hosts::{names, short_neighbours};
use crate::diagnosis::nic_pairs::{Pair, has_no_line};

/// Two ends of a link that differ in MTU.
struct Ends {
    near: String,
    near_mtu: u32,
    far: String,
    far_mtu: u32,
}

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let ends = differing_ends(seen)?;
    let Ends {
        near,
        near_mtu,
        far,
        far_mtu,
    } = &ends;
    let text = say("mtu-differs")
        .with("near", near)
        .count("near_mtu", *near_mtu)
        .with("far", far)
        .count("far_mtu", *far_mtu);
    let (least, most) = (near_mtu.min(far_mtu), near_mtu.max(far_mtu));
    // The end that is larger is made smaller: that works whatever is between them.
    let larger = if near_mtu == most {
        nic_mtu(seen.network.client, near, *least)
    } else {
        nic_mtu(seen.network.server, far, *least)
    };
    let pairs = seen.network.all_pairs(&seen.used).into_iter();
    let of_link: Vec<Pair> = pairs.filter(|pair| pair.near.name == *near).collect();
    let short = short_neighbours(seen, &of_link);
    let advice = match short.is_empty() {
        true => say("fix.same-mtu")
            .count("most", *most)
            .count("least", *least),
        false => say("fix.smaller-mtu")
            .count("least", *least)
            .with("neighbours", names(&short)),
    };
    // TCP agrees on the smaller one.
    Some(Finding::counted(text, Advice::new(advice).sets(larger)).off_path())
}

/// The pair in use first, by the facts and then by what was proven.
fn differing_ends(seen: &Evidence) -> Option<Ends> {
    // What a tunnel leaves to a packet is no fault, and its far end is another NIC; behind a router each
    // network has its own MTU, and what TCP announces may be that of a hop.
    let is_link = |near: &Nic, remote: IpAddr| !has_no_line(near) && !seen.is_routed(near, remote);
    let by_facts = |pair: &Pair| {
        let far = pair.far_nic()?;
        let differs = far.mtu != pair.near.mtu && is_link(pair.near, pair.remote);
        differs.then(|| Ends {
            near: pair.near.name.clone(),
            near_mtu: pair.near.mtu,
            far: far.name.clone(),
            far_mtu: far.mtu,
        })
    };
    let by_probe = |proof: &MtuProof| {
        let near = seen.network.client?.nic(&proof.nic)?;
        if !is_link(near, proof.remote?) {
            return None;
        }
        let far_mtu = proof.far_mtu.filter(|far| *far < proof.near_mtu)?;
        Some(Ends {
            near: proof.nic.clone(),
            near_mtu: proof.near_mtu,
            far: remote_name(proof),
            far_mtu,
        })
    };
    let in_use = seen.used.iter().find_map(by_facts);
    let in_use = in_use.or_else(|| by_probe(seen.used_proof()?));
    // NICs that only a prefix of the other family has in common are no link.
    let is_v4 = seen.used.first().map(|pair| pair.remote.is_ipv4());
    let same = |remote: IpAddr| is_v4.is_none_or(|is_v4| is_v4 == remote.is_ipv4());
    let is_line = |pair: &Pair| !has_no_line(pair.near) && !pair.far_nic().is_some_and(has_no_line);
    in_use
        .or_else(|| {
            let pairs = seen.network.all_pairs(&seen.used).into_iter();
            pairs
                .filter(|pair| same(pair.remote) && is_line(pair))
                .filter(|pair| !seen.is_dead(pair.near, pair.remote))
                .find_map(|pair| by_facts(&pair))
        })
        .or_else(|| {
            let proofs = seen.path?.mtus.iter();
            proofs
                .filter(|proof| proof.remote.is_some_and(same))
                .find_map(by_probe)
        })
}
