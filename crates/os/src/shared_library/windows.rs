//! Windows: no library that is loaded so is known there.

use std::convert::Infallible;
use std::ffi::{CStr, c_void};

use super::NotLoaded;

/// There is none.
pub(super) type Handle = Infallible;

pub(super) fn load(_: &CStr) -> Result<Handle, NotLoaded> {
    Err(NotLoaded::NoneKnown)
}

pub(super) fn address(library: Handle, _: &CStr) -> *mut c_void {
    match library {}
}
