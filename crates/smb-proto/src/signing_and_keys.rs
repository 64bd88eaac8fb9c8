//! Keys and signatures (3.1.4.1, 3.1.4.2), by aws-lc-rs, in place over one contiguous slice.
//!
//! Channels use this by themselves; it is public so that a server for tests can be written.

use std::sync::Arc;

use aws_lc_rs::aead::{self, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::{cmac, constant_time, digest, hmac};
use locale::say;
use zeroize::Zeroizing;

use crate::error::Error;
use crate::session::{Cipher, Dialect, SigningAlgorithm};
use crate::wire::{Command, HEADER_LENGTH, flags};

/// Bytes of a signing key, and of the part of a session key that counts.
pub const KEY_LENGTH: usize = 16;
const SIGNATURE_AT: usize = 48;

/// A 128-bit key, wiped when dropped.
pub type Key = Zeroizing<[u8; KEY_LENGTH]>;

/// The part of a GSS session key that SMB uses: its first 16 bytes, padded with zeros.
pub fn session_key(exported: &[u8]) -> Key {
    let mut key = Key::default();
    let length = exported.len().min(KEY_LENGTH);
    key[..length].copy_from_slice(&exported[..length]);
    key
}

/// The hash over the handshake of 3.1.1, which goes into the keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PreauthHash([u8; 64]);

impl Default for PreauthHash {
    fn default() -> Self {
        Self::new()
    }
}

impl PreauthHash {
    /// The hash of nothing yet.
    pub fn new() -> Self {
        Self([0; 64])
    }

    /// A hash that is known already.
    pub fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }

    /// The hash.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Adds a whole message, from its header to its end.
    pub fn add(&mut self, message: &[u8]) {
        let mut context = digest::Context::new(&digest::SHA512);
        context.update(&self.0);
        context.update(message);
        self.0.copy_from_slice(context.finish().as_ref());
    }
}

/// SP800-108 in counter mode with HMAC-SHA256, for up to 32 bytes. Label and context come with
/// their trailing NUL.
fn derive(key: &[u8], label: &[u8], context: &[u8], length: usize) -> Zeroizing<Vec<u8>> {
    let bits = u32::try_from(length * 8).unwrap_or(u32::MAX);
    let mut mac = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
    mac.update(&1_u32.to_be_bytes());
    mac.update(label);
    mac.update(&[0]);
    mac.update(context);
    mac.update(&bits.to_be_bytes());
    let derived = mac.sign();
    Zeroizing::new(derived.as_ref()[..length].to_vec())
}

/// The signing key of a session or channel; before 3.0 it is the session key itself. For 3.1.1 the
/// hash is that of the connection whose authentication gave the session key.
pub fn signing_key(dialect: Dialect, session_key: &Key, preauth: &PreauthHash) -> Key {
    let (label, context): (&[u8], &[u8]) = match dialect {
        Dialect::Smb202 | Dialect::Smb210 => return session_key.clone(),
        Dialect::Smb300 | Dialect::Smb302 => (b"SMB2AESCMAC\0", b"SmbSign\0"),
        Dialect::Smb311 => (b"SMBSigningKey\0", &preauth.0),
    };
    self::session_key(&derive(&session_key[..], label, context, KEY_LENGTH))
}

/// The keys of a session's encryption: to the server, and to the client. `exported` is the whole
/// GSS key, of which all counts with a 256-bit cipher.
pub fn cipher_keys(
    dialect: Dialect,
    cipher: Cipher,
    exported: &[u8],
    preauth: &PreauthHash,
) -> [Zeroizing<Vec<u8>>; 2] {
    let length = cipher.key_length();
    let short = session_key(exported);
    let key = if length > KEY_LENGTH {
        exported
    } else {
        &short[..]
    };
    if dialect == Dialect::Smb311 {
        [&b"SMBC2SCipherKey\0"[..], b"SMBS2CCipherKey\0"]
            .map(|label| derive(key, label, &preauth.0, length))
    } else {
        [&b"ServerIn \0"[..], b"ServerOut\0"]
            .map(|context| derive(key, b"SMB2AESCCM\0", context, length))
    }
}

