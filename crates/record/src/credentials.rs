//! Who logs in: a user with a password, or one without.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// A password. Shown nowhere, wiped when dropped.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a password.
    #[must_use]
    pub fn new(password: String) -> Self {
        Self(Zeroizing::new(password))
    }

    /// The password itself: for authentication and a trial's standard input only.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(..)")
    }
}

/// Who logs in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// As what.
    #[serde(default)]
    pub identity: Identity,
    /// User name; of no meaning when anonymous.
    pub user: String,
    /// Domain, Kerberos realm or workgroup, empty for none.
    pub domain: String,
    /// The password.
    pub password: Secret,
    /// How it is proven.
    #[serde(default)]
    pub mechanism: Mechanism,
}

impl Credentials {
    /// A user by the text of a file in mount.cifs's format: `username=`, `password=`, `domain=`, a line
    /// each. None where the user's name or the password is missing.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (mut user, mut domain, mut password) = ("", "", None);
        for line in text.lines() {
            // A password may hold blanks and `=`; only the first `=` and the line end count.
            let Some((key, value)) = line.split_once('=') else {
                continue;
            };
            match key.trim() {
                "username" | "user" => match value.trim().split_once(['\\', '/']) {
                    Some(parts) => (domain, user) = parts,
                    None => user = value.trim(),
                },
                "password" | "pass" => password = Some(value),
                "domain" | "dom" | "workgroup" => domain = value.trim(),
                _ => {}
            }
        }
        if user.is_empty() {
            return None;
        }
        Some(Self {
            identity: Identity::User,
            user: user.to_owned(),
            domain: domain.to_owned(),
            password: Secret::new(password?.to_owned()),
            mechanism: Mechanism::Automatic,
        })
    }
}

/// As what a session is logged in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// As a user that the server knows.
    #[default]
    User,
    /// As a guest: without a password, so that nothing can be signed or encrypted.
    Guest,
    /// Without a user, likewise.
    Anonymous,
}

/// How a password is proven to a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// Kerberos where the client's `krb5.conf` knows the domain and the server is called by name,
    /// else NTLMv2.
    #[default]
    Automatic,
    /// Kerberos and nothing else.
    Kerberos {
        /// The KDC as `host` or `host:port`, where the client's configuration is not to name it.
        kdc: Option<String>,
    },
    /// Kerberos with a ticket of the user's own cache, and nothing else. There is no password then, and the user
    /// is a principal, as `ann@REALM`.
    Ticket,
    /// NTLMv2 and nothing else.
    Ntlm,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_for_mount_cifs_is_read() {
        let read = |text: &str| Credentials::parse(text).expect("complete");
        let found = read("username = ann\npassword= a=b \ndomain=WORK\n");
        assert_eq!(
            (found.user.as_str(), found.domain.as_str()),
            ("ann", "WORK")
        );
        assert_eq!(found.password.reveal(), " a=b ");
        let found = read("user=WORK\\bob\npass=\n");
        assert_eq!(
            (found.user.as_str(), found.domain.as_str()),
            ("bob", "WORK")
        );
        assert_eq!(found.password.reveal(), "");
        for incomplete in [
            "",
            "username=ann\n",
            "password=x\n",
            "user=WORK\\\npass=x\n",
        ] {
            assert_eq!(Credentials::parse(incomplete), None, "{incomplete}");
        }
    }
}
