//! A host whose SMB client is that of Linux itself: not every machine's kernel has `cifs`, and a mount of it would
//! outlive a lab that is killed. A kernel that runs as a process (user-mode Linux) takes the host's place on the LAN
//! while one program runs, with the files of this machine and with other addresses.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::IpAddr;

use host::exec::shell::{posix_word, posix_words};
use host::exec::{Command, Exec as _, run_one};
use locale::say;
use record::ShareAddress;

use super::Namespace;
use crate::{Address, End, Error, Ran, Topology};

/// The kernel, and the folder of its modules.
const KERNEL: &str = "linux.uml";
const MODULE_FOLDER: &str = "/usr/lib/uml/modules";
/// What `cifs.ko` needs, in this order.
const MODULES: &str = "asn1_decoder oid_registry cifs_arc4 cifs_md4 dns_resolver cmac ccm ctr \
    sha512_generic ecb hmac libarc4 libdes nls_utf8 gf128mul ghash-generic gcm";
/// What lets it run on a processor with more registers than it knows, in C; a script that makes that of its first argument,
/// in the folder that is the second one, and runs the rest with it; and the program that it takes.
const REGISTERS: &str = include_str!("whole_register_sets.c");
const WITH_REGISTERS: &str = "mkdir -p $1
made=$1/registers.so
shift
printf %s \"$0\" | cc -O2 -shared -fPIC -x c -o $made - && LD_PRELOAD=$made exec \"$@\"";
const COMPILER: (&str, &str) = ("cc", "gcc");
/// Memory of the guest.
const MEMORY: &str = "mem=1024M";
/// Programs it takes on any machine, with Debian's packages of them.
const PROGRAMS: [(&str, &str); 4] = [
    (KERNEL, "user-mode-linux"),
    ("bash", "bash"),
    ("insmod", "kmod"),
    ("mount.cifs", "cifs-utils"),
];
/// Where the guest finds what it is to do, and leaves what came of it.
const FOLDER: &str = "/run/linerate/guest";
/// Most of what the kernel or a mount says that an error repeats.
const WORDS_MAX: usize = 2000;
/// Of our own environment the guest's program gets these; none of them is a secret.
const PASSED_ON: [&str; 6] = [
    "LANG",
    "LC_ALL",
    "LC_MESSAGES",
    "LINERATE_LOG",
    "LINERATE_STATE_DIR",
    "RUST_BACKTRACE",
];
/// Where it finds programs.
const SEARCHED: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What is to be run, and with which share mounted.
pub(super) struct Guest<'a> {
    pub(super) topology: &'a Topology,
    pub(super) node: &'a str,
    pub(super) namespace: &'a Namespace,
    pub(super) share: &'a ShareAddress,
    /// Options of the mount, without credentials.
    pub(super) options: &'a str,
    pub(super) argv: &'a [String],
}

