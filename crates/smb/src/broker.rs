//! Login tokens from another process, which alone knows the password.
//!
//! The process that speaks to a server has given up its rights, and has no password to lose: where a login
//! needs a token it asks the one that started it, over a pipe. A message is its length in four bytes, least
//! first, and then its kind in one byte, the number of the exchange in four, and what belongs to the kind.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use locale::{Kept, Message};
use record::chain;
use smb_proto::session::Identity;
use smb_proto::{SessionKey, Step};
use zeroize::Zeroizing;

use crate::auth::{AuthError, Exchange, Login, Proof, Refusal};
use crate::signal::lock;
use crate::sync::Mutex;

/// Longest message: a token with a ticket of a user in very many groups, and a key.
const MESSAGE_BYTES_MAX: usize = 128 << 10;
/// Kind and number in front of each message.
const HEAD_BYTES: usize = 5;
/// Exchanges that one process may have open: a channel's login each, and renewals.
const EXCHANGES_MAX: usize = 256;

/// What is asked.
const BEGIN: u8 = 1;
const STEP: u8 = 2;
const END: u8 = 3;
/// What is answered.
const BEGUN: u8 = 1;
const STEPPED: u8 = 2;
const FAILED: u8 = 3;

/// The end of the process that speaks to the server.
pub struct Broker {
    identity: Identity,
    user: String,
    next: AtomicU32,
    pipe: Mutex<Pipe>,
}

struct Pipe {
    questions: Box<dyn Write + Send>,
    answers: Receiver<Vec<u8>>,
}

impl Broker {
    /// Asks by `questions` and hears by `answers`, for a user or a guest of this name. `gone` is called, on
    /// another thread, when the process that is asked is gone.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(
        identity: Identity,
        user: String,
        questions: impl Write + Send + 'static,
        mut answers: impl Read + Send + 'static,
        gone: impl FnOnce() + Send + 'static,
    ) -> io::Result<Arc<Self>> {
        let (heard, waiting) = mpsc::channel();
        thread::Builder::new()
            .name("tokens".to_owned())
            .spawn(move || {
                while let Ok(Some(message)) = read(&mut answers) {
                    if heard.send(message).is_err() {
                        return;
                    }
                }
                gone();
            })?;
        let questions = Box::new(questions);
        Ok(Arc::new(Self {
            identity,
            user,
            next: AtomicU32::new(0),
            pipe: Mutex::new(Pipe {
                questions,
                answers: waiting,
            }),
        }))
    }

    pub(crate) const fn identity(&self) -> Identity {
        self.identity
    }

    pub(crate) fn user(&self) -> &str {
        &self.user
    }

    /// Asks, and waits for the answer: its kind and what belongs to it.
    fn ask(&self, kind: u8, number: u32, content: &[u8]) -> io::Result<(u8, Zeroizing<Vec<u8>>)> {
        let mut pipe = lock(&self.pipe);
        write(&mut pipe.questions, kind, number, content)?;
        if kind == END {
            return Ok((END, Zeroizing::default()));
        }
        let heard = pipe.answers.recv();
        let heard = heard.map_err(|_gone| io::Error::from(io::ErrorKind::BrokenPipe))?;
        let mut heard = Zeroizing::new(heard);
        let (kind, of) = head(&heard).ok_or(io::ErrorKind::InvalidData)?;
        if of != number {
            return Err(io::ErrorKind::InvalidData.into());
        }
        heard.drain(..HEAD_BYTES);
        Ok((kind, heard))
    }
}

impl fmt::Debug for Broker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Broker")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// One exchange of tokens that is made elsewhere.
pub(crate) struct Remote {
    broker: Arc<Broker>,
    number: u32,
    proof: Proof,
}

impl Remote {
    pub(crate) fn begin(broker: &Arc<Broker>, server: &str) -> Result<Self, AuthError> {
        let number = broker.next.fetch_add(1, Ordering::Relaxed);
        let answer = broker.ask(BEGIN, number, server.as_bytes());
        let (kind, content) = answer.map_err(AuthError::Pipe)?;
        let proof = match (kind, content.as_slice()) {
            (BEGUN, [0]) => Proof::Nothing,
            (BEGUN, [1]) => Proof::Ntlm,
            (BEGUN, [2]) => Proof::Kerberos,
            (FAILED, failure) => return Err(failed(failure)),
            _ => return Err(AuthError::Pipe(io::ErrorKind::InvalidData.into())),
        };
        let broker = Arc::clone(broker);
        Ok(Self {
            broker,
            number,
            proof,
        })
    }

    pub(crate) const fn proof(&self) -> Proof {
        self.proof
    }

    pub(crate) fn step(&self, server_token: &[u8]) -> Result<Step, AuthError> {
        let answer = self.broker.ask(STEP, self.number, server_token);
        let (kind, content) = answer.map_err(AuthError::Pipe)?;
        match kind {
            STEPPED => step_of(&content).ok_or(AuthError::Pipe(io::ErrorKind::InvalidData.into())),
            FAILED => Err(failed(&content)),
            _ => Err(AuthError::Pipe(io::ErrorKind::InvalidData.into())),
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // Whoever is gone has forgotten it.
        self.broker.ask(END, self.number, &[]).ok();
    }
}

/// Key and token of one step; a key of no bytes is none.
fn step_of(content: &[u8]) -> Option<Step> {
    let (length, rest) = content.split_first_chunk::<2>()?;
    let (key, token) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
    Some(Step {
        token: token.to_vec(),
        session_key: (!key.is_empty()).then(|| SessionKey::new(key.to_vec())),
    })
}

/// A failure of the other process: which it is, what happened, and a hint.
fn failed(content: &[u8]) -> AuthError {
    let (refusal, texts) = content.split_first().unwrap_or((&0, &[]));
    let texts: Option<(Kept, Option<Kept>)> = serde_json::from_slice(texts).ok();
    let texts = texts.and_then(|(text, hint)| Some((text.message()?, hint)));
    let Some((text, hint)) = texts else {
        return AuthError::Pipe(io::ErrorKind::InvalidData.into());
    };
    AuthError::Elsewhere {
        text,
        hint: hint.and_then(|hint| hint.message()),
        refusal: match refusal {
            1 => Refusal::Unreachable,
            2 => Refusal::User,
            _ => Refusal::Other,
        },
    }
}

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

fn head(message: &[u8]) -> Option<(u8, u32)> {
    let (kind, rest) = message.split_first()?;
    let number = rest.first_chunk()?;
    Some((*kind, u32::from_le_bytes(*number)))
}

/// One message; none where the other end is closed.
fn read(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > MESSAGE_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut message = vec![0; length];
    from.read_exact(&mut message)?;
    Ok(Some(message))
}

fn write(to: &mut impl Write, kind: u8, number: u32, content: &[u8]) -> io::Result<()> {
    let length = HEAD_BYTES + content.len();
    if length > MESSAGE_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let length = u32::try_from(length).unwrap_or_default().to_le_bytes();
    let message = [&length, &[kind][..], &number.to_le_bytes(), content].concat();
    to.write_all(&Zeroizing::new(message))?;
    to.flush()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::auth::Mechanism;

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
