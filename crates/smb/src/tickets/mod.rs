//! Logging in with a ticket that the user has already: what `kinit`, the login at this machine or a service such
//! as SSSD has put into the user's cache, wherever the system keeps it (`KRB5CCNAME`, `default_ccache_name` of
//! `krb5.conf`). The system's own library reads it and asks the KDC; see [`gssapi_library`].
//!
//! The server is asked for by the name that was typed, and no name service has a say in that: where it could,
//! whoever answers for it could make another server of this realm out of the one that was meant.

#[expect(
    unsafe_code,
    reason = "the library is a C library, and loaded at run time"
)]
mod gssapi_library;

mod credential_cache;

use std::env;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use locale::{Language, Message, say};

use crate::copy::name::printable;
use crate::kdc_client::{Configuration, domain_of};
use credential_cache::CACHE_VARIABLE;
pub use credential_cache::{TicketCache, TicketUse};
pub(crate) use gssapi_library::{Context, Failure};
use gssapi_library::{Credential, Library, Name, library};

/// How long the library may take over a ticket. By itself it asks every KDC that it knows several times, and waits
/// longer for each.
const PATIENCE: Duration = Duration::from_secs(20);
/// Longest text of the library that is shown; some of it may be the KDC's.
const TEXT_LETTERS_MAX: usize = 300;
/// `GSS_S_NO_CRED` and `GSS_S_CREDENTIALS_EXPIRED` (RFC 2744, section 3.9.1).
const NO_CRED: u32 = 7 << 16;
const CREDENTIALS_EXPIRED: u32 = 11 << 16;
/// What Kerberos adds to the number of an error of RFC 4120, 7.5.9 (`krb5_err.et` of MIT Kerberos).
const KERBEROS_ERRORS: i32 = -1_765_328_384;
/// `KRB5KRB_AP_ERR_TKT_EXPIRED`: the ticket that others are asked for with.
const TICKET_EXPIRED: i32 = KERBEROS_ERRORS + 32;
/// `KRB5_REALM_UNKNOWN` and `KRB5_KDC_UNREACH`: no KDC is known, or none answers.
const REALM_UNKNOWN: i32 = KERBEROS_ERRORS + 154;
const KDC_UNREACHABLE: i32 = KERBEROS_ERRORS + 156;

/// Why there is no ticket for a server.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TicketError {
    /// The system has no library that reads ticket caches.
    NoLibrary {
        /// Its name.
        library: String,
        /// What the system says.
        text: Message,
    },
    /// The cache holds no tickets, or none of this user.
    None {
        /// What the library says, with the cache.
        text: Message,
    },
    /// The tickets are another user's.
    OfAnother {
        /// Whose they are.
        holder: String,
    },
    /// Another user of this machine has laid out the cache.
    Foreign {
        /// The cache.
        file: PathBuf,
    },
    /// The cache is a file that another user of this machine may have put there.
    Doubtful {
        /// The cache.
        file: PathBuf,
        /// Why.
        reason: Message,
    },
    /// Root's cache is where every user can put files, and was not asked for.
    NotAskedFor {
        /// The cache.
        file: PathBuf,
    },
    /// What there is has expired.
    Expired,
    /// The server is called by its address, for which no KDC has a ticket.
    Address {
        /// The server.
        server: String,
    },
    /// This cannot be the name of a server.
    Name {
        /// The server.
        server: String,
    },
    /// No KDC answers.
    Unreachable {
        /// The server, as the KDC knows it.
        service: String,
        /// What the library says.
        text: Message,
    },
    /// There are tickets, and none for this server.
    Refused {
        /// The server, as the KDC was asked for it.
        service: String,
        /// What the library says.
        text: Message,
    },
    /// The server's answer to the ticket is not taken.
    Answer {
        /// What the library says.
        text: Message,
    },
}

