//! What is measured of a trial, as a column of a table.

use record::Response;

use super::Seen;
use crate::trial_rate_and_cost::{self, served_per_byte};
use stats::Unit;

/// Something that is measured of a trial, as a column of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    Rate,
    Cpu,
    ServerCpu,
    Latency,
    Retransmits,
}

impl Quantity {
    /// What a rate costs.
    pub(super) const COSTS: [Self; 4] =
        [Self::Cpu, Self::ServerCpu, Self::Latency, Self::Retransmits];

    /// The end of its column's name, which tells its unit.
    const fn suffix(self, rates: Unit) -> &'static str {
        match self {
            Self::Rate => match rates {
                Unit::OperationsPerSecond => "operations_s",
                Unit::FramesPerSecond => "frames_s",
                _ => "mb_s",
            },
            Self::Cpu => "cpu_s_per_gb",
            Self::ServerCpu => "server_cpu_s_per_gb",
            Self::Latency => "latency_p99_ms",
            Self::Retransmits => "retransmits",
        }
    }

    pub(super) fn of(self, seen: &Seen<'_>) -> Option<f64> {
        let result = seen.result;
        match self {
            Self::Rate => Some(in_table(seen.unit, seen.rate)),
            // Nanoseconds a byte are seconds a gigabyte.
            Self::Cpu if seen.unit == Unit::BytesPerSecond => {
                Some(result.cpu().get() as f64 / result.bytes().get() as f64)
            }
            Self::ServerCpu if seen.unit == Unit::BytesPerSecond => {
                Some(served_per_byte(seen.loads, seen.rate)? * 1e9)
            }
            Self::Cpu | Self::ServerCpu => None,
            Self::Latency => Some(result.latency?.p99.get() as f64 / 1e6),
            Self::Retransmits => {
                let ours = result.samples.iter().map(|one| one.retransmits);
                let ours = ours.reduce(|one, other| Some(one?.saturating_add(other?)));
                let all = ours.flatten().into_iter().chain(result.far_retransmits);
                all.reduce(u64::saturating_add).map(|count| count as f64)
            }
        }
    }
}

/// A rate in the unit of its column.
pub(super) fn in_table(unit: Unit, rate: f64) -> f64 {
    match unit {
        Unit::BytesPerSecond => rate / 1e6,
        _ => rate,
    }
}

/// The name of a response's column.
pub(super) fn column(response: &Response, quantity: Quantity) -> String {
    let suffix = quantity.suffix(trial_rate_and_cost::unit(&response.workload));
    format!("{} {suffix}", response.name)
}
