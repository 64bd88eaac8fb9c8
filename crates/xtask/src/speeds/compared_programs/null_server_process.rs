//! Our own server that is not the limit, on the server's host for as long as a run takes.

use std::io::BufRead;

use host::exec::{Command, Exec, Process};

use super::{listening, this_program};
use crate::lab_and_program::Result;
use crate::speeds::lan_and_files::Field;
use crate::speeds::null_smb_server::Tally;
use crate::speeds::workload::{Direction, Workload};

/// It runs. Dropping it ends it.
pub(super) struct NullServer {
    process: Process,
    /// What it says at its end.
    output: Box<dyn BufRead + Send>,
}

impl NullServer {
    /// Starts it, and waits until it listens.
    pub(super) fn start(workload: &Workload, field: &Field) -> Result<Self> {
        let (program, bytes) = (this_program()?, workload.bytes.to_string());
        let command = Command::new([program.as_str(), "speeds", "serve", &bytes]);
        let mut process = field.server()?.spawn(&command)?;
        let output = listening(&mut process)?;
        Ok(Self { process, output })
    }

    /// Ends it, and asks it whether all of the file has gone over.
    pub(super) fn end(mut self, workload: &Workload) -> Result<()> {
        drop(self.process.take_stdin());
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let tally: Tally = serde_json::from_str(&line)?;
        let moved = match workload.direction {
            Direction::Read => tally.given,
            Direction::Write => tally.taken,
        };
        match workload.bytes {
            wanted if moved >= wanted => Ok(()),
            wanted => Err(format!("our own server moved {moved} bytes of {wanted}").into()),
        }
    }
}
