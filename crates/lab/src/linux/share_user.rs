//! The share user of a lab.

use std::io;

use locale::say;

use crate::topology::USER;
use crate::{Error, Topology};

/// Its number in the hosts, from the range that systemd keeps free.
pub(crate) const USER_ID: u32 = 60_600;
/// The workgroup of a server that has no domain.
pub(crate) const WORKGROUP: &str = "WORKGROUP";
/// Characters of a password: 32, so that five random bits choose one without bias.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// Random characters of a password: 120 bits.
const PASSWORD_CHARS: usize = 24;
/// How a password begins: a domain wants characters of several kinds.
const PASSWORD_START: &str = "Lr1-";

/// The share user, with a password that only this lab has.
pub(crate) struct Account {
    pub(crate) password: String,
    /// Workgroup, or Kerberos realm.
    domain: String,
}

impl Account {
    pub(crate) fn random(topology: &Topology) -> Result<Self, Error> {
        let random = random_bytes::<PASSWORD_CHARS>()?;
        let random = random.iter();
        let random = random.map(|byte| char::from(ALPHABET[usize::from(byte % 32)]));
        let domain = topology
            .domain()
            .map_or(WORKGROUP, |(_, domain)| &domain.realm);
        Ok(Self {
            password: PASSWORD_START.chars().chain(random).collect(),
            domain: domain.to_owned(),
        })
    }

    /// In the format of `mount.cifs`.
    pub(crate) fn credentials(&self) -> String {
        format!(
            "username={USER}\npassword={}\ndomain={}\n",
            self.password, self.domain
        )
    }
}

/// Bytes nobody can guess.
pub(crate) fn random_bytes<const COUNT: usize>() -> Result<[u8; COUNT], Error> {
    let mut bytes = [0; COUNT];
    getrandom::fill(&mut bytes).map_err(|error| Error::System {
        action: say("error-lab.random"),
        subject: say("error-lab.the-kernel"),
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
        let topology = Topology::parse("[[host]]\nname = \"alone\"\n").unwrap();
        let random = || Account::random(&topology).unwrap();
        let (one, other) = (random(), random());
        assert_eq!(
            one.password.len(),
            PASSWORD_START.len() + PASSWORD_CHARS,
            "{}",
            one.password
        );
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
