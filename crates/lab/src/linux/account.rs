//! The share user of a lab.

use std::io;

use crate::Error;

/// Name of the share user.
pub(crate) const USER: &str = "linerate";
/// Its number in the hosts, from the range that systemd keeps free.
pub(crate) const USER_ID: u32 = 60_600;
/// The workgroup of the server.
pub(crate) const DOMAIN: &str = "WORKGROUP";
/// Characters of a password: 32, so that five random bits choose one without bias.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// Length of a password: 120 bits.
const PASSWORD_CHARS: usize = 24;

/// The share user, with a password that only this lab has.
pub(crate) struct Account {
    pub(crate) password: String,
}

impl Account {
    pub(crate) fn random() -> Result<Self, Error> {
        let password = random_bytes::<PASSWORD_CHARS>()?;
        let letter = |byte: &u8| char::from(ALPHABET[usize::from(byte % 32)]);
        Ok(Self {
            password: password.iter().map(letter).collect(),
        })
    }

    /// In the format of `mount.cifs`.
    pub(crate) fn credentials(&self) -> String {
        format!(
            "username={USER}\npassword={}\ndomain={DOMAIN}\n",
            self.password
        )
    }
}

/// Bytes nobody can guess.
pub(crate) fn random_bytes<const COUNT: usize>() -> Result<[u8; COUNT], Error> {
    let mut bytes = [0; COUNT];
    getrandom::fill(&mut bytes).map_err(|error| Error::System {
        action: "get random bytes from",
        subject: "the kernel".to_owned(),
        source: io::Error::other(error.to_string()),
    })?;
    Ok(bytes)
}

/// An account file (`passwd`, `group`, `shadow`) in which the share user has just `entry`.
pub(crate) fn with_entry(file: &str, entry: &str) -> String {
    let own = format!("{USER}:");
    let others = file.lines().filter(|line| !line.starts_with(&own));
    let mut text = String::new();
    for line in others.chain([entry]) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_has_its_length_and_differs() {
        let (one, other) = (Account::random().unwrap(), Account::random().unwrap());
        assert_eq!(one.password.len(), PASSWORD_CHARS);
        assert_ne!(one.password, other.password);
    }

    #[test]
    fn an_entry_replaces_a_user_of_the_machine_with_the_same_name() {
        let file = "root:x:0:\nlinerate:x:1:\nlinerates:x:2:\n";
        assert_eq!(
            with_entry(file, "linerate:x:60600:"),
            "root:x:0:\nlinerates:x:2:\nlinerate:x:60600:\n"
        );
    }
}
