//! The reverse path: packets that the server is asked to send, and what both ends count of those that vanish.

use std::net::IpAddr;

use host::Host;
use host::exec::{Command, Output};
use record::{HostFacts, MtuProof, Vanished};

/// Packets of a size that is known to pass.
const PASSING: u64 = 2;
/// Packets that are sent each way where they vanish: more than what else a host is asked in that time.
const VANISHING: u64 = 5;
/// Pairs on which the server may ask in vain; each costs more than a second.
const IN_VAIN_MAX: u32 = 4;
/// Bytes of the headers of IP and ICMP.
const HEADER_BYTES: u32 = 28;
/// The same of IPv6.
const HEADER_BYTES_V6: u32 = 48;

/// A host, and what is known of it.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    pub host: &'a Host,
    pub facts: Option<&'a HostFacts>,
}

/// A NIC of one host that sends to the other one.
#[derive(Clone, Copy)]
struct End<'a> {
    host: &'a Host,
    nic: &'a str,
    address: IpAddr,
}

/// What a host has counted until now.
#[derive(Clone, Copy)]
struct Counts {
    /// Echo requests that its system has seen.
    echoes: Option<u64>,
    /// Packets that the NIC has refused as faulty, and those that it has for their length or frame: a
    /// driver counts these in the first, or in the second only.
    refused: Option<[u64; 2]>,
}

/// Completes proofs by what only the two ends can tell: whether as much passes on the reverse path and, for the
/// first pair where larger packets vanish, who still counts them.
pub fn complete(client: Known, server: Option<Known>, proofs: &mut [MtuProof]) {
    let mut in_vain = 0;
    for proof in proofs.iter_mut() {
        if let Some(((near, remote), server)) = near_end(client, proof).zip(server)
            && let Some(size) = proof.path_mtu().filter(|_| in_vain < IN_VAIN_MAX)
        {
            proof.reverse_mtu = reverse_mtu(server.host, near.address, remote, size);
            in_vain += u32::from(proof.reverse_mtu.is_none());
        }
    }
    let Some(hole) = proofs.iter_mut().find(|proof| proof.is_black_hole()) else {
        return;
    };
    if let Some((near, remote)) = near_end(client, hole) {
        let far = server.and_then(|server| far_end(server, remote));
        // Whoever is not heard with what passes is not heard with more either.
        let asked = far.filter(|_| hole.reverse_mtu.is_some());
        hole.vanished = vanished(near, remote, far, asked, hole.wanted());
    }
}

fn far_end(server: Known<'_>, remote: IpAddr) -> Option<End<'_>> {
    Some(End {
        host: server.host,
        nic: &server.facts?.nic_with(remote)?.name,
        address: remote,
    })
}

fn near_end<'a>(client: Known<'a>, proof: &MtuProof) -> Option<(End<'a>, IpAddr)> {
    let remote = proof.remote?;
    let nic = client.facts?.nic(&proof.nic)?;
    let ours = nic.addresses.iter().find(|entry| entry.contains(remote))?;
    let end = End {
        host: client.host,
        nic: &nic.name,
        address: ours.address,
    };
    Some((end, remote))
}

/// Has the server send a packet of the size that passed on the forward path.
fn reverse_mtu(server: &Host, ours: IpAddr, remote: IpAddr, size: u32) -> Option<u32> {
    let outputs = server
        .exec
        .run(&[ping(size, PASSING, &remote.to_string(), ours)?]);
    (outputs.ok()?.first()?.status == 0).then_some(size)
}

/// Echo requests in packets of this size, which nobody may cut.
fn ping(size: u32, count: u64, from: &str, to: IpAddr) -> Option<Command> {
    let headers = match to {
        IpAddr::V4(_) => HEADER_BYTES,
        IpAddr::V6(_) => HEADER_BYTES_V6,
    };
    let payload = size.checked_sub(headers)?.to_string();
    let (count, to) = (count.to_string(), to.to_string());
    Some(Command::new([
        "ping", "-n", "-q", "-c", &count, "-i", "0.2", "-W", "1", "-M", "do", "-s", &payload, "-I",
        from, &to,
    ]))
}

/// Sends packets that vanish from both ends, or from ours alone, and looks who counts them.
fn vanished(
    near: End<'_>,
    remote: IpAddr,
    far: Option<End<'_>>,
    asked: Option<End<'_>>,
    size: u32,
) -> Option<Vanished> {
    let counts = || (near.counts(remote), far.map(|far| far.counts(remote)));
    let before = counts();
    near.sends_in_vain(ping(size, VANISHING, near.nic, remote)?)?;
    let between = counts();
    let back = asked.and_then(|far| {
        let from = far.address.to_string();
        far.sends_in_vain(ping(size, VANISHING, &from, near.address)?)
    });
    let after = counts();
    let seen_by_server = grown(before.1, between.1, |far| far.echoes);
    Some(Vanished {
        size,
        sent: VANISHING,
        seen_by_server,
        seen_by_client: back
            .and_then(|()| grown(Some(between.0), Some(after.0), |near| near.echoes)),
        near_refused: refused(Some(before.0), Some(after.0)),
        far_refused: refused(before.1, after.1),
    })
}

