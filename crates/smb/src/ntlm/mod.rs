//! NTLMv2 (MS-NLMP) as a client: the only version that is spoken. The answer names the service that is meant, as
//! Windows' own client does, so that it is of no use at another server, and servers that insist on that (`Server SPN
//! target name validation level`) take it.

mod anonymous;
mod keys;
mod message;

use std::io;
use std::time::SystemTime;

use locale::say;
use smb_proto::SessionKey;
use zeroize::Zeroizing;

use crate::auth::error::AuthError;
use crate::spnego;
pub(crate) use anonymous::AnonymousExchange;
use keys::{KEY_BYTES, Key, Signer};
use message::{Authenticate, BITS_128, Challenge, EXTENDED_SESSION_SECURITY, KEY_EXCHANGE};

/// NTLM (MS-SPNG 1.9).
const MECHANISM: &[u8] = &[0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0x37, 0x02, 0x02, 0x0A];
/// 100 ns that lie between 1601, where Windows begins to count, and 1970 (MS-DTYP 2.3.3).
const FILE_TIME_OF_1970: u64 = 116_444_736_000_000_000;

/// The exchange of one login.
pub(crate) struct NtlmExchange {
    user: String,
    domain: String,
    password: Zeroizing<String>,
    /// The service, as `cifs/server`.
    target: String,
    /// What the check sum of our answer is over.
    negotiate: Vec<u8>,
    state: State,
}

enum State {
    Begin,
    Challenged,
    /// The key of the session, and whether the list of mechanisms is signed with it.
    Answered(Key, Signed),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signed {
    Yes,
    No,
}

/// What is random in an answer, and the time.
struct Fresh {
    nonce: [u8; 8],
    key: Key,
    /// By our clock, in units of Windows.
    now: u64,
}

impl Fresh {
    fn new() -> Result<Self, AuthError> {
        let mut nonce = [0; 8];
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        let filled = getrandom::fill(&mut nonce).and_then(|()| getrandom::fill(&mut *key));
        filled.map_err(|error| AuthError::Random(io::Error::other(error)))?;
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        // A clock that is before 1970 says nothing.
        let now = since_1970.map_or(0, |time| time.as_nanos() / 100);
        Ok(Self {
            nonce,
            key,
            now: FILE_TIME_OF_1970.saturating_add(u64::try_from(now).unwrap_or(u64::MAX)),
        })
    }
}

impl NtlmExchange {
    /// Begins it for a user with a password; without a domain the name may be `DOMAIN\user` or `user@domain`.
    pub(crate) fn new(
        user: &str,
        domain: &str,
        password: &Zeroizing<String>,
        server: &str,
    ) -> Result<Self, AuthError> {
        let parts = match user.split_once('\\') {
            None => Some((domain, user)),
            Some((_, user)) if user.contains('\\') || !domain.is_empty() => None,
            split => split,
        };
        let (domain, user) =
            parts
                .filter(|(_, user)| !user.is_empty())
                .ok_or_else(|| AuthError::UserName {
                    user: user.to_owned(),
                })?;
        Ok(Self {
            user: user.to_owned(),
            domain: domain.to_owned(),
            password: password.clone(),
            target: format!("cifs/{}", server.trim_end_matches('.')),
            negotiate: message::negotiate(),
            state: State::Begin,
        })
    }

    pub(crate) fn answer(&mut self, server_token: &[u8]) -> Result<Vec<u8>, AuthError> {
        match &self.state {
            State::Begin => {
                self.state = State::Challenged;
                Ok(spnego::begin(MECHANISM, &self.negotiate))
            }
            State::Challenged => {
                let challenge = read(server_token)?.token.ok_or(AuthError::OutOfOrder)?;
                let (message, key, signed) = self.prove(challenge, &Fresh::new()?)?;
                let proof = (signed == Signed::Yes).then(|| proof(&key, Signer::Client));
                self.state = State::Answered(key, signed);
                Ok(spnego::go_on(&message, proof.as_ref().map(|it| &it[..])))
            }
            // Servers end with an empty token, or with one that says nothing new.
            State::Answered(..) if server_token.is_empty() => Ok(Vec::new()),
            State::Answered(key, signed) => {
                let found = read(server_token)?.proof;
                let expected = proof(key, Signer::Server);
                match found {
                    Some(found) if *signed == Signed::Yes && found != expected => {
                        Err(AuthError::TokenMalformed {
                            what: say("error-auth.token-list-changed"),
                        })
                    }
                    _ => Ok(Vec::new()),
                }
            }
        }
    }

    /// The key that both ends have, once our answer is made.
    pub(crate) fn session_key(&self) -> Option<SessionKey> {
        match &self.state {
            State::Answered(key, _) => Some(SessionKey::new(key.to_vec())),
            State::Begin | State::Challenged => None,
        }
    }

