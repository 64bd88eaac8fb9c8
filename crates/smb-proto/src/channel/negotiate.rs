//! NEGOTIATE: what is offered on a fresh connection, and what the server made of it.

use locale::say;

use super::handshake_state::{Agreed, Handshake};
use super::message_protection::Keys;
use super::outgoing_requests::Outgoing;
use super::pending_requests::Job;
use super::{Channel, Phase};
use crate::error::{Error, NtStatus, Operation, Result};
use crate::monotonic_time::Time;
use crate::session::{Cipher, Dialect, Login, SessionSettings, SigningAlgorithm, SigningPolicy};
use crate::wire::{
    Command, HEADER_LENGTH, Header, Message as _, NegotiateContext, NegotiateRequest,
    NegotiateResponse, POSIX_EXTENSIONS_AVAILABLE, POSIX_TAG, capability, dialect, security_mode,
    utf16,
};

/// No server's READs, WRITEs and other payloads may be limited to less (3.2.5.2).
const SIZE_MIN: u32 = 1 << 16;

pub(super) fn dialect_code(dialect: Dialect) -> u16 {
    match dialect {
        Dialect::Smb202 => dialect::SMB_2_0_2,
        Dialect::Smb210 => dialect::SMB_2_1,
        Dialect::Smb300 => dialect::SMB_3_0,
        Dialect::Smb302 => dialect::SMB_3_0_2,
        Dialect::Smb311 => dialect::SMB_3_1_1,
    }
}

fn algorithm_code(algorithm: SigningAlgorithm) -> u16 {
    match algorithm {
        SigningAlgorithm::HmacSha256 => 0,
        SigningAlgorithm::AesCmac => 1,
        SigningAlgorithm::AesGmac => 2,
    }
}

fn cipher_code(cipher: Cipher) -> u16 {
    match cipher {
        Cipher::Aes128Ccm => 1,
        Cipher::Aes128Gcm => 2,
        Cipher::Aes256Ccm => 3,
        Cipher::Aes256Gcm => 4,
    }
}

/// What to say that we can, to a server that is offered these dialects; 2.x has no words for it
/// (2.2.3).
pub(super) fn own_capabilities(settings: &SessionSettings, dialects: &[Dialect]) -> u32 {
    let modern = dialects.iter().any(|dialect| *dialect >= Dialect::Smb300);
    let encryption = if settings.ciphers.is_empty() {
        0
    } else {
        capability::ENCRYPTION
    };
    if modern {
        capability::LEASING | capability::LARGE_MTU | capability::MULTI_CHANNEL | encryption
    } else {
        0
    }
}

pub(super) fn own_security_mode(settings: &SessionSettings) -> u16 {
    match settings.signing {
        SigningPolicy::IfRequired | SigningPolicy::DataUnsigned => security_mode::SIGNING_ENABLED,
        SigningPolicy::Required => security_mode::SIGNING_ENABLED | security_mode::SIGNING_REQUIRED,
    }
}

/// Offers the POSIX extensions, and takes the offer.
const POSIX: NegotiateContext<'static> = NegotiateContext::Other {
    kind: POSIX_EXTENSIONS_AVAILABLE,
    data: &POSIX_TAG,
};

/// Checks the reply to NEGOTIATE against what was offered.
fn agree(
    response: &NegotiateResponse<'_>,
    dialects: &[Dialect],
    algorithms: &[SigningAlgorithm],
    ciphers: &[Cipher],
) -> Result<Agreed> {
    let offered = dialects
        .iter()
        .find(|offer| dialect_code(**offer) == response.dialect);
    let dialect = *offered.ok_or_else(|| {
        let dialect = format!("{:#06x}", response.dialect);
        Error::Incompatible(say("incompatible.dialect-not-offered").with("dialect", dialect))
    })?;
    let sizes = [
        response.read_bytes_max,
        response.write_bytes_max,
        response.transact_bytes_max,
    ];
    let least = sizes.into_iter().min().unwrap_or_default();
    if least < SIZE_MIN {
        let text = say(Error::SMALL_REQUESTS).count("bytes", least);
        return Err(Error::Incompatible(text));
    }
    let (algorithm, cipher) = match dialect {
        Dialect::Smb202 | Dialect::Smb210 => (SigningAlgorithm::HmacSha256, None),
        Dialect::Smb300 | Dialect::Smb302 => {
            let encrypts = response.capabilities & capability::ENCRYPTION != 0
                && ciphers.contains(&Cipher::Aes128Ccm);
            let cipher = encrypts.then_some(Cipher::Aes128Ccm);
            (SigningAlgorithm::AesCmac, cipher)
        }
        Dialect::Smb311 => agree_contexts(&response.contexts, algorithms, ciphers)?,
    };
    Ok(Agreed {
        dialect,
        algorithm,
        cipher,
        // there are no contexts in other dialects
        posix: response.contexts.contains(&POSIX),
        server_guid: response.server_guid,
        security_mode: response.security_mode,
        capabilities: response.capabilities,
        read_bytes_max: response.read_bytes_max,
        write_bytes_max: response.write_bytes_max,
        transact_bytes_max: response.transact_bytes_max,
        token: response.token.to_vec(),
    })
}

