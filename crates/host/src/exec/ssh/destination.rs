//! Addresses of hosts that are reached with `ssh`.

use std::fmt;

use record::host_in_url;

/// Whom to reach: `ssh://[user@]host[:port]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    user: Option<String>,
    host: String,
    port: Option<u16>,
}

impl Destination {
    /// Reads `ssh://[user@]host[:port]`; IPv6 addresses stand in brackets. `None` when it is
    /// nothing of that kind, or `ssh` could take a part of it for an option.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("ssh://")?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (user, rest) = match rest.rsplit_once('@') {
            Some((user, rest)) => (Some(user.to_owned()), rest),
            None => (None, rest),
        };
        let (host, port) = match rest.strip_prefix('[') {
            Some(rest) => {
                let (host, behind) = rest.split_once(']')?;
                let port = match behind {
                    "" => None,
                    behind => Some(behind.strip_prefix(':')?),
                };
                (host, port)
            }
            None => match rest.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (rest, None),
            },
        };
        let port = port.map(str::parse).transpose().ok()?;
        let fits = |word: &str, others: &str| {
            let allowed = |letter: char| letter.is_ascii_alphanumeric() || others.contains(letter);
            !word.is_empty() && !word.starts_with('-') && word.chars().all(allowed)
        };
        let whole = fits(host, ".-_:%") && user.as_deref().is_none_or(|user| fits(user, ".-_+$\\"));
        (whole && port != Some(0)).then(|| Self {
            user,
            host: host.to_owned(),
            port,
        })
    }

    /// What `ssh` is told of it.
    pub(super) fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        if let Some(user) = &self.user {
            arguments.extend(["-l".to_owned(), user.clone()]);
        }
        if let Some(port) = self.port {
            arguments.extend(["-p".to_owned(), port.to_string()]);
        }
        arguments.extend(["--".to_owned(), self.host.clone()]);
        arguments
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ssh://")?;
        if let Some(user) = &self.user {
            write!(formatter, "{user}@")?;
        }
        formatter.write_str(&host_in_url(&self.host))?;
        match self.port {
            Some(port) => write!(formatter, ":{port}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_are_read_and_written() {
        for text in [
            "ssh://nas",
            "ssh://admin@nas:2222",
            "ssh://DOMAIN\\user@nas.example",
            "ssh://root@[fd77::1]:22",
            "ssh://[fe80::1%eth0]",
        ] {
            assert_eq!(Destination::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            Destination::parse("ssh://nas/").unwrap().to_string(),
            "ssh://nas"
        );
        for wrong in [
            "nas",
            "ssh://",
            "ssh:///",
            "ssh://@nas",
            "ssh://-oProxyCommand=x",
            "ssh://-x@nas",
            "ssh://nas:0",
            "ssh://nas:66000",
            "ssh://nas:x",
            "ssh://a b",
            "ssh://nas/share",
            "ssh://$(id)",
            "ssh://[::1",
            "ssh://[::1]x",
            "ssh://na\ns",
        ] {
            assert_eq!(Destination::parse(wrong), None, "{wrong}");
        }
    }
}