impl Guest<'_> {
    /// Runs the program. What it prints is passed on when it has ended.
    pub(super) fn run(&self) -> Result<Ran, Error> {
        let ends: Vec<(&End, Address)> = self
            .topology
            .ends_of(self.node)
            .filter_map(|end| Some((end, end.address?)))
            .collect();
        let script = self.script(&ends)?;
        self.prepare(&script).map_err(|source| Error::System {
            action: say("error-lab.prepare-guest"),
            subject: self.node.into(),
            source,
        })?;
        let nics: Vec<(&str, u32)> = ends.iter().map(|(end, _)| (&*end.nic, end.mtu)).collect();
        let attached = GuestNics::attach(self.namespace, &nics)
            .map_err(Error::running(say("error-lab.run-program"), self.node))?;
        let kernel = format!(
            "exec {} </dev/null >{FOLDER}/kernel 2>&1",
            posix_words(&attached.kernel(&format!("{FOLDER}/script")))
        );
        let command = Command::new(["bash", "-c", &kernel]);
        let ran = self
            .namespace
            .run_attached(&command)
            .map_err(Error::running(say("error-lab.run-program"), self.node))?;
        self.pass_on("stdout", &mut io::stdout());
        self.pass_on("stderr", &mut io::stderr());
        match (ran, self.said("status").trim().parse()) {
            (Ran::Stopped, _) => Ok(Ran::Stopped),
            (Ran::Ended(_), Ok(status)) => Ok(Ran::Ended(status)),
            (Ran::Ended(_), Err(_)) => {
                let said = [self.said("mount"), self.said("kernel")];
                let said = said
                    .iter()
                    .map(|said| said.trim())
                    .find(|said| !said.is_empty());
                let said = said.map_or("", |said| end_of(said));
                Err(Error::Guest {
                    host: self.node.to_owned(),
                    said: said.to_owned(),
                })
            }
        }
    }

    fn prepare(&self, script: &str) -> io::Result<()> {
        let folder = self.namespace.path(FOLDER);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir(&folder)?;
        fs::write(folder.join("script"), script)
    }

    /// What the guest left in one of its files.
    fn said(&self, name: &str) -> String {
        let path = self.namespace.path(FOLDER).join(name);
        let bytes = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn pass_on(&self, name: &str, to: &mut dyn Write) {
        let path = self.namespace.path(FOLDER).join(name);
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
        // Who closed our output does not want it.
        if read.is_ok() {
            to.write_all(&bytes).and_then(|()| to.flush()).ok();
        }
    }

    /// What the guest's first process does: loads the client, mounts, runs the program, and switches off.
    fn script(&self, ends: &[(&End, Address)]) -> Result<String, Error> {
        let links = self.links(ends)?;
        let ShareAddress { server, share, .. } = self.share;
        let source = posix_word(&format!("//{server}/{share}"));
        let folder = posix_word(&format!("/mnt/{share}"));
        let options = format!(
            "credentials={},{}",
            crate::CREDENTIALS_IN_HOST,
            self.options
        );
        let options = posix_word(options.trim_end_matches(','));
        let program = posix_words(self.argv);
        let load_client = load_client("");
        let environment = environment();
        let within = std::env::current_dir().ok();
        let within = within.as_deref().and_then(std::path::Path::to_str);
        let within = posix_word(within.unwrap_or("/"));
        Ok(format!(
            "export PATH={SEARCHED} HOME=/root{environment}
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /mnt
exec </dev/null >{FOLDER}/mount 2>&1
trap 'sync; echo o >/proc/sysrq-trigger; sleep 9' EXIT
set -e
mkdir {folder}
{load_client}# Asked for rings, its NIC reads a queue that it does not have, and the kernel panics.
ethtool=$(command -v ethtool)
if [ -n \"$ethtool\" ]; then
    cp $ethtool {FOLDER}/ethtool
    printf '%s\\n' '#!/bin/sh' 'case $1 in -g | -G) echo \"Operation not supported\" >&2; exit 76 ;; esac' \\
        'exec {FOLDER}/ethtool \"$@\"' >{FOLDER}/without-rings
    chmod +x {FOLDER}/without-rings
    mount --bind {FOLDER}/without-rings $ethtool
fi
ip link set dev lo up
{links}mount -t cifs {source} {folder} -o {options}
set +e
cd {within} || cd /
{program} >{FOLDER}/stdout 2>{FOLDER}/stderr
status=$?
cd /
umount {folder}
echo $status >{FOLDER}/status
"
        ))
    }

    /// Lines that set the guest's NICs up.
    fn links(&self, ends: &[(&End, Address)]) -> Result<String, Error> {
        let mut links = String::new();
        for (index, (end, address)) in ends.iter().enumerate() {
            let free = self.free_address(address)?;
            // Writing to a string cannot fail.
            writeln!(links, "ip link set dev vec{index} mtu {} up", end.mtu).ok();
            let at_once = if free.is_ipv6() { " nodad" } else { "" };
            let prefix = address.prefix;
            writeln!(
                links,
                "ip address add {free}/{prefix} dev vec{index}{at_once}"
            )
            .ok();
        }
        Ok(links)
    }

    /// An address of the same network that is free in the lab.
    fn free_address(&self, address: &Address) -> Result<IpAddr, Error> {
        let ends = self.topology.links.iter().flat_map(|link| &link.ends);
        let taken: BTreeSet<IpAddr> = ends.filter_map(|end| end.address).map(|it| it.ip).collect();
        let found = (1..=250).find_map(|last: u8| {
            let candidate = match address.ip {
                IpAddr::V4(ip) => {
                    let [a, b, c, _] = ip.octets();
                    IpAddr::from([a, b, c, last])
                }
                IpAddr::V6(ip) => {
                    let mut octets = ip.octets();
                    octets[15] = last;
                    IpAddr::from(octets)
                }
            };
            let is_in = Address {
                ip: candidate,
                ..*address
            };
            (is_in.shares_subnet_with(*address) && !taken.contains(&candidate)).then_some(candidate)
        });
        found.ok_or_else(|| Error::Guest {
            host: self.node.to_owned(),
            said: format!("{}/{}", address.ip, address.prefix),
        })
    }
}

/// The end of a long text.
fn end_of(said: &str) -> &str {
    let from = said.len().saturating_sub(WORDS_MAX);
    let from = (from..said.len()).find(|at| said.is_char_boundary(*at));
    from.map_or("", |from| &said[from..])
}

/// Whether the processor has registers that the guest does not know (AMX).
fn has_more_registers() -> bool {
    let facts = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    facts.split_whitespace().any(|flag| flag == "amx_tile")
}

/// The programs that a guest takes on this machine, with Debian's packages of them.
pub(super) fn programs() -> impl Iterator<Item = (&'static str, &'static str)> {
    PROGRAMS
        .into_iter()
        .chain(has_more_registers().then_some(COMPILER))
}

/// What of our own environment the guest's program gets.
fn environment() -> String {
    let passed_on = PASSED_ON.iter().filter_map(|name| {
        let value = std::env::var(name).ok()?;
        Some(format!(" {name}={}", posix_word(&value)))
    });
    passed_on.collect()
}

/// The bridge of a link, and the guest's device in it.
fn names(link: usize) -> [String; 2] {
    [format!("guest{link}b"), format!("guest{link}")]
}

/// Shell lines that load the guest's SMB client, with these parameters of its module.
#[must_use]
pub fn load_client(parameters: &str) -> String {
    format!(
        "modules=$(find {MODULE_FOLDER}/$(uname -r) -name '*.ko')
for module in {MODULES}; do
    for file in $modules; do
        case $file in */$module.ko) insmod $file || true ;; esac
    done
done
for file in $modules; do
    case $file in */cifs.ko) insmod $file {parameters} ;; esac
done
"
    )
}

