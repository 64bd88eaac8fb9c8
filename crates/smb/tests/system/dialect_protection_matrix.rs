//! Everything that can be agreed with a real Samba: dialects, signing, ciphers and channels, as the
//! client asks for it and as the server insists on it.

use smb::{
    Cipher, Dialect, EncryptionPolicy, Error, Negotiated, Policy, Session, SigningAlgorithm,
    SigningPolicy,
};

use crate::samba::{connect, login, read_until_all_took_part, round_trip};
use crate::samba_lan::{Lan, SHARE};

/// Several requests for each channel, and an odd end.
const BYTES: u64 = (1 << 20) + 12_345;
const BLOCK_BYTES: u32 = 64 << 10;

/// What keeps others from reading or changing the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protection {
    Nothing,
    Signed(SigningAlgorithm),
    /// Only what is not data is signed.
    DataUnsigned(SigningAlgorithm),
    Encrypted(Cipher),
}

use Protection::{DataUnsigned, Encrypted, Nothing, Signed};

impl Protection {
    /// All that a dialect knows, the server's own choice first.
    fn of(dialect: Dialect) -> Vec<Self> {
        use SigningAlgorithm::{AesCmac, AesGmac, HmacSha256};
        let (algorithms, ciphers) = match dialect {
            Dialect::Smb202 | Dialect::Smb210 => (&[HmacSha256][..], &[][..]),
            Dialect::Smb300 | Dialect::Smb302 => (&[AesCmac][..], &[Cipher::Aes128Ccm][..]),
            _ => (&[AesGmac, AesCmac, HmacSha256][..], &Cipher::ALL[..]),
        };
        let mut all = vec![Nothing, DataUnsigned(algorithms[0])];
        all.extend(algorithms.iter().copied().map(Signed));
        all.extend(ciphers.iter().copied().map(Encrypted));
        all
    }

    fn policy(self, dialect: Dialect) -> Policy {
        let mut policy = Policy {
            dialects: vec![dialect],
            block_bytes: BLOCK_BYTES,
            depth: 2,
            ..Policy::default()
        };
        match self {
            Nothing => {}
            Signed(algorithm) => {
                policy.signing = SigningPolicy::Required;
                policy.signing_algorithms = vec![algorithm];
            }
            DataUnsigned(algorithm) => {
                policy.signing = SigningPolicy::DataUnsigned;
                policy.signing_algorithms = vec![algorithm];
            }
            Encrypted(cipher) => {
                policy.encryption = EncryptionPolicy::Required;
                policy.ciphers = vec![cipher];
            }
        }
        policy
    }

    fn agreed(negotiated: &Negotiated) -> Self {
        let algorithm = negotiated.signing_algorithm;
        match (
            negotiated.encryption,
            negotiated.signing,
            negotiated.data_signing,
        ) {
            (true, _, _) => Encrypted(negotiated.cipher.expect("something encrypts")),
            (false, true, true) => Signed(algorithm),
            (false, true, false) => DataUnsigned(algorithm),
            (false, false, _) => Nothing,
        }
    }
}

fn agreed(session: &Session) -> (Dialect, Protection) {
    let negotiated = session.negotiated().expect("it is connected");
    (negotiated.dialect, Protection::agreed(&negotiated))
}

#[test]
fn every_dialect_and_protection_moves_every_byte_over_one_and_two_channels() {
    let lan = Lan::new("");
    let mut seed = 0;
    for dialect in Dialect::ALL {
        let most = if dialect >= Dialect::Smb300 { 2 } else { 1 };
        for protection in Protection::of(dialect) {
            for channels in 1..=most {
                let session = connect(&lan, &protection.policy(dialect));
                assert_eq!(agreed(&session), (dialect, protection));
                let rejected = session.add_channels(channels, &lan.nics());
                let count = session.channels().len();
                assert_eq!(count, channels, "{dialect:?} {protection:?} {rejected:?}");
                seed += 1;
                round_trip(&session, &lan, seed, BYTES);
                read_until_all_took_part(&session, seed, BYTES);
            }
        }
    }
    assert_eq!(seed, 40, "none was left out");
}