impl TicketError {
    fn of(failure: Failure, service: &str) -> Self {
        let service = service.to_owned();
        let text = failure.message(TEXT_LETTERS_MAX);
        match (failure.major, failure.minor) {
            (CREDENTIALS_EXPIRED, _) | (_, TICKET_EXPIRED) => Self::Expired,
            (NO_CRED, _) => Self::None { text },
            (_, REALM_UNKNOWN | KDC_UNREACHABLE) => Self::Unreachable { service, text },
            _ => Self::Refused { service, text },
        }
    }

    /// The same, where no ticket was asked for yet: whatever is wrong then, there are none for this user.
    fn of_cache(failure: Failure) -> Self {
        match Self::of(failure, "") {
            Self::Refused { text, .. } | Self::Unreachable { text, .. } => Self::None { text },
            error => error,
        }
    }

    /// Whether the user has tickets, or says that there are some: then it is worth a word that they are not used.
    #[must_use]
    pub fn is_surprising(&self) -> bool {
        match self {
            Self::NoLibrary { .. } | Self::None { .. } => env::var_os(CACHE_VARIABLE).is_some(),
            // No ticket is expected for an address, or for an account of the server.
            Self::Address { .. } | Self::Name { .. } | Self::OfAnother { .. } => false,
            _ => true,
        }
    }

    /// What happened, as something that can be said in any language.
    #[must_use]
    pub fn message(&self) -> Message {
        let of = |id, file: &Path| say(id).with("file", file.display().to_string());
        match self {
            Self::NoLibrary { library, text } => say("error-auth.ticket-no-library")
                .with("library", library)
                .with("reason", text.clone()),
            Self::None { text } => say("error-auth.ticket-none").with("reason", text.clone()),
            Self::OfAnother { holder } => {
                say("error-auth.ticket-of-another").with("holder", holder)
            }
            Self::Foreign { file } => of("error-auth.ticket-foreign", file),
            Self::Doubtful { file, reason } => {
                of("error-auth.ticket-doubtful", file).with("reason", reason.clone())
            }
            Self::NotAskedFor { file } => of("error-auth.ticket-not-asked-for", file),
            Self::Expired => say("error-auth.ticket-expired"),
            Self::Address { server } => say("error-auth.ticket-address").with("server", server),
            Self::Name { server } => say("error-auth.ticket-name").with("server", server),
            Self::Unreachable { service, text } => say("error-auth.ticket-unreachable")
                .with("service", service)
                .with("reason", text.clone()),
            Self::Refused { service, text } => say("error-auth.ticket-refused")
                .with("service", service)
                .with("reason", text.clone()),
            Self::Answer { text } => say("error-auth.ticket-answer").with("reason", text.clone()),
        }
    }
}

impl fmt::Display for TicketError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.message()))
    }
}

/// Whose ticket for a server this machine's user has or gets, as `ann@REALM`. Of several users in the cache, one that
/// is named, or else the one that the library chooses. May ask a KDC, and waits for it less than half a minute.
///
/// # Errors
/// Why there is none.
pub fn ticket(
    server: &str,
    user: &str,
    domain: &str,
    wanted: TicketUse,
) -> Result<String, TicketError> {
    let configuration = Configuration::of_this_machine();
    let failed = |failure| TicketError::of(failure, &service(server));
    match (
        begin(server, &principal(user, domain, &configuration), wanted),
        holder(wanted),
    ) {
        (Ok((context, _)), _) => Ok(context.credential().holder().map_err(failed)?.0),
        (Err(TicketError::None { .. }), Some(holder)) if !user.is_empty() => {
            Err(TicketError::OfAnother { holder })
        }
        (Err(error), _) => Err(error),
    }
}

impl TicketCache {
    /// The one of this user. Loads the library, which a process that gives up rights has to do before. Sends nothing
    /// to the network.
    #[must_use]
    pub fn find(wanted: TicketUse) -> Option<Self> {
        let library = library().ok()?;
        let mut cache = Self::named(&library.default_cache()?);
        let holder = credential(library, None, wanted).map(|found| found.holder());
        cache.is_current = matches!(holder, Ok(Ok((_, seconds))) if seconds > 0);
        Some(cache)
    }
}

