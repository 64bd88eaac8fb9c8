//! What `check -v` and the report say beyond the verdict: the way, the packets, the session, the
//! channels of several clients, TCP and the hosts.

use analysis::{
    Alone, ClientChannels, HostEffort, LimitedBy, Multichannel, RunAnalysis, RungName, Transfer,
};
use locale::{Message, counted, said, say, text};
use record::{
    AddressRoute, Bytes, HostFacts, MtuProof, Nanoseconds, NeighbourMtu, Nic, Rung, SmbSession,
    Vanished,
};
use stats::Verdict;

use crate::terminal_layout::{Ink, Page, Style};
use crate::{quantity, shared_wording};

/// Several lines under a title.
pub(crate) struct Detail {
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
}

/// The details of a run for the terminal; empty where there are none.
#[must_use]
pub fn details(analysis: &RunAnalysis, style: Style) -> String {
    let mut page = Page::new(style);
    for detail in all(analysis) {
        page.heading(&detail.title);
        for line in &detail.lines {
            page.paragraph(2, 4, &[(Ink::Plain, "-"), (Ink::Plain, line)]);
        }
    }
    page.finish()
}

/// All details that there are.
pub(crate) fn all(analysis: &RunAnalysis) -> Vec<Detail> {
    let details = [
        ("detail-title.routes", routes(analysis)),
        ("detail-title.packets", packets(analysis)),
        ("detail-title.neighbours", neighbours(analysis)),
        ("detail-title.session", sessions(analysis)),
        ("detail-title.mount", mount(analysis)),
        ("detail-title.files", shared_wording::files(analysis)),
        ("detail-title.clients", clients(analysis)),
        ("detail-title.channels", channels(analysis)),
        ("detail-title.transfers", transfers(analysis)),
    ];
    details
        .into_iter()
        .filter(|(_, lines)| !lines.is_empty())
        .map(|(title, lines)| Detail {
            title: text(title),
            lines,
        })
        .collect()
}

fn routes(analysis: &RunAnalysis) -> Vec<String> {
    let Some(path) = &analysis.path else {
        return Vec::new();
    };
    let mut lines: Vec<String> = path.addresses.iter().map(route).collect();
    for host in &analysis.facts {
        lines.extend(host.nics.iter().map(|nic| interface(host, nic)));
    }
    lines
}

fn route(route: &AddressRoute) -> String {
    let sentence = say("detail-route").with("address", route.address);
    let sentence = sentence.with_known("nic", route.nic.as_ref());
    said(&sentence.with_known("router", route.gateway))
}

fn interface(host: &HostFacts, nic: &Nic) -> String {
    let sentence = say("detail-interface")
        .with("host", &host.name)
        .with("nic", &nic.name)
        .with("mtu", nic.mtu.to_string());
    let speed = nic.shaped.or(nic.speed).map(quantity::line_rate);
    let sentence = sentence.with_known("speed", speed);
    said(&sentence.with_known("kind", nic.kind.as_ref()))
}

fn packets(analysis: &RunAnalysis) -> Vec<String> {
    let proofs = analysis.path.iter().flat_map(|path| &path.mtus);
    proofs.map(packet).collect()
}

fn neighbours(analysis: &RunAnalysis) -> Vec<String> {
    let neighbours = analysis.path.iter().flat_map(|path| &path.neighbours);
    neighbours.map(neighbour).collect()
}

fn neighbour(neighbour: &NeighbourMtu) -> String {
    let sentence = match neighbour.answered {
        None => say("detail-neighbour.silent"),
        Some(answered) if neighbour.takes_less() => say("detail-neighbour.takes-less")
            .with("answered", answered.to_string())
            .with("tried", neighbour.tried.to_string()),
        Some(answered) => say("detail-neighbour.takes-all").with("answered", answered.to_string()),
    };
    let sentence = sentence.with("address", neighbour.address);
    said(&sentence.with("nic", &neighbour.nic))
}

