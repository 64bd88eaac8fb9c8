//! Encryption of whole messages (3.1.4.3): AES-GCM by aws-lc-rs, AES-CCM by `aes` and `ccm`.
//!
//! Channels use this by themselves; it is public so that a server for tests can be written.

use std::sync::Arc;

use aes::{Aes128, Aes256};
use aws_lc_rs::aead::{self, Aad, LessSafeKey, Nonce, UnboundKey};
use ccm::Ccm;
use ccm::aead::inout::InOutBuf;
use ccm::aead::{AeadInOut, KeyInit};
use ccm::consts::{U11, U16};
use locale::say;

use crate::error::{Error, Result};
use crate::session::{Cipher, Dialect};
use crate::signing_and_keys::{self, PreauthHash};
use crate::wire::TransformHeader;

const GCM_NONCE: usize = 12;
const CCM_NONCE: usize = 11;
const TAG: usize = 16;

/// Both directions' keys of one session. Cloning shares them.
#[derive(Clone)]
pub struct SealingKeys(Arc<Keys>);

struct Keys {
    sending: Kind,
    receiving: Kind,
}

enum Kind {
    Gcm(LessSafeKey),
    Ccm128(Box<Ccm<Aes128, U16, U11>>),
    Ccm256(Box<Ccm<Aes256, U16, U11>>),
}

impl SealingKeys {
    /// The client's keys. `exported` is the whole key of the login that began the session, and the
    /// hash is that of its connection.
    pub fn client(
        dialect: Dialect,
        cipher: Cipher,
        exported: &[u8],
        preauth: &PreauthHash,
    ) -> Result<Self> {
        let [sending, receiving] = kinds(dialect, cipher, exported, preauth)?;
        Ok(Self(Arc::new(Keys { sending, receiving })))
    }

    /// The same keys as the server uses them.
    pub fn server(
        dialect: Dialect,
        cipher: Cipher,
        exported: &[u8],
        preauth: &PreauthHash,
    ) -> Result<Self> {
        let [receiving, sending] = kinds(dialect, cipher, exported, preauth)?;
        Ok(Self(Arc::new(Keys { sending, receiving })))
    }

    /// Decrypts a message in place. Not with these keys, or changed on the path: false, and the
    /// message is then good for nothing.
    #[must_use]
    pub fn open(&self, header: &TransformHeader, message: &mut [u8]) -> bool {
        self.0.receiving.open(header, message)
    }
}

/// Encrypts what one channel sends.
///
/// All channels of a session share a key, with which no nonce may ever be used twice: a nonce is
/// the channel's number, which is never used twice in a session, above a counter of the channel.
pub struct Sealer {
    keys: SealingKeys,
    session_id: u64,
    channel: u16,
    sealed: u64,
}

impl Sealer {
    /// For one channel. There must be one of them only for a number and a session.
    pub fn new(keys: SealingKeys, session_id: u64, channel: u16) -> Self {
        Self {
            keys,
            session_id,
            channel,
            sealed: 0,
        }
    }

    /// Encrypts the message that stands behind room for its [`TransformHeader`], which is put there.
    pub fn seal(&mut self, frame: &mut [u8]) -> Result<()> {
        let (head, message) = frame.split_at_mut(TransformHeader::LENGTH);
        let mut header = self.header(message.len())?;
        header.tag = self.keys.0.sending.seal(&header, None, message)?;
        head.copy_from_slice(&header.to_bytes());
        Ok(())
    }

    /// Encrypts a message, which stays as it is, into `frame`, which has room for it and the
    /// [`TransformHeader`] before it.
    pub fn seal_from(&mut self, message: &[u8], frame: &mut [u8]) -> Result<()> {
        let (head, sealed) = frame.split_at_mut(TransformHeader::LENGTH);
        let mut header = self.header(message.len())?;
        header.tag = self.keys.0.sending.seal(&header, Some(message), sealed)?;
        head.copy_from_slice(&header.to_bytes());
        Ok(())
    }

    fn header(&mut self, length: usize) -> Result<TransformHeader> {
        let mut nonce = [0; 16];
        nonce[..8].copy_from_slice(&self.sealed.to_le_bytes());
        nonce[8..10].copy_from_slice(&self.channel.to_le_bytes());
        let used_up = || Error::InvalidRequest(say("invalid-request.nonces"));
        self.sealed = self.sealed.checked_add(1).ok_or_else(used_up)?;
        let too_long = |_| Error::InvalidRequest(say("invalid-request.message-length"));
        Ok(TransformHeader {
            tag: [0; TAG],
            nonce,
            message_length: u32::try_from(length).map_err(too_long)?,
            reserved: 0,
            session_id: self.session_id,
        })
    }
}

impl Kind {
    fn new(cipher: Cipher, key: &[u8]) -> Result<Self> {
        let gcm = |algorithm| UnboundKey::new(algorithm, key).map_err(unusable);
        Ok(match cipher {
            Cipher::Aes128Gcm => Self::Gcm(LessSafeKey::new(gcm(&aead::AES_128_GCM)?)),
            Cipher::Aes256Gcm => Self::Gcm(LessSafeKey::new(gcm(&aead::AES_256_GCM)?)),
            Cipher::Aes128Ccm => {
                Self::Ccm128(Box::new(Ccm::new_from_slice(key).map_err(unusable)?))
            }
            Cipher::Aes256Ccm => {
                Self::Ccm256(Box::new(Ccm::new_from_slice(key).map_err(unusable)?))
            }
        })
    }