/// A host's NICs with the devices of a guest on them. Dropped, all is as before.
pub struct GuestNics<'a> {
    namespace: &'a Namespace,
    links: usize,
}

impl<'a> GuestNics<'a> {
    /// Puts the NICs, each with its MTU, into bridges with the guest's devices. What a process that was killed left of
    /// that is removed before.
    ///
    /// # Errors
    /// When there is no such NIC, or the system cannot make such devices.
    pub fn attach(namespace: &'a Namespace, nics: &[(&str, u32)]) -> Result<Self, host::Error> {
        let attached = Self {
            namespace,
            links: nics.len(),
        };
        attached.remove();
        let mut batch = String::new();
        for (link, (nic, mtu)) in nics.iter().enumerate() {
            let [bridge, tap] = names(link);
            for line in [
                format!("link add name {bridge} type bridge"),
                format!("tuntap add dev {tap} mode tap vnet_hdr"),
                format!("link set dev {tap} mtu {mtu}"),
                format!("link set dev {nic} master {bridge}"),
                format!("link set dev {tap} master {bridge} up"),
                format!("link set dev {bridge} mtu {mtu} up"),
            ] {
                // Writing to a string cannot fail.
                writeln!(batch, "{line}").ok();
            }
        }
        let command = Command::new(["ip", "-batch", "-"]).with_stdin(batch);
        run_one(namespace, &command)?;
        Ok(attached)
    }

    /// The kernel with its arguments; its first process is `bash` with this script, and its NICs are `vec0`, `vec1`, ...
    #[must_use]
    pub fn kernel(&self, script: &str) -> Vec<String> {
        let fixed = [
            KERNEL,
            "root=/dev/root",
            "rootfstype=hostfs",
            "hostfs=/",
            "rw",
            MEMORY,
            "quiet",
            "panic=1",
            "con=null",
            "init=/bin/bash",
        ];
        let fixed = fixed.iter().map(|&word| word.to_owned());
        // It would leave its socket and number in root's home.
        let own = std::iter::once(format!("uml_dir={FOLDER}/"));
        let nics = (0..self.links).map(|link| {
            let [_, tap] = names(link);
            format!("vec{link}:transport=tap,ifname={tap},depth=128,gro=1")
        });
        let script = ["--".to_owned(), script.to_owned()];
        let with_registers = ["sh", "-c", WITH_REGISTERS, REGISTERS, FOLDER].map(str::to_owned);
        let before = with_registers.into_iter().filter(|_| has_more_registers());
        let kernel = fixed.chain(own).chain(nics).chain(script);
        before.chain(kernel).collect()
    }

    /// Removes those that are there; a host that is gone has none.
    fn remove(&self) {
        let mut batch = String::new();
        for name in (0..self.links).flat_map(names) {
            writeln!(batch, "link delete dev {name}").ok();
        }
        let command = Command::new(["ip", "-force", "-batch", "-"]).with_stdin(batch);
        self.namespace.run(&[command]).ok();
    }
}

impl Drop for GuestNics<'_> {
    fn drop(&mut self) {
        self.remove();
    }
}
