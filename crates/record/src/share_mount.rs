//! A share as the system's own client has it mounted, and what that client really uses.

use std::fmt::Write as _;
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BitsPerSecond, Bytes, Demands, Dialect};

/// A mounted share, as the client's kernel tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShareMount {
    /// The folder on which it is mounted.
    pub folder: String,
    /// Whether linerate has mounted it there for the check only, so that no other program sees it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// What is mounted there, as `//server/share` or with a folder of the share behind it.
    pub source: String,
    /// Its options as the kernel shows them, with commas between them. A password is never among them.
    pub options: String,
    /// Connections of its session; none where the kernel does not tell.
    pub channels: Option<u32>,
    /// Whether its session signs; none where the kernel does not tell.
    pub signed: Option<bool>,
    /// Whether its session encrypts; none where the kernel does not tell.
    pub encrypted: Option<bool>,
    /// The server's interfaces as that client knows them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<MountInterface>,
}

/// An interface of the server, as the system's own client knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MountInterface {
    /// Its address.
    pub address: IpAddr,
    /// What the server says of its speed.
    pub speed: Option<BitsPerSecond>,
    /// Connections of the session that go there; none where the kernel does not tell, as older ones.
    pub channels: Option<u32>,
}

/// A share that the system's own client mounts once more, with other options, for one trial and in its mount namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondMount {
    /// What is mounted, as `//server/share` or with a folder of the share behind it.
    pub source: String,
    /// The folder on which it is mounted: for that trial it hides what is mounted there.
    pub folder: String,
    /// Its options, with commas between them, without user and password.
    pub options: String,
}

impl SecondMount {
    /// The option that makes a mount log in for itself (`mount.cifs(8)`): otherwise it has the connections of whatever mount
    /// there is of that server.
    pub const OWN_SESSION: &str = "nosharesock";
    /// How a level of an experiment names the options of such a mount, as a field of the workload.
    pub const FIELD: &str = "mount_options";
    /// Options of `mount.cifs(8)` that an experiment may vary: those of how a share is asked, and none of where it is, who
    /// asks, who may do what, and what is believed, since whoever wrote a plan is not who runs it.
    pub const VARIED: [&str; 24] = [
        "vers",
        "rsize",
        "wsize",
        "rasize",
        "bsize",
        "esize",
        "multichannel",
        "nomultichannel",
        "max_channels",
        "max_credits",
        "min_enc_offload",
        "cache",
        "actimeo",
        "acregmax",
        "acdirmax",
        "closetimeo",
        "handletimeout",
        "echo_interval",
        "compress",
        "rdma",
        "nolease",
        "nobrl",
        "sync",
        "strictsync",
    ];
    /// Protections, which an experiment may add and not take away.
    const ADDED: [&str; 2] = ["sign", "seal"];

    /// The same mount with other options in place of all that may be varied; what says where it is and who may do what
    /// stays.
    ///
    /// # Errors
    /// The option that may not be varied.
    pub fn varied(&self, options: &str) -> Result<Self, String> {
        let key = |option: &str| option.split('=').next().unwrap_or_default().to_owned();
        let may_vary = |option: &&str| Self::VARIED.contains(&key(option).as_str());
        let asked: Vec<&str> = options.split(',').filter(|it| !it.is_empty()).collect();
        let is_known = |option: &&str| {
            let is_plain =
                !option.contains(|letter: char| letter.is_whitespace() || letter.is_control());
            // SMB 1 has no protection worth the name.
            let is_old = option.starts_with("vers=1");
            is_plain && !is_old && (may_vary(option) || Self::ADDED.contains(option))
        };
        if let Some(other) = asked.iter().find(|option| !is_known(option)) {
            return Err((*other).to_owned());
        }
        let stays = self.options.split(',').filter(|option| !may_vary(option));
        let stays: Vec<&str> = stays.collect();
        let new = asked.into_iter().filter(|option| !stays.contains(option));
        let options: Vec<&str> = new.chain(stays.iter().copied()).collect();
        Ok(Self {
            options: options.join(","),
            ..self.clone()
        })
    }
}

impl SecondMount {
    /// The server's address, where its options say which.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        let mut options = self.options.split(',');
        options.find_map(|option| option.strip_prefix("ip=")?.parse().ok())
    }

    /// The option that asks for a dialect beyond these; none where there is no such option. Without one, or with one that
    /// stands for several, both ends agree on the newest that they have.
    #[must_use]
    pub fn dialect_beyond(&self, demands: &Demands) -> Option<&str> {
        let mut options = self.options.split(',');
        let is_beyond = |option: &&str| {
            let version = option.strip_prefix("vers=");
            let dialect = match version {
                Some("2.0") => Dialect::Smb202,
                Some("2.1") => Dialect::Smb210,
                Some("3.0") => Dialect::Smb300,
                Some("3.02" | "3.0.2") => Dialect::Smb302,
                Some("3.1.1" | "3.11") => Dialect::Smb311,
                _ => return false,
            };
            dialect < demands.dialect_min || dialect > demands.dialect_max
        };
        options.find(is_beyond)
    }
}

impl ShareMount {
    /// What people know it by: its folder, where that is theirs.
    #[must_use]
    pub fn name(&self) -> &str {
        if self.own { &self.source } else { &self.folder }
    }

    /// What stands behind `key=` among the options.
    #[must_use]
    pub fn option(&self, key: &str) -> Option<&str> {
        let mut options = self.options.split(',');
        options.find_map(|option| option.strip_prefix(key)?.strip_prefix('='))
    }

    /// Whether an option is set, with just this value where it has one.
    #[must_use]
    pub fn has(&self, flag: &str) -> bool {
        self.options.split(',').any(|option| option == flag)
    }

