//! Our own engine: for a file this program as its own child, see [`crate::speeds::linerate_transfer_process`], for all else
//! the program that people use.

use super::{Cost, Timed, this_program, timed, to_file, whole};
use crate::lab_and_program::{Result, program};
use crate::speeds::lan_and_files::Field;
use crate::speeds::linerate_transfer_process::{Done, Order};
use crate::speeds::workload::{Direction, Lan, Protection, SHARE, Task, Workload};

pub(super) fn run(workload: &Workload, field: &Field) -> Result<Cost> {
    match workload.task {
        Task::File => transfer(workload, field),
        Task::Tree(_) | Task::List(_) => command(workload, field),
    }
}

fn command(workload: &Workload, field: &Field) -> Result<Cost> {
    let program = program()?;
    let program = program
        .to_str()
        .ok_or("the name of linerate is not UTF-8")?;
    let remote = format!(
        "smb://{}/{SHARE}/{}",
        Lan::server(0),
        Field::remote(workload)
    );
    let local = Field::local(workload);
    // What is in the folder, and not the folder itself, as with the others.
    let within = |folder: &str| format!("{folder}/");
    let login = ["--credentials", lab::CREDENTIALS_IN_HOST];
    match (workload.task, workload.direction) {
        (Task::List(_), _) => {
            let argv = [&[program, "ls", &remote], &login[..]].concat();
            whole(workload, field, &to_file(local, &argv))
        }
        (_, Direction::Read) => {
            let from = within(&remote);
            whole(
                workload,
                field,
                &[&[program, "copy", &from, local], &login[..]].concat(),
            )
        }
        (_, Direction::Write) => {
            let from = within(local);
            whole(
                workload,
                field,
                &[&[program, "copy", &from, &remote], &login[..]].concat(),
            )
        }
    }
}

fn transfer(workload: &Workload, field: &Field) -> Result<Cost> {
    let order = Order {
        direction: workload.direction,
        server: Lan::server(0),
        far_end: workload.far_end,
        channels: workload.links,
        // as `linerate copy` does
        sessions: match (workload.direction, workload.protection) {
            (Direction::Write, Protection::Nothing) => 1,
            _ => smb::copy::SESSIONS,
        },
        protection: workload.protection,
        remote: Field::remote(workload).to_owned(),
        local: Field::local(workload).to_owned(),
    };
    let program = this_program()?;
    let order = serde_json::to_string(&order)?;
    let Timed {
        output,
        cpu_seconds,
        memory_bytes,
        ..
    } = timed(field, &[&program, "speeds", "transfer", &order])?;
    let Done { bytes, seconds } = serde_json::from_slice(&output.stdout)?;
    Ok(Cost {
        bytes,
        seconds,
        cpu_seconds,
        memory_bytes,
    })
}
