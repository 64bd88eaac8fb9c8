//! Random LANs of a client, a switch and a server, each with an MTU of its own, and what the probes say
//! of them. The benchmark tries many, the tests a few.

use std::path::Path;
use std::time::Duration;

use host::exec::{Command, Exec, run_one};
use measure::{MtuTarget, Runner, Stop};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use record::MtuProof;

/// The LAN whose MTUs are set again and again.
pub const TOPOLOGY: &str = r#"
[[host]]
name = "client"
[[host]]
name = "server"
[[switch]]
name = "switch"
mtu = 1500
[[link]]
from = { host = "client", nic = "lan1", address = "10.77.1.1/24" }
to = { switch = "switch" }
[[link]]
from = { host = "server", nic = "lan1", address = "10.77.1.2/24" }
to = { switch = "switch" }
[samba]
host = "server"
"#;
/// Sizes that people have, beside any other.
const USUAL: [u32; 10] = [576, 1280, 1420, 1450, 1492, 1500, 4000, 8972, 9000, 9216];
/// The longest that one proof may take.
pub const TIME_MAX: Duration = Duration::from_secs(3);

/// The three MTUs of one LAN.
#[derive(Clone, Copy, Debug)]
pub struct Mtus {
    pub client: u32,
    pub switch: u32,
    pub server: u32,
}

impl Mtus {
    fn path(self) -> u32 {
        self.client.min(self.switch).min(self.server)
    }

    fn is_black_hole(self) -> bool {
        self.switch < self.client.min(self.server)
    }
}

/// Some that are known to be different kinds of path, and then random ones.
pub fn topologies(seed: u64, count: usize) -> Vec<Mtus> {
    let known = [
        (9000, 1500, 9000),
        (9000, 9216, 9000),
        (9000, 9216, 1500),
        (1500, 9216, 9000),
        (9216, 576, 9216),
        (1500, 1492, 1500),
    ];
    let known = known.map(|(client, switch, server)| Mtus {
        client,
        switch,
        server,
    });
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut any = || match random.random_bool(0.5) {
        true => USUAL.choose(&mut random).copied().unwrap_or(1500),
        false => random.random_range(576..=9216),
    };
    let drawn: Vec<Mtus> = (0..count)
        .map(|_| Mtus {
            client: any(),
            switch: any(),
            server: any(),
        })
        .collect();
    known.into_iter().chain(drawn).take(count).collect()
}

/// Proves the path of one LAN; what is wrong about it, if anything is.
pub fn prove(lab: &lab::Lab, program: &Path, mtus: Mtus) -> Result<MtuProof, String> {
    let set = |node: &str, nic: &str, mtu: u32| {
        let namespace = lab.namespace(node).expect("the lab has it");
        let mtu = mtu.to_string();
        let command = Command::new(["ip", "link", "set", "dev", nic, "mtu", &mtu]);
        run_one(namespace as &dyn Exec, &command).expect("the kernel takes it");
    };
    set("client", "lan1", mtus.client);
    set("server", "lan1", mtus.server);
    for nic in ["port1", "port2", "bridge"] {
        set("switch", nic, mtus.switch);
    }
    let client = lab.host("client").expect("the lab has it");
    let runner = Runner::new(client.exec, program.display().to_string());
    let target = MtuTarget {
        nic: "lan1".into(),
        mtu: mtus.client,
        remote: "10.77.1.2".parse().expect("an address"),
        port: Some(445),
    };
    let proofs = runner.prove_mtus(&[target], &Stop::new());
    let proofs = proofs.expect("the program runs");
    let proof = proofs.into_iter().next().expect("one proof for one target");
    let right = proof.path_mtu() == Some(mtus.path())
        && proof.is_black_hole() == mtus.is_black_hole()
        && Duration::from_nanos(proof.took.get()) < TIME_MAX;
    right
        .then(|| proof.clone())
        .ok_or_else(|| format!("{mtus:?}: {proof:?}"))
}
