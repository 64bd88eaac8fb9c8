//! What is measured: which task is done over which LAN.

use serde::{Deserialize, Serialize};

/// Bytes of the file for each Gbit/s where links have a line rate: two seconds and more.
const SLOW_BYTES_PER_GIGABIT: u64 = 256 << 20;
/// Bytes of the file where only the machine is the limit.
const FAST_BYTES: u64 = 2 << 30;
/// Files of a tree.
const TREE_FILES: usize = 10_000;
/// Folders of a tree.
pub const TREE_FOLDERS: usize = 20;
/// Bytes of each file of a tree.
pub const TREE_FILE_BYTES: usize = 4096;
/// Entries of a folder that is listed.
const LIST_ENTRIES: usize = 100_000;
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

/// What is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// One file.
    File,
    /// Folders of small files, this many in all.
    Tree(usize),
    /// The names and sizes of this many entries of one folder.
    List(usize),
}

/// What protects the data on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protection {
    /// Nothing, as all programs and the server have it by default.
    Nothing,
    /// Both ends sign everything with AES-GMAC.
    Gmac,
    /// Both ends encrypt everything with AES-128-GCM.
    Gcm,
}

/// Who answers on the server's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FarEnd {
    /// Samba, with files.
    Samba,
    /// Our own server that is not the limit, see [`crate::speeds::null_smb_server`].
    Null,
}

impl FarEnd {
    /// Where it listens.
    pub const fn port(self) -> u16 {
        match self {
            Self::Samba => 445,
            Self::Null => 4450,
        }
    }
}

/// Two hosts, their links and their server.
#[derive(Debug, PartialEq, Eq)]
pub struct Lan {
    /// Line rates of the links between the hosts in Mbit/s; 0 is as fast as the machine can.
    pub links_mbit: &'static [u32],
    /// Delay of the links in each direction.
    delay_microseconds: u32,
    /// Parameters of Samba that are not its defaults.
    parameters: &'static [(&'static str, &'static str)],
}

const GIGABIT: Lan = Lan {
    links_mbit: &[1000, 1000],
    delay_microseconds: 0,
    parameters: &[],
};
const FOUR_GIGABIT: Lan = Lan {
    links_mbit: &[1000, 1000, 1000, 1000],
    delay_microseconds: 0,
    parameters: &[],
};
const UNEQUAL: Lan = Lan {
    links_mbit: &[1000, 2500],
    delay_microseconds: 0,
    parameters: &[],
};
const UNLIMITED: Lan = Lan {
    links_mbit: &[0],
    delay_microseconds: 0,
    parameters: &[],
};
/// As over a few hundred kilometres, or a slow wireless network.
const DELAYED: Lan = Lan {
    delay_microseconds: 500,
    ..UNLIMITED
};
const DELAYED_GIGABIT: Lan = Lan {
    links_mbit: &[1000],
    ..DELAYED
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

/// The server knows no other cipher, and insists on it.
const ENCRYPTED: Lan = Lan {
    parameters: &[
        ("server smb3 encryption algorithms", "AES-128-GCM"),
        ("smb encrypt", "required"),
    ],
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
    /// What is moved.
    pub task: Task,
    /// Bytes of payload in all.
    pub bytes: u64,
    /// What protects the data.
    pub protection: Protection,
    /// Who answers.
    pub far_end: FarEnd,
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
        task: Task::File,
        bytes,
        protection: Protection::Nothing,
        far_end: FarEnd::Samba,
    }
}

/// Against a server that is not the limit.
const fn against_null(workload: Workload) -> Workload {
    Workload {
        far_end: FarEnd::Null,
        ..workload
    }
}

/// 10 000 files of 4 KiB in 20 folders.
const fn tree(workload: Workload) -> Workload {
    Workload {
        task: Task::Tree(TREE_FILES),
        bytes: TREE_FILES as u64 * TREE_FILE_BYTES as u64,
        ..workload
    }
}

/// One folder of 100 000 files with nothing in them.
const fn list(workload: Workload) -> Workload {
    Workload {
        task: Task::List(LIST_ENTRIES),
        bytes: 0,
        ..workload
    }
}

const fn encrypted(workload: Workload) -> Workload {
    Workload {
        protection: Protection::Gcm,
        ..workload
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
pub const WORKLOADS: [Workload; 26] = [
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
    tree(workload("tree_down", &UNLIMITED, Direction::Read)),
    tree(workload("tree_up", &UNLIMITED, Direction::Write)),
    list(workload("list_100k", &UNLIMITED, Direction::Read)),
    against_null(workload("read_source", &UNLIMITED, Direction::Read)),
    against_null(workload("write_sink", &UNLIMITED, Direction::Write)),
    workload("read_unlimited_tuned", &TUNED, Direction::Read),
    workload("write_unlimited_tuned", &TUNED, Direction::Write),
    signed(workload("read_unlimited_signed", &SIGNED, Direction::Read)),
    workload("read_unlimited_unsigned", &SIGNED, Direction::Read),
    signed(workload(
        "write_unlimited_signed",
        &SIGNED,
        Direction::Write,
    )),
    workload("write_unlimited_unsigned", &SIGNED, Direction::Write),
    encrypted(workload(
        "read_unlimited_encrypted",
        &ENCRYPTED,
        Direction::Read,
    )),
    encrypted(workload(
        "write_unlimited_encrypted",
        &ENCRYPTED,
        Direction::Write,
    )),
    tree(workload("tree_down_rtt1ms", &DELAYED, Direction::Read)),
    workload("read_1x1gbe_rtt1ms", &DELAYED_GIGABIT, Direction::Read),
    workload("write_1x1gbe_rtt1ms", &DELAYED_GIGABIT, Direction::Write),
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
    /// What the rate of a run counts that moved so many bytes, and its unit.
    pub const fn counts(&self, bytes: u64) -> (f64, &'static str) {
        match self.task {
            Task::File => (bytes as f64 / 1e6, "MB/s"),
            Task::Tree(files) => (files as f64, "files/s"),
            Task::List(entries) => (entries as f64, "entries/s"),
        }
    }

    /// Whether both move the same file over the same links, so that one can run after the other.
    pub fn is_like(&self, other: &Self) -> bool {
        let what = |it: &Self| (it.direction, it.links, it.task, it.bytes, it.far_end);
        what(self) == what(other)
    }

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

    /// Address of a guest that takes the client's place on a link.
    pub fn guest(link: usize) -> String {
        Self::address(link, 3)
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
            if self.delay_microseconds > 0 {
                let milliseconds = f64::from(self.delay_microseconds) / 1000.0;
                text.push_str(&format!("delay_ms = {milliseconds:?}\n"));
            }
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
