//! Hashes and keys of NTLMv2 (MS-NLMP 3.3.2, 3.4). MD4, MD5 and RC4 are what the protocol is made of; SMB derives keys
//! of its own from what comes out.

use hmac::{Hmac, KeyInit, Mac};
use md4::Md4;
use md5::{Digest, Md5};
use rc4::{Rc4, StreamCipher};
use zeroize::Zeroizing;

/// All keys and hashes of this protocol.
pub(super) const KEY_BYTES: usize = 16;
pub(super) type Key = Zeroizing<[u8; KEY_BYTES]>;

/// What is hashed with a key for each direction, the zero byte at its end included (MS-NLMP 3.4.5.2, 3.4.5.3).
const CLIENT_SIGNING: &[u8] = b"session key to client-to-server signing key magic constant\0";
const CLIENT_SEALING: &[u8] = b"session key to client-to-server sealing key magic constant\0";
const SERVER_SIGNING: &[u8] = b"session key to server-to-client signing key magic constant\0";
const SERVER_SEALING: &[u8] = b"session key to server-to-client sealing key magic constant\0";

/// HMAC-MD5 of these parts.
pub(super) fn hmac_md5(key: &[u8; KEY_BYTES], parts: &[&[u8]]) -> [u8; KEY_BYTES] {
    const BLOCK_BYTES: usize = 64;
    // A key that is shorter than a block is filled with zeros (RFC 2104, section 2).
    let mut block = Zeroizing::new([0; BLOCK_BYTES]);
    block[..KEY_BYTES].copy_from_slice(key);
    let mut mac = Hmac::<Md5>::new((&*block).into());
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// Encrypts or decrypts with the key stream of RC4 from its beginning.
pub(super) fn rc4(key: &[u8; KEY_BYTES], data: &mut [u8]) {
    cipher(key).apply_keystream(data);
}

fn cipher(key: &[u8; KEY_BYTES]) -> Rc4 {
    // RC4 repeats its key, so a key that is repeated is the same key.
    let mut repeated = Zeroizing::new([0; 2 * KEY_BYTES]);
    repeated[..KEY_BYTES].copy_from_slice(key);
    repeated[KEY_BYTES..].copy_from_slice(key);
    Rc4::new((&*repeated).into())
}

/// `NTOWFv2`: what stands for a user with a password.
pub(super) fn ntowf_v2(user: &str, domain: &str, password: &str) -> Key {
    let password = Zeroizing::new(utf16(password));
    let of_password: Key = Zeroizing::new(Md4::digest(password.as_slice()).into());
    let user: String = user.chars().map(capital).collect();
    Zeroizing::new(hmac_md5(&of_password, &[&utf16(&user), &utf16(domain)]))
}

/// A letter's capital, where that is one letter in one unit of UTF-16. Windows and Samba change no others.
fn capital(letter: char) -> char {
    let mut capitals = letter.to_uppercase();
    match (capitals.next(), capitals.next()) {
        (Some(capital), None) if letter.len_utf16() == 1 && capital.len_utf16() == 1 => capital,
        _ => letter,
    }
}

/// UTF-16, least byte first.
pub(super) fn utf16(text: &str) -> Vec<u8> {
    // Enough at once: what a password was in is not left behind when more is needed.
    let mut bytes = Vec::with_capacity(2 * text.len());
    bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    bytes
}

/// Whose signature it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Signer {
    Client,
    Server,
}

/// The signature of the first message that one end signs in a session with its own key and 128-bit keys (MS-NLMP
/// 3.4.4.2): version, check sum, sequence number.
pub(super) fn first_signature(
    session: &[u8; KEY_BYTES],
    signer: Signer,
    message: &[u8],
) -> [u8; 16] {
    let (signing, sealing) = match signer {
        Signer::Client => (CLIENT_SIGNING, CLIENT_SEALING),
        Signer::Server => (SERVER_SIGNING, SERVER_SEALING),
    };
    let signing = derived(session, signing);
    let mut stream = cipher(&derived(session, sealing));
    signature(&signing, &mut stream, message)
}

