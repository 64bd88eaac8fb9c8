//! Facts from recorded outputs of real tools.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use host::exec::{Command, Exec, Output, Replay};
use host::{Host, facts};
use record::{HostName, LinkState};

fn fixture(path: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(path);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn said(stdout: impl Into<Vec<u8>>) -> Output {
    Output {
        status: 0,
        stdout: stdout.into(),
        stderr: Vec::new(),
    }
}

fn failed(status: i32) -> Output {
    Output {
        status,
        stdout: Vec::new(),
        stderr: b"no".to_vec(),
    }
}

/// The scratch namespace that `tests/fixtures/record-linux-tool-outputs.sh` recorded.
fn recorded(command: &Command) -> Output {
    let argv: Vec<&str> = command.argv.iter().map(String::as_str).collect();
    match argv.as_slice() {
        ["uname", "-s"] => said("Linux\n"),
        ["uname", "-r"] => said("6.18.44\n"),
        ["nproc"] => said("2\n"),
        ["cat", "/etc/machine-id"] => said("3d1219c7c4c5404aaa1f6d2a48adfda4\n"),
        ["cat", "/proc/sys/kernel/random/boot_id"] => {
            said("11111111-2222-3333-4444-555555555555\n")
        }
        ["cat", "/proc/meminfo"] => said("MemTotal:       16384256 kB\nMemFree: 1 kB\n"),
        ["ip", "-j", "-d", "addr", "show"] => said(fixture("iproute2-6.1.0/addr.json")),
        ["ip", "-j", "-4", ..] => said(fixture("iproute2-6.1.0/route4.json")),
        ["ip", "-j", "-6", ..] => said(fixture("iproute2-6.1.0/route6.json")),
        ["sysctl", ..] => Output {
            status: 1,
            ..said(fixture("procps-4.0.2/tcp.txt"))
        },
        ["tc", "-j", "qdisc", "show"] => said(fixture("iproute2-6.1.0/qdisc.json")),
        ["tc", "class", "show", "dev", "a0"] => said(fixture("iproute2-6.1.0/class-a0.txt")),
        ["tc", "class", "show", "dev", _] => said(""),
        ["ethtool", "a0"] => said(fixture("ethtool-6.1/veth.txt")),
        ["ethtool", "-k", "a0"] => said(fixture("ethtool-6.1/veth-k.txt")),
        ["ethtool", "-l", "a0"] => said(fixture("ethtool-6.1/veth-l.txt")),
        ["ethtool", "-i", "a0"] => said(fixture("ethtool-6.1/veth-i.txt")),
        // As if the emulated hardware sat behind these names.
        ["ethtool", "b0"] => said(fixture("ethtool-6.1/vmxnet3.txt")),
        ["ethtool", "-k", "b0"] => said(fixture("ethtool-6.1/vmxnet3-k.txt")),
        ["ethtool", "-l", "b0"] => said(fixture("ethtool-6.1/vmxnet3-l.txt")),
        ["ethtool", "-i", "b0"] => said(fixture("ethtool-6.1/vmxnet3-i.txt")),
        ["ethtool", "br0"] => said(fixture("ethtool-6.1/e1000e.txt")),
        ["ethtool", "-k", "br0"] => said(fixture("ethtool-6.1/e1000e-k.txt")),
        ["ethtool", "-i", "br0"] => said(fixture("ethtool-6.1/e1000e-i.txt")),
        ["ethtool", ..] => failed(76),
        // As if this one were Wi-Fi.
        ["cat", "/sys/class/net/b0/uevent"] => said(fixture("sysfs/uevent-wlan.txt")),
        ["cat", "/sys/class/net/odd2/uevent"] => failed(1),
        ["cat", path] if path.ends_with("/uevent") => said(fixture("sysfs/uevent-veth.txt")),
        other => panic!("not expected: {other:?}"),
    }
}

fn host(answer: impl Fn(&Command) -> Output + Send + 'static) -> Host {
    let exec: Arc<dyn Exec> = Arc::new(Replay::model(move |command| Ok(answer(command))));
    Host::new(HostName::new("recorded"), exec).unwrap()
}

#[test]
fn a_recorded_host() {
    let mut facts = facts(&host(recorded)).unwrap();
    // The rows of the offloads have tests of their own.
    for nic in &mut facts.nics {
        nic.offloads.retain(|name, _| {
            [
                "tcp-segmentation-offload",
                "generic-receive-offload",
                "large-receive-offload",
            ]
            .contains(&name.as_str())
        });
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&facts).unwrap());
}

