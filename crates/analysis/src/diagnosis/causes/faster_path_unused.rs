//! A pair of NICs that is faster than the one in use.

use locale::say;
use record::{Direction, ProbeKind, Rung, Target, Value};

use super::{Advice, Decider, Evidence, FASTER, Finding, PairRate, ReturnPath, setting};
use crate::RungName;
use crate::diagnosis::nic_pairs::Pair;
use crate::rung_and_probe_verdict::Loss;
use stats::Unit;
use stats::computed;

/// How much higher the metric of a slow NIC's routes is to be than that of a fast one's.
const METRIC_STEP: i64 = 100;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    answered_by_a_slower_one(seen).or_else(|| another_is_faster(seen))
}

/// What the server sends comes in by a slower NIC than the one that it is called from.
fn answered_by_a_slower_one(seen: &Evidence) -> Option<Finding> {
    let ReturnPath { called, answers } = seen.slower_return_path()?;
    let (fast, fast_bits) = called;
    let (slow, slow_bits) = answers;
    let text = say("faster-path-unused.back")
        .with("slow", &slow.name)
        .bits("slow_rate", slow_bits)
        .with("fast", &fast.name)
        .bits("fast_rate", fast_bits);
    let caveat = say("gain-caveat.at-most");
    let gain = computed(
        fast_bits as f64 / slow_bits as f64,
        Unit::Ratio,
        vec![caveat],
    );
    let ours = seen.used.first()?.own_address();
    let look = ours.map(|address| format!("ip route get {address}  # at the server"));
    let advice = Advice::new(say("fix.path-back").with("fast", &fast.name))
        .gains(Some(gain))
        .commands(look);
    let lost = seen.first_loss().map(|rung| rung.direction);
    let is_other = lost.is_some_and(|lost| lost != Direction::Read);
    Some(Finding::counted(text, advice).off_path_if(is_other))
}

/// Another pair of NICs is faster than the one in use.
fn another_is_faster(seen: &Evidence) -> Option<Finding> {
    let faster = faster(seen)?;
    let (pair, current) = (&faster.pair, &faster.current);
    let text = say("faster-path-unused")
        .with("current", current.name())
        .bits("used", faster.used.bits())
        .with("pair", pair.name())
        .bits("rate", faster.rate.bits());
    let ratio = computed(
        faster.rate.bits() as f64 / faster.used.bits() as f64,
        Unit::Ratio,
        vec![match (faster.used, faster.rate) {
            (PairRate::Known(_), PairRate::Known(_)) => "the ratio of the two line rates".into(),
            _ => "the ratio of what is known of the two rates".into(),
        }],
    );
    let is_up_to_routes = is_up_to_routes(current, pair);
    let advice = match is_up_to_routes {
        true => lower_metric(seen, &faster),
        false => Advice::new(say("fix.faster-address").with("remote", pair.remote))
            .elsewhere(seen.share_at(pair.remote)),
    };
    let advice = advice.gains(Some(ratio));
    // What a pair carried it can carry; what the one in use carried may not be all.
    let lost = seen.first_loss().map(|rung| rung.rung);
    let is_full = !matches!(lost, Some(RungName::Tcp | RungName::Share));
    let is_known = matches!(faster.used, PairRate::Known(_)) && is_full;
    let probed = seen.probed(ProbeKind::Path, Rung::Share);
    let found = match probed.map(|it| it.loss) {
        Some(Loss::Loses) => Finding::counted(text, advice),
        _ if is_known => Finding::counted(text, advice),
        _ if is_up_to_routes => Finding::suspected(text, Decider::Tune, advice),
        _ => Finding::suspected(text, Decider::Elsewhere, advice),
    };
    // A link that is not filled is not what holds the share back, nor is one that several channels use what holds these back.
    let is_of_all = lost == Some(RungName::Channels);
    Some(found.off_path_if(!is_full || is_of_all))
}

struct Faster<'a> {
    pair: Pair<'a>,
    rate: PairRate,
    current: Pair<'a>,
    used: PairRate,
}

/// Whether the client's routes choose between its two NICs, whatever address it calls.
fn is_up_to_routes(current: &Pair, other: &Pair) -> bool {
    let mut entries = current.near.addresses.iter();
    current.near.index != other.near.index
        && (current.remote == other.remote || entries.any(|entry| entry.contains(other.remote)))
}

fn faster<'a>(seen: &Evidence<'a>) -> Option<Faster<'a>> {
    let current = *seen.used.first()?;
    let used = seen.used.iter();
    let known = used.filter_map(|pair| seen.pair_bits(pair)).max();
    let used = known.map(PairRate::Known).or_else(|| {
        // Raw TCP moves what a line carries, unless a processor is what it waits for.
        let is_clear = seen.full_host().is_none() && seen.busy_channel().is_none();
        let is_raw = |rung: Rung| matches!(rung, Rung::Tcp | Rung::Streams);
        let bits = seen.carried(&current, is_raw).filter(|_| is_clear)?;
        Some(PairRate::Carried(bits))
    })?;
    let pairs = seen.network.all_pairs(&seen.used).into_iter();
    let (pair, rate) = pairs
        .filter(|pair| !seen.used.contains(pair) && !seen.is_dead(pair.near, pair.remote))
        .filter_map(|pair| Some((pair, seen.pair_rate(&pair)?)))
        // Of several as fast, one that needs nothing but another address.
        .max_by_key(|(pair, rate)| (rate.bits(), !is_up_to_routes(&current, pair)))?;
    let is_faster = rate.bits() as f64 >= used.bits() as f64 * FASTER;
    is_faster.then_some(Faster {
        pair,
        rate,
        current,
        used,
    })
}

/// What to do where both NICs of the client are in the server's subnet, so that another address of it is
/// reached by the same one as before.
fn lower_metric(seen: &Evidence, faster: &Faster) -> Advice {
    let (slow, fast) = (faster.current.near, faster.pair.near);
    let routes = seen
        .network
        .client
        .into_iter()
        .flat_map(|host| &host.routes);
    let of_fast = routes.filter(|route| route.nic == fast.name);
    let metric = of_fast.filter_map(|route| route.metric).max().unwrap_or(0);
    let text = say("fix.lower-metric")
        .with("slow", &slow.name)
        .with("fast", &fast.name);
    Advice::new(text).sets(setting(
        seen.network.client,
        Target::Nic(slow.name.clone()),
        "route.interface_metric",
        Value::Integer(i64::from(metric) + METRIC_STEP),
    ))
}
