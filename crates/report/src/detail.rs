//! What `check -v` and the report say beyond the verdict: the way, the packets, the session, the
//! channels of several clients, TCP and the hosts.

use analysis::{
    Alone, ClientChannels, HostEffort, LimitedBy, Multichannel, RunAnalysis, RungName, Transfer,
};
use record::{Bytes, MtuProof, Nanoseconds, NeighbourLook, Rung, SmbSession, Vanished};
use stats::Verdict;

use crate::page::{Ink, Look, Page};
use crate::{quantity, view};

/// Several lines under a title.
pub(crate) struct Detail {
    pub(crate) title: &'static str,
    pub(crate) lines: Vec<String>,
}

/// The details of a run for the terminal; empty where there are none.
#[must_use]
pub fn details(analysis: &RunAnalysis, look: Look) -> String {
    let mut page = Page::new(look);
    for detail in all(analysis) {
        page.heading(detail.title);
        for line in &detail.lines {
            page.paragraph(2, 4, &[(Ink::Plain, "-"), (Ink::Plain, line)]);
        }
    }
    page.finish()
}

/// All details that there are.
pub(crate) fn all(analysis: &RunAnalysis) -> Vec<Detail> {
    let details = [
        ("routes and interfaces", routes(analysis)),
        ("packets that pass", packets(analysis)),
        ("neighbours on the same segment", neighbours(analysis)),
        ("the session", sessions(analysis)),
        ("disks and small files", view::files(analysis)),
        ("channels that clients would open", clients(analysis)),
        ("what each channel carried", channels(analysis)),
        ("TCP and the hosts at each rung", transfers(analysis)),
    ];
    details
        .into_iter()
        .filter(|(_, lines)| !lines.is_empty())
        .map(|(title, lines)| Detail { title, lines })
        .collect()
}

fn routes(analysis: &RunAnalysis) -> Vec<String> {
    let Some(look) = &analysis.look else {
        return Vec::new();
    };
    let routes = look.addresses.iter().map(|route| {
        let nic = route
            .nic
            .as_deref()
            .map_or("no known interface".to_owned(), |nic| format!("`{nic}`"));
        let router = route.gateway.map_or_else(
            || "without a router".to_owned(),
            |router| format!("over the router `{router}`"),
        );
        format!("`{}` is reached by {nic}, {router}", route.address)
    });
    let mut lines: Vec<String> = routes.collect();
    for host in &analysis.facts {
        for nic in &host.nics {
            let speed = nic.shaped.or(nic.speed);
            let speed = speed.map_or("of unknown speed".to_owned(), quantity::line_rate);
            let kind = nic
                .kind
                .as_deref()
                .map_or_else(String::new, |kind| format!(", {kind}"));
            lines.push(format!(
                "{}: `{}` {speed}, MTU {}{kind}",
                host.name, nic.name, nic.mtu
            ));
        }
    }
    lines
}

fn packets(analysis: &RunAnalysis) -> Vec<String> {
    let proofs = analysis.look.iter().flat_map(|look| &look.mtus);
    proofs.map(packet).collect()
}

fn neighbours(analysis: &RunAnalysis) -> Vec<String> {
    let neighbours = analysis.look.iter().flat_map(|look| &look.neighbours);
    neighbours.map(neighbour).collect()
}

fn neighbour(look: &NeighbourLook) -> String {
    let said = match look.answered {
        None => "answers no echo request".to_owned(),
        Some(answered) if look.takes_less() => {
            format!("answers {answered} bytes and not {}", look.tried)
        }
        Some(answered) => format!("answers {answered} bytes, the most that our end sends"),
    };
    format!("`{}` behind `{}` {said}", look.address, look.nic)
}

fn packet(proof: &MtuProof) -> String {
    let remote = proof
        .remote
        .map_or("the server".to_owned(), |it| format!("`{it}`"));
    let pair = format!("`{}` to {remote}", proof.nic);
    let Some(most) = proof.path_mtu() else {
        return format!("{pair}: no probe was answered, so nothing is proven");
    };
    let back = match proof.back {
        Some(back) => format!(", and {back} were seen to come back from there"),
        None if proof.one_way => {
            " there (what comes back is not proven: the far end answers no echo requests of that size, and its \
             TCP was asked instead)"
                .to_owned()
        }
        None => String::new(),
    };
    let far = proof
        .far_mtu
        .map_or_else(String::new, |far| format!(", the far end takes {far}"));
    let verdict = if proof.is_black_hole() {
        "; larger ones vanish without a word"
    } else if proof.told && most < proof.wanted() {
        "; a router says of larger ones that they are too big"
    } else {
        ""
    };
    let counted = proof.vanished.map_or_else(String::new, counted);
    format!(
        "{pair}: {most} bytes pass{back}; our end takes {}{far}{verdict}{counted}",
        proof.near_mtu
    )
}

