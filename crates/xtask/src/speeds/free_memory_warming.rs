//! Keeps the machine's free memory warm. A virtual machine reports memory that is free to its host after two seconds
//! (`page_reporting` of virtio-balloon), and gets it again page by page when it is written to, which costs a
//! server more than all else that it does.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::lab_and_program::{Result, first_line};

/// What is held and released at once.
const PIECE_BYTES: usize = 64 << 20;
/// What stays free while all else is held: the kernel needs some.
const FREE_KIB: u64 = 384 << 10;
/// What a run needs beside its file: its programs, their sockets, a guest.
const RUN_BYTES: u64 = 1 << 30;

/// Memory that is written to, so that the machine's host backs it, and held, so that it stays so.
#[derive(Default)]
pub struct Held(Mutex<Vec<Vec<u8>>>);

impl Held {
    /// Takes all memory that is free, and releases as much as a run of a file of `bytes` needs: right before it.
    pub fn release_for_run(&self, bytes: u64) -> Result<()> {
        let mut held = self.pieces();
        while memory_kib("MemFree")? > FREE_KIB + (PIECE_BYTES >> 10) as u64 {
            held.push(vec![1; PIECE_BYTES]);
        }
        let pieces = usize::try_from((bytes + RUN_BYTES).div_ceil(PIECE_BYTES as u64))?;
        let kept = held.len().saturating_sub(pieces);
        held.truncate(kept);
        Ok(())
    }

    /// Releases all, where what comes next is not timed and may need any amount.
    pub fn release(&self) {
        self.pieces().clear();
    }

    fn pieces(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A line of `/proc/meminfo`, in KiB.
pub fn memory_kib(line: &str) -> Result<u64> {
    let value = first_line("/proc/meminfo", line).unwrap_or_default();
    Ok(value.trim_end_matches(" kB").parse()?)
}
