//! A sample of the library of faults, as `make scenarios` goes through all of it; and path MTUs.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::lab_and_program::{self, Lab};
use crate::path_mtu_probe;

const SHARE: &str = "smb://10.77.1.2/media";

/// A short check of a scenario's lab: the exit status and what it says.
fn check(lab: &Lab, with_server: bool) -> (i32, Value) {
    check_share(lab, SHARE, with_server)
}

fn check_share(lab: &Lab, share: &str, with_server: bool) -> (i32, Value) {
    let (client, server) = (lab.host("client"), lab.host("server"));
    let mut command = lab.linerate();
    command.args(["check", share, "--json", "--repetitions", "1"]);
    command.args(["--seconds", "0.3", "--client", &client]);
    if with_server {
        command.args(["--server", &server]);
    }
    let output = command.output().expect("linerate starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.stdout.is_empty(), "{told}");
    let said = lab_and_program::json("check", &output.stdout);
    (output.status.code().expect("it ends by itself"), said)
}

fn scenario(name: &str) -> Lab {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/scenarios");
    Lab::of(name, &folder.join(format!("{name}.toml")))
}

/// The first cause of a lab: that others use the processors of the machine that it is built on is none of it.
fn first(said: &Value) -> Option<&str> {
    let causes = said["diagnosis"]["causes"].as_array().expect("a list");
    let mut ids = causes.iter().map(|cause| &cause["id"]);
    let first = match said["diagnosis"]["first_cause"].as_str() {
        Some("cpu-stolen") => ids.find(|id| *id != "cpu-stolen")?,
        _ => &said["diagnosis"]["first_cause"],
    };
    first.as_str()
}

#[test]
fn a_switch_that_swallows_jumbo_is_told_from_both_ends_and_from_one() {
    let lab = scenario("switch-swallows-jumbo");
    for with_server in [true, false] {
        let (status, said) = check(&lab, with_server);
        assert_eq!(
            (status, first(&said)),
            (1, Some("path-mtu-black-hole")),
            "{said}"
        );
        let proof = &said["look"]["mtus"][0];
        assert_eq!(proof["answered"], 1500, "{proof}");
        assert_eq!(proof["back"].is_u64(), with_server, "{proof}");
        assert!(headline(&said).contains(blamed(with_server)), "{said}");
    }
}

fn headline(said: &Value) -> &str {
    said["diagnosis"]["headline"].as_str().expect("it has one")
}

/// Who is to blame for a switch that swallows large packets, as far as that can be told.
fn blamed(with_server: bool) -> &'static str {
    match with_server {
        true => "by elimination something between them drops them",
        false => "something between them or the far NIC drops them",
    }
}

/// What a far end cannot tell is missing, and no more than that.
#[test]
fn a_far_end_whose_testparm_never_ends_costs_its_settings() {
    let hang = "printf '#!/bin/sh\nsleep 1000\n' >/run/linerate/hang && chmod 755 /run/linerate/hang && \
                mount --bind /run/linerate/hang \"$(command -v testparm)\"";
    for (name, cause, seconds) in [
        ("switch-swallows-jumbo", Some("path-mtu-black-hole"), 30),
        ("healthy-1g", None, 90),
    ] {
        let lab = scenario(name);
        lab.run("server", &["sh", "-c", hang]);
        let begun = Instant::now();
        let (_, said) = check(&lab, true);
        // A session that ran into the black hole would be given up after 25 s.
        assert!(begun.elapsed() < Duration::from_secs(seconds), "{said}");
        assert_eq!(first(&said), cause, "{said}");
        let look = &said["look"];
        let [missing] = look["missing"].as_array().map_or(&[][..], Vec::as_slice) else {
            panic!("{look}")
        };
        assert_eq!(missing["fact"], "smb.conf", "{missing}");
        assert_eq!(missing["host"], lab.host("server"), "{missing}");
        let settings = look["settings"].as_array().expect("a list");
        let knobs = settings.iter().map(|setting| &setting["knob"]);
        let of_server = knobs.filter(|knob| knob["host"] == lab.host("server"));
        let ids: Vec<&str> = of_server.filter_map(|knob| knob["id"].as_str()).collect();
        assert!(ids.contains(&"nic.mtu"), "{ids:?}");
        assert!(!ids.contains(&"smb.server.credits"), "{ids:?}");
        let measured = rate(&said, "share", "read").is_some();
        assert_eq!(measured, cause.is_none(), "{said}");
    }
}