#[test]
fn a_server_that_insists_on_signing_gets_it_in_every_dialect() {
    let lan = Lan::new("server signing = mandatory");
    for (seed, dialect) in (1..).zip(Dialect::ALL) {
        let signed = Protection::of(dialect)
            .into_iter()
            .find(|protection| matches!(protection, Signed(_)))
            .expect("each dialect signs");
        for signing in [SigningPolicy::IfRequired, SigningPolicy::DataUnsigned] {
            let policy = Policy {
                signing,
                ..Nothing.policy(dialect)
            };
            let session = connect(&lan, &policy);
            assert_eq!(agreed(&session), (dialect, signed), "{signing:?}");
            round_trip(&session, &lan, seed, BYTES);
        }
    }
}

#[test]
fn a_server_that_insists_on_encryption_gets_it_in_every_dialect() {
    let lan = Lan::new("server smb encrypt = required");
    for (seed, dialect) in (1..).zip(Dialect::ALL) {
        let encrypted = Protection::of(dialect)
            .into_iter()
            .find(|protection| matches!(protection, Encrypted(_)));
        let policy = Nothing.policy(dialect);
        let Some(encrypted) = encrypted else {
            let refused = Session::connect(&lan.server(), None, &login(), &policy)
                .and_then(|session| session.tree(SHARE).map(drop));
            assert!(refused.is_err(), "{dialect:?} cannot encrypt");
            continue;
        };
        let session = connect(&lan, &policy);
        assert_eq!(agreed(&session), (dialect, encrypted));
        round_trip(&session, &lan, seed, BYTES);
        // Samba lets no further channel join such a session, and says so by an encrypted refusal.
        let rejected = session.add_channels(2, &lan.nics());
        assert_eq!(session.channels().len(), 1);
        let why = format!("{rejected:?}");
        assert!(why.contains("STATUS_ACCESS_DENIED"), "{dialect:?} {why}");
        round_trip(&session, &lan, 10 * seed, BYTES);
    }
}

#[test]
fn a_server_that_wants_encryption_gets_it_over_two_channels() {
    let lan = Lan::new("server smb encrypt = desired");
    let session = connect(&lan, &Nothing.policy(Dialect::Smb311));
    let (_, protection) = agreed(&session);
    assert!(matches!(protection, Encrypted(_)), "{protection:?}");
    let rejected = session.add_channels(2, &lan.nics());
    assert_eq!(session.channels().len(), 2, "{rejected:?}");
    round_trip(&session, &lan, 1, BYTES);
    read_until_all_took_part(&session, 1, BYTES);
}

#[test]
fn a_server_that_may_not_encrypt_is_refused_where_that_is_demanded() {
    let lan = Lan::new("server smb encrypt = off\nserver max protocol = SMB3_02");
    let session = connect(&lan, &Policy::default());
    assert_eq!(agreed(&session), (Dialect::Smb302, Nothing));
    round_trip(&session, &lan, 1, BYTES);
    let policy = Policy {
        encryption: EncryptionPolicy::Required,
        ..Policy::default()
    };
    let refused = Session::connect(&lan.server(), None, &login(), &policy).err();
    assert!(
        matches!(refused, Some(Error::Incompatible { .. })),
        "{refused:?}"
    );
}

#[test]
fn no_dialect_in_common_is_said_so() {
    let lan = Lan::new("server min protocol = SMB3_11");
    let policy = |dialects: &[Dialect]| Policy {
        dialects: dialects.to_vec(),
        ..Policy::default()
    };
    let newest = connect(&lan, &policy(&Dialect::ALL));
    assert_eq!(agreed(&newest), (Dialect::Smb311, Nothing));
    let older = policy(&Dialect::ALL[1..]);
    let refused = Session::connect(&lan.server(), None, &login(), &older).err();
    assert!(
        matches!(refused, Some(Error::Incompatible { .. })),
        "{refused:?}"
    );
}
