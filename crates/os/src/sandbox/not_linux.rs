//! Systems whose sandboxes are not used.

use std::io;

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

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(super) fn give(_: std::os::fd::BorrowedFd<'_>, _: &rustix::fs::Stat) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
pub(super) fn entrance(
    _: std::os::fd::BorrowedFd<'_>,
    path: &std::path::Path,
) -> std::path::PathBuf {
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
