//! Looks for further paths to the server while a session works: a cable is put in, a NIC comes up at
//! either end or gets another address, an address answers by now that did not before.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use smb_proto::multichannel_plan::{
    LinerateRules, LocalNic, Pair, Plan, Reject, RejectReason, Rules, ServerInterface, plan,
};
use smb_proto::session::{Reply, Request};

use crate::blocking_request::ask;
use crate::dfs::is_of_another_machine;
use crate::error::Error;
use crate::list_and_connect_shares::IPC_SHARE;
use crate::reconnect::{is_final, jittered};
use crate::session::{ChannelsMax, Route, Shared, local_nics};
use crate::signal::Signal;
use crate::std_or_shuttle::atomic::Ordering;
use crate::std_or_shuttle::now;
use crate::tree::Tree;

/// How often this machine's NICs are looked at, which costs next to nothing.
const NICS_EVERY: Duration = Duration::from_secs(5);
/// The server is asked so long after it was asked first; each time it has nothing new, twice as
/// long passes.
const WAIT_FIRST: Duration = Duration::from_secs(1);
const WAIT_MAX: Duration = Duration::from_secs(600);

/// The server's list of its own interfaces.
pub(crate) fn interfaces(shared: &Arc<Shared>) -> Result<Vec<ServerInterface>, Error> {
    let ipc = Tree::connect(shared, IPC_SHARE)?;
    let request = Request::Interfaces { tree: ipc.key() };
    match ask(shared, request, "the list of interfaces")? {
        Reply::Interfaces(interfaces) => Ok(interfaces),
        _ => Err(shared.odd_answer()),
    }
}

/// What of a server's list is not of this machine, unless the server that the user named is on it too: no server is
/// to have us log in at what listens here.
fn elsewhere(
    interfaces: &[ServerInterface],
    nics: &[LocalNic],
    primary: Pair,
) -> (Vec<ServerInterface>, Vec<Reject>) {
    let here: Vec<IpAddr> = (nics.iter())
        .flat_map(|nic| nic.addresses.iter().map(|address| address.address))
        .collect();
    let may = |it: &&ServerInterface| {
        // What is no host is left to the plan, which says so.
        let is_host = !it.address.is_unspecified() && !it.address.is_multicast();
        !is_host || is_of_another_machine(it.address, Some(primary.remote), &here)
    };
    let (there, refused): (Vec<&ServerInterface>, Vec<&ServerInterface>) =
        interfaces.iter().partition(may);
    let refused = refused.iter().map(|it| Reject {
        local: None,
        remote: Some(it.address),
        reason: RejectReason::OfThisMachine,
    });
    (there.into_iter().copied().collect(), refused.collect())
}

/// Which channels to have, not more than so many.
pub(crate) fn plan_of(
    channels_max: usize,
    nics: &[LocalNic],
    interfaces: &[ServerInterface],
    primary: Pair,
) -> Plan {
    let rules = Rules::Linerate(LinerateRules {
        channels_max,
        ..LinerateRules::default()
    });
    let (there, refused) = elsewhere(interfaces, nics, primary);
    let mut plan = plan(&rules, nics, &there, primary);
    plan.rejects.extend(refused);
    plan
}

/// The NIC that has this end of a pair.
pub(crate) fn nic_of<'a>(pair: &Pair, nics: &'a [LocalNic]) -> Option<&'a str> {
    let has = |nic: &&LocalNic| {
        let mut addresses = nic.addresses.iter();
        addresses.any(|address| address.address == pair.local)
    };
    nics.iter().find(has).map(|nic| nic.name.as_str())
}

