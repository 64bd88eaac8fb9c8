//! Samba's own client. It measures the transfer as we do, from before it opens the file until it
//! has closed it, to the millisecond.

use super::{Cost, Timed, timed, to_file, whole};
use crate::lab_and_program::{Result, smbclient_rate};
use crate::speeds::lan_and_files::Field;
use crate::speeds::workload::{Direction, Lan, Protection, SHARE, Task, Workload};

pub(super) fn run(workload: &Workload, field: &Field) -> Result<Cost> {
    let service = format!("//{}/{SHARE}", Lan::server(0));
    let (remote, local) = (Field::remote(workload), Field::local(workload));
    let (task, said) = match (workload.task, workload.direction) {
        (Task::File, Direction::Read) => (format!("get {remote} {local}"), "getting file"),
        (Task::File, Direction::Write) => (format!("put {local} {remote}"), "putting file"),
        (Task::Tree(_), Direction::Read) => (
            format!("recurse ON; prompt OFF; lcd {local}; cd {remote}; mget *"),
            "",
        ),
        (Task::Tree(_), Direction::Write) => (
            format!("recurse ON; prompt OFF; lcd {local}; cd {remote}; mput *"),
            "",
        ),
        (Task::List(_), _) => (format!("cd {remote}; ls"), ""),
    };
    // Not the configuration of this machine, whose owner may have made it slow, quiet or signing.
    let mut argv = vec!["smbclient", "--configfile=/dev/null"];
    argv.extend(["--authentication-file", lab::CREDENTIALS_IN_HOST]);
    // A line for each file of a tree is more than is kept of what a program says.
    argv.push(match workload.task {
        Task::File => "--debuglevel=1",
        Task::Tree(_) | Task::List(_) => "--debuglevel=0",
    });
    match workload.protection {
        Protection::Nothing => argv.push("--client-protection=off"),
        Protection::Gmac => argv.push("--client-protection=sign"),
        Protection::Gcm => argv.push("--client-protection=encrypt"),
    }
    argv.extend([&service, "-c", &task]);
    match workload.task {
        Task::File => {}
        Task::Tree(_) => return whole(workload, field, &argv),
        Task::List(_) => return whole(workload, field, &to_file(local, &argv)),
    }
    let Timed {
        output,
        cpu_seconds,
        memory_bytes,
        ..
    } = timed(field, &argv)?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let rate = smbclient_rate(&text, said).filter(|rate| rate.is_finite() && *rate > 0.0);
    let rate = rate.ok_or_else(|| format!("does not say its rate: {text}"))?;
    // It ended well, and that the whole file arrived is checked by whoever called us.
    let bytes = workload.bytes;
    Ok(Cost {
        bytes,
        seconds: bytes as f64 / rate,
        cpu_seconds,
        memory_bytes,
    })
}