#[test]
fn a_switch_that_swallows_jumbo_is_told_with_ipv6_and_so_is_the_way_back() {
    let topology = include_str!("../../../lab/scenarios/switch-swallows-jumbo.toml");
    let topology = topology
        .replace("10.77.1.1/24", "fd00:77::1/64")
        .replace("10.77.1.2/24", "fd00:77::2/64");
    let lab = Lab::described("jumbo-v6", &topology);
    let (status, said) = check_share(&lab, "smb://[fd00:77::2]/media", true);
    assert_eq!(
        (status, first(&said)),
        (1, Some("path-mtu-black-hole")),
        "{said}"
    );
    let proof = &said["look"]["mtus"][0];
    assert_eq!(
        (&proof["answered"], &proof["back"]),
        (&1500.into(), &1500.into()),
        "{proof}"
    );
    let vanished = &proof["vanished"];
    assert_eq!(
        (&vanished["there"], &vanished["back"]),
        (&0.into(), &0.into()),
        "{proof}"
    );
    assert!(headline(&said).contains(blamed(true)), "{said}");
}

#[test]
fn a_slow_disk_and_few_credits_are_told_apart_without_the_server() {
    for (name, cause) in [("slow-disk", "server-disk"), ("few-credits", "few-credits")] {
        let (status, said) = check(&scenario(name), false);
        assert_eq!((status, first(&said)), (1, Some(cause)), "{said}");
    }
}

#[test]
fn disks_and_small_files_are_measured_and_nothing_of_it_stays() {
    let lab = scenario("slow-disk");
    let share = "/run/linerate/shares/media";
    let on_server = |script: &str| lab.run("server", &["sh", "-c", script]);
    // As one that was killed leaves it.
    let stale = format!("{share}/.linerate-0123456789abcdef.files");
    on_server(&format!(
        "mkdir -m 777 {stale} && touch {stale}/7 {stale}/12"
    ));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let into = folder.path().to_str().expect("a path in UTF-8");
    let mut command = lab.linerate();
    command.args(["check", SHARE, "--json", "--quick", "--seconds", "0.3"]);
    command.args(lab.ends());
    let output = command.args(["--into", into]).output();
    let said = lab_and_program::json("check", &output.expect("linerate starts").stdout);
    assert_eq!(first(&said), Some("server-disk"), "{said}");
    let notes = said["diagnosis"]["notes"].to_string();
    assert!(
        notes.contains("to have none of the file in memory"),
        "{notes}"
    );
    assert!(notes.contains(into), "{notes}");
    let rungs = said["ladder"].as_array().expect("a ladder");
    let rate = |name: &str| {
        let mut rungs = rungs.iter();
        let rung = rungs.find(|rung| rung["rung"] == name);
        rung.and_then(|rung| rung["rate"]["value"].as_f64())
    };
    // The server's disk moves 50 MB/s, and its network more than twice as much.
    let (disk, memory) = (rate("disk"), rate("share"));
    assert!(
        disk.zip(memory).is_some_and(|(disk, memory)| disk < memory),
        "{rungs:#?}"
    );
    assert!(rate("copy").is_some(), "{rungs:#?}");
    let ways = said["diagnosis"]["small_files"].as_array();
    assert_eq!(ways.map(Vec::len), Some(2), "{said}");
    // Both hosts are looked at there as at any other rung, and at how both ends send.
    let transfers = said["diagnosis"]["transfers"].as_array().expect("a list");
    for rung in ["share", "round_trip", "small_files"] {
        let mut transfers = transfers.iter();
        let found = transfers.find(|one| one["rung"] == rung);
        let found = found.unwrap_or_else(|| panic!("no {rung} in {said}"));
        assert_eq!(found["hosts"].as_array().map(Vec::len), Some(2), "{found}");
        let near = &found["congestion_control"];
        assert_eq!(near.as_array().map(Vec::len), Some(1), "{found}");
        assert!(found["far_congestion_control"].is_string(), "{found}");
    }
    let left = on_server(&format!("find {share} -name '.linerate-*'"));
    assert_eq!(left.trim(), "");
    let left = std::fs::read_dir(into).expect("it is there");
    assert_eq!(left.count(), 0);
}