fn packet(proof: &MtuProof) -> String {
    let pair = match proof.remote {
        Some(remote) => shared_wording::ends(Some(proof.nic.as_str()), remote),
        None => said(&say("detail-packet.to-server").with("nic", &proof.nic)),
    };
    let Some(most) = proof.path_mtu() else {
        return said(&say("detail-packet.unproven").with("pair", pair));
    };
    let back = match proof.reverse_mtu {
        Some(back) => Some(say("detail-packet.back").with("most", back.to_string())),
        None if proof.forward_only => Some(say("detail-packet.one-way")),
        None => None,
    };
    let larger = if proof.is_black_hole() {
        Some(say("detail-packet.vanish"))
    } else if proof.too_big_reported && most < proof.wanted() {
        Some(say("detail-packet.too-big-reported"))
    } else {
        None
    };
    let sentence = say("detail-packet")
        .with("pair", pair)
        .with("most", most.to_string())
        .with("near", proof.near_mtu.to_string());
    let sentence = sentence.with_known("back", back);
    let sentence = sentence.with_known("far", proof.far_mtu.map(|far| far.to_string()));
    let sentence = sentence.with_known("larger", larger);
    let seen = proof.vanished.and_then(who_saw);
    said(&sentence.with_known("seen", seen))
}

/// Who still saw packets that vanish.
fn who_saw(vanished: Vanished) -> Option<String> {
    let counts = [
        ("detail-vanished.there", vanished.seen_by_server),
        ("detail-vanished.back", vanished.seen_by_client),
        ("detail-vanished.near-refused", vanished.near_refused),
        ("detail-vanished.far-refused", vanished.far_refused),
    ];
    let counts = counts.into_iter().filter_map(|(id, count)| {
        let count = count?.to_string();
        Some(said(&say(id).with("count", count)))
    });
    let counts: Vec<String> = counts.collect();
    let sentence = match vanished.seen_by_client {
        Some(_) => say("detail-vanished.each-end"),
        None => say("detail-vanished.our-end"),
    };
    let sentence = sentence
        .with("sent", vanished.sent.to_string())
        .with("size", vanished.size.to_string())
        .with("counts", counts.join(", "));
    (!counts.is_empty()).then(|| said(&sentence))
}

fn sessions(analysis: &RunAnalysis) -> Vec<String> {
    let mut lines = shared_wording::sessions(analysis);
    let last = analysis.sessions.last().map(|kind| &kind.agreed);
    let agreed = last.or(analysis
        .path
        .as_ref()
        .and_then(|path| path.session.as_ref()));
    lines.extend(agreed.into_iter().flat_map(session));
    if let Some(request) = analysis
        .diagnosis
        .as_ref()
        .and_then(|found| found.request.as_ref())
    {
        let time = quantity::estimate(request);
        lines.push(said(&say("detail-session.request").with("time", time)));
    }
    lines
}

fn session(agreed: &SmbSession) -> Vec<String> {
    let most = say("detail-session.most")
        .with("read", quantity::size(agreed.read_max))
        .with("write", quantity::size(agreed.write_max));
    let mut lines = vec![said(&most)];
    if let Some(credits) = agreed.credits {
        let worth = Bytes::new(credits.saturating_mul(64 << 10));
        let sentence = say("detail-session.credits")
            .with("credits", credits.to_string())
            .with("worth", quantity::size(worth));
        lines.push(said(&sentence));
    }
    lines.extend(agreed.server_interfaces.iter().map(|entry| {
        let sentence = match entry.rss {
            true => say("detail-session.with-rss"),
            false => say("detail-session.without-rss"),
        };
        let sentence = sentence.with("address", entry.address);
        said(&sentence.with("speed", quantity::line_rate(entry.speed)))
    }));
    lines
}

/// What the system's own client uses.
fn mount(analysis: &RunAnalysis) -> Vec<String> {
    let Some(mount) = analysis.path.as_ref().and_then(|path| path.mount.as_ref()) else {
        return Vec::new();
    };
    let place = say("detail-mount")
        .with("source", &mount.source)
        .with("folder", &mount.folder)
        .with_known("dialect", mount.dialect())
        .with_known(
            "channels",
            mount
                .channels
                .map(|count| counted("count.channels", count as usize)),
        );
    let mut lines = vec![said(&place)];
    if let Some((read, write)) = mount.read_max().zip(mount.write_max()) {
        let requests = say("detail-mount.requests")
            .with("read", quantity::size(read))
            .with("write", quantity::size(write));
        lines.push(said(&requests));
    }
    let protection = match (mount.encrypted, mount.signed) {
        (Some(true), _) => Some("detail-mount.encrypted"),
        (Some(false), Some(true)) => Some("detail-mount.signed"),
        (Some(false), Some(false)) => Some("detail-mount.unprotected"),
        _ => None,
    };
    lines.extend(protection.map(text));
    lines.extend(mount.interfaces.iter().map(|entry| {
        let sentence = say("detail-mount.interface").with("address", entry.address);
        let sentence = sentence.with_known("speed", entry.speed.map(quantity::line_rate));
        said(&sentence.with_known("channels", entry.channels.map(|count| count.to_string())))
    }));
    lines.push(said(
        &say("detail-mount.options").with("options", &mount.options),
    ));
    lines
}

