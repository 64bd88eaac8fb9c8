//! Hosts that put themselves back when the connection is lost in the middle of a change, over a real
//! `sshd`. Needs root.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use host::change::{Change, OpenChange, UndoMode, UndoOutcome};
use host::journal::{Journal, list_open};
use host::{Error, Host};
use record::{HostName, KnobId, Setting, Target, Value};
use tempfile::TempDir;

use crate::ssh::{Server, eventually, leases, local};

const LEASE: Duration = Duration::from_secs(6);
/// How much later than that the host must be as before.
const LATE: Duration = Duration::from_secs(5);

/// A server, and a client in a namespace of its own that reaches it over one link.
struct Pair {
    client: String,
    server: Server,
    folder: TempDir,
}

impl Pair {
    fn new() -> Self {
        let server = Server::start();
        let client = format!("{}-client", server.namespace);
        local(&["ip", "netns", "add", &client]);
        let pair = Self {
            client,
            server,
            folder: tempfile::tempdir().unwrap(),
        };
        let inside = |namespace: &str, words: &str| {
            let argv = ["ip", "netns", "exec", namespace].into_iter();
            local(&argv.chain(words.split(' ')).collect::<Vec<_>>())
        };
        let own = pair.server.namespace.as_str();
        inside(own, "sysctl -qw net.ipv6.conf.default.disable_ipv6=1");
        let client = &pair.client;
        inside(
            own,
            &format!("ip link add s0 type veth peer name c0 netns {client}"),
        );
        inside(own, "ip addr add 10.9.0.2/24 dev s0");
        inside(own, "ip link set s0 up");
        inside(client, "ip addr add 10.9.0.1/24 dev c0");
        inside(client, "ip link set c0 up");
        pair
    }

    fn host(&self) -> Host {
        let name = "ssh://root@10.9.0.2:2222";
        let ssh = self
            .server
            .connect_from(&self.client, name, "user", "known");
        Host::new(HostName::new(name), Arc::new(ssh.unwrap())).unwrap()
    }

    /// Sets the server's end of the link up or down.
    fn link(&self, state: &str) {
        let argv = ["ip", "netns", "exec", &self.server.namespace];
        local(&[&argv[..], &["ip", "link", "set", "s0", state]].concat());
    }

    fn change(&self, host: &Host, journal: &Journal, settings: &[(&str, Value)]) -> OpenChange {
        let settings = settings.iter().map(|(id, value)| Setting::Knob {
            host: host.name.clone(),
            target: Target::Nic("s0".into()),
            id: KnobId::new(*id),
            value: value.clone(),
        });
        let settings: Vec<Setting> = settings.collect();
        let change = Change::plan(std::slice::from_ref(host), &settings, "test").unwrap();
        journal.begin(change.with_lease(LEASE)).unwrap()
    }
}

/// The MTU of the server's end.
fn mtu(namespace: &str) -> String {
    let mtu = [
        "ip",
        "netns",
        "exec",
        namespace,
        "cat",
        "/sys/class/net/s0/mtu",
    ];
    local(&mtu).trim().to_owned()
}

impl Drop for Pair {
    fn drop(&mut self) {
        local(&["ip", "netns", "del", &self.client]);
    }
}

/// How many connections are cut; this variable says otherwise, and so many at once.
const CUTS_VARIABLE: &str = "LINERATE_CUTS";
const CUTS_AT_ONCE: usize = 4;

#[test]
fn a_change_that_cuts_the_only_connection_is_taken_back_in_time() {
    let cuts = std::env::var(CUTS_VARIABLE).map_or(1, |text| text.parse().unwrap());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..CUTS_AT_ONCE.min(cuts) {
            scope.spawn(|| {
                while next.fetch_add(1, Ordering::Relaxed) < cuts {
                    cut_the_only_connection();
                }
            });
        }
    });
}

fn cut_the_only_connection() {
    let pair = Pair::new();
    let host = pair.host();
    let journal = Journal::open(pair.folder.path(), "test").unwrap();
    // No packet of the client's fits any more, and a link without IPv6 may do that.
    let cuts = [
        ("nic.gro", Value::Switch(true)),
        ("nic.mtu", Value::Integer(68)),
    ];
    let before = pair.server.inside(&["ethtool", "-k", "s0"]);
    let mut open = pair.change(&host, &journal, &cuts);
    let server = pair.server.namespace.as_str();
    let error = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            eventually("the connection is cut", || mtu(server) == "68");
            let cut = Instant::now();
            eventually("the host is as before", || mtu(server) == "1500");
            cut.elapsed()
        });
        let error = open.apply().unwrap_err();
        let back = watch.join().unwrap();
        assert!(back < LEASE + LATE, "it took {back:?}");
        error
    });
    assert!(
        matches!(error, Error::Apply { restored: true, .. }),
        "{error}"
    );
    drop(open);
    assert!(list_open(pair.folder.path()).unwrap().open.is_empty());
    assert_eq!(pair.server.inside(&["ethtool", "-k", "s0"]), before);
    eventually("the lease is over", || !leases(&host));
}

