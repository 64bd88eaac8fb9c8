//! A look at a whole host.

use std::collections::BTreeMap;
use std::sync::Arc;

use record::{BitsPerSecond, Fingerprint, HostFacts, Nic, ShareMount, System, Target};

use crate::exec::{self, Command, Once, Output};
use crate::knob;
use crate::tool_output::tc::Shaper;
use crate::tool_output::{
    Facts, cifs, ethtool, ip, is_usable_nic_name, macos, sysctl, tc, windows,
};
use crate::{Error, Host, identity_commands, parse_identity, this_machine};

/// Most interfaces whose drivers are asked; of the others only what `ip` says is known.
const NICS_DETAILED_MAX: usize = 256;
/// Most interfaces of which all is asked before anybody wants it.
const NICS_AHEAD_MAX: usize = 64;
/// Commands that ask for one interface, see [`nic_commands`].
const COMMANDS_PER_NIC: usize = 6;

/// Looks at a host in two batches: the whole, then each interface.
///
/// # Errors
/// When the host cannot be reached, or lacks `ip`. Whatever
/// else is missing is `None` in the facts.
pub fn facts(host: &Host) -> Result<HostFacts, Error> {
    match host.system {
        System::Linux => linux_facts(host),
        System::Windows => {
            let asked = whole_facts(host, &windows::facts_commands(), windows::facts);
            // PowerShell may not be there, or not be let do it: what a measurement needs is known without it.
            asked.or_else(|error| this_machine::facts(host).ok_or(error))
        }
        System::Macos => whole_facts(host, &macos::facts_commands(), macos::facts),
    }
}

fn linux_facts(host: &Host) -> Result<HostFacts, Error> {
    let commands = host_commands();
    let outputs = host.exec.run(&commands)?;
    let [
        machine_id,
        boot_id,
        kernel,
        cores,
        memory,
        addresses,
        ipv4,
        ipv6,
        tcp,
        qdiscs,
    ] = exactly(&commands, outputs)?;
    let addresses = addresses.checked(&commands[5])?;
    let links = ip::links(&addresses.stdout).ok_or_else(|| unreadable(&commands[5]))?;
    let links: Vec<ip::Link> = links.into_iter().filter(|link| !link.is_loopback).collect();
    let shapers = tc::shapers(&qdiscs.stdout);
    let identity = parse_identity(&[machine_id, boot_id]);
    let mut routes = ip::routes(&ipv4.stdout);
    routes.extend(ip::routes(&ipv6.stdout));
    let tcp = sysctl::tcp(&String::from_utf8_lossy(&tcp.stdout));
    Ok(HostFacts {
        name: host.name.clone(),
        system: host.system,
        kernel: kernel
            .checked(&commands[2])?
            .text()
            .unwrap_or_default()
            .trim()
            .to_owned(),
        machine: identity.machine_id.as_deref().map(Fingerprint::of),
        boot: identity.boot_id.as_deref().map(Fingerprint::of),
        cores: match cores.status {
            exec::STATUS_NO_PROGRAM => listed_cores(host)?,
            _ => parse_cores(&commands[3], cores)?,
        },
        memory: memory.text().and_then(|text| sysctl::memory(&text)),
        nics: nics(host, links, &shapers)?,
        routes,
        tcp,
    })
}

/// The same host for one look, at which nothing changes: all that [`facts`] and the knobs of host and
/// interfaces ask is asked in two batches here, and nothing is asked twice after that.
///
/// # Errors
/// When the host cannot be reached.
pub fn prefetch(host: &Host) -> Result<Host, Error> {
    let exec = Arc::new(Once::new(host.exec.clone()));
    let host = Host {
        exec,
        ..host.clone()
    };
    if host.system != System::Linux {
        return Ok(host);
    }
    let reads = |target: &Target| {
        let knobs = knob::of_target(System::Linux, target).filter(|knob| !knob.only_in_snapshots);
        knobs
            .filter_map(|knob| knob.read(target).ok())
            .flatten()
            .collect::<Vec<Command>>()
    };
    let mut whole = host_commands().to_vec();
    whole.extend([knob::show_shares(), knob::show_mounts()]);
    whole.extend(reads(&Target::Host));
    host.exec.run(&whole)?;
    let addresses = host.exec.run(&[show_addresses()])?;
    let links = addresses
        .first()
        .and_then(|output| ip::links(&output.stdout));
    let links = links.unwrap_or_default().into_iter();
    let links = links.filter(|link| !link.is_loopback && is_usable_nic_name(&link.name));
    let of_nic = |link: ip::Link| {
        let knobs = reads(&Target::Nic(link.name.clone()));
        nic_commands(&link.name).into_iter().chain(knobs)
    };
    let nics: Vec<Command> = links.take(NICS_AHEAD_MAX).flat_map(of_nic).collect();
    host.exec.run(&nics)?;
    Ok(host)
}