/// The contexts of 3.1.1: the hash must be SHA-512; gives the signing algorithm and the cipher.
fn agree_contexts(
    contexts: &[NegotiateContext<'_>],
    offered: &[SigningAlgorithm],
    ciphers: &[Cipher],
) -> Result<(SigningAlgorithm, Option<Cipher>)> {
    let (mut hashes, mut algorithm, mut cipher) = (0, None, None);
    for context in contexts {
        match context {
            NegotiateContext::Preauth { algorithms, .. } => {
                hashes += 1;
                if *algorithms != [NegotiateContext::SHA_512] {
                    return Err(Error::Incompatible(say("incompatible.hash")));
                }
            }
            NegotiateContext::Signing(codes) => {
                let chosen = offered
                    .iter()
                    .find(|offer| codes[..] == [algorithm_code(**offer)]);
                if algorithm.is_some() || chosen.is_none() {
                    return Err(Error::Misbehaving(say("misbehaving.signing-algorithm")));
                }
                algorithm = chosen.copied();
            }
            NegotiateContext::Encryption(codes) => {
                let chosen = ciphers
                    .iter()
                    .find(|offer| codes[..] == [cipher_code(**offer)]);
                // zero: none of those offered
                if cipher.is_some() || (chosen.is_none() && codes[..] != [0]) {
                    return Err(Error::Misbehaving(say("misbehaving.cipher")));
                }
                cipher = Some(chosen.copied());
            }
            _ => {}
        }
    }
    if hashes != 1 {
        return Err(Error::Misbehaving(say("misbehaving.hash-algorithms")));
    }
    let algorithm = algorithm.unwrap_or(SigningAlgorithm::AesCmac);
    Ok((algorithm, cipher.flatten()))
}

/// A further channel must find the server as the first one did (3.2.5.2).
fn compare(agreed: &Agreed, login: &Login) -> Result<()> {
    let negotiated = &login.negotiated;
    let differs = if agreed.server_guid != negotiated.server_guid {
        "incompatible.another-server"
    } else if agreed.algorithm != negotiated.signing_algorithm {
        "incompatible.signs-otherwise"
    } else if agreed.cipher != negotiated.cipher {
        "incompatible.encrypts-otherwise"
    } else if agreed.posix != negotiated.posix {
        "incompatible.other-posix"
    } else if agreed.security_mode != login.security_mode {
        "incompatible.other-security-mode"
    } else if agreed.capabilities != login.capabilities {
        "incompatible.other-capabilities"
    } else {
        return Ok(());
    };
    Err(Error::Incompatible(say(differs)))
}

impl Channel {
    pub(super) fn negotiate(&mut self, handshake: &mut Handshake, now: Time) -> Result<()> {
        let settings = self.session.settings();
        let dialects = handshake.dialects(settings);
        self.offered.clone_from(&dialects);
        let algorithms = handshake.algorithms(settings);
        let name = utf16::encode(&settings.server_name);
        let salt = handshake.salt;
        let mut contexts = Vec::new();
        if dialects.contains(&Dialect::Smb311) {
            let codes = algorithms
                .iter()
                .map(|algorithm| algorithm_code(*algorithm))
                .collect();
            contexts = vec![
                NegotiateContext::Preauth {
                    algorithms: vec![NegotiateContext::SHA_512],
                    salt: &salt,
                },
                NegotiateContext::Signing(codes),
                NegotiateContext::NetName(&name),
            ];
            let ciphers = handshake.ciphers(settings);
            if !ciphers.is_empty() {
                let codes = ciphers.into_iter().map(cipher_code).collect();
                contexts.push(NegotiateContext::Encryption(codes));
            }
            if settings.posix {
                contexts.push(POSIX);
            }
        }
        let mut body = Vec::new();
        NegotiateRequest {
            security_mode: own_security_mode(settings),
            capabilities: own_capabilities(settings, &dialects),
            client_guid: settings.client_guid,
            dialects: dialects
                .iter()
                .map(|dialect| dialect_code(*dialect))
                .collect(),
            contexts,
        }
        .encode(&mut body);
        let sent = self.send(
            Outgoing::new(Command::NEGOTIATE),
            &body,
            Job::Negotiate,
            now,
        )?;
        handshake.preauth.add(sent);
        Ok(())
    }

    pub(super) fn negotiated(&mut self, header: &Header, message: &[u8], now: Time) -> Result<()> {
        let Phase::Handshake(mut handshake) = std::mem::replace(&mut self.phase, Phase::Closed)
        else {
            return Err(Error::Misbehaving(say(
                "misbehaving.negotiates-out-of-turn",
            )));
        };
        match header.status {
            NtStatus::SUCCESS => {}
            NtStatus::NOT_SUPPORTED => {
                return Err(Error::Incompatible(say("incompatible.no-common-dialect")));
            }
            status => return Err(Error::refused(Operation::Negotiate, status)),
        }
        let response = NegotiateResponse::decode(&message[HEADER_LENGTH..])?;
        let settings = self.session.settings();
        let dialects = handshake.dialects(settings);
        let algorithms = handshake.algorithms(settings);
        let ciphers = handshake.ciphers(settings);
        let mut agreed = agree(&response, &dialects, &algorithms, &ciphers)?;
        agreed.posix &= settings.posix;
        if let Some(login) = &handshake.binding {
            compare(&agreed, login)?;
            self.session_id = login.session_id;
            self.keys = Keys::of_binding(login);
        }
        if let Some(before) = &handshake.before {
            let before = &before.negotiated;
            // what was open is not on another server, and nothing may be written to that one instead
            if before.server_guid != agreed.server_guid {
                return Err(Error::AnotherServer);
            }
            // what is opened again would be something else without them
            if before.posix && !agreed.posix {
                return Err(Error::Incompatible(say("incompatible.posix-gone")));
            }
        }
        self.agreed = Some(agreed);
        handshake.preauth.add(message);
        let token = handshake.step(response.token)?;
        self.set_up(&mut handshake, &token, now)?;
        self.phase = Phase::Handshake(handshake);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is agreed on with a server that answers with one hash and these contexts, where AES-GMAC, AES-CMAC and
    /// AES-128-GCM were offered; the id of what it did wrong otherwise.
    fn agreed(
        contexts: &[NegotiateContext<'_>],
    ) -> Result<(SigningAlgorithm, Option<Cipher>), &'static str> {
        let algorithms = vec![NegotiateContext::SHA_512];
        let salt = &[];
        let hash = NegotiateContext::Preauth { algorithms, salt };
        let contexts = [&[hash], contexts].concat();
        let signing = [SigningAlgorithm::AesGmac, SigningAlgorithm::AesCmac];
        agree_contexts(&contexts, &signing, &[Cipher::Aes128Gcm]).map_err(|error| match error {
            Error::Misbehaving(detail) => detail.id,
            error => panic!("{error}"),
        })
    }

    #[test]
    fn a_server_chooses_one_of_what_was_offered_once_or_nothing() {
        use NegotiateContext::{Encryption, Signing};
        let [gcm, ccm] = [Cipher::Aes128Gcm, Cipher::Aes128Ccm].map(cipher_code);
        let [gmac, sha] =
            [SigningAlgorithm::AesGmac, SigningAlgorithm::HmacSha256].map(algorithm_code);
        let plain = (SigningAlgorithm::AesCmac, None);
        assert_eq!(agreed(&[]), Ok(plain));
        assert_eq!(agreed(&[Encryption(vec![0])]), Ok(plain));
        let both = agreed(&[Encryption(vec![gcm]), Signing(vec![gmac])]);
        let best = (SigningAlgorithm::AesGmac, Some(Cipher::Aes128Gcm));
        assert_eq!(both, Ok(best));
        for codes in [vec![ccm], vec![gcm, ccm], vec![]] {
            assert_eq!(agreed(&[Encryption(codes)]), Err("misbehaving.cipher"));
        }
        for second in [gcm, 0] {
            let twice = [Encryption(vec![gcm]), Encryption(vec![second])];
            assert_eq!(agreed(&twice), Err("misbehaving.cipher"));
        }
        let refused = Err("misbehaving.signing-algorithm");
        assert_eq!(agreed(&[Signing(vec![sha])]), refused);
        assert_eq!(agreed(&[Signing(vec![gmac]), Signing(vec![gmac])]), refused);
    }
}
