//! Who logs in, and what the session must be. A password comes from a file, the environment, the lab or a prompt; never from an
//! argument, and it goes nowhere but into a trial's standard input or the SMB client. Where none is given, the user's own tickets
//! are tried before it is asked for.

use std::env;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::net::IpAddr;
use std::path::Path;

use clap::ValueEnum as _;
use clap::builder::PossibleValue;
use locale::{Message, said, say};
use record::{Credentials, Demands, Dialect, Identity, Mechanism, Secret, Signing, bounded_read};
use smb::{TicketCache, TicketError, TicketUse};
use zeroize::Zeroizing;

use crate::args::{ClientArgument, DialectArgument, LoginArguments, SignArgument};
use crate::changes::hint;
use crate::failure::{CommandError, Kind};
use crate::share::TypedShare;
use crate::stdout_and_stderr;

/// The environment variable that may hold the password.
const PASSWORD_VARIABLE: &str = "LINERATE_PASSWORD";
/// Largest credentials file that is read.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// Where the client is, and so what its user has.
#[derive(Clone, Copy, Debug)]
pub enum Client<'a> {
    /// On this machine, with the user's own tickets.
    Here,
    /// In a lab, whose credentials are in a file.
    Lab(&'a Path),
    /// On another machine.
    Elsewhere,
}

/// Who logs in.
pub struct Found {
    /// The user.
    pub credentials: Credentials,
    /// Why it is not done with a ticket of the user's own, where that was tried.
    pub no_ticket: Option<TicketError>,
}

impl From<Credentials> for Found {
    fn from(credentials: Credentials) -> Self {
        Self {
            credentials,
            no_ticket: None,
        }
    }
}

/// The user whom a file names, if there is one. It is read before rights are given up, so that the process that
/// speaks to a server cannot read it.
pub struct OfFile(Option<Credentials>);

impl OfFile {
    /// Reads the file that was typed, or that of the lab where one of the shares names no user.
    pub fn read(
        login: &LoginArguments,
        shares: &[&TypedShare],
        client: Client<'_>,
    ) -> Result<Self, CommandError> {
        if login.guest || login.anonymous {
            return Ok(Self(None));
        }
        let names_all = shares.iter().all(|share| share.user.is_some());
        let path = match (&login.credentials, client) {
            (Some(typed), _) => Some(typed.as_path()),
            (None, _) if names_all => None,
            (None, Client::Lab(path)) => Some(path),
            (None, Client::Here | Client::Elsewhere) => {
                Some(Path::new(lab::CREDENTIALS_IN_HOST)).filter(|path| path.exists())
            }
        };
        path.map(read_file).transpose().map(Self)
    }
}

/// Finds out who logs in.
pub fn find(
    login: &LoginArguments,
    share: &TypedShare,
    client: Client<'_>,
    of_file: &OfFile,
) -> Result<Found, CommandError> {
    if login.guest || login.anonymous {
        return Ok(without_password(login, share)?.into());
    }
    let mechanism = match (&login.kdc, login.kerberos, login.ntlm) {
        (None, false, false) => Mechanism::Automatic,
        (None, false, true) => Mechanism::Ntlm,
        (kdc, _, _) => Mechanism::Kerberos { kdc: kdc.clone() },
    };
    let mut found = find_user(login, share, client, of_file)?;
    if found.credentials.mechanism != Mechanism::Ticket {
        found.credentials.mechanism = mechanism;
    }
    Ok(found)
}

/// Whether tickets of this user may be used: a password that is given counts more.
fn may_use_tickets(login: &LoginArguments) -> bool {
    let otherwise = login.guest || login.anonymous || login.ntlm || login.kdc.is_some();
    let password = login.credentials.is_some() || env::var_os(PASSWORD_VARIABLE).is_some();
    !otherwise && !password
}

/// The cache of this user's tickets, where they may be used.
pub fn tickets(login: &LoginArguments) -> Option<TicketCache> {
    let find = || TicketCache::find(ticket_use(login));
    may_use_tickets(login).then(find).flatten()
}

const fn ticket_use(login: &LoginArguments) -> TicketUse {
    match login.kerberos {
        true => TicketUse::AskedFor,
        false => TicketUse::Tried,
    }
}

