//! Faults that are no commands: they are really there while a lab is up, and gone with it.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use lab::Topology;

use super::cleanup::{assert_gone, kill};
use super::{Traces, Up, eventually, have_machine};

/// All of them in one lab.
const ALL: &str = r#"
[[host]]
name = "client"
processors = 0.5
[[host]]
name = "server"
[[switch]]
name = "desk"
[[switch]]
name = "cellar"
[[link]]
from = { host = "client", nic = "lan1", address = "10.77.1.1/24" }
to = { switch = "desk" }
rate = "1Gbit"
[[link]]
from = { switch = "desk" }
to = { switch = "cellar" }
rate = "1Gbit"
rate_back = "600Mbit"
[[link]]
from = { host = "server", nic = "lan1", address = "10.77.1.2/24" }
to = { switch = "cellar" }
rate = "1Gbit"
[[link]]
from = { host = "client", nic = "lan2", address = "10.77.2.1/24" }
to = { host = "server", nic = "lan2", address = "10.77.2.2/24" }
rate = "100Mbit"
could = "1Gbit"
[samba]
host = "server"
[[samba.share]]
name = "media"
medium = "disk"
size = "64MiB"
delay_ms = 25.0
wakes_seconds = 1
[[fault]]
on = "client"
traffic = { to = "10.77.1.2", rate = "50Mbit", on_ms = 50, off_ms = 50 }
[[fault]]
on = "server"
stops = { per_second = 30, percent = 50 }
[[fault]]
on = "client"
busy = { processes = 2 }
[[fault]]
on = "client"
via = { to = "10.88.0.0/24", routers = ["10.77.1.2", "10.77.2.2"] }
"#;

/// The loop device of the lab's disk, and the number of this use of it, which no other use has.
fn loop_device(up: &Up) -> (String, u64) {
    let mounts = up.output("server", &["cat", "/proc/self/mountinfo"]);
    let disk = mounts
        .lines()
        .find(|line| line.contains(" - ext4 /dev/loop"));
    let device = disk.and_then(|line| line.split(' ').nth(2)).unwrap();
    let folder = format!("/sys/dev/block/{device}");
    let use_number = fs::read_to_string(format!("{folder}/diskseq")).unwrap();
    (folder, use_number.trim().parse().unwrap())
}

fn is_attached((folder, use_number): &(String, u64)) -> bool {
    let now = fs::read_to_string(format!("{folder}/diskseq"));
    let same = now.is_ok_and(|now| now.trim().parse() == Ok(*use_number));
    same && fs::exists(format!("{folder}/loop/backing_file")).unwrap()
}

fn groups_of(lab: &str) -> Vec<String> {
    let group = format!("linerate-lab-{lab}-client");
    let folders = ["", "cpu/"].map(|folder| format!("/sys/fs/cgroup/{folder}{group}"));
    folders
        .into_iter()
        .filter(|folder| fs::exists(folder).unwrap())
        .collect()
}

/// Whether a process of the server is stopped at some moment.
fn is_stopped_sometimes(up: &Up) -> bool {
    let states = "grep -l smbd /proc/[0-9]*/comm | sed s/comm/stat/ | xargs cat";
    (0..40).any(|_| up.run("server", &["sh", "-c", states]).1.contains(") T "))
}

