//! Symbolic links of this machine.

use std::path::Path;
use std::{fs, io};

use locale::say;
use os::file::Held;
use os::local_file;

use super::{failed, obstructed};
use crate::copy::name;
use crate::error::Error;
use crate::tree::Replace;

/// Where a link leads; none where that is no Unicode.
pub(in crate::copy) fn read_link(path: &Path) -> Result<Option<String>, Error> {
    let target = Held::enter(path).and_then(|at| fs::read_link(at.path()));
    let target = target.map_err(|source| failed(say("error-smb.cannot-examine"), path, source))?;
    Ok(target.into_os_string().into_string().ok())
}

/// Makes a link, which gets its name when it is one.
pub(in crate::copy) fn make_link(path: &Path, target: &str, replace: Replace) -> Result<(), Error> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => obstructed(path),
        _ => failed(say("error-smb.cannot-make-link"), path, source),
    };
    let at = Held::enter(path).map_err(failed)?;
    if replace == Replace::Never {
        return local_file::symlink(target, at.path()).map_err(failed);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let part = at.sibling(name::of_part(&name));
    // What an earlier run left.
    let _ = fs::remove_file(&part);
    local_file::symlink(target, &part).map_err(failed)?;
    fs::rename(&part, at.path()).map_err(|source| {
        let _ = fs::remove_file(&part);
        failed(source)
    })
}
