//! What several parts need of Windows: names as it takes them, who owns what, and whether this process is elevated.

use std::fs::File;
use std::io;
use std::mem::size_of;
use std::os::windows::ffi::OsStrExt as _;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::path::Path;
use std::ptr;

use windows_sys::Win32::Foundation::{HLOCAL, LocalFree};
use windows_sys::Win32::Security::Authorization::{GetSecurityInfo, SE_FILE_OBJECT};
use windows_sys::Win32::Security::{
    EqualSid, GetTokenInformation, IsWellKnownSid, OWNER_SECURITY_INFORMATION,
    PSECURITY_DESCRIPTOR, PSID, TOKEN_ELEVATION, TOKEN_INFORMATION_CLASS, TOKEN_QUERY, TOKEN_USER,
    TokenElevation, TokenUser, WinBuiltinAdministratorsSid, WinLocalSystemSid,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

/// Words for a user with its identifier, which has at most 68 bytes (`SECURITY_MAX_SID_SIZE`).
const USER_WORDS: usize = 16;

/// A path with a zero at its end.
///
/// # Errors
/// When there is a zero in it.
pub(crate) fn wide(path: &Path) -> io::Result<Vec<u16>> {
    let mut units: Vec<u16> = path.as_os_str().encode_wide().collect();
    if units.contains(&0) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    units.push(0);
    Ok(units)
}

/// Whether this process is elevated; not where that is not known.
pub(crate) fn is_elevated() -> bool {
    let mut elevation = TOKEN_ELEVATION::default();
    token_information(TokenElevation, &mut elevation).is_ok() && elevation.TokenIsElevated != 0
}

/// Whether an open file belongs to this user. What an administrator makes, or the system, belongs to neither by name, and
/// nobody but them can make it so: it counts as ours, too.
///
/// # Errors
/// When that is not known: the file must have been opened with the right to be asked (`READ_CONTROL`), which those to
/// read and to write contain.
#[expect(unsafe_code, reason = "no safe crate of ours asks for owners")]
pub(crate) fn is_owned_by_us(file: &File) -> io::Result<bool> {
    let mut owner: PSID = ptr::null_mut();
    let mut descriptor: PSECURITY_DESCRIPTOR = ptr::null_mut();
    // SAFETY: the handle is open while `file` is borrowed, and each pointer leads to a place for what is asked for.
    let status = unsafe {
        GetSecurityInfo(
            file.as_raw_handle(),
            SE_FILE_OBJECT,
            OWNER_SECURITY_INFORMATION,
            &raw mut owner,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            &raw mut descriptor,
        )
    };
    if status != 0 {
        return Err(io::Error::from_raw_os_error(status.cast_signed()));
    }
    let descriptor = Freed(descriptor);
    // Words, so that the identifier behind it is aligned.
    let mut us = [0_u64; USER_WORDS];
    token_information(TokenUser, &mut us)?;
    let user = us.as_ptr().cast::<TOKEN_USER>();
    // SAFETY: the system has written a whole one to the begin of `us`, whose pointer leads into `us`; the owner lies in
    // the descriptor, which is freed only after this.
    let is_ours = unsafe {
        EqualSid(owner, (*user).User.Sid) != 0
            || IsWellKnownSid(owner, WinBuiltinAdministratorsSid) != 0
            || IsWellKnownSid(owner, WinLocalSystemSid) != 0
    };
    drop(descriptor);
    Ok(is_ours)
}

/// Memory that the system has given.
struct Freed(HLOCAL);

impl Drop for Freed {
    #[expect(unsafe_code, reason = "the memory belongs to the system")]
    fn drop(&mut self) {
        // SAFETY: the system gave it to be freed so, once.
        unsafe { LocalFree(self.0) };
    }
}

/// Something that the token of this process tells.
#[expect(unsafe_code, reason = "no safe crate of ours asks for it")]
fn token_information<T>(class: TOKEN_INFORMATION_CLASS, found: &mut T) -> io::Result<()> {
    let mut token = ptr::null_mut();
    // SAFETY: `token` is a place for the handle.
    if unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle was just opened, and nobody else has it.
    let token = unsafe { OwnedHandle::from_raw_handle(token) };
    let mut needed = 0;
    let bytes = u32::try_from(size_of::<T>()).map_err(io::Error::other)?;
    // SAFETY: at most so many bytes are written to what is that long; its callers give numbers and words.
    let done = unsafe {
        GetTokenInformation(
            token.as_raw_handle(),
            class,
            ptr::from_mut(found).cast(),
            bytes,
            &raw mut needed,
        )
    };
    match done {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