/// Who still saw packets that vanish.
fn counted(vanished: Vanished) -> String {
    let seen = |count: Option<u64>, whom: &str| count.map(|count| format!("{count} {whom}"));
    let counts = [
        seen(vanished.there, "reached the server's system"),
        seen(vanished.back, "of the server's reached ours"),
        seen(vanished.near_refused, "were refused as faulty by our NIC"),
        seen(
            vanished.far_refused,
            "were refused as faulty by the server's NIC",
        ),
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    match counts.is_empty() {
        true => String::new(),
        false => format!(
            " (of {} of {} bytes that {} sent, {})",
            vanished.sent,
            vanished.size,
            vanished.back.map_or("our end", |_| "each end"),
            counts.join(", ")
        ),
    }
}

fn sessions(analysis: &RunAnalysis) -> Vec<String> {
    let mut lines = view::sessions(analysis);
    let last = analysis.sessions.last().map(|kind| &kind.agreed);
    let agreed = last.or(analysis
        .look
        .as_ref()
        .and_then(|look| look.session.as_ref()));
    lines.extend(agreed.into_iter().flat_map(session));
    if let Some(request) = analysis
        .diagnosis
        .as_ref()
        .and_then(|found| found.request.as_ref())
    {
        lines.push(format!(
            "one small request takes {}",
            quantity::estimate(request)
        ));
    }
    lines
}

fn session(agreed: &SmbSession) -> Vec<String> {
    let mut lines = vec![format!(
        "the server takes reads of {} and writes of {} at once",
        quantity::size(agreed.read_max),
        quantity::size(agreed.write_max)
    )];
    if let Some(credits) = agreed.credits {
        let worth = Bytes::new(credits.saturating_mul(64 << 10));
        lines.push(format!(
            "{credits} credits, worth {}",
            quantity::size(worth)
        ));
    }
    lines.extend(agreed.server_interfaces.iter().map(|entry| {
        let rss = if entry.rss { "with RSS" } else { "without RSS" };
        format!(
            "the server lists `{}` at {} {rss}",
            entry.address,
            quantity::line_rate(entry.speed)
        )
    }));
    lines
}

fn clients(analysis: &RunAnalysis) -> Vec<String> {
    let clients = analysis.diagnosis.iter().flat_map(|found| &found.clients);
    clients.flat_map(client).collect()
}

fn client(client: &ClientChannels) -> Vec<String> {
    let pairs: Vec<String> = client
        .pairs
        .iter()
        .map(|pair| {
            format!(
                "{} over `{}` to `{}`",
                pair.channels, pair.nic, pair.address
            )
        })
        .collect();
    let remark = client
        .remark
        .as_ref()
        .map_or_else(String::new, |remark| format!(" ({remark})"));
    let pairs = if pairs.is_empty() {
        "one, as it came".to_owned()
    } else {
        pairs.join(", ")
    };
    let mut lines = vec![format!("{}: {pairs}{remark}", client.client)];
    lines.extend(
        client
            .unused
            .iter()
            .map(|unused| format!("{}: not {}: {}", client.client, unused.pair, unused.reason)),
    );
    lines
}

fn channels(analysis: &RunAnalysis) -> Vec<String> {
    let ways = analysis.diagnosis.iter();
    let mut lines: Vec<String> = ways
        .flat_map(|found| &found.multichannel)
        .flat_map(several)
        .collect();
    if !lines.is_empty() {
        lines.push(
            "measured: what each channel carried while all were in use, and all of them against one alone; not \
             measured: what there would be without any other one of them"
                .to_owned(),
        );
    }
    lines
}

/// What several channels carried together, and each of them.
fn several(several: &Multichannel) -> Vec<String> {
    let way = view::direction(several.direction);
    let count = several.channels.len();
    let against = several.alone.as_ref().map_or_else(String::new, against);
    let trials = view::counted(several.rate.n, "trial", "trials");
    let mut lines = vec![format!(
        "{way}: all {count} together {} in {trials}{against}",
        quantity::estimate_with_interval(&several.rate)
    )];
    lines.extend(several.channels.iter().map(|channel| {
        let line = view::filled(channel);
        format!(
            "{way}: {} carried {}, {} of the whole{line}",
            view::channel(channel),
            quantity::estimate_with_interval(&channel.rate),
            quantity::share(channel.share.value),
        )
    }));
    lines
}

fn against(alone: &Alone) -> String {
    let verdict = match alone.verdict {
        Verdict::Better => "more, by over a tenth",
        Verdict::Worse => "less, by over a tenth",
        Verdict::Equivalent => "the same within a tenth",
        Verdict::Undecided => "which cannot be told from the same",
    };
    let reached = alone
        .gain
        .confidence
        .filter(|_| alone.gain.interval.is_some());
    let reached = reached.map_or_else(String::new, |reached| {
        format!(" at {}", quantity::share(reached))
    });
    format!(
        ", {}{reached} of one alone ({}, {}): {verdict}",
        quantity::estimate_with_interval(&alone.gain),
        view::ends(alone.nic.as_deref(), alone.address),
        quantity::estimate(&alone.rate),
    )
}

fn transfers(analysis: &RunAnalysis) -> Vec<String> {
    let transfers = analysis.diagnosis.iter().flat_map(|found| &found.transfers);
    transfers.map(transfer).collect()
}

fn transfer(transfer: &Transfer) -> String {
    let mut parts = Vec::new();
    if let Some(time) = transfer.round_trip_nanoseconds {
        parts.push(format!(
            "round trip {}",
            quantity::duration(Nanoseconds::new(time))
        ));
    }
    if let (Some(window), Some(path)) = (transfer.window_bytes, transfer.path_bytes) {
        let (window, path) = (Bytes::new(window), Bytes::new(path));
        parts.push(format!(
            "window {} for {} under way",
            quantity::size(window),
            quantity::size(path)
        ));
    }
    if let Some(segment) = transfer.segment_bytes {
        parts.push(format!("segments of {segment} bytes"));
    }
    if let Some(resent) = transfer.retransmits {
        parts.push(format!("{resent} sent again by us"));
    }
    parts.extend(congestion_control(transfer));
    match transfer.limited_by {
        LimitedBy::Sender => parts.push("limited by our send buffer".into()),
        LimitedBy::Receiver => parts.push("limited by the receiver's window".into()),
        LimitedBy::Network => parts.push("limited by the network".into()),
        LimitedBy::Unknown => {}
    }
    parts.extend(transfer.hosts.iter().map(host));
    if transfer.rung == Rung::SmallFiles && !transfer.hosts.is_empty() {
        parts.push("the hosts over the whole trial, which makes and removes the files".into());
    }
    format!(
        "{} {}: {}",
        rung(transfer.rung),
        view::direction(transfer.direction),
        parts.join(", ")
    )
}

const fn rung(rung: Rung) -> &'static str {
    match rung {
        Rung::Tcp => view::rung(RungName::Tcp),
        Rung::Streams => view::rung(RungName::Streams),
        Rung::Share => view::rung(RungName::Share),
        Rung::Channels => view::rung(RungName::Channels),
        Rung::Disk => view::rung(RungName::Disk),
        Rung::Copy => view::rung(RungName::Copy),
        Rung::RoundTrip => "round trip",
        Rung::SmallFiles => "small files",
    }
}