#[test]
fn a_check_that_only_reads_leaves_the_writing_rungs_out() {
    let lab = scenario("slow-link");
    let mut command = lab.linerate();
    command.args([
        "check",
        SHARE,
        "--read-only",
        "--verbose",
        "--repetitions",
        "1",
    ]);
    command.args(["--seconds", "0.3"]).args(lab.ends());
    let output = command.output().expect("linerate starts");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("runs at 100 Mbit/s"), "{text}");
    assert!(text.contains("no write trial was run"), "{text}");
    assert!(text.contains("Windows: 1 over `lan1`"), "{text}");
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    for nic in ["lan1` to `10.77.1.2", "lan2` to `10.77.2.2"] {
        let carried = format!("read: `{nic}` carried");
        assert!(words.contains(&carried), "{carried} is not in {text}");
    }
    assert!(
        text.contains("it runs at 100 Mbit/s, and another pair at 1 Gbit/s"),
        "{text}"
    );
}

#[test]
fn the_library_can_be_listed_and_an_unknown_scenario_is_refused() {
    let output = lab_and_program::linerate()
        .args(["lab", "scenarios"])
        .output();
    let text = String::from_utf8_lossy(&output.expect("linerate starts").stdout).into_owned();
    assert!(text.contains("switch-swallows-jumbo"), "{text}");
    let mut unknown = lab_and_program::linerate();
    let output = unknown.args(["lab", "up", "--scenario", "none"]).output();
    let output = output.expect("linerate starts");
    assert_eq!(output.status.code(), Some(64));
}

#[test]
fn the_largest_packet_is_exact_on_any_path_and_black_holes_are_told() {
    let lab = Lab::described("mtu", path_mtu_probe::TOPOLOGY);
    let running = lab::find(lab.name()).expect("it is up");
    let wrong: Vec<String> = path_mtu_probe::topologies(5, 12)
        .into_iter()
        .filter_map(|mtus| path_mtu_probe::prove(&running, &lab_and_program::path(), mtus).err())
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What proves sizes where a server answers no echo requests.
fn answer_no_echoes(lab: &Lab) {
    let rules = "add table inet f; add chain inet f in { type filter hook input priority 0; }; \
                 add rule inet f in icmp type echo-request drop";
    lab.run("server", &["nft", rules]);
}

#[test]
fn the_largest_packet_is_exact_where_nobody_answers_echo_requests() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("deaf.toml");
    std::fs::write(&file, path_mtu_probe::TOPOLOGY).expect("room on the disk");
    let lab = Lab::of("deaf", &file);
    answer_no_echoes(&lab);
    let running = lab::find(lab.name()).expect("it is up");
    for mtus in path_mtu_probe::topologies(7, 4) {
        let proof = path_mtu_probe::prove(&running, &lab_and_program::path(), mtus);
        let proof = proof.unwrap_or_else(|wrong| panic!("{wrong}"));
        assert!(proof.forward_only, "{proof:?}");
        assert!(proof.round_trip.is_some_and(|time| time.get() > 0));
    }
}

#[test]
fn a_switch_that_swallows_jumbo_is_told_where_nobody_answers_echo_requests() {
    let lab = scenario("switch-swallows-jumbo");
    answer_no_echoes(&lab);
    let (status, said) = check(&lab, false);
    assert_eq!(
        (status, first(&said)),
        (1, Some("path-mtu-black-hole")),
        "{said}"
    );
    let proof = &said["look"]["mtus"][0];
    assert_eq!(
        (&proof["answered"], &proof["one_way"]),
        (&1500.into(), &true.into())
    );
    let id = &said["diagnosis"]["causes"][0]["message"]["id"];
    assert_eq!(id, "path-mtu-black-hole.one-way", "{said}");
}