fn grown(
    before: Option<Counts>,
    after: Option<Counts>,
    of: impl Fn(&Counts) -> Option<u64>,
) -> Option<u64> {
    of(&after?)?.checked_sub(of(&before?)?)
}

fn refused(before: Option<Counts>, after: Option<Counts>) -> Option<u64> {
    let which = [0, 1].map(|which| {
        grown(before, after, move |counts| {
            counts.refused.map(|counts| counts[which])
        })
    });
    which.into_iter().flatten().max()
}

impl End<'_> {
    fn counts(&self, remote: IpAddr) -> Counts {
        let files = ["/proc/net/dev", "/proc/net/snmp", "/proc/net/snmp6"];
        let commands = files.map(|file| Command::new(["cat", file]));
        let outputs = self.host.exec.run(&commands).unwrap_or_default();
        let text = |index: usize| {
            outputs
                .get(index)
                .and_then(Output::text)
                .unwrap_or_default()
        };
        Counts {
            echoes: match remote {
                IpAddr::V4(_) => echoes(&text(1)),
                IpAddr::V6(_) => echoes_v6(&text(2)),
            },
            refused: faulty(&text(0), self.nic),
        }
    }

    /// Nothing where they did not leave, or somebody said why they go no further.
    fn sends_in_vain(&self, ping: Command) -> Option<()> {
        let outputs = self.host.exec.run(&[ping]).ok()?;
        let said = String::from_utf8_lossy(&outputs.first()?.stdout).into_owned();
        is_silence(&said).then_some(())
    }
}

/// Whether `ping` sent everything and heard nothing, not even an error.
fn is_silence(said: &str) -> bool {
    let mut lines = said.lines();
    let all = format!("{VANISHING} packets transmitted, 0 ");
    lines.any(|line| line.starts_with(&all) && !line.contains("errors"))
}

/// Echo requests in `/proc/net/snmp`: a line of names and one of values.
fn echoes(snmp: &str) -> Option<u64> {
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Icmp:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let at = names
        .split_whitespace()
        .position(|name| name == "InEchos")?;
    values.split_whitespace().nth(at)?.parse().ok()
}

/// The same in `/proc/net/snmp6`: a name and a value in each line.
fn echoes_v6(snmp: &str) -> Option<u64> {
    let mut lines = snmp.lines().map(str::split_whitespace);
    let mut words =
        lines.find_map(|mut words| (words.next() == Some("Icmp6InEchos")).then_some(words))?;
    words.next()?.parse().ok()
}

