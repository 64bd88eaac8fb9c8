//! Windows: job objects. What is in one ends with it, also when this process ends without a word.

use std::env;
use std::fs::File;
use std::io;
use std::mem::size_of;
use std::os::windows::io::{AsHandle as _, AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::os::windows::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::ptr;

use windows_sys::Win32::Foundation::{
    ERROR_INVALID_PARAMETER, HANDLE, NTSTATUS, RtlNtStatusToDosError, WAIT_OBJECT_0, WAIT_TIMEOUT,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation,
    SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW, CREATE_SUSPENDED, INFINITE, OpenProcess,
    PROCESS_SYNCHRONIZE, WaitForSingleObject,
};

#[expect(
    unsafe_code,
    reason = "a function of the system that `windows-sys` lacks"
)]
#[link(name = "ntdll")]
unsafe extern "system" {
    fn NtResumeProcess(process: HANDLE) -> NTSTATUS;
}

/// What programs that were ended say, as on other systems those that SIGKILL ended.
const ENDED: u32 = 137;

#[derive(Debug)]
pub(super) struct Group {
    job: OwnedHandle,
    first: OwnedHandle,
    id: u32,
}

/// It runs only once it is in its job: what it started before would escape.
#[expect(unsafe_code, reason = "no safe crate of ours has jobs")]
pub(super) fn start(command: &mut Command) -> io::Result<(Child, Group)> {
    let job = new_job()?;
    command.creation_flags(CREATE_SUSPENDED | CREATE_NO_WINDOW);
    let mut child = command.spawn()?;
    let process = child.as_raw_handle();
    // SAFETY: both handles are open.
    let assigned = match unsafe { AssignProcessToJobObject(job.as_raw_handle(), process) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    };
    let resumed = assigned.and_then(|()| {
        // SAFETY: the handle is open.
        match unsafe { NtResumeProcess(process) } {
            0 => Ok(()),
            status => {
                // SAFETY: it turns one number into another.
                let error = unsafe { RtlNtStatusToDosError(status) };
                Err(io::Error::from_raw_os_error(error.cast_signed()))
            }
        }
    });
    if let Err(error) = resumed {
        // It has not begun; why it cannot is known already.
        child.kill().ok();
        child.wait().ok();
        return Err(error);
    }
    let first = child.as_handle().try_clone_to_owned()?;
    let id = child.id();
    Ok((child, Group { job, first, id }))
}

/// A job that ends all in it when it is closed.
#[expect(unsafe_code, reason = "no safe crate of ours has jobs")]
fn new_job() -> io::Result<OwnedHandle> {
    // SAFETY: it has no name and usual rights.
    let job = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
    if job.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was just made, and this is its only owner.
    let job = unsafe { OwnedHandle::from_raw_handle(job) };
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    let bytes = u32::try_from(size_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>())
        .map_err(io::Error::other)?;
    // SAFETY: the handle is open, and so many bytes are read of what is that long.
    let set = unsafe {
        SetInformationJobObject(
            job.as_raw_handle(),
            JobObjectExtendedLimitInformation,
            (&raw const limits).cast(),
            bytes,
        )
    };
    match set {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(job),
    }
}

pub(super) fn lead_own_group(command: &mut Command) {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
}

impl Group {
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    #[expect(unsafe_code, reason = "no safe crate of ours has jobs")]
    pub(super) fn end(&self) -> io::Result<()> {
        // SAFETY: the handle is open.
        match unsafe { TerminateJobObject(self.job.as_raw_handle(), ENDED) } {
            0 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    #[expect(unsafe_code, reason = "the standard library waits only by what reaps")]
    pub(super) fn wait(&self) {
        // SAFETY: the handle is open. That it cannot be waited for does not happen to an open one.
        unsafe { WaitForSingleObject(self.first.as_raw_handle(), INFINITE) };
    }
}

pub(super) fn exit_status(status: ExitStatus) -> i32 {
    status.code().unwrap_or(-1)
}

pub(super) fn program_folders() -> Vec<PathBuf> {
    let system = env::var_os("SystemRoot").map(|root| PathBuf::from(root).join("System32"));
    let folders = system.into_iter().flat_map(|system| {
        let below = [r"WindowsPowerShell\v1.0", "OpenSSH"];
        let below: Vec<PathBuf> = below.map(|name| system.join(name)).into();
        std::iter::once(system).chain(below)
    });
    folders.collect()
}

#[expect(unsafe_code, reason = "no safe crate of ours looks for processes")]
pub(super) fn is_running(id: u32) -> Option<bool> {
    // SAFETY: it takes numbers.
    let process = unsafe { OpenProcess(PROCESS_SYNCHRONIZE, 0, id) };
    if process.is_null() {
        let error = io::Error::last_os_error().raw_os_error();
        // So it says of a number that no process has; of another user's, that it may not be opened.
        return Some(error != Some(ERROR_INVALID_PARAMETER.cast_signed()));
    }
    // SAFETY: it was just opened, and this is its only owner.
    let process = unsafe { OwnedHandle::from_raw_handle(process) };
    // SAFETY: the handle is open.
    match unsafe { WaitForSingleObject(process.as_raw_handle(), 0) } {
        WAIT_OBJECT_0 => Some(false),
        WAIT_TIMEOUT => Some(true),
        _ => None,
    }
}

pub(super) fn own_program() -> String {
    let found = std::env::current_exe().unwrap_or_default();
    found.display().to_string()
}

pub(super) fn inherited_stdin() -> io::Result<File> {
    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}
