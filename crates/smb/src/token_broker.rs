//! Login tokens from another process, which alone knows the password.
//!
//! The process that speaks to a server has given up its rights, and has no password to lose: where a login
//! needs a token it asks the one that started it, over a pipe. A message is its length in four bytes, least
//! first, and then its kind in one byte, the number of the exchange in four, and what belongs to the kind.

mod serve;

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use locale::Kept;
use smb_proto::session::Identity;
use smb_proto::{SessionKey, Step};
use zeroize::Zeroizing;

use crate::auth::error::{AuthError, Refusal};
use crate::auth::login_proof::Proof;
use crate::signal::lock;
use crate::std_or_shuttle::Mutex;

pub use serve::serve;

/// Longest message: a token with a ticket of a user in very many groups, and a key.
const MESSAGE_BYTES_MAX: usize = 128 << 10;
/// Kind and number in front of each message.
const HEAD_BYTES: usize = 5;

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