fn show_addresses() -> Command {
    Command::new(["ip", "-j", "-d", "addr", "show"])
}

/// The names of the shares that Samba offers on a host, in the order of its configuration; none
/// where there is no Samba.
///
/// # Errors
/// When the host cannot be reached.
pub fn shares(host: &Host) -> Result<Vec<String>, Error> {
    if host.system != System::Linux {
        return Ok(Vec::new());
    }
    let outputs = host.exec.run(&[knob::show_shares()])?;
    Ok(outputs.first().map(knob::shares_in).unwrap_or_default())
}

/// The folders on which SMB shares are mounted; none where the system has no such client.
///
/// # Errors
/// When the host cannot be reached.
pub fn mounts(host: &Host) -> Result<Vec<String>, Error> {
    let outputs = match host.system {
        System::Linux => host.exec.run(&[knob::show_mounts()])?,
        System::Macos => host.exec.run(&[knob::show_mac_mounts()])?,
        System::Windows => return Ok(Vec::new()),
    };
    let mounts = outputs.first().map(match host.system {
        System::Macos => knob::mac_mounts_in,
        _ => knob::mounts_in,
    });
    Ok(mounts.unwrap_or_default())
}

/// The SMB share that is mounted at a folder of a Linux host or above it; none where the folder is no part of one.
/// Its file system is asked nothing as long as the folder's name tells, for a mount whose server is gone may answer
/// never; a folder that is reached through a link is looked for where that leads. With it comes the folder's place
/// below the mount, which is empty for its top.
///
/// # Errors
/// When the host cannot be reached.
pub fn share_mount(host: &Host, folder: &str) -> Result<Option<(ShareMount, String)>, Error> {
    if host.system != System::Linux {
        return Ok(None);
    }
    let commands = [
        knob::show_mounts(),
        Command::new(["cat", "/proc/fs/cifs/DebugData"]),
    ];
    let outputs = host.exec.run(&commands)?;
    let said: Vec<String> = outputs
        .iter()
        .map(|output| output.text().unwrap_or_default())
        .collect();
    let [mounts, debug_data] = said.as_slice() else {
        return Ok(None);
    };
    if let Some(found) = mount_above(mounts, debug_data, folder) {
        return Ok(Some(found));
    }
    let resolved = host
        .exec
        .run(&[Command::new(["readlink", "-f", "--", folder])])?;
    let resolved = resolved.first().and_then(Output::text).unwrap_or_default();
    Ok(mount_above(
        mounts,
        debug_data,
        resolved.trim_end_matches('\n'),
    ))
}

