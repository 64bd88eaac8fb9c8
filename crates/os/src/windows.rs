//! What several parts need of Windows: names as it takes them, who owns what, and whether this process is elevated.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::size_of;
use std::os::windows::ffi::OsStrExt as _;
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::path::Path;
use std::ptr;

use windows_sys::Win32::Foundation::{GENERIC_ALL, GENERIC_READ, GENERIC_WRITE, HLOCAL, LocalFree};
use windows_sys::Win32::Security::Authorization::{GetSecurityInfo, SE_FILE_OBJECT};
use windows_sys::Win32::Security::{
    ACCESS_ALLOWED_ACE, ACE_HEADER, ACL, DACL_SECURITY_INFORMATION, EqualSid, GetAce,
    GetTokenInformation, INHERIT_ONLY_ACE, IsValidAcl, IsValidSecurityDescriptor, IsValidSid,
    IsWellKnownSid, OWNER_SECURITY_INFORMATION, PSECURITY_DESCRIPTOR, PSID, TOKEN_ELEVATION,
    TOKEN_INFORMATION_CLASS, TOKEN_QUERY, TOKEN_USER, TokenElevation, TokenUser,
    WinBuiltinAdministratorsSid, WinLocalSystemSid,
};
use windows_sys::Win32::Storage::FileSystem::{
    DELETE, FILE_APPEND_DATA, FILE_DELETE_CHILD, FILE_FLAG_BACKUP_SEMANTICS,
    FILE_FLAG_OPEN_REPARSE_POINT, FILE_READ_DATA, FILE_WRITE_DATA, MOVE_FILE_FLAGS, MoveFileExW,
    WRITE_DAC, WRITE_OWNER,
};
use windows_sys::Win32::System::SystemServices::{ACCESS_ALLOWED_ACE_TYPE, ACCESS_DENIED_ACE_TYPE};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

/// Words for a user with its identifier, which has at most 68 bytes (`SECURITY_MAX_SID_SIZE`).
const USER_WORDS: usize = 16;

/// Opens what has a name and not what that leads to, a folder as well.
pub(crate) const ITSELF: u32 = FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS;

/// Opens what has that name and not what it leads to, with these rights only.
///
/// # Errors
/// As [`OpenOptions::open`].
pub(crate) fn open_itself(path: &Path, access: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.access_mode(access).custom_flags(ITSELF);
    options.open(path)
}

/// Opens what a path leads to, a folder as well, with these rights only.
///
/// # Errors
/// As [`OpenOptions::open`].
pub(crate) fn open_followed(path: &Path, access: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .access_mode(access)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    options.open(path)
}

/// Gives a file another name, in one call: over what has it or not, and on the disk before it returns or not.
///
/// # Errors
/// As the system has them for `MoveFileExW`.
#[expect(
    unsafe_code,
    reason = "the standard library only renames over what is there, and does not wait for the disk"
)]
pub(crate) fn move_file(from: &Path, to: &Path, how: MOVE_FILE_FLAGS) -> io::Result<()> {
    let (from, to) = (wide(from)?, wide(to)?);
    // SAFETY: both names end with a zero and live until the call is over.
    match unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), how) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

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
/// only they can make it so: it counts as ours, too.
///
/// # Errors
/// When that is not known: the file must have been opened with the right to be asked (`READ_CONTROL`), which those to
/// read and to write contain.
pub(crate) fn is_owned_by_us(file: &File) -> io::Result<bool> {
    let security = Security::of(file)?;
    let us = User::this()?;
    // A server may give no owner.
    Ok(!security.owner.is_null() && us.trusts(security.owner))
}

/// Whether anybody but us, administrators and the system may write an open file, or put something into an open folder,
/// by its list of rights. Without a list, everybody may do everything.
///
/// # Errors
/// As [`is_owned_by_us`].
pub(crate) fn is_written_by_others(file: &File) -> io::Result<bool> {
    lets_others(file, WRITES)
}

/// The same of reading it or writing it.
///
/// # Errors
/// As [`is_owned_by_us`].
pub(crate) fn is_read_by_others(file: &File) -> io::Result<bool> {
    lets_others(file, WRITES | FILE_READ_DATA | GENERIC_READ)
}

