//! Windows.

use std::ffi::OsString;
use std::io;
use std::os::windows::ffi::OsStringExt as _;
use std::os::windows::io::AsRawHandle as _;
use std::path::Path;
use std::ptr;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_READ_ATTRIBUTES, GetDiskFreeSpaceExW, GetDriveTypeW, GetVolumeInformationByHandleW,
    GetVolumePathNameW,
};
use windows_sys::Win32::Storage::InstallableFileSystems::WNNC_NET_SMB;
use windows_sys::Win32::System::WindowsProgramming::DRIVE_REMOTE;

use super::FileSystem;
use crate::local_file::protocol_of_share;
use crate::windows::{open_followed, wide};

/// Longest name of a file system, in units of UTF-16 (`MAX_PATH` and a zero).
const NAME_UNITS_MAX: u32 = 261;

/// Longest path, in units of UTF-16.
const PATH_UNITS_MAX: u32 = 32 << 10;

/// A drive that is a share has the name of the file system behind it; the protocol says what it is.
#[expect(unsafe_code, reason = "no safe crate of ours asks for it")]
pub(super) fn of(path: &Path) -> io::Result<FileSystem> {
    let there = open_followed(path, FILE_READ_ATTRIBUTES)?;
    let mut name = [0_u16; NAME_UNITS_MAX as usize];
    // SAFETY: the handle is open while `there` lives; null is what is not asked for; at most so many units are written to
    // memory that is that long.
    let done = unsafe {
        GetVolumeInformationByHandleW(
            there.as_raw_handle(),
            ptr::null_mut(),
            0,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            name.as_mut_ptr(),
            NAME_UNITS_MAX,
        )
    };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    let end = name.iter().position(|unit| *unit == 0);
    let name = OsString::from_wide(&name[..end.unwrap_or(name.len())]);
    let protocol = protocol_of_share(&there);
    Ok(FileSystem {
        name: name.to_string_lossy().into_owned(),
        is_network: match protocol {
            Ok(Some(_)) => true,
            // So say systems and file systems that know no protocols, too.
            Ok(None) | Err(_) => is_remote_drive(path)?,
        },
        is_smb: matches!(protocol, Ok(Some(WNNC_NET_SMB))),
        is_memory: false,
    })
}

#[expect(unsafe_code, reason = "no safe crate of ours asks for it")]
fn is_remote_drive(path: &Path) -> io::Result<bool> {
    let path = wide(&path.canonicalize()?)?;
    let mut root = [0_u16; PATH_UNITS_MAX as usize];
    // SAFETY: the name ends with a zero and lives until the call is over; at most so many units are written to memory
    // that is that long, with a zero behind them.
    if unsafe { GetVolumePathNameW(path.as_ptr(), root.as_mut_ptr(), PATH_UNITS_MAX) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system has written a zero behind the name.
    Ok(unsafe { GetDriveTypeW(root.as_ptr()) } == DRIVE_REMOTE)
}

#[expect(unsafe_code, reason = "no safe crate of ours asks for it")]
pub(super) fn free_bytes(path: &Path) -> io::Result<u64> {
    let path = wide(&path.canonicalize()?)?;
    let mut available = 0;
    // SAFETY: the name ends with a zero and lives until the call is over; `available` is a place for the number, and null
    // is what is not asked for.
    match unsafe {
        GetDiskFreeSpaceExW(
            path.as_ptr(),
            &raw mut available,
            ptr::null_mut(),
            ptr::null_mut(),
        )
    } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(available),
    }
}

/// The path to which a path leads is that of the share.
pub(super) fn share_behind_drive(path: &Path) -> Option<String> {
    let leads_to = path.canonicalize().ok()?.into_os_string().into_string();
    let share = leads_to.ok()?.strip_prefix(r"\\?\UNC\")?.to_owned();
    // Other protocols have such paths as well.
    let is_smb = of(path).is_ok_and(|found| found.is_smb);
    is_smb.then(|| format!(r"\\{share}"))
}
