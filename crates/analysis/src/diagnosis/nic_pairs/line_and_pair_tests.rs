//! What is computed of lines and pairs, against the tables that are known.

use record::{BitsPerSecond, Direction, HostName, InterfaceAddress, LinkState, System, TcpFacts};

use super::line_speeds::shaper;
use super::*;

fn nic(name: &str, index: u32, address: &str, mtu: u32) -> Nic {
    Nic {
        name: name.into(),
        index,
        mac: None,
        mtu,
        mtu_max: None,
        speed: None,
        shaped: None,
        state: LinkState::Up,
        driver: Some("igc".into()),
        kind: None,
        medium: None,
        port_of: None,
        modes: None,
        addresses: vec![InterfaceAddress {
            address: address.parse().expect("an address"),
            prefix: 24,
        }],
        offloads: std::collections::BTreeMap::new(),
        rx_queues: None,
        tx_queues: None,
    }
}

fn host(name: &str, nics: Vec<Nic>) -> HostFacts {
    HostFacts {
        name: HostName::new(name),
        system: System::Linux,
        kernel: "6.18".into(),
        machine: None,
        boot: None,
        cores: 2,
        memory: None,
        nics,
        routes: Vec::new(),
        tcp: TcpFacts::default(),
    }
}

/// What both hosts say, and nobody else.
fn between<'f>(client: &'f HostFacts, server: &'f HostFacts) -> Network<'f> {
    Network {
        client: Some(client),
        server: Some(server),
        advertised: &[],
        believed: false,
        shapers_are_lines: true,
        ports: Ports::OfOne,
    }
}

/// Two hosts with one NIC each, changed by `change`; megabytes per second read and written.
fn ceilings(mtu: u32, change: impl Fn(&mut Nic, &mut Nic)) -> [Option<f64>; 2] {
    let mut near = nic("a0", 2, "10.77.1.1", mtu);
    let mut far = nic("b0", 3, "10.77.1.2", mtu);
    change(&mut near, &mut far);
    let (client, server) = (host("client", vec![near]), host("server", vec![far]));
    let network = between(&client, &server);
    let near = &client.nics[0];
    let remote = "10.77.1.2".parse().expect("an address");
    let pair = Pair {
        near,
        far: network.far_end(remote),
        remote,
    };
    [Direction::Read, Direction::Write].map(|direction| {
        let ceiling = network.ceiling(direction, &[vec![pair]], None)?;
        Some((ceiling.rate.value / 1e5).round() / 10.0)
    })
}

/// rate / 8 * (MTU - 52) / (MTU + 38), the table that is known for Ethernet.
#[test]
fn payload_of_physical_lines() {
    let known = [
        (1_000_000_000, 117.7, 123.8),
        (2_500_000_000, 294.2, 309.4),
        (5_000_000_000, 588.4, 618.8),
        (10_000_000_000, 1_176.9, 1_237.6),
        (25_000_000_000, 2_942.1, 3_093.9),
        (40_000_000_000, 4_707.4, 4_950.2),
        (100_000_000_000, 11_768.5, 12_375.5),
    ];
    for (bits, standard, jumbo) in known {
        let speed = |near: &mut Nic, far: &mut Nic| {
            near.speed = Some(BitsPerSecond::new(bits));
            far.speed = near.speed;
        };
        assert_eq!(ceilings(1500, speed), [Some(standard); 2]);
        assert_eq!(ceilings(9000, speed), [Some(jumbo); 2]);
    }
}

#[test]
fn the_slower_end_decides_and_the_smaller_mtu() {
    let mixed = ceilings(1500, |near, far| {
        near.speed = Some(BitsPerSecond::new(10_000_000_000));
        near.mtu = 9000;
        far.speed = Some(BitsPerSecond::new(1_000_000_000));
    });
    assert_eq!(mixed, [Some(117.7); 2]);
}

/// 500 Mbit/s of frames: 62.5 MB/s * 1448 / 1514 = 59.775; it counts on the way out only.
#[test]
fn a_shaper_counts_frames_on_the_way_out() {
    let shaped = ceilings(1500, |near, far| {
        near.speed = Some(BitsPerSecond::new(1_000_000_000));
        far.shaped = Some(BitsPerSecond::new(500_000_000));
    });
    assert_eq!(shaped, [Some(59.8), Some(117.7)]);
}

/// The lab's shaper is 1 Gbit/s * 1514 / 1538; as `tc` prints it, in whole kilobits.
#[test]
fn a_shaper_set_to_the_frames_of_a_line_is_that_line() {
    let lab = |rate: u64| {
        move |near: &mut Nic, far: &mut Nic| {
            for nic in [near, far] {
                nic.driver = Some("veth".into());
                nic.kind = Some("veth".into());
                nic.speed = Some(BitsPerSecond::new(10_000_000_000));
                nic.shaped = Some(BitsPerSecond::new(rate));
            }
        }
    };
    assert_eq!(ceilings(1500, lab(984_395_000)), [Some(117.7); 2]);
    assert_eq!(ceilings(9000, lab(997_344_000)), [Some(123.8); 2]);
    let pair_bits = shaper(&{
        let mut nic = nic("a0", 2, "10.77.1.1", 1500);
        nic.shaped = Some(BitsPerSecond::new(984_395_000));
        nic
    });
    assert_eq!(pair_bits.map(|line| line.bits), Some(1_000_000_000));
}

#[test]
fn what_virtual_nics_invent_is_no_ceiling() {
    let invented = |near: &mut Nic, far: &mut Nic| {
        near.driver = Some("virtio_net".into());
        near.speed = Some(BitsPerSecond::new(4_294_967_295_000_000));
        far.kind = Some("veth".into());
        far.speed = Some(BitsPerSecond::new(10_000_000_000));
    };
    assert_eq!(ceilings(1500, invented), [None; 2]);
}

#[test]
fn one_end_shaped_is_taken_for_both_when_nothing_else_is_known() {
    let near_only = |near: &mut Nic, _: &mut Nic| {
        near.shaped = Some(BitsPerSecond::new(500_000_000));
    };
    assert_eq!(ceilings(1500, near_only), [Some(59.8); 2]);
}

/// a0 reaches b0 and b1, a1 only b0: a greedy choice would leave a1 alone.
#[test]
fn as_many_pairs_as_possible_are_found() {
    let wide = |mut nic: Nic, more: &str| {
        nic.addresses.push(InterfaceAddress {
            address: more.parse().expect("an address"),
            prefix: 24,
        });
        nic
    };
    let near = vec![
        wide(nic("a0", 2, "10.77.1.1", 1500), "10.77.2.1"),
        nic("a1", 3, "10.77.1.11", 1500),
        nic("docker0", 4, "172.17.0.1", 1500),
    ];
    let far = vec![
        nic("b0", 2, "10.77.1.2", 1500),
        nic("b1", 3, "10.77.2.2", 1500),
        nic("docker0", 4, "172.17.0.1", 1500),
    ];
    let (client, server) = (host("client", near), host("server", far));
    let network = between(&client, &server);
    let pairs = network.usable_pairs(&[]);
    let names: Vec<String> = pairs
        .iter()
        .map(|pair| locale::said(&pair.name()))
        .collect();
    assert_eq!(names, ["`a0` to `b1`", "`a1` to `b0`"]);
}
