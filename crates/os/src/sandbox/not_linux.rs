//! Systems whose sandboxes are not used.

use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

use rustix::fs::Stat;

use super::{Confined, Enforced, Rules};

pub(super) fn confine(_: &Rules) -> io::Result<Confined> {
    Ok(Confined {
        unprivileged: false,
        files: Enforced::No,
        system_calls: false,
    })
}

#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(super) fn close_inherited() -> io::Result<()> {
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(super) fn give(_: BorrowedFd<'_>, _: &Stat) -> io::Result<()> {
    Ok(())
}

pub(super) fn entrance(_: BorrowedFd<'_>, path: &Path) -> PathBuf {
    path.to_owned()
}

#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(super) fn can_work_here() -> io::Result<bool> {
    Ok(true)
}

#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(super) fn drop_root() -> io::Result<bool> {
    Ok(false)
}