/// The first proof of a check, where a server drops echo requests of more than 1000 bytes.
fn proof_behind_a_filter(name: &str) -> (Value, Value) {
    let lab = scenario(name);
    let rules = "add table inet f; add chain inet f in { type filter hook input priority 0; }; \
                 add rule inet f in icmp type echo-request meta length > 1000 drop";
    lab.run("server", &["nft", rules]);
    let (_, said) = check(&lab, false);
    (said["look"]["mtus"][0].clone(), said)
}

#[test]
fn large_echo_requests_that_a_firewall_drops_are_no_black_hole() {
    let (proof, said) = proof_behind_a_filter("healthy-1g");
    assert_eq!(
        (&proof["answered"], &proof["one_way"]),
        (&1500.into(), &true.into())
    );
    assert_ne!(first(&said), Some("path-mtu-black-hole"), "{said}");
    assert!(rate(&said, "share", "read").is_some(), "{said}");
    // What TCP does not carry either is one.
    let (_, said) = proof_behind_a_filter("switch-swallows-jumbo");
    assert_eq!(first(&said), Some("path-mtu-black-hole"), "{said}");
}

/// What a rung of a check's ladder moved.
fn rate(said: &Value, name: &str, direction: &str) -> Option<f64> {
    let mut rungs = said["ladder"].as_array()?.iter();
    let rung = rungs.find(|rung| rung["rung"] == name && rung["direction"] == direction)?;
    rung["rate"]["value"].as_f64()
}

#[test]
fn a_share_that_one_may_only_read_is_measured_by_what_is_there() {
    let topology = include_str!("../../../lab/scenarios/healthy-1g.toml");
    let text = format!("{topology}\n[samba.global]\n\"read list\" = \"linerate\"\n");
    let lab = Lab::described("read-list", &text);
    // Nothing is there, and that is said; the network is measured all the same.
    let (status, said) = check(&lab, true);
    assert_ne!(status, 0, "{said}");
    assert!(rate(&said, "tcp", "read").is_some(), "{said}");
    let why = said["ladder"].to_string();
    assert!(why.contains("of 9 MB or more"), "{why}");
    assert!(why.contains("none can be made: no permission"), "{why}");
    assert!(said["look"]["session"].is_object(), "{said}");

    let film = "mkdir /run/linerate/shares/media/films && cd /run/linerate/shares/media/films && \
                head -c 20000000 /dev/urandom > film";
    lab.run("server", &["sh", "-c", film]);
    let mut command = lab.linerate();
    command.args(["check", SHARE, "--json", "--repetitions", "1"]);
    command.args(["--seconds", "0.3", "--read-only"]);
    let output = command.args(lab.ends()).output().expect("linerate starts");
    let said = lab_and_program::json("check", &output.stdout);
    assert!(rate(&said, "share", "read").is_some(), "{said}");
    assert!(said["diagnosis"]["request"].is_object(), "{said}");
    let (_, said) = check(&lab, true);
    assert!(rate(&said, "share", "read").is_some(), "{said}");
    assert!(rate(&said, "share", "write").is_none(), "{said}");
    assert!(
        said["ladder"].to_string().contains("no permission"),
        "{said}"
    );

    // Who needs to write is told so before anything is measured.
    let mut bench = lab.linerate();
    bench.args(["bench", SHARE]).args(lab.ends());
    let output = bench.output().expect("linerate starts");
    assert_eq!(output.status.code(), Some(65));
}

#[test]
fn a_slow_link_is_checked_within_a_minute() {
    let topology = include_str!("../../../../plans/labs/one-link-100m.toml");
    let lab = Lab::described("slow", &topology.replacen("100Mbit", "8Mbit", 1));
    let begun = Instant::now();
    let (_, said) = check(&lab, true);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(60), "{took:?}");
    for (rung, direction) in [("share", "read"), ("share", "write"), ("copy", "read")] {
        assert!(rate(&said, rung, direction).is_some(), "{rung} {said}");
    }
}

