//! rclone. It tells its time in tenths of a second, so that it is the whole process that is
//! measured: login and start weigh little beside what it takes for the file.

use host::exec::{Command, run_one};

use super::{Cost, Timed, timed};
use crate::Result;
use crate::field::Field;
use crate::transfer::credentials;
use crate::workload::{Direction, Lan, SHARE, Workload};

/// Drops what a command writes.
const TO_NOWHERE: [&str; 4] = ["bash", "-c", "exec \"$@\" >/dev/null", "to-nowhere"];

pub(super) fn run(workload: &Workload, field: &Field) -> Result<Cost> {
    let login = credentials(&field.client()?.path(lab::CREDENTIALS_IN_HOST))?;
    // It wants the password in a form that people who look over the shoulder cannot read.
    let obscure = Command::new(["rclone", "obscure", "-"]).with_stdin(login.password);
    let obscured = run_one(field.client()?, &obscure)?;
    let obscured = obscured.text().ok_or("rclone does not obscure")?;
    let host = format!("RCLONE_SMB_HOST={}", Lan::server(0));
    let user = format!("RCLONE_SMB_USER={}", login.user);
    let password = format!("RCLONE_SMB_PASS={}", obscured.trim());
    let remote = format!(":smb:{SHARE}/{}", Field::remote(workload.direction));
    let local = Field::local(workload.direction);
    let program = ["env", &host, &user, &password, "rclone", "--config="];
    let argv: Vec<&str> = match workload.direction {
        Direction::Read => [&TO_NOWHERE[..], &program, &["cat", &remote]].concat(),
        Direction::Write => [&program[..], &["copyto", local, &remote]].concat(),
    };
    let Timed {
        seconds,
        cpu_seconds,
        memory_bytes,
        ..
    } = timed(field, &argv)?;
    Ok(Cost {
        bytes: workload.bytes,
        seconds,
        cpu_seconds,
        memory_bytes,
    })
}
