//! Questions that a thread asks and waits for.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use smb_proto::Sink;
use smb_proto::error::Result;
use smb_proto::session::{Reply, Request};

use crate::error::Error;
use crate::session::Shared;
use crate::signal::lock;
use crate::std_or_shuttle::{Condvar, Mutex};

/// Asks, and waits for the answer. It always comes: a channel that hears nothing ends, and a
/// session without channels ends its requests.
pub(crate) fn ask(shared: &Shared, request: Request, object: &str) -> Result<Reply, Error> {
    ask_protocol(shared, request).map_err(|source| shared.error(source, object))
}

/// The same, with the protocol's own error.
pub(crate) fn ask_protocol(shared: &Shared, request: Request) -> Result<Reply> {
    begin(shared, request).wait()
}

/// Asks for several things in one message, and waits for the answers.
pub(crate) fn ask_chain(
    shared: &Shared,
    links: Vec<Request>,
    object: &str,
) -> Result<Vec<Result<Reply>>, Error> {
    match ask(shared, Request::Chain(links), object)? {
        Reply::Chain(replies) => Ok(replies),
        _ => Err(shared.odd_answer()),
    }
}

/// Asks; the answer can be waited for later.
pub(crate) fn begin(shared: &Shared, request: Request) -> Arc<Answer> {
    let answer = Arc::new(Answer::default());
    shared
        .protocol
        .submit(request, Arc::clone(&answer) as Arc<dyn Sink>);
    answer
}

/// Asks, and waits only so long; what becomes of it is of no interest.
pub(crate) fn ask_briefly(shared: &Shared, request: Request, timeout: Duration) {
    let answer = begin(shared, request);
    let outcome = lock(&answer.outcome);
    let wait = answer
        .answered
        .wait_timeout_while(outcome, timeout, |outcome| outcome.is_none());
    drop(wait);
}

/// Asks, and does not wait.
pub(crate) fn tell(shared: &Shared, request: Request) {
    struct Ignore;
    impl Sink for Ignore {
        fn done(&self, _: Result<Reply>) {}
    }
    shared.protocol.submit(request, Arc::new(Ignore));
}

/// The answer to one request; it is taken once.
#[derive(Default)]
pub(crate) struct Answer {
    outcome: Mutex<Option<Result<Reply>>>,
    answered: Condvar,
}

impl Answer {
    /// Waits for it.
    pub(crate) fn wait(&self) -> Result<Reply> {
        let mut outcome = lock(&self.outcome);
        loop {
            if let Some(outcome) = outcome.take() {
                return outcome;
            }
            outcome = self
                .answered
                .wait(outcome)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Sink for Answer {
    fn done(&self, outcome: Result<Reply>) {
        *lock(&self.outcome) = Some(outcome);
        self.answered.notify_all();
    }
}