fn clients(analysis: &RunAnalysis) -> Vec<String> {
    let clients = analysis.diagnosis.iter().flat_map(|found| &found.clients);
    clients.flat_map(client).collect()
}

fn client(client: &ClientChannels) -> Vec<String> {
    let pairs = client.pairs.iter().map(|pair| {
        let sentence = say("detail-client.pair")
            .with("channels", pair.channels.to_string())
            .with(
                "ends",
                shared_wording::ends(Some(pair.nic.as_str()), pair.address),
            );
        said(&sentence)
    });
    let pairs: Vec<String> = pairs.collect();
    let pairs = (!pairs.is_empty()).then(|| pairs.join(", "));
    let sentence = say("detail-client").with("client", &client.client);
    let sentence = sentence.with_known("pairs", pairs);
    let sentence = sentence.with_known("remark", client.remark.clone());
    let mut lines = vec![said(&sentence)];
    lines.extend(client.unused.iter().map(|unused| {
        let sentence = say("detail-client.unused")
            .with("client", &client.client)
            .with("pair", unused.pair.clone())
            .with("reason", unused.reason.clone());
        said(&sentence)
    }));
    lines
}

fn channels(analysis: &RunAnalysis) -> Vec<String> {
    let ways = analysis.diagnosis.iter();
    let mut lines: Vec<String> = ways
        .flat_map(|found| &found.multichannel)
        .flat_map(several)
        .collect();
    if !lines.is_empty() {
        lines.push(text("detail-channels.measured"));
    }
    lines
}

/// What several channels carried together, and each of them.
fn several(several: &Multichannel) -> Vec<String> {
    let together = say("detail-channels.together")
        .with("direction", several.direction)
        .with("count", several.channels.len().to_string())
        .with("rate", quantity::estimate_with_interval(&several.rate))
        .with("trials", counted("count.trials", several.rate.n));
    let alone = several.alone.as_ref().map(against);
    let mut lines = vec![said(&together.with_known("against", alone))];
    lines.extend(several.channels.iter().map(|channel| {
        let sentence = say("detail-channels.one")
            .with("direction", several.direction)
            .with("channel", shared_wording::channel(channel))
            .with("rate", quantity::estimate_with_interval(&channel.rate))
            .with("share", quantity::share(channel.share.value));
        said(&sentence.with_known("full", shared_wording::filled(channel)))
    }));
    lines
}

fn against(alone: &Alone) -> Message {
    let verdict = match alone.verdict {
        Verdict::Better => "detail-against.more",
        Verdict::Worse => "detail-against.less",
        Verdict::Equivalent => "detail-against.same",
        Verdict::Undecided => "detail-against.undecided",
    };
    let reached = alone
        .gain
        .confidence
        .filter(|_| alone.gain.interval.is_some());
    let sentence = say("detail-against")
        .with("gain", quantity::estimate_with_interval(&alone.gain))
        .with(
            "ends",
            shared_wording::ends(alone.nic.as_deref(), alone.address),
        )
        .with("rate", quantity::estimate(&alone.rate))
        .with("verdict", say(verdict));
    sentence.with_known("confidence", reached.map(quantity::share))
}

fn transfers(analysis: &RunAnalysis) -> Vec<String> {
    let transfers = analysis.diagnosis.iter().flat_map(|found| &found.transfers);
    transfers.map(transfer).collect()
}

fn transfer(transfer: &Transfer) -> String {
    let mut parts = connection(transfer);
    parts.extend(congestion_control(transfer));
    parts.extend(limit(transfer.limited_by).map(text));
    parts.extend(transfer.hosts.iter().map(host));
    if transfer.rung == Rung::SmallFiles && !transfer.hosts.is_empty() {
        parts.push(text("detail-transfer.whole-trial"));
    }
    let sentence = say("detail-transfer")
        .with("rung", rung(transfer.rung))
        .with("direction", transfer.direction)
        .with("parts", parts.join(", "));
    said(&sentence)
}