/// What our connections use was seen; of the far end its host's setting is known at most.
fn congestion_control(transfer: &Transfer) -> Option<String> {
    let literal = |name: &String| format!("`{name}`");
    let near: Vec<String> = transfer.congestion_control.iter().map(literal).collect();
    let near = (!near.is_empty()).then(|| format!("{} at our end", near.join(", ")));
    let far = transfer.far_congestion_control.as_ref();
    let far = far.map(|name| format!("`{name}` set at the server's host"));
    let ends: Vec<String> = near.into_iter().chain(far).collect();
    (!ends.is_empty()).then(|| format!("congestion control {}", ends.join(" and ")))
}

fn host(effort: &HostEffort) -> String {
    let mut parts = vec![
        format!(
            "fullest processor {}",
            quantity::round_share(effort.fullest_processor)
        ),
        format!("soft interrupts {}", quantity::round_share(effort.softirq)),
    ];
    for (count, one, many) in [
        (effort.dropped, "packet dropped", "packets dropped"),
        (effort.resent, "segment sent again", "segments sent again"),
        (effort.pauses, "pause frame", "pause frames"),
    ] {
        let count = count.filter(|count| *count > 0);
        parts.extend(
            count.map(|count| {
                view::counted(usize::try_from(count).unwrap_or(usize::MAX), one, many)
            }),
        );
    }
    if let Some(share) = effort.throttled.filter(|share| *share > 0.0) {
        parts.push(format!(
            "stopped by a limit {}",
            quantity::round_share(share)
        ));
    }
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
            counted(one_end),
            " (of 5 of 9000 bytes that our end sent, 0 were refused as faulty by our NIC)"
        );
        let both = Vanished {
            there: Some(0),
            back: Some(5),
            ..one_end
        };
        assert_eq!(
            counted(both),
            " (of 5 of 9000 bytes that each end sent, 0 reached the server's system, 5 of the server's reached \
             ours, 0 were refused as faulty by our NIC)"
        );
        assert_eq!(counted(Vanished::default()), "");
    }
}