    /// Our answer to a challenge (MS-NLMP 3.1.5.1.2, 3.3.2), the key of the session, and whether that can sign.
    fn prove(&self, challenge: &[u8], fresh: &Fresh) -> Result<(Vec<u8>, Key, Signed), AuthError> {
        let malformed = |what| AuthError::TokenMalformed { what };
        let read = Challenge::read(challenge).map_err(malformed)?;
        let flags = message::agreed(read.flags);
        let user_key = keys::ntowf_v2(&self.user, &self.domain, &self.password);
        let pairs = read
            .answered(&keys::utf16(&self.target))
            .map_err(malformed)?;
        let time = read.time();
        let stamp = time.unwrap_or(fresh.now).to_le_bytes();
        let blob = [
            &[1, 1, 0, 0, 0, 0, 0, 0][..],
            &stamp,
            &fresh.nonce,
            &[0; 4],
            &pairs,
            &[0; 4],
        ]
        .concat();
        let nt_proof = keys::hmac_md5(&user_key, &[&read.nonce, &blob]);
        let exchange_key = Zeroizing::new(keys::hmac_md5(&user_key, &[&nt_proof]));
        // Who says what time it is wants no answer of LAN Manager's.
        let lm = match time {
            Some(_) => [0; 24].to_vec(),
            None => {
                let lm_proof = keys::hmac_md5(&user_key, &[&read.nonce, &fresh.nonce]);
                [&lm_proof[..], &fresh.nonce].concat()
            }
        };
        let mut sent_key = Vec::new();
        let mut key = exchange_key.clone();
        if flags & KEY_EXCHANGE != 0 {
            key = fresh.key.clone();
            sent_key = key.to_vec();
            keys::rc4(&exchange_key, &mut sent_key);
        }
        let message = Authenticate {
            lm: &lm,
            nt: &[&nt_proof[..], &blob].concat(),
            domain: &keys::utf16(&self.domain),
            user: &keys::utf16(&self.user),
            key: &sent_key,
            flags,
        };
        let mut message = message.write().map_err(malformed)?;
        let sum = keys::hmac_md5(&key, &[&self.negotiate, challenge, &message]);
        message::put_sum(&mut message, &sum);
        // Without these flags the signature has another form. It is left out: a list of one mechanism holds no choice
        // that an attacker could change.
        let signing = EXTENDED_SESSION_SECURITY | BITS_128 | KEY_EXCHANGE;
        let signed = match flags & signing == signing {
            true => Signed::Yes,
            false => Signed::No,
        };
        Ok((message, key, signed))
    }
}

fn read(token: &[u8]) -> Result<spnego::Answer<'_>, AuthError> {
    spnego::answer(token, MECHANISM).map_err(|what| AuthError::TokenMalformed { what })
}

/// `mechListMIC` (RFC 4178, section 5; MS-SPNG 3.1.5.1).
fn proof(key: &[u8; KEY_BYTES], signer: Signer) -> [u8; 16] {
    keys::first_signature(key, signer, &spnego::mechanisms(MECHANISM))
}

