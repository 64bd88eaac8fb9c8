//! Names of dialects, ciphers and signing algorithms.

use smb_proto::session::{Cipher, Dialect, SigningAlgorithm};

/// A dialect as people write it: `3.1.1`.
#[must_use]
pub fn dialect_name(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Smb202 => "2.0.2",
        Dialect::Smb210 => "2.1",
        Dialect::Smb300 => "3.0",
        Dialect::Smb302 => "3.0.2",
        Dialect::Smb311 => "3.1.1",
        _ => "unknown",
    }
}

/// A cipher as people write it: `AES-128-GCM`.
#[must_use]
pub fn cipher_name(cipher: Cipher) -> &'static str {
    match cipher {
        Cipher::Aes128Gcm => "AES-128-GCM",
        Cipher::Aes256Gcm => "AES-256-GCM",
        Cipher::Aes128Ccm => "AES-128-CCM",
        Cipher::Aes256Ccm => "AES-256-CCM",
        _ => "unknown",
    }
}

/// A signing algorithm as people write it: `AES-128-GMAC`.
#[must_use]
pub fn signing_algorithm_name(algorithm: SigningAlgorithm) -> &'static str {
    match algorithm {
        SigningAlgorithm::HmacSha256 => "HMAC-SHA256",
        SigningAlgorithm::AesCmac => "AES-128-CMAC",
        SigningAlgorithm::AesGmac => "AES-128-GMAC",
        _ => "unknown",
    }
}