    /// Encrypts `from` into `to`, which is as long, or `to` in place; gives the tag.
    fn seal(
        &self,
        header: &TransformHeader,
        from: Option<&[u8]>,
        to: &mut [u8],
    ) -> Result<[u8; TAG]> {
        let associated = header.associated();
        let tag = match (self, from) {
            (Self::Gcm(key), None) => {
                let associated = Aad::from(associated);
                let sealed = key.seal_in_place_separate_tag(gcm_nonce(header), associated, to);
                let mut tag = [0; TAG];
                tag.copy_from_slice(sealed.map_err(unusable)?.as_ref());
                return Ok(tag);
            }
            (Self::Gcm(key), Some(from)) => {
                let (mut tag, nonce) = ([0; TAG], gcm_nonce(header));
                let associated = Aad::from(associated);
                key.seal_out_of_place_scatter(nonce, associated, from, to, &[], &mut tag)
                    .map_err(unusable)?;
                return Ok(tag);
            }
            (Self::Ccm128(key), _) => {
                let nonce = ccm_nonce(header).into();
                key.encrypt_inout_detached(&nonce, &associated, both(from, to)?)
            }
            (Self::Ccm256(key), _) => {
                let nonce = ccm_nonce(header).into();
                key.encrypt_inout_detached(&nonce, &associated, both(from, to)?)
            }
        };
        Ok(tag.map_err(unusable)?.into())
    }

    fn open(&self, header: &TransformHeader, message: &mut [u8]) -> bool {
        let associated = header.associated();
        match self {
            Self::Gcm(key) => {
                let associated = Aad::from(associated);
                key.open_in_place_separate_tag(gcm_nonce(header), associated, &header.tag, message)
                    .is_ok()
            }
            Self::Ccm128(key) => {
                let (nonce, tag) = (ccm_nonce(header).into(), header.tag.into());
                key.decrypt_inout_detached(&nonce, &associated, message.into(), &tag)
                    .is_ok()
            }
            Self::Ccm256(key) => {
                let (nonce, tag) = (ccm_nonce(header).into(), header.tag.into());
                key.decrypt_inout_detached(&nonce, &associated, message.into(), &tag)
                    .is_ok()
            }
        }
    }
}

/// Of what goes to the server, and of what goes to the client.
fn kinds(
    dialect: Dialect,
    cipher: Cipher,
    exported: &[u8],
    preauth: &PreauthHash,
) -> Result<[Kind; 2]> {
    let [to_server, to_client] = signing_and_keys::cipher_keys(dialect, cipher, exported, preauth);
    Ok([
        Kind::new(cipher, &to_server)?,
        Kind::new(cipher, &to_client)?,
    ])
}

fn both<'a>(from: Option<&'a [u8]>, to: &'a mut [u8]) -> Result<InOutBuf<'a, 'a, u8>> {
    match from {
        Some(from) => InOutBuf::new(from, to).map_err(unusable),
        None => Ok(to.into()),
    }
}

fn gcm_nonce(header: &TransformHeader) -> Nonce {
    let mut nonce = [0; GCM_NONCE];
    nonce.copy_from_slice(&header.nonce[..GCM_NONCE]);
    Nonce::assume_unique_for_key(nonce)
}

fn ccm_nonce(header: &TransformHeader) -> [u8; CCM_NONCE] {
    let mut nonce = [0; CCM_NONCE];
    nonce.copy_from_slice(&header.nonce[..CCM_NONCE]);
    nonce
}

fn unusable<E>(_source: E) -> Error {
    Error::Incompatible(say("incompatible.cryptography"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Message as _;

    fn pair(cipher: Cipher) -> (Sealer, SealingKeys) {
        let (exported, preauth) = ([7; 32], PreauthHash::new());
        let client = SealingKeys::client(Dialect::Smb311, cipher, &exported, &preauth);
        let server = SealingKeys::server(Dialect::Smb311, cipher, &exported, &preauth);
        let sealer = Sealer::new(client.expect("good keys"), 77, 3);
        (sealer, server.expect("good keys"))
    }

    #[test]
    fn every_cipher_opens_what_it_sealed_and_finds_every_flipped_bit() {
        for cipher in Cipher::ALL {
            let (mut sealer, keys) = pair(cipher);
            let message: Vec<u8> = (0..100).collect();
            let mut in_place = [vec![0; TransformHeader::LENGTH], message.clone()].concat();
            sealer.seal(&mut in_place).expect("it seals");
            let mut copied = vec![0; in_place.len()];
            sealer.seal_from(&message, &mut copied).expect("it seals");
            assert_ne!(in_place, copied, "no nonce is used twice");
            let opens = |frame: &[u8]| {
                let header = TransformHeader::decode(frame);
                let mut opened = frame[TransformHeader::LENGTH..].to_vec();
                header.is_ok_and(|header| keys.open(&header, &mut opened)) && opened == message
            };
            assert!(opens(&in_place) && opens(&copied), "{cipher:?}");
            // the tail of the nonce is not used, but authenticated
            for bit in 0..copied.len() * 8 {
                copied[bit / 8] ^= 1 << (bit % 8);
                assert!(!opens(&copied), "{cipher:?} {bit}");
                copied[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }

    #[test]
    fn nonces_differ_by_channel_and_message() {
        let (_, keys) = pair(Cipher::Aes128Gcm);
        let mut seen = std::collections::BTreeSet::new();
        for channel in [0, 1, 256] {
            let mut sealer = Sealer::new(keys.clone(), 1, channel);
            for _ in 0..300 {
                let nonce = sealer.header(1).expect("there are many").nonce;
                assert_eq!(
                    nonce[CCM_NONCE..],
                    [0; 5],
                    "what AES-CCM uses holds all of it"
                );
                assert!(seen.insert(nonce));
            }
        }
    }
}
