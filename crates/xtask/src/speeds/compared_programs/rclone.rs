//! rclone. It tells its time in tenths of a second, so that it is the whole process that is
//! measured: login and start weigh little beside what it takes for the file.

use host::exec::{Command, run_one};

use super::{Cost, to_file, whole};
use crate::lab_and_program::Result;
use crate::speeds::lan_and_files::Field;
use crate::speeds::linerate_transfer_process::credentials;
use crate::speeds::workload::{Direction, Lan, SHARE, Task, Workload};

/// Files that it moves at once: more than its 4, because others move as many.
const TRANSFERS: &str = "--transfers=16";

pub(super) fn run(workload: &Workload, field: &Field) -> Result<Cost> {
    let login = credentials(&field.client()?.path(lab::CREDENTIALS_IN_HOST))?;
    // It wants the password in a form that people who look over the shoulder cannot read.
    let obscure = Command::new(["rclone", "obscure", "-"]).with_stdin(login.password);
    let obscured = run_one(field.client()?, &obscure)?;
    let obscured = obscured.text().ok_or("rclone does not obscure")?;
    let host = format!("RCLONE_SMB_HOST={}", Lan::server(0));
    let user = format!("RCLONE_SMB_USER={}", login.user);
    let password = format!("RCLONE_SMB_PASS={}", obscured.trim());
    let remote = format!(":smb:{SHARE}/{}", Field::remote(workload));
    let local = Field::local(workload);
    let task: &[&str] = match (workload.task, workload.direction) {
        (Task::File, Direction::Read) => &["cat", &remote],
        (Task::File, Direction::Write) => &["copyto", local, &remote],
        (Task::Tree(_), Direction::Read) => &["copy", TRANSFERS, &remote, local],
        (Task::Tree(_), Direction::Write) => &["copy", TRANSFERS, local, &remote],
        (Task::List(_), _) => &["lsl", &remote],
    };
    let program = ["env", &host, &user, &password, "rclone", "--config="];
    let argv = [&program[..], task].concat();
    match (workload.task, workload.direction) {
        (Task::File, Direction::Read) | (Task::List(_), _) => {
            whole(workload, field, &to_file(local, &argv))
        }
        _ => whole(workload, field, &argv),
    }
}