    /// Whether it is known to encrypt, by its session or its options.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.encrypted == Some(true) || self.has("seal")
    }

    /// Whether its options ask for signatures: by an option, or by a kind of login that has them.
    #[must_use]
    pub fn asks_to_sign(&self) -> bool {
        let security = self.option("sec").unwrap_or_default();
        self.has("sign") || security.ends_with('i')
    }

    /// The dialect in use, as `3.1.1`; SMB 1 is `1.0`.
    #[must_use]
    pub fn dialect(&self) -> Option<&str> {
        self.option("vers")
    }

    /// The largest request that reads, in bytes.
    #[must_use]
    pub fn read_max(&self) -> Option<Bytes> {
        self.bytes("rsize")
    }

    /// The largest request that writes, in bytes.
    #[must_use]
    pub fn write_max(&self) -> Option<Bytes> {
        self.bytes("wsize")
    }

    fn bytes(&self, key: &str) -> Option<Bytes> {
        self.option(key)?.parse().ok().map(Bytes::new)
    }

    /// The server's name, the share's, and the folder of the share that is mounted, which is empty for its top.
    #[must_use]
    pub fn place(&self) -> Option<(&str, &str, &str)> {
        let rest = self.source.strip_prefix("//")?;
        let (server, rest) = rest.split_once('/')?;
        let (share, folder) = rest.split_once('/').unwrap_or((rest, ""));
        let is_known = !server.is_empty() && !share.is_empty();
        is_known.then(|| (server, share, folder.trim_matches('/')))
    }
}

/// A word of `/etc/fstab`: what would part it stands as three octal digits behind a backslash (fstab(5)).
#[must_use]
pub fn fstab_word(word: &str) -> String {
    let mut text = String::new();
    for character in word.chars() {
        match character {
            // Writing to a string cannot fail.
            ' ' | '\t' | '\n' | '\\' | '#' => drop(write!(text, "\\{:03o}", u32::from(character))),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_parts_no_word_of_fstab() {
        assert_eq!(fstab_word("//nas/a b"), "//nas/a\\040b");
    }

    fn mount(source: &str, options: &str) -> ShareMount {
        ShareMount {
            source: source.to_owned(),
            options: options.to_owned(),
            ..ShareMount::default()
        }
    }

    #[test]
    fn options_are_told_by_their_whole_names() {
        let mount = mount("", "rw,vers=3.1.1,rsize=65536,wsize=x,nosharesock,sync");
        assert_eq!(mount.dialect(), Some("3.1.1"));
        assert_eq!(mount.read_max(), Some(Bytes::new(65536)));
        assert_eq!((mount.write_max(), mount.option("size")), (None, None));
        assert_eq!(
            ["sync", "share", "rw"].map(|it| mount.has(it)),
            [true, false, true]
        );
    }

    #[test]
    fn a_plan_varies_how_a_share_is_asked_and_nothing_else() {
        let base = SecondMount {
            source: "//nas/media".to_owned(),
            folder: "/mnt/media".to_owned(),
            options: "uid=1000,vers=3.0,rsize=65536,seal,ip=10.77.1.2,nosharesock".to_owned(),
        };
        let varied = |options: &str| base.varied(options).map(|it| it.options);
        assert_eq!(
            varied("vers=3.1.1,multichannel,seal").as_deref(),
            Ok("vers=3.1.1,multichannel,uid=1000,seal,ip=10.77.1.2,nosharesock")
        );
        for (options, refused) in [
            ("rsize=65536,ip=10.0.0.9", "ip=10.0.0.9"),
            ("credentials=/root/secret", "credentials=/root/secret"),
            ("username=root", "username=root"),
            ("suid", "suid"),
            ("sec=none", "sec=none"),
            ("vers=1.0", "vers=1.0"),
            ("rsize=1\nip=10.0.0.9", "rsize=1\nip=10.0.0.9"),
        ] {
            assert_eq!(varied(options), Err(refused.to_owned()));
        }
    }

    #[test]
    fn a_dialect_of_options_is_one_that_will_do() {
        let beyond = |options: &str, dialect_min, dialect_max| {
            let mount = SecondMount {
                source: String::new(),
                folder: String::new(),
                options: options.to_owned(),
            };
            let demands = Demands {
                dialect_min,
                dialect_max,
                ..Demands::default()
            };
            mount.dialect_beyond(&demands).map(str::to_owned)
        };
        let (oldest, newest) = (Dialect::Smb202, Dialect::Smb311);
        for version in ["2.1", "2.0"] {
            let option = format!("vers={version}");
            let said = beyond(
                &format!("rsize=65536,{option},seal"),
                Dialect::Smb300,
                newest,
            );
            assert_eq!(said, Some(option));
        }
        let said = beyond("vers=3.1.1", oldest, Dialect::Smb302);
        assert_eq!(said.as_deref(), Some("vers=3.1.1"));
        for options in [
            "vers=3.0",
            "vers=3.02",
            "vers=3",
            "vers=default",
            "rsize=1",
            "",
        ] {
            assert_eq!(
                beyond(options, Dialect::Smb300, Dialect::Smb302),
                None,
                "{options}"
            );
        }
    }

    #[test]
    fn a_source_has_a_server_and_a_share() {
        let place = |source| {
            mount(source, "")
                .place()
                .map(|(a, b, c)| format!("{a} {b} {c}"))
        };
        assert_eq!(place("//nas/media").as_deref(), Some("nas media "));
        assert_eq!(
            place("//nas/メディア/a/b/").as_deref(),
            Some("nas メディア a/b")
        );
        for wrong in ["", "nas:/media", "//nas", "//nas/", "///media"] {
            assert_eq!(place(wrong), None, "{wrong}");
        }
    }
}
