//! The hosts at both ends, and their NICs.

use locale::{counted, said, say, text};
use maud::{Markup, html};
use record::{HostFacts, LinkState, Nic};

use crate::quantity;

/// Offloads that decide how many packets the processor sees; the others are noise to a reader.
const OFFLOADS: [(&str, &str); 4] = [
    ("tcp-segmentation-offload", "TSO"),
    ("generic-segmentation-offload", "GSO"),
    ("generic-receive-offload", "GRO"),
    ("large-receive-offload", "LRO"),
];

pub(super) fn hosts(facts: &[HostFacts]) -> Markup {
    html! {
        details {
            summary { (text("page.hosts")) }
            @if facts.is_empty() { p { (text("page.no-host")) } }
            @for (index, host) in facts.iter().enumerate() {
                h4 { (text(if index == 0 { "page.client" } else { "page.server" })) " " code { (host.name) } }
                p.small.quiet { (host_line(host)) }
                (nic_table(&host.nics))
            }
        }
    }
}

fn host_line(host: &HostFacts) -> String {
    let mut parts = vec![
        said(&say("page.kernel").with("kernel", &host.kernel)),
        counted("count.cores", host.cores as usize),
    ];
    if let Some(memory) = host.memory {
        parts.push(said(
            &say("page.memory").with("size", quantity::size(memory)),
        ));
    }
    if let Some(control) = &host.tcp.congestion_control {
        parts.push(said(&say("page.congestion-control").with("name", control)));
    }
    if let Some([_, _, largest]) = host.tcp.receive_buffer {
        let size = quantity::size(record::Bytes::new(largest));
        parts.push(said(&say("page.receive-buffer").with("size", size)));
    }
    parts.join(" · ")
}

fn nic_table(nics: &[Nic]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead {
                    tr {
                        th { "NIC" } th { (text("column.link")) } th.n { (text("column.speed")) } th.n { "MTU" } th { (text("column.addresses")) } th { (text("column.driver")) }
                        th.n { (text("column.queues")) }
                        @for (_, short) in OFFLOADS { th { (short) } }
                    }
                }
                tbody { @for nic in nics { (nic_row(nic)) } }
            }
        }
    }
}

fn nic_row(nic: &Nic) -> Markup {
    let state = text(match nic.state {
        LinkState::Up => "state.up",
        LinkState::Down => "state.down",
        LinkState::Unknown => "state.unknown",
    });
    let count =
        |count: Option<u32>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    html! {
        tr {
            td { (nic.name) }
            td { (state) }
            td.n {
                (nic.speed.map_or_else(|| quantity::UNKNOWN.to_owned(), quantity::line_rate))
                @if let Some(shaped) = nic.shaped { br; span.quiet { (said(&say("page.shaped").with("rate", quantity::line_rate(shaped)))) } }
            }
            td.n { (nic.mtu) }
            td.w { @for address in &nic.addresses { div { (address.address) "/" (address.prefix) } } }
            td { (nic.driver.as_deref().unwrap_or(quantity::UNKNOWN)) }
            td.n { (count(nic.rx_queues)) "/" (count(nic.tx_queues)) }
            @for (long, _) in OFFLOADS {
                td { @match nic.offloads.get(long) { Some(offload) => (text(if offload.on { "state.on" } else { "state.off" })), None => "?" } }
            }
        }
    }
}
