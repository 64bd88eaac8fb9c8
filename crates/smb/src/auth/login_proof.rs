//! What a login proves.

/// How a session's user was proven to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// By a ticket of a KDC. The server has proven itself too.
    Kerberos,
    /// By NTLMv2.
    Ntlm,
    /// Not at all.
    Nothing,
}