fn signature(signing: &[u8; KEY_BYTES], stream: &mut Rc4, message: &[u8]) -> [u8; 16] {
    const VERSION: u32 = 1;
    const SEQUENCE: u32 = 0;
    let sum = hmac_md5(signing, &[&SEQUENCE.to_le_bytes(), message]);
    let mut signature = [0; 16];
    signature[..4].copy_from_slice(&VERSION.to_le_bytes());
    signature[4..12].copy_from_slice(&sum[..8]);
    stream.apply_keystream(&mut signature[4..12]);
    signature[12..].copy_from_slice(&SEQUENCE.to_le_bytes());
    signature
}

/// `SIGNKEY` and `SEALKEY`.
fn derived(session: &[u8; KEY_BYTES], purpose: &[u8]) -> Key {
    let hash = Md5::new().chain_update(session).chain_update(purpose);
    Zeroizing::new(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MS-NLMP 4.2.1: the random session key.
    const SESSION: [u8; 16] = [0x55; 16];

    #[test]
    fn the_users_hash_is_that_of_the_specification() {
        // MS-NLMP 4.2.4.1.1.
        let expected = [
            0x0c, 0x86, 0x8a, 0x40, 0x3b, 0xfd, 0x7a, 0x93, 0xa3, 0x00, 0x1e, 0xf2, 0x2e, 0xf0,
            0x2e, 0x3f,
        ];
        assert_eq!(*ntowf_v2("User", "Domain", "Password"), expected);
        assert_eq!(*ntowf_v2("uSER", "Domain", "Password"), expected);
        assert_ne!(*ntowf_v2("User", "DOMAIN", "Password"), expected);
    }

    #[test]
    fn keys_and_a_signature_are_those_of_the_specification() {
        // MS-NLMP 4.2.4.4: the plain text is encrypted first, with the same key stream.
        let signing = derived(&SESSION, CLIENT_SIGNING);
        assert_eq!(
            *signing,
            [
                0x47, 0x88, 0xdc, 0x86, 0x1b, 0x47, 0x82, 0xf3, 0x5d, 0x43, 0xfd, 0x98, 0xfe, 0x1a,
                0x2d, 0x39
            ]
        );
        let sealing = derived(&SESSION, CLIENT_SEALING);
        assert_eq!(
            *sealing,
            [
                0x59, 0xf6, 0x00, 0x97, 0x3c, 0xc4, 0x96, 0x0a, 0x25, 0x48, 0x0a, 0x7c, 0x19, 0x6e,
                0x4c, 0x58
            ]
        );
        let mut stream = cipher(&sealing);
        let text = utf16("Plaintext");
        let mut sealed = text.clone();
        stream.apply_keystream(&mut sealed);
        assert_eq!(
            sealed,
            [
                0x54, 0xe5, 0x01, 0x65, 0xbf, 0x19, 0x36, 0xdc, 0x99, 0x60, 0x20, 0xc1, 0x81, 0x1b,
                0x0f, 0x06, 0xfb, 0x5f
            ]
        );
        assert_eq!(
            signature(&signing, &mut stream, &text),
            [
                1, 0, 0, 0, 0x7f, 0xb3, 0x8e, 0xc5, 0xc5, 0x5d, 0x49, 0x76, 0, 0, 0, 0
            ]
        );
    }

    #[test]
    fn rc4_of_16_bytes_is_that_of_rfc_6229() {
        let mut key = [0; 16];
        (1..=16)
            .zip(&mut key)
            .for_each(|(number, byte)| *byte = number);
        let mut stream = [0; 16];
        rc4(&key, &mut stream);
        assert_eq!(
            stream,
            [
                0x9a, 0xc7, 0xcc, 0x9a, 0x60, 0x9d, 0x1e, 0xf7, 0xb2, 0x93, 0x28, 0x99, 0xcd, 0xe4,
                0x1b, 0x97
            ]
        );
    }

    #[test]
    fn letters_without_one_capital_stay() {
        let of = |name: &str| name.chars().map(capital).collect::<String>();
        assert_eq!(of("émile"), "ÉMILE");
        assert_eq!(of("großmann"), "GROßMANN");
        assert_eq!(of("太郎ann"), "太郎ANN");
        assert_eq!(of("\u{10428}"), "\u{10428}", "in two units");
    }
}
