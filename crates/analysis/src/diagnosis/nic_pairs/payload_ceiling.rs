//! What fits through pairs of NICs, in payload bytes per second.

use locale::{Message, say};
use record::Direction;
use stats::{Estimate, Unit, computed};

use super::line_speeds::{ONLY_ADVERTISED, WIRE_BYTES};
use super::{FarEnd, Network, Pair};
use crate::Ceiling;

/// What fits through a pair, in payload bytes per second, and why.
struct Limit {
    rate: f64,
    because: Message,
    caveats: Vec<Message>,
}

impl<'a> Network<'a> {
    /// What fits through a pair at its own MTU or another one.
    fn limit(&self, pair: &Pair<'_>, direction: Direction, mtu: Option<u32>) -> Option<Limit> {
        let mtu = mtu.unwrap_or_else(|| pair.mtu());
        let headers = self.headers(pair.remote);
        let line = self.lines(pair, direction).into_iter().min_by(|one, two| {
            f64::total_cmp(&one.payload(mtu, headers), &two.payload(mtu, headers))
        })?;
        let rate = line.payload(mtu, headers);
        let because = match line.overhead == WIRE_BYTES {
            true => say("ceiling-because.line"),
            false => say("ceiling-because.shaper"),
        };
        let because = because
            .with("pair", pair.name())
            .bits("rate", line.bits)
            .count("mtu", mtu)
            .count("payload", mtu.saturating_sub(headers))
            .count("whole", mtu.saturating_add(line.overhead));
        let mut caveats: Vec<Message> = line.caveat.map(say).into_iter().collect();
        if !matches!(pair.far, FarEnd::Nic(_)) {
            caveats.push(say("ceiling-caveat.far-mtu"));
        }
        (rate > 0.0).then_some(Limit {
            rate,
            because,
            caveats,
        })
    }

    /// The ceiling of one direction: the lowest that any trial's pairs allow. A trial that spread
    /// over several NICs has the sum of them, at the end where that is less.
    pub(in crate::diagnosis) fn ceiling(
        &self,
        direction: Direction,
        trials: &[Vec<Pair<'a>>],
        mtu: Option<u32>,
    ) -> Option<Ceiling> {
        trials
            .iter()
            .filter_map(|pairs| self.together(pairs, direction, mtu))
            .min_by(|one, two| f64::total_cmp(&one.rate, &two.rate))
            .map(|limit| Ceiling {
                rate: computed(limit.rate, Unit::BytesPerSecond, limit.caveats),
                because: limit.because,
            })
    }

    fn together(
        &self,
        pairs: &[Pair<'a>],
        direction: Direction,
        mtu: Option<u32>,
    ) -> Option<Limit> {
        let limits: Option<Vec<(Pair<'a>, Limit)>> = pairs
            .iter()
            .map(|pair| self.limit(pair, direction, mtu).map(|limit| (*pair, limit)))
            .collect();
        let limits = limits.filter(|limits| !limits.is_empty())?;
        let near = sum_of_groups(&limits, |one, two| one.near.index == two.near.index);
        let far = sum_of_groups(&limits, |one, two| one.same_far(two));
        let mut caveats: Vec<Message> = Vec::new();
        let mut reasons: Option<Message> = None;
        for (_, limit) in limits {
            reasons = Some(match reasons {
                None => limit.because,
                Some(first) => say("ceiling-because.both")
                    .with("first", first)
                    .with("second", limit.because),
            });
            for caveat in limit.caveats {
                if !caveats.contains(&caveat) {
                    caveats.push(caveat);
                }
            }
        }
        Some(Limit {
            rate: near.min(far),
            because: reasons?,
            caveats,
        })
    }
}

/// Whether a ceiling is only what the server advertises, so that nothing loses for being below it.
pub(in crate::diagnosis) fn is_only_advertised(ceiling: &Estimate) -> bool {
    ceiling
        .caveats
        .iter()
        .any(|caveat| caveat.id == ONLY_ADVERTISED)
}

fn sum_of_groups(limits: &[(Pair<'_>, Limit)], same: impl Fn(&Pair<'_>, &Pair<'_>) -> bool) -> f64 {
    let mut sum = 0.0;
    for (index, (pair, _)) in limits.iter().enumerate() {
        if limits[..index]
            .iter()
            .any(|(earlier, _)| same(earlier, pair))
        {
            continue;
        }
        let group = limits.iter().filter(|(other, _)| same(other, pair));
        sum += group.map(|(_, limit)| limit.rate).fold(0.0, f64::max);
    }
    sum
}