/// The thread.
pub(crate) fn run(shared: &Weak<Shared>, signal: &Signal, most: ChannelsMax) {
    let mut schedule = Schedule::new(now());
    // Who refused us for good is not asked again: it may be another host, and lock the account.
    let mut refused = BTreeSet::new();
    while let Some(shared) = shared.upgrade() {
        if shared.stopping.load(Ordering::SeqCst) || shared.protocol.is_over() {
            return;
        }
        let is_lost = shared.protocol.is_lost();
        if !is_lost && let Ok(nics) = local_nics() {
            let seen = Seen {
                nics,
                ended: shared.channels_ended(),
            };
            if schedule.is_due(now(), &seen) {
                seek(&shared, &seen.nics, most.of(&seen.nics), &mut refused);
            }
        }
        drop(shared);
        signal.wait_until(schedule.next_look(now(), is_lost));
    }
}

/// What makes it worth asking again when it changes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    nics: Vec<LocalNic>,
    /// Channels that were lost so far.
    ended: usize,
}

/// When the server is asked.
struct Schedule {
    seen: Option<Seen>,
    wait: Duration,
    due: Instant,
}

impl Schedule {
    /// It was asked a moment ago.
    fn new(now: Instant) -> Self {
        Self {
            seen: None,
            wait: WAIT_FIRST,
            due: now + WAIT_FIRST,
        }
    }

    fn is_due(&mut self, now: Instant, seen: &Seen) -> bool {
        if self.seen.as_ref().is_some_and(|before| before != seen) {
            (self.wait, self.due) = (WAIT_FIRST, now);
        }
        self.seen = Some(seen.clone());
        if now < self.due {
            return false;
        }
        self.due = now + jittered(self.wait);
        self.wait = (self.wait * 2).min(WAIT_MAX);
        true
    }

    /// When to look again. While all connections are lost the server is not asked, however long that is due.
    fn next_look(&self, now: Instant, is_lost: bool) -> Instant {
        match is_lost || self.due <= now {
            true => now + WAIT_FIRST,
            false => self.due.min(now + NICS_EVERY),
        }
    }
}

/// Asks for the server's list, and opens the channels that are missing. What fails is tried again
/// after the next answer.
fn seek(shared: &Arc<Shared>, nics: &[LocalNic], most: usize, refused: &mut BTreeSet<Pair>) {
    let held = || shared.routes().iter().filter(|it| it.is_alive()).count();
    let Some(primary) = shared.primary().filter(|_| held() < most) else {
        return;
    };
    let Ok(interfaces) = interfaces(shared) else {
        return;
    };
    let planned = plan_of(most, nics, &interfaces, primary).pairs;
    let has: Vec<Pair> = shared.routes().iter().filter_map(Route::pair).collect();
    for pair in missing(&planned, &has) {
        if shared.stopping.load(Ordering::SeqCst) || shared.protocol.is_lost() || held() >= most {
            return;
        }
        if refused.contains(&pair) {
            continue;
        }
        let route = Route::between(&pair, nic_of(&pair, nics), shared.server.port);
        match shared.open(&route) {
            Ok(_) => shared.forget_beyond(most, &planned),
            Err(error) if is_final(&error) => {
                refused.insert(pair);
            }
            Err(_) => {}
        }
    }
}

/// The pairs that there are not, or not often enough.
fn missing(planned: &[Pair], has: &[Pair]) -> Vec<Pair> {
    let mut has = has.to_vec();
    let mut missing = planned.to_vec();
    missing.retain(|pair| match has.iter().position(|other| other == pair) {
        Some(place) => {
            has.swap_remove(place);
            false
        }
        None => true,
    });
    missing
}

#[cfg(test)]
mod tests {
    use smb_proto::multichannel_plan::LocalAddress;

    use super::*;

    fn nic(name: &str, rss: bool) -> LocalNic {
        LocalNic {
            name: name.to_owned(),
            addresses: Vec::new(),
            speed_bits_per_second: None,
            rss,
        }
    }

    #[test]
    fn a_thread_that_may_not_ask_sleeps_all_the_same() {
        let now = Instant::now();
        let schedule = Schedule::new(now);
        assert_eq!(schedule.next_look(now, false), now + WAIT_FIRST);
        let late = schedule.due + Duration::from_secs(7);
        for is_lost in [false, true] {
            assert_eq!(schedule.next_look(late, is_lost), late + WAIT_FIRST);
        }
    }