/// Signs and verifies messages with one key. Cloning shares the key.
#[derive(Clone)]
pub struct Signer(Arc<Kind>);

#[expect(
    clippy::large_enum_variant,
    reason = "there is one of them per channel"
)]
enum Kind {
    Hmac(hmac::Key),
    Cmac(cmac::Key),
    Gmac(LessSafeKey),
}

impl Signer {
    /// A signer with this algorithm and key.
    pub fn new(algorithm: SigningAlgorithm, key: &Key) -> Result<Self, Error> {
        let key = key.as_slice();
        let kind = match algorithm {
            SigningAlgorithm::HmacSha256 => Kind::Hmac(hmac::Key::new(hmac::HMAC_SHA256, key)),
            SigningAlgorithm::AesCmac => {
                Kind::Cmac(cmac::Key::new(cmac::AES_128, key).map_err(unusable)?)
            }
            SigningAlgorithm::AesGmac => {
                let key = UnboundKey::new(&aead::AES_128_GCM, key).map_err(unusable)?;
                Kind::Gmac(LessSafeKey::new(key))
            }
        };
        Ok(Self(Arc::new(kind)))
    }

    /// Puts the signature into a whole message. Its header has the SIGNED flag already.
    pub fn sign(&self, message: &mut [u8]) -> Result<(), Error> {
        let signature = self.signature(message)?;
        message[SIGNATURE_AT..HEADER_LENGTH].copy_from_slice(&signature);
        Ok(())
    }

    /// Whether the signature in a whole message is right. Leaves the message as it was.
    pub fn verify(&self, message: &mut [u8]) -> Result<bool, Error> {
        let mut stated = [0; KEY_LENGTH];
        stated.copy_from_slice(&message[SIGNATURE_AT..HEADER_LENGTH]);
        let right = self.signature(message)?;
        message[SIGNATURE_AT..HEADER_LENGTH].copy_from_slice(&stated);
        Ok(constant_time::verify_slices_are_equal(&right, &stated).is_ok())
    }

    /// Whether a message's signature is right for it together with what stands before it. It should be for the
    /// message alone (3.1.4.1); some servers' are not.
    pub fn verify_behind(&self, before: &[u8], message: &[u8]) -> Result<bool, Error> {
        let right = self.signature_behind(before, message)?;
        let stated = &message[SIGNATURE_AT..HEADER_LENGTH];
        Ok(constant_time::verify_slices_are_equal(&right, stated).is_ok())
    }

    /// What [`Self::verify_behind`] wants.
    pub fn signature_behind(
        &self,
        before: &[u8],
        message: &[u8],
    ) -> Result<[u8; KEY_LENGTH], Error> {
        let mut both = [before, message].concat();
        let begin = before.len();
        both[begin + SIGNATURE_AT..begin + HEADER_LENGTH].fill(0);
        self.tag(&both, gmac_nonce(message))
    }

    /// The message's signature field is zeroed for it.
    fn signature(&self, message: &mut [u8]) -> Result<[u8; KEY_LENGTH], Error> {
        message[SIGNATURE_AT..HEADER_LENGTH].fill(0);
        self.tag(message, gmac_nonce(message))
    }

    fn tag(&self, message: &[u8], nonce: [u8; 12]) -> Result<[u8; KEY_LENGTH], Error> {
        let mut signature = [0; KEY_LENGTH];
        match &*self.0 {
            Kind::Hmac(key) => {
                signature.copy_from_slice(&hmac::sign(key, message).as_ref()[..KEY_LENGTH]);
            }
            Kind::Cmac(key) => {
                let tag = cmac::sign(key, message).map_err(unusable)?;
                signature.copy_from_slice(&tag.as_ref()[..KEY_LENGTH]);
            }
            Kind::Gmac(key) => {
                let nonce = Nonce::assume_unique_for_key(nonce);
                let tag = key
                    .seal_in_place_separate_tag(nonce, Aad::from(message), &mut [])
                    .map_err(unusable)?;
                signature.copy_from_slice(tag.as_ref());
            }
        }
        Ok(signature)
    }
}

