//! Any list of a server, with any NICs of ours, gives a plan that keeps the rules.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use smb_proto::multichannel_plan::{
    LinerateRules, LocalAddress, LocalNic, Pair, Rules, ServerInterface,
};
use smb_proto::plan;

/// Few distinct addresses, so that they meet.
fn address(kind: u8, last: u8) -> IpAddr {
    match kind % 8 {
        0 => Ipv4Addr::new(169, 254, 0, last).into(),
        1 => Ipv6Addr::new(0xFE80, 0, 0, 0, 0, 0, 0, last.into()).into(),
        2 => Ipv6Addr::new(0x2001, 0xDB8, 0, 0, 0, 0, 0, last.into()).into(),
        3 => Ipv4Addr::from([last; 4]).into(),
        subnet => Ipv4Addr::new(10, 0, subnet, last).into(),
    }
}

fn speed(byte: u8) -> u64 {
    [0, 1_000_000_000, 10_000_000_000, u64::MAX][usize::from(byte % 4)]
}

/// Takes one input; panics where what must hold does not.
pub fn run(data: &[u8]) {
    let [most, per_pair, without_list, ours, theirs, rest @ ..] = data else {
        return;
    };
    let rules = LinerateRules {
        channels_max: usize::from(*most),
        channels_per_rss_pair: usize::from(*per_pair),
        channels_without_list: usize::from(*without_list),
    };
    let primary = Pair {
        local: address(4, *ours),
        remote: address(4, *theirs),
    };
    let (mut local, mut server) = (Vec::<LocalNic>::new(), Vec::new());
    for entry in rest.chunks_exact(5) {
        let [what, kind, last, number, fast] = *entry else {
            continue;
        };
        let (address, rss) = (address(kind, last), what & 2 != 0);
        let ours = LocalAddress {
            address,
            prefix_length: number,
        };
        match local.last_mut() {
            _ if what & 1 == 0 => server.push(ServerInterface {
                index: if number == 255 {
                    u32::MAX
                } else {
                    number.into()
                },
                rss,
                rdma: false,
                speed_bits_per_second: speed(fast),
                address,
            }),
            Some(nic) if what & 4 != 0 => nic.addresses.push(ours),
            _ => local.push(LocalNic {
                name: local.len().to_string(),
                addresses: vec![ours],
                speed_bits_per_second: (fast < 128).then_some(speed(fast)),
                rss,
            }),
        }
    }
    let rules = Rules::Linerate(rules);
    let got = plan(&rules, &local, &server, primary);
    assert_eq!(got.pairs.first(), Some(&primary), "the primary comes first");
    assert!(
        got.pairs.len() <= usize::from(*most).max(1),
        "never more than allowed"
    );
    for pair in &got.pairs[1..] {
        let ours = local
            .iter()
            .flat_map(|nic| &nic.addresses)
            .any(|ours| ours.address == pair.local);
        let theirs = server.iter().any(|entry| entry.address == pair.remote);
        assert!(*pair == primary || (ours && theirs), "nothing is invented");
    }
    assert_eq!(
        got,
        plan(&rules, &local, &server, primary),
        "the same again"
    );
}
