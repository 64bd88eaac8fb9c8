//! This program as its own child, see [`crate::transfer`].

use std::env;

use super::{Cost, Timed, timed};
use crate::Result;
use crate::field::Field;
use crate::transfer::{Done, Order};
use crate::workload::{Lan, Workload};

pub(super) fn run(workload: &Workload, field: &Field) -> Result<Cost> {
    let order = Order {
        direction: workload.direction,
        server: Lan::server(0),
        channels: workload.links,
        protection: workload.protection,
        remote: Field::remote(workload.direction).to_owned(),
        local: Field::local(workload.direction).to_owned(),
    };
    let program = env::current_exe()?;
    let program = program
        .to_str()
        .ok_or("the name of this program is not UTF-8")?;
    let order = serde_json::to_string(&order)?;
    let Timed {
        output,
        cpu_seconds,
        memory_bytes,
        ..
    } = timed(field, &[program, "transfer", &order])?;
    let Done { bytes, seconds } = serde_json::from_slice(&output.stdout)?;
    Ok(Cost {
        bytes,
        seconds,
        cpu_seconds,
        memory_bytes,
    })
}