/// A guest, or nobody.
fn without_password(
    login: &LoginArguments,
    share: &TypedShare,
) -> Result<Credentials, CommandError> {
    if let (true, Some(user)) = (login.anonymous, &share.user) {
        let text = say("error-copy.user-and-anonymous").with("user", user);
        return Err(CommandError::new(Kind::Usage, text).hint(say("hint-copy.leave-one-out")));
    }
    let user = share.user.as_deref().unwrap_or("guest");
    let user = user.split_once(';').map_or(user, |(_, user)| user);
    let (identity, user) = match login.guest {
        true => (Identity::Guest, user),
        false => (Identity::Anonymous, ""),
    };
    Ok(Credentials {
        identity,
        user: user.to_owned(),
        domain: String::new(),
        password: Secret::new(String::new()),
        mechanism: Mechanism::Automatic,
    })
}

/// What the session must be.
pub fn demands(login: &LoginArguments) -> Result<Demands, CommandError> {
    let usage = |text, hint| Err(CommandError::new(Kind::Usage, say(text)).hint(say(hint)));
    let asked = &login.demands;
    let demands = Demands {
        dialect_min: asked.dialect_min.map_or(Dialect::Smb202, dialect),
        dialect_max: asked.dialect_max.map_or(Dialect::Smb311, dialect),
        signing: match asked.sign {
            Some(SignArgument::Required) => Signing::Required,
            Some(SignArgument::DataUnsigned) => Signing::DataUnsigned,
            Some(SignArgument::IfRequired) => Signing::IfRequired,
            None => signing_of(asked.speaks_for.unwrap_or(ClientArgument::Cifs)),
        },
        encrypted: asked.encrypt,
        ..Demands::default()
    };
    if demands.dialect_min > demands.dialect_max {
        return usage("error-copy.no-dialect", "hint-copy.swap-dialects");
    }
    if demands.encrypted && demands.dialect_max < Dialect::Smb300 {
        return usage("error-copy.too-old-to-encrypt", "hint-copy.newer-dialect");
    }
    let protected = demands.encrypted || demands.signing == Signing::Required;
    if protected && (login.guest || login.anonymous) {
        return usage("error-copy.no-key", "hint-copy.no-key");
    }
    Ok(demands)
}

/// What of this another command needs to log in alike, as one types it. A password is never in it; of a
/// file that has one, the path is.
pub fn options(login: &LoginArguments) -> Vec<String> {
    let named = |value: Option<PossibleValue>| value.map(|value| value.get_name().to_owned());
    let asked = &login.demands;
    let flags = [
        (login.kerberos, "--kerberos"),
        (login.ntlm, "--ntlm"),
        (login.guest, "--guest"),
        (login.anonymous, "--anonymous"),
        (asked.encrypt, "--encrypt"),
    ];
    let file = login.credentials.as_deref();
    let file = file.and_then(|path| std::path::absolute(path).ok());
    let values = [
        (
            "--credentials",
            file.and_then(|path| path.to_str().map(str::to_owned)),
        ),
        ("--kdc", login.kdc.clone()),
        (
            "--dialect-min",
            named(asked.dialect_min.and_then(|it| it.to_possible_value())),
        ),
        (
            "--dialect-max",
            named(asked.dialect_max.and_then(|it| it.to_possible_value())),
        ),
        (
            "--sign",
            named(asked.sign.and_then(|it| it.to_possible_value())),
        ),
        (
            "--as",
            named(asked.speaks_for.and_then(|it| it.to_possible_value())),
        ),
    ];
    let flags = flags.into_iter().filter(|(given, _)| *given);
    let values = values
        .into_iter()
        .filter_map(|(option, value)| Some([option.to_owned(), value?]));
    flags
        .map(|(_, flag)| flag.to_owned())
        .chain(values.flatten())
        .collect()
}

/// What a client signs without options. Windows 11 demands it since 24H2, for all that is signed in
/// ("Control SMB signing behavior", learn.microsoft.com); `cifs.ko` (`sec` of mount.cifs(8)) and macOS
/// (`signing_required` of nsmb.conf(5)) do what the server demands.
const fn signing_of(client: ClientArgument) -> Signing {
    match client {
        ClientArgument::Cifs | ClientArgument::Macos | ClientArgument::Windows10 => {
            Signing::IfRequired
        }
        ClientArgument::Windows11 => Signing::Required,
    }
}

fn dialect(argument: DialectArgument) -> Dialect {
    match argument {
        DialectArgument::Smb202 => Dialect::Smb202,
        DialectArgument::Smb210 => Dialect::Smb210,
        DialectArgument::Smb300 => Dialect::Smb300,
        DialectArgument::Smb302 => Dialect::Smb302,
        DialectArgument::Smb311 => Dialect::Smb311,
    }
}