/// What our end of the connections counted.
fn connection(transfer: &Transfer) -> Vec<String> {
    let time = transfer.round_trip_nanoseconds.map(|time| {
        let time = quantity::duration(Nanoseconds::new(time));
        say("detail-transfer.round-trip").with("time", time)
    });
    let window = transfer.window_bytes.zip(transfer.path_bytes);
    let window = window.map(|(window, path)| {
        say("detail-transfer.window")
            .with("window", quantity::size(Bytes::new(window)))
            .with("path", quantity::size(Bytes::new(path)))
    });
    let segment = transfer
        .segment_bytes
        .map(|bytes| say("detail-transfer.segment").with("bytes", bytes.to_string()));
    let resent = transfer
        .retransmits
        .map(|count| say("detail-transfer.resent").with("count", count.to_string()));
    let parts = [time, window, segment, resent].into_iter().flatten();
    parts.map(|part| said(&part)).collect()
}

const fn limit(limited_by: LimitedBy) -> Option<&'static str> {
    match limited_by {
        LimitedBy::Sender => Some("detail-transfer.limited-by-sender"),
        LimitedBy::Receiver => Some("detail-transfer.limited-by-receiver"),
        LimitedBy::Network => Some("detail-transfer.limited-by-network"),
        LimitedBy::Unknown => None,
    }
}

fn rung(rung: Rung) -> String {
    match rung {
        Rung::Tcp => shared_wording::rung(RungName::Tcp),
        Rung::Streams => shared_wording::rung(RungName::Streams),
        Rung::Share => shared_wording::rung(RungName::Share),
        Rung::Channels => shared_wording::rung(RungName::Channels),
        Rung::SystemClient => shared_wording::rung(RungName::SystemClient),
        Rung::SystemProgram => shared_wording::rung(RungName::SystemProgram),
        Rung::SystemCopy => shared_wording::rung(RungName::SystemCopy),
        Rung::Disk => shared_wording::rung(RungName::Disk),
        Rung::Copy => shared_wording::rung(RungName::Copy),
        Rung::RoundTrip => text("detail-rung.round-trip"),
        Rung::SmallFiles => text("detail-rung.small-files"),
    }
}

/// What our connections use was seen; of the far end its host's setting is known at most.
fn congestion_control(transfer: &Transfer) -> Option<String> {
    let literal = |name: &String| format!("`{name}`");
    let near: Vec<String> = transfer.congestion_control.iter().map(literal).collect();
    let near = (!near.is_empty()).then(|| near.join(", "));
    let far = transfer.far_congestion_control.as_ref().map(literal);
    let sentence = match (near, far) {
        (Some(near), Some(far)) => say("detail-congestion-control.both")
            .with("near", near)
            .with("far", far),
        (Some(near), None) => say("detail-congestion-control.near").with("near", near),
        (None, Some(far)) => say("detail-congestion-control.far").with("far", far),
        (None, None) => return None,
    };
    Some(said(&sentence))
}

fn host(effort: &HostEffort) -> String {
    let share = |id, share| said(&say(id).with("share", quantity::round_share(share)));
    let mut parts = vec![
        share("detail-host.fullest-processor", effort.fullest_processor),
        share("detail-host.soft-interrupts", effort.softirq),
    ];
    for (count, id) in [
        (effort.dropped, "detail-count.dropped"),
        (effort.resent, "count.resent"),
        (effort.pauses, "detail-count.pauses"),
    ] {
        let count = count.filter(|count| *count > 0);
        parts.extend(count.map(|count| said(&say(id).count("count", count))));
    }
    let throttled = effort.throttled.filter(|share| *share > 0.0);
    parts.extend(throttled.map(|stopped| share("detail-host.stopped", stopped)));
    format!("{} ({})", effort.host, parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_that_vanish_are_told_as_far_as_they_were_counted() {
        let one_end = Vanished {
            size: 9000,
            sent: 5,
            near_refused: Some(0),
            ..Vanished::default()
        };
        assert_eq!(
            who_saw(one_end).as_deref(),
            Some("of 5 of 9000 bytes that our end sent, 0 were refused as faulty by our NIC")
        );
        let both = Vanished {
            seen_by_server: Some(0),
            seen_by_client: Some(5),
            ..one_end
        };
        assert_eq!(
            who_saw(both).as_deref(),
            Some(
                "of 5 of 9000 bytes that each end sent, 0 reached the server's system, 5 of the server's reached \
                 ours, 0 were refused as faulty by our NIC"
            )
        );
        assert_eq!(who_saw(Vanished::default()), None);
    }
}
