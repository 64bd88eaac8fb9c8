//! Who logs in, and what the session must be. A password comes from a file, the environment, the lab or a prompt; never from an
//! argument, and it goes nowhere but into a trial's standard input or the SMB client.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use clap::ValueEnum as _;
use clap::builder::PossibleValue;
use record::{Credentials, Demands, Dialect, Identity, Mechanism, Secret, Signing};
use zeroize::Zeroizing;

use crate::args::{DialectArgument, LoginArguments, SignArgument};
use crate::failure::{CommandError, Kind};
use crate::share::TypedShare;
use crate::terminal;

/// The environment variable that may hold the password.
const PASSWORD_VARIABLE: &str = "LINERATE_PASSWORD";
/// Largest credentials file that is read.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// Finds out who logs in; `lab_file` has the credentials of the lab that the client belongs to.
pub fn find(
    login: &LoginArguments,
    share: &TypedShare,
    lab_file: Option<&Path>,
) -> Result<Credentials, CommandError> {
    if login.guest || login.anonymous {
        return without_password(login, share);
    }
    let mechanism = match (&login.kdc, login.kerberos, login.ntlm) {
        (None, false, false) => Mechanism::Automatic,
        (None, false, true) => Mechanism::Ntlm,
        (kdc, _, _) => Mechanism::Kerberos { kdc: kdc.clone() },
    };
    Ok(Credentials {
        mechanism,
        ..find_user(login, share, lab_file)?
    })
}

/// A guest, or nobody.
fn without_password(
    login: &LoginArguments,
    share: &TypedShare,
) -> Result<Credentials, CommandError> {
    if let (true, Some(user)) = (login.anonymous, &share.user) {
        let text = format!("the share names the user `{user}`, and `--anonymous` means nobody");
        return Err(CommandError::new(Kind::Usage, text).hint("leave one of them out"));
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
    let usage = |text: &str, hint: &str| Err(CommandError::new(Kind::Usage, text).hint(hint));
    let asked = &login.demands;
    let demands = Demands {
        dialect_min: asked.dialect_min.map_or(Dialect::Smb202, dialect),
        dialect_max: asked.dialect_max.map_or(Dialect::Smb311, dialect),
        signing: match asked.sign {
            Some(SignArgument::Required) => Signing::Required,
            Some(SignArgument::DataUnsigned) => Signing::DataUnsigned,
            Some(SignArgument::IfRequired) | None => Signing::IfRequired,
        },
        encrypted: asked.encrypt,
    };
    if demands.dialect_min > demands.dialect_max {
        return usage(
            "no dialect is left: the oldest that will do is newer than the newest to offer",
            "swap `--dialect-min` and `--dialect-max`",
        );
    }
    if demands.encrypted && demands.dialect_max < Dialect::Smb300 {
        return usage(
            "nothing older than SMB 3.0 can be encrypted",
            "leave out `--encrypt`, or allow 3.0 or newer with `--dialect-max`",
        );
    }
    let protected = demands.encrypted || demands.signing == Signing::Required;
    if protected && (login.guest || login.anonymous) {
        return usage(
            "a session without a password has no key to sign or encrypt with",
            "log in as a user, or leave out `--sign required` and `--encrypt`",
        );
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
    lab_file: Option<&Path>,
) -> Result<Credentials, CommandError> {
    if let Some(path) = &login.credentials {
        let found = read_file(path)?;
        let named = share.user.as_deref();
        let named = named.map(|user| user.split_once(';').map_or(user, |(_, user)| user));
        return match named {
            Some(named) if named != found.user => {
                let text = format!(
                    "the share names the user `{named}`, and the credentials file `{}`",
                    found.user
                );
                Err(CommandError::new(Kind::Usage, text).hint("leave one of them out"))
            }
            _ => Ok(found),
        };
    }
    let (domain, user) = match share.user.as_deref().map(|user| user.split_once(';')) {
        Some(Some((domain, user))) => (domain.to_owned(), Some(user.to_owned())),
        Some(None) => (String::new(), share.user.clone()),
        None => (String::new(), None),
    };
    if user.is_none() {
        let inside = Some(Path::new(lab::CREDENTIALS_IN_HOST)).filter(|path| path.exists());
        if let Some(path) = lab_file.or(inside) {
            return read_file(path);
        }
    }
    let user = match user.or_else(|| std::env::var("USER").ok().filter(|user| user != "root")) {
        Some(user) => user,
        None => {
            return Err(CommandError::new(Kind::Usage, "no user name is given")
                .hint("write the share as `smb://user@host/share`, use `--credentials FILE`, or go in with `--guest` or `--anonymous`"));
        }
    };
    let password = find_password(&user, share)?;
    Ok(Credentials {
        identity: Identity::User,
        user,
        domain,
        password,
        mechanism: Mechanism::Automatic,
    })
}

fn find_password(user: &str, share: &TypedShare) -> Result<Secret, CommandError> {
    match std::env::var(PASSWORD_VARIABLE) {
        Ok(password) => return Ok(Secret::new(password)),
        Err(std::env::VarError::NotPresent) => {}
        Err(std::env::VarError::NotUnicode(_)) => {
            return Err(CommandError::new(
                Kind::Usage,
                format!("{PASSWORD_VARIABLE} is not UTF-8"),
            ));
        }
    }
    if !io::stdin().is_terminal() {
        return Err(CommandError::new(Kind::Usage, format!("no password for `{user}` is given")).hint(
            format!("use `--credentials FILE` (lines `username=`, `password=`), or set {PASSWORD_VARIABLE}"),
        ));
    }
    terminal::say(&format!("password of {user} on {}:", share.address.server));
    let typed = rpassword::read_password()
        .map_err(|error| CommandError::caused(Kind::Refused, "cannot read the password", &error))?;
    Ok(Secret::new(typed))
}

/// Reads a file in mount.cifs's format: `username=`, `password=`, `domain=`, a line each.
fn read_file(path: &Path) -> Result<Credentials, CommandError> {
    let failed = |error: &io::Error| {
        let text = format!("cannot read the credentials file `{}`", path.display());
        CommandError::caused(Kind::Refused, text, error)
            .hint("it holds the lines `username=`, `password=` and, if needed, `domain=`")
    };
    let file = File::open(path).map_err(|error| failed(&error))?;
    let mut text = Zeroizing::new(String::new());
    file.take(FILE_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|error| failed(&error))?;
    warn_when_readable_by_others(path);
    Credentials::parse(&text).ok_or_else(|| {
        let text = format!("the credentials file `{}` is not complete", path.display());
        CommandError::new(Kind::Usage, text)
            .hint("it needs the lines `username=NAME` and `password=PASSWORD`")
    })
}

fn warn_when_readable_by_others(path: &Path) {
    use std::os::unix::fs::MetadataExt;
    if fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o077 != 0) {
        let path = path.display();
        terminal::say(&format!(
            "warning: others can read the credentials file `{path}`\nhint: chmod 600 {path}"
        ));
    }
}

#[cfg(test)]
mod tests {
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
    fn a_file_without_a_password_is_refused_with_what_it_needs() {
        let error = read("username=ann\n").expect_err("incomplete");
        assert!(error.to_string().contains("password=PASSWORD"), "{error}");
        let error = read_file(Path::new("/nowhere/at/all")).expect_err("no file");
        assert_eq!(error.failure().kind, Kind::Refused);
    }
}