#[expect(unsafe_code, reason = "the list is one of the system's")]
fn lets_others(file: &File, asked: u32) -> io::Result<bool> {
    let security = Security::of(file)?;
    let us = User::this()?;
    if security.rights.is_null() {
        return Ok(true);
    }
    // SAFETY: the list lies in the descriptor, which is kept meanwhile.
    let count = unsafe { (*security.rights).AceCount };
    for number in 0..u32::from(count) {
        let mut entry = ptr::null_mut();
        // SAFETY: as above, and `entry` is a place for the pointer.
        if unsafe { GetAce(security.rights, number, &raw mut entry) } == 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: each entry begins so.
        let header = unsafe { entry.cast::<ACE_HEADER>().read() };
        let only_inherited = u32::from(header.AceFlags) & INHERIT_ONLY_ACE != 0;
        if only_inherited || u32::from(header.AceType) == ACCESS_DENIED_ACE_TYPE {
            continue;
        }
        if u32::from(header.AceType) != ACCESS_ALLOWED_ACE_TYPE {
            // One that depends on something, or is of another kind.
            return Ok(true);
        }
        let entry = entry.cast::<ACCESS_ALLOWED_ACE>();
        if usize::from(header.AceSize) < size_of::<ACCESS_ALLOWED_ACE>() {
            return Ok(true);
        }
        // SAFETY: the header says which kind it is; the user's identifier begins at its last field.
        let (rights, user) = unsafe { ((*entry).Mask, (&raw mut (*entry).SidStart).cast()) };
        if rights & asked != 0 && !us.trusts(user) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Rights by which a file or folder, or who may do what with it, is changed.
const WRITES: u32 = FILE_WRITE_DATA
    | FILE_APPEND_DATA
    | FILE_DELETE_CHILD
    | DELETE
    | WRITE_DAC
    | WRITE_OWNER
    | GENERIC_WRITE
    | GENERIC_ALL;

/// Who owns an open file and who may do what with it.
struct Security {
    owner: PSID,
    rights: *mut ACL,
    #[expect(dead_code, reason = "the others lead into it")]
    descriptor: Freed,
}

impl Security {
    #[expect(unsafe_code, reason = "no safe crate of ours asks for it")]
    fn of(file: &File) -> io::Result<Self> {
        let mut owner: PSID = ptr::null_mut();
        let mut rights: *mut ACL = ptr::null_mut();
        let mut descriptor: PSECURITY_DESCRIPTOR = ptr::null_mut();
        // SAFETY: the handle is open while `file` is borrowed, and each pointer leads to a place for what is asked for.
        let status = unsafe {
            GetSecurityInfo(
                file.as_raw_handle(),
                SE_FILE_OBJECT,
                OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                &raw mut owner,
                ptr::null_mut(),
                &raw mut rights,
                ptr::null_mut(),
                &raw mut descriptor,
            )
        };
        if status != 0 {
            return Err(io::Error::from_raw_os_error(status.cast_signed()));
        }
        let found = Self {
            owner,
            rights,
            descriptor: Freed(descriptor),
        };
        // Of a share, it comes from its server.
        // SAFETY: the system has given the descriptor and what is in it, or null for what it lacks.
        let is_whole = unsafe {
            IsValidSecurityDescriptor(descriptor) != 0
                && (owner.is_null() || IsValidSid(owner) != 0)
                && (rights.is_null() || IsValidAcl(rights) != 0)
        };
        match is_whole {
            true => Ok(found),
            false => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// A user of the system.
struct User(Box<[u64; USER_WORDS]>);

impl User {
    /// Whoever this process runs as.
    fn this() -> io::Result<Self> {
        // Words, so that the identifier behind it is aligned, in a place that stays: there is a pointer from one to the other.
        let mut found = Box::new([0_u64; USER_WORDS]);
        token_information(TokenUser, &mut *found)?;
        Ok(Self(found))
    }

    /// Whether that is this user, an administrator or the system.
    #[expect(unsafe_code, reason = "identifiers are the system's")]
    fn trusts(&self, other: PSID) -> bool {
        let user = self.0.as_ptr().cast::<TOKEN_USER>();
        // SAFETY: an identifier is valid or is none, and this says which.
        if unsafe { IsValidSid(other) } == 0 {
            return false;
        }
        // SAFETY: the system has written a whole one to the begin of the words, whose pointer leads to what it has written
        // behind it; the other identifier is one of a descriptor that its owner keeps meanwhile.
        unsafe {
            EqualSid(other, (*user).User.Sid) != 0
                || IsWellKnownSid(other, WinBuiltinAdministratorsSid) != 0
                || IsWellKnownSid(other, WinLocalSystemSid) != 0
        }
    }
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

/// Something that the token of this process holds.
#[expect(unsafe_code, reason = "no safe crate of ours asks for it")]
fn token_information<T>(class: TOKEN_INFORMATION_CLASS, found: &mut T) -> io::Result<()> {
    let mut token = ptr::null_mut();
    // SAFETY: `token` is a place for the handle.
    if unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle was just opened, and this is its only owner.
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