#[test]
fn a_host_with_nothing_but_ip_and_coreutils_is_mostly_unknown() {
    let facts = facts(&host(|command| match command.argv[0].as_str() {
        "ethtool" | "tc" | "sysctl" => failed(127),
        "cat" => failed(1),
        _ => recorded(command),
    }))
    .unwrap();
    assert_eq!(
        (facts.machine, facts.boot, facts.memory),
        (None, None, None)
    );
    assert_eq!(facts.tcp, record::TcpFacts::default());
    let nic = facts.nics.iter().find(|nic| nic.name == "a0").unwrap();
    assert_eq!(nic.state, LinkState::Up);
    assert_eq!(nic.mtu_max, Some(65_535));
    assert!(nic.offloads.is_empty());
    assert_eq!(
        (nic.speed, nic.shaped, &nic.driver, nic.rx_queues),
        (None, None, &None, None)
    );
}

#[test]
fn without_ethtool_and_nproc_the_kernel_is_asked() {
    let facts = facts(&host(|command| {
        let argv: Vec<&str> = command.argv.iter().map(String::as_str).collect();
        match argv.as_slice() {
            ["ethtool" | "nproc", ..] => failed(127),
            ["cat", "/proc/cpuinfo"] => said("processor\t: 0\nmodel name\t: x\n\nprocessor\t: 1\n"),
            ["cat", "/sys/class/net/b0/device/uevent"] => said("DRIVER=igc\nPCI_CLASS=20000\n"),
            ["cat", path] if path.ends_with("/device/uevent") => failed(1),
            // A `veth` says so of itself as well.
            ["cat", path] if path.ends_with("/speed") => said("1000\n"),
            _ => recorded(command),
        }
    }))
    .unwrap();
    assert_eq!(facts.cores, 2);
    let of = |name: &str| {
        let nic = facts.nics.iter().find(|nic| nic.name == name).unwrap();
        (nic.driver.as_deref(), nic.speed.map(|speed| speed.get()))
    };
    assert_eq!(of("b0"), (Some("igc"), Some(1_000_000_000)));
    assert_eq!(of("a0"), (None, None));
}

#[test]
fn hosts_that_cannot_be_looked_at_are_errors_that_tell_a_way_out() {
    let error = facts(&host(|command| match command.argv[0].as_str() {
        "ip" => failed(255),
        _ => recorded(command),
    }))
    .unwrap_err();
    assert!(
        crate::hint(&error).contains("without `--server`"),
        "{error}"
    );
    let exec = Arc::new(Replay::model(|_| Ok(said("FreeBSD\n"))));
    let error = Host::new(HostName::new("nas"), exec).unwrap_err();
    assert!(
        crate::hint(&error).contains("leave `--server` out"),
        "{error}"
    );
}

#[test]
fn a_host_without_ip_is_an_error_with_a_hint() {
    let error = facts(&host(|command| match command.argv[0].as_str() {
        "ip" => failed(127),
        _ => recorded(command),
    }))
    .unwrap_err();
    assert_eq!(
        crate::hint(&error),
        "install `iproute2` on that host, or check its PATH"
    );
}

#[test]
fn the_machine_the_test_runs_on() {
    let facts = facts(&Host::local().unwrap()).unwrap();
    assert!(facts.cores > 0);
    assert!(!facts.kernel.is_empty());
    assert!(facts.boot.is_some() && facts.memory.is_some());
    assert!(facts.tcp.congestion_control.is_some());
    assert!(facts.nics.iter().all(|nic| nic.name != "lo"));
}

proptest::proptest! {
    /// Whatever the tools print, a look at the host ends, with facts or with an error.
    #[test]
    fn hostile_tools_never_make_us_panic(
        noise in proptest::collection::vec(proptest::num::u8::ANY, 0..300),
        at in 0_usize..4000,
        which in 0_usize..12,
    ) {
        let answer = move |command: &Command| {
            let mut output = recorded(command);
            let spoiled = ["nproc", "cat", "ip", "tc", "sysctl", "ethtool", "uname"][which % 7];
            if command.argv[0] == spoiled && command.argv != ["uname", "-s"] {
                let at = at.min(output.stdout.len());
                output.stdout.splice(at.., noise.iter().copied());
            }
            output
        };
        drop(facts(&host(answer)));
    }
}
