//! Linux's own client, in a kernel that runs as a process (user-mode Linux): not every machine's
//! kernel has `cifs`, and a mount of it would outlive a lab that is killed.
//!
//! The guest takes the client's place on the LAN for as long as a run takes. It measures the task by
//! its own clock, which is the machine's; the time on cores is that of the whole process, with the
//! start of its kernel.

use std::fmt::Write as _;
use std::fs;

use lab::{GuestNics, MTU_DEFAULT, load_client};

use super::{Cost, Timed, timed};
use crate::lab_and_program::{Result, chain};
use crate::speeds::lan_and_files::Field;
use crate::speeds::workload::{Direction, Lan, Protection, SHARE, Task, Workload};

/// What the guest's first process does.
const SCRIPT: &str = "/run/linerate/cifs-script";
/// What it has to say.
const SAID: &str = "/run/linerate/cifs-said";

pub(super) fn run(workload: &Workload, field: &Field) -> Result<Cost> {
    let client = field.client()?;
    fs::write(client.path(SCRIPT), script(workload)?)?;
    let nics: Vec<String> = (0..workload.links)
        .map(|link| format!("lan{link}"))
        .collect();
    let nics: Vec<(&str, u32)> = nics.iter().map(|nic| (&**nic, MTU_DEFAULT)).collect();
    let attached = GuestNics::attach(client, &nics)?;
    let argv = attached.kernel(SCRIPT);
    let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
    let timed = timed(field, &argv);
    let said = fs::read_to_string(client.path(SAID)).unwrap_or_default();
    let Timed {
        cpu_seconds,
        memory_bytes,
        ..
    } = timed.map_err(|error| format!("{}: {said}", chain(error.as_ref())))?;
    let took = said.lines().find_map(|line| line.strip_prefix("took "));
    let seconds = took.and_then(|took| {
        let (begin, end) = took.split_once(' ')?;
        Some(end.parse::<f64>().ok()? - begin.parse::<f64>().ok()?)
    });
    Ok(Cost {
        bytes: workload.bytes,
        seconds: seconds.ok_or_else(|| format!("the guest did not come to its end: {said}"))?,
        cpu_seconds,
        memory_bytes,
    })
}

/// The guest's first process: loads the client, mounts, does the task, and switches off.
fn script(workload: &Workload) -> Result<String> {
    let mut options = "vers=3.1.1".to_owned();
    if workload.links > 1 {
        write!(options, ",multichannel,max_channels={}", workload.links)?;
    }
    options.push_str(match workload.protection {
        Protection::Nothing => "",
        Protection::Gmac => ",sec=ntlmsspi",
        Protection::Gcm => ",seal",
    });
    let [before, task, after] = steps(workload);
    let mut links = String::new();
    for link in 0..workload.links {
        let address = Lan::guest(link);
        writeln!(links, "ip address add {address}/24 dev vec{link}")?;
        writeln!(links, "ip link set dev vec{link} up")?;
    }
    let server = Lan::server(0);
    Ok(format!(
        "export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /mnt
mkdir /mnt/share /mnt/room
exec >{SAID} 2>&1
set -e
trap 'echo o >/proc/sysrq-trigger; sleep 9' EXIT
{load_client}ip link set dev lo up
{links}while IFS='=' read -r key value; do declare \"$key=$value\"; done <{credentials}
mount -i -t cifs //{server}/{SHARE} /mnt/share -o \"ip={server},unc=\\\\\\\\{server}\\\\{SHARE},\
username=$username,password=$password,{options}\"
{before}
begin=$(date +%s.%N)
{task}
sync -f /mnt/share
end=$(date +%s.%N)
{after}
umount /mnt/share
echo took $begin $end
",
        credentials = lab::CREDENTIALS_IN_HOST,
        load_client = load_client("enable_negotiate_signing=1"),
    ))
}

/// What comes before the task, the task, and what comes after it. The host's file system is slow to reach from the guest,
/// so small files come from and go to the guest's memory, and are moved there before or after what is measured.
fn steps(workload: &Workload) -> [String; 3] {
    let (remote, local) = (Field::remote(workload), Field::local(workload));
    match (workload.task, workload.direction) {
        (Task::File, Direction::Read) => [
            String::new(),
            format!("dd if=/mnt/share/{remote} of={local} iflag=direct bs=4M"),
            String::new(),
        ],
        (Task::File, Direction::Write) => [
            String::new(),
            format!("dd if={local} of=/mnt/share/{remote} oflag=direct bs=4M conv=fsync"),
            String::new(),
        ],
        (Task::Tree(_), Direction::Read) => [
            String::new(),
            format!("cp -r /mnt/share/{remote}/. /mnt/room/"),
            format!("cp -r /mnt/room/. {local}/"),
        ],
        (Task::Tree(_), Direction::Write) => [
            format!("cp -r {local}/. /mnt/room/"),
            format!("cp -r /mnt/room/. /mnt/share/{remote}/"),
            String::new(),
        ],
        (Task::List(_), _) => [
            String::new(),
            format!("ls -l /mnt/share/{remote} >/mnt/room/listing"),
            format!("cp /mnt/room/listing {local}"),
        ],
    }
}
