//! The toy server of `smb-proto`'s tests, and the login at it.

#[expect(dead_code, reason = "as with the server")]
#[path = "../../../smb-proto/tests/it/seeded_random.rs"]
pub(super) mod seeded_random;
#[expect(
    dead_code,
    reason = "most of what it can do is for the tests of the protocol"
)]
#[path = "../../../smb-proto/tests/it/toy_server.rs"]
pub(super) mod toy_server;

use shuttle::rand::{Rng, thread_rng};

pub(crate) use toy_server::FakeLogin as ToyLogin;

pub(crate) fn toy_login() -> ToyLogin {
    ToyLogin {
        nonce: thread_rng().r#gen(),
        round: 0,
        fails: false,
    }
}