    #[test]
    fn only_nics_with_several_queues_get_several_channels() {
        let automatic = |nics: &[LocalNic]| ChannelsMax::Automatic.of(nics);
        assert_eq!(automatic(&[]), 1);
        assert_eq!(automatic(&[nic("a", false), nic("b", false)]), 2);
        assert_eq!(automatic(&[nic("a", false), nic("b", true)]), 8);
        let many: Vec<_> = (0..40).map(|it| nic(&it.to_string(), true)).collect();
        assert_eq!((automatic(&many[..10]), automatic(&many)), (10, 32));
        assert_eq!(ChannelsMax::Count(3).of(&many), 3);
        assert_eq!(ChannelsMax::Count(0).of(&many), 1);
    }

    #[test]
    fn the_server_is_asked_less_and_less_often_until_something_changes() {
        let mut now = Instant::now();
        let begun = now;
        let mut schedule = Schedule::new(now);
        let mut seen = Seen {
            nics: vec![nic("a", false)],
            ended: 0,
        };
        assert!(!schedule.is_due(now, &seen), "it was asked a moment ago");
        let mut asked = 0;
        while now < begun + Duration::from_secs(6 * 3600) {
            now += NICS_EVERY;
            asked += usize::from(schedule.is_due(now, &seen));
        }
        // With waits of half of ten minutes to all of it.
        assert!((6 * 6..6 * 12 + 20).contains(&asked), "{asked} times");
        let quiet = |schedule: &mut Schedule, seen: &Seen| !schedule.is_due(now, seen);
        schedule.due = now + WAIT_MAX;
        assert!(quiet(&mut schedule, &seen));
        seen.ended = 1;
        assert!(!quiet(&mut schedule, &seen), "a channel was lost");
        assert!(quiet(&mut schedule, &seen));
        assert!(schedule.due <= now + WAIT_FIRST, "and soon again");
        schedule.due = now + WAIT_MAX;
        seen.nics.push(nic("b", false));
        assert!(!quiet(&mut schedule, &seen), "a NIC came up");
    }

    #[test]
    fn no_list_of_a_server_leads_to_this_machine() {
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let listed = |text| ServerInterface {
            index: 0,
            rss: false,
            rdma: false,
            speed_bits_per_second: 0,
            address: address(text),
        };
        let mut ours = nic("a", false);
        ours.addresses.push(LocalAddress {
            address: address("198.51.100.7"),
            prefix_length: 24,
        });
        let nics = [ours];
        let list = [
            "198.51.100.7",
            "127.0.0.9",
            "::1",
            "0.0.0.0",
            "198.51.100.9",
        ]
        .map(listed);
        let kept = |remote| {
            let primary = Pair {
                local: address("198.51.100.7"),
                remote: address(remote),
            };
            let plan = plan_of(8, &nics, &list, primary);
            let remotes: BTreeSet<IpAddr> = plan.pairs.iter().map(|pair| pair.remote).collect();
            let mut refused = plan.rejects.clone();
            refused.retain(|it| it.reason == RejectReason::OfThisMachine);
            (remotes, refused.len())
        };
        let there = BTreeSet::from([address("198.51.100.9")]);
        assert_eq!(kept("198.51.100.9"), (there, 3));
        // The server that the user named is here.
        let (remotes, refused) = kept("127.0.0.1");
        assert_eq!(refused, 0, "{remotes:?}");
    }

    #[test]
    fn what_is_missing_is_counted_pair_by_pair() {
        let pair = |local: &str, remote: &str| Pair {
            local: local.parse().expect("an address"),
            remote: remote.parse().expect("an address"),
        };
        let (one, two) = (pair("10.0.1.1", "10.0.1.2"), pair("10.0.2.1", "10.0.2.2"));
        assert_eq!(missing(&[one, two], &[one]), [two]);
        assert_eq!(missing(&[one, two, one, one], &[one, two]), [one, one]);
        assert_eq!(missing(&[one], &[two, one, one]), []);
    }
}
