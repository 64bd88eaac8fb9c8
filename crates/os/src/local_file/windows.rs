//! Windows.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::mem::{size_of, size_of_val};
use std::ops::Range;
use std::os::windows::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::os::windows::io::AsRawHandle as _;
use std::path::{Path, PathBuf};
use std::ptr;

use windows_sys::Win32::Foundation::ERROR_MORE_DATA;
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_ATTRIBUTE_OFFLINE, FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS,
    FILE_ATTRIBUTE_RECALL_ON_OPEN, FILE_ATTRIBUTE_REPARSE_POINT, FILE_ATTRIBUTE_SPARSE_FILE,
    FILE_BASIC_INFO, FILE_FLAG_NO_BUFFERING, FILE_ID_INFO, FILE_INFO_BY_HANDLE_CLASS,
    FILE_READ_ATTRIBUTES, FILE_REMOTE_PROTOCOL_INFO, FILE_WRITE_ATTRIBUTES, FileBasicInfo,
    FileIdInfo, FileRemoteProtocolInfo, FileStandardInfo, GetFileInformationByHandle,
    GetFileInformationByHandleEx, MOVEFILE_WRITE_THROUGH,
};
use windows_sys::Win32::System::IO::DeviceIoControl;
use windows_sys::Win32::System::Ioctl::{
    FILE_ALLOCATED_RANGE_BUFFER, FSCTL_QUERY_ALLOCATED_RANGES, FSCTL_SET_SPARSE,
};

use super::Facts;
use crate::windows::{ITSELF, is_owned_by_us, move_file, open_itself};
use crate::windows_time::to_system_time;

/// What is deduplicated, compressed by the system or in a cloud, as files say it; links have the first of them too.
const STORED_ELSEWHERE: u32 = FILE_ATTRIBUTE_REPARSE_POINT
    | FILE_ATTRIBUTE_OFFLINE
    | FILE_ATTRIBUTE_RECALL_ON_OPEN
    | FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS;

/// `FILE_STANDARD_INFO`, whose flags may be any number when they come from a server.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct StandardInformation {
    allocation: i64,
    end: i64,
    links: u32,
    flags: [u8; 4],
}

pub(super) fn facts(file: &File, metadata: &Metadata) -> Facts {
    let standard = information::<StandardInformation>(file, FileStandardInfo).ok();
    let basic = information::<FILE_BASIC_INFO>(file, FileBasicInfo).ok();
    let allocation = standard.and_then(|found| u64::try_from(found.allocation).ok());
    Facts {
        allocation: allocation.unwrap_or(metadata.len()),
        id: by_handle(file).ok().map(|found| index(&found)),
        changed: basic.and_then(|found| to_system_time(u64::try_from(found.ChangeTime).ok()?)),
        mode: None,
    }
}

pub(super) fn facts_of_unopened(path: &Path, metadata: &Metadata) -> Facts {
    match open_itself(path, FILE_READ_ATTRIBUTES) {
        Ok(file) => facts(&file, metadata),
        Err(_) => Facts {
            allocation: metadata.len(),
            id: None,
            changed: None,
            mode: None,
        },
    }
}

const fn index(found: &BY_HANDLE_FILE_INFORMATION) -> u64 {
    (found.nFileIndexHigh as u64) << 32 | found.nFileIndexLow as u64
}

/// What is no link but stored in another place (deduplicated, compressed, in a cloud) is read as its file system shows
/// it: such a reparse point leads nowhere (MS-FSCC 2.1.2.1, name surrogates).
pub(super) fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let mut as_it_is = options.clone();
    as_it_is.custom_flags(ITSELF);
    let file = as_it_is.open(path)?;
    let found = file.metadata()?;
    if found.is_symlink() || found.file_attributes() & STORED_ELSEWHERE == 0 {
        return Ok(file);
    }
    let as_shown = options.open(path)?;
    // A link may have come there meanwhile.
    match is_same(&file, &as_shown)? {
        true => Ok(as_shown),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a link has come there",
        )),
    }
}

pub(super) fn open_to_set_times(path: &Path) -> io::Result<File> {
    open_itself(path, FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES)
}

pub(super) fn folder_builder(_: Option<u32>) -> DirBuilder {
    DirBuilder::new()
}

/// Few users may make one, and copies ask for none: see `Place::has_links` of the engine.
pub(super) fn symlink(_: &str, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    is_same(file, &open_itself(path, FILE_READ_ATTRIBUTES)?)
}

/// By numbers of 128 bits where the file system has them (ReFS), else by those of 64.
fn is_same(one: &File, other: &File) -> io::Result<bool> {
    let whole = |file| information::<FILE_ID_INFO>(file, FileIdInfo);
    if let (Ok(one), Ok(other)) = (whole(one), whole(other)) {
        let of = |found: FILE_ID_INFO| (found.VolumeSerialNumber, found.FileId.Identifier);
        return Ok(of(one) == of(other));
    }
    let (one, other) = (by_handle(one)?, by_handle(other)?);
    let of = |found: &BY_HANDLE_FILE_INFORMATION| (found.dwVolumeSerialNumber, index(found));
    Ok(of(&one) == of(&other))
}

pub(super) fn is_ours(file: &File) -> io::Result<bool> {
    Ok(!has_other_names(file)? && is_owned_by_us(file)?)
}

pub(super) fn has_other_names(file: &File) -> io::Result<bool> {
    Ok(by_handle(file)?.nNumberOfLinks > 1)
}

/// One call, which fails where something has the name, as no check before it could.
pub(super) fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    move_file(from, to, MOVEFILE_WRITE_THROUGH)
}

/// Where it cannot be asked, it may be another machine's.
pub(super) fn tells_late(file: &File) -> bool {
    !matches!(protocol_of_share(file), Ok(None))
}

