//! POSIX systems.

use std::ffi::{CStr, c_void};

use super::NotLoaded;

/// What `dlopen` gives.
pub(super) type Handle = *mut c_void;

#[expect(unsafe_code, reason = "only the C library loads others")]
pub(super) fn load(name: &CStr) -> Result<Handle, NotLoaded> {
    // SAFETY: the name is a C string, and what the system's own library does when it is loaded is trusted.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if !handle.is_null() {
        return Ok(handle);
    }
    // SAFETY: the text stays until the next call of this thread, and is copied.
    let text = unsafe {
        let text = libc::dlerror();
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    };
    Err(text.map_or(NotLoaded::Unsaid, NotLoaded::Said))
}

#[expect(unsafe_code, reason = "only the C library looks into others")]
pub(super) fn address(library: Handle, name: &CStr) -> *mut c_void {
    // SAFETY: the handle is that of `dlopen`, which is never closed, and the name is a C string.
    unsafe { libc::dlsym(library, name.as_ptr()) }
}
