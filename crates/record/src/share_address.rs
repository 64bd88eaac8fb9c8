//! Where a share is, and how that is written.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a share is. A password is never part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareAddress {
    /// Host name or address, as typed.
    pub server: String,
    /// TCP port, usually 445.
    pub port: u16,
    /// Name of the share.
    pub share: String,
    /// A folder or file in it with `/` between the parts; empty for the top.
    pub path: String,
}

/// A host as it stands in a URL: addresses of IPv6 in brackets (RFC 3986, 3.2.2).
#[must_use]
pub fn host_in_url(host: &str) -> Cow<'_, str> {
    match host.contains(':') {
        true => Cow::Owned(format!("[{host}]")),
        false => Cow::Borrowed(host),
    }
}

impl fmt::Display for ShareAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "smb://{}", host_in_url(&self.server))?;
        if self.port != 445 {
            write!(formatter, ":{}", self.port)?;
        }
        write!(formatter, "/{}", self.share)?;
        if !self.path.is_empty() {
            write!(formatter, "/{}", self.path)?;
        }
        Ok(())
    }
}

/// A target as one types it: a share with the user before its host, and anything else as it is.
#[must_use]
pub fn with_user(target: &str, user: Option<&str>) -> String {
    match (target.strip_prefix("smb://"), user) {
        (Some(place), Some(user)) => format!("smb://{user}@{place}"),
        _ => target.to_owned(),
    }
}
