//! What is measured: which task is done over which LAN.

use serde::{Deserialize, Serialize};

/// Bytes of the file for each Gbit/s where links have a line rate: two seconds and more.
const SLOW_BYTES_PER_GIGABIT: u64 = 256 << 20;
/// Bytes of the file where only the machine is the limit.
const FAST_BYTES: u64 = 2 << 30;
/// The share's name.
pub const SHARE: &str = "media";
/// Room on the share, which takes memory only where something is written.
const SHARE_SIZE: &str = "3GiB";

/// Which way the bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the server.
    Read,
    /// To the server.
    Write,
}

/// What protects the data on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protection {
    /// Nothing, as all programs and the server have it by default.
    Nothing,
    /// Both ends sign everything with AES-GMAC.
    Gmac,
}

/// Two hosts, their links and their server.
#[derive(Debug, PartialEq, Eq)]
pub struct Lan {
    /// Line rates of the links between the hosts in Mbit/s; 0 is as fast as the machine can.
    pub links_mbit: &'static [u32],
    /// Parameters of Samba that are not its defaults.
    parameters: &'static [(&'static str, &'static str)],
}

const GIGABIT: Lan = Lan {
    links_mbit: &[1000, 1000],
    parameters: &[],
};
const FOUR_GIGABIT: Lan = Lan {
    links_mbit: &[1000, 1000, 1000, 1000],
    parameters: &[],
};
const UNEQUAL: Lan = Lan {
    links_mbit: &[1000, 2500],
    parameters: &[],
};
const UNLIMITED: Lan = Lan {
    links_mbit: &[0],
    parameters: &[],
};
const TUNED: Lan = Lan {
    parameters: &[
        ("aio read size", "0"),
        ("aio write size", "0"),
        ("min receivefile size", "16384"),
        ("use sendfile", "yes"),
    ],
    ..UNLIMITED
};
/// The server knows no other algorithm, so that no client can be fast by choosing one.
const SIGNED: Lan = Lan {
    parameters: &[("server smb3 signing algorithms", "AES-128-GMAC")],
    ..UNLIMITED
};

/// One thing to measure.
#[derive(Debug)]
pub struct Workload {
    /// What `ONLY` and the results call it.
    pub name: &'static str,
    /// Where it runs.
    pub lan: &'static Lan,
    /// Which way the file goes.
    pub direction: Direction,
    /// Links that may be used.
    pub links: usize,
    /// Length of the file.
    pub bytes: u64,
    /// What protects the data.
    pub protection: Protection,
}

const fn workload(name: &'static str, lan: &'static Lan, direction: Direction) -> Workload {
    let links = lan.links_mbit.len();
    let (mut mbit, mut link) = (0, 0);
    while link < links {
        mbit += lan.links_mbit[link] as u64;
        link += 1;
    }
    let bytes = match mbit {
        0 => FAST_BYTES,
        mbit => SLOW_BYTES_PER_GIGABIT * mbit / 1000,
    };
    Workload {
        name,
        lan,
        direction,
        links,
        bytes,
        protection: Protection::Nothing,
    }
}

const fn on_one_link(workload: Workload) -> Workload {
    Workload {
        links: 1,
        bytes: SLOW_BYTES_PER_GIGABIT,
        ..workload
    }
}

const fn signed(workload: Workload) -> Workload {
    Workload {
        protection: Protection::Gmac,
        ..workload
    }
}

/// All workloads; those of one LAN stand together.
pub const WORKLOADS: [Workload; 14] = [
    on_one_link(workload("read_1x1gbe", &GIGABIT, Direction::Read)),
    on_one_link(workload("write_1x1gbe", &GIGABIT, Direction::Write)),
    workload("read_2x1gbe", &GIGABIT, Direction::Read),
    workload("write_2x1gbe", &GIGABIT, Direction::Write),
    workload("read_4x1gbe", &FOUR_GIGABIT, Direction::Read),
    workload("write_4x1gbe", &FOUR_GIGABIT, Direction::Write),
    workload("read_1gbe_2_5gbe", &UNEQUAL, Direction::Read),
    workload("write_1gbe_2_5gbe", &UNEQUAL, Direction::Write),
    workload("read_unlimited", &UNLIMITED, Direction::Read),
    workload("write_unlimited", &UNLIMITED, Direction::Write),
    workload("read_unlimited_tuned", &TUNED, Direction::Read),
    workload("write_unlimited_tuned", &TUNED, Direction::Write),
    signed(workload("read_unlimited_signed", &SIGNED, Direction::Read)),
    signed(workload(
        "write_unlimited_signed",
        &SIGNED,
        Direction::Write,
    )),
];

/// The workloads that `ONLY` names, separated by commas; all where it names none.
pub fn chosen(only: &str) -> Result<Vec<&'static Workload>, String> {
    let wanted: Vec<&str> = only
        .split([',', ' '])
        .filter(|name| !name.is_empty())
        .collect();
    let unknown = wanted
        .iter()
        .find(|name| WORKLOADS.iter().all(|known| known.name != **name));
    if let Some(unknown) = unknown {
        let names: Vec<&str> = WORKLOADS.iter().map(|workload| workload.name).collect();
        return Err(format!(
            "there is no workload `{unknown}`\nhint: ONLY takes some of {}, separated by commas",
            names.join(", ")
        ));
    }
    let is_wanted = |known: &&Workload| wanted.is_empty() || wanted.contains(&known.name);
    Ok(WORKLOADS.iter().filter(is_wanted).collect())
}

impl Workload {
    /// The part of the file that each link carries when all are full.
    pub fn bytes_of_link(&self, link: usize) -> u64 {
        // A link without a rate counts as one: there is no other beside it.
        let weights = self.lan.links_mbit[..self.links].iter();
        let weights: Vec<u64> = weights.map(|&mbit| u64::from(mbit.max(1))).collect();
        self.bytes / weights.iter().sum::<u64>() * weights[link]
    }
}

impl Lan {
    /// Address of one end of a link, which counts from 0.
    fn address(link: usize, host: u8) -> String {
        format!("10.77.{}.{host}", link + 1)
    }

    /// Address of the server on a link.
    pub fn server(link: usize) -> String {
        Self::address(link, 2)
    }

    /// The topology, as `linerate lab up` takes it.
    pub fn topology(&self) -> String {
        let mut text = "[[host]]\nname = \"client\"\n[[host]]\nname = \"server\"\n".to_owned();
        for (link, mbit) in self.links_mbit.iter().enumerate() {
            let end = |host: &str, number: u8| {
                let address = Self::address(link, number);
                format!("{{ host = \"{host}\", nic = \"lan{link}\", address = \"{address}/24\" }}")
            };
            let (from, to) = (end("client", 1), end("server", 2));
            text.push_str(&format!("[[link]]\nfrom = {from}\nto = {to}\nmtu = 1500\n"));
            if *mbit > 0 {
                text.push_str(&format!("rate = \"{mbit}Mbit\"\n"));
            }
        }
        text.push_str(&format!(
            "[samba]\nhost = \"server\"\nmultichannel = true\n\
             [[samba.share]]\nname = \"{SHARE}\"\nmedium = \"memory\"\nsize = \"{SHARE_SIZE}\"\n\
             [samba.global]\n"
        ));
        for (name, value) in self.parameters {
            text.push_str(&format!("\"{name}\" = \"{value}\"\n"));
        }
        text
    }
}