#[test]
fn a_host_that_puts_itself_back_leaves_alone_what_somebody_else_has_set() {
    let pair = Pair::new();
    let host = pair.host();
    let journal = Journal::open(pair.folder.path(), "test").unwrap();
    let settings = [
        ("nic.mtu", Value::Integer(1400)),
        ("nic.txqueuelen", Value::Integer(500)),
        ("arp.ignore", Value::Integer(1)),
        ("nic.gro", Value::Switch(true)),
    ];
    let mut open = pair.change(&host, &journal, &settings);
    open.apply().unwrap();
    let server = pair.server.namespace.as_str();
    let script = "ip link set s0 txqueuelen 77; echo 2 >/proc/sys/net/ipv4/conf/s0/arp_ignore";
    pair.server.inside(&["sh", "-c", script]);
    pair.link("down");
    open.close().unwrap_err();
    assert_eq!(mtu(server), "1500");
    let features = pair.server.inside(&["ethtool", "-k", "s0"]);
    assert!(features.contains("generic-receive-offload: off"));
    let look = "cat /sys/class/net/s0/tx_queue_len /proc/sys/net/ipv4/conf/s0/arp_ignore";
    assert_eq!(pair.server.inside(&["sh", "-c", look]), "77\n2\n");
    pair.link("up");
    host.exec.reconnect();
    let undone = journal
        .undo(None, UndoMode::Ours, &|_| Ok(pair.host()))
        .unwrap();
    let foreign = undone[0]
        .reports
        .iter()
        .filter(|report| report.outcome == UndoOutcome::Foreign)
        .map(|report| report.knob.to_string());
    let foreign: Vec<String> = foreign.collect();
    assert_eq!(foreign, ["arp.ignore", "nic.txqueuelen"]);
    assert_eq!(pair.server.inside(&["sh", "-c", look]), "77\n2\n");
}

#[test]
fn a_change_that_is_made_again_after_a_silence_is_looked_after_again() {
    let pair = Pair::new();
    let host = pair.host();
    let journal = Journal::open(pair.folder.path(), "test").unwrap();
    let mut open = pair.change(&host, &journal, &[("nic.mtu", Value::Integer(1400))]);
    let server = pair.server.namespace.as_str();
    open.apply().unwrap();
    open.revert().unwrap();
    assert!(leases(&host));
    pair.link("down");
    let silent = Instant::now();
    eventually("the host has waited for too long", || {
        silent.elapsed() > LEASE + LATE
    });
    pair.link("up");
    host.exec.reconnect();
    open.apply().unwrap();
    assert_eq!(mtu(server), "1400");
    // Nobody looks after it any more.
    pair.link("down");
    let silent = Instant::now();
    eventually("the host is as before", || mtu(server) == "1500");
    let back = silent.elapsed();
    assert!(back < LEASE + LATE, "it took {back:?}");
    pair.link("up");
    host.exec.reconnect();
    open.close().unwrap();
}

#[test]
fn a_change_lives_as_long_as_it_is_looked_after_and_ends_with_the_way_to_its_host() {
    let mut pair = Pair::new();
    let host = pair.host();
    let journal = Journal::open(pair.folder.path(), "test").unwrap();
    let mut open = pair.change(&host, &journal, &[("nic.mtu", Value::Integer(1400))]);
    open.apply().unwrap();
    let applied = Instant::now();
    eventually("the lease has been renewed", || {
        assert_eq!(mtu(&pair.server.namespace), "1400");
        applied.elapsed() > LEASE + Duration::from_secs(2)
    });
    let other_folder = tempfile::tempdir().unwrap();
    let other = Journal::open(other_folder.path(), "other").unwrap();
    let mut second = pair.change(&host, &other, &[("nic.gro", Value::Switch(true))]);
    let error = second.apply().unwrap_err();
    let Error::Apply {
        source,
        restored: true,
        ..
    } = &error
    else {
        panic!("{error}")
    };
    assert!(matches!(**source, Error::HostHeld { .. }), "{source}");
    // Our own second change of the host is no stranger.
    let mut own = pair.change(&host, &journal, &[("nic.gro", Value::Switch(true))]);
    own.apply().unwrap();
    own.close().unwrap();

    // A host that lets nobody in any more does not keep its change.
    pair.server.stop();
    let error = open.keep().unwrap_err();
    assert!(
        matches!(
            error,
            Error::Apply {
                restored: false,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(mtu(&pair.server.namespace), "1500");
    assert_eq!(list_open(pair.folder.path()).unwrap().open.len(), 1);
}