#[test]
fn what_goes_on_in_a_lab_is_there_and_ends_with_a_killed_supervisor() {
    const NAME: &str = "test-goes-on";
    let _machine = have_machine();
    let before = Traces::now();
    let up = Up::new(NAME, &Topology::parse(ALL).unwrap());

    let said = up.output("client", &["ethtool", "lan2"]);
    assert!(said.contains("Speed: 100Mb/s"), "{said}");
    let modes = said
        .split("Link partner advertised link modes:")
        .nth(1)
        .unwrap();
    let modes = modes.split("pause").next().unwrap();
    assert!(
        modes.contains("1000baseT/Full") && !modes.contains("10000base"),
        "{said}"
    );
    let rate = |port| up.output("cellar", &["tc", "class", "show", "dev", port]);
    // 600 Mbit/s x 1514 / 1538, towards the desk alone.
    assert!(
        rate("port1").contains("rate 590637Kbit "),
        "{}",
        rate("port1")
    );
    let desk = up.output("desk", &["tc", "class", "show", "dev", "port2"]);
    assert!(desk.contains("rate 984395Kbit "), "{desk}");
    let routes = up.output("client", &["ip", "route", "show", "10.88.0.0/24"]);
    assert_eq!(routes.matches("nexthop via").count(), 2, "{routes}");

    // Half of 50 Mbit/s, read from outside, where no limit of the host slows the reading down.
    let counter = "/sys/class/net/lan1/statistics/tx_bytes";
    let counter = up.lab.namespace("client").unwrap().path(counter);
    let sent = || {
        fs::read_to_string(&counter)
            .unwrap()
            .trim()
            .parse::<f64>()
            .unwrap()
    };
    let before_it = sent();
    eventually("the traffic has begun", || sent() > before_it + 100_000.0);
    let (first, began) = (sent(), Instant::now());
    thread::sleep(Duration::from_secs(1));
    let rate = 8e-6 * (sent() - first) / began.elapsed().as_secs_f64();
    assert!((5.0..60.0).contains(&rate), "{rate} Mbit/s");
    assert!(is_stopped_sometimes(&up));
    let busy = up.output("client", &["sh", "-c", "cat /proc/[0-9]*/comm"]);
    assert_eq!(
        busy.lines().filter(|name| *name == "dd").count(),
        2,
        "{busy}"
    );

    // What is read was not in memory, and so each access takes 25 ms, and the first one a second.
    let read =
        "dd if=/run/linerate/shares/media.disk of=/dev/null bs=64k count=1 iflag=direct skip=";
    let time = |skip: u32| {
        let read = format!(
            "s=$(date +%s%N); {read}{skip} 2>/dev/null; echo $((($(date +%s%N)-s)/1000000))"
        );
        let said = up.output("server", &["sh", "-c", &read]);
        said.trim().parse::<u64>().unwrap()
    };
    let (asleep, awake) = (time(100), time(200));
    assert!(asleep >= 900, "{asleep} ms: something has woken the disk");
    assert!((25..900).contains(&awake), "{awake} ms");

    let (namespaces, device) = (up.namespaces(), loop_device(&up));
    assert!(is_attached(&device));
    assert_eq!(groups_of(NAME).len(), 1);
    kill(up.supervisor());
    assert_gone(NAME, &namespaces, &before);
    eventually("its disk is gone", || !is_attached(&device));
    eventually("its control groups are gone", || groups_of(NAME).is_empty());
}

#[test]
fn what_goes_on_in_a_lab_ends_with_it() {
    const NAME: &str = "test-goes-down";
    let _machine = have_machine();
    let before = Traces::now();
    let up = Up::new(NAME, &Topology::parse(ALL).unwrap());
    let (namespaces, device) = (up.namespaces(), loop_device(&up));
    lab::down(NAME).unwrap();
    assert_gone(NAME, &namespaces, &before);
    eventually("its disk is gone", || !is_attached(&device));
    assert_eq!(groups_of(NAME), [""; 0]);
}

/// The kernel and its tools take each fault of the library as it is written.
#[test]
fn every_fault_of_the_library_can_be_made() {
    let _machine = have_machine();
    let before = Traces::now();
    for scenario in lab::scenarios().unwrap() {
        if scenario.topology.faults.is_empty() {
            continue;
        }
        let up = Up::try_new("test-library", &scenario.topology);
        let up = up.unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
        assert_eq!(up.summary().troubles, [""; 0], "{}", scenario.name);
    }
    assert_eq!(Traces::now(), before);
}
