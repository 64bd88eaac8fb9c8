//! Shared libraries that are loaded when they are first needed, so that linerate runs on systems without them.

use std::ffi::{CStr, c_void};

/// Why a library is not loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotLoaded {
    /// What the system says.
    Said(String),
    /// It does not say.
    Unsaid,
    /// No library that is loaded so is known on this system.
    NoneKnown,
}

#[cfg_attr(unix, path = "shared_library/posix.rs")]
#[cfg_attr(windows, path = "shared_library/windows.rs")]
mod imp;

/// A library, which stays loaded as long as this process runs.
#[derive(Clone, Copy, Debug)]
pub struct SharedLibrary(imp::Handle);

impl SharedLibrary {
    /// Loads one by the name of its file.
    ///
    /// # Errors
    /// Why it is not loaded.
    pub fn load(name: &CStr) -> Result<Self, NotLoaded> {
        imp::load(name).map(Self)
    }

    /// Where something of that name is in it; null where nothing is.
    #[must_use]
    pub fn address(self, name: &CStr) -> *mut c_void {
        imp::address(self.0, name)
    }
}