/// Our answer to a challenge, for the fuzz target; see [`crate::fuzzing`].
pub(crate) fn answered(challenge: &[u8], server: &str) -> Result<Vec<u8>, AuthError> {
    let exchange = NtlmExchange::new("ann", "LAB", &Zeroizing::new("secret".to_owned()), server)?;
    let fresh = Fresh {
        nonce: [0xAA; 8],
        key: Zeroizing::new([0x55; KEY_BYTES]),
        now: FILE_TIME_OF_1970,
    };
    Ok(exchange.prove(challenge, &fresh)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use message::tests::{challenge, challenge_of_the_specification, pair};

    fn exchange(user: &str, domain: &str, password: &str) -> NtlmExchange {
        let password = Zeroizing::new(password.to_owned());
        NtlmExchange::new(user, domain, &password, "Server.").expect("a plain name")
    }

    /// MS-NLMP 4.2.1.
    fn fresh() -> Fresh {
        Fresh {
            nonce: [0xAA; 8],
            key: Zeroizing::new([0x55; KEY_BYTES]),
            now: 0,
        }
    }

    #[test]
    fn hashes_are_those_of_the_specification() {
        // MS-NLMP 4.2.4.1.3: the pairs of the server without ours, which the specification leaves out.
        let user_key = keys::ntowf_v2("User", "Domain", "Password");
        let pairs = [
            pair(2, &keys::utf16("Domain")),
            pair(1, &keys::utf16("Server")),
            pair(0, &[]),
        ];
        let blob = [
            &[1, 1, 0, 0, 0, 0, 0, 0][..],
            &[0; 8],
            &[0xAA; 8],
            &[0; 4],
            &pairs.concat(),
            &[0; 4],
        ];
        let nonce = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];
        let nt_proof = keys::hmac_md5(&user_key, &[&nonce, &blob.concat()]);
        // 4.2.4.2.2.
        assert_eq!(
            nt_proof,
            [
                0x68, 0xcd, 0x0a, 0xb8, 0x51, 0xe5, 0x1c, 0x96, 0xaa, 0xbc, 0x92, 0x7b, 0xeb, 0xef,
                0x6a, 0x1c
            ]
        );
        // 4.2.4.1.2.
        let exchange_key = keys::hmac_md5(&user_key, &[&nt_proof]);
        assert_eq!(
            exchange_key,
            [
                0x8d, 0xe4, 0x0c, 0xca, 0xdb, 0xc1, 0x4a, 0x82, 0xf1, 0x5c, 0xb0, 0xad, 0x0d, 0xe9,
                0x5c, 0xa3
            ]
        );
        // 4.2.4.2.3.
        let mut sent = [0x55; 16];
        keys::rc4(&exchange_key, &mut sent);
        assert_eq!(
            sent,
            [
                0xc5, 0xda, 0xd2, 0x54, 0x4f, 0xc9, 0x79, 0x90, 0x94, 0xce, 0x1c, 0xe9, 0x0b, 0xc9,
                0xd0, 0x3e
            ]
        );
    }

    #[test]
    fn an_answer_proves_the_password_and_names_the_target() {
        let exchange = exchange("User", "Domain", "Password");
        let challenge = challenge_of_the_specification();
        let (message, key, signed) = exchange.prove(&challenge, &fresh()).expect("well formed");
        assert_eq!((*key, signed), ([0x55; 16], Signed::Yes));
        let part = |at: usize| {
            let number = |at: usize| usize::from(message[at]) | usize::from(message[at + 1]) << 8;
            let from = number(at + 4);
            &message[from..from + number(at)]
        };
        // MS-NLMP 4.2.4.2.1: LMv2, because the server says no time.
        assert_eq!(
            part(12)[..16],
            [
                0x86, 0xc3, 0x50, 0x97, 0xac, 0x9c, 0xec, 0x10, 0x25, 0x54, 0x76, 0x4a, 0x57, 0xcc,
                0xcc, 0x19
            ]
        );
        let target = pair(9, &keys::utf16("cifs/Server"));
        let tail = [&target[..], &[0; 8]].concat();
        assert!(part(20).ends_with(&tail), "and the end of pairs and blob");
        assert_eq!(part(28), keys::utf16("Domain"));
        assert_eq!(part(36), keys::utf16("User"));
        assert_eq!(part(44), b"", "nothing is said of this machine");
        let sum: [u8; 16] = message[72..88].try_into().expect("16 bytes");
        let mut without = message.clone();
        without[72..88].fill(0);
        let all = [&exchange.negotiate[..], &challenge, &without];
        assert_eq!(sum, keys::hmac_md5(&[0x55; 16], &all));
    }

    #[test]
    fn a_server_that_exchanges_no_key_and_says_the_time_gets_what_it_can_use() {
        let exchange = exchange("User", "Domain", "Password");
        let pairs = [pair(7, &[1; 8]), pair(0, &[])].concat();
        let challenge = challenge(0xE28A_8233 & !KEY_EXCHANGE, &pairs);
        let (message, key, signed) = exchange.prove(&challenge, &fresh()).expect("well formed");
        assert_eq!(signed, Signed::No);
        assert_ne!(*key, [0x55; 16], "a key of the password");
        assert_eq!(message[12..16], [24, 0, 24, 0]);
        assert_eq!(message[88..112], [0; 24], "no answer of LAN Manager's");
        assert_eq!(message[52..54], [0, 0], "no key");
    }

    #[test]
    fn tokens_come_in_order_and_a_changed_list_is_found() {
        let mut exchange = exchange("User", "Domain", "Password");
        let first = exchange.answer(b"hint").expect("it is ignored");
        assert_eq!(first, spnego::begin(MECHANISM, &message::negotiate()));
        assert!(exchange.session_key().is_none());
        let challenge = spnego::go_on(&challenge_of_the_specification(), None);
        let second = exchange.answer(&challenge).expect("well formed");
        let key = exchange
            .session_key()
            .expect("it is agreed")
            .bytes()
            .to_vec();
        let key: [u8; 16] = key.try_into().expect("16 bytes");
        let sent = read(&second).expect("SPNEGO").proof.map(<[u8]>::to_vec);
        assert_eq!(sent, Some(proof(&key, Signer::Client).to_vec()));
        assert!(exchange.answer(&[]).expect("servers do so").is_empty());
        let theirs = proof(&key, Signer::Server);
        let last = spnego::go_on(&[], Some(&theirs));
        assert!(exchange.answer(&last).expect("right").is_empty());
        let changed = spnego::go_on(&[], Some(&[0; 16]));
        let refused = exchange.answer(&changed).expect_err("changed");
        assert!(
            refused.to_string().contains("list of mechanisms"),
            "{refused}"
        );
    }
}
