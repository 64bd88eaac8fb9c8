//! What to do where a login fails on our side.

use smb::{AuthError, KdcRefusal, TicketError};

/// What to do about a login that failed on our side.
pub(crate) fn login_hint(error: &AuthError) -> Option<String> {
    let hint = match error {
        AuthError::Elsewhere { hint, .. } => return hint.clone(),
        AuthError::Ticket(error) => ticket_hint(error),
        AuthError::NoRealm { .. } => "write the user as `user@REALM`, or give a domain",
        AuthError::KdcUnreachable { .. } => {
            "`--kdc HOST` names another KDC; `--ntlm` logs in without one, where that is allowed"
        }
        AuthError::KdcName { .. } => "write it as `host` or `host:port`",
        AuthError::KdcRefused { refusal, .. } => match refusal {
            KdcRefusal::UnknownService => {
                "use the server's full name, as its domain knows it, and not an alias or address"
            }
            KdcRefusal::UnknownUser | KdcRefusal::WrongRealm => "check user name and domain",
            KdcRefusal::WrongPassword => "check the password",
            KdcRefusal::ClockSkew => "set the clocks of this machine, the server and the KDC",
            KdcRefusal::NoCommonEncryption => "a new password gives the account AES keys",
            KdcRefusal::Revoked | KdcRefusal::PasswordExpired => "ask who runs the domain",
            KdcRefusal::Other(_) => return None,
        },
        _ => return None,
    };
    Some(hint.to_owned())
}

/// What to do where there is no ticket for a server.
#[must_use]
pub const fn ticket_hint(error: &TicketError) -> &'static str {
    match error {
        TicketError::NoLibrary { .. } if cfg!(target_env = "musl") => {
            "this program is one without libraries and cannot load any: install the Debian package, build it on this system (`cargo install`), or log in with a password"
        }
        TicketError::NoLibrary { .. } => {
            "install MIT Kerberos (`libgssapi-krb5-2` of Debian, `krb5-libs` of Fedora), or log in with a password"
        }
        TicketError::Foreign { .. } | TicketError::Doubtful { .. } => {
            "remove it, or name your own cache in KRB5CCNAME"
        }
        TicketError::NotAskedFor { .. } => {
            "`--kerberos` uses it all the same, or name it in KRB5CCNAME"
        }
        TicketError::None { .. } | TicketError::OfAnother { .. } | TicketError::Expired => {
            "`kinit USER@REALM` gets tickets, and `klist` shows what there is"
        }
        TicketError::Unreachable { .. } => {
            "`krb5.conf` or the name service names the KDC: check both, and the network to it"
        }
        TicketError::Answer { .. } => {
            "`kinit` gets new tickets; the server may have a new key, or another clock"
        }
        _ => "use the server's full name, as its domain knows it, and not an alias or address",
    }
}