/// The nonce is unique per key because a MessageId is used once per direction and channel, and
/// each channel has a key of its own (3.1.4.1).
fn gmac_nonce(message: &[u8]) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[..8].copy_from_slice(&message[24..32]);
    let from_server = u32::from(message[16]) & flags::RESPONSE;
    let cancel = u32::from(message[12..14] == Command::CANCEL.0.to_le_bytes());
    nonce[8..].copy_from_slice(&(from_server | cancel << 1).to_le_bytes());
    nonce
}

fn unusable(_: aws_lc_rs::error::Unspecified) -> Error {
    Error::Incompatible(say("incompatible.cryptography"))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text
            .chars()
            .filter(|letter| !letter.is_whitespace())
            .map(|letter| u8::try_from(letter.to_digit(16).expect("hexadecimal")).expect("a digit"))
            .collect();
        digits
            .chunks_exact(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect()
    }

    fn key(text: &str) -> Key {
        session_key(&hex(text))
    }

    #[test]
    fn cmac_agrees_with_rfc_4493() {
        let key = cmac::Key::new(cmac::AES_128, &hex("2b7e151628aed2a6abf7158809cf4f3c"))
            .expect("a key of 16 bytes");
        let message = hex(
            "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51
             30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
        );
        for (length, tag) in [
            (0, "bb1d6929e95937287fa37d129b756746"),
            (16, "070a16b46b4d4144f79bdd9dd04a287c"),
            (40, "dfa66747de9ae63030ca32611497c827"),
            (64, "51f0bebf7e3b9d92fc49741779363cfe"),
        ] {
            let signed = cmac::sign(&key, &message[..length]).expect("it signs");
            assert_eq!(signed.as_ref(), hex(tag), "{length} bytes");
        }
    }

    #[test]
    fn a_short_session_key_is_padded_and_a_long_one_cut() {
        assert_eq!(session_key(b"abc")[..4], *b"abc\0");
        assert_eq!(session_key(&[5; 32]).as_slice(), [5; 16]);
    }

    fn message(command: Command, from_server: bool) -> Vec<u8> {
        let mut header = crate::wire::Header::request(command, 5);
        header.flags = flags::SIGNED | if from_server { flags::RESPONSE } else { 0 };
        let mut message = header.to_bytes().to_vec();
        message.extend(0..100);
        message
    }

    #[test]
    fn every_algorithm_finds_every_flipped_bit() {
        for algorithm in [
            SigningAlgorithm::HmacSha256,
            SigningAlgorithm::AesCmac,
            SigningAlgorithm::AesGmac,
        ] {
            let signer = Signer::new(algorithm, &key("000102030405060708090a0b0c0d0e0f"))
                .expect("the key is good");
            let mut bytes = message(Command::READ, true);
            signer.sign(&mut bytes).expect("it signs");
            let signed = bytes.clone();
            assert!(signer.verify(&mut bytes).expect("it verifies"));
            assert_eq!(bytes, signed, "verification leaves the message as it was");
            for bit in 0..bytes.len() * 8 {
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert!(
                    !signer.verify(&mut bytes).expect("it verifies"),
                    "{algorithm:?} {bit}"
                );
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }

    #[test]
    fn nonces_differ_by_direction_and_cancel() {
        let nonces = [
            gmac_nonce(&message(Command::READ, false)),
            gmac_nonce(&message(Command::READ, true)),
            gmac_nonce(&message(Command::CANCEL, false)),
        ];
        assert_eq!(nonces[0], [5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(nonces[1], [5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(nonces[2], [5, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]);
    }
}