/// Whose tickets the default cache holds.
fn holder(wanted: TicketUse) -> Option<String> {
    let credential = credential(library().ok()?, None, wanted).ok()?;
    Some(printable(&credential.holder().ok()?.0))
}

/// A user as Kerberos names one; empty where none is named. Without a realm the library takes the default one.
fn principal(user: &str, domain: &str, configuration: &Configuration) -> String {
    let name = match user.rsplit_once('@') {
        Some((name, _)) if domain.is_empty() => name,
        _ => user,
    };
    let given = domain_of(user, domain);
    let default = configuration.default_realm();
    let is_default = |realm: &&str| {
        let first = realm.split('.').next();
        first.is_some_and(|first| first.eq_ignore_ascii_case(given))
    };
    let realm = match configuration.realm(given) {
        Some((realm, _)) => realm.to_owned(),
        None => match default.filter(is_default) {
            Some(realm) => realm.to_owned(),
            None => given.to_ascii_uppercase(),
        },
    };
    match (name.is_empty(), realm.is_empty()) {
        (true, _) => String::new(),
        (false, true) => name.to_owned(),
        (false, false) => format!("{name}@{realm}"),
    }
}

/// A server as KDCs know it (MS-SMB2 3.2.4.2.3).
fn service(server: &str) -> String {
    format!("cifs/{}", server.trim_end_matches('.'))
}

/// The tickets of a principal, or of the one that the library chooses, out of a cache that is the user's own.
fn credential(
    library: &'static Library,
    of: Option<&Name>,
    wanted: TicketUse,
) -> Result<Credential, TicketError> {
    let cache = library
        .default_cache()
        .map(|name| TicketCache::named(&name));
    let opened = match &cache {
        Some(cache) => cache.open(wanted)?,
        None => None,
    };
    let shown = opened.as_ref().map(|opened| (opened.path(), opened.name()));
    library.credential(of, opened).map_err(|mut failure| {
        if let Some((path, name)) = shown {
            let path = path.to_string_lossy();
            failure.text = failure.text.replace(&name, &path);
        }
        TicketError::of_cache(failure)
    })
}

/// Does something on a thread of its own, which is left to itself where that takes too long.
fn in_time<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let (done, waiting) = mpsc::channel();
    let thread = thread::Builder::new().name("tickets".to_owned());
    // A result that comes too late has no receiver.
    thread.spawn(move || done.send(work()).ok())?;
    waiting.recv_timeout(patience).map_err(|late| match late {
        mpsc::RecvTimeoutError::Timeout => io::ErrorKind::TimedOut.into(),
        mpsc::RecvTimeoutError::Disconnected => io::ErrorKind::BrokenPipe.into(),
    })
}

/// Whether the system's Kerberos library can be loaded, without which there are no logins by ticket. A program without
/// libraries can load none.
#[must_use]
pub fn has_kerberos_library() -> bool {
    library().is_ok()
}

/// Makes our first token, of the tickets of a principal, or of the one that the library chooses.
pub(crate) fn begin(
    server: &str,
    principal: &str,
    wanted: TicketUse,
) -> Result<(Context, Vec<u8>), TicketError> {
    let (of, with) = (server.to_owned(), principal.to_owned());
    let begun = in_time(PATIENCE, move || begin_late(&of, &with, wanted));
    begun.unwrap_or_else(|late| {
        Err(TicketError::Unreachable {
            service: service(server),
            text: match late.kind() {
                io::ErrorKind::TimedOut => {
                    say("error-auth.ticket-no-answer").count("seconds", PATIENCE.as_secs())
                }
                _ => late.to_string().into(),
            },
        })
    })
}

