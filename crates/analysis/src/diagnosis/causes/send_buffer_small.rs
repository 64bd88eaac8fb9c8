//! A send buffer that is too small for its path.

use super::{Evidence, Finding};
use crate::diagnosis::tcp_buffers::{Buffer, small};

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    small(seen, Buffer::Send)
}