/// By which protocol a file of another machine is reached (`WNNC_NET_…`); none of one of this machine.
pub(crate) fn protocol_of_share(file: &File) -> io::Result<Option<u32>> {
    use windows_sys::Win32::Foundation::ERROR_INVALID_PARAMETER;

    match information::<FILE_REMOTE_PROTOCOL_INFO>(file, FileRemoteProtocolInfo) {
        Ok(found) => Ok(Some(found.Protocol)),
        // So Windows says of a file of its own.
        Err(error) if error.raw_os_error() == Some(ERROR_INVALID_PARAMETER.cast_signed()) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Without the cache: each operation must be a multiple of a sector then.
pub(super) fn open_past_cache(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(FILE_FLAG_NO_BUFFERING);
    options.open(path)
}

/// No call of Windows does it.
pub(super) fn forget_content(_: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A file is reached by its name only.
pub(super) fn path_for_programs(_: &File) -> Option<PathBuf> {
    None
}

/// So that what is never written takes no space.
#[expect(unsafe_code, reason = "no safe crate of ours asks for it")]
pub(super) fn make_sparse(file: &File) -> io::Result<()> {
    let mut filled = 0;
    // SAFETY: the handle is open while `file` is borrowed; nothing is given and nothing comes back.
    let done = unsafe {
        DeviceIoControl(
            file.as_raw_handle(),
            FSCTL_SET_SPARSE,
            ptr::null(),
            0,
            ptr::null_mut(),
            0,
            &raw mut filled,
            ptr::null_mut(),
        )
    };
    match done {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// What is read-only is replaced as well, as on systems where that is up to the folder.
pub(super) fn rename_over(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let mut permissions = to.symlink_metadata()?.permissions();
            if !permissions.readonly() {
                return Err(error);
            }
            #[expect(
                clippy::permissions_set_readonly_false,
                reason = "Windows has this one bit for all users"
            )]
            permissions.set_readonly(false);
            fs::set_permissions(to, permissions)?;
            fs::rename(from, to)
        }
        renamed => renamed,
    }
}

#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(super) fn make_private(_: &File) -> io::Result<()> {
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(super) fn publish(_: &File, _: Option<u32>, _: Option<&Metadata>) -> io::Result<()> {
    Ok(())
}

/// Only who may write a file may ask for it.
pub(super) fn sync_content(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.sync_all()
}

/// No call of Windows does it; what file systems log of a name that was made goes with the content that is synced next.
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(super) fn sync_names(_: &Path) -> io::Result<()> {
    Ok(())
}

pub(super) fn read_at(file: &File, offset: u64, room: &mut [u8]) -> io::Result<usize> {
    file.seek_read(room, offset)
}

pub(super) fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<usize> {
    file.seek_write(bytes, offset)
}

#[expect(unsafe_code, reason = "no safe crate of ours asks for the ranges")]
pub(super) fn next_data(file: &File, from: u64, size: u64) -> Option<Range<u64>> {
    let all = (from < size).then_some(from..size);
    // What is compressed or elsewhere takes less space than it holds, too, and has no holes for that.
    let attributes = file.metadata().map_or(0, |found| found.file_attributes());
    let is_sparse = attributes & FILE_ATTRIBUTE_SPARSE_FILE != 0;
    if !is_sparse || attributes & STORED_ELSEWHERE != 0 {
        return all;
    }
    let (Ok(begin), Ok(length)) = (
        i64::try_from(from),
        i64::try_from(size.saturating_sub(from)),
    ) else {
        return all;
    };
    let asked = FILE_ALLOCATED_RANGE_BUFFER {
        FileOffset: begin,
        Length: length,
    };
    let mut found = FILE_ALLOCATED_RANGE_BUFFER::default();
    let mut filled = 0;
    let bytes = size_of::<FILE_ALLOCATED_RANGE_BUFFER>() as u32;
    // SAFETY: the handle is open while `file` is borrowed; each length is that of what its pointer leads to.
    let done = unsafe {
        DeviceIoControl(
            file.as_raw_handle(),
            FSCTL_QUERY_ALLOCATED_RANGES,
            (&raw const asked).cast(),
            bytes,
            (&raw mut found).cast(),
            bytes,
            &raw mut filled,
            ptr::null_mut(),
        )
    };
    let has_more =
        || io::Error::last_os_error().raw_os_error() == Some(ERROR_MORE_DATA.cast_signed());
    if done == 0 && !has_more() {
        return all;
    }
    if filled < bytes {
        return None;
    }
    let begin = u64::try_from(found.FileOffset).ok()?.max(from);
    let length = u64::try_from(found.Length).ok()?;
    let end = u64::try_from(found.FileOffset)
        .ok()?
        .saturating_add(length)
        .min(size);
    (begin < end).then_some(begin..end)
}

#[expect(unsafe_code, reason = "no safe crate of ours asks for it")]
fn information<T: Copy + Default>(file: &File, class: FILE_INFO_BY_HANDLE_CLASS) -> io::Result<T> {
    let mut found = T::default();
    // SAFETY: the handle is open while `file` is borrowed, and at most the size of what the pointer leads to is written,
    // which holds plain numbers only.
    let done = unsafe {
        GetFileInformationByHandleEx(
            file.as_raw_handle(),
            class,
            (&raw mut found).cast(),
            size_of_val(&found) as u32,
        )
    };
    match done {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(found),
    }
}

#[expect(unsafe_code, reason = "no safe crate of ours asks for it")]
fn by_handle(file: &File) -> io::Result<BY_HANDLE_FILE_INFORMATION> {
    let mut found = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open while `file` is borrowed, and one such structure is written.
    match unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut found) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(found),
    }
}