/// The same, for as long as `krb5.conf` lets the library wait.
fn begin_late(
    server: &str,
    principal: &str,
    wanted: TicketUse,
) -> Result<(Context, Vec<u8>), TicketError> {
    let is_of_name = |letter: char| letter.is_alphanumeric() || ".-_:".contains(letter);
    if server.is_empty() || !server.chars().all(is_of_name) {
        let server = printable(server);
        return Err(TicketError::Name { server });
    }
    let library = library().map_err(|text| TicketError::NoLibrary {
        library: gssapi_library::LIBRARY.to_string_lossy().into_owned(),
        text: text.clone(),
    })?;
    let service = service(server);
    let failed = |failure| TicketError::of(failure, &service);
    let of = match principal {
        "" => None,
        principal => {
            let name = library.name(principal);
            Some(name.map_err(TicketError::of_cache)?)
        }
    };
    let credential = credential(library, of.as_ref(), wanted)?;
    // The empty realm asks the user's KDC which realm the server is of (RFC 6806, section 8).
    let target = library.name(&format!("{service}@")).map_err(failed)?;
    let mut context = Context::new(credential, target);
    let (token, _) = context.step(&[]).map_err(failed)?;
    Ok((context, token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_takes_too_long_is_left_to_itself() {
        let (go_on, held) = mpsc::channel::<()>();
        let late = in_time(Duration::from_millis(50), move || held.recv().ok());
        let kind = late.expect_err("it waits for us").kind();
        assert_eq!(kind, io::ErrorKind::TimedOut);
        drop(go_on);
        assert_eq!(in_time(PATIENCE, || 7).expect("it is fast"), 7);
    }

    #[test]
    fn a_user_is_named_as_kerberos_does() {
        let mut configuration = Configuration::default();
        let of = |user, domain, known: &Configuration| principal(user, domain, known);
        assert_eq!(of("", "", &configuration), "");
        assert_eq!(of("ann", "", &configuration), "ann");
        assert_eq!(of("ann@lab.example", "", &configuration), "ann@LAB.EXAMPLE");
        assert_eq!(of("ann", "lab.example", &configuration), "ann@LAB.EXAMPLE");
        configuration.add("[libdefaults]\ndefault_realm = LAB.EXAMPLE\n");
        assert_eq!(of("ann", "LAB", &configuration), "ann@LAB.EXAMPLE");
        assert_eq!(of("ann", "OTHER", &configuration), "ann@OTHER");
        configuration.add("[realms]\nother.example = {\nkdc = dc\n}\n");
        assert_eq!(of("ann", "OTHER", &configuration), "ann@other.example");
    }

    #[test]
    fn failures_are_sorted_by_what_one_can_do_about_them() {
        let of = |major, minor| {
            let text = "so\u{1b}[2J".to_owned();
            TicketError::of(Failure { major, minor, text }, "cifs/nas")
        };
        let (service, text) = ("cifs/nas".to_owned(), printable("so\u{1b}[2J"));
        assert!(!text.contains('\u{1b}'));
        let text = Message::from(text);
        assert_eq!(of(CREDENTIALS_EXPIRED, 1), TicketError::Expired);
        assert_eq!(of(13 << 16, TICKET_EXPIRED), TicketError::Expired);
        let none = TicketError::None { text: text.clone() };
        assert_eq!(of(NO_CRED, KERBEROS_ERRORS + 195), none);
        let (to, said) = (service.clone(), text.clone());
        let unreachable = TicketError::Unreachable {
            service: to,
            text: said,
        };
        assert_eq!(of(13 << 16, -1_765_328_228), unreachable);
        let refused = TicketError::Refused { service, text };
        assert_eq!(of(13 << 16, KERBEROS_ERRORS + 7), refused);
        // `KRB5_CONFIG_NODEFREALM`, as on most machines without a domain.
        let text = "no default realm".to_owned();
        let (major, minor) = (13 << 16, KERBEROS_ERRORS + 224);
        let failure = Failure { major, minor, text };
        let none = TicketError::of_cache(failure);
        assert!(matches!(none, TicketError::None { .. }), "{none}");
    }

    #[test]
    fn what_is_no_name_is_not_asked_for() {
        for server in ["", "nas@EVIL.EXAMPLE", "a/b", "nas\\", "na s", "nas\0"] {
            let refused = begin(server, "", TicketUse::Tried).err();
            assert!(
                matches!(refused, Some(TicketError::Name { .. })),
                "{server}"
            );
        }
    }
}
