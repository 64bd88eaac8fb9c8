//! A session with a share: what somebody demands of it, and what was agreed with the server.

use std::net::IpAddr;

use locale::{Kept, Language, Message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BitsPerSecond, Bytes, Cipher, Identity, SigningAlgorithm};

/// What somebody demands of a session with a share. By default nothing: the newest dialect that both
/// ends know, and signing and encryption where the server insists on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Demands {
    /// The oldest dialect that will do.
    pub dialect_min: Dialect,
    /// The newest dialect that is offered.
    pub dialect_max: Dialect,
    /// What is signed.
    pub signing: Signing,
    /// Nothing is sent or taken but encrypted.
    pub encrypted: bool,
    /// The only signing algorithm that is offered; none for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing_algorithm: Option<SigningAlgorithm>,
    /// The only cipher that is offered; none for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cipher: Option<Cipher>,
}

impl Default for Demands {
    fn default() -> Self {
        Self {
            dialect_min: Dialect::Smb202,
            dialect_max: Dialect::Smb311,
            signing: Signing::IfRequired,
            encrypted: false,
            signing_algorithm: None,
            cipher: None,
        }
    }
}

/// A dialect of SMB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Dialect {
    /// 2.0.2, of 2006.
    #[serde(rename = "2.0.2")]
    Smb202,
    /// 2.1, the first with large requests.
    #[serde(rename = "2.1")]
    Smb210,
    /// 3.0, the first with several channels and encryption.
    #[serde(rename = "3.0")]
    Smb300,
    /// 3.0.2.
    #[serde(rename = "3.0.2")]
    Smb302,
    /// 3.1.1, whose login cannot be talked down unnoticed.
    #[serde(rename = "3.1.1")]
    Smb311,
}

/// What is signed of a session that is not encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signing {
    /// Everything, or the server will not do.
    Required,
    /// Everything where the server insists on it.
    #[default]
    IfRequired,
    /// Everything but the content of files, and that too where the server insists on it.
    DataUnsigned,
}

/// What was really agreed with the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SmbSession {
    /// Dialect, as `3.1.1`.
    pub dialect: String,
    /// Signing algorithm in use, as `AES-128-GMAC`; none where no more than the login is signed.
    pub signing_algorithm: Option<String>,
    /// Whether READ and WRITE were signed too.
    pub data_signed: bool,
    /// Cipher in use, as `AES-128-GCM`; none when plain.
    pub encryption: Option<String>,
    /// What the server took us for.
    #[serde(default)]
    pub identity: Identity,
    /// Largest READ the server takes.
    pub read_max: Bytes,
    /// Largest WRITE the server takes.
    pub write_max: Bytes,
    /// The server's own list of its interfaces, as advertised.
    pub server_interfaces: Vec<ServerInterface>,
    /// Channels that were wanted and not made, each with its reason.
    pub rejected_channels: Vec<String>,
    /// The same as it can be said in other languages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<serde_json::Value>")]
    pub rejected_channel_messages: Vec<Kept>,
    /// The most credits that the first channel was seen to have; one is worth 64 KiB.
    #[serde(default)]
    pub credits: Option<u64>,
    /// How often work had to wait for credits.
    #[serde(default)]
    pub credit_waits: Option<u64>,
}

impl SmbSession {
    /// Keeps why channels that were wanted are not there.
    #[must_use]
    pub fn without_channels(self, reasons: &[Message]) -> Self {
        let english = reasons.iter().map(|reason| Language::English.say(reason));
        Self {
            rejected_channels: english.collect(),
            rejected_channel_messages: reasons.iter().filter_map(Kept::of_message).collect(),
            ..self
        }
    }

    /// Why a channel is not there, as it can be said in any language.
    pub fn rejection(&self, reason: &str) -> Message {
        Kept::of_text(reason, &self.rejected_channel_messages)
    }
}

/// One entry of the server's list of interfaces (MS-SMB2 2.2.32.5), as advertised, true or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerInterface {
    /// Its address.
    pub address: IpAddr,
    /// Interface index; 0xFFFF_FFFF where Samba does not know it.
    pub index: u32,
    /// Line rate.
    pub speed: BitsPerSecond,
    /// Whether it is said to be capable of RSS.
    pub rss: bool,
}
