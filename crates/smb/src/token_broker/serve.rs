//! The end of the process that knows the password.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::iter;

use locale::{Kept, Message};
use record::chain;
use smb_proto::SessionKey;
use zeroize::Zeroizing;

use super::{BEGIN, BEGUN, END, FAILED, HEAD_BYTES, STEP, STEPPED, head, read, write};
use crate::auth::{AuthError, Exchange, Login, Proof, Refusal};

/// Exchanges that one process may have open: a channel's login each, and renewals.
const EXCHANGES_MAX: usize = 256;

/// Makes the tokens for one server that another process asks for, until that is gone. `hint` is what to do
/// about a failure.
///
/// # Errors
/// When the other process says what is no question, or asks for a login at another server.
pub fn serve(
    login: &Login,
    server: &str,
    mut questions: impl Read,
    mut answers: impl Write,
    hint: &dyn Fn(&AuthError) -> Option<Message>,
) -> io::Result<()> {
    let mut exchanges: HashMap<u32, Exchange> = HashMap::new();
    while let Some(question) = read(&mut questions)? {
        let (kind, number) = head(&question).ok_or(io::ErrorKind::InvalidData)?;
        let content = &question[HEAD_BYTES..];
        let answer = match kind {
            BEGIN if exchanges.len() < EXCHANGES_MAX => {
                // Who has taken that process over gets no ticket for another service.
                if content != server.as_bytes() {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                Exchange::new(login, server).map(|exchange| {
                    let proof = match exchange.proof() {
                        Proof::Nothing => 0,
                        Proof::Ntlm => 1,
                        Proof::Kerberos => 2,
                    };
                    exchanges.insert(number, exchange);
                    (BEGUN, Zeroizing::new(vec![proof]))
                })
            }
            STEP => {
                let exchange = exchanges.get_mut(&number);
                let exchange = exchange.ok_or(io::ErrorKind::InvalidData)?;
                let token = exchange.answer(content);
                token.map(|token| (STEPPED, stepped(exchange.session_key(), &token)))
            }
            END => {
                exchanges.remove(&number);
                continue;
            }
            _ => return Err(io::ErrorKind::InvalidData.into()),
        };
        let (kind, content) = answer.unwrap_or_else(|error| (FAILED, failure(&error, hint)));
        write(&mut answers, kind, number, &content)?;
    }
    Ok(())
}

fn stepped(key: Option<SessionKey>, token: &[u8]) -> Zeroizing<Vec<u8>> {
    let key = key.as_ref().map_or(&[][..], SessionKey::bytes);
    let length = u16::try_from(key.len()).unwrap_or_default();
    let key = &key[..length.into()];
    Zeroizing::new([&length.to_le_bytes(), key, token].concat())
}

fn failure(error: &AuthError, hint: &dyn Fn(&AuthError) -> Option<Message>) -> Zeroizing<Vec<u8>> {
    let refusal = match error.refusal() {
        Refusal::Other => 0,
        Refusal::Unreachable => 1,
        Refusal::User => 2,
    };
    // What is below it is said by the system or by `sspi`.
    let causes = iter::successors(std::error::Error::source(error), |cause| cause.source());
    let causes = causes.map(|cause| cause.to_string().into());
    let text = chain(iter::once(error.message()).chain(causes));
    let text = text.unwrap_or_else(|| error.message());
    let texts = (Kept::from(&text), hint(error).as_ref().map(Kept::from));
    let texts = serde_json::to_vec(&texts).unwrap_or_default();
    Zeroizing::new([&[refusal], &texts[..]].concat())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::sync::{Arc, mpsc};
    use std::thread;

    use smb_proto::session::Identity;

    use super::*;
    use crate::auth::Mechanism;
    use crate::token_broker::{Broker, Remote};

    fn user(password: &str, mechanism: Mechanism) -> Login {
        Login::User {
            user: "ann".to_owned(),
            domain: String::new(),
            password: Zeroizing::new(password.to_owned()),
            mechanism,
        }
    }

    /// Serves one login, and gives the end that asks.
    fn brokered(login: Login) -> Arc<Broker> {
        let (ours, theirs) = UnixStream::pair().unwrap();
        thread::spawn(move || {
            let questions = theirs.try_clone().unwrap();
            serve(&login, "nas", questions, theirs, &|_| {
                Some("try again".into())
            })
        });
        let answers = ours.try_clone().unwrap();
        Broker::start(Identity::User, "ann".to_owned(), ours, answers, || {}).unwrap()
    }

    #[test]
    fn tokens_are_those_of_an_exchange_in_this_process() {
        let broker = brokered(user("secret", Mechanism::Ntlm));
        let remote = Remote::begin(&broker, "nas").unwrap();
        assert_eq!(remote.proof(), Proof::Ntlm);
        let first = remote.step(b"hint of the server").unwrap();
        // SPNEGO with NTLM's NEGOTIATE in it (RFC 4178, section 4.2; MS-NLMP, section 2.2.1.1).
        assert!(first.token.windows(8).any(|part| part == b"NTLMSSP\0"));
        assert!(first.session_key.is_none());
        let error = remote.step(b"no token").unwrap_err();
        let AuthError::Elsewhere { hint, refusal, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(
            (hint.clone(), *refusal),
            (Some(Message::from("try again")), Refusal::Other)
        );
    }

    #[test]
    fn what_fails_there_is_said_here() {
        let broker = brokered(user("secret", Mechanism::Kerberos { kdc: None }));
        let error = Remote::begin(&broker, "nas").err().unwrap();
        assert_eq!(error.to_string(), "no Kerberos realm is known for `ann`");
    }

    #[test]
    fn nonsense_ends_the_service() {
        let login = user("secret", Mechanism::Ntlm);
        for question in [
            &[0xff; 4][..],
            &[1, 0, 0, 0, BEGIN],
            &[5, 0, 0, 0, 9, 0, 0, 0, 0],
            &[5, 0, 0, 0, STEP, 7, 0, 0, 0],
            &[6, 0, 0, 0, BEGIN, 0, 0, 0, 0, 0xff],
            b"\x09\0\0\0\x01\0\0\0\0bank",
            &[200, 0, 0, 0, BEGIN],
        ] {
            let mut said = Vec::new();
            assert!(
                serve(&login, "nas", question, &mut said, &|_| None).is_err(),
                "{question:?}"
            );
            assert!(said.is_empty(), "{question:?}");
        }
        assert!(serve(&login, "nas", &[][..], Vec::new(), &|_| None).is_ok());
    }

    #[test]
    fn who_asks_hears_that_the_other_is_gone() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let answers = ours.try_clone().unwrap();
        let (gone, heard) = mpsc::channel();
        let ended = move || gone.send(()).unwrap();
        let broker = Broker::start(Identity::User, "ann".to_owned(), ours, answers, ended).unwrap();
        drop(theirs);
        heard
            .recv_timeout(std::time::Duration::from_secs(5))
            .unwrap();
        let error = Remote::begin(&broker, "nas").err().unwrap();
        assert!(matches!(error, AuthError::Pipe(_)), "{error:?}");
    }
}