fn find_user(
    login: &LoginArguments,
    share: &TypedShare,
    client: Client<'_>,
    OfFile(of_file): &OfFile,
) -> Result<Found, CommandError> {
    let typed = of_file.as_ref().filter(|_| login.credentials.is_some());
    if let Some(found) = typed {
        return agreed_user(found, share);
    }
    let (domain, user) = match share.user.as_deref().map(|user| user.split_once(';')) {
        Some(Some((domain, user))) => (domain.to_owned(), Some(user.to_owned())),
        Some(None) => (String::new(), share.user.clone()),
        None => (String::new(), None),
    };
    if let (None, Some(of_lab)) = (&user, of_file) {
        return Ok(of_lab.clone().into());
    }
    let mut no_ticket = None;
    if matches!(client, Client::Here) && may_use_tickets(login) {
        let named = user.as_deref().unwrap_or_default();
        match find_ticket(login, &share.address.server, named, &domain) {
            Ok(found) => return Ok(found.into()),
            Err(error) => no_ticket = Some(error),
        }
    }
    // Worth a word where a ticket was asked for, or could have been expected.
    let missed = no_ticket
        .as_ref()
        .filter(|error| login.kerberos || error.is_surprising());
    let user = match user.or_else(|| env::var("USER").ok().filter(|user| user != "root")) {
        Some(user) => user,
        None => {
            if let Some(error) = missed {
                return Err(unused(say("error-copy.no-user-and-ticket"), error));
            }
            let error = CommandError::new(Kind::Usage, say("error-copy.no-user"));
            return Err(error.hint(say("hint-copy.user")));
        }
    };
    let password = find_password(&user, share, missed)?;
    let credentials = Credentials {
        identity: Identity::User,
        user,
        domain,
        password,
        mechanism: Mechanism::Automatic,
    };
    Ok(Found {
        credentials,
        no_ticket,
    })
}

/// The user of a credentials file that was typed, unless the share names another one.
fn agreed_user(of_file: &Credentials, share: &TypedShare) -> Result<Found, CommandError> {
    let named = share.user.as_deref();
    let named = named.map(|user| user.split_once(';').map_or(user, |(_, user)| user));
    match named {
        Some(named) if named != of_file.user => {
            let text = say("error-copy.two-users")
                .with("user", named)
                .with("of-file", &of_file.user);
            Err(CommandError::new(Kind::Usage, text).hint(say("hint-copy.leave-one-out")))
        }
        _ => Ok(of_file.clone().into()),
    }
}

/// Whom this user's tickets let in at a server.
fn find_ticket(
    login: &LoginArguments,
    server: &str,
    user: &str,
    domain: &str,
) -> Result<Credentials, TicketError> {
    if !login.kerberos && server.parse::<IpAddr>().is_ok() {
        let server = server.to_owned();
        return Err(TicketError::Address { server });
    }
    Ok(Credentials {
        identity: Identity::User,
        user: smb::ticket(server, user, domain, ticket_use(login))?,
        domain: String::new(),
        password: Secret::new(String::new()),
        mechanism: Mechanism::Ticket,
    })
}

/// Nothing else is left, and there is no ticket.
fn unused(text: Message, error: &TicketError) -> CommandError {
    let kind = match error {
        TicketError::Unreachable { .. } => Kind::Unreachable,
        _ => Kind::Refused,
    };
    CommandError::caused(kind, text, error).hint(measure::ticket_hint(error))
}

fn find_password(
    user: &str,
    share: &TypedShare,
    no_ticket: Option<&TicketError>,
) -> Result<Secret, CommandError> {
    match env::var(PASSWORD_VARIABLE) {
        Ok(password) => return Ok(Secret::new(password)),
        Err(env::VarError::NotPresent) => {}
        Err(env::VarError::NotUnicode(_)) => {
            let text = say("error-copy.password-not-utf8").with("variable", PASSWORD_VARIABLE);
            return Err(CommandError::new(Kind::Usage, text));
        }
    }
    if let Some(error) = no_ticket {
        if !io::stdin().is_terminal() {
            let text = say("error-copy.no-password-and-ticket").with("user", user);
            return Err(unused(text, error));
        }
        // Said before anything is typed: a password may prove less, and to more.
        let sentence = say("told-copy.no-ticket").with("reason", error.message());
        stdout_and_stderr::say(&said(&sentence));
        stdout_and_stderr::say(&hint(measure::ticket_hint(error)));
    }
    if !io::stdin().is_terminal() {
        let text = say("error-copy.no-password").with("user", user);
        let next = say("hint-copy.give-password").with("variable", PASSWORD_VARIABLE);
        return Err(CommandError::new(Kind::Usage, text).hint(next));
    }
    let prompt = say("told-copy.password").with("user", user);
    stdout_and_stderr::say(&said(&prompt.with("server", &share.address.server)));
    let typed = rpassword::read_password().map_err(|error| {
        CommandError::caused(Kind::Refused, say("error-copy.password-unread"), &error)
    })?;
    Ok(Secret::new(typed))
}