/// What a NIC received in vain, by `/proc/net/dev`: all that was faulty, and what was for its length or frame.
fn faulty(dev: &str, nic: &str) -> Option<[u64; 2]> {
    let mut lines = dev.lines().filter_map(|line| line.split_once(':'));
    let (_, values) = lines.find(|(name, _)| name.trim() == nic)?;
    let values: Vec<&str> = values.split_whitespace().collect();
    let value = |at: usize| values.get(at)?.parse().ok();
    Some([value(2)?, value(5)?])
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex};

    use host::exec::Replay;
    use record::{HostName, InterfaceAddress, LinkState, Nic, System, TcpFacts};

    use super::*;

    const NOBODY: &str = "5 packets transmitted, 0 received, 100% packet loss, time 830ms\n";

    fn snmp(echoes: u64) -> String {
        format!("Icmp: InMsgs InErrors InEchos\nIcmp: 9 0 {echoes}\n")
    }

    fn snmp6(echoes: u64) -> String {
        format!("Icmp6InMsgs                     \t9\nIcmp6InEchos                    \t{echoes}\n")
    }

    fn dev(faulty: u64, frame: u64) -> String {
        format!(
            "Inter-| Receive\n    lo: 1 1 0 0 0 0 0 0 1 1\n  lan1: 9 9 {faulty} 0 0 {frame} 0 0 9 9\n"
        )
    }

    /// A host that counts so many echo requests and faulty packets, one after the other, each time it is
    /// asked, and whose `ping` of this payload is answered; the commands that it was given.
    fn host(counts: &[[u64; 3]], answered: &'static str) -> (Host, Arc<Mutex<Vec<String>>>) {
        let mut counts: VecDeque<[u64; 3]> = counts.iter().copied().collect();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let commands = heard.clone();
        let exec = Replay::model(move |command: &Command| {
            let words: Vec<&str> = command.argv.iter().map(String::as_str).collect();
            if words[0] == "ping" {
                commands.lock().unwrap().push(words.join(" "));
            }
            let [echoes, faulty, frame] = counts.front().copied().unwrap_or_default();
            let (status, said) = match words[..] {
                ["uname", ..] => (0, "Linux\n".to_owned()),
                ["cat", "/proc/net/dev"] => (0, dev(faulty, frame)),
                ["cat", "/proc/net/snmp"] => (0, snmp(echoes)),
                ["cat", "/proc/net/snmp6"] => {
                    counts.pop_front();
                    (0, snmp6(echoes))
                }
                ["ping", ..] if words.contains(&answered) => (0, String::new()),
                ["ping", ..] => (1, NOBODY.to_owned()),
                _ => (0, "1\n".to_owned()),
            };
            Ok(Output {
                status,
                stdout: said.into_bytes(),
                stderr: Vec::new(),
            })
        });
        let host = Host::new(HostName::new("host"), Arc::new(exec)).unwrap();
        (host, heard)
    }

    fn facts(address: &str) -> HostFacts {
        let address = address.parse().unwrap();
        HostFacts {
            name: HostName::new("host"),
            system: System::Linux,
            kernel: "6.18".into(),
            machine: None,
            boot: None,
            cores: 2,
            memory: None,
            nics: vec![Nic {
                name: "lan1".into(),
                index: 2,
                mac: None,
                mtu: 9000,
                mtu_max: None,
                speed: None,
                shaped: None,
                state: LinkState::Up,
                driver: None,
                kind: None,
                medium: None,
                port_of: None,
                modes: None,
                addresses: vec![InterfaceAddress {
                    address,
                    prefix: if address.is_ipv4() { 24 } else { 64 },
                }],
                offloads: std::collections::BTreeMap::new(),
                rx_queues: None,
                tx_queues: None,
            }],
            routes: Vec::new(),
            tcp: TcpFacts::default(),
        }
    }

    fn hole(remote: &str) -> MtuProof {
        MtuProof {
            nic: "lan1".into(),
            remote: Some(remote.parse().unwrap()),
            near_mtu: 9000,
            far_mtu: Some(9000),
            answered: Some(1500),
            unanswered: Some(1501),
            ..MtuProof::default()
        }
    }

    /// The two ends are known by their addresses, the server's only where there is one.
    fn completed(
        client: (&Host, &str),
        server: Option<(&Host, Option<&str>)>,
        proof: MtuProof,
    ) -> MtuProof {
        let ours = facts(client.1);
        let theirs = server.and_then(|(_, address)| address).map(facts);
        let client = Known {
            host: client.0,
            facts: Some(&ours),
        };
        let server = server.map(|(host, _)| Known {
            host,
            facts: theirs.as_ref(),
        });
        let mut proofs = [proof];
        complete(client, server, &mut proofs);
        let [proof] = proofs;
        proof
    }

    #[test]
    fn the_way_back_is_proven_for_both_families() {
        let families = [
            ("10.0.0.1", "10.0.0.2", "1472"),
            ("fd00::1", "fd00::2", "1452"),
        ];
        for (ours, theirs, payload) in families {
            let (client, _) = host(&[], "none");
            let (server, asked) = host(&[], payload);
            let proof = MtuProof {
                near_mtu: 1500,
                far_mtu: Some(1500),
                unanswered: None,
                ..hole(theirs)
            };
            let proof = completed((&client, ours), Some((&server, None)), proof);
            assert_eq!((proof.reverse_mtu, proof.vanished), (Some(1500), None));
            let command = asked.lock().unwrap().join("; ");
            assert!(
                command.ends_with(&format!("-M do -s {payload} -I {theirs} {ours}")),
                "{command}"
            );
            // Another size is not what comes back.
            let (server, _) = host(&[], "1000");
            let proof = completed((&client, ours), Some((&server, None)), proof);
            assert_eq!(proof.reverse_mtu, None);
        }
    }

    #[test]
    fn what_vanishes_is_counted_at_both_ends_and_each_way() {
        let families = [
            ("10.0.0.1", "10.0.0.2", "1472"),
            ("fd00::1", "fd00::2", "1452"),
        ];
        for (ours, theirs, payload) in families {
            // One other request comes in at either end; the client's NIC refuses two packets.
            let (client, _) = host(&[[7, 1, 1], [8, 1, 1], [8, 1, 3]], "none");
            let (server, _) = host(&[[3, 0, 0], [3, 0, 0], [4, 0, 0]], payload);
            let server = Some((&server, Some(theirs)));
            let proof = completed((&client, ours), server, hole(theirs));
            let expected = Vanished {
                size: 9000,
                sent: 5,
                seen_by_server: Some(0),
                seen_by_client: Some(0),
                near_refused: Some(2),
                far_refused: Some(0),
            };
            assert_eq!(proof.vanished, Some(expected));
            // From one end: our own NIC alone is known.
            let (client, _) = host(&[[7, 0, 0], [8, 5, 5], [8, 5, 5]], "none");
            let proof = completed((&client, ours), None, hole(theirs));
            let expected = Vanished {
                size: 9000,
                sent: 5,
                near_refused: Some(5),
                ..Vanished::default()
            };
            assert_eq!(proof.vanished, Some(expected));
        }
    }

    #[test]
    fn only_silence_is_silence() {
        assert!(is_silence(&format!(
            "PING 10.0.0.2\n\n--- statistics\n{NOBODY}"
        )));
        for other in [
            "",
            "4 packets transmitted, 0 received, 100% packet loss",
            "5 packets transmitted, 1 received, 80% packet loss",
            "5 packets transmitted, 0 received, +5 errors, 100% packet loss",
        ] {
            assert!(!is_silence(other), "{other}");
        }
    }
}