// Larger frames are offered where the link is full, which it is while no other test runs.
#[test]
fn a_check_changes_nothing_and_a_dry_run_of_tune_neither() {
    let lab = Lab::up("check");
    let files = || {
        let list = ["sh", "-c", "find /etc /run/linerate/shares -type f || true"];
        ["client", "server"].map(|host| lab.run(host, &list))
    };
    let before = (lab.picture(), files());
    let (_, check) = check(&lab, true);
    assert!(check.to_string().contains("mtu-9000"), "{check}");
    let tune = lab
        .linerate()
        .args(["tune", SHARE, "--seconds", "0.3", "--dry-run"])
        .args(lab.ends())
        .output();
    let tune = String::from_utf8_lossy(&tune.expect("linerate starts").stdout).into_owned();
    assert!(
        tune.contains("ip link set dev lan1 mtu 9000"),
        "the very commands are missing: {tune}"
    );
    assert_eq!((lab.picture(), files()), before);
    assert_eq!(lab.files_of_the_share(), "");
}

#[test]
fn a_buffer_that_is_small_on_a_short_way_is_named() {
    let topology = include_str!("../../../lab/scenarios/small-buffers.toml");
    let near = topology
        .replacen("delay_ms = 5.0", "delay_ms = 0.3", 1)
        .replacen("4096, 65536, 131072", "4096, 16384, 32768", 1);
    assert!(near.contains("0.3") && near.contains("32768"));
    let (status, said) = check(&Lab::described("near-buffers", &near), true);
    assert_eq!(
        (status, first(&said)),
        (1, Some("receive-buffer-small")),
        "{said}"
    );
}

#[test]
fn a_tunnel_that_takes_the_local_network_is_named() {
    let (status, said) = check(&scenario("tunnel-beside-lan"), false);
    assert_eq!((status, first(&said)), (1, Some("tunnel-used")), "{said}");
    let text = said["diagnosis"]["headline"].to_string();
    assert!(text.contains("`vpn` (`vxlan`), while its `lan1`"), "{text}");
}

#[test]
fn a_neighbour_at_1500_is_told_from_one_that_takes_jumbo_and_from_one_that_is_silent() {
    let third = r#"
[[host]]
name = "neighbour"
[[link]]
from = { host = "neighbour", nic = "lan1", address = "10.77.1.3/24" }
to = { switch = "switch" }
"#;
    let (hosts, samba) = path_mtu_probe::TOPOLOGY
        .split_once("[samba]")
        .expect("it has one");
    let lab = Lab::described("segment", &format!("{hosts}{third}[samba]{samba}"));
    for (node, nic) in [
        ("switch", "port1"),
        ("switch", "port2"),
        ("switch", "port3"),
        ("switch", "bridge"),
        ("client", "lan1"),
        ("server", "lan1"),
    ] {
        lab.run(node, &["ip", "link", "set", "dev", nic, "mtu", "9000"]);
    }
    let running = lab::find(lab.name()).expect("it is up");
    let client = running.host("client").expect("the lab has it");
    let runner = measure::Runner::new(client.exec, lab_and_program::path().display().to_string());
    let targets = ["10.77.1.2", "10.77.1.3", "10.77.1.4"].map(|address| measure::MtuTarget {
        nic: "lan1".into(),
        mtu: 9000,
        remote: address.parse().expect("an address"),
        port: None,
    });
    let proofs = runner.prove_mtus(&targets, &measure::Stop::new());
    let proofs = proofs.expect("the program runs");
    let answered: Vec<_> = proofs.iter().map(|proof| proof.answered).collect();
    assert_eq!(answered, [Some(9000), Some(1500), None], "{proofs:#?}");
    let longest = path_mtu_probe::TIME_MAX.as_nanos();
    assert!(
        proofs
            .iter()
            .all(|proof| u128::from(proof.took.get()) < longest)
    );
}