/// The share whose mount holds a folder: that of the longest name, and of those the last.
fn mount_above(mounts: &str, debug_data: &str, folder: &str) -> Option<(ShareMount, String)> {
    let below = |mounted: &str| {
        let rest = folder.strip_prefix(mounted.trim_end_matches('/'));
        rest.filter(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let lines = mounts.lines();
    // Whatever else is mounted below the share is no part of it.
    let above = lines
        .filter_map(|line| Some((cifs::folder(line)?, line)))
        .filter(|(mounted, _)| below(mounted).is_some())
        .max_by_key(|(mounted, _)| mounted.len());
    let row = cifs::mounts(above?.1).next()?;
    let mut mount = ShareMount {
        folder: row.folder,
        source: row.source,
        options: cifs::options(row.options),
        ..ShareMount::default()
    };
    cifs::add_session(&mut mount, debug_data);
    let below = below(&mount.folder)?.trim_matches('/').to_owned();
    Some((mount, below))
}

/// All of a Windows host or a Mac in one batch: each command asks for all interfaces.
fn whole_facts(
    host: &Host,
    commands: &[Command],
    understand: fn(&[Option<String>]) -> Facts,
) -> Result<HostFacts, Error> {
    let identity = identity_commands(host.system);
    let commands = [&identity, commands].concat();
    let outputs = host.exec.run(&commands)?;
    for (output, command) in outputs.iter().zip(&commands).skip(2).take(3) {
        output.clone().checked(command)?;
    }
    let said: Vec<Option<String>> = outputs.iter().skip(2).map(Output::text).collect();
    let identity = parse_identity(&outputs);
    let found = understand(&said);
    let whole = |index: usize| unreadable(&commands[2 + index]);
    Ok(HostFacts {
        name: host.name.clone(),
        system: host.system,
        kernel: found.version.ok_or_else(|| whole(0))?,
        machine: identity.machine_id.as_deref().map(Fingerprint::of),
        boot: identity.boot_id.as_deref().map(Fingerprint::of),
        cores: found
            .cores
            .filter(|&cores| cores > 0)
            .ok_or_else(|| whole(1))?,
        memory: found.memory,
        nics: found.nics.ok_or_else(|| whole(2))?,
        routes: found.routes,
        tcp: found.tcp,
    })
}

fn host_commands() -> [Command; 10] {
    let [machine_id, boot_id] = identity_commands(System::Linux);
    [
        machine_id,
        boot_id,
        Command::new(["uname", "-r"]),
        Command::new(["nproc"]),
        Command::new(["cat", "/proc/meminfo"]),
        show_addresses(),
        Command::new(["ip", "-j", "-4", "route", "show", "table", "main"]),
        Command::new(["ip", "-j", "-6", "route", "show", "table", "main"]),
        Command::new(std::iter::once("sysctl").chain(sysctl::TCP_KEYS)),
        Command::new(["tc", "-j", "qdisc", "show"]),
    ]
}

fn exactly<const N: usize>(
    commands: &[Command; N],
    outputs: Vec<Output>,
) -> Result<[Output; N], Error> {
    outputs.try_into().map_err(|outputs: Vec<Output>| {
        unreadable(commands.get(outputs.len()).unwrap_or(&commands[0]))
    })
}

fn unreadable(command: &Command) -> Error {
    Error::Unreadable {
        argv: command.argv.clone(),
    }
}

fn parse_cores(command: &Command, output: Output) -> Result<u32, Error> {
    let text = output.checked(command)?.text().unwrap_or_default();
    text.trim()
        .parse()
        .ok()
        .filter(|&cores| cores > 0)
        .ok_or_else(|| unreadable(command))
}

/// The processors that the kernel lists, where there is no `nproc`.
fn listed_cores(host: &Host) -> Result<u32, Error> {
    let command = Command::new(["cat", "/proc/cpuinfo"]);
    let output = exec::run_one(host.exec.as_ref(), &command)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let listed = text.lines().filter(|line| line.starts_with("processor"));
    let cores = u32::try_from(listed.count())
        .ok()
        .filter(|&cores| cores > 0);
    cores.ok_or_else(|| unreadable(&command))
}

fn nic_commands(nic: &str) -> [Command; COMMANDS_PER_NIC] {
    [
        Command::new(["ethtool", nic]),
        Command::new(["ethtool", "-k", nic]),
        Command::new(["ethtool", "-l", nic]),
        Command::new(["ethtool", "-i", nic]),
        Command::new(["tc", "class", "show", "dev", nic]),
        Command::new(["cat", &format!("/sys/class/net/{nic}/uevent")]),
    ]
}

fn nics(
    host: &Host,
    links: Vec<ip::Link>,
    shapers: &BTreeMap<String, Shaper>,
) -> Result<Vec<Nic>, Error> {
    let detailed = links.iter().filter(|link| is_usable_nic_name(&link.name));
    let detailed: Vec<&str> = detailed
        .map(|link| link.name.as_str())
        .take(NICS_DETAILED_MAX)
        .collect();
    let commands: Vec<Command> = detailed.iter().flat_map(|nic| nic_commands(nic)).collect();
    let outputs = host.exec.run(&commands)?;
    let details: BTreeMap<&str, &[Output]> = detailed
        .into_iter()
        .zip(outputs.chunks_exact(COMMANDS_PER_NIC))
        .collect();
    let mut nics: Vec<Nic> = links
        .iter()
        .map(|link| {
            let outputs = details.get(link.name.as_str()).copied().unwrap_or_default();
            nic(link, outputs, shapers.get(&link.name))
        })
        .collect();
    let lacks_ethtool = |nic: &&mut Nic| {
        let said = details
            .get(nic.name.as_str())
            .and_then(|outputs| outputs.first());
        said.is_some_and(|said| said.status == exec::STATUS_NO_PROGRAM)
    };
    ask_kernel(host, nics.iter_mut().filter(lacks_ethtool).collect())?;
    nics.sort_by_key(|nic| nic.index);
    Ok(nics)
}

/// Asks the kernel for what `ethtool` would tell of these, where there is none. The speed of what is no
/// device, as of a bridge or the end of a `veth`, is invented.
fn ask_kernel(host: &Host, nics: Vec<&mut Nic>) -> Result<(), Error> {
    const FILES: [&str; 2] = ["device/uevent", "speed"];
    let of_nic = |nic: &Nic| {
        let name = nic.name.clone();
        FILES.map(move |file| Command::new(["cat", &format!("/sys/class/net/{name}/{file}")]))
    };
    let commands: Vec<Command> = nics.iter().flat_map(|nic| of_nic(nic)).collect();
    if commands.is_empty() {
        return Ok(());
    }
    let outputs = host.exec.run(&commands)?;
    for (nic, said) in nics.into_iter().zip(outputs.chunks_exact(FILES.len())) {
        let [device, speed] = [&said[0], &said[1]].map(|output| output.text().unwrap_or_default());
        let mut lines = device.lines();
        nic.driver = lines.find_map(|line| Some(line.strip_prefix("DRIVER=")?.to_owned()));
        // -1 where it is not known.
        let megabits = speed.trim().parse::<u64>().ok();
        let megabits = megabits.filter(|&megabits| megabits > 0 && nic.driver.is_some());
        nic.speed = megabits.map(|megabits| BitsPerSecond::new(megabits.saturating_mul(1_000_000)));
    }
    Ok(())
}

fn nic(link: &ip::Link, outputs: &[Output], shaper: Option<&Shaper>) -> Nic {
    // `ethtool NIC` without root complains of parts of its answer; the rest of it is good.
    let said = |index: usize| {
        outputs
            .get(index)
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let text = |index: usize| outputs.get(index).and_then(exec::Output::text);
    let (rx_queues, tx_queues) = text(2)
        .map(|text| ethtool::queues(&text))
        .unwrap_or_default();
    let features = text(1)
        .map(|text| ethtool::features(&text))
        .unwrap_or_default();
    let shaped = match shaper {
        Some(Shaper::Tbf(rate)) => Some(*rate),
        Some(Shaper::Htb { class }) => text(4).and_then(|text| tc::htb_rate(&text, class)),
        None => None,
    };
    Nic {
        name: link.name.clone(),
        index: link.index,
        mac: link.mac.clone(),
        mtu: link.mtu,
        mtu_max: link.mtu_max,
        speed: said(0).and_then(|text| ethtool::speed(&text)),
        shaped,
        state: link.state,
        driver: text(3).and_then(|text| ethtool::driver(&text)),
        kind: link.kind.clone(),
        medium: link.medium(text(5).as_deref()),
        port_of: link.port_of.clone(),
        modes: said(0).and_then(|text| ethtool::link_modes(&text)),
        addresses: link.addresses.clone(),
        offloads: ethtool::offloads(&features),
        rx_queues,
        tx_queues,
    }
}

#[cfg(test)]
mod tests {
    use super::mount_above;

    const MOUNTS: &str = "/dev/sda / ext4 rw 0 0
//nas/media /mnt/my\\040media cifs rw,vers=3.1.1 0 0
//nas/media/deep /mnt/my\\040media/deep cifs rw,vers=3.0 0 0
tmpfs /mnt/my\\040media/cache tmpfs rw 0 0
//old/media /srv/a cifs rw 0 0
//new/media /srv/a smb3 rw 0 0
";

    #[test]
    fn the_nearest_mount_holds_a_folder_and_the_last_of_two_lies_above() {
        let found = |folder: &str| {
            let (mount, below) = mount_above(MOUNTS, "", folder)?;
            Some(format!("{} {below}", mount.source))
        };
        assert_eq!(found("/mnt/my media").as_deref(), Some("//nas/media "));
        assert_eq!(found("/mnt/my media/").as_deref(), Some("//nas/media "));
        assert_eq!(
            found("/mnt/my media/a/b").as_deref(),
            Some("//nas/media a/b")
        );
        assert_eq!(
            found("/mnt/my media/deep/a").as_deref(),
            Some("//nas/media/deep a")
        );
        assert_eq!(found("/srv/a").as_deref(), Some("//new/media "));
        for other in [
            "/",
            "/mnt",
            "/mnt/my media/cache/x",
            "/mnt/my mediathek",
            "mnt",
            "",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
    }
}
