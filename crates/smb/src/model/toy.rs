//! The toy server of `smb-proto`'s tests, and the login at it.

#[expect(dead_code, reason = "as with the server")]
#[path = "../../../smb-proto/tests/it/random.rs"]
pub(super) mod random;
#[expect(
    dead_code,
    reason = "most of what it can do is for the tests of the protocol"
)]
#[path = "../../../smb-proto/tests/it/server.rs"]
pub(super) mod server;

use shuttle::rand::{Rng, thread_rng};

pub(crate) use server::FakeLogin as ToyLogin;

pub(crate) fn toy_login() -> ToyLogin {
    ToyLogin {
        nonce: thread_rng().r#gen(),
        round: 0,
        fails: false,
    }
}