/// Reads a file in mount.cifs's format: `username=`, `password=`, `domain=`, a line each.
fn read_file(path: &Path) -> Result<Credentials, CommandError> {
    let failed = |error: &io::Error| {
        let text = say("error-copy.credentials-unread").with("path", path.display().to_string());
        CommandError::caused(Kind::Refused, text, error).hint(say("hint-copy.credentials-file"))
    };
    let file = bounded_read::open(path).map_err(|error| failed(&error))?;
    let mut text = Zeroizing::new(String::new());
    (&file)
        .take(FILE_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|error| failed(&error))?;
    warn_when_readable_by_others(&file, path);
    Credentials::parse(&text).ok_or_else(|| {
        let path = path.display().to_string();
        let text = say("error-copy.credentials-incomplete").with("path", path);
        CommandError::new(Kind::Usage, text).hint(say("hint-copy.credentials-lines"))
    })
}

fn warn_when_readable_by_others(file: &File, path: &Path) {
    if os::owned_file::is_readable_by_others(file) {
        let path = path.display().to_string();
        stdout_and_stderr::say(&said(&say("told-copy.readable").with("path", &path)));
        let mend = match os::HAS_POSIX_FILES {
            true => "hint-copy.chmod",
            false => "hint-copy.icacls",
        };
        stdout_and_stderr::say(&hint(say(mend).with("path", path)));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::Parser as _;

    use super::*;

    fn read(text: &str) -> Result<Credentials, CommandError> {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        fs::write(file.path(), text).expect("room on the disk");
        read_file(file.path())
    }

    #[test]
    fn what_another_command_needs_to_log_in_alike_is_kept() {
        #[derive(clap::Parser)]
        struct Typed {
            #[command(flatten)]
            login: LoginArguments,
        }
        let kept = |typed: &str| {
            let words = std::iter::once("linerate").chain(typed.split_whitespace());
            let parsed = Typed::try_parse_from(words).expect("as one types it");
            options(&parsed.login).join(" ")
        };
        for typed in [
            "",
            "--guest",
            "--anonymous",
            "--ntlm --encrypt",
            "--kerberos --kdc dc.example:88",
            "--dialect-min 3.0 --dialect-max 3.0.2 --sign data-unsigned",
            "--credentials /root/.nas --sign required",
            "--as windows-11",
        ] {
            assert_eq!(kept(typed), typed);
        }
        let here = std::env::current_dir().expect("a folder");
        let file = here.join("nas");
        assert_eq!(
            kept("--credentials nas"),
            format!("--credentials {}", file.display())
        );
    }

    #[test]
    fn what_is_signed_is_what_the_client_signs_that_is_spoken_for() {
        let signed = |speaks_for| {
            let mut login = LoginArguments::default();
            login.demands.speaks_for = speaks_for;
            demands(&login).expect("it makes sense").signing
        };
        let if_required = Signing::IfRequired;
        for client in [
            ClientArgument::Cifs,
            ClientArgument::Macos,
            ClientArgument::Windows10,
        ] {
            assert_eq!(signed(Some(client)), if_required, "{client:?}");
        }
        assert_eq!(signed(None), if_required, "this system's own client");
        assert_eq!(signed(Some(ClientArgument::Windows11)), Signing::Required);
        let mut guest = LoginArguments {
            guest: true,
            ..LoginArguments::default()
        };
        guest.demands.speaks_for = Some(ClientArgument::Windows11);
        demands(&guest).expect_err("it lets no guest in");
    }

    #[test]
    fn a_file_without_a_password_is_refused_with_what_it_needs() {
        let error = read("username=ann\n").expect_err("incomplete");
        assert!(error.to_string().contains("password=PASSWORD"), "{error}");
        let error = read_file(Path::new("/nowhere/at/all")).expect_err("no file");
        assert_eq!(error.failure().kind, Kind::Refused);
    }
}
